"""Sweeps: train every run of a plan that has no record yet.

    from anysize.experiments.plan import make_plan
    from anysize.experiments.sweep import sweep
    sweep(make_plan(["table1", "table2"]), "results/records")

A batch of runs is written when it is done, all of its records or none. A sweep that is killed loses the batches in
progress; rerun the same command to resume. Any number of sweeps may write into one folder.

``python -m anysize.experiments.sweep`` is the command `anysize sweep` for machines without typer and rich.
"""

from __future__ import annotations

import os
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

from anysize._progress import duration, progress_bars
from anysize._typing import PathLike
from anysize.counting.cache import CountCache
from anysize.experiments.configurations import GRIDS, GridName, parse_setting
from anysize.experiments.plan import RunBatch, SweepPlan, make_plan
from anysize.experiments.record_store import RecordStore
from anysize.experiments.records import MAX_CURVE_POINTS
from anysize.experiments.train_runs import CountsKey, TrainingOptions, counts_needed, load_prepared, train_batch
from anysize.experiments.workers import Cluster, Processes, ThisProcess, Workers
from anysize.methods.catalog import find_method
from anysize.methods.configuration import whole_number
from anysize.methods.recipes import RECIPES, RecipeName
from anysize.tasks.catalog import TASKS, find_task, register, unregister
from anysize.training.device import resolve_device

ShowProgress = Callable[["SweepProgress"], None]


@dataclass(frozen=True)
class SweepResult:
    """What a sweep has done.

    Attributes:
        planned: runs of the plan. found: of them, those that had a record. made: those that were trained now.
        failures: a sentence for every batch that ended in an error.
        left_out: a sentence for every task and method that cannot be run.
        errors: method -> what the first of its batches that failed said.
    """

    planned: int
    found: int
    made: int
    failures: tuple[str, ...]
    left_out: tuple[str, ...]
    seconds: float
    errors: Mapping[str, str] = field(default_factory=dict)

    @property
    def left(self) -> int:
        """Runs without a record: the time limit was reached, or they failed."""
        return self.planned - self.found - self.made

    def fields(self) -> dict[str, Any]:
        """The result as JSON values."""
        fields = asdict(self) | {"left": self.left, "seconds": round(self.seconds, 3)}
        del fields["errors"]
        return fields


def sweep(
    plan: SweepPlan,
    records: PathLike = "results/records",
    *,
    workers: int = 1,
    cluster: str | None = None,
    device: str = "auto",
    stack: int | None = None,
    cache: PathLike | None = None,
    data_dir: PathLike | None = None,
    time_limit: float | None = None,
    curves: int = MAX_CURVE_POINTS,
    ranks: bool = False,
    show: ShowProgress | None = None,
) -> SweepResult:
    """Train the runs of a plan that have no record yet.

    Args:
        plan: from `anysize.experiments.plan.make_plan`.
        records: the folder of records.
        workers: processes to train in, each with one torch thread; 1 trains in this process. The records do not depend
            on it. A script with several workers needs ``if __name__ == "__main__":``.
        cluster: the address of a Ray cluster, in place of processes; see `anysize.executors.RayExecutor`.
        device: `cpu`, `cuda` or `auto`.
        stack: the most models that are trained together; by default what suits the device.
        cache: the count cache; a temporary folder if None. Machines of a cluster need a shared one, or each counts
            for itself.
        data_dir: the folder with data files; the environment variable ANYSIZE_DATA if None.
        time_limit: seconds after which no batch is started any more; those in progress are finished.
        curves: points kept of every training curve; 0 keeps none.
        ranks: whether records keep how they rank the test graphs, for intervals of ROC-AUC.
        show: called with the progress.
    """
    began = time.monotonic()
    deadline = float("inf") if time_limit is None else began + time_limit
    options = TrainingOptions(resolve_device(device) if cluster is None else device, stack, curves, ranks)
    if cache is not None:
        CountCache(cache)  # refuses a file, which would otherwise fail every method that counts
    with ExitStack() as cleanup:
        for task in plan.own_tasks:
            if task.name not in TASKS:
                cleanup.callback(unregister, task.name)
            register(task)
        folder = _path(cache) or (None if cluster is not None else cleanup.enter_context(TemporaryDirectory()))
        state = _SweepState(plan, RecordStore(records), deadline, show or (lambda progress: None))
        if state.pending:
            if cluster is None or cache is not None:
                state.leave_out(fill_cache(plan, folder, data_dir, state.show, state.pending))
            pool = _workers(workers, cluster)
            arguments: dict[str, Any] = {"data_dir": _path(data_dir), "cache": folder, "own_tasks": plan.own_tasks}
            state.train(pool, partial(train_batch, options=options, **arguments))
        return state.result(time.monotonic() - began)


