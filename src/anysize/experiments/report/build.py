"""The report: everything that a folder of records says, as one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from anysize import __version__
from anysize.experiments.record_store import RecordStore
from anysize.experiments.records import Record, now
from anysize.experiments.report.fits import fits_part
from anysize.experiments.report.page import Section, cards, missing, page, paragraph, text, tiles
from anysize.experiments.report.runs import facts, runs_section
from anysize.experiments.report.scores import curves_part, other_tasks, sizes_part, tables
from anysize.experiments.report.selected_rows import TaskRecords, tasks_of, title_of
from anysize.experiments.report.task_graphs import distributions, drift_part, graphs_of
from anysize.experiments.tables.notes import GridSize
from anysize.tasks.task import DataDir

TITLE = "Train on small graphs, predict on large ones"

ProgressFunction = Callable[[str, float], None]


def make_report(
    store: RecordStore,
    tasks: Sequence[str] | None = None,
    *,
    data_dir: DataDir = None,
    grid_size: GridSize | None = None,
    fits: bool = True,
    report: ProgressFunction | None = None,
) -> str:
    """The page of the records in a folder, as HTML.

    Tables 1 to 3 where there are records, charts of them, and for every task the shift from training to test, the
    drift of densities, training curves, scores against size and representations. What is missing is said in a
    sentence. Figures show one data set of each task, the published one where it was run, and the configurations that
    the tables report.

    Args:
        tasks: only these; all that have records if None.
        data_dir: the folder with data files; without it the environment variable ANYSIZE_DATA.
        grid_size: see `anysize.experiments.tables.build.build_table`.
        fits: fit two small models for the figures of representations; a second or two for each synthetic task.
        report: called with what is done and the share of it that is done.
    """
    tell = report or (lambda what, done: None)
    tell("reading records", 0.0)
    records = store.read(task=tasks, curves=False)
    tell("reading records", 1.0)
    found = tasks_of(records)
    sections = [tables(records, grid_size)] if records else []
    if (others := other_tasks(found)) is not None:
        sections.append(others)
    for place, own in enumerate(found):
        tell("drawing", place / len(found))
        sections.append(_task_section(_with_curves(own, store), f"task-{place + 1}", data_dir, fits))
    tell("drawing", 1.0)
    if records:
        sections.append(runs_section(records))
    return page(TITLE, _lead(records, found, store), sections, _foot(store))


def _with_curves(own: TaskRecords, store: RecordStore) -> TaskRecords:
    """The shown rows with the training curves of their runs: those of all runs would not fit into memory."""
    shown = own.shown()
    groups = [selection.group for selection in shown]
    keys = {record.key for selection in shown for record in selection.records}
    read = store.read(task=own.task, data=own.data, method={group.method for group in groups})
    known = {record.key: record for record in read if record.key in keys}
    chosen = dict(own.chosen)
    for selection in shown:
        full = tuple(known.get(record.key, record) for record in selection.records)
        chosen[selection.group] = replace(selection, records=full)
    return replace(own, chosen=chosen)


def _task_section(own: TaskRecords, name: str, data_dir: DataDir, fits: bool) -> Section:
    graphs = graphs_of(own, data_dir)
    data = "the published data" if own.data == "published" else f"the data of {own.data}"
    if isinstance(graphs, str):
        lead, shift = paragraph(f"On {data}.", "lead"), missing(graphs)
        drift = missing("Without the graphs, there are no densities to compare.")
    else:
        lead = paragraph(f"{graphs.task.title}; on {data}.", "lead")
        shift, drift = distributions(graphs, name), drift_part(graphs, name)
    outcome = cards([curves_part(own, name), sizes_part(own, graphs, name)])
    parts = [
        Section(f"{name}-shift", "What shifts", shift),
        Section(f"{name}-densities", "Drift of densities", drift),
        Section(f"{name}-training", "Training, and scores against size", outcome),
    ]
    if fits:
        parts.append(Section(f"{name}-representations", "Representations", fits_part(graphs, name)))
    return Section(name, own.title, lead, tuple(parts))


def _lead(records: Sequence[Record], found: Sequence[TaskRecords], store: RecordStore) -> str:
    if not records:
        return missing(
            f"There are no records in {store.folder}, so there is nothing to show: anysize sweep makes some."
        )
    named = ", ".join(title_of(own.task) for own in found)
    told = (
        "Graph classifiers trained on small graphs and tested on larger or differently colored ones: the tables of "
        f"Bevilacqua, Zhou and Ribeiro (ICML 2021) from our own runs, and what lies behind them. Tasks: {named}."
    )
    return paragraph(told, "lead") + tiles(facts(records))


def _foot(store: RecordStore) -> str:
    made = now().replace("T", " ")[:16]
    return f"<p>Made by anysize {text(__version__)} from the records in {text(store.folder)}, {made} UTC.</p>\n"
