"""`anysize paper run` and `anysize paper sweep`: train one cell of a table, or all runs of a plan."""

from __future__ import annotations

from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anysize._errors import require
from anysize._progress import duration, progress_bars
from anysize._text import plural
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
    parse_settings,
    split_names,
    text_table,
)
from anysize.methods import defaults
from anysize.splits import SPLITS

if TYPE_CHECKING:
    from rich.table import Table

    from anysize.evaluation.sweep import SweepResult
    from anysize.paper.run import CellResult


class GridName(StrEnum):
    quick, paper, one = "quick", "paper", "one"


def run(
    task: Annotated[str, typer.Argument(help="One of anysize paper tasks.")],
    method: Annotated[str, typer.Option(help="One of anysize methods.")] = defaults.METHOD,
    data: Annotated[str | None, typer.Option(help="published, or the seed of fresh data.")] = None,
    seeds: Annotated[int, typer.Option(help="Number of models, with seeds from 0 on.", min=1)] = 10,
    recipe: Annotated[RecipeOption, typer.Option(help="Training procedure.")] = RecipeOption.robust,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A hyper-parameter or a field of the recipe, as name=value.")
    ] = None,
    metric: Annotated[
        ScoreOption | None, typer.Option(help="Metric of the scores; by default that of the task.")
    ] = None,
    device: DeviceOption = defaults.DEVICE,
    data_dir: DataDirOption = None,
    cache: CacheOption = None,
    json: JsonOption = False,
) -> None:
    """Train a method on a task with several seeds and show its scores beside the published ones."""
    with handle_errors():
        from anysize.paper.run import run as run_cell
        from anysize.paper.tasks import parse_data

        with progress_bars() as progress:
            result = run_cell(
                task, method, data=None if data is None else parse_data(data), seeds=seeds, recipe=recipe.value,
                settings=parse_settings(set_), device=device, data_dir=data_dir, cache=cache, progress=progress,
                metric=None if metric is None else metric.value,
            )  # fmt: skip
        if json:
            print(dumps(result.fields()))
        else:
            _show(result)


def sweep(
    targets: Annotated[list[str], typer.Argument(metavar="table1|table2|table3|TASK...", help="What to train.")],
    methods: Annotated[
        str | None,
        typer.Option(help="Comma-separated names, or main, gamma, kernels, gnns, baselines, all; quick grid: main."),
    ] = None,
    grid: Annotated[
        GridName | None, typer.Option(help="A few configurations, the paper's grid, or one configuration per method.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of models for each configuration.", min=1)] = 10,
    data: Annotated[
        str, typer.Option(help="published, a seed, fresh:10 for ten data sets, or splits:10.")
    ] = "published",
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
        from anysize.evaluation.evaluate import EvaluationOptions
        from anysize.evaluation.sweep import fill_cache
        from anysize.evaluation.sweep import sweep as run_sweep
        from anysize.paper.plan import make_plan

        plan = make_plan(
            targets, split_names(methods), grid=None if grid is None else grid.value, seeds=seeds, data=data,
            recipe=recipe.value, settings=parse_settings(settings), stack=stack, device=device,
        )  # fmt: skip
        if not count_only:
            require("sklearn", "Training the methods")  # the function `sweep` does not: Gamma models do without
        with progress_bars() as progress:
            if count_only:
                if cache is None:
                    raise ValueError("--count-only needs the folder of a count cache: name it with --cache.")
                left_out = [*plan.left_out, *fill_cache(plan, cache, data_dir, progress).values()]
                lines, failed = [*left_out, f"The counts are in {cache}."], False
                fields = {"cache": str(cache), "left_out": left_out}
            else:
                options = EvaluationOptions(device, cache, stack, curves, epoch_rules=True)
                result = run_sweep(
                    plan, records, workers=workers, cluster=cluster, options=options, data_dir=data_dir,
                    time_limit=time_limit, progress=progress,
                )  # fmt: skip
                lines, failed = sweep_sentences(result, records), bool(result.failures)
                fields = result.fields() | {"records": str(records)}
        if json:
            print(dumps(fields))
        else:
            for line in lines:
                console.print(line, soft_wrap=True)
        if failed:
            raise typer.Exit(1)


def sweep_sentences(result: SweepResult, records: object) -> list[str]:
    """The result of a sweep for people.

    >>> from anysize.evaluation.sweep import SweepResult
    >>> sweep_sentences(SweepResult(30, 10, 20, (), (), 61.0), "results/records")
    ['30 runs: 20 trained in 1:01, 10 found. The records are in results/records.']
    """
    lines = [*result.left_out, *(f"Failed: {sentence}" for sentence in result.failures)]
    lines.append(
        f"{_runs(result.planned)}: {result.made:,} trained in {duration(result.seconds)}, {result.found:,} found. "
        f"The records are in {records}."
    )
    if result.left:
        lines.append(f"{_runs(result.left)} left. Rerun the same command to resume.")
    return lines


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count:,} runs"


# ---- one cell --------------------------------------------------------------------------------------


def _show(result: CellResult) -> None:
    fields = result.fields()
    data = "published data" if result.data == "published" else f"fresh data, seed {result.data}"
    title = f"{result.method.name} on {result.task.name}: {data}, {result.recipe} recipe"
    console.print(title, style="bold")
    if result.selection is None:
        console.print(result.na, soft_wrap=True)
        return
    console.print(_table(result))
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
    from anysize.metrics import METRIC_NAMES

    paper = {split: result.published(split) for split in SPLITS}
    numbers = ["mean (std)", *["published"] * any(paper.values())]
    table = text_table(METRIC_NAMES[result.task.metric], right=numbers)
    for split in SPLITS:
        ours, cell = result.summary(split), paper[split]
        deviation = f" ({ours.std:.3f})" if ours is not None and ours.count > 1 else ""  # one value has none
        row = [split, "-" if ours is None else f"{ours.mean:.3f}{deviation}"]
        if cell is not None:
            row.append("NA" if cell.mean is None else f"{cell.mean:.2f} ({cell.std or 0:.2f})")
        table.add_row(*row)
    return table
