"""Train runs and turn them into records: prepare the graphs of a task, train stacks of models, score every split."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from typing import Any

import numpy as np
import torch

from anysize._json import JsonScalar, canonical_configuration, compact_json
from anysize._progress import Progress, part_of
from anysize._typing import FloatArray, IntArray
from anysize.experiments.memory import fit_in_memory
from anysize.experiments.plan import SPLIT_SEED, RunBatch, data_of
from anysize.experiments.records import (
    MAX_CURVE_POINTS,
    Curves,
    Outcome,
    Record,
    Scores,
    encode,
    evenly_spread,
    now,
    round_significant,
    versions,
)
from anysize.graphs.graphset import GraphSet
from anysize.methods.catalog import find_method
from anysize.methods.classical import FittedKernel
from anysize.methods.configuration import recipe_changes, split_configuration
from anysize.methods.grids import Configuration
from anysize.methods.method import (
    Examples,
    Fitted,
    LearningTask,
    Method,
    Run,
    Sizes,
    checked_probabilities,
    class_weights,
    sizes_of,
)
from anysize.methods.neural import FittedStack
from anysize.methods.recipes import RecipeName
from anysize.tasks.catalog import find_task, register
from anysize.tasks.metrics import all_metrics
from anysize.tasks.task import FOLDS, Data, DataDir, Task, labels, stratified_folds
from anysize.training.device import one_thread, resolve_device
from anysize.training.loop import Trained
from anysize.training.settings import BEST_LOWEST_PENALTY

PREPARED_CACHE_SIZE = 8  # data sets that a process keeps in memory

LOSS_DIGITS = 6  # significant digits in records: all of them would be most of a compressed line

CountsKey = tuple[Sizes, bool]  # sizes of patterns, and whether colors matter


# ---- the graphs of a task --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Prepared:
    """The examples of a task, ready for every method; validation is None if the task has folds or too few graphs."""

    task: Task
    train: Examples
    validation: Examples | None
    test: Examples
    classes: int
    cache: Any = None

    @property
    def sets(self) -> dict[str, Examples]:
        """The sets by name, without an absent validation set."""
        named = {"train": self.train, "validation": self.validation, "test": self.test}
        return {name: examples for name, examples in named.items() if examples is not None}

    @property
    def test_labels(self) -> str:
        """The classes of the test graphs, encoded for records."""
        return encode(self.test.labels())

    def count(self, keys: Iterable[CountsKey], report: Progress | None = None) -> None:
        """Count the patterns that methods need, through the count cache."""
        todo = [(examples, *key) for key in keys for examples in self.sets.values()]
        for done, (examples, sizes, colors) in enumerate(todo, 1):
            examples.counts(sizes, self.cache, colors)
            if report is not None:
                report(done / len(todo))

    def problem(self, device: str, recipe: RecipeName) -> LearningTask:
        """The input of a method's training. Classes are balanced, except where the paper does not weigh them."""
        known = [examples.labels() for examples in (self.train, self.validation) if examples is not None]
        rule = self.task.class_weights or ("balanced" if recipe == "robust" else None)
        weights = None if rule is None else class_weights(np.concatenate(known), self.classes, rule)
        return LearningTask(
            self.train, self.validation, self.classes, k=self.task.k, metric=self.task.metric,
            top=self.task.vocabulary, class_weights=weights, device=device, cache=self.cache,
        )  # fmt: skip

    def folds(self) -> Iterator[tuple[Prepared, Examples]]:
        """For each fold: the examples without it, and the fold."""
        fold: IntArray = stratified_folds(self.train.labels(), FOLDS, SPLIT_SEED)
        for held_out in range(FOLDS):
            rest = self.train.rows(fold != held_out)
            yield (
                Prepared(self.task, rest, None, self.test, self.classes, self.cache),
                self.train.rows(fold == held_out),
            )


def prepare(
    task: Task, data: Data | None = None, data_dir: DataDir = None, cache: Any = None, split_seed: int = SPLIT_SEED
) -> Prepared:
    """Draw or read the graphs of a task, without counting."""
    splits = task.splits(data, split_seed, data_dir)
    environments = splits.environments

    def examples(graphs: GraphSet, environment: IntArray) -> Examples:
        return Examples(graphs, labels(graphs), environment)

    validation = None
    if splits.validation is not None and environments.validation is not None:
        validation = examples(splits.validation, environments.validation)
    train, test = examples(splits.train, environments.train), examples(splits.test, environments.test)
    return Prepared(task, train, validation, test, len(splits.classes), cache)


