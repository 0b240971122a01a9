"""Features on the scale of the training graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anysize import GraphSet
from anysize._errors import GraphError
from anysize.graphs.features import FeatureScale


def featured(features: Any, sizes: tuple[int, ...] = (2, 4, 0)) -> GraphSet:
    return GraphSet.from_edges([[] for _ in sizes], n_vertices=list(sizes)).with_features(np.array(features))


SOME = np.random.default_rng(0).normal([5, -1, 3], [1, 100, 0.01], (6, 3))


def test_every_graph_counts_alike() -> None:
    graphs = featured(SOME)
    scale = FeatureScale.of(graphs)
    assert scale is not None
    copies = np.repeat(graphs.features, [2, 2, 1, 1, 1, 1], axis=0)  # as if both graphs had four vertices
    np.testing.assert_allclose(scale.mean, copies.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(scale.deviation, copies.std(axis=0), rtol=1e-5)
    standard = scale.apply(graphs)
    np.testing.assert_allclose(standard, (graphs.features - scale.mean) / scale.deviation, rtol=1e-5)
    assert standard.dtype == np.float32


def test_a_feature_that_is_constant_in_training_is_ignored() -> None:
    scale = FeatureScale.of(featured(np.full((6, 1), 0.1)))
    assert scale is not None
    assert not scale.apply(featured(SOME[:, :1])).any()


def test_graphs_without_vertices_and_without_features() -> None:
    assert FeatureScale.of(featured(SOME).without_features()) is None
    empty = FeatureScale.of(featured(np.zeros((0, 2)), (0,)))
    assert empty is not None
    assert empty.apply(GraphSet.from_edges([[]], n_vertices=[0])).shape == (0, 2)


def test_features_are_matched_by_name() -> None:
    named = featured(SOME).with_features(SOME, ["a", "b", "c"])
    scale = FeatureScale.of(named)
    assert scale is not None
    turned = named.with_features(SOME[:, [2, 0, 1]], ["c", "a", "b"])
    np.testing.assert_array_equal(scale.apply(turned), scale.apply(named))
    np.testing.assert_array_equal(scale.apply(featured(SOME)), scale.apply(named))
    with pytest.raises(GraphError, match="lack the vertex feature 'b'"):
        scale.apply(named.with_features(SOME, ["a", "x", "c"]))
    with pytest.raises(GraphError, match="3 vertex features and these graphs have 2"):
        scale.apply(featured(SOME[:, :2]))
    with pytest.raises(GraphError, match="these have none"):
        scale.apply(named.without_features())


def test_the_state_gives_the_same_scale_and_is_checked() -> None:
    named = featured(SOME).with_features(SOME, ["a", "b", "c"])
    scale = FeatureScale.of(named)
    assert scale is not None
    state = scale.state()
    np.testing.assert_array_equal(FeatureScale.from_state(state).apply(named), scale.apply(named))
    for damage in ({"mean": [0.0]}, {"deviation": [-1.0, 1, 1]}, {"names": ["a"]}, {"mean": "text"}):
        with pytest.raises(ValueError, match=next(iter(damage)) + "|expected"):
            FeatureScale.from_state(state | damage)
