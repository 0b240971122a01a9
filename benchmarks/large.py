"""One large graph, from a file of edges: CPU time, memory and errors: ``python -m benchmarks.large --edges 20000000``.

The graph has a tenth as many vertices as ends of edges and a heavy tail of degrees (`benchmarks.load.edge_array`).
Each step runs in a process of its own on one core; the samples are compared with the exact counts.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import process_time

import numpy as np

import anysize as az
from benchmarks.load import edge_array, peak

SAMPLES = 1_000_000
STEPS = ("write", "read", "exact 3", "exact 4", "sample 3", "sample 4")


def step(name: str, folder: Path, edges: int) -> dict[str, object]:
    """CPU seconds and MiB of one step; counts with their standard errors."""
    file = folder / "graph.npy"
    if name == "write":
        np.save(file, edge_array(edges).astype(np.int32))
        return {}
    az.count(az.GraphSet.from_edges(edge_array(2000)), 4, threads=1)  # kernels are loaded before the clock starts
    began = process_time()
    graph = az.read_graphs(file)
    if name == "read":
        return {"cpu": process_time() - began, "peak": peak()}
    engine, k = name.split()
    began = process_time()
    samples = SAMPLES if engine == "sample" else None
    counts = az.count(graph, int(k), engine="auto" if samples is None else "sample", samples=samples, threads=1)
    seconds = process_time() - began
    copies = counts.matrix.toarray()[0].tolist()
    errors = counts.standard_errors.toarray()[0].tolist() if samples else []
    return {"cpu": seconds, "peak": peak(), "copies": copies, "errors": errors}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.large", description=__doc__)
    parser.add_argument("--edges", type=int, default=20_000_000)
    parser.add_argument("--step", nargs=2, metavar=("STEP", "FOLDER"), help="one step, in this process")
    options = parser.parse_args(arguments)
    if options.step:
        print(json.dumps(step(options.step[0], Path(options.step[1]), options.edges)))
        return
    exact: dict[str, list[float]] = {}
    print("| step | CPU s | peak MiB | largest relative error | as stated |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in STEPS:
            command = [sys.executable, "-m", "benchmarks.large", "--edges", str(options.edges), "--step", name, folder]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            result = json.loads(done.stdout)
            if name == "write":
                continue
            row, k = [name, f"{result['cpu']:.3g}", f"{result['peak']:,.0f}"], name[-1]
            if name.startswith("exact"):
                exact[k] = result["copies"]
            cells = ["", ""]
            if name.startswith("sample"):
                truth, copies, errors = np.array(exact[k]), np.array(result["copies"]), np.array(result["errors"])
                common = truth >= 1e-3 * truth.sum()
                off = np.abs(copies - truth)[common] / truth[common]
                cells = [f"{100 * off.max():.2g} %", f"{100 * (errors[common] / truth[common]).max():.2g} %"]
            print(f"| {' | '.join(row + cells)} |", flush=True)


if __name__ == "__main__":
    main()
