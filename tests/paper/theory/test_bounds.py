"""Theorem 1: counted patterns, the bound against exact tails and twins, sizes and gaps as its inverses."""

from __future__ import annotations

from itertools import combinations, product
from math import ceil, comb, log

import numpy as np
import pytest
from paper.theory.helpers import LOPSIDED
from scipy.stats import binom

import anysize as az
from anysize.paper.theory.bounds import (
    epsilon_reached,
    number_of_patterns,
    single_graph_bound,
    size_needed,
    theorem_bound,
)
from anysize.paper.theory.gaps import density_gap


@pytest.mark.parametrize(("k", "colors"), [(1, 4), (2, 3), (3, 3), (4, 2), (4, 3), (5, 2)])
def test_colored_patterns_are_counted_without_listing_them(k, colors):
    listed = {plain.colored(way) for plain in az.connected_patterns(k) for way in product(range(colors), repeat=k)}
    assert number_of_patterns(k, colors) == len(listed)


def test_numbers_of_plain_patterns():
    assert [number_of_patterns(k) for k in range(1, 8)] == [1, 1, 2, 6, 21, 112, 853]
    assert number_of_patterns(7, up_to=True) == 996
    assert number_of_patterns(3, 4, up_to=True) == 4 + 10 + number_of_patterns(3, 4)


def test_the_bound_is_the_papers_formula():
    tails = np.exp(-0.25 * 400 / 32) + np.exp(-0.25 * 800 / 32)
    assert theorem_bound(2, 400, 800, 0.5) == pytest.approx(2 * 2 * tails)  # a vertex and an edge
    assert theorem_bound(2, 400, 800, 0.5, up_to=False) == pytest.approx(2 * tails)
    assert theorem_bound(2, 400, 800, 0.5, colors=4) == pytest.approx(2 * 14 * tails)


def test_patterns_of_all_sizes_up_to_k_are_counted_by_default():
    """The theorem has F_{<= k}: every connected pattern on at most k vertices, here listed."""
    listed = sum(len(az.connected_patterns(size)) for size in range(1, 6))
    per_pattern = 2 * (np.exp(-0.16 * 5000 / 200) + np.exp(-0.16 * 9000 / 200))
    assert theorem_bound(5, 5000, 9000, 0.4) == pytest.approx(listed * per_pattern)
    assert epsilon_reached(5, 5000, 9000) > epsilon_reached(5, 5000, 9000, up_to=False)
    assert size_needed(5, 0.4) == size_needed(5, 0.4, up_to=True) > size_needed(5, 0.4, up_to=False)


def test_the_bound_is_vacuous_at_the_sizes_of_the_erdos_renyi_task():
    for up_to in (False, True):
        assert all(theorem_bound(4, 80, 140, e, up_to=up_to) > 1 for e in np.linspace(0.01, 0.99, 50))
        assert epsilon_reached(4, 80, 140, up_to=up_to) > 1
    assert theorem_bound(4, 80, 140, 0.8, kind="hoeffding") < 0.06  # the same event, and no longer vacuous


@pytest.mark.parametrize("kind", ["paper", "hoeffding"])
@pytest.mark.parametrize(("n", "m"), [(40, 40), (30, 90), (200, 60)])
def test_exact_tails_lie_below_the_bound(kind, n, m):
    """k = 1 and two colors: shares of colors are binomial, and the distribution of their gap is known."""
    for share in (0.5, 0.2):
        joint = np.outer(binom.pmf(np.arange(n + 1), n, share), binom.pmf(np.arange(m + 1), m, share))
        gap = np.abs(np.arange(n + 1)[:, None] / n - np.arange(m + 1) / m)
        for epsilon in np.linspace(0.02, 0.98, 49):
            assert joint[gap > epsilon].sum() <= theorem_bound(1, n, m, epsilon, 2, kind=kind)


def test_hoeffding_is_never_above_the_paper():
    for k, n, m, epsilon in product((1, 2, 3, 5, 7), (7, 20, 111), (9, 400), (0.05, 0.3, 0.9)):
        for up_to in (False, True):
            sharp = theorem_bound(k, n, m, epsilon, 3, up_to=up_to, kind="hoeffding")
            assert sharp <= theorem_bound(k, n, m, epsilon, 3, up_to=up_to)


