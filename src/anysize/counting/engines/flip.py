"""Colored counts, k = 4, 5, 6 (and plain k = 6), of small or dense graphs by the flip scheme.

All (k - 2)-sets Q are visited. Vertices are sorted by color, each color in its own words, so that the size of a group
(adjacency to Q, color) is a popcount over the words of that color. `flip_plan` explains the products.
"""

# mypy: ignore-errors
from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
from numba import int64, uint64

from anysize._typing import BoolArray, FloatArray
from anysize.counting.columns import Columns, CountTable, merged
from anysize.counting.engines.bits import add_outer, add_scaled, is_set, lowest_bit, popcount
from anysize.counting.engines.canonical import unpack
from anysize.counting.engines.engine import CELL_BYTES, Engine, MemoryNeed
from anysize.counting.engines.flip_plan import PRODUCT_BYTES, flip_plan, padded
from anysize.counting.engines.jit import entry, helper
from anysize.counting.engines.threads import Threads, Tick
from anysize.counting.features import Features
from anysize.graphs.graphset import GraphSet

MAX_VERTICES = 1024  # products of the group sizes of one set Q fit int32
COLORS = {4: (1, 2, 4, 8, 12, 16), 5: (1, 2, 4, 6, 8, 12), 6: (1, 2, 4)}  # that kernels are compiled for


def count(graphs: GraphSet, k: int, threads: Threads, tick: Tick) -> CountTable:
    """Induced copies of the patterns that occur."""

    single = replace(threads, number=1)

    def work(start, stop):
        parts = []
        for g in range(start, stop):
            parts.append(_count_graph(graphs[g], g, k, single))
            tick(1 / len(graphs))
        return parts

    if len(graphs) >= 2 * threads.number:
        chunks = threads.run(work, graphs.sizes ** (k - 1))
        parts = [part for chunk in chunks for part in chunk]
    else:
        parts = one_by_one(_count_graph, graphs, k, threads, tick)
    return merged(parts, graphs, k)


def one_by_one(count_graph, graphs: GraphSet, k: int, threads: Threads, tick: Tick) -> list:
    """count_graph(graph, row, k, threads) for all graphs, each with all threads."""
    parts = []
    for row, graph in enumerate(graphs):
        parts.append(count_graph(graph, row, k, threads))
        tick(1 / len(graphs))
    return parts


def fits(f: Features, k: int) -> BoolArray:
    return (f.n <= MAX_VERTICES) & (f.colors <= COLORS[k][-1])


def seconds(f: Features, k: int) -> FloatArray:
    """The groups of all (k - 2)-sets that are needed, and their products; every pattern once."""
    colors = padded(f.colors, COLORS[k])
    density = np.minimum(2 * f.edges / np.maximum(f.n * (f.n - 1), 1), 1)
    words = np.maximum(np.ceil(f.n / 64), colors)
    pairs = {4: 6, 5: 22, 6: 50}[k]
    sets = f.n ** (k - 2) / {4: 2, 5: 6, 6: 24}[k]
    used = np.minimum(1, 1 if k == 4 else 3 * density if k == 5 else 8 * density**2)  # sets whose groups are needed
    group = words * 2 ** (k - 3) / 2
    products = np.where(colors <= 2, (colors * 2 ** (k - 2)) ** 2 / 8, pairs * np.maximum(colors**2 / 8, 1))
    table = colors**k * {4: 300, 5: 900, 6: 2500}[k]
    return 1e-9 * (3e5 + table + sets * (3 + used * (4 + group + products) * (1 + 2 * density**3)))


def memory(f: Features, k: int) -> MemoryNeed:
    """Rows of bits, and tables of products."""
    colors = padded(f.colors, COLORS[k])
    products = PRODUCT_BYTES[k] * colors.astype(np.float64) ** k
    rows = 16 * f.n * (np.ceil(f.n / 64) + colors)
    return MemoryNeed(rows + products, products / 4 + 1e5, CELL_BYTES * f.max_patterns(k))


FLIP = Engine(
    "flip", "products of neighborhood sizes over all (k-2)-sets", count, (4, 5, 6), True, seconds, memory, fits
)


