"""`distances`: how different graphs are, by the patterns in them and where their vertices lie in these patterns.

| metric | what is compared |
|---|---|
| gcd-11, gcd-73 | rank correlations between orbits: graphlet correlation distance (Yaveroglu et al. 2014) |
| gda | distributions of orbit counts: 1 - graphlet degree distribution agreement (Przulj 2007) |
| netdis | patterns around vertices, beyond what the density explains (after NetDis, Ali et al. 2014) |
| densities | densities of the patterns on 4 vertices among all sets of 4 vertices |
"""

from __future__ import annotations

from collections.abc import Callable
from math import comb, factorial
from typing import Any, Literal, cast

import numpy as np
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist, squareform
from scipy.stats import rankdata

from anysize._memory import check_table
from anysize._progress import Progress, part_of
from anysize._typing import FloatArray, IntArray
from anysize.counting.api import count
from anysize.counting.orbits.api import orbits
from anysize.graphs.graphset import GraphSet
from anysize.io.convert import as_graphset
from anysize.patterns.pattern import connected_patterns

ORBITS_OF_GCD_11 = (0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11)  # the counts of 3, 12, 13 and 14 follow from these
K = 4  # of netdis and densities
RADIUS = 2  # of the surroundings of a vertex
MOST_SURROUNDINGS = 500  # of a graph; of larger graphs, evenly spread vertices are taken

Measure = Callable[[GraphSet, int | None, Progress | None], FloatArray]  # (graphs, threads, progress): all distances


def distances(
    graphs: Any, metric: str = "gcd-11", *, threads: int | None = None, progress: Progress | None = None
) -> FloatArray:
    """Distances between all pairs of graphs, by patterns. Colors are not used.

    Args:
        graphs: a list of graphs, a `GraphSet` or a path, as for `count`.
        metric: "gcd-11", "gcd-73", "gda", "netdis" or "densities", see the page on motifs for what they compare and
            which of them hold for graphs of different sizes.
        threads: number of threads; all cores if None.
        progress: called with the share of the work done so far, from 0 to 1.

    Returns:
        A symmetric array (graphs, graphs) with zeros on its diagonal.

    Examples:
        >>> import networkx as nx
        >>> rings = [nx.cycle_graph(20), nx.cycle_graph(30), nx.star_graph(20)]
        >>> distances(rings, "gcd-11").round(2).tolist()
        [[0.0, 0.0, 9.0], [0.0, 0.0, 9.0], [9.0, 9.0, 0.0]]
    """
    if metric not in METRICS:
        raise ValueError(f"metric must be one of {', '.join(METRICS)}; got {metric!r:.60}.")
    graphset = as_graphset(graphs).without_colors()
    if not len(graphset):
        raise ValueError("Distances are between graphs; expected at least one, and got none.")
    graphset.check()
    check_table((len(graphset), len(graphset)), "the table of distances", "use fewer graphs")
    empty = np.flatnonzero(graphset.sizes == 0)
    if len(empty):
        raise ValueError(f"Distances are between graphs with vertices; graph {empty[0]} has none.")
    return METRICS[metric](graphset, threads, progress)


# ---- orbits ----------------------------------------------------------------------------------------------------


def _correlation_distance(k: int, columns: tuple[int, ...]) -> Measure:
    def measure(graphs: GraphSet, threads: int | None, progress: Progress | None) -> FloatArray:
        counts = cast(list[IntArray], orbits(list(graphs), k, threads=threads, progress=progress))
        upper = np.triu_indices(len(columns), 1)
        signatures = [rank_correlations(rows[:, columns])[upper] for rows in counts]
        return _between(np.array(signatures).reshape(len(graphs), -1))

    return measure


def rank_correlations(counts: IntArray) -> FloatArray:
    """Spearman's correlations between columns, 0 for a constant one; as published, a row of ones is added before."""
    ranks = rankdata(np.vstack([counts, np.ones(counts.shape[1])]), axis=0)
    centered = ranks - ranks.mean(axis=0)
    length = np.sqrt((centered**2).sum(axis=0))
    scaled = np.divide(centered, length, out=np.zeros_like(centered), where=length > 0)
    return np.asarray(scaled.T @ scaled, np.float64)


def _distribution_distance(graphs: GraphSet, threads: int | None, progress: Progress | None) -> FloatArray:
    """1 - agreement: the mean over orbits of sqrt(sum_d (p(d) - q(d))^2 / 2), with p(d) the scaled share of count d."""
    counts = cast(list[IntArray], orbits(list(graphs), 5, threads=threads, progress=progress))
    total = np.zeros((len(graphs), len(graphs)))
    for orbit in range(73):
        shares = _scaled_distributions([rows[:, orbit] for rows in counts])
        products = np.asarray((shares @ shares.T).todense())
        lengths = np.diag(products)
        total += np.sqrt(np.maximum(lengths[:, None] + lengths - 2 * products, 0.0) / 2)
    np.fill_diagonal(total, 0.0)
    return total / 73


