"""Compare a trained model with trivial baselines: class shares, sizes, and densities of uncolored patterns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier

from anysize._typing import IntArray
from anysize.counting.counts import Counts
from anysize.graphs.labels import Labels
from anysize.methods.baselines import size_only, topology_only
from anysize.methods.method import Examples, Method
from anysize.patterns.pattern import connected_patterns
from anysize.tasks.metrics import accuracy, balanced_accuracy, mcc

TRIVIAL_BASELINES = ("size-only", "majority")
DENSITY_BASELINE = "topology-only"
MIN_GRAPHS_PER_PATTERN = 5  # with fewer training graphs, logistic regression fits any labels
SUGGESTED_EPOCHS = 3000
LEVEL = 0.05  # what guessing achieves with a higher probability than this shows nothing


@dataclass(frozen=True)
class Verdict:
    """Scores of a model and of baselines trained on the same graphs.

    The baselines are "majority" (the most common class), "size-only" (logistic regression on log n) and, for methods
    on patterns, "topology-only" (logistic regression on the densities of uncolored patterns).

    Attributes:
        metric: "accuracy" or "mcc"; "balanced_accuracy" in place of accuracy if classes were weighted in training.
        train: scores on the training graphs, by name: "model" and the baselines.
        validation: the same on the validation graphs; None if there are none.
        doubt: why the model should not be trusted, in one sentence; None if the baselines give no reason.
        suggestions: parameters to try in that case, as (name, value).
    """

    metric: str
    train: Mapping[str, float]
    validation: Mapping[str, float] | None = None
    doubt: str | None = None
    suggestions: tuple[tuple[str, Any], ...] = ()

    @property
    def sentence(self) -> str:
        """The doubt with its suggestions; empty without doubt."""
        if self.doubt is None:
            return ""
        suggested = " or ".join(f"{name} {value}" for name, value in self.suggestions)
        return f"{self.doubt}; try {suggested}" if suggested else self.doubt


def check_baselines(
    method: Method, configuration: Mapping[str, Any], metric: str, train: Examples, train_classes: IntArray,
    classes: Labels, validation: Examples | None = None, validation_classes: IntArray | None = None,
    weighted: bool = False,
) -> Verdict:  # fmt: skip
    """The verdict on a model that predicted these class numbers; baselines themselves are never doubted.

    A model that was trained with class weights trades accuracy for balance: it and the baselines are then compared by
    balanced accuracy, and the baselines are balanced as well.
    """
    sets = {"training": (train, train_classes)}
    if validation is not None and validation_classes is not None:
        sets["validation"] = (validation, validation_classes)
    predicted = _baseline_predictions([examples for examples, _ in sets.values()], weighted)
    if weighted and metric == "accuracy":
        metric = "balanced_accuracy"
    measure = {"accuracy": accuracy, "mcc": mcc, "balanced_accuracy": balanced_accuracy}[metric]
    scores = {
        where: {
            name: measure(examples.labels(), likely)
            for name, likely in {"model": own, **{name: found[row] for name, found in predicted.items()}}.items()
        }
        for row, (where, (examples, own)) in enumerate(sets.items())
    }
    sizes = {where: len(examples) for where, (examples, _) in sets.items()}
    patterns = 0 if train.table is None else sum(len(connected_patterns(k)) for k in _pattern_sizes(train.table))
    doubt: str | None = None
    suggestions: tuple[tuple[str, Any], ...] = ()
    if method.kind != "baseline":
        doubt, suggestions = _doubt(method, configuration, metric, scores, sizes, patterns)
        known = np.concatenate([examples.labels() for examples, _ in sets.values()])
        few = few_graphs(np.bincount(known, minlength=len(classes)), classes)
        doubt = "; ".join(filter(None, (few, doubt))) or None
    return Verdict(metric, scores["training"], scores.get("validation"), doubt, suggestions)


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
    sizes: Mapping[str, int], patterns: int,
) -> tuple[str | None, tuple[tuple[str, Any], ...]]:  # fmt: skip
    """A sentence and suggestions, if a baseline is as good; differences of 1 / sqrt(graphs) may be chance."""
    for where, own in scores.items():
        best = max(TRIVIAL_BASELINES, key=own.__getitem__)
        slack = 0.0 if where == "training" else sizes[where] ** -0.5
        if own["model"] < 1.0 and own["model"] <= own[best] - slack:
            # Where colors decide, the penalty keeps a model from using them.
            penalty = (("penalty", 0),) if configuration.get("penalty") else ()
            return (
                f"the model does not beat {best} on the {where} graphs ({metric} {own['model']:.3f}, {best} "
                f"{own[best]:.3f}): it has learned almost nothing"
            ), (*penalty, ("method", "wl-kernel" if method.name in ("auto", "sizemix") else "auto"))
    where = "validation" if "validation" in scores else "training"
    own = scores[where]
    enough = where == "validation" or sizes[where] >= MIN_GRAPHS_PER_PATTERN * patterns
    if DENSITY_BASELINE in own and enough and own[DENSITY_BASELINE] - own["model"] > sizes[where] ** -0.5:
        longer = (("epochs", SUGGESTED_EPOCHS),) if method.trained else ()
        return (
            f"logistic regression on densities of uncolored patterns is better on the {where} graphs ({metric} "
            f"{own['model']:.3f}, {DENSITY_BASELINE} {own[DENSITY_BASELINE]:.3f}): the model is undertrained"
        ), (("method", DENSITY_BASELINE), *longer)
    return None, ()


def _baseline_predictions(sets: Sequence[Examples], weighted: bool) -> dict[str, list[IntArray]]:
    """For each baseline, trained on the first of the sets, the predicted class numbers of every set."""
    class_weight = "balanced" if weighted else None
    baselines = {"majority": DummyClassifier(), "size-only": size_only(class_weight)}
    tables = [examples.table for examples in sets if examples.table is not None and examples.table.sampling is None]
    if len(tables) == len(sets):
        k = sorted({size for table in tables for size in _pattern_sizes(table)})
        baselines[DENSITY_BASELINE] = topology_only(k, class_weight)
    inputs = [examples.graphs if examples.table is None else examples.table for examples in sets]
    predicted = {}
    for name, baseline in baselines.items():
        baseline.fit(inputs[0], sets[0].labels())
        predicted[name] = [np.asarray(baseline.predict(one), np.int64) for one in inputs]
    return predicted


def _pattern_sizes(table: Counts) -> list[int]:
    sizes: list[int] = np.unique(table.columns.size).tolist()
    return sizes
