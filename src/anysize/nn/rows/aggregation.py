"""How the vertices of whole graphs sum over their neighbors, look for extremes among them, and are read out.

Whole graphs have degrees that patterns never have, so that a matrix of all rows by all rows is mostly zero and an
index of neighbors is wide. Each class here is one way to aggregate; `graph_batch` chooses among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from anysize.nn.rows.structure import Neighbors, Sums


class OfWholeGraphs:
    """Mini-batches of whole graphs are put together anew (`graph_batch`), not cut out of what was there."""

    def rows(self, items: Tensor) -> Sums:
        raise TypeError("a mini-batch of whole graphs has rows of its own: build it from the graphs")


@dataclass(frozen=True)
class Blocks(OfWholeGraphs):
    """Sums within graphs that take n rows each: ``matrices`` (graphs, n, n), an adjacency matrix for every graph."""

    matrices: Tensor

    def __call__(self, h: Tensor) -> Tensor:
        graphs, n, _ = self.matrices.shape
        models, rows, features = h.shape
        parted = h.reshape(models, graphs, n, features)
        if n <= features:  # to repeat the matrices for every model is cheaper than to turn the rows around
            return (self.matrices @ parted).view(models, rows, features)
        turned = parted.permute(1, 2, 0, 3).reshape(graphs, n, models * features)
        summed = torch.bmm(self.matrices, turned).view(graphs, n, models, features)
        return summed.permute(2, 0, 1, 3).reshape(models, rows, features)

    def to(self, device: torch.device) -> Blocks:
        return Blocks(self.matrices.to(device))


@dataclass(frozen=True)
class Pooled(OfWholeGraphs):
    """Graphs as weighted sums of their n rows each: ``weight`` (graphs, n)."""

    weight: Tensor

    def __call__(self, h: Tensor) -> Tensor:
        parted = h.reshape(h.shape[0], *self.weight.shape, h.shape[2])
        return (self.weight[:, None] @ parted)[:, :, 0]

    def to(self, device: torch.device) -> Pooled:
        return Pooled(self.weight.to(device))


@dataclass(frozen=True)
class PooledLargest(OfWholeGraphs):
    """The largest of the n rows of each graph: ``missing`` (graphs, n) is -inf where a graph has no vertex, else 0."""

    missing: Tensor

    def __call__(self, h: Tensor) -> Tensor:
        parted = h.reshape(h.shape[0], *self.missing.shape, h.shape[2]) + self.missing[..., None]
        return parted.amax(2).masked_fill(self.missing[:, :1] < 0, 0.0)  # vertices come first, so that here is none

    def to(self, device: torch.device) -> PooledLargest:
        return PooledLargest(self.missing.to(device))


@dataclass(frozen=True)
class Lists(OfWholeGraphs):
    """Extremes over lists of any lengths: entry e says that row ``row[e]`` looks at the row ``index[e]`` below.

    Called, it gives the largest: the max readout. ``amount``: the number of rows. (`torch.segment_reduce` would be
    the natural tool, but its gradient counts equal entries several times where it is negative.)
    """

    index: Tensor
    row: Tensor
    amount: int

    @staticmethod
    def of(index: Tensor, first: Tensor) -> Lists:
        """Row r looks at ``index[first[r] : first[r + 1]]``."""
        row = torch.repeat_interleave(torch.arange(len(first) - 1, device=first.device), first.diff())
        return Lists(index, row, len(first) - 1)

    def __call__(self, h: Tensor) -> Tensor:
        return self._reduced(self._taken(h), "amax", h)

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        taken = self._taken(h)
        return self._reduced(taken, "amin", h), self._reduced(taken, "amax", h)

    def _taken(self, h: Tensor) -> Tensor:
        return h.permute(1, 0, 2).reshape(h.shape[1], -1).index_select(0, self.index)

    def _reduced(self, taken: Tensor, how: str, h: Tensor) -> Tensor:
        where = self.row[:, None].expand_as(taken)
        found = taken.new_zeros(self.amount, taken.shape[1]).scatter_reduce(0, where, taken, how, include_self=False)
        return found.view(-1, h.shape[0], h.shape[2]).permute(1, 0, 2)

    def to(self, device: torch.device) -> Lists:
        return Lists(self.index.to(device), self.row.to(device), self.amount)


@dataclass(frozen=True)
class Slots:
    """Extremes over at most d rows below each: ``index`` (d, rows), where the first is repeated if there are fewer.

    ``some`` (rows,) is 0 for a row that has none.
    """

    index: Tensor
    some: Tensor

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        models, rows, features = h.shape
        flat = h.permute(1, 0, 2).reshape(rows, models * features)
        low, high = (found * self.some[:, None] for found in _Extremes.apply(flat, self.index))
        shape = (-1, models, features)
        return low.view(shape).permute(1, 0, 2), high.view(shape).permute(1, 0, 2)

    def to(self, device: torch.device) -> Slots:
        return Slots(self.index.to(device), self.some.to(device))


class _Extremes(torch.autograd.Function):
    """Smallest and largest over the slots of an index, one slot after the other.

    Nothing of the size (rows, d, features) is ever formed. What the gradient needs is the slot that won; it is kept
    by arithmetic, which is several times faster than by masks. Among equals the first wins.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, index: Tensor) -> tuple[Tensor, Tensor]:
        low = x.index_select(0, index[0])
        high = low.clone()
        tracked = ctx.needs_input_grad[0]
        lowest, highest = torch.zeros_like(low), torch.zeros_like(low)
        for slot in range(1, len(index)):
            here = x.index_select(0, index[slot])
            if tracked:
                higher, lower = (here - high).sign_().clamp_(min=0), (low - here).sign_().clamp_(min=0)
                highest.addcmul_(slot - highest, higher)
                lowest.addcmul_(slot - lowest, lower)
            torch.maximum(high, here, out=high)
            torch.minimum(low, here, out=low)
        if tracked:
            ctx.save_for_backward(lowest, highest, index)
            ctx.below = x.shape[0]
        return low, high

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        lowest, highest, index = ctx.saved_tensors
        rows, width = lowest.shape
        inner = gradients[0].new_zeros(ctx.below, width)
        for won, outer in zip((lowest, highest), gradients, strict=True):
            place = won.long().mul_(rows).add_(torch.arange(rows, device=index.device)[:, None])
            inner.scatter_add_(0, index.reshape(-1)[place], outer)
        return inner, None


