"""The report: one self-contained HTML page from a folder of records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from anysize import __version__
from anysize._html import Section, cards, html_table, missing, page, paragraph, text, tiles
from anysize._progress import ProgressFunction, ignore_progress, rough_duration
from anysize._schema import compact_json
from anysize._typing import PathLike
from anysize.evaluation.records import Record, now
from anysize.evaluation.store import RecordStore
from anysize.paper.report.fits import representations
from anysize.paper.report.scores import TaskRecords, other_tasks, scores_by_size, tables, task_title, tasks_of
from anysize.paper.report.scores import training_curves as curves_of
from anysize.paper.report.task_graphs import TaskGraphs, distributions, drift_section, load_graphs
from anysize.paper.tables import GridSize

TITLE = "Train on small graphs, predict on large ones"


def make_report(
    store: RecordStore,
    tasks: Sequence[str] | None = None,
    *,
    data_dir: PathLike | None = None,
    grid_size: GridSize | None = None,
    fits: bool = True,
    progress: ProgressFunction = ignore_progress,
) -> str:
    """An HTML page of the records in a folder.

    Tables 1 to 3 where there are records, with charts, and for every task the shift from training to test, the drift
    of densities, training curves, scores against size and representations. What is missing is stated. Figures show one
    data set of each task, the published one where there are records, and the configurations that the tables report.

    Args:
        tasks: only these; all that have records if None.
        data_dir: the folder with data files; the environment variable ANYSIZE_DATA if None.
        grid_size: see `anysize.paper.tables.build_table`.
        fits: fit two small models for the figures of representations; a second or two for each synthetic task.
        progress: called with the current step and the share of it that is done.
    """
    progress("reading records", 0.0)
    records = store.read(task=tasks, curves=False)
    progress("reading records", 1.0)
    reported = tasks_of(records)
    sections = [tables(records, grid_size)] if records else []
    if (others := other_tasks(records)) is not None:
        sections.append(others)
    for position, task in enumerate(reported):
        progress("drawing", position / len(reported))
        sections.append(_task_section(_with_curves(task, store), f"task-{position + 1}", data_dir, fits))
    progress("drawing", 1.0)
    if records:
        sections.append(_runs_section(records))
    return page(TITLE, _lead(records, reported, store), sections, _foot(store))


def _with_curves(task: TaskRecords, store: RecordStore) -> TaskRecords:
    """Read the training curves of the rows that figures show; those of all runs would not fit into memory."""
    drawn = task.drawn_rows()
    keys = {record.key for selection in drawn for record in selection.records}
    methods = {selection.group.method for selection in drawn}
    read = store.read(task=task.task, data=task.data, method=methods)
    complete = {record.key: record for record in read if record.key in keys}
    selections = dict(task.selections)
    for selection in drawn:
        full = tuple(complete.get(record.key, record) for record in selection.records)
        selections[selection.group] = replace(selection, records=full)
    return replace(task, selections=selections)


def _task_section(task: TaskRecords, name: str, data_dir: PathLike | None, fits: bool) -> Section:
    data = "the published data" if task.data == "published" else f"the data of {task.data}"
    graphs: TaskGraphs | str = load_graphs(task.task, task.data, data_dir)
    if isinstance(graphs, str):
        lead, shift = paragraph(f"On {data}.", "lead"), missing(graphs)
        drift = missing("Without the graphs, there are no densities to compare.")
    else:
        lead = paragraph(f"{graphs.task.title}; on {data}.", "lead")
        shift, drift = distributions(graphs, name), drift_section(graphs, name)
    outcome = cards([curves_of(task, name), scores_by_size(task, graphs, name)])
    parts = [
        Section(f"{name}-shift", "Shift", shift),
        Section(f"{name}-densities", "Drift of densities", drift),
        Section(f"{name}-training", "Training, and scores against size", outcome),
    ]
    if fits:
        parts.append(Section(f"{name}-representations", "Representations", representations(graphs, name)))
    return Section(name, task_title(task.task), lead, tuple(parts))


def _lead(records: Sequence[Record], tasks: Sequence[TaskRecords], store: RecordStore) -> str:
    if not records:
        return missing(f"There are no records in {store.folder}. Make some with anysize paper sweep.")
    names = ", ".join(task_title(task.task) for task in tasks)
    sentence = (
        "Graph classifiers trained on small graphs and tested on larger or differently colored ones: the tables of "
        f"Bevilacqua, Zhou and Ribeiro (ICML 2021) from our own runs, with details for each task. Tasks: {names}."
    )
    return paragraph(sentence, "lead") + tiles(_facts(records))


def _foot(store: RecordStore) -> str:
    when = now().replace("T", " ")[:16]
    return f"<p>Made by anysize {text(__version__)} from the records in {text(store.folder)}, {when} UTC.</p>\n"


# ---- what was run ----------------------------------------------------------------------------------


def _facts(records: Sequence[Record]) -> list[tuple[str, str]]:
    """The numbers at the top of the page, with their units."""
    counts = {
        "run": len(records),
        "task": len({record.task for record in records}),
        "data set": len({(record.task, record.data) for record in records}),
        "method": len({record.method for record in records}),
    }
    facts = [(f"{count:,}", unit + "s" * (count != 1)) for unit, count in counts.items()]
    return [*facts, (rough_duration(_seconds(records)), "of training")]


def _runs_section(records: Sequence[Record]) -> Section:
    """A row for every task and data set, then the versions."""
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        groups.setdefault((record.task, record.data), []).append(record)
    head = ("task", "data", "device", "runs", "methods", "configurations", "seeds", "training", "from", "to")
    rows = []
    for (task, data), runs in groups.items():
        devices = ", ".join(sorted({run.device or "unknown" for run in runs}))
        times = [run.when[:16].replace("T", " ") for run in runs if run.when] or ["unknown"]
        configurations = {(run.method, run.recipe, compact_json(run.configuration)) for run in runs}
        cells = (
            task_title(task), data, devices, f"{len(runs):,}", len({run.method for run in runs}), len(configurations),
            len({run.seed for run in runs}), rough_duration(_seconds(runs)), min(times), max(times),
        )  # fmt: skip
        rows.append([text(cell) for cell in cells])
    return Section("runs", "Runs", html_table(head, rows, text_columns=3) + _versions(records))


def _versions(records: Iterable[Record]) -> str:
    counts = Counter(
        ", ".join(f"{name} {value}" for name, value in sorted(record.versions.items())) for record in records
    )
    parts = [
        f"{versions or 'unknown'} ({count:,} run{'s' * (count > 1)})"
        for versions, count in sorted(counts.items(), key=lambda item: (not item[0], -item[1]))
    ]
    return paragraph(f"Versions: {'; '.join(parts)}.", "small")


def _seconds(records: Iterable[Record]) -> float:
    return sum(record.seconds or 0.0 for record in records)
