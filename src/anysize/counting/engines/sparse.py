"""Plain counts, k = 3, 4, 5, of large sparse graphs, one graph at a time, in degree order.

Kernels compute triangles, cliques and cycles at every edge, codegrees, wheels and 5-cycles. All other sums of
`moebius.SUMS` are sums over vertices or edges of products of those, computed in numpy, or in Python integers where
int64 could overflow.
"""

# mypy: ignore-errors
from __future__ import annotations

from math import comb

import numpy as np
from numba import int64, uint64

from anysize._typing import FloatArray
from anysize.counting.columns import CountOverflow, CountTable, plain_table
from anysize.counting.engines.bits import is_set, lowest_bit, popcount
from anysize.counting.engines.engine import Engine, MemoryNeed
from anysize.counting.engines.jit import entry, helper
from anysize.counting.engines.moebius import LENGTH, SUM_INDEX, from_sums
from anysize.counting.engines.oriented import Oriented, Triangles, fill_rows, orient, triangle_lists, triangles_of_edges
from anysize.counting.engines.threads import OverRange, Threads, Tick
from anysize.counting.features import Features
from anysize.graphs.graphset import GraphSet

MAX_SAFE_SUM = float(2**62)  # if a float sum is below it, the same sum in int64 did not overflow


def count(graphs: GraphSet, k: int, threads: Threads, tick: Tick) -> CountTable:
    """Induced copies of the connected patterns on k vertices."""
    rows = []
    for row, graph in enumerate(graphs):
        try:
            sums = measure(graph, k, threads)
        except OverflowError as error:
            raise CountOverflow(row, str(error)) from None
        rows.append(from_sums(k).astype(object) @ np.array(sums, object))
        tick(1 / len(graphs))
    return plain_table(np.array(rows, object).reshape(len(graphs), from_sums(k).shape[0]), k)


def seconds(f: Features, k: int) -> FloatArray:
    """Walks of two steps in degree order, and loops over triangles at k = 5."""
    if k < 5:
        return 1e-9 * (2e5 + 60 * f.edges + {3: 0.5, 4: 2.0}[k] * f.walks)
    return 1e-9 * (6e5 + 250 * f.edges + 0.25 * f.triangle_steps)


def memory(f: Features, k: int) -> MemoryNeed:
    """Lists of neighbors, at k = 5 of triangles; for each thread sums per edge, and rows of bits."""
    lists = 100 * (f.n + f.edges) + (12 * f.triangles_per_edge * f.edges if k == 5 else 0)
    return MemoryNeed(lists, 24 * (f.n + f.edges) + f.max_degree**2 / 2, 1000.0)


SPARSE = Engine(
    "sparse", "sums over cycles and cliques in degree order", count, (3, 4, 5), False, seconds, memory, by_ranges=True
)


def measure(graph: GraphSet, k: int, threads: Threads) -> list[int]:
    """The sums of `moebius.SUMS` that k needs, as Python integers; all zero where there is no k-set."""
    if len(graph.indptr) - 1 < k:
        return [0] * LENGTH[k]
    oriented = orient(graph.indptr, graph.indices)
    degree = np.diff(oriented.near_ptr)
    by_name = _small_sums(oriented, degree, k, threads) if k < 5 else _all_sums(oriented, degree, threads)
    sums = [0] * LENGTH[k]
    for name, value in by_name.items():
        if SUM_INDEX[name] < LENGTH[k]:
            sums[SUM_INDEX[name]] = int(value)
    return sums


# ---- sums over vertices and edges, exactly ------------------------------------------------------


def exact_sum(*factors, divide_by: int = 1) -> int:
    """The sum of products of integer arrays: in int64 if that cannot overflow, else in Python integers."""
    size = np.abs(factors[0].astype(np.float64))
    for factor in factors[1:]:
        size = size * np.abs(factor)
    if float(size.sum()) < MAX_SAFE_SUM:
        total = int(np.prod(np.broadcast_arrays(*factors), axis=0).sum()) if len(factors) > 1 else int(factors[0].sum())
    else:
        columns = [factor.astype(object) for factor in factors]
        product = columns[0]
        for column in columns[1:]:
            product = product * column
        total = int(product.sum())
    return total // divide_by


def binomial_sum(values, k: int) -> int:
    """Sum of C(value, k) over an array of small numbers: by its histogram, in Python integers."""
    amount = np.bincount(values)
    return sum(int(amount[v]) * comb(v, k) for v in np.flatnonzero(amount).tolist())


