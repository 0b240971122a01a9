"""The results page and its appendix, from records: `anysize paper results`.

The page: which kind of model is right on which task, whether the paper's conclusions hold on our numbers, how many
cells agree with the published ones, test scores, other validation draws, fresh data. The appendix: the tables in full
with their notes, what is missing, and the machines that were used.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from anysize.evaluation.records import Record
from anysize.evaluation.render import escape_markdown, markdown_row, render_markdown
from anysize.evaluation.tables import Cell, Table, format_score
from anysize.methods.catalog import METHODS
from anysize.metrics import METRIC_NAMES, SCORE_DIGITS
from anysize.paper.claims import claims_rows
from anysize.paper.layout import TABLES, TaskEntry, table_of
from anysize.paper.published import published
from anysize.paper.selection import Group, Selection, grouped, select, select_all
from anysize.paper.tables import TRIVIAL_ROWS, GridSize, build_table, rows_that_ran

SEEDS = 10  # of every configuration, as in the paper
NEAR_DIFFERENCE = 0.15  # a test mean that differs by no more is called near the published one
REAL_TASKS = frozenset(task.name for task in TABLES[3].tasks)  # the paper drew their validation graphs at random

HEAD = """# Results

<!-- Made by `make results`; changes by hand are lost. -->

Our numbers beside the published ones; everything on this page, including the sentences with numbers, is made from the
records in `results/records` by `make results`. [Tables](tables.md) explains cells and rules,
[Why the published numbers differ](why-published-numbers-differ.md) what is known about the differences; the
[appendix](results-appendix.md) has the tables in full, missing runs and machines.
"""
APPENDIX_HEAD = """# Appendix of the results

<!-- Made by `make results`; changes by hand are lost. -->

What stands behind [Results](results.md), from the same records.
"""


# ---- comparison with the published numbers -----------------------------------------------------------


@dataclass(frozen=True)
class ComparedCell:
    """A test cell with a number of ours and a published one.

    Attributes:
        selection: the configuration behind our number.
        grid: the number of configurations that the paper tried, if known.
    """

    task: str
    title: str
    label: str
    cell: Cell
    selection: Selection
    grid: int | None

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.selection.group.method

    @property
    def difference(self) -> float:
        """Ours minus the published mean, as printed."""
        assert self.cell.difference is not None
        return round(self.cell.difference, SCORE_DIGITS)

    @property
    def deviates(self) -> bool:
        """Whether the difference, as printed, is larger than the published standard deviation over seeds."""
        assert self.cell.published is not None
        return abs(self.difference) > round(self.cell.published.std or 0.0, SCORE_DIGITS)

    @property
    def near(self) -> bool:
        """Whether our mean is near the published one, as printed."""
        return abs(self.difference) <= NEAR_DIFFERENCE

    @property
    def reduced(self) -> bool:
        """Whether fewer configurations were tried than the paper's grid has."""
        return self.grid is not None and self.selection.configurations < self.grid


def compare(table: Table, records: Iterable[Record], grid_size: GridSize | None = None) -> list[ComparedCell]:
    """All test cells on published data with both numbers of the rows of the paper, column by column."""
    groups = grouped(records)
    cells = []
    for position, column in enumerate(table.columns):
        if column.split != "test" or column.data != "published":
            continue
        for row in table.rows:
            if row.cells[position].difference is None or not METHODS[row.method].in_paper:
                continue
            selection = select(groups[Group(column.task, column.data, row.method, row.recipe)])
            size = None if grid_size is None else grid_size(column.task, row.method)
            cells.append(ComparedCell(column.task, column.heading, row.label, row.cells[position], selection, size))
    return cells


# ---- the page ----------------------------------------------------------------------------------------


def results_page(records: Iterable[Record], grid_size: GridSize | None = None) -> str:
    """The page in Markdown, a pure function of the records.

    Args:
        grid_size: such as `paper_grid_size`, to name reduced grids.
    """
    records = list(records)
    whole = [_published_table(number, records, grid_size) for number in TABLES]
    tables = [_test_columns(table) for table in whole]
    compared = [cell for table in tables for cell in compare(table, records, grid_size)]
    return _page(
        HEAD,
        {
            "Who is right where": [_who_is_right(tables)],
            "What the paper concludes": [_claims(whole)],
            "Agreement with the published numbers": [_agreement(compared)],
            "Test scores on the published data": [render_markdown(_short(part)) for part in tables if part.rows],
            "Ten validation draws": [_draws(records)],
            "Fresh data": [_fresh_summary(records)],
            "Time on a GPU": [_gpu_time(records, grid_size)],
        },
    )


