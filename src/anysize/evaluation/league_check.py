"""Check records that someone sends: scores are recomputed from predictions, labels compared with those of the sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anysize._typing import PathLike
from anysize.evaluation.evaluate import rounded
from anysize.evaluation.records import Record, decode, encode
from anysize.evaluation.store import read_records
from anysize.evaluation.tasks import Task
from anysize.metrics import OF_CONFUSION, class_areas, confusion_matrix, regression_metrics

TOLERANCE = 1e-9


@dataclass(frozen=True)
class CheckResult:
    """What a check of records has found.

    Attributes:
        records: how many there are.
        compared: of them, how many have the labels of test graphs of a set that was given.
        problems: a sentence for every line that is damaged, score that differs, and wrong label.
    """

    records: int
    compared: int
    problems: tuple[str, ...]


def check_records(path: PathLike, tasks: Sequence[Task] = ()) -> CheckResult:
    """Check a file or folder of records; with the tasks of `anysize.evaluation.league.find_sets`, labels too."""
    records, problems = read_records(path)
    if not records and not problems:
        raise ValueError(f"{path} is empty: expected a record on every line.")
    by_name, labels = {task.name: task for task in tasks}, _Labels()
    compared = 0
    for record in records:
        problems += [f"{_name(record)}: {problem}" for problem in score_problems(record)]
        if record.task in by_name:
            compared += 1
            if labels.of(by_name[record.task], record.data) != (record.labels or record.targets):
                problems.append(f"{_name(record)}: its labels are not those of the test graphs of this set")
    twice = [name for name, times in Counter(map(_name, records)).items() if times > 1]
    problems += [f"{name}: there are several records of it" for name in twice]
    return CheckResult(len(records), compared, tuple(problems))


def score_problems(record: Record) -> list[str]:
    """A sentence for every score of a record that does not follow from its predictions, ranks and labels."""
    if not (record.labels and record.chosen.predictions) and not (record.targets and record.chosen.numbers):
        return ["it has no labels and predictions to compute scores from"]
    known = recomputed(record)
    recorded: Mapping[str, float | None] = {**record.chosen.metrics, record.metric: record.scores.test}
    problems = []
    for name, value in {**recorded, **record.chosen.metrics}.items():
        if name not in known:
            problems.append(f"{name} cannot be recomputed, for want of ranks")
        elif value is None or abs(value - known[name]) > TOLERANCE:
            problems.append(f"{name} is {value}, and {known[name]:.6f} by its predictions")
    if recorded[record.metric] != record.chosen.metrics.get(record.metric, recorded[record.metric]):
        problems.append(f"it has two values of {record.metric}")
    return problems


def recomputed(record: Record) -> dict[str, float]:
    """Scores from labels and predictions, and ROC-AUC from ranks; of numbers from these."""
    if record.targets:
        return regression_metrics(np.array(record.targets), np.array(record.chosen.numbers))
    labels, predictions = decode(record.labels), decode(record.chosen.predictions)
    classes = int(max(labels.max(), predictions.max(), len(record.chosen.ranks) - 1, 1)) + 1
    confusion = confusion_matrix(labels, predictions, classes)
    scores = {name: float(score(confusion)) for name, score in OF_CONFUSION.items()}
    if record.chosen.ranks:
        ranks = np.array(record.chosen.ranks, np.int64)
        scores["roc_auc"] = float(class_areas(labels, ranks, np.ones((1, len(labels)))).mean())
    return scores


class _Labels:
    """Labels of test graphs as records have them, drawn or split once for every data set."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], str | tuple[float, ...]] = {}

    def of(self, task: Task, data: str) -> str | tuple[float, ...]:
        if (task.name, data) not in self._known:
            kind, _, number = data.partition(":")
            splits = task.splits(int(number)) if kind == "seed" else task.splits(seed=int(number or 0))
            y = np.asarray(splits.test.y)
            self._known[task.name, data] = encode(y) if task.predicts == "classes" else rounded(y)
        return self._known[task.name, data]


def _name(record: Record) -> str:
    return f"{record.method} on {record.task}, {record.data}"
