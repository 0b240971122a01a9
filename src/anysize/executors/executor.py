"""Executors: apply a function to many items, with retries after a worker dies. `LocalExecutor` runs on this machine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ThreadPoolExecutor, wait
from concurrent.futures import Executor as Pool
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from typing import Any

from anysize._errors import PartialResultError
from anysize._schema import is_integer
from anysize.counting.engines.threads import available_cores

RETRIES = 3  # how often an item is tried again after its worker died
ITEMS_PER_WORKER = 3  # submitted items per worker: one running, two queued
WINDOWS_AHEAD = 2  # how many windows of items `map` may start ahead of the next result in order


@dataclass(frozen=True)
class Failure:
    """An item without a result: the function raised an error, or every worker that tried it died."""

    name: str
    error: Exception
    died: bool

    def __str__(self) -> str:
        lines = str(self.error).strip().splitlines() or [type(self.error).__name__]
        return f"{self.name}: {lines[-1]}"  # the last line of a traceback is the error


class WorkerDied(Exception):
    """The worker process of an item died."""


@dataclass
class _Task:
    number: int
    name: str
    item: Any
    tries: int = 0


class Executor(ABC):
    """Applies a function to many items, `workers` of them at the same time."""

    workers: int
    max_cores: int  # cores of the largest machine: the most that one item can use
    retries_itself = False  # whether `submit` retries after a worker died

    def map(
        self,
        function: Callable[[Any], Any],
        items: Iterable[Any],
        *,
        names: Sequence[str] | None = None,
        retries: int = RETRIES,
        cores: int | Callable[[Any], int] = 1,
        errors: str = "raise",
        progress: Callable[[int], None] | None = None,
    ) -> Iterator[Any]:
        """Yield the results of all items, in order.

        Args:
            function: the function to apply. Processes pickle it by name, so it must be defined in a module; Ray also
                takes lambdas and nested functions.
            items: its arguments; taken from the iterator as they are needed.
            names: names of the items for error messages; their numbers if None.
            retries: how often an item is tried again after its worker died. Errors raised by the function are not
                retried.
            cores: the number of cores per item, or a function of the item that returns it.
            errors: "raise" stops at the first failed item with a `PartialResultError`; "return" yields a `Failure` in
                place of the result and continues.
            progress: called with the number of finished items.

        Examples:
            >>> from anysize.executors import LocalExecutor
            >>> with LocalExecutor(2) as executor:
            ...     print(list(executor.map(abs, [-1, 2, -3])))
            [1, 2, 3]
        """
        job = _Job(self, function, names, retries, cores, errors, progress)
        held: dict[int, Any] = {}
        for number, result in job.run(items, WINDOWS_AHEAD * ITEMS_PER_WORKER * self.workers):
            held[number] = result
            while job.n_yielded in held:
                yield held.pop(job.n_yielded)
                job.n_yielded += 1

    def completed(
        self,
        function: Callable[[Any], Any],
        items: Iterable[Any],
        *,
        names: Sequence[str] | None = None,
        retries: int = RETRIES,
        cores: int | Callable[[Any], int] = 1,
        errors: str = "raise",
        progress: Callable[[int], None] | None = None,
    ) -> Iterator[tuple[int, Any]]:
        """Yield (number of the item, result) in order of completion; arguments as in `map`."""
        yield from _Job(self, function, names, retries, cores, errors, progress).run(items)

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Release threads, processes or the connection."""

    @abstractmethod
    def submit(self, function: Callable[[Any], Any], item: Any, retries: int, cores: int) -> Any:
        """Start an item and return a handle of its result."""

    @abstractmethod
    def finished(self, handles: list[Any]) -> list[Any]:
        """Wait until at least one handle has a result, and return all that have."""

    @abstractmethod
    def result(self, handle: Any) -> Any:
        """Return the result, or raise the function's error or `WorkerDied`."""

    @abstractmethod
    def cancel(self, handles: list[Any]) -> None:
        """Cancel items that have not started."""


