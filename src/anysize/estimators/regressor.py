"""GraphRegressor: a scikit-learn compatible regressor for every method that predicts numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from anysize._sklearn import RegressorMixin
from anysize._typing import FloatArray, PathLike
from anysize.estimators.base import GraphEstimator
from anysize.estimators.ensemble import as_graphs_or_counts
from anysize.graphs.labels import Labels, as_numbers, checked_weights, labels_of
from anysize.methods import defaults
from anysize.methods.method import Examples, RecipeName
from anysize.metrics import r2

LARGEST_TARGET = 1e100  # squares and sums of larger ones overflow


class GraphRegressor(RegressorMixin, GraphEstimator):
    """A regressor for graphs of any size: one number per graph.

    Graphs are a `GraphSet`, a list of networkx, PyG, igraph or scipy graphs, or a path. Methods on patterns also take
    `Counts`.

    Args:
        method: a name in `anysize.METHODS` of a method that predicts numbers. "sizemix" is an ensemble over hypotheses
            on how counts of vertex types and the target scale with the size of a graph
            (`anysize.methods.sizemix_regression`); GNNs and Gamma models are trained on squared errors, in units of the
            standard deviation of the training targets; "mean" and "size-only" (linear in log n) are baselines.
        k: the number of vertices of the patterns, or several numbers; ignored by methods without patterns.
        recipe: "robust" or "paper".
        n_models: the number of models, trained with the seeds ``random_state``, ``random_state + 1``, ...; their
            predictions are averaged. Several models of methods that do not depend on the seed are fitted to bootstrap
            samples of the training graphs.
        random_state: the seed of training and of the choice of held-out graphs.
        validation: the share of the training graphs held out, whose score is in ``verdict_``; None: 0. Networks keep
            their last epoch: squared errors of a few graphs are too noisy to select one by.
        color: for networkx, PyG and igraph graphs, and for GraphML and GML files, the vertex attribute with the colors;
            None for no colors.
        device: "cpu", "cuda" or "auto".
        cache: cache folder; counts found here are not recomputed.
        check: whether `fit` also scores the method on training graphs that it is not fitted to, for `verdict_`: True
            for at most 1.25 times as long as the fit (or 3 seconds), False for never, or a number of seconds.
        verbose: 1 shows progress bars when training or counting takes longer than two seconds.
        params: hyper-parameters of the method and fields of its recipe, such as ``{"hidden": 64, "epochs": 500}``.

    Attributes (after `fit`):
        targets_, models_: as in `GraphClassifier`, where several targets are told apart.
        ensemble_: the trained models; ``model_`` is the first of them, and ``model_.summary()`` shows the hypotheses of
            SizeMix with their weights.
        held_out_, epochs_, curves_: as in `GraphClassifier`.
        verdict_: RMSE of the model and of the baselines, also on held-out training graphs, with a doubt if the model
            does not beat them; see `anysize.estimators.verdict.Verdict`.

    `fit` issues a `ModelWarning` if `verdict_` has a doubt, and `predict` a `GraphWarning` for graphs unlike the
    training graphs.

    Examples:
        >>> import networkx as nx
        >>> small = [nx.gnp_random_graph(n, 3 / n, seed=n + 100 * s) for n in range(8, 20) for s in range(4)]
        >>> model = GraphRegressor().fit(small, [graph.number_of_edges() for graph in small])
        >>> large = nx.gnp_random_graph(60, 3 / 60, seed=0)
        >>> bool(abs(model.predict([large])[0] / large.number_of_edges() - 1) < 0.1)
        True
    """

    predicts, metric = "numbers", "rmse"

    def __init__(
        self,
        method: str = defaults.REGRESSION_METHOD,
        k: int | Sequence[int] = defaults.K,
        recipe: RecipeName = defaults.RECIPE,
        *,
        n_models: int = 1,
        random_state: int = 0,
        validation: float | None = None,
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
        self.color = color
        self.device = device
        self.cache = cache
        self.check = check
        self.verbose = verbose
        self.params = params

    def _encode(self, labels: Labels, learn: bool = False) -> FloatArray:
        numbers = as_numbers(labels)
        if (largest := float(np.abs(numbers).max(initial=0))) > LARGEST_TARGET:
            raise ValueError(f"expected targets of at most {LARGEST_TARGET:g}; got {largest:g}: rescale them")
        return numbers

    def _class_weights(self, train: Examples, given: Examples | None = None) -> None:
        return None

    @property
    def model_(self) -> Any:
        """What the method learned, of the first model."""
        self._only("model_")
        part = self.ensemble_.parts[0]
        return getattr(part, "model", part)

    def predict(self, graphs: Any, per_model: bool = False) -> FloatArray:
        """One number per graph, the mean over the models; of every model, (models, graphs), with ``per_model``.

        Of several targets (graphs, targets), or (models, graphs, targets).
        """
        if self._first is not self:
            return np.stack(list(self._by_target("predict", graphs, per_model).values()), axis=-1)
        examples = self._examples(graphs)
        by_model = self.ensemble_.outputs(examples)[:, :, 0]
        return by_model if per_model else np.asarray(by_model.mean(axis=0))

    def score(self, graphs: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """R2 of `predict`: 1 minus the squared error by that of predicting the mean; of several targets the mean R2."""
        source = as_graphs_or_counts(graphs, self.color)
        if self._first is not self:
            return self._mean_score(source, y, sample_weight, lambda model, *scored: r2(*scored))
        targets, weights = as_numbers(labels_of(source, y)), checked_weights(sample_weight, len(source))
        return r2(targets, self.predict(source), weights)
