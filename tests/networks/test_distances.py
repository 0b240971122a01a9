"""Distances between graphs, against slow versions of their definitions."""

from __future__ import annotations

from collections import Counter
from math import comb, sqrt

import networkx as nx
import numpy as np
import pytest
from scipy.stats import spearmanr

import anysize as az
from anysize.networks.distances import METRICS

GRAPHS = [
    nx.gnp_random_graph(25, 0.2, seed=1),
    nx.gnp_random_graph(40, 0.2, seed=2),
    nx.barabasi_albert_graph(30, 2, seed=3),
    nx.watts_strogatz_graph(36, 4, 0.1, seed=4),
]


@pytest.mark.parametrize(
    ("metric", "k", "columns"),
    [("gcd-11", 4, [0, 2, 5, 7, 8, 10, 11, 6, 9, 4, 1]), ("gcd-73", 5, list(range(73)))],
)
@pytest.mark.filterwarnings("ignore::scipy.stats.ConstantInputWarning")
def test_correlation_distances_are_those_of_the_definition(metric, k, columns):
    matrices = []
    for graph in GRAPHS:
        counts = np.vstack([az.orbits(graph, k)[:, columns], np.ones(len(columns))])
        matrices.append(np.nan_to_num(spearmanr(counts).statistic))
    expected = [[sqrt(((a - b)[np.triu_indices(len(columns), 1)] ** 2).sum()) for a in matrices] for b in matrices]
    assert np.allclose(az.distances(GRAPHS, metric), expected)


def agreement(left: np.ndarray, right: np.ndarray) -> float:
    """The agreement of two graphs, from their orbit counts, as it was published (with the factor of its erratum)."""
    agreements = []
    for orbit in range(73):
        shares = []
        for counts in (left, right):
            scaled = {d: amount / d for d, amount in Counter(counts[:, orbit].tolist()).items() if d > 0}
            total = sum(scaled.values())
            shares.append({d: value / total for d, value in scaled.items()})
        values = set(shares[0]) | set(shares[1])
        squares = sum((shares[0].get(d, 0) - shares[1].get(d, 0)) ** 2 for d in values)
        agreements.append(1 - sqrt(squares) / sqrt(2))
    return sum(agreements) / 73


def test_distribution_distance_is_one_minus_the_agreement():
    counts = [az.orbits(graph, 5) for graph in GRAPHS]
    expected = [[1 - agreement(a, b) for a in counts] for b in counts]
    assert np.allclose(az.distances(GRAPHS, "gda"), expected)


def test_surroundings_distance_is_that_of_the_definition():
    sums = []
    for graph in GRAPHS:
        total = np.zeros(6)
        for vertex in graph:
            part = nx.ego_graph(graph, vertex, radius=2)
            copies = az.count(part, 4).matrix.toarray()[0]
            n, p = len(part), nx.density(part)
            for at, pattern in enumerate(az.connected_patterns(4)):
                edges = len(pattern.edges)
                placements = comb(n, 4) * 24 / pattern.automorphisms
                total[at] += copies[at] - placements * p**edges * (1 - p) ** (6 - edges)
        sums.append(total)
    for i, x in enumerate(sums):
        for j, y in enumerate(sums):
            weight = 1 / np.sqrt(x**2 + y**2)
            similarity = (x * y * weight).sum() / sqrt((x * x * weight).sum() * (y * y * weight).sum())
            assert az.distances(GRAPHS, "netdis")[i, j] == pytest.approx((1 - similarity) / 2, abs=1e-12)


def test_density_distance_is_that_of_the_definition():
    densities = [az.count(graph, 4).matrix.toarray()[0] / comb(len(graph), 4) for graph in GRAPHS]
    expected = [[np.abs(a - b).sum() for a in densities] for b in densities]
    assert np.allclose(az.distances(GRAPHS, "densities"), expected)


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_is_zero_for_the_same_graph_in_another_order(metric):
    order = np.random.default_rng(0).permutation(30)
    again = nx.empty_graph(30)
    again.add_edges_from(nx.relabel_nodes(GRAPHS[2], dict(enumerate(order.tolist()))).edges)
    table = az.distances([*GRAPHS, again], metric)
    assert table.shape == (5, 5)
    assert np.array_equal(table, table.T)
    assert np.array_equal(np.diag(table), np.zeros(5))
    assert table[2, 4] == pytest.approx(0, abs=1e-7)
    assert (table[np.triu_indices(4, 1)] > 0).all()


@pytest.mark.parametrize("metric", METRICS)
def test_graphs_with_hardly_any_patterns_have_distances(metric):
    table = az.distances([nx.empty_graph(1), nx.empty_graph(6), nx.path_graph(2), nx.complete_graph(5)], metric)
    assert np.isfinite(table).all()
    assert (table >= 0).all()
    assert az.distances([nx.path_graph(3)], metric).tolist() == [[0.0]]


@pytest.mark.parametrize("metric", ["gcd-11", "densities"])
def test_sizes_matter_less_than_graphons(metric):
    """Graphs of two sizes: the nearest graph of the other size is of the same graphon."""
    graphons = az.BlockModel(within=(0.5, 0.5), between=0.1), az.ErdosRenyi(0.3)
    small = az.sample_graphs(graphons, az.Environment(sizes=(60,)), 20, seed=1)
    large = az.sample_graphs(graphons, az.Environment(sizes=(150,)), 20, seed=2)
    both = az.GraphSet.concatenate([small.without_colors(), large.without_colors()])
    table = az.distances(both, metric)
    nearest = table[20:, :20].argmin(axis=1)
    assert (np.asarray(small.y)[nearest] == large.y).mean() >= 0.9


def test_colors_are_not_used():
    colored = az.GraphSet.concatenate(
        [az.GraphSet.from_edges([(0, 1), (1, 2)], colors=colors) for colors in (["a", "b", "c"], ["a", "a", "a"])]
    )
    assert az.distances(colored, "densities").tolist() == [[0, 0], [0, 0]]


def test_errors_are_one_sentence():
    with pytest.raises(ValueError, match="metric must be one of gcd-11, gcd-73, gda, netdis, densities; got 'gcd'"):
        az.distances(GRAPHS, "gcd")
    with pytest.raises(ValueError, match="between graphs with vertices; graph 1 has none"):
        az.distances([nx.path_graph(3), nx.empty_graph(0)])


def test_no_graphs_have_no_distances():
    with pytest.raises(ValueError, match="got none"):
        az.distances([])
