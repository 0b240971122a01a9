"""The benchmark of training: plain models and stacks compute the same, and a wrong answer stops it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from training.helpers import tables

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks/ lies beside src/, outside the package

from benchmarks import learning, plain_gamma
from benchmarks.learning import ROWS, Data, Row, check, load, members
from benchmarks.plain_gamma import PlainGamma, ScatterGIN, gin_layer, train_plain
from benchmarks.stacks import WrongAnswer


@pytest.fixture(scope="module")
def data() -> Data:
    few = {name: (counts[:6], y[:6]) for name, (counts, y) in tables("sbm-20", 5).items()}
    return Data.of(few, "cpu")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_plain_models_and_stacks_are_the_same(row: Row, data: Data) -> None:
    check(row, data, 8, "cpu")


def test_a_wrong_answer_stops_it(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    real = plain_gamma.with_parameters_of

    def spoiled(*given: object) -> PlainGamma:
        plain = real(*given)
        with torch.no_grad():
            plain.norms[0].weight.mul_(1.01)
        return plain

    monkeypatch.setattr(learning, "with_parameters_of", spoiled)
    with pytest.raises(WrongAnswer, match="differ"):
        check(ROWS[0], data, 8, "cpu")


def test_the_layer_that_stands_in_for_pyg_is_the_same(data: Data) -> None:
    layer = gin_layer(4, 6)
    own = ScatterGIN(layer.nn)
    x = torch.randn(len(data.train.item), 4, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(own(x, data.train.edges), layer(x, data.train.edges))


def test_plain_models_learn(data: Data) -> None:
    setting = members(1, 8, 1)[0]
    plain = data.plain(ROWS[2], 8, False)
    before = plain.head.weight.detach().clone()
    best = train_plain(
        plain, data.train, data.validation, 3, setting.lr, setting.penalty, 2, data.fixed(ROWS[2], setting.seed)
    )
    assert 0 <= best <= 1
    assert not torch.equal(before, plain.head.weight)


def test_counts_come_from_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {name: (counts[:4], y[:4]) for name, (counts, y) in tables("sbm-20", 5).items()}
    monkeypatch.setattr(learning, "count_graphs", lambda: few)
    with pytest.raises(FileNotFoundError, match="--prepare"):
        load(tmp_path / "counts")
    learning.prepare(tmp_path / "counts")
    for name, (counts, y) in load(tmp_path / "counts").items():
        assert np.array_equal(counts.matrix.toarray(), few[name][0].matrix.toarray())
        assert np.array_equal(y, few[name][1])
