"""Edge lists: one graph per text file, one edge per line, as SNAP and many others publish them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from anysize._errors import GraphError
from anysize.graphs.graphset import GraphSet
from anysize.io.archive import read_bytes, read_gzip
from anysize.io.pieces import ParsedGraph, join_graphs
from anysize.io.text import integer_pairs, line_of_row

ENDINGS = (".txt", ".edges", ".edgelist")
_HINT = " Vertices are numbers, and a header begins with #; networkx.read_edgelist reads names."


def read_edge_list(path: str | os.PathLike[str]) -> GraphSet:
    """The graph in a text file, plain or gzipped, with two vertex numbers per line.

    Columns are separated by blanks, tabs or commas; columns after the second are ignored, as are empty lines
    and lines that begin with ``#`` or ``%``. Vertices are renumbered 0, 1, ... by ascending number, so that
    numbers that do not occur leave no isolated vertices behind; numbers without gaps from 0 stay as they are.
    """
    return join_graphs([_piece(Path(path))])


def read_edge_lists(folder: str | os.PathLike[str]) -> GraphSet:
    """One graph per edge list of a folder, in the order of file names, named by them without their endings.

    The files are those that end in .txt, .edges or .edgelist, plain or gzipped; each is read as by `read_edge_list`.
    """
    files = edge_lists(Path(folder))
    if not files:
        raise GraphError(f"{folder} holds no edge lists: looked for files that end in {', '.join(ENDINGS)}.")
    return join_graphs([_piece(file) for file in files], names=[_stem(file) for file in files])


def edge_lists(folder: Path) -> list[Path]:
    """The files of a folder that are edge lists by their names, in order."""
    return sorted(file for file in folder.glob("*") if _stem(file) != file.name and file.is_file())


def _stem(file: Path) -> str:
    """The name without the ending of an edge list; all of it where it has none.

    >>> _stem(Path("ego.12.edges.gz")), _stem(Path("notes.md"))
    ('ego.12', 'notes.md')
    """
    bare = file.name.removesuffix(".gz")
    return next((bare.removesuffix(ending) for ending in ENDINGS if bare.endswith(ending)), file.name)


def _piece(file: Path) -> ParsedGraph:
    data = read_gzip(file) if is_gzip(file) else read_bytes(file)
    if b"\0" in data:
        raise GraphError(f"{file} is not a text file: looked for lines with two vertex numbers.")
    if data.startswith(b"%%MatrixMarket"):  # its first line of numbers is no edge
        raise GraphError(f"{file} is a Matrix Market file; pass scipy.io.mmread({str(file)!r}) to GraphSet.from_scipy.")
    ends, text = integer_pairs(data, str(file), _HINT)
    if not len(ends):
        raise GraphError(f"{file} holds no edges: looked for lines with two vertex numbers.")
    negative = np.flatnonzero((ends < 0).any(axis=1))
    if negative.size:
        line, (u, v) = line_of_row(text, int(negative[0])), ends[negative[0]]
        raise GraphError(f"{file}, line {line}: vertex numbers start at 0; got {u} and {v}.")
    vertices = int(ends.max()) + 1
    present = np.unique(ends)
    if len(present) != vertices:
        ends, vertices = np.searchsorted(present, ends), len(present)
    return ParsedGraph(vertices, ends[:, 0], ends[:, 1])


def is_gzip(path: Path) -> bool:
    """Whether the file begins as gzip files do, or claims to be one by its name."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"\x1f\x8b" or path.suffix == ".gz"
    except OSError as error:
        raise GraphError(f"Cannot read {path}: {error.strerror}.") from None
