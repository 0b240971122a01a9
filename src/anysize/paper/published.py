"""The numbers of the paper's tables."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from anysize.evaluation.tables import Published
from anysize.paper.tasks import PUBLISHED_KEYS

# The paper's WL kernel is that of a library which pads with zeros: the exact kernel has no published number.
ROWS = {"wl-kernel-padded": "wl-kernel", "wl-kernel": ""}
SPLIT_NAMES = {"train": "train", "validation": "val", "test": "test"}


def published(task: str, method: str, split: str = "test") -> Published | None:
    """The cell of Bevilacqua, Zhou and Ribeiro (ICML 2021) for a task, method and split; None if there is none.

    >>> published("er-single", "wl-kernel-padded")
    Published(mean=0.01, std=0.0, best=False)
    >>> published("er-single", "gin-irm").applies
    False
    >>> published("er-single", "topology-only") is None
    True
    """
    key = PUBLISHED_KEYS.get(task)
    splits = {} if key is None else _published_tasks()[key].get(ROWS.get(method, method).replace("-", "_"), {})
    if SPLIT_NAMES.get(split) not in splits:
        return None
    cell = splits[SPLIT_NAMES[split]]
    return Published(None, None) if cell is None else Published(cell["mean"], cell["std"], cell.get("best", False))


@cache
def _published_tasks() -> dict[str, Any]:
    """task -> method -> split -> cell; no task is in two tables."""
    text = files("anysize.paper").joinpath("published.json").read_text(encoding="utf-8")
    return {task: methods for table in json.loads(text).values() for task, methods in table["tasks"].items()}
