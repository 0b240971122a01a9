"""Counts: how often each pattern occurs in each graph, exactly, as a sparse table; densities from it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import comb, perm
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from anysize.colours import ColourName
from anysize.counting.columns import Columns, unite
from anysize.orbits import MAX_SIZE
from anysize.patterns import Pattern, class_table, representatives

IntArray = NDArray[np.int64]
Over = Literal["subsets", "maps", "connected"]
OVER: tuple[Over, ...] = ("subsets", "maps", "connected")

FORMAT = "anysize counts 1"
EXACT = 2**53  # integers below it are floats without rounding


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """Induced copies of patterns (columns) in graphs (rows).

    ``matrix`` is a scipy ``csr_array`` of int64, ``columns`` says what its columns are, ``sizes`` holds the
    vertices of each graph. Plain tables have the whole catalogue as columns, coloured ones the patterns that
    occur, both in canonical order. Labels and graph names are carried along from the graph set.
    """

    matrix: csr_array[np.int64]
    columns: Columns
    sizes: IntArray
    y: NDArray[Any] | None = None
    names: tuple[str, ...] | None = None
    log: tuple[str, ...] = ()

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """One `Pattern` per column."""
        return self.columns.patterns

    @property
    def palette(self) -> tuple[ColourName, ...]:
        """The colour names that patterns may use; empty in a plain table."""
        return self.columns.palette

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.sizes), len(self.columns)

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        kinds = "plain" if self.columns.colours is None else "coloured"
        sizes = ", ".join(str(k) for k in np.unique(self.columns.size))
        return f"Counts({len(self)} graphs x {len(self.columns)} {kinds} patterns, k = {sizes or '-'})"

    def explain(self) -> str:
        """Which engine counted which graphs, and why."""
        return "\n".join(self.log)

    # ---- parts and sums ------------------------------------------------------------------------

    def __getitem__(self, key: int | slice | ArrayLike) -> Counts:
        """The rows of one graph (an integer) or of several (a slice, integers, booleans)."""
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
        )

    def select(self, columns: ArrayLike) -> Counts:
        """The same graphs with some of the columns only (integers or booleans)."""
        chosen = np.asarray(columns)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.int64)
        return replace(self, matrix=csr_array(self.matrix[:, chosen]), columns=self.columns[chosen])

    def align(self, reference: Counts | Sequence[Pattern]) -> Counts:
        """The same graphs over the columns of another table (or over these patterns), in that order.

        Patterns are matched by their edges and colour names. Those the reference lacks are left out, and
        those that do not occur here have zero columns.
        """
        target = reference.columns if isinstance(reference, Counts) else Columns.of(reference)
        united, (ours, theirs) = unite([self.columns, target])
        place = np.full(len(united), -1, np.int64)
        place[theirs] = np.arange(len(target))
        coo = self.matrix.tocoo()
        column = place[ours][coo.col]
        keep = column >= 0
        matrix = csr_array((coo.data[keep], (coo.row[keep], column[keep])), shape=(len(self), len(target)))
        return replace(self, matrix=matrix, columns=target)

    def top(self, n: int) -> Counts:
        """The n most common patterns over all graphs, in canonical order; ties go to the earlier one."""
        return self.select(np.sort(np.argsort(-self.totals(), kind="stable")[:n]))

    def totals(self) -> NDArray[Any]:
        """Copies of every pattern in all graphs together: int64, or Python integers where they do not fit."""
        rounded = np.bincount(self.matrix.indices, self.matrix.data, minlength=len(self.columns))
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
        parts = [table.matrix.tocoo() for table in tables]
        first = np.cumsum([0] + [len(table) for table in tables])
        matrix = csr_array(
            (
                np.concatenate([part.data for part in parts]),
                (
                    np.concatenate([part.row + start for part, start in zip(parts, first, strict=False)]),
                    np.concatenate([place[part.col] for part, place in zip(parts, places, strict=True)]),
                ),
            ),
            shape=(int(first[-1]), len(columns)),
        )
        labelled, named = all(t.y is not None for t in tables), all(t.names is not None for t in tables)
        return Counts(
            matrix,
            columns,
            np.concatenate([table.sizes for table in tables]),
            np.concatenate([t.y for t in tables if t.y is not None]) if labelled else None,
            tuple(name for t in tables for name in t.names or ()) if named else None,
            tuple(dict.fromkeys(line for table in tables for line in table.log)),
        )

    # ---- densities -----------------------------------------------------------------------------

    def densities(self, over: Over = "subsets") -> csr_array[np.float64]:
        """Counts as shares, per pattern size k, in a graph of N vertices.

        ``subsets``: copies / C(N, k). ``maps``: copies * |Aut F| / (N)_k, the induced homomorphism density;
        the symmetries respect colours. ``connected``: copies / number of connected k-subsets that this table
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
        """Write the table as a numpy ``.npz`` archive without pickled objects.

        ``data, indices, indptr`` are the CSR table, ``sizes`` the vertices of the graphs, ``pattern_size``
        and ``pattern_code`` the patterns (bit j (j - 1) / 2 + i for the edge i < j), ``pattern_colours``
        their colours as positions in the palette; ``about`` is JSON in UTF-8: format, palette, names, log.
        """
        about = {
            "format": FORMAT,
            "shape": list(self.shape),
            "palette": list(self.palette),
            "names": None if self.names is None else list(self.names),
            "log": list(self.log),
        }
        codes = np.zeros(len(self.columns), np.uint32)
        for k in np.unique(self.columns.size):
            here = self.columns.size == k
            codes[here] = np.array(representatives(int(k)), np.uint32)[self.columns.place[here]]
        arrays: dict[str, NDArray[Any]] = {
            "about": np.frombuffer(json.dumps(about).encode(), np.uint8),
            "data": self.matrix.data,
            "indices": self.matrix.indices,
            "indptr": self.matrix.indptr,
            "sizes": self.sizes,
            "pattern_size": self.columns.size,
            "pattern_code": codes,
        }
        if self.columns.colours is not None:
            arrays["pattern_colours"] = self.columns.colours
        if self.y is not None:
            if self.y.dtype == object:
                raise ValueError("labels are Python objects, which need pickle to be saved; use numbers or strings")
            arrays["y"] = self.y
        aside = f"{os.fspath(path)}.{os.getpid()}.part"
        try:
            with open(aside, "wb") as file:
                np.savez_compressed(file, **cast(dict[str, Any], arrays))
            os.replace(aside, path)
        finally:
            if os.path.exists(aside):
                os.remove(aside)

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Counts:
        """Read a table that `save` wrote. Needs numpy and scipy alone."""
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                about = json.loads(archive["about"].tobytes())
                if about.get("format") != FORMAT:
                    raise ValueError(f"format {about.get('format')!r}, expected {FORMAT!r}")
                return _from_arrays(about, {name: archive[name] for name in archive.files})
        except OSError as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise ValueError(f"{os.fspath(path)} is not a table of counts: {error}") from error
        except Exception as error:  # a zip, JSON or numpy complaint: the file is damaged or foreign
            raise ValueError(f"{os.fspath(path)} is not a table of counts: {error}") from error


