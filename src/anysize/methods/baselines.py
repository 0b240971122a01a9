"""Rows that every table needs beside its methods: what chance, the class shares, the size or the bare shape give."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from anysize._typing import FloatArray
from anysize.counting.api import count
from anysize.counting.counts import Counts
from anysize.graphs.labels import Labels, State, classes_from_json, classes_to_json, labels_of, several_classes
from anysize.io.convert import as_graphset
from anysize.patterns.pattern import connected_patterns

ITERATIONS = 10_000  # far more than the solver takes on standardized features


class SanityClassifier(ClassifierMixin, BaseEstimator, ABC):
    """What the four have in common: classes, the most probable of them, and state without pickle."""

    classes_: Labels

    @abstractmethod
    def predict_proba(self, graphs: Any) -> FloatArray:
        """(graphs, classes), in the order of ``classes_``."""

    def predict(self, graphs: Any) -> Labels:
        """The most probable class; on a tie the first of them."""
        likely = self.predict_proba(graphs).argmax(axis=1)
        return np.asarray(self.classes_[likely])

    def state(self) -> State:
        """What predicting needs, as a dictionary that JSON holds and plain arrays."""
        check_is_fitted(self, "classes_")
        learned = {name: value for name, value in vars(self).items() if name.endswith("_") and name != "classes_"}
        parameters = {name: value for name, value in self.get_params().items() if name != "class_weight"}
        return {"classes": classes_to_json(self.classes_), "parameters": parameters}, learned

    @classmethod
    def from_state(cls, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """The classifier from what `state` gave; it predicts the same."""
        made = cls(**about["parameters"])
        made.classes_ = classes_from_json(about["classes"])
        for name, array in arrays.items():
            setattr(made, name, array)
        return made


class RandomClassifier(SanityClassifier):
    """A class drawn evenly for every graph, the same for the same seed and the same number of graphs.

    Examples:
        >>> from anysize import GraphSet
        >>> graphs = GraphSet.from_edges([[(0, 1)]] * 6, y=["a", "b"] * 3)
        >>> RandomClassifier(seed=1).fit(graphs).predict(graphs).tolist()
        ['a', 'b', 'b', 'b', 'a', 'a']
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def fit(self, graphs: Any, y: ArrayLike | None = None) -> RandomClassifier:
        """Note the classes."""
        self.classes_ = np.unique(labels_of(graphs, y))
        return self

    def predict_proba(self, graphs: Any) -> FloatArray:
        """The same for every class."""
        check_is_fitted(self, "classes_")
        return np.full((len(as_graphset(graphs)), len(self.classes_)), 1 / len(self.classes_))

    def predict(self, graphs: Any) -> Labels:
        """Draw."""
        check_is_fitted(self, "classes_")
        draws = np.random.default_rng(self.seed).integers(len(self.classes_), size=len(as_graphset(graphs)))
        return np.asarray(self.classes_[draws])


class MajorityClassifier(SanityClassifier):
    """The most common class of the training graphs, for every graph; probabilities are the class shares.

    Examples:
        >>> from anysize import GraphSet
        >>> graphs = GraphSet.from_edges([[(0, 1)]] * 4, y=["a", "b", "b", "b"])
        >>> MajorityClassifier().fit(graphs).predict_proba(graphs[0])
        array([[0.25, 0.75]])
    """

    def fit(self, graphs: Any, y: ArrayLike | None = None) -> MajorityClassifier:
        """Count the classes."""
        self.classes_, amounts = np.unique(labels_of(graphs, y), return_counts=True)
        self.shares_ = amounts / amounts.sum()
        return self

    def predict_proba(self, graphs: Any) -> FloatArray:
        """The class shares of the training graphs."""
        check_is_fitted(self, "classes_")
        return np.tile(self.shares_, (len(as_graphset(graphs)), 1))


class _Logistic(SanityClassifier):
    """Logistic regression on a few standardized numbers of a graph."""

    class_weight: str | Mapping[Any, float] | None

    @abstractmethod
    def _numbers(self, graphs: Any) -> FloatArray:
        """(graphs, numbers)."""

    def fit(self, graphs: Any, y: ArrayLike | None = None) -> Self:
        """Standardize and regress; the classes are those of ``graphs`` if y is None."""
        labels = labels_of(graphs, y)
        self.classes_ = several_classes(labels)
        numbers = self._numbers(graphs)
        spread = numbers.std(axis=0)
        self.mean_ = numbers.mean(axis=0)
        # A number that is the same up to rounding in all training graphs says nothing about new ones.
        still = spread <= 1e-12 * np.abs(self.mean_)
        self.scale_ = np.where(still, np.inf, spread)
        inner = LogisticRegression(class_weight=self.class_weight, max_iter=ITERATIONS)
        inner.fit((numbers - self.mean_) / self.scale_, labels)
        two = len(self.classes_) == 2  # scikit-learn then holds the second class alone
        self.weights_ = np.vstack([np.zeros_like(inner.coef_), inner.coef_]) if two else inner.coef_
        self.intercepts_ = np.append(0.0, inner.intercept_) if two else inner.intercept_
        return self

    def predict_proba(self, graphs: Any) -> FloatArray:
        """Softmax of the linear scores."""
        check_is_fitted(self, "classes_")
        scores = (self._numbers(graphs) - self.mean_) / self.scale_ @ self.weights_.T + self.intercepts_
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True))


class SizeOnly(_Logistic):
    """Logistic regression on log n, n being the number of vertices (1 for a graph without any).

    Examples:
        >>> from anysize import GraphSet
        >>> small, large = [(0, 1)], [(i, i + 1) for i in range(9)]
        >>> graphs = GraphSet.from_edges([small] * 5 + [large] * 5, y=["small"] * 5 + ["large"] * 5)
        >>> SizeOnly().fit(graphs).predict(graphs[4:6]).tolist()
        ['small', 'large']
    """

    def __init__(self, class_weight: str | Mapping[Any, float] | None = None) -> None:
        self.class_weight = class_weight

    def _numbers(self, graphs: Any) -> FloatArray:
        return np.asarray(np.log(np.maximum(as_graphset(graphs).sizes, 1))[:, None])


class TopologyOnly(_Logistic):
    """Logistic regression on the densities over subsets of the plain connected k-vertex patterns, colors ignored.

    Tables of patterns of k vertices are taken too; copies are summed over colors.

    Examples:
        >>> import networkx as nx
        >>> from anysize import GraphSet
        >>> made = [nx.gnp_random_graph(12, p, seed=seed) for p in (0.2, 0.6) for seed in range(5)]
        >>> graphs = GraphSet.from_networkx(made, y=["sparse"] * 5 + ["dense"] * 5)
        >>> TopologyOnly(k=3).fit(graphs).predict(GraphSet.from_networkx(nx.complete_graph(50))).tolist()
        ['dense']
    """

    def __init__(self, k: int | Sequence[int] = 5, class_weight: str | Mapping[Any, float] | None = None) -> None:
        self.k = k
        self.class_weight = class_weight

    def _numbers(self, graphs: Any) -> FloatArray:
        counts = graphs if isinstance(graphs, Counts) else count(graphs, self.k, colors=False)
        counts.columns.check_sizes(self.k)
        known = [pattern for size in np.unique(self.k).tolist() for pattern in connected_patterns(size)]
        return np.asarray(counts.without_colors().align(known).densities("subsets").toarray())
