"""The small table of README.md: test accuracy of a few rows, between two marks; other pages have such marks, too."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from anysize.evaluation.records import Record
from anysize.evaluation.render import markdown_row
from anysize.evaluation.tables import Cell, Ties, format_score
from anysize.paper.tables import build_table

BEGIN, END = "<!-- results: made by `make results` -->", "<!-- end of results -->"

# (table, task, data, heading)
COLUMNS = (
    (1, "er-single", "published", "Erdős–Rényi, 80 → 140"),
    (2, "sbm-20", "published", "SBM, 20 → 40"),
    (2, "sbm-20-30", "published", "SBM, 20/30 → 40"),
    (2, "sbm-20", "fresh", "SBM, 20 → 40, fresh"),
)
ROWS = (
    ("gin-sum", "paper", "GIN"),
    ("gamma-gin", "paper", "Γ GIN, the paper's recipe"),
    ("gamma-gin", "robust", "Γ GIN, robust recipe"),
)


def front_table(records: Iterable[Record]) -> str:
    """Test means, the range of configurations that tie, the published means, and a sentence on the ties."""
    records = list(records)
    columns = [_column(records, *column[:3]) for column in COLUMNS]
    rows = [(label, [column.get((method, recipe)) for column in columns]) for method, recipe, label in ROWS]
    rows = [(label, cells) for label, cells in rows if any(cell is not None and cell.summary for cell in cells)]
    lines = [markdown_row(["test accuracy", *(heading for *_, heading in COLUMNS)]), f"|---|{'---|' * len(COLUMNS)}"]
    lines += [markdown_row([label, *map(_cell_text, cells)]) for label, cells in rows]
    ties = [cell.ties for _, cells in rows for cell in cells if cell is not None and cell.ties is not None]
    return "\n".join([*lines, *(["", _sentence(ties)] if ties else [])])


def _sentence(ties: Sequence[Ties]) -> str:
    most = max(tie.count for tie in ties)
    spread = max((tie.high or 0.0) - (tie.low or 0.0) for tie in ties)
    return (
        f"Up to {most} configurations of a cell share the best validation score. Their test means lie up to "
        f"{format_score(spread)} apart, so validation at training sizes cannot choose between them. The robust recipe "
        "has one configuration and needs no search."
    )


def between_marks(text: str, made: str) -> str:
    """Replace what is between the two marks of a page.

    >>> between_marks(f"a\\n{BEGIN}\\nold\\n{END}\\nb", "new") == f"a\\n{BEGIN}\\nnew\\n{END}\\nb"
    True
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"the page needs the lines {BEGIN} and {END}, in this order; one of them is missing.")
    return f"{before}{BEGIN}\n{made}\n{END}{after}"


def _column(records: Sequence[Record], number: int, task: str, data: str) -> dict[tuple[str, str], Cell]:
    table = build_table(number, records, data=data, tasks=[task], splits=["test"])
    return {(row.method, row.recipe): row.cells[0] for row in table.rows}


def _cell_text(cell: Cell | None) -> str:
    """The mean, the published one in parentheses, below them the range of ties; a dash where there is no record."""
    if cell is None or cell.summary is None:
        return "–"
    text = format_score(cell.summary.mean)
    if cell.published is not None and cell.published.mean is not None:
        text += f" ({format_score(cell.published.mean)})"
    ends = (
        [] if cell.ties is None else [format_score(end) for end in (cell.ties.low, cell.ties.high) if end is not None]
    )
    return text if len(set(ends)) < 2 else f"{text}<br>ties {'–'.join(ends)}"
