"""Neighbor lists: the text format in which benchmarks of graph isomorphism networks publish labeled sets.

The first line is the number of graphs. Each graph is a line ``n label`` and n lines ``tag degree neighbors...``, one
per vertex; numbers after the neighbors are vertex attributes, and become features if all vertices have as many. Tags
become colors, unless all are equal.
"""

from __future__ import annotations

import re
import warnings

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError
from anysize._typing import IntArray
from anysize.graphs.ragged import offsets, ranges
from anysize.io.reader import Format, ParsedGraph, ParsedSet, ReadOptions
from anysize.io.text import normalize, quote_bytes

_HEAD = re.compile(rb"\s*[0-9]+[ \t]*\n[ \t]*[1-9][0-9]*[ \t]+[+-]?[0-9]+[ \t]*\n([^\n]*)")
_HEAD_BYTES = 1 << 16
_INTEGER_CHARACTERS = b"0123456789- \t\n"
_MAX_NUMBER = 10**18  # beyond 18 digits an integer may not fit 64 bits
_ATTRIBUTES = "vertex attributes (the numbers after the neighbors) are not used: some vertices have more than others"


def is_neighbor_lists(data: bytes, name: str = "") -> bool:
    """Whether a text begins with the number of graphs, then a number of vertices and a label, then a vertex.

    >>> is_neighbor_lists(b"1\\n2 0\\n0 1 1\\n0 1 0\\n"), is_neighbor_lists(b"0 1\\n1 2\\n")
    (True, False)
    """
    head = normalize(data[:_HEAD_BYTES])
    match = _HEAD.match(head)
    vertex = [] if match is None else match[1].split()
    if match is None or len(vertex) < 2 or not vertex[1].isdigit():
        return False
    is_cut = match.end() == len(head) and len(data) > _HEAD_BYTES  # a vertex with thousands of neighbors
    return is_cut or int(vertex[1]) <= len(vertex) - 2


def parse_neighbor_lists(data: bytes, where: str, options: ReadOptions) -> ParsedSet:
    """The graphs and labels in a file of neighbor lists."""
    values, first = _numbers(normalize(data).strip(), where)
    tokens = np.diff(first)
    vertex_lines, heads = _graph_lines(values, first, tokens, where)
    begin = first[:-1][vertex_lines]
    _check_vertex_lines(values, tokens, begin, vertex_lines, where)
    degree = values[begin + 1].astype(np.int64)
    extra = tokens[vertex_lines] - degree - 2
    width = int(extra[0]) if len(extra) and (extra == extra[0]).all() else 0
    features = values[ranges(begin + degree + 2, np.full(len(begin), width))].reshape(len(begin), width)
    sizes = values[first[:-1][heads]].astype(np.int64)
    neighbors = values[ranges(begin + 2, degree)].astype(np.int64)
    _check_neighbors(neighbors, degree, sizes, vertex_lines, where)
    tags = values[begin].astype(np.int64)
    ends = np.cumsum(sizes)
    last_edge = offsets(degree)
    source = np.repeat(np.arange(len(begin)) - np.repeat(ends - sizes, sizes), degree)
    colored = len(tags) > 0 and bool((tags != tags[0]).any())
    graphs = []
    for size, end in zip(sizes.tolist(), ends.tolist(), strict=True):
        edges, vertices = slice(last_edge[end - size], last_edge[end]), slice(end - size, end)
        graphs.append(
            ParsedGraph(
                size, source[edges], neighbors[edges], tags[vertices] if colored else None,
                features=features[vertices] if width else None, directed=True,
            )
        )  # fmt: skip
    unused = [_ATTRIBUTES] if not width and extra.any() else []
    return ParsedSet(graphs, values[first[:-1][heads] + 1].astype(np.int64), unused=unused)


NEIGHBOR_LISTS = Format("neighbor lists", parse_neighbor_lists, recognizes=is_neighbor_lists)


def _numbers(data: bytes, where: str) -> tuple[NDArray[np.generic], IntArray]:
    """All numbers of the text, and where in them each line begins (with the end of the last)."""
    kind = np.float64 if data.translate(None, _INTEGER_CHARACTERS) else np.int64
    text = np.frombuffer(data, np.uint8)
    blank = text <= 32
    starts = np.flatnonzero(~blank & np.concatenate([[True], blank[:-1]]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # older versions of numpy stop with a warning at text that is no number
            values = np.fromstring(data.decode("latin1"), dtype=kind, sep=" ")
    except (ValueError, DeprecationWarning):
        raise _not_a_number(data, where) from None
    if len(values) != len(starts) or not (np.abs(values) < _MAX_NUMBER).all():
        raise _not_a_number(data, where)
    lines = np.flatnonzero(text == 10)
    return values, np.concatenate([[0], np.searchsorted(starts, lines), [len(starts)]])


def _not_a_number(data: bytes, where: str) -> GraphError:
    for number, line in enumerate(data.split(b"\n"), 1):
        for field in line.split():
            if not re.fullmatch(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", field):
                return GraphError(f"{where}, line {number}: expected numbers; got {quote_bytes(field)}.")
    return GraphError(f"{where}: expected numbers of at most 18 digits.")


def _graph_lines(
    values: NDArray[np.generic], first: IntArray, tokens: IntArray, where: str
) -> tuple[IntArray, IntArray]:
    """The lines of vertices and the first lines of graphs, from 0."""
    graphs, lines = int(values[0]), len(tokens)
    heads, line = [], 1
    for graph in range(graphs):
        pair = values[first[line] : first[line + 1]] if line < lines else values[:0]
        if len(pair) != 2 or (pair != np.rint(pair)).any() or pair[0] < 0:
            got = f"line {line + 1}: got {pair.tolist()!s:.60}" if line < lines else "the file ends before it"
            raise GraphError(
                f"{where}: expected the number of vertices and the label of graph {graph} (of {graphs}); {got}."
            )
        heads.append(line)
        line += int(pair[0]) + 1
    if line != lines:
        problem = "the file ends inside the last graph" if line > lines else f"line {line + 1} follows the last graph"
        raise GraphError(f"{where}: expected {line} lines for {graphs} graphs; {problem}, the file has {lines} lines.")
    is_vertex = np.ones(lines, np.bool_)
    is_vertex[[0, *heads]] = False
    return np.flatnonzero(is_vertex), np.array(heads, np.int64)


def _check_vertex_lines(
    values: NDArray[np.generic], tokens: IntArray, begin: IntArray, lines: IntArray, where: str
) -> None:
    short = tokens[lines] < 2
    at = np.where(short, 0, begin)
    degree = np.where(short, 0, values[np.minimum(at + 1, len(values) - 1)])
    wrong = short | (degree < 0) | (degree + 2 > tokens[lines]) | (degree != np.rint(degree))
    wrong |= values[at] != np.rint(values[at])
    if wrong.any():
        number = int(lines[np.flatnonzero(wrong)[0]])
        raise GraphError(
            f"{where}, line {number + 1}: expected a vertex as tag, degree and as many neighbors as the degree says; "
            f"got {tokens[number]} numbers."
        )


def _check_neighbors(neighbors: IntArray, degree: IntArray, sizes: IntArray, lines: IntArray, where: str) -> None:
    size = np.repeat(np.repeat(sizes, sizes), degree)
    wrong = (neighbors < 0) | (neighbors >= size)
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        line = int(np.repeat(lines, degree)[at])
        raise GraphError(
            f"{where}, line {line + 1}: the neighbor {neighbors[at]} is not a vertex; "
            f"expected 0..{size[at] - 1} in a graph with {size[at]} vertices."
        )
