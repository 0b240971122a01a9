"""The command `anysize paper theory`: table, JSON, invalid input."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from anysize.paper.cli.app import main_app as app
from anysize.paper.theory.bounds import size_needed, theorem_bound
from anysize.paper.theory.summary import summarize


def run(*arguments):
    return CliRunner().invoke(app, ["paper", "theory", *map(str, arguments)], env={"COLUMNS": "200"})


def test_the_table_of_the_erdos_renyi_task_says_vacuous():
    result = run("--k", 4, "--train-size", 80, "--test-size", 140, "--colors", 1, "--pairs", 12)
    assert result.exit_code == 0
    lines = " ".join(result.stdout.split())
    assert "Theorem 1 is vacuous" in lines
    assert f"{size_needed(4, 0.5, up_to=False):,}" in lines
    assert "patterns 6 10" in lines
    assert "largest measured gap is 0.0" in lines
    assert "mean of 12 pairs" in lines


def test_the_table_says_where_the_bound_holds():
    lines = " ".join(run("--k", 2, "--train-size", 400, "--test-size", 800, "--pairs", 0).stdout.split())
    bound = theorem_bound(2, 400, 800, 0.5)
    assert f"at most {bound:.2g}" in lines
    assert "vacuous" not in lines
    assert "measured" not in lines


def test_json_holds_bounds_and_measurements():
    summary = json.loads(
        run("--k", 3, "--train-size", 30, "--test-size", 60, "--colors", 2, "--pairs", 10, "--json").stdout
    )
    assert summary["bounds"][1]["bound"] == theorem_bound(3, 30, 60, 0.5, 2)
    assert summary["bounds"][1]["vacuous"] is True
    assert {row["kind"] for row in summary["bounds"]} == {"paper", "hoeffding"}
    for found in summary["measured"]:
        assert found["pairs"] == 10
        assert 0 < found["mean"] <= found["quantile"] <= found["largest"] < 1
        assert found["largest"] < 2 * found["predicted"]


def test_slow_measurements_are_skipped():
    for far in (summarize(2, 20_000, 30, pairs=5), summarize(3, 30, 30, pairs=50, budget_s=0.0)):
        assert far.measured == ()
        assert far.sentences[-1].startswith("No gaps were measured")


def test_the_same_seed_gives_the_same_table():
    one, two, other = (summarize(3, 20, 30, pairs=10, seed=seed) for seed in (1, 1, 2))
    assert one == two
    assert one.measured != other.measured


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--k", 9), "got 9"),
        (("--train-size", 3), "at least 4; got 3"),
        (("--colors", 0), "at least 1; got 0"),
        (("--epsilon", 1.5), "got 1.5"),
        (("--delta", 1), "got 1.0"),
        (("--pairs", -1), "got -1"),
    ],
)
def test_invalid_input_is_one_sentence(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 1
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_help_has_an_example():
    assert "anysize paper theory --k 4 --train-size 80 --test-size 140 --colors 1" in run("--help").stdout
