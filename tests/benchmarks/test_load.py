"""The benchmark of large work, on small work."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # benchmarks/ lies beside src/, outside the package

from benchmarks import load
from benchmarks.load import Job, Result, by_size, edge_array, jobs, line

from anysize import METHODS, GraphSet


def test_every_method_is_measured() -> None:
    assert set(METHODS) < set(jobs())
    assert set(load.FIRST) <= set(METHODS)
    assert jobs()["gin-sum"].sizes == [3125, 12_500, 50_000]


def test_the_large_graph_has_distinct_edges_and_a_heavy_tail() -> None:
    graph = GraphSet.from_edges(edge_array(5000))
    assert graph.degrees.sum() == 10_000
    assert graph.degrees.max() > 5 * graph.degrees.mean()
    assert not np.array_equal(edge_array(5000)[:-1], np.sort(edge_array(5000), axis=0)[:-1])


@pytest.mark.parametrize("name", ["graph from an edge array", "majority", "gin-sum"])
def test_one_measurement(name: str) -> None:
    job = jobs()[name]
    result = load.measure(Job(name, 25_600, job.prepare, job.trained), 300, epochs=1)
    assert result.peak > result.added >= 0
    assert (result.epoch is not None) == (name == "gin-sum")


def test_larger_sizes_are_left_out_after_the_first_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def apart(job: Job, size: int, epochs: int, limit: int) -> Result | str:
        asked.append(size)
        return Result(2.0, 300, 50, 0.5) if size < 400 else "> 60 s"

    monkeypatch.setattr(load, "measure_apart", apart)
    job = Job("slow", 1600, jobs()["majority"].prepare)
    results = by_size(job, 3, 60)
    assert asked == [100, 400]
    assert line(job, results).startswith("| slow (400: > 60 s) | 2 |")


def test_ratios_go_from_size_to_size() -> None:
    job = Job("quick", 1600, jobs()["majority"].prepare)
    row = line(job, [Result(0.001, 300, 0), Result(1.0, 310, 30), Result(5.0, 400, 120)])
    assert "< 0.01 / 1 / 5 | - / 5.0" in row
    assert "< 0.01 / 30 / 120 | - / 4.0 | 400 |" in row
    assert line(job, ["> 60 s"]).count("|") == row.count("|")


def test_a_measurement_apart_ends_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[2] / "src"))
    monkeypatch.chdir(Path(__file__).resolve().parents[2])
    assert load.measure_apart(jobs()["stream, k = 4"], 1_000_000, 1, 1) == "> 1 s"
