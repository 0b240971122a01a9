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
from anysize.methods.method import Examples, Method, Sizes
from anysize.metrics import score
from anysize.patterns.pattern import connected_patterns

TRIVIAL = ("size-only", "majority")
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
    weighted: bool = False, k: Sizes | None = None,
) -> Verdict:  # fmt: skip
    """The verdict on a model that predicted these class numbers; baselines themselves are never doubted.

    ``k``: sizes of the patterns of a method on patterns, which is also compared with "topology-only".

    A model that was trained with class weights trades accuracy for balance: it and the baselines are then compared by
    balanced accuracy, and the baselines are balanced as well.
    """
    sets = {"training": (train, train_classes)}
    if validation is not None and validation_classes is not None:
        sets["validation"] = (validation, validation_classes)
    if weighted and metric == "accuracy":
        metric = "balanced_accuracy"
    inputs = [_baseline_input(examples, k) for examples, _ in sets.values()]
    scores: dict[str, dict[str, float]] = {}
    for where, (examples, predicted) in sets.items():
        scores[where] = {"model": score(metric, examples.labels(), predicted)}
    for name, baseline in _baselines(inputs, weighted).items():
        baseline.fit(inputs[0], train.labels())
        for graphs, (where, (examples, _)) in zip(inputs, sets.items(), strict=True):
            scores[where][name] = score(metric, examples.labels(), np.asarray(baseline.predict(graphs), np.int64))
    sizes = {where: len(examples) for where, (examples, _) in sets.items()}
    table = inputs[0] if isinstance(inputs[0], Counts) else None
    patterns = 0 if table is None else sum(len(connected_patterns(size)) for size in _pattern_sizes(table))
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
    if DENSITY_BASELINE in by_name and enough and by_name[DENSITY_BASELINE] - by_name["model"] > sizes[where] ** -0.5:
        longer = (("epochs", SUGGESTED_EPOCHS),) if method.has_epochs else ()
        return (
            f"logistic regression on densities of uncolored patterns is better on the {where} graphs ({metric} "
            f"{by_name['model']:.3f}, {DENSITY_BASELINE} {by_name[DENSITY_BASELINE]:.3f}): the model is undertrained"
        ), (("method", DENSITY_BASELINE), *longer)
    return None, ()


def _baseline_input(examples: Examples, k: Sizes | None) -> Any:
    """Counts of patterns if there are any, else the graphs."""
    if examples.graphs is not None and k is None:
        return examples.graphs
    return examples.counts(0 if k is None else k)


def _baselines(inputs: Sequence[Any], weighted: bool) -> dict[str, Any]:
    """Untrained baselines by name; topology-only where all inputs are exact counts."""
    class_weight = "balanced" if weighted else None
    baselines = {"majority": DummyClassifier(), "size-only": size_only(class_weight)}
    if all(isinstance(table, Counts) and table.sampling is None for table in inputs):
        sizes = sorted({size for table in inputs for size in _pattern_sizes(table)})
        baselines[DENSITY_BASELINE] = topology_only(sizes, class_weight)
    return baselines


def _pattern_sizes(table: Counts) -> list[int]:
    sizes: list[int] = np.unique(table.columns.size).tolist()
    return sizes
