"""Stacks that fit: as many models as the memory of the device holds, foreseen where that is possible."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

import torch

from anysize.methods.method import Fitted, LearningTask, Method, Run
from anysize.methods.neural import STACK_MEMBERS, GNNMethod
from anysize.training.memory import bytes_per_model
from anysize.training.settings import Recipe

# Of all memory, free or not: a stack must not depend on what else runs. A CPU is shared with other workers.
SHARE = {"cuda": 0.7, "cpu": 0.25}
ENOUGH = 32e6  # bytes of one model that keep a CPU core busy: a stack of such models is slower than one after the other


def fit_in_memory(
    method: Method, problem: LearningTask, runs: Sequence[Run], recipe: Recipe,
    report: Callable[[float], None] | None = None, most: int | None = None,
) -> Iterator[Fitted]:  # fmt: skip
    """Train; where the memory of a GPU does not hold a stack after all, in stacks of half the size."""
    left = list(runs)
    most = affordable(method, problem, runs, recipe, most)
    while left:
        try:
            for fitted in method.learner.fit(problem, left, recipe, report, most):
                left = [run for run in left if run not in fitted.runs]
                yield fitted
            return
        except torch.cuda.OutOfMemoryError:
            size = min(most or len(left), len(left))
            if size == 1:
                raise MemoryError(f"one model of {method.name} does not fit into the memory of the GPU") from None
            most = (size + 1) // 2
            torch.cuda.empty_cache()


def affordable(
    method: Method, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, most: int | None = None
) -> int | None:
    """The most models in a stack, at most ``most``; None for methods that take little memory."""
    learner = method.learner
    if not isinstance(learner, GNNMethod) or not runs:
        return most
    train, held_out = problem.train.whole(method.name), problem.validation
    shapes = {settings.shape: settings for settings in map(learner.settings, runs)}
    each = max(
        bytes_per_model(
            learner.encoder, train, settings, recipe, relational=learner.relational, device=problem.device,
            validation=None if held_out is None else held_out.whole(method.name),
        )
        for settings in shapes.values()
    )  # fmt: skip
    kind = "cuda" if problem.device.startswith("cuda") else "cpu"
    if kind == "cpu" and each > ENOUGH:
        return 1
    room = max(_memory(problem.device) // each, 1)
    return int(min(room, most or STACK_MEMBERS[kind]))


def _memory(device: str) -> float:
    """Bytes that a stack may take."""
    if device.startswith("cuda"):
        return SHARE["cuda"] * float(torch.cuda.get_device_properties(device).total_memory)
    if not hasattr(os, "sysconf"):  # Windows: nothing is foreseen
        return float("inf")
    return SHARE["cpu"] * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
