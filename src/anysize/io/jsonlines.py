"""JSON lines: one graph per line, such as ``{"n": 3, "edges": [[0, 1], [1, 2]], "colors": ["C", "C", "O"], "y": 1}``.

``edges`` is required. ``n`` defaults to the number of colors, or the largest vertex number plus 1. ``colors``,
``edge_colors`` (one per edge), ``features`` (a row of numbers per vertex), ``feature_names``, ``y`` and ``name`` are
given for all graphs or for none. With ``"directed": true`` an edge without its reverse points from its first to its
second vertex. Several targets are an object: ``"y": {"A": 1, "B": null}``; a graph may lack some. The option ``y``
names keys of this object, or of the line, to be the labels.
"""

from __future__ import annotations

import json
from typing import Any

from anysize._errors import GraphError
from anysize.io.edges import likely_vertices, parse_edge_array
from anysize.io.reader import Format, ParsedGraph, ParsedSet, ReadOptions
from anysize.io.text import numbered_lines

KEYS = ("n", "edges", "colors", "edge_colors", "features", "feature_names", "directed", "y", "name")


def is_json_lines(data: bytes, name: str = "") -> bool:
    """Whether a text begins as a JSON object."""
    return data[:4096].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")


def parse_json_lines(data: bytes, where: str, options: ReadOptions) -> ParsedSet:
    """Every line that is not blank; the keys that no graph uses, and the label, are columns."""
    lines = numbered_lines(data, where)
    if not lines:
        raise GraphError(f"{where} holds no graphs: expected one JSON object per line.")
    graphs: list[ParsedGraph | None] = []
    problems, records = [""] * len(lines), [dict[str, Any]() for _ in lines]
    for row, (_, line) in enumerate(lines):
        try:
            records[row] = _record(line)
            graphs.append(_graph(records[row]))
        except GraphError as error:
            problems[row] = str(error).removeprefix("Graph 0: ").removesuffix(".")
            graphs.append(None)
    keys = list(dict.fromkeys(key for record in records for key in record))
    unknown = sorted(set(keys) - set(KEYS))
    values = {key: [record.get(key) for record in records] for key in keys if key in (*unknown, "y", "name")}
    names, y = values.pop("name", []), values.get("y")
    by_name = [label if isinstance(label, dict) else {} for label in y or [None] * len(lines)]
    targets = list(options.targets or dict.fromkeys(name for label in by_name for name in label))
    if options.y is not None:
        by_name = [record | label for record, label in zip(records, by_name, strict=True)]
        held = list(dict.fromkeys(name for label in by_name for name in label if name == "y" or name not in KEYS))
        for name in options.targets or (str(options.y),):
            if name not in held:
                raise GraphError(f"{where}: there is no label {name!r}; the labels are {', '.join(held)[:200] or 'y'}.")
    if options.y is not None and not options.targets:
        y, targets = [label.get(str(options.y)) for label in by_name], []
    elif targets:
        y = [tuple(label.get(name) for name in targets) for label in by_name]
    unknown = [key for key in unknown if key not in (options.targets or (options.y,))]
    return ParsedSet(
        graphs, y,
        [str(row if name is None else name) for row, name in enumerate(names)] or None,
        [f"the keys {', '.join(unknown)} are not used"] if unknown else [],
        problems=problems, lines=[number for number, _ in lines], columns=values,
        targets=targets,
    )  # fmt: skip


JSON_LINES = Format(
    "JSON lines",
    parse_json_lines,
    frozenset({"y"}),
    endings=(".jsonl", ".ndjson"),
    recognizes=is_json_lines,
    has_rows=True,
)


def _record(line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise GraphError(f"expected one JSON object per line; {error}.") from None
    if not isinstance(record, dict) or not isinstance(record.get("edges"), list):
        raise GraphError(f'expected an object with "edges", a list of pairs; got {line!r:.60}.')
    return record


def _graph(record: dict[str, Any]) -> ParsedGraph:
    size, edges = record.get("n"), len(record["edges"])
    if isinstance(size, int) and size > likely_vertices(edges):
        raise GraphError(f"{size} vertices and only {edges} edges; expected at most {likely_vertices(edges)} vertices.")
    directed, names, features = record.get("directed"), record.get("feature_names", []), record.get("features")
    if directed is not None and not isinstance(directed, bool):
        raise GraphError(f'expected "directed" to be true or false; got {directed!r:.40}.')
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise GraphError('expected "feature_names" to be a list of strings.')
    if features is not None and not isinstance(features, list):
        raise GraphError(f'expected "features" to be a list of rows of numbers; got {features!r:.40}.')
    return parse_edge_array(
        record["edges"], 0, size, record.get("colors"), edge_colors=record.get("edge_colors"), features=features,
        feature_names=tuple(names), directed=directed,
    )  # fmt: skip
