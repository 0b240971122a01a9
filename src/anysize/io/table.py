"""Edge tables: one row per edge and named columns, in a text file with a header line or in a pandas DataFrame."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError
from anysize._typing import IntArray
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import offsets
from anysize.io.dropped import unused_edges, warn_unused
from anysize.io.objects import GraphType
from anysize.io.parsed import ParsedFile, ParsedGraph, join_graphs
from anysize.io.text import decode, first_line, parse_fast, parse_labels, strip_comments

PANDAS = GraphType("a pandas DataFrame", (("pandas", "DataFrame"),))
END_NAMES = (  # the columns with the two ends of an edge, in lower case without spaces and underscores
    ("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"), ("i", "j"), ("start", "end"),
    ("node1", "node2"), ("vertex1", "vertex2"), ("id1", "id2"), ("sourceid", "targetid"), ("fromid", "toid"),
    ("fromnode", "tonode"), ("fromnodeid", "tonodeid"),
)  # fmt: skip
GRAPH_NAMES = ("graph", "graphid")
TYPE_NAMES = ("type", "edgetype", "edgecolor", "relation", "bondtype")  # the column with the color of an edge
_MAX_COLUMNS_SHOWN = 10


class Columns(NamedTuple):
    """The positions of the columns of an edge table."""

    source: int
    target: int
    graph: int | None = None

    @property
    def used(self) -> tuple[int, ...]:
        return (self.source, self.target) if self.graph is None else (self.source, self.target, self.graph)


def find_types(header: Sequence[str], edge_color: str | None, where: str) -> int | None:
    """The position of the column with the colors of edges: the one that is named, or one by a common name."""
    if edge_color is not None:
        return column_position(header, edge_color, where)
    names = [_plain(name) for name in header]
    return next((names.index(name) for name in TYPE_NAMES if name in names), None)


def _plain(name: Any) -> str:
    return re.sub(r"[\s_\"']", "", str(name)).lower()


def find_columns(header: Sequence[Any]) -> Columns | None:
    """Where the ends of the edges (and the graph) are; None if these names are no header of an edge table.

    >>> find_columns(["graph", "Source", "Target", "weight"]), find_columns(["a", "b"])
    (Columns(source=1, target=2, graph=0), None)
    """
    names = list(map(_plain, header))
    for source, target in END_NAMES:
        if source in names and target in names:
            graph = next((names.index(name) for name in GRAPH_NAMES if name in names), None)
            return Columns(names.index(source), names.index(target), graph)
    return None


def is_edge_table(value: Any) -> bool:
    """Whether a value is a DataFrame with columns for the two ends of an edge."""
    return PANDAS.matches(value) and find_columns(list(value.columns)) is not None


def from_pandas(
    frames: Any,
    color: None = None,
    y: str | None = None,
    *,
    edge_color: str | None = None,
    directed: bool | None = None,
    warn: bool = True,
) -> GraphSet:
    """Convert a DataFrame with one row per edge and the columns ``source`` and ``target``: vertex numbers or names.

    With a column ``graph`` a frame holds several graphs, in the order in which they appear. A column such as ``type``
    or ``relation``, or the one that ``edge_color`` names, holds the colors of edges. Other columns are not used; one
    warning names them. Vertices are numbered by value (numbers) or in order of appearance (names).

    Args:
        frames: the table, or a list of tables. Other common names of the two columns (from and to, src and dst) are
            recognized.
        color: edge tables hold no colors.
        y: the column with the label, the same in all rows of a graph.
        edge_color: the column with the color of each edge, its type.
        directed: whether an edge without its reverse points from source to target. Default: only if some edges of a
            graph are given in both directions and others are not.
        warn: whether to warn about columns that are not used.

    >>> import pandas as pd
    >>> from_pandas(pd.DataFrame({"source": ["ann", "bob"], "target": ["bob", "cat"]})).edges().tolist()
    [[0, 1], [1, 2]]
    """
    parts = [_parse_frame(frame, y, edge_color, directed) for frame in PANDAS.as_list(frames)]
    parsed = [graph for part in parts for graph in part.graphs]
    labels = None if y is None else parse_labels([str(label) for part in parts for label in part.y])
    names = [name for part in parts for name in part.names or ()]
    graphs = join_graphs(parsed, labels, names=names if len(names) == len(parsed) else None)
    if warn:
        warn_unused(parsed)
    return graphs


def _parse_frame(frame: Any, y: str | None, edge_color: str | None, directed: bool | None) -> ParsedFile:
    header = [str(name) for name in frame.columns]
    columns = find_columns(header)
    if columns is None:
        raise GraphError(
            f"Expected a DataFrame with the columns source and target; got {format_columns(header)}. Rename two "
            "columns, or pass an adjacency matrix to GraphSet.from_scipy."
        )
    if not len(frame):
        raise GraphError("The DataFrame holds no edges: expected one row per edge.")
    values = [_frame_vertices(frame, at) for at in columns.used[:2]]
    if columns.graph is not None:
        values.append(_frame_column(frame, columns.graph))
    label = None if y is None else column_position(header, y, "the DataFrame")
    labels = None if label is None else [str(value) for value in _frame_column(frame, label)]
    type_at = find_types(header, edge_color, "the DataFrame")
    types = None if type_at is None else [str(value) for value in _frame_column(frame, type_at)]
    others = [at for at in range(len(header)) if at not in (*columns.used, label, type_at)]
    varying = [header[at] for at in others if frame.iloc[:, at].astype(str).nunique() > 1]
    return make_graphs(values, labels, types, varying, "the DataFrame", directed)


def parse_table(
    data: bytes, where: str, y: str | None = None, edge_color: str | None = None, directed: bool | None = None
) -> ParsedFile:
    """The graphs in a text table without comments whose first line is a header."""
    _, line = first_line(data)
    delimiter = find_delimiter(line)
    rows = text_rows(data, where, delimiter)
    header = next(rows, (0, []))[1]
    if len(header) < 2:
        raise GraphError(f"{where}: expected the names of two columns or more in the first line; got {line[:40]!r}.")
    columns = find_columns(header) or Columns(0, 1)
    label = None if y is None else column_position(header, y, where)
    types = find_types(header, edge_color, where)
    others = [at for at in range(len(header)) if at not in (*columns.used, label, types)]
    varying = [header[at] for at in _varying(rows, others)] if others else []
    body = data[data.index(line) + len(line) :]
    values: list[Any]
    is_plain = label is None and types is None and b'"' not in data
    table = None if not is_plain else parse_fast(body, columns.used, delimiter=delimiter)
    if table is not None and (table[:, :2] >= 0).all():
        values = list(table.T)
        return make_graphs(values, None, None, varying, where, directed)
    needed = max(*columns.used, *(at for at in (label, types) if at is not None)) + 1
    lines, kept = [], []
    for number, row in text_rows(data, where, delimiter):
        if len(row) < needed or not all(row[at] for at in columns.used):
            raise GraphError(
                f"{where}, line {number}: expected a value in each of the columns "
                f"{format_columns([header[at] for at in columns.used])}; got {row!s:.60}."
            )
        lines.append(number)
        kept.append(row)
    if len(kept) < 2:
        raise GraphError(f"{where} holds no edges: expected lines after the header {format_columns(header)}.")
    del lines[0], kept[0]
    values = _vertices([[row[at] for row in kept] for at in columns.used[:2]], lines, where)
    if columns.graph is not None:
        values.append([row[columns.graph] for row in kept])
    labels, edge_types = ([row[at] for row in kept] if at is not None else None for at in (label, types))
    return make_graphs(values, labels, edge_types, varying, where, directed)


def graph_columns(data: bytes, where: str) -> dict[str, list[str]]:
    """What a table of edges says of its graphs: the columns with one value per graph; none without a column graph."""
    data = strip_comments(data)
    rows = (row for _, row in text_rows(data, where, find_delimiter(first_line(data)[1])))
    header = next(rows, [])
    columns = find_columns(header)
    if columns is None or columns.graph is None:
        return {}
    values: dict[str, list[str | None]] = {}
    others = [at for at in range(len(header)) if at not in columns.used]
    for row in rows:
        cells = [row[at] if at < len(row) else "" for at in others]
        known = values.setdefault(row[columns.graph], [*cells])
        values[row[columns.graph]] = [old if old == new else None for old, new in zip(known, cells, strict=True)]
    by_column = zip(*values.values(), strict=True)
    pairs = zip(distinct_names([header[at] for at in others]), by_column, strict=True)
    return {name: [cell or "" for cell in cells] for name, cells in pairs if None not in cells}


def make_graphs(
    values: Sequence[Any],
    labels: list[str] | None,
    types: list[str] | None,
    varying: Iterable[str],
    where: str,
    directed: bool | None,
) -> ParsedFile:
    """The graphs of the columns source, target and perhaps graph; labels, edge types and unused columns likewise."""
    unused = tuple(unused_edges(varying, "column"))
    colors = None if types is None else _edge_colors(types, where)

    def graph(source: Any, target: Any, edge_colors: Any) -> ParsedGraph:
        return ParsedGraph(*number_vertices(source, target), edge_colors=edge_colors, unused=unused, directed=directed)

    if len(values) == 2:
        y = None if labels is None else parse_labels(_one_label(labels, [0] * len(labels), 1, where))
        return ParsedFile([graph(values[0], values[1], colors)], y)
    number: dict[Any, int] = {}
    codes = np.array([number.setdefault(name, len(number)) for name in values[2]], np.int64)
    order = np.argsort(codes, kind="stable")
    first = offsets(np.bincount(codes, minlength=len(number)))
    source, target = (
        column[order] if isinstance(column, np.ndarray) else [column[row] for row in order.tolist()]
        for column in values[:2]
    )
    colors = None if colors is None else [colors[row] for row in order.tolist()]
    graphs = [
        graph(source[a:b], target[a:b], None if colors is None else colors[a:b]) for a, b in pairwise(first.tolist())
    ]
    y = None if labels is None else parse_labels(_one_label(labels, codes.tolist(), len(number), where))
    return ParsedFile(graphs, y, [str(name) for name in number])


def _edge_colors(types: list[str], where: str) -> list[int] | list[str]:
    """Types of edges as integers, if all are, and else as text; an error for an edge without one."""
    if "" in types:
        raise GraphError(f"{where}: edge {types.index('')} has no type; give every edge one, or name another column.")
    return [int(name) for name in types] if all(map(is_integer_text, types)) else types


def number_vertices(source: Any, target: Any) -> tuple[int, IntArray, IntArray]:
    """The number of vertices, and both ends of the edges as 0, 1, ...: numbers by value, names as they appear."""
    if all(isinstance(column, np.ndarray) and column.dtype.kind in "iu" for column in (source, target)):
        present, ends = np.unique(np.stack([source, target]), return_inverse=True)
        ends = ends.reshape(2, -1)
        return len(present), ends[0], ends[1]
    number: dict[Any, int] = {}
    pairs = zip(source, target, strict=True)
    coded = np.array([number.setdefault(name, len(number)) for pair in pairs for name in pair], np.int64)
    return len(number), coded[::2], coded[1::2]


def find_delimiter(line: bytes) -> str | None:
    """What separates the columns: a comma, a tab or a semicolon; None for spaces."""
    return next((mark.decode() for mark in (b",", b"\t", b";") if mark in line), None)


def text_rows(data: bytes, where: str, delimiter: str | None) -> Iterator[tuple[int, list[str]]]:
    """The line number and the fields of every line that is not blank."""
    text = decode(data, where)
    if delimiter is None:
        return ((number, line.split()) for number, line in enumerate(text.split("\n"), 1) if line.strip())
    return _csv_rows(text, where, delimiter)


def _csv_rows(text: str, where: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for row in reader:
            fields = [field.strip() for field in row]
            if any(fields):
                yield reader.line_num, fields
    except csv.Error as error:
        raise GraphError(f"{where}, line {reader.line_num}: not a table with a header: {error}.") from None


def column_position(header: Sequence[str], name: str, where: str) -> int:
    """Where a column is; an error that lists the columns if it is not there."""
    if name not in header:
        raise GraphError(f"{where}: there is no column {name!r}; the columns are {format_columns(header)}.")
    return list(header).index(name)


def format_columns(header: Sequence[str]) -> str:
    """The first columns of a table, for an error message."""
    return ", ".join(name[:40] for name in header[:_MAX_COLUMNS_SHOWN]) + (
        ", ..." if len(header) > _MAX_COLUMNS_SHOWN else ""
    )


def distinct_names(names: Sequence[str]) -> list[str]:
    """The names with a number after those that occurred before.

    >>> distinct_names(["a", "b", "a", "a.1"])
    ['a', 'b', 'a.1', 'a.1.1']
    """
    found: list[str] = []
    for name in names:
        candidates = (name if number == 0 else f"{name}.{number}" for number in count())
        found.append(next(candidate for candidate in candidates if candidate not in found))
    return found


def is_integer_text(field: str) -> bool:
    """Whether a field is an integer in digits.

    >>> is_integer_text("-3"), is_integer_text("1_0"), is_integer_text("1.0")
    (True, False, False)
    """
    return re.fullmatch(r"[+-]?[0-9]{1,18}", field, re.ASCII) is not None


def _vertices(ends: list[list[str]], lines: list[int], where: str) -> list[Any]:
    """Vertex numbers if the first edge has two, and else names; numbers must stay numbers."""
    if not all(is_integer_text(column[0]) for column in ends):
        return ends
    for column in ends:
        for number, field in zip(lines, column, strict=True):
            if not is_integer_text(field) or int(field) < 0:
                raise GraphError(
                    f"{where}, line {number}: expected a vertex number as in the first edge; got {field!r:.40}. To use "
                    "numbers and others as names, pass pandas.read_csv(file, dtype=str) to GraphSet.from_pandas."
                )
    return [np.array(column, np.int64) for column in ends]


def _one_label(labels: list[str], codes: list[int], graphs: int, where: str) -> list[str]:
    """The label of every graph; an error if its rows differ."""
    found: dict[int, str] = {}
    for row, (graph, label) in enumerate(zip(codes, labels, strict=True)):
        if not label:
            raise GraphError(f"{where}: edge {row} has no label; leave out graphs without one.")
        if found.setdefault(graph, label) != label:
            raise GraphError(
                f"{where}: edge {row} has the label {label!r:.60} and another edge of its graph {found[graph]!r:.60}; "
                "expected one label per graph."
            )
    return [found[graph] for graph in range(graphs)]


def _varying(rows: Iterable[tuple[int, list[str]]], columns: list[int]) -> list[int]:
    """Those of the columns that have several values."""
    first: dict[int, str] = {}
    found: set[int] = set()
    for _, row in rows:
        for at in columns:
            if at not in found and at < len(row) and first.setdefault(at, row[at]) != row[at]:
                found.add(at)
        if len(found) == len(columns):
            break
    return sorted(found)


def _frame_column(frame: Any, at: int) -> NDArray[Any]:
    column = frame.iloc[:, at]
    if column.isna().any():
        row = int(np.flatnonzero(column.isna())[0])
        raise GraphError(f"The column {frame.columns[at]!r} has no value in row {row}; leave such rows out.")
    return np.asarray(column.to_numpy())


def _frame_vertices(frame: Any, at: int) -> NDArray[Any]:
    """Vertex numbers or names; floats that are integers become numbers, since pandas makes floats of them."""
    values = _frame_column(frame, at)
    if values.dtype.kind == "f" and (values == np.rint(values)).all():
        values = values.astype(np.int64)
    is_name = values.dtype.kind in "OU" and all(isinstance(value, (str, int, np.integer)) for value in values)
    if not is_name and (values.dtype.kind not in "iu" or (values < 0).any()):
        raise GraphError(
            f"The column {frame.columns[at]!r} of the DataFrame must hold vertex numbers from 0 or names (strings); "
            f"got {values.dtype} such as {values[0]!r:.40}."
        )
    return values
