"""Aggregations: linear maps of rows, extremes over neighbors, and readouts.

A tensor of rows is (models, rows, features). An aggregation maps the rows of one level to the rows of the next, or to
patterns or graphs. The classes differ in how the map is stored: dense, sparse, as an index, as one adjacency matrix per
graph. Which one is fastest depends on the device and on the shape of the map.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from anysize._typing import IntArray
from anysize.nn.rows.moving import Movable

DENSE_CELLS = 4_000_000  # larger matrices are stored sparse, unless they are well filled
DENSE_FILL = 0.05  # share of nonzero cells from which a large matrix is stored dense
CPU_DENSE_FILL = 0.5  # share of nonzero cells from which a dense product is faster than a sparse one on a CPU


class Sums(Protocol):
    """A linear map of rows: h (models, rows below, features) -> (models, rows, features)."""

    def __call__(self, h: Tensor) -> Tensor: ...

    def rows(self, items: Tensor) -> Sums:
        """The map restricted to these output rows, for a mini-batch: (rows,), or (models, rows) for each model."""
        ...

    def to(self, device: torch.device) -> Sums: ...


class Neighbors(Protocol):
    """The neighbors of every row, for aggregations that are not sums."""

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Minimum and maximum per feature, each (models, rows, features); 0 for a row without neighbors."""
        ...

    def to(self, device: torch.device) -> Neighbors: ...


# ---- linear maps of patterns and of classes of vertices ----------------------------------------


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
        if self.matrix.dim() == 2:
            return Dense(self.matrix[items])
        model = torch.arange(len(self.matrix), device=items.device)[:, None]
        return Dense(self.matrix[model, items])

    def transposed(self) -> Dense:
        return Dense(self.matrix.mT)


@dataclass(frozen=True)
class Chained(Movable):
    """Two maps, one after the other: rows into patterns, patterns into graphs."""

    inner: Sums
    outer: Dense

    def __call__(self, h: Tensor) -> Tensor:
        return self.outer(self.inner(h))

    def rows(self, items: Tensor) -> Chained:
        return Chained(self.inner, self.outer.rows(items))


@dataclass(frozen=True)
class Sparse(Movable):
    """A sparse matrix (rows, rows below), with its transpose for the gradient."""

    matrix: Tensor
    transpose: Tensor

    @staticmethod
    def of(matrix: csr_array[Any]) -> Sparse:
        return Sparse(_from_scipy(matrix), _from_scipy(csr_array(matrix.T)))

    def __call__(self, h: Tensor) -> Tensor:
        models, rows, features = h.shape
        product: Tensor
        if h.is_cuda:
            flat = h.permute(1, 0, 2).reshape(rows, models * features)
            product = _SparseProduct.apply(flat, (self.matrix,), (self.transpose,))
            return product.view(-1, models, features).permute(1, 0, 2)
        product = _SparseProduct.apply(h.contiguous(), (self.matrix,) * models, (self.transpose,) * models)
        return product

    def rows(self, items: Tensor) -> Dense:
        """As a dense matrix: a mini-batch has few rows."""
        selection = torch.zeros(items.numel(), self.matrix.shape[0], device=items.device)
        selection.scatter_(1, items.reshape(-1, 1), 1.0)
        return Dense((self.transpose @ selection.T).T.reshape(*items.shape, -1))

    def transposed(self) -> Sparse:
        return Sparse(self.transpose, self.matrix)


@dataclass(frozen=True)
class BySeed(Movable):
    """Another matrix for every seed: ``maps``. ``member`` (models,): which of them is that of each model."""

    maps: tuple[Sparse, ...]
    member: tuple[int, ...]

    def __call__(self, h: Tensor) -> Tensor:
        maps = [self.maps[seed] for seed in self.member]
        rows = h.expand(len(maps), -1, -1)
        product: Tensor = _SparseProduct.apply(rows, [each.matrix for each in maps], [each.transpose for each in maps])
        return product

    def rows(self, items: Tensor) -> Sums:
        raise TypeError("rows that differ by model are always computed all at once")


