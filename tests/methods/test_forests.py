"""Forests as arrays against scikit-learn, and what they count."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from learned import labeled
from sklearn.ensemble import RandomForestClassifier

from anysize import GraphClassifier, GraphSet, count
from anysize.methods.forests import CircularCounts, PatternCounts, Trees
from anysize.methods.method import Examples


def test_trees_predict_as_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.poisson(3, (80, 6)).astype(float), rng.integers(0, 3, 80)
    forest = RandomForestClassifier(20, class_weight={0: 1.0, 1: 2.0, 2: 0.5}, random_state=1).fit(x, y)
    trees, new = Trees.of(forest), rng.poisson(4, (30, 6)).astype(float)
    np.testing.assert_allclose(trees.outputs(new), forest.predict_proba(new), atol=1e-12)
    again = Trees.from_state(trees.state(), 6, 3)
    np.testing.assert_array_equal(again.outputs(new), trees.outputs(new))


def test_nodes_that_lead_nowhere_are_refused() -> None:
    state = {
        "feature": np.array([0, -1, -1]), "threshold": np.zeros(3), "left": np.array([1, 0, 0]),
        "right": np.array([2, 0, 0]), "values": np.ones((3, 1)), "roots": np.array([0]),
    }  # fmt: skip
    assert Trees.from_state(state, 1, 1).outputs(np.zeros((2, 1))).tolist() == [[1.0], [1.0]]
    with pytest.raises(ValueError, match="come after the node above"):
        Trees.from_state({**state, "left": np.array([0, 0, 0])}, 1, 1)
    with pytest.raises(ValueError, match="feature"):
        Trees.from_state(state, 0, 1)


def test_features_are_counts() -> None:
    graphs = labeled(6)
    examples = Examples(graphs)
    features = PatternCounts.learn(examples, {}, None)
    table = features.of(examples).toarray()
    np.testing.assert_array_equal(table[:, :29], count(graphs, (3, 4, 5), colors=False).matrix.toarray()[:, :29])
    assert features.colored is not None
    np.testing.assert_array_equal(table[:, 29:], count(graphs, (1, 2, 3)).align(features.colored).matrix.toarray())
    assert PatternCounts.learn(Examples(graphs.without_colors()), {}, None).colored is None

    path = GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "O"])
    circular = CircularCounts.learn(Examples(path), {"radius": 1}, None)
    assert circular.of(Examples(path)).toarray().tolist() == [[2, 1, 1, 1, 1]]  # C, O; C(C), C(C,O), O(C)


def test_a_forest_sees_a_motif_in_larger_graphs() -> None:
    def drawn(n: int, seeds: range) -> list[nx.Graph]:
        trees = [nx.random_labeled_tree(n, seed=seed) for seed in seeds]
        for tree in trees[::2]:
            middle = max(tree, key=tree.degree)
            tree.add_edge(*sorted(tree[middle])[:2])
        return trees

    small, large = drawn(8, range(30)), drawn(60, range(30, 40))
    model = GraphClassifier("patterns-forest", params={"trees": 30}).fit(small, ["triangle", "none"] * 15)
    assert model.score(large, ["triangle", "none"] * 5) > 0.9
