"""Adjacency matrices in memory: scipy sparse, numpy, pandas, torch."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anysize._errors import GraphError
from anysize._schema import check_array, check_compressed_rows
from anysize.graphs.graphset import GraphSet
from anysize.io.dropped import warn_unused
from anysize.io.objects import GraphType, as_list, is_array, split_by_graph, to_numpy, type_name
from anysize.io.parsed import ParsedGraph, join_graphs

SPARSE_MATRIX = GraphType("a scipy sparse matrix", (("scipy", "sparray"), ("scipy", "spmatrix")))


def from_scipy(matrices: Any, colors: Any = None, y: ArrayLike | None = None, *, warn: bool = True) -> GraphSet:
    """Convert square adjacency matrices (scipy sparse, numpy, pandas or torch); any non-zero entry is an edge.

    Weights and directions are not used; a warning says so if weights differ or entries lack their reverse. A
    correlation matrix, where almost every entry is non-zero, needs a threshold first: ``abs(matrix) > 0.5``.

    Args:
        matrices: a matrix, or an iterable of matrices. A matrix need not be symmetric: an entry in one direction is
            enough. The diagonal holds no edges.
        colors: one color per vertex (or one-hot rows); for several matrices a list of such, one per matrix.
        y: one label per graph.
        warn: whether to warn about weights and directions that are not used.

    >>> import numpy as np
    >>> from_scipy(np.array([[0, 2, 0], [2, 0, 2], [0, 2, 0]])).edges().tolist()
    [[0, 1], [1, 2]]
    """
    single = SPARSE_MATRIX.matches(matrices) or (is_array(matrices) and np.ndim(matrices) == 2)
    items = [matrices] if single else as_list(matrices, "a scipy sparse matrix, a 2-D numpy array or a list of them")
    colors_of = split_by_graph(colors, single, len(items), "colors")
    parsed = [_parse(item, graph, colors_of[graph]) for graph, item in enumerate(items)]
    graphs = join_graphs(parsed, y)
    if warn:
        warn_unused(parsed, graphs)
    return graphs


def _checked(item: Any) -> Any:
    """The matrix; a ValueError for inconsistent arrays, which make compiled code of scipy read beyond them."""
    if item.format in ("csr", "csc", "bsr"):
        rows, columns = item.shape if item.format != "csc" else item.shape[::-1]
        height, width = item.blocksize if item.format == "bsr" else (1, 1)
        used = int(check_array(item.indptr, "indptr", "iu", (rows // height + 1,), 0, len(item.data))[-1])
        indices = check_array(item.indices, "indices", "iu", (None,))[:used]
        check_compressed_rows(item.indptr, indices, used, (rows // height, columns // width))
        if item.data.ndim != (3 if item.format == "bsr" else 1) or len(item.data) < used:
            raise ValueError(f"expected {used} entries; got data of shape {item.data.shape}")
        if len(item.indices) > used or len(item.data) > used:  # scipy allows that, and reads too far
            item = item.copy()
            item.prune()
    elif item.format == "coo":
        for name, ends, size in (("row", item.row, item.shape[0]), ("col", item.col, item.shape[1])):
            check_array(ends, name, "iu", (len(item.data),), 0, size - 1)
    elif item.format == "dia":
        check_array(item.offsets, "offsets", "iu", (len(item.data),))
    return item


def _parse(item: Any, graph: int, colors: Any) -> ParsedGraph:
    sparse = SPARSE_MATRIX.matches(item)
    if not sparse:
        if not is_array(item):
            expected = "a scipy sparse matrix or a 2-D numpy array"
            raise GraphError(f"Graph {graph} has type {type_name(item)}; expected {expected}.")
        item = to_numpy(item, f"Graph {graph}")
    if item.ndim != 2 or item.shape[0] != item.shape[1]:
        raise GraphError(f"Graph {graph}: expected a square adjacency matrix; got shape {item.shape}.")
    if item.dtype.kind not in "biuf":
        raise GraphError(f"Graph {graph}: expected a matrix of numbers; got dtype {item.dtype}.")
    if sparse:
        try:
            entries = _checked(item).tocoo(copy=True)
        except (ValueError, TypeError, IndexError, KeyError) as error:
            raise GraphError(f"Graph {graph}: the arrays of the sparse matrix do not fit together: {error}.") from None
        entries.sum_duplicates()
        rows, columns, weights = entries.row, entries.col, entries.data
    else:
        rows, columns = np.nonzero(item)
        weights = item[rows, columns]
    # Fisher's z of a correlation matrix is infinite on the diagonal, which holds no edges.
    infinite = np.flatnonzero(~np.isfinite(weights) & (rows != columns))
    if infinite.size:
        at = infinite[0]
        raise GraphError(
            f"Graph {graph}: the entry in row {rows[at]}, column {columns[at]} is {weights[at]}; "
            "expected a finite number."
        )
    nonzero = weights != 0  # a sparse matrix may store zeros
    ends = rows[nonzero].astype(np.int64), columns[nonzero].astype(np.int64)
    return ParsedGraph(item.shape[0], *ends, colors, weights[nonzero & (rows != columns)], symmetric=True)
