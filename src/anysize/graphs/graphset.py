"""GraphSet: many undirected graphs in flat arrays, with vertex colors and graph labels.

All functions of the package take and return this container. A single graph is a set of length one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from anysize._errors import GraphError
from anysize._schema import check_compressed_rows
from anysize._text import plural
from anysize._typing import IntArray, PathLike
from anysize.graphs.colors import ColorName, check_palette, color_order
from anysize.graphs.labels import label_array, warn_of_order
from anysize.graphs.ragged import offsets, owners, ranges, select_rows

MAX_VERTICES_PER_GRAPH = 1 << 31  # vertex numbers are uint32, with a bit to spare in the kernels


@dataclass(frozen=True, eq=False, repr=False)
class GraphSet:
    """Many undirected simple graphs in flat arrays, with optional vertex colors, labels and names.

    Make one with `from_networkx`, `from_edges`, ... or `anysize.read_graphs`. Index it like an array:
    ``graphs[0]``, ``graphs[:10]``, ``graphs[graphs.sizes < 50]``.

    Attributes:
        first: vertices of graph ``g`` are ``first[g] .. first[g + 1] - 1`` of the set.
        indptr: neighbors of vertex ``v`` of the set are ``indices[indptr[v]:indptr[v + 1]]``.
        indices: neighbors, numbered inside their own graph and ascending.
        colors: position in ``palette`` of every vertex's color; None for uncolored graphs.
        palette: color names, sorted as by `color_order`, so that comparing codes compares names.
        y: one label per graph, or None.
        names: one name per graph, or None.

    Examples:
        >>> path = GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "O"])
        >>> path
        GraphSet(1 graph, 3 vertices, 2 edges, 2 colors)
        >>> path.palette, path.colors.tolist()
        (('C', 'O'), [0, 0, 1])
    """

    first: IntArray
    indptr: IntArray
    indices: NDArray[np.uint32]
    colors: NDArray[np.uint16] | None = None
    palette: tuple[ColorName, ...] = ()
    y: NDArray[Any] | None = None
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        wrong = [
            f"{name} has dtype {array.dtype}, expected {np.dtype(kind)}"
            for name, array, kind in (
                ("first", self.first, np.int64),
                ("indptr", self.indptr, np.int64),
                ("indices", self.indices, np.uint32),
                ("colors", self.colors, np.uint16),
            )
            if array is not None and array.dtype != kind
        ]
        for name, array in zip(("first", "indptr", "indices", "colors", "y"), self._arrays(), strict=True):
            if array is not None and (array.ndim != 1 or (name in ("first", "indptr") and not len(array))):
                each = "one label per graph" if name == "y" else "a flat array"
                raise GraphError(f"{name} has shape {array.shape}; expected {each}.")
        if wrong:
            raise GraphError(f"These arrays do not make a GraphSet: {'; '.join(wrong)}.")
        for name, length, expected in (
            ("indptr", len(self.indptr), int(self.first[-1]) + 1),
            ("indices", len(self.indices), int(self.indptr[-1])),
            ("colors", None if self.colors is None else len(self.colors), int(self.first[-1])),
            ("y", None if self.y is None else len(self.y), len(self.first) - 1),
            ("names", None if self.names is None else len(self.names), len(self.first) - 1),
        ):
            if length is not None and length != expected:
                wrong.append(f"{name} has length {length}, expected {expected}")
        if wrong:
            raise GraphError(f"These arrays do not make a GraphSet: {'; '.join(wrong)}.")

    def check(self) -> None:
        """Raise a GraphError unless the arrays are undirected simple graphs: compiled code trusts them.

        Whatever reads or converts graphs makes such arrays; this is for sets that were made from arrays directly.
        """
        vertices, slots = int(self.first[-1]), len(self.indices)
        try:
            if self.first[0] != 0 or (np.diff(self.first) < 0).any():
                raise ValueError("first: expected numbers that ascend from 0")
            check_compressed_rows(self.indptr, self.indices, slots, (vertices, max(int(self.sizes.max(initial=0)), 1)))
            neighbor = self.neighbors
            if (neighbor >= np.repeat(np.repeat(self.first[1:], self.sizes), self.degrees)).any():
                raise ValueError("indices: expected vertices of the same graph")
            matrix = csr_array((np.ones(slots, np.int8), neighbor, self.indptr), shape=(vertices, vertices))
            if not matrix.has_canonical_format:
                raise ValueError("indices: expected the neighbors of every vertex in ascending order, each once")
            reverse = matrix.tocsc()
            same = np.array_equal(reverse.indptr, matrix.indptr) and np.array_equal(reverse.indices, matrix.indices)
            if not same or (neighbor == owners(self.indptr)).any():
                raise ValueError("indices: expected every edge in both directions, and no self loops")
            if self.colors is not None and vertices and self.colors.max() >= len(self.palette):
                raise ValueError(f"colors: expected positions in the palette of {len(self.palette)} colors")
        except ValueError as error:
            raise GraphError(f"These arrays do not make a GraphSet: {error}.") from None

    # ---- properties ----------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.first) - 1

    @property
    def shape(self) -> tuple[int]:
        """(number of graphs,), for scikit-learn, which then indexes a set like an array."""
        return (len(self),)

    @property
    def sizes(self) -> IntArray:
        """Vertices per graph."""
        return np.diff(self.first)

    @property
    def edge_counts(self) -> IntArray:
        """Undirected edges per graph."""
        return np.diff(self.indptr[self.first]) // 2

    @property
    def degrees(self) -> IntArray:
        """Degree of every vertex of the set."""
        return np.diff(self.indptr)

    @property
    def neighbors(self) -> IntArray:
        """The neighbors in ``indices``, numbered inside the whole set."""
        return np.repeat(self.first[owners(self.first)], self.degrees) + self.indices

    def edges(self, graph: int = 0) -> IntArray:
        """Edges of one graph as a sorted (m, 2) array with u < v."""
        one = self[graph]
        source = owners(one.indptr)
        target = one.indices.astype(np.int64)
        keep = source < target
        return np.stack([source[keep], target[keep]], axis=1)

    def color_names(self, graph: int = 0) -> tuple[ColorName, ...]:
        """The color name of every vertex of one graph; empty if the set has no colors."""
        one = self[graph]
        return () if one.colors is None else tuple(self.palette[code] for code in one.colors)

    def __repr__(self) -> str:
        parts = [
            plural(len(self), "graph"),
            plural(int(self.first[-1]), "vertex", "vertices"),
            plural(len(self.indices) // 2, "edge"),
        ]
        if self.colors is not None:
            parts.append(plural(len(self.palette), "color"))
        if self.y is not None:
            parts.append(plural(len(np.unique(self.y)), "class", "classes"))
        return f"GraphSet({', '.join(parts)})"

    def equals(self, other: GraphSet) -> bool:
        """Whether both sets have the same graphs, color names, labels and graph names in the same order."""
        if not isinstance(other, GraphSet) or self.names != other.names or self.palette != other.palette:
            return False
        pairs = zip(self._arrays(), other._arrays(), strict=True)
        return all(a is b if a is None or b is None else np.array_equal(a, b) for a, b in pairs)

    def _arrays(self) -> tuple[NDArray[Any] | None, ...]:
        return self.first, self.indptr, self.indices, self.colors, self.y

    # ---- indexing and concatenation ------------------------------------------------------------

    def __getitem__(self, key: int | slice | ArrayLike) -> GraphSet:
        """Select one graph (an integer) or several (a slice, integers, booleans) as a new set."""
        rows = select_rows(key, len(self))
        return self._contiguous(rows.start, rows.stop) if isinstance(rows, slice) else self._gather(rows)

    def _contiguous(self, start: int, stop: int) -> GraphSet:
        v0, v1 = int(self.first[start]), int(self.first[stop])
        e0, e1 = int(self.indptr[v0]), int(self.indptr[v1])
        return GraphSet(
            self.first[start : stop + 1] - v0,
            self.indptr[v0 : v1 + 1] - e0,
            self.indices[e0:e1],
            None if self.colors is None else self.colors[v0:v1],
            self.palette,
            None if self.y is None else self.y[start:stop],
            None if self.names is None else self.names[start:stop],
        )

    def _gather(self, rows: IntArray) -> GraphSet:
        vertices = ranges(self.first[rows], self.sizes[rows])
        slots = ranges(self.indptr[vertices], self.degrees[vertices])
        return GraphSet(
            offsets(self.sizes[rows]),
            offsets(self.degrees[vertices]),
            self.indices[slots],
            None if self.colors is None else self.colors[vertices],
            self.palette,
            None if self.y is None else self.y[rows],
            None if self.names is None else tuple(self.names[row] for row in rows),
        )

    def __iter__(self) -> Iterator[GraphSet]:
        return (self._contiguous(g, g + 1) for g in range(len(self)))

    def __add__(self, other: GraphSet) -> GraphSet:
        return GraphSet.concatenate([self, other])

    @staticmethod
    def concatenate(sets: Iterable[GraphSet]) -> GraphSet:
        """Join sets, one after the other; palettes are united by name.

        Either all sets are colored or none. Labels and graph names are kept if every set has them.
        """
        sets = list(sets)
        if not sets:
            return empty_set()
        filled = [s for s in sets if len(s)] or sets[:1]
        colored = {s.colors is not None for s in filled}
        if len(colored) > 1:
            raise GraphError(
                "Some of these graph sets have colors and some have none; color all of them, "
                "or call without_colors() on those that have."
            )
        palette = tuple(sorted({name for s in filled for name in s.palette}, key=color_order))
        united = [s.with_palette(palette) for s in filled]
        return GraphSet(
            offsets(np.concatenate([s.sizes for s in united])),
            offsets(np.concatenate([s.degrees for s in united])),
            np.concatenate([s.indices for s in united]),
            np.concatenate([s.colors for s in united if s.colors is not None]) if colored == {True} else None,
            palette,
            np.concatenate([s.y for s in united if s.y is not None]) if all(s.y is not None for s in united) else None,
            tuple(name for s in united for name in s.names or ()) if all(s.names is not None for s in united) else None,
        )

    # ---- other colors and labels ---------------------------------------------------------------

    def with_palette(self, palette: Sequence[ColorName]) -> GraphSet:
        """Encode the colors by another palette, which must contain every color in use."""
        target = check_palette(palette)
        if self.colors is None or target == self.palette:
            return replace(self, palette=target if self.colors is not None else ())
        position = {name: code for code, name in enumerate(target)}
        used = np.unique(self.colors)
        missing = [self.palette[code] for code in used if self.palette[code] not in position]
        if missing:
            raise GraphError(f"The new palette lacks colors in use: {missing[:5]}; add them to it.")
        recode = np.zeros(len(self.palette), np.uint16)
        recode[used] = [position[self.palette[code]] for code in used]
        return replace(self, colors=recode[self.colors], palette=target)

    def without_colors(self) -> GraphSet:
        """The same graphs without colors."""
        return replace(self, colors=None, palette=())

    def with_y(self, y: ArrayLike | None) -> GraphSet:
        """The same graphs with these labels, one per graph."""
        warn_of_order(y, self.names)
        return replace(self, y=None if y is None else np.atleast_1d(label_array(y)))

    # ---- conversion (implemented in anysize.io) ------------------------------------------------

    @staticmethod
    def from_networkx(graphs: Any, color: str | None = None, y: ArrayLike | None = None) -> GraphSet:
        """Convert one or several networkx graphs; ``color`` names the vertex attribute that holds the color."""
        from anysize.io.networkx import from_networkx

        return from_networkx(graphs, color=color, y=y)

    @staticmethod
    def from_pyg(data: Any, color: str | None = None, y: ArrayLike | None = None) -> GraphSet:
        """Convert PyG graphs; ``color`` names the field that holds colors or one-hot rows, such as ``x``."""
        from anysize.io.pyg import from_pyg

        return from_pyg(data, color=color, y=y)

    @staticmethod
    def from_igraph(graphs: Any, color: str | None = None, y: ArrayLike | None = None) -> GraphSet:
        """Convert one or several igraph graphs; ``color`` names the vertex attribute that holds the color."""
        from anysize.io.igraph import from_igraph

        return from_igraph(graphs, color=color, y=y)

    @staticmethod
    def from_rdkit(molecules: Any, color: str | None = None, y: ArrayLike | None = None) -> GraphSet:
        """RDKit molecules; ``color`` is ``element`` (default), or such as ``element+aromatic+charge``."""
        from anysize.io.smiles import from_rdkit

        return from_rdkit(molecules, color=color, y=y)

    @staticmethod
    def from_pandas(frame: Any, y: str | None = None) -> GraphSet:
        """A table of edges with columns source and target, and perhaps graph; ``y`` names the column of labels."""
        from anysize.io.table import from_pandas

        return from_pandas(frame, y=y)

    @staticmethod
    def from_scipy(matrices: Any, colors: Any = None, y: ArrayLike | None = None) -> GraphSet:
        """Convert one or several adjacency matrices (scipy sparse, numpy, pandas, torch)."""
        from anysize.io.scipy import from_scipy

        return from_scipy(matrices, colors=colors, y=y)

    @staticmethod
    def from_edges(
        edges: Any,
        n_vertices: int | Sequence[int] | None = None,
        colors: Any = None,
        y: ArrayLike | None = None,
    ) -> GraphSet:
        """Convert the edges of one graph, as (m, 2) vertex numbers from 0, or of several graphs."""
        from anysize.io.edges import from_edges

        return from_edges(edges, n_vertices=n_vertices, colors=colors, y=y)

    def to_networkx(self, color: str = "color") -> list[Any]:
        """Make one `networkx.Graph` per graph, with color names in the vertex attribute ``color``."""
        from anysize.io.write import to_networkx

        return to_networkx(self, color=color)

    def to_pyg(self) -> list[Any]:
        """Make one PyG `Data` per graph: edge_index in both directions, one-hot ``x`` over the palette, ``y``."""
        from anysize.io.write import to_pyg

        return to_pyg(self)

    def to_tu(self, folder: PathLike, name: str) -> None:
        """Write the set as a TU folder ``folder/name/name_A.txt``, ..."""
        from anysize.io.write import to_tu

        to_tu(self, folder, name)


def empty_set() -> GraphSet:
    """A set without graphs."""
    return GraphSet(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(0, np.uint32))
