"""`anysize paper tasks`: the list of tasks, and the graphs of one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from anysize.paper.cli.app import main_app as app
from anysize.paper.tasks import TASKS


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(app, ["paper", "tasks", *map(str, arguments)])


def test_the_list_names_every_task() -> None:
    result = run()
    assert result.exit_code == 0
    first = {line.split()[0] for line in result.stdout.splitlines() if line.split()}
    assert set(TASKS) <= first
    listed = json.loads(run("--json").stdout)
    assert [entry["task"] for entry in listed] == list(TASKS)
    assert {entry["task"] for entry in listed if entry["single_environment"]} == {
        "schizophrenia", "schizophrenia-like", "er-single", "sbm-20", "sbm-color", "sbm-color-400",
    }  # fmt: skip


def test_one_task_shows_sizes_classes_and_environments() -> None:
    result = run("sbm-14-20")
    assert result.exit_code == 0
    rows = {line.split("  ")[1].strip(): line.split() for line in result.stdout.splitlines() if line.startswith("  ")}
    assert rows["graphs"][-3:] == ["80", "20", "100"]
    assert rows["class cross density 0.1"][-6:] == ["0.46", "(37)", "0.70", "(14)", "0.57", "(57)"]
    assert rows["14 vertices"][-3:] == ["38", "11", "0"]
    assert "published data; patterns of 5 vertices; scored by accuracy" in " ".join(result.stdout.split())
    assert "A clear shift: test graphs have 2.3 times as many vertices" in " ".join(result.stdout.split())


def test_json_holds_the_same_numbers() -> None:
    shown = json.loads(run("sbm-20", "--data", "7", "--json").stdout)
    splits = TASKS["sbm-20"].splits(7)
    assert (shown["task"], shown["data"], shown["published"], shown["table"]) == ("sbm-20", 7, True, 2)
    assert [part["name"] for part in shown["sets"]] == ["train", "validation", "test"]
    assert shown["sets"][0]["classes"]["cross density 0.3"] == int(splits.train.y.sum())
    assert shown["sets"][2]["shares"]["cross density 0.3"] == pytest.approx(splits.test.y.mean())
    assert shown["sets"][2]["mean_edges"] == pytest.approx(splits.test.edge_counts.mean())


def test_thinned_sizes_are_summed_up() -> None:
    rows = [line.split() for line in run("schizophrenia-like").stdout.splitlines()]
    assert ["264", "vertices", "125", "10"] in rows
    assert ["other", "sizes", "0", "10"] in rows


def test_a_data_folder_can_be_named(tmp_path: Path, data_dir: Path) -> None:
    if not (data_dir / "PROTEINS.zip").is_file():
        pytest.skip("PROTEINS.zip is not among the data files")
    shown = json.loads(run("PROTEINS", "--data-dir", data_dir, "--seed", 3, "--json").stdout)
    assert (shown["metric"], shown["data"], shown["seed"], shown["sets"][2]["graphs"]) == ("mcc", "published", 3, 112)
    missing = run("PROTEINS", "--data-dir", tmp_path / "absent")
    assert missing.exit_code == 1
    assert missing.stderr.startswith("Error: There is no folder")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("sbm-21",), "Error: There is no task 'sbm-21': did you mean sbm-20?"),
        (("NCI1", "--data", "3"), "Error: NCI1 has one data set"),
        (("sbm-color", "--data", "published"), "Error: sbm-color has no published data"),
        (("sbm-20", "--data", "x"), "Error: --data takes 'published' or a seed"),
        (("--data", "3"), "Error: --data and --data-dir go with the name of a task"),
    ],
)
def test_bad_input_ends_in_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith(sentence)
    assert len(result.stderr.splitlines()) == 1
