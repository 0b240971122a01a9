"""The support vector machine on a kernel with explicit features: C and the kernel's settings by validation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils.validation import check_is_fitted

from anysize._typing import FloatArray
from anysize.graphs.labels import Labels, State, classes_from_json, classes_to_json, labels_of, several_classes
from anysize.kernels.gram import gram
from anysize.kernels.graphlet import GraphletKernel
from anysize.kernels.wl import WLKernel
from anysize.tasks.metrics import accuracy, mcc

Kernel: TypeAlias = WLKernel | GraphletKernel

KERNELS: dict[str, type[WLKernel] | type[GraphletKernel]] = {"wl": WLKernel, "graphlet": GraphletKernel}
SCORES: dict[str, Callable[[Any, Any], float]] = {"accuracy": accuracy, "mcc": mcc}

C_GRID = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)  # the paper's, appendix on every task
ITERATIONS_GRID = (1, 2, 3, 4)  # the paper's for the synthetic tasks and the brain; 3 alone for TU


@dataclass(frozen=True)
class KernelTrial:
    """One configuration and its scores; ``validation`` is nan where nothing was there to validate on."""

    settings: tuple[tuple[str, Any], ...]
    C: float
    train: float
    validation: float


class KernelClassifier(ClassifierMixin, BaseEstimator):
    """An SVM on `WLKernel` or `GraphletKernel`, its configuration chosen by the score on validation graphs.

    Configurations are tried in the order of ``grid`` (its last parameter varying fastest), for each of them all of
    ``C`` as given, and the FIRST best one is taken: with ascending values the fewest iterations and the strongest
    regularization. `tied_` says how many share the best score. Without validation graphs, folds of the training
    graphs take their place (stratified, in the order given), and the SVM is trained on all of them in the end.

    The SVM sees the Gram matrix, as the paper's does. Because features are explicit it is kept as one weight vector
    for each pair of classes, w = sum over support vectors of dual * phi; classes are voted on by pairs.

    Args:
        kernel: a `WLKernel` or a `GraphletKernel`.
        grid: settings of the kernel to choose from, such as ``{"iterations": (1, 2, 3, 4)}``.
        C: values to choose from, or one.
        class_weight: None, "balanced" or weights by class, as in scikit-learn.
        scoring: what validation goes by, "accuracy" or "mcc".
        folds: how many, where there are no validation graphs and there is something to choose.

    Attributes (after `fit`):
        kernel_: the fitted kernel. trials_: every configuration with its scores. best_: the one taken.
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
        """Choose a configuration and train it.

        Args:
            graphs: what the kernel takes: graphs, or for `GraphletKernel` also `Counts`.
            y: one class per graph, numbers or strings; those of ``graphs`` if None.
            validation: graphs with labels, or a pair (graphs, labels), to choose a configuration by.
        """
        if self.scoring not in SCORES:
            raise ValueError(f"scoring must be one of {', '.join(SCORES)}; got {self.scoring!r}")
        labels = labels_of(graphs, y)
        self.classes_ = several_classes(labels)
        held_out = _labeled(validation)
        settings = self._settings()
        self.trials_: tuple[KernelTrial, ...] = ()
        best: tuple[KernelTrial, Kernel, SVC] | None = None
        for chosen in settings:
            kernel: Kernel = clone(WLKernel() if self.kernel is None else self.kernel).set_params(**dict(chosen))
            features = kernel.fit_transform(graphs)
            for trial, svc in self._trials(chosen, kernel, gram(features), labels, held_out, len(settings)):
                self.trials_ += (trial,)
                if best is None or trial.validation > best[0].validation:
                    best = trial, kernel, svc
        assert best is not None
        self.best_, self.kernel_, machine = best
        self.tied_ = max(sum(trial.validation == self.best_.validation for trial in self.trials_), 1)
        self.weights_ = _pair_weights(machine, self.kernel_.features_)
        self.intercepts_ = _unflipped(machine, machine.intercept_)
        return self

    def _settings(self) -> list[tuple[tuple[str, Any], ...]]:
        grid = dict(self.grid or {})
        if not all(len(values) for values in grid.values()) or not len(self._penalties()):
            raise ValueError("every parameter in grid, and C, must have at least one value to choose from")
        return [tuple(zip(grid, values, strict=True)) for values in product(*grid.values())]

    def _penalties(self) -> tuple[float, ...]:
        return tuple(float(c) for c in np.atleast_1d(np.asarray(self.C, np.float64)))

    def _machine(self, C: float) -> SVC:
        return SVC(kernel="precomputed", C=C, class_weight=self.class_weight)

    def _trials(
        self,
        chosen: tuple[tuple[str, Any], ...],
        kernel: Kernel,
        inner: FloatArray,
        labels: Labels,
        held_out: tuple[Any, Labels] | None,
        settings: int,
    ) -> Iterator[tuple[KernelTrial, SVC]]:
        """Every C on one Gram matrix of the training graphs."""
        outer = None if held_out is None else kernel.kernel(held_out[0])
        choice = settings * len(self._penalties()) > 1
        for C in self._penalties():
            svc = self._machine(C).fit(inner, labels)
            score = float("nan")
            if held_out is not None:
                score = self._score(held_out[1], svc.predict(outer))
            elif choice:
                score = self._score_in_folds(inner, labels, C)
            yield KernelTrial(chosen, C, self._score(labels, svc.predict(inner)), score), svc

    def _score(self, truth: Labels, predicted: Labels) -> float:
        return SCORES[self.scoring](truth, predicted)

    def _score_in_folds(self, inner: FloatArray, labels: Labels, C: float) -> float:
        """The mean score over folds. Colors or patterns of a left-out graph alone add nothing to its products."""
        rarest = int(np.unique(labels, return_counts=True)[1].min())
        if rarest < self.folds:
            raise ValueError(
                f"choosing a configuration takes {self.folds} folds with every class in each, but a class has "
                f"{rarest} graphs; pass validation graphs, fewer folds, or a single configuration"
            )
        scores = []
        for train, test in StratifiedKFold(self.folds).split(labels, labels):
            svc = self._machine(C).fit(inner[np.ix_(train, train)], labels[train])
            scores.append(self._score(labels[test], svc.predict(inner[np.ix_(test, train)])))
        return float(np.mean(scores))

    def decision_function(self, graphs: Any) -> FloatArray:
        """(graphs, pairs) margins: positive for the first class of a pair, in the order (0, 1), (0, 2), ..."""
        check_is_fitted(self, "weights_")
        return np.asarray(self.kernel_.transform(graphs) @ self.weights_.T + self.intercepts_)

    def votes(self, graphs: Any) -> NDArray[np.int64]:
        """(graphs, classes): how many pairs each class wins."""
        margins = self.decision_function(graphs)
        votes = np.zeros((len(margins), len(self.classes_)), np.int64)
        for pair, (first, second) in enumerate(combinations(range(len(self.classes_)), 2)):
            wins = margins[:, pair] > 0
            votes[:, first] += wins
            votes[:, second] += ~wins
        return votes

    def predict(self, graphs: Any) -> Labels:
        """The class that wins most pairs; on a tie the first of them."""
        most = self.votes(graphs).argmax(axis=1)
        return np.asarray(self.classes_[most])

    def state(self) -> State:
        """What was learned, as a dictionary that JSON holds and plain arrays; enough to predict."""
        check_is_fitted(self, "weights_")
        about, arrays = self.kernel_.state()
        learned = {"classes": classes_to_json(self.classes_), "kernel": about}
        own = {"weights": self.weights_, "intercepts": self.intercepts_}
        return learned, own | {f"kernel.{name}": array for name, array in arrays.items()}

    @classmethod
    def from_state(cls, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> KernelClassifier:
        """The classifier from what `state` gave; it predicts the same."""
        kernel = KERNELS[about["kernel"]["kernel"]]
        held = {name.removeprefix("kernel."): array for name, array in arrays.items() if name.startswith("kernel.")}
        made = cls()
        made.kernel_ = kernel.from_state(about["kernel"], held)
        made.kernel = clone(made.kernel_)
        made.classes_ = classes_from_json(about["classes"])
        made.weights_, made.intercepts_ = arrays["weights"], arrays["intercepts"]
        return made


def _labeled(validation: Any) -> tuple[Any, Labels] | None:
    """Validation graphs and their labels, from a set that has labels or from a pair."""
    if validation is None:
        return None
    pair = validation if isinstance(validation, tuple) else (validation, None)
    if len(pair) != 2:
        raise ValueError(f"validation must be graphs with labels or a pair (graphs, labels); got {len(pair)} things")
    labels = labels_of(*pair)
    if not len(labels):
        raise ValueError("validation must hold at least one graph; got none")
    return pair[0], labels


def _unflipped(machine: SVC, values: NDArray[Any]) -> FloatArray:
    """scikit-learn turns the sign for two classes; here the first class of a pair is positive for any number."""
    return np.asarray(-values if len(machine.classes_) == 2 else values, np.float64)


def _pair_weights(machine: SVC, features: csr_array[np.float64]) -> FloatArray:
    """One weight vector per pair of classes a < b: the sum of dual coefficient times features of support vectors.

    Row b - 1 of the dual coefficients belongs to vectors of class a against b, row a to those of b against a.
    """
    duals = _unflipped(machine, machine.dual_coef_)
    ends = np.concatenate([[0], np.cumsum(machine.n_support_)])
    pairs = list(combinations(range(len(machine.classes_)), 2))
    spread = np.zeros((len(pairs), features.shape[0]))
    for pair, (a, b) in enumerate(pairs):
        for own, row in ((a, b - 1), (b, a)):
            part = slice(ends[own], ends[own + 1])
            spread[pair, machine.support_[part]] = duals[row, part]
    return np.asarray((features.T @ spread.T).T)
