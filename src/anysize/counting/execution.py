"""Count on this machine: what to do (`CountRequest`, `make_plan`) and the table of a plan (`execute_plan`)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from threading import TIMEOUT_MAX, Event, Timer
from time import monotonic
from types import ModuleType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from anysize._errors import CountWarning, warn_user
from anysize._log import log
from anysize._memory import parse_bytes
from anysize._progress import Progress, rough_duration, shares_of
from anysize._typing import IntArray
from anysize.counting.columns import Columns, unite
from anysize.counting.counts import Counts
from anysize.counting.engines.engine import EngineChoice
from anysize.counting.engines.table import CountTable, merged
from anysize.counting.engines.threads import Halt, Threads, Tick, interruptible
from anysize.counting.features import Features
from anysize.counting.memory import too_large
from anysize.counting.sampling.estimates import SAMPLED_SIZES, SampleSize, memory
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import connected_patterns

WARN_ABOVE_S = 60.0  # seconds of expected work
_warm: set[str] = set()  # engines that have counted, whose kernels are loaded
BUDGET_AFTER_DEADLINE = 0.2  # share of a time budget for estimates, if exact counting took longer than expected
SHORT_S = 0.1  # expected work that does not need a background thread, once the engine has counted


@dataclass(frozen=True)
class CountRequest:
    """The arguments of `count` that say how to count."""

    engine: str = "auto"
    samples: int | None = None
    rel_error: float | None = None
    seed: int = 0
    budget_s: float | None = None
    max_memory: int | None = None  # bytes

    def __post_init__(self) -> None:
        if self.engine != "sample" and (self.samples is not None or self.rel_error is not None):
            raise ValueError(f"samples and rel_error need engine='sample'; got engine={self.engine!r}")
        if self.budget_s is not None and (self.engine != "auto" or self.budget_s <= 0):
            raise ValueError(
                f"budget_s must be a positive number of seconds and needs engine='auto'; got {self.budget_s!r}"
            )


def make_request(options: Mapping[str, Any]) -> CountRequest:
    """The request of keyword arguments of `count`."""
    names = ("engine", "samples", "rel_error", "seed", "budget_s")
    given = {name: options[name] for name in names if name in options}
    request = CountRequest(**given, max_memory=parse_bytes(options.get("max_memory"), "max_memory"))
    if request.engine == "sample":
        SampleSize(request.samples, request.rel_error)  # raises an error for wrong values
    return request


@dataclass(frozen=True)
class EnginePlan:
    """What will be done: an engine for every size and graph, or samples, and the reason."""

    sizes: list[int]
    choices: Mapping[int, list[EngineChoice]]
    sample_size: SampleSize | None = None
    seed: int = 0
    reason: str = ""
    max_memory: int | None = None
    budget_s: float | None = None  # for exact counts; after it, estimates are made instead

    @property
    def lines(self) -> tuple[str, ...]:
        """The engines as text, for `Counts.explain`."""
        lines = []
        for k, choices in self.choices.items():
            total = sum(len(choice.rows) for choice in choices)
            for choice in choices:
                engine, amount = choice.engine, f"{len(choice.rows)} of {total} graphs"
                lines.append(f"k = {k}: {engine.name} for {amount} ({engine.idea}; {choice.reason})")
        return tuple(lines)


def make_plan(
    graphs: GraphSet, sizes: list[int], request: CountRequest, threads: int, workers: int | None = None
) -> EnginePlan:
    """Choose exact engines, or samples if requested or over budget; warn if it will take long.

    ``threads`` count at the same time, in this process or in each of several workers.
    """
    began = monotonic()
    graphs.check()
    if request.engine == "sample":
        return _sampling_plan(graphs, sizes, SampleSize(request.samples, request.rel_error), request, "requested")
    features, cores = Features(graphs), threads * (workers or 1)
    choose = _planner().choose_engines
    choices = {size: choose(graphs, size, request.engine, cores, features, request.max_memory) for size in sizes}
    seconds = sum(choice.seconds for per_size in choices.values() for choice in per_size) / cores
    could_sample = sizes[-1] in SAMPLED_SIZES
    if request.budget_s is not None and seconds > request.budget_s and could_sample:
        expected = f"exact counting would take about {rough_duration(seconds)}"
        reason = f"{expected}, more than the budget of {request.budget_s:g} s"
        left = max(request.budget_s - (monotonic() - began), 0.0)
        size = SampleSize(seconds=left * (workers or 1) / len(graphs))
        return _sampling_plan(graphs, sizes, size, request, reason)
    if seconds > WARN_ABOVE_S:
        k, colored = sizes[-1], graphs.colors is not None
        warn_user(
            f"Counting exactly will take about {rough_duration(seconds)}. Sampling takes a minute and gives standard "
            f"errors: count(graphs, {k}, budget_s=60), or on the command line anysize count FILE --k {k} --budget 60. "
            f"Exact counts are faster with a smaller k{', without colors' * colored} or with fewer graphs.",
            CountWarning,
        )
    budget = request.budget_s if could_sample and len(sizes) == 1 and workers is None else None
    return EnginePlan(sizes, choices, seed=request.seed, max_memory=request.max_memory, budget_s=budget)


def _planner() -> ModuleType:
    """The planner. It imports the engines, and so numba, which Ctrl-C must not end halfway."""
    name = "anysize.counting.planner"
    if name not in sys.modules:
        interruptible(lambda: import_module(name), Halt())
    return sys.modules[name]


def _sampling_plan(
    graphs: GraphSet, sizes: list[int], sample_size: SampleSize, request: CountRequest, reason: str
) -> EnginePlan:
    if len(sizes) > 1:
        raise ValueError(f"sampling takes one pattern size at a time; got k = {', '.join(map(str, sizes))}")
    k, limit = sizes[0], request.max_memory
    if limit is not None and k in SAMPLED_SIZES:
        features = Features(graphs)
        need = memory(features, k)
        large = np.flatnonzero(~need.within(limit))
        if len(large):
            raise too_large({"sample": need}, features, k, limit, int(large[0]))
    return EnginePlan(sizes, {}, sample_size, request.seed, reason)


def execute_plan(
    plan: EnginePlan,
    graphs: GraphSet,
    threads: int,
    progress: Progress | None = None,
    numbers: IntArray | None = None,
    halt: Halt | None = None,
) -> Counts:
    """The table of a plan; ``numbers`` are those of the graphs in the set that they are a part of.

    Setting the flag ``halt`` stops the count with a KeyboardInterrupt.
    """
    if plan.budget_s is not None:
        return _execute_within(plan.budget_s, plan, graphs, threads, progress, numbers)
    halt = Halt() if halt is None else halt
    if plan.sample_size is not None:
        log.debug("counting, k = %d: samples (%s)", plan.sizes[0], plan.reason)
        counts = _execute_sampling(plan, graphs, Threads(threads, halt), progress, numbers)
    else:
        lines = plan.lines
        for line in lines:
            log.debug("counting, %s", line)
        report = shares_of(progress, sum(c.seconds + 1e-6 for choices in plan.choices.values() for c in choices))
        tables = []
        for k, choices in plan.choices.items():
            parts = [part for choice in choices for part in _split(choice, graphs, k, threads, plan.max_memory)]
            results = [_run(part, graphs, k, Threads(n_threads, halt), report) for part, n_threads in parts]
            tables.append(_join_graphs(results, [part for part, _ in parts], graphs, k))
        columns = tables[0].columns if len(tables) == 1 else unite([table.columns for table in tables])[0]
        # Sizes ascend, so the columns of tables side by side are in canonical order.
        matrix: Any = tables[0].matrix if len(tables) == 1 else csr_array(hstack([t.matrix for t in tables], "csr"))
        counts = Counts(matrix, columns, graphs.sizes, graphs.y, graphs.names, lines)
    if progress is not None:
        progress(1.0)
    return counts


def _execute_within(
    budget: float, plan: EnginePlan, graphs: GraphSet, threads: int, progress: Progress | None, numbers: IntArray | None
) -> Counts:
    """Exact counts; if they take longer than expected, and than the budget, they are stopped and estimates made."""
    halt, late, done = Halt(), Event(), 0.0

    def rise(share: float) -> None:
        nonlocal done
        done = max(done, share)
        if progress is not None:
            progress(done)

    def stop() -> None:
        late.set()
        halt.set()

    timer = Timer(min(budget, TIMEOUT_MAX), stop)
    timer.daemon = True
    timer.start()
    try:
        return execute_plan(replace(plan, budget_s=None), graphs, threads, rise, numbers, halt)
    except KeyboardInterrupt:
        if not late.is_set():
            raise
    finally:
        timer.cancel()
    size = SampleSize(seconds=BUDGET_AFTER_DEADLINE * budget / len(graphs))
    reason = f"exact counting took longer than expected, and than the budget of {budget:g} s"
    estimates = EnginePlan(plan.sizes, {}, size, plan.seed, reason)
    return execute_plan(estimates, graphs, threads, rise, numbers)


def _execute_sampling(
    plan: EnginePlan, graphs: GraphSet, threads: Threads, progress: Progress | None, numbers: IntArray | None
) -> Counts:
    numbers = np.arange(len(graphs)) if numbers is None else numbers
    report = shares_of(progress, float(max(len(graphs), 1)))
    assert plan.sample_size is not None
    k, sample_size = plan.sizes[0], plan.sample_size

    def sample() -> Counts:
        from anysize.counting.engines.jit import announced
        from anysize.counting.sampling.sampler import count_sampled

        with announced("sample"):
            return count_sampled(graphs, k, sample_size, plan.seed, threads, report, plan.reason, numbers)

    return cast(Counts, interruptible(sample, threads.halt))


def _split(
    choice: EngineChoice, graphs: GraphSet, k: int, threads: int, limit: int | None
) -> list[tuple[EngineChoice, int]]:
    """Split a choice into batches within a memory limit; returns (batch, number of threads) pairs."""
    if limit is None:
        return [(choice, threads)]
    part = graphs if len(choice.rows) == len(graphs) else graphs[choice.rows]
    ranges, threads = choice.engine.memory(Features(part), k).batches(threads, limit)
    return [
        (replace(choice, rows=choice.rows[start:stop], costs=choice.costs[start:stop]), threads)
        for start, stop in ranges
    ]


def _run(choice: EngineChoice, graphs: GraphSet, k: int, threads: Threads, report: Tick) -> CountTable:
    """The table of one choice."""
    part = graphs
    if len(choice.rows) < len(graphs):
        part = graphs[choice.rows]
        if part.names is None:  # errors name graphs by their number in the whole set
            part = replace(part, names=tuple(str(row) for row in choice.rows))
    weight = choice.seconds + 1e-6

    def count() -> CountTable:
        from anysize.counting.engines.jit import announced

        with announced(choice.engine.name):
            try:
                return choice.engine.count(part, k, threads, lambda share: report(share * weight))
            except OverflowError as error:
                raise OverflowError(f"{error}. Use a smaller k.") from None

    if choice.seconds < SHORT_S and choice.engine.name in _warm:
        return count()
    table = cast(CountTable, interruptible(count, threads.halt))
    _warm.add(choice.engine.name)
    return table


def _join_graphs(results: list[CountTable], choices: list[EngineChoice], graphs: GraphSet, k: int) -> CountTable:
    """One table of all graphs; a plain one has the whole catalog as columns."""
    plain = graphs.colors is None
    if len(results) == 1 and (not plain or len(results[0].columns) == len(connected_patterns(k))):
        return results[0]
    no_cells = (np.zeros(0, np.int64),) * 3
    parts: list[tuple[Columns, NDArray[Any], NDArray[Any], IntArray]] = []
    if plain:
        parts.append((Columns.plain(k), *no_cells))
    for table, choice in zip(results, choices, strict=True):
        coo = table.matrix.tocoo()
        parts.append((table.columns, choice.rows[coo.row], coo.col, coo.data))
    if not parts:
        parts.append((Columns.no_patterns(graphs.palette), *no_cells))
    return merged(parts, len(graphs))
