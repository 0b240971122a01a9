"""`Engine`: what an engine must provide. Its kernels, limits and estimates of time and memory are in its own file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from anysize._typing import BoolArray, FloatArray
from anysize.counting.columns import CountTable
from anysize.counting.features import Features

CELL_BYTES = 60  # of a cell of a colored table, until it is in the merged table
MAX_TABLE_SHARE = 0.5  # of a memory limit, for tables of batches; the rest is for the work


class MemoryNeed(NamedTuple):
    """Estimated bytes of a count, graph by graph, beside the graphs, meant to be right within a factor of two to four.

    They follow the arrays that an engine allocates.
    """

    shared: FloatArray | float  # by all threads, while a graph is counted
    thread: FloatArray  # for each thread, while a graph is counted
    table: FloatArray | float  # of results, until the engine returns

    def work(self, threads: int) -> FloatArray:
        """While a graph is counted by that many threads."""
        return np.asarray(self.shared + threads * self.thread, np.float64)

    def tables(self) -> FloatArray:
        """The results of each graph."""
        return np.broadcast_to(np.asarray(self.table, np.float64), self.thread.shape)

    def within(self, limit: int) -> BoolArray:
        """Which graphs can be counted within a limit with one thread."""
        return np.asarray(self.work(1) + np.minimum(self.table, MAX_TABLE_SHARE * limit) <= limit)

    def batches(self, threads: int, limit: int) -> tuple[list[tuple[int, int]], int]:
        """Ranges of graphs to count one after the other, and the number of threads, that stay within a limit."""
        tables = self.tables()
        if not len(tables):
            return [], threads
        spare = limit - float((self.shared + np.minimum(tables, MAX_TABLE_SHARE * limit)).max())
        per_thread = float(self.thread.max())
        threads = max(1, min(threads, int(spare / per_thread) if per_thread else threads))
        room = max(limit - float(self.work(threads).max()), MAX_TABLE_SHARE * limit / 4)
        ranges: list[tuple[int, int]] = []
        start, held = 0, 0.0
        for row, amount in enumerate(tables.tolist()):
            if row > start and held + amount > room:
                ranges.append((start, row))
                start, held = row, 0.0
            held += amount
        return [*ranges, (start, len(tables))], threads


def every_graph(f: Features, k: int) -> BoolArray:
    """The limits of an engine that can count every graph."""
    return np.ones(len(f.n), bool)


@dataclass(frozen=True)
class Engine:
    """A way to count exactly. Each engine is the object of one file, which also holds its kernels.

    Attributes:
        name: selects the engine in ``count(graphs, k, engine=name)``.
        idea: describes it in one line of `Counts.explain`.
        count: counts all graphs of a set for one pattern size, given (graphs, k, threads, tick). It returns the table
            of `columns.merged` or `columns.plain_table`, and raises an `Overflow` with the number of a graph that
            cannot be counted.
        sizes: the pattern sizes that it counts.
        colored: whether it distinguishes vertices by color.
        seconds: the expected time of each graph on one core; constants are those of an x86 server, and
            ``make bench`` compares them with measurements.
        memory: the expected memory of each graph.
        fits: the graphs that it can count.
        start: the expected seconds of a call, whatever the graphs.
        splits_graphs: whether several threads can share one graph.
        typed: whether it distinguishes edges by their colors and directions.
        by_ranges: whether machines can share one graph: its work is `threads.OverRange` of vertices.
        counts_smaller: whether ``count`` also takes ``smaller``, sizes whose patterns it finds on the way.
    """

    name: str
    idea: str
    count: Callable[..., CountTable]
    sizes: tuple[int, ...]
    colored: bool
    seconds: Callable[[Features, int], FloatArray]
    memory: Callable[[Features, int], MemoryNeed]
    fits: Callable[[Features, int], BoolArray] = every_graph
    start: float = 0.0
    splits_graphs: bool = True
    typed: bool = False
    by_ranges: bool = False
    counts_smaller: bool = False
