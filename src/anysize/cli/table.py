"""anysize table."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from anysize.cli.shared import check_out, console, errors, handle_errors, note, open_output, split_names

FOLDER = Path("results/records")


class TableFormat(StrEnum):
    text, markdown, latex, html, json = "text", "markdown", "latex", "html", "json"


class RuleName(StrEnum):
    paper, loss, penalty, last, oracle = "paper", "loss", "penalty", "last", "oracle"


def table(
    number: Annotated[int, typer.Argument(help="Which table of the paper: 1, 2 or 3.", min=1, max=3)],
    records: Annotated[Path, typer.Option(help="The folder with the records of sweeps.")] = FOLDER,
    format: Annotated[TableFormat, typer.Option(help="How to write the table.")] = TableFormat.text,
    rule: Annotated[
        RuleName, typer.Option(help="How configurations are chosen. oracle looks at test scores: for study only.")
    ] = RuleName.paper,
    data: Annotated[str, typer.Option(help="published, the seed of fresh data, fresh (all seeds), or all.")] = "all",
    splits: Annotated[str | None, typer.Option(help="Which scores, e.g. validation,test.")] = None,
    tasks: Annotated[str | None, typer.Option(help="Which tasks, e.g. sbm-20,sbm-color.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write here, not to the screen.")] = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Show a table of the paper from stored records, beside the published numbers."""
    with handle_errors():
        from anysize.experiments.record_store import RecordStore
        from anysize.experiments.tables.build import build_table, paper_grid_size
        from anysize.experiments.tables.formats import text
        from anysize.experiments.tables.layout import TABLES
        from anysize.experiments.tables.render import render

        if records != FOLDER and not records.is_dir():
            raise ValueError(f"--records takes a folder with the records of sweeps; there is no folder {records}.")
        check_out(out)
        names = [task.name for task in TABLES[number].tasks] if tasks is None else split_names(tasks)
        found = RecordStore(records).read(task=names, curves=False)
        check_tasks(split_names(tasks), {record.task for record in found})
        if not found:
            note(f"there are no records of these tasks in {records}; the table has the published numbers only.")
        data = f"seed:{data}" if data.isdigit() else data  # as records name it
        built = build_table(
            number, found, rule=rule.value, data=data, splits=split_names(splits), tasks=split_names(tasks),
            grid_size=paper_grid_size if found else None,
        )  # fmt: skip
        form = TableFormat.json if json else format
        if form is TableFormat.text and out is None:
            for part in text.renderables(built, console.width):
                console.print(part, highlight=False)
            return
        with open_output(out) as file:
            file.write(render(built, form.value))
        if out is not None:
            errors.print(f"Wrote {out}.", highlight=False, markup=False)


def check_tasks(names: Iterable[str] | None, recorded: set[str]) -> None:
    """Refuse names that no task has; tasks of which there are records need not be ours."""
    from anysize.tasks.catalog import find_task

    for name in names or ():
        if name not in recorded:
            find_task(name)
