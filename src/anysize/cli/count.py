"""`anysize count`, `anysize patterns` and `anysize demo`: count patterns and show them."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from anysize._text import plural
from anysize.cli.input import ColorOption, LabelOption, SmilesOption, read_input
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


def count(
    file: Annotated[
        Path,
        typer.Argument(help="TU folder or zip, edge list, matrix, GraphML, JSON lines, table of SMILES, folder."),
    ],
    k: Annotated[str, typer.Option("--k", help="Pattern size 1..7, or several: 5, 3,4 or 1-4.")] = "4",
    colors: Annotated[bool, typer.Option("--colors/--no-colors", help="Distinguish vertices by color.")] = True,
    smiles: SmilesOption = None,
    y: LabelOption = None,
    color: ColorOption = None,
    over: Annotated[Denominator, typer.Option(help="Denominator of densities.")] = Denominator.subsets,
    format: Annotated[
        OutputFormat | None, typer.Option(help="Output format; default: by the ending of --out, or text.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write to this file.")] = None,
    method: Annotated[str, typer.Option(help="auto, the name of an engine, or sample.")] = "auto",
    samples: Annotated[int | None, typer.Option(help="With --method sample: samples per graph.")] = None,
    rel_error: Annotated[float | None, typer.Option(help="With --method sample: target error, e.g. 0.01.")] = None,
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
        graphs = read_input(file, smiles=smiles, y=y, color=color)
        with _on_cluster(cluster), late_progress("counting") as report:
            counts = count(
                graphs, parse_sizes(k), colors, method, samples=samples, rel_error=rel_error, seed=seed,
                budget_s=budget, max_memory=max_memory, cache=cache, threads=threads,
                errors="skip" if skip else "raise", progress=report,
            )  # fmt: skip
        if explain:
            errors.print(counts.explain(), soft_wrap=True)
        _write(counts, over.value, output, out, top, str(graphs), zeros)


def patterns(
    k: Annotated[int, typer.Argument(help="Pattern size 1..7.")],
    draw: Annotated[bool, typer.Option("--draw/--no-draw", help="Draw each pattern.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
) -> None:
    """List the connected patterns on k vertices."""
    with handle_errors():
        import json as writer

        from anysize.patterns.pattern import connected_patterns

        found = connected_patterns(k)
        if json:
            fields = [{"name": p.name, "edges": p.edges, "automorphisms": p.automorphisms} for p in found]
            print(writer.dumps(fields))
            return
        for pattern in found:
            edges = " ".join(f"{i}-{j}" for i, j in pattern.edges)
            console.print(f"{pattern.name}  {pattern.automorphisms} automorphisms  {edges}")
            if draw:
                console.print(pattern.draw() + "\n")


def demo() -> None:
    """Count the patterns of some built-in graphs."""
    with handle_errors():
        from anysize import GraphSet, count
        from anysize.graphs import samples

        graphs = [samples.petersen(), samples.grid(), samples.caffeine().without_colors()]
        plain = GraphSet.concatenate([*graphs, samples.erdos_renyi(140, 0.5, seed=1)])
        count(plain, k=(3, 4))  # compiles the engines, the first time
        began = time.perf_counter()
        counts = count(plain, k=(3, 4))
        seconds = time.perf_counter() - began
        console.print(_copies_table(counts))
        console.print(
            f"{counts.matrix.sum():,} connected subgraphs of {len(plain)} graphs counted exactly in "
            f"{seconds * 1e3:.1f} ms.\n",
        )
        console.print(_colored_table(count(samples.caffeine(), k=3)))
        console.print("Your own graphs:  anysize count FILE --k 5")


def _copies_table(counts: Counts) -> Table:
    table = Table(title="Induced copies of every connected pattern on 3 and 4 vertices", box=box.SIMPLE)
    table.add_column("pattern")
    for name in counts.names or ():
        table.add_column(name, justify="right")
    for column, pattern in enumerate(counts.patterns):
        table.add_row(pattern.name, *(f"{int(value):,}" for value in counts.matrix[:, [column]].toarray().ravel()))
    return table


def _colored_table(counts: Counts) -> Table:
    table = Table(title="Caffeine: patterns on 3 atoms, by element", box=box.SIMPLE)
    for heading in ("pattern", "drawing", "copies", "share of connected triples"):
        table.add_column(heading, justify="right" if heading == "copies" else "left")
    shares = counts.densities("connected").toarray().ravel()
    for column, pattern in enumerate(counts.patterns):
        copies = int(counts.matrix[0, column])
        chain = "-".join(str(color) for color in _path_colors(pattern.edges, pattern.colors or ()))
        table.add_row(pattern.name, chain, str(copies), f"{shares[column]:.3f}  " + "█" * round(40 * shares[column]))
    return table


def _path_colors(edges: tuple[tuple[int, int], ...], colors: tuple[object, ...]) -> list[object]:
    """The colors along a path of three vertices."""
    ends = [vertex for edge in edges for vertex in edge]
    middle = next(vertex for vertex in range(3) if ends.count(vertex) == 2)
    first, last = (vertex for vertex in range(3) if vertex != middle)
    return [colors[first], colors[middle], colors[last]]


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
    if output is OutputFormat.parquet:
        count_output.write_parquet(counts, over, str(out))
    elif output is OutputFormat.npz:
        assert out is not None
        counts.save(out)
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
                if len(counts.columns) > top:
                    printer.print(f"The {top} most common of {len(counts.columns)}; --top shows more.")
    if out is not None:
        errors.print(f"Wrote {out}.")
