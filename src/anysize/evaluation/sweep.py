"""Sweeps: evaluate a plan of runs in worker processes, without those that a folder of records has already.

A batch of runs is written when it is done, all of its records or none. A sweep that is killed loses the batches in
progress; the same call resumes it. Any number of sweeps may write into one folder.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from tempfile import TemporaryDirectory
from typing import Any

from anysize._progress import Progress, ProgressFunction, duration, ignore_progress
from anysize._typing import PathLike
from anysize.evaluation.evaluate import EvaluationOptions, evaluate_runs
from anysize.evaluation.records import Record, key
from anysize.evaluation.store import RecordStore
from anysize.evaluation.tasks import Data, Splits, Task, data_name
from anysize.evaluation.workers import Cluster, Processes, ThisProcess, Workers
from anysize.methods.catalog import find_method
from anysize.methods.configuration import whole_number
from anysize.methods.method import RecipeName, Run, Sizes
from anysize.training.device import resolve_device

AUTO_DEVICE = EvaluationOptions("auto")
SPLITS_IN_MEMORY = 8  # data sets that a process keeps

# ---- plans -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunBatch:
    """Runs that are trained together: one task, data set, split, method and recipe.

    Attributes:
        data: `published` or a seed.
        split: the seed of the split; None for the split of the tables.
        method: its name, by which workers find it.
    """

    task: Task
    data: Data
    split: int | None
    method: str
    recipe: RecipeName
    runs: tuple[Run, ...]

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys of the records, one for each run."""
        data = data_name(self.data, self.split)
        return tuple(
            key(self.task.name, data, self.method, self.recipe, run.configuration, run.seed) for run in self.runs
        )

    def without(self, finished: Iterable[str]) -> RunBatch | None:
        """The batch without finished runs; None if all are finished."""
        known = set(self.keys).intersection(finished)
        if not known:
            return self
        runs = tuple(run for run, run_key in zip(self.runs, self.keys, strict=True) if run_key not in known)
        return replace(self, runs=runs) if runs else None

    def __str__(self) -> str:
        data = data_name(self.data, self.split)
        return f"{self.method} on {self.task.name}{'' if data == 'published' else f', {data}'}"


@dataclass(frozen=True)
class SweepPlan:
    """The batches of a sweep.

    Attributes:
        batches: in the order in which they are started.
        left_out: a sentence for every task and method that was named and does not apply.
        optional: names of tasks that are left out if their graphs are not available.
    """

    batches: tuple[RunBatch, ...]
    left_out: tuple[str, ...] = ()
    optional: frozenset[str] = frozenset()

    @property
    def runs(self) -> int:
        """The number of models to train."""
        return sum(len(batch.runs) for batch in self.batches)


@dataclass(frozen=True)
class SweepResult:
    """What a sweep has done.

    Attributes:
        planned: runs of the plan. found: of them, those that had a record. made: those that were trained now.
        failures: a sentence for every batch that ended in an error.
        left_out: a sentence for every task and method that cannot be run.
        errors: method -> what the first of its batches that failed said.
        records: of the runs that were trained now, if no folder keeps them.
    """

    planned: int
    found: int
    made: int
    failures: tuple[str, ...]
    left_out: tuple[str, ...]
    seconds: float
    errors: Mapping[str, str] = field(default_factory=dict)
    records: tuple[Record, ...] = ()

    @property
    def left(self) -> int:
        """Runs without a record: the time limit was reached, or they failed."""
        return self.planned - self.found - self.made

    def fields(self) -> dict[str, Any]:
        """The result as JSON values."""
        fields = asdict(replace(self, records=())) | {"left": self.left, "seconds": round(self.seconds, 3)}
        del fields["errors"], fields["records"]
        return fields


# ---- the sweep ---------------------------------------------------------------------------------------


