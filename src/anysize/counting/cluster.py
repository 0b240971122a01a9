"""Count in pieces on an executor (`anysize.executors`), and keep the results of all graphs that did not fail.

A piece is some graphs of a set, with their numbers in the set and the engines chosen for the whole set. Its rows are
therefore identical to those of one count of the whole set, for exact and for sampled counts.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from anysize import __version__
from anysize._errors import CountWarning, PartialResultError, warn_user
from anysize._progress import Progress, shares_of
from anysize._typing import FloatArray, IntArray
from anysize.counting.counts import Counts
from anysize.counting.engines.engine import EngineChoice
from anysize.counting.engines.table import graph_title
from anysize.counting.engines.threads import Halt, cut_by_weight
from anysize.counting.execution import CountRequest, EnginePlan, execute_plan, make_plan
from anysize.counting.sampling.estimates import describe_sampling
from anysize.executors.executor import RETRIES, Executor, Failure, available_cores
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


@dataclass(frozen=True)
class CountOutcome:
    """The table of the graphs that were counted, their numbers, and those that failed."""

    counts: Counts
    numbers: IntArray
    failed: tuple[FailedGraph, ...] = ()
    warnings: tuple[str, ...] = ()  # of a worker, to be repeated in the user's process


@dataclass(frozen=True)
class CountPiece:
    """Some graphs of a set, and how to count them."""

    graphs: GraphSet
    numbers: IntArray
    plan: EnginePlan
    cores: int
    weight: float
    halt: Halt  # shared with other pieces in threads of this process
    version: str = __version__


def settle(outcome: CountOutcome, errors: str) -> Counts:
    """The table; failed graphs raise an error, or are left out with a warning."""
    if not outcome.failed:
        return outcome.counts
    shown = "; ".join(str(failure) for failure in outcome.failed[:MAX_FAILURES_SHOWN])
    more = "" if len(outcome.failed) <= MAX_FAILURES_SHOWN else f"; and {len(outcome.failed) - MAX_FAILURES_SHOWN} more"
    amount = f"{len(outcome.failed)} of {len(outcome.failed) + len(outcome.numbers)} graphs could not be counted"
    if errors == "skip":
        warn_user(f"{amount} and have no row in the table: {shown}{more}.", CountWarning)
        lines = tuple(f"left out: {failure}" for failure in outcome.failed)
        return replace(outcome.counts, log=(*outcome.counts.log, *lines))
    others = "the others are in the 'finished' table of this error; errors='skip' leaves out failed ones"
    raise PartialResultError(f"{amount} ({others}): {shown}{more}.", outcome.failed, outcome.counts)


# ---- one piece ---------------------------------------------------------------------------------------


def count_surviving(
    plan: EnginePlan,
    graphs: GraphSet,
    numbers: IntArray,
    threads: int,
    progress: Progress | None = None,
    halt: Halt | None = None,
) -> CountOutcome:
    """Count all graphs at once; if that fails, one by one, to find those that fail and count the others."""
    try:
        return CountOutcome(execute_plan(plan, graphs, threads, progress, numbers, halt), numbers)
    except Exception:
        rows: list[int] = []
        failed, tables = [], []
        for row, graph in enumerate(graphs):
            named = graph if graph.names is not None else replace(graph, names=(str(numbers[row]),))
            try:
                single = replace(_restrict(plan, np.array([row])), budget_s=None)
                tables.append(execute_plan(single, named, threads, None, numbers[row : row + 1], halt))
                rows.append(row)
            except Exception as error:
                failed.append(_failed(named, numbers[row], str(error) or type(error).__name__))
        counts = Counts.concatenate(tables or [_empty_counts(plan, graphs)])
        names = None if graphs.names is None else counts.names
        return CountOutcome(replace(counts, names=names, log=_log_lines(plan, counts)), numbers[rows], tuple(failed))


def count_piece(piece: CountPiece) -> CountOutcome:
    """Count a piece, in a worker."""
    if piece.version != __version__:
        raise ValueError(
            f"a worker has anysize {__version__}, this machine {piece.version}; install the same version on both"
        )
    if threading.current_thread() is not threading.main_thread():  # catch_warnings is not thread-safe
        return count_surviving(piece.plan, piece.graphs, piece.numbers, piece.cores, None, piece.halt)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = count_surviving(piece.plan, piece.graphs, piece.numbers, piece.cores, None, piece.halt)
    messages = tuple(str(warning.message) for warning in caught if issubclass(warning.category, CountWarning))
    return replace(outcome, warnings=messages)


def _restrict(plan: EnginePlan, rows: IntArray) -> EnginePlan:
    """The same plan for some of the graphs."""
    choices: dict[int, list[EngineChoice]] = {}
    for size, all_choices in plan.choices.items():
        choices[size] = []
        for choice in all_choices:
            here = np.flatnonzero(np.isin(rows, choice.rows))
            if len(here):
                costs = choice.costs[np.searchsorted(choice.rows, rows[here])]
                choices[size].append(replace(choice, rows=here, costs=costs))
    return replace(plan, choices=choices)


def _empty_counts(plan: EnginePlan, graphs: GraphSet) -> Counts:
    """The table of no graphs."""
    return execute_plan(_restrict(plan, np.zeros(0, np.int64)), graphs[:0], 1)


def _failed(graph: GraphSet, number: int, reason: str) -> FailedGraph:
    return FailedGraph(int(number), graph_title(graph, int(number)), reason)


def _log_lines(plan: EnginePlan, counts: Counts) -> tuple[str, ...]:
    if counts.sampling is None:
        return plan.lines
    return (describe_sampling(plan.sizes[0], counts.sampling.samples, plan.seed, plan.reason),)


# ---- many pieces -------------------------------------------------------------------------------------


def count_in_pieces(
    executor: Executor,
    plan: EnginePlan,
    graphs: GraphSet,
    numbers: IntArray,
    threads: int | None,
    progress: Progress | None,
) -> CountOutcome:
    """Count the pieces of a set on an executor; a piece whose workers keep dying is cut into single graphs."""
    report = shares_of(progress, float(_weights(plan, graphs).sum()))
    outcomes: list[CountOutcome] = []
    lost: list[CountPiece] = []
    with Halt() as halt:
        for first_round in (True, False):
            pieces: Iterable[CountPiece] = cut_pieces(plan, graphs, numbers, executor, threads, halt)
            if not first_round:
                pieces = [single for piece in lost for single in _singles(piece)]
            running: dict[int, CountPiece] = {}

            def submitted(
                pieces: Iterable[CountPiece] = pieces, running: dict[int, CountPiece] = running
            ) -> Iterator[CountPiece]:
                for number, piece in enumerate(pieces):
                    running[number] = piece
                    yield piece

            for number, result in executor.completed(
                count_piece, submitted(), retries=RETRIES, cores=lambda p: p.cores, errors="return"
            ):
                piece = running.pop(number)
                if not isinstance(result, Failure):
                    outcomes.append(result)
                elif not result.died:
                    raise PartialResultError(str(result.error), (result,)) from result.error
                elif first_round and len(piece.numbers) > 1:
                    lost.append(piece)
                    continue
                else:
                    failed = _failed(piece.graphs, piece.numbers[0], str(result.error))
                    outcomes.append(CountOutcome(_empty_counts(plan, graphs), piece.numbers[:0], (failed,)))
                report(piece.weight)
    return _join(outcomes, plan, graphs, numbers, executor)


def cut_pieces(
    plan: EnginePlan, graphs: GraphSet, numbers: IntArray, executor: Executor, threads: int | None, halt: Halt
) -> Iterator[CountPiece]:
    """Pieces of about equal cost and bounded size, each with one engine for every pattern size."""
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
            cores = threads or int(min(max(np.ceil(weight / fair - 1e-6), 1), executor.max_cores))
            part = graphs[rows[0] : rows[-1] + 1] if rows[-1] - rows[0] == len(rows) - 1 else graphs[rows]
            yield CountPiece(replace(part, y=None), numbers[rows], _restrict(plan, rows), cores, weight, halt)


def _weights(plan: EnginePlan, graphs: GraphSet) -> FloatArray:
    """Expected seconds for each graph; a rough guess for sampling."""
    if plan.sample_size is not None:
        each = plan.sample_size.seconds or 1e-7 * (plan.sample_size.samples or 1e7)
        return np.asarray(1e-3 + each + 1e-6 * graphs.edge_counts, np.float64)
    seconds = np.full(len(graphs), 1e-9)
    for choices in plan.choices.values():
        for choice in choices:
            seconds[choice.rows] += choice.costs
    return seconds


def _groups(plan: EnginePlan, n_graphs: int) -> list[IntArray]:
    """The rows of the graphs, grouped by their engines."""
    engines = np.zeros((n_graphs, len(plan.choices)), np.int64)
    for column, choices in enumerate(plan.choices.values()):
        for number, choice in enumerate(choices):
            engines[choice.rows, column] = number
    _, group = np.unique(engines, axis=0, return_inverse=True)
    return [np.flatnonzero(group.ravel() == number) for number in range(int(group.max(initial=0)) + 1)]


def _singles(piece: CountPiece) -> Iterator[CountPiece]:
    for row, graph in enumerate(piece.graphs):
        rows, weight = np.array([row]), piece.weight / len(piece.numbers)
        yield replace(piece, graphs=graph, numbers=piece.numbers[rows], plan=_restrict(piece.plan, rows), weight=weight)


def _join(
    outcomes: list[CountOutcome], plan: EnginePlan, graphs: GraphSet, numbers: IntArray, executor: Executor
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
    threads: int | None,
) -> Iterator[Counts | None]:
    """The tables of batches (graphs, number of the first graph), in order, one worker each; None stays None."""

    def pieces(halt: Halt) -> Iterator[CountPiece | None]:
        for batch in batches:
            if batch is None:
                yield None
                continue
            graphs, first = batch
            plan = make_plan(graphs, sizes, request, threads or available_cores())
            yield CountPiece(graphs, np.arange(first, first + len(graphs)), plan, threads or 1, 0.0, halt)

    with Halt() as halt:
        results = executor.map(_piece_or_none, pieces(halt), cores=lambda piece: 1 if piece is None else piece.cores)
        for outcome in results:
            for message in () if outcome is None else outcome.warnings:
                warn_user(message, CountWarning)
            yield None if outcome is None else settle(outcome, "raise")


def _piece_or_none(piece: CountPiece | None) -> CountOutcome | None:
    return None if piece is None else count_piece(piece)
