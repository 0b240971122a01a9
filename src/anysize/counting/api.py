"""Exact counts of connected induced patterns: `count`, and the engines behind it (`plan.ENGINES`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize.counting.cluster import CountOutcome, count_in_pieces, settle, survive
from anysize.counting.counts import Counts
from anysize.counting.engines.threads import available_threads
from anysize.counting.execution import CountRequest, Progress, execute_plan, make_plan
from anysize.counting.memory import parse_memory
from anysize.executors.base import Executor
from anysize.executors.cluster import active
from anysize.graphs.graphset import GraphSet
from anysize.io.convert import as_graphset
from anysize.patterns.pattern import check_size


def count(
    graphs: Any,
    k: int | Iterable[int],
    colors: bool = True,
    method: str = "auto",
    *,
    samples: int | None = None,
    rel_error: float | None = None,
    seed: int = 0,
    first: int = 0,
    budget_s: float | None = None,
    max_memory: int | str | None = None,
    store: str | os.PathLike[str] | None = None,
    color: str | None = None,
    threads: int | None = None,
    errors: str = "raise",
    progress: Callable[[float], None] | None = None,
) -> Counts:
    """Count the connected induced k-vertex patterns of graphs: exactly, or estimated where that is asked for.

    Args:
        graphs: a `GraphSet`, or one graph or a list of networkx, PyG, igraph or scipy graphs, or a path.
        k: pattern size 1..7, or several of them.
        colors: tell vertices apart by color; with False, or for graphs without colors, plain patterns.
        method: "auto" takes the cheapest exact engine for each graph; or the name of one (`plan.ENGINES`); or
            "sample", which estimates without bias and gives standard errors.
        samples: with "sample", how many samples to draw for each graph.
        rel_error: with "sample", the relative standard error wanted for every pattern that makes up at least a
            thousandth of the connected sets; a pilot fixes the number of samples, fresh ones make the estimate.
        seed: of the samples. The same seed gives the same estimate for any number of threads or workers.
        first: the number of the first graph, where these are a part of a set: samples depend on seed and number, so
            that the parts of a set have the estimates of the whole.
        budget_s: with "auto", sample if exact counting is expected to take longer than so many seconds; without
            it nothing is ever sampled unasked.
        max_memory: bytes, or text such as "4GiB", that counting may take beside the graphs and the table, by an
            estimate: engines that need more are left out, and fewer graphs or threads are taken at a time. In an
            `anysize.cluster` block: on each machine.
        store: a folder that keeps results: what was counted before, with the same arguments, is read from it.
        color: for networkx, PyG and igraph graphs, the vertex attribute that holds the color.
        threads: how many to use; all cores if None. The result does not depend on it. In an `anysize.cluster` block:
            the cores for each piece of the work.
        errors: what to do about graphs that cannot be counted (a number beyond 64 bits, memory, a worker that
            dies each time). "raise" ends with an error that names them; in a `cluster` block that is a
            `PartialResultError` after all others were counted, with their table as its ``finished``. "skip" leaves
            them out of the table, with a warning.
        progress: called with the share of the work done so far, from 0 to 1.

    Returns:
        A table of graphs by patterns; plain tables have the whole catalog as columns, colored ones the
        patterns that occur. A graph with fewer than k vertices has a zero row.

    Examples:
        >>> house = GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
        >>> count(house, 4).to_pandas().iloc[0].to_dict()
        {'claw': 0, '4-path': 2, 'paw': 2, '4-cycle': 1, 'diamond': 0, '4-clique': 0}
    """
    sets = as_graphset(graphs, color=color)
    if not colors:
        sets = sets.without_colors()
    sizes = _sizes(k)
    if threads is not None:
        _positive(threads)
    if errors not in ("raise", "skip"):
        raise ValueError(f"errors must be 'raise' or 'skip'; got {errors!r}")
    if progress is not None and not callable(progress):
        raise ValueError(f"progress is a function that is called with the share of the work done; got {progress!r}")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0; got {seed!r}")
    wanted = CountRequest(method, samples, rel_error, seed, budget_s, parse_memory(max_memory))

    numbers = np.arange(check_first(first), first + len(sets))

    def compute() -> CountOutcome:
        return _count(sets, numbers, sizes, wanted, threads, progress, errors)

    if store is None:
        return settle(compute(), errors)
    from anysize.counting.cache import CountCache

    arguments = {"k": sizes, **asdict(wanted)}
    if budget_s is None:  # otherwise memory may decide whether to sample
        del arguments["max_memory"]
    if first and (method == "sample" or budget_s is not None):
        arguments["first"] = first
    kept = CountCache(store)
    found = kept.fetch(kept.key(sets, arguments), sets)
    if found is not None:
        return found
    outcome = compute()
    if not outcome.failed:
        kept.keep(sets, arguments, outcome.counts)
    elif outcome.counts.sampling is None:  # estimates of the others depend on their numbers in the whole set
        kept.keep(sets[outcome.numbers - first], arguments, outcome.counts)
    return settle(outcome, errors)


def _count(
    sets: GraphSet,
    numbers: NDArray[np.int64],
    sizes: list[int],
    wanted: CountRequest,
    threads: int | None,
    progress: Progress,
    errors: str,
) -> CountOutcome:
    """Here, or in pieces by the cluster around this call."""
    executor = active()
    if executor is not None and len(sets):
        plan = make_plan(sets, sizes, _share(wanted, executor, threads), executor.workers)
        return count_in_pieces(executor, plan, sets, numbers, threads, progress)
    workers = available_threads() if threads is None else threads
    plan = make_plan(sets, sizes, wanted, workers)
    if errors == "skip":
        return survive(plan, sets, numbers, workers, progress)
    return CountOutcome(execute_plan(plan, sets, workers, progress, numbers), numbers)


def _share(wanted: CountRequest, executor: Executor, threads: int | None) -> CountRequest:
    """The memory of one piece, as many of which a machine counts at the same time as it has cores for."""
    if wanted.max_memory is None:
        return wanted
    at_once = max(min(executor.largest, executor.workers) // (threads or 1), 1)
    return replace(wanted, max_memory=wanted.max_memory // at_once)


def _sizes(k: int | Iterable[int]) -> list[int]:
    if isinstance(k, (int, np.integer)):
        return [check_size(k)]
    wanted: Any = k
    if isinstance(wanted, str) or not isinstance(wanted, Iterable):
        raise ValueError(f"k must be a whole number from 1 to 7, or several of them; got {wanted!r}")
    sizes = sorted({check_size(size) for size in wanted})
    if not sizes:
        raise ValueError("k must be a whole number from 1 to 7, or several of them; got none")
    return sizes


def check_first(first: int) -> int:
    """The number of a graph, or a ValueError."""
    if isinstance(first, bool) or not isinstance(first, (int, np.integer)) or first < 0:
        raise ValueError(f"first is the number of a graph: a whole number of at least 0; got {first!r}")
    return int(first)


def _positive(threads: int) -> int:
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise ValueError(f"threads must be a whole number of at least 1, or None for all cores; got {threads!r}")
    return int(threads)


__all__ = ["Counts", "count"]
