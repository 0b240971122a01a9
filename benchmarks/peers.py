"""Other libraries on the same graphs: igraph's motif counter, and networkx as one would use it by hand.

Each runs in a process of its own, because a job that takes too long must be ended from outside.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from itertools import combinations
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize import GraphSet
from anysize.patterns.orbits import code_of
from anysize.patterns.pattern import class_table, connected_patterns

LIMIT, QUICK_LIMIT = 20.0, 1.0  # seconds
Answer = NDArray[np.int64]

# Upper bounds on connected sets per second: rows beyond that times LIMIT are not started.
MAX_SETS_PER_S = {"igraph": 1.5e7, "networkx": 4e5}
IGRAPH_SIZES = (3, 4, 5, 6)


def igraph_job(graphs: GraphSet, k: int) -> tuple[Callable[[], Any], Callable[[Any], Answer]]:
    """Motif counts of every graph, one call each; and their sums in our order of patterns."""
    import igraph

    made = [igraph.Graph(n=int(one.first[-1]), edges=one.edges().tolist()) for one in graphs]

    def call() -> list[list[float]]:
        return [graph.motifs_randesu(size=k) for graph in made]

    def answer(result: list[list[float]]) -> Answer:
        sums = np.nansum(np.array(result, np.float64), axis=0).astype(np.int64)  # nan: not connected
        ours = np.zeros(len(connected_patterns(k)), np.int64)
        for number, copies in enumerate(sums):
            edges = igraph.Graph.Isoclass(n=k, cls=number, directed=False).get_edgelist()
            index = class_table(k)[code_of(edges)]
            if index >= 0:
                ours[index] += copies
        return ours

    return call, answer


def networkx_job(graphs: GraphSet, k: int) -> tuple[Callable[[], Any], Callable[[Any], Answer]]:
    """`networkx.triangles` for k = 3, else every connected set in turn, looked up by its adjacency."""
    import networkx as nx

    made = graphs.without_colors().to_networkx()
    table = class_table(k)
    n_patterns = len(connected_patterns(k))

    def three() -> Answer:
        sums = np.zeros(2, np.int64)
        for graph in made:
            closed = sum(nx.triangles(graph).values()) // 3
            pairs = sum(d * (d - 1) // 2 for _, d in graph.degree())
            sums += (pairs - 3 * closed, closed)
        return sums

    def more() -> Answer:
        sums = np.zeros(n_patterns, np.int64)
        for graph in made:
            for found in connected_sets(graph, k):
                pairs = combinations(range(k), 2)
                sums[table[code_of([p for p in pairs if graph.has_edge(found[p[0]], found[p[1]])])]] += 1
        return sums

    return (three if k == 3 else more), lambda result: result


def connected_sets(graph: Any, k: int) -> Iterator[list[int]]:
    """Every connected k-set once, grown from its smallest vertex by neighbors that are new to it."""

    def grow(members: list[int], choice: list[int], seen: set[int]) -> Iterator[list[int]]:
        if len(members) == k:
            yield members
            return
        choice = list(choice)
        while choice:
            vertex = choice.pop()
            new = [u for u in graph[vertex] if u > members[0] and u not in seen]
            yield from grow([*members, vertex], choice + new, seen | set(new))

    for root in graph:
        later = [u for u in graph[root] if u > root]
        yield from grow([root], later, {root, *later})


JOBS = {"igraph": igraph_job, "networkx": networkx_job}


def _work(name: str, graphs: GraphSet, k: int) -> tuple[Answer, float]:
    call, answer = JOBS[name](graphs, k)
    best, spent, result = float("inf"), 0.0, None
    while spent < 1.0:  # quick jobs get several repetitions, slow ones a single one
        started = perf_counter()
        result = call()
        seconds = perf_counter() - started
        best, spent = min(best, seconds), spent + seconds
    return answer(result), best


def timed(name: str, graphs: GraphSet, k: int, sets: int, limit: float = LIMIT) -> tuple[Answer, float] | None:
    """A peer's answer and its seconds, or None where it does not finish within the limit."""
    enumerates = (name, k) != ("networkx", 3)  # triangles are counted without visiting every set
    if (enumerates and sets > MAX_SETS_PER_S[name] * limit) or (name == "igraph" and k not in IGRAPH_SIZES):
        return None
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        pool.apply(len, ((),))  # start the process before timing
        job = pool.apply_async(_work, (name, graphs, k))
        try:
            answer, seconds = job.get(timeout=1.5 * limit)  # the rest is for converting the graphs
        except multiprocessing.TimeoutError:
            return None
    return (answer, seconds) if seconds <= limit else None
