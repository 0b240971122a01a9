"""The one loop: train a method on splits of graphs and score it, one record per run.

Comparisons, the league and sweeps share it. A sweep (`anysize.evaluation.sweep`) adds worker processes and a folder of
records.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from anysize._errors import require
from anysize._progress import Progress, part_of
from anysize._typing import FloatArray, IntArray, PathLike
from anysize.counting.cache import CountCache
from anysize.evaluation.records import Curves, Outcome, Record, Scores, encode, evenly_spread, now, round_significant
from anysize.evaluation.records import versions as package_versions
from anysize.evaluation.tasks import Splits, Task, data_name
from anysize.methods import defaults
from anysize.methods.configuration import settings_for, split_configuration
from anysize.methods.method import (
    Configuration,
    Examples,
    Fitted,
    Method,
    RecipeName,
    Run,
    TrainingData,
    checked_outputs,
    class_weights,
)
from anysize.metrics import all_metrics, ranks_by_class, score_outputs
from anysize.splits import stratified_folds
from anysize.training.device import one_thread, resolve_device
from anysize.training.settings import BEST_LOWEST_PENALTY, Recipe

if TYPE_CHECKING:
    from torch import Tensor

    from anysize.training.loop import Trained

DIGITS = 6  # significant digits of losses and numbers in records: all of them would be most of a compressed line
FOLD_SEED = 0  # the same folds for all models: the paper's kernels have no deviation


@dataclass(frozen=True)
class EvaluationOptions:
    """How runs are trained, and what records keep of them.

    Attributes:
        device: `cpu`, `cuda`, `cuda:1`; in a sweep also `auto`, which is resolved in the worker.
        cache: cache folder of counts.
        max_stack: the most models in one stack; by default what suits the method and the device.
        curve_points: epochs kept of each training curve; 0 keeps none.
        ranks: whether to keep how every run ranks the test graphs, which takes a number per graph and class.
        epoch_rules: whether to score the epochs of all rules (`anysize.training.settings.EPOCH_RULES`).
    """

    device: str = "cpu"
    cache: PathLike | None = None
    max_stack: int | None = None
    curve_points: int = 0
    ranks: bool = False
    epoch_rules: bool = False

    def __post_init__(self) -> None:
        if self.cache is not None:
            CountCache(self.cache)  # refuses a file, which would otherwise fail every method that counts


def evaluate(
    method: Method,
    splits: Iterable[Splits],
    seeds: Sequence[int],
    settings: Mapping[str, Any] | None = None,
    *,
    recipe: RecipeName = defaults.RECIPE,
    device: str = defaults.DEVICE,
    cache: PathLike | None = None,
    progress: Progress | None = None,
) -> Iterator[Record]:
    """Train a method on every split with every seed, and score it: one record per run, as soon as it is there.

    Args:
        method: an entry of `anysize.METHODS`, or one of your own.
        splits: training, validation and test graphs, such as ``task.splits(seed=0)``.
        seeds: of the models; a method without randomness needs one.
        settings: changes of the default configuration, such as ``{"epochs": 50}``; those that the method does not have
            are ignored.
        recipe: `robust` or `paper`.
        device: `cpu`, `cuda` or `auto`.
        cache: cache folder of counts.
        progress: called with the share of the runs of one split that is done.

    Examples:
        >>> import anysize as az
        >>> edges = [[(i, i + 1) for i in range(n)] + [(0, n)] * (n % 2) for n in range(3, 63)]
        >>> task = az.size_split(az.GraphSet.from_edges(edges, y=["ring", "path"] * 30))
        >>> records = evaluate(az.METHODS["wl-kernel"], [task.splits(seed=0), task.splits(seed=1)], seeds=[0])
        >>> [record.scores.test for record in records]
        [1.0, 1.0]
    """
    require("sklearn", "evaluate")
    options = EvaluationOptions(resolve_device(device), cache)
    for split in splits:
        configuration = task_configuration(method, split, recipe) | settings_for(method, settings or {})
        yield from evaluate_runs(method, split, [Run(configuration, seed) for seed in seeds], recipe, options, progress)


def task_configuration(method: Method, splits: Splits | Task, recipe: RecipeName) -> Configuration:
    """The default configuration of a method on a task; graphs that are there say what the task leaves open."""
    task = splits if isinstance(splits, Task) else splits.task
    colored, vanishing = bool(task.color_penalty), bool(task.vanishing)
    if isinstance(splits, Splits) and method.patterns:
        colored, vanishing = splits.color_penalty, splits.vanishing
    return method.default(recipe, task.family, colored, vanishing, task.name)


def evaluate_runs(
    method: Method, splits: Splits, runs: Sequence[Run], recipe: RecipeName, options: EvaluationOptions,
    progress: Progress | None = None,
) -> Iterator[Record]:  # fmt: skip
    """Train runs of one method on one split, in stacks, and score them.

    If the task has folds, every run is also trained without each fold, and the mean of the scores on the held-out folds
    is its validation score. The model that is tested is trained on all training graphs. All are taken at their last
    epoch, because there are no validation graphs to choose another one.
    """
    base = method.recipe(recipe, splits.task.family, method.patterns and splits.vanishing)
    if splits.train.colors is None:  # bins are no names that could be interchanged
        base = replace(base, roles=False)
    splits = splits.binned if method.features == "bins" else splits
    groups: dict[Recipe, _Group] = {}
    for run in runs:
        model, run_recipe = split_configuration(method, {**method.defaults, **run.configuration}, base)
        if run_recipe not in groups:
            groups[run_recipe] = _Group(method, splits, recipe, run_recipe, options)
        groups[run_recipe].runs.append(Run(model, run.seed))
        groups[run_recipe].configurations.append(run.configuration)
    with one_thread():
        for number, group in enumerate(groups.values()):
            yield from group.records(part_of(progress, number, len(groups)))


@dataclass(frozen=True)
class _Group:
    """Runs of one method on one split that share a recipe.

    ``configurations``: those of the runs as they were planned, with changes of the recipe and without defaults.
    """

    method: Method
    splits: Splits
    recipe_name: RecipeName
    recipe: Recipe
    options: EvaluationOptions
    runs: list[Run] = field(default_factory=list)
    configurations: list[Configuration] = field(default_factory=list)

    def records(self, progress: Progress | None) -> Iterator[Record]:
        sets, task = self.splits.examples, self.splits.task
        data = self._data(sets["train"], sets.get("validation"))
        fold_scores = self._fold_scores(progress) if task.folds else {}
        labels = encode(sets["test"].labels()) if data.classes else ""
        targets = () if data.classes else rounded(sets["test"].numbers())
        began = time.perf_counter()
        for fitted in self._fit(data, part_of(progress, task.folds, task.folds + 1)):
            kept = fitted.trained.kept if self.options.epoch_rules and fitted.trained is not None else None
            outputs = {name: checked_outputs(fitted, examples, kept) for name, examples in sets.items()}
            margins = fitted.margins(sets["test"]) if hasattr(fitted, "margins") else None
            seconds = (time.perf_counter() - began) / len(fitted.runs)
            for member, run in enumerate(fitted.runs):
                number = self.runs.index(run)
                folds, fold_seconds = fold_scores.get(number, ((), 0.0))
                outcomes = self._outcomes(fitted.trained, member, run, outputs, folds, margins)
                trained = {} if fitted.trained is None else self._about_training(fitted.trained, member, data)
                yield Record(
                    task.name, data_name(self.splits.data, self.splits.seed), self.method.name, self.recipe_name,
                    self.configurations[number], run.seed, outcomes.pop("chosen"), alternatives=outcomes, folds=folds,
                    labels=labels, targets=targets, metric=task.metric, versions=package_versions(),
                    device=device_name(self.options.device),
                    seconds=round(seconds + fold_seconds, 4), when=now(), **trained,
                )  # fmt: skip
            began = time.perf_counter()

    def _data(self, train: Examples, validation: Examples | None) -> TrainingData:
        """The input of training. Classes are balanced, except where the paper does not weight them."""
        task, classes = self.splits.task, len(self.splits.classes)
        y = train.strata() if validation is None else np.concatenate([train.strata(), validation.strata()])
        rule = task.class_weights or "balanced"
        weighted = classes > 0 and (
            self.recipe_name == "robust" or (task.class_weights is not None and self.method.weighted_in_paper)
        )
        return TrainingData(
            train, validation, classes, k=task.k, metric=task.metric, top=task.top,
            class_weights=class_weights(y, classes, rule) if weighted else None,
            device=self.options.device, cache=self.options.cache,
        )  # fmt: skip

    def _fit(self, data: TrainingData, progress: Progress | None) -> Iterator[Fitted]:
        """Train the runs; if a GPU runs out of memory, go on with stacks of half the size."""
        waiting, max_stack = list(self.runs), self.options.max_stack
        while waiting:
            try:
                for fitted in self.method.fit(data, waiting.copy(), self.recipe, progress, max_stack):
                    for run in fitted.runs:
                        waiting.remove(run)
                    yield fitted
            except RuntimeError as error:
                if type(error).__name__ != "OutOfMemoryError":  # of torch, which not all methods need
                    raise
                size = min(max_stack or len(waiting), len(waiting))
                if size == 1:
                    raise MemoryError(
                        f"one model of {self.method.name} does not fit into the memory of the GPU"
                    ) from None
                max_stack = (size + 1) // 2
                _free_gpu_memory()

    def _fold_scores(self, progress: Progress | None) -> dict[int, tuple[tuple[float, ...], float]]:
        """Number of a run -> its scores on the held-out folds, and its seconds."""
        task, train = self.splits.task, self.splits.examples["train"]
        fold_of = stratified_folds(train.strata(), task.folds, FOLD_SEED)
        scores: dict[int, tuple[tuple[float, ...], float]] = {}
        for fold in range(task.folds):
            began, held_out = time.perf_counter(), train.rows(fold_of == fold)
            data = self._data(train.rows(fold_of != fold), None)
            for fitted in self._fit(data, part_of(progress, fold, task.folds + 1)):
                outputs = checked_outputs(fitted, held_out)
                seconds = (time.perf_counter() - began) / len(fitted.runs)
                for run, table in zip(fitted.runs, outputs, strict=True):
                    number = self.runs.index(run)
                    earlier, spent = scores.get(number, ((), 0.0))
                    scores[number] = (*earlier, self._score(held_out, table)), spent + seconds
                began = time.perf_counter()
        return scores

    def _score(self, examples: Examples, outputs: FloatArray, metric: str | None = None) -> float:
        """The score in the metric of the task, or in another one."""
        return score_outputs(metric or self.splits.task.metric, *_as_recorded(np.asarray(examples.y), outputs))

    def _outcomes(
        self, trained: Trained | None, member: int, run: Run, outputs: Mapping[str, FloatArray],
        folds: Sequence[float], margins: FloatArray | None,
    ) -> dict[str, Outcome]:  # fmt: skip
        """The outcome of one model at its chosen epoch, with all metrics, and at the epochs of other rules."""
        test, sets = self.splits.examples["test"], self.splits.examples
        epochs: dict[str, Any] = {"chosen": None if trained is None else trained.epoch}
        if self.options.epoch_rules and trained is not None and trained.kept is not None:
            epochs |= trained.kept.epochs
        models, classes = len(outputs["test"]) // len(epochs), len(self.splits.classes)
        penalized = self.method.is_penalized(run.configuration)
        outcomes: dict[str, Outcome] = {}
        for rule, (name, epoch_of) in enumerate(epochs.items()):
            if name == BEST_LOWEST_PENALTY and not penalized:
                continue
            if rule and epoch_of[member] == epochs["chosen"][member]:
                outcomes[name] = outcomes["chosen"]
                continue
            tables = {split: by_model[rule * models + member] for split, by_model in outputs.items()}
            scores: dict[str, float] = {split: self._score(sets[split], table) for split, table in tables.items()}
            losses: dict[str, float | None] = {}
            epoch = penalty = None
            if trained is not None:
                if classes:
                    losses = {split: _cross_entropy(sets[split], table) for split, table in tables.items()}
                last = len(trained.curves["loss"])
                epoch = last if epoch_of[member] < 0 else int(epoch_of[member]) + 1
                penalty = float(trained.curves["penalty"][epoch - 1, member]) if penalized else None
            if folds:
                scores["validation"] = float(np.mean(folds))
            outcomes[name] = Outcome(
                Scores(**scores), Scores(**losses), penalty, epoch,
                encode(tables["test"].argmax(axis=-1)) if classes else "", selected_by=self._selected_by(tables),
                numbers=() if classes else rounded(tables["test"][:, 0]),
            )  # fmt: skip
            if name == "chosen":
                ranking = tables["test"] if margins is None else margins[member]
                metrics = all_metrics(*_as_recorded(np.asarray(test.y), tables["test"]), ranking)
                ranks: tuple[tuple[int, ...], ...] = ()
                if self.options.ranks and classes:
                    ranks = tuple(map(tuple, ranks_by_class(ranking).tolist()))
                outcomes[name] = replace(outcomes[name], metrics=metrics, ranks=ranks)
        return outcomes

    def _selected_by(self, tables: Mapping[str, FloatArray]) -> float | None:
        """The validation score in the metric that selects configurations; None where that is the one of the task."""
        metric = self.method.selection_metric
        if metric in (None, self.splits.task.metric) or "validation" not in tables or not self.splits.classes:
            return None
        return self._score(self.splits.examples["validation"], tables["validation"], metric)

    def _about_training(self, trained: Trained, member: int, data: TrainingData) -> dict[str, Any]:
        """Fields of a record for methods with epochs."""
        # validation chose the epoch if it was scored in every epoch
        by_validation = bool(trained.curves["validation_score"].isfinite().all())
        metric = "" if data.epoch_metric == data.metric else data.epoch_metric
        return {
            "epochs": len(trained.curves["loss"]),
            "tied_epochs": int(trained.ties[member]) if by_validation else None,
            "curves": thin_curves(trained, member, points, metric) if (points := self.options.curve_points) else None,
        }


def thin_curves(trained: Trained, member: int, points: int, metric: str = "") -> Curves:
    """Evenly spread epochs of the curves of one model, of those with a validation score if there are any.

    ``metric``: of the validation score, where it is not that of the task.
    """
    loss, score, penalty = (trained.curves[name][:, member] for name in ("loss", "validation_score", "penalty"))
    scored = score.isfinite()
    known = (scored if scored.any() else loss.isfinite()).nonzero()[:, 0].tolist()
    epochs = [known[position] for position in evenly_spread(len(known), points)]

    def values(curve: Tensor) -> tuple[float | None, ...]:
        return tuple(round_significant(float(curve[epoch])) for epoch in epochs)

    return Curves(
        tuple(epoch + 1 for epoch in epochs),
        values(loss),
        values(score) if scored.any() else (),
        values(penalty) if penalty.nan_to_num().any() else (),
        metric if scored.any() else "",
    )


def device_name(device: str) -> str:
    """The name of a device in records: the name of the GPU, or cpu."""
    if not device.startswith("cuda"):
        return device
    import torch

    return str(torch.cuda.get_device_name(device))


def _free_gpu_memory() -> None:
    import torch

    torch.cuda.empty_cache()


def _cross_entropy(examples: Examples, probabilities: FloatArray) -> float | None:
    true = probabilities[np.arange(len(probabilities)), examples.labels()]
    return round_significant(float(-np.log(np.maximum(true, np.finfo(np.float64).tiny)).mean()), DIGITS)


def _as_recorded(
    y: IntArray | FloatArray, outputs: FloatArray
) -> tuple[IntArray | FloatArray, FloatArray]:  # fmt: skip
    """Numbers as records keep them, so that their scores follow from a record; classes as they are."""
    if y.dtype.kind != "f":
        return y, outputs
    numbers, predicted = (np.array(rounded(values.astype(np.float64)), np.float64) for values in (y, outputs[:, 0]))
    return numbers, predicted[:, None]


def rounded(numbers: FloatArray) -> tuple[float, ...]:
    """Numbers for a record; an error unless all are finite."""
    if not np.isfinite(numbers).all():
        raise ValueError(f"predicted numbers must be finite; {int((~np.isfinite(numbers)).sum())} are not")
    return tuple(float(f"{number:.{DIGITS}g}") for number in numbers.tolist())
