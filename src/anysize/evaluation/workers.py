"""Where the batches of a sweep are trained: in this process, in worker processes, or on a Ray cluster.

Each has ``completed(function, items, max_items, watch)``, which yields (number of the item, result or error) as items
are finished. Items are taken one by one as workers become free, so that the iterator may end at any time. ``watch`` is
called with the shares done of the items in progress, where they are known.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from typing import Any, Protocol

from anysize._progress import Progress

Function = Callable[..., Any]  # (item, progress=): progress takes the share done
Watch = Callable[[dict[int, float]], None]
Completed = Iterator[tuple[int, Any]]

POLL_SECONDS = 0.5


class Workers(Protocol):
    """The interface that a sweep needs."""

    workers: int

    def completed(self, function: Function, items: Iterable[Any], max_items: int, watch: Watch) -> Completed:
        """Results of at most ``max_items`` items, as they are finished."""
        ...


class ThisProcess:
    """One item after the other, in this process."""

    workers = 1

    def completed(self, function: Function, items: Iterable[Any], max_items: int, watch: Watch) -> Completed:
        for number, item in enumerate(items):

            def progress(share: float, number: int = number) -> None:
                watch({number: share})

            yield number, _result_or_error(function, item, progress)


class Processes:
    """Worker processes. They end with this process, even if it is killed."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def completed(self, function: Function, items: Iterable[Any], max_items: int, watch: Watch) -> Completed:
        context = get_context("spawn")  # a fork inherits locks of other threads and cannot use a GPU
        shares = context.RawArray("d", max(max_items, 1))
        others = set(active_children())
        source = enumerate(items)
        running: dict[Future[Any], int] = {}
        pool = ProcessPoolExecutor(self.workers, context, initializer=_start_worker, initargs=(shares,))
        try:
            while True:
                while len(running) < self.workers and (following := next(source, None)) is not None:
                    running[pool.submit(_work, function, *following)] = following[0]
                if not running:
                    return
                done, _ = wait(running, POLL_SECONDS, FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future.result()
                watch({number: shares[number] for number in running.values()})
        except BrokenExecutor:
            raise ChildProcessError(
                "A worker process died, most likely for lack of memory. Finished runs are kept: rerun the same command "
                "with fewer --workers or a smaller --stack."
            ) from None
        except BaseException:  # also if the caller stops early: batches in progress could run for minutes
            for child in set(active_children()) - others:
                child.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


class Cluster:
    """A Ray cluster: ``auto``, an address, or ``local:2`` for two cores of this machine."""

    def __init__(self, address: str) -> None:
        from anysize.executors.ray import RayExecutor  # imports Ray

        self._executor: Any = RayExecutor(address)
        self.workers = self._executor.workers

    def completed(self, function: Function, items: Iterable[Any], max_items: int, watch: Watch) -> Completed:
        with self._executor as executor:
            for number, result in executor.completed(function, items, errors="return"):
                yield number, getattr(result, "error", result)


# ---- in the worker processes -----------------------------------------------------------------------

_shares: Any = None


def _start_worker(shares: Any) -> None:
    """Set up a worker process: ignore interrupts, which the parent handles, and end when the parent ends."""
    global _shares
    _shares = shares
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_exit_with_parent, daemon=True).start()


def _exit_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(function: Function, number: int, item: Any) -> Any:
    def progress(share: float) -> None:
        _shares[number] = share

    return _result_or_error(function, item, progress)


def _result_or_error(function: Function, item: Any, progress: Progress) -> Any:
    """The result or the error: an item that fails does not stop the others."""
    try:
        return function(item, progress=progress)
    except Exception as error:
        return RuntimeError(error_sentence(error))


def error_sentence(error: Exception) -> str:
    """The error in one line, which can be sent between processes."""
    lines = str(error).strip().splitlines()
    known = isinstance(error, (ValueError, OSError, ImportError, MemoryError))
    return lines[0] if lines and known else f"{type(error).__name__}: {lines[0] if lines else 'no message'}"
