"""Large sparse graphs in degree order: every edge points from the lower to the higher rank.

Vertices are ranked by degree, ascending, ties by number. Then out-degrees are small, a triangle is found once, from its
lowest vertex, and a cycle once, from its highest. Edge e is the e-th entry of the out-lists.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import uint64

from anysize.counting.engines.bits import is_set
from anysize.counting.engines.jit import entry, helper


class Oriented(NamedTuple):
    """near[near_ptr[v]:near_ptr[v + 1]] are the neighbors of rank v, ascending, with their edges.

    From middle[v] on they lie above v, and are high[high_ptr[v]:high_ptr[v + 1]] as well: edge e ends at high[e].
    """

    near_ptr: np.ndarray
    near: np.ndarray
    near_edge: np.ndarray
    middle: np.ndarray
    high_ptr: np.ndarray
    high: np.ndarray
    rank: np.ndarray


class Triangles(NamedTuple):
    """For every edge e = (u, v) its triangles, ascending by third vertex x, and the edges (u, x), (v, x)."""

    ptr: np.ndarray
    third: np.ndarray
    lower_edge: np.ndarray
    upper_edge: np.ndarray


def orient(indptr, indices) -> Oriented:
    """One graph, renumbered by rank."""
    return Oriented(*_orient(indptr, indices))


@entry
def _orient(indptr, indices):
    n = len(indptr) - 1
    smaller = np.zeros(n + 1, np.int64)  # counting sort by degree
    for v in range(n):
        smaller[indptr[v + 1] - indptr[v] + 1] += 1
    smaller = np.cumsum(smaller)
    order = np.empty(n, np.int64)
    rank = np.empty(n, np.uint32)
    for v in range(n):
        r = smaller[indptr[v + 1] - indptr[v]]
        smaller[indptr[v + 1] - indptr[v]] += 1
        order[r] = v
        rank[v] = r
    near_ptr = np.zeros(n + 1, np.int64)
    middle = np.empty(n, np.int64)
    high_ptr = np.zeros(n + 1, np.int64)
    for r in range(n):
        v = order[r]
        below = 0
        for e in range(indptr[v], indptr[v + 1]):
            below += rank[indices[e]] < r
        near_ptr[r + 1] = near_ptr[r] + indptr[v + 1] - indptr[v]
        middle[r] = near_ptr[r] + below
        high_ptr[r + 1] = high_ptr[r] + near_ptr[r + 1] - middle[r]
    near = np.empty(near_ptr[n], np.uint32)
    near_edge = np.empty(near_ptr[n], np.uint32)
    high = np.empty(high_ptr[n], np.uint32)
    fill = near_ptr[:-1].copy()
    for r in range(n):  # ascending targets: the lists come out sorted
        v = order[r]
        for e in range(indptr[v], indptr[v + 1]):
            u = rank[indices[e]]
            near[fill[u]] = r
            fill[u] += 1
    fill = near_ptr[:-1].copy()
    for u in range(n):
        for e in range(high_ptr[u], high_ptr[u + 1]):
            at = middle[u] + e - high_ptr[u]
            v = near[at]
            high[e] = v
            near_edge[at] = e
            near_edge[fill[v]] = e
            fill[v] += 1
    return near_ptr, near, near_edge, middle, high_ptr, high, rank


@entry
def triangles_of_edges(graph, start, stop, per_edge, halt):
    """Add to per_edge the triangles whose lowest vertex lies in start .. stop."""
    high_ptr, high = graph.high_ptr, graph.high
    mark = np.zeros(len(high_ptr) - 1, np.uint32)
    for u in range(start, stop):
        first, last = high_ptr[u], high_ptr[u + 1]
        if last - first < 2:
            continue
        if is_set(halt):
            break
        for e in range(first, last):
            mark[high[e]] = e + 1 - first
        for e in range(first, last):
            v = high[e]
            met = 0
            for f in range(high_ptr[v], high_ptr[v + 1]):
                slot = mark[high[f]]
                if slot:
                    met += 1
                    per_edge[first + slot - 1] += 1
                    per_edge[f] += 1
            per_edge[e] += met
        for e in range(first, last):
            mark[high[e]] = 0


def triangle_lists(graph: Oriented, per_edge, halt) -> Triangles:
    """The triangles of every edge, from their numbers."""
    ptr = np.zeros(len(per_edge) + 1, np.int64)
    np.cumsum(per_edge, out=ptr[1:])
    return Triangles(ptr, *_triangle_lists(graph, ptr, halt))


@entry
def _triangle_lists(graph, ptr, halt):
    high_ptr, high = graph.high_ptr, graph.high
    # Lowest vertices ascend, and so does the third vertex of every edge: below, between, above.
    third = np.empty(ptr[-1], np.uint32)
    lower_edge = np.empty(ptr[-1], np.uint32)
    upper_edge = np.empty(ptr[-1], np.uint32)
    fill = ptr[:-1].copy()
    mark = np.zeros(len(high_ptr) - 1, np.uint32)
    for u in range(len(high_ptr) - 1):
        if is_set(halt):
            break
        first, last = high_ptr[u], high_ptr[u + 1]
        for e in range(first, last):
            mark[high[e]] = e + 1 - first
        for e in range(first, last):
            v = high[e]
            for f in range(high_ptr[v], high_ptr[v + 1]):
                w = high[f]
                if mark[w]:
                    g = first + mark[w] - 1  # edges e = uv, f = vw, g = uw
                    at = fill[e]
                    fill[e] = at + 1
                    third[at], lower_edge[at], upper_edge[at] = w, g, f
                    at = fill[g]
                    fill[g] = at + 1
                    third[at], lower_edge[at], upper_edge[at] = v, e, f
                    at = fill[f]
                    fill[f] = at + 1
                    third[at], lower_edge[at], upper_edge[at] = u, e, g
        for e in range(first, last):
            mark[high[e]] = 0
    return third, lower_edge, upper_edge


@helper
def fill_rows(graph, lists, u, begin, slot_of, rows):
    """Rows of bits: which neighbors of u are adjacent to each other, numbered as in near; from number ``begin`` on."""
    near, ptr, third = graph.near, lists.ptr, lists.third
    first, last = graph.near_ptr[u], graph.near_ptr[u + 1]
    words = (last - first + 63) >> 6
    for at in range(first, last):
        slot_of[near[at]] = at - first
    for at in range(first + begin, last):
        e, row = graph.near_edge[at], rows[at - first - begin]
        for q in range(words):
            row[q] = uint64(0)
        for z in range(ptr[e], ptr[e + 1]):
            x = slot_of[third[z]]
            row[x >> 6] |= uint64(1) << uint64(x & 63)
