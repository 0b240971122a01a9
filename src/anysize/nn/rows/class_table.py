"""All classes that a vertex of a pattern can belong to after one layer."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement, product

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from anysize.nn.rows.maps import Movable, Sums, index_tensor, sums_of
from anysize.nn.rows.structure import Level

MAX_TABLE_ROWS = 20_000  # a larger table is not faster than rows made from each draw
MAX_TABLE_CODES = 1 << 22


@dataclass(frozen=True)
class ClassTable(Movable):
    """All classes that a vertex can belong to after one layer, whatever its colors: rows that fit every draw.

    With c colors and k vertices a class is a color and the number of neighbors of each color: 276 classes for c = 4,
    k = 5. Recolored patterns only move between these classes, so that the first layer runs on the table and not on tens
    of thousands of vertices that differ in every step. With identities (relational pooling) the input class of a vertex
    is (color, identity), and neighbors have different identities.

    ``level``: the classes as rows above the input classes, without weights. ``digit``: what a neighbor of each input
    class adds to the code of a vertex, as exact floats: codes are below 2^24. ``lookup``: code -> class.
    """

    level: Level
    lookup: Tensor
    digit: Tensor
    base: int

    def __len__(self) -> int:
        assert self.level.index is not None
        return len(self.level.index)

    def classes(self, inputs: Tensor, sum_neighbors: Sums) -> Tensor:
        """The classes of vertices with these input classes: (.., vertices) -> (.., vertices)."""
        digits = self.digit.index_select(0, inputs.reshape(-1)).view(-1, inputs.shape[-1])
        near_digits = sum_neighbors(digits.T[None])[0].T
        codes = near_digits.reshape(-1).long().add_(inputs.reshape(-1), alpha=self.base)
        return self.lookup.index_select(0, codes).view_as(inputs)


def color_class_table(colors: int, k: int, isolated: bool = False) -> ClassTable | None:
    """Classes by color and multiset of neighbor colors; None if there are too many.

    ``isolated``: include vertices without neighbors, which occur in the pattern of one vertex only.

    Examples:
        >>> len(color_class_table(4, 5))
        276
    """
    if colors * k**colors > MAX_TABLE_CODES:
        return None
    smallest = 0 if isolated else 1
    multisets = [m for size in range(smallest, k) for m in combinations_with_replacement(range(colors), size)]
    digit = [k**color for color in range(colors)]
    return _class_table([(color, near) for color in range(colors) for near in multisets], digit, k**colors)


def identity_class_table(colors: int, k: int, isolated: bool = False) -> ClassTable | None:
    """Classes by the input classes (color, identity) of a vertex and its neighbors; None if there are too many."""
    if colors * k * (colors + 1) ** k > MAX_TABLE_CODES or colors * k * (colors + 1) ** (k - 1) > MAX_TABLE_ROWS:
        return None
    signatures = []
    for color, identity in product(range(colors), range(k)):
        others = [other for other in range(k) if other != identity]
        for size in range(0 if isolated else 1, k):
            for neighbor_identities in combinations(others, size):
                for neighbor_colors in product(range(colors), repeat=size):
                    near = tuple(c * k + i for c, i in zip(neighbor_colors, neighbor_identities, strict=True))
                    signatures.append((color * k + identity, near))
    digit = [(color + 1) * (colors + 1) ** identity for color in range(colors) for identity in range(k)]
    return _class_table(signatures, digit, (colors + 1) ** k)


def _class_table(signatures: list[tuple[int, tuple[int, ...]]], digit: list[int], base: int) -> ClassTable | None:
    rows = len(signatures)
    if rows > MAX_TABLE_ROWS:
        return None
    inputs = np.array([signature[0] for signature in signatures])
    sizes = np.array([len(signature[1]) for signature in signatures])
    near = np.array([neighbor for signature in signatures for neighbor in signature[1]], np.int64)
    digits = np.array(digit, np.float32)
    row = np.repeat(np.arange(rows), sizes)
    code = inputs * base + np.bincount(row, digits[near], minlength=rows).astype(np.int64)
    lookup = np.zeros(len(digit) * base, np.int64)
    lookup[code] = np.arange(rows)
    matrix = csr_array((np.ones(len(near)), (row, near)), shape=(rows, len(digit)))
    level = Level(index_tensor(inputs), sums_of(matrix), None)
    return ClassTable(level, torch.from_numpy(lookup), torch.from_numpy(digits), base)
