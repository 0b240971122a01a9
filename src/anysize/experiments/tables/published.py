"""The numbers of the paper's three tables (Bevilacqua, Zhou and Ribeiro, ICML 2021)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

KEYS = {"er-single": "erdos_renyi_single", "er-multi": "erdos_renyi_multi"}  # the other tasks: _ for -
SPLIT_KEYS = {"train": "train", "validation": "val", "test": "test"}


@dataclass(frozen=True)
class Published:
    """A printed cell: mean and deviation, None where the paper prints NA; best where it prints bold."""

    mean: float | None
    std: float | None
    best: bool = False

    @property
    def applies(self) -> bool:
        """Whether there is a number: IRM has none where all training graphs have one size."""
        return self.mean is not None


def published(task: str, method: str, split: str = "test") -> Published | None:
    """The printed cell of a task, method and split; None if the paper has no such cell.

    >>> published("er-single", "wl-kernel")
    Published(mean=0.01, std=0.0, best=False)
    >>> published("er-single", "gin-irm").applies
    False
    >>> published("er-single", "topology-only") is None
    True
    """
    cells = _tasks().get(KEYS.get(task, task.replace("-", "_")), {}).get(method.replace("-", "_"), {})
    if SPLIT_KEYS.get(split) not in cells:
        return None
    cell = cells[SPLIT_KEYS[split]]
    return Published(None, None) if cell is None else Published(cell["mean"], cell["std"], cell.get("best", False))


@cache
def _tasks() -> dict[str, Any]:
    """task -> method -> split -> cell; a task stands in one table only."""
    text = files("anysize.experiments.tables").joinpath("published.json").read_text(encoding="utf-8")
    return {task: methods for table in json.loads(text).values() for task, methods in table["tasks"].items()}
