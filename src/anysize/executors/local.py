"""Work by threads or processes of this machine."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ThreadPoolExecutor, wait
from concurrent.futures import Executor as Pool
from typing import Any

from anysize.executors.base import Executor, WorkerDied, available_cores, check_workers


class LocalExecutor(Executor):
    """Threads of this process, or processes of this machine; as many as it has cores if none are given.

    Threads share memory and suit functions that release the interpreter lock; processes are fresh interpreters.
    """

    def __init__(self, workers: int | None = None, processes: bool = False) -> None:
        self.largest = available_cores()
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
