"""Values of attributes by name: complete columns, stacked features, and what distinguishes vertices or edges.

An attribute with the same value everywhere is no loss: only others are named where they are not used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError

# Vertex attributes that are no categories: positions in drawings, identifiers, and the side in a bipartite graph.
IDENTIFIERS = frozenset({"pos", "position", "layout", "x", "y", "z", "lat", "lon", "id", "name", "bipartite"})
_MAX_NAMES_SHOWN = 3


def complete(values: Sequence[Any], graph: int, name: str, argument: str, elements: Sequence[Any]) -> list[Any]:
    """The values of an attribute that an argument names; an error for a vertex or an edge without one."""
    for element, value in zip(elements, values, strict=True):
        if value is None:
            kind = "edge" if argument == "edge_color" else "vertex"
            raise GraphError(
                f"Graph {graph}: {kind} {element!r} has no attribute {name!r}; give every {kind} one, or leave out "
                f"{argument}."
            )
    return list(values)


def stack_features(blocks: Sequence[tuple[str, Any]], graph: int) -> tuple[NDArray[Any] | None, tuple[str, ...]]:
    """One table of the numbers, or rows of numbers, that vertices have in each attribute, and names of its columns.

    >>> table, names = stack_features([("charge", [0, 1]), ("at", [[0.5, 1], [2, 3]])], 0)
    >>> table.tolist(), names
    ([[0.0, 0.5, 1.0], [1.0, 2.0, 3.0]], ('charge', 'at_0', 'at_1'))
    """
    tables, names = [], []
    for name, values in blocks:
        try:
            table = np.asarray(values, np.float64)
        except (TypeError, ValueError):
            table = np.zeros(())
        if table.ndim not in (1, 2):
            raise GraphError(
                f"Graph {graph}: expected a number, or as many numbers, for every vertex in the attribute {name!r}; "
                "pass color= for categories."
            )
        tables.append(table.reshape(len(table), -1 if table.size else 1))
        names += [name] if table.ndim == 1 else [f"{name}_{column}" for column in range(table.shape[1])]
    return (np.concatenate(tables, axis=1) if tables else None), tuple(names)


def varying(records: Iterable[Mapping[str, Any]], total: int) -> set[str]:
    """The attributes with several values, or that fewer than ``total`` vertices or edges have.

    >>> sorted(varying([{"kind": "C", "weight": 1}, {"kind": "O", "weight": 1, "marked": True}], 2))
    ['kind', 'marked']
    """
    first: dict[str, Any] = {}
    occurrences: Counter[str] = Counter()
    several: set[str] = set()
    for record in records:
        for name, value in record.items():
            occurrences[name] += 1
            if name not in several and _differ(first.setdefault(name, value), value):
                several.add(name)
    return several | {name for name, number in occurrences.items() if number < total}


def rows_vary(arrays: Iterable[NDArray[Any]]) -> bool:
    """Whether the rows of all arrays together have more than one value.

    >>> rows_vary([np.ones((3, 2)), np.ones((1, 2))]), rows_vary([np.ones(3), np.zeros(1)])
    (False, True)
    """
    tables = [array.reshape(len(array), -1) for array in arrays if array.ndim and len(array)]
    return any(table.shape[1] != tables[0].shape[1] or bool((table != tables[0][0]).any()) for table in tables)


def unused_vertices(names: Iterable[str], word: str = "attribute", condition: str = "") -> Iterator[str]:
    """The clause about vertex attributes that are not used, if there are any."""
    if in_order := sorted(map(str, names)):
        named = f"color={in_order[0]!r}{'' if len(in_order) == 1 else ', or another,'}"
        yield (
            f"vertices have the {_format_names(in_order, word)}; pass {named} to use it{condition}, or "
            f"features={in_order[0]!r} if it holds numbers"
        )


def unused_edges(names: Iterable[str], word: str = "attribute") -> Iterator[str]:
    """The clause about edge attributes that are not used, weights among them, if there are any."""
    if in_order := sorted(map(str, names)):
        named = f"edge_color={in_order[0]!r}{'' if len(in_order) == 1 else ', or another,'}"
        yield f"edges have the {_format_names(in_order, word)}; pass {named} if it holds types of edges"


def _differ(value: Any, other: Any) -> bool:
    if value is other:
        return False
    try:
        return bool(np.any(value != other))
    except (TypeError, ValueError):  # values that do not compare, such as arrays of two shapes
        return True


def _format_names(names: list[str], word: str) -> str:
    shown = ", ".join(map(repr, names[:_MAX_NAMES_SHOWN])) + (", ..." if len(names) > _MAX_NAMES_SHOWN else "")
    return f"{word}{'' if len(names) == 1 else 's'} {shown}, which {'is' if len(names) == 1 else 'are'} not used"
