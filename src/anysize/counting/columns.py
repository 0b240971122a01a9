"""Columns of a table of counts (patterns in canonical order, as flat arrays), and the tables of engines.

A colored table may have hundreds of thousands of columns, so `Pattern` objects are only made on request.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from anysize._schema import check_array
from anysize._typing import IntArray
from anysize.graphs.attributes import EdgeType, edge_type_order
from anysize.graphs.colors import ColorName, check_palette, color_order
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import offsets
from anysize.patterns.orbits import MAX_SIZE, automorphisms, pair_bit
from anysize.patterns.pattern import Pattern, class_table, connected_patterns, representatives

MAX_TYPED_SIZE = 5  # vertices of patterns with types of edges
MAX_PAIRS = MAX_TYPED_SIZE * (MAX_TYPED_SIZE - 1) // 2


@dataclass(frozen=True, eq=False)
class Columns:
    """Patterns by size, index in the catalog of that size, and color codes in canonical vertex order.

    ``colors`` has the shape (patterns, 7), padded with zeros, or is None in a plain table. Color codes are indices into
    ``palette``. ``edge_types`` has the shape (patterns, 10), or is None in a table that does not tell edges apart: for
    the vertex pair with bit b of `anysize.patterns.orbits`, 0 without an edge, else 1 + the position in
    ``edge_palette`` of the type of the edge, seen from the smaller vertex.
    """

    size: NDArray[np.uint8]
    pattern_index: NDArray[np.int16]
    colors: NDArray[np.uint16] | None = None
    palette: tuple[ColorName, ...] = ()
    edge_types: NDArray[np.uint16] | None = None
    edge_palette: tuple[EdgeType, ...] = ()

    def __len__(self) -> int:
        return len(self.size)

    @staticmethod
    @cache
    def plain(*sizes: int) -> Columns:
        """The whole catalog of some sizes, which ascend."""
        amounts = [len(connected_patterns(size)) for size in sizes]
        numbers = np.concatenate([np.arange(amount, dtype=np.int16) for amount in amounts])
        return Columns(np.repeat(np.array(sizes, np.uint8), amounts), numbers)

    @staticmethod
    def no_patterns(palette: tuple[ColorName, ...]) -> Columns:
        """The columns of a colored table in which no pattern occurs."""
        return Columns(np.zeros(0, np.uint8), np.zeros(0, np.int16), np.zeros((0, MAX_SIZE), np.uint16), palette)

    @staticmethod
    def from_codes(
        size: NDArray[Any],
        codes: NDArray[Any],
        colors: NDArray[np.uint16] | None,
        palette: tuple[ColorName, ...],
        edge_types: NDArray[np.uint16] | None = None,
        edge_palette: tuple[EdgeType, ...] = (),
    ) -> Columns:
        """The columns with these `codes`; a ValueError for codes that are not patterns."""
        check_array(size, "pattern_size", "iu", (None,), 1, MAX_SIZE)
        check_array(codes, "pattern_code", "iu", (len(size),), 0)
        pattern_index = np.full(len(size), -1, np.int16)
        for k in np.unique(size):
            here, table = size == k, class_table(int(k))
            check_array(codes[here], "pattern_code", "iu", (None,), high=len(table) - 1)
            pattern_index[here] = table[codes[here]]
        if (pattern_index < 0).any():
            raise ValueError("pattern_code: expected connected patterns; one is not connected")
        return Columns(size, pattern_index, colors, palette, edge_types, edge_palette).checked()

    def checked(self) -> Columns:
        """These columns with arrays of the right types; a ValueError if they are no patterns, or one occurs twice."""
        size = check_array(self.size, "pattern_size", "iu", (None,), 1, MAX_SIZE)
        index = check_array(self.pattern_index, "pattern_index", "iu", (len(size),), 0)
        for k in np.unique(size):
            check_array(index[size == k], "pattern_index", "iu", (None,), high=len(connected_patterns(int(k))) - 1)
        colors = self.colors
        if colors is not None:
            if check_palette(self.palette) != self.palette:
                raise ValueError("palette: expected sorted color names")
            check_array(colors, "pattern_colors", "iu", (len(size), MAX_SIZE), 0, max(len(self.palette) - 1, 0))
            if colors[np.arange(MAX_SIZE) >= size[:, None]].any():
                raise ValueError("pattern_colors: expected 0 beyond the vertices of a pattern")
            colors = colors.astype(np.uint16)
        palette = self.palette if colors is not None else ()
        columns = Columns(size.astype(np.uint8), index.astype(np.int16), colors, palette)
        if self.edge_types is not None:
            columns = replace(columns, edge_types=self._checked_types(columns), edge_palette=self.edge_palette)
        if len(unite([columns])[0]) != len(columns):
            raise ValueError("a pattern occurs twice")
        return columns

    def _checked_types(self, columns: Columns) -> NDArray[np.uint16]:
        """The types of edges; a ValueError unless they are those of the edges of the patterns."""
        if tuple(sorted(set(self.edge_palette), key=edge_type_order)) != self.edge_palette:
            raise ValueError("edge_palette: expected sorted types of edges")
        if len(columns) and columns.size.max() > MAX_TYPED_SIZE:
            raise ValueError(
                f"pattern_size: expected at most {MAX_TYPED_SIZE} vertices in patterns with types of edges"
            )
        shape = (len(columns), MAX_PAIRS)
        types = check_array(self.edge_types, "pattern_edge_types", "iu", shape, 0, len(self.edge_palette))
        bits = (columns.codes[:, None] >> np.arange(MAX_PAIRS)) & 1
        if ((types > 0) != (bits > 0)).any():
            raise ValueError("pattern_edge_types: expected a type for every edge, and 0 elsewhere")
        return types.astype(np.uint16)

    @staticmethod
    def of(patterns: Sequence[Pattern]) -> Columns:
        """The columns of these patterns, in the order given."""
        if len({(pattern.colors is None, pattern.edge_types is None) for pattern in patterns}) > 1:
            raise ValueError("expected either plain or colored patterns, and edges with types in all or none; got both")
        size = np.array([pattern.size for pattern in patterns], np.uint8)
        columns = Columns(size, np.array([_pattern_indices(p.size)[p.edges] for p in patterns], np.int16))
        if patterns and patterns[0].colors is not None:
            palette = tuple(sorted({name for pattern in patterns for name in pattern.colors or ()}, key=color_order))
            code = {name: position for position, name in enumerate(palette)}
            colors = np.zeros((len(patterns), MAX_SIZE), np.uint16)
            for row, pattern in enumerate(patterns):
                colors[row, : pattern.size] = [code[name] for name in pattern.colors or ()]
            columns = replace(columns, colors=colors, palette=palette)
        if patterns and patterns[0].edge_types is not None:
            used = {kind for pattern in patterns for kind in pattern.edge_types or ()}
            kinds = tuple(sorted(used | {kind.reverse for kind in used}, key=edge_type_order))
            code_of_type = {kind: position for position, kind in enumerate(kinds, 1)}
            types = np.zeros((len(patterns), MAX_PAIRS), np.uint16)
            for row, pattern in enumerate(patterns):
                for (i, j), kind in zip(pattern.edges, pattern.edge_types or (), strict=True):
                    types[row, pair_bit(i, j)] = code_of_type[kind]
            columns = replace(columns, edge_types=types, edge_palette=kinds)
        return columns

    def __getitem__(self, key: IntArray | NDArray[np.bool_]) -> Columns:
        colors = None if self.colors is None else self.colors[key]
        types = None if self.edge_types is None else self.edge_types[key]
        return Columns(self.size[key], self.pattern_index[key], colors, self.palette, types, self.edge_palette)

    @cached_property
    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns as objects."""
        catalog = {k: connected_patterns(k) for k in np.unique(self.size).tolist()}
        plain = [catalog[k][index] for k, index in zip(self.size.tolist(), self.pattern_index.tolist(), strict=True)]
        if self.colors is None and self.edge_types is None:
            return tuple(plain)
        colors: Iterable[tuple[ColorName, ...] | None] = repeat(None, len(self))
        if self.colors is not None:
            rows = zip(plain, self.colors.tolist(), strict=True)
            colors = (tuple(self.palette[code] for code in codes[: pattern.size]) for pattern, codes in rows)
        types: Iterable[tuple[EdgeType, ...] | None] = repeat(None, len(self))
        if self.edge_types is not None:
            coded = zip(plain, self.edge_types.tolist(), strict=True)
            types = (tuple(self.edge_palette[c[pair_bit(i, j)] - 1] for i, j in p.edges) for p, c in coded)
        parts = zip(plain, colors, self.automorphisms.tolist(), types, strict=True)
        return tuple(Pattern(p.size, p.edges, held, amount, p.plain_name, kinds) for p, held, amount, kinds in parts)

    def pattern(self, column: int) -> Pattern:
        """The pattern of one column, without making those of a wide table."""
        return self[np.array([column])].patterns[0]

    @property
    def codes(self) -> NDArray[np.uint32]:
        """The edges of every plain pattern: bit j (j - 1) / 2 + i for the edge i < j."""
        codes = np.zeros(len(self), np.uint32)
        for k in np.unique(self.size):
            here = self.size == k
            codes[here] = np.array(representatives(int(k)), np.uint32)[self.pattern_index[here]]
        return codes

    @cached_property
    def automorphisms(self) -> IntArray:
        """The number of automorphisms of every pattern that preserve colors and types of edges."""
        if self.colors is None and self.edge_types is None:
            return np.array([pattern.automorphisms for pattern in self.patterns], np.int64)
        result = np.zeros(len(self), np.int64)
        for here, _, same in self.symmetries():
            result[here] += same
        return result

    def symmetries(self) -> Iterator[tuple[IntArray, IntArray, NDArray[np.bool_]]]:
        """For every plain pattern and automorphism of it: its columns, the image of every vertex, and in which of the
        columns it preserves colors and types of edges."""
        for k in np.unique(self.size):
            for index in np.unique(self.pattern_index[self.size == k]):
                here = np.flatnonzero((self.size == k) & (self.pattern_index == index))
                part = self[here]
                for row in automorphisms(connected_patterns(int(k))[index].code, int(k)):
                    same = np.ones(len(here), np.bool_)
                    if part.colors is not None:
                        same &= (part.colors[:, row] == part.colors[:, : int(k)]).all(axis=1)
                    if part.edge_types is not None:
                        same &= (permuted_types(part.edge_types, row, self.reverse_types) == part.edge_types).all(
                            axis=1
                        )
                    yield here, row, same

    @property
    def reverse_types(self) -> NDArray[np.uint16]:
        """For every code of an edge type the code of the same edge, seen from its other end; 0 stays 0."""
        return reverse_codes(self.edge_palette)

    def check_sizes(self, k: int | Sequence[int]) -> None:
        """Raise a ValueError if there are patterns of other sizes."""
        expected = {k} if isinstance(k, int) else set(k)
        sizes = set(np.unique(self.size).tolist())
        # A table of patterns that occur has no column of a size that no graph reaches; a plain one has them all.
        plain = self.colors is None and self.edge_types is None
        if sizes - expected or (plain and sizes != expected):
            raise ValueError(
                f"expected counts of patterns with {', '.join(map(str, sorted(expected)))} vertices; got a table with "
                f"{', '.join(map(str, sorted(sizes))) or 'none'}; count with k={k}, or set k before fitting"
            )

    def recoded(self, palette: tuple[ColorName, ...], edge_palette: tuple[EdgeType, ...] | None = None) -> Columns:
        """The same patterns with codes of other palettes, which must hold all colors and types of edges in use."""
        edge_palette = self.edge_palette if edge_palette is None else edge_palette
        colors, types = self.colors, self.edge_types
        if colors is None:
            palette = ()
        elif palette != self.palette:
            position = {name: code for code, name in enumerate(palette)}
            translate = np.array([position.get(name, 0) for name in self.palette], np.uint16)
            colors = translate[colors]
            colors[np.arange(MAX_SIZE) >= self.size[:, None]] = 0
        if types is not None and edge_palette != self.edge_palette:
            code = {kind: number for number, kind in enumerate(edge_palette, 1)}
            types = np.array([0, *(code.get(kind, 0) for kind in self.edge_palette)], np.uint16)[types]
        return Columns(self.size, self.pattern_index, colors, palette, types, edge_palette)

    def keys(self) -> NDArray[np.uint64]:
        """Sort keys (patterns, words): size, index, colors and types of edges, in as few 64-bit words as hold them."""
        fields: list[tuple[NDArray[Any], int]] = [(self.size, 3), (self.pattern_index, 10)]
        if self.colors is not None:
            bits = max(len(self.palette) - 1, 0).bit_length()
            fields += [(codes, bits) for codes in self.colors.T[: self.size.max(initial=0)]]
        if self.edge_types is not None:
            fields += [(codes, len(self.edge_palette).bit_length()) for codes in self.edge_types.T]
        words, room = [np.zeros(len(self), np.uint64)], 64
        for values, bits in fields:
            if bits > room:
                words.append(np.zeros(len(self), np.uint64))
                room = 64
            room -= bits
            words[-1] |= values.astype(np.uint64) << np.uint64(room)
        return np.stack(words, axis=1)


