"""Edge arrays in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anysize._errors import GraphError
from anysize._schema import is_integer
from anysize._typing import IntArray
from anysize.graphs.graphset import MAX_VERTICES_PER_GRAPH, GraphSet
from anysize.io.join import join_graphs, value_count
from anysize.io.reader import ParsedGraph, ParsedSet, as_list, split_by_graph

# Refuse vertex numbers that would make nearly all vertices isolated: they are most likely names.
_MAX_VERTICES_WITHOUT_EDGES = 1_000_000
_MAX_VERTICES_PER_EDGE = 1000


def from_edges(
    edges: ArrayLike | Sequence[ArrayLike],
    n_vertices: int | Sequence[int] | None = None,
    colors: Any = None,
    y: ArrayLike | None = None,
    *,
    edge_colors: Any = None,
    features: Any = None,
    directed: bool | None = None,
) -> GraphSet:
    """See `GraphSet.from_edges`."""
    is_sequence = isinstance(edges, list | tuple) or hasattr(edges, "__array__")
    given: Any = edges if is_sequence else as_list(edges, "edges or a list of edge arrays")
    single = not _has_several_graphs(given)
    items = [given] if single else list(given)
    values = {"n_vertices": n_vertices, "colors": colors, "edge_colors": edge_colors, "features": features}
    by_graph = {name: split_by_graph(value, single, len(items), name) for name, value in values.items()}
    sizes = by_graph.pop("n_vertices")
    parsed = [
        parse_edge_array(
            item, graph, sizes[graph], **{name: value[graph] for name, value in by_graph.items()}, directed=directed
        )
        for graph, item in enumerate(items)
    ]
    return join_graphs(ParsedSet(parsed, y))


def _has_several_graphs(edges: Any) -> bool:
    """Whether a list holds edge arrays rather than edges, judged by its first entry that is not empty."""
    if not isinstance(edges, (list, tuple)):
        return bool(np.ndim(edges) == 3)
    for item in edges:
        if np.ndim(item) != 1 or len(item):
            return bool(np.ndim(item) == 2)
    return len(edges) > 0  # a list of empty lists: as many graphs without edges


def likely_vertices(edges: int) -> int:
    """More vertices than this are not believed where a few bytes announce them."""
    return _MAX_VERTICES_WITHOUT_EDGES + _MAX_VERTICES_PER_EDGE * edges


def parse_edge_array(item: Any, graph: int, size: int | None = None, colors: Any = None, **carried: Any) -> ParsedGraph:
    """One graph from vertex pairs, its number of vertices if known, colors, and other fields of `ParsedGraph`."""
    ends = edge_array(item, graph)
    if size is None and colors is not None:
        size = value_count(colors)
    inferred = size is None
    if size is None:
        size = int(ends.max(initial=-1)) + 1
        if size > likely_vertices(len(ends)):
            raise GraphError(
                f"Graph {graph}: vertex {size - 1} in only {len(ends)} edges would make {size} vertices; "
                "number the vertices from 0, or pass n_vertices if this is intended."
            )
    if not is_integer(size):
        raise GraphError(f"n_vertices: expected an integer; got {size!r:.60}.")
    return ParsedGraph(int(size), ends[:, 0], ends[:, 1], colors, size_inferred=inferred, **carried)


def edge_array(pairs: Any, graph: int) -> IntArray:
    """The (m, 2) vertex numbers of anything that holds pairs; errors name the graph."""
    try:
        array = np.asarray(pairs)
    except ValueError:
        raise GraphError(
            f"Graph {graph}: expected edges as pairs of vertex numbers; got rows of different lengths."
        ) from None
    if array.size == 0 and array.ndim <= 2:
        return np.zeros((0, 2), np.int64)
    if array.dtype.kind == "U" and array.ndim == 2:
        raise GraphError(
            f"Graph {graph}: expected edges as pairs of vertex numbers; got names, such as {str(array[0, 0])!r:.60}. "
            "Pass networkx.Graph(edges) to GraphSet.from_networkx, which accepts vertex names."
        )
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise GraphError(
            f"Graph {graph}: expected edges as an (m, 2) array of integers; got {array.dtype} of shape {array.shape}."
        )
    # The cast below would make the largest unsigned numbers negative.
    if array.dtype == np.uint64 and array.max() >= MAX_VERTICES_PER_GRAPH:
        raise GraphError(f"Graph {graph}: vertex {array.max()} is above the limit {MAX_VERTICES_PER_GRAPH - 1}.")
    return array if array.dtype == np.int32 else array.astype(np.int64)
