"""Labels in a file beside the graphs: lines, lines with names, a column of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from anysize import GraphError, GraphWarning, read_graphs
from anysize.io.labels import read_labels


def labels_of(where: Path, text: str, names: list[str], column: str | None = None) -> list[Any]:
    (where / "labels.csv").write_text(text)
    return read_labels(where / "labels.csv", names, column)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    wrong = tmp_path / "labels.txt"
    with pytest.raises(GraphError, match=f"Cannot read {wrong}: No such file or directory"):
        read_labels(wrong, ["a"])
    with pytest.raises(GraphError, match=f"Cannot read {tmp_path}: Is a directory"):
        read_labels(tmp_path, ["a"])
    wrong.write_bytes("größer\nkleiner\n".encode("latin-1"))
    with pytest.raises(GraphError, match=f"{wrong}, line 1: expected text in UTF-8"):
        read_labels(wrong, ["a", "b"])


def test_lines_in_order(tmp_path: Path) -> None:
    assert labels_of(tmp_path, "1\n0\n", ["a", "b"]) == [1, 0]
    assert labels_of(tmp_path, "0.5\r\n-2\r\n", ["a", "b"]) == [0.5, -2]
    assert labels_of(tmp_path, " yes\nno\n\n", ["a", "b"]) == ["yes", "no"]
    assert labels_of(tmp_path, "1\nNA\n", ["a", "b"]) == [1, None]
    with pytest.raises(GraphError, match=r"3 labels for 2 graphs.*no header"):
        labels_of(tmp_path, "class\n 1\n2\n", ["a", "b"])


def test_lines_with_names_may_have_tabs_and_name_what_is_missing(tmp_path: Path) -> None:
    assert labels_of(tmp_path, "graph\tkind\nb\ttree\na\t\n", ["a", "b"]) == [None, "tree"]
    with pytest.raises(GraphError, match=r"'a'.*without its ending"):
        labels_of(tmp_path, "a.txt,1\nb.txt,2\n", ["a", "b"])


def test_lines_with_names_may_be_quoted_or_have_semicolons(tmp_path: Path) -> None:
    for text in ('"b, c","tree"\n"a","ring"\n', "b, c,tree\na,ring\n", "name;kind\nb, c;tree\na;ring\n"):
        assert labels_of(tmp_path, text, ["a", "b, c"]) == ["ring", "tree"]


def test_graphs_without_names_have_their_positions(tmp_path: Path) -> None:
    assert labels_of(tmp_path, "graph,class\n1,tree\n0,ring\n", ["0", "1"]) == ["ring", "tree"]
    with pytest.raises(GraphError, match="'0'"):
        labels_of(tmp_path, "a,tree\nb,ring\n", ["0", "1"])


def test_each_graph_is_named_once(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match="'a' twice"):
        labels_of(tmp_path, "a,1\nb,2\na,3\n", ["a", "b"])
    assert labels_of(tmp_path, "'=a,1\nb,2\n", ["=a", "b"]) == [1, 2]
    with pytest.raises(GraphError, match="same name"):
        labels_of(tmp_path, "a,1\nb,2\n", ["b", "b"])


SUBJECTS = "site,subject,age,diagnosis\nx,s2,30,ill\ny,s1,41.5,well\nx,s3,28,\n"


def test_a_column_of_a_table(tmp_path: Path) -> None:
    assert labels_of(tmp_path, SUBJECTS, ["s1", "s2"], "diagnosis") == ["well", "ill"]
    assert labels_of(tmp_path, SUBJECTS, ["s1", "s2", "s3"], "age") == [41.5, 30, 28]
    assert labels_of(tmp_path, SUBJECTS.replace(",", "\t"), ["s3", "s1"], "diagnosis") == [None, "well"]
    for names, column, message in (
        (["s1", "s4"], "age", r"no line for graph 's4'; expected the names .* 'subject' has 1 of 2"),
        (["s1"], "sex", "no column 'sex'; the columns are site, subject, age, diagnosis"),
        (["x"], "age", "names graph 'x' twice"),
    ):
        with pytest.raises(GraphError, match=message):
            labels_of(tmp_path, SUBJECTS, names, column)


def test_a_folder_of_graphs_with_a_table_of_labels_in_it(tmp_path: Path) -> None:
    for number in range(1, 4):
        (tmp_path / f"s{number}.csv").write_text("0,1,1\n1,0,0\n1,0,0\n")
    table = tmp_path / "subjects.csv"
    table.write_text(SUBJECTS)
    with pytest.warns(GraphWarning, match="Left out 1 graph without a label in .*subjects.csv: s3"):
        graphs = read_graphs(tmp_path, labels=table, y="diagnosis")
    assert (graphs.names, graphs.y.tolist()) == (("s1", "s2"), ["well", "ill"])  # type: ignore[union-attr]
    ages = read_graphs(tmp_path, labels=table, y="age")
    assert ages.y.tolist() == [41.5, 30, 28]  # type: ignore[union-attr]
    with pytest.raises(GraphError, match="if this one holds no graph, move it"):
        read_graphs(tmp_path)


def test_several_columns_of_a_table(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.edges").write_text("0 1\n1 2\n")
    (tmp_path / "labels.csv").write_text("graph,A,B\nb,1,x\nc,NA,\na,,y\n")
    with pytest.warns(GraphWarning, match="1 graph without a label in .*: c"):
        graphs = read_graphs(tmp_path, labels=tmp_path / "labels.csv", y=["A", "B"])
    assert (graphs.names, graphs.targets) == (("a", "b"), ("A", "B"))
    assert graphs.y.tolist() == [[None, "y"], [1, "x"]]  # type: ignore[union-attr]
    with pytest.raises(GraphError, match="no column 'D'"):
        read_labels(tmp_path / "labels.csv", ("a", "b"), ["A", "D"])
    (tmp_path / "table.csv").write_text("graph,source,target,A,B\n0,0,1,1,2\n")
    with pytest.raises(GraphError, match="y takes one column here"):
        read_graphs(tmp_path / "table.csv", y=["A", "B"])
