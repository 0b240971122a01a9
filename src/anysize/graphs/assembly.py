"""Build a GraphSet from edges: drop self loops and repeated edges, make entries at both ends, find directions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array

from anysize._errors import GraphError, GraphWarning, warn_user
from anysize._text import plural
from anysize._typing import BoolArray, IntArray
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
    *,
    edge_colors: NDArray[np.uint16] | None = None,
    edge_palette: tuple[ColorName, ...] = (),
    features: NDArray[np.float32] | None = None,
    feature_names: tuple[str, ...] = (),
    directed: bool | Sequence[bool | None] | None = False,
) -> GraphSet:
    """Build a GraphSet from the edges of all graphs; vertices of graph g are numbered from sum(sizes[:g]).

    Edges may be given in one or both directions and in any order. Self loops and repeated edges (the same ordered
    pair again) are dropped, with one warning that counts them; the first of repeated edges gives the edge color.

    Args:
        sizes: vertices per graph.
        source: one end of every edge. target: the other end.
        colors: position in ``palette`` of every vertex's color.
        y: one label per graph. names: one name per graph.
        edge_colors: position in ``edge_palette`` for every edge as given.
        features: (vertices, features). feature_names: one per column, or nothing.
        directed: for all graphs or graph by graph: True if an edge without its reverse points from source to target,
            False if all edges are undirected, None if graphs give every edge once or every edge in both directions:
            if a graph has edges of both kinds, then they point from source to target in all such graphs.
    """
    first = offsets(np.asarray(sizes, np.int64))
    total = int(first[-1])
    largest = int(np.diff(first).max(initial=0))
    if largest >= MAX_VERTICES_PER_GRAPH:
        raise GraphError(f"A graph has {largest} vertices; at most {MAX_VERTICES_PER_GRAPH - 1} are supported.")
    short = np.int32 if max(total, 2 * len(source)) < 2**31 else np.int64
    source, target = source.astype(short, copy=False), target.astype(short, copy=False)
    loops = source == target
    if loops.any():
        source, target = source[~loops], target[~loops]
        edge_colors = None if edge_colors is None else edge_colors[~loops]
    given = coo_array((np.ones(len(source), np.int8), (source, target)), shape=(total, total)).tocsr()
    repeated = len(source) - given.nnz
    if loops.any() or repeated:
        dropped_amounts = [(int(loops.sum()), "self loop"), (repeated, "repeated edge")]
        dropped = " and ".join(plural(number, noun) for number, noun in dropped_amounts if number)
        warn_user(f"Dropped {dropped} while reading {plural(len(first) - 1, 'graph')}.", GraphWarning)
    given.data[:] = 1
    both = (given + given.T).tocsr()
    both.sort_indices()
    indptr = both.indptr.astype(np.int64)
    local = both.indices
    if len(first) > 2:
        local = local - np.repeat(first[:-1], np.diff(indptr[first]))
    may_be_directed = given.nnz != both.nnz and directed is not False
    return GraphSet(
        first,
        indptr,
        local.astype(np.uint32),
        colors,
        palette,
        None if y is None else np.atleast_1d(label_array(y)),
        None if names is None else tuple(names),
        None if edge_colors is None else _entry_colors(both, source, target, edge_colors),
        edge_palette,
        _directions(given, both, first, directed) if may_be_directed else None,
        features,
        feature_names,
    )


def _directions(
    given: csr_array[np.int8], both: csr_array[np.int8], first: IntArray, directed: bool | Sequence[bool | None] | None
) -> NDArray[np.uint8] | None:
    """The direction of every entry of ``both``; None if all edges are undirected."""
    graphs = len(first) - 1
    conventions = [directed] * graphs if isinstance(directed, bool | None) else list(directed)
    is_directed = np.array([convention is True for convention in conventions], np.bool_)
    unknown = np.array([convention is None for convention in conventions], np.bool_)
    pairs, entries = np.diff(given.indptr[first]), np.diff(both.indptr[first])
    if (unknown & (pairs != entries) & (2 * pairs != entries)).any():  # some graph has edges of both kinds
        is_directed |= unknown
    one_way = np.repeat(is_directed, entries)
    if not (one_way & (both.data == 1)).any():
        return None
    coded = (given + 2 * given.T).tocsr()
    coded.sort_indices()
    return np.where(one_way, coded.data % 3, 0).astype(np.uint8)


def _entry_colors(
    both: csr_array[np.int8], source: IntArray, target: IntArray, edge_colors: NDArray[np.uint16]
) -> NDArray[np.uint16]:
    """The color of every entry (u, v): of the first edge from u to v, or else of the first edge from v to u."""
    total = both.shape[0]
    forward = source.astype(np.int64) * total + target
    pairs, at = np.unique(forward, return_index=True)
    row, column = owners(both.indptr), both.indices.astype(np.int64)
    here, there = row * total + column, column * total + row
    position = np.searchsorted(pairs, here)
    if not len(pairs):
        return np.zeros(0, np.uint16)
    is_given = pairs[np.minimum(position, len(pairs) - 1)] == here
    position = np.where(is_given, position, np.searchsorted(pairs, there))
    return np.asarray(edge_colors[at[position]])


def induced_subgraphs(graphs: GraphSet, keep: BoolArray) -> GraphSet:
    """The subgraphs induced by the kept vertices, given one boolean per vertex of the set.

    >>> path = GraphSet.from_edges([(0, 1), (1, 2), (2, 3)])
    >>> induced_subgraphs(path, np.array([True, True, False, True])).edges().tolist()
    [[0, 1]]
    """
    inside = keep[owners(graphs.indptr)] & keep[graphs.neighbors]
    first = offsets(keep.astype(np.int64))[graphs.first]
    number = np.cumsum(keep) - 1 - first[owners(graphs.first)]  # of kept vertices in the subgraph
    ends = offsets(inside.astype(np.int64))[graphs.indptr]
    indptr = np.concatenate([ends[:1], ends[1:][keep]])
    indices = number[graphs.neighbors[inside]].astype(np.uint32)
    return graphs._part(first, indptr, indices, slice(None), keep, inside)
