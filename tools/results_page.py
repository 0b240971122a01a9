"""``python -m tools.results_page``: the page docs/results.md from records, never by hand.

The three tables on the published data, what was run on fresh data, where and why ours differ from the published
numbers, what ties decide, what is still missing, and on which machines the runs were made.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from anysize.experiments.record_store import RecordStore
from anysize.experiments.records import Record
from anysize.experiments.selection import select_all
from anysize.experiments.tables.build import build_table
from anysize.experiments.tables.cells import Table, printed
from anysize.experiments.tables.formats import cell_text
from anysize.experiments.tables.formats.markdown import escape, render
from anysize.experiments.tables.layout import TABLES, TaskEntry, table_of
from anysize.experiments.tables.notes import GridSize
from anysize.methods.catalog import METHODS
from tools.deviations import NEAR, Compared, compare, reasons
from tools.front_table import with_front_table

SEEDS = 10  # of the paper

HEAD = """# Results

<!-- Made by `make results`; changes by hand are lost. -->

Everything on this page, sentences with numbers included, is made from the records in `results/records` by one command:

```bash
make results
```

How to read a cell is told in [Tables](tables.md); the commands that made the records are in `results/README.md`.
"""


def results_page(records: Iterable[Record], grid_size: GridSize | None = None) -> str:
    """The whole page, in Markdown; a pure function of the records.

    Args:
        grid_size: (task, method) -> configurations of the paper's grid, to name reduced grids.
    """
    records = list(records)
    tables = {number: _published_table(number, records, grid_size) for number in TABLES}
    fresh = [table for number in TABLES if (table := _fresh_table(number, records)) is not None]
    compared = [own for table in tables.values() for own in compare(table, records, grid_size)]
    parts = {
        "In short": [_in_short(compared, records)],
        "On the published data": [render(table) for table in tables.values() if table.columns],
        "On fresh data": [render(table) for table in fresh],
        "Where ours differ from the published numbers": [_differences(compared)],
        "What ties decide": [_ties(compared)],
        "Still missing": [_missing(tables, records, compared)],
        "Where it was run": [_machines(records)],
    }
    return "\n".join([HEAD, *(f"## {title}\n\n" + "\n".join(texts) for title, texts in parts.items() if any(texts))])


# ---- tables ------------------------------------------------------------------------------------------


def _published_table(number: int, records: Sequence[Record], grid_size: GridSize | None) -> Table:
    """A table of the paper, without tasks that have no record at all: they are named under what is missing."""
    ran = {record.task for record in records if record.data == "published"}
    tasks = [task.name for task in TABLES[number].tasks if task.name in ran]
    if not tasks:
        return Table("", TABLES[number].metric, "paper", (), ())
    return build_table(number, records, data="published", tasks=tasks, grid_size=grid_size)


def _fresh_table(number: int, records: Sequence[Record]) -> Table | None:
    """The rows and tasks that were run on fresh data; None if there are none."""
    ran = {record.task for record in records if record.data != "published"}
    tasks = [task.name for task in TABLES[number].tasks if task.name in ran]
    if not tasks:
        return None
    table = build_table(number, records, data="fresh", tasks=tasks, splits=("validation", "test"))
    rows = tuple(row for row in table.rows if any(cell.status == "run" for cell in row.cells))
    return replace(table, rows=rows, title=f"{table.title}: fresh data")


# ---- sentences ---------------------------------------------------------------------------------------


def _in_short(compared: Sequence[Compared], records: Sequence[Record]) -> str:
    told = []
    for title, own in _families(compared):
        close = sum(not one.deviates for one in own)
        near = sum(one.near for one in own)
        rest = sum(one.near_a_tie and not one.near for one in own)
        told.append(
            f"- {title}: {len(own)} test cells have a published number beside them; {close} differ by no "
            f"more than the published deviation over seeds, {near} by no more than {printed(NEAR)}"
            + (f", {rest} more would with another of the configurations that tie on validation." if rest else ".")
        )
    return "\n".join([*told, *_fresh_lines(records)] or ["- There are no records yet."]) + "\n"


def _families(compared: Sequence[Compared]) -> list[tuple[str, list[Compared]]]:
    """Gamma models, kernels and GNNs, by table."""
    found: dict[str, list[Compared]] = {}
    for own in compared:
        kind = {"gamma": "Gamma models", "kernel": "kernels"}.get(METHODS[own.method].kind, "GNNs")
        found.setdefault(f"Table {table_of(own.task)}, {kind}", []).append(own)
    return sorted(found.items())


def _fresh_lines(records: Sequence[Record]) -> list[str]:
    """Of every Gamma row on fresh data, table by table: the mean over data sets, and the worst, unrounded enough."""
    chosen = select_all(record for record in records if record.data != "published")
    found: dict[tuple[int, str, str], list[tuple[float, str]]] = {}
    for group, selection in chosen.items():
        summary = None if selection is None else selection.summary("test")
        if summary is not None and METHODS[group.method].kind == "gamma":
            place = table_of(group.task) or 0, group.method, group.recipe
            found.setdefault(place, []).append((summary.mean, f"{group.task}, {group.data}"))
    return [
        f"- {f'Table {table}, fresh' if table else 'Fresh'} data, {method} by the {recipe} recipe: mean test score "
        f"{sum(mean for mean, _ in own) / len(own):.3f} over {len(own)} data sets; the worst has {min(own)[0]:.3f} "
        f"({min(own)[1]})."
        for (table, method, recipe), own in sorted(found.items())
    ]


def _differences(compared: Sequence[Compared]) -> str:
    far = [own for own in compared if own.deviates]
    if not far:
        return "No test cell differs by more than the published deviation over seeds.\n" if compared else ""
    told = (
        f"{len(far)} of {len(compared)} test cells differ, as printed, by more than the published deviation over "
        "seeds; a published deviation of 0.00 admits no difference at all. What is behind it comes from the records by "
        "rule: fewer configurations than in the paper's grid, ties, and places where the procedures are known to part."
    )
    head = ("task", "method", "published", "ours", "difference", "what is behind it")
    rows = [
        (own.title, own.label, cell_text.paper(own.cell), cell_text.ours(own.cell), cell_text.difference(own.cell),
         "; ".join(reasons(own)))
        for own in far
    ]  # fmt: skip
    return _grid(told, head, rows)


def _ties(compared: Sequence[Compared]) -> str:
    told = (
        "Configurations that share the best validation score can differ much on test graphs. Where they do, by more "
        "than the published deviation, the number in the table is one of several that validation allows. The order "
        "among equals (the smallest model, the stronger penalty first) was settled when these records were already "
        "there: the columns on the right are what another order would have printed; `last epoch` takes every run at "
        "its last epoch, among the configurations of which that was kept."
    )
    choices = ("weaker penalty first", "lowest validation loss", "lowest penalty", "last epoch")
    rows = []
    for own in compared:
        if own.open and own.chosen.tied_test is not None:
            others = [printed(own.otherwise[name]) if name in own.otherwise else "" for name in choices]
            span = " to ".join(map(printed, own.chosen.tied_test))
            tied = f"{own.chosen.tied} of {own.chosen.configurations}"
            rows.append(
                (own.title, own.label, cell_text.paper(own.cell), cell_text.ours(own.cell), tied, span, *others)
            )
    head = ("task", "method", "published", "ours", "tied", "their test means", *choices)
    return _grid(told, head, rows) if rows else ""


def _missing(tables: dict[int, Table], records: Sequence[Record], compared: Sequence[Compared]) -> str:
    lines = []
    ran = {record.task for record in records}
    for number, entry in TABLES.items():
        if absent := [task for task in entry.tasks if task.name not in ran]:
            lines.append(f"- Table {number}: no run of {', '.join(map(_named, absent))}.")
        for heading, places in tables[number].groups():
            rows = [row for row in tables[number].rows if row.recipe == "paper" and not row.check]
            if none := [escape(row.label) for row in rows if row.cells[places[-1]].status == "not run"]:
                lines.append(f"- {escape(heading)}: no run of {', '.join(none)}.")
    for title in dict.fromkeys(own.title for own in compared if own.reduced):
        cut = [own for own in compared if own.title == title and own.reduced]
        listed = ", ".join(f"{escape(own.label)} ({own.chosen.configurations} of {own.grid})" for own in cut)
        lines.append(f"- {escape(title)}: a part of the paper's grid for {listed}.")
    few = [own for own in compared if len(own.chosen.records) < SEEDS and "kernel" not in own.method]
    lines += [f"- {escape(own.title)}, {escape(own.label)}: {len(own.chosen.records)} of {SEEDS} seeds." for own in few]
    return "\n".join(lines or ["- Nothing."]) + "\n"


def _named(task: TaskEntry) -> str:
    return f"{escape(task.title)}{' (a task of our own)' if task.extra else ''}"


def _machines(records: Sequence[Record]) -> str:
    groups: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        versions = ", ".join(f"{name} {record.versions[name]}" for name in sorted(record.versions))
        groups.setdefault((record.device or "not known", versions), []).append(record)
    rows = []
    for (device, versions), own in sorted(groups.items()):
        days = sorted({record.when[:10] for record in own if record.when}) or ["not known"]
        span = days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"
        rows.append((device, f"{len(own):,}", f"{sum(one.seconds or 0.0 for one in own):,.0f}", span, versions))
    told = "Seconds are those of training alone: a run has its share of the stack it was trained in."
    return _grid(told, ("device", "runs", "seconds", "days", "versions"), rows) if rows else ""


def _grid(told: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [told, "", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(escape, row))} |" for row in rows)]) + "\n"


# ---- the command -------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Read records, write the page; 0, or 1 with a sentence."""
    parser = ArgumentParser("python -m tools.results_page", description="Make docs/results.md from records.")
    parser.add_argument("--records", type=Path, default=Path("results/records"), help="the folder of records")
    parser.add_argument("--out", type=Path, help="the page to write; without it, to the screen")
    parser.add_argument("--readme", type=Path, help="a file whose table between two marks is made anew")
    chosen = parser.parse_args(arguments)
    try:
        records = read_records(chosen.records)
        page = results_page(records, paper_grids())
        if chosen.out is None:
            print(page, end="")
        else:
            _write(chosen.out, page)
        if chosen.readme is not None:
            _write(chosen.readme, with_front_table(chosen.readme.read_text(encoding="utf-8"), records))
    except (ValueError, OSError, ImportError) as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    return 0


def read_records(folder: Path) -> list[Record]:
    """The records of a folder that must be there."""
    if not folder.is_dir():
        raise ValueError(f"--records takes a folder with the records of sweeps; there is no folder {folder}.")
    return RecordStore(folder).read(curves=False)


def paper_grids() -> GridSize:
    """The sizes of the paper's grids; needs torch."""
    from anysize.experiments.tables.build import paper_grid_size

    return paper_grid_size


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
    print(f"Wrote {file}.", file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
