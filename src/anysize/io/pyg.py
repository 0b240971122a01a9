"""Graphs of PyTorch Geometric (PyG). The library is not imported: its graphs are recognized by their class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError
from anysize._schema import is_integer
from anysize.io.edges import edge_array
from anysize.io.reader import Library, ParsedGraph, ParsedSet, ReadOptions, to_numpy
from anysize.io.values import rows_vary, stack_features, unused_edges, unused_vertices

_NOT_COLORS = frozenset({"pos", "batch", "y", "id", "name", "n_id"})  # positions, identifiers and labels of vertices


def parse_pyg(data: Sequence[Any], options: ReadOptions) -> ParsedSet:
    """The graphs, also those of batches; ``edge_index`` holds an edge without direction in both directions.

    By default ``x`` becomes colors if it holds one-hot rows, and features if it holds other floating-point numbers;
    ``edge_attr`` edge colors if it holds integers or one-hot rows; and ``y`` the labels if each graph has exactly one
    number, or several targets if each has one row of them.
    """
    items = [graph for item in data for graph in _unbatch(item)]
    color, names, types = options.color, options.feature_names, options.edge_color
    x = _tables(items, "x", lambda item: item.num_nodes) if color != "x" and "x" not in names else None
    if x is not None and rows_vary(x):
        if all(map(_is_one_hot, x)):
            color = "x" if color is None else color
        elif options.features is None and all(table.dtype.kind == "f" for table in x):
            names = ("x",)
    if types is None and _hold_edge_types(items):
        types = "edge_attr"
    one_hot = types is not None and all(map(_is_one_hot, _tables(items, types, _edge_amount) or ()))  # in all graphs
    graphs = [_parse(item, graph, color, types, one_hot, names) for graph, item in enumerate(items)]
    y, problem = _graph_labels(items)
    is_chosen = options.color is not None or options.features is not None
    unused = _unused(items, is_chosen, types, {*names, color})
    return ParsedSet(graphs, y, unused=unused, color_title=f"field {color!r}", y_problem=problem)


PYG = Library("a PyG Data", frozenset({("torch_geometric", "Data")}), parse_pyg)


def _hold_edge_types(items: Sequence[Any]) -> bool:
    """Whether ``edge_attr`` of all graphs holds integers or one-hot rows."""
    tables = _tables(items, "edge_attr", _edge_amount)
    if tables is None or len({table.shape[1:] for table in tables}) != 1:
        return False
    return all(table.dtype.kind in "iu" for table in tables) or all(map(_is_one_hot, tables))


def _edge_amount(item: Any) -> Any:
    return 0 if item.edge_index is None else item.edge_index.shape[1]


def _tables(items: Sequence[Any], name: str, amount: Callable[[Any], Any]) -> list[NDArray[Any]] | None:
    """The field of all graphs in which it may have rows, as arrays of that length; None if they are no such arrays."""
    try:
        counted = [(item, amount(item)) for item in items]
        tables = [to_numpy(getattr(item, name), name) for item, length in counted if length]
        lengths = [length for _, length in counted if length]
    except (GraphError, AttributeError, TypeError, IndexError):
        return None
    fits = all(table.ndim in (1, 2) and len(table) == length for table, length in zip(tables, lengths, strict=True))
    return tables if tables and fits else None


def _is_one_hot(table: NDArray[Any]) -> bool:
    """Whether a table has several columns, and a single 1 and zeros in every row."""
    if table.ndim != 2 or table.shape[1] < 2 or table.dtype.kind not in "biuf":
        return False
    return bool((((table == 1).sum(axis=1) == 1) & ((table != 0).sum(axis=1) == 1)).all())


def _unbatch(item: Any) -> list[Any]:
    """The graphs of a batch; a list of one for a single graph."""
    if not hasattr(item, "to_data_list"):
        return [item]
    try:
        return list(item.to_data_list())
    except (RuntimeError, AttributeError):
        raise GraphError(
            "This PyG Batch was not made by Batch.from_data_list and cannot be split into graphs; pass a list of Data."
        ) from None


def _parse(
    item: Any, graph: int, color: str | None, edge_color: str | None, one_hot: bool, features: Sequence[str]
) -> ParsedGraph:
    size = item.num_nodes
    if size is None:
        raise GraphError(f"Graph {graph}: the PyG Data has an unknown number of vertices; set num_nodes.")
    if not is_integer(size):
        raise GraphError(f"Graph {graph}: expected an integer as num_nodes; got {size!r:.40}.")
    index = getattr(item, "edge_index", None)
    if index is None and getattr(item, "adj_t", None) is not None:
        raise GraphError(f"Graph {graph}: the PyG Data has adj_t but no edge_index; undo the ToSparseTensor transform.")
    pairs = np.zeros((2, 0), np.int64) if index is None else to_numpy(index, f"Graph {graph}, edge_index")
    if pairs.size and (pairs.ndim != 2 or len(pairs) != 2):
        raise GraphError(f"Graph {graph}: expected an edge_index of shape (2, edges); got {pairs.shape}.")
    ends = edge_array(pairs.T, graph)
    colors = None if color is None else _colors(item, graph, color)
    types = None if edge_color is None else _edge_types(item, graph, edge_color, len(ends), one_hot)
    blocks = [(name, _field(item, graph, name)) for name in features if size]
    rows, names = stack_features(blocks, graph)
    return ParsedGraph(
        int(size), ends[:, 0], ends[:, 1], colors, types, rows, () if features == ("x",) else names, directed=True
    )


def _field(item: Any, graph: int, name: str) -> NDArray[Any]:
    field = getattr(item, name, None)
    if field is None:
        raise GraphError(f"Graph {graph}: the PyG Data has no field {name!r}; name another, or leave it out.")
    return to_numpy(field, f"Graph {graph}, field {name!r}")


def _edge_types(item: Any, graph: int, edge_color: str, edges: int, one_hot: bool) -> Any:
    """One color per edge; several columns of integers are joined by commas, unless rows of all graphs are one-hot."""
    if not edges:
        return []
    types = _field(item, graph, edge_color)
    if types.ndim == 2 and types.dtype.kind in "iu" and not one_hot:
        rows, inverse = np.unique(types, axis=0, return_inverse=True)
        return (rows[:, 0] if types.shape[1] == 1 else np.array([",".join(map(str, row)) for row in rows.tolist()]))[
            inverse.ravel()
        ]
    return types


def _colors(item: Any, graph: int, color: str) -> NDArray[Any]:
    colors = _field(item, graph, color)
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
            f"Graph {graph}: the field {color!r} has {colors.shape[1]} columns and is not one-hot; put one category "
            f"per vertex into its own field, such as data.kind = data.{color}[:, 0], and pass color='kind'."
        )
    return colors


def _graph_labels(items: Sequence[Any]) -> tuple[NDArray[Any] | None, str]:
    """One label per graph; or None with the reason, if some graphs have labels that cannot be used."""
    labels = [None if getattr(item, "y", None) is None else to_numpy(item.y, "y") for item in items]
    given = [label for label in labels if label is not None]
    if not given:
        return None, ""
    if len(given) < len(items):
        return None, f"only {len(given)} of {len(items)} graphs have y, so the set has no labels"
    odd = next((graph for graph, label in enumerate(given) if label.size != 1), None)
    if odd is None:
        return np.concatenate([label.ravel() for label in given]), ""
    if all(label.ndim == 2 and label.shape == (1, given[0].size) for label in given):
        return np.concatenate(given), ""  # several targets
    if given[odd].shape[:1] == (items[odd].num_nodes,):
        return None, ""  # labels of vertices
    return None, f"graph {odd} has y of shape {given[odd].shape} instead of one number, so the set has no labels"


def _unused(items: Sequence[Any], chosen: bool, edge_color: str | None, used: set[str | None]) -> Iterator[str]:
    if not chosen:
        fields = _fields(items, "node_attrs", {"x"}) - _NOT_COLORS - used
        varying = [name for name in fields if not name.endswith("_mask") and _varies(items, name)]
        yield from unused_vertices(varying, "field", " if it holds categories or one-hot rows")
    fields = _fields(items, "edge_attrs", {"edge_attr", "edge_weight"}) - {"edge_index", edge_color or ""}
    yield from unused_edges([name for name in fields if _varies(items, name)], "field")


def _fields(items: Sequence[Any], method: str, defaults: set[str]) -> set[str]:
    """The default fields, and those that PyG lists as fields of vertices (or of edges) in every graph."""
    fields = [set(getattr(item, method)()) if hasattr(item, method) else defaults for item in items]
    return defaults.union(set.intersection(*fields) if fields else ())


def _varies(items: Sequence[Any], name: str) -> bool:
    try:
        fields = (getattr(item, name, None) for item in items)
        return rows_vary(to_numpy(field, name) for field in fields if field is not None)
    except (TypeError, ValueError, RuntimeError):  # numpy cannot hold it, such as sparse features
        return True
