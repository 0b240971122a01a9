"""Adjacency matrices: scipy sparse, numpy, pandas and torch, and which of their weights are edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anysize._errors import GraphError
from anysize._schema import check_array, check_compressed_rows
from anysize._typing import IntArray
from anysize.graphs.graphset import GraphSet
from anysize.io.join import join_graphs
from anysize.io.reader import (
    Library,
    ParsedGraph,
    ParsedSet,
    ReadOptions,
    as_list,
    is_array,
    split_by_graph,
    to_numpy,
    type_name,
)


def parse_matrices(items: Sequence[Any], options: ReadOptions) -> ParsedSet:
    """The graphs of matrices."""
    cut = Cut.of(options)
    return ParsedSet([parse_matrix(item, f"Graph {graph}", cut) for graph, item in enumerate(items)])


MATRIX = Library(
    "an adjacency matrix (scipy, numpy)", frozenset({("scipy", "sparray"), ("scipy", "spmatrix")}), parse_matrices,
    takes_color=False,
)  # fmt: skip


def from_scipy(
    matrices: Any,
    colors: Any = None,
    y: ArrayLike | None = None,
    *,
    threshold: float | Sequence[float] | None = None,
    density: float | Sequence[float] | None = None,
) -> GraphSet:
    """See `GraphSet.from_scipy`."""
    cut = Cut.of(ReadOptions(threshold=threshold, density=density))
    single = MATRIX.includes(matrices) or (is_array(matrices) and np.ndim(matrices) == 2)
    items = [matrices] if single else as_list(matrices, "a scipy sparse matrix, a 2-D numpy array or a list of them")
    colors_of = split_by_graph(colors, single, len(items), "colors")
    parsed = [parse_matrix(item, f"Graph {graph}", cut, colors_of[graph]) for graph, item in enumerate(items)]
    return join_graphs(ParsedSet(parsed, y))


@dataclass(frozen=True)
class Cut:
    """Which pairs are edges: those with a weight above a threshold, or a share of all pairs with the largest weights.

    Weights are compared without their sign. With several thresholds (or densities) the color of an edge says how many
    of them it passes: 1 for the weakest edges.
    """

    thresholds: tuple[float, ...] = ()
    densities: tuple[float, ...] = ()

    @staticmethod
    def of(options: ReadOptions) -> Cut:
        """The cut of the options ``threshold`` and ``density``, of which one may be given."""
        if options.threshold is not None and options.density is not None:
            raise GraphError("Give threshold or density, not both: they are two ways to say which pairs are edges.")
        thresholds, densities = _numbers(options.threshold, "threshold"), _numbers(options.density, "density")
        if any(value < 0 for value in thresholds):
            raise GraphError(f"A threshold is at least 0, for weights without their sign; got {min(thresholds):g}.")
        if any(not 0 < value <= 1 for value in densities):
            raise GraphError(f"A density is a share of all pairs, above 0 and up to 1; got {options.density!r:.40}.")
        return Cut(thresholds, densities)

    @property
    def levels(self) -> int:
        """How many thresholds or densities there are."""
        return len(self.thresholds) + len(self.densities)

    def levels_passed(self, strength: NDArray[Any], pairs: int) -> IntArray:
        """How many thresholds or densities every entry passes; ``pairs`` is the number of pairs of vertices."""
        passed = np.zeros(len(strength), np.int64)
        for threshold in self.thresholds:
            passed += strength > threshold
        for density in self.densities:  # ties with the weakest edge are edges: vertex numbers decide nothing
            amount = min(round(density * pairs), len(strength))
            if amount:
                passed += strength >= np.partition(strength, len(strength) - amount)[len(strength) - amount]
        return passed


def parse_matrix(item: Any, what: str, cut: Cut, colors: Any = None) -> ParsedGraph:
    """The graph of a matrix, with edges from rows to columns; ``what`` begins errors.

    Edges are the entries that are not zero, or are chosen by the cut. Without a cut a weight for every pair of vertices
    is an error.
    """
    size, source, target, weights = _entries(item, what)
    off_diagonal = source != target
    strength, pairs = np.abs(weights[off_diagonal]), size * (size - 1)
    is_triangular = len(strength) > 0 and ((source <= target).all() or (source >= target).all())
    if is_triangular:  # one half of a symmetric matrix, if it holds weights
        pairs //= 2
    if cut.levels:
        source, target = source[off_diagonal], target[off_diagonal]
        passed = cut.levels_passed(_without_rounding(strength, source * size + target, target * size + source), pairs)
        kept = passed > 0
        edge_colors = passed[kept] if cut.levels > 1 else None
        return ParsedGraph(size, source[kept], target[kept], colors, edge_colors, directed=not is_triangular)
    if size > 2 and len(strength) == pairs and (weights[off_diagonal] != weights[off_diagonal][0]).any():
        raise GraphError(
            f"{what} has a weight for every pair of vertices: say which pairs are edges by a threshold, such as "
            "threshold=0.5 (--threshold 0.5), or by the share of pairs, such as density=0.1 (--density 0.1)."
        )
    return ParsedGraph(size, source, target, colors, weights=weights[off_diagonal], directed=True)


def _without_rounding(strength: NDArray[Any], place: IntArray, reverse: IntArray) -> NDArray[Any]:
    """The weights of a matrix that is symmetric but for rounding, as of `numpy.corrcoef`, made equal both ways.

    Otherwise a cut between the two weights of a pair would give its edge a direction.

    >>> _without_rounding(np.array([0.3, 0.3 + 1e-16]), np.array([1, 2]), np.array([2, 1])).tolist()
    [0.3000000000000001, 0.3000000000000001]
    """
    order, partner = np.argsort(place), np.argsort(reverse)
    there, back = strength[order], strength[partner]
    if not np.array_equal(place[order], reverse[partner]) or not np.allclose(there, back):
        return strength
    equal = np.empty_like(strength)
    equal[order] = np.maximum(there, back)
    return equal


def _entries(item: Any, what: str) -> tuple[int, IntArray, IntArray, NDArray[Any]]:
    """The size of a square matrix, and row, column and weight of every entry that is not zero."""
    sparse = MATRIX.includes(item)
    if not sparse:
        if not is_array(item):
            expected = "a scipy sparse matrix or a 2-D numpy array"
            raise GraphError(f"{what} has type {type_name(item)}; expected {expected}.")
        item = to_numpy(item, what)
    if item.ndim != 2 or item.shape[0] != item.shape[1]:
        raise GraphError(f"{what}: expected a square adjacency matrix; got shape {item.shape}.")
    if item.dtype.kind not in "biuf":
        raise GraphError(f"{what}: expected a matrix of numbers; got dtype {item.dtype}.")
    if sparse:
        try:
            entries = _checked(item).tocoo(copy=True)
        except (ValueError, TypeError, IndexError, KeyError) as error:
            raise GraphError(f"{what}: the arrays of the sparse matrix do not fit together: {error}.") from None
        entries.sum_duplicates()
        rows, columns, weights = entries.row, entries.col, entries.data
    else:
        rows, columns = np.nonzero(item)
        weights = item[rows, columns]
    # Fisher's z of a correlation matrix is infinite on the diagonal, which holds no edges.
    infinite = np.flatnonzero(~np.isfinite(weights) & (rows != columns))
    if infinite.size:
        at = infinite[0]
        raise GraphError(
            f"{what}: the entry in row {rows[at]}, column {columns[at]} is {weights[at]}; expected a finite number."
        )
    nonzero = weights != 0  # a sparse matrix may store zeros
    ends = rows[nonzero].astype(np.int64), columns[nonzero].astype(np.int64)
    return item.shape[0], *ends, weights[nonzero]


def _checked(item: Any) -> Any:
    """The matrix; a ValueError for inconsistent arrays, which make compiled code of scipy read beyond them."""
    if item.format in ("csr", "csc", "bsr"):
        rows, columns = item.shape if item.format != "csc" else item.shape[::-1]
        height, width = item.blocksize if item.format == "bsr" else (1, 1)
        used = int(check_array(item.indptr, "indptr", "iu", (rows // height + 1,), 0, len(item.data))[-1])
        indices = check_array(item.indices, "indices", "iu", (None,))[:used]
        check_compressed_rows(item.indptr, indices, used, (rows // height, columns // width))
        if item.data.ndim != (3 if item.format == "bsr" else 1) or len(item.data) < used:
            raise ValueError(f"expected {used} entries; got data of shape {item.data.shape}")
        if len(item.indices) > used or len(item.data) > used:  # scipy allows that, and reads too far
            item = item.copy()
            item.prune()
    elif item.format == "coo":
        for name, ends, size in (("row", item.row, item.shape[0]), ("col", item.col, item.shape[1])):
            check_array(ends, name, "iu", (len(item.data),), 0, size - 1)
    elif item.format == "dia":
        check_array(item.offsets, "offsets", "iu", (len(item.data),))
    return item


def _numbers(values: Any, name: str) -> tuple[float, ...]:
    if values is None:
        return ()
    try:
        numbers = np.atleast_1d(np.asarray(values, np.float64))
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if numbers.ndim != 1 or not len(numbers) or not np.isfinite(numbers).all():
        raise GraphError(f"{name} takes a number, or several; got {values!r:.40}.")
    return tuple(sorted(set(numbers.tolist())))