@dataclass
class _Job:
    """One `map` call: submits items within a window and collects their results."""

    executor: Executor
    function: Callable[[Any], Any]
    names: Sequence[str] | None
    retries: int
    cores: int | Callable[[Any], int]
    errors: str
    progress: Callable[[int], None] | None

    def __post_init__(self) -> None:
        if self.errors not in ("raise", "return"):
            raise ValueError(f"errors must be 'raise' or 'return'; got {self.errors!r}")
        self.window = ITEMS_PER_WORKER * self.executor.workers
        self.n_yielded = 0  # results that `map` has yielded, in order
        self.running: dict[Any, _Task] = {}
        # Items that were running when a worker died. They are retried one at a time, to find the one that kills it.
        self.retry_queue: deque[_Task] = deque()

    def run(self, items: Iterable[Any], ahead: float = inf) -> Iterator[tuple[int, Any]]:
        """Yield numbers and results in order of completion; start no item that far ahead of the yielded results."""
        source = enumerate(items)
        upcoming: _Task | None = None
        count, more = 0, True
        try:
            while True:
                while self._has_room():
                    if self.retry_queue:
                        self._start(self.retry_queue.popleft())
                        continue
                    if upcoming is None and more:
                        upcoming, more = self._next(source)
                    if upcoming is None or upcoming.number - self.n_yielded >= ahead:
                        break
                    self._start(upcoming)
                    upcoming = None
                if not self.running and not self.retry_queue and upcoming is None:
                    return
                for number, result in self._collect():
                    count += 1
                    if self.progress is not None:
                        self.progress(count)
                    yield number, result
        finally:
            self.executor.cancel(list(self.running))

    def _has_room(self) -> bool:
        retrying = bool(self.retry_queue) or any(task.tries for task in self.running.values())
        return len(self.running) < (1 if retrying else self.window)

    def _next(self, source: Iterator[tuple[int, Any]]) -> tuple[_Task | None, bool]:
        for number, item in source:
            return _Task(number, str(number) if self.names is None else self.names[number], item), True
        return None, False

    def _start(self, task: _Task) -> None:
        cores = self.cores(task.item) if callable(self.cores) else self.cores
        self.running[self.executor.submit(self.function, task.item, self.retries, cores)] = task

    def _collect(self) -> Iterator[tuple[int, Any]]:
        for handle in self.executor.finished(list(self.running)):
            task = self.running.pop(handle)
            try:
                result = self.executor.result(handle)
            except WorkerDied as error:
                task.tries += 1
                if task.tries <= self.retries and not self.executor.retries_itself:
                    self.retry_queue.append(task)
                    continue
                result = Failure(task.name, error, True)
            except Exception as error:
                result = Failure(task.name, error, False)
            if isinstance(result, Failure) and self.errors == "raise":
                raise PartialResultError(str(result), (result,)) from result.error
            yield task.number, result


class LocalExecutor(Executor):
    """Threads of this process or processes of this machine; one per core by default.

    Threads share memory and suit functions that release the interpreter lock. Processes are spawned interpreters.
    """

    def __init__(self, workers: int | None = None, processes: bool = False) -> None:
        self.max_cores = available_cores()
        self.workers = self.max_cores if workers is None else check_workers(workers)
        self.processes = processes
        self._pool = self._new_pool()

    def _new_pool(self) -> Pool:
        if not self.processes:
            return ThreadPoolExecutor(self.workers)
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        return ProcessPoolExecutor(self.workers, get_context("spawn"))  # a fork would inherit locks of other threads

    def submit(self, function: Callable[[Any], Any], item: Any, retries: int, cores: int) -> Future[Any]:
        try:
            return self._pool.submit(function, item)
        except BrokenExecutor:  # a worker died, and with it the pool; its items raise WorkerDied
            self._pool.shutdown(wait=False)
            self._pool = self._new_pool()
            return self._pool.submit(function, item)

    def finished(self, handles: list[Any]) -> list[Any]:
        return list(wait(handles, return_when=FIRST_COMPLETED).done)

    def result(self, handle: Any) -> Any:
        try:
            return handle.result()
        except BrokenExecutor:
            raise WorkerDied("its worker process died") from None

    def cancel(self, handles: list[Any]) -> None:
        for handle in handles:
            handle.cancel()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


ACTIVE: ContextVar[Executor | None] = ContextVar("anysize cluster", default=None)  # of the enclosing `cluster` block


def check_workers(workers: int) -> int:
    """Return a valid number of workers, or raise a ValueError."""
    if not is_integer(workers) or workers < 1:
        raise ValueError(f"workers must be an integer of at least 1, or None for all cores; got {workers!r}")
    return workers
