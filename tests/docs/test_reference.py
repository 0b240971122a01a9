"""Every public name has a full description on some page of the docs."""

from __future__ import annotations

import re

import pytest
from pages import PAGES, ROOT

import anysize as az

ENTRIES = {entry for page in PAGES for entry in re.findall(r"^::: ([\w.]+)$", page.read_text("utf-8"), re.M)}


@pytest.mark.parametrize("name", [name for name in az.__all__ if name != "__version__" and not name.isupper()])
def test_every_public_name_has_an_entry(name: str) -> None:
    """Its own entry, or that of its module. Constants need none."""
    home = getattr(az, name).__module__
    assert {f"{home}.{name}", home} & ENTRIES or any(entry.endswith(f".{name}") for entry in ENTRIES)


def test_files_named_in_the_glossary_exist() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text("utf-8")
    files = re.findall(r"`([\w/]+\.py)`", page)
    assert len(files) > 20
    folders = (ROOT / "src" / "anysize", ROOT / "tests", ROOT)  # code, the tests beside it, tools
    assert [file for file in files if not any((folder / file).is_file() for folder in folders)] == []
