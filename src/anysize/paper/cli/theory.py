"""`anysize paper theory`: print bounds and measured gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from anysize._text import plural
from anysize.cli.shared import MAX_SEED, JsonOption, console, handle_errors, late_progress

if TYPE_CHECKING:
    from anysize.paper.theory.summary import BoundRow, TheorySummary


def theory(
    k: Annotated[int, typer.Option("--k", help="Pattern size 1..7.")] = 4,
    train_size: Annotated[int, typer.Option(help="Vertices of the training graphs.")] = 80,
    test_size: Annotated[int, typer.Option(help="Vertices of the test graphs.")] = 140,
    colors: Annotated[int, typer.Option(help="Number of vertex colors.")] = 1,
    epsilon: Annotated[float, typer.Option(help="Density gap at which bounds are evaluated.")] = 0.5,
    delta: Annotated[float, typer.Option(help="Probability at which sizes and gaps are evaluated.")] = 0.05,
    pairs: Annotated[int, typer.Option(help="Number of pairs of graphs to measure gaps on; 0 for none.")] = 50,
    seed: Annotated[int, typer.Option(help="Seed of these graphs.", min=0, max=MAX_SEED)] = 0,
    json: JsonOption = False,
) -> None:
    """Compare the bound of Theorem 1 at given graph sizes with measured gaps."""
    with handle_errors():
        from anysize.paper.theory.summary import summarize

        with late_progress("measuring") as report:
            summary = summarize(
                k, train_size, test_size, colors,
                epsilon=epsilon, delta=delta, pairs=pairs, seed=seed, progress=report,
            )  # fmt: skip
        if json:
            from dataclasses import asdict
            from json import dumps

            print(dumps(asdict(summary)))
            return
        _show(summary)


def _show(summary: TheorySummary) -> None:
    from anysize.paper.theory.summary import TITLES

    console.print(
        f"Density gaps between graphs of {summary.train_size} and {summary.test_size} vertices, "
        f"k = {summary.k}, {plural(summary.colors, 'color')}",
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    table.add_column(f"exactly {summary.k}", justify="right")
    table.add_column(f"up to {summary.k}", justify="right")
    pairs = [(summary.bounds[i], summary.bounds[i + 1]) for i in range(0, len(summary.bounds), 2)]
    table.add_row("patterns", *(f"{row.patterns:,}" for row in pairs[0]))
    for pair in pairs:
        table.add_row(Text(TITLES[pair[0].kind], style="bold"))
        table.add_row(f"  P(gap > {summary.epsilon:g}) at most", *(_bound(row) for row in pair))
        table.add_row(f"  gap it excludes with P = {1 - summary.delta:g}", *(_gap(row) for row in pair))
        table.add_row("  vertices needed for both", *(f"{row.size_needed:,}" for row in pair))
    if summary.measured:
        table.add_row(Text("Measured gaps", style="bold"))
    for gap in summary.measured:
        level = f"{1 - summary.delta:.0%}"
        table.add_row(f"  {gap.graphon}: mean of {gap.pairs} pairs", "", f"{gap.mean:.3f}")
        table.add_row(f"    {level} below", "", f"{gap.quantile:.3f}")
        table.add_row(f"    {level} below, predicted", "", f"{gap.predicted:.3f}")
    console.print(table)
    for sentence in summary.sentences:
        console.print(sentence)


def _bound(row: BoundRow) -> str:
    return f"{row.bound:.2g}" + (" (vacuous)" if row.vacuous else "")


def _gap(row: BoundRow) -> str:
    return "none (vacuous)" if row.epsilon_reached >= 1 else f"{row.epsilon_reached:.2g}"
