"""Build a GraphSet from edges: drop self loops and repeated edges, add both directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anysize._errors import GraphError, GraphWarning, warn_user
from anysize._text import plural
from anysize._typing import BoolArray
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import MAX_VERTICES_PER_GRAPH, GraphSet
from anysize.graphs.labels import label_array
from anysize.graphs.ragged import offsets, owners


def assemble(
    sizes: ArrayLike,
    source: NDArray[Any],
    target: NDArray[Any],
    colors: NDArray[np.uint16] | None = None,
    palette: tuple[ColorName, ...] = (),
    y: ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> GraphSet:
    """Build a GraphSet from the edges of all graphs; vertices of graph g are numbered from sum(sizes[:g]).

    Edges may be given in one or both directions and in any order. Self loops and repeated edges (the same ordered
    pair again) are dropped, with one warning that counts them.
    """
    from scipy.sparse import coo_array

    first = offsets(np.asarray(sizes, np.int64))
    total = int(first[-1])
    largest = int(np.diff(first).max(initial=0))
    if largest >= MAX_VERTICES_PER_GRAPH:
        raise GraphError(f"A graph has {largest} vertices; at most {MAX_VERTICES_PER_GRAPH - 1} are supported.")
    source, target = source.astype(np.int64, copy=False), target.astype(np.int64, copy=False)
    loops = source == target
    if loops.any():
        source, target = source[~loops], target[~loops]
    directed = coo_array((np.ones(len(source), np.int8), (source, target)), shape=(total, total)).tocsr()
    repeated = len(source) - directed.nnz
    if loops.any() or repeated:
        found = [(int(loops.sum()), "self loop"), (repeated, "repeated edge")]
        dropped = " and ".join(plural(number, noun) for number, noun in found if number)
        warn_user(f"Dropped {dropped} while reading {plural(len(first) - 1, 'graph')}.", GraphWarning)
    directed.data[:] = 1
    both = (directed + directed.T).tocsr()
    both.sort_indices()
    indptr = both.indptr.astype(np.int64)
    start = np.repeat(first[:-1], np.diff(first))  # first vertex of the graph of each vertex
    local = both.indices - np.repeat(start, np.diff(indptr))
    labels = None if y is None else np.atleast_1d(label_array(y))
    return GraphSet(
        first, indptr, local.astype(np.uint32), colors, palette, labels, None if names is None else tuple(names)
    )


def induced_subgraphs(graphs: GraphSet, keep: BoolArray) -> GraphSet:
    """The subgraphs induced by the kept vertices, given one boolean per vertex of the set.

    >>> path = GraphSet.from_edges([(0, 1), (1, 2), (2, 3)])
    >>> induced_subgraphs(path, np.array([True, True, False, True])).edges().tolist()
    [[0, 1]]
    """
    source, target = owners(graphs.indptr), graphs.neighbors
    inside = keep[source] & keep[target] & (source < target)
    number = np.cumsum(keep) - 1  # new vertex numbers
    return assemble(
        np.diff(offsets(keep.astype(np.int64))[graphs.first]),
        number[source[inside]],
        number[target[inside]],
        None if graphs.colors is None else graphs.colors[keep],
        graphs.palette,
        graphs.y,
        graphs.names,
    )
