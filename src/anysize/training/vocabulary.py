"""Vocabulary: the patterns and colors that a Gamma model knows from its training data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._typing import FloatArray, IntArray
from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.graphs.attributes import EdgeType
from anysize.graphs.colors import ColorName
from anysize.nn.rows.pattern_batch import check_alphabet
from anysize.training.color_roles import merge_roles
from anysize.training.settings import Densities
from anysize.training.whitening import TopologyWhitening, fit_topology_whitening

GammaKind = Literal["1hot", "gnn", "rp"]


@dataclass(frozen=True, eq=False)
class MeanDensities:
    """Mean densities (patterns,) of the training graphs, and the patterns."""

    columns: Columns
    densities: FloatArray


@dataclass(frozen=True)
class Vocabulary:
    """The known colors and patterns, and the scale of densities.

    ``palette``: the input of each color; colors of one role share one. None: a model of uncolored patterns.
    ``edge_palette``: the types of edges; None: a model that does not tell edges apart.
    ``columns``: the known patterns; None: any pattern is embedded. ``within``: densities are shares among ``columns``,
    as for the most common patterns; otherwise patterns that did not occur in training count in the denominator.
    ``scale``: a factor that brings the mean sum of a training graph's densities to 1. Without it, the tiny densities
    over subsets of sparse graphs would drown in the epsilon of batch norm. It is 1 for densities that sum to 1.
    ``whitening``: of the scaled densities; None: they are used as they are.
    ``mean``: the mean densities of the training graphs, for explanations; None in old files.
    """

    palette: Mapping[ColorName, int] | None
    columns: Columns | None
    over: Densities
    scale: float
    within: bool = False
    whitening: TopologyWhitening | None = None
    edge_palette: tuple[EdgeType, ...] | None = None
    mean: MeanDensities | None = None

    @staticmethod
    def of(
        kind: GammaKind,
        pool: Counts,
        over: Densities,
        top: int | None,
        roles: IntArray | None = None,
        whiten: bool = False,
    ) -> Vocabulary:
        """The vocabulary of these counts. ``top``: only the most common patterns. ``roles``: the role of each color."""
        kept = pool if top is None or top >= len(pool.columns) else pool.top(top)
        within = len(kept.columns) < len(pool.columns)
        limited = kind == "1hot" or within
        inputs = range(len(pool.palette)) if roles is None else roles.tolist()
        palette = None if pool.columns.colors is None else dict(zip(pool.palette, inputs, strict=True))
        sums: NDArray[np.float64] = np.asarray(densities_of(kept, over).sum(axis=1)).reshape(-1)
        scale = 1.0 if over == "connected" or not sums.any() else float(1 / sums.mean())
        edge_palette = None if pool.columns.edge_types is None else pool.columns.edge_palette
        scaled = Vocabulary(
            palette, kept.columns if limited else None, over, scale, within, edge_palette=edge_palette
        )  # fmt: skip
        columns, densities = scaled.unscaled(pool)
        means = np.asarray(densities.sum(axis=0)).reshape(-1) / max(len(pool), 1)
        scaled = replace(scaled, mean=MeanDensities(columns, means))
        if not whiten:
            return scaled
        whitened = replace(scaled, whitening=fit_topology_whitening(*scaled.densities(pool)))
        return whitened if whitened.densities(pool)[1].nnz else scaled  # densities that do not vary cannot be whitened

    def densities(self, counts: Counts) -> tuple[Columns, csr_array[np.float64]]:
        """The patterns of a table that the model reads, and their scaled (and whitened) densities."""
        columns, densities = self.unscaled(counts)
        columns, densities = self.by_role(columns, csr_array(densities * self.scale))
        return (columns, densities) if self.whitening is None else self.whitening.apply(columns, densities)

    def unscaled(self, counts: Counts) -> tuple[Columns, csr_array[np.float64]]:
        """The known patterns of a table (all, if any is embedded) with their own colors, and their densities."""
        check_alphabet(counts.columns, self.palette, self.edge_palette)
        if self.columns is None:
            return counts.columns, densities_of(counts, self.over)
        if self.within:
            return self.columns, densities_of(counts.align(self.columns), self.over)
        densities: Any = densities_of(counts, self.over)
        aligned: Any = replace(counts, matrix=densities).align(self.columns).matrix
        return self.columns, csr_array(aligned)

    def by_role(self, columns: Columns, densities: csr_array[np.float64]) -> tuple[Columns, csr_array[np.float64]]:
        """Merge patterns that differ only by colors of one role."""
        if self.palette is None or len(set(self.palette.values())) == len(self.palette):
            return columns, densities
        merged, index = merge_roles(columns, self.palette)
        into = csr_array((np.ones(len(index)), (np.arange(len(index)), index)), shape=(len(index), len(merged)))
        return merged, csr_array(densities @ into)


def densities_of(counts: Counts, over: Densities) -> csr_array[np.float64]:
    """Densities with a denominator; ``occurrence``: 1 for every pattern that occurs, 0 for others."""
    if over != "occurrence":
        return counts.densities(over)
    return csr_array((counts.matrix > 0).astype(np.float64))
