"""GraphClassifier: scikit-learn's conventions, every kind of input, ensembles, validation, and what is refused."""

from __future__ import annotations

import re
import runpy
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from learned import as_networkx, labeled, labels
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import Pipeline

from anysize import Counts, GraphClassifier, GraphSet, GraphWarning, ModelWarning, count, load_model
from anysize.estimators.classifier import weights_of
from anysize.estimators.ensemble import MAX_LOSS
from anysize.estimators.verdict import Verdict, judge
from anysize.methods.catalog import find_method
from anysize.methods.method import Examples, Run, TrainingData
from anysize.splits import bootstrap_by_class, hold_out_by_class

WILD = Run({"hidden": 32, "layers": 1, "lr": 1e6}, 0)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return labeled(24)


@pytest.fixture(scope="module")
def large() -> GraphSet:
    return labeled(12, sizes=(24, 30), seed=5)


@pytest.fixture(scope="module")
def table(graphs: GraphSet) -> Counts:
    return count(graphs, 3)


def quick(method: str = "gamma-gin", params: dict[str, Any] | None = None, **settings: Any) -> GraphClassifier:
    """A classifier with k = 3 and, for methods that are trained in epochs, 60 of them."""
    epochs = {"epochs": 60} if find_method(method).has_epochs else {}
    return GraphClassifier(method, k=3, params={**epochs, **(params or {})}, **settings)


# ---- scikit-learn ----------------------------------------------------------------------------------


def test_parameters_are_stored_untouched_and_cloned() -> None:
    weights, sizes = {"dense": 2.0}, [3, 4]
    model = GraphClassifier("gamma-gin", k=sizes, class_weight=weights, validation="nonsense", params={"lr": -3})  # type: ignore[arg-type]
    assert model.get_params()["k"] is sizes
    assert model.class_weight is weights
    assert clone(model).get_params() == model.get_params()
    assert clone(model).set_params(k=4, random_state=7).get_params()["random_state"] == 7
    assert not hasattr(model, "classes_")


@pytest.mark.parametrize("kind", ["set", "list", "table"])
def test_cross_validation_cuts_up_every_kind_of_input(kind: str, graphs: GraphSet, table: Counts) -> None:
    x: Any = {"set": graphs, "list": as_networkx(24), "table": table}[kind]
    scores = cross_val_score(quick(color="atom"), x, np.array(labels(24)), cv=3, error_score="raise")
    assert scores.shape == (3,)
    assert scores.mean() > 0.9
    left, right, y, _ = train_test_split(x, labels(24), random_state=0, test_size=8)
    assert (len(left), len(right)) == (16, 8)
    assert quick(color="atom").fit(left, y).predict(right).shape == (8,)


def test_folds_of_a_set_are_the_graphs_they_should_be(graphs: GraphSet, table: Counts) -> None:
    rows = np.array([5, 0, 17])
    left, right = train_test_split(graphs, test_size=3, shuffle=False)
    assert left.equals(graphs[:21])
    assert right.equals(graphs[21:])
    assert graphs[rows, ...].equals(graphs[rows])
    np.testing.assert_array_equal(table[rows, ...].matrix.toarray(), table.matrix.toarray()[rows])


def test_a_grid_is_searched_in_two_processes(graphs: GraphSet) -> None:
    grid = {"params__hidden": [4, 16], "params__lr": [0.01, 1e-9]}
    search = GridSearchCV(quick(), grid, cv=2, n_jobs=2, error_score="raise").fit(graphs, np.asarray(graphs.y))
    assert search.best_params_["params__lr"] == 0.01
    assert search.best_estimator_.params == {"epochs": 60, "hidden": search.best_params_["params__hidden"], "lr": 0.01}
    assert search.best_estimator_.score(graphs) == search.score(graphs, graphs.y) > 0.9


def test_ensembles_of_scikit_learn_take_graphs(graphs: GraphSet, large: GraphSet) -> None:
    members = [("gamma", quick()), ("densities", quick("topology-only"))]
    for model in (
        VotingClassifier(members, voting="soft"),
        StackingClassifier(members, cv=2),
        CalibratedClassifierCV(quick("topology-only"), cv=2),
        OneVsRestClassifier(quick("topology-only")),
    ):
        assert model.fit(graphs, graphs.y).score(large, large.y) > 0.9
        assert model.classes_.tolist() == ["dense", "sparse"]


def test_data_frames_that_are_asked_of_scikit_learn_change_nothing_inside(graphs: GraphSet, tmp_path: Path) -> None:
    for method in ("topology-only", "wl-kernel"):  # fit compares every model with baselines, which are pipelines
        expected = quick(method).fit(graphs).predict_proba(graphs)
        with config_context(transform_output="pandas"):
            model = quick(method).fit(graphs)
            model.save(tmp_path / "model.anysize")
            np.testing.assert_array_equal(model.predict_proba(graphs), expected)


@pytest.mark.parametrize("method", ["gamma-gin", "gin-sum", "rpgin"])
def test_what_a_user_sets_for_all_of_torch_changes_nothing_inside(
    method: str, graphs: GraphSet, tmp_path: Path
) -> None:
    expected = quick(method).fit(graphs).predict_proba(graphs)
    torch.set_default_dtype(torch.float64)
    try:
        with torch.no_grad():
            model = quick(method).fit(graphs)
        model.save(tmp_path / "model.anysize")
        for one in (model, load_model(tmp_path / "model.anysize")):
            np.testing.assert_array_equal(one.predict_proba(graphs), expected)
        assert torch.get_default_dtype() == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


