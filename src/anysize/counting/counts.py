"""`Counts`: a sparse table of the numbers of induced copies of patterns in graphs, and densities."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import comb, perm
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from anysize._errors import naming_extra
from anysize._memory import check_table
from anysize._schema import MAX_EXACT_INTEGER
from anysize._text import plural
from anysize._typing import FloatArray, IntArray, PathLike
from anysize.counting.columns import Columns, unite
from anysize.counting.sampling.estimates import Sampling
from anysize.graphs.colors import ColorName
from anysize.graphs.ragged import owners, select_rows
from anysize.patterns.pattern import Pattern

Over = Literal["subsets", "maps", "connected"]
MAX_DENSE_COLUMNS = 2000  # `to_pandas` gives sparse columns for wider tables
SPARSE_COLUMN_BYTES = 2300  # of a sparse column of pandas, even an empty one (measured)


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """The number of induced copies of patterns (columns) in graphs (rows).

    Attributes:
        matrix: scipy ``csr_array`` of int64, graphs by patterns; of float64 in a table of estimates.
        columns: the patterns, in canonical order: the whole catalog in a plain table, the patterns that occur in a
            colored one.
        sizes: the number of vertices of each graph.
        y: the labels of the graph set, if any.
        names: the graph names of the graph set, if any.
        log: which engine counted which graphs and why; each item as text is a line of `explain`.
        sampling: hits and errors of a table of estimates (``engine="sample"``), otherwise None; see `standard_errors`,
            `hits` and `interval`.
    """

    matrix: csr_array[np.int64]
    columns: Columns
    sizes: IntArray
    y: NDArray[Any] | None = None
    names: tuple[str, ...] | None = None
    log: tuple[object, ...] = ()
    sampling: Sampling | None = None

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """One `Pattern` per column."""
        return self.columns.patterns

    @property
    def palette(self) -> tuple[ColorName, ...]:
        """The color names; empty in a plain table."""
        return self.columns.palette

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.sizes), len(self.columns)

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        sampled = "" if self.sampling is None else "estimated "
        kind = "plain" if self.columns.colors is None else "colored"
        sizes = ", ".join(str(k) for k in np.unique(self.columns.size)) or "-"
        return f"Counts({plural(len(self), 'graph')} x {len(self.columns)} {sampled}{kind} patterns, k = {sizes})"

    def __str__(self) -> str:
        """The most frequent patterns by the first graphs.

        Examples:
            >>> import anysize as az
            >>> print(az.count([az.GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)])], k=4))
            Counts(1 graph x 6 plain patterns, k = 4)
            pattern   graph 0
            claw            0
            4-path          2
            paw             2
            4-cycle         1
            diamond         0
            4-clique        0
        """
        from anysize.counting.text import as_text

        return as_text(self)

    def explain(self) -> str:
        """Which engine counted which graphs, and why."""
        return "\n".join(map(str, self.log))

    # ---- rows, columns and sums ------------------------------------------------------------------------

    def __getitem__(self, key: int | slice | ArrayLike) -> Counts:
        """The rows of one graph (an integer) or of several (a slice, integers, booleans)."""
        rows = np.arange(len(self))[select_rows(key, len(self))]
        return replace(
            self,
            matrix=csr_array(self.matrix[rows]),
            sizes=self.sizes[rows],
            y=None if self.y is None else self.y[rows],
            names=None if self.names is None else tuple(self.names[row] for row in rows),
            sampling=None if self.sampling is None else self.sampling.select_rows(rows),
        )

    def _with_columns(self, columns: Columns, change: Callable[[csr_array[Any]], csr_array[Any]]) -> Counts:
        """The same graphs over other columns; ``change`` maps every matrix of cells."""
        sampling = None if self.sampling is None else self.sampling.mapped(change)
        return replace(self, matrix=change(self.matrix), columns=columns, sampling=sampling)

    def select(self, columns: ArrayLike) -> Counts:
        """The same graphs with some of the columns (integers or booleans)."""
        index = np.asarray(columns)
        index = np.flatnonzero(index) if index.dtype == bool else index.astype(np.int64)
        return self._with_columns(self.columns[index], lambda matrix: csr_array(matrix[:, index]))

    def align(self, reference: Counts | Columns | Sequence[Pattern]) -> Counts:
        """The same graphs over the columns of another table (or over other columns or patterns), in that order.

        Patterns are matched by their edges and color names. Patterns that the reference lacks are dropped; patterns
        that do not occur here get zero columns.
        """
        known = reference.columns if isinstance(reference, Counts) else reference
        target = known if isinstance(known, Columns) else Columns.of(known)
        if target is self.columns:
            return self
        union, (in_self, in_target) = unite([self.columns, target])
        target_column = np.full(len(union), -1, np.int64)
        target_column[in_target] = np.arange(len(target))

        def realigned(matrix: csr_array[Any]) -> csr_array[Any]:
            coo = matrix.tocoo()
            column = target_column[in_self][coo.col]
            keep = column >= 0
            return csr_array((coo.data[keep], (coo.row[keep], column[keep])), shape=(len(self), len(target)))

        return self._with_columns(target, realigned)

    def without_colors(self) -> Counts:
        """The same graphs over plain patterns of the same sizes; copies are summed over colors and types of edges.

        Examples:
            >>> import anysize as az
            >>> path = az.GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "O"])
            >>> az.count(path, k=2).without_colors().matrix.toarray().tolist()  # C-C and C-O
            [[2]]
        """
        if self.columns.colors is None and self.columns.edge_types is None:
            return self
        plain = Columns.plain(*(np.unique(self.columns.size).tolist() or [1]))
        start = np.searchsorted(plain.size, self.columns.size)  # the first column of each size
        return self._summed(plain, start + self.columns.pattern_index)

    def without_edge_types(self) -> Counts:
        """The same graphs over patterns that do not tell edges apart; copies are summed over the types of edges.

        Examples:
            >>> import anysize as az
            >>> path = az.GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "O"], edge_colors=["a", "b"])
            >>> az.count(path, k=2, edges=True).without_edge_types().to_pandas().iloc[0].to_dict()
            {'edge[C,C]': 1, 'edge[C,O]': 1}
        """
        columns = self.columns
        if columns.edge_types is None:
            return self
        if columns.colors is None:
            return self.without_colors()
        # colors come first in the canonical form of a pattern, so that they are in canonical form without types
        bare = Columns(columns.size, columns.pattern_index, columns.colors, columns.palette)
        merged, (number,) = unite([bare])
        return self._summed(merged, number)

    def _summed(self, columns: Columns, number: IntArray) -> Counts:
        """The same graphs over coarser patterns: ``number`` is that of every pattern here among ``columns``."""
        if self.sampling is not None:
            raise ValueError("standard errors cannot be summed over colors; sample again with colors=False")
        entries = np.ones(len(number), np.int64), (np.arange(len(number)), number)
        merge = csr_array(entries, shape=(len(number), len(columns)))
        if len(number) and (self.matrix.astype(np.float64) @ merge).max() >= 2**63:
            raise OverflowError("the copies of a plain pattern, summed over its colorings, exceed a 64-bit integer")
        return self._with_columns(columns, lambda matrix: csr_array(matrix @ merge))

    def top(self, n: int) -> Counts:
        """The n most frequent patterns over all graphs, in canonical order; the earlier one wins a tie."""
        return self.select(np.sort(np.argsort(-self.totals(), kind="stable")[:n]))

    def totals(self) -> NDArray[Any]:
        """The copies of every pattern in all graphs together: int64, or Python integers if they do not fit."""
        rounded = np.bincount(self.matrix.indices, self.matrix.data, minlength=len(self.columns))
        if self.matrix.dtype.kind == "f":  # estimates
            return rounded
        exact = np.zeros(len(self.columns), np.int64 if rounded.max(initial=0) < 2**62 else object)
        np.add.at(exact, self.matrix.indices, self.matrix.data.astype(exact.dtype))
        return exact

    @staticmethod
    def concatenate(tables: Iterable[Counts]) -> Counts:
        """Concatenate the rows of tables over the union of their columns."""
        tables = list(tables)
        if not tables:
            raise ValueError("expected at least one table to concatenate; got none")
        columns, new_columns = unite([table.columns for table in tables])
        first = np.cumsum([0] + [len(table) for table in tables])

        def stacked(matrices: list[csr_array[Any]]) -> csr_array[Any]:
            parts = [matrix.tocoo() for matrix in matrices]
            dtype = np.result_type(*(matrix.indices.dtype for matrix in matrices))
            if max(first[-1], len(columns)) > np.iinfo(dtype).max:
                dtype = np.dtype(np.int64)
            row = np.concatenate([(part.row + start).astype(dtype) for part, start in zip(parts, first, strict=False)])
            column = np.concatenate([new[part.col].astype(dtype) for part, new in zip(parts, new_columns, strict=True)])
            data = np.concatenate([part.data for part in parts])
            return csr_array((data, (row, column)), shape=(int(first[-1]), len(columns)))

        labeled, named = all(t.y is not None for t in tables), all(t.names is not None for t in tables)
        return Counts(
            stacked([table.matrix for table in tables]),
            columns,
            np.concatenate([table.sizes for table in tables]),
            np.concatenate([t.y for t in tables if t.y is not None]) if labeled else None,
            tuple(name for t in tables for name in t.names or ()) if named else None,
            tuple(dict.fromkeys(line for table in tables for line in table.log)),
            Sampling.stacked([table.sampling for table in tables], stacked),
        )

    # ---- estimates -----------------------------------------------------------------------------

    @property
    def standard_errors(self) -> csr_array[np.float64]:
        """The standard error of every cell; all zero in a table of exact counts."""
        if self.sampling is None:
            return csr_array(self.shape, dtype=np.float64)
        return self.sampling.errors

    @property
    def hits(self) -> csr_array[np.int64]:
        """The number of samples that hit each pattern, in a table of estimates."""
        if self.sampling is None:
            raise ValueError("hits exist only for engine='sample'; this table was counted exactly")
        return self.sampling.hits

    def interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Confidence interval of every cell: lower and upper ends (graphs, patterns)."""
        check_table(self.shape, "the table of all cells", "use fewer patterns (Counts.top) or graphs")
        if self.sampling is None:
            exact = self.matrix.toarray().astype(np.float64)
            return exact, exact
        return self.sampling.interval(self.matrix, self.columns, level)

    # ---- densities -----------------------------------------------------------------------------

    def densities(self, over: Over = "subsets") -> csr_array[np.float64]:
        """Densities of the patterns of size k in a graph of N vertices.

        ``subsets``: copies / C(N, k). ``maps``: copies * |Aut F| / (N)_k, the induced homomorphism density, with
        color-preserving automorphisms. ``connected``: copies / number of connected subsets in this table, of all its
        sizes together, so that a graph's densities sum to 1 (the paper's omega). Quotients of integers, correctly
        rounded. A graph without copies has a zero row, never NaN.

        Examples:
            >>> import anysize as az
            >>> square = az.GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
            >>> az.count(square, k=3).densities().toarray().tolist()  # 4 paths in 4 triples, no triangle
            [[1.0, 0.0]]
        """
        check_over(over)
        row = owners(self.matrix.indptr)
        column, copies = self.matrix.indices, self.matrix.data
        if over == "connected":
            values = _quotients(copies, None, self._connected_subsets(row), row)
        else:
            values, factor = np.zeros(len(column)), self.columns.automorphisms[column] if over == "maps" else None
            distinct, of_graph = np.unique(self.sizes, return_inverse=True)
            for k in np.unique(self.columns.size).tolist():
                here = np.flatnonzero(self.columns.size[column] == k)
                ways = comb if over == "subsets" else perm  # of choosing k vertices
                amounts = np.array([max(ways(n, k), 1) for n in distinct.tolist()], object)
                factors = None if factor is None else factor[here]
                values[here] = _quotients(copies[here], factors, amounts, of_graph[row[here]])
        return csr_array((values, column.copy(), self.matrix.indptr.copy()), shape=self.matrix.shape)

    def _connected_subsets(self, row: IntArray) -> NDArray[np.object_]:
        """The number of connected subsets of every graph in this table, as a Python integer, at least 1."""
        data = self.matrix.data
        sums = np.bincount(row, data, minlength=len(self))
        if data.dtype.kind == "f":  # estimates
            return np.where(sums > 0, sums, 1.0).astype(object)
        if not len(sums) or sums.max() < MAX_EXACT_INTEGER:
            total = sums.astype(np.int64).astype(object)
        else:
            total = np.zeros(len(self), object)
            np.add.at(total, row, data.astype(object))
        return np.asarray(np.maximum(total, 1), object)

    # ---- conversion and files ------------------------------------------------------------------------

    @naming_extra("Counts.to_pandas")
    def to_pandas(self, over: Over | None = None) -> Any:
        """A DataFrame of graphs by pattern names: copies, or densities if ``over`` is given.

        Columns are sparse in a table of more than 2000 patterns. A frame beyond 2 GiB is refused: a sparse column takes
        2.3 KB even if it is empty. The environment variable ANYSIZE_MAX_TABLE, such as 16GiB, sets another limit.
        """
        import pandas as pd

        wide = len(self.columns) > MAX_DENSE_COLUMNS
        instead = "use Counts.matrix, which is sparse, or fewer patterns (Counts.top)"
        shape = (len(self.columns),) if wide else self.shape
        check_table(shape, "the data frame", instead, SPARSE_COLUMN_BYTES if wide else 8)
        table = self.matrix if over is None else self.densities(over)
        header = pd.Index([pattern.name for pattern in self.patterns], name="pattern")
        index = pd.RangeIndex(len(self), name="graph") if self.names is None else pd.Index(self.names, name="graph")
        if not wide:
            return pd.DataFrame(table.toarray(), index=index, columns=header)
        sparse: Any = pd.DataFrame.sparse
        return sparse.from_spmatrix(table, index=index, columns=header)

    def save(self, path: PathLike) -> None:
        """Write the table as a numpy ``.npz`` archive without pickled objects; see `anysize.counting.counts_file`."""
        from anysize.counting.counts_file import save

        save(self, path)

    @staticmethod
    def load(path: PathLike) -> Counts:
        """Read a table written by `save`."""
        from anysize.counting.counts_file import load

        return load(path)


def check_over(over: str) -> None:
    """Raise an error for a denominator that densities do not have."""
    if over not in get_args(Over):
        raise ValueError(f"over must be one of {', '.join(get_args(Over))}; got {over!r}")


def _quotients(
    copies: IntArray, factor: IntArray | None, denominators: NDArray[np.object_], index: IntArray
) -> FloatArray:
    """copies * factor / denominators[index], every quotient correctly rounded."""
    if not len(copies):
        return np.zeros(0)
    if copies.dtype.kind == "f":  # estimates
        return np.asarray(copies * (1 if factor is None else factor) / denominators.astype(np.float64)[index])
    largest = int(copies.max()) * (1 if factor is None else int(factor.max()))
    if largest < MAX_EXACT_INTEGER and max(denominators) < MAX_EXACT_INTEGER:
        product = copies if factor is None else copies * factor
        return np.asarray(product / denominators.astype(np.float64)[index])
    factors = np.ones(len(copies), np.int64) if factor is None else factor
    exact = zip(copies.tolist(), factors.tolist(), denominators[index], strict=True)
    return np.array([c * f / d for c, f, d in exact])
