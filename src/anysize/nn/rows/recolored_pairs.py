"""Patterns F and their recolored copies H in one batch, drawn again in every training step.

Both pass through the encoder together, so that batch normalization sees one batch and its running averages are not
affected by a second pass. H has the topology of F and an independent uniform color at every vertex. With identities
(relational pooling), F and H carry the same identities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, combinations_with_replacement, product
from itertools import permutations as all_orders
from math import factorial
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor

from anysize.nn.counter_rng import uniform
from anysize.nn.rows.aggregation import (
    DENSE_CELLS,
    BySeed,
    Chained,
    Dense,
    Gather,
    Lookup,
    PerModel,
    Sparse,
    Sums,
    offset_by_model,
    sums_of,
)
from anysize.nn.rows.moving import Movable
from anysize.nn.rows.pattern_batch import PatternBatch
from anysize.nn.rows.structure import Level, Structure

MAX_TABLE_ROWS = 20_000  # with more classes than this a table is not faster than one row per vertex
MAX_TABLE_CODES = 1 << 22
PER_MODEL_CELLS = 1 << 28  # of dense matrices that differ by model, in all


# ---- all classes of vertices after one layer ----------------------------------------------------


@dataclass(frozen=True)
class ClassTable(Movable):
    """All classes that a vertex can belong to after one layer, whatever its colors: rows that fit every draw.

    With c colors and k vertices a class is a color and the number of neighbors of each color: 276 classes for c = 4,
    k = 5. Recolored patterns only move between these classes, so that the first layer runs on the table and not on tens
    of thousands of vertices that differ in every step. With identities (relational pooling) the input class of a vertex
    is (color, identity), and neighbors have different identities.

    ``self_index`` (rows,) and ``neighbor_sums`` (over input classes) of every class. ``digit``: what a neighbor of each
    input class adds to the code of a vertex, as exact floats: codes are below 2^24. ``lookup``: code -> class.
    """

    self_index: Tensor
    neighbor_sums: Sums
    degree: Tensor
    lookup: Tensor
    digit: Tensor
    base: int

    def __len__(self) -> int:
        return len(self.self_index)

    def classes(self, inputs: Tensor, near: Tensor) -> Tensor:
        """The classes of vertices with these input classes, (.., vertices), and neighbors.

        ``near`` (vertices, d): vertex numbers, the number of vertices for padding.
        """
        digits = self.digit.index_select(0, inputs.reshape(-1)).view(-1, inputs.shape[-1])
        by_vertex = torch.nn.functional.pad(digits, (0, 1)).T.contiguous()
        near_digits = torch.nn.functional.embedding_bag(near, by_vertex, mode="sum")  # the fastest way to sum rows
        codes = near_digits.T.reshape(-1).long().add_(inputs.reshape(-1), alpha=self.base)
        return self.lookup.index_select(0, codes).view_as(inputs)


def color_class_table(colors: int, k: int, isolated: bool = False) -> ClassTable | None:
    """Classes by color and multiset of neighbor colors; None if there are too many.

    ``isolated``: include vertices without neighbors, which occur in the pattern of one vertex only.

    Examples:
        >>> len(color_class_table(4, 5))
        276
    """
    if colors * k**colors > MAX_TABLE_CODES:
        return None
    smallest = 0 if isolated else 1
    multisets = [m for size in range(smallest, k) for m in combinations_with_replacement(range(colors), size)]
    digit = [k**color for color in range(colors)]
    return _class_table([(color, near) for color in range(colors) for near in multisets], digit, k**colors)


def identity_class_table(colors: int, k: int, isolated: bool = False) -> ClassTable | None:
    """Classes by the input classes (color, identity) of a vertex and its neighbors; None if there are too many."""
    if colors * k * (colors + 1) ** k > MAX_TABLE_CODES or colors * k * (colors + 1) ** (k - 1) > MAX_TABLE_ROWS:
        return None
    signatures = []
    for color, identity in product(range(colors), range(k)):
        others = [other for other in range(k) if other != identity]
        for size in range(0 if isolated else 1, k):
            for neighbor_identities in combinations(others, size):
                for neighbor_colors in product(range(colors), repeat=size):
                    near = tuple(c * k + i for c, i in zip(neighbor_colors, neighbor_identities, strict=True))
                    signatures.append((color * k + identity, near))
    digit = [(color + 1) * (colors + 1) ** identity for color in range(colors) for identity in range(k)]
    return _class_table(signatures, digit, (colors + 1) ** k)


def _class_table(signatures: list[tuple[int, tuple[int, ...]]], digit: list[int], base: int) -> ClassTable | None:
    rows = len(signatures)
    if rows > MAX_TABLE_ROWS:
        return None
    inputs = np.array([signature[0] for signature in signatures])
    sizes = np.array([len(signature[1]) for signature in signatures])
    near = np.array([neighbor for signature in signatures for neighbor in signature[1]], np.int64)
    digits = np.array(digit, np.float32)
    row = np.repeat(np.arange(rows), sizes)
    code = inputs * base + np.bincount(row, digits[near], minlength=rows).astype(np.int64)
    lookup = np.zeros(len(digit) * base, np.int64)
    lookup[code] = np.arange(rows)
    matrix = csr_array((np.ones(len(near)), (row, near)), shape=(rows, len(digit)))
    return ClassTable(
        torch.from_numpy(inputs), sums_of(matrix), torch.from_numpy(sizes.astype(np.float32)),
        torch.from_numpy(lookup), torch.from_numpy(digits), base,
    )  # fmt: skip


# ---- aggregations of a draw ----------------------------------------------------------------------


@dataclass(frozen=True)
class LazySums:
    """Sums that are built when they are read: most models do not read most levels."""

    build: Callable[[], Any]  # Sums or Neighbors or both

    def __call__(self, h: Tensor) -> Tensor:
        return self.build()(h)

    def extremes(self, h: Tensor) -> tuple[Tensor, Tensor]:
        return self.build().extremes(h)

    def rows(self, items: Tensor) -> Sums:
        return self.build().rows(items)

    def to(self, device: torch.device) -> Any:
        return self.build().to(device)


@dataclass(frozen=True)
class _SumsOfF(Movable):
    """Sums over the vertices and permutations of F where every vertex has its own row."""

    present: Tensor  # (patterns, k)
    permutations: int
    full: bool  # all vertices are present

    def __call__(self, h: Tensor) -> Tensor:
        rows = h[:, : self.permutations * self.present.numel()]
        rows = rows.reshape(len(h), self.permutations, *self.present.shape, h.shape[2])
        return (rows if self.full else rows * self.present[..., None]).sum(3).sum(1)

    def rows(self, items: Tensor) -> Sums:
        raise TypeError("patterns are always computed all at once")


@dataclass(frozen=True)
class _Difference(Movable):
    """r_F - r_H where every vertex has its own row: (sides, permutations, patterns, k)."""

    weight: Tensor  # (patterns, k): presence / permutations
    permutations: int
    constant: float | None  # the weight, if it is the same everywhere

    def __call__(self, h: Tensor) -> Tensor:
        models, _, features = h.shape
        sides = h.reshape(models, 2, self.permutations, *self.weight.shape, features)
        if self.constant is not None:
            sums = sides.sum(4).sum(2) * self.constant  # one after the other: several times as fast on a CPU
            return sums[:, 0] - sums[:, 1]
        return ((sides[:, 0] - sides[:, 1]) * self.weight[..., None]).sum(3).sum(1)

    def rows(self, items: Tensor) -> Sums:
        raise TypeError("differences are always computed for all patterns")


@dataclass(frozen=True)
class _Both(Movable):
    """The sum of two aggregations of the same rows."""

    one: Sums
    other: Sums

    def __call__(self, h: Tensor) -> Tensor:
        return self.one(h) + self.other(h)

    def rows(self, items: Tensor) -> Sums:
        raise TypeError("differences are always computed for all patterns")


# ---- draws ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RecoloredDraw:
    """One draw: a structure that reads out graphs (of F only), and per level the map to r_F - r_H per pattern."""

    structure: Structure
    differences: tuple[Sums, ...]


def _cells(densities: csr_array[Any]) -> dict[str, Tensor]:
    """The nonzero cells of a table of densities: fields of `RecoloredPairs`."""
    cells = densities.tocoo()
    return {
        "graph": torch.from_numpy(cells.row.astype(np.int64)),
        "pattern": torch.from_numpy(cells.col.astype(np.int64)),
        "density": torch.from_numpy(cells.data.astype(np.float32)),
    }


@dataclass(frozen=True)
class RecoloredPairs(Movable):
    """Everything that a draw needs; all tensors on one device.

    ``near`` (patterns * k, k - 1): neighbors as vertex numbers, patterns * k for padding. ``graph``, ``pattern``,
    ``density``: the nonzero cells of the table of densities. ``sides`` is 2, or 1 if nothing is recolored and only
    identities are drawn. ``permutations`` is None without identities. ``seeds``: the different seeds of the
    models, a single one if identities are random. ``member`` (models,): the place of every model's seed among them.
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
    table: ClassTable | None
    seeds: Tensor
    member: Tensor
    full: bool  # all patterns have k vertices
    by_degree: bool = False
    by_matrix: bool = False  # aggregate by a matrix built in every step, which is faster on a GPU

    @staticmethod
    def of(
        batch: PatternBatch, densities: csr_array[Any], rounds: int, permutations: int | None = None,
        recolor: bool = True, seeds: Sequence[int] = (0,), tabulate: bool = True, by_degree: bool = False,
        device: torch.device | str = "cpu",
    ) -> RecoloredPairs:  # fmt: skip
        """The recolored pairs of a batch, on a device.

        ``permutations``: so many are drawn for every pattern; k! or more: all of them. ``tabulate`` False: every vertex
        has its own row, as GCN and PNA need. ``by_degree``: distinguish input rows by degree, as GCN needs. ``seeds``:
        of the models.
        """
        amount, k = batch.colors.shape
        start = np.arange(amount)[:, None, None] * k
        near = np.where(batch.neighbors >= 0, batch.neighbors + start, amount * k).reshape(amount * k, -1)
        drawn = permutations and min(permutations, factorial(k))
        if drawn is not None and drawn < factorial(k) and len(set(seeds)) > 1:
            raise ValueError(f"models that draw permutations must have one seed; got {sorted(set(seeds))}")
        isolated = bool(((batch.neighbors < 0).all(axis=2) & batch.present).any())
        make_table = color_class_table if drawn is None else identity_class_table
        tabulate, on_cpu = tabulate and not by_degree, torch.device(device).type == "cpu"
        pairs = RecoloredPairs(
            **_cells(densities),
            colors=torch.from_numpy(batch.colors.reshape(-1)),
            near=torch.from_numpy(near),
            present=torch.from_numpy(batch.present.astype(np.float32)),
            graphs=densities.shape[0],
            sides=2 if recolor else 1,
            palette=batch.inputs,
            rounds=rounds,
            permutations=drawn,
            orders=torch.tensor(list(all_orders(range(k)))) if drawn else torch.zeros(0, dtype=torch.int64),
            table=make_table(batch.inputs, k, isolated) if tabulate else None,
            seeds=torch.tensor(sorted(set(seeds))),
            member=torch.tensor([sorted(set(seeds)).index(seed) for seed in seeds]),
            full=bool(batch.present.all()),
            by_degree=by_degree,
            by_matrix=not on_cpu,
        )
        return pairs.to(device)

    def with_densities(self, densities: csr_array[Any]) -> RecoloredPairs:
        """The same pairs, read out into graphs with these densities, on the same device."""
        return replace(self, **{name: tensor.to(self.density.device) for name, tensor in _cells(densities).items()})

    @property
    def copies(self) -> int:
        return self.permutations or 1

    def draw(self, step: Tensor | int) -> RecoloredDraw:
        """The pairs of one step."""
        inputs = self._draw_inputs(step)  # (seeds, sides * copies, vertices)
        weight = self.present.reshape(-1).repeat(inputs.shape[1])
        classes, levels = inputs, []
        readouts: list[Sums] = [self._class_readout(0, inputs, self._input_count)]
        differences: list[Sums] = [self._class_difference(inputs, self._input_count)]
        for place in range(self.rounds):
            shared = self._shared_rows(place, inputs)
            if shared is not None:
                classes, level = shared
                rows = len(level.degree)
                levels.append(replace(level, weight=self._count(classes, rows, weight)))
                readouts.append(self._class_readout(place + 1, classes, rows))
                differences.append(self._class_difference(classes, rows))
                continue
            levels.append(self._vertex_level(place, classes, weight))
            classes = torch.arange(classes[0].numel(), device=classes.device).view_as(classes[:1])
            readouts.append(Chained(_SumsOfF(self.present, self.copies, self.full), self._densities))
            constant = 1 / self.copies if self.full else None
            differences.append(_Difference(self.present / self.copies, self.copies, constant))
        structure = Structure(self._features, self._degrees, tuple(levels), tuple(readouts))
        return RecoloredDraw(structure, tuple(differences) if self.sides == 2 else ())

    # ---- levels with rows that vertices share --------------------------------------------------

    def _shared_rows(self, place: int, inputs: Tensor) -> tuple[Tensor, Level] | None:
        """The class of every vertex after this layer, and the rows of all classes; None if every vertex has its own."""
        if self.table is None or place > 0:
            return None
        level = Level(self.table.self_index, self.table.neighbor_sums, None, self.table.degree)
        return self.table.classes(inputs, self.near), level

    def _count(self, classes: Tensor, rows: int, weight: Tensor) -> Tensor:
        """How many vertices belong to each class: (rows,), or (models, rows) if seeds differ."""
        flat = offset_by_model(classes, rows).reshape(-1)
        counted = weight.new_zeros(len(classes) * rows).index_add(0, flat, weight.repeat(len(classes)))
        return counted if len(classes) == 1 else counted.view(-1, rows)[self.member]

    # ---- input classes -------------------------------------------------------------------------

    @property
    def _input_count(self) -> int:
        k = self.present.shape[1]
        return self.palette * (k if self.permutations else 1) * (k if self.by_degree else 1)

    def _draw_inputs(self, step: Tensor | int) -> Tensor:
        """The input classes of all vertices: (seeds, sides * copies, vertices)."""
        inputs = self._draw_colors_and_identities(step)
        if not self.by_degree:
            return inputs
        return inputs * self.present.shape[1] + (self.near < len(self.near)).sum(1)

    def _draw_colors_and_identities(self, step: Tensor | int) -> Tensor:
        """Colors of F and of H, or (color, identity) with the same identities on both sides."""
        sides = self.colors.clamp(min=0).expand(len(self.seeds), 1, -1)
        if self.sides == 2:
            drawn = uniform(self.seeds, step, len(self.colors), stream=1)[:, None]
            sides = torch.cat([sides, (drawn * self.palette).long().clamp(max=self.palette - 1)], dim=1)
        if self.permutations is None:
            return sides
        patterns, k = self.present.shape
        if self.permutations == len(self.orders):
            identities = self.orders.repeat(1, patterns)
        else:
            drawn = uniform(self.seeds, step, self.permutations * patterns, stream=3)[0]
            order = (drawn * len(self.orders)).long().clamp(max=len(self.orders) - 1)
            identities = self.orders.index_select(0, order).view(self.permutations, patterns * k)
        return (sides[:, :, None] * k + identities).view(len(sides), self.sides * self.permutations, -1)

    def _neighbor_inputs(self, inputs: Tensor) -> Tensor:
        """The input classes of the neighbors of every vertex, padded: (seeds, sides * copies, vertices, d)."""
        return torch.nn.functional.pad(inputs, (0, 1), value=self._input_count)[..., self.near]

    @cached_property
    def _features(self) -> Tensor:
        k, features = self.present.shape[1], torch.eye(self.palette, device=self.present.device)
        if self.permutations is not None:
            identities = torch.eye(k, device=self.present.device)
            features = torch.cat([features.repeat_interleave(k, 0), identities.repeat(self.palette, 1)], dim=1)
        return features.repeat_interleave(k, 0) if self.by_degree else features

    @cached_property
    def _degrees(self) -> Tensor:
        """Degrees of the input classes; zero where they are not distinguished by degree."""
        if not self.by_degree:
            return torch.zeros(self._input_count, device=self.present.device)
        k = self.present.shape[1]
        return torch.arange(k, device=self.present.device, dtype=torch.float32).repeat(self._input_count // k)

    # ---- levels with one row per vertex --------------------------------------------------------

    @cached_property
    def _neighbor_rows(self) -> Tensor:
        """Neighbors as rows, where every vertex of every side and copy has its own: (rows, d)."""
        vertices = len(self.near)
        start = torch.arange(self.sides * self.copies, device=self.near.device)[:, None, None] * vertices
        return torch.where(self.near < vertices, self.near + start, 0).view(-1, self.near.shape[1])

    @cached_property
    def _neighbor_present(self) -> Tensor:
        return (self.near < len(self.near)).to(torch.float32).repeat(self.sides * self.copies, 1)

    @cached_property
    def _joint_lookup(self) -> Lookup:
        """The row itself first, then its neighbors."""
        used = torch.nn.functional.pad(self._neighbor_present, (1, 0), value=1.0) > 0
        return Lookup.of(used.repeat(len(self.member), 1) if self.by_matrix and len(self.seeds) > 1 else used)

    @cached_property
    def _vertex_sums(self) -> Sums:
        """Sums over neighbors where the rows below are the same vertices; the same for every draw."""
        lookup = Lookup.of(self._neighbor_present > 0)
        make = lookup.sums if self.by_matrix else lookup.on_cpu
        return make(self._neighbor_rows, len(self._neighbor_rows))

    def _vertex_level(self, place: int, classes: Tensor, weight: Tensor) -> Level:
        """One row for every vertex of every side and copy."""
        counted, degree = None if self.full else weight, self._neighbor_present.sum(1)
        if place > 1 or (place == 1 and self.table is None):
            neighbors = Gather(self._neighbor_rows, self._neighbor_present)
            return Level(None, self._vertex_sums, counted, degree, neighbors)
        self_index = classes.reshape(len(classes), -1)
        if place == 0:
            below = self._input_count
            index = self._neighbor_inputs(classes).reshape(len(classes), *self._neighbor_rows.shape)
            index = index.clamp(max=below - 1)
        else:
            assert self.table is not None
            index, below = self_index[:, self._neighbor_rows], len(self.table)
        gather = LazySums(lambda: self._gather(index, below, self._neighbor_present))
        both = torch.cat([self_index[..., None], index + below], 2)
        joint: Sums
        if self.by_matrix:
            both = self._by_model(both)
            sums = self._joint_lookup.sums(offset_by_model(both, 2 * below).flatten(0, 1), 2 * below * len(both))
            joint = sums if len(both) == 1 else PerModel(len(both), sums)
        else:
            joint = self._by_seed(self._joint_lookup, both, 2 * below)
        own = self._by_model(self_index)
        return Level(own[0] if len(own) == 1 else own, gather, counted, degree, gather, joint)

    def _by_model(self, drawn: Tensor) -> Tensor:
        """(models, ...) from (seeds, ...), or as it is if there is one seed."""
        return drawn if len(drawn) == 1 else drawn[self.member]

    def _by_seed(self, lookup: Lookup, index: Tensor, below: int, values: Tensor | None = None) -> Sparse | BySeed:
        """Sums over ``index`` (seeds, rows, d), as sparse matrices."""
        maps = tuple(lookup.on_cpu(each, below, values) for each in index)
        return maps[0] if len(maps) == 1 else BySeed(maps, tuple(self.member.tolist()))

    def _gather(self, index: Tensor, below: int, weight: Tensor) -> Gather | PerModel:
        """Weighted sums over ``index`` (seeds, rows, d), the weights being those of all models."""
        index = self._by_model(index)
        if len(index) == 1:
            return Gather(index[0], weight)
        flat = offset_by_model(index, below).flatten(0, 1)
        return PerModel(len(index), Gather(flat, weight.repeat(len(index), 1)))

    # ---- readouts ------------------------------------------------------------------------------

    @cached_property
    def _densities(self) -> Dense:
        """(graphs, patterns), divided among the copies of a pattern."""
        full = torch.zeros(self.graphs, len(self.present), device=self.present.device)
        full[self.graph, self.pattern] = self.density / self.copies
        return Dense(full)

    def _class_readout(self, level: int, classes: Tensor, rows: int) -> Sums:
        """Graphs as sums over rows that vertices share: (graphs, rows)."""
        if self.permutations is not None:
            return LazySums(lambda: self._build_class_readout(classes, rows))
        if level not in self._cached_readouts:  # F is the same in every step, and so is its readout
            self._cached_readouts[level] = self._build_class_readout(classes, rows)
        return self._cached_readouts[level]

    def _build_class_readout(self, classes: Tensor, rows: int) -> Sums:
        patterns, k = self.present.shape
        if rows > patterns and not self.by_matrix:  # through patterns, which are fewer
            index = classes[0].view(-1, self.copies, patterns, k)[0].transpose(0, 1).reshape(patterns, -1)
            return Chained(self._readout_lookup.on_cpu(index, rows), self._densities)
        of_f = classes[0].view(-1, patterns, k)[: self.copies]  # the same for all models
        row = of_f[:, self.pattern]  # (copies, cells, k)
        value = self.density[:, None] * self.present[self.pattern] / self.copies
        flat = torch.zeros(self.graphs * rows, device=value.device)
        place = (self.graph[:, None] * rows + row).reshape(-1)
        return Dense(flat.index_add(0, place, value.expand_as(row).reshape(-1)).view(self.graphs, rows))

    @cached_property
    def _readout_lookup(self) -> Lookup:
        """All vertices of the copies of a pattern."""
        return Lookup.of(self.present.repeat(1, self.copies) > 0)

    @cached_property
    def _cached_readouts(self) -> dict[int, Sums]:
        return {}

    def _class_difference(self, classes: Tensor, rows: int) -> Sums:
        """r_F - r_H as sums over rows that vertices share."""
        make = self._class_difference_by_matrix if self.by_matrix else self._sparse_class_difference
        return LazySums(lambda: make(classes, rows))

    def _sparse_class_difference(self, classes: Tensor, rows: int) -> Sums:
        lookup, values = self._difference_lookup
        return self._by_seed(lookup, self._by_pattern(classes), rows, values)

    @cached_property
    def _difference_lookup(self) -> tuple[Lookup, Tensor]:
        """The used places of `_signs`, and the values there."""
        used = self._signs != 0
        return Lookup.of(used), self._signs[used]

    def _by_pattern(self, classes: Tensor) -> Tensor:
        """(seeds, patterns, 2 * copies * k)."""
        patterns, k = self.present.shape
        sides = classes.view(len(classes), 2, self.copies, patterns, k)
        return sides.permute(0, 3, 1, 2, 4).reshape(len(classes), patterns, -1)

    def _class_difference_by_matrix(self, classes: Tensor, rows: int) -> Sums:
        seeds, models = len(classes), len(self.member) if len(classes) > 1 else 1
        index, patterns = self._by_pattern(classes), len(self.present)
        cells = patterns * rows
        if cells > DENSE_CELLS or models * cells > PER_MODEL_CELLS:
            if seeds == 1:
                return Gather(index[0], self._signs)
            half = index.shape[2] // 2  # F is the same for all models
            plain = Gather(index[0, :, :half], self._signs[:, :half].contiguous())
            return _Both(plain, self._gather(index[..., half:], rows, self._signs[:, half:]))
        empty = torch.zeros(seeds, patterns, rows, device=index.device)
        matrix = self._by_model(empty.scatter_add(2, index, self._signs.expand_as(index)))
        return Dense(matrix[0] if models == 1 else matrix)

    @cached_property
    def _signs(self) -> Tensor:
        """(patterns, 2 * copies * k): + for F, - for H, 0 for padding."""
        sign = torch.tensor([1.0, -1.0], device=self.present.device)[None, :, None, None] / self.copies
        spread = (sign * self.present[:, None, None, :]).expand(-1, -1, self.copies, -1)
        return spread.reshape(len(self.present), -1).contiguous()
