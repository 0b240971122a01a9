"""Recognize the format of a path."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

from anysize import GraphError, GraphWarning, read_graphs


def write(where: Path, text: str | bytes, name: str = "graph.txt") -> Path:
    path = where / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def test_paths_without_graphs(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="There is no file or folder"):
        read_graphs(tmp_path / "missing")
    with pytest.raises(GraphError, match=r"TU set .*\.graphml.*\.csv"):
        read_graphs(tmp_path)


def test_one_file_of_a_tu_set_is_not_an_edge_list(tmp_path: Path) -> None:
    path = write(tmp_path, "1, 2\n", "SET_A.txt")
    write(tmp_path, "1\n1\n", "SET_graph_indicator.txt")
    with pytest.raises(GraphError, match="one file of a TU set"):
        read_graphs(path)
    with pytest.raises(GraphError, match="name="):
        read_graphs(path, name="SET")


def test_a_folder_of_several_formats_is_read_in_order(tmp_path: Path) -> None:
    write(tmp_path, "source,target\nann,bob\nbob,cat\n", "d.csv")
    write(tmp_path, "0,1,1\n1,0,1\n1,1,0\n", "c.csv")
    write(tmp_path, '{"edges": [[0, 1]]}\n{"edges": []}\n', "b.jsonl")
    write(tmp_path, "graph [ node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]", "a.gml")
    write(tmp_path, "0 1\n", "E.EDGES")
    graphs = read_graphs(tmp_path)
    assert graphs.names == ("E", "a", "b:0", "b:1", "c", "d")
    assert graphs.edge_counts.tolist() == [1, 1, 1, 0, 3, 2]


@pytest.mark.parametrize("name", ["ego.12.txt", "ego.12.CSV", "ego.12.dat", "ego.12"])
def test_the_only_graph_of_a_file_has_its_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("0,1\n1,2\n")
    assert read_graphs(tmp_path / name).names == (("ego",) if name == "ego.12" else ("ego.12",))
    (tmp_path / "two.jsonl").write_text('{"edges": [[0, 1]]}\n{"edges": [[0, 1]]}\n')
    assert read_graphs(tmp_path / "two.jsonl").names is None


def test_notes_beside_graphs_are_named_and_not_read(tmp_path: Path) -> None:
    write(tmp_path, "0,1,1\n1,0,1\n1,1,0\n", "c.csv")
    write(tmp_path, "made by hand", "README.txt")
    with pytest.warns(GraphWarning, match=r"README\.txt") as caught:
        assert read_graphs(tmp_path).names == ("c",)
    assert len(caught) == 1


def test_labels_in_some_files_only(tmp_path: Path) -> None:
    write(tmp_path, '{"edges": [[0, 1]], "y": 1}\n', "a.jsonl")
    write(tmp_path, '{"edges": [[0, 1]]}\n', "b.jsonl")
    with pytest.raises(GraphError, match="labels"):
        read_graphs(tmp_path)


def test_one_warning_for_all_files_of_a_folder(tmp_path: Path) -> None:
    for number in range(5):
        write(tmp_path, "0 1 2.5\n1 2 3.5\n1 0 3.5\n", f"{number}.txt")
    with pytest.warns(GraphWarning) as caught:
        read_graphs(tmp_path)
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("g.txt", "0 1\n", {"color": "kind"}, "color= is for GraphML, GML, SMILES lines, SMILES files"),
        ("g.jsonl", '{"edges": []}', {"density": 0.5}, "density= is for"),
        ("m.csv", "0,1,1\n1,0,1\n1,1,0\n", {"y": "kind"}, "y= is for"),
    ],
)
def test_options_that_a_format_has_not(
    tmp_path: Path, name: str, text: str, options: dict[str, str], message: str
) -> None:
    with pytest.raises(GraphError, match=message):
        read_graphs(write(tmp_path, text, name), **options)  # type: ignore[arg-type]


def test_thousands_of_small_files_take_seconds(tmp_path: Path) -> None:
    for number in range(2000):
        write(tmp_path, "0 1\n1 2\n2 3\n", f"{number:04}.txt")
    start = time.process_time()
    assert len(read_graphs(tmp_path)) == 2000
    assert time.process_time() - start < 5  # about 0.5 s on an idle machine


def test_an_error_of_a_threshold_is_not_one_of_a_file(tmp_path: Path) -> None:
    np.save(tmp_path / "brain.npy", np.ones((3, 3)))
    with pytest.raises(GraphError, match=r"up to 1; got 1\.5\.$"):
        read_graphs(tmp_path, density=1.5)


def test_a_table_that_is_no_matrix_may_be_one_of_molecules(tmp_path: Path) -> None:
    (tmp_path / "table.csv").write_text("id,smiles,a,b,toxic\nm0,CCO,1,2,0\n")
    for options in ({"y": "toxic"}, {}):
        with pytest.raises(GraphError, match="--smiles"):
            read_graphs(tmp_path / "table.csv", **options)
