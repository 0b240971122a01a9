"""The gap that Theorem 1 bounds, measured: the largest difference of densities between graphs of two sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from anysize._typing import FloatArray
from anysize.counting.api import count
from anysize.counting.counts import Counts
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import Pattern

COLUMNS_AT_ONCE = 4096  # a colored table may have hundreds of thousands


@dataclass(frozen=True, eq=False)
class Gap:
    """Gaps of densities between graphs of two sets.

    ``values``: one per pair of graphs, max over patterns of |t(F, G) - t(F, G')|. ``worst`` is the pattern in
    which the largest of them is reached. ``of_means`` is the same norm of the difference between the mean
    densities of the two sets, at its largest over the classes: what is left when chance averages out.
    """

    values: FloatArray
    worst: Pattern | None
    of_means: float

    @property
    def mean(self) -> float:
        """The mean gap of a pair."""
        return float(self.values.mean())

    @property
    def largest(self) -> float:
        """The largest gap of any pair."""
        return float(self.values.max())

    def quantile(self, level: float) -> float:
        """The gap that a share ``level`` of the pairs does not exceed."""
        return float(np.quantile(self.values, level))

    def share_above(self, epsilon: float) -> float:
        """How many of the pairs exceed epsilon: what `theorem_bound` bounds."""
        return float((self.values > epsilon).mean())


def density_gap(
    train: GraphSet,
    test: GraphSet,
    k: int | Iterable[int],
    *,
    paired: bool = False,
    colors: bool = True,
    over: Literal["subsets", "maps", "connected"] = "subsets",
) -> Gap:
    """Measure how far densities differ between the graphs of two sets, in the norm of Theorem 1.

    Args:
        train: graphs.
        test: graphs.
        k: pattern size, or several; ``range(1, k + 1)`` for all sizes up to k.
        paired: compare graph g with graph g only, as for twins. Otherwise all pairs of the same class, or simply
            all pairs where a set has no classes.
        colors: whether patterns are told apart by colors.
        over: what densities are shares of, as in `Counts.densities`. The theorem covers "subsets" and "maps".

    Examples:
        >>> square = GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
        >>> density_gap(square, GraphSet.from_edges([(0, 1), (1, 2), (2, 0)]), k=3).largest
        1.0
    """
    if not len(train) or not len(test):
        raise ValueError(f"expected graphs in both sets; got {len(train)} and {len(test)}")
    if paired and len(train) != len(test):
        raise ValueError(f"pairs need as many training as test graphs; got {len(train)} and {len(test)}")
    counts = count(GraphSet.concatenate([train.with_y(None), test.with_y(None)]), k, colors)
    table = counts.densities(over)
    ours, theirs = csr_array(table[: len(train)]), csr_array(table[len(train) :])
    if paired:
        values, worst = _paired(ours, theirs, counts)
    else:
        values, worst = _crossed(ours, theirs, _same_class(train, test), counts)
    return Gap(values, worst, _of_means(ours, theirs, train, test))


def _paired(ours: csr_array, theirs: csr_array, counts: Counts) -> tuple[FloatArray, Pattern | None]:
    if not counts.shape[1]:
        return np.zeros(len(counts) // 2), None
    difference = csr_array(abs(ours - theirs))
    values = difference.max(axis=1).toarray().ravel()
    row = csr_array(difference[[int(values.argmax())]]).toarray()[0]
    return values, counts.columns.pattern(int(row.argmax()))


def _crossed(
    ours: csr_array, theirs: csr_array, same: NDArray[np.bool_], counts: Counts
) -> tuple[FloatArray, Pattern | None]:
    gaps = np.zeros(same.shape)
    for start in range(0, counts.shape[1], COLUMNS_AT_ONCE):
        part = slice(start, start + COLUMNS_AT_ONCE)
        np.maximum(gaps, cdist(ours[:, part].toarray(), theirs[:, part].toarray(), "chebyshev"), out=gaps)
    if not counts.shape[1]:
        return gaps[same], None
    i, j = np.unravel_index(int(np.where(same, gaps, -1.0).argmax()), gaps.shape)
    row = np.abs(ours[[i]].toarray() - theirs[[j]].toarray())[0]
    return gaps[same], counts.columns.pattern(int(row.argmax()))


def _same_class(train: GraphSet, test: GraphSet) -> NDArray[np.bool_]:
    if train.y is None or test.y is None:
        return np.ones((len(train), len(test)), bool)
    same = np.asarray(train.y[:, None] == test.y)
    if not same.any():
        raise ValueError("no class occurs in both sets, so no two graphs can be compared")
    return same


def _of_means(ours: csr_array, theirs: csr_array, train: GraphSet, test: GraphSet) -> float:
    if train.y is None or test.y is None:
        pairs = [(np.ones(len(train), bool), np.ones(len(test), bool))]
    else:
        pairs = [(train.y == label, test.y == label) for label in np.intersect1d(train.y, test.y)]
    gaps = [np.abs(ours[one].mean(axis=0) - theirs[two].mean(axis=0)) for one, two in pairs]
    return float(np.max(gaps, initial=0.0))
