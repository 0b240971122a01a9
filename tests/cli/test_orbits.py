"""`anysize count --per vertex` and `--per edge`."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from typer.testing import CliRunner

import anysize as az
from anysize.cli.app import app

HOUSE = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]


@pytest.fixture
def house(tmp_path):
    path = tmp_path / "house.txt"
    path.write_text("".join(f"{u}\t{v}\n" for u, v in HOUSE))
    return path


@pytest.fixture
def pair(tmp_path):
    az.GraphSet.from_edges([HOUSE, [(0, 1)]], y=[0, 1]).to_tu(tmp_path, "PAIR")
    return tmp_path / "PAIR"


@pytest.fixture
def colored(tmp_path):
    az.GraphSet.from_edges([HOUSE], colors=[[1, 1, 2, 2, 3]], y=[0]).to_tu(tmp_path, "COLORED")
    return tmp_path / "COLORED"


def run(*arguments, per="vertex"):
    return CliRunner().invoke(app, ["count", *(str(argument) for argument in arguments), "--per", per])


def test_csv_has_one_line_per_vertex(pair):
    result = run(pair, "--k", 5, "--format", "csv")
    assert result.exit_code == 0, result.stderr
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert rows[0] == ["graph", "vertex", *(f"orbit_{number}" for number in range(73))]
    assert [row[:2] for row in rows[1:]] == [["0", str(v)] for v in range(5)] + [["1", "0"], ["1", "1"]]
    expected = np.concatenate(az.orbits(az.read_graphs(pair), 5))
    assert np.array_equal(np.array([row[2:] for row in rows[1:]], np.int64), expected)


def test_json_holds_graphs_and_orbits(pair):
    answer = json.loads(run(pair, "--json").stdout)
    assert [graph["counts"] for graph in answer["graphs"]] == [a.tolist() for a in az.orbits(az.read_graphs(pair), 4)]
    assert answer["orbits"][9] == {
        "orbit": 9,
        "pattern": "paw",
        "edges": [[0, 1], [0, 2], [1, 2], [0, 3]],
        "vertices": [3],
    }


@pytest.mark.parametrize("ending", ["npz", "parquet", "csv", "txt", "json"])
def test_every_format_can_be_written(house, tmp_path, ending):
    out = tmp_path / f"orbits.{ending}"
    result = run(house, "--k", 3, "--out", out)
    assert result.exit_code == 0, result.stderr
    expected = az.orbits(az.read_graphs(house), 3)
    if ending == "npz":
        with np.load(out, allow_pickle=False) as arrays:
            assert np.array_equal(arrays["orbits"], expected)
            assert arrays["first"].tolist() == [0, 5]
    elif ending == "parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(out)
        assert table.column_names == ["graph", "vertex", "orbit_0", "orbit_1", "orbit_2", "orbit_3"]
        assert table["orbit_1"].to_pylist() == expected[:, 1].tolist()
    else:
        assert out.read_text()


def test_text_lists_the_orbits(house):
    lines = [line.split() for line in run(house, "--k", 3).stdout.splitlines()]
    assert ["1", "3-path", "1,", "2", "2.4", "3", "5"] in lines
    assert ["3", "triangle", "0,", "1,", "2", "0.6", "1", "3"] in lines


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--k", "6"), "up to k = 2, 3, 4 or 5 vertices; got k=6."),
        (("--k", "3,4"), "--per vertex takes one size, and counts the sizes 2 to k together; got --k 3,4."),
        (("--engine", "sample"), "--per vertex counts all orbits exactly, and does not go with --engine."),
        (("--zeros", "--format", "csv"), "does not go with --zeros."),
        (("--over", "maps"), "does not go with --over."),
    ],
)
def test_wrong_options_are_one_sentence(house, arguments, sentence):
    result = run(house, *arguments)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("ending", ["npz", "parquet", "csv", "txt", "json"])
@pytest.mark.parametrize("per", ["vertex", "edge"])
def test_colored_orbits_have_names(colored, tmp_path, ending, per):
    out = tmp_path / f"orbits.{ending}"
    result = run(colored, "--k", 3, "--out", out, per=per)
    assert result.exit_code == 0, result.stderr
    expected = az.orbits(az.read_graphs(colored), 3, per=per)
    name = "triangle[1,1,3]@2" if per == "vertex" else "triangle[1,1,3]@0-1"
    assert name in expected.names
    if ending == "npz":
        with np.load(out, allow_pickle=False) as arrays:
            assert tuple(arrays["names"].tolist()) == expected.names
            assert arrays["data"].tolist() == expected.matrix.data.tolist()
    elif ending == "parquet":
        table = pytest.importorskip("pyarrow.parquet").read_table(out)
        assert table["orbit"].to_pylist().count(name) == 1
        assert table["copies"].to_pylist() == expected.matrix.data.tolist()
    elif ending == "csv":
        rows = list(csv.DictReader(out.read_text().splitlines()))
        assert [row["copies"] for row in rows if row["orbit"] == name] == ["1"]
        assert list(rows[0]) == ["graph", *(["vertex"] if per == "vertex" else ["u", "v"]), "orbit", "copies"]
    elif ending == "json":
        answer = json.loads(out.read_text())
        assert sum(counts.get(name, 0) for counts in answer["graphs"][0]["counts"]) == 1
        assert len(answer["orbits"]) == len(expected.names)
    else:
        assert "triangle[1,1,3]" in out.read_text()


def test_orbits_of_edges(house):
    rows = list(csv.reader(io.StringIO(run(house, "--k", 4, "--format", "csv", per="edge").stdout)))
    assert rows[0] == ["graph", "u", "v", *(f"orbit_{number}" for number in range(12))]
    graph = az.read_graphs(house)
    assert [row[1:3] for row in rows[1:]] == [list(map(str, edge)) for edge in graph.edges().tolist()]
    assert np.array_equal(np.array([row[3:] for row in rows[1:]], np.int64), az.orbits(graph, 4, per="edge"))
    wrong = run(house, "--k", 2, per="edge")
    assert "up to k = 3, 4 or 5 vertices; got k=2." in wrong.stderr


@pytest.mark.parametrize(
    "text", ["ann bob\nbob eve\nann eve\neve tom\n", "7 3\n3 9000000000\n7 9000000000\n9000000000 8\n"]
)
@pytest.mark.parametrize("per", ["vertex", "edge"])
def test_vertices_have_their_names(text, per, tmp_path):
    path = tmp_path / "edges.txt"
    path.write_text(text)
    graph = az.read_graphs(path)
    names = graph.vertex_names
    wanted = names if per == "vertex" else names[graph.edges()]
    rows = list(csv.DictReader(io.StringIO(run(path, "--k", 3, "--format", "csv", per=per).stdout)))
    columns = ["name"] if per == "vertex" else ["u_name", "v_name"]
    assert [[row[column] for column in columns] for row in rows] == wanted.astype(str).reshape(
        -1, len(columns)
    ).tolist()
    assert json.loads(run(path, "--k", 3, "--json", per=per).stdout)["graphs"][0]["names"] == wanted.tolist()
    for ending in ("npz", "parquet"):
        assert run(path, "--k", 3, "--out", tmp_path / f"o.{ending}", per=per).exit_code == 0
    with np.load(tmp_path / "o.npz", allow_pickle=False) as arrays:
        assert arrays["vertex_names"].tolist() == wanted.reshape(-1, len(columns)).tolist()
    table = pytest.importorskip("pyarrow.parquet").read_table(tmp_path / "o.parquet")
    assert [table[column].to_pylist() for column in columns] == wanted.reshape(-1, len(columns)).T.tolist()
