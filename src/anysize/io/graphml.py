"""GraphML and GML files, parsed by networkx, which is imported when such a file is read."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from anysize._errors import GraphError
from anysize.io.networkx import parse_graph, unused_parts
from anysize.io.objects import attribute_names
from anysize.io.parsed import ParsedFile
from anysize.io.text import decode


def parse_graphml(
    data: bytes,
    where: str,
    color: str | None = None,
    y: str | None = None,
    edge_color: str | None = None,
    features: str | Sequence[str] | None = None,
) -> ParsedFile:
    """The graphs of a GraphML file; arguments name attributes of vertices, of the graph and of edges."""
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
    return _convert(graphs, where, color, y, edge_color, attribute_names(features))


def parse_gml(
    data: bytes,
    where: str,
    color: str | None = None,
    y: str | None = None,
    edge_color: str | None = None,
    features: str | Sequence[str] | None = None,
) -> ParsedFile:
    """The graph of a GML file; arguments name attributes of vertices, of the graph and of edges."""
    networkx = _import_networkx("GML")
    try:
        graph = networkx.parse_gml(decode(data, where), label=None)
    except GraphError:
        raise
    except Exception as error:  # networkx has no single type of error for bad files
        raise GraphError(f"{where} is not a GML file: {_first_sentence(error)}.") from None
    names = [attributes.get("label") for _, attributes in graph.nodes(data=True)]
    if color != "label" and len(set(names)) == len(names):  # a name of each vertex, not a category
        for _, attributes in graph.nodes(data=True):
            attributes.pop("label", None)
    return _convert([graph], where, color, y, edge_color, attribute_names(features))


def _convert(
    graphs: Iterable[Any],
    where: str,
    color: str | None,
    y: str | None,
    edge_color: str | None,
    features: Sequence[str],
) -> ParsedFile:
    parsed, labels = [], []
    for number, graph in enumerate(graphs):
        try:
            one = parse_graph(graph, number, color, edge_color, features)
        except GraphError as error:
            raise GraphError(f"{where}: {error}") from None
        parsed.append(replace(one, unused=tuple(unused_parts([graph], color, edge_color, features))))
        if y is not None:
            if graph.graph.get(y) is None:
                raise GraphError(f"{where}: graph {number} has no attribute {y!r}; leave out y, or name another.")
            labels.append(graph.graph[y])
    return ParsedFile(parsed, labels if y is not None else None)


def _import_networkx(title: str) -> Any:
    try:
        import networkx
    except ImportError:
        raise ImportError(f"Reading {title} needs networkx: pip install networkx.") from None
    return networkx


def _first_sentence(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return (lines[0][:200] if lines else type(error).__name__).rstrip(".")
