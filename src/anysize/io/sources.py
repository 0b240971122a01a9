"""Which library an object comes from, told by its class, so that the library itself is never imported."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from anysize.graphs.graphset import GraphSet

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


def is_array(value: Any) -> bool:
    """Whether a value holds an array of numbers: numpy's, a data frame, a tensor; and neither a graph nor a list.

    >>> import numpy as np
    >>> is_array(np.zeros((2, 2))), is_array([[0, 1], [1, 0]])
    (True, False)
    """
    return hasattr(value, "__array__") and kind_of(value) is None and np.ndim(value) > 0


def type_name(value: Any) -> str:
    """How an error message names the type of a value: 'networkx.Graph', 'list'."""
    module = type(value).__module__.partition(".")[0]
    return type(value).__name__ if module == "builtins" else f"{module}.{type(value).__name__}"
