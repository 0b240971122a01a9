"""Estimators as scikit-learn sees them, although its base classes are imported late."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

import anysize as az
from anysize.kernels import GraphletKernel, KernelClassifier, WLKernel

ESTIMATORS = (
    az.GraphClassifier("wl-kernel", k=(3, 4), params={"C": 2.0}), az.GraphRegressor(check=False),
    KernelClassifier(WLKernel(2), C=0.5), WLKernel(normalize=True), GraphletKernel(k=3, top=5),
)  # fmt: skip


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_it_has_what_a_subclass_of_scikit_learn_has(estimator: BaseEstimator) -> None:
    """The same parameters, text, tags and attributes as the class would have with these bases from the start."""
    names = vars(type(estimator))["__init__"].__code__.co_varnames[1:]
    reference = type(
        type(estimator).__name__, (BaseEstimator,), {"__init__": vars(type(estimator))["__init__"]}
    )(**{name: getattr(estimator, name) for name in names})  # fmt: skip
    assert estimator.get_params() == reference.get_params()
    assert repr(estimator) == repr(reference)
    assert repr(clone(estimator)) == repr(estimator)
    assert [name for name in dir(BaseEstimator) if not name.startswith("__") and not hasattr(estimator, name)] == []
    assert type(estimator).__name__ in estimator._repr_html_()
    assert not hasattr(estimator, "no_such_name")


def test_tags_say_what_kind_of_estimator_it_is() -> None:
    assert [is_classifier(each) for each in ESTIMATORS] == [True, False, True, False, False]
    assert [is_regressor(each) for each in ESTIMATORS] == [False, True, False, False, False]
    assert [get_tags(each).transformer_tags is not None for each in ESTIMATORS] == [False, False, False, True, True]


def test_parameters_are_set_in_place_and_nested_ones_reached() -> None:
    model = clone(ESTIMATORS[2])
    assert model.set_params(C=3.0, kernel__iterations=1) is model
    assert (model.C, model.kernel.iterations) == (3.0, 1)
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        model.set_params(depth=3)


def test_what_is_not_fitted_says_so() -> None:
    with pytest.raises(NotFittedError, match="GraphClassifier instance is not fitted"):
        az.GraphClassifier().predict([nx.path_graph(3)])


def test_a_model_is_loaded_and_predicts_without_scikit_learn(tmp_path: Path) -> None:
    graphs = az.GraphSet.from_networkx(
        [nx.cycle_graph(n) for n in range(6, 26)] + [nx.path_graph(n) for n in range(6, 26)], y=[0, 1] * 20
    )
    model = az.GraphClassifier("sizemix", check=False).fit(graphs, ["ring"] * 20 + ["path"] * 20)
    model.save(tmp_path / "model.anysize")
    code = (
        "import sys, anysize as az\n"
        "model = az.load_model('model.anysize')\n"
        "graphs = az.GraphSet.from_edges([[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3)]])\n"
        "print(model.predict(graphs).tolist())\n"
        "print([name for name in ('sklearn', 'pandas', 'torch', 'scipy.stats') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["['ring', 'path']", "[]"]