@pytest.mark.parametrize("classes", [2, 3])
def test_scores_rank_classes_as_the_prediction_does(classes: int, graphs: GraphSet, large: GraphSet) -> None:
    y = np.arange(len(graphs)) % classes
    model = quick("size-only").fit(graphs, y)
    chances, logs, scores = model.predict_proba(large), model.predict_log_proba(large), model.decision_function(large)
    np.testing.assert_allclose(np.exp(logs), chances, atol=1e-15)
    assert scores.shape == ((len(large),) if classes == 2 else (len(large), classes))
    expected = np.log(chances.clip(np.finfo(np.float64).eps))
    np.testing.assert_allclose(scores, expected[:, 1] - expected[:, 0] if classes == 2 else expected)
    ranked = (scores > 0).astype(int) if classes == 2 else scores.argmax(axis=1)
    assert np.array_equal(ranked, model.predict(large))


def test_scores_are_finite_where_probabilities_are_0(graphs: GraphSet, large: GraphSet) -> None:
    model = quick("random").fit(graphs)
    assert (model.predict_proba(large) == 0).any()
    assert np.isfinite(model.predict_log_proba(large)).all()
    assert np.isfinite(model.decision_function(large)).all()


def test_predictions_do_not_depend_on_the_number_of_threads(graphs: GraphSet) -> None:
    """So many rows that torch divides sums among threads."""
    many = count(labeled(300, sizes=(24, 40), seed=5), 5)
    model = GraphClassifier("gamma-rpgin", k=5, params={"epochs": 2, "hidden": 64}, check=False).fit(graphs)
    alone = model.predict_proba(many)
    torch.set_num_threads(2)
    np.testing.assert_array_equal(model.predict_proba(many), alone)
    assert torch.get_num_threads() == 2


def test_it_is_the_last_step_of_a_pipeline(graphs: GraphSet) -> None:
    pipe = Pipeline([("model", quick())]).set_params(model__params={"epochs": 60, "hidden": 8})
    assert pipe.fit(graphs, graphs.y).score(graphs, graphs.y) > 0.9
    assert pipe[-1].ensemble_.parts[0].runs == (Run({"hidden": 8, "lr": 0.01, "layers": 1, "penalty": 0.1}, 0),)


def test_asking_before_fitting(graphs: GraphSet) -> None:
    for ask in ("predict", "predict_proba", "representation", "explain", "score"):
        with pytest.raises(NotFittedError):
            getattr(GraphClassifier(), ask)(graphs[0])
    with pytest.raises(NotFittedError):
        GraphClassifier().save("nowhere")


def test_arrays_that_may_not_be_written_to(graphs: GraphSet) -> None:
    """Large arrays reach the processes of joblib as read-only memory maps."""
    parts = {name: getattr(graphs, name).copy() for name in ("first", "indptr", "indices", "colors", "y")}
    for array in parts.values():
        array.flags.writeable = False
    assert quick().fit(replace(graphs, **parts)).score(graphs) > 0.9


# ---- what comes in ---------------------------------------------------------------------------------


def test_all_kinds_of_graphs_give_the_same_model(graphs: GraphSet, table: Counts) -> None:
    expected = quick().fit(graphs).predict_proba(graphs)
    pyg = graphs.with_y((np.asarray(graphs.y) == "sparse").astype(int)).to_pyg()
    for other, y, color in (
        (table, None, None),
        (as_networkx(24), labels(24), "atom"),
        (list(graphs), np.array(labels(24), object), "ignored for sets"),
        (pyg, None, "x"),
    ):
        found = quick(color=color).fit(other, y)
        np.testing.assert_array_equal(found.predict_proba(other), expected)
        assert found.score(other, y) > 0.9


@pytest.mark.parametrize("y", [[True, False], [3, -1], [0.0, 2.0], ["b", "a"], np.array(["long name", "x"], object)])
def test_labels_of_any_type_come_back(y: Any, graphs: GraphSet) -> None:
    wanted = np.array([y[number % 2] for number in range(24)])
    model = quick().fit(graphs, wanted)
    assert model.classes_.tolist() == sorted(y)
    found = model.predict(graphs)
    assert found.dtype == wanted.dtype or wanted.dtype == object
    assert np.mean(found == wanted) > 0.9


def test_labels_may_be_a_column(graphs: GraphSet) -> None:
    codes = [number % 2 for number in range(24)]
    for y in (np.array(codes)[:, None], [torch.tensor([code]) for code in codes], np.array([["a"], ["b"]])[codes]):
        model = quick("wl-kernel").fit(graphs, y)
        np.testing.assert_array_equal(model.predict_proba(graphs), quick("wl-kernel").fit(graphs).predict_proba(graphs))


def test_colors_are_matched_by_name(graphs: GraphSet) -> None:
    model = quick().fit(graphs)
    wider = graphs.with_palette((0, "A", "AA", "B"))
    np.testing.assert_array_equal(model.predict_proba(wider), model.predict_proba(graphs))


def test_a_table_cut_from_a_larger_one_is_as_good_as_one_of_the_graphs_alone(graphs: GraphSet) -> None:
    """Columns of the larger table that the rows do not have must not reach the one-hot model as untrained weights."""
    whole = count(labeled(24, colors="ABCDEFGH"), 3)
    rows = np.arange(8)
    alone = count(labeled(24, colors="ABCDEFGH")[:8], 3)
    assert len(alone.columns) < len(whole.columns)
    first, second = (quick("gamma-1hot", validation=0).fit(t).ensemble_.parts[0] for t in (whole[rows], alone))
    state, own = first.state()[1]["model.representation.rows"], first.stack.vocabulary.columns  # type: ignore[attr-defined]
    there = np.isin([p.name for p in own.patterns], [p.name for p in alone.patterns])
    assert (state[:, ~there] == 0).all()
    assert (state[:, there] != 0).any(axis=(0, 2)).all()
    assert second.state()[1]["model.representation.rows"].shape[1] == there.sum()


