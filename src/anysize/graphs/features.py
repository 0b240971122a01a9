"""Features of vertices: rows of finite numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError


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
