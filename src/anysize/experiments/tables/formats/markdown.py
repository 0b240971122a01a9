"""Tables in Markdown, as GitHub and mkdocs read it."""

from __future__ import annotations

from anysize.experiments.tables.cells import Cell, Table
from anysize.experiments.tables.formats import cell_text


def render(table: Table) -> str:
    """A title, one table with the published numbers in a second line of each cell, and the notes as a list."""
    heads = [f"{escape(column.heading)}<br>{column.split}" for column in table.columns]
    lines = [f"**{escape(table.title)}**", "", _line(["method", *heads]), _line(["---", *["---:"] * len(heads)])]
    for row in table.rows:
        label = f"*{escape(row.label)}*" if row.check else escape(row.label)
        lines.append(_line([label, *(_cell(cell) for cell in row.cells)]))
    return "\n".join([*lines, "", *(f"- {escape(note)}" for note in table.notes)]) + "\n"


def escape(text: str) -> str:
    r"""Text that Markdown leaves alone, also inside a table.

    >>> escape("a|b <i>*c*</i>")
    'a\\|b &lt;i&gt;\\*c\\*&lt;/i&gt;'
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for mark in "\\`*_[]|~":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    own = escape(cell_text.ours(cell))
    lines = [f"**{own}**" if cell.best else own, escape(cell_text.interval(cell)), escape(cell_text.beside(cell))]
    return "<br>".join(line for line in lines if line)
