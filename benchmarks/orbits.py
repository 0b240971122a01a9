"""Time orbit counts and random graphs: ``python -m benchmarks.orbits``, CPU seconds of one core.

Peers are used where they are installed: orbit-count (bindings of ORCA), pyfglt, igraph, networkx. Every answer is
compared with ours before it is timed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from time import process_time
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from anysize import GraphSet, count, orbit_positions, orbits
from anysize.counting.engines.threads import Threads
from anysize.networks import null_models
from anysize.patterns.orbits import code_of
from anysize.patterns.orbits import orbits as code_orbits
from benchmarks.checks import WrongAnswer
from benchmarks.inputs import MissingData, barabasi_albert, erdos_renyi, powerlaw_cluster, real
from benchmarks.peers import connected_sets
from benchmarks.report import _table, console, machine
from benchmarks.timing import race, ratio_written, written

Table = NDArray[np.int64]
ASTRO = "ca-AstroPh-lcc.txt.gz"
FGLT_ORBITS = (0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 8, 12, 13, 14)  # of the columns of pyfglt after the first


@dataclass(frozen=True)
class Job:
    """Orbit counts of one graph; `peers` are those that finish within seconds."""

    name: str
    graph: Callable[[], GraphSet]
    k: int
    peers: tuple[str, ...] = ("orbit-count", "pyfglt")
    quick: bool = False


JOBS = (
    Job("k=4 ER 40 p=.2", partial(erdos_renyi, 40, 0.2), 4, ("orbit-count", "pyfglt", "igraph", "networkx"), True),
    Job("k=5 ER 20 p=.2", partial(erdos_renyi, 20, 0.2), 5, ("orbit-count", "networkx"), True),
    Job("k=4 ER 80 p=.5", partial(erdos_renyi, 80, 0.5), 4, quick=True),
    Job("k=5 ER 80 p=.5", partial(erdos_renyi, 80, 0.5), 5, quick=True),
    Job("k=4 ER 140 p=.5", partial(erdos_renyi, 140, 0.5), 4, quick=True),
    Job("k=5 ER 140 p=.5", partial(erdos_renyi, 140, 0.5), 5),
    Job("k=4 BA 10k m=5", partial(barabasi_albert, 10_000, 5), 4, quick=True),
    Job("k=5 BA 10k m=5", partial(barabasi_albert, 10_000, 5), 5),
    Job("k=4 powerlaw-cluster 100k", partial(powerlaw_cluster, 100_000, 5), 4),
    Job("k=5 powerlaw-cluster 100k", partial(powerlaw_cluster, 100_000, 5), 5, ()),
    Job("k=4 ca-AstroPh", partial(real, ASTRO), 4),
    Job("k=5 ca-AstroPh", partial(real, ASTRO), 5, ()),
)


# ---- peers: a call to time, and a function that brings its result into our form -------------------------------------


def orca(graph: GraphSet, k: int) -> tuple[Callable[[], Any], Callable[[Any], Table]]:
    """ORCA by its bindings, which convert a networkx graph first."""
    import orbit_count

    made = graph.to_networkx()[0]
    return partial(orbit_count.node_orbit_counts, made, graphlet_size=k), np.asarray


def fglt(graph: GraphSet, k: int) -> tuple[Callable[[], Any], Callable[[Any], Table]]:
    """The fast graphlet transform, k = 4 only."""
    from pyfglt.fglt import compute
    from scipy.sparse import csc_matrix

    n = int(graph.first[-1])
    matrix = csc_matrix((np.ones(len(graph.indices)), graph.indices, graph.indptr), shape=(n, n))

    def answer(result: Any) -> Table:
        return np.asarray(result.to_numpy()[:, 1:][:, np.argsort(FGLT_ORBITS)]).astype(np.int64)

    return partial(compute, matrix), answer


def igraph_sets(graph: GraphSet, k: int) -> tuple[Callable[[], Any], Callable[[Any], Table]]:
    """igraph's search for motifs, which calls back with every connected set, and our table of positions."""
    import igraph

    made = igraph.Graph(n=int(graph.first[-1]), edges=graph.edges().tolist())

    def call() -> Table:
        counts = np.zeros((made.vcount(), len(orbit_positions(k))), np.int64)
        for size in range(2, k + 1):
            add = partial(_add_set, counts, made.are_adjacent)
            if size == 2:
                for edge in made.get_edgelist():
                    add(edge)
            else:
                made.motifs_randesu(size, callback=lambda _, members, number, add=add: add(members) and False)
        return counts

    return call, np.asarray


def networkx_sets(graph: GraphSet, k: int) -> tuple[Callable[[], Any], Callable[[Any], Table]]:
    """Every connected set of a networkx graph in turn, and our table of positions."""
    made = graph.to_networkx()[0]

    def call() -> Table:
        counts = np.zeros((len(made), len(orbit_positions(k))), np.int64)
        for size in range(2, k + 1):
            for members in connected_sets(made, size):
                _add_set(counts, made.has_edge, members)
        return counts

    return call, np.asarray


def _add_set(counts: Table, adjacent: Callable[[int, int], bool], members: Any) -> None:
    """Add one connected set to the counts of its members."""
    k = len(members)
    code = code_of([pair for pair in combinations(range(k), 2) if adjacent(members[pair[0]], members[pair[1]])])
    smallest, renaming = int(code_orbits(k).smallest[code]), code_orbits(k).renaming[code]
    for place, vertex in enumerate(members):
        counts[vertex, _NUMBER[smallest, k, int(renaming[place])]] += 1


