"""The foot of a table: how its numbers were chosen, how clear the choice was, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from anysize.experiments.selection import RULES, Selection
from anysize.experiments.tables.cells import Cell, Table, printed
from anysize.experiments.tables.layout import METRIC_NAMES

GridSize = Callable[[str, str], int | None]
# what was chosen: per task and data of the columns, method and recipe, one selection for each data set
Picked = Mapping[tuple[str, str, str, str], tuple[Selection | None, ...]]


def foot(table: Table, picked: Picked, bold: int, grid_size: GridSize | None) -> tuple[str, ...]:
    """All notes of a table."""
    cells = [cell for row in table.rows for cell in row.cells]
    return (
        *_general(table, cells, bold),
        *(note for heading, places in table.groups() if (note := _group(table, heading, places[0], picked, grid_size))),
    )


def _general(table: Table, cells: Iterable[Cell], bold: int) -> list[str]:
    cells = list(cells)
    rule = RULES[table.rule].words
    notes = [
        f"Mean (standard deviation) of the {METRIC_NAMES[table.metric]} over seeds; the deviation divides by their "
        "number. Beside or below it the published number, and ours minus it.",
        rule if RULES[table.rule].cheats else f"Rule {table.rule!r}: {rule}.",
    ]
    if any(cell.best for cell in cells):
        best = "the best test mean" if bold == 1 else f"the {bold} best test means"
        notes.append(f"Bold: {best} of each column, as printed, with all that equal them.")
    if checks := [row.label for row in table.rows if row.check]:
        notes.append(f"Checks to judge the others by, and not compared with them: {', '.join(checks)}.")
    intervals = [cell.interval for cell in cells if cell.interval is not None]
    if intervals:
        notes.append(
            f"[low, high]: {intervals[0].level:.0%} bootstrap interval of the mean over seeds when the test graphs are "
            f"drawn again ({intervals[0].resamples} times)."
        )
    if any(column.data == "fresh" for column in table.columns):
        notes.append(
            "Fresh data: mean and deviation over data sets of the means over seeds, a configuration chosen on each."
        )
    missing = {
        "NA": "NA: IRM and V-REx need training graphs of several sizes.",
        "not run": "not run: there is no record.",
        "unknown": "?: the runs kept no such score.",
    }
    return notes + [words for status, words in missing.items() if any(cell.status == status for cell in cells)]


def _group(table: Table, heading: str, place: int, picked: Picked, grid_size: GridSize | None) -> str:
    """What is to be said about one task on one data set; nothing if nothing ran."""
    column = table.columns[place]
    ran: dict[str, list[Selection]] = {}
    sizes: dict[str, int | None] = {}
    for row in table.rows:
        selections = picked.get((column.task, column.data, row.method, row.recipe), ())
        if kept := [selection for selection in selections if selection is not None]:
            ran[row.label] = kept
            searched = row.recipe == "paper" and not row.check  # other recipes fix a configuration
            sizes[row.label] = grid_size(column.task, row.method) if searched and grid_size is not None else None
    if not ran:
        return ""
    parts = [
        _gathered("data sets", {label: str(len(own)) for label, own in ran.items()}) if column.data == "fresh" else "",
        _gathered("seeds", {label: _span([len(one.records) for one in own]) for label, own in ran.items()}),
        _gathered("configurations", {label: _span([one.configurations for one in own]) for label, own in ran.items()}),
        _listed("reduced grid", _reduced(ran, sizes)),
        _listed("ties at the best score", _ties(ran)),
        _listed("too few seeds or scores, left out", _left_out(ran)),
        _listed("lowest test mean of a data set", _lowest(ran)) if column.data == "fresh" else "",
    ]
    return f"{heading}: " + "; ".join(part for part in parts if part) + "."


def _reduced(ran: Mapping[str, list[Selection]], sizes: Mapping[str, int | None]) -> dict[str, str]:
    """Rows for which less was tried than the paper's grid has."""
    found = {}
    for label, selections in ran.items():
        size, tried = sizes[label], min(selection.configurations for selection in selections)
        if size is not None and tried < size:
            found[label] = f"{tried} of {size}"
    return found


def _ties(ran: Mapping[str, list[Selection]]) -> dict[str, str]:
    """How many configurations are as good as the reported one, and how far apart their test means are."""
    found = {}
    for label, selections in ran.items():
        most = max(selections, key=lambda selection: selection.tied)
        if most.tied > 1:
            spread = f", test means {_range(*most.tied_test)}" if most.tied_test is not None else ""
            up_to = "up to " if len(selections) > 1 else ""
            found[label] = f"{up_to}{most.tied} of {most.configurations}{spread}"
    return found


def _left_out(ran: Mapping[str, list[Selection]]) -> dict[str, str]:
    counted = {label: sum(selection.incomplete for selection in own) for label, own in ran.items()}
    return {label: f"{count} configuration{'s' * (count > 1)}" for label, count in counted.items() if count}


def _lowest(ran: Mapping[str, list[Selection]]) -> dict[str, str]:
    found = {}
    for label, selections in ran.items():
        means = [summary.mean for one in selections if (summary := one.summary("test")) is not None]
        if means:
            found[label] = printed(min(means))
    return found


def _span(numbers: list[int]) -> str:
    return str(numbers[0]) if len(set(numbers)) == 1 else f"{min(numbers)} to {max(numbers)}"


def _range(low: float, high: float) -> str:
    return printed(low) if printed(low) == printed(high) else f"{printed(low)} to {printed(high)}"


def _gathered(what: str, values: Mapping[str, str]) -> str:
    """``what 10``, or ``what 10 (PNA, GCN), 7 (GIN)`` where rows differ."""
    labels: dict[str, list[str]] = {}
    for label, value in values.items():
        labels.setdefault(value, []).append(label)
    if len(labels) == 1:
        return f"{what} {next(iter(labels))}"
    return f"{what} " + ", ".join(f"{value} ({', '.join(own)})" for value, own in labels.items())


def _listed(what: str, values: Mapping[str, str]) -> str:
    return f"{what}: " + ", ".join(f"{label} ({value})" for label, value in values.items()) if values else ""
