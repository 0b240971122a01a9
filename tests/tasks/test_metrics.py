"""Accuracy and MCC: the textbook form for two classes, undefined cases, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anysize.tasks.catalog import TASKS
from anysize.tasks.metrics import accuracy, mcc

pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=40)


@given(pairs)
def test_mcc_of_many_classes_is_the_correlation_of_indicators(drawn: list[tuple[int, int]]) -> None:
    """The sum of covariances of class indicators, divided by the root of the sums of their variances."""
    true, pred = (np.eye(5)[list(part)] for part in zip(*drawn, strict=True))
    a, b = true - true.mean(axis=0), pred - pred.mean(axis=0)
    scale = sqrt((a * a).sum() * (b * b).sum())
    labels = [list(part) for part in zip(*drawn, strict=True)]
    assert mcc(*labels) == pytest.approx((a * b).sum() / scale if scale > 1e-9 else 0.0, abs=1e-9)
    assert accuracy(*labels) == pytest.approx(np.mean([one == other for one, other in drawn]))


def test_mcc_of_two_classes_is_the_four_cell_formula() -> None:
    tp, tn, fp, fn = 17, 41, 5, 8
    true = np.repeat([1, 0, 0, 1], [tp, tn, fp, fn])
    pred = np.repeat([1, 0, 1, 0], [tp, tn, fp, fn])
    expected = (tp * tn - fp * fn) / sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
    assert mcc(true, pred) == pytest.approx(expected)
    assert mcc(pred, true) == pytest.approx(expected)
    assert mcc(true, 1 - pred) == pytest.approx(-expected)


@pytest.mark.parametrize(
    ("true", "pred"), [([0, 0, 1], [1, 1, 1]), ([1, 1], [0, 1]), ([2, 2], [2, 2]), ([0, 0], [1, 1])]
)
def test_mcc_is_zero_where_it_is_undefined(true: list[int], pred: list[int]) -> None:
    assert mcc(true, pred) == 0.0


@pytest.mark.parametrize("score", [accuracy, mcc])
def test_strings_are_not_compared_with_numbers(score: Callable[..., float]) -> None:
    for true, pred in ((["0", "1"], [0, 1]), ([0, 1], ["0", "1"]), (np.array(["0", "1"], object), [0, 1])):
        with pytest.raises(ValueError, match="both be strings or both be numbers"):
            score(true, pred)
    with pytest.raises(ValueError, match="Some labels are NaN"):
        score([0.0, np.nan], [0.0, 1.0])
    assert score([True, False], [1, 0]) == score([1.0, 0.0], [1, 0]) == 1.0
    assert score(np.array(["a", "b"], object), ["a", "b"]) == 1.0


def test_mcc_is_exact_for_large_sets() -> None:
    true = np.repeat([0, 1], [300_000, 200_000])
    assert mcc(true, true) == pytest.approx(1.0, abs=1e-12)  # products of the fourth power of the size overflow 64 bits


@pytest.mark.parametrize(("true", "pred"), [([], []), ([0, 1], [0]), ([[0, 1]], [[0, 1]])])
def test_scores_refuse_what_is_not_one_class_per_graph(true: list[int], pred: list[int]) -> None:
    for score in (accuracy, mcc):
        with pytest.raises(ValueError, match="one true and one predicted class"):
            score(true, pred)


def test_tasks_score_by_their_metric() -> None:
    true, pred = [0, 0, 0, 1], [0, 0, 1, 1]
    assert TASKS["sbm-20"].score(true, pred) == 0.75
    assert TASKS["NCI1"].score(true, pred) == pytest.approx(1 / sqrt(3))
