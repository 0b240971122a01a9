"""Read sets in the format of the TU collection: a folder or zip file with NAME_A.txt, NAME_graph_indicator.txt, ...

More files are read, and written by `to_tu` if they are needed for an exact round trip: ``NAME_node_label_names.txt``,
``NAME_edge_label_names.txt`` and ``NAME_graph_label_names.txt`` hold one JSON value per line, the names of the labels
0, 1, ... in the files of labels; ``NAME_node_attribute_names.txt`` likewise the names of the columns of
``NAME_node_attributes.txt``; ``NAME_edge_directions.txt`` holds the direction of every line of ``NAME_A.txt``: 1 from
the first vertex to the second, 2 from the second to the first, 0 both.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError, GraphWarning, warn_user
from anysize._typing import IntArray
from anysize.graphs.assembly import assemble
from anysize.graphs.attributes import IN, check_features
from anysize.graphs.colors import ColorName, check_palette, encode_colors
from anysize.graphs.graphset import GraphSet
from anysize.io.archive import FileTree
from anysize.io.text import column_count, integer_table, number_table, quote_bytes

MAX_SETS_SHOWN = 20
TARGET_FILES = ("graph_labels", "graph_attributes")
OPTIONAL_FILES = (
    *TARGET_FILES, "graph_label_names", "node_labels", "node_label_names", "node_attributes",
    "node_attribute_names", "edge_labels", "edge_label_names", "edge_directions",
)  # fmt: skip


def check_not_tu_part(path: Path) -> None:
    """Raise an error for one file of a TU set, which looks like an edge list."""
    if path.name.endswith("_A.txt") and path.with_name(path.name[:-6] + "_graph_indicator.txt").exists():
        raise GraphError(f"{path} is one file of a TU set; read the folder {path.parent} instead.")


def find_sets(names: tuple[str, ...]) -> dict[str, str]:
    """The TU sets among these files: set name -> path without ``_A.txt``.

    >>> find_sets(("MUTAG/MUTAG_A.txt", "MUTAG/README.txt", "._MUTAG_A.txt"))
    {'MUTAG': 'MUTAG/MUTAG'}
    """
    stems = [re.fullmatch(r"((?:.*/)?([^./][^/]*))_A\.txt", name) for name in names]
    return {stem[2]: stem[1] for stem in reversed(stems) if stem}


@dataclass(frozen=True)
class _File:
    """The content of one file of a set, and how errors name it."""

    data: bytes
    where: str

    def integers(self, columns: int = 1) -> IntArray:
        return integer_table(self.data, self.where, columns)


def read_tu(
    tree: FileTree, where: str, name: str | None = None, warn: bool = True, y: str | None = None
) -> GraphSet:  # fmt: skip
    """Read the TU set in a folder, its parent or a zip file: labels of vertices and edges become their colors.

    Graph labels become y, or without them graph attributes: a number for each graph, or several targets, one for each
    column. Vertex attributes become features if they are finite. Labels with several columns become one color, a string
    with commas between the columns. Edge attributes, and graph attributes beside labels, are not read; one warning
    names the files. A graph that has a label but no vertices is an empty graph.

    Args:
        tree: the files.
        where: how messages name them.
        name: which set to read, if there are several.
        warn: whether to warn about files that are not read.
        y: graph_labels or graph_attributes, where a set has both.
    """
    if y is not None and y not in TARGET_FILES:
        raise GraphError(f"y= of a TU set is {' or '.join(TARGET_FILES)}; got {y!r}.")
    names = tree.names
    sets = find_sets(names)
    if name is None and len(sets) == 1:
        name = next(iter(sets))
    if name is None and sets:
        several = ", ".join(sorted(sets)[:MAX_SETS_SHOWN])
        raise GraphError(f"{where} holds several TU sets: {several}; choose one with name=, or pass its folder.")
    if name is None or name not in sets:
        raise GraphError(f"{where} holds no TU set: expected {name or 'NAME'}_A.txt.")

    def optional(ending: str) -> _File | None:
        file = f"{sets[name]}_{ending}.txt"
        return _File(tree.read(file), tree.describe(file)) if file in names else None

    def required(ending: str) -> _File:
        file = optional(ending)
        if file is None:
            raise GraphError(f"{where}: the TU set {name} lacks the file {sets[name]}_{ending}.txt.")
        return file

    edges, indicator = required("A"), required("graph_indicator")
    files = {ending: file for ending in OPTIONAL_FILES if (file := optional(ending)) is not None}
    if y is not None:
        required(y)
        files = {ending: file for ending, file in files.items() if ending == y or ending not in TARGET_FILES}
    graphs = _build(edges, indicator, files)
    not_read = ("edge_attributes", *["graph_attributes"] * (y is None and "graph_labels" in files))
    unused = [f"{name}_{ending}.txt" for ending in not_read if f"{sets[name]}_{ending}.txt" in names]
    if "node_attributes" in files and graphs.features is None:
        unused.append(f"{name}_node_attributes.txt, which has values that are not finite")
    if warn and unused:
        warn_user(f"Attributes are not used: {', '.join(unused)}.", GraphWarning)
    return graphs


def _build(edges: _File, indicator: _File, files: dict[str, _File]) -> GraphSet:
    y: NDArray[Any] | None = None
    if "graph_labels" in files:
        y = _graph_labels(files["graph_labels"], files.get("graph_label_names"))
    elif "graph_attributes" in files:
        y = number_table(files["graph_attributes"].data, files["graph_attributes"].where)
    graph = _graph_of_vertex(indicator, None if y is None else len(y))
    source, target = _edge_ends(edges, graph)
    colors, palette = _colors(files, "node", len(graph), "vertex")
    edge_colors, edge_palette = _colors(files, "edge", len(source), "edge")
    features, feature_names = _features(files, len(graph))
    if "edge_directions" in files:
        directions = files["edge_directions"].integers()[:, 0]
        _check_lines(files["edge_directions"], len(directions), len(source), "edge")
        if directions.size and not 0 <= directions.min() <= directions.max() <= IN:
            raise GraphError(f"{files['edge_directions'].where}: expected 0, 1 or 2 on every line.")
        forward = directions != IN
        source, target = source[forward], target[forward]
        edge_colors = None if edge_colors is None else edge_colors[forward]
    sizes = np.bincount(graph, minlength=0 if y is None else len(y))
    if (np.diff(graph) < 0).any():  # the file mixes the graphs: renumber the vertices graph by graph
        order = np.argsort(graph, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        source, target = rank[source], rank[target]
        colors = None if colors is None else colors[order]
        features = None if features is None else features[order]
    graphs = assemble(
        sizes, source, target, colors, palette,
        edge_colors=edge_colors, edge_palette=edge_palette, features=features, feature_names=feature_names,
        directed="edge_directions" in files,
    )  # fmt: skip
    return graphs.with_y(y[:, 0] if y is not None and y.shape[1:] == (1,) else y)


def _graph_of_vertex(indicator: _File, graphs: int | None) -> IntArray:
    """The graph number of every vertex, from 0."""
    graph = indicator.integers()[:, 0] - 1
    wrong = graph < 0 if graphs is None else (graph < 0) | (graph >= graphs)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        allowed = "from 1" if graphs is None else f"from 1 to {graphs}, the number of graph labels"
        raise GraphError(f"{indicator.where}, line {at + 1}: expected a graph number {allowed}; got {graph[at] + 1}.")
    if graphs is None:
        # Without labels the number of graphs is unknown, so every graph number must occur.
        present = np.unique(graph)
        gap = np.flatnonzero(present != np.arange(len(present)))
        if gap.size:
            raise GraphError(
                f"{indicator.where}: no vertex belongs to graph {gap[0] + 1}, and there are no graph labels."
            )
    return graph


def _edge_ends(edges: _File, graph: IntArray) -> tuple[IntArray, IntArray]:
    """Both ends of every edge, numbered from 0."""
    ends = edges.integers(columns=2) - 1
    outside = ((ends < 0) | (ends >= len(graph))).any(axis=1)
    if outside.any():
        at = int(np.flatnonzero(outside)[0])
        pair = f"{ends[at, 0] + 1} and {ends[at, 1] + 1}"
        raise GraphError(f"{edges.where}, line {at + 1}: expected vertices from 1 to {len(graph)}; got {pair}.")
    source, target = ends[:, 0], ends[:, 1]
    across = graph[source] != graph[target]
    if across.any():
        at = int(np.flatnonzero(across)[0])
        raise GraphError(
            f"{edges.where}, line {at + 1}: an edge joins graph {graph[source[at]] + 1} to graph "
            f"{graph[target[at]] + 1}; edges stay inside a graph."
        )
    return source, target


def _graph_labels(labels: _File, names: _File | None) -> NDArray[Any]:
    values = labels.integers()[:, 0]
    if names is None:
        return values
    texts = _names(names)
    if len(set(texts)) < len(texts):
        raise GraphError(f"{names.where}: expected each name once; it repeats a name.")
    if not all(isinstance(text, str) for text in texts):
        raise GraphError(f"{names.where}: expected a JSON string on every line.")
    _check_codes(values, len(texts), labels, names)
    return np.array(texts, np.str_)[values]


def _colors(
    files: dict[str, _File], kind: str, amount: int, element: str
) -> tuple[NDArray[np.uint16] | None, tuple[ColorName, ...]]:
    """The codes and palette of the labels of vertices ("node") or edges ("edge"), if there are any."""
    labels, names = files.get(f"{kind}_labels"), files.get(f"{kind}_label_names")
    if labels is None:
        return None, ()
    columns = column_count(labels.data) if names is None else 1
    table = labels.integers(columns)
    _check_lines(labels, len(table), amount, element)
    if columns > 1:
        rows, inverse = np.unique(table, axis=0, return_inverse=True)
        joined = np.array([",".join(map(str, row)) for row in rows.tolist()], dtype=np.str_)
        return encode_colors(joined[inverse.ravel()], labels.where)
    if names is None:
        return encode_colors(table[:, 0], labels.where)
    in_file = _names(names)
    _check_codes(table[:, 0], len(in_file), labels, names)
    if len(set(in_file)) < len(in_file):
        raise GraphError(f"{names.where}: expected each name once; it repeats a name.")
    palette = check_palette(in_file)
    recode = np.array([palette.index(name) for name in in_file], np.uint16)
    return recode[table[:, 0]], palette


def _features(files: dict[str, _File], vertices: int) -> tuple[NDArray[np.float32] | None, tuple[str, ...]]:
    """The vertex attributes and the names of their columns, if there are any."""
    attributes, names = files.get("node_attributes"), files.get("node_attribute_names")
    if attributes is None:
        return None, ()
    table = number_table(attributes.data, attributes.where)
    _check_lines(attributes, len(table), vertices, "vertex")
    columns = () if names is None else tuple(map(str, _names(names)))
    if names is not None and len(columns) != table.shape[1]:
        raise GraphError(f"{names.where} has {len(columns)} names; expected {table.shape[1]}, one for each column.")
    with np.errstate(over="ignore"):
        is_finite = bool(np.isfinite(table.astype(np.float32)).all())
    return (check_features(table, vertices, attributes.where), columns) if is_finite else (None, ())


def _check_lines(file: _File, lines: int, amount: int, element: str) -> None:
    if lines != amount:
        raise GraphError(f"{file.where} has {lines} lines; expected {amount}, one for each {element}.")


def _names(file: _File) -> list[ColorName]:
    """The JSON strings or integers of a file of names."""
    names: list[ColorName] = []
    for number, line in enumerate(file.data.splitlines(), 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            raise GraphError(
                f"{file.where}, line {number}: expected a JSON string or integer; got {quote_bytes(line)}."
            )
        names.append(value)
    return names


def _check_codes(codes: IntArray, names: int, labels: _File, where: _File) -> None:
    wrong = np.flatnonzero((codes < 0) | (codes >= names))
    if wrong.size:
        raise GraphError(
            f"{labels.where}, line {wrong[0] + 1}: the label {codes[wrong[0]]} has no name; "
            f"{where.where} holds {names} names."
        )
