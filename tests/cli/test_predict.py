"""anysize predict: one row for each row of the input, SMILES as arguments, standard input, spread of models."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from anysize import GraphClassifier, GraphSet, load_model
from anysize.paper.cli.app import main_app as app

SPREAD = "standard deviation over models"


def run(*arguments: Any, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=stdin)


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(text.splitlines()))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("rdkit")
    where = tmp_path_factory.mktemp("predict")
    rows = [f"{'C' * n}{end},{int(end == 'O')}" for n in range(1, 11) for end in ("O", "N")]
    (where / "small.csv").write_text("\n".join(["smiles,alcohol", *rows]))
    options = ("--smiles", "smiles", "--y", "alcohol", "--method", "wl-kernel")
    done = run("fit", where / "small.csv", *options, "--out", where / "m.anysize")
    assert done.exit_code == 0, done.output
    return where


NEW = "name,class,smiles,alcohol\nbutanol,CLASS,CCCCO,1\nbad,,xyz,1\n,,,\npropylamine,x,CCCN,0\nunknown,y,CCCCCCO,NA\n"


def test_every_row_of_a_table_has_its_row(folder: Path) -> None:
    (folder / "new.csv").write_text(NEW)
    model = folder / "m.anysize"
    done = run("predict", model, folder / "new.csv", "--smiles", "smiles", "--y", "alcohol")
    assert done.exit_code == 0, done.output
    rows = table(done.stdout)
    assert list(rows[0]) == [
        "graph", "name", "input class", "alcohol", "class", "probability of 0", "probability of 1", "reason"
    ]  # fmt: skip
    assert [row["name"] for row in rows] == ["butanol", "bad", "propylamine", "unknown"]  # a blank line is no row
    assert [row["class"] for row in rows] == ["1", "", "0", "1"]
    assert [bool(row["reason"]) for row in rows] == [False, True, False, False]
    assert rows[0]["input class"] == "CLASS"
    graphs = GraphSet.concatenate([load_graph("CCCCO"), load_graph("CCCN"), load_graph("CCCCCCO")])
    chances = load_model(model).predict_proba(graphs)
    assert [float(row["probability of 1"]) for row in rows if row["class"]] == chances[:, 1].tolist()
    told = done.stderr.replace("\n", " ")
    assert "on these 2 labeled graphs: 1.000" in told
    assert "ROC-AUC 1.000" in told
    assert "1 of 4 rows without a prediction" in told


def load_graph(smiles: str) -> GraphSet:
    from rdkit.Chem import MolFromSmiles

    return GraphSet.from_rdkit(MolFromSmiles(smiles))


def test_rows_as_json(folder: Path) -> None:
    (folder / "new.csv").write_text(NEW)
    done = run("predict", folder / "m.anysize", folder / "new.csv", "--smiles", "smiles", "--json")
    graphs = json.loads(done.stdout)["graphs"]
    assert [graph["class"] for graph in graphs] == [1, None, 0, 1]
    assert graphs[1] == {
        "graph": "xyz", "class": None, "probabilities": None, "reason": "RDKit cannot read this SMILES",
        "input": {"name": "bad", "class": "", "alcohol": "1"},
    }  # fmt: skip
    assert "labeled graphs" not in done.stderr  # no column of labels is named


def test_smiles_as_arguments_and_on_standard_input(folder: Path, tmp_path: Path) -> None:
    model, smiles = folder / "m.anysize", ["CCCCO", "CCCN", "xyz"]
    shown = run("predict", model, *smiles)
    rows = table(shown.stdout)
    assert [row["graph"] for row in rows] == smiles
    assert [row["class"] for row in rows] == ["1", "0", ""]
    lines = "".join(f"{one} name of {one}\n" for one in smiles)
    (tmp_path / "m.smi").write_text(lines)
    given = run("predict", model, "-", stdin=lines), run("predict", model, tmp_path / "m.smi")
    assert given[0].stdout == given[1].stdout
    named = table(given[0].stdout)
    assert [row.pop("name") for row in named] == [f"name of {one}" for one in smiles]
    assert named == rows
    header = "smiles,id\n" + "".join(f"{one},{number}\n" for number, one in enumerate(smiles))
    told = table(run("predict", model, "-", "--smiles", "smiles", stdin=header).stdout)
    assert [row["id"] for row in told] == ["0", "1", "2"]


def test_json_lines_on_standard_input(tmp_path: Path) -> None:
    graphs = GraphSet.from_edges([[(v, v + 1) for v in range(n)] + [(n, 0)] * (n % 2) for n in range(3, 23)])
    GraphClassifier("wl-kernel").fit(graphs, ["ring" if n % 2 else "path" for n in range(3, 23)]).save(tmp_path / "m")
    triangle, path = [[0, 1], [1, 2], [2, 0]], [[0, 1], [1, 2], [2, 3], [3, 4]]
    records = [{"edges": triangle, "y": "ring", "site": "A"}, {"edges": 3}, {"edges": path}]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    done = run("predict", tmp_path / "m", "-", stdin=lines)
    rows = table(done.stdout)
    assert [row["class"] for row in rows] == ["ring", "", "path"]
    assert (rows[0]["site"], rows[0]["y"]) == ("A", "ring")
    assert "on these 1 labeled graphs: 1.000" in done.stderr
    names = tmp_path / "labels.csv"
    names.write_text("0,ring\n1,path\n2,\n")
    known = run("predict", tmp_path / "m", "-", "--labels", names, stdin=lines.replace('"y": "ring", ', ""))
    assert "on these 1 labeled graphs: 1.000" in known.stderr


def test_the_spread_of_several_models_is_told(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    graphs = GraphSet.from_edges([[(v, v + 1) for v in range(n)] for n in rng.integers(2, 9, 30).tolist()])
    y = (graphs.sizes + rng.integers(-2, 3, 30) > 5).astype(int)
    GraphClassifier("wl-kernel", n_models=3, check=False).fit(graphs, y).save(tmp_path / "m")
    lines = "".join(json.dumps({"edges": [[v, v + 1] for v in range(n)]}) + "\n" for n in range(1, 9))
    rows = table(run("predict", tmp_path / "m", "-", stdin=lines).stdout)
    model = load_model(tmp_path / "m")
    new = GraphSet.from_edges([[(v, v + 1) for v in range(n)] for n in range(1, 9)])
    each = model.predict_proba(new, per_model=True)
    expected = [each[:, row, each.mean(axis=0)[row].argmax()].std() for row in range(8)]
    assert [float(row[SPREAD]) for row in rows] == pytest.approx(expected, abs=1e-12)
    assert max(expected) > 0.01
    GraphClassifier("wl-kernel", check=False).fit(graphs, y).save(tmp_path / "one")
    assert SPREAD not in run("predict", tmp_path / "one", "-", stdin=lines).stdout


def test_what_predict_refuses_in_one_sentence(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("smiles,y\n")
    (tmp_path / "bad.csv").write_text("smiles,y\nxyz,1\n")
    (tmp_path / "latin.csv").write_bytes("smiles,y\nCCO,größer\n".encode("latin-1"))
    smiles = ("--smiles", "smiles")
    for arguments, stdin, told in (
        (("none.csv",), None, "There is no file or folder none.csv, and RDKit cannot read it as SMILES"),
        (("none.csv", "--smiles", "smiles"), None, "There is no file or folder none.csv"),
        ((folder / "small.csv", folder / "new.csv"), None, "expected one file or folder, or SMILES"),
        (("",), None, "an empty argument"), (("-",), "", "standard input is empty"),
        (("-",), "xyz\n", "no row has a graph"), (("-",), '{"edges": 1}', "no row has a graph"),
        (("-",), b"\xff\xfe\n", "UTF-8"), ((tmp_path / "empty.csv", *smiles), None, "is empty"),
        ((tmp_path / "header.csv", *smiles), None, "a header and no rows"),
        ((tmp_path / "bad.csv", *smiles), None, "no row has a graph"),
        ((tmp_path / "bad.csv", "--smiles", "SMILES"), None, "there is no column 'SMILES'"),
        ((tmp_path / "latin.csv", *smiles), None, "UTF-8"), ((folder / "small.csv",), None, "pass smiles='smiles'"),
    ):  # fmt: skip
        done = run("predict", folder / "m.anysize", *arguments, stdin=stdin)
        assert (done.exit_code, done.stdout) == (1, ""), arguments
        assert told in done.stderr.replace("\n", " "), arguments
        assert done.stderr.startswith("Error: ")
