"""Proposition 2: density estimators with a multiplicative bias can give the same representation and prediction.

If E[estimate(F, G)] = beta(F) density(F, G), with a bias beta(F) > 0 that depends on the pattern and not on the graph,
then the embeddings GNN+(F) / beta(F) give, in expectation, the representation that GNN+(F) gives on exact densities. A
model that can embed every pattern as it likes (Gamma_1-hot, Gamma_GNN+) can learn them.

The premise is about densities. Biased *counts* divided by C(N, k) or by the number of maps fulfill it; divided by their
own sum (densities over connected subsets, the omega of the proposition) they do not: the bias of each density is then
beta(F) over the mean of beta in this graph, which depends on the graph. `predictions_under_bias` shows both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from anysize._memory import dense
from anysize._typing import BoolArray, FloatArray, IntArray
from anysize.counting.counts import Counts, Over


def bias_counts(counts: Counts, bias: ArrayLike) -> Counts:
    """The table of an estimator with this expected bias: every pattern's copies times its beta(F).

    Examples:
        >>> import anysize as az
        >>> paw = az.GraphSet.from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])
        >>> bias_counts(az.count(paw, k=3), [0.5, 3.0]).matrix.toarray().tolist()  # two paths, one triangle
        [[1.0, 3.0]]
    """
    beta = _check_bias(bias, counts.shape[1])
    scaled = csr_array(counts.matrix.astype(np.float64) * beta)
    scaled.sort_indices()
    return replace(counts, matrix=scaled, sampling=None)


def absorb_bias(embeddings: ArrayLike, bias: ArrayLike) -> FloatArray:
    """The embeddings (patterns, dimensions) of the proof, GNN+_0(F) / beta(F), which undo the bias."""
    rows = np.asarray(embeddings, np.float64)
    return np.asarray(rows / _check_bias(bias, len(rows)).reshape(-1, *(1,) * (rows.ndim - 1)))


@dataclass(frozen=True, eq=False)
class BiasedRepresentation:
    """Representations (graphs, dimensions) of exact densities and the means of those of biased estimates.

    ``absorbed``: with the embeddings of `absorb_bias`; ``ignored``: with the embeddings as they are. ``error`` is the
    standard error of ``absorbed``.
    """

    exact: FloatArray
    absorbed: FloatArray
    ignored: FloatArray
    error: FloatArray


def biased_representation(
    exact: Counts, estimates: Iterable[Counts], embeddings: ArrayLike, bias: ArrayLike, over: Over = "subsets"
) -> BiasedRepresentation:
    """Measure Proposition 2: unbiased estimates are multiplied by the bias, and the representations are averaged.

    Args:
        exact: exact counts.
        estimates: two or more tables of independent estimates, ``count(..., engine="sample", seed=...)``.
        embeddings: one row per pattern of ``exact``.
        bias: beta(F) of every pattern.
        over: the denominator of densities. "connected" is a ratio of estimates, hence not unbiased.
    """
    rows = np.asarray(embeddings, np.float64)
    corrected = absorb_bias(rows, bias)
    absorbed, ignored = [], []
    for estimate in estimates:
        densities = bias_counts(estimate.align(exact), bias).densities(over)
        absorbed.append(np.asarray(densities @ corrected))
        ignored.append(np.asarray(densities @ rows))
    if len(absorbed) < 2:
        raise ValueError(f"expected at least two tables of estimates; got {len(absorbed)}")
    error = np.std(absorbed, axis=0, ddof=1) / np.sqrt(len(absorbed))
    return BiasedRepresentation(
        np.asarray(exact.densities(over) @ rows), np.mean(absorbed, axis=0), np.mean(ignored, axis=0), error
    )


@dataclass(frozen=True, eq=False)
class PredictionsUnderBias:
    """Classes predicted from exact and from biased densities, by one linear classifier for each."""

    exact: IntArray
    biased: IntArray

    @property
    def agreement(self) -> float:
        """The share of graphs with the same prediction."""
        same: BoolArray = self.exact == self.biased
        return float(same.mean())


def predictions_under_bias(
    train: Counts, y: IntArray, test: Counts, bias: ArrayLike, over: Over = "subsets"
) -> PredictionsUnderBias:
    """The experiment on Proposition 2: train and predict once with exact counts, once with biased ones.

    The classifier is the least-squares fit of class indicators on densities and a constant, a linear Gamma_1-hot whose
    optimum is known. Biased counts over "subsets" or "maps" lead to the same predictions if this optimum is unique
    (linearly independent training densities); with more patterns than training graphs there are several optima, and a
    bias leads to another one. Over "connected" predictions may differ in any case, since the sum of biased counts is no
    longer the number of connected subsets.

    Args:
        train: counts of the training graphs.
        y: their classes 0, 1, ... .
        test: counts of the graphs to predict.
        bias: beta(F) of every pattern of ``train``.
        over: the denominator of densities.
    """
    aligned = test.align(train)
    exact = _least_squares(train.densities(over), y, aligned.densities(over))
    biased = _least_squares(
        bias_counts(train, bias).densities(over), y, bias_counts(aligned, bias).densities(over)
    )  # fmt: skip
    return PredictionsUnderBias(exact, biased)


def _least_squares(train: csr_array, y: IntArray, test: csr_array) -> IntArray:
    targets = np.eye(int(np.max(y)) + 1)[np.asarray(y)]
    tables = [dense(table, "the table of densities", "use fewer patterns (Counts.top)") for table in (train, test)]
    first, second = (np.column_stack([table, np.ones(len(table))]) for table in tables)
    coefficients = np.linalg.lstsq(first, targets, rcond=None)[0]
    return np.asarray((second @ coefficients).argmax(axis=1))


def _check_bias(bias: ArrayLike, patterns: int) -> FloatArray:
    beta = np.asarray(bias, np.float64)
    if beta.shape != (patterns,) or not (np.isfinite(beta) & (beta > 0)).all():
        raise ValueError(f"expected one bias above 0 for each of {patterns} patterns; got {bias!r}")
    return beta
