"""`read_rows`: every row of an input, also those that hold no graph. Training leaves such rows out; predictions do not.

Tables of SMILES, lines of SMILES and JSON lines have a graph on each row. In all other inputs every graph is a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from anysize._errors import GraphError
from anysize.graphs.graphset import GraphSet
from anysize.io.join import join_graphs
from anysize.io.read import parse_source, recognize
from anysize.io.reader import ParsedGraph, ParsedSet, ReadOptions


@dataclass(frozen=True, eq=False)
class GraphRows:
    """The rows of an input in their order.

    Attributes:
        graphs: those that could be read, in order and without labels.
        names: (rows,) of the graphs.
        problems: (rows,) why a row has no graph; empty for rows with one.
        labels: (rows,) None where there is none; None if no row has a label. With several targets a tuple for each row.
        columns: what else the input holds, by name: (rows,) values, None where a row has none.
        targets: the names of several targets.
    """

    graphs: GraphSet
    names: Sequence[str]
    problems: Sequence[str]
    labels: Sequence[Any] | None
    columns: dict[str, list[Any]]
    targets: Sequence[str] = ()

    @staticmethod
    def of(graphs: GraphSet) -> GraphRows:
        """Every graph of a set as a row."""
        names = list(map(str, range(len(graphs)))) if graphs.names is None else list(graphs.names)
        labels = None if graphs.y is None else _labels(graphs.y.tolist(), graphs.targets)
        return GraphRows(graphs.with_y(None), names, [""] * len(graphs), labels, {}, graphs.targets)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def read(self) -> list[int]:
        """The positions of the rows that have a graph."""
        return [position for position, problem in enumerate(self.problems) if not problem]


def read_rows(path: Path, **options: Any) -> GraphRows:
    """The rows of a file or folder; the options are those of `read_graphs`."""
    parsed = parse_source(path, ReadOptions(**options), rows=True)
    return GraphRows.of(parsed) if isinstance(parsed, GraphSet) else join_rows(parsed, str(path))


def parse_rows(data: bytes, name: str, where: str, **options: Any) -> GraphRows:
    """The rows of a text that is in no file; ``name`` has the ending of its format."""
    if not data.strip():
        raise GraphError(f"{where} is empty; expected a graph on every line.")
    read_options = ReadOptions(**options)
    form = recognize(data, name, where, read_options)
    if not form.has_rows:
        raise GraphError(f"{where}: expected a SMILES or a JSON object on every line.")
    return join_rows(form.parse(data, where, read_options), where)


def join_rows(parsed: ParsedSet, where: str) -> GraphRows:
    """Rows as read, with the graphs in one set; an error if no row has a graph."""
    problems = list(parsed.problems) or [""] * len(parsed.graphs)
    try:
        graphs = _join(parsed, problems)
    except GraphError:  # some graph cannot be in any set
        problems = [problem or _problem(graph) for problem, graph in zip(problems, parsed.graphs, strict=True)]
        if not all(problems):
            try:
                graphs = _join(parsed, problems)
            except GraphError as error:
                raise GraphError(f"{where}: {error}") from None
    if all(problems):
        line = f"in line {parsed.lines[0]}, " if parsed.lines else ""
        raise GraphError(f"{where}: no row has a graph that can be read; {line}{problems[0]}.")
    names = parsed.names or list(map(str, range(len(problems))))
    labels = None if parsed.y is None else _labels([*parsed.y], parsed.targets)
    columns = {name: list(values) for name, values in parsed.columns.items()}
    return GraphRows(graphs, names, problems, labels, columns, parsed.targets)


def _join(parsed: ParsedSet, problems: Sequence[str]) -> GraphSet:
    """The graphs of the rows without a problem; columns that no graph uses are kept, and need no warning."""
    read = [row for row, problem in enumerate(problems) if not problem]
    names = None if parsed.names is None else [parsed.names[row] for row in read]
    graphs = [parsed.graphs[row] for row in read]
    return join_graphs(replace(parsed, graphs=graphs, y=None, targets=(), names=names), warn=not parsed.problems)


def _problem(graph: ParsedGraph | None) -> str:
    """Why a graph cannot be in a set; empty if it can."""
    try:
        join_graphs(ParsedSet([graph]), warn=False)
    except GraphError as error:
        return str(error).removeprefix("Graph 0").lstrip(": ,").removesuffix(".")
    return ""


def _labels(values: Sequence[Any], targets: Sequence[str]) -> list[Any] | None:
    """The labels of the rows, or tuples of their targets; None if no row has any."""
    labels = [tuple(map(_label, value)) if targets and value is not None else _label(value) for value in values]
    none = (None, (None,) * len(targets))
    return labels if any(label not in none for label in labels) else None


def _label(value: Any) -> Any:
    """The label of a row; None for what is none, such as NaN or a list."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float) and value == value else None
