"""Folders of adjacency matrices in CSV files, one graph per file: the form of the brain networks."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError
from anysize.graphs.graphset import GraphSet
from anysize.io.archive import read_bytes
from anysize.io.dropped import tell, unused_weights
from anysize.io.pieces import ParsedGraph, join_graphs
from anysize.io.text import normalize, shown


def from_adjacency_csv(folder: str | os.PathLike[str], pattern: str = "*.csv", *, warn: bool = True) -> GraphSet:
    """One graph per CSV file of the folder, in the order of file names, named by their stems.

    A file holds a square matrix of numbers, in which any non-zero is an edge: alone, below a header line, or below
    a header line and behind an index column. Which of these it is, its numbers of lines and columns tell; a matrix
    stands alone if all of the first line are numbers, unless they and the first column count up from 0 or 1. What is on
    the diagonal is no edge and may be anything. Weights are not used; where there are several, a warning says so.

    Args:
        folder: where the files are.
        pattern: which files of the folder are read.
        warn: False to say nothing of weights.
    """
    if not Path(folder).is_dir():
        raise GraphError(f"There is no folder {folder}.")
    files = sorted(file for file in Path(folder).glob(pattern) if file.is_file())
    if not files:
        raise GraphError(f"{folder} holds no adjacency matrices: looked for files {pattern}.")
    pieces = [_piece(file) for file in files]
    graphs = join_graphs(pieces, names=[file.stem for file in files])
    if warn:
        tell(unused_weights([piece.weights for piece in pieces], graphs))
    return graphs


def _piece(file: Path) -> ParsedGraph:
    matrix = _matrix(normalize(read_bytes(file)), str(file))
    source, target = np.nonzero(matrix)
    return ParsedGraph(len(matrix), source, target, weights=matrix[source, target][source != target])


def _matrix(data: bytes, where: str) -> NDArray[np.float64]:
    lines = data.rstrip(b" \t\n").split(b"\n")
    above, left = _margins(lines)
    body = lines[above:]
    if not body:
        raise GraphError(f"{where} holds no matrix: looked for lines of numbers after the first line.")
    size = len(body)
    if all(line.count(b",") == size + left - 1 for line in body):
        matrix = _fast(b"\n".join(body), size, left)
        if matrix is not None:
            return matrix
    rows = [_row(line, number, where, size, above, left) for number, line in enumerate(body)]
    return np.array(rows, np.float64)


def _margins(lines: list[bytes]) -> tuple[int, int]:
    """How many lines stand above the numbers, and how many columns on their left.

    >>> _margins([b"0,1", b"1,0"]), _margins([b"a,b", b"0,1", b"1,0"]), _margins([b",a,b", b"a,0,1", b"b,1,0"])
    ((0, 0), (1, 0), (1, 1))
    """
    head, width = lines[0].split(b","), lines[-1].count(b",") + 1
    column = [line.split(b",", 1)[0] for line in lines]
    if len(head) == width == len(lines) and all(map(_is_number, head)):
        counted = len(head) > 3 and _counts_up(head[1:]) and _counts_up(column[1:])
        return (1, 1) if counted else (0, 0)
    named = all(field.strip(b' \t"') for field in head)  # the corner above an index is often empty
    if len(lines) == width + 1 and named and (_counts_up(head) or not all(map(_is_number, head))):
        return 1, 0
    return 1, 1


def _counts_up(fields: list[bytes]) -> bool:
    """Whether fields are the numbers of vertices, from 0 or from 1."""
    numbers = [field.strip(b' \t"') for field in fields]
    return any(numbers == [b"%d" % number for number in range(start, start + len(fields))] for start in (0, 1))


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return b"_" not in field


def _fast(body: bytes, size: int, left: int) -> NDArray[np.float64] | None:
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


def _row(line: bytes, row: int, where: str, size: int, above: int, left: int) -> list[float]:
    number, fields = row + above + 1, line.split(b",")[left:]
    if len(fields) != size:
        raise GraphError(
            f"{where}, line {number}: expected {size} numbers{' after the index' if left else ''}, "
            f"since the matrix has {size} rows; got {len(fields)}. A file is a matrix with commas between its numbers: "
            "alone, below a header line, or below a header line and behind an index column."
        )
    return [_number(field, number, where, column == row) for column, field in enumerate(fields)]


def _number(field: bytes, number: int, where: str, loop: bool) -> float:
    if not _is_number(field) or not (loop or np.isfinite(float(field))):
        raise GraphError(f"{where}, line {number}: expected a number; got {shown(field)}.")
    return float(field)
