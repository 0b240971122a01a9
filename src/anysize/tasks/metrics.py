"""Scores of predicted classes, defined as in scikit-learn; in numpy, as sweeps run without scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anysize._typing import FloatArray, IntArray

METRIC_NAMES: Mapping[str, str] = {  # name in records and options -> name for people
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "mcc": "MCC",
    "roc_auc": "ROC-AUC",
    "macro_f1": "macro F1",
}


def check_metric(name: str) -> None:
    """Raise an error for a name that is not in `METRIC_NAMES`."""
    if name not in METRIC_NAMES:
        raise ValueError(f"metric must be one of {', '.join(METRIC_NAMES)}; got {name!r}")


def accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """The share of graphs whose class is predicted correctly.

    >>> accuracy([0, 1, 1, 2], [0, 1, 2, 2])
    0.75
    """
    true, pred = _checked(y_true, y_pred)
    return float((true == pred).mean())


def balanced_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """The mean over classes of the share of their graphs that is predicted correctly.

    Classes are those that occur in ``y_true``. Predicting one class for all graphs gives 1 / classes.

    >>> balanced_accuracy([0, 0, 0, 1], [0, 0, 0, 0])
    0.5
    """
    confusion = _confusion(y_true, y_pred)
    sizes = confusion.sum(axis=1)
    return float((np.diag(confusion)[sizes > 0] / sizes[sizes > 0]).mean())


def macro_f1(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """The mean over classes of F1, the harmonic mean of precision and recall.

    Classes are those that occur in ``y_true`` or ``y_pred``.

    >>> round(macro_f1([0, 0, 0, 1], [0, 0, 1, 1]), 4)
    0.7333
    """
    confusion = _confusion(y_true, y_pred)
    return float((2 * np.diag(confusion) / (confusion.sum(axis=0) + confusion.sum(axis=1))).mean())


def mcc(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """The Matthews correlation coefficient, for any number of classes.

    1 for perfect predictions, 0 for predictions that are independent of the class. Where it is undefined, because all
    graphs have one class or all predictions are one class, it is 0.

    >>> round(mcc([0, 0, 0, 1], [0, 0, 1, 1]), 4), mcc([0, 0, 0, 1], [0, 0, 0, 0])
    (0.5774, 0.0)
    """
    classes, codes = np.unique(np.concatenate(_checked(y_true, y_pred)), return_inverse=True)
    indicators = np.eye(len(classes), dtype=np.int64)[codes.reshape(2, -1)]
    true, pred = (part - part.mean(axis=0) for part in indicators)
    spread = float((true**2).sum() * (pred**2).sum())
    return float((true * pred).sum() / np.sqrt(spread)) if spread > 0 else 0.0


def roc_auc(y_true: ArrayLike, scores: ArrayLike, weights: ArrayLike | None = None) -> float | None:
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
    weight = np.ones(len(true)) if weights is None else np.asarray(weights, np.float64)
    classes = [1] if table.shape[1] == 2 else range(table.shape[1])
    found = [_area(true == one, table[:, one], weight) for one in classes]
    return None if None in found else float(np.mean(np.array(found, np.float64)))


def _area(positive: NDArray[np.bool_], scores: FloatArray, weight: FloatArray) -> float | None:
    """The share of pairs (positive, negative) in which the positive graph has the higher score; ties count half."""
    _, rank = np.unique(scores, return_inverse=True)
    above = np.bincount(rank, np.where(positive, weight, 0.0))  # weight of positive graphs by rank
    below = np.bincount(rank, np.where(positive, 0.0, weight))
    pairs = above.sum() * below.sum()
    return float((above * (np.cumsum(below) - below / 2)).sum() / pairs) if pairs > 0 else None


def all_metrics(y_true: IntArray, probabilities: FloatArray, ranking: FloatArray | None = None) -> dict[str, float]:
    """Every metric of `METRIC_NAMES` that is defined.

    Arguments:
        y_true: class numbers 0 .. C - 1, one per graph.
        probabilities: (graphs, C); the most likely class is the predicted one.
        ranking: (graphs, C) scores to compute ROC-AUC from, where probabilities are too coarse for it.
    """
    predicted = probabilities.argmax(axis=-1)
    found = {
        "accuracy": accuracy(y_true, predicted),
        "balanced_accuracy": balanced_accuracy(y_true, predicted),
        "mcc": mcc(y_true, predicted),
        "roc_auc": roc_auc(y_true, probabilities if ranking is None else ranking),
        "macro_f1": macro_f1(y_true, predicted),
    }
    return {name: value for name, value in found.items() if value is not None}


def _confusion(y_true: ArrayLike, y_pred: ArrayLike) -> IntArray:
    """(classes, classes) counts of graphs, true classes in rows; of classes that occur in either."""
    classes, codes = np.unique(np.concatenate(_checked(y_true, y_pred)), return_inverse=True)
    true, pred = codes.reshape(2, -1)
    return np.bincount(true * len(classes) + pred, minlength=len(classes) ** 2).reshape(len(classes), -1)


def _checked(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    true, pred = np.asarray(y_true), np.asarray(y_pred)
    if true.ndim != 1 or true.shape != pred.shape or not true.size:
        raise ValueError(
            f"A score needs one true and one predicted class per graph; got shapes {true.shape} and {pred.shape}."
        )
    check_alike(true, pred)
    return true, pred


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
