"""Convert PyG graphs."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import networkx as nx
import numpy as np
import pytest

from anysize import GraphClassifier, GraphError, GraphSet, GraphWarning, count
from anysize.io.convert import as_graphset


class Data(SimpleNamespace):
    """A stand-in for PyG's Data: fields, and a class of that name in that package."""


Data.__module__ = "torch_geometric.data.data"


def test_pyg_edges_one_hot_colors_and_own_labels() -> None:
    one = Data(num_nodes=3, edge_index=np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), x=np.eye(3)[[2, 0, 2]], y=[1])
    two = Data(num_nodes=1, edge_index=None, x=np.eye(3)[[1]], y=np.array([[0]]))
    graphs = GraphSet.from_pyg([one, two], color="x")
    assert graphs.edges(0).tolist() == [[0, 1], [1, 2]]
    assert graphs.palette == (0, 1, 2)
    assert graphs.color_names(0) == (2, 0, 2)
    assert graphs.y is not None
    assert graphs.y.tolist() == [1, 0]
    assert GraphSet.from_pyg([one, two]).color_names(0) == (2, 0, 2)  # one-hot rows are colors
    assert GraphSet.from_pyg([one, two], "x", y=[5, 6]).y.tolist() == [5, 6]  # type: ignore[union-attr]


def test_pyg_labels_that_are_missing_or_not_single_are_left_out_with_a_warning() -> None:
    edges = np.array([[0, 1], [1, 0]])
    labeled, bare = Data(num_nodes=2, edge_index=edges, y=[1]), Data(num_nodes=2, edge_index=edges, y=None)
    with pytest.warns(GraphWarning, match="1 of 3 graphs have y"):
        assert GraphSet.from_pyg([bare, labeled, bare]).y is None
    several = Data(num_nodes=2, edge_index=edges, y=np.zeros((1, 3)))
    with pytest.warns(GraphWarning, match=r"raph 1 has y of shape \(1, 3\)"):
        assert GraphSet.from_pyg([labeled, several]).y is None
    assert GraphSet.from_pyg([labeled, several], y=[0, 1]).y is not None
    assert GraphSet.from_pyg([bare, bare]).y is None
    assert GraphSet.from_pyg(Data(num_nodes=2, edge_index=edges, y=[1, 2])).y is None  # labels of the vertices


def test_pyg_column_of_floats_says_how_to_cast_it() -> None:
    column = np.array([[0.0], [1.0]], np.float32)
    data = Data(num_nodes=2, edge_index=np.array([[0, 1], [1, 0]]), x=column)
    with pytest.raises(GraphError, match=r"Graph 0: the field 'x' is one column of float32; .* data\.x\.long\(\)"):
        GraphSet.from_pyg(data, color="x")
    data.x = np.ones((2, 1), np.float32)  # one-hot rows of width one
    assert GraphSet.from_pyg(data, color="x").palette == (0,)


@pytest.mark.parametrize("read", [GraphSet.from_networkx, GraphSet.from_pyg, GraphSet.from_igraph])
def test_one_attribute_is_the_color(read: Any) -> None:
    with pytest.raises(GraphError, match=re.escape("got ['atom', 'charge']")):
        read([], color=["atom", "charge"])


def test_tuples_are_no_colors() -> None:
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, ("C", 1), "kind")
    with pytest.raises(GraphError, match="one-hot"):
        GraphSet.from_networkx(graph, color="kind")


def test_pyg_strings_in_a_column_are_colors() -> None:
    data = Data(num_nodes=2, edge_index=None, kind=[["C"], ["O"]])
    assert GraphSet.from_pyg(data, color="kind").palette == ("C", "O")


def test_pyg_data_of_several_kinds_of_vertices_are_refused() -> None:
    hetero = pytest.importorskip("torch_geometric.data").HeteroData()
    for read in (GraphSet.from_pyg, as_graphset):
        with pytest.raises(GraphError, match=r"got torch_geometric\.HeteroData\..*to_homogeneous"):
            read(hetero)


