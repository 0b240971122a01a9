"""What the plan sees of graphs: sizes, sums over degrees, colors; and where that does not do, a small sample."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anysize._typing import FloatArray
from anysize.graphs.graphset import GraphSet

WEDGES = 4000  # looked at, to see how many are closed
FEW = 16  # graphs that are looked at one by one; of more, so many stand for all
UNSEEN_PATTERNS = 0.1  # patterns per connected set, where nobody has looked
MAPS = 20_000  # of trees, drawn to see how many connected sets there are


class Features:
    """What the estimates see of every graph of a set."""

    def __init__(self, graphs: GraphSet) -> None:
        self.graphs = graphs
        self.n = graphs.sizes.astype(np.float64)
        self.edges = graphs.edge_counts.astype(np.float64)
        self._found: dict[int, FloatArray] = {}
        self._patterns: dict[int, tuple[FloatArray, float]] = {}

    @cached_property
    def _graph(self) -> NDArray[np.int64]:
        """The graph of every vertex."""
        return np.repeat(np.arange(len(self.graphs)), self.graphs.sizes)

    def _total(self, values: FloatArray) -> FloatArray:
        return np.bincount(self._graph, values, len(self.graphs)).astype(np.float64)

    @cached_property
    def _d(self) -> FloatArray:
        return self.graphs.degrees.astype(np.float64)

    @cached_property
    def _ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Both ends of every edge, in both directions, numbered through the set."""
        source = np.repeat(np.arange(len(self._d)), self.graphs.degrees)
        return source, self.graphs.indices + self.graphs.first[self._graph[source]]

    @cached_property
    def wedges(self) -> FloatArray:
        """Pairs of neighbors of a vertex."""
        return self._total(self._d * (self._d - 1) / 2)

    @cached_property
    def largest(self) -> FloatArray:
        """The largest degree of each graph."""
        most = np.zeros(len(self.graphs))
        np.maximum.at(most, self._graph, self._d)
        return most

    @cached_property
    def _busy(self) -> FloatArray:
        """Neighbors with at least three neighbors: the others close no cycle that is looked for."""
        source, target = self._ends
        return np.bincount(source, self._d[target] > 2, len(self._d)).astype(np.float64)

    @cached_property
    def walks(self) -> FloatArray:
        """Wedges with busy ends."""
        return self._total(self._busy * (self._busy - 1) / 2)

    @cached_property
    def crowd(self) -> FloatArray:
        """About how many steps it takes to look around the triangles of clustered graphs."""
        return self._total(self._busy * self._busy * np.minimum(self._busy, 64))

    @cached_property
    def trees(self) -> dict[int, FloatArray]:
        """Subtrees on k vertices, or about so many: a bound on the connected k-sets."""
        d = self._d
        source, target = self._ends
        reach = np.bincount(source, d[target] - 1, len(d))
        paths4 = self._total(d * reach) / 2 - self._total(d * (d - 1)) / 2
        four = np.maximum(paths4, 0) + self._total(d * (d - 1) * (d - 2) / 6)
        five = self._total(reach**2 / 2 + reach * (d - 1) * (d - 2) / 2 + d * (d - 1) * (d - 2) * (d - 3) / 24)
        growth = np.maximum(five, 1) / np.maximum(four, 1)
        return {3: self.wedges, 4: four, 5: five, 6: five * growth, 7: five * growth**2}

    @cached_property
    def colors(self) -> FloatArray:
        """Different colors in each graph; 1 where there are none."""
        if self.graphs.colors is None:
            return np.ones(len(self.graphs))
        cells = np.unique(self._graph * (1 << 16) + self.graphs.colors.astype(np.int64))
        return np.maximum(np.bincount(cells >> 16, minlength=len(self.graphs)), 1).astype(np.float64)

    def sets(self, k: int) -> FloatArray:
        """About how many connected k-sets there are: at most, or as `look` found."""
        if k in self._found:
            return self._found[k]
        everything = np.ones(len(self.n))  # C(n, k)
        for taken in range(k):
            everything *= np.maximum(self.n - taken, 0) / (taken + 1)
        return np.asarray(np.minimum(self.trees[k], everything), np.float64)

    # ---- pilots ----------------------------------------------------------------------------------

    @cached_property
    def closed(self) -> FloatArray:
        """Triangles at an edge, on average, from random wedges: of each graph, or with one share for many graphs."""
        pairs = self._d * (self._d - 1) / 2
        share = np.zeros(len(self.graphs))
        if len(self.graphs) > FEW:
            share[:] = self._closed_share(pairs, 0, len(self._d))
        else:
            for number in range(len(self.graphs)):
                share[number] = self._closed_share(pairs, *map(int, self.graphs.first[number : number + 2]))
        return share * self.wedges / np.maximum(self.edges, 1)

    def _closed_share(self, pairs: FloatArray, start: int, stop: int) -> float:
        """The share of wedges with their middle in start .. stop whose ends are joined."""
        running = np.cumsum(pairs[start:stop])
        if not len(running) or running[-1] <= 0:
            return 0.0
        random = np.random.default_rng(0)
        middle = start + np.searchsorted(running, random.random(WEDGES) * running[-1], "right")
        first, degree = self.graphs.indptr[middle], self.graphs.degrees[middle]
        one = random.integers(0, degree)
        other = (one + random.integers(1, degree)) % degree
        begin = self.graphs.first[self._graph[middle]]
        indices = self.graphs.indices
        return float(self._joined(begin + indices[first + one], indices[first + other].astype(np.int64)).mean())

    def _joined(self, vertex: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each vertex (of the set) has this neighbor (by its number in the graph): binary searches at once."""
        low, high = self.graphs.indptr[vertex], self.graphs.indptr[vertex + 1]
        last = high.copy()
        while (low < high).any():
            middle = (low + high) // 2
            open_ = low < high
            below = open_ & (self.graphs.indices[np.where(open_, middle, 0)] < other)
            low, high = np.where(below, middle + 1, low), np.where(open_ & ~below, middle, high)
        inside = low < last
        return np.asarray(inside & (self.graphs.indices[np.where(inside, low, 0)] == other))

    def look(self, k: int) -> None:
        """Estimate connected sets, and patterns among them, from samples: of each graph, or of some for all."""
        if k in self._found or not self.sets(k).sum() > 0:
            return
        if k > 3:
            self.look(k - 1)
        bound = self.sets(k)
        chosen = np.arange(len(bound))
        if len(bound) > FEW:
            chosen = np.random.default_rng(0).choice(len(bound), FEW, p=bound / bound.sum())
        seen = [_glimpse(self.graphs[int(number)], k) for number in chosen]
        share = np.array([one.sets / bound[number] for one, number in zip(seen, chosen, strict=True)])
        new = np.array([one.patterns / max(one.sets, 1) for one in seen])
        alike = np.ones(1)
        if len(bound) > FEW:  # one share for all; patterns of one graph are met again in others
            share, new = share.mean(), new.mean()
            distinct = len(np.unique(np.concatenate([one.words for one in seen]), axis=0))
            alike = distinct / max(sum(len(one.words) for one in seen), 1) * np.sqrt(FEW / len(bound))
        self._found[k] = np.asarray(bound * share)
        self._patterns[k] = np.asarray(self._found[k] * np.minimum(new, 1)), float(np.mean(alike))

    def patterns(self, k: int) -> tuple[FloatArray, float]:
        """About how many patterns occur in each graph, and the share of them that no other graph has."""
        if k in self._patterns:
            return self._patterns[k]
        return self.sets(k) * UNSEEN_PATTERNS, UNSEEN_PATTERNS


class _Seen(NamedTuple):
    sets: float
    patterns: float
    words: NDArray[np.uint64]


def _glimpse(graph: GraphSet, k: int) -> _Seen:
    """Samples of one graph. How many patterns there are in all is Chao's estimate from those met once and twice."""
    from anysize.counting.sampling.estimator import glimpse

    sets, words, hits = glimpse(graph, k, MAPS)
    once, twice = float((hits == 1).sum()), float((hits == 2).sum())
    return _Seen(sets, min(len(hits) + once * max(once - 1, 0) / (2 * (twice + 1)), sets), words)
