"""Best of several repetitions, in turns, so that a busy moment does not affect only one contestant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any

BUDGET, QUICK_BUDGET = 1.5, 0.2  # seconds of repetitions per contestant
AT_LEAST, AT_MOST = 3, 200  # repetitions
PATIENCE = 10  # budgets after which even the minimum number of repetitions is cut short


def race(
    calls: Mapping[str, Callable[[], Any]], budget: float = BUDGET, clock: Callable[[], float] = perf_counter
) -> dict[str, float]:
    """Seconds of the fastest repetition of each call; the caller has warmed them up."""
    best = dict.fromkeys(calls, float("inf"))
    spent = dict.fromkeys(calls, 0.0)
    for turn in range(AT_MOST):
        allowed = PATIENCE * budget if turn < AT_LEAST else budget
        waiting = [name for name in calls if spent[name] < allowed]
        if not waiting:
            break
        for name in waiting:
            started = clock()
            calls[name]()
            seconds = clock() - started
            best[name] = min(best[name], seconds)
            spent[name] += seconds
    return best


def best_of(call: Callable[[], Any], budget: float = BUDGET) -> float:
    """Seconds of the fastest repetition of one call, after a warm-up."""
    call()
    return race({"call": call}, budget)["call"]


def written(seconds: float | None) -> str:
    """A time with three digits."""
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g}{unit}"
    return f"{seconds * 1e6:.3g}us"


def ratio_written(ratio: float) -> str:
    """A ratio with its significant digits."""
    return f"{ratio:,.0f}x" if ratio >= 100 else f"{ratio:.1f}x" if ratio >= 10 else f"{ratio:.2f}x"


def rate_written(per_second: float) -> str:
    """A rate with three digits."""
    for unit, scale in (("G/s", 1e9), ("M/s", 1e6), ("k/s", 1e3)):
        if per_second >= scale:
            return f"{per_second / scale:.3g}{unit}"
    return f"{per_second:.3g}/s"
