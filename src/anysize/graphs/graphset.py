"""GraphSet: many graphs in flat arrays, with what they carry: colors, edge types, directions, features and labels.

All functions of the package take and return this container. A single graph is a set of length one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from anysize._errors import GraphError
from anysize._schema import check_compressed_rows
from anysize._text import plural
from anysize._typing import IntArray, PathLike
from anysize.graphs.colors import ColorName, check_palette, encode_colors, recode, unite_palettes
from anysize.graphs.features import check_features
from anysize.graphs.labels import label_array, warn_of_order
from anysize.graphs.ragged import offsets, owners, ranges, select_rows

MAX_VERTICES_PER_GRAPH = 1 << 31  # vertex numbers are uint32, with a bit to spare in the kernels


BOTH_WAYS, OUT, IN = 0, 1, 2  # directions of an edge, seen from one of its ends
_REVERSED = np.array([BOTH_WAYS, IN, OUT], np.uint8)
_Key: TypeAlias = slice | IntArray
_ARRAYS: dict[str, Any] = {  # name -> dtype
    "first": np.dtype(np.int64), "indptr": np.dtype(np.int64), "indices": np.dtype(np.uint32),
    "colors": np.dtype(np.uint16), "y": None, "edge_colors": np.dtype(np.uint16), "directions": np.dtype(np.uint8),
    "features": np.dtype(np.float32),
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class GraphSet:
    """Many simple graphs in flat arrays, with optional colors, edge colors, directions, features, labels and names.

    Make one with `from_networkx`, `from_edges`, ... or `anysize.read_graphs`. Index it like an array:
    ``graphs[0]``, ``graphs[:10]``, ``graphs[graphs.sizes < 50]``.

    ``indices`` is always the underlying undirected graph: an edge has an entry at both of its ends. ``directions`` and
    ``edge_colors`` have a code for each of these entries. An undirected edge and a pair of edges, one each way, are the
    same; such a pair may have two colors.

    Attributes:
        first: vertices of graph ``g`` are ``first[g] .. first[g + 1] - 1`` of the set.
        indptr: neighbors of vertex ``v`` of the set are ``indices[indptr[v]:indptr[v + 1]]``.
        indices: neighbors, numbered inside their own graph and ascending.
        colors: position in ``palette`` of every vertex's color; None for uncolored graphs.
        palette: color names, sorted as by `color_order`, so that comparing codes compares names.
        y: one label per graph, or None.
        names: one name per graph, or None.
        edge_colors: position in ``edge_palette`` for every entry of ``indices``: at vertex u and neighbor v that of the
            edge from u to v, or of the edge from v to u if that is the only one; None for edges without colors.
        edge_palette: names of edge colors, sorted like ``palette``.
        directions: for every entry of ``indices``: `BOTH_WAYS`, `OUT` (from the vertex to the neighbor) or `IN`; None
            if all edges are undirected.
        features: one row of numbers per vertex, or None.
        feature_names: a name for every column of ``features``, or nothing.

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
    edge_colors: NDArray[np.uint16] | None = None
    edge_palette: tuple[ColorName, ...] = ()
    directions: NDArray[np.uint8] | None = None
    features: NDArray[np.float32] | None = None
    feature_names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        wrong, shapes = [], {}
        for name, kind in _ARRAYS.items():
            array = getattr(self, name)
            if array is None:
                continue
            if kind is not None and array.dtype is not kind and array.dtype != kind:
                wrong.append(f"{name} has dtype {array.dtype}, expected {kind}")
            shapes[name] = array.shape
            flat = name != "features"
            if array.ndim != 2 - flat or (name in ("first", "indptr") and not len(array)):
                each = "one label per graph" if name == "y" else "a flat array" if flat else "a row for every vertex"
                raise GraphError(f"{name} has shape {array.shape}; expected {each}.")
        if wrong:
            raise GraphError(f"These arrays do not make a GraphSet: {'; '.join(wrong)}.")
        graphs, vertices, slots = shapes["first"][0] - 1, int(self.first[-1]), int(self.indptr[-1])
        lengths = {
            "indptr": vertices + 1, "indices": slots, "colors": vertices, "y": graphs, "names": graphs,
            "edge_colors": slots, "directions": slots, "features": vertices,
        }  # fmt: skip
        if self.names is not None:
            shapes["names"] = (len(self.names),)
        for name, expected in lengths.items():
            if name in shapes and shapes[name][0] != expected:
                wrong.append(f"{name} has length {shapes[name][0]}, expected {expected}")
        columns = 0 if self.features is None else self.features.shape[1]
        if self.feature_names and len(self.feature_names) != columns:
            wrong.append(f"feature_names has length {len(self.feature_names)}, expected {columns}")
        if wrong:
            raise GraphError(f"These arrays do not make a GraphSet: {'; '.join(wrong)}.")

    def check(self) -> None:
        """Raise a GraphError unless the arrays are simple graphs: compiled code trusts them.

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
            self._check_edge_attributes()
            if self.features is not None and not np.isfinite(self.features).all():
                raise ValueError("features: expected finite numbers")
        except ValueError as error:
            raise GraphError(f"These arrays do not make a GraphSet: {error}.") from None

    def _check_edge_attributes(self) -> None:
        """A ValueError unless the codes of edges are in range, and those at both ends of an edge agree."""
        colors, directions = self.edge_colors, self.directions
        if colors is not None and len(colors) and colors.max() >= len(self.edge_palette):
            raise ValueError(f"edge_colors: expected positions in the palette of {len(self.edge_palette)} edge colors")
        if directions is None:
            return
        back = directions[self.reverse_entries]
        if len(directions) and (directions.max() > IN or (back != _REVERSED[directions]).any()):
            raise ValueError("directions: expected 0 (both ways) at both ends of an edge, or 1 (out) and 2 (in)")
        if colors is not None and ((colors != colors[self.reverse_entries]) & (directions != BOTH_WAYS)).any():
            raise ValueError("edge_colors: expected the same color at both ends of an edge with one direction")

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

    @property
    def reverse_entries(self) -> IntArray:
        """For every entry of ``indices``, at vertex u and neighbor v, the position of the entry at v and u."""
        # Entries are sorted by (vertex, neighbor); sorted by (neighbor, vertex) they come in the order of the reverses.
        return np.argsort(self.neighbors, kind="stable")

    def edges(self, graph: int = 0) -> IntArray:
        """Edges of one graph as a sorted (m, 2) array with u < v."""
        one = self[graph]
        source = owners(one.indptr)
        target = one.indices.astype(np.int64)
        keep = source < target
        return np.stack([source[keep], target[keep]], axis=1)

    def arcs(self, graph: int = 0) -> IntArray:
        """Edges of one graph as a sorted (m, 2) array of ordered pairs: both pairs of an edge without direction.

        Examples:
            >>> GraphSet.from_edges([(0, 1), (1, 2), (2, 1)]).arcs().tolist()
            [[0, 1], [1, 2], [2, 1]]
        """
        one = self[graph]
        ends = np.stack([owners(one.indptr), one.indices.astype(np.int64)], axis=1)
        return ends if one.directions is None else ends[one.directions != IN]

    def arc_color_names(self, graph: int = 0) -> tuple[ColorName, ...]:
        """The edge color names of one graph, one per row of `arcs`; an empty tuple if edges have no colors."""
        one = self[graph]
        if one.edge_colors is None:
            return ()
        codes = one.edge_colors if one.directions is None else one.edge_colors[one.directions != IN]
        return tuple(self.edge_palette[code] for code in codes)

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
        if self.edge_colors is not None:
            parts.append(plural(len(self.edge_palette), "edge color"))
        if self.directions is not None:
            parts.append("directed")
        if self.features is not None:
            parts.append(plural(self.features.shape[1], "feature"))
        if self.y is not None:
            parts.append(plural(len(np.unique(self.y)), "class", "classes"))
        return f"GraphSet({', '.join(parts)})"

    def equals(self, other: GraphSet) -> bool:
        """Whether both sets have the same graphs, attributes and their names, labels and graph names, in order."""
        if not isinstance(other, GraphSet) or any(
            getattr(self, name) != getattr(other, name)
            for name in ("names", "palette", "edge_palette", "feature_names")
        ):
            return False
        pairs = zip(self._arrays(), other._arrays(), strict=True)
        return all(a is b if a is None or b is None else np.array_equal(a, b) for a, b in pairs)

    def _arrays(self) -> tuple[NDArray[Any] | None, ...]:
        return tuple(getattr(self, name) for name in _ARRAYS)

    # ---- indexing and concatenation ------------------------------------------------------------

    def __getitem__(self, key: int | slice | ArrayLike) -> GraphSet:
        """Select one graph (an integer) or several (a slice, integers, booleans) as a new set."""
        rows = select_rows(key, len(self))
        return self._contiguous(rows.start, rows.stop) if isinstance(rows, slice) else self._gather(rows)

    def _contiguous(self, start: int, stop: int) -> GraphSet:
        v0, v1 = int(self.first[start]), int(self.first[stop])
        e0, e1 = int(self.indptr[v0]), int(self.indptr[v1])
        return self._selected(
            self.first[start : stop + 1] - v0,
            self.indptr[v0 : v1 + 1] - e0,
            slice(start, stop),
            slice(v0, v1),
            slice(e0, e1),
            None if self.names is None else self.names[start:stop],
        )

    def _gather(self, rows: IntArray) -> GraphSet:
        vertices = ranges(self.first[rows], self.sizes[rows])
        return self._selected(
            offsets(self.sizes[rows]),
            offsets(self.degrees[vertices]),
            rows,
            vertices,
            ranges(self.indptr[vertices], self.degrees[vertices]),
            None if self.names is None else tuple(self.names[row] for row in rows),
        )

    def _selected(
        self, first: IntArray, indptr: IntArray, rows: _Key, vertices: _Key, slots: _Key, names: tuple[str, ...] | None
    ) -> GraphSet:
        """The set of these graphs, vertices and entries of ``indices``."""
        directions = None if self.directions is None else self.directions[slots]
        return GraphSet(
            first,
            indptr,
            self.indices[slots],
            None if self.colors is None else self.colors[vertices],
            self.palette,
            None if self.y is None else self.y[rows],
            names,
            None if self.edge_colors is None else self.edge_colors[slots],
            self.edge_palette,
            None if directions is None or not directions.any() else directions,
            None if self.features is None else self.features[vertices],
            self.feature_names,
        )

    def __iter__(self) -> Iterator[GraphSet]:
        return (self._contiguous(g, g + 1) for g in range(len(self)))

    def __add__(self, other: GraphSet) -> GraphSet:
        return GraphSet.concatenate([self, other])

    @staticmethod
    def concatenate(sets: Iterable[GraphSet]) -> GraphSet:
        """Join sets, one after the other; palettes are united by name.

        Either all sets are colored or none, and so for edge colors and features. Sets without directions have
        undirected edges. Labels and graph names are kept if every set has them.
        """
        sets = list(sets)
        if not sets:
            return empty_set()
        filled = [s for s in sets if len(s)] or sets[:1]
        for name, words in (("colors", "colors"), ("edge_colors", "edge colors"), ("features", "features")):
            if len({getattr(s, name) is None for s in filled}) > 1:
                raise GraphError(
                    f"Some of these graph sets have {words} and some have none; give all of them {words}, "
                    f"or call without_{name}() on those that have."
                )
        if len({(s.feature_names, s.features.shape[1]) for s in filled if s.features is not None}) > 1:
            raise GraphError("These graph sets have different vertex features; call without_features() on each.")
        palette = unite_palettes(s.palette for s in filled)
        edge_palette = unite_palettes(s.edge_palette for s in filled)
        united = [s.with_palette(palette).with_edge_palette(edge_palette) for s in filled]
        directed = any(s.directions is not None for s in united)
        return GraphSet(
            offsets(np.concatenate([s.sizes for s in united])),
            offsets(np.concatenate([s.degrees for s in united])),
            np.concatenate([s.indices for s in united]),
            _joined([s.colors for s in united]),
            palette,
            _joined([s.y for s in united]),
            tuple(name for s in united for name in s.names or ()) if all(s.names is not None for s in united) else None,
            _joined([s.edge_colors for s in united]),
            edge_palette,
            _joined([_or_undirected(s) for s in united]) if directed else None,
            _joined([s.features for s in united]),
            united[0].feature_names,
        )

    # ---- other colors and labels ---------------------------------------------------------------

    def with_palette(self, palette: Sequence[ColorName]) -> GraphSet:
        """Encode the colors by another palette, which must contain every color in use."""
        target = check_palette(palette)
        if self.colors is None or target == self.palette:
            return replace(self, palette=target if self.colors is not None else ())
        return replace(self, colors=recode(self.colors, self.palette, target), palette=target)

    def without_colors(self) -> GraphSet:
        """The same graphs without colors of vertices."""
        return replace(self, colors=None, palette=())

    def with_edge_palette(self, palette: Sequence[ColorName]) -> GraphSet:
        """Encode the edge colors by another palette, which must contain every edge color in use."""
        target = check_palette(palette)
        if self.edge_colors is None or target == self.edge_palette:
            return replace(self, edge_palette=target if self.edge_colors is not None else ())
        codes = recode(self.edge_colors, self.edge_palette, target)
        return replace(self, edge_colors=codes, edge_palette=target)

    def with_edge_colors(self, colors: Any) -> GraphSet:
        """The same graphs with these edge colors: one name per edge, for the `edges` of each graph after another.

        Examples:
            >>> path = GraphSet.from_edges([(0, 1), (1, 2)]).with_edge_colors(["single", "double"])
            >>> path.edge_palette, path.edge_colors.tolist()
            (('double', 'single'), [1, 1, 0, 0])
        """
        codes, palette = encode_colors(colors, "edge colors", "edge")
        return replace(self, edge_colors=self._to_entries(codes, codes, "edge colors"), edge_palette=palette)

    def without_edge_colors(self) -> GraphSet:
        """The same graphs without edge colors."""
        return replace(self, edge_colors=None, edge_palette=())

    def with_directions(self, directions: ArrayLike) -> GraphSet:
        """The same graphs with a direction for every edge (u, v) of `edges`, for each graph after another.

        Directions are 0 for both ways, 1 from u to v, and 2 from v to u.
        """
        codes = np.asarray(directions)
        if (
            codes.ndim != 1
            or codes.dtype.kind not in "iu"
            or (codes.size and not 0 <= codes.min() <= codes.max() <= IN)
        ):
            raise GraphError("Expected a direction for every edge: 0 (both ways), 1 (out) or 2 (in).")
        codes = codes.astype(np.uint8)
        entries = self._to_entries(codes, _REVERSED[codes], "directions")
        return replace(self, directions=entries if entries.any() else None)

    def without_directions(self) -> GraphSet:
        """The same graphs with undirected edges; the color of an edge with two is the smaller one."""
        colors = self.edge_colors
        if self.directions is not None and colors is not None:
            colors = np.minimum(colors, colors[self.reverse_entries])
        return replace(self, directions=None, edge_colors=colors)

    def with_features(self, features: Any, names: Sequence[str] = ()) -> GraphSet:
        """The same graphs with these vertex features: a row of numbers per vertex of the set."""
        rows = check_features(features, int(self.first[-1]), "features")
        return replace(self, features=rows, feature_names=tuple(map(str, names)))

    def without_features(self) -> GraphSet:
        """The same graphs without vertex features."""
        return replace(self, features=None, feature_names=())

    def _to_entries(self, codes: NDArray[Any], reverse: NDArray[Any], what: str) -> NDArray[Any]:
        """Codes of edges (u, v) with u < v as codes of the entries at u, and ``reverse`` at v."""
        smaller = owners(self.indptr) < self.neighbors
        if len(codes) != smaller.sum():
            raise GraphError(f"{what}: expected one per edge, {smaller.sum()} in all; got {len(codes)}.")
        entries = np.zeros(len(smaller), codes.dtype)
        back = self.reverse_entries[smaller]
        entries[smaller], entries[back] = codes, reverse
        return entries

    def with_y(self, y: ArrayLike | None) -> GraphSet:
        """The same graphs with these labels, one per graph."""
        warn_of_order(y, self.names)
        return replace(self, y=None if y is None else np.atleast_1d(label_array(y)))

    # ---- conversion (implemented in anysize.io) ------------------------------------------------

    @staticmethod
    def from_networkx(
        graphs: Any,
        color: str | None = None,
        y: ArrayLike | None = None,
        *,
        edge_color: str | None = None,
        features: str | Sequence[str] | None = None,
    ) -> GraphSet:
        """Convert networkx graphs; ``color`` and ``features`` name vertex attributes, ``edge_color`` an edge attribute.

        Edges of a DiGraph have directions.
        """
        from anysize.io.networkx import from_networkx

        return from_networkx(graphs, color=color, y=y, edge_color=edge_color, features=features)

    @staticmethod
    def from_pyg(
        data: Any,
        color: str | None = None,
        y: ArrayLike | None = None,
        *,
        edge_color: str | None = None,
        features: str | Sequence[str] | None = None,
    ) -> GraphSet:
        """Convert PyG graphs; ``color`` names the field that holds colors or one-hot rows, such as ``x``.

        Floating-point ``x`` becomes features, integer or one-hot ``edge_attr`` edge colors.
        """
        from anysize.io.pyg import from_pyg

        return from_pyg(data, color=color, y=y, edge_color=edge_color, features=features)

    @staticmethod
    def from_igraph(
        graphs: Any,
        color: str | None = None,
        y: ArrayLike | None = None,
        *,
        edge_color: str | None = None,
        features: str | Sequence[str] | None = None,
    ) -> GraphSet:
        """Convert igraph graphs; arguments as for `from_networkx`."""
        from anysize.io.igraph import from_igraph

        return from_igraph(graphs, color=color, y=y, edge_color=edge_color, features=features)

    @staticmethod
    def from_rdkit(
        molecules: Any,
        color: str | None = None,
        y: ArrayLike | None = None,
        *,
        atoms: Literal["rich", "element"] | None = None,
    ) -> GraphSet:
        """RDKit molecules; edge colors are the types of bonds.

        Atoms are told apart by element, aromaticity, hydrogens and charge (``atoms="rich"``, the default), by element
        alone (``atoms="element"``), or by a part of these such as ``color="element+charge"``.
        """
        from anysize.io.smiles import from_rdkit

        return from_rdkit(molecules, color=color, y=y, atoms=atoms)

    @staticmethod
    def from_pandas(
        frame: Any, y: str | None = None, *, edge_color: str | None = None, directed: bool | None = None
    ) -> GraphSet:
        """A table of edges with columns source and target, and perhaps graph; ``y`` names the column of labels.

        ``edge_color`` names the column of edge colors.
        """
        from anysize.io.table import from_pandas

        return from_pandas(frame, y=y, edge_color=edge_color, directed=directed)

    @staticmethod
    def from_scipy(
        matrices: Any,
        colors: Any = None,
        y: ArrayLike | None = None,
        *,
        threshold: float | Sequence[float] | None = None,
        density: float | Sequence[float] | None = None,
    ) -> GraphSet:
        """Convert one or several adjacency matrices (scipy sparse, numpy, pandas, torch), or matrices of weights.

        ``threshold`` or ``density`` say which weights are edges.
        """
        from anysize.io.scipy import from_scipy

        return from_scipy(matrices, colors=colors, y=y, threshold=threshold, density=density)

    @staticmethod
    def from_edges(
        edges: Any,
        n_vertices: int | Sequence[int] | None = None,
        colors: Any = None,
        y: ArrayLike | None = None,
        *,
        edge_colors: Any = None,
        features: Any = None,
        directed: bool | None = None,
    ) -> GraphSet:
        """Convert the edges of one graph, as (m, 2) vertex numbers from 0, or of several graphs."""
        from anysize.io.edges import from_edges

        return from_edges(
            edges, n_vertices=n_vertices, colors=colors, y=y, edge_colors=edge_colors, features=features,
            directed=directed,
        )  # fmt: skip

    def to_networkx(self, color: str = "color", edge_color: str = "edge_color") -> list[Any]:
        """Make one `networkx.Graph` (or `DiGraph`) per graph, with color names and features in attributes."""
        from anysize.io.write import to_networkx

        return to_networkx(self, color=color, edge_color=edge_color)

    def to_pyg(self) -> list[Any]:
        """Make one PyG `Data` per graph: ``edge_index``, ``x`` (features, one-hot colors), ``edge_attr``, ``y``."""
        from anysize.io.write import to_pyg

        return to_pyg(self)

    def to_tu(self, folder: PathLike, name: str) -> None:
        """Write the set as a TU folder ``folder/name/name_A.txt``, ..."""
        from anysize.io.write import to_tu

        to_tu(self, folder, name)


def _joined(arrays: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    """The arrays one after the other; None if one of them is."""
    held = [array for array in arrays if array is not None]
    return np.concatenate(held) if len(held) == len(arrays) else None


def _or_undirected(graphs: GraphSet) -> NDArray[np.uint8]:
    return np.zeros(len(graphs.indices), np.uint8) if graphs.directions is None else graphs.directions


def empty_set() -> GraphSet:
    """A set without graphs."""
    return GraphSet(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(0, np.uint32))
