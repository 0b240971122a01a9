"""Warn about what input graphs hold and a GraphSet does not: attributes, weights, directions.

One warning per set, and only for what distinguishes vertices, edges or directions: an attribute with the same value
everywhere is no loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError, GraphWarning, warn_user
from anysize._text import capitalized, plural
from anysize.graphs.graphset import GraphSet
from anysize.io.parsed import ParsedGraph

# Vertex attributes that are no categories: positions in drawings, identifiers, and the side in a bipartite graph.
IDENTIFIERS = frozenset({"pos", "position", "layout", "x", "y", "z", "lat", "lon", "id", "name", "bipartite"})
DIRECTIONS = "edge directions are not used: some edges have no reverse"
_MAX_NAMES_SHOWN = 3


def warn_dropped(clauses: Iterable[str]) -> None:
    """Give one warning with all clauses; none if there are none."""
    message = "; ".join(clauses)
    if message:
        warn_user(f"{capitalized(message)}.", GraphWarning)


def warn_unused(parsed: Sequence[ParsedGraph], graphs: GraphSet) -> None:
    """Give one warning about what these graphs, joined to ``graphs``, had and the set has not, or the reverse."""
    clauses = dict.fromkeys(clause for graph in parsed for clause in graph.unused)
    weights = [graph.weights for graph in parsed if graph.weights is not None]
    edges = [*unused_weights(weights, graphs), *unused_directions(parsed, graphs)]
    warn_dropped([*clauses, *edges, *vertices_below_the_first(parsed)])


def vertices_below_the_first(parsed: Sequence[ParsedGraph]) -> Iterable[str]:
    """The clause about vertex numbers that begin above 0 in most graphs: at 1, or one numbering for all graphs."""
    begins = [
        min(ends.min() for ends in (graph.source, graph.target))
        for graph in parsed
        if graph.size_inferred and len(graph.source)
    ]
    above = sum(first > 0 for first in begins)
    if 2 * above > len(begins):
        among = f"{above} of {len(begins)} graphs" if len(begins) > 1 else "the graph"
        yield (
            f"in {among} vertex 0 has no edge, and all numbers from 0 to the largest one are vertices: number the "
            "vertices of each graph from 0, or give the number of vertices if this is intended"
        )


def unused_directions(parsed: Sequence[ParsedGraph], graphs: GraphSet) -> Iterable[str]:
    """The clause about directions, if some edges come in one direction and others in both.

    Sources that list every edge in both directions by convention (``symmetric``) also have directed edges if none
    has a reverse.
    """
    for graph, edges in zip(parsed, graphs.edge_counts.tolist(), strict=True):
        undirected = {2 * edges} if graph.symmetric else {edges, 2 * edges}
        if len(graph.source) in undirected:
            continue
        ends = graph.source != graph.target
        if int(ends.sum()) in undirected:
            continue
        distinct = np.unique(graph.source[ends] * graph.size + graph.target[ends])
        if len(distinct) not in undirected:
            yield DIRECTIONS
            return


def unused_vertices(names: Iterable[str], word: str = "attribute", condition: str = "") -> Iterable[str]:
    """The clause about vertex attributes, if there are any."""
    found = sorted(map(str, names))
    if found:
        one = len(found) == 1
        yield (
            f"vertices have the {_format_names(found, word)}, which {'is' if one else 'are'} not used; pass "
            f"color={found[0]!r}{'' if one else ', or another,'} to use it{condition}"
        )


def unused_edges(names: Iterable[str], word: str = "attribute") -> Iterable[str]:
    """The clause about edge attributes, weights among them, if there are any."""
    found = sorted(map(str, names))
    if found:
        yield f"edges have the {_format_names(found, word)}, which {'is' if len(found) == 1 else 'are'} not used"


def unused_weights(weights: Sequence[NDArray[Any]], graphs: GraphSet) -> Iterable[str]:
    """The clause about the weights of matrices, if they differ, with advice if graphs are complete (correlations)."""
    if rows_vary(weights):
        complete = int(((graphs.sizes > 2) & (2 * graphs.edge_counts == graphs.sizes * (graphs.sizes - 1))).sum())
        among = f"{complete} of {plural(len(graphs), 'graph')}"
        advice = (
            f", and in {among} every pair of vertices is joined; set weak weights to 0 first, such as "
            "matrix * (abs(matrix) > 0.5)"
        )
        yield f"edge weights are not used: any non-zero entry is an edge{advice if complete else ''}"


def directions(edges: Iterable[Iterable[tuple[Any, Any]]]) -> Iterable[str]:
    """The clause about directions, if some edge of these directed graphs has no reverse."""
    for pairs in map(set, edges):
        if any((v, u) not in pairs for u, v in pairs):
            yield DIRECTIONS
            return


def missing_color(graph: int, vertex: Any, color: str) -> GraphError:
    """The error for a vertex without the color attribute."""
    return GraphError(
        f"Graph {graph}: vertex {vertex!r} has no attribute {color!r}; give every vertex one, or leave out color."
    )


def varying(records: Iterable[Mapping[str, Any]]) -> set[str]:
    """The attributes with several values, or that only some records have.

    >>> sorted(varying([{"kind": "C", "weight": 1}, {"kind": "O", "weight": 1, "marked": True}]))
    ['kind', 'marked']
    """
    first: dict[str, Any] = {}
    occurrences: Counter[str] = Counter()
    found: set[str] = set()
    total = 0
    for record in records:
        total += 1
        for name, value in record.items():
            occurrences[name] += 1
            if name not in found and _differ(first.setdefault(name, value), value):
                found.add(name)
    return found | {name for name, number in occurrences.items() if number < total}


def rows_vary(arrays: Iterable[NDArray[Any]]) -> bool:
    """Whether the rows of all arrays together have more than one value.

    >>> rows_vary([np.ones((3, 2)), np.ones((1, 2))]), rows_vary([np.ones(3), np.zeros(1)])
    (False, True)
    """
    tables = [array.reshape(len(array), -1) for array in arrays if array.ndim and len(array)]
    return any(table.shape[1] != tables[0].shape[1] or bool((table != tables[0][0]).any()) for table in tables)


def _differ(value: Any, other: Any) -> bool:
    if value is other:
        return False
    try:
        return bool(np.any(value != other))
    except (TypeError, ValueError):  # values that do not compare, such as arrays of two shapes
        return True


def _format_names(names: list[str], word: str) -> str:
    shown = ", ".join(map(repr, names[:_MAX_NAMES_SHOWN])) + (", ..." if len(names) > _MAX_NAMES_SHOWN else "")
    return f"{word}{'' if len(names) == 1 else 's'} {shown}"
