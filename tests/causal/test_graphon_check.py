"""The graphon check: its statistics by hand, on simulated graphons, and on graphs that no graphon makes."""

from __future__ import annotations

from itertools import combinations, permutations

import networkx as nx
import numpy as np
import pytest

from anysize import BlockModel, Environment, ErdosRenyi, GraphSet, SmoothGraphon, sample_graphs
from anysize.causal.graphon_check import GraphonCheck, check_graphon


def densities_by_hand(graph: nx.Graph) -> tuple[float, float, float]:
    """Densities of an edge, two adjacent and two disjoint edges, over all choices of distinct vertices."""
    vertices = list(graph)
    edge = np.mean([graph.has_edge(u, v) for u, v in combinations(vertices, 2)])
    adjacent = np.mean([graph.has_edge(u, v) and graph.has_edge(v, w) for u, v, w in permutations(vertices, 3)])
    disjoint = np.mean([graph.has_edge(*p[:2]) and graph.has_edge(*p[2:]) for p in permutations(vertices, 4)])
    return float(edge), float(adjacent), float(disjoint)


def test_kappa_is_adjacent_over_disjoint_pairs_of_edges() -> None:
    graphs = [nx.gnp_random_graph(n, p, seed=n) for n, p in ((6, 0.5), (7, 0.4), (8, 0.6))]
    found = [densities_by_hand(graph) for graph in graphs]
    weights = [n * (n - 1) * (n - 2) for n in map(len, graphs)]
    above = sum(weight * adjacent for weight, (_, adjacent, _) in zip(weights, found, strict=True))
    below = sum(weight * disjoint for weight, (_, _, disjoint) in zip(weights, found, strict=True))
    assert check_graphon(GraphSet.from_networkx(graphs)).kappa == pytest.approx(above / below)


GRAPHONS = {
    "Erdos-Renyi": (ErdosRenyi(0.2), ErdosRenyi(0.5)),
    "blocks": (BlockModel(within=(0.5, 0.2), between=0.1), BlockModel(within=(0.2, 0.6), between=0.3)),
    "smooth": (SmoothGraphon(lambda u, v: 0.8 * u * v), SmoothGraphon(lambda u, v: 0.2 + 0.5 * (u + v) / 2)),
}


@pytest.mark.parametrize("name", GRAPHONS)
def test_graphons_pass_within_their_standard_errors(name: str) -> None:
    """kappa >= 1, exponent 2, dispersion 1: over ten data sets, so that chance has its due share."""
    found = []
    for seed in range(10):
        graphs = sample_graphs(GRAPHONS[name], Environment(sizes=(20, 30, 45)), 120, seed=seed)
        found.append(check_graphon(graphs, np.asarray(graphs.y)))
    assert all(check.kappa > 1 - 3 * check.kappa_error for check in found)
    away = np.array([(check.exponent - 2) / check.exponent_error for check in found])
    assert np.abs(away).max() < 4
    assert abs(away.mean()) < 1.5
    dispersion = np.array([check.dispersion for check in found])
    assert 0.7 < dispersion.mean() < 1.3
    assert {check.regime for check in found} == {"graphon"}


def test_bounded_degrees_fail() -> None:
    regular = [nx.random_regular_graph(3, n, seed=n) for n in range(10, 60, 2)]
    found = check_graphon(GraphSet.from_networkx(regular))
    assert found.kappa < 0.9
    assert found.exponent == pytest.approx(1.0, abs=0.1)
    assert found.regime == "not_graphon"
    assert found.decisive


def test_sparse_random_graphs_fail_by_their_exponent_alone() -> None:
    """Mean degree 4 at every size: kappa is that of a graphon, the number of edges is not."""
    sparse = [nx.gnp_random_graph(n, 4 / (n - 1), seed=seed) for seed, n in enumerate(np.repeat([20, 40, 80, 160], 10))]
    found = check_graphon(GraphSet.from_networkx(sparse))
    assert found.kappa > 0.95
    assert found.exponent == pytest.approx(1.0, abs=0.1)
    assert found.regime == "not_graphon"


def test_graphs_with_densities_of_their_own_are_mixed() -> None:
    rng = np.random.default_rng(0)
    graphs = [nx.gnp_random_graph(n, rng.uniform(0.1, 0.8), seed=int(n)) for n in range(20, 60)]
    found = check_graphon(GraphSet.from_networkx(graphs))
    assert found.dispersion > 10
    assert found.regime == "mixed"


def test_one_size_leaves_the_exponent_to_the_theory_and_says_so() -> None:
    sparse = GraphSet.from_networkx([nx.gnp_random_graph(30, 0.1, seed=seed) for seed in range(40)])
    found = check_graphon(sparse)
    assert np.isnan(found.exponent)
    assert found.shrunk_exponent == 2.0
    assert not found.sizes_differ
    assert not found.decisive


def test_classes_are_compared_within_themselves() -> None:
    """Large graphs are sparse, small ones dense, but each class has one graphon: the slope within classes is 2."""
    one = sample_graphs([ErdosRenyi(0.6)], Environment(sizes=(15, 20)), 60, seed=1)
    two = sample_graphs([ErdosRenyi(0.1)], Environment(sizes=(60, 80)), 60, seed=2)
    both, y = GraphSet.concatenate([one, two]), np.repeat([0, 1], 60)
    assert check_graphon(both, y).exponent == pytest.approx(2.0, abs=0.3)
    assert check_graphon(both, y).regime == "graphon"
    assert check_graphon(both).exponent < 1.5


@pytest.mark.parametrize(
    "graphs", [[], [nx.path_graph(3)], [nx.empty_graph(5), nx.empty_graph(0)], [nx.path_graph(2)] * 5]
)
def test_degenerate_sets_have_finite_answers(graphs: list[nx.Graph]) -> None:
    found = check_graphon(GraphSet.from_networkx(graphs) if graphs else GraphSet.from_edges([]))
    assert isinstance(found, GraphonCheck)
    assert found.regime in ("sparse", "graphon", "mixed")
