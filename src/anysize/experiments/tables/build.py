"""The paper's tables from records, beside the published numbers: what stands in each cell, not how it is written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anysize._errors import RecordWarning, warn_user
from anysize.experiments.records import SPLITS, Record, decode
from anysize.experiments.selection import Group, ScoreSummary, Selection, rule_named, select_all
from anysize.experiments.tables import bootstrap
from anysize.experiments.tables.cells import DIGITS, Cell, Column, Row, Table
from anysize.experiments.tables.layout import TABLES, TaskEntry, applies
from anysize.experiments.tables.notes import GridSize, Picked, foot
from anysize.experiments.tables.published import published
from anysize.methods.catalog import METHODS
from anysize.tasks.catalog import TASKS

# ---- How many configurations the paper tried, so that a table can say where fewer were.


def paper_grid_size(task: str, method: str) -> int | None:
    """The number of configurations of the paper's grid; None for tasks and methods that have none.

    >>> paper_grid_size("sbm-20", "gamma-gin"), paper_grid_size("sbm-20", "mine")
    (64, None)
    """
    if task not in TASKS or method not in METHODS:
        return None
    return len(METHODS[method].points(TASKS[task].family, task)) or None


# ----


PAPER = "paper"  # the recipe of the rows that the paper has


@dataclass(frozen=True)
class ColumnSource:
    """A group of columns: a task, and the data it was run on."""

    task: TaskEntry
    data: str

    def holds(self, group: Group) -> bool:
        """Whether a group of records belongs here."""
        fresh = self.data == "fresh" and group.data.startswith("seed:")
        return group.task == self.task.name and (group.data == self.data or fresh)


def build_table(
    number: int,
    records: Iterable[Record],
    *,
    rule: str = "paper",
    data: str = "all",
    splits: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    grid_size: GridSize | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> Table:
    """Table 1, 2 or 3 of the paper from records.

    Arguments:
        rule: how configurations are chosen, see `anysize.experiments.selection.RULES`.
        data: `published`, `fresh` (means over all seeded data sets), `seed:7`, or `all`: the published data, and
            fresh ones where there are any.
        splits, tasks: which columns; those of the paper if not given, and our own tasks where they were run.
        grid_size: (task, method) -> configurations of the paper's grid, so that the foot can name reduced grids.
        resamples, seed: of the bootstrap intervals.

    >>> table = build_table(3, [])
    >>> len(table.rows), table.rows[0].label, table.rows[0].cells[0].status, table.rows[0].cells[0].published.mean
    (19, 'PNA', 'not run', 0.21)
    """
    if number not in TABLES:
        raise ValueError(f"the paper has the tables 1, 2 and 3; got {number}")
    if tasks is not None and not tasks:
        raise ValueError("a table shows at least one task; got none")
    entry = TABLES[number]
    known = {task.name: task for task in entry.tasks}
    asked = known if tasks is None else {name: TaskEntry.named(name) for name in tasks}
    chosen = select_all((record for record in records if record.task in asked), rule_named(rule))
    sources = _sources(asked.values(), data, chosen, all_of_them=tasks is not None)
    picked = {
        (source.task.name, source.data, method, recipe): tuple(
            chosen[group]
            for group in chosen
            if source.holds(group) and (group.method, group.recipe) == (method, recipe)
        )
        for source in sources
        for method, recipe in sorted({(group.method, group.recipe) for group in chosen if source.holds(group)})
    }
    columns = tuple(
        Column(source.task.name, source.task.title, source.data, split)
        for source in sources
        for split in _checked(entry.splits if splits is None else splits)
    )
    drawn = _Drawn(entry.metric, resamples, seed)
    rows = [
        replace(row, cells=tuple(_cell(asked[column.task], column, row, picked, drawn) for column in columns))
        for row in _rows(columns, picked)
    ]
    name = "MCC" if entry.metric == "mcc" else entry.metric.capitalize()
    table = Table(
        f"Table {number}. {name}, {entry.title}", entry.metric, rule, columns, _with_best(rows, columns, entry.bold)
    )
    return replace(table, notes=foot(table, picked, entry.bold, grid_size))


def best_places(means: Sequence[float | None], count: int) -> set[int]:
    """Where the ``count`` highest means stand, as printed; all that share the last of their numbers are among them.

    >>> sorted(best_places([0.5, None, 0.904, 0.9], 1))
    [2, 3]
    """
    seen = {place: round(mean, DIGITS) for place, mean in enumerate(means) if mean is not None}
    if not seen:
        return set()
    limit = sorted(seen.values(), reverse=True)[: max(count, 1)][-1]
    return {place for place, mean in seen.items() if mean >= limit}


# ---- which columns, which rows ---------------------------------------------------------------------


def _sources(tasks: Iterable[TaskEntry], data: str, groups: Iterable[Group], all_of_them: bool) -> list[ColumnSource]:
    """Tasks and data with columns of their own: published before fresh, what the paper lacks only where it was run."""
    if data not in ("all", "published", "fresh") and not data.startswith("seed:"):
        raise ValueError(f"data are all, published, fresh or, for one data set, seed:7 (any number); got {data!r}")
    found, groups = [], list(groups)
    for one in ("published", "fresh") if data == "all" else (data,):
        for task in tasks:
            source = ColumnSource(task, one)
            optional = (task.extra and not all_of_them) or (data == "all" and one == "fresh")
            if not optional or any(source.holds(group) for group in groups):
                found.append(source)
    return found


def _checked(splits: Iterable[str]) -> list[str]:
    names = list(splits)
    if not names:
        raise ValueError(f"a table shows at least one split of {', '.join(SPLITS)}; got none")
    for name in names:
        if name not in SPLITS:
            raise ValueError(f"a split is one of {', '.join(SPLITS)}; got {name!r}")
    return names


def _rows(columns: Sequence[Column], picked: Picked) -> list[Row]:
    """The paper's rows in its order, each followed by its other recipes; then methods it lacks, then checks."""
    ran: dict[str, list[str]] = {}
    for _, _, method, recipe in picked:
        ran.setdefault(method, [])
        if recipe not in ran[method]:
            ran[method].append(recipe)
    known = list(METHODS.values())
    names = [
        *(method.name for method in known if method.in_paper),
        *(method.name for method in known if not method.in_paper and not method.check),
        *sorted(name for name in ran if name not in METHODS),  # records of methods that are not known here
        *(method.name for method in known if method.check),
    ]
    rows = []
    for name in names:
        entry = METHODS.get(name)
        check, in_paper = entry is not None and entry.check, entry is not None and entry.in_paper
        title = name if entry is None else entry.title
        recipes = sorted(ran.get(name, []), key=lambda recipe: (recipe != PAPER, recipe))
        printed = any(published(column.task, name, column.split) for column in columns)
        # the paper's rows are always there; others name their recipe only where they were run with two
        if (printed or in_paper) and PAPER not in recipes and not (check and recipes):
            recipes.insert(0, PAPER)
        alone = len(recipes) == 1 and not in_paper
        labels = (title if recipe == PAPER or alone else f"{title}, {recipe}" for recipe in recipes)
        rows += [Row(name, recipe, label, check) for recipe, label in zip(recipes, labels, strict=True)]
    return rows


