"""Degenerate graphs: the diagnosis returns finite numbers, with a warning of complete graphs alone."""

from __future__ import annotations

import json
from contextlib import nullcontext

import networkx as nx
import numpy as np
import pytest

import anysize as az
from anysize.shift.findings import SUBJECTS


def color(graphs: list[nx.Graph], names: list[str], seed: int) -> az.GraphSet:
    rng = np.random.default_rng(seed)
    for graph in graphs:
        nx.set_node_attributes(graph, {v: str(rng.choice(names)) for v in graph}, "color")
    return az.GraphSet.from_networkx(graphs, color="color")


def plain(*graphs: nx.Graph) -> az.GraphSet:
    return az.GraphSet.from_networkx(list(graphs))


ODD = {
    "no edges": (plain(*map(nx.empty_graph, range(5, 30))), plain(nx.empty_graph(40))),
    "all edges": (plain(*map(nx.complete_graph, range(5, 20))), plain(nx.complete_graph(30), nx.complete_graph(31))),
    "one graph again and again": (plain(*[nx.petersen_graph()] * 9), plain(*[nx.petersen_graph()] * 7)),
    "two against one": (plain(nx.path_graph(5), nx.cycle_graph(6)), plain(nx.star_graph(8))),
    "graphs without vertices": (
        plain(nx.empty_graph(0), *map(nx.path_graph, range(5, 20))),
        plain(nx.empty_graph(0), *map(nx.path_graph, range(5, 20))),
    ),
    "edges out of nothing": (
        plain(*map(nx.empty_graph, range(10, 30))),
        plain(*(nx.gnp_random_graph(20, 0.5, seed=seed) for seed in range(12))),
    ),
    "palettes without overlap": (
        color([nx.path_graph(n) for n in range(5, 30)], ["a", "b"], 0),
        color([nx.path_graph(n) for n in range(15, 40)], ["c", "d"], 1),
    ),
    "one color": (
        color([nx.cycle_graph(n) for n in range(5, 30)], ["a"], 0),
        color([nx.cycle_graph(n) for n in range(5, 30)], ["a"], 1),
    ),
}


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs_are_answered(name: str, k: int) -> None:
    train, new = ODD[name]
    noticed = pytest.warns(az.GraphWarning, match="are complete") if name == "all edges" else nullcontext()
    for y in (None, np.arange(len(train)) % 2):
        with noticed:
            found = az.diagnose(train, new, k, y)
        json.dumps(found.to_json(), allow_nan=False)
        assert str(found)
        assert found.to_html().endswith("</html>\n")
        for family in found.findings.families:
            assert all(0 <= item.p <= 1 and 0 <= item.q <= 1 for item in family.patterns)


@pytest.mark.parametrize("name", ["one graph again and again", "graphs without vertices", "one color"])
def test_sets_that_are_alike_are_found_alike(name: str) -> None:
    assert not az.diagnose(*ODD[name], k=3).findings.found(*SUBJECTS)


def test_edges_out_of_nothing_are_noticed() -> None:
    found = az.diagnose(*ODD["edges out of nothing"], k=3)
    assert found.findings.found("plain densities")
    assert any("beyond what sizes explain" in warning for warning in found.advice.warnings)


def test_palettes_without_overlap_are_noticed() -> None:
    colors = az.diagnose(*ODD["palettes without overlap"], k=3).findings.colors
    assert colors is not None
    assert colors.unseen == ("c", "d")
    assert colors.unseen_share == 1.0
    assert colors.missing == ("a", "b")


def test_no_set_is_called_dense_and_sparse() -> None:
    """Hubs, 12 to 24 vertices: an edge density above .15, and edges that grow as n."""

    def hubs(smallest: int, largest: int, seed: int) -> az.GraphSet:
        sizes = np.random.default_rng(seed).integers(smallest, largest + 1, 30).tolist()
        made = [nx.barabasi_albert_graph(n, 4 + i % 2, seed=1000 * seed + i) for i, n in enumerate(sizes)]
        return az.GraphSet.from_networkx(made, y=np.arange(30) % 2)

    report = az.diagnose(hubs(12, 24, 1), hubs(40, 48, 2), k=3)
    assert report.check.edges_grow_slowly
    assert report.findings.sparsity.kind != "dense"
