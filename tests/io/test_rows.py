"""Rows of inputs with a graph on each row, of which some cannot be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from anysize import GraphError, GraphWarning, read_graphs
from anysize.io.rows import parse_rows, read_rows
from anysize.io.table import distinct_names


def test_every_line_of_json_is_a_row(tmp_path: Path) -> None:
    path = tmp_path / "g.jsonl"
    records = [
        {"edges": [[0, 1]], "y": "a", "name": "one", "site": "Rome"}, {"edges": [[0, 1], [1, 2]], "weight": 2.5},
        {"edges": [[0, -1]], "y": "b"}, {"n": 3}, {"edges": [[0, 1]], "y": None, "n": -4},
        {"edges": [[0, 1]], "y": float("nan")},
    ]  # fmt: skip
    path.write_text("\n".join([*map(json.dumps, records), "", "nonsense"]))
    rows = read_rows(path)
    assert rows.names == ["one", "1", "2", "3", "4", "5", "6"]
    assert rows.read == [0, 1, 5]
    assert rows.graphs.sizes.tolist() == [2, 3, 2]
    assert rows.graphs.y is None
    assert rows.labels == ["a", None, "b", None, None, None, None]
    assert rows.columns["site"] == ["Rome", *[None] * 6]
    assert rows.columns["weight"] == [None, 2.5, *[None] * 5]
    assert "-1" in rows.problems[2]
    assert '"edges"' in rows.problems[3]
    assert "-4" in rows.problems[4]
    assert not any("line" in problem for problem in rows.problems[2:5])  # the row is known


def test_rows_of_other_formats_are_their_graphs(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    path.write_text("graph,source,target,city,weight,city\nb,0,1,Rome,1,x\na,0,1,Oslo,1,y\nb,1,2,Rome,2,x\n")
    with pytest.warns(GraphWarning, match="'weight', which are not used"):
        rows = read_rows(path)
    graphs = read_graphs(path, warn=False)
    assert (rows.names, rows.graphs.sizes.tolist()) == (["b", "a"], graphs.sizes.tolist())
    assert rows.columns == {"city": ["Rome", "Oslo"], "city.1": ["x", "y"]}
    (tmp_path / "one.edges").write_text("0 1\n1 2\n")
    assert read_rows(tmp_path / "one.edges").names == ["one"]
    with pytest.warns(GraphWarning):
        rows = read_rows(tmp_path)
    assert rows.names == ["edges:b", "edges:a", "one"]
    assert rows.columns == {"city": ["Rome", "Oslo", None], "city.1": ["x", "y", None]}


def test_rows_of_a_table_of_molecules(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    path = tmp_path / "m.csv"
    path.write_text("id,smiles,y,id\n1,CCO,0\n2,xyz,word,b\n3,,1,c\n4,CC,NaN,d,extra\n")
    rows = read_rows(path, smiles="smiles", y="y")
    assert rows.names == ["CCO", "xyz", "", "CC"]
    assert rows.labels == [0, "word", 1, None] or rows.labels == [0, "word", "1", None]
    assert rows.columns == {"id": ["1", "2", "3", "4"], "y": ["0", "word", "1", "NaN"], "id.1": ["", "b", "c", "d"]}
    assert [bool(problem) for problem in rows.problems] == [False, True, True, False]


def test_texts_without_a_file() -> None:
    assert parse_rows(b'{"edges": [[0, 1]]}', "-.jsonl", "standard input").graphs.sizes.tolist() == [2]
    for data, told in (
        (b" \n", "is empty"), (b'{"n": 3}', r"no row has a graph that can be read; in line 1, .*edges"),
        (b"\xff\xfe{", "UTF-8"),
    ):  # fmt: skip
        with pytest.raises(GraphError, match=told):
            parse_rows(data, "-.jsonl", "standard input")
    with pytest.raises(GraphError, match="a SMILES or a JSON object"):
        parse_rows(b"0 1\n", "-.txt", "standard input")


def test_names_of_columns_differ() -> None:
    assert distinct_names(["a", "a", "a.1", "b"]) == ["a", "a.1", "a.1.1", "b"]
