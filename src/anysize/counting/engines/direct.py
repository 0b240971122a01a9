"""Counts for k = 1 and 2: vertices by color, edges by the colors of their ends."""

from __future__ import annotations

import numpy as np

from anysize._typing import FloatArray
from anysize.counting.columns import Columns, CountTable, merged
from anysize.counting.engines.engine import CELL_BYTES, Engine, MemoryNeed
from anysize.counting.engines.threads import Threads, Tick
from anysize.counting.features import Features
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners
from anysize.patterns.orbits import MAX_SIZE


def count(graphs: GraphSet, k: int, threads: Threads, tick: Tick) -> CountTable:
    """Induced copies of the patterns that occur."""
    vertex_row = owners(graphs.first)
    colors = np.zeros(len(vertex_row), np.int64) if graphs.colors is None else graphs.colors.astype(np.int64)
    palette = max(len(graphs.palette), 1)
    if k == 1:
        row, kind = vertex_row, colors
    else:
        source, target = owners(graphs.indptr), graphs.neighbors
        once = source < target
        row = vertex_row[source[once]]
        ends = np.sort(np.stack([colors[source[once]], colors[target[once]]]), axis=0)
        kind = ends[0] * palette + ends[1]
    cells, copies = np.unique(row * palette**k + kind, return_counts=True)
    kinds, column = np.unique(cells % palette**k, return_inverse=True)
    codes = np.zeros((len(kinds), MAX_SIZE), np.uint16)
    for vertex in range(k):
        codes[:, vertex] = kinds // palette ** (k - 1 - vertex) % palette
    size, index = np.full(len(kinds), k, np.uint8), np.zeros(len(kinds), np.int16)
    columns = Columns(size, index, None if graphs.colors is None else codes, graphs.palette)
    tick(1.0)
    return merged([(columns, cells // palette**k, column, copies.astype(np.int64))], graphs, k)


def seconds(f: Features, k: int) -> FloatArray:
    """One look at every vertex and edge."""
    return np.asarray(1e-8 * (f.n + f.edges))


def memory(f: Features, k: int) -> MemoryNeed:
    """A cell for every vertex and for every direction of an edge."""
    return MemoryNeed(0.0, 0 * f.n, CELL_BYTES * (f.n + 2 * f.edges))


DIRECT = Engine("direct", "vertices and edges by color", count, (1, 2), True, seconds, memory)
