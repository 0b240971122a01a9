"""`read_rows`: every row of an input, also those that hold no graph. Training leaves such rows out; predictions do not.

Tables of SMILES, lines of SMILES and JSON lines have a graph on each row. In all other inputs every graph is a row.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anysize._errors import GraphError
from anysize.graphs.graphset import GraphSet
from anysize.io.edgelist import parse_edges
from anysize.io.parsed import ParsedRow, join_graphs
from anysize.io.read import read_graphs, read_unpacked, recognize
from anysize.io.table import graph_columns


@dataclass(frozen=True, eq=False)
class GraphRows:
    """The rows of an input in their order.

    Attributes:
        graphs: those that could be read, in order and without labels.
        names: (rows,) of the graphs.
        problems: (rows,) why a row has no graph; empty for rows with one.
        labels: (rows,) None where there is none; None if no row has a label.
        columns: what else the input holds, by name: (rows,) values, None where a row has none.
    """

    graphs: GraphSet
    names: Sequence[str]
    problems: Sequence[str]
    labels: Sequence[Any] | None
    columns: dict[str, list[Any]]

    @staticmethod
    def of(graphs: GraphSet) -> GraphRows:
        """Every graph of a set as a row."""
        names = list(map(str, range(len(graphs)))) if graphs.names is None else list(graphs.names)
        labels = None if graphs.y is None else [None if label != label else label for label in graphs.y.tolist()]
        return GraphRows(graphs.with_y(None), names, [""] * len(graphs), labels, {})

    def __len__(self) -> int:
        return len(self.names)

    @property
    def read(self) -> list[int]:
        """The positions of the rows that have a graph."""
        return [position for position, problem in enumerate(self.problems) if not problem]


def read_rows(path: Path, **options: Any) -> GraphRows:
    """The rows of a file or folder; the options are those of `read_graphs`."""
    given = {key: value for key, value in options.items() if value is not None}
    data = read_unpacked(path) if path.is_file() and not zipfile.is_zipfile(path) else b""
    if not data:
        return GraphRows.of(read_graphs(path, **given))
    form, parse_options = recognize(data, path.name, str(path), given)
    if form.rows is not None:
        return join_rows(form.rows(data, str(path), **parse_options), str(path))
    rows = GraphRows.of(read_graphs(path, **given))
    return replace(rows, columns=graph_columns(data, str(path)) if form.parse is parse_edges else {})


def parse_rows(data: bytes, name: str, where: str, **options: Any) -> GraphRows:
    """The rows of a text that is in no file; ``name`` has the ending of its format."""
    if not data.strip():
        raise GraphError(f"{where} is empty; expected a graph on every line.")
    given = {key: value for key, value in options.items() if value is not None}
    form, parse_options = recognize(data, name, where, given)
    if form.rows is None:
        raise GraphError(f"{where}: expected a SMILES or a JSON object on every line.")
    return join_rows(form.rows(data, where, **parse_options), where)


def join_rows(rows: Sequence[ParsedRow], where: str) -> GraphRows:
    """Rows as read, with the graphs in one set; an error if no row has a graph."""
    problems = [row.problem for row in rows]
    try:
        graphs = _join(rows)
    except GraphError:  # some graph cannot be in any set
        problems = [row.problem or _problem(row) for row in rows]
        graphs = _join([row for row, problem in zip(rows, problems, strict=True) if not problem])
    if all(problems):
        raise GraphError(f"{where}: no row has a graph that can be read; in line {rows[0].line}, {problems[0]}.")
    labels = None if all(row.label is None for row in rows) else [row.label for row in rows]
    columns = dict.fromkeys(name for row in rows for name in row.columns)
    return GraphRows(
        graphs, [row.name for row in rows], problems, labels,
        {name: [row.columns.get(name) for row in rows] for name in columns},
    )  # fmt: skip


def _join(rows: Sequence[ParsedRow]) -> GraphSet:
    read = [(row.name, row.graph) for row in rows if row.graph is not None]
    return join_graphs([graph for _, graph in read], names=[name for name, _ in read])


def _problem(row: ParsedRow) -> str:
    """Why a graph cannot be in a set; empty if it can."""
    try:
        _join([row])
    except GraphError as error:
        return str(error).removeprefix("Graph 0").lstrip(": ,").removesuffix(".")
    return ""
