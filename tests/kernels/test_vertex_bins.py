"""Bins of vertex features: what they depend on, how many there are, files, and counts by each feature."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from anysize import GraphError, GraphSet, VertexBins
from anysize.kernels.vertex_bins import FeatureCounts

RNG = np.random.default_rng(0)


def trees(sizes: list[int], features: Any, colors: Any = None) -> GraphSet:
    """Random trees with features."""
    rng = np.random.default_rng(1)
    edges = [[(int(rng.integers(i)), i) for i in range(1, n)] for n in sizes]
    graphs = GraphSet.from_edges(edges, n_vertices=sizes, colors=colors)
    return graphs.with_features(features)


SIZES = [10, 12, 14, 9, 30] * 8
TWO = RNG.normal(size=(sum(SIZES), 2)) + 6 * RNG.integers(0, 2, (sum(SIZES), 1))
GRAPHS = trees(SIZES, TWO)


def test_clusters_are_found_and_new_graphs_are_binned_alike() -> None:
    bins = VertexBins(bins=2).fit(GRAPHS)
    colored = bins.transform(GRAPHS)
    assert colored.features is None
    assert colored.palette == (0, 1)
    assert np.array_equal(colored.colors, TWO[:, 0] + TWO[:, 1] > 6)
    some = [3, 1, 20]
    assert bins.transform(GRAPHS[some]).equals(colored[some])
    assert len(bins.transform(GRAPHS[:0])) == 0


def test_units_outliers_and_repeated_features_do_not_matter() -> None:
    values = RNG.normal(size=(sum(SIZES), 2))
    one = VertexBins(bins=4).fit(trees(SIZES, values)).transform(trees(SIZES, values))
    stretched = np.column_stack([1000 * values[:, 0] + 5, np.exp(3 * values[:, 1]), values[:, 0]])
    other = VertexBins(bins=4).fit(trees(SIZES, stretched)).transform(trees(SIZES, stretched))
    pairs = np.unique(np.stack([one.colors, other.colors]), axis=1, return_counts=True)[1]
    assert np.sort(pairs)[-4:].sum() > 0.95 * pairs.sum()  # the same bins, but for rounding of ranks


def test_every_graph_counts_alike() -> None:
    """A graph of many vertices has as much weight as a small one with the same features."""
    small = np.linspace(0, 1, 10)
    features = np.concatenate([small, 100 + small, np.repeat(100 + small, 30)])
    uneven = VertexBins(bins=2).fit(trees([10, 10, 300], features))
    even = VertexBins(bins=2).fit(trees([10, 10, 10], np.concatenate([small, 100 + small, 100 + small])))
    assert uneven.shares_ == pytest.approx(even.shares_)
    np.testing.assert_allclose(uneven.knots_, even.knots_, rtol=1e-6)
    np.testing.assert_allclose(uneven.means_, even.means_, rtol=1e-6)


def test_more_graphs_and_fewer_neighbors_allow_more_bins() -> None:
    values = RNG.normal(size=(40 * 60, 1))
    many, few = trees([60] * 40, values), trees([60] * 4, values[:240])
    dense = GraphSet.from_edges(
        [np.argwhere(np.triu(RNG.random((60, 60)) < 0.5, 1)) for _ in range(40)], n_vertices=[60] * 40
    ).with_features(values)
    amounts = [len(VertexBins().fit(graphs).centers_) for graphs in (many, few, dense)]
    assert amounts[0] > amounts[1] >= amounts[2] == 2


def test_there_are_no_more_bins_than_different_values() -> None:
    graphs = trees(SIZES, RNG.integers(0, 3, sum(SIZES)))
    for bins in (None, 8):
        colored = VertexBins(bins=bins).fit(graphs).transform(graphs)
        names = {(int(value), color) for value, color in zip(graphs.features[:, 0], colored.colors, strict=True)}
        assert len(names) == len(colored.palette) == 3
    constant = trees(SIZES, np.full(sum(SIZES), 7.0))
    assert VertexBins().fit(constant).transform(constant).palette == (0,)


def test_colors_are_joined_with_bins() -> None:
    colors = [["C", "O"] * (n // 2) + ["C"] * (n % 2) for n in SIZES]
    graphs = trees(SIZES, TWO, colors)
    bins = VertexBins(bins=2).fit(graphs)
    plain = bins.transform(graphs.without_colors())
    both = bins.transform(graphs)
    assert both.palette == ("C:0", "C:1", "O:0", "O:1")
    named = [f"{graphs.palette[c]}:{b}" for c, b in zip(graphs.colors, plain.colors, strict=True)]
    assert [both.palette[code] for code in both.colors] == named


def test_a_saved_file_gives_the_same_bins_and_is_checked(tmp_path: Path) -> None:
    bins = VertexBins().fit(GRAPHS.with_features(TWO, ["charge", "mass"]))
    bins.save(tmp_path / "bins.json")
    loaded = VertexBins.load(tmp_path / "bins.json")
    assert loaded.transform(GRAPHS).equals(bins.transform(GRAPHS))
    assert str(loaded) == str(bins)
    assert "charge" in str(bins)
    about = json.loads((tmp_path / "bins.json").read_text())
    damages: dict[str, Any] = {"centers": [[0.0]], "knots": [], "scale": {}, "shares": ["x"], "format": "other"}
    for name, value in damages.items():
        (tmp_path / "damaged.json").write_text(json.dumps(about | {name: value}))
        with pytest.raises(ValueError, match=r"damaged.json holds no vertex bins: "):
            VertexBins.load(tmp_path / "damaged.json")


def test_it_is_a_scikit_learn_transformer() -> None:
    bins = clone(VertexBins(bins=3))
    assert bins.fit_transform(GRAPHS).equals(VertexBins(bins=3).fit(GRAPHS).transform(GRAPHS))
    with pytest.raises(GraphError, match="these graphs have none"):
        VertexBins().fit(GRAPHS.without_features())
    with pytest.raises(GraphError, match="2 vertex features and these graphs have 1"):
        VertexBins(bins=2).fit(GRAPHS).transform(GRAPHS.with_features(TWO[:, 0]))


def test_counts_by_each_feature_equal_those_of_loops() -> None:
    graphs = trees([5, 9], RNG.normal(size=(14, 2)))
    counts = FeatureCounts.of(graphs)
    assert counts is not None
    table, expected = counts.counts(graphs).toarray(), np.zeros((2, counts.width))
    names = {counts.name(column): column for column in range(counts.width)}
    for number, graph in enumerate(graphs):
        for feature in range(2):
            weighted = np.concatenate([np.repeat(each.features[:, feature], 45 // each.sizes[0]) for each in graphs])
            quartiles = np.sort(weighted)[[22, 44, 67]]  # of 90: a quarter of the weight is not above
            bins = (graph.features[:, feature, None] > quartiles).sum(axis=1)
            for vertex in range(graph.sizes[0]):
                expected[number, names[f"feature {feature} in bin {bins[vertex] + 1}"]] += 1
            for edge in graph.edges():
                low, high = sorted(bins[edge] + 1)
                expected[number, names[f"feature {feature} in bins {low} and {high} of an edge"]] += 1
    assert np.array_equal(table, expected)
    assert np.array_equal(FeatureCounts.from_state(counts.state()).counts(graphs).toarray(), table)
    with pytest.raises(ValueError, match=r"features\.cuts"):
        FeatureCounts.from_state(counts.state() | {"cuts": [[0, 1, 2]]})
