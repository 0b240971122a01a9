"""Color roles: groups of colors that can be exchanged without changing how vertices are connected.

If two colors are given to vertices of the same block, and only their shares differ between environments, their vertices
are adjacent to others equally often within patterns. A model that does not distinguish such colors is not misled by a
shift of their shares, and still uses everything else about colors. The color penalty has the same aim ("treat
attributes assigned to the same block as equivalent"); roles are decided from the counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.special import chdtrc

from anysize._memory import check_table
from anysize._typing import FloatArray, IntArray
from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.graphs.colors import ColorName
from anysize.nn.rows.pattern_batch import neighbor_table
from anysize.patterns.orbits import automorphisms
from anysize.patterns.pattern import connected_patterns

SIGNIFICANCE = 1e-6  # strict, because the rates of rare colors are noisy
MIN_GRAPHS = 20  # a rate needs so many graphs of a class, or half of them if there are fewer


@dataclass(frozen=True)
class _PairCounts:
    """Per graph and pair of colors: adjacent vertex pairs and all vertex pairs, over the copies of all patterns."""

    adjacent: FloatArray  # (graphs, colors, colors)
    total: FloatArray
    y: IntArray

    def merged(self, kept: int, renamed: int) -> _PairCounts:
        """The counts after one color got the name of another: (graphs, colors - 1, colors - 1)."""
        joined = []
        for part in (self.adjacent, self.total):
            part = part.copy()
            part[:, kept] += part[:, renamed]
            part[:, :, kept] += part[:, :, renamed]
            joined.append(np.delete(np.delete(part, renamed, axis=1), renamed, axis=2))
        return _PairCounts(joined[0], joined[1], self.y)

    def rates(self) -> tuple[FloatArray, FloatArray]:
        """Share of adjacent pairs and its variance, per class: (classes, colors, colors); nan where unknown.

        The variance is that of a ratio of sums over graphs: graphs are independent, copies within a graph are not.
        """
        rates, variances = [], []
        for label in np.unique(self.y):
            adjacent, total = self.adjacent[self.y == label], self.total[self.y == label]
            pairs = total.sum(0)
            enough = (total > 0).sum(0) >= max(min(MIN_GRAPHS, len(total) // 2), 2)
            rate = np.divide(adjacent.sum(0), pairs, out=np.full(pairs.shape, np.nan), where=enough)
            residual = ((adjacent - rate * total) ** 2).sum(0)
            amount = (total > 0).sum(0)
            variance = residual / np.maximum(pairs, 1) ** 2 * amount / np.maximum(amount - 1, 1)
            rates.append(rate)
            variances.append(variance)
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
    colors = len(counts.palette)
    shape = (len(counts), colors, colors)
    check_table(shape, "the table of pairs of colors", "train without color roles, or merge colors")
    copies = counts.matrix.astype(np.float64)
    return _PairCounts((copies @ adjacent).toarray().reshape(shape), (copies @ total).toarray().reshape(shape), y)


def _pattern_pairs(columns: Columns) -> tuple[csr_array[np.float64], csr_array[np.float64]]:
    """Ordered vertex pairs of each pattern by their colors, adjacent ones and all: (patterns, colors^2) each."""
    assert columns.colors is not None
    amount = len(columns.palette)
    adjacent: list[tuple[IntArray, IntArray]] = []
    every: list[tuple[IntArray, IntArray]] = []
    for size in np.unique(columns.size):
        of_size = np.flatnonzero(columns.size == size)
        colors = columns.colors[of_size, :size].astype(np.int64)
        near = neighbor_table(int(size))[columns.pattern_index[of_size]]
        code = colors[:, :, None] * amount + colors[:, None, :]
        connected = np.zeros(code.shape, bool)
        rows, ends, slots = np.nonzero(near >= 0)
        connected[rows, ends, near[rows, ends, slots]] = True
        different = ~np.eye(int(size), dtype=bool)[None] & np.ones_like(connected)
        for mask, cells in ((connected, adjacent), (different, every)):
            row, _, _ = np.nonzero(mask)
            cells.append((of_size[row], code[mask]))
    shape = (len(columns), amount * amount)
    tables = []
    for cells in (adjacent, every):
        row, column = (np.concatenate(part) for part in zip(*cells, strict=True))
        tables.append(csr_array((np.ones(len(row)), (row, column)), shape=shape))
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

    Among the automorphisms of a pattern, the one with the smallest sequence of roles defines its canonical form and the
    numbering of its vertices, so that identities do not depend on the other patterns of the table. A role is
    represented by its first color of the palette. All colors without a role form one role.
    """
    assert columns.colors is not None
    codes = np.array([role.get(name, -1) for name in columns.palette] or [-1], np.int64) + 1
    base = max(role.values(), default=-1) + 2
    representative = np.zeros(base, np.uint16)
    representative[codes[::-1]] = np.arange(len(codes))[::-1]
    names, colors = np.zeros(len(columns), np.int64), np.zeros_like(columns.colors)
    for size in np.unique(columns.size):
        power = base ** np.arange(int(size))
        for topology in np.unique(columns.pattern_index[columns.size == size]):
            same = np.flatnonzero((columns.size == size) & (columns.pattern_index == topology))
            orders = automorphisms(connected_patterns(int(size))[topology].code, int(size)).astype(np.int64)
            roles = codes[columns.colors[same, :size].astype(np.int64)]
            values = np.array([roles[:, order] @ power for order in orders])
            best = orders[values.argmin(axis=0)]
            names[same] = values.min(axis=0)
            colors[same, :size] = representative[np.take_along_axis(roles, best, axis=1)]
    key = np.column_stack([columns.size.astype(np.int64), columns.pattern_index.astype(np.int64), names])
    _, example, index = np.unique(key, axis=0, return_index=True, return_inverse=True)
    recolored = Columns(columns.size, columns.pattern_index, colors, columns.palette)
    return recolored[example], index.reshape(-1)
