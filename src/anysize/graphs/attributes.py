"""What graphs carry beside their vertices and edges, by name, and what a method leaves unused of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from anysize._text import plural
from anysize.graphs.graphset import GraphSet

VERTEX_COLORS, EDGE_COLORS, DIRECTIONS, FEATURES = "vertex colors", "edge colors", "edge directions", "vertex features"
ATTRIBUTES = (VERTEX_COLORS, EDGE_COLORS, DIRECTIONS, FEATURES)


def attributes_of(graphs: GraphSet) -> tuple[str, ...]:
    """The names of the attributes that tell vertices or edges of these graphs apart.

    >>> attributes_of(GraphSet.from_edges([(0, 1), (1, 2)], edge_colors=["single", "double"], directed=True))
    ('edge colors', 'edge directions')
    """
    held = {
        VERTEX_COLORS: graphs.colors is not None and len(graphs.palette) > 1,
        EDGE_COLORS: graphs.edge_colors is not None and len(graphs.edge_palette) > 1,
        DIRECTIONS: graphs.directions is not None,
        FEATURES: graphs.features is not None and graphs.features.size > 0,
    }
    return tuple(name for name in ATTRIBUTES if held[name])


def unused_attributes(
    graphs: GraphSet, uses: Collection[str], method: str, users: Mapping[str, Collection[str]]
) -> str | None:
    """One sentence about the attributes that a method does not use; None if it uses all that the graphs have.

    Args:
        graphs: the graphs.
        uses: names of the attributes that the method uses.
        method: the name of the method.
        users: attribute -> names of the methods that use it.

    >>> graphs = GraphSet.from_edges([(0, 1), (1, 2)], edge_colors=["single", "double"], features=[1, 2, 3])
    >>> print(unused_attributes(graphs, (), "gin-sum", {EDGE_COLORS: ["wl-kernel", "sizemix"]}))
    gin-sum does not use 2 attributes of these graphs: edge colors (wl-kernel and sizemix do), vertex features (no \
method does).
    """
    unused = [name for name in attributes_of(graphs) if name not in uses]
    if not unused:
        return None
    clauses = [f"{name} ({_who_does(users.get(name, ()))})" for name in unused]
    return f"{method} does not use {plural(len(unused), 'attribute')} of these graphs: {', '.join(clauses)}."


def _who_does(methods: Collection[str]) -> str:
    names = list(methods)
    if not names:
        return "no method does"
    return f"{names[0]} does" if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]} do"
