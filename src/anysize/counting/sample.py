"""Estimated counts, k = 3..7, for graphs too large to count: unbiased, with standard errors.

For every free tree T on k vertices a dynamic programme over the edges gives the number Z of its maps into the graph
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
from numba import int64, uint64

from anysize.counting.bits import fetch_add
from anysize.counting.canonical import canonical, pack, pattern_tables, unpack
from anysize.counting.cliques import count_cliques
from anysize.counting.columns import Columns
from anysize.counting.jit import entry, helper
from anysize.counting.parallel import Tick, pull_in_threads
from anysize.counting.pattern_table import COLUMN, PATTERNS, grown, packed_patterns, record_of
from anysize.counting.trees import spanning_trees, tree_plans
from anysize.graphs import GraphSet

BLOCK = 1 << 13  # samples with a random stream of their own, so that threads do not matter


class Estimate(NamedTuple):
    """What the samples of one graph say: patterns, hits of each, copies, standard errors, and rates by class."""

    columns: Columns
    hits: np.ndarray
    copies: np.ndarray
    errors: np.ndarray
    rates: np.ndarray  # expected hits of one copy, by place in the catalogue
    samples: int
    exact_cliques: bool


def estimate(graph: GraphSet, k: int, samples: int, seed: int, stream: int, threads: int, tick: Tick) -> Estimate:
    """Estimates for one graph from about that many samples; stream tells apart graphs and pilots of one seed."""
    prepared = prepare(graph, k)
    each = np.where(prepared.maps > 0, -(-samples // len(prepared.maps)), 0)
    rates = _rates(prepared, each, k)
    words, hits = _draw(graph, k, prepared, each, seed, stream, threads, tick)
    place, colours = unpack(words[:, 0], words[:, 1], k)
    columns = Columns(
        np.full(len(place), k, np.uint8), place, None if graph.colours is None else colours, graph.palette
    )
    rate = rates[place]
    spread = (hits * (1 - hits / np.maximum(each, 1)[:, None])).sum(axis=0)
    copies, errors = hits.sum(axis=0) / rate, np.sqrt(spread) / rate
    result = Estimate(columns, hits.sum(axis=0), copies, errors, rates, int(each.sum()), False)
    return _with_exact_cliques(result, graph, k, threads)


def glimpse(graph: GraphSet, k: int, samples: int) -> tuple[float, np.ndarray, np.ndarray]:
    """About how many connected k-sets a graph has; the patterns met, packed, and their hits. The same each time."""
    prepared = prepare(graph, k)
    each = np.where(prepared.maps > 0, -(-samples // len(prepared.maps)), 0)
    words, hits = _draw(graph, k, prepared, each, 0, 0, 1, lambda share: None)
    place, _ = unpack(words[:, 0], words[:, 1], k)
    total = hits.sum(axis=0)
    return float((total / _rates(prepared, each, k)[place]).sum()), words, total


def _rates(prepared: Prepared, each: np.ndarray, k: int) -> np.ndarray:
    """Expected hits of one copy of every class, with so many samples of each tree."""
    automorphisms = np.array([plan.pattern.automorphisms for plan in tree_plans(k)], np.float64)
    return each * automorphisms / np.where(prepared.maps > 0, prepared.maps, 1) @ spanning_trees(k)


def _with_exact_cliques(result: Estimate, graph: GraphSet, k: int, threads: int) -> Estimate:
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
        None if graph.colours is None else np.concatenate([result.columns.colours[other], columns.colours]),
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


# ---- the dynamic programme ----------------------------------------------------------------------------


class Prepared(NamedTuple):
    """Maps of every tree, and the tables to draw them from."""

    maps: np.ndarray  # by tree
    alias: np.ndarray  # (trees, vertices): the other vertex of a place in the root's alias table
    keep: np.ndarray  # (trees, vertices): the chance of the place itself
    running: np.ndarray  # (shapes, slots): running sums of weights over the neighbours of a vertex
    shape_number: np.ndarray  # (trees, k): row of running, or -1 for a leaf
    parent: np.ndarray
    filter: np.ndarray  # hashed edges, a bit each


def prepare(graph: GraphSet, k: int) -> Prepared:
    """The dynamic programme over shapes of subtrees, for all trees on k vertices."""
    degree = graph.degrees.astype(np.float64)
    plans = tree_plans(k)
    numbers: dict = {}
    running: list[np.ndarray] = []
    sums: list[np.ndarray] = []

    def weight(shape, at_root: bool) -> np.ndarray:
        result = np.ones(len(degree))
        for leaf in range(sum(child == () for child in shape)):
            result *= np.maximum(degree - (0 if at_root else 1) - leaf, 0)
        for child in shape:
            if child != ():
                result *= below(child)
        return result

    def below(shape) -> np.ndarray:
        if shape not in numbers:
            own = weight(shape, at_root=False)
            slots = np.empty(len(graph.indices))
            total = _running_sums(graph.indptr, graph.indices, own, slots)
            numbers[shape] = len(running)
            running.append(slots)
            sums.append(total)
        return sums[numbers[shape]]

    roots = [weight(plan.shape[0], at_root=True) for plan in plans]
    tables = [_alias_table(root) for root in roots]
    return Prepared(
        np.array([root.sum() for root in roots]),
        np.array([alias for alias, _ in tables]),
        np.array([keep for _, keep in tables]),
        np.array(running) if running else np.zeros((1, 1)),
        np.array([[-1] + [numbers.get(shape, -1) for shape in plan.shape[1:]] for plan in plans], np.int64),
        np.array([plan.parent for plan in plans], np.int64),
        _edge_filter(graph.indptr, graph.indices),
    )


@entry
def _running_sums(indptr, indices, weights, slots):
    total = np.zeros(len(indptr) - 1)
    for v in range(len(indptr) - 1):
        so_far = 0.0
        for e in range(indptr[v], indptr[v + 1]):
            so_far += weights[indices[e]]
            slots[e] = so_far
        total[v] = so_far
    return total


@entry
def _alias_table(weights):
    """Walker's table: draw a place uniformly, keep it with its chance, else take its alias."""
    n = len(weights)
    alias, keep = np.zeros(n, np.uint32), np.ones(n)
    total = weights.sum()
    if n == 0 or total <= 0:
        return alias, keep
    scaled = weights * (n / total)
    small, large = np.empty(n, np.uint32), np.empty(n, np.uint32)
    n_small, n_large = 0, 0
    for v in range(n):
        if scaled[v] < 1.0:
            small[n_small] = v
            n_small += 1
        else:
            large[n_large] = v
            n_large += 1
    while n_small and n_large:
        n_small -= 1
        few, many = small[n_small], large[n_large - 1]
        keep[few], alias[few] = scaled[few], many
        scaled[many] -= 1.0 - scaled[few]
        if scaled[many] < 1.0:
            n_large -= 1
            small[n_small] = many
            n_small += 1
    while n_small:  # rounding: what is left has weight one, unless it has none at all
        n_small -= 1
        if weights[small[n_small]] == 0.0:
            keep[small[n_small]], alias[small[n_small]] = 0.0, np.uint32(np.argmax(weights))
    return alias, keep


