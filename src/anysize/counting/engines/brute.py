"""Brute force over all k-subsets: the oracle of tests and benchmarks."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from anysize.counting.columns import Columns
from anysize.counting.engines.table import CountTable, merged
from anysize.counting.engines.threads import Halt, Threads, Tick
from anysize.graphs.graphset import GraphSet
from anysize.patterns.orbits import MAX_SIZE, edges_of, pair_bit
from anysize.patterns.pattern import class_table, connected_patterns

Key = tuple[int, tuple[int, ...]]  # pattern index, color codes in canonical order


def count_colored(graphs: GraphSet, k: int, threads: Threads, tick: Tick) -> CountTable:
    """Induced copies of the patterns that occur."""
    found = count_brute(graphs, k, threads.halt)
    tick(1.0)
    keys = sorted({key for one in found for key in one})
    column = {key: number for number, key in enumerate(keys)}
    colors = np.zeros((len(keys), MAX_SIZE), np.uint16)
    for number, (_, codes) in enumerate(keys):
        colors[number, : len(codes)] = codes
    index = np.array([index for index, _ in keys], np.int16)
    columns = Columns(np.full(len(keys), k, np.uint8), index, None if graphs.colors is None else colors, graphs.palette)
    cells = [(row, column[key], copies) for row, one in enumerate(found) for key, copies in one.items()]
    row, col, copies = np.array(cells, np.int64).reshape(-1, 3).T
    return merged([(columns, row, col, copies)], len(graphs))


def count_brute(graphs: GraphSet, k: int, halt: Halt | None = None) -> list[dict[Key, int]]:
    """For every graph the number of induced copies of each pattern; colors are () in plain graphs."""
    return [_count_one(graph, k, Halt() if halt is None else halt) for graph in graphs]


def _count_one(graph: GraphSet, k: int, halt: Halt) -> dict[Key, int]:
    n = int(graph.first[-1])
    adjacent = np.zeros((n, n), bool)
    for u, v in graph.edges():
        adjacent[u, v] = adjacent[v, u] = True
    found: dict[Key, int] = {}
    for subset in combinations(range(n), k):
        halt.check()
        code = sum(1 << pair_bit(i, j) for j in range(k) for i in range(j) if adjacent[subset[i], subset[j]])
        index = int(class_table(k)[code])
        if index >= 0:
            colors = () if graph.colors is None else tuple(int(graph.colors[v]) for v in subset)
            key = index, canonical_colors(code, k, index, colors)
            found[key] = found.get(key, 0) + 1
    return found


def canonical_colors(code: int, k: int, index: int, colors: tuple[int, ...]) -> tuple[int, ...]:
    """The smallest color tuple over all renamings of the code to its pattern."""
    if not colors:
        return ()
    target, edges = set(connected_patterns(k)[index].edges), edges_of(code, k)
    ways = (
        image
        for image in permutations(range(k))
        if all((min(image[i], image[j]), max(image[i], image[j])) in target for i, j in edges)
    )
    return min(tuple(colors[image.index(vertex)] for vertex in range(k)) for image in ways)
