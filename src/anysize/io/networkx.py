"""Graphs of networkx. The library is not imported: its graphs are recognized by their class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from anysize.graphs.graphset import GraphSet
from anysize.io.dropped import IDENTIFIERS, missing, unused_edges, unused_vertices, varying, warn_dropped
from anysize.io.objects import GraphType, attribute_names, check_attribute_name, stack_features
from anysize.io.parsed import ParsedGraph, edge_array, join_graphs

NETWORKX = GraphType("a networkx graph", (("networkx", "Graph"),))


def from_networkx(
    graphs: Any,
    color: str | None = None,
    y: ArrayLike | None = None,
    *,
    edge_color: str | None = None,
    features: str | Sequence[str] | None = None,
    warn: bool = True,
) -> GraphSet:
    """Convert one or several networkx graphs; vertices are numbered in the order of iteration.

    Edges of a DiGraph keep their directions, if some edge has no reverse. Attributes that no argument names are not
    used; one warning names those that distinguish edges or vertices.

    Args:
        graphs: a graph, or an iterable of graphs. Parallel edges are dropped.
        color: the vertex attribute that holds the color. Default: no colors.
        y: one label per graph.
        edge_color: the edge attribute that holds the color of the edge, its type. Default: no edge colors.
        features: the vertex attribute, or several, with numbers or rows of numbers. Default: no features.
        warn: whether to warn about what is not used.

    >>> import networkx as nx
    >>> from_networkx([nx.path_graph(3), nx.complete_graph(4)], y=[0, 1])
    GraphSet(2 graphs, 7 vertices, 8 edges, 2 classes)
    """
    check_attribute_name(color)
    check_attribute_name(edge_color, "edge_color")
    names = attribute_names(features)
    items = NETWORKX.as_list(graphs)
    parsed = [parse_graph(item, graph, color, edge_color, names) for graph, item in enumerate(items)]
    converted = join_graphs(parsed, y, f"attribute {color!r}")
    if warn:
        warn_dropped(unused_parts(items, color, edge_color, names))
    return converted


def parse_graph(
    item: Any, graph: int, color: str | None, edge_color: str | None = None, features: Sequence[str] = ()
) -> ParsedGraph:
    """Number the vertices of a networkx graph in the order of iteration."""
    number = {vertex: number for number, vertex in enumerate(item)}
    ends = edge_array([(number[u], number[v]) for u, v in item.edges()], graph)
    colors = None if color is None else _vertex_values(item, graph, color, "color")
    edge_colors = None if edge_color is None else [value for *_, value in item.edges(data=edge_color)]
    for (u, v), value in zip(item.edges(), edge_colors or (), strict=False):
        if value is None:
            raise missing(graph, f"edge ({u!r}, {v!r})", str(edge_color), "edge_color")
    blocks = [(name, _vertex_values(item, graph, name, "features")) for name in features]
    return ParsedGraph(
        len(number), ends[:, 0], ends[:, 1], colors, edge_colors, *stack_features(blocks, graph),
        directed=item.is_directed(),
    )  # fmt: skip


def _vertex_values(item: Any, graph: int, name: str, argument: str) -> list[Any]:
    for vertex, attributes in item.nodes(data=True):
        if attributes.get(name) is None:
            raise missing(graph, f"vertex {vertex!r}", name, argument)
    return [attributes[name] for _, attributes in item.nodes(data=True)]


def unused_parts(
    items: Sequence[Any], color: str | None, edge_color: str | None = None, features: Sequence[str] = ()
) -> Iterable[str]:
    """The clauses about attributes of networkx graphs that are not used."""
    if color is None and not features:
        attributes = varying(attributes for item in items for _, attributes in item.nodes(data=True))
        yield from unused_vertices(attributes - IDENTIFIERS)
    if edge_color is None:
        yield from unused_edges(varying(attributes for item in items for *_, attributes in item.edges(data=True)))