def over_ends(graph: Oriented, at_edge) -> np.ndarray:
    """For every vertex the sum over its edges of a number per edge (sums below 2^53)."""
    n = len(graph.rank)
    lower = np.repeat(np.arange(n), np.diff(graph.high_ptr))
    return (np.bincount(lower, at_edge, n) + np.bincount(graph.high, at_edge, n)).astype(np.int64)


def _sums_of_degrees(graph: Oriented, degree, per_edge, k: int) -> dict[str, int]:
    """Sums that need degrees and triangles only."""
    lower = np.repeat(np.arange(len(degree)), np.diff(graph.high_ptr))
    upper = graph.high
    t = over_ends(graph, per_edge) // 2
    sums = {
        "edges": len(upper),
        "wedges": binomial_sum(degree, 2),
        "triangles": int(per_edge.sum()) // 3,
        "claws": binomial_sum(degree, 3),
        "paths4": exact_sum(degree[lower] - 1, degree[upper] - 1),
        "paws": exact_sum(t, degree - 2),
        "diamonds": binomial_sum(per_edge, 2),
    }
    if k < 5:
        return sums
    # a(v), the sum over neighbors x of d(x) - 1
    reach = np.bincount(lower, degree[upper] - 1, len(degree)) + np.bincount(upper, degree[lower] - 1, len(degree))
    reach = reach.astype(np.int64)
    with_triangle = per_edge > 0
    lower, upper, te = lower[with_triangle], upper[with_triangle], per_edge[with_triangle].astype(np.int64)
    sums |= {
        "stars5": binomial_sum(degree, 4),
        "forks": exact_sum(reach, degree - 1, degree - 2, divide_by=2),
        # a^2 less the squares of its terms: each neighbor x of degree d contributes (d - 1)^2, d times
        "paths5": (exact_sum(reach, reach) - exact_sum(degree, degree - 1, degree - 1)) // 2,
        "crickets": exact_sum(t, degree - 2, degree - 3, divide_by=2),
        "bulls": exact_sum(te, degree[lower] - 2, degree[upper] - 2),
        "tadpoles": exact_sum(t, reach - 2 * (degree - 1)),
        "darts": exact_sum(te * (te - 1) // 2, degree[lower] + degree[upper] - 6),
        "butterflies": exact_sum(t, t - 1, divide_by=2),
        "books": binomial_sum(te, 3),
    }
    return sums


# ---- sums by pattern size -------------------------------------------------------------------------------


def _triangles(graph: Oriented, threads: Threads) -> np.ndarray:
    work = OverRange(triangles_of_edges, (graph,), threads.flag)
    return threads.accumulate(work, np.diff(graph.high_ptr) ** 2, len(graph.high))[1][0]


def _small_sums(graph: Oriented, degree, k: int, threads: Threads) -> dict[str, int]:
    """k = 3 and 4: without lists of triangles."""
    if k == 3:
        return _sums_of_degrees(graph, degree, _triangles(graph, threads), 3)

    cliques = OverRange(count_cliques4, (graph,), threads.flag)
    parts, (per_edge,) = threads.accumulate(cliques, np.diff(graph.high_ptr) ** 2, len(graph.high))
    sums = _sums_of_degrees(graph, degree, per_edge, 4)

    cycles = OverRange(count_cycles4, (graph,), threads.flag)
    return sums | {"cliques4": sum(parts), "cycles4": sum(threads.run(cycles, _wedge_work(graph, degree)))}


def _wedge_work(graph: Oriented, degree) -> np.ndarray:
    """For each vertex the steps of a walk to its lower neighbors and on to all of theirs."""
    return np.bincount(graph.high, np.repeat(degree, np.diff(graph.high_ptr)), len(degree))


def _all_sums(graph: Oriented, degree, threads: Threads) -> dict[str, int]:
    """k = 5."""
    per_edge = _triangles(graph, threads)
    sums = _sums_of_degrees(graph, degree, per_edge, 5)
    lists = triangle_lists(graph, per_edge, threads.flag)
    sums |= _around_triangles(graph, lists, degree, per_edge, threads)
    sums |= _along_cycles(graph, lists, degree, per_edge, threads)
    sums |= _over_pairs(graph, lists, degree, threads)
    return sums


def _around_triangles(graph: Oriented, lists: Triangles, degree, per_edge, threads: Threads) -> dict[str, int]:
    weights = np.add.reduceat(np.append(per_edge, 0), graph.high_ptr[:-1].clip(max=len(per_edge)))
    weights = np.where(np.diff(graph.high_ptr) > 0, weights, 0)

    cliques = OverRange(around_triangles, (graph, lists, degree), threads.flag)
    parts, (at_edge,) = threads.accumulate(cliques, weights, len(graph.high))
    gems, kites, pairs, cliques5 = _add(parts, "gems, kites or cliques")
    at_edge //= 2

    wheels = OverRange(count_wheels, (graph, lists), threads.flag)
    (wheels4,) = _add(threads.run(wheels, over_ends(graph, per_edge.astype(np.float64) ** 2)), "wheels")
    return {
        "gems": gems,
        "kites": kites,
        "cliques4": int(at_edge.sum()) // 6,
        "lollipops": exact_sum(over_ends(graph, at_edge) // 3, degree - 3),
        "cliques5_minus_path": exact_sum(at_edge, per_edge - 2),
        "cliques5_minus_edge": pairs,
        "cliques5": cliques5,
        "wheels4": wheels4,
    }


def _along_cycles(graph: Oriented, lists: Triangles, degree, per_edge, threads: Threads) -> dict[str, int]:
    cycles = OverRange(along_cycles, (graph,), threads.flag)
    parts, (at_edge,) = threads.accumulate(cycles, _wedge_work(graph, degree), len(graph.high))
    (closed5,) = _add(parts, "5-cycles")
    tails = triangles_below(graph, lists, threads.flag)
    return {
        "cycles4": int(at_edge.sum()) // 4,
        "banners": exact_sum(over_ends(graph, at_edge) // 2, degree - 2),
        "houses": exact_sum(per_edge, at_edge),
        "cycles5": closed5 - tails,
    }


def _over_pairs(graph: Oriented, lists: Triangles, degree, threads: Threads) -> dict[str, int]:
    pairs = OverRange(over_codegrees, (graph, lists), threads.flag)
    lower = np.repeat(np.arange(len(degree)), np.diff(graph.high_ptr))
    steps = np.bincount(lower, degree[graph.high], len(degree)) + _wedge_work(graph, degree)
    bipartite23, with_edge = _add(threads.run(pairs, steps), "K2,3")
    return {"bipartite23": bipartite23, "bipartite23e": with_edge}


def _add(parts, what: str) -> list[int]:
    """Totals of (sums, the same sums as floats) in Python integers; an error if a part overflowed."""
    for _, shadow in parts:
        if max(abs(x) for x in shadow) >= MAX_SAFE_SUM:
            raise OverflowError(f"has more than 2^62 {what} in one of its parts")
    return [sum(int(sums[i]) for sums, _ in parts) for i in range(len(parts[0][0]))]


# ---- kernels on triangles: cliques, gems, kites, wheels ----------------------------------------------------


@entry
def count_cliques4(graph, start, stop, per_edge, halt):
    """4-cliques with their lowest vertex in start .. stop; adds the triangles of each edge to per_edge."""
    high_ptr, high = graph.high_ptr, graph.high
    n = len(high_ptr) - 1
    mark = np.zeros(n, np.uint32)
    most = 0
    for u in range(start, stop):
        most = max(most, high_ptr[u + 1] - high_ptr[u])
    rows = np.zeros((most, (most + 63) >> 6), np.uint64)
    cliques = uint64(0)
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
                slot = mark[high[f]]
                if slot:
                    met += 1
                    per_edge[first + slot - 1] += 1
                    per_edge[f] += 1
                    row[(slot - 1) >> 6] |= uint64(1) << uint64((slot - 1) & 63)
            per_edge[e] += met
            total += met
        for e in range(first, last):
            mark[high[e]] = 0
        if total < 3:
            continue
        if is_set(halt):
            break
        cliques += _triangles_among(rows, last - first, words, halt)
    return int64(cliques)


@helper
def _triangles_among(rows, size, words, halt):
    """Triangles of a small graph, from rows of bits that hold the higher neighbors."""
    triangles = uint64(0)
    for a in range(size):
        if a & 63 == 63 and is_set(halt):
            break
        for q in range(a >> 6, words):
            rest = rows[a, q]
            while rest:
                b = (q << 6) + int64(lowest_bit(rest))
                rest &= rest - uint64(1)
                for p in range(q, words):
                    triangles += popcount(rows[a, p] & rows[b, p])
    return triangles


@entry
def around_triangles(graph, lists, degree, start, stop, at_edge, halt):
    """Triangles with their lowest vertex u in start .. stop: sums for gems, kites, 4- and 5-cliques.

    The neighbors of u are numbered in rank order, rows of bits say which of them are adjacent, and the
    common neighbors of a triangle are one intersection of two rows. at_edge: twice the 4-cliques of an edge.
    """
    middle, high_ptr, high = graph.middle, graph.high_ptr, graph.high
    ptr, third, lower_edge, upper_edge = lists.ptr, lists.third, lists.lower_edge, lists.upper_edge
    sums = np.zeros(4, np.int64)
    shadow = np.zeros(4, np.float64)
    most, out = 0, 0
    for u in range(start, stop):
        most = max(most, degree[u])
        out = max(out, high_ptr[u + 1] - high_ptr[u])
    slot_of = np.zeros(len(middle), np.uint32)
    rows = np.zeros((out, (most + 63) >> 6), np.uint64)
    both = np.zeros((most + 63) >> 6, np.uint64)
    for u in range(start, stop):
        first, last = high_ptr[u], high_ptr[u + 1]
        below = middle[u] - graph.near_ptr[u]
        words = (degree[u] + 63) >> 6
        if ptr[last] == ptr[first]:
            continue
        if is_set(halt):
            break
        fill_rows(graph, lists, u, below, slot_of, rows)
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
                if is_set(halt):
                    return sums, shadow
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
def count_wheels(graph, lists, start, stop, halt):
    """Wheels with their hub in start .. stop: 4-cycles among its neighbors.

    Where the neighbors are densely connected, codegrees of all pairs come from rows of bits; elsewhere each
    cycle is found from its highest vertex, along lists of triangles.
    """
    near_ptr, near_edge, ptr = graph.near_ptr, graph.near_edge, lists.ptr
    sums, shadow = np.zeros(1, np.int64), np.zeros(1, np.float64)
    n = len(near_ptr) - 1
    ways, slot_of, touched = np.zeros(n, np.uint32), np.zeros(n, np.uint32), np.empty(n, np.uint32)
    rows = np.zeros((64, 1), np.uint64)
    for hub in range(start, stop):
        if is_set(halt):
            break
        degree = near_ptr[hub + 1] - near_ptr[hub]
        steps = 0
        for e in near_edge[near_ptr[hub] : near_ptr[hub + 1]]:
            steps += (ptr[e + 1] - ptr[e]) ** 2
        words = (degree + 63) >> 6
        if degree * degree * words < steps:
            if len(rows) < degree:
                rows = np.zeros((2 * degree, (2 * degree + 63) >> 6), np.uint64)
            wheels = _wheels_by_bits(graph, lists, hub, slot_of, rows, halt)
        else:
            wheels = _wheels_by_lists(graph, lists, hub, ways, touched, halt)
        sums[0] += wheels
        shadow[0] += float(wheels)
    return sums, shadow


@helper
def _wheels_by_bits(graph, lists, hub, slot_of, rows, halt):
    fill_rows(graph, lists, hub, 0, slot_of, rows)
    degree = graph.near_ptr[hub + 1] - graph.near_ptr[hub]
    words = (degree + 63) >> 6
    cycles = 0
    for s in range(degree):
        if is_set(halt):
            break
        for t in range(s):
            ones = uint64(0)
            for q in range(words):
                ones += popcount(rows[s, q] & rows[t, q])
            cycles += int64(ones) * (int64(ones) - 1)
    return cycles // 4  # each cycle has two pairs of opposite vertices


@helper
def _wheels_by_lists(graph, lists, hub, ways, touched, halt):
    near_ptr, near, near_edge = graph.near_ptr, graph.near, graph.near_edge
    ptr, third, lower_edge, upper_edge = lists.ptr, lists.third, lists.lower_edge, lists.upper_edge
    cycles = 0
    for s in range(near_ptr[hub], near_ptr[hub + 1]):
        if is_set(halt):
            break
        top, e = near[s], near_edge[s]
        outward = top > hub
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
                cycles += ways[a]
                ways[a] += 1
        for t in range(size):
            ways[touched[t]] = 0
    return int64(cycles)


# ---- kernels on walks of two steps: 4- and 5-cycles, codegrees ---------------------------------------------


@entry
def count_cycles4(graph, start, stop, halt):
    """4-cycles with their highest vertex in start .. stop."""
    near_ptr, near, middle = graph.near_ptr, graph.near, graph.middle
    ways = np.zeros(len(middle), np.uint64)
    cycles = uint64(0)
    for top in range(start, stop):
        if middle[top] - near_ptr[top] < 2:
            continue
        if is_set(halt):
            break
        zero = uint64(top) << uint64(32)  # counts of earlier tops are below it: nothing needs to be reset
        for k in near[near_ptr[top] : middle[top]]:
            for f in range(near_ptr[k], near_ptr[k + 1]):
                j = near[f]
                if j >= top:
                    break
                here = max(ways[j], zero)
                cycles += here - zero
                ways[j] = here + uint64(1)
    return int64(cycles)


@entry
def along_cycles(graph, start, stop, at_edge, halt):
    """Cycles with their highest vertex in start .. stop: adds 4-cycles to at_edge, sums closed 5-walks.

    There are ways(j) paths top - k - j with k, j below top. A 5-cycle is an edge (j, l) below top with a path
    to either end; the paths must not use j or l as their middle, and must not share it (taken off elsewhere).
    """
    near_ptr, near, near_edge, middle = graph.near_ptr, graph.near, graph.near_edge, graph.middle
    n = len(middle)
    paths = np.zeros(n, np.uint32)  # twice the ways, plus one where the vertex is adjacent to top
    touched = np.empty(n, np.uint32)
    sums, shadow = np.zeros(1, np.int64), np.zeros(1, np.float64)
    for top in range(start, stop):
        if is_set(halt):
            break
        size = 0
        for k in near[near_ptr[top] : middle[top]]:
            if paths[k] == 0:
                touched[size] = k
                size += 1
            paths[k] |= 1
            for f in range(near_ptr[k], near_ptr[k + 1]):
                j = near[f]
                if j >= top:
                    break
                if paths[j] == 0:
                    touched[size] = j
                    size += 1
                paths[j] += 2
        for e in range(near_ptr[top], middle[top]):
            k = near[e]
            met = 0
            for f in range(near_ptr[k], near_ptr[k + 1]):
                if near[f] >= top:
                    break
                others = int64(paths[near[f]] >> 1) - 1
                met += others
                at_edge[near_edge[f]] += others
            at_edge[near_edge[e]] += met
        walks = 0
        for s in range(size):
            j = touched[s]
            here, direct = int64(paths[j] >> 1), int64(paths[j] & 1)
            for f in range(near_ptr[j], middle[j]):
                there = int64(paths[near[f]])  # none: then direct is 0, and so is the product
                walks += (here - (there & 1)) * ((there >> 1) - direct)
        for s in range(size):
            paths[touched[s]] = 0
        sums[0] += walks
        shadow[0] += float(walks)
    return sums, shadow


@entry
def triangles_below(graph, lists, halt):
    """Triangles with a tail to a vertex above all three: the closed 5-walks that use their middle twice."""
    high_ptr, high = graph.high_ptr, graph.high
    ptr, third, lower_edge, upper_edge = lists.ptr, lists.third, lists.lower_edge, lists.upper_edge
    tails = 0
    for u in range(len(high_ptr) - 1):
        if is_set(halt):
            break
        for e in range(high_ptr[u], high_ptr[u + 1]):
            v = high[e]
            for z in range(ptr[e + 1] - 1, ptr[e] - 1, -1):
                w = third[z]
                if w <= v:
                    break
                tails += high_ptr[w + 1] - high_ptr[w]
                tails += high_ptr[u + 1] - (lower_edge[z] + 1)  # the out-list of u behind w
                tails += high_ptr[v + 1] - (upper_edge[z] + 1)
    return tails


@entry
def over_codegrees(graph, lists, start, stop, halt):
    """Pairs a < b with a in start .. stop: sums of C(codegree, 3), and of diamonds * (codegree - 2)."""
    near_ptr, near, near_edge = graph.near_ptr, graph.near, graph.near_edge
    ptr, third, lower_edge, upper_edge = lists.ptr, lists.third, lists.lower_edge, lists.upper_edge
    ways = np.zeros(len(near_ptr) - 1, np.uint64)
    sums, shadow = np.zeros(2, np.int64), np.zeros(2, np.float64)
    for a in range(start, stop):
        if near_ptr[a + 1] - near_ptr[a] < 3:
            continue
        zero = uint64(a + 1) << uint64(32)  # codegrees with earlier vertices are below it
        stars, diamonds = uint64(0), 0
        for x in near[near_ptr[a] : near_ptr[a + 1]]:
            for f in range(near_ptr[x + 1] - 1, near_ptr[x] - 1, -1):
                b = near[f]
                if b <= a:
                    break
                c = max(ways[b], zero) - zero
                stars += c * (c - uint64(1))  # 0, 0, 2, 6, ...: C(codegree, 3) in steps, doubled
                ways[b] = zero + c + uint64(1)
        # triangles a x y, x < y, and the vertices b above a beyond the edge x y
        for s in range(near_ptr[a], near_ptr[a + 1]):
            if is_set(halt):
                return sums, shadow
            x, e = near[s], near_edge[s]
            outward = x > a
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