# ---- training --------------------------------------------------------------------------------------


def test_it_learns_on_small_graphs_what_holds_for_large_ones(graphs: GraphSet, large: GraphSet) -> None:
    model = GraphClassifier("gamma-gin", k=4, n_models=3, params={"epochs": 100}).fit(graphs)
    assert model.score(large) == 1.0
    assert (model.predict(large) == large.y).all()
    assert model.set_params(metric="mcc").score(large) == 1.0


def test_several_models_are_averaged(graphs: GraphSet, large: GraphSet) -> None:
    many = quick(n_models=3, random_state=4, params={"epochs": 10}).fit(graphs)  # few: rounding must not grow
    assert many.ensemble_.seeds == (4, 5, 6)
    alone = [quick(random_state=seed, params={"epochs": 10}).fit(graphs) for seed in (4, 5, 6)]
    mean = np.mean([model.predict_proba(large) for model in alone], axis=0)
    np.testing.assert_allclose(many.predict_proba(large), mean, atol=1e-4)
    assert not np.allclose(alone[0].predict_proba(large), alone[1].predict_proba(large))
    side_by_side = np.hstack([model.representation(large) for model in alone])
    np.testing.assert_allclose(many.representation(large), side_by_side, atol=1e-3)
    assert many.curves_["loss"].shape == (10, 3)


@pytest.mark.parametrize("method", ["wl-kernel", "sizemix", "auto"])
def test_models_that_do_not_differ_by_seed_are_fitted_to_bootstrap_samples(method: str) -> None:
    noisy = labeled(40, sizes=(8, 10, 12, 14))
    y = np.where(
        np.random.default_rng(0).random(40) < 0.25, 1 - np.asarray(noisy.y == noisy.y[0]), noisy.y == noisy.y[0]
    )
    model = GraphClassifier(method, k=3, n_models=3, check=False).fit(noisy, y)
    each = model.predict_proba(noisy, per_model=True)
    assert each.shape == (3, 40, 2)
    assert each.std(axis=0).max() > 0.01
    sample = noisy[bootstrap_by_class(y, 1)]
    alone = GraphClassifier(method, k=3, random_state=1, check=False).fit(sample, y[bootstrap_by_class(y, 1)])
    np.testing.assert_allclose(each[1], alone.predict_proba(noisy), atol=1e-6)


def test_more_models_than_fit_one_stack_stay_in_the_order_of_their_seeds(graphs: GraphSet) -> None:
    many = quick(n_models=18, params={"epochs": 2}).fit(graphs)
    assert len(many.ensemble_.parts) == 2
    assert many.ensemble_.seeds == tuple(range(18))
    last = quick(random_state=17, params={"epochs": 2}).fit(graphs)
    width = last.representation(graphs).shape[1]
    np.testing.assert_allclose(many.representation(graphs)[:, -width:], last.representation(graphs), atol=1e-4)
    np.testing.assert_allclose(many.curves_["loss"][:, 17], last.curves_["loss"][:, 0], atol=1e-5)


def test_validation_graphs_are_held_out_where_the_recipe_chooses_an_epoch(graphs: GraphSet) -> None:
    assert len(quick().fit(graphs).held_out_) == 0
    paper = quick(recipe="paper", random_state=3, params={"epochs": 30}).fit(graphs)
    assert sorted(np.asarray(graphs.y)[paper.held_out_]) == ["dense", "sparse"]
    assert np.isfinite(paper.curves_["validation_score"]).all()
    best = paper.curves_["validation_score"][:, 0]
    assert paper.epochs_.tolist() == [int(np.argmax(best))]
    last = quick(recipe="paper", validation=0, params={"epochs": 30}).fit(graphs)
    assert (len(last.held_out_), last.epochs_.tolist()) == (0, [29])
    third = quick(validation=1 / 3).fit(graphs)
    assert len(third.held_out_) == 8


def test_held_out_graphs_are_a_share_of_every_class() -> None:
    y = np.repeat([0, 1, 2, 3], [50, 10, 2, 1])
    chosen = hold_out_by_class(y, 0.2, seed=0)
    assert np.bincount(y[chosen], minlength=4).tolist() == [10, 2, 1, 0]
    assert hold_out_by_class(y, 0.2, seed=0).tolist() == chosen.tolist() != hold_out_by_class(y, 0.2, seed=1).tolist()
    assert len(hold_out_by_class(y, 0.99, seed=0)) == 49 + 9 + 1
    assert len(hold_out_by_class(y, 0.0, seed=0)) == 0


def test_labels_of_another_kind_are_no_zero_score(graphs: GraphSet) -> None:
    numbers = np.array([0, 1] * 12)
    model = GraphClassifier("majority").fit(graphs, numbers)
    for metric in ("accuracy", "mcc"):
        with pytest.raises(ValueError, match="labels are strings, such as '0'"):
            model.set_params(metric=metric).score(graphs, numbers.astype(str))
    with pytest.raises(ValueError, match="labels are strings"):
        GraphClassifier("gin-sum", params={"epochs": 1}).fit(graphs, numbers, validation=(graphs, numbers.astype(str)))
    with pytest.raises(NotFittedError):
        GraphClassifier("majority").score(graphs, numbers)


def test_validation_graphs_that_are_passed(graphs: GraphSet, table: Counts) -> None:
    rest, own = graphs[:16], graphs[16:]
    model = quick(recipe="paper").fit(rest, validation=own)
    assert len(model.held_out_) == 0
    assert np.isfinite(model.curves_["validation_score"]).all()
    pair = quick(recipe="paper").fit(rest, validation=(own.with_y(None), own.y))
    counted = quick(recipe="paper").fit(count(rest, 3), validation=count(own, 3))
    for other in (pair, counted):
        np.testing.assert_array_equal(other.predict_proba(graphs), model.predict_proba(graphs))
    for wrong, told in (
        (own.with_y(["other"] * 8), "class 'other', which no training graph has"),
        (own[:0], "validation has no graphs"),
        ((own,), "a tuple of length 1"),
        (own.without_colors(), "with colors and these have none"),
        (own.with_y(None), "pass y"),
    ):
        with pytest.raises(ValueError, match=told):
            quick(recipe="paper").fit(rest, validation=wrong)


