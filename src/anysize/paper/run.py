"""Train one cell of a table: one method on one task, one configuration, some seeds."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, get_args

from anysize._progress import ProgressFunction, ignore_progress
from anysize._typing import PathLike
from anysize.evaluation.compare import not_applicable
from anysize.evaluation.evaluate import EvaluationOptions, device_name, evaluate_runs
from anysize.evaluation.tables import Published, ScoreSummary
from anysize.evaluation.tasks import Data, Metric, Task
from anysize.methods.catalog import find_method
from anysize.methods.configuration import check_params, whole_number
from anysize.methods.method import RECIPES, Method, RecipeName, Run
from anysize.paper.plan import configurations
from anysize.paper.published import published
from anysize.paper.selection import Selection, select
from anysize.paper.tasks import TASKS, find_task
from anysize.splits import SPLITS
from anysize.training.device import resolve_device


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
            "data": self.data,
            "seeds": self.seeds,
            **{split: None if summary is None else summary.mean for split, summary in summaries.items()},
            "std": {split: None if summary is None else summary.std for split, summary in summaries.items()},
            "metric": self.task.metric,
            "recipe": self.recipe,
            "configuration": None if chosen is None else dict(chosen.configuration),
            "configurations": 0 if chosen is None else chosen.configurations,
            "tied": 0 if chosen is None else len(chosen.tied),
            "tests": [] if chosen is None else [outcome.scores.test for outcome in chosen.outcomes],
            "epochs": [] if chosen is None else [outcome.epoch for outcome in chosen.outcomes],
            "published": {split: {"mean": cell.mean, "std": cell.std} for split, cell in paper.items()},
            "device": self.device,
            "seconds": round(self.seconds, 3),
            "na": self.na,
        }


def run(
    task: str | Task,
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
    progress: ProgressFunction = ignore_progress,
) -> CellResult:
    """Train a method on a task and score it.

    One configuration (`anysize.methods.method.Method.default`, changed by ``settings``) is trained with ``seeds``
    seeds. Kernels have no configuration that suits all tasks: unless it is set, theirs is the one of the paper's grid
    with the best validation score, the first of several.

    Args:
        task: a task or its name.
        method: its name.
        data: `published` or the seed of a fresh data set; `Task.default_data` if None.
        seeds: the number of models, with the seeds from 0 on.
        recipe: `robust` or `paper`.
        settings: of the configuration or the recipe, such as ``{"hidden": 64, "epochs": 100}``.
        metric: `accuracy` or `mcc`, for the scores and for validation; by default that of the task.
        device: `cpu`, `cuda` or `auto`.
        data_dir: the folder with data files; the environment variable ANYSIZE_DATA if None.
        cache: cache folder; counts found here are not recomputed.
        progress: called with the step and the share of it that is done.

    >>> result = run("er-single", "gc-kernel", data=0, settings={"C": 1000, "k": 3})
    >>> result.summary("test")
    ScoreSummary(mean=1.0, std=0.0, count=1)
    """
    began = time.perf_counter()
    if recipe not in RECIPES:
        raise ValueError(f"recipe must be one of {', '.join(RECIPES)}; got {recipe!r}")
    trained, count = find_method(method), whole_number("seeds", seeds)
    scored = _with_metric(task if isinstance(task, Task) else find_task(task), metric)
    device = resolve_device(device)
    points = configurations(trained, scored, "one", recipe, check_params(trained, settings or {}))
    data_set = scored.default_data if data is None else data
    selection = None
    na = not_applicable(scored, trained)
    if not na:
        splits = scored.splits(data, None, data_dir)
        runs = [Run(point, seed) for point in points for seed in range(count if trained.seeded else 1)]
        options = EvaluationOptions(device, cache)
        records = list(evaluate_runs(trained, splits, runs, recipe, options, partial(progress, "training")))
        selection = select(records)
    seconds = time.perf_counter() - began
    return CellResult(scored, trained, data_set, recipe, count, device_name(device), selection, seconds, na)


def _with_metric(task: Task, metric: Metric | None) -> Task:
    """The task with another metric; it is then no longer compared with published numbers."""
    if metric is None or metric == task.metric:
        return task
    if metric not in get_args(Metric):
        raise ValueError(f"metric must be one of {', '.join(get_args(Metric))}; got {metric!r}")
    return replace(task, metric=metric)
