"""What `GraphClassifier` and `GraphRegressor` share: training, input, warnings, scores on held-out graphs, files."""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from anysize._errors import GraphWarning, ModelWarning, warn_user
from anysize._log import log
from anysize._progress import ProgressFunction, progress_bars
from anysize._sklearn import BaseEstimator
from anysize._text import plural
from anysize._typing import FloatArray, IntArray, PathLike, TargetKind
from anysize.causal.graphon_check import check_graphon
from anysize.estimators.ensemble import (
    Ensemble,
    ModelInput,
    as_graphs_or_counts,
    edge_types_of,
    features_of,
    train,
    warn_of_identifiers,
)
from anysize.estimators.novelty import GraphsOrCounts, NoveltyDetector, palette_of
from anysize.estimators.verdict import HeldOutScores, held_out_scores, judge
from anysize.graphs.graphset import GraphSet
from anysize.graphs.labels import (
    Labels,
    checked_weights,
    known_targets,
    label_array,
    labels_or_targets,
    target_position,
    training_weights,
)
from anysize.io.convert import warn_of_complete_graphs
from anysize.methods.catalog import find_method, unused_by
from anysize.methods.configuration import number, resolve_configuration, weight, whole_number
from anysize.methods.method import Examples, Fitted, Method, RecipeName, Run, Sizes, TrainingData, learn_bins
from anysize.patterns.pattern import pattern_sizes
from anysize.splits import VALIDATION_SHARE, hold_out_by_class, median_cut
from anysize.training.device import resolve_device
from anysize.training.settings import Recipe

if TYPE_CHECKING:
    from anysize.estimators.explain import Explanation
    from anysize.kernels.explanation import VertexExplanation
    from anysize.kernels.vertex_bins import VertexBins

Environments = Literal["median", "size"] | ArrayLike
EPOCH_METRICS: Mapping[TargetKind, tuple[str, ...]] = {"classes": ("accuracy", "mcc"), "numbers": ("rmse",)}


@dataclass(frozen=True, eq=False)
class _Validation:
    """Validation graphs, with one label each or a table of targets."""

    examples: Examples
    labels: Labels
    targets: tuple[str, ...]

    def of(self, targets: Sequence[_Target]) -> Examples:
        """Those that have some of these targets, or all where there is one label per graph."""
        if bool(self.targets) != bool(targets[0].name):
            raise ValueError("validation graphs need the targets of the training graphs: several in a table, or one")
        if not self.targets:
            return replace(self.examples, y=targets[0].model._encode(self.labels))
        known = []
        for target in targets:
            rows, labels = known_targets(self.labels, target_position(self.targets, target.name))
            if not len(rows):
                raise ValueError(f"no validation graph has the target {target.name!r}")
            known.append(replace(target, codes=target.model._encode(labels), rows=rows))
        return _with_targets(self.examples, known)[0]


@dataclass(frozen=True, eq=False)
class _Target:
    """One target: its name, empty if there is no other, what learns it, and class numbers or numbers of some rows."""

    name: str
    model: GraphEstimator
    codes: IntArray | FloatArray
    rows: IntArray


def _with_targets(examples: Examples, targets: Sequence[_Target]) -> tuple[Examples, IntArray]:
    """The examples that have some of these targets, with them, and their rows; of several targets with gaps."""
    if len(targets) == 1:
        (target,) = targets
        part = examples.rows(target.rows) if len(target.rows) < len(examples) else examples
        return replace(part, y=target.codes), target.rows
    numbers = targets[0].codes.dtype.kind == "f"
    table: Any = np.full((len(examples), len(targets)), np.nan if numbers else -1)
    for column, target in enumerate(targets):
        table[target.rows, column] = target.codes
    whole = replace(examples, y=table if numbers else table.astype(np.int64))
    rows = np.flatnonzero(whole.known.any(axis=1))
    return (whole if len(rows) == len(whole) else whole.rows(rows)), rows


