"""Features and choice of engines."""

from __future__ import annotations

import networkx as nx
import pytest
from counting.helpers import colored, gnp

import anysize as az
from anysize.counting.features import MAX_SAMPLED_GRAPHS, Features
from anysize.counting.planner import ENGINES, choose_engines
from anysize.graphs.graphset import GraphSet, empty_set


def crowded(seed: int = 1) -> GraphSet:
    """Many triangles: degrees alone say nothing of them."""
    return GraphSet.from_networkx(nx.powerlaw_cluster_graph(300, 6, 0.9, seed=seed))


def test_triangles_at_an_edge_from_random_wedges() -> None:
    for graph in (crowded(), gnp(100, 0.2, seed=1)):
        triangles = sum(nx.triangles(graph.to_networkx()[0]).values()) / 3
        exact = 3 * triangles / graph.edge_counts[0]
        assert Features(graph).triangles_per_edge[0] == pytest.approx(exact, rel=0.15)
    many = GraphSet.concatenate([crowded(seed) for seed in range(MAX_SAMPLED_GRAPHS + 1)])
    assert Features(many).triangles_per_edge.mean() == pytest.approx(Features(crowded()).triangles_per_edge[0], rel=0.2)
    assert Features(GraphSet.from_networkx(nx.star_graph(9))).triangles_per_edge.tolist() == [0.0]
    assert Features(GraphSet.from_networkx(nx.complete_graph(9))).triangles_per_edge.tolist() == [7.0]
    assert Features(GraphSet.from_edges([], n_vertices=3)).triangles_per_edge.tolist() == [0.0]
    assert Features(empty_set()).triangles_per_edge.tolist() == []


@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_connected_sets_from_samples(k: int) -> None:
    graph = GraphSet.from_networkx(nx.powerlaw_cluster_graph(60, 5, 0.9, seed=1))
    seen, exact = Features(graph), float(az.count(graph, k).matrix.sum())
    assert seen.sets(k)[0] >= exact  # a bound, before anyone has looked
    seen.estimate_sets(k)
    assert seen.sets(k)[0] == pytest.approx(exact, rel=0.05)
    assert Features(graph).sets(k)[0] > seen.sets(k)[0] or k == 3


def test_large_sets_are_estimated_from_some_graphs() -> None:
    graphs = GraphSet.concatenate([gnp(10 + n % 20, 0.3, seed=n) for n in range(60)])
    seen = Features(graphs)
    seen.estimate_sets(4)
    assert seen.sets(4).sum() == pytest.approx(float(az.count(graphs, 4).matrix.sum()), rel=0.3)


def test_number_of_patterns_from_samples() -> None:
    for colors in (2, 40):
        graph = colored(gnp(60, 0.1, seed=1), colors)
        seen = Features(graph)
        seen.estimate_sets(4)
        assert seen.patterns(4)[0][0] == pytest.approx(len(az.count(graph, 4).columns), rel=0.5)


def test_every_choice_has_an_estimate_of_time() -> None:
    graphs = GraphSet.concatenate([gnp(20, 0.3, seed=n) for n in range(5)])
    for engine in ("auto", "bitset", "enumerate", "brute"):
        for choice in choose_engines(graphs, 4, engine):
            assert choice.costs.shape == choice.rows.shape
            assert 0 < choice.seconds < 60
    assert choose_engines(graphs, 2)[0].seconds > 0


def test_samples_are_drawn_only_for_long_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    sampled: list[int] = []
    monkeypatch.setattr(Features, "estimate_sets", lambda self, k: sampled.append(k))
    choose_engines(colored(gnp(30, 0.2), 30), 5)
    assert sampled == []
    monkeypatch.setattr("anysize.counting.planner.SAMPLE_ABOVE_S", 0.0)
    choose_engines(colored(gnp(30, 0.2), 30), 5)
    choose_engines(gnp(30, 0.2), 5, "enumerate")
    assert sampled == [5, 5]


def test_a_budget_holds_for_small_plain_graphs() -> None:
    """A choice without a comparison has an estimate as well, so that a budget holds for it."""
    graphs = GraphSet.concatenate([gnp(60, 0.5, seed=n) for n in range(40)])
    assert az.count(graphs, 5, budget_s=1e-6).sampling is not None
    assert az.count(graphs, 5, budget_s=100).sampling is None


def test_the_oracle_is_never_chosen() -> None:
    for k in (3, 4, 5, 6, 7):
        assert {choice.engine.name for choice in choose_engines(gnp(8, 0.5), k)} <= set(ENGINES) - {"brute"}
    assert [choice.engine.name for choice in choose_engines(gnp(8, 0.5), 4, "brute")] == ["brute"]
