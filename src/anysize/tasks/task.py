"""`Task` and `Splits`: which graphs are for training, validation and test, and how predictions are scored.

A `Task` is a constant that says where its graphs come from; `Task.splits` makes them. Tasks import no models.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from anysize._errors import GraphError
from anysize._typing import IntArray, check_integer, is_integer
from anysize.graphs.graphset import GraphSet
from anysize.tasks.metrics import accuracy, mcc

Data: TypeAlias = int | Literal["published"]
DataDir: TypeAlias = str | os.PathLike[str] | None
Family: TypeAlias = Literal["erdos-renyi", "sbm", "tu", "brain"]
Metric: TypeAlias = Literal["accuracy", "mcc"]
Grouping: TypeAlias = Literal["size", "median"]
Choosing: TypeAlias = Literal["validation", "folds"]

FOLDS = 5
SPLITS = ("train", "validation", "test")


class Parts(NamedTuple):
    """The graphs of a task without their environments; y holds class numbers."""

    train: GraphSet
    validation: GraphSet | None
    test: GraphSet
    classes: tuple[str, ...]


class GraphSource(Protocol):
    """Where the graphs of a task come from."""

    @property
    def has_published(self) -> bool:
        """Whether there is a fixed data set, ``data="published"``."""

    @property
    def has_fresh(self) -> bool:
        """Whether an integer makes another data set."""

    @property
    def training_environments(self) -> int:
        """How many environments the training graphs come from."""

    def draw(self, data: Data, seed: int, data_dir: DataDir) -> Parts:
        """The graphs; ``seed`` decides what is random in the split of a fixed set."""


class EnvironmentLabels(NamedTuple):
    """The environment of every graph, as a number, and the names of these numbers."""

    train: IntArray
    validation: IntArray | None
    test: IntArray
    names: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Splits:
    """Training, validation and test graphs.

    ``y`` of each set holds class numbers 0 .. C - 1, positions in ``classes``. ``validation`` is None where the
    protocol has folds instead (see `Task.folds`). ``environments`` has one integer array for each set; training
    with invariant risk minimization reads ``environments.train``.
    """

    train: GraphSet
    validation: GraphSet | None
    test: GraphSet
    classes: tuple[str, ...]
    environments: EnvironmentLabels

    @staticmethod
    def of(parts: Parts, by: Grouping) -> Splits:
        """The graphs with their environments: equal sizes, or up to and above the median training size."""
        return Splits(*parts, environments=environments_of(parts.train, parts.validation, parts.test, by))

    @property
    def sets(self) -> dict[str, GraphSet]:
        """The sets by name, in order; without "validation" where there is none."""
        named = {"train": self.train, "validation": self.validation, "test": self.test}
        return {name: graphs for name, graphs in named.items() if graphs is not None}


@dataclass(frozen=True)
class Task:
    """One task: its graphs, its score, and what methods need to know about it.

    Attributes:
        name: as on the command line.
        title: one readable line.
        family: selects the grid and the defaults of hyper-parameters; None for graphs of a user, which have no grid and
            the defaults of `GraphClassifier`.
        source: makes the graphs.
        metric: "accuracy" or "mcc".
        k: the pattern size; several where it is a hyper-parameter.
        vocabulary: number of patterns to keep, the most common ones of the training pool; None keeps all.
        class_weights: how classes are weighted in the loss, see `anysize.methods.method.class_weights`; None for equal
            weights in the paper's recipe and "balanced" in the robust one.
        environments: how training graphs are divided into environments, by their exact size or by the median size.
        protocol: how a configuration is selected, by a validation set or by folds.
        color_penalty: whether models with a penalty on colors use it by default, because colors shift in test.
        sparse: whether degrees do not grow with the size. Densities over all subsets then vanish in large graphs, and
            figures show densities over connected subsets.
        label: the heading in tables; the name if empty.
        table: the number of the table that shows the task.
        published: the key of the task in the published tables; None for tasks that the paper does not have.
        note: a sentence about the graphs, for tasks made from data.
    """

    name: str
    title: str
    family: Family | None
    source: GraphSource
    metric: Metric = "accuracy"
    k: int | tuple[int, ...] = 5
    vocabulary: int | None = None
    class_weights: Literal["balanced", "inverse"] | None = None
    environments: Grouping = "size"
    protocol: Choosing = "validation"
    color_penalty: bool = False
    sparse: bool = False
    label: str = ""
    table: int | None = None
    published: str | None = None
    note: str = ""

    def __post_init__(self) -> None:
        choices: dict[str, Any] = {
            "family": Family, "metric": Metric, "environments": Grouping, "protocol": Choosing,
        }  # fmt: skip
        for name, kind in choices.items():
            value = getattr(self, name)
            if value not in get_args(kind) and not (name == "family" and value is None):
                raise ValueError(f"{name} of a task must be one of {', '.join(get_args(kind))}; got {value!r}")

    @property
    def single_environment(self) -> bool:
        """Whether all training graphs come from one environment, so that methods like IRM do not apply."""
        return self.source.training_environments == 1

    @property
    def default_data(self) -> Data:
        """The published data if there are any, else the fresh data of seed 0."""
        return "published" if self.source.has_published else 0

    def splits(self, data: Data | None = None, seed: int = 0, data_dir: DataDir = None) -> Splits:
        """The graphs of the task; the same arguments give the same graphs, in any process.

        Args:
            data: "published" for the data set of the published tables, an integer for a fresh one with that
                seed; without it, `default_data`.
            seed: what is random in the split of a fixed data set, such as the validation graphs of a TU set.
            data_dir: the folder with data files; without it the environment variable ANYSIZE_DATA.
        """
        parts = self.source.draw(self._checked(data), check_integer("seed", seed, 0), data_dir)
        self._check_parts(parts)
        return Splits.of(parts, self.environments)

    def folds(self, seed: int = 0, data: Data | None = None, data_dir: DataDir = None) -> tuple[Splits, ...]:
        """Five stratified folds of the training graphs, each once the validation set, to choose a configuration by.

        The chosen configuration is then trained on all of ``splits(...).train``. The test set is the same in all.

        Args:
            seed: of the folds.
            data: as for `splits`.
            data_dir: as for `splits`.
        """
        if self.protocol != "folds":
            raise ValueError(f"{self.name} has a validation set and no folds: use splits().")
        whole = self.splits(data, 0, data_dir)
        fold = stratified_folds(labels(whole.train), FOLDS, seed)
        return tuple(
            Splits.of(
                Parts(whole.train[fold != held], whole.train[fold == held], whole.test, whole.classes),
                self.environments,
            )
            for held in range(FOLDS)
        )

    def score(self, y_true: ArrayLike, y_pred: ArrayLike) -> float:
        """Accuracy, or the Matthews correlation coefficient, of predicted classes."""
        return accuracy(y_true, y_pred) if self.metric == "accuracy" else mcc(y_true, y_pred)

    def _check_parts(self, parts: Parts) -> None:
        """Raise an error unless the source returned labeled sets whose labels are positions in ``classes``."""
        if not isinstance(parts, Parts):
            raise ValueError(
                f"{self.name}: draw must return Parts(train, validation, test, classes); got a {type(parts).__name__}"
            )
        for split, graphs in zip(SPLITS, parts[:3], strict=True):
            if graphs is None and split == "validation":
                continue
            if not isinstance(graphs, GraphSet):
                raise ValueError(f"{self.name}: the {split} graphs must be a GraphSet; got a {type(graphs).__name__}")
            y = np.asarray(graphs.y if graphs.y is not None else ["None"])
            wrong = y if y.dtype.kind not in "iu" else y[(y < 0) | (y >= len(parts.classes))]
            if len(wrong):
                raise ValueError(
                    f"{self.name}: y of the {split} graphs must hold class numbers from 0 to {len(parts.classes) - 1}, "
                    f"positions in classes; got {wrong.tolist()[0]!r}"
                )

    def _checked(self, data: Data | None) -> Data:
        if data is None:
            return self.default_data
        if data == "published":
            if not self.source.has_published:
                raise ValueError(f"{self.name} is no task of the published tables; pass a seed, such as data=0.")
            return data
        if not is_integer(data) or data < 0:
            raise ValueError(f"data is 'published' or a seed, a whole number of at least 0; got {data!r}.")
        if not self.source.has_fresh:
            raise ValueError(
                f"{self.name} has one data set and no fresh ones; got data={data!r}. Leave data out; another seed= "
                "gives other validation graphs."
            )
        return int(data)


def parse_data(text: str) -> Data:
    """The argument of ``--data``: "published" or a seed.

    >>> parse_data("published"), parse_data("3")
    ('published', 3)
    """
    if text == "published":
        return "published"
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"--data takes 'published' or a seed, a whole number of at least 0; got {text!r}.")
    return int(text)


def labels(graphs: GraphSet) -> IntArray:
    """The class numbers of a set that has them."""
    if graphs.y is None:
        raise ValueError("These graphs have no classes: give the set y, one label per graph.")
    return np.asarray(graphs.y, np.int64)


def environments_of(train: GraphSet, validation: GraphSet | None, test: GraphSet, by: Grouping) -> EnvironmentLabels:
    """The environment of every graph, as a number; those of the training graphs come first.

    By size, every size is an environment. By median, training graphs are divided at `median_cut`, and so are others.
    """
    cut = median_cut(train.sizes)
    known = np.unique(train.sizes)
    others = np.setdiff1d(np.concatenate([s.sizes for s in (validation, test) if s is not None]), known)
    place = {size: number for number, size in enumerate([*known.tolist(), *others.tolist()])}

    def code(graphs: GraphSet) -> IntArray:
        if by == "median":
            return (graphs.sizes > cut).astype(np.int64)
        return np.array([place[size] for size in graphs.sizes.tolist()], np.int64)

    halves = (f"up to {cut:g} vertices", f"more than {cut:g} vertices")
    names = halves if by == "median" else tuple(f"{size} vertices" for size in place)
    return EnvironmentLabels(code(train), None if validation is None else code(validation), code(test), names)


def median_cut(sizes: IntArray) -> float:
    """The size that divides graphs into two environments: graphs up to it, and larger ones.

    This is the median, unless that is the largest size: then no graph would be larger, and methods that compare
    environments would have only one. In this case it is the next smaller size, so that both environments have graphs
    wherever sizes differ.

    >>> median_cut(np.array([5, 6, 7, 9])), median_cut(np.array([5, 6, 9, 9, 9, 9])), median_cut(np.array([4, 4]))
    (6.5, 6.0, 4.0)
    """
    if not len(sizes):
        return 0.0
    median, largest = float(np.median(sizes)), sizes.max()
    smaller = sizes[sizes < largest]
    return float(smaller.max()) if median == largest and len(smaller) else median


def stratified_folds(y: IntArray, folds: int, seed: int) -> IntArray:
    """A fold 0 .. folds - 1 for every graph, at random, with every class spread evenly over them.

    >>> fold = stratified_folds(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 2, seed=0)
    >>> fold[:4].sum().item(), fold[4:].sum().item()
    (2, 2)
    """
    values, amounts = np.unique(y, return_counts=True)
    if amounts.min(initial=folds) < folds or not len(values):
        raise ValueError(f"{folds} folds need at least {folds} training graphs of every class; got {amounts.tolist()}.")
    rng = np.random.default_rng(check_integer("seed", seed, 0))
    fold = np.empty(len(y), np.int64)
    dealt = 0
    for value, amount in zip(values, amounts, strict=True):
        # Each class starts at the fold after the last one, so that the folds differ by one graph at most.
        fold[rng.permutation(np.flatnonzero(y == value))] = (dealt + np.arange(amount)) % folds
        dealt += int(amount)
    return fold


# ---- data files ------------------------------------------------------------------------------------

DATA_VARIABLE = "ANYSIZE_DATA"
FOLDER_HINT = f"name the folder with --data-dir (data_dir= in Python) or the environment variable {DATA_VARIABLE}"


def data_folder(data_dir: DataDir) -> Path | None:
    """The folder with data files, by argument or by the environment variable; None if neither names one."""
    named = os.environ.get(DATA_VARIABLE) or None if data_dir is None else data_dir
    if named is None:
        return None
    folder = Path(named).expanduser()
    if not folder.is_dir():
        raise GraphError(f"There is no folder {folder}: {FOLDER_HINT}.")
    return folder
