"""What graphs carry beside their vertices and edges: the table of attributes, the check of features, types of edges.

``ATTRIBUTES`` is the one description: parts, sums and checks of a `GraphSet` go through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError
from anysize._typing import IntArray
from anysize.graphs.colors import ColorName, color_order
from anysize.graphs.ragged import offsets, owners

if TYPE_CHECKING:
    from anysize.graphs.graphset import GraphSet

VERTEX_COLORS, EDGE_COLORS, DIRECTIONS, FEATURES = "vertex colors", "edge colors", "edge directions", "vertex features"
BOTH_WAYS, OUT, IN = 0, 1, 2  # directions of an edge, seen from one of its ends


class Attribute(NamedTuple):
    """An array of a `GraphSet`.

    Attributes:
        name: the field that holds it; None there if the set has no such attribute.
        per: what has one row each: a graph, a vertex, or an entry of ``indices`` (an edge, at one of its ends).
        dtype: None for any.
        palette: the field with the names of its codes or columns; empty if there are none.
        title: how messages name what vertices or edges are told apart by.
    """

    name: str
    per: str
    dtype: np.dtype[Any] | None
    palette: str = ""
    title: str = ""


ATTRIBUTES = (
    Attribute("y", "graph", None, "targets"),
    Attribute("colors", "vertex", np.dtype(np.uint16), "palette", VERTEX_COLORS),
    Attribute("edge_colors", "entry", np.dtype(np.uint16), "edge_palette", EDGE_COLORS),
    Attribute("directions", "entry", np.dtype(np.uint8), "", DIRECTIONS),
    Attribute("features", "vertex", np.dtype(np.float32), "feature_names", FEATURES),
    Attribute("vertex_names", "vertex", None),
)
ARRAYS = (  # of a set
    Attribute("first", "graph", np.dtype(np.int64)),  # one row more
    Attribute("indptr", "vertex", np.dtype(np.int64)),  # likewise
    Attribute("indices", "entry", np.dtype(np.uint32)),
    *ATTRIBUTES,
)
TITLES = tuple(attribute.title for attribute in ATTRIBUTES if attribute.title)


def joined_names(names: Sequence[NDArray[Any] | None], sizes: Iterable[IntArray]) -> NDArray[Any]:
    """The names of the vertices of several sets, at least one with names; others are named by their numbers.

    ``sizes``: those of the graphs of each set.
    """
    parts = [vertex_numbers(of) if held is None else held for held, of in zip(names, sizes, strict=True)]
    if len({part.dtype.kind == "O" for part in parts}) > 1:
        parts = [part.astype(str).astype(object) for part in parts]
    return np.concatenate(parts)


def vertex_numbers(sizes: IntArray) -> IntArray:
    """The number of every vertex in its graph."""
    first = offsets(sizes)
    return np.arange(int(first[-1])) - first[owners(first)]


def check_features(values: Any, vertices: int, what: str) -> NDArray[np.float32]:
    """A (vertices, features) table of finite numbers; a flat list of numbers is one column.

    >>> check_features([1, 2.5], 2, "features").tolist()
    [[1.0], [2.5]]
    """
    try:
        rows = np.asarray(values)
    except ValueError:
        raise GraphError(f"{what}: expected a row of numbers per vertex; got rows of different lengths.") from None
    if rows.ndim == 1:
        rows = rows[:, None]
    if rows.ndim != 2 or len(rows) != vertices or (rows.size and rows.dtype.kind not in "biuf"):
        raise GraphError(
            f"{what}: expected a row of numbers for each of {vertices} vertices; got {rows.dtype} of shape "
            f"{rows.shape}."
        )
    with np.errstate(over="ignore"):
        rows = rows.astype(np.float32)
    if not np.isfinite(rows).all():
        vertex, column = np.argwhere(~np.isfinite(rows))[0]
        raise GraphError(
            f"{what}: vertex {vertex}, column {column} has {rows[vertex, column]}; expected finite numbers of 32 bits."
        )
    return rows


# ---- types of edges: what a vertex sees, the color of an edge and its direction together ------------------


class EdgeType(NamedTuple):
    """What a vertex sees of an edge: its color, the color of the edge back if there is one, and the direction."""

    color: ColorName | None
    back: ColorName | None
    direction: int

    @property
    def reverse(self) -> EdgeType:
        """The same edge, seen from its other end."""
        if self.direction == BOTH_WAYS:
            return EdgeType(self.back, self.color, BOTH_WAYS)
        return EdgeType(self.color, None, IN if self.direction == OUT else OUT)

    def label(self, directed: bool) -> str:
        """A few characters before the name of a neighbor, with an arrow if there are directions.

        >>> EdgeType("single", "single", BOTH_WAYS).label(directed=False)
        'single '
        >>> EdgeType(None, None, OUT).label(directed=True)
        '→'
        """
        arrow = {BOTH_WAYS: "↔", OUT: "→", IN: "←"}[self.direction] if directed else ""
        if self.color is None:
            return arrow
        has_two = self.back is not None and self.back != self.color
        return f"{arrow}{self.color}/{self.back} " if has_two else f"{arrow}{self.color} "


def edge_type_order(kind: EdgeType) -> tuple[Any, ...]:
    """Sort key of types: by color, color of the edge back, direction; no color before all colors."""
    return (*(() if name is None else color_order(name) for name in kind[:2]), kind.direction)


def edge_types(graphs: GraphSet) -> tuple[IntArray, list[EdgeType]] | None:
    """For every entry of ``indices`` the position of its type, and the types in use; None if edges have no attributes.

    >>> from anysize.graphs.graphset import GraphSet
    >>> codes, types = edge_types(GraphSet.from_edges([(0, 1), (1, 2)], edge_colors=["a", "b"], directed=True))
    >>> codes.tolist(), [(kind.color, kind.direction) for kind in types]
    ([0, 1, 2, 3], [('a', 1), ('a', 2), ('b', 1), ('b', 2)])
    """
    colors, directions = graphs.edge_colors, graphs.directions
    if colors is None and directions is None:
        return None
    amount = max(len(graphs.edge_palette), 1)
    direction = np.zeros(len(graphs.indices), np.int64) if directions is None else directions.astype(np.int64)
    color = np.zeros(len(direction), np.int64) if colors is None else colors.astype(np.int64)
    back = color if colors is None else color[graphs.reverse_entries]
    used, codes = np.unique((color * amount + back) * 3 + direction, return_inverse=True)
    name: tuple[ColorName | None, ...] = (None,) if colors is None else graphs.edge_palette
    types = [
        EdgeType(name[pair // amount], name[pair % amount] if way == BOTH_WAYS else None, way)
        for pair, way in (divmod(number, 3) for number in used.tolist())
    ]
    return codes.astype(np.int64), types


def with_attributes_of(graphs: GraphSet, types: Sequence[EdgeType] | None) -> GraphSet:
    """New graphs with the attributes of edges that training graphs had, by their ``types`` (None: none).

    Other attributes are left out; edges without direction point both ways. A GraphError if edge colors are missing.

    >>> from anysize.graphs.graphset import GraphSet
    >>> graphs = GraphSet.from_edges([(0, 1), (1, 2)], edge_colors=["a", "b"])
    >>> directed = with_attributes_of(graphs, [EdgeType(None, None, OUT), EdgeType(None, None, IN)])
    >>> directed.edge_colors, directed.directions.tolist()
    (None, [0, 0, 0, 0])
    """
    colored, directed = attributes_of(types)
    if colored and graphs.edge_colors is None and len(graphs.indices):
        raise GraphError(
            "The training graphs had edge colors and these graphs have none; train on graphs.without_edge_colors(), or "
            "read the edge colors of these graphs."
        )
    if not colored:
        graphs = graphs.without_edge_colors()
    elif graphs.edge_colors is None:  # no edges
        graphs = replace(graphs, edge_colors=np.zeros(0, np.uint16))
    if not directed:
        graphs = graphs.without_directions()
    if graphs.directions is None and (directed or (types is not None and not colored)):
        graphs = replace(graphs, directions=np.zeros(len(graphs.indices), np.uint8))
    return graphs


def attributes_of(types: Sequence[EdgeType] | None) -> tuple[bool, bool]:
    """Whether edges of these types have colors, and whether some of them point one way."""
    kinds = types or ()
    return any(kind.color is not None for kind in kinds), any(kind.direction != BOTH_WAYS for kind in kinds)
