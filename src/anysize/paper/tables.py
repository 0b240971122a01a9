"""Tables from records, of the paper and of other tasks: rows, columns, what each cell contains, and the notes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np

from anysize._errors import RecordWarning, warn_user
from anysize._text import plural
from anysize.evaluation.intervals import Interval, interval
from anysize.evaluation.records import Record, decode
from anysize.evaluation.tables import (
    FALLBACK_MARK,
    Cell,
    Column,
    Row,
    ScoreSummary,
    Table,
    Ties,
    format_score,
)
from anysize.methods.baselines import BASELINES
from anysize.methods.catalog import METHODS
from anysize.methods.method import Configuration
from anysize.metrics import METRIC_NAMES, OF_CONFUSION, SCORE_DIGITS, score
from anysize.paper.layout import FULL_METRIC_NAMES, TABLES, TableEntry, TaskEntry, applies, table_of
from anysize.paper.published import published
from anysize.paper.selection import RULES, Group, Selection, rule_named, select_all
from anysize.paper.tasks import TASKS
from anysize.splits import SPLITS

POOLED_DATA = {"fresh": "seed:", "splits": "split:"}  # columns over several data sets -> how their names begin
PAPER_RECIPE = "paper"  # the recipe of the paper's rows

# (task, method) -> the number of configurations in the paper's grid, None where there is no grid
GridSize = Callable[[str, str], int | None]
# (task, data, method, recipe) -> the selected configurations, one for each data set
Selected = Mapping[tuple[str, str, str, str], tuple[Selection, ...]]


def build_table(
    number: int | None,
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
    """Build Table 1, 2 or 3 of the paper from records, or a table of tasks that are in none of them.

    A table has one metric. Records with scores in another one are left out with a `RecordWarning`.

    Arguments:
        number: None for the tasks of the records that are in none of the paper's tables; its metric is that of most
            records.
        rule: how configurations are selected, see `anysize.paper.selection.RULES`.
        data: `published`, `fresh` (means over all seeded data sets), `seed:7`, `splits` (means over all splits of a
            fixed data set), or `all`: the published data, and others where there are records.
        splits, tasks: which columns; by default those of the paper, and our own tasks where there are records.
        grid_size: such as `paper_grid_size`; with it, the notes name rows that tried fewer configurations.
        resamples, seed: of the bootstrap intervals.

    >>> table = build_table(3, [])
    >>> len(table.rows), table.rows[0].label, table.rows[0].cells[0].status, table.rows[0].cells[0].published.mean
    (19, 'PNA', 'not run', 0.21)
    """
    if number is not None and number not in TABLES:
        raise ValueError(f"number must be 1, 2 or 3, a table of the paper; got {number}")
    if tasks is not None and not tasks:
        raise ValueError("tasks must name at least one task; got none")
    records = list(records)
    if number is None:
        if tasks is None:
            tasks = sorted({record.task for record in records if table_of(record.task) is None})
        used = [record.metric for record in records if record.task in tasks] or ["accuracy"]
        entry = TableEntry.of_other_tasks(max(METRIC_NAMES, key=used.count))
    else:
        entry = TABLES[number]
    known = {task.name: task for task in entry.tasks}
    asked = known if tasks is None else {name: TaskEntry.named(name) for name in tasks}
    chosen = select_all(
        _of_metric([record for record in records if record.task in asked], entry.metric), rule_named(rule)
    )
    sources = _column_groups(asked.values(), data, chosen, named=tasks is not None and number is not None)
    selected: Selected = {
        (source.task.name, source.data, method, recipe): tuple(
            chosen[group]
            for group in chosen
            if source.holds(group) and (group.method, group.recipe) == (method, recipe)
        )
        for source in sources
        for method, recipe in sorted({(group.method, group.recipe) for group in chosen if source.holds(group)})
    }
    shown = _checked_splits(entry.splits if splits is None else splits)
    with_ties = "test" if "test" in shown else shown[-1]  # the column of a task that has the ties
    columns = tuple(
        Column(source.task.name, source.task.title, source.data, split) for source in sources for split in shown
    )
    wanted = entry.metric in OF_CONFUSION and (number is None or entry.metric == "mcc")
    resampling = _Resampling(entry.metric, resamples, seed, wanted)
    rows = [
        replace(
            row,
            cells=tuple(
                _cell(asked[column.task], column, row, selected, resampling, column.split == with_ties)
                for column in columns
            ),
        )
        for row in _rows(columns, selected)
    ]
    table = Table(entry.heading, entry.metric, rule, columns, _with_best(rows, columns, entry.bold))
    notes, short_notes = _notes(number, table, selected, entry.bold, grid_size)
    return replace(table, notes=notes, short_notes=short_notes)


def _of_metric(records: Sequence[Record], metric: str) -> list[Record]:
    """The records with scores in this metric; a warning names the tasks of others."""
    others = sorted({(record.task, record.metric) for record in records if record.metric != metric})
    for task, other in others:
        warn_user(
            f"A table shows one metric, here {METRIC_NAMES[metric]}: runs of {task} with scores in "
            f"{METRIC_NAMES[other]} are left out. Make a table of that task: anysize paper table --tasks {task}.",
            RecordWarning,
        )
    return [record for record in records if record.metric == metric]


def best_places(means: Sequence[float | None], count: int) -> set[int]:
    """The positions of the ``count`` highest means, compared as printed; ties with the last of them are included.

    >>> sorted(best_places([0.5, None, 0.904, 0.9], 1))
    [2, 3]
    """
    rounded = {row: round(mean, SCORE_DIGITS) for row, mean in enumerate(means) if mean is not None}
    if not rounded:
        return set()
    limit = sorted(rounded.values(), reverse=True)[: max(count, 1)][-1]
    return {row for row, mean in rounded.items() if mean >= limit}


def paper_grid_size(task: str, method: str) -> int | None:
    """The number of configurations in the paper's grid; None for tasks and methods without one.

    >>> paper_grid_size("sbm-20", "gamma-gin"), paper_grid_size("sbm-20", "mine")
    (64, None)
    """
    return len(_paper_grid(task, method)) or None


def _paper_grid(task: str, method: str) -> tuple[Configuration, ...]:
    if task not in TASKS or method not in METHODS:
        return ()
    return METHODS[method].points(TASKS[task].family, task)


def rows_that_ran(table: Table) -> Table:
    """The table without rows that have no records, then without empty columns, and without notes on those alone."""
    ran = [row for row in table.rows if row.ran]
    used = [
        any(row.cells[position].status != "not run" or row.cells[position].published for row in ran) or not ran
        for position in range(len(table.columns))
    ]
    rows = tuple(replace(row, cells=tuple(compress(row.cells, used))) for row in ran)
    statuses = {cell.status for row in rows for cell in row.cells}
    unused = tuple(note for status, note in STATUS_NOTES.items() if status not in statuses)
    notes = tuple(note for note in table.notes if note not in unused)
    return replace(table, columns=tuple(compress(table.columns, used)), rows=rows, notes=notes)


# ---- columns and rows ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ColumnGroup:
    """The columns of one task on one data set, on all fresh ones, or on all splits of a fixed one."""

    task: TaskEntry
    data: str

    def holds(self, group: Group) -> bool:
        """Whether a group of records belongs here."""
        beginning = POOLED_DATA.get(self.data)
        held = group.data == self.data if beginning is None else group.data.startswith(beginning)
        return group.task == self.task.name and held


def _column_groups(tasks: Iterable[TaskEntry], data: str, groups: Iterable[Group], named: bool) -> list[_ColumnGroup]:
    """Published before fresh data; fresh data and tasks that the paper lacks only if named or recorded."""
    if data not in ("all", "published", *POOLED_DATA) and not data.startswith(("seed:", "split:")):
        raise ValueError(f"data must be all, published, fresh, splits, seed:7 or split:3 (any number); got {data!r}")
    sources, groups = [], list(groups)
    tasks = list(tasks)
    for name in ("published", *POOLED_DATA) if data == "all" else (data,):
        for task in tasks:
            source = _ColumnGroup(task, name)
            optional = (task.extra and not named) or (data == "all" and name in POOLED_DATA)
            if not optional or any(source.holds(group) for group in groups):
                sources.append(source)
    return sources


def _checked_splits(splits: Iterable[str]) -> list[str]:
    names = list(splits)
    if not names:
        raise ValueError(f"splits must name at least one of {', '.join(SPLITS)}; got none")
    for name in names:
        if name not in SPLITS:
            raise ValueError(f"a split must be one of {', '.join(SPLITS)}; got {name!r}")
    return names


def _rows(columns: Sequence[Column], selected: Selected) -> list[Row]:
    """The paper's rows in its order, each followed by other recipes of its method; then other methods, baselines."""
    recipes_of: dict[str, list[str]] = {}
    for _, _, method, recipe in selected:
        recipes = recipes_of.setdefault(method, [])
        if recipe not in recipes:
            recipes.append(recipe)
    known = list(METHODS.values())
    names = [
        *(method.name for method in known if method.in_paper),
        *(method.name for method in known if not method.in_paper and not method.is_baseline),
        *sorted(name for name in recipes_of if name not in METHODS),  # records of methods that are not registered
        *(method.name for method in known if method.is_baseline),
    ]
    rows = []
    for name in names:
        entry = METHODS.get(name)
        is_baseline, in_paper = entry is not None and entry.is_baseline, entry is not None and entry.in_paper
        title = name if entry is None else entry.title
        recipes = sorted(recipes_of.get(name, []), key=lambda recipe: (recipe != PAPER_RECIPE, recipe))
        has_number = any(published(column.task, name, column.split) for column in columns)
        # the paper's rows are always there; other labels name the recipe only if there are two
        if (has_number or in_paper) and PAPER_RECIPE not in recipes and not (is_baseline and recipes):
            recipes.insert(0, PAPER_RECIPE)
        plain_title = len(recipes) == 1 and not in_paper
        for recipe in recipes:
            label = title if recipe == PAPER_RECIPE or plain_title else f"{title}, {recipe}"
            rows.append(Row(name, recipe, label, is_baseline))
    return rows


