"""What a Gamma model knows of patterns and colors, learned from the train pool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._typing import IntArray
from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.graphs.colors import ColorName
from anysize.training.color_roles import united_by_role
from anysize.training.settings import Over

Kind = Literal["1hot", "gnn", "rp"]


@dataclass(frozen=True)
class Vocabulary:
    """What a model knows of patterns: the colors, the scale of densities, and the patterns it is limited to.

    ``palette``: the input of each color; colors of one role share it. None: a model of plain patterns.
    ``columns`` None: any pattern is embedded. ``within``: shares are formed among these columns, as for the most
    common patterns; otherwise patterns that training never saw stay in the denominator. ``scale`` brings the mean sum
    of a training graph's densities to 1: those over subsets are tiny in sparse graphs, and batch norm would take them
    for noise. It is 1 for shares that sum to 1 as they are.
    """

    palette: Mapping[ColorName, int] | None
    columns: Columns | None
    over: Over
    scale: float
    within: bool = False

    @staticmethod
    def of(kind: Kind, pool: Counts, over: Over, top: int | None, roles: IntArray | None = None) -> Vocabulary:
        """Learned from the train pool: training and validation graphs. ``roles``: of the colors of the pool."""
        kept = pool if top is None or top >= len(pool.columns) else pool.top(top)
        within = len(kept.columns) < len(pool.columns)
        limited = kind == "1hot" or within
        inputs = range(len(pool.palette)) if roles is None else roles.tolist()
        palette = None if pool.columns.colors is None else dict(zip(pool.palette, inputs, strict=True))
        sums: NDArray[np.float64] = np.asarray(kept.densities(over).sum(axis=1)).reshape(-1)
        scale = 1.0 if over == "connected" or not sums.any() else float(1 / sums.mean())
        return Vocabulary(palette, kept.columns if limited else None, over, scale, within)

    def densities(self, counts: Counts) -> tuple[Columns, csr_array[np.float64]]:
        """The patterns of a table that the model sees, and their scaled densities."""
        if (counts.columns.colors is None) != (self.palette is None):
            had, came = ("plain", "colored") if self.palette is None else ("colored", "plain")
            raise ValueError(f"this model was trained on {had} patterns and got {came} ones; count alike both times")
        if self.columns is None:
            return self._united(counts.columns, csr_array(counts.densities(self.over) * self.scale))
        if self.within:
            return self._united(
                self.columns, csr_array(_aligned(counts, self.columns).densities(self.over) * self.scale)
            )
        shares: Any = counts.densities(self.over) * self.scale
        moved: Any = _aligned(replace(counts, matrix=shares), self.columns).matrix
        return self.columns, csr_array(moved)

    def _united(self, columns: Columns, densities: csr_array[np.float64]) -> tuple[Columns, csr_array[np.float64]]:
        """Patterns that differ by colors of one role are one pattern to the model."""
        if self.palette is None or len(set(self.palette.values())) == len(self.palette):
            return columns, densities
        united, kind = united_by_role(columns, self.palette)
        into = csr_array((np.ones(len(kind)), (np.arange(len(kind)), kind)), shape=(len(kind), len(united)))
        return united, csr_array(densities @ into)


def _aligned(counts: Counts, columns: Columns) -> Counts:
    reference = Counts(csr_array((0, len(columns)), dtype=np.int64), columns, np.zeros(0, np.int64))
    return counts.align(reference)