# ---- what stands in a cell -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Drawn:
    """How bootstrap intervals are drawn."""

    metric: str
    resamples: int
    seed: int


def _cell(task: TaskEntry, column: Column, row: Row, picked: Picked, drawn: _Drawn) -> Cell:
    own = row.recipe == PAPER or row.check
    beside = published(column.task, row.method, column.split) if column.data == "published" and own else None
    selections = picked.get((column.task, column.data, row.method, row.recipe), ())
    if not selections:
        return Cell("not run" if applies(task, row.method) else "NA", published=beside)
    kept = [selection for selection in selections if selection is not None]
    known = [summary for selection in kept if (summary := selection.summary(column.split)) is not None]
    if len(known) < len(selections):
        return Cell("unknown", published=beside)
    if column.data == "fresh":
        return Cell("run", ScoreSummary.of([summary.mean for summary in known]), beside)
    wanted = drawn.metric == "mcc" and column.split == "test"
    interval = _interval(kept[0], known[0], row.label, drawn) if wanted else None
    return Cell("run", known[0], beside, interval)


def _interval(selection: Selection, summary: ScoreSummary, label: str, drawn: _Drawn) -> bootstrap.Interval | None:
    """Over the test graphs, if all runs kept their predictions, of the same graphs."""
    texts = [outcome.predictions for outcome in selection.outcomes]
    labels = {record.labels for record in selection.records}
    if not all(texts) or len(labels) != 1 or labels == {""}:
        return None
    predictions, true = np.stack([decode(text) for text in texts]), decode(labels.pop())
    whole = bootstrap.confusion_matrices(predictions, true, np.ones((1, len(true))))
    score = float(bootstrap.METRICS[drawn.metric](whole).mean())
    if abs(score - summary.mean) > 10**-DIGITS / 2:
        warn_user(
            f"{label} on {selection.group.task}: the stored predictions give {score:.3f}, the stored scores "
            f"{summary.mean:.3f}, so the cell has no bootstrap interval; were the scores made with another metric?",
            RecordWarning,
        )
        return None
    return bootstrap.interval(predictions, true, drawn.metric, resamples=drawn.resamples, seed=drawn.seed)


def _with_best(rows: Sequence[Row], columns: Sequence[Column], count: int) -> tuple[Row, ...]:
    """The rows with the best test means marked; checks do not compete."""
    marked: Mapping[int, set[int]] = {
        place: best_places(
            [None if row.check or (own := row.cells[place].summary) is None else own.mean for row in rows], count
        )
        for place, column in enumerate(columns)
        if column.split == "test"
    }
    return tuple(
        replace(
            row,
            cells=tuple(replace(cell, best=at in marked.get(place, ())) for place, cell in enumerate(row.cells)),
        )
        for at, row in enumerate(rows)
    )