@lru_cache(maxsize=PREPARED_CACHE_SIZE)
def load_prepared(task: str, data: str, data_dir: str | None, cache: str | None) -> Prepared:
    """`prepare` by name, cached: the batches of a sweep share a few data sets."""
    data_set, split_seed = data_of(data)
    return prepare(find_task(task), data_set, data_dir, cache, split_seed)


def counts_needed(method: Method, task: Task, configurations: Iterable[Configuration]) -> list[CountsKey]:
    """The keys of the counts that a method needs."""
    if not method.patterns:
        return []
    sizes = dict.fromkeys(sizes_of(configuration, task.k) for configuration in configurations)
    return [(size, method.colors) for size in sizes]


# ---- training ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TrainingOptions:
    """How runs are trained, and what is kept of them.

    Attributes:
        device: `cpu`, `cuda`, `cuda:1`; in a sweep also `auto`, which is resolved in the worker.
        max_stack: the most models in one stack; by default what suits the method and the device.
        curve_points: epochs kept of each training curve; 0 keeps none.
        ranks: whether to keep how every run ranks the test graphs, which takes a number per graph and class.
    """

    device: str = "cpu"
    max_stack: int | None = None
    curve_points: int = MAX_CURVE_POINTS
    ranks: bool = False


def train_runs(
    ready: Prepared, data: str, method: Method, recipe: RecipeName, runs: Sequence[Run], options: TrainingOptions,
    report: Progress | None = None,
) -> list[Record]:  # fmt: skip
    """Train runs of one method on one data set.

    If the task has folds, five models are trained for every run, each without one fold, and the mean of their scores
    on the held-out folds is the validation score. A sixth model, trained on all training graphs, is tested. All are
    taken at their last epoch, because there are no validation graphs to choose another one.
    """
    ready.count(counts_needed(method, ready.task, [run.configuration for run in runs]))
    found: dict[str, Record] = {}

    def changes(run: Run) -> str:
        return compact_json(canonical_configuration(recipe_changes(method, run.configuration)))

    groups = [list(members) for _, members in groupby(sorted(runs, key=changes), key=changes)]
    for place, members in enumerate(groups):
        trainer = _Trainer(ready, data, method, recipe, members, options, part_of(report, place, len(groups)))
        with one_thread():
            found |= {_run_key(record.configuration, record.seed): record for record in trainer.records()}
    return [found[_run_key(run.configuration, run.seed)] for run in runs]


def train_batch(
    batch: RunBatch, options: TrainingOptions, data_dir: str | None, cache: str | None, own_tasks: Sequence[Task] = (),
    report: Progress | None = None,
) -> list[Record]:  # fmt: skip
    """Train a batch of a sweep; ``own_tasks`` are those that a worker process does not know yet."""
    for task in own_tasks:
        register(task)
    ready = load_prepared(batch.task, batch.data, data_dir, cache)
    here = replace(options, device=resolve_device(options.device))
    return train_runs(ready, batch.data, find_method(batch.method), batch.recipe, batch.runs, here, report)


