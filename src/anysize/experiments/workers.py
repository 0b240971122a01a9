"""Who works on the pieces of a sweep: this process, processes of this machine, or a Ray cluster.

Each has ``completed(function, items, most, watch)``: (number of the item, result or the error it ended in), as they
are finished. Items are taken one by one as there is room for them, so that their source may end at any time.
``watch`` is told the shares done of the items at work, where they are known.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from typing import Any, Protocol

Function = Callable[..., Any]  # of an item and, as ``report``, a function that takes the share done
Watch = Callable[[dict[int, float]], None]
Completed = Iterator[tuple[int, Any]]

LOOK = 0.5  # seconds between looks at what workers have done


class Workers(Protocol):
    """What a sweep needs of them."""

    workers: int

    def completed(self, function: Function, items: Iterable[Any], most: int, watch: Watch) -> Completed:
        """Results as they are finished, of at most so many items."""
        ...


class ThisProcess:
    """One item after the other, here."""

    workers = 1

    def completed(self, function: Function, items: Iterable[Any], most: int, watch: Watch) -> Completed:
        for number, item in enumerate(items):
            yield number, _tried(function, item, partial(_tell, watch, number))


class Processes:
    """Fresh interpreters, so many at a time. They die with this process, even if it is killed."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def completed(self, function: Function, items: Iterable[Any], most: int, watch: Watch) -> Completed:
        context = get_context("spawn")  # a fork would inherit locks of other threads, and cannot use a GPU
        shares = context.RawArray("d", max(most, 1))
        others = set(active_children())
        source = enumerate(items)
        running: dict[Future[Any], int] = {}
        pool = ProcessPoolExecutor(self.workers, context, initializer=_begin, initargs=(shares,))
        try:
            while True:
                while len(running) < self.workers and (following := next(source, None)) is not None:
                    running[pool.submit(_work, function, *following)] = following[0]
                if not running:
                    return
                done, _ = wait(running, LOOK, FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), future.result()
                watch({number: shares[number] for number in running.values()})
        except BrokenExecutor:
            raise ChildProcessError(
                "A worker process died, most likely for want of memory. What was finished is kept: start the same "
                "command again, with fewer --workers or a smaller --stack."
            ) from None
        except BaseException:  # also where nobody wants more results: what is at work would go on for minutes
            for child in set(active_children()) - others:
                child.terminate()
            raise
        finally:
            pool.shutdown(cancel_futures=True)


class Cluster:
    """The machines of a Ray cluster: ``auto``, an address, or ``local:2`` for one of two cores on this machine."""

    def __init__(self, address: str) -> None:
        from anysize.executors.ray import RayExecutor  # imports Ray

        self._executor: Any = RayExecutor(address)
        self.workers = self._executor.workers

    def completed(self, function: Function, items: Iterable[Any], most: int, watch: Watch) -> Completed:
        with self._executor as executor:
            for number, result in executor.completed(function, items, errors="return"):
                yield number, getattr(result, "error", result)


# ---- in the processes ------------------------------------------------------------------------------

_shares: Any = None


def _begin(shares: Any) -> None:
    """Prepare a process: it leaves interrupts to the one that started it, and goes when that one goes."""
    global _shares
    _shares = shares
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(function: Function, number: int, item: Any) -> Any:
    def report(share: float) -> None:
        _shares[number] = share

    return _tried(function, item, report)


def _tell(watch: Watch, number: int, share: float) -> None:
    watch({number: share})


def _tried(function: Function, item: Any, report: Callable[[float], None]) -> Any:
    """The result, or the error: one item that fails is no reason to lose the others."""
    try:
        return function(item, report=report)
    except Exception as error:
        return RuntimeError(_sentence(error))


def _sentence(error: Exception) -> str:
    """What went wrong, in one line, as something that can be sent between processes."""
    lines = str(error).strip().splitlines()
    known = isinstance(error, (ValueError, OSError, ImportError, MemoryError))
    return lines[0] if lines and known else f"{type(error).__name__}: {lines[0] if lines else 'no message'}"