def fill_cache(
    plan: SweepPlan,
    cache: PathLike | None,
    data_dir: PathLike | None = None,
    show: ShowProgress | None = None,
    batches: Sequence[RunBatch] | None = None,
) -> dict[str, str]:
    """Count all patterns that the methods of a plan need into a count cache, so that training needs no counting.

    Returns:
        A sentence for every task whose graphs are not available. Only tasks that belong to a table may be missing; for
        a task that was named itself, the error is raised.
    """
    needed: dict[tuple[str, str], dict[CountsKey, None]] = {}
    for batch in plan.batches if batches is None else batches:
        configurations = [run.configuration for run in batch.runs]
        keys = needed.setdefault((batch.task, batch.data), {})
        keys |= dict.fromkeys(counts_needed(find_method(batch.method), find_task(batch.task), configurations))
    missing: dict[str, str] = {}
    for done, ((task, data), keys) in enumerate(needed.items()):
        if show is not None:
            name = task if data == "published" else f"{task}, {data}"
            show(SweepProgress("counting", done, len(needed), None, (name,)))
        if task in missing:
            continue
        try:
            ready = load_prepared(task, data, _path(data_dir), _path(cache))
        except (ValueError, OSError, ImportError) as error:
            if task not in plan.optional:
                raise
            missing[task] = f"{task} is left out. {error}"
            continue
        for key in keys:
            with suppress(ValueError, OverflowError, MemoryError):  # methods that need these counts fail, others do not
                ready.count([key])
    if show is not None:
        show(SweepProgress("counting", len(needed), len(needed)))
    if len(missing) == len({task for task, _ in needed}):
        first, reason = next(iter(missing.items()))  # those of other tasks are much the same
        reason = reason.removeprefix(f"{first} is left out. ")
        raise ValueError(f"The graphs of {', '.join(missing)} are not available. {reason}")
    return missing


class _SweepState:
    """A sweep in progress."""

    def __init__(self, plan: SweepPlan, store: RecordStore, deadline: float, show: ShowProgress) -> None:
        self.store, self.deadline, self.show = store, deadline, show
        self.left_out = list(plan.left_out)
        self.failures: list[str] = []
        self.errors: dict[str, str] = {}
        self.made = 0
        self.planned = plan.runs
        self._finished: set[str] = set()
        self._files: set[object] = set()
        self._read_new_files()
        self.pending = [rest for batch in plan.batches if (rest := batch.without(self._finished)) is not None]
        self.found = self.planned - sum(len(batch.runs) for batch in self.pending)

    def _read_new_files(self) -> None:
        """Read the keys of records that were written since the last call, by this sweep or others."""
        new = [path for path in self.store.files() if path not in self._files]
        if new:
            self._finished |= self.store.keys(new)
            self._files.update(new)

    def leave_out(self, tasks: dict[str, str]) -> None:
        """Drop the tasks whose graphs are not available."""
        self.left_out += tasks.values()
        self.planned -= sum(len(batch.runs) for batch in self.pending if batch.task in tasks)
        self.pending = [batch for batch in self.pending if batch.task not in tasks]

    def train(self, pool: Workers, function: Callable[..., object]) -> None:
        """Train the pending batches and write their records."""
        clock = Clock(self.pending, pool.workers)
        started: list[RunBatch] = []

        def watch(shares: dict[int, float]) -> None:
            clock.update(shares)
            self.show(clock.progress())

        for number, result in pool.completed(function, self._batches(clock, started), len(self.pending), watch):
            if isinstance(result, Exception):
                self.failures.append(f"{started[number]}: {result}")
                self.errors.setdefault(started[number].method, str(result))
            else:
                self.store.write(result)
                self.made += len(result)
            clock.end(number)
            self.show(clock.progress())
        self.show(clock.progress())

    def _batches(self, clock: Clock, started: list[RunBatch]) -> Iterator[RunBatch]:
        """The pending batches in order, without runs that others have finished, until the deadline."""
        for batch in self.pending:
            if time.monotonic() >= self.deadline:
                return
            self._read_new_files()
            rest = batch.without(self._finished)
            found = len(batch.runs) - (0 if rest is None else len(rest.runs))
            self.found += found
            if found:
                clock.skip(batch, found)
            if rest is not None:
                clock.begin(len(started), rest)
                started.append(rest)
                yield rest

    def result(self, seconds: float) -> SweepResult:
        failures, left_out = tuple(self.failures), tuple(self.left_out)
        return SweepResult(self.planned, self.found, self.made, failures, left_out, seconds, self.errors)


