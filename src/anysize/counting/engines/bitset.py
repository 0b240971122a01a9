"""Plain counts, k = 3, 4, 5, of small or dense graphs: sums over pairs and triangles with popcounts.

Rows of the adjacency matrix are words of 64 bits. The codegrees of all pairs, and the common neighbors of all triangles
and of the pairs with at least two common neighbors, give the sums of `moebius.SUMS`. A graph of density above 0.55 is
counted through its complement.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

import numpy as np
from numba import int64, uint64

from anysize._typing import BoolArray, FloatArray
from anysize.counting.columns import CountTable, plain_table
from anysize.counting.engines.bits import is_set, lowest_bit, popcount
from anysize.counting.engines.engine import Engine, MemoryNeed
from anysize.counting.engines.jit import specialize
from anysize.counting.engines.moebius import INDEX, LENGTH, SUMS, from_complement_sums, from_sums
from anysize.counting.engines.threads import Threads, Tick
from anysize.counting.features import Features
from anysize.graphs.graphset import GraphSet

MAX_VERTICES = 4096  # a codegree matrix of 64 MiB, and sums that fit int64
ANY_WIDTH = 0
WIDTHS = (0, 1, 2, 4, 8, ANY_WIDTH)  # words in a row that kernels are compiled for, on first use


def count(graphs: GraphSet, k: int, threads: Threads, tick: Tick, smaller: Sequence[int] = ()) -> CountTable:
    """Induced copies of the connected patterns on k vertices, after those on numbers of vertices below."""
    sizes = graphs.sizes
    sums = np.zeros((len(graphs), len(SUMS)), np.int64)
    # From density 0.55 on, the complement saves more than the conversion costs.
    complemented = (40 * graphs.edge_counts > 11 * sizes * (sizes - 1)) & (sizes >= k)
    needed = np.maximum(sizes + 63, 64) // 64  # words in a row
    most = needed.max(initial=0)
    for narrower, width in pairwise(WIDTHS):
        if narrower >= most:
            break
        rows = np.flatnonzero((needed > narrower) & ((needed <= width) | (width == ANY_WIDTH)))
        if len(rows):
            compiled = _kernel(width)

            def work(start, stop, rows=rows, compiled=compiled):
                arrays = graphs.first, graphs.indptr, graphs.indices, rows[start:stop], complemented
                compiled(*arrays, k, sums, threads.flag)
                tick((stop - start) / len(graphs))

            threads.run(work, sizes[rows] ** 3)
    # This step is linear: int64 may wrap on the way, but the result, at most C(n, 5), fits.
    tables = []
    for size in (*smaller, k):
        counts = sums[:, : LENGTH[size]] @ from_sums(size).T
        if complemented.any():
            counts[complemented] = from_complement_sums(size, sizes[complemented], sums[complemented])
        tables.append(counts)
    return plain_table(np.hstack(tables), *smaller, k)


def fits(f: Features, k: int) -> BoolArray:
    return f.n <= MAX_VERTICES


def seconds(f: Features, k: int) -> FloatArray:
    """All pairs, and the common neighbors of some of them; 5-cliques."""
    words = np.ceil(f.n / 64)
    density = np.minimum(f.edges, np.maximum(f.n * (f.n - 1) / 2 - f.edges, 0)) / np.maximum(f.n**2 / 2, 1)
    pairs = f.n**2 / 2 * (1 + words / 6)
    shared = f.n * density**2  # common neighbors of a pair
    common = f.n**2 / 2 * np.minimum(shared * (2 + 0.6 * words), f.n / 8 * (1 + words / 3))
    considered = density if k == 4 else float(k == 5)  # at k = 4 only edges look at their common neighbors
    cliques = f.n**4 / 24 * density**6 * (2 + words) if k == 5 else 0
    reach = f.n**2 * f.n * density / 16 if k == 5 else 0
    return 1e-9 * (500 + pairs + considered * common + cliques + reach)


def memory(f: Features, k: int) -> MemoryNeed:
    """Two matrices of codegrees, and three of bits."""
    padded = 64 * np.ceil(f.n / 64)
    return MemoryNeed(0.0, 9 * f.n * padded + 64 * padded, 1000.0)


BITSET = Engine(
    "bitset", "sums over pairs and triangles in words of 64 bits", count, (3, 4, 5), False, seconds, memory, fits,
    start=5e-5, splits_graphs=False, counts_smaller=True,
)  # fmt: skip


@cache
def _kernel(width: int):
    """The kernel for rows of that many words (loops over a constant are unrolled), or of any number."""
    over_vertices = (small_vertex_sums, vertex_sums, list_bits, count_cliques5)
    return specialize(kernel, (fill, codegrees, sweep, pair_sums, *over_vertices), words=width)


# ---- kernels ---------------------------------------------------------------------------------------------

words = ANY_WIDTH  # words in a row: `specialize` binds it to a constant


def kernel(first, indptr, indices, rows, complemented, k, sums, halt):
    """Fill sums[g] for the graphs g in rows, unless halted."""
    biggest = 1
    for g in rows:
        biggest = max(biggest, first[g + 1] - first[g])
    most = words if words > 0 else (biggest + 63) >> 6
    bits = np.empty((biggest, most), np.uint64)  # row i: the neighbors of i
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
        if is_set(halt):
            break
        n = first[g + 1] - first[g]
        w = words if words > 0 else (n + 63) >> 6
        fill(first[g], n, w, indptr, indices, complemented[g], bits, upper, columns)
        codegrees(n, w, bits, columns, common, at_vertex, halt)
        pair_sums(n, w, bits, upper, columns, common, closed, scratch, pair, at_vertex, k, sums[g], halt)
        small_vertex_sums(n, at_vertex, sums[g])
        if k == 5:
            vertex_sums(n, w, bits, upper, common, reach, at_vertex, sums[g], halt)
            sums[g, INDEX.cliques5] = count_cliques5(n, w, bits, upper, local, members, pair, halt)


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


def codegrees(n, width, bits, columns, common, at_vertex, halt):
    """Common neighbors of all pairs, and degrees; the other sums at a vertex are set to zero."""
    w = words if words > 0 else width
    span = 64 * ((n + 63) >> 6)
    for i in range(n):
        if is_set(halt):
            return
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


# ---- sums over the pairs of vertices that are adjacent or have two common neighbors -----------------------


def pair_sums(n, width, bits, upper, columns, common, closed, scratch, pair, at_vertex, k, out, halt):
    """All sums over pairs; at_vertex gets the triangles and 4-cycles twice, the 4-cliques three times."""
    w = words if words > 0 else width
    blocks = (n + 63) >> 6
    degree, triangles_at, cycles_at, cliques_at = at_vertex[0], at_vertex[1], at_vertex[2], at_vertex[3]
    for i in range(n):
        for b in range(blocks):
            word = bits[i, b]
            for x in range(64):
                bit = (word >> uint64(x)) & uint64(1)
                closed[i, 64 * b + x] = (common[i, 64 * b + x] - 1) * int64(bit)
    for i in range(n, 64 * w):
        degree[i] = 0
    paths4, squares4, diamonds, books, bulls, darts, bipartite23 = 0, 0, 0, 0, 0, 0, 0
    kites, gems, edge_cliques4, path_off, wheels, inner_edges, triangle_pairs = 0, 0, 0, 0, 0, 0, 0
    for i in range(n):
        if is_set(halt):
            return
        di = degree[i]
        for block in range(i >> 6, blocks):
            rest = uint64(0)  # edges, and other pairs with at least two common neighbors
            for x in range(64):
                rest |= uint64(common[i, 64 * block + x] > 1) << uint64(x)
            if block == i >> 6:
                rest &= ~((uint64(2) << uint64(i & 63)) - uint64(1))
            rest |= upper[i, block]
            while rest:
                j = (block << 6) + int64(lowest_bit(rest))
                rest &= rest - uint64(1)
                c = int64(common[i, j])
                adjacent = (bits[i, j >> 6] >> uint64(j & 63)) & uint64(1)
                dj = degree[j]
                ordered = c * (c - 1)  # halves and sixths are taken at the end
                squares4 += ordered
                cycles_at[i] += ordered
                cycles_at[j] += ordered
                bipartite23 += ordered * (c - 2)
                if adjacent:
                    paths4 += (di - 1) * (dj - 1)
                    if c == 0:
                        continue
                    triangles_at[i] += c
                    triangles_at[j] += c
                    diamonds += ordered
                    books += ordered * (c - 2)
                    bulls += c * (di - 2) * (dj - 2)
                    darts += ordered * (di + dj - 6)
                if k < 4 or (k < 5 and not adjacent):
                    continue
                for q in range(w):
                    pair[q] = bits[i, q] & bits[j, q]
                if 8 * c < n:  # few common neighbors: one by one (inlined: a call for each pair is slow)
                    around, hubs, inner, squares = 0, 0, uint64(0), uint64(0)
                    for b in range(blocks):
                        left = pair[b]
                        while left:
                            x = (b << 6) + int64(lowest_bit(left))
                            left &= left - uint64(1)
                            ones = uint64(0)
                            for q in range(w):
                                ones += popcount(pair[q] & bits[x, q])
                            inner += ones
                            squares += ones * ones
                            if adjacent:
                                around += degree[x]
                                hubs += int64(closed[i, x]) * int64(closed[j, x])
                else:  # many: a sweep over all vertices in vector registers
                    inner, squares = sweep(w, blocks, pair, columns, scratch)
                    around, hubs = 0, 0
                    if adjacent:
                        for b in range(blocks):
                            word = pair[b]
                            for x in range(64 * b, 64 * b + 64):
                                around += int64((word >> uint64(x & 63)) & uint64(1)) * degree[x]
                                hubs += int64(closed[i, x]) * int64(closed[j, x])
                pairs_inside = int64(squares - inner)
                wheels += pairs_inside
                cliques = int64(inner) // 2
                inner_edges += cliques * (c - 2)
                if adjacent:
                    kites += (c - 1) * (around - 2 * c)
                    gems += hubs
                    edge_cliques4 += cliques
                    cliques_at[i] += cliques
                    cliques_at[j] += cliques
                    path_off += cliques * (c - 2)
                    triangle_pairs += pairs_inside
    out[INDEX.paths4] = paths4
    out[INDEX.cycles4] = squares4 // 4
    out[INDEX.diamonds] = diamonds // 2
    out[INDEX.cliques4] = edge_cliques4 // 6
    out[INDEX.bulls] = bulls
    out[INDEX.darts] = darts // 2
    out[INDEX.kites] = kites
    out[INDEX.bipartite23] = bipartite23 // 6
    out[INDEX.books] = books // 6
    out[INDEX.gems] = gems
    out[INDEX.bipartite23e] = inner_edges
    out[INDEX.cliques5_minus_path] = path_off
    out[INDEX.wheels4] = wheels // 4
    out[INDEX.cliques5_minus_edge] = triangle_pairs // 6


def sweep(width, blocks, pair, columns, scratch):
    """Sums over x in the pair's common neighborhood of its degree there, and of the square."""
    w = words if words > 0 else width
    inner, squares = uint64(0), uint64(0)
    if words > 0:
        for b in range(blocks):
            word = pair[b]
            for x in range(64):
                ones = uint64(0)
                for q in range(w):
                    ones += popcount(pair[q] & columns[q, 64 * b + x])
                ones *= (word >> uint64(x)) & uint64(1)
                inner += ones
                squares += ones * ones
    else:
        for x in range(64 * w):
            scratch[x] = 0
        for q in range(w):
            word = pair[q]
            for x in range(64 * w):
                scratch[x] += int64(popcount(word & columns[q, x]))
        for b in range(w):
            word = pair[b]
            for x in range(64):
                ones = uint64(scratch[64 * b + x]) * ((word >> uint64(x)) & uint64(1))
                inner += ones
                squares += ones * ones
    return inner, squares


