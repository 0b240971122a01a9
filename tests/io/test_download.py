"""Downloads of TU sets, from a server on this machine."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from zipfile import ZipFile

import pytest
from typer.testing import CliRunner

import anysize as az
from anysize.cli.app import app
from anysize.io import download
from anysize.io.download import find_tu, load_tu
from anysize.paper.tasks import TASKS


@pytest.fixture
def tiny() -> az.GraphSet:
    paths = [[(i, i + 1) for i in range(length)] for length in range(1, 31)]
    return az.GraphSet.from_edges(paths, colors=[[length % 3] * (length + 1) for length in range(1, 31)], y=[3, 7] * 15)


@pytest.fixture
def archive(tiny: az.GraphSet, tmp_path: Path) -> bytes:
    tiny.to_tu(tmp_path / "made", "TINY")
    buffer = BytesIO()
    with ZipFile(buffer, "w") as file:
        for path in sorted((tmp_path / "made" / "TINY").iterdir()):
            file.write(path, f"TINY/{path.name}")
    return buffer.getvalue()


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    """A server whose ``answer`` is called with each request, and an empty cache folder ``cache``."""
    state = SimpleNamespace(asked=[], answer=None, cache=tmp_path / "cache" / "anysize")

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            state.asked.append(self.path)
            state.answer(self)

        def log_message(self, *_: object) -> None:
            pass

    monkeypatch.delenv("ANYSIZE_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        state.address = f"http://127.0.0.1:{http.server_port}/{{name}}.zip"
        monkeypatch.setattr(download, "ADDRESS", state.address)
        yield state
        http.shutdown()


Answer = Callable[[BaseHTTPRequestHandler], None]


def sends(body: bytes, announced: int | None = None) -> Answer:
    """The body, with its length or another number as Content-Length; 0 leaves it out."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        if announced != 0:
            handler.send_header("Content-Length", str(len(body) if announced is None else announced))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def refused(server: SimpleNamespace, name: str = "TINY") -> str:
    """The sentence of a download that fails; it leaves no file."""
    with pytest.raises(az.GraphError) as caught:
        load_tu(name)
    assert not server.cache.exists() or list(server.cache.iterdir()) == []
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert ". " not in sentence.replace("...", "")
    assert all(part in sentence for part in (f"put {name}.zip", f"{name}_A.txt", "--data-dir", "ANYSIZE_DATA"))
    return sentence


