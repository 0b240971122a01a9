"""Accuracy and MCC: the textbook form for two classes, undefined cases, and what is refused."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anysize.metrics import METRICS_OF, all_metrics, regression_metrics, roc_auc, score

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)


@given(pairs)
def test_mcc_of_many_classes_is_the_correlation_of_indicators(drawn: list[tuple[int, int]]) -> None:
    """The sum of covariances of class indicators, divided by the root of the sums of their variances."""
    true, pred = (np.eye(5)[list(part)] for part in zip(*drawn, strict=True))
    a, b = true - true.mean(axis=0), pred - pred.mean(axis=0)
    scale = sqrt((a * a).sum() * (b * b).sum())
    labels = [list(part) for part in zip(*drawn, strict=True)]
    assert score("mcc", *labels) == pytest.approx((a * b).sum() / scale if scale > 1e-9 else 0.0, abs=1e-9)
    assert score("accuracy", *labels) == pytest.approx(np.mean([one == other for one, other in drawn]))


def test_mcc_of_two_classes_is_the_four_cell_formula() -> None:
    tp, tn, fp, fn = 17, 41, 5, 8
    true = np.repeat([1, 0, 0, 1], [tp, tn, fp, fn])
    pred = np.repeat([1, 0, 1, 0], [tp, tn, fp, fn])
    expected = (tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert score("mcc", true, pred) == pytest.approx(expected)
    assert score("mcc", pred, true) == pytest.approx(expected)
    assert score("mcc", true, 1 - pred) == pytest.approx(-expected)


@pytest.mark.parametrize(
    ("true", "pred"), [([0, 0, 1], [1, 1, 1]), ([1, 1], [0, 1]), ([2, 2], [2, 2]), ([0, 0], [1, 1])]
)
def test_mcc_is_zero_where_it_is_undefined(true: list[int], pred: list[int]) -> None:
    assert score("mcc", true, pred) == 0.0


@pytest.mark.parametrize("metric", ["accuracy", "mcc"])
def test_strings_are_not_compared_with_numbers(metric: str) -> None:
    for true, pred in ((["0", "1"], [0, 1]), ([0, 1], ["0", "1"]), (np.array(["0", "1"], object), [0, 1])):
        with pytest.raises(ValueError, match="both be strings or both be numbers"):
            score(metric, true, pred)
    with pytest.raises(ValueError, match="Some labels are NaN"):
        score(metric, [0.0, np.nan], [0.0, 1.0])
    assert score(metric, [True, False], [1, 0]) == score(metric, [1.0, 0.0], [1, 0]) == 1.0
    assert score(metric, np.array(["a", "b"], object), ["a", "b"]) == 1.0


def test_mcc_is_exact_for_large_sets() -> None:
    true = np.repeat([0, 1], [300_000, 200_000])
    # products of the fourth power of the size overflow 64 bits
    assert score("mcc", true, true) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("true", "pred"), [([], []), ([0, 1], [0]), ([[0, 1]], [[0, 1]])])
def test_scores_refuse_what_is_not_one_class_per_graph(true: list[int], pred: list[int]) -> None:
    for metric in ("accuracy", "mcc"):
        with pytest.raises(ValueError, match="one true and one predicted class"):
            score(metric, true, pred)


# ---- all five against scikit-learn -----------------------------------------------------------------


@given(st.integers(2, 4), st.integers(0, 1000))
def test_every_metric_is_that_of_scikit_learn(classes: int, seed: int) -> None:
    from sklearn import metrics as reference

    rng = np.random.default_rng(seed)
    true = np.concatenate([np.arange(classes), rng.integers(classes, size=rng.integers(1, 30))])
    scores = rng.dirichlet(np.ones(classes), len(true)).round(1) + 1e-3  # with ties
    probabilities = scores / scores.sum(axis=1, keepdims=True)
    predicted = probabilities.argmax(axis=1)
    found = all_metrics(true, probabilities)
    assert list(found) == list(METRICS_OF["classes"])
    assert found["accuracy"] == pytest.approx(reference.accuracy_score(true, predicted))
    assert found["balanced_accuracy"] == pytest.approx(reference.balanced_accuracy_score(true, predicted))
    assert found["mcc"] == pytest.approx(reference.matthews_corrcoef(true, predicted))
    assert found["macro_f1"] == pytest.approx(reference.f1_score(true, predicted, average="macro"))
    if classes == 2:
        assert found["roc_auc"] == pytest.approx(reference.roc_auc_score(true, probabilities[:, 1]))
    else:
        expected = reference.roc_auc_score(true, probabilities, multi_class="ovr", average="macro")
        assert found["roc_auc"] == pytest.approx(expected)


def test_roc_auc_of_weighted_graphs_is_that_of_repeated_ones() -> None:
    rng = np.random.default_rng(0)
    true, scores, times = rng.integers(2, size=20), rng.random((20, 2)).round(1), rng.integers(4, size=20)
    repeated = np.repeat(np.arange(20), times)
    assert roc_auc(true, scores, times) == pytest.approx(roc_auc(true[repeated], scores[repeated]))


def test_roc_auc_is_undefined_if_a_class_is_missing_and_takes_a_finer_ranking() -> None:
    votes = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    assert roc_auc([1, 1, 1], votes) is None
    assert roc_auc([0, 1, 1], np.eye(3)) is None
    assert "roc_auc" not in all_metrics(np.array([1, 1, 1]), votes)
    margins = np.array([[0.5, -0.5], [-0.1, 0.1], [-2.0, 2.0]])
    true = np.array([0, 0, 1])
    assert (all_metrics(true, votes)["roc_auc"], all_metrics(true, votes, margins)["roc_auc"]) == (0.75, 1.0)
    with pytest.raises(ValueError, match="one row of scores"):
        roc_auc([0, 1], [[0.5, 0.5]])


def test_scores_of_numbers_are_those_of_scikit_learn_and_scipy() -> None:
    from scipy.stats import spearmanr
    from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

    rng = np.random.default_rng(0)
    true, predicted = rng.integers(0, 5, 40).astype(float), rng.integers(0, 5, 40) + 0.5  # with ties
    assert regression_metrics(true, predicted) == pytest.approx(
        {
            "rmse": root_mean_squared_error(true, predicted),
            "mae": mean_absolute_error(true, predicted),
            "r2": r2_score(true, predicted),
            "rank_correlation": spearmanr(true, predicted).statistic,
        }
    )
    assert regression_metrics([1, 1], [1, 1]) == {"rmse": 0, "mae": 0, "r2": 1}
    assert regression_metrics([1, 1], [1, 2])["r2"] == 0
    with pytest.raises(ValueError, match="one true and one predicted number"):
        regression_metrics([1, 2], [1])
