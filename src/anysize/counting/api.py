"""`count`: connected induced patterns of graphs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from anysize._memory import parse_bytes
from anysize._progress import Progress
from anysize._schema import check_integer
from anysize._typing import PathLike
from anysize.counting.cluster import FailedGraph, count_in_pieces, count_surviving, without_failed
from anysize.counting.columns import MAX_TYPED_SIZE
from anysize.counting.counts import Counts
from anysize.counting.engines.threads import Threads, available_cores, loaded
from anysize.counting.execution import CountRequest, execute_plan
from anysize.executors import Executor
from anysize.executors.executor import ACTIVE
from anysize.graphs.graphset import attributes_digest
from anysize.io.convert import as_graphset
from anysize.patterns.pattern import list_sizes

TYPED = "typed"  # the engine that tells edges apart


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
            fewer threads. Without it, counts that would need more memory than is available are limited to that. In an
            `anysize.cluster` block the limit holds for each machine.
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
        >>> from anysize import GraphSet
        >>> house = GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
        >>> count(house, 4).to_pandas().iloc[0].to_dict()
        {'claw': 0, '4-path': 2, 'paw': 2, '4-cycle': 1, 'diamond': 0, '4-clique': 0}
    """
    graphset = as_graphset(graphs, color=color)
    graphset = graphset.with_y(None) if graphset.targets else graphset  # a table of counts has one label per graph
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
    executor = ACTIVE.get() if len(graphset) else None
    typed = edges and graphset.has_edge_types
    if typed:
        if sizes[-1] > MAX_TYPED_SIZE:
            raise ValueError(
                f"patterns with types of edges have at most {MAX_TYPED_SIZE} vertices; got k = {sizes[-1]}; use a "
                "smaller k, or drop the types with without_edge_colors() and without_directions()"
            )
        engine, executor = TYPED, None
    elif graphset.has_edge_types:
        graphset = replace(graphset, edge_colors=None, edge_palette=(), directions=None)
    limit = None if max_memory is None else parse_bytes(max_memory, "max_memory")
    request = CountRequest(engine, samples, rel_error, seed, budget_s, limit)

    if cache is not None:
        from anysize.counting.cache import CountCache

        folder, arguments = CountCache(cache), {"k": sizes, **asdict(request)}
        if budget_s is None:  # otherwise the memory limit may decide whether to sample
            del arguments["max_memory"]
        if first and (engine == "sample" or budget_s is not None):
            arguments["first"] = first
        if typed:
            arguments = {"k": sizes, "edges": attributes_digest(graphset).hex()}
        if (cached := folder.get(graphset, arguments)) is not None:
            return cached
    numbers = np.arange(first, first + len(graphset))
    failed: tuple[FailedGraph, ...] = ()
    make_plan = loaded("anysize.counting.planner").make_plan
    if executor is not None:
        limited = _memory_per_piece(request, executor, threads)
        plan = make_plan(graphset, sizes, limited, 1, executor.workers)
        counts, numbers, failed, _ = count_in_pieces(executor, plan, graphset, numbers, threads, progress)
    else:
        workers = Threads(available_cores() if threads is None else threads)
        plan = make_plan(graphset, sizes, request, workers.number)
        if errors == "skip":
            counts, numbers, failed, _ = count_surviving(plan, graphset, workers, progress, numbers)
        else:
            counts = execute_plan(plan, graphset, workers, progress, numbers)
    if cache is not None and not (failed and counts.sampling is not None):  # estimates depend on the numbers of graphs
        folder.put(graphset[numbers - first] if failed else graphset, arguments, counts)
    return without_failed(counts, failed, errors) if failed else counts


def _memory_per_piece(request: CountRequest, executor: Executor, threads: int | None) -> CountRequest:
    """Divide the memory of a machine by the number of pieces that it counts at the same time."""
    if request.max_memory is None:
        return request
    at_once = max(min(executor.max_cores, executor.workers) // (threads or 1), 1)
    return replace(request, max_memory=request.max_memory // at_once)