def _scaled_distributions(columns: list[IntArray]) -> csr_array[Any]:
    """Row g, for every count d > 0: the vertices of graph g that have it, divided by d and scaled to sum 1."""
    tables = [np.unique(column[column > 0], return_counts=True) for column in columns]
    weights = [amount / value for value, amount in tables]
    data = np.concatenate([weight / weight.sum() for weight in weights if len(weight)] or [np.zeros(0)])
    distinct, code = np.unique(np.concatenate([value for value, _ in tables]), return_inverse=True)
    first = np.concatenate([[0], np.cumsum([len(weight) for weight in weights])])
    return csr_array((data, code, first), shape=(len(columns), len(distinct)))


# ---- counts ----------------------------------------------------------------------------------------------------


def _density_distance(graphs: GraphSet, threads: int | None, progress: Progress | None) -> FloatArray:
    densities = count(graphs, K, threads=threads, progress=progress).densities("subsets").toarray()
    return _between(densities, "cityblock")


def _surroundings_distance(graphs: GraphSet, threads: int | None, progress: Progress | None) -> FloatArray:
    """(1 - S) / 2 with S the similarity of the sums over vertices of counts in their surroundings, less expectation."""
    sums = np.array(
        [
            _excess(_surroundings(graph), threads, part_of(progress, row, len(graphs)))
            for row, graph in enumerate(graphs)
        ]
    ).reshape(len(graphs), -1)
    distance = np.zeros((len(graphs), len(graphs)))
    for row, x in enumerate(sums):
        for column, y in enumerate(sums[:row]):
            distance[row, column] = distance[column, row] = (1 - _similarity(x, y)) / 2
    return distance


def _similarity(x: FloatArray, y: FloatArray) -> float:
    """From -1 to 1: 1 for proportional sums; patterns with large sums weigh less than in a cosine."""
    length = np.hypot(x, y)
    weight = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
    norm = float(np.sqrt((x**2 * weight).sum() * (y**2 * weight).sum()))
    return float((x * y * weight).sum()) / norm if norm else float(np.array_equal(x, y))


def _surroundings(graph: GraphSet) -> GraphSet:
    """The subgraphs within `RADIUS` steps of every vertex, or of evenly spread ones."""
    n = int(graph.first[-1])
    adjacency = csr_array((np.ones(len(graph.indices), np.int64), graph.indices, graph.indptr), shape=(n, n))
    parts = []
    for vertex in np.unique(np.linspace(0, n - 1, min(n, MOST_SURROUNDINGS)).astype(np.int64)):
        reached = np.array([vertex])
        for _ in range(RADIUS):
            reached = np.union1d(reached, adjacency[reached].indices)
        low, high = adjacency[reached][:, reached].nonzero()
        parts.append(GraphSet.from_edges(np.stack([low, high], axis=1)[low < high], n_vertices=len(reached)))
    return GraphSet.concatenate(parts)


def _excess(parts: GraphSet, threads: int | None, progress: Progress | None) -> FloatArray:
    """Copies of every pattern in all parts, less what is expected from their densities if edges were independent."""
    n = parts.sizes.astype(np.float64)
    density = parts.edge_counts / np.maximum(n * (n - 1) / 2, 1.0)
    sets = np.array([comb(int(size), K) for size in parts.sizes], np.float64)
    copies = count(parts, K, threads=threads, progress=progress).matrix.toarray().sum(axis=0)
    expected = [
        (
            sets
            * (factorial(K) // pattern.automorphisms)
            * density ** len(pattern.edges)
            * (1 - density) ** (comb(K, 2) - len(pattern.edges))
        ).sum()
        for pattern in connected_patterns(K)
    ]
    return np.asarray(copies - np.array(expected), np.float64)


def _between(signatures: FloatArray, norm: Literal["euclidean", "cityblock"] = "euclidean") -> FloatArray:
    return np.asarray(squareform(pdist(signatures, norm)) if len(signatures) > 1 else np.zeros((len(signatures),) * 2))


METRICS: dict[str, Measure] = {
    "gcd-11": _correlation_distance(4, ORBITS_OF_GCD_11),
    "gcd-73": _correlation_distance(5, tuple(range(73))),
    "gda": _distribution_distance,
    "netdis": _surroundings_distance,
    "densities": _density_distance,
}
