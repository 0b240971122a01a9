"""The progress of a sweep on standard error: a live bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from anysize.experiments.clock import Progress

Show = Callable[[Progress], None]

REFRESH = 0.2  # seconds between changes of the bar
EVERY = 10.0  # seconds between lines where there is no terminal
NAMES = 2  # of what is at work
UNITS = {"counting": "data sets", "training": "runs"}


@contextmanager
def shown_progress() -> Iterator[Show]:
    """What to call with the progress; rich draws the bar, and where it is missing there are lines."""
    if sys.stderr.isatty():
        try:
            import rich  # noqa: F401
        except ImportError:
            pass
        else:
            with _bar() as show:
                yield show
            return
    yield _Lines()


class _Lines:
    def __init__(self) -> None:
        self._next = time.monotonic() + EVERY

    def __call__(self, progress: Progress) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY
            print(line(progress), file=sys.stderr, flush=True)


def line(progress: Progress) -> str:
    """The progress as a sentence.

    >>> line(Progress("training", 120.4, 3400, 754.0, ("gamma-gin on sbm-20",)))
    'training: 120 of 3,400 runs, about 12:34 left; now gamma-gin on sbm-20'
    """
    return f"{progress.what}: {amounts(progress)}, {left(progress)}{now(progress)}"


def amounts(progress: Progress) -> str:
    """What is done, and of how much."""
    return f"{int(progress.done):,} of {progress.total:,} {UNITS[progress.what]}"


def left(progress: Progress) -> str:
    """The time left in words."""
    if progress.left is None:
        return "time left unknown"
    return f"about {duration(progress.left)} left"


def now(progress: Progress) -> str:
    """What is at work."""
    more = ", ..." if len(progress.now) > NAMES else ""
    return f"; now {', '.join(progress.now[:NAMES])}{more}" if progress.now else ""


def duration(seconds: float) -> str:
    """Minutes and seconds, with hours where there are some.

    >>> duration(7.2), duration(754), duration(7265)
    ('0:07', '12:34', '2:01:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


@contextmanager
def _bar() -> Iterator[Show]:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[amounts]}"),
               TimeElapsedColumn(), TextColumn("{task.fields[rest]}"))  # fmt: skip
    bar = Bar(*columns, console=Console(stderr=True), transient=True)
    tasks: dict[str, Any] = {}
    last = 0.0

    def show(progress: Progress) -> None:
        nonlocal last
        new = progress.what not in tasks
        if new:
            for other in tasks.values():
                bar.remove_task(other)
            tasks.clear()
            tasks[progress.what] = bar.add_task(progress.what, total=progress.total, amounts="", rest="")
        if new or time.monotonic() - last >= REFRESH or progress.done >= progress.total:
            last = time.monotonic()
            bar.update(
                tasks[progress.what],
                completed=progress.done,
                total=progress.total,
                amounts=amounts(progress),
                rest=left(progress) + now(progress),
            )

    with bar:
        yield show
