"""Orbit counts: against all subsets of small graphs, ORCA's answers, and the counts of patterns."""

from __future__ import annotations

import gzip
import json
from functools import cache
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anysize as az
from anysize.counting.engines.oriented import orient
from anysize.counting.orbits.measure import _trees

ORBITS = {2: 1, 3: 4, 4: 15, 5: 73}


@cache
def rooted_patterns() -> list[tuple[nx.Graph, int]]:
    """The pattern of every orbit, with one vertex of the orbit marked."""
    graphs = []
    for number, pattern, vertices in az.orbit_positions(5):
        graph = pattern.to_networkx()
        nx.set_node_attributes(graph, {v: v == vertices[0] for v in graph}, "root")
        graphs.append((graph, number))
    return graphs


@cache
def orbit_of(size: int, edges: tuple[tuple[int, int], ...], root: int) -> int:
    """The orbit of a vertex in a connected graph, by isomorphism of rooted graphs."""
    graph = nx.empty_graph(size)
    graph.add_edges_from(edges)
    nx.set_node_attributes(graph, {v: v == root for v in graph}, "root")
    same = nx.algorithms.isomorphism.categorical_node_match("root", False)
    return next(number for rooted, number in rooted_patterns() if nx.is_isomorphic(graph, rooted, node_match=same))


def by_subsets(graph: nx.Graph, k: int) -> np.ndarray:
    """Orbit counts by visiting every set of at most k vertices."""
    counts = np.zeros((len(graph), ORBITS[k]), np.int64)
    for size in range(2, k + 1):
        for members in combinations(range(len(graph)), size):
            if nx.is_connected(part := graph.subgraph(members)):
                edges = tuple(sorted((members.index(min(e)), members.index(max(e))) for e in part.edges))
                for place, vertex in enumerate(members):
                    counts[vertex, orbit_of(size, edges, place)] += 1
    return counts


@st.composite
def small_graphs(draw: st.DrawFn) -> nx.Graph:
    n = draw(st.integers(1, 10))
    return nx.gnp_random_graph(n, draw(st.floats(0, 1)), seed=draw(st.integers(0, 2**32 - 1)))


@given(small_graphs(), st.integers(2, 5))
@settings(max_examples=60)
def test_all_subsets_of_small_graphs_agree(graph: nx.Graph, k: int) -> None:
    assert np.array_equal(az.orbits(graph, k), by_subsets(graph, k))


@pytest.fixture(scope="module")
def truth(data_dir) -> dict[str, dict]:
    file = data_dir / "orbits" / "orbits.json.gz"
    if not file.is_file():
        pytest.skip(f"no file {file}")
    return json.loads(gzip.decompress(file.read_bytes()))


@pytest.mark.parametrize("k", [4, 5])
def test_the_numbers_are_those_of_orca(truth, k: int) -> None:
    for name, graph in truth.items():
        ours = az.orbits(az.GraphSet.from_edges(graph["edges"], n_vertices=graph["vertices"]), k)
        assert ours.dtype == np.int64
        assert np.array_equal(ours, graph[f"orbits_k{k}"]), name


def test_every_orbit_has_one_number(truth) -> None:
    """No two columns of the truth are equal, so that a wrong number would be noticed."""
    columns = np.concatenate([graph["orbits_k5"] for graph in truth.values()])
    assert len(np.unique(columns, axis=1).T) == 73


