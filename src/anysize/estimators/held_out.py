"""Held-out scores: how well a method predicts training graphs that it was not fitted to.

Two protocols divide the training graphs. *Same sizes*: the method is fitted to random parts of every class and predicts
the others. *Larger graphs*: it is fitted to the smaller graphs, about 60 %, and predicts the larger ones. Trivial
baselines are fitted and scored in the same way on the same graphs, and every comparison is paired by graphs.

Weights of graphs count in fitting and in scores. Standard errors know that a graph of weight 2 is no two graphs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from anysize._progress import Progress
from anysize._typing import BoolArray, FloatArray, IntArray
from anysize.counting.counts import Counts
from anysize.methods.baselines import fit_pipeline, size_only, topology_only
from anysize.methods.evidence import effective_number
from anysize.methods.method import Examples, Method, Run, Sizes, TrainingData, checked_probabilities
from anysize.metrics import roc_auc
from anysize.patterns.pattern import connected_patterns
from anysize.splits import VALIDATION_SHARE, hold_out_by_class, parts_by_class, smaller_and_larger
from anysize.training.settings import Recipe

Protocol = Literal["same sizes", "larger graphs"]

FOLDS, FEW_FOLDS = 5, 2  # of the protocol "same sizes": where all folds can be paid for, and elsewhere
FIT_SHARE = 1.25  # of the time of the fit, for the smaller graphs (0.6) and one half of all graphs (0.5)
MIN_SECONDS = 3.0  # that held-out scores may take in any case
MODEL, SIZE_ONLY, TOPOLOGY_ONLY = "model", "size-only", "topology-only"
STANDARD_ERRORS = 2.0  # by which a model must be ahead
MIN_GRAPHS_PER_PATTERN = 5  # with fewer training graphs, logistic regression fits any labels


@dataclass(frozen=True)
class HeldOutScores:
    """Balanced accuracies on held-out training graphs under one protocol.

    Attributes:
        protocol: "same sizes" or "larger graphs".
        graphs: how many were predicted. classes: how many classes they have.
        scores: "model" and baselines -> balanced accuracy. errors: their standard errors.
        ahead: baseline -> the score of the model minus that of the baseline, and the standard error of the difference.
        auc: ROC-AUC of the model; None where it is undefined.
        size_ratio: geometric mean size of the predicted graphs by that of the graphs that were fitted to.
    """

    protocol: Protocol
    graphs: int
    classes: int
    scores: Mapping[str, float]
    errors: Mapping[str, float]
    ahead: Mapping[str, tuple[float, float]]
    auc: float | None
    size_ratio: float

    @property
    def doubt(self) -> str | None:
        """A sentence unless the model is two standard errors above chance, and ahead of the size of the graphs."""
        model, error, chance = self.scores[MODEL], self.errors[MODEL], 1 / self.classes
        where = (
            "training graphs that the model was not fitted to"
            if self.protocol == "same sizes"
            else "the larger training graphs, after fitting to the smaller ones"
        )
        told = f"on {where}, the balanced accuracy is {model:.2f} (standard error {error:.2f}, {self.graphs} graphs)"
        if model - chance <= STANDARD_ERRORS * error:
            return f"{told}, which is not clearly above chance ({chance:.2f})"
        difference, error = self.ahead[SIZE_ONLY]
        if difference <= STANDARD_ERRORS * error:
            return f"{told}, which is not clearly above that of the size alone ({self.scores[SIZE_ONLY]:.2f})"
        return None

    @property
    def topology_is_better(self) -> bool:
        """Whether logistic regression on densities of uncolored patterns is clearly better than the model."""
        difference, error = self.ahead.get(TOPOLOGY_ONLY, (0.0, 1.0))
        return difference < -STANDARD_ERRORS * error


def held_out_scores(
    method: Method, recipe: Recipe, run: Run, data: TrainingData, weigh: Callable[[Examples], FloatArray | None],
    fit_seconds: float, max_seconds: float | None = None, k: Sizes | None = None, progress: Progress | None = None,
) -> tuple[HeldOutScores, ...]:  # fmt: skip
    """The scores of a method under each protocol that the training graphs and the time allow.

    Args:
        method, recipe, run: what is fitted.
        data: the training graphs, and whether an epoch is selected on held-out ones.
        weigh: training graphs -> class weights.
        fit_seconds: that fitting to all of them took.
        max_seconds: to spend; by default 1.25 times as long as the fit, and 3 seconds if that is less. No part is
            fitted that would probably take longer.
        k: pattern sizes of a method on patterns, which is also compared with "topology-only".
        progress: called with the share of the work that is done.
    """
    deadline = deadline_of(fit_seconds, max_seconds)
    y, sizes = data.train.labels(), data.train.sizes
    by_protocol: list[HeldOutScores] = []
    protocols = divisions(sizes, y, data.train.weights, run.seed, fit_seconds, deadline)
    total, done = sum(len(parts) for _, parts in protocols), 0
    for protocol, parts in protocols:
        predicted: list[_Predicted] = []
        for fitted_rows, rows in parts:
            if progress is not None:
                progress(done / total)
            done += 1
            if is_late(fit_seconds * len(fitted_rows) / len(y), deadline) or not _complete(y, fitted_rows, rows):
                continue
            train, held_out = data.train.rows(fitted_rows), data.train.rows(rows)
            weights = weigh(train)
            part_data = replace(_part(data, fitted_rows, run.seed), class_weights=weights)
            if method.compares_environments(run.configuration) and _one_environment(part_data.train):
                continue
            (fitted,) = method.fit(part_data, [run], recipe)
            chances = checked_probabilities(fitted, held_out)[0]
            by_baseline = _baseline_predictions(train, held_out, k, weights is not None)
            ratio = log_ratio(sizes[rows], sizes[fitted_rows])
            predicted.append(_Predicted(y[rows], held_out.graph_weights(), chances, by_baseline, ratio))
        if predicted:
            by_protocol.append(_scores(protocol, predicted))
    return tuple(by_protocol)


def deadline_of(fit_seconds: float, max_seconds: float | None) -> float:
    """When held-out scores must be complete: after so many seconds, by default 1.25 times those of the fit or 3."""
    return time.monotonic() + (max(FIT_SHARE * fit_seconds, MIN_SECONDS) if max_seconds is None else max_seconds)


def is_late(seconds: float, deadline: float) -> bool:
    """Whether work of so many seconds would end after the deadline."""
    return time.monotonic() + seconds > deadline


def divisions(
    sizes: IntArray, y: IntArray, weights: FloatArray | None, seed: int, fit_seconds: float, deadline: float
) -> list[tuple[Protocol, list[tuple[IntArray, IntArray]]]]:
    """Pairs of the graphs to fit to and those to predict, by protocol; folds have their share of every class of y."""
    protocols: list[tuple[Protocol, list[tuple[IntArray, IntArray]]]] = []
    small, large = smaller_and_larger(sizes, weights)
    if len(large):
        protocols.append(("larger graphs", [(small, large)]))
    shares = (len(small) / len(y) if len(large) else 0.0) + FOLDS - 1
    folds = FEW_FOLDS if is_late(shares * fit_seconds, deadline) else FOLDS
    part = parts_by_class(y, folds, seed, even=True)
    parts = [(np.flatnonzero(part != fold), np.flatnonzero(part == fold)) for fold in range(folds)]
    return [*protocols, ("same sizes", parts)]


def _complete(y: IntArray, fitted: IntArray, rows: IntArray) -> bool:
    """Whether all classes are among the graphs to fit to, and at least two among those to predict."""
    return len(np.unique(y[fitted])) == len(np.unique(y)) and len(np.unique(y[rows])) > 1


def _one_environment(examples: Examples) -> bool:
    return examples.environments is not None and len(np.unique(examples.environments)) < 2


def _part(data: TrainingData, rows: IntArray, seed: int) -> TrainingData:
    """Some of the training graphs, a tenth of them for validation if the whole set has validation graphs."""
    validation = None
    if data.validation is not None:
        drawn = hold_out_by_class(data.train.labels()[rows], VALIDATION_SHARE, seed)
        validation, rows = data.train.rows(rows[drawn]), np.delete(rows, drawn)
    return replace(data, train=data.train.rows(rows), validation=validation)


def log_ratio(sizes: IntArray, fitted: IntArray) -> float:
    """The logarithm of the geometric mean size of some graphs by that of the graphs that were fitted to."""
    return float(np.log(np.maximum(sizes, 1)).mean() - np.log(np.maximum(fitted, 1)).mean())


# ---- baselines -----------------------------------------------------------------------------------------


def baselines(inputs: Sequence[Any], weighted: bool) -> dict[str, Any]:
    """Unfitted baselines by name, for graphs or tables of counts; topology-only where all are exact counts."""
    class_weight = "balanced" if weighted else None
    by_name = {SIZE_ONLY: size_only(class_weight)}
    if all(isinstance(table, Counts) and table.sampling is None for table in inputs):
        sizes = sorted({size for table in inputs for size in counted_sizes(table)})
        by_name[TOPOLOGY_ONLY] = topology_only(sizes, class_weight)
    return by_name


def baseline_input(examples: Examples, k: Sizes | None) -> Any:
    """Counts of patterns if there are any, else the graphs."""
    if examples.graphs is not None and k is None:
        return examples.graphs
    return examples.counts(0 if k is None else k)


def counted_sizes(table: Counts) -> list[int]:
    """The sizes of the patterns of a table."""
    sizes: list[int] = np.unique(table.columns.size).tolist()
    return sizes


def _baseline_predictions(train: Examples, held_out: Examples, k: Sizes | None, weighted: bool) -> dict[str, IntArray]:
    inputs = [baseline_input(train, k), baseline_input(held_out, k)]
    predictions = {}
    for name, baseline in baselines(inputs, weighted).items():
        patterns = sum(len(connected_patterns(size)) for size in counted_sizes(inputs[0])) if name != SIZE_ONLY else 0
        if len(train) >= MIN_GRAPHS_PER_PATTERN * patterns:
            fit_pipeline(baseline, inputs[0], train.labels(), train.weights)
            predictions[name] = np.asarray(baseline.predict(inputs[1]), np.int64)
    return predictions


# ---- scores and their errors ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Predicted:
    """Predictions for one part of the training graphs: classes, weights, probabilities, classes by each baseline."""

    y: IntArray
    weights: FloatArray
    chances: FloatArray
    by_baseline: Mapping[str, IntArray]
    log_ratio: float


def _scores(protocol: Protocol, parts: Sequence[_Predicted]) -> HeldOutScores:
    """The scores over all graphs of the parts; baselines that every part has."""
    y = np.concatenate([part.y for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    chances = np.concatenate([part.chances for part in parts])
    right: dict[str, BoolArray] = {MODEL: chances.argmax(axis=1) == y}
    for name in parts[0].by_baseline:
        if all(name in part.by_baseline for part in parts):
            right[name] = np.concatenate([part.by_baseline[name] for part in parts]) == y
    scores, errors = {}, {}
    for name, correct in right.items():
        scores[name], errors[name] = balanced_mean_and_error(correct.astype(np.float64), y, weights)
    ahead = {
        name: balanced_mean_and_error(right[MODEL] - correct.astype(np.float64), y, weights)
        for name, correct in right.items()
        if name != MODEL
    }
    ratio = float(np.exp(np.average([part.log_ratio for part in parts], weights=[len(part.y) for part in parts])))
    return HeldOutScores(
        protocol, len(y), len(np.unique(y)), scores, errors, ahead, _auc(y, chances, weights), ratio
    )  # fmt: skip


def _auc(y: IntArray, chances: FloatArray, weights: FloatArray) -> float | None:
    occurring = np.unique(y)
    return None if len(occurring) < chances.shape[1] else roc_auc(y, chances, weights)


def balanced_mean_and_error(values: FloatArray, y: IntArray, weights: FloatArray) -> tuple[float, float]:
    """The mean of values from -1 to 1 over the graphs, classes weighted alike, and its standard error.

    The variance within a class counts one more graph at either end of the range of the values: few graphs that all
    are right do not make an error of 0. Graphs with unequal ``weights`` count as fewer (`effective_number`), and those
    with large weights as one: no weight makes a mean more certain.

    >>> mean, error = balanced_mean_and_error(np.array([1.0, 1, 1, 0]), np.array([0, 0, 1, 1]), np.ones(4))
    >>> mean, round(error, 2)
    (0.75, 0.17)
    """
    low = -1.0 if values.min(initial=0) < 0 else 0.0
    means, variances = [], []
    for label in np.unique(y):
        of_class, of_weights = values[y == label], weights[y == label]
        graphs = effective_number(of_weights)
        padded, shares = np.append(of_class, [low, 1.0]), np.append(of_weights * (graphs / of_weights.sum()), [1, 1])
        squares = (padded - np.average(padded, weights=shares)) ** 2
        means.append(np.average(of_class, weights=of_weights))
        variances.append(np.average(squares, weights=shares) / (graphs + 2))
    return float(np.mean(means)), float(np.sqrt(np.sum(variances)) / len(means))
