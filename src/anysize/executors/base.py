"""What an executor is: a function over many items, a window of them handed out, results in order or as they come."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from anysize._errors import PartialResultError

RETRIES = 3  # times that an item is tried again after its worker died
PER_WORKER = 3  # items handed out for each worker: one at work, two to follow
FAR = 2  # windows that results may wait for one before them


@dataclass(frozen=True)
class Failure:
    """An item without a result: its function raised an error, or every worker that tried it died."""

    name: str
    error: Exception
    died: bool

    def __str__(self) -> str:
        lines = str(self.error).strip().splitlines() or [type(self.error).__name__]
        return f"{self.name}: {lines[-1]}"  # a traceback ends in what went wrong


class WorkerDied(Exception):
    """The process that worked on an item is gone."""


@dataclass
class _Task:
    number: int
    name: str
    item: Any
    tries: int = 0


class Executor(ABC):
    """Something that applies a function to items; `workers` is how many it works on at the same time."""

    workers: int
    largest: int  # cores of the largest machine: the most that one item can use

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
        """The results of all items, in their order.

        Args:
            function: what to apply. Processes and clusters pickle it, so it must be defined in a module (Ray takes
                others too).
            items: its arguments; taken as they are needed.
            names: of the items, for messages; their numbers if None.
            retries: how often an item is tried again after its worker died. Errors that the function raises
                are not tried again.
            cores: how many cores an item uses, or a function of the item that says so.
            errors: "raise" stops at the first item that fails with a `PartialResultError`; "return" gives a
                `Failure` in place of its result and goes on.
            progress: called with the number of items that are finished.

        Examples:
            >>> from anysize.executors import LocalExecutor
            >>> with LocalExecutor(2) as executor:
            ...     print(list(executor.map(abs, [-1, 2, -3])))
            [1, 2, 3]
        """
        job = _Job(self, function, names, retries, cores, errors, progress)
        held: dict[int, Any] = {}
        for number, result in job.run(items, FAR * PER_WORKER * self.workers):
            held[number] = result
            while job.given in held:
                yield held.pop(job.given)
                job.given += 1

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
        """(number of the item, result), as they are finished; the arguments are those of `map`."""
        yield from _Job(self, function, names, retries, cores, errors, progress).run(items)

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Give back what was taken: threads, processes, the connection."""

    retries_itself = False  # whether `submit` tries again where a worker dies

    @abstractmethod
    def submit(self, function: Callable[[Any], Any], item: Any, retries: int, cores: int) -> Any:
        """Begin to work on an item; something that stands for its result."""

    @abstractmethod
    def finished(self, handles: list[Any]) -> list[Any]:
        """Those with a result; waits until there is one."""

    @abstractmethod
    def result(self, handle: Any) -> Any:
        """The result, or the error that the function raised, or `WorkerDied`."""

    @abstractmethod
    def cancel(self, handles: list[Any]) -> None:
        """Do not begin with these."""


@dataclass
class _Job:
    """One function over many items: at most a window of them is handed out."""

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
        self.window = PER_WORKER * self.executor.workers
        self.given = 0  # results that the caller has taken, in order
        self.running: dict[Any, _Task] = {}
        self.again: deque[_Task] = deque()  # in flight when a worker died: each alone now, so that the cause is found

    def run(self, items: Iterable[Any], ahead: float = inf) -> Iterator[tuple[int, Any]]:
        """Numbers and results as they are finished; no item is begun that is so far ahead of the results given."""
        source = enumerate(items)
        after: _Task | None = None
        count, more = 0, True
        try:
            while True:
                while self._room():
                    if self.again:
                        self._begin(self.again.popleft())
                        continue
                    if after is None and more:
                        after, more = self._next(source)
                    if after is None or after.number - self.given >= ahead:
                        break
                    self._begin(after)
                    after = None
                if not self.running and not self.again and after is None:
                    return
                for number, result in self._collect():
                    count += 1
                    if self.progress is not None:
                        self.progress(count)
                    yield number, result
        finally:
            self.executor.cancel(list(self.running))

    def _room(self) -> bool:
        alone = bool(self.again) or any(task.tries for task in self.running.values())
        return len(self.running) < (1 if alone else self.window)

    def _next(self, source: Iterator[tuple[int, Any]]) -> tuple[_Task | None, bool]:
        for number, item in source:
            return _Task(number, str(number) if self.names is None else self.names[number], item), True
        return None, False

    def _begin(self, task: _Task) -> None:
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
                    self.again.append(task)
                    continue
                result = Failure(task.name, error, True)
            except Exception as error:
                result = Failure(task.name, error, False)
            if isinstance(result, Failure) and self.errors == "raise":
                raise PartialResultError(str(result), (result,)) from result.error
            yield task.number, result


def available_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_workers(workers: int) -> int:
    """A number of workers, or a ValueError."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers must be a whole number of at least 1, or None for all cores; got {workers!r}")
    return workers
