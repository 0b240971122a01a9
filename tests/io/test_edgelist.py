"""Read edge lists."""

from __future__ import annotations

import gzip
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.io import mmwrite

from anysize import GraphError, GraphSet, GraphWarning, read_graphs


def write(where: Path, text: str | bytes, name: str = "graph.txt") -> Path:
    path = where / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.mark.parametrize(
    "text",
    [
        "0 1\n1 2\n",
        "0\t1\n1\t2",
        "0,1\n1, 2\n",
        "# a comment, 5 6\n% another\n\n0 1\n  # 7 8\n   \n1 2\n\n",
        "0;1\n1;2\n",
        "0 1 0.5\n1 2 0.5\n",
        "0 1 {}\n1 2 {}\n",
        "0 1\r\n1 2\r\n",
        "  +0  1 \n1 2\n",
        "source,target\n0,1\n1,2\n",
        "From Node,To Node\n7,8\n8,9\n",
        "# comment\n\nsource\ttarget\n0\t1\n1\t2\n",
        "user friend\n0 1\n1 2\n",
        "ann bob\nbob cat\n",
        "ann bob 0.5\nbob cat 0.5\n",
        "ann,bob\nbob,cat\n",
        'source;target\n"van, ann";bob\nbob;"cat ""the"" x"\n',
        "weight,target,source\n1,b,a\n1,c,b\n",
    ],
)
def test_variants_of_edge_lists(tmp_path: Path, text: str) -> None:
    assert read_graphs(write(tmp_path, text)).edges().tolist() == [[0, 1], [1, 2]]
    assert read_graphs(write(tmp_path, gzip.compress(text.encode()), "graph.txt.gz")).sizes.tolist() == [3]
    assert read_graphs(write(tmp_path, gzip.compress(text.encode()), "packed.edges")).sizes.tolist() == [3]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("0 1 0.5\n1 2 -3e4 2020-01-01\n", "columns"),
        ("0,1,0.5\n1,2,x\n", "columns"),
        ("0 1 {'weight': 1, 'b': 2}\n1 2 {}\n", "columns"),
        ("0 1 caf\u00e9\n1 2\n", "columns"),
        ("0 1\n1 2,7\n", "columns"),
        ("0 1 2\n1 2 3\n", "columns"),
        ("ann bob 1\nbob cat 2\n", "columns"),
        ("source,target,weight\n0,1,0.5\n1,2,0.7\n", "'weight'"),
        ("source,target,weight,since\n0,1,1,a\n1,2,1,b\n", "column 'since'"),
    ],
)
def test_what_is_dropped_is_said_once(tmp_path: Path, text: str, word: str) -> None:
    path = write(tmp_path, text)
    with pytest.warns(GraphWarning, match=f"(?i){word}") as caught:
        assert read_graphs(path).edges().tolist() == [[0, 1], [1, 2]]
    assert len(caught) == 1
    assert read_graphs(path, warn=False).sizes.tolist() == [3]


def test_lists_with_edges_one_way_and_both_ways_are_directed(tmp_path: Path) -> None:
    assert read_graphs(write(tmp_path, "0 1\n1 0\n1 2\n")).arcs().tolist() == [[0, 1], [1, 0], [1, 2]]
    once = write(tmp_path, "ann bob\nbob cat\n")
    assert read_graphs(once).directions is None
    assert read_graphs(once, directed=True).arcs().tolist() == [[0, 1], [1, 2]]


def test_a_column_holds_the_colors_of_edges(tmp_path: Path) -> None:
    path = write(tmp_path, "source,target,type,since\nann,bob,friend,1\nbob,cat,work,1\ncat,ann,work,1\n")
    graphs = read_graphs(path)
    assert graphs.edge_palette == ("friend", "work")
    assert graphs.edges().tolist() == [[0, 1], [0, 2], [1, 2]]
    assert graphs.with_edge_colors(["friend", "work", "work"]).equals(graphs)
    with pytest.warns(GraphWarning, match="edge_color='type'"):
        assert read_graphs(path, edge_color="since").edge_palette == (1,)
    with pytest.raises(GraphError, match="there is no column 'kind'"):
        read_graphs(path, edge_color="kind")
    several = write(tmp_path, "graph,from,to,relation\na,0,1,2\nb,0,1,1\na,1,2,1\n")
    assert [one.arc_color_names() for one in read_graphs(several)] == [(2, 2, 1, 1), (1, 1)]
    frame = pd.read_csv(several)
    assert GraphSet.from_pandas(frame).equals(read_graphs(several))
    with pytest.warns(GraphWarning, match="edge_color='relation'"):
        assert GraphSet.from_pandas(frame, edge_color="graph").edge_palette == ("a", "b")
    with pytest.raises(GraphError, match="edge 0 has no type"):
        read_graphs(write(tmp_path, "source,target,type\n0,1,\n1,2,3\n"))


