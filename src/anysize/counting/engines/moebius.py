"""From sums over vertices, edges, pairs and triangles to induced counts, in integers.

The plain engines compute the same list of sums (`SUMS`). Corrections turn them into the numbers of subgraphs, induced
or not, of every connected type. A graph of type h holds N[f, h] subgraphs of type f, so that induced = N^-1 subgraphs,
with an integer matrix that has ones on its diagonal. Both steps are one matrix. The sums of the complement of a graph
can be used as well: an induced copy of f in the complement is an induced copy of the complement of f in the graph. That
needs the disconnected types too, which are products.
"""

from __future__ import annotations

from collections import namedtuple
from functools import cache
from math import comb

import numpy as np

from anysize._typing import IntArray
from anysize.patterns.orbits import code_of, is_connected, orbits
from anysize.patterns.pattern import connected_patterns, representatives

# The sums of the plain engines. d: degree, t: triangles at a vertex, t(e): triangles at an edge, a(v): the sum over
# neighbors x of d(x) - 1, c4 and k4: the 4-cycles and 4-cliques at a vertex or edge.
SUMS = (
    "edges",  # m
    "wedges",  # sum_v C(d, 2)
    "triangles",  # exact
    "claws",  # sum_v C(d, 3)
    "paths4",  # sum_uv (d(u) - 1)(d(v) - 1)
    "paws",  # sum_v t (d - 2)
    "cycles4",  # exact
    "diamonds",  # sum_e C(t(e), 2)
    "cliques4",  # exact
    "stars5",  # sum_v C(d, 4)
    "forks",  # sum_v a C(d - 1, 2)
    "paths5",  # sum_v (a^2 - sum_x (d(x) - 1)^2) / 2
    "crickets",  # sum_v t C(d - 2, 2)
    "bulls",  # sum_e t(e) (d(u) - 2)(d(v) - 2)
    "banners",  # sum_v c4 (d - 2)
    "tadpoles",  # sum_v t (a - 2 (d - 1))
    "cycles5",  # exact
    "darts",  # sum_e C(t(e), 2) (d(u) + d(v) - 6)
    "kites",  # sum_e (t(e) - 1) sum_x (d(x) - 2)
    "bipartite23",  # sum over pairs C(codegree, 3)
    "butterflies",  # sum_v C(t, 2)
    "houses",  # sum_e t(e) c4(e)
    "lollipops",  # sum_v k4 (d - 3)
    "books",  # sum_e C(t(e), 3)
    "gems",  # sum over paths x-u-v.. of two triangles at an edge end: sum_e sum_x (t(ux) - 1)(t(vx) - 1)
    "bipartite23e",  # sum over pairs (edges between common neighbors) (codegree - 2)
    "cliques5_minus_path",  # sum_e k4(e) (t(e) - 2)
    "wheels4",  # exact
    "cliques5_minus_edge",  # sum over triangles C(common neighbors, 2)
    "cliques5",  # exact
)
SUM_INDEX = {name: index for index, name in enumerate(SUMS)}
INDEX = namedtuple("INDEX", SUMS)(**SUM_INDEX)  # the same for kernels, which cannot use dictionaries
LENGTH = {2: 1, 3: 3, 4: 9, 5: len(SUMS)}  # the number of sums that a pattern size needs

# pattern -> its sum, and corrections for maps that are not injective or subgraphs that are counted more than once
_SUBGRAPHS: dict[int, dict[str, dict[str, int]]] = {
    2: {"edge": {"edges": 1}},
    3: {"3-path": {"wedges": 1}, "triangle": {"triangles": 1}},
    4: {
        "claw": {"claws": 1},
        "4-path": {"paths4": 1, "triangles": -3},
        "paw": {"paws": 1},
        "4-cycle": {"cycles4": 1},
        "diamond": {"diamonds": 1},
        "4-clique": {"cliques4": 1},
    },
    5: {
        "K1,4": {"stars5": 1},
        "fork": {"forks": 1, "paws": -2},
        "5-path": {"paths5": 1, "cycles4": -4, "paws": -2, "triangles": -3},
        "cricket": {"crickets": 1},
        "bull": {"bulls": 1, "diamonds": -2},
        "banner": {"banners": 1, "diamonds": -2},
        "tadpole": {"tadpoles": 1, "diamonds": -4},
        "5-cycle": {"cycles5": 1},
        "dart": {"darts": 1},
        "kite": {"kites": 1, "cliques4": -12},
        "K2,3": {"bipartite23": 1},
        "butterfly": {"butterflies": 1, "diamonds": -2},
        "house": {"houses": 1, "diamonds": -4},
        "lollipop": {"lollipops": 1},
        "K1,1,3": {"books": 1},
        "gem": {"gems": 1, "cliques4": -12},
        "K2,3+e": {"bipartite23e": 1},
        "K5-P3": {"cliques5_minus_path": 1},
        "4-wheel": {"wheels4": 1},
        "K5-e": {"cliques5_minus_edge": 1},
        "5-clique": {"cliques5": 1},
    },
}