# ---- cells -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Resampling:
    """Parameters of the bootstrap intervals, and whether there are any."""

    metric: str
    resamples: int
    seed: int
    wanted: bool


def _cell(
    task: TaskEntry, column: Column, row: Row, selected: Selected, resampling: _Resampling, with_ties: bool
) -> Cell:
    comparable = column.data == "published" and (row.recipe == PAPER_RECIPE or row.is_baseline)
    paper = published(column.task, row.method, column.split) if comparable else None
    selections = selected.get((column.task, column.data, row.method, row.recipe), ())
    if not selections:
        return Cell("not run" if applies(task, row.method) else "NA", published=paper)
    known = [summary for selection in selections if (summary := selection.summary(column.split)) is not None]
    fallback = any(selection.fallback for selection in selections)
    if len(known) < len(selections):
        return Cell("unknown", published=paper)
    summary = ScoreSummary.of([summary.mean for summary in known]) if column.data in POOLED_DATA else known[0]
    with_interval = column.split == "test" and column.data != "fresh" and resampling.wanted
    bounds = _interval(selections, summary, row.label, resampling) if with_interval else None
    ties = _ties([selection.ties(column.split) for selection in selections]) if with_ties else None
    return Cell("run", summary, paper, bounds, fallback=fallback, ties=ties)


