"""Hypothesis tests on two sets of graphs: differences of means, permutations, corrections for multiple testing.

The sampling unit is the graph: vertices of one graph are dependent, graphs of one set are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import false_discovery_control
from scipy.stats import t as student

from anysize._typing import FloatArray

MIN_GRAPHS_FOR_VARIANCE = 5  # a set with fewer graphs uses the variance of the other set
MIN_GRAPHS_FOR_STUDENTIZING = 15  # with fewer graphs the permutation test uses one pooled variance
PERMUTATIONS, PERMUTATIONS_PER_BATCH = 999, 111
NEGLIGIBLE_DISTANCE = 0.05  # total variation beyond that expected by chance


def adjust_benjamini_hochberg(p: ArrayLike, weights: ArrayLike = 1.0) -> FloatArray:
    """p-values adjusted for the false discovery rate, with weights that do not depend on the p-values.

    >>> adjust_benjamini_hochberg([0.01, 0.02, 0.9]).round(3).tolist()
    [0.03, 0.03, 0.9]
    """
    share = np.asarray(weights, np.float64)
    return np.asarray(false_discovery_control(np.minimum(np.asarray(p) * share.mean() / share, 1.0)), np.float64)


def adjust_holm(p: ArrayLike) -> FloatArray:
    """p-values adjusted for the probability of any false rejection.

    >>> adjust_holm([0.01, 0.5, 0.03]).tolist()
    [0.03, 0.5, 0.06]
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values)
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    return np.minimum(adjusted, 1.0)


@dataclass(frozen=True, eq=False)
class DensityTable:
    """Densities (graphs, patterns) of one set, the number of subsets each is a share of, and vertices (graphs,)."""

    values: FloatArray
    subsets: FloatArray
    sizes: FloatArray

    def __len__(self) -> int:
        return len(self.sizes)

    def select(self, graphs: Any = slice(None), patterns: Any = slice(None)) -> DensityTable:
        return DensityTable(self.values[graphs][:, patterns], self.subsets[graphs][:, patterns], self.sizes[graphs])


class MeanDifference(NamedTuple):
    """Per pattern: new mean minus training mean, standard error, degrees of freedom, two-sided p-value."""

    difference: FloatArray
    error: FloatArray
    freedom: FloatArray
    p: FloatArray


def compare_means(train: DensityTable, new: DensityTable) -> MeanDifference:
    """Welch's test on mean densities, corrected for rare patterns and for small sets.

    Rare patterns: a variance is at least (pooled density) / subsets, that of independent copies. With a few copies in a
    whole set the sample variance is too small exactly when the mean is.

    Small sets: fewer than `MIN_GRAPHS_FOR_VARIANCE` graphs use the variance of the other set, with at most that many
    degrees of freedom. By Hoeffding's decomposition a variance is a sum of s_j / C(N, j) over j <= k, so that smaller
    graphs vary at most C(N, k) / C(N', k) times as much: the variance of the other set is scaled by that.
    """
    copies = (train.values * train.subsets).sum(0) + (new.values * new.subsets).sum(0)
    pooled = copies / (train.subsets.sum(0) + new.subsets.sum(0))
    variances, freedoms = [], []
    for sample, other in ((train, new), (new, train)):
        inverse = (1 / sample.subsets).mean(axis=0)
        if len(sample) < min(MIN_GRAPHS_FOR_VARIANCE, len(other)):
            scale = np.maximum(1, inverse / (1 / other.subsets).mean(axis=0))
            spread, freedom = other.values.var(axis=0, ddof=1) * scale, min(len(other) - 1, MIN_GRAPHS_FOR_VARIANCE)
        else:
            spread, freedom = sample.values.var(axis=0, ddof=1), len(sample) - 1
        variances.append(np.maximum(spread, pooled * inverse) / len(sample))
        freedoms.append(freedom)
    variance = variances[0] + variances[1]
    below = variances[0] ** 2 / freedoms[0] + variances[1] ** 2 / freedoms[1]
    welch = np.divide(variance**2, below, out=np.ones_like(variance), where=variance > 0)
    difference, error = new.values.mean(axis=0) - train.values.mean(axis=0), np.sqrt(variance)
    return MeanDifference(difference, error, welch, compute_p(difference, error, welch))


