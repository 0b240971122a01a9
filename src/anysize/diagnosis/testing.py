"""The tests behind a diagnosis: mean differences between sets of graphs, permutations, many questions at once.

The unit is always the graph: vertices of one graph are not independent, graphs of one set are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student

FloatArray = NDArray[np.float64]

FEW = 5  # a variance from fewer graphs is not worth much: the other set's stands in
UNSTEADY = 15  # with fewer graphs than that, variances are too noisy to make up for other sizes
CELLS_AT_ONCE = 4_000_000  # of the random regroupings, to bound memory


def simes(p: ArrayLike) -> float:
    """One p-value for "nothing at all is going on" from many: the smallest of m p_(i) / i (Simes).

    It is at most the level exactly when `benjamini_hochberg` finds something. 1 where there are none.

    >>> simes([0.04, 0.9, 0.02])
    0.06
    """
    adjusted = benjamini_hochberg(p)
    return float(adjusted.min(initial=1.0))


def benjamini_hochberg(p: ArrayLike, weights: ArrayLike = 1.0) -> FloatArray:
    """Adjusted p-values: those of at most q have a false discovery rate of at most q.

    ``weights`` that do not depend on the p-values give some questions a larger part of the error (p divided by the
    weight over its mean).

    >>> benjamini_hochberg([0.01, 0.02, 0.9]).round(3).tolist()
    [0.03, 0.03, 0.9]
    """
    values = np.asarray(p, np.float64)
    shares = np.asarray(weights, np.float64)
    values = values * float(shares.mean()) / shares
    order = np.argsort(values)
    scaled = values[order] * len(values) / np.arange(1, len(values) + 1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum.accumulate(scaled[::-1])[::-1]
    return np.asarray(np.minimum(adjusted, 1.0))


def holm(p: ArrayLike) -> FloatArray:
    """Adjusted p-values: with a threshold of a on them, the chance of any false alarm is at most a.

    >>> holm([0.01, 0.5, 0.03]).tolist()
    [0.03, 0.5, 0.06]
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values)
    scaled = values[order] * np.arange(len(values), 0, -1)
    adjusted = np.empty_like(values)
    adjusted[order] = np.maximum.accumulate(scaled)
    return np.minimum(adjusted, 1.0)


class Difference(NamedTuple):
    """Per pattern: new mean minus training mean, its standard error and degrees of freedom, the two-sided p-value, and
    the difference in standard deviations between graphs."""

    difference: FloatArray
    error: FloatArray
    freedom: FloatArray
    p: FloatArray
    effect: FloatArray


def mean_difference(train: FloatArray, new: FloatArray, train_ways: FloatArray, new_ways: FloatArray) -> Difference:
    """Differences of mean densities, by Welch's test.

    Graphs of one mixture of graphons have the same expected densities at any size, with other variances. A variance
    is at least what copies that fall independently would give, (pooled density) / ways: where a pattern has a handful
    of copies in a whole set, the variance in the sample is too small just when the mean is.

    Fewer than `FEW` graphs borrow the variance of the other set, where those are more. It is sum_j s_j / C(N, j) with
    j <= k (Hoeffding), so that smaller graphs vary at most C(N, k) / C(N', k) times as much; and so few are far from
    normal, for which `FEW` degrees of freedom make some room.

    Args:
        train: densities (graphs, patterns). new: likewise.
        train_ways: what each density is a share of, in the same shape. new_ways: likewise.
    """
    pooled = ((train * train_ways).sum(0) + (new * new_ways).sum(0)) / (train_ways.sum(0) + new_ways.sum(0))
    parts, freedoms = [], []
    for own, other, ways, lent in ((train, new, train_ways, new_ways), (new, train, new_ways, train_ways)):
        borrow = len(own) < min(FEW, len(other))
        spread = (
            other.var(axis=0, ddof=1) * np.maximum(1, _mean_inverse(ways) / _mean_inverse(lent))
            if borrow
            else (own.var(axis=0, ddof=1))
        )
        parts.append(np.maximum(spread, pooled * _mean_inverse(ways)) / len(own))
        freedoms.append(min(len(other) - 1, FEW) if borrow else len(own) - 1)
    variance = parts[0] + parts[1]
    below = sum(part**2 / freedom for part, freedom in zip(parts, freedoms, strict=True))
    freedom = np.divide(variance**2, below, out=np.ones_like(variance), where=variance > 0)
    difference, error = np.asarray(new.mean(0) - train.mean(0)), np.sqrt(variance)
    deviation = np.sqrt((train.var(axis=0) * len(train) + new.var(axis=0) * len(new)) / (len(train) + len(new)))
    p = two_sided(difference, error, freedom)
    return Difference(difference, error, freedom, p, in_deviations(difference, deviation))


def _mean_inverse(ways: FloatArray) -> FloatArray:
    return np.asarray((1 / ways).mean(axis=0))


