"""Bootstrap intervals: how far a score depends on which test graphs were drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from anysize._typing import FloatArray, IntArray
from anysize.metrics import METRICS_OF, OF_CONFUSION, class_areas, mean_ranks

LEVEL = 0.95
RESAMPLES = 2000
RESAMPLES_AT_ONCE = 100


@dataclass(frozen=True)
class Interval:
    """A bootstrap interval: the share ``level`` of the resampled scores lies between low and high."""

    low: float
    high: float
    level: float = LEVEL
    resamples: int = RESAMPLES


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
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """Percentile interval of the mean score over seeds when the test graphs are resampled with replacement.

    All seeds are scored on the same resampled graphs. Equal arguments draw the same graphs, so that the intervals of
    two methods on one test set are paired.

    Arguments:
        predictions: class indices, (seeds, graphs).
        labels: true class indices, (graphs,).
        metric: one of `anysize.metrics.OF_CONFUSION`.

    >>> interval(np.array([[0, 1, 0, 1] * 10]), np.array([0, 1, 1, 1] * 10), "accuracy")
    Interval(low=0.6, high=0.875, level=0.95, resamples=2000)
    """
    if metric not in OF_CONFUSION:
        raise ValueError(f"metric must be one of {', '.join(OF_CONFUSION)}; got {metric!r}")
    if predictions.ndim != 2 or predictions.shape[1:] != labels.shape or not predictions.size:
        raise ValueError(
            "predictions must have the shape (seeds, graphs) and labels (graphs,), neither of them empty; got "
            f"{predictions.shape} and {labels.shape}"
        )
    graphs = len(labels)
    drawn = np.random.default_rng(seed).integers(graphs, size=(resamples, graphs))
    drawn += graphs * np.arange(resamples)[:, None]
    weights = np.bincount(drawn.ravel(), minlength=resamples * graphs).reshape(resamples, graphs).astype(np.float64)
    scores = OF_CONFUSION[metric](confusion_matrices(predictions, labels, weights)).mean(axis=1)
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, resamples)


# ---- runs on several test sets ---------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RunPredictions:
    """What one run predicted.

    Attributes:
        graphs: positions of its test graphs; a graph in the test sets of several runs has one position.
        labels: true class indices, or numbers.
        predictions: class indices, or numbers.
        ranks: (classes, graphs), of two classes that of the second; needed for ROC-AUC alone.
    """

    graphs: IntArray
    labels: IntArray | FloatArray
    predictions: IntArray | FloatArray
    ranks: IntArray

    def scores(self, metric: str, weights: FloatArray) -> FloatArray:
        """The score for each row of weights (resamples, graphs); nan where it is undefined."""
        if metric in METRICS_OF["numbers"]:
            return number_scores(metric, np.asarray(self.labels), np.asarray(self.predictions), weights)
        labels, predictions = self.labels.astype(np.int64), self.predictions.astype(np.int64)
        if metric == "roc_auc":
            areas = class_areas(labels, self.ranks, weights)
            known = np.isfinite(areas)  # a class may be missing in a resample
            sums, counts = np.where(known, areas, 0.0).sum(axis=0), known.sum(axis=0)
            return np.asarray(np.divide(sums, counts, out=np.full(len(weights), np.nan), where=counts > 0))
        values = OF_CONFUSION[metric](confusion_matrices(predictions[None], labels, weights))[:, 0]
        return np.where(weights.any(axis=1), values, np.nan)


def number_scores(metric: str, true: FloatArray, predicted: FloatArray, weights: FloatArray) -> FloatArray:
    """(resamples,): a metric of numbers for each row of weights (resamples, graphs); nan where it is undefined.

    Ranks are those among all graphs.

    >>> number_scores("rmse", np.array([1.0, 2.0]), np.array([1.0, 4.0]), np.array([[1.0, 1.0], [2.0, 0.0]])).round(2)
    array([1.41, 0.  ])
    """
    if metric == "rank_correlation":
        true, predicted = mean_ranks(true), mean_ranks(predicted)
    total = weights.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        if metric == "mae":
            return np.asarray(weights @ np.abs(predicted - true) / total)
        square = weights @ (predicted - true) ** 2 / total
        if metric == "rmse":
            return np.asarray(np.sqrt(square))
        mean, other = weights @ true / total, weights @ predicted / total
        variance = weights @ true**2 / total - mean**2
        if metric == "r2":
            return np.where(variance > 0, 1 - square / variance, np.nan)
        variances = variance * (weights @ predicted**2 / total - other**2)
        covariance = weights @ (true * predicted) / total - mean * other
        return np.where(variances > 0, covariance / np.sqrt(variances), np.nan)


def resampled_means(
    methods: Sequence[Sequence[RunPredictions]], metric: str, resamples: int = RESAMPLES, seed: int = 0
) -> FloatArray:
    """(resamples, methods): the mean score over runs when test graphs and runs are resampled with replacement.

    Every method has the same number of runs; run i of all methods has the same test graphs. All methods are scored on
    the same resampled graphs and runs, so that their differences are paired. Graphs are drawn within each class (of
    numbers, among all), from all test sets together, and a run is scored on those of its own that were drawn. Resamples
    in which a score is undefined are left out.
    """
    runs = len(methods[0])
    graphs, first = np.unique(np.concatenate([run.graphs for run in methods[0]]), return_index=True)
    labels = np.concatenate([run.labels for run in methods[0]])[first]
    strata = np.zeros(len(labels)) if labels.dtype.kind == "f" else labels
    rng = np.random.default_rng(seed)
    means = np.zeros((resamples, len(methods)))
    for start in range(0, resamples, RESAMPLES_AT_ONCE):
        rows = slice(start, min(start + RESAMPLES_AT_ONCE, resamples))
        count = rows.stop - rows.start
        weights = np.zeros((count, len(graphs)))
        for label in np.unique(strata):
            members = np.flatnonzero(strata == label)
            weights[:, members] = rng.multinomial(len(members), np.full(len(members), 1 / len(members)), size=count)
        times = rng.multinomial(runs, np.full(runs, 1 / runs), size=count)
        for column, method in enumerate(methods):
            for number, run in enumerate(method):
                scores = run.scores(metric, weights[:, np.searchsorted(graphs, run.graphs)])
                means[rows, column] += np.where(times[:, number] > 0, scores * times[:, number], 0.0) / runs
    return np.asarray(means[np.isfinite(means).all(axis=1)])
