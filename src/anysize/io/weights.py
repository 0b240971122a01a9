"""Matrices of weights: which pairs of vertices are edges, by thresholds or densities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError
from anysize._typing import IntArray
from anysize.io.parsed import ParsedGraph


@dataclass(frozen=True)
class Cut:
    """Which pairs are edges: those with a weight above a threshold, or a share of all pairs with the largest weights.

    Weights are compared without their sign. With several thresholds (or densities) the color of an edge says how many
    of them it passes: 1 for the weakest edges.
    """

    thresholds: tuple[float, ...] = ()
    densities: tuple[float, ...] = ()

    @staticmethod
    def of(threshold: float | Sequence[float] | None, density: float | Sequence[float] | None) -> Cut:
        """The cut of the arguments ``threshold`` and ``density``, of which one may be given."""
        if threshold is not None and density is not None:
            raise GraphError("Give threshold or density, not both: they are two ways to say which pairs are edges.")
        thresholds, densities = _numbers(threshold, "threshold"), _numbers(density, "density")
        if any(value < 0 for value in thresholds):
            raise GraphError(f"A threshold is at least 0, for weights without their sign; got {min(thresholds):g}.")
        if any(not 0 < value <= 1 for value in densities):
            raise GraphError(f"A density is a share of all pairs, above 0 and up to 1; got {density!r:.40}.")
        return Cut(thresholds, densities)

    @property
    def levels(self) -> int:
        """How many thresholds or densities there are."""
        return len(self.thresholds) + len(self.densities)

    def levels_passed(self, strength: NDArray[Any], pairs: int) -> IntArray:
        """How many thresholds or densities every entry passes; ``pairs`` is the number of pairs of vertices."""
        passed = np.zeros(len(strength), np.int64)
        for threshold in self.thresholds:
            passed += strength > threshold
        for density in self.densities:  # ties with the weakest edge are edges: vertex numbers decide nothing
            amount = min(round(density * pairs), len(strength))
            if amount:
                passed += strength >= np.partition(strength, len(strength) - amount)[len(strength) - amount]
        return passed


NO_CUT = Cut()


def parse_weights(
    size: int, source: IntArray, target: IntArray, weights: NDArray[Any], colors: Any, cut: Cut, what: str
) -> ParsedGraph:
    """The graph of the entries of a matrix that are not zero, or are chosen by the cut.

    Without a cut a weight for every pair of vertices is an error.
    """
    off_diagonal = source != target
    strength, pairs = np.abs(weights[off_diagonal]), size * (size - 1)
    is_triangular = len(strength) > 0 and ((source <= target).all() or (source >= target).all())
    if is_triangular:  # one half of a symmetric matrix, if it holds weights
        pairs //= 2
    if cut.levels:
        source, target = source[off_diagonal], target[off_diagonal]
        passed = cut.levels_passed(strength, pairs)
        kept = passed > 0
        edge_colors = passed[kept] if cut.levels > 1 else None
        return ParsedGraph(size, source[kept], target[kept], colors, edge_colors, directed=not is_triangular)
    if size > 2 and len(strength) == pairs and (weights[off_diagonal] != weights[off_diagonal][0]).any():
        raise GraphError(
            f"{what} has a weight for every pair of vertices: say which pairs are edges by a threshold, such as "
            "threshold=0.5 (--threshold 0.5), or by the share of pairs, such as density=0.1 (--density 0.1)."
        )
    return ParsedGraph(size, source, target, colors, weights=weights[off_diagonal], directed=True)


def _numbers(values: Any, name: str) -> tuple[float, ...]:
    if values is None:
        return ()
    try:
        numbers = np.atleast_1d(np.asarray(values, np.float64))
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
        raise GraphError(f"{name} takes a number, or several; got {values!r:.40}.")
    return tuple(sorted(set(numbers.tolist())))
