"""The command line: parsing only."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

if TYPE_CHECKING:
    from anysize.counting.counts import Counts, Over

app = typer.Typer(
    name="anysize",
    help="Train on small graphs, predict on graphs of any size.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
console = Console()
errors = Console(stderr=True)


class Format(StrEnum):
    text, csv, json, parquet = "text", "csv", "json", "parquet"


class Denominator(StrEnum):
    subsets, maps, connected = "subsets", "maps", "connected"


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from anysize import __version__

        console.print(f"anysize {__version__}")
        raise typer.Exit


@app.command(epilog="Example:  anysize count NCI1.zip --k 4 --over connected --format csv --out nci1.csv")
def count(
    file: Annotated[Path, typer.Argument(help="TU folder or zip, edge list (.txt, .txt.gz), folder of adjacency CSV.")],
    k: Annotated[str, typer.Option("--k", help="Pattern size 1..7, or several: 5, 3,4 or 1-4.")] = "4",
    colours: Annotated[bool, typer.Option("--colours/--no-colours", help="Tell vertices apart by colour.")] = True,
    over: Annotated[Denominator, typer.Option(help="What densities are shares of.")] = Denominator.subsets,
    format: Annotated[Format, typer.Option(help="How to write the table.")] = Format.text,
    out: Annotated[Path | None, typer.Option(help="Write here, not to the screen. A .npz file keeps all.")] = None,
    method: Annotated[str, typer.Option(help="auto, the name of an engine, or sample.")] = "auto",
    samples: Annotated[int | None, typer.Option(help="With --method sample: samples per graph.")] = None,
    rel_error: Annotated[float | None, typer.Option(help="With --method sample: error to reach, e.g. 0.01.")] = None,
    seed: Annotated[int, typer.Option(help="Of the samples.")] = 0,
    budget: Annotated[float | None, typer.Option(help="Sample if exact counting takes longer (seconds).")] = None,
    store: Annotated[Path | None, typer.Option(help="A folder that keeps results and saves counting twice.")] = None,
    threads: Annotated[int | None, typer.Option(help="How many threads; all cores if not given.")] = None,
    top: Annotated[int, typer.Option(help="Patterns shown in the text table.", min=1)] = 25,
    explain: Annotated[bool, typer.Option("--explain", help="Say which engine was taken, and why.")] = False,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Count the connected induced patterns of the graphs in a file."""
    with _plain_errors():
        from anysize import count, read

        form = Format.json if json else format
        if form is Format.parquet and out is None:
            raise ValueError("Parquet is not text: say where to write it with --out FILE.")
        graphs = read(file)
        with _late_progress("counting") as report:
            counts = count(
                graphs, _sizes(k), colours, method, samples=samples, rel_error=rel_error, seed=seed,
                budget_s=budget, store=store, threads=threads, progress=report,
            )  # fmt: skip
        if explain:
            errors.print(counts.explain(), highlight=False, markup=False, soft_wrap=True)
        _write(counts, over.value, form, out, top, str(graphs))


@app.command(epilog="Example:  anysize patterns 4")
def patterns(
    k: Annotated[int, typer.Argument(help="Pattern size 1..7.")],
    draw: Annotated[bool, typer.Option("--draw/--no-draw", help="Draw each pattern.")] = True,
    json: Annotated[bool, typer.Option("--json", help="One JSON list, for programs.")] = False,
) -> None:
    """List the connected patterns on k vertices."""
    with _plain_errors():
        import json as writer

        from anysize.patterns import catalogue

        listed = catalogue(k)
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


@app.command(epilog="Example:  anysize demo")
def demo() -> None:
    """Count the patterns of a few built-in graphs: a first look."""
    with _plain_errors():
        from anysize.demo import show

        show(console)


def main() -> None:
    """The entry point: usage errors exit with 2, everything else that fails with 1."""
    app()


def _sizes(text: str) -> list[int]:
    """5, 3,4 or 1-4 as a list."""
    sizes: list[int] = []
    try:
        for part in text.split(","):
            low, _, high = part.strip().partition("-")
            sizes += range(int(low), int(high or low) + 1)
    except ValueError:
        sizes = []
    if not sizes:
        raise ValueError(f"--k takes a pattern size from 1 to 7, or several such as 3,4 or 1-4; got {text!r}.")
    return sizes


def _write(counts: Counts, over: Over, form: Format, out: Path | None, top: int, title: str) -> None:
    from anysize import output

    if form is Format.parquet:
        output.write_parquet(counts, over, str(out))
    elif out is not None and out.suffix == ".npz" and form is Format.text:
        counts.save(out)
    else:
        with _text_file(out) as file:
            if form is Format.csv:
                output.write_csv(counts, over, file)
            elif form is Format.json:
                output.write_json(counts, over, file)
            else:
                printer = Console(file=file, width=110) if out is not None else console
                printer.print(f"{title}: {len(counts.columns)} patterns", highlight=False, markup=False)
                printer.print(output.summary(counts, over, top))
                if len(counts.columns) > top:
                    printer.print(f"The {top} most common of {len(counts.columns)}; --top shows more.", highlight=False)
    if out is not None:
        errors.print(f"Wrote {out}.", highlight=False, markup=False)


@contextmanager
def _text_file(out: Path | None) -> Iterator[IO[str]]:
    from anysize.counting.archive import aside

    if out is None:
        yield sys.stdout
        return
    with aside(str(out)) as part, open(part, "w", encoding="utf-8") as file:
        yield file


@contextmanager
def _plain_errors() -> Iterator[None]:
    """Bad input ends in one sentence on standard error and exit code 1; warnings are one line each."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        errors.print(f"Note: {message}", style="yellow", highlight=False, markup=False, soft_wrap=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        try:
            yield
        except BrokenPipeError:
            sys.stderr.close()
            raise typer.Exit(0) from None
        except (ValueError, OverflowError, OSError, ImportError, MemoryError) as error:
            text = str(error) or type(error).__name__
            errors.print(f"Error: {text}", style="red", highlight=False, markup=False, soft_wrap=True)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            errors.print("Stopped.", style="yellow")
            raise typer.Exit(130) from None


@contextmanager
def _late_progress(what: str, after: float = 2.0) -> Iterator[Callable[[float], None]]:
    """A progress bar on standard error that appears only when the work takes longer than two seconds."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), TextColumn("{task.percentage:>3.0f} %"), TimeElapsedColumn(),
               TextColumn("left"), TimeRemainingColumn())  # fmt: skip
    bar = Progress(*columns, console=errors, transient=True)
    task = bar.add_task(what, total=1.0)
    began = time.monotonic()

    def report(done: float) -> None:
        if not bar.live.is_started and time.monotonic() - began > after and done < 1:
            bar.start()
        bar.update(task, completed=done)

    try:
        yield report
    finally:
        if bar.live.is_started:
            bar.stop()


if __name__ == "__main__":
    main()
