"""A slow reference of the Weisfeiler-Lehman kernel, and graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from itertools import product
from typing import Any

import networkx as nx
import numpy as np

from anysize import GraphSet

Graph = nx.Graph


def slow_colors(graph: Graph, iterations: int, padding: str | None = None) -> Counter[Hashable]:
    """Every (iteration, refined color) of a graph; a color is the string of its subtree.

    Neighbors of the color ``padding`` are not seen in the first iteration.
    """
    hidden = {v for v in graph if padding is not None and graph.nodes[v].get("c") == padding}
    color = {v: str(graph.nodes[v].get("c", "dot")) for v in graph}
    found: Counter[Hashable] = Counter((0, c) for c in color.values())
    for step in range(1, iterations + 1):
        seen = {v: [u for u in graph[v] if step > 1 or u not in hidden] for v in graph}
        color = {v: f"({color[v]}:{','.join(sorted(color[u] for u in seen[v]))})" for v in graph}
        found.update((step, c) for c in color.values())
    return found


def slow_kernel(
    left: list[Graph], right: list[Graph], iterations: int, padding: str | None = None
) -> np.ndarray[Any, Any]:
    a, b = ([slow_colors(graph, iterations, padding) for graph in graphs] for graphs in (left, right))
    return np.array([[sum(n * y[c] for c, n in x.items()) for y in b] for x in a], float)


def graphs_of(made: list[Graph], y: Any = None) -> GraphSet:
    dyed = any("c" in data for graph in made for _, data in graph.nodes(data=True))
    return GraphSet.from_networkx(made, color="c" if dyed else None, y=y)


def dye(graph: Graph, colors: str, seed: int) -> Graph:
    rng = np.random.default_rng(seed)
    nx.set_node_attributes(graph, {v: str(rng.choice(list(colors))) for v in graph}, "c")
    return graph


PLAIN = [nx.gnp_random_graph(n, p, seed=n) for n, p in product((1, 4, 7, 12, 15), (0.1, 0.3, 0.7))]
DYED = [dye(graph.copy(), "CNO", seed) for seed, graph in enumerate(PLAIN)]
ODD = [nx.star_graph(40), nx.empty_graph(3), nx.empty_graph(0), nx.cycle_graph(6), nx.path_graph(2)]


def three_classes() -> GraphSet:
    """Trees, rings with a chord and random graphs of the same sizes, with random colors."""
    made, y = [], []
    for n in range(8, 22):
        ring = nx.cycle_graph(n)
        ring.add_edge(0, n // 2)
        for name, graph in (("tree", nx.random_labeled_tree(n, seed=n)), ("ring", ring)):
            made.append(dye(graph, "ab", n))
            y.append(name)
        made.append(dye(nx.gnp_random_graph(n, 3 / n, seed=n), "ab", n))
        y.append("random")
    return graphs_of(made, y)
