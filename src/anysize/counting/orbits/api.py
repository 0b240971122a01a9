"""`orbits`: how often every vertex occurs in every position of the connected induced patterns."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, cast

import numpy as np

from anysize._errors import CountWarning, warn_user
from anysize._memory import check_table
from anysize._progress import Progress, rough_duration, shares_of
from anysize._schema import check_integer
from anysize._typing import IntArray
from anysize.counting.engines.threads import Threads, available_cores, loaded
from anysize.counting.execution import WARN_ABOVE_S, graph_title
from anysize.counting.features import Features
from anysize.counting.orbits.numbering import EDGE_ORBITS, ORBITS, check_orbit_size, edge_orbit_positions
from anysize.counting.orbits.table import OrbitCounts, usual_columns
from anysize.graphs.attributes import edge_types
from anysize.graphs.graphset import GraphSet
from anysize.io.convert import as_graphset

MEASURE = "anysize.counting.orbits.measure"  # which loads the kernels
SECONDS_PER_SET = 1e-7  # of enumeration
MAX_SHORT = 1e8  # sum of cubed degrees up to which counting takes less than 0.1 s and needs no background thread


def orbits(
    graphs: Any,
    k: int = 5,
    colors: bool = True,
    edges: bool = False,
    *,
    per: str = "vertex",
    threads: int | None = None,
    progress: Progress | None = None,
) -> IntArray | list[IntArray] | OrbitCounts:
    """Count, for every vertex, the connected induced patterns on 2 to k vertices that it lies in, by its position.

    The columns are the orbits in their usual numbering (Przulj 2007), which `orbit_positions` lists; such a row is also
    called the graphlet degree vector of the vertex. All counts are exact.

    Args:
        graphs: a `GraphSet`, one graph or a list of networkx, PyG, igraph or scipy graphs, or a path.
        k: the largest pattern size, 2 to 5: 1, 4, 15 or 73 orbits.
        colors: distinguish vertices by color, where the graphs have colors.
        edges: distinguish edges by their colors and directions, where they have any.
        per: "vertex", or "edge": count for every edge (in the order of `GraphSet.edges`) the patterns on 3 to k
            vertices by its position, in 2, 12 or 68 orbits, which `edge_orbit_positions` lists.
        threads: number of threads; all cores if None. The result does not depend on it.
        progress: called with the share of the work done so far, from 0 to 1.

    Returns:
        For one graph an array (vertices, orbits) of int64; a list of such arrays for a list of graphs, and for a set or
        a file of several graphs. Where colors or types of edges are told apart, an `OrbitCounts` of all graphs: the
        orbits that occur. It, and orbits of edges, are counted by enumeration, which takes time for every connected
        set.

    Examples:
        >>> house = GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
        >>> orbits(house, 3)
        array([[3, 2, 2, 1],
               [3, 2, 2, 1],
               [2, 3, 1, 0],
               [2, 3, 1, 0],
               [2, 2, 0, 1]])
        >>> path = GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "O"])
        >>> orbits(path, 2).names
        ('edge[C,C]@0,1', 'edge[C,O]@0', 'edge[C,O]@1')
        >>> orbits(path, 2).matrix.toarray().tolist()
        [[1, 0, 0], [1, 1, 0], [0, 0, 1]]
    """
    k = check_orbit_size(k, per)
    n_threads = available_cores() if threads is None else check_integer("threads", threads, 1)
    graphset = as_graphset(graphs)
    graphset = graphset if colors else graphset.without_colors()
    graphset = graphset if edges else graphset.without_edge_colors().without_directions()
    graphset.check()
    workers = Threads(n_threads)
    plain = edge_types(graphset) is None and graphset.colors is None
    if plain:
        rows = int(graphset.first[-1]) if per == "vertex" else int(graphset.edge_counts.sum())
        amount = (ORBITS if per == "vertex" else EDGE_ORBITS)[k]
        check_table((rows, amount), "the table of orbits", "use a smaller k or fewer graphs")
    if not plain or per == "edge":
        _warn_if_long(graphset, k, n_threads)
        enumeration = loaded("anysize.counting.orbits.enumeration")
        work = partial(enumeration.count_by_enumeration, graphset, k, per, workers, shares_of(progress, 1.0))
        table = workers.interruptible(work)
        if not plain:
            return cast(OrbitCounts, table)
        counts, first = usual_columns(table, edge_orbit_positions(k)), table.first
    else:
        short = float((graphset.degrees.astype(np.float64) ** 3).sum()) < MAX_SHORT and MEASURE in sys.modules
        work = partial(_count, graphset, k, workers, progress)
        counts, first = work() if short else workers.interruptible(work), graphset.first
    parts = [counts[start:stop] for start, stop in pairwise(first)]
    return parts[0] if len(parts) == 1 and not isinstance(graphs, (list, tuple)) else parts


def _warn_if_long(graphs: GraphSet, k: int, threads: int) -> None:
    """Say how long the enumeration of many connected sets will take."""
    features = Features(graphs.without_colors())
    per_set = SECONDS_PER_SET / min(threads, max(len(graphs), 1))
    if k > 2 and features.sets(k).sum() * per_set > WARN_ABOVE_S:
        features.estimate_sets(k)
        if (seconds := float(features.sets(k).sum()) * per_set) > WARN_ABOVE_S:
            warn_user(
                f"Orbits of colored patterns, and of edges, are counted by listing all connected sets, which will take "
                f"about {rough_duration(seconds)}; use a smaller k.",
                CountWarning,
            )


def _count(graphs: GraphSet, k: int, threads: Threads, progress: Progress | None) -> IntArray:
    """The orbit counts of all vertices of the set."""
    from anysize.counting.orbits.measure import count_orbits

    work = graphs.edge_counts + graphs.sizes + 1.0
    report = shares_of(progress, float(work.sum()))
    per_graph = threads if len(graphs) < threads.number else replace(threads, number=1)
    table = np.empty((int(graphs.first[-1]), ORBITS[k]), np.int64)

    def count(start: int, stop: int) -> None:
        for row in range(start, stop):
            counts = table[graphs.first[row] : graphs.first[row + 1]]
            tick = partial(lambda weight, share: report(share * weight), float(work[row]))
            try:
                count_orbits(graphs[row], k, counts, per_graph, tick)
            except OverflowError as error:
                raise OverflowError(f"{graph_title(graphs, row, row)}: {error}. Use a smaller k.") from None
            threads.check()

    if per_graph is threads:
        count(0, len(graphs))
    else:
        threads.run(count, work)
    if progress is not None:
        progress(1.0)
    return table
