"""anysize count, patterns, demo."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from anysize.cli.shared import (
    MAX_SEED,
    check_out,
    console,
    errors,
    handle_errors,
    late_progress,
    open_output,
    parse_sizes,
)

if TYPE_CHECKING:
    from anysize.counting.counts import Counts, Over


class Format(StrEnum):
    text, csv, json, parquet, npz = "text", "csv", "json", "parquet", "npz"


class Denominator(StrEnum):
    subsets, maps, connected = "subsets", "maps", "connected"


def count(
    file: Annotated[
        Path, typer.Argument(help="TU folder or zip, edge list (.txt, .txt.gz), folder of edge lists or CSV matrices.")
    ],
    k: Annotated[str, typer.Option("--k", help="Pattern size 1..7, or several: 5, 3,4 or 1-4.")] = "4",
    colors: Annotated[bool, typer.Option("--colors/--no-colors", help="Tell vertices apart by color.")] = True,
    over: Annotated[Denominator, typer.Option(help="What densities are shares of.")] = Denominator.subsets,
    format: Annotated[
        Format | None, typer.Option(help="How to write the table; else as --out ends, or text. npz keeps all.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write here, not to the screen.")] = None,
    method: Annotated[str, typer.Option(help="auto, the name of an engine, or sample.")] = "auto",
    samples: Annotated[int | None, typer.Option(help="With --method sample: samples per graph.")] = None,
    rel_error: Annotated[float | None, typer.Option(help="With --method sample: error to reach, e.g. 0.01.")] = None,
    seed: Annotated[int, typer.Option(help="Of the samples.", min=0, max=MAX_SEED)] = 0,
    budget: Annotated[float | None, typer.Option(help="Sample if exact counting takes longer (seconds).")] = None,
    max_memory: Annotated[str | None, typer.Option(help="Memory for counting, e.g. 4GiB.")] = None,
    store: Annotated[Path | None, typer.Option(help="A folder that keeps results and saves counting twice.")] = None,
    threads: Annotated[int | None, typer.Option(help="How many threads; all cores if not given.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Count on a Ray cluster: auto, ADDRESS or local:CORES.")] = None,
    skip: Annotated[bool, typer.Option("--skip", help="Leave out graphs that cannot be counted.")] = False,
    top: Annotated[int, typer.Option(help="Patterns shown in the text table.", min=1)] = 25,
    explain: Annotated[bool, typer.Option("--explain", help="Say which engine was taken, and why.")] = False,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Count the connected induced patterns of the graphs in a file."""
    with handle_errors():
        from anysize import count, read_graphs

        form = _form(format, json, out)
        check_out(out)
        graphs = read_graphs(file)
        with _on(cluster), late_progress("counting") as report:
            counts = count(
                graphs, parse_sizes(k), colors, method, samples=samples, rel_error=rel_error, seed=seed,
                budget_s=budget, max_memory=max_memory, store=store, threads=threads, progress=report,
                errors="skip" if skip else "raise",
            )  # fmt: skip
        if explain:
            errors.print(counts.explain(), highlight=False, markup=False, soft_wrap=True)
        _write(counts, over.value, form, out, top, str(graphs))


def patterns(
    k: Annotated[int, typer.Argument(help="Pattern size 1..7.")],
    draw: Annotated[bool, typer.Option("--draw/--no-draw", help="Draw each pattern.")] = True,
    json: Annotated[bool, typer.Option("--json", help="One JSON list, for programs.")] = False,
) -> None:
    """List the connected patterns on k vertices."""
    with handle_errors():
        import json as writer

        from anysize.patterns.pattern import connected_patterns

        listed = connected_patterns(k)
        if json:
            fields = [{"name": p.name, "edges": p.edges, "automorphisms": p.automorphisms} for p in listed]
            print(writer.dumps(fields))
            return
        for pattern in listed:
            edges = " ".join(f"{i}-{j}" for i, j in pattern.edges)
            console.print(
                f"[bold]{pattern.name}[/bold]  {pattern.automorphisms} automorphisms  {edges}",
                highlight=False,
            )
            if draw:
                console.print(pattern.draw() + "\n", highlight=False, markup=False)


def demo() -> None:
    """Count the patterns of a few built-in graphs: a first look."""
    with handle_errors():
        from anysize.cli.demo import show

        show(console)


def _form(format: Format | None, json: bool, out: Path | None) -> Format:
    """The format asked for, or else the one that the ending of the file names."""
    if json and format not in (None, Format.json):
        raise ValueError(f"--json is the same as --format json and goes without --format {format}.")
    asked = Format.json if json else format
    ending = "" if out is None else out.suffix.lower().removeprefix(".")
    named = Format(ending) if ending in set(Format) - {Format.text} else None
    if asked is not None and named not in (None, asked):
        raise ValueError(f"--out {out} ends as a file of format {named}, and --format asks for {asked}; change one.")
    form = asked or named or Format.text
    if out is None and form in (Format.parquet, Format.npz):
        raise ValueError(f"The format {form} is not text: say where to write it with --out FILE.")
    return form


@contextmanager
def _on(address: str | None) -> Iterator[None]:
    """A cluster around a count, if one is named."""
    if address is None:
        yield
        return
    from anysize import cluster

    with redirect_stdout(sys.stderr), cluster(address):  # Ray reports workers that died where the table will go
        yield


def _write(counts: Counts, over: Over, form: Format, out: Path | None, top: int, title: str) -> None:
    from anysize.cli import count_output

    if form is Format.parquet:
        count_output.write_parquet(counts, over, str(out))
    elif form is Format.npz:
        assert out is not None
        counts.save(out)
    else:
        with open_output(out) as file:
            if form is Format.csv:
                count_output.write_csv(counts, over, file)
            elif form is Format.json:
                count_output.write_json(counts, over, file)
            else:
                printer = Console(file=file, width=110) if out is not None else console
                printer.print(f"{title}: {len(counts.columns)} patterns", highlight=False, markup=False)
                printer.print(count_output.summary(counts, over, top))
                if len(counts.columns) > top:
                    printer.print(f"The {top} most common of {len(counts.columns)}; --top shows more.", highlight=False)
    if out is not None:
        errors.print(f"Wrote {out}.", highlight=False, markup=False)
