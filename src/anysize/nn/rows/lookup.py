"""Rows that look at rows of a table which a draw picks anew in every step: as sums by one matrix.

How many rows each row looks at is known beforehand, which ones is not. On a GPU a matrix made in every step, and its
transpose for the gradient, are several times faster than reading rows one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from anysize.nn.rows.structure import DENSE_CELLS, Dense, Sparse, Sums, csr_tensor


@dataclass(frozen=True)
class Lookup:
    """The places of the rows that are taken, row by row.

    ``weight`` (rows, d): 1 where a place is taken, otherwise 0. ``place`` (entries,): the taken ones, in one list;
    ``row`` (entries,): whose they are; ``first`` (rows + 1,): where each row begins in the list.
    """

    weight: Tensor
    place: Tensor
    row: Tensor
    first: Tensor

    @staticmethod
    def of(taken: Tensor) -> Lookup:
        """``taken``: (rows, d), yes or no."""
        place = torch.nonzero(taken.reshape(-1))[:, 0]
        first = torch.nn.functional.pad(taken.sum(1).cumsum(0), (1, 0)).to(torch.int32)
        return Lookup(taken.to(torch.float32), place, (place // taken.shape[1]).to(torch.int32), first)

    def sums(self, index: Tensor, table: int) -> Sums:
        """The sums over the rows ``index`` (rows, d) of a table of so many rows; places that are not taken count 0.

        Examples:
            >>> lookup = Lookup.of(torch.tensor([[True, True], [True, False]]))
            >>> lookup.sums(torch.tensor([[0, 2], [1, 0]]), 3)(torch.tensor([[[1.0], [10.0], [100.0]]]))[0, :, 0]
            tensor([101.,  10.])
        """
        rows = len(index)
        if rows * table <= DENSE_CELLS:
            return Dense(torch.zeros(rows, table, device=index.device).scatter_add(1, index, self.weight))
        target = index.reshape(-1)[self.place].to(torch.int32)
        one = torch.ones_like(target)
        amount = torch.zeros(table + 1, dtype=torch.int32, device=index.device).index_add(0, target + 1, one)
        value = one.to(torch.float32)
        order = torch.sort(target, stable=True).indices
        return Sparse(
            csr_tensor(self.first, target, value, (rows, table)),
            csr_tensor(amount.cumsum(0, dtype=torch.int32), self.row[order], value, (table, rows)),
        )
