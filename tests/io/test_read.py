"""Recognize the format of a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from anysize import GraphError, read_graphs
from anysize.io.adjacency import read_adjacency_csv


def write(where: Path, text: str | bytes, name: str = "graph.txt") -> Path:
    path = where / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_paths_without_graphs(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="There is no file or folder"):
        read_graphs(tmp_path / "missing")
    with pytest.raises(GraphError, match=r"TU set .*\.graphml.*\.csv"):
        read_graphs(tmp_path)
    with pytest.raises(GraphError, match=r"\*\.csv"):
        read_adjacency_csv(tmp_path)
    with pytest.raises(GraphError, match="There is no folder"):
        read_adjacency_csv(tmp_path / "missing")


def test_one_file_of_a_tu_set_is_not_an_edge_list(tmp_path: Path) -> None:
    path = write(tmp_path, "1, 2\n", "SET_A.txt")
    write(tmp_path, "1\n1\n", "SET_graph_indicator.txt")
    with pytest.raises(GraphError, match="one file of a TU set"):
        read_graphs(path)
    with pytest.raises(GraphError, match="name="):
        read_graphs(path, name="SET")
