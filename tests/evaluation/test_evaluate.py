"""The one loop: records of a method on splits and seeds, against models that are trained and scored by hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch

import anysize as az
from anysize.evaluation.evaluate import EvaluationOptions, evaluate, evaluate_runs
from anysize.evaluation.records import decode
from anysize.evaluation.tasks import Task, own_task
from anysize.methods.method import NO_GRID, Examples, Method, Run, TrainingData, class_weights
from anysize.metrics import all_metrics
from anysize.paper.tasks import TASKS
from anysize.training.settings import Recipe


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def task() -> Task:
    """Rings and paths; every ninth label is wrong."""
    edges = [[(i, i + 1) for i in range(n)] + [(0, n)] * (n % 2) for n in range(3, 93)]
    y = ["ring" if (n % 2) != (n % 9 == 0) else "path" for n in range(3, 93)]
    return own_task(az.GraphSet.from_edges(edges, y=y), name="rings")


@dataclass(frozen=True)
class Constant:
    """A learner that has nothing to learn; it notes the data and runs that it gets."""

    calls: list[tuple[TrainingData, tuple[Run, ...], Recipe]]
    largest: int = 100  # more models do not fit into memory

    def fit(self, data: TrainingData, runs: Any, recipe: Any, progress: Any = None, max_stack: Any = None) -> Any:
        self.calls.append((data, tuple(runs), recipe))
        stack = min(max_stack or len(runs), len(runs))
        if stack > self.largest:
            raise torch.cuda.OutOfMemoryError
        for start in range(0, len(runs), stack):
            yield Same(tuple(runs[start : start + stack]), data.classes)

    def restore(self, about: Any, arrays: Any) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class Same:
    runs: tuple[Run, ...]
    classes: int
    trained: None = None

    def outputs(self, examples: Examples) -> Any:
        return np.stack([np.eye(self.classes)[np.full(len(examples), run.seed % self.classes)] for run in self.runs])


def constant(largest: int = 100) -> Method:
    return Method(name="constant", title="Constant", learner=Constant([], largest), grid=NO_GRID)  # type: ignore[arg-type]


def test_one_record_for_every_split_and_seed_as_soon_as_it_is_there(task: Task) -> None:
    method = constant()
    splits = [task.splits(seed=seed) for seed in (0, 4)]
    records = evaluate(method, iter(splits), [0, 1, 2])
    assert isinstance(records, Iterator)
    next(records)
    assert len(method.learner.calls) == 1  # type: ignore[attr-defined]
    rest = list(records)
    assert [(record.data, record.seed) for record in rest] == [
        ("split:0", 1), ("split:0", 2), ("split:4", 0), ("split:4", 1), ("split:4", 2),
    ]  # fmt: skip
    for record in rest:
        test = splits[record.data == "split:4"].test
        assert decode(record.labels).tolist() == np.asarray(test.y).tolist()
        assert decode(record.chosen.predictions).tolist() == [record.seed % 2] * len(test)
        assert record.scores.test == np.mean(np.asarray(test.y) == record.seed % 2)
        assert (record.task, record.method, record.recipe) == (task.name, "constant", "robust")


@pytest.mark.parametrize("name", ["wl-kernel", "gamma-gin", "gin-mean"])
def test_a_record_is_that_of_a_model_trained_by_hand(task: Task, name: str) -> None:
    method, splits = az.METHODS[name], task.splits(seed=1)
    settings = {"epochs": 6, "hidden": 8} if method.has_epochs else {}
    (record,) = evaluate(method, [splits], [3], settings)

    sets = {part: Examples(graphs, np.asarray(graphs.y)) for part, graphs in splits.sets.items()}
    y = np.concatenate([sets["train"].labels(), sets["validation"].labels()])
    data = TrainingData(sets["train"], sets["validation"], 2, 4, class_weights=class_weights(y, 2))
    model = {name: value for name, value in record.configuration.items() if name != "epochs"}
    recipe = method.recipe("robust", None, method.patterns and splits.vanishing)
    recipe = replace(recipe, epochs=6) if method.has_epochs else recipe
    (fitted,) = method.learner.fit(data, [Run(model, 3)], recipe)
    chances = fitted.outputs(sets["test"])[0]
    assert decode(record.chosen.predictions).tolist() == chances.argmax(axis=1).tolist()
    ranking = fitted.margins(sets["test"])[0] if hasattr(fitted, "margins") else chances
    assert record.chosen.metrics == pytest.approx(all_metrics(sets["test"].labels(), chances, ranking))
    assert record.scores.test == record.chosen.metrics["accuracy"]
    assert record.epochs == (6 if method.has_epochs else None)
    assert record.curves is None
    assert record.chosen.ranks == ()


def test_runs_of_several_recipes_are_trained_apart_and_keep_their_configurations() -> None:
    splits, method = TASKS["sbm-20"].splits(0), az.METHODS["gamma-1hot"]
    runs = [Run({"k": 3, "hidden": 8, "epochs": epochs}, seed) for epochs in (2, 3) for seed in (0, 1)]
    together = list(evaluate_runs(method, splits, runs, "paper", EvaluationOptions(curve_points=3)))
    assert [(record.configuration, record.seed) for record in together] == [
        (run.configuration, run.seed) for run in runs
    ]
    assert [record.curves.epochs for record in together if record.curves] == [(1, 2), (1, 2), (1, 2, 3), (1, 2, 3)]
    assert [record.data for record in together] == ["seed:0"] * 4


def test_settings_that_a_method_does_not_have_are_ignored(task: Task) -> None:
    (record,) = evaluate(az.METHODS["wl-kernel"], [task.splits()], [0], {"epochs": 3, "iterations": 1})
    assert "epochs" not in record.configuration
    assert record.configuration["iterations"] == 1


def test_with_folds_every_run_is_also_trained_without_each_fold() -> None:
    folds = replace(TASKS["sbm-20"], folds=4)
    splits = replace(folds.splits(0), validation=None)
    method = constant()
    (record,) = evaluate_runs(method, splits, [Run({}, 1)], "robust", EvaluationOptions())
    calls = method.learner.calls  # type: ignore[attr-defined]
    assert [len(data.train) for data, *_ in calls] == [60, 60, 60, 60, 80]
    assert all(data.validation is None for data, *_ in calls)
    assert len(record.folds) == 4
    y = np.asarray(splits.train.y)
    assert record.scores.validation == pytest.approx(np.mean(record.folds))
    assert np.mean(record.folds) == pytest.approx((y == 1).mean())  # the folds are all training graphs once


def test_a_stack_that_does_not_fit_into_memory_is_halved(task: Task) -> None:
    method = constant(largest=3)
    runs = [Run({}, seed) for seed in range(10)]
    records = list(evaluate_runs(method, task.splits(), runs, "robust", EvaluationOptions()))
    assert [record.seed for record in records] == list(range(10))
    with pytest.raises(MemoryError, match="one model of constant does not fit"):
        list(evaluate_runs(constant(largest=0), task.splits(), runs, "robust", EvaluationOptions()))


def test_a_cache_that_is_a_file_is_refused(task: Task, tmp_path: Any) -> None:
    (tmp_path / "notes").write_text("")
    with pytest.raises(ValueError, match="is a file"):
        list(evaluate(az.METHODS["majority"], [task.splits()], [0], cache=tmp_path / "notes"))
