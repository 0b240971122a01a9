"""The table of methods against attributes says what the methods declare."""

from __future__ import annotations

import re

from pages import ROOT

from anysize import METHODS
from anysize.graphs.attributes import TITLES
from anysize.methods.peers import PEERS


def test_the_table_of_methods_and_attributes_is_true() -> None:
    page = (ROOT / "docs" / "attributes.md").read_text(encoding="utf-8")
    table = page[page.index("## What methods use") : page.index("`fit` names in one sentence")]
    head, _, *rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("|")]
    assert head == ["method", *TITLES]
    told: dict[str, set[str]] = {}
    for title, *cells in rows:
        used = {attribute for attribute, cell in zip(TITLES, cells, strict=True) if cell == "yes"}
        names = re.findall(r"`([a-z0-9.-]+)", title)
        if title.startswith("GNNs"):
            peers = {peer.name for peer in PEERS}
            names = [name for name, method in METHODS.items() if method.kind == "gnn" and name not in peers]
        told |= dict.fromkeys(names, used)
    assert told.pop("az.count") == {"vertex colors", "edge colors", "edge directions"}
    for name, used in told.items():
        assert METHODS[name].uses == used, name
    assert {name for name, method in METHODS.items() if not method.is_baseline} <= set(told) | {"gamma-mlp"}
