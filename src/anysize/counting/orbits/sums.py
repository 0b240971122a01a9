"""Sums at every vertex from which its orbit counts follow, one graph in degree order (`engines.oriented`).

Every sum counts the copies of one connected pattern, induced or not, that have the vertex in one position; where it is
cheaper, maps of the pattern that are not injective are counted too. So every sum is a fixed integer combination of the
induced orbit counts of the vertex, with coefficient 1 at its own pattern and position (`decode` finds the others).

d: degree, t: triangles at a vertex or an edge, c: common neighbors of a pair.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections import namedtuple

import numpy as np
from numba import int64, uint64

from anysize.counting.engines.bits import is_set, lowest_bit, popcount
from anysize.counting.engines.jit import entry, helper
from anysize.counting.engines.oriented import fill_rows

SUMS = (  # pattern_position; sizes 2 and 3
    "edge",  # d
    "path3_end",  # sum_u (d(u) - 1)
    "path3_center",  # C(d, 2)
    "triangle",
    # size 4
    "path4_end", "path4_inner",
    "claw_leaf", "claw_center",
    "cycle4",
    "paw_pendant", "paw_base", "paw_hub",
    "diamond_tip", "diamond_hub",
    "clique4",
    # size 5
    "path5_end", "path5_inner", "path5_center",
    "fork_end", "fork_leaf", "fork_inner", "fork_center",
    "star_leaf", "star_center",
    "bull_pendant", "bull_apex", "bull_base",
    "tadpole_end", "tadpole_inner", "tadpole_base", "tadpole_hub",
    "cricket_pendant", "cricket_base", "cricket_hub",
    "cycle5",
    "banner_pendant", "banner_opposite", "banner_neighbor", "banner_hub",
    "lollipop_pendant", "lollipop_clique", "lollipop_hub",
    "dart_pendant", "dart_tip", "dart_hub", "dart_pendant_hub",
    "kite_pendant", "kite_tip", "kite_pendant_tip", "kite_hub",
    "butterfly_wing", "butterfly_hub",
    "bipartite23_three", "bipartite23_two",
    "house_roof", "house_floor", "house_corner",
    "book_page", "book_hub",
    "gem_end", "gem_inner", "gem_hub",
    "bipartite23e_single", "bipartite23e_joined", "bipartite23e_two",
    "cliques5_minus_path_two", "cliques5_minus_path_three", "cliques5_minus_path_four",
    "wheel_rim", "wheel_hub",
    "clique5_minus_edge_tip", "clique5_minus_edge_base",
    "clique5",
)  # fmt: skip
I = namedtuple("I", SUMS)(*range(len(SUMS)))  # noqa: E741


@helper
def _pairs(x):
    """C(x, 2), without an overflow on the way."""
    return (x >> 1) * (x - 1) if x & 1 == 0 else x * ((x - 1) >> 1)


@helper
def _triples(x):
    return _pairs(x) * (x - 2) // 3


@helper
def _quadruples(x):
    """C(x, 4), without an overflow on the way."""
    triples, rest = _triples(x), x - 3
    shift = 2 if triples & 3 == 0 else 1 if triples & 1 == 0 else 0
    return (triples >> shift) * (rest >> (2 - shift))


# ---- sums over neighbors -----------------------------------------------------------------------------------


@entry
def sum_neighbors3(graph, degree, per_edge, sums):
    """Sizes 2 and 3, from the degrees and the triangles of every edge."""
    high_ptr, high = graph.high_ptr, graph.high
    n = len(degree)
    for v in range(n):
        for e in range(high_ptr[v], high_ptr[v + 1]):
            u, t = high[e], per_edge[e]
            sums[v, I.triangle] += t
            sums[u, I.triangle] += t
            sums[v, I.path3_end] += degree[u] - 1
            sums[u, I.path3_end] += degree[v] - 1
    for v in range(n):
        sums[v, I.edge] = degree[v]
        sums[v, I.path3_center] = _pairs(degree[v])
        sums[v, I.triangle] >>= 1


@entry
def sum_neighbors4(graph, degree, per_edge, sums):
    """Size 4 without cycles, cliques and diamond tips; after `sum_neighbors3`."""
    high_ptr, high = graph.high_ptr, graph.high
    n = len(degree)
    for v in range(n):
        for e in range(high_ptr[v], high_ptr[v + 1]):
            _neighbor4(v, high[e], per_edge[e], degree, sums)
            _neighbor4(high[e], v, per_edge[e], degree, sums)
    for v in range(n):
        d = degree[v]
        sums[v, I.path4_inner] = (d - 1) * sums[v, I.path3_end]
        sums[v, I.claw_center] = _triples(d)
        sums[v, I.paw_hub] = sums[v, I.triangle] * (d - 2)


@helper
def _neighbor4(v, u, t, degree, sums):
    here, there = sums[v], sums[u]
    d = degree[u]
    here[I.path4_end] += there[I.path3_end] - (degree[v] - 1)
    here[I.claw_leaf] += _pairs(d - 1)
    here[I.paw_pendant] += there[I.triangle] - t
    here[I.paw_base] += t * (d - 2)
    here[I.diamond_hub] += _pairs(t)


@entry
def sum_neighbors5(graph, degree, per_edge, beyond, cycles, cliques, sums):
    """Size 5: all sums that take one step from the sums of sizes 3 and 4 at a vertex or an edge.

    At an edge: beyond is the sum of d - 2 over the third vertices of its triangles, cycles are its 4-cycles, cliques
    its 4-cliques.
    """
    high_ptr, high = graph.high_ptr, graph.high
    n = len(degree)
    reach = np.zeros(n, np.int64)  # the sum of d - 1 over the neighbors so far
    for v in range(n):
        for e in range(high_ptr[v], high_ptr[v + 1]):
            _neighbor5(v, high[e], per_edge[e], beyond[e], cycles[e], cliques[e], degree, reach, sums)
            _neighbor5(high[e], v, per_edge[e], beyond[e], cycles[e], cliques[e], degree, reach, sums)
    for v in range(n):
        d, here = degree[v], sums[v]
        t = here[I.triangle]
        here[I.path5_inner] = (d - 1) * here[I.path4_end]
        here[I.fork_inner] = (d - 1) * here[I.claw_leaf]
        here[I.fork_center] = _pairs(d - 1) * here[I.path3_end]
        here[I.star_center] = _quadruples(d)
        here[I.bull_base] = (d - 2) * here[I.paw_base]
        here[I.tadpole_inner] = (d - 1) * here[I.paw_pendant]
        here[I.tadpole_hub] = t * here[I.path3_end]
        here[I.cricket_hub] = t * _pairs(d - 2)
        here[I.banner_hub] = here[I.cycle4] * (d - 2)
        here[I.lollipop_hub] = here[I.clique4] * (d - 3)
        here[I.dart_pendant_hub] = here[I.diamond_hub] * (d - 3)
        here[I.kite_pendant_tip] = here[I.diamond_tip] * (d - 2)
        here[I.butterfly_hub] = _pairs(t)


@helper
def _neighbor5(v, u, t, beyond, cycles, cliques, degree, reach, sums):
    here, there = sums[v], sums[u]
    d = degree[u]
    here[I.path5_end] += there[I.path4_end] - (here[I.path3_end] - (d - 1))
    here[I.path5_center] += reach[v] * (d - 1)
    reach[v] += d - 1
    here[I.fork_end] += there[I.claw_leaf] - _pairs(degree[v] - 1)
    here[I.fork_leaf] += (d - 2) * (there[I.path3_end] - (degree[v] - 1))
    here[I.star_leaf] += _triples(d - 1)
    here[I.bull_pendant] += there[I.paw_base]
    here[I.tadpole_end] += there[I.paw_pendant]
    here[I.tadpole_base] += t * there[I.path3_end]
    here[I.cricket_pendant] += (there[I.triangle] - t) * (d - 3)
    here[I.cricket_base] += t * _pairs(d - 2)
    here[I.banner_pendant] += there[I.cycle4]
    here[I.banner_neighbor] += cycles * (d - 2)
    here[I.lollipop_pendant] += there[I.clique4]
    here[I.lollipop_clique] += cliques * (d - 3)
    here[I.dart_pendant] += there[I.diamond_hub]
    here[I.dart_hub] += _pairs(t) * (d - 3)
    here[I.kite_pendant] += there[I.diamond_tip]
    here[I.kite_hub] += (t - 1) * beyond
    here[I.butterfly_wing] += t * (there[I.triangle] - t)
    here[I.house_corner] += t * cycles
    here[I.book_hub] += _triples(t)
    here[I.cliques5_minus_path_four] += cliques * (t - 2)


# ---- size 4: without lists of triangles --------------------------------------------------------------------


@entry
def sum_cliques4(graph, per_edge, sums, halt):
    """Diamond tips and 4-cliques, from the rows of bits of the higher neighbors of every vertex."""
    high_ptr, high = graph.high_ptr, graph.high
    slot_of = np.zeros(len(high_ptr) - 1, np.uint32)
    out = 0
    for u in range(len(high_ptr) - 1):
        out = max(out, high_ptr[u + 1] - high_ptr[u])
    rows = np.zeros((out, (out + 63) >> 6), np.uint64)
    for u in range(len(high_ptr) - 1):
        first, last = high_ptr[u], high_ptr[u + 1]
        if last - first < 2:
            continue
        if is_set(halt):
            break
        words = (last - first + 63) >> 6
        for e in range(first, last):
            slot_of[high[e]] = e + 1 - first
            for q in range(words):
                rows[e - first, q] = uint64(0)
        triangles = 0
        for e in range(first, last):
            i, v = e - first, high[e]
            for f in range(high_ptr[v], high_ptr[v + 1]):
                w = high[f]
                if slot_of[w]:
                    j = int64(slot_of[w]) - 1
                    triangles += 1
                    rows[i, j >> 6] |= uint64(1) << uint64(j & 63)
                    rows[j, i >> 6] |= uint64(1) << uint64(i & 63)
                    sums[u, I.diamond_tip] += per_edge[f] - 1
                    sums[v, I.diamond_tip] += per_edge[first + j] - 1
                    sums[w, I.diamond_tip] += per_edge[e] - 1
        for e in range(first, last):
            slot_of[high[e]] = 0
        if triangles < 3:
            continue
        for i in range(last - first):
            for q in range(i >> 6, words):
                rest = rows[i, q]
                if q == i >> 6:
                    rest &= ~((uint64(2) << uint64(i & 63)) - uint64(1))
                while rest:
                    j = (q << 6) + int64(lowest_bit(rest))
                    rest &= rest - uint64(1)
                    ones = uint64(0)
                    for p in range(words):
                        ones += popcount(rows[i, p] & rows[j, p])
                    common = int64(ones)  # each 4-clique is met three times here, twice at every vertex but u
                    sums[u, I.clique4] += 2 * common
                    sums[high[first + i], I.clique4] += 3 * common
                    sums[high[first + j], I.clique4] += 3 * common
    for v in range(len(high_ptr) - 1):
        sums[v, I.clique4] //= 6


@entry
def sum_cycles4(graph, sums, halt):
    """4-cycles from their highest vertex: two paths of two steps to the opposite vertex."""
    near_ptr, near, middle = graph.near_ptr, graph.near, graph.middle
    n = len(middle)
    ways, touched = np.zeros(n, np.int64), np.empty(n, np.uint32)
    for top in range(n):
        if is_set(halt):
            break
        size = _walk_below(graph, top, ways, touched)
        for s in range(size):
            amount = _pairs(ways[touched[s]])
            sums[top, I.cycle4] += amount
            sums[touched[s], I.cycle4] += amount
        for k in near[near_ptr[top] : middle[top]]:
            amount = 0
            for f in range(near_ptr[k], near_ptr[k + 1]):
                if near[f] >= top:
                    break
                amount += ways[near[f]] - 1
            sums[k, I.cycle4] += amount
        for s in range(size):
            ways[touched[s]] = 0


@helper
def _walk_below(graph, top, ways, touched):
    """Add the paths top - k - j with k and j below top to ways[j]; the number of vertices that they reach."""
    near_ptr, near = graph.near_ptr, graph.near
    size = 0
    for k in near[near_ptr[top] : graph.middle[top]]:
        for f in range(near_ptr[k], near_ptr[k + 1]):
            j = near[f]
            if j >= top:
                break
            if ways[j] == 0:
                touched[size] = j
                size += 1
            ways[j] += 1
    return size


# ---- size 5: triangles and cliques -------------------------------------------------------------------------


@entry
def sum_at_edges(lists, degree, per_edge, beyond, around):
    """For every edge the sums over its triangles of d - 2 at the third vertex, and of t - 1 at the other two edges."""
    ptr, third, lower_edge, upper_edge = lists.ptr, lists.third, lists.lower_edge, lists.upper_edge
    for e in range(len(per_edge)):
        for z in range(ptr[e], ptr[e + 1]):
            beyond[e] += degree[third[z]] - 2
            around[e] += per_edge[lower_edge[z]] + per_edge[upper_edge[z]] - 2


@entry
def sum_cliques(graph, lists, degree, per_edge, cliques, sums, halt):
    """Cliques of 4 and 5 vertices and what is near them, by their lowest vertex u; cliques: 4-cliques of edges.

    The neighbors of u are numbered in rank order, and rows of bits say which of them are adjacent to a higher one.
    """
    near_ptr, near, middle, high_ptr, high = graph.near_ptr, graph.near, graph.middle, graph.high_ptr, graph.high
    ptr, third, lower_edge, upper_edge = lists.ptr, lists.third, lists.lower_edge, lists.upper_edge
    most, out = 0, 0
    for u in range(len(high_ptr) - 1):
        most = max(most, degree[u])
        out = max(out, high_ptr[u + 1] - high_ptr[u])
    slot_of = np.zeros(len(middle), np.uint32)
    rows = np.zeros((out, (most + 63) >> 6), np.uint64)
    both = np.zeros((most + 63) >> 6, np.uint64)
    for u in range(len(high_ptr) - 1):
        first, last = high_ptr[u], high_ptr[u + 1]
        below = middle[u] - near_ptr[u]
        words = (degree[u] + 63) >> 6
        if ptr[last] == ptr[first]:
            continue
        if is_set(halt):
            break
        fill_rows(graph, lists, u, below, slot_of, rows)
        for e in range(first, last):
            v = high[e]
            for z in range(ptr[e + 1] - 1, ptr[e] - 1, -1):
                w = third[z]
                if w <= v:
                    break
                g, f = lower_edge[z], upper_edge[z]
                row, other = rows[e - first], rows[g - first]
                ones = uint64(0)
                for q in range(words):
                    both[q] = row[q] & other[q]
                    ones += popcount(both[q])
                common = int64(ones)
                if common == 0:
                    continue
                cliques[e] += common
                cliques[f] += common
                cliques[g] += common
                pairs = _pairs(common)
                sums[u, I.clique5_minus_edge_base] += pairs
                sums[v, I.clique5_minus_edge_base] += pairs
                sums[w, I.clique5_minus_edge_base] += pairs
                sums[u, I.cliques5_minus_path_three] += common * (per_edge[f] - 2)
                sums[v, I.cliques5_minus_path_three] += common * (per_edge[g] - 2)
                sums[w, I.cliques5_minus_path_three] += common * (per_edge[e] - 2)
                if common < 2:
                    continue
                if is_set(halt):
                    return
                above = below + g - first + 1  # places of the vertices above w
                for q in range(words):
                    rest = both[q]
                    while rest:
                        s = (q << 6) + int64(lowest_bit(rest))
                        rest &= rest - uint64(1)
                        x = near[near_ptr[u] + s]
                        sums[x, I.clique5_minus_edge_tip] += common - 1
                        if s >= above:
                            last_row = rows[s - below]
                            ones = uint64(0)
                            for p in range(words):
                                ones += popcount(both[p] & last_row[p])
                            cliques_above = int64(ones)
                            sums[u, I.clique5] += cliques_above
                            sums[v, I.clique5] += cliques_above
                            sums[w, I.clique5] += cliques_above
                            sums[x, I.clique5] += cliques_above
    for u in range(len(high_ptr) - 1):
        sums[u, I.clique5] //= 4  # each clique was found from four of its 4-cliques at a vertex
        for e in range(high_ptr[u], high_ptr[u + 1]):
            cliques[e] //= 2
            sums[u, I.clique4] += cliques[e]
            sums[high[e], I.clique4] += cliques[e]
    for u in range(len(high_ptr) - 1):
        sums[u, I.clique4] //= 3


@entry
def sum_triangles(graph, lists, degree, per_edge, beyond, around, cycles, cliques, sums):
    """All sums over the triangles at a vertex of numbers at their vertices and edges, and 4-cliques."""
    high_ptr, high = graph.high_ptr, graph.high
    ptr, third, lower_edge, upper_edge = lists.ptr, lists.third, lists.lower_edge, lists.upper_edge
    for u in range(len(high_ptr) - 1):
        for e in range(high_ptr[u], high_ptr[u + 1]):
            v = high[e]
            for z in range(ptr[e + 1] - 1, ptr[e] - 1, -1):
                w = third[z]
                if w <= v:
                    break
                g, f = lower_edge[z], upper_edge[z]
                _corner(u, v, w, e, g, f, degree, per_edge, beyond, around, cycles, cliques, sums)
                _corner(v, u, w, e, f, g, degree, per_edge, beyond, around, cycles, cliques, sums)
                _corner(w, u, v, g, f, e, degree, per_edge, beyond, around, cycles, cliques, sums)


@helper
def _corner(v, a, b, va, vb, ab, degree, per_edge, beyond, around, cycles, cliques, sums):
    """The sums at v of its triangle with the edge ab."""
    here = sums[v]
    ta, tb, t = per_edge[va] - 1, per_edge[vb] - 1, per_edge[ab] - 1
    here[I.diamond_tip] += t
    here[I.bull_apex] += (degree[a] - 2) * (degree[b] - 2)
    here[I.dart_tip] += t * (degree[a] + degree[b] - 6)
    here[I.kite_tip] += beyond[ab] - (degree[v] - 2)
    here[I.house_roof] += cycles[ab]
    here[I.book_page] += _pairs(t)
    here[I.gem_end] += around[ab] - ta - tb
    here[I.gem_inner] += (ta + tb) * t
    here[I.gem_hub] += ta * tb
    here[I.cliques5_minus_path_two] += cliques[ab]


# ---- size 5: wheels, pairs, cycles -------------------------------------------------------------------------


@entry
def sum_wheels(graph, lists, sums, halt):
    """Wheels: 4-cycles among the neighbors of their hub.

    Where the neighbors are densely connected, codegrees of all pairs come from rows of bits; elsewhere each cycle is
    found from its highest vertex, along lists of triangles.
    """
    near_ptr, near_edge, ptr = graph.near_ptr, graph.near_edge, lists.ptr
    n = len(near_ptr) - 1
    ways, slot_of, touched = np.zeros(n, np.int64), np.zeros(n, np.uint32), np.empty(n, np.uint32)
    rows = np.zeros((64, 1), np.uint64)
    for hub in range(n):
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
            _wheels_by_bits(graph, lists, hub, slot_of, rows, sums, halt)
        else:
            _wheels_by_lists(graph, lists, hub, ways, touched, sums)
        sums[hub, I.wheel_hub] //= 2  # each cycle was found from both pairs of opposite vertices


@helper
def _wheels_by_bits(graph, lists, hub, slot_of, rows, sums, halt):
    fill_rows(graph, lists, hub, 0, slot_of, rows)
    members = graph.near[graph.near_ptr[hub] : graph.near_ptr[hub + 1]]
    words = (len(members) + 63) >> 6
    total = 0
    for s in range(len(members)):
        if is_set(halt):
            break
        here = 0
        for t in range(s):
            ones = uint64(0)
            for q in range(words):
                ones += popcount(rows[s, q] & rows[t, q])
            opposite = _pairs(int64(ones))
            here += opposite
            sums[members[t], I.wheel_rim] += opposite
        sums[members[s], I.wheel_rim] += here
        total += here
    sums[hub, I.wheel_hub] += total


@helper
def _wheels_by_lists(graph, lists, hub, ways, touched, sums):
    near_ptr, near, near_edge = graph.near_ptr, graph.near, graph.near_edge
    ptr, third, lower_edge, upper_edge = lists.ptr, lists.third, lists.lower_edge, lists.upper_edge
    total = 0
    for s in range(near_ptr[hub], near_ptr[hub + 1]):
        top, e = near[s], near_edge[s]
        outward = top > hub
        size = 0
        for z in range(ptr[e], ptr[e + 1]):
            if third[z] >= top:
                break
            spoke = lower_edge[z] if outward else upper_edge[z]
            for y in range(ptr[spoke], ptr[spoke + 1]):
                a = third[y]
                if a >= top:
                    break
                if ways[a] == 0:
                    touched[size] = a
                    size += 1
                ways[a] += 1
        here = 0
        for t in range(size):
            opposite = _pairs(ways[touched[t]])
            sums[touched[t], I.wheel_rim] += opposite
            here += opposite
        sums[top, I.wheel_rim] += here
        total += 2 * here
        if here:
            for z in range(ptr[e], ptr[e + 1]):
                if third[z] >= top:
                    break
                spoke = lower_edge[z] if outward else upper_edge[z]
                beside = 0
                for y in range(ptr[spoke], ptr[spoke + 1]):
                    if third[y] >= top:
                        break
                    beside += ways[third[y]] - 1
                sums[third[z], I.wheel_rim] += beside
        for t in range(size):
            ways[touched[t]] = 0
    sums[hub, I.wheel_hub] += total


@entry
def sum_pairs(graph, lists, degree, per_edge, cycles, sums, halt):
    """Sums over pairs a < b, their c common neighbors x and the edges among these; cycles: 4-cycles of edges."""
    near_ptr, near, near_edge = graph.near_ptr, graph.near, graph.near_edge
    ptr, third, lower_edge, upper_edge = lists.ptr, lists.third, lists.lower_edge, lists.upper_edge
    n = len(near_ptr) - 1
    ways, joined = np.zeros(n, np.int64), np.zeros(n, np.int64)
    touched = np.empty(n, np.uint32)
    for a in range(n):
        if is_set(halt):
            break
        da = degree[a]
        if da < 2:
            continue
        size = 0
        for x in near[near_ptr[a] : near_ptr[a + 1]]:
            for f in range(near_ptr[x + 1] - 1, near_ptr[x] - 1, -1):
                b = near[f]
                if b <= a:
                    break
                if ways[b] == 0:
                    touched[size] = b
                    size += 1
                ways[b] += 1
        # triangles a x y, x < y, and the vertices b above a beyond the edge x y
        for s in range(near_ptr[a], near_ptr[a + 1]):
            x, e = near[s], near_edge[s]
            outward = x > a
            for z in range(ptr[e + 1] - 1, ptr[e] - 1, -1):
                y = third[z]
                if y <= x:
                    break
                across = upper_edge[z] if outward else lower_edge[z]
                beside = 0
                for r in range(ptr[across + 1] - 1, ptr[across] - 1, -1):
                    b = third[r]
                    if b <= a:
                        break
                    joined[b] += 1
                    beside += ways[b] - 2
                sums[x, I.bipartite23e_joined] += beside
                sums[y, I.bipartite23e_joined] += beside
        for s in range(near_ptr[a], near_ptr[a + 1]):
            x, e = near[s], near_edge[s]
            t = per_edge[e]
            floor, single, three, met = 0, 0, 0, 0
            for r in range(near_ptr[x + 1] - 1, near_ptr[x] - 1, -1):
                b = near[r]
                if b <= a:
                    break
                others = ways[b] - 1
                if others:
                    f = near_edge[r]
                    met += others
                    cycles[f] += others
                    floor += others * per_edge[f]
                    single += joined[b]
                    three += _pairs(others)
                    sums[b, I.house_floor] += others * t
            cycles[e] += met
            sums[a, I.house_floor] += floor
            sums[x, I.bipartite23e_single] += single
            sums[x, I.bipartite23_three] += three
        for s in range(size):
            b = touched[s]
            c = ways[b]
            if c > 1:
                squares, cubes, edges = _pairs(c), _triples(c), joined[b] * (c - 2)
                sums[a, I.cycle4] += squares
                sums[b, I.cycle4] += squares
                sums[a, I.banner_opposite] += squares * (degree[b] - 2)
                sums[b, I.banner_opposite] += squares * (da - 2)
                sums[a, I.bipartite23_two] += cubes
                sums[b, I.bipartite23_two] += cubes
                sums[a, I.bipartite23e_two] += edges
                sums[b, I.bipartite23e_two] += edges
            ways[b] = 0
            joined[b] = 0
    for e in range(len(cycles)):
        cycles[e] //= 2  # each cycle was found from both of its pairs of opposite vertices


@entry
def sum_cycles5(graph, sums, halt):
    """Closed walks top - k - j - l - m - top on the vertices below top, with k, j, l distinct and j, l, m distinct.

    There are ways[j] paths top - k - j. Such a walk is a 5-cycle unless k = m (`drop_tailed_triangles`).
    """
    near_ptr, near, middle = graph.near_ptr, graph.near, graph.middle
    n = len(middle)
    ways, direct, reach = np.zeros(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    touched = np.empty(n, np.uint32)
    for top in range(n):
        if is_set(halt):
            break
        lower = near[near_ptr[top] : middle[top]]
        for k in lower:
            direct[k] = 1
        size = _walk_below(graph, top, ways, touched)
        total = 0
        for s in range(size):
            j = touched[s]
            met = 0
            for f in range(near_ptr[j], middle[j]):
                other = near[f]
                if ways[other]:
                    here, there = ways[j] - direct[other], ways[other] - direct[j]
                    reach[j] += there
                    reach[other] += here
                    met += here * there
                    sums[other, I.cycle5] += here * there
            sums[j, I.cycle5] += met
            total += met
        sums[top, I.cycle5] += total
        for k in lower:
            amount = 0
            for f in range(near_ptr[k], near_ptr[k + 1]):
                j = near[f]
                if j >= top:
                    break
                amount += reach[j] - (ways[k] - direct[j])
            sums[k, I.cycle5] += amount
        for k in lower:
            direct[k] = 0
        for s in range(size):
            ways[touched[s]] = 0
            reach[touched[s]] = 0


@entry
def drop_tailed_triangles(graph, lists, sums, halt):
    """Take off the closed walks of `sum_cycles5` with k = m: a triangle j k l, and a higher vertex adjacent to k."""
    near_ptr, near, near_edge, high_ptr, high = graph.near_ptr, graph.near, graph.near_edge, graph.high_ptr, graph.high
    ptr, third, lower_edge, upper_edge = lists.ptr, lists.third, lists.lower_edge, lists.upper_edge
    for u in range(len(high_ptr) - 1):
        if is_set(halt):
            break
        below = 0  # triangles of u with both other vertices below the next neighbor
        for f in range(near_ptr[u], graph.middle[u]):
            below += _thirds_below(near[f], near_edge[f], ptr, third)
        for e in range(high_ptr[u], high_ptr[u + 1]):
            v = high[e]
            sums[v, I.cycle5] -= below
            sums[u, I.cycle5] -= 2 * below
            below += _thirds_below(v, e, ptr, third)
            for z in range(ptr[e + 1] - 1, ptr[e] - 1, -1):
                w = third[z]
                if w <= v:
                    break
                tops_u = high_ptr[u + 1] - (lower_edge[z] + 1)  # the neighbors of u above w
                tops_v = high_ptr[v + 1] - (upper_edge[z] + 1)
                tops_w = high_ptr[w + 1] - high_ptr[w]
                sums[u, I.cycle5] -= tops_v + tops_w
                sums[v, I.cycle5] -= tops_u + tops_w
                sums[w, I.cycle5] -= tops_u + tops_v


@helper
def _thirds_below(vertex, e, ptr, third):
    z = ptr[e]
    while z < ptr[e + 1] and third[z] < vertex:
        z += 1
    return z - ptr[e]


@entry
def decode(sums, rank, row_ptr, column, factor, counts):
    """counts[v] = matrix @ sums[rank[v]], for a matrix in compressed rows."""
    for v in range(len(rank)):
        here = sums[rank[v]]
        for row in range(len(row_ptr) - 1):
            total = 0
            for at in range(row_ptr[row], row_ptr[row + 1]):
                total += factor[at] * here[column[at]]
            counts[v, row] = total
