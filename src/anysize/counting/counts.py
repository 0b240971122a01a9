"""Counts: how often each pattern occurs in each graph, exactly, as a sparse table; densities from it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import comb, perm
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from anysize._typing import IntArray
from anysize.counting.columns import Columns, unite
from anysize.counting.sampling.intervals import Sampling
from anysize.graphs.colors import ColorName
from anysize.graphs.ragged import strip_ellipsis
from anysize.patterns.pattern import Pattern

Over = Literal["subsets", "maps", "connected"]
OVER: tuple[Over, ...] = ("subsets", "maps", "connected")

EXACT = 2**53  # integers below it are floats without rounding


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """Induced copies of patterns (columns) in graphs (rows).

    ``matrix`` is a scipy ``csr_array`` of int64, ``columns`` says what its columns are, ``sizes`` holds the
    vertices of each graph. Plain tables have the whole catalog as columns, colored ones the patterns that
    occur, both in canonical order. Labels and graph names are carried along from the graph set. A table of
    estimates (``method="sample"``) has a float matrix, and `standard_errors`, `hits` and `interval`.
    """

    matrix: csr_array[np.int64]
    columns: Columns
    sizes: IntArray
    y: NDArray[Any] | None = None
    names: tuple[str, ...] | None = None
    log: tuple[str, ...] = ()
    sampling: Sampling | None = None

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """One `Pattern` per column."""
        return self.columns.patterns

    @property
    def palette(self) -> tuple[ColorName, ...]:
        """The color names that patterns may use; empty in a plain table."""
        return self.columns.palette

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.sizes), len(self.columns)

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        kinds = "plain" if self.columns.colors is None else "colored"
        sizes = ", ".join(str(k) for k in np.unique(self.columns.size))
        kinds = kinds if self.sampling is None else f"sampled {kinds}"
        return f"Counts({len(self)} graphs x {len(self.columns)} {kinds} patterns, k = {sizes or '-'})"

    def explain(self) -> str:
        """Which engine counted which graphs, and why."""
        return "\n".join(self.log)

    # ---- parts and sums ------------------------------------------------------------------------

    def __getitem__(self, key: int | slice | ArrayLike) -> Counts:
        """The rows of one graph (an integer) or of several (a slice, integers, booleans)."""
        key = strip_ellipsis(key)
        chosen = key if isinstance(key, (int, slice)) else np.asarray(key)
        if isinstance(chosen, np.ndarray) and chosen.shape == (0,):
            chosen = chosen.astype(np.int64)  # an empty list has no integers to tell its kind
        rows = np.atleast_1d(np.arange(len(self))[chosen])
        return replace(
            self,
            matrix=csr_array(self.matrix[rows]),
            sizes=self.sizes[rows],
            y=None if self.y is None else self.y[rows],
            names=None if self.names is None else tuple(self.names[row] for row in rows),
            sampling=None if self.sampling is None else self.sampling.rows(rows),
        )

    def _with_columns(self, columns: Columns, change: Callable[[csr_array[Any]], csr_array[Any]]) -> Counts:
        """The same graphs over other columns, by the same change of all that goes cell by cell."""
        sampling = None if self.sampling is None else self.sampling.mapped(change)
        return replace(self, matrix=change(self.matrix), columns=columns, sampling=sampling)

    def select(self, columns: ArrayLike) -> Counts:
        """The same graphs with some of the columns only (integers or booleans)."""
        chosen = np.asarray(columns)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.int64)
        return self._with_columns(self.columns[chosen], lambda matrix: csr_array(matrix[:, chosen]))

    def align(self, reference: Counts | Sequence[Pattern]) -> Counts:
        """The same graphs over the columns of another table (or over these patterns), in that order.

        Patterns are matched by their edges and color names. Those the reference lacks are left out, and
        those that do not occur here have zero columns.
        """
        target = reference.columns if isinstance(reference, Counts) else Columns.of(reference)
        united, (ours, theirs) = unite([self.columns, target])
        place = np.full(len(united), -1, np.int64)
        place[theirs] = np.arange(len(target))

        def moved(matrix: csr_array[Any]) -> csr_array[Any]:
            coo = matrix.tocoo()
            column = place[ours][coo.col]
            keep = column >= 0
            return csr_array((coo.data[keep], (coo.row[keep], column[keep])), shape=(len(self), len(target)))

        return self._with_columns(target, moved)

    def without_colors(self) -> Counts:
        """The same graphs over plain patterns of the same sizes, copies summed over the colors.

        Examples:
            >>> import anysize as az
            >>> path = az.GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "O"])
            >>> az.count(path, k=2).without_colors().matrix.toarray().tolist()  # C-C and C-O
            [[2]]
        """
        if self.columns.colors is None:
            return self
        if self.sampling is not None:
            raise ValueError("errors of sampled counts do not add up over colors; sample again with colors=False")
        plain = unite([Columns.plain(int(k)) for k in np.unique(self.columns.size)] or [Columns.plain(1)])[0]
        start = np.searchsorted(plain.size, self.columns.size)  # sizes go up, and places from 0 on within a size
        into = csr_array(
            (np.ones(len(start), np.int64), (np.arange(len(start)), start + self.columns.place)),
            shape=(len(start), len(plain)),
        )
        if len(start) and (self.matrix.astype(np.float64) @ into).max() >= 2**63:
            raise OverflowError("the copies of a plain pattern, summed over its colors, exceed a 64-bit integer")
        return self._with_columns(plain, lambda matrix: csr_array(matrix @ into))

    def top(self, n: int) -> Counts:
        """The n most common patterns over all graphs, in canonical order; ties go to the earlier one."""
        return self.select(np.sort(np.argsort(-self.totals(), kind="stable")[:n]))

    def totals(self) -> NDArray[Any]:
        """Copies of every pattern in all graphs together: int64, or Python integers where they do not fit."""
        rounded = np.bincount(self.matrix.indices, self.matrix.data, minlength=len(self.columns))
        if self.sampling is not None:
            return rounded
        exact = np.zeros(len(self.columns), np.int64 if rounded.max(initial=0) < 2**62 else object)
        np.add.at(exact, self.matrix.indices, self.matrix.data.astype(exact.dtype))
        return exact

    @staticmethod
    def concatenate(tables: Iterable[Counts]) -> Counts:
        """The rows of all tables over the union of their columns."""
        tables = list(tables)
        if not tables:
            raise ValueError("expected at least one table to concatenate; got none")
        columns, places = unite([table.columns for table in tables])
        first = np.cumsum([0] + [len(table) for table in tables])

        def stacked(matrices: list[csr_array[Any]]) -> csr_array[Any]:
            parts = [matrix.tocoo() for matrix in matrices]
            kind = np.result_type(*(matrix.indices.dtype for matrix in matrices))
            if max(first[-1], len(columns)) > np.iinfo(kind).max:
                kind = np.dtype(np.int64)
            row = np.concatenate([(part.row + start).astype(kind) for part, start in zip(parts, first, strict=False)])
            column = np.concatenate([place[part.col].astype(kind) for part, place in zip(parts, places, strict=True)])
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
        """How often each pattern was met by the samples behind a table of estimates."""
        if self.sampling is None:
            raise ValueError("this table was counted exactly: nothing was sampled, so there are no hits")
        return self.sampling.hits

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends (graphs, patterns) that hold the true number with this probability, cell by cell."""
        if self.sampling is None:
            exact = self.matrix.toarray().astype(np.float64)
            return exact, exact
        return self.sampling.interval(self.matrix, self.columns, level)

    # ---- densities -----------------------------------------------------------------------------

    def densities(self, over: Over = "subsets") -> csr_array[np.float64]:
        """Counts as shares, per pattern size k, in a graph of N vertices.

        ``subsets``: copies / C(N, k). ``maps``: copies * |Aut F| / (N)_k, the induced homomorphism density;
        the symmetries respect colors. ``connected``: copies / number of connected k-subsets that this table
        holds. Quotients of integers, correctly rounded. A graph without any copy has a zero row, never NaN.

        Examples:
            >>> import anysize as az
            >>> square = az.GraphSet.from_edges([(0, 1), (1, 2), (2, 3), (3, 0)])
            >>> az.count(square, k=3).densities().toarray().tolist()  # 4 paths in 4 triples, no triangle
            [[1.0, 0.0]]
        """
        if over not in OVER:
            raise ValueError(f"over must be one of {', '.join(OVER)}; got {over!r}")
        row = np.repeat(np.arange(len(self)), np.diff(self.matrix.indptr))
        column = self.matrix.indices
        factor = self.columns.symmetries[column] if over == "maps" else None
        values = np.zeros(len(column))
        for k in np.unique(self.columns.size):
            here = np.flatnonzero(self.columns.size[column] == k)
            below = self._denominators(int(k), over, row[here], self.matrix.data[here])
            above = self.matrix.data[here]
            values[here] = _quotients(above, None if factor is None else factor[here], below[row[here]])
        return csr_array((values, column.copy(), self.matrix.indptr.copy()), shape=self.shape)

    def _denominators(self, k: int, over: Over, row: IntArray, data: IntArray) -> NDArray[np.object_]:
        """The denominator of every graph, as a Python integer, at least 1."""
        if over == "connected":
            sums = np.bincount(row, data, minlength=len(self))
            if self.sampling is not None:
                return np.where(sums > 0, sums, 1.0).astype(object)
            if not len(sums) or sums.max() < EXACT:
                whole = sums.astype(np.int64).astype(object)
            else:
                whole = np.zeros(len(self), object)
                np.add.at(whole, row, data.astype(object))
            return np.asarray(np.maximum(whole, 1), object)
        ways = comb if over == "subsets" else perm
        distinct, inverse = np.unique(self.sizes, return_inverse=True)
        return np.array([max(ways(int(n), k), 1) for n in distinct], object)[inverse]

    # ---- to other forms ------------------------------------------------------------------------

    def to_pandas(self, over: Over | None = None) -> Any:
        """A DataFrame with graphs as rows and pattern names as columns: copies, or densities ``over``."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("Counts.to_pandas needs pandas: pip install 'anysize[table]'") from error
        table = self.matrix if over is None else self.densities(over)
        header = pd.Index([pattern.name for pattern in self.patterns], name="pattern")
        index = pd.RangeIndex(len(self), name="graph") if self.names is None else pd.Index(self.names, name="graph")
        if len(self.columns) <= 2000:
            return pd.DataFrame(table.toarray(), index=index, columns=header)
        sparse: Any = pd.DataFrame.sparse
        return sparse.from_spmatrix(table, index=index, columns=header)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table as a numpy ``.npz`` archive without pickled objects; see `anysize.counting.counts_file`."""
        from anysize.counting.counts_file import save

        save(self, path)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Counts:
        """Read a table that `save` wrote. Needs numpy and scipy alone."""
        from anysize.counting.counts_file import load

        return load(path)


def _quotients(above: IntArray, factor: IntArray | None, below: NDArray[np.object_]) -> NDArray[np.float64]:
    """above * factor / below, every quotient correctly rounded."""
    if not len(above):
        return np.zeros(0)
    if above.dtype.kind == "f":  # estimates
        return np.asarray(above * (1 if factor is None else factor) / below.astype(np.float64))
    largest = int(above.max()) * (1 if factor is None else int(factor.max()))
    if largest < EXACT and max(below) < EXACT:
        product = above if factor is None else above * factor
        return np.asarray(product / below.astype(np.float64))
    factors = np.ones(len(above), np.int64) if factor is None else factor
    triples = zip(above.tolist(), factors.tolist(), below, strict=True)
    return np.array([copies * ways / whole for copies, ways, whole in triples])
