"""Colored counts, k = 4 and 5, of large sparse graphs with few colors by the flip scheme.

Only connected Q are visited: edges (k = 4), wedges and triangles (k = 5). Group sizes come from degrees and codegrees
by color and from the triangles of edges. Cliques and cycles are counted separately, in degree order. `flip_plan`
explains the products.
"""

# mypy: ignore-errors
from __future__ import annotations

from functools import cache

import numpy as np
from numba import int64

from anysize._typing import BoolArray, FloatArray
from anysize.counting.columns import CountOverflow, CountTable, merged
from anysize.counting.engines.bits import add_outer_wide, is_set
from anysize.counting.engines.engine import CELL_BYTES, Engine, MemoryNeed
from anysize.counting.engines.flip import count_part, one_by_one
from anysize.counting.engines.flip_plan import PRODUCT_BYTES, flip_plan, padded
from anysize.counting.engines.jit import entry, helper
from anysize.counting.engines.oriented import orient, triangle_lists, triangles_of_edges
from anysize.counting.engines.threads import Threads, Tick
from anysize.counting.features import Features
from anysize.graphs.graphset import GraphSet

COLORS = {4: (2, 4, 8, 12, 16), 5: (2, 4, 6, 8, 12)}  # that kernels are compiled for


def count(graphs: GraphSet, k: int, threads: Threads, tick: Tick) -> CountTable:
    """Induced copies of the patterns that occur."""
    return merged(one_by_one(_count_graph, graphs, k, threads, tick), graphs, k)


def fits(f: Features, k: int) -> BoolArray:
    return f.colors <= COLORS[k][-1]


def seconds(f: Features, k: int) -> FloatArray:
    """Visits of edges (k = 4) or wedges (k = 5), with products of group sizes; every pattern once."""
    colors = padded(f.colors, COLORS[k])
    table = colors**k * {4: 400, 5: 1100}[k]
    if k == 4:
        visits = f.edges * (40 + 6 * colors**2) + 1.5 * f.wedges + 1.2 * f.edges * f.triangles_per_edge**2
    else:
        visits = f.wedges * (30 + 4 * colors**2 + f.triangles_per_edge * (6 + colors**2 / 2))
    return 1e-9 * (4e5 + table + 100 * f.edges + visits)


def memory(f: Features, k: int) -> MemoryNeed:
    """Lists of neighbors and triangles, degrees by color, and tables of products."""
    colors = padded(f.colors, COLORS[k])
    products = PRODUCT_BYTES[k] * colors.astype(np.float64) ** k
    lists = (100 + 4 * colors) * (f.n + f.edges) + 12 * f.triangles_per_edge * f.edges
    return MemoryNeed(lists + products, (30 + 8 * colors) * f.n + products / 4, CELL_BYTES * f.max_patterns(k))


FLIP_SPARSE = Engine(
    "flip_sparse", "products of neighborhood sizes over edges or wedges", count, (4, 5), True, seconds, memory, fits
)


def _count_graph(graph: GraphSet, row: int, k: int, threads: Threads):
    n = len(graph.indptr) - 1
    vertex_color = graph.colors if graph.colors is not None else np.zeros(n, np.uint16)
    present, local = np.unique(vertex_color, return_inverse=True)
    plan = flip_plan(k, int(padded(len(present), COLORS[k])), sparse=True)
    colors = plan.colors
    oriented = orient(graph.indptr, graph.indices)
    color = np.empty(n, np.int64)
    color[oriented.rank] = local
    degree = np.diff(oriented.near_ptr)
    per_edge = np.zeros(len(oriented.high), np.int64)
    triangles_of_edges(oriented, 0, n, per_edge, threads.flag)
    lists = triangle_lists(oriented, per_edge, threads.flag)
    by_color = degrees_by_color(oriented, lists, color, colors, threads.flag)
    lower = np.repeat(np.arange(n), np.diff(oriented.high_ptr))
    around = np.bincount(lower, degree[oriented.high], n) + np.bincount(oriented.high, degree[lower], n)
    check_overflow(degree, around, k, row)

    products_of, cliques_of, cycles_of = _kernels(k, colors)
    shared = threads.flag, oriented, lists, color

    def work(start, stop, products, group_sums, cliques, cycles):
        products_of(*shared, *by_color, start, stop, plan.layout, products, group_sums)
        cliques_of(*shared, start, stop, cliques)
        cycles_of(*shared, start, stop, cycles)

    totals = threads.accumulate(work, around, plan.length, plan.n_groups, colors**k, colors**k)[1]
    return count_part(plan, plan.solve(*totals), present, row, k, graph)


