"""How densities move with size inside a set, as power laws, and what that predicts for graphs of other sizes.

Densities over subsets are constant in dense graphs (exponent 0) and fall as N^(1 - k) in graphs of bounded degree: a
power law holds both, and lets the training graphs say which.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anysize.diagnosis.testing import FEW, in_deviations, mean_difference, two_sided

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

ITERATIONS = 60
FEWEST = 10  # graphs of each half of the sizes in which a pattern occurs, before its trend is looked at
NARROW = np.log(1.15)  # the two halves of the sizes are at least so far apart


@dataclass(frozen=True, eq=False)
class Trend:
    """E[density] = exp(a + b (log N - center)), one per pattern: ``coefficients`` (patterns, 2) = (a, b).

    ``covariances`` (patterns, 2, 2) are robust to any variance; ``relative`` is the relative variance of one graph.
    """

    coefficients: FloatArray
    covariances: FloatArray
    center: float
    relative: FloatArray

    @property
    def exponents(self) -> FloatArray:
        return np.asarray(self.coefficients[:, 1])

    @property
    def exponent_errors(self) -> FloatArray:
        return np.asarray(np.sqrt(self.covariances[:, 1, 1]))

    def predict(self, sizes: FloatArray) -> FloatArray:
        """(graphs, patterns)."""
        return np.asarray(np.exp(_design(sizes, self.center) @ self.coefficients.T))


class Sides(NamedTuple):
    """Densities (graphs, patterns) of the two sets, their sizes (graphs,), and what the densities are shares of."""

    train: FloatArray
    new: FloatArray
    train_sizes: FloatArray
    new_sizes: FloatArray
    train_ways: FloatArray
    new_ways: FloatArray


class Prediction(NamedTuple):
    """Per pattern: observed over predicted, the relative standard error of that, its p-value, and how far off it is in
    deviations between training graphs."""

    ratio: FloatArray
    error: FloatArray
    p: FloatArray
    effect: FloatArray


def fit_trend(densities: FloatArray, sizes: FloatArray, ways: FloatArray) -> Trend:
    """The power law of every pattern, each of which must have copies in graphs of two sizes.

    Solves sum_i N_i (d_i / mu_i - 1) (1, log N_i) = 0: errors are relative, and graphs weigh as their vertices do,
    which is right for counts that grow with N and not far from it for densities that do not move.

    Args:
        densities: (graphs, patterns). sizes: vertices (graphs,). ways: what densities are shares of.
    """
    center = float(np.average(np.log(sizes), weights=sizes))
    x = _design(sizes, center)
    products = x[:, :, None] * x[:, None, :]
    b = np.stack([np.log(np.average(densities, weights=sizes, axis=0)), np.zeros(densities.shape[1])], axis=1)
    for _ in range(ITERATIONS):  # Newton's method on a convex function; long steps are cut
        ratio = densities * np.exp(-(x @ b.T))
        gradient = ((ratio - 1) * sizes[:, None]).T @ x
        step = np.linalg.solve(_weighted(ratio * sizes[:, None], products), gradient[..., None])[..., 0]
        step /= np.maximum(np.abs(step).max(axis=1), 1.0)[:, None]
        b = b + step
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    mean = np.exp(x @ b.T)
    ratio = densities / mean
    inverse = np.linalg.inv(_weighted(ratio * sizes[:, None], products))
    spread = _weighted((sizes[:, None] * (ratio - 1)) ** 2, products) * len(sizes) / max(len(sizes) - 2, 1)
    least = _weighted(sizes[:, None] ** 2 / (mean * ways), products)  # copies that fall independently
    spread *= np.maximum(1.0, _trace(least) / np.maximum(_trace(spread), 1e-300))[:, None, None]
    relative = np.average((ratio - 1) ** 2, weights=sizes, axis=0)
    return Trend(b, inverse @ spread @ inverse, center, relative)


def fittable(densities: FloatArray, sizes: FloatArray) -> BoolArray:
    """Of which patterns a trend with size can be told: sizes differ, and both halves have graphs with copies."""
    low = _lower_half(sizes)
    if low.all() or _log_mean(sizes[~low]) - _log_mean(sizes[low]) < NARROW:
        return np.zeros(densities.shape[1], bool)
    return np.asarray(((densities[low] > 0).sum(0) >= FEWEST) & ((densities[~low] > 0).sum(0) >= FEWEST))


def trend_test(sides: Sides) -> Prediction:
    """Are new densities what the trend of the training graphs predicts? All patterns must be `fittable`.

    The standard error has three parts: chance in the new graphs; uncertainty of the fit, which grows with the
    distance; and the error of the power law itself, measured where it can be, by predicting the larger half of
    the training graphs from the smaller half, and scaled by the distance.
    """
    train, new, train_sizes, new_sizes, train_ways, new_ways = sides
    trend = fit_trend(train, train_sizes, train_ways)
    found, variance, at = _observed(trend, new, new_sizes, new_ways)
    fit_variance = np.einsum("i,pij,j->p", at, trend.covariances, at)
    low = _lower_half(train_sizes)
    distance = at[1] / (_log_mean(train_sizes[~low]) - _log_mean(train_sizes[low]))
    misfit = _off(_half_ratio(train, train_sizes, train_ways, low)) * distance
    spread = np.sqrt(variance + fit_variance + misfit**2)
    freedom = float(max(min(len(train) - 2, max(len(new) - 1, FEW)), 1))
    p = two_sided(_off(found), spread, freedom)
    return Prediction(found, spread, p, in_deviations(_off(found), np.sqrt(trend.relative)))


def free_trend_test(sides: Sides, exponents: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Is there any power law, of an exponent between these two, that explains both sets? For patterns too rare to fit.

    Densities are divided by the power law and compared. Between the two exponents the difference changes steadily: if
    it has another sign at each, some law in between explains it.

    Returns:
        p-values (patterns,) of the law that fits best, and what is left, in deviations between graphs.
    """
    train, new, train_sizes, new_sizes, train_ways, new_ways = sides
    center = float(np.exp(_log_mean(train_sizes)))
    ends = []
    for exponent in exponents:
        ours, theirs = ((sizes[:, None] / center) ** exponent for sizes in (train_sizes, new_sizes))
        ends.append(mean_difference(train / ours, new / theirs, train_ways * ours, new_ways * theirs))
    apart = ends[0].difference * ends[1].difference > 0
    least = np.where(np.abs(ends[0].effect) < np.abs(ends[1].effect), ends[0].effect, ends[1].effect)
    return np.where(apart, np.maximum(ends[0].p, ends[1].p), 1.0), np.where(apart, least, 0.0)


