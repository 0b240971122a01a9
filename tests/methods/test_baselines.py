"""The baselines: what they learn, what they ignore, and that they survive being saved."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from anysize import METHODS, GraphSet, count
from anysize.evaluation.tasks import Splits
from anysize.methods.baselines import fitted_arrays, regression, restore_arrays
from anysize.methods.method import Examples, Run, TrainingData
from anysize.metrics import score
from anysize.paper.tasks import TASKS

ALL: dict[str, Callable[[], Pipeline]] = {
    "size-only": regression, "topology-only": lambda: regression(k=3),
}  # fmt: skip


def by_size_and_density(classes: int = 3, color: bool = False) -> GraphSet:
    """Graphs whose class goes with their size and with their density."""
    made = [nx.gnp_random_graph(8 + 3 * c + i % 3, 0.2 + 0.2 * c, seed=i) for i in range(12) for c in range(classes)]
    if color:
        for graph in made:
            nx.set_node_attributes(graph, {v: "ab"[v % 2] for v in graph}, "c")
    return GraphSet.from_networkx(made, color="c" if color else None, y=["small", "mid", "top"][:classes] * 12)


@cache
def published(task: str) -> Splits:
    return TASKS[task].splits("published")


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ALL)
def test_probabilities_are_probabilities(name: str, classes: int) -> None:
    graphs = by_size_and_density(classes)
    fitted = ALL[name]().fit(graphs, graphs.y)
    probabilities = fitted.predict_proba(graphs)
    assert fitted.classes_.tolist() == sorted(set(graphs.y.tolist()))
    assert probabilities.shape == (len(graphs), classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    assert fitted.predict(graphs).tolist() == fitted.classes_[probabilities.argmax(axis=1)].tolist()
    assert fitted.score(graphs, graphs.y) == score("accuracy", graphs.y, fitted.predict(graphs))


def test_random_is_uniform_and_repeatable() -> None:
    graphs = GraphSet.from_edges([[(0, 1)]] * 3000)
    problem = TrainingData(Examples(graphs, np.array([0, 0, 1] * 1000)), None, classes=2)
    runs = [Run({}, 7), Run({}, 7), Run({}, 8)]
    first, again, other = METHODS["random"].learner.fit(problem, runs, METHODS["random"].recipe("paper"))
    drawn = first.outputs(problem.train)[0]
    assert set(drawn.ravel().tolist()) == {0.0, 1.0}
    assert abs(drawn[:, 1].mean() - 0.5) < 0.05  # though a third of the graphs is of class 1
    np.testing.assert_array_equal(drawn, again.outputs(problem.train)[0])
    assert (drawn != other.outputs(problem.train)[0]).any()


def test_majority_has_the_class_shares_as_probabilities() -> None:
    graphs = GraphSet.from_edges([[(0, 1)]] * 5)
    problem = TrainingData(Examples(graphs, np.array([2, 2, 1, 0, 2])), None, classes=4)
    (fitted,) = METHODS["majority"].learner.fit(problem, [Run({}, 0)], METHODS["majority"].recipe("paper"))
    assert fitted.outputs(Examples(graphs[:2])).tolist() == [[[0.2, 0.2, 0.6, 0.0]] * 2]


@pytest.mark.parametrize("weight", [None, "balanced"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ["size-only", "topology-only"])
def test_features_are_log_sizes_or_densities(name: str, classes: int, weight: str | None) -> None:
    graphs = by_size_and_density(classes, color=True)
    train, test = graphs[:20], graphs[20:]
    model = regression(None if name == "size-only" else 4, class_weight=weight)
    model.fit(train, train.y)

    def features(part: GraphSet) -> Any:
        if name == "size-only":
            return np.log(part.sizes)[:, None]
        return count(part.without_colors(), 4).densities("subsets").toarray()

    by_hand = make_pipeline(StandardScaler(), LogisticRegression(class_weight=weight, max_iter=10_000))
    by_hand.fit(features(train), train.y)
    np.testing.assert_allclose(model.predict_proba(test), by_hand.predict_proba(features(test)), atol=1e-9)
    if name == "topology-only":  # counts can be passed, too, with colors or without
        np.testing.assert_allclose(model.predict_proba(count(test, 4)), model.predict_proba(test), atol=1e-12)


def test_topology_ignores_colors() -> None:
    colored, plain = by_size_and_density(color=True), by_size_and_density()
    model = regression(4).fit(colored, colored.y)
    np.testing.assert_array_equal(model.predict_proba(colored), regression(4).fit(plain, plain.y).predict_proba(plain))


def test_a_feature_that_is_constant_in_training_does_not_matter_later() -> None:
    graphs = GraphSet.from_networkx([nx.gnp_random_graph(10, 0.5, seed=i) for i in range(8)])
    model = regression().fit(graphs, [0, 0, 0, 0, 0, 1, 1, 1])
    huge = GraphSet.from_networkx([nx.empty_graph(10_000), nx.empty_graph(0)])
    np.testing.assert_allclose(model.predict_proba(huge), [[5 / 8, 3 / 8]] * 2, atol=1e-3)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", ALL)
def test_a_restored_pipeline_predicts_the_same(name: str, classes: int) -> None:
    graphs = by_size_and_density(classes)
    fitted = ALL[name]().fit(graphs, np.searchsorted(np.unique(graphs.y), graphs.y))
    file = io.BytesIO()
    np.savez(file, **fitted_arrays(fitted))
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        restored = restore_arrays(ALL[name](), {key: archive[key] for key in archive.files})
    np.testing.assert_array_equal(restored.predict_proba(graphs), fitted.predict_proba(graphs))
    np.testing.assert_array_equal(restored.predict(graphs), fitted.predict(graphs))


@pytest.mark.parametrize("name", ALL)
def test_errors(name: str) -> None:
    graphs = by_size_and_density()
    with pytest.raises(NotFittedError):
        ALL[name]().predict(graphs)
    with pytest.raises(ValueError, match="2 classes"):
        ALL[name]().fit(graphs, [1] * len(graphs))


# ---- the paper's tasks -----------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["er-single", "er-multi", "sbm-20", "sbm-14-20", "sbm-20-30"])
def test_topology_alone_solves_the_synthetic_tasks_and_size_does_not(task: str) -> None:
    train, test = published(task).train, published(task).test
    assert score("accuracy", test.y, regression(5).fit(train, train.y).predict(test)) == 1.0
    common = np.unique(test.y, return_counts=True)[1].max() / len(test)
    by_size = regression().fit(train, train.y)
    assert score("accuracy", test.y, by_size.predict(test)) <= common
