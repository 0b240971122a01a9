"""Write tables of counts as text, CSV, JSON or Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from anysize._errors import naming_extra
from anysize._files import atomic_write
from anysize._memory import check_table
from anysize._text import csv_cell, escape_surrogates
from anysize.cli.input import graph_names
from anysize.cli.shared import text_table
from anysize.counting.counts import Counts, Over
from anysize.graphs.ragged import owners
from anysize.patterns.pattern import Pattern

if TYPE_CHECKING:
    from rich.table import Table


def summary(counts: Counts, over: Over, top: int) -> Table:
    """The most frequent patterns: copies and density of one graph, or totals and means over several."""
    single, estimated = len(counts) == 1, "estimated " * (counts.sampling is not None)
    totals = counts.totals()
    density = np.asarray(counts.densities(over).sum(axis=0)).ravel() / max(len(counts), 1)
    held = np.bincount(counts.matrix.indices, minlength=len(counts.columns))
    shown = np.argsort(-totals, kind="stable")[:top]
    shown = np.sort(shown) if len(counts.columns) <= top else shown
    if single:
        numbers = [f"{estimated}copies", f"{estimated}density ({over})", *["standard error"] * bool(estimated)]
    else:
        with_it = "graphs with hits" if estimated else "graphs with it"
        numbers = [f"{estimated}total copies", f"{estimated}mean density ({over})", with_it]
    table = text_table("pattern", right=numbers)
    for column in shown:
        cells = [counts.columns.pattern(column).name, f"{round(totals[column]):,}", f"{density[column]:.6g}"]
        if counts.sampling is not None and single:
            cells.append(f"{counts.standard_errors[0, column]:,.3g}")
        table.add_row(*cells, *([] if single else [f"{held[column]:,}"]))
    return table


def with_zeros(counts: Counts) -> Counts:
    """The same table with a cell for every graph and pattern, also for patterns that a graph does not contain."""

    def filled(matrix: csr_array[Any]) -> csr_array[Any]:
        n_rows, n_columns = counts.shape
        check_table((n_rows, n_columns), "the table with zeros", "leave out --zeros")
        column = np.tile(np.arange(n_columns), n_rows)
        return csr_array((matrix.toarray().ravel(), column, n_columns * np.arange(n_rows + 1)), shape=counts.shape)

    sampling = None if counts.sampling is None else counts.sampling.mapped(filled)
    return replace(counts, matrix=filled(counts.matrix), sampling=sampling)


def rows(counts: Counts, over: Over) -> Iterator[tuple[Any, ...]]:
    """(graph, vertices, pattern, copies, density) of every cell; for estimates also the standard error."""
    names = graph_names(counts)
    patterns = [pattern.name for pattern in counts.patterns]
    densities, matrix = counts.densities(over), counts.matrix
    errors = None if counts.sampling is None else counts.sampling.errors
    for row in range(len(counts)):
        for at in range(matrix.indptr[row], matrix.indptr[row + 1]):
            cells = (names[row], int(counts.sizes[row]), patterns[matrix.indices[at]], matrix.data[at].item())
            error = () if errors is None else (float(errors.data[at]),)
            yield *cells, float(densities.data[at]), *error


def header(counts: Counts) -> tuple[str, ...]:
    """The names of the columns of `rows`."""
    plain = ("graph", "vertices", "pattern", "copies", "density")
    return plain if counts.sampling is None else (*plain, "standard_error")


def write_csv(counts: Counts, over: Over, file: IO[str]) -> None:
    """One line per graph and pattern that occurs in it."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header(counts))
    writer.writerows(map(csv_cell, row) for row in rows(counts, over))


def write_json(counts: Counts, over: Over, file: IO[str]) -> None:
    """One JSON object: the patterns, and for each graph the copies and densities by pattern name."""
    graphs: list[dict[str, Any]] = [
        {"graph": name, "vertices": int(size), "copies": {}, "density": {}}
        for name, size in zip(graph_names(counts), counts.sizes, strict=True)
    ]
    names = [pattern.name for pattern in counts.patterns]
    densities, matrix = counts.densities(over), counts.matrix
    for row, graph in enumerate(graphs):
        for at in range(matrix.indptr[row], matrix.indptr[row + 1]):
            name = names[matrix.indices[at]]
            graph["copies"][name] = matrix.data[at].item()
            graph["density"][name] = float(densities.data[at])
            if counts.sampling is not None:
                graph.setdefault("standard_error", {})[name] = float(counts.sampling.errors.data[at])
    patterns = [described(pattern) for pattern in counts.patterns]
    json.dump({"over": over, "patterns": patterns, "graphs": graphs, "engines": list(map(str, counts.log))}, file)
    file.write("\n")


def described(pattern: Pattern) -> dict[str, Any]:
    """A pattern as JSON values."""
    names = ("name", "size", "edges", "colors", "automorphisms", "graph6", "atlas")
    return {name: getattr(pattern, name) for name in names}


@naming_extra("Parquet")
def write_parquet(counts: Counts, over: Over, path: str) -> None:
    """The same rows as in CSV."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = pa.array(map(escape_surrogates, graph_names(counts)), pa.string())
    patterns = pa.array([escape_surrogates(pattern.name) for pattern in counts.patterns], pa.string())
    matrix = counts.matrix
    row = owners(matrix.indptr)
    columns = (
        pa.DictionaryArray.from_arrays(pa.array(row, pa.int32()), names),
        pa.array(counts.sizes[row]),
        pa.DictionaryArray.from_arrays(pa.array(matrix.indices, pa.int32()), patterns),
        pa.array(matrix.data),
        pa.array(counts.densities(over).data),
        *([] if counts.sampling is None else [pa.array(counts.sampling.errors.data)]),
    )
    with atomic_write(path) as part:
        pq.write_table(pa.table(dict(zip(header(counts), columns, strict=True))), part)
