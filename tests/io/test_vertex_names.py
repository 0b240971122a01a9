"""Vertices keep the names that they have in their source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from anysize import GraphSet, read_graphs


def names_of(graphs: GraphSet) -> list[Any] | None:
    return None if graphs.vertex_names is None else graphs.vertex_names.tolist()


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0 1\n1 2\n", None),
        ("1 2\n2 3\n", [1, 2, 3]),
        ("7 4000000000\n7 5\n", [5, 7, 4000000000]),
        ("3 2\n1 2\n2 3\n", [1, 2, 3]),  # the first line has the numbers of vertices and edges
        ("4 2\n0 1\n1 2\n", None),
        ("ann bob\nbob eve\n", ["ann", "bob", "eve"]),
        ("source,target,weight\n9,4,1\n4,2,1\n", [2, 4, 9]),
        ("graph,source,target\na,x,y\nb,y,z\na,y,z\n", ["x", "y", "z", "y", "z"]),
        ("graph,source,target\na,0,1\nb,5,7\n", [0, 1, 5, 7]),
    ],
)
def test_edge_lists_and_tables(text: str, names: list[Any] | None, tmp_path: Path) -> None:
    file = tmp_path / "edges.csv"
    file.write_text(text)
    graphs = read_graphs(file)
    assert names_of(graphs) == names
    if names is not None and isinstance(names[0], int):
        assert graphs.vertex_names is not None
        assert graphs.vertex_names.dtype == np.int64  # no Python object per vertex of a large file


def test_graph_libraries_and_their_files(tmp_path: Path) -> None:
    graph = nx.relabel_nodes(nx.path_graph(3), {0: "ann", 1: ("bob", 1), 2: 7})
    assert names_of(GraphSet.from_networkx(graph)) == ["ann", "('bob', 1)", "7"]
    assert names_of(GraphSet.from_networkx(nx.path_graph(4))) is None
    assert names_of(GraphSet.from_networkx(nx.path_graph([2, 0, 1]))) == [2, 0, 1]
    nx.write_graphml(graph, tmp_path / "g.graphml")
    assert names_of(read_graphs(tmp_path / "g.graphml")) == ["ann", "('bob', 1)", "7"]
    nx.write_gml(nx.path_graph(["ann", "bob", "eve"]), tmp_path / "g.gml")
    assert names_of(read_graphs(tmp_path / "g.gml")) == ["ann", "bob", "eve"]
    igraph = pytest.importorskip("igraph")
    path = igraph.Graph([(0, 1), (1, 2)])
    assert names_of(GraphSet.from_igraph(path)) is None
    path.vs["name"] = ["x", "y", "z"]
    assert names_of(GraphSet.from_igraph(path)) == ["x", "y", "z"]
    pandas = pytest.importorskip("pandas")
    assert names_of(GraphSet.from_pandas(pandas.DataFrame({"source": ["q", "r"], "target": ["r", "p"]}))) == [*"qrp"]


def test_parts_and_sums_keep_names() -> None:
    named = GraphSet.from_networkx([nx.path_graph(["a", "b"]), nx.path_graph(["c", "d", "e"])])
    numbered, plain = GraphSet.from_networkx(nx.path_graph([8, 9])), GraphSet.from_edges([[(0, 1)], [(0, 1)]])
    assert names_of(named[[1, 0]]) == ["c", "d", "e", "a", "b"]
    assert names_of(named[1]) == ["c", "d", "e"]
    assert names_of(named + plain) == ["a", "b", "c", "d", "e", "0", "1", "0", "1"]
    assert names_of(plain + numbered) == [0, 1, 0, 1, 8, 9]
    assert names_of(plain + plain) is None
    assert names_of(named.with_y([0, 1]).without_colors()) == ["a", "b", "c", "d", "e"]
