"""Graphs of igraph. The library is not imported: its graphs are recognized by their class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from anysize.io.reader import Library, ParsedGraph, ParsedSet, ReadOptions, name_array
from anysize.io.values import IDENTIFIERS, complete, stack_features, unused_edges, unused_vertices, varying


def parse_igraph(items: Sequence[Any], options: ReadOptions) -> ParsedSet:
    """The graphs; parallel edges are one."""
    graphs = [_parse(item, graph, options) for graph, item in enumerate(items)]
    return ParsedSet(graphs, unused=_unused(items, options), color_title=f"attribute {options.color!r}")


IGRAPH = Library("an igraph graph", frozenset({("igraph", "Graph")}), parse_igraph)


def _parse(item: Any, graph: int, options: ReadOptions) -> ParsedGraph:
    ends = np.array(item.get_edgelist(), np.int64).reshape(-1, 2)
    colors = None if options.color is None else _values(item.vs, graph, options.color, "color")
    edge_colors = None if options.edge_color is None else _values(item.es, graph, options.edge_color, "edge_color")
    blocks = [(name, _values(item.vs, graph, name, "features")) for name in options.feature_names]
    names = item.vs["name"] if "name" in item.vs.attributes() else ()
    return ParsedGraph(
        item.vcount(), ends[:, 0], ends[:, 1], colors, edge_colors, *stack_features(blocks, graph),
        directed=item.is_directed(), vertex_names=name_array(names),
    )  # fmt: skip


def _values(elements: Any, graph: int, name: str, argument: str) -> list[Any]:
    """The values of an attribute of all vertices or edges."""
    values = elements[name] if name in elements.attributes() else [None] * len(elements)
    return complete(values, graph, name, argument, range(len(elements)))


def _unused(items: Sequence[Any], options: ReadOptions) -> Iterator[str]:
    """The clauses about attributes that distinguish vertices or edges and that no option names."""
    if options.color is None and options.features is None:
        yield from unused_vertices(_varying([item.vs for item in items]) - IDENTIFIERS)
    if options.edge_color is None:
        yield from unused_edges(_varying([item.es for item in items]))


def _varying(sequences: Sequence[Any]) -> set[str]:
    records = (element.attributes() for elements in sequences if elements.attributes() for element in elements)
    return varying(records, sum(map(len, sequences)))
