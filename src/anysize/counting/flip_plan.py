"""The flip scheme: how coloured counts follow from products of neighbourhood sizes.

Take a connected pattern F, other than a clique, and a pair {d, e} of its vertices that are not adjacent, such
that the others, Q, are connected. For a fixed Q in the graph, the vertices outside fall into groups by their
adjacency to Q and their colour; the product of two group sizes, summed over all Q, counts "F with the pair
{d, e} left open" = m0 induced(F) + m1 induced(F + de). So, from the densest pattern down, every coloured
count is one subtraction and one division, in integers. Cliques are counted apart; cycles have no such pair,
and take a disconnected Q (small graphs) or their own count (large ones).

Here: a plan for k vertices and a number of colours says where products go, and solves for the counts. Which pairs are
left open is in `open_pairs`, the linear map in `flip_equations`, the inner cycles of patterns in `flip_cycles`; the
kernels that fill the products are in `flip` and `flip_sparse_products`.
"""

# mypy: ignore-errors
from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from anysize.counting.canonical import marked_tables, pattern_tables
from anysize.counting.flip_cycles import spanned_cycles
from anysize.counting.flip_equations import equations, name_products
from anysize.counting.jit import entry
from anysize.counting.open_pairs import open_pairs
from anysize.patterns import catalogue

SPARSE_CODES = {4: (1,), 5: (5, 7)}  # Q on large graphs: an edge; a path 0 - 1 - 2 or a triangle
SQUARE_UP_TO = 2  # colours; then a full square of products in vector registers beats a list of pairs


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
        number, inside, within = spanned_cycles(self)
        _scatter(copies, number, cycles)
        np.subtract.at(copies, inside, copies[within])


@entry
def _scatter(copies, number, cycles):
    for i in range(len(number)):
        copies[number[i]] += cycles[i]


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
    pair_ptr, pairs = _pairs_by_code(needed, n_codes)
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
    source, target, group, open_high, open_low = name_products(
        k, colours, tuples, codes, pairs, corner, step, per_tuple, *marked_tables(k)
    )
    clique_colours, clique = _by_ascending_colours(k, colours)
    codes = np.unique(marked_tables(k).class_of, return_index=True)[1]  # smallest code of each marked class
    n_edges = np.array([len(pattern.edges) for pattern in catalogue(k)])
    high, low, rows = equations(
        k, open_high, open_low, codes, clique_colours, len(catalogue(k)) - 1, n_edges,
        pattern_tables(k), marked_tables(k),
    )  # fmt: skip
    edges = rows[5]
    levels = tuple((count, rows[:5, edges == count]) for count in sorted(set(edges.tolist()), reverse=True))
    return FlipPlan(
        k, colours, square, tuple_of, block, per_tuple * len(tuples), pair_ptr, pairs, source, target, group,
        len(tuples) * n_codes * side, len(open_high), high, low, clique, levels,
    )  # fmt: skip


def _pairs_by_code(needed, n_codes: int):
    """The pairs of adjacency patterns that each code of Q needs, one code after the other."""
    ptr = np.zeros(n_codes + 1, np.int64)
    ptr[1:] = np.cumsum([len(needed.get(code, ())) for code in range(n_codes)])
    return ptr, np.array([pair for code in sorted(needed) for pair in needed[code]], np.int64)


def _colour_tuples(length: int, colours: int, ends_only: bool = False):
    """Ascending colour tuples (or those whose ends ascend), and a table from any such tuple to its number."""
    grid = np.indices((colours,) * length).reshape(length, -1).T
    ascending = grid[:, 0] <= grid[:, -1] if ends_only else (np.diff(grid, axis=1) >= 0).all(axis=1)
    number = np.where(ascending, np.cumsum(ascending) - 1, -1)
    return grid[ascending].astype(np.int64), number.astype(np.int64)


def _by_ascending_colours(k: int, colours: int):
    """Ascending colour tuples of length k, and their places in a table over all tuples."""
    tuples = _colour_tuples(k, colours)[0]
    return tuples, tuples @ (colours ** np.arange(k - 1, -1, -1))
