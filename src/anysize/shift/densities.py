"""Do densities of patterns differ beyond what sizes explain?

Two explanations by size are tested for every pattern: expected densities do not depend on size, except for effects of
order 1/N, as in dense graphs of one graphon; or they follow the training graphs' own power law. The p-value of "beyond
size" is the larger of the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.special import comb

from anysize._typing import FloatArray
from anysize.counting.counts import Counts
from anysize.graphs.colors import ColorName
from anysize.patterns.pattern import Pattern
from anysize.shift.hypothesis_tests import DensityTable, adjust_benjamini_hochberg, compare_means, compute_p
from anysize.shift.power_laws import (
    compare_with_best_exponent,
    compare_with_prediction,
    find_fittable,
    fit_power_law,
)

Over = Literal["subsets", "connected"]
GraphKind = Literal["dense", "sparse", "unknown"]
Judgment = Literal["same", "size may explain", "beyond size"]

MIN_OCCURRENCES = 10  # graphs with the pattern; rarer patterns are not tested
MAX_PATTERNS = 200  # per family, those that occur in most graphs
DENSE_EDGE_DENSITY = 0.15  # graphs are called dense from here on where sizes vary too little for an exponent
MAX_FINITE_SIZE_EFFECT = 0.5  # of a density; the first-order expansion does not hold beyond


@dataclass(frozen=True)
class Sparsity:
    """Edge density grows as N^exponent: 0 in dense graphs, -1 where degrees are bounded; None where sizes do not vary.

    ``edge_density``: mean of the training graphs and of the new graphs.
    """

    kind: GraphKind
    exponent: float | None
    standard_error: float | None
    edge_density: tuple[float, float]


@dataclass(frozen=True)
class PatternShift:
    """Mean densities of one pattern and the tests on them.

    ``p_constant`` tests equal means; ``p`` tests both explanations by size, and ``q`` is its adjusted value within the
    family. ``trend_ratio``: observed over predicted by the training graphs' power law, None where there is none.
    """

    pattern: str
    train: float
    new: float
    trend_ratio: float | None
    p_constant: float
    p: float
    q: float
    judgment: Judgment


@dataclass(frozen=True)
class PatternFamily:
    """The tested patterns of one kind, most significant first; ``p`` is that of "none of them differs beyond size"."""

    name: str
    over: Over
    patterns: tuple[PatternShift, ...]
    p: float

    def number(self, judgment: Judgment) -> int:
        return sum(item.judgment == judgment for item in self.patterns)


@dataclass(frozen=True, eq=False)
class PatternSample:
    """Density tables of the two sets, their patterns, and the larger mean share of every color in the two sets."""

    train: DensityTable
    new: DensityTable
    patterns: tuple[Pattern, ...]
    shares: dict[ColorName, float]


def measure_sparsity(counts: Counts, n_train: int) -> Sparsity:
    """Estimate the exponent inside each set and combine them; the first column of the counts is the edge."""
    pairs = np.asarray(comb(counts.sizes, 2), np.float64)[:, None]
    both = DensityTable(counts.matrix[:, [0]].toarray() / pairs, pairs, counts.sizes.astype(np.float64))
    sets = both.select(slice(None, n_train)), both.select(slice(n_train, None))
    laws = [fit_power_law(table) for table in sets if find_fittable(table).all()]
    means = float(sets[0].values.mean()), float(sets[1].values.mean())
    kind: GraphKind = "dense" if min(means) >= DENSE_EDGE_DENSITY else "unknown"
    if not laws:
        return Sparsity(kind, None, None, means)
    weights = [1 / max(float(law.covariances[0, 1, 1]), 1e-6) for law in laws]
    exponent = float(np.average([law.coefficients[0, 1] for law in laws], weights=weights))
    error = float(np.sum(weights) ** -0.5)
    if exponent + 2 * error < -0.5:
        kind = "sparse"
    elif exponent - 2 * error > -0.5:
        kind = "dense"
    return Sparsity(kind, exponent, error, means)


def sample_patterns(counts: Counts, n_train: int, over: Over) -> PatternSample:
    """The common patterns of a table; over connected subsets, graphs without any of some size are left out."""
    size = counts.columns.size
    totals = {int(k): np.asarray(counts.matrix[:, size == k].sum(axis=1), np.float64).ravel() for k in np.unique(size)}
    if over == "connected":
        keep = np.all([np.ones(len(counts), bool), *(total > 0 for total in totals.values())], axis=0)
        counts, n_train = counts[keep], int(keep[:n_train].sum())
        totals = {k: total[keep] for k, total in totals.items()}
    else:
        totals = {k: np.asarray(comb(counts.sizes, k), np.float64) for k in totals}
    occurrences = np.bincount(counts.matrix.indices, minlength=len(size))
    common = np.flatnonzero(occurrences >= min(MIN_OCCURRENCES, max(len(counts) // 2, 1)))
    columns = np.sort(common[np.argsort(-occurrences[common], kind="stable")[:MAX_PATTERNS]])
    copies = counts.matrix[:, columns].toarray().astype(np.float64)
    subsets = np.ones_like(copies)
    for position, k in enumerate(size[columns].tolist()):
        subsets[:, position] = totals[k]
    table = DensityTable(copies / subsets, subsets, counts.sizes.astype(np.float64))
    train, new = table.select(slice(None, n_train)), table.select(slice(n_train, None))
    return PatternSample(train, new, counts.columns[columns].patterns, _largest_shares(counts, n_train))


def compare_family(name: str, over: Over, sample: PatternSample, level: float, sparse_growth: bool) -> PatternFamily:
    """Test every pattern; the false discovery rate of the judgment "beyond size" is at most ``level``.

    ``sparse_growth``: the graphs are sparse and sizes differ, so that equal densities are not expected. Effects of
    order 1/N are then no explanation, and patterns too rare for a fit may follow any plausible power law.
    """
    train, new, patterns = sample.train, sample.new, sample.patterns
    if not patterns or len(train) < 2 or not len(new):
        return PatternFamily(name, over, (), 1.0)
    constant = compare_means(train, new)
    means = train.values.mean(axis=0), new.values.mean(axis=0)
    finite = np.zeros(len(patterns))
    if not sparse_growth:
        finite = bound_finite_size_effect(patterns, sample.shares, train.sizes, new.sizes) * np.maximum(*means)
    p_finite = compute_p(constant.difference, constant.error, constant.freedom, finite)
    fit = find_fittable(train)
    p_trend, ratio = np.full((2, len(patterns)), np.nan)
    if fit.any():
        ratio[fit], p_trend[fit] = compare_with_prediction(train.select(patterns=fit), new.select(patterns=fit))
    if sparse_growth and not fit.all():
        # from a bounded number of copies to a constant density over subsets, or to a connected share that grows as N
        sizes = np.array([pattern.size for pattern in patterns], np.float64)[~fit]
        exponents = (-sizes, 0 * sizes) if over == "subsets" else (-np.ones_like(sizes), np.ones_like(sizes))
        p_trend[~fit] = compare_with_best_exponent(train.select(patterns=~fit), new.select(patterns=~fit), exponents)
    p = np.fmax(p_finite, p_trend)
    # patterns for which the finite-size effect is large relative to the error have little power, and get small weights
    excess = np.divide(finite, constant.error, out=np.zeros_like(finite), where=constant.error > 0)
    q, q_constant = adjust_benjamini_hochberg(p, 1 / (1 + excess**2)), adjust_benjamini_hochberg(constant.p)

    def describe(i: int) -> PatternShift:
        judgment: Judgment = "size may explain" if q_constant[i] <= level else "same"
        return PatternShift(
            pattern=patterns[i].name,
            train=float(means[0][i]),
            new=float(means[1][i]),
            p_constant=float(constant.p[i]),
            trend_ratio=None if np.isnan(ratio[i]) else float(ratio[i]),
            p=float(p[i]),
            q=float(q[i]),
            judgment="beyond size" if q[i] <= level else judgment,
        )

    return PatternFamily(name, over, tuple(map(describe, np.lexsort((constant.p, p)).tolist())), float(q.min()))


def bound_finite_size_effect(
    patterns: Sequence[Pattern], shares: Mapping[ColorName, float], train_sizes: FloatArray, new_sizes: FloatArray
) -> FloatArray:
    r"""Per pattern, the largest relative difference between sets of one model that finite sizes may cause.

    Independent vertex types give densities that do not depend on N. Where every graph has exactly its share of each
    type (balanced blocks), k vertices draw types without replacement, and E[d_N] = t + sum_{i<j} (t - t_ij) / N to
    first order, with t_ij the density where i and j have one type, at most t / p for a type of share p. The bound is

    .. math:: h \frac{|x - x'|}{1 - h \min(x, x')}, \quad x = mean (N - k + 1)^{-1}, \quad h = \sum_{i < j} h_{ij}

    with h_ij = 1, or max(1, 1/p - 1) for two vertices of one color of share p. It is exact for pairs of one color. For
    plain patterns it covers two balanced halves, but not many blocks of strong contrast.

    >>> from anysize.patterns.pattern import connected_patterns
    >>> bound_finite_size_effect(connected_patterns(2), {}, np.array([21.0]), np.array([41.0])).round(4).tolist()
    [0.0256]
    """
    bounds = []
    for pattern in patterns:
        x, y = (float((1 / (sizes - pattern.size + 1)).mean()) for sizes in (train_sizes, new_sizes))
        h = _pair_sum(pattern, shares)
        bounds.append(h * abs(x - y) / (1 - min(h * min(x, y), MAX_FINITE_SIZE_EFFECT)))
    return np.array(bounds, np.float64)


def _pair_sum(pattern: Pattern, shares: Mapping[ColorName, float]) -> float:
    """The sum of h_ij over pairs of vertices."""
    if pattern.colors is None:
        return pattern.size * (pattern.size - 1) / 2
    same = {color: max(1.0, 1 / max(shares.get(color, 0.0), 1e-9) - 1) for color in set(pattern.colors)}
    return sum(same[left] if left == other else 1.0 for left, other in combinations(pattern.colors, 2))


def _largest_shares(counts: Counts, n_train: int) -> dict[ColorName, float]:
    """The larger mean share of every color in the two sets; empty where single vertices were not counted."""
    single = counts.columns.size == 1
    if counts.columns.colors is None or not single.any() or not 0 < n_train < len(counts):
        return {}
    share = counts.matrix[:, single].toarray() / counts.sizes[:, None]
    largest = np.maximum(share[:n_train].mean(axis=0), share[n_train:].mean(axis=0))
    codes = counts.columns.colors[single, 0].tolist()
    return {counts.columns.palette[code]: float(top) for code, top in zip(codes, largest, strict=True)}
