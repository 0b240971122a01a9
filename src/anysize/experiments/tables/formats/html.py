"""Tables in HTML: a fragment to put into a page, or a page of its own that needs nothing else."""

from __future__ import annotations

from html import escape

from anysize.experiments.tables.cells import Cell, Table
from anysize.experiments.tables.formats import cell_text

STYLE = """
body { font: 16px/1.4 system-ui, sans-serif; margin: 1rem auto; max-width: 90rem; padding: 0 1rem; }
figure.anysize { margin: 0 0 2rem; }
figure.anysize figcaption { font-weight: bold; margin-bottom: .5rem; }
figure.anysize .wide { overflow-x: auto; }
figure.anysize table { border-collapse: collapse; font-variant-numeric: tabular-nums; white-space: nowrap; }
figure.anysize th, figure.anysize td { padding: .2rem .7rem; text-align: right; vertical-align: top; }
figure.anysize th[scope=row] { text-align: left; font-weight: normal; }
figure.anysize thead th { border-bottom: 1px solid #888; }
figure.anysize thead th[colspan] { text-align: center; }
figure.anysize tbody + tbody { border-top: 1px solid #888; }
figure.anysize small { color: #666; display: block; }
figure.anysize .missing { color: #666; }
""".strip()


def fragment(table: Table) -> str:
    """A figure with caption, table and notes; its look is in `STYLE`."""
    groups = "".join(f'<th colspan="{len(places)}">{escape(heading)}</th>' for heading, places in table.groups())
    splits = "".join(f"<th>{escape(column.split)}</th>" for column in table.columns)
    bodies = []
    for check in (False, True):
        rows = [
            f'<tr><th scope="row">{escape(row.label)}</th>{"".join(map(_cell, row.cells))}</tr>'
            for row in table.rows
            if row.check == check
        ]
        bodies += ["<tbody>", *rows, "</tbody>"] if rows else []
    notes = [f"<li>{escape(note)}</li>" for note in table.notes]
    lines = [
        '<figure class="anysize">',
        f"<figcaption>{escape(table.title)}</figcaption>",
        '<div class="wide"><table>',
        f'<thead><tr><th rowspan="2"></th>{groups}</tr><tr>{splits}</tr></thead>',
        *bodies,
        "</table></div>",
        "<ul>",
        *notes,
        "</ul>",
        "</figure>",
    ]
    return "\n".join(lines) + "\n"


def render(table: Table) -> str:
    """A whole page."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(table.title)}</title>\n<style>\n{STYLE}\n</style>\n</head>\n<body>\n"
        f"{fragment(table)}</body>\n</html>\n"
    )


def _cell(cell: Cell) -> str:
    own = escape(cell_text.ours(cell))
    own = f"<b>{own}</b>" if cell.best else own
    small = "".join(
        f"<small>{escape(line)}</small>" for line in (cell_text.interval(cell), cell_text.beside(cell)) if line
    )
    kind = "" if cell.status == "run" else ' class="missing"'
    return f"<td{kind}>{own}{small}</td>"
