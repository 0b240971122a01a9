"""`anysize league`: methods on all sets of real graphs in some folders."""

from __future__ import annotations

from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
    requested_format,
    split_names,
)
from anysize.methods import defaults

if TYPE_CHECKING:
    from anysize.evaluation.standings import League
    from anysize.evaluation.tasks import Task

MAX_PROBLEMS = 20  # of a check, that are printed


class LeagueFormat(StrEnum):
    markdown, latex, csv, json = "markdown", "latex", "csv", "json"


FORMATS = {
    ".md": LeagueFormat.markdown,
    ".tex": LeagueFormat.latex,
    ".csv": LeagueFormat.csv,
    ".json": LeagueFormat.json,
}


def league(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders of sets (graphs, tables of SMILES), or sets; none: records only."),
    ] = None,
    records: Annotated[Path, typer.Option(help="Folder of records, to resume from.")] = Path("league-records"),
    methods: Annotated[str | None, typer.Option(help="Comma-separated names; default: one of every kind.")] = None,
    parts: Annotated[
        str | None,
        typer.Option(
            help="What to train, comma-separated: up, from small to large graphs; down; numbers, columns and sets with "
            "fractions; motifs, which need no folder. "
            "Default: up if there are folders."
        ),
    ] = None,
    max_targets: Annotated[
        int | None,
        typer.Option(help="Of a table of SMILES take so many columns, those with most test graphs of a class.", min=1),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of random 90 % subsets of the training graphs.", min=1)] = (
        defaults.COMPARED_SEEDS
    ),
    tune: Annotated[
        int,
        typer.Option(help="Configurations of every method, of which one is chosen inside the training graphs.", min=1),
    ] = 1,
    metric: Annotated[
        MetricOption, typer.Option(help="Metric of the table; another one needs no training.")
    ] = MetricOption.mcc,
    format: Annotated[
        LeagueFormat | None, typer.Option(help="Output format; default: by the ending of --out, or markdown.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; by default the screen.")] = None,
    figure: Annotated[
        Path | None,
        typer.Option(help="Draw the means into this .svg, .png or .pdf file, and ranks into NAME-ranks beside it."),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(help="Check a file or folder of records: scores by predictions, labels by the sets given."),
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
        from anysize.evaluation import league_page as page
        from anysize.evaluation.league import LEAGUE_METHODS, find_sets, run_league
        from anysize.evaluation.standings import read_leagues

        chosen = check_out(out, FORMATS, requested_format(format, json, LeagueFormat.json)) or LeagueFormat.markdown
        check_out(figure, FIGURES, option="--figure", ending_optional=False)
        if figure is not None:
            import anysize.plots  # noqa: F401 (a missing matplotlib is said before the training)
        wanted = split_names(parts) or ["up"] * bool(folders)
        tasks: list[Task] = []
        if wanted:
            tasks, left_out = find_sets(folders or [], wanted, max_targets)
            for name, why in left_out.items():
                note(f"left out {name}: {why}")
        if check is not None:
            _check(check, tasks)
            return
        if tasks:
            with progress_bars() as progress:
                done = run_league(
                    tasks, records, methods=split_names(methods) or LEAGUE_METHODS, seeds=seeds, tune=tune,
                    workers=workers, device=device, cache=cache, time_limit=time_limit,
                    progress=progress,
                )  # fmt: skip
            for method, error in done.errors.items():
                note(f"{method}: {error}")
        leagues = read_leagues(records, metric.value)
        figures: list[str] = []
        if figure is not None:
            figures = _draw(figure, leagues[0], out)
        text = {
            LeagueFormat.markdown: lambda: page.to_markdown(leagues, *figures),
            LeagueFormat.latex: lambda: page.to_latex(leagues),
            LeagueFormat.csv: lambda: page.to_csv(leagues),
            LeagueFormat.json: lambda: dumps({league.part.name: league.fields() for league in leagues}) + "\n",
        }[chosen]()
        if out is None and chosen == LeagueFormat.markdown:
            console.print(text, soft_wrap=True)
            return
        with open_output(out) as file:
            file.write(text)


def _draw(figure: Path, league: League, out: Path | None) -> list[str]:
    """Draw means and ranks; their paths as seen from the page."""
    from os.path import relpath

    from anysize.evaluation.league_page import plot_means, plot_ranks
    from anysize.plots import save_figure

    paths = [figure]
    save_figure(plot_means(league), figure)
    if league.critical_difference is not None:
        paths.append(figure.with_stem(f"{figure.stem}-ranks"))
        save_figure(plot_ranks(league), paths[-1])
    errors.print(f"Wrote {', '.join(map(str, paths))}.")
    return [Path(relpath(path, Path() if out is None else out.parent)).as_posix() for path in paths]


def _check(path: Path, tasks: list[Task]) -> None:
    """Print what a check of records has found; exit code 1 if something is wrong."""
    from anysize.evaluation.league_check import check_records

    result = check_records(path, tasks)
    for problem in result.problems[:MAX_PROBLEMS]:
        console.print(problem, soft_wrap=True)
    if len(result.problems) > MAX_PROBLEMS:
        console.print(f"... and {len(result.problems) - MAX_PROBLEMS} more")
    console.print(
        f"{result.records:,} records, {len(result.problems):,} problems. Labels of {result.compared:,} records were "
        "compared with those of the sets.",
        soft_wrap=True,
    )
    if result.problems:
        raise typer.Exit(1)
