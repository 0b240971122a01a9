"""`anysize paper table`: print a table of the paper, or of one's own tasks, from records."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from anysize.cli.shared import (
    RECORDS_FOLDER,
    check_out,
    check_records,
    console,
    handle_errors,
    note,
    open_output,
    requested_format,
    split_names,
)


class TableFormat(StrEnum):
    text, markdown, latex, html, json = "text", "markdown", "latex", "html", "json"


FORMATS = {
    ".txt": TableFormat.text,
    ".md": TableFormat.markdown,
    ".tex": TableFormat.latex,
    ".html": TableFormat.html,
    ".json": TableFormat.json,
}


class RuleName(StrEnum):
    paper, first_best, best_lowest_loss = "paper", "first-best", "best-lowest-loss"
    lowest_loss, best_lowest_penalty, last, oracle = "lowest-loss", "best-lowest-penalty", "last", "oracle"


def table(
    number: Annotated[
        int | None,
        typer.Argument(help="Table 1, 2 or 3 of the paper; without it, tasks that are in none of them.", min=1, max=3),
    ] = None,
    records: Annotated[Path, typer.Option(help="Folder with the records of sweeps.")] = RECORDS_FOLDER,
    format: Annotated[
        TableFormat | None,
        typer.Option(help="Output format; default: by the ending of --out, or text, which has short notes only."),
    ] = None,
    all_rows: Annotated[
        bool,
        typer.Option("--all-rows", help="Also show rows and columns without numbers of ours; JSON always has them."),
    ] = False,
    rule: Annotated[
        RuleName,
        typer.Option(
            help="At which epoch runs are scored, and how configurations are selected. oracle uses test scores."
        ),
    ] = RuleName.paper,
    data: Annotated[
        str, typer.Option(help="published, a seed, fresh (all seeds), splits (all splits of a data set), or all.")
    ] = "all",
    splits: Annotated[str | None, typer.Option(help="Comma-separated splits, such as validation,test.")] = None,
    tasks: Annotated[str | None, typer.Option(help="Comma-separated names, such as sbm-20,sbm-color.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; by default the screen.")] = None,
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """Show a table of the paper, made from records, beside the published numbers; or one of your own tasks."""
    with handle_errors():
        from anysize.evaluation.render import render, text_renderables
        from anysize.evaluation.store import RecordStore
        from anysize.paper.layout import TABLES
        from anysize.paper.tables import build_table, paper_grid_size, rows_that_ran
        from anysize.paper.tasks import table_of

        check_records(records)
        chosen = check_out(out, FORMATS, requested_format(format, json, TableFormat.json)) or TableFormat.text
        named = split_names(tasks)
        names = [task.name for task in TABLES[number].tasks] if named is None and number is not None else named
        read = RecordStore(records).read(task=names, curves=False)
        check_tasks(named, {record.task for record in read})
        if number is None and not any(named or table_of(record.task) is None for record in read):
            raise ValueError(
                f"{records} has no records of tasks besides those of the paper; name one of its tables: 1, 2 or 3."
            )
        if not read:
            note(f"there are no records of these tasks in {records}; the table has the published numbers only.")
        data = f"seed:{data}" if data.isdigit() else data  # as records name it
        built = build_table(
            number, read, rule=rule.value, data=data, splits=split_names(splits), tasks=named,
            grid_size=paper_grid_size if read else None,
        )  # fmt: skip
        if chosen is not TableFormat.json and not all_rows and any(row.ran for row in built.rows):
            built = rows_that_ran(built)
        if chosen is TableFormat.text and out is None:
            for part in text_renderables(built, console.width):
                console.print(part)
            return
        with open_output(out) as file:
            file.write(render(built, chosen.value))


def check_tasks(names: Iterable[str] | None, recorded: set[str]) -> None:
    """Refuse unknown task names; tasks with records need not be registered."""
    from anysize.paper.tasks import find_task

    for name in names or ():
        if name not in recorded:
            find_task(name)
