"""Could these graphs be samples of graphons? Three statistics of labeled graphs that need no test labels.

The guarantees of density features (Theorem 1) hold for graphs whose vertices are sampled from a graphon W. That
assumption has consequences that can be checked on the training graphs. For a graph with n vertices, m edges and
degrees d, let s = sum d (d - 1). Unbiased estimates of the densities of an edge, of two adjacent edges and of two
disjoint edges (all over ordered choices of distinct vertices) are

    t = 2 m / (n (n - 1)),    a = s / (n (n - 1) (n - 2)),    q = 4 (m (m - 1) - s) / (n (n - 1) (n - 2) (n - 3)).

With D(u) = int W(u, v) dv, the expected degree share of a vertex at u:  E t = E D,  E a = E D^2,  E q = (E D)^2.

**kappa.** E a - E q = Var D(u) >= 0 for every graphon, so  kappa = sum a w / sum q w >= 1  for any weights w, up to
chance; here w = n (n - 1) (n - 2), so that large graphs, whose densities are known best, count most. Vertices of
bounded degree, such as atoms with their valences, have fewer adjacent edges than disjoint ones suggest: kappa < 1.

**edge exponent.** E t does not depend on n: edges grow as n^2. The exponent is 2 plus the slope of log t on log n
within classes. Where all graphs have about the same size it cannot be measured; it is therefore shrunk toward the
theory's 2 by its standard error (prior standard deviation 1/2). Graphs with a bounded mean degree have exponent 1.

**dispersion.** If all graphs of a class come from ONE graphon with edge density p = E D, t is a U-statistic of order 2,
so its variance is [2 p (1 - p) + 4 (n - 2) Var D] / (n (n - 1)) exactly. The dispersion is the observed variance of t
within classes over this one: 1 for one graphon per class, larger where every graph has a density of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Literal

import numpy as np

from anysize._typing import FloatArray, IntArray
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners

Regime = Literal["not_graphon", "graphon", "mixed"]

EXPONENT_PRIOR_DEVIATION = 0.5
LOWEST_EXPONENT = 1.5  # halfway between a bounded mean degree (1) and a graphon (2)
KAPPA_MARGIN = 0.05
HIGHEST_DISPERSION = 2.5
FIXED_DISPERSION = 0.05  # below it the edge density was fixed: chance gives 1 for graphs of one graphon
STANDARD_ERRORS = 2.0


_REGIME_TEXT: Mapping[Regime, str] = {
    "not_graphon": "not samples of graphons",
    "graphon": "compatible with one graphon per class",
    "mixed": "dense, with densities more varied than one graphon per class allows",
}


@dataclass(frozen=True)
class GraphonCheck:
    """The three statistics, their standard errors, and which regime they put the graphs in.

    Attributes:
        kappa: adjacent over disjoint pairs of edges; at least 1 for every graphon.
        kappa_error: its standard error over graphs.
        exponent: edges grow as n to this power within classes; nan if all graphs of a class have one size.
        exponent_error: its standard error; inf if the exponent is nan.
        shrunk_exponent: the exponent combined with the prior 2 +- 1/2.
        dispersion: variance of edge densities within classes over that of one graphon per class.
        mean_degree: mean over graphs of the mean degree.
    """

    kappa: float
    kappa_error: float
    exponent: float
    exponent_error: float
    shrunk_exponent: float
    dispersion: float
    mean_degree: float

    @property
    def regime(self) -> Regime:
        """``not_graphon``; ``graphon``: one per class; ``mixed``: dense, and graphs differ more than that."""
        if self.kappa < self._lowest_kappa or self.edges_grow_slowly:
            return "not_graphon"
        return "graphon" if self.dispersion <= HIGHEST_DISPERSION else "mixed"

    @property
    def edges_grow_slowly(self) -> bool:
        """Whether edges grow more slowly than n^1.5 within classes, which no graphon allows."""
        return self.shrunk_exponent < LOWEST_EXPONENT

    @property
    def density_is_fixed(self) -> bool:
        """Whether all graphs of a class have one edge density, as after thresholding at a quantile."""
        return self.dispersion < FIXED_DISPERSION

    @property
    def sizes_differ(self) -> bool:
        """Whether training sizes say anything about growth: else only the theory does."""
        return isfinite(self.exponent_error) and self.exponent_error < EXPONENT_PRIOR_DEVIATION

    @property
    def _lowest_kappa(self) -> float:
        return 1 - max(KAPPA_MARGIN, STANDARD_ERRORS * self.kappa_error)

    @property
    def decisive(self) -> bool:
        """Whether the regime would stand if the deciding statistics moved by two standard errors."""
        if self.regime == "not_graphon":
            exponent_low = self.shrunk_exponent + STANDARD_ERRORS * self._shrunk_error < LOWEST_EXPONENT
            return self.kappa < self._lowest_kappa or exponent_low
        return self.sizes_differ and self.shrunk_exponent - STANDARD_ERRORS * self._shrunk_error > LOWEST_EXPONENT

    def summary(self) -> str:
        """The regime and the statistics in one sentence."""
        growth = "unknown (one size)" if np.isnan(self.exponent) else f"{self.exponent:.2f} ± {self.exponent_error:.2f}"
        sentence = (
            f"The training graphs are {_REGIME_TEXT[self.regime]} (kappa {self.kappa:.2f} ± {self.kappa_error:.2f}, "
            f"edge exponent {growth}, dispersion {self.dispersion:.1f})."
        )
        if self.density_is_fixed:
            sentence += (
                " All graphs of a class have the same edge density, as after thresholding at a quantile: edge exponent "
                "and dispersion say nothing about how the graphs came about."
            )
        return sentence

    @property
    def _shrunk_error(self) -> float:
        precision = 1 / EXPONENT_PRIOR_DEVIATION**2
        return float((precision + (0.0 if not isfinite(self.exponent_error) else self.exponent_error**-2)) ** -0.5)


def check_graphon(graphs: GraphSet, y: IntArray | None = None, weights: FloatArray | None = None) -> GraphonCheck:
    """Compare graphs with samples of graphons, one per class if ``y`` (class numbers) is given.

    ``weights``: how often each graph counts, once if None.

    Graphs with fewer than 4 vertices are left out of kappa and the dispersion.

    Examples:
        >>> from anysize import Environment, ErdosRenyi, sample_graphs
        >>> dense = sample_graphs([ErdosRenyi(0.3)], Environment(sizes=(20, 30, 40)), 60, seed=1)
        >>> check_graphon(dense).regime
        'graphon'
        >>> rings = GraphSet.from_edges([[(v, (v + 1) % n) for v in range(n)] for n in range(10, 40)])
        >>> check = check_graphon(rings)
        >>> check.regime, round(check.kappa, 2), round(check.exponent, 2)
        ('not_graphon', 0.5, 0.95)
    """
    n = graphs.sizes.astype(np.float64)
    m = graphs.edge_counts.astype(np.float64)
    degrees = graphs.degrees.astype(np.float64)
    s = np.bincount(owners(graphs.first), degrees * (degrees - 1), minlength=len(graphs)).astype(np.float64)
    classes = np.zeros(len(graphs), np.int64) if y is None else np.unique(y, return_inverse=True)[1]
    repeats = np.ones(len(graphs)) if weights is None else weights
    exponent, error = _growth(n, m, classes, repeats)
    prior = EXPONENT_PRIOR_DEVIATION**-2
    shrunk = 2.0 if not isfinite(error) else (exponent * error**-2 + 2 * prior) / (error**-2 + prior)
    kappa, kappa_error, dispersion = _moments(n, m, s, classes, repeats)
    degree = float(np.average(2 * m / np.maximum(n, 1), weights=repeats)) if len(n) else 0.0
    return GraphonCheck(kappa, kappa_error, exponent, error, float(shrunk), dispersion, degree)


def _growth(n: FloatArray, m: FloatArray, classes: IntArray, weights: FloatArray) -> tuple[float, float]:
    """The edge exponent within classes, and its standard error; a graph without edges counts as half an edge."""
    possible = n > 1
    n, m, classes, weights = n[possible], m[possible], classes[possible], weights[possible]
    x, z = np.log(n), np.log(np.maximum(m, 0.5) / (n * (n - 1)))
    for label in np.unique(classes):
        rows = classes == label
        x[rows] -= np.average(x[rows], weights=weights[rows])
        z[rows] -= np.average(z[rows], weights=weights[rows])
    spread = float((weights * x) @ x)
    if spread < 1e-9:
        return nan, inf
    slope = float((weights * x) @ z) / spread
    residual = z - slope * x
    freedom = max(1, weights.sum() - len(np.unique(classes)) - 1)
    return 2 + slope, max(float(np.sqrt((weights * residual) @ residual / freedom / spread)), 1e-3)


def _moments(
    n: FloatArray, m: FloatArray, s: FloatArray, classes: IntArray, weights: FloatArray
) -> tuple[float, float, float]:
    """kappa, its standard error, and the dispersion."""
    enough = n >= 4
    n, m, s, classes, weights = n[enough], m[enough], s[enough], classes[enough], weights[enough]
    if len(n) < 2:
        return 1.0, inf, 1.0
    triples = n * (n - 1) * (n - 2)
    t, a = 2 * m / (n * (n - 1)), s / triples
    q = 4 * (m * (m - 1) - s) / (triples * (n - 3))
    disjoint = max(float((weights * triples * q).sum()), 1e-12)
    kappa = float((weights * s).sum()) / disjoint
    residual = s - kappa * triples * q
    residual = residual - np.average(residual, weights=weights)
    error = float(np.sqrt(np.average(residual**2, weights=weights) * weights.sum())) / disjoint
    observed = expected = 0.0
    for label in np.unique(classes):
        rows = classes == label
        repeats = weights[rows]
        graphs = float(repeats.sum())
        mean = np.average(t[rows], weights=repeats)
        degree_variance = max(0.0, float(np.average((a - q)[rows], weights=repeats)))
        variance = (2 * mean * (1 - mean) + 4 * (n[rows] - 2) * degree_variance) / (n[rows] * (n[rows] - 1))
        expected += float((repeats * variance).sum())
        observed += float((repeats * (t[rows] - mean) ** 2).sum()) * graphs / max(1, graphs - 1)
    return kappa, error, observed / max(expected, 1e-300)
