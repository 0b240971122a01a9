"""Coloured counts, k = 4 and 5, of large sparse graphs with few colours by the flip scheme.

Only connected Q are visited: edges (k = 4), wedges and triangles (k = 5). Group sizes come from typed degrees,
typed codegrees and the triangles of edges, never from a look at the rest of the graph. Cliques and cycles are
counted apart, in degree order. See `flip_plan` for what the products mean.
"""

# mypy: ignore-errors
from __future__ import annotations

from functools import cache

import numpy as np
from numba import int64

from anysize.counting.bits import add_outer_wide
from anysize.counting.flip import named, one_by_one
from anysize.counting.flip_plan import flip_plan
from anysize.counting.jit import entry, helper
from anysize.counting.oriented import orient, triangle_lists, triangles_of_edges
from anysize.counting.parallel import Pool, Tick, chunks_by_weight, in_threads
from anysize.counting.plan import FLIP_SPARSE_COLOURS
from anysize.counting.table import Table, graph_title, merged
from anysize.graphs import GraphSet


def count_coloured(graphs: GraphSet, k: int, threads: int, tick: Tick) -> Table:
    """Induced copies of the patterns that occur."""
    return merged(one_by_one(_count_one, graphs, k, threads, tick), len(graphs))


def _count_one(graph: GraphSet, row: int, k: int, threads: int):
    n = len(graph.indptr) - 1
    own = graph.colours if graph.colours is not None else np.zeros(n, np.uint16)
    present, local = np.unique(own, return_inverse=True)
    plan = flip_plan(k, next(size for size in FLIP_SPARSE_COLOURS[k] if size >= len(present)), sparse=True)
    colours = plan.colours
    oriented = orient(graph.indptr, graph.indices)
    colour = np.empty(n, np.int64)
    colour[oriented.rank] = local
    degree = np.diff(oriented.low_ptr) + np.diff(oriented.high_ptr)
    per_edge = np.zeros(len(oriented.high), np.int64)
    triangles_of_edges(oriented.high_ptr, oriented.high, 0, n, per_edge)
    lists = triangle_lists(oriented, per_edge)
    by_colour = _typed_degrees(*oriented[:5], lists.ptr, lists.third, colour, colours)
    check_room(oriented, degree, k, graph_title(graph, row))

    accumulators = [
        Pool(lambda size=size: np.zeros(size, np.int64))
        for size in (plan.length, plan.n_groups, colours**k, colours**k)
    ]
    products_of, cliques_of, cycles_of = _kernels(k, colours)
    shared = (*oriented[:5], *lists, colour)

    def work(start, stop):
        with accumulators[0].borrow() as products, accumulators[1].borrow() as group_sums:
            where = plan.tuple_of, plan.block, plan.pair_ptr, plan.pairs
            products_of(*shared, *by_colour, start, stop, *where, products, group_sums)
        with accumulators[2].borrow() as cliques:
            cliques_of(*shared, start, stop, cliques)
        with accumulators[3].borrow() as cycles:
            cycles_of(*shared, start, stop, cycles)

    lower = np.repeat(np.arange(n), np.diff(oriented.high_ptr))
    steps = np.bincount(lower, degree[oriented.high], n) + np.bincount(oriented.high, degree[lower], n)
    in_threads(work, chunks_by_weight(steps, threads), threads)
    totals = [pool.total() for pool in accumulators]
    return named(plan, plan.solve(*totals), present, row, k, graph)


def check_room(oriented, degree, k: int, title: str) -> None:
    """An OverflowError where a sum of products might not fit int64."""
    centre = degree.astype(np.float64)
    around = np.bincount(oriented.high, np.repeat(centre, np.diff(oriented.high_ptr)), len(degree))
    around += np.bincount(
        np.repeat(np.arange(len(degree)), np.diff(oriented.high_ptr)), centre[oriented.high], len(degree)
    )
    if k == 4:
        bound = 4 * float((centre * (centre * centre + around * around / np.maximum(centre, 1))).sum())
    else:
        # wedges at a vertex m times (d(u) + d(m) + d(v))^2, with the largest neighbour for u and v
        largest = float(centre.max(initial=0))
        bound = float((centre * centre / 2 * (centre + np.minimum(2 * largest, around)) ** 2).sum())
    if bound >= 2**62:
        raise OverflowError(f"sums towards the coloured counts of {title} may exceed a 64-bit integer")


