"""Edge lists, folders of adjacency matrices, and how `read` tells them apart."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

import anysize as az
from anysize import GraphError, GraphWarning, read_graphs
from anysize.io import archive
from anysize.io.adjacency import from_adjacency_csv
from anysize.io.edgelist import read_edge_lists


def write(where: Path, text: str | bytes, name: str = "graph.txt") -> Path:
    path = where / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


# ---- edge lists ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "0 1\n1 2\n",
        "0\t1\n1\t2",
        "0,1\n1, 2\n",
        "# a comment, 5 6\n% another\n\n0 1\n  # 7 8\n   \n1 2\n\n",
        "0 1 0.5\n1 2 -3e4 2020-01-01\n",
        "0,1,0.5\n1,2,x\n",
        "0 1 {'weight': 1, 'b': 2}\n1 2 {}\n",
        "0 1 caf\u00e9\n1 2\n",
        "0 1\r\n1 2\r\n",
        "0 1\n1 0\n1 2\n",
        "  +0  1 \n1 2,7\n",
    ],
)
def test_edge_lists_of_many_makes(tmp_path: Path, text: str) -> None:
    assert read_graphs(write(tmp_path, text)).edges().tolist() == [[0, 1], [1, 2]]
    assert read_graphs(write(tmp_path, gzip.compress(text.encode()), "graph.txt.gz")).sizes.tolist() == [3]
    assert read_graphs(write(tmp_path, gzip.compress(text.encode()), "packed.edges")).sizes.tolist() == [3]


def test_scattered_numbers_are_renumbered_by_size(tmp_path: Path) -> None:
    graphs = read_graphs(write(tmp_path, f"70 3\n3 {10**17}\n"))
    assert graphs.sizes.tolist() == [3]
    assert graphs.edges().tolist() == [[0, 1], [0, 2]]  # 3, 70, 10**17
    assert read_graphs(write(tmp_path, "1 2\n")).sizes.tolist() == [2]


def test_edge_list_repetitions_give_one_warning(tmp_path: Path) -> None:
    path = write(tmp_path, "0 1\n0 1\n1 0\n1 1\n")
    with pytest.warns(GraphWarning, match="Dropped 1 self loop and 1 repeated edge while reading 1 graph") as caught:
        read_graphs(path)
    assert len(caught) == 1
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "graph.txt holds no edges"),
        ("# nothing\n\n", "graph.txt holds no edges"),
        ("# one\n0 1\n\n2\n", "graph.txt, line 4: expected 2 integers; got '2'"),
        ("0 1\n1 x\n", "graph.txt, line 2: expected 2 integers; got '1 x'"),
        ("0 1.0\n", "graph.txt, line 1: expected 2 integers; got '0 1.0'"),
        ("0,,1\n", "graph.txt, line 1: expected 2 integers"),
        ("source,target\n0,1\n", "graph.txt, line 1: expected 2 integers; got 'source,target'"),
        ("# one\n\n0 1\n2 -1\n", "graph.txt, line 4: vertex numbers start at 0; got 2 and -1"),
        ("0 99999999999999999999\n", "graph.txt, line 1: the number '99999999999999999999' is too large"),
        ("0 1_0\n", "graph.txt, line 1: expected 2 integers; got '0 1_0'"),
        ("0 " + "x" * 100, "got '0 " + "x" * 38 + "...'"),
        (b"\x89PNG\0\0", "graph.txt is not a text file"),
        (b"0\xa01\n", "graph.txt, line 1: expected 2 integers"),
    ],
)
def test_broken_edge_lists_are_named_with_their_line(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        read_graphs(write(tmp_path, text))


def test_broken_gzip_files(tmp_path: Path) -> None:
    packed = gzip.compress(b"".join(b"%d %d\n" % (n, n + 1) for n in range(1000)))
    for broken in (
        packed[:-20],
        packed[: len(packed) // 2],
        packed[:15] + b"\0\0\0\0" + packed[19:],
        b"0 1\n",
    ):
        with pytest.raises(GraphError, match=r"Cannot unpack .*graph\.txt\.gz"):
            read_graphs(write(tmp_path, broken, "graph.txt.gz"))


def test_gzip_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "_FREE_BYTES", 1 << 16)
    path = write(tmp_path, gzip.compress(b"0 1\n" * 100_000), "graph.txt.gz")
    with pytest.raises(GraphError, match="above the limit"):
        read_graphs(path)


@pytest.mark.parametrize("text", ["ann bob\n", "source,target\n0,1\n", "0 1\n1 bob\n"])
def test_names_and_headers_say_what_reads_them(tmp_path: Path, text: str) -> None:
    with pytest.raises(GraphError, match=r"a header begins with #; networkx\.read_edgelist reads names\.$"):
        read_graphs(write(tmp_path, text))


def test_the_sizes_of_a_matrix_market_file_are_no_edge(tmp_path: Path) -> None:
    path = tmp_path / "graph.mtx"
    mmwrite(path, sp.coo_array(np.eye(3, k=1)))
    with pytest.raises(GraphError, match=r"is a Matrix Market file; pass scipy\.io\.mmread"):
        read_graphs(path)


def test_a_folder_of_edge_lists_is_a_set_with_names(tmp_path: Path) -> None:
    write(tmp_path, "10 20\r\n20 30\r\n", "b.2.edges")
    write(tmp_path, "# one edge\n5 6\n6 6\n", "a.txt")
    write(tmp_path, gzip.compress(b"0 1\n1 2\n2 0\n2 2\n"), "c.edgelist.gz")
    write(tmp_path, "no edges here", "README.md")
    (tmp_path / "more.txt").mkdir()
    with pytest.warns(GraphWarning, match="Dropped 2 self loops while reading 3 graphs") as caught:
        graphs = read_graphs(tmp_path)
    assert len(caught) == 1
    assert graphs.names == ("a", "b.2", "c")
    assert graphs.sizes.tolist() == [2, 3, 3]
    assert graphs.edge_counts.tolist() == [1, 2, 3]
    write(tmp_path, "1 x\n", "d.txt")
    with pytest.raises(GraphError, match=r"d\.txt, line 1: expected 2 integers"):
        read_graphs(tmp_path)
    with pytest.raises(
        GraphError, match=r"holds no edge lists: looked for files that end in \.txt, \.edges, \.edgelist"
    ):
        read_edge_lists(tmp_path / "more.txt")


# ---- adjacency matrices --------------------------------------------------------------------------


def test_adjacency_matrices_one_graph_per_file(tmp_path: Path) -> None:
    write(tmp_path, ",a,b,c\na,0,0.5,0\nb,0.5,0,-1e-3\nc,0,-1e-3,0\n", "s02_Schizophrenia.csv")
    write(tmp_path, '"",0,1\r\n0,0,1\r\n1,1,0\r\n\r\n', "s01.csv")
    write(tmp_path, "not a matrix", "notes.txt")
    with pytest.warns(GraphWarning, match=r"Weights of edges are not used: any non-zero is an edge\.$"):
        graphs = from_adjacency_csv(tmp_path)
    assert graphs.names == ("s01", "s02_Schizophrenia")
    assert graphs.y is None
    assert graphs.edges(0).tolist() == [[0, 1]]
    assert graphs.edges(1).tolist() == [[0, 1], [1, 2]]
    assert from_adjacency_csv(tmp_path, warn=False).equals(graphs)
    assert from_adjacency_csv(tmp_path, pattern="*Schizo*.csv", warn=False).equals(graphs[1])


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
def test_margins_of_a_matrix_are_told_by_its_shape(
    tmp_path: Path, names: Sequence[object], header: bool, index: bool, kind: type
) -> None:
    frame = pd.DataFrame(PATH.astype(kind), list(names), list(names))
    frame.to_csv(tmp_path / "m.csv", header=header, index=index)
    assert from_adjacency_csv(tmp_path, warn=False).edges().tolist() == [[0, 1], [1, 2], [2, 3]]


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
    assert from_adjacency_csv(tmp_path, warn=False).edges().tolist() == [[0, 1], [1, 2], [2, 3]]


@pytest.mark.parametrize("loop", [np.nan, np.inf, 1.0])
def test_correlations_of_every_pair_are_told_and_their_diagonal_is_no_edge(tmp_path: Path, loop: float) -> None:
    matrix = np.array([[loop, 0.1, 0.2], [0.1, loop, -0.3], [0.2, -0.3, loop]])
    np.savetxt(tmp_path / "m.csv", matrix, delimiter=",")
    for make in (lambda: read_graphs(tmp_path), lambda: az.GraphSet.from_scipy(matrix)):
        with pytest.warns(GraphWarning) as caught:
            assert make().edges().tolist() == [[0, 1], [0, 2], [1, 2]]
        told = [str(one.message) for one in caught]
        assert told[0] == "Dropped 3 self loops while reading 1 graph."
        assert "in 1 of 1 graph every pair of vertices is joined; set weak weights to 0 first" in told[1]


def test_adjacency_loops_give_one_warning_for_all_files(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv"):
        write(tmp_path, ",0,1\n0,1,1\n1,1,1\n", name)
    with pytest.warns(GraphWarning, match="Dropped 4 self loops while reading 2") as caught:
        assert read_graphs(tmp_path).edge_counts.tolist() == [1, 1]
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "m.csv holds no matrix"),
        (",0,1\n\n", "m.csv holds no matrix"),
        (",0,1\n0,0,1\n1,1,x\n", "m.csv, line 3: expected a number; got 'x'"),
        (",0,1\n0,0,nan\n1,1,0\n", "m.csv, line 2: expected a number; got 'nan'"),
        (",0,1\n0,0,inf\n1,1,0\n", "m.csv, line 2: expected a number; got 'inf'"),
        (",0,1\n0,0,1_0\n1,1,0\n", "m.csv, line 2: expected a number; got '1_0'"),
        (",0,1\n0,0,\n1,1,0\n", "m.csv, line 2: expected a number; got ''"),
        (
            ",0,1\n0,0,1\n1,1\n",
            "m.csv, line 3: expected 2 numbers after the index, since the matrix has 2 rows; got 1",
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


# ---- telling them apart --------------------------------------------------------------------------


def test_paths_that_hold_nothing_say_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="There is no file or folder"):
        read_graphs(tmp_path / "missing")
    with pytest.raises(GraphError, match=r"looked for a TU set .* for adjacency matrices .* and for edge lists"):
        read_graphs(tmp_path)
    with pytest.raises(GraphError, match=r"looked for files \*\.csv"):
        from_adjacency_csv(tmp_path)
    with pytest.raises(GraphError, match="There is no folder"):
        from_adjacency_csv(tmp_path / "missing")


def test_one_file_of_a_tu_set_is_not_an_edge_list(tmp_path: Path) -> None:
    path = write(tmp_path, "1, 2\n", "SET_A.txt")
    write(tmp_path, "1\n1\n", "SET_graph_indicator.txt")
    with pytest.raises(GraphError, match="is one file of a TU set; read the folder"):
        read_graphs(path)
    with pytest.raises(GraphError, match="name= chooses a set in a TU folder"):
        read_graphs(path, name="SET")
