"""Graphs of igraph. The library is not imported: its graphs are recognized by their class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

from numpy.typing import ArrayLike

from anysize.graphs.graphset import GraphSet
from anysize.io.dropped import IDENTIFIERS, missing, unused_edges, unused_vertices, varying, warn_dropped
from anysize.io.objects import GraphType, attribute_names, check_attribute_name, stack_features
from anysize.io.parsed import ParsedGraph, edge_array, join_graphs

IGRAPH = GraphType("an igraph graph", (("igraph", "Graph"),))


def from_igraph(
    graphs: Any,
    color: str | None = None,
    y: ArrayLike | None = None,
    *,
    edge_color: str | None = None,
    features: str | Sequence[str] | None = None,
    warn: bool = True,
) -> GraphSet:
    """Convert one or several igraph graphs; arguments as for `from_networkx`.

    >>> import igraph
    >>> from_igraph(igraph.Graph.Ring(5)).edge_counts.tolist()
    [5]
    """
    check_attribute_name(color)
    check_attribute_name(edge_color, "edge_color")
    names = attribute_names(features)
    items = IGRAPH.as_list(graphs)
    parsed = [_parse(item, graph, color, edge_color, names) for graph, item in enumerate(items)]
    converted = join_graphs(parsed, y, f"attribute {color!r}")
    if warn:
        warn_dropped(_unused(items, color, edge_color, names))
    return converted


def _parse(item: Any, graph: int, color: str | None, edge_color: str | None, features: Sequence[str]) -> ParsedGraph:
    ends = edge_array(item.get_edgelist(), graph)
    colors = None if color is None else _values(item.vs, graph, color, "color")
    edge_colors = None if edge_color is None else _values(item.es, graph, edge_color, "edge_color")
    blocks = [(name, _values(item.vs, graph, name, "features")) for name in features]
    return ParsedGraph(
        item.vcount(), ends[:, 0], ends[:, 1], colors, edge_colors, *stack_features(blocks, graph),
        directed=item.is_directed(),
    )  # fmt: skip


def _values(elements: Any, graph: int, name: str, argument: str) -> list[Any]:
    """The values of an attribute of all vertices or edges."""
    values = list(elements[name]) if name in elements.attributes() else [None] * len(elements)
    kind = "edge" if argument == "edge_color" else "vertex"
    for number, value in enumerate(values):
        if value is None:
            raise missing(graph, f"{kind} {number}", name, argument)
    return values


def _unused(items: Sequence[Any], color: str | None, edge_color: str | None, features: Sequence[str]) -> Iterable[str]:
    if color is None and not features:
        attributes = varying(attributes for item in items for attributes in _attributes(item.vs))
        yield from unused_vertices(attributes - IDENTIFIERS)
    if edge_color is None:
        yield from unused_edges(varying(attributes for item in items for attributes in _attributes(item.es)))


def _attributes(elements: Any) -> Iterable[Mapping[str, Any]]:
    """The attributes of each vertex or edge."""
    if not elements.attributes():
        return repeat({}, len(elements))
    return (element.attributes() for element in elements)