def test_class_weights(graphs: GraphSet) -> None:
    y = np.array([0, 0, 0, 1])
    names = np.array(["a", "b"])
    np.testing.assert_allclose(weights_of("balanced", names, y, np.ones(4)), [4 / 6, 4 / 2])  # as scikit-learn has it
    np.testing.assert_array_equal(weights_of({"b": 3}, names, y, np.ones(4)), [1, 3])
    assert weights_of(None, names, y, np.ones(4)) is None
    hidden = np.array([f"{i % 5 == 0}" for i in range(24)])  # a fifth, at random: only weights decide
    share = {
        weight: np.mean(quick(class_weight=weight).fit(graphs, hidden).predict_proba(graphs)[:, 1])
        for weight in (None, "balanced")
    }
    assert share["balanced"] > share[None] + 0.1
    for wrong, told in (
        ({"c": 1}, "class_weight names 'c'"),
        ({"a": -1}, "at least 0"),
        ({"a": 0, "b": 0}, "not all 0"),
        ("equal", "'balanced', None or a mapping"),
    ):
        with pytest.raises(ValueError, match=told):
            weights_of(wrong, names, y, np.ones(4))
    with pytest.raises(ValueError, match=r"names '1', .* did you mean 1"):
        weights_of({"1": 2}, np.array([0, 1]), y, np.ones(4))


def test_environments_of_invariant_risk_minimization(graphs: GraphSet) -> None:
    model = quick("gin-irm").fit(graphs, environments="size")
    other = quick("gin-irm").fit(graphs, environments=np.where(graphs.sizes > 10, "large", "small"))
    same = quick("gin-irm").fit(graphs)
    np.testing.assert_array_equal(other.predict_proba(graphs), same.predict_proba(graphs))
    assert not np.array_equal(other.predict_proba(graphs), model.predict_proba(graphs))
    weighted = quick("gin-sum", params={"irm": 4.0}).fit(graphs)
    assert not np.array_equal(weighted.predict_proba(graphs), quick("gin-sum").fit(graphs).predict_proba(graphs))
    with pytest.raises(ValueError, match="all 8 training graphs are in one"):
        quick("gin-irm", validation=0).fit(graphs[graphs.sizes == 9])
    with pytest.raises(ValueError, match="gamma-gin does not compare environments"):
        quick().fit(graphs, environments=np.zeros(24))
    with pytest.raises(ValueError, match="one environment for each of the 24 graphs"):
        quick("gin-irm").fit(graphs, environments=[0, 1])
    with pytest.raises(ValueError, match="'median', 'size' or one value per graph"):
        quick("gin-irm").fit(graphs, environments="color")


def test_params_reach_the_training(graphs: GraphSet) -> None:
    params = {
        "hidden": np.int64(8), "layers": 2, "lr": np.float64(0.02), "jumping": True, "batch_size": 10, "penalty": 0.25,
    }  # fmt: skip
    model = quick(params={**params, "over": "maps", "top": 5}).fit(graphs)
    stack: Any = model.ensemble_.parts[0]
    member = stack.stack.members[0]
    assert {name: getattr(member, name) for name in params} == params
    assert stack.stack.vocabulary.over == "maps"
    assert len(stack.stack.vocabulary.columns) == 5


def test_several_pattern_sizes(graphs: GraphSet) -> None:
    model = GraphClassifier("gamma-gin", k=[3, 2], params={"epochs": 20}).fit(graphs)
    assert model.ensemble_.k == (2, 3)
    np.testing.assert_array_equal(model.predict_proba(count(graphs, (2, 3))), model.predict_proba(graphs))


def test_counts_are_kept_in_a_cache(graphs: GraphSet, tmp_path: Any) -> None:
    model = quick(cache=tmp_path / "cache").fit(graphs)
    before = sorted((tmp_path / "cache").rglob("*"))
    assert before
    model.predict(graphs)
    assert sorted((tmp_path / "cache").rglob("*")) == before
    assert model.score(graphs) == quick().fit(graphs).score(graphs)