def appendix_page(records: Iterable[Record], grid_size: GridSize | None = None) -> str:
    """The appendix in Markdown, a pure function of the records."""
    records = list(records)
    tables = {number: _published_table(number, records, grid_size) for number in TABLES}
    fresh = [table for number in TABLES if (table := _fresh_table(number, records)) is not None]
    compared = [cell for table in tables.values() for cell in compare(table, records, grid_size)]
    return _page(
        APPENDIX_HEAD,
        {
            "Published data": [render_markdown(table) for table in tables.values() if table.columns],
            "Fresh data": [render_markdown(table) for table in fresh],
            "Missing": [_missing(tables, records, compared)],
            "Machines": [_machines(records)],
        },
    )


def _page(head: str, parts: Mapping[str, Sequence[str]]) -> str:
    return "\n".join([head, *(f"## {title}\n\n" + "\n".join(texts) for title, texts in parts.items() if any(texts))])


FAMILIES = {"GNNs": "gnn", "kernels": "kernel", "Γ, the paper's recipe": "gamma", "Γ, robust recipe": "gamma"}


def _who_is_right(tables: Iterable[Table]) -> str:
    """The best row of each kind of model on every task: our test mean and the published best."""
    rows = []
    for table in tables:
        for position, column in enumerate(table.columns):
            cells = [_best_of_family(table, position, family) for family in FAMILIES]
            if any(cells):
                cells.append(_best_baseline(table, position))
                rows.append((f"{column.heading} ({METRIC_NAMES[table.metric]})", *cells))
    lead = (
        "The best row of each kind, ours (published best of that kind in parentheses). Test graphs are larger than all "
        "others, and in the SBM columns also colored otherwise. The last column is the best trivial baseline."
    )
    return _markdown_table(lead, ("task", *FAMILIES, "trivial"), rows) if rows else "There are no records yet.\n"


def _best_of_family(table: Table, position: int, family: str) -> str:
    recipe = "robust" if "robust" in family else "paper"
    rows = [
        row
        for row in table.rows
        if not row.is_baseline
        and row.recipe == recipe
        and row.method in METHODS
        and METHODS[row.method].kind == FAMILIES[family]
    ]
    ours = [(summary.mean, row.label) for row in rows if (summary := row.cells[position].summary) is not None]
    papers = [
        (published.mean, row.label)
        for row in rows
        if (published := row.cells[position].published) is not None and published.mean is not None
    ]
    if not ours:
        return ""
    mean, label = max(ours, key=lambda pair: round(pair[0], SCORE_DIGITS))
    text = f"{format_score(mean)} {label.removesuffix(', robust')}"
    if not papers or recipe == "robust":
        return text
    best, other = max(papers, key=lambda pair: pair[0])
    return f"{text} ({format_score(best)}{'' if other == label else f' {other}'})"


def _best_baseline(table: Table, position: int) -> str:
    known = [
        (summary.mean, row.label)
        for row in table.rows
        if row.method in TRIVIAL_ROWS and (summary := row.cells[position].summary) is not None
    ]
    return f"{format_score(max(known)[0])} {max(known)[1]}" if known else ""


def _claims(tables: Sequence[Table]) -> str:
    lead = (
        "The paper's sentences about its tables, in brief, and what its numbers and ours say, over the cells that have "
        "both: test means as printed, by the paper's recipe. Some of our grids, those of IRM on Table 3 above all, are "
        "[incomplete](results-appendix.md#missing)."
    )
    rows = claims_rows(tables)
    return _markdown_table(lead, ("statement", "published", "ours"), rows) if rows else ""


def _agreement(compared: Sequence[ComparedCell]) -> str:
    rows = []
    for title, cells in _families(compared):
        counts = len(cells), sum(not cell.deviates for cell in cells), sum(cell.near for cell in cells)
        difference = fmean(abs(cell.difference) for cell in cells)
        rows.append((title, *map(str, counts), format_score(difference)))
    lead = (
        "How many of our test cells agree with the published number, compared as printed. The procedure follows the "
        "text and the code of the paper; it was not chosen by this table."
    )
    near = f"within {format_score(NEAR_DIFFERENCE)}"
    head = ("rows", "cells", "within the published deviation", near, "mean difference")
    return _markdown_table(lead, head, rows) if rows else ""


