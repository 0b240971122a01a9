"""Plain counts, k = 3, 4, 5, of small or dense graphs: sums over pairs and triangles with popcounts.

Rows of the adjacency matrix are words of 64 bits. Codegrees of all pairs, common neighbours of all triangles
and of the pairs with at least two common neighbours give the sums of `moebius.SUMS`. A graph with more than
0.55 of all edges is counted through its complement.
"""

# mypy: ignore-errors
from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
from numba import int64, uint64

from anysize.counting.bits import popcount
from anysize.counting.bitset_pairs import pair_sums, sweep
from anysize.counting.bitset_vertices import count_cliques5, list_bits, small_vertex_sums, vertex_sums
from anysize.counting.jit import specialise
from anysize.counting.moebius import AT, LENGTH, SUMS, from_complement_sums, from_sums
from anysize.counting.parallel import Tick, chunks_by_weight, in_threads
from anysize.graphs import GraphSet

ANY = 0
UNROLLED = (0, 1, 2, 4, 8, ANY)  # widths with a kernel of their own, each compiled when it is first met


def count_plain(graphs: GraphSet, k: int, threads: int, tick: Tick) -> np.ndarray:
    """Induced copies, shape (graphs, catalogue of k)."""
    sizes = graphs.sizes
    sums = np.zeros((len(graphs), len(SUMS)), np.int64)
    # Density above .55: near one half the complement saves less than the way back costs.
    flipped = (40 * graphs.edge_counts > 11 * sizes * (sizes - 1)) & (sizes >= k)
    needed = np.maximum(sizes + 63, 64) // 64  # words a row
    for fewer, width in pairwise(UNROLLED):
        rows = np.flatnonzero((needed > fewer) & ((needed <= width) | (width == ANY)))
        if len(rows):
            compiled = _kernel(width)

            def work(start, stop, rows=rows, compiled=compiled):
                mine = rows[start:stop]
                compiled(graphs.first, graphs.indptr, graphs.indices, mine, flipped, k, sums)
                tick(len(mine) / len(graphs))

            in_threads(work, chunks_by_weight(sizes[rows] ** 3, threads), threads)
    return _finish(sums, sizes, flipped, k)


def _finish(sums, sizes, flipped, k):
    # The last step is linear: int64 may wrap on the way, but the result, at most C(n, 5), fits again.
    counts = sums[:, : LENGTH[k]] @ from_sums(k).T
    if flipped.any():
        counts[flipped] = from_complement_sums(k, sizes[flipped], sums[flipped])
    return counts


@cache
def _kernel(width: int):
    """The kernel for rows of that many words (a constant the compiler unrolls), or of any number."""
    over_vertices = (small_vertex_sums, vertex_sums, list_bits, count_cliques5)
    return specialise(kernel, (fill, codegrees, sweep, pair_sums, *over_vertices), words=width)


# ---- kernels: `words` is a constant when they are compiled -------------------------------------------

words = ANY


def kernel(first, indptr, indices, rows, flipped, k, sums):
    """Fill sums[g] for the graphs g in rows."""
    biggest = 1
    for g in rows:
        biggest = max(biggest, first[g + 1] - first[g])
    most = words if words > 0 else (biggest + 63) >> 6
    bits = np.empty((biggest, most), np.uint64)  # row i: the neighbours of i
    upper = np.empty((biggest, most), np.uint64)  # row i: those above i
    columns = np.empty((most, 64 * most), np.uint64)  # word q of every row, side by side
    common = np.empty((biggest, 64 * most), np.int32)  # codegrees
    closed = np.empty((biggest, 64 * most), np.int32)  # t(e) - 1 of the edges, 0 elsewhere
    local = np.empty((biggest, most), np.uint64)
    scratch = np.empty(64 * most, np.int64)
    reach = np.empty(64 * most, np.int32)
    members = np.empty(64 * most, np.int64)
    pair = np.empty(most, np.uint64)
    at_vertex = np.empty((4, 64 * most), np.int64)  # degree; triangles, 4-cycles and 4-cliques at a vertex
    for g in rows:
        n = first[g + 1] - first[g]
        w = words if words > 0 else (n + 63) >> 6
        fill(first[g], n, w, indptr, indices, flipped[g], bits, upper, columns)
        codegrees(n, w, bits, columns, common, at_vertex)
        pair_sums(n, w, bits, upper, columns, common, closed, scratch, pair, at_vertex, k, sums[g])
        small_vertex_sums(n, at_vertex, sums[g])
        if k == 5:
            vertex_sums(n, w, bits, upper, common, reach, at_vertex, sums[g])
            sums[g, AT.cliques5] = count_cliques5(n, w, bits, upper, local, members, pair)


def fill(start, n, width, indptr, indices, flip, bits, upper, columns):
    """The rows of one graph, or of its complement."""
    w = words if words > 0 else width
    for i in range(n):
        for q in range(w):
            bits[i, q] = uint64(0)
        for e in range(indptr[start + i], indptr[start + i + 1]):
            j = indices[e]
            bits[i, j >> 6] |= uint64(1) << uint64(j & 63)
        if flip:
            for q in range(w):
                rest = n - (q << 6)
                ones = ~uint64(0) if rest >= 64 else (uint64(1) << uint64(max(rest, 0))) - uint64(1)
                bits[i, q] = ~bits[i, q] & ones
            bits[i, i >> 6] &= ~(uint64(1) << uint64(i & 63))
        for q in range(w):
            upper[i, q] = uint64(0) if q < (i >> 6) else bits[i, q]
            columns[q, i] = bits[i, q]
        upper[i, i >> 6] &= ~((uint64(2) << uint64(i & 63)) - uint64(1))
    for q in range(w):
        for i in range(n, 64 * w):
            columns[q, i] = uint64(0)


def codegrees(n, width, bits, columns, common, at_vertex):
    """Common neighbours of all pairs, and so the degrees; whatever else is at a vertex begins with zero."""
    w = words if words > 0 else width
    span = 64 * ((n + 63) >> 6)
    for i in range(n):
        row = common[i]
        if words > 0:
            for j in range(span):
                ones = uint64(0)
                for q in range(w):
                    ones += popcount(bits[i, q] & columns[q, j])
                row[j] = int64(ones)
        else:
            for j in range(span):
                row[j] = 0
            for q in range(w):
                word = bits[i, q]
                if word:
                    for j in range(span):
                        row[j] += int64(popcount(word & columns[q, j]))
        at_vertex[0, i] = row[i]
        at_vertex[1, i] = 0
        at_vertex[2, i] = 0
        at_vertex[3, i] = 0
