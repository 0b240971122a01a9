"""`anysize run` and `anysize sweep`: train one cell of a table, or all runs of a plan."""

from __future__ import annotations

from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anysize._text import plural
from anysize.cli.input import ColorOption, LabelOption, SmilesOption, read_input
from anysize.cli.shared import (
    RECORDS_FOLDER,
    CacheOption,
    ClusterOption,
    DataDirOption,
    DeviceOption,
    JsonOption,
    RecipeOption,
    ScoreOption,
    WorkersOption,
    console,
    handle_errors,
)
from anysize.methods import defaults

if TYPE_CHECKING:
    from rich.table import Table

    from anysize.experiments.run import CellResult
    from anysize.tasks.task import Task


class GridName(StrEnum):
    quick, paper, one = "quick", "paper", "one"


def run(
    task: Annotated[str, typer.Argument(help="One of anysize tasks, or a file of labeled graphs to split by size.")],
    method: Annotated[str, typer.Option(help="One of anysize methods.")] = defaults.METHOD,
    data: Annotated[str | None, typer.Option(help="published, or the seed of fresh data.")] = None,
    seeds: Annotated[int, typer.Option(help="Number of models, with seeds from 0 on.", min=1)] = 10,
    recipe: Annotated[RecipeOption, typer.Option(help="Training procedure.")] = RecipeOption.robust,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A hyper-parameter or a field of the recipe, as name=value.")
    ] = None,
    metric: Annotated[
        ScoreOption | None, typer.Option(help="Metric of the scores; by default that of the task, accuracy for files.")
    ] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Text file with the labels of FILE: one per line, or lines 'graph name,label'.")
    ] = None,
    smiles: SmilesOption = None,
    y: LabelOption = None,
    color: ColorOption = None,
    device: DeviceOption = defaults.DEVICE,
    data_dir: DataDirOption = None,
    cache: CacheOption = None,
    json: JsonOption = False,
) -> None:
    """Train a method on a task with several seeds and show its scores beside the published ones."""
    with handle_errors():
        from anysize._progress import progress_bars
        from anysize.experiments.configurations import parse_setting
        from anysize.experiments.run import run as run_cell
        from anysize.tasks.task import parse_data

        with progress_bars() as report:
            result = run_cell(
                _read_task(task, labels=labels, smiles=smiles, y=y, color=color), method,
                data=None if data is None else parse_data(data), seeds=seeds, recipe=recipe.value,
                settings=dict(parse_setting(text) for text in set_ or ()), device=device, data_dir=data_dir,
                cache=cache, report=report, metric=None if metric is None else metric.value,
            )  # fmt: skip
        if json:
            print(dumps(result.fields()))
        else:
            _show(result)


def _read_task(name: str, **options: Any) -> str | Task:
    """The name of a task or file; or a file that is read with options, with its labels, split by size."""
    from anysize import size_split

    if not any(options.values()):
        return name
    return size_split(read_input(Path(name), **options), name=Path(name).stem)


def sweep(
    targets: Annotated[list[str], typer.Argument(metavar="table1|table2|table3|TASK...", help="What to train.")],
    methods: Annotated[
        str | None,
        typer.Option(help="Comma-separated names, or main, gamma, kernels, gnns, checks, all; quick grid: main."),
    ] = None,
    grid: Annotated[
        GridName | None, typer.Option(help="A few configurations, the paper's grid, or one configuration per method.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of models for each configuration.", min=1)] = 10,
    data: Annotated[str, typer.Option(help="published, a seed, or fresh:10 for ten fresh data sets.")] = "published",
    recipe: Annotated[RecipeOption, typer.Option(help="Training procedure.")] = RecipeOption.paper,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A hyper-parameter or recipe field of all configurations, as name=value."),
    ] = None,
    workers: WorkersOption = 1,
    cluster: ClusterOption = None,
    device: DeviceOption = "auto",
    records: Annotated[Path, typer.Option(help="Folder of records.")] = RECORDS_FOLDER,
    stack: Annotated[int | None, typer.Option(help="Largest number of models trained together.", min=1)] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which nothing new is started.", min=0.0)
    ] = None,
    cache: CacheOption = None,
    count_only: Annotated[bool, typer.Option("--count-only", help="Fill the cache and train nothing.")] = False,
    data_dir: DataDirOption = None,
    curves: Annotated[int, typer.Option(help="Points kept of each training curve; 0 for none.", min=0)] = 50,
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON at the end.")] = False,
) -> None:
    """Train every configuration and seed of the given tasks or tables; runs that have a record are skipped.

    Each run becomes a record as soon as its batch is done. Safe to interrupt; rerun the same command to resume.
    """
    with handle_errors():
        from anysize.experiments.sweep import run_command

        lines, fields = run_command(
            targets, methods=methods, grid=None if grid is None else grid.value, seeds=seeds, data=data,
            recipe=recipe.value, settings=settings or (), workers=workers, cluster=cluster, device=device,
            records=records, stack=stack, time_limit=time_limit, cache=cache, count_only=count_only, data_dir=data_dir,
            curves=curves,
        )  # fmt: skip
        if json:
            print(dumps(fields))
        else:
            for line in lines:
                console.print(line, soft_wrap=True)
        if fields.get("failures"):
            raise typer.Exit(1)


# ---- one cell --------------------------------------------------------------------------------------


def _show(result: CellResult) -> None:
    fields = result.fields()
    data = {"published": "published data", "file": "graphs of a file"}.get(
        fields["data"], f"fresh data, seed {fields['data']}"
    )
    title = f"{result.method.name} on {result.task.name}: {data}, {result.recipe} recipe"
    console.print(title, style="bold")
    if result.selection is None:
        console.print(result.na, soft_wrap=True)
        return
    if result.task.note:
        console.print(result.task.note, soft_wrap=True)
    console.print(_table(result))
    if fields["data"] == "file" and result.task.metric == "accuracy":
        hint = "A model that always predicts one class may have a high accuracy; with --metric mcc it has 0."
        console.print(hint, soft_wrap=True)
    chosen = ", ".join(f"{name}={value}" for name, value in fields["configuration"].items()) or "no hyper-parameters"
    tried = fields["configurations"]
    tied = f", first of {fields['tied']} tied" if fields["tied"] > 1 else ""
    how = f"best of {tried} on validation{tied}" if tried > 1 else "one configuration"
    ran = len(result.selection.records)
    amount = plural(ran, "seed") if ran > 1 or result.method.seeded else "no randomness: trained once"
    for line in (f"{chosen} ({how})", f"{amount}; {result.seconds:.1f} s on {result.device}"):
        console.print(line, soft_wrap=True)


def _table(result: CellResult) -> Table:
    """One row per split: ours, and the published number where there is one."""
    from rich import box
    from rich.table import Table

    from anysize.tasks.metrics import METRIC_NAMES

    table = Table(box=box.SIMPLE, header_style="bold")
    table.add_column(METRIC_NAMES[result.task.metric])
    table.add_column("mean (std)", justify="right")
    splits = ("train", "validation", "test")
    paper = {split: result.published(split) for split in splits}
    if any(paper.values()):
        table.add_column("published", justify="right")
    for split in splits:
        own, cell = result.summary(split), paper[split]
        deviation = f" ({own.std:.3f})" if own is not None and own.count > 1 else ""  # one value has none
        row = [split, "-" if own is None else f"{own.mean:.3f}{deviation}"]
        if cell is not None:
            row.append("NA" if cell.mean is None else f"{cell.mean:.2f} ({cell.std or 0:.2f})")
        table.add_row(*row)
    return table
