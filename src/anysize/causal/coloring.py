"""The color of a vertex as a function of its environment, its block and its position in the block (the paper's g_X).

`Coloring` has shares of colors for every block, `SizeColoring` one such coloring for every graph size, `ColorFunction`
is any function. All of them ``paint`` vertices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from anysize._typing import FloatArray, IntArray
from anysize.graphs.colors import ColorName, check_palette, encode_colors

Painted: TypeAlias = tuple[NDArray[np.uint16], tuple[ColorName, ...]]


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
        if not isinstance(blocks, Sequence) or not all(isinstance(block, Mapping) for block in blocks):
            raise ValueError(f"colors must be a list with one mapping of names to shares per block; got {blocks!r}")
        shares = tuple(tuple(float(share) for share in block.values()) for block in blocks)
        return Coloring(tuple(tuple(block) for block in blocks), shares)

    @property
    def palette(self) -> tuple[ColorName, ...]:
        """All color names, sorted; a color may belong to several blocks."""
        return check_palette(list({name for names in self.names for name in names}))

    def paint(self, sizes: IntArray, blocks: IntArray, positions: FloatArray) -> Painted:
        """The color codes of vertices, and the palette; the sizes of their graphs do not matter."""
        return self.codes(blocks, positions), self.palette

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


@dataclass(frozen=True)
class SizeColoring:
    """One coloring for every graph size: sizes are the values e of E, and the colors of a vertex depend on e.

    Theorem 1 assumes that colors do not depend on the environment, hence not on the size.

    Examples:
        >>> by_size = SizeColoring.of({20: [{"red": 0.9, "blue": 0.1}], 30: [{"red": 0.5, "blue": 0.5}]})
        >>> by_size.at(30).share(0, "blue")
        0.5
    """

    sizes: tuple[int, ...]
    colorings: tuple[Coloring, ...]

    @staticmethod
    def of(by_size: Mapping[int, Coloring | Sequence[Mapping[ColorName, float]]]) -> SizeColoring:
        """Make it from one coloring per size, each as in `Coloring.of`."""
        return SizeColoring(tuple(by_size), tuple(Coloring.of(colors) for colors in by_size.values()))

    def at(self, size: int) -> Coloring:
        """The coloring of graphs of this size."""
        if size not in self.sizes:
            raise ValueError(
                f"colors are given for graphs of {', '.join(map(str, self.sizes))} vertices, not of {size}"
            )
        return self.colorings[self.sizes.index(size)]

    @property
    def palette(self) -> tuple[ColorName, ...]:
        """All color names, sorted."""
        return check_palette(list({name for coloring in self.colorings for name in coloring.palette}))

    def paint(self, sizes: IntArray, blocks: IntArray, positions: FloatArray) -> Painted:
        """The color codes of vertices in graphs of these sizes, and the palette."""
        palette = self.palette
        codes = np.zeros(len(blocks), np.uint16)
        for size in np.unique(sizes).tolist():
            coloring, here = self.at(size), np.flatnonzero(sizes == size)
            code_of_name = np.array([palette.index(name) for name in coloring.palette], np.uint16)
            codes[here] = code_of_name[coloring.codes(blocks[here], positions[here])]
        return codes, palette

    def check_blocks(self, n_blocks: int) -> None:
        """Raise an error if a graphon has another number of blocks."""
        for coloring in self.colorings:
            coloring.check_blocks(n_blocks)


@dataclass(frozen=True)
class ColorFunction:
    """Any function g_X of the graph's size, the vertex's block and its position in the block, given as numpy arrays.

    It returns one color name (a string or an integer) per vertex. Expected colored densities are not available.
    """

    function: Callable[[IntArray, IntArray, FloatArray], Any]

    def paint(self, sizes: IntArray, blocks: IntArray, positions: FloatArray) -> Painted:
        """The color codes of vertices, and the palette of the colors that occur."""
        names = self.function(sizes, blocks, positions)
        if np.shape(names) != np.shape(blocks):
            raise ValueError(
                f"a color function must return one color per vertex: expected {len(blocks)} colors, "
                f"got the shape {np.shape(names)}"
            )
        return encode_colors(names)

    def check_blocks(self, n_blocks: int) -> None:
        """Any number of blocks will do."""


def check_shares(shares: Iterable[float], what: str, zero: bool = False) -> tuple[float, ...]:
    """Shares as floats; an error if they are not positive (or zero, if allowed) or do not sum to 1."""
    values = tuple(float(share) for share in shares)
    valid = all(share >= 0 if zero else share > 0 for share in values)
    if not values or not valid or not math.isclose(sum(values), 1.0, abs_tol=1e-9):
        kind = "not negative" if zero else "positive"
        raise ValueError(f"the shares of {what} must be {kind} and sum to 1; got {values}")
    return values
