"""The flip scheme: colored counts from products of neighborhood sizes.

Take a connected pattern F, other than a clique, and two vertices d, e of it that are not adjacent, such that the other
vertices, Q, are connected. For a fixed Q in the graph, the vertices outside Q fall into groups by their adjacency to Q
and their color. The product of two group sizes, summed over all Q, counts "F with the pair {d, e} left open", which is
m0 induced(F) + m1 induced(F + de). So, from the densest pattern down, every colored count takes one subtraction and one
division of integers. Cliques are counted separately. Cycles have no such pair: they use a disconnected Q in small
graphs, and are counted separately in large ones.

A `FlipPlan` for k vertices and a number of colors says where products are added, and solves for the counts. The kernels
that compute the products are in `flip` and `flip_sparse`.
"""

# mypy: ignore-errors
from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations
from typing import NamedTuple

import numpy as np
from numba import int64, uint64

from anysize.counting.engines.canonical import canonical, color_at, hash_words, marked_tables, pack, pattern_tables
from anysize.counting.engines.jit import entry, helper
from anysize.patterns.orbits import code_of, is_connected
from anysize.patterns.pattern import connected_patterns

SPARSE_CODES = {4: (1,), 5: (5, 7)}  # Q in large graphs: an edge; a path 0 - 1 - 2 or a triangle
PRODUCT_BYTES = {4: 400, 5: 1500, 6: 15_000}  # of products and equations, for every k-tuple of colors
MAX_SQUARE_COLORS = 2  # up to here, all products in vector registers are faster than a list of pairs


def padded(colors, compiled: tuple[int, ...]):
    """A number of colors rounded up to one that kernels are compiled for, or the largest of those."""
    return np.array(compiled)[np.searchsorted(compiled, colors).clip(max=len(compiled) - 1)]


class Layout(NamedTuple):
    """Where kernels add products: in blocks by the colors of Q (ascending) and the code of Q.

    Inside a block they are ordered by (pair of adjacency patterns, color, color) or, for few colors, are the full
    square (adjacency pattern, color) x (adjacency pattern, color).
    """

    tuple_of: np.ndarray  # the number of a tuple of colors, or -1
    block: np.ndarray  # (tuples, codes): the start of a block
    pair_ptr: np.ndarray  # by code: its pairs of adjacency patterns
    pairs: np.ndarray


@dataclass(frozen=True, eq=False)
class FlipPlan:
    """How products become counts for k vertices and a number of colors.

    Products are stored as ``layout`` says, in an array of that ``length``. ``source -> target`` sums them by open
    pattern. The square of one group counts every pair twice and every vertex with itself: where ``group`` is not -1, it
    is the index of that group in a table of sums of sizes, (tuple, code, adjacency pattern, color).

    ``high, low`` are the packed patterns. The first are the cliques, with indices ``clique`` in a table over their
    colors. A level of equations (pattern, open pattern, denser pattern, m0, m1) is solved at once.
    """

    k: int
    colors: int
    square: bool
    layout: Layout
    length: int
    source: np.ndarray
    target: np.ndarray
    group: np.ndarray
    n_groups: int
    n_open: int
    high: np.ndarray
    low: np.ndarray
    clique: np.ndarray
    levels: tuple[tuple[int, np.ndarray], ...]

    def solve(self, products, group_sums, cliques, cycles=None):
        """Induced copies of all patterns, in the order of high and low.

        cycles: the number of k-cycles, not necessarily induced, by the colors along them; for sparse plans.
        """
        open_counts = np.zeros(self.n_open, np.int64)
        _gather(open_counts, products, group_sums, self.source, self.target, self.group)
        copies = np.zeros(len(self.high), np.int64)
        copies[: len(self.clique)] = cliques.ravel()[self.clique]
        for edges, (pattern, open_pattern, denser, m0, m1) in self.levels:
            if edges == self.k - 1 and cycles is not None:
                self._add_induced_cycles(copies, cycles)
            multiple = open_counts[open_pattern] - m1 * copies[denser]
            copies[pattern] = multiple // m0
            if (copies[pattern] * m0 != multiple).any() or (copies[pattern] < 0).any():
                raise ArithmeticError("the flip equations have no integer solution: a bug in anysize, please report it")
        return copies

    def _add_induced_cycles(self, copies, cycles) -> None:
        """Induced cycles: all cycles minus those inside denser patterns, which have been solved already."""
        number, inside, within = spanned_cycles(self)
        np.add.at(copies, number, cycles)
        np.subtract.at(copies, inside, copies[within])


