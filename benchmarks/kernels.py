"""Speed of the Weisfeiler-Lehman kernel against GraKeL: ``python -m benchmarks.kernels``.

Needs NCI1 in the data folder, and ``pip install grakel`` for the comparison. Every Gram matrix is compared entry by
entry before it is timed.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from scipy.sparse import csr_array

from anysize import GraphSet
from anysize.kernels.gram import gram
from anysize.kernels.wl import WLKernel
from benchmarks.checks import WrongAnswer
from benchmarks.inputs import real
from benchmarks.report import console, machine
from benchmarks.timing import BUDGET, QUICK_BUDGET, race, ratio_written, written

Matrix = NDArray[np.float64]
Call = Callable[[], Matrix]

GRAPHS, QUICK_GRAPHS = 4110, 300
ITERATIONS = (3, 4, 5)


def our_gram(graphs: GraphSet, iterations: int) -> Matrix:
    """All inner products of a set."""
    return gram(WLKernel(iterations).fit_transform(graphs))


def grakel_job(graphs: GraphSet, iterations: int) -> Call:
    """GraKeL's subtree kernel; converting the graphs is not timed."""
    from grakel.kernels import VertexHistogram, WeisfeilerLehman

    made = [
        ({v: [int(u) for u in one.indices[one.indptr[v] : one.indptr[v + 1]]] for v in range(n)}, names)
        for one, n, names in zip(graphs, graphs.sizes.tolist(), _names(graphs), strict=True)
    ]

    def call() -> Matrix:
        kernel = WeisfeilerLehman(n_iter=iterations, base_graph_kernel=VertexHistogram, normalize=False)
        return np.asarray(kernel.fit_transform(made), np.float64)

    return call


def dictionary_job(graphs: GraphSet, iterations: int) -> Call:
    """Color refinement in pure Python: dictionaries, sorted tuples, counters."""
    near = [
        [one.indices[one.indptr[v] : one.indptr[v + 1]].tolist() for v in range(int(one.first[-1]))] for one in graphs
    ]
    start = [list(names.values()) for names in _names(graphs)]

    def call() -> Matrix:
        number: dict[Any, int] = {}
        colors = [[number.setdefault(name, len(number)) for name in names] for names in start]
        found = [Counter(own) for own in colors]
        for step in range(iterations):
            for g, own in enumerate(colors):
                keys = [(step, own[v], tuple(sorted([own[u] for u in around]))) for v, around in enumerate(near[g])]
                colors[g] = [number.setdefault(key, len(number)) for key in keys]
                found[g].update(colors[g])
        rows = np.repeat(np.arange(len(found)), [len(own) for own in found])
        columns = [color for own in found for color in own]
        data = np.array([amount for own in found for amount in own.values()], float)
        table: Any = csr_array((data, (rows, columns)), shape=(len(found), len(number)))
        return np.asarray((table @ table.T).toarray())

    return call


PEERS: dict[str, Callable[[GraphSet, int], Call]] = {"dictionaries": dictionary_job, "grakel": grakel_job}


def _names(graphs: GraphSet) -> list[dict[int, Any]]:
    return [dict(enumerate(graphs.color_names(g))) for g in range(len(graphs))]


def available() -> list[str]:
    """The peers that can be imported."""
    return [name for name in PEERS if name != "grakel" or find_spec("grakel")]


def measure(graphs: GraphSet, iterations: int, budget: float) -> dict[str, Any]:
    """Seconds of our kernel, by part, and of every peer; `WrongAnswer` if a matrix differs."""
    features = WLKernel(iterations).fit_transform(graphs)
    record: dict[str, Any] = {"iterations": iterations, "graphs": len(graphs), "columns": features.shape[1]}
    expected = our_gram(graphs, iterations)
    calls: dict[str, Callable[[], Any]] = {
        "features": lambda: WLKernel(iterations).fit_transform(graphs),
        "products": lambda: gram(features),
        "seconds": lambda: our_gram(graphs, iterations),
    }
    for name in available():
        calls[name] = call = PEERS[name](graphs, iterations)
        result = call()
        if not np.array_equal(result, expected):
            raise WrongAnswer(f"{name} has a different kernel value at {np.argwhere(result != expected)[0].tolist()}")
    record.update(race(calls, budget, clock=process_time))  # CPU time of all threads does not depend on other processes
    return record


def table_of(records: list[dict[str, Any]]) -> Table:
    """Our time and its parts; times of peers also as multiples of ours."""
    table = Table(title="Weisfeiler-Lehman Gram matrix, NCI1", box=None, title_justify="left", caption_justify="left")
    table.caption = (
        "CPU time of all threads, best of several turns; converting graphs is not timed. "
        "Every matrix equals ours entry by entry."
    )
    for name in ("graphs", "iterations", "columns", "features", "products", "ours", *PEERS):
        table.add_column(name, justify="right")
    for record in records:
        times = [written(record[name]) for name in ("features", "products", "seconds")]
        others = [
            f"{written(record[name])} {ratio_written(record[name] / record['seconds'])}" if name in record else "-"
            for name in PEERS
        ]
        table.add_row(str(record["graphs"]), str(record["iterations"]), str(record["columns"]), *times, *others)
    return table


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernels", description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK_GRAPHS} graphs only, some seconds")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write every number there as well")
    options = parser.parse_args()
    screen = console()
    facts = machine()
    screen.print(", ".join(f"{name} {fact}" for name, fact in facts.items()), "")
    if "grakel" not in available():
        screen.print("grakel is not installed: pip install grakel to compare with it", "")
    graphs = real("NCI1.zip")[: QUICK_GRAPHS if options.quick else GRAPHS]
    records = []
    for iterations in ITERATIONS:
        with screen.status(f"{iterations} iterations"):
            records.append(measure(graphs, iterations, QUICK_BUDGET if options.quick else BUDGET))
    screen.print(table_of(records))
    if options.json:
        options.json.write_text(json.dumps({"machine": facts, "rows": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
