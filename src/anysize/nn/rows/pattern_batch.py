"""A batch of patterns as arrays, and as the structure that message passing runs on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

from anysize._typing import BoolArray, IntArray
from anysize.counting.columns import Columns
from anysize.graphs.colors import ColorName
from anysize.nn.rows.aggregation import sums_of
from anysize.nn.rows.refinement import build_levels, readout_matrices, refine
from anysize.nn.rows.structure import Structure
from anysize.patterns.pattern import connected_patterns


@dataclass(frozen=True, eq=False)
class PatternBatch:
    """Patterns whose colors are codes of the model's palette.

    ``neighbors`` (patterns, k, k - 1): vertex numbers within the pattern, padded with -1. ``colors`` (patterns, k):
    0 .. inputs - 1, or -1 for a color that the model does not know (its features are zero). ``present`` (patterns, k):
    False for the padding of patterns with fewer than k vertices. ``inputs``: number of input features.
    """

    neighbors: IntArray
    colors: IntArray
    present: BoolArray
    inputs: int

    def __len__(self) -> int:
        return len(self.colors)

    @property
    def k(self) -> int:
        return int(self.colors.shape[1])

    @staticmethod
    def of(columns: Columns, palette: Mapping[ColorName, int] | None, k: int = 1) -> PatternBatch:
        """The columns of a count table, for a model that knows these colors (None: a model of uncolored patterns).

        ``palette``: the input of each color; several colors may share one. ``k``: pad to at least this many vertices.
        """
        if (columns.colors is None) != (palette is None):
            trained, given = ("plain", "colored") if palette is None else ("colored", "plain")
            raise ValueError(
                f"this model was trained on {trained} patterns and got {given} ones; "
                f"count with colors={palette is not None}"
            )
        k = max(k, int(columns.size.max(initial=1)))
        neighbors = np.full((len(columns), k, max(k - 1, 1)), -1, np.int64)
        for size in np.unique(columns.size):
            here = columns.size == size
            neighbors[here, :size, : max(int(size) - 1, 1)] = neighbor_table(int(size))[columns.pattern_index[here]]
        present = np.arange(k) < columns.size[:, None]
        if palette is None or columns.colors is None:
            colors, inputs = np.zeros((len(columns), k), np.int64), 1
        else:
            known = np.array([palette.get(name, -1) for name in columns.palette] or [-1], np.int64)
            colors, inputs = known[columns.colors[:, :k].astype(np.int64)], 1 + max(palette.values(), default=0)
        return PatternBatch(neighbors, np.where(present, colors, -1), present, inputs)

    @cached_property
    def vertices(self) -> tuple[IntArray, IntArray, IntArray]:
        """All vertices in one list: their neighbors (padded with -1), colors, and the pattern of each."""
        number = np.cumsum(self.present.reshape(-1)).reshape(self.present.shape) - 1
        near = self.neighbors.reshape(len(self), self.k * self.neighbors.shape[2])
        moved = np.take_along_axis(number, np.maximum(near, 0), axis=1)
        moved = np.where(near >= 0, moved, -1).reshape(self.neighbors.shape)
        item = np.broadcast_to(np.arange(len(self))[:, None], self.present.shape)
        return moved[self.present], self.colors[self.present], item[self.present]

    def structure(
        self, rounds: int, densities: csr_array[Any] | None = None, identities: IntArray | None = None,
        by_degree: bool = False, neighbors: bool = False, device: torch.device | str = "cpu",
    ) -> Structure:  # fmt: skip
        """One row per class of vertices, read out into patterns or, given ``densities``, into graphs; on a device.

        With densities, graphs are read out of the rows directly, and no embedding of a pattern is formed.
        ``identities`` (permutations, k): every pattern occurs once per permutation, with these numbers as additional
        one-hot features, and is averaged over them. ``by_degree``: distinguish input rows by degree, as GCN needs.
        """
        near, colors, item = self.vertices
        copies = 1 if identities is None else len(identities)
        amount, inputs, features = len(colors), colors + 1, np.eye(self.inputs + 1, self.inputs, k=-1)
        if identities is not None:
            position = np.nonzero(self.present)[1]
            width = identities.shape[1]
            inputs = (inputs[None, :] * width + identities[:, position]).reshape(-1)
            shift = np.repeat(np.arange(copies) * amount, amount)[:, None]
            near = np.tile(near, (copies, 1))
            near, item = np.where(near >= 0, near + shift, -1), np.tile(item, copies)
            features = np.hstack([np.repeat(features, width, axis=0), np.tile(np.eye(width), (self.inputs + 1, 1))])
        degree = (near >= 0).sum(axis=1)
        steps = refine(near, inputs * near.shape[1] * 2 + degree if by_degree else inputs, rounds)
        readouts = readout_matrices(steps, item, len(self), 1 / copies)
        if densities is not None:
            readouts = tuple(csr_array(densities @ readout) for readout in readouts)
        rows, on_cpu = steps[0].example, torch.device(device).type == "cpu"
        return Structure(
            torch.from_numpy(features[inputs[rows]].astype(np.float32)),
            torch.from_numpy(degree[rows].astype(np.float32)),
            build_levels(near, steps, neighbors, on_cpu),
            tuple(sums_of(readout, on_cpu) for readout in readouts),
        ).to(device)


@lru_cache
def neighbor_table(k: int) -> IntArray:
    """The neighbors of every vertex of every uncolored pattern on k vertices: (catalog, k, k - 1), padded with -1."""
    table = np.full((len(connected_patterns(k)), k, max(k - 1, 1)), -1, np.int64)
    for place, pattern in enumerate(connected_patterns(k)):
        filled = [0] * k
        for i, j in pattern.edges:
            for one, other in ((i, j), (j, i)):
                table[place, one, filled[one]] = other
                filled[one] += 1
    return table