@pytest.mark.parametrize(
    ("text", "sizes", "edges"),
    [
        ("5 2\n0 1\n1 2\n", [5], [[0, 1], [1, 2]]),  # vertices 3 and 4 have no edges
        ("# email\n4 2\n1 4\n2 3\n", [4], [[0, 3], [1, 2]]),  # numbered from 1
        ("4 2\n0 4\n2 3\n", [4], [[0, 3], [1, 2], [1, 3]]),  # 0..4 do not fit 4 vertices: an edge
        ("5 3\n0 1\n1 2\n", [5], [[0, 1], [1, 2], [3, 4]]),  # not three lines: an edge
        ("9 1\n", [2], [[0, 1]]),
    ],
)
def test_a_first_line_with_the_numbers_of_vertices_and_edges(
    tmp_path: Path, text: str, sizes: list[int], edges: list[list[int]]
) -> None:
    graphs = read_graphs(write(tmp_path, text))
    assert graphs.sizes.tolist() == sizes
    assert graphs.edges().tolist() == edges


def test_a_header_of_numbers_does_not_hide_weights(tmp_path: Path) -> None:
    path = write(tmp_path, "3 2\n0 1 0.5\n1 2 0.5\n")
    assert read_graphs(path).sizes.tolist() == [3]
    with pytest.warns(GraphWarning, match="Columns"):
        read_graphs(write(tmp_path, "3 2\n0 1 0.5\n1 2 0.7\n"))


@pytest.mark.parametrize("line", ["0" + " " * 20_000 + "x", " " * 20_000 + "x", "0" + " ," * 20_000, "#" * 20_000])
def test_long_lines_of_spaces_take_linear_time(tmp_path: Path, line: str) -> None:
    start = time.process_time()
    with pytest.raises(GraphError):
        read_graphs(write(tmp_path, f"0 1\n{line}\n1 y\n"))
    assert time.process_time() - start < 2  # 12 s if the time is quadratic


@pytest.mark.filterwarnings("ignore::anysize.GraphWarning")
def test_a_million_edges_take_seconds(tmp_path: Path) -> None:
    ends = np.random.default_rng(0).integers(0, 100_000, (1_000_000, 2))
    np.savetxt(tmp_path / "graph.txt", ends, fmt="%d", header="source target", comments="")
    start = time.process_time()
    graphs = read_graphs(tmp_path / "graph.txt")
    assert time.process_time() - start < 10  # about 1 s on an idle machine
    assert graphs.sizes.tolist() == [100_000]


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
        ("\n", "graph.txt is empty"),
        ("# nothing\n\n", "graph.txt holds no edges"),
        ("# one\n0 1\n\n2\n", "graph.txt, line 4: expected 2 integers; got '2'"),
        ("0 1\n1 x\n", "graph.txt, line 2: expected 2 integers; got '1 x'"),
        ("0 1.0\n", "graph.txt, line 1: expected 2 integers; got '0 1.0'"),
        ("0,,1\n", "graph.txt, line 1: expected 2 integers"),
        ("source,target\n", "graph.txt holds no edges"),
        ("source,target\n0,1\n1,x\n", "graph.txt, line 3: expected a vertex number as in the first edge; got 'x'"),
        ("source,target\n0,1\n1,\n", "graph.txt, line 3: expected a value in each of the columns source, target"),
        ("source,target\n0,1\n1,-2\n", "graph.txt, line 3: expected a vertex number"),
        ("person,friend\nann,bob\n", "'person' and 'friend' could be column names or vertices"),
        ("no edges here\nonly words\n", "graph.txt, line 1: expected two vertex names"),
        ("ann bob\ncat\n", "graph.txt, line 2: expected two vertex names"),
        ("name,smiles\nwater,O\n", "pass smiles='smiles'"),
        ("name,SMILES\nwater,O\n", "pass smiles='SMILES' (--smiles SMILES)"),
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


def test_matrix_market_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "graph.mtx"
    mmwrite(path, sp.coo_array(np.eye(3, k=1)))
    with pytest.raises(GraphError, match=r"scipy\.io\.mmread"):
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
    with pytest.raises(GraphError, match=r"holds no graphs.*\.edgelist"):
        read_graphs(tmp_path / "more.txt")
