"""Where work is done: threads or processes of this machine, or Ray tasks on many machines, behind one `Executor`.

    with az.cluster("auto"):            # or an address, or "local:4"
        counts = az.count(graphs, 5)    # the same table, counted by the cluster

An executor takes any function and items that can be pickled. Results come in the order of the items, or as they are
finished; items are taken from their iterator only as fast as results are taken away, so that memory stays flat.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from anysize.executors.base import PER_WORKER, RETRIES, Executor, Failure, WorkerDied
from anysize.executors.local import LocalExecutor
from anysize.executors.ray import RayExecutor

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


__all__ = [
    "PER_WORKER",
    "RETRIES",
    "Executor",
    "Failure",
    "LocalExecutor",
    "RayExecutor",
    "WorkerDied",
    "active",
    "cluster",
]
