"""Kernels that draw random simple graphs with the degrees of a graph: random walks of edge swaps, and stub matching.

Slot s of a graph is one end of an edge: the vertex owner[s] has the neighbor indices[s], and the slot mate[s] is the
other end. A swap exchanges the neighbors of two slots, and degrees stay as they are.

A directed graph with n vertices is a bipartite graph with 2 n vertices: the arc from u to v is an edge between u, the
sender, and n + v, the receiver. Out- and in-degrees are the degrees there, and loops are edges between u and n + u.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import uint32, uint64

from anysize.counting.engines.bits import is_set, next_bits
from anysize.counting.engines.jit import entry, helper

STEPS_PER_TRIANGLE = 8  # of a directed graph: steps for each try to reverse a triangle


@helper
def _below(bound, state):
    """A uniform integer below a bound of at most 2^32 (Lemire 2019)."""
    while True:
        state[0], bits = next_bits(state[0])
        product = (bits >> uint64(32)) * uint64(bound)
        rest = product & uint64(0xFFFFFFFF)
        if rest >= uint64(bound) or rest >= (uint64(0x100000000) - uint64(bound)) % uint64(bound):
            return np.int64(product >> uint64(32))


@helper
def _adjacent(u, v, indptr, stop, indices):
    """Whether u and v are neighbors: a look at all slots of the one that has fewer."""
    if stop[u] - indptr[u] > stop[v] - indptr[v]:
        u, v = v, u
    neighbor, hits = uint32(v), uint32(0)
    for s in range(indptr[u], stop[u]):  # without an early exit, which vector registers do not allow
        hits += uint32(indices[s] == neighbor)
    return hits > 0


@entry
def mates(indptr, indices, mate):
    """Fill the mate of every slot of a graph with ascending rows."""
    fill = indptr[:-1].copy()
    for u in range(len(indptr) - 1):
        for s in range(indptr[u], indptr[u + 1]):
            v = indices[s]
            mate[s] = fill[v]
            fill[v] += 1


@helper
def _reverse_triangle(s, n, indptr, owner, group, state, indices, mate):
    """Reverse a random triangle a > b > c > a that begins with the arc of slot s, if no arc goes the other way."""
    if owner[s] >= n:
        s = mate[s]
    a, b = owner[s], indices[s] - n
    if indptr[b] == indptr[b + 1]:
        return
    t = indptr[b] + _below(indptr[b + 1] - indptr[b], state)
    c = indices[t] - n
    r = _slot_of(c, n + a, indptr, indices, mate)
    if a == c or r < 0 or (len(group) and (group[s] != group[t] or group[t] != group[r])):
        return
    stop = indptr[1:]
    if _adjacent(a, n + c, indptr, stop, indices) or _adjacent(c, n + b, indptr, stop, indices):
        return
    if _adjacent(b, n + a, indptr, stop, indices):
        return
    at_b, at_c, at_a = mate[s], mate[t], mate[r]
    indices[s], indices[at_c], mate[s], mate[at_c] = n + c, a, at_c, s
    indices[t], indices[at_a], mate[t], mate[at_a] = n + a, b, at_a, t
    indices[r], indices[at_b], mate[r], mate[at_b] = n + b, c, at_b, r


@helper
def _slot_of(u, v, indptr, indices, mate):
    """The slot of u with the neighbor v, or -1."""
    if indptr[u + 1] - indptr[u] > indptr[v + 1] - indptr[v]:
        for s in range(indptr[v], indptr[v + 1]):
            if indices[s] == u:
                return mate[s]
        return -1
    for s in range(indptr[u], indptr[u + 1]):
        if indices[s] == v:
            return s
    return -1


@entry
def swap_edges(indptr, owner, group, group_ptr, group_slots, n, steps, state, indices, mate, halt):
    """Try to swap random pairs of edges: a - b and c - d become a - d and c - b, if the graph remains simple.

    Where slots have groups (otherwise ``group`` is empty), both slots are of one group, and every vertex keeps its
    number of slots in each group. A swap is as likely as the one that undoes it, and a pair that cannot be swapped
    leaves the graph as it is: in the long run all graphs that swaps can reach are equally likely.

    For a directed graph of n vertices (otherwise n is 0), some steps try to reverse a triangle instead: swaps do not
    reach all graphs (Rao, Jana and Bandyopadhyay 1996). A triangle is met on the way from each of its arcs, by one arc
    and one of those that leave its head; as out-degrees stay, the reversed triangle is met as often.
    """
    slots = len(indices)
    for step in range(steps):
        if step & 1023 == 0 and is_set(halt):
            break
        s = _below(slots, state)
        if n and _below(STEPS_PER_TRIANGLE, state) == 0:
            _reverse_triangle(s, n, indptr, owner, group, state, indices, mate)
            continue
        if len(group):
            first, last = group_ptr[group[s]], group_ptr[group[s] + 1]
            t = group_slots[first + _below(last - first, state)]
        else:
            t = _below(slots, state)
        a, b, c, d = owner[s], indices[s], owner[t], indices[t]
        if a in (c, d) or b in (c, d):
            continue
        if n and (a % n == d % n or c % n == b % n):
            continue
        if _adjacent(a, d, indptr, indptr[1:], indices) or _adjacent(c, b, indptr, indptr[1:], indices):
            continue
        s_mate, t_mate = mate[s], mate[t]
        indices[s], indices[t_mate] = d, a
        indices[t], indices[s_mate] = b, c
        mate[s], mate[t_mate] = t_mate, s
        mate[t], mate[s_mate] = s_mate, t
    for u in range(len(indptr) - 1):
        indices[indptr[u] : indptr[u + 1]].sort()


@entry
def match_stubs(indptr, owner, n, tries, state, indices, halt):
    """Match all slots at random until the graph is simple; the number of tries, 0 if there were not enough.

    All simple graphs with these degrees are equally likely. In a directed graph of n vertices (otherwise n is 0)
    senders are matched with receivers, the second half of the slots.
    """
    stubs = owner.copy()
    for attempt in range(tries):
        if is_set(halt):
            break
        fill = indptr[:-1].copy()
        left = len(stubs)
        while left:
            if n:
                half = left // 2
                u, at = stubs[half - 1], len(stubs) // 2 + _below(half, state)
                last = len(stubs) // 2 + half - 1
            else:
                u, at, last = stubs[left - 1], _below(left - 1, state), left - 2
            v = stubs[at]
            stubs[at], stubs[last] = stubs[last], v
            if u == v or (n and u == v - n) or _adjacent(u, v, indptr, fill, indices):
                break
            indices[fill[u]], indices[fill[v]] = v, u
            fill[u] += 1
            fill[v] += 1
            left -= 2
        if left == 0:
            for u in range(len(indptr) - 1):
                indices[indptr[u] : indptr[u + 1]].sort()
            return attempt + 1
    return 0