class _Trainer:
    """Trains runs that share a recipe."""

    def __init__(
        self, ready: Prepared, data: str, method: Method, recipe: RecipeName, runs: Sequence[Run],
        options: TrainingOptions, report: Progress | None,
    ) -> None:  # fmt: skip
        self.prepared, self.data, self.method, self.recipe_name, self.options = ready, data, method, recipe, options
        own = method.recipe(recipe, ready.task.family, ready.task.sparse)
        _, self.recipe = split_configuration(method, method.complete(runs[0].configuration), own)
        self.runs = [Run(split_configuration(method, method.complete(run.configuration))[0], run.seed) for run in runs]
        self.planned = {
            _run_key(run.configuration, run.seed): given.configuration
            for run, given in zip(self.runs, runs, strict=True)
        }
        self.report = report
        self.folded = ready.task.protocol == "folds"
        self.curve_metric = ""
        self.parts = FOLDS + 1 if self.folded else 1

    def records(self) -> Iterator[Record]:
        scores, spent = self._folds() if self.folded else ({}, {})
        began = time.perf_counter()
        problem = self.prepared.problem(self.options.device, self.recipe_name)
        self.curve_metric = "" if problem.epoch_metric == problem.metric else problem.epoch_metric
        for fitted in self._fit(problem, self.parts - 1):
            probabilities = {name: _probabilities_of(fitted, examples) for name, examples in self.prepared.sets.items()}
            finer = fitted.margins(self.prepared.test) if isinstance(fitted, FittedKernel) else None
            seconds = (time.perf_counter() - began) / len(fitted.runs)
            for member, run in enumerate(fitted.runs):
                key = _run_key(run.configuration, run.seed)
                finer_own = None if finer is None else finer[member]
                folds = scores.get(key, ())
                validation = float(np.mean(folds)) if folds else None
                outcomes = self._outcomes(fitted.trained, member, run, probabilities, validation, finer_own)
                record = self._record(fitted.trained, member, run, outcomes, seconds + spent.get(key, 0.0))
                yield replace(record, folds=folds)
            began = time.perf_counter()

    def _score(self, split: str, probabilities: FloatArray) -> float:
        return self.prepared.task.score(self.prepared.sets[split].labels(), probabilities.argmax(axis=-1))

    def _folds(self) -> tuple[dict[str, tuple[float, ...]], dict[str, float]]:
        """The validation scores of every run on the folds, and its seconds."""
        scores: dict[str, list[float]] = {}
        spent: dict[str, float] = {}
        for place, (part, held_out) in enumerate(self.prepared.folds()):
            began = time.perf_counter()
            for fitted in self._fit(part.problem(self.options.device, self.recipe_name), place):
                predicted = checked_probabilities(fitted, held_out).argmax(axis=-1)
                seconds = (time.perf_counter() - began) / len(fitted.runs)
                for run, classes in zip(fitted.runs, predicted, strict=True):
                    key = _run_key(run.configuration, run.seed)
                    scores.setdefault(key, []).append(self.prepared.task.score(held_out.labels(), classes))
                    spent[key] = spent.get(key, 0.0) + seconds
                began = time.perf_counter()
        return {key: tuple(values) for key, values in scores.items()}, spent

    def _fit(self, problem: LearningTask, part: int) -> Iterator[Fitted]:
        return fit_in_memory(
            self.method, problem, self.runs, self.recipe, part_of(self.report, part, self.parts), self.options.max_stack
        )

    def _outcomes(
        self,
        trained: Trained | None,
        member: int,
        run: Run,
        probabilities: Mapping[str, FloatArray],
        validation: float | None,
        ranking: FloatArray | None = None,
    ) -> dict[str, Outcome]:
        """The outcome of one model at its chosen epoch, and under every rule whose state was kept.

        That of the chosen epoch has all metrics.
        """
        kept = {} if trained is None or trained.kept is None else trained.kept.epochs
        epochs = {"chosen": None if trained is None else trained.epoch} | kept
        penalized = self.method.penalized(run.configuration)
        found: dict[str, Outcome] = {}
        by_epoch: dict[int | None, Outcome] = {}
        for place, (name, epoch) in enumerate(epochs.items()):
            if name == BEST_LOWEST_PENALTY and not penalized:
                continue
            at = None if trained is None or epoch is None else _epoch_number(trained, int(epoch[member]))
            if at not in by_epoch:
                models = len(probabilities["test"]) // len(epochs)
                known = {split: table[place * models + member] for split, table in probabilities.items()}
                penalty = float(trained.curves["penalty"][at - 1, member]) if trained and at and penalized else None
                by_epoch[at] = self._outcome(known, at, penalty, validation)
                if name == "chosen":
                    by_epoch[at] = self._with_metrics(by_epoch[at], known["test"], ranking)
            found[name] = by_epoch[at]
        return found

    def _outcome(
        self,
        probabilities: Mapping[str, FloatArray],
        epoch: int | None,
        penalty: float | None,
        validation: float | None,
    ) -> Outcome:
        scores = {name: self._score(name, table) for name, table in probabilities.items()}
        if validation is not None:
            scores["validation"] = validation
        losses = {}
        if epoch is not None:
            losses = {name: _cross_entropy(self.prepared.sets[name], table) for name, table in probabilities.items()}
        predictions = encode(probabilities["test"].argmax(axis=-1))
        return Outcome(Scores(**scores), Scores(**losses), penalty, epoch, predictions)

    def _with_metrics(self, outcome: Outcome, probabilities: FloatArray, ranking: FloatArray | None) -> Outcome:
        ranks = _ranks(probabilities if ranking is None else ranking) if self.options.ranks else ()
        return replace(outcome, metrics=all_metrics(self.prepared.test.labels(), probabilities, ranking), ranks=ranks)

    def _record(
        self,
        trained: Trained | None,
        member: int,
        run: Run,
        outcomes: Mapping[str, Outcome],
        seconds: float,
    ) -> Record:
        # validation chose the epoch if it was scored in every epoch
        by_validation = trained is not None and bool(torch.isfinite(trained.curves["validation_score"]).all())
        epochs = None if trained is None else len(trained.curves["loss"])
        return Record(
            self.prepared.task.name,
            self.data,
            self.method.name,
            self.recipe_name,
            self.planned[_run_key(run.configuration, run.seed)],
            run.seed,
            outcomes["chosen"],
            epochs=epochs,
            tied_epochs=int(trained.ties[member]) if trained is not None and by_validation else None,
            alternatives={name: outcome for name, outcome in outcomes.items() if name != "chosen"},
            curves=None
            if trained is None
            else thin_curves(trained, member, self.options.curve_points, self.curve_metric),
            labels=self.prepared.test_labels,
            metric=self.prepared.task.metric,
            versions=versions(),
            device=device_name(self.options.device),
            seconds=round(seconds, 4),
            when=now(),
        )


