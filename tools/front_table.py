"""The small table of the front page: test accuracy of a few rows, between two marks of README.md."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from anysize.experiments.records import Record
from anysize.experiments.tables.build import build_table
from anysize.experiments.tables.cells import Cell, Table, printed
from anysize.experiments.tables.formats.markdown import escape

BEGIN, END = "<!-- results: made by `make results` -->", "<!-- end of results -->"

# (table, task, data, heading)
COLUMNS = (
    (1, "er-single", "published", "Erdős–Rényi, 80 → 140"),
    (2, "sbm-20", "published", "SBM, 20 → 40"),
    (2, "sbm-14-20", "published", "SBM, 14/20 → 40"),
    (2, "sbm-20-30", "published", "SBM, 20/30 → 40"),
    (2, "sbm-20", "fresh", "SBM, 20 → 40, fresh"),
    (2, "sbm-color", "fresh", "colors needed, fresh"),
)
ROWS = (
    ("gin-sum", "paper", "GIN"),
    ("wl-kernel", "paper", "WL kernel"),
    ("gc-kernel", "paper", "GC kernel"),
    ("gamma-gin", "paper", "Γ GIN, the paper's recipe"),
    ("gamma-rpgin", "paper", "Γ RPGIN, the paper's recipe"),
    ("gamma-gin", "robust", "Γ GIN, robust recipe"),
    ("gamma-gin-free", "robust", "check: Γ GIN, no penalty"),
    ("topology-only", "paper", "check: plain densities, logistic regression"),
)


def front_table(records: Iterable[Record]) -> str:
    """Test means, the published ones in brackets; a dash where nothing was run."""
    records = list(records)
    columns = [_column(records, *column[:3]) for column in COLUMNS]
    lines = [_line(["test accuracy", *(heading for *_, heading in COLUMNS)]), f"|---|{'---|' * len(COLUMNS)}"]
    for method, recipe, label in ROWS:
        cells = [column.get((method, recipe)) for column in columns]
        if any(cell is not None and cell.summary is not None for cell in cells):
            lines.append(_line([label, *map(_text, cells)]))
    return "\n".join(lines)


def with_front_table(text: str, records: Iterable[Record]) -> str:
    """A page with the table between its marks made anew.

    >>> page = with_front_table(f"a\\n{BEGIN}\\nold\\n{END}\\nb\\n", [])
    >>> page.startswith("a\\n"), "old" in page, page.endswith("b\\n")
    (True, False, True)
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"a page for the table has the lines {BEGIN} and {END}; there is none with both of them.")
    return f"{before}{BEGIN}\n{front_table(records)}\n{END}{after}"


def _column(records: Sequence[Record], number: int, task: str, data: str) -> dict[tuple[str, str], Cell]:
    table: Table = build_table(number, records, data=data, tasks=[task], splits=["test"])
    return {(row.method, row.recipe): row.cells[0] for row in table.rows}


def _text(cell: Cell | None) -> str:
    if cell is None or cell.summary is None:
        return "–"
    beside = cell.published
    told = "" if beside is None or beside.mean is None else f" ({printed(beside.mean)})"
    return f"{printed(cell.summary.mean)}{told}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(escape(cell) for cell in cells)} |"
