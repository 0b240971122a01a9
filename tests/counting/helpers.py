"""Helpers of counting tests: graphs, renumberings, colors, comparison of tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import networkx as nx
import numpy as np

from anysize.counting.counts import Counts
from anysize.graphs.assembly import assemble
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet


def same(left: Counts, right: Counts) -> None:
    """The same graphs, columns and copies, bit by bit."""
    assert left.palette == right.palette
    assert np.array_equal(left.columns.keys(), right.columns.keys())
    assert (left.columns.colors is None) == (right.columns.colors is None)
    assert np.array_equal(left.sizes, right.sizes)
    assert left.matrix.shape == right.matrix.shape
    assert left.matrix.dtype == right.matrix.dtype == np.int64
    different = (left.matrix != right.matrix).tocoo()
    assert not different.nnz, f"rows {different.row[:5]}, columns {different.col[:5]} differ"


def identical(left: Counts, right: Counts) -> None:
    """The same, down to the arrays of the sparse matrix."""
    same(left, right)
    for name in ("indptr", "indices", "data"):
        assert np.array_equal(getattr(left.matrix, name), getattr(right.matrix, name)), name


def colored(graphs: GraphSet, amount: int, seed: int = 0, palette: Sequence[ColorName] | None = None) -> GraphSet:
    """Random colors: the codes 0 .. amount - 1 of a palette (numbers, if none is given)."""
    codes = np.random.default_rng(seed).integers(0, amount, int(graphs.first[-1])).astype(np.uint16)
    return replace(graphs, colors=codes, palette=tuple(range(amount) if palette is None else palette))


def renamed(graphs: GraphSet, seed: int = 0) -> GraphSet:
    """The same graphs with their vertices in random order."""
    graph = np.repeat(np.arange(len(graphs)), graphs.sizes)
    order = np.lexsort((np.random.default_rng(seed).random(len(graph)), graph))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    source = np.repeat(np.arange(len(graph)), graphs.degrees)
    target = graphs.indices + graphs.first[graph[source]]
    colors = None if graphs.colors is None else graphs.colors[order]
    return assemble(graphs.sizes, place[source], place[target], colors, graphs.palette)


def gnp(n: int, p: float, seed: int = 0) -> GraphSet:
    """An Erdos-Renyi graph."""
    return GraphSet.from_networkx(nx.gnp_random_graph(n, p, seed=seed))


def color_sums(counts: Counts) -> np.ndarray:
    """Copies (graphs, catalog) of plain patterns of a colored table of one size, summed over colors."""
    plain = np.zeros((len(counts), 853), np.int64)
    cells = counts.matrix.tocoo()
    np.add.at(plain, (cells.row, counts.columns.pattern_index[cells.col]), cells.data)
    return plain
