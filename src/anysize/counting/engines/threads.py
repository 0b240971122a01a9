"""Run chunks of work in threads (the kernels release the interpreter lock)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import pairwise
from threading import Lock
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Tick: TypeAlias = Callable[[float], None]  # called with the share of an engine's work that was done since the last call
Chunk: TypeAlias = tuple[int, int]  # from, to

CHUNKS_PER_THREAD = 8  # more: better balance and progress; fewer: less overhead


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


def in_threads(work: Callable[[int, int], Any], chunks: list[Chunk], threads: int) -> list[Any]:
    """work(from, to) for every chunk; the results are in the order of the chunks."""
    if threads == 1 or len(chunks) == 1:
        return [work(*chunk) for chunk in chunks]
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(work, *chunk) for chunk in chunks]
        try:
            return [future.result() for future in futures]
        except BaseException:
            for future in futures:
                future.cancel()
            raise


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


def pull_in_threads(
    run: Callable[[], Any], counter: NDArray[np.int64], n_tasks: int, threads: int, tick: Tick
) -> list[Any]:
    """run() once per thread; each takes task numbers from the shared counter until there are none left."""
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(run) for _ in range(threads)]
        reported = 0
        try:
            while True:
                _, waiting = wait(futures, timeout=0.1)
                done = min(int(counter[0]), n_tasks)
                if done > reported:
                    tick((done - reported) / n_tasks)
                    reported = done
                if not waiting:
                    return [future.result() for future in futures]
        except BaseException:
            counter[0] = n_tasks  # the others stop at their next task
            raise