def _from_arrays(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Counts:
    size = arrays["pattern_size"].astype(np.uint8)
    place = np.zeros(len(size), np.int16)
    if len(size) and not 1 <= size.min() <= size.max() <= MAX_SIZE:
        raise ValueError("pattern sizes out of range")
    for k in np.unique(size):
        place[size == k] = class_table(int(k))[arrays["pattern_code"][size == k]]
    if (place < 0).any():
        raise ValueError("codes of patterns that are not connected")
    colours = arrays.get("pattern_colours")
    if colours is not None and colours.max(initial=0) >= max(len(about["palette"]), 1):
        raise ValueError("colours that are not in the palette")
    columns = Columns(size, place, colours, tuple(about["palette"]))
    shape = (len(arrays["sizes"]), len(columns))
    matrix = csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=shape)
    matrix.check_format(full_check=True)
    names = None if about["names"] is None else tuple(about["names"])
    return Counts(matrix, columns, arrays["sizes"], arrays.get("y"), names, tuple(about["log"]))


def _quotients(above: IntArray, factor: IntArray | None, below: NDArray[np.object_]) -> NDArray[np.float64]:
    """above * factor / below, every quotient correctly rounded."""
    if not len(above):
        return np.zeros(0)
    largest = int(above.max()) * (1 if factor is None else int(factor.max()))
    if largest < EXACT and max(below) < EXACT:
        product = above if factor is None else above * factor
        return np.asarray(product / below.astype(np.float64))
    factors = np.ones(len(above), np.int64) if factor is None else factor
    triples = zip(above.tolist(), factors.tolist(), below, strict=True)
    return np.array([copies * ways / whole for copies, ways, whole in triples])
