"""Where data files are looked for."""

from __future__ import annotations

import os
from pathlib import Path

from anysize._errors import GraphError
from anysize.tasks.task import DataDir

VARIABLE = "ANYSIZE_DATA"
HOW = f"name the folder with --data-dir (data_dir= in Python) or the environment variable {VARIABLE}"


def data_folder(data_dir: DataDir) -> Path | None:
    """The folder that was named, by argument or by the environment variable; None if none was."""
    named = os.environ.get(VARIABLE) or None if data_dir is None else data_dir
    if named is None:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise GraphError(f"There is no folder {folder}: {HOW}.")
    return folder
