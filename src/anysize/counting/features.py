"""Features of graphs for cost and memory estimates: sizes, sums over degrees, colors, and small samples."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from math import factorial, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import comb

from anysize._typing import FloatArray
from anysize.counting.engines.threads import Threads
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners
from anysize.patterns.pattern import connected_patterns

SAMPLED_WEDGES = 4000  # to estimate the share of closed ones
MAX_SAMPLED_GRAPHS = 16  # of a larger set, this many are sampled to represent all
DEFAULT_PATTERNS_PER_SET = 0.1  # distinct patterns per connected set, before `estimate_sets`
ENTRIES_AT_ONCE = 1 << 22  # entries of lists of neighbors, of which several arrays are made
SAMPLED_MAPS = 20_000  # of trees, to estimate the number of connected sets


class Features:
    """Features of every graph of a set, computed on first use."""

    def __init__(self, graphs: GraphSet) -> None:
        self.graphs = graphs
        self.n = graphs.sizes.astype(np.float64)
        self.edges = graphs.edge_counts.astype(np.float64)
        self._sets: dict[int, FloatArray] = {}
        self._patterns: dict[int, tuple[FloatArray, float]] = {}

    @cached_property
    def _graph(self) -> NDArray[np.int64]:
        """The graph of every vertex."""
        return owners(self.graphs.first)

    def _total(self, values: FloatArray) -> FloatArray:
        return np.bincount(self._graph, values, len(self.graphs)).astype(np.float64)

    @cached_property
    def _degrees(self) -> FloatArray:
        return self.graphs.degrees.astype(np.float64)

    def _over_neighbors(self, values: NDArray[Any]) -> FloatArray:
        """For every vertex the sum of the values of its neighbors, some millions of edges at a time."""
        indptr, sums = self.graphs.indptr, np.zeros(len(values))
        cuts = np.searchsorted(indptr, np.arange(0, indptr[-1] + ENTRIES_AT_ONCE, ENTRIES_AT_ONCE))
        for start, stop in pairwise(np.unique(cuts.clip(max=len(values))).tolist()):
            lengths = np.diff(indptr[start : stop + 1])
            first = self.graphs.first[self._graph[start:stop]]
            near = self.graphs.indices[indptr[start] : indptr[stop]] + np.repeat(first, lengths)
            sums[start:stop] = np.bincount(np.repeat(np.arange(stop - start), lengths), values[near], stop - start)
        return sums

    @cached_property
    def wedges(self) -> FloatArray:
        """The number of pairs of neighbors of a vertex, summed over the vertices."""
        return self._total(self._degrees * (self._degrees - 1) / 2)

    @cached_property
    def max_degree(self) -> FloatArray:
        result = np.zeros(len(self.graphs))
        np.maximum.at(result, self._graph, self._degrees)
        return result

    @cached_property
    def _core_degrees(self) -> FloatArray:
        """The number of neighbors of degree three or more of every vertex."""
        return self._over_neighbors(self._degrees > 2)

    @cached_property
    def walks(self) -> FloatArray:
        """The number of wedges whose ends have degree three or more."""
        return self._total(self._core_degrees * (self._core_degrees - 1) / 2)

    @cached_property
    def triangle_steps(self) -> FloatArray:
        """The approximate number of steps of the loops over triangles in clustered graphs."""
        return self._total(self._core_degrees * self._core_degrees * np.minimum(self._core_degrees, 64))

    @cached_property
    def trees(self) -> dict[int, FloatArray]:
        """The approximate number of subtrees on k vertices: a bound on the connected k-sets."""
        d = self._degrees
        reach = self._over_neighbors(d - 1)
        paths4 = self._total(d * reach) / 2 - self._total(d * (d - 1)) / 2
        four = np.maximum(paths4, 0) + self._total(d * (d - 1) * (d - 2) / 6)
        five = self._total(reach**2 / 2 + reach * (d - 1) * (d - 2) / 2 + d * (d - 1) * (d - 2) * (d - 3) / 24)
        growth = np.maximum(five, 1) / np.maximum(four, 1)
        return {3: self.wedges, 4: four, 5: five, 6: five * growth, 7: five * growth**2}

    @cached_property
    def colors(self) -> FloatArray:
        """The number of distinct colors of each graph; 1 without colors."""
        if self.graphs.colors is None:
            return np.ones(len(self.graphs))
        cells = np.unique(self._graph * (1 << 16) + self.graphs.colors.astype(np.int64))
        return np.maximum(np.bincount(cells >> 16, minlength=len(self.graphs)), 1).astype(np.float64)

    def sets(self, k: int) -> FloatArray:
        """The number of connected k-sets: an upper bound, or an estimate after `estimate_sets`."""
        if k in self._sets:
            return self._sets[k]
        return np.asarray(np.minimum(self.trees[k], self.subsets(k)), np.float64)

    def subsets(self, k: int) -> FloatArray:
        """The number of k-sets of vertices, C(n, k)."""
        return np.asarray(comb(self.n, k))

    # ---- estimates from samples ----------------------------------------------------------------------

    @cached_property
    def triangles_per_edge(self) -> FloatArray:
        """The mean number of triangles at an edge, from random wedges: of each graph, or of all of a large set."""
        pairs = self._degrees * (self._degrees - 1) / 2
        share = np.zeros(len(self.graphs))
        if len(self.graphs) > MAX_SAMPLED_GRAPHS:
            share[:] = self._closed_share(pairs, 0, len(self._degrees))
        else:
            for number in range(len(self.graphs)):
                share[number] = self._closed_share(pairs, *map(int, self.graphs.first[number : number + 2]))
        return share * self.wedges / np.maximum(self.edges, 1)

    def _closed_share(self, pairs: FloatArray, start: int, stop: int) -> float:
        """The share of closed wedges among those with their middle in start .. stop."""
        running = np.cumsum(pairs[start:stop])
        if not len(running) or running[-1] <= 0:
            return 0.0
        random = np.random.default_rng(0)
        middle = start + np.searchsorted(running, random.random(SAMPLED_WEDGES) * running[-1], "right")
        first, degree = self.graphs.indptr[middle], self.graphs.degrees[middle]
        slot = random.integers(0, degree)
        second = (slot + random.integers(1, degree)) % degree
        begin = self.graphs.first[self._graph[middle]]
        indices = self.graphs.indices
        return float(self._adjacent(begin + indices[first + slot], indices[first + second].astype(np.int64)).mean())

    def _adjacent(self, vertex: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each vertex (numbered through the set) has this neighbor (numbered in its graph): binary search."""
        low, high = self.graphs.indptr[vertex], self.graphs.indptr[vertex + 1]
        last = high.copy()
        while (low < high).any():
            middle = (low + high) // 2
            open_ = low < high
            below = open_ & (self.graphs.indices[np.where(open_, middle, 0)] < other)
            low, high = np.where(below, middle + 1, low), np.where(open_ & ~below, middle, high)
        inside = low < last
        return np.asarray(inside & (self.graphs.indices[np.where(inside, low, 0)] == other))

    def estimate_sets(self, k: int) -> None:
        """Estimate connected k-sets and their patterns from samples of each graph, or of some of a large set."""
        if k in self._sets or not self.sets(k).sum() > 0:
            return
        if k > 3:
            self.estimate_sets(k - 1)
        bound = self.sets(k)
        numbers = np.arange(len(bound))
        if len(bound) > MAX_SAMPLED_GRAPHS:
            numbers = np.random.default_rng(0).choice(len(bound), MAX_SAMPLED_GRAPHS, p=bound / bound.sum())
        samples = [_sample_sets(self.graphs[int(number)], k) for number in numbers]
        share = np.array([sample.sets / bound[number] for sample, number in zip(samples, numbers, strict=True)])
        patterns_per_set = np.array([sample.patterns / max(sample.sets, 1) for sample in samples])
        unique = 1.0  # the share of the patterns of a graph that no other graph has
        if len(bound) > MAX_SAMPLED_GRAPHS:
            share, patterns_per_set = share.mean(), patterns_per_set.mean()
            distinct = len(np.unique(np.concatenate([sample.packed for sample in samples]), axis=0))
            unique = distinct / max(sum(len(sample.packed) for sample in samples), 1)
            unique *= sqrt(MAX_SAMPLED_GRAPHS / len(bound))
        self._sets[k] = np.asarray(bound * share)
        self._patterns[k] = np.asarray(self._sets[k] * np.minimum(patterns_per_set, 1)), unique

    def patterns(self, k: int) -> tuple[FloatArray, float]:
        """The approximate number of patterns in each graph, and the share of them that no other graph has."""
        if k in self._patterns:
            return self._patterns[k]
        return self.sets(k) * DEFAULT_PATTERNS_PER_SET, DEFAULT_PATTERNS_PER_SET

    def max_patterns(self, k: int) -> FloatArray:
        """An upper bound, up to rounding, on the number of patterns that occur in each graph."""
        if self.graphs.colors is None:
            return np.full(len(self.n), float(len(connected_patterns(k))))
        return np.asarray(np.minimum(self.sets(k) if k > 2 else self.n + self.edges, colored_patterns(k, self.colors)))