def _count_graph(graph: GraphSet, row: int, k: int, threads: Threads):
    """(columns, row, column, copies) of one graph."""
    n = len(graph.indptr) - 1
    colors = graph.colors if graph.colors is not None else np.zeros(n, np.uint16)
    present, local = np.unique(colors, return_inverse=True)
    plan = flip_plan(k, int(padded(len(present), COLORS[k])))
    bit_of, word_color, bits, upper = _layout(graph, local)

    kernel = _kernel(k, plan.colors, plan.square)

    def work(start, stop, products, group_sums, cliques):
        kernel(start, stop, bit_of, word_color, bits, plan.layout, products, group_sums, threads.flag)
        _cliques(start, stop, k, plan.colors, bit_of, word_color, upper, cliques, threads.flag)

    weights = np.arange(n, 0, -1.0) ** (k - 2) if n >= k else np.zeros(0)
    totals = threads.accumulate(work, weights, plan.length, plan.n_groups, plan.colors**k)[1]
    copies = plan.solve(*totals)
    return count_part(plan, copies, present, row, k, graph)


def count_part(plan, copies, present, row: int, k: int, graph: GraphSet):
    """(columns, row, column, copies) of the patterns that occur; ``present`` are the colors of the graph."""
    occurring = np.flatnonzero(copies)
    pattern_index, local = unpack(plan.high[occurring], plan.low[occurring], k)
    colors = None
    if graph.colors is not None:
        colors = np.zeros_like(local)
        colors[:, :k] = present[local[:, :k]]  # ascending, so that canonical colors stay canonical
    columns = Columns(np.full(len(occurring), k, np.uint8), pattern_index, colors, graph.palette)
    return columns, np.full(len(occurring), row), np.arange(len(occurring)), copies[occurring]


