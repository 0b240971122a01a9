"""Counts by enumeration: k = 3..7, plain or with any number of colours. The engine that always works.

Every connected k-set is met once (ESU, Wernicke 2006): from its smallest vertex, extended by neighbours that no
earlier member had; the last vertices are added in bulk. A raw pattern (adjacency bits and colours in the order in
which vertices were met) indexes a table of counters where that is small enough. Otherwise a small cache says
which canonical pattern it is, and only what is not in the cache is worked out.
"""

# mypy: ignore-errors
from __future__ import annotations

from functools import cache
from math import comb

import numpy as np

from anysize.counting.bits import fetch_add
from anysize.counting.canonical import pattern_tables, unpack
from anysize.counting.columns import Columns
from anysize.counting.enumerate_walk import CACHE_BITS, DEPTH, PENDING, ROOT, add_up, walk
from anysize.counting.jit import helper, specialise
from anysize.counting.parallel import Tick, pull_in_threads
from anysize.counting.pattern_table import PATTERNS, TOUCHED, grown, packed_patterns, write_out
from anysize.counting.table import Table, merged
from anysize.graphs import GraphSet

DIRECT_BITS = 22  # raw patterns of at most so many bits index a table of counters, others go through a cache
ROOTS_PER_TASK = 256  # a large graph is many tasks, each with the sets of so many smallest vertices

DIRECT, CACHED, WIDE = "direct", "cached", "wide"


def count_coloured(graphs: GraphSet, k: int, threads: int, tick: Tick) -> Table:
    """Induced copies of the patterns that occur."""
    colours = graphs.colours if graphs.colours is not None else np.zeros(int(graphs.first[-1]), np.uint16)
    colour_bits = max(len(graphs.palette) - 1, 0).bit_length()
    tasks = _tasks(graphs)
    counter = np.zeros(1, np.int64)
    compiled = _kernel(_mode(k, colour_bits, int(graphs.first[-1]) // max(len(graphs), 1)))

    def run():
        arrays = (graphs.first, graphs.indptr, graphs.indices, colours, *tasks, counter)
        return compiled(*arrays, k, colour_bits, *pattern_tables(k))

    parts = pull_in_threads(run, counter, len(tasks[0]), threads, tick)
    return _merge(parts, tasks[0], k, graphs)


def _mode(k: int, colour_bits: int, vertices: int) -> str:
    """How to remember raw patterns of graphs of about that size: a table pays where many sets share a counter."""
    raw_bits = k * (k - 1) // 2 + k * colour_bits
    if raw_bits <= DIRECT_BITS and comb(vertices, k) >= 4 << raw_bits:
        return DIRECT
    return CACHED if raw_bits <= 63 else WIDE


def _tasks(graphs: GraphSet):
    """(graph, from, to) of ranges of smallest vertices."""
    sizes = graphs.sizes
    pieces = np.maximum(1, -(-sizes // ROOTS_PER_TASK))
    graph = np.repeat(np.arange(len(graphs)), pieces)
    piece = np.arange(len(graph)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    low = piece * ROOTS_PER_TASK
    return graph, low, np.minimum(low + ROOTS_PER_TASK, sizes[graph])


def _merge(parts, task_graph, k: int, graphs: GraphSet) -> Table:
    tables = []
    for high, low, length, column, amount in parts:
        row = np.repeat(task_graph.astype(np.int32), length)
        place, colours = unpack(high, low, k)
        size = np.full(len(place), k, np.uint8)
        columns = Columns(size, place, None if graphs.colours is None else colours, graphs.palette)
        tables.append((columns, row, column, amount))
    return merged(tables, len(graphs))


@cache
def _kernel(mode: str):
    """The kernel for one way of remembering raw patterns."""
    return specialise(kernel, (walk,), direct=int(mode == DIRECT), cached=int(mode == CACHED))


# ---- kernels: `direct` and `cached` are constants when they are compiled. Arrays grow outside the hot loops
# only: a loop that may reassign an array pays for its reference count at every turn.

direct = cached = 0


def kernel(
    first, indptr, indices, colours, task_graph, task_low, task_high, counter, k, colour_bits,
    class_of, renaming, group_ptr, group,
):  # fmt: skip
    """Take tasks off the counter until there are none; packed patterns, and columns and copies task by task."""
    state = np.zeros(4, np.int64)
    # Raw patterns: a counter each (direct), or a cache of where their records are.
    size = 1 << (k * (k - 1) // 2 + k * colour_bits) if direct else 1
    amount = np.zeros(size, np.int64)
    cache = np.zeros((1 << CACHE_BITS if cached else 1, 2), np.uint64)  # 1 + raw pattern, record
    table = np.zeros((1 << 12, 4), np.uint64)  # canonical patterns, by hash
    touched = np.empty(1 << 12, np.int64)  # raw patterns (direct) or records of the present graph
    waiting = np.empty((PENDING, 3), np.uint64)
    n_out = 0
    out_column, out_amount = np.empty(1 << 12, np.int32), np.empty(1 << 12, np.int64)
    out_length = np.zeros(len(task_graph), np.int64)
    biggest = 1
    for g in range(len(first) - 1):
        biggest = max(biggest, first[g + 1] - first[g])
    mark = np.zeros(biggest, np.uint8)  # bit s: adjacent to member s
    queue = np.empty(biggest + 1, np.uint32)
    frames = np.zeros((5, 9), np.int64)
    own, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    while True:
        task = fetch_add(counter, 1)
        if task >= len(task_graph):
            break
        g = task_graph[task]
        state[ROOT], state[DEPTH] = task_low[task] - 1, 0
        while True:
            wanted = walk(
                first[g], indptr, indices, colours, task_high[task], k, colour_bits, state, frames, mark, queue,
                amount, touched, cache, table, waiting, own, best, trial, class_of, renaming, group_ptr, group,
            )  # fmt: skip
            while len(touched) < state[TOUCHED] + wanted + PENDING:
                touched = longer(touched)
            if not direct:
                while len(table) < 2 * (state[PATTERNS] + wanted + PENDING):
                    table = grown(table, touched, state)
                    cache[:] = 0
            if wanted < 0:
                break
        if direct:
            while len(table) < 2 * (state[PATTERNS] + state[TOUCHED]):
                table = grown(table, touched[:0], state)
            add_up(
                k, colour_bits, state, amount, touched, table, own, best, trial, class_of, renaming, group_ptr, group
            )  # fmt: skip
        while len(out_column) < n_out + state[TOUCHED]:
            out_column, out_amount = longer(out_column), longer(out_amount)
        n_out += write_out(state, table, touched, out_column[n_out:], out_amount[n_out:])
        out_length[task] = state[TOUCHED]
        state[TOUCHED] = 0
    high, low = packed_patterns(table, state)
    return high, low, out_length, out_column[:n_out], out_amount[:n_out]


@helper
def longer(array):
    """The same array with as much room again."""
    twice = np.empty(2 * len(array), array.dtype)
    twice[: len(array)] = array
    return twice
