"""Do the new graphs differ in size from the training graphs?"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.stats import ks_2samp

IntArray = NDArray[np.int64]
Verdict = Literal["none", "overlapping", "disjoint"]

FAR = 1.5  # supports that do not meet, and medians so far apart, are a shift however few the graphs
BINS = 20


@dataclass(frozen=True)
class SizeShift:
    """Sizes of the two sets side by side.

    ``train`` and ``new`` hold the smallest, the three quartiles and the largest size. ``ratio`` is that of the medians,
    new over training. ``within`` is the share of new graphs inside the range of training sizes. ``ks`` is the largest
    difference of the distribution functions, ``p`` its p-value (on the safe side where sizes repeat), ``detectable``
    the difference that so few graphs would show with 5 % error. ``bins`` are edges for ``train_bins`` and ``new_bins``,
    shares of graphs.
    """

    train: tuple[float, float, float, float, float]
    new: tuple[float, float, float, float, float]
    ratio: float
    within: float
    ks: float
    p: float
    detectable: float
    verdict: Verdict
    bins: tuple[float, ...]
    train_bins: tuple[float, ...]
    new_bins: tuple[float, ...]


def size_shift(train: IntArray, new: IntArray, level: float) -> SizeShift:
    """Compare the numbers of vertices.

    >>> size_shift(np.array([10, 12, 14] * 10), np.array([30, 40] * 10), 0.05).verdict
    'disjoint'
    """
    with warnings.catch_warnings():  # scipy says so where it falls back on the limit distribution, which is fine here
        warnings.simplefilter("ignore", RuntimeWarning)
        test = ks_2samp(train, new)
    ratio = float(np.median(new) / max(float(np.median(train)), 1.0))
    apart = train.max() < new.min() or new.max() < train.min()
    verdict: Verdict = "none"
    if test.pvalue <= level or (apart and not 1 / FAR < ratio < FAR):
        verdict = "disjoint" if apart else "overlapping"
    edges = _edges(np.concatenate([train, new]))
    histograms = [np.histogram(sizes, edges)[0] / len(sizes) for sizes in (train, new)]
    return SizeShift(
        train=_five(train),
        new=_five(new),
        ratio=ratio,
        within=float(np.mean((new >= train.min()) & (new <= train.max()))),
        ks=float(test.statistic),
        p=float(test.pvalue),
        detectable=min(1.36 * sqrt(1 / len(train) + 1 / len(new)), 1.0),
        verdict=verdict,
        bins=tuple(edges.tolist()),
        train_bins=tuple(histograms[0].tolist()),
        new_bins=tuple(histograms[1].tolist()),
    )


def _five(sizes: IntArray) -> tuple[float, float, float, float, float]:
    low, first, middle, third, high = np.quantile(sizes, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return low, first, middle, third, high


def _edges(sizes: IntArray) -> NDArray[np.float64]:
    """Bins of equal ratio: sizes may run over orders of magnitude."""
    low, high = max(float(sizes.min()), 1.0), max(float(sizes.max()), 1.0)
    edges = np.geomspace(low * 0.999, high * 1.001, BINS + 1)
    edges[0] = min(edges[0], float(sizes.min()))
    return edges