@dataclass(frozen=True)
class Through(OfWholeGraphs):
    """Sums over rows that many vertices share: ``index`` (vertices,) is the shared row of each vertex."""

    index: Tensor
    inner: Sums

    def __call__(self, h: Tensor) -> Tensor:
        return self.inner(h.index_select(1, self.index))

    def to(self, device: torch.device) -> Through:
        return Through(self.index.to(device), self.inner.to(device))


@dataclass(frozen=True)
class ThroughNeighbors:
    """Extremes over rows that many vertices share."""

    index: Tensor
    inner: Neighbors

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        return self.inner.extremes(h.index_select(1, self.index))

    def to(self, device: torch.device) -> ThroughNeighbors:
        return ThroughNeighbors(self.index.to(device), self.inner.to(device))


@dataclass(frozen=True)
class Copies(OfWholeGraphs):
    """The same sums for several copies of the vertices, one copy after the other: (models, copies * rows, features).

    ``mean``: the copies are averaged, as relational pooling does when it reads out.
    """

    copies: int
    inner: Sums
    mean: bool = False

    def __call__(self, h: Tensor) -> Tensor:
        found = self.inner(_parted(h, self.copies))
        if self.mean:
            return found.reshape(h.shape[0], self.copies, -1, h.shape[2]).mean(1)
        return found.reshape(h.shape[0], -1, h.shape[2])

    def to(self, device: torch.device) -> Copies:
        return Copies(self.copies, self.inner.to(device), self.mean)


@dataclass(frozen=True)
class CopiesOfNeighbors:
    """The same extremes for several copies of the vertices."""

    copies: int
    inner: Neighbors

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        low, high = self.inner.extremes(_parted(h, self.copies))
        return low.reshape(h.shape[0], -1, h.shape[2]), high.reshape(h.shape[0], -1, h.shape[2])

    def to(self, device: torch.device) -> CopiesOfNeighbors:
        return CopiesOfNeighbors(self.copies, self.inner.to(device))


def _parted(h: Tensor, copies: int) -> Tensor:
    """Copies as if they were models: (models * copies, rows of one copy, features)."""
    return h.reshape(h.shape[0] * copies, -1, h.shape[2])
