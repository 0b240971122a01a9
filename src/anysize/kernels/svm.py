"""A support vector machine on a kernel with explicit features; C and the kernel's parameters by validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import accuracy_score, make_scorer, matthews_corrcoef
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from anysize._memory import check_table, table_limit
from anysize._typing import FloatArray, IntArray
from anysize.graphs.labels import Labels, State, classes_from_json, classes_to_json, distinct_classes, labels_of
from anysize.graphs.ragged import offsets
from anysize.io.convert import as_graphset
from anysize.kernels.explanation import VertexExplanation, explain_types
from anysize.kernels.gram import gram
from anysize.kernels.graphlet import GraphletKernel
from anysize.kernels.pairwise_svm import PairwiseSVM, votes, winners
from anysize.kernels.wl import WLKernel

Kernel = WLKernel | GraphletKernel

KERNELS: dict[str, type[WLKernel] | type[GraphletKernel]] = {"wl": WLKernel, "graphlet": GraphletKernel}
SCORES = {"accuracy": accuracy_score, "mcc": matthews_corrcoef}

MAX_GRAM = 256 << 20  # bytes of the Gram matrix; beyond, training without it is about as fast or faster
C_GRID = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)  # the paper's grid for every task
ITERATIONS_GRID = (1, 2, 3, 4)  # the paper's grid for the synthetic tasks and the brain; 3 for TU


@dataclass(frozen=True)
class KernelTrial:
    """One configuration and its scores; ``validation`` is nan if there was nothing to select."""

    settings: tuple[tuple[str, Any], ...]
    C: float
    train: float
    validation: float


class KernelClassifier(ClassifierMixin, BaseEstimator):
    """An SVM on `WLKernel` or `GraphletKernel`; its configuration is selected by the score on validation graphs.

    Configurations are tried in the order of ``grid`` (its last parameter varies fastest), for each of them all values
    of ``C`` in the given order. The FIRST best one is selected: with ascending values the one with the fewest
    iterations and the strongest regularization. `tied_` counts the configurations with the best score. Without
    validation graphs, the score is the mean over stratified folds of the training graphs, and the SVM is trained on
    all of them in the end.

    The SVM is trained on the Gram matrix, as in the paper. Beyond 5,792 graphs, where the matrix has more than 256 MiB,
    the same problem is solved on the sparse features (`kernels/pairwise_svm.py`), which takes far less memory. Because
    features are explicit, the trained SVM is stored as one weight vector per pair of classes, w = sum over support
    vectors of dual * phi; pairs vote for classes.

    Args:
        kernel: a `WLKernel` or a `GraphletKernel`.
        grid: kernel parameters to select from, such as ``{"iterations": (1, 2, 3, 4)}``.
        C: values to select from, or one value.
        class_weight: None, "balanced" or weights by class, as in scikit-learn.
        scoring: "accuracy" or "mcc".
        folds: number of folds, if there are no validation graphs and more than one configuration.

    Attributes (after `fit`):
        kernel_: the fitted kernel. trials_: every configuration with its scores. best_: the selected one.
        tied_: how many have its validation score. weights_: (pairs, features); intercepts_: (pairs,).

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
        grid: Mapping[str, Sequence[Any]] | None = None,
        C: float | Sequence[float] = C_GRID,
        class_weight: str | Mapping[Any, float] | None = None,
        scoring: str = "accuracy",
        folds: int = 5,
    ) -> None:
        self.kernel = kernel
        self.grid = grid
        self.C = C
        self.class_weight = class_weight
        self.scoring = scoring
        self.folds = folds

    def fit(self, graphs: Any, y: ArrayLike | None = None, validation: Any = None) -> KernelClassifier:
        """Select a configuration and train it.

        Args:
            graphs: what the kernel takes: graphs, or for `GraphletKernel` also `Counts`.
            y: one class per graph, numbers or strings; those of ``graphs`` if None.
            validation: graphs with labels, or a pair (graphs, labels), to select a configuration by; they also count
                for the vocabulary of a `GraphletKernel` with ``top``.
        """
        if self.scoring not in SCORES:
            raise ValueError(f"scoring must be one of {', '.join(SCORES)}; got {self.scoring!r}")
        labels = labels_of(graphs, y)
        self.classes_ = distinct_classes(labels)
        held_out = _labeled(validation)
        grid, penalties = dict(self.grid or {}), np.atleast_1d(np.asarray(self.C, np.float64)).tolist()
        points = [tuple(zip(grid, values, strict=True)) for values in product(*grid.values())]
        if not points or not penalties:
            raise ValueError("every parameter in grid, and C, must have at least one value")
        cross_validate = held_out is None and len(points) * len(penalties) > 1
        if cross_validate:
            self._check_folds(labels)
        score = SCORES[self.scoring]
        trials: list[KernelTrial] = []
        best: tuple[KernelTrial, Kernel, tuple[FloatArray, FloatArray]] | None = None
        for settings in points:
            kernel: Kernel = clone(WLKernel() if self.kernel is None else self.kernel).set_params(**dict(settings))
            features = kernel.fit_transform(graphs, validation=None if held_out is None else held_out[0])
            pairs = len(self.classes_) * (len(self.classes_) - 1) // 2
            instead = "merge classes, or train on fewer graphs or with a method other than a kernel"
            check_table((pairs, max(features.shape)), "the table of weights by pair of classes", instead)
            others = features if held_out is None else kernel.transform(held_out[0])
            vectors = gram(features) if 8 * features.shape[0] ** 2 <= min(MAX_GRAM, table_limit()) else None
            for C in penalties:
                svm, machine = self._train(features, vectors, labels, C)
                validated = float("nan")
                if held_out is not None:
                    validated = float(score(held_out[1], winners(others, *machine, self.classes_)))
                elif cross_validate:  # features that only left-out graphs have add nothing to their inner products
                    folds = StratifiedKFold(self.folds)
                    given = features if vectors is None else vectors
                    scores = cross_val_score(svm, given, labels, cv=folds, scoring=make_scorer(score))
                    validated = float(scores.mean())
                trained = float(score(labels, winners(features, *machine, self.classes_)))
                trials.append(KernelTrial(settings, C, trained, validated))
                if best is None or validated > best[0].validation:
                    best = trials[-1], kernel, machine
        assert best is not None
        self.trials_ = tuple(trials)
        self.best_, self.kernel_, (self.weights_, self.intercepts_) = best
        self.tied_ = max(sum(trial.validation == self.best_.validation for trial in trials), 1)
        return self

    def _train(
        self, features: csr_array[np.float64], vectors: FloatArray | None, labels: Labels, C: float
    ) -> tuple[SVC | PairwiseSVM, tuple[FloatArray, FloatArray]]:
        """A machine, and its weights and intercepts; on the Gram matrix ``vectors`` unless it is None."""
        if vectors is None:
            pairs = PairwiseSVM(C, self.class_weight).fit(features, labels)
            return pairs, (pairs.weights_, pairs.intercepts_)
        svc = SVC(kernel="precomputed", C=C, class_weight=self.class_weight).fit(vectors, labels)
        return svc, (_pair_weights(svc, features), _first_class_positive(svc, svc.intercept_))

    def _check_folds(self, labels: Labels) -> None:
        rarest = int(np.unique(labels, return_counts=True)[1].min())
        if rarest < self.folds:
            raise ValueError(
                f"selecting a configuration takes {self.folds} folds with every class in each, but a class has "
                f"{rarest} graphs; pass validation graphs, fewer folds, or a single configuration"
            )

    def decision_function(self, graphs: Any) -> FloatArray:
        """(graphs, pairs) margins: positive for the first class of a pair, in the order (0, 1), (0, 2), ..."""
        check_is_fitted(self, "weights_")
        return np.asarray(self.kernel_.transform(graphs) @ self.weights_.T + self.intercepts_)

    def votes(self, graphs: Any) -> IntArray:
        """(graphs, classes): how many pairs each class wins."""
        return votes(self.decision_function(graphs), len(self.classes_))

    def predict(self, graphs: Any) -> Labels:
        """The class that wins most pairs; the first one on a tie."""
        check_is_fitted(self, "weights_")
        return winners(self.kernel_.transform(graphs), self.weights_, self.intercepts_, self.classes_)

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
        check_is_fitted(self, "weights_")
        if not isinstance(self.kernel_, WLKernel):
            raise ValueError(f"explain needs a WLKernel; this is a {type(self.kernel_).__name__}")
        one = as_graphset(graph)
        if len(one) != 1:
            raise ValueError(f"explain takes one graph; got {len(one)}")
        won = self.votes(one)[0]
        predicted = int(won.argmax())
        sides = np.array([(a == predicted) - (b == predicted) for a, b in combinations(range(len(self.classes_)), 2)])
        weights, base = sides @ self.weights_ / abs(sides).sum(), float(sides @ self.intercepts_ / abs(sides).sum())
        features = self.kernel_.transform(one).toarray()[0]
        if reference is not None:
            center: FloatArray = np.asarray(self.kernel_.transform(reference).mean(axis=0), np.float64).ravel()
            features, base = features - center, base + float(center @ weights)
        several = len(self.classes_) > 2
        return explain_types(
            self.kernel_, one, features * weights,
            predicted=self.classes_[[predicted]].tolist()[0], probability=float(won[predicted] / won.sum()),
            score="mean margin against the other classes" if several else "margin", base=base,
            base_name="intercept" if reference is None else "mean reference graph",
        )  # fmt: skip

    def state(self) -> State:
        """Everything that prediction needs: a JSON-compatible dictionary, and arrays."""
        check_is_fitted(self, "weights_")
        about, arrays = self.kernel_.state()
        learned = {"classes": classes_to_json(self.classes_), "kernel": about}
        own = {"weights": self.weights_, "intercepts": self.intercepts_}
        return learned, own | {f"kernel.{name}": array for name, array in arrays.items()}

    @classmethod
    def from_state(cls, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> KernelClassifier:
        """Restore a classifier from what `state` returned; it predicts the same."""
        kernel = KERNELS[about["kernel"]["kernel"]]
        held = {name.removeprefix("kernel."): array for name, array in arrays.items() if name.startswith("kernel.")}
        restored = cls()
        restored.kernel_ = kernel.from_state(about["kernel"], held)
        restored.kernel = clone(restored.kernel_)
        restored.classes_ = classes_from_json(about["classes"])
        restored.weights_, restored.intercepts_ = arrays["weights"], arrays["intercepts"]
        return restored


def _labeled(validation: Any) -> tuple[Any, Labels] | None:
    """Validation graphs and their labels, from a set with labels or from a pair."""
    if validation is None:
        return None
    pair = validation if isinstance(validation, tuple) else (validation, None)
    if len(pair) != 2:
        raise ValueError(
            f"validation must be graphs with labels or a pair (graphs, labels); got a tuple of length {len(pair)}"
        )
    labels = labels_of(*pair)
    if not len(labels):
        raise ValueError("validation must hold at least one graph; got none")
    return pair[0], labels


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
