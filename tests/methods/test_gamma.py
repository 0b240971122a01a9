"""Gamma models of sparse graphs: shares of patterns or which patterns occur, by what carries over in training."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from anysize import METHODS, Counts, GraphClassifier, GraphSet, count
from anysize.methods.gamma import carrying_densities
from anysize.methods.method import Examples, TrainingData
from anysize.paper.tasks import TASKS
from anysize.training.settings import Recipe


def data_of(graphs: GraphSet) -> TrainingData:
    classes, y = np.unique(graphs.y, return_inverse=True)  # type: ignore[arg-type]
    return TrainingData(Examples(graphs, y), None, classes=len(classes))


def motifs(graphs: tuple[int, int, int]) -> tuple[GraphSet, GraphSet]:
    task = TASKS["motif-size"]
    splits = replace(task, source=replace(task.source, graphs=graphs)).splits(data=0)  # type: ignore[arg-type]
    return splits.train, splits.test


def trees(sizes: range, seed: int) -> GraphSet:
    """Random trees, half of them with a triangle on every fifth vertex: shares tell the classes apart."""
    rng, made = np.random.default_rng(seed), []
    for n in sizes:
        tree = nx.random_labeled_tree(n, seed=int(rng.integers(1 << 30)))
        for vertex in range(0, n, 5 if len(made) % 2 else 15):
            first, *others = tree[vertex]
            tree.add_edge(
                others[0] if others else next(v for v in tree[first] if v != vertex), first if others else vertex
            )
        made.append(tree)
    return GraphSet.from_networkx(made, y=["few", "many"] * (len(made) // 2))


@pytest.mark.filterwarnings("ignore:these 150 graphs differ")
def test_one_motif_in_larger_and_larger_graphs_is_seen_by_its_occurrence() -> None:
    train, test = motifs((600, 60, 150))
    assert carrying_densities(count(train, 5), data_of(train)) == "occurrence"
    for method in ("gamma-1hot", "gamma-gin"):
        model = GraphClassifier(method, k=5, check=False).fit(train)
        assert model.ensemble_.parts[0].stack.vocabulary.over == "occurrence"  # type: ignore[attr-defined]
        shares = GraphClassifier(method, k=5, check=False, params={"over": "connected"}).fit(train)
        accuracy, accuracy_of_shares = ((fitted.predict(test) == test.y).mean() for fitted in (model, shares))
        assert accuracy > 0.8 > 0.6 > accuracy_of_shares


def test_shares_are_kept_without_clear_evidence() -> None:
    graphs = trees(range(20, 80), 0)
    assert carrying_densities(count(graphs, 3), data_of(graphs)) == "connected"
    rings = GraphSet.from_edges([[(i, (i + 1) % 9) for i in range(9)]] * 6, y=["a", "b"] * 3)
    assert carrying_densities(count(rings, 3), data_of(rings)) == "connected"  # one size: nothing to judge
    assert carrying_densities(count(rings, 5), data_of(rings[:2])) == "connected"


def test_the_choice_is_that_of_regressions_of_scikit_learn() -> None:
    """On whitened inputs that scikit-learn fits as well, larger graphs are predicted alike."""
    train, _ = motifs((400, 40, 10))
    counts, y = count(train, 5), data_of(train).train.labels()
    limit = np.sort(train.sizes)[int(0.6 * len(train))]
    small, large = np.flatnonzero(train.sizes <= limit), np.flatnonzero(train.sizes > limit)

    def likelihood(table: np.ndarray) -> float:
        scaled = (table - table[small].mean(0)) / np.maximum(table[small].std(0), 1e-12)
        model = LogisticRegression(class_weight="balanced", max_iter=5000).fit(scaled[small], y[small])
        chances = model.predict_proba(scaled[large])[np.arange(len(large)), y[large]]
        return float(np.log(np.clip(chances, 1e-3, 1)).mean())

    shares, occurrences = counts.densities("connected").toarray(), (counts.matrix > 0).toarray().astype(float)
    assert likelihood(occurrences) > likelihood(shares) + 0.2
    assert carrying_densities(counts, data_of(train)) == "occurrence"


def test_only_the_robust_recipe_of_sparse_graphs_chooses() -> None:
    method = METHODS["gamma-gin"]
    assert method.recipe("robust", None, vanishing=True).over == "auto"
    assert method.recipe("robust").over == "subsets"
    assert method.recipe("paper", None, vanishing=True).over == "connected"
    assert method.default("robust", vanishing=True)["layers"] == 2
    assert method.default("robust")["layers"] == method.default("paper", vanishing=True)["layers"] == 1


def test_occurrences_of_unknown_patterns_and_files(tmp_path: object) -> None:
    train, test = motifs((200, 20, 20))
    model = GraphClassifier("gamma-1hot", k=5, check=False, params={"over": "occurrence", "top": 5}).fit(train)
    model.save(f"{tmp_path}/m.anysize")
    from anysize import load_model

    again = load_model(f"{tmp_path}/m.anysize")
    np.testing.assert_array_equal(again.predict_proba(train), model.predict_proba(train))  # type: ignore[union-attr]
    stack = model.ensemble_.parts[0].stack  # type: ignore[attr-defined]
    columns, densities = replace(stack.vocabulary, whitening=None, scale=1.0).densities(count(test, 5))
    known: Counts = count(test, 5).align(columns.patterns)
    np.testing.assert_array_equal(densities.toarray(), (known.matrix > 0).toarray())
    with pytest.raises(ValueError, match="over must be one of subsets, maps, connected, occurrence, auto"):
        Recipe(over="shares")  # type: ignore[arg-type]
