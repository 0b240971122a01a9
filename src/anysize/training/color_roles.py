"""Which colors play the same role: those that can be exchanged without changing how vertices are joined.

If two colors are given to vertices of the same kind, and only their shares differ between environments, then inside
patterns their vertices are joined to others equally often. A model that does not tell such colors apart cannot be
misled by a shift of their shares, and still sees everything else that colors say. This is what the attribute
penalty aims at ("treat attributes assigned to the same block as equivalent"), decided from the counts themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import chi2

from anysize._typing import FloatArray, IntArray
from anysize.counting.columns import Columns
from anysize.counting.counts import Counts
from anysize.graphs.colors import ColorName
from anysize.nn.rows.pattern_batch import neighbor_table
from anysize.patterns.orbits import automorphisms
from anysize.patterns.pattern import connected_patterns

LEVEL = 1e-6  # roles are told apart only where chance would hardly ever do so: rare colors have wild rates
FEW_GRAPHS = 20  # a rate seen in fewer graphs of a class (or in fewer than half of them) says nothing


@dataclass(frozen=True)
class _Pairs:
    """Per graph and pair of colors: adjacent pairs of vertices, and all pairs, over the copies of all patterns."""

    adjacent: FloatArray  # (graphs, colors, colors)
    total: FloatArray
    y: IntArray

    def merged(self, one: int, other: int) -> _Pairs:
        """With one color renamed to another: (graphs, colors - 1, colors - 1)."""
        target = np.arange(self.total.shape[1])
        target[other] = one
        _, target = np.unique(target, return_inverse=True)
        into = np.eye(target.max() + 1)[target]
        joined = [np.einsum("gab,ac,bd->gcd", part, into, into, optimize=True) for part in (self.adjacent, self.total)]
        return _Pairs(joined[0], joined[1], self.y)

    def rates(self) -> tuple[FloatArray, FloatArray]:
        """Share of adjacent pairs and its variance, per class: (classes, colors, colors); nan where unknown.

        Graphs are independent, copies inside a graph are not: the variance is that of a ratio of sums over graphs.
        """
        found, spread = [], []
        for label in np.unique(self.y):
            adjacent, total = self.adjacent[self.y == label], self.total[self.y == label]
            whole = total.sum(0)
            enough = (total > 0).sum(0) >= max(min(FEW_GRAPHS, len(total) // 2), 2)
            rate = np.divide(adjacent.sum(0), whole, out=np.full(whole.shape, np.nan), where=enough)
            off = ((adjacent - rate * total) ** 2).sum(0)
            amount = (total > 0).sum(0)
            variance = off / np.maximum(whole, 1) ** 2 * amount / np.maximum(amount - 1, 1)
            found.append(rate)
            spread.append(variance)
        return np.array(found), np.array(spread)


def color_roles(counts: Counts, y: IntArray, level: float = LEVEL) -> IntArray:
    """The role of every color of the table's palette: (colors,), numbered in the order of the palette.

    Starting from one role per color, the two most alike roles are joined as long as their rates of adjacency to all
    roles differ by no more than chance would bring about with probability ``level``. Colors that are too rare to
    be compared stay apart.
    """
    colors = len(counts.palette)
    roles = np.arange(colors)
    if counts.columns.colors is None or colors < 2 or not (counts.columns.size >= 2).any():
        return roles
    pairs = _pairs(counts, np.asarray(y))
    while pairs.total.shape[1] > 1:
        chance = _chances(pairs)
        one, other = np.unravel_index(int(np.argmax(chance)), chance.shape)
        if chance[one, other] < level:
            break
        one, other = min(one, other), max(one, other)
        pairs = pairs.merged(int(one), int(other))
        roles = np.where(roles == other, one, np.where(roles > other, roles - 1, roles))
    return roles


def _pairs(counts: Counts, y: IntArray) -> _Pairs:
    edges, whole = _pattern_pairs(counts.columns)
    colors = len(counts.palette)
    shape = (len(counts), colors, colors)
    copies = counts.matrix.astype(np.float64)
    return _Pairs((copies @ edges).toarray().reshape(shape), (copies @ whole).toarray().reshape(shape), y)


def _pattern_pairs(columns: Columns) -> tuple[csr_array[np.float64], csr_array[np.float64]]:
    """Ordered pairs of vertices of each pattern by their colors, adjacent ones and all: (patterns, colors^2)."""
    assert columns.colors is not None
    amount = len(columns.palette)
    adjacent: list[tuple[IntArray, IntArray]] = []
    whole: list[tuple[IntArray, IntArray]] = []
    for size in np.unique(columns.size):
        here = np.flatnonzero(columns.size == size)
        dress = columns.colors[here, :size].astype(np.int64)
        near = neighbor_table(int(size))[columns.place[here]]
        code = dress[:, :, None] * amount + dress[:, None, :]
        joined = np.zeros(code.shape, bool)
        rows, ends, slots = np.nonzero(near >= 0)
        joined[rows, ends, near[rows, ends, slots]] = True
        for mask, kept in ((joined, adjacent), (~np.eye(int(size), dtype=bool)[None] & np.ones_like(joined), whole)):
            place, _, _ = np.nonzero(mask)
            kept.append((here[place], code[mask]))
    shape = (len(columns), amount * amount)
    made = []
    for kept in (adjacent, whole):
        row, column = np.concatenate([k[0] for k in kept]), np.concatenate([k[1] for k in kept])
        made.append(csr_array((np.ones(len(row)), (row, column)), shape=shape))
    return made[0], made[1]


def _chances(pairs: _Pairs) -> FloatArray:
    """How likely rates of two roles would differ as much by chance: (roles, roles), -1 on and below the diagonal."""
    rate, variance = pairs.rates()
    amount = rate.shape[1]
    chances = np.full((amount, amount), -1.0)
    for one in range(amount):
        for other in range(one + 1, amount):
            gap, spread = _gaps(rate, variance, one, other)
            known = np.isfinite(gap) & (spread > 0)
            statistic = float((gap[known] ** 2 / spread[known]).sum())
            chances[one, other] = chi2.sf(statistic, int(known.sum())) if known.any() else -1.0
    return chances


def _gaps(rate: FloatArray, variance: FloatArray, one: int, other: int) -> tuple[FloatArray, FloatArray]:
    """Differences that exchangeable roles would not show: to every third role, and within and between the two."""
    others = [role for role in range(rate.shape[1]) if role not in (one, other)]
    pairs = [((one, role), (other, role)) for role in others]
    pairs += [((one, one), (one, other)), ((other, other), (one, other))]
    gap = np.array([rate[:, a, b] - rate[:, c, d] for (a, b), (c, d) in pairs])
    spread = np.array([variance[:, a, b] + variance[:, c, d] for (a, b), (c, d) in pairs])
    return gap, spread


def united_by_role(columns: Columns, role: Mapping[ColorName, int]) -> tuple[Columns, IntArray]:
    """Columns that are one pattern once colors are replaced by roles: one of each kind, and everybody's kind.

    Of all ways to turn a pattern onto itself the one with the smallest roles names its kind and numbers its vertices,
    so that a pattern has the same identities whatever other patterns are in the table. A role is shown by its first
    color of the palette. Colors without a role are a role of their own.
    """
    assert columns.colors is not None
    codes = np.array([role.get(name, -1) for name in columns.palette] or [-1], np.int64) + 1
    base = max(role.values(), default=-1) + 2
    shown = np.zeros(base, np.uint16)
    shown[codes[::-1]] = np.arange(len(codes))[::-1]
    names, colors = np.zeros(len(columns), np.int64), np.zeros_like(columns.colors)
    for size in np.unique(columns.size):
        power = base ** np.arange(int(size))
        for place in np.unique(columns.place[columns.size == size]):
            here = np.flatnonzero((columns.size == size) & (columns.place == place))
            turns = automorphisms(connected_patterns(int(size))[place].code, int(size)).astype(np.int64)
            dress = codes[columns.colors[here, :size].astype(np.int64)]
            values = np.array([dress[:, turn] @ power for turn in turns])
            best = turns[values.argmin(axis=0)]
            names[here] = values.min(axis=0)
            colors[here, :size] = shown[np.take_along_axis(dress, best, axis=1)]
    key = np.column_stack([columns.size.astype(np.int64), columns.place.astype(np.int64), names])
    _, example, kind = np.unique(key, axis=0, return_index=True, return_inverse=True)
    dressed = Columns(columns.size, columns.place, colors, columns.palette)
    return dressed[example], kind.reshape(-1)
