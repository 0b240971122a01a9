"""What readers produce: a `ParsedGraph` per graph, and a `ParsedFile` per file; `join_graphs` makes a set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anysize._errors import GraphError
from anysize._typing import IntArray
from anysize.graphs.assembly import assemble
from anysize.graphs.colors import ColorName, encode_colors
from anysize.graphs.features import check_features
from anysize.graphs.graphset import MAX_VERTICES_PER_GRAPH, GraphSet, empty_set
from anysize.graphs.labels import label_array


@dataclass(frozen=True)
class ParsedGraph:
    """One graph as read: vertices 0 .. size - 1, edges, and what they carry.

    Attributes:
        colors: one per vertex. edge_colors: one per edge. features: a row of numbers per vertex.
        weights: edge weights of matrices (loops left out).
        directed: whether an edge without its reverse has a direction, as in `assemble`: True for sources that list
            every undirected edge in both directions by convention; None if it is not known.
        unused: clauses for `warn_dropped`.
        size_inferred: the source does not tell the size, which is the largest vertex number plus 1.
    """

    size: int
    source: IntArray
    target: IntArray
    colors: Any = None
    edge_colors: Any = None
    features: Any = None
    feature_names: tuple[str, ...] = ()
    weights: Any = None
    directed: bool | None = None
    unused: tuple[str, ...] = ()
    size_inferred: bool = False


@dataclass(frozen=True)
class ParsedFile:
    """The graphs of one file, with their labels and names if the file has them."""

    graphs: list[ParsedGraph]
    y: Any = None
    names: list[str] | None = None


@dataclass(frozen=True)
class ParsedRow:
    """One row of an input: its graph, or the reason why it has none.

    Attributes:
        line: its number in the input, from 1.
        name: of the graph.
        graph: None if the row cannot be read.
        problem: why not.
        label: None if there is none.
        columns: what else the row holds, by name.
    """

    line: int
    name: str
    graph: ParsedGraph | None
    problem: str = ""
    label: Any = None
    columns: Mapping[str, Any] = field(default_factory=dict)


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
    colors = _of_all([graph.colors for graph in parsed], sizes, "colors")
    codes, palette = (None, ()) if colors is None else _encode(colors, color_title)
    edge_counts = np.array([len(graph.source) for graph in parsed])
    edge_colors = _of_all([graph.edge_colors for graph in parsed], edge_counts, "edge colors")
    edge_codes, edge_palette = (None, ()) if edge_colors is None else _encode(edge_colors, "edge colors", "edge")
    features, feature_names = _join_features(parsed, sizes)
    return assemble(
        sizes, source, target, codes, palette, labels, names,
        edge_colors=edge_codes, edge_palette=edge_palette,
        features=features, feature_names=feature_names,
        directed=[graph.directed for graph in parsed],
    )  # fmt: skip


def _of_all(values: list[Any], lengths: IntArray, what: str) -> list[Any] | None:
    """The values of all graphs; None if none has any. Graphs with nothing that could have a value may lack them."""
    if all(part is None for part in values):
        return None
    for number, (part, length) in enumerate(zip(values, lengths, strict=True)):
        if part is None and (length or what == "colors"):
            raise GraphError(f"Graph {number} has no {what} and others have; give {what} to all graphs or to none.")
    return [[] if part is None else part for part in values]


def _join_features(
    parsed: Sequence[ParsedGraph], sizes: IntArray
) -> tuple[NDArray[np.float32] | None, tuple[str, ...]]:
    """The features of all graphs, and the names of their columns; graphs without vertices have neither."""
    values = _of_all([graph.features for graph in parsed], sizes, "features")
    if values is None:
        return None, ()
    tables, names = [], {graph.feature_names for graph in parsed if graph.size}
    for number, (part, size) in enumerate(zip(values, sizes.tolist(), strict=True)):
        if size:
            tables.append(check_features(part, size, f"Graph {number}, features"))
    if len({table.shape[1] for table in tables}) > 1 or len(names) > 1:
        raise GraphError("Expected the same features for the vertices of all graphs; some graphs have others.")
    return (np.concatenate(tables), names.pop()) if tables else (np.zeros((0, 0), np.float32), ())


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
    raise GraphError(f"Expected a list or an array of colors; got {colors!r:.60}.")


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
    edges = len(graph.source)
    colored = edges if graph.edge_colors is None else color_count(graph.edge_colors)
    if colored != edges:
        raise GraphError(f"Graph {number} has {edges} edges but {colored} edge colors; expected one color per edge.")


def _encode(colors: list[Any], title: str, element: str = "vertex") -> tuple[NDArray[np.uint16], tuple[ColorName, ...]]:
    try:
        return encode_colors(_stack(colors, title, element), title, element)
    except GraphError:
        # Encode again graph by graph, so that the message names the graph and the vertex or edge inside it.
        for number, part in enumerate(colors):
            encode_colors(part, f"graph {number}, {title}", element)
        raise


def _stack(colors: list[Any], title: str, element: str) -> Any:
    """The colors of all graphs as one array, or as one flat list where numpy would turn numbers into strings."""
    try:
        arrays = [np.asarray(part) for part in colors if len(part)] or [np.zeros(0)]
    except ValueError as error:
        raise GraphError(
            f"{title}: expected one color per {element} or one-hot rows; numpy reports: {error}."
        ) from None
    shapes = {array.shape[1:] for array in arrays}
    if len(shapes) > 1:
        raise GraphError(f"{title}: expected one color per {element}, or one-hot rows of one width in all graphs.")
    kinds = {array.dtype.kind for array in arrays}
    if shapes != {()} or (len(kinds) == 1 and kinds <= set("biuf")):
        return np.concatenate(arrays)
    return list(chain.from_iterable(colors))
