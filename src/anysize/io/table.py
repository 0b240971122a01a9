"""Edge tables: one row per edge and named columns, in a text file with a header line or in a pandas DataFrame.

With a column ``graph`` a table holds several graphs, in the order in which they appear. A column such as ``type`` or
``relation``, or the one that ``edge_color`` names, holds the colors of edges. Other columns are not used; one warning
names those that have several values. Vertices are numbered by value (numbers) or in order of appearance (names).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError
from anysize._typing import IntArray
from anysize.graphs.ragged import offsets
from anysize.io.reader import Library, ParsedGraph, ParsedSet, ReadOptions, name_array
from anysize.io.text import decode, first_line, parse_fast, parse_labels, strip_comments
from anysize.io.values import unused_edges

END_NAMES = (  # the columns with the two ends of an edge, in lower case without spaces and underscores
    ("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"), ("i", "j"), ("start", "end"),
    ("node1", "node2"), ("vertex1", "vertex2"), ("id1", "id2"), ("sourceid", "targetid"), ("fromid", "toid"),
    ("fromnode", "tonode"), ("fromnodeid", "tonodeid"),
)  # fmt: skip
GRAPH_NAMES = ("graph", "graphid")
TYPE_NAMES = ("type", "edgetype", "edgecolor", "relation", "bondtype")  # the column with the color of an edge
_MAX_COLUMNS_SHOWN = 10


class EdgeColumns(NamedTuple):
    """The positions of the columns of an edge table; None for those that it does not have."""

    source: int
    target: int
    graph: int | None = None
    label: int | None = None
    type: int | None = None

    @property
    def used(self) -> dict[str, int]:
        """The columns that the table has."""
        return {name: at for name, at in self._asdict().items() if at is not None}

    def others(self, header: Sequence[str]) -> list[int]:
        """The positions of all other columns."""
        return [at for at in range(len(header)) if at not in self]


def find_columns(header: Sequence[Any]) -> EdgeColumns | None:
    """Where the ends of the edges (and the graph) are; None if these names are no header of an edge table.

    >>> find_columns(["graph", "Source", "Target", "weight"]), find_columns(["a", "b"])
    (EdgeColumns(source=1, target=2, graph=0, label=None, type=None), None)
    """
    names = list(map(_plain, header))
    for source, target in END_NAMES:
        if source in names and target in names:
            return EdgeColumns(names.index(source), names.index(target), _first_of(GRAPH_NAMES, names))
    return None


def _with_values(columns: EdgeColumns, header: Sequence[str], options: ReadOptions, where: str) -> EdgeColumns:
    """Also the columns of labels and of types: those that options name, or for types one with a common name."""
    named = options.one_label(where)
    label = None if named is None else column_position(header, named, where)
    kind = options.edge_color
    types = _first_of(TYPE_NAMES, list(map(_plain, header))) if kind is None else column_position(header, kind, where)
    return columns._replace(label=label, type=types)


def _plain(name: Any) -> str:
    return re.sub(r"[\s_\"']", "", str(name)).lower()


def _first_of(names: Iterable[str], header: list[str]) -> int | None:
    return next((header.index(name) for name in names if name in header), None)


def parse_frames(frames: Sequence[Any], options: ReadOptions) -> ParsedSet:
    """The graphs in data frames with one row per edge."""
    parts = [_parse_frame(frame, options) for frame in frames]
    graphs = [graph for part in parts for graph in part.graphs]
    names = [name for part in parts for name in part.names or ()]
    y = None if options.y is None else parse_labels([str(label) for part in parts for label in part.y])
    unused = [clause for part in parts for clause in part.unused]
    return ParsedSet(graphs, y, names if len(names) == len(graphs) else None, unused)


EDGE_TABLE = Library(
    "a pandas DataFrame", frozenset({("pandas", "DataFrame")}), parse_frames, takes_color=False,
    recognizes=lambda frame: find_columns(list(frame.columns)) is not None,
)  # fmt: skip


def _parse_frame(frame: Any, options: ReadOptions) -> ParsedSet:
    header = [str(name) for name in frame.columns]
    ends = find_columns(header)
    if ends is None:
        raise GraphError(
            f"Expected a DataFrame with the columns source and target; got {format_columns(header)}. Rename two "
            "columns, or pass an adjacency matrix to GraphSet.from_scipy."
        )
    if not len(frame):
        raise GraphError("The DataFrame holds no edges: expected one row per edge.")
    columns = _with_values(ends, header, options, "the DataFrame")
    values: dict[str, Any] = {name: _frame_column(frame, at) for name, at in columns.used.items()}
    for name in ("source", "target"):
        values[name] = _frame_vertices(values[name], header[columns.used[name]])
    for name in {"label", "type"} & set(values):
        values[name] = list(map(str, values[name]))
    varying = [header[at] for at in columns.others(header) if frame.iloc[:, at].astype(str).nunique() > 1]
    return _make_graphs(values, varying, "the DataFrame", options.directed)


def parse_table(data: bytes, where: str, options: ReadOptions) -> ParsedSet:
    """The graphs in a text table without comments whose first line is a header."""
    _, line = first_line(data)
    delimiter = find_delimiter(line)
    rows = text_rows(data, where, delimiter)
    header = next(rows, (0, []))[1]
    if len(header) < 2:
        raise GraphError(f"{where}: expected the names of two columns or more in the first line; got {line[:40]!r}.")
    columns = _with_values(find_columns(header) or EdgeColumns(0, 1), header, options, where)
    others = columns.others(header)
    varying = [header[at] for at in _varying(rows, others)] if others else []
    if columns.label is None and columns.type is None and b'"' not in data:
        used = columns.used
        table = parse_fast(data[data.index(line) + len(line) :], tuple(used.values()), delimiter=delimiter)
        if table is not None and (table[:, :2] >= 0).all():
            return _make_graphs(dict(zip(used, table.T, strict=True)), varying, where, options.directed)
    needed = max(columns.used.values()) + 1
    required = [at for at in columns[:3] if at is not None]
    numbers, kept = [], []
    for number, row in text_rows(data, where, delimiter):
        if len(row) < needed or not all(row[at] for at in required):
            raise GraphError(
                f"{where}, line {number}: expected a value in each of the columns "
                f"{format_columns([header[at] for at in required])}; got {row!s:.60}."
            )
        numbers.append(number)
        kept.append(row)
    if len(kept) < 2:
        raise GraphError(f"{where} holds no edges: expected lines after the header {format_columns(header)}.")
    values: dict[str, Any] = {name: [row[at] for row in kept[1:]] for name, at in columns.used.items()}
    values |= _vertices({name: values[name] for name in ("source", "target")}, numbers[1:], where)
    return _make_graphs(values, varying, where, options.directed)


def graph_columns(data: bytes, where: str) -> dict[str, list[str]]:
    """What a table of edges says of its graphs: the columns with one value per graph; none without a column graph."""
    data = strip_comments(data)
    rows = (row for _, row in text_rows(data, where, find_delimiter(first_line(data)[1])))
    header = next(rows, [])
    columns = find_columns(header)
    if columns is None or columns.graph is None:
        return {}
    values: dict[str, list[str | None]] = {}
    others = columns.others(header)
    for row in rows:
        cells = [row[at] if at < len(row) else "" for at in others]
        known = values.setdefault(row[columns.graph], [*cells])
        values[row[columns.graph]] = [old if old == new else None for old, new in zip(known, cells, strict=True)]
    by_column = zip(*values.values(), strict=True)
    pairs = zip(distinct_names([header[at] for at in others]), by_column, strict=True)
    return {name: [cell or "" for cell in cells] for name, cells in pairs if None not in cells}


def _make_graphs(values: Mapping[str, Any], varying: Iterable[str], where: str, directed: bool | None) -> ParsedSet:
    """The graphs of the columns of an `EdgeColumns`; ``varying`` are the names of columns that are not used."""
    source, target = values["source"], values["target"]
    colors = None if "type" not in values else _edge_colors(values["type"], where)
    names: dict[Any, int] = {}
    codes = np.zeros(len(source), np.int64)
    if "graph" in values:
        codes = np.array([names.setdefault(name, len(names)) for name in values["graph"]], np.int64)
    first = offsets(np.bincount(codes))
    if len(first) > 2:
        order = np.argsort(codes, kind="stable")
        source, target, colors = (_take(column, order) for column in (source, target, colors))
    graphs = []
    for a, b in pairwise(first.tolist()):
        graph = number_vertices(source[a:b], target[a:b])
        graphs.append(replace(graph, edge_colors=None if colors is None else colors[a:b], directed=directed))
    y = None if "label" not in values else parse_labels(_one_label(values["label"], codes.tolist(), len(graphs), where))
    return ParsedSet(graphs, y, list(map(str, names)) or None, unused_edges(varying, "column"))


def _take(column: Any, rows: IntArray) -> Any:
    """These rows of an array, of a list, or of None."""
    if column is None or isinstance(column, np.ndarray):
        return None if column is None else column[rows]
    return [column[row] for row in rows.tolist()]


def _edge_colors(types: list[str], where: str) -> list[int] | list[str]:
    """Types of edges as integers, if all are, and else as text; an error for an edge without one."""
    if "" in types:
        raise GraphError(f"{where}: edge {types.index('')} has no type; give every edge one, or name another column.")
    return [int(name) for name in types] if all(map(is_integer_text, types)) else types


def number_vertices(source: Any, target: Any) -> ParsedGraph:
    """The graph of edges with vertices 0, 1, ...: numbers by value, names as they appear."""
    if all(isinstance(column, np.ndarray) and column.dtype.kind in "iu" for column in (source, target)):
        present, ends = np.unique(np.stack([source, target]), return_inverse=True)
        ends = ends.reshape(2, -1)
        return ParsedGraph(len(present), ends[0], ends[1], vertex_names=number_names(present))
    number: dict[Any, int] = {}
    pairs = zip(source, target, strict=True)
    coded = np.array([number.setdefault(name, len(number)) for pair in pairs for name in pair], np.int64)
    return ParsedGraph(len(number), coded[::2], coded[1::2], vertex_names=name_array(number))


def number_names(present: IntArray) -> IntArray | None:
    """Different vertex numbers in ascending order as names; None if they are 0, 1, ..."""
    return None if not len(present) or (present[0] == 0 and present[-1] == len(present) - 1) else present


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
    distinct: list[str] = []
    for name in names:
        candidates = (name if number == 0 else f"{name}.{number}" for number in count())
        distinct.append(next(candidate for candidate in candidates if candidate not in distinct))
    return distinct


def is_integer_text(field: str) -> bool:
    """Whether a field is an integer in digits.

    >>> is_integer_text("-3"), is_integer_text("1_0"), is_integer_text("1.0")
    (True, False, False)
    """
    return re.fullmatch(r"[+-]?[0-9]{1,18}", field, re.ASCII) is not None


def _vertices(ends: dict[str, list[str]], lines: list[int], where: str) -> dict[str, Any]:
    """Vertex numbers if the first edge has two, and else names; numbers must stay numbers."""
    if not all(is_integer_text(column[0]) for column in ends.values()):
        return ends
    for column in ends.values():
        for number, field in zip(lines, column, strict=True):
            if not is_integer_text(field) or int(field) < 0:
                raise GraphError(
                    f"{where}, line {number}: expected a vertex number as in the first edge; got {field!r:.40}. To use "
                    "numbers and others as names, pass pandas.read_csv(file, dtype=str) to GraphSet.from_pandas."
                )
    return {name: np.array(column, np.int64) for name, column in ends.items()}


def _one_label(labels: list[str], codes: list[int], graphs: int, where: str) -> list[str]:
    """The label of every graph; an error if its rows differ."""
    label_of: dict[int, str] = {}
    for row, (graph, label) in enumerate(zip(codes, labels, strict=True)):
        if not label:
            raise GraphError(f"{where}: edge {row} has no label; leave out graphs without one.")
        if label_of.setdefault(graph, label) != label:
            raise GraphError(
                f"{where}: edge {row} has the label {label!r:.60} and another edge of its graph "
                f"{label_of[graph]!r:.60}; expected one label per graph."
            )
    return [label_of[graph] for graph in range(graphs)]


def _varying(rows: Iterable[tuple[int, list[str]]], columns: list[int]) -> list[int]:
    """Those of the columns that have several values."""
    first: dict[int, str] = {}
    several: set[int] = set()
    for _, row in rows:
        for at in columns:
            if at not in several and at < len(row) and first.setdefault(at, row[at]) != row[at]:
                several.add(at)
        if len(several) == len(columns):
            break
    return sorted(several)


def _frame_column(frame: Any, at: int) -> NDArray[Any]:
    column = frame.iloc[:, at]
    if column.isna().any():
        row = int(np.flatnonzero(column.isna())[0])
        raise GraphError(f"The column {frame.columns[at]!r} has no value in row {row}; leave such rows out.")
    return np.asarray(column.to_numpy())


def _frame_vertices(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Vertex numbers or names; floats that are integers become numbers, since pandas makes floats of them."""
    if values.dtype.kind == "f" and (values == np.rint(values)).all():
        values = values.astype(np.int64)
    is_name = values.dtype.kind in "OU" and all(isinstance(value, (str, int, np.integer)) for value in values)
    if not is_name and (values.dtype.kind not in "iu" or (values < 0).any()):
        raise GraphError(
            f"The column {name!r} of the DataFrame must hold vertex numbers from 0 or names (strings); "
            f"got {values.dtype} such as {values[0]!r:.40}."
        )
    return values
