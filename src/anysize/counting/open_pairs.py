"""Which pairs of a pattern the flip scheme leaves open, one for each pattern (see `flip_plan`)."""

# mypy: ignore-errors
from __future__ import annotations

from functools import cache
from itertools import combinations

from anysize.counting.canonical import marked_tables
from anysize.orbits import code_of, is_connected
from anysize.patterns import catalogue


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
