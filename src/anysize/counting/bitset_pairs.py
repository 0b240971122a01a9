"""Sums over the pairs of vertices that are adjacent or have two common neighbours: a kernel of `bitset`."""

# mypy: ignore-errors
from __future__ import annotations

from numba import int64, uint64

from anysize.counting.bits import lowest_bit, popcount
from anysize.counting.moebius import AT

words = 0  # in a row; a constant when the kernel is compiled, 0 where it is not known


def pair_sums(n, width, bits, upper, columns, common, closed, scratch, pair, at_vertex, k, out):
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
        di = degree[i]
        for block in range(i >> 6, blocks):
            rest = uint64(0)  # edges, and other pairs with at least two common neighbours
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
                if 8 * c < n:  # few common neighbours: one by one (here: a call for each pair would be felt)
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
    out[AT.paths4] = paths4
    out[AT.cycles4] = squares4 // 4
    out[AT.diamonds] = diamonds // 2
    out[AT.cliques4] = edge_cliques4 // 6
    out[AT.bulls] = bulls
    out[AT.darts] = darts // 2
    out[AT.kites] = kites
    out[AT.bipartite23] = bipartite23 // 6
    out[AT.books] = books // 6
    out[AT.gems] = gems
    out[AT.bipartite23e] = inner_edges
    out[AT.cliques5_minus_path] = path_off
    out[AT.wheels4] = wheels // 4
    out[AT.cliques5_minus_edge] = triangle_pairs // 6


def sweep(width, blocks, pair, columns, scratch):
    """Sums over x in the pair's common neighbourhood of its degree there, and of the square."""
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
