"""Adjacency matrices in text: CSV files with one matrix each, the format of the brain networks."""

from __future__ import annotations

import io
import warnings

import numpy as np

from anysize._errors import GraphError
from anysize._typing import FloatArray
from anysize.io.matrices import Cut, parse_matrix
from anysize.io.reader import Format, ParsedSet, ReadOptions
from anysize.io.table import find_columns
from anysize.io.text import normalize, quote_bytes

MOLECULES_HINT = "name the column of a table of molecules, smiles= (--smiles)"
_MAX_EDGE_COLUMNS = 4  # a CSV file without a header and with more columns is a matrix


def is_matrix(data: bytes, name: str) -> bool:
    """Whether a text is an adjacency matrix and not an edge list, which may have as many columns as lines too.

    >>> is_matrix(b"0,1,1\\n1,0,0\\n1,0,0", "m.csv"), is_matrix(b"0,1,5\\n1,2,7\\n2,3,4", "edges.csv")
    (True, False)
    """
    is_csv = name.endswith((".csv", ".tsv"))
    data = normalize(data).rstrip(b" \t\n")
    lines = data.count(b"\n") + 1
    head = _with_commas(data.partition(b"\n")[0]).split(b",")
    width = _with_commas(data[data.rfind(b"\n") + 1 :]).count(b",") + 1
    if not head[0].strip(b' \t"'):
        return is_csv  # a table of edges has no empty corner
    if find_columns([field.decode("latin1") for field in head]) is not None:
        return False
    if is_csv and width > _MAX_EDGE_COLUMNS:
        return True
    if lines - width not in ((0, 1) if is_csv else (0,)) or (lines < 3 and not is_csv):
        return False
    rows = _with_commas(data).split(b"\n")
    above, left = _margins(rows)
    body = rows[above:]
    matrix = _parse_fast(b"\n".join(body), len(body), left) if len(body) == width - left else None
    return matrix is not None and _has_matrix_entries(matrix, is_csv)


def _has_matrix_entries(matrix: FloatArray, is_csv: bool) -> bool:
    """Whether the entries of a square table are those of an adjacency matrix, and not edges with weights."""
    if np.isin(matrix, (0, 1)).all() or len(matrix) > _MAX_EDGE_COLUMNS:
        return True
    if (matrix[:, :2] != np.rint(matrix[:, :2])).any() or len(matrix) == 1:
        return is_csv
    return is_csv and (not np.diagonal(matrix).any() or (len(matrix) > 2 and bool((matrix == matrix.T).all())))


def parse_matrix_text(data: bytes, where: str, options: ReadOptions) -> ParsedSet:
    """The graph in a square matrix of numbers, in which any non-zero off the diagonal is an edge.

    A header line, or a header line and an index column, are recognized: by the numbers of lines and columns, or, if
    these fit a matrix alone, by labels that count up from 0 or 1.
    """
    return ParsedSet([parse_matrix(_matrix(_with_commas(normalize(data)), where), where, Cut.of(options))])


MATRIX_TEXT = Format("adjacency matrix", parse_matrix_text, frozenset({"threshold", "density"}), recognizes=is_matrix)


def _with_commas(data: bytes) -> bytes:
    """The lines of a text with commas between the columns."""
    return data if b"," in data else b"\n".join(b",".join(line.split()) for line in data.split(b"\n"))


def _matrix(data: bytes, where: str) -> FloatArray:
    lines = data.rstrip(b" \t\n").split(b"\n")
    above, left = _margins(lines)
    body = lines[above:]
    if not body:
        raise GraphError(f"{where} holds no matrix: expected lines of numbers after the first line.")
    size = len(body)
    if all(line.count(b",") == size + left - 1 for line in body):
        matrix = _parse_fast(b"\n".join(body), size, left)
        if matrix is not None:
            return matrix
    rows = [_parse_row(line, number, where, size, above, left) for number, line in enumerate(body)]
    return np.array(rows, np.float64)


def _margins(lines: list[bytes]) -> tuple[int, int]:
    """The number of header lines and of index columns.

    >>> _margins([b"0,1", b"1,0"]), _margins([b"a,b", b"0,1", b"1,0"]), _margins([b",a,b", b"a,0,1", b"b,1,0"])
    ((0, 0), (1, 0), (1, 1))
    """
    head, width = lines[0].split(b","), lines[-1].count(b",") + 1
    column = [line.split(b",", 1)[0] for line in lines]
    if len(head) == width == len(lines) and all(map(_is_number, head)):
        counted = len(head) > 3 and _counts_up(head[1:]) and _counts_up(column[1:])
        return (1, 1) if counted else (0, 0)
    has_corner = all(field.strip(b' \t"') for field in head)  # the corner above an index is often empty
    if len(lines) == width + 1 and has_corner and (_counts_up(head) or not all(map(_is_number, head))):
        return 1, 0
    return 1, 1


def _counts_up(fields: list[bytes]) -> bool:
    """Whether fields are 0, 1, 2, ... or 1, 2, 3, ..."""
    numbers = [field.strip(b' \t"') for field in fields]
    return any(numbers == [b"%d" % number for number in range(start, start + len(fields))] for start in (0, 1))


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def _parse_fast(body: bytes, size: int, left: int) -> FloatArray | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table = np.loadtxt(
                io.BytesIO(body),
                delimiter=",",
                usecols=range(left, size + left),
                comments=None,
                ndmin=2,
                encoding="latin1",
            )
    except (ValueError, Warning):
        return None
    if table.shape != (size, size):
        return None
    return table if (np.isfinite(table) | (np.identity(size) > 0)).all() else None


def _parse_row(line: bytes, row: int, where: str, size: int, above: int, left: int) -> list[float]:
    number, fields = row + above + 1, line.split(b",")[left:]
    if len(fields) != size:
        raise GraphError(
            f"{where}, line {number}: expected {size} numbers{' after the index' if left else ''}, "
            f"since the matrix has {size} rows; got {len(fields)}. Expected a matrix with commas between the numbers: "
            "alone, with a header line, or with a header line and an index column; a table of edges has a header with "
            f"source and target; or {MOLECULES_HINT}."
        )
    return [_parse_number(field, number, where, column == row) for column, field in enumerate(fields)]


def _parse_number(field: bytes, number: int, where: str, loop: bool) -> float:
    if not _is_number(field) or not (loop or np.isfinite(float(field))):
        raise GraphError(f"{where}, line {number}: expected a number; got {quote_bytes(field)}.")
    return float(field)
