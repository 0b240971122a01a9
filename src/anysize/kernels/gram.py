"""Kernels with explicit features: their common interface, and fast inner products of sparse features."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_array

from anysize._memory import check_table
from anysize._sklearn import BaseEstimator, TransformerMixin
from anysize._typing import BoolArray, FloatArray, IntArray
from anysize.graphs.ragged import index_type, offsets

# One step of a sparse product costs as much as this many steps of a dense one (measured on molecules: 200 to 400).
SPARSE_COST = 300


class ExplicitKernel(TransformerMixin, BaseEstimator):
    """A scikit-learn transformer from graphs to sparse features whose inner products are the kernel."""

    features_: csr_array[np.float64]

    @abstractmethod
    def fit_transform(self, graphs: Any, y: Any = None, validation: Any = None) -> csr_array[np.float64]:
        """Fit the kernel and return the features of the training graphs; ``y`` is ignored.

        Args:
            graphs: the training graphs.
            y: ignored.
            validation: graphs held out from training whose features may be counted to choose a vocabulary.
        """

    @abstractmethod
    def transform(self, graphs: Any) -> csr_array[np.float64]:
        """Features (graphs, columns) over the columns of the training graphs."""

    def fit(self, graphs: Any, y: Any = None) -> Self:
        """Learn which features occur in the training graphs; ``y`` is ignored."""
        self.fit_transform(graphs)
        return self

    def kernel(self, graphs: Any, others: Any = None) -> FloatArray:
        """The kernel matrix (graphs, others); ``others`` are the training graphs if None."""
        features = self.transform(graphs)
        if others is None and not hasattr(self, "features_"):
            raise ValueError("a restored kernel does not hold its training graphs; pass them as others")
        return gram(features, self.features_ if others is None else self.transform(others))


def gram(left: csr_array[np.float64], right: csr_array[np.float64] | None = None) -> FloatArray:
    """All inner products K[i, j] = <left_i, right_j> of the rows of two tables with the same columns.

    A few features occur in nearly all graphs, and a dense product is far faster for them; very many features occur in
    few graphs, and a sparse product is faster. Integer counts stay exact as long as sums are below 2**53. A matrix
    beyond the limit of `anysize._memory` is refused.

    Args:
        left: (n, features).
        right: (m, features); ``left`` if None.

    Returns:
        (n, m).

    Examples:
        >>> gram(csr_array(np.array([[1.0, 2.0], [0.0, 3.0]])))
        array([[5., 6.],
               [6., 9.]])
    """
    other = left if right is None else right
    if left.shape[1] != other.shape[1]:
        raise ValueError(f"expected tables with the same columns; got {left.shape[1]} and {other.shape[1]} columns")
    check_table((left.shape[0], other.shape[0]), "the kernel matrix", "use the sparse features (transform)")
    steps = _column_counts(left) * (_column_counts(other) if right is not None else _column_counts(left))
    common = SPARSE_COST * steps > left.shape[0] * other.shape[0]
    dense = _select_columns(left, common).toarray()
    product = dense @ (dense if right is None else _select_columns(other, common).toarray()).T
    rare = _select_columns(left, ~common)
    if rare.nnz:
        sparse: Any = rare @ (rare if right is None else _select_columns(other, ~common)).T
        product += sparse.toarray()
    return np.asarray(product, np.float64)


def short_indices(table: csr_array[np.float64]) -> csr_array[np.float64]:
    """The same table with indices of `index_type`."""
    short = index_type(table.nnz, *table.shape)
    return csr_array((table.data, table.indices.astype(short), table.indptr.astype(short)), shape=table.shape)


def _column_counts(table: csr_array[np.float64]) -> IntArray:
    """In how many rows each column occurs."""
    return np.bincount(table.indices, minlength=table.shape[1])


def _select_columns(table: csr_array[np.float64], keep: BoolArray) -> csr_array[np.float64]:
    """Some of the columns; faster than scipy's indexing, which looks up every column of every row."""
    position = np.cumsum(keep) - 1
    kept = keep[table.indices]
    ends = offsets(kept)[table.indptr]
    parts = table.data[kept], position[table.indices[kept]], ends
    return csr_array(parts, shape=(table.shape[0], int(keep.sum())))
