"""Convert edge arrays."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import anysize as az
from anysize import GraphError, GraphSet, GraphWarning


def test_edges_in_any_container() -> None:
    expected = [[0, 1], [1, 2]]
    for edges in (
        [(0, 1), (2, 1)],
        np.array([[0, 1], [1, 2]], np.uint8),
        {(0, 1), (1, 2)},
        nx.path_graph(3).edges,
    ):
        assert GraphSet.from_edges(edges).edges().tolist() == expected
    assert GraphSet.from_edges(zip([0, 1, 1, 2], [1, 0, 2, 1], strict=True)).edges().tolist() == expected


def test_edges_number_of_vertices() -> None:
    assert GraphSet.from_edges([(0, 3)]).sizes.tolist() == [4]
    assert GraphSet.from_edges([(0, 1)], n_vertices=5).sizes.tolist() == [5]
    assert GraphSet.from_edges([(0, 1)], colors=["a", "b", "c"]).sizes.tolist() == [3]
    assert GraphSet.from_edges([]).sizes.tolist() == [0]
    assert GraphSet.from_edges(np.zeros((0, 2), int), n_vertices=2).sizes.tolist() == [2]


def test_numbers_that_begin_above_0_are_reported() -> None:
    """Numbers from 1, or one numbering for all graphs, make isolated vertices where the size is not given."""
    path = np.array([(0, 1), (1, 2)])
    for edges, told in ((path + 1, "the graph"), ([path, path + 3, path + 6], "2 of 3 graphs")):
        with pytest.warns(GraphWarning, match=f"n {told} vertex 0 has no edge"):
            GraphSet.from_edges(edges)
    assert GraphSet.from_edges([path, path + 1]).sizes.tolist() == [3, 4], "half of the graphs: by chance"
    assert GraphSet.from_edges(path + 1, n_vertices=4).sizes.tolist() == [4]


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
        ({"edges": [(0, 1), (1, 5)], "n_vertices": 3}, "edge 1 joins the vertices 1 and 5; vertices of"),
        ({"edges": [(0.0, 1.0)]}, "expected edges as an (m, 2) array of integers; got float64"),
        ({"edges": [(0, 1, 2)]}, "got int64 of shape (1, 3)"),
        ({"edges": [(0, 1), (2,)]}, "rows of different lengths"),
        ({"edges": [0, 1]}, "shape (2,)"),
        ({"edges": ["ab"]}, "shape (1,)"),
        ({"edges": [("ann", "bob")]}, "got names, such as 'ann'"),
        ({"edges": 5}, "Expected edges or a list of edge arrays; got int"),
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


def test_an_array_file_of_two_columns_holds_edges(tmp_path: Path) -> None:
    pairs = np.array([(0, 1), (1, 2), (2, 0), (2, 3)], np.int32)
    expected = GraphSet.from_edges(pairs)
    for order in ("C", "F"):
        np.save(tmp_path / "g.npy", np.asarray(pairs, order=order))
        graph = az.read_graphs(tmp_path / "g.npy")
        assert graph.edges().tolist() == expected.edges().tolist()
        assert graph.names == ("g",)
    np.save(tmp_path / "matrix.npy", np.array([(0, 1), (1, 0)]))  # square: an adjacency matrix
    assert az.read_graphs(tmp_path / "matrix.npy").edges().tolist() == [[0, 1]]
    np.save(tmp_path / "far.npy", np.array([(0, 1), (1, 2), (2, 2**31 - 1)], np.int32))
    with pytest.raises(GraphError, match="number the vertices from 0"):
        az.read_graphs(tmp_path / "far.npy")
