"""What graphs carry beside their vertices and edges: the table of attributes, checks, and what a method leaves unused.

``ATTRIBUTES`` is the one description: parts, sums and checks of a `GraphSet` go through it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError
from anysize._text import plural

if TYPE_CHECKING:
    from anysize.graphs.graphset import GraphSet

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
)
ARRAYS = (  # of a set
    Attribute("first", "graph", np.dtype(np.int64)),  # one row more
    Attribute("indptr", "vertex", np.dtype(np.int64)),  # likewise
    Attribute("indices", "entry", np.dtype(np.uint32)),
    *ATTRIBUTES,
)
TITLES = tuple(attribute.title for attribute in ATTRIBUTES if attribute.title)


def unused_attributes(
    graphs: GraphSet, uses: Collection[str], method: str, users: Callable[[str], Sequence[str]]
) -> str | None:
    """One sentence about the attributes that a method does not use; None if it uses all that the graphs have.

    Args:
        graphs: the graphs.
        uses: titles of the attributes that the method uses.
        method: the name of the method.
        users: gives the names of the methods that use an attribute.

    >>> from anysize import GraphSet
    >>> graphs = GraphSet.from_edges([(0, 1), (1, 2)], edge_colors=["single", "double"], features=[1, 2, 3])
    >>> users = {EDGE_COLORS: ["wl-kernel", "sizemix"], FEATURES: []}
    >>> print(unused_attributes(graphs, (), "gin-sum", users.__getitem__))
    gin-sum does not use 2 attributes of these graphs: edge colors (wl-kernel and sizemix do), vertex features (no \
method does).
    """
    clauses = []
    for name, _, _, palette, title in ATTRIBUTES:
        array = getattr(graphs, name)
        if not title or title in uses or array is None or not array.size:
            continue
        if palette and array.ndim == 1 and len(getattr(graphs, palette)) < 2:  # one color tells nothing apart
            continue
        names = users(title)
        several = f"{', '.join(names[:-1])} and {names[-1]} do" if len(names) > 1 else ""
        clauses.append(f"{title} ({several or (f'{names[0]} does' if names else 'no method does')})")
    if not clauses:
        return None
    return f"{method} does not use {plural(len(clauses), 'attribute')} of these graphs: {', '.join(clauses)}."


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
