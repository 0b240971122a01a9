"""Memory guard: train in stacks that fit into memory, and in smaller ones if a GPU runs out of memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

import torch

from anysize.methods.method import Fitted, LearningTask, Method, Run
from anysize.methods.neural import STACK_MEMBERS, GNNMethod
from anysize.training.device import device_kind
from anysize.training.fit_gnn import bytes_per_model
from anysize.training.settings import Recipe

# Share of the total memory, used or not, so that stacks do not depend on other processes. CPUs are shared by workers.
STACK_MEMORY_SHARE = {"cuda": 0.7, "cpu": 0.25}
CPU_SINGLE_MODEL_BYTES = 40e6  # larger models are faster one at a time than as a stack on a CPU


def fit_in_memory(
    method: Method, problem: LearningTask, runs: Sequence[Run], recipe: Recipe,
    report: Callable[[float], None] | None = None, most: int | None = None,
) -> Iterator[Fitted]:  # fmt: skip
    """Train the runs; if a GPU runs out of memory, go on with stacks of half the size. ``most``: models per stack."""
    left = list(runs)
    most = max_stack_members(method, problem, runs, recipe, most)
    while left:
        try:
            for fitted in method.fit(problem, left, recipe, report, most):
                left = [run for run in left if run not in fitted.runs]
                yield fitted
            return
        except torch.cuda.OutOfMemoryError:
            size = min(most or len(left), len(left))
            if size == 1:
                raise MemoryError(f"one model of {method.name} does not fit into the memory of the GPU") from None
            most = (size + 1) // 2
            torch.cuda.empty_cache()


def max_stack_members(
    method: Method, problem: LearningTask, runs: Sequence[Run], recipe: Recipe, most: int | None = None
) -> int | None:
    """How many models to train as one stack, at most ``most``; None (no limit) for methods that need little memory."""
    learner = method.learner
    if not isinstance(learner, GNNMethod) or not runs:
        return most
    train, held_out = problem.train.whole(method.name), problem.validation
    shapes = {settings.shape: settings for settings in map(learner.settings, runs)}
    model_bytes = max(
        bytes_per_model(
            learner.encoder, train, settings, recipe, relational=learner.relational, device=problem.device,
            validation=None if held_out is None else held_out.whole(method.name),
        )
        for settings in shapes.values()
    )  # fmt: skip
    device = device_kind(problem.device)
    if device == "cpu" and model_bytes > CPU_SINGLE_MODEL_BYTES:
        return 1
    fitting = max(_stack_memory(problem.device) // model_bytes, 1)
    return int(min(fitting, most or STACK_MEMBERS[device]))


def _stack_memory(device: str) -> float:
    """Bytes that a stack may take."""
    if device_kind(device) == "cuda":
        return STACK_MEMORY_SHARE["cuda"] * float(torch.cuda.get_device_properties(device).total_memory)
    if not hasattr(os, "sysconf"):  # Windows: no limit
        return float("inf")
    return STACK_MEMORY_SHARE["cpu"] * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
