"""Memory limits: choice of engines, batches, threads, and estimates against measured peaks."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from counting.helpers import colored, gnp, identical

import anysize as az
from anysize._memory import available_memory, format_bytes
from anysize.counting import planner
from anysize.counting.execution import CountRequest
from anysize.counting.features import Features
from anysize.counting.planner import ENGINES, choose_engines, make_plan
from anysize.counting.sampling import estimates
from anysize.executors import LocalExecutor, cluster
from anysize.graphs.graphset import GraphSet


def test_engines_that_need_more_are_left_out() -> None:
    graph = GraphSet.from_networkx(nx.complete_graph(600))
    assert [choice.engine.name for choice in choose_engines(graph, 5)] == ["bitset"]
    assert [choice.engine.name for choice in choose_engines(graph, 5, limit=2**20)] == ["flip"]
    assert not ENGINES["bitset"].memory(Features(graph), 5).within(2**20).any()
    with pytest.raises(ValueError, match=r"graph 0 \(600 vertices, 179700 edges\) cannot be counted .* within 9 KiB"):
        az.count(graph, 5, max_memory="9KiB")
    with pytest.raises(ValueError, match=r"'bitset' needs least, about .* MiB"):
        az.count(graph, 5, engine="bitset", max_memory="1MiB")
    with pytest.raises(ValueError, match=r"graph 'x' .* the engine 'sample' needs least"):
        az.count(replace(graph, names=("x",)), 5, engine="sample", samples=100, max_memory="1MiB")


def test_the_memory_of_the_machine_is_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GraphSet.from_networkx(nx.complete_graph(900))
    request = CountRequest()
    (choice,) = make_plan(graph, [5], request, 2).choices
    assert choice.engine.name == "bitset"
    free = available_memory()
    assert free is None or 2**24 < free < 2**44
    monkeypatch.setattr(planner, "available_memory", lambda: 2**20)
    assert make_plan(graph, [5], request, 2).max_memory is None  # so short a count is not limited
    monkeypatch.setattr(planner, "FILLS_MEMORY_S", 0.0)
    limited = make_plan(graph, [5], request, 2)
    assert [limited.max_memory, *(choice.engine.name for choice in limited.choices)] == [2**20, "flip"]
    monkeypatch.setattr(planner, "available_memory", lambda: 9 * 2**10)
    with pytest.raises(ValueError, match=r"within 9 KiB: .* raise max_memory if there is more"):
        make_plan(graph, [5], request, 2)
    assert make_plan(graph, [5], CountRequest(max_memory=2**30), 2).max_memory == 2**30
    monkeypatch.setattr(planner, "available_memory", lambda: None)
    assert make_plan(graph, [5], request, 2).max_memory is None


@pytest.mark.parametrize("colors", [0, 3])
def test_the_table_is_the_same_within_any_limit(colors: int) -> None:
    graphs = GraphSet.concatenate([gnp(5 + n % 30, 0.3, seed=n) for n in range(120)])
    graphs = colored(graphs, colors) if colors else graphs
    expected = az.count(graphs, (3, 5))
    for limit in ("64KiB", "3MiB", "30MiB") if not colors else ("30MiB", "100MiB"):
        identical(az.count(graphs, (3, 5), max_memory=limit), expected)
    with LocalExecutor(2) as two, cluster(two):
        identical(az.count(graphs, (3, 5), max_memory="100MiB"), expected)


def test_batches_and_threads_stay_within_the_limit() -> None:
    graphs = GraphSet.concatenate([gnp(30, 0.3, seed=n) for n in range(100)])
    need = ENGINES["bitset"].memory(Features(graphs), 5)
    plenty, threads = need.batches(8, 10**9)
    assert (plenty, threads) == ([(0, 100)], 8)
    limit = int(2.5 * need.thread.max())
    few, threads = need.batches(8, limit)
    assert threads == 2
    assert len(few) > 3
    assert [start for start, _ in few[1:]] == [stop for _, stop in few[:-1]]
    assert (few[0][0], few[-1][1]) == (0, 100)
    for start, stop in few:
        assert need.work(threads).max() + need.tables()[start:stop].sum() <= limit
    assert ENGINES["bitset"].memory(Features(graphs[:0]), 5).batches(2, limit) == ([], 2)


PEAK = """
import sys
import numpy as np
import anysize as az
name, k = sys.argv[1], int(sys.argv[2])
from anysize.graphs.graphset import GraphSet
def make(n, p, colors):
    random = np.random.default_rng(1)
    edges = np.argwhere(np.triu(random.random((n, n), np.float32) < p, 1))
    names = random.integers(0, colors, n).tolist() if colors else None
    return GraphSet.from_edges(edges, n_vertices=n, colors=names)
n, p, colors = int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
small = make(n, p / 10, colors)  # what is compiled depends on vertices and colors
az.count(small, k, engine=name, threads=1)
if name.startswith("flip"):
    from anysize.counting.engines.flip_plan import flip_plan
    flip_plan.cache_clear()  # it belongs to what the engine takes
graph = make(n, p, colors)
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
status = lambda field: next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith(field))
before = status("VmRSS:")
az.count(graph, k, engine=name, threads=1)
print(1024 * (status("VmHWM:") - before))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="peaks are read from /proc")
@pytest.mark.parametrize(
    ("name", "k", "n", "p", "colors"),
    [
        ("bitset", 5, 2000, 0.02, 0),
        ("sparse", 5, 4000, 0.05, 0),
        ("flip", 5, 300, 0.1, 8),
        ("flip_sparse", 5, 3000, 0.02, 4),
        ("enumerate", 4, 700, 0.03, 60),
    ],
)
def test_estimates_are_near_the_measured_peak(name: str, k: int, n: int, p: float, colors: int) -> None:
    """Not below half of the measured peak, not above four times of it (and a few MiB)."""
    arguments = [name, k, n, p, colors]
    at_once = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}  # freed memory goes back
    command = [sys.executable, "-c", PEAK, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | at_once)
    assert done.returncode == 0, done.stderr
    peak = int(done.stdout)
    random = np.random.default_rng(1)
    edges = np.argwhere(np.triu(random.random((n, n), np.float32) < p, 1))
    names = random.integers(0, colors, n).tolist() if colors else None
    seen = Features(GraphSet.from_edges(edges, n_vertices=n, colors=names))
    need = ENGINES[name].memory(seen, k)
    estimate = float((need.work(1) + need.table).max())
    print(f"{name}: estimated {format_bytes(estimate)}, measured {format_bytes(peak)}")
    assert peak / 2 - 8 * 2**20 < estimate < 4 * peak + 8 * 2**20, f"{format_bytes(estimate)} for {format_bytes(peak)}"


def test_every_engine_has_an_estimate() -> None:
    star = Features(GraphSet.from_networkx(nx.star_graph(20)))
    needs = [engine.memory(star, k) for engine in ENGINES.values() for k in engine.sizes]
    needs += [estimates.memory(star, k) for k in estimates.SAMPLED_SIZES]
    for need in needs:
        assert need.work(1).shape == need.tables().shape == (1,)
        assert (need.work(2) >= need.work(1)).all()
        assert (need.tables() > 0).all()
