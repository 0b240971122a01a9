"""The command line: what it prints, what it writes, how it fails."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest
from typer.testing import CliRunner

import anysize as az
from anysize.cli.app import app

HOUSE = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4), (1, 4)]


@pytest.fixture
def house(tmp_path):
    path = tmp_path / "house.txt"
    path.write_text("# a house\n" + "".join(f"{u}\t{v}\n" for u, v in HOUSE))
    return path


@pytest.fixture
def colored(tmp_path):
    graphs = az.GraphSet.concatenate(
        [az.GraphSet.from_edges(HOUSE, colors=[1, 1, 2, 2, 3]), az.GraphSet.from_edges([(0, 1)], colors=[1, 3])]
    )
    graphs.with_y([0, 1]).to_tu(tmp_path, "PAIR")
    return tmp_path / "PAIR"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def cells(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_text_table_of_one_graph_shows_every_pattern(house):
    result = run("count", house, "--k", 4)
    assert result.exit_code == 0
    for name, copies in {"claw": 0, "4-path": 2, "paw": 2, "4-cycle": 1, "diamond": 0, "4-clique": 0}.items():
        line = next(line for line in result.stdout.splitlines() if line.strip().startswith(name + " "))
        assert line.split()[1] == str(copies)


def test_csv_has_one_line_per_graph_and_pattern(colored):
    result = run("count", colored, "--k", "1-2", "--format", "csv")
    rows = cells(result.stdout)
    expected = az.count(az.read_graphs(colored), (1, 2))
    assert len(rows) == expected.matrix.nnz
    assert {(row["graph"], row["pattern"]): int(row["copies"]) for row in rows}["0", "vertex[1]"] == 2
    density = [float(row["density"]) for row in rows if row["graph"] == "1"]
    assert density == [0.5, 0.5, 1.0]


def test_zeros_adds_the_patterns_that_a_graph_does_not_contain(colored, tmp_path):
    pandas = pytest.importorskip("pandas")
    expected = az.count(az.read_graphs(colored), (2, 3))
    options = ("count", colored, "--k", "2-3", "--zeros")
    rows = cells(run(*options, "--format", "csv").stdout)
    assert [int(row["copies"]) for row in rows] == expected.matrix.toarray().ravel().tolist()
    assert {float(row["density"]) for row in rows if row["copies"] == "0"} == {0.0}
    graphs = json.loads(run(*options, "--json").stdout)["graphs"]
    assert all(len(graph["copies"]) == len(expected.patterns) for graph in graphs)
    run(*options, "--out", tmp_path / "table.parquet")
    assert len(pandas.read_parquet(tmp_path / "table.parquet")) == len(rows)
    sampled = cells(
        run("count", colored, "--k", 3, "--zeros", "--format", "csv", "--engine", "sample", "--samples", 100).stdout
    )
    assert {row["standard_error"] for row in sampled if row["graph"] == "1"} == {"0.0"}


def test_out_takes_other_endings_with_a_format(house, tmp_path):
    assert run("count", house, "--k", 3, "--format", "csv", "--out", tmp_path / "counts.data").exit_code == 0
    assert cells((tmp_path / "counts.data").read_text())[0]["pattern"] == "3-path"
    assert run("count", house, "--k", 3, "--out", tmp_path / "counts.txt").exit_code == 0
    assert "3-path" in (tmp_path / "counts.txt").read_text()


def test_no_colors_counts_plain_patterns(colored):
    rows = cells(run("count", colored, "--k", 3, "--no-colors", "--format", "csv").stdout)
    assert {row["pattern"] for row in rows} == {"3-path", "triangle"}


def test_json_describes_patterns_and_graphs(colored):
    result = json.loads(run("count", colored, "--k", 3, "--json", "--over", "maps").stdout)
    assert result["over"] == "maps"
    assert len(result["graphs"]) == 2
    assert result["graphs"][1]["copies"] == {}
    named = {pattern["name"]: pattern for pattern in result["patterns"]}
    assert named["triangle[1,1,3]"]["automorphisms"] == 2


def test_out_writes_the_file_and_leaves_nothing_beside_it(house, tmp_path):
    target = tmp_path / "out" / "counts.csv"
    target.parent.mkdir()
    result = run("count", house, "--k", 3, "--format", "csv", "--out", target)
    assert result.exit_code == 0
    assert cells(target.read_text())[0]["pattern"] == "3-path"
    assert list(target.parent.iterdir()) == [target]


def test_out_npz_keeps_the_whole_table(colored, tmp_path):
    run("count", colored, "--k", 3, "--out", tmp_path / "table.npz")
    loaded, expected = az.Counts.load(tmp_path / "table.npz"), az.count(az.read_graphs(colored), 3)
    assert np.array_equal(loaded.matrix.toarray(), expected.matrix.toarray())
    assert loaded.patterns == expected.patterns
    assert loaded.y.tolist() == [0, 1]


def test_parquet_round_trip(colored, tmp_path):
    pandas = pytest.importorskip("pandas")
    run("count", colored, "--k", 3, "--format", "parquet", "--out", tmp_path / "table.parquet")
    frame = pandas.read_parquet(tmp_path / "table.parquet")
    rows = cells(run("count", colored, "--k", 3, "--format", "csv").stdout)
    assert frame["pattern"].tolist() == [row["pattern"] for row in rows]
    assert frame["copies"].tolist() == [int(row["copies"]) for row in rows]


def test_explain_names_the_engine(house):
    assert "enumerate" in run("count", house, "--k", 4, "--engine", "enumerate", "--explain").stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere.zip"], "no file or folder"),
        (["HOUSE", "--k", "9"], "from 1 to 7"),
        (["HOUSE", "--k", "x"], "--k takes a pattern size"),
        (["HOUSE", "--engine", "magic"], "engine must be"),
        (["HOUSE", "--engine", "bitset", "--k", "6"], "counts k = 3, 4, 5"),
        (["HOUSE", "--threads", "0"], "threads must be"),
        (["HOUSE", "--format", "parquet"], "--out"),
        (["HOUSE", "--out", "counts.xlsx"], ".csv, .json, .parquet, .npz; got counts.xlsx"),
        (["HOUSE", "--out", "counts.csv.gz"], "got counts.csv.gz"),
        (["HOUSE", "--out", "counts.txt", "--format", "csv"], "the format is csv"),
        (["HOUSE", "--zeros"], "csv, json and parquet; got text"),
        (["HOUSE", "--out", "no/such/folder/x.csv", "--format", "csv"], "which does not exist"),
    ],
)
def test_bad_input_gives_one_sentence_and_exit_code_one(house, arguments, sentence):
    result = run("count", *[str(house) if a == "HOUSE" else a for a in arguments])
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr + result.stdout


def test_broken_file_names_file_and_line(tmp_path):
    path = tmp_path / "broken.txt"
    path.write_text("0 1\n1 two\n")
    result = run("count", path)
    assert result.exit_code == 1
    assert "broken.txt" in result.stderr
    assert "line 2" in result.stderr


def test_dropped_edges_are_one_note(tmp_path):
    path = tmp_path / "loops.txt"
    path.write_text("0 0\n0 1\n0 1\n1 2\n")
    result = run("count", path, "--k", 3)
    assert result.exit_code == 0
    assert result.stderr.count("Note: ") == 1
    assert "1 self loop and 1 repeated edge" in result.stderr


def test_usage_errors_exit_with_two():
    assert run("count").exit_code == 2
    assert run("count", "x", "--format", "xml").exit_code == 2


def test_patterns_lists_the_catalog():
    assert "\n4-cycle  G16  C]  8 automorphisms" in run("patterns", 4).stdout
    assert len(json.loads(run("patterns", 5, "--json").stdout)) == 21
    assert run("patterns", 9).exit_code == 1


def test_demo_writes_files_that_are_counted(tmp_path):
    done = run("demo", tmp_path / "files")
    assert done.exit_code == 0
    for name in ("TRAIN.zip", "NEW.zip", "rings.jsonl", "friends.csv", "networks", "matrices"):
        assert run("count", tmp_path / "files" / name, "--k", 3).exit_code == 0, name
    first = (tmp_path / "files" / "rings.jsonl").read_bytes()
    run("demo", tmp_path / "files")
    assert (tmp_path / "files" / "rings.jsonl").read_bytes() == first


def test_every_command_shows_an_example():
    for command in ("count", "patterns", "demo"):
        assert "Example:" in run(command, "--help").stdout


def test_installed_as_a_module():
    result = subprocess.run([sys.executable, "-m", "anysize", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == f"anysize {az.__version__}"


def test_stopped_while_packages_are_loaded(tmp_path):
    """Ctrl-C while packages are imported ends a command as it does later."""
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    command = [sys.executable, "-m", "anysize", "--version"]
    result = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "Stopped.\n")


def test_sampled_tables_show_their_errors(house):
    rows = cells(run("count", house, "--k", 3, "--engine", "sample", "--samples", 500, "--format", "csv").stdout)
    assert float(rows[0]["standard_error"]) > 0
    assert "standard error" in run("count", house, "--k", 3, "--engine", "sample", "--samples", 500).stdout


def test_the_cache_is_filled_and_used(house, tmp_path):
    first = run("count", house, "--k", 4, "--cache", tmp_path / "cache", "--format", "csv")
    entries = sorted((tmp_path / "cache").rglob("*.npz"))
    assert len(entries) == 1
    written = entries[0].stat().st_mtime_ns
    again = run("count", house, "--k", 4, "--cache", tmp_path / "cache", "--format", "csv")
    assert again.stdout == first.stdout
    assert entries[0].stat().st_mtime_ns == written


def test_patterns_have_names_to_look_up():
    described = json.loads(run("patterns", 6, "--json").stdout)
    connected = {number for number in range(77, 209) if nx.is_connected(nx.graph_atlas(number))}
    assert {pattern["atlas"] for pattern in described} == connected
    line = next(line for line in run("patterns", 6, "--no-draw").stdout.splitlines() if line.startswith("6.21 "))
    assert line.split()[:3] == ["6.21", "G112", "E}Q?"]
    assert run("patterns", "G112", "--no-draw").stdout == run("patterns", "6.21", "--no-draw").stdout == line + "\n"
    assert "got 'magic'" in run("patterns", "magic").stderr


def test_patterns_writes_a_picture(tmp_path):
    picture = tmp_path / "patterns.svg"
    assert run("patterns", 6, "--out", picture).exit_code == 0
    root = ElementTree.parse(picture).getroot()
    captions = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert len(captions) == 2 * 112
    assert captions[captions.index("net") + 1] == "ExQ?  G94"
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 6 * 112
    assert "var(" not in picture.read_text()
    assert run("patterns", 6, "--out", tmp_path / "patterns.txt").exit_code == 1


def test_estimates_are_called_estimates(house):
    shown = run("count", house, "--k", 3, "--engine", "sample", "--samples", 500).stdout
    assert "estimated copies" in shown
    assert "estimated density" in shown
    assert "Estimates, no exact counts: k = 3: sampled, 500 maps" in shown
    assert "stimate" not in run("count", house, "--k", 3).stdout
