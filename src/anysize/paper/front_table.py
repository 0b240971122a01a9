"""The small table of README.md: test accuracy of a few rows, between two marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from anysize.evaluation.records import Record
from anysize.evaluation.render import escape_markdown, markdown_row
from anysize.evaluation.tables import Cell, format_score
from anysize.paper.tables import build_table

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
    ("gamma-gin-free", "robust", "Γ GIN, no penalty"),
    ("topology-only", "paper", "topology only"),
)


def front_table(records: Iterable[Record]) -> str:
    """Test means with the published ones in brackets; a dash where there are no records."""
    records = list(records)
    columns = [_column(records, *column[:3]) for column in COLUMNS]
    lines = [_markdown_line(["test accuracy", *(heading for *_, heading in COLUMNS)]), f"|---|{'---|' * len(COLUMNS)}"]
    for method, recipe, label in ROWS:
        cells = [column.get((method, recipe)) for column in columns]
        if any(cell is not None and cell.summary is not None for cell in cells):
            lines.append(_markdown_line([label, *map(_cell_text, cells)]))
    return "\n".join(lines)


def with_front_table(text: str, records: Iterable[Record]) -> str:
    """Replace the table between the two marks of a page.

    >>> page = with_front_table(f"a\\n{BEGIN}\\nold\\n{END}\\nb\\n", [])
    >>> page.startswith("a\\n"), "old" in page, page.endswith("b\\n")
    (True, False, True)
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page needs the lines {BEGIN} and {END}, in this order; one of them is missing.")
    return f"{before}{BEGIN}\n{front_table(records)}\n{END}{after}"


def _column(records: Sequence[Record], number: int, task: str, data: str) -> dict[tuple[str, str], Cell]:
    table = build_table(number, records, data=data, tasks=[task], splits=["test"])
    return {(row.method, row.recipe): row.cells[0] for row in table.rows}


def _cell_text(cell: Cell | None) -> str:
    if cell is None or cell.summary is None:
        return "–"
    paper = None if cell.published is None else cell.published.mean
    return format_score(cell.summary.mean) + ("" if paper is None else f" ({format_score(paper)})")


def _markdown_line(cells: Sequence[str]) -> str:
    return markdown_row([escape_markdown(cell) for cell in cells])
