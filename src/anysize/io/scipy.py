"""Adjacency matrices in memory: scipy sparse, numpy, pandas, torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anysize._errors import GraphError
from anysize._schema import check_array, check_compressed_rows
from anysize.graphs.graphset import GraphSet
from anysize.io.dropped import warn_unused
from anysize.io.objects import GraphType, as_list, is_array, split_by_graph, to_numpy, type_name
from anysize.io.parsed import ParsedGraph, join_graphs
from anysize.io.weights import Cut, parse_weights

SPARSE_MATRIX = GraphType("a scipy sparse matrix", (("scipy", "sparray"), ("scipy", "spmatrix")))


def from_scipy(
    matrices: Any,
    colors: Any = None,
    y: ArrayLike | None = None,
    *,
    threshold: float | Sequence[float] | None = None,
    density: float | Sequence[float] | None = None,
    warn: bool = True,
) -> GraphSet:
    """Convert square adjacency matrices (scipy sparse, numpy, pandas or torch); any non-zero entry is an edge.

    A matrix with entries that lack their reverse is a directed graph: row to column. Weights are not used, and a
    warning says so if they differ. A matrix with weights for all pairs, such as correlations, needs a threshold or a
    density.

    Args:
        matrices: a matrix, or an iterable of matrices. The diagonal holds no edges.
        colors: one color per vertex (or one-hot rows); for several matrices a list of such, one per matrix.
        y: one label per graph.
        threshold: pairs with a larger weight, without its sign, are edges. With several thresholds the color of an
            edge is the number of thresholds that it passes.
        density: the share of pairs that are edges: those with the largest weights, without their signs (and all that
            tie with the last of them). Several: as for the threshold.
        warn: whether to warn about weights that are not used.

    >>> import numpy as np
    >>> from_scipy(np.array([[0, 2, 0], [2, 0, 2], [0, 2, 0]])).edges().tolist()
    [[0, 1], [1, 2]]
    >>> from_scipy(np.array([[1, 0.9, 0.2], [0.9, 1, -0.6], [0.2, -0.6, 1]]), threshold=0.5).edges().tolist()
    [[0, 1], [1, 2]]
    """
    cut = Cut.of(threshold, density)
    single = SPARSE_MATRIX.matches(matrices) or (is_array(matrices) and np.ndim(matrices) == 2)
    items = [matrices] if single else as_list(matrices, "a scipy sparse matrix, a 2-D numpy array or a list of them")
    colors_of = split_by_graph(colors, single, len(items), "colors")
    parsed = [parse_adjacency(item, f"Graph {graph}", colors_of[graph], cut) for graph, item in enumerate(items)]
    graphs = join_graphs(parsed, y)
    if warn:
        warn_unused(parsed)
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


def parse_adjacency(item: Any, what: str, colors: Any, cut: Cut, unused: tuple[str, ...] = ()) -> ParsedGraph:
    """The graph of a matrix; ``what`` begins errors, ``unused`` holds clauses about its file."""
    sparse = SPARSE_MATRIX.matches(item)
    if not sparse:
        if not is_array(item):
            expected = "a scipy sparse matrix or a 2-D numpy array"
            raise GraphError(f"{what} has type {type_name(item)}; expected {expected}.")
        item = to_numpy(item, what)
    if item.ndim != 2 or item.shape[0] != item.shape[1]:
        raise GraphError(f"{what}: expected a square adjacency matrix; got shape {item.shape}.")
    if item.dtype.kind not in "biuf":
        raise GraphError(f"{what}: expected a matrix of numbers; got dtype {item.dtype}.")
    if sparse:
        try:
            entries = _checked(item).tocoo(copy=True)
        except (ValueError, TypeError, IndexError, KeyError) as error:
            raise GraphError(f"{what}: the arrays of the sparse matrix do not fit together: {error}.") from None
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
            f"{what}: the entry in row {rows[at]}, column {columns[at]} is {weights[at]}; expected a finite number."
        )
    nonzero = weights != 0  # a sparse matrix may store zeros
    ends = rows[nonzero].astype(np.int64), columns[nonzero].astype(np.int64)
    parsed = parse_weights(item.shape[0], *ends, weights[nonzero], colors, cut, what)
    return replace(parsed, unused=unused) if unused else parsed
