"""What graphs carry beside their vertices and edges: the table of attributes, and the check of features.

``ATTRIBUTES`` is the one description: parts, sums and checks of a `GraphSet` go through it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from operator import ne
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError
from anysize._schema import is_integer
from anysize._typing import IntArray
from anysize.graphs.ragged import offsets, owners

VERTEX_COLORS, EDGE_COLORS, DIRECTIONS, FEATURES = "vertex colors", "edge colors", "edge directions", "vertex features"


class Attribute(NamedTuple):
    """An array of a `GraphSet`.

    Attributes:
        name: the field that holds it; None there if the set has no such attribute.
        per: what has one row each: a graph, a vertex, or an entry of ``indices`` (an edge, at one of its ends).
        dtype: None for any.
        palette: the field with the names of its codes or columns; empty if there are none.
        title: how messages name what vertices or edges are told apart by.
    """

    name: str
    per: str
    dtype: np.dtype[Any] | None
    palette: str = ""
    title: str = ""


ATTRIBUTES = (
    Attribute("y", "graph", None, "targets"),
    Attribute("colors", "vertex", np.dtype(np.uint16), "palette", VERTEX_COLORS),
    Attribute("edge_colors", "entry", np.dtype(np.uint16), "edge_palette", EDGE_COLORS),
    Attribute("directions", "entry", np.dtype(np.uint8), "", DIRECTIONS),
    Attribute("features", "vertex", np.dtype(np.float32), "feature_names", FEATURES),
    Attribute("vertex_names", "vertex", None),
)
ARRAYS = (  # of a set
    Attribute("first", "graph", np.dtype(np.int64)),  # one row more
    Attribute("indptr", "vertex", np.dtype(np.int64)),  # likewise
    Attribute("indices", "entry", np.dtype(np.uint32)),
    *ATTRIBUTES,
)
TITLES = tuple(attribute.title for attribute in ATTRIBUTES if attribute.title)


def name_array(names: Iterable[Any]) -> NDArray[Any] | None:
    """Names of the vertices of a graph as integers, or else as strings; None if they are 0, 1, ...

    >>> name_array([7, 3]), name_array(["b", 3]), name_array([0, 1])
    (array([7, 3]), array(['b', '3'], dtype=object), None)
    """
    given = list(names)
    if not any(map(ne, given, count())) or not any(map(ne, map(str, given), map(str, count()))):
        return None
    if all(is_integer(name) and abs(name) < 1 << 63 for name in given):
        return np.array(given, np.int64)
    return np.array([str(name) for name in given], object)


def joined_names(names: Sequence[NDArray[Any] | None], sizes: Iterable[IntArray]) -> NDArray[Any] | None:
    """The names of the vertices of several sets; vertices of a set without names are named by their numbers.

    ``sizes``: those of the graphs of each set.
    """
    if all(held is None for held in names):
        return None
    parts = [vertex_numbers(of) if held is None else held for held, of in zip(names, sizes, strict=True)]
    if len({part.dtype.kind == "O" for part in parts}) > 1:
        parts = [part.astype(str).astype(object) for part in parts]
    return np.concatenate(parts)


def vertex_numbers(sizes: IntArray) -> IntArray:
    """The number of every vertex in its graph."""
    first = offsets(sizes)
    return np.arange(int(first[-1])) - first[owners(first)]


def check_features(values: Any, vertices: int, what: str) -> NDArray[np.float32]:
    """A (vertices, features) table of finite numbers; a flat list of numbers is one column.

    >>> check_features([1, 2.5], 2, "features").tolist()
    [[1.0], [2.5]]
    """
    try:
        rows = np.asarray(values)
    except ValueError:
        raise GraphError(f"{what}: expected a row of numbers per vertex; got rows of different lengths.") from None
    if rows.ndim == 1:
        rows = rows[:, None]
    if rows.ndim != 2 or len(rows) != vertices or (rows.size and rows.dtype.kind not in "biuf"):
        raise GraphError(
            f"{what}: expected a row of numbers for each of {vertices} vertices; got {rows.dtype} of shape "
            f"{rows.shape}."
        )
    with np.errstate(over="ignore"):
        rows = rows.astype(np.float32)
    if not np.isfinite(rows).all():
        vertex, column = np.argwhere(~np.isfinite(rows))[0]
        raise GraphError(
            f"{what}: vertex {vertex}, column {column} has {rows[vertex, column]}; expected finite numbers of 32 bits."
        )
    return rows
