"""Orbits of all vertices or edges by enumeration: of patterns with colors or types of edges, and of edges.

All connected sets are visited twice: the first visit finds the raw patterns, in which each vertex or edge has an orbit;
the second counts these orbits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, hstack

from anysize._typing import IntArray
from anysize.counting.columns import Columns, unite
from anysize.counting.engines.threads import Threads, Tick
from anysize.counting.engines.typed import NO_POSITIONS, Alphabet, Positions, canonical_columns, index_of
from anysize.counting.orbits.table import OrbitCounts, rows_of
from anysize.graphs.graphset import GraphSet
from anysize.patterns.orbits import pair_bit


class _Orbits(NamedTuple):
    """The orbits of some patterns: by pattern and vertex (or bit of a pair) the number; pattern and places of each."""

    number: NDArray[np.int32]
    pattern: IntArray
    places: IntArray


def count_by_enumeration(graphs: GraphSet, k: int, per: str, threads: Threads, tick: Tick) -> OrbitCounts:
    """The orbits of vertices in the patterns on 2 to k vertices, or of edges in those on 3 to k."""
    alphabet = Alphabet.of(graphs)
    alphabet.check(k)
    vertices, first = rows_of(graphs, per)
    sizes = range(2 if per == "vertex" else 3, k + 1)
    tables = [
        _of_size(alphabet, size, per, len(vertices), threads, lambda share: tick(share / len(sizes))) for size in sizes
    ]
    columns = unite([table[0] for table in tables])[0]  # sizes ascend: one table after the other
    before = np.cumsum([0, *(len(table[0]) for table in tables)])
    return OrbitCounts(
        hstack([table[2] for table in tables], "csr"),
        vertices,
        first,
        columns,
        np.concatenate([table[1].pattern + start for table, start in zip(tables, before, strict=False)]),
        np.concatenate([table[1].places for table in tables]),
    )


def _of_size(
    alphabet: Alphabet, k: int, per: str, rows: int, threads: Threads, tick: Tick
) -> tuple[Columns, _Orbits, Any]:
    """Patterns, orbits and the matrix of one size."""

    def half(share: float) -> None:
        tick(share / 2)

    parts = alphabet.visit(k, threads, half, NO_POSITIONS)
    words = np.concatenate([np.stack([high, low], axis=1) for _, high, low, _ in parts])
    raw = np.unique(words, axis=0)
    canonical, visited = canonical_columns(raw, k, alphabet)
    columns, (column,) = unite([canonical])
    orbits = _orbits_of(columns, k, per)
    seen = _in_order_of_visit(orbits.number[column], visited, k, per)
    edge = np.zeros(0, np.int64) if per == "vertex" else _edge_numbers(alphabet.graphs)
    keys, at = index_of(raw)
    counted = alphabet.visit(k, threads, half, Positions(keys, at, seen, edge)) if len(raw) else []
    shape = rows, len(orbits.pattern)
    row, number, copies = (
        np.concatenate([np.zeros(0, np.int64), *(part[i].astype(np.int64) for part in counted)]) for i in (1, 2, 3)
    )
    return columns, orbits, coo_array((copies, (row, number)), shape=shape).tocsr()


def _orbits_of(columns: Columns, k: int, per: str) -> _Orbits:
    """The orbits of vertices or pairs under the automorphisms of each pattern that keep colors and types."""
    width = k if per == "vertex" else k * (k - 1) // 2
    smallest = np.tile(np.arange(width), (len(columns), 1))
    for here, image, same in columns.symmetries():
        images = image if per == "vertex" else [pair_bit(image[i], image[j]) for j in range(k) for i in range(j)]
        rows = here[same]
        smallest[rows] = np.minimum(smallest[rows], np.asarray(images))
    present = np.ones(smallest.shape, np.bool_)
    if per == "edge":
        present = (columns.codes[:, None] >> np.arange(width) & 1) > 0
    pattern, vertex = np.nonzero((smallest == np.arange(width)) & present)
    number: NDArray[np.int32] = np.full(smallest.shape, -1, np.int32)
    number[pattern, vertex] = np.arange(len(pattern))
    number = np.where(present, np.take_along_axis(number, smallest, axis=1), np.int32(-1))
    places = np.zeros(len(pattern), np.int64)
    for bit in range(width):
        held = number[:, bit][number[:, bit] >= 0]
        places[held] |= 1 << bit
    return _Orbits(number, pattern, places)


def _in_order_of_visit(number: NDArray[np.int32], visited: IntArray, k: int, per: str) -> NDArray[np.int32]:
    """The numbers of orbits (raw patterns, vertices or pairs) for the vertices of raw patterns instead of patterns."""
    result: NDArray[np.int32] = np.full(number.shape, -1, np.int32)
    raw = np.arange(len(number))
    if per == "vertex":
        for i in range(k):
            result[raw, visited[:, i]] = number[:, i]
        return result
    for j in range(k):
        for i in range(j):
            low, high = np.minimum(visited[:, i], visited[:, j]), np.maximum(visited[:, i], visited[:, j])
            result[raw, high * (high - 1) // 2 + low] = number[:, pair_bit(i, j)]
    return result


def _edge_numbers(graphs: GraphSet) -> IntArray:
    """The number of the edge of every entry of ``indices``, in the order of `GraphSet.edges`."""
    smaller = np.repeat(np.arange(len(graphs.degrees)), graphs.degrees) < graphs.neighbors
    number = np.cumsum(smaller) - 1
    return np.where(smaller, number, number[graphs.reverse_entries])
