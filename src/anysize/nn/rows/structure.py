"""What message passing runs on: rows that stand for vertices, level by level, and how rows sum over neighbors.

Vertices with the same features and the same multiset of neighbors' features have the same embedding after one
layer, so one row per such class is enough: a few hundred rows in place of thousands of vertices. A level is the
set of rows after one layer; its rows look at the rows of the level below. The same type holds a batch of patterns,
a batch of whole graphs, and patterns recolored at random.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

from anysize.nn.layers import LARGE_BLOCK

DENSE_CELLS = 4_000_000  # above it a matrix that is mostly zero is kept sparse
DENSE_SHARE = 0.05


class Sums(Protocol):
    """A linear map of rows: h (models, rows below, features) -> (models, rows, features)."""

    def __call__(self, h: Tensor) -> Tensor: ...

    def rows(self, items: Tensor) -> Sums:
        """The sums of some items only: a mini-batch."""
        ...

    def to(self, device: torch.device) -> Sums: ...


class Neighbors(Protocol):
    """The rows below that a row looks at, for aggregations that are no sums."""

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """The smallest and the largest, feature by feature, each (models, rows, features); 0 where there is none."""
        ...

    def to(self, device: torch.device) -> Neighbors: ...


@dataclass(frozen=True)
class Dense:
    """Rows are sums of the rows below by a full matrix (rows, rows below)."""

    matrix: Tensor

    def __call__(self, h: Tensor) -> Tensor:
        if h.is_cuda:  # results in one piece make all that follows faster than a single product would
            return self.matrix @ h
        models, rows, features = h.shape  # one product for all models: they share the matrix
        flat = h.permute(1, 0, 2).reshape(rows, models * features)
        return (self.matrix @ flat).view(-1, models, features).permute(1, 0, 2)

    def rows(self, items: Tensor) -> Dense:
        return Dense(self.matrix[items])

    def to(self, device: torch.device) -> Dense:
        return Dense(self.matrix.to(device))


@dataclass(frozen=True)
class Sparse:
    """Rows are sums of the rows below by a sparse matrix; its transpose is kept for the gradient."""

    matrix: Tensor
    transpose: Tensor

    @staticmethod
    def of(matrix: csr_array[Any]) -> Sparse:
        return Sparse(_csr(matrix), _csr(csr_array(matrix.T)))

    def __call__(self, h: Tensor) -> Tensor:
        models, rows, features = h.shape
        if h.is_cuda and self.matrix.shape[0] * features >= LARGE_BLOCK:
            return self.by_model(h)
        flat = h.permute(1, 0, 2).reshape(rows, models * features)
        product: Tensor = _SparseProduct.apply(flat, self.matrix, self.transpose)
        return product.view(-1, models, features).permute(1, 0, 2)

    def by_model(self, h: Tensor) -> Tensor:
        """The same, model by model: the rows of one fit into the cache of a GPU, and nothing is moved about."""
        product: Tensor = _SparseProduct.apply(h, self.matrix, self.transpose)
        return product

    def rows(self, items: Tensor) -> Dense:
        """As a full matrix: a mini-batch has few rows."""
        chosen = torch.eye(self.matrix.shape[0], device=items.device)[items]
        return Dense((self.transpose @ chosen.T).T.contiguous())

    def to(self, device: torch.device) -> Sparse:
        return Sparse(self.matrix.to(device), self.transpose.to(device))


class _SparseProduct(torch.autograd.Function):
    """A sparse matrix times rows: those of one table (rows, numbers), or of every model (models, rows, features)."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, matrix: Tensor, transpose: Tensor) -> Tensor:
        ctx.transpose = transpose
        return _product(matrix, rows)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return _product(ctx.transpose, gradients[0].contiguous()), None, None


def _product(matrix: Tensor, rows: Tensor) -> Tensor:
    if rows.dim() == 3:
        found = rows.new_empty(rows.shape[0], matrix.shape[0], rows.shape[2])
        for own, place in zip(rows, found, strict=True):
            torch.mm(matrix, own, out=place)
        return found
    if rows.device.type != "cpu":
        return matrix @ rows
    first, columns, values = matrix.crow_indices(), matrix.col_indices(), matrix.values()
    bags: Tensor = torch.nn.functional.embedding_bag(  # the same sums, two or three times as fast there
        columns, rows, first[:-1], per_sample_weights=values.to(rows.dtype), mode="sum"
    )
    return bags


