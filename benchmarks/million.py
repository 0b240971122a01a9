"""A million small graphs counted in one run with flat memory: ``python -m benchmarks.million [--cluster local:2]``.

Graphs are generated batch by batch and the counts written to a folder of Parquet files, as `count_stream` does.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from time import perf_counter

import numpy as np

from anysize import GraphSet, cluster, count, count_stream
from anysize.graphs.assembly import assemble

VERTICES = (10, 31)  # from, to
DEGREE = 3.0
COLORS = ("C", "N", "O", "S")
CHECKED = 3  # batches that are counted again


def batch(number: int, amount: int, colored: bool) -> GraphSet:
    """Random graphs of 10 to 30 vertices with nearly three neighbors on average; the number decides them."""
    random = np.random.default_rng([7, number])
    sizes = random.integers(*VERTICES, amount)
    first = np.concatenate([[0], np.cumsum(sizes)])
    graph = np.repeat(np.arange(amount), random.poisson(DEGREE * sizes / 2))
    source, target = (random.random((2, len(graph))) * sizes[graph]).astype(np.int64)
    keep = source != target
    low, high = (first[graph] + end for end in (np.minimum(source, target), np.maximum(source, target)))
    pair = np.unique(low[keep] * (first[-1] + 1) + high[keep])
    ends = np.divmod(pair, first[-1] + 1)
    colors = random.integers(0, len(COLORS), int(first[-1])).astype(np.uint16) if colored else None
    return assemble(sizes, ends[0], ends[1], colors, COLORS if colored else ())


def resident() -> float:
    """MiB of this process now."""
    fields = Path("/proc/self/statm")
    if not fields.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(fields.read_text().split()[1]) * resource.getpagesize() / 2**20


def peak(_: int = 0) -> float:
    """MiB of this process at most so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(graphs: int, per_batch: int, k: int, colored: bool, address: str | None, out: Path) -> dict[str, object]:
    """Count and report."""
    count(batch(0, 10, colored), k)  # compiled, or loaded, before the clock starts
    sizes = [per_batch] * (graphs // per_batch) + ([graphs % per_batch] if graphs % per_batch else [])
    memory: list[float] = []

    def batches() -> Iterator[GraphSet]:
        for number, amount in enumerate(sizes):
            memory.append(resident())
            yield batch(number, amount, colored)

    with cluster(address) if address else nullcontext() as executor:
        began = perf_counter()
        stream = count_stream(batches(), k, out)
        seconds = perf_counter() - began
        workers = max(executor.map(peak, range(8 * executor.workers))) if executor else 0
    for number in np.linspace(0, len(sizes) - 1, CHECKED).astype(int):
        own = stream.batch(int(number))
        again = count(batch(int(number), sizes[number], colored), k)
        assert (own.matrix != again.matrix).nnz == 0, f"batch {number} differs"
    third = max(len(memory) // 3, 1)
    return {
        "graphs": len(stream),
        "k": k,
        "colors": len(COLORS) if colored else 0,
        "cluster": address or "none",
        "seconds": round(seconds, 1),
        "graphs per second": round(graphs / seconds),
        "MiB on disk": round(sum(path.stat().st_size for path in out.rglob("*") if path.is_file()) / 2**20),
        "MiB after a third": round(max(memory[: third + 1])),
        "MiB at most": round(max(memory)),
        "peak MiB": round(peak()),
        "peak MiB of a worker": round(workers),
    }


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.million", description=__doc__)
    parser.add_argument("--graphs", type=int, default=1_000_000)
    parser.add_argument("--batch", type=int, default=20_000, help="graphs in memory at a time")
    parser.add_argument("--k", type=int, default=4)
    parser.add_argument("--colors", action="store_true", help="four colors")
    parser.add_argument("--cluster", metavar="ADDRESS", help="auto, an address, or local:CORES")
    parser.add_argument("--out", type=Path, help="keep the counts there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        out = options.out or Path(scratch) / "counts"
        result = run(options.graphs, options.batch, options.k, options.colors, options.cluster, out)
    json.dump(result, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
