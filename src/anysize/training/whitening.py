"""Whitening of densities: features of unit variance that do not correlate, learned on the training graphs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anysize._typing import FloatArray

SMALLEST_EIGENVALUE = 1e-3  # of the covariance, relative to its largest: directions below it are noise
SMALLEST_DEVIATION = 1e-12


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