def _short(table: Table) -> Table:
    """The rows that ran, with the short notes."""
    shown = rows_that_ran(table)
    notes = (note.partition("All notes:")[0].strip() for note in table.short_notes)  # all of them are in the appendix
    return replace(shown, notes=tuple(filter(None, notes)))


def _test_columns(table: Table) -> Table:
    """The table without the other splits."""
    places = [position for position, column in enumerate(table.columns) if column.split == "test"]
    rows = tuple(replace(row, cells=tuple(row.cells[position] for position in places)) for row in table.rows)
    return replace(table, columns=tuple(table.columns[position] for position in places), rows=rows)


def _published_table(number: int, records: Sequence[Record], grid_size: GridSize | None) -> Table:
    """A table of the paper, without tasks that have no record; those are listed as missing."""
    recorded = {record.task for record in records if record.data == "published"}
    tasks = [task.name for task in TABLES[number].tasks if task.name in recorded]
    if not tasks:
        return Table("", TABLES[number].metric, "paper", (), ())
    return build_table(number, records, data="published", tasks=tasks, grid_size=grid_size)


def _fresh_table(number: int, records: Sequence[Record]) -> Table | None:
    """The rows and tasks with records on fresh data; None if there are none."""
    recorded = {record.task for record in records if record.data != "published"}
    tasks = [task.name for task in TABLES[number].tasks if task.name in recorded]
    if not tasks:
        return None
    table = build_table(number, records, data="fresh", tasks=tasks, splits=("validation", "test"))
    return replace(rows_that_ran(table), title=f"{table.title}: fresh data")


def _families(compared: Sequence[ComparedCell]) -> list[tuple[str, list[ComparedCell]]]:
    """Gamma models, kernels and GNNs, by table."""
    families: dict[str, list[ComparedCell]] = {}
    for cell in compared:
        kind = {"gamma": "Gamma models", "kernel": "kernels"}.get(METHODS[cell.method].kind, "GNNs")
        families.setdefault(f"Table {table_of(cell.task)}, {kind}", []).append(cell)
    return sorted(families.items())


def _fresh_summary(records: Sequence[Record]) -> str:
    """For every Gamma row on fresh data, table by table: the mean over data sets, and the worst one."""
    by_row: dict[tuple[int, str, str], list[tuple[float, str]]] = {}
    for group, selection in select_all(record for record in records if record.data.startswith("seed:")).items():
        summary = selection.summary("test")
        if summary is not None and group.method in METHODS and METHODS[group.method].kind == "gamma":
            row = table_of(group.task) or 0, group.method, group.recipe
            by_row.setdefault(row, []).append((summary.mean, f"{group.task}, {group.data}"))
    rows = [
        (
            f"Table {table}" if table else "none", f"{METHODS[method].title}, {recipe} recipe", str(len(means)),
            f"{fmean(mean for mean, _ in means):.3f}", f"{min(means)[0]:.3f} ({min(means)[1]})",
        )
        for (table, method, recipe), means in sorted(by_row.items())
    ]  # fmt: skip
    lead = "Γ models on data sets that were drawn afresh: the mean over data sets, and the worst one."
    head = ("tasks of", "row", "data sets", "mean test score", "worst")
    return _markdown_table(lead, head, rows) if rows else ""


def _draws(records: Sequence[Record]) -> str:
    """For every kernel on a real data set: the published number, and the mean and range over validation draws."""
    draws: dict[tuple[str, str], list[float]] = {}
    for group, selection in select_all(record for record in records if record.data.startswith("split:")).items():
        summary = selection.summary("test")
        if summary is not None and group.recipe == "paper" and group.task in REAL_TASKS:
            draws.setdefault((group.task, group.method), []).append(summary.mean)
    rows = []
    for (task, method), means in sorted(draws.items(), key=lambda item: list(METHODS).index(item[0][1])):
        paper = published(task, method)
        number = "" if paper is None or paper.mean is None else format_score(paper.mean)
        ends = f"{format_score(min(means))} to {format_score(max(means))}"
        rows.append((METHODS[method].title, task, number, format_score(fmean(means)), ends, str(len(means))))
    lead = (
        "The validation graphs of the paper's real data sets are not known, and C depends on them. Test MCC over draws "
        "of them: mean and range."
    )
    return _markdown_table(lead, ("kernel", "data set", "published", "mean", "range", "draws"), rows) if rows else ""


