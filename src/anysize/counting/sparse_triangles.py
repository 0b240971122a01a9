"""What stands on triangles in a large sparse graph: cliques, gems, kites, wheels. Kernels of `sparse`.

Each takes a range of vertices, so that threads can share the work. The neighbours of a vertex are numbered, rows of
bits say which of them are adjacent, and whatever stands on an edge or a triangle is an intersection of rows. Sums come
with a float shadow: where that is large, the int64 sums may have wrapped, and the caller refuses them.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import int64, uint64

from anysize.counting.bits import lowest_bit, popcount
from anysize.counting.jit import entry, helper


@entry
def count_cliques4(high_ptr, high, start, stop, per_edge):
    """4-cliques with their lowest vertex in start .. stop; adds the triangles of each edge to per_edge."""
    n = len(high_ptr) - 1
    mark = np.zeros(n, np.uint32)
    most = 0
    for u in range(start, stop):
        most = max(most, high_ptr[u + 1] - high_ptr[u])
    rows = np.zeros((most, (most + 63) >> 6), np.uint64)
    found = uint64(0)
    for u in range(start, stop):
        first, last = high_ptr[u], high_ptr[u + 1]
        if last - first < 2:
            continue
        words = (last - first + 63) >> 6
        for e in range(first, last):
            mark[high[e]] = e + 1 - first
        total = 0
        for e in range(first, last):
            v = high[e]
            row = rows[e - first]
            for q in range(words):
                row[q] = uint64(0)
            met = 0
            for f in range(high_ptr[v], high_ptr[v + 1]):
                place = mark[high[f]]
                if place:
                    met += 1
                    per_edge[first + place - 1] += 1
                    per_edge[f] += 1
                    row[(place - 1) >> 6] |= uint64(1) << uint64((place - 1) & 63)
            per_edge[e] += met
            total += met
        for e in range(first, last):
            mark[high[e]] = 0
        if total < 3:
            continue
        found += _triangles_among(rows, last - first, words)
    return int64(found)


@helper
def _triangles_among(rows, size, words):
    """Triangles of a small graph, from rows of bits that hold the higher neighbours."""
    found = uint64(0)
    for a in range(size):
        for q in range(a >> 6, words):
            rest = rows[a, q]
            while rest:
                b = (q << 6) + int64(lowest_bit(rest))
                rest &= rest - uint64(1)
                for p in range(q, words):
                    found += popcount(rows[a, p] & rows[b, p])
    return found


@entry
def around_triangles(
    low_ptr, low, low_edge, high_ptr, high, ptr, third, lower_edge, upper_edge, degree, start, stop, at_edge
):
    """Triangles with their lowest vertex u in start .. stop: sums for gems, kites, 4- and 5-cliques.

    The neighbours of u are numbered in rank order, rows of bits say which of them are adjacent, and the
    common neighbours of a triangle are one intersection of two rows. at_edge: twice the 4-cliques of an edge.
    """
    sums = np.zeros(4, np.int64)
    shadow = np.zeros(4, np.float64)
    most, out = 0, 0
    for u in range(start, stop):
        most = max(most, degree[u])
        out = max(out, high_ptr[u + 1] - high_ptr[u])
    place = np.zeros(len(low_ptr) - 1, np.uint32)
    rows = np.zeros((out, (most + 63) >> 6), np.uint64)
    both = np.zeros((most + 63) >> 6, np.uint64)
    for u in range(start, stop):
        first, last = high_ptr[u], high_ptr[u + 1]
        below = low_ptr[u + 1] - low_ptr[u]
        words = (degree[u] + 63) >> 6
        if ptr[last] == ptr[first]:
            continue
        for e in range(low_ptr[u], low_ptr[u + 1]):
            place[low[e]] = e - low_ptr[u]
        for e in range(first, last):
            place[high[e]] = below + e - first
        for e in range(first, last):
            row = rows[e - first]
            for q in range(words):
                row[q] = uint64(0)
            for z in range(ptr[e], ptr[e + 1]):
                x = place[third[z]]
                row[x >> 6] |= uint64(1) << uint64(x & 63)
        gems, kites, pairs, cliques5 = 0, 0, 0, uint64(0)
        for e in range(first, last):
            v = high[e]
            here = ptr[e + 1] - ptr[e] - 1
            for z in range(ptr[e + 1] - 1, ptr[e] - 1, -1):
                w = third[z]
                if w <= v:
                    break
                g, f = lower_edge[z], upper_edge[z]
                there, across = ptr[g + 1] - ptr[g] - 1, ptr[f + 1] - ptr[f] - 1
                gems += here * there + here * across + there * across
                kites += here * (degree[w] - 2) + there * (degree[v] - 2) + across * (degree[u] - 2)
                row, other = rows[e - first], rows[g - first]
                ones = uint64(0)
                for q in range(words):
                    both[q] = row[q] & other[q]
                    ones += popcount(both[q])
                common = int64(ones)
                if common == 0:
                    continue
                at_edge[e] += common
                at_edge[f] += common
                at_edge[g] += common
                pairs += common * (common - 1) // 2
                if common < 2:
                    continue
                above = below + g - first + 1  # places of the vertices above w
                for q in range(above >> 6, words):
                    rest = both[q]
                    if q == above >> 6:
                        rest &= ~uint64(0) << uint64(above & 63)
                    while rest:
                        x = (q << 6) + int64(lowest_bit(rest))
                        rest &= rest - uint64(1)
                        last_row = rows[x - below]
                        cliques5 += popcount(both[q] & last_row[q] & (~uint64(0) << uint64(x & 63)))
                        for p in range(q + 1, words):
                            cliques5 += popcount(both[p] & last_row[p])
        sums += np.array([gems, kites, pairs, int64(cliques5)])
        shadow += np.array([float(gems), float(kites), float(pairs), float(cliques5)])
    return sums, shadow


@entry
def count_wheels(low_ptr, low, low_edge, high_ptr, high, ptr, third, lower_edge, upper_edge, start, stop):
    """Wheels with their hub in start .. stop: 4-cycles among its neighbours.

    Where the neighbours are densely connected, codegrees of all pairs come from rows of bits; elsewhere each
    cycle is found from its highest vertex, along lists of triangles.
    """
    sums, shadow = np.zeros(1, np.int64), np.zeros(1, np.float64)
    n = len(low_ptr) - 1
    ways, place, touched = np.zeros(n, np.uint32), np.zeros(n, np.uint32), np.empty(n, np.uint32)
    rows = np.zeros((64, 1), np.uint64)
    for hub in range(start, stop):
        below = low_ptr[hub + 1] - low_ptr[hub]
        degree = below + high_ptr[hub + 1] - high_ptr[hub]
        steps = 0
        for s in range(degree):
            e = high_ptr[hub] + s - below if s >= below else int64(low_edge[low_ptr[hub] + s])
            steps += (ptr[e + 1] - ptr[e]) ** 2
        words = (degree + 63) >> 6
        if degree * degree * words < steps:
            if len(rows) < degree:
                rows = np.zeros((2 * degree, (2 * degree + 63) >> 6), np.uint64)
            found = _wheels_by_bits(low_ptr, low, low_edge, high_ptr, high, ptr, third, hub, place, rows)
        else:
            found = _wheels_by_lists(
                low_ptr, low, low_edge, high_ptr, high, ptr, third, lower_edge, upper_edge, hub, ways, touched
            )
        sums[0] += found
        shadow[0] += float(found)
    return sums, shadow


@helper
def _wheels_by_bits(low_ptr, low, low_edge, high_ptr, high, ptr, third, hub, place, rows):
    below = low_ptr[hub + 1] - low_ptr[hub]
    degree = below + high_ptr[hub + 1] - high_ptr[hub]
    words = (degree + 63) >> 6
    for s in range(degree):
        place[high[high_ptr[hub] + s - below] if s >= below else low[low_ptr[hub] + s]] = s
    for s in range(degree):
        e = high_ptr[hub] + s - below if s >= below else int64(low_edge[low_ptr[hub] + s])
        for q in range(words):
            rows[s, q] = uint64(0)
        for z in range(ptr[e], ptr[e + 1]):
            x = place[third[z]]
            rows[s, x >> 6] |= uint64(1) << uint64(x & 63)
    found = 0
    for s in range(degree):
        for t in range(s):
            ones = uint64(0)
            for q in range(words):
                ones += popcount(rows[s, q] & rows[t, q])
            found += int64(ones) * (int64(ones) - 1)
    return found // 4  # each cycle has two pairs of opposite vertices


@helper
def _wheels_by_lists(low_ptr, low, low_edge, high_ptr, high, ptr, third, lower_edge, upper_edge, hub, ways, touched):
    found = 0
    below = low_ptr[hub + 1] - low_ptr[hub]
    for s in range(below + high_ptr[hub + 1] - high_ptr[hub]):
        outward = s >= below
        e = high_ptr[hub] + s - below if outward else int64(low_edge[low_ptr[hub] + s])
        top = high[e] if outward else low[low_ptr[hub] + s]
        size = 0
        for z in range(ptr[e], ptr[e + 1]):
            x = third[z]
            if x >= top:
                break
            spoke = lower_edge[z] if outward else upper_edge[z]
            for y in range(ptr[spoke], ptr[spoke + 1]):
                a = third[y]
                if a >= top:
                    break
                if ways[a] == 0:
                    touched[size] = a
                    size += 1
                found += ways[a]
                ways[a] += 1
        for t in range(size):
            ways[touched[t]] = 0
    return int64(found)
