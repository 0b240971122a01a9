"""The sums of a graph, and the orbit counts that follow from them."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.sparse import csr_array

from anysize._typing import IntArray
from anysize.counting.engines.oriented import orient, triangle_lists, triangles_of_edges
from anysize.counting.engines.threads import Threads
from anysize.counting.orbits import sums as kernels
from anysize.counting.orbits.sums import WIDTH, I
from anysize.graphs.graphset import GraphSet


def measure(graph: GraphSet, k: int, threads: Threads) -> tuple[IntArray, IntArray]:
    low_ptr, low, low_edge, high_ptr, high, rank = oriented = orient(graph.indptr, graph.indices)
    n, halt = len(low_ptr) - 1, threads.flag
    degree = np.diff(low_ptr) + np.diff(high_ptr)
    sums = np.zeros((n, WIDTH[k]), np.int64)
    per_edge = np.zeros(len(high), np.int64)
    if k > 2:
      triangles_of_edges(high_ptr, high, 0, n, per_edge, halt)
    kernels.sum_neighbors3(high_ptr, high, degree, per_edge, sums)
    if k < 4:
        return sums, rank
    kernels.sum_neighbors4(high_ptr, high, degree, per_edge, sums)
    if k == 4:
        kernels.sum_cliques4(high_ptr, high, per_edge, 0, n, sums, halt)
        kernels.sum_cycles4(low_ptr, low, high_ptr, high, 0, n, sums, halt)
        sums[:, I.clique4] //= 6
        return sums, rank
    lists = triangle_lists(oriented, per_edge, halt)
    beyond, around, cycles, cliques = np.zeros((4, len(high)), np.int64)
    kernels.sum_at_edges(*lists, degree, per_edge, beyond, around)
    kernels.sum_cliques(low_ptr, low, high_ptr, high, *lists, degree, per_edge, 0, n, cliques, sums, halt)
    kernels.sum_pairs(*oriented[:5], *lists, degree, per_edge, 0, n, cycles, sums, halt)
    cliques //= 2
    cycles //= 2
    kernels.sum_wheels(*oriented[:5], *lists, 0, n, sums, halt)
    kernels.sum_cycles5(low_ptr, low, high_ptr, high, 0, n, sums, halt)
    kernels.drop_tailed_triangles(*oriented[:5], *lists, sums, halt)
    kernels.sum_triangles(high_ptr, high, *lists, degree, per_edge, beyond, around, cycles, cliques, sums)
    lower = np.repeat(np.arange(n), np.diff(high_ptr))
    sums[:, I.clique4] = (np.bincount(lower, cliques, n) + np.bincount(high, cliques, n)).astype(np.int64) // 3
    sums[:, I.clique5] //= 4
    sums[:, I.wheel_hub] //= 2
    kernels.sum_neighbors5(high_ptr, high, degree, per_edge, beyond, cycles, cliques, sums)
    return sums, rank
