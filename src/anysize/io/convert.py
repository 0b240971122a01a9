"""`as_graphset`: convert any supported input to a `GraphSet`."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anysize._errors import GraphError, GraphWarning, warn_user
from anysize.graphs.graphset import GraphSet, empty_set
from anysize.io.join import join_graphs
from anysize.io.matrices import MATRIX
from anysize.io.read import read_graphs
from anysize.io.reader import Library, ParsedSet, ReadOptions, as_list, conversion_hint, is_array, to_numpy, type_name
from anysize.io.readers import LIBRARIES
from anysize.io.table import format_columns

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
    if isinstance(graphs, GraphSet) and color is None:
        return graphs
    if isinstance(graphs, str | os.PathLike):
        return read_graphs(graphs, color=color, warn=warn)
    library = find_library(graphs)
    if library is None and is_array(graphs) and (np.ndim(graphs) > 1 or graphs.dtype != object):
        raise _array_error(graphs)
    items = as_list(graphs, _ACCEPTED) if library is None else [graphs]
    if not items:
        return empty_set()
    library = library or find_library(items[0])
    if library is None or len(set(map(type, items))) > 1:
        library = _common_library(items, library)
    if color is not None and not library.takes_color:
        raise GraphError(
            f"color={color!r} names a vertex attribute of networkx, igraph, PyG and RDKit graphs; got {library.title}."
        )
    parsed = library.parse(items, ReadOptions(color=color))
    return parsed if isinstance(parsed, GraphSet) else join_graphs(parsed, warn)


def convert(library: Library, graphs: Any, options: ReadOptions, y: ArrayLike | None = None) -> GraphSet:
    """The set of one graph of a library, or of several; labels ``y`` replace those that the graphs carry."""
    items = [graphs] if library.includes(graphs) else as_list(graphs, f"{library.title} or a list of them")
    for graph, item in enumerate(items):
        if not library.includes(item):
            got = f"Graph {graph} of the list has type {type_name(item)}"
            raise GraphError(f"{got}; expected {library.title}.{conversion_hint(item)}")
    parsed = library.parse(items, options)
    assert isinstance(parsed, ParsedSet)
    return join_graphs(parsed if y is None else replace(parsed, y=y))


def find_library(graph: Any) -> Library | None:
    """The library that has graphs of this type; None for arrays, lists, and data frames that hold no edges."""
    for library in LIBRARIES:
        if library.includes(graph) and (library.recognizes is None or library.recognizes(graph)):
            return library
    return None


def _common_library(items: list[Any], first: Library | None) -> Library:
    """The library of graphs of several types, or of matrices; ``first``: that of the first of them."""
    if first is None and _are_matrices(items):
        return MATRIX
    for graph, item in enumerate(items):
        library = find_library(item)
        if library is None and is_array(item):
            raise _array_error(item)
        if library is None:
            raise GraphError(
                f"Graph {graph} of the list has type {type_name(item)}; expected {_ACCEPTED}.{conversion_hint(item)}"
            )
        if first is not None and library is not first:
            raise GraphError(
                f"Graph 0 of the list is {first.title} and graph {graph} is {library.title}; convert each type "
                "separately and add the GraphSets."
            )
    assert first is not None
    return first


def _are_matrices(items: list[Any]) -> bool:
    """Whether these are adjacency matrices: square and symmetric, and not all 2 x 2, which might be lists of edges."""
    if not all(is_array(item) and np.ndim(item) == 2 and find_library(item) is None for item in items):
        return False
    matrices = [to_numpy(item, f"Graph {graph}") for graph, item in enumerate(items)]
    return all(map(_is_symmetric, matrices)) and any(len(matrix) != 2 for matrix in matrices)


def _is_symmetric(matrix: NDArray[Any]) -> bool:
    """Whether a matrix is symmetric, up to rounding as in `numpy.corrcoef`."""
    if matrix.shape[0] != matrix.shape[1]:
        return False
    return (
        np.allclose(matrix, matrix.T, equal_nan=True) if matrix.dtype.kind == "f" else bool((matrix == matrix.T).all())
    )


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


def warn_of_complete_graphs(graphs: GraphSet) -> None:
    """Warn if most graphs are complete, as correlation matrices without a threshold are."""
    n = graphs.sizes
    complete = int(((n > 3) & (2 * graphs.edge_counts == n * (n - 1))).sum())
    if 2 * complete > len(graphs):
        warn_user(
            f"{complete} of {len(graphs)} graphs are complete: every pair of vertices is an edge, so that "
            "only colors and sizes tell them apart. If they are matrices of correlations or other weights, keep the "
            "strongest entries as edges: threshold=... or density=... (in commands --threshold, --density).",
            GraphWarning,
        )