def test_a_missing_set_is_downloaded_once_and_announced(
    tiny: az.GraphSet, archive: bytes, server: SimpleNamespace, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = sends(archive)
    assert load_tu("TINY").equals(tiny)
    announced = capsys.readouterr().err
    for part in (
        "downloading TINY",
        f"({len(archive) / 1024:.3g} KiB)",
        server.address.format(name="TINY"),
        "TINY.zip",
    ):
        assert part in announced
    assert load_tu("TINY").equals(tiny)
    assert capsys.readouterr().err == ""
    assert server.asked == ["/TINY.zip"]
    assert sorted(path.name for path in server.cache.iterdir()) == ["TINY.zip", "TINY.zip.json"]
    facts = json.loads((server.cache / "TINY.zip.json").read_text())
    assert facts["bytes"] == len(archive)
    assert facts["sha256"] == sha256(archive).hexdigest()


def test_the_size_may_be_unknown_and_redirections_are_followed(archive: bytes, server: SimpleNamespace) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/TINY.zip":
            handler.send_response(302)
            handler.send_header("Location", "/elsewhere.zip")
            handler.end_headers()
        else:
            sends(archive, announced=0)(handler)

    server.answer = answer
    assert len(load_tu("TINY")) == 30
    assert server.asked == ["/TINY.zip", "/elsewhere.zip"]


def test_a_download_goes_into_the_named_folder(archive: bytes, server: SimpleNamespace, tmp_path: Path) -> None:
    server.answer = sends(archive)
    (tmp_path / "data").mkdir()
    assert find_tu("TINY", tmp_path / "data") == tmp_path / "data" / "TINY.zip"
    assert not server.cache.exists()


def test_a_file_that_changed_later_is_refused(archive: bytes, server: SimpleNamespace) -> None:
    server.answer = sends(archive)
    file = find_tu("TINY")
    file.write_bytes(archive + b" ")
    with pytest.raises(az.GraphError, match=r"has changed since it was downloaded.*remove it"):
        load_tu("TINY")
    (server.cache / "TINY.zip.json").unlink()
    assert len(load_tu("TINY")) == 30  # a file that a person put there is not checked


def test_other_graphs_than_known_are_refused(
    tiny: az.GraphSet, archive: bytes, server: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = sends(archive)
    monkeypatch.setitem(download.KNOWN_CONTENT, "TINY", download.content_sha256(tiny.with_y([3] * 30)))
    assert "another checksum" in refused(server)
    monkeypatch.setitem(download.KNOWN_CONTENT, "TINY", download.content_sha256(tiny))
    assert load_tu("TINY").equals(tiny)


@pytest.mark.parametrize("name", ["NCI1", "NCI109", "PROTEINS", "MUTAG"])  # the others take longer to read
def test_known_checksums_are_those_of_the_data_files(name: str, data_dir: Path) -> None:
    assert (
        download.content_sha256(az.read_graphs(data_dir / f"{name}.zip", name, warn=False))
        == download.KNOWN_CONTENT[name]
    )


def test_a_cut_connection(archive: bytes, server: SimpleNamespace) -> None:
    server.answer = sends(archive[:500], announced=len(archive))
    assert f"500 of {len(archive)} bytes" in refused(server)
    server.answer = sends(archive[:500], announced=0)  # then only the contents tell
    assert "not a TU set" in refused(server)


def test_no_such_set(server: SimpleNamespace) -> None:
    server.answer = lambda handler: handler.send_error(404)
    assert "404" in refused(server)


def test_a_page_instead_of_a_file(server: SimpleNamespace) -> None:
    server.answer = sends(b"<html>down for maintenance</html>")
    assert "not a TU set" in refused(server)


def test_no_network(server: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:  # bound, but nobody listens
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setattr(download, "ADDRESS", f"http://127.0.0.1:{closed.getsockname()[1]}/{{name}}.zip")
        assert "no connection" in refused(server)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/TINY.zip"])
def test_only_http(target: str, server: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    def redirect(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(302)
        handler.send_header("Location", target)
        handler.end_headers()

    server.answer = redirect
    refused(server)
    monkeypatch.setattr(download, "ADDRESS", target)
    refused(server)


@pytest.mark.parametrize("announced", [None, 0])
def test_too_large(archive: bytes, announced: int | None, server: SimpleNamespace) -> None:
    server.answer = sends(archive, announced)
    with pytest.raises(az.GraphError, match="more than 1 KiB"):
        find_tu("TINY", max_bytes=1024)
    assert list(server.cache.iterdir()) == []


def test_a_full_disk(archive: bytes, server: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    server.answer = sends(archive)
    monkeypatch.setattr("anysize._files.os.replace", full)
    assert "cannot be written: No space left" in refused(server)


@pytest.mark.parametrize("name", ["", "../TINY", "a/b", "TINY.zip", "TINY?x", "http:x", "TI NY", "%2e%2e", "TINY\n"])
def test_names_are_plain(name: str, server: SimpleNamespace) -> None:
    with pytest.raises(az.GraphError, match="letters, digits, dashes and underscores"):
        find_tu(name)
    assert server.asked == []


def test_the_command_and_the_tasks(
    archive: bytes, server: SimpleNamespace, tiny: az.GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = sends(archive)
    done = CliRunner().invoke(app, ["fetch", "TINY"])
    assert done.exit_code == 0
    assert str(server.cache / "TINY.zip") in done.stdout
    assert "30 graphs" in done.stdout
    failed = CliRunner().invoke(app, ["fetch", "TINY", "--data-dir", str(tmp_path / "absent")])
    assert failed.exit_code == 1
    server.answer = lambda handler: handler.send_error(404)
    with pytest.raises(az.GraphError, match="NCI1 could not be downloaded"):
        TASKS["NCI1"].splits()
    assert server.asked == ["/TINY.zip", "/NCI1.zip"]
