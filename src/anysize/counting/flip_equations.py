"""The linear map of the flip scheme: which open pattern a product counts, and an equation for every pattern.

Patterns, open or not, are packed words (`canonical.pack`), numbered in the order in which they are met.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import int64, uint64

from anysize.counting.canonical import canonical, colour_at, hash_words, pack
from anysize.counting.jit import entry, helper


@entry
def name_products(k, colours, tuples, codes, pairs, corner, step, per_tuple, class_of, renaming, group_ptr, group):
    """For every product its open pattern: canonical among those that keep the open pair apart."""
    amount = len(tuples) * len(pairs) * colours * colours
    source, target = np.empty(amount, np.int64), np.empty(amount, np.int32)
    group_of = np.full(amount, -1, np.int64)
    n_codes, patterns = 1 << ((k - 2) * (k - 3) // 2), 1 << (k - 2)
    slots = empty_slots(amount)
    high, low = np.empty(amount, np.uint64), np.empty(amount, np.uint64)
    own, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    shift_d, shift_e = (k - 2) * (k - 3) // 2, (k - 1) * (k - 2) // 2
    n, n_open = 0, 0
    for t in range(len(tuples)):
        for i in range(k - 2):
            own[i] = tuples[t, i]
        for j in range(len(pairs)):
            p, r = pairs[j, 0], pairs[j, 1]
            code = codes[j] | (p << shift_d) | (r << shift_e)
            for first in range(colours):
                for second in range(first if p == r else 0, colours):
                    own[k - 2], own[k - 1] = first, second
                    kind = canonical(code, own, k, class_of, renaming, group_ptr, group, best, trial)
                    word, other = pack(kind, best, k)
                    target[n], n_open = pattern_number(word, other, slots, high, low, n_open)
                    source[n] = t * per_tuple + corner[j] + first * step[0] + second * step[1]
                    if p == r and first == second:
                        group_of[n] = ((t * n_codes + codes[j]) * patterns + p) * colours + first
                    n += 1
    return source[:n], target[:n], group_of[:n], high[:n_open], low[:n_open]


@entry
def equations(k, open_high, open_low, codes, clique_colours, clique_class, n_edges, plain, marked):
    """An equation for every pattern but the cliques, which come first: packed patterns, and rows of equations.

    A row: pattern, open pattern, the pattern with the pair closed, how often (m0, m1) the open pattern is in either,
    edges. codes: a code of every marked class; n_edges: by class; clique_colours: ascending.
    """
    amount = 2 * len(open_high) + len(clique_colours)
    slots = empty_slots(amount)
    high, low = np.empty(amount, np.uint64), np.empty(amount, np.uint64)
    solved = np.zeros(amount, np.uint8)
    own, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    n = 0
    for c in range(len(clique_colours)):
        word, other = pack(clique_class, clique_colours[c], k)
        n = pattern_number(word, other, slots, high, low, n)[1]
        solved[c] = 1
    rows = np.empty((6, len(open_high)), np.int64)
    n_rows = 0
    last_bit = k * (k - 1) // 2 - 1
    for o in range(len(open_high)):
        code = codes[int64(open_high[o] >> uint64(48))]
        for i in range(k):
            own[i] = colour_at(open_high[o], open_low[o], i)
        kind = canonical(code, own, k, plain[0], plain[1], plain[2], plain[3], best, trial)
        if kind < 0:
            continue
        word, other = pack(kind, best, k)
        number, n = pattern_number(word, other, slots, high, low, n)
        if solved[number]:
            continue
        solved[number] = 1
        rows[0, n_rows], rows[1, n_rows], rows[5, n_rows] = number, o, n_edges[kind]
        rows[3, n_rows] = _markings(code, own, k, 0, open_high[o], open_low[o], marked)
        closed = code | (1 << last_bit)
        kind = canonical(closed, own, k, plain[0], plain[1], plain[2], plain[3], best, trial)
        word, other = pack(kind, best, k)
        rows[2, n_rows], n = pattern_number(word, other, slots, high, low, n)
        rows[4, n_rows] = _markings(closed, own, k, 1, open_high[o], open_low[o], marked)
        n_rows += 1
    return high[:n], low[:n], rows[:, :n_rows]


@helper
def _markings(code, own, k, adjacent, high, low, marked):
    """How many pairs of a coloured pattern, adjacent or not, give this open pattern when they are opened."""
    place = np.zeros(8, np.int64)
    moved, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    found = 0
    for e in range(k):
        for d in range(e):
            if (code >> (e * (e - 1) // 2 + d)) & 1 != adjacent:
                continue
            position = 0
            for v in range(k):
                if v != d and v != e:
                    place[v] = position
                    position += 1
            place[d], place[e] = k - 2, k - 1
            renamed = 0
            for j in range(k):
                moved[place[j]] = own[j]
                for i in range(j):
                    if (code >> (j * (j - 1) // 2 + i)) & 1 and not (i == d and j == e):
                        a, b = min(place[i], place[j]), max(place[i], place[j])
                        renamed |= 1 << (b * (b - 1) // 2 + a)
            kind = canonical(renamed, moved, k, marked[0], marked[1], marked[2], marked[3], best, trial)
            word, other = pack(kind, best, k)
            found += word == high and other == low
    return found


@helper
def empty_slots(amount):
    """A hash table for at most that many patterns; half of it stays free."""
    size = 1 << 10
    while size < 2 * amount:
        size *= 2
    return np.zeros(size, np.int32)


@helper
def pattern_number(word, other, slots, high, low, n):
    """The number of a pattern, in the order in which they were first met, and how many there are then."""
    mask = uint64(len(slots) - 1)
    at = hash_words(word, other) & mask
    while slots[at]:
        if high[slots[at] - 1] == word and low[slots[at] - 1] == other:
            return int64(slots[at]) - 1, n
        at = (at + uint64(1)) & mask
    high[n], low[n] = word, other
    slots[at] = n + 1
    return n, n + 1