def colored_patterns(k: int, colors: FloatArray) -> FloatArray:
    """The approximate number of patterns on k vertices with that many colors; most colorings have no symmetry.

    >>> [round(float(amount)) for amount in colored_patterns(5, np.array([1.0, 8.0]))]  # exactly: 21 and 228,088
    [21, 258430]
    """
    labeled = sum(factorial(k) / pattern.automorphisms for pattern in connected_patterns(k))
    return np.asarray(np.maximum(1.3 * labeled / factorial(k) * colors**k, len(connected_patterns(k)) * colors))


class _SetSample(NamedTuple):
    sets: float
    patterns: float
    packed: NDArray[np.uint64]  # the patterns that were hit


def _sample_sets(graph: GraphSet, k: int) -> _SetSample:
    """Sample one graph; the number of patterns is Chao's estimate from those that were hit once and twice."""

    def estimate() -> tuple[float, NDArray[np.uint64], NDArray[np.int64]]:
        from anysize.counting.sampling.sampler import estimate_connected_sets

        return estimate_connected_sets(graph, k, SAMPLED_MAPS)

    sets, packed, hits = Threads().interruptible(estimate)
    once, twice = float((hits == 1).sum()), float((hits == 2).sum())
    return _SetSample(sets, min(len(hits) + once * max(once - 1, 0) / (2 * (twice + 1)), sets), packed)
