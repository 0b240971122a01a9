"""Small labeled graphs that the tests of classifiers share."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np

from anysize.graphs.graphset import GraphSet

LABELS = ("dense", "sparse")


def as_networkx(amount: int, sizes: Sequence[int] = (9, 10, 11), seed: int = 0, colors: str = "AB") -> list[nx.Graph]:
    """Random graphs, dense and sparse in turn, with random colors in the attribute ``atom``."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(amount):
        n = sizes[number % len(sizes)]
        graph = nx.gnp_random_graph(n, (0.7, 0.25)[number % 2], seed=int(rng.integers(1 << 30)))
        nx.set_node_attributes(graph, dict(enumerate(rng.choice(list(colors), n).tolist())), "atom")
        made.append(graph)
    return made


def labels(amount: int) -> list[str]:
    return [LABELS[number % 2] for number in range(amount)]


def labeled(amount: int, sizes: Sequence[int] = (9, 10, 11), seed: int = 0, colors: str = "AB") -> GraphSet:
    """The same as a set with its classes."""
    return GraphSet.from_networkx(as_networkx(amount, sizes, seed, colors), color="atom", y=labels(amount))