@entry
def _typed_degrees(low_ptr, low, low_edge, high_ptr, high, ptr, third, colour, colours):
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


@cache
def _kernels(k: int, colours: int):
    return (
        (_edges if k == 4 else _wedges)(colours),
        _clique_kernel(k, colours),
        (_squares if k == 4 else _pentagons)(colours),
    )


def _edges(colours: int):
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


def _wedges(colours: int):
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
            n_touched = 0
            below = low_ptr[u + 1] - low_ptr[u]
            degree = below + high_ptr[u + 1] - high_ptr[u]
            for s in range(degree):  # codegrees with the vertices above u
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
                            touched[n_touched] = b
                            n_touched += 1
                        reach[b] += 1
                        codegree[b, c] += 1
                        f -= 1
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


def _clique_kernel(k: int, colours: int):
    """k-cliques by colours, from their lowest edge."""

    @entry
    def kernel(
        low_ptr, low, low_edge, high_ptr, high, ptr, third, lower_edge, upper_edge, colour, start, stop, cliques
    ):  # fmt: skip
        n = len(low_ptr) - 1
        label = np.zeros(n, np.uint8)
        list3 = np.empty(n, np.uint32)
        list4 = np.empty(n, np.uint32)
        seen = np.zeros(5, np.int64)
        for u in range(start, stop):
            for e in range(high_ptr[u], high_ptr[u + 1]):
                v = high[e]
                n3 = 0
                for z in range(ptr[e + 1] - 1, ptr[e] - 1, -1):
                    if third[z] <= v:
                        break
                    list3[n3] = third[z]
                    label[third[z]] = 1
                    n3 += 1
                if n3 >= k - 2:
                    for i in range(n3):
                        w = list3[i]
                        n4 = 0
                        for f in range(high_ptr[w], high_ptr[w + 1]):
                            x = high[f]
                            if label[x] == 0:
                                continue
                            if k == 4:
                                count_clique(cliques, k, colours, seen, colour, u, v, w, x, x)
                            else:
                                label[x] = 2
                                list4[n4] = x
                                n4 += 1
                        for j in range(n4):
                            x = list4[j]
                            for f in range(high_ptr[x], high_ptr[x + 1]):
                                if label[high[f]] == 2:
                                    count_clique(cliques, k, colours, seen, colour, u, v, w, x, high[f])
                        for j in range(n4):
                            label[list4[j]] = 1
                for i in range(n3):
                    label[list3[i]] = 0

    return kernel


@helper
def count_clique(cliques, k, colours, seen, colour, u, v, w, x, y):
    seen[0], seen[1], seen[2], seen[3], seen[4] = colour[u], colour[v], colour[w], colour[x], colour[y]
    at = 0
    for i in range(k):  # insertion sort: the table is by ascending colours
        c, j = seen[i], i
        while j > 0 and seen[j - 1] > c:
            seen[j] = seen[j - 1]
            j -= 1
        seen[j] = c
    for i in range(k):
        at = at * colours + seen[i]
    cliques[at] += 1


def _squares(colours: int):
    """4-cycles by the colours along them, from their highest vertex."""

    @entry
    def kernel(
        low_ptr, low, low_edge, high_ptr, high, ptr, third, lower_edge, upper_edge, colour, start, stop, cycles
    ):  # fmt: skip
        n = len(low_ptr) - 1
        ways = np.zeros((n, colours), np.uint32)
        met = np.zeros(n, np.uint8)
        touched = np.empty(n, np.uint32)
        for top in range(start, stop):
            size = walk_down(low_ptr, low, high_ptr, high, colour, top, ways, met, touched)
            for s in range(size):
                j = touched[s]
                for c in range(colours):
                    for d in range(c + 1):
                        many, more = int64(ways[j, c]), int64(ways[j, d])
                        pairs = many * more if c != d else many * (many - 1) // 2
                        cycles[((colour[top] * colours + c) * colours + colour[j]) * colours + d] += pairs
                met[j] = 0
                for c in range(colours):
                    ways[j, c] = 0

    return kernel


