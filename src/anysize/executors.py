"""Where work is done: threads or processes of this machine, or Ray tasks on many machines, behind one `Executor`.

    with az.cluster("auto"):            # or an address, or "local:4"
        counts = az.count(graphs, 5)    # the same table, counted by the cluster

An executor takes any function and items that can be pickled. Results come in the order of the items, or as they are
finished; items are taken from their iterator only as fast as results are taken away, so that memory stays flat.
"""

from __future__ import annotations

import os
import socket
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ThreadPoolExecutor, wait
from concurrent.futures import Executor as Pool
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import inf
from typing import Any

from anysize.errors import TaskError

RETRIES = 3  # times that an item is tried again after its worker died
PER_WORKER = 3  # items handed out for each worker: one at work, two to follow
KNOCK = 10  # seconds that the head of a cluster has to answer
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
            errors: "raise" stops at the first item that fails with a `TaskError`; "return" gives a `Failure` in place
                of its result and goes on.
            progress: called with the number of items that are finished.

        Examples:
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
                raise TaskError(str(result), (result,)) from result.error
            yield task.number, result


class LocalExecutor(Executor):
    """Threads of this process, or processes of this machine; as many as it has cores if none are given.

    Threads share memory and suit functions that release the interpreter lock; processes are fresh interpreters.
    """

    def __init__(self, workers: int | None = None, processes: bool = False) -> None:
        self.largest = _cores()
        self.workers = self.largest if workers is None else check_workers(workers)
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
        except BrokenExecutor:  # all that was in it is lost, and known to be
            self._pool.shutdown(wait=False)
            self._pool = self._new_pool()
            return self._pool.submit(function, item)

    def finished(self, handles: list[Any]) -> list[Any]:
        return list(wait(handles, return_when=FIRST_COMPLETED).done)

    def result(self, handle: Any) -> Any:
        try:
            return handle.result()
        except BrokenExecutor:
            raise WorkerDied("the process that worked on it died") from None

    def cancel(self, handles: list[Any]) -> None:
        for handle in handles:
            handle.cancel()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)


class RayExecutor(Executor):
    """Tasks of a Ray cluster: ``auto`` (the one that runs here, or RAY_ADDRESS), its address, or ``local:4``.

    ``local`` starts a cluster on this machine and stops it at the end; with a number, of so many cores.
    """

    retries_itself = True

    def __init__(self, address: str = "auto") -> None:
        ray = _ray()
        self._own = not (ray.is_initialized() and address == "auto")
        if self._own:
            _connect(ray, address)
        cores = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        self.workers, self.largest = max(sum(cores), 1), max([1, *cores])
        self._apply = ray.remote(_apply)
        self._sent: dict[Callable[[Any], Any], Any] = {}  # a function travels to the workers once

    def submit(self, function: Callable[[Any], Any], item: Any, retries: int, cores: int) -> Any:
        if cores > self.largest:
            raise ValueError(f"no machine of the cluster has {cores} cores; the largest has {self.largest}")
        if function not in self._sent:
            self._sent[function] = _ray().put(function)
        return self._apply.options(num_cpus=cores, max_retries=retries).remote(self._sent[function], item)

    def finished(self, handles: list[Any]) -> list[Any]:
        return list(_ray().wait(handles, num_returns=1)[0])

    def result(self, handle: Any) -> Any:
        ray = _ray()
        try:
            return ray.get(handle)
        except ray.exceptions.RayTaskError as error:
            raise _cause(error) from None
        except ray.exceptions.RayError as error:
            raise WorkerDied(f"its worker died, and so did those that tried again ({type(error).__name__})") from None

    def cancel(self, handles: list[Any]) -> None:
        for handle in handles:
            _ray().cancel(handle)

    def close(self) -> None:
        if self._own:
            _ray().shutdown()


def _apply(function: Callable[[Any], Any], item: Any) -> Any:
    return function(item)


def _cause(error: Any) -> Exception:
    """What the function raised, without Ray's account of where."""
    return error.cause if isinstance(error.cause, Exception) else error


def _ray() -> Any:
    try:
        import ray
    except ImportError as error:
        raise ImportError("A cluster needs Ray: pip install 'anysize[cluster]'") from error
    return ray


def _connect(ray: Any, address: str) -> None:
    """Connect to a cluster, or start one; quietly, and without reports to anyone."""
    if ray.is_initialized():
        raise ValueError(
            f"this process is connected to a Ray cluster already; use 'auto' or leave it before {address!r}"
        )
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    kind, _, amount = address.partition(":")
    if kind == "local" and (amount == "" or amount.isdigit()):
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        workers = _cores() if amount == "" else check_workers(int(amount))
        ray.init(address="local", num_cpus=workers, include_dashboard=False, **quiet)
        return
    try:
        if address != "auto":
            _knock(address)
        ray.init(address=address, **quiet)
    except (OSError, ValueError, RuntimeError) as error:
        where = "no Ray cluster runs here" if address == "auto" else f"no Ray cluster answers at {address!r}"
        raise ConnectionError(
            f"{where}: start one with 'ray start --head', or take 'local' for one on this machine ({error})"
        ) from None


def _knock(address: str) -> None:
    """An error at once where nobody listens; Ray would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"an address looks like 10.0.0.5:6379; got {address!r}")
    socket.create_connection((host, int(port)), timeout=KNOCK).close()


def _cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_workers(workers: int) -> int:
    """A number of workers, or a ValueError."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise ValueError(f"workers must be a whole number of at least 1, or None for all cores; got {workers!r}")
    return workers


_active: ContextVar[Executor | None] = ContextVar("anysize cluster", default=None)


def active() -> Executor | None:
    """The executor of the `cluster` block around this call, if there is one."""
    return _active.get()


@contextmanager
def cluster(address: str | Executor = "auto") -> Iterator[Executor]:
    """Inside the block, graphs are counted by a cluster: `count` and `count_stream` cut their work in pieces for it.

    Args:
        address: "auto" for the Ray cluster that runs on this machine or that RAY_ADDRESS names; the address of
            one, such as "10.0.0.5:6379"; "local" or "local:4" to start one here, with all or so many cores, for
            the length of the block; or an `Executor`, which stays open.

    Returns:
        The executor; its `Executor.map` runs any function.

    Examples:
        >>> import anysize as az
        >>> rings = [az.GraphSet.from_edges([(v, (v + 1) % n) for v in range(n)]) for n in (4, 5, 6)]
        >>> with az.cluster(LocalExecutor(2)):
        ...     az.count(az.GraphSet.concatenate(rings), 3).matrix.toarray().tolist()
        [[4, 0], [5, 0], [6, 0]]
    """
    executor = address if isinstance(address, Executor) else RayExecutor(address)
    token = _active.set(executor)
    try:
        yield executor
    finally:
        _active.reset(token)
        if executor is not address:
            executor.close()
