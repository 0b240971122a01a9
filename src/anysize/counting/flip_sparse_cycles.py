"""Coloured cycles of a large sparse graph, which the flip scheme does not give: kernels of `flip_sparse`.

A cycle is found from its highest vertex, top, by walks of two steps below it; it may have chords. The kernels are made
for a number of colours, a constant that the compiler unrolls.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
from numba import int64

from anysize.counting.bits import add_outer_wide
from anysize.counting.jit import entry, helper


def squares(colours: int):
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
            size = _walk_down(low_ptr, low, high_ptr, high, colour, top, ways, met, touched)
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


def pentagons(colours: int):
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
            size = _walk_down(low_ptr, low, high_ptr, high, colour, top, ways, met, touched)
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
def _walk_down(low_ptr, low, high_ptr, high, colour, top, ways, met, touched):
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
