"""Forecasts: what they start from, how they widen, what they need; and sets that come from elsewhere."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from anysize import GraphClassifier, GraphSet, GraphWarning, load_model
from anysize.estimators.forecast import DRIFT, ScoreForecast, forecast
from anysize.estimators.verdict import HeldOutScores

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


def width(score: ScoreForecast) -> float:
    return score.high - score.low


def test_what_was_scored_across_sizes_is_expected_and_every_further_step_widens_the_interval() -> None:
    steps = [forecast((SAME, ACROSS), 20.0, np.full(100_000, 20 * 2**step)) for step in range(5)]
    assert [told.extrapolation for told in steps] == pytest.approx(range(5))
    assert steps[1].balanced_accuracy.expected == pytest.approx(0.8)
    assert width(steps[1].balanced_accuracy) == pytest.approx(2 * 1.645 * 0.04, rel=0.05)
    for number, told in enumerate(steps[2:], 1):
        assert told.balanced_accuracy.expected == pytest.approx(0.5 + 0.3 * np.exp(-number * DRIFT["larger"].decay))
        assert width(told.balanced_accuracy) > width(steps[number].balanced_accuracy)


def test_nothing_was_scored_toward_smaller_graphs_or_where_training_has_one_size() -> None:
    larger, smaller = (forecast((SAME, ACROSS), 20.0, np.full(100_000, n)) for n in (40, 10))
    assert smaller.extrapolation == pytest.approx(larger.extrapolation)
    expected = 0.5 + 0.3 * np.exp(-DRIFT["smaller"].decay)
    assert smaller.balanced_accuracy.expected == pytest.approx(expected)
    assert width(smaller.balanced_accuracy) > width(larger.balanced_accuracy)
    one_size = forecast((SAME,), 20.0, np.full(100_000, 40))
    assert one_size.extrapolation == pytest.approx(1.0)
    assert one_size.balanced_accuracy.expected == pytest.approx(0.5 + 0.4 * np.exp(-DRIFT["larger"].decay))
    assert width(one_size.balanced_accuracy) > width(forecast((SAME,), 20.0, np.full(100_000, 20)).balanced_accuracy)


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


def regular_graphs(sizes: tuple[int, int], seed: int, amount: int) -> tuple[list[nx.Graph], Any]:
    """Regular graphs of degree .3 n and .5 n: degrees are whole numbers, which densities approach as 1/n."""
    rng, y = np.random.default_rng(seed), np.arange(amount) % 2
    made = []
    for number, label in enumerate(y):
        n = int(rng.integers(sizes[0], sizes[1] + 1))
        degree = round((0.3, 0.5)[label] * n)
        made.append(nx.random_regular_graph(degree + degree * n % 2, n, seed=1000 * seed + number))
    return made, y


def test_rounded_degrees_are_no_shift() -> None:
    train, y = regular_graphs((12, 24), 1, 120)
    model = GraphClassifier("wl-kernel", check=False).fit(train, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphWarning)
        model.predict_proba(regular_graphs((40, 48), 2, 80)[0])


def test_degrees_unlike_those_of_training_lower_the_forecast_of_methods_on_whole_graphs() -> None:
    """In dense graphs three times as large, a WL kernel knows no types: here it has .50."""
    train, y = random_graphs((0.3, 0.45), (8, 12, 16, 20), 0, each=20)
    large, truth = random_graphs((0.3, 0.45), (60,), 1, each=40)
    model = GraphClassifier("wl-kernel").fit(train, y)
    told = model.forecast(large)
    assert told.far > 0.6
    assert told.balanced_accuracy.low <= model.score(large, truth) <= told.balanced_accuracy.high
    assert told.balanced_accuracy.low < model.forecast(large, far=0.0).balanced_accuracy.low
    assert model.forecast(random_graphs((0.3, 0.45), (8, 12, 16, 20), 2, each=20)[0]).far < 0.1
    patterns = GraphClassifier("gc-kernel", k=3).fit(train, y)
    assert patterns.forecast(large).far == 0.0


def test_unknown_and_shifted_colors_lower_the_forecast(tmp_path: Any) -> None:
    def paths(colors: str, seed: int) -> GraphSet:
        rng = np.random.default_rng(seed)
        sizes = rng.integers(8, 20, 60)
        names = [[colors[i] for i in rng.integers(0, len(colors), n)] for n in sizes]
        return GraphSet.from_edges([[(v, v + 1) for v in range(n - 1)] for n in sizes], colors=names)

    train = paths("abc", 0)
    model = GraphClassifier("wl-kernel").fit(train, np.arange(60) % 2)
    assert model.forecast(paths("abc", 1)).far < 0.05
    assert model.forecast(paths("aaaaaaaabc", 1)).far == pytest.approx(0.8 - 1 / 3, abs=0.05)  # a shift of shares
    assert model.forecast(paths("abcd", 1)).far == pytest.approx(0.25, abs=0.05)
    model.save(tmp_path / "m.anysize")
    assert load_model(tmp_path / "m.anysize").forecast(paths("abcd", 1)) == model.forecast(paths("abcd", 1))


def test_a_forecast_needs_graphs() -> None:
    graphs = GraphSet.from_networkx([nx.path_graph(n) for n in range(2, 32)], y=[0, 1] * 15)
    model = GraphClassifier("wl-kernel", check=False).fit(graphs)
    with pytest.raises(ValueError, match="at least one; got none"):
        model.forecast([])
