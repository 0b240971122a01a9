"""What a table consists of: columns, rows, and cells with our scores and the published ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from anysize.experiments.selection import ScoreSummary
from anysize.experiments.tables.bootstrap import Interval
from anysize.tasks.catalog import TASKS

SCORE_DIGITS = 2  # decimals of a printed score
FALLBACK_MARK = "†"

Status = Literal["run", "NA", "not run", "unknown", "failed"]


# ---- published numbers -----------------------------------------------------------------------------

PUBLISHED_SPLIT_NAMES = {"train": "train", "validation": "val", "test": "test"}


@dataclass(frozen=True)
class Published:
    """A cell of the paper: mean and standard deviation, None where it prints NA; best where it prints bold."""

    mean: float | None
    std: float | None
    best: bool = False

    @property
    def applies(self) -> bool:
        """Whether there is a number: IRM has none where all training graphs have one size."""
        return self.mean is not None


def published(task: str, method: str, split: str = "test") -> Published | None:
    """The cell of Bevilacqua, Zhou and Ribeiro (ICML 2021) for a task, method and split; None if there is none.

    >>> published("er-single", "wl-kernel")
    Published(mean=0.01, std=0.0, best=False)
    >>> published("er-single", "gin-irm").applies
    False
    >>> published("er-single", "topology-only") is None
    True
    """
    key = TASKS[task].published if task in TASKS else None
    splits = {} if key is None else _published_tasks()[key].get(method.replace("-", "_"), {})
    if PUBLISHED_SPLIT_NAMES.get(split) not in splits:
        return None
    cell = splits[PUBLISHED_SPLIT_NAMES[split]]
    return Published(None, None) if cell is None else Published(cell["mean"], cell["std"], cell.get("best", False))


@cache
def _published_tasks() -> dict[str, Any]:
    """task -> method -> split -> cell; no task is in two tables."""
    text = files("anysize.experiments.tables").joinpath("published.json").read_text(encoding="utf-8")
    return {task: methods for table in json.loads(text).values() for task, methods in table["tasks"].items()}


# ---- tables ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cell:
    """Our score on one split of one task, and the published one.

    Attributes:
        status: `run`; `NA`, the method does not apply; `not run`; `failed`; `unknown`, the runs did not keep this
            score.
        summary: over seeds; for fresh data and several splits over data sets, of the means over seeds.
        interval: bootstrap interval over test graphs, for MCC and in comparisons.
        best: printed in bold.
        fallback: the runs did not keep the rule's epoch: shown at the epoch that the recipe chose.
        tied: not distinguishable from the best, in comparisons.
    """

    status: Status
    summary: ScoreSummary | None = None
    published: Published | None = None
    interval: Interval | None = None
    best: bool = False
    fallback: bool = False
    tied: bool = False

    @property
    def difference(self) -> float | None:
        """Our mean minus the published one."""
        if self.summary is None or self.published is None or self.published.mean is None:
            return None
        return self.summary.mean - self.published.mean


@dataclass(frozen=True)
class Column:
    """One split of one task on one data set (`published`, `seed:7`, `split:3`).

    Or over all data sets that were drawn (`fresh`), or over all splits of a fixed one (`splits`).
    """

    task: str
    title: str
    data: str
    split: str

    @property
    def heading(self) -> str:
        """The task, and the data unless they are the published ones."""
        known = {"published": "", "fresh": ", fresh data", "splits": ", several splits"}
        return self.title + known.get(self.data, f", data {self.data}")


@dataclass(frozen=True)
class Row:
    """One method trained by one recipe; a check is a trivial baseline or an ablation, never marked as best."""

    method: str
    recipe: str
    label: str
    check: bool = False
    cells: tuple[Cell, ...] = ()

    @property
    def ran(self) -> bool:
        """Whether there are records for any cell."""
        return any(cell.status in ("run", "unknown") for cell in self.cells)


@dataclass(frozen=True)
class Table:
    """Rows of cells under columns.

    Attributes:
        notes: everything a reader needs to judge the numbers.
        short_notes: at most five lines of it, for a terminal.
    """

    title: str
    metric: str
    rule: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    short_notes: tuple[str, ...] = ()

    def groups(self) -> list[tuple[str, list[int]]]:
        """Adjacent columns of one task and data set: their heading, and their positions."""
        found: list[tuple[str, list[int]]] = []
        for place, column in enumerate(self.columns):
            if not found or found[-1][0] != column.heading:
                found.append((column.heading, []))
            found[-1][1].append(place)
        return found


def format_score(value: float) -> str:
    """A score as tables print it; never a negative zero.

    >>> format_score(0.987), format_score(-0.001)
    ('0.99', '0.00')
    """
    return f"{round(value, SCORE_DIGITS) + 0.0:.{SCORE_DIGITS}f}"
