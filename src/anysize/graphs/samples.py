"""A few built-in graphs for demos and examples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anysize.graphs.assembly import assemble
from anysize.graphs.graphset import GraphSet

# Caffeine without hydrogens: atoms 0-5 are the six-ring, atoms 3, 4, 6, 7, 8 the five-ring.
_CAFFEINE_ATOMS = ["N", "C", "N", "C", "C", "C", "N", "C", "N", "C", "C", "C", "O", "O"]
_CAFFEINE_BONDS = (
    (0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (4, 6), (6, 7), (7, 8), (8, 3),
    (0, 9), (2, 10), (6, 11), (1, 12), (5, 13),
)  # fmt: skip


def petersen() -> GraphSet:
    """The Petersen graph: 10 vertices, 15 edges, no cycle shorter than 5.

    >>> petersen()
    GraphSet(1 graph, 10 vertices, 15 edges)
    """
    ring = [(i, (i + 1) % 5) for i in range(5)]
    star = [(5 + i, 5 + (i + 2) % 5) for i in range(5)]
    return _named(GraphSet.from_edges(ring + star + [(i, 5 + i) for i in range(5)]), "Petersen")


def grid(rows: int = 6, columns: int = 6) -> GraphSet:
    """A grid of rows x columns vertices."""
    number = np.arange(rows * columns).reshape(rows, columns)
    across = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()], axis=1)
    down = np.stack([number[:-1].ravel(), number[1:].ravel()], axis=1)
    return _named(GraphSet.from_edges(np.concatenate([across, down])), f"{rows} x {columns} grid")


def caffeine() -> GraphSet:
    """The caffeine molecule without hydrogens, atoms as colors."""
    return _named(GraphSet.from_edges(list(_CAFFEINE_BONDS), colors=_CAFFEINE_ATOMS), "caffeine")


def erdos_renyi(n: int, p: float, seed: int) -> GraphSet:
    """A random graph with edge probability p."""
    upper = np.triu(np.random.default_rng(seed).random((n, n)) < p, 1)
    source, target = np.nonzero(upper)
    return _named(assemble([n], source, target), f"random, n = {n}")


def _named(graph: GraphSet, name: str) -> GraphSet:
    return replace(graph, names=(name,))
