"""Shared by the training benchmarks: a stack against plain models that are trained one at a time."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from time import perf_counter, process_time
from typing import Any

import torch
from torch import Tensor

from anysize.training.device import device_kind
from benchmarks.timing import PATIENCE, rate_written, ratio_written

TOLERANCE = 1e-4
WARM_UP_EPOCHS = 8  # epochs that are not timed
MIN_EPOCHS = {"cpu": 2, "cuda": 16}  # of a turn; half of them, up to eight, are not timed for a stack
TURNS = 3  # contestants take turns, so that a busy moment does not hit only one of them
MAX_EPOCHS = 4096  # of a turn

Progress = Callable[[float], None]


class WrongAnswer(AssertionError):
    """Stack and plain model disagree."""


def check_equal(what: str, theirs: Tensor, ours: Tensor) -> None:
    """Raise `WrongAnswer` unless both are equal up to rounding."""
    difference = float((theirs - ours).detach().abs().max())
    if not difference <= TOLERANCE * max(1.0, float(theirs.detach().abs().max())):
        raise WrongAnswer(f"{what} of the plain model and of the stack differ by {difference}")


def doubled(part: Any) -> Any:
    """A structure, or a part of one, in double precision."""
    if isinstance(part, torch.Tensor):
        return part.double() if part.is_floating_point() else part
    if isinstance(part, tuple):
        return tuple(doubled(entry) for entry in part)
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{field.name: doubled(getattr(part, field.name)) for field in fields(part)})
    return part


@dataclass(frozen=True)
class Clock:
    """Seconds: CPU time if one thread computes, so that other processes do not matter, otherwise wall-clock time."""

    device: str
    threads: int = 1

    def __call__(self) -> float:
        if self.device.startswith("cuda"):
            torch.cuda.synchronize()
        return process_time() if self.device == "cpu" and self.threads == 1 else perf_counter()


def stack_rate(fit: Callable[[int, Progress], Any], models: int, epochs: int, clock: Clock) -> float:
    """Model-epochs per second of a stack, without the first epochs, which a GPU uses to record an epoch.

    ``fit`` trains for so many epochs and reports the finished share after each.
    """
    started: list[float] = []
    skipped = min(WARM_UP_EPOCHS, epochs // 2)

    def progress(done: float) -> None:
        if not started and done * epochs > skipped - 0.5:
            started.append(clock())

    fit(epochs, progress)
    return models * (epochs - skipped) / (clock() - started[0])


def epochs_for(call: Callable[[int], float], models: int, seconds: float, min_epochs: int) -> int:
    """How many epochs take about so many seconds, by a first run that also warms up."""
    return min(max(int(seconds * call(min_epochs) / models), min_epochs), MAX_EPOCHS)


def best_rates(
    calls: Mapping[str, Callable[[int], float]], models: int, seconds: float, device: str = "cpu"
) -> dict[str, Any]:
    """The best rate of each contestant over several turns, and the epochs of a turn; ``stack`` has so many models.

    A contestant that has taken far more than ``seconds`` gets fewer turns, but at least one.
    """
    min_epochs = MIN_EPOCHS[device_kind(device)]
    epochs = {
        name: epochs_for(call, models if name == "stack" else 1, seconds, min_epochs) for name, call in calls.items()
    }
    best, spent = dict.fromkeys(calls, 0.0), dict.fromkeys(calls, 0.0)
    for _ in range(TURNS):
        for name in [name for name in calls if spent[name] < PATIENCE * seconds]:
            started = perf_counter()
            best[name] = max(best[name], calls[name](epochs[name]))
            spent[name] += perf_counter() - started
    return {"models": models, "epochs": epochs} | best


def format_table(records: list[dict[str, Any]]) -> str:
    """The table as text: model-epochs per second, and the ratio to the plain model."""
    lines = [f"{'':24}{'plain':>10}{'1 model of ours':>20}{'stack':>12}{'gain':>10}"]
    for record in records:
        alone = f"{rate_written(record['alone'])} {ratio_written(record['alone'] / record['plain'])}"
        gain = ratio_written(record["stack"] / record["plain"])
        rates = f"{rate_written(record['plain']):>10}{alone:>20}{rate_written(record['stack']):>12}{gain:>10}"
        lines.append(f"{record['row']:24}{rates}")
    return "\n".join(lines)


def machine(device: str, threads: int, plain: str) -> dict[str, Any]:
    """The device and the versions. ``plain``: the library of the plain models."""
    name = torch.cuda.get_device_name() if device.startswith("cuda") else f"CPU, {threads} thread(s)"
    return {"device": name, "torch": torch.__version__, "python": platform.python_version(), "plain": plain}
