"""Exact counts of connected induced patterns: `count`, and the engines behind it (`plan.ENGINES`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from anysize.counting.columns import Columns, unite
from anysize.counting.counts import Counts
from anysize.counting.parallel import Tick, available_threads
from anysize.counting.plan import Choice, choose
from anysize.counting.sampled import SampleSize, count_sampled, within_budget
from anysize.counting.table import Table, graph_title, merged
from anysize.errors import CountWarning, warn_user
from anysize.graphs import GraphSet
from anysize.patterns import catalogue, check_size
from anysize.readers import as_graphset

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Part = tuple[Columns, NDArray[Any], NDArray[Any], NDArray[np.int64]]

LONG = 60.0  # seconds of expected work that deserve a warning


def count(
    graphs: Any,
    k: int | Iterable[int],
    colours: bool = True,
    method: str = "auto",
    *,
    samples: int | None = None,
    rel_error: float | None = None,
    seed: int = 0,
    budget_s: float | None = None,
    store: str | os.PathLike[str] | None = None,
    colour: str | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Counts:
    """Count the connected induced k-vertex patterns of graphs: exactly, or estimated where that is asked for.

    Args:
        graphs: a `GraphSet`, or one graph or a list of networkx, PyG, igraph or scipy graphs, or a path.
        k: pattern size 1..7, or several of them.
        colours: tell vertices apart by colour; with False, or for graphs without colours, plain patterns.
        method: "auto" takes the cheapest exact engine for each graph; or the name of one (`plan.ENGINES`); or
            "sample", which estimates without bias and gives standard errors.
        samples: with "sample", how many samples to draw for each graph.
        rel_error: with "sample", the relative standard error wanted for every pattern that makes up at least a
            thousandth of the connected sets; a pilot fixes the number of samples, fresh ones make the estimate.
        seed: of the samples. The same seed gives the same estimate for any number of threads.
        budget_s: with "auto", sample if exact counting is expected to take longer than so many seconds; without
            it nothing is ever sampled unasked.
        store: a folder that keeps results: what was counted before, with the same arguments, is read from it.
        colour: for networkx, PyG and igraph graphs, the vertex attribute that holds the colour.
        threads: how many to use; all cores if None. The result does not depend on it.
        progress: called with the share of the work done so far, from 0 to 1.

    Returns:
        A table of graphs by patterns; plain tables have the whole catalogue as columns, coloured ones the
        patterns that occur. A graph with fewer than k vertices has a zero row.

    Examples:
        >>> house = GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
        >>> count(house, 4).to_pandas().iloc[0].to_dict()
        {'claw': 0, '4-path': 2, 'paw': 2, '4-cycle': 1, 'diamond': 0, '4-clique': 0}
    """
    sets = as_graphset(graphs, colour=colour)
    if not colours:
        sets = sets.without_colours()
    sizes = _sizes(k)
    workers = available_threads() if threads is None else _positive(threads)
    wanted = _Wanted(method, samples, rel_error, seed, budget_s)

    def compute() -> Counts:
        return _count(sets, sizes, wanted, workers, progress)

    if store is None:
        return compute()
    from anysize.counting.store import Store

    return Store(store).get_or_count(sets, {"k": sizes, **asdict(wanted)}, compute)


@dataclass(frozen=True)
class _Wanted:
    """How to count."""

    method: str
    samples: int | None
    rel_error: float | None
    seed: int
    budget_s: float | None

    def __post_init__(self) -> None:
        if self.method != "sample" and (self.samples is not None or self.rel_error is not None):
            raise ValueError("samples and rel_error go with method='sample'; 'auto' counts exactly")
        if self.budget_s is not None and (self.method != "auto" or self.budget_s <= 0):
            raise ValueError(f"budget_s is a positive number of seconds for method='auto'; got {self.budget_s!r}")


def _count(
    sets: GraphSet, sizes: list[int], wanted: _Wanted, workers: int, progress: Callable[[float], None] | None
) -> Counts:
    if wanted.method == "sample":
        limit = SampleSize(wanted.samples, wanted.rel_error)
        return _sample(sets, sizes, limit, wanted.seed, workers, progress, "asked for")
    plans = [(size, choice) for size in sizes for choice in choose(sets, size, wanted.method, workers)]
    expected = sum(choice.seconds for _, choice in plans) / workers
    if wanted.budget_s is not None and expected > wanted.budget_s:
        why = f"exact counting would take about {expected:.3g} s, more than the budget of {wanted.budget_s:g} s"
        limit = within_budget(sizes[-1], wanted.budget_s, workers, len(sets))
        return _sample(sets, sizes, limit, wanted.seed, workers, progress, why)
    _warn_if_long(expected)
    meter = _Meter(progress, sum(choice.seconds + 1e-6 for _, choice in plans))
    tables, log = [], []
    for size in sizes:
        own = [choice for planned, choice in plans if planned == size]
        log += [_line(size, choice, len(sets)) for choice in own]
        results = [_run(choice, sets, size, workers, meter.part(choice.seconds + 1e-6)) for choice in own]
        tables.append(_whole(results, own, sets, size))
    table = tables[0] if len(tables) == 1 else _side_by_side(tables)
    meter.finish()
    return Counts(table.matrix, table.columns, sets.sizes, sets.y, sets.names, tuple(log))


def _sample(
    sets: GraphSet,
    sizes: list[int],
    limit: SampleSize,
    seed: int,
    workers: int,
    progress: Callable[[float], None] | None,
    why: str,
) -> Counts:
    if len(sizes) > 1:
        raise ValueError(f"sampling takes one pattern size at a time; got k = {', '.join(map(str, sizes))}")
    meter = _Meter(progress, float(max(len(sets), 1)))
    with _announced("sample"):
        result = count_sampled(sets, sizes[0], limit, seed, workers, meter.part(1.0), why)
    meter.finish()
    return result


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


def _positive(threads: int) -> int:
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or threads < 1:
        raise ValueError(f"threads must be a whole number of at least 1, or None for all cores; got {threads!r}")
    return int(threads)


def _warn_if_long(seconds: float) -> None:
    if seconds > LONG:
        warn_user(
            f"Counting will take about {seconds / 60:.3g} minutes. A smaller k, colours=False or fewer graphs "
            "would be faster.",
            CountWarning,
        )


def _whole(results: list[Table], choices: list[Choice], graphs: GraphSet, k: int) -> Table:
    """One table of all graphs; a plain one has the whole catalogue as columns."""
    full = graphs.colours is not None or (len(results) == 1 and len(results[0].columns) == len(catalogue(k)))
    if len(results) == 1 and full:
        return results[0]  # the engine took all graphs: nothing to bring together
    parts: list[Part] = [] if graphs.colours is not None else [(Columns.plain(k), *_no_cells())]
    for table, choice in zip(results, choices, strict=True):
        coo = table.matrix.tocoo()
        parts.append((table.columns, choice.rows[coo.row], coo.col, coo.data))
    return merged(parts or [(_no_columns(graphs), *_no_cells())], len(graphs))


def _run(choice: Choice, graphs: GraphSet, k: int, threads: int, tick: Tick) -> Table:
    """The table of one choice."""
    whole = len(choice.rows) == len(graphs)
    part = graphs if whole else graphs[choice.rows]
    if not whole and part.names is None:  # errors name graphs by their number in the whole set
        part = replace(part, names=tuple(str(row) for row in choice.rows))
    engine = import_module(f"anysize.counting.{choice.engine.module}")
    with _announced(choice.engine.name):
        try:
            if choice.engine.colours:
                return cast(Table, engine.count_coloured(part, k, threads, tick))
            return _plain_table(engine.count_plain(part, k, threads, tick), part, k)
        except OverflowError as error:
            raise OverflowError(f"{error}. Use a smaller k.") from None


def _plain_table(copies: NDArray[Any], graphs: GraphSet, k: int) -> Table:
    from scipy.sparse import csr_array

    if copies.dtype == object:
        largest = np.iinfo(np.int64).max
        for row, pattern in zip(*np.nonzero(copies > largest), strict=True):
            raise OverflowError(
                f"{graph_title(graphs, row)} has {copies[row, pattern]} induced copies of the pattern "
                f"{catalogue(k)[pattern].name!r}, more than a 64-bit integer holds"
            )
        copies = copies.astype(np.int64)
    return Table(Columns.plain(k), csr_array(copies))


def _side_by_side(tables: list[Table]) -> Table:
    """The columns of several sizes in one table."""
    from scipy.sparse import csr_array, hstack

    columns, _ = unite([table.columns for table in tables])
    matrix: csr_array[np.int64] = csr_array(hstack([table.matrix for table in tables], format="csr"))
    return Table(columns, matrix)  # sizes ascend, so the columns are in canonical order already


def _no_cells() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    empty = np.zeros(0, np.int64)
    return empty, empty, empty


def _no_columns(graphs: GraphSet) -> Columns:
    return Columns(np.zeros(0, np.uint8), np.zeros(0, np.int16), np.zeros((0, 7), np.uint16), graphs.palette)


def _line(k: int, choice: Choice, total: int) -> str:
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
    from anysize.counting.compiling import announced

    return announced(engine)


__all__ = ["Counts", "count"]
