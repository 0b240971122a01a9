"""Do densities of patterns differ beyond what sizes explain?

Two explanations by size are tried for every pattern: that expected densities do not depend on size but for effects of
order 1/N, as in dense graphs of one graphon, and that they follow the training graphs' own trend. What neither explains
is beyond size: the p-value is the larger of the two.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb

from anysize.counting.counts import Counts
from anysize.diagnosis.finite import finite_size
from anysize.diagnosis.testing import benjamini_hochberg, mean_difference, two_sided
from anysize.diagnosis.trends import Sides, fit_trend, fittable, free_trend_test, trend_test
from anysize.graphs.colors import ColorName
from anysize.patterns.pattern import Pattern

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
Over = Literal["subsets", "connected"]
Kind = Literal["dense", "sparse", "cannot tell"]
Judgment = Literal["same", "size may explain", "beyond size"]

OCCURS = 10  # graphs that have the pattern; rarer ones are not tested
MOST_PATTERNS = 200  # colored patterns tested, those that occur in most graphs
DENSE = 0.15  # a mean edge density from which graphs are called dense where the trend with size says nothing


@dataclass(frozen=True)
class PatternShift:
    """One pattern: mean densities of the two sets, and what they mean.

    ``standard_error`` is that of the difference. ``p_constant`` tests equal means, ``p_finite`` means that differ by no
    more than ``finite``, what finite sizes may explain (see `anysize.diagnosis.finite`). ``p_trend`` tests the training
    trend, with ``over_predicted`` = observed / predicted and its relative error ``trend_error``. Where no trend could
    be fitted these are None; in sparse graphs of other sizes ``p_trend`` is then that of the power law that fits best.
    ``p`` is the larger of ``p_finite`` and ``p_trend``, ``q`` its adjusted value over all patterns of the family.
    ``effect`` is how far the mean is from what the better of the two explanations allows, in standard deviations
    between graphs.
    """

    pattern: str
    size: int
    train: float
    new: float
    standard_error: float
    finite: float
    p_constant: float
    p_finite: float
    p_trend: float | None
    over_predicted: float | None
    trend_error: float | None
    p: float
    q: float
    effect: float
    judgment: Judgment

    @property
    def score(self) -> float:
        """Difference of the means in standard errors."""
        return (self.new - self.train) / self.standard_error if self.standard_error > 0 else 0.0


@dataclass(frozen=True)
class Family:
    """All patterns of one kind that were tested, strongest first; ``p`` is for "nothing beyond size in any of them"."""

    name: str
    over: Over
    patterns: tuple[PatternShift, ...]
    p: float

    @property
    def margin(self) -> float | None:
        """The factor up to which the trend's predictions are good (95 %), common patterns weighing most."""
        known = [(item.trend_error, item.train) for item in self.patterns if item.trend_error is not None]
        if not known:
            return None
        errors, weights = zip(*known, strict=True)
        return float(np.exp(min(2 * np.average(errors, weights=weights), 20.0)))

    @property
    def finite(self) -> int:
        """How many patterns differ by no more than finite sizes may explain, and better so than by a trend."""
        may = (item for item in self.patterns if item.judgment == "size may explain")
        return sum(item.p_trend is None or item.p_finite >= item.p_trend for item in may)

    def number(self, judgment: Judgment) -> int:
        """How many patterns were judged so."""
        return sum(item.judgment == judgment for item in self.patterns)


@dataclass(frozen=True)
class Sparsity:
    """Whether graphs become sparser as they grow: edge density ~ N^exponent, 0 if dense, -1 for bounded degree.

    ``exponent`` and its error come from inside the sets (None where sizes do not vary there).
    """

    kind: Kind
    exponent: float | None
    standard_error: float | None
    edge_density: tuple[float, float]
    mean_degree: tuple[float, float]


def sparsity(edges: FloatArray, sizes: IntArray, train: int) -> Sparsity:
    """Dense or sparse, from numbers of edges and vertices, training graphs first; graphs have 2 vertices or more."""
    pairs: FloatArray = np.asarray(comb(sizes, 2), np.float64)
    density = edges / pairs
    weights, exponents = [], []
    for part in (slice(None, train), slice(train, None)):
        column, n = density[part, None], sizes[part].astype(np.float64)
        if fittable(column, n).all():
            trend = fit_trend(column, n, pairs[part, None])
            exponents.append(float(trend.exponents[0]))
            weights.append(1 / max(float(trend.exponent_errors[0]), 1e-3) ** 2)
    means = [(float(x[:train].mean()), float(x[train:].mean())) for x in (density, 2 * edges / sizes)]
    kind: Kind = "dense" if min(means[0]) >= DENSE else "cannot tell"
    if not exponents:
        return Sparsity(kind, None, None, means[0], means[1])
    exponent, error = float(np.average(exponents, weights=weights)), float(np.sum(weights) ** -0.5)
    if exponent + 2 * error < -0.5:
        kind = "sparse"
    elif exponent - 2 * error > -0.5:
        kind = "dense"
    return Sparsity(kind, exponent, error, means[0], means[1])


@dataclass(frozen=True, eq=False)
class Sample:
    """Densities (graphs, patterns) to be tested, what they are shares of, and sizes; training graphs first.

    ``shares``: of every color, the larger of its mean shares in the two sets; empty without colors.
    """

    values: FloatArray
    ways: FloatArray
    sizes: FloatArray
    patterns: tuple[Pattern, ...]
    train: int
    shares: dict[ColorName, float]