def _missing(tables: dict[int, Table], records: Sequence[Record], compared: Sequence[ComparedCell]) -> str:
    lines = []
    recorded = {record.task for record in records}
    for number, entry in TABLES.items():
        if absent := [task for task in entry.tasks if task.name not in recorded]:
            lines.append(f"- Table {number}: no run of {', '.join(map(_task_title, absent))}.")
        for heading, places in tables[number].groups():
            rows = [row for row in tables[number].rows if row.recipe == "paper" and not row.is_baseline]
            if idle := [escape_markdown(row.label) for row in rows if row.cells[places[-1]].status == "not run"]:
                lines.append(f"- {escape_markdown(heading)}: no run of {', '.join(idle)}.")
    for title in dict.fromkeys(cell.title for cell in compared if cell.reduced):
        reduced = [
            f"{escape_markdown(cell.label)} ({cell.selection.configurations} of {cell.grid})"
            for cell in compared
            if cell.title == title and cell.reduced
        ]
        lines.append(f"- {escape_markdown(title)}: part of the paper's grid for {', '.join(reduced)}.")
    for cell in compared:
        seeds = len(cell.selection.records)
        if seeds < SEEDS and METHODS[cell.method].seeded:
            lines.append(f"- {escape_markdown(cell.title)}, {escape_markdown(cell.label)}: {seeds} of {SEEDS} seeds.")
    return "\n".join(lines or ["- Nothing."]) + "\n"


def _task_title(task: TaskEntry) -> str:
    return f"{escape_markdown(task.title)}{' (not in the paper)' if task.extra else ''}"


def _machines(records: Sequence[Record]) -> str:
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        versions = ", ".join(f"{name} {record.versions[name]}" for name in sorted(record.versions))
        groups.setdefault((record.device or "unknown", versions), []).append(record)
    rows = []
    for (device, versions), runs in sorted(groups.items()):
        days = sorted({run.when[:10] for run in runs if run.when}) or ["unknown"]
        span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        rows.append((device, f"{len(runs):,}", f"{sum(run.seconds or 0.0 for run in runs):,.0f}", span, versions))
    lead = "Seconds of training only: a run has its share of the time of the stack it was trained in."
    return _markdown_table(lead, ("device", "runs", "seconds", "days", "versions"), rows) if rows else ""


def _gpu_time(records: Sequence[Record], grid_size: GridSize | None) -> str:
    """Training time of the paper's grids, table by table: as recorded, and extrapolated to ten seeds of all of them."""
    groups: dict[tuple[int, str, str, str], list[float]] = {}
    for record in records:
        number = table_of(record.task)
        if number and record.recipe == "paper" and record.data == "published" and record.device not in ("", "cpu"):
            groups.setdefault((number, record.device, record.task, record.method), []).append(record.seconds or 0.0)
    totals: dict[tuple[int, str], list[float]] = {}
    for (number, device, task, method), seconds in groups.items():
        full = SEEDS * ((grid_size and grid_size(task, method)) or 0)
        added = len(seconds), sum(seconds), full, full * sum(seconds) / len(seconds)
        totals[number, device] = [a + b for a, b in zip(totals.get((number, device), [0.0] * 4), added, strict=True)]
    rows = [
        (f"Table {number}", device, f"{runs:,.0f}", f"{spent / 3600:.1f}", f"{full:,.0f}", f"{needed / 3600:.1f}")
        for (number, device), (runs, spent, full, needed) in sorted(totals.items())
    ]
    lead = (
        "`anysize paper sweep table1 table2 --methods gnns,gamma --grid paper --device cuda --cache counts` trains "
        "Tables 1 and 2. Hours of training as recorded, and extrapolated to ten seeds of the whole grid of these rows. "
        "Up to 16 processes shared the GPU: the time that passed was a fraction of this."
    )
    head = ("table", "device", "runs", "hours", "runs of the whole grid", "hours")
    return _markdown_table(lead, head, rows) if rows else ""


def _markdown_table(lead: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [lead, "", markdown_row(head), f"|{' --- |' * len(head)}"]
    return "\n".join([*lines, *(markdown_row([escape_markdown(cell) for cell in row]) for row in rows)]) + "\n"