@cache
def _kernels(k: int, colors: int):
    """Kernels for products, cliques and cycles."""
    return (
        (over_edges if k == 4 else over_wedges)(colors),
        colored_cliques(k, colors),
        (squares if k == 4 else pentagons)(colors),
    )


def check_overflow(degree, around, k: int, row: int) -> None:
    """Raise a CountOverflow if a sum of products may not fit int64; around: sum of the degrees of the neighbors."""
    center = degree.astype(np.float64)
    if k == 4:
        bound = 4 * float((center * (center * center + around * around / np.maximum(center, 1))).sum())
    else:
        # wedges at a vertex m times (d(u) + d(m) + d(v))^2, with the largest neighbor for u and v
        largest = float(center.max(initial=0))
        bound = float((center * center / 2 * (center + np.minimum(2 * largest, around)) ** 2).sum())
    if bound >= 2**62:
        raise CountOverflow(row, "has sums of products, toward its colored counts, that may exceed a 64-bit integer")


# ---- products of neighborhood sizes over edges or wedges --------------------------------------------------


@entry
def degrees_by_color(graph, lists, color, colors, halt):
    """Neighbors of every vertex, and common neighbors of every edge, by color."""
    near_ptr, near, high_ptr, ptr, third = graph.near_ptr, graph.near, graph.high_ptr, lists.ptr, lists.third
    n = len(near_ptr) - 1
    of_vertex = np.zeros((n, colors), np.uint32)
    of_edge = np.zeros((len(graph.high), colors), np.uint32)
    for v in range(n):
        if is_set(halt):
            break
        for u in near[near_ptr[v] : near_ptr[v + 1]]:
            of_vertex[v, color[u]] += 1
        for e in range(high_ptr[v], high_ptr[v + 1]):
            for z in range(ptr[e], ptr[e + 1]):
                of_edge[e, color[third[z]]] += 1
    return of_vertex, of_edge


def over_edges(colors: int):
    """k = 4: Q is an edge."""

    @entry
    def kernel(halt, graph, lists, color, of_vertex, of_edge, start, stop, layout, products, group_sums):
        tuple_of, block, pair_ptr, pairs = layout.tuple_of, layout.block, layout.pair_ptr, layout.pairs
        high_ptr, high = graph.high_ptr, graph.high
        sizes = np.zeros(4 * colors, np.uint32)
        for x in range(start, stop):
            if is_set(halt):
                break
            for e in range(high_ptr[x], high_ptr[x + 1]):
                u, v = int64(x), int64(high[e])
                if color[u] > color[v]:
                    u, v = v, u
                for c in range(colors):
                    both = of_edge[e, c]
                    sizes[colors + c] = of_vertex[u, c] - both
                    sizes[2 * colors + c] = of_vertex[v, c] - both
                    sizes[3 * colors + c] = both
                sizes[colors + color[v]] -= 1
                sizes[2 * colors + color[u]] -= 1
                kind = tuple_of[color[u] * colors + color[v]]
                here = block[kind, 1]
                for j in range(pair_ptr[1], pair_ptr[2]):
                    add_outer_wide(products, here, sizes, pairs[j, 0] * colors, sizes, pairs[j, 1] * colors, colors)
                    here += colors * colors
                for s in range(colors, 4 * colors):
                    group_sums[(kind * 2 + 1) * 4 * colors + s] += int64(sizes[s])

    return kernel


