"""`anysize paper results`: the results page, its appendix, and the table of the README, from records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anysize.cli.shared import RECORDS_FOLDER, check_out, check_records, handle_errors, open_output

PAGES = {".md": "Markdown"}


def results(
    records: Annotated[Path, typer.Option(help="Folder with the records of sweeps.")] = RECORDS_FOLDER,
    out: Annotated[Path | None, typer.Option(help="The page to write; by default it is printed.")] = None,
    appendix: Annotated[Path | None, typer.Option(help="The appendix to write.")] = None,
    readme: Annotated[Path | None, typer.Option(help="A file whose small table between two marks is replaced.")] = None,
    ties: Annotated[
        Path | None, typer.Option(help="A file whose tables on ties between two marks are replaced.")
    ] = None,
) -> None:
    """Write pages of results in Markdown: our numbers beside the published ones, agreement, ties, what is missing."""
    with handle_errors():
        from anysize.evaluation.store import RecordStore
        from anysize.paper.front_table import between_marks, front_table
        from anysize.paper.results_page import appendix_page, results_page
        from anysize.paper.tables import paper_grid_size
        from anysize.paper.ties import ties_section

        check_records(records)
        for file, option in ((out, "--out"), (appendix, "--appendix"), (readme, "--readme"), (ties, "--ties")):
            check_out(file, PAGES, option=option)
        read = RecordStore(records).read(curves=False)
        texts = {out: results_page(read, paper_grid_size)}
        if appendix is not None:
            texts[appendix] = appendix_page(read, paper_grid_size)
        if readme is not None:
            texts[readme] = between_marks(readme.read_text(encoding="utf-8"), front_table(read))
        if ties is not None:
            texts[ties] = between_marks(ties.read_text(encoding="utf-8"), ties_section(read))
        for file, text in texts.items():
            with open_output(file) as target:
                target.write(text)
