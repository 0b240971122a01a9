"""Train one cell of a table: one method on one task, one configuration, some seeds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from anysize._progress import ProgressFunction, ignore_progress
from anysize._typing import PathLike
from anysize.experiments.configurations import changed, configurations, task_configuration
from anysize.experiments.plan import data_name, not_applicable
from anysize.experiments.selection import ScoreSummary, Selection, select
from anysize.experiments.tables.cells import Published, published
from anysize.experiments.train_runs import TrainingOptions, counts_needed, device_name, prepare, train_runs
from anysize.methods.catalog import find_method
from anysize.methods.configuration import whole_number
from anysize.methods.grids import Configuration
from anysize.methods.method import Method, Run
from anysize.methods.recipes import RecipeName, check_recipe
from anysize.tasks.catalog import TASKS, find_task
from anysize.tasks.size_split import size_split
from anysize.tasks.task import SPLITS, Data, Metric, Task
from anysize.training.device import resolve_device

FILE_ENDINGS = (".zip", ".txt", ".csv", ".gz", ".json", ".pt", ".graphml", ".gml")  # names with these endings are files


@dataclass(frozen=True)
class CellResult:
    """The scores of a method on a task.

    Attributes:
        selection: the runs of the reported configuration; None if the method does not apply.
        na: the reason why it does not apply.
        seeds: the requested number; methods without randomness are trained once.
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
        """Mean and standard deviation over seeds; None if there is no such score."""
        return None if self.selection is None else self.selection.summary(split)

    def published(self, split: str) -> Published | None:
        """The paper's number, for the published data of one of its tasks."""
        comparable = self.data == "published" and TASKS.get(self.task.name) is self.task
        return published(self.task.name, self.method.name, split) if comparable else None

    def fields(self) -> dict[str, Any]:
        """The result as JSON values: means over seeds, None where there is none."""
        summaries = {split: self.summary(split) for split in SPLITS}
        paper = {split: cell for split in SPLITS if (cell := self.published(split)) is not None}
        chosen = self.selection
        return {
            "task": self.task.name,
            "method": self.method.name,
            "data": self.data if self.task.name in TASKS else "file",
            "seeds": self.seeds,
            **{split: None if one is None else one.mean for split, one in summaries.items()},
            "std": {split: None if one is None else one.std for split, one in summaries.items()},
            "metric": self.task.metric,
            "recipe": self.recipe,
            "configuration": None if chosen is None else dict(chosen.configuration),
            "configurations": 0 if chosen is None else chosen.configurations,
            "tied": 0 if chosen is None else chosen.tied,
            "tests": [] if chosen is None else [outcome.scores.test for outcome in chosen.outcomes],
            "epochs": [] if chosen is None else [outcome.epoch for outcome in chosen.outcomes],
            "published": {split: {"mean": cell.mean, "std": cell.std} for split, cell in paper.items()},
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
    data_dir: PathLike | None = None,
    cache: PathLike | None = None,
    report: ProgressFunction = ignore_progress,
) -> CellResult:
    """Train a method on a task and score it.

    One configuration (`anysize.methods.method.Method.default`, changed by ``settings``) is trained with ``seeds``
    seeds. Kernels have no configuration that suits all tasks: unless it is set, theirs is the one of the paper's grid
    with the best validation score, the first of several.

    Args:
        task: a task or its name, or a file of labeled graphs, which is split by size (`anysize.size_split`).
        method: its name.
        data: `published` or the seed of a fresh data set; `Task.default_data` if None.
        seeds: the number of models, with the seeds from 0 on.
        recipe: `robust` or `paper`.
        settings: of the configuration or the recipe, such as ``{"hidden": 64, "epochs": 100}``.
        metric: `accuracy` or `mcc`, for the scores and for validation; by default that of the task, which is
            `accuracy` for files, as in `GraphClassifier`. Large graphs often have other class shares than small ones:
            a model that predicts one class for all of them can have a high accuracy, but has an MCC of 0.
        device: `cpu`, `cuda` or `auto`.
        data_dir: the folder with data files; the environment variable ANYSIZE_DATA if None.
        cache: cache folder; counts found here are not recomputed.
        report: progress callback, called with the step ("counting", "training") and the share of it that is done.

    >>> result = run("er-single", "gc-kernel", data=0, settings={"C": 1000, "k": 3})
    >>> result.summary("test")
    ScoreSummary(mean=1.0, std=0.0, count=1)
    """
    began = time.perf_counter()
    check_recipe(recipe)
    found, scored, count = find_method(method), _with_metric(_task(task), metric), whole_number("seeds", seeds)
    device = resolve_device(device)
    points = _configurations(found, scored, recipe, settings or {})
    data_set = scored.default_data if data is None else data
    selection = None
    na = not_applicable(scored, found)
    if not na:
        prepared = prepare(scored, data, data_dir, cache)
        runs = [Run(point, seed) for point in points for seed in range(count if found.seeded else 1)]
        prepared.count(counts_needed(found, scored, points), partial(report, "counting"))
        options = TrainingOptions(device)
        records = train_runs(prepared, data_name(data_set), found, recipe, runs, options, partial(report, "training"))
        selection = select(records, order=[record.configuration for record in records])
    seconds = time.perf_counter() - began
    return CellResult(scored, found, data_set, recipe, count, device_name(device), selection, seconds, na)


def _task(task: str | Path | Task) -> Task:
    """A task by its name, or made from a file of graphs."""
    if isinstance(task, Task):
        return task
    name = str(task)
    path = Path(name)
    if name in TASKS or not (path.exists() or path.suffix in FILE_ENDINGS or len(path.parts) > 1):
        return find_task(name)
    return size_split(path, name=path.stem)


def _with_metric(task: Task, metric: Metric | None) -> Task:
    """The task with another metric; it is then no longer compared with published numbers."""
    if metric is None or metric == task.metric:
        return task
    if metric not in get_args(Metric):
        raise ValueError(f"metric must be one of {', '.join(get_args(Metric))}; got {metric!r}")
    return replace(task, metric=metric)


def _configurations(
    method: Method, task: Task, recipe: RecipeName, settings: Mapping[str, Any]
) -> tuple[Configuration, ...]:
    """The default configuration; of a method that is not trained in epochs the grid, where there is one."""
    grid = () if method.trained else configurations(method, task, "paper", recipe)
    return changed(grid or (task_configuration(method, task, recipe),), method, settings)
