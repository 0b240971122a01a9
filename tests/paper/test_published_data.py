"""The data sets of the published tables: what is known of them, and that making them disturbs nothing."""

from __future__ import annotations

import sys

import networkx as nx
import numpy as np
import pytest

import anysize as az
from anysize.evaluation.tasks import Splits
from anysize.paper.tasks import TASKS

SBM = {"sbm-20": (3545, 1598), "sbm-14-20": (2980, 1605), "sbm-20-30": (4747, 3297)}
TEST_PATTERNS = 6724


@pytest.fixture(scope="module")
def made() -> dict[str, Splits]:
    return {name: TASKS[name].splits("published") for name in ("er-single", "er-multi", *SBM)}


def shares(graphs: az.GraphSet) -> list[float]:
    assert graphs.y is not None
    return [round(share, 2) for share in (np.bincount(graphs.y) / len(graphs)).tolist()]


@pytest.mark.parametrize(("name", "sizes"), [("er-single", {80}), ("er-multi", {70, 80})])
def test_erdos_renyi_sets(made: dict[str, Splits], name: str, sizes: set[int]) -> None:
    splits = made[name]
    assert splits.validation is not None
    assert (len(splits.train), len(splits.validation), len(splits.test)) == (80, 40, 100)
    assert shares(splits.test) == [0.39, 0.31, 0.30]
    assert set(splits.train.sizes.tolist()) == set(splits.validation.sizes.tolist()) == sizes
    assert set(splits.test.sizes.tolist()) == {140}
    for graphs in splits.sets.values():
        density = graphs.edge_counts / (graphs.sizes * (graphs.sizes - 1) / 2)
        nearest = np.abs(density[:, None] - np.array([0.2, 0.5, 0.8])).argmin(axis=1)
        assert nearest.tolist() == graphs.y.tolist()  # 9 standard deviations lie between the classes


@pytest.mark.parametrize("name", SBM)
def test_block_model_sets_have_the_known_patterns(made: dict[str, Splits], name: str) -> None:
    splits = made[name]
    assert splits.validation is not None
    assert (len(splits.train), len(splits.validation), len(splits.test)) == (80, 20, 100)
    assert shares(splits.test) == [0.57, 0.43]
    found = [az.count(graphs, k=5).shape[1] for graphs in (splits.train, splits.validation)]
    assert tuple(found) == SBM[name]


def test_the_three_block_model_tasks_share_one_test_set(made: dict[str, Splits]) -> None:
    tests = [made[name].test for name in SBM]
    assert tests[0].equals(tests[1])
    assert tests[0].equals(tests[2])
    assert az.count(tests[0], k=5).shape[1] == TEST_PATTERNS


@pytest.mark.parametrize(("part", "common"), [("train", ("red", "green")), ("test", ("blue", "yellow"))])
def test_colors_follow_blocks_and_flip(made: dict[str, Splits], part: str, common: tuple[str, str]) -> None:
    graphs = made["sbm-14-20"].sets[part]
    assert graphs.palette == ("blue", "green", "red", "yellow")
    place = np.arange(len(graphs.indptr) - 1) - np.repeat(graphs.first[:-1], graphs.sizes)
    block = (place >= np.repeat(graphs.sizes // 2, graphs.sizes)).astype(int)
    names = np.array(graphs.palette)[graphs.colors]
    for number, pair in enumerate((("red", "blue"), ("green", "yellow"))):
        inside = names[block == number]
        assert set(inside.tolist()) == set(pair)
        assert np.mean(inside == common[number]) == pytest.approx(0.9, abs=0.03)


def test_the_first_graph_by_hand() -> None:
    """The order of draws: class, size, then the colors of block 1 and of block 2; networkx has its own seed."""
    stream = np.random.RandomState(42)
    label, _size = stream.randint(2), stream.randint(1)
    codes = np.concatenate([stream.choice(4, 10, p=[0.9, 0.1, 0, 0]), stream.choice(4, 10, p=[0, 0, 0.9, 0.1])])
    cross = (0.1, 0.3)[label]
    graph = nx.stochastic_block_model([10, 10], [[0.2, cross], [cross, 0.2]], seed=1)
    splits = TASKS["sbm-20"].splits("published")
    assert splits.validation is not None
    first = splits.validation[0]
    assert first.y.tolist() == [label]
    assert sorted(map(tuple, first.edges().tolist())) == sorted(tuple(sorted(edge)) for edge in graph.edges())
    assert list(first.color_names()) == [("red", "blue", "green", "yellow")[code] for code in codes]


def test_erdos_renyi_graphs_are_those_of_networkx(made: dict[str, Splits]) -> None:
    stream = np.random.RandomState(42)
    drawn = []
    for number in range(120):
        size, label = (70, 80)[stream.randint(2)], stream.randint(3)
        drawn.append((label, nx.gnp_random_graph(size, (0.2, 0.5, 0.8)[label], seed=number + 1)))
    splits = made["er-multi"]
    assert splits.validation is not None
    for graphs, expected in ((splits.validation, drawn[:40]), (splits.train, drawn[40:])):
        assert graphs.equals(az.GraphSet.from_networkx([graph for _, graph in expected], y=[y for y, _ in expected]))


def test_without_networkx_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match=r"pip install networkx, or take fresh ones \(data=0\)"):
        TASKS["sbm-20"].splits("published")
    assert len(TASKS["er-single"].splits("published").train) == 80
    assert len(TASKS["sbm-20"].splits(0).train) == 80  # fresh data do without
