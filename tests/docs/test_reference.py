"""The reference has every public name, each with a place that describes it."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from pages import ROOT

import anysize as az

DOCS = ROOT / "docs"
PAGE = (DOCS / "reference.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")]
NAMES = {name: row[1] for row in ROWS if len(row) == 2 for name in re.findall(r"`(\w+)`", row[0])}
MODULES = {row[0].strip("`"): row for row in ROWS if row[0].startswith("`anysize.")}


def test_every_public_name_is_in_the_table_and_nothing_else() -> None:
    assert set(NAMES) == set(az.__all__)


@pytest.mark.parametrize("name", sorted(set(az.__all__) - {"__version__"}))
def test_every_public_name_is_described_where_the_table_says(name: str) -> None:
    """By its own entry, or its module's, or, for a constant, in the text."""
    linked = re.findall(r"\]\(([\w.-]*)#?[\w-]*\)", NAMES[name])
    assert linked, f"{name} has no page"
    told = "\n".join(PAGE if not page else (DOCS / page).read_text(encoding="utf-8") for page in linked)
    entries = re.findall(r"^::: ([\w.]+)$", told, re.M)
    value = getattr(az, name)
    if name.isupper():
        assert f"{name}" in told.replace(NAMES[name], "")
        return
    homes = {f"{value.__module__}.{name}", value.__module__}
    assert homes & set(entries) or any(entry.endswith(f".{name}") for entry in entries), f"{name} has no entry"


@pytest.mark.parametrize("module", sorted(MODULES))
def test_documented_modules_have_all_their_names(module: str) -> None:
    listed = re.findall(r"`(\w+)`", MODULES[module][1]) if len(MODULES[module]) == 3 else []
    public = getattr(import_module(module), "__all__", [])
    assert sorted(listed) == sorted(public)


def test_every_module_with_public_names_that_a_page_shows_is_in_the_table() -> None:
    shown = {
        entry for page in DOCS.glob("*.md") for entry in re.findall(r"^::: ([\w.]+)$", page.read_text("utf-8"), re.M)
    }
    for module in {entry.rpartition(".")[0] for entry in shown} - {"anysize", "anysize.counting"}:  # count, Counts
        try:
            public = getattr(import_module(module), "__all__", None)
        except ModuleNotFoundError:  # the entry is a whole module
            continue
        if public is not None and module.count(".") == 1:
            assert module in MODULES, f"{module} has public names and is not in the reference"