class _SparseProduct(torch.autograd.Function):
    """Sparse matrices times rows: (rows, values) with one matrix, or (models, rows, features) with one per model.

    A GPU takes only one matrix, the same for all models.
    """

    @staticmethod
    def forward(ctx: Any, rows: Tensor, matrices: Sequence[Tensor], transposes: Sequence[Tensor]) -> Tensor:
        ctx.transposes = transposes
        return _product(matrices, rows)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return _product(ctx.transposes, gradients[0].contiguous()), None, None


def _product(matrices: Sequence[Tensor], rows: Tensor) -> Tensor:
    if rows.dim() == 2:
        return matrices[0] @ rows
    if len(rows) == 1:
        return _bags(matrices[0], rows[0])[None]
    product = rows.new_empty(rows.shape[0], matrices[0].shape[0], rows.shape[2])
    for matrix, rows_of_model, target in zip(matrices, rows, product, strict=True):
        target.copy_(_bags(matrix, rows_of_model))
    return product


def _bags(matrix: Tensor, rows: Tensor) -> Tensor:
    """On a CPU two to three times as fast as the sparse product."""
    first, columns, values = matrix.crow_indices(), matrix.col_indices(), matrix.values()
    bags: Tensor = torch.nn.functional.embedding_bag(
        columns, rows, first[:-1], per_sample_weights=values.to(rows.dtype), mode="sum"
    )
    return bags


@dataclass(frozen=True)
class Gather(Movable):
    """Sums of a few rows below each: ``index`` (rows, d), with weights ``present`` (0 for padding)."""

    index: Tensor
    present: Tensor

    def __call__(self, h: Tensor) -> Tensor:
        models, rows, features = h.shape
        flat = h.permute(1, 0, 2).reshape(rows, models * features)
        summed = torch.nn.functional.embedding_bag(self.index, flat, per_sample_weights=self.present, mode="sum")
        return summed.view(-1, models, features).permute(1, 0, 2).contiguous()

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        """Minimum and maximum of the rows that are present, per feature; 0 where there are none."""
        taken = h.index_select(1, self.index.reshape(-1)).view(h.shape[0], *self.index.shape, h.shape[2])
        missing = (self.present == 0)[None, :, :, None]
        isolated = (self.present.sum(1) == 0)[None, :, None]
        low = taken.masked_fill(missing, float("inf")).amin(2).masked_fill(isolated, 0.0)
        high = taken.masked_fill(missing, float("-inf")).amax(2).masked_fill(isolated, 0.0)
        return low, high

    def rows(self, items: Tensor) -> Gather:
        return Gather(self.index[items], self.present[items])


