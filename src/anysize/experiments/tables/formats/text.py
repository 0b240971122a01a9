"""Tables in a terminal, however narrow: what does not fit side by side comes one below the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING

from anysize.experiments.tables.cells import Cell, Table
from anysize.experiments.tables.formats import cell_text

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

WIDTH = 110
MARGIN = 3  # blanks between two columns


def render(table: Table, width: int = WIDTH) -> str:
    """A table as plain text of a given width."""
    from rich.console import Console

    file = StringIO()
    console = Console(file=file, width=width, force_terminal=False, color_system=None)
    for part in renderables(table, width):
        console.print(part)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def renderables(table: Table, width: int) -> list[RenderableType]:
    """What a rich console of this width is to print: the title, one or more tables, the notes."""
    from rich.text import Text

    flat, blocks = layout(table, width)
    parts: list[RenderableType] = [Text(table.title, style="bold"), ""]
    for places in blocks:
        parts += [_block(table, places, flat), ""]
    return [*parts, *(Text(f"- {note}") for note in table.notes)]


def layout(table: Table, width: int) -> tuple[bool, list[list[int]]]:
    """Whether cells are one line high, and the places of the columns of each block.

    The columns of a task stay together if they fit, with cells on one line or else on several; only a task that is
    too wide even then is taken apart.
    """
    groups = [places for _, places in table.groups()]
    single = [[place] for places in groups for place in places]
    for flat, parts in ((True, groups), (False, groups), (False, single)):
        widths = [_width(table, place, flat).total for place in range(len(table.columns))]
        blocks = _packed(parts, widths, width - MARGIN - max((len(row.label) for row in table.rows), default=0))
        if blocks is not None:
            return flat, blocks
    return False, single


def _packed(parts: Sequence[list[int]], widths: Sequence[int], room: int) -> list[list[int]] | None:
    """As many parts side by side as there is room for; None if there is one without room."""
    blocks: list[list[int]] = []
    used = 0
    for places in parts:
        need = sum(widths[place] + MARGIN for place in places)
        if need > room:
            return None
        if blocks and used + need <= room:
            blocks[-1] += places
            used += need
        else:
            blocks.append(list(places))
            used = need
    return blocks


@dataclass(frozen=True)
class _Width:
    """Characters of a column: of the pieces of its cells, and of the whole."""

    pieces: tuple[int, ...]
    total: int


def _pieces(cell: Cell, flat: bool) -> tuple[str, ...]:
    """What stands side by side on one line, or else one below the other."""
    beside = (cell_text.paper(cell), cell_text.difference(cell)) if flat else (cell_text.beside(cell),)
    return cell_text.ours(cell), cell_text.interval(cell), *beside


def _width(table: Table, place: int, flat: bool) -> _Width:
    """What the cells of a column need; headings are wrapped, though not within a word."""
    pieces = [_pieces(row.cells[place], flat) for row in table.rows]
    widths = tuple(max(map(len, column)) for column in zip(*pieces, strict=True))
    head = max(map(len, (*table.columns[place].heading.split(), table.columns[place].split)))
    inside = sum(width + 1 for width in widths if width) - 1 if flat else max(widths, default=0)
    return _Width(widths, max(inside, head))


def _block(table: Table, places: Sequence[int], flat: bool) -> RenderableType:
    """Some columns of a table, with the labels of its rows."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=box.SIMPLE_HEAD, header_style="bold", show_edge=False)
    grid.add_column("", no_wrap=True)
    widths = [_width(table, place, flat) for place in places]
    for place, width in zip(places, widths, strict=True):
        column = table.columns[place]
        head = Text(f"{column.heading}\n{column.split}", justify="right")
        grid.add_column(head, justify="left" if flat else "right", width=width.total)
    for at, row in enumerate(table.rows):
        if row.check and at and not table.rows[at - 1].check:
            grid.add_section()
        cells = [_text(row.cells[place], width, flat) for place, width in zip(places, widths, strict=True)]
        grid.add_row(Text(row.label), *cells)
    return grid


def _text(cell: Cell, width: _Width, flat: bool) -> Text:
    from rich.text import Text

    pieces = _pieces(cell, flat)
    styles = ["bold" if cell.best else "" if cell.status == "run" else "dim", *["dim"] * (len(pieces) - 1)]
    if not flat:
        return Text("\n", justify="right").join(
            [Text(*piece) for piece in zip(pieces, styles, strict=True) if piece[0]]
        )
    # justified by hand: rich would strip the blanks that stand for a missing piece at the end
    padded = [
        Text(piece.rjust(wide), style) for piece, style, wide in zip(pieces, styles, width.pieces, strict=True) if wide
    ]
    line = Text(" ").join(padded)
    line.pad_left(width.total - len(line))
    return line