@dataclass(frozen=True, eq=False)
class _Training:
    """Training graphs as input of a method: what several targets share.

    ``present``: positions of the graphs among those that were passed to `fit`.
    """

    input: ModelInput
    source: GraphsOrCounts
    examples: Examples
    environments: Any
    present: IntArray
    validation: _Validation | None
    progress: ProgressFunction
    _novelty: dict[bool, NoveltyDetector] = field(default_factory=dict)

    def novelty(self, uses_counts: bool, cache: PathLike | None) -> NoveltyDetector:
        """What new graphs are compared with: all training graphs, whatever their targets."""
        if uses_counts not in self._novelty:
            method = self.input.method
            table = method.counts(self.examples, self.input.k, cache) if uses_counts else None
            self._novelty[uses_counts] = NoveltyDetector.of(
                self.examples.source, table, method.colors, self.input.edge_types
            )
        return self._novelty[uses_counts]


class GraphEstimator(BaseEstimator):
    """An estimator on graphs of any size: one of `anysize.METHODS`, trained once or with several seeds."""

    predicts: ClassVar[TargetKind]
    metric: str
    method: str
    k: int | Sequence[int]
    recipe: RecipeName
    n_models: int
    random_state: int
    validation: float | None
    color: str | None
    device: str
    cache: PathLike | None
    check: bool | float
    verbose: int
    params: Mapping[str, Any] | None

    classes_: Any  # of classifiers
    targets_: tuple[str, ...]
    models_: dict[str, Any]
    ensemble_: Ensemble
    verdict_: Any
    held_out_: IntArray
    epochs_: IntArray
    curves_: dict[str, FloatArray]

    def set_params(self, **values: Any) -> Any:
        """Set parameters; ``params__hidden=32`` sets one entry of ``params`` and keeps the others, as in a grid."""
        entries = {name: values.pop(name) for name in list(values) if name.startswith("params__")}
        super().set_params(**values)
        if entries:
            self.params = {**(self.params or {}), **{name[len("params__") :]: entries[name] for name in entries}}
        return self

    @abstractmethod
    def _encode(self, labels: Labels, learn: bool = False) -> IntArray | FloatArray:
        """Class numbers of labels, or numbers; ``learn``: these are the training graphs, which have all classes."""

    @abstractmethod
    def _class_weights(self, train: Examples, given: Examples | None = None) -> FloatArray | None:
        """The weight of every class in the loss; None for equal weights. ``given``: validation graphs, if any."""

    @abstractmethod
    def predict(self, graphs: Any) -> Any:
        """One prediction per graph; of several targets (graphs, targets)."""

    # ---- training --------------------------------------------------------------------------------

    def fit(
        self, graphs: Any, y: ArrayLike | None = None, validation: Any = None, environments: Environments = "median",
        sample_weight: ArrayLike | None = None,
    ) -> Self:  # fmt: skip
        """Train the models and judge them: of one target, or of each of several on the graphs that have it.

        Args:
            graphs: the training graphs, or their counts.
            y: the class of every graph, a number or a string, or the number to predict; None for the labels stored with
                the graphs. Or a table of several targets, a row for every graph (data frame, array, list), NaN or None
                where one is not known.
            validation: labeled graphs, or a pair (graphs, labels), that select the epoch and are scored instead of
                held-out graphs; for numbers they are only scored.
            environments: for methods that compare environments, such as "gin-irm" and "gin-vrex": one value per
                training graph, "median" (graphs up to and above the median size) or "size" (one per size).
            sample_weight: how often each training graph counts: 2 as if it were there twice, 0 as if it were not there;
                once if None. Scores on training graphs are weighted, too.
        """
        source = as_graphs_or_counts(graphs, self.color)
        method, k = find_method(self.method, self.predicts), pattern_sizes(self.k)
        if isinstance(self.params, Mapping) and "k" in self.params:
            raise ValueError("k is a parameter of the estimator itself; pass k=... instead of params={'k': ...}")
        warn_of_identifiers(source)
        if not len(source):
            raise ValueError("expected training graphs; got none")
        labels, targets = labels_or_targets(source, y)
        environments = _environment_values(source, environments)
        present, weights = training_weights(sample_weight, len(source))
        if len(present) < len(source):
            source, labels = source[present], labels[present]
            environments = environments[present] if isinstance(environments, np.ndarray) else environments
        if not targets:
            labels = self._encode(labels, learn=True)
        if isinstance(source, GraphSet):
            warn_of_complete_graphs(source)
            if not method.is_baseline and (sentence := unused_by(method, source)):
                warn_user(sentence, GraphWarning)
            source = source.with_y(None)
        with progress_bars(bool(self.verbose)) as progress:
            bins = learn_bins(source, method) if isinstance(source, GraphSet) else None
            taken = ModelInput(method, k, palette_of(source), edge_types_of(source, method), bins)
            given = None if validation is None else self._given_validation(validation, taken, progress)
            examples = replace(taken.examples(source, self.cache, progress), weights=weights)
            training = _Training(taken, source, examples, environments, present, given, progress)
            self.targets_, self.models_ = (), {}
            if targets:
                self._learn_targets(training, labels, targets)
            else:
                self._learn(training, [_Target("", self, labels, np.arange(len(labels)))])
        return self

    def _learn_targets(self, training: _Training, table: Labels, targets: Sequence[str]) -> None:
        """Fit one estimator for each target, or all of them together where the method learns several in one network.

        What cannot be learned is left out with a warning.
        """
        from sklearn.base import clone

        known: list[_Target] = []
        left_out = []
        for column, name in enumerate(targets):
            rows, labels = known_targets(table, column)
            if len(classes := np.unique(labels)) < 2:
                has = "is not known of any graph" if not len(rows) else f"is {classes.tolist()[0]!r} in all graphs"
                left_out.append(f"{name!r} {has}")
                continue
            model = clone(self)
            with _errors_of(name):
                known.append(_Target(name, model, model._encode(labels, learn=True), rows))
        together = training.input.method.shares_targets and len(known) > 1
        for group in [known] if together else [[target] for target in known]:  # after all are checked
            with nullcontext() if together else _errors_of(group[0].name):
                self._learn(training, group)
        if left_out:
            sentence = f"there is nothing to learn about {plural(len(left_out), 'target')}: {'; '.join(left_out)}"
            if not known:
                raise ValueError(sentence)
            warn_user(f"{sentence}. Left out.", ModelWarning)
        learned = {target.name: target.model for target in known}
        self.models_, self.targets_ = learned, tuple(learned)
        self.verdict_ = {name: model.verdict_ for name, model in learned.items()}
        if self.predicts == "classes":
            self.classes_ = [model.classes_ for model in learned.values()]

    def _learn(self, training: _Training, targets: Sequence[_Target]) -> None:
        """Train and judge models of one target, or of several at once, on the training graphs that have them."""
        method, k, progress = training.input.method, training.input.k, training.progress
        examples, rows = _with_targets(training.examples, targets)
        source = training.source[rows] if len(rows) < len(training.examples) else training.source
        environments = training.environments
        environments = environments[rows] if isinstance(environments, np.ndarray) else environments
        classes = [len(getattr(target.model, "classes_", ())) for target in targets]
        configuration, recipe = resolve_configuration(
            method, self.recipe, colored=training.input.palette is not None, params=self.params,
            vanishing=method.patterns and densities_vanish(source, targets[0].codes, examples.weights),
        )  # fmt: skip
        if training.input.palette is None:  # bins are no names that could be interchanged
            recipe = replace(recipe, roles=False)
        models, seed = whole_number("n_models", self.n_models), whole_number("random_state", self.random_state, 0)
        runs = tuple([Run(configuration, seed + model) for model in range(models)])
        share, device = self._validation_share(recipe), resolve_device(self.device)
        if self.metric not in EPOCH_METRICS[self.predicts]:
            raise ValueError(f"metric must be one of {', '.join(EPOCH_METRICS[self.predicts])}; got {self.metric!r}")
        metric: Any = self.metric
        environment_of = _environments(source, environments, method, method.compares_environments(configuration))
        examples = replace(examples, environments=environment_of)
        given = None if training.validation is None else training.validation.of(targets)
        if method.takes_tables:
            _check_patterns(method, examples, k)
        held_out = hold_out_by_class(examples.strata(), share if given is None else 0.0, runs[0].seed)
        kept = np.setdiff1d(np.arange(len(rows)), held_out)
        if environment_of is not None and len(np.unique(environment_of[kept])) < 2:
            raise ValueError(
                f"{method.name} compares environments, and all {len(kept)} training graphs are in one; pass "
                "environments=... with at least two, or use another method"
            )
        data = TrainingData(
            examples.rows(kept), examples.rows(held_out) if len(held_out) else given,
            classes=sum(classes), k=k, metric=metric, class_weights=_weights_of_all(targets, examples, given),
            device=device, cache=self.cache, blocks=tuple([max(one, 1) for one in classes]) if len(targets) > 1 else (),
        )  # fmt: skip
        began = time.monotonic()
        fitted = train(method, recipe, runs, data, progress)
        fit_seconds = (time.monotonic() - began) / len(runs)
        scores: list[tuple[HeldOutScores, ...]] = [()] * len(targets)
        if self.check is not False and method.kind != "baseline":
            scores = held_out_scores(
                method, recipe, runs[0], data, partial(_weights_of_all, targets), fit_seconds,
                None if self.check is True else weight("check", self.check),
                partial(progress, "scoring held-out graphs"),
            )  # fmt: skip
        log.info(
            "fitted %s (models: %d) to %d graphs%s in %.1f s", method.name, len(runs), len(rows),
            f" with {', '.join(target.name for target in targets)}" if targets[0].name else "",
            time.monotonic() - began,
        )  # fmt: skip
        for target, of_target, trained, scored in zip(targets, data.by_target, fitted, scores, strict=True):
            chosen = rows[held_out]
            chosen = training.present[chosen[np.isin(chosen, target.rows)]]
            target.model._keep(training, target, configuration, of_target, *trained, scored, chosen)

    def _keep(
        self, training: _Training, target: _Target, configuration: Mapping[str, Any], data: TrainingData,
        parts: tuple[Fitted, ...], outputs: FloatArray, scores: tuple[HeldOutScores, ...], held_out: IntArray,
    ) -> None:  # fmt: skip
        """The trained models of one target, and the verdict on them.

        Args:
            training, target, configuration, data: what they were trained with.
            parts: the models. outputs: their mean on the training graphs.
            scores: on held-out graphs. held_out: positions of the graphs that were held out for validation.
        """
        method, decision = training.input.method, getattr(parts[0], "decision", None)
        uses_counts = method.takes_tables or getattr(decision, "family", "") == "gamma"
        self.targets_, self.models_ = (), {}
        self.held_out_ = held_out
        novelty = training.novelty(uses_counts, self.cache).with_sizes(training.source.sizes[target.rows])
        features = features_of(training.source)
        self.ensemble_ = Ensemble(**vars(training.input), parts=parts, novelty=novelty, features=features)
        self.curves_, self.epochs_ = self.ensemble_.curves()
        judged = {"training": outputs}
        if data.validation is not None:
            judged["validation"] = self.ensemble_.outputs(data.validation).mean(axis=0)
        classes: Labels | None = getattr(self, "classes_", None)
        self.verdict_ = judge(method, configuration, data.metric, data, judged, classes, scores)
        about = f"target {target.name!r}: " if target.name else ""
        for doubt in (getattr(decision, "doubt", ""), self.verdict_.sentence):
            if doubt:
                warn_user(f"{about}{doubt}", ModelWarning)

    def _validation_share(self, recipe: Recipe) -> float:
        if self.validation is None:
            return VALIDATION_SHARE if recipe.epoch == "best" and self.predicts == "classes" else 0.0
        if not 0 <= number(self.validation) < 1:
            raise ValueError(
                "validation must be a share of the training graphs, at least 0 and below 1, or None for what the "
                f"recipe needs; got {self.validation!r} (validation graphs are passed to fit)"
            )
        return float(self.validation)

    def _given_validation(self, validation: Any, taken: ModelInput, progress: ProgressFunction) -> _Validation:
        """The validation graphs that were passed to `fit`, with their targets."""
        pair = validation if isinstance(validation, tuple) else (validation, None)
        if len(pair) != 2:
            raise ValueError(
                f"validation must be labeled graphs or a pair (graphs, labels); got a tuple of length {len(pair)}"
            )
        graphs = as_graphs_or_counts(pair[0], self.color)
        if not len(graphs):
            raise ValueError("validation has no graphs; pass at least one, or leave it out")
        labels, targets = labels_or_targets(graphs, pair[1])
        graphs = graphs.with_y(None) if isinstance(graphs, GraphSet) else graphs
        return _Validation(taken.examples(graphs, self.cache, progress), labels, targets)

    # ---- new graphs ------------------------------------------------------------------------------

    @property
    def _first(self) -> Any:
        """This estimator, or that of the first of several targets: all of them take the same input."""
        return self.models_[self.targets_[0]] if self.targets_ else self

    def _only(self, what: str) -> None:
        """An error for several targets, of which each has its own ``what``."""
        if self.targets_:
            raise AttributeError(
                f"each of several targets has its own {what}: use models_[{self.targets_[0]!r}].{what}"
            )

    def _by_target(self, method: str, graphs: Any, *arguments: Any, **options: Any) -> dict[str, Any]:
        """What a method gives for each of several targets; graphs are counted and refined once."""
        examples = self._examples(graphs)
        return {name: getattr(model, method)(examples, *arguments, **options) for name, model in self.models_.items()}

    def _examples(self, graphs: Any, warn: bool = True) -> Examples:
        """New graphs as input of the models, examples as they are; ``warn`` about those unlike the training graphs."""
        ensemble = self._first.ensemble_
        if isinstance(graphs, Examples):
            return graphs
        source = as_graphs_or_counts(graphs, self.color)
        with progress_bars(bool(self.verbose)) as progress:
            examples: Examples = ensemble.examples(source, self.cache, progress)
        if warn:
            ensemble.warn(examples)
        return examples

    def _mean_score(
        self, source: GraphsOrCounts, y: ArrayLike | None, sample_weight: ArrayLike | None,
        score: Callable[[Any, Labels, Any, FloatArray | None], float],
    ) -> float:  # fmt: skip
        """The mean over several targets of ``score(model, labels, predictions, weights)`` of the graphs with them."""
        table, names = labels_or_targets(source, y)
        if not names:
            raise ValueError(f"expected a table with the targets {', '.join(self.targets_)}; got one label per graph")
        weights, scores = checked_weights(sample_weight, len(source)), []
        for name, predicted in zip(self.targets_, self.predict(source).T, strict=True):
            rows, labels = known_targets(table, target_position(names, name))
            if len(rows):
                part = None if weights is None else weights[rows]
                scores.append(score(self.models_[name], labels, label_array(predicted[rows].tolist()), part))
        if not scores:
            raise ValueError("none of these graphs has a target; a score needs some")
        return float(np.mean(scores))

    def representation(self, graphs: Any) -> FloatArray:
        """The input of the final models, (graphs, models * width), concatenated over the models."""
        self._only("representation")
        examples = self._examples(graphs)
        return self.ensemble_.represent(examples)

    def explain(self, graph: Any, reference: Any = None) -> Explanation | VertexExplanation:
        """What patterns (Gamma models) or vertices and their types (SizeMix, WL kernel) add to the predicted class.

        "auto" explains by patterns if it uses Gamma models, otherwise by vertices. Of numbers, what SizeMix adds up.

        Args:
            graph: one graph.
            reference: graphs to compare with: contributions are then relative to their mean. Without it, relative to
                the mean training graph, for the WL kernel to an empty graph, for numbers to the size alone.
        """
        from anysize.estimators.explain import check_has_explanations, explain

        self._only("explain")
        check_has_explanations(self.ensemble_, self.predicts == "numbers")
        source = as_graphs_or_counts(graph, self.color)
        if len(source) != 1:
            raise ValueError(f"explain takes one graph; got {len(source)}")
        others = None if reference is None else self._examples(reference, warn=False)
        if others is not None and not len(others):
            raise ValueError("reference has no graphs; pass at least one, or leave it out")
        return explain(self.ensemble_, getattr(self, "classes_", None), self._examples(source), others)

    @property
    def bins_(self) -> VertexBins | None:
        """The bins in which the models see vertex features; None without features, and for networks."""
        part = self.ensemble_.parts[0]
        holders = (self.ensemble_, part, getattr(part, "experts", {}).get("sizemix"))
        held = [getattr(each, "bins", None) for holder in holders for each in (holder, getattr(holder, "model", None))]
        return next((bins for bins in held if bins is not None), None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trained models to one file without pickle; `anysize.load_model` reads it."""
        from anysize.estimators.model_file import save_model

        save_model(self, path)


# ---- what fit does with its arguments --------------------------------------------------------------


def _weights_of_all(
    targets: Sequence[_Target], examples: Examples, given: Examples | None = None
) -> FloatArray | None:  # fmt: skip
    """The weights of the classes of all targets, one target after the other; None for equal ones."""
    by_target = [
        target.model._class_weights(examples.of_target(number), None if given is None else given.of_target(number))
        for number, target in enumerate(targets)
    ]
    known = [weights for weights in by_target if weights is not None]
    return np.concatenate(known) if known else None


def _check_patterns(method: Method, examples: Examples, k: Sizes) -> None:
    """An error if no training graph has any pattern."""
    table = method.counts(examples, k)
    if not table.matrix.nnz:
        smallest = k if isinstance(k, int) else min(k)
        raise ValueError(
            f"no training graph has a connected subgraph on {smallest} vertices (the largest graph has "
            f"{int(table.sizes.max(initial=0))}); use a smaller k"
        )


def densities_vanish(source: GraphsOrCounts, y: IntArray | FloatArray, weights: FloatArray | None = None) -> bool:
    """Whether densities over all subsets vanish with size (`anysize.causal.graphon_check`); False for counts."""
    if not isinstance(source, GraphSet):
        return False
    strata = None if y.dtype.kind == "f" else y.astype(np.int64)
    return check_graphon(source, strata, weights).regime == "not_graphon"


@contextmanager
def _errors_of(target: str) -> Iterator[None]:
    """Errors name the target that they are about."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"target {target!r}: {error}") from error


def _environments(source: GraphsOrCounts, environments: Any, method: Method, compares: bool) -> IntArray | None:
    """The environment of every training graph as a number; None if training does not compare environments."""
    is_rule = isinstance(environments, str)
    if not compares:
        if is_rule or environments is None:
            return None
        raise ValueError(
            f"{method.name} does not compare environments with these parameters; drop environments=..., or use a "
            "method that does, such as gin-irm or gin-vrex"
        )
    if is_rule:
        if environments not in ("median", "size"):
            raise ValueError(f"environments must be 'median', 'size' or one value per graph; got {environments!r}")
        environments = source.sizes > median_cut(source.sizes) if environments == "median" else source.sizes
    return np.unique(environments, return_inverse=True)[1].astype(np.int64)


def _environment_values(source: GraphsOrCounts, environments: Any) -> Any:
    """The name of a rule unchanged, anything else as an array with one value per graph."""
    if isinstance(environments, str) or environments is None:
        return environments
    values = np.asarray(environments)
    if values.shape != (len(source),):
        raise ValueError(f"expected one environment for each of the {len(source)} graphs; got shape {values.shape}")
    return values
