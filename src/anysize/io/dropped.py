"""Warn about what input graphs hold and their GraphSet does not: attributes that are not chosen, and weights.

One warning per set, and only for what distinguishes vertices or edges: an attribute with the same value everywhere is
no loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError, GraphWarning, warn_user
from anysize._text import capitalized
from anysize.io.parsed import ParsedGraph

# Vertex attributes that are no categories: positions in drawings, identifiers, and the side in a bipartite graph.
IDENTIFIERS = frozenset({"pos", "position", "layout", "x", "y", "z", "lat", "lon", "id", "name", "bipartite"})
_MAX_NAMES_SHOWN = 3


def warn_dropped(clauses: Iterable[str]) -> None:
    """Give one warning with all clauses; none if there are none."""
    message = "; ".join(clauses)
    if message:
        warn_user(f"{capitalized(message)}.", GraphWarning)


def warn_unused(parsed: Sequence[ParsedGraph]) -> None:
    """Give one warning about what these graphs have and a set of them has not."""
    clauses = dict.fromkeys(clause for graph in parsed for clause in graph.unused)
    weights = [graph.weights for graph in parsed if graph.weights is not None]
    warn_dropped([*clauses, *unused_weights(weights), *vertices_below_the_first(parsed)])


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


def unused_vertices(names: Iterable[str], word: str = "attribute", condition: str = "") -> Iterable[str]:
    """The clause about vertex attributes, if there are any."""
    found = sorted(map(str, names))
    if found:
        one = len(found) == 1
        yield (
            f"vertices have the {_format_names(found, word)}, which {'is' if one else 'are'} not used; pass "
            f"color={found[0]!r}{'' if one else ', or another,'} to use it{condition}, or features={found[0]!r} if it "
            "holds numbers"
        )


def unused_edges(names: Iterable[str], word: str = "attribute") -> Iterable[str]:
    """The clause about edge attributes, weights among them, if there are any."""
    found = sorted(map(str, names))
    if found:
        one = len(found) == 1
        yield (
            f"edges have the {_format_names(found, word)}, which {'is' if one else 'are'} not used; pass "
            f"edge_color={found[0]!r}{'' if one else ', or another,'} if it holds types of edges"
        )


def unused_weights(weights: Sequence[NDArray[Any]]) -> Iterable[str]:
    """The clause about the weights of matrices, if they differ."""
    if rows_vary(weights):
        yield (
            "edge weights are not used: any non-zero entry is an edge; pass threshold= or density= to leave out pairs "
            "with small weights"
        )


def missing(graph: int, element: str, name: str, argument: str) -> GraphError:
    """The error for a vertex or an edge (in words) without an attribute that an argument names."""
    kind = element.partition(" ")[0]
    return GraphError(
        f"Graph {graph}: {element} has no attribute {name!r}; give every {kind} one, or leave out {argument}."
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
