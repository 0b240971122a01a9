"""Graphs of other libraries: what is taken over, and what is refused with which words."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from anysize import GraphClassifier, GraphError, GraphSet, GraphWarning, count
from anysize.io.convert import as_graphset


class Data(SimpleNamespace):
    """What the reader sees of a PyG Data: fields, and a class of that name in that package."""


Data.__module__ = "torch_geometric.data.data"


def molecule() -> Any:
    graph = nx.Graph()
    graph.add_node("o", atom="O")
    graph.add_node("c1", atom="C")
    graph.add_node("c2", atom="C")
    graph.add_edges_from([("c2", "c1"), ("c1", "o")])
    return graph


# ---- networkx ------------------------------------------------------------------------------------


def test_networkx_vertices_keep_the_order_of_iteration() -> None:
    graphs = GraphSet.from_networkx(molecule(), color="atom", y="alcohol")
    assert graphs.color_names() == ("O", "C", "C")
    assert graphs.edges().tolist() == [[0, 1], [1, 2]]
    assert graphs.y is not None
    assert graphs.y.tolist() == ["alcohol"]


def test_networkx_takes_lists_generators_and_no_graphs() -> None:
    several = GraphSet.from_networkx((nx.path_graph(n) for n in range(4)), y=[0, 0, 1, 1])
    assert several.sizes.tolist() == [0, 1, 2, 3]
    assert several.edge_counts.tolist() == [0, 0, 1, 2]
    assert len(GraphSet.from_networkx([])) == 0


def test_networkx_directions_are_not_repetitions() -> None:
    directed = nx.DiGraph([(0, 1), (1, 0), (1, 2)])
    with pytest.warns(GraphWarning, match=r"^Directions of edges are not used\.$"):
        assert GraphSet.from_networkx(directed).edges().tolist() == [[0, 1], [1, 2]]


def test_networkx_parallel_edges_and_loops_are_dropped_with_one_warning() -> None:
    multi = nx.MultiGraph([(0, 1), (1, 0), (0, 1), (2, 2)])
    with pytest.warns(GraphWarning, match="Dropped 1 self loop and 2 repeated edges") as caught:
        graphs = GraphSet.from_networkx([multi, nx.path_graph(2)])
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert graphs.edge_counts.tolist() == [1, 1]


def test_networkx_subclasses_and_views_count_as_networkx() -> None:
    class Mine(nx.Graph):  # type: ignore[misc]
        pass

    assert GraphSet.from_networkx(Mine([(5, 7)])).edges().tolist() == [[0, 1]]
    assert GraphSet.from_networkx(nx.path_graph(5).subgraph([1, 2])).sizes.tolist() == [2]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ({"o": None}, "Graph 1: vertex 'o' has no attribute 'atom'"),
        ({"c1": float("nan")}, "graph 1, attribute 'atom': vertex 1 has the color nan"),
        ({"c2": 1.5}, "graph 1, attribute 'atom': vertex 2 has the color 1.5"),
        ({"c2": ("a", "b")}, "graph 1, attribute 'atom': expected one color per vertex"),
    ],
)
def test_networkx_bad_colors_are_named(broken: dict[str, object], message: str) -> None:
    second = molecule()
    nx.set_node_attributes(second, broken, "atom")
    with pytest.raises(GraphError, match=re.escape(message)):
        GraphSet.from_networkx([molecule(), second], color="atom")


def test_integer_and_string_colors_of_several_graphs_stay_apart() -> None:
    one, two = nx.empty_graph(2), nx.empty_graph(2)
    nx.set_node_attributes(one, {0: 2, 1: 10}, "c")
    nx.set_node_attributes(two, {0: "2", 1: 2}, "c")
    graphs = GraphSet.from_networkx([one, two, nx.empty_graph(0)], color="c")
    assert graphs.palette == (2, 10, "2")
    assert [graphs.color_names(g) for g in range(3)] == [(2, 10), ("2", 2), ()]


def test_large_integer_colors_stay_exact_beside_other_numbers() -> None:
    graphs = GraphSet.from_edges([[], []], colors=[[2**60 + 1], [1.0]])
    assert graphs.palette == (1, 2**60 + 1)


def test_one_hot_attributes_need_one_width() -> None:
    one, two = nx.empty_graph(1), nx.empty_graph(1)
    nx.set_node_attributes(one, {0: [0, 1]}, "h")
    nx.set_node_attributes(two, {0: [0, 1, 0]}, "h")
    assert GraphSet.from_networkx([one, one], color="h").color_names(1) == (1,)
    with pytest.raises(GraphError, match="one width in all graphs"):
        GraphSet.from_networkx([one, two], color="h")


@pytest.mark.parametrize("wrong", [5, "graph", {0: [1]}, None])
def test_networkx_refuses_what_is_no_graph(wrong: object) -> None:
    with pytest.raises(GraphError, match="Expected a networkx graph or a list of them"):
        GraphSet.from_networkx(wrong)


def test_networkx_names_the_stranger_in_a_list() -> None:
    with pytest.raises(GraphError, match=re.escape("Graph 1 of the list is a int; expected a networkx graph")):
        GraphSet.from_networkx([nx.path_graph(2), 7])


@pytest.mark.parametrize("y", [[1], [1, 2, 3], [[1], [2]]])
def test_labels_are_one_per_graph(y: list[Any]) -> None:
    with pytest.raises(GraphError, match="one label for each of the 2 graphs"):
        GraphSet.from_networkx([nx.path_graph(2), nx.path_graph(2)], y=y)


# ---- igraph --------------------------------------------------------------------------------------


def test_igraph_edges_colors_and_labels() -> None:
    ring = igraph.Graph.Ring(4)
    ring.vs["kind"] = ["a", "b", "a", "b"]
    graphs = GraphSet.from_igraph([ring, ring], color="kind", y=[0, 1])
    assert graphs.edges(1).tolist() == [[0, 1], [0, 3], [1, 2], [2, 3]]
    assert graphs.color_names(0) == ("a", "b", "a", "b")


def test_igraph_parallel_edges_count_whichever_way_they_point() -> None:
    with pytest.warns(GraphWarning, match="1 repeated"):
        GraphSet.from_igraph(igraph.Graph(2, [(0, 1), (1, 0)]))
    both_ways = igraph.Graph(2, [(0, 1), (1, 0)], directed=True)
    assert GraphSet.from_igraph(both_ways).edge_counts.tolist() == [1]


def test_igraph_missing_colors_are_named() -> None:
    ring = igraph.Graph.Ring(3)
    with pytest.raises(GraphError, match="Graph 0: vertex 0 has no attribute 'kind'"):
        GraphSet.from_igraph(ring, color="kind")
    ring.vs[0]["kind"] = 1
    with pytest.raises(GraphError, match="Graph 0: vertex 1 has no attribute 'kind'"):
        GraphSet.from_igraph(ring, color="kind")


# ---- PyG -----------------------------------------------------------------------------------------


def test_pyg_edges_one_hot_colors_and_own_labels() -> None:
    one = Data(num_nodes=3, edge_index=np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), x=np.eye(3)[[2, 0, 2]], y=[1])
    two = Data(num_nodes=1, edge_index=None, x=np.eye(3)[[1]], y=np.array([[0]]))
    graphs = GraphSet.from_pyg([one, two], color="x")
    assert graphs.edges(0).tolist() == [[0, 1], [1, 2]]
    assert graphs.palette == (0, 1, 2)
    assert graphs.color_names(0) == (2, 0, 2)
    assert graphs.y is not None
    assert graphs.y.tolist() == [1, 0]
    with pytest.warns(GraphWarning, match="the field 'x', which is not used"):
        assert GraphSet.from_pyg([one, two]).colors is None
    assert GraphSet.from_pyg([one, two], "x", y=[5, 6]).y.tolist() == [5, 6]  # type: ignore[union-attr]


def test_pyg_labels_that_are_missing_or_not_single_are_left_out_with_a_word() -> None:
    edges = np.array([[0], [1]])
    labeled, bare = Data(num_nodes=2, edge_index=edges, y=[1]), Data(num_nodes=2, edge_index=edges, y=None)
    with pytest.warns(GraphWarning, match="1 of 3 graphs have y and the others have none, so that the set has none"):
        assert GraphSet.from_pyg([bare, labeled, bare]).y is None
    several = Data(num_nodes=2, edge_index=edges, y=np.zeros((1, 3)))
    with pytest.warns(GraphWarning, match=r"The y of graph 1 has shape \(1, 3\) where a label is one number"):
        assert GraphSet.from_pyg([labeled, several]).y is None
    assert GraphSet.from_pyg([labeled, several], y=[0, 1]).y is not None
    assert GraphSet.from_pyg([bare, bare]).y is None
    assert GraphSet.from_pyg(Data(num_nodes=2, edge_index=edges, y=[1, 2])).y is None  # labels of the vertices


def test_pyg_column_of_floats_says_how_to_cast_it() -> None:
    column = np.array([[0.0], [1.0]], np.float32)
    data = Data(num_nodes=2, edge_index=np.array([[0], [1]]), x=column)
    with pytest.raises(GraphError, match=r"Graph 0: the field 'x' is one column of float32; .* data\.x\.long\(\)"):
        GraphSet.from_pyg(data, color="x")
    data.x = np.ones((2, 1), np.float32)  # one-hot rows of width one
    assert GraphSet.from_pyg(data, color="x").palette == (0,)


@pytest.mark.parametrize("read", [GraphSet.from_networkx, GraphSet.from_pyg, GraphSet.from_igraph])
def test_one_attribute_is_the_color(read: Any) -> None:
    with pytest.raises(GraphError, match=re.escape("got ['atom', 'charge']. Join several into one first")):
        read([], color=["atom", "charge"])


def test_tuples_are_no_colors() -> None:
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, ("C", 1), "kind")
    with pytest.raises(GraphError, match="Several attributes of a vertex make one color as text, such as"):
        GraphSet.from_networkx(graph, color="kind")


def test_pyg_strings_in_a_column_are_colors() -> None:
    data = Data(num_nodes=2, edge_index=None, kind=[["C"], ["O"]])
    assert GraphSet.from_pyg(data, color="kind").palette == ("C", "O")


def test_pyg_data_of_several_kinds_of_vertices_are_refused() -> None:
    hetero = pytest.importorskip("torch_geometric.data").HeteroData()
    for read in (GraphSet.from_pyg, as_graphset):
        with pytest.raises(GraphError, match=r"got torch_geometric\.HeteroData"):
            read(hetero)


def test_pyg_column_of_integers_holds_colors() -> None:
    data = Data(num_nodes=2, edge_index=np.array([[0], [1]]), z=np.array([[6], [8]]))
    assert GraphSet.from_pyg(data, color="z").color_names() == (6, 8)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"num_nodes": None}, "Graph 0: the PyG Data does not tell its number of vertices"),
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
            "Graph 0: the field 'x' has 2 columns and is not one-hot; give every vertex one category in a field of its",
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
    with pytest.raises(GraphError, match="PyG labels are numbers"):
        graphs.with_y(["a", "b"]).to_pyg()


def test_pyg_batches_of_a_loader_are_taken_apart() -> None:
    pytest.importorskip("torch_geometric")
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
    assert count(loader, k=3).matrix.toarray().tolist() == [[0, 1], [1, 0], [0, 0], [2, 0], [0, 0]]
    by_hand = Batch(edge_index=data[0].edge_index, num_nodes=3)
    with pytest.raises(GraphError, match="cannot be taken apart into its graphs"):
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


# ---- scipy and numpy matrices --------------------------------------------------------------------


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_matrix, sp.coo_array, sp.lil_array, sp.dok_array, np.array])
def test_matrices_of_every_form(form: Any) -> None:
    with pytest.warns(GraphWarning, match="Weights of edges are not used: any non-zero is an edge"):
        graphs = GraphSet.from_scipy(form(np.array([[0, -0.5, 0], [0, 0, 3], [0, 1, 0]])), colors=["a", "b", "a"])
    assert graphs.edges().tolist() == [[0, 1], [1, 2]]
    assert graphs.color_names() == ("a", "b", "a")


def test_stored_zeros_and_canceling_entries_are_no_edges() -> None:
    zero = sp.csr_array((np.array([0.0, 1.0]), (np.array([0, 1]), np.array([1, 2]))), shape=(3, 3))
    assert GraphSet.from_scipy(zero).edges().tolist() == [[1, 2]]
    ends = np.array([0, 0]), np.array([1, 1])
    canceling = sp.coo_array((np.array([1, -1]), ends), shape=(2, 2))
    assert GraphSet.from_scipy(canceling).edge_counts.tolist() == [0]
    assert canceling.nnz == 2  # the input is left as it was


def test_several_matrices() -> None:
    triangle = 1 - np.eye(3, dtype=int)
    graphs = GraphSet.from_scipy([triangle, sp.csr_array((2, 2))], colors=[["a", "b", "c"], ["c", "c"]], y=[0, 1])
    assert graphs.edge_counts.tolist() == [3, 0]
    assert graphs.color_names(1) == ("c", "c")
    assert GraphSet.from_scipy(np.stack([triangle, triangle])).edge_counts.tolist() == [3, 3]


def test_matrices_may_be_data_frames_and_tensors() -> None:
    torch = pytest.importorskip("torch")
    triangle = 1 - np.eye(3)
    for make in (pd.DataFrame, lambda matrix: torch.tensor(matrix, requires_grad=True)):
        assert GraphSet.from_scipy(make(triangle)).edge_counts.tolist() == [3]
        assert GraphSet.from_scipy([make(triangle), make(np.zeros((2, 2)))]).sizes.tolist() == [3, 2]
    assert GraphSet.from_scipy(torch.zeros(2, 4, 4)).sizes.tolist() == [4, 4]
    with pytest.raises(GraphError, match="expected a matrix of numbers"):
        GraphSet.from_scipy(pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"]}))


def test_matrix_diagonals_are_self_loops() -> None:
    with pytest.warns(GraphWarning, match="Dropped 3 self loops"):
        assert GraphSet.from_scipy(np.ones((3, 3))).edge_counts.tolist() == [3]


@pytest.mark.parametrize(
    ("matrices", "colors", "message"),
    [
        (np.zeros((2, 3)), None, "Graph 0: an adjacency matrix is square; this one has shape (2, 3)"),
        ([np.eye(2) * 0, sp.coo_array(np.ones(4))], None, "Graph 1: an adjacency matrix is square"),
        (np.array([[0, np.nan], [1, 0]]), None, "Graph 0: the entry in row 0, column 1 is nan"),
        (sp.csr_array(np.array([[0, 1], [np.inf, 0]])), None, "Graph 0: the entry in row 1, column 0 is inf"),
        (np.array([["", "x"], ["x", ""]]), None, "Graph 0: expected a matrix of numbers"),
        ([[[0, 1], [1, 0]]], None, "Graph 0 is a list; expected a scipy sparse matrix"),
        (7, None, "Expected a scipy sparse matrix, a 2-D numpy array or a list of them; got int"),
        (np.zeros((2, 2)), ["a"], "Graph 0 has 2 vertices but 1 colors"),
        ([np.zeros((2, 2))], ["a", "b"], "colors: for a list of 1 graphs give a list of 1"),
        ([np.zeros((1, 1))] * 2, [["a"], None], "Graph 1 has no colors and others have"),
    ],
)
def test_matrix_refusals(matrices: Any, colors: Any, message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        GraphSet.from_scipy(matrices, colors=colors)


# ---- edges ---------------------------------------------------------------------------------------


def test_edges_in_any_container() -> None:
    expected = [[0, 1], [1, 2]]
    for edges in (
        [(0, 1), (2, 1)],
        np.array([[0, 1], [1, 2]], np.uint8),
        {(0, 1), (1, 2)},
        nx.path_graph(3).edges,
    ):
        assert GraphSet.from_edges(edges).edges().tolist() == expected
    assert GraphSet.from_edges(zip([0, 1, 1], [1, 0, 2], strict=True)).edges().tolist() == expected


def test_edges_number_of_vertices() -> None:
    assert GraphSet.from_edges([(0, 3)]).sizes.tolist() == [4]
    assert GraphSet.from_edges([(0, 1)], n_vertices=5).sizes.tolist() == [5]
    assert GraphSet.from_edges([(0, 1)], colors=["a", "b", "c"]).sizes.tolist() == [3]
    assert GraphSet.from_edges([]).sizes.tolist() == [0]
    assert GraphSet.from_edges(np.zeros((0, 2), int), n_vertices=2).sizes.tolist() == [2]


def test_edges_of_several_graphs() -> None:
    graphs = GraphSet.from_edges([[], [(0, 1)], np.array([[1, 2]])], n_vertices=[1, 2, 3], y=[0, 1, 2])
    assert graphs.sizes.tolist() == [1, 2, 3]
    assert graphs.edges(2).tolist() == [[1, 2]]
    colored = GraphSet.from_edges([[(0, 1)], [(0, 1)]], colors=[["a", "b"], ["b", "b"]])
    assert colored.color_names(1) == ("b", "b")
    assert len(GraphSet.from_edges([[], []])) == 2
    assert len(GraphSet.from_edges(np.array([[[0, 1]], [[1, 0]], [[2, 0]]]))) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edges": [(0, -1)]}, "Graph 0: edge 0 joins the vertices 0 and -1"),
        ({"edges": [(0, 1), (1, 5)], "n_vertices": 3}, "edge 1 joins the vertices 1 and 5; with 3 vertices"),
        ({"edges": [(0.0, 1.0)]}, "expected edges as an (m, 2) array of integers; got float64"),
        ({"edges": [(0, 1, 2)]}, "got int64 of shape (1, 3)"),
        ({"edges": [(0, 1), (2,)]}, "rows that differ"),
        ({"edges": [0, 1]}, "shape (2,)"),
        ({"edges": ["ab"]}, "shape (1,)"),
        ({"edges": [("ann", "bob")]}, "got names, such as 'ann'. Pass networkx.Graph(edges) to GraphSet.from_networkx"),
        ({"edges": 5}, "Expected edges or a list of them; got int"),
        ({"edges": [(0, 2**31)], "n_vertices": 2**31 + 1}, "Graph 0 has 2147483649 vertices"),
        ({"edges": np.array([[0, 2**63]], np.uint64)}, "vertex 9223372036854775808 is above the limit"),
        ({"edges": [(0, 10**30)]}, "expected edges as an (m, 2) array of integers; got object"),
        ({"edges": [], "n_vertices": -1}, "Graph 0 has -1 vertices"),
        ({"edges": [], "n_vertices": 2.5}, "n_vertices: expected an integer; got 2.5"),
        ({"edges": [(0, 1)], "colors": "CO"}, "Expected a list or an array of colors"),
        ({"edges": [(0, 1)], "colors": 3}, "Expected a list or an array of colors"),
        (
            {"edges": [(0, 1)], "n_vertices": 2, "colors": np.array(3)},
            "Expected a list or an array of colors",
        ),
        ({"edges": [[(0, 1)], [(0, 1)]], "n_vertices": 2}, "n_vertices: for a list of 2 graphs"),
        ({"edges": [[(0, 1)], [(0, 1)]], "n_vertices": [2, 1]}, "Graph 1: edge 0 joins"),
    ],
)
def test_edge_refusals(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        GraphSet.from_edges(**arguments)


def test_numbers_that_would_make_mostly_isolated_vertices_are_refused() -> None:
    with pytest.raises(GraphError, match=r"vertex 2000000000 in only 1 edges .* pass n_vertices"):
        GraphSet.from_edges([(0, 2_000_000_000)])
    assert len(GraphSet.from_edges([(0, 3)], n_vertices=2_000_000).degrees) == 2_000_000
