"""When a prediction is not to be trusted: strange colors, no patterns, shapes unlike those of training; no more."""

from __future__ import annotations

import json
import re
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from learned import labeled
from safetensors.numpy import load as tensors_of
from safetensors.numpy import save as tensors_as_bytes

from anysize import Counts, GraphClassifier, GraphSet, count, load_model
from anysize._errors import GraphWarning
from anysize.estimators.novelty import FEWEST, KEPT, SEVERAL, WIDTH, NoveltyDetector, ShapeReference
from anysize.tasks.catalog import TASKS


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def random_graphs(n: int, shares: Sequence[float], amount: int, seed: int = 0) -> GraphSet:
    """``amount`` graphs G(n, p) for each p, which makes a class."""
    made = [nx.gnp_random_graph(n, p, seed=1000 * seed + number) for p in shares for number in range(amount)]
    return GraphSet.from_networkx(made, y=np.repeat(np.arange(len(shares)), amount))


def with_hubs(n: int, degree: int, amount: int) -> GraphSet:
    return GraphSet.from_networkx([nx.barabasi_albert_graph(n, degree, seed=seed) for seed in range(amount)])


def told(model: GraphClassifier, graphs: Any) -> list[str]:
    """The warnings of one prediction."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        model.predict(graphs)
    assert all(issubclass(one.category, GraphWarning) and one.filename == __file__ for one in found)
    return [str(one.message) for one in found]


@pytest.fixture(scope="module")
def model() -> GraphClassifier:
    torch.set_num_threads(1)
    return GraphClassifier(k=4, epochs=20).fit(random_graphs(20, (0.3, 0.5), 30))


# ---- shapes ----------------------------------------------------------------------------------------


def test_larger_and_smaller_graphs_of_the_same_kind_are_no_news(model: GraphClassifier) -> None:
    for n in (8, 10, 14, 20, 40, 100):
        assert told(model, random_graphs(n, (0.3, 0.5), 20, seed=n)) == []


@pytest.mark.parametrize(
    ("graphs", "least"),
    [(with_hubs(60, 3, 20), 20), (with_hubs(20, 3, 20), 11), (random_graphs(40, (0.9,), 20), 20),
     (random_graphs(20, (0.9,), 20), 20), (random_graphs(40, (0.1,), 20), 20)],
    ids=["hubs", "hubs of the same size", "dense and larger", "dense", "sparse"],
)  # fmt: skip
def test_other_kinds_of_graphs_are_told(graphs: GraphSet, least: int, model: GraphClassifier) -> None:
    (sentence,) = told(model, graphs)
    found = re.match(r"(\d+) of 20 graphs lie far from all training graphs", sentence)
    assert found is not None
    assert int(found[1]) >= least
    assert told(model, count(graphs, 4)) == [sentence]


def test_a_single_graph_must_be_farther_away_than_one_of_many(model: GraphClassifier) -> None:
    (sentence,) = told(model, random_graphs(20, (0.9,), 1))
    assert sentence.startswith("1 of 1 graph lies far from")
    hubs = with_hubs(20, 3, 20)
    near = [row for row in range(20) if not told(model, hubs[row])]
    assert len(near) > 10  # too noisy to be judged alone
    assert told(model, hubs[np.array(near[: SEVERAL - 1])]) == []
    assert len(told(model, hubs[np.array(near[:SEVERAL])])) == 1
    few_among_many = random_graphs(30, (0.3, 0.5), 20, seed=3).without_colors() + random_graphs(30, (0.95,), 1)
    assert told(model, few_among_many)[0].startswith("1 of 41 graphs lies far")


@pytest.mark.parametrize("name", ["er-single", "er-multi", "sbm-20", "sbm-14-20", "sbm-20-30", "sbm-color"])
def test_the_test_graphs_of_the_tasks_are_no_news(name: str) -> None:
    """They are larger, and their colors may be exchanged; the model that made them is the same."""
    for data in range(4):
        splits = TASKS[name].splits(data)
        known = NoveltyDetector.of(splits.train, count(splits.train, 4), colored=True)
        assert known.shapes is not None
        for graphs in (splits.test, splits.validation):
            assert graphs is not None
            assert not known.shapes.far(count(graphs, 4)).any()
            assert not [one for one in known.warnings(graphs, count(graphs, 4), 4) if "far" in one]


def test_shares_do_not_depend_on_colors_or_on_other_sizes() -> None:
    graphs = labeled(30)
    plain, colored = ShapeReference.of(count(graphs.without_colors(), 3)), ShapeReference.of(count(graphs, 3))
    several = ShapeReference.of(count(graphs, (2, 3)))
    assert plain is not None
    for other in (colored, several):
        assert other is not None
        assert other.k == 3
        np.testing.assert_array_equal(plain.shares, other.shares)
    table = count(graphs.without_colors(), 3)
    np.testing.assert_allclose(plain.shares[:, :2], table.densities("connected").toarray(), rtol=1e-6)
    assert (plain.shares[:, 2] == 0).all()


def test_distances_against_a_slow_oracle() -> None:
    graphs, new = random_graphs(12, (0.3, 0.6), 15), random_graphs(6, (0.4,), 70)
    shapes = ShapeReference.of(count(graphs, 4))
    assert shapes is not None
    known = count(graphs, 4).densities("connected").toarray()
    gaps = np.sort(np.linalg.norm(known[:, None] - known[None], axis=2), axis=1)
    usual, alone = shapes.limits
    assert usual == pytest.approx(np.quantile(gaps[:, 5], 0.95), abs=1e-5)  # the fifth of 30, itself not counted
    assert alone == pytest.approx(max(4 * usual, 2 * gaps[:, 5].max()), abs=1e-5)
    table = count(new, 4)
    rows = table.densities("connected").toarray()
    distance = np.sort(np.linalg.norm(rows[:, None] - known[None], axis=2), axis=1)[:, 4]
    np.testing.assert_allclose(shapes._distances(np.hstack([rows, np.zeros((70, 1))])), distance, atol=1e-4)
    there = rows.any(axis=1)
    np.testing.assert_array_equal(
        shapes.far(table), there & (distance / 4 > alone)
    )  # half as large: four times as noisy


def test_what_is_kept_is_bounded() -> None:
    graphs = random_graphs(9, (0.3, 0.6), 200)
    for k, width in ((3, 2), (6, WIDTH)):
        shapes = ShapeReference.of(count(graphs, k))
        assert shapes is not None
        assert shapes.shares.shape == (KEPT, width + 1)
        np.testing.assert_allclose(shapes.shares.sum(axis=1), 1, rtol=1e-5)
        assert not shapes.far(count(graphs, k)).any()
    assert ShapeReference.of(count(graphs[: FEWEST - 1], 3)) is None
    assert ShapeReference.of(count(GraphSet.from_edges([[(0, 1)]] * 30), 3)) is None


def test_alike_graphs_leave_room_for_a_hundredth() -> None:
    rings = GraphSet.from_networkx([nx.cycle_graph(n) for n in range(10, 40)])
    shapes = ShapeReference.of(count(rings, 3))
    assert shapes is not None
    assert shapes.limits == (0.01, 0.04)
    assert not shapes.far(count(GraphSet.from_networkx([nx.cycle_graph(500), nx.path_graph(50)]), 3)).any()
    assert shapes.far(count(GraphSet.from_networkx([nx.complete_graph(30)]), 3)).all()


# ---- colors and patterns --------------------------------------------------------------------------


def test_strange_colors_are_counted() -> None:
    graphs = labeled(24)
    model = GraphClassifier(k=3, epochs=2).fit(graphs)
    new = labeled(4, colors="AB") + labeled(4, colors="ABCDEFGHIJ", seed=1)
    unknown = np.array([name not in "AB" for name in new.palette])[new.colors]  # type: ignore[index]
    per_graph = np.add.reduceat(unknown, new.first[:-1])
    share = 100 * unknown.sum() / new.sizes[per_graph > 0].sum()
    (sentence,) = told(model, new)
    assert sentence.startswith("4 of 8 graphs have colors that no training graph had (C, D, E, F, G, ...), ")
    assert f"{share:.3g} % of their vertices:" in sentence
    assert "% of their vertices in patterns:" in told(model, count(new, 3))[0]
    assert told(model, new[:4]) == []
    assert told(model, new[:0]) == []


@pytest.mark.parametrize("kind", ["graphs", "table"])
def test_colors_of_the_palette_that_training_did_not_meet_are_strange(kind: str) -> None:
    """A slice keeps the palette of its set, and inputs that no training graph used have untrained weights."""
    whole: Any = labeled(24, colors="A").with_palette(("A", "B")) + labeled(4, colors="B")
    whole = count(whole, 3) if kind == "table" else whole
    model = GraphClassifier("gamma-1hot", k=3, epochs=2).fit(whole[:24])
    assert model.ensemble_.known is not None
    assert model.ensemble_.known.colors == ("A",)
    assert told(model, whole[24:])[0].startswith("4 of 4 graphs have colors that no training graph had (B), 100 %")
    assert told(model, whole[:24]) == []


def test_methods_that_look_at_whole_graphs_know_colors_alone() -> None:
    graphs = labeled(24)
    strange = labeled(12, sizes=(2, 30), colors="AZ")
    for method in ("gin-sum", "wl-kernel"):
        settings: dict[str, Any] = {"epochs": 2} if method == "gin-sum" else {}
        found = told(GraphClassifier(method, **settings).fit(graphs), strange)
        assert [one.partition(", ")[0] for one in found] == [
            "12 of 12 graphs have colors that no training graph had (Z)"
        ]
    assert told(GraphClassifier("size-only").fit(graphs), strange) == []


def test_every_kind_of_reason_is_told_once(model: GraphClassifier) -> None:
    graphs = random_graphs(20, (0.3, 0.5), 30)
    reds = GraphSet.from_edges([graphs.edges(row) for row in range(60)], [20] * 60, [["red"] * 20] * 60, y=graphs.y)
    own = GraphClassifier(k=4, epochs=2, n_models=2).fit(reds)
    cliques = [nx.complete_graph(12) for _ in range(12)] + [nx.path_graph(3)]
    new = GraphSet.from_edges([list(one.edges) for one in cliques], [len(one) for one in cliques],
                              [["blue"] * len(one) for one in cliques])  # fmt: skip
    found = told(own, new)
    assert [one.split(" ")[0] for one in found] == ["13", "1", "12"]
    assert "(blue), 100 % of their vertices" in found[0]
    assert "1 of 13 graphs has no connected subgraph on 4 vertices" in found[1]
    with warnings.catch_warnings(record=True) as again:
        warnings.simplefilter("always")
        own.score(new, np.zeros(13, int))
    assert [str(one.message) for one in again] == found


def test_several_sizes_name_the_smallest() -> None:
    model = GraphClassifier(k=(2, 3), epochs=2).fit(random_graphs(10, (0.3, 0.6), 12))
    new = GraphSet.from_edges([[(0, 1)], []], n_vertices=[2, 5])
    assert told(model, new)[0].startswith("1 of 2 graphs has no connected subgraph on 2 vertices")


# ---- files -----------------------------------------------------------------------------------------


def test_a_file_keeps_what_new_graphs_are_compared_with(model: GraphClassifier, tmp_path: Path) -> None:
    model.save(tmp_path / "model.anysize")
    again = load_model(tmp_path / "model.anysize")
    for graphs in (with_hubs(60, 3, 20), random_graphs(60, (0.3, 0.5), 10)):
        assert told(again, graphs) == told(model, graphs)
    colored = GraphClassifier("wl-kernel").fit(labeled(24))
    colored.save(tmp_path / "kernel.anysize")
    assert "(Z)" in told(load_model(tmp_path / "kernel.anysize"), labeled(4, colors="AZ"))[0]


def test_files_of_early_versions_are_read_and_know_less(model: GraphClassifier, tmp_path: Path) -> None:
    colored = GraphClassifier(k=3, epochs=2).fit(labeled(24))
    new = GraphSet.from_networkx([nx.complete_graph(30)] * 12)
    for fitted, graphs, told_then in ((model, new, 0), (colored, labeled(4, colors="AZ"), 1)):
        fitted.save(tmp_path / "model.anysize")
        assert len(told(load_model(tmp_path / "model.anysize"), graphs)) == 1
        with zipfile.ZipFile(tmp_path / "model.anysize") as archive:
            about = json.loads(archive.read("model.json"))
            arrays = tensors_of(archive.read("model.safetensors"))
        del about["known"]
        with zipfile.ZipFile(tmp_path / "early.anysize", "w") as archive:
            archive.writestr("model.json", json.dumps(about))
            own = {name: array for name, array in arrays.items() if not name.startswith("known.")}
            archive.writestr("model.safetensors", tensors_as_bytes(own))
        early = load_model(tmp_path / "early.anysize")
        assert len(told(early, graphs)) == told_then
        early.save(tmp_path / "again.anysize")
        assert len(told(load_model(tmp_path / "again.anysize"), graphs)) == told_then


def test_nothing_is_said_of_shapes_where_there_is_nothing_to_compare_with(model: GraphClassifier) -> None:
    """As in files of early versions, which have no such arrays; `Ensemble.known` is None then."""
    from dataclasses import replace

    early = GraphClassifier(k=4)
    early.classes_, early.ensemble_ = model.classes_, replace(model.ensemble_, known=None)
    assert told(early, with_hubs(60, 3, 20)) == []
    assert "no connected subgraph" in told(early, GraphSet.from_edges([[(0, 1)]]))[0]
    few = GraphClassifier(k=3, epochs=2).fit(random_graphs(10, (0.3, 0.6), 5))
    assert isinstance(few.ensemble_.known, NoveltyDetector)
    assert few.ensemble_.known.shapes is None
    assert told(few, Counts.concatenate([count(with_hubs(30, 2, 20), 3)])) == []
