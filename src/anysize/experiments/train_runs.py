"""Runs become records: models are trained in stacks, scored on every split, and written down."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
import torch

from anysize import __version__
from anysize._json import Plain, compact_json, plain
from anysize._typing import FloatArray
from anysize.experiments.memory import fit_in_memory
from anysize.experiments.plan import RunBatch
from anysize.experiments.prepare import Prepared, prepared, tables_for
from anysize.experiments.records import POINTS, Curves, Outcome, Record, Scores, encode, now, places, rounded, versions
from anysize.methods.catalog import find_method
from anysize.methods.configuration import recipe_changes, split_configuration
from anysize.methods.method import Examples, Fitted, LearningTask, Method, Run
from anysize.methods.neural import FittedGamma, FittedGNN
from anysize.methods.recipes import RecipeName
from anysize.tasks.task import FOLDS
from anysize.training.device import resolve_device
from anysize.training.loop import Trained

ShareDone = Callable[[float], None]


@dataclass(frozen=True)
class Job:
    """How runs are trained, and what is kept of them.

    Attributes:
        device: `cpu`, `cuda`, `cuda:1`; in a sweep also `auto`, which is decided where the work is done.
        most: the most models in one stack; as many as the method thinks right if None.
        points: epochs kept of each training curve; 0 keeps none.
    """

    device: str = "cpu"
    most: int | None = None
    points: int = POINTS


def records_of(
    ready: Prepared, data: str, method: Method, recipe: RecipeName, runs: Sequence[Run], job: Job,
    report: ShareDone | None = None,
) -> list[Record]:  # fmt: skip
    """Train runs of one method on one data set.

    Where the task has folds, five models are trained for every run, each without one fold; the mean of their scores
    on it is the validation score. Then all training graphs train the model that is tested. All of them are at their
    last epoch: there are no validation graphs to choose another by.
    """
    ready.count(tables_for(method, ready.task, [run.configuration for run in runs]))
    found: dict[str, Record] = {}
    groups = [list(own) for _, own in groupby(sorted(runs, key=_changes), key=_changes)]
    for place, own in enumerate(groups):
        maker = _Maker(ready, data, method, recipe, own, job, _part(report, place, len(groups)))
        with _one_thread():
            found |= {_name(record.configuration, record.seed): record for record in maker.records()}
    return [found[_name(run.configuration, run.seed)] for run in runs]


def work(
    piece: RunBatch, job: Job, data_dir: str | None, cache: str | None, report: ShareDone | None = None
) -> list[Record]:
    """Train a piece of a sweep."""
    ready = prepared(piece.task, piece.data, data_dir, cache)
    here = replace(job, device=resolve_device(job.device))
    return records_of(ready, piece.data, find_method(piece.method), piece.recipe, piece.runs, here, report)


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread of torch: sums are the same on any number of cores, and products of this size gain nothing by more."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class _Maker:
    """Runs whose recipe is the same."""

    def __init__(
        self, ready: Prepared, data: str, method: Method, recipe: RecipeName, runs: Sequence[Run], job: Job,
        report: ShareDone | None,
    ) -> None:  # fmt: skip
        self.prepared, self.data, self.method, self.name, self.job = ready, data, method, recipe, job
        self.changes = recipe_changes(runs[0].configuration)
        _, self.recipe = split_configuration(self.changes, method.recipe(recipe, ready.task.family))
        self.runs = [Run(split_configuration(run.configuration)[0], run.seed) for run in runs]
        self.report = report
        self.folded = ready.task.protocol == "folds"
        self.parts = FOLDS + 1 if self.folded else 1

    def records(self) -> Iterator[Record]:
        scores, spent = self._folds() if self.folded else ({}, {})
        began = time.perf_counter()
        problem = self.prepared.problem(self.job.device)
        for fitted in self._fit(problem, self.parts - 1):
            chances = {name: _probabilities(fitted, examples) for name, examples in self.prepared.sets.items()}
            seconds = (time.perf_counter() - began) / len(fitted.runs)
            for member, run in enumerate(fitted.runs):
                own = _name(run.configuration, run.seed)
                known = {name: table[member] for name, table in chances.items()}
                outcome = self._outcome(fitted.trained, member, run, known, scores.get(own))
                after = {name: table[len(fitted.runs) + member :][:1] for name, table in chances.items()}
                last = {name: self._score(name, table[0]) for name, table in after.items() if len(table)}
                yield self._record(fitted.trained, member, run, outcome, last, seconds + spent.get(own, 0.0))
            began = time.perf_counter()

    def _score(self, split: str, chances: FloatArray) -> float:
        return self.prepared.task.score(self.prepared.sets[split].labels(), chances.argmax(axis=-1))

    def _folds(self) -> tuple[dict[str, float], dict[str, float]]:
        """The mean validation score of every run over the folds, and the seconds it took."""
        scores: dict[str, list[float]] = {}
        spent: dict[str, float] = {}
        for place, (part, held) in enumerate(self.prepared.folds()):
            began = time.perf_counter()
            for fitted in self._fit(part.problem(self.job.device), place):
                predicted = fitted.probabilities(held).argmax(axis=-1)
                seconds = (time.perf_counter() - began) / len(fitted.runs)
                for run, classes in zip(fitted.runs, predicted, strict=True):
                    own = _name(run.configuration, run.seed)
                    scores.setdefault(own, []).append(self.prepared.task.score(held.labels(), classes))
                    spent[own] = spent.get(own, 0.0) + seconds
                began = time.perf_counter()
        return {own: float(np.mean(values)) for own, values in scores.items()}, spent

    def _fit(self, problem: LearningTask, part: int) -> Iterator[Fitted]:
        return fit_in_memory(
            self.method, problem, self.runs, self.recipe, _part(self.report, part, self.parts), self.job.most
        )

    def _outcome(
        self, trained: Trained | None, member: int, run: Run, chances: dict[str, FloatArray], validation: float | None
    ) -> Outcome:
        scores = {name: self._score(name, table) for name, table in chances.items()}
        if validation is not None:
            scores["validation"] = validation
        predictions = encode(chances["test"].argmax(axis=-1))
        if trained is None:
            return Outcome(Scores(**scores), predictions=predictions)
        losses = {name: _cross_entropy(self.prepared.sets[name], table) for name, table in chances.items()}
        epoch = _kept_epoch(trained, member)
        penalized = self.method.penalized(run.configuration)
        penalty = float(trained.curves["penalty"][epoch - 1, member]) if penalized else None
        return Outcome(Scores(**scores), Scores(**losses), penalty, epoch, predictions)

    def _record(
        self,
        trained: Trained | None,
        member: int,
        run: Run,
        outcome: Outcome,
        last: dict[str, float],
        seconds: float,
    ) -> Record:
        # the choice depended on validation where it was looked at in every epoch
        chosen = trained is not None and bool(torch.isfinite(trained.curves["validation_score"]).all())
        epochs = None if trained is None else len(trained.curves["loss"])
        return Record(
            self.prepared.task.name,
            self.data,
            self.method.name,
            self.name,
            {**run.configuration, **self.changes},
            run.seed,
            outcome,
            epochs=epochs,
            tied_epochs=int(trained.ties[member]) if trained is not None and chosen else None,
            alternatives={"last": Outcome(Scores(**last), epoch=epochs)} if last and outcome.epoch != epochs else {},
            curves=None if trained is None else thinned(trained, member, self.job.points),
            labels=self.prepared.test_labels,
            versions={**versions(), "anysize": __version__},
            device=device_name(self.job.device),
            seconds=round(seconds, 4),
            when=now(),
        )


def thinned(trained: Trained, member: int, points: int) -> Curves | None:
    """Some epochs of the curves of one model: those at which validation was looked at, if there are any."""
    if not points:
        return None
    loss, score, penalty = (trained.curves[name][:, member] for name in ("loss", "validation_score", "penalty"))
    looked = torch.isfinite(score)
    known = torch.nonzero(looked if looked.any() else torch.isfinite(loss))[:, 0].tolist()
    kept = [known[at] for at in places(len(known), points)]

    def values(curve: torch.Tensor) -> tuple[float | None, ...]:
        return tuple(rounded(float(curve[at])) for at in kept)

    return Curves(
        tuple(at + 1 for at in kept),
        values(loss),
        values(score) if looked.any() else (),
        values(penalty) if penalty.nan_to_num().any() else (),
    )


def device_name(device: str) -> str:
    """A device as records have it: the name of the GPU, or cpu."""
    return torch.cuda.get_device_name(device) if device.startswith("cuda") else device


def _probabilities(fitted: Fitted, examples: Examples) -> FloatArray:
    """(models, graphs, classes), and where it is known the same again after the last epoch: (2 models, ...)."""
    if isinstance(fitted, FittedGamma | FittedGNN) and fitted.trained is not None:
        return fitted.probabilities(examples, fitted.trained.last)
    return fitted.probabilities(examples)


def _kept_epoch(trained: Trained, member: int) -> int:
    """Counted from 1; a model without one good epoch is left as it was after its last."""
    epoch = int(trained.epoch[member])
    return len(trained.curves["loss"]) if epoch < 0 else epoch + 1


def _cross_entropy(examples: Examples, chances: FloatArray) -> float:
    own = chances[np.arange(len(chances)), examples.labels()]
    return float(-np.log(np.maximum(own, np.finfo(np.float64).tiny)).mean())


def _changes(run: Run) -> str:
    return compact_json(plain(recipe_changes(run.configuration)))


def _name(configuration: Mapping[str, Plain], seed: int) -> str:
    return compact_json([plain(configuration), seed])


def _part(report: ShareDone | None, place: int, parts: int) -> ShareDone | None:
    return None if report is None else lambda done: report((place + done) / parts)
