"""What came out: the paper's tables with charts, training curves, scores against the size of graphs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from anysize._typing import IntArray
from anysize.experiments.records import Record, decode, encode
from anysize.experiments.report.page import Section, card, cards, grid, missing, paragraph, text
from anysize.experiments.report.selected_rows import TaskRecords, label_of
from anysize.experiments.report.task_graphs import TaskGraphs
from anysize.experiments.selection import ScoreSummary, Selection
from anysize.experiments.tables import bootstrap
from anysize.experiments.tables.build import build_table
from anysize.experiments.tables.cells import Cell, Row, Table, printed
from anysize.experiments.tables.formats import cell_text, html
from anysize.experiments.tables.layout import TABLES
from anysize.experiments.tables.notes import GridSize
from anysize.plots.curves import Curve, training_curves
from anysize.plots.scores import ScoreRow, SizePoint, ours_and_published, score_by_size
from anysize.tasks.task import labels

METRICS = {"accuracy": "accuracy", "mcc": "MCC"}
NEAR = 0.05  # a mean that is no further from the published one is called near
BINS = 5
RUNS_DRAWN = 10
SHORT_NOTES = 2000  # characters; longer ones are folded


# ---- tables ----------------------------------------------------------------------------------------


def tables(records: Sequence[Record], grid_size: GridSize | None) -> Section:
    """The tables of the paper that there are records of."""
    ran = {record.task for record in records}
    parts, absent = [], []
    for number, entry in TABLES.items():
        names = [task.name for task in entry.tasks if task.name in ran]
        left = [task.name for task in entry.tasks if task.name not in ran and not task.extra]
        if not names:
            absent.append(f"table {number}")
            continue
        whole = build_table(number, records, tasks=names, grid_size=grid_size)
        made = _with_rows_that_ran(whole)
        body = paragraph(_agreement(made)) + _folded(html.fragment(made), made) + cards(_charts(made, number))
        if left:
            body += missing(f"Tasks of this table without records: {', '.join(left)}.")
        if idle := [row.label for row in whole.rows if not _ran(row)]:
            body += missing(f"Rows without records, in full in anysize table {number}: {', '.join(idle)}.")
        parts.append(Section(f"table-{number}", f"Table {number}: {entry.title}", body))
    words_ = missing(f"There are no records of {' and '.join(absent)} of the paper.") if absent else ""
    return Section("tables", "Beside the published numbers", words_, tuple(parts))


def _folded(fragment: str, table: Table) -> str:
    """With notes that unfold: on a phone those of a full table are longer than everything else."""
    state = " open" if sum(map(len, table.notes)) < SHORT_NOTES else ""
    summary = f"<details{state}><summary>Notes: how to read it, seeds, grids, ties, what was left out</summary>"
    return fragment.replace("<ul>", f"{summary}<ul>").replace("</ul>", "</ul></details>")


def _with_rows_that_ran(table: Table) -> Table:
    """Without the others, and without notes that speak of them alone."""
    rows = tuple(row for row in table.rows if _ran(row))
    statuses = {cell.status for row in rows for cell in row.cells}
    gone = tuple(f"{status}: " for status in ("NA", "not run") if status not in statuses)
    return replace(table, rows=rows, notes=tuple(note for note in table.notes if not note.startswith(gone or "\0")))


def _ran(row: Row) -> bool:
    return any(cell.status in ("run", "unknown") for cell in row.cells)


def _agreement(table: Table) -> str:
    """How many test means are near the published ones, and which one is furthest."""
    compared = [
        (abs(cell.difference), row, table.columns[place].heading, cell)
        for row in table.rows
        for place, cell in enumerate(row.cells)
        if cell.difference is not None and table.columns[place].split == "test"
    ]
    if not compared:
        return "No cell has a published number beside it."
    near = sum(distance <= NEAR + 1e-9 for distance, *_ in compared)
    far, row, heading, cell = max(compared, key=lambda one: one[0])
    told = f"{near} of {len(compared)} test means lie within {NEAR} of the published ones."
    if far > NEAR and cell.summary is not None:
        mean = printed(cell.summary.mean)
        told += f" Furthest: {row.label} on {heading}, {mean} where {cell_text.paper(cell)} was published."
    return told


def _charts(table: Table, number: int) -> list[str]:
    """A chart of the test scores of every task and data set."""
    made = []
    for at, (heading, places) in enumerate(table.groups()):
        tests = [place for place in places if table.columns[place].split == "test"]
        rows = [_score_row(row, row.cells[tests[0]]) for row in table.rows if row.cells[tests[0]].summary is not None]
        if rows:
            figure = ours_and_published(rows, METRICS[table.metric])
            made.append(
                card(figure, f"table-{number}-{at}", heading, "Test scores of what was run; lines: one deviation.")
            )
    return made


def _score_row(row: Row, cell: Cell) -> ScoreRow:
    assert cell.summary is not None
    beside = (None, None) if cell.published is None else (cell.published.mean, cell.published.std)
    return ScoreRow(row.label, cell.summary.mean, cell.summary.std, *beside, check=row.check)


def other_tasks(found: Sequence[TaskRecords]) -> Section | None:
    """Plain numbers of the tasks that are in no table; None if there are none."""
    listed = {task.name for entry in TABLES.values() for task in entry.tasks}
    rows = [
        [text(value) for value in (own.task, own.data, label_of(group), len(chosen.records))]
        + [_number(chosen.summary(split)) for split in ("train", "validation", "test")]
        for own in found
        if own.task not in listed
        for group, chosen in own.chosen.items()
    ]
    if not rows:
        return None
    head = ("task", "data", "method", "seeds", "train", "validation", "test")
    told = "Mean (deviation) over seeds of the configuration with the highest mean validation score."
    return Section("others", "Other tasks", paragraph(told) + grid(head, rows, words=3))


def _number(summary: ScoreSummary | None) -> str:
    return "?" if summary is None else f"{printed(summary.mean)} ({printed(summary.std)})"


# ---- training curves -------------------------------------------------------------------------------


def curves_part(own: TaskRecords, name: str) -> str:
    """Curves of the shown rows."""
    runs = {}
    for selection in own.shown():
        known = [record.curves for record in selection.records if record.curves is not None and record.curves.epochs]
        if known:
            runs[label_of(selection.group)] = [
                Curve(one.epochs, one.train_loss, one.validation_score) for one in known[:RUNS_DRAWN]
            ]
    if not runs:
        return missing("No run of this task kept its training curves.")
    told = "The configurations that the table reports: thin lines are runs of one seed, thick ones their means."
    return card(training_curves(runs, METRICS[own.metric]), f"{name}-curves", "Training", told)


# ---- scores against size ---------------------------------------------------------------------------


def sizes_part(own: TaskRecords, graphs: TaskGraphs | str, name: str) -> str:
    """Scores of the shown rows against the size of graphs."""
    if isinstance(graphs, str):
        return missing(f"Scores are not shown against sizes. {graphs}")
    truth = encode(labels(graphs.splits.test))
    lines = {}
    for selection in own.shown():
        points = _points(selection, graphs, truth, own.metric)
        if points:
            lines[label_of(selection.group)] = points
    if not lines:
        return missing("Scores are not shown against sizes: no run kept predictions for these test graphs.")
    told = (
        "Means over seeds. Hollow: training graphs, at their mean size. Filled: test graphs, by size; "
        "bars: 95 % when the test graphs are drawn again."
    )
    metric = METRICS[own.metric]
    return card(score_by_size(lines, metric), f"{name}-by-size", f"{metric[0].upper()}{metric[1:]} against size", told)


def _points(selection: Selection, graphs: TaskGraphs, truth: str, metric: str) -> list[SizePoint]:
    texts = [outcome.predictions for outcome in selection.outcomes]
    if not all(texts) or any(record.labels != truth for record in selection.records):
        return []
    predictions, true = np.stack([decode(one) for one in texts]), decode(truth)
    found = []
    if (summary := selection.summary("train")) is not None:
        found.append(SizePoint(float(graphs.splits.train.sizes.mean()), summary.mean, train=True))
    for rows in size_bins(graphs.splits.test.sizes):
        own, size = predictions[:, rows], float(graphs.splits.test.sizes[rows].mean())
        matrices = bootstrap.confusion_matrices(own, true[rows], np.ones((1, len(rows))))
        around = bootstrap.interval(own, true[rows], metric, resamples=500)
        found.append(SizePoint(size, float(bootstrap.METRICS[metric](matrices).mean()), around.low, around.high))
    return found


def size_bins(sizes: IntArray, most: int = BINS) -> list[IntArray]:
    """The graphs of every size, or of bins with about equally many graphs where there are many sizes.

    >>> [rows.tolist() for rows in size_bins(np.array([9, 7, 9]))]
    [[1], [0, 2]]
    """
    distinct = np.unique(sizes)
    if len(distinct) <= most:
        return [np.flatnonzero(sizes == size) for size in distinct]
    limits = np.unique(np.quantile(sizes, np.linspace(0, 1, most + 1)[1:-1]))
    places = np.searchsorted(limits, sizes, side="left")
    return [rows for place in range(len(limits) + 1) if len(rows := np.flatnonzero(places == place))]
