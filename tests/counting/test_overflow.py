"""Counts near 2^63: exact if they fit, otherwise an error that names the graph."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
import pytest
from counting.helpers import colored

from anysize._errors import CountWarning
from anysize.counting.api import count
from anysize.counting.engines.sparse import binomial_sum, exact_sum
from anysize.graphs.graphset import GraphSet


def star(leaves: int) -> GraphSet:
    return GraphSet.from_edges(np.stack([np.zeros(leaves, np.int64), np.arange(1, leaves + 1)], axis=1))


def copies_of(graphs: GraphSet, k: int) -> dict[str, int]:
    counts = count(graphs, k)
    row = counts.matrix.toarray()[0]
    return {pattern.name: int(copies) for pattern, copies in zip(counts.patterns, row, strict=True) if copies}


def test_a_star_with_100_000_leaves_fits() -> None:
    assert copies_of(star(100_000), 5) == {"K1,4": comb(100_000, 4)}


def test_a_star_with_200_000_leaves_is_refused_by_name() -> None:
    graphs = GraphSet.concatenate([star(3), star(200_000)])
    message = rf"graph 1 has {comb(200_000, 4)} induced copies of the pattern 'K1,4'.*smaller k"
    with pytest.raises(OverflowError, match=message):
        count(graphs, 5)
    with pytest.raises(OverflowError, match=r"graph 'hub' has .*'K1,4'"):
        count(replace(graphs, names=("small", "hub")), 5)
    assert count(graphs, 4).matrix.toarray()[1].max() == comb(200_000, 3)


def test_sums_beyond_int64_on_the_way_leave_exact_counts() -> None:
    leaves = 90_000
    edges = [(0, 1), *((hub, 2 + hub * leaves + i) for hub in (0, 1) for i in range(leaves))]
    assert copies_of(GraphSet.from_edges(np.array(edges)), 5) == {
        "K1,4": 2 * comb(leaves + 1, 4),  # 5.5e18, beyond 2^62
        "fork": 2 * comb(leaves, 2) * leaves,
    }


def test_colored_sums_that_may_not_fit_are_refused_by_name() -> None:
    graphs = replace(colored(star(100_000), 2), names=("hub",))
    refused = pytest.raises(OverflowError, match=r"graph 'hub' has sums .* exceed a 64-bit integer. Use a smaller k")
    with pytest.warns(CountWarning, match="will take about"), refused:
        count(graphs, 5, engine="flip_sparse")
    assert count(graphs, 4, engine="flip_sparse").matrix.sum() == comb(100_000, 3)


@pytest.mark.parametrize("total", [2**62 - 2, 2**62, 2**62 + 2, 2**63, 2**64 + 6])
def test_exact_sums_on_both_sides_of_their_border(total: int) -> None:
    half = np.array([total // 4, total // 2 - total // 4], np.int64)
    assert exact_sum(half, np.array([2, 2])) == total
    assert exact_sum(half, np.array([2, 2]), divide_by=2) == total // 2
    assert exact_sum(half, np.array([2, -2])) == 2 * (total // 4) - 2 * (total // 2 - total // 4)


def test_exact_sums_of_three_factors_and_of_none() -> None:
    factor = np.full(5, 2**30)
    assert exact_sum(factor, factor, factor) == 5 * 2**90
    assert exact_sum(np.zeros(0, np.int64), np.zeros(0, np.int64)) == 0


@pytest.mark.parametrize("value", [3, 4, 1000, 103_000, 104_000, 200_000])
def test_binomial_sums_are_exact(value: int) -> None:
    assert binomial_sum(np.array([value, 2, value, 0]), 4) == 2 * comb(value, 4)
    assert binomial_sum(np.zeros(0, np.int64), 4) == 0
