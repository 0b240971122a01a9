"""The API page is made from the code."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from tools.api_page import PAGE, api_page, main

import anysize as az
from anysize.cli.app import COMMANDS


@pytest.fixture(scope="module")
def page() -> str:
    return api_page()


def test_the_committed_page_is_up_to_date(page: str) -> None:
    assert PAGE.read_text(encoding="utf-8") == page, "docs/api.md is stale: python -m tools.api_page"


def test_every_public_name_and_command_is_on_the_page(page: str) -> None:
    for name in az.__all__:
        assert f"- `{name}" in page
    for function, _ in COMMANDS:
        assert f"### anysize {function.__name__}\n" in page


def test_parameters_have_defaults_and_meanings(page: str) -> None:
    assert "| `--data` |" in page
    table = page.partition("## Parameters of GraphClassifier\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `")]
    assert [row[0].strip("| `") for row in rows] == list(inspect.signature(az.GraphClassifier).parameters)
    assert all(len(row[2].strip(" |")) > 5 for row in rows), "a parameter of GraphClassifier is not in its docstring"


def test_the_page_is_written(tmp_path: Path, page: str) -> None:
    main(["--out", str(tmp_path / "api.md")])
    assert (tmp_path / "api.md").read_text(encoding="utf-8") == page
