"""The graphs of a task, ready for every method: examples with classes, environments and tables of counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize.experiments.plan import data_of
from anysize.experiments.records import encode
from anysize.graphs.graphset import GraphSet
from anysize.methods.grids import Configuration
from anysize.methods.method import Examples, LearningTask, Method, Sizes, balancing_weights, sizes_of
from anysize.tasks.catalog import find_task
from anysize.tasks.task import FOLDS, Data, DataDir, Task, labels, stratified_folds

SPLIT_SEED = 0  # of validation graphs and folds, the same for all models: the paper's kernels have no deviation
KEPT = 8  # data sets that a process holds ready

CountsKey = tuple[Sizes, bool]  # sizes of patterns, and whether with colors


@dataclass(frozen=True, eq=False)
class Prepared:
    """The examples of a task; validation is None where it has folds instead, or too few graphs."""

    task: Task
    train: Examples
    validation: Examples | None
    test: Examples
    classes: int
    cache: Any = None

    @property
    def sets(self) -> dict[str, Examples]:
        """By name, without those that are not there."""
        named = {"train": self.train, "validation": self.validation, "test": self.test}
        return {name: examples for name, examples in named.items() if examples is not None}

    @property
    def test_labels(self) -> str:
        """The classes of the test graphs, as records have them."""
        return encode(self.test.labels())

    def count(self, wanted: Iterable[CountsKey], report: Callable[[float], None] | None = None) -> None:
        """Count what methods will ask for, through the cache."""
        todo = [(examples, *own) for own in wanted for examples in self.sets.values()]
        for done, (examples, sizes, colors) in enumerate(todo, 1):
            examples.counts(sizes, self.cache, colors)
            if report is not None:
                report(done / len(todo))

    def problem(self, device: str) -> LearningTask:
        """What a method is trained on."""
        pool = [examples.labels() for examples in (self.train, self.validation) if examples is not None]
        weights = balancing_weights(np.concatenate(pool), self.classes) if self.task.class_weights else None
        return LearningTask(
            self.train, self.validation, self.classes, self.task.k, self.task.metric, self.task.vocabulary, weights,
            device, self.cache,
        )  # fmt: skip

    def folds(self) -> Iterator[tuple[Prepared, Examples]]:
        """Each fold of the training graphs once held out: what is trained on, and what is scored."""
        fold: NDArray[np.int64] = stratified_folds(self.train.labels(), FOLDS, SPLIT_SEED)
        for held in range(FOLDS):
            rest = self.train.rows(fold != held)
            yield Prepared(self.task, rest, None, self.test, self.classes, self.cache), self.train.rows(fold == held)


def prepare(task: Task, data: Data | None = None, data_dir: DataDir = None, cache: Any = None) -> Prepared:
    """Draw or read the graphs of a task; nothing is counted yet."""
    splits = task.splits(data, SPLIT_SEED, data_dir)
    environments = splits.environments

    def examples(graphs: GraphSet, own: NDArray[np.int64]) -> Examples:
        return Examples(graphs, labels(graphs), own)

    validation = None
    if splits.validation is not None and environments.validation is not None:
        validation = examples(splits.validation, environments.validation)
    train, test = examples(splits.train, environments.train), examples(splits.test, environments.test)
    return Prepared(task, train, validation, test, len(splits.classes), cache)


@lru_cache(maxsize=KEPT)
def prepared(task: str, data: str, data_dir: str | None, cache: str | None) -> Prepared:
    """The same by name, kept: the pieces of a sweep share a few data sets."""
    return prepare(find_task(task), data_of(data), data_dir, cache)


def tables_for(method: Method, task: Task, configurations: Iterable[Configuration]) -> list[CountsKey]:
    """The tables of counts that a method looks at."""
    if not method.patterns:
        return []
    sizes = dict.fromkeys(sizes_of(configuration, task.k) for configuration in configurations)
    return [(own, method.colors) for own in sizes]
