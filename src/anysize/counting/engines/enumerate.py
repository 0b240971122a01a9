"""Counts by enumeration: k = 3..7, plain or with any number of colors. This engine can count every graph.

Every connected k-set is visited once (ESU, Wernicke 2006): from its smallest vertex, extended by neighbors that no
earlier member had; the last vertices are added in bulk. A raw pattern (adjacency bits and colors in the order of the
visit) indexes a table of counters if that is small enough. Otherwise a small cache maps raw to canonical patterns, and
canonical forms are computed only for raw patterns that are not in the cache.
"""

# mypy: ignore-errors
from __future__ import annotations

from functools import cache
from math import comb, factorial

import numpy as np
from numba import int64, uint64

from anysize._typing import FloatArray
from anysize.counting.columns import Columns, CountTable, merged
from anysize.counting.engines.bits import fetch_add, is_set, prefetch_row
from anysize.counting.engines.canonical import (
    COPIES,
    PATTERNS,
    TOUCHED,
    canonical,
    grown,
    hash_words,
    pack,
    packed_patterns,
    pattern_tables,
    record_of,
    unpack,
    write_out,
)
from anysize.counting.engines.engine import CELL_BYTES, Engine, MemoryNeed
from anysize.counting.engines.jit import helper, specialize
from anysize.counting.engines.threads import Threads, Tick
from anysize.counting.features import Features, colored_patterns
from anysize.graphs.graphset import GraphSet

DIRECT_BITS = 22  # raw patterns of up to so many bits index a table of counters; others use a cache
ROOTS_PER_TASK = 256  # smallest vertices of the sets of a task; a large graph has many tasks
CACHE_BITS = 15  # log2 of the entries of the cache, 16 bytes each: it fits the L2 cache of a core
PENDING = 32  # patterns whose records are being prefetched
ROOT, DEPTH = TOUCHED + 1, TOUCHED + 2  # fields of the state, after those of the table: where a walk was interrupted

DIRECT, CACHED, WIDE = "direct", "cached", "wide"