def test_progress_is_shown_with_verbose(
    graphs: GraphSet, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anysize._progress.DELAY_SECONDS", 0.0)
    monkeypatch.setattr("anysize._progress.SECONDS_BETWEEN_LINES", 0.0)
    quick().fit(graphs).predict(graphs)
    assert capsys.readouterr() == ("", "")
    quick(verbose=1).fit(graphs)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "training" in shown.err
    assert "left" in shown.err


def test_vertices_without_a_known_color_have_no_features(graphs: GraphSet) -> None:
    """Two colors that training never saw cannot be told apart."""
    model = quick("gamma-gin").fit(graphs)
    one, other = labeled(4, colors="AY"), labeled(4, colors="AZ")
    with pytest.warns(GraphWarning, match=r"4 of 4 graphs have colors that no training graph had \(Y\)"):
        first = model.predict_proba(one)
    with pytest.warns(GraphWarning, match=r"had \(Z\)"):
        np.testing.assert_array_equal(model.predict_proba(other), first)


def test_graphs_without_patterns_all_get_the_same_answer(graphs: GraphSet) -> None:
    model = quick().fit(graphs)
    tiny = GraphSet.from_edges([[], [(0, 1)]], n_vertices=[1, 2], colors=[["A"], ["A", "B"]])
    with pytest.warns(GraphWarning, match="2 of 2 graphs have no connected subgraph on 3 vertices"):
        chances = model.predict_proba(tiny)
    np.testing.assert_array_equal(chances[0], chances[1])
    mixed = tiny + graphs
    with pytest.warns(GraphWarning, match="2 of 26 graphs have no connected subgraph on 3 vertices"):
        among_others = model.predict_proba(mixed)
    np.testing.assert_allclose(among_others[2:], model.predict_proba(graphs), atol=1e-6)
    assert quick().fit(mixed, ["dense", "sparse", *labels(24)]).score(graphs) > 0.9  # nor do they harm training


def test_the_example_runs_and_keeps_what_it_promises(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(Path(__file__).parents[2] / "examples" / "classify_your_graphs.py"))
    told = capsys.readouterr().out
    assert "predicts the same: True" in told
    assert float(re.search(r"accuracy on large graphs: (\S+)", told)[1]) >= 0.95  # type: ignore[index]


# ---- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "gamma-gni"}, "did you mean gamma-gin"),
        ({"recipe": "papr"}, "recipe must be one of robust, paper; got 'papr'"),
        ({"k": 9}, "k must be an integer from 1 to 7; got 9"),
        ({"k": []}, "k needs at least one pattern size"),
        ({"n_models": 0}, "n_models must be a whole number of at least 1"),
        ({"random_state": -1}, "random_state must be a whole number of at least 0"),
        ({"random_state": None}, "random_state must be"),
        ({"validation": 1.0}, "share of the training graphs"),
        ({"validation": "half"}, "share of the training graphs"),
        ({"metric": "auc"}, "metric must be one of accuracy, mcc"),
        ({"device": "tpu"}, "device must be cpu, cuda"),
    ],
)
def test_wrong_parameters_are_named(settings: dict[str, Any], message: str, graphs: GraphSet) -> None:
    with pytest.raises(ValueError, match=message):
        GraphClassifier(**{"k": 3, **settings}).fit(graphs)


@pytest.mark.parametrize(
    ("method", "params", "message"),
    [
        ("gamma-gin", {"lr": 0}, "lr must be a number above 0"),
        ("gamma-gin", {"lr": "fast"}, "lr must be a number above 0"),
        ("gamma-gin", {"lr": float("nan")}, "lr must be a number above 0"),
        ("gamma-gin", {"hidden": 2.5}, "hidden must be a whole number"),
        ("gamma-gin", {"layers": True}, "layers must be a whole number"),
        ("gamma-gin", {"jumping": 1}, "jumping must be True or False"),
        ("gamma-gin", {"penalty": -1}, "penalty must be a number of at least 0"),
        ("gamma-gin", {"epochs": 0}, "epochs must be a whole number of at least 1"),
        ("gamma-gin", {"batch_size": 1}, "batch_size must be a whole number of at least 2"),
        ("gamma-gin", {"top": 0}, "top must be a whole number"),
        ("gamma-gin", {"over": "all"}, "over must be one of subsets, maps, connected"),
        ("gamma-gin", {"irm": 1.0}, "gamma-gin has no parameter irm"),
        ("gin-sum", {"penalty": 0.1}, "gin-sum has no parameter penalty"),
        ("gin-sum", {"top": 3}, "gin-sum has no parameter top"),
        ("wl-kernel", {"hidden": 3}, "wl-kernel has no parameter hidden; its parameters are C, iterations"),
        ("gamma-1hot", {"layers": 2}, "gamma-1hot has no parameter layers"),
    ],
)
def test_wrong_params_are_named(method: str, params: dict[str, Any], message: str, graphs: GraphSet) -> None:
    with pytest.raises(ValueError, match=message):
        GraphClassifier(method, k=3, params=params).fit(graphs)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there(graphs: GraphSet) -> None:
    with pytest.raises(ValueError, match="needs a CUDA GPU"):
        quick(device="cuda").fit(graphs)
    assert quick(device="auto").fit(graphs).score(graphs) > 0.9


@pytest.mark.parametrize(
    ("y", "told"),
    [
        (["a"] * 24, "at least two classes; got \\['a'\\]"),
        (["a", "b"], "one label for each of the 24 graphs; got y of shape \\(2,\\)"),
        ([["a"] * 24], "a row of targets for each of the 24 graphs; got 1 row"),
        (np.linspace(0, 1, 24), "whole numbers or strings"),
        (["a", 1] * 12, "all be strings; got int, str"),
        (np.array(["a", None] * 12, object), "all be strings"),
        ([0.0, float("nan")] * 12, "graph 1 has nan"),
    ],
)
def test_wrong_labels(y: Any, told: str, graphs: GraphSet) -> None:
    with pytest.raises(ValueError, match=told):
        quick().fit(graphs, y)


def test_params_that_are_no_mapping_are_refused(graphs: GraphSet) -> None:
    with pytest.raises(ValueError, match="params must be a mapping"):
        GraphClassifier("majority", params=3).fit(graphs)  # type: ignore[arg-type]


def test_wrong_graphs(graphs: GraphSet, table: Counts) -> None:
    model = quick().fit(graphs)
    four = count(graphs, 4)
    plain = graphs.without_colors()
    for call, told in (
        (lambda: quick().fit(graphs[:0]), "expected training graphs; got none"),
        (lambda: quick().fit([]), "expected training graphs; got none"),
        (lambda: quick().fit(graphs.with_y(None)), "pass y"),
        (lambda: quick().fit(4), "Expected a GraphSet"),
        (lambda: quick().fit(four), "got a table with 4; count with k=3"),
        (lambda: model.predict(four), "got a table with 4"),
        (lambda: model.predict(count(plain, (3, 4))), "got a table with 3, 4"),
        (lambda: model.predict(count(plain, 3)), "with colors and these have none"),
        (lambda: quick("gin-sum").fit(table), "gin-sum uses whole graphs"),
        (lambda: quick("gin-sum").fit(graphs).predict(table), "gin-sum uses whole graphs"),
        (lambda: quick(params={"penalty": 0.1}).fit(plain), "needs vertex colors"),
        (lambda: quick(color="atom").fit(as_networkx(24), ["a"] * 23), "one label for each of the 24 graphs"),
    ):
        with pytest.raises(ValueError, match=told):
            call()