def _workers(workers: int, cluster: str | None) -> Workers:
    if cluster is not None:
        return Cluster(cluster)
    return ThisProcess() if whole_number("workers", workers) == 1 else Processes(workers)


def _path(path: PathLike | None) -> str | None:
    return None if path is None else os.fspath(path)


# ---- progress --------------------------------------------------------------------------------------

MIN_SHARE_TO_EXTRAPOLATE = 0.05  # of a batch in progress, before its time tells how long it will take
MAX_BATCHES_NAMED = 2
PROGRESS_UNITS = {"counting": "data sets", "training": "runs"}


@dataclass(frozen=True)
class SweepProgress:
    """How far a sweep is.

    Attributes:
        step: `counting` or `training`.
        done, total: data sets or runs; batches in progress count in part.
        seconds_left: an estimate, None if nothing is known yet.
        current: names of the batches in progress.
    """

    step: str
    done: float
    total: int
    seconds_left: float | None = None
    current: tuple[str, ...] = ()

    def __str__(self) -> str:
        """A sentence for people.

        >>> print(SweepProgress("training", 120.4, 3400, 754.0, ("gamma-gin on sbm-20",)))
        120 of 3,400 runs, about 12:34 left; now gamma-gin on sbm-20
        """
        left = "time left unknown" if self.seconds_left is None else f"about {duration(self.seconds_left)} left"
        more = ", ..." if len(self.current) > MAX_BATCHES_NAMED else ""
        now = f"; now {', '.join(self.current[:MAX_BATCHES_NAMED])}{more}" if self.current else ""
        return f"{int(self.done):,} of {self.total:,} {PROGRESS_UNITS[self.step]}, {left}{now}"


@contextmanager
def sweep_progress() -> Iterator[Callable[[SweepProgress], None]]:
    """Show the progress of a sweep on the terminal; the yielded function is its ``show``."""
    with progress_bars() as report:
        yield lambda progress: report(progress.step, progress.done / max(progress.total, 1), str(progress))


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

    def skip(self, batch: RunBatch, found: int) -> None:
        """Some or all runs of a batch have been finished by another sweep."""
        self._waiting.pop(batch.keys, None)
        self.done += found

    def update(self, shares: Mapping[int, float]) -> None:
        """Set the shares done of the batches in progress."""
        self._shares = shares

    def end(self, number: int) -> None:
        """A batch is finished."""
        batch, began = self._running.pop(number)
        seconds, runs = self._spent.get((batch.task, batch.method), (0.0, 0.0))
        self._spent[batch.task, batch.method] = seconds + self._now() - began, runs + len(batch.runs)
        self.done += len(batch.runs)

    def progress(self) -> SweepProgress:
        """The progress of the training."""
        shares = {number: min(self._shares.get(number, 0.0), 1.0) for number in self._running}
        partial_runs = sum(shares[number] * len(batch.runs) for number, (batch, _) in self._running.items())
        names = tuple(dict.fromkeys(str(batch) for batch, _ in self._running.values()))
        return SweepProgress("training", self.done + partial_runs, self.total, self._seconds_left(shares), names)

    def _seconds_left(self, shares: Mapping[int, float]) -> float | None:
        rates = {cell: seconds / runs for cell, (seconds, runs) in self._spent.items()}
        for number, (batch, began) in self._running.items():
            if shares[number] >= MIN_SHARE_TO_EXTRAPOLATE:
                seconds = (self._now() - began) / shares[number]
                rates.setdefault((batch.task, batch.method), seconds / len(batch.runs))
        if not rates:
            return None
        parts = [(batch, 1.0) for batch in self._waiting.values()]
        parts += [(batch, 1.0 - shares[number]) for number, (batch, _) in self._running.items()]
        return sum(_seconds_per_run(batch, rates) * len(batch.runs) * rest for batch, rest in parts) / self._workers


