"""The progress of a sweep on standard error: a live bar in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from anysize.experiments.plan import RunBatch

# ---- How far a sweep is and how long it will take, from the times of the pieces so far.


SOON = 0.05  # share of a piece from which on its own time says how long it will take


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is.

    Attributes:
        what: `counting` or `training`.
        done, total: data sets or runs; those at work count in part.
        left: seconds, if anything is known about them.
        now: what is at work.
    """

    what: str
    done: float
    total: int
    left: float | None = None
    now: tuple[str, ...] = ()


class Clock:
    """The time left: for every task and method the seconds per run so far, and for others the mean of their like."""

    def __init__(self, pieces: Sequence[RunBatch], workers: int, now: Callable[[], float] = time.monotonic) -> None:
        self._waiting = {piece.keys: piece for piece in pieces}
        self._workers, self._now = workers, now
        self._running: dict[int, tuple[RunBatch, float]] = {}
        self._shares: Mapping[int, float] = {}
        self._spent: dict[tuple[str, str], tuple[float, float]] = {}  # seconds and runs
        self.total, self.done = sum(len(piece.runs) for piece in pieces), 0

    def begin(self, number: int, piece: RunBatch) -> None:
        """A piece is at work."""
        self._waiting.pop(piece.keys, None)
        self._running[number] = piece, self._now()

    def skip(self, piece: RunBatch, found: int) -> None:
        """Some runs of a piece, or all of them, were finished by somebody else."""
        self._waiting.pop(piece.keys, None)
        self.done += found

    def look(self, shares: Mapping[int, float]) -> None:
        """The shares done of the pieces at work."""
        self._shares = shares

    def end(self, number: int) -> None:
        """A piece is finished."""
        piece, began = self._running.pop(number)
        seconds, runs = self._spent.get((piece.task, piece.method), (0.0, 0.0))
        self._spent[piece.task, piece.method] = seconds + self._now() - began, runs + len(piece.runs)
        self.done += len(piece.runs)

    def progress(self) -> SweepProgress:
        """How far everything is."""
        share = {number: min(self._shares.get(number, 0.0), 1.0) for number in self._running}
        part = sum(share[number] * len(piece.runs) for number, (piece, _) in self._running.items())
        names = tuple(dict.fromkeys(str(piece) for piece, _ in self._running.values()))
        return SweepProgress("training", self.done + part, self.total, self._left(share), names)

    def _left(self, share: Mapping[int, float]) -> float | None:
        rates = {own: seconds / runs for own, (seconds, runs) in self._spent.items()}
        for number, (piece, began) in self._running.items():
            if share[number] >= SOON:
                rates.setdefault((piece.task, piece.method), (self._now() - began) / share[number] / len(piece.runs))
        if not rates:
            return None
        parts = [(piece, 1.0) for piece in self._waiting.values()]
        parts += [(piece, 1.0 - share[number]) for number, (piece, _) in self._running.items()]
        return sum(_rate(piece, rates) * len(piece.runs) * rest for piece, rest in parts) / self._workers


def _rate(piece: RunBatch, rates: Mapping[tuple[str, str], float]) -> float:
    """Seconds per run: of the same task and method, else the mean over tasks, else over everything."""
    if (piece.task, piece.method) in rates:
        return rates[piece.task, piece.method]
    alike = [rate for (_, method), rate in rates.items() if method == piece.method] or list(rates.values())
    return sum(alike) / len(alike)


# ----


Show = Callable[[SweepProgress], None]

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

    def __call__(self, progress: SweepProgress) -> None:
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + EVERY
            print(line(progress), file=sys.stderr, flush=True)


def line(progress: SweepProgress) -> str:
    """The progress as a sentence.

    >>> line(SweepProgress("training", 120.4, 3400, 754.0, ("gamma-gin on sbm-20",)))
    'training: 120 of 3,400 runs, about 12:34 left; now gamma-gin on sbm-20'
    """
    return f"{progress.what}: {amounts(progress)}, {left(progress)}{now(progress)}"


def amounts(progress: SweepProgress) -> str:
    """What is done, and of how much."""
    return f"{int(progress.done):,} of {progress.total:,} {UNITS[progress.what]}"


def left(progress: SweepProgress) -> str:
    """The time left in words."""
    if progress.left is None:
        return "time left unknown"
    return f"about {duration(progress.left)} left"


def now(progress: SweepProgress) -> str:
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

    def show(progress: SweepProgress) -> None:
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
