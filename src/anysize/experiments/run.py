"""One cell of a table: one method on one task, at one configuration, over some seeds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from anysize.experiments.configurations import changed, configurations, task_configuration
from anysize.experiments.plan import data_name, not_applicable
from anysize.experiments.prepare import prepare, tables_for
from anysize.experiments.records import SPLITS
from anysize.experiments.selection import RULES, ScoreSummary, Selection, select
from anysize.experiments.tables.published import Published, published
from anysize.experiments.train_runs import Job, device_name, records_of
from anysize.methods.catalog import find_method
from anysize.methods.configuration import whole_number
from anysize.methods.grids import Configuration
from anysize.methods.method import Method, Run
from anysize.methods.recipes import RECIPES, RecipeName
from anysize.tasks.catalog import TASKS, find_task
from anysize.tasks.size_split import size_split
from anysize.tasks.task import Data, Metric, Task
from anysize.training.device import resolve_device

ProgressFunction = Callable[[str, float], None]
FILE_ENDINGS = (".zip", ".txt", ".csv", ".gz", ".json", ".pt", ".graphml", ".gml")  # a name that is meant as a file


@dataclass(frozen=True)
class Result:
    """What a method reached on a task.

    Attributes:
        selection: the runs of the reported configuration; None where the method does not apply, and why is in ``na``.
        seeds: how many were asked for; methods without chance are trained once.
    """

    task: Task
    method: Method
    data: Data
    recipe: RecipeName
    seeds: int
    device: str
    selection: Selection | None
    seconds: float
    na: str = ""

    def summary(self, split: str) -> ScoreSummary | None:
        """Mean and deviation over seeds; None where there is no such score."""
        return None if self.selection is None else self.selection.summary(split)

    def published(self, split: str) -> Published | None:
        """The number of the paper, for the published data of one of its tasks."""
        own = self.data == "published" and TASKS.get(self.task.name) is self.task
        return published(self.task.name, self.method.name, split) if own else None

    def fields(self) -> dict[str, Any]:
        """As JSON has it: means over seeds, null where there is none."""
        found = {split: self.summary(split) for split in SPLITS}
        beside = {split: cell for split in SPLITS if (cell := self.published(split)) is not None}
        chosen = self.selection
        return {
            "task": self.task.name,
            "method": self.method.name,
            "data": self.data if self.task.name in TASKS else "file",
            "seeds": self.seeds,
            **{split: None if own is None else own.mean for split, own in found.items()},
            "std": {split: None if own is None else own.std for split, own in found.items()},
            "metric": self.task.metric,
            "recipe": self.recipe,
            "configuration": None if chosen is None else dict(chosen.configuration),
            "configurations": 0 if chosen is None else chosen.configurations,
            "tied": 0 if chosen is None else chosen.tied,
            "tests": [] if chosen is None else [outcome.scores.test for outcome in chosen.outcomes],
            "epochs": [] if chosen is None else [outcome.epoch for outcome in chosen.outcomes],
            "published": {split: {"mean": cell.mean, "std": cell.std} for split, cell in beside.items()},
            "device": self.device,
            "seconds": round(self.seconds, 3),
            "na": self.na,
        }


def run(
    task: str | Path | Task,
    method: str,
    *,
    data: Data | None = None,
    seeds: int = 10,
    recipe: RecipeName = "robust",
    settings: Mapping[str, Any] | None = None,
    metric: Metric | None = None,
    device: str = "auto",
    data_dir: str | os.PathLike[str] | None = None,
    cache: str | os.PathLike[str] | None = None,
    report: ProgressFunction | None = None,
) -> Result:
    """Train a method on a task and score it.

    One configuration, `anysize.methods.Method.default` with ``settings`` in place, and ``seeds`` models. Kernels have
    no good configuration for all tasks: unless it is set, theirs is the one of the paper's grid with the best
    validation score, the first of several.

    Args:
        task: a task or its name, or a file of labeled graphs, which is split by size (`anysize.size_split`).
        method: its name.
        data: `published` or the seed of a fresh data set; `Task.default_data` if None.
        seeds: how many models, with the seeds from 0 on.
        recipe: `robust` or `paper`.
        settings: of the configuration or the recipe, such as ``{"hidden": 64, "epochs": 100}``.
        metric: `accuracy` or `mcc`, for the scores and for what validation chooses; without it that of the task, which
            is `accuracy` for files, as in `GraphClassifier`. Large graphs often have another mix of classes than small
            ones: a model that gives all of them one class can have a high accuracy, but has an MCC of 0.
        device: `cpu`, `cuda` or `auto`.
        data_dir: the folder with data files; without it the environment variable ANYSIZE_DATA.
        cache: cache folder; counts found here are not recomputed.
        report: called with what is done ("counting", "training") and the share of it that is done.

    >>> result = run("er-single", "gc-kernel", data=0, settings={"C": 1000, "k": 3})
    >>> result.summary("test")
    ScoreSummary(mean=1.0, std=0.0, count=1)
    """
    began = time.perf_counter()
    if recipe not in RECIPES:
        raise ValueError(f"a recipe is one of {', '.join(RECIPES)}; got {recipe!r}")
    chosen, own, amount = find_method(method), _scored(_task(task), metric), whole_number("seeds", seeds)
    place = resolve_device(device)
    points = _points(chosen, own, recipe, settings or {})
    drawn = own.default_data if data is None else data
    selection = None
    na = not_applicable(own, chosen)
    if not na:
        prepared = prepare(own, data, data_dir, cache)
        runs = [Run(point, seed) for point in points for seed in range(amount if chosen.seeded else 1)]
        tell = report or (lambda what, done: None)
        prepared.count(tables_for(chosen, own, points), lambda done: tell("counting", done))
        records = records_of(
            prepared, data_name(drawn), chosen, recipe, runs, Job(place), lambda done: tell("training", done)
        )
        selection = select(records, RULES["paper"], [record.configuration for record in records])
    name = device_name(place)
    return Result(own, chosen, drawn, recipe, amount, name, selection, time.perf_counter() - began, na)


def _task(task: str | Path | Task) -> Task:
    """A task by its name, or made of a file of graphs."""
    if isinstance(task, Task):
        return task
    name = str(task)
    path = Path(name)
    if name in TASKS or not (path.exists() or path.suffix in FILE_ENDINGS or len(path.parts) > 1):
        return find_task(name)
    return size_split(path, name=path.stem)


def _scored(task: Task, metric: Metric | None) -> Task:
    """The task, scored by this metric; published numbers are not compared with those of another one."""
    if metric is None or metric == task.metric:
        return task
    if metric not in get_args(Metric):
        raise ValueError(f"metric must be one of {', '.join(get_args(Metric))}; got {metric!r}")
    return replace(task, metric=metric)


def _points(method: Method, task: Task, recipe: RecipeName, settings: Mapping[str, Any]) -> tuple[Configuration, ...]:
    """One configuration; for kernels all of the grid that agree with the settings."""
    if method.trained:
        return changed([task_configuration(method, task, recipe)], method, settings)
    return changed(configurations(method, task, "paper", recipe), method, settings)
