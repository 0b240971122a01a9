"""Scores of predicted classes: accuracy, and the correlation coefficient of Matthews."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """The share of graphs whose class is predicted right.

    >>> accuracy([0, 1, 1, 2], [0, 1, 2, 2])
    0.75
    """
    true, pred = _pair(y_true, y_pred)
    return float(np.mean(true == pred))


def mcc(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    r"""The Matthews correlation coefficient, in its form for any number of classes.

    With t_c graphs of class c, p_c of them predicted, s graphs in all and r right ones,

        MCC = (r s - sum_c t_c p_c) / sqrt((s^2 - sum_c t_c^2) (s^2 - sum_c p_c^2)):

    1 for perfect predictions, 0 for predictions that know nothing of the class. Where the fraction is 0 / 0,
    because all graphs have one class or all predictions are one class, the value is 0.

    >>> mcc([0, 0, 0, 1], [0, 0, 1, 1])
    0.5773502691896258
    >>> mcc([0, 0, 0, 1], [0, 0, 0, 0])
    0.0
    """
    true, pred = _pair(y_true, y_pred)
    _, codes = np.unique(np.concatenate([true, pred]), return_inverse=True)
    amounts = [np.bincount(part, minlength=int(codes.max()) + 1).tolist() for part in np.split(codes, 2)]
    total, right = len(true), int(np.sum(true == pred))
    # Python integers: the products of large sets stay exact.
    shared = right * total - sum(t * p for t, p in zip(*amounts, strict=True))
    spread = [total * total - sum(number * number for number in part) for part in amounts]
    return shared / sqrt(spread[0] * spread[1]) if spread[0] and spread[1] else 0.0


def _pair(y_true: ArrayLike, y_pred: ArrayLike) -> tuple[NDArray[np.generic], NDArray[np.generic]]:
    true, pred = np.asarray(y_true), np.asarray(y_pred)
    if true.ndim != 1 or true.shape != pred.shape or not true.size:
        raise ValueError(
            f"A score compares one true with one predicted class per graph; got shapes {true.shape} and {pred.shape}."
        )
    check_alike(true, pred)
    return true, pred


def check_alike(labels: NDArray[Any], classes: NDArray[Any]) -> None:
    """Refuse to compare strings with numbers: "1" is not 1, for which numpy has a score of 0, or strings of both.

    >>> check_alike(np.array([0, 1]), np.array([True, False]))
    """
    kinds = ["strings" if part.dtype.kind in "USO" else "numbers" for part in (labels, classes)]
    if len(labels) and len(classes) and kinds[0] != kinds[1]:
        raise ValueError(
            f"These labels are {kinds[0]}, such as {labels.tolist()[0]!r}, and the classes they are compared with are "
            f"{kinds[1]}, such as {classes.tolist()[0]!r}; write both alike."
        )
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ValueError("Some labels are NaN; leave out graphs without a class.")
