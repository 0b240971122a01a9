"""Color refinement: which vertices of a batch cannot be told apart after 0, 1, 2, ... layers of message passing."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from scipy.sparse import csr_array

from anysize._typing import IntArray
from anysize.nn.rows.structure import Gather, Level, rows_index, sums_of


@dataclass(frozen=True)
class Round:
    """The classes after one round: of every vertex, and of each class one vertex that stands for it."""

    classes: IntArray
    example: IntArray
    size: IntArray

    def __len__(self) -> int:
        return len(self.example)


def refine(neighbors: IntArray, start: IntArray, rounds: int) -> tuple[Round, ...]:
    """Classes of vertices after 0, 1, .., rounds of refinement.

    ``neighbors``: (vertices, d), filled up with -1. ``start``: whole numbers that tell vertices apart at first.

    Examples:
        >>> path = np.array([[1, -1], [0, 2], [1, -1]])
        >>> [len(step) for step in refine(path, np.zeros(3, np.int64), 2)]
        [1, 2, 2]
    """
    steps = [_round(start[:, None])]
    for _ in range(rounds):
        below = np.append(steps[-1].classes, -1)
        near = np.sort(below[neighbors], axis=1)
        steps.append(_round(np.column_stack([steps[-1].classes, near])))
    return tuple(steps)


def _round(signatures: IntArray) -> Round:
    """Number the distinct rows. Columns are folded in one by one, so that every key is a small number: exact."""
    key = np.zeros(len(signatures), np.int64)
    for column in signatures.T:
        base = int(column.max(initial=0)) + 2
        _, key = np.unique(key * base + (column + 1), return_inverse=True)
    _, example, classes, size = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    return Round(classes.astype(np.int64), example.astype(np.int64), size.astype(np.int64))


def levels_of(neighbors: IntArray, steps: tuple[Round, ...], with_neighbors: bool = False) -> tuple[Level, ...]:
    """The levels of a batch whose vertices were refined: one row per class."""
    return tuple(_level(neighbors, below, above, with_neighbors) for below, above in pairwise(steps))


def _level(neighbors: IntArray, below: Round, above: Round, with_neighbors: bool) -> Level:
    near = neighbors[above.example]
    present = near >= 0
    rows = np.repeat(np.arange(len(above)), present.sum(axis=1))
    columns = below.classes[near[present]]
    matrix = csr_array((np.ones(len(rows)), (rows, columns)), shape=(len(above), len(below)))
    index = np.where(present, below.classes[near], 0)
    return Level(
        rows_index(below.classes[above.example]),
        sums_of(matrix),
        torch.from_numpy(above.size.astype(np.float32)),
        torch.from_numpy(present.sum(axis=1).astype(np.float32)),
        Gather(rows_index(index), torch.from_numpy(present.astype(np.float32))) if with_neighbors else None,
    )


def readout_matrices(
    steps: tuple[Round, ...], item: IntArray, items: int, share: float = 1.0
) -> tuple[csr_array[np.float64], ...]:
    """Per round the matrix (items, classes) that sums the rows of the vertices of an item, times ``share``."""
    return tuple(
        csr_array((np.full(len(item), share), (item, step.classes)), shape=(items, len(step))) for step in steps
    )
