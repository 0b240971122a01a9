"""Choose a configuration inside the training graphs: an equal number of candidates for every method.

Candidates are the default and others drawn from the grid of the method for real sets. They are compared where it
matters for graphs of other sizes: trained on the smaller training graphs (on the larger ones if the task goes down) and
scored on the rest. Validation graphs of the sizes of training rarely tell them apart. No test graph is looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from anysize._schema import canonical_configuration
from anysize.evaluation.compare import data_and_split
from anysize.evaluation.records import Record
from anysize.evaluation.standings import INNER
from anysize.evaluation.tasks import OwnGraphs, Task, own_task
from anysize.graphs.graphset import GraphSet
from anysize.methods import defaults
from anysize.methods.method import Configuration, Method
from anysize.metrics import goodness
from anysize.splits import smaller_and_larger

FAMILY = "tu"  # whose grids are drawn from


def candidates(method: Method, default: Configuration, amount: int, seed: int = 0) -> list[Configuration]:
    """The default, and up to ``amount - 1`` other points of the grid at random; fewer where the grid has fewer."""
    known = [canonical_configuration(default)]
    others: list[Configuration] = []
    for point in method.points(FAMILY):
        configuration = {**default, **point}
        if canonical_configuration(configuration) not in known:
            known.append(canonical_configuration(configuration))
            others.append(configuration)
    drawn = np.random.default_rng(seed).permutation(len(others))[: amount - 1]
    return [default, *(others[number] for number in drawn)]


def inner_task(task: Task) -> Task:
    """The training graphs of a task with seed 0, split by size in the direction of the task.

    An error if the smaller ones have one class, or all one size.
    """
    splits = task.splits(*data_and_split(task, 0))
    pool = splits.train if splits.validation is None else GraphSet.concatenate([splits.train, splits.validation])
    down = isinstance(task.source, OwnGraphs) and getattr(task.source.rule, "down", False)
    near, far = smaller_and_larger(-pool.sizes if down else pool.sizes)
    lists = {"train": near.tolist(), "test": far.tolist()}
    return own_task(pool, lists, name=task.name + INNER.rstrip("-"), k=task.k, predict=task.predicts)


def best(tried: Sequence[Configuration], records: Iterable[Record]) -> Configuration | None:
    """The candidate with the highest inner score, the first of several; None if one of them has no record."""
    scores = {str(record.configuration): _inner_score(record) for record in records}
    keys = [str(canonical_configuration(configuration)) for configuration in tried]
    if not all(key in scores for key in keys):
        return None
    return tried[int(np.argmax([scores[key] for key in keys]))]


def _inner_score(record: Record) -> float:
    """Higher is better: the balanced accuracy, because class shares move with the size, or the negative RMSE."""
    metric = defaults.COMPARED_BY["numbers" if record.targets else "classes"]
    return float(goodness(metric, record.chosen.metrics[metric]))
