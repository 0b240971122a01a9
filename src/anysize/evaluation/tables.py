"""What a table consists of: columns, rows, and cells with our scores and the published ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from anysize.evaluation.intervals import Interval
from anysize.metrics import SCORE_DIGITS

FALLBACK_MARK = "†"

Status = Literal["run", "NA", "not run", "unknown", "failed"]


@dataclass(frozen=True)
class ScoreSummary:
    """Mean and population standard deviation (numpy's default) over runs."""

    mean: float
    std: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> ScoreSummary:
        """Summarize at least one number.

        >>> ScoreSummary.of([0.5, 1.0])
        ScoreSummary(mean=0.75, std=0.25, count=2)
        """
        return cls(float(np.mean(values)), float(np.std(values)), len(values))


@dataclass(frozen=True)
class Published:
    """A published number: mean and standard deviation, None where it is NA; best where it is printed in bold."""

    mean: float | None
    std: float | None
    best: bool = False

    @property
    def applies(self) -> bool:
        """Whether there is a number: IRM has none where all training graphs have one size."""
        return self.mean is not None


@dataclass(frozen=True)
class Ties:
    """Configurations that share the best validation score, the selected one included.

    Attributes:
        count: how many; the most on one data set.
        low, high: the range of their mean scores, or, over several data sets, of what other choices among ties would
            give; None if unknown.
    """

    count: int
    low: float | None = None
    high: float | None = None


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
        ties: the configurations that tie in validation with the one shown; None if one is selected without a choice.
        decimals: of printed numbers.
    """

    status: Status
    summary: ScoreSummary | None = None
    published: Published | None = None
    interval: Interval | None = None
    best: bool = False
    fallback: bool = False
    tied: bool = False
    ties: Ties | None = None
    decimals: int = SCORE_DIGITS

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
    """One method trained by one recipe; a baseline (or ablation) is never marked as best."""

    method: str
    recipe: str
    label: str
    is_baseline: bool = False
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
        short_notes: the few lines of it that a terminal shows.
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
        groups: list[tuple[str, list[int]]] = []
        for position, column in enumerate(self.columns):
            if not groups or groups[-1][0] != column.heading:
                groups.append((column.heading, []))
            groups[-1][1].append(position)
        return groups


def format_score(value: float, decimals: int = SCORE_DIGITS) -> str:
    """A score as tables print it; never a negative zero.

    >>> format_score(0.987), format_score(-0.001)
    ('0.99', '0.00')
    """
    return f"{round(value, decimals) + 0.0:.{decimals}f}"
