"""Splits by size: train on the small graphs of a set, test on the large ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from anysize._typing import IntArray
from anysize.graphs.graphset import GraphSet
from anysize.io.convert import as_graphset
from anysize.methods import defaults
from anysize.tasks.describe import shift
from anysize.tasks.task import Data, DataDir, GraphSource, Parts, Splits, Task, labels
from anysize.theory.graphon_check import check_graphon

VALIDATION_SHARE = 0.1
TRAIN_BELOW, TEST_ABOVE = 50, 90  # percentiles of the size, those of the paper
_AT_RANDOM = "; compare can also split at random: split='random' (--split random)"


@dataclass(frozen=True, eq=False)
class SizeSplit:
    """One set of graphs: small ones for training and validation, large ones for test."""

    graphs: GraphSet
    train_below: float
    test_above: float

    has_published = True
    has_fresh = False
    training_environments = 2

    def draw(self, data: Data, seed: int, data_dir: DataDir) -> Parts:
        return split_by_size(self.graphs, self.train_below, self.test_above, seed)


def size_split(
    graphs: Any,
    train_below: float = TRAIN_BELOW,
    test_above: float = TEST_ABOVE,
    *,
    y: ArrayLike | None = None,
    color: str | None = None,
    name: str = "size-split",
    k: int = defaults.K,
) -> Task:
    """A task made of any labeled graphs: train on the small ones, test on the large ones.

    Graphs of at most percentile(sizes, train_below) vertices are for training; a tenth of them, drawn with the seed of
    `Task.splits`, is the validation set. Graphs of at least percentile(sizes, test_above) vertices are the test set,
    graphs in between are left out. ``note`` of the task describes the shift in one sentence.
    Methods are trained with the defaults of `GraphClassifier`.

    Args:
        graphs: a `GraphSet`, a list of graphs, a path: whatever `anysize.count` takes.
        train_below: largest size of training graphs, as a percentile.
        test_above: smallest size of test graphs, as a percentile.
        y: one label per graph; None for the labels stored with the graphs.
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
    """
    labeled = as_graphset(graphs, color=color)
    labeled = labeled if y is None else labeled.with_y(y)
    parts = split_by_size(labeled, train_below, test_above, seed=0)
    kept = np.concatenate([parts.train.sizes, [] if parts.validation is None else parts.validation.sizes])
    title = f"Train on up to {kept.max():g} vertices, test on {parts.test.sizes.min():g} and more"
    return task_of_graphs(SizeSplit(labeled, train_below, test_above), parts, name=name, title=title, k=k)


def task_of_graphs(
    source: GraphSource, parts: Parts, *, name: str, title: str, k: int | tuple[int, ...], label: str = ""
) -> Task:
    """A task of a user's graphs, with the defaults of `GraphClassifier`; ``parts`` is their split with seed 0."""
    train = parts.train
    return Task(
        name=name,
        title=title,
        label=label,
        family=None,
        source=source,
        metric=defaults.METRIC,
        k=k,
        environments="median",
        color_penalty=train.colors is not None,
        sparse=check_graphon(train, labels(train)).regime == "sparse",
        note=shift(Splits.of(parts, "median")),
    )


def split_by_size(graphs: GraphSet, train_below: float, test_above: float, seed: int) -> Parts:
    """Train, validation and test graphs by percentiles of the size; classes are numbered in the order of labels."""
    if graphs.y is None:
        raise ValueError(
            "A split by size needs classes: give the graphs y, one label per graph (in commands: --labels FILE)."
        )
    return parts_of(graphs, positions_by_size(graphs, train_below, test_above, seed))


class Positions(NamedTuple):
    """Which graphs of a set are for training, validation and test; validation may be empty."""

    train: IntArray
    validation: IntArray
    test: IntArray


def parts_of(graphs: GraphSet, positions: Positions) -> Parts:
    """The graphs at these positions; classes are numbered in the order of labels."""
    values, codes = np.unique(np.asarray(graphs.y), return_inverse=True)
    numbered = graphs.with_y(codes.astype(np.int64))
    train, validation, test = (numbered[rows] for rows in positions)
    return Parts(train, validation if len(validation) else None, test, tuple(str(value) for value in values))


def positions_by_size(graphs: GraphSet, train_below: float, test_above: float, seed: int) -> Positions:
    """The split of `split_by_size`, as positions of labeled graphs."""
    if not 0 <= train_below < test_above <= 100:
        raise ValueError(
            f"The percentiles are 0 <= train_below < test_above <= 100; got {train_below!r} and {test_above!r}."
        )
    if not len(graphs):
        raise ValueError("A split by size needs graphs; this set has none.")
    low, high = np.percentile(graphs.sizes, [train_below, test_above])
    if low >= high:
        raise ValueError(
            f"These graphs differ too little in size: their percentiles {train_below:g} and {test_above:g} are both "
            f"{low:g} vertices. Take percentiles further apart, or graphs of more sizes{_AT_RANDOM}."
        )
    pool, test = np.flatnonzero(graphs.sizes <= low), np.flatnonzero(graphs.sizes >= high)
    if len(np.unique(np.asarray(graphs.y)[pool])) < 2:
        raise ValueError(
            f"All {len(pool)} graphs of up to {low:g} vertices have one class and cannot be learned from; use a "
            f"larger train_below{_AT_RANDOM}."
        )
    return Positions(*hold_out(pool, seed), test)


def hold_out(pool: IntArray, seed: int) -> tuple[IntArray, IntArray]:
    """Divide training graphs: a tenth of them, drawn with the seed, is for validation."""
    drawn = np.random.default_rng(seed).permutation(len(pool))[: int(VALIDATION_SHARE * len(pool))]
    held = np.zeros(len(pool), bool)
    held[drawn] = True
    return pool[~held], pool[held]
