"""Scores of predicted classes: accuracy and Matthews correlation coefficient, by scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """The share of graphs whose class is predicted correctly.

    >>> accuracy([0, 1, 1, 2], [0, 1, 2, 2])
    0.75
    """
    from sklearn.metrics import accuracy_score

    return float(accuracy_score(*_checked(y_true, y_pred)))


def mcc(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """The Matthews correlation coefficient, for any number of classes.

    1 for perfect predictions, 0 for predictions that are independent of the class. Where it is undefined, because all
    graphs have one class or all predictions are one class, it is 0.

    >>> round(mcc([0, 0, 0, 1], [0, 0, 1, 1]), 4), mcc([0, 0, 0, 1], [0, 0, 0, 0])
    (0.5774, 0.0)
    """
    from sklearn.metrics import matthews_corrcoef

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a single class
        return float(matthews_corrcoef(*_checked(y_true, y_pred)))


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
        raise ValueError("Some labels are NaN; leave out graphs without a class.")
