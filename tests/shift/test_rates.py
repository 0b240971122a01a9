"""Alarm rates: at most the level where only sizes and exchangeable colors change, high where more changes."""

from __future__ import annotations

import numpy as np
import pytest
from shift.rates import CHANGED, SAME, rate

import anysize as az
from anysize.causal.graphons import balanced_density
from anysize.patterns.pattern import Pattern, connected_patterns
from anysize.shift.densities import bound_finite_size_effect

PATTERNS = [pattern for k in (2, 3, 4) for pattern in connected_patterns(k)]
QUIET = (
    "colored balanced blocks, exchanged (the tasks)",
    "the same, one class",
    "sharp balanced blocks, one class",
    "colored blocks, colors of a role exchanged",
)
LOUD = {
    "Erdős–Rényi of one p = .2, + .05, 20 to 40": 0.9,
    "balanced blocks, between + .1, 20 to 40": 0.9,
    "colors move to the other block, sizes kept": 0.9,
    "shares of the roles .5 to .7, 20 to 40": 0.9,
    "class mix 50 : 50 to 100 : 0, 20 to 40": 0.9,
}


@pytest.mark.parametrize("name", QUIET)
def test_false_alarms_are_rare_where_sizes_and_exchangeable_colors_change(name: str) -> None:
    assert rate(SAME[name], 60, range(12), k=3) <= 1 / 12


@pytest.mark.parametrize("name", LOUD)
def test_real_shifts_are_found(name: str) -> None:
    assert rate(CHANGED[name], 60, range(10), k=3) >= LOUD[name]


@pytest.mark.parametrize("graphs", [(3, 30), (60, 1), (60, 3)])
def test_a_few_graphs_raise_no_false_alarm(graphs: tuple[int, int]) -> None:
    pairs = SAME["colored blocks"]
    assert rate(pairs, graphs, range(8), k=3) <= 1 / 8
    assert rate([(new, train) for train, new in pairs], graphs, range(8), k=3) <= 1 / 8


@pytest.mark.parametrize("between", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("within", [(1.0, 1.0), (0.9, 0.2), (0.3, 0.3)])
def test_finite_size_covers_what_balanced_halves_do(within: tuple[float, float], between: float) -> None:
    """Exact expected densities of balanced graphs of two sizes, plain and colored by block."""
    model = az.BlockModel(within=within, between=between)
    blocks = [{"a": 1.0}, {"b": 1.0}]
    colored = [Pattern.of(p.edges, c) for p in PATTERNS for c in (["a"] * p.size, ["a", *["b"] * (p.size - 1)])]
    for small, large in ((10, 40), (14, 40), (20, 30), (20, 400)):
        for patterns, shares in ((PATTERNS, {}), (colored, {"a": 0.5, "b": 0.5})):
            t = np.array([[balanced_density(model, p, n, blocks) for p in patterns] for n in (small, large)])
            allowed = bound_finite_size_effect(patterns, shares, np.array([small]), np.array([large])) * t.max(axis=0)
            assert (np.abs(t[1] - t[0]) <= allowed + 1e-12).all()


def test_finite_size_covers_groups_of_any_share_where_colors_show_them() -> None:
    model = az.BlockModel(within=(0.5, 0.5), between=0.5, shares=(0.2, 0.8))
    blocks = [{"a": 1.0}, {"b": 1.0}]
    pair = Pattern.of([(0, 1)], ["a", "a"])
    t = [balanced_density(model, pair, n, blocks) for n in (20, 40)]
    off = abs(t[1] - t[0]) / max(t)
    assert off > bound_finite_size_effect([pair], {"a": 0.5, "b": 0.5}, np.array([20]), np.array([40]))[0]
    assert off <= bound_finite_size_effect([pair], {"a": 0.2, "b": 0.8}, np.array([20]), np.array([40]))[0]


def test_sets_of_the_same_sizes_and_single_vertices_have_no_finite_size_effect() -> None:
    sizes = np.array([10.0, 20.0, 30.0])
    assert bound_finite_size_effect(PATTERNS, {}, sizes, sizes).tolist() == [0.0] * len(PATTERNS)
    vertex = connected_patterns(1)[0].colored(("a",))
    assert bound_finite_size_effect([vertex], {"a": 0.1}, sizes, 2 * sizes).tolist() == [0.0]
