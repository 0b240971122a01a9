"""Commands on tables of SMILES, and on files that name the color of vertices."""

from __future__ import annotations

from importlib.resources import files
from json import loads
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from click.testing import Result
from typer.testing import CliRunner

from anysize import load_model
from anysize.paper.cli.app import main_app as app

MolFromSmiles = pytest.importorskip("rdkit.Chem").MolFromSmiles
TABLE = files("anysize.io").joinpath("molecules.csv")
MOLECULES = ("--smiles", "smiles")


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_molecules_are_counted() -> None:
    done = run("count", TABLE, *MOLECULES, "--k", 1, "--json")
    assert done.exit_code == 0, done.output
    assert run("count", TABLE, "--k", 1).exit_code == 1
    aromatic = run("count", TABLE, *MOLECULES, "--color", "element+aromatic", "--k", 1)
    assert aromatic.exit_code == 0
    assert "9 colors" in aromatic.output
    assert "vertex[c]" in aromatic.output  # not taken for markup
    assert "6 colors" in run("count", TABLE, *MOLECULES, "--color", "element", "--k", 1).output
    assert "…" not in run("count", TABLE, *MOLECULES, "--edges", "--k", 3).stdout  # long names are not cut


def test_fit_predict_diagnose_and_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    model = tmp_path / "m.anysize"
    done = run("fit", TABLE, *MOLECULES, "--y", "acid", "--method", "wl-kernel", "--out", model, "--json")
    assert done.exit_code == 0, done.output
    assert loads(done.stdout)["classes"] == [0, 1]
    done = run("predict", model, TABLE, *MOLECULES)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[1].startswith("CO,methanol,0,0,")
    done = run("diagnose", TABLE, TABLE, *MOLECULES, "--y", "acid", "--k", 2)
    assert done.exit_code == 0, done.output
    done = run("compare", TABLE, *MOLECULES, "--y", "acid", "--methods", "wl-kernel", "--seeds", 1)
    assert done.exit_code == 0, done.output


def test_a_molecule_is_named_by_its_smiles_and_drawn(tmp_path: Path) -> None:
    model, picture = tmp_path / "m.anysize", tmp_path / "why.svg"
    run("fit", TABLE, *MOLECULES, "--y", "acid", "--method", "sizemix", "--out", model)
    done = run("explain", model, TABLE, *MOLECULES, "--graph", "CC(=O)O", "--out", picture)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("graph CC(=O)O: 1 (probability")
    svg = picture.read_text(encoding="utf-8")
    assert svg.count(">O</text>") >= 2  # the elements of the atoms are labels


def test_smiles_are_explained_as_arguments_and_lines(tmp_path: Path) -> None:
    model, picture, acid = tmp_path / "m.anysize", tmp_path / "why.svg", "CC(=O)O"
    run("fit", TABLE, *MOLECULES, "--y", "acid", "--method", "sizemix", "--out", model)
    said = run("explain", model, TABLE, *MOLECULES, "--graph", acid)
    done = run("explain", model, acid, "--out", picture)
    assert done.exit_code == 0, done.output
    assert done.stdout == said.stdout
    assert picture.exists()
    lines = CliRunner().invoke(app, ["explain", str(model), "-", "--graph", acid], input=f"CCO\n{acid}\n")
    assert lines.stdout == said.stdout
    several = run("explain", model, "CCO", "C(", acid)
    assert several.exit_code == 0, several.output
    assert [line.split(":")[0] for line in several.stdout.splitlines() if line.startswith("graph")] == [
        "graph CCO", f"graph {acid}",
    ]  # fmt: skip
    assert "C(: " in several.stderr
    for words, message in (
        (("no-such-file",), "There is no file or folder no-such-file, and RDKit cannot read it as SMILES."),
        (("CCO", TABLE), "expected one file or folder, or SMILES; got 2 arguments"),
        (("CCO", acid, "--out", picture), "--out draws one graph of the 2 in the arguments; add --graph."),
    ):
        wrong = run("explain", model, *words)
        assert wrong.exit_code == 1
        assert message in wrong.stderr.replace("\n", " ")


def test_a_model_remembers_what_atoms_are_told_apart_by(tmp_path: Path) -> None:
    model, color = tmp_path / "m.anysize", ("--color", "element+aromatic")
    run("fit", TABLE, *MOLECULES, "--y", "acid", *color, "--method", "sizemix", "--out", model)
    said, silent = (run("predict", model, TABLE, *MOLECULES, *one) for one in (color, ()))
    assert said.exit_code == 0, said.output
    assert silent.stdout == said.stdout
    assert run("predict", model, TABLE, *MOLECULES, "--color", "element").stdout != said.stdout
    why = run("explain", model, TABLE, *MOLECULES, "--graph", "OC(=O)c1ccccc1")
    assert "(c) " in why.stdout
    molecule = MolFromSmiles("OC(=O)c1ccccc1")
    found = load_model(model).explain([molecule])
    assert found.text(10) in why.stdout  # RDKit molecules are colored in the same way


@pytest.mark.parametrize("options", [("--y", "acid"), ("--target", "acid", "--method", "wl-kernel")])
def test_a_model_of_elements_reads_new_molecules_as_elements(options: tuple[str, ...], tmp_path: Path) -> None:
    """Models from before atoms were rich by default, and those of graphs read with atoms="element"."""
    model, method = tmp_path / "m.anysize", () if "--method" in options else ("--method", "sizemix")
    run("fit", TABLE, *MOLECULES, *options, *method, "--color", "element", "--out", model)
    said = run("predict", model, TABLE, *MOLECULES)
    fitted = load_model(model).set_params(color=None)
    fitted.save(model)
    silent = run("predict", model, TABLE, *MOLECULES)
    assert silent.exit_code == 0, silent.output
    assert "no training graph" not in silent.stderr
    assert silent.stdout == said.stdout


def test_columns_that_are_missing_end_in_one_sentence(tmp_path: Path) -> None:
    for options in (("--smiles", "SMILES"), (*MOLECULES, "--y", "class"), (*MOLECULES, "--color", "mass")):
        done = run("fit", TABLE, *options, "--out", tmp_path / "m")
        assert done.exit_code == 1
        assert done.stderr.count("\n") == 1
        assert options[-1] in done.stderr
    assert not (tmp_path / "m").exists()


def test_color_of_graphml(tmp_path: Path) -> None:
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: "C", 1: "C", 2: "O"}, "atom")
    nx.write_graphml(graph, tmp_path / "g.graphml")
    done = run("count", tmp_path / "g.graphml", "--color", "atom", "--k", 2)
    assert done.exit_code == 0
    assert "2 colors" in done.output