def _ties(ties: Sequence[Ties]) -> Ties | None:
    """The most ties on one data set, and the means over data sets of their lowest and highest scores."""
    low, high = ([getattr(tie, end) for tie in ties] for end in ("low", "high"))
    count = max(tie.count for tie in ties)
    if count == 1:
        return None
    return Ties(count) if None in low else Ties(count, float(np.mean(low)), float(np.mean(high)))


def _interval(
    selections: Sequence[Selection], summary: ScoreSummary, label: str, resampling: _Resampling
) -> Interval | None:
    """The bootstrap interval over test graphs; None unless all runs kept predictions for the same graphs."""
    texts = [outcome.predictions for selection in selections for outcome in selection.outcomes]
    labels = {record.labels for selection in selections for record in selection.records}
    if not all(texts) or len(labels) != 1 or labels == {""}:
        return None
    predictions, true = np.stack([decode(text) for text in texts]), decode(labels.pop())
    mean = float(np.mean([score(resampling.metric, true, of_run) for of_run in predictions]))
    if abs(mean - summary.mean) > 10**-SCORE_DIGITS / 2:
        warn_user(
            f"{label} on {selections[0].group.task}: the stored predictions give {mean:.3f}, the stored scores "
            f"{summary.mean:.3f}, so the cell gets no bootstrap interval. Was another metric used for the scores?",
            RecordWarning,
        )
        return None
    return interval(predictions, true, resampling.metric, resamples=resampling.resamples, seed=resampling.seed)


