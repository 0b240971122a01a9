"""Vertex features in every method that uses them, from fit to model file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anysize import METHODS, GraphClassifier, GraphError, GraphRegressor, GraphSet, GraphWarning, evaluate, load_model
from anysize.evaluation.tasks import own_task
from anysize.graphs.attributes import FEATURES
from anysize.methods import auto
from anysize.methods.sizemix import SizeMix

RNG = np.random.default_rng(0)
SIZES = [6, 7, 8] * 10
Y = np.array(["low", "high"] * 15)
RINGS = GraphSet.from_edges([[(i, (i + 1) % n) for i in range(n)] for n in SIZES], y=Y)
VALUES = RNG.normal([0, 5], 1, (sum(SIZES), 2)) + np.outer(np.repeat(Y == "high", SIZES), [0, 3])
GRAPHS = RINGS.with_features(VALUES, ["noise", "signal"])
EPOCHS = {"epochs": 30}


@pytest.mark.parametrize("name", ["gin-sum", "gcn-mean", "pna-max", "rpgin", "gin-irm", "gin-plain", "gin-ssr"])
def test_a_network_learns_from_features_and_keeps_their_scale(name: str, tmp_path: Path) -> None:
    model = GraphClassifier(name, params=EPOCHS, check=False).fit(GRAPHS)
    proba = model.predict_proba(GRAPHS)
    assert (model.predict(GRAPHS) == Y).mean() > 0.9
    assert model.bins_ is None
    model.save(tmp_path / "model.zip")
    restored = load_model(tmp_path / "model.zip")
    assert np.array_equal(restored.predict_proba(GRAPHS), proba)
    turned = RINGS.with_features(VALUES[:, ::-1], ["signal", "noise"])
    assert np.array_equal(restored.predict_proba(turned), proba)
    with pytest.raises(ValueError, match="vertex features and these have none"):
        restored.predict(RINGS)
    assert restored.predict(GRAPHS[:0]).shape == (0,)


@pytest.mark.parametrize("name", ["gin-mean", "gcn-sum", "pna-mean", "rpgin"])
def test_a_network_keeps_types_of_edges(name: str, tmp_path: Path) -> None:
    colors = np.where(np.repeat(Y == "high", SIZES), np.arange(sum(SIZES)) % 2, np.arange(sum(SIZES)) % 3 // 2)
    typed = RINGS.with_edge_colors(colors.tolist())
    model = GraphClassifier(name, params=EPOCHS, check=False).fit(typed)
    proba = model.predict_proba(typed)
    model.save(tmp_path / "model.zip")
    restored = load_model(tmp_path / "model.zip")
    assert np.array_equal(restored.predict_proba(typed), proba)
    assert not np.array_equal(restored.predict_proba(typed.with_edge_colors((1 - colors).tolist())), proba)
    with pytest.raises(GraphError, match="had edge colors and these graphs have none"):
        restored.predict(RINGS)
    plain = GraphClassifier(name, params={"epochs": 2}, check=False).fit(RINGS)
    assert np.array_equal(plain.predict_proba(typed), plain.predict_proba(RINGS))


def test_a_network_trained_without_features_ignores_them() -> None:
    model = GraphClassifier("gin-sum", params={"epochs": 2}, check=False).fit(RINGS)
    assert np.array_equal(model.predict_proba(GRAPHS), model.predict_proba(RINGS))


BINNED = ["wl-kernel", "gc-kernel", "gamma-1hot", "gamma-gin", "patterns-forest", "ecfp-forest", "sizemix", "auto"]


@pytest.mark.parametrize("name", BINNED)
def test_a_method_on_types_learns_from_bins_and_keeps_them(name: str, tmp_path: Path) -> None:
    params = {"epochs": 60} if METHODS[name].has_epochs else None
    model = GraphClassifier(name, params=params, check=False, k=3).fit(GRAPHS)
    assert (model.predict(GRAPHS) == Y).mean() > 0.8
    assert model.bins_ is not None
    assert model.bins_.transform(GRAPHS).features is None
    new = GRAPHS[::-1]
    proba = model.predict_proba(new)
    model.save(tmp_path / "model.zip")
    restored = load_model(tmp_path / "model.zip")
    assert np.array_equal(restored.predict_proba(new), proba)
    with pytest.raises(ValueError, match="vertex features and these have none"):
        restored.predict(RINGS)
    assert restored.predict(GRAPHS[:0]).shape == (0,)


def test_gamma_models_of_auto_take_bins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    decide = auto.decide
    monkeypatch.setattr(auto, "decide", lambda data, seed: replace(decide(data, seed), family="gamma"))
    model = GraphClassifier(check=False, k=3).fit(GRAPHS)
    assert model.bins_ is not None
    assert (model.predict(GRAPHS) == Y).mean() > 0.8
    model.save(tmp_path / "model.zip")
    restored = load_model(tmp_path / "model.zip")
    proba = restored.predict_proba(GRAPHS)
    assert np.array_equal(proba, model.predict_proba(GRAPHS))
    assert restored.explain(GRAPHS[0]).probability == pytest.approx(proba[0].max())


@pytest.mark.parametrize("name", ["sizemix", "wl-kernel", "patterns-forest"])
def test_regression_uses_features(name: str, tmp_path: Path) -> None:
    target = np.array([graph.features[:, 1].mean() for graph in GRAPHS])
    model = GraphRegressor(name, check=False, k=3).fit(GRAPHS, target)
    predicted = model.predict(GRAPHS)
    assert np.corrcoef(predicted, target)[0, 1] > 0.8
    model.save(tmp_path / "model.zip")
    assert np.array_equal(load_model(tmp_path / "model.zip").predict(GRAPHS), predicted)


def test_splits_learn_bins_on_training_graphs_alone() -> None:
    task = own_task(GRAPHS, "random")
    splits = task.splits(seed=0)
    far = replace(splits, test=splits.test.with_features(1e6 + splits.test.features))
    assert far.binned.train.equals(splits.binned.train)
    assert splits.binned.test.palette == splits.binned.train.palette
    assert splits.binned is splits.binned
    plain = replace(splits, train=splits.train.without_features())
    assert plain.binned is plain
    for name in ("wl-kernel", "gin-plain", "sizemix", "gamma-gin"):
        (record,) = evaluate(METHODS[name], [splits], [0], {"epochs": 40, "k": 3})
        assert record.scores.test > 0.8


def test_sizemix_sees_which_of_several_features_is_smooth() -> None:
    """On paths, one of five features ascends or is shuffled; the others ascend or not at random."""
    rng, sizes = np.random.default_rng(3), [*range(10, 30)] * 4
    y, tables = rng.integers(0, 2, len(sizes)), []
    for n, label in zip(sizes, y, strict=True):
        ascends = rng.integers(0, 2, 5)
        ascends[2] = label
        values = np.sort(rng.normal(size=(n, 5)), axis=0)
        tables.append(np.where(ascends, values, rng.permuted(values, axis=0)))
    graphs = GraphSet.from_edges([[(i, i + 1) for i in range(n - 1)] for n in sizes], y=y)
    graphs = graphs.with_features(np.concatenate(tables))
    small = graphs.sizes < 20
    model = GraphClassifier(check=False).fit(graphs[small])
    assert model.score(graphs[~small]) > 0.9
    explanation = model.explain(graphs[~small][0])
    assert any(one.name.startswith("feature 2") for one in explanation.strongest(5))
    ensemble = SizeMix.fit(graphs[small])
    for graph in graphs[~small][:3]:
        explanation, chances = ensemble.explain(graph), ensemble.head_probabilities(graph)[:, 0]
        logits = np.log(chances[:, explanation.predicted] / chances[:, 1 - explanation.predicted])
        assert explanation.margin == pytest.approx(ensemble.head_weights @ logits, abs=1e-6)


WITHOUT = [row.name for row in METHODS.values() if FEATURES not in row.uses and "classes" in row.predicts]


@pytest.mark.parametrize("name", WITHOUT)
def test_what_ignores_features_says_so_and_does(name: str) -> None:
    params = {"epochs": 2} if METHODS[name].has_epochs else None
    model = GraphClassifier(name, params=params, check=False, k=3)
    if METHODS[name].is_baseline:
        model.fit(GRAPHS)
    else:
        with pytest.warns(GraphWarning, match=f"{name} does not use attributes of these graphs: vertex features"):
            model.fit(GRAPHS)
    assert np.array_equal(model.predict_proba(GRAPHS), model.predict_proba(RINGS))
