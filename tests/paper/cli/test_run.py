"""anysize run and anysize sweep: what they print, what they write, how they fail."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from anysize.evaluation.store import RecordStore
from anysize.methods.catalog import METHODS
from anysize.paper.cli.app import main_app as app
from anysize.paper.run import run as run_cell

TINY = ("--set", "epochs=3", "--set", "k=3", "--set", "hidden=8")


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def run(*arguments):
    return CliRunner().invoke(app, ["paper", *map(str, arguments)])


# ---- run -------------------------------------------------------------------------------------------


def test_json_ends_with_one_line_of_means_over_seeds():
    result = run("run", "sbm-20", "--method", "gamma-gin", "--data", 0, "--seeds", 3, *TINY, "--json")
    assert result.exit_code == 0, result.output
    (line,) = result.stdout.splitlines()
    fields = json.loads(line)
    assert list(fields)[:8] == ["task", "method", "data", "seeds", "train", "validation", "test", "std"]
    assert (fields["task"], fields["method"], fields["data"], fields["seeds"]) == ("sbm-20", "gamma-gin", 0, 3)
    assert fields["recipe"] == "robust"
    assert fields["test"] == pytest.approx(np.mean(fields["tests"]))
    assert fields["std"]["test"] == pytest.approx(np.std(fields["tests"]))
    same = run_cell("sbm-20", "gamma-gin", data=0, seeds=3, settings={"epochs": 3, "k": 3, "hidden": 8})
    again = same.fields()
    assert {**again, "seconds": 0} == {**fields, "seconds": 0}


def test_scores_stand_beside_the_published_ones():
    result = run("run", "sbm-20", "--method", "gc-kernel", "--recipe", "paper")
    assert result.exit_code == 0, result.output
    rows = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines() if line.strip()}
    assert rows["train"] == ["1.000", "1.00", "(0.00)"]  # one run has no deviation
    assert rows["validation"] == ["0.900", "0.90", "(0.00)"]
    assert rows["test"] == ["0.430", "0.43", "(0.00)"]
    assert "C=1000 (best of 7 on validation" in result.stdout
    assert "trained once" in result.stdout


def test_fresh_data_have_no_published_numbers():
    result = run("run", "sbm-color", "--method", "gamma-1hot", "--seeds", 2, *TINY)
    assert result.exit_code == 0, result.output
    assert "fresh data, seed 0" in result.stdout
    assert "published" not in result.stdout
    assert "2 seeds" in result.stdout


def test_irm_on_one_environment_is_na_and_says_why():
    result = run("run", "er-single", "--method", "gin-irm")
    assert result.exit_code == 0
    assert "NA. It compares training environments" in " ".join(result.stdout.split())
    fields = json.loads(run("run", "er-single", "--method", "gin-irm", "--json").stdout)
    assert fields["test"] is None
    assert "NA" in fields["na"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["sbm20"], "did you mean sbm-20?"),
        (["sbm-20", "--method", "gama-gin"], "did you mean gamma-gin?"),
        (["sbm-20", "--data", "x"], "--data takes 'published' or a seed"),
        (["sbm-20", "--set", "hidden"], "--set takes name=value"),
        (["sbm-20", "--set", "hiden=3"], "hiden"),
        (["sbm-20", "--device", "tpu"], "device must be"),
        (["sbm-color", "--data", "published"], "sbm-color has no published data"),
        (["schizophrenia", "--data-dir", "."], "The brain networks cannot be downloaded"),
    ],
)
def test_bad_input_to_run_is_one_sentence(arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _is_one_sentence(run("run", *arguments), sentence)


def _is_one_sentence(result, sentence):
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert sentence in result.stderr
    assert "Traceback" not in result.output


# ---- sweep -----------------------------------------------------------------------------------------


def test_a_sweep_writes_records_and_the_table_shows_them(tmp_path):
    given = ["sweep", "sbm-20", "--methods", "gamma-1hot, random", "--seeds", 2, *TINY, "--records", tmp_path / "own"]
    result = run(*given)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("4 runs: 4 trained in 0:0")
    assert str(tmp_path / "own") in result.stdout.replace("\n", "")
    records = RecordStore(tmp_path / "own").read()
    assert {(record.method, record.recipe, record.data) for record in records} == {
        ("gamma-1hot", "paper", "published"), ("random", "paper", "published"),
    }  # fmt: skip
    assert run(*given).stdout.startswith("4 runs: 0 trained in 0:00, 4 found.")
    shown = json.loads(run("table", 2, "--records", tmp_path / "own", "--data", "published", "--json").stdout)
    cells = {row["method"]: row["cells"] for row in shown["rows"]}
    place = [(column["task"], column["split"]) for column in shown["columns"]].index(("sbm-20", "test"))
    tests = [record.scores.test for record in records if record.method == "gamma-1hot"]
    assert cells["gamma-1hot"][place]["summary"]["mean"] == pytest.approx(np.mean(tests))


def test_a_sweep_as_json(tmp_path):
    given = ["sweep", "sbm-20", "--methods", "random,gin-irm", "--seeds", 2, "--data", "fresh:3", "--json"]
    result = run(*given, "--records", tmp_path)
    (line,) = result.stdout.splitlines()
    fields = json.loads(line)
    assert (fields["planned"], fields["made"], fields["left"]) == (6, 6, 0)
    assert fields["left_out"][0].startswith("gin-irm on sbm-20: NA")
    assert {record.data for record in RecordStore(tmp_path).read()} == {"seed:0", "seed:1", "seed:2"}
    stopped = json.loads(run(*given, "--records", tmp_path / "new", "--time-limit", 0).stdout)
    assert (stopped["made"], stopped["left"]) == (0, 6)


def test_count_only_fills_the_store(tmp_path):
    given = ["sweep", "sbm-20", "--methods", "gamma-1hot,topology-only", "--data", 0, "--set", "k=3", "--count-only"]
    result = run(*given, "--cache", tmp_path / "cache", "--records", tmp_path / "records")
    assert result.exit_code == 0, result.output
    assert len(list((tmp_path / "cache").rglob("*.npz"))) == 6  # three sets, with colors and without
    assert not (tmp_path / "records").exists()
    _is_one_sentence(run(*given), "--count-only needs")


def test_a_piece_that_fails_makes_the_command_fail_in_the_end(tmp_path, monkeypatch):
    def fail(self, problem, runs, *rest):
        raise ValueError("no luck today")

    monkeypatch.setattr(type(METHODS["gamma-gin"].learner), "fit", fail)
    result = run(
        "sweep", "sbm-20", "--methods", "gamma-gin,random", "--seeds", 1, "--data", 0, "--records", tmp_path, *TINY
    )
    assert result.exit_code == 1
    assert "Failed: gamma-gin on sbm-20, seed:0: no luck today" in result.stdout
    assert "2 runs: 1 trained" in result.stdout
    assert "1 run left" in result.stdout
    assert [record.method for record in RecordStore(tmp_path).read()] == ["random"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["table4"], "table1, table2 or table3"),
        (["sbm-20", "--methods", "none"], "There is no method 'none'"),
        (["sbm-20", "--data", "fresh"], "fresh:10"),
        (["NCI1", "--data", "3"], "NCI1 has one data set"),
        (["sbm-20", "--set", "hiden=3"], "hiden"),
        (["sbm-20", "--set", "dropout=5"], "dropout must be"),
        (["sbm-20", "--device", "tpu"], "device must be"),
        (["er-single", "--methods", "gin-irm"], "Nothing is left to run."),
        (["schizophrenia", "--data-dir", "."], "The brain networks cannot be downloaded"),
    ],
)
def test_bad_input_to_sweep_is_one_sentence(arguments, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _is_one_sentence(run("sweep", *arguments), sentence)
    assert not (tmp_path / "results").exists()


def test_help_has_an_example_and_usage_errors_exit_with_two():
    for command in ("run", "sweep"):
        assert "Example:" in run(command, "--help").stdout
        assert run(command).exit_code == 2
    assert run("sweep", "sbm-20", "--grid", "full").exit_code == 2
    assert run("run", "sbm-20", "--seeds", 0).exit_code == 2
