"""The made-up set of the benchmark of features: labels are smoothness, and vertices by themselves tell nothing."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.features import FEATURES, TELLING, smoothness


def test_the_label_is_the_smoothness_of_one_feature() -> None:
    graphs = smoothness(80, seed=1, sizes=(40, 80))
    y, neighbors, sizes = np.asarray(graphs.y), graphs.neighbors, graphs.degrees
    owner = np.repeat(np.arange(len(graphs)), graphs.sizes)
    values, near = np.repeat(graphs.features, sizes, axis=0), graphs.features[neighbors]
    entry_owner = np.repeat(owner, sizes)
    correlation = [
        np.bincount(entry_owner, values[:, feature] * near[:, feature]) / np.bincount(entry_owner)
        for feature in range(FEATURES)
    ]
    told = [np.corrcoef(each, y)[0, 1] for each in correlation]
    assert told[TELLING] > 0.8
    assert max(abs(told[feature]) for feature in range(FEATURES) if feature != TELLING) < 0.5
    moments = [np.bincount(owner, graphs.features[:, TELLING] ** power) / graphs.sizes for power in (1, 2, 4)]
    assert max(abs(np.corrcoef(each, y)[0, 1]) for each in moments) < 0.4  # those of normal numbers in both classes


def test_the_plain_model_runs() -> None:
    pytest.importorskip("torch_geometric")
    from benchmarks import features

    from anysize.evaluation.tasks import size_split

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(features, "EPOCHS", 2)
        splits = size_split(smoothness(40)).splits(seed=0)
        chances = features.plain_gin(splits, 0)
    assert chances.shape == (len(splits.test), 2)
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-6)
