"""A batch of patterns as arrays, and as the structure that message passing runs on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._typing import IntArray
from anysize.counting.columns import Columns
from anysize.graphs.colors import ColorName
from anysize.nn.rows.refinement import levels_of, readout_matrices, refine
from anysize.nn.rows.structure import Structure, sums_of
from anysize.patterns.pattern import connected_patterns


@dataclass(frozen=True, eq=False)
class PatternBatch:
    """Patterns with colors as codes of the model's palette.

    ``neighbors`` (patterns, k, k - 1): numbers within the pattern, filled up with -1. ``colors`` (patterns, k):
    0 .. inputs - 1, or -1 for a color that the model does not know (its features are all zero). ``present``
    (patterns, k): False behind the last vertex of a smaller pattern. ``inputs``: length of the features.
    """

    neighbors: IntArray
    colors: IntArray
    present: NDArray[np.bool_]
    inputs: int

    def __len__(self) -> int:
        return len(self.colors)

    @property
    def k(self) -> int:
        return int(self.colors.shape[1])

    @staticmethod
    def of(columns: Columns, palette: Mapping[ColorName, int] | None, k: int = 1) -> PatternBatch:
        """The columns of a table, for a model that knows these colors (None: a model of plain patterns).

        ``palette``: the input of each color; several colors may share one. ``k``: the vertices to make room for, if
        no pattern is as large.
        """
        if (columns.colors is None) != (palette is None):
            ours, theirs = ("plain", "colored") if palette is None else ("colored", "plain")
            remedy = f"count with colors={palette is not None}"
            raise ValueError(f"this model was trained on {ours} patterns and got {theirs} ones; {remedy}")
        k = max(k, int(columns.size.max(initial=1)))
        neighbors = np.full((len(columns), k, max(k - 1, 1)), -1, np.int64)
        for size in np.unique(columns.size):
            here = columns.size == size
            neighbors[here, :size, : max(int(size) - 1, 1)] = neighbor_table(int(size))[columns.place[here]]
        present = np.arange(k) < columns.size[:, None]
        if palette is None or columns.colors is None:
            colors, inputs = np.zeros((len(columns), k), np.int64), 1
        else:
            known = np.array([palette.get(name, -1) for name in columns.palette] or [-1], np.int64)
            colors, inputs = known[columns.colors[:, :k].astype(np.int64)], 1 + max(palette.values(), default=0)
        return PatternBatch(neighbors, np.where(present, colors, -1), present, inputs)

    @cached_property
    def vertices(self) -> tuple[IntArray, IntArray, IntArray]:
        """All vertices in one list: neighbors (filled up with -1), colors, and the pattern each belongs to."""
        number = np.cumsum(self.present.reshape(-1)).reshape(self.present.shape) - 1
        near = self.neighbors.reshape(len(self), self.k * self.neighbors.shape[2])
        moved = np.take_along_axis(number, np.maximum(near, 0), axis=1)
        moved = np.where(near >= 0, moved, -1).reshape(self.neighbors.shape)
        item = np.broadcast_to(np.arange(len(self))[:, None], self.present.shape)
        return moved[self.present], self.colors[self.present], item[self.present]

    def structure(
        self, rounds: int, densities: csr_array[Any] | None = None, identities: IntArray | None = None,
        by_degree: bool = False, neighbors: bool = False,
    ) -> Structure:  # fmt: skip
        """One row per class of vertices; read out into patterns, or into graphs where ``densities`` are given.

        ``identities`` (permutations, k): the patterns are taken once per permutation, with these numbers as further
        one-hot features, and averaged. ``by_degree`` tells the lowest rows apart by degree, as GCN needs.
        """
        near, colors, item = self.vertices
        copies = 1 if identities is None else len(identities)
        amount, marks, features = len(colors), colors + 1, np.eye(self.inputs + 1, self.inputs, k=-1)
        if identities is not None:
            position = np.nonzero(self.present)[1]
            width = identities.shape[1]
            marks = (marks[None, :] * width + identities[:, position]).reshape(-1)
            shift = np.repeat(np.arange(copies) * amount, amount)[:, None]
            near = np.tile(near, (copies, 1))
            near, item = np.where(near >= 0, near + shift, -1), np.tile(item, copies)
            features = np.hstack([np.repeat(features, width, axis=0), np.tile(np.eye(width), (self.inputs + 1, 1))])
        degree = (near >= 0).sum(axis=1)
        steps = refine(near, marks * near.shape[1] * 2 + degree if by_degree else marks, rounds)
        matrices = readout_matrices(steps, item, len(self), 1 / copies)
        rows = steps[0].example
        plain = Structure(
            torch.from_numpy(features[marks[rows]].astype(np.float32)),
            torch.from_numpy(degree[rows].astype(np.float32)),
            levels_of(near, steps, neighbors),
            (),
        )
        if densities is not None:
            return plain.weighted(densities, matrices)
        return Structure(plain.features, plain.degree, plain.levels, tuple(sums_of(matrix) for matrix in matrices))


@lru_cache
def neighbor_table(k: int) -> IntArray:
    """The neighbors of every vertex of every plain pattern on k vertices: (catalog, k, k - 1), -1 behind."""
    table = np.full((len(connected_patterns(k)), k, max(k - 1, 1)), -1, np.int64)
    for place, pattern in enumerate(connected_patterns(k)):
        filled = [0] * k
        for i, j in pattern.edges:
            for one, other in ((i, j), (j, i)):
                table[place, one, filled[one]] = other
                filled[one] += 1
    return table
