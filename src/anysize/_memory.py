"""Refuse work that cannot fit: tables with a cell for every pair of graphs, or for every graph and pattern.

A table may have up to 2 GiB. The environment variable ANYSIZE_MAX_TABLE, such as 16G, sets another limit.
"""

from __future__ import annotations

import os
import re
from typing import Any

from numpy.typing import NDArray
from scipy.sparse import csr_array

VARIABLE = "ANYSIZE_MAX_TABLE"
MAX_BYTES = 2 << 30
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def bytes_from(variable: str) -> int | None:
    """The number of bytes that an environment variable holds, such as 16G; None if it is not set."""
    given = os.environ.get(variable, "").strip()
    if not given:
        return None
    match = re.fullmatch(r"([0-9]{1,15})\s*([KMGT]?)(i?B)?", given, re.IGNORECASE | re.ASCII)
    if match is None:
        raise ValueError(f"{variable} must be a number of bytes such as 16G; got {given!r:.40}")
    return int(match[1]) << _UNITS[match[2].upper()]


def format_bytes(amount: float) -> str:
    """A number of bytes as text, such as 3 MiB."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount:.0f} bytes"


def table_limit() -> int:
    """The most bytes that one table may have."""
    given = bytes_from(VARIABLE)
    return MAX_BYTES if given is None else given


def check_table(shape: tuple[int, ...], what: str, instead: str, cell: int = 8) -> None:
    """Raise a ValueError if a dense table of this shape is too large.

    Args:
        shape: of the table.
        what: the name of the table.
        instead: what the user may do instead.
        cell: the bytes of one cell.
    """
    size = cell
    for length in shape:
        size *= int(length)
    limit = table_limit()
    if size > limit:
        cells = " x ".join(f"{length:,}" for length in shape)
        raise ValueError(
            f"{what} ({cells}) would take {size / 2**30:,.3g} GiB of memory, and at most {limit / 2**30:,.3g} GiB are "
            f"allowed; {instead}, or set {VARIABLE}={-(-size // 2**30)}G if there is enough memory"
        )


def dense(table: csr_array[Any], what: str, instead: str) -> NDArray[Any]:
    """A sparse table as an array, unless that is too large; see `check_table`."""
    check_table(table.shape, what, instead, table.dtype.itemsize)
    return table.toarray()
