"""The benchmark of counting: its answers are checked, and a wrong answer stops it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # benchmarks/ lies beside src/, outside the package

from benchmarks import inputs, million, peers, sampling
from benchmarks.checks import Check, WrongAnswer, class_sums, color_sums, engine, ours, subgraph, totals
from benchmarks.counting import checked
from benchmarks.growth import engines_of
from benchmarks.rows import ROWS, Row
from benchmarks.timing import race, written

TINY = inputs.erdos_renyi(16, 0.3)
COLORED = inputs.erdos_renyi(16, 0.3, colors=3)


def test_rows_have_names_of_their_own() -> None:
    assert len({row.name for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", [row for row in ROWS if "ER 40" in row.name], ids=lambda row: row.name)
def test_tiny_rows_pass_their_checks(row: Row) -> None:
    graphs, counts = checked(row)
    assert counts.matrix.sum() > 0
    assert engines_of(counts) in ("bitset", "sparse", "flip", "flip_sparse", "enumerate")
    assert len(graphs) == 1


@pytest.mark.parametrize("check", [color_sums, engine("brute"), engine("enumerate"), subgraph(12, "brute")])
def test_checks_accept_right_answers(check: Check) -> None:
    check(COLORED, 4, ours(COLORED, 4))


@pytest.mark.parametrize("check", [color_sums, engine("brute"), totals(7)])
def test_checks_refuse_wrong_answers(check: Check) -> None:
    counts = ours(COLORED, 4)
    counts.matrix.data[0] += 1
    with pytest.raises(WrongAnswer):
        check(COLORED, 4, counts)


@pytest.mark.parametrize("k", [3, 4, 5])
@pytest.mark.parametrize("name", sorted(peers.JOBS))
def test_peers_agree_with_us(name: str, k: int) -> None:
    call, answer = peers.JOBS[name](TINY, k)
    assert np.array_equal(answer(call()), class_sums(ours(TINY, k), k))


def test_molecules_look_like_molecules() -> None:
    graphs = inputs.molecules(50)
    assert 25 < graphs.sizes.mean() < 35
    assert graphs.degrees.max() <= 4
    assert (graphs.edge_counts >= graphs.sizes - 1).all()
    assert (graphs.edge_counts > graphs.sizes - 1).any()  # rings
    assert len(graphs.palette) <= inputs.MOLECULE_COLORS


def test_race_takes_the_best_of_every_contestant() -> None:
    best = race({"quick": lambda: None, "slow": lambda: sum(range(20_000))}, budget=0.01)
    assert best["quick"] < best["slow"]
    assert written(0.00123) == "1.23ms"


def test_the_times_of_samples_and_exact_engines_meet() -> None:
    job = sampling.Job("break-even k=4 tiny", lambda: inputs.erdos_renyi(30, 0.3), 4, quick=True)
    (record,) = sampling.break_even([job], threads=1, quick=True)
    errors = [step["error"] for step in record["steps"]]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] / errors[2] == pytest.approx(10, rel=0.5)  # a hundred times the samples
    assert record["fastest"] in record["exact"]
    assert {"bitset", "sparse", "flip", "enumerate"} <= set(record["exact"])
    assert all(engine["measured"] for engine in record["exact"].values())


def test_error_falls_with_the_root_of_time() -> None:
    steps = [{"samples": 10**4, "seconds": 0.11, "error": 0.1}, {"samples": 10**6, "seconds": 1.1, "error": 0.01}]
    assert sampling.meeting(steps, 1.1) == pytest.approx(0.01)
    assert sampling.meeting(steps, 0.6) == pytest.approx(0.01 * np.sqrt(2), rel=0.01)
    assert sampling.meeting(steps, 0.05) == float("inf")


def test_sample_rates_are_of_right_answers() -> None:
    job = sampling.Job("sample k=4 tiny", lambda: inputs.erdos_renyi(30, 0.3), 4, quick=True)
    (record,) = sampling.rates([job], threads=1, quick=True)
    assert record["seconds"] > 0
    table = sampling.sampled(job.graph(), 4, 20_000, 1)
    copies, errors = table.matrix.toarray()[0], table.standard_errors.toarray()[0]
    sampling._agree(table, copies, errors)
    with pytest.raises(WrongAnswer, match="standard errors away"):
        sampling._agree(table, copies * 2, errors)


def test_many_graphs_in_little_memory(tmp_path: Path) -> None:
    graphs = million.batch(3, 500, colored=True)
    assert graphs.equals(million.batch(3, 500, colored=True))
    assert graphs.sizes.min() >= 10
    assert graphs.sizes.max() <= 30
    assert 2 < graphs.degrees.mean() < 3
    result = million.run(1100, 500, 3, False, None, tmp_path / "out")
    assert result["graphs"] == 1100
    assert result["MiB at most"] >= result["MiB after a third"] > 0
