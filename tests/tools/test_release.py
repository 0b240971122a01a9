"""What is released: files of the archives, one version, links in one place, the Pythons that are tried."""

from __future__ import annotations

import io
import re
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from tools.release import (
    IN_SDIST,
    ROOT,
    citation,
    find_pythons,
    package_files,
    project,
    sdist_problems,
    supported_versions,
    wheel_problems,
)

import anysize


def make_wheel(folder: Path, names: set[str]) -> Path:
    path = folder / "anysize.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in (*names, "anysize-1.dist-info/METADATA"):
            archive.writestr(name, "")
    return path


def make_sdist(folder: Path, names: set[str]) -> Path:
    path = folder / "anysize.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"anysize-1/{name}"), io.BytesIO())
    return path


def test_a_wheel_has_the_files_of_the_package_and_no_others(tmp_path: Path) -> None:
    files = package_files()
    assert {"anysize/__init__.py", "anysize/py.typed", "anysize/paper/published.json"} < files
    assert not list(wheel_problems(make_wheel(tmp_path, files)))
    wrong = (files - {"anysize/py.typed"}) | {"tests/pages.py"}
    assert list(wheel_problems(make_wheel(tmp_path, wrong))) == [
        "anysize.whl lacks anysize/py.typed.",
        "anysize.whl has tests/pages.py, which is no file of the package.",
    ]


def test_an_sdist_has_the_package_and_what_describes_it(tmp_path: Path) -> None:
    files = {*IN_SDIST, *(f"src/{name}" for name in package_files())}
    assert not list(sdist_problems(make_sdist(tmp_path, files)))
    wrong = (files - {"LICENSE"}) | {"tests/test_files.py"}
    assert list(sdist_problems(make_sdist(tmp_path, wrong))) == [
        "anysize.tar.gz lacks LICENSE.",
        "anysize.tar.gz has tests/test_files.py.",
    ]


def test_data_files_are_in_the_metadata_of_the_wheel() -> None:
    data = {name for name in package_files() if not name.endswith(".py")}
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for name in data:
        assert f'"{name.removeprefix("anysize/")}"' in pyproject, f"package-data of pyproject.toml lacks {name}"


def test_the_version_is_in_one_place() -> None:
    assert "version" in project()["dynamic"]
    assert (ROOT / "CITATION.cff").read_text(encoding="utf-8") == citation(), "python -m tools.release --citation"
    assert f"version: {anysize.__version__}\n" in citation()


def test_the_workflow_tries_the_pythons_of_the_metadata() -> None:
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    matrices = re.findall(r"python: \[(.*)\]", workflow)
    assert len(matrices) == 2
    assert all(re.findall(r"[\d.]+", matrix) == supported_versions() for matrix in matrices)
    assert project()["requires-python"] == f">={supported_versions()[0]}"


def test_a_python_is_found_by_its_version_and_not_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running, other = f"{sys.version_info[0]}.{sys.version_info[1]}", "3.12" if sys.version_info[1] != 12 else "3.13"
    for name in (running, other):
        (tmp_path / f"python{name}").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert find_pythons() == {running: str(tmp_path / f"python{running}")}
