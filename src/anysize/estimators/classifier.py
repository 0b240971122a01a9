"""GraphClassifier: a scikit-learn compatible classifier for every method of the package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from anysize._errors import ModelWarning
from anysize._sklearn import ClassifierMixin
from anysize._typing import FloatArray, IntArray, PathLike
from anysize.estimators.base import GraphEstimator
from anysize.estimators.ensemble import Ensemble, as_graphs_or_counts
from anysize.estimators.forecast import LEVEL, forecast
from anysize.graphs.labels import Labels, checked_weights, distinct_classes, labels_of
from anysize.methods import defaults
from anysize.methods.method import Examples, RecipeName, class_weights
from anysize.metrics import check_alike
from anysize.metrics import score as score_of

if TYPE_CHECKING:
    from anysize.methods.auto import Decision

MIN_GRAPHS_FOR_ONE_CLASS = 20  # predictions that are all one class are reported from this number on


class GraphClassifier(ClassifierMixin, GraphEstimator):
    """A classifier for graphs of any size: one of `anysize.METHODS`, trained once or with several seeds.

    Graphs are a `GraphSet`, a list of networkx, PyG, igraph or scipy graphs, or a path. Methods on patterns (the Gamma
    models and the graphlet kernel) also take `Counts`. All of these work with scikit-learn's cross-validation and
    parameter searches.

    Args:
        method: a name in `anysize.METHODS`, such as "gamma-gin", "gin-sum" or "wl-kernel". "auto" uses Gamma models if
            the training graphs could be samples of graphons, and "sizemix" otherwise (`anysize.methods.auto`).
        k: the number of vertices of the patterns, or several numbers; ignored by methods without patterns.
        recipe: "robust" or "paper" (the published training procedure).
        n_models: the number of models, trained with the seeds ``random_state``, ``random_state + 1``, ...; their
            probabilities are averaged. Several models of "auto" and of methods that do not depend on the seed are
            fitted to bootstrap samples of the training graphs.
        random_state: the seed of training and of the choice of held-out graphs.
        validation: the share of the training graphs, per class, held out to select the epoch. None: 0.1 if the recipe
            selects an epoch by validation, otherwise 0. With 0 the last epoch is kept.
        class_weight: "balanced" (n / (classes * n_c), as in scikit-learn), None for equal weights, or a mapping from
            classes to weights. "auto" is None for the paper's recipe and "balanced" otherwise.
        metric: "accuracy" or "mcc", to select the epoch and for `score`. With class weights, the epoch is selected by
            balanced accuracy instead of accuracy.
        color: for networkx, PyG and igraph graphs, and for GraphML and GML files, the vertex attribute with the colors;
            None for no colors.
        device: "cpu", "cuda" or "auto".
        cache: cache folder; counts found here are not recomputed.
        check: whether `fit` also scores the method on training graphs that it is not fitted to, for `verdict_` and
            `forecast`: True for at most 1.25 times as long as the fit (or 3 seconds), False for never, or a number of
            seconds.
        verbose: 1 shows progress bars when training or counting takes longer than two seconds.
        params: hyper-parameters of the method and fields of its recipe, such as ``{"hidden": 64, "epochs": 500}``, or
            ``{"C": 10}`` for a kernel; `anysize methods --json` lists them.

    Attributes (after `fit`):
        classes_: the classes in ascending order; of several targets a list of them.
        targets_: the names of several targets that were learned, in order; empty with one label per graph.
        models_: target -> its classifier, fitted to the graphs that have it, with the attributes below; empty with one
            label per graph. GNNs of several targets are one network. With several targets ``verdict_`` is a dictionary.
        ensemble_: the trained models.
        held_out_: indices of the training graphs that were held out for validation.
        epochs_: the epoch kept by each model; empty for methods without epochs.
        curves_: name -> (epochs, models): "loss", "penalty", "validation_loss", "validation_score".
        verdict_: scores of the model and of trivial baselines, with a doubt if it does not beat them; see
            `anysize.estimators.verdict.Verdict`.

    Graphs with fewer than k vertices have no patterns and all get the same prediction. Vertices of a color that no
    training graph had have zero features (GNNs), or their patterns zero weight (one-hot models and kernels).
    Predictions for such graphs, and for graphs far from the training data, come with a `GraphWarning`; see
    `anysize.estimators.novelty`. `fit` issues a `ModelWarning` if `verdict_` or `decision_` has a doubt, and
    `predict` if 20 or more graphs all get one class.

    Examples:
        >>> import networkx as nx
        >>> small = [nx.gnp_random_graph(12, p, seed=seed) for p in (0.3, 0.6) for seed in range(10)]
        >>> large = [nx.gnp_random_graph(60, p, seed=seed) for p in (0.3, 0.6) for seed in range(5)]
        >>> model = GraphClassifier("gamma-gin", k=3).fit(small, ["sparse"] * 10 + ["dense"] * 10)
        >>> model.score(large, ["sparse"] * 5 + ["dense"] * 5)
        1.0
    """

    predicts = "classes"

    def __init__(
        self,
        method: str = defaults.METHOD,
        k: int | Sequence[int] = defaults.K,
        recipe: RecipeName = defaults.RECIPE,
        *,
        n_models: int = 1,
        random_state: int = 0,
        validation: float | None = None,
        class_weight: Literal["auto", "balanced"] | Mapping[Any, float] | None = "auto",
        metric: Literal["accuracy", "mcc"] = defaults.METRIC,
        color: str | None = None,
        device: str = defaults.DEVICE,
        cache: PathLike | None = None,
        check: bool | float = True,
        verbose: int = 0,
        params: Mapping[str, Any] | None = None,
    ) -> None:
        self.method = method
        self.k = k
        self.recipe = recipe
        self.n_models = n_models
        self.random_state = random_state
        self.validation = validation
        self.class_weight = class_weight
        self.metric = metric
        self.color = color
        self.device = device
        self.cache = cache
        self.check = check
        self.verbose = verbose
        self.params = params

    def _encode(self, labels: Labels, learn: bool = False) -> IntArray:
        if learn:
            self.classes_ = distinct_classes(labels)
        else:
            check_alike(labels, self.classes_)
            if len(unknown := np.setdiff1d(labels, self.classes_)):
                raise ValueError(
                    f"validation graphs have the class {unknown.tolist()[0]!r}, which no training graph has"
                )
        return np.searchsorted(self.classes_, labels).astype(np.int64)

    def _class_weights(self, train: Examples, given: Examples | None = None) -> FloatArray | None:
        rule = self.class_weight
        if isinstance(rule, str) and rule == "auto":
            rule = None if self.recipe == "paper" else "balanced"
        known = [train] if given is None else [train, given]
        y = np.concatenate([examples.labels() for examples in known])
        return weights_of(rule, self.classes_, y, np.concatenate([examples.graph_weights() for examples in known]))

    @property
    def decision_(self) -> Decision | None:
        """What "auto" decided, with the statistics behind it; None for other methods."""
        self._only("decision_")
        return getattr(self.ensemble_.parts[0], "decision", None)

    # ---- new graphs ----------------------------------------------------------------------------

    def predict_proba(self, graphs: Any, per_model: bool = False) -> Any:
        """Class probabilities (graphs, classes), in the order of ``classes_``: the mean over the models.

        Of several targets a list of these, one for each, as in scikit-learn. Kernel machines give calibrated margins,
        "random" gives 1 to the class it drew.

        Args:
            graphs: the graphs.
            per_model: the probabilities of every model, (models, graphs, classes), in the order of the seeds.
        """
        if self._first is not self:
            return list(self._by_target("predict_proba", graphs, per_model).values())
        examples = self._examples(graphs)
        by_model = self.ensemble_.outputs(examples)
        return by_model if per_model else np.asarray(by_model.mean(axis=0))

    def predict_log_proba(self, graphs: Any) -> Any:
        """The logarithm of `predict_proba`, in which 0 counts as 2.2e-16; of several targets a list."""
        if self._first is not self:
            return list(self._by_target("predict_log_proba", graphs).values())
        return np.asarray(np.log(np.maximum(self.predict_proba(graphs), np.finfo(np.float64).eps)))

    def decision_function(self, graphs: Any) -> Any:
        """The score of every class, (graphs, classes): its log probability. Two classes: the log-odds of the second.

        Of several targets a list.
        """
        if self._first is not self:
            return list(self._by_target("decision_function", graphs).values())
        scores = self.predict_log_proba(graphs)
        return np.asarray(scores[:, 1] - scores[:, 0]) if len(self.classes_) == 2 else scores

    def forecast(self, graphs: Any, level: float = LEVEL, far: float | None = None) -> Any:
        """The balanced accuracy and ROC-AUC to expect on unlabeled graphs, with intervals of probability ``level``.

        From the scores on held-out training graphs (`check`), how far the sizes of these graphs are from those of the
        training graphs, and the share of the graphs about which training shows little (``far``, measured if None): see
        `anysize.estimators.forecast.Forecast`. Of several targets a dictionary of forecasts.
        """
        examples, ensemble = self._examples(graphs, warn=False), self._first.ensemble_
        if not len(examples):
            raise ValueError("a forecast is about graphs, at least one; got none")
        if far is None:
            table = None if ensemble.novelty.shares is None else ensemble.method.counts(examples, ensemble.k)
            far = ensemble.novelty.far_share(examples.source, table)
        if self.targets_:
            return self._by_target("forecast", examples, level, far)
        return forecast(self.verdict_.held_out, ensemble.novelty.mean_size, examples.sizes, far, level)

    def predict(self, graphs: Any) -> Labels:
        """The most probable class, the first one in a tie; of several targets (graphs, targets)."""
        chances = self.predict_proba(graphs)
        models = self.models_ or {"": self}
        predicted = []
        for (name, model), table in zip(models.items(), chances if self.targets_ else [chances], strict=True):
            codes = table.argmax(axis=1)
            warn_of_one_class(codes, model.classes_, model.ensemble_, name)
            predicted.append(model.classes_[codes])
        return columns_of(predicted) if self.targets_ else np.asarray(predicted[0])

    def score(self, graphs: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """The accuracy of `predict`, or its Matthews correlation coefficient if ``metric="mcc"``.

        Of several targets the mean, each scored on the graphs of which it is known. ``sample_weight``: of the graphs;
        equal ones if None.
        """
        source = as_graphs_or_counts(graphs, self.color)
        if self._first is not self:
            return self._mean_score(
                source, y, sample_weight, lambda model, *scored: score_of(model.metric, *scored)
            )  # fmt: skip
        labels, weights = labels_of(source, y), checked_weights(sample_weight, len(source))
        check_alike(labels, self.classes_)  # before counting
        return score_of(self.metric, labels, self.predict(source), weights)


def columns_of(predictions: Iterable[Labels]) -> Labels:
    """(graphs, targets): the predictions of several targets; an array of objects if some are text and others numbers.

    >>> columns_of([np.array([1, 0]), np.array(["a", "b"])]).tolist()
    [[1, 'a'], [0, 'b']]
    """
    columns = list(predictions)
    kinds = {column.dtype.kind == "U" for column in columns}
    return np.column_stack([column.astype(object) if len(kinds) > 1 else column for column in columns])


# ---- warnings and weights ---------------------------------------------------------------------------


def warn_of_one_class(predicted: IntArray, classes: Labels, ensemble: Ensemble, target: str = "") -> None:
    """Warn if many graphs all get one class although training had several; baselines often do, and say nothing."""
    if len(predicted) < MIN_GRAPHS_FOR_ONE_CLASS or len(classes) < 2 or ensemble.method.kind == "baseline":
        return
    if (predicted == predicted[0]).all():
        about = f"target {target!r}: " if target else ""
        ensemble.notices.warn(
            f"{about}all {len(predicted)} graphs are predicted to be of class "
            f"{classes.tolist()[int(predicted[0])]!r}, while "
            f"training had {len(classes)} classes: unless these graphs really are of one class, the model does not "
            "carry over to them; anysize diagnose (az.diagnose) compares them with the training graphs",
            ModelWarning,
        )


def weights_of(class_weight: Any, classes: Labels, y: IntArray, weights: FloatArray) -> FloatArray | None:
    """The weight of every class in the loss; None for equal weights.

    "balanced" is n / (classes * n_c), where graphs count by their ``weights``. In a mapping, classes that are not named
    have weight 1.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, str) and class_weight == "balanced":
        return class_weights(y, len(classes), "balanced", weights)
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            f"class_weight must be 'auto', 'balanced', None or a mapping from classes to weights; got {class_weight!r}"
        )
    names = classes.tolist()
    unknown = [name for name in class_weight if name not in names]
    if unknown:
        shown = {str(name): name for name in names}
        near = get_close_matches(str(unknown[0]), shown, n=1)
        hint = f"did you mean {shown[near[0]]!r}?" if near else f"the classes are {', '.join(map(repr, names[:10]))}"
        raise ValueError(f"class_weight names {unknown[0]!r}, which is not a class of the training graphs: {hint}")
    by_class = np.array([class_weight.get(name, 1.0) for name in names], np.float64)
    if not (np.isfinite(by_class).all() and (by_class >= 0).all() and by_class.any()):
        raise ValueError(f"class weights must be numbers of at least 0, not all 0; got {dict(class_weight)}")
    return by_class
