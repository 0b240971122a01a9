"""Memory limits: the need of a count, and batches of graphs that stay within a limit.

The estimates of the engines follow the arrays that they allocate, beside the graphs. They are meant to be right within
a factor of two to four.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from anysize._memory import format_bytes
from anysize._typing import BoolArray, FloatArray
from anysize.counting.engines.threads import Chunk
from anysize.counting.features import Features

CELL_BYTES = 60  # of a cell of a colored table, until it is in the merged table
MAX_TABLE_SHARE = 0.5  # of the limit for tables of batches; the rest is for the work


class MemoryNeed(NamedTuple):
    """Estimated bytes of a count, graph by graph."""

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

    def batches(self, threads: int, limit: int) -> tuple[list[Chunk], int]:
        """Ranges of graphs to count one after the other, and the number of threads, that stay within a limit."""
        tables = self.tables()
        if not len(tables):
            return [], threads
        spare = limit - float((self.shared + np.minimum(tables, MAX_TABLE_SHARE * limit)).max())
        per_thread = float(self.thread.max())
        threads = max(1, min(threads, int(spare / per_thread) if per_thread else threads))
        room = max(limit - float(self.work(threads).max()), MAX_TABLE_SHARE * limit / 4)
        ranges: list[Chunk] = []
        start, held = 0, 0.0
        for row, amount in enumerate(tables.tolist()):
            if row > start and held + amount > room:
                ranges.append((start, row))
                start, held = row, 0.0
            held += amount
        return [*ranges, (start, len(tables))], threads


def too_large(needs: Mapping[str, MemoryNeed], f: Features, k: int, limit: int, row: int) -> ValueError:
    """The error if no engine (of those named) fits: what the smallest one needs, and what to do."""
    amounts = {name: float((need.work(1) + need.table)[row]) for name, need in needs.items()}
    smallest = min(amounts, key=lambda name: amounts[name])
    names = f.graphs.names
    return ValueError(
        f"graph {row if names is None else repr(names[row])} ({int(f.n[row])} vertices, "
        f"{int(f.edges[row])} edges) cannot be counted at k = {k} within {format_bytes(limit)}: the engine "
        f"{smallest!r} needs least, about {format_bytes(amounts[smallest])}; use more memory, a smaller k, or "
        "colors=False"
    )
