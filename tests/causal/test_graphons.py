"""Graphons: edge probabilities, expected densities against slow sums, exact balance, refused nonsense."""

from __future__ import annotations

from itertools import combinations, permutations, product
from math import comb, factorial

import numpy as np
import pytest

import anysize as az
from anysize.causal.coloring import ColorFunction, Coloring, SizeColoring
from anysize.causal.graphons import Graphon, balanced_density, block_sizes

COLORS = [{"a": 0.7, "b": 0.3}, {"b": 0.4, "c": 0.6}]
LOPSIDED = az.BlockModel(within=(0.6, 0.2), between=0.3, shares=(0.4, 0.6))


def chance_of(pattern, blocks, matrix, colors):
    """The probability that k vertices in these blocks, in this order, are the pattern in any of its numberings."""
    total = 0.0
    k = pattern.size
    numberings = {
        (frozenset(frozenset((order[i], order[j])) for i, j in pattern.edges),
         None if pattern.colors is None else tuple(pattern.colors[order.index(v)] for v in range(k)))
        for order in permutations(range(k))
    }  # fmt: skip
    for edges, names in numberings:
        chance = 1.0
        for i, j in combinations(range(k), 2):
            p = matrix[blocks[i]][blocks[j]]
            chance *= p if frozenset((i, j)) in edges else 1 - p
        for v in range(k):
            chance *= 1.0 if names is None else colors[blocks[v]].get(names[v], 0.0)
        total += chance
    return total


def slow_density(pattern, graphon, colors):
    """Blocks drawn independently: a plain sum over their assignments."""
    return sum(
        np.prod([graphon.shares[b] for b in blocks]) * chance_of(pattern, blocks, graphon.matrix, colors)
        for blocks in product(range(len(graphon.shares)), repeat=pattern.size)
    )


def slow_balanced(pattern, graphon, colors, sizes):
    """Blocks as they are: a plain mean over the k-subsets of the vertices."""
    labels = [block for block, size in enumerate(sizes) for _ in range(size)]
    sets = list(combinations(labels, pattern.size))
    return sum(chance_of(pattern, blocks, graphon.matrix, colors) for blocks in sets) / len(sets)


def colored(k, names="abc"):
    """All colored patterns on k vertices."""
    return sorted(
        {plain.colored(way) for plain in az.connected_patterns(k) for way in product(names, repeat=k)},
        key=lambda p: p.name,
    )


PATTERNS = (
    [pattern for k in (1, 2, 3, 4) for pattern in az.connected_patterns(k)] + colored(1) + colored(2) + colored(3)
)


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern.name)
def test_block_models_agree_with_a_plain_sum(pattern):
    expected = slow_density(pattern, LOPSIDED, COLORS)
    assert LOPSIDED.expected_density(pattern, COLORS) == pytest.approx(expected, abs=1e-12)
    ratio = pattern.automorphisms / factorial(pattern.size)
    assert LOPSIDED.expected_density(pattern, COLORS, over="maps") == pytest.approx(expected * ratio, abs=1e-12)
    assert LOPSIDED.density_estimate(pattern, COLORS).error == 0


@pytest.mark.parametrize("pattern", PATTERNS[:10] + PATTERNS[10::7], ids=lambda pattern: pattern.name)
def test_exactly_balanced_blocks_agree_with_a_mean_over_all_subsets(pattern):
    for n in (4, 5, 9):
        expected = slow_balanced(pattern, LOPSIDED, COLORS, block_sizes(LOPSIDED.shares, n))
        assert balanced_density(LOPSIDED, pattern, n, COLORS) == pytest.approx(expected, abs=1e-12)


def test_exact_balance_is_not_independence_but_approaches_it():
    edge = az.connected_patterns(2)[0]
    model = az.BlockModel(within=(0.2, 0.2), between=0.3)
    limit = model.expected_density(edge)
    gaps = [balanced_density(model, edge, n) - limit for n in (20, 40, 80)]
    assert gaps[0] == pytest.approx(0.1 * 0.5 / 19)  # the share of cross pairs is 10/19, not 1/2
    assert gaps[1] / gaps[0] == pytest.approx(19 / 39)
    assert balanced_density(model, az.connected_patterns(4)[0], 3) == 0
    assert balanced_density(az.ErdosRenyi(0.3), edge, 5) == 0.3


def test_erdos_renyi_is_the_block_model_of_one_block():
    one = az.BlockModel(matrix=[[0.3]])
    colors = [{"a": 0.25, "b": 0.75}]
    for pattern in [*az.connected_patterns(4), *colored(3, "ab")]:
        expected = one.expected_density(pattern, colors)
        assert az.ErdosRenyi(0.3).expected_density(pattern, colors) == pytest.approx(expected, rel=1e-12)


