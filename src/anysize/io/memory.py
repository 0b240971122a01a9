"""Graphs of other libraries in memory: networkx, igraph, scipy and numpy matrices, edge arrays.

None of those libraries is imported here: a graph that can be passed in has brought its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anysize._errors import GraphError
from anysize._typing import IntArray
from anysize.graphs.graphset import MAX_VERTICES_PER_GRAPH, GraphSet
from anysize.io.dropped import of_igraph, of_networkx, tell, unused_weights
from anysize.io.pieces import ParsedGraph, join_graphs, length_of
from anysize.io.sources import TITLES, Kind, is_array, kind_of, type_name


def from_networkx(graphs: Any, color: str | None = None, y: ArrayLike | None = None, *, warn: bool = True) -> GraphSet:
    """A set from one networkx graph or several; vertices are numbered in the order of iteration.

    Directions, attributes of edges and, without ``color``, of vertices are not used; one warning names those that
    would make a difference.

    Args:
        graphs: a graph, or an iterable of graphs. Parallel edges are dropped.
        color: the vertex attribute that holds the color; without it the graphs are uncolored.
        y: one label per graph.
        warn: False to say nothing of what is not used.

    >>> import networkx as nx
    >>> from_networkx([nx.path_graph(3), nx.complete_graph(4)], y=[0, 1])
    GraphSet(2 graphs, 7 vertices, 8 edges, 2 classes)
    """
    return _from_kind(graphs, "networkx", color, y, _networkx_piece, of_networkx if warn else None)


def from_igraph(graphs: Any, color: str | None = None, y: ArrayLike | None = None, *, warn: bool = True) -> GraphSet:
    """A set from one igraph graph or several; arguments as for `from_networkx`.

    >>> import igraph
    >>> from_igraph(igraph.Graph.Ring(5)).edge_counts.tolist()
    [5]
    """
    return _from_kind(graphs, "igraph", color, y, _igraph_piece, of_igraph if warn else None)


def from_scipy(matrices: Any, colors: Any = None, y: ArrayLike | None = None, *, warn: bool = True) -> GraphSet:
    """A set from one square adjacency matrix or several, scipy sparse, numpy, pandas or torch; any non-zero is an edge.

    Weights are not used; where there are several, a warning says so. Matrices of correlations, where hardly an entry is
    zero, need a threshold first: ``abs(matrix) > 0.5``.

    Args:
        matrices: a matrix, or an iterable of matrices. They need not be symmetric: one direction suffices. What is on
            the diagonal is no edge.
        colors: one color per vertex (or one-hot rows); for several matrices a list of such, one per matrix.
        y: one label per graph.
        warn: False to say nothing of weights.

    >>> import numpy as np
    >>> from_scipy(np.array([[0, 2, 0], [0, 0, 2], [0, 0, 0]])).edges().tolist()
    [[0, 1], [1, 2]]
    """
    single = kind_of(matrices) == "scipy" or (is_array(matrices) and np.ndim(matrices) == 2)
    items = [matrices] if single else listed(matrices, "a scipy sparse matrix, a 2-D numpy array")
    parts = _parts(colors, single, len(items), "colors")
    pairs = zip(items, parts, strict=True)
    pieces = [_matrix_piece(item, graph, part) for graph, (item, part) in enumerate(pairs)]
    graphs = join_graphs(pieces, y)
    if warn:
        tell(unused_weights([piece.weights for piece in pieces], graphs))
    return graphs


def from_edges(
    edges: ArrayLike | Sequence[ArrayLike],
    n_vertices: int | Sequence[int] | None = None,
    colors: Any = None,
    y: ArrayLike | None = None,
) -> GraphSet:
    """A set from the edges of one graph, or of several.

    Args:
        edges: (m, 2) vertex numbers from 0, each edge once or in both directions; or a list of such arrays.
        n_vertices: how many vertices. Without it the number of colors decides; without colors, the largest
            vertex number. For several graphs: a list.
        colors: one color per vertex (or one-hot rows). For several graphs: a list of such, one per graph.
        y: one label per graph.

    >>> from_edges([(0, 1), (1, 2)], n_vertices=4)
    GraphSet(1 graph, 4 vertices, 2 edges)
    >>> from_edges([[(0, 1)], [(0, 1), (1, 2)]], y=["a", "b"])
    GraphSet(2 graphs, 5 vertices, 3 edges, 2 classes)
    """
    given: Any = edges if isinstance(edges, (list, tuple)) or hasattr(edges, "__array__") else listed(edges, "edges")
    single = not _holdsseveral(given)
    items = [given] if single else list(given)
    sizes = _parts(n_vertices, single, len(items), "n_vertices")
    parts = _parts(colors, single, len(items), "colors")
    triples = zip(items, sizes, parts, strict=True)
    return join_graphs([_edge_piece(item, graph, *rest) for graph, (item, *rest) in enumerate(triples)], y)


# ---- one graph or several ------------------------------------------------------------------------


def listed(graphs: Any, expected: str, several: str = " or a list of them") -> list[Any]:
    """A list of what can be iterated over; an error that says what was expected for what cannot."""
    refused = GraphError(f"Expected {expected}{several}; got {type_name(graphs)}.")
    if isinstance(graphs, (str, bytes, dict)) or not isinstance(graphs, Iterable):
        raise refused
    try:
        return list(graphs)
    except NotImplementedError:  # HeteroData of PyG look like iterables
        raise refused from None


def check_attribute(color: Any) -> None:
    """Refuse several names of attributes where one is asked for."""
    if isinstance(color, (list, tuple, set, dict, np.ndarray)):
        raise GraphError(
            f"color names one vertex attribute; got {color!s:.60}. Join several into one first, as text: 'C+1'."
        )


def several(graphs: Any, kind: Kind) -> list[Any]:
    """A list of graphs, all of the kind."""
    items = [graphs] if kind_of(graphs) == kind else listed(graphs, f"a {TITLES[kind]}")
    for graph, item in enumerate(items):
        if kind_of(item) != kind:
            raise GraphError(f"Graph {graph} of the list is a {type_name(item)}; expected a {TITLES[kind]}.")
    return items


def _from_kind(
    graphs: Any,
    kind: Kind,
    color: str | None,
    y: ArrayLike | None,
    piece: Callable[[Any, int, str | None], ParsedGraph],
    unused: Callable[[Sequence[Any], str | None], Iterable[str]] | None,
) -> GraphSet:
    check_attribute(color)
    items = several(graphs, kind)
    found = join_graphs([piece(item, graph, color) for graph, item in enumerate(items)], y, f"attribute {color!r}")
    if unused is not None:
        tell(unused(items, color))
    return found


def _parts(values: Any, single: bool, graphs: int, what: str) -> list[Any]:
    """What belongs to each graph: the values themselves for a single one, None where none are given."""
    if values is None:
        return [None] * graphs
    if single:
        return [values]
    if not hasattr(values, "__len__") or isinstance(values, str) or len(values) != graphs:
        raise GraphError(f"{what}: for a list of {graphs} graphs give a list of {graphs}, one entry per graph.")
    return list(values)


def _holdsseveral(edges: Any) -> bool:
    """Whether a list holds edge arrays rather than edges; its first entry that is not empty tells."""
    if not isinstance(edges, (list, tuple)):
        return bool(np.ndim(edges) == 3)
    for item in edges:
        if np.ndim(item) != 1 or len(item):
            return bool(np.ndim(item) == 2)
    return len(edges) > 0  # nothing but empty lists: so many graphs without edges


# ---- one graph of each kind ----------------------------------------------------------------------


def ends_of(pairs: Any, graph: int) -> IntArray:
    """(m, 2) integers, from whatever holds pairs."""
    try:
        array = np.asarray(pairs)
    except ValueError:
        raise GraphError(f"Graph {graph}: expected edges as pairs of vertex numbers; got rows that differ.") from None
    if array.size == 0 and array.ndim <= 2:
        return np.zeros((0, 2), np.int64)
    if array.dtype.kind == "U" and array.ndim == 2:
        raise GraphError(
            f"Graph {graph}: expected edges as pairs of vertex numbers; got names, such as {str(array[0, 0])!r}. "
            "Pass networkx.Graph(edges) to GraphSet.from_networkx, which takes vertices of any name."
        )
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise GraphError(
            f"Graph {graph}: expected edges as an (m, 2) array of integers; got {array.dtype} of shape {array.shape}."
        )
    # The cast below would make the largest unsigned numbers negative.
    if array.dtype == np.uint64 and array.max() >= MAX_VERTICES_PER_GRAPH:
        raise GraphError(f"Graph {graph}: vertex {array.max()} is above the limit {MAX_VERTICES_PER_GRAPH - 1}.")
    return array.astype(np.int64)


def _networkx_piece(item: Any, graph: int, color: str | None) -> ParsedGraph:
    position = {vertex: number for number, vertex in enumerate(item)}
    ends = ends_of([(position[u], position[v]) for u, v in item.edges()], graph)
    colors = None
    if color is not None:
        for vertex, attributes in item.nodes(data=True):
            if attributes.get(color) is None:
                raise _without_color(graph, vertex, color)
        colors = [attributes[color] for _, attributes in item.nodes(data=True)]
    return ParsedGraph(len(position), ends[:, 0], ends[:, 1], colors)


def _igraph_piece(item: Any, graph: int, color: str | None) -> ParsedGraph:
    ends = ends_of(item.get_edgelist(), graph)
    colors = None
    if color is not None:
        known = color in item.vs.attributes()
        colors = list(item.vs[color]) if known else [None] * item.vcount()
        for vertex, value in enumerate(colors):
            if value is None:
                raise _without_color(graph, vertex, color)
    return ParsedGraph(item.vcount(), ends[:, 0], ends[:, 1], colors)


def _without_color(graph: int, vertex: Any, color: str) -> GraphError:
    return GraphError(
        f"Graph {graph}: vertex {vertex!r} has no attribute {color!r}; give every vertex one, or leave out color."
    )


def _matrix_piece(item: Any, graph: int, colors: Any) -> ParsedGraph:
    sparse = kind_of(item) == "scipy"
    if not sparse:
        if not is_array(item):
            wanted = "a scipy sparse matrix or a 2-D numpy array"
            raise GraphError(f"Graph {graph} is a {type_name(item)}; expected {wanted}.")
        item = np.asarray(item.detach().cpu() if hasattr(item, "detach") else item)
    if item.ndim != 2 or item.shape[0] != item.shape[1]:
        raise GraphError(f"Graph {graph}: an adjacency matrix is square; this one has shape {item.shape}.")
    if item.dtype.kind not in "biuf":
        raise GraphError(f"Graph {graph}: expected a matrix of numbers; got dtype {item.dtype}.")
    if sparse:
        entries = item.tocoo(copy=True)
        entries.sum_duplicates()
        rows, columns, weights = entries.row, entries.col, entries.data
    else:
        rows, columns = np.nonzero(item)
        weights = item[rows, columns]
    # Fisher's z of a correlation matrix is infinite on the diagonal, which holds no edges.
    broken = np.flatnonzero(~np.isfinite(weights) & (rows != columns))
    if broken.size:
        at = broken[0]
        raise GraphError(
            f"Graph {graph}: the entry in row {rows[at]}, column {columns[at]} is {weights[at]}; "
            "expected a finite number."
        )
    keep = weights != 0  # a sparse matrix may store zeros
    ends = rows[keep].astype(np.int64), columns[keep].astype(np.int64)
    return ParsedGraph(item.shape[0], *ends, colors, weights[keep & (rows != columns)])


def _edge_piece(item: Any, graph: int, size: int | None, colors: Any) -> ParsedGraph:
    ends = ends_of(item, graph)
    if size is None and colors is not None:
        size = length_of(colors)
    if size is None:
        size = int(ends.max(initial=-1)) + 1
        if size > 1_000_000 + 1000 * len(ends):  # numbers that are names, most likely: nearly all vertices isolated
            raise GraphError(
                f"Graph {graph}: vertex {size - 1} in only {len(ends)} edges would make {size} vertices; "
                "number the vertices from 0, or pass n_vertices if this is meant."
            )
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
        raise GraphError(f"n_vertices: expected an integer; got {size!r}.")
    return ParsedGraph(int(size), ends[:, 0], ends[:, 1], colors)
