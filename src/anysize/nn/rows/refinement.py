"""Color refinement: classes of vertices that have the same embedding after 0, 1, 2, ... layers of message passing.

Neighbors are lists, one after the other: vertex v has the neighbors ``indices[indptr[v] : indptr[v + 1]]``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._typing import IntArray
from anysize.graphs.ragged import offsets, ranges
from anysize.nn.rows.maps import Extremes, index_tensor, sums_of
from anysize.nn.rows.structure import Level


@dataclass(frozen=True)
class VertexClasses:
    """``classes`` (vertices,): the class of every vertex; per class one ``example`` vertex and its ``size``."""

    classes: IntArray
    example: IntArray
    size: IntArray

    def __len__(self) -> int:
        return len(self.example)

    @staticmethod
    def of(keys: NDArray[np.integer]) -> VertexClasses:
        """Vertices with equal keys (vertices,) are one class; classes are numbered in the order of the keys."""
        order = np.argsort(keys)  # any vertex of a class may be its example: a stable sort takes several times as long
        in_order = keys[order]
        starts = np.append(np.ones(min(len(keys), 1), np.bool_), in_order[1:] != in_order[:-1])
        first = np.flatnonzero(starts)
        classes = np.empty(len(keys), np.int64)
        classes[order] = np.cumsum(starts) - 1
        return VertexClasses(classes, order[first], np.diff(first, append=len(keys)))


def refine(indptr: IntArray, indices: IntArray, below: IntArray, types: IntArray | None = None) -> VertexClasses:
    """Classes by (class below, multiset of the neighbors' classes below); ``below``: the class below of every vertex.

    ``types``: of the edge to each neighbor; two neighbors are alike if their classes and these types are. Vertices are
    grouped by a hash of 64 bits. A second hash tells whether two classes share the first one, and then both are drawn
    again: an error needs 128 equal bits.

    Examples:
        >>> path = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1])  # the middle vertex has two neighbors
        >>> refine(*path, np.zeros(3, np.int64)).classes.tolist() in ([0, 1, 0], [1, 0, 1])
        True
    """
    rng = np.random.default_rng(0)
    amount = int(below.max(initial=0)) + 1
    near = below[indices] if types is None else below[indices] + amount * types
    numbers = amount * (1 if types is None else int(types.max(initial=0)) + 1)
    sums = np.zeros((2, len(near) + 1), np.uint64)
    while True:  # two hashes: the number of the class below plus the sum of the neighbors' numbers, modulo 2^64
        drawn = rng.integers(0, 1 << 63, (2, 2, numbers), np.uint64)
        np.cumsum(drawn[:, 1].take(near, 1), axis=1, out=sums[:, 1:])  # differences are exact modulo 2^64
        keys, check = drawn[:, 0].take(below, 1) + sums.take(indptr[1:], 1) - sums.take(indptr[:-1], 1)
        above = VertexClasses.of(keys)
        if np.array_equal(check, check[above.example][above.classes]):
            return above


def class_level(
    indptr: IntArray, indices: IntArray, below: VertexClasses, above: VertexClasses,
    with_extremes: bool = False, on_cpu: bool = False, types: tuple[IntArray, int] | None = None,
) -> Level:  # fmt: skip
    """One row per class, above one row per class below. ``types``: of the edge to each neighbor, and their number."""
    degrees = np.diff(indptr)
    entries = ranges(indptr[above.example], degrees[above.example])
    rows, amount = below.classes[indices[entries]], 0
    if types is not None:
        rows, amount = rows + len(below) * types[0][entries], types[1]
    shape = len(above), len(below) * max(amount, 1)
    counts = csr_array((np.ones(len(rows)), rows, offsets(degrees[above.example])), shape=shape)
    counts.sum_duplicates()
    return Level(
        torch.from_numpy(below.classes[above.example]),
        sums_of(counts, on_cpu),
        torch.from_numpy(above.size.astype(np.float32)),
        torch.from_numpy(degrees[above.example].astype(np.float32)),
        torch.from_numpy(degrees[below.example].astype(np.float32)),
        Extremes(index_tensor(counts.indices), index_tensor(counts.indptr), None, shape[1]) if with_extremes else None,
        amount,
    )