def count(graphs: GraphSet, k: int, threads: Threads, tick: Tick) -> CountTable:
    """Induced copies of the patterns that occur."""
    colors = graphs.colors if graphs.colors is not None else np.zeros(int(graphs.first[-1]), np.uint16)
    color_bits = max(len(graphs.palette) - 1, 0).bit_length()
    tasks = _tasks(graphs)
    counter = np.zeros(1, np.int64)
    compiled = _kernel(storage(k, color_bits, int(graphs.first[-1]) // max(len(graphs), 1)))

    def run():
        arrays = (graphs.first, graphs.indptr, graphs.indices, colors, *tasks, counter, threads.flag)
        return compiled(*arrays, k, color_bits, pattern_tables(k))

    parts = threads.pull(run, counter, len(tasks[0]), tick)
    return _merge(parts, tasks[0], k, graphs)


def storage(k: int, color_bits: int, vertices: int) -> str:
    """How to store raw patterns: a table of counters pays off if many sets share a counter."""
    raw_bits = k * (k - 1) // 2 + k * color_bits
    if raw_bits <= DIRECT_BITS and comb(vertices, k) >= 4 << raw_bits:
        return DIRECT
    return CACHED if raw_bits <= 63 else WIDE


def _raw_bits(f: Features, k: int) -> FloatArray:
    """The bits of a raw pattern: one for every pair of vertices, and the colors."""
    return k * (k - 1) / 2 + k * np.ceil(np.log2(f.colors))


def seconds(f: Features, k: int) -> FloatArray:
    """Steps for every connected set, without its last vertex and with it; lookups, and canonical forms."""
    raw_bits = _raw_bits(f, k)
    direct = (raw_bits <= DIRECT_BITS) & (f.n**k / factorial(k) > 4 * 2.0**raw_bits)
    patterns, unique = f.patterns(k)
    patterns = np.minimum(patterns, colored_patterns(k, f.colors))
    prefixes = f.sets(k - 1) if k > 3 else f.edges
    names = np.where(direct, 0, 20 * f.sets(k) + (300 + 1500 * unique) * patterns)
    return 1e-9 * (2000 + 70 * prefixes + 4.5 * f.sets(k) + names)


def memory(f: Features, k: int) -> MemoryNeed:
    """For each thread a table of counters or a cache, and a table of patterns."""
    raw_bits = _raw_bits(f, k)
    counters = np.where(raw_bits <= DIRECT_BITS, 8 * 2.0 ** np.minimum(raw_bits, DIRECT_BITS), 0)
    patterns = f.max_patterns(k)
    return MemoryNeed(0.0, 1e6 + 5 * f.n + counters + 64 * patterns, CELL_BYTES * patterns)


ENUMERATE = Engine("enumerate", "every connected set once", count, (3, 4, 5, 6, 7), True, seconds, memory, start=6e-4)


def _tasks(graphs: GraphSet):
    """The tasks: arrays of graphs, and of ranges (from, to) of smallest vertices."""
    sizes = graphs.sizes
    pieces = np.maximum(1, -(-sizes // ROOTS_PER_TASK))
    graph = np.repeat(np.arange(len(graphs)), pieces)
    piece = np.arange(len(graph)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    low = piece * ROOTS_PER_TASK
    return graph, low, np.minimum(low + ROOTS_PER_TASK, sizes[graph])


def _merge(parts, task_graph, k: int, graphs: GraphSet) -> CountTable:
    tables = []
    for high, low, length, column, amount in parts:
        row = np.repeat(task_graph.astype(np.int32), length)
        kind, colors = unpack(high, low, k)
        size = np.full(len(kind), k, np.uint8)
        columns = Columns(size, kind, None if graphs.colors is None else colors, graphs.palette)
        tables.append((columns, row, column, amount))
    return merged(tables, graphs, k)


@cache
def _kernel(mode: str):
    """The kernel for one way of storing raw patterns."""
    return specialize(kernel, (walk,), direct=int(mode == DIRECT), cached=int(mode == CACHED))


# ---- kernels ---------------------------------------------------------------------------------------------
# Arrays grow only outside the hot loops: a loop that may reassign an array updates its reference count each time.

direct = cached = 0  # `specialize` binds them to constants


def kernel(
    first, indptr, indices, colors, task_graph, task_low, task_high, counter, halt, k, color_bits, tables,
):  # fmt: skip
    """Take tasks from the counter until there are none; return packed patterns, and columns and copies by task."""
    state = np.zeros(4, np.int64)
    # Raw patterns have a counter each (direct), or a cache holds the positions of their records.
    size = 1 << (k * (k - 1) // 2 + k * color_bits) if direct else 1
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
    member_color, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    while True:
        task = fetch_add(counter, 1)
        if task >= len(task_graph) or is_set(halt):
            break
        g = task_graph[task]
        state[ROOT], state[DEPTH] = task_low[task] - 1, 0
        while True:
            wanted = walk(
                first[g], indptr, indices, colors, task_high[task], k, color_bits, state, frames, mark, queue,
                amount, touched, cache, table, waiting, member_color, best, trial, tables, halt,
            )  # fmt: skip
            while len(touched) < state[TOUCHED] + wanted + PENDING:
                touched = doubled(touched)
            if not direct:
                while len(table) < 2 * (state[PATTERNS] + wanted + PENDING):
                    table = grown(table, touched, state)
                    cache[:] = 0
            if wanted < 0:
                break
        if direct:
            while len(table) < 2 * (state[PATTERNS] + state[TOUCHED]):
                table = grown(table, touched[:0], state)
            add_up(k, color_bits, state, amount, touched, table, member_color, best, trial, tables, halt)
        while len(out_column) < n_out + state[TOUCHED]:
            out_column, out_amount = doubled(out_column), doubled(out_amount)
        n_out += write_out(state, table, touched, out_column[n_out:], out_amount[n_out:])
        out_length[task] = state[TOUCHED]
        state[TOUCHED] = 0
    high, low = packed_patterns(table, state)
    return high, low, out_length, out_column[:n_out], out_amount[:n_out]


@helper
def doubled(array):
    """A copy of an array with twice the length."""
    twice = np.empty(2 * len(array), array.dtype)
    twice[: len(array)] = array
    return twice


def walk(
    start, indptr, indices, colors, last_root, k, color_bits, state, frames, mark, queue,
    amount, touched, cache, table, waiting, member_color, best, trial, tables, halt,
):  # fmt: skip
    """Continue until the task is done or halted (returns -1), or more room is needed (returns for how many patterns).

    One long function with many parameters: numba compiles arrays that change and grow as arguments, not as fields of
    an object, and calls in the inner loops would pass all of them each time.
    """
    position, length, member, code_at, raw_at = frames[0], frames[1], frames[2], frames[3], frames[4]
    root, s, n_touched, n_waiting = state[ROOT], state[DEPTH], state[TOUCHED], 0
    mask = uint64(len(table) - 1)
    last_bits = k - 1 + color_bits
    last_shift = (k - 1) * (k - 2) // 2
    while True:
        if s == 0:  # the next root, with its neighbors above it in the queue
            if root >= 0:
                for e in range(indptr[start + root], indptr[start + root + 1]):
                    mark[indices[e]] = 0
            root += 1
            if root >= last_root:
                if not direct:
                    n_touched = count_pending(waiting, n_waiting, table, cache, touched, n_touched, state)
                state[TOUCHED] = n_touched
                return -1
            size = 0
            for e in range(indptr[start + root], indptr[start + root + 1]):
                u = indices[e]
                if u > root:
                    queue[size] = u
                    size += 1
                    mark[u] = 1
            if size == 0:
                continue
            s = 1
            member[0] = root
            member_color[0] = colors[start + root]
            code_at[1] = 0
            raw_at[1] = member_color[0]
            length[1] = size
            position[1] = -1
        if position[s] + 1 >= length[s]:  # one vertex back
            s -= 1
            if s > 0:
                clear = np.uint8(~(1 << s))
                w = member[s]
                for e in range(indptr[start + w], indptr[start + w + 1]):
                    mark[indices[e]] &= clear
            continue
        w = int64(queue[position[s] + 1])
        if s == k - 2:
            if is_set(halt):
                state[TOUCHED] = 0
                return -1
            wanted = length[s] - position[s] + indptr[start + w + 1] - indptr[start + w]
            full = n_touched + wanted + PENDING > len(touched)
            if not direct:
                full = full or 2 * (state[PATTERNS] + wanted + PENDING) > len(table)
            if full:
                if not direct:
                    n_touched = count_pending(waiting, n_waiting, table, cache, touched, n_touched, state)
                state[TOUCHED], state[ROOT], state[DEPTH] = n_touched, root, s
                return wanted
        position[s] += 1
        member[s] = w
        member_color[s] = colors[start + w]
        code = code_at[s] | (int64(mark[w]) << (s * (s - 1) // 2))
        raw = (raw_at[s] << (s + color_bits)) | (int64(mark[w]) << color_bits) | member_color[s]
        size = length[s]
        bit = np.uint8(1 << s)
        for e in range(indptr[start + w], indptr[start + w + 1]):
            u = indices[e]
            if u > root:
                if mark[u] == 0:
                    queue[size] = u
                    size += 1
                mark[u] |= bit
        if s < k - 2:  # one vertex more
            s += 1
            code_at[s] = code
            raw_at[s] = raw
            length[s] = size
            position[s] = position[s - 1]
            continue
        raw <<= last_bits
        for q in range(position[s] + 1, size):  # or all last vertices at once
            u = queue[q]
            slot = raw | (int64(mark[u]) << color_bits) | int64(colors[start + u])
            if direct:
                if amount[slot] == 0:
                    touched[n_touched] = slot
                    n_touched += 1
                amount[slot] += 1
                continue
            key = uint64(slot) + uint64(1)
            at = (key * uint64(0x9E3779B97F4A7C15)) >> uint64(64 - CACHE_BITS) if cached else uint64(0)
            if cached and cache[at, 0] == key:
                record = cache[at, 1]
                if table[record, COPIES] == 0:
                    touched[n_touched] = record
                    n_touched += 1
                table[record, COPIES] += uint64(1)
                continue
            member_color[k - 1] = colors[start + u]
            full_code = code | (int64(mark[u]) << last_shift)
            kind = canonical(full_code, member_color, k, tables, best, trial)
            waiting[n_waiting, 0], waiting[n_waiting, 1] = pack(kind, best, k)
            waiting[n_waiting, 2] = key if cached else uint64(0)
            prefetch_row(table, int64(hash_words(waiting[n_waiting, 0], waiting[n_waiting, 1]) & mask))
            n_waiting += 1
            if n_waiting == PENDING:
                n_touched = count_pending(waiting, n_waiting, table, cache, touched, n_touched, state)
                n_waiting = 0
        for e in range(indptr[start + w], indptr[start + w + 1]):
            mark[indices[e]] &= ~bit


@helper
def count_pending(waiting, n_waiting, table, cache, touched, n_touched, state):
    """Count the pending patterns, whose records have been prefetched."""
    for i in range(n_waiting):
        record = record_of(waiting[i, 0], waiting[i, 1], table, state)
        if table[record, COPIES] == 0:
            touched[n_touched] = record
            n_touched += 1
        table[record, COPIES] += uint64(1)
        key = waiting[i, 2]
        if key:
            at = (key * uint64(0x9E3779B97F4A7C15)) >> uint64(64 - CACHE_BITS)
            cache[at, 0], cache[at, 1] = key, uint64(record)
    return n_touched


@helper
def add_up(k, color_bits, state, amount, touched, table, member_color, best, trial, tables, halt):
    """Add the counters of raw patterns to records; afterwards touched holds the records."""
    n_met = 0
    for t in range(state[TOUCHED]):
        if is_set(halt):
            break
        slot = touched[t]
        code, rest = 0, slot
        for s in range(k - 1, -1, -1):
            member_color[s] = rest & ((1 << color_bits) - 1)
            code |= ((rest >> color_bits) & ((1 << s) - 1)) << (s * (s - 1) // 2)
            rest >>= s + color_bits
        kind = canonical(code, member_color, k, tables, best, trial)
        high, low = pack(kind, best, k)
        record = record_of(high, low, table, state)
        if table[record, COPIES] == 0:
            touched[n_met] = record
            n_met += 1
        table[record, COPIES] += uint64(amount[slot])
        amount[slot] = 0
    state[TOUCHED] = n_met