def sweep(
    plan: SweepPlan,
    records: PathLike | None = "results/records",
    *,
    workers: int = 1,
    cluster: str | None = None,
    options: EvaluationOptions = AUTO_DEVICE,
    data_dir: PathLike | None = None,
    time_limit: float | None = None,
    progress: ProgressFunction = ignore_progress,
) -> SweepResult:
    """Train the runs of a plan that have no record yet.

    Args:
        plan: such as that of `anysize.paper.plan.make_plan`.
        records: the folder of records; None returns them in `SweepResult.records`.
        workers: processes to train in, each with one torch thread; 1 trains in this process. The records do not depend
            on it. A script with several workers needs ``if __name__ == "__main__":``.
        cluster: the address of a Ray cluster, in place of processes; see `anysize.executors.RayExecutor`.
        options: the device, the count cache (a temporary folder if None; machines of a cluster need a shared one, or
            each counts for itself), the largest stack, and what records keep.
        data_dir: the folder with data files; the environment variable ANYSIZE_DATA if None.
        time_limit: seconds after which no batch is started any more; those in progress are finished.
        progress: called with the step, the share of it that is done, and details.
    """
    began = time.monotonic()
    deadline = float("inf") if time_limit is None else began + time_limit
    with ExitStack() as cleanup:
        cache = options.cache
        if cache is None and cluster is None:
            cache = cleanup.enter_context(TemporaryDirectory())
        device = resolve_device(options.device) if cluster is None else options.device
        options = replace(options, device=device, cache=None if cache is None else os.fspath(cache))
        state = _SweepState(plan, None if records is None else RecordStore(records), deadline, progress)
        if state.pending:
            if cluster is None or options.cache is not None:
                state.leave_out(fill_cache(plan, options.cache, data_dir, progress, state.pending))
            state.train(_workers(workers, cluster), partial(evaluate_batch, options=options, data_dir=data_dir))
        return state.result(time.monotonic() - began)


def evaluate_batch(
    batch: RunBatch, options: EvaluationOptions, data_dir: PathLike | None = None, progress: Progress | None = None
) -> list[Record]:
    """Train and score the runs of a batch."""
    splits = load_splits(batch.task, batch.data, batch.split, data_dir)
    here = replace(options, device=resolve_device(options.device))
    return list(evaluate_runs(find_method(batch.method), splits, batch.runs, batch.recipe, here, progress))


_splits_in_memory: dict[tuple[Any, ...], Splits] = {}


def load_splits(task: Task, data: Data, split: int | None, data_dir: PathLike | None) -> Splits:
    """The graphs of a task; those of the last few data sets are kept, as the batches of a sweep share them."""
    wanted = (task.name, data, split, data_dir)
    known = _splits_in_memory.pop(wanted, None)
    splits = known if known is not None and known.task == task else task.splits(data, split, data_dir)
    _splits_in_memory[wanted] = splits
    while len(_splits_in_memory) > SPLITS_IN_MEMORY:
        del _splits_in_memory[next(iter(_splits_in_memory))]
    return splits


