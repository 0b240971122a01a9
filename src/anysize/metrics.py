"""Scores, as in scikit-learn: of predicted classes (confusion matrices, labels and probabilities) and of numbers.

A confusion matrix (..., true classes, predicted classes) holds numbers or weights of graphs. Leading axes are models,
resamples or whatever is scored at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anysize._typing import FloatArray, IntArray, TargetKind

METRICS_OF: Mapping[TargetKind, Mapping[str, str]] = {  # name in records and options -> name for people
    "classes": {
        "accuracy": "accuracy",
        "balanced_accuracy": "balanced accuracy",
        "mcc": "MCC",
        "roc_auc": "ROC-AUC",
        "macro_f1": "macro F1",
    },
    "numbers": {"rmse": "RMSE", "mae": "MAE", "r2": "R2", "rank_correlation": "rank correlation"},
}
METRIC_NAMES: Mapping[str, str] = {**METRICS_OF["classes"], **METRICS_OF["numbers"]}
ERRORS = frozenset({"rmse", "mae"})  # of these metrics, lower values are better
SCORE_DIGITS = 2  # decimals of a printed score


def check_metric(name: str, of: TargetKind) -> None:
    """Raise an error for a name that is not one of `METRICS_OF` classes or numbers."""
    if name not in METRICS_OF[of]:
        raise ValueError(f"metric must be one of {', '.join(METRICS_OF[of])} for {of}; got {name!r}")


def goodness(metric: str, value: Any) -> Any:
    """A score, or scores, such that higher is better: errors with the other sign."""
    return -value if metric in ERRORS else value


def decimals_of(metric: str, values: Iterable[float | None]) -> int:
    """How many decimals scores have in print: of errors, three digits of the smallest one.

    >>> decimals_of("accuracy", [0.5]), decimals_of("rmse", [0.0123, 4.0]), decimals_of("rmse", [1234.0])
    (2, 4, 0)
    """
    positive = [value for value in values if value] if metric in ERRORS else []
    return max(2 - int(np.floor(np.log10(min(positive)))), 0) if positive else SCORE_DIGITS


# ---- confusion matrices ------------------------------------------------------------------------------


def accuracy(confusion: FloatArray) -> FloatArray:
    """The share of graphs whose class is predicted correctly.

    >>> float(accuracy(np.array([[1, 0], [1, 2]])))
    0.75
    """
    return np.asarray(np.trace(confusion, axis1=-2, axis2=-1) / confusion.sum(axis=(-2, -1)))


def balanced_accuracy(confusion: FloatArray) -> FloatArray:
    """The mean over the classes that occur of the share of their graphs that is predicted correctly.

    Predicting one class for all graphs gives 1 / classes.

    >>> float(balanced_accuracy(np.array([[3, 0], [1, 0]])))
    0.5
    """
    sizes, correct = confusion.sum(axis=-1), np.diagonal(confusion, axis1=-2, axis2=-1)
    return np.asarray(_ratio(correct, sizes).sum(axis=-1) / np.maximum((sizes > 0).sum(axis=-1), 1))


def macro_f1(confusion: FloatArray) -> FloatArray:
    """The mean of F1, the harmonic mean of precision and recall, over the classes that occur or are predicted.

    >>> round(float(macro_f1(np.array([[2, 1], [0, 1]]))), 4)
    0.7333
    """
    both, correct = confusion.sum(axis=-1) + confusion.sum(axis=-2), np.diagonal(confusion, axis1=-2, axis2=-1)
    return np.asarray(_ratio(2 * correct, both).sum(axis=-1) / np.maximum((both > 0).sum(axis=-1), 1))


def mcc(confusion: FloatArray) -> FloatArray:
    r"""The Matthews correlation coefficient, for any number of classes.

    .. math:: (n c - \sum_k t_k p_k) / \sqrt{(n^2 - \sum_k t_k^2) (n^2 - \sum_k p_k^2)}

    for n graphs, c of them correct, t_k of class k and p_k predicted as class k: 1 for perfect predictions, 0 for
    predictions that are independent of the class, and 0 where only one class occurs or is predicted.

    >>> round(float(mcc(np.array([[5, 1], [2, 4]]))), 4)
    0.5071
    """
    n, correct = confusion.sum(axis=(-2, -1)), np.trace(confusion, axis1=-2, axis2=-1)
    true, predicted = confusion.sum(axis=-1), confusion.sum(axis=-2)
    covariance = n * correct - (true * predicted).sum(axis=-1)
    squared = (n**2 - (true**2).sum(axis=-1)) * (n**2 - (predicted**2).sum(axis=-1))
    return _ratio(covariance, np.sqrt(np.maximum(squared, 0.0)))


def _ratio(numerator: Any, denominator: Any) -> FloatArray:
    """The quotient, 0 where the denominator is 0."""
    zeros = np.zeros(np.shape(denominator), np.float64)
    return np.asarray(np.divide(numerator, denominator, out=zeros, where=denominator > 0))


OF_CONFUSION: Mapping[str, Callable[[FloatArray], FloatArray]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "mcc": mcc,
    "macro_f1": macro_f1,
}

# ---- labels and probabilities ------------------------------------------------------------------------


def score(metric: str, y_true: ArrayLike, y_pred: ArrayLike, weights: FloatArray | None = None) -> float:
    """A metric of `OF_CONFUSION` of true and predicted labels, numbers or strings; ``weights``: of the graphs.

    >>> score("accuracy", ["a", "b", "b", "c"], ["a", "b", "c", "c"])
    0.75
    """
    true, predicted = np.asarray(y_true), np.asarray(y_pred)
    if true.ndim != 1 or true.shape != predicted.shape or not true.size:
        raise ValueError(
            f"A score needs one true and one predicted class per graph; got shapes {true.shape} and {predicted.shape}."
        )
    check_alike(true, predicted)
    classes, codes = np.unique(np.concatenate([true, predicted]), return_inverse=True)
    confusion = confusion_matrix(codes[: len(true)], codes[len(true) :], len(classes), weights)
    return float(OF_CONFUSION[metric](confusion))


def confusion_matrix(
    true: IntArray, predicted: IntArray, classes: int, weights: FloatArray | None = None
) -> FloatArray:
    """(classes, classes) numbers or weights of graphs, from class numbers below ``classes``."""
    cells = np.bincount(true * classes + predicted, weights, minlength=classes**2)
    return cells.reshape(classes, classes).astype(np.float64)  # integers overflow in products of four sizes


def roc_auc(y_true: ArrayLike, scores: ArrayLike, weights: FloatArray | None = None) -> float | None:
    """The area under the ROC curve: how often a graph of a class is ranked above one that is not of it.

    Arguments:
        y_true: class numbers 0 .. C - 1, one per graph.
        scores: (graphs, C), larger for more likely classes; their order alone matters. For two classes the column of
            the second one is used; for more, the mean over classes of each against all others.
        weights: of the graphs; equal ones if None.

    Returns:
        None where it is undefined: a class has no graph, or all graphs are of one class.

    >>> roc_auc([0, 0, 1, 1], [[0.9, 0.1], [0.6, 0.4], [0.65, 0.35], [0.2, 0.8]])
    0.75
    """
    true, table = np.asarray(y_true, np.int64), np.asarray(scores, np.float64)
    if true.ndim != 1 or table.ndim != 2 or len(true) != len(table) or not table.size:
        raise ValueError(
            f"ROC-AUC needs one class and one row of scores per graph; got shapes {true.shape} and {table.shape}."
        )
    weight = np.ones((1, len(true))) if weights is None else np.atleast_2d(np.asarray(weights, np.float64))
    areas = class_areas(true, ranks_by_class(table), weight)[:, 0]
    return float(areas.mean()) if np.isfinite(areas).all() else None


def ranks_by_class(scores: FloatArray) -> IntArray:
    """(classes, graphs): the ranks of the graphs by the score of each class, of two classes by that of the second.

    >>> ranks_by_class(np.array([[0.8, 0.2], [0.5, 0.5], [0.8, 0.2]])).tolist()
    [[0, 1, 0]]
    """
    columns = scores.T[1:] if scores.shape[1] == 2 else scores.T
    return np.stack([np.unique(column, return_inverse=True)[1] for column in columns])


def class_areas(true: IntArray, ranks: IntArray, weights: FloatArray) -> FloatArray:
    """(classes, resamples): the area under the ROC curve of each class against all others; nan where it is undefined.

    ``ranks`` is the result of `ranks_by_class`, ``weights`` (resamples, graphs) weighs the graphs. Ties count half.
    """
    areas = np.full((len(ranks), len(weights)), np.nan)
    for row, rank in enumerate(ranks):
        positive = true == (1 if len(ranks) == 1 else row)
        order = np.argsort(rank, kind="stable")
        starts = np.flatnonzero(np.diff(rank[order], prepend=-1))
        above = np.add.reduceat(weights[:, order] * positive[order], starts, axis=1)
        below = np.add.reduceat(weights[:, order] * ~positive[order], starts, axis=1)
        pairs = above.sum(axis=1) * below.sum(axis=1)
        won = (above * (np.cumsum(below, axis=1) - below / 2)).sum(axis=1)
        np.divide(won, pairs, out=areas[row], where=pairs > 0)
    return areas


def score_outputs(
    metric: str, y_true: IntArray | FloatArray, outputs: FloatArray, weights: FloatArray | None = None
) -> float:
    """A metric of numbers, or one of `OF_CONFUSION` of the most likely classes, by what `all_metrics` takes."""
    if metric in METRICS_OF["numbers"]:
        return regression_metrics(y_true, outputs[:, 0], weights)[metric]
    true, predicted = y_true.astype(np.int64), outputs.argmax(axis=-1)
    return float(OF_CONFUSION[metric](confusion_matrix(true, predicted, outputs.shape[-1], weights)))


def all_metrics(
    y_true: IntArray | FloatArray, outputs: FloatArray, ranking: FloatArray | None = None,
    weights: FloatArray | None = None,
) -> dict[str, float]:  # fmt: skip
    """Every metric that is defined, of classes (whole numbers) or of numbers (floats).

    Arguments:
        y_true: class numbers 0 .. C - 1, or numbers, one per graph.
        outputs: (graphs, C) probabilities, of which the most likely class is the predicted one; or (graphs, 1) numbers.
        ranking: (graphs, C) scores to compute ROC-AUC from, where probabilities are too coarse for it.
        weights: of the graphs, in all metrics but the rank correlation; equal ones if None.
    """
    if y_true.dtype.kind == "f":
        return regression_metrics(y_true, outputs[:, 0], weights)
    true = y_true.astype(np.int64)
    confusion = confusion_matrix(true, outputs.argmax(axis=-1), outputs.shape[-1], weights)
    values: dict[str, float | None] = {name: float(metric(confusion)) for name, metric in OF_CONFUSION.items()}
    values["roc_auc"] = roc_auc(true, outputs if ranking is None else ranking, weights)
    return {name: value for name in METRICS_OF["classes"] if (value := values[name]) is not None}


def check_alike(labels: NDArray[Any], classes: NDArray[Any]) -> None:
    """Refuse to compare strings with numbers, such as "1" with 1, and labels that are NaN.

    >>> check_alike(np.array([0, 1]), np.array([True, False]))
    """
    kinds = ["strings" if part.dtype.kind in "USO" else "numbers" for part in (labels, classes)]
    if len(labels) and len(classes) and kinds[0] != kinds[1]:
        raise ValueError(
            f"Labels and classes must both be strings or both be numbers; these labels are {kinds[0]}, such as "
            f"{labels.tolist()[0]!r}, and the classes are {kinds[1]}, such as {classes.tolist()[0]!r}."
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("Some labels are NaN; leave out graphs without a label.")


# ---- predicted numbers -------------------------------------------------------------------------------


def rmse(y_true: ArrayLike, y_pred: ArrayLike, weights: FloatArray | None = None) -> float:
    """The root of the mean squared error; ``weights``: of the graphs.

    >>> rmse([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 6.0])
    1.0
    """
    true, predicted = _numbers(y_true, y_pred)
    return float(np.sqrt(np.average((true - predicted) ** 2, weights=weights)))


def mae(y_true: ArrayLike, y_pred: ArrayLike, weights: FloatArray | None = None) -> float:
    """The mean absolute error; ``weights``: of the graphs.

    >>> mae([1.0, 2.0], [1.0, 4.0])
    1.0
    """
    true, predicted = _numbers(y_true, y_pred)
    return float(np.average(np.abs(true - predicted), weights=weights))


def r2(y_true: ArrayLike, y_pred: ArrayLike, weights: FloatArray | None = None) -> float:
    """The coefficient of determination: 1 minus the squared error by that of predicting the mean.

    ``weights``: of the graphs.

    As in scikit-learn, of equal targets it is 1 if all predictions are right and otherwise 0.

    >>> r2([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
    0.5
    """
    true, predicted = _numbers(y_true, y_pred)
    repeats = np.ones(len(true)) if weights is None else weights
    error = float((repeats * (true - predicted) ** 2).sum())
    spread = float((repeats * (true - np.average(true, weights=repeats)) ** 2).sum())
    return 1 - error / spread if spread > 0 else float(error == 0)


def rank_correlation(y_true: ArrayLike, y_pred: ArrayLike) -> float | None:
    """Spearman's rank correlation, equal numbers having the mean of their ranks; None if either side is constant.

    >>> rank_correlation([1.0, 2.0, 3.0], [10.0, 30.0, 20.0])
    0.5
    """
    ranks = [mean_ranks(values) for values in _numbers(y_true, y_pred)]
    true, predicted = (rank - rank.mean() for rank in ranks)
    lengths = float(true @ true) * float(predicted @ predicted)
    return float(true @ predicted) / float(np.sqrt(lengths)) if lengths > 0 else None


def mean_ranks(values: FloatArray) -> FloatArray:
    """Ranks from 1, equal values having the mean of their ranks.

    >>> mean_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    _, rank, amounts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(amounts) - (amounts - 1) / 2)[rank])


def regression_metrics(y_true: ArrayLike, y_pred: ArrayLike, weights: FloatArray | None = None) -> dict[str, float]:
    """Every metric of numbers that is defined; ``weights``: of the graphs, except in ranks."""
    values: dict[str, float | None] = {
        "rmse": rmse(y_true, y_pred, weights),
        "mae": mae(y_true, y_pred, weights),
        "r2": r2(y_true, y_pred, weights),
        "rank_correlation": rank_correlation(y_true, y_pred),
    }
    return {name: value for name, value in values.items() if value is not None}


def _numbers(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[FloatArray, FloatArray]:
    true, predicted = np.asarray(y_true, np.float64), np.asarray(y_pred, np.float64)
    if true.ndim != 1 or true.shape != predicted.shape or not true.size:
        raise ValueError(
            f"A score needs one true and one predicted number per graph; got shapes {true.shape} and {predicted.shape}."
        )
    return true, predicted
