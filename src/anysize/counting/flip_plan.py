"""The flip scheme: how coloured counts follow from products of neighbourhood sizes.

Take a connected pattern F, other than a clique, and a pair {d, e} of its vertices that are not adjacent, such
that the others, Q, are connected. For a fixed Q in the graph, the vertices outside fall into groups by their
adjacency to Q and their colour; the product of two group sizes, summed over all Q, counts "F with the pair
{d, e} left open" = m0 induced(F) + m1 induced(F + de). So, from the densest pattern down, every coloured
count is one subtraction and one division, in integers. Cliques are counted apart; cycles have no such pair,
and take a disconnected Q (small graphs) or their own count (large ones).

Here: which open pairs are used, and the linear map from the products to the counts, for any k and number of
colours. The kernels that fill the products are in `flip` and `flip_sparse`.
"""

# mypy: ignore-errors
from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations

import numpy as np
from numba import int64, uint64

from anysize.counting.canonical import canonical, hash_words, marked_tables, pack, pattern_tables
from anysize.counting.jit import entry, helper
from anysize.orbits import code_of, is_connected
from anysize.patterns import catalogue

SPARSE_CODES = {4: (1,), 5: (5, 7)}  # Q on large graphs: an edge; a path 0 - 1 - 2 or a triangle
SQUARE_UP_TO = 2  # colours; then a full square of products in vector registers beats a list of pairs


def is_cycle(pattern) -> bool:
    """Every vertex has two neighbours (and the pattern is connected)."""
    ends = [vertex for edge in pattern.edges for vertex in edge]
    return pattern.size > 3 and all(ends.count(vertex) == 2 for vertex in range(pattern.size))


@cache
def open_pairs(k: int) -> dict[int, tuple[tuple[int, int], ...]]:
    """For every code of Q the pairs of adjacency patterns (p <= r) whose products are needed.

    One open pair per pattern is enough: the one that leaves most edges in Q, because such Q are rarer.
    """
    classes = marked_tables(k).class_of
    chosen = {classes[_best_marking(pattern)] for pattern in catalogue(k)[:-1]}
    inner, shift_d, shift_e = (k - 2) * (k - 3) // 2, (k - 2) * (k - 3) // 2, (k - 1) * (k - 2) // 2
    needed = {}
    for code in range(1 << inner):
        pairs = [
            (p, r)
            for p in range(1, 1 << (k - 2))
            for r in range(p, 1 << (k - 2))
            if classes[code | p << shift_d | r << shift_e] in chosen
        ]
        if pairs:
            needed[code] = tuple(pairs)
    return needed


