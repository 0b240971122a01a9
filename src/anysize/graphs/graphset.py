"""GraphSet: many graphs in flat arrays, with what they carry: colors, edge types, directions, features and labels.

All functions of the package take and return this container. A single graph is a set of length one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from anysize._errors import GraphError
from anysize._schema import compact_json
from anysize._text import plural
from anysize._typing import BoolArray, IntArray, PathLike
from anysize.graphs.attributes import ARRAYS, ATTRIBUTES, BOTH_WAYS, IN, OUT, check_features, joined_names
from anysize.graphs.colors import ColorName, check_palette, encode_colors, recode, unite_palettes
from anysize.graphs.labels import (
    is_table,
    known_targets,
    label_array,
    target_position,
    target_table,
    warn_of_order,
)
from anysize.graphs.ragged import offsets, owners, ranges, select_rows

MAX_VERTICES_PER_GRAPH = 1 << 31  # vertex numbers are uint32, with a bit to spare in the kernels

_REVERSED = np.array([BOTH_WAYS, IN, OUT], np.uint8)
_Key: TypeAlias = slice | IntArray | BoolArray


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
        y: one label per graph, or None; with several targets a row per graph, NaN or None where a target is not known.
        targets: the names of several targets; empty with one label per graph.
        names: one name per graph, or None.
        edge_colors: position in ``edge_palette`` for every entry of ``indices``: at vertex u and neighbor v that of the
            edge from u to v, or of the edge from v to u if that is the only one; None for edges without colors.
        edge_palette: names of edge colors, sorted like ``palette``.
        directions: for every entry of ``indices``: `BOTH_WAYS`, `OUT` (from the vertex to the neighbor) or `IN`; None
            if all edges are undirected.
        features: one row of numbers per vertex, or None.
        feature_names: a name for every column of ``features``, or nothing.
        vertex_names: what the source calls every vertex, integers or strings; None if that is 0, 1, ... in each graph.

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
    targets: tuple[str, ...] = ()
    vertex_names: NDArray[Any] | None = None

    def __post_init__(self) -> None:
        wrong, lengths = [], []
        for name, per, dtype, _, _ in ARRAYS:
            array = getattr(self, name)
            if array is None:
                continue
            if dtype is not None and array.dtype is not dtype and array.dtype != dtype:
                wrong.append(f"{name} has dtype {array.dtype}, expected {dtype}")
            has_offsets = name in ("first", "indptr")
            dimensions = 2 if name == "features" or (name == "y" and self.targets) else 1
            if array.ndim != dimensions or (has_offsets and not len(array)):
                labels = "a row of targets per graph" if self.targets else "one label per graph"
                expected = {"y": labels, "features": "a row for every vertex"}.get(name, "a flat array")
                raise GraphError(f"{name} has shape {array.shape}; expected {expected}.")
            lengths.append((name, len(array) - has_offsets, per))
        if not wrong:
            if self.names is not None:
                lengths.append(("names", len(self.names), "graph"))
            if self.feature_names:
                lengths.append(("feature_names", len(self.feature_names), "column"))
            if self.targets:
                lengths.append(("targets", len(self.targets), "target"))
            amounts = {
                "graph": len(self.first) - 1, "vertex": int(self.first[-1]), "entry": int(self.indptr[-1]),
                "column": 0 if self.features is None else self.features.shape[1],
                "target": 0 if self.y is None else self.y.shape[-1],
            }  # fmt: skip
            for name, length, per in lengths:
                if length != amounts[per]:
                    wrong.append(f"{name} has length {length}, expected {amounts[per]}")
            for name, held in (("feature_names", self.feature_names), ("targets", self.targets)):
                if len(set(held)) < len(held):  # columns are found by these names
                    wrong.append(f"{name} has {max(held, key=held.count)!r} more than once")
        if wrong:
            raise GraphError(f"These arrays do not make a GraphSet: {'; '.join(wrong)}.")

    def check(self) -> None:
        """Raise a GraphError unless the arrays are simple graphs: compiled code trusts them.

        Whatever reads or converts graphs makes such arrays; this is for sets that were made from arrays directly.
        """
        vertices, entries = int(self.first[-1]), len(self.indices)
        try:
            for name, starts in (("first", self.first), ("indptr", self.indptr)):
                if starts[0] != 0 or (starts[1:] < starts[:-1]).any():
                    raise ValueError(f"{name}: expected numbers that ascend from 0")
            largest = int(self.sizes.max(initial=1))
            if (self.indices >= largest).any():
                raise ValueError(f"indices: expected numbers of at most {largest - 1}; got {self.indices.max()}")
            short: Any = np.int32 if max(vertices, entries) < 2**31 else np.int64
            neighbor = self.neighbors.astype(short, copy=False)
            if len(self) > 1 and (neighbor >= np.repeat(self.first[1:], np.diff(self.indptr[self.first]))).any():
                raise ValueError("indices: expected vertices of the same graph")
            matrix = csr_array((np.ones(entries, np.int8), neighbor, self.indptr), shape=(vertices, vertices))
            if not matrix.has_canonical_format:
                raise ValueError("indices: expected the neighbors of every vertex in ascending order, each once")
            reverse = matrix.tocsc()
            same = np.array_equal(reverse.indptr, matrix.indptr) and np.array_equal(reverse.indices, matrix.indices)
            if not same or (neighbor == np.repeat(np.arange(vertices, dtype=short), self.degrees)).any():
                raise ValueError("indices: expected every edge in both directions, and no self loops")
            if self.colors is not None and vertices and self.colors.max() >= len(self.palette):
                raise ValueError(f"colors: expected positions in the palette of {len(self.palette)} colors")
            if self.has_edge_types:
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
        return self.first[1:] - self.first[:-1]

    @property
    def edge_counts(self) -> IntArray:
        """Undirected edges per graph."""
        ends = self.indptr[self.first]
        return (ends[1:] - ends[:-1]) // 2

    @property
    def degrees(self) -> IntArray:
        """Degree of every vertex of the set."""
        return self.indptr[1:] - self.indptr[:-1]

    @property
    def has_edge_types(self) -> bool:
        """Whether edges have colors or directions."""
        return self.edge_colors is not None or self.directions is not None

    @property
    def neighbors(self) -> IntArray:
        """The neighbors in ``indices``, numbered inside the whole set."""
        if len(self) == 1:
            return self.indices.astype(np.int64)
        return np.repeat(self.first[:-1], np.diff(self.indptr[self.first])) + self.indices

    @property
    def reverse_entries(self) -> IntArray:
        """For every entry of ``indices``, at vertex u and neighbor v, the position of the entry at v and u."""
        # Entries are sorted by (vertex, neighbor); sorted by (neighbor, vertex) they come in the order of the reverses.
        return np.argsort(self.neighbors, kind="stable")

    def edges(self, graph: int = 0) -> IntArray:
        """Edges of one graph as a sorted (m, 2) array with u < v."""
        part = self[graph]
        ends = np.stack([owners(part.indptr), part.indices.astype(np.int64)], axis=1)
        return ends[ends[:, 0] < ends[:, 1]]

    def arcs(self, graph: int = 0) -> IntArray:
        """Edges of one graph as a sorted (m, 2) array of ordered pairs: both pairs of an edge without direction.

        Examples:
            >>> GraphSet.from_edges([(0, 1), (1, 2), (2, 1)]).arcs().tolist()
            [[0, 1], [1, 2], [2, 1]]
        """
        part = self[graph]
        ends = np.stack([owners(part.indptr), part.indices.astype(np.int64)], axis=1)
        return ends if part.directions is None else ends[part.directions != IN]

    def arc_color_names(self, graph: int = 0) -> tuple[ColorName, ...]:
        """The edge color names of one graph, one per row of `arcs`; an empty tuple if edges have no colors."""
        part = self[graph]
        if part.edge_colors is None:
            return ()
        codes = part.edge_colors if part.directions is None else part.edge_colors[part.directions != IN]
        return tuple(self.edge_palette[code] for code in codes)

    def color_names(self, graph: int = 0) -> tuple[ColorName, ...]:
        """The color name of every vertex of one graph; empty if the set has no colors."""
        part = self[graph]
        return () if part.colors is None else tuple(self.palette[code] for code in part.colors)

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
        if self.targets:
            parts.append(plural(len(self.targets), "target"))
        elif self.y is not None:
            parts.append(plural(len(np.unique(self.y)), "class", "classes"))
        return f"GraphSet({', '.join(parts)})"

    def equals(self, other: GraphSet) -> bool:
        """Whether both sets have the same graphs, attributes and their names, labels and graph names, in order."""
        if not isinstance(other, GraphSet) or self.names != other.names:
            return False
        for name, _, _, palette, _ in ARRAYS:
            ours, theirs = getattr(self, name), getattr(other, name)
            if (ours is None) != (theirs is None):
                return False
            if ours is not None and not np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f"):
                return False
            if palette and getattr(self, palette) != getattr(other, palette):
                return False
        return True

    # ---- indexing and concatenation ------------------------------------------------------------

    def __getitem__(self, key: int | slice | ArrayLike) -> GraphSet:
        """Select one graph (an integer) or several (a slice, integers, booleans) as a new set."""
        rows = select_rows(key, len(self))
        if isinstance(rows, slice):
            v0, v1 = int(self.first[rows.start]), int(self.first[rows.stop])
            e0, e1 = int(self.indptr[v0]), int(self.indptr[v1])
            first, indptr = self.first[rows.start : rows.stop + 1] - v0, self.indptr[v0 : v1 + 1] - e0
            return self._part(first, indptr, self.indices[e0:e1], rows, slice(v0, v1), slice(e0, e1))
        sizes = self.sizes[rows]
        vertices = ranges(self.first[rows], sizes)
        degrees = self.degrees[vertices]
        entries = ranges(self.indptr[vertices], degrees)
        return self._part(offsets(sizes), offsets(degrees), self.indices[entries], rows, vertices, entries)

    def _part(
        self, first: IntArray, indptr: IntArray, indices: NDArray[np.uint32], rows: _Key, vertices: _Key, entries: _Key
    ) -> GraphSet:
        """The set with this structure, and the attributes of these graphs, vertices and entries of ``indices``."""
        keys, fields = {"graph": rows, "vertex": vertices, "entry": entries}, {}
        for name, per, _, palette, _ in ATTRIBUTES:
            array = getattr(self, name)
            if array is not None:
                fields[name] = array[keys[per]]
                if palette:
                    fields[palette] = getattr(self, palette)
        if self.directions is not None and not fields["directions"].any():
            fields["directions"] = None
        if self.names is not None:
            fields["names"] = self.names[rows] if isinstance(rows, slice) else tuple(np.array(self.names, object)[rows])
        return GraphSet(first, indptr, indices, **fields)

    def __iter__(self) -> Iterator[GraphSet]:
        return (self[graph] for graph in range(len(self)))

    def __add__(self, other: GraphSet) -> GraphSet:
        return GraphSet.concatenate([self, other])

    @staticmethod
    def concatenate(sets: Iterable[GraphSet]) -> GraphSet:
        """Join sets, one after the other; palettes are united by name.

        Either all sets are colored or none, and so for edge colors and features. Sets without directions have
        undirected edges. Labels and graph names are kept if every set has them.
        """
        sets = list(sets)
        if len(sets) < 2:
            return sets[0] if sets else empty_set()
        filled = [s for s in sets if len(s)] or sets[:1]
        for name, words in (("colors", "colors"), ("edge_colors", "edge colors"), ("features", "features")):
            if len({getattr(s, name) is None for s in filled}) > 1:
                raise GraphError(
                    f"Some of these graph sets have {words} and some have none; give all of them {words}, "
                    f"or call without_{name}() on those that have."
                )
        if len({(s.feature_names, s.features.shape[1]) for s in filled if s.features is not None}) > 1:
            raise GraphError("These graph sets have different vertex features; call without_features() on each.")
        if len({s.targets for s in filled if s.y is not None}) > 1:
            raise GraphError("These graph sets have different targets; give all of them the same by with_y.")
        palette, edge_palette = (unite_palettes(getattr(s, n) for s in filled) for n in ("palette", "edge_palette"))
        united = [s.with_palette(palette).with_edge_palette(edge_palette) for s in filled]
        fields: dict[str, Any] = {"palette": palette, "edge_palette": edge_palette}
        for name, *_ in ATTRIBUTES:
            arrays = [getattr(s, name) for s in united]
            if name == "directions" and any(array is not None for array in arrays):
                undirected = [np.zeros(len(s.indices), np.uint8) for s in united]
                arrays = [none if array is None else array for array, none in zip(arrays, undirected, strict=True)]
            fields[name] = None if any(array is None for array in arrays) else np.concatenate(arrays)
        if any(s.vertex_names is not None for s in united):
            fields["vertex_names"] = joined_names([s.vertex_names for s in united], [s.sizes for s in united])
        return GraphSet(
            offsets(np.concatenate([s.sizes for s in united])),
            offsets(np.concatenate([s.degrees for s in united])),
            np.concatenate([s.indices for s in united]),
            names=tuple(n for s in united for n in s.names or ()) if all(s.names is not None for s in united) else None,
            feature_names=united[0].feature_names,
            targets=united[0].targets if fields["y"] is not None else (),
            **fields,
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
        return self if self.colors is None else replace(self, colors=None, palette=())

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
        """The same graphs with these labels, one per graph.

        Or with several targets: a data frame, an array or a list with a row for every graph, NaN or None where a target
        is not known. Targets are named by the columns, or 0, 1, ...
        """
        if self.names is not None:
            warn_of_order(y, self.names)
        if is_table(y):
            table, targets = target_table(y)
            return replace(self, y=table, targets=targets)
        return replace(self, y=None if y is None else np.atleast_1d(label_array(y)), targets=())

    def target(self, name: str) -> GraphSet:
        """The graphs that have one of several targets, with it as their label.

        Examples:
            >>> paths = GraphSet.from_edges([[(0, 1)], [(0, 1), (1, 2)]]).with_y([[0.5, None], [1.5, 2]])
            >>> paths.target("1").y.tolist()
            [2]
        """
        if self.y is None or not self.targets:
            raise GraphError(f"There is no target {name!r}: these graphs have one label each, or none.")
        rows, labels = known_targets(self.y, target_position(self.targets, name))
        return replace(self, y=None, targets=())[rows].with_y(labels)

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
        """Convert one or several networkx graphs; vertices are numbered in the order of iteration.

        Edges of a DiGraph keep their directions, if some edge has no reverse; parallel edges are one. Attributes that
        no argument names are not used; one warning names those that distinguish edges or vertices.

        Args:
            graphs: a graph, or an iterable of graphs.
            color: the vertex attribute that holds the color. Default: no colors.
            y: one label per graph.
            edge_color: the edge attribute that holds the color of the edge, its type. Default: no edge colors.
            features: the vertex attribute, or several, with numbers or rows of numbers. Default: no features.

        Examples:
            >>> import networkx as nx
            >>> GraphSet.from_networkx([nx.path_graph(3), nx.complete_graph(4)], y=[0, 1])
            GraphSet(2 graphs, 7 vertices, 8 edges, 2 classes)
        """
        from anysize.io.convert import convert
        from anysize.io.networkx import NETWORKX
        from anysize.io.reader import ReadOptions

        return convert(NETWORKX, graphs, ReadOptions(color=color, edge_color=edge_color, features=features), y)

    @staticmethod
    def from_pyg(
        data: Any,
        color: str | None = None,
        y: ArrayLike | None = None,
        *,
        edge_color: str | None = None,
        features: str | Sequence[str] | None = None,
    ) -> GraphSet:
        """Convert PyG graphs: one `Data`, several, a dataset, a `Batch`, several of them, or a `DataLoader`.

        If ``edge_index`` lacks the reverse of some edges, edges have directions. One warning names the fields and
        labels that are not used.

        Args:
            data: the graphs; ``edge_index`` holds an edge without direction in both directions, as PyG does.
            color: the field with one integer or string per vertex (one column allowed) or one-hot rows, such as
                ``"x"``. Default: ``x`` if it holds one-hot rows. Pick one column of a field with several first:
                ``data.atom = data.x[:, 0]``.
            y: one label per graph. Default: the ``y`` of the graphs, if each holds exactly one number.
            edge_color: the field with one integer or string per edge, one-hot rows, or several columns of integers,
                which become one color. Default: ``edge_attr`` if it is like that.
            features: the field, or several, with the features of vertices. Default: ``x`` if it holds floating-point
                numbers that are not one-hot and is not the color; ``[]`` for none.
        """
        from anysize.io.convert import convert
        from anysize.io.pyg import PYG
        from anysize.io.reader import ReadOptions

        return convert(PYG, data, ReadOptions(color=color, edge_color=edge_color, features=features), y)

    @staticmethod
    def from_igraph(
        graphs: Any,
        color: str | None = None,
        y: ArrayLike | None = None,
        *,
        edge_color: str | None = None,
        features: str | Sequence[str] | None = None,
    ) -> GraphSet:
        """Convert igraph graphs; arguments as for `from_networkx`.

        Examples:
            >>> import igraph
            >>> GraphSet.from_igraph(igraph.Graph.Ring(5)).edge_counts.tolist()
            [5]
        """
        from anysize.io.convert import convert
        from anysize.io.igraph import IGRAPH
        from anysize.io.reader import ReadOptions

        return convert(IGRAPH, graphs, ReadOptions(color=color, edge_color=edge_color, features=features), y)

    @staticmethod
    def from_rdkit(
        molecules: Any,
        color: str | None = None,
        y: ArrayLike | None = None,
        *,
        atoms: Literal["rich", "element"] | None = None,
        edge_color: str | None = None,
    ) -> GraphSet:
        """Convert RDKit molecules: atoms become vertices and bonds edges; colors say what an atom or a bond is.

        Args:
            molecules: an RDKit ``Mol``, or an iterable of them.
            color: what atoms are told apart by: ``"element"``, or joined to it by + any of ``aromatic``, ``hydrogens``
                (the number attached), ``charge`` and ``ring``. ``"element+aromatic+charge"`` makes colors such as C,
                c (aromatic), N+ and O-.
            y: one label per molecule.
            atoms: in place of ``color``: "rich" (the default) for element, aromaticity, hydrogens and charge, or
                "element".
            edge_color: what bonds are told apart by: ``"type"`` (the default: single, double, triple, aromatic, ...) or
                ``"type+ring"``.

        Examples:
            >>> from rdkit.Chem import MolFromSmiles
            >>> GraphSet.from_rdkit(MolFromSmiles("c1ccccc1C(=O)[O-]"), color="element+aromatic+charge").palette
            ('C', 'O', 'O-', 'c')
        """
        from anysize.io.convert import convert
        from anysize.io.reader import ReadOptions
        from anysize.io.smiles import RDKIT

        return convert(RDKIT, molecules, ReadOptions(color=color, atoms=atoms, edge_color=edge_color), y)

    @staticmethod
    def from_pandas(
        frame: Any, y: str | None = None, *, edge_color: str | None = None, directed: bool | None = None
    ) -> GraphSet:
        """Convert a DataFrame with one row per edge and the columns ``source`` and ``target``: vertex numbers or names.

        With a column ``graph`` a frame holds several graphs, in the order in which they appear. Vertices are numbered
        by value (numbers) or in order of appearance (names).

        Args:
            frame: the table, or a list of tables. Other common names of the two columns (from and to, src and dst) are
                recognized.
            y: the column with the label, the same in all rows of a graph.
            edge_color: the column with the color of each edge. Default: a column such as ``type`` or ``relation``.
            directed: whether an edge without its reverse points from source to target. Default: only if some edges of
                a graph are given in both directions and others are not.

        Examples:
            >>> import pandas as pd
            >>> table = pd.DataFrame({"source": ["ann", "bob"], "target": ["bob", "cat"]})
            >>> GraphSet.from_pandas(table).edges().tolist()
            [[0, 1], [1, 2]]
        """
        from anysize.io.convert import convert
        from anysize.io.reader import ReadOptions
        from anysize.io.table import EDGE_TABLE

        return convert(EDGE_TABLE, frame, ReadOptions(y=y, edge_color=edge_color, directed=directed))

    @staticmethod
    def from_scipy(
        matrices: Any,
        colors: Any = None,
        y: ArrayLike | None = None,
        *,
        threshold: float | Sequence[float] | None = None,
        density: float | Sequence[float] | None = None,
    ) -> GraphSet:
        """Convert square adjacency matrices (scipy sparse, numpy, pandas or torch); any non-zero entry is an edge.

        A matrix with entries that lack their reverse is a directed graph: row to column. Weights are not used, and a
        warning says so if they differ. A matrix with weights for all pairs, such as correlations, needs a threshold or
        a density.

        Args:
            matrices: a matrix, or an iterable of matrices. The diagonal holds no edges.
            colors: one color per vertex (or one-hot rows); for several matrices a list of such, one per matrix.
            y: one label per graph.
            threshold: pairs with a larger weight, without its sign, are edges. With several thresholds the color of an
                edge is the number of thresholds that it passes.
            density: the share of pairs that are edges: those with the largest weights, without their signs (and all
                that tie with the last of them). Several: as for the threshold.

        Examples:
            >>> GraphSet.from_scipy(np.array([[0, 2, 0], [2, 0, 2], [0, 2, 0]])).edges().tolist()
            [[0, 1], [1, 2]]
            >>> weights = np.array([[1, 0.9, 0.2], [0.9, 1, -0.6], [0.2, -0.6, 1]])
            >>> GraphSet.from_scipy(weights, threshold=0.5).edges().tolist()
            [[0, 1], [1, 2]]
        """
        from anysize.io.matrices import from_scipy

        return from_scipy(matrices, colors, y, threshold=threshold, density=density)

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
        """Convert the edges of one graph or of several.

        Args:
            edges: (m, 2) vertex numbers from 0, each edge once or in both directions; or a list of such arrays.
            n_vertices: number of vertices; for several graphs a list. Default: the number of colors, or without colors
                the largest vertex number plus 1.
            colors: one color per vertex (or one-hot rows); for several graphs a list of such, one per graph.
            y: one label per graph.
            edge_colors: one color per edge, its type; for several graphs a list of such, one per graph.
            features: a row of numbers per vertex; for several graphs a list of such, one per graph.
            directed: whether an edge without its reverse points from its first to its second vertex. Default: only if
                some edges of a graph are given in both directions and others are not.

        Examples:
            >>> GraphSet.from_edges([(0, 1), (1, 2)], n_vertices=4)
            GraphSet(1 graph, 4 vertices, 2 edges)
            >>> GraphSet.from_edges([[(0, 1)], [(0, 1), (1, 2)]], y=["a", "b"])
            GraphSet(2 graphs, 5 vertices, 3 edges, 2 classes)
        """
        from anysize.io.edges import from_edges

        return from_edges(edges, n_vertices, colors, y, edge_colors=edge_colors, features=features, directed=directed)

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


def empty_set() -> GraphSet:
    """A set without graphs."""
    return GraphSet(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(0, np.uint32))


def content_digest(graphs: GraphSet) -> bytes:
    """SHA-256 of the edges and color names of graphs, independent of color codes and unused colors."""
    if graphs.colors is not None:
        used = np.flatnonzero(np.bincount(graphs.colors))
        graphs = graphs.with_palette([graphs.palette[code] for code in used])
    head = {
        "graphs": len(graphs),
        "vertices": len(graphs.indptr) - 1,
        "neighbors": len(graphs.indices),
        "colors": None if graphs.colors is None else list(graphs.palette),
    }
    digest = sha256(f"{compact_json(head)}\n".encode())
    arrays = ((graphs.first, "<i8"), (graphs.indptr, "<i8"), (graphs.indices, "<u4"), (graphs.colors, "<u2"))
    for array, dtype in arrays:
        if array is not None:
            digest.update(np.ascontiguousarray(array, dtype).data)
    return digest.digest()


def attributes_digest(graphs: GraphSet) -> bytes:
    """SHA-256 of the edge colors, directions and features of graphs, which counts do not use; empty without any."""
    if not graphs.has_edge_types and graphs.features is None:
        return b""
    if graphs.edge_colors is not None:
        used = np.flatnonzero(np.bincount(graphs.edge_colors))
        graphs = graphs.with_edge_palette([graphs.edge_palette[code] for code in used])
    digest = sha256(f"{compact_json([list(graphs.edge_palette), list(graphs.feature_names)])}\n".encode())
    arrays = (("colors", graphs.edge_colors, "<u2"), ("directions", graphs.directions, "|u1"))
    for name, array, dtype in (*arrays, ("features", graphs.features, "<f4")):
        if array is not None:
            digest.update(f"{name} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array, dtype).tobytes())
    return digest.digest()
