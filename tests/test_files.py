"""Atomic writes: complete or not at all, through links, and directly into pipes and devices."""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

import anysize as az
from anysize._files import atomic_write, write_problem


def put(path: Path, text: str) -> None:
    with atomic_write(path) as part:
        part.write_text(text)


def stop_half_way(path: Path) -> None:
    with atomic_write(path) as part:
        part.write_text("half")
        raise KeyboardInterrupt


def test_a_file_is_replaced_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    put(target, "old")
    with pytest.raises(KeyboardInterrupt):
        stop_half_way(target)
    assert target.read_text() == "old"
    with atomic_write(target) as part:
        part.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_link_stays_and_the_file_it_points_to_is_written(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    real, link, chain = tmp_path / "far" / "real.csv", tmp_path / "link.csv", tmp_path / "chain.csv"
    link.symlink_to(Path("far") / "real.csv")
    chain.symlink_to(link)
    for text in ("new", "newer"):  # first where nothing is, then over a file
        put(chain, text)
        assert real.read_text() == text
    assert link.is_symlink()
    assert chain.is_symlink()
    assert list(real.parent.iterdir()) == [real]


def test_a_dangling_link_names_the_missing_folder(tmp_path: Path) -> None:
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "gone" / "real.csv")
    with pytest.raises(FileNotFoundError, match=rf"link.csv would be in the folder {tmp_path}/gone, which does not"):
        put(link, "x")
    link.unlink()
    link.symlink_to(link)
    assert "cannot be written to" in str(write_problem(link))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("through_link", [False, True])
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path, through_link: bool) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    put(link if through_link else pipe, "table")
    reader.join(10)
    assert got == [b"table"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert sorted(tmp_path.iterdir()) == [link, pipe]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_table_of_counts_goes_through_a_pipe(tmp_path: Path) -> None:
    pipe, counts = tmp_path / "pipe.npz", az.count(az.GraphSet.from_edges([(0, 1), (1, 2)]), k=3)
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: (tmp_path / "copy.npz").write_bytes(pipe.read_bytes()))
    reader.start()
    counts.save(pipe)
    reader.join(10)
    assert az.Counts.load(tmp_path / "copy.npz").matrix.toarray().tolist() == [[1, 0]]


def test_devices_are_never_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = tmp_path / "device"  # stands for a device: it exists and is not a regular file
    device.write_text("")
    monkeypatch.setattr("os.path.isfile", lambda path: Path(path) != device)
    monkeypatch.setattr("os.replace", lambda *_: pytest.fail("replaced"))
    with atomic_write(device) as part:
        assert part == device


def test_an_unnamed_pipe_behind_a_name_is_written_to(tmp_path: Path) -> None:
    name = Path("/proc/self/fd")
    if not name.is_dir():
        pytest.skip("open files have no names here")
    reading, writing = os.pipe()
    try:
        put(name / str(writing), "table")
        assert os.read(reading, 100) == b"table"
    finally:
        os.close(reading)
        os.close(writing)


def test_errors_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    put(file, "kept")
    for path, kind, reason in (
        (tmp_path, IsADirectoryError, "is a folder; name a file in it"),
        (tmp_path / "no" / "x", FileNotFoundError, f"would be in the folder {tmp_path}/no, which does not exist"),
        (file / "x", NotADirectoryError, f"would be in {file}, which is not a folder"),
        (tmp_path / ("x" * 300), OSError, "cannot be written to"),
    ):
        with pytest.raises(kind) as raised:
            put(path, "x")
        assert str(raised.value).startswith(f"{path} {reason}")
    assert write_problem(file) is None
    assert write_problem(tmp_path / "new") is None
    for closed, path in ((file, file), (tmp_path, tmp_path / "new"), (tmp_path, file)):
        monkeypatch.setattr("anysize._files._may_write", lambda path, closed=closed: Path(path) != closed)
        with pytest.raises(PermissionError, match="write-protected"):
            put(path, "x")
    assert file.read_text() == "kept"
    assert list(tmp_path.iterdir()) == [file]


def test_permissions_are_kept(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    put(secret, "old")
    secret.chmod(0o600)
    put(secret, "new")
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


@pytest.mark.parametrize(("code", "written"), [(errno.EIO, False), (errno.EINVAL, True)])
def test_failing_disks_raise_and_missing_fsync_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, written: bool
) -> None:
    def fail(_: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("os.fsync", fail)
    if written:
        put(tmp_path / "x", "text")
    else:
        with pytest.raises(OSError, match=os.strerror(code)):
            put(tmp_path / "x", "text")
    assert (tmp_path / "x").exists() == written
    assert not list(tmp_path.glob("*.part"))
