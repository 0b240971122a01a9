"""GraphRegressor: a scikit-learn compatible regressor for graphs of any size."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from anysize._errors import GraphWarning, ModelWarning, Notices, warn_user
from anysize._log import log
from anysize._typing import FloatArray
from anysize.counting.counts import Counts
from anysize.estimators.ensemble import (
    as_graphs_or_counts,
    palette_of,
    warn_of_complete_graphs,
    warn_of_identifiers,
)
from anysize.estimators.held_out_regression import RegressionVerdict, held_out_regression, judge
from anysize.estimators.novelty import NoveltyDetector
from anysize.graphs.attributes import unused_attributes
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.graphs.labels import checked_weights, targets_of, training_weights
from anysize.methods import defaults
from anysize.methods.configuration import weight
from anysize.methods.regression import REGRESSION_METHODS, TRIVIAL, USES, FittedRegression, find_regression_method
from anysize.metrics import r2

LARGEST_TARGET = 1e100  # squares and sums of larger ones overflow


class GraphRegressor(RegressorMixin, BaseEstimator):
    """A regressor for graphs of any size: one number per graph.

    Graphs are a `GraphSet`, a list of networkx, PyG, igraph or scipy graphs, or a path. GNNs and Gamma models predict
    classes only, with `GraphClassifier`.

    Args:
        method: "sizemix", an ensemble over hypotheses on how counts of vertex types and the target scale with the size
            of a graph (`anysize.methods.sizemix_regression`); "wl-kernel", kernel ridge regression on the
            Weisfeiler-Lehman kernel; or a baseline, "mean" or "size-only" (linear in log n).
        color: for networkx, PyG and igraph graphs, and for GraphML and GML files, the vertex attribute with the colors;
            None for no colors.
        check: whether `fit` also scores the method on training graphs that it is not fitted to, for `verdict_`: True
            for at most 1.25 times as long as the fit (or 3 seconds), False for never, or a number of seconds.

    Attributes (after `fit`):
        model_: the fitted method; ``model_.summary()`` shows the hypotheses of SizeMix with their weights.
        verdict_: RMSE of the model and of the baselines, also on held-out training graphs, with a doubt if the model
            does not beat them; see `anysize.estimators.held_out_regression.RegressionVerdict`.

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

    def __init__(
        self, method: str = defaults.REGRESSION_METHOD, *, color: str | None = None, check: bool | float = True
    ) -> None:
        self.method = method
        self.color = color
        self.check = check

    model_: FittedRegression
    verdict_: RegressionVerdict
    novelty_: NoveltyDetector
    palette_: tuple[ColorName, ...] | None
    notices_: Notices

    def fit(self, graphs: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> GraphRegressor:
        """Learn from training graphs.

        Args:
            graphs: the training graphs.
            y: the number to predict of every graph; None for the labels stored with the graphs.
            sample_weight: how often each training graph counts: 2 as if it were there twice, 0 as if it were not there;
                once if None. Scores on training graphs are weighted, too.
        """
        method, source = find_regression_method(self.method), self._graphs(graphs)
        if not len(source):
            raise ValueError("expected training graphs; got none")
        targets, (present, weights) = targets_of(source, y), training_weights(sample_weight, len(source))
        if len(present) < len(source):
            source, targets = source[present], targets[present]
        if (largest := float(np.abs(targets).max())) > LARGEST_TARGET:
            raise ValueError(f"expected targets of at most {LARGEST_TARGET:g}; got {largest:g}: rescale them")
        seconds = None if isinstance(self.check, bool) else weight("check", self.check)
        warn_of_identifiers(source)
        warn_of_complete_graphs(source)
        if sentence := self._unused(source):
            warn_user(sentence, GraphWarning)
        began = time.monotonic()
        model = method.fit(source, targets, weights)
        fit_seconds = time.monotonic() - began
        scored = self.check is not False and self.method not in TRIVIAL
        scores = held_out_regression(method, source, targets, weights, fit_seconds, seconds) if scored else ()
        self.model_, self.verdict_ = model, judge(model, source, targets, weights, scores)
        self.notices_ = Notices()
        self.palette_, self.novelty_ = palette_of(source), NoveltyDetector.of(source, None, uses_colors=True)
        log.info("fitted %s to %d graphs in %.1f s", self.method, len(source), time.monotonic() - began)
        if self.verdict_.doubt is not None:
            warn_user(self.verdict_.doubt, ModelWarning)
        return self

    def predict(self, graphs: Any) -> FloatArray:
        """One number per graph."""
        check_is_fitted(self, "model_")
        source = self._graphs(graphs)
        for sentence in self.novelty_.warnings(source, None, 1):
            self.notices_.warn(sentence, GraphWarning)
        predicted = self.model_.predict(source)
        if not np.isfinite(predicted).all():
            amount = int((~np.isfinite(predicted)).sum())
            raise ValueError(f"the model overflows on {amount} of {len(source)} graphs; they are far too large for it")
        return predicted

    def score(self, graphs: Any, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> float:
        """R2 of `predict`: 1 minus the squared error by that of predicting the mean of these targets."""
        source = self._graphs(graphs)
        targets, weights = targets_of(source, y), checked_weights(sample_weight, len(source))
        return r2(targets, self.predict(source), weights)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file without pickle; `anysize.load_model` reads it."""
        from anysize.estimators.model_file import save_regressor

        check_is_fitted(self, "model_")
        save_regressor(self, path)

    def _graphs(self, graphs: Any) -> GraphSet:
        source = as_graphs_or_counts(graphs, self.color)
        if isinstance(source, Counts):
            raise ValueError("GraphRegressor takes graphs; got a table of counts")
        return source

    def _unused(self, source: GraphSet) -> str | None:
        """A sentence about attributes of the graphs that the method leaves unused; baselines say nothing."""
        if self.method in TRIVIAL:
            return None
        methods = [method for method in REGRESSION_METHODS if method not in TRIVIAL]
        return unused_attributes(source, USES, self.method, lambda title: methods if title in USES else [])
