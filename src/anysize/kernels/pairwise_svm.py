"""Support vector machines on sparse features of many graphs, without their Gram matrix.

The problem, the tolerance and the intercept are those of the `SVC` of scikit-learn with a linear kernel, which computes
inner products of sparse rows one by one. Here a working set of graphs is optimized at a time (decomposition): its small
Gram matrix is computed at once, and one product with the features updates the margins of all graphs. `SVC` rounds inner
products to single precision, which shows for large C; here they are not rounded.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._errors import GraphWarning
from anysize._typing import BoolArray, FloatArray, IntArray
from anysize.graphs.labels import Labels
from anysize.kernels.gram import gram

TOLERANCE = 1e-3  # of the optimality conditions, as in SVC
WORKING_SET = 2048  # half as many are faster where few support vectors are free, and slower on molecules and large C
STEPS_PER_ROUND = 20_000
MAX_ROUNDS = 10_000
SMALLEST_CURVATURE = 1e-12  # of two graphs with equal features, as in libsvm


def separate_pairs(
    features: csr_array[np.float64], classes: IntArray, penalties: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Weights (pairs, features), positive for the first class of a pair, and intercepts (pairs,), by `separate`.

    Args:
        features: (graphs, features). classes: (graphs,) numbers from 0. penalties: (graphs,) C by graph.
    """
    if not (penalties > 0).all():
        raise ValueError(f"C and the weights of classes and graphs must be positive; got {penalties.min():g}")
    machines = []
    for first, second in combinations(range(int(classes.max()) + 1), 2):
        part = np.flatnonzero((classes == first) | (classes == second))
        signs = np.where(classes[part] == first, 1.0, -1.0)
        machines.append(separate(features[part], signs, penalties[part]))
    return np.array([weights for weights, _ in machines]), np.array([intercept for _, intercept in machines])


def class_factors(class_weight: Any, classes: Labels, amounts: NDArray[Any]) -> FloatArray:
    """The factor of C of every class, from `class_weight` as in scikit-learn and the weight of its graphs."""
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, Mapping):
        return np.array([class_weight.get(name, 1.0) for name in classes.tolist()], np.float64)
    if not isinstance(class_weight, str) or class_weight != "balanced":
        raise ValueError(f"class_weight must be None, 'balanced' or weights by class; got {class_weight!r}")
    return np.asarray(amounts.sum() / (len(classes) * amounts))


def votes(margins: FloatArray, classes: int) -> IntArray:
    """(graphs, classes): how many pairs each class wins, from (graphs, pairs) margins."""
    won = np.zeros((len(margins), classes), np.int64)
    for pair, (first, second) in enumerate(combinations(range(classes), 2)):
        wins = margins[:, pair] > 0
        won[:, first] += wins
        won[:, second] += ~wins
    return won


def separate(features: csr_array[np.float64], signs: FloatArray, penalties: FloatArray) -> tuple[FloatArray, float]:
    r"""Weights w and intercept b of the support vector machine

    .. math:: \min_{w, b} \frac{|w|^2}{2} + \sum_i C_i \max(0, 1 - s_i (\langle w, x_i \rangle + b)).

    At the solution w = sum_i d_i x_i, the d_i sum to 0, and d_i lies between 0 and s_i C_i. A graph wants the intercept
    s_i - <w, x_i>, with which its margin is exactly 1. The solution is reached when no graph whose d_i may still rise
    wants more than a graph whose d_i may still fall. Every round improves the graphs that violate this most.

    Args:
        features: (graphs, features). signs: (graphs,) 1 or -1. penalties: (graphs,) the C_i.
    """
    lowest, highest = np.minimum(signs * penalties, 0), np.maximum(signs * penalties, 0)
    duals, chosen = np.zeros(len(signs)), np.zeros(0, np.int64)
    for _ in range(MAX_ROUNDS):
        weights = np.asarray(features.T @ duals)
        wanted = signs - features @ weights
        rising, falling = duals < highest, duals > lowest
        most, least = wanted[rising].max(), wanted[falling].min()
        if most - least <= TOLERANCE:
            break
        chosen = _working_set(wanted, rising, falling, chosen)
        limits = lowest[chosen], highest[chosen]
        enough = max(TOLERANCE / 2, (most - least) / 10)
        duals[chosen] = _improve(gram(features[chosen]), wanted[chosen], duals[chosen], *limits, enough)
    else:
        warnings.warn(
            f"The support vector machine stopped after {MAX_ROUNDS} rounds: its conditions are violated by "
            f"{most - least:.2g} instead of {TOLERANCE}; choose a smaller C.",
            GraphWarning,
            stacklevel=2,
        )
    free = rising & falling
    return weights, float(wanted[free].mean() if free.any() else (most + least) / 2)


def _working_set(wanted: FloatArray, rising: BoolArray, falling: BoolArray, before: IntArray) -> IntArray:
    """The graphs that violate the conditions most, after the newest ones of the working set before."""
    amount = min(WORKING_SET // 4, len(wanted))
    high = np.argpartition(np.where(rising, -wanted, np.inf), amount - 1)[:amount]
    low = np.argpartition(np.where(falling, wanted, np.inf), amount - 1)[:amount]
    new = np.union1d(high, low)
    kept = before[~np.isin(before, new)]
    return np.concatenate([kept[max(len(kept) + len(new) - WORKING_SET, 0) :], new])


def _improve(
    products: FloatArray, wanted: FloatArray, duals: FloatArray, lowest: FloatArray, highest: FloatArray, enough: float
) -> FloatArray:
    """New duals of a working set with these inner products, until its conditions are violated by ``enough`` at most.

    Sequential minimal optimization: a step moves weight from one graph to the one that wants most; of the graphs that
    may fall it takes the one with which the objective decreases most (Fan, Chen and Lin 2005).
    """
    lengths = np.diag(products)
    steps = 1 / np.maximum(lengths[:, None] + lengths - 2 * products, SMALLEST_CURVATURE)  # to the best, per excess
    rise = np.where(duals < highest, 0, -np.inf)  # added to what graphs want: those that may not rise never want most
    fall = np.where(duals > lowest, 0, np.inf)
    for _ in range(STEPS_PER_ROUND):
        up = (wanted + rise).argmax()
        excess = wanted[up] - (wanted + fall)
        if excess[excess.argmax()] <= enough:
            break
        gain = np.maximum(excess, 0)
        down = (gain * gain * steps[up]).argmax()
        room_up, room_down = highest[up] - duals[up], duals[down] - lowest[down]
        step = min(excess[down] * steps[up, down], room_up, room_down)
        duals[up] = highest[up] if step == room_up else duals[up] + step
        duals[down] = lowest[down] if step == room_down else duals[down] - step
        for each in (up, down):
            rise[each] = 0 if duals[each] < highest[each] else -np.inf
            fall[each] = 0 if duals[each] > lowest[each] else np.inf
        wanted -= step * (products[up] - products[down])
    return duals
