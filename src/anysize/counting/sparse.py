"""Plain counts, k = 3, 4, 5, of large sparse graphs, one graph at a time, in degree order.

Kernels measure what needs a walk through the graph: triangles, cliques and cycles at every edge, codegrees,
wheels, 5-cycles. All other sums of `moebius.SUMS` are sums over vertices or edges of products of those, taken
in numpy, and in Python integers where int64 would not do.
"""

# mypy: ignore-errors
from __future__ import annotations

from math import comb

import numpy as np

from anysize.counting.moebius import LENGTH, PLACE, from_sums
from anysize.counting.oriented import Oriented, Triangles, orient, triangle_lists, triangles_of_edges
from anysize.counting.parallel import Pool, Tick, chunks_by_weight, in_threads
from anysize.counting.sparse_triangles import around_triangles, count_cliques4, count_wheels
from anysize.counting.sparse_wedges import along_cycles, count_cycles4, over_codegrees, triangles_below
from anysize.counting.table import graph_title
from anysize.graphs import GraphSet

SAFE = float(2**62)  # a float sum below it has an int64 twin that did not wrap


def count_plain(graphs: GraphSet, k: int, threads: int, tick: Tick) -> np.ndarray:
    """Induced copies as Python integers, shape (graphs, catalogue of k); the caller checks that they fit."""
    rows = []
    for row, graph in enumerate(graphs):
        try:
            sums = measure(graph, k, threads)
        except OverflowError as error:
            raise OverflowError(f"{graph_title(graph, row)}: {error}") from None
        rows.append(from_sums(k).astype(object) @ np.array(sums, object))
        tick(1 / len(graphs))
    return np.array(rows, object).reshape(len(graphs), from_sums(k).shape[0])


def measure(graph: GraphSet, k: int, threads: int) -> list[int]:
    """The sums of `moebius.SUMS` that k needs, as Python integers; all zero where there is no k-set."""
    if len(graph.indptr) - 1 < k:
        return [0] * LENGTH[k]
    oriented = orient(graph.indptr, graph.indices)
    degree = np.diff(oriented.low_ptr) + np.diff(oriented.high_ptr)
    found = _small_sums(oriented, degree, k, threads) if k < 5 else _all_sums(oriented, degree, threads)
    sums = [0] * LENGTH[k]
    for name, value in found.items():
        if PLACE[name] < LENGTH[k]:
            sums[PLACE[name]] = int(value)
    return sums


# ---- sums over vertices and edges, exactly ------------------------------------------------------


def exact_sum(*factors, divide_by: int = 1) -> int:
    """The sum of products of integer arrays: in int64 where that is safe, else in Python integers."""
    size = np.abs(factors[0].astype(np.float64))
    for factor in factors[1:]:
        size = size * np.abs(factor)
    if float(size.sum()) < SAFE:
        total = int(np.prod(np.broadcast_arrays(*factors), axis=0).sum()) if len(factors) > 1 else int(factors[0].sum())
    else:
        columns = [factor.astype(object) for factor in factors]
        product = columns[0]
        for column in columns[1:]:
            product = product * column
        total = int(product.sum())
    return total // divide_by


def binomial_sum(values, k: int) -> int:
    """Sum of C(value, k) over an array of small numbers: by its histogram, in Python integers."""
    amount = np.bincount(values)
    return sum(int(amount[v]) * comb(v, k) for v in np.flatnonzero(amount).tolist())


def over_ends(graph: Oriented, at_edge) -> np.ndarray:
    """For every vertex the sum over its edges of a number per edge (sums below 2^53)."""
    n = len(graph.low_ptr) - 1
    lower = np.repeat(np.arange(n), np.diff(graph.high_ptr))
    return (np.bincount(lower, at_edge, n) + np.bincount(graph.high, at_edge, n)).astype(np.int64)