@entry
def _edge_filter(indptr, indices):
    """A set of hashed edges, sixteen bits to an edge: most pairs that are no edges are told apart at once."""
    bits = 12
    while (1 << bits) < 8 * len(indices):
        bits += 1
    words = np.zeros(1 << (bits - 6), np.uint64)
    for v in range(len(indptr) - 1):
        for e in range(indptr[v], indptr[v + 1]):
            at = _edge_hash(int64(v), int64(indices[e])) & uint64((1 << bits) - 1)
            words[at >> uint64(6)] |= uint64(1) << (at & uint64(63))
    return words


@helper
def _edge_hash(a, b):
    low, high = min(a, b), max(a, b)
    mixed = (uint64(low) * uint64(0x9E3779B97F4A7C15) + uint64(high)) * uint64(0xD6E8FEB86659FD93)
    return mixed >> uint64(20)


# ---- drawing --------------------------------------------------------------------------------------------


def _draw(graph: GraphSet, k: int, prepared: Prepared, each, seed: int, stream: int, threads: int, tick: Tick):
    """Packed patterns that were hit, and hits (trees, patterns)."""
    tree = np.repeat(np.arange(len(each)), -(-each // BLOCK))
    number = np.concatenate([np.arange(-(-amount // BLOCK)) for amount in each]).astype(np.int64)
    amount = np.minimum(BLOCK, each[tree] - number * BLOCK)
    start = np.random.SeedSequence([seed, stream, k]).generate_state(1, np.uint64)[0]
    colours = graph.colours if graph.colours is not None else np.zeros(int(graph.first[-1]), np.uint16)
    counter = np.zeros(1, np.int64)

    def run():
        return _sample(
            graph.indptr, graph.indices, colours, k, tree, number, amount, counter, np.uint64(start),
            *prepared[1:], len(each), graph.colours is not None, *pattern_tables(k),
        )  # fmt: skip

    parts = pull_in_threads(run, counter, len(tree), threads, tick)
    words = np.concatenate([np.stack([high, low], axis=1) for high, low, _ in parts])
    distinct, inverse = np.unique(words, axis=0, return_inverse=True)
    hits = np.zeros((len(each), len(distinct)), np.int64)
    np.add.at(hits, (slice(None), inverse.ravel()), np.concatenate([part[2] for part in parts], axis=1))
    return distinct, hits


@helper
def _next(state):
    """SplitMix64: the next state and 64 random bits."""
    state += uint64(0x9E3779B97F4A7C15)
    z = state
    z = (z ^ (z >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> uint64(27))) * uint64(0x94D049BB133111EB)
    return state, z ^ (z >> uint64(31))


@helper
def _unit(bits):
    """A number in [0, 1) from 64 random bits."""
    return float(bits >> uint64(11)) * (1.0 / 9007199254740992.0)


@entry
def _sample(
    indptr, indices, colours, k, block_tree, block_number, block_amount, counter, start,
    alias, keep, running, shape_number, parent, edge_filter, n_trees, coloured, class_of, renaming, group_ptr, group,
):  # fmt: skip
    """Take blocks off the counter until there are none; packed patterns, and their hits by tree."""
    image = np.zeros(8, np.int64)
    own, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    by_class = np.zeros((n_trees, len(group_ptr) - 1), np.int64)
    state = np.zeros(2, np.int64)
    table = np.zeros((1 << 12, 4), np.uint64)
    by_tree = np.zeros((n_trees, 1 << 10), np.int64)
    nothing = np.zeros(0, np.int64)
    mask = uint64(64 * len(edge_filter) - 1)
    while True:
        block = fetch_add(counter, 1)
        if block >= len(block_tree):
            break
        while len(table) < 2 * (state[PATTERNS] + BLOCK):
            table = grown(table, nothing, state)
        while by_tree.shape[1] < state[PATTERNS] + BLOCK:
            more = np.zeros((n_trees, 2 * by_tree.shape[1]), np.int64)
            more[:, : by_tree.shape[1]] = by_tree
            by_tree = more
        tree = block_tree[block]
        random, _ = _next(
            start ^ (uint64(tree) << uint64(56)) ^ (uint64(block_number[block]) * uint64(0xD1342543DE82EF95))
        )
        _, random = _next(random)
        _sample_block(
            indptr, indices, colours, k, block_amount[block], random, alias[tree], keep[tree], running,
            shape_number[tree], parent[tree], edge_filter, mask, coloured, image, own, best, trial,
            by_class[tree], by_tree[tree], table, state, class_of, renaming, group_ptr, group,
        )  # fmt: skip
    if not coloured:
        return _by_class(by_class, k)
    high, low = packed_patterns(table, state)
    return high, low, by_tree[:, : state[PATTERNS]].copy()


@helper
def _by_class(by_class, k):
    met = np.flatnonzero(by_class.sum(axis=0))
    high, low = np.zeros(len(met), np.uint64), np.zeros(len(met), np.uint64)
    hits = np.zeros((by_class.shape[0], len(met)), np.int64)
    for i in range(len(met)):
        high[i] = uint64(met[i]) << uint64(48)
        hits[:, i] = by_class[:, met[i]]
    return high, low, hits


@helper
def _sample_block(
    indptr, indices, colours, k, amount, random, alias, keep, running, shape_number, parent, edge_filter, mask,
    coloured, image, own, best, trial, by_class, by_column, table, state, class_of, renaming, group_ptr, group,
):  # fmt: skip
    n = len(alias)
    for _ in range(amount):
        random, bits = _next(random)
        place = int64(_unit(bits) * n)
        random, bits = _next(random)
        image[0] = place if _unit(bits) < keep[place] else int64(alias[place])
        fresh = True
        for i in range(1, k):
            above = parent[i]
            v = image[above]
            first, last = indptr[v], indptr[v + 1]
            random, bits = _next(random)
            shape = shape_number[i]
            if shape < 0:  # a leaf: any neighbour but the way back and the leaves before it
                back = image[parent[above]] if above > 0 else -1
                while True:
                    u = int64(indices[first + int64(_unit(bits) * (last - first))])
                    taken = u == back
                    j = i - 1
                    while j > 0 and parent[j] == above and shape_number[j] < 0 and not taken:
                        taken = image[j] == u
                        j -= 1
                    if not taken:
                        break
                    random, bits = _next(random)
            else:  # a neighbour by the number of maps of the subtree below it
                goal = _unit(bits) * running[shape, last - 1]
                low, high = first, last - 1
                while low < high:
                    middle = (low + high) >> 1
                    if running[shape, middle] <= goal:
                        low = middle + 1
                    else:
                        high = middle
                u = int64(indices[low])
            for j in range(i):
                if image[j] == u:
                    fresh = False
            if not fresh:
                break
            image[i] = u
        if not fresh:
            continue
        code = 0
        for j in range(1, k):
            for i in range(j):
                joined = parent[j] == i
                if not joined:
                    at = _edge_hash(image[i], image[j]) & mask
                    if (edge_filter[at >> uint64(6)] >> (at & uint64(63))) & uint64(1):
                        joined = _adjacent(indptr, indices, image[i], image[j])
                if joined:
                    code |= 1 << (j * (j - 1) // 2 + i)
        if not coloured:
            by_class[class_of[code]] += 1
            continue
        for i in range(k):
            own[i] = colours[image[i]]
        kind = canonical(code, own, k, class_of, renaming, group_ptr, group, best, trial)
        word, other = pack(kind, best, k)
        by_column[int64(table[record_of(word, other, table, state), COLUMN]) - 1] += 1


@helper
def _adjacent(indptr, indices, a, b):
    if indptr[a + 1] - indptr[a] > indptr[b + 1] - indptr[b]:
        a, b = b, a
    low, high = indptr[a], indptr[a + 1]
    while low < high:
        middle = (low + high) >> 1
        if indices[middle] < b:
            low = middle + 1
        else:
            high = middle
    return low < indptr[a + 1] and indices[low] == b
