"""Vertex features as categories: bins that are learned on training graphs, without labels.

`VertexBins` gives vertices one color each, by all features together. `FeatureCounts` looks at every feature by itself.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import ndtri

from anysize._errors import GraphError
from anysize._files import atomic_write
from anysize._schema import check_integer, fields, integer, list_of, optional, parse_json, real, reason_of
from anysize._sklearn import BaseEstimator, TransformerMixin
from anysize._text import plural
from anysize._typing import FloatArray, IntArray, PathLike
from anysize.graphs.colors import check_palette
from anysize.graphs.features import FeatureScale, vertex_weights, weighted_quantiles
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners
from anysize.io.convert import as_graphset
from anysize.kernels.gram import short_indices
from anysize.kernels.wl import WLKernel
from anysize.patterns.pattern import format_color
from anysize.splits import random_60_and_40

MOST_BINS = 64
LEAST_RECURRENCE = 0.5  # of types of vertices of held-out graphs
KNOTS = 100  # quantiles by which ranks of features are stored
MAX_SAMPLE = 20_000  # vertices for k-means
SMALLEST_VARIANCE = 1e-6  # of directions of features, relative to the largest: others repeat what these say
ROUNDED_DIGITS = 9  # of points: k-means takes points that differ less for one
KMEANS_STARTS = 4
QUARTERS = 4  # bins of each feature by itself
COLUMNS_PER_FEATURE = QUARTERS + QUARTERS**2
FORMAT = "anysize vertex bins"


class VertexBins(TransformerMixin, BaseEstimator):
    r"""Colors vertices by bins of their features, so that methods on types of vertices can use numbers.

    Every feature is replaced by its normal score, the quantile of the standard normal distribution at its rank among
    the training vertices, so that units and outliers do not matter. The scores are whitened, so that features that say
    the same count once, and divided into bins by k-means. A vertex of a graph with n vertices has the weight 1 / n
    throughout: large training graphs do not own the bins. The color of a vertex is its bin, or with vertex colors the
    pair of its color and its bin.

    The number of bins, if not given, is the largest of 2, 4, 8, ..., 64 with which types of vertices recur: of a random
    40 % of the training graphs, at least half of the vertices of a graph, on average, must have a bin and a multiset of
    neighboring bins that some vertex of the other graphs has. Types that do not recur cannot be learned from.

    Labels are not used: bins are the same for every target of a set, they cannot be fitted to chance, and graphs
    without labels may be added. Which bins matter is left to the method.

    Args:
        bins: their number; None chooses it.
        random_state: the seed of k-means.

    Attributes (after `fit`):
        scale_: mean and deviation of the features.
        knots_: (features, knots) quantiles of the standardized features.
        whitening_: (features, directions).
        centers_: (bins, directions), ordered by their first direction.
        means_: (bins, features) mean standardized features of the training vertices in a bin; shares_: (bins,) weights.

    Examples:
        >>> graphs = GraphSet.from_edges([[(0, 1), (1, 2)], [(0, 1)]], features=[[[0.1], [0.2], [5]], [[0.1], [6]]])
        >>> bins = VertexBins(bins=2).fit(graphs)
        >>> bins.transform(graphs)
        GraphSet(2 graphs, 5 vertices, 3 edges, 2 colors)
        >>> bins.transform(graphs).color_names(0)
        (0, 0, 1)
    """

    def __init__(self, bins: int | None = None, random_state: int = 0) -> None:
        self.bins = bins
        self.random_state = random_state

    def fit(self, graphs: Any, y: Any = None) -> VertexBins:
        """Learn the bins of training graphs; ``y`` is ignored."""
        graph_set = as_graphset(graphs)
        scale = FeatureScale.of(graph_set)
        if scale is None or not len(graph_set.degrees):
            raise GraphError("bins are learned from vertex features and these graphs have none; pass others")
        self.scale_, weights = scale, vertex_weights(graph_set)
        standard = scale.apply(graph_set)
        self.knots_ = weighted_quantiles(standard, weights, (np.arange(KNOTS) + 0.5) / KNOTS)
        scores = self._scores(standard)
        self.whitening_ = _whitening(scores, weights)
        points = scores @ self.whitening_
        chosen, sample_weights = np.arange(len(points)), weights
        if len(points) > MAX_SAMPLE:
            chosen = np.random.default_rng(self.random_state).choice(len(points), MAX_SAMPLE, p=weights)
            sample_weights = np.full(MAX_SAMPLE, 1 / MAX_SAMPLE)
        sample = points[chosen]
        if self.bins is not None:
            self.centers_ = self._centers(sample, sample_weights, check_integer("bins", self.bins, 1))
        else:
            self.centers_ = self._recurring(graph_set, sample, sample_weights)
        of_bin = np.equal.outer(np.arange(len(self.centers_)), self._bins(points)) * weights
        self.shares_ = of_bin.sum(axis=1)
        self.means_ = of_bin @ standard / np.maximum(self.shares_, np.finfo(np.float64).tiny)[:, None]
        return self

    def transform(self, graphs: Any) -> GraphSet:
        """The graphs with bins in place of features; colors are joined with bins."""
        graph_set = as_graphset(graphs)
        bins = self._bins(self._scores(self.scale_.apply(graph_set)) @ self.whitening_)
        amount, plain = len(self.centers_), graph_set.without_features()
        if plain.colors is None:
            return replace(plain, colors=bins.astype(np.uint16), palette=tuple(range(amount)))
        pairs, codes = np.unique(plain.colors.astype(np.int64) * amount + bins, return_inverse=True)
        names = [f"{format_color(plain.palette[pair // amount])}:{pair % amount}" for pair in pairs.tolist()]
        palette = check_palette(names)
        position = {name: code for code, name in enumerate(palette)}
        return replace(plain, colors=np.array([position[name] for name in names], np.uint16)[codes], palette=palette)

    def _scores(self, standard: NDArray[np.float32]) -> FloatArray:
        """(vertices, features): normal scores of standardized features, with the mean rank of equal values."""
        scores = np.empty(standard.shape)
        for number, knots in enumerate(self.knots_):
            rank = np.searchsorted(knots, standard[:, number]) + np.searchsorted(knots, standard[:, number], "right")
            scores[:, number] = ndtri(np.clip(rank / 2, 0.5, KNOTS - 0.5) / KNOTS)
        return scores

    def _bins(self, points: FloatArray) -> IntArray:
        """The nearest center of every point."""
        distances = (self.centers_**2).sum(axis=1) - 2 * points @ self.centers_.T
        return np.asarray(distances.argmin(axis=1))

    def _centers(self, points: FloatArray, weights: FloatArray, amount: int) -> FloatArray:
        """(bins, directions): the centers of k-means, at most as many as there are different points."""
        from sklearn.cluster import KMeans
        from threadpoolctl import threadpool_limits

        amount = min(amount, len(np.unique(points.round(ROUNDED_DIGITS), axis=0)))
        with threadpool_limits(1):  # results must not depend on the number of threads
            means = KMeans(amount, n_init=KMEANS_STARTS, random_state=self.random_state)
            centers = means.fit(points, sample_weight=weights).cluster_centers_
        return np.asarray(centers[np.lexsort(centers.T[::-1])], np.float64)

    def _recurring(self, graphs: GraphSet, points: FloatArray, weights: FloatArray) -> FloatArray:
        """The centers of as many bins as let types of vertices recur (class docstring)."""
        others, held_out = random_60_and_40(np.zeros(len(graphs), np.int64), self.random_state)
        chosen = self._centers(points, weights, 2)
        amount = 4
        while len(held_out) and amount <= MOST_BINS:
            self.centers_ = self._centers(points, weights, amount)
            colored = self.transform(graphs)
            recurs = _recurrence(colored[others], colored[held_out]) >= LEAST_RECURRENCE
            if not recurs or len(self.centers_) == len(chosen):
                break
            chosen, amount = self.centers_, 2 * amount
        return chosen

    # ---- display and files -----------------------------------------------------------------------

    def __str__(self) -> str:
        return self.summary()

    def summary(self) -> str:
        """One line per bin: its share of the vertices of a graph, and the mean of every feature there."""
        if not hasattr(self, "centers_"):
            return repr(self)
        names = self.scale_.names or [f"feature {number}" for number in range(len(self.scale_.mean))]
        table = self.means_ * self.scale_.deviation + self.scale_.mean
        lines = ["bin  share  " + "  ".join(f"{name:>10}" for name in names)]
        for number, (share, row) in enumerate(zip(self.shares_, table, strict=True)):
            lines.append(f"{number:3d}  {share:5.3f}  " + "  ".join(f"{value:10.4g}" for value in row))
        return "\n".join(lines)

    @property
    def sentence(self) -> str:
        """What was done to the features, in one sentence."""
        features, bins = len(self.scale_.mean), len(self.centers_)
        return f"{plural(features, 'vertex feature').capitalize()} became {plural(bins, 'bin')} that color vertices."

    def state(self) -> dict[str, Any]:
        """What was learned, as a dictionary that JSON holds."""
        arrays = {name: getattr(self, name).tolist() for name in ("knots_", "whitening_", "centers_", "means_")}
        about = {"bins": self.bins, "random_state": self.random_state, "scale": self.scale_.state()}
        return about | {name.rstrip("_"): array for name, array in arrays.items()} | {"shares": self.shares_.tolist()}

    @staticmethod
    def from_state(about: Any) -> VertexBins:
        """What `state` returned; a ValueError for anything else."""
        state = _STATE(about, "bins")
        restored = VertexBins(state["bins"], state["random_state"])
        restored.scale_ = FeatureScale.from_state(state["scale"])
        features = len(restored.scale_.mean)
        directions = len(state["centers"][0]) if state["centers"] else 0
        bins = len(state["shares"])
        shapes = {
            "knots": (features, KNOTS), "whitening": (features, directions), "centers": (bins, directions),
            "means": (bins, features),
        }  # fmt: skip
        for name, (rows, columns) in shapes.items():
            if len(state[name]) != rows or not rows or any(len(row) != columns for row in state[name]):
                raise ValueError(f"bins.{name}: expected {rows} lists of {columns} numbers")
            setattr(restored, f"{name}_", np.array(state[name], np.float64).reshape(rows, columns))
        restored.shares_ = np.array(state["shares"])
        return restored

    def save(self, path: PathLike) -> None:
        """Write the bins to a JSON file; `VertexBins.load` reads it."""
        text = json.dumps({"format": FORMAT, "version": 1, **self.state()}, indent=1)
        with atomic_write(path) as part:
            part.write_text(text, encoding="utf-8")

    @staticmethod
    def load(path: PathLike) -> VertexBins:
        """Read what `save` wrote."""
        with open(path, "rb") as file:
            data = file.read()
        try:
            about = parse_json(data)
            if not isinstance(about, dict) or about.pop("format", None) != FORMAT or about.pop("version", None) != 1:
                raise ValueError("it is not a file of VertexBins.save")
            return VertexBins.from_state(about)
        except ValueError as error:
            raise ValueError(f"{path} holds no vertex bins: {reason_of(error)}") from None


def _whitening(scores: FloatArray, weights: FloatArray) -> FloatArray:
    """(features, directions): scores times this have uncorrelated columns of variance 1."""
    centered = scores - weights @ scores
    variances, vectors = np.linalg.eigh((centered * weights[:, None]).T @ centered)
    kept = variances > SMALLEST_VARIANCE * max(float(variances.max(initial=0.0)), np.finfo(np.float64).tiny)
    if not kept.any():  # all vertices are alike
        return np.zeros((scores.shape[1], 1))
    directions = vectors[:, kept] / np.sqrt(variances[kept])
    strongest = np.abs(directions).argmax(axis=0)
    return np.asarray(directions * np.sign(directions[strongest, np.arange(directions.shape[1])]))


def _recurrence(fitted: GraphSet, held_out: GraphSet) -> float:
    """The mean over held-out graphs of the share of their vertices whose type of depth one the fitted graphs have."""
    kernel = WLKernel(1).fit(fitted)
    known = kernel.refine(held_out).classes[1] < np.diff(kernel.offsets_)[1]
    return float(vertex_weights(held_out) @ known)


@dataclass(frozen=True, eq=False)
class FeatureCounts:
    """Counts of vertices, and of edges, by the bins of one feature after the other.

    Every feature has four bins, its quartiles over the training vertices, each with the weight 1 / n. Of every feature
    there are counts of the vertices in each bin, and of the edges between each two bins: small ones of features that
    vary smoothly over edges.

    Attributes:
        scale: mean and deviation of the features.
        cuts: (features, 3) the quartiles of standardized features.
    """

    scale: FeatureScale
    cuts: FloatArray

    @staticmethod
    def of(graphs: GraphSet) -> FeatureCounts | None:
        """Those of training graphs; None if they have no features.

        >>> edge = GraphSet.from_edges([(0, 1)], features=[1, 2])
        >>> counts = FeatureCounts.of(edge)
        >>> [counts.name(column) for column in counts.counts(edge).indices]
        ['feature 0 in bin 1', 'feature 0 in bin 3', 'feature 0 in bins 1 and 3 of an edge']
        """
        scale = FeatureScale.of(graphs)
        if scale is None or not len(graphs.degrees):
            return None
        shares = np.arange(1, QUARTERS) / QUARTERS
        return FeatureCounts(scale, weighted_quantiles(scale.apply(graphs), vertex_weights(graphs), shares))

    def counts(self, graphs: GraphSet) -> csr_array[np.float64]:
        """(graphs, columns): of every feature the four bins, then the pairs of bins as rows of a 4 x 4 table."""
        standard, graph_of = self.scale.apply(graphs), owners(graphs.first)
        source, target = owners(graphs.indptr), graphs.neighbors
        source, target = source[source < target], target[source < target]
        rows, columns = [], []
        for number, cuts in enumerate(self.cuts):
            bins = np.searchsorted(cuts, standard[:, number])
            ends = np.sort([bins[source], bins[target]], axis=0)
            start = number * COLUMNS_PER_FEATURE
            rows += [graph_of, graph_of[source]]
            columns += [start + bins, start + QUARTERS + ends[0] * QUARTERS + ends[1]]
        where = np.concatenate(rows), np.concatenate(columns)
        return short_indices(csr_array((np.ones(len(where[0])), where), shape=(len(graphs), self.width)))

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.cuts) * COLUMNS_PER_FEATURE

    def name(self, column: int) -> str:
        """What a column counts."""
        number, part = divmod(column, COLUMNS_PER_FEATURE)
        name = self.scale.names[number] if self.scale.names else f"feature {number}"
        if part < QUARTERS:
            return f"{name} in bin {part + 1}"
        low, high = divmod(part - QUARTERS, QUARTERS)
        return f"{name} in bins {low + 1} and {high + 1} of an edge"

    def state(self) -> dict[str, Any]:
        """A dictionary that JSON holds."""
        return {"scale": self.scale.state(), "cuts": self.cuts.tolist()}

    @staticmethod
    def from_state(about: Any) -> FeatureCounts:
        """What `state` returned; a ValueError for anything else."""
        state = _COUNTS_STATE(about, "features")
        scale = FeatureScale.from_state(state["scale"])
        if len(state["cuts"]) != len(scale.mean):
            raise ValueError("features.cuts: expected three numbers for every feature")
        return FeatureCounts(scale, np.array(state["cuts"], np.float64).reshape(-1, QUARTERS - 1))


def count_groups(columns: IntArray) -> IntArray:
    """(columns,): what columns of `FeatureCounts` have in common that count vertices, or edges, by one feature."""
    return np.asarray(2 * (columns // COLUMNS_PER_FEATURE) + (columns % COLUMNS_PER_FEATURE >= QUARTERS))


_MATRIX = list_of(list_of(real()))
_STATE = fields(
    {
        "bins": optional(integer(1)),
        "random_state": integer(0),
        "scale": lambda value, _: value,  # see `FeatureScale.from_state`
        "knots": _MATRIX,
        "whitening": _MATRIX,
        "centers": _MATRIX,
        "means": _MATRIX,
        "shares": list_of(real(0)),
    }
)
_COUNTS_STATE = fields({"scale": lambda value, _: value, "cuts": list_of(list_of(real(), QUARTERS - 1))})
