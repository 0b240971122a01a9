"""How many maps every free tree has into a graph, and the tables to draw them from: a dynamic program.

The weight of a vertex is the number of maps of a subtree that send its root there: a product, over its children, of
sums of their weights over the neighbors. Leaves of one vertex differ, and do not turn back. Running sums over
neighbors and an alias table over roots then give a map drawn uniformly, vertex by vertex (`tree_draws`).
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import int64, uint64

from anysize.counting.engines.jit import entry, helper
from anysize.counting.sampling.trees import tree_plans
from anysize.graphs.graphset import GraphSet


class TreeMaps(NamedTuple):
    """Maps of every tree on k vertices, and the tables to draw them from."""

    amount: np.ndarray  # by tree
    alias: np.ndarray  # (trees, vertices): the other vertex of a place in the root's alias table
    keep: np.ndarray  # (trees, vertices): the chance of the place itself
    running: np.ndarray  # (shapes, slots): running sums of weights over the neighbors of a vertex
    shape_number: np.ndarray  # (trees, k): row of running, or -1 for a leaf
    parent: np.ndarray
    edge_filter: np.ndarray  # hashed edges, a bit each


def tree_maps(graph: GraphSet, k: int) -> TreeMaps:
    """The dynamic program over shapes of subtrees, for all trees on k vertices."""
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
    return TreeMaps(
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
            at = edge_hash(int64(v), int64(indices[e])) & uint64((1 << bits) - 1)
            words[at >> uint64(6)] |= uint64(1) << (at & uint64(63))
    return words


@helper
def edge_hash(a, b):
    low, high = min(a, b), max(a, b)
    mixed = (uint64(low) * uint64(0x9E3779B97F4A7C15) + uint64(high)) * uint64(0xD6E8FEB86659FD93)
    return mixed >> uint64(20)
