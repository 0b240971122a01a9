"""The graphs that the benchmark counts: random ones from fixed seeds, real ones where their files are."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import networkx as nx
import numpy as np

from anysize import GraphSet, read_graphs

MOLECULE_COLORS = 37


class MissingData(Exception):
    """A data file is not on this machine."""


def colored(graphs: GraphSet, colors: int, seed: int = 0) -> GraphSet:
    """The same graphs with each vertex in one of some colors, all equally likely."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, colors, int(graphs.first[-1])).astype(np.uint16)
    return GraphSet(graphs.first, graphs.indptr, graphs.indices, codes, tuple(range(colors)))


def _er_edges(n: int, p: float, rng: np.random.Generator) -> np.ndarray:
    return np.argwhere(np.triu(rng.random((n, n)) < p, 1))


def erdos_renyi(n: int, p: float, colors: int = 0, seed: int = 1) -> GraphSet:
    """One graph whose vertex pairs are edges with probability p."""
    graph = GraphSet.from_edges(_er_edges(n, p, np.random.default_rng(seed)), n_vertices=n)
    return colored(graph, colors) if colors else graph


def erdos_renyi_batch(amount: int, sizes: tuple[int, int], densities: tuple[float, ...]) -> GraphSet:
    """Many such graphs, with sizes and densities drawn evenly from what is given."""
    rng = np.random.default_rng(7)
    n = rng.integers(sizes[0], sizes[1] + 1, amount)
    p = rng.choice(densities, amount)
    return GraphSet.from_edges([_er_edges(a, b, rng) for a, b in zip(n, p, strict=True)], n_vertices=n.tolist())


@lru_cache(maxsize=2)  # seconds to make, and several rows share them
def barabasi_albert(n: int, m: int) -> GraphSet:
    """A graph that grows by preferential attachment: hubs, few triangles."""
    return GraphSet.from_networkx(nx.barabasi_albert_graph(n, m, seed=1))


@lru_cache(maxsize=1)
def powerlaw_cluster(n: int, m: int) -> GraphSet:
    """The same with triangles closed on every second step."""
    return GraphSet.from_networkx(nx.powerlaw_cluster_graph(n, m, 0.5, seed=1))


def geometric(n: int, degree: float, colors: int) -> GraphSet:
    """Points in the unit square, joined when near; colors of uneven frequency."""
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(3)
    near = cKDTree(rng.random((n, 2))).query_pairs(np.sqrt(degree / (np.pi * n)), output_type="ndarray")
    codes = rng.choice(colors, n, p=rng.dirichlet(np.full(colors, 0.5)))
    return GraphSet.from_edges(near, n_vertices=n, colors=codes.tolist())


def molecules(amount: int) -> GraphSet:
    """Graphs like organic molecules: rings of five and six, stubs, 37 colors, one in the lead."""
    rng = np.random.default_rng(11)
    share = 0.45 ** np.arange(MOLECULE_COLORS)
    edges = [_molecule_edges(int(rng.integers(22, 39)), rng) for _ in range(amount)]
    sizes = [1 + max(max(edge) for edge in graph) for graph in edges]
    names = [rng.choice(MOLECULE_COLORS, n, p=share / share.sum()).tolist() for n in sizes]
    return GraphSet.from_edges(edges, n_vertices=sizes, colors=names)


def _molecule_edges(n: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """Rings, fused or bridged to what is there, then single atoms until there are n; no degree above four."""
    edges: list[tuple[int, int]] = []
    degree = [0]

    def bond(u: int, v: int) -> None:
        edges.append((u, v))
        degree.extend([0] * (v + 1 - len(degree)))
        degree[u] += 1
        degree[v] += 1

    while len(degree) < n:
        free = [v for v, d in enumerate(degree) if d < 3] or [v for v, d in enumerate(degree) if d < 4]
        start = int(rng.choice(free))
        ring = int(rng.integers(5, 7))
        if len(degree) + ring <= n and rng.random() < 0.25:
            first = len(degree)
            bond(start, first)
            for step in range(1, ring):
                bond(first + step - 1, first + step)
            bond(first, first + ring - 1)
        else:
            bond(start, len(degree))
    return edges


def data_folder() -> Path:
    """ANYSIZE_DATA, or shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("ANYSIZE_DATA", beside))


@lru_cache(maxsize=2)
def real(file: str) -> GraphSet:
    """A published data set, or `MissingData`."""
    path = data_folder() / file
    if not path.is_file():
        raise MissingData(f"{file} is not in the data folder; set ANYSIZE_DATA")
    return read_graphs(path)