def thin_curves(trained: Trained, member: int, points: int, metric: str = "") -> Curves | None:
    """Evenly spread epochs of the curves of one model, of those with a validation score if there are any.

    ``metric``: of the validation score, where it is not that of the task.
    """
    if not points:
        return None
    loss, score, penalty = (trained.curves[name][:, member] for name in ("loss", "validation_score", "penalty"))
    scored = torch.isfinite(score)
    known = torch.nonzero(scored if scored.any() else torch.isfinite(loss))[:, 0].tolist()
    epochs = [known[at] for at in evenly_spread(len(known), points)]

    def values(curve: torch.Tensor) -> tuple[float | None, ...]:
        return tuple(round_significant(float(curve[at])) for at in epochs)

    return Curves(
        tuple(at + 1 for at in epochs),
        values(loss),
        values(score) if scored.any() else (),
        values(penalty) if penalty.nan_to_num().any() else (),
        metric if scored.any() else "",
    )


def device_name(device: str) -> str:
    """The name of a device in records: the name of the GPU, or cpu."""
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else device


def _probabilities_of(fitted: Fitted, examples: Examples) -> FloatArray:
    """(models, graphs, classes), followed by the same at the epochs of other rules, where they were kept."""
    if isinstance(fitted, FittedStack) and fitted.trained is not None:
        return fitted.probabilities(examples, fitted.trained.kept)
    return checked_probabilities(fitted, examples)


def _ranks(scores: FloatArray) -> tuple[tuple[int, ...], ...]:
    """The ranks of the graphs by the score of each class, of two classes by that of the second; ties have equal ranks.

    >>> _ranks(np.array([[0.8, 0.2], [0.5, 0.5], [0.8, 0.2]]))
    ((0, 1, 0),)
    """
    columns = scores.T[1:] if scores.shape[1] == 2 else scores.T
    return tuple(tuple(np.unique(column, return_inverse=True)[1].tolist()) for column in columns)


def _epoch_number(trained: Trained, epoch: int) -> int:
    """The epoch of kept weights, counted from 1; the last one if no epoch was good."""
    return len(trained.curves["loss"]) if epoch < 0 else epoch + 1


def _cross_entropy(examples: Examples, probabilities: FloatArray) -> float | None:
    true = probabilities[np.arange(len(probabilities)), examples.labels()]
    return round_significant(float(-np.log(np.maximum(true, np.finfo(np.float64).tiny)).mean()), LOSS_DIGITS)


def _run_key(configuration: Mapping[str, JsonScalar], seed: int) -> str:
    return compact_json([canonical_configuration(configuration), seed])