@dataclass(frozen=True)
class Gather:
    """Rows are sums of a few rows below each: ``index`` (rows, d) with weights ``present``, 0 where there is none."""

    index: Tensor
    present: Tensor

    def __call__(self, h: Tensor) -> Tensor:
        models, rows, features = h.shape
        flat = h.permute(1, 0, 2).reshape(rows, models * features)
        summed = torch.nn.functional.embedding_bag(self.index, flat, per_sample_weights=self.present, mode="sum")
        return summed.view(-1, models, features).permute(1, 0, 2).contiguous()

    def taken(self, h: Tensor) -> Tensor:
        """The d rows of every row, whether present or not: (models, rows, d, features)."""
        return h.index_select(1, self.index.reshape(-1)).view(h.shape[0], *self.index.shape, h.shape[2])

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """The smallest and the largest of the rows that are present, feature by feature; 0 where there is none."""
        taken, missing = self.taken(h), (self.present == 0)[None, :, :, None]
        nobody = (self.present.sum(1) == 0)[None, :, None]
        low = taken.masked_fill(missing, float("inf")).amin(2).masked_fill(nobody, 0.0)
        high = taken.masked_fill(missing, float("-inf")).amax(2).masked_fill(nobody, 0.0)
        return low, high

    def rows(self, items: Tensor) -> Gather:
        return Gather(self.index[items], self.present[items])

    def to(self, device: torch.device) -> Gather:
        return Gather(self.index.to(device), self.present.to(device))


def sums_of(matrix: csr_array[Any]) -> Dense | Sparse:
    """The better form of a matrix of sums: full where it is small or well filled, sparse otherwise."""
    cells = matrix.shape[0] * matrix.shape[1]
    if cells <= DENSE_CELLS or matrix.nnz > DENSE_SHARE * cells:
        return Dense(torch.from_numpy(matrix.toarray().astype(np.float32)))
    return Sparse.of(matrix)


def _csr(matrix: csr_array[Any]) -> Tensor:
    return csr_tensor(
        torch.from_numpy(matrix.indptr.astype(np.int64)),
        torch.from_numpy(matrix.indices.astype(np.int64)),
        torch.from_numpy(matrix.data.astype(np.float32)),
        matrix.shape,
    )


def csr_tensor(first: Tensor, index: Tensor, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A sparse matrix of torch from its three arrays, which are taken as they are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # "in beta state", said once by torch
        return torch.sparse_csr_tensor(first, index, values, size=shape, check_invariants=False)


@dataclass(frozen=True)
class Level:
    """The rows after one layer.

    ``own``: the row below that a row continues (rows,); None where the rows are those of the level below.
    ``near``: sums over its neighbors' rows below. ``weight``: how many vertices a row stands for (rows,); None: one
    each. ``degree``: its neighbors (rows,). ``neighbors``: the same neighbors for aggregations other than sums;
    None where nobody asks. ``both``: ``own`` and ``near`` as one map of two tables, one above the other, where that
    is faster.
    """

    own: Tensor | None
    near: Sums
    weight: Tensor | None
    degree: Tensor
    neighbors: Neighbors | None = None
    both: Sums | None = None

    def joined(self, own: Tensor, message: Tensor) -> Tensor:
        """What each row continues of ``own``, and the sum of what its neighbors say: (models, rows, features)."""
        if self.both is not None:
            return self.both(torch.cat([own, message], 1))
        return self.continued(own) + self.near(message)

    def continued(self, below: Tensor) -> Tensor:
        """The row below that each row continues: (models, rows, features)."""
        return below if self.own is None else below.index_select(1, self.own)

    def to(self, device: torch.device) -> Level:
        return Level(
            None if self.own is None else self.own.to(device),
            self.near.to(device),
            None if self.weight is None else self.weight.to(device),
            self.degree.to(device),
            None if self.neighbors is None else self.neighbors.to(device),
            None if self.both is None else self.both.to(device),
        )


@dataclass(frozen=True)
class Structure:
    """Rows of the input, levels above them, and how the rows of each level are read out into items.

    ``features``: (rows, inputs) of the lowest rows, shared by all models; ``degree``: their neighbors, where the
    lowest rows were told apart by it. ``readouts``: one linear map per level, from the lowest on, to the items
    (patterns or graphs).
    """

    features: Tensor
    degree: Tensor
    levels: tuple[Level, ...]
    readouts: tuple[Sums, ...]

    def to(self, device: torch.device | str) -> Structure:
        where = torch.device(device)
        return Structure(
            self.features.to(where),
            self.degree.to(where),
            tuple(level.to(where) for level in self.levels),
            tuple(readout.to(where) for readout in self.readouts),
        )

    def weighted(self, densities: csr_array[Any], readouts: tuple[csr_array[Any], ...]) -> Structure:
        """The same rows read out into graphs: a graph is the sum of its patterns, weighted by their densities.

        ``readouts`` are the maps to patterns as matrices. The product is formed once, so that a training step
        never forms the embedding of a pattern.
        """
        return replace(self, readouts=tuple(sums_of(csr_array(densities @ matrix)) for matrix in readouts))


def rows_index(classes: NDArray[np.int64]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(classes, dtype=np.int64))
