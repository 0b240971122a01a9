"""Bootstrap intervals: how far a score depends on which test graphs were drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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


def balanced_accuracy(confusion: FloatArray) -> FloatArray:
    """The mean over classes that occur of the share of their graphs that is correct."""
    sizes, correct = confusion.sum(axis=-1), np.diagonal(confusion, axis1=-2, axis2=-1)
    recalls = np.divide(correct, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    return np.asarray(recalls.sum(axis=-1) / np.maximum((sizes > 0).sum(axis=-1), 1))


def macro_f1(confusion: FloatArray) -> FloatArray:
    """The mean of F1 over classes that occur or are predicted."""
    both, correct = confusion.sum(axis=-1) + confusion.sum(axis=-2), np.diagonal(confusion, axis1=-2, axis2=-1)
    scores = np.divide(2 * correct, both, out=np.zeros_like(both), where=both > 0)
    return np.asarray(scores.sum(axis=-1) / np.maximum((both > 0).sum(axis=-1), 1))


METRICS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "accuracy": accuracy,
    "balanced_accuracy": balanced_accuracy,
    "mcc": mcc,
    "macro_f1": macro_f1,
}


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
        metric: one of `METRICS`.

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


# ---- runs on several test sets ---------------------------------------------------------------------

RESAMPLES_AT_ONCE = 100


@dataclass(frozen=True, eq=False)
class RunPredictions:
    """What one run predicted.

    Attributes:
        graphs: numbers of its test graphs; a graph in the test sets of several runs has one number.
        labels: true class indices.
        predictions: class indices.
        ranks: (classes, graphs), of two classes that of the second; needed for ROC-AUC alone.
    """

    graphs: IntArray
    labels: IntArray
    predictions: IntArray
    ranks: IntArray

    def scores(self, metric: str, weights: FloatArray) -> FloatArray:
        """The score for each row of weights (resamples, graphs); nan where it is undefined."""
        if metric == "roc_auc":
            classes = [1] if len(self.ranks) == 1 else range(len(self.ranks))
            areas = [_area(self.labels == one, row, weights) for one, row in zip(classes, self.ranks, strict=True)]
            known = np.isfinite(areas)  # a class may be missing in a resample
            sums, counts = np.where(known, areas, 0.0).sum(axis=0), known.sum(axis=0)
            return np.asarray(np.divide(sums, counts, out=np.full(len(weights), np.nan), where=counts > 0))
        found = METRICS[metric](confusion_matrices(self.predictions[None], self.labels, weights))[:, 0]
        return np.where(weights.any(axis=1), found, np.nan)


def _area(positive: IntArray, ranks: IntArray, weights: FloatArray) -> FloatArray:
    """The area under the ROC curve for each row of weights; nan if all graphs are on one side."""
    order = np.argsort(ranks, kind="stable")
    starts = np.flatnonzero(np.diff(ranks[order], prepend=-1))
    above = np.add.reduceat(weights[:, order] * positive[order], starts, axis=1)
    below = np.add.reduceat(weights[:, order] * ~positive[order], starts, axis=1)
    pairs = above.sum(axis=1) * below.sum(axis=1)
    won = (above * (np.cumsum(below, axis=1) - below / 2)).sum(axis=1)
    return np.asarray(np.divide(won, pairs, out=np.full(len(weights), np.nan), where=pairs > 0))


def resampled_means(
    methods: Sequence[Sequence[RunPredictions]], metric: str, resamples: int = 2000, seed: int = 0
) -> FloatArray:
    """(resamples, methods): the mean score over runs when test graphs and runs are resampled with replacement.

    Every method has the same number of runs; run i of all methods has the same test graphs. All methods are scored on
    the same resampled graphs and runs, so that their differences are paired. Graphs are drawn within each class, from
    all test sets together, and a run is scored on those of its own that were drawn. Resamples in which a score is
    undefined are left out.
    """
    runs = len(methods[0])
    everything, first = np.unique(np.concatenate([run.graphs for run in methods[0]]), return_index=True)
    labels = np.concatenate([run.labels for run in methods[0]])[first]
    columns = [np.searchsorted(everything, run.graphs) for run in methods[0]]
    rng = np.random.default_rng(seed)
    found = []
    for start in range(0, resamples, RESAMPLES_AT_ONCE):
        count = min(RESAMPLES_AT_ONCE, resamples - start)
        weights = np.zeros((count, len(everything)))
        for one in np.unique(labels):
            members = np.flatnonzero(labels == one)
            weights[:, members] = rng.multinomial(len(members), np.full(len(members), 1 / len(members)), size=count)
        times = rng.multinomial(runs, np.full(runs, 1 / runs), size=count)
        of_runs = [
            [run.scores(metric, weights[:, own]) for run, own in zip(method, columns, strict=True)]
            for method in methods
        ]
        scores = np.array(of_runs)  # (methods, runs, count)
        found.append(np.where(times.T > 0, scores * times.T, 0.0).sum(axis=1).T / runs)
    means = np.concatenate(found)
    return np.asarray(means[np.isfinite(means).all(axis=1)])