def _sums_of_degrees(graph: Oriented, degree, per_edge, k: int) -> dict[str, int]:
    """Sums that need degrees and triangles only."""
    lower = np.repeat(np.arange(len(degree)), np.diff(graph.high_ptr))
    upper = graph.high
    t = over_ends(graph, per_edge) // 2
    found = {
        "edges": len(upper),
        "wedges": binomial_sum(degree, 2),
        "triangles": int(per_edge.sum()) // 3,
        "claws": binomial_sum(degree, 3),
        "paths4": exact_sum(degree[lower] - 1, degree[upper] - 1),
        "paws": exact_sum(t, degree - 2),
        "diamonds": binomial_sum(per_edge, 2),
    }
    if k < 5:
        return found
    # a(v), the sum over neighbours x of d(x) - 1
    reach = np.bincount(lower, degree[upper] - 1, len(degree)) + np.bincount(upper, degree[lower] - 1, len(degree))
    reach = reach.astype(np.int64)
    with_triangle = per_edge > 0
    lower, upper, te = lower[with_triangle], upper[with_triangle], per_edge[with_triangle].astype(np.int64)
    found |= {
        "stars5": binomial_sum(degree, 4),
        "forks": exact_sum(reach, degree - 1, degree - 2, divide_by=2),
        # a^2 less the squares of its terms: each neighbour x of degree d contributes (d - 1)^2, d times
        "paths5": (exact_sum(reach, reach) - exact_sum(degree, degree - 1, degree - 1)) // 2,
        "crickets": exact_sum(t, degree - 2, degree - 3, divide_by=2),
        "bulls": exact_sum(te, degree[lower] - 2, degree[upper] - 2),
        "tadpoles": exact_sum(t, reach - 2 * (degree - 1)),
        "darts": exact_sum(te * (te - 1) // 2, degree[lower] + degree[upper] - 6),
        "butterflies": exact_sum(t, t - 1, divide_by=2),
        "books": binomial_sum(te, 3),
    }
    return found


# ---- the two plans -------------------------------------------------------------------------------


def _triangles(graph: Oriented, threads: int) -> np.ndarray:
    pool = Pool(lambda: np.zeros(len(graph.high), np.int64))

    def work(start, stop):
        with pool.borrow() as per_edge:
            triangles_of_edges(graph.high_ptr, graph.high, start, stop, per_edge)

    in_threads(work, chunks_by_weight(np.diff(graph.high_ptr) ** 2, threads), threads)
    return pool.total()


def _small_sums(graph: Oriented, degree, k: int, threads: int) -> dict[str, int]:
    """k = 3 and 4: no list of triangles, no codegree of a pair twice."""
    if k == 3:
        return _sums_of_degrees(graph, degree, _triangles(graph, threads), 3)
    pool = Pool(lambda: np.zeros(len(graph.high), np.int64))

    def cliques(start, stop):
        with pool.borrow() as per_edge:
            return count_cliques4(graph.high_ptr, graph.high, start, stop, per_edge)

    out = np.diff(graph.high_ptr)
    cliques4 = sum(in_threads(cliques, chunks_by_weight(out**2, threads), threads))
    found = _sums_of_degrees(graph, degree, pool.total(), 4)

    def cycles(start, stop):
        return count_cycles4(graph.low_ptr, graph.low, graph.high_ptr, graph.high, start, stop)

    cycles4 = sum(in_threads(cycles, chunks_by_weight(_wedge_work(graph, degree), threads), threads))
    return found | {"cliques4": cliques4, "cycles4": cycles4}


def _wedge_work(graph: Oriented, degree) -> np.ndarray:
    """For each vertex the steps of a walk to its lower neighbours and on to all of theirs."""
    return np.bincount(graph.high, np.repeat(degree, np.diff(graph.high_ptr)), len(degree))


def _all_sums(graph: Oriented, degree, threads: int) -> dict[str, int]:
    """k = 5."""
    per_edge = _triangles(graph, threads)
    found = _sums_of_degrees(graph, degree, per_edge, 5)
    lists = triangle_lists(graph, per_edge)
    found |= _around_triangles(graph, lists, degree, per_edge, threads)
    found |= _along_cycles(graph, lists, degree, per_edge, threads)
    found |= _over_pairs(graph, lists, degree, threads)
    return found


def _around_triangles(graph: Oriented, lists: Triangles, degree, per_edge, threads: int) -> dict[str, int]:
    pool = Pool(lambda: np.zeros(len(graph.high), np.int64))
    weights = np.add.reduceat(np.append(per_edge, 0), graph.high_ptr[:-1].clip(max=len(per_edge)))
    weights = np.where(np.diff(graph.high_ptr) > 0, weights, 0)

    def cliques(start, stop):
        with pool.borrow() as at_edge:
            return around_triangles(*graph[:5], *lists, degree, start, stop, at_edge)

    parts = in_threads(cliques, chunks_by_weight(weights, threads), threads)
    gems, kites, pairs, cliques5 = _add(parts, "gems, kites or cliques")
    at_edge = pool.total() // 2

    def wheels(start, stop):
        return count_wheels(*graph[:5], *lists, start, stop)

    chunks = chunks_by_weight(over_ends(graph, per_edge.astype(np.float64) ** 2), threads)
    (wheels4,) = _add(in_threads(wheels, chunks, threads), "wheels")
    return {
        "gems": gems,
        "kites": kites,
        "cliques4": int(at_edge.sum()) // 6,
        "lollipops": exact_sum(over_ends(graph, at_edge) // 3, degree - 3),
        "cliques5_minus_path": exact_sum(at_edge, per_edge - 2),
        "cliques5_minus_edge": pairs,
        "cliques5": cliques5,
        "wheels4": wheels4,
    }


def _along_cycles(graph: Oriented, lists: Triangles, degree, per_edge, threads: int) -> dict[str, int]:
    pool = Pool(lambda: np.zeros(len(graph.high), np.int64))

    def cycles(start, stop):
        with pool.borrow() as at_edge:
            return along_cycles(*graph[:5], start, stop, at_edge)

    parts = in_threads(cycles, chunks_by_weight(_wedge_work(graph, degree), threads), threads)
    (closed5,) = _add(parts, "5-cycles")
    at_edge = pool.total()
    tails = triangles_below(*graph[:5], *lists)
    return {
        "cycles4": int(at_edge.sum()) // 4,
        "banners": exact_sum(over_ends(graph, at_edge) // 2, degree - 2),
        "houses": exact_sum(per_edge, at_edge),
        "cycles5": closed5 - tails,
    }


def _over_pairs(graph: Oriented, lists: Triangles, degree, threads: int) -> dict[str, int]:
    def pairs(start, stop):
        return over_codegrees(*graph[:5], *lists, start, stop)

    lower = np.repeat(np.arange(len(degree)), np.diff(graph.high_ptr))
    steps = np.bincount(lower, degree[graph.high], len(degree)) + _wedge_work(graph, degree)
    parts = in_threads(pairs, chunks_by_weight(steps, threads), threads)
    bipartite23, with_edge = _add(parts, "K2,3")
    return {"bipartite23": bipartite23, "bipartite23e": with_edge}


def _add(parts, what: str) -> list[int]:
    """Totals of (sums, float shadows) pairs in Python integers; an error where a part did not fit."""
    for _, shadow in parts:
        if max(abs(x) for x in shadow) >= SAFE:
            raise OverflowError(f"the number of {what} in one part of the graph exceeds 2^62")
    return [sum(int(sums[i]) for sums, _ in parts) for i in range(len(parts[0][0]))]
