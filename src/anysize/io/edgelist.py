"""Edge lists: one graph per text file, one edge per line, as published by SNAP and others."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from anysize._errors import GraphError
from anysize._typing import PathLike
from anysize.graphs.graphset import GraphSet
from anysize.io.archive import read_bytes, read_gzip
from anysize.io.parsed import ParsedGraph, join_graphs
from anysize.io.text import integer_pairs, line_of_row

ENDINGS = (".txt", ".edges", ".edgelist")
_HINT = " Vertices must be numbers and header lines begin with #; to read vertex names use networkx.read_edgelist."


def is_edge_list_folder(path: Path) -> bool:
    """Whether the path is a folder with edge lists, and not a TU folder without its file of edges."""
    return path.is_dir() and bool(_edge_lists(path)) and not any(path.glob("*_graph_indicator.txt"))


def read_edge_list(path: PathLike) -> GraphSet:
    """Read the graph in a text file, plain or gzipped, with two vertex numbers per line.

    Columns are separated by spaces, tabs or commas. Columns after the second, empty lines and lines that begin with
    ``#`` or ``%`` are ignored. Vertices are renumbered 0, 1, ... in ascending order of their numbers, so that numbers
    that do not occur make no isolated vertices.
    """
    return join_graphs([_parse(Path(path))])


def read_edge_lists(folder: PathLike) -> GraphSet:
    """Read one graph per edge list of a folder, ordered by file name and named by it without its ending.

    The files are those that end in .txt, .edges or .edgelist, plain or gzipped; each is read by `read_edge_list`.
    """
    files = _edge_lists(Path(folder))
    if not files:
        raise GraphError(f"{folder} holds no edge lists: expected files that end in {', '.join(ENDINGS)}.")
    return join_graphs([_parse(file) for file in files], names=[_stem(file) for file in files])


def _edge_lists(folder: Path) -> list[Path]:
    """The files of a folder that are edge lists by their names, sorted."""
    return sorted(file for file in folder.glob("*") if _stem(file) != file.name and file.is_file())


def _stem(file: Path) -> str:
    """The name without the ending of an edge list; the whole name if it has none.

    >>> _stem(Path("ego.12.edges.gz")), _stem(Path("notes.md"))
    ('ego.12', 'notes.md')
    """
    bare = file.name.removesuffix(".gz")
    return next((bare.removesuffix(ending) for ending in ENDINGS if bare.endswith(ending)), file.name)


def _parse(file: Path) -> ParsedGraph:
    data = read_gzip(file) if _is_gzip(file) else read_bytes(file)
    if b"\0" in data:
        raise GraphError(f"{file} is not a text file: expected lines with two vertex numbers.")
    if data.startswith(b"%%MatrixMarket"):  # its first line of numbers is the shape, not an edge
        raise GraphError(f"{file} is a Matrix Market file; pass scipy.io.mmread({str(file)!r}) to GraphSet.from_scipy.")
    ends, text = integer_pairs(data, str(file), _HINT)
    if not len(ends):
        raise GraphError(f"{file} holds no edges: expected lines with two vertex numbers.")
    negative = np.flatnonzero((ends < 0).any(axis=1))
    if negative.size:
        line, (u, v) = line_of_row(text, int(negative[0])), ends[negative[0]]
        raise GraphError(f"{file}, line {line}: vertex numbers start at 0; got {u} and {v}.")
    vertices = int(ends.max()) + 1
    present = np.unique(ends)
    if len(present) != vertices:
        ends, vertices = np.searchsorted(present, ends), len(present)
    return ParsedGraph(vertices, ends[:, 0], ends[:, 1])


def _is_gzip(path: Path) -> bool:
    """Whether the file is gzipped, by its first bytes or its name."""
    try:
        with path.open("rb") as file:
            return file.read(2) == b"\x1f\x8b" or path.suffix == ".gz"
    except OSError as error:
        raise GraphError(f"Cannot read {path}: {error.strerror}.") from None
