"""The benchmark of the baselines: plain models and stacks compute the same, and a wrong answer stops it."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks/ lies beside src/, outside the package

from benchmarks import baselines, plain_gnn
from benchmarks.baselines import ROWS, WORKLOADS, Data, Row, Workload, check, main
from benchmarks.plain_gnn import Graphs, PlainGNN, batches, train_plain
from benchmarks.stacks import WrongAnswer, best_rates

ROOT = Path(__file__).resolve().parents[2]
BY_NAME = {row.name: row for row in ROWS}


@lru_cache(maxsize=8)
def few(workload: Workload) -> Data:
    """A few graphs of a workload; three full mini-batches and a rest if it has mini-batches."""
    train, validation = workload.draw()
    size = None if workload.batch_size is None else 6
    return Data(replace(workload, batch_size=size), train[:20], validation[:5], "cpu")


@pytest.mark.parametrize("padded", [False, True], ids=["as on a CPU", "as on a GPU"])
@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_plain_models_and_stacks_are_the_same(
    row: Row, workload: Workload, padded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anysize.nn.rows.graph_batch.prefers_padding", lambda graphs, device: padded)
    check(row, few(workload))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_wrong_answer_stops_it(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    real = plain_gnn.with_parameters_of

    def spoiled(*given: object) -> PlainGNN:
        plain = real(*given)
        with torch.no_grad():
            plain.norms[0].weight.mul_(1.01)
        return plain

    monkeypatch.setattr(baselines, "with_parameters_of", spoiled)
    with pytest.raises(WrongAnswer, match=f"{row.name}: l[a-z]+ .*differ"):
        check(row, few(WORKLOADS[0]))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_plain_models_learn(row: Row) -> None:
    data = few(WORKLOADS[2])
    plain, epoch_of = data.plain(row), batches(data.plain_train, 6, "cpu")
    before = {name: parameter.detach().clone() for name, parameter in plain.named_parameters()}
    best = train_plain(plain, epoch_of, data.plain_validation, 2, 0.01, row.irm, 2, data.fixed(row))
    assert 0 <= best <= 1
    assert [name for name, parameter in plain.named_parameters() if torch.equal(parameter, before[name])] == []


def test_an_epoch_has_every_graph_once() -> None:
    data = few(WORKLOADS[2])
    loaded = list(batches(data.plain_train, 6, "cpu")())
    assert [graphs.batch.num_graphs for graphs in loaded] == [6, 6, 6, 2]
    assert sum(len(graphs.batch.x) for graphs in loaded) == data.train.sizes.sum()


def test_identities_are_places_in_an_order_of_the_graph() -> None:
    data = few(WORKLOADS[2])
    graphs = Graphs.of(data.plain_train, "cpu")
    drawn = graphs.draw_identities(3)
    assert not torch.equal(drawn[0], drawn[1])
    for own in drawn:
        for place, n in enumerate(data.train.sizes.tolist()):
            found = own[graphs.batch.batch == place].sort().values
            assert torch.equal(found, (torch.arange(n) % 10).sort().values)


def test_a_slow_contestant_gets_one_turn_and_the_best_of_turns_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("benchmarks.stacks.perf_counter", lambda: now[0])
    turns: dict[str, list[int]] = {"plain": [], "stack": []}

    def call(name: str, seconds: float) -> float:
        turns[name].append(1)
        now[0] += seconds
        return len(turns[name]) / seconds

    found = best_rates(
        {"plain": lambda epochs: call("plain", 0.1), "stack": lambda epochs: call("stack", 20.0)}, 8, 1.0
    )
    assert {name: len(calls) for name, calls in turns.items()} == {"plain": 4, "stack": 2}  # one to warm up
    assert found == {"models": 8, "epochs": {"plain": 10, "stack": 2}, "plain": 4 / 0.1, "stack": 2 / 20.0}


def test_the_command_prints_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, file = few(WORKLOADS[2]), tmp_path / "rates.json"
    workload = replace(data.workload, draw=lambda: (data.train, data.validation))
    monkeypatch.setattr(baselines, "WORKLOADS", (workload,))
    monkeypatch.setattr(baselines, "QUICK_SECONDS", 0.001)
    threads = torch.get_num_threads()
    try:
        main(["--quick", "--models", "2", "--workload", "molecules", "--json", str(file)])
    finally:
        torch.set_num_threads(threads)
    shown, rows = capsys.readouterr().out, json.loads(file.read_text())["rows"]
    assert [record["row"] for record in rows] == list(BY_NAME)
    assert all(record["row"] in shown and record["loader_seconds"] > 0 for record in rows)
    assert all(record[name] > 0 for record in rows for name in ("plain", "alone", "stack"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--models", "0"], "at least 1; got 0"),
        (["--device", "tpu"], "cpu or cuda; got tpu"),
        (["--workload", "sbm"], "invalid choice: 'sbm'"),
    ],
)
def test_wrong_options_are_rejected(given: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_neither_numba_nor_files_are_needed() -> None:
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from benchmarks.baselines import WORKLOADS\n"
        "print([len(part) for workload in WORKLOADS for part in workload.draw()])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, env={"ANYSIZE_DATA": "nowhere"}
    )
    assert done.stdout.strip() == "[80, 20, 80, 40, 420, 60]", done.stderr
