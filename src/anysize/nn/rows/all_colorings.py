"""All colorings of the topologies of a batch as one structure: recolored patterns only move between its rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from anysize.nn.rows.aggregation import index_tensor
from anysize.nn.rows.pattern_batch import PatternBatch
from anysize.nn.rows.refinement import build_levels, refine
from anysize.nn.rows.structure import Level

MAX_COLORINGS = 5  # times as many vertices as a draw has: about five colored vertices share a row after two layers


@dataclass(frozen=True)
class AllColorings:
    """The classes of vertices after every layer, in all patterns that recoloring can make: rows that fit every draw.

    Where there are few colors, most of these classes occur several times in a draw: with 4 colors and k = 5 a draw of
    35,000 vertices has 20,860 classes after two layers. The structure is the same in every step; only how many
    vertices a row stands for changes.

    ``first`` (patterns,): the number of the first coloring of each pattern's topology. ``power`` (patterns, k): what a
    color of each vertex adds to it, times the color; 0 for padding. ``classes``: for every layer the class of each
    vertex of each coloring, (colorings, k). ``levels``: the rows after every layer, with no weights.
    """

    first: Tensor
    power: Tensor
    classes: tuple[Tensor, ...]
    levels: tuple[Level, ...]

    @staticmethod
    def of(batch: PatternBatch, rounds: int) -> AllColorings | None:
        """None if all colorings have more classes than one draw has vertices."""
        flat = np.hstack([batch.neighbors.reshape(len(batch), -1), batch.present])
        _, example, topology = np.unique(flat, axis=0, return_index=True, return_inverse=True)
        present, vertices = batch.present[example], 2 * int(batch.present.sum())
        sizes = present.sum(axis=1)
        amounts = batch.inputs ** sizes.astype(object)
        if (amounts * sizes).sum() > MAX_COLORINGS * vertices:
            return None
        amounts = amounts.astype(np.int64)
        first = np.cumsum(amounts) - amounts
        of_topology = np.repeat(np.arange(len(example)), amounts)
        power = np.where(present, batch.inputs ** np.arange(batch.k), 0)
        code = np.arange(len(of_topology)) - first[of_topology]
        colors = code[:, None] // np.maximum(power[of_topology], 1) % batch.inputs
        universe = PatternBatch(
            batch.neighbors[example][of_topology],
            np.where(present[of_topology], colors, -1),
            present[of_topology],
            batch.inputs,
        )
        near, start, _ = universe.vertices
        steps = refine(near, start, rounds)
        if len(steps[-1]) > vertices:
            return None
        classes = []
        for step in steps[1:]:
            table = np.zeros(universe.present.shape, np.int64)
            table[universe.present] = step.classes
            classes.append(index_tensor(table))
        return AllColorings(
            index_tensor(first[topology]), index_tensor(power[topology]), tuple(classes),
            build_levels(near, steps, on_cpu=True),
        )  # fmt: skip

    def numbers(self, colors: Tensor) -> Tensor:
        """The number of each pattern's coloring: colors (.., patterns, k) -> (.., patterns)."""
        return self.first + (colors * self.power).sum(-1)
