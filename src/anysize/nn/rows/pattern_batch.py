"""A batch of patterns as arrays, and as the structure that message passing runs on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array

from anysize._typing import BoolArray, IntArray
from anysize.counting.columns import Columns
from anysize.graphs.attributes import EdgeType
from anysize.graphs.colors import ColorName
from anysize.graphs.ragged import offsets
from anysize.nn.rows.maps import sums_of
from anysize.nn.rows.refinement import VertexClasses, class_level, refine
from anysize.nn.rows.structure import Structure
from anysize.patterns.pattern import connected_patterns


@dataclass(frozen=True, eq=False)
class PatternBatch:
    """Patterns whose colors are codes of the model's palette.

    ``neighbors`` (patterns, k, k - 1): vertex numbers within the pattern, padded with -1. ``colors`` (patterns, k):
    0 .. inputs - 1, or -1 for a color that the model does not know (its features are zero). ``present`` (patterns, k):
    False for the padding of patterns with fewer than k vertices. ``inputs``: number of input features. ``types``
    (patterns, k, k - 1): of the edge to every neighbor, a code of the model's types, or their number for a type that it
    does not know; None: edges are not told apart.
    """

    neighbors: IntArray
    colors: IntArray
    present: BoolArray
    inputs: int
    types: IntArray | None = None

    def __len__(self) -> int:
        return len(self.colors)

    @property
    def k(self) -> int:
        return int(self.colors.shape[1])

    @staticmethod
    def of(
        columns: Columns, palette: Mapping[ColorName, int] | None, k: int = 1,
        edge_palette: Sequence[EdgeType] | None = None,
    ) -> PatternBatch:  # fmt: skip
        """The columns of a count table, for a model that knows these colors (None: a model of uncolored patterns).

        ``palette``: the input of each color; several colors may share one. ``k``: pad to at least this many vertices.
        ``edge_palette``: the types of edges that the model knows; None: it does not tell edges apart.
        """
        check_alphabet(columns, palette, edge_palette)
        k = max(k, int(columns.size.max(initial=1)))
        neighbors = np.full((len(columns), k, max(k - 1, 1)), -1, np.int64)
        for size in np.unique(columns.size):
            of_size = columns.size == size
            neighbors[of_size, :size, : max(int(size) - 1, 1)] = neighbor_table(int(size))[
                columns.pattern_index[of_size]
            ]
        present = np.arange(k) < columns.size[:, None]
        if palette is None or columns.colors is None:
            colors, inputs = np.zeros((len(columns), k), np.int64), 1
        else:
            known = np.array([palette.get(name, -1) for name in columns.palette] or [-1], np.int64)
            colors, inputs = known[columns.colors[:, :k].astype(np.int64)], 1 + max(palette.values(), default=0)
        types = None
        if edge_palette is not None:
            position = {kind: code for code, kind in enumerate(edge_palette)}
            codes = np.array([position.get(kind, len(position)) for kind in columns.edge_palette] + [-1], np.int64)
            types = codes[neighbor_types(columns, neighbors)]
        return PatternBatch(neighbors, np.where(present, colors, -1), present, inputs, types)

    @cached_property
    def adjacency(self) -> tuple[IntArray, IntArray]:
        """The neighbors of all vertices in one list: the start of each vertex's neighbors, and their numbers."""
        number = np.cumsum(self.present.reshape(-1)).reshape(self.present.shape) - 1
        adjacent = self.neighbors >= 0
        pattern = np.nonzero(adjacent)[0]
        return offsets(adjacent.sum(axis=2)[self.present]), number[pattern, self.neighbors[adjacent]]

    @property
    def entry_types(self) -> tuple[IntArray, int] | None:
        """The types of the edges of `adjacency`, and the number of types; None: edges are not told apart."""
        if self.types is None:
            return None
        entries = self.types[self.neighbors >= 0]
        return entries, int(entries.max(initial=0)) + 1

    def structure(
        self, rounds: int, densities: csr_array[Any] | None = None, identities: IntArray | None = None,
        device: torch.device | str = "cpu",
    ) -> Structure:  # fmt: skip
        """One row per class of vertices, read out into patterns or, given ``densities``, into graphs; on a device.

        With densities, graphs are read out of the rows directly, and no embedding of a pattern is formed.
        ``identities`` (permutations, k): every pattern occurs once per permutation, with these numbers as additional
        one-hot features, and is averaged over them.
        """
        (indptr, indices), types, (pattern, position) = self.adjacency, self.entry_types, np.nonzero(self.present)
        codes, features = self.colors[self.present] + 1, np.eye(self.inputs + 1, self.inputs, k=-1)
        copies = 1 if identities is None else len(identities)
        if identities is not None:
            width = identities.shape[1]
            features = np.hstack([np.repeat(features, width, axis=0), np.tile(np.eye(width), (self.inputs + 1, 1))])
            codes = (codes * width + identities[:, position]).reshape(-1)
            indptr = offsets(np.tile(np.diff(indptr), copies))
            indices = (indices + len(pattern) * np.arange(copies)[:, None]).reshape(-1)
            pattern = np.tile(pattern, copies)
            types = types and (np.tile(types[0], copies), types[1])
        on_cpu = torch.device(device).type == "cpu"
        steps = [VertexClasses.of(codes)]
        levels = []
        for _ in range(rounds):
            steps.append(refine(indptr, indices, steps[-1].classes, types and types[0]))
            levels.append(class_level(indptr, indices, steps[-2], steps[-1], on_cpu=on_cpu, types=types))
        readouts = []
        for step in steps:
            shares = np.full(len(pattern), 1 / copies)
            patterns = csr_array((shares, (pattern, step.classes)), shape=(len(self), len(step)))
            readouts.append(sums_of(patterns if densities is None else csr_array(densities @ patterns), on_cpu))
        rows = torch.from_numpy(features[codes[steps[0].example]].astype(np.float32))
        structure = Structure(rows, tuple(levels), tuple(readouts))
        return structure if on_cpu else structure.to(device)


