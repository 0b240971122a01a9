"""Null models: what they keep, and that all their graphs are equally likely."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest
from scipy.stats import chisquare

import anysize as az
from anysize.counting.engines.threads import Threads
from anysize.networks import null_models
from anysize.networks.null_models import draw

Edges = frozenset[tuple[int, int]]
SAMPLES = 4000
draw_one = partial(draw, threads=Threads())


def edge_sets(graphs: az.GraphSet) -> list[Edges]:
    return [frozenset(map(tuple, graphs.edges(row).tolist())) for row in range(len(graphs))]


def all_graphs(n: int, m: int) -> Iterator[Edges]:
    """All simple graphs with n vertices and m edges."""
    return (frozenset(edges) for edges in combinations(combinations(range(n), 2), m))


def degrees_of(edges: Edges, n: int) -> tuple[int, ...]:
    return tuple(sum(v in edge for edge in edges) for v in range(n))


def color_degrees(edges: Edges, colors: list[int]) -> tuple[tuple[int, ...], ...]:
    """For every vertex the colors of its neighbors."""
    neighbors = [sorted(colors[u + w - v] for u, w in edges if v in (u, w)) for v in range(len(colors))]
    return tuple(map(tuple, neighbors))


def uniform(drawn: list[Edges], possible: set[Edges], at_least: int = 4) -> None:
    """Only possible graphs occur, and a chi-square test finds no difference between them."""
    seen = Counter(drawn)
    assert set(seen) <= possible
    assert len(possible) >= at_least
    assert chisquare([seen[graph] for graph in possible]).pvalue > 0.001


SEQUENCES = [
    [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)],  # 12 cycles on five vertices
    [(0, 1), (0, 2), (0, 3), (1, 2), (3, 4), (4, 5)],
    [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)],  # two triangles, or a 6-cycle: swaps join and part them
    [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (3, 4), (4, 5)],
]


@pytest.mark.parametrize("null", ["degrees", "stubs"])
@pytest.mark.parametrize("edges", SEQUENCES, ids=str)
def test_all_graphs_with_these_degrees_are_equally_likely(null, edges):
    graph = az.GraphSet.from_edges(edges)
    n = int(graph.first[-1])
    degrees = tuple(graph.degrees.tolist())
    possible = {other for other in all_graphs(n, len(edges)) if degrees_of(other, n) == degrees}
    uniform(edge_sets(draw_one(graph, null, 1, range(SAMPLES))), possible)


@pytest.mark.parametrize("edges", [[(0, 1), (1, 2), (3, 4)], [*combinations(range(4), 2), (3, 4), (2, 4)]], ids=str)
def test_all_graphs_with_as_many_edges_are_equally_likely(edges):
    graph = az.GraphSet.from_edges(edges)
    uniform(edge_sets(draw_one(graph, "edges", 1, range(SAMPLES))), set(all_graphs(5, len(edges))))


def test_all_graphs_with_these_colors_of_neighbors_are_equally_likely():
    edges, colors = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (0, 6)], [0, 0, 0, 1, 1, 1, 1]
    graph = az.GraphSet.from_edges(edges, colors=colors)
    expected = color_degrees(frozenset(edges), colors)
    possible = {other for other in all_graphs(7, 7) if color_degrees(other, colors) == expected}
    drawn = draw_one(graph, "colors", 1, range(SAMPLES))
    uniform(edge_sets(drawn), possible)
    assert all(drawn.color_names(row) == graph.color_names() for row in range(5))


# ---- directed graphs -------------------------------------------------------------------------------------------


def arc_sets(graphs: az.GraphSet) -> list[Edges]:
    return [frozenset(map(tuple, graphs.arcs(row).tolist())) for row in range(len(graphs))]


def all_digraphs(n: int, m: int) -> Iterator[Edges]:
    """All directed graphs with n vertices and m arcs, without loops."""
    return (frozenset(arcs) for arcs in combinations(permutations(range(n), 2), m))


def senders_and_receivers(arcs: Edges, colors: list[int]) -> list[tuple[list[int], list[int]]]:
    """For every vertex the colors of those it has arcs to, and of those it has arcs from."""
    return [
        (sorted(colors[v] for u, v in arcs if u == x), sorted(colors[u] for u, v in arcs if v == x))
        for x in range(len(colors))
    ]


LOOP = [(0, 1), (1, 2), (2, 0)]
DIRECTED = [
    (4, [*LOOP, (0, 3)]),  # swaps do not reach the reversed triangle
    (4, [*LOOP, (0, 3), (3, 0), (1, 3)]),
    (5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]),
    (4, [(0, 1), (1, 0), (2, 3), (3, 2), (0, 2), (1, 3)]),  # mutual pairs come and go
    (4, [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (3, 1)]),
]


@pytest.mark.parametrize("null", ["degrees", "stubs"])
@pytest.mark.parametrize(("n", "arcs"), DIRECTED)
def test_all_directed_graphs_with_these_degrees_are_equally_likely(null, n, arcs):
    plain = [0] * n
    expected = senders_and_receivers(frozenset(arcs), plain)
    possible = {other for other in all_digraphs(n, len(arcs)) if senders_and_receivers(other, plain) == expected}
    drawn = draw_one(az.GraphSet.from_edges(arcs, n_vertices=n, directed=True), null, 1, range(SAMPLES))
    drawn.check()
    uniform(arc_sets(drawn), possible, at_least=2)


def test_a_triangle_is_reversed():
    loop = az.GraphSet.from_edges(LOOP, directed=True)
    uniform(
        arc_sets(draw_one(loop, "degrees", 0, range(400))), {frozenset(LOOP), frozenset((v, u) for u, v in LOOP)}, 2
    )


def test_all_directed_graphs_with_as_many_arcs_are_equally_likely():
    graph = az.GraphSet.from_edges([(0, 1), (1, 2), (2, 1)], n_vertices=4, directed=True)
    uniform(arc_sets(draw_one(graph, "edges", 1, range(SAMPLES))), set(all_digraphs(4, 3)))


@pytest.mark.parametrize("colors", [[0, 0, 0, 0, 1], [0, 0, 1, 1, 1]])
def test_all_directed_graphs_with_these_colors_of_neighbors_are_equally_likely(colors):
    arcs = [*LOOP, (3, 4), (4, 3), (0, 3), (1, 4)]
    graph = az.GraphSet.from_edges(arcs, colors=colors, directed=True)
    expected = senders_and_receivers(frozenset(arcs), colors)
    possible = {other for other in all_digraphs(5, 7) if senders_and_receivers(other, colors) == expected}
    drawn = draw_one(graph, "colors", 1, range(SAMPLES))
    uniform(arc_sets(drawn), possible, at_least=2)
    assert drawn.color_names(0) == graph.color_names()


@pytest.mark.parametrize("null", ["degrees", "colors"])
def test_degrees_of_a_large_directed_graph_are_kept(null):
    graph = nx.gnp_random_graph(300, 0.03, directed=True, seed=1)
    graph.add_edges_from((0, v) for v in range(1, 200))  # a hub
    nx.set_node_attributes(graph, {v: "abc"[v % 3] for v in graph}, "color")
    given = az.GraphSet.from_networkx(graph, color="color")
    drawn = draw_one(given, null, 3, range(3))
    drawn.check()
    assert len(set(arc_sets(drawn))) == 3
    colors = [v % 3 for v in range(300)] if null == "colors" else [0] * 300
    expected = senders_and_receivers(arc_sets(given)[0], colors)
    assert all(senders_and_receivers(arcs, colors) == expected for arcs in arc_sets(drawn))
    assert len(arc_sets(drawn)[0] & arc_sets(given)[0]) < 0.3 * graph.number_of_edges()


def test_random_graphs_without_single_arcs_are_directed_graphs():
    pair = az.GraphSet.from_edges([(0, 1), (1, 0), (1, 2)], directed=True)
    drawn = draw_one(pair, "edges", 0, range(60))
    assert {len(arcs) for arcs in arc_sets(drawn)} == {3}
    full = az.GraphSet.from_edges(np.array([(0, 1), (1, 2), (2, 1)]), directed=True)
    assert draw_one(full, "degrees", 0, range(1)).directions is not None


# ---- large graphs, streams, graphs without choice --------------------------------------------------------------

LARGE = az.GraphSet.from_networkx(nx.powerlaw_cluster_graph(400, 4, 0.7, seed=1))
COLORED = az.GraphSet.from_edges(LARGE.edges(), colors=np.arange(400) % 3)


@pytest.mark.parametrize("null", ["degrees", "colors"])
def test_degrees_are_kept_and_graphs_are_valid(null):
    drawn = draw_one(COLORED, null, 3, range(4))
    drawn.check()
    assert len(set(edge_sets(drawn))) == 4
    for row in range(4):
        assert np.array_equal(drawn[row].degrees, COLORED.degrees)
        assert drawn.color_names(row) == COLORED.color_names()
        if null == "colors":
            colors = (np.arange(400) % 3).tolist()
            assert color_degrees(edge_sets(drawn)[row], colors) == color_degrees(edge_sets(COLORED)[0], colors)


def test_most_edges_are_new():
    kept = edge_sets(draw_one(LARGE, "degrees", 1, range(1)))[0] & edge_sets(LARGE)[0]
    assert len(kept) < 0.15 * LARGE.edge_counts[0]


def test_more_swaps_change_nothing(monkeypatch):
    """Ten steps per edge are enough: triangles after ten and after a hundred have the same mean."""

    def triangles() -> np.ndarray:
        return az.count(draw_one(LARGE, "degrees", 5, range(60)), 3).matrix.toarray()[:, 1]

    few = triangles()
    monkeypatch.setattr(null_models, "SWAPS_PER_EDGE", 100)
    many = triangles()
    error = np.sqrt(few.var() / 60 + many.var() / 60)
    assert abs(few.mean() - many.mean()) < 4 * error
    monkeypatch.setattr(null_models, "SWAPS_PER_EDGE", 0)
    monkeypatch.setattr(null_models, "MIN_STEPS", 200)
    assert abs(triangles().mean() - many.mean()) > 20 * error


@pytest.mark.parametrize("null", ["degrees", "edges", "colors"])
def test_a_sample_depends_on_its_seed_and_number_only(null):
    whole = edge_sets(draw(COLORED, null, 7, range(6), Threads(3)))
    assert whole[4:] == edge_sets(draw_one(COLORED, null, 7, range(4, 6)))
    assert whole != edge_sets(draw_one(COLORED, null, 8, range(6)))


@pytest.mark.parametrize("null", ["degrees", "stubs", "edges"])
@pytest.mark.parametrize("n", [1, 2, 5])
def test_graphs_without_choice_stay_as_they_are(null, n):
    empty = az.GraphSet.from_edges(np.empty((0, 2), int), n_vertices=n)
    assert draw_one(empty, null, 0, range(2))[1].equals(empty)
    clique = az.GraphSet.from_networkx(nx.complete_graph(n))
    if null != "stubs" or n < 5:
        assert draw_one(clique, null, 0, range(2))[1].equals(clique)
