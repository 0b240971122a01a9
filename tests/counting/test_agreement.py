"""Engines against each other where the oracle is too slow, against closed forms, and against networkx."""

from __future__ import annotations

from itertools import combinations
from math import comb

import networkx as nx
import numpy as np
import pytest
from counting.helpers import color_sums, colored, gnp, same

from anysize.counting.api import count
from anysize.counting.engines import flip
from anysize.counting.engines.enumerate import storage
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import Pattern, connected_patterns

AFFORDABLE = 3e6  # connected sets that enumeration may visit in a test


def connected_sets(graphs: GraphSet, k: int) -> int:
    return int(count(graphs, k, colors=False).matrix.sum())


@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("p", [0.05, 0.4, 0.9])
@pytest.mark.parametrize("n", [30, 64, 65, 128, 150])
def test_plain_engines_agree_on_random_graphs(n: int, p: float, k: int) -> None:
    graphs = gnp(n, p, seed=n)
    expected = count(graphs, k, engine="bitset")
    assert expected.matrix.sum() > 0
    same(count(graphs, k, engine="sparse"), expected)
    if k > 3:
        same(count(graphs, k, engine="flip"), expected)
    if connected_sets(graphs, k) < AFFORDABLE:
        same(count(graphs, k, engine="enumerate"), expected)


@pytest.mark.parametrize("p", [0.03, 0.55])  # the second through its complement
def test_bitset_agrees_with_sparse_beyond_512_vertices(p: float) -> None:
    graphs = gnp(520, p, seed=5)
    for k in (4, 5):
        same(count(graphs, k, engine="bitset"), count(graphs, k, engine="sparse"))


def large_graphs() -> dict[str, nx.Graph]:
    return {
        "preferential": nx.barabasi_albert_graph(300, 5, seed=1),
        "sparser": nx.barabasi_albert_graph(2000, 3, seed=2),
        "clustered": nx.powerlaw_cluster_graph(800, 4, 0.7, seed=3),
    }


@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("name", list(large_graphs()))
def test_plain_engines_agree_on_skewed_degrees(name: str, k: int) -> None:
    graphs = GraphSet.from_networkx(large_graphs()[name])
    expected = count(graphs, k, engine="sparse")
    same(count(graphs, k, engine="bitset"), expected)
    if k > 3:
        same(count(graphs, k, engine="flip_sparse"), expected)
        if int(graphs.sizes[0]) <= 300:
            same(count(graphs, k, engine="flip"), expected)
    if k < 5:
        same(count(graphs, k, engine="enumerate"), expected)


@pytest.mark.parametrize("amount", [2, 3, 4, 5])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_colored_engines_agree_on_random_graphs(p: float, amount: int) -> None:
    graphs = colored(gnp(26 + amount, p, seed=amount), amount, seed=amount)
    for k in (4, 5):
        expected = count(graphs, k, engine="enumerate")
        same(count(graphs, k, engine="flip"), expected)
        same(count(graphs, k, engine="flip_sparse"), expected)


@pytest.mark.parametrize("name", list(large_graphs()))
def test_colored_engines_agree_on_skewed_degrees(name: str) -> None:
    graphs = colored(GraphSet.from_networkx(large_graphs()[name]), 4, seed=4)
    same(count(graphs, 4, engine="flip_sparse"), count(graphs, 4, engine="enumerate"))
    if int(graphs.sizes[0]) <= 300:
        same(count(graphs, 5, engine="flip_sparse"), count(graphs, 5, engine="flip"))


@pytest.mark.parametrize("amount", [2, 4])
def test_six_vertices_agree(amount: int) -> None:
    graphs = colored(gnp(16, 0.4, seed=6), amount)
    same(count(graphs, 6, engine="flip"), count(graphs, 6, engine="enumerate"))


@pytest.mark.parametrize(
    ("engine", "k", "amount"),
    [
        ("direct", 1, 9),
        ("direct", 2, 300),
        ("flip", 4, 4),
        ("flip", 5, 3),
        ("flip_sparse", 4, 4),
        ("flip_sparse", 5, 3),
        ("enumerate", 3, 40),
        ("enumerate", 4, 40),
        ("enumerate", 5, 40),
        ("enumerate", 4, 300),
        ("enumerate", 5, 300),
        ("enumerate", 6, 40),
        ("enumerate", 6, 700),
    ],
)
def test_copies_summed_over_colors_are_plain_copies(engine: str, k: int, amount: int) -> None:
    graphs = GraphSet.concatenate([gnp(40, 0.12, seed=7), gnp(60, 0.05, seed=8), gnp(12, 0.6, seed=9)])
    counts = count(colored(graphs, amount, seed=k), k, engine=engine)
    expected = count(graphs, k).matrix.toarray()
    assert np.array_equal(color_sums(counts)[:, : len(connected_patterns(k))], expected)


