"""`anysize count`, `anysize patterns` and `anysize demo`: count patterns, show them, write files to try."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anysize._text import plural
from anysize.cli.input import Reading, read_input, with_reading_options
from anysize.cli.shared import (
    MAX_SEED,
    CacheOption,
    PlainConsole,
    check_out,
    console,
    errors,
    handle_errors,
    late_progress,
    open_output,
    parse_sizes,
    requested_format,
)

if TYPE_CHECKING:
    from anysize.counting.counts import Counts, Over


class OutputFormat(StrEnum):
    text, csv, json, parquet, npz = "text", "csv", "json", "parquet", "npz"


FORMATS = {
    ".txt": OutputFormat.text,
    ".csv": OutputFormat.csv,
    ".json": OutputFormat.json,
    ".parquet": OutputFormat.parquet,
    ".npz": OutputFormat.npz,
}


class Denominator(StrEnum):
    subsets, maps, connected = "subsets", "maps", "connected"


class Per(StrEnum):
    graph, vertex, edge = "graph", "vertex", "edge"


@with_reading_options()
def count(
    file: Annotated[
        Path,
        typer.Argument(help="TU folder or zip, edge list, matrix, GraphML, JSON lines, table of SMILES, folder."),
    ],
    reading: Reading,
    k: Annotated[str, typer.Option("--k", help="Pattern size 1..7, or several: 5, 3,4 or 1-4.")] = "4",
    colors: Annotated[bool, typer.Option("--colors/--no-colors", help="Distinguish vertices by color.")] = True,
    edges: Annotated[
        bool,
        typer.Option("--edges", help="Distinguish edges by color and direction, for patterns of up to 5 vertices."),
    ] = False,
    per: Annotated[
        Per,
        typer.Option(help="vertex, edge: orbit counts of every vertex (k = 2..5) or every edge (k = 3..5)."),
    ] = Per.graph,
    over: Annotated[Denominator, typer.Option(help="Denominator of densities.")] = Denominator.subsets,
    format: Annotated[
        OutputFormat | None, typer.Option(help="Output format; default: by the ending of --out, or text.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write to this file.")] = None,
    engine: Annotated[str, typer.Option(help="auto, the name of an engine, or sample.")] = "auto",
    samples: Annotated[int | None, typer.Option(help="With --engine sample: samples per graph.")] = None,
    rel_error: Annotated[float | None, typer.Option(help="With --engine sample: target error, e.g. 0.01.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the samples.", min=0, max=MAX_SEED)] = 0,
    budget: Annotated[float | None, typer.Option(help="Sample if exact counting would take longer (seconds).")] = None,
    max_memory: Annotated[str | None, typer.Option(help="Memory limit for counting, e.g. 4GiB.")] = None,
    cache: CacheOption = None,
    threads: Annotated[int | None, typer.Option(help="Number of threads; default: all cores.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Count on a Ray cluster: auto, ADDRESS or local:CORES.")] = None,
    skip: Annotated[bool, typer.Option("--skip", help="Leave out graphs that cannot be counted.")] = False,
    zeros: Annotated[
        bool, typer.Option("--zeros", help="CSV, JSON and Parquet: also patterns that a graph does not contain.")
    ] = False,
    top: Annotated[int, typer.Option(help="Number of patterns in the text table.", min=1)] = 25,
    explain: Annotated[bool, typer.Option("--explain", help="Print which engine was used, and why.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Same as --format json.")] = False,
) -> None:
    """Count the connected induced patterns of the graphs in a file."""
    with handle_errors():
        from anysize import count

        output = check_out(out, FORMATS, requested_format(format, json, OutputFormat.json)) or OutputFormat.text
        if out is None and output in (OutputFormat.parquet, OutputFormat.npz):
            raise ValueError(f"The format {output} is not text; write it to a file with --out FILE.")
        if zeros and output in (OutputFormat.text, OutputFormat.npz):
            raise ValueError(f"--zeros goes with the formats csv, json and parquet; got {output}.")
        if per is not Per.graph:
            given = {
                "--engine": engine != "auto", "--samples": samples, "--rel-error": rel_error, "--budget": budget,
                "--max-memory": max_memory, "--cache": cache, "--cluster": cluster, "--skip": skip, "--zeros": zeros,
                "--explain": explain, "--over": over is not Denominator.subsets,
            }  # fmt: skip
            unused = [option for option, value in given.items() if value not in (None, False)]
            if unused:
                raise ValueError(f"--per {per} counts all orbits exactly, and does not go with {unused[0]}.")
            from anysize.cli.orbits import write_orbits

            write_orbits(read_input(file, reading, colors), k, per.value, edges, output, out, threads, top)
            return
        graphs = read_input(file, reading)
        with _on_cluster(cluster), late_progress("counting") as report:
            counts = count(
                graphs, parse_sizes(k), colors, engine, samples=samples, rel_error=rel_error, seed=seed,
                budget_s=budget, max_memory=max_memory, cache=cache, threads=threads,
                errors="skip" if skip else "raise", progress=report, edges=edges,
            )  # fmt: skip
        if explain:
            errors.print(counts.explain(), soft_wrap=True)
        _write(counts, over.value, output, out, top, str(graphs), zeros)


def patterns(
    which: Annotated[
        str, typer.Argument(metavar="K|NAME", help="Pattern size 1..7; or a name, an atlas number (G16) or graph6.")
    ],
    draw: Annotated[bool, typer.Option("--draw/--no-draw", help="Draw each pattern.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write a picture to this .svg file.")] = None,
) -> None:
    """List the connected patterns on k vertices, or one pattern: name, number in the atlas of graphs, graph6, edges."""
    with handle_errors():
        import json as writer

        from anysize.patterns.pattern import Pattern, connected_patterns

        shown = connected_patterns(int(which)) if which.isdecimal() else (Pattern.named(which),)
        if out is not None:
            from anysize.plots.patterns import patterns_svg

            if out.suffix != ".svg":
                raise ValueError(f"--out takes a file that ends with .svg; got {out}.")
            with open_output(out) as file:
                file.write(patterns_svg(shown))
            return
        if json:
            from anysize.cli.count_output import described

            print(writer.dumps([described(pattern) for pattern in shown]))
            return
        for pattern in shown:
            edges = " ".join(f"{i}-{j}" for i, j in pattern.edges)
            facts = f"G{pattern.atlas}  {pattern.graph6}  {pattern.automorphisms} automorphisms  {edges}"
            console.print(f"{pattern.name}  {facts}", soft_wrap=True)
            if draw:
                console.print(pattern.draw() + "\n")


def demo(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the files; it is made if it is missing.")],
) -> None:
    """Write small files to try the other commands on: TU sets, a table of SMILES, edge lists, matrices."""
    with handle_errors():
        from anysize.io.demo import CONTENT, write_demo

        write_demo(folder)
        width = max(map(len, CONTENT))
        for name, content in CONTENT.items():
            console.print(f"{name:{width}}  {content}", soft_wrap=True)
        console.print(f"Try:  cd {folder} && anysize compare TRAIN.zip --seeds 2", soft_wrap=True)


@contextmanager
def _on_cluster(address: str | None) -> Iterator[None]:
    """Run the block on a cluster, if an address is given."""
    if address is None:
        yield
        return
    from anysize import cluster

    with redirect_stdout(sys.stderr), cluster(address):  # Ray reports dead workers on standard output
        yield


def _write(
    counts: Counts, over: Over, output: OutputFormat, out: Path | None, top: int, title: str, zeros: bool
) -> None:
    from anysize.cli import count_output

    if zeros:
        counts = count_output.with_zeros(counts)
    if output in (OutputFormat.parquet, OutputFormat.npz):
        assert out is not None
        counts.save(out) if output is OutputFormat.npz else count_output.write_parquet(counts, over, str(out))
        errors.print(f"Wrote {out}.")
    else:
        with open_output(out) as file:
            if output is OutputFormat.csv:
                count_output.write_csv(counts, over, file)
            elif output is OutputFormat.json:
                count_output.write_json(counts, over, file)
            else:
                printer = PlainConsole(file=file, width=110) if out is not None else console
                printer.print(f"{title}: {plural(len(counts.columns), 'pattern')}")
                printer.print(count_output.summary(counts, over, top))
                if counts.sampling is not None:
                    printer.print(f"Estimates, no exact counts: {'; '.join(map(str, counts.log))}", soft_wrap=True)
                if len(counts.columns) > top:
                    printer.print(f"The {top} most common of {len(counts.columns)}; --top shows more.")
