"""`anysize league`: methods on all sets of real graphs in some folders."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from anysize.cli.compare import MetricOption
from anysize.cli.shared import (
    FIGURES,
    CacheOption,
    DeviceOption,
    JsonOption,
    WorkersOption,
    check_out,
    console,
    errors,
    handle_errors,
    note,
    open_output,
    split_names,
)
from anysize.methods import defaults


def league(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of sets (graphs, tables of SMILES), or sets; none: records only."),
    ] = None,
    records: Annotated[Path, typer.Option(help="Folder of records, to resume from.")] = Path("league-records"),
    methods: Annotated[str | None, typer.Option(help="Comma-separated names; default: one of every kind.")] = None,
    seeds: Annotated[int, typer.Option(help="Number of random 90 % subsets of the training graphs.", min=1)] = (
        defaults.COMPARED_SEEDS
    ),
    metric: Annotated[
        MetricOption, typer.Option(help="Metric of the table; another one needs no training.")
    ] = MetricOption.mcc,
    out: Annotated[Path | None, typer.Option(help="Write the table to this Markdown file.")] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the means and intervals into this .svg, .png or .pdf file.")
    ] = None,
    workers: WorkersOption = 1,
    device: DeviceOption = defaults.DEVICE,
    cache: CacheOption = None,
    time_limit: Annotated[float | None, typer.Option(help="Start nothing new after this many seconds.")] = None,
    json: JsonOption = False,
) -> None:
    """Train on the small graphs of every set in the given folders, test on the large ones, and rank the methods.

    Safe to interrupt; rerun the same command to resume from the records.
    """
    with handle_errors():
        from anysize._progress import progress_bars
        from anysize.evaluation.league import LEAGUE_METHODS, find_sets, plot, read_league, run_league, to_markdown

        check_out(out, {".md": "Markdown"})
        check_out(figure, FIGURES, option="--figure", ending_optional=False)
        if figure is not None:
            import anysize.plots  # noqa: F401 (a missing matplotlib is said before the training)
        if folders:
            tasks, left_out = find_sets(folders)
            for name, why in left_out.items():
                note(f"left out {name}: {why}")
            with progress_bars() as progress:
                done = run_league(
                    tasks, records, methods=split_names(methods) or LEAGUE_METHODS, seeds=seeds,
                    workers=workers, device=device, cache=cache, time_limit=time_limit,
                    progress=progress,
                )  # fmt: skip
            for method, error in done.errors.items():
                note(f"{method}: {error}")
        standing = read_league(records, metric.value)
        if figure is not None:
            from anysize.plots import save_figure

            save_figure(plot(standing), figure)
            errors.print(f"Wrote {figure}.")
        if out is not None:
            with open_output(out) as file:
                file.write(to_markdown(standing, None if figure is None else _relative(figure, out)))
            errors.print(f"Wrote {out}.")
        if json:
            print(dumps(standing.fields()))
        elif out is None:
            console.print(to_markdown(standing), soft_wrap=True)


def _relative(figure: Path, page: Path) -> str:
    """The path of the figure as seen from the page."""
    from os.path import relpath

    return Path(relpath(figure, page.parent)).as_posix()
