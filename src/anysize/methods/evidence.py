"""Evidence inside the training graphs: how well models predict the larger ones, and the weights that follow from it.

`anysize.methods.sizemix` weighs its heads by it, `anysize.methods.auto` its experts and its families of models.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit

from anysize._typing import FloatArray, IntArray

STRENGTH = 10.0  # of evidence, in graphs: an inner size shift only resembles the one that is to come
SMALLER_SHARE = 0.6  # of the training graphs, that models are fitted to when they are compared on the larger ones
LOWEST_PROBABILITY = 1e-3


def smaller_and_larger(sizes: FloatArray | IntArray) -> tuple[IntArray, IntArray]:
    """Indices of the smaller graphs, about 60 %, and of the larger ones, each ascending.

    Graphs of the same size are on the same side: the order of the graphs does not matter. If all have the same size,
    there are no larger ones.
    """
    values, amounts = np.unique(sizes, return_counts=True)
    shares = np.cumsum(amounts)[:-1] / len(sizes)
    limit = values[np.abs(shares - SMALLER_SHARE).argmin()] if len(shares) else np.inf
    return np.flatnonzero(sizes <= limit), np.flatnonzero(sizes > limit)


def stratified_parts(y: IntArray, parts: int, rng: np.random.Generator) -> IntArray:
    """A random part for every graph, each part with its share of every class."""
    part = np.zeros(len(y), np.int64)
    for each in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == each))
        part[rows] = np.arange(len(rows)) % parts
    return part


def stratified_split(y: IntArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Indices of a random 60 % of the graphs of every class, and of the others: the shares of `smaller_and_larger`."""
    part = stratified_parts(y, 5, rng)
    return np.flatnonzero(part < 3), np.flatnonzero(part >= 3)


def one_against_rest(logits: FloatArray) -> FloatArray:
    """(graphs, classes) from (graphs, regressions): one regression for two classes, else one per class."""
    found = expit(np.clip(logits, -30, 30))
    return np.hstack([1 - found, found]) if found.shape[1] == 1 else np.asarray(found)


def log_likelihood(probabilities: FloatArray, y: IntArray) -> FloatArray:
    """(..., graphs) of the true classes, from (..., graphs, classes) clipped away from 0 and 1."""
    clipped = np.clip(probabilities, LOWEST_PROBABILITY, 1 - LOWEST_PROBABILITY)
    return np.asarray(np.log((clipped / clipped.sum(axis=-1, keepdims=True))[..., np.arange(len(y)), y]))


def balanced_mean(values: FloatArray, y: IntArray) -> Any:
    """Means over the last axis, the graphs, with classes weighted alike."""
    return np.mean([values[..., y == each].mean(axis=-1) for each in np.unique(y)], axis=0)


def evidence_weights(evidence: FloatArray) -> FloatArray:
    """Weights that sum to 1, proportional to exp(10 * mean log-likelihood)."""
    weights = np.exp(STRENGTH * (evidence - evidence.max()))
    return np.asarray(weights / weights.sum())
