"""Products of neighbourhood sizes over the edges or wedges of a large sparse graph: kernels of `flip_sparse`.

The vertices outside Q fall into groups by their adjacency to Q, a number of one bit for each member, and by colour:
sizes[group * colours + colour]. Sizes follow from typed degrees and codegrees, by taking off what is in larger groups.
Kernels are made for a number of colours, a constant that the compiler unrolls.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import int64

from anysize.counting.bits import add_outer_wide
from anysize.counting.jit import entry, helper


@entry
def typed_degrees(low_ptr, low, low_edge, high_ptr, high, ptr, third, colour, colours):
    """Neighbours of every vertex, and common neighbours of every edge, by colour."""
    n = len(low_ptr) - 1
    of_vertex = np.zeros((n, colours), np.uint32)
    of_edge = np.zeros((len(high), colours), np.uint32)
    for v in range(n):
        for e in range(low_ptr[v], low_ptr[v + 1]):
            of_vertex[v, colour[low[e]]] += 1
        for e in range(high_ptr[v], high_ptr[v + 1]):
            of_vertex[v, colour[high[e]]] += 1
            for z in range(ptr[e], ptr[e + 1]):
                of_edge[e, colour[third[z]]] += 1
    return of_vertex, of_edge


def over_edges(colours: int):
    """k = 4: Q is an edge."""

    @entry
    def kernel(
        low_ptr, low, low_edge, high_ptr, high, ptr, third, lower_edge, upper_edge, colour, of_vertex, of_edge,
        start, stop, tuple_of, block, pair_ptr, pairs, products, group_sums,
    ):  # fmt: skip
        sizes = np.zeros(4 * colours, np.uint32)
        for x in range(start, stop):
            for e in range(high_ptr[x], high_ptr[x + 1]):
                u, v = int64(x), int64(high[e])
                if colour[u] > colour[v]:
                    u, v = v, u
                for c in range(colours):
                    both = of_edge[e, c]
                    sizes[colours + c] = of_vertex[u, c] - both
                    sizes[2 * colours + c] = of_vertex[v, c] - both
                    sizes[3 * colours + c] = both
                sizes[colours + colour[v]] -= 1
                sizes[2 * colours + colour[u]] -= 1
                kind = tuple_of[colour[u] * colours + colour[v]]
                here = block[kind, 1]
                for j in range(pair_ptr[1], pair_ptr[2]):
                    add_outer_wide(products, here, sizes, pairs[j, 0] * colours, sizes, pairs[j, 1] * colours, colours)
                    here += colours * colours
                for s in range(colours, 4 * colours):
                    group_sums[(kind * 2 + 1) * 4 * colours + s] += int64(sizes[s])

    return kernel


def over_wedges(colours: int):
    """k = 5: Q is a path u - m - v (code 5) or a triangle (code 7); u has bit 1, m bit 2, v bit 4."""
    side = 8 * colours

    @entry
    def kernel(
        low_ptr, low, low_edge, high_ptr, high, ptr, third, lower_edge, upper_edge, colour, of_vertex, of_edge,
        start, stop, tuple_of, block, pair_ptr, pairs, products, group_sums,
    ):  # fmt: skip
        n = len(low_ptr) - 1
        codegree = np.zeros((n, colours), np.uint32)
        reach = np.zeros(n, np.uint32)  # codegree over all colours
        touched = np.empty(n, np.uint32)
        beside = np.zeros(n, np.uint8)  # adjacent to u
        three = np.zeros(colours, np.uint32)
        sizes = np.zeros(side, np.uint32)
        filled = np.zeros(8, np.uint32)
        for u in range(start, stop):
            below = low_ptr[u + 1] - low_ptr[u]
            degree = below + high_ptr[u + 1] - high_ptr[u]
            n_touched = _codegrees_above(low_ptr, low, high_ptr, high, colour, u, beside, codegree, reach, touched)
            for s in range(degree):
                outward = s >= below
                um = high_ptr[u] + s - below if outward else int64(low_edge[low_ptr[u] + s])
                m = int64(high[um]) if outward else int64(low[low_ptr[u] + s])
                for t in range(2):
                    first = low_ptr[m] if t == 0 else high_ptr[m]
                    f = (low_ptr[m + 1] if t == 0 else high_ptr[m + 1]) - 1
                    while f >= first:
                        v = int64(low[f]) if t == 0 else int64(high[f])
                        mv = int64(low_edge[f]) if t == 0 else f
                        f -= 1
                        if v <= u:
                            break
                        triangle = beside[v] != 0
                        if triangle and not u < m < v:
                            continue
                        for c in range(colours):
                            three[c] = 0
                        if ptr[um + 1] > ptr[um] and (triangle or reach[v] > 1):
                            for z in range(ptr[mv], ptr[mv + 1]):
                                if beside[third[z]]:
                                    three[colour[third[z]]] += 1
                        for c in range(colours):
                            all3 = three[c]
                            with_u, with_v = of_edge[um, c] - all3, of_edge[mv, c] - all3
                            ends = codegree[v, c] - all3
                            sizes[7 * colours + c] = all3
                            sizes[3 * colours + c] = with_u
                            sizes[6 * colours + c] = with_v
                            sizes[5 * colours + c] = ends
                            sizes[colours + c] = of_vertex[u, c] - with_u - ends - all3
                            sizes[2 * colours + c] = of_vertex[m, c] - with_u - with_v - all3
                            sizes[4 * colours + c] = of_vertex[v, c] - with_v - ends - all3
                        cu, cm, cv = colour[u], colour[m], colour[v]
                        sizes[5 * colours + cm] -= 1
                        if triangle:
                            sizes[6 * colours + cu] -= 1
                            sizes[3 * colours + cv] -= 1
                            code = 7
                        else:
                            sizes[2 * colours + cu] -= 1
                            sizes[2 * colours + cv] -= 1
                            code = 5
                        if cu > cv:  # the table wants the ends in ascending order: u and v change places
                            cu, cv = cv, cu
                            for c in range(colours):
                                a, b = colours + c, 4 * colours + c
                                sizes[a], sizes[b] = sizes[b], sizes[a]
                                a, b = 3 * colours + c, 6 * colours + c
                                sizes[a], sizes[b] = sizes[b], sizes[a]
                        kind = tuple_of[(cu * colours + cm) * colours + cv]
                        sums_at = (kind * 8 + code) * side
                        for p in range(1, 8):
                            total = np.uint32(0)
                            for c in range(colours):
                                total |= sizes[p * colours + c]
                            filled[p] = total
                            if total:
                                for c in range(colours):
                                    group_sums[sums_at + p * colours + c] += int64(sizes[p * colours + c])
                        here = block[kind, code]
                        for j in range(pair_ptr[code], pair_ptr[code + 1]):
                            p, r = pairs[j, 0], pairs[j, 1]
                            if filled[p] and filled[r]:
                                add_outer_wide(products, here, sizes, p * colours, sizes, r * colours, colours)
                            here += colours * colours
            for s in range(n_touched):
                reach[touched[s]] = 0
                for c in range(colours):
                    codegree[touched[s], c] = 0
            for s in range(degree):
                beside[low[low_ptr[u] + s] if s < below else high[high_ptr[u] + s - below]] = 0

    return kernel


@helper
def _codegrees_above(low_ptr, low, high_ptr, high, colour, u, beside, codegree, reach, touched):
    """Mark what is beside u, and fill the codegrees of u with the vertices above it; how many have one."""
    size = 0
    below = low_ptr[u + 1] - low_ptr[u]
    for s in range(below + high_ptr[u + 1] - high_ptr[u]):
        x = low[low_ptr[u] + s] if s < below else high[high_ptr[u] + s - below]
        beside[x] = 1
        c = colour[x]
        for t in range(2):
            first = low_ptr[x] if t == 0 else high_ptr[x]
            f = (low_ptr[x + 1] if t == 0 else high_ptr[x + 1]) - 1
            while f >= first:
                b = low[f] if t == 0 else high[f]
                if b <= u:
                    break
                if reach[b] == 0:
                    touched[size] = b
                    size += 1
                reach[b] += 1
                codegree[b, c] += 1
                f -= 1
    return size
