"""JSON lines: one graph per line, such as ``{"n": 3, "edges": [[0, 1], [1, 2]], "colors": ["C", "C", "O"], "y": 1}``.

``edges`` is required. ``n`` defaults to the number of colors, or the largest vertex number plus 1. ``colors``,
``edge_colors`` (one per edge), ``features`` (a row of numbers per vertex), ``feature_names``, ``y`` and ``name`` are
given for all graphs or for none. With ``"directed": true`` an edge without its reverse points from its first to its
second vertex.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from anysize._errors import GraphError
from anysize.io.edges import likely_vertices, parse_edge_array
from anysize.io.parsed import ParsedFile, ParsedGraph, ParsedRow
from anysize.io.text import decode, normalize

KEYS = ("n", "edges", "colors", "edge_colors", "features", "feature_names", "directed", "y", "name")


def is_json_lines(data: bytes) -> bool:
    """Whether a text begins as a JSON object."""
    return data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def parse_json_lines(data: bytes, where: str) -> ParsedFile:
    """The graphs of a file with one JSON object per line."""
    numbered = [(number, line) for number, line in enumerate(decode(normalize(data), where).split("\n"), 1)]
    records = [(number, _record(line, f"{where}, line {number}")) for number, line in numbered if line.strip()]
    if not records:
        raise GraphError(f"{where} holds no graphs: expected one JSON object per line.")
    graphs = [_graph(record, number, where) for number, record in records]
    names, labels = _of_all(records, "name", where), _of_all(records, "y", where)
    for (number, _), label in zip(records, labels or (), strict=False):
        if not isinstance(label, (str, int, float)) or isinstance(label, str) != isinstance(records[0][1]["y"], str):
            raise GraphError(
                f'{where}, line {number}: expected "y" to be all numbers or all strings; got {label!r:.40}.'
            )
    return ParsedFile(graphs, labels, None if names is None else [str(name) for name in names])


def json_rows(data: bytes, where: str) -> list[ParsedRow]:
    """Every line that is not blank, with the keys that no graph uses and the label as columns."""
    rows: list[ParsedRow] = []
    for number, line in enumerate(decode(normalize(data), where).split("\n"), 1):
        if not line.strip():
            continue
        record: dict[str, Any] = {}
        graph, problem, begin = None, "", f"{where}, line {number}"
        try:
            record = _record(line, begin)
            graph = replace(_graph(record, number, where), unused=())
        except GraphError as error:
            problem = str(error).removeprefix(f"{begin}: ").removesuffix(".")
        label = record.get("y")
        if not isinstance(label, (str, int, float)) or label != label:  # NaN
            label = None
        columns = {key: value for key, value in record.items() if key not in KEYS or key == "y"}
        name = record.get("name")
        rows.append(ParsedRow(number, str(len(rows) if name is None else name), graph, problem, label, columns))
    if not rows:
        raise GraphError(f"{where} holds no graphs: expected one JSON object per line.")
    return rows


def _record(line: str, where: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise GraphError(f"{where}: expected one JSON object per line; {error}.") from None
    if not isinstance(record, dict) or not isinstance(record.get("edges"), list):
        raise GraphError(f'{where}: expected an object with "edges", a list of pairs; got {line!r:.60}.')
    return record


def _graph(record: dict[str, Any], number: int, where: str) -> ParsedGraph:
    unknown = sorted(set(record) - set(KEYS))
    unused = (f"the keys {', '.join(unknown)} are not used",) if unknown else ()
    size = record.get("n")
    if isinstance(size, int) and size > likely_vertices(len(record["edges"])):
        raise GraphError(
            f"{where}, line {number}: {size} vertices and only {len(record['edges'])} edges; expected at most "
            f"{likely_vertices(len(record['edges']))} vertices."
        )
    directed, names = record.get("directed"), record.get("feature_names", [])
    if directed is not None and not isinstance(directed, bool):
        raise GraphError(f'{where}, line {number}: expected "directed" to be true or false; got {directed!r:.40}.')
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise GraphError(f'{where}, line {number}: expected "feature_names" to be a list of strings.')
    try:
        graph = parse_edge_array(record["edges"], 0, record.get("n"), record.get("colors"), unused)
        return replace(
            graph, edge_colors=record.get("edge_colors"), features=_features(record), feature_names=tuple(names),
            directed=directed,
        )  # fmt: skip
    except GraphError as error:
        raise GraphError(f"{where}, line {number}: {str(error).removeprefix('Graph 0: ')}") from None


def _features(record: dict[str, Any]) -> Any:
    values = record.get("features")
    if values is not None and not isinstance(values, list):
        raise GraphError(f'expected "features" to be a list of rows of numbers; got {values!r:.40}.')
    return values


def _of_all(records: list[tuple[int, dict[str, Any]]], key: str, where: str) -> list[Any] | None:
    """The values of a key; None if no graph has it, an error if only some have."""
    lacking = [number for number, record in records if record.get(key) is None]
    if not lacking:
        return [record[key] for _, record in records]
    if len(lacking) < len(records):
        raise GraphError(f"{where}, line {lacking[0]}: the graph has no {key!r} and others have; give all or none.")
    return None
