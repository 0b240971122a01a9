"""GraphClassifier: every method of the package behind the conventions of scikit-learn."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from anysize._progress import ProgressFunction, progress_bars
from anysize._typing import FloatArray, IntArray
from anysize.estimators.baseline_check import Answers, BaselineTrial, Verdict
from anysize.estimators.configuration import ResolvedConfig, class_weights, resolve_config
from anysize.estimators.ensemble import (
    Ensemble,
    GraphsOrCounts,
    as_graphs_or_counts,
    check_kind,
    check_patterns,
    curves_of,
    environments_of,
    examples_of,
    hold_out,
    palette_of,
    some,
    train,
)
from anysize.estimators.novelty import NoveltyDetector
from anysize.graphs.labels import Labels, labels_of, several_classes
from anysize.methods.method import Examples, LearningTask
from anysize.methods.recipes import RecipeName
from anysize.tasks.metrics import accuracy, check_alike, mcc

if TYPE_CHECKING:
    from anysize.estimators.explain import Explanation


class GraphClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of graphs of any size: one of `anysize.METHODS`, trained once or several times.

    Graphs are a `GraphSet`, a list of networkx, PyG, igraph or scipy graphs, or a path. Methods that look at patterns
    alone (the Gamma models and the graphlet kernel) also take a table of `Counts` made before. All of them can be cut
    up by scikit-learn's cross-validation and searches.

    Args:
        method: a name in `anysize.METHODS`, such as "gamma-gin", "gin-sum" or "wl-kernel".
        k: the vertices of the patterns, or several sizes; methods that look at whole graphs have no use for it.
        recipe: "robust" holds over many data sets; "paper" is the published procedure.
        n_models: how many models, with the seeds ``seed``, ``seed + 1``, ...; probabilities are averaged. Methods
            without chance (kernels, most sanity rows) are trained once, whatever the number.
        seed: of the weights and of the graphs held out.
        validation: the share of the training graphs, class by class, that is held out to choose the epoch. None:
            0.1 where the recipe keeps the best epoch, otherwise none. 0: none, and the last epoch is kept.
        class_weight: None, "balanced" (n / (classes * n_c)) or a mapping from classes to weights.
        top: how many patterns to keep, the most common ones of training and validation graphs; None for all.
        epochs, hidden, layers, lr, batch_size: as named; None for what the recipe says. A batch size of None takes
            all graphs in one step.
        penalty: weight of the attribute penalty, for graphs with colors; 0 turns it off.
        jumping: whether the representation joins all layers.
        over: what densities are shares of, "subsets", "maps" or "connected".
        irm: weight of invariant risk minimization, for GNNs on whole graphs.
        settings: hyper-parameters of the method that have no name above, such as {"beta": 100} of "gin-vrex" or
            {"C": 10} of a kernel; `anysize methods --json` lists them.
        environments: of the training graphs, for methods that compare them, such as "gin-irm" and "gin-vrex": "median"
            (graphs up to and above the median size), "size", or a function that gives every graph of a `GraphSet` its
            environment.
        metric: "accuracy" or "mcc": what validation and `score` go by.
        color: for networkx, PyG and igraph graphs, the vertex attribute with the colors; without it there are none.
        device: "cpu", "cuda" or "auto".
        cache: cache folder; counts found here are not recomputed (see `count`).
        verbose: 1 shows progress and the time left.

    Attributes (after `fit`):
        classes_: the classes in ascending order.
        ensemble_: the trained models.
        held_out_: numbers of the training graphs that were held out for validation.
        epochs_: the epoch kept for every model; empty for methods without epochs.
        curves_: name -> (epochs, models): "loss", "penalty", "validation_loss", "validation_score".
        verdict_: scores on training and validation graphs beside those of the class shares, the sizes or the plain
            patterns alone, and ``verdict_.doubt``, a sentence where the model does not beat them.

    Graphs with fewer than k vertices have no patterns: all of them get the same prediction. A color that the training
    set did not have is nobody's color: its vertices have no features (GNNs), its patterns no weight (one-hot rows and
    kernels). Predictions for either, and for graphs whose patterns are unlike those of all training graphs, come with
    a `GraphWarning`; see `anysize.estimators.novelty`.

    Examples:
        >>> import networkx as nx
        >>> small = [nx.gnp_random_graph(12, p, seed=seed) for p in (0.3, 0.6) for seed in range(10)]
        >>> large = [nx.gnp_random_graph(60, p, seed=seed) for p in (0.3, 0.6) for seed in range(5)]
        >>> model = GraphClassifier("gamma-gin", k=3, epochs=60).fit(small, ["sparse"] * 10 + ["dense"] * 10)
        >>> model.score(large, ["sparse"] * 5 + ["dense"] * 5)
        1.0
    """

    classes_: Labels
    ensemble_: Ensemble
    _trial: BaselineTrial

    def __init__(
        self,
        method: str = "gamma-gin",
        k: int | Sequence[int] = 5,
        recipe: RecipeName = "robust",
        *,
        n_models: int = 1,
        seed: int = 0,
        validation: float | None = None,
        class_weight: Literal["balanced"] | Mapping[Any, float] | None = None,
        top: int | None = None,
        epochs: int | None = None,
        penalty: float | None = None,
        hidden: int | None = None,
        layers: int | None = None,
        lr: float | None = None,
        jumping: bool | None = None,
        batch_size: int | None = None,
        over: Literal["subsets", "maps", "connected"] | None = None,
        irm: float | None = None,
        settings: Mapping[str, Any] | None = None,
        environments: Literal["median", "size"] | Callable[[Any], ArrayLike] = "median",
        metric: Literal["accuracy", "mcc"] = "accuracy",
        color: str | None = None,
        device: str = "cpu",
        cache: str | os.PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.k = k
        self.recipe = recipe
        self.n_models = n_models
        self.seed = seed
        self.validation = validation
        self.class_weight = class_weight
        self.top = top
        self.epochs = epochs
        self.penalty = penalty
        self.hidden = hidden
        self.layers = layers
        self.lr = lr
        self.jumping = jumping
        self.batch_size = batch_size
        self.over = over
        self.irm = irm
        self.settings = settings
        self.environments = environments
        self.metric = metric
        self.color = color
        self.device = device
        self.cache = cache
        self.verbose = verbose

    # ---- training ------------------------------------------------------------------------------

    def fit(
        self, graphs: Any, y: ArrayLike | None = None, validation: Any = None, environments: ArrayLike | None = None
    ) -> GraphClassifier:
        """Train the models.

        Args:
            graphs: the training graphs, or their counts.
            y: a class for every graph, numbers or strings; those that the graphs carry if None.
            validation: graphs with labels, or a pair (graphs, labels), to choose the epoch by; no training graph is
                held out then.
            environments: of every training graph, for methods that compare them; by rule if None.
        """
        with progress_bars(bool(self.verbose)) as report:
            return self.fit_reporting(report, graphs, y, validation, environments)

    def fit_reporting(
        self, report: ProgressFunction, graphs: Any, y: ArrayLike | None = None, validation: Any = None,
        environments: ArrayLike | None = None,
    ) -> GraphClassifier:  # fmt: skip
        """`fit` with progress told to ``report("training", share)``."""
        source = as_graphs_or_counts(graphs, self.color)
        choice = resolve_config(self.get_params(deep=False), palette_of(source) is not None)
        check_kind(source, choice.method, choice.k)
        labels = self._labels(source, y)
        classes = several_classes(labels)
        codes = np.searchsorted(classes, labels).astype(np.int64)
        places = self._environments(choice, source, environments)
        weights = class_weights(self.class_weight, classes, codes)
        checked = self._checked(choice, validation, source, classes, report)
        examples = examples_of(source, choice.method, choice.k, self.cache, report)
        check_patterns(examples, choice.k)
        held_out = hold_out(codes, choice.share if checked is None else 0.0, choice.runs[0].seed)
        kept = np.setdiff1d(np.arange(len(codes)), held_out)
        if places is not None and len(np.unique(places[kept])) < 2:
            raise ValueError(
                f"{choice.method.name} compares environments, and all {len(kept)} training graphs are in one; pass "
                "environments of several kinds, or take a method that does without"
            )
        problem = LearningTask(
            some(examples, kept, codes, places),
            checked if not len(held_out) else some(examples, held_out, codes),
            classes=len(classes), k=choice.k, metric=self.metric, top=self.top, class_weights=weights,
            device=choice.device, cache=self.cache,
        )  # fmt: skip
        parts, chances = train(choice, problem, report)
        known = NoveltyDetector.of(source, examples.table, choice.method.colors)
        ensemble = Ensemble(choice.method, choice.k, palette_of(source), parts, known)
        tested = problem.validation
        checks = None if tested is None else Answers.of(tested, ensemble.probabilities(tested))
        self.classes_, self.held_out_, self.ensemble_ = classes, held_out, ensemble
        self.curves_, self.epochs_ = curves_of(ensemble)
        said = Answers.of(problem.train, chances)
        self._trial = BaselineTrial.of(choice, said, checks, problem.metric, weights is not None)
        return self

    @property
    def verdict_(self) -> Verdict:
        """The scores of the models on training and validation graphs, beside those of the class shares, the sizes or
        the plain patterns alone, and a sentence of doubt where they do not beat them."""
        check_is_fitted(self, "ensemble_")
        if not hasattr(self, "_trial"):
            raise AttributeError("the verdict belongs to training and is not kept in model files; fit again to have it")
        return self._trial.verdict()

    def _labels(self, source: GraphsOrCounts, y: ArrayLike | None) -> Labels:
        if not len(source):
            raise ValueError("expected training graphs; got none")
        labels = labels_of(source, y)
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError("expected a class for every graph; got y with NaN or infinite numbers in it")
        check_classification_targets(labels)
        return labels

    def _environments(self, choice: ResolvedConfig, source: GraphsOrCounts, given: ArrayLike | None) -> IntArray | None:
        if choice.compares:
            return environments_of(source, self.environments, given)
        if given is not None:
            raise ValueError(
                f"{choice.method.name} does not compare environments as it is set; leave them out, or take a method "
                "that does, such as gin-irm or gin-vrex"
            )
        return None

    def _checked(
        self, choice: ResolvedConfig, validation: Any, source: GraphsOrCounts, classes: Labels, report: ProgressFunction
    ) -> Examples | None:
        """Validation graphs that were passed to `fit`, with class numbers."""
        if validation is None:
            return None
        pair = validation if isinstance(validation, tuple) else (validation, None)
        if len(pair) != 2:
            raise ValueError(f"validation is graphs with labels, or a pair (graphs, labels); got {len(pair)} things")
        own = as_graphs_or_counts(pair[0], self.color)
        if not len(own):
            raise ValueError("expected validation graphs; got none. Leave validation out to go without")
        labels = labels_of(own, pair[1])
        check_alike(labels, classes)
        strange = np.setdiff1d(labels, classes)
        if len(strange):
            raise ValueError(f"validation graphs have the class {strange.tolist()[0]!r}, which no training graph has")
        # The same checks as for new graphs: of the same kind, and counted alike.
        whole = Ensemble(choice.method, choice.k, palette_of(source), ()).examples(own, self.cache, report)
        return some(whole, np.arange(len(own)), np.searchsorted(classes, labels).astype(np.int64))

    # ---- new graphs ----------------------------------------------------------------------------

    def predict_proba(self, graphs: Any) -> FloatArray:
        """(graphs, classes), in the order of ``classes_``: the mean over the models.

        A kernel machine has no probabilities: it gives the share of pairwise votes that a class won. "random" gives
        its draw.
        """
        examples = self._examples(graphs)
        return self.ensemble_.probabilities(examples)

    def predict(self, graphs: Any) -> Labels:
        """The most probable class; on a tie the first of them."""
        likely = self.predict_proba(graphs).argmax(axis=1)
        return np.asarray(self.classes_[likely])

    def score(self, graphs: Any, y: ArrayLike | None = None) -> float:
        """The accuracy of `predict`, or its Matthews correlation with ``metric="mcc"``."""
        source = as_graphs_or_counts(graphs, self.color)
        measure, labels = accuracy if self.metric == "accuracy" else mcc, labels_of(source, y)
        check_is_fitted(self, "ensemble_")
        check_alike(labels, self.classes_)  # before the work
        return measure(labels, self.predict(source))

    def representation(self, graphs: Any) -> FloatArray:
        """(graphs, models * width): what the classifiers on top see, the models side by side."""
        examples = self._examples(graphs)
        return self.ensemble_.represent(examples)

    def explain(self, graph: Any, reference: Any = None) -> Explanation:
        """Which patterns of one graph spoke for its class, against the runner-up; for the Gamma models.

        Args:
            graph: one graph.
            reference: graphs to compare with, such as the training graphs: patterns then speak by how much more, or
                less, of them there is than in the mean reference graph. Without it, than in a graph that has none.
        """
        from anysize.estimators.explain import explain

        source = as_graphs_or_counts(graph, self.color)
        if len(source) != 1:
            raise ValueError(f"explain takes one graph; got {len(source)}")
        others = None if reference is None else self._examples(reference, warn=False)
        if others is not None and not len(others):
            raise ValueError("expected reference graphs; got none. Leave reference out to go without")
        examples = self._examples(source)
        return explain(self.ensemble_, self.classes_, examples, others)

    def _examples(self, graphs: Any, warn: bool = True) -> Examples:
        check_is_fitted(self, "ensemble_")
        source = as_graphs_or_counts(graphs, self.color)
        with progress_bars(bool(self.verbose), after=2.0, keep=False) as report:
            examples = self.ensemble_.examples(source, self.cache, report)
        if warn:
            self.ensemble_.warn(source, examples)
        return examples

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the trained models as one file without pickle; `anysize.load_model` reads it."""
        from anysize.estimators.model_file import save_model

        check_is_fitted(self, "ensemble_")
        save_model(self, path)