def test_the_last_of_many_colors_is_distinguished() -> None:
    path = GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6)], colors=list(range(7)))
    wide = path.with_palette(range(65536))
    for k in range(3, 8):
        counts = count(wide, k, engine="enumerate")
        assert sorted(p.colors[0] + p.colors[-1] for p in counts.patterns if p.colors) == sorted(
            colors[0] + colors[-1] for start in range(8 - k) for colors in [_along(k, list(range(start, start + k)))]
        )
    ends = GraphSet.from_edges([(0, 1), (1, 2)], colors=[65535, 65534, 65533]).with_palette(range(65536))
    (pattern,) = count(ends, 3, engine="enumerate").patterns
    assert pattern.colors is not None
    assert sorted(pattern.colors) == [65533, 65534, 65535]


def _along(k: int, colors: list[int]) -> tuple[object, ...]:
    found = Pattern.of([(i, i + 1) for i in range(k - 1)], colors).colors
    assert found is not None
    return found


@pytest.mark.parametrize(("bits", "stored"), [(10, "cached"), (16, "wide")])
@pytest.mark.parametrize("k", [4, 5])
def test_all_ways_of_storing_raw_patterns_agree(bits: int, stored: str, k: int) -> None:
    """Unused colors widen the raw patterns."""
    graphs = colored(GraphSet.concatenate([gnp(30, 0.3, seed=1), gnp(300, 0.01, seed=2)]), 3)
    assert storage(k, 2, vertices=165) == "direct"
    assert storage(k, bits, vertices=165) == stored
    wide = graphs.with_palette((*graphs.palette, *(f"unused {number}" for number in range(2**bits - 3))))
    narrow = count(graphs, k, engine="enumerate")
    same(count(wide, k, engine="enumerate").align(narrow), narrow)


def test_raw_patterns_of_every_width_are_stored() -> None:
    ways = [storage(7, bits, vertices=1000) for bits in (0, 1, 6, 7, 16)]
    assert ways == ["direct", "cached", "cached", "wide", "wide"]
    assert storage(4, 2, vertices=20) == "cached"  # too few sets to fill a table


@pytest.mark.parametrize("pairs", [30, 62, 300])
def test_cocktail_party_graphs_have_their_closed_form(pairs: int) -> None:
    """All edges but a perfect matching; j of five vertices' pairs are missing in so many ways."""
    matching = nx.from_edgelist([(2 * i, 2 * i + 1) for i in range(pairs)])
    ways = [comb(pairs, j) * comb(pairs - j, 5 - 2 * j) * 2 ** (5 - 2 * j) for j in range(3)]
    expected = {"5-clique": ways[0], "K5-e": ways[1], "4-wheel": ways[2]}
    assert copies_by_name(GraphSet.from_networkx(nx.complement(matching)), 5, "bitset") == expected


@pytest.mark.parametrize("engine", ["bitset", "sparse", "flip", "flip_sparse"])
def test_complete_bipartite_graphs_have_their_closed_form(engine: str) -> None:
    a, b = 70, 61
    graphs = GraphSet.from_networkx(nx.complete_bipartite_graph(a, b))
    assert copies_by_name(graphs, 5, engine) == {
        "K1,4": a * comb(b, 4) + b * comb(a, 4),
        "K2,3": comb(a, 2) * comb(b, 3) + comb(a, 3) * comb(b, 2),
    }
    assert copies_by_name(graphs, 4, engine) == {
        "claw": a * comb(b, 3) + b * comb(a, 3),
        "4-cycle": comb(a, 2) * comb(b, 2),
    }


def test_the_largest_graph_of_flip_fits_its_small_sums() -> None:
    clique = GraphSet.from_networkx(nx.complete_bipartite_graph(2, flip.MAX_VERTICES - 2))
    leaves = flip.MAX_VERTICES - 2
    assert copies_by_name(clique, 4, "flip") == {"claw": 2 * comb(leaves, 3), "4-cycle": comb(leaves, 2)}


def copies_by_name(graphs: GraphSet, k: int, engine: str) -> dict[str, int]:
    row = count(graphs, k, engine=engine).matrix.toarray()[0]
    return {pattern.name: int(copies) for pattern, copies in zip(connected_patterns(k), row, strict=True) if copies}


def test_copies_are_those_networkx_finds() -> None:
    """An oracle that shares no code with the package: isomorphism checks of every induced subgraph."""
    graph = nx.gnp_random_graph(11, 0.45, seed=12)
    for k in (3, 4, 5):
        induced = [graph.subgraph(subset) for subset in combinations(graph, k)]
        connected = [part for part in induced if nx.is_connected(part)]
        patterns = [pattern.to_networkx() for pattern in connected_patterns(k)]
        expected = [sum(nx.is_isomorphic(part, pattern) for part in connected) for pattern in patterns]
        assert count(graph, k).matrix.toarray()[0].tolist() == expected