def over_wedges(colors: int):
    """k = 5: Q is a path u - m - v (code 5) or a triangle (code 7); u has bit 1, m bit 2, v bit 4."""
    side = 8 * colors

    @entry
    def kernel(halt, graph, lists, color, of_vertex, of_edge, start, stop, layout, products, group_sums):
        tuple_of, block, pair_ptr, pairs = layout.tuple_of, layout.block, layout.pair_ptr, layout.pairs
        near_ptr, near, near_edge = graph.near_ptr, graph.near, graph.near_edge
        ptr, third = lists.ptr, lists.third
        n = len(near_ptr) - 1
        codegree = np.zeros((n, colors), np.uint32)
        reach = np.zeros(n, np.uint32)  # codegree over all colors
        touched = np.empty(n, np.uint32)
        beside = np.zeros(n, np.uint8)  # adjacent to u
        three = np.zeros(colors, np.uint32)
        sizes = np.zeros(side, np.uint32)
        filled = np.zeros(8, np.uint32)
        for u in range(start, stop):
            n_touched = _codegrees_above(graph, color, u, beside, codegree, reach, touched)
            for s in range(near_ptr[u], near_ptr[u + 1]):
                if is_set(halt):
                    return
                m, um = int64(near[s]), int64(near_edge[s])
                for f in range(near_ptr[m + 1] - 1, near_ptr[m] - 1, -1):
                    v, mv = int64(near[f]), int64(near_edge[f])
                    if v <= u:
                        break
                    triangle = beside[v] != 0
                    if triangle and not u < m < v:
                        continue
                    for c in range(colors):
                        three[c] = 0
                    if ptr[um + 1] > ptr[um] and (triangle or reach[v] > 1):
                        for z in range(ptr[mv], ptr[mv + 1]):
                            if beside[third[z]]:
                                three[color[third[z]]] += 1
                    for c in range(colors):
                        all3 = three[c]
                        with_u, with_v = of_edge[um, c] - all3, of_edge[mv, c] - all3
                        ends = codegree[v, c] - all3
                        sizes[7 * colors + c] = all3
                        sizes[3 * colors + c] = with_u
                        sizes[6 * colors + c] = with_v
                        sizes[5 * colors + c] = ends
                        sizes[colors + c] = of_vertex[u, c] - with_u - ends - all3
                        sizes[2 * colors + c] = of_vertex[m, c] - with_u - with_v - all3
                        sizes[4 * colors + c] = of_vertex[v, c] - with_v - ends - all3
                    cu, cm, cv = color[u], color[m], color[v]
                    sizes[5 * colors + cm] -= 1
                    if triangle:
                        sizes[6 * colors + cu] -= 1
                        sizes[3 * colors + cv] -= 1
                        code = 7
                    else:
                        sizes[2 * colors + cu] -= 1
                        sizes[2 * colors + cv] -= 1
                        code = 5
                    if cu > cv:  # the table needs ascending ends: swap u and v
                        cu, cv = cv, cu
                        for c in range(colors):
                            a, b = colors + c, 4 * colors + c
                            sizes[a], sizes[b] = sizes[b], sizes[a]
                            a, b = 3 * colors + c, 6 * colors + c
                            sizes[a], sizes[b] = sizes[b], sizes[a]
                    kind = tuple_of[(cu * colors + cm) * colors + cv]
                    sums_at = (kind * 8 + code) * side
                    for p in range(1, 8):
                        total = np.uint32(0)
                        for c in range(colors):
                            total |= sizes[p * colors + c]
                        filled[p] = total
                        if total:
                            for c in range(colors):
                                group_sums[sums_at + p * colors + c] += int64(sizes[p * colors + c])
                    here = block[kind, code]
                    for j in range(pair_ptr[code], pair_ptr[code + 1]):
                        p, r = pairs[j, 0], pairs[j, 1]
                        if filled[p] and filled[r]:
                            add_outer_wide(products, here, sizes, p * colors, sizes, r * colors, colors)
                        here += colors * colors
            for s in range(n_touched):
                reach[touched[s]] = 0
                for c in range(colors):
                    codegree[touched[s], c] = 0
            for x in near[near_ptr[u] : near_ptr[u + 1]]:
                beside[x] = 0

    return kernel


@helper
def _codegrees_above(graph, color, u, beside, codegree, reach, touched):
    """Mark the neighbors of u, and fill its codegrees with the vertices above it; return how many are not zero."""
    near_ptr, near = graph.near_ptr, graph.near
    size = 0
    for x in near[near_ptr[u] : near_ptr[u + 1]]:
        beside[x] = 1
        c = color[x]
        for f in range(near_ptr[x + 1] - 1, near_ptr[x] - 1, -1):
            b = near[f]
            if b <= u:
                break
            if reach[b] == 0:
                touched[size] = b
                size += 1
            reach[b] += 1
            codegree[b, c] += 1
    return size


# ---- colored cliques ---------------------------------------------------------------------------------------


def colored_cliques(k: int, colors: int):
    """k-cliques by colors, from their lowest edge."""

    @entry
    def kernel(halt, graph, lists, color, start, stop, cliques):
        high_ptr, high = graph.high_ptr, graph.high
        ptr, third = lists.ptr, lists.third
        n = len(high_ptr) - 1
        label = np.zeros(n, np.uint8)
        list3 = np.empty(n, np.uint32)
        list4 = np.empty(n, np.uint32)
        seen = np.zeros(5, np.int64)
        for u in range(start, stop):
            for e in range(high_ptr[u], high_ptr[u + 1]):
                if is_set(halt):
                    return
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
                                _count_clique(cliques, k, colors, seen, color, u, v, w, x, x)
                            else:
                                label[x] = 2
                                list4[n4] = x
                                n4 += 1
                        for j in range(n4):
                            x = list4[j]
                            for f in range(high_ptr[x], high_ptr[x + 1]):
                                if label[high[f]] == 2:
                                    _count_clique(cliques, k, colors, seen, color, u, v, w, x, high[f])
                        for j in range(n4):
                            label[list4[j]] = 1
                for i in range(n3):
                    label[list3[i]] = 0

    return kernel


