"""Executor on a Ray cluster."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from typing import Any

from anysize._errors import naming_extra
from anysize.counting.engines.threads import available_cores
from anysize.executors.executor import Executor, WorkerDied, check_workers

CONNECT_TIMEOUT_S = 10  # for the head node of a cluster


class RayExecutor(Executor):
    """Runs items as tasks of a Ray cluster.

    ``address`` is ``auto`` (the cluster that runs on this machine, or RAY_ADDRESS), the address of one, or ``local`` or
    ``local:4``, which starts a cluster with all or that many cores on this machine and stops it at the end.
    """

    retries_itself = True

    def __init__(self, address: str = "auto") -> None:
        ray = _ray()
        self._connected = not (ray.is_initialized() and address == "auto")  # by this object, which then disconnects
        if self._connected:
            _connect(ray, address)
        cores = [int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]]
        self.workers, self.max_cores = max(sum(cores), 1), max([1, *cores])
        self._apply = ray.remote(_apply)
        self._functions: dict[Callable[[Any], Any], Any] = {}  # in the object store: each is sent once

    def submit(self, function: Callable[[Any], Any], item: Any, retries: int, cores: int) -> Any:
        if cores > self.max_cores:
            raise ValueError(f"{cores} cores are needed, but the largest machine of the cluster has {self.max_cores}")
        if function not in self._functions:
            self._functions[function] = _ray().put(function)
        return self._apply.options(num_cpus=cores, max_retries=retries).remote(self._functions[function], item)

    def finished(self, handles: list[Any]) -> list[Any]:
        return list(_ray().wait(handles, num_returns=1)[0])

    def result(self, handle: Any) -> Any:
        ray = _ray()
        try:
            return ray.get(handle)
        except ray.exceptions.RayTaskError as error:
            cause = error.cause  # the error that the function raised, without Ray's wrapper
            raise (cause if isinstance(cause, Exception) else error) from None
        except ray.exceptions.RayError as error:
            raise WorkerDied(f"its worker died on every try ({type(error).__name__})") from None

    def cancel(self, handles: list[Any]) -> None:
        for handle in handles:
            _ray().cancel(handle)

    def close(self) -> None:
        if self._connected:
            _ray().shutdown()


def _apply(function: Callable[[Any], Any], item: Any) -> Any:
    return function(item)


@naming_extra("A cluster")
def _ray() -> Any:
    import ray

    return ray


def _connect(ray: Any, address: str) -> None:
    """Connect to a cluster, or start one; without log output and usage statistics."""
    if ray.is_initialized():
        raise ValueError(
            f"this process is already connected to a Ray cluster; use 'auto', or disconnect before using {address!r}"
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
            _check_reachable(address)
        ray.init(address=address, **quiet)
    except (OSError, ValueError, RuntimeError) as error:
        where = "on this machine" if address == "auto" else f"at {address!r}"
        raise ConnectionError(
            f"no Ray cluster found {where}; start one with 'ray start --head', or use 'local' ({error})"
        ) from None


def _check_reachable(address: str) -> None:
    """Raise an error at once if nothing listens there; Ray would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"expected an address such as 10.0.0.5:6379; got {address!r}")
    socket.create_connection((host, int(port)), timeout=CONNECT_TIMEOUT_S).close()
