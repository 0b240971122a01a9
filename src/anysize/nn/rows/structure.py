"""Structure: the rows that message passing runs on, level by level.

Vertices with the same features and the same multiset of neighbor features have the same embedding after one layer, so
that one row per class of such vertices is enough: a few hundred rows instead of thousands of vertices. A level holds
the rows after one layer; they aggregate the rows of the level below. Batches of patterns, of whole graphs and of
recolored patterns all have this form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from anysize.nn.rows.maps import Movable, Neighbors, Sums

NO_DEGREE = torch.zeros(0)  # of the rows of patterns, whose layers do not read it


@dataclass(frozen=True)
class Level(Movable):
    """The rows after one layer.

    ``index`` (rows,), or (models, rows) where models differ: the row below of the same vertices; None if the rows are
    those of the level below. ``sum_neighbors``: rows below -> sums over the neighbors. ``weight`` (rows,) or (models,
    rows): how many vertices a row stands for; None: one each. Of whole graphs also ``degree`` and ``degree_below``, the
    number of neighbors (of input rows: where they are distinguished by it), and ``neighbors``, for minimum and maximum.
    ``types``: of edges; ``sum_neighbors`` then has the rows below once for every type, one type after the other.
    """

    index: Tensor | None
    sum_neighbors: Sums
    weight: Tensor | None
    degree: Tensor = NO_DEGREE
    degree_below: Tensor = NO_DEGREE
    neighbors: Neighbors | None = None
    types: int = 0


@dataclass(frozen=True)
class Structure(Movable):
    """Input rows, the levels above them, and one readout per level.

    ``features``: (rows, inputs) of the input rows, or (models, rows, inputs) where models differ. ``readouts``: one map
    per level, starting with the input rows, from rows to patterns or graphs. ``copies``: every item is read out so many
    times, one copy of all items after the other, and averaged.
    """

    features: Tensor
    levels: tuple[Level, ...]
    readouts: tuple[Any, ...]
    copies: int = 1
