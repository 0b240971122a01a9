"""What `anysize demo` shows: patterns of built-in graphs, plain and colored, and how long counting took."""

from __future__ import annotations

import time

from rich import box
from rich.console import Console
from rich.table import Table

from anysize.counting.api import count
from anysize.counting.counts import Counts
from anysize.graphs import samples
from anysize.graphs.graphset import GraphSet


def show(console: Console) -> None:
    """Print two tables."""
    plain = GraphSet.concatenate(
        [
            samples.petersen(),
            samples.grid(),
            samples.caffeine().without_colors(),
            samples.erdos_renyi(140, 0.5, seed=1),
        ]
    )
    count(plain, k=(3, 4))  # compiles, the first time
    began = time.perf_counter()
    counts = count(plain, k=(3, 4))
    taken = time.perf_counter() - began
    console.print(_copies(counts))
    console.print(
        f"{counts.matrix.sum():,} connected subgraphs of {len(plain)} graphs counted in {taken * 1e3:.1f} ms, "
        "every one exactly.\n",
        highlight=False,
    )
    molecule = count(samples.caffeine(), k=3)
    console.print(_colored(molecule))
    console.print("Your own graphs:  anysize count FILE --k 5", highlight=False)


def _copies(counts: Counts) -> Table:
    table = Table(title="Induced copies of every connected pattern on 3 and 4 vertices", box=box.SIMPLE)
    table.add_column("pattern")
    for name in counts.names or ():
        table.add_column(name, justify="right")
    for column, pattern in enumerate(counts.patterns):
        table.add_row(pattern.name, *(f"{int(value):,}" for value in counts.matrix[:, [column]].toarray().ravel()))
    return table


def _colored(counts: Counts) -> Table:
    table = Table(title="Caffeine: patterns on 3 atoms, by element", box=box.SIMPLE)
    for heading in ("pattern", "drawing", "copies", "share of connected triples"):
        table.add_column(heading, justify="right" if heading == "copies" else "left")
    shares = counts.densities("connected").toarray().ravel()
    for column, pattern in enumerate(counts.patterns):
        copies = int(counts.matrix[0, column])
        chain = "-".join(str(color) for color in _along(pattern.edges, pattern.colors or ()))
        table.add_row(pattern.name, chain, str(copies), f"{shares[column]:.3f}  " + "█" * round(40 * shares[column]))
    return table


def _along(edges: tuple[tuple[int, int], ...], colors: tuple[object, ...]) -> list[object]:
    """The colors of a path of three vertices, its middle in the middle."""
    ends = [vertex for edge in edges for vertex in edge]
    middle = next(vertex for vertex in range(3) if ends.count(vertex) == 2)
    first, last = (vertex for vertex in range(3) if vertex != middle)
    return [colors[first], colors[middle], colors[last]]
