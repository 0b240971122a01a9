"""Null models: random graphs that share some properties with a graph, all of them equally likely.

| name | what the random graphs share with the graph |
|---|---|
| degrees | the degree of every vertex; by swaps of edges |
| stubs | the same, by matching stubs until the graph is simple; for graphs of small degrees |
| edges | the numbers of vertices and edges (Erdos-Renyi) |
| colors | the colors, and the number of neighbors of every color of every vertex; by swaps of edges |

In directed graphs the degree of a vertex is its in- and its out-degree, and neighbors are counted each way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from math import exp
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anysize._typing import IntArray
from anysize.counting.engines.threads import Threads
from anysize.graphs.assembly import assemble
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import offsets, owners

SWAPS_PER_EDGE = 10  # steps of a random walk, accepted or not
MIN_STEPS = 10_000  # of the walk of a small graph
MAX_TRIES = 100_000  # matchings of stubs


@dataclass(frozen=True)
class NullModel:
    """A null model: ``sample(graph, rng_seed, threads)`` draws one graph.

    ``keeps`` and ``keeps_directed`` say what the random graphs share with an undirected and a directed graph.
    """

    name: str
    keeps: str
    keeps_directed: str
    sample: Callable[[GraphSet, np.random.SeedSequence, Threads], GraphSet]


def draw(graph: GraphSet, null: str, seed: int, numbers: range, threads: Threads) -> GraphSet:
    """Random graphs of a null model, each with a random stream of its own: of the seed and its number."""
    sample = NULL_MODELS[null].sample
    drawn: list[GraphSet] = []

    def work(start: int, stop: int) -> list[GraphSet]:
        return [sample(graph, np.random.SeedSequence([seed, numbers[row]]), threads) for row in range(start, stop)]

    for part in threads.run(work, np.ones(len(numbers)), len(numbers)):
        drawn += part
    return GraphSet.concatenate(drawn)


def check_null(graph: GraphSet, null: str) -> None:
    """Raise a ValueError if there is no such null model, or if it cannot be used for this graph."""
    if null not in NULL_MODELS:
        raise ValueError(f"null must be one of {', '.join(NULL_MODELS)}; got {null!r:.60}.")
    if null == "colors" and graph.colors is None:
        raise ValueError("null='colors' keeps the colors of neighbors, and this graph has no colors; use 'degrees'.")
    if null == "stubs":
        chance = _chance_of_simple(graph)
        if chance * MAX_TRIES < 100:
            raise ValueError(
                f"A random matching of the stubs of this graph is a simple graph with a probability of about "
                f"{chance:.1g}, too rarely to wait for; use null='degrees', which draws from the same graphs."
            )


def _chance_of_simple(graph: GraphSet) -> float:
    """About the probability that a random matching of the stubs has no loops and no multiple edges (Janson 2009)."""
    if graph.directions is None:
        degrees = graph.degrees.astype(np.float64)
        ratio = float((degrees * (degrees - 1)).sum() / max(degrees.sum(), 1.0))
        return exp(-ratio / 2 - ratio**2 / 4)
    n, (source, target) = int(graph.first[-1]), graph.arcs().T
    out, into = np.bincount(source, minlength=n).astype(np.float64), np.bincount(target, minlength=n)
    loops = float((out * into).sum()) / len(source)
    return exp(-loops - float((out * (out - 1)).sum() * (into * (into - 1)).sum()) / (2 * len(source) ** 2))


# ---- swaps of edges, matchings of stubs ------------------------------------------------------------------------


class _Slots(NamedTuple):
    """The ends of edges (see `anysize.counting.rewiring`); ``vertices`` is 0 for undirected graphs."""

    indptr: IntArray
    owner: NDArray[np.uint32]
    indices: NDArray[np.uint32]
    vertices: int

    @staticmethod
    def of(graph: GraphSet) -> _Slots:
        if graph.directions is None:
            return _Slots(graph.indptr, owners(graph.indptr).astype(np.uint32), graph.indices.copy(), 0)
        n = int(graph.first[-1])
        source, target = graph.arcs().T
        ends = np.concatenate([target + n, source[np.argsort(target, kind="stable")]])
        indptr = offsets(np.concatenate([np.bincount(source, minlength=n), np.bincount(target, minlength=n)]))
        return _Slots(indptr, owners(indptr).astype(np.uint32), ends.astype(np.uint32), n)

    def graph(self, like: GraphSet) -> GraphSet:
        """The graph with the neighbors that are in ``indices`` now."""
        if not self.vertices:
            return replace(like, indices=self.indices)
        arcs = len(self.indices) // 2
        return _with_edges(like, self.owner[:arcs], self.indices[:arcs] - np.uint32(self.vertices))


def _with_edges(graph: GraphSet, source: NDArray[Any], target: NDArray[Any]) -> GraphSet:
    """The same vertices with other edges, directed if those of the graph are."""
    directed = graph.directions is not None
    drawn = assemble(graph.sizes, source, target, directed=directed)
    directions = np.zeros(len(drawn.indices), np.uint8) if directed and drawn.directions is None else drawn.directions
    return replace(graph, indptr=drawn.indptr, indices=drawn.indices, directions=directions)


def _swapped(graph: GraphSet, seed: np.random.SeedSequence, threads: Threads, colors: bool = False) -> GraphSet:
    from anysize.counting.rewiring import mates, swap_edges

    slots = _Slots.of(graph)
    amount = len(slots.indices)
    mate = np.empty(amount, np.int64)
    mates(slots.indptr, slots.indices, mate)
    groups = _groups(slots, graph if colors else None)
    steps = max(SWAPS_PER_EDGE * amount // 2, MIN_STEPS) if amount else 0
    state = seed.generate_state(1, np.uint64)
    swap_edges(slots.indptr, slots.owner, *groups, slots.vertices, steps, state, slots.indices, mate, threads.flag)
    threads.check()
    return slots.graph(graph)


def _groups(slots: _Slots, colored: GraphSet | None) -> tuple[IntArray, IntArray, IntArray]:
    """The slots that may be swapped with each other: group of a slot, starts of groups, slots of groups.

    They have the same (color of the owner, color of the neighbor) and are all senders, or all receivers.
    """
    key = (slots.owner >= slots.vertices).astype(np.int64)
    if colored is not None:
        assert colored.colors is not None
        colors = np.tile(colored.colors.astype(np.int64), 2 if slots.vertices else 1)
        amount = len(colored.palette)
        key = (key * amount + colors[slots.owner]) * amount + colors[slots.indices]
    elif not slots.vertices:
        return (np.empty(0, np.int64),) * 3
    _, group = np.unique(key, return_inverse=True)
    return group.astype(np.int64), offsets(np.bincount(group)), np.argsort(group, kind="stable").astype(np.int64)


def _matched(graph: GraphSet, seed: np.random.SeedSequence, threads: Threads) -> GraphSet:
    from anysize.counting.rewiring import match_stubs

    slots, state = _Slots.of(graph), seed.generate_state(1, np.uint64)
    if not match_stubs(slots.indptr, slots.owner, slots.vertices, MAX_TRIES, state, slots.indices, threads.flag):
        threads.check()
        raise ValueError(f"None of {MAX_TRIES:,} random matchings of the stubs was a simple graph; use null='degrees'.")
    return slots.graph(graph)


# ---- edges -----------------------------------------------------------------------------------------------------


def _erdos_renyi(graph: GraphSet, seed: np.random.SeedSequence, threads: Threads) -> GraphSet:
    n, rng = int(graph.first[-1]), np.random.default_rng(seed)
    if graph.directions is None:
        low, high = _pairs_of(_subset(n * (n - 1) // 2, int(graph.edge_counts[0]), rng))
        return _with_edges(graph, low, high)
    source, target = np.divmod(_subset(n * (n - 1), len(graph.arcs()), rng), n - 1)
    return _with_edges(graph, source, target + (target >= source))


def _subset(population: int, size: int, rng: np.random.Generator) -> IntArray:
    """Different numbers below ``population``, all sets of this size equally likely, in memory linear in the size."""
    if 2 * size > population:
        return np.setdiff1d(np.arange(population), _subset(population, population - size, rng), assume_unique=True)
    drawn = np.empty(0, np.int64)
    first = drawn
    while len(first) < size:
        drawn = np.concatenate([drawn, rng.integers(population, size=size - len(first))])
        first = np.unique(drawn, return_index=True)[1]
    return drawn[first]


def _pairs_of(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """The pairs i < j with the numbers j (j - 1) / 2 + i."""
    high = ((1 + np.sqrt(8.0 * numbers + 1)) / 2).astype(np.int64)
    high -= high * (high - 1) // 2 > numbers  # rounding
    high += high * (high + 1) // 2 <= numbers
    return numbers - high * (high - 1) // 2, high


_DEGREE, _DEGREES = "the degree of every vertex", "the in- and out-degree of every vertex"
_COLORS = "the number of {} of every color of every vertex"
NULL_MODELS = {
    model.name: model
    for model in (
        NullModel("degrees", _DEGREE, _DEGREES, _swapped),
        NullModel("stubs", _DEGREE, _DEGREES, _matched),
        NullModel(
            "edges", "the numbers of vertices and edges", "the numbers of vertices and directed edges", _erdos_renyi
        ),
        NullModel(
            "colors",
            _COLORS.format("neighbors"),
            _COLORS.format("in- and out-neighbors"),
            partial(_swapped, colors=True),
        ),
    )
}
