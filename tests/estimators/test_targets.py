"""Several targets with gaps: one model for each, fitted to the graphs that have it, on shared work."""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anysize import GraphClassifier, GraphRegressor, GraphSet, GraphWarning, ModelWarning, load_model
from anysize.kernels import wl

GAP = float("nan")


def molecules(amount: int, seed: int = 0) -> GraphSet:
    """Colored trees with a type on every edge."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 14, amount).tolist()
    edges = [[(int(rng.integers(v)), v) for v in range(1, n)] for n in sizes]
    return GraphSet.from_edges(
        edges, colors=[rng.choice(list("CCCNO"), n).tolist() for n in sizes],
        edge_colors=[rng.choice(["single", "double"], n - 1).tolist() for n in sizes],
    )  # fmt: skip


def shares(graphs: GraphSet) -> np.ndarray:
    """Of every graph the numbers of N and of O."""
    return np.array([[graphs.color_names(g).count(name) for name in "NO"] for g in range(len(graphs))])


@pytest.fixture(scope="module")
def train() -> GraphSet:
    graphs = molecules(90)
    y = (shares(graphs) > 1).astype(float)
    rng = np.random.default_rng(1)
    y[rng.random(y.shape) < 0.3] = GAP
    return graphs.with_y([list(row) for row in y])


def quiet(method: str, **options: Any) -> GraphClassifier:
    return GraphClassifier(method, k=3, check=False, **options)


@pytest.fixture(autouse=True)
def no_doubts() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        warnings.simplefilter("ignore", GraphWarning)  # attributes that a method does not use
        yield


@pytest.mark.parametrize("method", ["auto", "sizemix", "wl-kernel", "gc-kernel", "majority"])
def test_each_target_has_the_model_of_the_graphs_that_have_it(method: str, train: GraphSet) -> None:
    model, new = quiet(method).fit(train), molecules(20, 7)
    assert model.targets_ == ("0", "1")
    together = model.predict_proba(new)
    assert [table.shape for table in together] == [(20, 2), (20, 2)]
    assert model.predict(new).shape == (20, 2)
    for column, name in enumerate(model.targets_):
        alone = quiet(method).fit(train.target(name))
        np.testing.assert_allclose(together[column], alone.predict_proba(new), atol=1e-6)
        assert model.classes_[column].tolist() == alone.classes_.tolist() == [0, 1]


def test_graphs_are_refined_and_counted_once_for_all_targets(train: GraphSet, monkeypatch: pytest.MonkeyPatch) -> None:
    from anysize.counting import api

    calls = {"refined": 0, "counted": 0}
    signatures, count = wl.signatures, api.count

    def refine_and_note(*arguments: Any) -> Any:
        calls["refined"] += 1
        return signatures(*arguments)

    def count_and_note(*arguments: Any, **options: Any) -> Any:
        calls["counted"] += 1
        return count(*arguments, **options)

    monkeypatch.setattr(wl, "signatures", refine_and_note)
    monkeypatch.setattr(api, "count", count_and_note)
    table = np.random.default_rng(0).integers(0, 2, (len(train), 4))
    one = GraphClassifier("sizemix").fit(train, table[:, 0])
    expected = dict(calls)
    calls.update(refined=0, counted=0)
    model = GraphClassifier("sizemix").fit(train, table)
    assert calls == expected
    calls.update(refined=0, counted=0)
    model.predict(molecules(5, 3))
    several = dict(calls)
    calls.update(refined=0, counted=0)
    one.predict(molecules(5, 3))
    assert calls == several == {"refined": 3, "counted": 1}


def test_scores_leave_gaps_out(train: GraphSet) -> None:
    import pandas as pd

    model = quiet("sizemix").fit(train)
    y = np.asarray(train.y)
    predicted = model.predict(train)
    by_hand = [(predicted[known, t] == y[known, t]).mean() for t in range(2) for known in [~np.isnan(y[:, t])]]
    assert model.score(train) == pytest.approx(np.mean(by_hand))
    only = np.where(np.arange(len(train)) < 40, y[:, 1], GAP)
    frame = pd.DataFrame({"1": only, "0": GAP})  # by name, in any order; a target that is known nowhere counts nothing
    known = ~np.isnan(only)
    assert model.score(train, frame) == pytest.approx((predicted[known, 1] == only[known]).mean())
    weights = np.random.default_rng(0).random(len(train))
    weighted = np.average(predicted[known, 1] == only[known], weights=weights[known])
    assert model.score(train, frame, weights) == pytest.approx(weighted)
    for wrong, told in (
        (np.zeros(len(y)), "expected a table with the targets 0, 1"),
        (np.full_like(y, GAP), "none of these graphs has a target"),
        (pd.DataFrame({"A": y[:, 0], "B": y[:, 1]}), "there is no target '0': the targets are A, B"),
        (y[:3], "a row of targets for each of the 90 graphs; got 3 rows"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=told):
            model.score(train, wrong)


def test_verdicts_and_forecasts_are_those_of_each_target(train: GraphSet) -> None:
    model, alone = GraphClassifier("sizemix").fit(train), GraphClassifier("sizemix").fit(train.target("1"))
    assert list(model.verdict_) == ["0", "1"]
    assert model.verdict_["1"].train == pytest.approx(alone.verdict_.train)
    ours, theirs = model.forecast(train)["1"], alone.forecast(train)
    assert ours.balanced_accuracy.expected == pytest.approx(theirs.balanced_accuracy.expected)
    with pytest.raises(AttributeError, match=r"models_\['0'\].explain"):
        model.explain(train[:1])
    assert model.models_["1"].explain(train[:1]).vertices.shape == (train.sizes[0],)


def test_numbers_with_gaps_of_several_models(train: GraphSet) -> None:
    y = shares(train) + 0.5
    y[::3, 0] = GAP
    model, new = GraphRegressor(n_models=2, check=False).fit(train, y), molecules(10, 5)
    assert model.predict(new).shape == (10, 2)
    assert model.predict(new, per_model=True).shape == (2, 10, 2)
    alone = GraphRegressor(n_models=2, check=False).fit(train[~np.isnan(y[:, 0])], y[~np.isnan(y[:, 0]), 0])
    np.testing.assert_allclose(model.predict(new)[:, 0], alone.predict(new), rtol=1e-6)
    assert model.score(new, shares(new) + 0.5) > 0.9


def test_what_cannot_be_learned_is_left_out_with_one_sentence(train: GraphSet) -> None:
    import pandas as pd

    y = pd.DataFrame({"good": (shares(train)[:, 0] > 1).astype(int), "same": 1, "none": None})
    with pytest.warns(
        ModelWarning, match="about 2 targets: 'same' is 1 in all graphs; 'none' is not known of any graph"
    ):
        model = quiet("sizemix").fit(train, y)
    assert model.targets_ == ("good",)
    assert model.predict(train).shape == (90, 1)
    assert model.score(train, y) > 0.8
    for table, told in (
        (y[["same", "none"]], "nothing to learn about 2 targets"),
        (y.assign(logp=np.linspace(0, 1, 90)), "target 'logp': classes must be whole numbers or strings"),
        (y.assign(mixed=[1, "a"] * 45), "labels must be numbers or all be strings"),
    ):
        with pytest.raises(ValueError, match=told):
            quiet("sizemix").fit(train, table)
    with pytest.raises(ValueError, match="target 'kind': expected a number for every graph; got 'a'"):
        GraphRegressor().fit(train, y[["good"]].assign(kind=["a", "b"] * 45))


def test_text_and_numbers_may_stand_side_by_side(train: GraphSet) -> None:
    y = [["yes" if n > 1 else "no", int(o > 1)] for n, o in shares(train).tolist()]
    model = quiet("sizemix").fit(train, y)
    assert [classes.tolist() for classes in model.classes_] == [["no", "yes"], [0, 1]]
    assert model.predict(train)[0].tolist() in ([a, b] for a in ("no", "yes") for b in (0, 1))


def test_validation_graphs_environments_and_weights_go_by_target(train: GraphSet) -> None:
    params = {"epochs": 3, "hidden": 4}
    model = quiet("gin-irm", params=params).fit(
        train, validation=train[:30], environments=np.arange(90) % 2, sample_weight=np.arange(90) > 4
    )
    assert model.models_["0"].curves_["validation_loss"].shape == (3, 1)
    held = (
        quiet("gin-sum", params=params, validation=0.2)
        .fit(train, sample_weight=np.arange(90) > 4)
        .models_["1"]
        .held_out_
    )
    known = ~np.isnan(np.asarray(train.y)[:, 1])
    assert len(held) > 5
    assert known[held].all()
    assert (held > 4).all()
    with pytest.raises(ValueError, match="need the targets of the training graphs"):
        quiet("gin-sum", params=params).fit(train, validation=train.target("0"))


# ---- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "wl-kernel", "gamma-1hot"])
def test_one_file_keeps_all_targets(method: str, train: GraphSet, tmp_path: Path) -> None:
    model, new = quiet(method).fit(train), molecules(12, 3)
    model.save(tmp_path / "m.anysize")
    loaded = load_model(tmp_path / "m.anysize")
    assert isinstance(loaded, GraphClassifier)
    assert (loaded.targets_, loaded.verdict_) == (model.targets_, model.verdict_)
    assert loaded.get_params() == model.get_params()
    for ours, theirs in zip(loaded.predict_proba(new), model.predict_proba(new), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    loaded.save(tmp_path / "again.anysize")
    assert (tmp_path / "again.anysize").read_bytes() == (tmp_path / "m.anysize").read_bytes()


def test_what_targets_share_is_stored_once_and_refined_once(
    train: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = quiet("sizemix").fit(train)
    model.save(tmp_path / "m")
    about = json.loads(zipfile.ZipFile(tmp_path / "m").read("model.json"))
    assert about["shared"]["1/0.kernel.near_3"] == "0/0.kernel.near_3"
    loaded, calls, signatures = load_model(tmp_path / "m"), [], wl.signatures
    monkeypatch.setattr(wl, "signatures", lambda *arguments: calls.append(1) or signatures(*arguments))
    loaded.predict(train)
    assert len(calls) == 3  # types of depth 3


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"targets": ["A"]}, "one for each of the models"), ({"targets": ["A", "A"]}, "one for each of the models"),
        ({"targets": []}, "one for each of the models"), ({"targets": 3}, "targets"),
        ({"models": []}, "one for each of the models"), ({"models": {}}, "models"),
        ({"shared": {"1/0.kernel.near_3": "elsewhere"}}, "shared"), ({"shared": {}}, "damaged"),
        ({"shared": {"0/0.kernel.near_3": "0/0.kernel.near_3"}}, "shared"), ({"shared": {"a": 1}}, "shared"),
    ],
)  # fmt: skip
def test_forged_files_are_refused(change: dict[str, Any], told: str, train: GraphSet, tmp_path: Path) -> None:
    quiet("sizemix").fit(train).save(tmp_path / "m")
    with zipfile.ZipFile(tmp_path / "m") as archive:
        about, tensors = json.loads(archive.read("model.json")), archive.read("model.safetensors")
    with zipfile.ZipFile(tmp_path / "forged", "w") as archive:
        archive.writestr("model.json", json.dumps(about | change))
        archive.writestr("model.safetensors", tensors)
    with pytest.raises(ValueError, match=rf"forged is a damaged model file: .*{told}|forged is a {told}"):
        load_model(tmp_path / "forged")


def test_all_targets_are_checked_before_any_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = GraphSet.from_edges([[(0, 1)], [(0, 1), (1, 2)]] * 10)
    table = [[float(row), "ab"[row % 2]] for row in range(20)]
    learned: list[str] = []
    monkeypatch.setattr(GraphRegressor, "_learn", lambda *arguments: learned.append(arguments[-1]))
    with pytest.raises(ValueError, match="target '1': expected a number for every graph; got 'a'"):
        GraphRegressor().fit(graphs, table)
    assert not learned


# ---- one network for all targets -------------------------------------------------------------------


SHORT = {"epochs": 2, "hidden": 4}


def weights_of(model: Any, target: str) -> dict[str, np.ndarray]:
    """The arrays of the first network of a target."""
    arrays: dict[str, np.ndarray] = model.models_[target].ensemble_.parts[0].state()[1]
    return arrays


@pytest.mark.parametrize("method", ["gin-sum", "pna-irm", "rpgin", "gin-plain", "gin-gsat"])
def test_a_network_learns_all_targets(method: str, train: GraphSet, tmp_path: Path) -> None:
    table = [[*row, kind] for row, kind in zip(np.asarray(train.y).tolist(), ["a", "b", "c"] * 30, strict=True)]
    model, new = quiet(method, params=SHORT, n_models=2, validation=0.2).fit(train, table), molecules(12, 3)
    assert model.targets_ == ("0", "1", "2")
    for name, array in weights_of(model, "0").items():
        np.testing.assert_array_equal(array, weights_of(model, "2")[name])
    chances = model.predict_proba(new)
    assert [each.shape for each in chances] == [(12, 2), (12, 2), (12, 3)]
    assert model.predict(new).shape == (12, 3)
    for each in chances:
        np.testing.assert_allclose(each.sum(axis=1), 1)
    assert not np.allclose(chances[0], chances[1])
    assert model.models_["1"].curves_["validation_score"].shape == (2, 2)
    model.save(tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    for ours, theirs in zip(loaded.predict_proba(new), chances, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len(json.loads(zipfile.ZipFile(tmp_path / "m").read("model.json"))["shared"]) > 2 * 8


def test_a_network_learns_all_numbers(train: GraphSet, tmp_path: Path) -> None:
    y = shares(train) * [1.0, 1000.0] + 0.5
    y[::3, 0] = GAP
    model, new = GraphRegressor("gin-sum", params={"epochs": 60, "batch_size": 16}).fit(train, y), molecules(30, 5)
    assert model.score(new, shares(new) * [1.0, 1000.0] + 0.5) > 0.5
    scores = {name: verdict.held_out[0] for name, verdict in model.verdict_.items()}
    assert scores["1"].scores["mean"] > 100 > 10 > scores["0"].scores["mean"]
    assert sum(held.graphs for held in model.verdict_["0"].held_out) < sum(
        held.graphs for held in model.verdict_["1"].held_out
    )
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(load_model(tmp_path / "m").predict(new), model.predict(new))


def test_held_out_scores_are_those_of_a_network_of_all_targets(train: GraphSet) -> None:
    from anysize.splits import parts_by_class

    train = train[~np.isnan(np.asarray(train.y)).all(axis=1)]
    model = GraphClassifier("gin-sum", params=SHORT, check=100.0).fit(train)
    table, fold_of = np.asarray(train.y), parts_by_class(np.zeros(len(train), np.int64), 5, 0, even=True)
    held = {name: {each.protocol: each for each in verdict.held_out} for name, verdict in model.verdict_.items()}
    predicted = np.empty((len(train), 2))
    for fold in range(5):
        part = quiet("gin-sum", params=SHORT).fit(train[fold_of != fold])
        predicted[fold_of == fold] = np.stack(part.predict_proba(train[fold_of == fold]), 1)[:, :, 1] > 0.5
    for column, name in enumerate(model.targets_):
        known = ~np.isnan(table[:, column])
        right = predicted[known, column] == table[known, column]
        by_class = [right[table[known, column] == label].mean() for label in (0, 1)]
        assert held[name]["same sizes"].graphs == known.sum()
        assert held[name]["same sizes"].scores["model"] == pytest.approx(np.mean(by_class))


def test_an_objective_that_reads_classes_has_a_network_for_each_target(train: GraphSet) -> None:
    model = quiet("gin-ciga", params=SHORT).fit(train)
    first, second = (weights_of(model, name) for name in model.targets_)
    assert any(not np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("columns", [[0, 99], [2, 0], ["a", 2], [0], [-1, 2], 3])
def test_forged_outputs_of_a_shared_network_are_refused(columns: Any, train: GraphSet, tmp_path: Path) -> None:
    quiet("gin-sum", params=SHORT).fit(train).save(tmp_path / "m")
    with zipfile.ZipFile(tmp_path / "m") as archive:
        about, tensors = json.loads(archive.read("model.json")), archive.read("model.safetensors")
    about["models"][1]["parts"][0]["columns"] = columns
    with zipfile.ZipFile(tmp_path / "forged", "w") as archive:
        archive.writestr("model.json", json.dumps(about))
        archive.writestr("model.safetensors", tensors)
    with pytest.raises(ValueError, match="forged is a damaged model file"):
        load_model(tmp_path / "forged")