_NUMBER = {(p.code, p.size, v): number for number, p, vertices in orbit_positions(5) for v in vertices}
PEERS = {  # name -> (module, call, largest k)
    "orbit-count": ("orbit_count", orca, 5),
    "pyfglt": ("pyfglt", fglt, 4),
    "igraph": ("igraph", igraph_sets, 4),
    "networkx": ("networkx", networkx_sets, 5),
}


@contextmanager
def without_output() -> Iterator[None]:
    """Send what C code prints to the null device: pyfglt reports every call."""
    sys.stdout.flush()
    shown = os.dup(1)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        try:
            yield
        finally:
            os.dup2(shown, 1)
            os.close(shown)


# ---- measurement ---------------------------------------------------------------------------------------------------


def measured(job: Job, quick: bool) -> dict[str, Any]:
    """CPU seconds of one job, ours and those of the peers that are installed."""
    graph = job.graph().without_colors()
    expected = orbits(graph, job.k, threads=1)
    wrapped: list[str] = []  # peers whose integers of 32 bits are too short
    calls: dict[str, Callable[[], Any]] = {"anysize": partial(orbits, graph, job.k, threads=1)}
    for name in job.peers:
        module, make, largest = PEERS[name]
        if job.k <= largest and find_spec(module) is not None:
            call, answer = make(graph, job.k)
            theirs = answer(call())
            if not np.array_equal(theirs, expected.astype(theirs.dtype)):
                raise WrongAnswer(f"{name} has other orbit counts than anysize in the job {job.name!r}")
            calls[name] = call
            if not np.array_equal(theirs, expected):
                wrapped.append(name)
    return {"job": job.name, "wrapped": wrapped, **race(calls, 0.2 if quick else 1.5, process_time)}


def with_random_directions(graph: GraphSet) -> GraphSet:
    """The same graph with a third of the edges both ways, one third each way."""
    return graph.with_directions(np.random.default_rng(0).integers(0, 3, int(graph.edge_counts[0])))


def arc_degrees(graph: GraphSet) -> Table:
    """Out- and in-degrees."""
    return np.stack([np.bincount(ends, minlength=int(graph.first[-1])) for ends in graph.arcs().T])


def rewiring(directed: bool, quick: bool) -> dict[str, Any]:
    """CPU seconds of one random graph with the degrees of a graph, as many tries of swaps for both."""
    import igraph

    graph = barabasi_albert(10_000, 5) if quick else real(ASTRO).without_colors()
    graph = with_random_directions(graph) if directed else graph
    edges = graph.arcs() if directed else graph.edges()
    tries = null_models.SWAPS_PER_EDGE * len(edges)
    made = igraph.Graph(n=int(graph.first[-1]), edges=edges.tolist(), directed=directed)
    drawn = null_models.draw(graph, "degrees", 0, range(1), Threads())
    drawn.check()
    theirs = made.copy()
    theirs.rewire(tries)
    for other in (drawn, GraphSet.from_igraph(theirs)):
        if not np.array_equal(arc_degrees(other), arc_degrees(graph)):
            raise WrongAnswer("a random graph has other degrees")
    calls = {
        "anysize": lambda: null_models.draw(graph, "degrees", 0, range(1), Threads()),
        "igraph": lambda: made.copy().rewire(tries),
    }
    kind = "random directed graph" if directed else "random graph"
    name = f"{kind}, {'BA 10k m=5' if quick else 'ca-AstroPh'}, {tries:,} tries"
    return {"job": name, "wrapped": [], **race(calls, 0.2 if quick else 1.5, process_time)}


def mixing(directed: bool) -> list[tuple[int, list[int]]]:
    """The triangles of two random graphs with the degrees of ca-AstroPh, after some tries of swaps per edge."""
    graph = real(ASTRO).without_colors()
    graph = with_random_directions(graph) if directed else graph
    rows = []
    for tries in (1, 2, 5, 10, 20, 40):
        with mock.patch.object(null_models, "SWAPS_PER_EDGE", tries):
            drawn = null_models.draw(graph, "degrees", 1, range(2), Threads()).without_directions()
        rows.append((tries, count(drawn, 3).matrix.toarray()[:, 1].tolist()))
    return rows


def _cell(record: dict[str, Any], name: str) -> str:
    if name not in record:
        return "-"
    return (
        f"{written(record[name])} {ratio_written(record[name] / record['anysize'])}{'*' * (name in record['wrapped'])}"
    )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.orbits", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small jobs only")
    parser.add_argument("--only", metavar="SUBSTRING", default="", help="only jobs with this in their name")
    parser.add_argument("--mixing", action="store_true", help="also show how many tries of swaps are enough")
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write all numbers to this file")
    options = parser.parse_args()
    screen, records = console(), []
    screen.print(", ".join(f"{name} {fact}" for name, fact in machine().items()), "")
    chosen: list[Callable[[], dict[str, Any]]] = [
        partial(measured, job, options.quick)
        for job in JOBS
        if (job.quick or not options.quick) and options.only in job.name
    ]
    drawing = [partial(rewiring, directed, options.quick) for directed in (False, True)]
    for run in chosen if options.only else [*chosen, *drawing]:
        try:
            with without_output():
                records.append(run())
        except MissingData as missing:
            screen.print(f"left out: {missing}")
    title = "CPU seconds of one core; others also as multiples of ours"
    table = _table(title, ("job",), ("anysize", *PEERS), "*: the right counts, but for an overflow of 32-bit integers")
    for record in records:
        table.add_row(record["job"], written(record["anysize"]), *(_cell(record, name) for name in PEERS))
    screen.print(table)
    if options.mixing:
        for directed in (False, True):
            lines = (f"{tries} tries per edge: {found} triangles" for tries, found in mixing(directed))
            screen.print("directed" if directed else "undirected", *lines, sep="\n")
    if options.json:
        options.json.write_text(json.dumps({"machine": machine(), "rows": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