def _with_best(rows: Sequence[Row], columns: Sequence[Column], count: int) -> tuple[Row, ...]:
    """Mark the best test means of each column; baselines are never marked."""
    marked: Mapping[int, set[int]] = {
        position: best_places(
            [
                None if row.is_baseline or (summary := row.cells[position].summary) is None else summary.mean
                for row in rows
            ],
            count,
        )
        for position, column in enumerate(columns)
        if column.split == "test"
    }
    return tuple(
        replace(
            row,
            cells=tuple(replace(cell, best=at in marked.get(position, ())) for position, cell in enumerate(row.cells)),
        )
        for at, row in enumerate(rows)
    )


# ---- notes -----------------------------------------------------------------------------------------

TRIVIAL_ROWS = frozenset(method.name for method in BASELINES)
STATUS_NOTES = {
    "NA": "NA: IRM and V-REx need training graphs of several sizes.",
    "not run": "not run: there is no record.",
    "unknown": "?: the runs did not keep this score.",
}

TIES_NOTE = "9 tie, 0.30 to 0.70: so many configurations share the best validation score, with means in this range."
POOLED_TIES = " Over several data sets: the most ties on one of them, and the range that other choices would give."
FALLBACK_NOTE = f"{FALLBACK_MARK}: the runs did not keep the epoch of this rule; shown at the epoch their recipe chose."


