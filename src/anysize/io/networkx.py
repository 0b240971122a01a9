"""Graphs of networkx. The library is not imported: its graphs are recognized by their class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

NETWORKX = GraphType("a networkx graph", (("networkx", "Graph"),))


def from_networkx(graphs: Any, color: str | None = None, y: ArrayLike | None = None, *, warn: bool = True) -> GraphSet:
    """Convert one or several networkx graphs; vertices are numbered in the order of iteration.

    Directions, edge attributes and (without ``color``) vertex attributes are not used; one warning names those that
    distinguish edges or vertices.

    Args:
        graphs: a graph, or an iterable of graphs. Parallel edges are dropped.
        color: the vertex attribute that holds the color. Default: no colors.
        y: one label per graph.
        warn: whether to warn about what is not used.

    >>> import networkx as nx
    >>> from_networkx([nx.path_graph(3), nx.complete_graph(4)], y=[0, 1])
    GraphSet(2 graphs, 7 vertices, 8 edges, 2 classes)
    """
    check_attribute_name(color)
    items = NETWORKX.as_list(graphs)
    parsed = [parse_graph(item, graph, color) for graph, item in enumerate(items)]
    converted = join_graphs(parsed, y, f"attribute {color!r}")
    if warn:
        warn_dropped(unused_parts(items, color))
    return converted


def parse_graph(item: Any, graph: int, color: str | None) -> ParsedGraph:
    """Number the vertices of a networkx graph in the order of iteration."""
    number = {vertex: number for number, vertex in enumerate(item)}
    ends = edge_array([(number[u], number[v]) for u, v in item.edges()], graph)
    colors = None
    if color is not None:
        for vertex, attributes in item.nodes(data=True):
            if attributes.get(color) is None:
                raise missing_color(graph, vertex, color)
        colors = [attributes[color] for _, attributes in item.nodes(data=True)]
    return ParsedGraph(len(number), ends[:, 0], ends[:, 1], colors)


def unused_parts(items: Sequence[Any], color: str | None) -> Iterable[str]:
    """The clauses about attributes and directions of networkx graphs that are not used."""
    if color is None:
        attributes = varying(attributes for item in items for _, attributes in item.nodes(data=True))
        yield from unused_vertices(attributes - IDENTIFIERS)
    yield from unused_edges(varying(attributes for item in items for *_, attributes in item.edges(data=True)))
    yield from directions(item.edges() for item in items if item.is_directed())
