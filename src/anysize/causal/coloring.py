"""Coloring: the color of a vertex as a function of its block and its position in the block (the paper's g_X)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anysize._typing import FloatArray, IntArray
from anysize.graphs.colors import ColorName, check_palette


@dataclass(frozen=True)
class Coloring:
    """The color names of every block and their shares.

    A vertex with the hidden variable U lies in a block, at a position in [0, 1) inside it. The colors of the block
    divide [0, 1) into intervals as long as their shares, in the given order; the position selects one of them (inverse
    transform sampling). The color is a deterministic function of environment, block and position: environments with
    equal colorings give a vertex the same color.

    Examples:
        >>> train = Coloring.of([{"red": 0.9, "blue": 0.1}, {"green": 0.9, "yellow": 0.1}])
        >>> train.palette
        ('blue', 'green', 'red', 'yellow')
        >>> codes = train.codes(np.array([0, 0, 1]), np.array([0.5, 0.95, 0.2]))
        >>> [train.palette[code] for code in codes]
        ['red', 'blue', 'green']
    """

    names: tuple[tuple[ColorName, ...], ...]
    shares: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:
        if len(self.names) != len(self.shares) or not self.names:
            raise ValueError(f"expected color names and shares for every block; got {self.names} and {self.shares}")
        for block, (names, shares) in enumerate(zip(self.names, self.shares, strict=True)):
            if len(names) != len(shares) or len(set(names)) != len(names):
                raise ValueError(f"block {block} needs one share per color and distinct color names; got {names}")
            check_shares(shares, f"the colors of block {block}", zero=True)

    @staticmethod
    def of(blocks: Coloring | Sequence[Mapping[ColorName, float]]) -> Coloring:
        """Make a coloring from one mapping of names to shares per block, such as ``[{"red": 0.9, "blue": 0.1}]``."""
        if isinstance(blocks, Coloring):
            return blocks
        if isinstance(blocks, (str, Mapping)) or not all(isinstance(block, Mapping) for block in blocks):
            raise ValueError(f"colors must be a list with one mapping of names to shares per block; got {blocks!r}")
        shares = tuple(tuple(float(share) for share in block.values()) for block in blocks)
        return Coloring(tuple(tuple(block) for block in blocks), shares)

    @property
    def palette(self) -> tuple[ColorName, ...]:
        """All color names, sorted; a color may belong to several blocks."""
        return check_palette(list({name for names in self.names for name in names}))

    def codes(self, blocks: IntArray, positions: FloatArray) -> NDArray[np.uint16]:
        """The color codes (positions in the palette) of vertices with these blocks and positions."""
        code_of = {name: code for code, name in enumerate(self.palette)}
        codes = np.zeros(len(blocks), np.uint16)
        for block, names in enumerate(self.names):
            here = np.flatnonzero(blocks == block)
            upper = self.intervals(block)[1:-1]  # the last interval ends at 1
            interval = np.searchsorted(upper, positions[here], side="right")
            codes[here] = np.array([code_of[name] for name in names], np.uint16)[interval]
        return codes

    def intervals(self, block: int) -> FloatArray:
        """The ends of the color intervals of a block: 0, the running sums, 1."""
        ends = np.concatenate([[0.0], np.cumsum(self.shares[block])])
        ends[-1] = 1.0
        return np.asarray(np.minimum(ends, 1.0))

    def share(self, block: int, name: ColorName) -> float:
        """The share of a color in a block; 0 if the block does not have it."""
        here = self.names[block]
        return self.shares[block][here.index(name)] if name in here else 0.0

    def check_blocks(self, n_blocks: int) -> None:
        """Raise an error if a graphon has another number of blocks."""
        if len(self.names) != n_blocks:
            raise ValueError(f"colors are given for {len(self.names)} blocks, but the graphon has {n_blocks}")


def check_shares(shares: Iterable[float], what: str, zero: bool = False) -> tuple[float, ...]:
    """Shares as floats; an error if they are not positive (or zero, if allowed) or do not sum to 1."""
    values = tuple(float(share) for share in shares)
    valid = all(share >= 0 if zero else share > 0 for share in values)
    if not values or not valid or not math.isclose(sum(values), 1.0, abs_tol=1e-9):
        kind = "not negative" if zero else "positive"
        raise ValueError(f"the shares of {what} must be {kind} and sum to 1; got {values}")
    return values
