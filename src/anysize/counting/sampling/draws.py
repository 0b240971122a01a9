"""Random maps of free trees, and the patterns that they hit.

Samples are drawn in blocks, each with its own random stream. Threads take blocks from a counter; the result does not
depend on which thread draws a block.
"""

# mypy: ignore-errors
from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba import int64, uint64

from anysize.counting.engines.bits import fetch_add, next_bits
from anysize.counting.engines.canonical import (
    COLUMN,
    PATTERNS,
    canonical,
    grown,
    pack,
    packed_patterns,
    pattern_tables,
    record_of,
)
from anysize.counting.engines.jit import entry, helper
from anysize.counting.engines.threads import Threads, Tick
from anysize.counting.sampling.trees import TreeMaps, edge_hash
from anysize.graphs.graphset import GraphSet

BLOCK = 1 << 13  # samples of a random stream


def draw(graph: GraphSet, k: int, maps: TreeMaps, each, seed: int, stream: int, threads: Threads, tick: Tick, first=0):
    """Draw maps, from that block of every tree on; returns the packed patterns hit, and hits (trees, patterns)."""
    tree = np.repeat(np.arange(len(each)), -(-each // BLOCK))
    number = np.concatenate([np.arange(-(-amount // BLOCK)) for amount in each]).astype(np.int64)
    amount = np.minimum(BLOCK, each[tree] - number * BLOCK)
    number += first
    start = np.random.SeedSequence([seed, stream, k]).generate_state(1, np.uint64)[0]
    colors = graph.colors if graph.colors is not None else np.zeros(int(graph.first[-1]), np.uint16)
    counter = np.zeros(1, np.int64)

    def run():
        return _sample(
            graph.indptr, graph.indices, colors, k, tree, number, amount, counter, np.uint64(start),
            maps, graph.colors is not None, pattern_tables(k),
        )  # fmt: skip

    parts = threads.pull(run, counter, len(tree), tick)
    return added((np.stack([high, low], axis=1), hits) for high, low, hits in parts)


def added(parts: Iterable[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """The packed patterns of several parts, ascending, and their hits (trees, patterns) in all parts together."""
    all_words, all_hits = zip(*parts, strict=True)
    words, hits = np.concatenate(all_words), np.concatenate(all_hits, axis=1)
    order = np.lexsort((words[:, 1], words[:, 0]))
    words = words[order]
    first = np.flatnonzero(np.concatenate([[True], (words[1:] != words[:-1]).any(axis=1)])[: len(words)])
    return words[first], np.add.reduceat(hits[:, order], first, axis=1) if len(first) else hits


@helper
def _unit(bits):
    """A number in [0, 1) from 64 random bits."""
    return float(bits >> uint64(11)) * (1.0 / 9007199254740992.0)


@entry
def _sample(
    indptr, indices, colors, k, block_tree, block_number, block_amount, counter, start,
    maps, colored, tables,
):  # fmt: skip
    """Take blocks from the counter until there are none; returns packed patterns, and their hits by tree."""
    image = np.zeros(8, np.int64)
    member_color, best, trial = np.zeros(8, np.int64), np.zeros(8, np.int64), np.zeros(8, np.int64)
    n_trees = len(maps.amount)
    by_class = np.zeros((n_trees, len(tables.group_ptr) - 1), np.int64)
    state = np.zeros(2, np.int64)
    table = np.zeros((1 << 12, 4), np.uint64)
    by_tree = np.zeros((n_trees, 1 << 10), np.int64)
    nothing = np.zeros(0, np.int64)
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
        random, _ = next_bits(
            start ^ (uint64(tree) << uint64(56)) ^ (uint64(block_number[block]) * uint64(0xD1342543DE82EF95))
        )
        _, random = next_bits(random)
        _sample_block(
            indptr, indices, colors, k, block_amount[block], random, maps, tree, colored, image, member_color, best,
            trial, by_class[tree], by_tree[tree], table, state, tables,
        )  # fmt: skip
    if not colored:
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
    indptr, indices, colors, k, amount, random, maps, tree, colored, image, member_color, best, trial,
    by_class, by_column, table, state, tables,
):  # fmt: skip
    """Draw maps of one tree; count the classes (by_class) or colored patterns (by_column) that they hit.

    Many parameters, because numba keeps arrays that are reused between blocks as arguments.
    """
    alias, keep, running = maps.alias[tree], maps.keep[tree], maps.running
    shape_number, parent, edge_filter = maps.shape_number[tree], maps.parent[tree], maps.edge_filter
    mask = uint64(64 * len(edge_filter) - 1)
    n = len(alias)
    for _ in range(amount):
        random, bits = next_bits(random)
        root = int64(_unit(bits) * n)
        random, bits = next_bits(random)
        image[0] = root if _unit(bits) < keep[root] else int64(alias[root])
        fresh = True
        for i in range(1, k):
            above = parent[i]
            v = image[above]
            first, last = indptr[v], indptr[v + 1]
            random, bits = next_bits(random)
            shape = shape_number[i]
            if shape < 0:  # a leaf: any neighbor but the way back and the leaves before it
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
                    random, bits = next_bits(random)
            else:  # a neighbor by the number of maps of the subtree below it
                u = int64(indices[_slot_beyond(running[shape], first, last, _unit(bits) * running[shape, last - 1])])
            for j in range(i):
                if image[j] == u:
                    fresh = False
            if not fresh:
                break
            image[i] = u
        if not fresh:
            continue
        code = _induced_code(indptr, indices, k, parent, edge_filter, mask, image)
        if not colored:
            by_class[tables.class_of[code]] += 1
            continue
        for i in range(k):
            member_color[i] = colors[image[i]]
        kind = canonical(code, member_color, k, tables, best, trial)
        word, other = pack(kind, best, k)
        by_column[int64(table[record_of(word, other, table, state), COLUMN]) - 1] += 1


@helper
def _slot_beyond(running, first, last, goal):
    """The first slot in first .. last whose running sum exceeds the goal."""
    low, high = first, last - 1
    while low < high:
        middle = (low + high) >> 1
        if running[middle] <= goal:
            low = middle + 1
        else:
            high = middle
    return low


@helper
def _induced_code(indptr, indices, k, parent, edge_filter, mask, image):
    """The adjacency bits of the images; pairs that are not edges of the tree are filtered first."""
    code = 0
    for j in range(1, k):
        for i in range(j):
            joined = parent[j] == i
            if not joined:
                at = edge_hash(image[i], image[j]) & mask
                if (edge_filter[at >> uint64(6)] >> (at & uint64(63))) & uint64(1):
                    joined = _adjacent(indptr, indices, image[i], image[j])
            if joined:
                code |= 1 << (j * (j - 1) // 2 + i)
    return code


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
