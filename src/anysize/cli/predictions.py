"""The table that `anysize predict` writes: a row for each row of the input, with columns of predictions."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anysize._text import csv_cell, plural
from anysize.cli.shared import note, open_output

if TYPE_CHECKING:
    from anysize.io.rows import GraphRows

GRAPH, REASON = "graph", "reason"


class PredictionFormat(StrEnum):
    csv, json = "csv", "json"


@dataclass(frozen=True)
class PredictionColumn:
    """One prediction for each graph.

    Attributes:
        name: of the column of a CSV file.
        values: (graphs,).
        keys: where a value is in the JSON object of its graph: ``("class",)``, ``("probabilities", "a")``.
    """

    name: str
    values: Sequence[Any]
    keys: tuple[str, ...]


@dataclass(frozen=True)
class PredictionTable:
    """Predictions beside the rows of the input; rows without a graph have the reason instead."""

    rows: GraphRows
    columns: Sequence[PredictionColumn]

    def write(self, out: Path | None, format: PredictionFormat | None, about: dict[str, Any]) -> None:
        """Write to a file or the screen; ``about`` the model goes into JSON. Tell of rows without a graph."""
        with open_output(out) as file:
            if format is PredictionFormat.json:
                file.write(dumps(about | {"graphs": list(self.objects())}) + "\n")
            else:
                csv.writer(file, lineterminator="\n").writerows(self.lines())
        if amount := len(self.rows) - len(self.rows.read):
            where = f"the {'key' if format is PredictionFormat.json else 'column'} {REASON}"
            note(f"{amount} of {plural(len(self.rows), 'row')} without a prediction; {where} says why.")

    def lines(self) -> Iterator[list[Any]]:
        """The cells of a CSV file: the graph, the columns of the input, the predictions, the reason if there is any."""
        rows, predicted = self.rows, [column.name for column in self.columns]
        reasons = [REASON] if any(rows.problems) else []
        taken = {GRAPH, *predicted, *reasons}
        yield [GRAPH, *map(csv_cell, self._input_names(taken)), *map(csv_cell, predicted), *reasons]
        number = {position: graph for graph, position in enumerate(rows.read)}
        for position, name in enumerate(rows.names):
            beside = [_cell(values[position]) for values in rows.columns.values()]
            graph = number.get(position)
            cells = ["" if graph is None else _cell(column.values[graph]) for column in self.columns]
            yield [csv_cell(name), *beside, *cells, *(csv_cell(rows.problems[position]) for _ in reasons)]

    def objects(self) -> Iterator[dict[str, Any]]:
        """A dictionary for JSON for every row, the columns of the input as "input"."""
        rows = self.rows
        number = {position: graph for graph, position in enumerate(rows.read)}
        for position, name in enumerate(rows.names):
            fields: dict[str, Any] = {GRAPH: name}
            if position in number:
                for column in self.columns:
                    *groups, last = column.keys
                    inside = fields
                    for group in groups:
                        inside = inside.setdefault(group, {})
                    inside[last] = column.values[number[position]]
            else:
                fields |= {column.keys[0]: None for column in self.columns} | {REASON: rows.problems[position]}
            if rows.columns:
                fields["input"] = {column: values[position] for column, values in rows.columns.items()}
            yield fields

    def _input_names(self, taken: set[str]) -> list[str]:
        """The names of the columns of the input; those that the table needs itself begin with "input"."""
        return [f"input {name}" if name in taken else name for name in self.rows.columns]


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return csv_cell(dumps(value) if isinstance(value, (dict, list)) else value)
