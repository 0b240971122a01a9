"""What every reader produces: a `ParsedGraph` per graph, and a `ParsedFile` per file; `join_graphs` makes a set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anysize._errors import GraphError
from anysize._typing import IntArray
from anysize.graphs.assembly import assemble
from anysize.graphs.colors import ColorName, encode_colors
from anysize.graphs.graphset import MAX_VERTICES_PER_GRAPH, GraphSet, empty_set
from anysize.graphs.labels import label_array


@dataclass(frozen=True)
class ParsedGraph:
    """One graph as read: vertices 0 .. size - 1, edges, one color per vertex, edge weights (loops left out).

    ``unused`` holds clauses for `warn_dropped`. ``symmetric`` says that the source lists every undirected edge in both
    directions by convention, so that an edge without its reverse is a directed edge. ``size_inferred``: the source
    does not tell the size, which is the largest vertex number plus 1.
    """

    size: int
    source: IntArray
    target: IntArray
    colors: Any = None
    weights: Any = None
    unused: tuple[str, ...] = ()
    symmetric: bool = False
    size_inferred: bool = False


@dataclass(frozen=True)
class ParsedFile:
    """The graphs of one file, with their labels and names if the file has them."""

    graphs: list[ParsedGraph]
    y: Any = None
    names: list[str] | None = None


def join_graphs(
    parsed: Sequence[ParsedGraph],
    y: ArrayLike | None = None,
    color_title: str = "colors",
    names: Sequence[str] | None = None,
) -> GraphSet:
    """Check the graphs and join them into a GraphSet, in order; errors about colors begin with ``color_title``."""
    labels = _labels(y, len(parsed))
    if not parsed:
        return empty_set().with_y(labels)
    for number, graph in enumerate(parsed):
        _check(graph, number)
    sizes = np.array([graph.size for graph in parsed], np.int64)
    starts = np.cumsum(sizes) - sizes
    source = np.concatenate([graph.source + start for graph, start in zip(parsed, starts, strict=True)])
    target = np.concatenate([graph.target + start for graph, start in zip(parsed, starts, strict=True)])
    uncolored = [number for number, graph in enumerate(parsed) if graph.colors is None]
    if 0 < len(uncolored) < len(parsed):
        raise GraphError(f"Graph {uncolored[0]} has no colors and others have; color all graphs or none.")
    if uncolored:
        return assemble(sizes, source, target, y=labels, names=names)
    codes, palette = _encode([graph.colors for graph in parsed], color_title)
    return assemble(sizes, source, target, codes, palette, labels, names)


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
    return array.astype(np.int64)


def color_count(colors: Any) -> int:
    """How many vertices are colored; an error for what is not a list or an array."""
    try:
        if not isinstance(colors, str):
            return len(colors)
    except TypeError:  # a number, a generator, an array without dimensions
        pass
    raise GraphError(f"Expected a list or an array of colors, one per vertex; got {colors!r:.60}.")


def _labels(y: ArrayLike | None, graphs: int) -> NDArray[Any] | None:
    if y is None:
        return None
    labels = np.atleast_1d(label_array(y))
    if labels.shape != (graphs,):
        raise GraphError(f"y has shape {labels.shape}; expected one label for each of the {graphs} graphs.")
    return labels


def _check(graph: ParsedGraph, number: int) -> None:
    size = graph.size
    if not 0 <= size < MAX_VERTICES_PER_GRAPH:
        raise GraphError(f"Graph {number} has {size} vertices; expected 0 to {MAX_VERTICES_PER_GRAPH - 1}.")
    outside = (graph.source < 0) | (graph.source >= size) | (graph.target < 0) | (graph.target >= size)
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        raise GraphError(
            f"Graph {number}: edge {at} joins the vertices {graph.source[at]} and {graph.target[at]}; "
            f"vertices of a graph of size {size} are numbered 0 to {size - 1}."
        )
    colored = size if graph.colors is None else color_count(graph.colors)
    if colored != size:
        raise GraphError(f"Graph {number} has {size} vertices but {colored} colors; expected one color per vertex.")


def _encode(colors: list[Any], title: str) -> tuple[NDArray[np.uint16], tuple[ColorName, ...]]:
    try:
        return encode_colors(_stack(colors, title), title)
    except GraphError:
        # Encode again graph by graph, so that the message names the graph and the vertex inside it.
        for number, part in enumerate(colors):
            encode_colors(part, f"graph {number}, {title}")
        raise


def _stack(colors: list[Any], title: str) -> Any:
    """The colors of all graphs as one array, or as one flat list where numpy would turn numbers into strings."""
    try:
        arrays = [np.asarray(part) for part in colors if len(part)] or [np.zeros(0)]
    except ValueError as error:
        raise GraphError(f"{title}: expected one color per vertex or one-hot rows; numpy reports: {error}.") from None
    shapes = {array.shape[1:] for array in arrays}
    if len(shapes) > 1:
        raise GraphError(f"{title}: expected one color per vertex, or one-hot rows of one width in all graphs.")
    kinds = {array.dtype.kind for array in arrays}
    if shapes != {()} or (len(kinds) == 1 and kinds <= set("biuf")):
        return np.concatenate(arrays)
    return list(chain.from_iterable(colors))
