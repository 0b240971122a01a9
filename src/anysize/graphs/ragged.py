"""Arrays that hold lists of different lengths one after the other: offsets, ranges, row selection."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from anysize._typing import BoolArray, IntArray


def offsets(lengths: NDArray[np.integer] | BoolArray) -> IntArray:
    """Start of every list: 0 and the running sums of lengths.

    Examples:
        >>> offsets(np.array([2, 0, 3])).tolist()
        [0, 2, 2, 5]
    """
    first = np.zeros(len(lengths) + 1, np.int64)
    lengths.cumsum(out=first[1:])
    return first


def owners(first: NDArray[np.integer]) -> IntArray:
    """For every entry the number of the list that it is in; ``first`` is the start of every list, as in `offsets`.

    Examples:
        >>> owners(np.array([0, 2, 2, 5])).tolist()
        [0, 0, 2, 2, 2]
    """
    return np.arange(len(first) - 1).repeat(first[1:] - first[:-1])


def ranges(starts: IntArray, lengths: IntArray) -> IntArray:
    """The concatenation of start .. start + length - 1 over all pairs.

    Examples:
        >>> ranges(np.array([7, 0]), np.array([2, 3])).tolist()
        [7, 8, 0, 1, 2]
    """
    first = offsets(lengths)
    return (starts - first[:-1]).repeat(lengths) + np.arange(int(first[-1]))


def select_rows(key: Any, n: int) -> slice | IntArray:
    """Resolve an index (an integer, a slice, integers or booleans) into n rows: a slice of step 1, or row numbers.

    Examples:
        >>> select_rows(-1, 5), select_rows(slice(None, None, 2), 5).tolist(), select_rows([-1, 0], 5).tolist()
        (slice(4, 5, None), [0, 2, 4], [4, 0])
    """
    if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
        key = key[0]  # scikit-learn writes x[rows, ...] for objects with a shape
    if isinstance(key, np.ndarray) and not key.ndim:
        key = key.item()
    if isinstance(key, (int, np.integer)):
        if not -n <= key < n:
            raise IndexError(f"there is no graph {int(key)} among {n}")
        position = int(key) % n
        return slice(position, position + 1)
    if isinstance(key, slice):
        start, stop, step = key.indices(n)
        return slice(start, max(start, stop)) if step == 1 else np.arange(start, stop, step)
    rows = np.asarray(key)
    if rows.dtype == bool:
        if rows.shape != (n,):
            raise IndexError(f"expected {n} booleans, one per graph; got shape {rows.shape}")
        return np.flatnonzero(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise IndexError(f"expected an integer, a slice, integers or booleans; got {rows.dtype} {rows.shape}")
    rows = rows.astype(np.int64)
    if rows.size and (rows.min() < -n or rows.max() >= n):
        raise IndexError(f"graph numbers must lie in 0..{n - 1}; got {rows.min()}..{rows.max()}")
    return np.where(rows < 0, rows + n, rows)


def index_type(*amounts: int) -> type[np.int32 | np.int64]:
    """The 32-bit indices that scikit-learn requires of a table with so many entries, rows and columns, if they do."""
    return np.int32 if max(amounts) < 2**31 else np.int64