def test_graphs_that_are_all_too_small_to_learn_from() -> None:
    small = GraphSet.from_edges([[(0, 1)], [(0, 1), (1, 2)]] * 4, y=[0, 1] * 4)
    for graphs in (small, GraphSet.from_edges([[(0, 1)]] * 4, colors=[["A", "B"]] * 4, y=[0, 1] * 2)):
        with pytest.raises(ValueError, match="no training graph has a connected subgraph on 5 vertices"):
            GraphClassifier("gamma-gin", k=5).fit(graphs)
        assert GraphClassifier().fit(graphs).decision_.family == "sizemix"
    assert GraphClassifier("gamma-gin", k=2, params={"epochs": 5}).fit(small).predict(small).shape == (8,)


@pytest.mark.parametrize("method", ["gamma-gin", "gamma-rpgin", "gin-sum"])
@pytest.mark.parametrize("recipe", ["robust", "paper"])
def test_training_that_runs_away(method: str, recipe: Any, graphs: GraphSet) -> None:
    with pytest.raises(ValueError, match=r"training failed: the loss of .* use a smaller lr than 1e\+12"):
        quick(method, recipe=recipe, validation=0, params={"lr": 1e12}).fit(graphs)


def test_a_loss_far_above_guessing_is_no_model(graphs: GraphSet) -> None:
    with pytest.raises(ValueError, match=r"training failed: the loss of 2 of 2 models \(seed 0, 1\)"):
        quick(n_models=2, params={"lr": 1e6}).fit(graphs, np.random.default_rng(0).permutation(labels(24)))


def test_a_model_is_judged_by_its_own_loss_and_not_by_that_of_training() -> None:
    """Batch norm of training sees the training graphs; the model that is handed back has averages over epochs."""
    made = [nx.gnp_random_graph(20, p, seed=seed) for p in (0.3, 0.5) for seed in range(30)]
    graphs = GraphSet.from_networkx(made, y=[0] * 30 + [1] * 30)
    stack, told = find_method("gamma-gin"), []
    table, y = count(graphs, 3), np.asarray(graphs.y, np.int64)
    recipe = replace(stack.recipe("robust"), epochs=30, averages="torch", whiten=False)
    for part in stack.learner.fit(TrainingData(Examples(table=table, y=y), None, 2, k=3), [WILD], recipe):
        assert part.trained is not None
        chances = part.outputs(Examples(table=table))[0]
        with np.errstate(divide="ignore"):
            told.append((float(part.trained.curves["loss"][-1, 0]), float(-np.log(chances[np.arange(60), y]).mean())))
    ((training, own),) = told
    assert training < 1 < MAX_LOSS < own  # what this test is about
    with pytest.raises(ValueError, match=r"the loss of model 0 .* use a smaller lr than 1e\+06"):
        quick(params={"lr": 1e6, "epochs": 30, "averages": "torch", "whiten": False}).fit(graphs)


@pytest.mark.parametrize("method", ["gin-plain", "gin-ssr", "gin-sum", "gcn-mean"])
def test_vertices_that_are_all_alike_leave_nothing_to_learn(method: str) -> None:
    """All vertices of rings are alike to a GNN: it can say no more than the shares of classes, for any size."""
    rings = GraphSet.from_networkx([nx.cycle_graph(n) for n in range(5, 165)])
    model = GraphClassifier(method, check=False, params={"epochs": 20}).fit(rings, np.arange(160) % 2)
    large = model.predict_proba(GraphSet.from_networkx([nx.cycle_graph(500), nx.complete_graph(50)]))
    np.testing.assert_allclose(large, 0.5, atol=0.1)


def test_a_loss_that_only_prediction_has_is_not_blamed_on_lr_alone() -> None:
    """Random attention makes vertices of rings differ in training, and in training only."""
    rings = GraphSet.from_networkx([nx.cycle_graph(n) for n in range(5, 65)])
    with pytest.raises(ValueError, match=r"not with the batch norm of training; .* if the vertices .* alike"):
        GraphClassifier("gin-gsat", check=False).fit(rings, np.arange(60) % 2)


# ---- the verdict -----------------------------------------------------------------------------------


def test_the_verdict_has_the_scores_of_the_model_and_of_baselines(graphs: GraphSet) -> None:
    model = quick(validation=0.25).fit(graphs)
    kept = np.setdiff1d(np.arange(24), model.held_out_)
    verdict = model.verdict_
    assert verdict.train["model"] == model.score(graphs[kept])
    assert verdict.validation is not None
    assert verdict.validation["model"] == model.score(graphs[model.held_out_])
    for name in ("majority", "size-only", "topology-only"):
        baseline = GraphClassifier(name, k=3).fit(graphs[kept])
        assert verdict.train[name] == baseline.score(graphs[kept])
        assert verdict.validation[name] == baseline.score(graphs[model.held_out_])
    assert (verdict.metric, verdict.doubt, verdict.suggestions) == ("balanced_accuracy", None, ())
    assert model.verdict_ is verdict
    assert quick().fit(count(graphs, 3)).verdict_.train == quick().fit(graphs).verdict_.train
    assert quick().fit(graphs).verdict_.validation is None
    assert quick(metric="mcc").fit(graphs).verdict_.train["majority"] == 0.0
    assert "topology-only" not in quick("gin-sum").fit(graphs).verdict_.train, "nothing was counted"
    assert not hasattr(quick(), "verdict_")


