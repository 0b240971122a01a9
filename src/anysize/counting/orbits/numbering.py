"""The usual numbers of orbits: positions in the connected patterns on 2 to 5 vertices.

Those of a vertex are from Przulj 2007, those of an edge, from 3 vertices on, as ORCA numbers them (Hocevar and Demsar
2016; the orbits of edges are those of Solava et al. 2012).
"""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from anysize._schema import is_integer
from anysize._typing import IntArray
from anysize.patterns.orbits import automorphisms, code_of, orbits
from anysize.patterns.pattern import Pattern

ORBITS = {2: 1, 3: 4, 4: 15, 5: 73}  # orbits of the patterns on up to k vertices
EDGE_ORBITS = {3: 2, 4: 12, 5: 68}  # the same of edges, in patterns on 3 or more vertices

# The graphlets 0 .. 29, and for each one vertex of every orbit, and one edge of every orbit of edges, in the order of
# their numbers.
_GRAPHLETS: tuple[tuple[str, tuple[int, ...], tuple[tuple[int, int], ...]], ...] = (
    ("edge", (0,), ()),
    ("3-path", (1, 0), ((0, 1),)),
    ("triangle", (0,), ((0, 1),)),
    ("4-path", (2, 0), ((0, 3), (0, 1))),
    ("claw", (1, 0), ((0, 1),)),
    ("4-cycle", (0,), ((0, 2),)),
    ("paw", (3, 1, 0), ((0, 3), (1, 2), (0, 1))),
    ("diamond", (2, 0), ((0, 2), (0, 1))),
    ("4-clique", (0,), ((0, 1),)),
    ("5-path", (3, 0, 2), ((0, 4), (0, 2))),
    ("fork", (2, 3, 1, 0), ((1, 2), (0, 3), (0, 1))),
    ("K1,4", (1, 0), ((0, 1),)),
    ("bull", (3, 2, 0), ((0, 4), (0, 2), (0, 1))),
    ("tadpole", (4, 0, 2, 1), ((0, 4), (0, 1), (2, 3), (1, 2))),
    ("cricket", (3, 1, 0), ((0, 3), (1, 2), (0, 1))),
    ("5-cycle", (0,), ((0, 3),)),
    ("banner", (4, 1, 2, 0), ((0, 4), (1, 2), (0, 2))),
    ("dart", (4, 2, 1, 0), ((0, 4), (1, 2), (0, 2), (0, 1))),
    ("butterfly", (1, 0), ((1, 4), (0, 1))),
    ("kite", (4, 3, 0, 1), ((0, 4), (1, 3), (0, 1), (1, 2))),
    ("K2,3", (2, 0), ((0, 2),)),
    ("house", (2, 4, 0), ((2, 3), (0, 3), (0, 4), (0, 1))),
    ("K1,1,3", (2, 0), ((0, 2), (0, 1))),
    ("lollipop", (4, 1, 0), ((0, 4), (1, 2), (0, 1))),
    ("gem", (3, 1, 0), ((1, 4), (0, 3), (1, 2), (0, 1))),
    ("K2,3+e", (4, 0, 2), ((0, 4), (0, 2), (2, 3))),
    ("K5-P3", (4, 2, 0), ((0, 4), (2, 3), (0, 2), (0, 1))),
    ("4-wheel", (1, 0), ((1, 3), (0, 1))),
    ("K5-e", (3, 0), ((0, 3), (0, 1))),
    ("5-clique", (0,), ((0, 1),)),
)


class Position(NamedTuple):
    """An orbit: its number, its pattern, and the vertices of the pattern that it consists of."""

    number: int
    pattern: Pattern
    vertices: tuple[int, ...]


class EdgePosition(NamedTuple):
    """An orbit of edges: its number, its pattern, and the edges of the pattern that it consists of."""

    number: int
    pattern: Pattern
    edges: tuple[tuple[int, int], ...]


def check_orbit_size(k: object, per: str = "vertex") -> int:
    """Return k if orbits of patterns on up to k vertices are supported; otherwise raise an error."""
    if per not in ("vertex", "edge"):
        raise ValueError(f"per must be 'vertex' or 'edge'; got {per!r:.60}.")
    sizes = ORBITS if per == "vertex" else EDGE_ORBITS
    if not is_integer(k) or k not in sizes:
        *most, last = map(str, sizes)
        what = "Orbits" if per == "vertex" else "Orbits of edges"
        raise ValueError(
            f"{what} are counted for patterns on up to k = {', '.join(most)} or {last} vertices; got k={k!r:.60}."
        )
    return int(k)


@cache
def orbit_positions(k: int = 5) -> tuple[Position, ...]:
    """List the orbits of the patterns on 2 to k vertices (k = 2..5): the columns of `orbits`.

    Examples:
        >>> [(number, pattern.name, vertices) for number, pattern, vertices in orbit_positions(3)]
        [(0, 'edge', (0, 1)), (1, '3-path', (1, 2)), (2, '3-path', (0,)), (3, 'triangle', (0, 1, 2))]
        >>> len(orbit_positions(5))
        73
    """
    amount = ORBITS[check_orbit_size(k)]
    positions: list[Position] = []
    for name, vertices, _ in _GRAPHLETS:
        pattern = Pattern.named(name)
        images = automorphisms(pattern.code, pattern.size)
        for vertex in vertices:
            orbit = tuple(sorted({int(image) for image in images[:, vertex]}))
            positions.append(Position(len(positions), pattern, orbit))
    return tuple(positions[:amount])


@cache
def edge_orbit_positions(k: int = 5) -> tuple[EdgePosition, ...]:
    """List the orbits of edges of the patterns on 3 to k vertices (k = 3..5): the columns of `orbits` per edge.

    Examples:
        >>> [(number, pattern.name, edges) for number, pattern, edges in edge_orbit_positions(4)][6:9]
        [(6, 'paw', ((0, 3),)), (7, 'paw', ((1, 2),)), (8, 'paw', ((0, 1), (0, 2)))]
    """
    amount = EDGE_ORBITS[check_orbit_size(k, "edge")]
    positions: list[EdgePosition] = []
    for name, _, edges in _GRAPHLETS:
        pattern = Pattern.named(name)
        images = automorphisms(pattern.code, pattern.size)
        for u, v in edges:
            ends = np.sort(images[:, [u, v]], axis=1)
            orbit = {(int(a), int(b)) for a, b in ends}
            edges_there = tuple(edge for edge in pattern.edges if edge in orbit)
            positions.append(EdgePosition(len(positions), pattern, edges_there))
    return tuple(positions[:amount])


@cache
def induced_in_patterns(k: int) -> IntArray:
    """M[i, j]: how often the vertices of orbit j are in orbit i of the induced subgraphs of the pattern of orbit j."""
    number = {(p.code, p.size, v): orbit for orbit, p, vertices in orbit_positions(k) for v in vertices}
    matrix = np.zeros((ORBITS[k], ORBITS[k]), np.int64)
    for orbit, pattern, (root, *_) in orbit_positions(k):
        for size in range(2, pattern.size + 1):
            for members in combinations(range(pattern.size), size):
                if root in members:
                    index = {vertex: i for i, vertex in enumerate(members)}
                    code = code_of([(index[u], index[v]) for u, v in pattern.edges if u in index and v in index])
                    smallest, renaming = orbits(size).smallest[code], orbits(size).renaming[code]
                    at = number.get((int(smallest), size, int(renaming[index[root]])))
                    if at is not None:  # else the subgraph is not connected
                        matrix[at, orbit] += 1
    return matrix
