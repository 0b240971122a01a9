"""Patterns F and their recolored copies H in one batch, drawn again in every training step.

Both pass through the encoder together, so that batch normalization sees one batch and its running averages are not
affected by a second pass. H has the topology of F and an independent uniform color at every vertex. With identities
(relational pooling), F and H carry the same identities.

A step has three parts: `InputDraws` draws the input class of every vertex, `RecoloredPatterns.draw` follows the classes
of the vertices through the layers, and `PatternReadouts` reads the last classes out into graphs and differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations as all_orders
from math import factorial
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from anysize._memory import dense
from anysize.graphs.ragged import offsets, ranges
from anysize.nn.counter_rng import uniform
from anysize.nn.rows.class_table import ClassTable, color_class_table, identity_class_table
from anysize.nn.rows.maps import Chain, Dense, Movable, Readout, Sparse, Sums, index_tensor
from anysize.nn.rows.pattern_batch import PatternBatch
from anysize.nn.rows.refinement import refine
from anysize.nn.rows.structure import Level, Structure

COLOR_STREAM, IDENTITY_STREAM = 1, 3  # streams of random numbers


# ---- inputs ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class InputDraws(Movable):
    """Draws the input class of every vertex: its color, or (color, identity).

    Per vertex: its ``color`` in F, and its ``slot`` among ``patterns`` * k positions. ``palette``: number of colors.
    ``orders``: all permutations of k positions. ``permutations``: how many are drawn for each pattern, or all; None:
    no identities. ``recolor``: H is drawn. ``seeds``: the different seeds of the models.
    """

    color: Tensor
    slot: Tensor
    patterns: int
    palette: int
    orders: Tensor
    permutations: int | None
    recolor: bool
    seeds: Tensor

    @staticmethod
    def of(batch: PatternBatch, permutations: int | None, recolor: bool, seeds: Sequence[int]) -> InputDraws:
        orders = torch.tensor(list(all_orders(range(batch.k)))) if permutations else torch.zeros(0, batch.k).long()
        return InputDraws(
            index_tensor(batch.colors[batch.present]), index_tensor(np.flatnonzero(batch.present)), len(batch),
            batch.inputs, orders, permutations, recolor, torch.tensor(seeds),
        )  # fmt: skip

    @property
    def copies(self) -> int:
        """Of every pattern on each side."""
        return self.permutations or 1

    @property
    def features(self) -> Tensor:
        """One row per input class."""
        colors = torch.eye(self.palette, device=self.color.device)
        if self.permutations is None:
            return colors
        identities = torch.eye(self.orders.shape[1], device=self.color.device)
        return torch.cat([colors.repeat_interleave(len(identities), 0), identities.repeat(self.palette, 1)], dim=1)

    def __call__(self, step: Tensor | int) -> Tensor:
        """The input classes of a step: (seeds, sides * copies, vertices), F in front of H."""
        colors = self.color.expand(len(self.seeds), 1, -1)
        k = self.orders.shape[1]
        if self.recolor:
            drawn = uniform(self.seeds, step, self.patterns * k, COLOR_STREAM).index_select(1, self.slot)
            recolored = (drawn * self.palette).long().clamp(max=self.palette - 1)
            colors = torch.cat([colors, recolored[:, None]], dim=1)
        if self.permutations is None:
            return colors
        identities = self._identities(step)
        return (colors[:, :, None] * k + identities).view(len(colors), -1, len(self.color))

    def _identities(self, step: Tensor | int) -> Tensor:
        """(copies, vertices), the same for F and H."""
        if self.copies == len(self.orders):
            identities = self.orders.repeat(1, self.patterns)
        else:
            drawn = uniform(self.seeds, step, self.copies * self.patterns, IDENTITY_STREAM)[0]
            order = (drawn * len(self.orders)).long().clamp(max=len(self.orders) - 1)
            identities = self.orders.index_select(0, order).view(self.copies, -1)
        return identities.index_select(1, self.slot)


# ---- readouts ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PatternReadouts(Movable):
    """Graphs and differences, read out of the classes of the vertices.

    ``densities`` (graphs, patterns). ``mean``: the sum over the vertices of F, averaged over its copies: (patterns,
    vertices of F). ``difference``: that of F minus that of H, (patterns, vertices of F and H).
    """

    densities: Dense
    mean: Sparse
    difference: Sparse

    @staticmethod
    def of(batch: PatternBatch, densities: csr_array[Any], copies: int) -> PatternReadouts:
        pattern = np.tile(np.nonzero(batch.present)[0], copies)
        pairs = np.tile(pattern, 2)
        signs = np.repeat([1.0, -1.0], len(pattern))
        return PatternReadouts(
            density_table(densities),
            _sum_by_pattern(pattern, np.ones(len(pattern)) / copies, len(batch)),
            _sum_by_pattern(pairs, signs / copies, len(batch)),
        )

    def graphs(self, classes: Tensor, rows: int, seed: tuple[int, ...]) -> Readout:
        """From rows to graphs: ``classes`` (seeds, vertices), the row of each vertex."""
        patterns = [self.mean.relabeled(each, rows) for each in classes]
        if len(patterns) > 1 or rows > self.densities.matrix.shape[1]:
            return Chain(Sparse.joined(patterns, seed), self.densities)
        return Dense(patterns[0].below(self.densities.matrix))

    def differences(self, classes: Tensor, rows: int, seed: tuple[int, ...]) -> Sums:
        """From rows to r_F - r_H of every pattern: ``classes`` (seeds, vertices), the row of each vertex."""
        return Sparse.joined([self.difference.relabeled(each, rows) for each in classes], seed)


def density_table(densities: csr_array[Any]) -> Dense:
    """(graphs, patterns)."""
    instead = "use fewer patterns (top), a smaller k, or fewer graphs"
    return Dense(torch.from_numpy(dense(densities.astype(np.float32), "the table of densities", instead)))


def _sum_by_pattern(pattern: Any, values: Any, patterns: int) -> Sparse:
    matrix = csr_array((values, (pattern, np.arange(len(pattern)))), shape=(patterns, len(pattern)))
    return Sparse.of(matrix)


def _adjacency(batch: PatternBatch, copies: int) -> Sparse:
    """Sums over neighbors in several copies of the patterns, one after the other.

    With types of edges, the vertices of all copies follow each other once for every type, as in `Level`.
    """
    (indptr, indices), types = batch.adjacency, batch.entry_types
    first = offsets(np.tile(np.diff(indptr), copies))
    near = (indices + np.arange(copies)[:, None] * (len(indptr) - 1)).reshape(-1)
    vertices = len(first) - 1
    if types is None:
        return Sparse(index_tensor(first), index_tensor(near), None, vertices, symmetric=True)
    near = near + np.tile(types[0], copies) * vertices
    return Sparse(index_tensor(first), index_tensor(near), None, types[1] * vertices)


# ---- draws -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Draw:
    """The pairs of one step: input rows and levels, and for the levels that are read the maps to graphs (of F only)
    and to r_F - r_H per pattern.
    """

    structure: Structure
    readouts: dict[int, Readout]
    differences: dict[int, Sums]


@dataclass(frozen=True)
class RecoloredPatterns(Movable):
    """Everything that a draw needs, on one device.

    ``neighbors``: sums over the neighbors of every vertex of F; ``all_neighbors``: of every vertex of all sides and
    copies. ``types``: of edges; 0: they are all alike. ``table``: the classes after one layer, if they are few and
    edges are alike. ``seed``: of every model, as an index into the seeds of ``inputs``. ``layers``: of the encoder.
    ``read``: the levels that are read out. ``merge``: one row for all equal vertices of a draw.
    """

    inputs: InputDraws
    readouts: PatternReadouts
    neighbors: Sparse
    all_neighbors: Sparse
    types: int
    table: ClassTable | None
    seed: tuple[int, ...]
    layers: int
    read: tuple[int, ...]
    merge: bool

    @staticmethod
    def of(
        batch: PatternBatch, densities: csr_array[Any], layers: int, permutations: int | None = None,
        recolor: bool = True, seeds: Sequence[int] = (0,), jumping: bool = True, share_rows: bool = True,
        device: torch.device | str = "cpu",
    ) -> RecoloredPatterns:  # fmt: skip
        """The recolored pairs of a batch, on a device.

        ``permutations``: so many are drawn for every pattern; k! or more: all of them. ``seeds``: of the models.
        ``jumping``: all levels are read, otherwise the last one. ``share_rows`` False: every vertex has its own row.
        """
        k, different = batch.k, sorted(set(seeds))
        drawn = permutations and min(permutations, factorial(k))
        if drawn is not None and drawn < factorial(k) and len(different) > 1:
            raise ValueError(f"models that draw permutations must have one seed; got {different}")
        copies = (2 if recolor else 1) * (drawn or 1)
        make_table = color_class_table if drawn is None else identity_class_table
        isolated = bool((np.diff(batch.adjacency[0]) == 0).any())
        on_cpu = torch.device(device).type == "cpu"
        patterns = RecoloredPatterns(
            InputDraws.of(batch, drawn, recolor, different),
            PatternReadouts.of(batch, densities, drawn or 1),
            _adjacency(batch, 1),
            _adjacency(batch, copies),
            0 if batch.entry_types is None else batch.entry_types[1],
            make_table(batch.inputs, k, isolated) if share_rows and batch.types is None else None,
            tuple(different.index(seed) for seed in seeds),
            layers,
            tuple(range(layers + 1)) if jumping else (layers,),
            merge=share_rows and on_cpu and drawn is None,  # with identities, few vertices are equal
        )
        return patterns if on_cpu else patterns.to(device)

    def with_densities(self, densities: csr_array[Any]) -> RecoloredPatterns:
        """The same patterns, read out into graphs with these densities, on the same device."""
        table = density_table(densities).to(self.neighbors.first.device)
        return replace(self, readouts=replace(self.readouts, densities=table))

    def draw(self, step: Tensor | int) -> Draw:
        """The pairs of one step.

        Three kinds of levels: the rows of the class table, whatever the draw; one row per class of the draw; one row
        per vertex.
        """
        features = self.inputs.features
        inputs = self.inputs(step)
        classes, rows = inputs.flatten(1), len(features)  # the row of every vertex, for each seed
        followed = [(classes, rows)]
        levels: list[Level] = []
        apart = False  # every vertex has its own row
        for _ in range(self.layers):
            if not levels and self.table is not None:
                classes, rows = self.table.classes(inputs, self.neighbors).flatten(1), len(self.table)
                levels.append(replace(self.table.level, weight=self._of_models(_count(classes, rows))))
            elif self.merge:
                level, classes, rows = self._merged_level(classes, rows)
                levels.append(level)
            else:
                below = Level(None, self.all_neighbors, None, types=self.types)
                levels.append(below if apart else self._vertex_level(classes, rows))
                rows, apart = len(self.all_neighbors.first) - 1, True
                classes = torch.arange(rows, device=classes.device)[None]
            followed.append((classes, rows))
        readouts = {level: self._readout(level, *followed[level]) for level in self.read}
        differences = {}
        if self.inputs.recolor:
            differences = {level: self.readouts.differences(*followed[level], self.seed) for level in self.read}
        return Draw(Structure(features, tuple(levels), ()), readouts, differences)

    def _readout(self, level: int, classes: Tensor, rows: int) -> Readout:
        """From rows to graphs; where the classes of F are those of every draw, it is built once."""
        if level not in self._fixed_readouts:
            if self.inputs.permutations is not None or level > int(self.table is not None):
                return self.readouts.graphs(classes, rows, self.seed)
            self._fixed_readouts[level] = self.readouts.graphs(classes[:1], rows, self.seed)
        return self._fixed_readouts[level]

    @cached_property
    def _fixed_readouts(self) -> dict[int, Readout]:
        return {}

    def _merged_level(self, classes: Tensor, rows: int) -> tuple[Level, Tensor, int]:
        """One row per class of the draw of each seed, with weight 0 where a seed has fewer classes than another."""
        indptr, entries = self.all_neighbors.first.numpy(), self.all_neighbors.index.numpy()
        types, indices = (None, entries) if not self.types else np.divmod(entries, len(indptr) - 1)
        refined = [refine(indptr, indices, each.numpy(), types) for each in classes]
        amount = max(len(step) for step in refined)
        index, weight = torch.zeros(len(refined), amount, dtype=torch.int64), torch.zeros(len(refined), amount)
        maps = []
        for seed, (below, above) in enumerate(zip(classes, refined, strict=True)):
            degrees = np.diff(indptr)[above.example]
            near = entries[ranges(indptr[above.example], degrees)]
            first = np.pad(offsets(degrees), (0, amount - len(above)), mode="edge")
            of_entries = self._by_type(below, rows)
            maps.append(Sparse(torch.from_numpy(first), of_entries[torch.from_numpy(near)], None, self._columns(rows)))
            index[seed, : len(above)] = below[torch.from_numpy(above.example)]
            weight[seed, : len(above)] = torch.from_numpy(above.size.astype(np.float32))
        level = Level(self._of_models(index), Sparse.joined(maps, self.seed), self._of_models(weight), types=self.types)
        return level, torch.stack([torch.from_numpy(step.classes) for step in refined]), amount

    def _vertex_level(self, classes: Tensor, rows: int) -> Level:
        """One row for every vertex of every side and copy."""
        maps = [self.all_neighbors.relabeled(self._by_type(each, rows), self._columns(rows)) for each in classes]
        return Level(self._of_models(classes), Sparse.joined(maps, self.seed), None, types=self.types)

    def _columns(self, rows: int) -> int:
        """How many rows below the sums over neighbors have: so many rows, once for every type of edges."""
        return max(self.types, 1) * rows

    def _by_type(self, classes: Tensor, rows: int) -> Tensor:
        """The rows below of vertices, once for every type of edges."""
        return torch.cat([classes + kind * rows for kind in range(max(self.types, 1))])

    def _of_models(self, of_seeds: Tensor) -> Tensor:
        """(models, ...) from (seeds, ...); (...) if all models have one seed."""
        return of_seeds[0] if len(of_seeds) == 1 else torch.stack([of_seeds[seed] for seed in self.seed])


def _count(classes: Tensor, rows: int) -> Tensor:
    """How many vertices belong to each class: (seeds, rows)."""
    counts = torch.zeros(len(classes), rows, device=classes.device)
    return counts.scatter_add_(1, classes, torch.ones_like(classes, dtype=torch.float32))