@helper
def _count_clique(cliques, k, colors, seen, color, u, v, w, x, y):
    seen[0], seen[1], seen[2], seen[3], seen[4] = color[u], color[v], color[w], color[x], color[y]
    at = 0
    for i in range(k):  # insertion sort: the table is by ascending colors
        c, j = seen[i], i
        while j > 0 and seen[j - 1] > c:
            seen[j] = seen[j - 1]
            j -= 1
        seen[j] = c
    for i in range(k):
        at = at * colors + seen[i]
    cliques[at] += 1


# ---- colored cycles ----------------------------------------------------------------------------------------


def squares(colors: int):
    """4-cycles by the colors along them, from their highest vertex."""

    @entry
    def kernel(halt, graph, lists, color, start, stop, cycles):
        n = len(graph.middle)
        ways = np.zeros((n, colors), np.uint32)
        met = np.zeros(n, np.uint8)
        touched = np.empty(n, np.uint32)
        for top in range(start, stop):
            if is_set(halt):
                break
            size = _walk_down(graph, color, top, ways, met, touched)
            for s in range(size):
                j = touched[s]
                for c in range(colors):
                    for d in range(c + 1):
                        many, more = int64(ways[j, c]), int64(ways[j, d])
                        pairs = many * more if c != d else many * (many - 1) // 2
                        cycles[((color[top] * colors + c) * colors + color[j]) * colors + d] += pairs
                met[j] = 0
                for c in range(colors):
                    ways[j, c] = 0

    return kernel


def pentagons(colors: int):
    """5-cycles by the colors along them: top - a - j - l - b, an edge (j, l) with paths from top to its ends."""
    cell = colors * colors

    @entry
    def kernel(halt, graph, lists, color, start, stop, cycles):
        near_ptr, near, near_edge, middle = graph.near_ptr, graph.near, graph.near_edge, graph.middle
        ptr, third = lists.ptr, lists.third
        n = len(middle)
        ways = np.zeros((n, colors), np.uint32)
        met = np.zeros(n, np.uint8)
        touched = np.empty(n, np.uint32)
        beside = np.zeros(n, np.uint8)
        left, right = np.zeros(colors, np.uint32), np.zeros(colors, np.uint32)
        by_edge = np.zeros(colors**5, np.int64)  # colors of top, j, l, then a, b
        for top in range(start, stop):
            if is_set(halt):
                break
            size = _walk_down(graph, color, top, ways, met, touched)
            for a in near[near_ptr[top] : middle[top]]:
                beside[a] = 1
            for s in range(size):
                j = touched[s]
                for l in near[near_ptr[j] : middle[j]]:  # noqa: E741
                    if met[l] == 0:
                        continue
                    for c in range(colors):
                        left[c] = ways[j, c]
                        right[c] = ways[l, c]
                    left[color[l]] -= beside[l]  # a must not be l, nor b be j
                    right[color[j]] -= beside[j]
                    at = ((color[top] * colors + color[j]) * colors + color[l]) * cell
                    add_outer_wide(by_edge, at, left, 0, right, 0, colors)
            for s in range(size):
                met[touched[s]] = 0
                for c in range(colors):
                    ways[touched[s], c] = 0
            for a in near[near_ptr[top] : middle[top]]:
                beside[a] = 0
                for g in range(near_ptr[a], near_ptr[a + 1]):
                    # a and b must differ: subtract the triangles a j l below top, with j above l
                    j, edge = near[g], near_edge[g]
                    if j >= top:
                        break
                    for z in range(ptr[edge], ptr[edge + 1]):
                        l = third[z]  # noqa: E741
                        if l >= j:
                            break
                        at = ((color[top] * colors + color[j]) * colors + color[l]) * cell
                        by_edge[at + color[a] * colors + color[a]] -= 1
        for t in range(colors):
            for j in range(colors):
                for l in range(colors):  # noqa: E741
                    for a in range(colors):
                        for b in range(colors):
                            at = ((t * colors + j) * colors + l) * cell + a * colors + b
                            along = (((t * colors + a) * colors + j) * colors + l) * colors + b
                            cycles[along] += by_edge[at]

    return kernel


@helper
def _walk_down(graph, color, top, ways, met, touched):
    """Paths top - a - j below top, by the color of a, for every j; return the number of vertices j."""
    near_ptr, near = graph.near_ptr, graph.near
    size = 0
    for a in near[near_ptr[top] : graph.middle[top]]:
        c = color[a]
        for f in range(near_ptr[a], near_ptr[a + 1]):
            j = near[f]
            if j >= top:
                break
            if met[j] == 0:
                met[j] = 1
                touched[size] = j
                size += 1
            ways[j, c] += 1
    return size
