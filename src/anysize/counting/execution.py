"""Counting on this machine: what to do (`CountRequest`, `decide`), and the table (`carry_out`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from anysize._errors import CountWarning, warn_user
from anysize.counting.columns import Columns, unite
from anysize.counting.counts import Counts
from anysize.counting.engines.table import CountTable, graph_title, merged
from anysize.counting.engines.threads import Tick
from anysize.counting.features import Features
from anysize.counting.memory import batches, fits, parse_memory, too_large
from anysize.counting.planner import EngineChoice, choose_engines
from anysize.counting.sampling.tables import SAMPLED_SIZES, SampleSize, count_sampled, within_budget
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import connected_patterns

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Part = tuple[Columns, NDArray[Any], NDArray[Any], NDArray[np.int64]]
Progress = Callable[[float], None] | None

LONG = 60.0  # seconds of expected work that deserve a warning


@dataclass(frozen=True)
class CountRequest:
    """How to count."""

    method: str
    samples: int | None
    rel_error: float | None
    seed: int
    budget_s: float | None
    max_memory: int | None = None  # bytes

    def __post_init__(self) -> None:
        if self.method != "sample" and (self.samples is not None or self.rel_error is not None):
            raise ValueError("samples and rel_error go with method='sample'; 'auto' counts exactly")
        if self.budget_s is not None and (self.method != "auto" or self.budget_s <= 0):
            raise ValueError(f"budget_s is a positive number of seconds for method='auto'; got {self.budget_s!r}")


def make_request(options: Mapping[str, Any]) -> CountRequest:
    """How to count, from arguments of `count`."""
    get = options.get
    limit = parse_memory(get("max_memory"))
    if get("method") == "sample":
        SampleSize(get("samples"), get("rel_error"))  # complains if there is something to complain about
    return CountRequest(get("method", "auto"), get("samples"), get("rel_error"), get("seed", 0), get("budget_s"), limit)


@dataclass(frozen=True)
class EnginePlan:
    """What will be done: an engine for every size and graph, or else samples, and why."""

    sizes: list[int]
    choices: Mapping[int, list[EngineChoice]]
    limit: SampleSize | None = None
    seed: int = 0
    why: str = ""
    max_memory: int | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """The engines, for people."""
        total = {size: sum(len(choice.rows) for choice in own) for size, own in self.choices.items()}
        return tuple(_line(size, choice, total[size]) for size, own in self.choices.items() for choice in own)


def make_plan(sets: GraphSet, sizes: list[int], wanted: CountRequest, workers: int) -> EnginePlan:
    """Exact engines, or samples where that is asked for or a budget says so; warns of work that will take long."""
    if wanted.method == "sample":
        return _sampling(sets, sizes, SampleSize(wanted.samples, wanted.rel_error), wanted, "asked for")
    seen = Features(sets)
    choices = {size: choose_engines(sets, size, wanted.method, workers, seen, wanted.max_memory) for size in sizes}
    expected = sum(choice.seconds for own in choices.values() for choice in own) / workers
    if wanted.budget_s is not None and expected > wanted.budget_s:
        why = f"exact counting would take about {expected:.3g} s, more than the budget of {wanted.budget_s:g} s"
        limit = within_budget(sizes[-1], wanted.budget_s, workers, len(sets))
        return _sampling(sets, sizes, limit, wanted, why)
    _warn_if_long(expected)
    return EnginePlan(sizes, choices, max_memory=wanted.max_memory)


def _sampling(sets: GraphSet, sizes: list[int], limit: SampleSize, wanted: CountRequest, why: str) -> EnginePlan:
    if len(sizes) > 1:
        raise ValueError(f"sampling takes one pattern size at a time; got k = {', '.join(map(str, sizes))}")
    if wanted.max_memory is not None and sizes[0] in SAMPLED_SIZES:
        seen = Features(sets)
        wrong = np.flatnonzero(~fits("sample", seen, sizes[0], wanted.max_memory))
        if len(wrong):
            raise too_large(["sample"], seen, sizes[0], wanted.max_memory, int(wrong[0]))
    return EnginePlan(sizes, {}, limit, wanted.seed, why)


def execute_plan(
    plan: EnginePlan, sets: GraphSet, threads: int, progress: Progress = None, numbers: NDArray[np.int64] | None = None
) -> Counts:
    """The table of a plan; numbers are those of the graphs in the set they come from, if they are a part of one."""
    if plan.limit is not None:
        meter = _Meter(progress, float(max(len(sets), 1)))
        with _announced("sample"):
            size, own = plan.sizes[0], np.arange(len(sets)) if numbers is None else numbers
            result = count_sampled(sets, size, plan.limit, plan.seed, threads, meter.part(1.0), plan.why, own)
        meter.finish()
        return result
    meter = _Meter(progress, sum(choice.seconds + 1e-6 for own in plan.choices.values() for choice in own))
    tables = []
    for size, choices in plan.choices.items():
        parts = [part for choice in choices for part in _within(choice, sets, size, threads, plan.max_memory)]
        results = [_run(part, sets, size, own, meter.part(part.seconds + 1e-6)) for part, own in parts]
        tables.append(_whole(results, [part for part, _ in parts], sets, size))
    table = tables[0] if len(tables) == 1 else _side_by_side(tables)
    meter.finish()
    return Counts(table.matrix, table.columns, sets.sizes, sets.y, sets.names, plan.lines)


def _within(
    choice: EngineChoice, sets: GraphSet, k: int, threads: int, limit: int | None
) -> list[tuple[EngineChoice, int]]:
    """Parts of a choice, and threads for each, that keep within a limit of memory."""
    if limit is None:
        return [(choice, threads)]
    part = sets if len(choice.rows) == len(sets) else sets[choice.rows]
    ranges, threads = batches(choice.engine.name, Features(part), k, threads, limit)
    return [
        (replace(choice, rows=choice.rows[start:stop], costs=choice.costs[start:stop]), threads)
        for start, stop in ranges
    ]


def _warn_if_long(seconds: float) -> None:
    if seconds > LONG:
        warn_user(
            f"Counting will take about {seconds / 60:.3g} minutes. A smaller k, colors=False or fewer graphs "
            "would be faster.",
            CountWarning,
        )


def _whole(results: list[CountTable], choices: list[EngineChoice], graphs: GraphSet, k: int) -> CountTable:
    """One table of all graphs; a plain one has the whole catalog as columns."""
    full = graphs.colors is not None or (len(results) == 1 and len(results[0].columns) == len(connected_patterns(k)))
    if len(results) == 1 and full:
        return results[0]  # the engine took all graphs: nothing to bring together
    parts: list[Part] = [] if graphs.colors is not None else [(Columns.plain(k), *_no_cells())]
    for table, choice in zip(results, choices, strict=True):
        coo = table.matrix.tocoo()
        parts.append((table.columns, choice.rows[coo.row], coo.col, coo.data))
    return merged(parts or [(_no_columns(graphs), *_no_cells())], len(graphs))


def _run(choice: EngineChoice, graphs: GraphSet, k: int, threads: int, tick: Tick) -> CountTable:
    """The table of one choice."""
    whole = len(choice.rows) == len(graphs)
    part = graphs if whole else graphs[choice.rows]
    if not whole and part.names is None:  # errors name graphs by their number in the whole set
        part = replace(part, names=tuple(str(row) for row in choice.rows))
    engine = import_module(f"anysize.counting.engines.{choice.engine.module}")
    with _announced(choice.engine.name):
        try:
            if choice.engine.colors:
                return cast(CountTable, engine.count_colored(part, k, threads, tick))
            return _plain_table(engine.count_plain(part, k, threads, tick), part, k)
        except OverflowError as error:
            raise OverflowError(f"{error}. Use a smaller k.") from None


def _plain_table(copies: NDArray[Any], graphs: GraphSet, k: int) -> CountTable:
    from scipy.sparse import csr_array

    if copies.dtype == object:
        largest = np.iinfo(np.int64).max
        for row, pattern in zip(*np.nonzero(copies > largest), strict=True):
            raise OverflowError(
                f"{graph_title(graphs, row)} has {copies[row, pattern]} induced copies of the pattern "
                f"{connected_patterns(k)[pattern].name!r}, more than a 64-bit integer holds"
            )
        copies = copies.astype(np.int64)
    return CountTable(Columns.plain(k), csr_array(copies))


def _side_by_side(tables: list[CountTable]) -> CountTable:
    """The columns of several sizes in one table."""
    from scipy.sparse import csr_array, hstack

    columns, _ = unite([table.columns for table in tables])
    matrix: csr_array[np.int64] = csr_array(hstack([table.matrix for table in tables], format="csr"))
    return CountTable(columns, matrix)  # sizes ascend, so the columns are in canonical order already


def _no_cells() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    empty = np.zeros(0, np.int64)
    return empty, empty, empty


def _no_columns(graphs: GraphSet) -> Columns:
    return Columns(np.zeros(0, np.uint8), np.zeros(0, np.int16), np.zeros((0, 7), np.uint16), graphs.palette)


def _line(k: int, choice: EngineChoice, total: int) -> str:
    amount = f"{len(choice.rows)} of {total} graphs"
    return f"k = {k}: {choice.engine.name} for {amount} ({choice.engine.idea}; {choice.reason})"


class _Meter:
    """Progress over several choices, weighted by their expected time."""

    def __init__(self, report: Callable[[float], None] | None, total: float) -> None:
        self._report, self._total, self._done = report, total, 0.0

    def part(self, weight: float) -> Tick:
        def tick(share: float) -> None:
            self._done += share * weight / self._total
            if self._report is not None:
                self._report(min(self._done, 1.0))

        return tick

    def finish(self) -> None:
        if self._report is not None:
            self._report(1.0)


def _announced(engine: str) -> Any:
    from anysize.counting.engines.jit import announced

    return announced(engine)
