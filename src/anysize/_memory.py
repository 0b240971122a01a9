"""Refuse work that cannot fit, such as tables with a cell for every pair of graphs, or for every graph and pattern.

A table may have up to 2 GiB. The environment variable ANYSIZE_MAX_TABLE, such as 16GiB, sets another limit.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from numpy.typing import NDArray
from scipy.sparse import csr_array

VARIABLE = "ANYSIZE_MAX_TABLE"
MAX_BYTES = 2 << 30
CGROUP_FILES = ("memory.max", "memory.current")
_UNITS = {"": 1, "b": 1} | {
    name: base**power
    for power, unit in enumerate("kmgt", 1)
    for name, base in ((unit, 1000), (f"{unit}b", 1000), (f"{unit}ib", 1024))
}


def parse_bytes(given: object, name: str) -> int:
    """A number of bytes from a number or from text such as 4GiB, 500MB or 1.5 g; ``name``: of the setting.

    Examples:
        >>> parse_bytes("4GiB", "max_memory"), parse_bytes("500MB", "max_memory"), parse_bytes(1e6, "max_memory")
        (4294967296, 500000000, 1000000)
    """
    parts = re.fullmatch(r"\s*([0-9.]+(?:e\+?[0-9]+)?)\s*([a-z]*)\s*", str(given).lower(), re.ASCII)
    try:
        amount = float(parts[1]) * _UNITS[parts[2]] if parts and not isinstance(given, bool) else 0.0
    except (KeyError, ValueError):
        amount = 0.0
    if not 1 <= amount < 2**63:
        raise ValueError(f"{name} must be a number of bytes, or text such as '4GiB' or '500MB'; got {given!r:.40}")
    return int(amount)


def bytes_from(variable: str) -> int | None:
    """The number of bytes that an environment variable holds; None if it is not set."""
    given = os.environ.get(variable, "").strip()
    return parse_bytes(given, variable) if given else None


def format_bytes(amount: float) -> str:
    """A number of bytes as text, such as 3 MiB."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount:.0f} bytes"


def available_memory() -> int | None:
    """The bytes that this process can still allocate without swapping; None where the system does not say."""
    amounts = []
    with suppress(OSError, ValueError, StopIteration), open("/proc/meminfo", encoding="ascii") as file:
        amounts.append(1024 * int(next(line for line in file if line.startswith("MemAvailable:")).split()[1]))
    with suppress(OSError, ValueError):  # of a container
        limit, used = (int(Path("/sys/fs/cgroup", name).read_text("ascii")) for name in CGROUP_FILES)
        amounts.append(max(limit - used, 0))
    return min(amounts, default=None)


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
            f"allowed; {instead}, or set {VARIABLE}={-(-size // 2**30)}GiB if there is enough memory"
        )


def dense(table: csr_array[Any], what: str, instead: str) -> NDArray[Any]:
    """A sparse table as an array, unless that is too large; see `check_table`."""
    check_table(table.shape, what, instead, table.dtype.itemsize)
    return table.toarray()