@dataclass(frozen=True)
class PerModel(Movable):
    """Other rows for every model: ``inner`` reads one table with the rows of all models, one model after the other.

    Copies of every model's rows, (models * copies, rows, features), are side by side in the table.
    """

    models: int
    inner: Any  # Sums or Neighbors or both

    def __call__(self, h: Tensor) -> Tensor:
        return self._by_model(self.inner(self._table(h)), h.shape[2])

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        low, high = self.inner.extremes(self._table(h))
        return self._by_model(low, h.shape[2]), self._by_model(high, h.shape[2])

    def rows(self, items: Tensor) -> Sums:
        raise TypeError("rows that differ by model are always computed all at once")

    def _table(self, h: Tensor) -> Tensor:
        if len(h) in (1, self.models):
            return h.expand(self.models, -1, -1).reshape(1, -1, h.shape[2])
        copies = h.reshape(self.models, -1, *h.shape[1:])
        return copies.transpose(1, 2).reshape(1, self.models * h.shape[1], -1)

    def _by_model(self, table: Tensor, features: int) -> Tensor:
        copies = table.reshape(self.models, -1, table.shape[2] // features, features)
        return copies.transpose(1, 2).reshape(-1, copies.shape[1], features)


def offset_by_model(index: Tensor, rows: int) -> Tensor:
    """Row numbers (models, ...) as numbers in a table with the rows of all models, one model after the other."""
    start = torch.arange(len(index), device=index.device) * rows
    return index + start.view(-1, *[1] * (index.dim() - 1))


def take_rows(h: Tensor, index: Tensor) -> Tensor:
    """The rows with these numbers: (rows,), or (models, rows) where models differ."""
    if index.dim() == 1:
        if h.is_cuda:
            return h.index_select(1, index)
        index = index.expand(len(h), -1)  # on a CPU the gradient of rows of one table is several times as fast
    table = h.expand(len(index), -1, -1).reshape(-1, h.shape[2])
    return table.index_select(0, offset_by_model(index, h.shape[1]).reshape(-1)).view(*index.shape, h.shape[2])


@dataclass(frozen=True)
class Lookup:
    """Sums over table rows whose indices change in every step, while their number per row does not.

    On a GPU, a matrix built in every step and its transpose for the gradient are several times faster than `Gather`.

    ``weight`` (rows, d): 1 for a used place, 0 for padding. ``place`` (entries,): the used places in one list;
    ``row`` (entries,): the row of each; ``first`` (rows + 1,): where each row starts in the list.
    """

    weight: Tensor
    place: Tensor
    row: Tensor
    first: Tensor

    @staticmethod
    def of(used: Tensor) -> Lookup:
        """``used``: boolean (rows, d)."""
        place = torch.nonzero(used.reshape(-1))[:, 0]
        first = torch.nn.functional.pad(used.sum(1).cumsum(0), (1, 0)).to(torch.int32)
        return Lookup(used.to(torch.float32), place, (place // used.shape[1]).to(torch.int32), first)

    def sums(self, index: Tensor, table_rows: int) -> Sums:
        """Sums over the rows ``index`` (rows, d) of a table with this many rows; padding counts 0.

        Examples:
            >>> lookup = Lookup.of(torch.tensor([[True, True], [True, False]]))
            >>> lookup.sums(torch.tensor([[0, 2], [1, 0]]), 3)(torch.tensor([[[1.0], [10.0], [100.0]]]))[0, :, 0]
            tensor([101.,  10.])
        """
        rows = len(index)
        if rows * table_rows <= DENSE_CELLS:
            return Dense(torch.zeros(rows, table_rows, device=index.device).scatter_add(1, index, self.weight))
        target = index.reshape(-1)[self.place].to(torch.int32)
        one = torch.ones_like(target)
        uses = torch.zeros(table_rows + 1, dtype=torch.int32, device=index.device).index_add(0, target + 1, one)
        value = one.to(torch.float32)
        order = torch.sort(target, stable=True).indices
        return Sparse(
            csr_tensor(self.first, target, value, (rows, table_rows)),
            csr_tensor(uses.cumsum(0, dtype=torch.int32), self.row[order], value, (table_rows, rows)),
        )

    def on_cpu(self, index: Tensor, table_rows: int, values: Tensor | None = None) -> Sparse:
        """The same, weighted by ``values`` (entries,): scipy transposes without sorting, several times as fast."""
        target = index.reshape(-1).index_select(0, self.place).numpy()
        data = np.ones(len(target), np.float32) if values is None else values.numpy()
        return Sparse.of(csr_array((data, target, self.first.numpy()), shape=(len(index), table_rows)))


def sums_of(matrix: csr_array[Any], on_cpu: bool = False) -> Dense | Sparse:
    """A matrix in its faster form: dense if it is well filled or, on a GPU, small, sparse otherwise."""
    cells = matrix.shape[0] * matrix.shape[1]
    if matrix.nnz >= CPU_DENSE_FILL * cells if on_cpu else cells <= DENSE_CELLS or matrix.nnz > DENSE_FILL * cells:
        return Dense(torch.from_numpy(matrix.toarray().astype(np.float32)))
    return Sparse.of(matrix)


def _from_scipy(matrix: csr_array[Any]) -> Tensor:
    return csr_tensor(
        torch.from_numpy(matrix.indptr.astype(np.int64)),
        torch.from_numpy(matrix.indices.astype(np.int64)),
        torch.from_numpy(matrix.data.astype(np.float32)),
        matrix.shape,
    )


def csr_tensor(first: Tensor, index: Tensor, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A sparse torch matrix from its three arrays, without checks or copies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # torch warns once that sparse CSR is in beta state
        return torch.sparse_csr_tensor(first, index, values, size=shape, check_invariants=False)


def index_tensor(index: IntArray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(index, dtype=np.int64))


# ---- aggregations of whole graphs ---------------------------------------------------------------


class _WholeGraphs(Movable):
    """Base of aggregations over vertices of whole graphs, which cannot be restricted to some graphs."""

    def rows(self, items: Tensor) -> Sums:
        raise TypeError("build a mini-batch of whole graphs from the graphs: its rows differ from those of all graphs")


@dataclass(frozen=True)
class BlockDiagonal(_WholeGraphs):
    """Sums within graphs of n rows each, by their adjacency matrices.

    ``matrices`` (all graphs, n, n). ``numbers``: the graphs that the rows belong to, (graphs,), or (models, graphs)
    where models differ, with copies of every model's rows one after the other; None: all.
    """

    matrices: Tensor
    numbers: Tensor | None = None

    def __call__(self, h: Tensor) -> Tensor:
        matrices = self._taken
        n, features = matrices.shape[-1], h.shape[2]
        blocks = _blocks(h, matrices[..., 0])
        if n <= features or matrices.dim() == 4:  # repeating the matrices is cheaper than transposing the rows
            return (matrices.unsqueeze(-4) @ blocks).view(h.shape)
        turned = blocks.permute(1, 2, 0, 3).flatten(2)
        summed = torch.bmm(matrices, turned).unflatten(2, (-1, features))
        return summed.permute(2, 0, 1, 3).reshape(h.shape)

    @cached_property
    def _taken(self) -> Tensor:
        return self.matrices if self.numbers is None else self.matrices[self.numbers]

    def transposed(self) -> BlockDiagonal:
        """The same: graphs are undirected."""
        return self


def _blocks(h: Tensor, vertices: Tensor) -> Tensor:
    """The rows of the graphs whose vertices are (graphs, n): (models, graphs, n, features).

    Where models differ, (models, graphs, n): (models, copies, graphs, n, features).
    """
    return h.reshape(*vertices.shape[:-2], -1, *vertices.shape[-2:], h.shape[2])


@dataclass(frozen=True)
class PaddedSum(_WholeGraphs):
    """Sums over the n rows of each graph with weights (graphs, n), or (models, graphs, n) where models differ."""

    weight: Tensor

    def __call__(self, h: Tensor) -> Tensor:
        summed = self.weight[..., None, :, None, :] @ _blocks(h, self.weight)
        return summed.squeeze(-2).flatten(0, -3)


@dataclass(frozen=True)
class PaddedMax(_WholeGraphs):
    """Maximum over the n rows of each graph.

    ``padding`` (graphs, n), or (models, graphs, n) where models differ: -inf for rows that are no vertices, else 0.
    """

    padding: Tensor

    def __call__(self, h: Tensor) -> Tensor:
        padding = self.padding[..., None, :, :, None]
        highest = (_blocks(h, self.padding) + padding).amax(-2)
        empty = padding[..., 0, :] < 0  # padding in front: a graph without vertices
        return highest.masked_fill(empty, 0.0).flatten(0, -3)


@dataclass(frozen=True)
class SegmentExtremes(_WholeGraphs):
    """Extremes over lists of any length: in entry e, row ``row[e]`` reads the row ``index[e]`` below.

    A call gives the maximum, which is the max readout. ``amount``: the number of rows. (`torch.segment_reduce` has a
    wrong gradient here: with a negative gradient it counts equal entries several times.)
    """

    index: Tensor
    row: Tensor
    amount: int

    @staticmethod
    def of(index: Tensor, first: Tensor) -> SegmentExtremes:
        """Row r reads ``index[first[r] : first[r + 1]]``."""
        row = torch.repeat_interleave(torch.arange(len(first) - 1, device=first.device), first.diff())
        return SegmentExtremes(index, row, len(first) - 1)

    def __call__(self, h: Tensor) -> Tensor:
        return self._reduce(self._take(h), "amax", h)

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        taken = self._take(h)
        return self._reduce(taken, "amin", h), self._reduce(taken, "amax", h)

    def _take(self, h: Tensor) -> Tensor:
        return h.permute(1, 0, 2).flatten(1).index_select(0, self.index)

    def _reduce(self, taken: Tensor, how: str, h: Tensor) -> Tensor:
        row = self.row[:, None].expand_as(taken)
        reduced = taken.new_zeros(self.amount, taken.shape[1]).scatter_reduce(0, row, taken, how, include_self=False)
        return reduced.view(-1, h.shape[0], h.shape[2]).permute(1, 0, 2)


@dataclass(frozen=True)
class PaddedNeighbors(Movable):
    """At most d rows below each: ``index`` (d, rows), padded by repeating the first entry.

    ``used`` (rows,): the number of entries without padding. ``weight`` (d, rows): how many neighbors an entry stands
    for; None: one each. ``degree`` (rows,): the number of neighbors. ``sums``: the same neighbors as a linear map.
    """

    index: Tensor
    used: Tensor
    weight: Tensor | None
    degree: Tensor
    sums: Dense | Sparse | BlockDiagonal

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        models, rows, features = h.shape
        flat = h.permute(1, 0, 2).reshape(rows, models * features)
        nonempty = (self.used > 0).to(h.dtype)[:, None]
        low, high = (extreme * nonempty for extreme in _Extremes.apply(flat, self.index))
        shape = (-1, models, features)
        return low.view(shape).permute(1, 0, 2), high.view(shape).permute(1, 0, 2)


class _Extremes(torch.autograd.Function):
    """Minimum and maximum over an index (d, rows), one of the d slots after the other.

    No tensor of shape (rows, d, features) is formed. The gradient needs the winning slot; it is tracked by arithmetic,
    which is several times faster than by masks. The first of equal values wins.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        tracked = ctx.needs_input_grad[0]
        low, high, lowest, highest = _extremes_by_slot(x, index, tracked)
        if tracked:
            ctx.save_for_backward(lowest, highest, index)
            ctx.below = x.shape[0]
        return low, high

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        lowest, highest, index = ctx.saved_tensors
        rows, width = lowest.shape
        inner = gradients[0].new_zeros(ctx.below, width)
        for slot, outer in zip((lowest, highest), gradients, strict=True):
            place = slot.long().mul_(rows).add_(torch.arange(rows, device=index.device)[:, None])
            inner.scatter_add_(0, index.reshape(-1)[place], outer)
        return inner, None


def _extremes_by_slot(x: Tensor, index: Tensor, tracked: bool) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Minimum and maximum, and the first slot of each, which is 0 unless ``tracked``."""
    low = x.index_select(0, index[0])
    high = low.clone()
    lowest, highest = torch.zeros_like(low), torch.zeros_like(low)
    for slot in range(1, len(index)):
        here = x.index_select(0, index[slot])
        if tracked:
            higher, lower = (here - high).sign_().clamp_(min=0), (low - here).sign_().clamp_(min=0)
            highest.addcmul_(slot - highest, higher)
            lowest.addcmul_(slot - lowest, lower)
        torch.maximum(high, here, out=high)
        torch.minimum(low, here, out=low)
    return low, high, lowest, highest


# ---- compositions --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Indexed(_WholeGraphs):
    """An aggregation over vertices that share rows: ``index`` (vertices,) or (models, vertices), the row of each."""

    index: Tensor
    inner: Any  # Sums or Neighbors or both

    def __call__(self, h: Tensor) -> Tensor:
        found: Tensor = self.inner(take_rows(h, self.index))
        return found

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        return self.inner.extremes(take_rows(h, self.index))


@dataclass(frozen=True)
class Copies(_WholeGraphs):
    """The same aggregation for several copies of the vertices, one after the other: (models, copies * rows, features).

    ``mean``: average over the copies, as relational pooling does in its readout.
    """

    copies: int
    inner: Any  # Sums or Neighbors or both
    mean: bool = False

    def __call__(self, h: Tensor) -> Tensor:
        summed = self._by_model(self.inner(self._table(h)))
        return summed.unflatten(1, (self.copies, -1)).mean(1) if self.mean else summed

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        low, high = self.inner.extremes(self._table(h))
        return self._by_model(low), self._by_model(high)

    def _table(self, h: Tensor) -> Tensor:
        """(models * copies, rows of one copy, features)."""
        return h.unflatten(1, (self.copies, h.shape[1] // self.copies)).flatten(0, 1)

    def _by_model(self, table: Tensor) -> Tensor:
        return table.unflatten(0, (-1, self.copies)).flatten(1, 2)
