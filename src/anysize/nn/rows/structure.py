"""Structure: the rows that message passing runs on, level by level.

Vertices with the same features and the same multiset of neighbor features have the same embedding after one layer, so
that one row per class of such vertices is enough: a few hundred rows instead of thousands of vertices. A level holds
the rows after one layer; they aggregate the rows of the level below. Batches of patterns, of whole graphs and of
recolored patterns all have this form.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from anysize.nn.rows.aggregation import Neighbors, Sums, take_rows
from anysize.nn.rows.moving import Movable


@dataclass(frozen=True)
class Level(Movable):
    """The rows after one layer.

    ``self_index`` (rows,), or (models, rows) where models differ: the row below of the same vertices; None if the rows
    are those of the level below. ``neighbor_sums``: sums over the rows of the neighbors below. ``weight`` (rows,) or
    (models, rows): how many vertices a row stands for; None: one each. ``degree``, likewise: number of neighbors.
    ``neighbors``: the same neighbors for aggregations other than sums, or None. ``joint``: ``self_index`` and
    ``neighbor_sums`` as one map of two stacked tables, where that is faster.
    """

    self_index: Tensor | None
    neighbor_sums: Sums
    weight: Tensor | None
    degree: Tensor
    neighbors: Neighbors | None = None
    joint: Sums | None = None

    def aggregate(self, self_message: Tensor, neighbor_message: Tensor) -> Tensor:
        """The message of each row itself plus the sum of its neighbors' messages: (models, rows, features)."""
        if self.joint is not None:
            return self.joint(torch.cat([self_message, neighbor_message], 1))
        return self.take_self(self_message) + self.neighbor_sums(neighbor_message)

    def take_self(self, below: Tensor) -> Tensor:
        """The row below of the same vertices: (models, rows, features)."""
        return below if self.self_index is None else take_rows(below, self.self_index)


@dataclass(frozen=True)
class Structure(Movable):
    """Input rows, the levels above them, and one readout per level.

    ``features``: (rows, inputs) of the input rows, shared by all models. ``degree``: their number of neighbors, where
    input rows are distinguished by it. ``readouts``: one map per level, starting with the input rows, from rows to
    patterns or graphs.
    """

    features: Tensor
    degree: Tensor
    levels: tuple[Level, ...]
    readouts: tuple[Sums, ...]
