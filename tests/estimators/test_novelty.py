"""Warnings about inputs far from the training data: unknown colors, no patterns, unusual pattern shares."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from learned import labeled

from anysize import GraphClassifier, GraphSet, count, load_model
from anysize._errors import GraphWarning
from anysize.estimators.novelty import (
    MAX_REFERENCE_GRAPHS,
    MIN_REFERENCE_GRAPHS,
    NoveltyDetector,
    ShareReference,
    pattern_shares,
)
from anysize.paper.tasks import TASKS
from anysize.patterns.pattern import connected_patterns


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def random_graphs(n: int, shares: Sequence[float], amount: int, seed: int = 0) -> GraphSet:
    """``amount`` graphs G(n, p) for each p, which makes a class."""
    made = [nx.gnp_random_graph(n, p, seed=1000 * seed + number) for p in shares for number in range(amount)]
    return GraphSet.from_networkx(made, y=np.repeat(np.arange(len(shares)), amount))


def with_hubs(n: int, degree: int, amount: int) -> GraphSet:
    return GraphSet.from_networkx([nx.barabasi_albert_graph(n, degree, seed=seed) for seed in range(amount)])


def messages(model: GraphClassifier, graphs: Any) -> list[str]:
    """The warnings of one prediction, also those given before."""
    model.ensemble_.notices.given.clear()
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.predict(graphs)
    assert all(one.filename == __file__ for one in found)
    return [str(one.message) for one in found if issubclass(one.category, GraphWarning)]


@pytest.fixture(scope="module")
def model() -> GraphClassifier:
    torch.set_num_threads(1)
    return GraphClassifier("gamma-gin", k=4, params={"epochs": 20}).fit(random_graphs(20, (0.3, 0.5), 30))


# ---- shapes ----------------------------------------------------------------------------------------


def test_larger_and_smaller_graphs_of_the_same_kind_are_not_far(model: GraphClassifier) -> None:
    for n in (8, 10, 14, 20, 40, 100):
        assert messages(model, random_graphs(n, (0.3, 0.5), 20, seed=n)) == []


@pytest.mark.parametrize(
    ("graphs", "least"),
    [(with_hubs(60, 3, 20), 15), (random_graphs(40, (0.9,), 20), 20), (random_graphs(20, (0.9,), 20), 20),
     (random_graphs(40, (0.1,), 20), 11), (random_graphs(20, (0.9,), 1), 1)],
    ids=["hubs", "dense and larger", "dense", "sparse", "one dense graph"],
)  # fmt: skip
def test_other_kinds_of_graphs_are_far(graphs: GraphSet, least: int, model: GraphClassifier) -> None:
    (message,) = messages(model, graphs)
    found = re.match(rf"(\d+) of {len(graphs)} graphs? (is|are) far from all training graphs", message)
    assert found is not None
    assert int(found[1]) >= least
    assert messages(model, count(graphs, 4)) == [message]


def test_each_graph_is_judged_on_its_own(model: GraphClassifier) -> None:
    mixed = random_graphs(30, (0.3, 0.5), 20, seed=3) + random_graphs(30, (0.95,), 1)
    assert messages(model, mixed)[0].startswith("1 of 41 graphs is far")


@pytest.mark.parametrize("name", ["er-single", "er-multi", "sbm-20", "sbm-14-20", "sbm-20-30", "sbm-color"])
def test_the_test_graphs_of_the_tasks_are_not_far(name: str) -> None:
    """They are larger, and their colors may be exchanged, but they come from the same random graph model."""
    for data in range(4):
        splits = TASKS[name].splits(data)
        detector = NoveltyDetector.of(splits.train, count(splits.train, 4), uses_colors=True)
        assert detector.shares is not None
        for graphs in (splits.test, splits.validation):
            assert graphs is not None
            assert not detector.shares.is_far(count(graphs, 4)).any()
            assert not [one for one in detector.warnings(graphs, count(graphs, 4), 4) if "far" in one]


def test_shares_do_not_depend_on_colors_or_on_other_sizes() -> None:
    graphs = labeled(30)
    plain = count(graphs.without_colors(), 3)
    expected = plain.densities("connected").toarray()
    for table in (plain, count(graphs, 3), count(graphs, (2, 3))):
        np.testing.assert_allclose(pattern_shares(table, 3).toarray(), expected)
        reference = ShareReference.of(table)
        assert reference is not None
        assert reference.k == 3
        np.testing.assert_allclose(reference.shares, expected, rtol=1e-6)


def test_distances_against_a_slow_oracle() -> None:
    graphs, new = random_graphs(12, (0.3, 0.6), 15), random_graphs(6, (0.4,), 70)
    reference = ShareReference.of(count(graphs, 4))
    assert reference is not None
    known = count(graphs, 4).densities("connected").toarray()
    distances = np.sort(np.linalg.norm(known[:, None] - known[None], axis=2), axis=1)
    assert reference.max_distance == pytest.approx(distances[:, 5].max(), abs=1e-5)  # sqrt(30) = 5.5
    table = count(new, 4)
    rows = table.densities("connected").toarray()
    distance = np.sort(np.linalg.norm(rows[:, None] - known[None], axis=2), axis=1)[:, 5]
    np.testing.assert_allclose(reference.distances(pattern_shares(table, 4)), distance, atol=1e-5)
    # Half as large as the training graphs: distances are divided by four.
    np.testing.assert_array_equal(
        reference.is_far(table), rows.any(axis=1) & (distance / 4 > 2 * reference.max_distance)
    )


def test_the_reference_is_a_sample_of_the_training_graphs() -> None:
    graphs = random_graphs(9, (0.3, 0.6), 200)
    for k in (3, 6):
        reference = ShareReference.of(count(graphs, k))
        assert reference is not None
        assert reference.shares.shape == (MAX_REFERENCE_GRAPHS, len(connected_patterns(k)))
        np.testing.assert_allclose(reference.shares.sum(axis=1), 1, rtol=1e-5)
        assert not reference.is_far(count(graphs, k)).any()
    assert ShareReference.of(count(graphs[: MIN_REFERENCE_GRAPHS - 1], 3)) is None
    assert ShareReference.of(count(GraphSet.from_edges([[(0, 1)]] * 30), 3)) is None


def test_equal_training_graphs_allow_small_distances() -> None:
    rings = GraphSet.from_networkx([nx.cycle_graph(n) for n in range(10, 40)])
    reference = ShareReference.of(count(rings, 3))
    assert reference is not None
    assert reference.max_distance == pytest.approx(0, abs=1e-6)
    chord = nx.cycle_graph(500)
    chord.add_edge(0, 2)  # one triangle among 502 connected triples
    assert not reference.is_far(count(GraphSet.from_networkx([chord, nx.path_graph(50)]), 3)).any()
    assert reference.is_far(count(GraphSet.from_networkx([nx.complete_graph(30)]), 3)).all()


# ---- colors and patterns --------------------------------------------------------------------------


def test_strange_colors_are_counted() -> None:
    graphs = labeled(24)
    model = GraphClassifier("gamma-gin", k=3, params={"epochs": 2}).fit(graphs)
    new = labeled(4, colors="AB") + labeled(4, colors="ABCDEFGHIJ", seed=1)
    unknown = np.array([name not in "AB" for name in new.palette])[new.colors]  # type: ignore[index]
    per_graph = np.add.reduceat(unknown, new.first[:-1])
    share = 100 * unknown.sum() / new.sizes[per_graph > 0].sum()
    (sentence,) = messages(model, new)
    assert sentence.startswith("4 of 8 graphs have colors that no training graph had (C, D, E, F, G, ...), ")
    assert f"{share:.3g} % of their vertices:" in sentence
    assert "% of their vertices in patterns:" in messages(model, count(new, 3))[0]
    assert messages(model, new[:4]) == []
    assert messages(model, new[:0]) == []


def test_numbers_and_their_text_are_different_colors_and_this_is_said() -> None:
    graphs = labeled(24)
    numbers, text = replace(graphs, palette=(0, 1)), replace(graphs, palette=("0", "1"))
    (sentence,) = messages(GraphClassifier("wl-kernel").fit(numbers), text)
    assert '("0", "1")' in sentence
    assert "0 is text in one of the two sets and a number in the other" in sentence


@pytest.mark.parametrize("kind", ["graphs", "table"])
def test_colors_of_the_palette_that_training_did_not_meet_are_strange(kind: str) -> None:
    """A slice keeps the palette of its set, and inputs that no training graph used have untrained weights."""
    whole: Any = labeled(24, colors="A").with_palette(("A", "B")) + labeled(4, colors="B")
    whole = count(whole, 3) if kind == "table" else whole
    model = GraphClassifier("gamma-1hot", k=3, params={"epochs": 2}).fit(whole[:24])
    assert model.ensemble_.novelty.colors == ("A",)
    assert messages(model, whole[24:])[0].startswith("4 of 4 graphs have colors that no training graph had (B), 100 %")
    assert messages(model, whole[:24]) == []


def test_methods_that_look_at_whole_graphs_know_colors_alone() -> None:
    graphs = labeled(24)
    strange = labeled(12, sizes=(2, 30), colors="AZ")
    for method in ("gin-sum", "wl-kernel"):
        params = {"epochs": 2} if method == "gin-sum" else None
        found = messages(GraphClassifier(method, params=params).fit(graphs), strange)
        assert [one.partition(", ")[0] for one in found] == [
            "12 of 12 graphs have colors that no training graph had (Z)"
        ]
    assert messages(GraphClassifier("size-only").fit(graphs), strange) == []


def test_every_kind_of_reason_is_told_once(model: GraphClassifier) -> None:
    graphs = random_graphs(20, (0.3, 0.5), 30)
    reds = GraphSet.from_edges([graphs.edges(row) for row in range(60)], [20] * 60, [["red"] * 20] * 60, y=graphs.y)
    own = GraphClassifier("gamma-gin", k=4, n_models=2, params={"epochs": 2}).fit(reds)
    cliques = [nx.complete_graph(12) for _ in range(12)] + [nx.path_graph(3)]
    new = GraphSet.from_edges([list(one.edges) for one in cliques], [len(one) for one in cliques],
                              [["blue"] * len(one) for one in cliques])  # fmt: skip
    found = messages(own, new)
    assert [one.split(" ")[0] for one in found] == ["13", "1", "12"]
    assert "(blue), 100 % of their vertices" in found[0]
    assert "1 of 13 graphs has no connected subgraph on 4 vertices" in found[1]
    with warnings.catch_warnings(record=True) as again:
        warnings.simplefilter("always")
        own.score(new, np.zeros(13, int))
        own.predict(new)
    assert again == []  # said already
    with pytest.warns(GraphWarning, match="3 of 3 graphs have colors"), pytest.warns(GraphWarning, match="far from"):
        own.predict(new[:3])  # other sentences


def test_several_sizes_name_the_smallest() -> None:
    model = GraphClassifier("gamma-gin", k=(2, 3), params={"epochs": 2}).fit(random_graphs(10, (0.3, 0.6), 12))
    new = GraphSet.from_edges([[(0, 1)], []], n_vertices=[2, 5])
    assert messages(model, new)[0].startswith("1 of 2 graphs has no connected subgraph on 2 vertices")


# ---- files -----------------------------------------------------------------------------------------


def test_a_file_keeps_what_new_graphs_are_compared_with(model: GraphClassifier, tmp_path: Path) -> None:
    model.save(tmp_path / "model.anysize")
    again = load_model(tmp_path / "model.anysize")
    for graphs in (with_hubs(60, 3, 20), random_graphs(60, (0.3, 0.5), 10)):
        assert messages(again, graphs) == messages(model, graphs)
    colored = GraphClassifier("wl-kernel").fit(labeled(24))
    colored.save(tmp_path / "kernel.anysize")
    assert "(Z)" in messages(load_model(tmp_path / "kernel.anysize"), labeled(4, colors="AZ"))[0]


def test_few_training_graphs_have_no_reference_shapes() -> None:
    few = GraphClassifier("gamma-gin", k=3, params={"epochs": 2}).fit(random_graphs(10, (0.3, 0.6), 5))
    assert few.ensemble_.novelty.shares is None
    assert messages(few, count(with_hubs(30, 2, 20), 3)) == []
    assert "no connected subgraph" in messages(few, GraphSet.from_edges([[(0, 1)]]))[0]