def check_alphabet(
    columns: Columns, palette: Mapping[ColorName, int] | None, edge_palette: Sequence[EdgeType] | None
) -> None:
    """An error unless patterns have colors and types of edges if a model knows any, and only then."""
    if (columns.colors is None) != (palette is None):
        trained, given = ("plain", "colored") if palette is None else ("colored", "plain")
        raise ValueError(
            f"this model was trained on {trained} patterns and got {given} ones; "
            f"count with colors={palette is not None}"
        )
    if (columns.edge_types is None) != (edge_palette is None):
        trained, given = ("without", "with") if edge_palette is None else ("with", "without")
        raise ValueError(
            f"this model was trained on patterns {trained} types of edges and got some {given}; count with "
            f"edges={edge_palette is not None}"
        )


def neighbor_types(columns: Columns, neighbors: IntArray) -> IntArray:
    """The type of the edge to every neighbor, seen from the vertex: its position in the palette of the columns.

    ``neighbors`` (patterns, k, k - 1): vertex numbers, padded with -1. The types have the same shape, and are -1 for
    the padding and in columns that do not tell edges apart.
    """
    if columns.edge_types is None:
        return np.full(neighbors.shape, -1, np.int64)
    vertex = np.arange(neighbors.shape[1])[:, None]
    low, high = np.minimum(vertex, neighbors), np.maximum(vertex, neighbors)
    pair = np.where(neighbors < 0, 0, high * (high - 1) // 2 + low)
    codes = columns.edge_types[np.arange(len(columns))[:, None, None], pair]
    seen = np.where(vertex < neighbors, codes, columns.reverse_types[codes]).astype(np.int64) - 1
    return np.where(neighbors < 0, -1, seen)


@lru_cache
def neighbor_table(k: int) -> IntArray:
    """The neighbors of every vertex of every uncolored pattern on k vertices: (catalog, k, k - 1), padded with -1."""
    table = np.full((len(connected_patterns(k)), k, max(k - 1, 1)), -1, np.int64)
    for number, pattern in enumerate(connected_patterns(k)):
        degrees = [0] * k
        for i, j in pattern.edges:
            for vertex, neighbor in ((i, j), (j, i)):
                table[number, vertex, degrees[vertex]] = neighbor
                degrees[vertex] += 1
    return table
