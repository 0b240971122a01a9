"""The flip scheme without graphs: every pattern has an equation, and exact products solve them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from counting.helpers import colored, gnp

from anysize.counting.api import count
from anysize.counting.columns import Columns
from anysize.counting.engines.canonical import unpack
from anysize.counting.engines.flip_plan import FlipPlan, flip_plan, is_cycle, open_pairs
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import connected_patterns

PLANS = [(4, 1), (4, 2), (4, 4), (5, 1), (5, 2), (6, 1)]


def solved_for(plan: FlipPlan) -> list[int]:
    """The patterns that have an equation, in the order of the equations."""
    return [int(pattern) for _, rows in plan.levels for pattern in rows[0]]


@pytest.mark.parametrize(("k", "colors"), PLANS)
def test_every_pattern_but_the_cliques_has_one_equation(k: int, colors: int) -> None:
    plan = flip_plan(k, colors)
    cliques = list(range(len(plan.clique)))
    assert sorted(cliques + solved_for(plan)) == list(range(len(plan.high)))
    place, _ = unpack(plan.high, plan.low, k)
    assert (place[: len(cliques)] == len(connected_patterns(k)) - 1).all()
    assert (place[len(cliques) :] < len(connected_patterns(k)) - 1).all()
    assert set(place.tolist()) == set(range(len(connected_patterns(k))))


@pytest.mark.parametrize(("k", "colors"), [(4, 2), (5, 2)])
def test_the_sparse_plan_has_no_equations_for_cycles(k: int, colors: int) -> None:
    plan = flip_plan(k, colors, sparse=True)
    place, _ = unpack(plan.high, plan.low, k)
    left = set(range(len(plan.clique), len(plan.high))) - set(solved_for(plan))
    assert left
    assert all(is_cycle(connected_patterns(k)[place[pattern]]) for pattern in left)


@pytest.mark.parametrize(("k", "colors"), PLANS)
def test_denser_patterns_are_known_before_they_are_used(k: int, colors: int) -> None:
    plan = flip_plan(k, colors)
    known = set(range(len(plan.clique)))
    for _, (pattern, _, denser, m0, _) in plan.levels:
        assert set(denser.tolist()) <= known
        assert (m0 > 0).all()
        known |= set(pattern.tolist())


def test_open_pairs_have_a_neighbor_each() -> None:
    for k in (4, 5, 6):
        assert all(p > 0 and r >= p for pairs in open_pairs(k).values() for p, r in pairs)


def copies_in_order(plan: FlipPlan, graphs: GraphSet) -> np.ndarray:
    """The oracle's copies of the plan's patterns in one graph."""
    place, colors = unpack(plan.high, plan.low, plan.k)
    palette = tuple(range(plan.colors))
    columns = Columns(np.full(len(place), plan.k, np.uint8), place, colors, palette)
    brute = count(graphs, plan.k, engine="brute")
    return brute.align(columns.patterns).matrix.toarray()[0]


def exact_products(plan: FlipPlan, copies: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Products, sums of groups and cliques that a graph with these copies has, each open pattern in one cell."""
    open_counts = np.zeros(plan.n_open, np.int64)
    for _, (pattern, opened, denser, m0, m1) in plan.levels:
        open_counts[opened] = m0 * copies[pattern] + m1 * copies[denser]
    products = np.zeros(plan.length, np.int64)
    cell = {int(opened): at for at, opened in reversed(list(enumerate(plan.target)))}
    for opened, at in cell.items():
        products[plan.source[at]] = open_counts[opened] * (2 if plan.group[at] >= 0 else 1)
    cliques = np.zeros(plan.colors**plan.k, np.int64)
    cliques[plan.clique] = copies[: len(plan.clique)]
    return products, np.zeros(plan.n_groups, np.int64), cliques


@pytest.mark.parametrize(("k", "colors"), [(4, 2), (5, 2)])
def test_exact_products_solve_to_the_counts_of_the_oracle(k: int, colors: int) -> None:
    plan = flip_plan(k, colors)
    copies = copies_in_order(plan, colored(gnp(10, 0.6, seed=3), colors))
    assert np.count_nonzero(copies) > 20
    assert np.array_equal(plan.solve(*exact_products(plan, copies)), copies)


@pytest.mark.parametrize("how", ["uneven", "negative"])
def test_impossible_products_are_detected(how: str) -> None:
    plan = flip_plan(5, 2)
    graphs = colored(GraphSet.from_networkx(nx.complete_graph(8)), 2)
    products, sums, cliques = exact_products(plan, copies_in_order(plan, graphs))
    if how == "negative":
        products[:] = 0
    else:
        _, (pattern, opened, _, m0, _) = next(level for level in plan.levels if (level[1][3] > 1).any())
        spoiled = opened[m0 > 1][0]
        at = np.flatnonzero(plan.target == spoiled)[0]
        products[plan.source[at]] += 2 if plan.group[at] >= 0 else 1
        assert len(pattern) > 0
    with pytest.raises(ArithmeticError, match="no integer solution"):
        plan.solve(products, sums, cliques)
