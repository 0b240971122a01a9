"""Graph sets for the tests of the diagnosis."""

from __future__ import annotations

import networkx as nx
import numpy as np

import anysize as az
from anysize.causal.graphons import Graphon

BLOCKS: list[Graphon] = [
    az.BlockModel(within=(0.2, 0.2), between=0.1),
    az.BlockModel(within=(0.2, 0.2), between=0.3),
]
COLORS = ({"red": 0.9, "blue": 0.1}, {"green": 0.9, "yellow": 0.1})


def blocks(sizes, amount, seed, colors=COLORS, graphons=None):
    """Graphs of the SBM tasks' kind, colored and labeled."""
    return az.sample_graphs(graphons or BLOCKS, az.Environment(tuple(sizes), colors), amount, seed)


def erdos_renyi(p, sizes, amount, seed):
    """Dense graphs without labels."""
    return az.sample_graphs(az.ErdosRenyi(p), az.Environment(tuple(sizes)), amount, seed).with_y(None)


def rings(low, high, amount, seed, rewired=0.1):
    """Sparse graphs: rings of four neighbors with some edges rewired."""
    rng = np.random.default_rng(seed)
    made = [
        nx.watts_strogatz_graph(int(n), 4, rewired, seed=int(rng.integers(1 << 30)))
        for n in rng.integers(low, high, amount)
    ]
    return az.GraphSet.from_networkx(made)


def molecules(amount: int, seed: int) -> tuple[az.GraphSet, np.ndarray]:
    """Trees in which some vertices are "X", at a rate that differs from tree to tree; how many X each has."""
    rng = np.random.default_rng(seed)
    trees = [nx.random_labeled_tree(int(n), seed=int(rng.integers(1 << 30))) for n in rng.integers(6, 50, amount)]
    many = []
    for tree in trees:
        hit = rng.random(len(tree)) < rng.uniform(0.0, 0.3)
        nx.set_node_attributes(tree, {v: "X" if hit[v] else "C" for v in tree}, "atom")
        many.append(hit.sum())
    return az.GraphSet.from_networkx(trees, color="atom"), np.array(many)


def chosen(score: np.ndarray, seed: int) -> np.ndarray:
    """True with the probability that a logistic model gives."""
    return np.random.default_rng(seed).random(len(score)) < 1 / (1 + np.exp(-score))
