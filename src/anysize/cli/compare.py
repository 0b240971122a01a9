"""`anysize compare`: compare methods on the graphs of a file."""

from __future__ import annotations

from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from anysize.cli.input import ColorsOption, Reading, TargetOption, read_labeled, with_reading_options, with_target
from anysize.cli.shared import (
    PAGES,
    CacheOption,
    ClusterOption,
    DeviceOption,
    JsonOption,
    WorkersOption,
    check_out,
    console,
    errors,
    handle_errors,
    note,
    parse_settings,
    parse_sizes,
    split_names,
)
from anysize.methods import defaults


class MetricOption(StrEnum):
    balanced_accuracy, accuracy, mcc = "balanced_accuracy", "accuracy", "mcc"
    roc_auc, macro_f1 = "roc_auc", "macro_f1"
    rmse, mae, r2, rank_correlation = "rmse", "mae", "r2", "rank_correlation"


@with_reading_options()
def compare(
    file: Annotated[Path, typer.Argument(help="Labeled graphs: a TU folder or zip, or any file of graphs.")],
    reading: Reading,
    methods: Annotated[
        str | None, typer.Option(help="Comma-separated names; anysize methods lists them. Default: some of each kind.")
    ] = None,
    seeds: Annotated[
        int, typer.Option(help="Number of splits and models for each method.", min=1)
    ] = defaults.COMPARED_SEEDS,
    split: Annotated[
        str,
        typer.Option(help="size, size-down, random, or a JSON or CSV file of lists for train, validation and test."),
    ] = "size",
    metric: Annotated[
        MetricOption | None,
        typer.Option(help="Metric of the table; another one needs no training. Default: balanced_accuracy, or rmse."),
    ] = None,
    k: Annotated[str, typer.Option(help="Pattern size 1..7; several as 3,4 or 1-4.")] = str(defaults.K),
    colors: ColorsOption = True,
    target: TargetOption = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A hyper-parameter of all methods that have it, as name=value.")
    ] = None,
    records: Annotated[
        Path | None, typer.Option(help="Folder of records, to resume from; default: the name of FILE, then -records.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write an HTML page to this file.")] = None,
    workers: WorkersOption = 1,
    cluster: ClusterOption = None,
    device: DeviceOption = defaults.DEVICE,
    cache: CacheOption = None,
    json: JsonOption = False,
) -> None:
    """Compare methods on labeled graphs: several splits and seeds, one table with intervals, beside trivial baselines.

    Safe to interrupt; rerun the same command to resume from the records.
    """
    with handle_errors():
        from anysize._progress import progress_bars
        from anysize.evaluation.compare import compare as compare_methods
        from anysize.evaluation.render import text_renderables

        check_out(out, PAGES)
        if out is not None:
            import anysize.plots  # noqa: F401 (a missing matplotlib is said before the training)
        graphs = read_labeled(file, with_target(reading, target), colors)
        name = file.name.removesuffix("".join(file.suffixes)) or file.name
        folder = Path(f"{name}-records") if records is None else records
        if records is None:
            note(f"records are kept in {folder}; --records names another folder.")
        with progress_bars() as progress:
            comparison = compare_methods(
                graphs, methods=None if methods is None else split_names(methods) or (), seeds=seeds, split=split,
                metric=None if metric is None else metric.value, predict="classes" if target is None else "numbers",
                k=parse_sizes(k), settings=parse_settings(set_),
                name=name, records=folder, workers=workers, cluster=cluster, device=device, cache=cache,
                progress=progress,
            )  # fmt: skip
        if out is not None:
            comparison.save(out)
        if json:
            print(dumps(comparison.fields() | {"out": None if out is None else str(out)}))
        else:
            for part in text_renderables(comparison.table, console.width):
                console.print(part)
            if out is not None:
                errors.print(f"Wrote {out}.")
        if all(row.mean is None for row in comparison.rows if not row.is_baseline):
            raise typer.Exit(1)