def compute_p(
    difference: FloatArray, error: FloatArray, freedom: float | FloatArray, slack: float | FloatArray = 0.0
) -> FloatArray:
    """Two-sided p-value of "the true difference lies between -slack and slack", by Student's t.

    It is the largest p-value over that interval. Where the error is 0, it is 1 for a difference of at most the slack
    and 0 for a larger one.

    >>> compute_p(np.array([2.0, 2.0]), np.array([1.0, 1.0]), 1e9, np.array([0.0, 1.0])).round(3).tolist()
    [0.046, 0.16]
    """
    without_error = np.where(np.abs(difference) <= np.asarray(slack) * (1 + 1e-9), 0.0, np.inf)
    tails = [
        student.sf(np.divide(excess, error, out=without_error.copy(), where=error > 0), freedom)
        for excess in (np.abs(difference) - slack, np.abs(difference) + slack)
    ]
    return np.asarray(tails[0] + tails[1])


@dataclass(frozen=True)
class ShareDifference:
    """Total variation distance of mean shares, its mean over random permutations of the graphs, and the p-value."""

    distance: float
    expected: float
    p: float

    @property
    def negligible(self) -> bool:
        return self.distance - self.expected < NEGLIGIBLE_DISTANCE


def compare_shares(
    shares: FloatArray, sizes: NDArray[Any], n_train: int, seed: int, permutations: int = PERMUTATIONS
) -> ShareDifference:
    """Permutation test of equal mean shares (graphs, columns); the first ``n_train`` graphs are the training graphs.

    The statistic is the sum over columns of squared differences of means, each divided by its own variance, so that the
    level holds for sets with different variances (small graphs vary more than large ones). Sets with fewer than
    `MIN_GRAPHS_FOR_STUDENTIZING` graphs are too small for that: there the deviations of smaller graphs from the mean
    are scaled down as sqrt(N) to the size of the larger set's graphs.
    """
    rng = np.random.default_rng(seed)
    group = np.zeros(len(shares))
    group[:n_train] = 1.0
    scaled = shares
    if min(n_train, len(shares) - n_train) < MIN_GRAPHS_FOR_STUDENTIZING:
        larger = slice(n_train, None) if 2 * n_train < len(shares) else slice(None, n_train)
        center = shares[larger].mean(axis=0)
        scale = np.minimum(1.0, np.sqrt(sizes / max(float(np.median(sizes[larger])), 1.0)))
        scaled = center + (shares - center) * scale[:, None]
    observed, distance = _studentize(scaled, group[None])[0], _measure_distances(shares, group[None])[0]
    exceeding, distances = 0, []
    for start in range(0, permutations, PERMUTATIONS_PER_BATCH):
        batch = min(PERMUTATIONS_PER_BATCH, permutations - start)
        groups = np.stack([rng.permutation(group) for _ in range(batch)])
        exceeding += int((_studentize(scaled, groups) >= observed * (1 - 1e-12)).sum())
        distances.append(_measure_distances(shares, groups))
    expected = float(np.concatenate(distances).mean())
    return ShareDifference(float(distance), expected, (1 + exceeding) / (1 + permutations))


def _average(shares: FloatArray, groups: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean shares (groupings, columns) of the graphs marked 1 in each grouping (groupings, graphs), and of the rest."""
    n, sums = groups.sum(axis=1)[:, None], groups @ shares
    return np.asarray(sums / n), np.asarray((shares.sum(axis=0) - sums) / (len(shares) - n))


def _measure_distances(shares: FloatArray, groups: FloatArray) -> FloatArray:
    first, second = _average(shares, groups)
    return np.asarray(np.abs(first - second).sum(axis=1) / 2)


def _studentize(shares: FloatArray, groups: FloatArray) -> FloatArray:
    """The statistic of `compare_shares` for every grouping."""
    n = groups.sum(axis=1)[:, None]
    m = len(shares) - n
    first, second = _average(shares, groups)
    gap, variance = first - second, np.broadcast_to(shares.var(axis=0), first.shape)
    if min(n.min(), m.min()) >= MIN_GRAPHS_FOR_STUDENTIZING:
        squares = _average(shares**2, groups)
        variance = (squares[0] - first**2) / (n - 1) + (squares[1] - second**2) / (m - 1)
    rounding = 1e-12 * max(float((shares**2).mean()), 1e-300)
    statistic = np.divide(gap**2, np.maximum(variance, rounding), out=np.zeros_like(gap), where=gap**2 > rounding)
    return np.asarray(statistic.sum(axis=1))
