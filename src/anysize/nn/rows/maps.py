"""Linear maps and extremes of rows, for M models at once.

A tensor of rows is (models, rows, features). A map takes the rows of one level to those of the next, or to patterns or
graphs. The classes differ in how the map is stored.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn.functional import embedding_bag, pad

from anysize.graphs.ragged import offsets

DENSE_CELLS = 4_000_000  # a GPU stores larger matrices sparse, unless they are well filled
DENSE_FILL = 0.05  # share of nonzero cells from which a GPU stores a large matrix dense
CPU_DENSE_FILL = 0.5  # share of nonzero cells from which a dense product is faster than a sparse one on a CPU


class Movable:
    """Base of dataclasses of tensors and of other such dataclasses."""

    def to(self, device: torch.device | str) -> Self:
        """The same on a device; tensors that several parts share stay shared.

        Examples:
            >>> Dense(torch.ones(1, 2)).to("meta").matrix.device.type
            'meta'
        """
        moved: Self = _moved(self, torch.device(device), {})
        return moved


def _moved(value: Any, device: torch.device, copies: dict[int, Tensor]) -> Any:
    if isinstance(value, Tensor):
        return copies.setdefault(id(value), value.to(device))
    if isinstance(value, tuple):
        return tuple(_moved(part, device, copies) for part in value)
    if isinstance(value, Movable):
        names = [field.name for field in fields(value)]  # type: ignore[arg-type]
        return replace(value, **{name: _moved(getattr(value, name), device, copies) for name in names})  # type: ignore[type-var]
    return value


class Sums(Protocol):
    """A map of rows: h (models, rows below, features) -> (models, rows, features)."""

    def __call__(self, h: Tensor) -> Tensor: ...


class Neighbors(Protocol):
    """The neighbors of every row, for aggregations other than sums."""

    def both(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Minimum and maximum per feature, each (models, rows, features); 0 for a row without neighbors."""
        ...


class Readout(Sums, Protocol):
    """A map to patterns or graphs."""

    def rows(self, items: Tensor) -> Readout:
        """The map to these items only, for a mini-batch: (items,), or (models, items) where models differ."""
        ...


@dataclass(frozen=True)
class Dense(Movable):
    """A dense matrix (rows, rows below), or one for each model (models, rows, rows below)."""

    matrix: Tensor

    def __call__(self, h: Tensor) -> Tensor:
        if h.is_cuda or self.matrix.dim() == 3:  # the result is contiguous, which makes later steps faster on a GPU
            return self.matrix @ h
        models, rows, features = h.shape  # one product for all models: they share the matrix
        flat = h.permute(1, 0, 2).reshape(rows, models * features)
        return (self.matrix @ flat).view(-1, models, features).permute(1, 0, 2)

    def rows(self, items: Tensor) -> Dense:
        return Dense(self.matrix[items])


