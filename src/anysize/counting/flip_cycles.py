"""Cycles in the flip scheme of large graphs, where they are counted apart: which patterns have which cycles inside."""

# mypy: ignore-errors
from __future__ import annotations

from functools import cache
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
from numba import int64, uint64

from anysize.counting.canonical import canonical, colour_at, pack, pattern_tables
from anysize.counting.flip_equations import empty_slots, pattern_number
from anysize.counting.jit import entry
from anysize.orbits import code_of
from anysize.patterns import catalogue

if TYPE_CHECKING:
    from anysize.counting.flip_plan import FlipPlan


@cache
def spanned_cycles(plan: FlipPlan):
    """The cycle that every colouring of a ring is; then pairs, a cycle and a denser pattern that has it inside."""
    k, colours = plan.k, plan.colours
    order = np.array([(0, *rest) for rest in permutations(range(1, k)) if rest[0] < rest[-1]], np.int64)
    ring = code_of([(i, (i + 1) % k) for i in range(k)])
    codes = np.array([pattern.code for pattern in catalogue(k)], np.int64)
    colourings = np.indices((colours,) * k).reshape(k, -1).T.astype(np.int64)
    return _find_cycles(k, ring, order, codes, colourings, plan.high, plan.low, pattern_tables(k))


@entry
def _find_cycles(k, ring, order, codes, colourings, high, low, plain):
    """order: the ways round k vertices; codes: by class. high, low: all patterns, among which cycles are looked up."""
    slots = empty_slots(len(high))
    for n in range(len(high)):
        pattern_number(high[n], low[n], slots, high, low, n)
    own, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    number = np.empty(len(colourings), np.int64)
    for i in range(len(colourings)):
        kind = canonical(ring, colourings[i], k, plain[0], plain[1], plain[2], plain[3], best, trial)
        word, other = pack(kind, best, k)
        number[i] = pattern_number(word, other, slots, high, low, len(high))[0]
    ring_class = plain[0][ring]
    inside = np.empty(len(high) * len(order), np.int64)
    within = np.empty(len(high) * len(order), np.int64)
    n = 0
    for pattern in range(len(high)):
        kind = int64(high[pattern] >> uint64(48))
        if kind == ring_class:
            continue
        for o in range(len(order)):
            closed = True
            for i in range(k):
                a, b = order[o, i], order[o, (i + 1) % k]
                closed = closed and (codes[kind] >> (max(a, b) * (max(a, b) - 1) // 2 + min(a, b))) & 1
            if not closed:
                continue
            for i in range(k):
                own[i] = colour_at(high[pattern], low[pattern], order[o, i])
            cycle = canonical(ring, own, k, plain[0], plain[1], plain[2], plain[3], best, trial)
            word, other = pack(cycle, best, k)
            inside[n] = pattern_number(word, other, slots, high, low, len(high))[0]
            within[n] = pattern
            n += 1
    return number, inside[:n], within[:n]
