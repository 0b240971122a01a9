"""Scores of predicted classes: accuracy and Matthews correlation; in numpy, as sweeps run without scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """The share of graphs whose class is predicted correctly.

    >>> accuracy([0, 1, 1, 2], [0, 1, 2, 2])
    0.75
    """
    true, pred = _checked(y_true, y_pred)
    return float((true == pred).mean())


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
