"""The sanity rows: what they learn, what they ignore, and that they survive being saved."""

from __future__ import annotations

import io
import json
from functools import cache
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anysize import GraphSet, count
from anysize.methods.baselines import MajorityClassifier, RandomClassifier, SizeOnly, TopologyOnly
from anysize.tasks.catalog import TASKS
from anysize.tasks.metrics import accuracy
from anysize.tasks.task import Splits

ALL = [RandomClassifier(3), MajorityClassifier(), SizeOnly(), TopologyOnly(k=3)]
FITTED = [SizeOnly(), TopologyOnly(k=4)]


def name_of(model: Any) -> str:
    return type(model).__name__


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
@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_probabilities_are_probabilities(model: Any, classes: int) -> None:
    graphs = by_size_and_density(classes)
    fitted = clone(model).fit(graphs)
    probabilities = fitted.predict_proba(graphs)
    assert fitted.classes_.tolist() == sorted(set(graphs.y.tolist()))
    assert probabilities.shape == (len(graphs), classes)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-12)
    if not isinstance(model, RandomClassifier):
        assert fitted.predict(graphs).tolist() == fitted.classes_[probabilities.argmax(axis=1)].tolist()
    assert fitted.score(graphs, graphs.y) == accuracy(graphs.y, fitted.predict(graphs))
    assert fitted.predict(graphs[:0]).shape == (0,)


def test_random_is_even_and_repeatable() -> None:
    graphs = GraphSet.from_edges([[(0, 1)]] * 3000, y=[1, 1, 4] * 1000)
    predicted = RandomClassifier(seed=7).fit(graphs).predict(graphs)
    assert abs((predicted == 4).mean() - 0.5) < 0.05  # even, though a third of the classes is 4
    np.testing.assert_array_equal(predicted, RandomClassifier(seed=7).fit(graphs).predict(graphs))
    assert (predicted != RandomClassifier(seed=8).fit(graphs).predict(graphs)).any()


def test_majority_says_what_is_common_and_the_first_on_a_tie() -> None:
    graphs = GraphSet.from_edges([[(0, 1)]] * 5)
    assert MajorityClassifier().fit(graphs, [2, 2, 1, 1, 0]).predict(graphs).tolist() == [1] * 5
    assert MajorityClassifier().fit(graphs, [2, 2, 1, 0, 2]).predict_proba(graphs[0]).tolist() == [[0.2, 0.2, 0.6]]


@pytest.mark.parametrize("weight", [None, "balanced"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", FITTED, ids=name_of)
def test_logistic_rows_equal_a_pipeline_of_scikit_learn(model: Any, classes: int, weight: str | None) -> None:
    graphs = by_size_and_density(classes, color=True)
    train, test = graphs[:20], graphs[20:]
    fitted = clone(model).set_params(class_weight=weight).fit(train)

    def numbers(part: GraphSet) -> Any:
        if isinstance(model, SizeOnly):
            return np.log(part.sizes)[:, None]
        return count(part.without_colors(), 4).densities("subsets").toarray()

    inner = LogisticRegression(class_weight=weight, max_iter=10_000)
    pipeline = make_pipeline(StandardScaler(), inner).fit(numbers(train), train.y)
    np.testing.assert_allclose(fitted.predict_proba(test), pipeline.predict_proba(numbers(test)), atol=1e-9)


def test_topology_is_blind_to_color() -> None:
    dyed, plain = by_size_and_density(color=True), by_size_and_density()
    model = TopologyOnly(k=4).fit(dyed)
    np.testing.assert_array_equal(model.predict_proba(dyed), TopologyOnly(k=4).fit(plain).predict_proba(plain))


def test_a_number_that_never_varied_says_nothing_about_new_graphs() -> None:
    graphs = GraphSet.from_networkx(
        [nx.gnp_random_graph(10, 0.5, seed=i) for i in range(8)], y=[0, 0, 0, 0, 0, 1, 1, 1]
    )
    model = SizeOnly().fit(graphs)
    huge = GraphSet.from_networkx([nx.empty_graph(10_000), nx.empty_graph(0)])
    np.testing.assert_allclose(model.predict_proba(huge), [[5 / 8, 3 / 8]] * 2, atol=1e-3)


@pytest.mark.parametrize("labels", ["strings", "numbers", "booleans"])
@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_a_restored_row_predicts_the_same(model: Any, labels: str) -> None:
    graphs = by_size_and_density(2 if labels == "booleans" else 3)
    y = {"strings": graphs.y, "numbers": graphs.sizes // 4, "booleans": graphs.y == "mid"}[labels]
    fitted = clone(model).fit(graphs, y)
    about, arrays = fitted.state()
    file = io.BytesIO()
    np.savez(file, **arrays)
    file.seek(0)
    with np.load(file, allow_pickle=False) as archive:
        held = {name: archive[name] for name in archive.files}
    restored = type(model).from_state(json.loads(json.dumps(about)), held)
    np.testing.assert_array_equal(restored.predict_proba(graphs), fitted.predict_proba(graphs))
    np.testing.assert_array_equal(restored.predict(graphs), fitted.predict(graphs))
    assert restored.predict(graphs).dtype == fitted.predict(graphs).dtype


def test_weights_by_class_do_not_stand_in_the_way_of_json() -> None:
    graphs = by_size_and_density()
    about, _ = TopologyOnly(3, class_weight={0: 2.0, 1: 1.0}).fit(graphs, graphs.sizes > 12).state()
    assert json.loads(json.dumps(about)) == about


@pytest.mark.parametrize("model", ALL, ids=name_of)
def test_errors_say_what_to_do(model: Any) -> None:
    graphs = by_size_and_density()
    with pytest.raises(NotFittedError):
        clone(model).predict(graphs)
    with pytest.raises(ValueError, match="these graphs have none: pass y"):
        clone(model).fit(graphs.with_y(None))
    if isinstance(model, (SizeOnly, TopologyOnly)):
        with pytest.raises(ValueError, match="at least two classes"):
            clone(model).fit(graphs, [1] * len(graphs))


# ---- what they say about the paper's tasks --------------------------------------------------------


@pytest.mark.parametrize("task", ["er-single", "er-multi", "sbm-20", "sbm-14-20", "sbm-20-30"])
def test_bare_topology_solves_the_synthetic_tasks_and_size_does_not(task: str) -> None:
    splits = published(task)
    y = splits.test.y
    assert y is not None
    assert accuracy(y, TopologyOnly(k=5).fit(splits.train).predict(splits.test)) == 1.0
    common = np.unique(y, return_counts=True)[1].max() / len(y)
    assert accuracy(y, SizeOnly().fit(splits.train).predict(splits.test)) <= common
