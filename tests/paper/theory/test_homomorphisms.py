"""Injective homomorphism densities against maps counted one by one, and their expectation t(F, W)."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from paper.theory.helpers import LOPSIDED

import anysize as az
from anysize.causal.coloring import Coloring
from anysize.paper.theory.bounds import single_graph_bound
from anysize.paper.theory.homomorphisms import injective_density

COLORS = [{"a": 0.7, "b": 0.3}, {"b": 0.4, "c": 0.6}]
PLAIN = [pattern for k in (1, 2, 3, 4) for pattern in az.connected_patterns(k)]
COLORED = [
    az.Pattern.of([(0, 1), (1, 2)], colors=names) for names in (["a", "b", "a"], ["b", "a", "c"], ["c", "c", "c"])
] + [az.Pattern.of([(0, 1), (1, 2), (2, 3), (3, 0)], colors=["a", "b", "b", "c"])]


def draw(size, n, seed=0):
    return az.sample_graphs(LOPSIDED, az.Environment(sizes=(size,), colors=COLORS), n, seed)


def share_of_maps(pattern, graph):
    """Every injective map of the pattern's vertices: are all edges kept, and all colors?"""
    n = int(graph.sizes[0])
    edges = {frozenset(edge) for edge in graph.edges().tolist()}
    names = [graph.palette[code] for code in graph.colors]
    maps = list(permutations(range(n), pattern.size))
    kept = [
        all(frozenset((image[i], image[j])) in edges for i, j in pattern.edges)
        and (pattern.colors is None or all(names[v] == c for v, c in zip(image, pattern.colors, strict=True)))
        for image in maps
    ]
    return np.mean(kept)


@pytest.mark.parametrize("pattern", PLAIN + COLORED, ids=lambda pattern: pattern.name)
def test_densities_are_shares_of_maps(pattern):
    graphs = draw(7, 4)
    found = injective_density(az.count(graphs, pattern.size), pattern)
    assert np.allclose(found, [share_of_maps(pattern, graph) for graph in graphs], atol=1e-15)


def test_tables_of_several_sizes_and_graphs_that_are_too_small():
    graphs = az.GraphSet.concatenate([draw(7, 2), draw(2, 1)])
    cycle = az.connected_patterns(4)[3]
    alone, among = (injective_density(az.count(graphs, k), cycle) for k in (4, (3, 4)))
    assert alone.tolist() == among.tolist()
    assert alone[2] == 0
    assert injective_density(az.count(graphs, 3), COLORED[2])[2] == 0
    with pytest.raises(ValueError, match="no patterns of 4 vertices; count with k=4"):
        injective_density(az.count(graphs, 3), cycle)
    with pytest.raises(ValueError, match="plain patterns; count with colors=True"):
        injective_density(az.count(graphs, 3, colors=False), COLORED[0])


# ---- t(F, W) ---------------------------------------------------------------------------------------


def slow_homomorphism_density(pattern, graphon, colors):
    """A plain sum over the blocks of the vertices; edges of the pattern only."""
    coloring = Coloring.of(colors)
    total = 0.0
    for blocks in product(range(len(graphon.shares)), repeat=pattern.size):
        chance = np.prod([graphon.shares[b] for b in blocks])
        for i, j in pattern.edges:
            chance *= graphon.matrix[blocks[i]][blocks[j]]
        for v, b in enumerate(blocks):
            chance *= 1.0 if pattern.colors is None else coloring.share(b, pattern.colors[v])
        total += chance
    return total


@pytest.mark.parametrize("pattern", PLAIN + COLORED, ids=lambda pattern: pattern.name)
def test_block_models_are_sums_over_blocks(pattern):
    value, error = LOPSIDED.homomorphism_density(pattern, COLORS)
    assert error == 0
    assert value == pytest.approx(slow_homomorphism_density(pattern, LOPSIDED, COLORS), rel=1e-12)


def test_closed_forms():
    for pattern in PLAIN:
        assert az.ErdosRenyi(0.3).homomorphism_density(pattern).value == pytest.approx(0.3 ** len(pattern.edges))
        degrees = np.bincount(np.ravel(pattern.edges).astype(int), minlength=pattern.size)
        value, error = az.SmoothGraphon(lambda u, v: u * v).homomorphism_density(
            pattern
        )  # the integral of prod u^degree
        assert abs(value - np.prod(1 / (1 + degrees))) <= 4 * error + 1e-12
        assert error < 1e-4


def test_it_is_the_sum_of_the_induced_densities_of_all_supergraphs():
    """Also of those with colors on a smooth graphon: a path, with the third edge or without it."""
    smooth, colors = az.SmoothGraphon(lambda u, v: 0.1 + 0.7 * u * v), [{"low": 0.25, "high": 0.75}]
    names = ["low", "high", "high"]
    path, triangle = (az.Pattern.of(edges, colors=names) for edges in ([(0, 1), (1, 2)], [(0, 1), (1, 2), (0, 2)]))
    parts = [smooth.density_estimate(pattern, colors, "maps") for pattern in (path, triangle)]
    whole = smooth.homomorphism_density(path, colors)
    assert abs(whole.value - sum(part.value for part in parts)) < 5 * (whole.error + sum(part.error for part in parts))


def test_the_mean_of_many_graphs_is_that_of_the_graphon_at_every_size():
    """And no graph is further from it than the single-graph step of the proof allows."""
    for size, n in ((8, 3000), (30, 400)):
        graphs = draw(size, n, seed=size)
        counts = az.count(graphs, (2, 3))
        for pattern in (PLAIN[1], PLAIN[2], COLORED[0]):
            found, expected = injective_density(counts, pattern), LOPSIDED.homomorphism_density(pattern, COLORS).value
            assert abs(found.mean() - expected) < 4.5 * found.std() / np.sqrt(n)
            for epsilon in (0.3, 0.5, 0.7):
                assert (np.abs(found - expected) > epsilon).mean() <= single_graph_bound(pattern.size, size, epsilon)
