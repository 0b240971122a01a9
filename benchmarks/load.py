"""CPU time and memory of large work on one core, by size: ``python -m benchmarks.load``.

A million graphs counted as a stream, a graph of five million edges, and fits of every method on 50,000 graphs. Every
measurement runs in a process of its own, one at a time; the time of imports, compiled code and input is left out.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from time import process_time

import numpy as np

from anysize import METHODS, GraphClassifier, GraphSet, count, count_stream
from benchmarks.million import batch

SCALES = (16, 4, 1)  # the sizes are the largest one divided by these
GRAPHS, EDGES, FITTED = 1_000_000, 5_000_000, 50_000
PER_BATCH = 20_000
DEGREE = 10
SAMPLES = 1_000_000
EPOCHS = 3
FIRST = (  # the quick ones first, as a run may be stopped
    "majority", "random", "size-only", "topology-only", "sizemix", "auto", "wl-kernel", "gc-kernel", "gamma-1hot",
    "gamma-gin", "gin-sum", "gcn-mean",
)  # fmt: skip

Work = Callable[[], object]


@dataclass(frozen=True)
class Result:
    """CPU seconds, and MiB: ``peak`` of the process, and how much of it the work ``added`` to what was in use before.

    Of methods trained in epochs, ``cpu`` is the part of the fit that does not depend on the epochs.
    """

    cpu: float
    peak: float
    added: float
    epoch: float | None = None


@dataclass(frozen=True)
class Job:
    """``prepare`` makes the input of a size and returns the work to be measured, given a number of epochs."""

    name: str
    largest: int
    prepare: Callable[[int], Callable[[int], object]]
    trained: bool = False

    @property
    def sizes(self) -> list[int]:
        """From small to large."""
        return [max(self.largest // scale, 1) for scale in SCALES]


def streamed(graphs: int) -> Callable[[int], object]:
    """Colored graphs of 10 to 30 vertices, generated, counted (k = 4) and written batch by batch."""

    def work(_: int) -> object:
        amounts = [min(PER_BATCH, graphs - first) for first in range(0, graphs, PER_BATCH)]
        with tempfile.TemporaryDirectory() as folder:
            return len(count_stream((batch(*each, True) for each in enumerate(amounts)), 4, Path(folder) / "counts"))

    return work


def edge_array(edges: int) -> np.ndarray:
    """Distinct edges of a graph with ten neighbors on average and a heavy tail of degrees, in random order."""
    random = np.random.default_rng(7)
    vertices = 2 * edges // DEGREE
    reach = np.cumsum(1 / np.sqrt(np.arange(1, vertices + 1)))
    ends = np.searchsorted(reach, random.random((2, int(1.2 * edges))) * reach[-1])
    ends = np.sort(ends[:, ends[0] != ends[1]], axis=0)
    pairs = random.permutation(np.unique(ends[0] * vertices + ends[1]))[:edges]
    return np.stack(np.divmod(pairs, vertices), axis=1)


def read(edges: int) -> Callable[[int], object]:
    """From an array of edges to a `GraphSet`."""
    pairs = edge_array(edges)
    return lambda _: GraphSet.from_edges(pairs)


def counted(edges: int, k: int, samples: int | None = None) -> Callable[[int], object]:
    """Counts of one graph, exact or by samples."""
    graph = GraphSet.from_edges(edge_array(edges))
    engine = "auto" if samples is None else "sample"
    return lambda _: count(graph, k, engine=engine, samples=samples)


def fitted(graphs: int, method: str) -> Callable[[int], object]:
    """A fit on colored graphs of 10 to 30 vertices; the class says whether the first of four colors is frequent."""
    sample = batch(0, graphs, True)
    assert sample.colors is not None
    y = np.bincount(np.repeat(np.arange(graphs), sample.sizes), sample.colors == 0) > sample.sizes / 4
    trained = METHODS[method].has_epochs

    def work(epochs: int) -> object:
        params = {"epochs": epochs} if trained else None
        return GraphClassifier(method, device="cpu", params=params).fit(sample, y)

    return work


def jobs() -> dict[str, Job]:
    """All that is measured."""
    methods = sorted(METHODS, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    every = (
        Job("stream, k = 4", GRAPHS, streamed),
        Job("graph from an edge array", EDGES, read),
        Job("graph, k = 3", EDGES, partial(counted, k=3)),
        Job("graph, k = 4", EDGES, partial(counted, k=4)),
        Job("graph, k = 4, a million samples", EDGES, partial(counted, k=4, samples=SAMPLES)),
        *(Job(name, FITTED, partial(fitted, method=name), METHODS[name].has_epochs) for name in methods),
    )
    return {job.name: job for job in every}


def peak() -> float:
    """MiB of this process at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def forget_peak() -> None:
    """Give free memory back and let the peak begin at what is in use now, on Linux."""
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")


