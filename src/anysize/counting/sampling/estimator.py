"""Estimated counts, k = 3..7, for graphs too large to count: unbiased, with standard errors.

For every free tree T on k vertices a dynamic program over the edges gives the number Z of its maps into the graph
(leaves of one vertex differ, and do not turn back) and independent uniform samples of them; maps that are not
injective hit nothing. The others hit the induced subgraph H on their vertices. One copy of H is hit by a sample
with probability aut(T) sp(T, H) / Z, where sp counts the spanning trees of H that look like T. With n samples for each
tree, rate(H) = sum over T of n aut(T) sp(T, H) / Z is the expected number of hits of one copy, and hits / rate(H)
estimates the number of copies without bias. Its variance is that of a sum of binomials.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anysize.counting.columns import Columns
from anysize.counting.engines.canonical import unpack
from anysize.counting.engines.threads import Tick
from anysize.counting.sampling.cliques import count_cliques
from anysize.counting.sampling.draws import draw
from anysize.counting.sampling.tree_maps import TreeMaps, tree_maps
from anysize.counting.sampling.trees import spanning_trees, tree_plans
from anysize.graphs.graphset import GraphSet


class GraphEstimate(NamedTuple):
    """What the samples of one graph say: patterns, hits of each, copies, standard errors, and rates by class."""

    columns: Columns
    hits: np.ndarray
    copies: np.ndarray
    errors: np.ndarray
    rates: np.ndarray  # expected hits of one copy, by place in the catalog
    samples: int
    exact_cliques: bool


def estimate(graph: GraphSet, k: int, samples: int, seed: int, stream: int, threads: int, tick: Tick) -> GraphEstimate:
    """Estimates for one graph from about that many samples; stream tells apart graphs and pilots of one seed."""
    maps = tree_maps(graph, k)
    each = _samples_of_each(maps, samples)
    rates = _rates(maps, each, k)
    words, hits = draw(graph, k, maps, each, seed, stream, threads, tick)
    place, colors = unpack(words[:, 0], words[:, 1], k)
    columns = Columns(np.full(len(place), k, np.uint8), place, None if graph.colors is None else colors, graph.palette)
    rate = rates[place]
    spread = (hits * (1 - hits / np.maximum(each, 1)[:, None])).sum(axis=0)
    copies, errors = hits.sum(axis=0) / rate, np.sqrt(spread) / rate
    result = GraphEstimate(columns, hits.sum(axis=0), copies, errors, rates, int(each.sum()), False)
    return _with_exact_cliques(result, graph, k, threads)


def glimpse(graph: GraphSet, k: int, samples: int) -> tuple[float, np.ndarray, np.ndarray]:
    """About how many connected k-sets a graph has; the patterns met, packed, and their hits. The same each time."""
    maps = tree_maps(graph, k)
    each = _samples_of_each(maps, samples)
    words, hits = draw(graph, k, maps, each, 0, 0, 1, lambda share: None)
    place, _ = unpack(words[:, 0], words[:, 1], k)
    total = hits.sum(axis=0)
    return float((total / _rates(maps, each, k)[place]).sum()), words, total


def _samples_of_each(maps: TreeMaps, samples: int) -> np.ndarray:
    """About that many samples, as many of every tree; a tree without maps has none."""
    return np.where(maps.amount > 0, -(-samples // len(maps.amount)), 0)


def _rates(maps: TreeMaps, each: np.ndarray, k: int) -> np.ndarray:
    """Expected hits of one copy of every class, with so many samples of each tree."""
    automorphisms = np.array([plan.pattern.automorphisms for plan in tree_plans(k)], np.float64)
    return each * automorphisms / np.where(maps.amount > 0, maps.amount, 1) @ spanning_trees(k)


def _with_exact_cliques(result: GraphEstimate, graph: GraphSet, k: int, threads: int) -> GraphEstimate:
    """Cliques are rare and easily missed: where they can be counted in a moment, they are counted."""
    counted = count_cliques(graph, k, threads)
    if counted is None:
        return result
    columns, exact = counted
    other = result.columns.place != spanning_trees(k).shape[1] - 1
    sampled = dict(zip(_keys(result.columns), result.hits, strict=True))
    hits = np.array([sampled.get(key, 0) for key in _keys(columns)], np.int64)
    merged = Columns(
        np.concatenate([result.columns.size[other], columns.size]),
        np.concatenate([result.columns.place[other], columns.place]),
        None if graph.colors is None else np.concatenate([result.columns.colors[other], columns.colors]),
        graph.palette,
    )
    return result._replace(
        columns=merged,
        hits=np.concatenate([result.hits[other], hits]),
        copies=np.concatenate([result.copies[other], exact.astype(np.float64)]),
        errors=np.concatenate([result.errors[other], np.zeros(len(exact))]),
        exact_cliques=True,
    )


def _keys(columns: Columns) -> list[tuple[int, int]]:
    return [(int(high), int(low)) for high, low in columns.keys().tolist()]
