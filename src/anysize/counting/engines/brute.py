"""Brute force over all k-subsets: the oracle of tests and benchmarks."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np

from anysize._typing import FloatArray
from anysize.counting.columns import Columns, CountTable, merged
from anysize.counting.engines.engine import Engine, MemoryNeed
from anysize.counting.engines.threads import Threads, Tick
from anysize.counting.features import Features
from anysize.graphs.graphset import GraphSet
from anysize.patterns.orbits import MAX_SIZE, edges_of, pair_bit
from anysize.patterns.pattern import class_table, connected_patterns

Key = tuple[int, tuple[int, ...]]  # pattern index, color codes in canonical order


def count(graphs: GraphSet, k: int, threads: Threads, tick: Tick) -> CountTable:
    """Induced copies of the patterns that occur."""
    copies_by_key = [_count_graph(graph, k, threads) for graph in graphs]
    tick(1.0)
    keys = sorted({key for copies in copies_by_key for key in copies})
    column = {key: number for number, key in enumerate(keys)}
    colors = np.zeros((len(keys), MAX_SIZE), np.uint16)
    for number, (_, codes) in enumerate(keys):
        colors[number, : len(codes)] = codes
    index = np.array([index for index, _ in keys], np.int16)
    columns = Columns(np.full(len(keys), k, np.uint8), index, None if graphs.colors is None else colors, graphs.palette)
    cells = [(row, column[key], n) for row, copies in enumerate(copies_by_key) for key, n in copies.items()]
    row, col, n_copies = np.array(cells, np.int64).reshape(-1, 3).T
    return merged([(columns, row, col, n_copies)], graphs, k)


def seconds(f: Features, k: int) -> FloatArray:
    """One look at every k-set."""
    return np.asarray(1e-4 + 5e-7 * f.subsets(k))


def memory(f: Features, k: int) -> MemoryNeed:
    """The adjacency matrix, and a dictionary of patterns."""
    return MemoryNeed(f.n**2, 0 * f.n, 300 * f.max_patterns(k))


BRUTE = Engine("brute", "every subset; the test oracle", count, (1, 2, 3, 4, 5, 6, 7), True, seconds, memory)


def _count_graph(graph: GraphSet, k: int, threads: Threads) -> dict[Key, int]:
    """The number of induced copies of each pattern; colors are () in plain graphs."""
    n = int(graph.first[-1])
    adjacent = np.zeros((n, n), bool)
    for u, v in graph.edges():
        adjacent[u, v] = adjacent[v, u] = True
    copies: dict[Key, int] = {}
    for subset in combinations(range(n), k):
        threads.check()
        code = sum(1 << pair_bit(i, j) for j in range(k) for i in range(j) if adjacent[subset[i], subset[j]])
        index = int(class_table(k)[code])
        if index >= 0:
            colors = () if graph.colors is None else tuple(int(graph.colors[v]) for v in subset)
            key = index, canonical_colors(code, k, index, colors)
            copies[key] = copies.get(key, 0) + 1
    return copies


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
