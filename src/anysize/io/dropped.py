"""What graphs of other libraries hold and a GraphSet does not: told in one warning per set, where it tells vertices,
edges or directions apart. What is the same everywhere is no loss.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphWarning, warn_user
from anysize.graphs.graphset import GraphSet

# where a vertex is drawn, what it is called, and its side where the edges tell it: there in graphs that nobody colored
NO_CATEGORIES = frozenset({"pos", "position", "layout", "x", "y", "z", "lat", "lon", "id", "name", "bipartite"})
_SHOWN = 3


def tell(sentences: Iterable[str]) -> None:
    """One warning with all sentences; none if there are none."""
    told = "; ".join(sentences)
    if told:
        warn_user(f"{told[0].upper()}{told[1:]}.", GraphWarning)


def of_networkx(items: Sequence[Any], color: str | None) -> Iterable[str]:
    """What is left unused of networkx graphs."""
    if color is None:
        vertices = varying(own for item in items for _, own in item.nodes(data=True))
        yield from unused_vertices(vertices - NO_CATEGORIES)
    yield from unused_edges(varying(own for item in items for *_, own in item.edges(data=True)))
    yield from _directions(item.edges() for item in items if item.is_directed())


def of_igraph(items: Sequence[Any], color: str | None) -> Iterable[str]:
    """What is left unused of igraph graphs."""
    if color is None:
        yield from unused_vertices(varying(own for item in items for own in _records(item.vs)) - NO_CATEGORIES)
    yield from unused_edges(varying(own for item in items for own in _records(item.es)))
    yield from _directions(item.get_edgelist() for item in items if item.is_directed())


def unused_vertices(names: Iterable[str], word: str = "attribute", condition: str = "") -> Iterable[str]:
    """The sentence about vertex attributes, if there are any."""
    found = sorted(map(str, names))
    if found:
        one = len(found) == 1
        yield (
            f"vertices have the {_named(found, word)}, which {'is' if one else 'are'} not used; pass "
            f"color={found[0]!r}{'' if one else ', or another,'} to use it{condition}"
        )


def unused_edges(names: Iterable[str], word: str = "attribute") -> Iterable[str]:
    """The sentence about edge attributes, weights among them, if there are any."""
    found = sorted(map(str, names))
    if found:
        yield f"edges have the {_named(found, word)}, which {'is' if len(found) == 1 else 'are'} not used"


def unused_weights(weights: Sequence[NDArray[Any]], graphs: GraphSet) -> Iterable[str]:
    """The sentence about the weights of matrices, if there are several; correlations join every pair of vertices."""
    if rows_vary(weights):
        full = int(((graphs.sizes > 2) & (2 * graphs.edge_counts == graphs.sizes * (graphs.sizes - 1))).sum())
        among = f"{full} of {len(graphs)} graph{'' if len(graphs) == 1 else 's'}"
        everywhere = (
            f", and in {among} every pair of vertices is joined; set weak weights to 0 first, such as "
            "matrix * (abs(matrix) > 0.5)"
        )
        yield f"weights of edges are not used: any non-zero is an edge{everywhere if full else ''}"


def varying(records: Iterable[Mapping[str, Any]]) -> set[str]:
    """The attributes that tell records apart: those with several values, or that only some records have.

    >>> sorted(varying([{"kind": "C", "weight": 1}, {"kind": "O", "weight": 1, "marked": True}]))
    ['kind', 'marked']
    """
    first: dict[str, Any] = {}
    amounts: Counter[str] = Counter()
    found: set[str] = set()
    total = 0
    for record in records:
        total += 1
        for name, value in record.items():
            amounts[name] += 1
            if name not in found and _differ(first.setdefault(name, value), value):
                found.add(name)
    return found | {name for name, amount in amounts.items() if amount < total}


def rows_vary(arrays: Iterable[NDArray[Any]]) -> bool:
    """Whether the rows of all arrays together have more than one value.

    >>> import numpy as np
    >>> rows_vary([np.ones((3, 2)), np.ones((1, 2))]), rows_vary([np.ones(3), np.zeros(1)])
    (False, True)
    """
    tables = [array.reshape(len(array), -1) for array in arrays if array.ndim and len(array)]
    return any(table.shape[1] != tables[0].shape[1] or bool((table != tables[0][0]).any()) for table in tables)


def _records(elements: Any) -> Iterable[Mapping[str, Any]]:
    """The attributes of the vertices or the edges of an igraph graph."""
    if not elements.attributes():
        return repeat({}, len(elements))
    return (element.attributes() for element in elements)


def _directions(edges: Iterable[Iterable[tuple[Any, Any]]]) -> Iterable[str]:
    for pairs in map(set, edges):
        if any((v, u) not in pairs for u, v in pairs):
            yield "directions of edges are not used"
            return


def _differ(value: Any, other: Any) -> bool:
    if value is other:
        return False
    try:
        return bool(np.any(value != other))
    except (TypeError, ValueError):  # values that do not compare, such as arrays of two shapes
        return True


def _named(names: list[str], word: str) -> str:
    shown = ", ".join(repr(name) for name in names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
    return f"{word}{'' if len(names) == 1 else 's'} {shown}"
