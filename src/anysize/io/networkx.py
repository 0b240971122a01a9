"""Graphs of networkx. The library is not imported: its graphs are recognized by their class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, count
from typing import Any

import numpy as np

from anysize.io.reader import Library, ParsedGraph, ParsedSet, ReadOptions, name_array
from anysize.io.values import IDENTIFIERS, complete, stack_features, unused_edges, unused_vertices, varying


def parse_networkx(items: Sequence[Any], options: ReadOptions) -> ParsedSet:
    """The graphs with their vertices in the order of iteration; parallel edges are one."""
    graphs = []
    for graph, item in enumerate(items):
        number = dict(zip(item, count()))
        ends = np.fromiter(map(number.__getitem__, chain.from_iterable(item.edges())), np.int64)
        colors = edge_colors = features = None
        names: tuple[str, ...] = ()
        if options.color is not None:
            colors = _values(item, graph, options.color, "color")
        if options.edge_color is not None:
            values = [value for *_, value in item.edges(data=options.edge_color)]
            edge_colors = complete(values, graph, options.edge_color, "edge_color", list(item.edges()))
        if options.features is not None:
            blocks = [(name, _values(item, graph, name, "features")) for name in options.feature_names]
            features, names = stack_features(blocks, graph)
        graphs.append(
            ParsedGraph(
                len(number), ends[::2], ends[1::2], colors, edge_colors, features, names,
                directed=item.is_directed(), vertex_names=name_array(number),
            )
        )  # fmt: skip
    return ParsedSet(graphs, unused=_unused(items, options), color_title=f"attribute {options.color!r}")


NETWORKX = Library("a networkx graph", frozenset({("networkx", "Graph")}), parse_networkx)


def _values(item: Any, graph: int, name: str, argument: str) -> list[Any]:
    return complete([value for _, value in item.nodes(data=name)], graph, name, argument, list(item))


def _unused(items: Sequence[Any], options: ReadOptions) -> Iterator[str]:
    """The clauses about attributes that distinguish vertices or edges and that no option names."""
    if options.color is None and options.features is None:
        records = [attributes for item in items for _, attributes in item.nodes(data=True) if attributes]
        if records:
            yield from unused_vertices(varying(records, sum(map(len, items))) - IDENTIFIERS)
    if options.edge_color is None:
        records = [attributes for item in items for *_, attributes in item.edges(data=True) if attributes]
        if records:
            yield from unused_edges(varying(records, sum(item.number_of_edges() for item in items)))
