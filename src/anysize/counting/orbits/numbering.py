"""The usual numbers of orbits (Przulj 2007): the positions of a vertex in the connected patterns on 2 to 5 vertices."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np

from anysize._typing import IntArray, is_integer
from anysize.patterns.orbits import automorphisms, code_of, orbits
from anysize.patterns.pattern import Pattern, connected_patterns

ORBITS = {2: 1, 3: 4, 4: 15, 5: 73}  # orbits of the patterns on up to k vertices

# The graphlets 0 .. 29, and for each one vertex of every orbit, in the order of their numbers.
_GRAPHLETS: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("edge", (0,)),
    ("3-path", (1, 0)),
    ("triangle", (0,)),
    ("4-path", (2, 0)),
    ("claw", (1, 0)),
    ("4-cycle", (0,)),
    ("paw", (3, 1, 0)),
    ("diamond", (2, 0)),
    ("4-clique", (0,)),
    ("5-path", (3, 0, 2)),
    ("fork", (2, 3, 1, 0)),
    ("K1,4", (1, 0)),
    ("bull", (3, 2, 0)),
    ("tadpole", (4, 0, 2, 1)),
    ("cricket", (3, 1, 0)),
    ("5-cycle", (0,)),
    ("banner", (4, 1, 2, 0)),
    ("dart", (4, 2, 1, 0)),
    ("butterfly", (1, 0)),
    ("kite", (4, 3, 0, 1)),
    ("K2,3", (2, 0)),
    ("house", (2, 4, 0)),
    ("K1,1,3", (2, 0)),
    ("lollipop", (4, 1, 0)),
    ("gem", (3, 1, 0)),
    ("K2,3+e", (4, 0, 2)),
    ("K5-P3", (4, 2, 0)),
    ("4-wheel", (1, 0)),
    ("K5-e", (3, 0)),
    ("5-clique", (0,)),
)


class Position(NamedTuple):
    """An orbit: its number, its pattern, and the vertices of the pattern that it consists of."""

    number: int
    pattern: Pattern
    vertices: tuple[int, ...]


def check_orbit_size(k: object) -> int:
    """Return k if orbits of patterns on up to k vertices are supported; otherwise raise an error."""
    if not is_integer(k) or k not in ORBITS:
        raise ValueError(f"Orbits are counted for patterns on up to k = 2, 3, 4 or 5 vertices; got k={k!r:.60}.")
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
    patterns = {pattern.name: pattern for size in range(2, 6) for pattern in connected_patterns(size)}
    positions: list[Position] = []
    for name, vertices in _GRAPHLETS:
        images = automorphisms(patterns[name].code, patterns[name].size)
        for vertex in vertices:
            orbit = tuple(sorted({int(image) for image in images[:, vertex]}))
            positions.append(Position(len(positions), patterns[name], orbit))
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
                    place = {vertex: i for i, vertex in enumerate(members)}
                    code = code_of([(place[u], place[v]) for u, v in pattern.edges if u in place and v in place])
                    smallest, renaming = orbits(size).smallest[code], orbits(size).renaming[code]
                    at = number.get((int(smallest), size, int(renaming[place[root]])))
                    if at is not None:  # else the subgraph is not connected
                        matrix[at, orbit] += 1
    return matrix
