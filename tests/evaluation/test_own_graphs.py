"""Tasks of one's own graphs: random splits, given lists and their files, names that follow the content."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import anysize as az
from anysize.evaluation.records import ALPHABET
from anysize.evaluation.tasks import MAX_CLASSES, own_task, size_split
from anysize.splits import AtRandom, read_lists


def paths(count: int = 40, y: list[Any] | None = None) -> az.GraphSet:
    edges = [[(i, i + 1) for i in range(n)] for n in range(2, 2 + count)]
    graphs = az.GraphSet.from_edges(edges, y=["a", "b"] * (count // 2) if y is None else y)
    return replace(graphs, names=tuple(f"g{place}" for place in range(count)))


def test_a_split_by_size_is_that_of_size_split() -> None:
    graphs = paths()
    for seed in (0, 3):
        ours, theirs = own_task(graphs).splits(seed=seed), size_split(graphs).splits(seed=seed)
        assert all(ours.sets[name].equals(theirs.sets[name]) for name in ("train", "validation", "test"))


def test_a_random_split_takes_a_fifth_of_each_class_and_every_seed_another() -> None:
    y = np.repeat([0, 1, 2], [50, 20, 1])
    graphs = az.GraphSet.from_edges([[(0, 1)]] * 71, y=y)
    tests = set()
    for seed in range(5):
        train, validation, test = AtRandom().positions(graphs, seed)
        assert np.bincount(y[test], minlength=3).tolist() == [10, 4, 0]
        assert len(validation) == 5
        assert sorted(np.concatenate([train, validation, test]).tolist()) == list(range(71))
        tests.add(tuple(test.tolist()))
    assert len(tests) == 5
    first, again = ([rows.tolist() for rows in AtRandom().positions(graphs, 0)] for _ in range(2))
    assert first == again


def test_lists_name_graphs_by_position_or_name() -> None:
    lists = {"train": ["g0", 1, "2", "g3"], "validation": [4, "g5"], "test": range(30, 40)}
    for seed in (0, 1):
        splits = own_task(paths(), lists).splits(seed=seed)
        assert splits.train.names == ("g0", "g1", "g2", "g3")
        assert splits.validation is not None
        assert splits.validation.names == ("g4", "g5")
        assert splits.test.names == tuple(f"g{place}" for place in range(30, 40))
    without = own_task(paths(), {"train": range(20), "test": range(30, 40)})
    drawn = [without.splits(seed=seed).validation for seed in range(3)]
    assert all(graphs is not None and len(graphs) == 2 for graphs in drawn)
    assert len({graphs.names for graphs in drawn if graphs is not None}) > 1


def test_a_name_goes_before_a_position() -> None:
    graphs = replace(paths(), names=tuple(str(39 - place) for place in range(40)))
    splits = own_task(graphs, {"train": ["0", "1", 0, 1], "test": [20]}).splits()
    assert sorted(splits.train.sizes.tolist()) == [3, 4, 41, 42]


def test_lists_are_read_from_json_and_csv(tmp_path: Path) -> None:
    lists = {"train": ["g0", "g1", "g2"], "validation": ["g3"], "test": ["g4", "g5"]}
    (tmp_path / "s.json").write_text(json.dumps(lists))
    rows = [f"{graph},{name}" for name, members in lists.items() for graph in members]
    (tmp_path / "s.csv").write_text("\n".join(["graph,split", *rows, ""]))
    (tmp_path / "bare.csv").write_text("\n".join(rows))
    for name in ("s.json", "s.csv", "bare.csv"):
        assert {key: list(members) for key, members in read_lists(tmp_path / name).items()} == lists
        assert own_task(paths(), str(tmp_path / name)).name == own_task(paths(), lists).name


@pytest.mark.parametrize(
    ("lists", "sentence"),
    [
        ({"train": [0], "tests": [1]}, "got 'tests'"),
        ({"train": [0, 1], "test": [1]}, "graph 1 is in 'train' and in 'test'"),
        ({"train": [0, 1], "test": [99]}, "from 0 to 39; got 99"),
        ({"train": [0, 1], "test": ["x"]}, "got 'x'"),
        ({"train": [0, 1], "test": [-1]}, "got -1"),
        ({"train": [True, 1], "test": [5]}, "got True"),
        ({"train": [0, 1]}, "graphs for test"),
        ({"train": [0, 2, 4], "test": [5]}, "one class"),
        ("sizes", "no file 'sizes'"),
    ],
)
def test_lists_that_make_no_sense_are_refused(lists: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        own_task(paths(), lists)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("g0,train\ng1,exam", "line 2"), ("a,b,c", "line 1"), ("[1, 2]", "must hold"), ('{"train": 3}', "must hold")],
)
def test_files_of_lists_that_make_no_sense_are_refused(text: str, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "split.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=sentence):
        own_task(paths(), file)


def test_the_name_follows_everything_that_results_depend_on() -> None:
    graphs = paths()
    base = own_task(graphs, name="mine")
    assert base.name.startswith("mine-size-")
    assert base == own_task(paths(), name="mine")
    assert base == pickle.loads(pickle.dumps(base))  # as it arrives in a worker
    assert base.name == own_task(replace(graphs, names=None), name="mine").name
    red = az.GraphSet.from_edges([[(0, 1)]] * 2 + [[(0, 1), (1, 2)]] * 2, y=[0, 1, 0, 1], colors=None)
    others = [
        own_task(graphs, "random", name="mine"), own_task(graphs, name="mine", k=3),
        own_task(graphs, {"train": range(20), "test": range(20, 40)}, name="mine"),
        own_task(graphs, {"train": range(19), "test": range(20, 40)}, name="mine"),
        own_task(paths(y=["b", "a"] * 20), name="mine"), own_task(paths(42), name="mine"),
        own_task(paths(y=[0, 1] * 20), name="mine"), own_task(paths(y=["0", "1"] * 20), name="mine"),
        own_task(red, {"train": [0, 1, 2], "test": [3]}, name="mine"),
    ]  # fmt: skip
    assert len({task.name for task in (base, *others)}) == len(others) + 1
    assert all(task != base for task in others)


def test_too_few_graphs_are_refused() -> None:
    with pytest.raises(ValueError, match="needs test graphs"):
        own_task(paths(4), "random")
    with pytest.raises(ValueError, match="at least two classes; got \\['a'\\]"):
        own_task(paths(y=["a"] * 40), "random")
    with pytest.raises(ValueError, match="one class"):
        own_task(paths(), {"train": ["g0", "g2"], "test": ["g1"]})
    with pytest.raises(ValueError, match="graph 1 has nan"):
        own_task(paths(y=[0.0, float("nan")] * 20))


def test_graphs_that_cannot_be_split_by_size_can_be_at_random() -> None:
    rings = az.GraphSet.from_edges([[(i, (i + 1) % 9) for i in range(9)]] * 20, y=[0, 1] * 10)
    with pytest.raises(ValueError, match="--split random"):
        own_task(rings)
    with pytest.raises(ValueError, match="--split random"):
        own_task(paths(y=["a"] * 30 + ["b"] * 10))


def test_numbers_to_predict_and_missing_labels_are_refused() -> None:
    with pytest.raises(ValueError, match="these graphs have 80"):
        own_task(paths(80, y=list(range(80))))
    with pytest.raises(ValueError, match="whole numbers or strings"):
        own_task(paths(y=[place / 7 for place in range(40)]), predict="classes")
    with pytest.raises(ValueError, match="graph 2 has nan"):
        own_task(paths(y=[0.0, 1.0, float("nan"), 1.0] * 10))
    assert len(ALPHABET) == MAX_CLASSES


def test_graphs_of_one_size_are_one_environment() -> None:
    rings = az.GraphSet.from_edges([[(i, (i + 1) % 9) for i in range(9)]] * 20, y=[0, 1] * 10)
    assert own_task(rings, "random").single_environment
    assert not own_task(paths(), "random").single_environment


def test_lists_that_are_nested_without_end_are_refused(tmp_path):
    (tmp_path / "lists.json").write_text("[" * 200_000)
    with pytest.raises(ValueError, match=r"lists\.json"):
        read_lists(tmp_path / "lists.json")
