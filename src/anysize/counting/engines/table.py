"""Results of engines: columns and a sparse matrix, for one pattern size."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from anysize._typing import IntArray
from anysize.counting.columns import Columns, unite
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import offsets
from anysize.patterns.pattern import connected_patterns


class CountTable(NamedTuple):
    """The copies of patterns (columns) in graphs (rows)."""

    columns: Columns
    matrix: csr_array[np.int64]


def merged(parts: list[tuple[Columns, NDArray[Any], NDArray[Any], IntArray]], n_graphs: int) -> CountTable:
    """One table from (columns, row, column, copies) parts; equal cells are summed, columns are in canonical order."""
    columns, new_columns = unite([part[0] for part in parts])
    dtype = np.int32 if max(n_graphs, len(columns)) < 2**31 else np.int64
    row = np.concatenate([part[1].astype(dtype, copy=False) for part in parts])
    column = np.concatenate([new.astype(dtype)[part[2]] for new, part in zip(new_columns, parts, strict=True)])
    copies = np.concatenate([part[3] for part in parts])
    matrix = coo_array((copies, (row, column)), shape=(n_graphs, len(columns))).tocsr()
    matrix.sort_indices()
    return CountTable(columns, matrix)


def plain_table(copies: NDArray[Any], graphs: GraphSet, k: int) -> CountTable:
    """The table of plain counts (graphs, connected patterns), of int64 or of Python integers; an error if too large."""
    if copies.dtype == object:
        for row, column in zip(*np.nonzero(copies > np.iinfo(np.int64).max), strict=True):
            raise OverflowError(
                f"{graph_title(graphs, row)} has {copies[row, column]} induced copies of the pattern "
                f"{connected_patterns(k)[column].name!r}, more than a 64-bit integer holds"
            )
        copies = copies.astype(np.int64)
    rows, columns = np.nonzero(copies)  # scipy makes two matrices of a dense one
    table = csr_array((copies[rows, columns], columns, offsets(np.bincount(rows, minlength=len(copies)))), copies.shape)
    return CountTable(Columns.plain(k), table)


def graph_title(graphs: GraphSet, row: int) -> str:
    """The name of a graph for error messages, or its number. In a set of one graph, row is its number elsewhere."""
    names = graphs.names
    return f"graph {row}" if names is None else f"graph {names[row if len(names) > 1 else 0]!r}"
