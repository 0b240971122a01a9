"""The command line: what a person does with own graphs. Every command is a function in a module of this package.

`anysize paper` is another group of commands, which `anysize.paper.cli` adds.
"""

from __future__ import annotations

from typing import Annotated

import typer

from anysize.cli.compare import compare
from anysize.cli.compile import compile
from anysize.cli.count import count, demo, patterns
from anysize.cli.diagnose import diagnose
from anysize.cli.explain import explain
from anysize.cli.fetch import fetch
from anysize.cli.league import league
from anysize.cli.learn import fit, methods, predict
from anysize.cli.motifs import motifs
from anysize.cli.shared import console

COMMANDS = (
    (count, "anysize count NCI1.zip --k 4 --over connected --format csv --out nci1.csv"),
    (patterns, "anysize patterns 4"),
    (motifs, "anysize motifs GRAPH.txt --k 4 --samples 200 --out motifs.html"),
    (demo, "anysize demo DIR"),
    (compile, "anysize compile"),
    (fit, "anysize fit NCI1.zip --method gamma-gin --k 4 --n-models 10 --out model.anysize"),
    (predict, "anysize predict model.anysize NEW.zip --out predictions.csv"),
    (explain, "anysize explain model.anysize NEW.zip --graph 0 --reference TRAIN.zip --out why.png"),
    (methods, "anysize methods"),
    (fetch, "anysize fetch NCI1 MUTAG"),
    (compare, "anysize compare NCI1.zip --methods auto,wl-kernel --seeds 5 --out comparison.html"),
    (league, "anysize league DATA --records league-records --workers 2 --out league.md"),
    (diagnose, "anysize diagnose TRAIN.zip NEW.zip --k 4 --out diagnosis.html"),
)

app = typer.Typer(
    name="anysize",
    help="Train on small graphs, predict on graphs of any size.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        from anysize import __version__

        console.print(f"anysize {__version__}")
        raise typer.Exit


for _command, _example in COMMANDS:
    app.command(epilog=f"Example:  {_example}")(_command)
