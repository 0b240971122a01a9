"""A count in pieces: graphs that fail do not lose the others, and an executor (`anysize.executors`) counts the pieces.

A piece is some graphs of a set with their numbers in it and the engine that the whole set was given, so that its
rows are those of the whole count, bit by bit, for exact and for sampled counts.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anysize import __version__
from anysize._errors import CountWarning, PartialResultError, warn_user
from anysize.counting.counts import Counts
from anysize.counting.engines.table import graph_title
from anysize.counting.engines.threads import available_threads, cut_by_weight
from anysize.counting.execution import CountRequest, EnginePlan, Progress, execute_plan, make_plan
from anysize.counting.sampling.tables import sampling_line
from anysize.executors.base import RETRIES, Executor, Failure
from anysize.graphs.graphset import GraphSet

Numbers = NDArray[np.int64]

PER_WORKER = 8  # pieces; more: better balance and progress; fewer: less overhead
WORTHWHILE = 0.05  # seconds of work that pay for sending a piece
LARGEST = 1 << 25  # bytes of a piece with more than one graph
SHOWN = 10  # failed graphs that a message names


@dataclass(frozen=True)
class FailedGraph:
    """A graph that could not be counted."""

    number: int
    name: str
    reason: str

    def __str__(self) -> str:
        return self.reason if self.name in self.reason else f"{self.name}: {self.reason}"


@dataclass(frozen=True)
class CountOutcome:
    """The table of the graphs that were counted, their numbers, and those that failed."""

    counts: Counts
    numbers: Numbers
    failed: tuple[FailedGraph, ...] = ()
    notes: tuple[str, ...] = ()  # warnings, to be said again where the user is


@dataclass(frozen=True)
class CountJob:
    """Some graphs of a set, and how to count them."""

    graphs: GraphSet
    numbers: Numbers
    plan: EnginePlan
    cores: int
    weight: float
    version: str = __version__


def settle(outcome: CountOutcome, errors: str) -> Counts:
    """The table; failed graphs are an error at the end, or left out with a warning."""
    if not outcome.failed:
        return outcome.counts
    shown = "; ".join(str(one) for one in outcome.failed[:SHOWN])
    more = "" if len(outcome.failed) <= SHOWN else f"; and {len(outcome.failed) - SHOWN} more"
    amount = f"{len(outcome.failed)} of {len(outcome.failed) + len(outcome.numbers)} graphs could not be counted"
    if errors == "skip":
        warn_user(f"{amount} and have no row in the table: {shown}{more}.", CountWarning)
        lines = tuple(f"left out: {one}" for one in outcome.failed)
        return replace(outcome.counts, log=(*outcome.counts.log, *lines))
    others = "the others are in the 'finished' table of this error; errors='skip' leaves failed ones out"
    raise PartialResultError(f"{amount} ({others}): {shown}{more}.", outcome.failed, outcome.counts)


# ---- one piece ---------------------------------------------------------------------------------------


def survive(
    plan: EnginePlan, graphs: GraphSet, numbers: Numbers, threads: int, progress: Progress = None
) -> CountOutcome:
    """All graphs at once; if that fails, each alone, so that those that fail are known and the others counted."""
    try:
        return CountOutcome(execute_plan(plan, graphs, threads, progress, numbers), numbers)
    except Exception:
        rows: list[int] = []
        failed, tables = [], []
        for row, graph in enumerate(graphs):
            named = graph if graph.names is not None else replace(graph, names=(str(numbers[row]),))
            try:
                tables.append(execute_plan(_part(plan, np.array([row])), named, threads, None, numbers[row : row + 1]))
                rows.append(row)
            except Exception as error:
                failed.append(_failed(named, numbers[row], str(error) or type(error).__name__))
        none = execute_plan(_part(plan, np.zeros(0, np.int64)), graphs[:0], threads, None, numbers[:0])
        counts = Counts.concatenate(tables or [none])
        names = None if graphs.names is None else counts.names
        return CountOutcome(replace(counts, names=names, log=_lines(plan, counts)), numbers[rows], tuple(failed))


def count_piece(piece: CountJob) -> CountOutcome:
    """What a worker does."""
    if piece.version != __version__:
        raise ValueError(f"a worker has anysize {__version__}, this machine {piece.version}: install the same on both")
    if threading.current_thread() is not threading.main_thread():  # catching warnings is not for threads
        return survive(piece.plan, piece.graphs, piece.numbers, piece.cores)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = survive(piece.plan, piece.graphs, piece.numbers, piece.cores)
    notes = tuple(str(one.message) for one in caught if issubclass(one.category, CountWarning))
    return replace(outcome, notes=notes)


def _part(plan: EnginePlan, rows: Numbers) -> EnginePlan:
    """The same plan for some of the graphs."""
    choices = {}
    for size, own in plan.choices.items():
        kept = []
        for choice in own:
            here = np.flatnonzero(np.isin(rows, choice.rows))
            if len(here):
                share = choice.costs[np.searchsorted(choice.rows, rows[here])]
                kept.append(replace(choice, rows=here, costs=share))
        choices[size] = kept
    return replace(plan, choices=choices)


def _failed(graph: GraphSet, number: int, reason: str) -> FailedGraph:
    return FailedGraph(int(number), graph_title(graph, int(number)), reason)


def _lines(plan: EnginePlan, counts: Counts) -> tuple[str, ...]:
    if counts.sampling is None:
        return plan.lines
    return (sampling_line(plan.sizes[0], counts.sampling.samples, plan.seed, plan.why),)


# ---- many pieces -------------------------------------------------------------------------------------


def count_in_pieces(
    executor: Executor, plan: EnginePlan, graphs: GraphSet, numbers: Numbers, threads: int | None, progress: Progress
) -> CountOutcome:
    """The pieces of a set, counted by an executor; a piece whose workers keep dying is cut into its graphs."""
    total = _weights(plan, graphs)
    meter = _shares(progress, float(total.sum()))
    outcomes: list[CountOutcome] = []
    lost: list[CountJob] = []
    for whole in (True, False):
        pieces: Iterable[CountJob] = cut(plan, graphs, numbers, executor, threads)
        if not whole:
            pieces = [one for piece in lost for one in _singles(piece)]
        waiting: dict[int, CountJob] = {}

        def given(pieces: Iterable[CountJob] = pieces, waiting: dict[int, CountJob] = waiting) -> Iterator[CountJob]:
            for number, piece in enumerate(pieces):
                waiting[number] = piece
                yield piece

        for number, result in executor.completed(
            count_piece, given(), retries=RETRIES, cores=lambda p: p.cores, errors="return"
        ):
            piece = waiting.pop(number)
            if not isinstance(result, Failure):
                outcomes.append(result)
            elif not result.died:
                raise PartialResultError(str(result.error), (result,)) from result.error
            elif whole and len(piece.numbers) > 1:
                lost.append(piece)
                continue
            else:
                failed = _failed(piece.graphs, piece.numbers[0], str(result.error))
                none = execute_plan(_part(plan, np.zeros(0, np.int64)), graphs[:0], 1)
                outcomes.append(CountOutcome(none, piece.numbers[:0], (failed,)))
            meter(piece.weight)
    return _joined(outcomes, plan, graphs, numbers, executor)


def cut(
    plan: EnginePlan, graphs: GraphSet, numbers: Numbers, executor: Executor, threads: int | None
) -> Iterator[CountJob]:
    """Pieces of about equal cost, each with one engine for every size; none is larger than it must be."""
    weights = _weights(plan, graphs)
    seconds, fair = float(weights.sum()), float(weights.sum()) / executor.workers
    bytes_ = 8 * graphs.sizes + 8 * graphs.edge_counts
    pieces = max(executor.workers, min(PER_WORKER * executor.workers, int(seconds / WORTHWHILE)))
    pieces = min(len(graphs), max(pieces, int(bytes_.sum() / LARGEST)))
    for rows in _groups(plan, len(graphs)):
        share = max(1, round(pieces * float(weights[rows].sum()) / seconds))
        for start, stop in cut_by_weight(weights[rows], share):
            own = rows[start:stop]
            weight = float(weights[own].sum())
            cores = threads or int(min(max(np.ceil(weight / fair - 1e-6), 1), executor.largest))
            part = graphs[own[0] : own[-1] + 1] if own[-1] - own[0] == len(own) - 1 else graphs[own]
            yield CountJob(replace(part, y=None), numbers[own], _part(plan, own), cores, weight)


def _weights(plan: EnginePlan, graphs: GraphSet) -> NDArray[np.float64]:
    """Expected seconds for each graph; where all are sampled alike, a guess at them."""
    if plan.limit is not None:
        return np.asarray(1e-3 + 1e-7 * (plan.limit.samples or 1e7) + 1e-6 * graphs.edge_counts, np.float64)
    seconds = np.full(len(graphs), 1e-9)
    for own in plan.choices.values():
        for choice in own:
            seconds[choice.rows] += choice.costs / 1e9
    return seconds


def _groups(plan: EnginePlan, n_graphs: int) -> list[Numbers]:
    """The graphs by the engines they were given."""
    engines = np.zeros((n_graphs, len(plan.choices)), np.int64)
    for column, own in enumerate(plan.choices.values()):
        for number, choice in enumerate(own):
            engines[choice.rows, column] = number
    _, group = np.unique(engines, axis=0, return_inverse=True)
    return [np.flatnonzero(group.ravel() == number) for number in range(int(group.max(initial=0)) + 1)]


def _singles(piece: CountJob) -> Iterator[CountJob]:
    for row, graph in enumerate(piece.graphs):
        own = np.array([row])
        weight = piece.weight / len(piece.numbers)
        yield replace(piece, graphs=graph, numbers=piece.numbers[own], plan=_part(piece.plan, own), weight=weight)


def _joined(
    outcomes: list[CountOutcome], plan: EnginePlan, graphs: GraphSet, numbers: Numbers, executor: Executor
) -> CountOutcome:
    for note in dict.fromkeys(note for outcome in outcomes for note in outcome.notes):
        warn_user(note, CountWarning)
    done = np.concatenate([outcome.numbers for outcome in outcomes])
    order = np.argsort(done, kind="stable")
    table = Counts.concatenate([outcome.counts for outcome in outcomes])
    if not np.array_equal(order, np.arange(len(order))):
        table = table[order]
    part = graphs if len(done) == len(graphs) else graphs[np.searchsorted(numbers, done[order])]
    on = f"in {len(outcomes)} pieces by {executor.workers} workers"
    counts = replace(table, y=part.y, names=part.names, log=(*_lines(plan, table), on))
    failed = sorted((one for outcome in outcomes for one in outcome.failed), key=lambda one: one.number)
    return CountOutcome(counts, done[order], tuple(failed))


def _shares(progress: Progress, total: float) -> Callable[[float], None]:
    done = 0.0

    def tell(weight: float) -> None:
        nonlocal done
        done += weight
        if progress is not None:
            progress(min(done / total, 1.0))

    return tell


# ---- many batches ------------------------------------------------------------------------------------


def count_batches(
    executor: Executor,
    tasks: Iterator[tuple[GraphSet, int] | None],
    sizes: list[int],
    wanted: CountRequest,
    threads: int | None,
) -> Iterator[Counts | None]:
    """The tables of batches (graphs, number of the first), in order, each by one worker; None stays None."""

    def pieces() -> Iterator[CountJob | None]:
        for task in tasks:
            if task is None:
                yield None
                continue
            graphs, first = task
            plan = make_plan(graphs, sizes, wanted, threads or available_threads())
            yield CountJob(graphs, np.arange(first, first + len(graphs)), plan, threads or 1, 0.0)

    for outcome in executor.map(_piece_or_none, pieces(), cores=lambda piece: 1 if piece is None else piece.cores):
        for note in () if outcome is None else outcome.notes:
            warn_user(note, CountWarning)
        yield None if outcome is None else settle(outcome, "raise")


def _piece_or_none(piece: CountJob | None) -> CountOutcome | None:
    return None if piece is None else count_piece(piece)
