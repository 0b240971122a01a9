"""A support vector machine on a kernel with explicit features."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from anysize._errors import GraphWarning
from anysize._memory import check_table, table_limit
from anysize._schema import arrays_of, prefixed
from anysize._sklearn import BaseEstimator, ClassifierMixin
from anysize._typing import BoolArray, FloatArray, IntArray
from anysize.graphs.labels import (
    Labels,
    State,
    classes_from_json,
    classes_to_json,
    distinct_classes,
    labels_of,
    training_weights,
)
from anysize.graphs.ragged import offsets
from anysize.io.convert import as_graphset
from anysize.kernels.explanation import VertexExplanation, explain_types
from anysize.kernels.gram import gram
from anysize.kernels.graphlet import GraphletKernel
from anysize.kernels.pairwise_svm import class_factors, separate_pairs, votes
from anysize.kernels.ridge import KERNELS
from anysize.kernels.wl import WLKernel
from anysize.splits import parts_by_class

if TYPE_CHECKING:
    from sklearn.svm import SVC

Kernel = WLKernel | GraphletKernel

MIN_CALIBRATION_GRAPHS = 4  # of every class; with fewer the slope is 1
LOG_SLOPES = -5.0, 5.0  # of margins in units of their mean size
SMALLEST_MARGIN = 1e-12  # a margin of 0 is one of the second class
MAX_STEPS = 10_000_000  # libsvm's own limit for a pair of classes: rounding can keep it from its tolerance
MAX_GRAM = 256 << 20  # bytes of the Gram matrix; beyond, training without it is about as fast or faster


class KernelClassifier(ClassifierMixin, BaseEstimator):
    """An SVM on `WLKernel` or `GraphletKernel`; select C and the kernel by scikit-learn's `GridSearchCV`.

    The SVM is trained on the Gram matrix, as in the paper. Beyond 5,792 graphs, where the matrix has more than 256 MiB,
    the same problem is solved on the sparse features (`kernels/pairwise_svm.py`), which takes far less memory. Because
    features are explicit, the trained SVM is stored as one weight vector per pair of classes, w = sum over support
    vectors of dual * phi; pairs vote for classes.

    Args:
        kernel: a `WLKernel` or a `GraphletKernel`; a `WLKernel` with its defaults if None.
        C: the inverse strength of regularization.
        class_weight: None, "balanced" or weights by class, as in scikit-learn.

    An SVM has no probabilities. `predict_proba` gives the logistic function of slope times margin. Each pair of classes
    has a slope, fitted to margins of graphs that were not trained on: each half of the training graphs is judged by a
    machine of the other half. There is no offset: the most probable class is the one that `predict` gives.

    Attributes (after `fit`):
        kernel_: the fitted kernel. weights_: (pairs, features); intercepts_: (pairs,); slopes_: (pairs,).

    Examples:
        >>> import networkx as nx
        >>> from anysize import GraphSet
        >>> trees = [nx.random_labeled_tree(n, seed=n) for n in range(6, 16)]
        >>> rings = [nx.cycle_graph(n) for n in range(6, 16)]
        >>> graphs = GraphSet.from_networkx(trees + rings, y=["tree"] * 10 + ["ring"] * 10)
        >>> model = KernelClassifier(WLKernel(iterations=1), C=1.0).fit(graphs)
        >>> model.predict(GraphSet.from_networkx([nx.path_graph(4), nx.star_graph(30), nx.cycle_graph(90)])).tolist()
        ['tree', 'tree', 'ring']
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        C: float = 1.0,
        class_weight: str | Mapping[Any, float] | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.class_weight = class_weight

    def fit(
        self, graphs: Any, y: ArrayLike | None = None, vocabulary: Any = None, sample_weight: ArrayLike | None = None
    ) -> KernelClassifier:
        """Train the machine.

        Args:
            graphs: what the kernel takes: graphs, or for `GraphletKernel` also `Counts`.
            y: one class per graph, numbers or strings; those of ``graphs`` if None.
            vocabulary: further graphs that count for the vocabulary of a `GraphletKernel` with ``top``.
            sample_weight: a factor of C for each graph; one with factor 0 is left out.
        """
        from sklearn.base import clone

        labels = labels_of(graphs, y)
        rows, given = training_weights(sample_weight, len(labels))
        weights = np.ones(len(rows)) if given is None else given
        labels, everything = labels[rows], len(labels)
        self.classes_ = distinct_classes(labels)
        self.kernel_: Kernel = clone(WLKernel() if self.kernel is None else self.kernel)
        features = self.kernel_.fit_transform(graphs, validation=vocabulary)
        if len(rows) < everything:
            features = csr_array(features[rows])
        pairs = len(self.classes_) * (len(self.classes_) - 1) // 2
        instead = "merge classes, or train on fewer graphs or with a method other than a kernel"
        check_table((pairs, max(features.shape)), "the table of weights by pair of classes", instead)
        self.weights_, self.intercepts_ = self._separate(features, labels, weights)
        self.slopes_ = self._calibrate(features, labels, weights)
        return self

    def _separate(
        self, features: csr_array[np.float64], labels: Labels, weights: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Weights and intercepts by pair of classes."""
        classes, codes = np.unique(labels, return_inverse=True)
        factors = class_factors(self.class_weight, classes, np.bincount(codes, weights))
        if 8 * features.shape[0] ** 2 > min(MAX_GRAM, table_limit()):
            return separate_pairs(features, codes, float(self.C) * factors[codes] * weights)
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import SVC

        by_class = dict(zip(classes.tolist(), factors.tolist(), strict=True))
        svc = SVC(kernel="precomputed", C=self.C, class_weight=by_class, max_iter=MAX_STEPS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            svc.fit(gram(features), labels, weights)
        if svc.n_iter_.max() >= MAX_STEPS:
            warnings.warn(
                f"The support vector machine stopped after {MAX_STEPS} steps, not at its tolerance; use a smaller C.",
                GraphWarning,
                stacklevel=2,
            )
        return _pair_weights(svc, features), _first_class_positive(svc, svc.intercept_)

    def _calibrate(self, features: csr_array[np.float64], labels: Labels, weights: FloatArray) -> FloatArray:
        """The slope of every pair, from margins of each half of the graphs under the machine of the other half."""
        codes = np.searchsorted(self.classes_, labels)
        half = parts_by_class(codes, 2, 0, even=True)
        if np.bincount(codes).min() < MIN_CALIBRATION_GRAPHS:
            return np.ones(len(self.weights_))
        margins = np.zeros((len(labels), len(self.weights_)))
        for judged in (half == 0, half == 1):
            by_pair, intercepts = self._separate(csr_array(features[~judged]), labels[~judged], weights[~judged])
            margins[judged] = features[judged] @ by_pair.T + intercepts
        slopes = []
        for pair, classes in enumerate(combinations(range(len(self.classes_)), 2)):
            rows = np.isin(codes, classes)
            slopes.append(fit_slope(margins[rows, pair], codes[rows] == classes[0], weights[rows]))
        return np.array(slopes)

    def decision_function(self, graphs: Any) -> FloatArray:
        """(graphs, pairs) margins: positive for the first class of a pair, in the order (0, 1), (0, 2), ..."""
        return np.asarray(self.kernel_.transform(graphs) @ self.weights_.T + self.intercepts_)

    def votes(self, graphs: Any) -> IntArray:
        """(graphs, classes): how many pairs each class wins."""
        return votes(self.decision_function(graphs), len(self.classes_))

    def predict_proba(self, graphs: Any) -> FloatArray:
        """(graphs, classes): calibrated margins; with several classes, their mean over the pairs of each class."""
        return pair_probabilities(self.decision_function(graphs), self.slopes_, len(self.classes_))

    def predict(self, graphs: Any) -> Labels:
        """The class that wins most pairs; the first one on a tie."""
        predicted: Labels = self.classes_[self.votes(graphs).argmax(axis=1)]
        return predicted

    def explain(self, graph: Any, reference: Any = None) -> VertexExplanation:
        """What each vertex, and each vertex type, adds to the margin of the predicted class of one graph (WL kernel).

        A vertex adds the weights of its types, over the length of the features if they are normalized; with the
        intercept these are the margin. With more than two classes it is the mean margin of the predicted class
        against each other class.

        Args:
            graph: one graph.
            reference: graphs to compare with: contributions are relative to their mean features, the base is their mean
                margin. Without it, contributions are relative to a graph without vertices.
        """
        if not isinstance(self.kernel_, WLKernel):
            raise ValueError(f"explain needs a WLKernel; this is a {type(self.kernel_).__name__}")
        graph_set = as_graphset(graph)
        if len(graph_set) != 1:
            raise ValueError(f"explain takes one graph; got {len(graph_set)}")
        chances = self.predict_proba(graph_set)[0]
        predicted = int(chances.argmax())
        sides = np.array([(a == predicted) - (b == predicted) for a, b in combinations(range(len(self.classes_)), 2)])
        weights, base = sides @ self.weights_ / abs(sides).sum(), float(sides @ self.intercepts_ / abs(sides).sum())
        features = self.kernel_.transform(graph_set).toarray()[0]
        if reference is not None:
            center: FloatArray = np.asarray(self.kernel_.transform(reference).mean(axis=0), np.float64).ravel()
            features, base = features - center, base + float(center @ weights)
        several = len(self.classes_) > 2
        return explain_types(
            self.kernel_, graph_set, features * weights,
            predicted=self.classes_[[predicted]].tolist()[0], probability=float(chances[predicted]),
            score="mean margin against the other classes" if several else "margin", base=base,
            base_name="intercept" if reference is None else "mean reference graph",
        )  # fmt: skip

    def state(self) -> State:
        """Everything that prediction needs: a JSON-compatible dictionary, and arrays."""
        about, arrays = self.kernel_.state()
        machine = {"weights": self.weights_, "intercepts": self.intercepts_, "slopes": self.slopes_}
        return {"classes": classes_to_json(self.classes_), "kernel": about}, machine | prefixed("kernel.", arrays)

    @classmethod
    def from_state(cls, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> KernelClassifier:
        """Restore a classifier from what `state` returned; it predicts the same."""
        from sklearn.base import clone

        kernel = KERNELS[about["kernel"]["kernel"]]
        restored = cls()
        restored.kernel_ = kernel.from_state(about["kernel"], arrays_of("kernel.", arrays))
        restored.kernel = clone(restored.kernel_)
        restored.classes_ = classes_from_json(about["classes"])
        restored.weights_, restored.intercepts_ = arrays["weights"], arrays["intercepts"]
        votes_alone = np.full(len(restored.weights_), np.inf)  # files from before slopes
        restored.slopes_ = arrays.get("slopes", votes_alone)
        return restored


def fit_slope(margins: FloatArray, is_first: BoolArray, weights: FloatArray) -> float:
    """The slope a with which 1 / (1 + exp(-a margin)) predicts best whether a margin is of the first class.

    Classes weigh alike, and graphs of a class by their weights. Targets are not 1 and 0 but, as Platt proposed,
    (n + 1) / (n + 2) and 1 / (n + 2) for n graphs of the class (the sum of weights): the slope stays finite where
    margins separate the classes.
    """
    from scipy.optimize import minimize_scalar

    amounts = np.where(is_first, weights[is_first].sum(), weights[~is_first].sum())
    targets = np.where(is_first, (amounts + 1) / (amounts + 2), 1 / (amounts + 2))
    unit = float(np.abs(margins).mean()) or 1.0

    def loss(log_slope: float) -> float:
        logits = np.exp(log_slope) * margins / unit
        return float(((np.logaddexp(0, logits) - targets * logits) * weights / amounts).sum())

    return float(np.exp(minimize_scalar(loss, bounds=LOG_SLOPES, method="bounded").x) / unit)


def pair_probabilities(margins: FloatArray, slopes: FloatArray, classes: int) -> FloatArray:
    """(graphs, classes) from (graphs, pairs) margins; the most probable class is the one with most votes.

    Of several classes, each has the mean probability over its pairs. Where another class than the one with most votes
    has the highest mean, the two means are exchanged.
    """
    chances = expit(slopes * np.where(margins > 0, margins, np.minimum(margins, -SMALLEST_MARGIN)))
    means = np.zeros((len(margins), classes))
    for pair, (first, second) in enumerate(combinations(range(classes), 2)):
        means[:, first] += chances[:, pair]
        means[:, second] += 1 - chances[:, pair]
    rows, winner, top = np.arange(len(means)), votes(margins, classes).argmax(axis=1), means.argmax(axis=1)
    means[rows, winner], means[rows, top] = means[rows, top], means[rows, winner]
    return np.asarray(means / np.maximum(means.sum(axis=1, keepdims=True), SMALLEST_MARGIN))


def _first_class_positive(machine: SVC, values: NDArray[Any]) -> FloatArray:
    """Undo the sign flip of scikit-learn for two classes: here the first class of a pair is always positive."""
    return np.asarray(-values if len(machine.classes_) == 2 else values, np.float64)


def _pair_weights(machine: SVC, features: csr_array[np.float64]) -> FloatArray:
    """One weight vector per pair of classes a < b: the sum over support vectors of dual coefficient times features.

    Row b - 1 of the dual coefficients belongs to vectors of class a against b, row a to those of b against a.
    """
    duals = _first_class_positive(machine, machine.dual_coef_)
    ends = offsets(machine.n_support_)
    pairs = list(combinations(range(len(machine.classes_)), 2))
    spread = np.zeros((len(pairs), features.shape[0]))
    for pair, (a, b) in enumerate(pairs):
        for label, row in ((a, b - 1), (b, a)):
            part = slice(ends[label], ends[label + 1])
            spread[pair, machine.support_[part]] = duals[row, part]
    return np.asarray((features.T @ spread.T).T)
