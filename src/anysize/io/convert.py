"""`as_graphset`: whatever a user passes as graphs, as a GraphSet."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from anysize._errors import GraphError
from anysize.graphs.graphset import GraphSet, empty_set
from anysize.io.memory import from_igraph, from_networkx, from_scipy, listed
from anysize.io.pyg import from_pyg
from anysize.io.read import read_graphs
from anysize.io.sources import TITLES, Kind, is_array, kind_of, type_name

_ACCEPTED = "a GraphSet, a path, or networkx, igraph, PyG or scipy sparse graphs (one or a list)"


def as_graphset(graphs: Any, color: str | None = None, *, warn: bool = True) -> GraphSet:
    """A GraphSet from a GraphSet, a path, or one or several graphs of another library.

    Args:
        graphs: a GraphSet; a path for `read`; a networkx, igraph or PyG graph or a scipy sparse matrix; or a
            list of such, all of one kind (GraphSets are concatenated). An empty list is an empty set.
        color: the vertex attribute (networkx, igraph) or field (PyG) with the colors; without it graphs of
            these libraries are uncolored.
        warn: False to say nothing of what graphs of these libraries hold and a set does not.

    >>> import networkx as nx
    >>> as_graphset([nx.path_graph(3), nx.path_graph(4)])
    GraphSet(2 graphs, 7 vertices, 5 edges)
    """
    if isinstance(graphs, (str, os.PathLike)):
        _no_color(color, "a file")
        return read_graphs(graphs)
    if is_array(graphs) and (np.ndim(graphs) > 1 or np.asarray(graphs).dtype.kind != "O"):
        raise _array_error(graphs)
    kind = kind_of(graphs)
    if kind == "graphset":
        _no_color(color, TITLES["graphset"])
        return graphs  # type: ignore[no-any-return]
    if kind is not None:
        return _convert(graphs, kind, color, warn)
    items = listed(graphs, _ACCEPTED, "")
    return _convert(items, _common_kind(items), color, warn) if items else empty_set()


def _convert(graphs: Any, kind: Kind, color: str | None, warn: bool) -> GraphSet:
    if kind == "networkx":
        return from_networkx(graphs, color, warn=warn)
    if kind == "igraph":
        return from_igraph(graphs, color, warn=warn)
    if kind == "pyg":
        return from_pyg(graphs, color, warn=warn)
    _no_color(color, TITLES[kind])
    return from_scipy(graphs, warn=warn) if kind == "scipy" else GraphSet.concatenate(graphs)


def _common_kind(items: list[Any]) -> Kind:
    kinds = []
    for graph, item in enumerate(items):
        kind = kind_of(item)
        if is_array(item):
            raise _array_error(item)
        if kind is None:
            raise GraphError(f"Graph {graph} of the list is of type {type_name(item)}; expected {_ACCEPTED}.")
        kinds.append(kind)
    for graph, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise GraphError(
                f"Graph 0 of the list is a {TITLES[kinds[0]]} and graph {graph} a {TITLES[kind]}; "
                "convert each kind by itself and add the GraphSets."
            )
    return kinds[0]


def _array_error(array: Any) -> GraphError:
    return GraphError(
        f"An array of shape {tuple(np.shape(array))} may be an edge list or an adjacency matrix; "
        "call GraphSet.from_edges or GraphSet.from_scipy."
    )


def _no_color(color: str | None, what: str) -> None:
    if color is not None:
        raise GraphError(f"color={color!r} names a vertex attribute of networkx, igraph or PyG graphs; this is {what}.")
