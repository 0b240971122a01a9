"""`anysize paper report`: write the HTML report of a folder of records."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from anysize._errors import naming_extra
from anysize._files import atomic_write
from anysize._text import plural
from anysize.cli.shared import (
    PAGES,
    RECORDS_FOLDER,
    DataDirOption,
    check_out,
    check_records,
    console,
    handle_errors,
    note,
    split_names,
)
from anysize.paper.cli.table import check_tasks

PAGE = Path("report.html")


def report(
    records: Annotated[Path, typer.Option(help="Folder with the records of sweeps.")] = RECORDS_FOLDER,
    out: Annotated[Path, typer.Option(help="File to write.")] = PAGE,
    tasks: Annotated[
        str | None, typer.Option(help="Comma-separated names, such as sbm-20,sbm-color; default: all.")
    ] = None,
    data_dir: DataDirOption = None,
    fits: Annotated[bool, typer.Option(help="Fit two small models per synthetic task for the figures.")] = True,
    json: Annotated[bool, typer.Option("--json", help="Print one line of JSON about the page.")] = False,
) -> None:
    """Write one self-contained HTML page from records: tables, figures, and a list of runs."""
    with handle_errors():
        from anysize._progress import progress_bars
        from anysize.evaluation.store import RecordStore
        from anysize.paper.tables import paper_grid_size

        check_records(records)
        check_out(out, PAGES)
        names = split_names(tasks)
        if names is not None and not names:
            raise ValueError("--tasks needs at least one task, such as --tasks sbm-20; got none.")
        with naming_extra("the report"):
            from anysize.paper.report.build import make_report
        store = RecordStore(records)
        recorded = {record.task for record in store.read(task=names, curves=False)}
        check_tasks(names, recorded)
        for name in sorted(set(names or ()) - recorded):
            note(f"there are no records of {name} in {records}; the page leaves it out.")
        if not recorded and names is None:
            note(f"there are no records in {records}, so the page is empty. Make some with anysize paper sweep.")
        grids = paper_grid_size if recorded else None
        with progress_bars() as progress:
            page = make_report(store, names, data_dir=data_dir, grid_size=grids, fits=fits, progress=progress)
        content = page.encode("utf-8", "backslashreplace")
        with atomic_write(out) as part:
            part.write_bytes(content)
        if json:
            print(dumps({"out": str(out), "bytes": len(content), "tasks": sorted(recorded)}))
        else:
            summary = f"Wrote {out}: {len(content) / 1e6:.1f} MB, {plural(len(recorded), 'task')}."
            console.print(summary)
