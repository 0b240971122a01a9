"""KernelClassifier: against scikit-learn's SVC, in its model selection, errors, and state without pickle."""

from __future__ import annotations

import io
import json
from functools import partial
from typing import Any

import numpy as np
import pytest
from kernels.helpers import three_classes
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from anysize._errors import GraphWarning
from anysize.kernels.graphlet import GraphletKernel
from anysize.kernels.svm import KernelClassifier
from anysize.kernels.wl import WLKernel
from anysize.metrics import score


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [1e-3, 1e-1, 1e2])
@pytest.mark.parametrize("kernel", [WLKernel(2), GraphletKernel(3)], ids=["wl", "graphlet"])
def test_it_predicts_as_the_svm_on_the_gram_matrix(kernel: Any, C: float, classes: int) -> None:
    graphs = three_classes()
    assert graphs.y is not None
    graphs = graphs[graphs.y != "random"] if classes == 2 else graphs
    train, test = graphs[: len(graphs) // 2], graphs[len(graphs) // 2 :]
    fitted = clone(kernel).fit(train)
    svc = SVC(kernel="precomputed", C=C, class_weight="balanced", decision_function_shape="ovo")
    svc.fit(fitted.kernel(train), train.y)
    model = KernelClassifier(kernel, C=C, class_weight="balanced").fit(train)
    margins = np.atleast_2d(svc.decision_function(fitted.kernel(test)))
    expected = margins if classes == 3 else -margins.T
    np.testing.assert_allclose(model.decision_function(test), expected, atol=1e-10)
    assert model.predict(test).tolist() == svc.predict(fitted.kernel(test)).tolist()
    assert model.classes_.tolist() == svc.classes_.tolist()
    assert model.votes(test).sum(axis=1).tolist() == [classes * (classes - 1) // 2] * len(test)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize(
    "kernel",
    [WLKernel(2), WLKernel(2, normalize=True), GraphletKernel(3), GraphletKernel(4, over="subsets", top=20)],
    ids=["wl", "wl-normalized", "graphlet", "graphlet-top"],
)
def test_without_a_gram_matrix_it_is_the_same_machine(
    kernel: Any, C: float, classes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs = three_classes()
    assert graphs.y is not None
    graphs = graphs[graphs.y != "random"] if classes == 2 else graphs
    train, test = graphs[: len(graphs) // 2], graphs[len(graphs) // 2 :]
    # two solvers may stop elsewhere within their tolerance, 0.001 by default
    monkeypatch.setattr("sklearn.svm.SVC", partial(SVC, tol=1e-9))
    monkeypatch.setattr("anysize.kernels.pairwise_svm.TOLERANCE", 1e-9)
    expected = KernelClassifier(kernel, C=C, class_weight="balanced").fit(train)
    monkeypatch.setattr("anysize.kernels.svm.gram", None)  # never called
    monkeypatch.setattr("anysize.kernels.svm.MAX_GRAM", 1)
    model = KernelClassifier(kernel, C=C, class_weight="balanced").fit(train)
    within = 1e-6 if C <= 1 else 1e-4  # SVC rounds inner products to single precision
    margins = expected.decision_function(test)
    np.testing.assert_allclose(model.decision_function(test), margins, rtol=within, atol=within)
    assert model.predict(test).tolist() == expected.predict(test).tolist()
    assert model.predict(train).tolist() == expected.predict(train).tolist()
    restored = KernelClassifier.from_state(*model.state())
    np.testing.assert_array_equal(restored.decision_function(test), model.decision_function(test))
    if isinstance(kernel, WLKernel):
        found, reference = model.explain(test[0]), expected.explain(test[0])
        assert found.margin == pytest.approx(reference.margin, abs=within)
        np.testing.assert_allclose(found.vertices, reference.vertices, rtol=within, atol=within)


def test_labels_may_come_apart_from_graphs() -> None:
    train = three_classes()[::2]
    names = {"tree": 7, "ring": -2, "random": 3}
    assert train.y is not None
    numbered = KernelClassifier(WLKernel(2)).fit(train.with_y(None), [names[label] for label in train.y.tolist()])
    same = KernelClassifier(WLKernel(2)).fit(train)
    assert numbered.classes_.tolist() == [-2, 3, 7]
    assert numbered.predict(train).tolist() == [names[label] for label in same.predict(train).tolist()]
    objects = KernelClassifier(WLKernel(2)).fit(train.with_y(None), np.array(train.y.tolist(), object))
    assert objects.predict(train).dtype.kind == "U"


def test_configurations_are_selected_by_scikit_learn() -> None:
    graphs = three_classes()
    model = KernelClassifier(WLKernel())
    search = GridSearchCV(model, {"C": (1e-3, 1.0), "kernel__iterations": (1, 2)}, cv=3).fit(list(graphs), graphs.y)
    scores = {
        (C, depth): cross_val_score(KernelClassifier(WLKernel(depth), C=C), list(graphs), graphs.y, cv=3).mean()
        for C in (1e-3, 1.0)
        for depth in (1, 2)
    }
    assert search.best_score_ == pytest.approx(max(scores.values()))
    best = search.best_params_
    assert scores[best["C"], best["kernel__iterations"]] == pytest.approx(max(scores.values()))
    assert len(set(scores.values())) > 1


@pytest.mark.parametrize(
    ("change", "extra", "message"),
    [
        ({}, {"y": [1, 2]}, "42 graphs"),
        ({}, {"y": [1] * 42}, "at least two classes"),
        ({}, {"y": np.array([None, "a"] * 21, object)}, "NoneType, str"),
    ],
)
def test_errors_say_what_to_do(change: dict[str, Any], extra: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        KernelClassifier(WLKernel(1), **change).fit(three_classes(), **extra)


def test_it_works_with_clone_and_pipelines() -> None:
    graphs = three_classes()
    model = clone(KernelClassifier(WLKernel(2), C=1.0)).fit(graphs)
    pipeline = make_pipeline(WLKernel(2), SVC(kernel="linear", C=1.0)).fit(graphs, graphs.y)
    assert model.predict(graphs).tolist() == pipeline.predict(graphs).tolist()
    shares = make_pipeline(GraphletKernel(3), SVC(kernel="linear", C=10.0)).fit(graphs, graphs.y)
    own = KernelClassifier(GraphletKernel(3), C=10.0).fit(graphs)
    assert own.predict(graphs).tolist() == shares.predict(graphs).tolist()
    assert model.score(graphs, graphs.y) == score("accuracy", graphs.y, model.predict(graphs))
    with pytest.raises(NotFittedError):
        KernelClassifier().predict(graphs)


def through_a_file(about: dict[str, Any], arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Written as JSON and as numpy archive, and read back without pickle."""
    file = io.BytesIO()
    np.savez(file, **arrays)
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        return json.loads(json.dumps(about)), {name: archive[name] for name in archive.files}


@pytest.mark.parametrize("colored", [False, True], ids=["plain", "colored"])
@pytest.mark.parametrize(
    "kernel", [WLKernel(2), WLKernel(0, normalize=True), GraphletKernel(4), GraphletKernel(3, "subsets", top=2)]
)
@pytest.mark.parametrize("strings", [False, True])
def test_a_restored_classifier_predicts_the_same(kernel: Any, colored: bool, strings: bool) -> None:
    graphs = three_classes() if colored else three_classes().without_colors()
    train, test = graphs[::2], graphs[1::2]
    y = train.y if strings else np.unique(train.y, return_inverse=True)[1] - 1
    model = KernelClassifier(kernel, C=10.0).fit(train, y)
    about, arrays = model.state()
    assert all(array.dtype.kind in "iuf" for array in arrays.values())
    restored = KernelClassifier.from_state(*through_a_file(about, arrays))
    np.testing.assert_array_equal(restored.decision_function(test), model.decision_function(test))
    predicted = model.predict(test)
    assert restored.predict(test).tolist() == predicted.tolist()
    assert restored.predict(test).dtype == predicted.dtype
    assert (restored.kernel_.transform(test) != model.kernel_.transform(test)).nnz == 0
    assert restored.kernel.get_params() == model.kernel_.get_params()
    assert restored.state()[0] == about
    with pytest.raises(ValueError, match="pass them as others"):
        restored.kernel_.kernel(test)
    np.testing.assert_array_equal(restored.kernel_.kernel(test, train), model.kernel_.kernel(test))


def test_a_machine_that_misses_its_tolerance_ends_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = three_classes()
    expected = KernelClassifier(WLKernel(2), C=1e2).fit(graphs)
    monkeypatch.setattr("anysize.kernels.svm.MAX_STEPS", 5)
    with pytest.warns(GraphWarning, match="stopped after 5 steps.*smaller C"):
        model = KernelClassifier(WLKernel(2), C=1e2).fit(graphs)
    assert not np.allclose(model.weights_, expected.weights_)
    assert set(model.predict(graphs)) <= set(model.classes_)