@pytest.mark.parametrize("kind", ["paper", "hoeffding"])
@pytest.mark.parametrize("up_to", [False, True])
def test_sizes_and_gaps_invert_the_bound(kind, up_to):
    for k, colors, delta in ((2, 1, 0.05), (4, 3, 0.01), (5, 2, 0.5)):
        needed = size_needed(k, 0.3, delta, colors, up_to=up_to, kind=kind)
        assert theorem_bound(k, needed, needed, 0.3, colors, up_to=up_to, kind=kind) <= delta
        assert theorem_bound(k, needed - 1, needed - 1, 0.3, colors, up_to=up_to, kind=kind) > delta
        reached = epsilon_reached(k, needed, 2 * needed, delta, colors, up_to=up_to, kind=kind)
        assert reached < 0.3 + 1e-9
        assert theorem_bound(k, needed, 2 * needed, reached, colors, up_to=up_to, kind=kind) == pytest.approx(delta)


def test_the_size_needed_has_the_closed_form_of_the_paper():
    assert size_needed(4, 0.1, 0.05) == ceil(8 * 16 / 0.01 * log(4 * 10 / 0.05))
    amount = number_of_patterns(5, 2)
    assert size_needed(5, 0.2, 0.01, colors=2, up_to=False) == ceil(8 * 25 / 0.04 * log(4 * amount / 0.01))


# ---- the step for one graph ------------------------------------------------------------------------


def test_the_step_for_one_graph_gives_the_theorem_by_union_bounds():
    for kind in ("paper", "hoeffding"):
        tails = sum(single_graph_bound(3, n, 0.2, kind) for n in (300, 700))
        assert theorem_bound(3, 300, 700, 0.4, up_to=False, kind=kind) == pytest.approx(2 * tails)
    assert single_graph_bound(3, 300, 0.2) == pytest.approx(2 * np.exp(-0.04 * 300 / 18))


@pytest.mark.parametrize("kind", ["paper", "hoeffding"])
def test_exact_tails_of_one_graph_lie_below_the_step(kind):
    """Shares of a color (k = 1), edges of Erdos-Renyi graphs, and a clique on a share of the vertices (k = 2, 3)."""
    for n, share in product((10, 40, 200), (0.2, 0.5, 0.7)):
        pairs = n * (n - 1) // 2
        inside = np.arange(n + 1)
        laws = [
            (1, inside / n, binom.pmf(inside, n, share), share),
            (2, np.arange(pairs + 1) / pairs, binom.pmf(np.arange(pairs + 1), pairs, share), share),
            (2, inside * (inside - 1) / (2 * pairs), binom.pmf(inside, n, share), share**2),
            (3, [comb(m, 3) / comb(n, 3) for m in inside.tolist()], binom.pmf(inside, n, share), share**3),
        ]
        for k, density, chance, mean in laws:
            assert chance @ np.asarray(density) == pytest.approx(mean)
            for epsilon in np.linspace(0.05, 0.95, 19):
                tail = chance[np.abs(np.asarray(density) - mean) > epsilon].sum()
                assert tail <= single_graph_bound(k, n, epsilon, kind)


def test_the_martingale_of_the_proof():
    """B_m, the expected density given U and the edges of the first m vertices, step by step in a block model."""
    graphon, pattern, n = LOPSIDED, az.connected_patterns(3)[0], 6
    weight, matrix = graphon.shares, np.array(graphon.matrix)
    three = list(combinations(range(n), 3))

    def expected(blocks, edges):
        """Over all triples: the chance of a path, summed over the blocks and the edges that are not yet known."""
        total = 0.0
        for triple in three:
            new = [v for v in triple if v not in blocks]
            for way in product(range(2), repeat=len(new)):
                block = {**blocks, **dict(zip(new, way, strict=True))}
                for linked in product((0, 1), repeat=3):
                    chance = float(np.prod([weight[b] for b in way])) * (sum(linked) == 2)
                    for (u, v), edge in zip(combinations(triple, 2), linked, strict=True):
                        p = float((u, v) in edges) if v in blocks else matrix[block[u], block[v]]
                        chance *= p if edge else 1 - p
                    total += chance
        return total / len(three)

    graph = az.sample_graphs(graphon, az.Environment(sizes=(n,)), 1, seed=5)
    block, edges = dict(enumerate(graph.blocks.tolist())), {tuple(edge) for edge in graph.edges(0).tolist()}
    known = [({v: block[v] for v in range(m)}, {e for e in edges if max(e) < m}) for m in range(n + 1)]
    steps = [expected(*state) for state in known]
    assert steps[0] == pytest.approx(graphon.expected_density(pattern))
    assert steps[n] == pytest.approx(az.count(graph, 3).densities().toarray()[0, 0])
    assert np.abs(np.diff(steps)).max() <= 3 / n
    blocks, seen = known[3]  # a martingale: the mean over the next vertex is the present value
    mean = 0.0
    for b in range(2):
        for linked in product((0, 1), repeat=3):
            chance = weight[b] * np.prod(
                [matrix[blocks[v], b] if e else 1 - matrix[blocks[v], b] for v, e in enumerate(linked)]
            )
            mean += chance * expected({**blocks, 3: b}, seen | {(v, 3) for v, e in enumerate(linked) if e})
    assert mean == pytest.approx(steps[3])


