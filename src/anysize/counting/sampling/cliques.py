"""Exact k-cliques by colors, k = 3..7, in degree order, within a limit of steps."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import int64, uint64

from anysize.counting.columns import Columns
from anysize.counting.engines.bits import is_set, lowest_bit, popcount
from anysize.counting.engines.jit import entry
from anysize.counting.engines.oriented import orient
from anysize.counting.engines.threads import Threads
from anysize.graphs.graphset import GraphSet
from anysize.patterns.orbits import MAX_SIZE
from anysize.patterns.pattern import connected_patterns

MAX_STEPS = 20_000_000  # per part of the graph: a fraction of a second; depends on the graph only, to avoid bias
PARTS = 16
MAX_COLOR_TUPLES = 1 << 22


def count_cliques(graph: GraphSet, k: int, threads: Threads) -> tuple[Columns, np.ndarray] | None:
    """The colored cliques that occur and their copies, or None if there are too many to count."""
    n = len(graph.indptr) - 1
    vertex_color = graph.colors if graph.colors is not None else np.zeros(n, np.uint16)
    present, local = np.unique(vertex_color, return_inverse=True)
    if len(present) ** k > MAX_COLOR_TUPLES:
        return None
    oriented = orient(graph.indptr, graph.indices)
    color = np.empty(n, np.int64)
    color[oriented.rank] = local
    out = np.diff(oriented.high_ptr)

    too_many: list[bool] = []

    def work(start, stop):
        if too_many:  # the result is None already
            return False, None
        finished, copies = _cliques(oriented, color, max(len(present), 1), k, start, stop, MAX_STEPS, threads.flag)
        if not finished:
            too_many.append(True)
        return finished, copies

    # The parts, and so the limit of steps, do not depend on the number of threads.
    parts = threads.run(work, out.astype(np.float64) ** 3, PARTS)
    if any(not finished for finished, _ in parts):
        return None
    copies = sum((table for _, table in parts), np.zeros(max(len(present), 1) ** k, np.int64))
    occurring = np.flatnonzero(copies)
    colors = np.zeros((len(occurring), MAX_SIZE), np.uint16)
    for vertex in range(k):
        colors[:, vertex] = present[occurring // len(present) ** (k - 1 - vertex) % len(present)]
    pattern_index = np.full(len(occurring), len(connected_patterns(k)) - 1, np.int16)
    size = np.full(len(occurring), k, np.uint8)
    return Columns(size, pattern_index, None if graph.colors is None else colors, graph.palette), copies[occurring]


@entry
def _cliques(graph, color, colors, k, start, stop, steps, halt):
    """Cliques with their lowest vertex in start .. stop, from rows of bits over its higher neighbors."""
    high_ptr, high = graph.high_ptr, graph.high
    copies = np.zeros(colors**k, np.int64)
    most = 1
    for u in range(start, stop):
        most = max(most, high_ptr[u + 1] - high_ptr[u])
    w = (most + 63) >> 6
    rows = np.zeros((most, w), np.uint64)
    inside = np.zeros((k, w), np.uint64)
    rest = np.zeros((k, w), np.uint64)
    at = np.zeros(k, np.int64)
    seen = np.zeros(8, np.int64)
    ordered = np.zeros(8, np.int64)
    slot_of = np.zeros(len(color), np.int64)
    for u in range(start, stop):
        first, last = high_ptr[u], high_ptr[u + 1]
        size = last - first
        if size < k - 1:
            continue
        words = (size + 63) >> 6
        for e in range(first, last):
            slot_of[high[e]] = e - first + 1
        for e in range(first, last):
            for q in range(words):
                rows[e - first, q] = uint64(0)
            v = high[e]
            for f in range(high_ptr[v], high_ptr[v + 1]):
                x = slot_of[high[f]]
                if x:
                    rows[e - first, (x - 1) >> 6] |= uint64(1) << uint64((x - 1) & 63)
        steps -= size
        for e in range(first, last):
            slot_of[high[e]] = 0
        for q in range(words):
            ones = size - (q << 6)
            inside[1, q] = ~uint64(0) if ones >= 64 else (uint64(1) << uint64(ones)) - uint64(1)
            rest[1, q] = inside[1, q]
        level, at[1] = 1, 0
        seen[0] = color[u]
        while level > 0:
            while at[level] < words and rest[level, at[level]] == uint64(0):
                at[level] += 1
            q = at[level]
            if q == words:
                level -= 1
                continue
            x = (q << 6) + int64(lowest_bit(rest[level, q]))
            rest[level, q] &= rest[level, q] - uint64(1)
            seen[level] = color[high[first + x]]
            steps -= 1
            if steps < 0 or is_set(halt):
                return False, copies
            if level == k - 1:
                for i in range(k):
                    c, j = seen[i], i
                    while j > 0 and ordered[j - 1] > c:
                        ordered[j] = ordered[j - 1]
                        j -= 1
                    ordered[j] = c
                index = 0
                for i in range(k):
                    index = index * colors + ordered[i]
                copies[index] += 1
                continue
            if level == k - 2 and colors == 1:
                ones = uint64(0)
                for p in range(q, words):
                    ones += popcount(inside[level, p] & rows[x, p])
                copies[0] += int64(ones)
                continue
            level += 1
            for p in range(words):
                inside[level, p] = inside[level - 1, p] & rows[x, p]
                rest[level, p] = inside[level, p]
            at[level] = q
        if steps < 0 or is_set(halt):
            return False, copies
    return True, copies
