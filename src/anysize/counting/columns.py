"""What the columns of a table of counts are: patterns in canonical order, kept as flat arrays.

A colored table may have hundreds of thousands of columns, so patterns are arrays here and become `Pattern`
objects only when somebody looks at them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from anysize._typing import IntArray
from anysize.graphs.colors import ColorName, color_order
from anysize.patterns.orbits import MAX_SIZE
from anysize.patterns.pattern import Pattern, connected_patterns


@dataclass(frozen=True, eq=False)
class Columns:
    """Patterns by size, place in the catalog, and color codes in canonical vertex order.

    ``colors`` has the shape (patterns, 7), filled up with zeros, or is None in a plain table; the codes are
    positions in ``palette``.
    """

    size: NDArray[np.uint8]
    place: NDArray[np.int16]
    colors: NDArray[np.uint16] | None = None
    palette: tuple[ColorName, ...] = ()

    def __len__(self) -> int:
        return len(self.size)

    @staticmethod
    def plain(k: int) -> Columns:
        """The full catalog of one size."""
        amount = len(connected_patterns(k))
        return Columns(np.full(amount, k, np.uint8), np.arange(amount, dtype=np.int16))

    @staticmethod
    def of(patterns: Sequence[Pattern]) -> Columns:
        """The columns of these patterns, in the order given."""
        if len({pattern.colors is None for pattern in patterns}) > 1:
            raise ValueError("expected either plain or colored patterns; got both")
        size = np.array([pattern.size for pattern in patterns], np.uint8)
        place = np.array([_places(p.size)[p.edges] for p in patterns], np.int16)
        if not patterns or patterns[0].colors is None:
            return Columns(size, place)
        palette = tuple(sorted({name for p in patterns for name in p.colors or ()}, key=color_order))
        code = {name: position for position, name in enumerate(palette)}
        colors = np.zeros((len(patterns), MAX_SIZE), np.uint16)
        for row, pattern in enumerate(patterns):
            colors[row, : pattern.size] = [code[name] for name in pattern.colors or ()]
        return Columns(size, place, colors, palette)

    def __getitem__(self, key: IntArray | NDArray[np.bool_]) -> Columns:
        colors = None if self.colors is None else self.colors[key]
        return Columns(self.size[key], self.place[key], colors, self.palette)

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns as objects."""
        plain = {k: connected_patterns(int(k)) for k in np.unique(self.size)}
        if self.colors is None:
            return tuple(plain[k][p] for k, p in zip(self.size, self.place, strict=True))
        symmetries = self.symmetries
        return tuple(
            Pattern(
                size=int(k),
                edges=plain[k][place].edges,
                colors=tuple(self.palette[code] for code in codes[:k]),
                automorphisms=int(symmetries[column]),
                plain_name=plain[k][place].plain_name,
            )
            for column, (k, place, codes) in enumerate(zip(self.size, self.place, self.colors.tolist(), strict=True))
        )

    def pattern(self, column: int) -> Pattern:
        """One of them; for a look at a few columns of a wide table."""
        return self[np.array([column])].patterns[0]

    @cached_property
    def symmetries(self) -> IntArray:
        """Automorphisms of every pattern that respect its colors."""
        from anysize.patterns.orbits import automorphisms

        result = np.ones(len(self), np.int64)
        for k in np.unique(self.size):
            for place in np.unique(self.place[self.size == k]):
                here = np.flatnonzero((self.size == k) & (self.place == place))
                group = automorphisms(connected_patterns(int(k))[place].code, int(k))
                if self.colors is None:
                    result[here] = len(group)
                else:
                    own = self.colors[here][:, : int(k)]
                    result[here] = sum((own[:, row] == own).all(axis=1).astype(np.int64) for row in group)
        return result

    def check_sizes(self, k: int | Sequence[int]) -> None:
        """An error for patterns of other sizes."""
        wanted = {k} if isinstance(k, int) else set(k)
        found = set(np.unique(self.size).tolist())
        # A colored table has no column of a size that no graph reaches; a plain one has them all.
        if found - wanted or (self.colors is None and found != wanted):
            told = ", ".join(map(str, sorted(found))) or "none"
            asked = ", ".join(map(str, sorted(wanted)))
            raise ValueError(
                f"expected counts of patterns with {asked} vertices and got a table with {told}; count with "
                f"k={k}, or set k before fitting"
            )

    def recoded(self, palette: tuple[ColorName, ...]) -> Columns:
        """The same patterns with colors coded by a palette that holds all of this one's colors in use."""
        if self.colors is None or palette == self.palette:
            return Columns(self.size, self.place, self.colors, palette if self.colors is not None else ())
        position = {name: code for code, name in enumerate(palette)}
        translate = np.array([position.get(name, 0) for name in self.palette], np.uint16)
        colors = translate[self.colors]
        colors[np.arange(MAX_SIZE) >= self.size[:, None]] = 0
        return Columns(self.size, self.place, colors, palette)

    def in_order(self) -> bool:
        """Whether a plain table has its patterns once each and in canonical order."""
        number = self.size.astype(np.int64) << 16 | self.place.astype(np.int64)
        return bool((np.diff(number) > 0).all())

    def short_keys(self, widest: int) -> NDArray[np.uint64] | None:
        """One word per column in canonical order, or None where size, place and ``widest`` colors do not fit one."""
        bits = max(len(self.palette) - 1, 0).bit_length()
        if 13 + bits * widest > 64:
            return None
        word = (self.size.astype(np.uint64) << np.uint64(10)) | self.place.astype(np.uint64)
        for vertex in range(widest if self.colors is not None else 0):
            assert self.colors is not None
            word = (word << np.uint64(bits)) | self.colors[:, vertex].astype(np.uint64)
        return word

    def keys(self) -> NDArray[np.uint64]:
        """Two words per column, (size, place, first colors) and (other colors): their order is canonical."""
        words = np.zeros((len(self), 2), np.uint64)
        words[:, 0] = (self.size.astype(np.uint64) << np.uint64(58)) | (self.place.astype(np.uint64) << np.uint64(48))
        if self.colors is not None:
            wide = self.colors.astype(np.uint64)
            for vertex in range(MAX_SIZE):
                word, shift = (0, 32 - 16 * vertex) if vertex < 3 else (1, 48 - 16 * (vertex - 3))
                words[:, word] |= wide[:, vertex] << np.uint64(shift)
        return words


