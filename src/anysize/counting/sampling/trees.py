"""Free trees on k vertices, and tables from which their maps into a graph are drawn uniformly.

A dynamic program counts the maps of every free tree. The weight of a vertex is the number of maps of a subtree that
send its root there: a product, over its children, of sums of their weights over the neighbors. Leaves of one vertex
have different images, and none is the image of their grandparent. Running sums over neighbors and an alias table over
roots then give a uniform map, drawn vertex by vertex (`draws`).
"""

# mypy: ignore-errors
from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from anysize.counting.engines.jit import entry, helper
from anysize.graphs.graphset import GraphSet
from anysize.patterns.orbits import orbits
from anysize.patterns.pattern import Pattern, class_table, connected_patterns

Shape = tuple["Shape", ...]  # a rooted subtree: the shapes of its children, sorted; a leaf is ()


@dataclass(frozen=True)
class TreePlan:
    """A free tree, rooted at its center, with its vertices in the order in which they are drawn.

    Vertex 0 is the root and ``parent[i] < i``; the leaves of a parent come after its other children. ``shape[i]`` is
    the subtree below vertex i.
    """

    pattern: Pattern
    parent: tuple[int, ...]
    shape: tuple[Shape, ...]


@cache
def tree_plans(k: int) -> tuple[TreePlan, ...]:
    """All free trees on k vertices.

    Examples:
        >>> [len(tree_plans(k)) for k in range(3, 8)]
        [1, 2, 3, 6, 11]
    """
    return tuple(_plan(pattern) for pattern in connected_patterns(k) if len(pattern.edges) == k - 1)


def _plan(tree: Pattern) -> TreePlan:
    neighbors: dict[int, list[int]] = {v: [] for v in range(tree.size)}
    for i, j in tree.edges:
        neighbors[i].append(j)
        neighbors[j].append(i)

    def shape(vertex: int, above: int) -> Shape:
        return tuple(sorted(shape(child, vertex) for child in neighbors[vertex] if child != above))

    def height(vertex: int, above: int) -> int:
        return 1 + max((height(child, vertex) for child in neighbors[vertex] if child != above), default=0)

    root = min(range(tree.size), key=lambda vertex: (height(vertex, -1), vertex))
    parent, shapes, waiting = [-1], [shape(root, -1)], [(root, -1, 0)]
    while waiting:
        vertex, above, number = waiting.pop(0)
        children = [child for child in neighbors[vertex] if child != above]
        for child in sorted(children, key=lambda child: shape(child, vertex) == ()):
            parent.append(number)
            shapes.append(shape(child, vertex))
            waiting.append((child, vertex, len(parent) - 1))
    return TreePlan(tree, tuple(parent), tuple(shapes))


@cache
def spanning_trees(k: int) -> NDArray[np.int64]:
    """Matrix (trees, catalog): the number of spanning trees of each type that a pattern has.

    Examples:
        >>> spanning_trees(4).tolist()  # claws and paths in claw, path, paw, 4-cycle, diamond, clique
        [[1, 0, 1, 0, 2, 4], [0, 1, 2, 4, 6, 12]]
    """
    codes = _labeled_trees(k)
    kinds = class_table(k)[codes]
    plans = tree_plans(k)
    row_of = {pattern.code: number for number, pattern in enumerate(connected_patterns(k))}
    matrix = np.zeros((len(plans), len(connected_patterns(k))), np.int64)
    for column, pattern in enumerate(connected_patterns(k)):
        inside = (codes & ~pattern.code) == 0
        for row, plan in enumerate(plans):
            matrix[row, column] = np.count_nonzero(kinds[inside] == row_of[plan.pattern.code])
    return matrix


def _labeled_trees(k: int) -> NDArray[np.int64]:
    """The codes of all k^(k - 2) labeled trees: the permuted copies of the free ones."""
    smallest = [plan.pattern.code for plan in tree_plans(k)]
    return np.flatnonzero(np.isin(orbits(k).smallest, smallest)).astype(np.int64)


class TreeMaps(NamedTuple):
    """Maps of every tree on k vertices, and the tables to draw them from."""

    amount: np.ndarray  # by tree
    alias: np.ndarray  # (trees, vertices): alias table of the roots
    keep: np.ndarray  # (trees, vertices): the probability of the vertex itself, not its alias
    running: np.ndarray  # (shapes, slots): running sums of weights over the neighbors of a vertex
    shape_number: np.ndarray  # (trees, k): row of running, or -1 for a leaf
    parent: np.ndarray
    edge_filter: np.ndarray  # a bit for each hashed edge


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
            weights = weight(shape, at_root=False)
            slots = np.empty(len(graph.indices))
            total = _running_sums(graph.indptr, graph.indices, weights, slots)
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
    """Walker's alias table: draw a vertex uniformly, keep it with its probability, else take its alias."""
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
    while n_small:  # left over by rounding: scaled weights of 1, or of 0
        n_small -= 1
        if weights[small[n_small]] == 0.0:
            keep[small[n_small]], alias[small[n_small]] = 0.0, np.uint32(np.argmax(weights))
    return alias, keep


@entry
def _edge_filter(indptr, indices):
    """A bit set of hashed edges, 16 bits per edge: it rules out most pairs that are not edges."""
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
