"""`orbits`: how often every vertex occurs in every position of the connected induced patterns."""

from __future__ import annotations

import sys
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from anysize._memory import check_table
from anysize._progress import Progress, shares_of
from anysize._typing import IntArray, check_integer
from anysize.counting.engines.table import graph_title
from anysize.counting.engines.threads import Halt, Threads, chunks_by_weight, interruptible
from anysize.counting.orbits.numbering import ORBITS, check_orbit_size
from anysize.executors.executor import available_cores
from anysize.graphs.graphset import GraphSet
from anysize.io.convert import as_graphset

MEASURE = "anysize.counting.orbits.measure"  # which loads the kernels
MAX_SHORT = 1e8  # sum of cubed degrees up to which counting takes less than 0.1 s and needs no background thread


def orbits(
    graphs: Any, k: int = 5, colors: bool = True, *, threads: int | None = None, progress: Progress | None = None
) -> IntArray | list[IntArray]:
    """Count, for every vertex, the connected induced patterns on 2 to k vertices that it lies in, by its position.

    The columns are the orbits in their usual numbering (Przulj 2007), which `orbit_positions` lists; such a row is also
    called the graphlet degree vector of the vertex. All counts are exact.

    Args:
        graphs: a `GraphSet`, one graph or a list of networkx, PyG, igraph or scipy graphs, or a path.
        k: the largest pattern size, 2 to 5: 1, 4, 15 or 73 orbits.
        colors: with False, ignore the colors of vertices. Orbits of colored patterns are not counted: graphs with
            colors are an error otherwise.
        threads: number of threads; all cores if None. The result does not depend on it.
        progress: called with the share of the work done so far, from 0 to 1.

    Returns:
        For one graph an array (vertices, orbits) of int64; a list of such arrays for a list of graphs, and for a set or
        a file of several graphs.

    Examples:
        >>> house = GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])
        >>> orbits(house, 3)
        array([[3, 2, 2, 1],
               [3, 2, 2, 1],
               [2, 3, 1, 0],
               [2, 3, 1, 0],
               [2, 2, 0, 1]])
    """
    k = check_orbit_size(k)
    n_threads = available_cores() if threads is None else check_integer("threads", threads, 1)
    graphset = as_graphset(graphs)
    if graphset.colors is not None and colors:
        raise ValueError("Orbits are counted without colors, and these graphs have colors; pass colors=False.")
    graphset.check()
    check_table((int(graphset.first[-1]), ORBITS[k]), "the table of orbits", "use a smaller k or fewer graphs")
    halt = Halt()
    work = partial(_count, graphset, k, Threads(n_threads, halt), progress)
    short = float((graphset.degrees.astype(np.float64) ** 3).sum()) < MAX_SHORT and MEASURE in sys.modules
    table = work() if short else interruptible(work, halt)
    rows = [table[start:stop] for start, stop in pairwise(graphset.first)]
    return rows[0] if len(rows) == 1 and not isinstance(graphs, (list, tuple)) else rows


def _count(graphs: GraphSet, k: int, threads: Threads, progress: Progress | None) -> IntArray:
    """The orbit counts of all vertices of the set."""
    from anysize.counting.engines.jit import announced
    from anysize.counting.orbits.measure import count_orbits

    work = graphs.edge_counts + graphs.sizes + 1.0
    report = shares_of(progress, float(work.sum()))
    per_graph = threads if len(graphs) < threads.number else Threads(1, threads.halt)
    table = np.empty((int(graphs.first[-1]), ORBITS[k]), np.int64)

    def count(start: int, stop: int) -> None:
        for row in range(start, stop):
            counts = table[graphs.first[row] : graphs.first[row + 1]]
            tick = partial(lambda weight, share: report(share * weight), float(work[row]))
            try:
                count_orbits(graphs[row], k, counts, per_graph, tick)
            except OverflowError as error:
                raise OverflowError(f"{graph_title(graphs, row)}: {error}. Use a smaller k.") from None
            threads.halt.check()

    with announced("orbits"):
        if per_graph is threads:
            count(0, len(graphs))
        else:
            threads.run(count, chunks_by_weight(work, threads.number))
    if progress is not None:
        progress(1.0)
    return table
