"""Power laws of densities in the number of vertices: fitted to training graphs, compared with new graphs.

Densities over subsets are constant in dense graphs (exponent 0) and fall as N^(1 - k) where degrees are bounded. A
power law covers both cases, and the training graphs determine which holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anysize._typing import BoolArray, FloatArray
from anysize.shift.hypothesis_tests import MIN_GRAPHS_FOR_VARIANCE, DensityTable, compare_means, compute_p

MAX_ITERATIONS = 60
MIN_OCCURRENCES = 10  # graphs with the pattern, in each half of the sizes
MIN_LOG_RANGE = np.log(1.15)  # between the mean sizes of the two halves


@dataclass(frozen=True, eq=False)
class PowerLaw:
    """E[density] = exp(a + b (log N - center)) for every pattern: ``coefficients`` (patterns, 2) = (a, b).

    ``covariances`` (patterns, 2, 2) are robust to any variance; ``relative`` is the relative variance of one graph.
    """

    coefficients: FloatArray
    covariances: FloatArray
    center: float
    relative: FloatArray

    def predict(self, sizes: FloatArray) -> FloatArray:
        """Expected densities (graphs, patterns)."""
        return np.asarray(np.exp(_design(sizes, self.center) @ self.coefficients.T))


def fit_power_law(table: DensityTable) -> PowerLaw:
    """Fit every pattern, each of which must have copies in graphs of two sizes.

    Solves sum_i N_i (d_i / mu_i - 1) (1, log N_i) = 0, a gamma regression with log link that allows d_i = 0: errors are
    relative, and graphs have weights proportional to their vertices.
    """
    densities, sizes = table.values, table.sizes
    center = _log_mean(sizes)
    x = _design(sizes, center)

    def weigh(weights: FloatArray) -> FloatArray:
        """sum_i w_ip x_i x_i^T: (patterns, 2, 2)."""
        return np.asarray(np.einsum("ip,ij,ik->pjk", weights, x, x, optimize=True))

    b = np.stack([np.log(np.average(densities, weights=sizes, axis=0)), np.zeros(densities.shape[1])], axis=1)
    for _ in range(MAX_ITERATIONS):  # Newton's method on a convex function, steps of at most 1
        ratio = densities * np.exp(-(x @ b.T))
        gradient = ((ratio - 1) * sizes[:, None]).T @ x
        step = np.linalg.solve(weigh(ratio * sizes[:, None]), gradient[..., None])[..., 0]
        step /= np.maximum(np.abs(step).max(axis=1), 1.0)[:, None]
        b = b + step
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    mean = np.exp(x @ b.T)
    ratio = densities / mean
    inverse = np.linalg.inv(weigh(ratio * sizes[:, None]))
    spread = weigh((sizes[:, None] * (ratio - 1)) ** 2) * len(sizes) / max(len(sizes) - 2, 1)
    least = weigh(sizes[:, None] ** 2 / (mean * table.subsets))  # that of independent copies
    traces = [np.trace(matrices, axis1=1, axis2=2) for matrices in (least, spread)]
    spread *= np.maximum(1.0, traces[0] / np.maximum(traces[1], 1e-300))[:, None, None]
    relative = np.average((ratio - 1) ** 2, weights=sizes, axis=0)
    return PowerLaw(b, inverse @ spread @ inverse, center, np.asarray(relative))


def find_fittable(table: DensityTable) -> BoolArray:
    """The patterns (patterns,) with enough copies in both halves of the sizes, where the sizes differ enough."""
    low = _lower_half(table.sizes)
    if low.all() or not low.any() or _log_mean(table.sizes[~low]) - _log_mean(table.sizes[low]) < MIN_LOG_RANGE:
        return np.zeros(table.values.shape[1], bool)
    occurs = table.values > 0
    return np.asarray((occurs[low].sum(0) >= MIN_OCCURRENCES) & (occurs[~low].sum(0) >= MIN_OCCURRENCES))


def compare_with_prediction(train: DensityTable, new: DensityTable) -> tuple[FloatArray, FloatArray]:
    """Observed / predicted density of the new graphs, and p-values (patterns,). All patterns must be fittable.

    The standard error has three parts: sampling of the new graphs; uncertainty of the fit, which grows with the
    distance in log N; and misfit of the power law, measured by predicting the larger half of the training graphs from
    the smaller half and scaled by the distance.
    """
    law, low = fit_power_law(train), _lower_half(train.sizes)
    ratio, variance, x = _observe(law, new)
    fit_variance = np.einsum("i,pij,j->p", x, law.covariances, x)
    distance = x[1] / (_log_mean(train.sizes[~low]) - _log_mean(train.sizes[low]))
    smaller, half_ratio = train.select(low), np.ones_like(ratio)
    checked = find_fittable(smaller)
    if checked.any():
        half = fit_power_law(smaller.select(patterns=checked))
        half_ratio[checked] = _observe(half, train.select(~low, checked))[0]
    error = np.sqrt(variance + fit_variance + (_deviation(half_ratio) * distance) ** 2)
    freedom = float(max(min(len(train) - 2, max(len(new) - 1, MIN_GRAPHS_FOR_VARIANCE)), 1))
    return ratio, compute_p(_deviation(ratio), error, freedom)


def compare_with_best_exponent(
    train: DensityTable, new: DensityTable, exponents: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """p-values (patterns,) under the best power law with an exponent in a range, for patterns too rare to fit.

    Densities are divided by the power law and compared. The difference is monotone in the exponent: if it has different
    signs at the two ends, some exponent in between explains it and the p-value is 1.
    """
    center = float(np.exp(_log_mean(train.sizes)))

    def divide(table: DensityTable, exponent: FloatArray) -> DensityTable:
        law = (table.sizes[:, None] / center) ** exponent
        return DensityTable(table.values / law, table.subsets * law, table.sizes)

    low, high = (compare_means(divide(train, exponent), divide(new, exponent)) for exponent in exponents)
    return np.where(low.difference * high.difference > 0, np.maximum(low.p, high.p), 1.0)


def _observe(law: PowerLaw, table: DensityTable) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean of observed / predicted, its sampling variance, and the mean row (1, log N - center)."""
    weights = table.sizes / table.sizes.sum()
    mean = law.predict(table.sizes)
    ratios = table.values / mean
    ratio = weights @ ratios
    variance = law.relative * (weights**2).sum()
    if len(table) >= MIN_GRAPHS_FOR_VARIANCE:
        variance = weights**2 @ (ratios - ratio) ** 2 * len(table) / (len(table) - 1)
    least = weights**2 @ (1 / (mean * table.subsets))
    return ratio, np.maximum(variance, least), weights @ _design(table.sizes, law.center)


def _deviation(ratio: FloatArray) -> FloatArray:
    """Signed distance of a ratio from 1: log r above 1, r - 1 below, so that 0 is allowed."""
    return np.where(ratio > 1, np.log(np.maximum(ratio, 1.0)), ratio - 1)


def _lower_half(sizes: FloatArray) -> BoolArray:
    """Sizes up to the median; of two sizes, the smaller one."""
    median = float(np.median(sizes))
    return np.asarray(sizes <= median if (sizes > median).any() else sizes < median)


def _log_mean(sizes: FloatArray) -> float:
    return float(np.average(np.log(sizes), weights=sizes))


def _design(sizes: FloatArray, center: float) -> FloatArray:
    return np.stack([np.ones(len(sizes)), np.log(sizes) - center], axis=1)
