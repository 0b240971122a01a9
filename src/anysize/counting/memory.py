"""Memory limits: an estimate for every engine, and batches of graphs that stay within a limit.

The estimates follow the arrays that the engines allocate, beside the graphs. They are meant to be right within a factor
of two to four.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from anysize._memory import format_bytes
from anysize._typing import BoolArray, FloatArray
from anysize.counting.engines.threads import Chunk
from anysize.counting.features import DIRECT_BITS, Features

CELL_BYTES = 60  # of a cell of a colored table, until it is in the merged table
PRODUCT_BYTES = {4: 400, 5: 1500, 6: 15_000}  # of the products and equations of the flip scheme, per k-tuple of colors
MAX_TABLE_SHARE = 0.5  # of the limit for tables of batches; the rest is for the work


class MemoryNeed(NamedTuple):
    """Estimated bytes of an engine, graph by graph."""

    shared: FloatArray  # by all threads, while a graph is counted
    thread: FloatArray  # for each thread, while a graph is counted
    table: FloatArray  # of results, until the engine returns

    def work(self, threads: int) -> FloatArray:
        """While a graph is counted by that many threads."""
        return np.asarray(self.shared + threads * self.thread, np.float64)


def _direct(f: Features, k: int) -> MemoryNeed:
    return MemoryNeed(0 * f.n, 0 * f.n, 60 * (f.n + 2 * f.edges))


def _bitset(f: Features, k: int) -> MemoryNeed:
    padded = 64 * np.ceil(f.n / 64)
    return MemoryNeed(0 * f.n, 9 * f.n * padded + 64 * padded, 0 * f.n + 1000)


def _sparse(f: Features, k: int) -> MemoryNeed:
    lists = 100 * (f.n + f.edges) + (12 * f.triangles_per_edge * f.edges if k == 5 else 0)
    return MemoryNeed(lists, 24 * (f.n + f.edges) + f.max_degree**2 / 2, 0 * f.n + 1000)


def _flip(f: Features, k: int) -> MemoryNeed:
    colors = _compiled_colors(f)
    products = PRODUCT_BYTES[k] * colors**k
    rows = 16 * f.n * (np.ceil(f.n / 64) + colors)
    return MemoryNeed(rows + products, products / 4 + 1e5, CELL_BYTES * f.max_patterns(k))


def _flip_sparse(f: Features, k: int) -> MemoryNeed:
    colors = _compiled_colors(f)
    products = PRODUCT_BYTES[k] * colors**k
    lists = (100 + 4 * colors) * (f.n + f.edges) + 12 * f.triangles_per_edge * f.edges
    return MemoryNeed(lists + products, (30 + 8 * colors) * f.n + products / 4, CELL_BYTES * f.max_patterns(k))


def _compiled_colors(f: Features) -> FloatArray:
    """The number of colors that the kernels of the flip scheme are compiled for, approximately."""
    return np.asarray(2 ** np.ceil(np.log2(f.colors)))


def _enumerate(f: Features, k: int) -> MemoryNeed:
    raw_bits = f.raw_bits(k)
    counters = np.where(raw_bits <= DIRECT_BITS, 8 * 2.0 ** np.minimum(raw_bits, DIRECT_BITS), 0)
    patterns = f.max_patterns(k)
    return MemoryNeed(0 * f.n, 1e6 + 5 * f.n + counters + 64 * patterns, CELL_BYTES * patterns)


def _brute(f: Features, k: int) -> MemoryNeed:
    return MemoryNeed(f.n**2, 0 * f.n, 300 * f.max_patterns(k))


def _sample(f: Features, k: int) -> MemoryNeed:
    trees = 2.0 ** (k - 3)  # about the number of trees on k vertices, and of their subtrees
    patterns = f.max_patterns(k)
    return MemoryNeed(trees * (30 * f.n + 16 * f.edges) + 20 * f.edges, 1e6 + 100 * patterns, CELL_BYTES * patterns)


MEMORY_NEEDS: dict[str, Callable[[Features, int], MemoryNeed]] = {
    "direct": _direct,
    "bitset": _bitset,
    "sparse": _sparse,
    "flip": _flip,
    "flip_sparse": _flip_sparse,
    "enumerate": _enumerate,
    "brute": _brute,
    "sample": _sample,
}


def fits(engine: str, features: Features, k: int, limit: int) -> BoolArray:
    """Which graphs an engine can count within a limit with one thread."""
    need = MEMORY_NEEDS[engine](features, k)
    return np.asarray(need.work(1) + np.minimum(need.table, MAX_TABLE_SHARE * limit) <= limit)


def too_large(engines: list[str], features: Features, k: int, limit: int, row: int) -> ValueError:
    """The error if no engine fits: what the smallest one needs, and what to do."""
    needs = {name: MEMORY_NEEDS[name](features, k) for name in engines}
    amounts = {name: float((need.work(1) + need.table)[row]) for name, need in needs.items()}
    name = min(amounts, key=lambda engine: amounts[engine])
    names = features.graphs.names
    return ValueError(
        f"graph {row if names is None else repr(names[row])} ({int(features.n[row])} vertices, "
        f"{int(features.edges[row])} edges) cannot be counted at k = {k} within {format_bytes(limit)}: the engine "
        f"{name!r} needs least, about {format_bytes(amounts[name])}; use more memory, a smaller k, or colors=False"
    )


def batches(engine: str, features: Features, k: int, threads: int, limit: int) -> tuple[list[Chunk], int]:
    """Ranges of graphs to count one after the other, and the number of threads, that stay within a limit."""
    need = MEMORY_NEEDS[engine](features, k)
    if not len(need.table):
        return [], threads
    spare = limit - float((need.shared + np.minimum(need.table, MAX_TABLE_SHARE * limit)).max())
    per_thread = float(need.thread.max())
    threads = max(1, min(threads, int(spare / per_thread) if per_thread else threads))
    room = max(limit - float(need.work(threads).max()), MAX_TABLE_SHARE * limit / 4)
    ranges: list[Chunk] = []
    start, held = 0, 0.0
    for row, amount in enumerate(need.table.tolist()):
        if row > start and held + amount > room:
            ranges.append((start, row))
            start, held = row, 0.0
        held += amount
    return [*ranges, (start, len(need.table))], threads
