"""Spectral coarsening: the vertices of every graph in clusters of similar eigenvector coordinates."""

from __future__ import annotations

import numpy as np

from anysize._typing import FloatArray, IntArray
from anysize.graphs.ragged import offsets, owners

MAX_VERTICES = 400  # of graphs that are coarsened: the eigenvectors take cubic time
KMEANS_STEPS = 10
CELLS = 1 << 22  # of the tables of graphs that are coarsened together


def spectral_clusters(sizes: IntArray, source: IntArray, target: IntArray, ratio: float) -> IntArray:
    """The cluster of every vertex, numbered from 0 in its graph, max(1, int(ratio n)) clusters for n vertices.

    Vertices are clustered by k-means on the eigenvectors of the normalized Laplacian with the smallest eigenvalues, as
    many as clusters. A graph above `MAX_VERTICES` stays as it is: every vertex is a cluster.

    Args:
        sizes: numbers of vertices.
        source, target: every edge in both directions, vertices numbered through all graphs.
        ratio: of the number of clusters to that of vertices.

    Examples:
        >>> ends = np.array([0, 1, 1, 2, 0, 2, 3, 4, 4, 5, 3, 5, 2, 3])  # two triangles and an edge between them
        >>> both = np.concatenate([ends.reshape(-1, 2), ends.reshape(-1, 2)[:, ::-1]]).T
        >>> spectral_clusters(np.array([6]), *both, ratio=0.34).tolist()
        [0, 0, 0, 1, 1, 1]
    """
    first = offsets(sizes)
    cluster = np.arange(int(first[-1])) - first[owners(first)]
    edge_graph = np.searchsorted(first, source, side="right") - 1
    for n in np.unique(sizes[(sizes > 1) & (sizes <= MAX_VERTICES)]).tolist():
        of_size = np.flatnonzero(sizes == n)
        for graphs in np.array_split(of_size, -(-len(of_size) * n * n // CELLS)):
            position = np.full(len(sizes), -1)
            position[graphs] = np.arange(len(graphs))
            edges = np.flatnonzero(position[edge_graph] >= 0)
            adjacency = np.zeros((len(graphs), n, n))
            start = first[edge_graph[edges]]
            adjacency[position[edge_graph[edges]], source[edges] - start, target[edges] - start] = 1
            amount = max(1, int(ratio * n))
            clusters = kmeans(_smooth_vectors(adjacency)[:, :, :amount], amount)
            cluster[first[graphs][:, None] + np.arange(n)] = _by_first_member(clusters)
    return cluster


def _by_first_member(clusters: IntArray) -> IntArray:
    """Clusters of each row numbered by their first members: (graphs, n) -> (graphs, n).

    >>> _by_first_member(np.array([[2, 2, 0, 1, 0]])).tolist()
    [[0, 0, 1, 2, 1]]
    """
    is_same = clusters[:, :, None] == clusters[:, None, :]
    first_member = is_same.argmax(2)
    is_first = first_member == np.arange(clusters.shape[1])
    return np.take_along_axis(is_first.cumsum(1) - 1, first_member, 1)


def _smooth_vectors(adjacency: FloatArray) -> FloatArray:
    """Eigenvectors of the normalized Laplacian I - D^-1/2 A D^-1/2 by ascending eigenvalue: (graphs, n, n)."""
    degree = adjacency.sum(2)
    scale = np.where(degree > 0, 1 / np.sqrt(np.maximum(degree, 1)), 0.0)
    laplacian = np.eye(adjacency.shape[1]) - scale[:, :, None] * adjacency * scale[:, None, :]
    return np.asarray(np.linalg.eigh(laplacian)[1])


def kmeans(points: FloatArray, amount: int) -> IntArray:
    """The cluster of every point of several sets, from points far from each other on: (sets, n, d) -> (sets, n).

    The first center is the point farthest from the origin, and each further one the point farthest from all before.
    """
    rows = np.arange(len(points))
    squares = (points**2).sum(2)
    distance = squares[:, :, None] + squares[:, None, :] - 2 * points @ points.transpose(0, 2, 1)
    chosen = [squares.argmax(1)]
    nearest = distance[rows, chosen[0]]
    for _ in range(amount - 1):
        chosen.append(nearest.argmax(1))
        nearest = np.minimum(nearest, distance[rows, chosen[-1]])
    centers = points[rows[:, None], np.array(chosen).T]
    for _ in range(KMEANS_STEPS):
        to_centers = (centers**2).sum(2)[:, None] - 2 * points @ centers.transpose(0, 2, 1)
        cluster = to_centers.argmin(2)
        member = (cluster[:, :, None] == np.arange(amount)).astype(np.float64)
        members = member.sum(1)
        means = member.transpose(0, 2, 1) @ points / np.maximum(members, 1)[:, :, None]
        centers = np.where(members[:, :, None] > 0, means, centers)
    return np.asarray(cluster)
