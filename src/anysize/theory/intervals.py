"""Intervals for densities from the graphs themselves: the vertex jackknife, tighter than any bound for all graphons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from anysize._typing import FloatArray
from anysize.counting.api import count
from anysize.graphs.assembly import assemble
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import offsets, ranges
from anysize.patterns.pattern import Pattern


@dataclass(frozen=True, eq=False)
class DensityIntervals:
    """Densities of graphs (graphs, patterns), and by how much they move without each group of vertices.

    ``leave_outs`` has the shape (groups, graphs, patterns). The intervals are about the graphon's expected
    densities, of which a graph is one draw. A pattern without a copy has the standard error 0: the graph says
    nothing about it.
    """

    patterns: tuple[Pattern, ...]
    densities: FloatArray
    leave_outs: FloatArray
    sizes: NDArray[np.int64]

    @property
    def groups(self) -> int:
        """How many groups were left out, one at a time."""
        return len(self.leave_outs)

    @cached_property
    def standard_errors(self) -> FloatArray:
        """Of every density, shape (graphs, patterns)."""
        return np.asarray(np.sqrt((self._influences() ** 2).sum(axis=0)))

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Ends (graphs, patterns) that hold a pattern's expected density with about this probability."""
        from scipy.stats import t

        half = float(t.isf((1 - _share(level)) / 2, self.groups - 1)) * self.standard_errors
        return np.clip(self.densities - half, 0, 1), np.clip(self.densities + half, 0, 1)

    def predicted_gap(self, n_test: int, delta: float = 0.05, draws: int = 2000, seed: int = 0) -> FloatArray:
        """For each graph an epsilon that the gap to a graph of n_test vertices exceeds with probability delta.

        The data-driven counterpart of `epsilon_reached`: sums of the groups' influences with normal weights
        stand for the deviations of all patterns together, scaled by sqrt(1 + N / n_test) for the other graph.
        """
        if n_test < 1:
            raise ValueError(f"n_test is a number of vertices of at least 1; got {n_test!r}")
        weights = _stream(seed, 2).standard_normal((draws, self.groups))
        influences = self._influences()
        largest = [
            np.quantile(np.abs(weights @ influences[:, graph]).max(axis=1, initial=0.0), 1 - _share(delta))
            for graph in range(len(self.sizes))
        ]
        return np.asarray(np.minimum(largest * np.sqrt(1 + self.sizes / n_test), 1.0))

    def _influences(self) -> FloatArray:
        """What each group adds to a density: squares sum to the variance (groups - 1) / groups * sum (t_b - mean)^2."""
        moved = self.leave_outs - self.leave_outs.mean(axis=0)
        return np.asarray(np.sqrt((self.groups - 1) / self.groups) * moved)


def density_intervals(
    graphs: GraphSet,
    k: int | Iterable[int],
    *,
    colors: bool = True,
    groups: int = 40,
    seed: int = 0,
) -> DensityIntervals:
    """Standard errors of densities over subsets, by leaving out groups of vertices.

    The vertices of a graph fall at random into equal groups; with t_b the density without group b, the variance
    is (B - 1) / B * sum_b (t_b - mean)^2. Where the density of a pattern is a sum of many vertices' shares, this
    is right; where only edges vary, as in an Erdos-Renyi graph, it is on the safe side (standard errors are half
    as large again). It takes groups x graphs x patterns numbers of memory.

    Args:
        graphs: at least k + 1 vertices each.
        k: pattern size, or several.
        colors: whether patterns are told apart by colors.
        groups: how many; at most the vertices of the smallest graph, which is then leave-one-out.
        seed: of the groups.
    """
    whole = count(graphs, k, colors)
    largest = int(whole.columns.size.max(initial=1))
    if not len(graphs) or graphs.sizes.min() <= largest:
        raise ValueError(f"a jackknife needs graphs of more than {largest} vertices; the smallest here has fewer")
    groups = min(groups, int(graphs.sizes.min()))
    if groups < 2:
        raise ValueError(f"a jackknife needs at least 2 groups; got {groups}")
    own = _groups(graphs, groups, _stream(seed, 1))
    center = whole.densities().toarray()
    moved = np.empty((groups, *whole.shape))
    for group in range(groups):
        left = count(induced(graphs, own != group), k, colors).align(whole)
        moved[group] = left.densities().toarray() - center
    return DensityIntervals(whole.patterns, center, moved, graphs.sizes)


def induced(graphs: GraphSet, keep: NDArray[np.bool_]) -> GraphSet:
    """The graphs on the vertices that are kept, one boolean per vertex of the set.

    Examples:
        >>> path = GraphSet.from_edges([(0, 1), (1, 2), (2, 3)])
        >>> induced(path, np.array([True, True, False, True])).edges().tolist()
        [[0, 1]]
    """
    sizes = np.diff(offsets(keep.astype(np.int64))[graphs.first])
    number = np.cumsum(keep) - 1
    start = np.repeat(graphs.first[:-1], graphs.sizes)
    source = np.repeat(np.arange(len(keep)), graphs.degrees)
    target = graphs.indices + np.repeat(start, graphs.degrees)
    stays = keep[source] & keep[target] & (source < target)
    colors = None if graphs.colors is None else graphs.colors[keep]
    return assemble(sizes, number[source[stays]], number[target[stays]], colors, graphs.palette, graphs.y)


def _groups(graphs: GraphSet, groups: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """The group of every vertex of the set: random, and as equal in size as can be inside each graph."""
    rank = np.lexsort((rng.random(int(graphs.first[-1])), np.repeat(np.arange(len(graphs)), graphs.sizes)))
    own = np.empty(len(rank), np.int64)
    own[rank] = ranges(np.zeros(len(graphs), np.int64), graphs.sizes) % groups
    return own


def _stream(seed: int, purpose: int) -> np.random.Generator:
    """A generator of its own: graphs are often drawn with the same seed, and groups must not follow their U."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose,)))


def _share(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError(f"a level or delta is a probability between 0 and 1; got {value!r}")
    return value
