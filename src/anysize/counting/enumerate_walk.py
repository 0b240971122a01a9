"""The walk of `enumerate`: every connected k-set of a graph, once, and how its pattern is remembered.

ESU: a set grows from its smallest vertex, the root, by neighbours above the root that no earlier member had; `mark`
says which members a vertex is adjacent to, `queue` holds the vertices that may come next. All last vertices of a set of
k - 1 are taken at once. Their raw patterns are counted (direct), found in a cache (cached), or made canonical.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import int64, uint64

from anysize.counting.bits import prefetch_row
from anysize.counting.canonical import canonical, hash_words, pack
from anysize.counting.jit import helper
from anysize.counting.pattern_table import COPIES, PATTERNS, TOUCHED, record_of

CACHE_BITS = 15  # entries of the cache, 16 bytes each: it stays near the core
PENDING = 32  # patterns on their way from memory at one time
ROOT, DEPTH = TOUCHED + 1, TOUCHED + 2  # places in state, beside those of the table: where a walk was interrupted

direct = cached = 0  # constants when the walk is compiled, see `enumerate`


def walk(
    start, indptr, indices, colours, last_root, k, colour_bits, state, frames, mark, queue,
    amount, touched, cache, table, waiting, own, best, trial, class_of, renaming, group_ptr, group,
):  # fmt: skip
    """Go on until the task is done (-1), or until more room is wanted (for how many patterns).

    One function, although a long one: a call in its inner loops would hand over twenty arrays at every turn.
    """
    place, length, member, code_at, raw_at = frames[0], frames[1], frames[2], frames[3], frames[4]
    root, s, n_touched, n_waiting = state[ROOT], state[DEPTH], state[TOUCHED], 0
    mask = uint64(len(table) - 1)
    last_bits = k - 1 + colour_bits
    last_shift = (k - 1) * (k - 2) // 2
    while True:
        if s == 0:  # the next root, with its neighbours above it in the queue
            if root >= 0:
                for e in range(indptr[start + root], indptr[start + root + 1]):
                    mark[indices[e]] = 0
            root += 1
            if root >= last_root:
                if not direct:
                    n_touched = serve(waiting, n_waiting, table, cache, touched, n_touched, state)
                state[TOUCHED] = n_touched
                return -1
            size = 0
            for e in range(indptr[start + root], indptr[start + root + 1]):
                u = indices[e]
                if u > root:
                    queue[size] = u
                    size += 1
                    mark[u] = 1
            if size == 0:
                continue
            s = 1
            member[0] = root
            own[0] = colours[start + root]
            code_at[1] = 0
            raw_at[1] = own[0]
            length[1] = size
            place[1] = -1
        if place[s] + 1 >= length[s]:  # one vertex back
            s -= 1
            if s > 0:
                clear = np.uint8(~(1 << s))
                w = member[s]
                for e in range(indptr[start + w], indptr[start + w + 1]):
                    mark[indices[e]] &= clear
            continue
        w = int64(queue[place[s] + 1])
        if s == k - 2:
            wanted = length[s] - place[s] + indptr[start + w + 1] - indptr[start + w]
            full = n_touched + wanted + PENDING > len(touched)
            if not direct:
                full = full or 2 * (state[PATTERNS] + wanted + PENDING) > len(table)
            if full:
                if not direct:
                    n_touched = serve(waiting, n_waiting, table, cache, touched, n_touched, state)
                state[TOUCHED], state[ROOT], state[DEPTH] = n_touched, root, s
                return wanted
        place[s] += 1
        member[s] = w
        own[s] = colours[start + w]
        code = code_at[s] | (int64(mark[w]) << (s * (s - 1) // 2))
        raw = (raw_at[s] << (s + colour_bits)) | (int64(mark[w]) << colour_bits) | own[s]
        size = length[s]
        bit = np.uint8(1 << s)
        for e in range(indptr[start + w], indptr[start + w + 1]):
            u = indices[e]
            if u > root:
                if mark[u] == 0:
                    queue[size] = u
                    size += 1
                mark[u] |= bit
        if s < k - 2:  # one vertex more
            s += 1
            code_at[s] = code
            raw_at[s] = raw
            length[s] = size
            place[s] = place[s - 1]
            continue
        raw <<= last_bits
        for q in range(place[s] + 1, size):  # or all last vertices at once
            u = queue[q]
            slot = raw | (int64(mark[u]) << colour_bits) | int64(colours[start + u])
            if direct:
                if amount[slot] == 0:
                    touched[n_touched] = slot
                    n_touched += 1
                amount[slot] += 1
                continue
            key = uint64(slot) + uint64(1)
            at = (key * uint64(0x9E3779B97F4A7C15)) >> uint64(64 - CACHE_BITS) if cached else uint64(0)
            if cached and cache[at, 0] == key:
                record = cache[at, 1]
                if table[record, COPIES] == 0:
                    touched[n_touched] = record
                    n_touched += 1
                table[record, COPIES] += uint64(1)
                continue
            own[k - 1] = colours[start + u]
            full_code = code | (int64(mark[u]) << last_shift)
            kind = canonical(full_code, own, k, class_of, renaming, group_ptr, group, best, trial)
            waiting[n_waiting, 0], waiting[n_waiting, 1] = pack(kind, best, k)
            waiting[n_waiting, 2] = key if cached else uint64(0)
            prefetch_row(table, int64(hash_words(waiting[n_waiting, 0], waiting[n_waiting, 1]) & mask))
            n_waiting += 1
            if n_waiting == PENDING:
                n_touched = serve(waiting, n_waiting, table, cache, touched, n_touched, state)
                n_waiting = 0
        for e in range(indptr[start + w], indptr[start + w + 1]):
            mark[indices[e]] &= ~bit


@helper
def serve(waiting, n_waiting, table, cache, touched, n_touched, state):
    """Count the waiting patterns, whose records should have arrived by now."""
    for i in range(n_waiting):
        record = record_of(waiting[i, 0], waiting[i, 1], table, state)
        if table[record, COPIES] == 0:
            touched[n_touched] = record
            n_touched += 1
        table[record, COPIES] += uint64(1)
        key = waiting[i, 2]
        if key:
            at = (key * uint64(0x9E3779B97F4A7C15)) >> uint64(64 - CACHE_BITS)
            cache[at, 0], cache[at, 1] = key, uint64(record)
    return n_touched


@helper
def add_up(k, colour_bits, state, amount, touched, table, own, best, trial, class_of, renaming, group_ptr, group):
    """Counters of raw patterns into records; touched lists the records afterwards."""
    n_met = 0
    for t in range(state[TOUCHED]):
        slot = touched[t]
        code, rest = 0, slot
        for s in range(k - 1, -1, -1):
            own[s] = rest & ((1 << colour_bits) - 1)
            code |= ((rest >> colour_bits) & ((1 << s) - 1)) << (s * (s - 1) // 2)
            rest >>= s + colour_bits
        kind = canonical(code, own, k, class_of, renaming, group_ptr, group, best, trial)
        high, low = pack(kind, best, k)
        record = record_of(high, low, table, state)
        if table[record, COPIES] == 0:
            touched[n_met] = record
            n_met += 1
        table[record, COPIES] += uint64(amount[slot])
        amount[slot] = 0
    state[TOUCHED] = n_met
