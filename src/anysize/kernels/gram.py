"""Inner products of sparse features: the common columns by dense products, the rare ones by sparse products."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._typing import FloatArray

# One step of a sparse product costs as much as so many of a dense one (best on molecules: 200 to 400).
SPARSE_COST = 300


def gram(left: csr_array[np.float64], right: csr_array[np.float64] | None = None) -> FloatArray:
    """All inner products K[i, j] = <left_i, right_j> of the rows of two tables over the same columns.

    Features of graphs are of two kinds: a few that nearly all graphs have, for which a dense product is far
    faster, and very many that few have, for which a sparse one is. Counts stay exact as long as sums are below
    2**53.

    Args:
        left: (n, features).
        right: (m, features); ``left`` again if None.

    Returns:
        (n, m).

    Examples:
        >>> gram(csr_array(np.array([[1.0, 2.0], [0.0, 3.0]])))
        array([[5., 6.],
               [6., 9.]])
    """
    other = left if right is None else right
    if left.shape[1] != other.shape[1]:
        raise ValueError(f"expected tables over the same columns; got {left.shape[1]} and {other.shape[1]} columns")
    steps = _occupied(left) * (_occupied(other) if right is not None else _occupied(left))
    common = SPARSE_COST * steps > left.shape[0] * other.shape[0]
    dense = _columns(left, common).toarray()
    product = dense @ (dense if right is None else _columns(other, common).toarray()).T
    rare = _columns(left, ~common)
    if rare.nnz:
        sparse: Any = rare @ (rare if right is None else _columns(other, ~common)).T
        product += sparse.toarray()
    return np.asarray(product, np.float64)


def short_indices(table: csr_array[np.float64]) -> csr_array[np.float64]:
    """The same table with 32-bit indices, the only ones scikit-learn takes, unless it is too large for them."""
    if max(table.nnz, *table.shape) >= 2**31:
        return table
    parts = table.data, table.indices.astype(np.int32), table.indptr.astype(np.int32)
    return csr_array(parts, shape=table.shape)


def _occupied(table: csr_array[np.float64]) -> NDArray[np.int64]:
    """How many rows have something in each column."""
    return np.bincount(table.indices, minlength=table.shape[1])


def _columns(table: csr_array[np.float64], keep: NDArray[np.bool_]) -> csr_array[np.float64]:
    """Some of the columns. Faster than indexing, which looks up every column of every row."""
    place = np.cumsum(keep) - 1
    kept = keep[table.indices]
    ends = np.concatenate([[0], np.cumsum(kept)])[table.indptr]
    parts = table.data[kept], place[table.indices[kept]], ends
    return csr_array(parts, shape=(table.shape[0], int(keep.sum())))
