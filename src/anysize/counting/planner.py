"""Plan a count: the cheapest engine for every graph, or samples."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from time import monotonic

import numpy as np

from anysize._errors import CountWarning, warn_user
from anysize._memory import available_memory, format_bytes
from anysize._progress import rough_duration
from anysize._typing import FloatArray, IntArray
from anysize.counting.engines.bitset import BITSET
from anysize.counting.engines.brute import BRUTE
from anysize.counting.engines.direct import DIRECT
from anysize.counting.engines.engine import Engine, MemoryNeed
from anysize.counting.engines.enumerate import ENUMERATE
from anysize.counting.engines.flip import FLIP
from anysize.counting.engines.flip_sparse import FLIP_SPARSE
from anysize.counting.engines.sparse import SPARSE
from anysize.counting.engines.typed import TYPED
from anysize.counting.execution import WARN_ABOVE_S, CountPlan, CountRequest, EngineChoice, graph_title
from anysize.counting.features import Features
from anysize.counting.sampling.estimates import SAMPLED_SIZES, SampleSize, memory
from anysize.graphs.graphset import GraphSet

ENGINES: dict[str, Engine] = {
    engine.name: engine for engine in (DIRECT, BITSET, SPARSE, FLIP, FLIP_SPARSE, ENUMERATE, TYPED, BRUTE)
}

PILOT_GRAPHS = 250  # whose plan is used for a large set of graphs with at most MAX_PILOT_VERTICES
MAX_PILOT_VERTICES = 512
ALWAYS_BITSET_VERTICES = 512  # up to here it is the fastest engine for plain graphs
SAMPLE_ABOVE_S = 0.5  # expected work above which connected sets are estimated from a sample,
MAX_COST_RATIO = 30  # unless enumeration costs more than this many times as much as the best engine
FILLS_MEMORY_S = 1.0  # expected work below which no count can fill the memory of a machine
SECOND_ENGINE_ABOVE_S = 0.05  # expected gain above which the graphs of a set get different engines


def make_plan(
    graphs: GraphSet, sizes: list[int], request: CountRequest, threads: int, workers: int | None = None
) -> CountPlan:
    """Choose exact engines, or samples if requested or over budget; warn if it will take long.

    Without a memory limit, the memory that this machine has available is the limit of counts that need more. Those of
    less than a second cannot fill it. ``threads`` count at the same time, here or in each of several workers.
    """
    began = monotonic()
    graphs.check()
    features, cores, budget = Features(graphs), threads * (workers or 1), request.budget_s
    if request.engine == "sample":
        return _plan_samples(features, sizes, SampleSize(request.samples, request.rel_error), request, "requested")
    choices = choose_engines(graphs, sizes[-1], request.engine, cores, features, request.max_memory)
    engine = choices[0].engine if len(choices) == 1 and request.max_memory is None else None
    if engine is not None and engine.counts_smaller and {*sizes} <= {*engine.sizes}:
        choices = [replace(choices[0], smaller=tuple(sizes[:-1]))]
    else:
        for k in sizes[-2::-1]:
            choices = choose_engines(graphs, k, request.engine, cores, features, request.max_memory) + choices
    seconds = sum(choice.seconds / _usable(choice.engine, cores, len(choice.rows)) for choice in choices)
    could_sample = sizes[-1] in SAMPLED_SIZES
    if budget is not None and seconds > budget and could_sample:
        expected = f"exact counting would take about {rough_duration(seconds)}"
        left = max(budget - (monotonic() - began), 0.0)
        size = SampleSize(seconds=left * (workers or 1) / len(graphs))
        return _plan_samples(features, sizes, size, request, f"{expected}, more than the budget of {budget:g} s")
    unlimited = request.max_memory is None and workers is None and seconds > FILLS_MEMORY_S
    free = available_memory() if unlimited else None
    if free is not None and max(_most_memory(choice, features, threads) for choice in choices) > free:
        return make_plan(graphs, sizes, replace(request, max_memory=free), threads)
    if seconds > WARN_ABOVE_S:
        k, colored = sizes[-1], graphs.colors is not None
        sampling = (
            "Sampling takes a minute and gives standard errors: "
            f"count(graphs, {k}, budget_s=60), or on the command line anysize count FILE --k {k} --budget 60. "
        )
        warn_user(
            f"Counting exactly will take about {rough_duration(seconds)}. {sampling * (request.engine != TYPED.name)}"
            f"Exact counts are faster with a smaller k{', without colors' * colored} or with fewer graphs.",
            CountWarning,
        )
    if not (could_sample and len(sizes) == 1 and workers is None):
        budget = None
    return CountPlan(sizes, tuple(choices), seed=request.seed, max_memory=request.max_memory, budget_s=budget)


def _most_memory(choice: EngineChoice, features: Features, threads: int) -> float:
    """The bytes that the largest graph of a choice needs."""
    need = choice.engine.memory(features, choice.k)
    amounts = need.work(_usable(choice.engine, threads, len(choice.rows))) + need.tables()
    return float(amounts[choice.rows].max(initial=0))


def _plan_samples(
    features: Features, sizes: list[int], sample_size: SampleSize, request: CountRequest, reason: str
) -> CountPlan:
    if len(sizes) > 1:
        raise ValueError(f"sampling takes one pattern size at a time; got k = {', '.join(map(str, sizes))}")
    k, limit = sizes[0], request.max_memory
    if limit is not None and k in SAMPLED_SIZES:
        _affordable(np.zeros((1, len(features.n))), {"sample": memory(features, k)}, features, k, limit)
    return CountPlan(sizes, (), sample_size, request.seed, reason)


def choose_engines(
    graphs: GraphSet,
    k: int,
    engine: str = "auto",
    threads: int = 1,
    features: Features | None = None,
    limit: int | None = None,
) -> list[EngineChoice]:
    """Engines for all graphs of a set and that many threads, without those that need more bytes than a limit."""
    features = Features(graphs) if features is None else features
    if engine != "auto":
        return _cheapest([_requested(engine, features, k)], features, k, threads, limit, "requested")
    plain, largest = graphs.colors is None, graphs.sizes.max(initial=0)
    small = plain and k in BITSET.sizes and largest <= ALWAYS_BITSET_VERTICES
    if small and (limit is None or BITSET.memory(features, k).within(limit).all()):
        why, costs = f"no graph has more than {ALWAYS_BITSET_VERTICES} vertices", BITSET.seconds(features, k)
        costs += BITSET.start / max(len(graphs), 1)
        return [EngineChoice(k, BITSET, np.arange(len(graphs)), costs, len(graphs), why)]
    engines = [e for e in ENGINES.values() if k in e.sizes and (e.colored or plain) and e not in (TYPED, BRUTE)]
    if plain and limit is None:  # engines for plain graphs only are faster, but may need more memory
        engines = [e for e in engines if not e.colored] or engines
    if ENUMERATE in engines and len(graphs) > 4 * PILOT_GRAPHS and largest <= MAX_PILOT_VERTICES and limit is None:
        rows = np.linspace(0, len(graphs) - 1, PILOT_GRAPHS).astype(np.int64)
        pilot = choose_engines(graphs[rows], k, threads=threads)
        if [choice.engine for choice in pilot] == [ENUMERATE]:  # it can count all graphs
            work = graphs.edge_counts + 1.0
            costs = work * (pilot[0].seconds / work[rows].sum())
            why = f"the best engine for {PILOT_GRAPHS} of them"
            return [EngineChoice(k, ENUMERATE, np.arange(len(graphs)), costs, len(graphs), why)]
    return _cheapest(engines, features, k, threads, limit)


def _requested(name: str, features: Features, k: int) -> Engine:
    """The engine of this name; a ValueError if it cannot count these graphs."""
    if name not in ENGINES:
        raise ValueError(f"engine must be 'auto', 'sample' or one of {', '.join(ENGINES)}; got {name!r}")
    engine = ENGINES[name]
    if k not in engine.sizes:
        sizes = ", ".join(str(size) for size in engine.sizes)
        raise ValueError(f"the engine {name!r} counts k = {sizes}; got k = {k}; use engine='auto'")
    if features.graphs.colors is not None and not engine.colored:
        raise ValueError(f"the engine {name!r} cannot count colored patterns; pass colors=False or use engine='auto'")
    impossible = np.flatnonzero(~engine.fits(features, k))
    if len(impossible):
        row = impossible[0]
        raise ValueError(
            f"the engine {name!r} cannot count graph {row} ({int(features.n[row])} vertices, "
            f"{int(features.colors[row])} colors); use engine='auto'"
        )
    return engine


def _cheapest(
    engines: list[Engine], features: Features, k: int, threads: int, limit: int | None, why: str = ""
) -> list[EngineChoice]:
    """The cheapest engine for all graphs together, or for each graph if that is much cheaper."""
    costs, best = _compare(engines, features, k, threads, limit)
    total = float(costs[best, np.arange(len(best))].sum())
    enumeration = costs[engines.index(ENUMERATE)].sum() if ENUMERATE in engines else np.inf
    if total > SAMPLE_ABOVE_S and enumeration < MAX_COST_RATIO * total:
        features.estimate_sets(k)
        costs, best = _compare(engines, features, k, threads, limit)
    choices = []
    for number, engine in enumerate(engines):
        rows = np.flatnonzero(best == number)
        if len(rows):
            sums = zip(engines, costs[:, rows].sum(axis=1).tolist(), strict=True)
            others = tuple((other.name, total) for other, total in sums if other is not engine and isfinite(total))
            choices.append(EngineChoice(k, engine, rows, costs[number, rows], len(best), why, others))
    return choices


def _compare(
    engines: list[Engine], features: Features, k: int, threads: int, limit: int | None
) -> tuple[FloatArray, IntArray]:
    """The costs (engines, graphs), and the number of the engine chosen for each graph."""
    n_graphs = len(features.n)
    costs, usable = np.empty((len(engines), n_graphs)), np.empty((len(engines), 1))
    for number, engine in enumerate(engines):
        fits, seconds = engine.fits(features, k), engine.seconds(features, k)
        costs[number] = np.where(fits, seconds + engine.start / max(n_graphs, 1), np.inf)
        usable[number] = _usable(engine, threads, n_graphs)
    if limit is not None:
        costs = _affordable(costs, {engine.name: engine.memory(features, k) for engine in engines}, features, k, limit)
    times = costs / usable
    best, totals = times.argmin(axis=0), times.sum(axis=1)
    if n_graphs and totals.min() < 2 * times.min(axis=0).sum() + SECOND_ENGINE_ABOVE_S / threads:
        best[:] = totals.argmin()
    return costs, best


def _usable(engine: Engine, threads: int, n_graphs: int) -> int:
    """The number of threads that an engine keeps busy."""
    return threads if engine.splits_graphs else max(min(threads, n_graphs), 1)


def _affordable(costs: FloatArray, needs: dict[str, MemoryNeed], features: Features, k: int, limit: int) -> FloatArray:
    """The costs (engines, graphs), infinite where an engine needs more bytes; a ValueError if all do for a graph."""
    affordable = np.where([need.within(limit) for need in needs.values()], costs, np.inf)
    impossible = np.flatnonzero(~np.isfinite(affordable).any(axis=0))
    if len(impossible):
        row = int(impossible[0])
        possible = zip(np.isfinite(costs[:, row]), needs.items(), strict=True)
        amounts = {name: float((need.work(1) + need.table)[row]) for fits, (name, need) in possible if fits}
        smallest = min(amounts, key=lambda name: amounts[name])
        raise ValueError(
            f"{graph_title(features.graphs, row, row)} ({int(features.n[row])} vertices, {int(features.edges[row])} "
            f"edges) cannot be counted at k = {k} within {format_bytes(limit)}: the engine {smallest!r} needs least, "
            f"about {format_bytes(amounts[smallest])}; raise max_memory if there is more, or use a smaller k "
            "or colors=False"
        )
    return affordable