def measure(job: Job, size: int, epochs: int = EPOCHS) -> Result:
    """One measurement in this process."""
    warnings.simplefilter("ignore")  # of methods that learn nothing in a few epochs
    job.prepare(min(job.sizes[0] // 16, size))(1)  # compiled, or loaded, before the clock starts
    work = job.prepare(size)
    forget_peak()
    before, seconds = peak(), []
    for number in (1, 1, 1 + epochs) if job.trained else (1,):  # the first fit also fills caches of its input
        began = process_time()
        work(number)
        seconds.append(process_time() - began)
    epoch = max(seconds[2] - seconds[1], 0.0) / epochs if job.trained else None
    return Result(seconds[0] - (epoch or 0.0), peak(), peak() - before, epoch)


def measure_apart(job: Job, size: int, epochs: int, limit: int) -> Result | str:
    """The same in a process of its own with one core, or what prevented it."""
    options = ["--epochs", str(epochs), "--limit", str(limit)]
    command = [sys.executable, "-m", "benchmarks.load", "--measure", job.name, str(size), *options]
    environment = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == -signal.SIGXCPU:
        return f"> {limit} s"
    if done.returncode:
        return (done.stderr.strip().splitlines() or [f"ended by signal {-done.returncode}"])[-1]
    return Result(**json.loads(done.stdout))


def by_size(job: Job, epochs: int, limit: int) -> list[Result | str]:
    """From small to large, up to the first that fails."""
    results: list[Result | str] = []
    for size in job.sizes:
        results.append(measure_apart(job, size, epochs, limit))
        if isinstance(results[-1], str):
            break
    return results


def _digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}" if value >= 0.01 else "< 0.01"


def _series(values: Sequence[float], least: float) -> str:
    """Values from small to large, and the ratios from size to size where both are at least ``least``."""
    ratios = [f"{b / a:.1f}" if min(a, b) >= least else "-" for a, b in pairwise(values)]
    return f"{' / '.join(map(_digits, values))} | {' / '.join(ratios)}"


def line(job: Job, results: Sequence[Result | str]) -> str:
    """A row of the table."""
    good = [result for result in results if isinstance(result, Result)]
    name = job.name + "".join(f" ({job.sizes[len(good)]:,}: {text})" for text in results if isinstance(text, str))
    epochs = [result.epoch for result in good if result.epoch is not None]
    cells = [
        _series([max(result.cpu, 0.0) for result in good], 0.05),
        _series(epochs, 0.05) if epochs else " | ",
        _series([result.added for result in good], 20),
        _digits(good[-1].peak) if good else "",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", help="jobs whose name contains this")
    parser.add_argument("--limit", type=int, default=60, help="CPU seconds of a measurement, with its preparation")
    parser.add_argument("--epochs", type=int, default=EPOCHS, help="epochs that are timed")
    parser.add_argument("--measure", nargs=2, metavar=("JOB", "SIZE"), help="measure once, in this process")
    options = parser.parse_args(arguments)
    if options.measure:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
        resource.setrlimit(resource.RLIMIT_CPU, (options.limit, options.limit + 1))
        name, size = options.measure
        json.dump(asdict(measure(jobs()[name], int(size), options.epochs)), sys.stdout)
        return
    print("| job | CPU s | growth | s per epoch | growth | MiB added | growth | peak MiB |")
    print("|---|---|---|---|---|---|---|---|")
    for job in jobs().values():
        if options.only is None or options.only in job.name:
            print(line(job, by_size(job, options.epochs, options.limit)), flush=True)


if __name__ == "__main__":
    main()