def test_a_model_that_does_not_beat_sizes_is_doubted() -> None:
    """The label is the size, which densities do not show."""
    graphs = labeled(40, sizes=(9, 9, 15, 15))
    y = (graphs.sizes > 10).astype(int)
    with pytest.warns(ModelWarning, match="does not beat size-only .* try penalty 0 or method auto"):
        verdict = quick(params={"epochs": 3}).fit(graphs, y).verdict_
    assert verdict.train["size-only"] == 1.0
    assert "does not beat size-only on the training graphs" in str(verdict.doubt)
    assert verdict.suggestions == (("penalty", 0), ("method", "auto"))
    free = quick(params={"epochs": 3, "penalty": 0}).fit(graphs, y)
    assert free.verdict_.suggestions == (("method", "auto"),)
    assert GraphClassifier("majority").fit(graphs, y).verdict_.doubt is None


def test_weighted_models_are_compared_by_balanced_accuracy() -> None:
    """54 of 60 graphs are of one class: a model that finds half of the others has an accuracy of .75."""
    y = np.array([0] * 54 + [1] * 6)
    plain = GraphSet.from_edges([[] for _ in y], n_vertices=[10] * 60)
    predicted = np.array([0] * 42 + [1] * 12 + [0, 1] * 3)
    method = find_method("gin-sum")
    equal = verdict_of(Examples(graphs=plain, y=y), predicted, method=method.name)
    weighted = verdict_of(Examples(graphs=plain, y=y), predicted, method=method.name, weights=np.array([0.5, 5.0]))
    assert (equal.metric, equal.train["model"], equal.doubt is None) == ("accuracy", 0.75, False)
    assert (weighted.metric, weighted.doubt) == ("balanced_accuracy", None)
    assert weighted.train["model"] == pytest.approx((42 / 54 + 1 / 2) / 2)
    assert weighted.train["majority"] == 0.5


@pytest.mark.parametrize(
    ("amounts", "few"),
    [
        ((1, 1), 0),
        ((30, 1), 1),
        ((4, 30), 0),
        ((5, 5), None),
        ((2, 9, 9), 0),
        ((3, 3, 3), None),
        ((9,) * 20 + (1,), 20),
    ],
)
def test_a_class_that_guessing_may_get_right_is_doubted(amounts: tuple[int, ...], few: int | None) -> None:
    """A guess among c classes is right on all n graphs of a class with probability c^-n; one graph shows nothing."""
    names = np.array([f"class {number}" for number in range(len(amounts))])
    y = np.repeat(np.arange(len(amounts)), amounts)
    plain = Examples(graphs=GraphSet.from_edges([[] for _ in y], n_vertices=[10] * len(y)), y=y)
    verdict = verdict_of(plain, y, method="gin-sum", names=names)
    assert verdict.train["model"] == 1.0
    if few is None:
        assert verdict.doubt is None
    else:
        assert repr(f"class {few}") in str(verdict.doubt)
    baseline = verdict_of(plain, y, method="majority", names=names)
    assert baseline.doubt is None


def test_few_graphs_of_one_class_do_not_hide_that_a_model_is_no_better_than_a_baseline() -> None:
    y = np.repeat([0, 1, 2], [20, 20, 1])
    plain = Examples(graphs=GraphSet.from_edges([[] for _ in y], n_vertices=[10] * len(y)), y=y)
    names = np.array(["a", "b", "c"])
    verdict = verdict_of(plain, np.zeros(len(y), np.int64), method="gamma-1hot", names=names)
    assert "'c'" in str(verdict.doubt)
    assert "does not beat" in str(verdict.doubt)
    assert verdict.suggestions


@pytest.mark.parametrize("k", [3, (2, 3)])
def test_a_saved_kernel_on_patterns_of_one_or_several_sizes_predicts_the_same(k: Any, tmp_path: Path) -> None:
    graphs = [nx.gnp_random_graph(9, p, seed=seed) for p in (0.3, 0.6) for seed in range(8)]
    model = GraphClassifier("gc-kernel", k=k).fit(graphs, [0] * 8 + [1] * 8)
    model.save(tmp_path / "model.anysize")
    loaded = load_model(tmp_path / "model.anysize")
    np.testing.assert_array_equal(loaded.predict_proba(graphs), model.predict_proba(graphs))


def test_exact_and_sampled_counts_do_not_mix() -> None:
    graphs = [nx.gnp_random_graph(9, p, seed=seed) for p in (0.3, 0.6) for seed in range(8)]
    y = [0] * 8 + [1] * 8
    sampled = count(graphs, 3, engine="sample", samples=50)
    with pytest.raises(ValueError, match="all exact"):
        GraphClassifier("gamma-gin", k=3, recipe="paper").fit(count(graphs, 3), y, validation=(sampled, y))


def test_fit_warns_of_very_few_graphs() -> None:
    pair = [nx.path_graph(8), nx.complete_graph(8)]
    with pytest.warns(ModelWarning, match="too few graphs") as found:
        model = GraphClassifier("wl-kernel").fit(pair, ["path", "clique"])
    assert [str(one.message) for one in found] == [model.verdict_.doubt]


def test_classes_are_balanced_by_default_except_in_the_papers_recipe(graphs: GraphSet) -> None:
    rare = np.array([f"{i % 5 == 0}" for i in range(24)])

    def found(recipe: Any, weight: Any) -> Any:
        model = quick("gin-sum", recipe=recipe, class_weight=weight, validation=0.0, params={"epochs": 3})
        return model.fit(graphs, rare).predict_proba(graphs)

    np.testing.assert_array_equal(found("robust", "auto"), found("robust", "balanced"))
    np.testing.assert_array_equal(found("paper", "auto"), found("paper", None))
    assert np.abs(found("robust", "auto") - found("robust", None)).max() > 0.01


