"""Parse tables of numbers in text: with numpy's C parser, or line by line if the text has anything unusual.

The line-by-line parser defines what is allowed and finds the line of an error. The fast parser may only accept what
the slow one accepts, with the same result.
"""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Sequence

import numpy as np

from anysize._errors import GraphError
from anysize._typing import FloatArray, IntArray

_TABLE_CHARACTERS = b"0123456789-, \t\n"
_PRINTABLE = bytes(range(32, 127)) + b"\t\n"
_COMMENT = re.compile(rb"^[ \t]*[#%].*$", re.MULTILINE)
_NUMBER = rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:[nN][aA][nN]|[iI][nN][fF])"
_SEPARATOR = rb"(?:[ \t]*,|[ \t])[ \t]*"  # each space in one way only: long runs must not backtrack


def normalize(data: bytes) -> bytes:
    """The same lines, ended by a line feed each, without a byte order mark."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in data else data


def quote_bytes(line: bytes) -> str:
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
    table = None if data.translate(None, _TABLE_CHARACTERS) else parse_fast(data, rows=lines)
    if table is not None and table.shape == (lines, columns):
        return table
    pattern = re.compile(_row_pattern(columns) + rb"[ \t]*")
    rows = [
        _parse_row(pattern, line, number, where, columns) for number, line in enumerate(data.split(b"\n"), 1) if data
    ]
    return np.array(rows, np.int64).reshape(len(rows), columns)


def number_table(data: bytes, where: str) -> FloatArray:
    """A (lines, columns) table of numbers, separated by commas or spaces: as many on every line.

    Row r comes from line r + 1, since an empty line is an error (except at the end).
    """
    data = normalize(data).rstrip(b" \t\n")
    lines = data.split(b"\n") if data else []
    columns = len(re.split(_SEPARATOR, lines[0].strip())) if lines else 1
    try:
        if not lines or any(not line.strip() for line in lines) or b"_" in data:
            raise ValueError("lines to look at one by one")
        table = np.loadtxt(
            io.BytesIO(data), np.float64, delimiter="," if b"," in data else None, comments=None, ndmin=2,
            encoding="latin1",
        )  # fmt: skip
        if table.shape == (len(lines), columns):
            return table
    except ValueError:
        pass
    for number, line in enumerate(lines, 1):
        fields = re.split(_SEPARATOR, line.strip())
        if len(fields) != columns or not all(re.fullmatch(_NUMBER, field) for field in fields):
            expected = "one number" if columns == 1 else f"{columns} numbers"
            raise GraphError(f"{where}, line {number}: expected {expected}; got {quote_bytes(line)}.")
    rows = [[float(field) for field in re.split(_SEPARATOR, line.strip())] for line in lines]
    return np.array(rows, np.float64).reshape(len(rows), columns)


def integer_pairs(data: bytes, where: str, hint: str = "") -> tuple[IntArray, bool]:
    """The first two columns of an edge list without comments, and whether lines may have further columns.

    Empty lines are skipped. ``hint`` is appended to the error for a line without two integers.
    """
    if not data.translate(None, _PRINTABLE):
        table = parse_fast(data)
        if table is not None and table.shape[1] == 2:
            return table, False
        table = parse_fast(data, (0, 1))
        if table is not None:
            return table, True
    pattern = re.compile(_row_pattern(2) + rb"(?:[ \t,].*)?")
    lines = enumerate(data.split(b"\n"), 1)
    rows = [_parse_row(pattern, line, number, where, 2, hint) for number, line in lines if line.strip(b" \t")]
    return np.array(rows, np.int64).reshape(len(rows), 2), True


def strip_comments(data: bytes) -> bytes:
    """Normalized text in which lines that begin with # or % are empty, so that line numbers stay."""
    data = normalize(data)
    return _COMMENT.sub(b"", data) if b"#" in data or b"%" in data else data


def first_line(data: bytes) -> tuple[int, bytes]:
    """The number, from 1, and the text of the first line that is not blank; 0 and nothing if all are."""
    rest = data.lstrip(b" \t\n")
    line = rest.partition(b"\n")[0].rstrip(b" \t")
    return (data.count(b"\n", 0, len(data) - len(rest)) + 1 if line else 0), line


def parse_labels(values: Sequence[str]) -> list[int] | list[float] | list[str]:
    """Labels written as text: all integers, all numbers, or all strings.

    >>> parse_labels(["1.0", "0"]), parse_labels(["0.5", "1"]), parse_labels(["yes", "1"])
    ([1, 0], [0.5, 1.0], ['yes', '1'])
    """
    try:
        return [int(value) for value in values]
    except ValueError:
        pass
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return list(values)
    return [int(number) for number in numbers] if all(map(float.is_integer, numbers)) else numbers


def decode(data: bytes, where: str) -> str:
    """The text of a file in UTF-8; errors name the file."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise GraphError(f"{where}, line {line}: expected text in UTF-8; save the file in this encoding.") from None


def numbered_lines(data: bytes, where: str) -> list[tuple[int, str]]:
    """The lines of a text in UTF-8 that are not blank, with their numbers from 1."""
    return [(number, line) for number, line in enumerate(decode(normalize(data), where).split("\n"), 1) if line.strip()]


def line_of_row(data: bytes, row: int) -> int:
    """The line number of a row of `integer_pairs`."""
    nonempty = [number for number, line in enumerate(data.split(b"\n"), 1) if line.strip(b" \t")]
    return nonempty[row]


def parse_fast(
    data: bytes, columns: tuple[int, ...] | None = None, rows: int | None = None, delimiter: str | None = None
) -> IntArray | None:
    """Integers by numpy's parser; None if it does not accept the text. Default delimiter: a comma, or else spaces."""
    if not data.strip(b" \t\n"):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy 1.26 reads 1.5 as 1 with a warning
            table = np.loadtxt(
                io.BytesIO(data),
                dtype=np.int64,
                delimiter="," if delimiter is None and b"," in data else delimiter,
                comments=None,
                usecols=columns,
                ndmin=2,
                max_rows=rows,
            )
    except (ValueError, OverflowError, Warning):
        return None
    return table


def _row_pattern(columns: int) -> bytes:
    return rb"[ \t]*" + _SEPARATOR.join([rb"([+-]?[0-9]+)"] * columns)


def _parse_row(
    pattern: re.Pattern[bytes], line: bytes, number: int, where: str, columns: int, hint: str = ""
) -> list[int]:
    match = pattern.fullmatch(line)
    if match is None:
        amount = "one integer" if columns == 1 else f"{columns} integers"
        raise GraphError(f"{where}, line {number}: expected {amount}; got {quote_bytes(line)}.{hint}")
    for field in match.groups():
        if len(field) > 18:  # beyond 18 digits an integer may not fit 64 bits
            raise GraphError(f"{where}, line {number}: the number {quote_bytes(field)} is too large.")
    return [int(field) for field in match.groups()]