@cache
def types(k: int) -> tuple[int, ...]:
    """Codes of all graphs on k vertices up to renaming: the connected patterns first, then the disconnected ones."""
    others = [int(code) for code in np.unique(orbits(k).smallest) if not is_connected(int(code), k)]
    return representatives(k) + tuple(sorted(others, key=lambda code: (code.bit_count(), code)))


@cache
def containment(k: int) -> IntArray:
    """N[f, h]: subgraphs of type f on all the vertices of a graph of type h."""
    row_of = {code: row for row, code in enumerate(types(k))}
    smallest = orbits(k).smallest
    matrix = np.zeros((len(row_of), len(row_of)), np.int64)
    for h, code in enumerate(types(k)):
        part = code
        while True:
            matrix[row_of[int(smallest[part])], h] += 1
            if part == 0:
                break
            part = (part - 1) & code
    return matrix


@cache
def moebius(k: int) -> IntArray:
    """The inverse of `containment`, by elimination from the densest type down."""
    matrix = containment(k)
    order = sorted(range(len(matrix)), key=lambda f: types(k)[f].bit_count())
    inverse = np.eye(len(matrix), dtype=np.int64)
    for position, f in reversed(list(enumerate(order))):
        for h in order[position + 1 :]:
            if matrix[f, h]:
                inverse[f] -= matrix[f, h] * inverse[h]
    return inverse


@cache
def from_sums(k: int) -> IntArray:
    """Matrix (patterns, sums): induced counts of the connected patterns of a graph from its sums."""
    patterns = len(connected_patterns(k))
    return np.asarray(moebius(k)[:patterns, :patterns] @ _corrections(k))


def _corrections(k: int) -> IntArray:
    matrix = np.zeros((len(connected_patterns(k)), LENGTH[k]), np.int64)
    for row, pattern in enumerate(connected_patterns(k)):
        for name, factor in _SUBGRAPHS[k][pattern.name].items():
            matrix[row, SUM_INDEX[name]] = factor
    return matrix


def from_complement_sums(k: int, n: IntArray, sums: IntArray) -> IntArray:
    """Induced counts (graphs, patterns) of graphs on n >= k vertices from the sums of their complements."""
    return np.asarray(_subgraphs_of_all_types(k, n, sums) @ _complement_matrix(k).T)


@cache
def _complement_matrix(k: int) -> IntArray:
    full = (1 << (k * (k - 1) // 2)) - 1
    row_of = {code: row for row, code in enumerate(types(k))}
    rows = [row_of[int(orbits(k).smallest[full & ~code])] for code in representatives(k)]
    return moebius(k)[rows]


def _subgraphs_of_all_types(k: int, n: IntArray, sums: IntArray) -> IntArray:
    """Subgraphs (graphs, types), the disconnected ones as products of their components' numbers.

    Products may overflow; linear combinations of them are still correct if the final count fits.
    """
    value = {name: sums[:, column] for name, column in SUM_INDEX.items()}
    m, wedges, triangles = value["edges"], value["wedges"], value["triangles"]
    subgraphs = {0: _choose(n, k)}
    for size in range(2, k + 1):
        exact = sums[:, : LENGTH[size]] @ _corrections(size).T
        isolated = _choose(n - size, k - size)
        for pattern, amount in zip(connected_patterns(size), exact.T, strict=True):
            subgraphs[_smallest(k, pattern.edges)] = amount * isolated
    if k >= 4:
        pairs = m * (m - 1) // 2 - wedges
        subgraphs[_smallest(k, ((0, 1), (2, 3)))] = pairs * _choose(n - 4, k - 4)
    if k == 5:
        paths4, claws, paws = value["paths4"] - 3 * triangles, value["claws"], value["paws"]
        beside_wedge = (m - 2) * wedges - 3 * triangles - 3 * claws - 2 * paths4
        subgraphs[_smallest(5, ((0, 1), (1, 2), (3, 4)))] = beside_wedge
        subgraphs[_smallest(5, ((0, 1), (1, 2), (0, 2), (3, 4)))] = (m - 3) * triangles - paws
    return np.stack([subgraphs[code] for code in types(k)], axis=1)


def _choose(n: IntArray, k: int) -> IntArray:
    distinct, inverse = np.unique(n, return_inverse=True)
    return np.array([comb(int(value), k) for value in distinct], np.int64)[inverse]


def _smallest(k: int, edges: tuple[tuple[int, int], ...]) -> int:
    return int(orbits(k).smallest[code_of(edges)])
