"""Progress: callbacks, shares of a total, and bars on standard error (rich is imported when one is shown)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Progress = Callable[[float], None]  # called with the share of the work done so far, from 0 to 1
ProgressFunction = Callable[[str, float], None]  # the same, with the kind of work first: ("training", 0.3)


def shares_of(progress: Progress | None, total: float) -> Callable[[float], None]:
    """Return a function that adds up finished amounts of work and reports their share of the total.

    >>> add = shares_of(print, 4.0)
    >>> add(1.0), add(3.0)
    0.25
    1.0
    (None, None)
    """
    done = 0.0

    def add(amount: float) -> None:
        nonlocal done
        done += amount
        if progress is not None:
            progress(min(done / total, 1.0))

    return add


@contextmanager
def progress_bars(shown: bool = True, after: float = 0.0, keep: bool = True) -> Iterator[ProgressFunction]:
    """Bars on standard error, one for each kind of work: ``report("training", 0.3)``.

    Args:
        shown: without it, reports go nowhere.
        after: seconds to wait before bars appear, so that short work shows none.
        keep: leave the full bars on the screen in the end.
    """
    if not shown:
        yield lambda what, done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"),
               TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn())  # fmt: skip
    bar = Progress(*columns, console=Console(stderr=True), transient=not keep)
    tasks: dict[str, Any] = {}
    began = time.monotonic()

    def report(what: str, done: float) -> None:
        if what not in tasks:
            tasks[what] = bar.add_task(what, total=1.0)
        bar.update(tasks[what], completed=min(done, 1.0))
        if not bar.live.is_started and time.monotonic() - began >= after and (done < 1 or keep):
            bar.start()

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()
