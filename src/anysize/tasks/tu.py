"""The four sets of the TU collection that the paper splits by size: NCI1, NCI109, PROTEINS, DD."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from anysize._errors import GraphError
from anysize.graphs.graphset import GraphSet
from anysize.io.tu import read_tu
from anysize.tasks.download import MAX_BYTES, check_download, check_name, fetch_tu
from anysize.tasks.size_split import TEST_ABOVE, TRAIN_BELOW, split_by_size
from anysize.tasks.task import FOLDER_HINT, Data, DataDir, Parts, Task, data_folder


@dataclass(frozen=True)
class TUSplit:
    """A TU set, split by size at the paper's percentiles.

    Both comparisons include the percentile itself, which gives every count of the paper's table of statistics. Its
    wording ("smaller than", "larger than") does not.
    """

    name: str
    graphs: int  # in the whole set, to detect truncated files
    train_below: float = TRAIN_BELOW
    test_above: float = TEST_ABOVE

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
    """A set of the TU collection; arguments as for `find_tu`."""
    return read_tu(find_tu(name, data_dir), name, warn=False)


def find_tu(name: str, data_dir: DataDir = None, max_bytes: int = MAX_BYTES) -> Path:
    """The zip file or folder of a set of the TU collection, which is downloaded if it is not there.

    Args:
        name: of the set.
        data_dir: a folder with NAME.zip, or with a folder NAME that holds NAME_A.txt and so on. Without it, the
            folder named by ANYSIZE_DATA, or else the user's cache folder.
        max_bytes: a larger file is not downloaded.
    """
    check_name(name)
    folder = data_folder(data_dir) or _cache()
    found = _find(name, folder)
    if found is None:
        try:
            return fetch_tu(name, folder, max_bytes)
        except GraphError as error:
            what = f"{name}.zip, or a folder {name} with {name}_A.txt and its other files"
            raise GraphError(
                f"{str(error).removesuffix('.')}; or put {what}, into {folder}, or {FOLDER_HINT}."
            ) from None
    if found.is_file():
        check_download(found)
    return found


def _find(name: str, folder: Path) -> Path | None:
    """The zip file or folder of a set; PyG keeps the files in a folder ``raw``."""
    if (folder / f"{name}.zip").is_file():
        return folder / f"{name}.zip"
    places = (folder, folder / name, folder / name / "raw", folder / name / name)
    return next((place for place in places if (place / f"{name}_A.txt").is_file()), None)


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "anysize"


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
