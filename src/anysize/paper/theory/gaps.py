"""Measure the density gap that Theorem 1 bounds: the largest difference of densities between two graphs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from anysize._memory import check_table
from anysize._typing import BoolArray, FloatArray
from anysize.counting.api import count
from anysize.counting.counts import Counts, Over
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import Pattern

MAX_COLUMNS_IN_MEMORY = 4096  # columns made dense at once; a colored table may have hundreds of thousands


@dataclass(frozen=True, eq=False)
class DensityGap:
    """Density gaps between graphs of two sets.

    ``values`` has one gap per pair of graphs: the maximum over patterns of |t(F, G) - t(F, G')|. ``worst`` is the
    pattern with the largest gap. ``of_means`` is the gap between the mean densities of the two sets, maximized over
    classes, in which random fluctuations average out.
    """

    values: FloatArray
    worst: Pattern | None
    of_means: float

    @property
    def mean(self) -> float:
        """The mean gap over pairs."""
        return float(self.values.mean())

    @property
    def largest(self) -> float:
        """The largest gap over pairs."""
        return float(self.values.max())

    def quantile(self, level: float) -> float:
        """The quantile of the gaps at this level."""
        return float(np.quantile(self.values, level))


def density_gap(
    train: GraphSet,
    test: GraphSet,
    k: int | Iterable[int],
    *,
    paired: bool = False,
    colors: bool = True,
    over: Over = "subsets",
) -> DensityGap:
    """Measure density gaps between the graphs of two sets, in the maximum norm of Theorem 1.

    Args:
        train: graphs of one set.
        test: graphs of the other set.
        k: pattern size, or several; ``range(1, k + 1)`` for all sizes up to k.
        paired: compare only graph g with graph g, as for twins. Otherwise all pairs of the same class, or all pairs
            if a set has no labels.
        colors: whether patterns are distinguished by color.
        over: the normalization of densities, as in `Counts.densities`. The theorem covers "subsets" and "maps".

    Examples:
        >>> square = GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> density_gap(square, GraphSet.from_edges([(0, 1), (1, 2), (2, 0)]), k=3).largest
        1.0
    """
    if not len(train) or not len(test):
        raise ValueError(f"expected graphs in both sets; got {len(train)} and {len(test)}")
    if paired and len(train) != len(test):
        raise ValueError(f"paired=True needs as many training as test graphs; got {len(train)} and {len(test)}")
    if not paired:
        check_table((len(train), len(test)), "the table of all pairs", "compare samples of the graphs")
    counts = count(GraphSet.concatenate([train.with_y(None), test.with_y(None)]), k, colors)
    table = counts.densities(over)
    first, second = csr_array(table[: len(train)]), csr_array(table[len(train) :])
    if paired:
        values, worst = _paired(first, second, counts)
    else:
        values, worst = _all_pairs(first, second, _same_class(train, test), counts)
    return DensityGap(values, worst, _of_means(first, second, train, test))


def _paired(first: csr_array, second: csr_array, counts: Counts) -> tuple[FloatArray, Pattern | None]:
    if not counts.shape[1]:
        return np.zeros(len(counts) // 2), None
    difference = csr_array(abs(first - second))
    values = difference.max(axis=1).toarray().ravel()
    row = csr_array(difference[[int(values.argmax())]]).toarray()[0]
    return values, counts.columns.pattern(int(row.argmax()))


def _all_pairs(
    first: csr_array, second: csr_array, same: BoolArray, counts: Counts
) -> tuple[FloatArray, Pattern | None]:
    gaps = np.zeros(same.shape)
    for start in range(0, counts.shape[1], MAX_COLUMNS_IN_MEMORY):
        part = slice(start, start + MAX_COLUMNS_IN_MEMORY)
        np.maximum(gaps, cdist(first[:, part].toarray(), second[:, part].toarray(), "chebyshev"), out=gaps)
    if not counts.shape[1]:
        return gaps[same], None
    i, j = np.unravel_index(int(np.where(same, gaps, -1.0).argmax()), gaps.shape)
    row = np.abs(first[[i]].toarray() - second[[j]].toarray())[0]
    return gaps[same], counts.columns.pattern(int(row.argmax()))


def _same_class(train: GraphSet, test: GraphSet) -> BoolArray:
    if train.y is None or test.y is None:
        return np.ones((len(train), len(test)), bool)
    same = np.asarray(train.y[:, None] == test.y)
    if not same.any():
        raise ValueError("no class occurs in both sets, so there are no pairs to compare")
    return same


def _of_means(first: csr_array, second: csr_array, train: GraphSet, test: GraphSet) -> float:
    if train.y is None or test.y is None:
        pairs = [(np.ones(len(train), bool), np.ones(len(test), bool))]
    else:
        pairs = [(train.y == label, test.y == label) for label in np.intersect1d(train.y, test.y)]
    gaps = [np.abs(first[left].mean(axis=0) - second[two].mean(axis=0)) for left, two in pairs]
    return float(np.max(gaps, initial=0.0))
