"""Color refinement: classes of vertices that have the same embedding after 0, 1, 2, ... layers of message passing."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array, hstack

from anysize._typing import IntArray
from anysize.nn.rows.aggregation import Gather, Sparse, index_tensor, sums_of
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
    def of(keys: Any) -> VertexClasses:
        """Vertices with equal keys (vertices,) are one class; classes are numbered in the order of the keys."""
        _, example, classes, size = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        return VertexClasses(classes.astype(np.int64), example.astype(np.int64), size.astype(np.int64))


# ---- vertices with few neighbors: patterns -------------------------------------------------------


def refine(neighbors: IntArray, start: IntArray, rounds: int) -> tuple[VertexClasses, ...]:
    """Classes of vertices after 0, 1, .., rounds of refinement.

    ``neighbors``: (vertices, d), padded with -1. ``start``: integers that distinguish vertices at first.

    Examples:
        >>> path = np.array([[1, -1], [0, 2], [1, -1]])
        >>> [len(step) for step in refine(path, np.zeros(3, np.int64), 2)]
        [1, 2, 2]
    """
    steps = [_distinct_rows(start[:, None])]
    for _ in range(rounds):
        below = np.append(steps[-1].classes, -1)
        neighbor_classes = np.sort(below[neighbors], axis=1)
        steps.append(_distinct_rows(np.column_stack([steps[-1].classes, neighbor_classes])))
    return tuple(steps)


def _distinct_rows(signatures: IntArray) -> VertexClasses:
    """Number the distinct rows. Columns are folded in one by one, so that keys stay small and exact."""
    key = np.zeros(len(signatures), np.int64)
    for column in signatures.T:
        base = int(column.max(initial=0)) + 2
        _, key = np.unique(key * base + (column + 1), return_inverse=True)
    return VertexClasses.of(key)


def build_levels(
    neighbors: IntArray, steps: tuple[VertexClasses, ...], with_neighbors: bool = False, on_cpu: bool = False
) -> tuple[Level, ...]:
    """The levels of a refined batch: one row per class."""
    return tuple(_level(neighbors, below, above, with_neighbors, on_cpu) for below, above in pairwise(steps))


def _level(
    neighbors: IntArray, below: VertexClasses, above: VertexClasses, with_neighbors: bool, on_cpu: bool
) -> Level:
    near = neighbors[above.example]
    present = near >= 0
    rows = np.repeat(np.arange(len(above)), present.sum(axis=1))
    columns = below.classes[near[present]]
    matrix = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(above), len(below)))
    own, index = below.classes[above.example], np.where(present, below.classes[near], 0)
    joint = None
    if on_cpu:
        own_matrix = csr_array((np.ones(len(above)), (np.arange(len(above)), own)), shape=matrix.shape)
        joint = Sparse.of(csr_array(hstack([own_matrix, matrix])))
    return Level(
        index_tensor(own),
        sums_of(matrix, on_cpu),
        torch.from_numpy(above.size.astype(np.float32)),
        torch.from_numpy(present.sum(axis=1).astype(np.float32)),
        Gather(index_tensor(index), torch.from_numpy(present.astype(np.float32))) if with_neighbors else None,
        joint,
    )


def readout_matrices(
    steps: tuple[VertexClasses, ...], item: IntArray, items: int, weight: float = 1.0
) -> tuple[csr_array[np.float64], ...]:
    """Per round the matrix (items, classes) that sums the rows of the vertices of an item, times ``weight``."""
    return tuple(
        csr_array((np.full(len(item), weight), (item, step.classes)), shape=(items, len(step))) for step in steps
    )


# ---- vertices with any number of neighbors: whole graphs -----------------------------------------


def count_neighbor_classes(adjacency: csr_array[Any], below: VertexClasses) -> csr_array[Any]:
    """How many neighbors of each class a vertex has: (vertices, classes)."""
    vertices = len(below.classes)
    ones, rows = np.ones(vertices, np.int64), np.arange(vertices)
    counts = csr_array(adjacency @ csr_array((ones, (rows, below.classes)), shape=(vertices, len(below))))
    counts.sum_duplicates()
    counts.sort_indices()
    return counts


def refine_by_counts(below: VertexClasses, counts: csr_array[Any]) -> VertexClasses | None:
    """Classes by (class below, number of neighbors in each class below); None on a hash collision.

    ``counts`` (vertices, classes below), with sorted indices and without duplicates. Rows are grouped by a hash, and
    every row is then compared with the example of its class, so that the result is exact.

    Examples:
        >>> one_class = VertexClasses(np.zeros(3, np.int64), np.zeros(1, np.int64), np.array([3]))
        >>> path = csr_array(np.array([[1], [2], [1]]))  # the middle vertex has two neighbors
        >>> sorted(refine_by_counts(one_class, path).size.tolist())
        [1, 2]
    """
    rng = np.random.default_rng(0)
    own, near = rng.integers(0, 2**63, (2, max(counts.shape[1], 1)), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    terms = np.concatenate([np.zeros(1, np.uint64), near[counts.indices] * counts.data.astype(np.uint64)])
    sums = np.cumsum(terms, dtype=np.uint64)  # modulo 2^64, which keeps differences exact
    above = VertexClasses.of(own[below.classes] + sums[counts.indptr[1:]] - sums[counts.indptr[:-1]])
    example = above.example[above.classes]
    exact = np.array_equal(below.classes[example], below.classes) and _equal(csr_array(counts[example]), counts)
    return above if exact else None


def _equal(one: csr_array[Any], other: csr_array[Any]) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("indptr", "indices", "data"))
