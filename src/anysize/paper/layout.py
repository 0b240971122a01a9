"""The paper's tables: their titles, metrics and columns. Rows are `anysize.methods.catalog.METHODS`."""

from __future__ import annotations

from dataclasses import dataclass

from anysize._text import capitalized
from anysize.evaluation.tasks import Task
from anysize.methods.catalog import METHODS
from anysize.metrics import METRIC_NAMES
from anysize.paper.tasks import PUBLISHED_KEYS, TABLE_TASKS, TASKS, table_of
from anysize.splits import SPLITS

FULL_METRIC_NAMES = {**METRIC_NAMES, "mcc": "Matthews correlation coefficient"}

__all__ = ["FULL_METRIC_NAMES", "TABLES", "TableEntry", "TaskEntry", "applies", "table_of"]


@dataclass(frozen=True)
class TaskEntry:
    """A group of columns: a task that a table shows.

    Attributes:
        name: of the task.
        title: the heading.
        single_environment: methods that compare environments do not apply.
        extra: not in the paper; shown where there are records.
    """

    name: str
    title: str
    single_environment: bool = False
    extra: bool = False

    @staticmethod
    def of(task: Task) -> TaskEntry:
        """The columns of a task."""
        return TaskEntry(task.name, task.label or task.name, task.single_environment, task.name not in PUBLISHED_KEYS)

    @staticmethod
    def named(name: str) -> TaskEntry:
        """The columns of a task, which need not be known here: records may come from elsewhere."""
        return TaskEntry.of(TASKS[name]) if name in TASKS else TaskEntry(name, name, extra=True)


@dataclass(frozen=True)
class TableEntry:
    """A table: tasks across, methods down.

    Attributes:
        number: in the paper; None for a table of tasks that are in none of its tables.
        title: what its graphs are.
        metric: of all its tasks.
        splits: the columns of each task.
        bold: how many of the best test means are set in bold.
    """

    number: int | None
    title: str
    metric: str
    splits: tuple[str, ...]
    bold: int

    @property
    def tasks(self) -> tuple[TaskEntry, ...]:
        """The tasks of this table, in its order."""
        return () if self.number is None else tuple(map(TaskEntry.of, TABLE_TASKS[self.number]))

    @property
    def heading(self) -> str:
        """The metric and what the graphs are, after the number of the paper."""
        number = "" if self.number is None else f"Table {self.number}. "
        return f"{number}{capitalized(METRIC_NAMES[self.metric])}, {self.title}"

    @staticmethod
    def of_other_tasks(metric: str) -> TableEntry:
        """A table of tasks that are in none of the paper's tables."""
        return TableEntry(None, "other tasks", metric, SPLITS, bold=1)


TABLES = {
    1: TableEntry(1, "graphs without attributes", "accuracy", SPLITS, bold=1),
    2: TableEntry(2, "attributed block models", "accuracy", SPLITS, bold=1),
    3: TableEntry(3, "real graphs, small to large", "mcc", ("test",), bold=4),
}


def applies(task: TaskEntry, method: str) -> bool:
    """Whether a method can be run on a task: IRM, for one, needs training graphs of several environments.

    >>> single = TaskEntry("one", "One", single_environment=True)
    >>> applies(single, "gin-irm"), applies(single, "gin-sum"), applies(single, "mine")
    (False, True, True)
    """
    if not task.single_environment or method not in METHODS:
        return True
    return not METHODS[method].compares_environments(METHODS[method].default("paper"))
