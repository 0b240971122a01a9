"""`count`: connected induced patterns of graphs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, hstack

from anysize._memory import parse_bytes
from anysize._progress import Progress, shares_of
from anysize._typing import IntArray, PathLike, check_integer
from anysize.counting.cache import attributes_digest
from anysize.counting.cluster import CountOutcome, count_in_pieces, count_surviving, settle
from anysize.counting.columns import MAX_TYPED_SIZE, unite
from anysize.counting.counts import Counts
from anysize.counting.engines.table import CountTable
from anysize.counting.engines.threads import Halt, Threads, interruptible
from anysize.counting.execution import CountRequest, execute_plan, make_plan
from anysize.executors import Executor, active_executor
from anysize.executors.executor import available_cores
from anysize.graphs.graphset import GraphSet
from anysize.io.convert import as_graphset
from anysize.patterns.pattern import list_sizes


def count(
    graphs: Any,
    k: int | Iterable[int],
    colors: bool = True,
    engine: str = "auto",
    *,
    samples: int | None = None,
    rel_error: float | None = None,
    seed: int = 0,
    first: int = 0,
    budget_s: float | None = None,
    max_memory: int | str | None = None,
    cache: PathLike | None = None,
    color: str | None = None,
    threads: int | None = None,
    errors: str = "raise",
    progress: Progress | None = None,
    edges: bool = False,
) -> Counts:
    """Count the connected induced k-vertex patterns of graphs, exactly or (on request) by sampling.

    Args:
        graphs: a `GraphSet`, one graph or a list of networkx, PyG, igraph or scipy graphs, or a path.
        k: pattern size 1..7, or several sizes.
        colors: distinguish vertices by color. With False, or for graphs without colors, count plain patterns.
        engine: "auto" takes the fastest exact engine for each graph; the name of an engine
            (`anysize.counting.planner.ENGINES`) forces it; "sample" gives unbiased estimates with standard errors.
        samples: for "sample": the number of samples per graph.
        rel_error: for "sample": the relative standard error to reach for every pattern that makes up at least 0.1 % of
            the connected k-sets. A pilot run determines the number of samples; the estimate uses fresh samples.
        seed: seed of the samples. Estimates do not depend on the number of threads or workers.
        first: number of the first graph, if the graphs are part of a larger set. Samples depend on the seed and the
            number of a graph, so that parts of a set get the same estimates as the whole set.
        budget_s: for "auto": sample if exact counting is expected to take longer than this many seconds, or does. The
            number of samples, in `Counts.sampling`, is what the rest of the budget allows, from the measured speed.
        max_memory: memory limit for counting, in bytes or as text such as "4GiB", without the graphs and the table. It
            is enforced by estimates: engines that need more are not used, and graphs are counted in batches or with
            fewer threads. In an `anysize.cluster` block the limit holds for each machine.
        cache: cache folder; counts found here are not recomputed.
        color: for networkx, PyG and igraph graphs: the vertex attribute that holds the color.
        threads: number of threads; all cores if None. The result does not depend on it. In an `anysize.cluster` block:
            cores per piece of work.
        errors: what to do with graphs that cannot be counted (counts beyond 64 bits, out of memory, a worker that dies
            on every try). "raise" raises an error that names them; in a `cluster` block a `PartialResultError`, after
            all other graphs were counted, with their table as ``finished``. "skip" leaves them out of the table with a
            warning.
        edges: distinguish edges by their colors and directions, for k up to 5; this takes its own engine, so that
            ``engine`` is "auto" then. Graphs without either have the patterns that they have without it. Directed
            patterns on three vertices have the usual names of triads, such as 021D.
        progress: called with the share of the work done so far, from 0 to 1.

    Returns:
        A table of graphs by patterns. Plain tables have the whole catalog as columns, colored tables the patterns that
        occur. A graph with fewer than k vertices has a zero row.

    Examples:
        >>> house = GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
        >>> count(house, 4).to_pandas().iloc[0].to_dict()
        {'claw': 0, '4-path': 2, 'paw': 2, '4-cycle': 1, 'diamond': 0, '4-clique': 0}
    """
    graphset = as_graphset(graphs, color=color)
    if not colors:
        graphset = graphset.without_colors()
    sizes = list_sizes(k)
    first = check_integer("first", first, 0)
    seed = check_integer("seed", seed, 0)
    if threads is not None:
        threads = check_integer("threads", threads, 1)
    if errors not in ("raise", "skip"):
        raise ValueError(f"errors must be 'raise' or 'skip'; got {errors!r}")
    if progress is not None and not callable(progress):
        raise ValueError(f"progress must be a function of the share of the work done; got {progress!r}")
    if edges and (engine != "auto" or budget_s is not None or max_memory is not None or errors != "raise"):
        raise ValueError(
            "edges=True counts exactly, with one engine; leave out engine, budget_s, max_memory and errors"
        )
    if edges and (graphset.edge_colors is not None or graphset.directions is not None):
        return _count_typed(graphset, sizes, threads, progress, cache)
    request = CountRequest(engine, samples, rel_error, seed, budget_s, parse_bytes(max_memory, "max_memory"))
    numbers = np.arange(first, first + len(graphset))

    if cache is None:
        return settle(_count(graphset, numbers, sizes, request, threads, progress, errors), errors)
    from anysize.counting.cache import CountCache

    arguments = {"k": sizes, **asdict(request)}
    if budget_s is None:  # otherwise the memory limit may decide whether to sample
        del arguments["max_memory"]
    if first and (engine == "sample" or budget_s is not None):
        arguments["first"] = first
    folder = CountCache(cache)
    cached = folder.get(graphset, arguments)
    if cached is not None:
        return cached
    outcome = _count(graphset, numbers, sizes, request, threads, progress, errors)
    if not outcome.failed:
        folder.put(graphset, arguments, outcome.counts)
    elif outcome.counts.sampling is None:  # estimates depend on the numbers of the graphs in the whole set
        folder.put(graphset[outcome.numbers - first], arguments, outcome.counts)
    return settle(outcome, errors)


def _count_typed(
    graphs: GraphSet, sizes: list[int], threads: int | None, progress: Progress | None, cache: PathLike | None
) -> Counts:
    """Counts of patterns with types of edges; tables of several sizes side by side."""
    if sizes[-1] > MAX_TYPED_SIZE:
        raise ValueError(f"patterns with types of edges have at most {MAX_TYPED_SIZE} vertices; got k = {sizes[-1]}")
    if cache is not None:
        from anysize.counting.cache import CountCache

        folder, arguments = CountCache(cache), {"k": sizes, "edges": attributes_digest(graphs).hex()}
        if (found := folder.get(graphs, arguments)) is not None:
            return found
    report, halt = shares_of(progress, float(len(sizes))), Halt()

    def run() -> list[CountTable]:
        from anysize.counting.engines.jit import announced
        from anysize.counting.engines.typed import count_typed

        with announced("typed"):
            workers = Threads(available_cores() if threads is None else threads, halt)
            return [count_typed(graphs, k, workers, report) for k in sizes]

    tables = interruptible(run, halt)
    columns = unite([table.columns for table in tables])[0]
    matrix: Any = csr_array(hstack([table.matrix for table in tables], "csr"))
    log = tuple(f"k = {k}: typed for {len(graphs)} of {len(graphs)} graphs (types of edges)" for k in sizes)
    counts = Counts(matrix, columns, graphs.sizes, graphs.y, graphs.names, log)
    if cache is not None:
        folder.put(graphs, arguments, counts)
    return counts


def _count(
    graphs: GraphSet,
    numbers: IntArray,
    sizes: list[int],
    request: CountRequest,
    threads: int | None,
    progress: Progress | None,
    errors: str,
) -> CountOutcome:
    """Count in this process, or in pieces on the executor of the enclosing `cluster` block."""
    executor = active_executor()
    if executor is not None and len(graphs):
        plan = make_plan(graphs, sizes, _memory_per_piece(request, executor, threads), 1, executor.workers)
        return count_in_pieces(executor, plan, graphs, numbers, threads, progress)
    n_threads = available_cores() if threads is None else threads
    plan = make_plan(graphs, sizes, request, n_threads)
    if errors == "skip":
        return count_surviving(plan, graphs, numbers, n_threads, progress)
    return CountOutcome(execute_plan(plan, graphs, n_threads, progress, numbers), numbers)


def _memory_per_piece(request: CountRequest, executor: Executor, threads: int | None) -> CountRequest:
    """Divide the memory of a machine by the number of pieces that it counts at the same time."""
    if request.max_memory is None:
        return request
    at_once = max(min(executor.max_cores, executor.workers) // (threads or 1), 1)
    return replace(request, max_memory=request.max_memory // at_once)
