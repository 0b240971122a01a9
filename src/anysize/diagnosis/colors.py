"""Do the colors of the new graphs differ, and if so, only among colors that play the same role?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize.counting.api import count
from anysize.diagnosis.testing import permutation_test
from anysize.graphs.colors import ColorName, check_palette
from anysize.graphs.graphset import GraphSet

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

DRAWS = 999
MOST_COLORS = 300  # the most common ones are compared one by one, all others together
MOST_ROLES = 60  # finding roles compares every pair of colors
RARE = 60  # vertices in training: of a color with fewer, the role is found wrong in 5 % to 50 % of the time
MOVES = 0.01  # a share that moves by less can be in any role: it hardly matters
SLIGHT = 0.05  # a distance that exceeds chance by less is hardly worth a method


@dataclass(frozen=True)
class ColorShare:
    """Mean share of a color over the graphs of each set; ``role`` numbers its role, None where it is not known."""

    name: ColorName
    train: float
    new: float
    role: int | None = None


@dataclass(frozen=True)
class ColorShift:
    """Palettes and shares of the two sets.

    ``shares``: colors by how much they move. ``unseen``: colors that no training graph has, ``unseen_share``: their
    share in the new graphs; ``gone``: those that no new graph has. ``distance`` is the total variation distance of
    mean shares (0 equal, 1 without overlap), ``expected`` its mean when the same graphs are regrouped at random, ``p``
    the p-value of that.

    Where colors move, ``roles`` groups training colors that can be exchanged (see `anysize.training.color_roles`), and
    ``role_distance``, ``role_expected``, ``role_p`` repeat the test with the shares of roles; None where roles were
    not looked for, with the reason in ``no_roles``. Where colors that move are too rare in training for a role,
    ``roles`` is None, too, and the test is for the roles that would explain most.
    """

    train_colors: int
    new_colors: int
    shares: tuple[ColorShare, ...]
    unseen: tuple[ColorName, ...]
    unseen_share: float
    gone: tuple[ColorName, ...]
    distance: float
    expected: float
    p: float
    roles: tuple[tuple[ColorName, ...], ...] | None = None
    role_distance: float | None = None
    role_expected: float | None = None
    role_p: float | None = None
    no_roles: str = ""

    @property
    def slight(self) -> bool:
        """Whether the distance exceeds what chance brings about by so little that it hardly matters."""
        return self.distance - self.expected < SLIGHT

    @property
    def role_slight(self) -> bool:
        """The same for shares of roles: exact shares, too, are off by a vertex or so where N does not divide."""
        return self.role_distance is None or self.role_distance - (self.role_expected or 0.0) < SLIGHT

    @property
    def exchangeable(self) -> bool:
        """Whether any two colors have the same role."""
        return self.roles is not None and any(len(role) > 1 for role in self.roles)


def color_shift(both: GraphSet, train: int, y: NDArray[Any] | None, seed: int, level: float) -> ColorShift:
    """Compare colors; ``both`` holds the training graphs first, ``y`` their classes where they are known.

    Roles are looked for only where colors differ at this level and by more than little, in the training graphs alone.
    """
    shares = color_shares(both)
    before, after = shares[:train].mean(axis=0), shares[train:].mean(axis=0)
    distance, expected, p = permutation_test(_merged_rare(shares), both.sizes, train, DRAWS, seed)
    unseen = [code for code in range(len(both.palette)) if before[code] == 0 and after[code] > 0]
    gone = [code for code in range(len(both.palette)) if after[code] == 0 and before[code] > 0]
    order = np.argsort(-np.abs(after - before), kind="stable").tolist()
    found = ColorShift(
        train_colors=int((before > 0).sum()),
        new_colors=int((after > 0).sum()),
        shares=tuple(ColorShare(both.palette[code], float(before[code]), float(after[code])) for code in order),
        unseen=tuple(both.palette[code] for code in unseen),
        unseen_share=float(after[unseen].sum()),
        gone=tuple(both.palette[code] for code in gone),
        distance=distance,
        expected=expected,
        p=p,
    )
    return found if p > level or found.slight else _with_roles(found, both, train, y, shares, seed)


def color_shares(graphs: GraphSet) -> FloatArray:
    """Share of every color of the palette in every graph: (graphs, colors); zero for a graph without vertices."""
    assert graphs.colors is not None
    rows = np.repeat(np.arange(len(graphs)), graphs.sizes)
    table = np.zeros((len(graphs), len(graphs.palette)))
    np.add.at(table, (rows, graphs.colors.astype(np.int64)), 1.0)
    return np.asarray(table / np.maximum(graphs.sizes, 1)[:, None])


def by_role(graphs: GraphSet, roles: tuple[tuple[ColorName, ...], ...]) -> GraphSet:
    """The same graphs with every color replaced by the names of its role, joined by +; others keep their name.

    >>> path = GraphSet.from_edges([(0, 1), (1, 2)], colors=["red", "blue", "green"])
    >>> by_role(path, (("blue", "red"),)).color_names()
    ('blue+red', 'blue+red', 'green')
    """
    assert graphs.colors is not None
    named = {name: "+".join(map(str, role)) for role in roles if len(role) > 1 for name in role}
    names = [named.get(name, name) for name in graphs.palette]
    palette = check_palette(list(dict.fromkeys(names)))
    codes = np.array([palette.index(name) for name in names], np.uint16)
    return replace(graphs, colors=codes[graphs.colors], palette=palette)


def _with_roles(
    found: ColorShift, both: GraphSet, train: int, y: NDArray[Any] | None, shares: FloatArray, seed: int
) -> ColorShift:
    """Roles from the training graphs, and the test again with the shares of roles."""
    if found.train_colors > MOST_ROLES:
        return replace(found, no_roles=f"roles are looked for among at most {MOST_ROLES} colors")
    try:
        from anysize.training.color_roles import color_roles
    except ImportError:
        return replace(found, no_roles="roles of colors need the learning part, pip install 'anysize[learn]'")
    _, classes = np.unique(np.zeros(train) if y is None else y, return_inverse=True)
    used = [item.name for item in found.shares if item.train > 0]
    counted = count(both[:train].with_palette(used), 3 if (both.sizes[:train] >= 3).any() else 2)
    numbers = color_roles(counted, classes.astype(np.int64)).tolist()
    role = dict(zip(counted.palette, numbers, strict=True))
    vertices = dict(zip(both.palette, both.sizes[:train] @ shares[:train], strict=True))
    rare = [item for item in found.shares if 0 < vertices[item.name] < RARE and abs(item.new - item.train) >= MOVES]
    if rare:
        role = _kindest(found, role, {item.name for item in rare})
        listed = ", ".join(f"{item.name} ({vertices[item.name]:.0f} vertices)" for item in rare[:5])
        found = replace(found, no_roles=f"too rare in the training graphs for a role to be told: {listed}")
    else:
        found = replace(
            found,
            shares=tuple(replace(item, role=role.get(item.name)) for item in found.shares),
            roles=tuple(tuple(name for name in counted.palette if role[name] == n) for n in sorted(set(numbers))),
        )
    # the share of every role; a color that training never saw is a column of its own
    column = [role.get(name, len(role) + code) for code, name in enumerate(both.palette)]
    _, place = np.unique(column, return_inverse=True)
    merged = shares @ np.eye(int(place.max()) + 1)[place]
    distance, expected, p = permutation_test(merged, both.sizes, train, DRAWS, seed)
    return replace(found, role_distance=distance, role_expected=expected, role_p=p)


def _kindest(found: ColorShift, role: dict[ColorName, int], rare: set[ColorName]) -> dict[ColorName, int]:
    """Roles in which each rare color, those that move most first, joins the role that leaves least of the shift."""
    moved = {item.name: item.new - item.train for item in found.shares}
    kept = {name: number for name, number in role.items() if name not in rare} or dict.fromkeys(role, 0)
    gap = dict.fromkeys(kept.values(), 0.0)
    for name, number in kept.items():
        gap[number] += moved[name]
    for name in (item.name for item in found.shares if item.name in rare and item.name not in kept):
        best = min(gap, key=lambda number: abs(gap[number] + moved[name]) - abs(gap[number]))
        kept[name] = best
        gap[best] += moved[name]
    return kept


def _merged_rare(shares: FloatArray) -> FloatArray:
    if shares.shape[1] <= MOST_COLORS:
        return shares
    order = np.argsort(-shares.sum(axis=0), kind="stable")
    rest = shares[:, order[MOST_COLORS:]].sum(axis=1, keepdims=True)
    return np.hstack([shares[:, order[:MOST_COLORS]], rest])
