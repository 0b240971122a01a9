"""Null models: random graphs that share some properties with a graph, all of them equally likely.

| name | what the random graphs share with the graph |
|---|---|
| degrees | the degree of every vertex; by swaps of edges |
| stubs | the same, by matching stubs until the graph is simple; for graphs of small degrees |
| edges | the numbers of vertices and edges (Erdos-Renyi) |
| colors | the colors, and the number of neighbors of every color of every vertex; by swaps of edges |
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp

import numpy as np

from anysize._typing import IntArray
from anysize.counting.engines.threads import Threads
from anysize.graphs.assembly import assemble
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners

SWAPS_PER_EDGE = 10  # steps of a random walk, accepted or not
MIN_STEPS = 10_000  # of the walk of a small graph
MAX_TRIES = 100_000  # matchings of stubs


@dataclass(frozen=True)
class NullModel:
    """A null model: ``sample(graph, rng_seed, threads)`` draws one graph."""

    name: str
    keeps: str
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
    degrees = graph.degrees.astype(np.float64)
    ratio = float((degrees * (degrees - 1)).sum() / max(degrees.sum(), 1.0))
    return exp(-ratio / 2 - ratio**2 / 4)


# ---- swaps of edges --------------------------------------------------------------------------------------------


def _swapped(graph: GraphSet, seed: np.random.SeedSequence, threads: Threads, colors: bool = False) -> GraphSet:
    from anysize.counting.rewiring import mates, swap_edges

    indices = graph.indices.copy()
    owner, mate = np.empty(len(indices), np.uint32), np.empty(len(indices), np.int64)
    mates(graph.indptr, indices, owner, mate)
    groups = _groups(graph) if colors else (np.empty(0, np.int64),) * 3
    steps = max(SWAPS_PER_EDGE * len(indices) // 2, MIN_STEPS) if len(indices) else 0
    swap_edges(graph.indptr, owner, *groups, steps, seed.generate_state(1, np.uint64), indices, mate, threads.flag)
    threads.check()
    return replace(graph, indices=indices)


def _swapped_within_colors(graph: GraphSet, seed: np.random.SeedSequence, threads: Threads) -> GraphSet:
    return _swapped(graph, seed, threads, colors=True)


def _groups(graph: GraphSet) -> tuple[IntArray, IntArray, IntArray]:
    """The slots by (color of the owner, color of the neighbor): group of a slot, starts of groups, slots of groups."""
    assert graph.colors is not None
    colors = graph.colors.astype(np.int64)
    pair = colors[owners(graph.indptr)] * len(graph.palette) + colors[graph.indices]
    _, group = np.unique(pair, return_inverse=True)
    first = np.concatenate([[0], np.cumsum(np.bincount(group))])
    return group.astype(np.int64), first.astype(np.int64), np.argsort(group, kind="stable").astype(np.int64)


# ---- stubs, edges ----------------------------------------------------------------------------------------------


def _matched(graph: GraphSet, seed: np.random.SeedSequence, threads: Threads) -> GraphSet:
    from anysize.counting.rewiring import match_stubs

    indices = np.empty_like(graph.indices)
    owner = owners(graph.indptr).astype(np.uint32)
    state = seed.generate_state(1, np.uint64)
    if not match_stubs(graph.indptr, owner, MAX_TRIES, state, indices, threads.flag):
        threads.check()
        raise ValueError(f"None of {MAX_TRIES:,} random matchings of the stubs was a simple graph; use null='degrees'.")
    return replace(graph, indices=indices)


def _erdos_renyi(graph: GraphSet, seed: np.random.SeedSequence, threads: Threads) -> GraphSet:
    n = int(graph.first[-1])
    low, high = _pairs_of(_subset(n * (n - 1) // 2, int(graph.edge_counts[0]), np.random.default_rng(seed)))
    drawn = assemble(graph.sizes, low, high)
    return replace(graph, indptr=drawn.indptr, indices=drawn.indices)


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


NULL_MODELS = {
    model.name: model
    for model in (
        NullModel("degrees", "the degree of every vertex", _swapped),
        NullModel("stubs", "the degree of every vertex", _matched),
        NullModel("edges", "the numbers of vertices and edges", _erdos_renyi),
        NullModel("colors", "the number of neighbors of every color of every vertex", _swapped_within_colors),
    )
}
