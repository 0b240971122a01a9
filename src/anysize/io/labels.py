"""Labels of graphs in a file of their own, beside the graphs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from anysize._errors import GraphError
from anysize._text import csv_text, plural
from anysize._typing import PathLike
from anysize.io.archive import read_file
from anysize.io.table import column_position, find_delimiter, text_rows
from anysize.io.text import first_line, normalize, numbered_lines, parse_labels

_MISSING = {"", "na", "n/a", "nan", "null", "none"}


def read_labels(file: PathLike, names: Sequence[str], column: str | Sequence[str] | None = None) -> list[Any]:
    """The label of every graph: a number or a string, None where there is none; of several columns a tuple.

    The file has one label per line, or lines 'graph name,label' in any order, with commas, tabs or semicolons between
    them; or it is a table with a header, one of whose columns holds the names of the graphs.

    Args:
        file: the file.
        names: of the graphs; graphs without names are named by their positions, as `predict` does.
        column: of a table: that with the labels, or a list of columns with targets.
    """
    data, where = normalize(read_file(Path(file))), str(file)
    if isinstance(column, str):
        return known_labels(_labels_of_table(data, where, names, column))
    if column is not None:
        columns = [known_labels(_labels_of_table(data, where, names, each)) for each in column]
        return [row if any(label is not None for label in row) else None for row in zip(*columns, strict=True)]
    lines = [line for _, line in numbered_lines(data, where)]
    separator = next((mark for mark in (",", "\t", ";") if lines and all(mark in line for line in lines)), None)
    if separator is not None:
        lines = _labels_by_name(lines, separator, where, names)
    if len(lines) != len(names):
        raise GraphError(
            f"{where} has {plural(len(lines), 'label')} for {plural(len(names), 'graph')}; expected one line per graph "
            "and no header."
        )
    return known_labels(lines)


def _labels_by_name(lines: list[str], separator: str, where: str, names: Sequence[str]) -> list[str]:
    pairs: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        *parts, last = next(csv.reader([line], delimiter=separator))
        name, label = (csv_text(cell.strip()) for cell in (separator.join(parts), last))
        if name in pairs:
            raise GraphError(f"{where} names graph {name!r:.60} twice (line {number}); expected one line per graph.")
        pairs[name] = label
    return _in_order(pairs, where, names, "expected 'name,label' for every graph")


def _labels_of_table(data: bytes, where: str, names: Sequence[str], column: str) -> list[str]:
    rows = [row for _, row in text_rows(data, where, find_delimiter(first_line(data)[1]))]
    header = rows[0] if rows else []
    at = column_position(header, column, where)
    table = [[*map(csv_text, row), *[""] * (len(header) - len(row))] for row in rows[1:]]
    by_column = [[row[n] for row in table] for n in range(len(header))]
    shared = [len(set(names).intersection(cells)) if n != at else -1 for n, cells in enumerate(by_column)]
    best = shared.index(max(shared))
    cells = by_column[best]
    repeated = sorted(name for name in set(names) if cells.count(name) > 1) if len(cells) > len(set(cells)) else []
    if repeated:
        raise GraphError(f"{where} names graph {repeated[0]!r:.60} twice; expected one line per graph.")
    expected = f"expected the names of all graphs in one column; {header[best]!r} has {shared[best]} of {len(names)}"
    return _in_order(dict(zip(cells, by_column[at], strict=True)), where, names, expected)


def _in_order(label_of: dict[str, str], where: str, names: Sequence[str], expected: str) -> list[str]:
    """The labels in the order of the graphs; an error if a graph has none."""
    if len(set(names)) < len(names):
        raise GraphError(f"Several graphs have the same name; give {where} one label per line, without names.")
    for name in names:
        if name not in label_of:
            raise GraphError(
                f"{where} has no line for graph {name!r}; {expected} (in a folder of files the name is that of the "
                "file without its ending)."
            )
    return [label_of[name] for name in names]


def known_labels(texts: Sequence[str], used: Sequence[bool] | None = None) -> list[Any]:
    """Labels written as text: numbers if all are; None for what says that there is no label.

    Args:
        texts: the labels.
        used: which of them decide; others stay text. Default: all.

    >>> known_labels(["1", "NaN", "0"]), known_labels(["yes", "", "1"])
    ([1, None, 0], ['yes', None, '1'])
    """
    known = [text.strip() if text.strip().lower() not in _MISSING else None for text in texts]
    decides = [text is not None and (used is None or used[row]) for row, text in enumerate(known)]
    parsed = iter(parse_labels([text for row, text in enumerate(known) if text is not None and decides[row]]))
    return [next(parsed) if is_known else text for text, is_known in zip(known, decides, strict=True)]
