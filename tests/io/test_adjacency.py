"""Read folders of adjacency matrices."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import anysize as az
from anysize import GraphError, GraphWarning, read_graphs


def write(where: Path, text: str | bytes, name: str = "graph.txt") -> Path:
    path = where / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_adjacency_matrices_one_graph_per_file(tmp_path: Path) -> None:
    write(tmp_path, ",a,b,c\na,0,0.5,0\nb,0.5,0,-1e-3\nc,0,-1e-3,0\n", "s02_Schizophrenia.csv")
    write(tmp_path, '"",0,1\r\n0,0,1\r\n1,1,0\r\n\r\n', "s01.csv")
    write(tmp_path, "not a matrix", "notes.txt")
    with pytest.warns(GraphWarning) as caught:
        graphs = read_graphs(tmp_path)
    assert ["weights are not used" in str(one.message) for one in caught].count(True) == 1
    assert ["notes.txt" in str(one.message) for one in caught].count(True) == 1
    assert graphs.names == ("s01", "s02_Schizophrenia")
    assert graphs.y is None
    assert graphs.edges(0).tolist() == [[0, 1]]
    assert graphs.edges(1).tolist() == [[0, 1], [1, 2]]
    assert read_graphs(tmp_path, warn=False).equals(graphs)


PATH = np.array([[0, 1, 0, 0], [1, 0, 2, 0], [0, 2, 0, 3], [0, 0, 3, 0]])  # 0 - 1 - 2 - 3


@pytest.mark.parametrize(
    ("names", "header", "index"),
    [
        (range(4), True, True),  # as pandas writes it
        (range(1, 5), True, True),
        (["a", "b", "c", "d"], True, True),
        (["a", "b", "c", "d"], True, False),
        (["frontal, left", "b", "c", "d"], True, False),
        (range(4), True, False),
        (range(4), False, False),  # as numpy writes it
    ],
)
@pytest.mark.parametrize("kind", [int, float])
def test_header_and_index_are_recognized(
    tmp_path: Path, names: Sequence[object], header: bool, index: bool, kind: type
) -> None:
    frame = pd.DataFrame(PATH.astype(kind), list(names), list(names))
    frame.to_csv(tmp_path / "m.csv", header=header, index=index)
    assert read_graphs(tmp_path, warn=False).edges().tolist() == [[0, 1], [1, 2], [2, 3]]


def test_a_matrix_written_by_numpy_keeps_its_first_vertex(tmp_path: Path) -> None:
    ring = nx.to_numpy_array(nx.cycle_graph(3))
    for name, matrix in (("a.csv", ring), ("b.csv", ring[:2, :2]), ("c.csv", ring[:1, :1])):
        np.savetxt(tmp_path / name, matrix, delimiter=",")
    graphs = read_graphs(tmp_path)
    assert graphs.sizes.tolist() == [3, 2, 1]
    assert graphs.edge_counts.tolist() == [3, 1, 0]


def test_a_numbered_header_and_index_are_no_edges_though_the_corner_is_a_number(tmp_path: Path) -> None:
    table = np.zeros((5, 5), int)
    table[0, 1:] = table[1:, 0] = range(4)
    table[1:, 1:] = PATH
    np.savetxt(tmp_path / "m.csv", table, delimiter=",", fmt="%d")
    assert read_graphs(tmp_path, warn=False).edges().tolist() == [[0, 1], [1, 2], [2, 3]]


@pytest.mark.parametrize("loop", [np.nan, np.inf, 1.0])
def test_correlation_matrices_need_a_threshold_and_the_diagonal_is_no_edge(tmp_path: Path, loop: float) -> None:
    matrix = np.array([[loop, 0.1, 0.2], [0.1, loop, -0.3], [0.2, -0.3, loop]])
    np.savetxt(tmp_path / "m.csv", matrix, delimiter=",")
    for make in (partial(read_graphs, tmp_path), partial(az.GraphSet.from_scipy, matrix)):
        with pytest.raises(GraphError, match=r"a weight for every pair of vertices: .* threshold=0\.5"):
            make()
        assert make(threshold=0.15).edges().tolist() == [[0, 2], [1, 2]]
        assert make(density=0.3).edges().tolist() == [[1, 2]]
        both = make(threshold=[0.15, 0.25])
        assert (both.edges().tolist(), both.edge_palette) == ([[0, 2], [1, 2]], (1, 2))
        assert both.arc_color_names() == (1, 2, 1, 2)


def test_adjacency_loops_give_one_warning_for_all_files(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        write(tmp_path, ",0,1\n0,1,1\n1,1,1\n", name)
    with pytest.warns(GraphWarning, match="Dropped 4 self loops while reading 2") as caught:
        assert read_graphs(tmp_path).edge_counts.tolist() == [1, 1]
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "m.csv is empty"),
        (",0,1\n\n", "m.csv holds no matrix"),
        (",0,1\n0,0,1\n1,1,x\n", "m.csv, line 3: expected a number; got 'x'"),
        (",0,1\n0,0,nan\n1,1,0\n", "m.csv, line 2: expected a number; got 'nan'"),
        (",0,1\n0,0,inf\n1,1,0\n", "m.csv, line 2: expected a number; got 'inf'"),
        (",0,1\n0,0,1_0\n1,1,0\n", "m.csv, line 2: expected a number; got '1_0'"),
        (",0,1\n0,0,\n1,1,0\n", "m.csv, line 2: expected a number; got ''"),
        (
            ",0,1\n0,0,1\n1,1\n",
            "m.csv, line 3: expected 2 numbers after the index",
        ),
        (",0,1,2\n0,0,1,2\n1,1,0,2\n", "m.csv, line 2: expected 2 numbers after the index"),
        (",0,1\n0,0,1,1\n1,1\n", "m.csv, line 2: expected 2 numbers after the index"),
        (",0,1\n0,0,1\n\n1,1,0\n", "m.csv, line 2: expected 3 numbers after the index"),
    ],
)
def test_broken_matrices_are_named_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    write(tmp_path, text, "m.csv")
    with pytest.raises(GraphError, match=re.escape(message)):
        read_graphs(tmp_path)


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        ("0,1,1\n1,0,0\n1,0,0\n", [[0, 1], [0, 2]]),
        ("a,b,c\n0,1,1\n1,0,0\n1,0,0\n", [[0, 1], [0, 2]]),
        (",a,b,c\na,0,1,1\nb,1,0,0\nc,1,0,0\n", [[0, 1], [0, 2]]),
        ("0,1\n1,0\n", [[0, 1]]),
        ("0,2.5,0\n2.5,0,2.5\n0,2.5,0\n", [[0, 1], [1, 2]]),
        ("0,3,3\n3,0,0\n3,0,0\n", [[0, 1], [0, 2]]),
        ("0,1,5\n1,2,5\n2,3,5\n", [[0, 1], [1, 2], [2, 3]]),  # edges with a weight
        ("0,1\n1,2\n", [[0, 1], [1, 2]]),
        ("source,target\n0,1\n1,0\n", [[0, 1]]),
    ],
)
@pytest.mark.parametrize("folder", [False, True])
def test_a_square_csv_is_a_matrix_and_no_edge_list(
    tmp_path: Path, text: str, edges: list[list[int]], folder: bool
) -> None:
    path = write(tmp_path, text, "m.csv")
    assert read_graphs(tmp_path if folder else path).edges().tolist() == edges


def test_a_square_of_zeros_and_ones_in_text_is_a_matrix(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "m.txt", nx.to_numpy_array(nx.cycle_graph(4)))
    assert read_graphs(tmp_path / "m.txt").edge_counts.tolist() == [4]
    np.savetxt(tmp_path / "m.tsv", nx.to_numpy_array(nx.cycle_graph(5)), delimiter="\t")
    assert read_graphs(tmp_path / "m.tsv").edge_counts.tolist() == [5]


def test_one_way_matrices_are_directed(tmp_path: Path) -> None:
    write(tmp_path, "0,1,1\n0,0,0\n0,0,0\n", "m.csv")
    assert read_graphs(tmp_path / "m.csv").arcs().tolist() == [[0, 1], [0, 2]]
