"""Probabilities of kernel machines: calibrated on graphs that were not trained on, highest for the predicted class."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.special import expit

from anysize import GraphClassifier, GraphSet
from anysize.kernels.svm import KernelClassifier, fit_slope, pair_probabilities
from anysize.kernels.wl import WLKernel


def noisy(amount: int, classes: int, seed: int) -> tuple[GraphSet, np.ndarray]:
    """Random graphs, denser from class to class, with much overlap."""
    rng = np.random.default_rng(seed)
    y = np.arange(amount) % classes
    density = rng.normal(0.25 + 0.06 * y, 0.06).clip(0.05, 0.9).tolist()
    return GraphSet.from_networkx([nx.gnp_random_graph(12, p, seed=n + 1000 * seed) for n, p in enumerate(density)]), y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [0.01, 100.0])
def test_the_most_probable_class_is_the_predicted_one(classes: int, C: float) -> None:
    (train, y), (new, _) = noisy(90, classes, 0), noisy(200, classes, 1)
    model = KernelClassifier(WLKernel(1), C=C, class_weight="balanced").fit(train, y)
    chances = model.predict_proba(new)
    np.testing.assert_allclose(chances.sum(axis=1), 1)
    assert (chances.argmax(axis=1) == model.predict(new)).all()
    assert ((chances > 0.01) & (chances < 0.99)).mean() > 0.9
    again = KernelClassifier(WLKernel(1), C=C, class_weight="balanced").fit(train, y)
    np.testing.assert_array_equal(again.predict_proba(new), chances)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_probabilities_are_about_right_on_new_graphs(C: float) -> None:
    (train, y), (new, truth) = noisy(400, 2, 2), noisy(600, 2, 3)
    model = KernelClassifier(WLKernel(1), C=C).fit(train, y)
    confidence = model.predict_proba(new).max(axis=1)
    right = model.predict(new) == truth
    assert confidence.mean() == pytest.approx(right.mean(), abs=0.07)
    sure = confidence >= np.median(confidence)
    assert confidence[sure].mean() == pytest.approx(right[sure].mean(), abs=0.1)


def test_a_slope_maximizes_the_balanced_likelihood() -> None:
    rng = np.random.default_rng(0)
    margins = rng.normal(0, 2, 4000)
    is_first = rng.random(4000) < expit(0.7 * margins)
    weights = np.ones(4000)
    assert fit_slope(margins, is_first, weights) == pytest.approx(0.7, abs=0.08)
    assert fit_slope(3 * margins, is_first, weights) == pytest.approx(0.7 / 3, abs=0.03)
    repeats = rng.integers(1, 4, 4000)
    repeated = fit_slope(np.repeat(margins, repeats), np.repeat(is_first, repeats), np.ones(repeats.sum()))
    assert fit_slope(margins, is_first, repeats.astype(float)) == pytest.approx(repeated, rel=1e-3)
    separated = fit_slope(np.array([1.0, 2.0, 1.0, 2.0, -1.0, -2.0, -1.0, -2.0]), np.arange(8) < 4, np.ones(8))
    assert 0.5 < expit(separated) < 0.95, "four graphs of each class are no certainty"
    assert 0 < fit_slope(-margins, is_first, weights) < 0.02


def test_votes_decide_where_means_and_votes_disagree() -> None:
    """Class 0 wins both of its pairs by a little; class 1 wins one by far."""
    margins = np.array([[0.1, 0.1, 5.0]])
    chances = pair_probabilities(margins, np.ones(3), 3)[0]
    assert chances.argmax() == 0
    means = sorted([2 * expit(0.1), expit(-0.1) + expit(5.0), expit(-0.1) + expit(-5.0)])
    np.testing.assert_allclose(sorted(chances), np.array(means) / 3)
    assert pair_probabilities(np.zeros((1, 1)), np.ones(1), 2)[0].argmax() == 1, "as in votes"


def test_a_file_from_before_slopes_votes_as_it_did() -> None:
    train, y = noisy(60, 3, 4)
    model = KernelClassifier(WLKernel(1)).fit(train, y)
    about, arrays = model.state()
    np.testing.assert_array_equal(KernelClassifier.from_state(about, arrays).slopes_, model.slopes_)
    del arrays["slopes"]
    old = KernelClassifier.from_state(about, arrays)
    np.testing.assert_allclose(old.predict_proba(train), model.votes(train) / 3)


def test_a_class_with_few_graphs_is_not_calibrated() -> None:
    train, y = noisy(40, 2, 5)
    few = np.flatnonzero((y == 0) | (np.arange(40) < 6))
    assert KernelClassifier(WLKernel(1)).fit(train[few], y[few]).slopes_.tolist() == [1.0]


def test_classifiers_return_them() -> None:
    (train, y), (new, _) = noisy(80, 2, 6), noisy(20, 2, 7)
    model = GraphClassifier("wl-kernel").fit(train, y)
    chances = model.predict_proba(new)
    assert len(np.unique(chances)) > 10
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(new)).all()