GRAPHS = {
    "dense": nx.gnp_random_graph(70, 0.8, seed=1),
    "wide": nx.gnp_random_graph(150, 0.3, seed=2),
    "power law": nx.barabasi_albert_graph(2000, 4, seed=3),
    "clustered": nx.powerlaw_cluster_graph(1500, 6, 0.9, seed=4),
    "clique": nx.complete_graph(67),
    "cliques": nx.ring_of_cliques(5, 12),
    "bipartite": nx.complete_bipartite_graph(9, 70),
    "star": nx.star_graph(3000),
    "disconnected": nx.disjoint_union_all([nx.cycle_graph(5), nx.empty_graph(3), nx.wheel_graph(80)]),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_counts_over_vertices_add_up_to_the_counts_of_patterns(name: str, k: int) -> None:
    table = az.count(GRAPHS[name], range(2, k + 1)).to_pandas().iloc[0]
    totals = az.orbits(GRAPHS[name], k).sum(axis=0)
    for number, pattern, vertices in az.orbit_positions(k):
        assert totals[number] == table[pattern.name] * len(vertices), (number, pattern)


@pytest.mark.parametrize("file", ["ca-AstroPh-lcc", "facebook_combined"])
def test_counts_over_vertices_of_large_graphs_add_up(data_dir, file: str) -> None:
    graph = az.read_graphs(data_dir / f"{file}.txt.gz")
    table = az.count(graph, range(2, 6)).to_pandas().iloc[0]
    totals = az.orbits(graph, 5).sum(axis=0, dtype=object)
    assert totals.tolist() == [int(table[pattern.name]) * len(v) for _, pattern, v in az.orbit_positions(5)]


@pytest.mark.parametrize(
    "graph",
    [
        nx.circulant_graph(90, range(1, 25)),
        nx.circulant_graph(300, [1, 2, 3, 5, 8, 13]),
        nx.Graph(nx.complete_multipartite_graph(*[18] * 5).edges),
        nx.convert_node_labels_to_integers(nx.hypercube_graph(7)),
        nx.dodecahedral_graph(),
    ],
    ids=["dense", "sparse", "multipartite", "hypercube", "dodecahedron"],
)
def test_vertices_that_are_alike_have_equal_counts(graph: nx.Graph) -> None:
    """They have different ranks, and so different parts in the computation."""
    counts = az.orbits(graph, 5)
    assert (counts == counts[0]).all()
    assert counts[0].any()


def test_the_smaller_orbits_are_the_first_columns() -> None:
    five = az.orbits(GRAPHS["clustered"], 5)
    for k in (2, 3, 4):
        assert np.array_equal(az.orbits(GRAPHS["clustered"], k), five[:, : ORBITS[k]])


def test_the_order_of_the_vertices_does_not_matter() -> None:
    order = np.random.default_rng(0).permutation(150)
    renamed = nx.relabel_nodes(GRAPHS["wide"], dict(enumerate(order.tolist())))
    ordered = nx.empty_graph(150)
    ordered.add_edges_from(renamed.edges)
    assert np.array_equal(az.orbits(ordered, 5)[order], az.orbits(GRAPHS["wide"], 5))


def test_threads_do_not_change_the_result() -> None:
    graphs = az.GraphSet.from_networkx([GRAPHS["cliques"], GRAPHS["disconnected"], GRAPHS["wide"]])
    for each in (graphs, graphs[2]):
        one, four = az.orbits(each, 5, threads=1), az.orbits(each, 5, threads=4)
        assert all(np.array_equal(a, b) for a, b in zip(one, four, strict=True))


def test_one_graph_gives_an_array_and_a_list_gives_a_list() -> None:
    path = nx.path_graph(4)
    assert az.orbits(path, 4).shape == (4, 15)
    assert [rows.shape for rows in az.orbits([path], 4)] == [(4, 15)]
    assert [rows.shape for rows in az.orbits([path, nx.empty_graph(0), nx.empty_graph(2)], 3)] == [
        (4, 4),
        (0, 4),
        (2, 4),
    ]
    assert az.orbits([], 4) == []


def test_progress_rises_to_one() -> None:
    shares: list[float] = []
    az.orbits([GRAPHS["cliques"], GRAPHS["dense"]], 5, threads=1, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1.0


@pytest.mark.parametrize("k", [1, 6, 4.0, "4", True, None])
def test_other_sizes_are_an_error(k: object) -> None:
    with pytest.raises(ValueError, match="up to k = 2, 3, 4 or 5 vertices; got k="):
        az.orbits(nx.path_graph(3), k)


def test_colors_are_ignored_on_request() -> None:
    colored = az.GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "O"])
    assert np.array_equal(az.orbits(colored, 3, colors=False), az.orbits(colored.without_colors(), 3))


def star(leaves: int) -> az.GraphSet:
    return az.GraphSet.from_edges(np.stack([np.zeros(leaves, np.int64), np.arange(1, leaves + 1)], axis=1))


def test_counts_that_fit_64_bits_are_exact_and_larger_ones_are_an_error() -> None:
    counts = az.orbits(star(100_000), 5)
    assert counts[0].tolist()[23] == 100_000 * 99_999 * 99_998 * 99_997 // 24
    assert counts[1].tolist()[22] == 99_999 * 99_998 * 99_997 // 6
    with pytest.raises(OverflowError, match=r"graph 0: vertex 0 may lie in 6.7e\+19 subgraphs of 5 vertices"):
        az.orbits(star(200_000), 5)
    assert az.orbits(star(200_000), 4)[0, 7] == 200_000 * 199_999 * 199_998 // 6


@pytest.mark.parametrize("k", [4, 5])
@pytest.mark.parametrize("name", GRAPHS)
def test_no_orbit_count_exceeds_the_number_of_trees(name: str, k: int) -> None:
    graphs = az.GraphSet.from_networkx(GRAPHS[name])
    oriented = orient(graphs.indptr, graphs.indices)
    most = _trees(oriented, k).max(axis=0)[oriented.rank]
    largest = az.orbits(graphs, k)[:, ORBITS[k - 1] :].max(axis=1)
    assert (largest <= most * (1 + 1e-9)).all()
    if name == "star":
        assert largest.max() == most.max()
