"""anysize diagnose."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from anysize.cli.shared import (
    MAX_SEED,
    check_out,
    console,
    errors,
    late_progress,
    plain_errors,
    read_labels,
    text_file,
)

if TYPE_CHECKING:
    from anysize.diagnosis import Diagnosis


def diagnose(
    train: Annotated[Path, typer.Argument(help="Training graphs: whatever anysize count reads; classes are used.")],
    new: Annotated[Path, typer.Argument(help="The graphs to predict on; classes are not looked at.")],
    k: Annotated[int, typer.Option("--k", help="Patterns of up to so many vertices, 2..7.")] = 4,
    colors: Annotated[bool, typer.Option("--colors/--no-colors", help="Look at the colors of vertices.")] = True,
    labels: Annotated[
        Path | None, typer.Option(help="A text file with the classes of TRAIN: one per line, or 'graph name,class'.")
    ] = None,
    level: Annotated[float, typer.Option(help="Probability of any false alarm in the report.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Of random regroupings and folds.", min=0, max=MAX_SEED)] = 0,
    html: Annotated[Path | None, typer.Option(help="Write the report as a page, too.")] = None,
    json: Annotated[bool, typer.Option("--json", help="One line of JSON, for programs.")] = False,
) -> None:
    """Say how new graphs differ from training graphs, and which method to use: sizes, colors, densities, label."""
    with plain_errors():
        from anysize import read_graphs
        from anysize.diagnosis import diagnose

        check_out(html, "--html")
        ours, theirs = read_graphs(train), read_graphs(new)
        if labels is not None:
            ours = ours.with_y(read_labels(labels, ours))
        with late_progress("diagnosing") as report:
            found = diagnose(ours, theirs, k, colors=colors, level=level, seed=seed, progress=report)
        if html is not None:
            with text_file(html) as file:
                file.write(found.to_html())
            errors.print(f"Wrote {html}.", highlight=False, markup=False)
        if json:
            from json import dumps

            print(dumps(found.to_json(), ensure_ascii=False, allow_nan=False))
        else:
            _show(found)


def _show(found: Diagnosis) -> None:
    """The report, headings in bold."""
    headings = {f"{section.title}: {section.answer}" for section in found.sections}
    for line in str(found).splitlines():
        style = "bold" if line in headings else None
        console.print(line, style=style, highlight=False, markup=False, soft_wrap=True)