def _pentagons(colours: int):
    """5-cycles by the colours along them: top - a - j - l - b, an edge (j, l) with paths from top to its ends."""
    cell = colours * colours

    @entry
    def kernel(
        low_ptr, low, low_edge, high_ptr, high, ptr, third, lower_edge, upper_edge, colour, start, stop, cycles
    ):  # fmt: skip
        n = len(low_ptr) - 1
        ways = np.zeros((n, colours), np.uint32)
        met = np.zeros(n, np.uint8)
        touched = np.empty(n, np.uint32)
        beside = np.zeros(n, np.uint8)
        left, right = np.zeros(colours, np.uint32), np.zeros(colours, np.uint32)
        found = np.zeros(colours**5, np.int64)  # colours of top, j, l, then a, b
        for top in range(start, stop):
            size = walk_down(low_ptr, low, high_ptr, high, colour, top, ways, met, touched)
            for e in range(low_ptr[top], low_ptr[top + 1]):
                beside[low[e]] = 1
            for s in range(size):
                j = touched[s]
                for f in range(low_ptr[j], low_ptr[j + 1]):
                    l = low[f]  # noqa: E741
                    if met[l] == 0:
                        continue
                    for c in range(colours):
                        left[c] = ways[j, c]
                        right[c] = ways[l, c]
                    left[colour[l]] -= beside[l]  # a must not be l, nor b be j
                    right[colour[j]] -= beside[j]
                    at = ((colour[top] * colours + colour[j]) * colours + colour[l]) * cell
                    add_outer_wide(found, at, left, 0, right, 0, colours)
            for s in range(size):
                met[touched[s]] = 0
                for c in range(colours):
                    ways[touched[s], c] = 0
            for e in range(low_ptr[top], low_ptr[top + 1]):
                a = low[e]
                beside[a] = 0
                for g in range(low_ptr[a + 1] - low_ptr[a] + high_ptr[a + 1] - high_ptr[a]):
                    # a and b must differ: take off the triangles a j l below top, with j above l
                    inward = g < low_ptr[a + 1] - low_ptr[a]
                    edge = (
                        int64(low_edge[low_ptr[a] + g]) if inward else high_ptr[a] + g - (low_ptr[a + 1] - low_ptr[a])
                    )
                    j = low[low_ptr[a] + g] if inward else high[edge]
                    if j >= top:
                        break
                    for z in range(ptr[edge], ptr[edge + 1]):
                        l = third[z]  # noqa: E741
                        if l >= j:
                            break
                        at = ((colour[top] * colours + colour[j]) * colours + colour[l]) * cell
                        found[at + colour[a] * colours + colour[a]] -= 1
        for t in range(colours):
            for j in range(colours):
                for l in range(colours):  # noqa: E741
                    for a in range(colours):
                        for b in range(colours):
                            at = ((t * colours + j) * colours + l) * cell + a * colours + b
                            along = (((t * colours + a) * colours + j) * colours + l) * colours + b
                            cycles[along] += found[at]

    return kernel


@helper
def walk_down(low_ptr, low, high_ptr, high, colour, top, ways, met, touched):
    """Paths top - a - j below top, by the colour of a, for every j; how many j were met."""
    size = 0
    for e in range(low_ptr[top], low_ptr[top + 1]):
        a = low[e]
        c = colour[a]
        for f in range(low_ptr[a], low_ptr[a + 1]):
            j = low[f]
            if met[j] == 0:
                met[j] = 1
                touched[size] = j
                size += 1
            ways[j, c] += 1
        for f in range(high_ptr[a], high_ptr[a + 1]):
            j = high[f]
            if j >= top:
                break
            if met[j] == 0:
                met[j] = 1
                touched[size] = j
                size += 1
            ways[j, c] += 1
    return size