def reverse_codes(palette: tuple[EdgeType, ...]) -> NDArray[np.uint16]:
    """For every code 1 .. of a type of edges the code of the same edge, seen from its other end; 0 for 0."""
    position = {kind: code for code, kind in enumerate(palette, 1)}
    return np.array([0, *(position.get(kind.reverse, 0) for kind in palette)], np.uint16)


def permuted_types(types: NDArray[np.uint16], order: IntArray, reverse: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """The types of edges of patterns whose vertex i is what was vertex order[i]; ``reverse``: see `reverse_codes`."""
    result = np.zeros_like(types)
    for j in range(len(order)):
        for i in range(j):
            a, b = int(order[i]), int(order[j])
            column = types[:, pair_bit(a, b)]
            result[:, pair_bit(i, j)] = column if a < b else reverse[column]
    return result


def smallest(trials: Iterable[NDArray[Any]]) -> tuple[NDArray[Any], IntArray]:
    """Row by row the smallest of several tables in lexicographic order, and the number of its table, the first one.

    >>> rows, number = smallest([np.array([[1, 2], [0, 5]]), np.array([[1, 1], [0, 5]])])
    >>> rows.tolist(), number.tolist()
    ([[1, 1], [0, 5]], [1, 0])
    """
    tables = iter(trials)
    best = next(tables).copy()
    rows, chosen = np.arange(len(best)), np.zeros(len(best), np.int64)
    for number, trial in enumerate(tables, 1):
        differs = trial != best
        at = differs.argmax(axis=1)
        better = differs.any(axis=1) & (trial[rows, at] < best[rows, at])
        best[better], chosen[better] = trial[better], number
    return best, chosen


@cache
def _pattern_indices(k: int) -> dict[tuple[tuple[int, int], ...], int]:
    return {pattern.edges: index for index, pattern in enumerate(connected_patterns(k))}


def unite(parts: Sequence[Columns]) -> tuple[Columns, list[IntArray]]:
    """The union of columns in canonical order, and for each part the positions of its columns in the union.

    Colors and types of edges are matched by name.
    """
    first = parts[0]
    if any((p.colors is None, p.edge_types is None) != (first.colors is None, first.edge_types is None) for p in parts):
        raise ValueError(
            "expected tables that are all plain or all colored, and have all types of edges or all none; got both"
        )
    if any(part.palette != first.palette or part.edge_palette != first.edge_palette for part in parts):
        palette = tuple(sorted({name for part in parts for name in part.palette}, key=color_order))
        edge_palette = tuple(sorted({kind for part in parts for kind in part.edge_palette}, key=edge_type_order))
        parts = [part.recoded(palette, edge_palette) for part in parts]
    stacked = Columns(
        np.concatenate([part.size for part in parts]),
        np.concatenate([part.pattern_index for part in parts]),
        None if first.colors is None else np.concatenate([part.colors for part in parts if part.colors is not None]),
        parts[0].palette,
        None if first.edge_types is None else np.concatenate([p.edge_types for p in parts if p.edge_types is not None]),
        parts[0].edge_palette,
    )
    keys = stacked.keys()
    order = np.argsort(keys[:, 0]) if keys.shape[1] == 1 else np.lexsort(keys.T[::-1])
    keys = keys[order]
    new = np.ones(len(order), bool)
    new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    position = np.empty(len(order), np.int64)
    position[order] = np.cumsum(new) - 1
    return stacked[order[new]], np.split(position, np.cumsum([len(part) for part in parts])[:-1])


# ---- tables of engines -----------------------------------------------------------------------------------


class CountTable(NamedTuple):
    """The copies of patterns (columns) on one number of vertices in graphs (rows)."""

    columns: Columns
    matrix: csr_array[np.int64]


class CountOverflow(OverflowError):
    """Raised by an engine if a graph cannot be counted: its row in the set, and the reason, such as "has too many"."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(reason)
        self.row = row


Cells = tuple[Columns, NDArray[Any], NDArray[Any], IntArray]  # columns; row, column and copies of cells


def merged(parts: Sequence[Cells], graphs: GraphSet, k: int) -> CountTable:
    """One table; equal cells are summed, columns are in canonical order. Plain graphs have the whole catalog."""
    if not parts or (graphs.colors is None and parts[0][0].edge_types is None):
        columns = Columns.plain(k) if graphs.colors is None else Columns.no_patterns(graphs.palette)
        parts = [(columns, *(np.zeros(0, np.int64),) * 3), *parts]
    columns, new_columns = unite([part[0] for part in parts])
    dtype = np.int32 if max(len(graphs), len(columns)) < 2**31 else np.int64
    row = np.concatenate([part[1].astype(dtype, copy=False) for part in parts])
    column = np.concatenate([new.astype(dtype)[part[2]] for new, part in zip(new_columns, parts, strict=True)])
    copies = np.concatenate([part[3] for part in parts])
    matrix = coo_array((copies, (row, column)), shape=(len(graphs), len(columns))).tocsr()
    matrix.sort_indices()
    return CountTable(columns, matrix)


def plain_table(copies: NDArray[Any], *sizes: int) -> CountTable:
    """The table of plain counts (graphs, connected patterns), of int64 or of Python integers; an error if too large."""
    plain = Columns.plain(*sizes)
    if copies.dtype == object:
        for row, column in zip(*np.nonzero(copies > np.iinfo(np.int64).max), strict=True):
            name = plain.patterns[column].name
            raise CountOverflow(
                int(row),
                f"has {copies[row, column]} induced copies of the pattern {name!r}, more than a 64-bit integer holds",
            )
        copies = copies.astype(np.int64)
    rows, columns = np.nonzero(copies)  # scipy makes two matrices of a dense one
    table = csr_array((copies[rows, columns], columns, offsets(np.bincount(rows, minlength=len(copies)))), copies.shape)
    return CountTable(plain, table)
