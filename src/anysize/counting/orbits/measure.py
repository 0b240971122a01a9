"""Orbit counts of one graph: its sums, and the integer matrix that turns them into counts.

The matrix is found by counting: the sums of the thirty patterns themselves, and the orbits of their induced subgraphs,
determine it. It is an integer matrix with determinant 1, so that sums may exceed 64 bits if the counts do not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._typing import FloatArray, IntArray
from anysize.counting.engines.oriented import Oriented, orient, triangle_lists, triangles_of_edges
from anysize.counting.engines.threads import Threads, Tick
from anysize.counting.orbits import sums as kernels
from anysize.counting.orbits.numbering import ORBITS, induced_in_patterns, orbit_positions
from anysize.graphs.graphset import GraphSet

MOST = 2**63  # orbit counts are below it


def count_orbits(graph: GraphSet, k: int, counts: IntArray, threads: Threads, tick: Tick) -> None:
    """Fill counts (vertices, orbits) of one graph; an OverflowError if they may not fit into 64 bits."""
    oriented = orient(graph.indptr, graph.indices)
    if comb(max(len(oriented.rank) - 1, 0), k - 1) >= MOST:
        _check_size_of_counts(oriented, k)
    sums = measure(oriented, k, threads, tick)
    matrix = _decoding(k)
    kernels.decode(sums, oriented.rank, matrix.indptr, matrix.indices, matrix.data, counts)


@cache
def _decoding(k: int) -> csr_array[Any]:
    """The matrix: counts = matrix @ sums."""
    columns = []
    for _, pattern, (root, *_) in orbit_positions(k):
        oriented = orient(*_rows(pattern.edges, pattern.size))
        columns.append(measure(oriented, k, Threads(), lambda share: None)[oriented.rank[root]])
    induced = induced_in_patterns(k)
    matrix = np.rint(induced @ np.linalg.inv(np.stack(columns, axis=1))).astype(np.int64)
    assert np.array_equal(matrix @ np.stack(columns, axis=1), induced), "the sums do not determine the orbit counts"
    return csr_array(matrix)


def _rows(edges: tuple[tuple[int, int], ...], size: int) -> tuple[IntArray, NDArray[np.uint32]]:
    graph = GraphSet.from_edges(list(edges), n_vertices=size)
    return graph.indptr, graph.indices


# ---- sums ------------------------------------------------------------------------------------------------------


def measure(graph: Oriented, k: int, threads: Threads, tick: Tick) -> IntArray:
    """The sums of `kernels.SUMS` that k needs, by rank."""
    n, halt = len(graph.rank), threads.flag
    degree = np.diff(graph.near_ptr)
    sums = np.zeros((n, ORBITS[k]), np.int64)
    if k == 2:
        sums[:, 0] = degree
        return sums
    per_edge = np.zeros(len(graph.high), np.int64)
    triangles_of_edges(graph, 0, n, per_edge, halt)
    kernels.sum_neighbors3(graph, degree, per_edge, sums)
    if k >= 4:
        kernels.sum_neighbors4(graph, degree, per_edge, sums)
    if k == 4:
        cliques = partial(kernels.sum_cliques4, graph, per_edge, sums, halt)
        _at_once([cliques, partial(kernels.sum_cycles4, graph, sums, halt)], threads, tick)
    elif k == 5:
        _size5(graph, degree, per_edge, sums, threads, tick)
    threads.check()
    return sums


def _size5(graph: Oriented, degree: IntArray, per_edge: IntArray, sums: IntArray, threads: Threads, tick: Tick) -> None:
    halt = threads.flag
    lists = triangle_lists(graph, per_edge, halt)
    beyond, around, cycles, cliques = np.zeros((4, len(graph.high)), np.int64)

    def cycles5() -> None:
        kernels.sum_cycles5(graph, sums, halt)
        kernels.drop_tailed_triangles(graph, lists, sums, halt)

    _at_once(
        [
            lambda: kernels.sum_pairs(graph, lists, degree, per_edge, cycles, sums, halt),
            lambda: kernels.sum_wheels(graph, lists, sums, halt),
            lambda: kernels.sum_cliques(graph, lists, degree, per_edge, cliques, sums, halt),
            cycles5,
            lambda: kernels.sum_at_edges(lists, degree, per_edge, beyond, around),
        ],
        threads,
        tick,
    )
    kernels.sum_triangles(graph, lists, degree, per_edge, beyond, around, cycles, cliques, sums)
    kernels.sum_neighbors5(graph, degree, per_edge, beyond, cycles, cliques, sums)


def _at_once(tasks: list[Callable[[], None]], threads: Threads, tick: Tick) -> None:
    """Run kernels that write to different columns of the sums."""

    def work(start: int, stop: int) -> None:
        for task in tasks[start:stop]:
            task()
            tick(1 / len(tasks))

    threads.run(work, np.ones(len(tasks)), len(tasks))


# ---- overflow --------------------------------------------------------------------------------------------------


def _check_size_of_counts(graph: Oriented, k: int) -> None:
    """Raise an OverflowError unless 64 bits hold the numbers of trees on k vertices, in every position of a vertex.

    Every connected set of k vertices has a spanning tree, so that no orbit count is larger.
    """
    most = _trees(graph, k).max(axis=0)
    if most.max() >= MOST:
        vertex = int(np.flatnonzero(graph.rank == int(most.argmax()))[0])
        raise OverflowError(
            f"vertex {vertex} may lie in {most.max():.2g} subgraphs of {k} vertices, more than a 64-bit integer holds"
        )


def _trees(graph: Oriented, k: int) -> FloatArray:
    """Numbers of trees with a vertex in each position (positions, vertices), for k = 4 and 5, by rank."""
    n = len(graph.rank)
    lower, upper = np.repeat(np.arange(n), np.diff(graph.high_ptr)), graph.high.astype(np.int64)
    d = np.diff(graph.near_ptr).astype(np.float64)

    def over_neighbors(value: FloatArray) -> FloatArray:
        total = np.bincount(lower, value[upper], n) + np.bincount(upper, value[lower], n)
        return total.astype(np.float64)

    reach = over_neighbors(d - 1)
    path4_end = over_neighbors(reach) - d * (d - 1)
    claw_leaf, claw_center = over_neighbors((d - 1) * (d - 2) / 2), d * (d - 1) * (d - 2) / 6
    if k == 4:
        return np.array([path4_end, (d - 1) * reach, claw_leaf, claw_center], np.float64)
    return np.array(
        [
            over_neighbors(path4_end) - d * reach + reach,  # paths: end, inner vertex, center
            (d - 1) * path4_end,
            reach**2 / 2,
            over_neighbors(claw_leaf) - d * (d - 1) * (d - 2) / 2,  # forks: end, leaf, inner vertex, center
            over_neighbors((d - 2) * reach) - (d - 1) * over_neighbors(d - 2),
            (d - 1) * claw_leaf,
            (d - 1) * (d - 2) / 2 * reach,
            over_neighbors((d - 1) * (d - 2) * (d - 3) / 6),  # stars: leaf, center
            claw_center * (d - 3) / 4,
        ],
        np.float64,
    )
