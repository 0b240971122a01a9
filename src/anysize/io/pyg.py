"""Graphs of PyG. The library is not imported: a graph that can be passed in has brought it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anysize._errors import GraphError
from anysize.graphs.graphset import GraphSet
from anysize.io.dropped import rows_vary, tell, unused_edges, unused_vertices
from anysize.io.memory import check_attribute, ends_of, several
from anysize.io.pieces import ParsedGraph, join_graphs

_NO_COLORS = frozenset({"pos", "batch", "y", "id", "name", "n_id"})  # places, numbers and labels of vertices


def from_pyg(data: Any, color: str | None = None, y: ArrayLike | None = None, *, warn: bool = True) -> GraphSet:
    """A set from one PyG `Data`, several, a dataset, a `Batch`, several of them, or a `DataLoader`.

    Features, weights of edges and labels that are not used are named in one warning.

    Args:
        data: the graphs; ``edge_index`` may hold each edge once or in both directions.
        color: the field with one integer or string per vertex (one column allowed) or one-hot rows, such as ``"x"``;
            without it the graphs are uncolored. Of a field with several columns make one first:
            ``data.atom = data.x[:, 0]``.
        y: one label per graph; without it the ``y`` of the graphs, if each holds exactly one number.
        warn: False to say nothing of what is not used.
    """
    check_attribute(color)
    items = [graph for item in several(data, "pyg") for graph in _unpacked(item)]
    pieces = [_piece(item, graph, color) for graph, item in enumerate(items)]
    complaint = None
    if y is None:
        y, complaint = _own_labels(items)
    graphs = join_graphs(pieces, y, f"field {color!r}")
    if warn:
        tell([*_unused(items, color), *([] if complaint is None else [complaint])])
    return graphs


def _unpacked(item: Any) -> list[Any]:
    """The graphs in a batch; a graph that is none is the only one in it."""
    if not hasattr(item, "to_data_list"):
        return [item]
    try:
        return list(item.to_data_list())
    except (RuntimeError, AttributeError):
        raise GraphError(
            "A PyG Batch that Batch.from_data_list did not make cannot be taken apart into its graphs; pass them as a "
            "list of Data."
        ) from None


def _piece(item: Any, graph: int, color: str | None) -> ParsedGraph:
    size = item.num_nodes
    if size is None:
        raise GraphError(f"Graph {graph}: the PyG Data does not tell its number of vertices; set num_nodes.")
    index = getattr(item, "edge_index", None)
    if index is None and getattr(item, "adj_t", None) is not None:
        raise GraphError(f"Graph {graph}: the PyG Data has adj_t but no edge_index; undo the ToSparseTensor transform.")
    pairs = np.zeros((2, 0), np.int64) if index is None else _to_numpy(index)
    if pairs.size and (pairs.ndim != 2 or len(pairs) != 2):
        raise GraphError(f"Graph {graph}: expected an edge_index of shape (2, edges); got {pairs.shape}.")
    ends = ends_of(pairs.T, graph)
    colors = None if color is None else _colors(item, graph, color)
    return ParsedGraph(int(size), ends[:, 0], ends[:, 1], colors)


def _colors(item: Any, graph: int, color: str) -> NDArray[Any]:
    field = getattr(item, color, None)
    if field is None:
        raise GraphError(f"Graph {graph}: the PyG Data has no field {color!r}; name one, or leave out color.")
    colors = _to_numpy(field)
    if colors.ndim == 2 and colors.shape[1] == 1:
        if colors.dtype.kind in "iuU":
            return colors[:, 0]  # a column of categories, not a one-hot row of width one
        if not (colors == 1).all():
            raise GraphError(
                f"Graph {graph}: the field {color!r} is one column of {colors.dtype}; cast categories to integers, "
                f"data.{color} = data.{color}.long(), and bin continuous values first."
            )
    if colors.ndim == 2 and ((colors != 0).sum(axis=1) != 1).any():
        raise GraphError(
            f"Graph {graph}: the field {color!r} has {colors.shape[1]} columns and is not one-hot; give every vertex "
            f"one category in a field of its own, such as data.kind = data.{color}[:, 0], and pass color='kind'."
        )
    return colors


def _own_labels(items: Sequence[Any]) -> tuple[NDArray[Any] | None, str | None]:
    """The labels of the graphs; or none, and why, where some graphs have labels that cannot be taken."""
    own = [None if getattr(item, "y", None) is None else _to_numpy(item.y) for item in items]
    given = [label for label in own if label is not None]
    if not given:
        return None, None
    if len(given) < len(items):
        return None, f"{len(given)} of {len(items)} graphs have y and the others have none, so that the set has none"
    odd = next((graph for graph, label in enumerate(given) if label.size != 1), None)
    if odd is None:
        return np.concatenate([label.ravel() for label in given]), None
    if given[odd].shape[:1] == (items[odd].num_nodes,):
        return None, None  # labels of vertices
    shape = given[odd].shape
    return None, f"the y of graph {odd} has shape {shape} where a label is one number, so that the set has no labels"


def _unused(items: Sequence[Any], color: str | None) -> Iterator[str]:
    if color is None:
        fields = _common(items, "node_attrs", {"x"}) - _NO_COLORS
        own = [name for name in fields if not name.endswith("_mask") and _varies(items, name)]
        yield from unused_vertices(own, "field", " if it holds categories or one-hot rows")
    edges = _common(items, "edge_attrs", {"edge_attr", "edge_weight"}) - {"edge_index"}
    yield from unused_edges([name for name in edges if _varies(items, name)], "field")


def _common(items: Sequence[Any], level: str, usual: set[str]) -> set[str]:
    """The usual fields, and those that PyG takes for fields of vertices, or of edges, in every graph."""
    own = [set(getattr(item, level)()) if hasattr(item, level) else usual for item in items]
    return usual.union(set.intersection(*own) if own else ())


def _varies(items: Sequence[Any], name: str) -> bool:
    try:
        fields = (getattr(item, name, None) for item in items)
        return rows_vary(_to_numpy(field) for field in fields if field is not None)
    except (TypeError, ValueError, RuntimeError):  # sparse features, or whatever else numpy does not take
        return True


def _to_numpy(value: Any) -> NDArray[Any]:
    return np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
