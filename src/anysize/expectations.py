"""Expected densities as sums over blocks and integrals over cells: the pure functions behind the graphons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import factorial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from anysize.colouring import Colouring
from anysize.colours import ColourName
from anysize.patterns import Pattern

FloatArray = NDArray[np.float64]
Colours: TypeAlias = Colouring | Sequence[Mapping[ColourName, float]] | None
GraphonOver: TypeAlias = Literal["subsets", "maps"]

LARGEST_SUM = 10**8  # terms of a sum over block assignments, held in memory at once


def ways(pattern: Pattern, over: GraphonOver) -> float:
    """By what the density over maps is multiplied: k! / |Aut F| over subsets, 1 over maps."""
    if over not in ("subsets", "maps"):
        raise ValueError(f"a graphon has densities over 'subsets' or 'maps'; got {over!r}")
    return factorial(pattern.size) / pattern.automorphisms if over == "subsets" else 1.0


def colour_weights(pattern: Pattern, colours: Colours, blocks: int) -> FloatArray:
    """For each vertex of the pattern (rows) and each block, the share of the vertex's colour in the block."""
    if pattern.colours is None:
        return np.ones((pattern.size, blocks))
    if colours is None:
        raise ValueError(f"{pattern!r} is coloured: say which colours the blocks have with colours=[{{name: share}}]")
    colouring = Colouring.of(colours)
    colouring.check_blocks(blocks)
    return np.array([[colouring.share(block, name) for block in range(blocks)] for name in pattern.colours])


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


def cell(pattern: Pattern, colours: Colours) -> tuple[FloatArray, FloatArray]:
    """The box of hidden variables that give the pattern its colours: lower ends and widths."""
    if pattern.colours is None:
        return np.zeros(pattern.size), np.ones(pattern.size)
    weights = colour_weights(pattern, colours, 1)  # complains where colours are missing
    colouring = Colouring.of(colours or ())
    ends = colouring.intervals(0)
    known = {name: float(ends[place]) for place, name in enumerate(colouring.names[0])}
    return np.array([known.get(name, 0.0) for name in pattern.colours]), weights[:, 0]
