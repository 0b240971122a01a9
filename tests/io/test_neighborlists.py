"""Neighbor lists, the text format of isomorphism benchmarks."""

from __future__ import annotations

import re
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from anysize import GraphError, GraphSet, GraphWarning, read_graphs

TEXT = "2\n3 1\n0 1 1\n2 2 0 2\n0 1 1\n2 -1\n0 1 1\n0 1 0\n"


def write(where: Path, text: str, name: str = "SET.txt") -> Path:
    path = where / name
    path.write_text(text)
    return path


def test_graphs_labels_and_colors(tmp_path: Path) -> None:
    expected = GraphSet.from_edges([[(0, 1), (1, 2)], [(0, 1)]], colors=[[0, 2, 0], [0, 0]], y=[1, -1])
    for text in (TEXT, TEXT.replace("\n", " \r\n"), "\n" + TEXT + "\n", TEXT.replace(" ", "  ")):
        assert read_graphs(write(tmp_path, text)).equals(expected)


def test_equal_tags_are_no_colors(tmp_path: Path) -> None:
    assert read_graphs(write(tmp_path, TEXT.replace("2 2 0 2", "0 2 0 2"))).colors is None


def test_zip_files_with_files_of_folds(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "SET.zip", "w") as archive:
        archive.writestr("SET/SET.txt", TEXT)
        archive.writestr("SET/10fold_idx/test_idx-1.txt", "0\n1\n")
    assert read_graphs(tmp_path / "SET.zip").equals(read_graphs(write(tmp_path, TEXT)))
    with zipfile.ZipFile(tmp_path / "SET.zip", "a") as archive:
        archive.writestr("SET/MORE.txt", TEXT)
    assert read_graphs(tmp_path / "SET.zip").names == ("MORE:0", "MORE:1", "SET:0", "SET:1")
    with zipfile.ZipFile(tmp_path / "SET.zip", "a") as archive:
        archive.writestr("TWO/TWO.txt", TEXT)
    with pytest.raises(GraphError, match="several folders: SET, TWO"):
        read_graphs(tmp_path / "SET.zip")


def test_attributes_after_the_neighbors_are_features_and_directions_are_kept(tmp_path: Path) -> None:
    text = "1\n3 1\n0 1 1 0.5 -1e-3\n2 1 2 0.5 7\n0 1 1 .5 7.\n"
    graphs = read_graphs(write(tmp_path, text))
    assert graphs.arcs().tolist() == [[0, 1], [1, 2], [2, 1]]
    assert graphs.features is not None
    assert graphs.features.tolist() == np.array([[0.5, -1e-3], [0.5, 7], [0.5, 7]], np.float32).tolist()
    with pytest.warns(GraphWarning, match="some vertices have more than others") as caught:
        assert read_graphs(write(tmp_path, text.replace(" 7\n", "\n"))).features is None
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT.replace("2 -1", "2 -1 5"), "number of vertices and the label of graph 1 (of 2); line 6: got [2, -1, 5]"),
        (TEXT.replace("2\n", "3\n", 1), "label of graph 2 (of 3); the file ends"),
        (TEXT.replace("2\n", "1\n", 1), "line 6 follows the last graph"),
        (TEXT.rsplit("\n", 2)[0], "the file ends inside the last graph"),
        (TEXT.replace("2 2 0 2", "2 3 0 2"), "line 4: expected a vertex as tag, degree"),
        (TEXT.replace("2 2 0 2", "2 -2 0 2"), "line 4: expected a vertex as tag, degree"),
        (TEXT.replace("2 2 0 2", "2"), "line 4: expected a vertex as tag, degree"),
        (TEXT.replace("2 2 0 2", "2.5 2 0 2"), "line 4: expected a vertex as tag, degree"),
        (TEXT.replace("2 2 0 2", "2 2 0 3"), "line 4: the neighbor 3 is not a vertex"),
        (TEXT.replace("2 2 0 2", "2 2 0 x"), "line 4: expected numbers; got 'x'"),
        (TEXT.replace("2 2 0 2", "2 2 0-2"), "line 4: expected numbers; got '0-2'"),
        (TEXT.replace("2 2 0 2", "9" * 30 + " 2 0 2"), "at most 18 digits"),
    ],
)
def test_broken_files_are_named_with_their_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(GraphError, match=re.escape(message)):
        read_graphs(write(tmp_path, text))


def test_a_million_neighbors_take_about_a_second(tmp_path: Path) -> None:
    line = "\n".join("0 100 " + " ".join(str((v + d) % 200) for d in range(-50, 51) if d) for v in range(200))
    path = write(tmp_path, "50\n" + f"200 1\n{line}\n" * 50)
    start = time.process_time()
    graphs = read_graphs(path)
    assert time.process_time() - start < 4  # about 0.3 s on an idle machine
    assert np.unique(graphs.degrees).tolist() == [100]


@pytest.mark.parametrize("text", ["2\n0 1\n0 2\n", "5\n1 2\n0 3\n"])
def test_edges_after_a_number_are_no_neighbor_lists(tmp_path: Path, text: str) -> None:
    with pytest.raises(GraphError, match="line 1: expected 2 integers"):
        read_graphs(write(tmp_path, text))
