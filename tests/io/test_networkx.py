"""Convert networkx graphs."""

from __future__ import annotations

import re
from typing import Any

import networkx as nx
import pytest

from anysize import GraphError, GraphSet, GraphWarning


def molecule() -> Any:
    graph = nx.Graph()
    graph.add_node("o", atom="O")
    graph.add_node("c1", atom="C")
    graph.add_node("c2", atom="C")
    graph.add_edges_from([("c2", "c1"), ("c1", "o")])
    return graph


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
    graphs = GraphSet.from_networkx(directed)
    assert graphs.edges().tolist() == [[0, 1], [1, 2]]
    assert graphs.arcs().tolist() == [[0, 1], [1, 0], [1, 2]]


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


def test_networkx_names_the_item_of_another_type() -> None:
    with pytest.raises(GraphError, match=re.escape("Graph 1 of the list has type int; expected a networkx graph")):
        GraphSet.from_networkx([nx.path_graph(2), 7])


@pytest.mark.parametrize("y", [[1], [1, 2, 3], [[1, 2], [2, 1], [1, 1]]])
def test_labels_are_one_per_graph(y: list[Any]) -> None:
    with pytest.raises(GraphError, match="one label for each of the 2 graphs"):
        GraphSet.from_networkx([nx.path_graph(2), nx.path_graph(2)], y=y)
