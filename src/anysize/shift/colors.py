"""Do the mean shares of vertex colors differ, and if so, only among exchangeable colors?

Exchangeable colors have one role: vertices of these colors are adjacent to every color at the same rates in the
training graphs (see `anysize.training.color_roles`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._typing import FloatArray
from anysize.counting.api import count
from anysize.graphs.colors import ColorName, check_palette
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners
from anysize.shift.hypothesis_tests import ShareDifference, compare_shares

MAX_COLORS_WITH_ROLES = 60  # every pair of colors is compared
MIN_VERTICES_FOR_ROLE = 60  # with fewer training vertices of a color, its role is wrong in 5 % to 50 % of the cases
MIN_RARE_MOVE = 0.01  # rare colors whose share moves by less may have any role

Roles = tuple[tuple[ColorName, ...], ...]


@dataclass(frozen=True)
class ColorShare:
    """Mean share of a color over the graphs of each set."""

    name: ColorName
    train: float
    new: float


@dataclass(frozen=True)
class ColorShift:
    """Mean shares of colors, those that differ most first, and the tests on them.

    ``unseen``: colors that no training graph has, with their mean share in the new graphs; ``missing``: colors that no
    new graph has. Where colors differ, ``roles`` groups exchangeable colors and ``role_test`` repeats the test on their
    shares. Where roles are not known ``roles`` is None and ``roles_unknown`` says why; the role test is then None, or
    that of the roles that would explain most of the shift.
    """

    shares: tuple[ColorShare, ...]
    unseen: tuple[ColorName, ...]
    unseen_share: float
    missing: tuple[ColorName, ...]
    test: ShareDifference
    roles: Roles | None = None
    role_test: ShareDifference | None = None
    roles_unknown: str = ""

    @property
    def exchangeable(self) -> bool:
        """Whether any two colors have the same role."""
        return self.roles is not None and any(len(role) > 1 for role in self.roles)


def compare_colors(both: GraphSet, n_train: int, y: NDArray[Any] | None, seed: int, level: float) -> ColorShift:
    """Compare the first ``n_train`` graphs with the others; roles are found where colors differ at this level."""
    shares, palette = compute_shares(both), both.palette
    train, new = shares[:n_train].mean(axis=0), shares[n_train:].mean(axis=0)
    test = compare_shares(shares, both.sizes, n_train, seed)
    order = np.argsort(-np.abs(new - train), kind="stable").tolist()
    shift = ColorShift(
        shares=tuple(ColorShare(palette[code], float(train[code]), float(new[code])) for code in order),
        unseen=tuple(name for code, name in enumerate(palette) if train[code] == 0 < new[code]),
        unseen_share=float(new[train == 0].sum()),
        missing=tuple(name for code, name in enumerate(palette) if new[code] == 0 < train[code]),
        test=test,
    )
    return shift if test.p > level or test.negligible else _compare_roles(shift, both, n_train, y, shares, seed)


def compute_shares(graphs: GraphSet) -> FloatArray:
    """Share of every color in every graph (graphs, colors); 0 for a graph without vertices."""
    assert graphs.colors is not None
    cells = owners(graphs.first) * len(graphs.palette) + graphs.colors
    table = np.bincount(cells, minlength=len(graphs) * len(graphs.palette)).reshape(len(graphs), -1)
    return np.asarray(table / np.maximum(graphs.sizes, 1)[:, None])


def merge_roles(graphs: GraphSet, roles: Roles) -> GraphSet:
    """The same graphs with every color replaced by the names of its role, joined by +.

    >>> path = GraphSet.from_edges([(0, 1), (1, 2)], colors=["red", "blue", "green"])
    >>> merge_roles(path, (("blue", "red"),)).color_names()
    ('blue+red', 'blue+red', 'green')
    """
    assert graphs.colors is not None
    merged = {name: "+".join(map(str, role)) for role in roles if len(role) > 1 for name in role}
    names = [merged.get(name, name) for name in graphs.palette]
    palette = check_palette(list(dict.fromkeys(names)))
    codes = np.array([palette.index(name) for name in names], np.uint16)
    return replace(graphs, colors=codes[graphs.colors], palette=palette)


def _compare_roles(
    shift: ColorShift, both: GraphSet, n_train: int, y: NDArray[Any] | None, shares: FloatArray, seed: int
) -> ColorShift:
    """Find roles in the training graphs and repeat the test on shares of roles."""
    used = [item.name for item in shift.shares if item.train > 0]
    if len(used) > MAX_COLORS_WITH_ROLES:
        return replace(shift, roles_unknown=f"roles are found among at most {MAX_COLORS_WITH_ROLES} colors")
    try:
        from anysize.training.color_roles import color_roles
    except ImportError:
        return replace(shift, roles_unknown="color roles need pip install 'anysize[learn]'")
    _, classes = np.unique(np.zeros(n_train) if y is None else y, return_inverse=True)
    counts = count(both[:n_train].with_palette(used), 3 if (both.sizes[:n_train] >= 3).any() else 2)
    role = dict(zip(counts.palette, color_roles(counts, classes.astype(np.int64)).tolist(), strict=True))
    vertices = dict(zip(both.palette, both.sizes[:n_train] @ shares[:n_train], strict=True))
    rare = [
        item.name
        for item in shift.shares
        if 0 < vertices[item.name] < MIN_VERTICES_FOR_ROLE and abs(item.new - item.train) >= MIN_RARE_MOVE
    ]
    if rare:
        role = _assign_rare(shift, role, rare)
        names = ", ".join(f"{name} ({vertices[name]:.0f} vertices)" for name in rare[:5])
        shift = replace(shift, roles_unknown=f"too rare in the training graphs: {names}")
    else:
        groups = [tuple(name for name in counts.palette if role[name] == n) for n in sorted(set(role.values()))]
        shift = replace(shift, roles=tuple(groups))
    # a color that training never saw has a role of its own
    column = [role.get(name, len(role) + code) for code, name in enumerate(both.palette)]
    _, row_kind = np.unique(column, return_inverse=True)
    merged = shares @ np.eye(int(row_kind.max()) + 1)[row_kind]
    return replace(shift, role_test=compare_shares(merged, both.sizes, n_train, seed))


def _assign_rare(shift: ColorShift, role: dict[ColorName, int], rare: list[ColorName]) -> dict[ColorName, int]:
    """Give each rare color, in the order of ``rare``, the role that leaves least of the shift."""
    moves = {item.name: item.new - item.train for item in shift.shares}
    assigned = {name: number for name, number in role.items() if name not in rare} or dict.fromkeys(role, 0)
    gap = dict.fromkeys(assigned.values(), 0.0)
    for name, number in assigned.items():
        gap[number] += moves[name]
    for name in rare:
        if name not in assigned:
            best = min(gap, key=lambda number: abs(gap[number] + moves[name]) - abs(gap[number]))
            assigned[name] = best
            gap[best] += moves[name]
    return assigned