def fill_cache(
    plan: SweepPlan,
    cache: PathLike | None,
    data_dir: PathLike | None = None,
    progress: ProgressFunction = ignore_progress,
    batches: Sequence[RunBatch] | None = None,
) -> dict[str, str]:
    """Count all patterns that the methods of a plan need into a count cache, so that training needs no counting.

    Returns:
        Name of a task -> a sentence, for every task whose graphs are not available. Only tasks that are optional may be
        missing; for others, the error is raised.
    """
    needed: dict[tuple[str, Data, int | None], tuple[Task, set[tuple[Sizes, bool, bool]]]] = {}
    for batch in plan.batches if batches is None else batches:
        method = find_method(batch.method)
        _, counts = needed.setdefault((batch.task.name, batch.data, batch.split), (batch.task, set()))
        if method.patterns:
            told_apart = method.colors, bool(method.edges)
            counts |= {(run.configuration.get("k", batch.task.k), *told_apart) for run in batch.runs}
    missing: dict[str, str] = {}
    for number, ((name, data, split), (task, counts)) in enumerate(needed.items()):
        progress("counting", number / len(needed), f"{number} of {len(needed)} data sets; now {name}")
        if name in missing:
            continue
        try:
            splits = load_splits(task, data, split, data_dir)
        except (ValueError, OSError, ImportError) as error:
            if name not in plan.optional:
                raise
            missing[name] = f"{name} is left out. {error}"
            continue
        for sizes, colors, edges in counts:
            with suppress(ValueError, OverflowError, MemoryError):  # methods that need these counts fail, others do not
                for examples in splits.examples.values():
                    examples.forget_counts()  # those in memory may be in no cache
                    examples.counts(sizes, cache, colors, edges)
    progress("counting", 1.0)
    if len(missing) == len({name for name, *_ in needed}):
        first, reason = next(iter(missing.items()))  # those of other tasks are much the same
        reason = reason.removeprefix(f"{first} is left out. ")
        raise ValueError(f"The graphs of {', '.join(missing)} are not available. {reason}")
    return missing


class _SweepState:
    """A sweep in progress."""

    def __init__(self, plan: SweepPlan, store: RecordStore | None, deadline: float, progress: ProgressFunction) -> None:
        self.store, self.deadline, self.progress = store, deadline, progress
        self.left_out = list(plan.left_out)
        self.failures: list[str] = []
        self.errors: dict[str, str] = {}
        self.records: list[Record] = []
        self.made = 0
        self.planned = plan.runs
        self._finished: set[str] = set()
        self._files: set[object] = set()
        self._read_new_files()
        self.pending = [rest for batch in plan.batches if (rest := batch.without(self._finished)) is not None]
        self.found = self.planned - sum(len(batch.runs) for batch in self.pending)

    def _read_new_files(self) -> None:
        """Read the keys of records that were written since the last call, by this sweep or others."""
        new = [path for path in self.store.files() if path not in self._files] if self.store is not None else []
        if new and self.store is not None:
            self._finished |= self.store.keys(new)
            self._files.update(new)

    def leave_out(self, tasks: dict[str, str]) -> None:
        """Drop the tasks whose graphs are not available."""
        self.left_out += tasks.values()
        self.planned -= sum(len(batch.runs) for batch in self.pending if batch.task.name in tasks)
        self.pending = [batch for batch in self.pending if batch.task.name not in tasks]

    def train(self, pool: Workers, function: Callable[..., list[Record]]) -> None:
        """Train the pending batches and keep their records."""
        clock = Clock(self.pending, pool.workers)
        started: list[RunBatch] = []

        def watch(shares: dict[int, float]) -> None:
            clock.update(shares)
            clock.report(self.progress)

        for number, result in pool.completed(function, self._batches(clock, started), len(self.pending), watch):
            if isinstance(result, Exception):
                self.failures.append(f"{started[number]}: {result}")
                self.errors.setdefault(started[number].method, str(result))
            else:
                self.made += len(result)
                if self.store is None:
                    self.records += result
                else:
                    self.store.write(result)
            clock.end(number)
            clock.report(self.progress)
        clock.report(self.progress)

    def _batches(self, clock: Clock, started: list[RunBatch]) -> Iterator[RunBatch]:
        """The pending batches in order, without runs that others have finished, until the deadline."""
        for batch in self.pending:
            if time.monotonic() >= self.deadline:
                return
            self._read_new_files()
            rest = batch.without(self._finished)
            finished = len(batch.runs) - (0 if rest is None else len(rest.runs))
            self.found += finished
            if finished:
                clock.skip(batch, finished)
            if rest is not None:
                clock.begin(len(started), rest)
                started.append(rest)
                yield rest

    def result(self, seconds: float) -> SweepResult:
        return SweepResult(
            self.planned, self.found, self.made, tuple(self.failures), tuple(self.left_out), seconds, self.errors,
            tuple(self.records),
        )  # fmt: skip


