"""The oracle: every k-subset, looked at. For tests and benchmarks."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from anysize.graphs import GraphSet
from anysize.orbits import edges_of, pair_bit
from anysize.patterns import catalogue, class_table

Key = tuple[int, tuple[int, ...]]  # place in the catalogue, colour codes in canonical order


def count_brute(graphs: GraphSet, k: int) -> list[dict[Key, int]]:
    """For every graph the number of induced copies of each pattern; colours () where there are none."""
    return [_one(graph, k) for graph in graphs]


def _one(graph: GraphSet, k: int) -> dict[Key, int]:
    n = int(graph.first[-1])
    adjacent = np.zeros((n, n), bool)
    for u, v in graph.edges():
        adjacent[u, v] = adjacent[v, u] = True
    found: dict[Key, int] = {}
    for subset in combinations(range(n), k):
        code = sum(1 << pair_bit(i, j) for j in range(k) for i in range(j) if adjacent[subset[i], subset[j]])
        place = int(class_table(k)[code])
        if place >= 0:
            colours = () if graph.colours is None else tuple(int(graph.colours[v]) for v in subset)
            key = place, canonical_colours(code, k, place, colours)
            found[key] = found.get(key, 0) + 1
    return found


def canonical_colours(code: int, k: int, place: int, colours: tuple[int, ...]) -> tuple[int, ...]:
    """The smallest colour tuple over all renamings that take the code to its pattern."""
    if not colours:
        return ()
    target, edges = set(catalogue(k)[place].edges), edges_of(code, k)
    ways = (
        image
        for image in permutations(range(k))
        if all((min(image[i], image[j]), max(image[i], image[j])) in target for i, j in edges)
    )
    return min(tuple(colours[image.index(vertex)] for vertex in range(k)) for image in ways)
