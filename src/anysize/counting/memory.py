"""How much memory an engine needs beside the graphs, about, and how a count keeps within a limit.

A need has three parts: shared by all threads while a graph is counted, for each thread, and what is kept of the graph
until the engine hands its table over. The numbers follow the arrays that the engines make.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anysize._typing import FloatArray
from anysize.counting.engines.threads import Chunk
from anysize.counting.features import Features
from anysize.patterns.pattern import connected_patterns

UNITS = {"": 1, "b": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}
UNITS |= {f"{unit}b": size for unit, size in UNITS.items() if unit not in ("", "b")}
UNITS |= {f"{unit}ib": 1024**power for power, unit in enumerate("kmgt", 1)}

CELL = 60  # bytes of a cell of a colored table, from the engine's lists to the merged table
KEPT = 0.5  # of the limit, at most, for what is kept; the rest is for the work


class Need(NamedTuple):
    """Bytes, graph by graph."""

    shared: FloatArray
    thread: FloatArray
    kept: FloatArray

    def work(self, threads: int) -> FloatArray:
        """While a graph is counted by so many threads."""
        return np.asarray(self.shared + threads * self.thread, np.float64)


def parse_memory(limit: int | float | str | None) -> int | None:
    """A number of bytes from a number or from text such as 4GiB, 500MB or 1.5 g.

    Examples:
        >>> parse_memory("4GiB"), parse_memory("500MB"), parse_memory(1e6)
        (4294967296, 500000000, 1000000)
    """
    if limit is None:
        return None
    found = re.fullmatch(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([a-z]*)\s*", str(limit).lower().replace("+", ""))
    try:
        amount = float(found[1]) * UNITS[found[2]] if found and not isinstance(limit, bool) else 0.0
    except (KeyError, ValueError):
        amount = 0.0
    if not 1 <= amount < 2**63:
        raise ValueError(f"max_memory is a number of bytes, or text such as '4GiB' or '500MB'; got {limit!r}")
    return int(amount)


def written(amount: float) -> str:
    """Bytes for people."""
    for unit, size in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if amount >= size:
            return f"{amount / size:.3g} {unit}"
    return f"{amount:.0f} bytes"


def cells(f: Features, k: int) -> FloatArray:
    """Patterns that occur in each graph, at most."""
    if f.graphs.colors is None:
        return np.full(len(f.n), float(len(connected_patterns(k))))
    most = f.sets(k) if k > 2 else f.n + f.edges
    return np.asarray(np.minimum(most, colored_patterns(k, f.colors)))


def colored_patterns(k: int, colors: FloatArray) -> FloatArray:
    """About how many patterns there are in so many colors: most colorings of a graph have no symmetry.

    >>> [round(float(amount)) for amount in colored_patterns(5, np.array([1.0, 8.0]))]  # there are 21 and 228,088
    [21, 258430]
    """
    labeled = sum(factorial(k) / pattern.automorphisms for pattern in connected_patterns(k))
    return np.asarray(np.maximum(1.3 * labeled / factorial(k) * colors**k, len(connected_patterns(k)) * colors))


def _padded(f: Features) -> FloatArray:
    """The compiled number of colors, about."""
    return np.asarray(2 ** np.ceil(np.log2(np.maximum(f.colors, 1))))


def _bitset(f: Features, k: int) -> Need:
    side = 64 * np.ceil(f.n / 64)
    return Need(np.zeros(len(f.n)), 8.5 * f.n * side + 64 * side, np.full(len(f.n), 700.0))


def _triangles(f: Features) -> FloatArray:
    return np.asarray(f.closed * f.edges / 3)


def _sparse(f: Features, k: int) -> Need:
    lists = 12 * _triangles(f) if k == 5 else np.zeros(len(f.n))
    return Need(80 * f.n + 100 * f.edges + lists, 24 * f.n + 8 * f.edges + f.largest**2 / 2, np.full(len(f.n), 1000.0))


def _flip(f: Features, k: int) -> Need:
    tuples = _padded(f) ** k
    rows = 16 * f.n * (np.ceil(f.n / 64) + _padded(f))
    shared, thread = {4: (400, 60), 5: (1500, 250), 6: (15_000, 6_000)}[k]
    return Need(rows + shared * tuples, thread * tuples + 1e5, CELL * cells(f, k))


def _flip_sparse(f: Features, k: int) -> Need:
    colors = _padded(f)
    lists = 12 * _triangles(f)
    shared, thread = {4: (400, 60), 5: (1500, 250)}[k]
    edges = (100 + 4 * colors) * f.edges
    return Need(
        (100 + 4 * colors) * f.n + edges + lists + shared * colors**k,
        (30 + 8 * colors) * f.n + thread * colors**k,
        CELL * cells(f, k),
    )


def _enumerate(f: Features, k: int) -> Need:
    raw_bits = k * (k - 1) / 2 + k * np.ceil(np.log2(f.colors))
    table = np.where(raw_bits <= 22, 8 * 2.0 ** np.minimum(raw_bits, 22), 0)
    return Need(np.full(len(f.n), 1e5), 5 * f.n + table + 1e6 + 64 * cells(f, k), CELL * cells(f, k))


def _direct(f: Features, k: int) -> Need:
    return Need(np.zeros(len(f.n)), np.zeros(len(f.n)), 60 * (f.n + 2 * f.edges))


def _brute(f: Features, k: int) -> Need:
    return Need(f.n**2, np.zeros(len(f.n)), 300 * cells(f, k))


def _sample(f: Features, k: int) -> Need:
    trees, shapes = {3: (1, 1), 4: (2, 2), 5: (3, 4), 6: (6, 8), 7: (11, 16)}[k]
    shared = 30 * trees * f.n + 16 * shapes * f.edges + 20 * f.edges
    return Need(shared, 1e6 + 100 * cells(f, k), CELL * cells(f, k))


NEEDS: dict[str, Callable[[Features, int], Need]] = {
    "direct": _direct,
    "bitset": _bitset,
    "sparse": _sparse,
    "flip": _flip,
    "flip_sparse": _flip_sparse,
    "enumerate": _enumerate,
    "brute": _brute,
    "sample": _sample,
}


def fits(engine: str, f: Features, k: int, limit: int) -> NDArray[np.bool_]:
    """Which graphs an engine can count within a limit, if need be with one thread."""
    need = NEEDS[engine](f, k)
    return np.asarray(need.work(1) + np.minimum(need.kept, KEPT * limit) <= limit)


def too_large(names: list[str], f: Features, k: int, limit: int, row: int) -> ValueError:
    """No engine fits: what the least one would need, and what can be done."""
    least = {name: float((NEEDS[name](f, k).work(1) + NEEDS[name](f, k).kept)[row]) for name in names}
    name = min(least, key=lambda engine: least[engine])
    title = f"graph {row}" if f.graphs.names is None else f"graph {f.graphs.names[row]!r}"
    return ValueError(
        f"{title} ({int(f.n[row])} vertices, {int(f.edges[row])} edges) cannot be counted at k = {k} within "
        f"{written(limit)}: the engine {name!r} needs least, about {written(least[name])}; give more memory, a "
        f"smaller k, or colors=False"
    )


def batches(engine: str, f: Features, k: int, threads: int, limit: int) -> tuple[list[Chunk], int]:
    """Ranges of graphs to be counted one after the other, and the number of threads, that keep within a limit."""
    need = NEEDS[engine](f, k)
    if not len(need.kept):
        return [], threads
    spare = limit - float((need.shared + np.minimum(need.kept, KEPT * limit)).max())
    most = float(need.thread.max())
    threads = max(1, min(threads, int(spare / most) if most else threads))
    room = max(limit - float(need.work(threads).max()), KEPT * limit / 4)
    ranges: list[Chunk] = []
    start, held = 0, 0.0
    for row, amount in enumerate(need.kept.tolist()):
        if row > start and held + amount > room:
            ranges.append((start, row))
            start, held = row, 0.0
        held += amount
    return [*ranges, (start, len(need.kept))], threads
