"""What message passing runs on: rows that stand for vertices, level by level, and how rows sum over neighbours.

Vertices with the same features and the same multiset of neighbours' features have the same embedding after one
layer, so one row per such class is enough: a few hundred rows in place of thousands of vertices. A level is the
set of rows after one layer; its rows look at the rows of the level below. The same type holds a batch of patterns,
a batch of whole graphs, and patterns recoloured at random.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor

DENSE_CELLS = 4_000_000  # above it a matrix that is mostly zero is kept sparse
DENSE_SHARE = 0.05


class Sums(Protocol):
    """A linear map of rows: h (models, rows below, features) -> (models, rows, features)."""

    def __call__(self, h: Tensor) -> Tensor: ...

    def rows(self, items: Tensor) -> Sums:
        """The sums of some items only: a mini-batch."""
        ...

    def to(self, device: torch.device) -> Sums: ...


@dataclass(frozen=True)
class Dense:
    """Rows are sums of the rows below by a full matrix (rows, rows below)."""

    matrix: Tensor

    def __call__(self, h: Tensor) -> Tensor:
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

    def __call__(self, h: Tensor) -> Tensor:
        models, rows, features = h.shape
        flat = h.permute(1, 0, 2).reshape(rows, models * features)
        product: Tensor = _SparseProduct.apply(flat, self.matrix, self.transpose)
        return product.view(-1, models, features).permute(1, 0, 2)

    def rows(self, items: Tensor) -> Dense:
        """As a full matrix: a mini-batch has few rows."""
        chosen = torch.eye(self.matrix.shape[0], device=items.device)[items]
        return Dense((self.transpose @ chosen.T).T.contiguous())

    def to(self, device: torch.device) -> Sparse:
        return Sparse(self.matrix.to(device), self.transpose.to(device))


class _SparseProduct(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, dense: Tensor, matrix: Tensor, transpose: Tensor) -> Tensor:
        ctx.transpose = transpose
        return matrix @ dense

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return ctx.transpose @ gradients[0].contiguous(), None, None


@dataclass(frozen=True)
class Gather:
    """Rows are sums of a few rows below each: ``index`` (rows, d) with weights ``present``, 0 where there is none."""

    index: Tensor
    present: Tensor

    def __call__(self, h: Tensor) -> Tensor:
        models, rows, features = h.shape
        if h.device.type == "cpu":  # one pass there; on a GPU its gradient would sort the index in every step
            flat = h.permute(1, 0, 2).reshape(rows, models * features)
            summed = torch.nn.functional.embedding_bag(self.index, flat, per_sample_weights=self.present, mode="sum")
            return summed.view(-1, models, features).permute(1, 0, 2)
        total = h.new_zeros(models, len(self.index), features)
        for place in range(self.index.shape[1]):
            total = torch.addcmul(total, h.index_select(1, self.index[:, place]), self.present[:, place, None])
        return total

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
    return Sparse(_csr(matrix), _csr(csr_array(matrix.T)))


def _csr(matrix: csr_array[Any]) -> Tensor:
    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr.astype(np.int64)),
        torch.from_numpy(matrix.indices.astype(np.int64)),
        torch.from_numpy(matrix.data.astype(np.float32)),
        size=matrix.shape,
        check_invariants=False,
    )


@dataclass(frozen=True)
class Level:
    """The rows after one layer.

    ``own``: the row below that a row continues (rows,). ``near``: sums over its neighbours' rows below.
    ``weight``: how many vertices a row stands for (rows,). ``degree``: its neighbours (rows,).
    ``neighbours``: the same neighbours as an index, for aggregations other than sums; None where nobody asks.
    """

    own: Tensor
    near: Sums
    weight: Tensor
    degree: Tensor
    neighbours: Gather | None = None

    def to(self, device: torch.device) -> Level:
        return Level(
            self.own.to(device),
            self.near.to(device),
            self.weight.to(device),
            self.degree.to(device),
            None if self.neighbours is None else self.neighbours.to(device),
        )


@dataclass(frozen=True)
class Structure:
    """Rows of the input, levels above them, and how the rows of each level are read out into items.

    ``features``: (rows, inputs) of the lowest rows, shared by all models; ``degree``: their neighbours, where the
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
