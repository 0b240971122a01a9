"""Judge a trained model: trivial baselines on the same graphs, and scores on training graphs that were held out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier

from anysize._typing import IntArray
from anysize.counting.counts import Counts
from anysize.estimators.held_out import (
    MIN_GRAPHS_PER_PATTERN,
    SIZE_ONLY,
    TOPOLOGY_ONLY,
    HeldOutScores,
    baseline_input,
    baselines,
    counted_sizes,
)
from anysize.graphs.labels import Labels
from anysize.methods.baselines import fit_pipeline
from anysize.methods.method import Examples, Method, Sizes
from anysize.metrics import score
from anysize.patterns.pattern import connected_patterns

TRIVIAL = (SIZE_ONLY, "majority")
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
        held_out: balanced accuracies on training graphs that the method was not fitted to, by protocol; empty if they
            were not measured.
        doubt: why the model should not be trusted, in one sentence; None if the baselines give no reason.
        suggestions: parameters to try in that case, as (name, value).
    """

    metric: str
    train: Mapping[str, float]
    validation: Mapping[str, float] | None = None
    doubt: str | None = None
    suggestions: tuple[tuple[str, Any], ...] = ()
    held_out: tuple[HeldOutScores, ...] = ()

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
    weighted: bool = False, k: Sizes | None = None, held_out: tuple[HeldOutScores, ...] = (),
) -> Verdict:  # fmt: skip
    """The verdict on a model that predicted these class numbers; baselines themselves are never doubted.

    ``k``: sizes of the patterns of a method on patterns, which is also compared with "topology-only".

    A model that was trained with class weights trades accuracy for balance: it and the baselines are then compared by
    balanced accuracy, and the baselines are balanced as well. Weights of graphs count in scores and in baselines; what
    may be chance depends on the number of graphs.
    """
    sets = {"training": (train, train_classes)}
    if validation is not None and validation_classes is not None:
        sets["validation"] = (validation, validation_classes)
    if weighted and metric == "accuracy":
        metric = "balanced_accuracy"
    inputs = [baseline_input(examples, k) for examples, _ in sets.values()]
    scores: dict[str, dict[str, float]] = {}
    for where, (examples, predicted) in sets.items():
        scores[where] = {"model": score(metric, examples.labels(), predicted, examples.weights)}
    majority = DummyClassifier().fit(inputs[0], train.labels(), train.weights)
    fitted = {"majority": majority} | {
        name: fit_pipeline(baseline, inputs[0], train.labels(), train.weights)
        for name, baseline in baselines(inputs, weighted).items()
    }
    for name, baseline in fitted.items():
        for graphs, (where, (examples, _)) in zip(inputs, sets.items(), strict=True):
            classes_of = np.asarray(baseline.predict(graphs), np.int64)
            scores[where][name] = score(metric, examples.labels(), classes_of, examples.weights)
    sizes = {where: len(examples) for where, (examples, _) in sets.items()}
    table = inputs[0] if isinstance(inputs[0], Counts) else None
    patterns = 0 if table is None else sum(len(connected_patterns(size)) for size in counted_sizes(table))
    doubt: str | None = None
    suggestions: tuple[tuple[str, Any], ...] = ()
    if method.kind != "baseline":
        doubt, suggestions = _doubt(method, configuration, metric, scores, sizes, patterns)
        if doubt is None:
            doubt, suggestions = _held_out_doubt(method, held_out)
        known = np.concatenate([examples.labels() for examples, _ in sets.values()])
        few = few_graphs(np.bincount(known, minlength=len(classes)), classes)
        doubt = "; ".join(filter(None, (few, doubt))) or None
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
    sizes: Mapping[str, int], patterns: int,
) -> tuple[str | None, tuple[tuple[str, Any], ...]]:  # fmt: skip
    """A sentence and suggestions, if a baseline is as good; differences of 1 / sqrt(graphs) may be chance."""
    for where, by_name in scores.items():
        best = max(TRIVIAL, key=by_name.__getitem__)
        slack = 0.0 if where == "training" else sizes[where] ** -0.5
        if by_name["model"] < 1.0 and by_name["model"] <= by_name[best] - slack:
            # Where colors decide, the penalty keeps a model from using them.
            penalty = (("penalty", 0),) if configuration.get("penalty") else ()
            return (
                f"the model does not beat {best} on the {where} graphs ({metric} {by_name['model']:.3f}, {best} "
                f"{by_name[best]:.3f}): it has learned almost nothing"
            ), (*penalty, ("method", "wl-kernel" if method.name in ("auto", "sizemix") else "auto"))
    where = "validation" if "validation" in scores else "training"
    by_name = scores[where]
    enough = where == "validation" or sizes[where] >= MIN_GRAPHS_PER_PATTERN * patterns
    if TOPOLOGY_ONLY in by_name and enough and by_name[TOPOLOGY_ONLY] - by_name["model"] > sizes[where] ** -0.5:
        longer = (("epochs", SUGGESTED_EPOCHS),) if method.has_epochs else ()
        return (
            f"logistic regression on densities of uncolored patterns is better on the {where} graphs ({metric} "
            f"{by_name['model']:.3f}, {TOPOLOGY_ONLY} {by_name[TOPOLOGY_ONLY]:.3f}): the model is undertrained"
        ), (("method", TOPOLOGY_ONLY), *longer)
    return None, ()


def _held_out_doubt(
    method: Method, held_out: tuple[HeldOutScores, ...]
) -> tuple[str | None, tuple[tuple[str, Any], ...]]:  # fmt: skip
    """A sentence and suggestions, if the model does not beat chance and the trivial baselines on held-out graphs."""
    for scores in held_out:
        if scores.doubt is not None:
            return scores.doubt, (() if method.name == "auto" else (("method", "auto"),))
    for scores in held_out:
        if scores.topology_is_better:
            return (
                f"logistic regression on densities of uncolored patterns is better on held-out training graphs "
                f"(balanced accuracy {scores.scores['model']:.2f}, {TOPOLOGY_ONLY} {scores.scores[TOPOLOGY_ONLY]:.2f})"
            ), (("method", TOPOLOGY_ONLY),)
    return None, ()
