"""Bootstrap intervals against scikit-learn and against a plain loop."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anysize.experiments.tables.bootstrap import METRICS, accuracy, confusion_matrices, interval, mcc

sklearn_metrics = pytest.importorskip("sklearn.metrics")


def scikit(true, predicted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of a single label
        return sklearn_metrics.matthews_corrcoef(true, predicted)


@settings(max_examples=60)
@given(st.integers(1, 30), st.integers(1, 4), st.integers(0, 10**6))
def test_scores_are_those_of_scikit_learn(graphs, classes, seed):
    rng = np.random.default_rng(seed)
    true, predicted = rng.integers(classes, size=graphs), rng.integers(classes, size=(3, graphs))
    matrices = confusion_matrices(predicted, true, np.ones((1, graphs)))[0]
    for own, matrix in zip(predicted, matrices, strict=True):
        assert mcc(matrix) == pytest.approx(scikit(true, own), abs=1e-12)
        assert accuracy(matrix) == pytest.approx((own == true).mean())


@pytest.mark.parametrize("metric", ["mcc", "accuracy"])
def test_the_interval_is_that_of_a_plain_loop(metric):
    rng = np.random.default_rng(1)
    true = rng.integers(3, size=40)
    predicted = np.where(rng.random((5, 40)) < 0.4, rng.integers(3, size=(5, 40)), true)
    judge = scikit if metric == "mcc" else sklearn_metrics.accuracy_score
    draws = np.random.default_rng(7).integers(40, size=(150, 40))
    scores = [np.mean([judge(true[draw], own[draw]) for own in predicted]) for draw in draws]
    found = interval(predicted, true, metric, level=0.9, resamples=150, seed=7)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(scores, [0.05, 0.95])), abs=1e-12)
    assert (found.level, found.resamples) == (0.9, 150)


def test_the_interval_of_an_accuracy_is_as_wide_as_the_binomial_law_says():
    right = np.arange(400) % 4 > 0
    found = interval(right[None].astype(np.int64), np.ones(400, np.int64), "accuracy", resamples=5000)
    assert found.high - found.low == pytest.approx(2 * 1.96 * np.sqrt(0.75 * 0.25 / 400), rel=0.06)


def test_averaging_over_seeds_narrows_the_interval_only_as_far_as_seeds_err_apart():
    rng = np.random.default_rng(0)
    true = rng.integers(2, size=200)
    one = np.where(rng.random(200) < 0.2, 1 - true, true)
    apart = np.stack([np.where(rng.random(200) < 0.2, 1 - true, true) for _ in range(10)])
    alone, together, copies = (interval(own, true) for own in (one[None], apart, np.stack([one] * 10)))
    assert (copies.low, copies.high) == pytest.approx((alone.low, alone.high))
    assert together.high - together.low < 0.5 * (alone.high - alone.low)


def test_constant_predictions_have_no_width():
    found = interval(np.zeros((2, 30), np.int64), np.arange(30) % 2, "mcc")
    assert (found.low, found.high) == (0.0, 0.0)


def test_equal_seeds_draw_equal_graphs():
    rng = np.random.default_rng(3)
    true, predicted = rng.integers(2, size=50), rng.integers(2, size=(2, 50))
    assert interval(predicted, true, seed=4) == interval(predicted, true, seed=4)
    assert interval(predicted, true, seed=4) != interval(predicted, true, seed=5)


def test_bad_arguments():
    assert set(METRICS) == {"accuracy", "mcc"}
    with pytest.raises(ValueError, match="accuracy, mcc; got 'f1'"):
        interval(np.zeros((1, 2), int), np.zeros(2, int), "f1")
    for shape in ((2,), (1, 3), (0, 2)):
        with pytest.raises(ValueError, match=r"the shape \(seeds, graphs\)"):
            interval(np.zeros(shape, int), np.zeros(2, int))
