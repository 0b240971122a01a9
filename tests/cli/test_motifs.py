"""`anysize motifs`."""

from __future__ import annotations

import csv
import json

import networkx as nx
import pytest
from typer.testing import CliRunner

import anysize as az
from anysize.cli.app import app


@pytest.fixture
def karate(tmp_path):
    path = tmp_path / "karate.txt"
    nx.write_edgelist(nx.karate_club_graph(), path, data=False)
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["motifs", *(str(argument) for argument in arguments)])


def test_text_and_json_are_those_of_the_function(karate):
    found = az.motifs(az.read_graphs(karate), 3, samples=20, seed=1)
    text = run(karate, "--k", 3, "--samples", 20, "--seed", 1)
    assert text.exit_code == 0, text.stderr
    assert text.stdout == str(found) + "\n"
    answer = json.loads(run(karate, "--k", 3, "--samples", 20, "--seed", 1, "--json").stdout)
    assert answer == json.loads(json.dumps(found.to_json()))


@pytest.mark.parametrize("ending", ["html", "svg", "csv", "json"])
def test_every_format_can_be_written(karate, tmp_path, ending):
    out = tmp_path / f"motifs.{ending}"
    result = run(karate, "--samples", 5, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert f"Wrote {out}." in result.stderr.replace("\n", "")
    if ending == "csv":
        rows = list(csv.DictReader(out.read_text().splitlines()))
        assert [row["pattern"] for row in rows] == [pattern.name for pattern in az.connected_patterns(4)]
    elif ending == "json":
        assert json.loads(out.read_text())["samples"] == 5


def test_directed_edge_lists(tmp_path):
    path = tmp_path / "loops.txt"
    path.write_text("0 1\n1 2\n0 2\n2 3\n3 4\n2 4\n")
    names = [row["pattern"] for row in patterns(run(path, "--k", 3, "--samples", 3, "--directed", "--json"))]
    assert {"030T", "021C"} <= set(names)
    for option in ("--undirected", "--k=3"):  # every edge is given once: undirected by default
        names = [row["pattern"] for row in patterns(run(path, "--k", 3, "--samples", 3, option, "--json"))]
        assert names == ["3-path", "triangle"]
    path.write_text("0 1\n1 2\n0 2\n2 0\n")
    assert "030T" not in run(path, "--k", 3, "--samples", 3, "--undirected").stdout
    assert "120C" in run(path, "--k", 3, "--samples", 3).stdout


def patterns(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)["patterns"]


def test_matrices_take_a_threshold(tmp_path):
    path = tmp_path / "weights.csv"
    path.write_text("0,.9,.8\n.9,0,.1\n.8,.1,0\n")
    rows = patterns(run(path, "--k", 3, "--samples", 3, "--threshold", 0.5, "--json"))
    assert [row["copies"] for row in rows] == [1, 0]


def test_one_of_several_graphs(tmp_path):
    az.GraphSet.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]], y=[0, 1]).to_tu(tmp_path, "PAIR")
    result = run(tmp_path / "PAIR", "--k", 3, "--samples", 3)
    assert result.exit_code == 1
    assert "has 2 graphs, and motifs are found in one at a time; add --graph." in result.stderr
    assert run(tmp_path / "PAIR", "--k", 3, "--samples", 3, "--graph", 1).stdout.startswith("3 vertices, 3 edges")
    wrong = run(tmp_path / "PAIR", "--graph", 2)
    assert wrong.exit_code == 1
    assert "has no graph '2'." in wrong.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--k", "2"), "Motifs have 3 to 7 vertices; got k=2."),
        (("--null", "colors"), "this graph has no colors; use 'degrees'."),
        (("--out", "motifs.docx"), "expected a file that ends in"),
    ],
)
def test_errors_are_one_sentence(karate, arguments, sentence):
    result = run(karate, *arguments)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert result.stderr.count("\n") == 1
