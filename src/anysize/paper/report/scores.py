"""The parts of the report that show scores: tables with charts, training curves, scores against graph size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from anysize import plots
from anysize._html import Section, card, cards, missing, paragraph
from anysize._text import capitalized
from anysize._typing import IntArray
from anysize.evaluation.intervals import interval
from anysize.evaluation.records import Record, decode, encode
from anysize.evaluation.render import html_figure, published_text
from anysize.evaluation.tables import Table, format_score
from anysize.methods.catalog import METHODS
from anysize.metrics import METRIC_NAMES, OF_CONFUSION, score
from anysize.paper.layout import TABLES, TaskEntry, table_of
from anysize.paper.report.task_graphs import TaskGraphs
from anysize.paper.selection import Group, Selection, select_all
from anysize.paper.tables import GridSize, build_table, rows_that_ran
from anysize.plots import Curve, ScoreRow, SizePoint, to_svg

NEAR_DIFFERENCE = 0.05  # a mean that differs by no more is called near the published one
MAX_SIZE_BINS = 5
MAX_CURVES_PER_ROW = 10
MAX_UNFOLDED_NOTES = 2000  # characters
MAX_LINES = 6  # rows in one figure
# rows that figures show first
DRAWN_FIRST = (
    "gamma-gin", "gamma-rpgin", "gamma-1hot", "gin-sum", "rpgin", "gc-kernel", "wl-kernel-padded", "gcn-mean",
    "pna-max",
)  # fmt: skip


# ---- the records of a task -------------------------------------------------------------------------


@dataclass(frozen=True)
class TaskRecords:
    """The records of one task on one data set: the selected configuration of each group."""

    task: str
    data: str
    selections: dict[Group, Selection]

    @property
    def metric(self) -> str:
        """The metric of all scores."""
        return next(record.metric for selection in self.selections.values() for record in selection.records)

    def drawn_rows(self) -> list[Selection]:
        """The rows that figures show, in their order, without baselines."""
        rows = [selection for group, selection in self.selections.items() if not _is_baseline(group.method)]
        return sorted(rows, key=_drawing_order)[:MAX_LINES]


def _drawing_order(selection: Selection) -> tuple[int, str, str]:
    method, recipe = selection.group.method, selection.group.recipe
    return DRAWN_FIRST.index(method) if method in DRAWN_FIRST else len(DRAWN_FIRST), method, recipe


def tasks_of(records: Iterable[Record]) -> list[TaskRecords]:
    """The tasks in the order of the tables, then others by name.

    Of each task one data set is taken: the published one, or the one with the smallest seed; and one metric, that of
    most runs.
    """
    by_task: dict[str, list[Record]] = {}
    for record in records:
        by_task.setdefault(record.task, []).append(record)
    known = [task.name for table in TABLES.values() for task in table.tasks]
    order = sorted(by_task, key=lambda task: (known.index(task) if task in known else len(known), task))
    tasks = []
    for task in order:
        runs = by_task[task]
        data = min({record.data for record in runs}, key=lambda name: (name != "published", len(name), name))
        used = [record.metric for record in runs if record.data == data]
        metric = max(METRIC_NAMES, key=used.count)
        selected = select_all(record for record in runs if record.data == data and record.metric == metric)
        tasks.append(TaskRecords(task, data, selected))
    return tasks


def task_title(task: str) -> str:
    """The title of a task in the tables, else its name.

    >>> task_title("sbm-20"), task_title("mine")
    ('SBM, 20 → 40', 'mine')
    """
    return TaskEntry.named(task).title


def row_label(group: Group) -> str:
    """The label of a row in the tables.

    >>> row_label(Group("sbm-20", "published", "gamma-gin", "robust"))
    'Γ GIN, robust'
    """
    title = METHODS[group.method].title if group.method in METHODS else group.method
    return title if group.recipe == "paper" or _is_baseline(group.method) else f"{title}, {group.recipe}"


def _is_baseline(method: str) -> bool:
    return method in METHODS and METHODS[method].is_baseline


# ---- tables ----------------------------------------------------------------------------------------


def tables(records: Sequence[Record], grid_size: GridSize | None) -> Section:
    """The tables of the paper for which there are records."""
    recorded = {record.task for record in records}
    parts, absent = [], []
    for number, entry in TABLES.items():
        names = [task.name for task in entry.tasks if task.name in recorded]
        without = [task.name for task in entry.tasks if task.name not in recorded and not task.extra]
        if not names:
            absent.append(f"table {number}")
            continue
        complete = build_table(number, records, tasks=names, grid_size=grid_size)
        table = rows_that_ran(complete)
        body = paragraph(_agreement(table)) + _table_with_charts(table, f"table-{number}")
        if without:
            body += missing(f"Tasks of this table without records: {', '.join(without)}.")
        if idle := [row.label for row in complete.rows if not row.ran]:
            body += missing(
                f"Rows without records (shown by anysize paper table {number} --all-rows): {', '.join(idle)}."
            )
        parts.append(Section(f"table-{number}", f"Table {number}: {entry.title}", body))
    lead = missing(f"There are no records for {' and '.join(absent)} of the paper.") if absent else ""
    return Section("tables", "Beside the published numbers", lead, tuple(parts))


def other_tasks(records: Sequence[Record]) -> Section | None:
    """The tasks that are in no table of the paper, a table for each metric; None if there are none."""
    others = [record for record in records if table_of(record.task) is None]
    parts = []
    for metric in METRIC_NAMES:
        in_metric = [record for record in others if record.metric == metric]
        if in_metric:
            table = rows_that_ran(build_table(None, in_metric, tasks=sorted({record.task for record in in_metric})))
            parts.append(Section(f"others-{metric}", table.title, _table_with_charts(table, f"others-{metric}")))
    return Section("others", "Other tasks", "", tuple(parts)) if parts else None


def _table_with_charts(table: Table, name: str) -> str:
    return _fold_notes(html_figure(table), table) + cards(_charts(table, name))


def _fold_notes(html: str, table: Table) -> str:
    """Put the notes into a details element, closed if they are long."""
    state = " open" if sum(map(len, table.notes)) < MAX_UNFOLDED_NOTES else ""
    summary = f"<details{state}><summary>Notes: how to read the table, seeds, grids, ties, omissions</summary>"
    return html.replace("<ul>", f"{summary}<ul>").replace("</ul>", "</ul></details>")


def _agreement(table: Table) -> str:
    """How many test means are near the published ones, and which one is furthest."""
    compared = [
        (abs(cell.difference), row, table.columns[position].heading, cell)
        for row in table.rows
        for position, cell in enumerate(row.cells)
        if cell.difference is not None and table.columns[position].split == "test"
    ]
    if not compared:
        return "No cell has a published number beside it."
    near = sum(distance <= NEAR_DIFFERENCE + 1e-9 for distance, *_ in compared)
    far, row, heading, cell = max(compared, key=lambda difference: difference[0])
    sentence = f"{near} of {len(compared)} test means are within {NEAR_DIFFERENCE} of the published ones."
    if far > NEAR_DIFFERENCE and cell.summary is not None:
        mean = format_score(cell.summary.mean)
        sentence += f" Furthest: {row.label} on {heading}, {mean} instead of {published_text(cell)}."
    return sentence


def _charts(table: Table, name: str) -> list[str]:
    """A chart of the test scores of every task and data set."""
    charts = []
    for at, (heading, places) in enumerate(table.groups()):
        test = next(position for position in places if table.columns[position].split == "test")
        rows = [
            ScoreRow(
                row.label,
                cell.summary.mean,
                cell.summary.std if cell.summary.count > 1 else None,
                None if cell.published is None else cell.published.mean,
                None if cell.published is None else cell.published.std,
                is_baseline=row.is_baseline,
            )
            for row in table.rows
            if (cell := row.cells[test]).summary is not None
        ]
        if rows:
            figure = plots.ours_and_published(rows, METRIC_NAMES[table.metric])
            svg = to_svg(figure, f"{name}-{at}", heading)
            charts.append(card(svg, heading, "Test scores; lines: one standard deviation."))
    return charts


# ---- training curves -------------------------------------------------------------------------------


def training_curves(task: TaskRecords, name: str) -> str:
    """The training curves of the drawn rows; validation scores of those in the metric of the first one."""
    runs: dict[str, list[Curve]] = {}
    metric: str | None = None
    for selection in task.drawn_rows():
        known = [record.curves for record in selection.records if record.curves is not None and record.curves.epochs]
        for curves in known[:MAX_CURVES_PER_ROW]:
            metric = metric or (curves.metric or task.metric if curves.validation_score else None)
            shown = curves.validation_score if (curves.metric or task.metric) == metric else ()
            runs.setdefault(row_label(selection.group), []).append(Curve(curves.epochs, curves.train_loss, shown))
    if not runs:
        return missing("No run of this task kept its training curves.")
    svg = to_svg(plots.training_curves(runs, METRIC_NAMES[metric or task.metric]), f"{name}-curves", "Training")
    return card(svg, "Training", "The configurations that the table reports: a thin line per seed, thick lines: means.")


# ---- scores against size ---------------------------------------------------------------------------


def scores_by_size(task: TaskRecords, graphs: TaskGraphs | str, name: str) -> str:
    """The scores of the drawn rows against graph size; ``graphs`` may be the reason why they are not available."""
    if isinstance(graphs, str):
        return missing(f"Scores are not shown against sizes. {graphs}")
    truth = encode(np.asarray(graphs.splits.test.y))
    lines = {
        row_label(selection.group): points
        for selection in task.drawn_rows()
        if (points := _size_points(selection, graphs, truth, task.metric))
    }
    if not lines:
        return missing("Scores are not shown against sizes: no run kept predictions for these test graphs.")
    caption = (
        "Means over seeds. Hollow: training graphs, at their mean size. Filled: test graphs, by size; "
        "bars: 95 % bootstrap interval over test graphs."
    )
    metric = METRIC_NAMES[task.metric]
    title = f"{capitalized(metric)} against size"
    return card(to_svg(plots.score_by_size(lines, metric), f"{name}-by-size", title), title, caption)


def _size_points(selection: Selection, graphs: TaskGraphs, truth: str, metric: str) -> list[SizePoint]:
    texts = [outcome.predictions for outcome in selection.outcomes]
    needs_ranks = metric not in OF_CONFUSION
    if needs_ranks or not all(texts) or any(record.labels != truth for record in selection.records):
        return []
    predictions, true = np.stack([decode(encoded) for encoded in texts]), decode(truth)
    sizes = graphs.splits.test.sizes
    points = []
    if (summary := selection.summary("train")) is not None:
        points.append(SizePoint(float(graphs.splits.train.sizes.mean()), summary.mean, train=True))
    for rows in size_bins(sizes):
        mean = float(np.mean([score(metric, true[rows], of_run[rows]) for of_run in predictions]))
        bounds = interval(predictions[:, rows], true[rows], metric, resamples=500)
        points.append(SizePoint(float(sizes[rows].mean()), mean, bounds.low, bounds.high))
    return points


def size_bins(sizes: IntArray, max_bins: int = MAX_SIZE_BINS) -> list[IntArray]:
    """Positions of the graphs of each size, or of bins with about equally many graphs if there are many sizes.

    >>> [rows.tolist() for rows in size_bins(np.array([9, 7, 9]))]
    [[1], [0, 2]]
    """
    distinct = np.unique(sizes)
    if len(distinct) <= max_bins:
        return [np.flatnonzero(sizes == size) for size in distinct]
    limits = np.unique(np.quantile(sizes, np.linspace(0, 1, max_bins + 1)[1:-1]))
    places = np.searchsorted(limits, sizes, side="left")
    return [rows for position in range(len(limits) + 1) if len(rows := np.flatnonzero(places == position))]
