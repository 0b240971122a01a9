"""A stack beside plain models, one at a time: what the benchmarks of training share."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from time import perf_counter, process_time
from typing import Any

import torch
from torch import Tensor

from benchmarks.timing import PATIENCE, rate_written, ratio_written

TOLERANCE = 1e-4
FIRST = 8  # epochs before the clock starts
TURNS = 3  # in turns, so that a busy moment does not hit one contestant alone
MOST = 4096  # epochs of a turn

Progress = Callable[[float], None]


class WrongAnswer(AssertionError):
    """Stack and plain model disagree."""


def same(what: str, theirs: Tensor, ours: Tensor) -> None:
    """Stop unless both are equal, but for rounding."""
    off = float((theirs - ours).detach().abs().max())
    if not off <= TOLERANCE * max(1.0, float(theirs.detach().abs().max())):
        raise WrongAnswer(f"{what} of the plain model and of the stack differ by {off}")


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
    """Seconds: of the processor where one thread computes, so that a busy machine does no harm, else by the wall."""

    device: str
    threads: int = 1

    def __call__(self) -> float:
        if self.device.startswith("cuda"):
            torch.cuda.synchronize()
        return process_time() if self.device == "cpu" and self.threads == 1 else perf_counter()


def stack_rate(fit: Callable[[int, Progress], Any], models: int, epochs: int, clock: Clock) -> float:
    """Model-epochs per second of a stack, without the first epochs, in which epochs are recorded on a GPU.

    ``fit`` trains for so many epochs and tells its progress, a share of them, after each.
    """
    told: list[float] = []
    skipped = min(FIRST, epochs // 2)

    def progress(done: float) -> None:
        if not told and done * epochs > skipped - 0.5:
            told.append(clock())

    fit(epochs, progress)
    return models * (epochs - skipped) / (clock() - told[0])


def enough(call: Callable[[int], float], models: int, seconds: float, least: int = 4) -> int:
    """Epochs that take about so long, by a first run, which warms everything up as well."""
    return min(max(int(seconds * call(least) / models), least), MOST)


def best_rates(
    calls: Mapping[str, Callable[[int], float]], models: int, seconds: float, least: int = 4
) -> dict[str, Any]:
    """The best rate of each contestant in some turns, and the epochs of a turn; ``stack`` has so many models.

    Whoever has taken far more than ``seconds``, as a few epochs are long, gets fewer turns, but one.
    """
    epochs = {name: enough(call, models if name == "stack" else 1, seconds, least) for name, call in calls.items()}
    best, spent = dict.fromkeys(calls, 0.0), dict.fromkeys(calls, 0.0)
    for _ in range(TURNS):
        for name in [name for name in calls if spent[name] < PATIENCE * seconds]:
            started = perf_counter()
            best[name] = max(best[name], calls[name](epochs[name]))
            spent[name] += perf_counter() - started
    return {"models": models, "epochs": epochs} | best


def written(records: list[dict[str, Any]]) -> str:
    """The table as text: model-epochs per second, and how many times the plain model's."""
    lines = [f"{'':24}{'plain':>10}{'1 model of ours':>20}{'stack':>12}{'gain':>10}"]
    for record in records:
        alone = f"{rate_written(record['alone'])} {ratio_written(record['alone'] / record['plain'])}"
        gain = ratio_written(record["stack"] / record["plain"])
        rates = f"{rate_written(record['plain']):>10}{alone:>20}{rate_written(record['stack']):>12}{gain:>10}"
        lines.append(f"{record['row']:24}{rates}")
    return "\n".join(lines)


def machine(device: str, threads: int, plain: str) -> dict[str, Any]:
    """What it ran on. ``plain``: what the plain models are made of."""
    name = torch.cuda.get_device_name() if device.startswith("cuda") else f"CPU, {threads} thread(s)"
    return {"device": name, "torch": torch.__version__, "python": platform.python_version(), "plain": plain}
