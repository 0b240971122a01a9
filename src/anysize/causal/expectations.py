"""Expected densities as sums over blocks and integrals over cells: the pure functions behind the graphons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import factorial
from typing import Literal, TypeAlias

import numpy as np

from anysize._typing import FloatArray
from anysize.causal.coloring import Coloring
from anysize.graphs.colors import ColorName
from anysize.patterns.pattern import Pattern

Colors: TypeAlias = Coloring | Sequence[Mapping[ColorName, float]] | None
GraphonOver: TypeAlias = Literal["subsets", "maps"]

LARGEST_SUM = 10**8  # terms of a sum over block assignments, held in memory at once


def ways(pattern: Pattern, over: GraphonOver) -> float:
    """By what the density over maps is multiplied: k! / |Aut F| over subsets, 1 over maps."""
    if over not in ("subsets", "maps"):
        raise ValueError(f"a graphon has densities over 'subsets' or 'maps'; got {over!r}")
    return factorial(pattern.size) / pattern.automorphisms if over == "subsets" else 1.0


def color_weights(pattern: Pattern, colors: Colors, blocks: int) -> FloatArray:
    """For each vertex of the pattern (rows) and each block, the share of the vertex's color in the block."""
    if pattern.colors is None:
        return np.ones((pattern.size, blocks))
    if colors is None:
        raise ValueError(f"{pattern!r} is colored: say which colors the blocks have with colors=[{{name: share}}]")
    coloring = Coloring.of(colors)
    coloring.check_blocks(blocks)
    return np.array([[coloring.share(block, name) for block in range(blocks)] for name in pattern.colors])


def vertex_pairs(pattern: Pattern) -> list[tuple[int, int, bool]]:
    """All pairs of the pattern's vertices, and whether they are linked."""
    edges = set(pattern.edges)
    return [(i, j, (i, j) in edges) for j in range(pattern.size) for i in range(j)]


def outer(weights: FloatArray) -> FloatArray:
    """The product of the weights (vertices, blocks) for every assignment of blocks, shape (blocks,) * vertices."""
    size, blocks = weights.shape
    if blocks**size > LARGEST_SUM:
        raise ValueError(f"{blocks} blocks and {size} vertices make {blocks**size} terms; at most {LARGEST_SUM} fit")
    product = np.ones((1,) * size)
    for vertex in range(size):
        product = product * np.expand_dims(weights[vertex], tuple(axis for axis in range(size) if axis != vertex))
    return product


def agreement(pattern: Pattern, matrix: FloatArray) -> FloatArray:
    """For every assignment of blocks to the pattern's vertices, the probability of exactly its edges."""
    chance = np.ones((1,) * pattern.size)
    for i, j, linked in vertex_pairs(pattern):
        others = tuple(axis for axis in range(pattern.size) if axis not in (i, j))
        chance = chance * np.expand_dims(matrix if linked else 1 - matrix, others)
    return chance


def cell(pattern: Pattern, colors: Colors) -> tuple[FloatArray, FloatArray]:
    """The box of hidden variables that give the pattern its colors: lower ends and widths."""
    if pattern.colors is None:
        return np.zeros(pattern.size), np.ones(pattern.size)
    weights = color_weights(pattern, colors, 1)  # complains where colors are missing
    coloring = Coloring.of(colors or ())
    ends = coloring.intervals(0)
    known = {name: float(ends[place]) for place, name in enumerate(coloring.names[0])}
    return np.array([known.get(name, 0.0) for name in pattern.colors]), weights[:, 0]