def sample_of(counts: Counts, train: int, over: Over) -> Sample:
    """The common patterns of a table of graphs with at least k vertices each, the first ``train`` for training.

    Over connected subsets, graphs that have none of some size are left out: they have no shares.
    """
    own = counts.columns.size
    totals = {int(k): np.asarray(counts.matrix[:, own == k].sum(axis=1)).ravel() for k in np.unique(own)}
    if over == "connected":
        keep = np.all([total > 0 for total in totals.values()], axis=0) if totals else np.ones(len(counts), bool)
        counts, train = counts[keep], int(keep[:train].sum())
        totals = {k: total[keep] for k, total in totals.items()}
    present = np.bincount(counts.matrix.indices, minlength=len(own))
    common = np.flatnonzero(present >= min(OCCURS, max(len(counts) // 2, 1)))
    columns = np.sort(common[np.argsort(-present[common], kind="stable")[:MOST_PATTERNS]])
    values = counts.matrix[:, columns].toarray().astype(np.float64)
    sizes = counts.sizes.astype(np.float64)
    whole = {k: comb(sizes, k) if over == "subsets" else total.astype(np.float64) for k, total in totals.items()}
    ways = np.ones_like(values)
    for place, k in enumerate(own[columns].tolist()):
        ways[:, place] = whole[k]
    return Sample(values / ways, ways, sizes, counts.columns[columns].patterns, train, _shares(counts, train))


def family(name: str, over: Over, sample: Sample, level: float, free: bool = False) -> Family:
    """Test every pattern of a sample; the false discovery rate among those found beyond size is at most ``level``.

    ``free`` says that equal densities cannot be expected anyway (sparse graphs of other sizes): effects of order 1/N
    are then no explanation, and patterns that are too rare in training for a trend of their own are allowed any power
    law that makes sense.
    """
    at = sample.train
    a, b, ways, sizes = sample.values[:at], sample.values[at:], sample.ways, sample.sizes
    if not len(sample.patterns) or len(a) < 2 or not len(b):
        return Family(name, over, (), 1.0)
    constant = mean_difference(a, b, ways[:at], ways[at:])
    finite = np.zeros(len(sample.patterns))
    if not free:
        finite += finite_size(sample.patterns, sample.shares, sizes[:at], sizes[at:]) * np.maximum(a.mean(0), b.mean(0))
    p_finite = two_sided(constant.difference, constant.error, constant.freedom, finite)
    able = fittable(a, sizes[:at])
    trend, ratio, error, effect = (np.full(len(able), np.nan) for _ in range(4))

    def sides(chosen: BoolArray) -> Sides:
        return Sides(a[:, chosen], b[:, chosen], sizes[:at], sizes[at:], ways[:at, chosen], ways[at:, chosen])

    if able.any():
        ratio[able], error[able], trend[able], effect[able] = trend_test(sides(able))
    if free and not able.all():
        limits = _exponents(sample.patterns, over)
        trend[~able], effect[~able] = free_trend_test(sides(~able), (limits[0][~able], limits[1][~able]))
    p = np.fmax(p_finite, trend)
    left = np.divide(finite, np.abs(constant.difference), out=np.zeros_like(finite), where=constant.difference != 0)
    left = np.maximum(1 - left, 0.0) * constant.effect
    effect = np.where(trend > p_finite, effect, left)  # of the explanation that fits better
    # where finite sizes may explain much more than chance does, a pattern has little to say
    much = np.divide(finite, constant.error, out=np.zeros_like(finite), where=constant.error > 0)
    q, q_constant = benjamini_hochberg(p, 1 / (1 + much**2)), benjamini_hochberg(constant.p)
    order = np.lexsort((-np.abs(effect), p)).tolist()
    items = tuple(
        PatternShift(
            pattern=sample.patterns[i].name,
            size=sample.patterns[i].size,
            train=float(a[:, i].mean()),
            new=float(b[:, i].mean()),
            standard_error=float(constant.error[i]),
            finite=float(finite[i]),
            p_constant=float(constant.p[i]),
            p_finite=float(p_finite[i]),
            p_trend=_known(trend[i]),
            over_predicted=_known(ratio[i]),
            trend_error=_known(error[i]),
            p=float(p[i]),
            q=float(q[i]),
            effect=float(effect[i]),
            judgment="beyond size" if q[i] <= level else "size may explain" if q_constant[i] <= level else "same",
        )
        for i in order
    )
    return Family(name, over, items, float(q.min()))


def _shares(counts: Counts, train: int) -> dict[ColorName, float]:
    """Of every color, the larger of its mean shares in the two sets; empty where single vertices were not counted."""
    single = counts.columns.size == 1
    if counts.columns.colors is None or not single.any() or not 0 < train < len(counts):
        return {}
    share = counts.matrix[:, single].toarray() / counts.sizes[:, None]
    most = np.maximum(share[:train].mean(axis=0), share[train:].mean(axis=0))
    codes = counts.columns.colors[single, 0].tolist()
    return {counts.columns.palette[code]: float(one) for code, one in zip(codes, most, strict=True)}


def _exponents(patterns: tuple[Pattern, ...], over: Over) -> tuple[FloatArray, FloatArray]:
    """Smallest and largest exponent of N that sparse graphs of one kind may have.

    From a bounded number of copies in a graph of any size, N^-k over subsets and N^-1 among connected subsets, to
    densities that do not fall, and to shares that grow as N.
    """
    sizes = np.array([pattern.size for pattern in patterns], np.float64)
    if over == "subsets":
        return -sizes, np.zeros_like(sizes)
    return -np.ones_like(sizes), np.ones_like(sizes)


def _known(value: np.float64) -> float | None:
    return None if np.isnan(value) else float(value)
