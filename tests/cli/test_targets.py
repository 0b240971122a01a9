"""Several targets on the command line: fit, predict and explain."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from anysize import GraphWarning, load_model, read_graphs
from anysize.paper.cli.app import main_app as app

TABLE = "name,smiles,alcohol,amine,size\n"


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("rdkit")
    where = tmp_path_factory.mktemp("targets")
    lines = []
    for n in range(1, 16):
        for end in ("O", "N", "CC"):
            alcohol, amine = (str(int(end == letter)) for letter in "ON")
            lines.append(f"m{n}{end},{'C' * n}{end},{alcohol if n % 4 else ''},{amine if n % 5 else 'NA'},{n + 0.5}")
    (where / "small.csv").write_text(TABLE + "\n".join([*lines, "none,CCC,,,1.5", ""]))
    options = ("--smiles", "smiles", "--y", "alcohol,amine", "--method", "wl-kernel", "--out", where / "m.anysize")
    done = run("fit", where / "small.csv", *options)
    assert done.exit_code == 0, done.output
    told = done.output.replace("\n", " ")
    assert "any label in the columns alcohol, amine: line 47" in told
    assert "1 model of each of 2 targets trained on 45 graphs" in told
    lines = [line.split() for line in done.output.splitlines()]
    assert [line[1] for line in lines if line and line[0] in ("alcohol", "amine")] == ["36", "36"]
    assert any(line[:1] == ["mean"] for line in lines)
    return where


NEW = TABLE + "a,CCCCO,1,0,1\nb,xyz,1,1,1\nc,CCCN,,1,1\nd,CCCCCC,0,,1\n"


def test_one_network_of_all_targets_has_the_same_columns(folder: Path) -> None:
    (folder / "new.csv").write_text(NEW)
    options = ("--smiles", "smiles", "--y", "alcohol,amine", "--method", "gin-sum", "--set", "epochs=2")
    done = run("fit", folder / "small.csv", *options, "--out", folder / "net.anysize")
    assert done.exit_code == 0, done.output
    assert "1 model of all 2 targets trained on 45 graphs" in done.output.replace("\n", " ")
    tables = [
        rows_of(run("predict", folder / model, folder / "new.csv", "--smiles", "smiles").stdout)
        for model in ("m.anysize", "net.anysize")
    ]
    assert list(tables[0][0]) == list(tables[1][0])
    assert [row["name"] for row in tables[1]] == ["a", "b", "c", "d"]
    assert tables[1][0]["alcohol: probability of 1"] != tables[1][0]["amine: probability of 1"]


def test_rows_have_a_class_and_probabilities_for_each_target(folder: Path) -> None:
    (folder / "new.csv").write_text(NEW)
    done = run("predict", folder / "m.anysize", folder / "new.csv", "--smiles", "smiles", "--y", "amine,alcohol")
    assert done.exit_code == 0, done.output
    rows = rows_of(done.stdout)
    of = ("class", "probability of 0", "probability of 1")
    predicted = [f"{target}: {name}" for target in ("alcohol", "amine") for name in of]
    assert list(rows[0]) == ["graph", "name", "alcohol", "amine", "size", *predicted, "reason"]
    assert [row["name"] for row in rows] == ["a", "b", "c", "d"]
    assert [row["alcohol: class"] for row in rows] == ["1", "", "0", "0"]
    assert [row["amine: class"] for row in rows] == ["0", "", "1", "0"]
    assert rows[1]["reason"] == "RDKit cannot read this SMILES"
    lines = {line.split()[0]: line.split()[1:] for line in done.stderr.splitlines() if line.strip()}
    # balanced accuracy and ROC-AUC to expect; labeled graphs, accuracy, balanced accuracy, ROC-AUC
    assert lines["alcohol"][2:] == lines["amine"][2:] == ["2", "1.000", "1.000", "1.000"]
    assert lines["mean"][2:] == ["1.000"] * 3
    bare = run("predict", folder / "m.anysize", folder / "new.csv", "--smiles", "smiles", "--json")
    told = json.loads(bare.stdout)
    assert told["targets"] == {"alcohol": [0, 1], "amine": [0, 1]}
    assert [graph["amine"] and graph["amine"]["class"] for graph in told["graphs"]] == [0, None, 1, 0]
    probability = told["graphs"][0]["alcohol"]["probabilities"]["1"]
    assert probability == float(rows[0]["alcohol: probability of 1"])
    assert "labeled graphs" not in bare.stderr


def test_the_scores_of_one_of_the_targets(folder: Path) -> None:
    (folder / "new.csv").write_text(NEW)
    model, options = folder / "m.anysize", ("--smiles", "smiles")
    done = run("predict", model, folder / "new.csv", *options, "--y", "amine")
    lines = {line.split()[0]: line.split()[1:] for line in done.stderr.splitlines() if line.strip()}
    assert lines["alcohol"][2:] == ["0"] or len(lines["alcohol"]) == 3
    assert lines["amine"][2:] == ["2", "1.000", "1.000", "1.000"]
    wrong = run("predict", model, folder / "new.csv", *options, "--y", "amin")
    assert wrong.stderr.startswith("Error: there is no target 'amin': did you mean 'amine'?")
    labels = folder / "labels.csv"
    labels.write_text("smiles,alcohol,amine\nCCCCO,1,\nCCCN,0,\nxyz,,\nCCCCCC,NA,1\n")
    given = run("predict", model, folder / "new.csv", *options, "--labels", labels, "--y", "alcohol,amine")
    lines = {line.split()[0]: line.split()[1:] for line in given.stderr.splitlines() if line.strip()}
    assert lines["alcohol"][2:] == ["2", "1.000", "1.000", "1.000"]
    assert lines["amine"][2:4] == ["1", "0.000"]


def test_numbers_get_a_column_for_each_target(folder: Path) -> None:
    options = ("--smiles", "smiles", "--out", folder / "numbers.anysize")
    done = run("fit", folder / "small.csv", *options, "--target", "size,amine", "--json")
    facts = json.loads(done.stdout)
    assert list(facts["targets"]) == ["size", "amine"]
    assert {name: each["graphs"] for name, each in facts["targets"].items()} == {"size": 46, "amine": 36}
    assert facts["targets"]["size"]["train"] == pytest.approx(
        load_model(folder / "numbers.anysize").verdict_["size"].train["model"]
    )
    (folder / "new.csv").write_text(NEW)
    new = (folder / "numbers.anysize", folder / "new.csv", "--smiles", "smiles", "--y", "size")
    rows = rows_of(run("predict", *new).stdout)
    with pytest.warns(GraphWarning, match="line 3"):
        graphs = read_graphs(folder / "new.csv", smiles="smiles")
    expected = load_model(folder / "numbers.anysize").predict(graphs)
    told = [[float(row[f"{target}: prediction"]) for target in ("size", "amine")] for row in rows if not row["reason"]]
    np.testing.assert_array_equal(told, expected)


def test_one_target_is_explained(folder: Path, tmp_path: Path) -> None:
    (folder / "new.csv").write_text(NEW)
    options = (folder / "m.anysize", folder / "new.csv", "--smiles", "smiles", "--graph", "CCCN")
    done = run("explain", *options, "--target", "amine", "--out", tmp_path / "why.svg")
    assert done.exit_code == 0, done.output
    assert "graph CCCN: 1" in done.output
    assert (tmp_path / "why.svg").stat().st_size > 1000
    for more, told in (((), "add --target alcohol"), (("--target", "x"), "there is no target 'x'")):
        wrong = run("explain", *options, *more)
        assert wrong.stderr.startswith("Error: ")
        assert told in wrong.stderr.replace("\n", " ")


def test_what_is_refused_in_one_sentence(folder: Path, tmp_path: Path) -> None:
    small, out = (folder / "small.csv", "--smiles", "smiles"), ("--out", tmp_path / "m")
    for options, told in (
        (("--y", "alcohol,nothing"), "there is no column 'nothing'"),
        (("--y", "alcohol,alcohol"), "different names of columns"),
        (("--y", "alcohol,size"), "target 'size': classes must be whole numbers or strings"),
        (("--target", "size,name"), "target 'name': expected a number for every graph"),
        (("--y", "alcohol", "--target", "size"), "pass one of them"),
    ):
        done = run("fit", *small, *options, *out)
        assert (done.exit_code, done.stdout) == (1, ""), options
        assert told in done.stderr.replace("\n", " "), done.stderr
    fitted = run("fit", *small, "--y", "alcohol", "--method", "wl-kernel", *out)
    assert fitted.exit_code == 0
    for options, told in ((("--y", "alcohol,amine"), "--y takes one column"),):
        done = run("predict", tmp_path / "m", *small, *options)
        assert told in done.stderr.replace("\n", " ")