@entry
def _gather(open_counts, products, group_sums, source, target, group):
    for i in range(len(source)):
        if group[i] < 0:
            open_counts[target[i]] += products[source[i]]
        else:
            open_counts[target[i]] += (products[source[i]] - group_sums[group[i]]) // 2


@cache
def flip_plan(k: int, colors: int, sparse: bool = False) -> FlipPlan:
    """The plan for k vertices and a number of colors; it takes milliseconds to a few seconds, once per process.

    A sparse plan uses connected Q only (an edge, a path 0 - 1 - 2 or a triangle); cycles are counted separately.
    """
    needed = open_pairs(k)
    if sparse:
        needed = {code: needed[code] for code in SPARSE_CODES[k]}
    n_codes = 1 << ((k - 2) * (k - 3) // 2)
    pair_ptr, pairs = _pairs_by_code(needed, n_codes)
    tuples, tuple_of = _color_tuples(k - 2, colors, ends_only=sparse)
    square = colors <= MAX_SQUARE_COLORS and not sparse
    side = colors << (k - 2)
    in_block = side**2 * (np.diff(pair_ptr) > 0) if square else np.diff(pair_ptr) * colors**2
    start = np.cumsum(in_block) - in_block
    per_tuple = int(in_block.sum())
    block = np.arange(len(tuples))[:, None] * per_tuple + start[None, :]
    codes = np.repeat(np.arange(n_codes), np.diff(pair_ptr))
    if square:
        p, r, step = pairs[:, 0], pairs[:, 1], np.array([side, 1])
        corner = start[codes] + p * colors * side + r * colors
    else:
        step = np.array([colors, 1])
        corner = np.arange(len(pairs)) * colors**2
    source, target, group, open_high, open_low = name_products(
        k, colors, tuples, codes, pairs, corner, step, per_tuple, marked_tables(k)
    )
    clique_colors, clique = _by_ascending_colors(k, colors)
    codes = np.unique(marked_tables(k).class_of, return_index=True)[1]  # smallest code of each marked class
    n_edges = np.array([len(pattern.edges) for pattern in connected_patterns(k)])
    high, low, rows = equations(
        k, open_high, open_low, codes, clique_colors, len(connected_patterns(k)) - 1, n_edges,
        pattern_tables(k), marked_tables(k),
    )  # fmt: skip
    edges = rows[5]
    levels = tuple((count, rows[:5, edges == count]) for count in sorted(set(edges.tolist()), reverse=True))
    return FlipPlan(
        k, colors, square, Layout(tuple_of, block, pair_ptr, pairs), per_tuple * len(tuples), source, target, group,
        len(tuples) * n_codes * side, len(open_high), high, low, clique, levels,
    )  # fmt: skip


def _pairs_by_code(needed, n_codes: int):
    """The pairs of adjacency patterns that each code of Q needs, as a ragged array."""
    ptr = np.zeros(n_codes + 1, np.int64)
    ptr[1:] = np.cumsum([len(needed.get(code, ())) for code in range(n_codes)])
    return ptr, np.array([pair for code in sorted(needed) for pair in needed[code]], np.int64)


def _color_tuples(length: int, colors: int, ends_only: bool = False):
    """Ascending color tuples (or those with ascending ends), and a table from tuples to their numbers."""
    grid = np.indices((colors,) * length).reshape(length, -1).T
    ascending = grid[:, 0] <= grid[:, -1] if ends_only else (np.diff(grid, axis=1) >= 0).all(axis=1)
    number = np.where(ascending, np.cumsum(ascending) - 1, -1)
    return grid[ascending].astype(np.int64), number.astype(np.int64)


def _by_ascending_colors(k: int, colors: int):
    """Ascending color tuples of length k, and their indices in a table over all tuples."""
    tuples = _color_tuples(k, colors)[0]
    return tuples, tuples @ (colors ** np.arange(k - 1, -1, -1))


# ---- open pairs: one for each pattern --------------------------------------------------------------------


def is_cycle(pattern) -> bool:
    """Every vertex has two neighbors (and the pattern is connected)."""
    ends = [vertex for edge in pattern.edges for vertex in edge]
    return pattern.size > 3 and all(ends.count(vertex) == 2 for vertex in range(pattern.size))


@cache
def open_pairs(k: int) -> dict[int, tuple[tuple[int, int], ...]]:
    """For every code of Q the pairs of adjacency patterns (p <= r) whose products are needed.

    One open pair per pattern is enough: the one with most edges in Q, because such Q are rarer.
    """
    classes = marked_tables(k).class_of
    marked = {classes[_best_marking(pattern)] for pattern in connected_patterns(k)[:-1]}
    inner, shift_d, shift_e = (k - 2) * (k - 3) // 2, (k - 2) * (k - 3) // 2, (k - 1) * (k - 2) // 2
    needed = {}
    for code in range(1 << inner):
        pairs = [
            (p, r)
            for p in range(1, 1 << (k - 2))
            for r in range(p, 1 << (k - 2))
            if classes[code | p << shift_d | r << shift_e] in marked
        ]
        if pairs:
            needed[code] = tuple(pairs)
    return needed


def _best_marking(pattern) -> int:
    """The code of the pattern with the best open pair moved to the end."""
    options = []
    for d, e in combinations(range(pattern.size), 2):
        if (d, e) in pattern.edges:
            continue
        order = [v for v in range(pattern.size) if v not in (d, e)] + [d, e]
        position_of = {vertex: position for position, vertex in enumerate(order)}
        code = code_of([(position_of[i], position_of[j]) for i, j in pattern.edges])
        inside = code & ((1 << ((pattern.size - 2) * (pattern.size - 3) // 2)) - 1)
        if is_connected(inside, pattern.size - 2) or is_cycle(pattern):
            options.append((-inside.bit_count(), int(marked_tables(pattern.size).class_of[code]), code))
    return min(options)[2]


# ---- the linear map: the open pattern of every product, and an equation for every pattern ----------------


@entry
def name_products(k, colors, tuples, codes, pairs, corner, step, per_tuple, tables):
    """The open pattern of every product, canonical among renamings that keep the open pair."""
    amount = len(tuples) * len(pairs) * colors * colors
    source, target = np.empty(amount, np.int64), np.empty(amount, np.int32)
    group_of = np.full(amount, -1, np.int64)
    n_codes, patterns = 1 << ((k - 2) * (k - 3) // 2), 1 << (k - 2)
    slots = empty_slots(amount)
    high, low = np.empty(amount, np.uint64), np.empty(amount, np.uint64)
    vertex_color, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    shift_d, shift_e = (k - 2) * (k - 3) // 2, (k - 1) * (k - 2) // 2
    n, n_open = 0, 0
    for t in range(len(tuples)):
        for i in range(k - 2):
            vertex_color[i] = tuples[t, i]
        for j in range(len(pairs)):
            p, r = pairs[j, 0], pairs[j, 1]
            code = codes[j] | (p << shift_d) | (r << shift_e)
            for first in range(colors):
                for second in range(first if p == r else 0, colors):
                    vertex_color[k - 2], vertex_color[k - 1] = first, second
                    kind = canonical(code, vertex_color, k, tables, best, trial)
                    word, other = pack(kind, best, k)
                    target[n], n_open = pattern_number(word, other, slots, high, low, n_open)
                    source[n] = t * per_tuple + corner[j] + first * step[0] + second * step[1]
                    if p == r and first == second:
                        group_of[n] = ((t * n_codes + codes[j]) * patterns + p) * colors + first
                    n += 1
    return source[:n], target[:n], group_of[:n], high[:n_open], low[:n_open]


@entry
def equations(k, open_high, open_low, codes, clique_colors, clique_class, n_edges, plain, marked):
    """Packed patterns, cliques first, and an equation for every pattern that is not a clique.

    A row: pattern, open pattern, the pattern with the pair closed, how often (m0, m1) either contains the open pattern,
    number of edges. codes: a code of every marked class; n_edges: by class; clique_colors: ascending.
    """
    amount = 2 * len(open_high) + len(clique_colors)
    slots = empty_slots(amount)
    high, low = np.empty(amount, np.uint64), np.empty(amount, np.uint64)
    solved = np.zeros(amount, np.uint8)
    vertex_color, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    n = 0
    for c in range(len(clique_colors)):
        word, other = pack(clique_class, clique_colors[c], k)
        n = pattern_number(word, other, slots, high, low, n)[1]
        solved[c] = 1
    rows = np.empty((6, len(open_high)), np.int64)
    n_rows = 0
    last_bit = k * (k - 1) // 2 - 1
    for o in range(len(open_high)):
        code = codes[int64(open_high[o] >> uint64(48))]
        for i in range(k):
            vertex_color[i] = color_at(open_high[o], open_low[o], i)
        kind = canonical(code, vertex_color, k, plain, best, trial)
        if kind < 0:
            continue
        word, other = pack(kind, best, k)
        number, n = pattern_number(word, other, slots, high, low, n)
        if solved[number]:
            continue
        solved[number] = 1
        rows[0, n_rows], rows[1, n_rows], rows[5, n_rows] = number, o, n_edges[kind]
        rows[3, n_rows] = _markings(code, vertex_color, k, 0, open_high[o], open_low[o], marked)
        closed = code | (1 << last_bit)
        kind = canonical(closed, vertex_color, k, plain, best, trial)
        word, other = pack(kind, best, k)
        rows[2, n_rows], n = pattern_number(word, other, slots, high, low, n)
        rows[4, n_rows] = _markings(closed, vertex_color, k, 1, open_high[o], open_low[o], marked)
        n_rows += 1
    return high[:n], low[:n], rows[:, :n_rows]


@helper
def _markings(code, vertex_color, k, adjacent, high, low, marked):
    """The number of pairs of a colored pattern, adjacent or not, that give this open pattern when opened."""
    position_of = np.zeros(8, np.int64)
    moved, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    ways = 0
    for e in range(k):
        for d in range(e):
            if (code >> (e * (e - 1) // 2 + d)) & 1 != adjacent:
                continue
            position = 0
            for v in range(k):
                if v != d and v != e:
                    position_of[v] = position
                    position += 1
            position_of[d], position_of[e] = k - 2, k - 1
            renamed = 0
            for j in range(k):
                moved[position_of[j]] = vertex_color[j]
                for i in range(j):
                    if (code >> (j * (j - 1) // 2 + i)) & 1 and not (i == d and j == e):
                        a, b = min(position_of[i], position_of[j]), max(position_of[i], position_of[j])
                        renamed |= 1 << (b * (b - 1) // 2 + a)
            kind = canonical(renamed, moved, k, marked, best, trial)
            word, other = pack(kind, best, k)
            ways += word == high and other == low
    return ways


@helper
def empty_slots(amount):
    """A hash table for at most that many patterns, at most half full."""
    size = 1 << 10
    while size < 2 * amount:
        size *= 2
    return np.zeros(size, np.int32)


@helper
def pattern_number(word, other, slots, high, low, n):
    """The number of a pattern, in order of insertion, and the number of patterns after a possible insertion."""
    mask = uint64(len(slots) - 1)
    at = hash_words(word, other) & mask
    while slots[at]:
        if high[slots[at] - 1] == word and low[slots[at] - 1] == other:
            return int64(slots[at]) - 1, n
        at = (at + uint64(1)) & mask
    high[n], low[n] = word, other
    slots[at] = n + 1
    return n, n + 1


# ---- cycles in large graphs, which are counted separately -------------------------------------------------


@cache
def spanned_cycles(plan: FlipPlan):
    """The cycle pattern of every coloring of a ring; and pairs of a cycle and a denser pattern that contains it."""
    k, colors = plan.k, plan.colors
    order = np.array([(0, *rest) for rest in permutations(range(1, k)) if rest[0] < rest[-1]], np.int64)
    ring = code_of([(i, (i + 1) % k) for i in range(k)])
    codes = np.array([pattern.code for pattern in connected_patterns(k)], np.int64)
    colorings = np.indices((colors,) * k).reshape(k, -1).T.astype(np.int64)
    return _find_cycles(k, ring, order, codes, colorings, plan.high, plan.low, pattern_tables(k))


@entry
def _find_cycles(k, ring, order, codes, colorings, high, low, plain):
    """order: cyclic orders of k vertices; codes: by class; high, low: all patterns, to look up cycles."""
    slots = empty_slots(len(high))
    for n in range(len(high)):
        pattern_number(high[n], low[n], slots, high, low, n)
    vertex_color, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    number = np.empty(len(colorings), np.int64)
    for i in range(len(colorings)):
        kind = canonical(ring, colorings[i], k, plain, best, trial)
        word, other = pack(kind, best, k)
        number[i] = pattern_number(word, other, slots, high, low, len(high))[0]
    ring_class = plain.class_of[ring]
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
                vertex_color[i] = color_at(high[pattern], low[pattern], order[o, i])
            cycle = canonical(ring, vertex_color, k, plain, best, trial)
            word, other = pack(cycle, best, k)
            inside[n] = pattern_number(word, other, slots, high, low, len(high))[0]
            within[n] = pattern
            n += 1
    return number, inside[:n], within[:n]
