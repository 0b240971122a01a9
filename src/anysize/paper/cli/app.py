"""`anysize paper`: reproduce the publication. Every command is a function in a module of this package.

Importing this module adds the group to the command line of the library, ``main_app``, which does not know it.
"""

from __future__ import annotations

import typer

from anysize.cli.app import app as library_app
from anysize.paper.cli.report import report
from anysize.paper.cli.results import results
from anysize.paper.cli.sweep import run, sweep
from anysize.paper.cli.table import table
from anysize.paper.cli.tasks import tasks
from anysize.paper.cli.theory import theory

COMMANDS = (
    (tasks, "anysize paper tasks sbm-20 --data 7"),
    (run, "anysize paper run sbm-20 --method gamma-rpgin --seeds 10 --data 7"),
    (sweep, "anysize paper sweep table1 table2 --grid quick --workers 2"),
    (table, "anysize paper table 2 --format markdown"),
    (report, "anysize paper report --records results/quick --out report.html"),
    (results, "anysize paper results --records results/records --out results.md"),
    (theory, "anysize paper theory --k 4 --train-size 80 --test-size 140 --colors 1"),
)

app = typer.Typer(
    name="paper",
    help="Reproduce the publication: its tasks, tables and theory.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)

for _command, _example in COMMANDS:
    app.command(epilog=f"Example:  {_example}")(_command)
library_app.add_typer(app)
main_app = library_app