def two_sided(
    difference: FloatArray, spread: FloatArray, freedom: float | FloatArray, slack: float | FloatArray = 0.0
) -> FloatArray:
    """The p-value, by Student's T, of a difference whose true value is anywhere from -slack to slack.

    P(|T + slack / spread| >= |difference| / spread), the largest over that interval. Without any spread it is 1 for a
    difference of at most slack and 0 for a larger one.

    >>> two_sided(np.array([2.0, 2.0]), np.array([1.0, 1.0]), 1e9, np.array([0.0, 1.0])).round(3).tolist()
    [0.046, 0.16]
    """
    inside = np.abs(difference) <= np.asarray(slack) * (1 + 1e-9)
    scores = [
        np.divide(x, spread, out=np.where(inside, 0.0, np.inf), where=spread > 0)
        for x in (np.abs(difference) - slack, np.abs(difference) + slack)
    ]
    return np.asarray(student.sf(scores[0], freedom) + student.sf(scores[1], freedom))


def in_deviations(difference: FloatArray, deviation: FloatArray) -> FloatArray:
    """Differences on the scale of a deviation between graphs, cut at 10 so that a deviation of 0 does no harm."""
    return np.asarray(difference / np.maximum(deviation, np.maximum(np.abs(difference) / 10, 1e-300)))


def permutation_test(
    shares: FloatArray, sizes: NDArray[Any], train: int, draws: int, seed: int
) -> tuple[float, float, float]:
    """Do mean shares differ more than between random regroupings of the graphs?

    The statistic is the sum over columns of squared differences of means, each divided by its own variance, so that
    the test holds for sets with other variances too (small graphs vary more than large ones). Sets of a few graphs have
    no variance to speak of: there, deviations of smaller graphs are shrunk as sqrt(N) to the size of the larger set's.

    Args:
        shares: (graphs, colors), training graphs first.
        sizes: vertices (graphs,).
        train: how many of them are training graphs.
        draws: random regroupings.
        seed: of these.

    Returns:
        The total variation distance between the mean shares, its mean over regroupings, and the p-value.
    """
    rng = np.random.default_rng(seed)
    graphs = len(shares)
    group = np.zeros(graphs)
    group[:train] = 1.0
    level = _leveled(shares, sizes, train)
    observed, moved = _statistic(level, group[None]), _distance(shares, group[None])
    beyond, distances = 0, []
    at_once = max(1, CELLS_AT_ONCE // graphs)
    for start in range(0, draws, at_once):
        groups = np.stack([rng.permutation(group) for _ in range(min(at_once, draws - start))])
        beyond += int((_statistic(level, groups) >= observed[0] * (1 - 1e-12)).sum())
        distances.append(_distance(shares, groups))
    return float(moved[0]), float(np.concatenate(distances).mean()), (1 + beyond) / (1 + draws)


def _leveled(shares: FloatArray, sizes: NDArray[Any], train: int) -> FloatArray:
    """The shares, with deviations of small graphs shrunk where one of the sets has few graphs."""
    if min(train, len(shares) - train) >= UNSTEADY:
        return shares
    many = slice(train, None) if 2 * train < len(shares) else slice(None, train)
    center = shares[many].mean(axis=0)
    shrunk = np.minimum(1.0, np.sqrt(sizes / max(float(np.median(sizes[many])), 1.0)))
    return np.asarray(center + (shares - center) * shrunk[:, None])


def _means(shares: FloatArray, groups: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean shares (groupings, colors) of the graphs marked 1 in each grouping (groupings, graphs), and of the rest."""
    many, sums = groups.sum(axis=1)[:, None], groups @ shares
    return np.asarray(sums / many), np.asarray((shares.sum(0) - sums) / (len(shares) - many))


def _distance(shares: FloatArray, groups: FloatArray) -> FloatArray:
    """The total variation distance of every grouping."""
    one, other = _means(shares, groups)
    return np.asarray(np.abs(one - other).sum(axis=1) / 2)


def _statistic(shares: FloatArray, groups: FloatArray) -> FloatArray:
    """The statistic of every grouping."""
    many = groups.sum(axis=1)[:, None]
    few = len(shares) - many
    one, other = _means(shares, groups)
    gap = one - other
    if min(many.min(), few.min()) < UNSTEADY:  # too few graphs for variances of their own
        variance = np.broadcast_to(shares.var(axis=0), gap.shape)
    else:
        squares = groups @ shares**2
        variance = (squares / many - one**2) / (many - 1) + ((shares**2).sum(0) - squares) / few / (few - 1)
        variance = variance - other**2 / (few - 1)
    scale = 1e-12 * max(float((shares**2).mean()), 1e-300)  # what rounding leaves of a column that does not vary
    statistic = np.divide(gap**2, np.maximum(variance, scale), out=np.zeros_like(gap), where=gap**2 > scale)
    return np.asarray(statistic.sum(axis=1))
