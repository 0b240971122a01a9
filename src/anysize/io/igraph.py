"""Graphs of igraph. The library is not imported: its graphs are recognized by their class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from numpy.typing import ArrayLike

from anysize.graphs.graphset import GraphSet
from anysize.io.dropped import (
    IDENTIFIERS,
    directions,
    missing_color,
    unused_edges,
    unused_vertices,
    varying,
    warn_dropped,
)
from anysize.io.objects import GraphType, check_attribute_name
from anysize.io.parsed import ParsedGraph, edge_array, join_graphs

IGRAPH = GraphType("an igraph graph", (("igraph", "Graph"),))


def from_igraph(graphs: Any, color: str | None = None, y: ArrayLike | None = None, *, warn: bool = True) -> GraphSet:
    """Convert one or several igraph graphs; arguments as for `from_networkx`.

    >>> import igraph
    >>> from_igraph(igraph.Graph.Ring(5)).edge_counts.tolist()
    [5]
    """
    check_attribute_name(color)
    items = IGRAPH.as_list(graphs)
    parsed = [_parse(item, graph, color) for graph, item in enumerate(items)]
    converted = join_graphs(parsed, y, f"attribute {color!r}")
    if warn:
        warn_dropped(_unused(items, color))
    return converted


def _parse(item: Any, graph: int, color: str | None) -> ParsedGraph:
    ends = edge_array(item.get_edgelist(), graph)
    colors = None
    if color is not None:
        known = color in item.vs.attributes()
        colors = list(item.vs[color]) if known else [None] * item.vcount()
        for vertex, value in enumerate(colors):
            if value is None:
                raise missing_color(graph, vertex, color)
    return ParsedGraph(item.vcount(), ends[:, 0], ends[:, 1], colors)


def _unused(items: Sequence[Any], color: str | None) -> Iterable[str]:
    if color is None:
        attributes = varying(attributes for item in items for attributes in _attributes(item.vs))
        yield from unused_vertices(attributes - IDENTIFIERS)
    yield from unused_edges(varying(attributes for item in items for attributes in _attributes(item.es)))
    yield from directions(item.get_edgelist() for item in items if item.is_directed())


def _attributes(elements: Any) -> Iterable[Mapping[str, Any]]:
    """The attributes of each vertex or edge."""
    if not elements.attributes():
        return repeat({}, len(elements))
    return (element.attributes() for element in elements)
