"""`anysize motifs`: find the patterns that a graph has more or less often than random graphs."""

from __future__ import annotations

import csv
import json as writer
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from anysize._text import csv_cell
from anysize.cli.input import Reading, read_input, select_graph, with_reading_options
from anysize.cli.shared import (
    FIGURES,
    MAX_SEED,
    PAGES,
    check_out,
    console,
    errors,
    handle_errors,
    late_progress,
    open_output,
    parse_sizes,
)

if TYPE_CHECKING:
    from anysize.graphs.graphset import GraphSet
    from anysize.networks.significance import Motifs


class NullOption(StrEnum):
    degrees, stubs, edges, colors = "degrees", "stubs", "edges", "colors"


FORMATS = {**PAGES, **FIGURES, ".csv": "CSV", ".json": "JSON"}


@with_reading_options("labels", "y")
def motifs(
    file: Annotated[Path, typer.Argument(help="A file with one graph, anything that anysize count reads.")],
    reading: Reading,
    k: Annotated[str, typer.Option("--k", help="Pattern size 3..7, or several: 4, 3,4 or 3-5.")] = "4",
    null: Annotated[
        NullOption,
        typer.Option(help="What random graphs keep: degrees, edges (their number), colors (of all neighbors)."),
    ] = NullOption.degrees,
    samples: Annotated[int, typer.Option(help="Number of random graphs.", min=2)] = 100,
    graph: Annotated[str | None, typer.Option(help="One of the graphs of the file: its name or number from 0.")] = None,
    colors: Annotated[bool, typer.Option("--colors/--no-colors", help="Distinguish vertices by color.")] = True,
    seed: Annotated[int, typer.Option(help="Seed of the random graphs.", min=0, max=MAX_SEED)] = 0,
    threads: Annotated[int | None, typer.Option(help="Number of threads; default: all cores.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Also write a page (.html), a figure (.png, .svg, .pdf), .csv or .json.")
    ] = None,
    top: Annotated[int, typer.Option(help="Number of patterns in the text table.", min=1)] = 30,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Compare the patterns of a graph with those of random graphs: z-scores, p-values, significance profile."""
    with handle_errors():
        from anysize import motifs

        output = check_out(out, FORMATS, ending_optional=False)
        given = dict(reading)
        directions = given.get("directed") is not False
        if not directions:  # undirected patterns of any graph, not only of edge lists
            del given["directed"]
        chosen = _choose(read_input(file, given, colors), graph, file)
        with late_progress("comparing with random graphs") as report:
            result = motifs(
                chosen, parse_sizes(k), null.value, samples, colors=colors, directions=directions, seed=seed,
                threads=threads, progress=report,
            )  # fmt: skip
        if output in ("CSV", "JSON"):
            with open_output(out) as opened:
                _write_csv(result, opened) if output == "CSV" else writer.dump(result.to_json(), opened)
        elif out is not None:
            result.save(out)
            errors.print(f"Wrote {out}.")
        if json:
            print(writer.dumps(result.to_json(), allow_nan=False))
        else:
            console.print(result.text(top), soft_wrap=True)


def _choose(graphs: GraphSet, name: str | None, file: Path) -> GraphSet:
    """The graph of a name or number, or the only one of the file."""
    if name is None:
        if len(graphs) != 1:
            raise ValueError(f"{file} has {len(graphs)} graphs, and motifs are found in one at a time; add --graph.")
        return graphs
    return graphs[select_graph(graphs, name, str(file))]


def _write_csv(result: Motifs, file: IO[str]) -> None:
    """One line per pattern."""
    rows = result.to_json()["patterns"]
    columns = ["pattern", "copies", "mean", "std", "z", "p", "q", "profile", "abundance"]
    table = csv.writer(file, lineterminator="\n")
    table.writerow(columns)
    table.writerows([csv_cell(row[name]) for name in columns] for row in rows)
