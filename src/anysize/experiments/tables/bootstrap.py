"""Bootstrap intervals: how far a score depends on which test graphs were drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anysize._typing import FloatArray, IntArray


@dataclass(frozen=True)
class Interval:
    """A bootstrap interval: the share ``level`` of the resampled scores lies between low and high."""

    low: float
    high: float
    level: float = 0.95
    resamples: int = 2000


def accuracy(confusion: FloatArray) -> FloatArray:
    """Accuracy of confusion matrices (..., classes, classes)."""
    return np.asarray(np.trace(confusion, axis1=-2, axis2=-1) / confusion.sum(axis=(-2, -1)))


def mcc(confusion: FloatArray) -> FloatArray:
    r"""Matthews correlation coefficient of confusion matrices (..., true classes, predicted classes).

    .. math:: (n c - \sum_k t_k p_k) / \sqrt{(n^2 - \sum_k t_k^2) (n^2 - \sum_k p_k^2)}

    for n graphs, c of them correct, t_k of class k and p_k predicted as class k; 0 where only one class occurs or is
    predicted, as in scikit-learn. `anysize.tasks.metrics.mcc` scores one vector of predictions; this one scores
    thousands of resampled matrices at once.

    >>> float(mcc(np.array([[5.0, 1.0], [2.0, 4.0]])).round(4))
    0.5071
    """
    n = confusion.sum(axis=(-2, -1))
    correct = np.trace(confusion, axis1=-2, axis2=-1)
    true, predicted = confusion.sum(axis=-1), confusion.sum(axis=-2)
    numerator = n * correct - (true * predicted).sum(axis=-1)
    squared = (n**2 - (true**2).sum(axis=-1)) * (n**2 - (predicted**2).sum(axis=-1))
    return np.asarray(np.divide(numerator, np.sqrt(squared), out=np.zeros_like(numerator), where=squared > 0))


METRICS: dict[str, Callable[[FloatArray], FloatArray]] = {"accuracy": accuracy, "mcc": mcc}


def confusion_matrices(predictions: IntArray, labels: IntArray, weights: FloatArray) -> FloatArray:
    """Confusion matrices of weighted test graphs.

    Shapes: predictions (seeds, graphs), labels (graphs,), weights (resamples, graphs); returns (resamples, seeds,
    classes, classes), true classes in rows.
    """
    seeds, graphs = predictions.shape
    classes = int(max(predictions.max(initial=0), labels.max(initial=0))) + 1
    cells = np.zeros((graphs, seeds, classes**2))
    cells[np.arange(graphs), np.arange(seeds)[:, None], labels * classes + predictions] = 1.0
    sums = weights @ cells.reshape(graphs, -1)
    return sums.reshape(len(weights), seeds, classes, classes)


def interval(
    predictions: IntArray,
    labels: IntArray,
    metric: str = "mcc",
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Percentile interval of the mean score over seeds when the test graphs are resampled with replacement.

    All seeds are scored on the same resampled graphs. Equal arguments draw the same graphs, so that the intervals of
    two methods on one test set are paired.

    Arguments:
        predictions: class indices, (seeds, graphs).
        labels: true class indices, (graphs,).
        metric: `mcc` or `accuracy`.

    >>> interval(np.array([[0, 1, 0, 1] * 10]), np.array([0, 1, 1, 1] * 10), "accuracy")
    Interval(low=0.6, high=0.875, level=0.95, resamples=2000)
    """
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}; got {metric!r}")
    if predictions.ndim != 2 or predictions.shape[1:] != labels.shape or not predictions.size:
        raise ValueError(
            "predictions must have the shape (seeds, graphs) and labels (graphs,), neither of them empty; got "
            f"{predictions.shape} and {labels.shape}"
        )
    graphs = len(labels)
    drawn = np.random.default_rng(seed).integers(graphs, size=(resamples, graphs))
    drawn += graphs * np.arange(resamples)[:, None]
    weights = np.bincount(drawn.ravel(), minlength=resamples * graphs).reshape(resamples, graphs).astype(np.float64)
    scores = METRICS[metric](confusion_matrices(predictions, labels, weights)).mean(axis=1)
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, resamples)
