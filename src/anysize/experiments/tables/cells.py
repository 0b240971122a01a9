"""What a table consists of: cells, rows, columns and notes. Every format is written from these alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from anysize.experiments.selection import ScoreSummary
from anysize.experiments.tables.bootstrap import Interval
from anysize.experiments.tables.published import Published

DIGITS = 2  # as printed; the best are found among printed numbers, so that equal ones are treated alike

Status = Literal["run", "NA", "not run", "unknown"]


@dataclass(frozen=True)
class Cell:
    """One number of ours and what belongs beside it.

    Attributes:
        status: `run`; `NA`, the method does not apply; `not run`; `unknown`, it ran but kept no such score.
        summary: over seeds, or over data sets of the means over seeds.
        published: the paper's cell, if it has one.
        interval: over test graphs, for MCC.
        best: set in bold.
    """

    status: Status
    summary: ScoreSummary | None = None
    published: Published | None = None
    interval: Interval | None = None
    best: bool = False

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        if self.summary is None or self.published is None or self.published.mean is None:
            return None
        return self.summary.mean - self.published.mean


@dataclass(frozen=True)
class Column:
    """One split of one task on one data set (`published`, `seed:7`), or over all seeded ones (`fresh`)."""

    task: str
    title: str
    data: str
    split: str

    @property
    def heading(self) -> str:
        """The task, and the data if they are not the published ones."""
        return self.title + {"published": "", "fresh": ", fresh data"}.get(self.data, f", data {self.data}")


@dataclass(frozen=True)
class Row:
    """One method trained by one recipe; a check is a row to judge the others by."""

    method: str
    recipe: str
    label: str
    check: bool = False
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class Table:
    """Rows of cells under columns, with notes for the foot."""

    title: str
    metric: str
    rule: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    def groups(self) -> list[tuple[str, list[int]]]:
        """Neighboring columns of one task and data set: their heading, and their places."""
        found: list[tuple[str, list[int]]] = []
        for place, column in enumerate(self.columns):
            if not found or found[-1][0] != column.heading:
                found.append((column.heading, []))
            found[-1][1].append(place)
        return found


def printed(value: float) -> str:
    """A number as tables show it; never a negative zero.

    >>> printed(0.987), printed(-0.001)
    ('0.99', '0.00')
    """
    return f"{round(value, DIGITS) + 0.0:.{DIGITS}f}"