def _half_ratio(train: FloatArray, sizes: FloatArray, ways: FloatArray, low: BoolArray) -> FloatArray:
    """Observed over predicted in the larger half, from the trend of the smaller half alone.

    1 where the smaller half has too few sizes or copies for a trend of its own: nothing can be checked there.
    """
    able = fittable(train[low], sizes[low])
    found = np.ones(train.shape[1])
    if able.any():
        half = fit_trend(train[low][:, able], sizes[low], ways[low][:, able])
        found[able] = _observed(half, train[~low][:, able], sizes[~low], ways[~low][:, able])[0]
    return found


def _observed(
    trend: Trend, densities: FloatArray, sizes: FloatArray, ways: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean of observed over predicted, its variance by chance alone, and the mean row (1, log N - center)."""
    weights = sizes / sizes.sum()
    mean = trend.predict(sizes)
    ratio = densities / mean
    found = weights @ ratio
    if len(densities) >= FEW:
        variance = weights**2 @ (ratio - found) ** 2 * len(sizes) / (len(sizes) - 1)
    else:
        variance = trend.relative * (weights**2).sum()
    least = weights**2 @ (1 / (mean * ways))
    return found, np.maximum(variance, least), weights @ _design(sizes, trend.center)


def _off(ratio: FloatArray) -> FloatArray:
    """How far a ratio is from 1: the smaller of |log r| and |r - 1|, with its sign; fine with 0."""
    return np.where(ratio > 1, np.log(np.maximum(ratio, 1.0)), ratio - 1)


def _lower_half(sizes: FloatArray) -> BoolArray:
    """Up to the median size; of two sizes, the smaller one."""
    median = float(np.median(sizes))
    return np.asarray(sizes <= median if (sizes > median).any() else sizes < median)


def _log_mean(sizes: FloatArray) -> float:
    return float(np.average(np.log(sizes), weights=sizes)) if len(sizes) else -np.inf


def _design(sizes: FloatArray, center: float) -> FloatArray:
    return np.stack([np.ones(len(sizes)), np.log(sizes) - center], axis=1)


def _weighted(weights: FloatArray, products: FloatArray) -> FloatArray:
    """sum_i w_ip x_i x_i^T: (patterns, 2, 2)."""
    return np.asarray((weights.T @ products.reshape(len(products), 4)).reshape(-1, 2, 2))


def _trace(matrices: FloatArray) -> FloatArray:
    return np.asarray(np.trace(matrices, axis1=1, axis2=2))
