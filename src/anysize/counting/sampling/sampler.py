"""Estimated counts, k = 3..7, for graphs too large to count exactly: unbiased, with standard errors.

For every free tree T on k vertices, `trees` gives the number Z of its maps into the graph and `draws` draws independent
uniform samples of them. A map that is not injective hits nothing. Any other hits the induced subgraph H on its
vertices. A sample hits one given copy of H with probability aut(T) sp(T, H) / Z, where sp(T, H) is the number of
spanning trees of H of type T. With n samples for each tree, rate(H) = sum over T of n aut(T) sp(T, H) / Z is the
expected number of hits of one copy, and hits / rate(H) is an unbiased estimate of the number of copies. Its variance is
that of a sum of binomials.
"""

from __future__ import annotations

from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from anysize._errors import CountWarning, warn_user
from anysize._typing import IntArray
from anysize.counting.columns import Columns, unite
from anysize.counting.counts import Counts
from anysize.counting.engines.canonical import unpack
from anysize.counting.engines.threads import Threads, Tick
from anysize.counting.sampling.cliques import count_cliques
from anysize.counting.sampling.draws import BLOCK, added, draw
from anysize.counting.sampling.estimates import SAMPLED_SIZES, SampleSize, Sampling, describe_sampling
from anysize.counting.sampling.trees import TreeMaps, spanning_trees, tree_maps, tree_plans
from anysize.graphs.graphset import GraphSet
from anysize.patterns.pattern import connected_patterns

PILOT_SAMPLES = 2_000_000
MIN_SAMPLES = 1000  # of a graph, however little time there is
ROUND_SHARE = 0.4  # of the time that is left, for a round of samples: the speed may change


def count_sampled(
    graphs: GraphSet,
    k: int,
    sample_size: SampleSize,
    seed: int,
    threads: Threads,
    tick: Tick,
    reason: str,
    numbers: IntArray,
) -> Counts:
    """A table of estimates; each graph has its own random stream, given by its number."""
    if k not in SAMPLED_SIZES:
        raise ValueError(f"sampling needs k from 3 to 7; got k = {k}, which engine='auto' counts exactly")
    deadline = None if sample_size.seconds is None else monotonic() + sample_size.seconds * len(graphs)
    estimates: list[GraphEstimate] = []
    for number, graph in zip(numbers.tolist(), graphs, strict=True):
        if deadline is not None:
            until = monotonic() + max(deadline - monotonic(), 0.0) / (len(graphs) - len(estimates))
            estimates.append(estimate_until(until, graph, k, seed, 2 * number, threads, tick))
            continue
        samples = sample_size.samples or _samples_from_pilot(graph, number, k, sample_size, seed, threads)
        estimates.append(estimate(graph, k, samples, seed, 2 * number, threads, tick))
    parts = [each.columns for each in estimates]
    if graphs.colors is None:
        parts.insert(0, Columns.plain(k))
    columns, new_columns = unite(parts or [Columns.plain(k)])
    new_columns = new_columns[-len(estimates) :] if estimates else []
    row = np.repeat(np.arange(len(estimates)), [len(numbers) for numbers in new_columns]).astype(np.int64)
    column = np.concatenate([*new_columns, np.zeros(0, np.int64)]).astype(np.int64)
    shape = (len(graphs), len(columns))

    def table(values: list[np.ndarray], kind: type) -> csr_array:
        data: np.ndarray = np.concatenate([*values, np.zeros(0)]).astype(kind)
        matrix = csr_array((data, (row, column)), shape=shape)
        matrix.sort_indices()
        return matrix

    sampling = Sampling(
        k,
        table([each.hits for each in estimates], np.int64),
        table([each.errors for each in estimates], np.float64),
        np.array([each.rates for each in estimates]).reshape(len(estimates), len(connected_patterns(k))),
        np.array([each.samples for each in estimates], np.int64),
        np.array([each.exact_cliques for each in estimates], bool),
    )
    log = (describe_sampling(k, sampling.samples, seed, reason),)
    copies = table([each.copies for each in estimates], np.float64)
    return Counts(copies, columns, graphs.sizes, graphs.y, graphs.names, log, sampling)


def _samples_from_pilot(
    graph: GraphSet, number: int, k: int, sample_size: SampleSize, seed: int, threads: Threads
) -> int:
    """The number of samples that reaches the relative error, from a pilot run."""
    pilot = estimate(graph, k, PILOT_SAMPLES, seed, 2 * number + 1, threads, lambda share: None)
    target = sample_size.rel_error or 1.0
    share = pilot.copies / max(float(pilot.copies.sum()), 1e-300)
    common = (share >= sample_size.min_share) & (pilot.errors > 0)
    worst = float((pilot.errors[common] / pilot.copies[common]).max(initial=0.0))
    needed = int(1.1 * PILOT_SAMPLES * (worst / target) ** 2) + 1
    if needed > sample_size.max_samples:
        reached = target * (needed / sample_size.max_samples) ** 0.5
        warn_user(
            f"Graph {number} would need {needed:,} samples for a relative error of {target:g}; "
            f"{sample_size.max_samples:,} are drawn, for about {reached:.2g}.",
            CountWarning,
        )
    return max(10_000, min(needed, sample_size.max_samples))


