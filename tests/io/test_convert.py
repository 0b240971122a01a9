"""as_graphset, and the conversion to networkx and PyG."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from anysize import GraphError, GraphSet, GraphWarning, count
from anysize.io.convert import as_graphset


def colored_path() -> Any:
    path = nx.path_graph(3)
    nx.set_node_attributes(path, {0: "a", 1: "b", 2: "a"}, "kind")
    return path


@pytest.mark.parametrize(
    "graph",
    [
        nx.path_graph(3),
        nx.DiGraph([(0, 1), (1, 0), (1, 2), (2, 1)]),
        igraph.Graph([(0, 1), (1, 2)]),
        sp.csr_array(np.eye(3, k=1) + np.eye(3, k=-1)),
    ],
    ids=["networkx", "networkx directed", "igraph", "scipy"],
)
def test_one_graph_or_several_of_every_kind(graph: Any) -> None:
    expected = GraphSet.from_edges([(0, 1), (1, 2)])
    assert as_graphset(graph).equals(expected)
    assert as_graphset([graph]).equals(expected)
    assert as_graphset((graph, graph)).equals(expected + expected)
    assert as_graphset(one for one in [graph]).equals(expected)


def test_graph_sets_pass_through_or_are_joined() -> None:
    graphs = GraphSet.from_edges([[(0, 1)], [(0, 1), (1, 2)]], y=[0, 1])
    assert as_graphset(graphs) is graphs
    assert as_graphset(list(graphs)).equals(graphs)
    assert len(as_graphset([])) == 0


def test_colors_only_on_request() -> None:
    ring = igraph.Graph.Ring(3)
    ring.vs["kind"] = [1, 2, 3]
    with pytest.warns(GraphWarning, match="color='kind'"):
        assert as_graphset(colored_path()).colors is None
    assert as_graphset([colored_path()], color="kind").color_names() == ("a", "b", "a")
    with pytest.warns(GraphWarning, match="attribute 'kind'"):
        assert as_graphset(ring).colors is None
    assert as_graphset(ring, color="kind").color_names() == (1, 2, 3)


def test_paths_are_read(tmp_path: Path) -> None:
    file = tmp_path / "graph.txt"
    file.write_text("0 1\n1 2\n")
    for path in (file, str(file)):
        assert as_graphset(path).equals(replace(GraphSet.from_edges([(0, 1), (1, 2)]), names=("graph",)))


@pytest.mark.parametrize(
    ("graphs", "color", "message"),
    [
        (np.zeros((2, 2)), None, "GraphSet.from_edges or GraphSet.from_scipy"),
        ([np.zeros((2, 2))], None, "An array of shape (2, 2)"),
        ([pd.DataFrame(np.zeros((2, 2)))], None, "A data frame with the columns 0, 1"),
        (pd.DataFrame(np.zeros((2, 2))), None, "A data frame with the columns 0, 1"),
        (
            [nx.path_graph(2), igraph.Graph.Ring(3)],
            None,
            "Graph 0 of the list is a networkx graph and graph 1 is an igraph graph",
        ),
        ([nx.path_graph(2), None], None, "Graph 1 of the list has type NoneType"),
        ([(0, 1), (1, 2)], None, "Graph 0 of the list has type tuple"),
        (3, None, "got int"),
        ({"a": nx.path_graph(2)}, None, "got dict"),
        (sp.csr_array((2, 2)), "kind", "got an adjacency matrix"),
        (GraphSet.from_edges([(0, 1)]), "kind", "got a GraphSet"),
    ],
)
def test_refusals(graphs: Any, color: str | None, message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        as_graphset(graphs, color=color)


def test_a_list_of_symmetric_matrices_is_a_list_of_graphs() -> None:
    made = [nx.path_graph(2), nx.house_graph(), nx.cycle_graph(4)]
    matrices = [nx.to_numpy_array(graph) for graph in made]
    assert as_graphset(matrices).equals(as_graphset(made))
    assert as_graphset(tuple(matrices)).equals(as_graphset(made))
    assert count(matrices, 3).matrix.toarray().tolist() == count(made, 3).matrix.toarray().tolist()
    with pytest.raises(GraphError, match="adjacency matrix"):
        as_graphset(matrices, color="kind")


@pytest.mark.parametrize(
    "matrices",
    [
        [np.array([[0, 1], [1, 0]])],  # might be a list of edges
        [np.triu(np.ones((3, 3)), 1)],  # one direction only
        [np.zeros((3, 2)), np.zeros((3, 3))],
        [np.array([0, 1, 1])],
    ],
)
def test_other_arrays_are_not_taken_for_matrices(matrices: list[Any]) -> None:
    with pytest.raises(GraphError, match="An array of shape"):
        as_graphset(matrices)


def test_to_networkx_keeps_isolated_vertices_and_colors() -> None:
    graphs = GraphSet.from_edges([[(0, 1)], []], n_vertices=[3, 1], colors=[["a", 2, "a"], [2]])
    first, second = graphs.to_networkx(color="kind")
    assert dict(first.nodes(data="kind")) == {0: "a", 1: 2, 2: "a"}
    assert list(first.edges) == [(0, 1)]
    assert dict(second.nodes(data="kind")) == {0: 2}
    assert dict(graphs.without_colors().to_networkx()[1].nodes(data=True)) == {0: {}}


def test_missing_libraries_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = GraphSet.from_edges([(0, 1)])
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match="pip install networkx"):
        graphs.to_networkx()
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    monkeypatch.setitem(sys.modules, "torch_geometric.data", None)
    with pytest.raises(ImportError, match=re.escape("pip install 'anysize[learn]'")):
        graphs.to_pyg()


def test_readers_import_no_graph_library() -> None:
    code = (
        "import sys, scipy.sparse as s; from anysize.io.convert import as_graphset; as_graphset([s.csr_array((3, 3))]);"
        "print(sorted({'networkx', 'igraph', 'torch', 'torch_geometric', 'numba'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
