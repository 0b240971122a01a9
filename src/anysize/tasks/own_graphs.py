"""Tasks made of a user's own labeled graphs: split by size, at random, or by given lists, with several split seeds."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from anysize._json import compact_json
from anysize._schema import parse_json
from anysize._text import csv_text
from anysize._typing import check_integer
from anysize.counting.cache import content_digest
from anysize.graphs.graphset import GraphSet
from anysize.graphs.labels import check_complete, distinct_classes
from anysize.io.convert import as_graphset
from anysize.methods import defaults
from anysize.patterns.pattern import pattern_sizes
from anysize.tasks.size_split import (
    TEST_ABOVE,
    TRAIN_BELOW,
    Positions,
    hold_out,
    parts_of,
    positions_by_size,
    task_of_graphs,
)
from anysize.tasks.task import SPLITS, Data, DataDir, Parts, Task

TEST_SHARE = 0.2  # of each class, in a random split
MAX_CLASSES = 62  # that records can name
SPLIT_WORDS = {"size": "split by size", "random": "split at random", "lists": "split by lists"}
Lists: TypeAlias = Mapping[str, Iterable[int | str]]  # train, validation, test -> graphs by position or name


@dataclass(frozen=True)
class OwnGraphs:
    """Labeled graphs and how they are split; equal where the graphs, their classes and the split are equal.

    Attributes:
        kind: how they are split.
        lists: the positions for training, validation and test, where they are given.
        digest: a hash of everything that results depend on.
    """

    graphs: GraphSet = field(compare=False, repr=False)
    kind: Literal["size", "random", "lists"]
    lists: Positions | None = field(default=None, compare=False, repr=False)
    digest: str = ""

    has_published = True
    has_fresh = False

    @property
    def training_environments(self) -> int:
        """Two, smaller and larger graphs; one if all training graphs have one size."""
        return 1 + (len(np.unique(self.graphs.sizes[self.positions(0).train])) > 1)

    def positions(self, seed: int) -> Positions:
        """Which graphs are for training, validation and test."""
        if self.kind == "size":
            return positions_by_size(self.graphs, TRAIN_BELOW, TEST_ABOVE, seed)
        if self.lists is None:
            return random_positions(np.asarray(self.graphs.y), seed)
        if len(self.lists.validation):
            return self.lists
        return Positions(*hold_out(self.lists.train, seed), self.lists.test)

    def draw(self, data: Data, seed: int, data_dir: DataDir) -> Parts:
        return parts_of(self.graphs, self.positions(seed))


def own_task(
    graphs: Any,
    split: str | Path | Lists = "size",
    *,
    y: ArrayLike | None = None,
    color: str | None = None,
    name: str = "graphs",
    k: int | Sequence[int] = defaults.K,
) -> Task:
    """A task made of any labeled graphs. Its name ends with a hash of the graphs, their labels, the split and k.

    `Task.splits(seed=3)` is the split with seed 3:

    - ``"size"``: graphs up to the median size are for training, graphs from the 90th percentile on for test, those in
      between are left out. The seed draws a tenth of the training graphs for validation: the test set is always the
      same.
    - ``"random"``: the seed draws a fifth of each class for test, and a tenth of the others for validation.
    - lists: ``{"train": [...], "validation": [...], "test": [...]}``, graphs by position or name, or a JSON file with
      the same, or a CSV file with lines ``graph,train``. Without validation the seed draws a tenth of the training
      graphs.

    Args:
        graphs: a `GraphSet`, a list of graphs, a path: whatever `anysize.count` takes.
        split: how they are split.
        y: one label per graph; None for the labels stored with the graphs.
        color: for networkx, PyG and igraph graphs, the vertex attribute that holds the color.
        name: the beginning of the task's name.
        k: pattern size of the task, or several.

    Examples:
        >>> paths = [[(i, i + 1) for i in range(n)] for n in range(2, 32)]
        >>> task = own_task(GraphSet.from_edges(paths, y=["odd", "even"] * 15), "random", name="paths")
        >>> task.name, [len(graphs) for graphs in task.splits(seed=1).sets.values()]
        ('paths-random-0368c240', [22, 2, 6])
    """
    labeled = as_graphset(graphs, color=color)
    labeled = labeled if y is None else labeled.with_y(y)
    if labeled.y is None:
        raise ValueError(
            "To compare methods, graphs need classes: give y, one label per graph (in commands: --labels FILE)."
        )
    check_complete(labeled.y)
    classes = distinct_classes(labeled.y)
    if len(classes) > MAX_CLASSES:
        raise ValueError(
            f"Up to {MAX_CLASSES} classes can be compared; these graphs have {len(classes)}, such as "
            f"{classes.tolist()[0]!r}. Is their label a number to predict? Then make classes of its ranges."
        )
    if isinstance(split, str) and split in ("size", "random"):
        kind: Literal["size", "random", "lists"] = "size" if split == "size" else "random"
        lists = None
    else:
        kind, lists = "lists", _positions(read_lists(split) if isinstance(split, str | Path) else split, labeled)
    sizes = pattern_sizes(k)
    source = OwnGraphs(labeled, kind, lists, _digest(labeled, kind, lists, sizes))
    parts = source.draw("published", 0, None)
    _check(parts)
    label = f"{name}, {SPLIT_WORDS[kind]}"
    task_name = f"{_plain(name)}-{kind}-{source.digest[:8]}"
    return task_of_graphs(source, parts, name=task_name, title=_title(label, parts), k=sizes, label=label)


def random_positions(y: Any, seed: int) -> Positions:
    """A fifth of each class for test, drawn with the seed; a tenth of the others for validation."""
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    drawn = []
    for value in np.unique(y):
        members = rng.permutation(np.flatnonzero(y == value))
        drawn.append(members[: round(TEST_SHARE * len(members))])
    test = np.sort(np.concatenate(drawn))
    return Positions(*hold_out(np.setdiff1d(np.arange(len(y)), test), seed), test)


# ---- given lists -----------------------------------------------------------------------------------


def read_lists(path: str | Path) -> Lists:
    """The lists of a JSON file ``{"train": [...], "test": [...]}``, or of a CSV file with lines ``graph,train``."""
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ValueError(
            f"A split is 'size', 'random', or a JSON or CSV file of lists; there is no file {str(path)!r}."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"The lists of a split are a UTF-8 text file; {file} cannot be read: {error}.") from None
    try:
        found = parse_json(text)
    except ValueError:
        return _lists_of_table(text, file)
    if not isinstance(found, dict) or not all(isinstance(members, list) for members in found.values()):
        raise ValueError(f'{file} must hold {{"train": [...], "validation": [...], "test": [...]}}, lists of graphs.')
    return found


def _lists_of_table(text: str, file: Path) -> Lists:
    lists: dict[str, list[int | str]] = {name: [] for name in SPLITS}
    try:
        rows = list(csv.reader(text.splitlines()))
    except csv.Error as error:
        raise ValueError(f"{file} holds neither JSON nor lines 'graph,train': {error}.") from None
    for number, row in enumerate(rows):
        cells = [csv_text(cell.strip()) for cell in row]
        if not any(cells):
            continue
        if len(cells) == 2 and cells[1] in lists:
            lists[cells[1]].append(cells[0])
        elif number > 0 or len(cells) != 2:  # the first line may be a header
            raise ValueError(
                f"Lines of {file} must be 'graph,train', 'graph,validation' or 'graph,test'; line {number + 1} is "
                f"{','.join(row)[:80]!r}."
            )
    return lists


def _positions(lists: Lists, graphs: GraphSet) -> Positions:
    """The positions of the listed graphs, each in one list at most."""
    if unknown := [name for name in lists if name not in SPLITS]:
        raise ValueError(f"The lists of a split are train, validation and test; got {unknown[0]!r}.")
    by_name = {} if graphs.names is None else {name: place for place, name in enumerate(graphs.names)}
    where: dict[int, str] = {}
    found: dict[str, list[int]] = {name: [] for name in SPLITS}
    for name, members in lists.items():
        for member in members:
            place = _place(member, by_name, len(graphs))
            if place in where:
                raise ValueError(
                    f"Each graph may be listed once; graph {member!r} is in {where[place]!r} and in {name!r}."
                )
            where[place] = name
            found[name].append(place)
    for name in ("train", "test"):
        if not found[name]:
            raise ValueError(f"A split needs graphs for {name}; the lists have none.")
    return Positions(*(np.array(sorted(found[name]), np.int64) for name in SPLITS))


def _place(member: Any, by_name: Mapping[str, int], count: int) -> int:
    if isinstance(member, str) and member in by_name:
        return by_name[member]
    text = str(member)
    is_number = not isinstance(member, bool) and (not isinstance(member, str) or (text.isascii() and text.isdigit()))
    if is_number and text.isdigit() and int(text) < count:
        return int(text)
    raise ValueError(
        f"The lists of a split name graphs by their names, or by positions from 0 to {count - 1}; got {member!r}."
    )


# ---- names and checks ------------------------------------------------------------------------------


def _digest(graphs: GraphSet, kind: str, lists: Positions | None, k: int | tuple[int, ...]) -> str:
    about = {
        "y": [[type(label).__name__, str(label)] for label in np.asarray(graphs.y).tolist()],
        "split": kind,
        "lists": None if lists is None else [rows.tolist() for rows in lists],
        "k": k,
    }
    return sha256(content_digest(graphs) + compact_json(about).encode()).hexdigest()


def _check(parts: Parts) -> None:
    if not len(parts.test):
        raise ValueError("A split needs test graphs: a random one takes a fifth of each class, from three graphs on.")
    if len(np.unique(np.asarray(parts.train.y))) < 2:
        raise ValueError(f"All {len(parts.train)} training graphs have one class and cannot be learned from.")


def _plain(name: str) -> str:
    """Letters, digits, dots, dashes and underscores of a name, as in the names of tasks.

    >>> _plain("my graphs (2).zip"), _plain("日本")
    ('my-graphs-2-.zip', 'graphs')
    """
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip("._-") or "graphs"


def _title(label: str, parts: Parts) -> str:
    trained, tested = (_sizes(graphs) for graphs in (parts.train, parts.test))
    return (
        f"{label}: trained on {len(parts.train)} graphs of {trained} vertices, tested on {len(parts.test)} of {tested}"
    )


def _sizes(graphs: GraphSet) -> str:
    smallest, largest = graphs.sizes.min(), graphs.sizes.max()
    return f"{smallest}" if smallest == largest else f"{smallest} to {largest}"
