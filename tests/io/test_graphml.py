"""GraphML and GML files."""

from __future__ import annotations

import gzip
import sys
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from anysize import GraphError, GraphSet, GraphWarning, read_graphs
from anysize.io.convert import as_graphset


def molecule() -> nx.Graph:
    graph = nx.path_graph(["c1", "c2", "o"])
    nx.set_node_attributes(graph, {"c1": "C", "c2": "C", "o": "O"}, "atom")
    graph.graph["kind"] = "alcohol"
    return graph


@pytest.mark.parametrize(("ending", "write"), [(".graphml", nx.write_graphml), (".gml", nx.write_gml)])
def test_colors_and_labels_are_attributes(tmp_path: Path, ending: str, write: object) -> None:
    path = tmp_path / f"ethanol{ending}"
    write(molecule(), path)  # type: ignore[operator]
    expected = GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "O"], y=["alcohol"])
    expected = replace(expected, names=("ethanol",), vertex_names=np.array(["c1", "c2", "o"], object))
    assert read_graphs(path, color="atom", y="kind").equals(expected)
    assert as_graphset(path, color="atom").equals(expected.with_y(None))
    with pytest.warns(GraphWarning, match="attribute 'atom'") as caught:
        assert read_graphs(path).colors is None
    assert len(caught) == 1
    packed = path.with_name(path.name + ".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert read_graphs(packed, color="atom").palette == ("C", "O")
    with pytest.raises(GraphError, match="'charge'"):
        read_graphs(path, color="charge")
    with pytest.raises(GraphError, match="no attribute 'class'"):
        read_graphs(path, color="atom", y="class")


def test_directions_are_kept_and_weights_are_said_once(tmp_path: Path) -> None:
    nx.write_graphml(nx.DiGraph([("a", "b", {"w": 1}), ("b", "c", {"w": 2})]), tmp_path / "g.graphml")
    with pytest.warns(GraphWarning) as caught:
        graphs = read_graphs(tmp_path / "g.graphml")
    assert len(caught) == 1
    assert "edge_color='w'" in str(caught[0].message)
    assert graphs.arcs().tolist() == [[0, 1], [1, 2]]
    assert read_graphs(tmp_path / "g.graphml", edge_color="w").arc_color_names() == (1, 2)


def test_all_graphs_of_a_graphml_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "g.graphml"
    nx.write_graphml(nx.path_graph(3), path)
    text = path.read_text()
    first = text[text.index("  <graph ") : text.index("</graphml>")]
    path.write_text(text.replace("</graphml>", first + "</graphml>"))
    assert read_graphs(path).sizes.tolist() == [3, 3]


@pytest.mark.parametrize("name", ["g.graphml", "g.gml"])
@pytest.mark.parametrize(
    "text", ["", "0 1\n", "<graphml></graphml>", "graph [ node [ id 0 ] edge [ source 0 target 1 ] ]"]
)
def test_other_text_is_refused_in_one_sentence(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(GraphError, match=name) as error:
        read_graphs(tmp_path / name)
    assert "\n" not in str(error.value)


def test_networkx_is_named_if_it_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "g.gml").write_text("graph [ ]")
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match="pip install networkx"):
        read_graphs(tmp_path / "g.gml")


def test_several_attributes_are_targets(tmp_path: Path) -> None:
    for number, about in enumerate(({"A": 1, "B": 0.5}, {"B": 1.5}, {"A": 0})):
        nx.write_graphml(nx.path_graph(3), tmp_path / f"{number}.graphml")
        graph = nx.path_graph(3)
        graph.graph.update(about)
        nx.write_graphml(graph, tmp_path / f"{number}.graphml")
    graphs = [read_graphs(tmp_path / f"{number}.graphml", y=["B"]) for number in (0, 1)]
    assert [part.y.tolist() for part in graphs] == [[[0.5]], [[1.5]]]  # type: ignore[union-attr]
    with pytest.raises(GraphError, match="no graph has the attribute 'B'"):
        read_graphs(tmp_path / "2.graphml", y=["A", "B"])
