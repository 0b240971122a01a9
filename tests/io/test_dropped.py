"""Warnings about attributes, weights and directions that are not used: one per set, and only if they differ."""

from __future__ import annotations

import warnings
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from anysize import GraphSet, GraphWarning, count


def warning(make: Any, *arguments: Any, **named: Any) -> str:
    """The one warning, or nothing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make(*arguments, **named)
    assert all(one.category is GraphWarning for one in caught)
    assert len(caught) <= 1
    return str(caught[0].message) if caught else ""


def path(vertices: dict[str, list[Any]] | None = None, edges: dict[str, list[Any]] | None = None) -> Any:
    graph = nx.path_graph(3)
    for name, values in (vertices or {}).items():
        nx.set_node_attributes(graph, dict(zip(graph, values, strict=False)), name)
    for name, values in (edges or {}).items():
        nx.set_edge_attributes(graph, dict(zip(graph.edges, values, strict=False)), name)
    return graph


@pytest.mark.parametrize(
    ("graph", "beginning"),
    [
        (path(), ""),
        (path({"kind": ["a", "b", "a"]}), "Vertices have the attribute 'kind', "),
        (path({"kind": ["a", "a", "a"]}), ""),
        (path({"marked": [True]}), "Vertices have the attribute 'marked', "),
        (path({"pos": [(0, 0), (0, 1), (1, 1)], "name": ["a", "b", "c"], "x": [1.0, 2.0, 3.0]}), ""),
        (path({"f": [np.zeros(2), np.ones(2), np.ones(3)]}), "Vertices have the attribute 'f', "),
        (path({"f": [np.ones(2), np.ones(2), np.ones(2)]}), ""),
        (
            path({"a": [1, 2, 3], "b": [1, 2, 3]}),
            "Vertices have the attributes 'a', 'b', ",
        ),
        (path({name: [1, 2, 3] for name in "abcd"}), "Vertices have the attributes 'a', 'b', 'c', ..., "),
        (path(edges={"weight": [1.0, 2.0]}), "Edges have the attribute 'weight', "),
        (path(edges={"weight": [1.0, 1.0]}), ""),
        (nx.DiGraph([(0, 1), (1, 2)]), ""),
        (nx.DiGraph([(0, 1), (1, 0)]), ""),
        (nx.DiGraph(), ""),
        (nx.from_numpy_array(1 - np.eye(3)), ""),
        (nx.random_geometric_graph(6, 0.5, seed=1), ""),
    ],
)
def test_networkx(graph: Any, beginning: str) -> None:
    found = warning(GraphSet.from_networkx, [graph, nx.empty_graph(0)])
    assert found.startswith(beginning)
    assert bool(found) == bool(beginning)


def test_everything_is_in_one_warning() -> None:
    graph = nx.Graph([(0, 1, {"weight": 1}), (1, 2, {"weight": 2})])
    graph.nodes[0]["kind"] = "a"
    message = warning(GraphSet.from_networkx, [graph] * 5)
    assert all(part in message for part in ("color='kind'", "edge_color='weight'"))
    assert warning(count, [graph] * 5, k=3) == warning(GraphSet.from_networkx, graph)


def test_values_are_compared_across_graphs() -> None:
    assert "'kind'" in warning(GraphSet.from_networkx, [path({"kind": [1, 1, 1]}), path({"kind": [2, 2, 2]})])
    assert "'kind'" in warning(GraphSet.from_networkx, [path({"kind": [1, 1, 1]}), path()])


def test_vertex_attributes_are_not_mentioned_if_color_is_given() -> None:
    assert warning(GraphSet.from_networkx, path({"kind": [1, 2, 1], "charge": [1, 2, 3]}), color="kind") == ""
    assert "weight" in warning(GraphSet.from_networkx, path({"kind": [1, 2, 1]}, {"weight": [1, 2]}), color="kind")
    assert warning(GraphSet.from_networkx, path({"kind": [1, 2, 1]}), features="kind") == ""
    assert warning(GraphSet.from_networkx, path(edges={"weight": [1, 2]}), edge_color="weight") == ""


def test_igraph() -> None:
    ring = igraph.Graph.Ring(4)
    assert warning(GraphSet.from_igraph, ring) == ""
    ring.vs["name"] = ["a", "b", "c", "d"]
    ring.vs["kind"] = [1, 1, 1, 1]
    ring.es["weight"] = [0.5] * 4
    assert warning(GraphSet.from_igraph, [ring, ring]) == ""
    ring.vs["kind"] = [1, 2, 1, 2]
    ring.es["weight"] = [0.5, 1, 1, 1]
    message = warning(GraphSet.from_igraph, [ring, ring])
    assert "color='kind'" in message
    assert "'weight'" in message
    ring.es["weight"] = [1, 1, 2, 2]
    assert warning(GraphSet.from_igraph, ring, color="kind", edge_color="weight") == ""


def test_pyg() -> None:
    torch = pytest.importorskip("torch")
    from torch_geometric.data import Data

    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    data = Data(edge_index=edges, num_nodes=3, pos=torch.rand(3, 2))
    assert warning(GraphSet.from_pyg, data) == ""
    data.x = torch.ones(3, 4)
    assert warning(GraphSet.from_pyg, [data, data]) == ""
    data.x = torch.rand(3, 4)
    assert warning(GraphSet.from_pyg, [data, data]) == ""  # features
    data.x = torch.eye(4)[[0, 1, 0]]
    assert warning(GraphSet.from_pyg, [data, data]) == ""  # colors
    data.x = torch.tensor([[0, 1], [2, 1], [0, 1]])
    assert "color='x'" in warning(GraphSet.from_pyg, [data, data])
    data.x, data.z = None, torch.tensor([1, 2, 1])
    data.edge_attr, data.edge_weight = torch.tensor([[1.0], [2.0], [1.0], [1.0]]), torch.ones(4)
    assert warning(GraphSet.from_pyg, data, color="z").startswith("Edges have the field 'edge_attr', ")
    assert "color='z'" in warning(GraphSet.from_pyg, data)
    data.z, data.atoms, data.train_mask, data.order = None, ["C", "C", "O"], data.z > 1, [1.0, 2.0, 1.0, 1.0]
    assert "Vertices have the field 'atoms', " in warning(GraphSet.from_pyg, [data, data])
    assert "edges have the fields 'edge_attr', 'order'" in warning(GraphSet.from_pyg, [data, data])
    other = Data(edge_index=edges, num_nodes=3)
    assert warning(GraphSet.from_pyg, [data, other]).startswith("Edges have the field 'edge_attr', ")
    data.atoms = data.order = None
    data.edge_attr, data.x = None, torch.eye(3).to_sparse()
    assert "the field 'x'" in warning(GraphSet.from_pyg, data)


def test_weights_in_matrices() -> None:
    ring = np.eye(4, k=1) + np.eye(4, k=-1)
    for matrix in (ring, 3 * ring, sp.csr_array(ring), np.zeros((3, 3))):
        assert warning(GraphSet.from_scipy, matrix) == ""
    assert "weights are not used" in warning(GraphSet.from_scipy, [ring, 2 * ring])
    assert "self loops" in warning(GraphSet.from_scipy, ring + 0.5 * np.eye(4))  # and no warning about weights


def test_directions_are_kept_and_need_no_warning() -> None:
    directed = np.eye(4, k=1)
    assert warning(GraphSet.from_scipy, directed) == ""
    assert GraphSet.from_scipy(directed).arcs().tolist() == [[0, 1], [1, 2], [2, 3]]
    both = GraphSet.from_scipy([sp.csr_array(directed + directed.T), sp.csr_array(directed)])
    assert both[0].directions is None
    assert both[1].equals(GraphSet.from_scipy(directed))
    assert GraphSet.from_scipy(directed + directed.T).directions is None
    assert GraphSet.from_edges([(0, 1), (1, 0), (1, 2)]).arcs().tolist() == [[0, 1], [1, 0], [1, 2]]
    assert GraphSet.from_edges([(0, 1), (1, 2)]).directions is None
    assert GraphSet.from_edges([(0, 1), (1, 2)], directed=True).arcs().tolist() == [[0, 1], [1, 2]]
    assert GraphSet.from_edges([(0, 1), (1, 0), (1, 2)], directed=False).directions is None
    torch = pytest.importorskip("torch")
    from torch_geometric.data import Data

    data = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
    assert GraphSet.from_pyg(data).arcs().tolist() == [[0, 1], [1, 2]]
