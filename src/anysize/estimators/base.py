"""What `GraphClassifier` and `GraphRegressor` share: training, input, warnings, scores on held-out graphs, files."""

from __future__ import annotations

import os
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from anysize._errors import GraphWarning, ModelWarning, warn_user
from anysize._log import log
from anysize._progress import ProgressFunction, progress_bars
from anysize._sklearn import BaseEstimator, check_is_fitted
from anysize._typing import FloatArray, IntArray, PathLike, TargetKind
from anysize.causal.graphon_check import check_graphon
from anysize.estimators.ensemble import (
    Ensemble,
    as_examples,
    as_graphs_or_counts,
    check_table,
    edge_types_of,
    features_of,
    palette_of,
    train,
    training_curves,
    warn_of_complete_graphs,
    warn_of_identifiers,
)
from anysize.estimators.held_out import HeldOutScores, held_out_scores
from anysize.estimators.novelty import GraphsOrCounts, NoveltyDetector
from anysize.estimators.verdict import Verdict, judge
from anysize.graphs.graphset import GraphSet
from anysize.graphs.labels import Labels, labels_of, training_weights
from anysize.methods.catalog import find_method, unused_by
from anysize.methods.configuration import number, resolve_configuration, weight, whole_number
from anysize.methods.method import Examples, Method, RecipeName, Run, Sizes, TrainingData, learn_bins
from anysize.patterns.pattern import pattern_sizes
from anysize.splits import VALIDATION_SHARE, hold_out_by_class, median_cut
from anysize.training.device import resolve_device
from anysize.training.settings import Recipe

if TYPE_CHECKING:
    from anysize.kernels.vertex_bins import VertexBins

