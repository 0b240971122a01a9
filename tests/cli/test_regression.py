"""anysize fit --target and predict with a model of numbers."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from click.testing import Result
from typer.testing import CliRunner

from anysize import load_model
from anysize.paper.cli.app import main_app as app


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write_molecules(file: Path, lengths: range) -> None:
    """Alcohols with chains of these lengths; their number of atoms as a real number."""
    rows = [["smiles", "weight", "name"]]
    rows += [["C" * n + end, str(n + size + 0.5), "x"] for n in lengths for end, size in (("O", 1), ("C(=O)O", 3))]
    file.write_text("\n".join(map(",".join, rows)) + "\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("rdkit")
    where = tmp_path_factory.mktemp("regression")
    write_molecules(where / "small.csv", range(1, 15))
    write_molecules(where / "large.csv", range(30, 33))
    done = run("fit", where / "small.csv", "--smiles", "smiles", "--target", "weight", "--out", where / "m.anysize")
    assert done.exit_code == 0, done.output
    assert "trained on 28 graphs to predict weight" in done.output
    return where


def test_predict_writes_one_number_per_graph(folder: Path) -> None:
    model, large = folder / "m.anysize", folder / "large.csv"
    done = run("predict", model, large, "--smiles", "smiles", "--y", "weight")
    assert done.exit_code == 0, done.output
    header, *rows = csv.reader(done.stdout.splitlines())
    assert header == ["graph", "weight", "name", "prediction"]
    assert [row[0] for row in rows[:2]] == ["C" * 30 + "O", "C" * 30 + "C(=O)O"]
    assert [float(row[-1]) for row in rows] == pytest.approx([31.5, 33.5, 32.5, 34.5, 33.5, 35.5], abs=0.5)
    assert "On these 6 labeled graphs: RMSE" in done.stderr
    bare = run("predict", model, large, "--smiles", "smiles", "--json")
    assert [graph["prediction"] for graph in json.loads(bare.stdout)["graphs"]] == [float(row[-1]) for row in rows]
    assert "RMSE" not in bare.stderr


def test_fit_as_json_has_the_held_out_scores(folder: Path) -> None:
    done = run(
        "fit", folder / "small.csv", "--smiles", "smiles", "--target", "weight", "--method", "wl-kernel",
        "--out", folder / "wl.anysize", "--json",
    )  # fmt: skip
    facts = json.loads(done.stdout)
    verdict = load_model(folder / "wl.anysize").verdict_
    assert (facts["method"], facts["target"], facts["graphs"], facts["metric"]) == ("wl-kernel", "weight", 28, "rmse")
    assert {held["protocol"]: held["scores"] for held in facts["held_out"]} == {
        held.protocol: held.scores for held in verdict.held_out
    }
    assert facts["train"] == verdict.train["model"]


def test_wrong_options_get_one_sentence(folder: Path) -> None:
    small, out = folder / "small.csv", folder / "other.anysize"
    for options, message in (
        (("--target", "weight", "--y", "weight"), "--y is for classes and --target for a number"),
        (("--target", "weight", "--metric", "mcc"), "--metric is for classes"),
        (("--target", "name"), "expected a number for every graph; got 'x'"),
        (("--target", "weight", "--method", "majority"), "majority does not predict numbers"),
        (("--y", "weight"), "GraphRegressor (anysize fit --target COLUMN) predicts numbers"),
    ):
        done = run("fit", small, "--smiles", "smiles", *options, "--out", out)
        assert done.exit_code == 1
        assert message in " ".join(done.stderr.split())
        assert not out.exists()
    done = run("explain", folder / "m.anysize", small, "--smiles", "smiles")
    assert done.exit_code == 0
    assert "weighted mean of the heads" in done.stdout


def test_an_attribute_of_graphml_is_a_target(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    (tmp_path / "graphs").mkdir()
    for number in range(24):
        graph = nx.gnp_random_graph(8 + number % 6, 0.4, seed=int(rng.integers(1 << 30)))
        graph.graph["energy"] = graph.number_of_edges() + 0.5
        nx.write_graphml(graph, tmp_path / "graphs" / f"{number:02}.graphml")
    done = run("fit", tmp_path / "graphs", "--target", "energy", "--out", tmp_path / "m.anysize", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["graphs"] == 24
