"""Types of edges as a vertex sees them: the color of an edge and its direction together, as one code per entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from anysize._errors import GraphError
from anysize._typing import IntArray
from anysize.graphs.colors import ColorName, color_order
from anysize.graphs.graphset import BOTH_WAYS, IN, OUT, GraphSet


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