class GraphEstimate(NamedTuple):
    """Estimates of one graph: patterns, their hits, copies and standard errors."""

    columns: Columns
    hits: np.ndarray
    copies: np.ndarray
    errors: np.ndarray
    rates: np.ndarray  # expected hits of one copy, by index in the catalog
    samples: int
    exact_cliques: bool


def estimate(
    graph: GraphSet, k: int, samples: int, seed: int, stream: int, threads: Threads, tick: Tick
) -> GraphEstimate:
    """Estimates of one graph from about that many samples; graphs and pilots of a seed have different streams."""
    maps = tree_maps(graph, k)
    per_tree = _samples_per_tree(maps, samples)
    words, hits = draw(graph, k, maps, per_tree, seed, stream, threads, tick)
    return _estimate_from(maps, per_tree, words, hits, graph, k, count_cliques(graph, k, threads))


def estimate_until(
    until: float, graph: GraphSet, k: int, seed: int, stream: int, threads: Threads, tick: Tick
) -> GraphEstimate:
    """Estimates of one graph from as many samples as can be drawn until a time of the monotonic clock.

    Whole blocks of samples are drawn in rounds, each for a part of the time that is left. The result is that of
    `estimate` with the same number of samples.
    """
    began = monotonic()
    maps = tree_maps(graph, k)
    cliques = count_cliques(graph, k, threads)
    done = 0.0

    def drawn(per_tree: np.ndarray, first: int = 0) -> tuple[tuple[np.ndarray, np.ndarray], float]:
        nonlocal done
        start = monotonic()
        result = draw(graph, k, maps, per_tree, seed, stream, threads, lambda share: None, first)
        if (reached := min((monotonic() - began) / max(until - began, 1e-9), 1.0)) > done:
            tick(reached - done)
            done = reached
        return result, monotonic() - start

    some = _samples_per_tree(maps, MIN_SAMPLES)
    rounds = []
    first, seconds = drawn(some)
    speed = int(some.sum()) / max(seconds, 1e-9)
    block = _samples_per_tree(maps, BLOCK * len(maps.amount))  # one block of every tree
    blocks = 0
    while (left := until - monotonic()) * speed >= block.sum() > 0:
        amount = max(1, int(ROUND_SHARE * left * speed / block.sum()))
        result, seconds = drawn(amount * block, blocks)
        rounds.append(result)
        blocks += amount
        speed = int(amount * block.sum()) / max(seconds, 1e-9)
    tick(1.0 - done)
    if not blocks:
        return _estimate_from(maps, some, *first, graph, k, cliques)
    return _estimate_from(maps, blocks * block, *added(rounds), graph, k, cliques)


def _estimate_from(
    maps: TreeMaps, per_tree: np.ndarray, words: np.ndarray, hits: np.ndarray, graph: GraphSet, k: int, cliques: Any
) -> GraphEstimate:
    """Copies and errors from the hits of every tree, with cliques that were counted exactly."""
    rates = _rates(maps, per_tree, k)
    kind, colors = unpack(words[:, 0], words[:, 1], k)
    columns = Columns(np.full(len(kind), k, np.uint8), kind, None if graph.colors is None else colors, graph.palette)
    rate = rates[kind]
    spread = (hits * (1 - hits / np.maximum(per_tree, 1)[:, None])).sum(axis=0)
    copies, errors = hits.sum(axis=0) / rate, np.sqrt(spread) / rate
    result = GraphEstimate(columns, hits.sum(axis=0), copies, errors, rates, int(per_tree.sum()), False)
    return result if cliques is None else _with_exact_cliques(result, *cliques)


def estimate_connected_sets(graph: GraphSet, k: int, samples: int) -> tuple[float, np.ndarray, np.ndarray]:
    """Estimate the number of connected k-sets; also packed patterns and their hits. The seed is fixed."""
    maps = tree_maps(graph, k)
    per_tree = _samples_per_tree(maps, samples)
    words, hits = draw(graph, k, maps, per_tree, 0, 0, Threads(), lambda share: None)
    kind, _ = unpack(words[:, 0], words[:, 1], k)
    total = hits.sum(axis=0)
    return float((total / _rates(maps, per_tree, k)[kind]).sum()), words, total


def _samples_per_tree(maps: TreeMaps, samples: int) -> np.ndarray:
    """About that many samples, equally many of every tree that has maps."""
    return np.where(maps.amount > 0, -(-samples // len(maps.amount)), 0)


def _rates(maps: TreeMaps, per_tree: np.ndarray, k: int) -> np.ndarray:
    """Expected hits of one copy of every pattern of the catalog, with that many samples of each tree."""
    automorphisms = np.array([plan.pattern.automorphisms for plan in tree_plans(k)], np.float64)
    return per_tree * automorphisms / np.where(maps.amount > 0, maps.amount, 1) @ spanning_trees(k)


def _with_exact_cliques(result: GraphEstimate, columns: Columns, exact: IntArray) -> GraphEstimate:
    """Replace estimates of cliques by exact counts, where that is fast: cliques are rare and easily missed."""
    union, (sampled, counted) = unite([result.columns, columns])
    hits, copies, errors = np.zeros(len(union), np.int64), np.zeros(len(union)), np.zeros(len(union))
    hits[sampled], copies[sampled], errors[sampled] = result.hits, result.copies, result.errors
    copies[counted], errors[counted] = exact, 0.0
    return result._replace(columns=union, hits=hits, copies=copies, errors=errors, exact_cliques=True)
