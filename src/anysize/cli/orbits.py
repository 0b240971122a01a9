"""`anysize count --per vertex`: write orbit counts."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from rich import box
from rich.table import Table

from anysize._files import atomic_write
from anysize._text import csv_cell, visible_halves
from anysize._typing import IntArray
from anysize.cli.input import graph_names
from anysize.cli.shared import PlainConsole, console, errors, late_progress, open_output, parse_sizes
from anysize.graphs.ragged import owners

if TYPE_CHECKING:
    from anysize.graphs.graphset import GraphSet


def write_orbits(graphs: GraphSet, k: str, output: str, out: Path | None, threads: int | None) -> None:
    """Count the orbits of all vertices, and write them in the format ``output``."""
    from anysize import orbits

    sizes = parse_sizes(k)
    if len(sizes) > 1:
        raise ValueError(f"--per vertex takes one size, and counts the sizes 2 to k together; got --k {k}.")
    if graphs.colors is not None:
        raise ValueError("--per vertex counts patterns without colors, and these graphs have colors; add --no-colors.")
    with late_progress("counting") as report:
        counted = orbits(graphs, sizes[0], threads=threads, progress=report)
    rows = counted if isinstance(counted, list) else [counted]
    width = counted.shape[1] if not isinstance(counted, list) else rows[0].shape[1] if rows else 0
    table = np.concatenate([np.empty((0, width), np.int64), *rows])
    if output == "parquet":
        _write_parquet(graphs, table, str(out))
    elif output == "npz":
        assert out is not None
        with atomic_write(out) as part, open(part, "wb") as file:
            np.savez_compressed(file, orbits=table, first=graphs.first)
    else:
        with open_output(out) as file:
            if output == "csv":
                _write_csv(graphs, table, file)
            elif output == "json":
                _write_json(graphs, rows, file)
            else:
                printer = PlainConsole(file=file, width=110) if out is not None else console
                printer.print(f"{graphs}: {table.shape[1]} orbits of patterns on 2 to {sizes[0]} vertices")
                printer.print(_summary(table, sizes[0]))
                if out is None:
                    printer.print("The counts of every vertex: --format csv, or --out FILE.csv, .json, .npz, .parquet.")
    if out is not None:
        errors.print(f"Wrote {out}.")


def _names(table: IntArray) -> list[str]:
    return [f"orbit_{number}" for number in range(table.shape[1])]


def _vertices(graphs: GraphSet) -> tuple[IntArray, IntArray]:
    """The graph of every vertex, and its number there."""
    graph = owners(graphs.first)
    return graph, np.arange(len(graph)) - graphs.first[graph]


def _summary(table: IntArray, k: int) -> Table:
    from anysize import orbit_positions

    shown = Table(box=box.SIMPLE, header_style="bold")
    for heading in ("orbit", "pattern", "vertices of the pattern"):
        shown.add_column(heading)
    for heading in ("mean over vertices", "largest", "vertices with it"):
        shown.add_column(heading, justify="right")
    for number, pattern, vertices in orbit_positions(k):
        column = table[:, number]
        mean = column.astype(np.float64).mean() if len(column) else 0.0
        amounts = f"{mean:,.6g}", f"{column.max(initial=0):,}", f"{np.count_nonzero(column):,}"
        shown.add_row(str(number), pattern.name, ", ".join(map(str, vertices)), *amounts)
    return shown


def _write_csv(graphs: GraphSet, table: IntArray, file: IO[str]) -> None:
    """One line per vertex: graph, vertex, and one column for every orbit."""
    names = [csv_cell(name) for name in graph_names(graphs)]
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["graph", "vertex", *_names(table)])
    for graph, vertex, counts in zip(*_vertices(graphs), table, strict=True):
        writer.writerow([names[graph], vertex, *counts.tolist()])


def _write_json(graphs: GraphSet, rows: list[IntArray], file: IO[str]) -> None:
    """One JSON object: the graphs with one list of counts per vertex, and the orbits."""
    from anysize import orbit_positions

    width = rows[0].shape[1] if rows else 0
    described = [
        {"orbit": number, "pattern": pattern.name, "edges": pattern.edges, "vertices": vertices}
        for number, pattern, vertices in orbit_positions(5)[:width]
    ]
    counted = [{"graph": name, "counts": row.tolist()} for name, row in zip(graph_names(graphs), rows, strict=True)]
    json.dump({"orbits": described, "graphs": counted}, file)
    file.write("\n")


def _write_parquet(graphs: GraphSet, table: IntArray, path: str) -> None:
    """The same rows as in CSV."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ImportError("Parquet needs pyarrow: pip install 'anysize[table]'") from error
    graph, vertex = _vertices(graphs)
    names = pa.array([visible_halves(name) for name in graph_names(graphs)], pa.string())
    columns = {"graph": pa.DictionaryArray.from_arrays(pa.array(graph, pa.int32()), names), "vertex": pa.array(vertex)}
    columns |= dict(zip(_names(table), map(pa.array, table.T), strict=True))
    with atomic_write(path) as part:
        pq.write_table(pa.table(columns), part)
