"""`as_graphset`: convert any supported input to a GraphSet. ``READERS`` lists the graph types of other libraries."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from anysize._errors import GraphError
from anysize.graphs.graphset import GraphSet, empty_set
from anysize.io.igraph import IGRAPH, from_igraph
from anysize.io.networkx import NETWORKX, from_networkx
from anysize.io.objects import GraphType, as_list, conversion_hint, is_array, to_numpy, type_name
from anysize.io.pyg import PYG, from_pyg
from anysize.io.read import read_graphs
from anysize.io.scipy import SPARSE_MATRIX, from_scipy
from anysize.io.smiles import RDKIT, from_rdkit
from anysize.io.table import PANDAS, format_columns, from_pandas, is_edge_table


@dataclass(frozen=True)
class Reader:
    """A graph type and the function that converts graphs of it, ``read(graphs, color, warn=...)``."""

    graph_type: GraphType
    read: Callable[..., GraphSet]
    takes_color: bool = True


def _concatenate(graphs: Any, color: None, *, warn: bool) -> GraphSet:
    return GraphSet.concatenate(graphs)


READERS = (
    Reader(NETWORKX, from_networkx),
    Reader(IGRAPH, from_igraph),
    Reader(PYG, from_pyg),
    Reader(RDKIT, from_rdkit),
    Reader(PANDAS, from_pandas, takes_color=False),
    Reader(SPARSE_MATRIX, from_scipy, takes_color=False),
    Reader(GraphType("a GraphSet", (("anysize", "GraphSet"),)), _concatenate, takes_color=False),
)

_ACCEPTED = (
    "a GraphSet, a path, a pandas edge table, a list of symmetric matrices, or networkx, igraph, PyG, RDKit or scipy "
    "sparse graphs (one or a list)"
)


def as_graphset(graphs: Any, color: str | None = None, *, warn: bool = True) -> GraphSet:
    """Convert a path, or one or several graphs of another library, to a GraphSet.

    Args:
        graphs: a GraphSet; a path for `read_graphs`; a networkx, igraph or PyG graph, an RDKit molecule or a
            scipy sparse matrix; a pandas table of edges, see `GraphSet.from_pandas`; or a list of such, all of one
            type (GraphSets are concatenated); or a list of square symmetric matrices. An empty list gives an empty set.
        color: the vertex attribute (networkx, igraph, GraphML and GML files) or field (PyG) that holds the colors, or
            what atoms are told apart by (RDKit). Default: no colors, and for molecules the element.
        warn: whether to warn about attributes, weights and directions that are not used.

    >>> import networkx as nx
    >>> as_graphset([nx.path_graph(3), nx.path_graph(4)])
    GraphSet(2 graphs, 7 vertices, 5 edges)
    """
    if isinstance(graphs, (str, os.PathLike)):
        return read_graphs(graphs, color=color, warn=warn)
    if isinstance(graphs, GraphSet):
        _check_no_color(color, "a GraphSet")
        return graphs
    if is_array(graphs) and not is_edge_table(graphs) and (np.ndim(graphs) > 1 or np.asarray(graphs).dtype.kind != "O"):
        raise _array_error(graphs)
    reader = _find_reader(graphs)
    if reader is None:
        graphs = as_list(graphs, _ACCEPTED)
        if not graphs:
            return empty_set()
        if _are_matrices(graphs):
            _check_no_color(color, "adjacency matrices")
            return from_scipy(graphs, warn=warn)
        reader = _common_reader(graphs)
    if not reader.takes_color:
        _check_no_color(color, reader.graph_type.title)
    return reader.read(graphs, color, warn=warn)


def _are_matrices(items: list[Any]) -> bool:
    """Whether these are adjacency matrices: square and symmetric, and not all 2 x 2, which might be lists of edges."""
    if not all(is_array(item) and not is_edge_table(item) and np.ndim(item) == 2 for item in items):
        return False
    matrices = [to_numpy(item, f"Graph {graph}") for graph, item in enumerate(items)]
    square = all(matrix.shape[0] == matrix.shape[1] and (matrix == matrix.T).all() for matrix in matrices)
    return square and any(len(matrix) != 2 for matrix in matrices)


def _find_reader(graph: Any) -> Reader | None:
    return next((reader for reader in READERS if reader.graph_type.matches(graph)), None)


def _common_reader(items: list[Any]) -> Reader:
    readers = []
    for graph, item in enumerate(items):
        reader = _find_reader(item)
        if is_array(item) and not is_edge_table(item):
            raise _array_error(item)
        if reader is None:
            raise GraphError(
                f"Graph {graph} of the list has type {type_name(item)}; expected {_ACCEPTED}.{conversion_hint(item)}"
            )
        readers.append(reader)
    for graph, reader in enumerate(readers):
        if reader is not readers[0]:
            raise GraphError(
                f"Graph 0 of the list is {readers[0].graph_type.title} and graph {graph} is "
                f"{reader.graph_type.title}; convert each type separately and add the GraphSets."
            )
    return readers[0]


def _array_error(array: Any) -> GraphError:
    if hasattr(array, "columns"):  # a data frame
        return GraphError(
            f"A data frame with the columns {format_columns([str(name) for name in array.columns])} is no table of "
            "edges (source and target). Molecules are read by az.read_graphs(frame, smiles='column'), matrices by "
            "GraphSet.from_scipy."
        )
    return GraphError(
        f"An array of shape {tuple(np.shape(array))} could be an edge list or an adjacency matrix; "
        "call GraphSet.from_edges or GraphSet.from_scipy, or pass adjacency matrices as a list."
    )


def _check_no_color(color: str | None, got: str) -> None:
    if color is not None:
        raise GraphError(
            f"color={color!r} names a vertex attribute of networkx, igraph, PyG and RDKit graphs; got {got}."
        )
