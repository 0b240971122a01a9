"""Judge a trained model: trivial baselines on the same graphs, and scores on training graphs that were held out.

Two protocols divide the training graphs. *Same sizes*: the method is fitted to random parts of every class and predicts
the others. *Larger graphs*: it is fitted to the smaller graphs, about 60 %, and predicts the larger ones. Trivial
baselines are fitted and scored in the same way on the same graphs, and every comparison is paired by graphs.

The held-out score of classes is the balanced accuracy, that of numbers the RMSE. Weights of graphs count in fitting and
in scores. Standard errors know that a graph of weight 2 is no two graphs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from anysize._progress import Progress
from anysize._typing import FloatArray, IntArray
from anysize.graphs.labels import Labels
from anysize.methods.baselines import MAJORITY, MEAN, SIZE_ONLY, TOPOLOGY_ONLY, TRIVIAL
from anysize.methods.defaults import METHOD, REGRESSION_METHOD
from anysize.methods.evidence import effective_number
from anysize.methods.method import Examples, Fitted, Method, Run, TrainingData, checked_outputs, class_weights
from anysize.metrics import METRIC_NAMES, all_metrics, goodness, score_outputs
from anysize.patterns.pattern import connected_patterns
from anysize.splits import VALIDATION_SHARE, hold_out_by_class, parts_by_class, smaller_and_larger
from anysize.training.settings import Recipe

Protocol = Literal["same sizes", "larger graphs"]

FOLDS, FEW_FOLDS = 5, 2  # of the protocol "same sizes": where all folds can be paid for, and elsewhere
FIT_SHARE = 1.25  # of the time of the fit, for the smaller graphs (0.6) and one half of all graphs (0.5)
MIN_SECONDS = 3.0  # that held-out scores may take in any case
MODEL = "model"
STANDARD_ERRORS = 2.0  # by which a model must be ahead
MIN_GRAPHS_PER_PATTERN = 5  # with fewer training graphs, logistic regression fits any labels
WHERE: Mapping[Protocol, str] = {
    "same sizes": "training graphs that the model was not fitted to",
    "larger graphs": "the larger training graphs, after fitting to the smaller ones",
}
SUGGESTED_EPOCHS = 3000
LEVEL = 0.05  # what guessing achieves with a higher probability than this shows nothing

Suggestions = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Verdict:
    """Scores of a model and of baselines trained on the same graphs.

    The baselines are "majority" (the most common class) or for numbers "mean", "size-only" (regression on log n) and,
    for methods on patterns, "topology-only" (regression on the densities of uncolored patterns).

    Attributes:
        metric: "accuracy" or "mcc", "balanced_accuracy" in place of accuracy if classes were weighted in training, or
            "rmse" for numbers.
        train: scores on the training graphs, by name: "model" and the baselines.
        validation: the same on the validation graphs; None if there are none.
        held_out: balanced accuracies, or RMSEs, on training graphs that the method was not fitted to, by protocol;
            empty if they were not measured.
        doubt: why the model should not be trusted, in one sentence; None if the baselines give no reason.
        suggestions: parameters to try in that case, as (name, value).
    """

    metric: str
    train: Mapping[str, float]
    validation: Mapping[str, float] | None = None
    doubt: str | None = None
    suggestions: Suggestions = ()
    held_out: tuple[HeldOutScores, ...] = ()

    def __str__(self) -> str:
        """A line for each set of scores, and the doubt."""
        digits, title = (".3g" if self.metric == "rmse" else ".3f"), METRIC_NAMES[self.metric]
        lines = [
            f"{part} {title}  {scores[MODEL]:{digits}}  ({_others(scores, digits)})"
            for part, scores in (("training", self.train), ("validation", self.validation))
            if scores is not None
        ]
        for held in self.held_out:
            score = f"{held.scores[MODEL]:{digits}} ± {held.errors[MODEL]:{digits}}"
            about = f"{held.graphs} training graphs: {_others(held.scores, digits)}"
            title = METRIC_NAMES["balanced_accuracy" if held.classes else "rmse"]
            lines.append(f"held out, {held.protocol}: {title}  {score}  ({about})")
        return "\n".join([*lines, *([f"doubt: {self.sentence}"] * (self.doubt is not None))])

    @property
    def sentence(self) -> str:
        """The doubt with its suggestions; empty without doubt."""
        if self.doubt is None:
            return ""
        suggested = " or ".join(f"{name} {value}" for name, value in self.suggestions)
        return f"{self.doubt}; try {suggested}" if suggested else self.doubt


def _others(scores: Mapping[str, float], digits: str) -> str:
    """Scores of the baselines."""
    return ", ".join(f"{name} {score:{digits}}" for name, score in scores.items() if name != MODEL)


def judge(
    method: Method, configuration: Mapping[str, Any], metric: str, data: TrainingData,
    outputs: Mapping[str, FloatArray], classes: Labels | None, held_out: tuple[HeldOutScores, ...],
) -> Verdict:  # fmt: skip
    """The verdict on a model; baselines themselves are never doubted.

    ``outputs``: of the model on the graphs "training" and, if there are any, "validation". ``classes``: their names;
    None for numbers.

    A model that was trained with class weights trades accuracy for balance: it and the baselines are then compared by
    balanced accuracy, and the baselines are balanced as well. Weights of graphs count in scores and in baselines; what
    may be chance depends on the number of graphs.
    """
    if data.class_weights is not None and metric == "accuracy":
        metric = "balanced_accuracy"
    sets = {"training": data.train, "validation": data.validation}
    baselines = fit_baselines(data, method)
    scores: dict[str, dict[str, float]] = {}
    for where, table in outputs.items():
        examples = sets[where]
        assert examples is not None
        by_model = {MODEL: table} | {name: baseline.outputs(examples)[0] for name, baseline in baselines.items()}
        scores[where] = {
            name: score_outputs(metric, np.asarray(examples.y), values, examples.weights)
            for name, values in by_model.items()
        }
    doubt: str | None = None
    suggestions: Suggestions = ()
    if method.kind != "baseline":
        sizes = {where: len(table) for where, table in outputs.items()}
        doubt, suggestions = _doubt(method, configuration, metric, scores, sizes)
        if doubt is None:
            doubt, suggestions = _held_out_doubt(method, held_out)
        y = np.concatenate([examples.y for where in outputs if (examples := sets[where]) and examples.y is not None])
        if classes is not None:
            few = few_graphs(np.bincount(y, minlength=len(classes)), classes)
            doubt = "; ".join(filter(None, (few, doubt))) or None
        elif (y == y[0]).all():
            doubt = f"all {len(y)} training graphs have the target {y[0]:g}: there is nothing to learn from them"
            suggestions = ()
    return Verdict(metric, scores["training"], scores.get("validation"), doubt, suggestions, held_out)


def few_graphs(amounts: IntArray, classes: Labels) -> str | None:
    """A sentence if some class has so few graphs that no score of them can show that a model knows the class.

    Even a model that is right on every graph of the class, each predicted without having been trained on it, does what
    guessing does with probability (1 / classes)^graphs. The only graph of a class cannot be predicted that way: without
    it there is no such class.

    Args:
        amounts: the number of labeled graphs of every class.
        classes: their names.
    """
    predictable = np.where(amounts > 1, amounts, 0)
    chance = float(len(classes)) ** -predictable
    few = np.flatnonzero(chance > LEVEL)
    if not len(few):
        return None
    least = few[amounts[few].argmin()]
    name, others = classes.tolist()[least], f" (and {len(few) - 1} more)" if len(few) > 1 else ""
    if amounts[least] == 1:
        reason = "has one labeled graph, so that nothing shows how graphs of this class differ from each other"
    else:
        reason = (
            f"has {amounts[least]} labeled graphs, and guessing among {len(classes)} classes is right on all of them "
            f"with probability {chance[least]:.2g}"
        )
    return (
        f"there are too few graphs to tell whether the model knows class {name!r}{others}, which {reason}; add graphs"
    )


def _doubt(
    method: Method, configuration: Mapping[str, Any], metric: str, scores: Mapping[str, Mapping[str, float]],
    sizes: Mapping[str, int],
) -> tuple[str | None, Suggestions]:  # fmt: skip
    """A sentence and suggestions, if a baseline is as good; differences of 1 / sqrt(graphs) may be chance."""
    title = METRIC_NAMES[metric]
    for where, by_name in scores.items():
        trivial = [name for name in by_name if name not in (MODEL, TOPOLOGY_ONLY.name)]
        best = max(trivial, key=lambda name: goodness(metric, scores[where][name]))
        slack = 0.0 if where == "training" or metric == "rmse" else sizes[where] ** -0.5
        perfect = 0.0 if metric == "rmse" else 1.0
        ahead = goodness(metric, by_name[MODEL]) - goodness(metric, by_name[best])
        if by_name[MODEL] != perfect and ahead <= -slack:
            # Where colors decide, the penalty keeps a model from using them.
            penalty = (("penalty", 0),) if configuration.get("penalty") else ()
            return (
                f"the model does not beat {best} on the {where} graphs ({title} {by_name[MODEL]:.3f}, {best} "
                f"{by_name[best]:.3f}): it has learned almost nothing"
            ), (*penalty, ("method", "wl-kernel" if method.name in ("auto", "sizemix") else _default(metric)))
    where = "validation" if "validation" in scores else "training"
    by_name = scores[where]
    behind = by_name.get(TOPOLOGY_ONLY.name, by_name[MODEL]) - by_name[MODEL]
    if metric != "rmse" and behind > sizes[where] ** -0.5:
        longer = (("epochs", SUGGESTED_EPOCHS),) if method.has_epochs else ()
        return (
            f"logistic regression on densities of uncolored patterns is better on the {where} graphs ({title} "
            f"{by_name[MODEL]:.3f}, {TOPOLOGY_ONLY.name} {by_name[TOPOLOGY_ONLY.name]:.3f}): the model is undertrained"
        ), (("method", TOPOLOGY_ONLY.name), *longer)
    return None, ()


def _default(metric: str) -> str:
    """The method to try first."""
    return REGRESSION_METHOD if metric == "rmse" else METHOD


def _held_out_doubt(method: Method, held_out: tuple[HeldOutScores, ...]) -> tuple[str | None, Suggestions]:
    """A sentence and suggestions, if the model does not beat chance and the trivial baselines on held-out graphs."""
    for scores in held_out:
        if scores.doubt is not None:
            default = _default("accuracy" if scores.classes else "rmse")
            return scores.doubt, (() if method.name == default else (("method", default),))
    for scores in held_out:
        difference, error = scores.ahead.get(TOPOLOGY_ONLY.name, (0.0, 1.0))
        if difference < -STANDARD_ERRORS * error:
            score = "balanced accuracy" if scores.classes else "RMSE"
            return (
                f"regression on densities of uncolored patterns is better on held-out training graphs "
                f"({score} {scores.scores[MODEL]:.3g}, {TOPOLOGY_ONLY.name} {scores.scores[TOPOLOGY_ONLY.name]:.3g})"
            ), (("method", TOPOLOGY_ONLY.name),)
    return None, ()


# ---- scores on held-out training graphs ----------------------------------------------------------------


@dataclass(frozen=True)
class HeldOutScores:
    """Balanced accuracies, or RMSEs of numbers, on held-out training graphs under one protocol.

    Attributes:
        protocol: "same sizes" or "larger graphs".
        graphs: how many were predicted. classes: how many classes they have; 0 for numbers.
        scores: "model" and baselines -> score. errors: their standard errors.
        ahead: baseline -> how much better the model is, as a difference of balanced accuracies or of mean squared
            errors, and the standard error of this difference.
        metrics: all metrics of the model that are defined, see `anysize.metrics.METRIC_NAMES`.
        size_ratio: geometric mean size of the predicted graphs by that of the graphs that were fitted to.
    """

    protocol: Protocol
    graphs: int
    classes: int
    scores: Mapping[str, float]
    errors: Mapping[str, float]
    ahead: Mapping[str, tuple[float, float]]
    metrics: Mapping[str, float]
    size_ratio: float

    @property
    def doubt(self) -> str | None:
        """A sentence unless the model is two standard errors above chance, and ahead of the trivial baselines."""
        model, error = self.scores[MODEL], self.errors[MODEL]
        score, digits, above = ("balanced accuracy", ".2f", "above") if self.classes else ("RMSE", ".3g", "below")
        sentence = (
            f"on {WHERE[self.protocol]}, the {score} is {model:{digits}} (standard error {error:{digits}}, "
            f"{self.graphs} graphs), which is not clearly {above}"
        )
        if self.classes and model - 1 / self.classes <= STANDARD_ERRORS * error:
            return f"{sentence} chance ({1 / self.classes:.2f})"
        for name, words in ((MEAN.name, "the mean"), (SIZE_ONLY.name, "the size alone")):
            difference, error = self.ahead.get(name, (1.0, 0.0))
            if difference <= STANDARD_ERRORS * error:
                return f"{sentence} that of {words} ({self.scores[name]:{digits}})"
        return None


def held_out_scores(
    method: Method, recipe: Recipe, run: Run, data: TrainingData, weigh: Callable[[Examples], FloatArray | None],
    fit_seconds: float, max_seconds: float | None = None, progress: Progress | None = None,
) -> list[tuple[HeldOutScores, ...]]:  # fmt: skip
    """For each target the scores of a method under each protocol that the training graphs and the time allow.

    Args:
        method, recipe, run: what is fitted.
        data: the training graphs, and whether an epoch is selected on held-out ones.
        weigh: training graphs -> class weights.
        fit_seconds: that fitting to all of them took.
        max_seconds: to spend; by default 1.25 times as long as the fit, and 3 seconds if that is less. No part is
            fitted that would probably take longer.
        progress: called with the share of the work that is done.
    """
    deadline = time.monotonic() + (max(FIT_SHARE * fit_seconds, MIN_SECONDS) if max_seconds is None else max_seconds)
    strata, sizes = data.train.strata(), data.train.sizes
    small, large = smaller_and_larger(sizes, data.train.weights)
    shares = (len(small) / len(sizes) if len(large) else 0.0) + FOLDS - 1
    folds = FEW_FOLDS if time.monotonic() + shares * fit_seconds > deadline else FOLDS
    fold_of = parts_by_class(strata, folds, run.seed, even=True)
    divisions: dict[Protocol, list[tuple[IntArray, IntArray]]] = {
        "larger graphs": [(small, large)] if len(large) else [],
        "same sizes": [(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in range(folds)],
    }
    total, done = sum(map(len, divisions.values())), 0
    scores: list[list[HeldOutScores]] = [[] for _ in data.by_target]
    for protocol, parts in divisions.items():
        predicted: list[list[_Predicted]] = [[] for _ in data.by_target]
        for fitted_rows, rows in parts:
            if progress is not None:
                progress(done / total)
            done += 1
            late = time.monotonic() + fit_seconds * len(fitted_rows) / len(sizes) > deadline
            train, held_out = data.train.rows(fitted_rows), data.train.rows(rows)
            judged = [
                number
                for number, of_target in enumerate(data.by_target)
                if _can_judge(of_target.train, train.of_target(number), held_out.of_target(number))
            ]
            if late or not judged:
                continue
            part = _part(data, fitted_rows, run.seed, weigh(train))
            environments = part.train.environments
            if environments is not None and len(np.unique(environments)) < 2:
                continue
            fitted, everything = tuple(method.fit(part, [run], recipe)), replace(part, train=train)
            for number in judged:
                of_target, new = everything.by_target[number], held_out.of_target(number)
                models: dict[str, Fitted] = {MODEL: fitted[number], **fit_baselines(of_target, method)}
                outputs = {name: checked_outputs(model, new)[0] for name, model in models.items()}
                ratio = _mean_log_size(new) - _mean_log_size(of_target.train)
                predicted[number].append(_Predicted(new, outputs, ratio))
        for number, of_target in enumerate(data.by_target):
            if sum(len(part.examples) for part in predicted[number]) > 1:
                scores[number].append(_scores(protocol, predicted[number], of_target.classes))
    return [tuple(of_target) for of_target in scores]


def _can_judge(everything: Examples, train: Examples, held_out: Examples) -> bool:
    """Whether a target has all its classes in the part that is fitted, and at least two of them in the other."""
    known, judged = np.unique(train.strata()), np.unique(held_out.strata())
    return len(known) == len(np.unique(everything.strata())) and len(judged) >= min(2, len(known)) and len(train) > 1


def _mean_log_size(examples: Examples) -> float:
    return float(np.log(np.maximum(examples.sizes, 1)).mean())


def _part(data: TrainingData, rows: IntArray, seed: int, weights: FloatArray | None) -> TrainingData:
    """Some of the training graphs, a tenth of them for validation if the whole set has validation graphs."""
    validation = None
    if data.validation is not None:
        drawn = hold_out_by_class(data.train.strata()[rows], VALIDATION_SHARE, seed)
        validation, rows = data.train.rows(rows[drawn]), np.delete(rows, drawn)
    return replace(data, train=data.train.rows(rows), validation=validation, class_weights=weights)


def fit_baselines(data: TrainingData, method: Method) -> dict[str, Fitted]:
    """The trivial baselines of a method, fitted to the same graphs, by name.

    "topology-only" is one for methods on patterns, of exact counts and of enough graphs. Classes are balanced if those
    of the method have weights.
    """
    if data.class_weights is not None:
        balanced = class_weights(data.train.labels(), data.classes, "balanced", data.train.weights)
        data = replace(data, class_weights=balanced)
    fitted: dict[str, Fitted] = {}
    for baseline in TRIVIAL[data.predicts]:
        if baseline is TOPOLOGY_ONLY:
            if not method.takes_tables or method.counts(data.train, data.k, data.cache).sampling is not None:
                continue
            sizes = (data.k,) if isinstance(data.k, int) else data.k
            patterns = sum(len(connected_patterns(size)) for size in sizes)
            if len(data.train) < MIN_GRAPHS_PER_PATTERN * patterns:
                continue
        (fitted[baseline.name],) = baseline.fit(data, [Run({}, 0)], baseline.recipe("robust"))
    return fitted


# ---- scores and their errors ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Predicted:
    """One part of the training graphs, and what the model and the baselines give for it."""

    examples: Examples
    outputs: Mapping[str, FloatArray]
    log_ratio: float


def _scores(protocol: Protocol, parts: Sequence[_Predicted], classes: int) -> HeldOutScores:
    """The scores over all graphs of the parts; baselines that every part has."""
    y = np.concatenate([part.examples.labels() if classes else part.examples.numbers() for part in parts])
    weights = np.concatenate([part.examples.graph_weights() for part in parts])
    outputs = {
        name: np.concatenate([part.outputs[name] for part in parts])
        for name in parts[0].outputs
        if name != MAJORITY.name and all(name in part.outputs for part in parts)
    }
    scores, errors, ahead = {}, {}, {}
    # the mean of gains is the balanced accuracy, or the negative of the mean squared error
    gains = {
        name: (table.argmax(axis=1) == y).astype(np.float64) if classes else -((table[:, 0] - y) ** 2)
        for name, table in outputs.items()
    }
    for name, gain in gains.items():
        difference = gains[MODEL] - gain
        if classes:
            scores[name], errors[name] = balanced_mean_and_error(gain, y.astype(np.int64), weights)
            ahead[name] = balanced_mean_and_error(difference, y.astype(np.int64), weights)
        else:
            mean, error = mean_and_error(gain, weights)
            scores[name] = float(np.sqrt(-mean))
            errors[name] = error / max(2 * scores[name], 1e-300)  # of a square root
            ahead[name] = mean_and_error(difference, weights)
    ratio = float(np.exp(np.average([part.log_ratio for part in parts], weights=[len(p.examples) for p in parts])))
    del ahead[MODEL]
    occurring = len(np.unique(y)) if classes else 0
    metrics = all_metrics(y, outputs[MODEL], None, weights)
    return HeldOutScores(protocol, len(y), occurring, scores, errors, ahead, metrics, ratio)


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


def mean_and_error(values: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """The mean of values over the graphs, and its standard error.

    >>> mean_and_error(np.array([1.0, 3.0]), np.ones(2))
    (2.0, 1.0)
    """
    mean = np.average(values, weights=weights)
    variance = np.average((values - mean) ** 2, weights=weights) / max(effective_number(weights) - 1, 1e-9)
    return float(mean), float(np.sqrt(variance))
