"""`OrbitCounts`: a table of the orbits that occur, for graphs with colors of vertices or types of edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from anysize._memory import dense
from anysize._text import plural
from anysize._typing import IntArray
from anysize.counting.columns import Columns
from anysize.counting.orbits.numbering import EdgePosition, Position
from anysize.graphs.attributes import vertex_numbers
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners
from anysize.patterns.orbits import edges_of

MAX_DENSE_COLUMNS = 2000  # of a data frame; more are sparse


@dataclass(frozen=True, eq=False, repr=False)
class OrbitCounts:
    """How often every vertex, or every edge, is in each position of the patterns that occur in a set of graphs.

    Attributes:
        matrix: (vertices or edges, orbits), sparse: induced copies.
        vertices: (rows, 1) or, for edges, (rows, 2): the vertex or the two ends of every row, numbered in their graph.
        first: the rows of graph ``g`` are ``first[g] .. first[g + 1] - 1``.
        patterns: the patterns that occur, as columns.
        pattern: the number of every orbit's pattern in ``patterns``.
        places: for every orbit the vertices of the pattern that it consists of, as bits; for edges the bits of the
            pairs (`anysize.patterns.orbits.pair_bit`).
    """

    matrix: csr_array[np.int64]
    vertices: IntArray
    first: IntArray
    patterns: Columns
    pattern: IntArray
    places: IntArray

    @property
    def per(self) -> str:
        """What the rows are: "vertex" or "edge"."""
        return "vertex" if self.vertices.shape[1] == 1 else "edge"

    @cached_property
    def positions(self) -> tuple[Position | EdgePosition, ...]:
        """Number, pattern and vertices (edges) of every orbit."""
        patterns = self.patterns.patterns
        return tuple(
            Position(number, patterns[at], tuple(v for v in range(patterns[at].size) if places >> v & 1))
            if self.per == "vertex"
            else EdgePosition(number, patterns[at], edges_of(places, patterns[at].size))
            for number, (at, places) in enumerate(zip(self.pattern.tolist(), self.places.tolist(), strict=True))
        )

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The name of every orbit: that of its pattern, and its vertices or edges there.

        They are numbered as in ``edges`` and ``colors`` of the pattern: ``3-path[C,C,O]@1``, or ``paw@0-1,0-2``.
        """
        return tuple(
            f"{pattern.name}@{','.join(str(at) if isinstance(at, int) else f'{at[0]}-{at[1]}' for at in places)}"
            for _, pattern, places in self.positions
        )

    def __len__(self) -> int:
        return len(self.vertices)

    def __repr__(self) -> str:
        rows = plural(len(self), self.per, "vertices" if self.per == "vertex" else "edges")
        return f"OrbitCounts({plural(len(self.first) - 1, 'graph')}, {rows}, {plural(len(self.places), 'orbit')})"

    def of_graph(self, graph: int) -> csr_array[np.int64]:
        """The rows of one graph."""
        return self.matrix[int(self.first[graph]) : int(self.first[graph + 1])]

    def to_pandas(self) -> Any:
        """A DataFrame with a row for every vertex or edge, and the names of orbits as columns. Needs pandas.

        Columns are sparse in a table of more than 2000 orbits.
        """
        import pandas as pd

        levels = ["graph", *(["vertex"] if self.per == "vertex" else ["u", "v"])]
        index = pd.MultiIndex.from_arrays([owners(self.first), *self.vertices.T], names=levels)
        header = pd.Index(self.names, name="orbit")
        if len(header) > MAX_DENSE_COLUMNS:
            sparse: Any = pd.DataFrame.sparse
            return sparse.from_spmatrix(self.matrix, index=index, columns=header)
        table = dense(self.matrix, "the data frame", "use OrbitCounts.matrix, which is sparse")
        return pd.DataFrame(table, index=index, columns=header)


def rows_of(graphs: GraphSet, per: str) -> tuple[IntArray, IntArray]:
    """The vertices (the ends of the edges) of a set, row by row, and the first row of every graph."""
    if per == "vertex":
        return vertex_numbers(graphs.sizes)[:, None], graphs.first
    source, target = owners(graphs.indptr), graphs.neighbors
    smaller = source < target
    start = graphs.first[owners(graphs.first)][source[smaller]]
    ends = np.stack([source[smaller] - start, target[smaller] - start], axis=1)
    return ends, np.concatenate([[0], np.cumsum(graphs.edge_counts)])


def usual_columns(table: OrbitCounts, orbits: Sequence[EdgePosition]) -> IntArray:
    """The counts (rows, orbits) of plain patterns in the order of ``orbits``."""
    number: dict[tuple[str, Any], int] = {(pattern.name, edges): at for at, pattern, edges in orbits}
    result = np.zeros((len(table), len(orbits)), np.int64)
    result[:, [number[pattern.name, edges] for _, pattern, edges in table.positions]] = table.matrix.toarray()
    return result
