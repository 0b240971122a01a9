"""Run chunks of work in threads (the kernels release the interpreter lock)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from queue import Empty, SimpleQueue
from threading import Lock, Thread
from time import monotonic
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Tick: TypeAlias = Callable[[float], None]  # called with the share of an engine's work that was done since the last call
Chunk: TypeAlias = tuple[int, int]  # from, to

CHUNKS_PER_THREAD = 8  # more: better balance and progress; fewer: less overhead
SECONDS_BETWEEN_REPORTS = 0.1
MAX_SECONDS_TO_STOP = 0.5  # a thread that compiles a kernel may take longer, and is left alone


def chunks_by_weight(weights: NDArray[Any], threads: int) -> list[Chunk]:
    """Consecutive ranges of about equal total weight, several per thread; none is empty."""
    pieces = 1 if threads == 1 and len(weights) < 1000 else min(len(weights), threads * CHUNKS_PER_THREAD)
    return cut_by_weight(weights, pieces)


def cut_by_weight(weights: NDArray[Any], pieces: int) -> list[Chunk]:
    """At most that many consecutive ranges of about equal total weight; none is empty."""
    total = np.concatenate([[0.0], np.cumsum(np.asarray(weights, np.float64) + 1e-9)])
    borders = np.searchsorted(total, np.linspace(0, total[-1], pieces + 1))
    borders[0], borders[-1] = 0, len(weights)
    return [(int(a), int(b)) for a, b in pairwise(borders) if a < b]


class Halt:
    """A flag that kernels read in their loops: once it is set, they return early, and their results are not used."""

    def __init__(self) -> None:
        self.flag = np.zeros(1, np.uint8)

    def __enter__(self) -> Halt:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Stop the work of other threads if the block fails."""
        if kind is not None:
            self.set()

    def __reduce__(self) -> tuple[type[Halt], tuple[()]]:
        return Halt, ()  # another process has a flag of its own

    def set(self) -> None:
        """Stop the work."""
        self.flag[0] = 1

    def is_set(self) -> bool:
        return bool(self.flag[0])

    def check(self) -> None:
        """Raise a KeyboardInterrupt if the work was stopped."""
        if self.is_set():
            raise KeyboardInterrupt


def interruptible(function: Callable[[], Any], halt: Halt) -> Any:
    """function() in a background thread, so that Ctrl-C reaches the waiting main thread at once and does not end an
    import or a compilation halfway. The flag then stops the function."""
    results: list[Any] = []
    _in_background(lambda stopped: results.append(function()), 1, halt)
    return results[0]


def _in_background(
    worker: Callable[[Callable[[], bool]], None],
    number: int,
    halt: Halt,
    report: Callable[[], None] = lambda: None,
) -> None:
    """worker(stopped) in that many threads, which end with the process."""
    errors: list[BaseException] = []
    ended: SimpleQueue[None] = SimpleQueue()  # waited for instead of Thread.join, which Ctrl-C breaks

    def stopped() -> bool:
        return bool(errors) or halt.is_set()

    def guarded() -> None:
        try:
            worker(stopped)
        except BaseException as error:
            errors.append(error)
        finally:
            ended.put(None)

    running = 0
    try:
        for _ in range(number):
            Thread(target=guarded, daemon=True).start()
            running += 1
        while running:
            with suppress(Empty):
                ended.get(timeout=SECONDS_BETWEEN_REPORTS)
                running -= 1
            report()
    except BaseException:
        halt.set()
        deadline = monotonic() + MAX_SECONDS_TO_STOP
        with suppress(Empty):
            for _ in range(running):
                ended.get(timeout=max(deadline - monotonic(), 0))
        raise
    if errors:
        raise errors[0]
    halt.check()


@dataclass(frozen=True)
class Threads:
    """The threads of one count, and the flag that stops it."""

    number: int = 1
    halt: Halt = field(default_factory=Halt)

    @property
    def flag(self) -> NDArray[np.uint8]:
        """The flag that kernels check."""
        return self.halt.flag

    def run(self, work: Callable[[int, int], Any], chunks: list[Chunk]) -> list[Any]:
        """work(from, to) for every chunk; the results are in the order of the chunks."""
        results: list[Any] = [None] * len(chunks)
        numbers, lock = iter(range(len(chunks))), Lock()

        def take() -> int | None:
            with lock:
                return next(numbers, None)

        def worker(stopped: Callable[[], bool]) -> None:
            while not stopped() and (number := take()) is not None:
                results[number] = work(*chunks[number])

        if min(self.number, len(chunks)) > 1:
            _in_background(worker, min(self.number, len(chunks)), self.halt)
        else:
            worker(self.halt.is_set)
            self.halt.check()
        return results

    def pull(self, run: Callable[[], Any], counter: NDArray[np.int64], n_tasks: int, tick: Tick) -> list[Any]:
        """run() once per thread; each takes task numbers from the shared counter until there are none left."""
        results: list[Any] = []
        reported = 0

        def report() -> None:
            nonlocal reported
            done = min(int(counter[0]), n_tasks)
            if done > reported:
                tick((done - reported) / n_tasks)
                reported = done
            if self.halt.is_set():
                counter[0] = n_tasks  # the threads stop at their next task

        def worker(stopped: Callable[[], bool]) -> None:
            try:
                results.append(run())
            finally:
                counter[0] = n_tasks

        try:
            _in_background(worker, self.number, self.halt, report)
        finally:
            counter[0] = n_tasks
        return results


class AccumulatorPool:
    """Arrays to add to, each used by one thread at a time. Their sum does not depend on the threads."""

    def __init__(self, make: Callable[[], NDArray[np.int64]]) -> None:
        self._make = make
        self._idle: list[NDArray[np.int64]] = []
        self._lock = Lock()

    @contextmanager
    def borrow(self) -> Iterator[NDArray[np.int64]]:
        with self._lock:
            array = self._idle.pop() if self._idle else self._make()
        yield array
        with self._lock:
            self._idle.append(array)

    def total(self) -> NDArray[np.int64]:
        """The sum of all accumulators."""
        total = self._idle[0] if self._idle else self._make()
        for array in self._idle[1:]:
            total += array
        return total
