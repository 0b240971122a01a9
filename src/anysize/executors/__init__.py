"""Executors: run work in threads, in processes, or on a Ray cluster.

    with az.cluster("auto"):            # or an address, or "local:4"
        counts = az.count(graphs, 5)    # the same table, counted by the cluster

An executor applies a picklable function to items. Results come in the order of the items or in order of completion.
Items are taken from their iterator only as fast as results are consumed, so memory use stays flat.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from anysize.executors.executor import ACTIVE, Executor, Failure, LocalExecutor, WorkerDied
from anysize.executors.ray import RayExecutor


@contextmanager
def cluster(address: str | Executor = "auto") -> Iterator[Executor]:
    """Inside this block, `count` and `count_stream` run on a cluster.

    Args:
        address: "auto" for the Ray cluster that runs on this machine or that RAY_ADDRESS names; the address of one,
            such as "10.0.0.5:6379"; "local" or "local:4" to start one on this machine, with all cores or that many,
            for the duration of the block; or an `Executor`, which is not closed.

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
    token = ACTIVE.set(executor)
    try:
        yield executor
    finally:
        ACTIVE.reset(token)
        if executor is not address:
            executor.close()


__all__ = ["Executor", "Failure", "LocalExecutor", "RayExecutor", "WorkerDied", "cluster"]
