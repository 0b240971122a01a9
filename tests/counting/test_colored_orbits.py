"""Orbits with colors of vertices and types of edges, and orbits of edges: against all subsets, sums and ORCA."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from counting.test_typed import graph_sets, smallest
from hypothesis import given, settings

import anysize as az
from anysize import GraphSet, count, orbits

Arcs = set[tuple[int, int, str]]


def arcs_of(graph: GraphSet) -> Arcs:
    names = graph.arc_color_names() or ("",) * len(graph.arcs())
    return {(u, v, str(name)) for (u, v), name in zip(graph.arcs().tolist(), names, strict=True)}


def marked(colors: list[str], arcs: Arcs, members: tuple[int, ...], marks: set[int]) -> Any:
    """The same for isomorphic patterns in which corresponding vertices are marked: the smallest renaming."""
    inner = {(members.index(u), members.index(v), name) for u, v, name in arcs if u in members and v in members}
    return smallest([f"{colors[v]}{'*' * (v in marks)}" for v in members], inner)


def by_subsets(graph: GraphSet, k: int, per: str) -> dict[Any, Counter[Any]]:
    """For every vertex or edge the patterns around it, in which it is marked."""
    arcs = arcs_of(graph)
    colors = list(map(str, graph.color_names())) or ["."] * int(graph.sizes[0])
    pairs = {(min(u, v), max(u, v)) for u, v, _ in arcs}
    found: dict[Any, Counter[Any]] = defaultdict(Counter)
    for size in range(2 if per == "vertex" else 3, k + 1):
        for members in combinations(range(len(colors)), size):
            skeleton = nx.Graph([pair for pair in pairs if set(pair) <= set(members)])
            skeleton.add_nodes_from(members)
            if nx.is_connected(skeleton):
                for place in [(v,) for v in members] if per == "vertex" else map(tuple, map(sorted, skeleton.edges)):
                    found[place][marked(colors, arcs, members, set(place))] += 1
    return found


def as_marked(table: az.OrbitCounts) -> list[list[Any]]:
    """For every orbit the marked pattern of each of its vertices or edges."""
    keys = []
    for _, pattern, places in table.positions:
        colors = list(map(str, pattern.colors)) if pattern.colors is not None else ["."] * pattern.size
        arcs = {(u, v, str(name or "")) for u, v, name in pattern.to_networkx().edges(data="edge_color")}
        arcs |= set() if pattern.edge_types else {(v, u, name) for u, v, name in arcs}
        marks = [{place} if isinstance(place, int) else set(place) for place in places]
        keys.append([marked(colors, arcs, tuple(range(pattern.size)), mark) for mark in marks])
    return keys


@pytest.mark.parametrize("per", ["vertex", "edge"])
@settings(max_examples=12, deadline=None)
@given(graphs=graph_sets())
def test_counts_equal_brute_force(graphs: GraphSet, per: str) -> None:
    table = orbits(graphs, 4, edges=True, per=per, threads=1)
    if not isinstance(table, az.OrbitCounts):  # without colors and types
        assert per == "edge" or np.array_equal(np.concatenate(table), np.concatenate(orbits(graphs, 4)))
        return
    keys = as_marked(table)
    assert all(len(set(key)) == 1 for key in keys)  # the vertices of an orbit are alike,
    assert len({key[0] for key in keys}) == len(keys)  # and those of two orbits are not
    assert len(set(table.names)) == len(keys)
    for number, graph in enumerate(graphs):
        expected = by_subsets(graph, 4, per)
        rows = slice(*table.first[number : number + 2].tolist())
        for vertices, row in zip(table.vertices[rows].tolist(), table.of_graph(number).toarray(), strict=True):
            ours = Counter({key[0]: int(c) for key, c in zip(keys, row, strict=True) if c})
            assert ours == expected[tuple(vertices)]


def colored_graphs() -> GraphSet:
    made = [nx.gnp_random_graph(18, 0.25, seed=seed) for seed in range(3)]
    return GraphSet.from_networkx(made).with_edge_colors(np.arange(sum(map(len, (g.edges for g in made)))) % 2)


@pytest.mark.parametrize("per", ["vertex", "edge"])
def test_sums_are_the_counts_of_patterns(per: str) -> None:
    random = np.random.default_rng(0)
    graphs = colored_graphs().with_directions(random.integers(0, 3, int(colored_graphs().edge_counts.sum())))
    colors = [[str(c) for c in random.choice(["a", "b"], 18)] for _ in graphs]
    graphs = GraphSet.from_edges(
        [g.arcs() for g in graphs], n_vertices=[18] * 3, colors=colors,
        edge_colors=[g.arc_color_names() for g in graphs], directed=True,
    )  # fmt: skip
    table = orbits(graphs, 4, edges=True, per=per)
    assert isinstance(table, az.OrbitCounts)
    copies = count(graphs, (2, 3, 4), edges=True)
    expected = {
        pattern.name: column for pattern, column in zip(copies.patterns, copies.matrix.toarray().T, strict=True)
    }
    for number in range(3):
        sums = table.of_graph(number).sum(axis=0)
        for at, pattern, places in table.positions:
            assert sums[at] == expected[pattern.name][number] * len(places)
    frame = table.to_pandas()
    assert frame.shape == table.matrix.shape
    assert frame.index.names == (["graph", "vertex"] if per == "vertex" else ["graph", "u", "v"])


@pytest.mark.parametrize("edges", [False, True])
def test_sums_over_colors_are_the_counts_without(edges: bool) -> None:
    graph = GraphSet.from_networkx(nx.gnp_random_graph(18, 0.15, seed=1, directed=True))
    graph = GraphSet.from_edges(graph.arcs(), n_vertices=18, colors=[v % 3 for v in range(18)], directed=True)
    plain = orbits(graph, 4, colors=False)
    table = orbits(graph, 4, edges=edges)
    summed = np.zeros_like(plain)
    usual = {(p.name, v): number for number, p, vertices in az.orbit_positions(4) for v in vertices}
    for at, pattern, vertices in table.positions:
        summed[:, usual[pattern.plain_name, vertices[0]]] += table.matrix[:, [at]].toarray()[:, 0]
    assert np.array_equal(summed, plain)
    one, three = orbits(graph, 4, edges=edges, threads=1), orbits([*graph] * 2, 4, edges=edges, threads=3)
    assert one.names == three.names
    assert (three.of_graph(1) != one.matrix).nnz == 0


# ---- orbits of edges ---------------------------------------------------------------------------------------------

# One edge of each of the first 12 orbits as ORCA (orbit_count.edge_orbit_counts) numbers them, on a graph of its own.
USUAL = [
    [(0, 1), (1, 2)],
    [(0, 1), (1, 2), (0, 2)],
    [(0, 1), (1, 2), (2, 3)],
    [(1, 0), (0, 2), (1, 3)],
    [(0, 1), (0, 2), (0, 3)],
    [(0, 1), (1, 2), (2, 3), (3, 0)],
    [(0, 1), (1, 2), (2, 3), (3, 1)],
    [(0, 1), (1, 2), (2, 0), (2, 3)],
    [(0, 2), (0, 1), (1, 2), (2, 3)],
    [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)],
    [(0, 2), (0, 1), (0, 3), (1, 2), (2, 3)],
    [*combinations(range(4), 2)],
]


@pytest.mark.parametrize("number", range(12))
def test_edge_orbits_have_the_usual_numbers(number: int) -> None:
    """The first edge of each graph is in that orbit of the whole graph."""
    graph = GraphSet.from_edges(USUAL[number])
    first = tuple(sorted(USUAL[number][0]))
    row = [tuple(edge) for edge in graph.edges().tolist()].index(first)
    assert orbits(graph, 4, per="edge")[row, number] == 1


def test_edge_orbits_of_a_graph_equal_orcas() -> None:
    """Three rows of orbit_count.edge_orbit_counts(..., graphlet_size=5) on this graph."""
    graph = nx.gnp_random_graph(9, 0.5, seed=3)
    edges = map(tuple, GraphSet.from_networkx(graph).edges().tolist())
    table = dict(zip(edges, orbits(graph, 5, per="edge"), strict=True))
    for edge, row in ORCA.items():
        assert {number: int(copies) for number, copies in enumerate(table[edge]) if copies} == row


ORCA = {  # number of the orbit -> count
    (0, 3): {
        0: 4, 1: 2, 2: 1, 3: 1, 4: 3, 5: 2, 7: 1, 8: 7, 9: 1, 11: 1, 15: 2, 17: 1, 19: 2, 20: 1, 24: 1, 27: 4, 30:
        1, 31: 2, 33: 1, 34: 2, 40: 1, 42: 1, 45: 1, 46: 4, 50: 1, 51: 3, 61: 1,
    },
    (0, 6): {
        0: 5, 2: 4, 3: 4, 4: 1, 5: 2, 6: 3, 13: 4, 14: 1, 15: 1, 16: 2, 18: 4, 22: 2, 28: 1, 30: 3, 38: 1, 42: 1,
        44: 4, 49: 1,
    },
    (0, 7): {
        0: 1, 1: 2, 2: 2, 7: 5, 8: 2, 11: 1, 12: 1, 14: 1, 19: 3, 23: 2, 24: 2, 26: 4, 45: 2, 50: 3, 51: 1, 60: 1,
    },
}  # fmt: skip


def test_edge_orbits_add_up_and_smaller_ones_come_first() -> None:
    graph = nx.powerlaw_cluster_graph(60, 4, 0.6, seed=2)
    table, copies = orbits(graph, 5, per="edge"), count(graph, (3, 4, 5)).to_pandas().iloc[0]
    assert table.shape == (graph.number_of_edges(), 68)
    for number, pattern, edges in az.edge_orbit_positions(5):
        assert table[:, number].sum() == copies[pattern.name] * len(edges)
    for k, amount in ((3, 2), (4, 12)):
        assert np.array_equal(orbits(graph, k, per="edge"), table[:, :amount])
    assert sorted(edge for _, p, edges in az.edge_orbit_positions(4) if p.name == "paw" for edge in edges) == sorted(
        az.Pattern.named("paw").edges
    )


@pytest.mark.parametrize("edges", [[], [(0, 1)], [(0, 1), (2, 3)]], ids=str)
def test_graphs_without_patterns_have_rows(edges: list[tuple[int, int]]) -> None:
    plain = GraphSet.from_edges(np.array(edges, int).reshape(-1, 2), n_vertices=5)
    assert orbits(plain, 4, per="edge").tolist() == [[0] * 12] * len(edges)
    colored = GraphSet.from_edges(np.array(edges, int).reshape(-1, 2), n_vertices=5, colors=list("abaab"))
    assert orbits(colored, 5).matrix.sum() == 2 * len(edges)
    assert orbits(colored, 5, per="edge").matrix.shape == (len(edges), 0)
    assert orbits(colored[:0], 3).matrix.shape == (0, 0)
    assert orbits(plain[:0], 3, per="edge") == []


def test_what_cannot_be_counted_is_refused() -> None:
    with pytest.raises(ValueError, match="per must be 'vertex' or 'edge'; got 'pair'"):
        orbits(nx.path_graph(3), 3, per="pair")
    with pytest.raises(ValueError, match="Orbits of edges are counted for patterns on up to k = 3, 4 or 5 vertices"):
        orbits(nx.path_graph(3), 2, per="edge")
    wide = GraphSet.from_edges([(0, 1)] * 0 + [(i, i + 1) for i in range(299)], colors=range(300))
    wide = wide.with_edge_colors(range(299))
    with pytest.raises(ValueError, match="more than 128; use a smaller k"):
        orbits(wide, 5, edges=True)
    assert len(orbits(wide, 3, edges=True).names) == 2 * 299 + 3 * 298
