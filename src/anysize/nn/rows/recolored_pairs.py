"""Patterns F and their recolored twins H in one batch, drawn anew in every training step.

Both go through the encoder together, so that batch normalization sees them as one batch and its running averages
are not bent by a second pass. H has the topology of F and an independent uniform color at every vertex; where
vertices carry identities (relational pooling), F and H carry the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations as orders
from math import factorial
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from anysize.nn.counter_rng import uniform
from anysize.nn.rows.lookup import Lookup
from anysize.nn.rows.pattern_batch import PatternBatch
from anysize.nn.rows.structure import DENSE_CELLS, Dense, Gather, Level, Structure, Sums
from anysize.nn.rows.universe import Universe, colored_universe, identified_universe


@dataclass(frozen=True)
class Drawn:
    """One draw: a structure that reads out graphs (from F alone), and maps that give r_F - r_H per pattern."""

    structure: Structure
    differences: tuple[Sums, ...]


@dataclass(frozen=True)
class _Later:
    """Sums that are worked out when somebody reads them: most levels are not read in most models."""

    made: Callable[[], Sums]

    def __call__(self, h: Tensor) -> Tensor:
        return self.made()(h)

    def rows(self, items: Tensor) -> Sums:
        return self.made().rows(items)

    def to(self, device: torch.device) -> Sums:
        return self.made().to(device)


@dataclass(frozen=True)
class _First:
    """Sums over the first rows only: those of F."""

    matrix: Tensor

    def __call__(self, h: Tensor) -> Tensor:
        return Dense(self.matrix)(h[:, : self.matrix.shape[1]])

    def rows(self, items: Tensor) -> _First:
        return _First(self.matrix[items])

    def to(self, device: torch.device) -> _First:
        return _First(self.matrix.to(device))


@dataclass(frozen=True)
class _Contrast:
    """r_F - r_H where every vertex has its own row: (sides, permutations, patterns, k)."""

    weight: Tensor  # (patterns, k): presence / permutations
    permutations: int
    even: float | None  # the weight, where it is the same everywhere

    def __call__(self, h: Tensor) -> Tensor:
        models, _, features = h.shape
        sides = h.reshape(models, 2, self.permutations, *self.weight.shape, features)
        if self.even is not None:
            read = sides.sum((2, 4)) * self.even
            return read[:, 0] - read[:, 1]
        return ((sides[:, 0] - sides[:, 1]) * self.weight[..., None]).sum((1, 3))

    def rows(self, items: Tensor) -> Sums:
        raise TypeError("differences are read of all patterns")

    def to(self, device: torch.device) -> _Contrast:
        return _Contrast(self.weight.to(device), self.permutations, self.even)


@dataclass(frozen=True)
class RecoloredPairs:
    """What a draw needs. ``permutations`` is None without identities. All tensors are on one device.

    ``near`` (patterns * k, k - 1): neighbors as vertex numbers, patterns * k for none. ``graph``, ``pattern``,
    ``density``: the cells of the table of densities that are not zero. ``sides`` is 1 where nothing is recolored
    and only identities are drawn.
    """

    colors: Tensor
    near: Tensor
    present: Tensor
    graph: Tensor
    pattern: Tensor
    density: Tensor
    graphs: int
    sides: int
    palette: int
    rounds: int
    permutations: int | None
    orders: Tensor
    universe: Universe | None
    seed: Tensor
    full: bool  # all patterns have k vertices
    by_degree: bool = False
    by_matrix: bool = False  # rows are read by a matrix made in every step, as is best on a GPU

    @staticmethod
    def of(
        batch: PatternBatch, densities: csr_array[Any], rounds: int, permutations: int | None = None,
        recolor: bool = True, seed: int = 0, universal: bool = True, by_degree: bool = False,
    ) -> RecoloredPairs:  # fmt: skip
        """The twins of a batch. Without ``universal`` every vertex has its own row, as GCN and PNA need.

        ``permutations``: so many are drawn for every pattern; k! or more: all of them. ``by_degree`` tells the lowest
        rows apart by degree, as GCN needs.
        """
        amount, k = batch.colors.shape
        start = np.arange(amount)[:, None, None] * k
        near = np.where(batch.neighbors >= 0, batch.neighbors + start, amount * k).reshape(amount * k, -1)
        cells = densities.tocoo()
        permutations = permutations and min(permutations, factorial(k))
        alone = bool(((batch.neighbors < 0).all(axis=2) & batch.present).any())
        make = colored_universe if permutations is None else identified_universe
        return RecoloredPairs(
            torch.from_numpy(batch.colors.reshape(-1)), torch.from_numpy(near),
            torch.from_numpy(batch.present.astype(np.float32)),
            torch.from_numpy(cells.row.astype(np.int64)), torch.from_numpy(cells.col.astype(np.int64)),
            torch.from_numpy(cells.data.astype(np.float32)),
            cells.shape[0], 2 if recolor else 1, batch.inputs, rounds, permutations,
            torch.tensor(list(orders(range(k)))) if permutations else torch.zeros(0, dtype=torch.int64),
            make(batch.inputs, k, alone) if universal and not by_degree else None,
            torch.tensor([seed]), bool(batch.present.all()), by_degree,
        )  # fmt: skip

    def to(self, device: torch.device | str) -> RecoloredPairs:
        where = torch.device(device)
        moved = {
            name: getattr(self, name).to(where)
            for name in ("colors", "near", "present", "graph", "pattern", "density", "orders", "seed")
        }
        universe = None if self.universe is None else self.universe.to(where)
        return replace(self, **moved, universe=universe, by_matrix=where.type == "cuda")

    @property
    def copies(self) -> int:
        return self.permutations or 1

    def draw(self, step: Tensor | int) -> Drawn:
        """The twins of one step."""
        marks = self._marks(step)  # (sides * copies, vertices)
        near_marks = torch.nn.functional.pad(marks, (0, 1), value=self._mark_count)[:, self.near]
        weight = self.present.reshape(-1).repeat(len(marks))
        classes, levels = marks, []
        readouts: list[Sums] = [self._shared_readout(marks, self._mark_count)]
        differences: list[Sums] = [self._contrast(marks, self._mark_count)]
        for place in range(self.rounds):
            if place == 0 and self.universe is not None:
                classes, rows = self.universe.classes(marks, near_marks), len(self.universe)
                counted = weight.new_zeros(rows).index_add(0, classes.reshape(-1), weight)
                levels.append(Level(self.universe.own, self.universe.near, counted, self.universe.degree))
                readouts.append(self._shared_readout(classes, rows))
                differences.append(self._contrast(classes, rows))
                continue
            levels.append(self._own_rows(place, classes, near_marks, weight))
            classes = torch.arange(classes.numel(), device=classes.device).view_as(classes)
            readouts.append(_First(self._spread))
            even = 1 / self.copies if self.full else None
            differences.append(_Contrast(self.present / self.copies, self.copies, even))
        structure = Structure(self._features, self._degrees, tuple(levels), tuple(readouts))
        return Drawn(structure, tuple(differences) if self.sides == 2 else ())

    # ---- marks ---------------------------------------------------------------------------------

    @property
    def _mark_count(self) -> int:
        k = self.present.shape[1]
        return self.palette * (k if self.permutations else 1) * (k if self.by_degree else 1)

    def _marks(self, step: Tensor | int) -> Tensor:
        """The marks of all vertices: (sides * copies, vertices)."""
        marks = self._drawn(step)
        if not self.by_degree:
            return marks
        return marks * self.present.shape[1] + (self.near < len(self.near)).sum(1)

    def _drawn(self, step: Tensor | int) -> Tensor:
        """Colors of F and of H, or (color, identity) with the same identities on both sides."""
        sides = self.colors.clamp(min=0)[None]
        if self.sides == 2:
            drawn = uniform(self.seed, step, len(self.colors), stream=1)
            sides = torch.cat([sides, (drawn * self.palette).long().clamp(max=self.palette - 1)])
        if self.permutations is None:
            return sides
        patterns, k = self.present.shape
        if self.permutations == len(self.orders):
            identities = self.orders.repeat(1, patterns)
        else:
            drawn = uniform(self.seed, step, self.permutations * patterns, stream=3)[0]
            chosen = (drawn * len(self.orders)).long().clamp(max=len(self.orders) - 1)
            identities = self.orders[chosen].view(self.permutations, patterns * k)
        return (sides[:, None] * k + identities[None]).view(self.sides * self.permutations, -1)

    @cached_property
    def _features(self) -> Tensor:
        k, found = self.present.shape[1], torch.eye(self.palette, device=self.present.device)
        if self.permutations is not None:
            identities = torch.eye(k, device=self.present.device)
            found = torch.cat([found.repeat_interleave(k, 0), identities.repeat(self.palette, 1)], dim=1)
        return found.repeat_interleave(k, 0) if self.by_degree else found

    @cached_property
    def _degrees(self) -> Tensor:
        """Of the lowest rows; zero where they are not told apart by it."""
        if not self.by_degree:
            return torch.zeros(self._mark_count, device=self.present.device)
        k = self.present.shape[1]
        return torch.arange(k, device=self.present.device, dtype=torch.float32).repeat(self._mark_count // k)

    # ---- rows ----------------------------------------------------------------------------------

    @cached_property
    def _near_rows(self) -> Tensor:
        """Neighbors as rows, when every vertex of every side and copy has its own: (rows, d)."""
        vertices = len(self.near)
        start = torch.arange(self.sides * self.copies, device=self.near.device)[:, None, None] * vertices
        return torch.where(self.near < vertices, self.near + start, 0).view(-1, self.near.shape[1])

    @cached_property
    def _there(self) -> Tensor:
        return (self.near < len(self.near)).to(torch.float32).repeat(self.sides * self.copies, 1)

    @cached_property
    def _near_lookup(self) -> Lookup:
        return Lookup.of(self._there > 0)

    @cached_property
    def _full_lookup(self) -> Lookup:
        """One place more, in front: that of the row itself."""
        return Lookup.of(torch.nn.functional.pad(self._there, (1, 0), value=1.0) > 0)

    @cached_property
    def _within(self) -> Sums:
        """Sums over neighbors where the rows below are the same vertices: no draw changes them."""
        if self.by_matrix:
            return self._near_lookup.sums(self._near_rows, len(self._near_rows))
        return Gather(self._near_rows, self._there)

    def _own_rows(self, place: int, classes: Tensor, near_marks: Tensor, weight: Tensor) -> Level:
        """Every vertex of every side and copy has its own row."""
        counted, degree = None if self.full else weight, self._there.sum(1)
        if place > 1 or (place == 1 and self.universe is None):
            return Level(None, self._within, counted, degree, Gather(self._near_rows, self._there))
        if place == 0:
            index, below = near_marks.reshape(self._near_rows.shape).clamp(max=self._mark_count - 1), self._mark_count
        else:
            assert self.universe is not None
            index, below = classes.reshape(-1)[self._near_rows], len(self.universe)
        own, gather, both = classes.reshape(-1), Gather(index, self._there), None
        if self.by_matrix:
            both = self._full_lookup.sums(torch.cat([own[:, None], index + below], 1), 2 * below)
        return Level(own, gather, counted, degree, gather, both)

    # ---- readouts ------------------------------------------------------------------------------

    @cached_property
    def _spread(self) -> Tensor:
        """(graphs, copies * patterns * k): the density of a pattern at each of its vertices."""
        full = torch.zeros(self.graphs, len(self.present), device=self.present.device)
        full[self.graph, self.pattern] = self.density
        spread = full[:, :, None] * (self.present / self.copies)
        return spread.reshape(self.graphs, -1).repeat(1, self.copies)

    def _shared_readout(self, classes: Tensor, rows: int) -> Sums:
        """Graphs as sums over rows that vertices share: (graphs, rows)."""
        if self.permutations is not None:
            return _Later(lambda: self._read_rows(classes, rows))
        if rows not in self._kept:  # F does not change: nor does what is read of it
            self._kept[rows] = self._read_rows(classes, rows)
        return self._kept[rows]

    def _read_rows(self, classes: Tensor, rows: int) -> Dense:
        patterns, k = self.present.shape
        row = classes.view(-1, patterns, k)[: self.copies, self.pattern]  # (copies, cells, k)
        value = self.density[:, None] * self.present[self.pattern] / self.copies
        flat = torch.zeros(self.graphs * rows, device=value.device)
        place = (self.graph[:, None] * rows + row).reshape(-1)
        return Dense(flat.index_add(0, place, value.expand_as(row).reshape(-1)).view(self.graphs, rows))

    def _contrast(self, classes: Tensor, rows: int) -> Sums:
        """r_F - r_H as sums over rows that vertices share."""
        return _Later(lambda: self._contrast_rows(classes, rows))

    def _contrast_rows(self, classes: Tensor, rows: int) -> Sums:
        patterns, k = self.present.shape
        index = classes.view(2, self.copies, patterns, k).permute(2, 0, 1, 3).reshape(patterns, -1)
        if self.present.device.type == "cpu" or patterns * rows > DENSE_CELLS:
            return Gather(index, self._signs)
        return Dense(torch.zeros(patterns, rows, device=index.device).scatter_add(1, index, self._signs))

    @cached_property
    def _signs(self) -> Tensor:
        """(patterns, 2 * copies * k): + for F, - for H, 0 where there is no vertex."""
        sign = torch.tensor([1.0, -1.0], device=self.present.device)[None, :, None, None] / self.copies
        spread = (sign * self.present[:, None, None, :]).expand(-1, -1, self.copies, -1)
        return spread.reshape(len(self.present), -1).contiguous()

    @cached_property
    def _kept(self) -> dict[int, Dense]:
        return {}
