"""Parse tables of integers in text: with numpy's C parser, or line by line if the text has anything unusual.

The line-by-line parser defines what is allowed and finds the line of an error. The fast parser may only accept what
the slow one accepts, with the same result.
"""

from __future__ import annotations

import io
import re
import warnings

import numpy as np

from anysize._errors import GraphError
from anysize._typing import IntArray

_TABLE_CHARACTERS = b"0123456789-, \t\n"
_PRINTABLE = bytes(range(32, 127)) + b"\t\n"
_COMMENT = re.compile(rb"^[ \t]*[#%].*$", re.MULTILINE)
_SEPARATOR = rb"(?:[ \t]*,[ \t]*|[ \t]+)"


def normalize(data: bytes) -> bytes:
    """The same lines, ended by a line feed each, without a byte order mark."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def format_bytes(line: bytes) -> str:
    """At most 40 bytes of a line, quoted, for an error message."""
    text = line.strip()
    return repr(text if len(text) <= 40 else text[:40] + b"...")[1:]


def column_count(data: bytes) -> int:
    """Number of columns in the first line; 1 for an empty file."""
    line = normalize(data[:4096]).partition(b"\n")[0].strip()
    return len(re.findall(_SEPARATOR, line)) + 1


def integer_table(data: bytes, where: str, columns: int) -> IntArray:
    """A (lines, columns) table: ``columns`` integers on every line, separated by commas or spaces.

    Row r comes from line r + 1, since an empty line is an error (except at the end).
    """
    data = normalize(data).rstrip(b" \t\n")
    lines = data.count(b"\n") + 1 if data else 0
    table = None if data.translate(None, _TABLE_CHARACTERS) else _parse_fast(data, None, lines)
    if table is not None and table.shape == (lines, columns):
        return table
    pattern = re.compile(_row_pattern(columns) + rb"[ \t]*")
    rows = [
        _parse_row(pattern, line, number, where, columns) for number, line in enumerate(data.split(b"\n"), 1) if data
    ]
    return np.array(rows, np.int64).reshape(len(rows), columns)


def integer_pairs(data: bytes, where: str, hint: str = "") -> tuple[IntArray, bytes]:
    """The first two columns of an edge list, and the text they were read from.

    Empty lines and lines that begin with # or % are skipped, further columns are ignored. ``hint`` is appended to the
    error for a line without two integers.
    """
    data = normalize(data)
    if b"#" in data or b"%" in data:
        data = _COMMENT.sub(b"", data)
    table = None if data.translate(None, _PRINTABLE) else _parse_fast(data, (0, 1), None)
    if table is not None and table.shape[1] == 2:
        return table, data
    pattern = re.compile(_row_pattern(2) + rb"(?:[ \t,].*)?")
    lines = enumerate(data.split(b"\n"), 1)
    rows = [_parse_row(pattern, line, number, where, 2, hint) for number, line in lines if line.strip(b" \t")]
    return np.array(rows, np.int64).reshape(len(rows), 2), data


def line_of_row(data: bytes, row: int) -> int:
    """The line number of a row of `integer_pairs`, in the text it returned."""
    nonempty = [number for number, line in enumerate(data.split(b"\n"), 1) if line.strip(b" \t")]
    return nonempty[row]


def _parse_fast(data: bytes, columns: tuple[int, ...] | None, rows: int | None) -> IntArray | None:
    if not data:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy 1.26 reads 1.5 as 1 with a warning
            table = np.loadtxt(
                io.BytesIO(data),
                dtype=np.int64,
                delimiter="," if b"," in data else None,
                comments=None,
                usecols=columns,
                ndmin=2,
                max_rows=rows,
            )
    except (ValueError, OverflowError, Warning):
        return None
    return table


def _row_pattern(columns: int) -> bytes:
    return _SEPARATOR.join([rb"[ \t]*([+-]?[0-9]+)"] * columns)


def _parse_row(
    pattern: re.Pattern[bytes], line: bytes, number: int, where: str, columns: int, hint: str = ""
) -> list[int]:
    match = pattern.fullmatch(line)
    if match is None:
        amount = "one integer" if columns == 1 else f"{columns} integers"
        raise GraphError(f"{where}, line {number}: expected {amount}; got {format_bytes(line)}.{hint}")
    for field in match.groups():
        if len(field) > 18:  # beyond 18 digits an integer may not fit 64 bits
            raise GraphError(f"{where}, line {number}: the number {format_bytes(field)} is too large.")
    return [int(field) for field in match.groups()]