def _grouped(
    short: list[NDArray[np.uint64] | None], full: list[Callable[[], NDArray[np.uint64]]]
) -> tuple[IntArray, NDArray[np.bool_]]:
    """An order that sorts all keys, and where in it a key differs from the one before."""
    if all(part is not None for part in short):
        one = np.concatenate([part for part in short if part is not None])
        order = np.argsort(one)
        ordered = one[order][:, None]
    else:
        keys = np.concatenate([part() for part in full])
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        ordered = keys[order]
    new = np.ones(len(order), bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return order, new


@cache
def _places(k: int) -> dict[tuple[tuple[int, int], ...], int]:
    return {pattern.edges: place for place, pattern in enumerate(connected_patterns(k))}


def unite(parts: Sequence[Columns]) -> tuple[Columns, list[IntArray]]:
    """All patterns of the parts, once each and in canonical order, and where each part's columns went.

    Colors are matched by name. The parts are all plain or all colored.
    """
    if len({part.colors is None for part in parts}) > 1:
        raise ValueError("expected tables that are all plain or all colored; got both")
    palette = parts[0].palette
    if any(part.palette != palette for part in parts):
        palette = tuple(sorted({name for part in parts for name in part.palette}, key=color_order))
    recoded = [part.recoded(palette) for part in parts]
    if len(parts) == 1 and parts[0].colors is None and parts[0].in_order():
        return parts[0], [np.arange(len(parts[0]))]
    widest = max(int(part.size.max(initial=0)) for part in recoded)
    order, new = _grouped([part.short_keys(widest) for part in recoded], [part.keys for part in recoded])
    where = np.empty(len(order), np.int64)
    where[order] = np.cumsum(new) - 1
    chosen = order[new]
    first = recoded[0]
    everything = Columns(
        np.concatenate([part.size for part in recoded]),
        np.concatenate([part.place for part in recoded]),
        None if first.colors is None else np.concatenate([part.colors for part in recoded if part.colors is not None]),
        palette,
    )
    return everything[chosen], np.split(where, np.cumsum([len(part) for part in recoded])[:-1])
