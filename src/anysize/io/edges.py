"""Edge arrays in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anysize._errors import GraphError
from anysize._typing import is_integer
from anysize.graphs.graphset import GraphSet
from anysize.io.dropped import warn_unused
from anysize.io.objects import as_list, split_by_graph
from anysize.io.parsed import ParsedGraph, color_count, edge_array, join_graphs

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
    """Convert the edges of one graph or of several.

    Args:
        edges: (m, 2) vertex numbers from 0, each edge once or in both directions; or a list of such arrays.
        n_vertices: number of vertices; for several graphs a list. Default: the number of colors, or without colors
            the largest vertex number plus 1.
        colors: one color per vertex (or one-hot rows); for several graphs a list of such, one per graph.
        y: one label per graph.
        edge_colors: one color per edge, its type; for several graphs a list of such, one per graph.
        features: a row of numbers per vertex; for several graphs a list of such, one per graph.
        directed: whether an edge without its reverse points from its first to its second vertex. Default: only if
            some edges of a graph are given in both directions and others are not.

    >>> from_edges([(0, 1), (1, 2)], n_vertices=4)
    GraphSet(1 graph, 4 vertices, 2 edges)
    >>> from_edges([[(0, 1)], [(0, 1), (1, 2)]], y=["a", "b"])
    GraphSet(2 graphs, 5 vertices, 3 edges, 2 classes)
    """
    is_sequence = isinstance(edges, (list, tuple)) or hasattr(edges, "__array__")
    given: Any = edges if is_sequence else as_list(edges, "edges or a list of edge arrays")
    single = not _has_several_graphs(given)
    items = [given] if single else list(given)
    sizes = split_by_graph(n_vertices, single, len(items), "n_vertices")
    colors_of = split_by_graph(colors, single, len(items), "colors")
    edge_colors_of = split_by_graph(edge_colors, single, len(items), "edge_colors")
    features_of = split_by_graph(features, single, len(items), "features")
    parsed = [
        replace(
            parse_edge_array(item, graph, sizes[graph], colors_of[graph]),
            edge_colors=edge_colors_of[graph], features=features_of[graph], directed=directed,
        )
        for graph, item in enumerate(items)
    ]  # fmt: skip
    graphs = join_graphs(parsed, y)
    warn_unused(parsed)
    return graphs


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


def parse_edge_array(item: Any, graph: int, size: int | None, colors: Any, unused: tuple[str, ...] = ()) -> ParsedGraph:
    """One graph from vertex pairs, its number of vertices and colors, if given."""
    ends = edge_array(item, graph)
    if size is None and colors is not None:
        size = color_count(colors)
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
    return ParsedGraph(int(size), ends[:, 0], ends[:, 1], colors, unused=unused, size_inferred=inferred)
