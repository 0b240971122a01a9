"""Count tables shared by the tests of training."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from anysize.counting.api import count
from anysize.counting.counts import Counts
from anysize.paper.tasks import TASKS
from anysize.training.fit_gamma import GammaStack, fit_gamma
from anysize.training.settings import Recipe, Settings

Labeled = tuple[Counts, np.ndarray]


@cache
def tables(task: str = "sbm-20", k: int | tuple[int, ...] = 4, colored: bool = True) -> dict[str, Labeled]:
    """The published graphs of a task, counted: train, validation, test."""
    splits = TASKS[task].splits("published")
    made = {}
    for name, graphs in splits.sets.items():
        assert graphs.y is not None
        made[name] = count(graphs, k, colors=colored and graphs.colors is not None), np.asarray(graphs.y, np.int64)
    return made


def fitted(kind: Any, members: list[Settings], recipe: Recipe, data: dict[str, Labeled], **given: Any) -> GammaStack:
    """Trained on the training graphs of a task, with its validation graphs."""
    counts, y = data["train"]
    classes = int(y.max()) + 1
    return fit_gamma(kind, counts, y, members, recipe, classes=classes, validation=data["validation"], **given)


def accuracies(stack: GammaStack, labeled: Labeled) -> np.ndarray:
    """The accuracy of every model of a stack."""
    counts, y = labeled
    return (stack.logits(counts).argmax(-1) == y).mean(axis=1)
