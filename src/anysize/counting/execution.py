"""Carry out a plan on this machine: exact counts by engines, or estimates from samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from threading import TIMEOUT_MAX, Event, Timer
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.sparse import csr_array, hstack

from anysize._log import log
from anysize._memory import parse_bytes
from anysize._progress import Progress, rough_duration, shares_of
from anysize._typing import FloatArray, IntArray
from anysize.counting.columns import Cells, CountOverflow, CountTable, merged, unite
from anysize.counting.counts import Counts
from anysize.counting.engines.engine import Engine
from anysize.counting.engines.threads import Threads, loaded
from anysize.counting.features import Features
from anysize.counting.sampling.estimates import SampleSize
from anysize.graphs.graphset import GraphSet

BUDGET_AFTER_DEADLINE = 0.2  # share of a time budget for estimates, if exact counting took longer than expected
WARN_ABOVE_S = 60.0  # seconds of expected work
SHORT_S = 0.1  # expected work that does not need a background thread, once the engine has counted
MIN_S_PER_THREAD = 1e-3  # expected work that is worth starting one more thread
_warm: set[str] = set()  # engines that have counted, whose kernels are loaded


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
    given = {field.name: options[field.name] for field in fields(CountRequest) if field.name in options}
    if given.get("max_memory") is not None:
        given["max_memory"] = parse_bytes(given["max_memory"], "max_memory")
    request = CountRequest(**given)
    if request.engine == "sample":
        SampleSize(request.samples, request.rel_error)  # raises an error for wrong values
    return request


class EngineUse(NamedTuple):
    """Which engine counts how many graphs of a set, and why; as text a line of `Counts.explain`."""

    k: int
    engine: str
    idea: str
    amount: int
    total: int
    why: str
    seconds: tuple[tuple[str, float], ...]  # expected on one core, with this engine and then with others

    def __str__(self) -> str:
        (_, seconds), *others = self.seconds
        time = f"estimated {short_duration(seconds)} on one core"
        reasons = [self.idea, *[self.why] * bool(self.why), *[time] * bool(seconds)]
        if others:
            slower = sorted(others, key=lambda other: other[1])
            reasons.append(", ".join(f"{name} {short_duration(value)}" for name, value in slower))
        return f"k = {self.k}: {self.engine} for {self.amount} of {self.total} graphs ({'; '.join(reasons)})"


def short_duration(seconds: float) -> str:
    """An expected time with three digits.

    >>> short_duration(0.0123), short_duration(90)
    ('12.3 ms', '1.5 minutes')
    """
    if seconds >= 60:
        return rough_duration(seconds)
    unit, scale = next((unit for unit in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)) if seconds >= unit[1]), ("ns", 1e-9))
    return f"{seconds / scale:.3g} {unit}"


@dataclass(frozen=True, eq=False)
class EngineChoice:
    """The graphs of a set that an engine counts, for one pattern size."""

    k: int
    engine: Engine
    rows: IntArray  # ascending
    costs: FloatArray  # expected seconds per graph on one core
    total: int  # graphs of the set
    why: str = ""
    others: tuple[tuple[str, float], ...] = ()  # expected seconds with other engines
    smaller: tuple[int, ...] = ()  # sizes whose patterns the engine counts on the way

    @cached_property
    def seconds(self) -> float:
        """Expected time for all of them on one core."""
        return float(self.costs.sum())

    @property
    def uses(self) -> Iterator[EngineUse]:
        """The choice in words, size by size, for `Counts.log`."""
        name, idea, on_the_way = self.engine.name, self.engine.idea, f"on the way to k = {self.k}"
        for k in self.smaller:
            yield EngineUse(k, name, idea, len(self.rows), self.total, on_the_way, ((name, 0.0),))
        seconds = ((name, self.seconds), *self.others)
        yield EngineUse(self.k, name, idea, len(self.rows), self.total, self.why, seconds)

    def among(self, rows: IntArray) -> EngineChoice:
        """The choice for the graphs with these rows of the set, ascending, as a set of their own."""
        here = np.flatnonzero(np.isin(rows, self.rows))
        return replace(self, rows=here, costs=self.costs[np.searchsorted(self.rows, rows[here])])


@dataclass(frozen=True, eq=False)
class CountPlan:
    """What will be done: an engine for every size and graph, or samples for the reason given."""

    sizes: list[int]
    choices: tuple[EngineChoice, ...]
    sample_size: SampleSize | None = None
    seed: int = 0
    reason: str = ""
    max_memory: int | None = None
    budget_s: float | None = None  # for exact counts; after it, estimates are made instead


def graph_title(graphs: GraphSet, row: int, number: int) -> str:
    """A graph in messages: by its name, or by its number in the set that these graphs are a part of."""
    return f"graph {number}" if graphs.names is None else f"graph {graphs.names[row]!r}"


def execute_plan(
    plan: CountPlan,
    graphs: GraphSet,
    threads: Threads,
    progress: Progress | None = None,
    numbers: IntArray | None = None,
) -> Counts:
    """The table of a plan; ``numbers`` are those of the graphs in the set that they are a part of.

    Stopping the threads ends the count with a KeyboardInterrupt.
    """
    numbers = np.arange(len(graphs)) if numbers is None else numbers
    if plan.budget_s is not None:
        return _execute_within(plan.budget_s, plan, graphs, threads, progress, numbers)
    if plan.sample_size is not None:
        log.debug("counting, k = %d: samples (%s)", plan.sizes[0], plan.reason)
        counts = _sample(plan, plan.sample_size, graphs, threads, progress, numbers)
    else:
        uses: list[EngineUse] = []
        on_the_way: set[int] = set()
        seconds, tables = 0.0, []
        for choice in plan.choices:
            uses += choice.uses
            on_the_way.update(choice.smaller)
            seconds += choice.seconds + 1e-6
        for use in uses:
            log.debug("counting, %s", use)
        report = shares_of(progress, seconds)
        for k in plan.sizes:
            parts: list[tuple[IntArray, CountTable]] = []
            for choice in plan.choices:
                if choice.k == k:
                    parts += _run(choice, graphs, numbers, threads, plan.max_memory, report)
            if k not in on_the_way:
                tables.append(parts[0][1] if len(parts) == 1 else _join(parts, graphs, k))
        columns, matrix = tables[0]
        if len(tables) > 1:  # sizes ascend, so the columns of tables side by side are in canonical order
            columns = unite([table.columns for table in tables])[0]
            matrix = csr_array(hstack([table.matrix for table in tables], "csr"))
        counts = Counts(matrix, columns, graphs.sizes, graphs.y, graphs.names, tuple(uses))
    if progress is not None:
        progress(1.0)
    return counts


def _run(
    choice: EngineChoice, graphs: GraphSet, numbers: IntArray, threads: Threads, limit: int | None,
    report: Callable[..., None],
) -> list[tuple[IntArray, CountTable]]:  # fmt: skip
    """Rows and tables: of all graphs of a choice, or of batches that stay within a memory limit."""
    engine, k, rows = choice.engine, choice.k, choice.rows
    part = graphs if len(rows) == len(graphs) else graphs[rows]
    batches, number = [(0, len(part))], threads.number
    if limit is not None:
        batches, number = engine.memory(Features(part), k).batches(number, limit)
    number = min(number, 1 + int(choice.seconds / MIN_S_PER_THREAD))
    weight = (choice.seconds + 1e-6) / max(len(batches), 1)
    tables = []
    for start, stop in batches:
        batch = part if len(batches) == 1 else part[start:stop]
        work = partial(engine.count, batch, k, replace(threads, number=number), partial(report, weight))
        work = partial(work, choice.smaller) if choice.smaller else work
        try:
            if choice.seconds < SHORT_S and engine.name in _warm:
                table = work()
            else:
                table = threads.interruptible(work)
                _warm.add(engine.name)
        except CountOverflow as error:
            row = rows[start + error.row]
            raise OverflowError(f"{graph_title(graphs, row, numbers[row])} {error}. Use a smaller k.") from None
        tables.append((rows[start:stop], table))
    return tables


def _join(parts: list[tuple[IntArray, CountTable]], graphs: GraphSet, k: int) -> CountTable:
    """One table of all graphs from tables of some of them."""
    cells: list[Cells] = []
    for rows, (columns, matrix) in parts:
        coo = matrix.tocoo()
        cells.append((columns, rows[coo.row], coo.col, coo.data))
    return merged(cells, graphs, k)


def _sample(
    plan: CountPlan,
    size: SampleSize,
    graphs: GraphSet,
    threads: Threads,
    progress: Progress | None,
    numbers: IntArray,
) -> Counts:
    """A table of estimates."""
    sampler = loaded("anysize.counting.sampling.sampler")
    report = shares_of(progress, float(max(len(graphs), 1)))
    arguments = graphs, plan.sizes[0], size, plan.seed, threads, report, plan.reason, numbers
    return cast(Counts, threads.interruptible(partial(sampler.count_sampled, *arguments)))


def _execute_within(
    budget: float, plan: CountPlan, graphs: GraphSet, threads: Threads, progress: Progress | None, numbers: IntArray
) -> Counts:
    """Exact counts; if they take longer than expected, and than the budget, they are stopped and estimates made."""
    exact, late, done = Threads(threads.number), Event(), 0.0

    def rise(share: float) -> None:
        nonlocal done
        done = max(done, share)
        if progress is not None:
            progress(done)

    def stop() -> None:
        late.set()
        exact.stop()

    timer = Timer(min(budget, TIMEOUT_MAX), stop)
    timer.daemon = True
    timer.start()
    try:
        return execute_plan(replace(plan, budget_s=None), graphs, exact, rise, numbers)
    except KeyboardInterrupt:
        if not late.is_set():
            raise
    finally:
        timer.cancel()
    size = SampleSize(seconds=BUDGET_AFTER_DEADLINE * budget / len(graphs))
    reason = f"exact counting took longer than expected, and than the budget of {budget:g} s"
    return execute_plan(CountPlan(plan.sizes, (), size, plan.seed, reason), graphs, threads, rise, numbers)
