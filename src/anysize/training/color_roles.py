"""Color roles: groups of colors that can be exchanged without changing how vertices are connected.

If two colors are given to vertices of the same block, and only their shares differ between environments, their vertices
are adjacent to others equally often within patterns. A model that does not distinguish such colors is not misled by a
shift of their shares, and still uses everything else about colors. Edges of several types are as many ways of being
adjacent. The color penalty has the same aim ("treat
attributes assigned to the same block as equivalent"); roles are decided from the counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array
from scipy.special import chdtrc

from anysize._memory import check_table
from anysize._typing import FloatArray, IntArray
from anysize.counting.columns import Columns, permuted_types, smallest
from anysize.counting.counts import Counts
from anysize.graphs.colors import ColorName
from anysize.nn.rows.pattern_batch import neighbor_table, neighbor_types
from anysize.patterns.orbits import automorphisms
from anysize.patterns.pattern import connected_patterns

SIGNIFICANCE = 1e-6  # strict, because the rates of rare colors are noisy
MIN_GRAPHS = 20  # a rate needs so many graphs of a class, or half of them if there are fewer


@dataclass(frozen=True)
class _PairCounts:
    """Per graph and pair of colors: adjacent vertex pairs and all vertex pairs, over the copies of all patterns."""

    adjacent: FloatArray  # (types of edges, graphs, colors, colors); the type is seen from the first vertex
    total: FloatArray  # (graphs, colors, colors)
    y: IntArray

    def merged(self, kept: int, renamed: int) -> _PairCounts:
        """The counts after one color got the name of another: one color less."""
        joined = []
        for part in (self.adjacent, self.total):
            part = part.copy()
            part[..., kept, :] += part[..., renamed, :]
            part[..., kept] += part[..., renamed]
            joined.append(np.delete(np.delete(part, renamed, axis=-1), renamed, axis=-2))
        return _PairCounts(joined[0], joined[1], self.y)

    def rates(self) -> tuple[FloatArray, FloatArray]:
        """Share of adjacent pairs and its variance, per class and type: (classes * types, colors, colors); nan where
        unknown.

        The variance is that of a ratio of sums over graphs: graphs are independent, copies within a graph are not.
        """
        rates, variances = [], []
        for label in np.unique(self.y):
            total = self.total[self.y == label]
            pairs, amount = total.sum(0), (total > 0).sum(0)
            enough = amount >= max(min(MIN_GRAPHS, len(total) // 2), 2)
            for adjacent in self.adjacent[:, self.y == label]:
                rate = np.divide(adjacent.sum(0), pairs, out=np.full(pairs.shape, np.nan), where=enough)
                residual = ((adjacent - rate * total) ** 2).sum(0)
                rates.append(rate)
                variances.append(residual / np.maximum(pairs, 1) ** 2 * amount / np.maximum(amount - 1, 1))
        return np.array(rates), np.array(variances)


def color_roles(counts: Counts, y: IntArray, level: float = SIGNIFICANCE) -> IntArray:
    """The role of every color of the table's palette: (colors,), numbered in the order of the palette.

    Starting with one role per color, the two most similar roles are merged as long as a chi-squared test at ``level``
    does not reject that their rates of adjacency to all roles are equal. Colors that are too rare to be compared keep
    their own role.
    """
    colors = len(counts.palette)
    roles = np.arange(colors)
    if counts.columns.colors is None or colors < 2 or not (counts.columns.size >= 2).any():
        return roles
    pairs = _count_pairs(counts, np.asarray(y))
    while pairs.total.shape[1] > 1:
        p_values = _p_values(pairs)
        first, second = np.unravel_index(int(np.argmax(p_values)), p_values.shape)  # first < second
        if p_values[first, second] < level:
            break
        pairs = pairs.merged(int(first), int(second))
        roles = np.where(roles == second, first, np.where(roles > second, roles - 1, roles))
    return roles


def _count_pairs(counts: Counts, y: IntArray) -> _PairCounts:
    adjacent, total = _pattern_pairs(counts.columns)
    colors, types = len(counts.palette), max(len(counts.columns.edge_palette), 1)
    shape = (len(counts), types, colors, colors)
    check_table(shape, "the table of pairs of colors", "train without color roles, or merge colors")
    copies = counts.matrix.astype(np.float64)
    near = (copies @ adjacent).toarray().reshape(shape).transpose(1, 0, 2, 3)
    return _PairCounts(near, (copies @ total).toarray().reshape(len(counts), colors, colors), y)


def _pattern_pairs(columns: Columns) -> tuple[csr_array[np.float64], csr_array[np.float64]]:
    """Ordered vertex pairs of each pattern by their colors: adjacent ones by the type of their edge, and all.

    (patterns, types * colors^2) and (patterns, colors^2).
    """
    assert columns.colors is not None
    amount, types = len(columns.palette), max(len(columns.edge_palette), 1)
    adjacent: list[tuple[IntArray, IntArray]] = []
    every: list[tuple[IntArray, IntArray]] = []
    for size in np.unique(columns.size):
        of_size = np.flatnonzero(columns.size == size)
        colors = columns.colors[of_size, :size].astype(np.int64)
        near = neighbor_table(int(size))[columns.pattern_index[of_size]]
        kinds = neighbor_types(columns[of_size], near)
        code = colors[:, :, None] * amount + colors[:, None, :]
        rows, ends, slots = np.nonzero(near >= 0)
        kind = np.maximum(kinds[rows, ends, slots], 0)  # -1 where edges are not told apart
        adjacent.append((of_size[rows], kind * amount**2 + code[rows, ends, near[rows, ends, slots]]))
        different = ~np.eye(int(size), dtype=bool)[None] & np.ones(code.shape, bool)
        every.append((of_size[np.nonzero(different)[0]], code[different]))
    tables = []
    for cells, ways in ((adjacent, types), (every, 1)):
        row, column = (np.concatenate(part) for part in zip(*cells, strict=True))
        tables.append(csr_array((np.ones(len(row)), (row, column)), shape=(len(columns), ways * amount**2)))
    return tables[0], tables[1]


def _p_values(pairs: _PairCounts) -> FloatArray:
    """p-value of equal rates for every two roles: (roles, roles), -1 on and below the diagonal and where unknown.

    Two roles are exchangeable if every role, the two included, is adjacent to both equally often.
    """
    rate, variance = pairs.rates()
    amount = rate.shape[1]
    p_values = np.full((amount, amount), -1.0)
    seen = np.flatnonzero(np.isfinite(rate).any(axis=(0, 1)))  # with many rare colors, most have no rate at all
    for position, role in enumerate(seen):
        others = seen[position + 1 :]
        gap = rate[:, [role]][:, :, seen] - rate[:, others][:, :, seen]  # (classes, others, roles)
        gap_variance = variance[:, [role]][:, :, seen] + variance[:, others][:, :, seen]
        known = gap_variance > 0
        statistic = np.divide(gap**2, gap_variance, out=np.zeros_like(gap), where=known).sum(axis=(0, 2))
        terms = known.sum(axis=(0, 2))
        p_values[role, others] = np.where(terms > 0, chdtrc(np.maximum(terms, 1), statistic), -1.0)
    return p_values


def merge_roles(columns: Columns, role: Mapping[ColorName, int]) -> tuple[Columns, IntArray]:
    """Merge patterns that are equal once colors are replaced by roles: merged columns, and the index of each column.

    Among the automorphisms of a pattern, the one with the smallest sequence of roles, then of types of edges, defines
    its canonical form and the numbering of its vertices, so that identities do not depend on the other patterns of the
    table. A role is represented by its first color of the palette. All colors without a role form one role.
    """
    assert columns.colors is not None
    codes = np.array([role.get(name, -1) for name in columns.palette] or [-1], np.int64) + 1
    base = max(role.values(), default=-1) + 2
    representative = np.zeros(base, np.uint16)
    representative[codes[::-1]] = np.arange(len(codes))[::-1]
    typed, reverse = columns.edge_types, columns.reverse_types
    names = np.zeros((len(columns), 1 + (0 if typed is None else typed.shape[1])), np.int64)
    colors = np.zeros_like(columns.colors)
    for size in np.unique(columns.size):
        power = base ** np.arange(int(size))
        for topology in np.unique(columns.pattern_index[columns.size == size]):
            same = np.flatnonzero((columns.size == size) & (columns.pattern_index == topology))
            orders = automorphisms(connected_patterns(int(size))[topology].code, int(size)).astype(np.int64)
            roles = codes[columns.colors[same, :size].astype(np.int64)]
            trials = [(roles[:, order] @ power)[:, None] for order in orders]
            if typed is not None:
                kinds = (permuted_types(typed[same], order, reverse) for order in orders)
                trials = [np.hstack(pair) for pair in zip(trials, kinds, strict=True)]
            names[same], number = smallest(trials)
            colors[same, :size] = representative[np.take_along_axis(roles, orders[number], axis=1)]
    key = np.column_stack([columns.size.astype(np.int64), columns.pattern_index.astype(np.int64), names])
    _, example, index = np.unique(key, axis=0, return_index=True, return_inverse=True)
    recolored = replace(columns, colors=colors, edge_types=None if typed is None else names[:, 1:].astype(np.uint16))
    return recolored[example], index.reshape(-1)
