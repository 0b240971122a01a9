"""Tables as text, Markdown, LaTeX, HTML and JSON: one function for each format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from io import StringIO
from typing import TYPE_CHECKING

from anysize import _html
from anysize.evaluation.tables import FALLBACK_MARK, Cell, Row, ScoreSummary, Table, format_score
from anysize.metrics import SCORE_DIGITS

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text


def render(table: Table, format: str) -> str:
    """A table in one of the formats of `FORMATS`, ending in a newline."""
    if format not in FORMATS:
        raise ValueError(f"format must be one of {', '.join(FORMATS)}; got {format!r}")
    return FORMATS[format](table)


# ---- the parts of a cell ---------------------------------------------------------------------------


def own_text(cell: Cell) -> str:
    """Our mean (standard deviation), or the status of the cell; a mark if it is tied with the best.

    >>> from anysize.evaluation.tables import ScoreSummary
    >>> own_text(Cell("run", ScoreSummary(0.987, 0.021, 10))), own_text(Cell("not run"))
    ('0.99 (0.02)', 'not run')
    """
    if cell.summary is None:
        return "?" if cell.status == "unknown" else cell.status
    return summary_text(cell.summary, cell.decimals) + FALLBACK_MARK * cell.fallback + TIED_MARK * cell.tied


TIED_MARK = " ≈"


def summary_text(summary: ScoreSummary, decimals: int = SCORE_DIGITS) -> str:
    """Mean (standard deviation); of one run the score alone, which has no deviation.

    >>> from anysize.evaluation.tables import ScoreSummary
    >>> summary_text(ScoreSummary(0.987, 0.021, 10)), summary_text(ScoreSummary(0.987, 0.0, 1))
    ('0.99 (0.02)', '0.99')
    """
    mean = format_score(summary.mean, decimals)
    return mean if summary.count == 1 else f"{mean} ({format_score(summary.std, decimals)})"


def published_text(cell: Cell) -> str:
    """The published number; empty if the paper has no such cell, or has NA where we have it too."""
    paper = cell.published
    if paper is None or (cell.status == "NA" and not paper.applies):
        return ""
    return (
        "NA" if paper.mean is None or paper.std is None else f"{format_score(paper.mean)} ({format_score(paper.std)})"
    )


def difference_text(cell: Cell) -> str:
    """Our mean minus the published one, with its sign; empty if one of them is missing.

    >>> from anysize.evaluation.tables import ScoreSummary
    >>> from anysize.evaluation.tables import Published
    >>> difference_text(Cell("run", ScoreSummary(0.95, 0.0, 10), Published(0.98, 0.02)))
    '-0.03'
    """
    if cell.difference is None:
        return ""
    number = format_score(cell.difference)
    return number if number.startswith("-") else f"{'+' if number.strip('0.') else '±'}{number}"


def comparison_text(cell: Cell) -> str:
    """The published number and the difference."""
    return f"{published_text(cell)} {difference_text(cell)}".strip()


def interval_text(cell: Cell) -> str:
    """The bootstrap interval; empty if there is none."""
    if cell.interval is None:
        return ""
    low, high = (format_score(end, cell.decimals) for end in (cell.interval.low, cell.interval.high))
    return f"[{low}, {high}]"


def ties_text(cell: Cell) -> str:
    """How many configurations tie, and the range of their scores; empty if none do.

    >>> from anysize.evaluation.tables import Ties
    >>> ties_text(Cell("run", ties=Ties(9, 0.3, 0.7))), ties_text(Cell("run", ties=Ties(2, 0.5, 0.5)))
    ('9 tie, 0.30 to 0.70', '2 tie, 0.50')
    """
    if cell.ties is None:
        return ""
    ends = [format_score(end) for end in (cell.ties.low, cell.ties.high) if end is not None]
    return ", ".join([f"{cell.ties.count} tie", *([" to ".join(dict.fromkeys(ends))] if ends else [])])


BELOW = (interval_text, ties_text, comparison_text)  # the lines of a cell below its mean


# ---- text ------------------------------------------------------------------------------------------

DEFAULT_WIDTH = 110  # characters
COLUMN_GAP = 3  # characters


def render_text(table: Table, width: int = DEFAULT_WIDTH) -> str:
    """A table as plain text of a given width, with the short notes."""
    from rich.console import Console

    file = StringIO()
    console = Console(file=file, width=width, force_terminal=False, color_system=None)
    for part in text_renderables(table, width):
        console.print(part)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def text_renderables(table: Table, width: int) -> list[RenderableType]:
    """What a rich console of this width has to print: the title, one or more blocks of columns, the short notes."""
    from rich.text import Text

    one_line, blocks = text_layout(table, width)
    parts: list[RenderableType] = [Text(table.title, style="bold"), ""]
    for positions in blocks:
        parts += [_text_block(table, positions, one_line), ""]
    return [*parts, *(Text(f"- {note}") for note in table.short_notes)]


def text_layout(table: Table, width: int) -> tuple[bool, list[list[int]]]:
    """Whether cells are one line high, and the positions of the columns in each block.

    The columns of a task stay in one block if they fit, with cells on one line or else on several. Only a task that is
    too wide even then is divided.
    """
    groups = [positions for _, positions in table.groups()]
    single = [[position] for positions in groups for position in positions]
    room = width - COLUMN_GAP - max((len(row.label) for row in table.rows), default=0)
    for one_line, parts in ((True, groups), (False, groups), (False, single)):
        widths = [_column_width(table, position, one_line).total for position in range(len(table.columns))]
        blocks = _packed(parts, widths, room)
        if blocks is not None:
            return one_line, blocks
    return False, single


def _packed(parts: Sequence[list[int]], widths: Sequence[int], room: int) -> list[list[int]] | None:
    """Put as many parts side by side as fit; None if a single part does not fit."""
    blocks: list[list[int]] = []
    used = 0
    for positions in parts:
        need = sum(widths[position] + COLUMN_GAP for position in positions)
        if need > room:
            return None
        if blocks and used + need <= room:
            blocks[-1] += positions
            used += need
        else:
            blocks.append(list(positions))
            used = need
    return blocks


@dataclass(frozen=True)
class _ColumnWidth:
    """Characters of a column: of each part of its cells, and in total."""

    parts: tuple[int, ...]
    total: int


def _cell_parts(cell: Cell, one_line: bool) -> tuple[str, ...]:
    """What is printed side by side on one line, or else on lines of its own."""
    comparison = (published_text(cell), difference_text(cell)) if one_line else (comparison_text(cell),)
    return own_text(cell), interval_text(cell), ties_text(cell), *comparison


def _column_width(table: Table, position: int, one_line: bool) -> _ColumnWidth:
    """The width that the cells of a column need; headings are wrapped between words."""
    parts = [_cell_parts(row.cells[position], one_line) for row in table.rows]
    widths = tuple(max(map(len, column)) for column in zip(*parts, strict=True))
    head = max(map(len, (*table.columns[position].heading.split(), table.columns[position].split)))
    inside = sum(width + 1 for width in widths if width) - 1 if one_line else max(widths, default=0)
    return _ColumnWidth(widths, max(inside, head))


def _text_block(table: Table, positions: Sequence[int], one_line: bool) -> RenderableType:
    """Some columns of a table, with the labels of its rows."""
    from rich import box
    from rich.table import Table as RichTable
    from rich.text import Text

    block = RichTable(box=box.SIMPLE_HEAD, header_style="bold", show_edge=False)
    block.add_column("", no_wrap=True)
    widths = [_column_width(table, position, one_line) for position in positions]
    for position, width in zip(positions, widths, strict=True):
        column = table.columns[position]
        head = Text(f"{column.heading}\n{column.split}", justify="right")
        block.add_column(head, justify="left" if one_line else "right", width=width.total)
    for number, row in enumerate(table.rows):
        if _baselines_begin(table, number):
            block.add_section()
        cells = [
            _text_cell(row.cells[position], width, one_line) for position, width in zip(positions, widths, strict=True)
        ]
        block.add_row(Text(row.label), *cells)
    return block


def _text_cell(cell: Cell, width: _ColumnWidth, one_line: bool) -> Text:
    from rich.text import Text

    parts = _cell_parts(cell, one_line)
    styles = ["bold" if cell.best else "" if cell.status == "run" else "dim", *["dim"] * (len(parts) - 1)]
    if not one_line:
        return Text("\n", justify="right").join([Text(*part) for part in zip(parts, styles, strict=True) if part[0]])
    # padded here, because rich strips trailing blanks, and with them the space of a missing part
    padded = [
        Text(part.rjust(wide), style) for part, style, wide in zip(parts, styles, width.parts, strict=True) if wide
    ]
    line = Text(" ").join(padded)
    line.pad_left(width.total - len(line))
    return line


def _baselines_begin(table: Table, number: int) -> bool:
    """Whether the baselines begin with this row."""
    return number > 0 and table.rows[number].is_baseline and not table.rows[number - 1].is_baseline


# ---- Markdown --------------------------------------------------------------------------------------


def render_markdown(table: Table) -> str:
    """A title, one table with the published numbers on a second line of each cell, and the notes as a list."""
    heads = [f"{escape_markdown(column.heading)}<br>{column.split}" for column in table.columns]
    lines = [
        f"**{escape_markdown(table.title)}**",
        "",
        markdown_row(["method", *heads]),
        markdown_row(["---", *["---:"] * len(heads)]),
    ]
    for row in table.rows:
        label = escape_markdown(row.label)
        lines.append(markdown_row([f"*{label}*" if row.is_baseline else label, *map(_markdown_cell, row.cells)]))
    return "\n".join([*lines, "", *(f"- {escape_markdown(note)}" for note in table.notes)]) + "\n"


def escape_markdown(text: str) -> str:
    r"""Text that Markdown prints literally, also inside a table.

    >>> escape_markdown("a|b <i>*c*</i>")
    'a\\|b &lt;i&gt;\\*c\\*&lt;/i&gt;'
    """
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    for mark in "\\`*_[]|~":
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


def markdown_row(cells: Sequence[str]) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def _markdown_cell(cell: Cell) -> str:
    ours = escape_markdown(own_text(cell))
    below = [escape_markdown(part(cell)) for part in BELOW]
    return "<br>".join(line for line in (f"**{ours}**" if cell.best else ours, *below) if line)


# ---- LaTeX -----------------------------------------------------------------------------------------

LATEX_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "→": r"$\to$", "Γ": r"$\Gamma$",
    "ő": r"\H{o}", "é": r"\'e", "–": "--", "±": r"$\pm$", "≈": r"$\approx$", "[": "{[}", "]": "{]}",
}  # fmt: skip


def render_latex(table: Table) -> str:
    """A table environment that needs the package booktabs; intervals and published numbers in small print below."""
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(re.sub(r'^Table [0-9]+[.] ', '', table.title))}}}",  # LaTeX numbers tables itself
        rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}",
        r"\toprule",
        *_latex_head(table),
        r"\midrule",
    ]
    for number, row in enumerate(table.rows):
        if _baselines_begin(table, number):
            lines.append(r"\midrule")
        lines += _latex_rows(row)
    lines += [r"\bottomrule", r"\end{tabular}", "", r"\smallskip", r"\begin{minipage}{\linewidth}\footnotesize"]
    lines += [rf"{escape_latex(note)}\par" for note in table.notes]
    return "\n".join([*lines, r"\end{minipage}", r"\end{table}"]) + "\n"


def escape_latex(text: str) -> str:
    r"""Text that LaTeX prints literally.

    >>> print(escape_latex("50 % of {a, b} → c_1"))
    50 \% of \{a, b\} $\to$ c\_1
    """
    return "".join(LATEX_ESCAPES.get(letter, letter) for letter in text)


def _latex_label(text: str) -> str:
    r"""The label of a row; the word after Gamma becomes its index.

    >>> print(_latex_label("Γ 1-hot, robust"))
    $\Gamma_{\textrm{1-hot}}$, robust
    """
    match = re.fullmatch(r"Γ ([^ ,]+)(.*)", text)
    if match is None:
        return escape_latex(text)
    return rf"$\Gamma_{{\textrm{{{escape_latex(match[1])}}}}}${escape_latex(match[2])}"


def _latex_head(table: Table) -> list[str]:
    first, rules, start = [], [], 2
    for heading, positions in table.groups():
        first.append(rf"\multicolumn{{{len(positions)}}}{{c}}{{{escape_latex(heading)}}}")
        rules.append(rf"\cmidrule(lr){{{start}-{start + len(positions) - 1}}}")
        start += len(positions)
    splits = [column.split for column in table.columns]
    return [_latex_line(["", *first]), " ".join(rules), _latex_line(["", *splits])]


def _latex_rows(row: Row) -> list[str]:
    ours = [_latex_number(own_text(cell)) for cell in row.cells]
    bold = [rf"\textbf{{{text}}}" if cell.best else text for cell, text in zip(row.cells, ours, strict=True)]
    lines = [_latex_line([_latex_label(row.label), *bold])]
    for part in BELOW:
        texts = [part(cell) for cell in row.cells]
        if any(texts):
            small = [rf"{{\scriptsize {_latex_number(text)}}}" if text else "" for text in texts]
            lines.append(_latex_line(["", *small]))
    return lines


def _latex_number(text: str) -> str:
    """Escaped text with a minus sign instead of a hyphen before digits."""
    return re.sub(r"-(?=\d)", "$-$", escape_latex(text))


def _latex_line(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"


# ---- HTML ------------------------------------------------------------------------------------------


def render_html(table: Table) -> str:
    """A self-contained page with the table."""
    return _html.document(table.title, f"<main>\n{html_figure(table)}</main>\n")


def html_figure(table: Table) -> str:
    """A figure element with caption, table and notes, for a page with the stylesheet of `anysize._html`."""
    groups = "".join(
        f'<th colspan="{len(positions)}">{_html.text(heading)}</th>' for heading, positions in table.groups()
    )
    splits = "".join(f"<th>{_html.text(column.split)}</th>" for column in table.columns)
    bodies = []
    for is_baseline in (False, True):
        rows = [
            f'<tr><th scope="row">{_html.text(row.label)}</th>{"".join(map(_html_cell, row.cells))}</tr>'
            for row in table.rows
            if row.is_baseline == is_baseline
        ]
        bodies += ["<tbody>", *rows, "</tbody>"] if rows else []
    lines = [
        '<figure class="results">',
        f"<figcaption>{_html.text(table.title)}</figcaption>",
        '<div class="wide"><table>',
        f'<thead><tr><th rowspan="2"></th>{groups}</tr><tr>{splits}</tr></thead>',
        *bodies,
        "</table></div>",
        "<ul>",
        *(f"<li>{_html.text(note)}</li>" for note in table.notes),
        "</ul>",
        "</figure>",
    ]
    return "\n".join(lines) + "\n"


def _html_cell(cell: Cell) -> str:
    ours = _html.text(own_text(cell))
    below = [f"<small>{_html.text(line)}</small>" for part in BELOW if (line := part(cell))]
    css_class = "" if cell.status == "run" else ' class="missing"'
    return f"<td{css_class}>{f'<b>{ours}</b>' if cell.best else ours}{''.join(below)}</td>"


# ---- JSON ------------------------------------------------------------------------------------------


def render_json(table: Table) -> str:
    """One line of JSON with all rows, all notes, and unrounded numbers."""
    fields = asdict(table)
    del fields["short_notes"]
    for row, row_fields in zip(table.rows, fields["rows"], strict=True):
        for cell, cell_fields in zip(row.cells, row_fields["cells"], strict=True):
            cell_fields["difference"] = cell.difference
    return json.dumps(fields, allow_nan=False) + "\n"


FORMATS: dict[str, Callable[[Table], str]] = {
    "text": render_text,
    "markdown": render_markdown,
    "latex": render_latex,
    "html": render_html,
    "json": render_json,
}
