"""Which library an object comes from, told by its class, so that the library itself is never imported."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from anysize.graphs import GraphSet

Kind: TypeAlias = Literal["graphset", "networkx", "igraph", "pyg", "scipy"]

# (top-level package, class name) of the base class that every graph of a kind has.
_BASES: dict[tuple[str, str], Kind] = {
    ("networkx", "Graph"): "networkx",
    ("igraph", "Graph"): "igraph",
    ("torch_geometric", "Data"): "pyg",
    ("scipy", "sparray"): "scipy",
    ("scipy", "spmatrix"): "scipy",
}

TITLES: dict[Kind, str] = {
    "graphset": "GraphSet",
    "networkx": "networkx graph",
    "igraph": "igraph graph",
    "pyg": "PyG Data",
    "scipy": "scipy sparse matrix",
}


def kind_of(value: Any) -> Kind | None:
    """The kind of a graph, or None for anything else.

    >>> from scipy.sparse import eye_array
    >>> kind_of(eye_array(3)), kind_of([1, 2])
    ('scipy', None)
    """
    if isinstance(value, GraphSet):
        return "graphset"
    for base in type(value).__mro__:
        kind = _BASES.get((base.__module__.partition(".")[0], base.__name__))
        if kind is not None:
            return kind
    return None


def type_name(value: Any) -> str:
    """How an error message names the type of a value: 'networkx.Graph', 'list'."""
    module = type(value).__module__.partition(".")[0]
    return type(value).__name__ if module == "builtins" else f"{module}.{type(value).__name__}"
