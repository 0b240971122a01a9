"""Kernels that draw random simple graphs with the degrees of a graph: random walks of edge swaps, and stub matching.

Slot s of a graph is one end of an edge: the vertex owner[s] has the neighbor indices[s], and the slot mate[s] is the
other end. A swap exchanges the neighbors of two slots, and degrees stay as they are.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import uint32, uint64

from anysize.counting.engines.bits import is_set
from anysize.counting.engines.jit import entry, helper


@helper
def _below(bound, state):
    """A uniform integer below a bound of at most 2^32 (Lemire 2019), from the bits of SplitMix64."""
    while True:
        state[0] += uint64(0x9E3779B97F4A7C15)
        z = state[0]
        z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
        product = ((z ^ (z >> uint64(31))) >> uint64(32)) * uint64(bound)
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
def mates(indptr, indices, owner, mate):
    """Fill the owner and the mate of every slot of a graph with ascending rows."""
    fill = indptr[:-1].copy()
    for u in range(len(indptr) - 1):
        for s in range(indptr[u], indptr[u + 1]):
            v = indices[s]
            owner[s] = u
            mate[s] = fill[v]
            fill[v] += 1


@entry
def swap_edges(indptr, owner, group, group_ptr, group_slots, steps, state, indices, mate, halt):
    """Try to swap random pairs of edges: a - b and c - d become a - d and c - b, if the graph remains simple.

    Where slots have groups (otherwise ``group`` is empty), both slots are of one group, and every vertex keeps its
    number of slots in each group. A swap is as likely as the one that undoes it, and a pair that cannot be swapped
    leaves the graph as it is: in the long run all graphs that swaps can reach are equally likely.
    """
    slots = len(indices)
    for step in range(steps):
        if step & 1023 == 0 and is_set(halt):
            break
        s = _below(slots, state)
        if len(group):
            first, last = group_ptr[group[s]], group_ptr[group[s] + 1]
            t = group_slots[first + _below(last - first, state)]
        else:
            t = _below(slots, state)
        a, b, c, d = owner[s], indices[s], owner[t], indices[t]
        if a in (c, d) or b in (c, d):
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
def match_stubs(indptr, owner, tries, state, indices, halt):
    """Match all slots at random until the graph is simple; the number of tries, 0 if there were not enough.

    All simple graphs with these degrees are equally likely.
    """
    stubs = owner.copy()
    for attempt in range(tries):
        if is_set(halt):
            break
        fill = indptr[:-1].copy()
        left = len(stubs)
        while left:
            at = _below(left, state)
            u = stubs[at]
            stubs[at], stubs[left - 1] = stubs[left - 1], u
            at = _below(left - 1, state)
            v = stubs[at]
            stubs[at], stubs[left - 2] = stubs[left - 2], v
            if u == v or _adjacent(u, v, indptr, fill, indices):
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
