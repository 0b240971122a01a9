"""Build a release and check it: ``make release``.

The sdist and the wheel are built in ``dist/``, checked (metadata, README, contents), and the wheel is installed into a
fresh environment of every supported Python that is found, where it counts the graphs of `anysize demo`. Nothing is
uploaded. ``python -m tools.release --citation`` writes ``CITATION.cff`` from ``pyproject.toml`` and the version.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from argparse import ArgumentParser
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from anysize import __version__

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "anysize"
DIST = ROOT / "dist"
PLACEHOLDER = "example.org"
IN_SDIST = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "constraints.txt")

CITATION = """cff-version: 1.2.0
message: If you use this software, please cite it, and the paper whose method it implements.
title: "anysize: train on small graphs, predict on graphs of any size"
type: software
version: {version}
license: MIT
repository-code: {Repository}
url: {Documentation}
authors:
  - name: The anysize authors
keywords:
  - graph classification
  - induced subgraphs
  - extrapolation
  - causality
preferred-citation:
  type: conference-paper
  title: Size-Invariant Graph Representations for Graph Classification Extrapolations
  year: 2021
  authors:
    - family-names: Bevilacqua
      given-names: Beatrice
    - family-names: Zhou
      given-names: Yangze
    - family-names: Ribeiro
      given-names: Bruno
  collection-title: Proceedings of the 38th International Conference on Machine Learning
  collection-type: proceedings
  volume: 139
"""


def project() -> dict[str, Any]:
    """The table ``project`` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def citation() -> str:
    """The text of CITATION.cff."""
    return CITATION.format(version=__version__, **project()["urls"])


# ---- contents ------------------------------------------------------------------------------------------


def package_files() -> set[str]:
    """The files of the package, such as ``anysize/py.typed``."""
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {path.relative_to(PACKAGE.parent).as_posix() for path in files}


def wheel_problems(wheel: Path) -> Iterator[str]:
    """A sentence for every file that is missing from the wheel or does not belong there."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = package_files()
    yield from (f"{wheel.name} lacks {name}." for name in sorted(expected - names))
    yield from (f"{wheel.name} has {name}, which is no file of the package." for name in sorted(names - expected))


def sdist_problems(sdist: Path) -> Iterator[str]:
    """A sentence for every file that the sdist lacks."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    expected = {*IN_SDIST, *(f"src/{name}" for name in package_files())}
    yield from (f"{sdist.name} lacks {name}." for name in sorted(expected - names))
    yield from (f"{sdist.name} has {name}." for name in sorted(names) if name.startswith("tests/"))


def readme_problems() -> Iterator[str]:
    """A sentence if README.md cannot be rendered as package indexes do, which twine tests for other formats only."""
    from readme_renderer import markdown

    if markdown.render((ROOT / "README.md").read_text(encoding="utf-8")) is None:
        yield "README.md cannot be rendered as Markdown."


# ---- fresh environments --------------------------------------------------------------------------------


def supported_versions() -> list[str]:
    """The Python versions that the metadata names, such as 3.11."""
    return re.findall(r"Python :: (3\.\d+)", "\n".join(project()["classifiers"]))


def find_pythons() -> dict[str, str]:
    """Version -> interpreter, for every supported Python on the PATH or among those of pyenv."""
    pythons: dict[str, str] = {}
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for version in supported_versions():
        candidates = [shutil.which(f"python{version}"), *map(str, sorted(pyenv.glob(f"{version}.*/bin/python")))]
        works = [path for path in candidates if path and _prints(path, version)]
        if works:
            pythons[version] = works[0]
    return pythons


def _prints(python: str, version: str) -> bool:
    """Whether an interpreter has this version and can make environments; a shim of pyenv may not."""
    code = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() == version


def try_wheel(python: str, wheel: Path) -> None:
    """Install the wheel without extras into a fresh environment, write the demo files and count them."""
    with tempfile.TemporaryDirectory() as folder:
        run(python, "-m", "venv", "env", cwd=folder)
        binaries = Path(folder) / "env" / ("Scripts" if os.name == "nt" else "bin")
        constraints = ROOT / "constraints.txt"
        run(str(binaries / "python"), "-m", "pip", "install", "-q", "-c", str(constraints), str(wheel), cwd=folder)
        anysize = str(binaries / "anysize")
        printed = run(anysize, "--version", cwd=folder)
        if printed.strip() != f"anysize {__version__}":
            raise SystemExit(f"The wheel has the version {printed.strip()!r}; expected {__version__}.")
        run(anysize, "demo", "demo", cwd=folder)
        run(anysize, "count", "demo/TRAIN.zip", "--k", "4", "--out", "counts.npz", cwd=folder)


def run(*command: str, cwd: str | Path = ROOT) -> str:
    """The output of a command outside the repository's own source; the release ends if it fails."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def main(arguments: Sequence[str] | None = None) -> int:
    """Build and check; returns the exit code."""
    parser = ArgumentParser("python -m tools.release", description="Build a release and check it.")
    parser.add_argument("--citation", action="store_true", help="only write CITATION.cff")
    if parser.parse_args(arguments).citation:
        (ROOT / "CITATION.cff").write_text(citation(), encoding="utf-8")
        return 0
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", str(DIST))
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    print(run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(sdist)), end="")
    problems = [*wheel_problems(wheel), *sdist_problems(sdist), *readme_problems()]
    if (ROOT / "CITATION.cff").read_text(encoding="utf-8") != citation():
        problems.append("CITATION.cff is stale: python -m tools.release --citation")
    if problems:
        raise SystemExit("\n".join(problems))
    for version, python in find_pythons().items():
        try_wheel(python, wheel)
        print(f"Python {version}: installed in a fresh environment, counted the demo files.")
    for version in sorted(set(supported_versions()) - set(find_pythons())):
        print(f"Python {version}: not tried, it is not on this machine.")
    if any(PLACEHOLDER in url for url in project()["urls"].values()):
        print("The links in pyproject.toml are placeholders: fill in [project.urls] before publishing.")
    print(f"{wheel.name} and {sdist.name} are in {DIST.name}/.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
