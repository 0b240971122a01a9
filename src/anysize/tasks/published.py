"""The synthetic data sets of the published tables, made again to the last edge.

Sizes, classes and colors come from one stream of numpy's old generator, graph number i from networkx with the seed
i + 1, in the order in which the functions below draw. The streams are local objects: the global ones stay untouched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from anysize.graphs.graphset import GraphSet

TRAIN_STATE, TEST_STATE = 42, 43  # of numpy.random.RandomState
TEST_GRAPHS = 100
Shares = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class PublishedErdosRenyi:
    """Erdos-Renyi graphs of three edge probabilities: 150 drawn, 40 for validation, the next 80 for training.

    ``sizes`` are the training sizes in the order in which the stream picks them.
    """

    probabilities: tuple[float, ...]
    sizes: tuple[int, ...]
    test_sizes: tuple[int, ...]

    def draw(self) -> tuple[GraphSet, GraphSet, GraphSet]:
        """Train, validation, test."""
        pool = self._graphs(TRAIN_STATE, 150, self.sizes)
        return pool[40:120], pool[:40], self._graphs(TEST_STATE, TEST_GRAPHS, self.test_sizes)

    def _graphs(self, state: int, amount: int, sizes: Sequence[int]) -> GraphSet:
        networkx = _networkx()
        stream = np.random.RandomState(state)
        graphs, classes = [], []
        for number in range(amount):
            size = sizes[stream.randint(len(sizes))]
            label = int(stream.randint(len(self.probabilities)))
            graphs.append(networkx.gnp_random_graph(size, self.probabilities[label], seed=number + 1))
            classes.append(label)
        return GraphSet.from_networkx(graphs, y=np.array(classes, np.int64))


@dataclass(frozen=True)
class PublishedBlocks:
    """Block models of two equal blocks and two cross densities: 100 drawn, 20 for validation, the rest for training.

    ``sizes`` are whole sizes in the order in which the stream picks them; ``colors`` and ``test_colors`` have one
    row of shares over ``palette`` for each block.
    """

    within: float
    between: tuple[float, ...]
    sizes: tuple[int, ...]
    test_sizes: tuple[int, ...]
    palette: tuple[str, ...]
    colors: Shares
    test_colors: Shares

    def draw(self) -> tuple[GraphSet, GraphSet, GraphSet]:
        """Train, validation, test."""
        pool = self._graphs(TRAIN_STATE, 100, self.sizes, self.colors)
        return pool[20:], pool[:20], self._graphs(TEST_STATE, TEST_GRAPHS, self.test_sizes, self.test_colors)

    def _graphs(self, state: int, amount: int, sizes: Sequence[int], colors: Shares) -> GraphSet:
        networkx = _networkx()
        stream = np.random.RandomState(state)
        names = np.array(self.palette)
        graphs, classes = [], []
        for number in range(amount):
            label = int(stream.randint(len(self.between)))
            half = sizes[stream.randint(len(sizes))] // 2
            cross = self.between[label]
            graph = networkx.stochastic_block_model(
                [half, half], [[self.within, cross], [cross, self.within]], seed=number + 1
            )
            codes = np.concatenate([stream.choice(len(names), half, p=shares) for shares in colors])
            networkx.set_node_attributes(graph, dict(enumerate(names[codes].tolist())), "color")
            graphs.append(graph)
            classes.append(label)
        colored = GraphSet.from_networkx(graphs, color="color", y=np.array(classes, np.int64))
        return colored.with_palette(self.palette)


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise ImportError(
            "The published data sets are made with networkx: pip install networkx, or take fresh ones (data=0)."
        ) from None
    return networkx
