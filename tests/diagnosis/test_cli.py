"""anysize diagnose: the report on the screen, as JSON and as a page, and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from diagnosis.helpers import blocks, erdos_renyi
from typer.testing import CliRunner

import anysize as az
from anysize.cli.app import app


def run(*arguments: object):
    return CliRunner().invoke(app, ["diagnose", *map(str, arguments)], env={"COLUMNS": "120"})


@pytest.fixture
def sets(tmp_path: Path) -> tuple[Path, Path]:
    blocks((14, 20), 50, 1).to_tu(tmp_path / "train", "TRAIN")
    blocks((40,), 30, 2).to_tu(tmp_path / "new", "NEW")
    return tmp_path / "train", tmp_path / "new"


def test_the_report(sets: tuple[Path, Path]) -> None:
    result = run(*sets)
    assert result.exit_code == 0
    assert result.stdout.startswith("50 training graphs and 30 new ones")
    for heading in (
        "Sizes: disjoint",
        "Colors: ",
        "Densities: ",
        "Theorem 1: vacuous",
        "Label: ",
        "What to do: gamma-gin",
    ):
        assert f"\n{heading}" in result.stdout
    assert result.stdout.strip() == str(az.diagnose(az.read_graphs(sets[0]), az.read_graphs(sets[1]))).strip()


def test_json_is_one_line_and_the_page_is_written(sets: tuple[Path, Path], tmp_path: Path) -> None:
    result = run(*sets, "--k", 3, "--json", "--html", tmp_path / "page.html", "--no-colors")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert result.stdout.count("\n") == 1
    assert told["k"] == 3
    assert told["colors"] is None
    assert told["sizes"]["verdict"] == "disjoint"
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "Wrote" in result.stderr


def test_labels_from_a_file(sets: tuple[Path, Path], tmp_path: Path) -> None:
    erdos_renyi(0.3, (10, 16), 40, 1).to_tu(tmp_path / "plain", "PLAIN")
    (tmp_path / "y.txt").write_text("\n".join("ab"[i % 2] for i in range(40)))
    bare = json.loads(run(tmp_path / "plain", tmp_path / "plain", "--json").stdout)
    told = json.loads(run(tmp_path / "plain", tmp_path / "plain", "--labels", tmp_path / "y.txt", "--json").stdout)
    assert bare["label"] is None
    assert told["label"]["classes"] == ["a", "b"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("missing.zip", "TRAIN"), "There is no file or folder missing.zip."),
        (("TRAIN", "NEW", "--k", 9), "k must be a whole number from 1 to 7; got 9"),
        (("TRAIN", "NEW", "--level", 0), "level is a probability between 0 and 1; got 0.0"),
        (("TRAIN", "PLAIN"), "The training graphs have colors and the new graphs have none"),
        (("TRAIN", "PLAIN", "--no-colors", "--k", 5), "0 of 2 new graphs are large enough and 1 is needed"),
        (("TRAIN", "NEW", "--html", "no/such/folder/page.html"), "no/such/folder"),
    ],
)
def test_bad_input_ends_in_one_sentence(
    arguments: tuple[object, ...], sentence: str, sets: tuple[Path, Path], tmp_path: Path
) -> None:
    erdos_renyi(0.9, (4,), 2, 1).to_tu(tmp_path / "plain", "PLAIN")
    known = {"TRAIN": sets[0], "NEW": sets[1], "PLAIN": tmp_path / "plain"}
    result = run(*(known.get(str(a), a) for a in arguments))
    assert result.exit_code == 1
    assert sentence in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_help_has_an_example() -> None:
    assert "anysize diagnose TRAIN.zip NEW.zip" in " ".join(run("--help").stdout.split())