def _workers(workers: int, cluster: str | None) -> Workers:
    if cluster is not None:
        return Cluster(cluster)
    return ThisProcess() if whole_number("workers", workers) == 1 else Processes(workers)


# ---- progress --------------------------------------------------------------------------------------

MIN_SHARE_TO_EXTRAPOLATE = 0.05  # of a batch in progress, before its time tells how long it will take
MAX_BATCHES_NAMED = 2


class Clock:
    """Estimates the time left from the seconds per run so far, by task and method where they are known."""

    def __init__(self, batches: Sequence[RunBatch], workers: int, now: Callable[[], float] = time.monotonic) -> None:
        self._waiting = {batch.keys: batch for batch in batches}
        self._workers, self._now = workers, now
        self._running: dict[int, tuple[RunBatch, float]] = {}
        self._shares: Mapping[int, float] = {}
        self._spent: dict[tuple[str, str], tuple[float, float]] = {}  # (task, method) -> seconds, runs
        self.total, self.done = sum(len(batch.runs) for batch in batches), 0

    def begin(self, number: int, batch: RunBatch) -> None:
        """A batch has been started."""
        self._waiting.pop(batch.keys, None)
        self._running[number] = batch, self._now()

    def skip(self, batch: RunBatch, finished: int) -> None:
        """Some or all runs of a batch have been finished by another sweep."""
        self._waiting.pop(batch.keys, None)
        self.done += finished

    def update(self, shares: Mapping[int, float]) -> None:
        """Set the shares done of the batches in progress."""
        self._shares = shares

    def end(self, number: int) -> None:
        """A batch is finished."""
        batch, began = self._running.pop(number)
        seconds, runs = self._spent.get(_cell(batch), (0.0, 0.0))
        self._spent[_cell(batch)] = seconds + self._now() - began, runs + len(batch.runs)
        self.done += len(batch.runs)

    def report(self, progress: ProgressFunction) -> None:
        """Call a progress function: runs that are done, batches in progress in part, the time left, what is running."""
        shares = {number: min(self._shares.get(number, 0.0), 1.0) for number in self._running}
        done = self.done + sum(shares[number] * len(batch.runs) for number, (batch, _) in self._running.items())
        seconds = self._seconds_left(shares)
        left = "time left unknown" if seconds is None else f"about {duration(seconds)} left"
        names = list(dict.fromkeys(str(batch) for batch, _ in self._running.values()))
        more = ", ..." if len(names) > MAX_BATCHES_NAMED else ""
        now = f"; now {', '.join(names[:MAX_BATCHES_NAMED])}{more}" if names else ""
        progress("training", done / max(self.total, 1), f"{int(done):,} of {self.total:,} runs, {left}{now}")

    def _seconds_left(self, shares: Mapping[int, float]) -> float | None:
        rates = {cell: seconds / runs for cell, (seconds, runs) in self._spent.items()}
        for number, (batch, began) in self._running.items():
            if shares[number] >= MIN_SHARE_TO_EXTRAPOLATE:
                seconds = (self._now() - began) / shares[number]
                rates.setdefault(_cell(batch), seconds / len(batch.runs))
        if not rates:
            return None
        parts = [(batch, 1.0) for batch in self._waiting.values()]
        parts += [(batch, 1.0 - shares[number]) for number, (batch, _) in self._running.items()]
        return sum(_seconds_per_run(batch, rates) * len(batch.runs) * rest for batch, rest in parts) / self._workers


def _cell(batch: RunBatch) -> tuple[str, str]:
    return batch.task.name, batch.method


def _seconds_per_run(batch: RunBatch, rates: Mapping[tuple[str, str], float]) -> float:
    """Of the same task and method, else the mean over tasks of the method, else over everything."""
    if _cell(batch) in rates:
        return rates[_cell(batch)]
    similar = [rate for (_, method), rate in rates.items() if method == batch.method] or list(rates.values())
    return sum(similar) / len(similar)
