"""Counted graphs that the tests of training share."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from anysize.counting import count
from anysize.counting.counts import Counts
from anysize.learning.gamma import GammaStack, fit_gamma
from anysize.learning.settings import Recipe, Settings
from anysize.tasks import TASKS

Labelled = tuple[Counts, np.ndarray]


@cache
def tables(task: str = "sbm-20", k: int | tuple[int, ...] = 4, coloured: bool = True) -> dict[str, Labelled]:
    """The published graphs of a task, counted: train, validation, test."""
    splits = TASKS[task].splits("published")
    made = {}
    for name, graphs in splits.sets.items():
        assert graphs.y is not None
        made[name] = count(graphs, k, colours=coloured and graphs.colours is not None), np.asarray(graphs.y, np.int64)
    return made


def fitted(kind: Any, members: list[Settings], recipe: Recipe, data: dict[str, Labelled], **given: Any) -> GammaStack:
    """Trained on the training graphs of a task, with its validation graphs."""
    counts, y = data["train"]
    classes = int(y.max()) + 1
    return fit_gamma(kind, counts, y, members, recipe, classes=classes, validation=data["validation"], **given)


def accuracies(stack: GammaStack, labelled: Labelled) -> np.ndarray:
    """Of every model of a stack."""
    counts, y = labelled
    return (stack.logits(counts).argmax(-1) == y).mean(axis=1)