# ---- sums over vertices, after those over pairs, and 5-cliques -------------------------------------------


def small_vertex_sums(n, at_vertex, out):
    """Sums for k <= 4; triangles and cycles at a vertex, which came from its pairs, are halved."""
    degree, triangles_at, cycles_at = at_vertex[0], at_vertex[1], at_vertex[2]
    wedges, triangles, claws, paws, edges = 0, 0, 0, 0, 0
    for i in range(n):
        d = degree[i]
        t = triangles_at[i] // 2
        triangles_at[i] = t
        cycles_at[i] //= 2
        edges += d
        triangles += t
        wedges += d * (d - 1) // 2
        claws += d * (d - 1) * (d - 2) // 6
        paws += t * (d - 2)
    out[INDEX.edges] = edges // 2
    out[INDEX.wedges] = wedges
    out[INDEX.triangles] = triangles // 3
    out[INDEX.claws] = claws
    out[INDEX.paws] = paws


def vertex_sums(n, width, bits, upper, common, reach, at_vertex, out, halt):
    """Sums over vertices of degrees, triangles, cycles and cliques; 5-cycles."""
    w = words if words > 0 else width
    degree, triangles_at, cycles_at, cliques_at = at_vertex[0], at_vertex[1], at_vertex[2], at_vertex[3]
    span = 64 if words == 1 else 64 * ((n + 63) >> 6)
    stars5, forks, paths5, crickets, banners, tadpoles = 0, 0, 0, 0, 0, 0
    butterflies, lollipops, houses, walks5, tails = 0, 0, 0, 0, 0
    for i in range(n):
        if is_set(halt):
            return
        d, t = degree[i], triangles_at[i]
        stars5 += d * (d - 1) * (d - 2) * (d - 3) // 24
        crickets += t * ((d - 2) * (d - 3) // 2)
        butterflies += t * (t - 1) // 2
        banners += cycles_at[i] * (d - 2)
        lollipops += (cliques_at[i] // 3) * (d - 3)
        tails += (d - 2) * t
        a, b = 0, 0
        for j in range(span):
            reach[j] = 0
        for q in range(w):
            rest = bits[i, q]
            while rest:
                x = (q << 6) + int64(lowest_bit(rest))
                rest &= rest - uint64(1)
                e = degree[x] - 1
                a += e
                b += e * e
                row = common[x]
                for j in range(span):
                    reach[j] += row[j]
        forks += a * ((d - 1) * (d - 2) // 2)
        paths5 += (a * a - b) // 2
        tadpoles += t * (a - 2 * (d - 1))
        walks = 0
        for j in range(span):
            walks += int64(reach[j]) * int64(common[i, j])
        walks5 += walks
        for q in range(i >> 6, w):
            rest = upper[i, q]
            while rest:
                x = (q << 6) + int64(lowest_bit(rest))
                rest &= rest - uint64(1)
                houses += int64(common[i, x]) * (int64(reach[x]) - d - degree[x] + 1)
    out[INDEX.stars5] = stars5
    out[INDEX.forks] = forks
    out[INDEX.paths5] = paths5
    out[INDEX.crickets] = crickets
    out[INDEX.banners] = banners
    out[INDEX.tadpoles] = tadpoles
    # closed 5-walks: cycles, triangles, and triangles with a tail
    out[INDEX.cycles5] = (walks5 - 30 * out[INDEX.triangles] - 10 * tails) // 10
    out[INDEX.butterflies] = butterflies
    out[INDEX.houses] = houses
    out[INDEX.lollipops] = lollipops


def count_cliques5(n, width, bits, upper, local, members, pair, halt):
    """4-cliques among the upper neighbors of each vertex, in the graph they induce, renumbered."""
    cliques = uint64(0)
    for i in range(n):
        size = list_bits(upper[i], width, members)
        if size < 4:
            continue
        w = (size + 63) >> 6
        for a in range(size):
            for q in range(w):
                local[a, q] = uint64(0)
            row = members[a]
            for b in range(a + 1, size):
                x = members[b]
                local[a, b >> 6] |= ((bits[row, x >> 6] >> uint64(x & 63)) & uint64(1)) << uint64(b & 63)
        if is_set(halt):
            break
        if w == 1:
            for a in range(size):
                rest = local[a, 0]
                while rest:
                    both = local[a, 0] & local[lowest_bit(rest), 0]
                    rest &= rest - uint64(1)
                    third = both
                    while third:
                        cliques += popcount(both & local[lowest_bit(third), 0])
                        third &= third - uint64(1)
        elif w == 2:
            for a in range(size):
                for q in range(2):
                    rest = local[a, q]
                    while rest:
                        b = (q << 6) + int64(lowest_bit(rest))
                        rest &= rest - uint64(1)
                        both, more = local[a, 0] & local[b, 0], local[a, 1] & local[b, 1]
                        third = both
                        while third:
                            c = int64(lowest_bit(third))
                            third &= third - uint64(1)
                            cliques += popcount(both & local[c, 0]) + popcount(more & local[c, 1])
                        third = more
                        while third:
                            cliques += popcount(more & local[64 + int64(lowest_bit(third)), 1])
                            third &= third - uint64(1)
        else:
            for a in range(size):
                if is_set(halt):
                    break
                for q in range(a >> 6, w):
                    rest = local[a, q]
                    while rest:
                        b = (q << 6) + int64(lowest_bit(rest))
                        rest &= rest - uint64(1)
                        for p in range(q, w):
                            pair[p] = local[a, p] & local[b, p]
                        for p in range(q, w):
                            third = pair[p]
                            while third:
                                c = (p << 6) + int64(lowest_bit(third))
                                third &= third - uint64(1)
                                for r in range(p, w):
                                    cliques += popcount(pair[r] & local[c, r])
    return int64(cliques)


def list_bits(set_words, width, members):
    """Fill members with the positions of the bits of a set, ascending; return their number."""
    w = words if words > 0 else width
    size = 0
    for q in range(w):
        rest = set_words[q]
        while rest:
            members[size] = (q << 6) + int64(lowest_bit(rest))
            size += 1
            rest &= rest - uint64(1)
    return size
