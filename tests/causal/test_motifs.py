"""Planted motifs against networkx and the obvious loop."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
import pytest

from anysize.causal.motifs import (
    CRANE,
    CYCLE,
    HOUSE,
    Base,
    Planted,
    add_random_edges,
    erdos_renyi,
    geometric,
    ladder,
    path,
    plant,
    preferential,
    star,
    tree,
    wheel,
)


def as_networkx(base: Base) -> nx.Graph:
    graph = nx.empty_graph(base.size)
    graph.add_edges_from(base.edges.tolist())
    assert graph.number_of_edges() == len(base.edges)
    return graph


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(wheel, nx.wheel_graph), (ladder, nx.ladder_graph), (star, nx.star_graph), (path, nx.path_graph)],
)
@pytest.mark.parametrize("width", [1, 2, 3, 4, 9])
def test_bases_match_networkx(ours: Callable[[int], Base], theirs: Callable[[int], nx.Graph], width: int) -> None:
    assert nx.utils.graphs_equal(as_networkx(ours(width)), theirs(width))


def test_a_tree_is_balanced_and_motifs_are_what_they_are_called() -> None:
    for height in range(5):
        assert nx.utils.graphs_equal(as_networkx(tree(height)), nx.balanced_tree(2, height))
    house, cycle, crane = (nx.Graph(motif.tolist()) for motif in (HOUSE, CYCLE, CRANE))
    assert nx.is_isomorphic(house, nx.house_graph())
    assert nx.is_isomorphic(cycle, nx.cycle_graph(5))
    assert nx.is_isomorphic(crane, nx.complete_bipartite_graph(2, 3))


def split(planted: Planted) -> list[nx.Graph]:
    """One networkx graph each, with vertices from 0."""
    whole = nx.empty_graph(int(planted.sizes.sum()))
    whole.add_edges_from(zip(planted.source.tolist(), planted.target.tolist(), strict=True))
    assert whole.number_of_edges() == len(planted.source)  # none twice
    ends = np.cumsum(planted.sizes)
    return [
        nx.relabel_nodes(whole.subgraph(range(end - size, end)), {v: v - (end - size) for v in range(end - size, end)})
        for end, size in zip(ends.tolist(), planted.sizes.tolist(), strict=True)
    ]


def test_motifs_hang_on_a_random_vertex_by_one_edge() -> None:
    bases = [ladder(4)] * 400 + [star(3)] * 2
    motifs = [[HOUSE]] * 400 + [[CYCLE, CRANE], []]
    *many, two, none = split(plant(bases, motifs, np.random.default_rng(0)))
    assert nx.utils.graphs_equal(none, nx.star_graph(3))
    assert len(two) == 4 + 10
    assert two.number_of_edges() == 3 + 5 + 6 + 2
    assert nx.is_isomorphic(two.subgraph(range(4, 9)), nx.cycle_graph(5))
    assert nx.is_isomorphic(two.subgraph(range(9, 14)), nx.complete_bipartite_graph(2, 3))
    ground = []
    for graph in many:
        assert nx.is_isomorphic(graph.subgraph(range(8, 13)), nx.house_graph())
        assert nx.utils.graphs_equal(graph.subgraph(range(8)), nx.ladder_graph(4))
        (link,) = [edge for edge in graph.edges if min(edge) < 8 <= max(edge)]
        assert max(link) == 8
        ground.append(min(link))
    amounts = np.bincount(ground, minlength=8)
    assert ((amounts - 50) ** 2 / 50).sum() < 24.3  # chi-squared, 7 degrees of freedom, p = .001


def obvious(graph: nx.Graph, is_open: list[bool], share: float, rng: np.random.Generator) -> nx.Graph:
    """The rule, pair by pair."""
    graph = graph.copy()
    for _ in range(int(share * graph.number_of_edges())):
        while True:
            u, v = rng.integers(0, len(graph), 2).tolist()
            if u != v and not graph.has_edge(u, v):
                break
        if is_open[u] or is_open[v]:
            graph.add_edge(u, v)
    return graph


@pytest.mark.parametrize("base", [star(12), path(12), wheel(9)], ids=["star", "path", "wheel"])
def test_random_edges_follow_the_rule(base: Base) -> None:
    planted = plant([base] * 2000, [[HOUSE]] * 2000, np.random.default_rng(1))
    before, after = split(planted), split(add_random_edges(planted, 0.3, np.random.default_rng(2)))
    is_open = [*base.open.tolist(), *[False] * 5]
    rng = np.random.default_rng(3)
    slow = [obvious(graph, is_open, 0.3, rng) for graph in before]
    for graph, larger in zip(before, after, strict=True):
        new = set(map(frozenset, larger.edges)) - set(map(frozenset, graph.edges))
        assert len(new) == larger.number_of_edges() - graph.number_of_edges() <= int(0.3 * graph.number_of_edges())
        assert all(any(is_open[vertex] for vertex in edge) for edge in new)
    amounts, expected = (np.array([graph.number_of_edges() for graph in graphs]) for graphs in (after, slow))
    error = np.sqrt((amounts.var() + expected.var()) / len(amounts))
    assert abs(amounts.mean() - expected.mean()) <= 4 * error + 1e-12
    degrees, wanted = (
        np.array([[graph.degree(vertex) for vertex in range(len(is_open))] for graph in graphs])
        for graphs in (after, slow)
    )
    error = np.sqrt((degrees.var(axis=0) + wanted.var(axis=0)) / len(degrees))
    assert (np.abs(degrees.mean(axis=0) - wanted.mean(axis=0)) <= 4 * error + 1e-12).all()


def test_random_bases_have_the_edges_that_they_should() -> None:
    sizes = np.full(300, 80)
    rng = np.random.default_rng(4)
    sparse, trees, near = erdos_renyi(sizes, 2.0, rng), preferential(sizes, rng), geometric(sizes, 3.0, rng)
    assert np.mean([len(base.edges) for base in sparse]) == pytest.approx(80, abs=2)
    assert all(nx.is_tree(as_networkx(base)) for base in trees)
    assert np.mean([as_networkx(base).degree(0) for base in trees]) > 4 * np.mean(
        [as_networkx(base).degree(40) for base in trees]
    )
    assert 90 < np.mean([len(base.edges) for base in near]) < 120  # 120 without a border
    assert np.mean([nx.transitivity(as_networkx(base)) for base in near]) == pytest.approx(0.587, abs=0.03)
    assert [base.size for base in preferential(np.array([1, 2, 5]), rng)] == [1, 2, 5]