def _notes(
    number: int | None, table: Table, selected: Selected, bold: int, grid_size: GridSize | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """All notes of a table, and the few lines for a terminal."""
    groups = [_group_note(table, heading, places[0], selected, grid_size) for heading, places in table.groups()]
    cells = _all_cells(table)
    has_intervals = any(cell.interval is not None for cell in cells)
    reduced = any("reduced grid" in note for note in groups)
    fallback, ties = any(cell.fallback for cell in cells), any(cell.ties for cell in cells)
    compared = ", published number, difference" if any(cell.published for cell in cells) else ""
    command = "anysize paper table" if number is None else f"anysize paper table {number}"
    patient = sum(len(_patience(_ran(table, places[0], selected))) for _, places in table.groups())
    short = (
        f"Mean (std) over seeds{' [95 % interval]' * has_intervals}{compared}. Bold: best test.",
        f"Selection: {RULES[table.rule].summary}",
        f"{'Some grids are smaller than in the paper. ' * reduced}All notes: {command} --format markdown.",
        *lead_notes(table),
        *([TIES_NOTE] * ties),
        *([FALLBACK_NOTE] * fallback),
        *([f"Trained with patience, which the paper does not use: {patient} cells."] * (patient > 0)),
    )
    return (*_general_notes(table, bold), *filter(None, groups)), short


def lead_notes(table: Table) -> list[str]:
    """What bold means are worth: where a trivial baseline is as good, and where the next mean is within the deviation.

    The deviation is the larger one of both rows, over seeds (over data sets for fresh data).
    """
    beaten, near, tested = [], 0, 0
    for position, column in enumerate(table.columns):
        cells = [(row, cell.summary) for row in table.rows if (cell := row.cells[position]).summary is not None]
        methods = sorted(
            ((summary.mean, summary.std or 0.0) for row, summary in cells if summary and not row.is_baseline),
            reverse=True,
        )
        known = [(summary.mean, row.label) for row, summary in cells if summary and row.method in TRIVIAL_ROWS]
        if column.split != "test" or not methods:
            continue
        tested += len(methods) > 1
        near += len(methods) > 1 and methods[0][0] - methods[1][0] <= max(methods[0][1], methods[1][1])
        if known and round(max(known)[0], SCORE_DIGITS) >= round(methods[0][0], SCORE_DIGITS):
            beaten.append(f"{max(known)[1]} ({format_score(max(known)[0])}) on {column.heading}")
    notes = [f"No method beats a trivial baseline: {'; '.join(beaten)}."] if beaten else []
    if near:
        notes.append(
            f"Bold is the highest mean: in {near} of {tested} test columns the next one is within its standard "
            "deviation, and the two are not told apart."
        )
    return notes


def _all_cells(table: Table) -> list[Cell]:
    return [cell for row in table.rows for cell in row.cells]


def _general_notes(table: Table, bold: int) -> list[str]:
    cells = _all_cells(table)
    rule = RULES[table.rule]
    compared = (
        " Beside or below it the published number, and ours minus it." if any(cell.published for cell in cells) else ""
    )
    notes = [
        f"Mean (standard deviation) of the {FULL_METRIC_NAMES[table.metric]} over seeds; the deviation divides by "
        "their number. One run, such as that of a kernel, has a deviation only in validation on folds, over these."
        f"{compared}",
        rule.description if rule.uses_test_scores else f"Rule {table.rule!r}: {rule.description}.",
    ]
    if any(cell.best for cell in cells):
        best = "the best test mean" if bold == 1 else f"the {bold} best test means"
        notes.append(f"Bold: {best} of each column, compared as printed, ties included.")
    if baselines := [row.label for row in table.rows if row.is_baseline]:
        notes.append(f"Trivial baselines and ablations, never bold: {', '.join(baselines)}.")
    notes += lead_notes(table)
    intervals = [cell.interval for cell in cells if cell.interval is not None]
    if intervals:
        notes.append(
            f"[low, high]: {intervals[0].level:.0%} bootstrap interval of the mean over seeds when the test graphs are "
            f"resampled ({intervals[0].resamples} times)."
        )
    if any(cell.ties for cell in cells):
        pooled = any(column.data in POOLED_DATA for column in table.columns)
        notes.append(TIES_NOTE + POOLED_TIES * pooled)
    if any(cell.fallback for cell in cells):
        notes.append(FALLBACK_NOTE)
    if any(column.data == "fresh" for column in table.columns):
        notes.append(
            "Fresh data: mean and deviation over data sets of the means over seeds; a configuration is selected on "
            "each data set."
        )
    if any(column.data == "splits" for column in table.columns):
        notes.append("Several splits: mean and deviation over splits of one data set.")
    return notes + [note for status, note in STATUS_NOTES.items() if any(cell.status == status for cell in cells)]


def _group_note(table: Table, heading: str, position: int, selected: Selected, grid_size: GridSize | None) -> str:
    """Seeds, configurations and omissions of one task on one data set; empty if nothing ran."""
    column, ran = table.columns[position], _ran(table, position, selected)
    if not ran:
        return ""
    sizes: dict[str, int | None] = {}
    for row in table.rows:
        searched = row.recipe == PAPER_RECIPE and not row.is_baseline  # other recipes train one configuration
        sizes[row.label] = grid_size(column.task, row.method) if searched and grid_size is not None else None
    pooled = {"fresh": "data sets", "splits": "splits"}.get(column.data, "")
    parts = [
        _gathered(pooled, {label: str(len(selections)) for label, selections in ran.items()}) if pooled else "",
        _gathered(
            "seeds",
            {label: _span([len(selection.records) for selection in selections]) for label, selections in ran.items()},
        ),
        _gathered(
            "configurations",
            {label: _span([selection.configurations for selection in selections]) for label, selections in ran.items()},
        ),
        _listed("reduced grid", _reduced(ran, sizes)),
        _listed("selected configuration not of the paper's grid", _outside(ran, sizes)),
        _listed("trained with patience, which the paper does not use", _patience(ran)),
        _listed("left out for too few seeds or scores", _incomplete(ran)),
        _listed("lowest test mean of a data set", _lowest(ran)) if column.data == "fresh" else "",
    ]
    return f"{heading}: " + "; ".join(part for part in parts if part) + "."


def _ran(table: Table, position: int, selected: Selected) -> dict[str, list[Selection]]:
    """The selected configurations of the rows that ran in one column, by their labels."""
    column = table.columns[position]
    by_label = {row.label: selected.get((column.task, column.data, row.method, row.recipe), ()) for row in table.rows}
    return {label: list(selections) for label, selections in by_label.items() if selections}


def _reduced(ran: Mapping[str, list[Selection]], sizes: Mapping[str, int | None]) -> dict[str, str]:
    """Rows that tried fewer configurations than the paper's grid has."""
    reduced = {}
    for label, selections in ran.items():
        size, tried = sizes[label], min(selection.configurations for selection in selections)
        if size is not None and tried < size:
            reduced[label] = f"{tried} of {size}"
    return reduced


def _outside(ran: Mapping[str, list[Selection]], sizes: Mapping[str, int | None]) -> dict[str, str]:
    """Rows whose selected configuration has a value that the paper's grid does not have, and this value."""
    outside = {}
    for label, selections in ran.items():
        for selection in selections if sizes[label] is not None else ():
            grid = _paper_grid(selection.group.task, selection.group.method)
            for name in grid[0] if grid else ():
                value = selection.configuration.get(name)
                if value is not None and all(point[name] != value for point in grid):
                    outside[label] = f"{name} {value}"
    return outside


def _patience(ran: Mapping[str, list[Selection]]) -> dict[str, str]:
    """Rows of the paper's recipe whose training could end before its last epoch, and after how many epochs."""
    by_label = {}
    for label, selections in ran.items():
        given = [
            selection.configuration["patience"] for selection in selections if "patience" in selection.configuration
        ]
        if given and selections[0].group.recipe == PAPER_RECIPE:
            by_label[label] = f"{given[0]} epochs"
    return by_label


def _incomplete(ran: Mapping[str, list[Selection]]) -> dict[str, str]:
    counted = {label: sum(selection.incomplete for selection in selections) for label, selections in ran.items()}
    return {label: plural(count, "configuration") for label, count in counted.items() if count}


def _lowest(ran: Mapping[str, list[Selection]]) -> dict[str, str]:
    by_label = {}
    for label, selections in ran.items():
        means = [summary.mean for selection in selections if (summary := selection.summary("test")) is not None]
        if means:
            by_label[label] = format_score(min(means))
    return by_label


def _span(numbers: list[int]) -> str:
    return str(numbers[0]) if len(set(numbers)) == 1 else f"{min(numbers)} to {max(numbers)}"


def _gathered(what: str, values: Mapping[str, str]) -> str:
    """``what 10``, or ``what 10 (PNA, GCN), 7 (GIN)`` where rows differ."""
    labels: dict[str, list[str]] = {}
    for label, value in values.items():
        labels.setdefault(value, []).append(label)
    if len(labels) == 1:
        return f"{what} {next(iter(labels))}"
    return f"{what} " + ", ".join(
        f"{value} ({', '.join(labels_of_value)})" for value, labels_of_value in labels.items()
    )


def _listed(what: str, values: Mapping[str, str]) -> str:
    return f"{what}: " + ", ".join(f"{label} ({value})" for label, value in values.items()) if values else ""
