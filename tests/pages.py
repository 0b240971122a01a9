"""The code blocks of README.md and docs/*.md, and how a test runs them.

- A page's blocks are run in order as they are shown, in one namespace and one folder, which is empty at first: a page
  that needs files begins with `anysize demo demo` and `cd demo`. Blocks with ``>>>`` are doctests; a ``console`` block
  has commands behind ``$`` and, below each, lines that must be in what it prints.
- ``<!-- not run: reason -->`` on the line before a block says why it is only checked: commands of ours must still be
  understood, make targets, extras and files must exist.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from textwrap import dedent
from typing import Any

from typer.main import get_command
from typer.testing import CliRunner

from anysize.paper.cli.app import main_app as app

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LANGUAGES = {"python", "bash", "console", "text"}
BY_HAND = {"git", "export", "ray", "ssh", "scp", "rsync", "docker"}  # commands that no test tries

FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[^\n`]*)\n(?P<code>.*?)^(?P=indent)``` *$", re.M | re.S)
NOT_RUN = re.compile(r"<!-- not run: (?P<reason>[^\n]+) -->\s*\Z")


@dataclass(frozen=True)
class Block:
    """A block of a page: its language, its text, the line it begins on, and why it is not run, if it is not."""

    page: str
    line: int
    language: str
    code: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.page}, line {self.line}"


def blocks(page: Path) -> list[Block]:
    """All blocks of a page in order."""
    text = page.read_text(encoding="utf-8")
    listed = []
    for match in FENCE.finditer(text):
        above = text[: match.start()]
        mark = NOT_RUN.search(above)
        reason = "" if mark is None else mark["reason"]
        line = above.count("\n") + 1
        listed.append(Block(page.name, line, match["language"].strip(), dedent(match["code"]), reason))
    return listed


def commands(block: Block) -> Iterator[tuple[list[str], list[str]]]:
    """The commands of a block as words, each with the lines that its output must have."""
    lines = block.code.replace("\\\n", " ").splitlines()
    if block.language == "bash":
        for line in lines:
            if words := shlex.split(line, comments=True):
                yield words, []
        return
    waiting: list[str] | None = None
    expected: list[str] = []
    for line in lines:
        if line.startswith("$ "):
            if waiting is not None:
                yield waiting, expected
            waiting, expected = shlex.split(line[2:], comments=True), []
        elif line.strip() and line.strip() != "...":
            expected.append(line)
    if waiting is None:
        raise AssertionError(f"{block}: a console block has commands behind $")
    yield waiting, expected


@dataclass
class Page:
    """The state of a page that is being run."""

    name: str
    names: dict[str, Any] = field(default_factory=dict)

    def run(self, block: Block) -> None:
        """Run a block, or check it where it says that it is not run."""
        if block.language == "python":
            self._python(block)
        elif block.language in ("bash", "console"):
            for words, expected in commands(block):
                self._command(block, words, expected)

    def _python(self, block: Block) -> None:
        if block.reason:
            compile(block.code, str(block), "exec")
        elif ">>>" in block.code:
            self._doctest(block)
        else:
            code = "\n" * block.line + block.code  # so that a traceback has the line of the page
            exec(compile(code, block.page, "exec"), self.names)

    def _doctest(self, block: Block) -> None:
        test = doctest.DocTestParser().get_doctest(block.code, {}, str(block), block.page, block.line)
        test.globs = self.names
        told: list[str] = []
        flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
        failed = doctest.DocTestRunner(optionflags=flags).run(test, out=told.append, clear_globs=False).failed
        assert not failed, f"{block}:\n" + "".join(told)

    def _command(self, block: Block, words: list[str], expected: list[str]) -> None:
        where = f"{block}: {' '.join(words)}"
        if words[0] == "anysize":
            parsed(words[1:], where)
            if not block.reason:
                _invoke(words[1:], expected, where)
        elif words[0] == "cd":
            if not block.reason:
                os.chdir(words[1])
        elif not checked(words, where):
            assert block.reason, f"{where}: the test does not know this command; say why it is not run"
            assert words[0] in BY_HAND, f"{where}: what is this?"


def _invoke(words: list[str], expected: list[str], where: str) -> None:
    result = CliRunner().invoke(app, words, catch_exceptions=True)
    assert result.exit_code == 0, f"{where} ended with {result.exit_code}:\n{result.output}\n{result.exception!r}"
    flat = " ".join(result.output.split())
    for line in expected:
        assert " ".join(line.split()) in flat, f"{where} does not print {line!r}, but\n{result.output}"


def parsed(words: list[str], where: str) -> dict[str, Any]:
    """The parameters that a command line of ours gives its command; an assertion fails where it is not understood."""
    group: Any = get_command(app)
    assert words, f"{where}: which command?"
    if words[0].startswith("--"):
        assert words in (["--version"], ["--help"]), where
        return {}
    if words[0] == "paper":
        group, words = group.commands["paper"], words[1:]
    assert words[0] in group.commands, f"{where}: there is no such command"
    if "--help" in words:
        return {}
    try:
        return dict(group.commands[words[0]].make_context(words[0], list(words[1:])).params)
    except Exception as error:  # click has exceptions of its own for every kind of mistake
        raise AssertionError(f"{where}: {error}") from error


def checked(words: list[str], where: str) -> bool:
    """Whether a command that is not ours is one that can be checked; an assertion fails where it is wrong."""
    if words[0] == "make":
        targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
        missing = [word for word in words[1:] if "=" not in word and word not in targets]
        assert not missing, f"{where}: the Makefile has no target {missing}"
        return True
    if words[:2] == ["pip", "install"]:
        _extras(words[2:], where)
        return True
    if words[0] in ("python", "python3") and len(words) > 1:
        _script(words[1:], where)
        return True
    return False


def _extras(words: list[str], where: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for word in words:
        for names in re.findall(r"^(?:anysize|\.)\[([^]]*)\]$", word):
            unknown = set(names.split(",")) - set(project["optional-dependencies"])
            assert not unknown, f"{where}: pyproject.toml has no extra {unknown}"


def _script(words: list[str], where: str) -> None:
    if words[0] != "-m":
        assert (ROOT / words[0]).is_file(), f"{where}: there is no such file"
        return
    module = words[1]
    here = (ROOT / module.replace(".", "/")).with_suffix(".py")
    assert here.is_file() or find_spec(module) is not None, f"{where}: there is no such module"
