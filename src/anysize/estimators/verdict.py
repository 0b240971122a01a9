"""Judge a trained model: trivial baselines on the same graphs, and scores on training graphs that were held out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from anysize._typing import FloatArray, IntArray
from anysize.estimators.held_out import MODEL, HeldOutScores, fit_baselines
from anysize.graphs.labels import Labels
from anysize.methods.baselines import TOPOLOGY_ONLY
from anysize.methods.defaults import METHOD, REGRESSION_METHOD
from anysize.methods.method import Method, TrainingData
from anysize.metrics import METRIC_NAMES, goodness, score_outputs

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
        if scores.topology_is_better:
            score = "balanced accuracy" if scores.classes else "RMSE"
            return (
                f"regression on densities of uncolored patterns is better on held-out training graphs "
                f"({score} {scores.scores[MODEL]:.3g}, {TOPOLOGY_ONLY.name} {scores.scores[TOPOLOGY_ONLY.name]:.3g})"
            ), (("method", TOPOLOGY_ONLY.name),)
    return None, ()
