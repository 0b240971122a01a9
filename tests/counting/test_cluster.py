"""Counts in pieces: identical to those of one machine for every executor, also if workers die or graphs fail."""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import workers
from counting.helpers import colored, gnp, identical, same

import anysize as az
from anysize.counting.cluster import CountPiece, cut_pieces
from anysize.counting.engines.threads import Threads
from anysize.counting.execution import CountRequest
from anysize.counting.planner import make_plan
from anysize.executors import LocalExecutor, cluster
from anysize.executors.executor import Executor
from anysize.graphs.graphset import GraphSet, empty_set

STAR = 200_000  # leaves; it has more induced 5-stars than a 64-bit integer holds


def small(amount: int = 40) -> GraphSet:
    """Graphs of one to twenty vertices."""
    return GraphSet.concatenate([gnp(1 + n % 20, 0.3, seed=n) for n in range(amount)])


def unlike() -> GraphSet:
    """Graphs of very different cost, for which several engines are chosen."""
    large = GraphSet.from_networkx(nx.barabasi_albert_graph(6000, 4, seed=1))
    dense = GraphSet.from_networkx(nx.complete_graph(80))
    return GraphSet.concatenate([dense, large, small(6), dense])


def identical_samples(left: az.Counts, right: az.Counts) -> None:
    """The same estimates, errors, hits and rates, down to the arrays."""
    assert np.array_equal(left.columns.keys(), right.columns.keys())
    assert left.sampling is not None
    assert right.sampling is not None
    pairs = [(getattr(left, name), getattr(right, name)) for name in ("matrix", "hits", "standard_errors")]
    for a, b in pairs:
        for name in ("indptr", "indices", "data"):
            assert getattr(a, name).dtype == getattr(b, name).dtype
            assert np.array_equal(getattr(a, name), getattr(b, name))
    for name in ("rates", "samples", "exact_cliques"):
        assert np.array_equal(getattr(left.sampling, name), getattr(right.sampling, name))
    assert left.log[:-1] == right.log


