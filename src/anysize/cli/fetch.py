"""`anysize fetch`: download data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anysize.cli.shared import console, handle_errors


def fetch(
    names: Annotated[list[str], typer.Argument(help="Sets of the TU collection, such as NCI1 or MUTAG.")],
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder for the files; else ANYSIZE_DATA, else the user's cache folder.")
    ] = None,
    max_mb: Annotated[int, typer.Option(help="Refuse files of more than this many MiB.", min=1)] = 1024,
) -> None:
    """Download missing sets of the TU collection, and print where they are."""
    with handle_errors():
        from anysize.io.download import find_tu
        from anysize.io.read import read_graphs

        for name in names:
            path = find_tu(name, data_dir, max_mb << 20)
            graphs = read_graphs(path, name, warn=False)
            console.print(f"{path}: {graphs}", soft_wrap=True)
