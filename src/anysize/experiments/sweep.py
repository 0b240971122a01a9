"""Sweeps: every run of a plan becomes a record, whatever happens meanwhile.

    from anysize.experiments.plan import make_plan
    from anysize.experiments.sweep import sweep
    sweep(make_plan(["table1", "table2"]), "results/records")

Runs that have a record are skipped. A piece of the plan is written when it is done, all of its records or none: who
kills a sweep at any moment loses the pieces at work, and the next start makes up for them. Any number of sweeps may
write into one folder.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

from anysize.experiments.plan import RunBatch, SweepPlan
from anysize.experiments.prepare import CountsKey, prepared, tables_for
from anysize.experiments.record_store import RecordStore
from anysize.experiments.records import POINTS
from anysize.experiments.sweep_progress import Clock, SweepProgress
from anysize.experiments.train_runs import Job, work
from anysize.experiments.workers import Cluster, Processes, ThisProcess, Workers
from anysize.methods.catalog import find_method
from anysize.methods.configuration import whole_number
from anysize.tasks.catalog import find_task
from anysize.training.device import resolve_device

PathLike = str | os.PathLike[str]
Show = Callable[[SweepProgress], None]


@dataclass(frozen=True)
class Swept:
    """What a sweep has done.

    Attributes:
        planned: runs of the plan. found: of them, those that had a record. made: those that were trained now.
        left: those that are still to be done: the time limit came, or they failed.
        failures: a sentence for every piece that ended in an error.
        left_out: a sentence for everything that was asked for and cannot be run.
    """

    planned: int
    found: int
    made: int
    failures: tuple[str, ...]
    left_out: tuple[str, ...]
    seconds: float

    @property
    def left(self) -> int:
        """Runs that have no record yet."""
        return self.planned - self.found - self.made

    def fields(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self) | {"left": self.left, "seconds": round(self.seconds, 3)}


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
    curves: int = POINTS,
    show: Show | None = None,
) -> Swept:
    """Train what has no record yet.

    Args:
        plan: from `anysize.experiments.plan.make_plan`.
        records: the folder of records.
        workers: processes to train in, each with one thread of torch; with one, this process does it. The records do
            not depend on it. A script that asks for several begins its work under ``if __name__ == "__main__":``.
        cluster: the address of a Ray cluster, in place of processes; see `anysize.executors.RayExecutor`.
        device: `cpu`, `cuda` or `auto`.
        stack: the most models that are trained as one, if not what the methods think right for the device.
        cache: a folder that keeps counts; without it a temporary one. Machines of a cluster need one they share, or
            each counts for itself.
        data_dir: the folder with data files; without it the environment variable ANYSIZE_DATA.
        time_limit: seconds after which no piece is begun any more; those at work are finished.
        curves: points kept of every training curve; 0 keeps none.
        show: told how far the sweep is.
    """
    began = time.monotonic()
    deadline = float("inf") if time_limit is None else began + time_limit
    job = Job(resolve_device(device) if cluster is None else device, stack, curves)
    finished = Finished(RecordStore(records))
    with ExitStack() as stack_:
        folder = _text(cache) or (None if cluster is not None else stack_.enter_context(TemporaryDirectory()))
        state = _State(plan, finished, deadline, show or (lambda progress: None))
        if state.pending:
            if cluster is None or cache is not None:
                left_out = fill_cache(plan, folder, data_dir, state.show, state.pending)
                state.drop(left_out)
            hands = _workers(workers, cluster)
            state.train(hands, partial(work, job=job, data_dir=_text(data_dir), cache=folder))
        return state.swept(time.monotonic() - began)


def fill_cache(
    plan: SweepPlan, cache: PathLike | None, data_dir: PathLike | None = None, show: Show | None = None,
    pieces: Sequence[RunBatch] | None = None,
) -> dict[str, str]:  # fmt: skip
    """Count everything that the methods of a plan look at into a cache, so that training needs no counting.

    Returns:
        A sentence for every task whose graphs cannot be had; such a task must be part of a table, and not asked for by
        its own name.
    """
    wanted: dict[tuple[str, str], dict[CountsKey, None]] = {}
    for piece in plan.pieces if pieces is None else pieces:
        configurations = [run.configuration for run in piece.runs]
        own = wanted.setdefault((piece.task, piece.data), {})
        own |= dict.fromkeys(tables_for(find_method(piece.method), find_task(piece.task), configurations))
    missing: dict[str, str] = {}
    for done, ((task, data), tables) in enumerate(wanted.items()):
        if show is not None:
            show(
                SweepProgress(
                    "counting", done, len(wanted), None, (task if data == "published" else f"{task}, {data}",)
                )
            )
        if task in missing:
            continue
        try:
            prepared(task, data, _text(data_dir), _text(cache)).count(tables)
        except (ValueError, OSError, ImportError) as error:
            if task not in plan.optional:
                raise
            missing[task] = f"{task} is left out. {error}"
    if len(missing) == len({task for task, _ in wanted}):
        raise ValueError(" ".join(missing.values()))
    return missing


class Finished:
    """The keys of all records in a folder, also of those that others write meanwhile."""

    def __init__(self, store: RecordStore) -> None:
        self.store = store
        self.keys: set[str] = set()
        self._files: set[object] = set()
        self.refresh()

    def refresh(self) -> None:
        """Read the files that are new."""
        new = [path for path in self.store.files() if path not in self._files]
        if new:
            self.keys |= self.store.keys(new)
            self._files.update(new)


class _State:
    """A sweep under way."""

    def __init__(self, plan: SweepPlan, finished: Finished, deadline: float, show: Show) -> None:
        self.plan, self.finished, self.deadline, self.show = plan, finished, deadline, show
        self.left_out = list(plan.left_out)
        self.failures: list[str] = []
        self.made = 0
        self.planned = plan.runs
        self.pending = [rest for piece in plan.pieces if (rest := piece.without(finished.keys)) is not None]
        self.found = self.planned - sum(len(piece.runs) for piece in self.pending)

    def drop(self, tasks: dict[str, str]) -> None:
        """Leave out the tasks whose graphs cannot be had."""
        self.left_out += tasks.values()
        self.planned -= sum(len(piece.runs) for piece in self.pending if piece.task in tasks)
        self.pending = [piece for piece in self.pending if piece.task not in tasks]

    def train(self, hands: Workers, function: Callable[..., object]) -> None:
        clock = Clock(self.pending, hands.workers)
        begun: list[RunBatch] = []

        def look(shares: dict[int, float]) -> None:
            clock.look(shares)
            self.show(clock.progress())

        for number, result in hands.completed(function, self._items(clock, begun), len(self.pending), look):
            if isinstance(result, Exception):
                self.failures.append(f"{begun[number]}: {result}")
            else:
                self.finished.store.write(result)
                self.made += len(result)
            clock.end(number)
            self.show(clock.progress())
        self.show(clock.progress())

    def _items(self, clock: Clock, begun: list[RunBatch]) -> Iterator[RunBatch]:
        """The pieces in their order, without what others have done meanwhile, until the time is over."""
        for piece in self.pending:
            if time.monotonic() >= self.deadline:
                return
            self.finished.refresh()
            rest = piece.without(self.finished.keys)
            found = len(piece.runs) - (0 if rest is None else len(rest.runs))
            self.found += found
            if found:
                clock.skip(piece, found)
            if rest is not None:
                clock.begin(len(begun), rest)
                begun.append(rest)
                yield rest

    def swept(self, seconds: float) -> Swept:
        return Swept(self.planned, self.found, self.made, tuple(self.failures), tuple(self.left_out), seconds)


def _workers(workers: int, cluster: str | None) -> Workers:
    if cluster is not None:
        return Cluster(cluster)
    return ThisProcess() if whole_number("workers", workers) == 1 else Processes(workers)


def _text(path: PathLike | None) -> str | None:
    return None if path is None else os.fspath(path)


if __name__ == "__main__":
    from anysize.experiments.command import main

    sys.exit(main())
