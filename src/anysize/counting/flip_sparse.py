"""Coloured counts, k = 4 and 5, of large sparse graphs with few colours by the flip scheme.

Only connected Q are visited: edges (k = 4), wedges and triangles (k = 5). Group sizes come from typed degrees,
typed codegrees and the triangles of edges, never from a look at the rest of the graph. Cliques and cycles are
counted apart, in degree order. See `flip_plan` for what the products mean.
"""

# mypy: ignore-errors
from __future__ import annotations

from functools import cache

import numpy as np

from anysize.counting.flip import named, one_by_one
from anysize.counting.flip_plan import flip_plan
from anysize.counting.flip_sparse_cliques import coloured_cliques
from anysize.counting.flip_sparse_cycles import pentagons, squares
from anysize.counting.flip_sparse_products import over_edges, over_wedges, typed_degrees
from anysize.counting.oriented import orient, triangle_lists, triangles_of_edges
from anysize.counting.parallel import Pool, Tick, chunks_by_weight, in_threads
from anysize.counting.plan import FLIP_SPARSE_COLOURS
from anysize.counting.table import Table, graph_title, merged
from anysize.graphs import GraphSet


def count_coloured(graphs: GraphSet, k: int, threads: int, tick: Tick) -> Table:
    """Induced copies of the patterns that occur."""
    return merged(one_by_one(_count_one, graphs, k, threads, tick), len(graphs))


def _count_one(graph: GraphSet, row: int, k: int, threads: int):
    n = len(graph.indptr) - 1
    own = graph.colours if graph.colours is not None else np.zeros(n, np.uint16)
    present, local = np.unique(own, return_inverse=True)
    plan = flip_plan(k, next(size for size in FLIP_SPARSE_COLOURS[k] if size >= len(present)), sparse=True)
    colours = plan.colours
    oriented = orient(graph.indptr, graph.indices)
    colour = np.empty(n, np.int64)
    colour[oriented.rank] = local
    degree = np.diff(oriented.low_ptr) + np.diff(oriented.high_ptr)
    per_edge = np.zeros(len(oriented.high), np.int64)
    triangles_of_edges(oriented.high_ptr, oriented.high, 0, n, per_edge)
    lists = triangle_lists(oriented, per_edge)
    by_colour = typed_degrees(*oriented[:5], lists.ptr, lists.third, colour, colours)
    lower = np.repeat(np.arange(n), np.diff(oriented.high_ptr))
    around = np.bincount(lower, degree[oriented.high], n) + np.bincount(oriented.high, degree[lower], n)
    check_room(degree, around, k, graph_title(graph, row))

    accumulators = [
        Pool(lambda size=size: np.zeros(size, np.int64))
        for size in (plan.length, plan.n_groups, colours**k, colours**k)
    ]
    products_of, cliques_of, cycles_of = _kernels(k, colours)
    shared = (*oriented[:5], *lists, colour)

    def work(start, stop):
        with accumulators[0].borrow() as products, accumulators[1].borrow() as group_sums:
            where = plan.tuple_of, plan.block, plan.pair_ptr, plan.pairs
            products_of(*shared, *by_colour, start, stop, *where, products, group_sums)
        with accumulators[2].borrow() as cliques:
            cliques_of(*shared, start, stop, cliques)
        with accumulators[3].borrow() as cycles:
            cycles_of(*shared, start, stop, cycles)

    in_threads(work, chunks_by_weight(around, threads), threads)
    totals = [pool.total() for pool in accumulators]
    return named(plan, plan.solve(*totals), present, row, k, graph)


@cache
def _kernels(k: int, colours: int):
    """Kernels for products, cliques and cycles."""
    return (
        (over_edges if k == 4 else over_wedges)(colours),
        coloured_cliques(k, colours),
        (squares if k == 4 else pentagons)(colours),
    )


def check_room(degree, around, k: int, title: str) -> None:
    """An OverflowError where a sum of products might not fit int64; around: the degrees of the neighbours, summed."""
    centre = degree.astype(np.float64)
    if k == 4:
        bound = 4 * float((centre * (centre * centre + around * around / np.maximum(centre, 1))).sum())
    else:
        # wedges at a vertex m times (d(u) + d(m) + d(v))^2, with the largest neighbour for u and v
        largest = float(centre.max(initial=0))
        bound = float((centre * centre / 2 * (centre + np.minimum(2 * largest, around)) ** 2).sum())
    if bound >= 2**62:
        raise OverflowError(f"sums towards the coloured counts of {title} may exceed a 64-bit integer")
