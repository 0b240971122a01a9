"""Text for terminals and spreadsheets: control characters and formulas in files of others are escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

# Control characters but tab and line feed, marks that reverse the direction of text, and surrogates.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def visible(text: str) -> str:
    r"""The text with escapes instead of control characters and of characters that a terminal cannot show.

    >>> visible("C\x1b[2J")
    'C\\x1b[2J'
    """
    return _UNSEEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def escape_surrogates(text: str) -> str:
    r"""The text with escapes instead of surrogates, which UTF-8 does not have: bytes of file names.

    >>> escape_surrogates("C\udcff")
    'C\\udcff'
    """
    return text.encode("utf-8", "backslashreplace").decode()


def capitalized(text: str) -> str:
    """The text with its first letter in upper case, and the rest as it is.

    >>> capitalized("macro F1")
    'Macro F1'
    """
    return text[:1].upper() + text[1:]


def plural(number: int, singular: str, plural: str | None = None) -> str:
    """A number and its noun.

    >>> plural(1, "graph"), plural(2, "class", "classes")
    ('1 graph', '2 classes')
    """
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def aligned(rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """The lines of a table; its first columns, so many, are aligned to the left, and the others to the right.

    >>> aligned([("pattern", "copies"), ("claw", "12")])
    ['pattern  copies', 'claw         12']
    """
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    marks = ["<"] * left + [">"] * (len(widths) - left)
    return ["  ".join(map("{:{}{}}".format, row, marks, widths)).rstrip() for row in rows]


def csv_cell(value: Any) -> Any:
    """A cell of a CSV file; text that a spreadsheet would take for a formula gets an apostrophe in front.

    >>> csv_cell("=1+1"), csv_cell("-1"), csv_cell("C=O"), csv_cell(-1)
    ("'=1+1", '-1', 'C=O', -1)
    """
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) and not _is_number(value) else value


def csv_text(cell: str) -> str:
    """The text of a cell that `csv_cell` wrote.

    >>> csv_text("'=1+1"), csv_text("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?", text, re.ASCII) is not None