def _best_marking(pattern) -> int:
    """The code of the pattern with the chosen open pair moved to the end."""
    options = []
    for d, e in combinations(range(pattern.size), 2):
        if (d, e) in pattern.edges:
            continue
        order = [v for v in range(pattern.size) if v not in (d, e)] + [d, e]
        place = {vertex: position for position, vertex in enumerate(order)}
        code = code_of([(place[i], place[j]) for i, j in pattern.edges])
        inside = code & ((1 << ((pattern.size - 2) * (pattern.size - 3) // 2)) - 1)
        if is_connected(inside, pattern.size - 2) or is_cycle(pattern):
            options.append((-inside.bit_count(), int(marked_tables(pattern.size).class_of[code]), code))
    return min(options)[2]


@dataclass(frozen=True, eq=False)
class FlipPlan:
    """How products become counts for k vertices and L colours.

    Products of Q lie in blocks by colours of Q (ascending) and code of Q; ``block[tuple, code]`` is where they
    begin. Inside a block they go by (pair of patterns, colour, colour), or, for few colours, make the full
    square (pattern, colour) x (pattern, colour). ``source -> target`` adds them up by open pattern. The square of
    one group counts every pair twice and every vertex with itself: where ``group`` is not -1 it is the place
    of that group in a table of sums of sizes, (tuple, code, pattern, colour).

    ``high, low`` name the patterns; the first are the cliques, at the places ``clique`` of a table over their
    colours. A level of equations (pattern, open pattern, denser pattern, m0, m1) is solved at once.
    """

    k: int
    colours: int
    square: bool
    tuple_of: np.ndarray
    block: np.ndarray
    length: int
    pair_ptr: np.ndarray
    pairs: np.ndarray
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

        cycles: subgraphs, not induced, that are k-cycles, by the colours along them, where they were counted.
        """
        open_counts = np.zeros(self.n_open, np.int64)
        _gather(open_counts, products, group_sums, self.source, self.target, self.group)
        copies = np.zeros(len(self.high), np.int64)
        copies[: len(self.clique)] = cliques.ravel()[self.clique]
        for edges, (pattern, open_pattern, denser, m0, m1) in self.levels:
            if edges == self.k - 1 and cycles is not None:
                self._settle_cycles(copies, cycles)
            whole = open_counts[open_pattern] - m1 * copies[denser]
            copies[pattern] = whole // m0
            if (copies[pattern] * m0 != whole).any() or (copies[pattern] < 0).any():
                raise ArithmeticError("the flip equations do not come out even: a bug in anysize, please report it")
        return copies

    def _settle_cycles(self, copies, cycles) -> None:
        """Induced cycles: all of them, less those inside denser patterns, whose counts are known by now."""
        spanned, inside, within = spanned_cycles(self)
        number, places = spanned
        _scatter(copies, number, cycles, places)
        np.subtract.at(copies, inside, copies[within])


@entry
def _scatter(copies, number, cycles, places):
    for i in range(len(places)):
        copies[number[i]] += cycles[places[i]]


@entry
def _gather(open_counts, products, group_sums, source, target, group):
    for i in range(len(source)):
        if group[i] < 0:
            open_counts[target[i]] += products[source[i]]
        else:
            open_counts[target[i]] += (products[source[i]] - group_sums[group[i]]) // 2


@cache
def flip_plan(k: int, colours: int, sparse: bool = False) -> FlipPlan:
    """Built once per process for each k and number of colours, in milliseconds to a few seconds.

    The sparse plan visits connected Q only, as an edge, a path 0 - 1 - 2 or a triangle, and cycles apart.
    """
    needed = open_pairs(k)
    if sparse:
        needed = {code: needed[code] for code in SPARSE_CODES[k]}
    n_codes = 1 << ((k - 2) * (k - 3) // 2)
    pair_ptr = np.zeros(n_codes + 1, np.int64)
    pair_ptr[1:] = np.cumsum([len(needed.get(code, ())) for code in range(n_codes)])
    pairs = np.array([pair for code in sorted(needed) for pair in needed[code]], np.int64)
    tuples, tuple_of = _colour_tuples(k - 2, colours, ends_only=sparse)
    square = colours <= SQUARE_UP_TO and not sparse
    side = colours << (k - 2)
    in_block = side**2 * (np.diff(pair_ptr) > 0) if square else np.diff(pair_ptr) * colours**2
    start = np.cumsum(in_block) - in_block
    per_tuple = int(in_block.sum())
    block = np.arange(len(tuples))[:, None] * per_tuple + start[None, :]
    codes = np.repeat(np.arange(n_codes), np.diff(pair_ptr))
    if square:
        p, r, step = pairs[:, 0], pairs[:, 1], np.array([side, 1])
        corner = start[codes] + p * colours * side + r * colours
    else:
        step = np.array([colours, 1])
        corner = np.arange(len(pairs)) * colours**2
    source, target, group, open_high, open_low = _name_products(
        k, colours, tuples, codes, pairs, corner, step, per_tuple, *marked_tables(k)
    )
    clique_colours, clique = _by_ascending_colours(k, colours)
    codes = np.unique(marked_tables(k).class_of, return_index=True)[1]  # smallest code of each marked class
    n_edges = np.array([len(pattern.edges) for pattern in catalogue(k)])
    high, low, rows = _solve_for(
        k, open_high, open_low, codes, clique_colours, len(catalogue(k)) - 1, n_edges,
        pattern_tables(k), marked_tables(k),
    )  # fmt: skip
    edges = rows[5]
    levels = tuple((count, rows[:5, edges == count]) for count in sorted(set(edges.tolist()), reverse=True))
    return FlipPlan(
        k, colours, square, tuple_of, block, per_tuple * len(tuples), pair_ptr, pairs, source, target, group,
        len(tuples) * n_codes * side, len(open_high), high, low, clique, levels,
    )  # fmt: skip


def _colour_tuples(length: int, colours: int, ends_only: bool = False):
    """Ascending colour tuples (or those whose ends ascend), and a table from any such tuple to its number."""
    grid = np.indices((colours,) * length).reshape(length, -1).T
    ascending = grid[:, 0] <= grid[:, -1] if ends_only else (np.diff(grid, axis=1) >= 0).all(axis=1)
    number = np.where(ascending, np.cumsum(ascending) - 1, -1)
    return grid[ascending].astype(np.int64), number.astype(np.int64)


@entry
def _name_products(k, colours, tuples, codes, pairs, corner, step, per_tuple, class_of, renaming, group_ptr, group):
    """For every product its open pattern: canonical among those that keep the open pair apart."""
    amount = len(tuples) * len(pairs) * colours * colours
    source, target = np.empty(amount, np.int64), np.empty(amount, np.int32)
    group_of = np.full(amount, -1, np.int64)
    n_codes, patterns = 1 << ((k - 2) * (k - 3) // 2), 1 << (k - 2)
    size = 1 << 10
    while size < 2 * amount:
        size *= 2
    slots = np.zeros(size, np.int32)
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
                    at = hash_words(word, other) & uint64(size - 1)
                    while slots[at] and not (high[slots[at] - 1] == word and low[slots[at] - 1] == other):
                        at = (at + uint64(1)) & uint64(size - 1)
                    if not slots[at]:
                        high[n_open], low[n_open] = word, other
                        n_open += 1
                        slots[at] = n_open
                    source[n] = t * per_tuple + corner[j] + first * step[0] + second * step[1]
                    target[n] = slots[at] - 1
                    if p == r and first == second:
                        group_of[n] = ((t * n_codes + codes[j]) * patterns + p) * colours + first
                    n += 1
    return source[:n], target[:n], group_of[:n], high[:n_open], low[:n_open]


def _by_ascending_colours(k: int, colours: int):
    """Ascending colour tuples of length k, and their places in a table over all tuples."""
    tuples = _colour_tuples(k, colours)[0]
    return tuples, tuples @ (colours ** np.arange(k - 1, -1, -1))


@entry
def _solve_for(k, open_high, open_low, codes, clique_colours, clique_class, n_edges, plain, marked):
    amount = 2 * len(open_high) + len(clique_colours)
    size = 1 << 10
    while size < 2 * amount:
        size *= 2
    slots = np.zeros(size, np.int32)
    high, low = np.empty(amount, np.uint64), np.empty(amount, np.uint64)
    solved = np.zeros(amount, np.uint8)
    own, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    n = 0
    for c in range(len(clique_colours)):
        word, other = pack(clique_class, clique_colours[c], k)
        n = _pattern_number(word, other, slots, high, low, n)[1]
        solved[c] = 1
    rows = np.empty((6, len(open_high)), np.int64)
    n_rows = 0
    last_bit = k * (k - 1) // 2 - 1
    for o in range(len(open_high)):
        code = codes[int64(open_high[o] >> uint64(48))]
        for i in range(k):
            own[i] = _colour(open_high[o], open_low[o], i)
        kind = canonical(code, own, k, plain[0], plain[1], plain[2], plain[3], best, trial)
        if kind < 0:
            continue
        word, other = pack(kind, best, k)
        number, n = _pattern_number(word, other, slots, high, low, n)
        if solved[number]:
            continue
        solved[number] = 1
        rows[0, n_rows], rows[1, n_rows], rows[5, n_rows] = number, o, n_edges[kind]
        rows[3, n_rows] = _markings(code, own, k, 0, open_high[o], open_low[o], marked)
        closed = code | (1 << last_bit)
        kind = canonical(closed, own, k, plain[0], plain[1], plain[2], plain[3], best, trial)
        word, other = pack(kind, best, k)
        rows[2, n_rows], n = _pattern_number(word, other, slots, high, low, n)
        rows[4, n_rows] = _markings(closed, own, k, 1, open_high[o], open_low[o], marked)
        n_rows += 1
    return high[:n], low[:n], rows[:, :n_rows]


@helper
def _colour(high, low, i):
    if i < 3:
        return int64((high >> uint64(32 - 16 * i)) & uint64(0xFFFF))
    return int64((low >> uint64(48 - 16 * (i - 3))) & uint64(0xFFFF))


@helper
def _pattern_number(word, other, slots, high, low, n):
    """The number of a pattern, and how many there are then."""
    mask = uint64(len(slots) - 1)
    at = hash_words(word, other) & mask
    while slots[at]:
        if high[slots[at] - 1] == word and low[slots[at] - 1] == other:
            return int64(slots[at]) - 1, n
        at = (at + uint64(1)) & mask
    high[n], low[n] = word, other
    slots[at] = n + 1
    return n, n + 1


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


@cache
def spanned_cycles(plan: FlipPlan):
    """Where coloured cycles go: ((pattern, place in the table) of all colourings, cycle, pattern that spans it)."""
    k, colours = plan.k, plan.colours
    order = np.array([(0, *rest) for rest in permutations(range(1, k)) if rest[0] < rest[-1]], np.int64)
    ring = code_of([(i, (i + 1) % k) for i in range(k)])
    codes = np.array([pattern.code for pattern in catalogue(k)], np.int64)
    colourings = np.indices((colours,) * k).reshape(k, -1).T.astype(np.int64)
    number, inside, within = _find_cycles(k, ring, order, codes, colourings, plan.high, plan.low, pattern_tables(k))
    return (number, np.arange(len(colourings))), inside, within


@entry
def _find_cycles(k, ring, order, codes, colourings, high, low, plain):
    size = 1 << 10
    while size < 2 * len(high):
        size *= 2
    slots = np.zeros(size, np.int32)
    for n in range(len(high)):
        at = hash_words(high[n], low[n]) & uint64(size - 1)
        while slots[at]:
            at = (at + uint64(1)) & uint64(size - 1)
        slots[at] = n + 1
    own, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    number = np.empty(len(colourings), np.int64)
    for i in range(len(colourings)):
        kind = canonical(ring, colourings[i], k, plain[0], plain[1], plain[2], plain[3], best, trial)
        word, other = pack(kind, best, k)
        number[i] = _pattern_number(word, other, slots, high, low, len(high))[0]
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
                own[i] = _colour(high[pattern], low[pattern], order[o, i])
            cycle = canonical(ring, own, k, plain[0], plain[1], plain[2], plain[3], best, trial)
            word, other = pack(cycle, best, k)
            inside[n] = _pattern_number(word, other, slots, high, low, len(high))[0]
            within[n] = pattern
            n += 1
    return number, inside[:n], within[:n]
