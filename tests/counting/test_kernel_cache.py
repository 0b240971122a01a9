"""Compiled kernels on disk: read-only packages, users without a home folder, `anysize compile`."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

import anysize
from anysize.cli.app import app
from anysize.counting.engines.kernel_cache import TEMPORARY_NAME, temporary_folder

COUNT = """
import anysize as az
print(az.count(az.GraphSet.from_edges([(0, 1), (1, 2), (0, 2), (2, 3)]), 3, engine="sparse").matrix.toarray().tolist())
"""
NO_TEMPORARY_FOLDER = """
import tempfile

def refuse(*_, **__):
    raise PermissionError("read-only")

tempfile.mkdtemp = tempfile.gettempdir = refuse
"""
COMPILING, KEPT, NOT_KEPT = "compiling kernels", "compiled kernels are kept in", "are not kept, because"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package in which no folder for compiled kernels can be made, whoever the user is."""
    root = tmp_path_factory.mktemp("site")
    shutil.copytree(Path(anysize.__file__).parent, root / "anysize", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("engines", "sampling"):
        (root / "anysize" / "counting" / name / "__pycache__").write_text("no folder")
    return root


def run(package: Path, code: str = COUNT, **variables: str) -> str:
    """What a user without a home folder sees on standard error; the count must be right."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG", "PYTHONPATH"))}
    environment = {**plain, "HOME": os.devnull, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", **variables}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stdout) == (0, "[[2, 1]]\n"), done.stderr
    return done.stderr


def test_a_temporary_folder_keeps_the_kernels_of_a_read_only_package(package: Path, tmp_path: Path) -> None:
    first, second = (run(package, TMPDIR=str(tmp_path)) for _ in range(2))
    assert COMPILING in first
    assert first.count(KEPT) == 1
    assert str(tmp_path) in first
    assert second == ""


def test_without_any_folder_every_process_compiles(package: Path) -> None:
    for _ in range(2):
        shown = run(package, NO_TEMPORARY_FOLDER + COUNT)
        assert COMPILING in shown
        assert shown.count(NOT_KEPT) == 1


@pytest.mark.parametrize("writable", [True, False], ids=["another folder", "no other folder"])
def test_kernels_that_a_read_only_package_holds_are_loaded(writable: bool, tmp_path: Path) -> None:
    shutil.copytree(
        Path(anysize.__file__).parent, tmp_path / "anysize", ignore=shutil.ignore_patterns("__pycache__", "paper")
    )
    assert COMPILING in run(tmp_path)  # written beside the source files
    if writable:
        folder = tmp_path / "kernels"
        assert run(tmp_path, NUMBA_CACHE_DIR=str(folder)) == ""
        assert not list(folder.rglob("*.nbc"))
    else:
        refuse = "tempfile.TemporaryFile = refuse\n"  # by which numba finds out whether it can write
        assert run(tmp_path, NO_TEMPORARY_FOLDER + refuse + COUNT) == ""


def test_a_temporary_folder_that_others_may_have_filled_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = temporary_folder.__wrapped__
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    usual = Path(fresh())
    assert usual.name.startswith(TEMPORARY_NAME)
    assert stat.S_IMODE(usual.stat().st_mode) == 0o700
    assert fresh() == str(usual)
    usual.chmod(0o777)
    assert fresh() != str(usual)
    usual.rmdir()
    usual.symlink_to(tmp_path / "elsewhere")
    assert Path(fresh()) not in (usual, tmp_path / "elsewhere")


def test_compile_refuses_unknown_names() -> None:
    wrong = CliRunner().invoke(app, ["compile", "sparse", "magic"])
    assert wrong.exit_code == 1
    assert "bitset, sparse, flip, flip_sparse, enumerate, sample, typed, orbits, motifs; got 'magic'" in wrong.stderr


def test_after_compile_nothing_is_compiled(package: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "anysize", "compile", "sparse"]
    first, second = (
        subprocess.run(command, capture_output=True, text=True, env=environment, check=True) for _ in range(2)
    )
    assert COMPILING in first.stderr
    assert f"New kernels are in {tmp_path}" in first.stdout
    assert second.stderr == ""
