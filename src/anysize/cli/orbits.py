"""`anysize count --per vertex` and `--per edge`: write orbit counts."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._errors import naming_extra
from anysize._files import atomic_write
from anysize._text import csv_cell, escape_surrogates
from anysize._typing import IntArray
from anysize.cli.input import graph_names
from anysize.cli.shared import PlainConsole, console, errors, late_progress, open_output, parse_sizes, text_table
from anysize.graphs.ragged import owners

if TYPE_CHECKING:
    from rich.table import Table

    from anysize.counting.orbits.numbering import EdgePosition, Position
    from anysize.graphs.graphset import GraphSet


class _Counted(NamedTuple):
    """Orbit counts of a set: a dense table of the usual orbits, or a sparse one of orbits with names."""

    table: IntArray | csr_array[np.int64]
    positions: Sequence[Position | EdgePosition]
    names: Sequence[str]  # of orbits
    per: str
    first: IntArray
    vertices: IntArray
    vertex_names: NDArray[Any] | None  # of the ends of every row; None if these are their numbers

    @property
    def header(self) -> list[str]:
        """The names of the columns that say which row it is."""
        return ["graph", *self.keys()]

    def keys(self) -> dict[str, NDArray[Any]]:
        """The columns of vertices, and of their names."""
        ends, names = (("vertex",), ("name",)) if self.per == "vertex" else (("u", "v"), ("u_name", "v_name"))
        keys = dict(zip(ends, self.vertices.T, strict=True))
        if self.vertex_names is not None:
            keys |= dict(zip(names, self.vertex_names.T, strict=True))
        return keys


def write_orbits(
    graphs: GraphSet, k: str, per: str, edges: bool, output: str, out: Path | None, threads: int | None, top: int
) -> None:
    """Count the orbits of all vertices or edges, and write them in the format ``output``."""
    sizes, smallest = parse_sizes(k), 2 if per == "vertex" else 3
    if len(sizes) > 1:
        raise ValueError(f"--per {per} takes one size, and counts the sizes {smallest} to k together; got --k {k}.")
    counted = _count(graphs, sizes[0], per, edges, threads)
    if output in ("parquet", "npz"):
        assert out is not None
        _write_npz(counted, out) if output == "npz" else _write_parquet(graphs, counted, str(out))
        errors.print(f"Wrote {out}.")
    else:
        with open_output(out) as file:
            if output == "csv":
                _write_csv(graphs, counted, file)
            elif output == "json":
                _write_json(graphs, counted, file)
            else:
                printer = PlainConsole(file=file, width=110) if out is not None else console
                amount = len(counted.positions)
                printer.print(f"{graphs}: {amount} orbits of patterns on {smallest} to {sizes[0]} vertices")
                printer.print(_summary(counted, amount if isinstance(counted.table, np.ndarray) else top))
                if not isinstance(counted.table, np.ndarray) and amount > top:
                    printer.print(f"The {top} most common of {amount}; --top shows more.")
                if out is None:
                    printer.print(f"The counts of every {per}: --format csv, or --out FILE.csv, .json, .npz, .parquet.")


def _count(graphs: GraphSet, k: int, per: str, edges: bool, threads: int | None) -> _Counted:
    from anysize import edge_orbit_positions, orbit_positions, orbits
    from anysize.counting.orbits.table import OrbitCounts, rows_of

    with late_progress("counting") as report:
        counted = orbits(graphs, k, edges=edges, per=per, threads=threads, progress=report)
    if isinstance(counted, OrbitCounts):
        first, vertices = counted.first, counted.vertices
        held = _vertex_names(graphs, first, vertices)
        return _Counted(counted.matrix, counted.positions, counted.names, per, first, vertices, held)
    positions = orbit_positions(k) if per == "vertex" else edge_orbit_positions(k)
    rows = counted if isinstance(counted, list) else [counted]
    table = np.concatenate([np.empty((0, len(positions)), np.int64), *rows])
    names = [f"orbit_{number}" for number in range(len(positions))]
    vertices, first = rows_of(graphs, per)
    return _Counted(table, positions, names, per, first, vertices, _vertex_names(graphs, first, vertices))


def _vertex_names(graphs: GraphSet, first: IntArray, vertices: IntArray) -> NDArray[Any] | None:
    """The names of the vertices of every row, if they have some."""
    if graphs.vertex_names is None:
        return None
    return np.asarray(graphs.vertex_names[vertices + graphs.first[owners(first)][:, None]])


def _summary(counted: _Counted, top: int) -> Table:
    """The orbits, or those with the largest sums."""
    table, rows = counted.table, max(len(counted.vertices), 1)
    sums = np.asarray(table.sum(axis=0, dtype=np.float64)).ravel()
    if isinstance(table, np.ndarray):
        held, largest = np.count_nonzero(table, axis=0), table.max(axis=0, initial=0)
    else:
        held, largest = np.bincount(table.indices, minlength=table.shape[1]), _largest(table)
    plural = "vertices" if counted.per == "vertex" else "edges"
    numbers = f"mean over {plural}", "largest", f"{plural} with it"
    shown = text_table("orbit", "pattern", f"{plural} of the pattern", right=numbers)
    for number in np.sort(np.argsort(-sums, kind="stable")[:top]):
        _, pattern, places = counted.positions[number]
        position = ", ".join(str(at) if isinstance(at, int) else f"{at[0]}-{at[1]}" for at in places)
        amounts = f"{sums[number] / rows:,.6g}", f"{largest[number]:,}", f"{held[number]:,}"
        shown.add_row(str(number), pattern.name, position, *amounts)
    return shown


def _largest(table: csr_array[np.int64]) -> IntArray:
    return np.asarray(table.max(axis=0).todense() if table.shape[0] else np.zeros(table.shape[1]), np.int64).ravel()


def _rows(graphs: GraphSet, counted: _Counted) -> Iterator[list[Any]]:
    """Graph, vertex (or both ends) and all counts of every row; a line for every count that is not 0 if sparse."""
    names = graph_names(graphs)
    keys = zip(owners(counted.first).tolist(), *(column.tolist() for column in counted.keys().values()), strict=True)
    for row, (graph, *vertices) in enumerate(keys):
        key, table = [names[graph], *vertices], counted.table
        if isinstance(table, np.ndarray):
            yield [*key, *table[row].tolist()]
        else:
            cells = slice(*table.indptr[row : row + 2].tolist())
            for number, copies in zip(table.indices[cells].tolist(), table.data[cells].tolist(), strict=True):
                yield [*key, counted.names[number], copies]


def _write_csv(graphs: GraphSet, counted: _Counted, file: IO[str]) -> None:
    """One line per vertex or edge, with a column for every orbit; one line per count that is not 0 if sparse."""
    writer = csv.writer(file, lineterminator="\n")
    dense = isinstance(counted.table, np.ndarray)
    writer.writerow([*counted.header, *(counted.names if dense else ("orbit", "copies"))])
    writer.writerows(map(csv_cell, row) for row in _rows(graphs, counted))


def _write_json(graphs: GraphSet, counted: _Counted, file: IO[str]) -> None:
    """One JSON object: the orbits, and the graphs with the counts of every vertex or edge: a list, or by name."""
    places = "vertices" if counted.per == "vertex" else "edges_of_orbit"
    described = [
        {"orbit": number, "pattern": pattern.name, "edges": pattern.edges, places: at}
        | ({} if isinstance(counted.table, np.ndarray) else {"name": name, "colors": pattern.colors})
        for (number, pattern, at), name in zip(counted.positions, counted.names, strict=True)
    ]
    result: list[dict[str, Any]] = []
    for graph, name in enumerate(graph_names(graphs)):
        rows = slice(*counted.first[graph : graph + 2].tolist())
        result.append({"graph": name, "counts": _as_values(counted, rows)})
        if counted.per == "edge":
            result[-1]["edges"] = counted.vertices[rows].tolist()
        if counted.vertex_names is not None:
            held = counted.vertex_names[rows]
            result[-1]["names"] = (held[:, 0] if counted.per == "vertex" else held).tolist()
    json.dump({"orbits": described, "graphs": result}, file)
    file.write("\n")


def _as_values(counted: _Counted, rows: slice) -> list[Any]:
    table = counted.table
    if isinstance(table, np.ndarray):
        counts: list[Any] = table[rows].tolist()
        return counts
    values: list[Any] = []
    for row in range(rows.start, rows.stop):
        cells = slice(*table.indptr[row : row + 2].tolist())
        numbers, copies = table.indices[cells].tolist(), table.data[cells].tolist()
        values.append({counted.names[number]: amount for number, amount in zip(numbers, copies, strict=True)})
    return values


def _write_npz(counted: _Counted, out: Path) -> None:
    """The table, or the arrays of a sparse one (CSR), and the first row of every graph."""
    table = counted.table
    arrays: dict[str, Any] = {"first": counted.first}
    if counted.per == "edge":
        arrays["edges"] = counted.vertices
    if counted.vertex_names is not None:
        arrays["vertex_names"] = _plain_array(counted.vertex_names)
    if isinstance(table, np.ndarray):
        arrays["orbits"] = table
    else:
        arrays |= {"data": table.data, "indices": table.indices, "indptr": table.indptr}
        arrays["names"] = np.array([escape_surrogates(name) for name in counted.names], np.str_)
    with atomic_write(out) as part, open(part, "wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _plain_array(names: NDArray[Any]) -> NDArray[Any]:
    """Integers, or strings that files can hold."""
    if names.dtype.kind != "O":
        return names
    return np.array([escape_surrogates(name) for name in names.ravel()], np.str_).reshape(names.shape)


@naming_extra("Parquet")
def _write_parquet(graphs: GraphSet, counted: _Counted, path: str) -> None:
    """The same rows as in CSV."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = counted.table
    row = np.arange(len(counted.vertices)) if isinstance(table, np.ndarray) else owners(table.indptr)
    names = pa.array([escape_surrogates(name) for name in graph_names(graphs)], pa.string())
    graph = pa.array(owners(counted.first)[row], pa.int32())
    columns = {"graph": pa.DictionaryArray.from_arrays(graph, names)}
    columns |= {name: pa.array(_plain_array(column[row])) for name, column in counted.keys().items()}
    if isinstance(table, np.ndarray):
        columns |= dict(zip(counted.names, map(pa.array, table.T), strict=True))
    else:
        orbits = pa.array([escape_surrogates(name) for name in counted.names], pa.string())
        number = pa.array(table.indices.astype(np.int32), pa.int32())
        columns |= {"orbit": pa.DictionaryArray.from_arrays(number, orbits), "copies": pa.array(table.data)}
    with atomic_write(path) as part:
        pq.write_table(pa.table(columns), part)
