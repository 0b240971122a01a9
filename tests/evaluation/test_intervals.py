"""Bootstrap intervals against scikit-learn and against a plain loop."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anysize import metrics
from anysize.evaluation.intervals import (
    RunPredictions,
    confusion_matrices,
    interval,
    resampled_means,
)

sklearn_metrics = pytest.importorskip("sklearn.metrics")


SCIKIT = {
    "accuracy": sklearn_metrics.accuracy_score,
    "balanced_accuracy": sklearn_metrics.balanced_accuracy_score,
    "mcc": sklearn_metrics.matthews_corrcoef,
    "macro_f1": partial(sklearn_metrics.f1_score, average="macro"),
}


def scikit(metric, true, predicted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns of a single label
        return SCIKIT[metric](true, predicted)


@settings(max_examples=60)
@given(st.integers(1, 30), st.integers(1, 4), st.integers(0, 10**6))
def test_scores_are_those_of_scikit_learn(graphs, classes, seed):
    rng = np.random.default_rng(seed)
    true, predicted = rng.integers(classes, size=graphs), rng.integers(classes, size=(3, graphs))
    matrices = confusion_matrices(predicted, true, np.ones((1, graphs)))[0]
    for of_seed, matrix in zip(predicted, matrices, strict=True):
        for name, of_confusion in metrics.OF_CONFUSION.items():
            assert of_confusion(matrix) == pytest.approx(scikit(name, true, of_seed), abs=1e-12)
            assert of_confusion(matrix) == pytest.approx(metrics.score(name, true, of_seed))


@pytest.mark.parametrize("metric", ["mcc", "accuracy"])
def test_the_interval_is_that_of_a_plain_loop(metric):
    rng = np.random.default_rng(1)
    true = rng.integers(3, size=40)
    predicted = np.where(rng.random((5, 40)) < 0.4, rng.integers(3, size=(5, 40)), true)
    draws = np.random.default_rng(7).integers(40, size=(150, 40))
    scores = [np.mean([scikit(metric, true[draw], of_seed[draw]) for of_seed in predicted]) for draw in draws]
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


@pytest.mark.parametrize("metric", metrics.METRICS_OF["classes"])
@pytest.mark.parametrize("classes", [2, 3])
def test_resampled_means_are_those_of_a_plain_loop_over_graphs_and_runs(metric, classes):
    """Two methods with three runs each, on test sets that overlap."""
    rng = np.random.default_rng(classes)
    truth = rng.integers(classes, size=60)
    sets = [np.sort(rng.permutation(60)[:40]) for _ in range(3)]

    def run(graphs):
        scores = rng.random((40, classes)).round(1)
        columns = scores.T[1:] if classes == 2 else scores.T
        ranks = np.stack([np.unique(column, return_inverse=True)[1] for column in columns])
        return RunPredictions(graphs, truth[graphs], scores.argmax(axis=1), ranks), scores

    methods = [[run(graphs) for graphs in sets] for _ in range(2)]
    found = resampled_means([[one for one, _ in own] for own in methods], metric, resamples=7, seed=3)
    assert found.shape == (7, 2)

    everything = np.unique(np.concatenate(sets))
    rng = np.random.default_rng(3)
    drawn = np.zeros((7, 60), np.int64)
    for one in range(classes):  # within each class
        members = everything[truth[everything] == one]
        drawn[:, members] = rng.multinomial(len(members), np.full(len(members), 1 / len(members)), size=7)
    times = rng.multinomial(3, np.full(3, 1 / 3), size=7)
    for place, weight in enumerate(drawn):
        assert np.bincount(truth, weight).tolist() == np.bincount(truth[everything]).tolist()
        for method, own in enumerate(methods):
            scored = []
            for (one, scores), often in zip(own, times[place], strict=True):
                rows = np.repeat(np.arange(40), weight[one.graphs])
                true, predicted = one.labels[rows], one.predictions[rows]
                if metric == "roc_auc":
                    score = metrics.roc_auc(true, scores[rows])
                else:
                    score = metrics.score(metric, true, predicted)
                scored += [score] * often
            assert found[place, method] == pytest.approx(np.mean(scored))


def test_resampled_means_are_as_wide_as_the_binomial_law_says_and_rare_classes_do_no_harm():
    right = np.arange(400) % 4 > 0
    run = RunPredictions(np.arange(400), np.ones(400, np.int64), right.astype(np.int64), np.zeros((1, 400), np.int64))
    low, high = np.quantile(resampled_means([[run]], "accuracy", 5000), [0.025, 0.975])
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(0.75 * 0.25 / 400), rel=0.06)
    rare = np.arange(30)  # every class has one graph
    one = RunPredictions(rare, rare, rare, np.eye(30, dtype=np.int64))
    for metric in metrics.METRICS_OF["classes"]:
        assert resampled_means([[one]], metric, 50) == pytest.approx(np.ones((50, 1)))
    same = RunPredictions(rare[:5], np.zeros(5, int), np.zeros(5, int), np.zeros((1, 5), int))
    assert len(resampled_means([[same]], "roc_auc", 50)) == 0  # one class has no ROC curve


def test_bad_arguments():
    assert {*metrics.OF_CONFUSION, "roc_auc"} == set(metrics.METRICS_OF["classes"])
    with pytest.raises(ValueError, match="macro_f1; got 'f1'"):
        interval(np.zeros((1, 2), int), np.zeros(2, int), "f1")
    for shape in ((2,), (1, 3), (0, 2)):
        with pytest.raises(ValueError, match=r"the shape \(seeds, graphs\)"):
            interval(np.zeros(shape, int), np.zeros(2, int))