Environments = Literal["median", "size"] | ArrayLike
EPOCH_METRICS: Mapping[TargetKind, tuple[str, ...]] = {"classes": ("accuracy", "mcc"), "numbers": ("rmse",)}


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

    classes_: Labels  # of classifiers
    ensemble_: Ensemble
    verdict_: Verdict
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

    # ---- training --------------------------------------------------------------------------------

    def _fit(
        self, graphs: Any, y: ArrayLike | None, validation: Any, environments: Environments,
        sample_weight: ArrayLike | None,
    ) -> None:  # fmt: skip
        """Train the models and judge them."""
        source = as_graphs_or_counts(graphs, self.color)
        method, k, palette = find_method(self.method, self.predicts), pattern_sizes(self.k), palette_of(source)
        if isinstance(self.params, Mapping) and "k" in self.params:
            raise ValueError("k is a parameter of the estimator itself; pass k=... instead of params={'k': ...}")
        warn_of_identifiers(source)
        if not len(source):
            raise ValueError("expected training graphs; got none")
        labels, environments = labels_of(source, y), _environment_values(source, environments)
        present, graph_weights = training_weights(sample_weight, len(source))
        if len(present) < len(source):
            source, labels = source[present], labels[present]
            environments = environments[present] if isinstance(environments, np.ndarray) else environments
        codes = self._encode(labels, learn=True)
        classes: Labels | None = getattr(self, "classes_", None)
        bins = learn_bins(source, method) if isinstance(source, GraphSet) else None
        configuration, recipe = resolve_configuration(
            method, self.recipe, colored=palette is not None or bins is not None, params=self.params,
            vanishing=method.patterns and densities_vanish(source, codes, graph_weights),
        )  # fmt: skip
        warn_of_complete_graphs(source)
        models, seed = whole_number("n_models", self.n_models), whole_number("random_state", self.random_state, 0)
        runs = tuple([Run(configuration, seed + model) for model in range(models)])
        share, device = self._validation_share(recipe), resolve_device(self.device)
        if self.metric not in EPOCH_METRICS[self.predicts]:
            raise ValueError(f"metric must be one of {', '.join(EPOCH_METRICS[self.predicts])}; got {self.metric!r}")
        metric: Any = self.metric
        check_table(source, method, k)
        if isinstance(source, GraphSet) and not method.is_baseline and (sentence := unused_by(method, source)):
            warn_user(sentence, GraphWarning)
        environment_of = _environments(source, environments, method, method.compares_environments(configuration))
        with progress_bars(bool(self.verbose)) as progress:
            given = self._given_validation(validation, method, k, source, progress, bins)
            known_types = edge_types_of(source, method)
            examples = as_examples(source, method, k, palette, known_types, self.cache, progress, bins)
            examples = replace(examples, y=codes, environments=environment_of, weights=graph_weights)
            if method.takes_tables:
                _check_patterns(method, examples, k)
            held_out = hold_out_by_class(examples.strata(), share if given is None else 0.0, runs[0].seed)
            kept = np.setdiff1d(np.arange(len(codes)), held_out)
            if environment_of is not None and len(np.unique(environment_of[kept])) < 2:
                raise ValueError(
                    f"{method.name} compares environments, and all {len(kept)} training graphs are in one; pass "
                    "environments=... with at least two, or use another method"
                )
            data = TrainingData(
                examples.rows(kept), examples.rows(held_out) if len(held_out) else given,
                classes=0 if classes is None else len(classes), k=k, metric=metric,
                class_weights=self._class_weights(examples, given), device=device, cache=self.cache,
            )  # fmt: skip
            began = time.monotonic()
            parts, outputs = train(method, recipe, runs, data, progress)
            scores: tuple[HeldOutScores, ...] = ()
            if self.check is not False and method.kind != "baseline":
                scores = held_out_scores(
                    method, recipe, runs[0], data, self._class_weights, (time.monotonic() - began) / len(runs),
                    None if self.check is True else weight("check", self.check),
                    partial(progress, "scoring held-out graphs"),
                )  # fmt: skip
        counted = data.train if getattr(getattr(parts[0], "decision", None), "family", "") == "gamma" else None
        counted = examples if method.takes_tables else counted
        table = None if counted is None else method.counts(counted, k, self.cache)
        self.held_out_ = present[held_out]
        novelty = NoveltyDetector.of(examples.source, table, method.colors, known_types)
        self.ensemble_ = Ensemble(method, k, palette, parts, novelty, features_of(source), bins)
        self.curves_, self.epochs_ = training_curves(parts)
        judged = {"training": outputs}
        if data.validation is not None:
            judged["validation"] = self.ensemble_.outputs(data.validation).mean(axis=0)
        self.verdict_ = judge(method, configuration, metric, data, judged, classes, scores)
        log.info(
            "fitted %s (models: %d) to %d graphs in %.1f s", method.name, len(runs), len(source),
            time.monotonic() - began,
        )  # fmt: skip
        for doubt in (getattr(getattr(parts[0], "decision", None), "doubt", ""), self.verdict_.sentence):
            if doubt:
                warn_user(doubt, ModelWarning)

    def _validation_share(self, recipe: Recipe) -> float:
        if self.validation is None:
            return VALIDATION_SHARE if recipe.epoch == "best" else 0.0
        if not 0 <= number(self.validation) < 1:
            raise ValueError(
                "validation must be a share of the training graphs, at least 0 and below 1, or None for what the "
                f"recipe needs; got {self.validation!r} (validation graphs are passed to fit)"
            )
        return float(self.validation)

    def _given_validation(
        self, validation: Any, method: Method, k: Sizes, source: GraphsOrCounts, progress: ProgressFunction,
        bins: VertexBins | None,
    ) -> Examples | None:  # fmt: skip
        """The validation graphs that were passed to `fit`, with their targets."""
        if validation is None:
            return None
        pair = validation if isinstance(validation, tuple) else (validation, None)
        if len(pair) != 2:
            raise ValueError(
                f"validation must be labeled graphs or a pair (graphs, labels); got a tuple of length {len(pair)}"
            )
        graphs = as_graphs_or_counts(pair[0], self.color)
        if not len(graphs):
            raise ValueError("validation has no graphs; pass at least one, or leave it out")
        codes = self._encode(labels_of(graphs, pair[1]))
        palette, known_types = palette_of(source), edge_types_of(source, method)
        return replace(as_examples(graphs, method, k, palette, known_types, self.cache, progress, bins), y=codes)

    # ---- new graphs ------------------------------------------------------------------------------

    def _examples(self, graphs: Any, warn: bool = True) -> Examples:
        """New graphs as input of the models; ``warn`` about those unlike the training graphs."""
        check_is_fitted(self, "ensemble_")
        source = as_graphs_or_counts(graphs, self.color)
        with progress_bars(bool(self.verbose)) as progress:
            examples = self.ensemble_.examples(source, self.cache, progress)
        if warn:
            self.ensemble_.warn(examples)
        return examples

    def representation(self, graphs: Any) -> FloatArray:
        """The input of the final models, (graphs, models * width), concatenated over the models."""
        examples = self._examples(graphs)
        return self.ensemble_.represent(examples)

    @property
    def bins_(self) -> VertexBins | None:
        """The bins in which the models see vertex features; None without features, and for networks."""
        check_is_fitted(self, "ensemble_")
        part = self.ensemble_.parts[0]
        holders = (self.ensemble_, part, getattr(part, "experts", {}).get("sizemix"))
        held = [getattr(each, "bins", None) for holder in holders for each in (holder, getattr(holder, "model", None))]
        return next((bins for bins in held if bins is not None), None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trained models to one file without pickle; `anysize.load_model` reads it."""
        from anysize.estimators.model_file import save_model

        check_is_fitted(self, "ensemble_")
        save_model(self, path)


# ---- what fit does with its arguments --------------------------------------------------------------


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
