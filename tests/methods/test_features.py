"""Vertex features in every method that uses them, from fit to model file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anysize import METHODS, GraphClassifier, GraphSet, GraphWarning, load_model
from anysize.graphs.attributes import FEATURES

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
    model.save(tmp_path / "model.zip")
    restored = load_model(tmp_path / "model.zip")
    assert np.array_equal(restored.predict_proba(GRAPHS), proba)
    turned = RINGS.with_features(VALUES[:, ::-1], ["signal", "noise"])
    assert np.array_equal(restored.predict_proba(turned), proba)
    with pytest.raises(ValueError, match="vertex features and these have none"):
        restored.predict(RINGS)
    assert restored.predict(GRAPHS[:0]).shape == (0,)


def test_a_network_trained_without_features_ignores_them() -> None:
    model = GraphClassifier("gin-sum", params={"epochs": 2}, check=False).fit(RINGS)
    assert np.array_equal(model.predict_proba(GRAPHS), model.predict_proba(RINGS))


WITHOUT = [row.name for row in METHODS.values() if FEATURES not in row.uses and "classes" in row.predicts]


@pytest.mark.parametrize("name", WITHOUT)
def test_what_ignores_features_says_so_and_does(name: str) -> None:
    params = {"epochs": 2} if METHODS[name].has_epochs else None
    model = GraphClassifier(name, params=params, check=False, k=3)
    if METHODS[name].is_baseline:
        model.fit(GRAPHS)
    else:
        with pytest.warns(GraphWarning, match=f"{name} does not use 1 attribute of these graphs: vertex features"):
            model.fit(GRAPHS)
    assert np.array_equal(model.predict_proba(GRAPHS), model.predict_proba(RINGS))
