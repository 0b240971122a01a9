"""Progress: callbacks, shares of a total, and their display on standard error.

The display is a rich bar in a terminal or notebook, and a line now and then elsewhere. Nothing is shown before the work
has taken two seconds. rich is optional, and is imported when the first bar is made.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

Progress = Callable[[float], None]  # called with the share of the work done so far, from 0 to 1

DELAY_SECONDS = 2.0
SECONDS_BETWEEN_LINES = 10.0


def shares_of(progress: Progress | None, total: float) -> Callable[..., None]:
    """Return a function that adds up finished work, an amount or a share of it, and reports its share of the total.

    >>> add = shares_of(print, 4.0)
    >>> add(1.0), add(4.0, 0.75)
    0.25
    1.0
    (None, None)
    """
    done = 0.0

    def add(amount: float, share: float = 1.0) -> None:
        nonlocal done
        done += amount * share
        if progress is not None:
            progress(min(done / total, 1.0))

    return add


def part_of(progress: Progress | None, part: int, parts: int) -> Progress | None:
    """A function that reports the progress of one of several equal parts as progress of the whole.

    >>> part_of(print, 1, 4)(0.5)
    0.375
    """
    return None if progress is None else lambda done: progress((part + done) / parts)


class ProgressFunction(Protocol):
    """Called with the kind of work, the share of it that is done, and perhaps details to show beside it."""

    def __call__(self, step: str, done: float, detail: str = "") -> None: ...


def ignore_progress(step: str, done: float, detail: str = "") -> None:
    """A progress function that shows nothing."""


def duration(seconds: float) -> str:
    """Minutes and seconds, and hours if there are any.

    >>> duration(7.2), duration(754), duration(7265)
    ('0:07', '12:34', '2:01:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def rough_duration(seconds: float) -> str:
    """An expected duration in the unit that suits it.

    >>> rough_duration(75), rough_duration(5400), rough_duration(1.18e6), rough_duration(1e15)
    ('75 seconds', '1.5 hours', '14 days', 'more than 1,000 years')
    """
    size, unit = next((s, u) for s, u in _UNITS if seconds >= 1.5 * s or s == 1)
    amount = seconds / size
    if unit == "years" and amount > 1000:
        return "more than 1,000 years"
    return f"{amount:.2g} {unit}" if amount < 10 else f"{amount:.0f} {unit}"


_UNITS = ((365.25 * 86400, "years"), (86400, "days"), (3600, "hours"), (60, "minutes"), (1, "seconds"))


class _Display:
    """Shows the steps of some work; see `progress_bars`."""

    def __init__(self) -> None:
        self._show_from = time.monotonic() + DELAY_SECONDS
        self._began: dict[str, float] = {}
        self._bar = _rich_bar()
        self._tasks: dict[str, Any] = {}  # of the bar

    def __call__(self, step: str, done: float, detail: str = "") -> None:
        now = time.monotonic()
        done = min(done, 1.0)
        elapsed = now - self._began.setdefault(step, now)
        if not detail and 0 < done < 1:
            detail = f"about {duration(elapsed * (1 - done) / done)} left"
        if now < self._show_from:
            return
        if self._bar is not None:
            if step not in self._tasks:
                self._tasks[step] = self._bar.add_task(step, total=1.0, detail="")
            self._bar.update(self._tasks[step], completed=done, detail=detail, visible=done < 1)
            self._bar.start()
        elif done < 1:
            self._show_from = now + SECONDS_BETWEEN_LINES
            print(f"{step}: {100 * done:.0f} %{', ' * bool(detail)}{detail}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Remove the bars."""
        if self._bar is not None:
            self._bar.stop()


@contextmanager
def progress_bars(shown: bool = True) -> Iterator[ProgressFunction]:
    """Show the steps of the work inside the context: ``report("training", 0.3)``; nothing if not ``shown``."""
    if not shown:
        yield ignore_progress
        return
    display = _Display()
    try:
        yield display
    finally:
        display.close()


def _rich_bar() -> Any:
    """A rich progress bar, not started yet; None without rich or without a terminal."""
    try:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        return None
    console = Console(stderr=True)
    if not (console.is_terminal or console.is_jupyter):
        return None
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %", markup=False),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}", markup=False),
    )
    return Progress(*columns, console=console, transient=True)
