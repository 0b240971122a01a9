"""KernelClassifier: against scikit-learn's SVC, selection, errors, and state without pickle."""

from __future__ import annotations

import io
import json
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from kernels.helpers import three_classes
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from anysize.kernels.graphlet import GraphletKernel
from anysize.kernels.svm import C_GRID, KernelClassifier, KernelTrial
from anysize.kernels.wl import WLKernel
from anysize.metrics import accuracy, mcc


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
    monkeypatch.setattr("anysize.kernels.svm.SVC", partial(SVC, tol=1e-9))
    monkeypatch.setattr("anysize.kernels.pairwise_svm.TOLERANCE", 1e-9)
    expected = KernelClassifier(kernel, C=C, class_weight="balanced").fit(train)
    monkeypatch.setattr("anysize.kernels.svm.gram", None)  # never called
    monkeypatch.setattr("anysize.kernels.svm.MAX_GRAM", 1)
    model = KernelClassifier(kernel, C=C, class_weight="balanced").fit(train)
    within = 1e-6 if C <= 1 else 1e-4  # SVC rounds inner products to single precision
    margins = expected.decision_function(test)
    np.testing.assert_allclose(model.decision_function(test), margins, rtol=within, atol=within)
    assert model.predict(test).tolist() == expected.predict(test).tolist()
    assert model.best_.train == expected.best_.train
    restored = KernelClassifier.from_state(*model.state())
    np.testing.assert_array_equal(restored.decision_function(test), model.decision_function(test))
    if isinstance(kernel, WLKernel):
        found, reference = model.explain(test[0]), expected.explain(test[0])
        assert found.margin == pytest.approx(reference.margin, abs=within)
        np.testing.assert_allclose(found.vertices, reference.vertices, rtol=within, atol=within)


@pytest.mark.parametrize("held_out", [True, False])
def test_without_a_gram_matrix_the_same_configuration_is_selected(
    held_out: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs = three_classes()
    train, validation = graphs[::2], graphs[1::2]
    model = KernelClassifier(WLKernel(), grid={"iterations": (1, 2)}, C=(1e-2, 1.0), folds=3)
    expected = clone(model).fit(train, validation=validation if held_out else None).trials_
    monkeypatch.setattr("anysize.kernels.svm.MAX_GRAM", 1)
    assert model.fit(train, validation=validation if held_out else None).trials_ == expected


def test_the_first_best_configuration_is_selected_and_ties_are_counted() -> None:
    graphs = three_classes()
    train, validation = graphs[::2], graphs[1::2]
    grid = {"normalize": (False, True), "iterations": (1, 2)}
    model = KernelClassifier(WLKernel(), grid=grid, C=(1e-3, 1.0, 1e3, 1e4)).fit(train, validation=validation)
    order = [(t.settings, t.C) for t in model.trials_]
    combos = [(("normalize", a), ("iterations", b)) for a, b in product(*grid.values())]
    assert order == list(product(combos, (1e-3, 1.0, 1e3, 1e4)))
    scores = [trial.validation for trial in model.trials_]
    assert model.best_ is model.trials_[int(np.argmax(scores))]
    assert model.tied_ == scores.count(max(scores))
    assert 1 < model.tied_ < len(scores)  # scores differ, and there is a tie
    again = KernelClassifier(model.kernel_, C=model.best_.C).fit(train)
    assert again.best_ == KernelTrial((), model.best_.C, model.best_.train, pytest.approx(np.nan, nan_ok=True))
    assert model.best_.train == accuracy(train.y, again.predict(train))
    assert model.best_.validation == accuracy(validation.y, again.predict(validation))
    assert dict(model.best_.settings)["iterations"] == model.kernel_.iterations


def test_validation_goes_by_the_score_asked_for() -> None:
    graphs = three_classes()
    train, validation = graphs[::2], graphs[1::2]
    models = [
        KernelClassifier(WLKernel(1), scoring=name).fit(train, validation=validation) for name in ("accuracy", "mcc")
    ]
    for model, score in zip(models, (accuracy, mcc), strict=True):
        assert model.best_.validation == score(validation.y, model.predict(validation))
    assert models[0].best_.validation != models[1].best_.validation


def test_labels_may_come_apart_from_graphs() -> None:
    graphs = three_classes()
    train, validation = graphs[::2], graphs[1::2]
    bare = [part.with_y(None) for part in (train, validation)]
    names = {"tree": 7, "ring": -2, "random": 3}
    y = [[names[label] for label in part.y.tolist()] for part in (train, validation)]
    model = KernelClassifier(WLKernel(2)).fit(bare[0], y[0], validation=(bare[1], y[1]))
    same = KernelClassifier(WLKernel(2)).fit(train, validation=validation)
    assert model.classes_.tolist() == [-2, 3, 7]
    assert model.best_.validation == same.best_.validation
    objects = KernelClassifier(WLKernel(2), C=1.0).fit(bare[0], np.array(train.y.tolist(), object))
    assert objects.predict(train).dtype.kind == "U"


def test_folds_replace_validation_graphs() -> None:
    graphs = three_classes()
    model = KernelClassifier(WLKernel(), grid={"iterations": (1, 2)}, folds=3).fit(graphs)
    assert len(model.trials_) == 2 * len(C_GRID)
    # the score of the chosen configuration, with a kernel fitted anew on the training part of every fold
    scores = []
    for train, test in StratifiedKFold(3).split(graphs.y, graphs.y):
        part = KernelClassifier(model.kernel_, C=model.best_.C).fit(graphs[train])
        scores.append(accuracy(graphs[test].y, part.predict(graphs[test])))
    assert model.best_.validation == pytest.approx(np.mean(scores), abs=1e-12)
    with pytest.raises(ValueError, match="fewer folds"):
        KernelClassifier(WLKernel(), folds=50).fit(graphs)


@pytest.mark.parametrize(
    ("change", "extra", "message"),
    [
        ({"scoring": "auc"}, {}, "scoring must be one of accuracy, mcc"),
        ({"C": ()}, {}, "at least one value"),
        ({"grid": {"iterations": ()}}, {}, "at least one value"),
        ({}, {"y": [1, 2]}, "42 graphs"),
        ({}, {"y": [1] * 42}, "at least two classes"),
        ({}, {"y": np.array([None, "a"] * 21, object)}, "NoneType, str"),
        ({}, {"validation": three_classes().with_y(None)}, "pass y"),
        ({}, {"validation": three_classes()[:0]}, "at least one graph"),
        ({}, {"validation": (1, 2, 3)}, "tuple of length 3"),
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
    assert model.score(graphs, graphs.y) == accuracy(graphs.y, model.predict(graphs))
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
    model = KernelClassifier(kernel, C=(1.0, 10.0), folds=2).fit(train, y)
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
