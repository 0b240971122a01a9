"""Graphs with planted motifs: a base graph, small motifs that hang on it by one edge, and a few random edges.

Many graphs are made at once: a set of thousands takes a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from anysize._typing import BoolArray, IntArray
from anysize.graphs.ragged import offsets, owners, ranges

# vertex 0 of a motif hangs on the base
HOUSE = np.array([(0, 1), (0, 4), (1, 2), (1, 4), (2, 3), (3, 4)])
CYCLE = np.array([(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])
CRANE = np.array([(0, 1), (0, 3), (1, 2), (1, 4), (2, 3), (3, 4)])  # K2,3
MOTIF_VERTICES = 5


@dataclass(frozen=True, eq=False)
class Base:
    """A base graph; random edges are added only where at least one end is ``open``."""

    edges: IntArray
    open: BoolArray

    @property
    def size(self) -> int:
        return len(self.open)


@cache
def wheel(size: int) -> Base:
    """A hub and a rim of size - 1 vertices."""
    rim = np.arange(1, size)
    closing = np.array([[1, size - 1]], np.int64)[: int(size > 3)]
    spokes, along = np.stack([0 * rim, rim], axis=1), _path(max(size - 1, 1)) + 1
    return _base(size, [spokes, along, closing])


@cache
def tree(height: int) -> Base:
    """The balanced binary tree."""
    child = np.arange(1, 2 ** (height + 1) - 1)
    return _base(len(child) + 1, [np.stack([(child - 1) // 2, child], axis=1)])


@cache
def ladder(rungs: int) -> Base:
    """Two paths and a rung between each vertex of the one and its counterpart on the other."""
    path = _path(rungs)
    return _base(2 * rungs, [path, path + rungs, np.stack([np.arange(rungs), np.arange(rungs, 2 * rungs)], axis=1)])


@cache
def star(leaves: int) -> Base:
    """A center, which alone is open, and its leaves."""
    leaf = np.arange(1, leaves + 1)
    return Base(np.stack([0 * leaf, leaf], axis=1), np.arange(leaves + 1) == 0)


@cache
def path(size: int) -> Base:
    """A path, open but for its two ends."""
    inner = np.ones(size, np.bool_)
    inner[[0, -1]] = False
    return Base(_path(size), inner)


def _path(size: int) -> IntArray:
    return np.stack([np.arange(size - 1), np.arange(1, size)], axis=1)


def _base(size: int, edges: Sequence[IntArray]) -> Base:
    return Base(np.concatenate(edges), np.ones(size, np.bool_))


@dataclass(frozen=True, eq=False)
class Planted:
    """Edges of many graphs; vertices of graph g are numbered from sum(sizes[:g])."""

    sizes: IntArray
    source: IntArray
    target: IntArray
    open: BoolArray


def plant(bases: Sequence[Base], motifs: Sequence[Sequence[IntArray]], rng: np.random.Generator) -> Planted:
    """Each base with its motifs, numbered after it: an edge joins vertex 0 of each to a random vertex of the base."""
    base_sizes = np.array([base.size for base in bases])
    amounts = np.array([len(of_graph) for of_graph in motifs])
    sizes = base_sizes + MOTIF_VERTICES * amounts
    first = offsets(sizes)[:-1]
    graph = owners(offsets(amounts))  # of every motif
    number = np.arange(len(graph)) - offsets(amounts)[graph]  # in its graph
    root = first[graph] + base_sizes[graph] + MOTIF_VERTICES * number
    ground = first[graph] + (rng.random(len(graph)) * base_sizes[graph]).astype(np.int64)
    planted = [motif for of_graph in motifs for motif in of_graph]
    edges = np.concatenate([
        np.concatenate([base.edges for base in bases]) + np.repeat(first, [len(base.edges) for base in bases])[:, None],
        np.concatenate(planted) + np.repeat(root, [len(motif) for motif in planted])[:, None],
        np.stack([ground, root], axis=1),
    ])  # fmt: skip
    is_open = np.zeros(int(sizes.sum()), np.bool_)
    is_open[ranges(first, base_sizes)] = np.concatenate([base.open for base in bases])
    return Planted(sizes, edges[:, 0], edges[:, 1], is_open)


def add_random_edges(graphs: Planted, share: float, rng: np.random.Generator) -> Planted:
    """Draw ``int(share * edges)`` pairs of vertices that are not adjacent, and add those of which one end is open."""
    first, total = offsets(graphs.sizes), int(graphs.sizes.sum())
    graph = owners(first)
    low, high = np.minimum(graphs.source, graphs.target), np.maximum(graphs.source, graphs.target)
    present = np.sort(low * total + high)
    amounts = (share * np.bincount(graph[low], minlength=len(graphs.sizes))).astype(np.int64)
    added = [np.zeros((0, 2), np.int64)]
    for drawn in range(int(amounts.max(initial=0))):
        pending = np.flatnonzero(amounts > drawn)
        pairs = np.zeros((0, 2), np.int64)
        while len(pending):
            ends = first[pending, None] + (rng.random((len(pending), 2)) * graphs.sizes[pending, None]).astype(np.int64)
            ends.sort(axis=1)
            key = ends[:, 0] * total + ends[:, 1]
            known = present[np.minimum(np.searchsorted(present, key), len(present) - 1)] == key
            free = ~known & (ends[:, 0] != ends[:, 1])
            pairs, pending = np.concatenate([pairs, ends[free]]), pending[~free]
        kept = pairs[graphs.open[pairs].any(axis=1)]
        present = np.sort(np.concatenate([present, kept[:, 0] * total + kept[:, 1]]))
        added.append(kept)
    extra = np.concatenate(added)
    source, target = np.concatenate([low, extra[:, 0]]), np.concatenate([high, extra[:, 1]])
    return Planted(graphs.sizes, source, target, graphs.open)


# ---- random bases --------------------------------------------------------------------------------------


def erdos_renyi(sizes: IntArray, mean_degree: float, rng: np.random.Generator) -> list[Base]:
    """Edges with probability mean_degree / (size - 1)."""
    bases = []
    for size in sizes.tolist():
        source, target = np.triu_indices(size, 1)
        drawn = rng.random(len(source)) < mean_degree / max(size - 1, 1)
        bases.append(_base(size, [np.stack([source[drawn], target[drawn]], axis=1)]))
    return bases


def preferential(sizes: IntArray, rng: np.random.Generator) -> list[Base]:
    """Preferential attachment (Barabási-Albert): each vertex joins an earlier one, drawn by its degree."""
    largest = int(sizes.max(initial=1))
    ends = np.zeros((len(sizes), 2 * largest), np.int64)  # both ends of every edge so far
    for vertex in range(1, largest):
        slot = (rng.random(len(sizes)) * max(2 * (vertex - 1), 1)).astype(np.int64)
        ends[:, 2 * vertex - 2] = ends[np.arange(len(sizes)), slot]
        ends[:, 2 * vertex - 1] = vertex
    return [_base(size, [row[: 2 * size - 2].reshape(-1, 2)]) for size, row in zip(sizes.tolist(), ends, strict=True)]


def geometric(sizes: IntArray, mean_degree: float, rng: np.random.Generator) -> list[Base]:
    """Random points of a square, adjacent within the distance that gives this mean degree (less at the border)."""
    from scipy.spatial import KDTree

    bases = []
    for size in sizes.tolist():
        points = KDTree(rng.random((size, 2)))
        pairs = points.query_pairs(np.sqrt(mean_degree / (np.pi * max(size - 1, 1))), output_type="ndarray")
        bases.append(_base(size, [pairs.astype(np.int64)]))
    return bases
