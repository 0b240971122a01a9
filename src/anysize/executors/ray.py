"""Work by the tasks of a Ray cluster."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Any

from anysize.executors.base import Executor, WorkerDied, available_cores, check_workers

KNOCK = 10  # seconds that the head of a cluster has to answer


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
        workers = available_cores() if amount == "" else check_workers(int(amount))
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
