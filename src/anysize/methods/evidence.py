"""Evidence inside the training graphs: how well models predict the larger ones, and the weights that follow from it.

`anysize.methods.sizemix` weighs its heads by it (`stacked_weights`), `anysize.methods.auto` its experts and its
families of models.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from anysize._typing import FloatArray, IntArray

STANDARD_ERRORS = 2.0  # by which one side must be better to be clearly better
MIN_LOG_RATIO = 2.0  # of the likelihoods of `STRENGTH` graphs, for the same
STRENGTH = 10.0  # of evidence, in graphs: an inner size shift only resembles the one that is to come
LOWEST_PROBABILITY = 1e-3
STACKING_STEPS = 500


def one_against_rest(logits: FloatArray) -> FloatArray:
    """(graphs, classes) from (graphs, regressions): one regression for two classes, else one per class."""
    chances = expit(np.clip(logits, -30, 30))
    return np.hstack([1 - chances, chances]) if chances.shape[1] == 1 else np.asarray(chances)


def log_likelihood(probabilities: FloatArray, y: IntArray) -> FloatArray:
    """(..., graphs) of the true classes, from (..., graphs, classes) clipped away from 0 and 1."""
    clipped = np.clip(probabilities, LOWEST_PROBABILITY, 1 - LOWEST_PROBABILITY)
    return np.asarray(np.log((clipped / clipped.sum(axis=-1, keepdims=True))[..., np.arange(len(y)), y]))


def balanced_mean(values: FloatArray, y: IntArray, weights: FloatArray) -> Any:
    """Means over the last axis, the graphs with their weights, where classes weigh alike."""
    means = [np.average(values[..., y == label], axis=-1, weights=weights[y == label]) for label in np.unique(y)]
    return np.mean(means, axis=0)


def balanced_error(values: FloatArray, y: IntArray, weights: FloatArray) -> float:
    """The standard error of `balanced_mean` of values (graphs,), from the variance within classes."""
    variance = 0.0
    classes = np.unique(y)
    for label in classes:
        of_class, of_weights = values[y == label], weights[y == label]
        squares = (of_class - np.average(of_class, weights=of_weights)) ** 2
        variance += np.average(squares, weights=of_weights) / effective_number(of_weights)
    return float(np.sqrt(variance)) / len(classes)


def is_clear(difference: float, z: float) -> bool:
    """Whether one side predicts clearly better: by a difference of mean log-likelihoods, z in standard errors.

    Besides being above two standard errors, the likelihood ratio of `STRENGTH` graphs must be at least e^2.

    >>> is_clear(0.3, 2.5), is_clear(0.3, 1.5), is_clear(0.1, 9.0)
    (True, False, False)
    """
    return abs(z) > STANDARD_ERRORS and STRENGTH * abs(difference) > MIN_LOG_RATIO


def effective_number(weights: FloatArray) -> float:
    """How many graphs with equal weights have a mean as uncertain as that of graphs with these weights (Kish).

    >>> effective_number(np.ones(5)), effective_number(np.array([4.0, 1.0, 1.0]))
    (5.0, 2.0)
    """
    return float(weights.sum() ** 2 / (weights**2).sum())


def evidence_weights(evidence: FloatArray) -> FloatArray:
    """Weights that sum to 1, proportional to exp(10 * mean log-likelihood)."""
    weights = np.exp(STRENGTH * (evidence - evidence.max()))
    return np.asarray(weights / weights.sum())


def stacked_weights(likelihood: FloatArray, y: IntArray, graph_weights: FloatArray) -> FloatArray:
    """Stacking: weights of models under which the weighted mean of their probabilities predicts best.

    They maximize the log-likelihood of graphs that the models were not fitted to, classes weighted alike, plus that of
    ten further graphs (`STRENGTH`) which favor even weights: with little or no evidence models weigh alike, with much
    of it the graphs decide. Steps of the EM algorithm, of which each raises the maximum.

    Args:
        likelihood: (models, graphs) log-likelihoods of the true classes, see `log_likelihood`.
        y: (graphs,) the classes. graph_weights: (graphs,) how often each graph counts.

    Examples:
        >>> likelihood = np.log([[0.9] * 30, [0.5] * 30])
        >>> stacked_weights(likelihood, np.zeros(30, int), np.ones(30)).round(2).tolist()
        [0.77, 0.23]
    """
    models, graphs = likelihood.shape
    weights = np.full(models, 1 / models)
    if not graphs:
        return weights
    classes, codes = np.unique(y, return_inverse=True)
    amounts = np.bincount(codes, graph_weights)
    balance = graph_weights * graph_weights.sum() / (len(classes) * amounts[codes])
    chances = np.exp(likelihood)
    for _ in range(STACKING_STEPS):
        credit = weights[:, None] * chances
        weights = (credit / credit.sum(axis=0)) @ balance + STRENGTH / models
        weights /= weights.sum()
    return np.asarray(weights)
