"""Run work in threads (the kernels release the interpreter lock), and stop it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from itertools import pairwise
from queue import Empty, SimpleQueue
from sys import modules
from threading import Lock, Thread
from time import monotonic
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from anysize._typing import IntArray

Tick: TypeAlias = Callable[[float], None]  # called with the share of an engine's work that was done since the last call

CHUNKS_PER_THREAD = 8  # more: better balance and progress; fewer: less overhead
MIN_CHUNKED = 1000  # weights from which a single thread works in chunks, too, to report its progress
SECONDS_BETWEEN_REPORTS = 0.1
MAX_SECONDS_TO_STOP = 0.5  # a thread that compiles a kernel may take longer, and is left alone


def available_cores() -> int:
    """The number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _new_flag() -> NDArray[np.uint8]:
    return np.zeros(1, np.uint8)


@dataclass(frozen=True, eq=False)
class Threads:
    """The threads of one count, and the flag that stops it.

    Kernels read the flag in their loops: once it is set, they return early, and their results are not used. As a
    context, threads are stopped if the block fails.
    """

    number: int = 1
    flag: NDArray[np.uint8] = field(default_factory=_new_flag)

    def __enter__(self) -> Threads:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.stop()

    def __reduce__(self) -> tuple[type[Threads], tuple[int]]:
        return Threads, (self.number,)  # another process has a flag of its own

    def stop(self) -> None:
        """Set the flag."""
        self.flag[0] = 1

    def check(self) -> None:
        """Raise a KeyboardInterrupt if the work was stopped."""
        if self.flag[0]:
            raise KeyboardInterrupt

    def run(self, work: Callable[[int, int], Any], weights: NDArray[Any], pieces: int | None = None) -> list[Any]:
        """The results of work(from, to) for consecutive ranges of about equal total weight, in order.

        There are several ranges per thread, unless their number is given.
        """
        if pieces is None:
            few = self.number == 1 and len(weights) < MIN_CHUNKED
            pieces = 1 if few else self.number * CHUNKS_PER_THREAD
        chunks = cut_by_weight(weights, min(pieces, len(weights)))
        results: list[Any] = [None] * len(chunks)
        numbers, lock = iter(range(len(chunks))), Lock()

        def worker() -> None:
            while not self.flag[0]:
                with lock:
                    number = next(numbers, None)
                if number is None:
                    return
                try:
                    results[number] = work(*chunks[number])
                except BaseException:
                    with lock:
                        deque(numbers, 0)  # the other threads end after their chunks
                    raise

        if min(self.number, len(chunks)) > 1:
            self._wait_for(worker, min(self.number, len(chunks)))
        else:
            worker()
        self.check()
        return results

    def accumulate(
        self, work: Callable[..., Any], weights: NDArray[Any], *lengths: int
    ) -> tuple[list[Any], list[IntArray]]:
        """As `run`, for work(from, to, *arrays) that adds to arrays of int64; also the sums of the arrays."""
        made: list[list[IntArray]] = []
        idle: SimpleQueue[list[IntArray]] = SimpleQueue()

        def borrowing(start: int, stop: int) -> Any:
            try:
                arrays = idle.get_nowait()
            except Empty:
                arrays = [np.zeros(length, np.int64) for length in lengths]
                made.append(arrays)
            result = work(start, stop, *arrays)
            idle.put(arrays)
            return result

        results = self.run(borrowing, weights)
        first, *others = made or [[np.zeros(length, np.int64) for length in lengths]]
        for total, *parts in zip(first, *others, strict=True):
            for part in parts:
                total += part
        return results, first

    def pull(self, run: Callable[[], Any], counter: IntArray, n_tasks: int, tick: Tick) -> list[Any]:
        """The results of run() in every thread; each takes task numbers from the shared counter until none are left."""
        results: list[Any] = []
        reported = 0

        def report() -> None:
            nonlocal reported
            done = min(int(counter[0]), n_tasks)
            if done > reported:
                tick((done - reported) / n_tasks)
                reported = done
            if self.flag[0]:
                counter[0] = n_tasks  # the threads stop at their next task

        def worker() -> None:
            try:
                results.append(run())
            finally:
                counter[0] = n_tasks

        try:
            self._wait_for(worker, self.number, report)
        finally:
            counter[0] = n_tasks
        self.check()
        return results

    def interruptible(self, function: Callable[[], Any]) -> Any:
        """function() in a background thread: Ctrl-C reaches the waiting main thread at once, and does not end an import
        or a compilation halfway. The flag then stops the function."""
        results: list[Any] = []
        self._wait_for(lambda: results.append(function()), 1)
        self.check()
        return results[0]

    def _wait_for(self, worker: Callable[[], None], number: int, report: Callable[[], None] | None = None) -> None:
        """worker() in that many threads, which end with the process."""
        errors: list[BaseException] = []
        ended: SimpleQueue[None] = SimpleQueue()  # waited for instead of Thread.join, which Ctrl-C breaks

        def guarded() -> None:
            try:
                worker()
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
                if report is not None:
                    report()
        except BaseException:
            self.stop()
            deadline = monotonic() + MAX_SECONDS_TO_STOP
            with suppress(Empty):
                for _ in range(running):
                    ended.get(timeout=max(deadline - monotonic(), 0))
            raise
        if errors:
            raise errors[0]


@dataclass(frozen=True, eq=False)
class OverRange:
    """A kernel on a range of vertices, called with (*arguments, from, to, *arrays, flag); others can be sent it."""

    kernel: Any
    arguments: tuple[Any, ...]
    flag: NDArray[np.uint8] = field(default_factory=_new_flag)

    def __call__(self, start: int, stop: int, *arrays: IntArray) -> Any:
        return self.kernel(*self.arguments, start, stop, *arrays, self.flag)

    def __reduce__(self) -> tuple[Any, ...]:
        return _over_range, (self.kernel.__module__, self.kernel.__name__, self.arguments)


def _over_range(module: str, name: str, arguments: tuple[Any, ...]) -> OverRange:
    """A kernel by its name: a kernel that is sent itself would be compiled again."""
    return OverRange(getattr(loaded(module), name), arguments)


def cut_by_weight(weights: NDArray[Any], pieces: int) -> list[tuple[int, int]]:
    """At most that many consecutive ranges (from, to) of about equal total weight; none is empty."""
    if pieces == 1:
        return [(0, len(weights))]
    total = np.concatenate([[0.0], np.cumsum(np.asarray(weights, np.float64) + 1e-9)])
    borders = np.searchsorted(total, np.linspace(0, total[-1], pieces + 1))
    borders[0], borders[-1] = 0, len(weights)
    return list(pairwise(sorted(set(borders.tolist()))))


def loaded(name: str) -> ModuleType:
    """A module that imports numba, which Ctrl-C must not end halfway."""
    if name not in modules:
        Threads().interruptible(lambda: import_module(name))
    return modules[name]
