"""Which rows of a task the figures show: the configurations that the tables report, the Gamma models first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from anysize.experiments.records import Record
from anysize.experiments.selection import RULES, Group, Selection, select_all
from anysize.experiments.tables.layout import TABLES
from anysize.methods.catalog import METHODS

LINES = 6  # more lines than this are a tangle
FIRST = ("gamma-gin", "gamma-rpgin", "gamma-1hot", "gin-sum", "rpgin", "gc-kernel", "wl-kernel", "gcn-mean", "pna-max")

_TITLES = {task.name: task.title for table in TABLES.values() for task in table.tasks}
_METRICS = {task.name: table.metric for table in TABLES.values() for task in table.tasks}


@dataclass(frozen=True)
class TaskRecords:
    """The records of one task on one data set, and what was chosen in each of their rows."""

    task: str
    data: str
    chosen: dict[Group, Selection]

    @property
    def title(self) -> str:
        """As the tables have it."""
        return title_of(self.task)

    @property
    def metric(self) -> str:
        """Of the table that the task belongs to; accuracy for tasks of none."""
        return _METRICS.get(self.task, "accuracy")

    def shown(self, most: int = LINES) -> list[Selection]:
        """The rows that figures show, in their order; checks are left to the tables."""
        rows = [selection for group, selection in self.chosen.items() if not _is_check(group.method)]
        return sorted(rows, key=_place)[:most]


def title_of(task: str) -> str:
    """The name of a task for readers.

    >>> title_of("sbm-20"), title_of("mine")
    ('SBM, 20 → 40', 'mine')
    """
    return _TITLES.get(task, task)


def label_of(group: Group) -> str:
    """A row as the tables name it.

    >>> label_of(Group("sbm-20", "published", "gamma-gin", "robust"))
    'Γ GIN, robust'
    """
    title = METHODS[group.method].title if group.method in METHODS else group.method
    return title if group.recipe == "paper" or _is_check(group.method) else f"{title}, {group.recipe}"


def _is_check(method: str) -> bool:
    return method in METHODS and METHODS[method].check


def tasks_of(records: Iterable[Record]) -> list[TaskRecords]:
    """The tasks in the order of the tables, then others by name; of each the published data, or the first fresh ones.

    Figures show one data set. Among fresh ones it is the one with the smallest seed.
    """
    by_task: dict[str, list[Record]] = {}
    for record in records:
        by_task.setdefault(record.task, []).append(record)
    known = list(_TITLES)
    order = sorted(by_task, key=lambda task: (known.index(task) if task in known else len(known), task))
    found = []
    for task in order:
        data = min({record.data for record in by_task[task]}, key=lambda name: (name != "published", len(name), name))
        chosen = select_all((record for record in by_task[task] if record.data == data), RULES["paper"])
        kept = {group: selection for group, selection in chosen.items() if selection is not None}
        found.append(TaskRecords(task, data, kept))
    return found


def _place(selection: Selection) -> tuple[int, str, str]:
    method, recipe = selection.group.method, selection.group.recipe
    return FIRST.index(method) if method in FIRST else len(FIRST), method, recipe
