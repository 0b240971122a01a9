"""Whitening of densities: features of unit variance that do not correlate, learned on the training graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from anysize._typing import BoolArray, FloatArray, IntArray
from anysize.counting.columns import Columns

SMALLEST_EIGENVALUE = 1e-3  # of the covariance, relative to its largest: directions below it are noise
SMALLEST_DEVIATION = 1e-12
TOPOLOGIES = 1 << 16  # more than there are of one size


@dataclass(frozen=True, eq=False)
class Whitening:
    """x -> (x - mean) @ matrix."""

    mean: FloatArray
    matrix: FloatArray

    def apply(self, table: FloatArray) -> FloatArray:
        """The whitened rows of a table."""
        return np.asarray((table - self.mean) @ self.matrix)


def fit_whitening(table: FloatArray, weights: FloatArray | None = None) -> Whitening:
    """ZCA whitening of the rows of a table, each with a weight (equal ones if None).

    Columns are scaled to unit variance first. The covariance of the d scaled columns is then shrunk toward the identity
    by d / rows, at most 1: with as many columns as rows it cannot be estimated, and what remains is the scaling. ZCA is
    the whitening that changes the columns least (Kessy, Lewin and Strimmer 2018), so that they keep their meaning.

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> mixed = rng.normal(size=(2000, 2)) @ np.array([[1.0, 0.9], [0.0, 0.4]])
        >>> np.cov(fit_whitening(mixed).apply(mixed).T).round(1).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    rows, columns = table.shape
    shares = np.full(rows, 1 / max(rows, 1)) if weights is None else weights / weights.sum()
    mean = shares @ table
    deviation = np.sqrt(shares @ (table - mean) ** 2)
    scale = 1 / np.where(deviation < SMALLEST_DEVIATION, 1.0, deviation)
    shrinkage = min(1.0, columns / max(rows, 1))
    if shrinkage == 1.0:
        return Whitening(mean, np.diag(scale))
    scaled = (table - mean) * scale
    covariance = (scaled * shares[:, None]).T @ scaled
    covariance = (1 - shrinkage) * covariance + shrinkage * np.eye(columns)
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, SMALLEST_EIGENVALUE * values.max(initial=0))
    return Whitening(mean, scale[:, None] * (vectors / np.sqrt(values)) @ vectors.T)


@dataclass(frozen=True, eq=False)
class TopologyWhitening:
    """Whitening of densities topology by topology; a topology is a pattern without its colors and types of edges.

    Densities of uncolored patterns are whitened. Those of colored patterns are divided by the standard deviation of
    their topology, all colorings alike, so that a model that ignores colors still sees the same sums.

    Attributes:
        columns: the topologies that vary among the training graphs, as patterns without colors.
        whitening: over these topologies; diagonal, without mean, for colored patterns.
        colored: whether patterns have colors or types of edges.
    """

    columns: Columns
    whitening: Whitening
    colored: bool

    def apply(self, columns: Columns, densities: csr_array[np.float64]) -> tuple[Columns, csr_array[np.float64]]:
        """The patterns that a model reads, and their whitened densities."""
        if self.colored:
            return columns, csr_array(densities @ diags_array(self._factors(columns)))
        rows, known = self._locate(columns)
        table = np.zeros((densities.shape[0], len(self.columns)))
        table[:, rows[known]] = densities[:, np.flatnonzero(known)].toarray()
        return self.columns, csr_array(self.whitening.apply(table))

    def slopes(self, columns: Columns, whitened: FloatArray) -> FloatArray:
        """What one unit of density adds, from what one unit of whitened density adds: (models, patterns, classes).

        ``whitened`` has a row for every pattern of ``columns`` if these have colors, else for every topology.
        """
        if self.colored:
            return np.asarray(whitened * self._factors(columns)[:, None])
        rows, known = self._locate(columns)
        slopes = np.zeros((len(whitened), len(columns), whitened.shape[-1]))
        slopes[:, known] = (self.whitening.matrix @ whitened)[:, rows[known]]
        return slopes

    def _locate(self, columns: Columns) -> tuple[IntArray, BoolArray]:
        """The position of each pattern's topology, and whether it is known."""
        known, numbers = topology_numbers(self.columns), topology_numbers(columns)
        rows = np.minimum(np.searchsorted(known, numbers), max(len(known) - 1, 0))
        return rows, known[rows] == numbers if len(known) else np.zeros(len(numbers), np.bool_)

    def _factors(self, columns: Columns) -> FloatArray:
        """Of each pattern; topologies that did not vary in training have the median factor."""
        scales = np.diag(self.whitening.matrix)
        rows, known = self._locate(columns)
        factors = np.full(len(columns), float(np.median(scales)) if len(scales) else 1.0)
        factors[known] = scales[rows[known]]
        return factors


def topology_numbers(columns: Columns) -> IntArray:
    """A number for the topology of every pattern: ascending by size, then by position in the catalog of that size."""
    return columns.size.astype(np.int64) * TOPOLOGIES + columns.pattern_index


def fit_topology_whitening(columns: Columns, densities: csr_array[np.float64]) -> TopologyWhitening:
    """Learn the whitening from the densities of the training graphs."""
    topologies, example, index = np.unique(topology_numbers(columns), return_index=True, return_inverse=True)
    into = csr_array((np.ones(len(index)), (np.arange(len(index)), index)), shape=(len(index), len(topologies)))
    table = (densities @ into).toarray()
    varying = table.std(axis=0) > SMALLEST_DEVIATION
    example, table = example[varying], table[:, varying]
    colored = columns.colors is not None or columns.edge_types is not None
    whitening = Whitening(np.zeros(len(example)), np.diag(1 / table.std(axis=0))) if colored else fit_whitening(table)
    return TopologyWhitening(Columns(columns.size[example], columns.pattern_index[example]), whitening, colored)
