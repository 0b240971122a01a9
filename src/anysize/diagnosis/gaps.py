"""What Theorem 1 promises at these sizes, beside the gaps of densities that are measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from anysize.counting.planner import choose_engines
from anysize.graphs.graphset import GraphSet
from anysize.theory.bounds import KINDS, Kind, epsilon_reached
from anysize.theory.intervals import density_intervals

FloatArray = NDArray[np.float64]

DELTA = 0.05
MOST_GRAPHS = 1500  # of a set whose gaps are measured pair by pair
JACKKNIVED, GROUPS, SECONDS = 8, 20, 5.0


@dataclass(frozen=True)
class Promise:
    """The gap above which a bound leaves a probability of at most 5 %, for two graphs of the median sizes.

    A value of 1 or more is vacuous: no gap is larger than 1.
    """

    kind: Kind
    colors: int
    epsilon: float
    vacuous: bool


@dataclass(frozen=True)
class MeasuredGap:
    """Bounds and measured gaps, over all plain patterns of 2 to k vertices, densities over subsets.

    ``of_means``: the largest difference between the mean densities of the two sets, in the pattern ``worst``.
    ``typical``: the mean gap of a training and a new graph. ``predicted``: the gap that 95 % of pairs of one graphon
    stay below, from the jackknife of a few training graphs (None where graphs are too small or too large for it).
    ``unlike``: share of new graphs that are farther than this from every training graph.
    """

    sizes: tuple[int, int]
    promises: tuple[Promise, ...]
    of_means: float
    worst: str
    typical: float
    predicted: float | None
    unlike: float | None


def measured_gap(
    train: GraphSet, new: GraphSet, densities: FloatArray, names: list[str], k: int, colors: int, seed: int
) -> MeasuredGap:
    """Bounds and gaps; ``densities`` (graphs, patterns) has training graphs first, and ``names`` for its columns.

    All graphs have at least k vertices; ``colors`` is the size of both palettes together, 1 without colors.
    """
    ours, theirs = densities[: len(train)], densities[len(train) :]
    moved = np.abs(ours.mean(axis=0) - theirs.mean(axis=0))
    rng = np.random.default_rng(seed)
    some, others = (x[np.sort(rng.permutation(len(x))[:MOST_GRAPHS])] for x in (ours, theirs))
    gaps = cdist(some, others, "chebyshev")
    sizes = int(np.median(train.sizes)), int(np.median(new.sizes))
    predicted = _predicted(train, k, sizes[1], seed)
    return MeasuredGap(
        sizes=sizes,
        promises=tuple(_promise(kind, k, sizes, amount) for amount in sorted({1, colors}) for kind in KINDS),
        of_means=float(moved.max()),
        worst=names[int(moved.argmax())],
        typical=float(gaps.mean()),
        predicted=predicted,
        unlike=None if predicted is None else float(np.mean(gaps.min(axis=0) > predicted)),
    )


def _promise(kind: Kind, k: int, sizes: tuple[int, int], colors: int) -> Promise:
    epsilon = epsilon_reached(k, *sizes, DELTA, colors, up_to=True, kind=kind)
    return Promise(kind, colors, epsilon, epsilon >= 1)


def _predicted(train: GraphSet, k: int, n_new: int, seed: int) -> float | None:
    """From the training graphs of about median size, as many as time allows; the largest, for classes may differ."""
    large = np.flatnonzero(train.sizes > max(k, 5))
    order = np.argsort(np.abs(train.sizes[large] - np.median(train.sizes)), kind="stable")
    near = large[order][: 4 * JACKKNIVED]
    chosen = np.random.default_rng(seed).permutation(near)[:JACKKNIVED]
    if not len(chosen):
        return None
    bare = train[np.sort(chosen)].without_colors().with_y(None)
    cost = GROUPS * sum(choice.seconds for size in range(2, k + 1) for choice in choose_engines(bare, size))
    affordable = int(len(bare) * min(SECONDS / max(cost, 1e-9), 1.0))
    if not affordable:
        return None
    intervals = density_intervals(bare[:affordable], range(2, k + 1), groups=GROUPS, seed=seed)
    return float(intervals.predicted_gap(n_new, DELTA).max())
