"""GraphML and GML files, parsed by networkx, which is imported when such a file is read."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

from anysize._errors import GraphError
from anysize.io.networkx import parse_networkx
from anysize.io.reader import Format, ParsedSet, ReadOptions, name_array
from anysize.io.text import decode


def parse_graphml(data: bytes, where: str, options: ReadOptions) -> ParsedSet:
    """The graphs of a GraphML file; options name attributes of vertices, of the graph and of edges."""
    networkx = _import_networkx("GraphML")
    if b"<!ENTITY" in data.replace(b"\0", b""):  # a few of them unfold to gigabytes
        raise GraphError(f"{where} defines entities, which are not read; remove its <!ENTITY ...> lines.")
    try:
        graphs = list(networkx.readwrite.graphml.GraphMLReader()(path=io.BytesIO(data)))
    except Exception as error:  # networkx has no single type of error for bad files
        raise GraphError(f"{where} is not a GraphML file: {_first_sentence(error)}.") from None
    if not graphs:
        raise GraphError(
            f"{where} holds no graph element; expected GraphML with xmlns=http://graphml.graphdrawing.org/xmlns."
        )
    return _convert(graphs, where, options)


def parse_gml(data: bytes, where: str, options: ReadOptions) -> ParsedSet:
    """The graph of a GML file; options name attributes of vertices, of the graph and of edges."""
    networkx = _import_networkx("GML")
    try:
        graph = networkx.parse_gml(decode(data, where), label=None)
    except GraphError:
        raise
    except Exception as error:  # networkx has no single type of error for bad files
        raise GraphError(f"{where} is not a GML file: {_first_sentence(error)}.") from None
    names = [attributes.get("label") for _, attributes in graph.nodes(data=True)]
    are_names = len(set(names)) == len(names) and None not in names  # of each vertex, not categories
    if are_names and options.color != "label":
        for _, attributes in graph.nodes(data=True):
            attributes.pop("label", None)
    parsed = _convert([graph], where, options)
    (read,) = parsed.graphs
    if not are_names or read is None:
        return parsed
    return replace(parsed, graphs=[replace(read, vertex_names=name_array(names))])


_OPTIONS = frozenset({"color", "y", "edge_color", "features"})
GRAPHML = Format("GraphML", parse_graphml, _OPTIONS, (".graphml",))
GML = Format("GML", parse_gml, _OPTIONS, (".gml",))


def _convert(graphs: list[Any], where: str, options: ReadOptions) -> ParsedSet:
    try:
        parsed = parse_networkx(graphs, options)
    except GraphError as error:
        raise GraphError(f"{where}: {error}") from None
    if options.y is None:
        return parsed
    if options.targets:
        rows = [tuple(graph.graph.get(name) for name in options.targets) for graph in graphs]
        for name, column in zip(options.targets, zip(*rows, strict=True), strict=True):
            if set(column) == {None}:
                raise GraphError(f"{where}: no graph has the attribute {name!r}; leave it out of y.")
        return replace(parsed, y=rows, targets=options.targets)
    labels = [graph.graph.get(options.y) for graph in graphs]
    if None in labels:
        raise GraphError(
            f"{where}: graph {labels.index(None)} has no attribute {options.y!r}; leave out y, or name another."
        )
    return replace(parsed, y=labels)


def _import_networkx(title: str) -> Any:
    try:
        import networkx
    except ImportError:
        raise ImportError(f"Reading {title} needs networkx: pip install networkx.") from None
    return networkx


def _first_sentence(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0][:200] if lines else type(error).__name__).rstrip(".")
