"""Count in pieces on an executor (`anysize.executors`), and keep the results of all graphs that did not fail.

A piece is some graphs of a set, with their numbers in the set and the engines chosen for the whole set. Its rows are
therefore identical to those of one count of the whole set, for exact and for sampled counts.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anysize import __version__
from anysize._errors import CountWarning, PartialResultError, warn_user
from anysize._progress import Progress, shares_of
from anysize._typing import FloatArray, IntArray
from anysize.counting.counts import Counts
from anysize.counting.engines.threads import Threads, available_cores, cut_by_weight, loaded
from anysize.counting.execution import CountPlan, CountRequest, execute_plan, graph_title
from anysize.counting.sampling.estimates import describe_sampling
from anysize.executors.executor import RETRIES, Executor, Failure
from anysize.graphs.graphset import GraphSet

PIECES_PER_WORKER = 8  # more: better balance and progress; fewer: less overhead
MIN_PIECE_S = 0.05  # seconds of work that are worth sending a piece
MAX_PIECE_BYTES = 1 << 25  # of a piece with more than one graph
MAX_FAILURES_SHOWN = 10


@dataclass(frozen=True)
class FailedGraph:
    """A graph that could not be counted."""

    number: int
    name: str
    reason: str

    def __str__(self) -> str:
        return self.reason if self.name in self.reason else f"{self.name}: {self.reason}"


class CountOutcome(NamedTuple):
    """The table of the graphs that were counted, their numbers, and those that failed."""

    counts: Counts
    numbers: IntArray
    failed: tuple[FailedGraph, ...] = ()
    warnings: tuple[str, ...] = ()  # of a worker, to be repeated in the user's process


def without_failed(counts: Counts, failed: tuple[FailedGraph, ...], errors: str) -> Counts:
    """The table of the other graphs, with a warning, or an error that names the graphs that failed."""
    shown = "; ".join(str(failure).rstrip(".") for failure in failed[:MAX_FAILURES_SHOWN])
    more = "" if len(failed) <= MAX_FAILURES_SHOWN else f"; and {len(failed) - MAX_FAILURES_SHOWN} more"
    amount = f"{len(failed)} of {len(failed) + len(counts)} graphs could not be counted"
    if errors == "skip":
        warn_user(f"{amount} and have no row in the table: {shown}{more}.", CountWarning)
        return replace(counts, log=(*counts.log, *(f"left out: {failure}" for failure in failed)))
    others = "the others are in the 'finished' table of this error; errors='skip' leaves out failed ones"
    raise PartialResultError(f"{amount} ({others}): {shown}{more}.", failed, counts)


def count_surviving(
    plan: CountPlan, graphs: GraphSet, threads: Threads, progress: Progress | None, numbers: IntArray
) -> CountOutcome:
    """Count all graphs at once; if that fails, one by one, to find those that fail and count the others."""
    try:
        return CountOutcome(execute_plan(plan, graphs, threads, progress, numbers), numbers)
    except Exception:
        rows, failed, tables = [], [], []
        for row, graph in enumerate(graphs):
            number = numbers[row : row + 1]
            try:
                single = replace(_restrict(plan, np.array([row])), budget_s=None)
                tables.append(execute_plan(single, graph, threads, None, number))
                rows.append(row)
            except Exception as error:
                failed.append(_failed(graph, number[0], str(error) or type(error).__name__))
        counts = Counts.concatenate(tables or [_empty_counts(plan, graphs)])
        return CountOutcome(replace(counts, log=_log_lines(plan, counts)), numbers[rows], tuple(failed))


def _restrict(plan: CountPlan, rows: IntArray) -> CountPlan:
    """The same plan for some of the graphs."""
    choices = (choice.among(rows) for choice in plan.choices)
    return replace(plan, choices=tuple(choice for choice in choices if len(choice.rows)))


def _empty_counts(plan: CountPlan, graphs: GraphSet) -> Counts:
    """The table of no graphs."""
    return execute_plan(_restrict(plan, np.zeros(0, np.int64)), graphs[:0], Threads())


def _failed(graph: GraphSet, number: int, reason: str) -> FailedGraph:
    return FailedGraph(int(number), graph_title(graph, 0, int(number)), reason)


def _log_lines(plan: CountPlan, counts: Counts) -> tuple[object, ...]:
    if counts.sampling is None:
        return tuple(use for choice in plan.choices for use in choice.uses)
    return (describe_sampling(plan.sizes[0], counts.sampling.samples, plan.seed, plan.reason),)


# ---- one graph ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Workers(Threads):
    """The workers of an executor in the place of threads: each takes a range of the vertices of a graph."""

    executor: Executor | None = None

    def run(self, work: Callable[[int, int], Any], weights: NDArray[Any], pieces: int | None = None) -> list[Any]:
        """As `Threads.run`; with an `OverRange`, which workers can be sent."""
        return [result for result, _ in self._results(work, weights)]

    def accumulate(
        self, work: Callable[..., Any], weights: NDArray[Any], *lengths: int
    ) -> tuple[list[Any], list[IntArray]]:
        """As `Threads.accumulate`."""
        totals = [np.zeros(length, np.int64) for length in lengths]
        results = []
        for result, arrays in self._results(work, weights, *lengths):
            results.append(result)
            for total, array in zip(totals, arrays, strict=True):
                total += array
        return results, totals

    def _results(
        self, work: Callable[..., Any], weights: NDArray[Any], *lengths: int
    ) -> Iterator[tuple[Any, list[IntArray]]]:
        assert self.executor is not None
        ranges = cut_by_weight(weights, min(self.executor.workers, len(weights)))
        yield from self.executor.map(partial(_on_range, work, lengths), ranges)


def _on_range(work: Callable[..., Any], lengths: Sequence[int], ends: tuple[int, int]) -> tuple[Any, list[IntArray]]:
    """The result of a range, and the arrays that it has added to, in a worker."""
    arrays = [np.zeros(length, np.int64) for length in lengths]
    return work(*ends, *arrays), arrays


def is_shared(plan: CountPlan, graphs: GraphSet, executor: Executor, cores: int | None) -> bool:
    """Whether all workers share the only graph: engines divide it, and a piece of work has fewer cores than that."""
    engines = [choice.engine for choice in plan.choices]
    enough = sum(choice.seconds for choice in plan.choices) > MIN_PIECE_S * executor.workers
    divided = len(graphs) == 1 and bool(engines) and all(engine.by_ranges for engine in engines)
    return divided and enough and executor.workers > (cores or executor.max_cores)


# ---- many pieces -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class CountPiece:
    """Some graphs of a set, and how to count them. Pieces that this process counts share a flag that stops them."""

    graphs: GraphSet
    numbers: IntArray
    plan: CountPlan
    threads: Threads
    weight: float = 0.0
    version: str = __version__


def count_piece(piece: CountPiece) -> CountOutcome:
    """Count a piece, in a worker."""
    if piece.version != __version__:
        raise ValueError(
            f"a worker has anysize {__version__}, this machine {piece.version}; install the same version on both"
        )
    arguments = piece.plan, piece.graphs, piece.threads, None, piece.numbers
    if threading.current_thread() is not threading.main_thread():  # catch_warnings is not thread-safe
        return count_surviving(*arguments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = count_surviving(*arguments)
    messages = tuple(str(warning.message) for warning in caught if issubclass(warning.category, CountWarning))
    return outcome._replace(warnings=messages)


def count_in_pieces(
    executor: Executor,
    plan: CountPlan,
    graphs: GraphSet,
    numbers: IntArray,
    threads: int | None,
    progress: Progress | None,
) -> CountOutcome:
    """Count the pieces of a set on an executor; a piece whose workers keep dying is cut into single graphs."""
    if is_shared(plan, graphs, executor, threads):
        with Workers(executor=executor) as workers:
            counts = execute_plan(plan, graphs, workers, progress, numbers)
        log = (*counts.log, f"by ranges of vertices, {executor.workers} workers")
        return CountOutcome(replace(counts, log=log), numbers)
    report = shares_of(progress, float(_weights(plan, graphs).sum()))
    outcomes: list[CountOutcome] = []
    with Threads() as here:
        pieces: Iterable[CountPiece] = cut_pieces(plan, graphs, numbers, executor, threads, here)
        while pieces:
            lost: list[CountPiece] = []
            for piece, result in _completed(executor, pieces):
                if not isinstance(result, Failure):
                    outcomes.append(result)
                elif not result.died:
                    raise PartialResultError(str(result.error), (result,)) from result.error
                elif len(piece.numbers) > 1:
                    lost.append(piece)
                    continue
                else:
                    failed = _failed(piece.graphs, piece.numbers[0], str(result.error))
                    outcomes.append(CountOutcome(_empty_counts(plan, graphs), piece.numbers[:0], (failed,)))
                report(piece.weight)
            pieces = [single for piece in lost for single in _singles(piece)]
    return _join(outcomes, plan, graphs, numbers, executor)


def _completed(executor: Executor, pieces: Iterable[CountPiece]) -> Iterator[tuple[CountPiece, Any]]:
    """Pieces and their outcomes or failures, in order of completion."""
    running: dict[int, CountPiece] = {}

    def submitted() -> Iterator[CountPiece]:
        for number, piece in enumerate(pieces):
            running[number] = piece
            yield piece

    for number, result in executor.completed(count_piece, submitted(), retries=RETRIES, cores=_cores, errors="return"):
        yield running.pop(number), result


def cut_pieces(
    plan: CountPlan, graphs: GraphSet, numbers: IntArray, executor: Executor, cores: int | None, threads: Threads
) -> Iterator[CountPiece]:
    """Pieces of about equal cost and bounded size, each with one engine for every pattern size.

    A piece has a number of cores, or as many as its share of the work, and the flag of ``threads``.
    """
    weights = _weights(plan, graphs)
    seconds, fair = float(weights.sum()), float(weights.sum()) / executor.workers
    n_bytes = 8 * graphs.sizes + 8 * graphs.edge_counts
    pieces = max(executor.workers, min(PIECES_PER_WORKER * executor.workers, int(seconds / MIN_PIECE_S)))
    pieces = min(len(graphs), max(pieces, int(n_bytes.sum() / MAX_PIECE_BYTES)))
    for group in _groups(plan, len(graphs)):
        share = max(1, round(pieces * float(weights[group].sum()) / seconds))
        for start, stop in cut_by_weight(weights[group], share):
            rows = group[start:stop]
            weight = float(weights[rows].sum())
            number = cores or int(min(max(np.ceil(weight / fair - 1e-6), 1), executor.max_cores))
            part = graphs[rows[0] : rows[-1] + 1] if rows[-1] - rows[0] == len(rows) - 1 else graphs[rows]
            share_of_threads = replace(threads, number=number)
            yield CountPiece(replace(part, y=None), numbers[rows], _restrict(plan, rows), share_of_threads, weight)


def _weights(plan: CountPlan, graphs: GraphSet) -> FloatArray:
    """Expected seconds for each graph; a rough guess for sampling."""
    if plan.sample_size is not None:
        each = plan.sample_size.seconds or 1e-7 * (plan.sample_size.samples or 1e7)
        return np.asarray(1e-3 + each + 1e-6 * graphs.edge_counts, np.float64)
    seconds = np.full(len(graphs), 1e-9)
    for choice in plan.choices:
        seconds[choice.rows] += choice.costs
    return seconds


def _groups(plan: CountPlan, n_graphs: int) -> list[IntArray]:
    """The rows of the graphs, grouped by their engines."""
    engines = np.zeros((n_graphs, len(plan.choices)), bool)
    for column, choice in enumerate(plan.choices):
        engines[choice.rows, column] = True
    group = np.unique(engines, axis=0, return_inverse=True)[1].ravel()
    return [np.flatnonzero(group == number) for number in range(int(group.max(initial=0)) + 1)]


def _singles(piece: CountPiece) -> Iterator[CountPiece]:
    for row, graph in enumerate(piece.graphs):
        rows, weight = np.array([row]), piece.weight / len(piece.numbers)
        yield replace(piece, graphs=graph, numbers=piece.numbers[rows], plan=_restrict(piece.plan, rows), weight=weight)


def _join(
    outcomes: list[CountOutcome], plan: CountPlan, graphs: GraphSet, numbers: IntArray, executor: Executor
) -> CountOutcome:
    for message in dict.fromkeys(message for outcome in outcomes for message in outcome.warnings):
        warn_user(message, CountWarning)
    done = np.concatenate([outcome.numbers for outcome in outcomes])
    order = np.argsort(done, kind="stable")
    table = Counts.concatenate([outcome.counts for outcome in outcomes])
    if not np.array_equal(order, np.arange(len(order))):
        table = table[order]
    part = graphs if len(done) == len(graphs) else graphs[np.searchsorted(numbers, done[order])]
    log = (*_log_lines(plan, table), f"in {len(outcomes)} pieces by {executor.workers} workers")
    counts = replace(table, y=part.y, names=part.names, log=log)
    failed = sorted((failure for outcome in outcomes for failure in outcome.failed), key=lambda failure: failure.number)
    return CountOutcome(counts, done[order], tuple(failed))


# ---- many batches ------------------------------------------------------------------------------------


def count_batches(
    executor: Executor,
    batches: Iterator[tuple[GraphSet, int] | None],
    sizes: list[int],
    request: CountRequest,
    cores: int | None,
) -> Iterator[Counts | None]:
    """The tables of batches (graphs, number of the first graph), in order, one worker each; None stays None."""
    make_plan = loaded("anysize.counting.planner").make_plan

    def pieces(threads: Threads) -> Iterator[CountPiece | None]:
        for batch in batches:
            if batch is None:
                yield None
                continue
            graphs, first = batch
            plan = make_plan(graphs, sizes, request, cores or available_cores())
            yield CountPiece(graphs, np.arange(first, first + len(graphs)), plan, threads)

    with Threads(cores or 1) as threads:
        results = executor.map(_piece_or_none, pieces(threads), cores=_cores)
        for outcome in results:
            for message in () if outcome is None else outcome.warnings:
                warn_user(message, CountWarning)
            if outcome is not None and outcome.failed:
                without_failed(outcome.counts, outcome.failed, "raise")
            yield None if outcome is None else outcome.counts


def _piece_or_none(piece: CountPiece | None) -> CountOutcome | None:
    return None if piece is None else count_piece(piece)


def _cores(piece: CountPiece | None) -> int:
    return 1 if piece is None else piece.threads.number
