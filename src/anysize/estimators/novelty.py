"""What new graphs are compared with before they are classified: the colors and the shapes of the training graphs.

A model answers whatever it is asked, with a probability near 1 if need be. Three things it cannot say of itself: that
it never met a color, that a graph has no pattern to go by, and that graphs are composed unlike any it was trained on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._typing import FloatArray, IntArray
from anysize.counting.counts import Counts
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import connected_patterns

GraphsOrCounts = GraphSet | Counts

KEPT = 128  # training graphs that new ones are compared with, drawn from all: the file stays small, predicting fast
WIDTH = 64  # patterns that are told apart: the most common ones, and all others as one
FEWEST = 20  # training graphs: fewer do not show how far apart graphs of one kind may lie
SEVERAL = 10  # new graphs: of fewer, only those that are farther away than chance explains are told
USUAL = 0.95  # the share of training graphs that lie within the usual distance of others
LEAST = 0.01  # shares that differ by a hundredth are no other kind of graph
ALONE = 4.0  # times the usual distance is far for a single graph, if it is also
FARTHER = 2.0  # times the distance of the outermost training graph
ROWS = 64  # new graphs that are compared at a time: such small products stay in one thread, and in the cache


@dataclass(frozen=True, eq=False)
class ShapeReference:
    """How training graphs are composed: shares among connected k-subsets, colors ignored.

    Shares, because densities over subsets fall with size in sparse graphs; colors ignored, because a shift of
    colors is what methods are made for. A graph is as far away as its m-th nearest training graph, m the root of
    their number, by the Euclidean distance of the shares.

    Attributes:
        k: the vertices of the patterns.
        place: of the patterns told apart, in the catalog; all others are the last column of ``shares``.
        shares: (training graphs, patterns + 1).
        size: the median number of vertices of the training graphs.
        largest: the distance of the training graph that is farthest away from those kept.
    """

    k: int
    place: IntArray
    shares: NDArray[np.float32]
    size: float
    largest: float

    @staticmethod
    def of(counts: Counts) -> ShapeReference | None:
        """Those of a table; None where too few graphs have patterns."""
        k = int(counts.columns.size.max(initial=1))
        full = _shares(counts, k, np.arange(len(connected_patterns(k))))[:, :-1]
        there = np.flatnonzero(full.any(axis=1))
        if len(there) < FEWEST:
            return None
        chosen = np.sort(np.random.default_rng(0).permutation(there)[:KEPT])
        place = np.sort(np.argsort(-full[chosen].mean(axis=0), kind="stable")[:WIDTH])
        shares = _shares(counts, k, place).astype(np.float32)
        shapes = ShapeReference(k, place, shares[chosen], float(np.median(counts.sizes[chosen])), 0.0)
        left = np.setdiff1d(there, chosen)
        distances = (shapes._distances(shapes.shares, itself=True), shapes._distances(shares[left]))
        return replace(shapes, largest=float(np.concatenate(distances).max()))

    @cached_property
    def limits(self) -> tuple[float, float]:
        """The usual distance of a training graph from the others, and the distance at which one graph alone is far."""
        own = self._distances(self.shares, itself=True)
        usual = max(float(np.quantile(own, USUAL)), LEAST)
        return usual, max(ALONE * usual, FARTHER * self.largest)

    def far(self, counts: Counts) -> NDArray[np.bool_]:
        """(graphs,): which graphs lie far from all that training had; none where that may be chance.

        Far is a set of which most graphs lie beyond the usual distance, and a single graph far beyond it. Graphs that
        are smaller than those of training have noisier shares, by up to the square of the ratio of the sizes.
        """
        shares = _shares(counts, self.k, self.place)
        there = shares.any(axis=1)
        distance = self._distances(shares) / np.maximum(self.size / np.maximum(counts.sizes, 1), 1) ** 2
        usual, alone = self.limits
        beyond: NDArray[np.bool_] = there & (distance > usual)
        if there.sum() >= SEVERAL and beyond.sum() > there.sum() / 2:
            return beyond
        alone_far: NDArray[np.bool_] = there & (distance > alone)
        return alone_far

    def _distances(self, shares: NDArray[Any], itself: bool = False) -> FloatArray:
        """From each row to its m-th nearest training graph, not counting itself if it is one of them."""
        nth = isqrt(len(self.shares)) - (0 if itself else 1)
        half = (self.shares**2).sum(axis=1) / 2  # |p - q|^2 / 2 = |p|^2 / 2 + (|q|^2 / 2 - p q)
        nearest = np.zeros(len(shares))
        for start in range(0, len(shares), ROWS):
            part = half - shares[start : start + ROWS].astype(np.float32) @ self.shares.T
            nearest[start : start + ROWS] = np.partition(part, nth, axis=1)[:, nth]
        return np.asarray(np.sqrt(np.maximum((shares**2).sum(axis=1) + 2 * nearest, 0)))


def _shares(counts: Counts, k: int, place: IntArray) -> FloatArray:
    """(graphs, places + 1): shares among all connected k-subsets, those of other patterns in the last column."""
    column = np.full(len(connected_patterns(k)), len(place), np.int64)
    column[place] = np.arange(len(place))
    here = np.where(counts.columns.size == k, column[np.minimum(counts.columns.pattern_index, len(column) - 1)], -1)
    width = len(place) + 1
    to = here[counts.matrix.indices]
    row = np.repeat(np.arange(len(counts)), np.diff(counts.matrix.indptr))
    kept = to >= 0
    cells = np.bincount((row * width + to)[kept], counts.matrix.data[kept], minlength=len(counts) * width)
    sums = cells.astype(np.float64).reshape(len(counts), width)  # without any cell, bincount gives integers
    whole = sums.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(sums, whole, out=np.zeros_like(sums), where=whole > 0), np.float64)


@dataclass(frozen=True, eq=False)
class NoveltyDetector:
    """What training has shown: ``colors`` that occurred (None: graphs without, or a method that is blind to them),
    and ``shapes``, for methods that look at patterns."""

    colors: tuple[ColorName, ...] | None
    shapes: ShapeReference | None

    @staticmethod
    def of(source: GraphsOrCounts, table: Counts | None, colored: bool) -> NoveltyDetector:
        """Of training graphs, as a user passed them, and their table of patterns where the method looks at one."""
        seen = None
        if colored and _colored(source):
            seen = tuple(source.palette[code] for code in np.flatnonzero(_occurring(source)))
        return NoveltyDetector(seen, None if table is None else ShapeReference.of(table))

    def warnings(self, source: GraphsOrCounts, table: Counts | None, least: int) -> Iterator[str]:
        """A sentence for each reason not to trust the predictions for new graphs; ``least``: the smallest k."""
        if self.colors is not None and _colored(source):
            yield from self._strangers(source)
        if table is None or not len(table):
            return
        empty = int((np.diff(table.matrix.indptr) == 0).sum())
        if empty:
            yield (
                f"{_some(empty, len(table), 'has', 'have')} no connected subgraph on {least} vertices: there is no "
                "pattern for a prediction to rest on, and all such graphs get the same one; take a smaller k"
            )
        far = 0 if self.shapes is None else int(self.shapes.far(table).sum())
        if far:
            yield (
                f"{_some(far, len(table), 'lies', 'lie')} far from all training graphs in how common patterns are: the "
                "model was not trained for such graphs, whatever probability it gives; anysize diagnose compares both"
            )

    def _strangers(self, source: GraphsOrCounts) -> Iterator[str]:
        known = frozenset(self.colors or ())
        strange = np.array([name not in known for name in source.palette], bool)
        if strange.any():
            strange &= _occurring(source)
        if not strange.any():
            return
        own, whole = _vertices(source, strange)
        there = own > 0
        names = [str(source.palette[code]) for code in np.flatnonzero(strange)]
        listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
        share = own[there].sum() / whole[there].sum()
        of_what = "vertices" if isinstance(source, GraphSet) else "vertices in patterns"
        yield (
            f"{_some(int(there.sum()), len(source), 'has', 'have')} colors that no training graph had ({listed}), "
            f"{100 * share:.3g} % of {'its' if there.sum() == 1 else 'their'} {of_what}: the model has learned nothing "
            "about them"
        )

    # ---- as plain arrays -----------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """A dictionary that JSON holds, and plain arrays."""
        about: dict[str, Any] = {"colors": None if self.colors is None else list(self.colors)}
        if self.shapes is None:
            return about, {}
        about |= {"k": self.shapes.k, "size": self.shapes.size, "largest": self.shapes.largest}
        return about, {"place": self.shapes.place, "shares": self.shapes.shares}

    @staticmethod
    def from_state(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> NoveltyDetector:
        """From what `state` gave."""
        shapes = None
        if "shares" in arrays:
            shapes = ShapeReference(about["k"], arrays["place"], arrays["shares"], about["size"], about["largest"])
        return NoveltyDetector(None if about["colors"] is None else tuple(about["colors"]), shapes)


def _some(amount: int, whole: int, one: str, many: str) -> str:
    """Such as "2 of 8 graphs have", with the verb for one or for many."""
    return f"{amount} of {whole} graph{'' if whole == 1 else 's'} {one if amount == 1 else many}"


def _colored(source: GraphsOrCounts) -> bool:
    return (source.columns if isinstance(source, Counts) else source).colors is not None


def _occurring(source: GraphsOrCounts) -> NDArray[np.bool_]:
    """Which colors of the palette a vertex of the graphs has, or a pattern that occurs in them."""
    if isinstance(source, GraphSet):
        assert source.colors is not None
        return np.bincount(source.colors, minlength=len(source.palette)) > 0
    columns = source.columns[np.bincount(source.matrix.indices, minlength=len(source.columns)) > 0]
    assert columns.colors is not None
    inside = np.arange(columns.colors.shape[1]) < columns.size[:, None]
    return np.bincount(columns.colors[inside], minlength=len(source.palette)) > 0


def _vertices(source: GraphsOrCounts, strange: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
    """Of every graph, the vertices of strange colors and all of them; in a table, over the copies of its patterns."""
    if isinstance(source, GraphSet):
        assert source.colors is not None
        graph = np.searchsorted(source.first, np.flatnonzero(strange[source.colors]), side="right") - 1
        return np.bincount(graph, minlength=len(source)).astype(np.float64), source.sizes.astype(np.float64)
    columns = source.columns
    assert columns.colors is not None
    inside = np.arange(columns.colors.shape[1]) < columns.size[:, None]
    per_pattern = (strange[columns.colors] & inside).sum(axis=1)
    return _times(source, per_pattern), _times(source, columns.size)


def _times(counts: Counts, amounts: NDArray[Any]) -> FloatArray:
    """(graphs,): a number of every pattern, summed over its copies."""
    return np.asarray(counts.matrix.astype(np.float64) @ amounts.astype(np.float64), np.float64)
