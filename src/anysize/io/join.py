"""`join_graphs`: check what a reader gives, warn about what it leaves unused, and make a `GraphSet` of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError, GraphWarning, warn_user
from anysize._text import capitalized
from anysize._typing import IntArray
from anysize.graphs.assembly import assemble
from anysize.graphs.attributes import check_features, joined_names
from anysize.graphs.colors import ColorName, encode_colors
from anysize.graphs.graphset import MAX_VERTICES_PER_GRAPH, GraphSet, empty_set
from anysize.graphs.labels import is_table, label_array, target_table
from anysize.graphs.ragged import offsets
from anysize.io.reader import ParsedGraph, ParsedSet
from anysize.io.values import rows_vary


def join_graphs(parsed: ParsedSet, warn: bool = True) -> GraphSet:
    """The graphs of a source in one set, in their order; one warning says what the set does not hold of them."""
    graphs = [graph for graph in parsed.graphs if graph is not None]
    y, targets = None, tuple(parsed.targets)
    if parsed.y is not None and (targets or is_table(parsed.y)):
        y, targets = target_table(parsed.y, targets or None)
    elif parsed.y is not None:
        y = np.atleast_1d(label_array(parsed.y))
    if y is not None and len(y) != len(graphs):
        raise GraphError(f"y has shape {y.shape}; expected one label for each of the {len(graphs)} graphs.")
    if not graphs:
        return empty_set() if targets else empty_set().with_y(y)
    for number, graph in enumerate(graphs):
        if not 0 <= graph.size < MAX_VERTICES_PER_GRAPH:
            raise GraphError(f"Graph {number} has {graph.size} vertices; expected 0 to {MAX_VERTICES_PER_GRAPH - 1}.")
    sizes = np.array([graph.size for graph in graphs], np.int64)
    edges = np.array([len(graph.source) for graph in graphs], np.int64)
    source, target, size = graphs[0].source, graphs[0].target, sizes[0]  # of one graph, not copied
    if len(graphs) > 1:
        source = np.concatenate([graph.source for graph in graphs])
        target = np.concatenate([graph.target for graph in graphs])
        size = np.repeat(sizes, edges)
    outside = (source < 0) | (source >= size)
    outside |= (target < 0) | (target >= size)
    if outside.any():
        raise _outside(edges, sizes, source, target, int(outside.argmax()))
    if len(graphs) > 1:
        start = np.repeat(offsets(sizes)[:-1], edges)
        source, target = source + start, target + start
    colors = _values(graphs, "colors", sizes, "vertices")
    edge_colors = _values(graphs, "edge_colors", edges, "edges")
    features = _values(graphs, "features", sizes, "vertices")
    codes, palette = (None, ()) if colors is None else _encode(colors, parsed.color_title, "vertex")
    edge_codes, edge_palette = (None, ()) if edge_colors is None else _encode(edge_colors, "edge colors", "edge")
    table, feature_names = (None, ()) if features is None else _stack_features(graphs, features)
    conventions = [graph.directed for graph in graphs]
    joined = assemble(
        sizes, source, target, codes, palette, None, parsed.names,
        edge_colors=edge_codes, edge_palette=edge_palette, features=table, feature_names=feature_names,
        directed=conventions[0] if len(set(conventions)) == 1 else conventions,
    )  # fmt: skip
    if warn:
        clauses = "; ".join(unused_clauses(parsed, graphs))
        if clauses:
            warn_user(f"{capitalized(clauses)}.", GraphWarning)
    names = [graph.vertex_names for graph in graphs]
    named = None if set(map(type, names)) == {type(None)} else joined_names(names, iter(sizes[:, None]))
    return replace(joined, y=y, targets=targets, vertex_names=named)


def _outside(edges: IntArray, sizes: IntArray, source: IntArray, target: IntArray, at: int) -> GraphError:
    """The error for an edge to a vertex that is not there."""
    first = offsets(edges)
    graph = int(np.searchsorted(first, at, side="right")) - 1
    return GraphError(
        f"Graph {graph}: edge {at - first[graph]} joins the vertices {source[at]} and {target[at]}; vertices of a "
        f"graph of size {sizes[graph]} are numbered 0 to {sizes[graph] - 1}."
    )


def _values(graphs: Sequence[ParsedGraph], name: str, lengths: IntArray, elements: str) -> list[Any] | None:
    """An attribute of all graphs; None if none has it. A graph with nothing that could have a value may lack it."""
    values = list(map(attrgetter(name), graphs))
    if set(map(type, values)) == {type(None)}:
        return None
    title = name.replace("_", " ")
    for number, (value, length) in enumerate(zip(values, lengths.tolist(), strict=True)):
        if value is None and (length or name == "colors"):
            raise GraphError(f"Graph {number} has no {title} and others have; give {title} to all graphs or to none.")
        if value is None:
            values[number] = []
        elif name != "features" and value_count(value) != length:
            raise GraphError(
                f"Graph {number} has {length} {elements} but {value_count(value)} {title}; expected one per "
                f"{'edge' if elements == 'edges' else 'vertex'}."
            )
    return values


def value_count(values: Any) -> int:
    """How many vertices or edges have a value; an error for what is not a list or an array."""
    try:
        if not isinstance(values, str | dict):
            return len(values)
    except TypeError:  # a number, a generator, an array without dimensions
        pass
    raise GraphError(f"Expected a list or an array of colors; got {values!r:.60}.")


def _stack_features(graphs: Sequence[ParsedGraph], values: list[Any]) -> tuple[NDArray[np.float32], tuple[str, ...]]:
    """The features of all graphs, and the names of their columns; graphs without vertices have neither."""
    tables, names = [], set()
    for number, (graph, rows) in enumerate(zip(graphs, values, strict=True)):
        if graph.size:
            tables.append(check_features(rows, graph.size, f"Graph {number}, features"))
            names.add((tables[-1].shape[1], graph.feature_names))
    if len(names) > 1:
        raise GraphError("Expected the same features for the vertices of all graphs; some graphs have others.")
    return (np.concatenate(tables), names.pop()[1]) if tables else (np.zeros((0, 0), np.float32), ())


def _encode(colors: list[Any], title: str, element: str) -> tuple[NDArray[np.uint16], tuple[ColorName, ...]]:
    """Codes and palette of the colors of all graphs."""
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


def unused_clauses(parsed: ParsedSet, graphs: Sequence[ParsedGraph]) -> Iterator[str]:
    """What the graphs hold and a set of them does not, each clause once."""
    yield from dict.fromkeys(parsed.unused)
    if parsed.y is None and parsed.y_problem:
        yield parsed.y_problem
    weights = [graph.weights for graph in graphs if graph.weights is not None]
    if weights and rows_vary(weights):
        yield (
            "edge weights are not used: any non-zero entry is an edge; pass threshold= or density= to leave out pairs "
            "with small weights"
        )
    begins = [min(graph.source.min(), graph.target.min()) for graph in graphs if graph.size_inferred and graph.size]
    above = sum(map(bool, begins))
    if 2 * above > len(begins):
        among = f"{above} of {len(begins)} graphs" if len(begins) > 1 else "the graph"
        yield (
            f"in {among} vertex 0 has no edge, and all numbers from 0 to the largest one are vertices: number the "
            "vertices of each graph from 0, or give the number of vertices if this is intended"
        )