@pytest.fixture(scope="module", params=["threads", "ray"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    if request.param == "ray":
        yield request.getfixturevalue("two_workers")
        return
    with LocalExecutor(3) as made:
        yield made


@pytest.mark.parametrize("k", [4, (1, 3)])
@pytest.mark.parametrize("colors", [0, 3])
def test_exact_counts_are_those_of_one_machine(executor: Executor, k: Any, colors: int) -> None:
    graphs = small()
    if colors:
        graphs = colored(graphs, colors, palette=("C", "N", "O", "unused"))
    graphs = replace(graphs, y=np.arange(len(graphs)), names=tuple(f"g{n}" for n in range(len(graphs))))
    expected = az.count(graphs, k)
    reported: list[float] = []
    with cluster(executor):
        counts = az.count(graphs, k, progress=reported.append)
    identical(counts, expected)
    for name in ("indptr", "indices", "data"):
        assert getattr(counts.matrix, name).dtype == getattr(expected.matrix, name).dtype
    assert counts.names == expected.names
    assert np.array_equal(counts.y, expected.y)
    assert counts.log[:-1] == expected.log
    assert f"by {executor.workers} workers" in counts.log[-1]
    assert reported == sorted(reported)
    assert reported[-1] == pytest.approx(1)


def test_several_engines_and_costs(executor: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anysize.counting.planner.SECOND_ENGINE_ABOVE_S", -1e18)
    graphs = unlike()
    expected = az.count(graphs, 5)
    assert len(expected.log) == 2, "this set is made for two engines"
    with cluster(executor):
        identical(az.count(graphs, 5), expected)


@pytest.mark.parametrize("how", [{"samples": 30_000}, {"rel_error": 0.2}])
def test_estimates_are_those_of_one_machine(executor: Executor, how: dict[str, Any]) -> None:
    graphs = colored(small(9), 2) if "samples" in how else small(20)[[5, 9, 14]]
    expected = az.count(graphs, 4, engine="sample", seed=7, **how)
    with cluster(executor):
        identical_samples(az.count(graphs, 4, engine="sample", seed=7, **how), expected)


def test_empty_sets(executor: Executor) -> None:
    with cluster(executor):
        same(az.count(empty_set(), 3), az.count(empty_set(), 3))
        same(az.count(small(1), 3), az.count(small(1), 3))


def test_a_worker_killed_in_the_middle_changes_nothing(
    two_workers: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs, marker = colored(small(), 3), tmp_path / "died"
    expected = az.count(graphs, 4), az.count(graphs[:9], 4, engine="sample", samples=20_000)
    monkeypatch.setattr("anysize.counting.cluster.count_piece", workers.CountAndDie(marker))
    with cluster(two_workers):
        identical(az.count(graphs, 4), expected[0])
        assert marker.exists()
        marker.unlink()
        identical_samples(az.count(graphs[:9], 4, engine="sample", samples=20_000), expected[1])
        assert marker.exists()


def test_a_graph_that_kills_its_worker_is_named_and_the_others_counted(
    two_workers: Executor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graphs = small(6)
    expected = az.count(graphs, 3)[[0, 1, 2, 4, 5]]
    monkeypatch.setattr("anysize.counting.cluster.count_piece", workers.CountAndDie(tmp_path / "x", number=3))
    monkeypatch.setattr("anysize.counting.cluster.RETRIES", 0)
    with cluster(two_workers):
        with pytest.raises(
            az.PartialResultError, match=r"1 of 6 graphs could not be counted .*: graph 3: .*died"
        ) as caught:
            az.count(graphs, 3)
        assert [one.number for one in caught.value.failed] == [3]
        identical(caught.value.finished, expected)


def with_a_star() -> GraphSet:
    """A graph whose counts do not fit, among others."""
    star = GraphSet.from_edges(np.stack([np.zeros(STAR, int), np.arange(1, STAR + 1)], axis=1))
    graphs = GraphSet.concatenate([small(3), star, small(3)])
    return replace(graphs, names=("a", "b", "c", "star", "d", "e", "f"), y=np.arange(7))


def test_a_graph_that_fails_is_named_and_the_others_counted(executor: Executor, tmp_path: Path) -> None:
    graphs = with_a_star()
    others = graphs[[0, 1, 2, 4, 5, 6]]
    expected = az.count(others, 5)
    with cluster(executor):
        with pytest.raises(
            az.PartialResultError, match=r"1 of 7 graphs could not be .*: graph 'star' has \d+ induced"
        ) as caught:
            az.count(graphs, 5, cache=tmp_path)
        identical(caught.value.finished, expected)
        assert caught.value.finished.names == others.names
        with pytest.warns(az.CountWarning, match="1 of 7 graphs could not be counted"):
            counts = az.count(graphs, 5, errors="skip")
    identical(counts, expected)
    assert counts.names == others.names
    assert np.array_equal(counts.y, others.y)
    assert counts.log[-1].startswith("left out: graph 'star' has")
    assert len(list(tmp_path.rglob("*.npz"))) == 1
    kept = az.count(others, 5, cache=tmp_path)  # what the call that failed left in the cache
    identical(kept, expected)
    assert "pieces" in kept.explain()


def test_failed_graphs_can_be_left_out_without_a_cluster(tmp_path: Path) -> None:
    graphs = with_a_star()
    expected = az.count(graphs[[0, 1, 2, 4, 5, 6]], 5)
    with pytest.raises(OverflowError, match="graph 'star' has"):
        az.count(graphs, 5)
    for _ in range(2):  # a table with rows left out is not kept as that of the whole set
        with pytest.warns(az.CountWarning, match="1 of 7 graphs could not be counted and have no row"):
            counts = az.count(graphs, 5, errors="skip", cache=tmp_path)
        identical(counts, expected)
        assert counts.names == expected.names
    nameless = replace(graphs, names=None)
    with pytest.warns(az.CountWarning, match="graph 3 has"):
        counts = az.count(nameless, 5, errors="skip")
    assert counts.names is None
    with pytest.warns(az.CountWarning, match="1 of 1 graphs"):
        assert len(az.count(graphs[3], 5, errors="skip")) == 0
    with pytest.raises(ValueError, match="errors must be 'raise' or 'skip'; got 'ignore'"):
        az.count(graphs, 5, errors="ignore")


def test_pieces_have_one_engine_and_equal_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anysize.counting.planner.SECOND_ENGINE_ABOVE_S", -1e18)
    graphs = unlike()
    plan = make_plan(graphs, [5], CountRequest("auto", None, None, 0, None), 2)
    assert len(plan.choices) == 2
    with LocalExecutor(2) as two:
        made = list(cut_pieces(plan, graphs, np.arange(len(graphs)), two, None, Threads()))
        others = cut_pieces(plan, graphs, np.arange(len(graphs)), two, 2, Threads())
        threads = {piece.threads.number for piece in others}
    assert sorted(np.concatenate([piece.numbers for piece in made]).tolist()) == list(range(len(graphs)))
    assert all(len(piece.plan.choices) == 1 for piece in made)
    assert all(np.array_equal(piece.graphs.sizes, graphs.sizes[piece.numbers]) for piece in made)
    assert all(1 <= piece.threads.number <= two.max_cores for piece in made)
    assert threads == {2}
    equal = GraphSet.concatenate([gnp(12, 0.5)] * 1000)
    plan = make_plan(equal, [4], CountRequest("enumerate", None, None, 0, None), 2)
    with LocalExecutor(2) as two:
        sizes = [len(piece.numbers) for piece in cut_pieces(plan, equal, np.arange(1000), two, None, Threads())]
    assert 2 <= len(sizes) <= 16
    assert max(sizes) - min(sizes) <= 2


def test_large_sets_are_cut_small_enough_to_send(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anysize.counting.cluster.MAX_PIECE_BYTES", 20_000)
    graphs = small(200)
    plan = make_plan(graphs, [3], CountRequest("auto", None, None, 0, None), 1)
    with LocalExecutor(1) as one:
        made = list(cut_pieces(plan, graphs, np.arange(200), one, None, Threads()))
    assert max(piece.graphs.indices.nbytes + piece.graphs.indptr.nbytes for piece in made) < 40_000


def test_a_worker_with_another_version_is_refused(two_workers: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CountPiece, "__init__", _old(CountPiece.__init__))
    with (
        cluster(two_workers),
        pytest.raises(az.PartialResultError, match=r"a worker has anysize .*, this machine 0.0.1"),
    ):
        az.count(small(4), 3)


def _old(make: Any) -> Any:
    def init(self: Any, *args: Any, **options: Any) -> None:
        make(self, *args, **{**options, "version": "0.0.1"})

    return init


def test_warnings_of_workers_reach_the_user(two_workers: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anysize.counting.cluster.count_piece", workers.WarnAndCount())
    with cluster(two_workers), pytest.warns(az.CountWarning, match="^beware of graph 0$"):
        az.count(small(4), 3)


def test_more_threads_than_a_machine_has(two_workers: Executor) -> None:
    with (
        cluster(two_workers),
        pytest.raises(ValueError, match="64 cores are needed"),
    ):
        az.count(small(4), 3, threads=64)


def test_the_command_line_counts_on_a_cluster(two_workers: Executor, tmp_path: Path) -> None:
    path = tmp_path / "house.txt"
    path.write_text("0 1\n1 2\n2 3\n3 0\n0 4\n1 4\n")
    command = [sys.executable, "-m", "anysize", "count", str(path), "--k", "4", "--format", "csv", "--explain"]
    done = subprocess.run([*command, "--cluster", "auto"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "pieces by 2 workers" in done.stderr
    rows = list(csv.DictReader(done.stdout.splitlines()))
    assert {row["pattern"]: int(row["copies"]) for row in rows} == {"4-path": 2, "paw": 2, "4-cycle": 1}


@pytest.mark.parametrize("k", [3, 4, 5])
def test_workers_share_one_graph_by_ranges_of_its_vertices(executor: Executor, k: int) -> None:
    graph = GraphSet.from_networkx(nx.barabasi_albert_graph(20_000, 8, seed=k))
    expected = az.count(graph, k, engine="sparse")
    with cluster(executor), pytest.MonkeyPatch.context() as patch:
        patch.setattr("anysize.counting.cluster.MIN_PIECE_S", 1e-4)
        counts = az.count(graph, k, engine="sparse", threads=1)
    assert "by ranges of vertices" in counts.explain()
    assert (counts.matrix != expected.matrix).nnz == 0


def test_workers_share_one_graph_in_processes_of_their_own() -> None:
    graph = GraphSet.from_networkx(nx.barabasi_albert_graph(3000, 8, seed=1))
    with LocalExecutor(2, processes=True) as executor, pytest.MonkeyPatch.context() as patch, cluster(executor):
        patch.setattr("anysize.counting.cluster.MIN_PIECE_S", 1e-6)
        counts = az.count(graph, 5, engine="sparse", threads=1)
    assert "by ranges of vertices, 2 workers" in counts.explain()
    assert (counts.matrix != az.count(graph, 5).matrix).nnz == 0
