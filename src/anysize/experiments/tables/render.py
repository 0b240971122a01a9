"""Tables as text, Markdown, LaTeX, HTML and JSON; each format is one file."""

from __future__ import annotations

from collections.abc import Callable

from anysize.experiments.tables.cells import Table
from anysize.experiments.tables.formats import html, json, latex, markdown, text

FORMATS: dict[str, Callable[[Table], str]] = {
    "text": text.render,
    "markdown": markdown.render,
    "latex": latex.render,
    "html": html.render,
    "json": json.render,
}


def render(table: Table, format: str) -> str:
    """A table in one of the formats, with the end of its last line."""
    if format not in FORMATS:
        raise ValueError(f"a format is one of {', '.join(FORMATS)}; got {format!r}")
    return FORMATS[format](table)
