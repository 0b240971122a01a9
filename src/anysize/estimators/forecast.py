"""Forecast: the score to expect on unlabeled graphs of other sizes, with an interval.

The forecast starts from held-out scores of the training graphs (`anysize.estimators.verdict`), never from the
probabilities of the model for the new graphs: sums over vertices grow surer with size, whether they are right or not.
Let s be the score at the training sizes, x the score on the larger training graphs after fitting to the smaller ones,
both above chance c. A step is the inner size shift: the logarithm of the ratio of sizes between the two parts (a factor
of 2 if all training graphs have one size). The new graphs are e steps away. Of these, u were never shown: e - 1 (at
least 0) for larger graphs, all e for smaller ones and where training graphs have one size. With t = min(e, 1), the
forecast is

    c + (1 - t) s + t x exp(-decay u).

Its variance is the sum of the variances of s and x, of the score of as many graphs as there are new ones, and of
u deviation^2 for what no training graph shows: each further step adds as much. The numbers of `DRIFT` are calibrated on
real and drawn sets (docs/forecast.md). The lower end counts graphs about which training shows little
(`NoveltyDetector.far_share`) as guesses.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import ndtri

from anysize._typing import IntArray
from anysize.estimators.verdict import MODEL, HeldOutScores, Protocol

Direction = Literal["larger", "smaller"]

LEVEL = 0.9
ONE_SIZE_STEP = float(np.log(2))  # where training graphs of about one size show no shift


@dataclass(frozen=True)
class Drift:
    """How scores change with every step of size that training did not show.

    Attributes:
        decay: the rate at which the score above chance falls.
        deviation: of the score.
    """

    decay: float
    deviation: float


DRIFT: Mapping[Direction, Drift] = {"larger": Drift(0.019, 0.061), "smaller": Drift(0.376, 0.037)}


@dataclass(frozen=True)
class ScoreForecast:
    """One score that is expected, and an interval that holds the true one with probability `Forecast.level`."""

    expected: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.expected:.2f} [{self.low:.2f}, {self.high:.2f}]"


@dataclass(frozen=True)
class Forecast:
    """What to expect on new graphs.

    Attributes:
        balanced_accuracy: its forecast. auc: that of ROC-AUC; None where it is undefined.
        chance: the balanced accuracy of guessing.
        level: the probability of the intervals.
        size_ratio: geometric mean size of the new graphs by that of the training graphs.
        extrapolation: how many steps away they are: the log of that ratio by the log of the ratio that the training
            graphs could show (by log 2 if these have one size); above 1 nothing as far away was ever scored.
        far: the share of the new graphs about which training shows little.
    """

    balanced_accuracy: ScoreForecast
    auc: ScoreForecast | None
    chance: float
    level: float
    size_ratio: float
    extrapolation: float
    far: float

    def __str__(self) -> str:
        parts = [f"balanced accuracy {self.balanced_accuracy}"]
        if self.auc is not None:
            parts.append(f"ROC-AUC {self.auc}")
        sentence = f"expected on these graphs: {', '.join(parts)} ({self.level:.0%} intervals)"
        if self.balanced_accuracy.low <= self.chance:
            sentence += f"; chance ({self.chance:.2f}) is within the interval"
        if self.size_ratio > 1.05 or self.size_ratio < 1 / 1.05:
            sentence += f"; they have {self.size_ratio:.2g} times as many vertices as the training graphs"
        return sentence


def forecast(
    held_out: tuple[HeldOutScores, ...], train_size: float, sizes: IntArray, far: float = 0.0, level: float = LEVEL
) -> Forecast:
    """The forecast for graphs of these sizes.

    Args:
        held_out: scores on held-out training graphs, by protocol.
        train_size: geometric mean number of vertices of the training graphs.
        sizes: of the new graphs.
        far: the share of the new graphs about which training shows little.
        level: the probability that an interval holds the true score.
    """
    scores: dict[Protocol, HeldOutScores] = {each.protocol: each for each in held_out}
    if not scores:
        raise ValueError("a forecast needs scores on held-out training graphs; fit the model with check=True")
    if not 0 < level < 1:
        raise ValueError(f"level must be a probability above 0 and below 1; got {level!r}")
    same, across = scores.get("same sizes"), scores.get("larger graphs")
    shift = float(np.log(np.maximum(sizes, 1)).mean() - np.log(train_size)) if len(sizes) else 0.0
    extrapolation = abs(shift) / (ONE_SIZE_STEP if across is None else np.log(across.size_ratio))
    drift = DRIFT["larger" if shift >= 0 else "smaller"]
    unseen = unseen_steps(extrapolation, shift >= 0 and across is not None)
    t, kept = min(extrapolation, 1.0), float(np.exp(-drift.decay * unseen))
    near, distant = same or across, across or same
    assert near is not None and distant is not None  # noqa: PT018 (for mypy)
    chance = 1 / near.classes

    def score(name: Literal["balanced accuracy", "roc_auc"]) -> ScoreForecast | None:
        base = chance if name == "balanced accuracy" else 0.5
        values = [{**each.metrics, "balanced accuracy": each.scores[MODEL]}.get(name) for each in (near, distant)]
        if values[0] is None or values[1] is None:
            return None
        weights = (1 - t, t * kept)
        expected = base + sum(w * (value - base) for w, value in zip(weights, values, strict=True) if value is not None)
        errors = sum(w**2 * each.errors[MODEL] ** 2 for w, each in zip(weights, (near, distant), strict=True))
        of_sample = expected * (1 - expected) / max(len(sizes), 1)
        deviation = float(np.sqrt(errors + max(of_sample, 0.0) + unseen * drift.deviation**2))
        reach = float(ndtri((1 + level) / 2)) * deviation
        low = expected - reach - far * max(expected - base, 0.0)
        return ScoreForecast(*(float(np.clip(value, 0, 1)) for value in (expected, low, expected + reach)))

    accuracy = score("balanced accuracy")
    assert accuracy is not None
    return Forecast(accuracy, score("roc_auc"), chance, level, float(np.exp(shift)), float(extrapolation), far)


def unseen_steps(extrapolation: float, is_continued: bool) -> float:
    """How many steps training did not show: the first one is the inner size shift, if that goes the same way."""
    return max(extrapolation - is_continued, 0.0)