def test_pyg_column_of_integers_holds_colors() -> None:
    data = Data(num_nodes=2, edge_index=np.array([[0, 1], [1, 0]]), z=np.array([[6], [8]]))
    assert GraphSet.from_pyg(data, color="z").color_names() == (6, 8)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"num_nodes": None}, "set num_nodes"),
        (
            {"num_nodes": 2, "edge_index": np.array([[0], [2]]), "x": [0, 1]},
            "Graph 0: edge 0 joins the vertices 0 and 2",
        ),
        (
            {"num_nodes": 2, "edge_index": np.array([[0.0], [1.0]])},
            "Graph 0: expected edges as an (m, 2) array",
        ),
        (
            {"num_nodes": 4, "edge_index": np.array([[0, 1], [1, 2], [2, 3]])},
            "Graph 0: expected an edge_index of shape (2, edges); got (3, 2)",
        ),
        ({"num_nodes": 2, "edge_index": None}, "Graph 0: the PyG Data has no field 'x'"),
        ({"num_nodes": 2, "edge_index": None, "adj_t": 1}, "undo the ToSparseTensor transform"),
        ({"num_nodes": 2, "edge_index": None, "x": np.eye(3)}, "Graph 0 has 2 vertices but 3 colors"),
        (
            {"num_nodes": 2, "edge_index": None, "x": np.ones((2, 2))},
            "Graph 0: the field 'x' has 2 columns and is not one-hot",
        ),
    ],
)
def test_pyg_refusals(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        GraphSet.from_pyg(Data(**fields), color="x")


def test_pyg_real_data_batches_and_back() -> None:
    pytest.importorskip("torch_geometric")
    from torch_geometric.data import Batch

    graphs = GraphSet.from_edges([[(0, 1), (1, 2)], [(0, 1)]], n_vertices=[4, 2], y=[1, 0])
    colored = GraphSet.concatenate(
        [
            GraphSet.from_edges(graphs.edges(0), n_vertices=4, colors=[0, 1, 2, 0], y=[1]),
            GraphSet.from_edges(graphs.edges(1), n_vertices=2, colors=[2, 2], y=[0]),
        ]
    )
    for original, color in ((graphs, None), (colored, "x")):
        data = original.to_pyg()
        assert GraphSet.from_pyg(data, color=color).equals(original)
        assert GraphSet.from_pyg(Batch.from_data_list(data), color=color).equals(original)
        assert GraphSet.from_pyg(data[0], color=color).equals(original[0])
    with pytest.raises(GraphError, match="must be numbers"):
        graphs.with_y(["a", "b"]).to_pyg()


def test_pyg_batches_of_a_loader_are_split() -> None:
    pytest.importorskip("torch_geometric")
    from torch.utils.data import Subset
    from torch_geometric.data import Batch
    from torch_geometric.loader import DataLoader

    edges = [[(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2)], [(0, 1)], [(0, 1), (1, 2), (2, 3)], [(0, 1)]]
    graphs = GraphSet.from_edges(edges, y=[0, 1, 2, 3, 4])
    data = graphs.to_pyg()
    loader = DataLoader(data, batch_size=2)
    assert GraphSet.from_pyg(loader).equals(graphs)
    assert GraphSet.from_pyg(list(loader)).equals(graphs)
    assert GraphSet.from_pyg([Batch.from_data_list(data[:2]), *data[2:]]).equals(graphs)
    assert as_graphset(loader).equals(graphs)
    assert as_graphset(Subset(data, [3, 1])).equals(graphs[[3, 1]])
    assert count(loader, k=3).matrix.toarray().tolist() == [[0, 1], [1, 0], [0, 0], [2, 0], [0, 0]]
    shuffled = DataLoader(data, batch_size=2, shuffle=True)
    for convert in (GraphSet.from_pyg, as_graphset):
        with pytest.warns(GraphWarning, match="shuffles"):
            assert sorted(np.asarray(convert(shuffled).y).tolist()) == [0, 1, 2, 3, 4]
    by_hand = Batch(edge_index=data[0].edge_index, num_nodes=3)
    with pytest.raises(GraphError, match="cannot be split into graphs"):
        GraphSet.from_pyg([by_hand])


def test_a_classifier_takes_a_loader() -> None:
    pytest.importorskip("torch_geometric")
    from torch_geometric.loader import DataLoader

    sizes = [4 + number % 3 for number in range(12)]
    edges = [[(v, v + 1) for v in range(n - 1)] + ([(n - 1, 0)] if g % 2 else []) for g, n in enumerate(sizes)]
    graphs = GraphSet.from_edges(edges, y=[g % 2 for g in range(12)])
    loader = DataLoader(graphs.to_pyg(), batch_size=5)
    model = GraphClassifier("topology-only", k=3).fit(loader)
    assert model.predict(loader).tolist() == GraphClassifier("topology-only", k=3).fit(graphs).predict(graphs).tolist()


def test_rows_of_targets_with_gaps_there_and_back() -> None:
    torch = pytest.importorskip("torch")
    batches = pytest.importorskip("torch_geometric.data").Batch
    nan = float("nan")
    rows = [[0.0, nan, 2.0], [nan, 1.0, 0.5]]
    items = [Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2, y=torch.tensor([row])) for row in rows]
    graphs = GraphSet.from_pyg(items)
    assert graphs.targets == ("0", "1", "2")
    np.testing.assert_array_equal(graphs.y, rows)
    back = GraphSet.from_pyg(batches.from_data_list(graphs.to_pyg()))
    assert back.equals(graphs)


def test_columns_of_integers_are_types_of_edges_though_they_look_one_hot_in_one_graph() -> None:
    edges = np.array([[0, 1], [1, 0]])
    items = [Data(num_nodes=2, edge_index=edges, edge_attr=np.array([row, row])) for row in ([1, 0, 0], [2, 0, 1])]
    assert GraphSet.from_pyg(items).edge_palette == ("1,0,0", "2,0,1")
    assert GraphSet.from_pyg(items[:1]).edge_palette == (0, 1, 2)


def test_floats_in_x_are_features_also_where_that_is_an_error() -> None:
    pairs = np.array([[0, 1], [1, 0]])
    whole = Data(num_nodes=2, edge_index=pairs, x=np.array([[0.5, 1.0], [1.0, 0.0]]))
    damaged = Data(num_nodes=2, edge_index=pairs, x=np.array([[0.5, np.nan], [1.0, 0.0]]))
    narrow = Data(num_nodes=2, edge_index=pairs, x=np.array([[0.5], [1.0]]))
    with pytest.raises(GraphError, match=r"Graph 1, features: vertex 0, column 1 has nan"):
        GraphSet.from_pyg([whole, damaged])
    with pytest.raises(GraphError, match="same features"):
        GraphSet.from_pyg([whole, narrow])
    assert GraphSet.from_pyg([whole, damaged], features=[]).features is None


def test_colors_and_features_chosen_by_name_take_the_place_of_one_hot_rows() -> None:
    data = Data(num_nodes=2, edge_index=np.array([[0, 1], [1, 0]]), x=np.eye(2), kind=np.array([7, 8]))
    assert GraphSet.from_pyg(data, color="kind").palette == (7, 8)
    graphs = GraphSet.from_pyg(data, features="x")
    assert graphs.colors is None
    assert graphs.features is not None
