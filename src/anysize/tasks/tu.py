"""The four sets of the TU collection that the paper splits by size: NCI1, NCI109, PROTEINS, DD."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anysize._errors import GraphError
from anysize.graphs.graphset import GraphSet
from anysize.io.tu import read_tu
from anysize.tasks.size_split import split_by_size
from anysize.tasks.task import FOLDER_HINT, Data, DataDir, Parts, Task, data_folder


@dataclass(frozen=True)
class TUSplit:
    """A TU set, split by size at the paper's percentiles.

    Both comparisons include the percentile itself, which gives every count of the paper's table of statistics. Its
    wording ("smaller than", "larger than") does not.
    """

    name: str
    graphs: int  # in the whole set, to detect truncated files
    train_below: float = 50
    test_above: float = 90

    has_published = True
    has_fresh = False
    training_environments = 2

    def draw(self, data: Data, seed: int, data_dir: DataDir) -> Parts:
        return split_by_size(self.load(data_dir), self.train_below, self.test_above, seed)

    def load(self, data_dir: DataDir = None) -> GraphSet:
        """The whole set, from the folder with data files or by download."""
        graphs = load_tu(self.name, data_dir)
        if len(graphs) != self.graphs:
            raise GraphError(f"{self.name} has {self.graphs} graphs; the files that were found hold {len(graphs)}.")
        return graphs


def load_tu(name: str, data_dir: DataDir = None) -> GraphSet:
    """A set of the TU collection, from the folder with data files, or else downloaded into it through PyG.

    Args:
        name: of the set.
        data_dir: a folder with NAME.zip, or with a folder NAME that holds NAME_A.txt and so on. Without it, the
            folder named by ANYSIZE_DATA, or else the user's cache folder.
    """
    folder = data_folder(data_dir) or _cache()
    found = _find(name, folder)
    if found is None:
        _download(name, folder)
        found = _find(name, folder)
    if found is None:
        raise GraphError(f"The download of {name} left no {name}_A.txt: {_what_to_put(name)}.")
    return read_tu(found, name, warn=False)


def _find(name: str, folder: Path) -> Path | None:
    """The zip file or folder of a set; PyG keeps the files in a folder ``raw``."""
    if (folder / f"{name}.zip").is_file():
        return folder / f"{name}.zip"
    places = (folder, folder / name, folder / name / "raw", folder / name / name)
    return next((place for place in places if (place / f"{name}_A.txt").is_file()), None)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "anysize"


def _what_to_put(name: str) -> str:
    return f"put {name}.zip, or a folder {name} with {name}_A.txt and its other files, into a folder, and {FOLDER_HINT}"


def _download(name: str, folder: Path) -> None:
    """Download a set through PyG; the folder NAME is created complete or not at all."""
    try:
        from torch_geometric.datasets import TUDataset
    except ImportError:
        raise ImportError(
            f"{name} is not in {folder}, and downloads need torch_geometric (pip install 'anysize[learn]'): "
            f"install it, or {_what_to_put(name)}."
        ) from None
    aside = folder / f".{name}-{secrets.token_hex(4)}"
    try:
        aside.mkdir(parents=True)
        with _working(f"downloading {name}"):
            raw = Path(TUDataset(root=str(aside), name=name).raw_dir)
        raw.rename(folder / name)
    except Exception as error:  # any failure of network, server or disk has the same remedy
        reason = " ".join(str(error).split()) or type(error).__name__
        raise GraphError(
            f"{name} is not in {folder} and could not be downloaded ({reason[:200]}): {_what_to_put(name)}."
        ) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


@contextmanager
def _working(what: str) -> Iterator[Any]:
    """A progress bar of unknown length on standard error: PyG does not report the size of a download."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    bar = Progress(TextColumn(what), BarColumn(), TimeElapsedColumn(), console=Console(stderr=True), transient=True)
    with bar:
        bar.add_task(what, total=None)
        yield bar


def _task(name: str, graphs: int, what: str, vocabulary: int | None) -> Task:
    return Task(
        name=name,
        title=f"{what}, smaller half to largest tenth",
        family="tu",
        source=TUSplit(name, graphs),
        metric="mcc",
        k=4,
        vocabulary=vocabulary,
        class_weights="inverse",
        environments="median",
        sparse=True,
        label=name,
        table=3,
        published=name,
    )


NCI1 = _task("NCI1", 4110, "Molecules against lung cancer", vocabulary=100)
NCI109 = _task("NCI109", 4127, "Molecules against ovarian cancer", vocabulary=100)
PROTEINS = _task("PROTEINS", 1113, "Enzymes or not, secondary structure", vocabulary=None)
DD = _task("DD", 1178, "Enzymes or not, amino acids", vocabulary=30_000)