def test_colored_densities_sum_to_the_plain_one():
    for plain in az.connected_patterns(4):
        parts = {plain.colored(way) for way in product("abc", repeat=4)}
        total = sum(LOPSIDED.expected_density(pattern, COLORS) for pattern in parts)
        assert total == pytest.approx(LOPSIDED.expected_density(plain), rel=1e-12)


def test_densities_of_seven_vertices_are_summed_too():
    clique = az.connected_patterns(7)[-1]
    two = az.BlockModel(within=(1.0, 0.0), between=0.0)
    assert two.expected_density(clique) == pytest.approx(0.5**7)
    with pytest.raises(ValueError, match="100000000"):
        az.BlockModel(within=[0.1] * 15, between=0.2).expected_density(clique)


@pytest.mark.parametrize(
    ("function", "closed"),
    [
        (lambda u, v: u * v, {"edge": 1 / 4, "triangle": 1 / 27, "3-path": 3 * (1 / 12 - 1 / 27)}),
        (lambda u, v: (u + v) / 2, {"edge": 1 / 2, "triangle": 5 / 32}),
        (lambda u, v: np.where(np.maximum(u, v) < 0.5, 1.0, 0.0), {"edge": 1 / 4, "triangle": 1 / 8, "3-path": 0}),
    ],
    ids=["product", "mean", "step"],
)
def test_integrals_agree_with_their_closed_forms_within_the_stated_error(function, closed):
    graphon = az.SmoothGraphon(function)
    named = {pattern.name: pattern for k in (2, 3) for pattern in az.connected_patterns(k)}
    for name, expected in closed.items():
        value, error = graphon.density_estimate(named[name])
        assert error < 2e-4
        assert abs(value - expected) <= 4 * error + 1e-12


def test_colored_integrals_take_the_interval_of_each_color():
    graphon = az.SmoothGraphon(lambda u, v: u * v)
    colors = [{"low": 0.5, "high": 0.5}]
    edge = az.Pattern.of([(0, 1)], colors=["low", "high"])
    value, error = graphon.density_estimate(edge, colors)
    assert abs(value - 2 * (1 / 8) * (3 / 8)) <= 4 * error + 1e-12
    assert graphon.expected_density(az.Pattern.of([(0, 1)], colors=["low", "new"]), colors) == 0
    assert graphon.expected_density(edge, colors) == value  # the points are fixed
    assert graphon.expected_density(edge, colors, over="maps") == pytest.approx(value / 2)


def test_the_step_function_of_a_block_model_has_its_densities():
    smooth = az.SmoothGraphon(LOPSIDED.edge_probability)
    for pattern in az.connected_patterns(4):
        value, error = smooth.density_estimate(pattern)
        assert abs(value - LOPSIDED.expected_density(pattern)) <= 4 * error + 1e-12


def test_blocks_and_positions():
    model = az.BlockModel(matrix=np.full((3, 3), 0.5), shares=(0.25, 0.25, 0.5))
    assert model.block([0, 0.2499, 0.25, 0.5, 0.999]).tolist() == [0, 0, 1, 2, 2]
    assert model.position([0.125, 0.25, 0.75]).tolist() == [0.5, 0, 0.5]
    assert model.position(np.nextafter([0.25, 0.5, 1.0], 0)).max() < 1
    assert block_sizes((1 / 3, 1 / 3, 1 / 3), 10).tolist() == [4, 3, 3]
    assert block_sizes((0.5, 0.5), 40).tolist() == [20, 20]
    assert block_sizes((0.1,) * 10, 30).tolist() == [3] * 10


def test_colors_are_cut_by_their_shares():
    coloring = Coloring.of([{"z": 0.5, "a": 0.5}, {"a": 1.0, "never": 0.0}])
    assert coloring.palette == ("a", "never", "z")
    codes = coloring.codes(np.array([0, 0, 1]), np.array([0.49, 0.5, np.nextafter(1.0, 0)]))
    assert [coloring.palette[code] for code in codes] == ["z", "a", "a"]
    assert coloring.share(1, "z") == 0
    assert Coloring.of(coloring) is coloring


