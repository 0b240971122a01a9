"""Draws of the causal model: the hidden variables U of vertices, and edges where Z < W(U, U')."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from anysize.flat import offsets, ranges
from anysize.graphons import Graphon, block_sizes

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

PAIRS_AT_ONCE = 1 << 20  # bounds the memory of a draw; the result does not depend on it


def draw_hidden(
    graphons: Sequence[Graphon], y: IntArray, sizes: IntArray, blocks: str, rng: np.random.Generator
) -> FloatArray:
    """U of every vertex of the set."""
    uniform = rng.random(int(sizes.sum()))
    if blocks == "iid" or all(len(graphon.shares) == 1 for graphon in graphons):
        return uniform
    first = offsets(sizes)
    for label, size in set(zip(y.tolist(), sizes.tolist(), strict=True)):
        graphs = np.flatnonzero((y == label) & (sizes == size))
        cuts = graphons[label].cuts
        block = np.repeat(np.arange(len(cuts) - 1), block_sizes(graphons[label].shares, size))
        own = first[graphs][:, None] + np.arange(size)
        inside = cuts[block] + uniform[own] * (cuts[block + 1] - cuts[block])
        uniform[own] = np.minimum(inside, np.nextafter(cuts[block + 1], 0.0))  # rounding must not leave the block
    return uniform


def draw_edges(
    graphons: Sequence[Graphon], y: IntArray, sizes: IntArray, hidden: FloatArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """The ends u < v of all edges, numbered through the set: class by class, one Z per pair in fixed order."""
    first = offsets(sizes)
    sources, targets = [], []
    for label, graphon in enumerate(graphons):
        own = np.flatnonzero(y == label)
        vertices = ranges(first[own], sizes[own])
        later = np.repeat(first[own + 1], sizes[own]) - vertices - 1  # pairs of which a vertex is the first
        for part in _parts(later, PAIRS_AT_ONCE):
            source = np.repeat(vertices[part], later[part])
            target = ranges(vertices[part] + 1, later[part])
            linked = rng.random(len(source)) < graphon.edge_probability(hidden[source], hidden[target])
            sources.append(source[linked])
            targets.append(target[linked])
    return np.concatenate(sources), np.concatenate(targets)


def first_vertices(
    larger: IntArray, sizes: IntArray, source: IntArray, target: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """The graphs induced by the first sizes[g] vertices: which vertices stay, and the edges among them."""
    first = offsets(larger)
    kept = ranges(first[:-1], sizes)
    new = np.full(int(first[-1]), -1, np.int64)
    new[kept] = np.arange(len(kept))
    source, target = new[source], new[target]
    stays = (source >= 0) & (target >= 0)
    return kept, source[stays], target[stays]


def _parts(lengths: IntArray, most: int) -> Iterator[slice]:
    """Consecutive slices whose lengths sum to at most ``most``, or hold one item."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(start, stop)
        start = stop
