"""The hyper-parameters of the paper's appendix, each written down once, by family of tasks.

A grid maps names to values; its points are the product, the last name varying fastest. Sections of the appendix:
"Schizophrenia Task" (brain), "Erdos-Renyi Connection Probability" (erdos-renyi), "Extrapolation performance over SBM
attributed graphs" (sbm), "Extrapolation performance in real world tasks" (tu). A grid under the name of a task is for
that task in place of its family.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

Configuration = dict[str, Any]
Grid = Mapping[str, Sequence[Any]]

WIDTHS = (32, 64, 128, 256)
C = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
DD_BATCH = 256  # Gamma_GIN and Gamma_RPGIN on DD, "to reduce the number of times the subgraphs are passed"
TU = {"batch_size": (64, 128), "lr": (0.01, 0.005, 0.001), "hidden": (32, 64)}

GAMMA_ONE_HOT: dict[str, Grid] = {
    "brain": {"k": (4, 5), "hidden": WIDTHS, "lr": (1e-3, 1e-4), "batch_size": (32,)},
    "erdos-renyi": {"hidden": WIDTHS, "lr": (0.1, 0.01, 0.001)},
    "sbm": {"hidden": WIDTHS, "lr": (0.01, 0.001)},
    "tu": TU,  # DD included: the batch of 256 is for models that pass subgraphs to a network
}
GAMMA_GNN: dict[str, Grid] = {
    "brain": {"k": (4, 5), "hidden": WIDTHS, "layers": (1, 2), "lr": (1e-3, 1e-4), "batch_size": (32,)},
    "erdos-renyi": {"hidden": WIDTHS, "layers": (1, 2), "lr": (0.1, 0.01, 0.001), "jumping": (False, True)},
    "sbm": {
        "hidden": WIDTHS, "layers": (1, 2), "lr": (0.01, 0.001), "penalty": (0.1, 0.15), "jumping": (False, True),
    },
    "tu": TU | {"layers": (2,)},
    "DD": {**TU, "batch_size": (DD_BATCH,), "layers": (2,)},
}  # fmt: skip
GNN: dict[str, Grid] = {
    "brain": {"lr": (0.01, 0.001), "hidden": (32, 64, 128), "layers": (1, 2, 3), "batch_size": (32,)},
    "erdos-renyi": {"hidden": WIDTHS, "layers": (1, 2, 3), "lr": (0.1, 0.01, 0.001), "jumping": (False, True)},
    "sbm": {"hidden": WIDTHS, "layers": (1, 2, 3), "lr": (0.1, 0.01, 0.001), "jumping": (False, True)},
    "tu": TU | {"layers": (3,)},
}
IRM_WEIGHTS = {"erdos-renyi": (4, 8, 16, 32), "sbm": (4, 8, 16, 32), "tu": (8, 32, 128, 512)}
GNN_IRM: dict[str, Grid] = {family: {**GNN[family], "irm": weights} for family, weights in IRM_WEIGHTS.items()}
# not in the paper: one architecture, and weights over two orders of magnitude
_ONE = {"hidden": (32,), "layers": (1, 2), "lr": (0.01,), "jumping": (False,), "beta": (1, 10, 100)}
GNN_VREX: dict[str, Grid] = {
    "erdos-renyi": _ONE,
    "sbm": _ONE,
    "tu": {"batch_size": (64,), "lr": (0.01,), "hidden": (32,), "layers": (3,), "beta": (1, 10, 100)},
}
FAMILIES = ("brain", "erdos-renyi", "sbm", "tu")
# not in the paper: the negative control, one architecture for all families
_FREE: Grid = {"hidden": (32,), "lr": (0.01,), "layers": (1,)}
GAMMA_FREE: dict[str, Grid] = {**dict.fromkeys(FAMILIES, _FREE), "DD": {**_FREE, "batch_size": (DD_BATCH,)}}
WL: dict[str, Grid] = {f: {"iterations": (3,) if f == "tu" else (1, 2, 3, 4), "C": C} for f in FAMILIES}
GRAPHLET: dict[str, Grid] = {f: {"k": (4, 5), "C": C} if f == "brain" else {"C": C} for f in FAMILIES}
NOTHING: dict[str, Grid] = {family: {} for family in FAMILIES}


def points(grid: Grid) -> tuple[Configuration, ...]:
    """Every point of a grid.

    Examples:
        >>> len(points(GAMMA_GNN["sbm"])), len(points(GNN["sbm"])), len(points(GNN_IRM["tu"]))
        (64, 72, 48)
    """
    return tuple(dict(zip(grid, values, strict=True)) for values in product(*grid.values()))
