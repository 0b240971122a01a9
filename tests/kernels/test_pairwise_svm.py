"""The solver on sparse features: against scikit-learn's SVC on the Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.svm import SVC

from anysize._errors import GraphWarning
from anysize.kernels.pairwise_svm import class_factors, separate, separate_pairs, votes


def problem(graphs: int, features: int, seed: int = 0) -> tuple[csr_array[np.float64], np.ndarray]:
    """Sparse counts, a few of the rows twice, and signs that depend on one of the features and on chance."""
    random = np.random.default_rng(seed)
    table = random_array((graphs, features), density=0.2, format="csr", rng=random)
    table.data = np.ceil(5 * table.data)
    table = csr_array(table[np.minimum(np.arange(graphs), graphs - 10)])
    noise = random.normal(size=graphs)
    return table, np.where(table[:, [0]].toarray()[:, 0] + noise > 0.8, 1.0, -1.0)


@pytest.mark.parametrize("working_set", [12, 2048])
@pytest.mark.parametrize("C", [1e-4, 1e-2, 1.0, 30.0])
@pytest.mark.parametrize("columns", [6, 400])
def test_it_is_the_machine_of_scikit_learn(
    columns: int, C: float, working_set: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anysize.kernels.pairwise_svm.WORKING_SET", working_set)
    monkeypatch.setattr("anysize.kernels.pairwise_svm.TOLERANCE", 1e-8)
    table, signs = problem(150, columns)
    factors = np.where(signs > 0, 1.0, 2.5)
    weights, intercept = separate(table, signs, C * factors)
    products = (table @ table.T).toarray()
    svc = SVC(kernel="precomputed", C=C, class_weight={-1.0: 2.5}, tol=1e-8).fit(products, signs)
    np.testing.assert_allclose(table @ weights + intercept, svc.decision_function(products), rtol=1e-6, atol=1e-6)


def test_it_stops_at_the_tolerance_of_scikit_learn() -> None:
    table, signs = problem(3000, 50)
    weights, intercept = separate(table, signs, np.full(3000, 0.1))
    products = (table @ table.T).toarray()
    svc = SVC(kernel="precomputed", C=0.1).fit(products, signs)
    expected = svc.decision_function(products)
    np.testing.assert_allclose(table @ weights + intercept, expected, atol=0.01)
    own = np.bincount(svc.support_, svc.dual_coef_[0], minlength=3000) @ table
    slack = [np.maximum(0, 1 - signs * margins).sum() for margins in (table @ weights + intercept, expected)]
    objectives = [each @ each / 2 + 0.1 * lost for each, lost in zip((weights, own), slack, strict=True)]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-4)


def test_without_free_support_vectors_the_intercept_is_in_the_middle() -> None:
    table = csr_array(np.array([[1.0], [2.0], [-1.0], [-4.0]]))
    signs = np.array([1.0, 1.0, -1.0, -1.0])
    weights, intercept = separate(table, signs, np.full(4, 1e-3))
    svc = SVC(kernel="linear", C=1e-3).fit(table.toarray(), signs)
    assert weights == pytest.approx(svc.coef_[0])
    assert intercept == pytest.approx(svc.intercept_[0])


def test_graphs_without_features_are_separated_by_nothing() -> None:
    weights, intercept = separate(csr_array((3, 2)), np.array([1.0, 1.0, -1.0]), np.ones(3))
    assert weights.tolist() == [0, 0]
    assert intercept == pytest.approx(1)


@pytest.mark.parametrize("weight", [None, "balanced", {"a": 3.0}])
def test_pairs_of_classes_vote(weight: Any) -> None:
    table, signs = problem(120, 30)
    labels = np.where(signs > 0, "a", np.where(np.arange(120) % 3 == 0, "b", "c"))
    svc = SVC(kernel="linear", C=0.1, class_weight=weight, decision_function_shape="ovo").fit(table.toarray(), labels)
    classes, codes = np.unique(labels, return_inverse=True)
    factors = class_factors(weight, classes, np.bincount(codes))
    weights, intercepts = separate_pairs(table, codes, 0.1 * factors[codes])
    margins = table @ weights.T + intercepts
    np.testing.assert_allclose(margins, svc.decision_function(table.toarray()), atol=0.01)
    assert classes[votes(margins, 3).argmax(axis=1)].tolist() == svc.predict(table.toarray()).tolist()


def test_penalties_must_be_positive() -> None:
    table, signs = problem(20, 5)
    with pytest.raises(ValueError, match="must be positive"):
        separate_pairs(table, (signs < 0).astype(np.int64), np.zeros(20))


def test_it_says_when_it_did_not_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anysize.kernels.pairwise_svm.MAX_ROUNDS", 1)
    with pytest.warns(GraphWarning, match="smaller C"):
        separate(*problem(50, 5), np.ones(50))
