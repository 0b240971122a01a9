"""Folders of adjacency matrices in CSV files, one graph per file: the form of the brain networks."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from anysize.errors import GraphError
from anysize.graphs import GraphSet
from anysize.readers.archive import read_bytes
from anysize.readers.pieces import Piece, join
from anysize.readers.text import normalise, shown


def from_adjacency_csv(folder: str | os.PathLike[str], pattern: str = "*.csv") -> GraphSet:
    """One graph per CSV file of the folder, in the order of file names, named by their stems.

    The first line of a file and the first column of each further line are skipped (a header and an index);
    what remains is a square matrix of numbers, in which any non-zero is an edge.

    Args:
        folder: where the files are.
        pattern: which files of the folder are read.
    """
    if not Path(folder).is_dir():
        raise GraphError(f"There is no folder {folder}.")
    files = sorted(file for file in Path(folder).glob(pattern) if file.is_file())
    if not files:
        raise GraphError(f"{folder} holds no adjacency matrices: looked for files {pattern}.")
    return join([_piece(file) for file in files], names=[file.stem for file in files])


def _piece(file: Path) -> Piece:
    matrix = _matrix(normalise(read_bytes(file)), str(file))
    source, target = np.nonzero(matrix)
    return Piece(len(matrix), source, target)


def _matrix(data: bytes, where: str) -> NDArray[np.float64]:
    _header, _, body = data.partition(b"\n")
    body = body.rstrip(b" \t\n")
    if not body:
        raise GraphError(f"{where} holds no matrix: looked for lines of numbers after the first line.")
    size = body.count(b"\n") + 1
    if body.count(b",") == size * size:
        matrix = _fast(body, size)
        if matrix is not None:
            return matrix
    rows = [_row(line, number, where, size) for number, line in enumerate(body.split(b"\n"), 2)]
    return np.array(rows, np.float64)


def _fast(body: bytes, size: int) -> NDArray[np.float64] | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            table = np.loadtxt(
                io.BytesIO(body),
                delimiter=",",
                usecols=range(1, size + 1),
                comments=None,
                ndmin=2,
                encoding="latin1",
            )
    except (ValueError, Warning):
        return None
    return table if table.shape == (size, size) and np.isfinite(table).all() else None


def _row(line: bytes, number: int, where: str, size: int) -> list[float]:
    fields = line.split(b",")[1:]
    if len(fields) != size:
        raise GraphError(
            f"{where}, line {number}: expected {size} numbers after the index, "
            f"since the matrix has {size} rows; got {len(fields)}."
        )
    return [_number(field, number, where) for field in fields]


def _number(field: bytes, number: int, where: str) -> float:
    try:
        value = float(field)
    except ValueError:
        value = np.nan
    if not np.isfinite(value) or b"_" in field:
        raise GraphError(f"{where}, line {number}: expected a number; got {shown(field)}.")
    return value