@dataclass(frozen=True)
class Sparse(Movable):
    """A sparse matrix of ``columns`` columns: row r sums the rows ``index[first[r] : first[r + 1]]`` below.

    ``values``: the factor of each entry; None: 1. ``models``: so many models have their rows side by side in the
    matrix, one model after the other; 1: they share it. Several copies of every model's rows, one after the other, are
    mapped alike. ``symmetric``: the matrix is its own transpose; otherwise ``transpose``, if it is known already.
    """

    first: Tensor
    index: Tensor
    values: Tensor | None
    columns: int
    symmetric: bool = False
    models: int = 1
    transpose: Sparse | None = None

    @staticmethod
    def of(matrix: csr_array[Any]) -> Sparse:
        first, index = (torch.from_numpy(part.astype(np.int64)) for part in (matrix.indptr, matrix.indices))
        return Sparse(first, index, torch.from_numpy(matrix.data.astype(np.float32)), matrix.shape[1])

    @staticmethod
    def joined(maps: Sequence[Sparse], number: Sequence[int]) -> Sparse:
        """Another matrix for every model: ``maps[number[m]]`` is that of model m. One matrix: all models share it."""
        if len(maps) == 1:
            return maps[0]
        return replace(_joined(maps, number), transpose=_joined([each.transposed for each in maps], number))

    def __call__(self, h: Tensor) -> Tensor:
        tables = side_by_side(h, self.columns // self.models, self.models)
        product: Tensor = _SparseProduct.apply(tables, self)
        return model_by_model(product, self.models, len(h))

    def rows(self, items: Tensor) -> Dense:
        """As a dense matrix: a mini-batch has few rows."""
        selection = torch.zeros(items.numel(), len(self.first) - 1, device=items.device)
        return Dense(self.below(selection.scatter_(1, items.reshape(-1, 1), 1.0)).view(*items.shape, -1))

    def below(self, matrix: Tensor) -> Tensor:
        """``matrix`` times this matrix, dense."""
        return _product(self.transposed, matrix.T[None])[0].T

    def relabeled(self, classes: Tensor, columns: int) -> Sparse:
        """The same sums where the row below of v is ``classes[v]``, one of ``columns`` rows."""
        return Sparse(self.first, classes[self.index], self.values, columns)

    @cached_property
    def transposed(self) -> Sparse:
        if self.symmetric or self.transpose is not None:
            return self.transpose or self
        rows = len(self.first) - 1
        values = torch.ones(len(self.index), device=self.index.device) if self.values is None else self.values
        if self.index.device.type == "cpu":  # scipy needs no sorting, which is several times as fast
            matrix = csr_array((values.numpy(), self.index.numpy(), self.first.numpy()), shape=(rows, self.columns))
            turned = matrix.tocsc()
            first, index = torch.from_numpy(turned.indptr).long(), torch.from_numpy(turned.indices).long()
            return Sparse(first, index, None if self.values is None else torch.from_numpy(turned.data), rows)
        order = torch.sort(self.index, stable=True).indices
        uses = torch.zeros(self.columns, dtype=torch.int64, device=order.device)
        first = pad(uses.index_add(0, self.index, torch.ones_like(self.index)).cumsum(0), (1, 0))
        index = torch.searchsorted(self.first, order, right=True) - 1
        return Sparse(first, index, None if self.values is None else self.values[order], rows)


def _joined(maps: Sequence[Sparse], number: Sequence[int]) -> Sparse:
    """The matrices of all models side by side."""
    of_model, columns = [maps[n] for n in number], maps[0].columns
    entries = offsets(np.array([len(each.index) for each in of_model])).tolist()
    firsts = [each.first[:-1] + start for each, start in zip(of_model, entries, strict=False)]
    values = [each.values for each in of_model if each.values is not None]
    return Sparse(
        torch.cat([*firsts, firsts[0].new_full((1,), entries[-1])]),
        torch.cat([each.index + m * columns for m, each in enumerate(of_model)]),
        torch.cat(values) if values else None,
        len(of_model) * columns,
        models=len(of_model),
    )


class _SparseProduct(torch.autograd.Function):
    """A sparse matrix times tables (tables, rows below, features)."""

    @staticmethod
    def forward(ctx: Any, tables: Tensor, matrix: Sparse) -> Tensor:
        ctx.matrix = matrix
        return _product(matrix, tables)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return _product(ctx.matrix.transposed, gradients[0]), None


def _product(matrix: Sparse, tables: Tensor) -> Tensor:
    rows, features = len(matrix.first) - 1, tables.shape[2]
    values = None if matrix.values is None else matrix.values.to(tables.dtype)
    if tables.is_cuda:
        values = tables.new_ones(len(matrix.index)) if values is None else values
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # torch warns once that sparse CSR is in beta state
            size = (rows, matrix.columns)
            stored = torch.sparse_csr_tensor(matrix.first, matrix.index, values, size=size, check_invariants=False)
        wide: Tensor = stored @ tables.permute(1, 0, 2).reshape(matrix.columns, len(tables) * features)
        return wide.view(rows, len(tables), features).permute(1, 0, 2)
    product = tables.new_empty(len(tables), rows, features)
    for table, target in zip(tables.contiguous(), product, strict=True):  # faster than a product of torch.sparse
        target.copy_(embedding_bag(matrix.index, table, matrix.first[:-1], mode="sum", per_sample_weights=values))
    return product


@dataclass(frozen=True)
class Chain(Movable):
    """Two maps, one after the other: rows into patterns, patterns into graphs."""

    first: Sums
    second: Dense

    def __call__(self, h: Tensor) -> Tensor:
        return self.second(self.first(h))

    def rows(self, items: Tensor) -> Chain:
        return Chain(self.first, self.second.rows(items))


@dataclass(frozen=True)
class Blocks(Movable):
    """Sums within graphs of n rows each: ``matrices`` (all graphs, rows, n).

    ``numbers``: of the graphs that the rows belong to, (graphs,), or (models, graphs) where models differ; None: all.
    Several copies of every model's rows, one after the other, are mapped alike.
    """

    matrices: Tensor
    numbers: Tensor | None = None

    def __call__(self, h: Tensor) -> Tensor:
        matrices = self.matrices if self.numbers is None else self.matrices[self.numbers]
        blocks = h.reshape(*matrices.shape[:-3], -1, matrices.shape[-3], matrices.shape[-1], h.shape[2])
        if matrices.dim() == 4:
            return (matrices[:, None] @ blocks).reshape(len(matrices), -1, h.shape[2])
        return torch.einsum("grn,cgnf->cgrf", matrices, blocks).reshape(len(h), -1, h.shape[2])


@dataclass(frozen=True)
class Extremes(Movable):
    """Minimum and maximum, per feature, of the rows ``index[first[r] : first[r + 1]]`` below; 0 where there are none.

    ``first`` None: ``index`` is (rows, d), filled up by repetition, and ``present`` (rows, 1) is 0 where there are no
    rows below, else 1. ``columns`` and ``models``: as in `Sparse`. A call gives the maximum, as a readout does.
    """

    index: Tensor
    first: Tensor | None
    present: Tensor | None
    columns: int
    models: int = 1

    def __call__(self, h: Tensor) -> Tensor:
        return self._maximum(h)

    def both(self, h: Tensor) -> tuple[Tensor, Tensor]:
        return -self._maximum(-h), self._maximum(h)

    def _maximum(self, h: Tensor) -> Tensor:
        tables = side_by_side(h, self.columns // self.models, self.models)
        wide = tables.permute(1, 0, 2).reshape(self.columns, len(tables) * h.shape[2])
        highest = embedding_bag(self.index, wide, None if self.first is None else self.first[:-1], mode="max")
        if self.present is not None:
            highest = highest * self.present.to(h.dtype)
        by_table = highest.view(len(highest), len(tables), h.shape[2]).permute(1, 0, 2)
        return model_by_model(by_table, self.models, len(h))


@dataclass(frozen=True)
class Taken(Movable):
    """A map of vertices that share rows: ``index`` (vertices,) or (models, vertices), the row below of each."""

    index: Tensor
    of_vertices: Any  # Sums or Neighbors or both

    def __call__(self, h: Tensor) -> Tensor:
        mapped: Tensor = self.of_vertices(take_rows(h, self.index))
        return mapped

    def both(self, h: Tensor) -> tuple[Tensor, Tensor]:
        low, high = self.of_vertices.both(take_rows(h, self.index))
        return low, high


@dataclass(frozen=True)
class ByCopy(Movable):
    """A map of messages over ``types`` types of edges, of ``rows`` rows in each of several copies.

    Messages come type by type, in each all copies; the map takes them copy by copy, in each all types.
    """

    of_copies: Any  # Sums or Neighbors or both
    types: int
    rows: int

    def _turned(self, h: Tensor) -> Tensor:
        by_type = h.view(len(h), self.types, -1, self.rows, h.shape[2])
        return by_type.transpose(1, 2).reshape(len(h), -1, h.shape[2])

    def __call__(self, h: Tensor) -> Tensor:
        mapped: Tensor = self.of_copies(self._turned(h))
        return mapped

    def both(self, h: Tensor) -> tuple[Tensor, Tensor]:
        low, high = self.of_copies.both(self._turned(h))
        return low, high


def side_by_side(h: Tensor, rows: int, models: int) -> Tensor:
    """Tables with the rows of so many models: (models, copies * rows, features) -> (tables, models * rows, features).

    With ``models`` 1 every copy of every model's rows is a table, otherwise every copy of the rows of all models.
    """
    copies, width = h.shape[1] // rows if rows else 1, h.shape[2]
    if models == 1:
        return h.reshape(len(h) * copies, rows, width)
    by_model = h.expand(models, -1, -1).reshape(models, copies, rows, width)
    return by_model.transpose(0, 1).reshape(copies, models * rows, width)


def model_by_model(tables: Tensor, models: int, stacked: int) -> Tensor:
    """What `side_by_side` made of rows of ``stacked`` models, back in its form: (models, copies * rows, features)."""
    count, rows, width = tables.shape
    if models == 1:
        return tables.reshape(stacked, count // stacked * rows, width)
    by_model = tables.reshape(count, models, rows // models, width)
    return by_model.transpose(0, 1).reshape(models, count * (rows // models), width)


def offset_by_model(index: Tensor, rows: int) -> Tensor:
    """Row numbers (models, ...) as numbers in a table with the rows of all models, one model after the other."""
    start = torch.arange(len(index), device=index.device) * rows
    return index + start.view(-1, *[1] * (index.dim() - 1))


def take_rows(h: Tensor, index: Tensor | None) -> Tensor:
    """The rows with these numbers: (rows,), or (models, rows) where models differ; None: all rows."""
    if index is None:
        return h
    if index.dim() == 1:
        if h.is_cuda:
            return h.index_select(1, index)
        index = index.expand(len(h), -1)  # on a CPU the gradient of rows of one table is several times as fast
    table = h.expand(len(index), -1, -1).reshape(-1, h.shape[2])
    start = torch.arange(len(index), device=index.device)[:, None] * h.shape[1]
    return table.index_select(0, (index + start).reshape(-1)).view(*index.shape, h.shape[2])


def sums_of(matrix: csr_array[Any], on_cpu: bool = False) -> Dense | Sparse:
    """A matrix in its faster form: dense if it is well filled or, on a GPU, small, sparse otherwise."""
    cells = matrix.shape[0] * matrix.shape[1]
    if matrix.nnz >= CPU_DENSE_FILL * cells if on_cpu else cells <= DENSE_CELLS or matrix.nnz > DENSE_FILL * cells:
        return Dense(torch.from_numpy(matrix.toarray().astype(np.float32)))
    return Sparse.of(matrix)


def index_tensor(index: NDArray[np.integer]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(index, dtype=np.int64))
