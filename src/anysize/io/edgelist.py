"""Edge lists: text with one edge per line, as published by SNAP and others, with vertex numbers or names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from anysize._errors import GraphError
from anysize._typing import IntArray
from anysize.io.edges import likely_vertices
from anysize.io.reader import Format, ParsedGraph, ParsedSet, ReadOptions
from anysize.io.table import (
    find_columns,
    find_delimiter,
    graph_columns,
    is_integer_text,
    number_names,
    number_vertices,
    parse_table,
    text_rows,
)
from anysize.io.text import first_line, integer_pairs, line_of_row, strip_comments

_HINT = " Vertices are numbers, as in the first line, or names without numbers; header lines begin with #."
_COLUMNS = "columns after the second are not used: a first line such as source,target,type names those that are"


def parse_edges(data: bytes, where: str, options: ReadOptions) -> ParsedSet:
    """The graph (with a column ``graph``: the graphs) in an edge list or edge table.

    Columns are separated by spaces, tabs, commas or semicolons. Empty lines and lines that begin with ``#`` or ``%``
    are skipped; columns after the second are not used.

    - Two vertex numbers per line: vertices are renumbered 0, 1, ... in ascending order, so that numbers that do not
      occur make no isolated vertices. A first line ``n m`` is a header if exactly m lines follow and all numbers fit n
      vertices; then there are n vertices.
    - Two names per line: vertices are numbered in order of appearance.
    - A header such as ``source,target,weight``: see `anysize.io.table`.
    """
    if b"\0" in data:
        raise GraphError(f"{where} is not a text file: expected lines with two vertices.")
    if data.startswith(b"%%MatrixMarket"):  # its first line of numbers is the shape, not an edge
        raise GraphError(f"{where} is a Matrix Market file; pass scipy.io.mmread({where!r}) to GraphSet.from_scipy.")
    data = strip_comments(data)
    _, line = first_line(data)
    if not line:
        raise GraphError(f"{where} holds no edges: expected lines with two vertices.")
    if _has_header(data, line, where):
        return parse_table(data, where, options)
    for column in (options.one_label(where), options.edge_color):
        if column is not None:
            raise GraphError(f"{where} has no header line with a column {column!r}.")
    fields = _fields(line)
    if len(fields) > 1 and not any(map(_is_number, fields[:2])):
        graph, has_more = _parse_names(data, line, where)
    else:
        graph, has_more = _parse_numbers(data.replace(b";", b",") if b";" in line else data, where)
    return ParsedSet([replace(graph, directed=options.directed)], unused=[_COLUMNS] if has_more else [])


EDGE_LIST = Format(
    "edge list", parse_edges, frozenset({"y", "edge_color", "directed"}),
    (".edges", ".edgelist", ".txt", ".csv", ".tsv"), lambda data, name: True, columns=graph_columns,
)  # fmt: skip


def _has_header(data: bytes, line: bytes, where: str) -> bool:
    """Whether the first line names the columns: by known names, or as the only line without numbers."""
    header = [field.strip() for field in line.decode("utf-8", "replace").split(find_delimiter(line))]
    for name in (field.strip("\"'") for field in header):
        if name.lower() == "smiles":
            raise GraphError(
                f"{where} has a column of SMILES; pass smiles={name!r} (--smiles {name}) to read molecules."
            )
    if find_columns(header) is not None:
        return True
    if len(header) < 2 or any(map(_is_number, [*header, *_fields(line)[:2]])):
        return False
    second = first_line(data[data.index(line) + len(line) :])[1]
    return all(map(is_integer_text, _fields(second)[:2])) and len(_fields(second)) > 1


def _parse_numbers(data: bytes, where: str) -> tuple[ParsedGraph, bool]:
    """The graph, and whether further columns have several values."""
    ends, may_have_more = integer_pairs(data, where, _HINT)
    negative = np.flatnonzero((ends < 0).any(axis=1))
    if negative.size:
        number, (u, v) = line_of_row(data, int(negative[0])), ends[negative[0]]
        raise GraphError(f"{where}, line {number}: vertex numbers start at 0; got {u} and {v}.")
    size = _announced_size(ends)
    has_more = may_have_more and _tails_vary(data, skip=int(size is not None))
    if size is not None:
        if size > likely_vertices(len(ends)):
            raise GraphError(
                f"{where}: the first line announces {size} vertices and {len(ends) - 1} edges follow; expected at most "
                f"{likely_vertices(len(ends))}. Remove this line if it is none."
            )
        begin = int(ends[1:].max() == size)
        ends = ends[1:] - begin
        names = np.arange(begin, begin + size) if begin else None
        return ParsedGraph(size, ends[:, 0], ends[:, 1], vertex_names=names), has_more
    vertices = int(ends.max()) + 1
    present = np.unique(ends)
    if len(present) != vertices:
        ends, vertices = np.searchsorted(present, ends), len(present)
    return ParsedGraph(vertices, ends[:, 0], ends[:, 1], vertex_names=number_names(present)), has_more


def _announced_size(ends: IntArray) -> int | None:
    """The number of vertices in a first line "n m", if m edges follow that fit vertices 0..n-1 or 1..n.

    >>> _announced_size(np.array([[4, 2], [1, 4], [2, 3]])), _announced_size(np.array([[0, 1], [1, 2]]))
    (4, None)
    """
    size, edges = ends[0].tolist()
    rest = ends[1:]
    if len(rest) != edges or not edges or rest.max() > size or (rest.max() == size and rest.min() == 0):
        return None
    return int(size)


def _parse_names(data: bytes, line: bytes, where: str) -> tuple[ParsedGraph, bool]:
    delimiter = find_delimiter(line)
    rows = list(text_rows(data, where, delimiter))
    width = len(rows[0][1])
    for number, row in rows:
        if len(row) != width or width < 2 or not all(row[:2]) or (delimiter is None and not _is_edge_of_names(row)):
            raise GraphError(
                f"{where}, line {number}: expected two vertex names{' and a weight' if width > 2 else ''}, as in an "
                f"edge list; got {' '.join(row)!r:.60}."
            )
    source, target = [row[0] for _, row in rows], [row[1] for _, row in rows]
    if delimiter is not None and not {source[0], target[0]} & {*source[1:], *target[1:]}:
        raise GraphError(
            f"{where}, line {rows[0][0]}: {source[0]!r:.60} and {target[0]!r:.60} could be column names or vertices; "
            "name the columns source and target in the first line."
        )
    return number_vertices(source, target), len({tuple(row[2:]) for _, row in rows}) > 1


def _is_edge_of_names(row: list[str]) -> bool:
    """Whether words between spaces are an edge and not a sentence: two, and perhaps a weight or a dict.

    >>> _is_edge_of_names(["ann", "bob", "0.5"]), _is_edge_of_names(["not", "a", "graph"])
    (True, False)
    """
    return len(row) == 2 or _is_number(row[2]) or row[2].startswith("{")


def _tails_vary(data: bytes, skip: int) -> bool:
    """Whether the columns after the second differ between lines; the first lines may be skipped."""
    first: Any = None
    for line in data.split(b"\n"):
        fields = line.replace(b",", b" ").split(None, 2)
        if not fields:
            continue
        if skip:
            skip -= 1
        elif first is None:
            first = fields[2:]
        elif fields[2:] != first:
            return True
    return False


def _fields(line: bytes) -> list[str]:
    return line.decode("utf-8", "replace").replace(",", " ").replace(";", " ").split()


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
