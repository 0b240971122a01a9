"""The one way from separately read graphs to a GraphSet: a Piece per graph, then `join`."""

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
    """One graph on its way into a set: vertices 0 .. size - 1, its edges, one color per vertex, weights if any."""

    size: int
    source: IntArray
    target: IntArray
    colors: Any = None
    weights: Any = None


def join_graphs(
    pieces: Sequence[ParsedGraph],
    y: ArrayLike | None = None,
    what: str = "colors",
    names: Sequence[str] | None = None,
) -> GraphSet:
    """A GraphSet of these graphs, in order; ``what`` names the colors in error messages."""
    labels = _labels(y, len(pieces))
    if not pieces:
        return empty_set().with_y(labels)
    for graph, piece in enumerate(pieces):
        _check(piece, graph)
    sizes = np.array([piece.size for piece in pieces], np.int64)
    starts = np.cumsum(sizes) - sizes
    source = np.concatenate([piece.source + start for piece, start in zip(pieces, starts, strict=True)])
    target = np.concatenate([piece.target + start for piece, start in zip(pieces, starts, strict=True)])
    bare = [graph for graph, piece in enumerate(pieces) if piece.colors is None]
    if 0 < len(bare) < len(pieces):
        raise GraphError(f"Graph {bare[0]} has no colors and others have; color all graphs or none.")
    if bare:
        return assemble(sizes, source, target, y=labels, names=names)
    codes, palette = _encode([piece.colors for piece in pieces], what)
    return assemble(sizes, source, target, codes, palette, labels, names)


def _labels(y: ArrayLike | None, graphs: int) -> NDArray[Any] | None:
    if y is None:
        return None
    labels = np.atleast_1d(label_array(y))
    if labels.shape != (graphs,):
        raise GraphError(f"y has shape {labels.shape}; expected one label for each of the {graphs} graphs.")
    return labels


def _check(piece: ParsedGraph, graph: int) -> None:
    if not 0 <= piece.size < MAX_VERTICES_PER_GRAPH:
        raise GraphError(f"Graph {graph} has {piece.size} vertices; expected 0 to {MAX_VERTICES_PER_GRAPH - 1}.")
    outside = (piece.source < 0) | (piece.source >= piece.size) | (piece.target < 0) | (piece.target >= piece.size)
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        raise GraphError(
            f"Graph {graph}: edge {at} joins the vertices {piece.source[at]} and {piece.target[at]}; "
            f"with {piece.size} vertices they must lie in 0..{piece.size - 1}."
        )
    amount = piece.size if piece.colors is None else length_of(piece.colors)
    if amount != piece.size:
        raise GraphError(f"Graph {graph} has {piece.size} vertices but {amount} colors; give every vertex one.")


def length_of(colors: Any) -> int:
    """How many colors were given; an error for what is not a list or an array."""
    try:
        if not isinstance(colors, str):
            return len(colors)
    except TypeError:  # a number, a generator, an array without dimensions
        pass
    raise GraphError(f"Expected a list or an array of colors, one per vertex; got {colors!r:.60}.")


def _encode(parts: list[Any], what: str) -> tuple[NDArray[np.uint16], tuple[ColorName, ...]]:
    try:
        return encode_colors(_stack(parts, what), what)
    except GraphError:
        # Encode again graph by graph, so that the message names the graph and the vertex inside it.
        for graph, part in enumerate(parts):
            encode_colors(part, f"graph {graph}, {what}")
        raise


def _stack(parts: list[Any], what: str) -> Any:
    """The colors of all graphs as one array or one flat list; numbers and strings never mix in an array."""
    try:
        arrays = [np.asarray(part) for part in parts if len(part)] or [np.zeros(0)]
    except ValueError as error:
        raise GraphError(f"{what}: expected one color per vertex or one-hot rows; numpy says {error}.") from None
    shapes = {array.shape[1:] for array in arrays}
    if len(shapes) > 1:
        raise GraphError(f"{what}: expected one color per vertex, or one-hot rows of one width in all graphs.")
    kinds = {array.dtype.kind for array in arrays}
    if shapes != {()} or (len(kinds) == 1 and kinds <= set("biuf")):
        return np.concatenate(arrays)
    return list(chain.from_iterable(parts))