def test_predicting_one_class_for_many_graphs_is_reported(graphs: GraphSet) -> None:
    rings = GraphSet.from_networkx([nx.cycle_graph(12) for _ in range(20)])
    model = GraphClassifier("gin-sum", params={"epochs": 3}).fit(graphs.without_colors())
    with pytest.warns(GraphWarning, match="by more than"), pytest.warns(ModelWarning, match="all 20 .* 2 classes"):
        model.predict(rings)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        warnings.simplefilter("ignore", GraphWarning)
        model.predict(rings[:19])
        model.predict_proba(rings)
        GraphClassifier("majority").fit(graphs).predict(rings)


def test_robust_gamma_models_of_sparse_graphs_have_shares_and_no_penalty() -> None:
    made = [nx.random_labeled_tree(8 + i, seed=i) for i in range(24)]
    for tree in made:
        nx.set_node_attributes(tree, {vertex: "XY"[vertex % 2] for vertex in tree}, "color")
    colored = GraphSet.from_networkx(made, color="color", y=[i % 2 for i in range(24)])
    stack: Any = quick().fit(colored).ensemble_.parts[0]
    assert stack.stack.vocabulary.over == "connected"
    assert "penalty" not in stack.runs[0].configuration
    dense: Any = quick().fit(labeled(24)).ensemble_.parts[0]
    assert (dense.stack.vocabulary.over, dense.runs[0].configuration["penalty"]) == ("subsets", 0.1)
    chosen: Any = quick(params={"epochs": 3, "over": "subsets", "penalty": 0.2}).fit(colored).ensemble_.parts[0]
    assert (chosen.stack.vocabulary.over, chosen.runs[0].configuration["penalty"]) == ("subsets", 0.2)


def verdict_of(
    train: Examples, predicted: Any, validation: Examples | None = None, checked: Any = None,
    method: str = "gamma-gin", names: Any = None, weights: Any = None,
) -> Verdict:  # fmt: skip
    """The verdict on a model that predicted these class numbers."""
    names = np.unique(train.labels()) if names is None else names
    data = TrainingData(train, validation, len(names), k=3, class_weights=weights)
    outputs = {"training": np.eye(len(names))[np.asarray(predicted)]}
    if checked is not None:
        outputs["validation"] = np.eye(len(names))[np.asarray(checked)]
    return judge(find_method(method), {}, "accuracy", data, outputs, names, ())


@pytest.mark.parametrize(("wrong", "doubted"), [(5, False), (20, True)])
def test_validation_graphs_raise_doubt_beyond_chance(wrong: int, doubted: bool) -> None:
    y = np.arange(100) % 2
    sized = GraphSet.from_edges([[] for _ in y], n_vertices=np.where(y == 1, 20, 10).tolist())
    examples = Examples(graphs=sized, y=y)
    flipped = np.where(np.arange(100) < wrong, 1 - y, y)
    verdict = verdict_of(examples, y, examples, flipped)
    assert (verdict.doubt is not None) == doubted
    assert verdict.suggestions == ((("method", "auto"),) if doubted else ())
    if doubted:
        assert "on the validation graphs (accuracy 0.800, size-only 1.000)" in str(verdict.doubt)


@pytest.mark.parametrize(("wrong", "doubted"), [(5, False), (20, True)])
def test_a_model_that_is_worse_than_densities_is_doubted(wrong: int, doubted: bool) -> None:
    y = np.arange(60) % 2
    made = [nx.gnp_random_graph(12, (0.2, 0.6)[label], seed=number) for number, label in enumerate(y)]
    examples = Examples(table=count(GraphSet.from_networkx(made), 3), y=y)
    flipped = np.where(np.arange(60) < wrong, 1 - y, y)
    verdict = verdict_of(examples, flipped)
    assert verdict.train["topology-only"] == 1.0
    assert (verdict.doubt is not None) == doubted
    assert dict(verdict.suggestions) == ({"method": "topology-only", "epochs": 3000} if doubted else {})
    held_out = verdict_of(examples, y, examples, flipped)
    assert (held_out.doubt is not None) == doubted
    kernel = verdict_of(examples, flipped, method="gc-kernel")
    assert dict(kernel.suggestions) == ({"method": "topology-only"} if doubted else {})
    if doubted:
        assert "on the training graphs (accuracy 0.667, topology-only 1.000)" in str(verdict.doubt)
        assert "on the validation graphs" in str(held_out.doubt)
        few = verdict_of(examples.rows(np.arange(9)), np.where(np.arange(9) < 5, y[:9], 1 - y[:9]))
        assert "topology-only" not in str(few.doubt), "nine graphs are too few for two patterns"


def test_the_verdict_is_kept_in_the_model_file(graphs: GraphSet, tmp_path: Path) -> None:
    model = quick(validation=0.25).fit(graphs)
    model.save(tmp_path / "model.anysize")
    assert load_model(tmp_path / "model.anysize").verdict_ == model.verdict_


@pytest.mark.parametrize(("different", "warned"), [(160, True), (80, False)])
def test_colors_that_occur_once_look_like_vertex_numbers(different: int, warned: bool) -> None:
    graphs = GraphSet.from_edges([[(0, 1), (1, 2), (2, 3)]] * 40, colors=(np.arange(160) % different).reshape(40, 4))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        GraphClassifier("majority").fit(graphs, [0, 1] * 20)
    found = [str(entry.message) for entry in caught if entry.category is GraphWarning]
    assert len(found) == warned
    assert all("160 vertices" in sentence and "160 colors" in sentence for sentence in found)