INVALID = [
    (lambda: az.ErdosRenyi(-0.1), "p must be a probability from 0 to 1; got -0.1"),
    (lambda: az.ErdosRenyi(float("nan")), "from 0 to 1; got nan"),
    (lambda: az.ErdosRenyi("half"), "from 0 to 1; got 'half'"),
    (lambda: az.BlockModel(within=(0.2, 1.2), between=0.1), "within must be a probability"),
    (lambda: az.BlockModel(within=0.2, between=0.1), "one edge probability per block"),
    (lambda: az.BlockModel(within=(), between=0.1), "one edge probability per block"),
    (lambda: az.BlockModel(within=(0.2, 0.2)), "either within and between"),
    (lambda: az.BlockModel(between=0.2, matrix=[[0.5]]), "either within and between"),
    (lambda: az.BlockModel(), "either within and between"),
    (lambda: az.BlockModel(matrix=[[0.1, 0.2], [0.3, 0.1]]), "symmetric; got"),
    (lambda: az.BlockModel(matrix=[[0.1, 0.2]]), r"square; got the shape \(1, 2\)"),
    (lambda: az.BlockModel(matrix=[[0.1, 0.2], [0.3]]), "one number per pair of blocks"),
    (lambda: az.BlockModel(matrix=[[0.1, -0.2], [-0.2, 0.3]]), "an entry of the matrix must be a probability"),
    (lambda: az.BlockModel(within=(0.2, 0.2), between=0.1, shares=(0.5, 0.6)), "sum to 1"),
    (lambda: az.BlockModel(within=(0.2, 0.2), between=0.1, shares=(1.0, 0.0)), "positive"),
    (lambda: az.BlockModel(within=(0.2, 0.2), between=0.1, shares=(1.0,)), "expected 2 shares"),
    (lambda: az.SmoothGraphon(0.3), "a function of two arrays"),
    (lambda: az.SmoothGraphon(lambda u, v: u - v + 0.5), "0 to 1|symmetric"),
    (lambda: az.SmoothGraphon(lambda u, v: u), "symmetric"),
    (lambda: az.SmoothGraphon(lambda u, v: u + v), "values from 0 to 1"),
    (lambda: az.SmoothGraphon(lambda u, v: 0.5), r"expected the shape \(841,\), got \(\)"),
    (lambda: Coloring.of({"a": 1.0}), "one mapping of names to shares per block"),
    (lambda: Coloring.of(SizeColoring.of({5: [{"a": 1.0}]})), "one mapping of names to shares per block"),
    (lambda: Coloring.of(ColorFunction(len)), "one mapping of names to shares per block"),
    (lambda: Coloring.of([{"a": 0.5}]), "sum to 1"),
    (lambda: Coloring.of([{"a": 1.5, "b": -0.5}]), "not negative"),
    (lambda: Coloring.of([]), "every block"),
    (lambda: Coloring((("a", "a"),), ((0.5, 0.5),)), "distinct color names"),
    (lambda: az.ErdosRenyi(0.5).expected_density(az.connected_patterns(2)[0], over="connected"), "'subsets' or 'maps'"),
    (lambda: az.ErdosRenyi(0.5).expected_density(colored(1)[0]), "is colored"),
    (lambda: az.ErdosRenyi(0.5).expected_density(colored(1)[0], COLORS), "for 2 blocks"),
    (lambda: az.SmoothGraphon(lambda u, v: u * v).expected_density(colored(1)[0]), "is colored"),
]


@pytest.mark.parametrize(("call", "message"), INVALID)
def test_invalid_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_only_block_models_can_be_balanced():
    class Other(az.SmoothGraphon):
        pass

    other = Other(lambda u, v: u * v)
    object.__setattr__(other, "shares", (0.5, 0.5))
    assert isinstance(other, Graphon)
    with pytest.raises(ValueError, match="need a BlockModel; got Other"):
        balanced_density(other, az.connected_patterns(2)[0], 10)


def test_graphons_are_values():
    assert az.ErdosRenyi(0.3) == az.ErdosRenyi(0.3) != az.ErdosRenyi(0.4)
    assert len({LOPSIDED, az.BlockModel(within=(0.6, 0.2), between=0.3, shares=(0.4, 0.6))}) == 1
    assert repr(az.ErdosRenyi(0.3)) == "ErdosRenyi(p=0.3)"
    assert eval(repr(LOPSIDED), {"BlockModel": az.BlockModel}) == LOPSIDED


def test_the_share_of_pairs_that_are_edges_counts_pairs():
    """Over subsets, the density of an edge is edges / C(N, 2), also as a count."""
    graphs = az.sample_graphs(az.ErdosRenyi(1.0), az.Environment(sizes=(6,)), 1, seed=0)
    density = az.count(graphs, 2).densities().toarray()[0, 0]
    assert (
        density
        == graphs.edge_counts[0] / comb(6, 2)
        == az.ErdosRenyi(1.0).expected_density(az.connected_patterns(2)[0])
    )