def _seconds_per_run(batch: RunBatch, rates: Mapping[tuple[str, str], float]) -> float:
    """Of the same task and method, else the mean over tasks of the method, else over everything."""
    if (batch.task, batch.method) in rates:
        return rates[batch.task, batch.method]
    similar = [rate for (_, method), rate in rates.items() if method == batch.method] or list(rates.values())
    return sum(similar) / len(similar)


# ---- the command -----------------------------------------------------------------------------------


def run_command(
    targets: Sequence[str],
    *,
    methods: str | None = None,
    grid: GridName | None = None,
    seeds: int = 10,
    data: str = "published",
    recipe: RecipeName = "paper",
    settings: Sequence[str] = (),
    workers: int = 1,
    cluster: str | None = None,
    device: str = "auto",
    records: PathLike = "results/records",
    stack: int | None = None,
    time_limit: float | None = None,
    cache: PathLike | None = None,
    count_only: bool = False,
    data_dir: PathLike | None = None,
    curves: int = MAX_CURVE_POINTS,
) -> tuple[list[str], dict[str, Any]]:
    """What `anysize sweep` does: sentences for people, and the same as JSON values.

    Options as in `make_plan` and `sweep`; ``methods`` are names between commas, ``settings`` are ``name=value``.
    """
    plan = make_plan(
        targets,
        None if methods is None else [name.strip() for name in methods.split(",") if name.strip()],
        grid=grid, seeds=seeds, data=data, recipe=recipe, settings=dict(map(parse_setting, settings)), stack=stack,
        device=device,
    )  # fmt: skip
    with sweep_progress() as show:
        if count_only:
            if cache is None:
                raise ValueError("--count-only needs the folder of a count cache: name it with --cache.")
            left_out = [*plan.left_out, *fill_cache(plan, cache, data_dir, show).values()]
            return [*left_out, f"The counts are in {cache}."], {"cache": str(cache), "left_out": left_out}
        result = sweep(
            plan, records, workers=workers, cluster=cluster, device=device, stack=stack, cache=cache,
            data_dir=data_dir, time_limit=time_limit, curves=curves, show=show,
        )  # fmt: skip
    return _sentences(result, records), result.fields() | {"records": str(records)}


def _sentences(result: SweepResult, records: object) -> list[str]:
    """The result for people.

    >>> _sentences(SweepResult(30, 10, 20, (), (), 61.0), "results/records")
    ['30 runs: 20 trained in 1:01, 10 found. The records are in results/records.']
    """
    lines = [*result.left_out, *(f"Failed: {sentence}" for sentence in result.failures)]
    lines.append(
        f"{_runs(result.planned)}: {result.made:,} trained in {duration(result.seconds)}, {result.found:,} found. "
        f"The records are in {records}."
    )
    if result.left:
        lines.append(f"{_runs(result.left)} left. Rerun the same command to resume.")
    return lines


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"


def command_parser() -> ArgumentParser:
    """The options of `anysize sweep`, which documents them; absent options get the defaults of `run_command`."""
    parser = ArgumentParser("python -m anysize.experiments.sweep", description="See anysize sweep --help.")
    parser.add_argument("targets", nargs="+", metavar="table1|table2|table3|TASK")
    parser.add_argument("--grid", choices=GRIDS)
    parser.add_argument("--recipe", choices=RECIPES)
    parser.add_argument("--set", dest="settings", action="append", metavar="NAME=VALUE")
    parser.add_argument("--count-only", action="store_true")
    for name in ("--methods", "--data", "--cluster", "--device", "--records", "--cache", "--data-dir"):
        parser.add_argument(name)
    for name in ("--seeds", "--workers", "--stack", "--curves"):
        parser.add_argument(name, type=int)
    parser.add_argument("--time-limit", type=float)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """The command without typer and rich; returns the exit code."""
    options = {name: value for name, value in vars(command_parser().parse_args(arguments)).items() if value is not None}
    try:
        lines, fields = run_command(**options)
    except (ValueError, OverflowError, OSError, ImportError, MemoryError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. Rerun the same command to resume.", file=sys.stderr)
        return 130
    print("\n".join(lines))
    return int(bool(fields.get("failures")))


if __name__ == "__main__":
    sys.exit(main())