def _layout(graph: GraphSet, color):
    """Vertices by color, each color starting a new word: bit positions, color of each word, rows of bits."""
    n = len(color)
    order = np.argsort(color, kind="stable")
    amount = np.bincount(color, minlength=1)
    words = -(-amount // 64)
    start = 64 * (np.cumsum(words) - words)
    bit_of = start[color[order]] + np.arange(n) - (np.cumsum(amount) - amount)[color[order]]
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    bits = np.zeros((n, int(words.sum())), np.uint64)
    upper = np.zeros_like(bits)
    source = rank[np.repeat(np.arange(n), graph.degrees)]
    target = bit_of[rank[graph.indices]]
    value = np.uint64(1) << (target & 63).astype(np.uint64)
    np.bitwise_or.at(bits, (source, target >> 6), value)
    above = target > bit_of[source]
    np.bitwise_or.at(upper, (source[above], target[above] >> 6), value[above])
    return bit_of, np.repeat(np.arange(len(words)), words), bits, upper


@cache
def _kernel(k: int, colors: int, square: bool):
    """Products for all Q with their first vertex in a range; k and the number of colors are constants.

    Products are summed in int32, which vector registers multiply fast, and moved to int64 before they could overflow.
    """
    depth = k - 3  # vertices of Q before the last
    masks = 1 << depth
    patterns = 1 << (k - 2)
    side = patterns * colors
    cell = colors * colors
    n_codes = 1 << ((k - 2) * (k - 3) // 2)

    @entry
    def kernel(start, stop, bit_of, word_color, bits, layout, products, group_sums, halt):
        tuple_of, block, pair_ptr, pairs = layout.tuple_of, layout.block, layout.pair_ptr, layout.pairs
        n, w = bits.shape
        chosen = np.zeros(depth + 1, np.int64)
        inside = np.zeros((depth + 2, 2 * masks, w), np.uint64)  # vertices by adjacency to the first of Q
        ones = np.zeros((w, masks), np.int32)
        by_mask = np.zeros((w, masks), np.uint64)
        sizes = np.zeros(side, np.int32)  # of the groups (adjacency to Q, color)
        for i in range(n):
            inside[0, 0, bit_of[i] >> 6] |= uint64(1) << uint64(bit_of[i] & 63)
        code_at = np.zeros(depth + 2, np.int64)
        tuple_at = np.zeros(depth + 2, np.int64)
        small = np.zeros(len(products), np.int32)
        small_sums = np.zeros(len(group_sums), np.int32)
        limit = (1 << 31) // (n * n) - n
        waiting = 0
        level = 0
        chosen[0] = start - 1
        while level >= 0:
            chosen[level] += 1
            v = chosen[level]
            if v >= (stop if level == 0 else n):
                level -= 1
                continue
            at, shift = bit_of[v] >> 6, uint64(bit_of[v] & 63)
            code = code_at[level]
            for i in range(level):
                adjacent = int64((bits[chosen[i], at] >> shift) & uint64(1))
                code |= adjacent << (level * (level - 1) // 2 + i)
            code_at[level + 1] = code
            tuple_at[level + 1] = tuple_at[level] * colors + word_color[at]
            half = 1 << level
            for z in range(half):
                for q in range(w):
                    here = inside[level, z, q]
                    if q == at:
                        here &= ~(uint64(1) << shift)
                    inside[level + 1, z, q] = here & ~bits[v, q]
                    inside[level + 1, z + half, q] = here & bits[v, q]
            if level + 1 < depth:
                level += 1
                chosen[level] = v
                continue
            if is_set(halt):
                break
            # The last vertex of Q: groups by adjacency to all of Q.
            for q in range(w):
                for z in range(masks):
                    by_mask[q, z] = inside[depth, z, q]
                    ones[q, z] = int64(popcount(inside[depth, z, q]))
            waiting += n
            if waiting > limit:
                empty(small, products)
                empty(small_sums, group_sums)
                waiting = n
            for last in range(v + 1, n):
                at, shift = bit_of[last] >> 6, uint64(bit_of[last] & 63)
                adjacency = 0
                for i in range(depth):
                    adjacency |= int64((bits[chosen[i], at] >> shift) & uint64(1)) << i
                full = code | (adjacency << (depth * (depth - 1) // 2))
                if pair_ptr[full] == pair_ptr[full + 1]:
                    continue
                for x in range(side):
                    sizes[x] = 0
                for q in range(w):
                    row = bits[last, q]
                    c = word_color[q]
                    for z in range(masks):
                        with_last = np.int32(popcount(by_mask[q, z] & row))
                        sizes[(masks + z) * colors + c] += with_last
                        sizes[z * colors + c] += ones[q, z] - with_last
                sizes[adjacency * colors + word_color[at]] -= 1  # last itself
                tuple_number = tuple_of[tuple_at[depth] * colors + word_color[at]]
                here = block[tuple_number, full]
                add_scaled(small_sums, (tuple_number * n_codes + full) * side, np.int32(1), sizes, side)
                if square:
                    for x in range(colors, side):
                        add_scaled(small, here + x * side, sizes[x], sizes, side)
                else:
                    for j in range(pair_ptr[full], pair_ptr[full + 1]):
                        add_outer(small, here, sizes, pairs[j, 0] * colors, pairs[j, 1] * colors, colors)
                        here += cell
        empty(small, products)
        empty(small_sums, group_sums)

    return kernel


@helper
def empty(small, products):
    for i in range(len(small)):
        products[i] += int64(small[i])
        small[i] = 0


@entry
def _cliques(start, stop, k, colors, bit_of, word_color, upper, cliques, halt):
    """k-cliques by their ascending colors, with their first vertex in start .. stop."""
    n, w = upper.shape
    vertex = np.zeros(64 * w, np.int64)
    for i in range(n):
        vertex[bit_of[i]] = i
    inside = np.zeros((k, w), np.uint64)
    rest = np.zeros((k, w), np.uint64)
    word = np.zeros(k, np.int64)
    index = np.zeros(k, np.int64)
    for first in range(start, stop):
        level = 1
        for q in range(w):
            inside[1, q] = upper[first, q]
            rest[1, q] = upper[first, q]
        word[1] = 0
        index[1] = word_color[bit_of[first] >> 6]
        while level > 0:
            while word[level] < w and rest[level, word[level]] == uint64(0):
                word[level] += 1
            q = word[level]
            if q == w:
                level -= 1
                continue
            x = vertex[64 * q + int64(lowest_bit(rest[level, q]))]
            rest[level, q] &= rest[level, q] - uint64(1)
            here = index[level] * colors + word_color[q]
            if level == k - 2:
                for p in range(q, w):
                    cliques[here * colors + word_color[p]] += int64(popcount(inside[level, p] & upper[x, p]))
                continue
            if is_set(halt):
                return
            level += 1
            some = uint64(0)
            for p in range(w):
                inside[level, p] = inside[level - 1, p] & upper[x, p]
                rest[level, p] = inside[level, p]
                some |= inside[level, p]
            word[level] = q
            index[level] = here
            if some == uint64(0):
                level -= 1
