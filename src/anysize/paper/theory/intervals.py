"""Jackknife intervals for densities, estimated from the graphs: tighter than bounds that hold for all graphons."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anysize._memory import check_table
from anysize._typing import FloatArray, IntArray
from anysize.counting.api import count
from anysize.graphs.assembly import induced_subgraphs
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners, ranges
from anysize.patterns.pattern import Pattern


@dataclass(frozen=True, eq=False)
class DensityIntervals:
    """Densities of graphs, and their changes if a group of vertices is left out.

    ``densities`` has the shape (graphs, patterns), ``leave_outs`` the shape (groups, graphs, patterns). The intervals
    are for the expected densities of the graphon from which a graph was drawn. A pattern that does not occur has the
    standard error 0: the graph has no information about it.
    """

    patterns: tuple[Pattern, ...]
    densities: FloatArray
    leave_outs: FloatArray
    sizes: IntArray

    @property
    def groups(self) -> int:
        """The number of vertex groups."""
        return len(self.leave_outs)

    @cached_property
    def standard_errors(self) -> FloatArray:
        """The standard error of every density, shape (graphs, patterns)."""
        return np.asarray(np.sqrt((self._influences() ** 2).sum(axis=0)))

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Lower and upper ends, shape (graphs, patterns), of confidence intervals for expected densities."""
        from scipy.stats import t

        half = float(t.isf((1 - _check_probability(level)) / 2, self.groups - 1)) * self.standard_errors
        return np.clip(self.densities - half, 0, 1), np.clip(self.densities + half, 0, 1)

    def predicted_gap(self, n_test: int, delta: float = 0.05, draws: int = 2000, seed: int = 0) -> FloatArray:
        """For each graph the epsilon that its gap to a graph of n_test vertices exceeds with probability delta.

        The data-driven counterpart of `epsilon_reached`, by a multiplier bootstrap: sums of group influences with
        normal weights imitate the joint deviations of all patterns, scaled by sqrt(1 + N / n_test) for the other graph.
        """
        if n_test < 1:
            raise ValueError(f"n_test must be at least 1; got {n_test!r}")
        weights = _generator(seed, 2).standard_normal((draws, self.groups))
        influences = self._influences()
        largest = [
            np.quantile(np.abs(weights @ influences[:, graph]).max(axis=1, initial=0.0), 1 - _check_probability(delta))
            for graph in range(len(self.sizes))
        ]
        return np.asarray(np.minimum(largest * np.sqrt(1 + self.sizes / n_test), 1.0))

    def _influences(self) -> FloatArray:
        """Influence of each group; squares sum to the variance (groups - 1) / groups * sum (t_b - mean)^2."""
        changes = self.leave_outs - self.leave_outs.mean(axis=0)
        return np.asarray(np.sqrt((self.groups - 1) / self.groups) * changes)


def density_intervals(
    graphs: GraphSet,
    k: int | Iterable[int],
    *,
    colors: bool = True,
    groups: int = 40,
    seed: int = 0,
) -> DensityIntervals:
    """Estimate standard errors of densities over subsets by a jackknife over groups of vertices.

    The vertices of a graph are divided at random into B equal groups; with t_b the density without group b, the
    variance is (B - 1) / B * sum_b (t_b - mean)^2. If only edges vary, as in an Erdős–Rényi graph, the standard errors
    are conservative (about half as large again). Memory: groups x graphs x patterns numbers.

    Args:
        graphs: graphs of at least k + 1 vertices.
        k: pattern size, or several.
        colors: whether patterns are distinguished by color.
        groups: number of groups, at most the number of vertices of the smallest graph (leave-one-out).
        seed: seed of the groups.
    """
    counts = count(graphs, k, colors)
    largest = int(counts.columns.size.max(initial=1))
    if not len(graphs) or graphs.sizes.min() <= largest:
        raise ValueError(f"the jackknife needs graphs of more than {largest} vertices; the smallest graph has fewer")
    groups = min(groups, int(graphs.sizes.min()))
    if groups < 2:
        raise ValueError(f"the jackknife needs at least 2 groups; got {groups}")
    instead = "take fewer groups or graphs, a smaller k, or colors=False"
    check_table((groups, *counts.shape), "the table of densities without each group", instead)
    group_of = _groups(graphs, groups, _generator(seed, 1))
    center = counts.densities().toarray()
    changes = np.empty((groups, *counts.shape))
    for group in range(groups):
        remaining = count(induced_subgraphs(graphs, group_of != group), k, colors).align(counts)
        changes[group] = remaining.densities().toarray() - center
    return DensityIntervals(counts.patterns, center, changes, graphs.sizes)


def _groups(graphs: GraphSet, groups: int, rng: np.random.Generator) -> IntArray:
    """The group of every vertex of the set: random, and of nearly equal sizes in each graph."""
    rank = np.lexsort((rng.random(int(graphs.first[-1])), owners(graphs.first)))
    group_of = np.empty(len(rank), np.int64)
    group_of[rank] = ranges(np.zeros(len(graphs), np.int64), graphs.sizes) % groups
    return group_of


def _generator(seed: int, purpose: int) -> np.random.Generator:
    """A generator that is independent of graphs drawn with the same seed, so that groups do not depend on their U."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose,)))


def _check_probability(value: float) -> float:
    if not 0 < value < 1:
        raise ValueError(f"level and delta must be probabilities between 0 and 1; got {value!r}")
    return value
