"""Forecasts: what they start from, how they widen, what they need; and sets that come from elsewhere."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from anysize import GraphClassifier, GraphSet, GraphWarning, load_model
from anysize.estimators.forecast import KEPT, forecast
from anysize.estimators.held_out import HeldOutScores

SAME = HeldOutScores(
    "same sizes", 200, 2, {"model": 0.9}, {"model": 0.02}, {"size-only": (0.4, 0.03)}, {"roc_auc": 0.95}, 1.0
)  # fmt: skip
ACROSS = HeldOutScores(
    "larger graphs", 80, 2, {"model": 0.8}, {"model": 0.04}, {"size-only": (0.3, 0.05)}, {"roc_auc": 0.85}, 2.0
)


def test_without_a_shift_it_is_the_score_at_the_training_sizes() -> None:
    told = forecast((SAME, ACROSS), 20.0, np.full(10_000, 20))
    assert told.balanced_accuracy.expected == pytest.approx(0.9)
    assert told.auc is not None
    assert told.auc.expected == pytest.approx(0.95)
    assert told.balanced_accuracy.high - told.balanced_accuracy.low == pytest.approx(2 * 1.645 * 0.02, rel=0.05)
    assert (told.size_ratio, told.extrapolation) == pytest.approx((1.0, 0.0))


def test_larger_and_smaller_graphs_keep_a_part_of_the_score_across_sizes() -> None:
    sizes = np.full(500, 80)
    told = forecast((SAME, ACROSS), 20.0, sizes)
    assert told.balanced_accuracy.expected == pytest.approx(0.5 + KEPT["larger"] * 0.3)
    assert told.extrapolation == pytest.approx(2.0)
    smaller = forecast((SAME, ACROSS), 20.0, np.full(500, 5))
    assert smaller.balanced_accuracy.expected == pytest.approx(0.5 + KEPT["smaller"] * 0.3)
    halfway = forecast((SAME, ACROSS), 20.0, np.full(500, 28))
    assert told.balanced_accuracy.expected < halfway.balanced_accuracy.expected < 0.9
    widths = [each.balanced_accuracy.high - each.balanced_accuracy.low for each in (halfway, told)]
    assert widths[0] < widths[1]


def test_few_graphs_far_graphs_and_higher_levels_widen_the_interval() -> None:
    base = forecast((SAME, ACROSS), 20.0, np.full(500, 40)).balanced_accuracy
    few = forecast((SAME, ACROSS), 20.0, np.full(8, 40)).balanced_accuracy
    far = forecast((SAME, ACROSS), 20.0, np.full(500, 40), far=1.0).balanced_accuracy
    sure = forecast((SAME, ACROSS), 20.0, np.full(500, 40), level=0.99).balanced_accuracy
    assert few.high - few.low > base.high - base.low
    assert far.low == pytest.approx(base.low - (base.expected - 0.5))
    assert far.high == base.high
    assert sure.low < base.low < base.high < sure.high


def test_without_scores_there_is_no_forecast() -> None:
    with pytest.raises(ValueError, match="fit the model with check=True"):
        forecast((), 20.0, np.array([20]))
    with pytest.raises(ValueError, match="level must be a probability"):
        forecast((SAME,), 20.0, np.array([20]), level=1.5)
    only = forecast((replace(SAME, metrics={}),), 20.0, np.array([80]))
    assert only.auc is None
    assert only.extrapolation == np.inf


# ---- the classifier ----------------------------------------------------------------------------------


def random_graphs(
    p: tuple[float, float], sizes: tuple[int, ...], seed: int, each: int = 8
) -> tuple[list[nx.Graph], Any]:
    made = [nx.gnp_random_graph(n, q, seed=seed + 100 * i + n) for q in p for n in sizes for i in range(each)]
    return made, np.repeat([0, 1], len(made) // 2)


def test_a_model_says_what_to_expect_and_remembers_it(tmp_path: Any) -> None:
    train, y = random_graphs((0.2, 0.5), (12, 16, 20), 0)
    large, truth = random_graphs((0.2, 0.5), (40,), 1)
    model = GraphClassifier("gamma-1hot", k=3).fit(train, y)
    told = model.forecast(large)
    assert told.balanced_accuracy.low <= model.score(large, truth) <= told.balanced_accuracy.high
    assert "expected on these graphs: balanced accuracy" in str(told)
    model.save(tmp_path / "m.anysize")
    assert load_model(tmp_path / "m.anysize").forecast(large) == told


def test_a_set_from_elsewhere_is_noticed_and_one_that_is_only_larger_is_not() -> None:
    train, y = random_graphs((0.3, 0.35), (12, 16, 20), 0)
    model = GraphClassifier("wl-kernel", check=False).fit(train, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphWarning)
        model.predict_proba(random_graphs((0.3, 0.35), (40, 60), 1)[0])
    with pytest.warns(GraphWarning, match="differ from the training graphs by more than their sizes explain"):
        model.predict_proba(random_graphs((0.6, 0.65), (16, 20), 1)[0])


def test_few_graphs_are_not_tested() -> None:
    train, y = random_graphs((0.3, 0.35), (12, 16, 20), 0)
    model = GraphClassifier("wl-kernel", check=False).fit(GraphSet.from_networkx(train), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphWarning)
        model.predict_proba(random_graphs((0.6, 0.65), (16,), 1, each=2)[0])
