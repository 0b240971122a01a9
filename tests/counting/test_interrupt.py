"""Ctrl-C during a count: at the prompt and on the command line, with every engine, it takes at most two seconds."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anysize.counting.engines.threads import Threads
from anysize.counting.planner import ENGINES

SECONDS_TO_STOP = 2.0

PROMPT = """
import json, os, signal, threading, time, warnings
from contextlib import ExitStack
import networkx as nx
import anysize as az
from anysize.executors import LocalExecutor

warnings.simplefilter("ignore")


def random(n, p, colors=0):
    graph = nx.gnp_random_graph(n, p, seed=1)
    nx.set_node_attributes(graph, {vertex: vertex % max(colors, 1) for vertex in graph}, "color")
    return az.GraphSet.from_networkx(graph, color="color" if colors else None)


star = az.GraphSet.from_edges([(0, leaf) for leaf in range(1, 2000)])
jobs = [  # each takes at least several seconds
    ("bitset", random(900, 0.5), 5, {}),
    ("sparse", random(900, 0.3), 5, {}),
    ("flip", random(400, 0.4, 2), 5, {}),
    ("flip_sparse", random(600, 0.4, 2), 5, {}),
    ("enumerate", star, 7, {}),
    ("typed", star, 5, {}),
    ("brute", star, 5, {}),
    ("sample", random(300, 0.1), 7, {"samples": 10**9}),
]


def stop():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)


for engine, graphs, k, options in jobs:
    small = random(12, 0.5, 2 if graphs.colors is not None else 0)
    az.count(small, k, engine=engine, **({"samples": 10} if options else {}))  # loads or compiles the kernels
    for cluster in (False, True) if engine in ("sparse", "enumerate", "sample") else (False,):
        sent = []
        with ExitStack() as stack:
            if cluster:
                stack.enter_context(az.cluster(stack.enter_context(LocalExecutor(2))))
            threading.Timer(0.2, stop).start()
            try:
                az.count(graphs, k, engine=engine, threads=2, **options)
                print(json.dumps([engine, cluster, None, None]), flush=True)
                continue
            except KeyboardInterrupt:
                pass
        seconds = time.perf_counter() - sent[0]
        for _ in range(30):  # a busy machine may take some time to end the threads
            cpu = time.process_time()
            time.sleep(0.1)
            cpu = time.process_time() - cpu
            if cpu < 0.03:
                break
        print(json.dumps([engine, cluster, seconds, cpu]), flush=True)
"""


def test_every_engine_stops_at_the_prompt_and_leaves_no_thread_computing() -> None:
    done = subprocess.run([sys.executable, "-c", PROMPT], capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    stopped = {(engine, cluster): (seconds, cpu) for engine, cluster, seconds, cpu in lines}
    expected = {(engine, False) for engine in (ENGINES.keys() - {"direct"}) | {"sample"}}
    assert set(stopped) == expected | {(engine, True) for engine in ("sparse", "enumerate", "sample")}, done.stderr
    for where, (seconds, cpu) in stopped.items():
        assert seconds is not None, f"{where} was finished"
        assert seconds < SECONDS_TO_STOP, where
        assert cpu < 0.03, where


def test_the_command_line_stops_with_exit_code_130(tmp_path: Path) -> None:
    file = tmp_path / "star.txt"
    file.write_text("".join(f"0 {leaf}\n" for leaf in range(1, 2000)))
    command = [sys.executable, "-m", "anysize", "count", str(file), "--k", "7"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert "--budget" in process.stderr.readline()  # the note that it will take long: counting begins
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        began = time.perf_counter()
        assert process.wait(60) == 130
        assert time.perf_counter() - began < SECONDS_TO_STOP
        assert process.stderr.read().splitlines()[-1] == "Stopped."
        assert process.stdout.read() == ""


@pytest.mark.parametrize("number", [1, 2])
def test_errors_of_a_thread_reach_the_caller(number: int) -> None:
    def work(start: int, stop: int) -> int:
        if start == 3:
            raise OverflowError("too large")
        return start

    weights = np.ones(6)
    with pytest.raises(OverflowError, match="too large"):
        Threads(number).run(work, weights, 6)
    assert Threads(number).run(lambda start, stop: start * stop, weights, 6) == [0, 2, 6, 12, 20, 30]


def test_a_halted_count_has_no_result() -> None:
    threads, counter = Threads(2), np.zeros(1, np.int64)
    threads.stop()
    with pytest.raises(KeyboardInterrupt):
        replace(threads, number=1).run(lambda start, stop: start, np.ones(1))
    with pytest.raises(KeyboardInterrupt):
        threads.run(lambda start, stop: start, np.ones(3))
    with pytest.raises(KeyboardInterrupt):
        threads.pull(lambda: 0, counter, 5, lambda share: None)
