"""What walks of two steps find in a large sparse graph: 4- and 5-cycles, codegrees. Kernels of `sparse`.

Each takes a range of vertices, so that threads can share the work: those where a walk begins and, at a cycle, the
highest of it. Sums come with a float shadow: where that is large, the int64 sums may have wrapped, and the caller
refuses them.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import int64, uint64

from anysize.counting.jit import entry


@entry
def count_cycles4(low_ptr, low, high_ptr, high, start, stop):
    """4-cycles with their highest vertex in start .. stop."""
    n = len(low_ptr) - 1
    ways = np.zeros(n, np.uint64)
    found = uint64(0)
    for top in range(start, stop):
        first, last = low_ptr[top], low_ptr[top + 1]
        if last - first < 2:
            continue
        zero = uint64(top) << uint64(32)  # counts of earlier tops are below it: nothing needs to be reset
        for e in range(first, last):
            middle = low[e]
            for f in range(low_ptr[middle], low_ptr[middle + 1]):
                here = max(ways[low[f]], zero)
                found += here - zero
                ways[low[f]] = here + uint64(1)
            for f in range(high_ptr[middle], high_ptr[middle + 1]):
                if high[f] >= top:
                    break
                here = max(ways[high[f]], zero)
                found += here - zero
                ways[high[f]] = here + uint64(1)
    return int64(found)


@entry
def along_cycles(low_ptr, low, low_edge, high_ptr, high, start, stop, at_edge):
    """Cycles with their highest vertex in start .. stop: adds 4-cycles to at_edge, sums closed 5-walks.

    There are ways(j) paths top - k - j with k, j below top. A 5-cycle is an edge (j, l) below top with a path
    to either end; the paths must not use j or l as their middle, and must not share it (taken off elsewhere).
    """
    n = len(low_ptr) - 1
    paths = np.zeros(n, np.uint32)  # twice the ways, plus one where the vertex is adjacent to top
    touched = np.empty(n, np.uint32)
    sums, shadow = np.zeros(1, np.int64), np.zeros(1, np.float64)
    for top in range(start, stop):
        first, last = low_ptr[top], low_ptr[top + 1]
        size = 0
        for e in range(first, last):
            middle = low[e]
            if paths[middle] == 0:
                touched[size] = middle
                size += 1
            paths[middle] |= 1
            for f in range(low_ptr[middle], low_ptr[middle + 1]):
                j = low[f]
                if paths[j] == 0:
                    touched[size] = j
                    size += 1
                paths[j] += 2
            for f in range(high_ptr[middle], high_ptr[middle + 1]):
                j = high[f]
                if j >= top:
                    break
                if paths[j] == 0:
                    touched[size] = j
                    size += 1
                paths[j] += 2
        for e in range(first, last):
            middle = low[e]
            met = 0
            for f in range(low_ptr[middle], low_ptr[middle + 1]):
                others = int64(paths[low[f]] >> 1) - 1
                met += others
                at_edge[low_edge[f]] += others
            for f in range(high_ptr[middle], high_ptr[middle + 1]):
                if high[f] >= top:
                    break
                others = int64(paths[high[f]] >> 1) - 1
                met += others
                at_edge[f] += others
            at_edge[low_edge[e]] += met
        found = 0
        for s in range(size):
            j = touched[s]
            here, direct = int64(paths[j] >> 1), int64(paths[j] & 1)
            for f in range(low_ptr[j], low_ptr[j + 1]):
                there = int64(paths[low[f]])  # none: then direct is 0, and so is the product
                found += (here - (there & 1)) * ((there >> 1) - direct)
        for s in range(size):
            paths[touched[s]] = 0
        sums[0] += found
        shadow[0] += float(found)
    return sums, shadow


@entry
def triangles_below(low_ptr, low, low_edge, high_ptr, high, ptr, third, lower_edge, upper_edge):
    """Triangles with a tail to a vertex above all three: the closed 5-walks that use their middle twice."""
    found = 0
    for u in range(len(low_ptr) - 1):
        for e in range(high_ptr[u], high_ptr[u + 1]):
            v = high[e]
            for z in range(ptr[e + 1] - 1, ptr[e] - 1, -1):
                w = third[z]
                if w <= v:
                    break
                found += high_ptr[w + 1] - high_ptr[w]
                found += high_ptr[u + 1] - (lower_edge[z] + 1)  # the out-list of u behind w
                found += high_ptr[v + 1] - (upper_edge[z] + 1)
    return found


@entry
def over_codegrees(low_ptr, low, low_edge, high_ptr, high, ptr, third, lower_edge, upper_edge, start, stop):
    """Pairs a < b with a in start .. stop: sums of C(codegree, 3), and of diamonds * (codegree - 2)."""
    ways = np.zeros(len(low_ptr) - 1, np.uint64)
    sums, shadow = np.zeros(2, np.int64), np.zeros(2, np.float64)
    for a in range(start, stop):
        below = low_ptr[a + 1] - low_ptr[a]
        degree = below + high_ptr[a + 1] - high_ptr[a]
        if degree < 3:
            continue
        zero = uint64(a + 1) << uint64(32)  # codegrees with earlier vertices are below it
        stars, diamonds = uint64(0), 0
        for s in range(degree):
            x = low[low_ptr[a] + s] if s < below else high[high_ptr[a] + s - below]
            for f in range(high_ptr[x + 1] - 1, high_ptr[x] - 1, -1):
                b = high[f]
                if b <= a:
                    break
                c = max(ways[b], zero) - zero
                stars += c * (c - uint64(1))  # 0, 0, 2, 6, ...: C(codegree, 3) in steps, doubled
                ways[b] = zero + c + uint64(1)
            if x > a:
                for f in range(low_ptr[x + 1] - 1, low_ptr[x] - 1, -1):
                    b = low[f]
                    if b <= a:
                        break
                    c = max(ways[b], zero) - zero
                    stars += c * (c - uint64(1))
                    ways[b] = zero + c + uint64(1)
        for s in range(degree):  # triangles a x y, x < y, and the vertices b above a beyond the edge x y
            outward = s >= below
            e = high_ptr[a] + s - below if outward else int64(low_edge[low_ptr[a] + s])
            x = high[e] if outward else low[low_ptr[a] + s]
            for z in range(ptr[e + 1] - 1, ptr[e] - 1, -1):
                if third[z] <= x:
                    break
                beyond = upper_edge[z] if outward else lower_edge[z]
                for y in range(ptr[beyond + 1] - 1, ptr[beyond] - 1, -1):
                    b = third[y]
                    if b <= a:
                        break
                    diamonds += int64(ways[b] - zero) - 2
        stars = int64(stars) // 2
        sums += np.array([stars, diamonds])
        shadow += np.array([float(stars), float(diamonds)])
    return sums, shadow
