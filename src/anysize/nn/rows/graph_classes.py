"""Whole graphs with one row for all vertices that cannot be told apart: fewer rows where many are alike.

After one layer the vertices of a plain graph differ by their degrees alone: 60 rows in place of 6400. Color
refinement finds such classes across all graphs of a set, layer by layer, for as long as they halve the rows; from
there on every vertex has its row (`graph_batch`). Nothing is approximated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._typing import IntArray
from anysize.graphs.graphset import GraphSet
from anysize.nn.rows.aggregation import Lists, Slots
from anysize.nn.rows.graph_batch import Marks, Readout, graph_batch, slots_of
from anysize.nn.rows.refinement import Round
from anysize.nn.rows.structure import Dense, Level, Neighbors, Sparse, Structure, Sums, rows_index, sums_of

WORTH_MERGING = 0.5  # classes per vertex
HALF_FILLED = 0.5  # sums over a list and by a full matrix cost the same per term on a CPU


def whole_structure(
    graphs: GraphSet, marks: Marks, layers: int, readout: Readout, extremes: bool = False,
    device: torch.device | str = "cpu", merge: bool = True,
) -> Structure:  # fmt: skip
    """All graphs of a set as a structure, on the device. ``merge`` False: every vertex has a row of its own."""
    rows = graph_batch(graphs, marks, readout, extremes, device).rows()
    on_cpu, vertices = torch.device(device).type == "cpu", len(marks.of)
    graph = np.repeat(np.arange(len(graphs)), graphs.sizes)
    adjacency = _adjacency(graphs)
    below = _marked(marks)
    levels: list[Level] = []
    readouts: list[Sums] = [_class_readout(below, graph, graphs.sizes, readout, on_cpu)]
    while len(levels) < layers:
        counts = _counts(adjacency, below)
        found = refined(below, counts) if merge else None
        if found is None or len(found) > WORTH_MERGING * vertices:
            break
        levels.append(_class_level(below, found, csr_array(counts[found.example]), extremes, on_cpu))
        readouts.append(_class_readout(found, graph, graphs.sizes, readout, on_cpu))
        below = found
    if len(levels) < layers:
        place = np.arange(vertices) if rows.weight is None else np.flatnonzero(rows.weight.numpy())
        own = np.zeros(len(rows.mark), np.int64)
        own[place] = below.classes
        spread = _spread(counts, place, len(own))
        near, neighbors = _sums(spread, on_cpu), _neighbors(spread) if extremes else None
        levels.append(Level(rows_index(own), near, rows.weight, rows.degree, neighbors))
        readouts.append(rows.readout)
    while len(levels) < layers:
        levels.append(Level(None, rows.near, rows.weight, rows.degree, rows.neighbors))
        readouts.append(rows.readout)
    return Structure(rows.features, rows.mark_degree, tuple(levels), tuple(readouts)).to(device)


def refined(below: Round, counts: csr_array[Any]) -> Round | None:
    """Classes by (class below, how many neighbors of each class below); None if a hash should ever fail.

    ``counts`` (vertices, classes below), rows in order and without repeats. Rows are numbered by random sums, and
    every row is then compared with the one that stands for its class, so that the result is exact.

    Examples:
        >>> alike = Round(np.zeros(3, np.int64), np.zeros(1, np.int64), np.array([3]))
        >>> path = csr_array(np.array([[1], [2], [1]]))  # a path of three: the inner vertex has two neighbors
        >>> sorted(refined(alike, path).size.tolist())
        [1, 2]
    """
    source = np.random.default_rng(0)
    own, near = source.integers(0, 2**63, (2, max(counts.shape[1], 1)), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    terms = np.concatenate([np.zeros(1, np.uint64), near[counts.indices] * counts.data.astype(np.uint64)])
    sums = np.cumsum(terms, dtype=np.uint64)  # modulo 2^64: differences are right all the same
    keys = own[below.classes] + sums[counts.indptr[1:]] - sums[counts.indptr[:-1]]
    _, example, classes, size = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    stand_in = example[classes]
    same = np.array_equal(below.classes[stand_in], below.classes) and _equal(csr_array(counts[stand_in]), counts)
    return Round(classes.astype(np.int64), example.astype(np.int64), size.astype(np.int64)) if same else None


def _equal(one: csr_array[Any], other: csr_array[Any]) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("indptr", "indices", "data"))


def _marked(marks: Marks) -> Round:
    _, example, size = np.unique(marks.of, return_index=True, return_counts=True)
    return Round(marks.of, example.astype(np.int64), size.astype(np.int64))


def _adjacency(graphs: GraphSet) -> csr_array[Any]:
    start = np.repeat(np.repeat(graphs.first[:-1], graphs.sizes), graphs.degrees)
    vertices = int(graphs.first[-1])
    ones = np.ones(len(graphs.indices), np.int64)
    return csr_array((ones, graphs.indices.astype(np.int64) + start, graphs.indptr), shape=(vertices, vertices))


def _counts(adjacency: csr_array[Any], below: Round) -> csr_array[Any]:
    """How many neighbors of each class a vertex has: (vertices, classes)."""
    vertices = len(below.classes)
    ones, rows = np.ones(vertices, np.int64), np.arange(vertices)
    counts = csr_array(adjacency @ csr_array((ones, (rows, below.classes)), shape=(vertices, len(below))))
    counts.sum_duplicates()
    counts.sort_indices()
    return counts


def _class_level(below: Round, found: Round, counts: csr_array[Any], extremes: bool, on_cpu: bool) -> Level:
    degree: NDArray[Any] = np.asarray(counts.sum(axis=1)).reshape(-1)
    return Level(
        rows_index(below.classes[found.example]),
        _sums(counts, on_cpu),
        torch.from_numpy(found.size.astype(np.float32)),
        torch.from_numpy(degree.astype(np.float32)),
        _neighbors(counts) if extremes else None,
    )


def _class_readout(step: Round, graph: IntArray, sizes: IntArray, readout: Readout, on_cpu: bool) -> Sums:
    values = np.ones(len(graph)) if readout != "mean" else 1 / sizes[graph]
    matrix = csr_array((values, (graph, step.classes)), shape=(len(sizes), len(step)))
    matrix.sum_duplicates()
    if readout == "max":
        return Lists.of(rows_index(matrix.indices.astype(np.int64)), rows_index(matrix.indptr.astype(np.int64)))
    return _sums(matrix, on_cpu)


def _sums(matrix: csr_array[Any], on_cpu: bool) -> Dense | Sparse:
    if on_cpu and matrix.nnz < HALF_FILLED * matrix.shape[0] * matrix.shape[1]:
        return Sparse.of(matrix)
    return sums_of(matrix)


def _neighbors(counts: csr_array[Any]) -> Neighbors:
    """Who is there, not how often: extremes do not ask."""
    indptr, indices = counts.indptr.astype(np.int64), counts.indices.astype(np.int64)
    slots = slots_of(indptr, indices)
    if slots is None:
        return Lists.of(rows_index(indices), rows_index(indptr))
    some = (np.diff(indptr) > 0).astype(np.float32)
    return Slots(rows_index(slots.T), torch.from_numpy(some))


def _spread(counts: csr_array[Any], place: IntArray, rows: int) -> csr_array[Any]:
    """The rows of a matrix moved to these places among ``rows``, the others being empty."""
    lengths = np.zeros(rows + 1, np.int64)
    lengths[place + 1] = np.diff(counts.indptr)
    return csr_array((counts.data, counts.indices, np.cumsum(lengths)), shape=(rows, counts.shape[1]))
