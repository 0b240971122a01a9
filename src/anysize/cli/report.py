"""anysize report."""

from __future__ import annotations

from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from anysize.cli.shared import check_out, console, handle_errors, note, open_output, split_names
from anysize.cli.table import FOLDER, check_tasks

PAGE = Path("report.html")
LATE = 2.0  # seconds before progress is shown


def report(
    records: Annotated[Path, typer.Option(help="The folder with the records of sweeps.")] = FOLDER,
    out: Annotated[Path, typer.Option(help="The page to write.")] = PAGE,
    tasks: Annotated[str | None, typer.Option(help="Which tasks, e.g. sbm-20,sbm-color; else all.")] = None,
    data_dir: Annotated[Path | None, typer.Option(help="Folder with data files; else ANYSIZE_DATA.")] = None,
    fits: Annotated[bool, typer.Option(help="Fit two small models per synthetic task for the figures.")] = True,
    json: Annotated[bool, typer.Option("--json", help="One line of JSON about the page, for programs.")] = False,
) -> None:
    """Write one self-contained HTML page from stored records: tables, figures, what was run when."""
    with handle_errors():
        from anysize._progress import progress_bars
        from anysize.experiments.record_store import RecordStore
        from anysize.experiments.tables.build import paper_grid_size

        if records != FOLDER and not records.is_dir():
            raise ValueError(f"--records takes a folder with the records of sweeps; there is no folder {records}.")
        check_out(out)
        names = split_names(tasks)
        if names is not None and not names:
            raise ValueError("--tasks takes at least one task, such as --tasks sbm-20; got none.")
        try:
            from anysize.experiments.report.build import make_report
        except ModuleNotFoundError as error:
            if error.name is None or not error.name.startswith("matplotlib"):
                raise
            raise ImportError("the report needs matplotlib: pip install 'anysize[plot]'.") from error
        store = RecordStore(records)
        found = {record.task for record in store.read(task=names, curves=False)}
        check_tasks(names, found)
        for name in sorted(set(names or ()) - found):
            note(f"there are no records of {name} in {records}; the page is without it.")
        if not found and names is None:
            note(f"there are no records in {records}; anysize sweep makes some. The page says so, too.")
        grids = paper_grid_size if found else None
        with progress_bars(after=LATE, keep=False) as tell:
            page = make_report(store, names, data_dir=data_dir, grid_size=grids, fits=fits, report=tell)
        with open_output(out) as file:
            file.write(page)
        size = len(page.encode())
        if json:
            print(dumps({"out": str(out), "bytes": size, "tasks": sorted(found)}))
        else:
            told = f"Wrote {out}: {size / 1e6:.1f} MB, {len(found)} task{'s' * (len(found) != 1)}."
            console.print(told, highlight=False, markup=False)
