"""`Task`, where labeled graphs come from, and `Splits`, its graphs for training, validation and test.

A task is a constant; `Task.splits` draws or reads its graphs. `size_split` and `own_task` make tasks of any labeled
graphs. Tasks import no models.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from anysize._schema import check_integer, compact_json, is_integer
from anysize._typing import BoolArray, IntArray, PathLike, TargetKind
from anysize.causal.graphon_check import check_graphon
from anysize.graphs.graphset import GraphSet, attributes_digest, content_digest
from anysize.graphs.labels import as_numbers, check_complete, distinct_classes, known_targets, target_kind
from anysize.io.convert import as_graphset
from anysize.methods import defaults
from anysize.methods.method import Examples, learn_bins
from anysize.patterns.pattern import pattern_sizes
from anysize.splits import RULES, SPLITS, BySize, Lists, OfPart, Positions, SplitRule, median_cut, split_rule

Data: TypeAlias = int | Literal["published"]
Family: TypeAlias = Literal["erdos-renyi", "sbm", "tu", "brain"]
Metric: TypeAlias = Literal["accuracy", "mcc", "rmse"]
Grouping: TypeAlias = Literal["size", "median"]

MAX_CLASSES = 62  # that records can name


class Parts(NamedTuple):
    """What a source returns: graphs whose y holds class numbers, and where they were in a fixed set, if in one.

    Without classes, y holds numbers to predict.
    """

    train: GraphSet
    validation: GraphSet | None
    test: GraphSet
    classes: tuple[str, ...]
    positions: Positions | None = None
    total: int = 0  # graphs of the fixed set
    examples: Mapping[str, Examples] | None = None  # the sets by name as parts of larger ones, see `SharedExamples`


def data_name(data: Data, split: int | None = None) -> str:
    """A data set and split in records: `published`, `seed:7`, or `split:3`.

    >>> data_name("published"), data_name(7), data_name("published", 3)
    ('published', 'seed:7', 'split:3')
    """
    if data != "published":
        return f"seed:{data}"
    return "published" if split is None else f"split:{split}"


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

    def draw(self, data: Data, seed: int, data_dir: PathLike | None) -> Parts:
        """The graphs; ``seed`` decides what is random in the split of a fixed set."""


@dataclass(frozen=True, eq=False)
class Splits:
    """Training, validation and test graphs of a task.

    Attributes:
        train, validation, test: the graphs; y holds class numbers 0 .. C - 1, positions in ``classes``, or numbers to
            predict if there are no classes. Validation is None where the task has folds instead, or too few graphs.
        task: where they come from.
        data: the data set, `published` or a seed.
        seed: of the split of a fixed data set; None for the one split of the tables.
        positions: of the graphs in the set that was split; None if they were drawn.
        total: how many graphs the set that was split has.
        shared: the sets by name as parts of larger ones that other tasks share; None where there are none.
    """

    train: GraphSet
    validation: GraphSet | None
    test: GraphSet
    classes: tuple[str, ...]
    task: Task
    data: Data = "published"
    seed: int | None = None
    positions: Positions | None = None
    total: int = 0
    shared: Mapping[str, Examples] | None = None

    @property
    def train_index(self) -> IntArray:
        """Positions of the training graphs in the set that was split."""
        return self._known_positions().train

    @property
    def validation_index(self) -> IntArray:
        """Positions of the validation graphs in the set that was split; empty where there are none."""
        return self._known_positions().validation

    @property
    def test_index(self) -> IntArray:
        """Positions of the test graphs in the set that was split."""
        return self._known_positions().test

    @property
    def masks(self) -> dict[str, BoolArray]:
        """For "train", "validation" and "test", whether each graph of the set that was split is in that part."""
        masks = {name: np.zeros(self.total, np.bool_) for name in SPLITS}
        for mask, rows in zip(masks.values(), self._known_positions(), strict=True):
            mask[rows] = True
        return masks

    def _known_positions(self) -> Positions:
        if self.positions is None:
            raise ValueError(
                f"The graphs of {self.task.name} were drawn, not chosen from a set: they have no positions."
            )
        return self.positions

    @property
    def sets(self) -> dict[str, GraphSet]:
        """The sets by name, in order; without "validation" where there is none."""
        named = {"train": self.train, "validation": self.validation, "test": self.test}
        return {name: graphs for name, graphs in named.items() if graphs is not None}

    @cached_property
    def binned(self) -> Splits:
        """The same with bins of vertex features as vertex colors, learned on the training graphs."""
        bins = learn_bins(self.train)
        if bins is None:
            return self
        validation = None if self.validation is None else bins.transform(self.validation)
        train, test = bins.transform(self.train), bins.transform(self.test)
        return replace(self, train=train, validation=validation, test=test, shared=None)

    @cached_property
    def examples(self) -> dict[str, Examples]:
        """The sets as input of methods, which count each of them once; an error for several targets."""
        if targets := self.train.targets:
            raise ValueError(
                f"{self.task.name} has several targets, and a method is evaluated on one: split graphs.target"
                f"({targets[0]!r}) instead. GraphClassifier().fit(splits.train) learns all of them."
            )
        kind: Any = np.int64 if self.classes else np.float64
        return {
            name: replace(
                Examples(graphs) if self.shared is None else self.shared[name],
                y=np.asarray(graphs.y, kind), environments=self.environments(graphs),
            )
            for name, graphs in self.sets.items()
        }  # fmt: skip

    @cached_property
    def vanishing(self) -> bool:
        """Whether densities over all subsets vanish with the size: as the task says, or the training graphs."""
        if self.task.vanishing is not None:
            return self.task.vanishing
        return check_graphon(self.train, self.examples["train"].strata()).regime == "not_graphon"

    @property
    def color_penalty(self) -> bool:
        """Whether models with a penalty on colors use it by default."""
        return self.train.colors is not None if self.task.color_penalty is None else self.task.color_penalty

    def environments(self, graphs: GraphSet) -> IntArray:
        """The environment of every graph, as a number: its size, or 0 and 1 for graphs up to and above `median_cut`."""
        if self.task.environments == "size":
            return graphs.sizes
        return (graphs.sizes > median_cut(self.train.sizes)).astype(np.int64)


@dataclass(frozen=True)
class Task:
    """One task: its graphs, its score, and what methods need to know about it.

    Attributes:
        name: as on the command line.
        title: one readable line.
        family: selects the grid and the defaults of hyper-parameters; None for graphs of a user, which have no grid and
            the defaults of `GraphClassifier`.
        source: makes the graphs.
        metric: "accuracy" or "mcc"; "rmse" if numbers are predicted.
        k: the pattern size; several where it is a hyper-parameter.
        top: number of patterns to keep, the most common ones of training and validation graphs; None keeps all.
        class_weights: how classes are weighted in the loss, see `anysize.methods.method.class_weights`; None for equal
            weights in the paper's recipe and "balanced" in the robust one.
        environments: how training graphs are divided into environments, by their exact size or by the median size.
        folds: number of folds of the training graphs to select a configuration by; 0 for a validation set.
        color_penalty: whether models with a penalty on colors use it by default, because colors shift in test; None:
            if the graphs have colors.
        vanishing: whether degrees do not grow with the size, so that densities over all subsets vanish in large graphs;
            None: the training graphs decide (`anysize.causal.graphon_check`).
        label: the heading in tables; the name if empty.
    """

    name: str
    title: str
    family: Family | None
    source: GraphSource
    metric: Metric = "accuracy"
    k: int | tuple[int, ...] = 5
    top: int | None = None
    class_weights: Literal["balanced", "inverse"] | None = None
    environments: Grouping = "size"
    folds: int = 0
    color_penalty: bool | None = False
    vanishing: bool | None = False
    label: str = ""

    def __post_init__(self) -> None:
        choices: dict[str, Any] = {"family": Family, "metric": Metric, "environments": Grouping}
        for name, kind in choices.items():
            value = getattr(self, name)
            if value not in get_args(kind) and not (name == "family" and value is None):
                raise ValueError(f"{name} of a task must be one of {', '.join(get_args(kind))}; got {value!r}")

    @property
    def predicts(self) -> TargetKind:
        """What its targets are."""
        return "numbers" if self.metric == "rmse" else "classes"

    @property
    def single_environment(self) -> bool:
        """Whether all training graphs come from one environment, so that methods like IRM do not apply."""
        return self.source.training_environments == 1

    @property
    def default_data(self) -> Data:
        """The published data if there are any, else the fresh data of seed 0."""
        return "published" if self.source.has_published else 0

    def splits(self, data: Data | None = None, seed: int | None = None, data_dir: PathLike | None = None) -> Splits:
        """The graphs of the task; the same arguments give the same graphs, in any process.

        Args:
            data: "published" for the data set of the published tables, an integer for a fresh one with that
                seed; without it, `default_data`.
            seed: what is random in the split of a fixed data set, such as the validation graphs of a TU set; None for
                the split of the tables, which is that of seed 0.
            data_dir: the folder with data files; without it the environment variable ANYSIZE_DATA.
        """
        chosen = self.default_data if data is None else data
        if reason := self.data_missing(chosen):
            raise ValueError(reason)
        parts = self.source.draw(chosen, 0 if seed is None else check_integer("seed", seed, 0), data_dir)
        self._check_parts(parts)
        train, validation, test, classes, positions, total, shared = parts
        return Splits(train, validation, test, classes, self, chosen, seed, positions, total, shared)

    def data_missing(self, data: Data) -> str:
        """The reason why the task has no such data; empty if it has."""
        if data == "published":
            has = self.source.has_published
            return "" if has else f"{self.name} has no published data; pass a seed, such as data=0 (--data 0)."
        if not is_integer(data) or data < 0:
            return f"data is 'published' or a seed, a whole number of at least 0; got {data!r}."
        if self.source.has_fresh:
            return ""
        return (
            f"{self.name} has one data set and no fresh ones; got data={data!r}. Leave data out; another seed= gives "
            "other validation graphs."
        )

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
            if graphs.targets:  # each has labels of its own, and gaps
                continue
            if self.predicts == "numbers":
                if y.dtype.kind != "f" or not np.isfinite(y).all():
                    raise ValueError(f"{self.name}: y of the {split} graphs must hold finite numbers of type float")
                continue
            wrong = y if y.dtype.kind not in "iu" else y[(y < 0) | (y >= len(parts.classes))]
            if len(wrong):
                raise ValueError(
                    f"{self.name}: y of the {split} graphs must hold class numbers from 0 to {len(parts.classes) - 1}, "
                    f"positions in classes; got {wrong.tolist()[0]!r}"
                )


# ---- tasks of a user's graphs --------------------------------------------------------------------------


class SharedExamples:
    """A set of graphs of which the tasks of several targets have parts, and a rule that splits it for all of them.

    The training graphs of a seed, with those for validation, are one set of `Examples`, the test graphs another: they
    are counted and refined once for all targets, and for all seeds that split them alike. Copies for other processes
    begin without them.
    """

    def __init__(self, graphs: GraphSet, rule: SplitRule) -> None:
        self.graphs, self.rule = graphs, rule
        self._wholes: dict[bytes, Examples] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return SharedExamples, (self.graphs, self.rule)

    def parts(self, rows: IntArray, seed: int) -> dict[str, Examples]:
        """The sets by name, of the graphs with these ascending positions."""
        positions = self.rule.positions(self.graphs, seed)
        pool = np.sort(np.concatenate([positions.train, positions.validation]))
        wholes = {"train": pool, "validation": pool, "test": positions.test}
        return {name: self._part(wholes[name], part, rows) for name, part in positions._asdict().items()}

    def _part(self, whole: IntArray, part: IntArray, rows: IntArray) -> Examples:
        examples = self._wholes.setdefault(whole.tobytes(), Examples(self.graphs[whole]))
        return examples.rows(np.searchsorted(whole, part[np.isin(part, rows)]))


@dataclass(frozen=True)
class OwnGraphs:
    """Labeled graphs and how they are split; equal where the graphs, their classes and the split are equal.

    Attributes:
        rule: how they are split, `OfPart` for one of several targets. shared: what it then shares with the others.
        digest: a hash of everything that results depend on.
        predicts: what their labels are.
    """

    graphs: GraphSet = field(compare=False, repr=False)
    rule: SplitRule = field(compare=False)
    digest: str = ""
    predicts: TargetKind = "classes"
    shared: SharedExamples | None = field(default=None, compare=False, repr=False)

    has_published = True
    has_fresh = False

    @property
    def training_environments(self) -> int:
        """Two, smaller and larger graphs; one if all training graphs have one size."""
        sizes = self.graphs.sizes[self.positions(0).train]
        return min(len(np.unique(sizes)), 2)

    def positions(self, seed: int) -> Positions:
        """The split with this seed."""
        has_classes = self.predicts == "classes" and not self.graphs.targets
        return self.rule.positions(self.graphs if has_classes else self.graphs.with_y(None), seed)

    def draw(self, data: Data, seed: int, data_dir: PathLike | None) -> Parts:
        parts = split_graphs(self.graphs, self.positions(seed), self.predicts)
        if self.shared is None or not isinstance(self.rule, OfPart):
            return parts
        return parts._replace(examples=self.shared.parts(self.rule.rows, seed))


def split_graphs(graphs: GraphSet, positions: Positions, predicts: TargetKind = "classes") -> Parts:
    """Labeled graphs, split; classes are numbered in the order of labels, numbers are floats.

    Several targets stay as they are.
    """
    if graphs.targets:
        values, numbered = np.zeros(0), graphs
    elif predicts == "numbers":
        values, numbered = np.zeros(0), graphs.with_y(np.asarray(graphs.y, np.float64))
    else:
        values, codes = np.unique(np.asarray(graphs.y), return_inverse=True)
        numbered = graphs.with_y(codes.astype(np.int64))
    train, validation, test = numbered[positions.train], numbered[positions.validation], numbered[positions.test]
    return Parts(train, validation if len(validation) else None, test, tuple(map(str, values)), positions, len(graphs))


def size_split(
    graphs: Any,
    train_below: float = 50,
    test_above: float = 90,
    *,
    y: ArrayLike | None = None,
    color: str | None = None,
    name: str = "size-split",
    k: int = defaults.K,
) -> Task:
    """A task made of any labeled graphs: train on the small ones, test on the large ones.

    Graphs of at most percentile(sizes, train_below) vertices are for training; a tenth of them, drawn with the seed of
    `Task.splits`, is the validation set. Graphs of at least percentile(sizes, test_above) vertices are the test set,
    graphs in between are left out. Methods are trained with the defaults of `GraphClassifier`.

    Args:
        graphs: a `GraphSet`, a list of graphs, a path: whatever `anysize.count` takes.
        train_below: largest size of training graphs, as a percentile.
        test_above: smallest size of test graphs, as a percentile.
        y: one label per graph; None for the labels stored with the graphs. Or a table of several targets, a row per
            graph, NaN or None where one is not known: the split is by size alone, labels and gaps stay as they are, and
            ``classes`` is empty. A part may lack a target, or some of its classes.
        color: for networkx, PyG and igraph graphs, the vertex attribute that holds the color.
        name: of the task.
        k: pattern size of the task.

    Examples:
        >>> paths = [[(i, i + 1) for i in range(n)] for n in range(2, 32)]
        >>> task = size_split(GraphSet.from_edges(paths, y=["odd", "even"] * 15))
        >>> splits = task.splits(seed=0)
        >>> splits.train.sizes.max().item(), len(splits.validation), splits.test.sizes.tolist()
        (17, 1, [30, 31, 32])
        >>> splits.classes
        ('even', 'odd')
        >>> assays = [[n % 2, None if n % 3 else 1] for n in range(30)]
        >>> several = size_split(GraphSet.from_edges(paths), y=assays).splits(seed=0)
        >>> several.test.targets, several.test.y.tolist()
        (('0', '1'), [[1.0, 1.0], [0.0, nan], [1.0, nan]])
    """
    rule = BySize(train_below, test_above)
    task = own_task(graphs, rule, y=y, color=color, k=k)
    splits = task.splits()
    pool = max(part.sizes.max() for part in (splits.train, splits.validation) if part is not None)
    title = f"Train on up to {pool:g} vertices, test on {splits.test.sizes.min():g} and more"
    return replace(task, name=name, title=title, label="")


def own_task(
    graphs: Any,
    split: str | Path | Lists | BySize | OfPart = "size",
    *,
    y: ArrayLike | None = None,
    color: str | None = None,
    name: str = "graphs",
    k: int | Sequence[int] = defaults.K,
    predict: TargetKind | None = None,
) -> Task:
    """A task made of any labeled graphs. Its name ends with a hash of the graphs, their labels, the split and k.

    `Task.splits(seed=3)` is the split with seed 3:

    - ``"size"``: graphs up to the median size are for training, graphs from the 90th percentile on for test, those in
      between are left out. The seed draws a tenth of the training graphs for validation: the test set is always the
      same.
    - ``"size-down"``: graphs from the median size on are for training, graphs up to the 10th percentile for test.
    - ``"random"``: the seed draws a fifth of each class for test, and a tenth of the others for validation.
    - lists: ``{"train": [...], "validation": [...], "test": [...]}``, graphs by position or name, or a JSON file with
      the same, or a CSV file with lines ``graph,train``. Without validation the seed draws a tenth of the training
      graphs.

    Args:
        graphs: a `GraphSet`, a list of graphs, a path: whatever `anysize.count` takes.
        split: how they are split.
        y: one label per graph; None for the labels stored with the graphs. Or several targets, as for `size_split`.
        color: for networkx, PyG and igraph graphs, the vertex attribute that holds the color.
        name: the beginning of the task's name.
        k: pattern size of the task, or several.
        predict: whether labels are classes or numbers to predict; None: numbers if some are fractions.

    Examples:
        >>> paths = [[(i, i + 1) for i in range(n)] for n in range(2, 32)]
        >>> task = own_task(GraphSet.from_edges(paths, y=["odd", "even"] * 15), "random", name="paths")
        >>> task.name, [len(graphs) for graphs in task.splits(seed=1).sets.values()]
        ('paths-random-0368c240', [22, 2, 6])
    """
    labeled = as_graphset(graphs, color=color)
    labeled = labeled if y is None else labeled.with_y(y)
    labeled, predict = _checked_labels(labeled, predict)
    rule = split if isinstance(split, BySize | OfPart) else split_rule(split, labeled)
    sizes = pattern_sizes(k)
    source = OwnGraphs(labeled, rule, _digest(labeled, rule, sizes), predict)
    parts = source.draw("published", 0, None)
    if not len(parts.test):
        raise ValueError("A split needs test graphs: a random one takes a fifth of each class, from three graphs on.")
    if not labeled.targets and len(np.unique(np.asarray(parts.train.y))) < 2:
        what = "class" if predict == "classes" else "number"
        raise ValueError(f"All {len(parts.train)} training graphs have one {what} and cannot be learned from.")
    # letters, digits, dots, dashes and underscores, as in the names of all tasks
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).lstrip("._-") or "graphs"
    label = f"{name}, {rule.title}"
    title = (
        f"{label}: trained on {len(parts.train)} graphs of {size_range(parts.train)} vertices, tested on "
        f"{len(parts.test)} of {size_range(parts.test)}"
    )
    return Task(
        f"{plain}-{rule.name}-{source.digest[:8]}", title, None, source,
        metric=defaults.METRIC if predict == "classes" else "rmse", k=sizes,
        environments="median", color_penalty=None, vanishing=None, label=label,
    )  # fmt: skip


def _checked_labels(labeled: GraphSet, predict: TargetKind | None) -> tuple[GraphSet, TargetKind]:
    """Graphs with labels that a task can have, and what these are; several targets as they are."""
    if labeled.y is None:
        raise ValueError("A task needs classes: give y, one label per graph (in commands: --labels FILE).")
    if labeled.targets:
        columns = range(len(labeled.targets))
        kinds = {target_kind(known_targets(labeled.y, column)[1]) for column in columns}
        return labeled, "classes" if "classes" in kinds else "numbers"
    check_complete(labeled.y)
    predict = target_kind(labeled.y) if predict is None else predict
    if predict == "numbers":
        return labeled.with_y(as_numbers(np.asarray(labeled.y))), predict
    if len(classes := distinct_classes(np.asarray(labeled.y))) > MAX_CLASSES:
        raise ValueError(
            f"Up to {MAX_CLASSES} classes can be compared; these graphs have {len(classes)}, such as "
            f"{classes.tolist()[0]!r}. If their label is a number to predict, pass predict='numbers' (--target COLUMN)."
        )
    return labeled, predict


def size_range(graphs: GraphSet) -> str:
    """The sizes of graphs in words, such as "5 to 12"."""
    smallest, largest = graphs.sizes.min(), graphs.sizes.max()
    return f"{smallest}" if smallest == largest else f"{smallest} to {largest}"


def _digest(graphs: GraphSet, rule: SplitRule, k: int | tuple[int, ...]) -> str:
    lists: Positions | None = getattr(rule, "given", None)
    about = {
        "y": [[type(label).__name__, str(label)] for label in np.asarray(graphs.y).tolist()],
        "split": repr(rule) if isinstance(rule, BySize) and rule != RULES["size"] else rule.name,
        "lists": None if lists is None else [rows.tolist() for rows in lists],
        **({"part": [rows.tolist() for rows in rule.positions(graphs, 0)]} if isinstance(rule, OfPart) else {}),
        "k": k,
    }
    return sha256(content_digest(graphs) + attributes_digest(graphs) + compact_json(about).encode()).hexdigest()