# ---- on graphs -------------------------------------------------------------------------------------

GRAPHONS = {
    "erdos-renyi": az.ErdosRenyi(0.5),
    "one clique": az.BlockModel(
        within=(1.0, 0.0), between=0.0, shares=(0.7, 0.3)
    ),  # as far from concentrated as it gets
    "smooth": az.SmoothGraphon(lambda u, v: u * v),
}


@pytest.mark.parametrize("name", GRAPHONS)
def test_twins_of_400_and_800_vertices_keep_to_the_theorem(name):
    colors = [{"a": 0.5, "b": 0.5}] * len(GRAPHONS[name].shares)
    train, test = (az.Environment(sizes=(n,), colors=colors) for n in (400, 800))
    twins = az.sample_twins(GRAPHONS[name], train, test, 16, seed=0)
    plain = density_gap(twins.train, twins.test, 2, paired=True, colors=False)
    assert (plain.values > 0.5).mean() <= theorem_bound(2, 400, 800, 0.5) < 0.2
    colored = density_gap(twins.train, twins.test, 2, paired=True)
    assert (colored.values > 0.5).mean() <= theorem_bound(2, 400, 800, 0.5, colors=2) < 0.5
    assert plain.largest < epsilon_reached(2, 400, 800, kind="hoeffding") < 0.2
    apart = az.sample_graphs(GRAPHONS[name], test, 8, seed=1)  # and for independent graphs
    assert (density_gap(twins.train, apart, 2, colors=False).values > 0.5).mean() <= theorem_bound(2, 400, 800, 0.5)


def test_the_theorem_needs_colors_that_do_not_depend_on_the_environment():
    train, test = (az.Environment(sizes=(n,), colors=[{c: 1.0}]) for n, c in ((400, "red"), (800, "blue")))
    twins = az.sample_twins(az.ErdosRenyi(0.9), train, test, 10, seed=0)
    gap = density_gap(twins.train, twins.test, 2, paired=True)
    assert (gap.values > 0.5).mean() == 1 > theorem_bound(2, 400, 800, 0.5, colors=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: theorem_bound(8, 400, 800, 0.5), "k must be an integer from 1 to 7"),
        (lambda: theorem_bound(4, 3, 800, 0.5), "at least 4; got 3"),
        (lambda: theorem_bound(4, 80.5, 800, 0.5), "at least 4; got 80.5"),
        (lambda: theorem_bound(2, 400, 800, 0.0), "epsilon must lie between 0 and 1; got 0.0"),
        (lambda: theorem_bound(2, 400, 800, 1.5), "epsilon must lie between 0 and 1"),
        (lambda: theorem_bound(2, 400, 800, 0.5, colors=0), "colors must be an integer of at least 1; got 0"),
        (lambda: theorem_bound(2, 400, 800, 0.5, kind="azuma"), "one of paper, hoeffding; got 'azuma'"),
        (lambda: epsilon_reached(2, 400, 800, delta=0), "delta must be a probability above 0; got 0"),
        (lambda: size_needed(2, 1.2), "epsilon must lie between 0 and 1"),
        (lambda: size_needed(2, 0.2, delta=-1), "delta must be a probability above 0"),
    ],
)
def test_invalid_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
