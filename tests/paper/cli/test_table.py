"""anysize table: from a folder of records to every format."""

from __future__ import annotations

import json

import pytest
from evaluation.helpers import made, seeds, sweep
from typer.testing import CliRunner

from anysize.evaluation.render import FORMATS, render
from anysize.evaluation.store import RecordStore
from anysize.paper.cli.app import main_app as app
from anysize.paper.selection import RULES
from anysize.paper.tables import build_table, paper_grid_size, rows_that_ran


@pytest.fixture
def folder(tmp_path):
    RecordStore(tmp_path / "records").write(sweep(data=("published", "seed:1")))
    return tmp_path / "records"


def run(*arguments):
    return CliRunner().invoke(app, ["paper", "table", *map(str, arguments)])


@pytest.mark.parametrize("form", list(FORMATS))
def test_every_format_goes_to_the_screen_or_a_file(folder, tmp_path, form):
    table = build_table(2, RecordStore(folder).read(), grid_size=paper_grid_size)
    expected = render(table if form == "json" else rows_that_ran(table), form)
    result = run(2, "--records", folder, "--format", form, "--out", tmp_path / "table")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "table").read_text() == expected
    shown = run(2, "--records", folder, "--format", form)
    assert shown.exit_code == 0
    if form != "text":
        assert shown.stdout == expected


@pytest.mark.parametrize(
    ("name", "start"), [("t.md", "**"), ("t.tex", "\\begin"), ("t.html", "<!"), ("t.json", "{"), ("t.txt", "T")]
)
def test_the_ending_of_the_file_is_a_format(folder, tmp_path, name, start):
    out = tmp_path / name
    assert run(2, "--records", folder, "--out", out).exit_code == 0
    assert out.read_text().lstrip().startswith(start)


def test_json_alone_is_a_format(folder):
    fields = json.loads(run(2, "--records", folder, "--json").stdout)
    assert fields["title"].startswith("Table 2.")
    assert {column["data"] for column in fields["columns"]} == {"published", "fresh"}


@pytest.mark.parametrize("rule", list(RULES))
def test_every_rule_has_a_name_on_the_command_line(folder, rule):
    fields = json.loads(run(2, "--records", folder, "--rule", rule, "--data", "published", "--json").stdout)
    assert fields["rule"] == rule
    assert any("ORACLE" in note for note in fields["notes"]) == (rule == "oracle")
    assert any(cell["status"] == "run" for row in fields["rows"] for cell in row["cells"])


def test_splits_and_tasks(folder):
    shown = run(2, "--records", folder, "--splits", "validation, test", "--tasks", "sbm-20", "--data", "1", "--json")
    columns = json.loads(shown.stdout)["columns"]
    assert [(column["task"], column["split"], column["data"]) for column in columns] == [
        ("sbm-20", "validation", "seed:1"),
        ("sbm-20", "test", "seed:1"),
    ]


def test_without_records_there_are_the_published_numbers_and_a_note(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(1)
    assert result.exit_code == 0
    assert "no records of these tasks in results" in result.stderr
    assert "not run" in result.stdout
    assert "NA" in result.stdout


def test_damaged_lines_are_a_note_not_an_end(folder):
    (folder / "broken.jsonl").write_text("{}\n")
    result = run(2, "--records", folder, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)
    assert "broken.jsonl is partly unreadable: line 1 is not a record" in result.stderr


def test_a_task_of_others_is_shown_where_it_has_records(tmp_path):
    RecordStore(tmp_path).write(sweep(("mine",)))
    assert json.loads(run(2, "--records", tmp_path, "--tasks", "mine", "--json").stdout)["columns"][0]["task"] == "mine"
    assert run(2, "--records", tmp_path, "--tasks", "yours").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["4"], 2, "Usage: anysize paper table"),
        (["2", "--rule", "best"], 2, "oracle"),
        (["2", "--format", "pdf"], 2, "latex"),
        (["2", "--records", "nowhere"], 1, "there is no folder nowhere"),
        (["2", "--data", "new"], 1, "data must be all, published, fresh"),
        (["2", "--splits", "val"], 1, "a split must be one of train, validation, test; got 'val'"),
        (["2", "--splits", ","], 1, "at least one of train"),
        (["2", "--tasks", ","], 1, "at least one task"),
        (["2", "--out", "no/such/folder/x", "--format", "html"], 1, "which does not exist"),
        (["2", "--tasks", "nope"], 1, "There is no task 'nope': the tasks are"),
        (["2", "--tasks", "sbm-20,smb-20"], 1, "There is no task 'smb-20': did you mean sbm-20?"),
    ],
)
def test_bad_input_is_one_sentence(arguments, code, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert result.exit_code == code
    assert sentence in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.output


def test_a_narrow_terminal(tmp_path, monkeypatch):
    RecordStore(tmp_path).write([*seeds([1.0] * 2, [0.5, 0.7]), made(recipe="robust")])
    monkeypatch.setattr("anysize.cli.shared.console._width", 50)
    result = run(2, "--records", tmp_path)
    assert result.exit_code == 0
    assert max(map(len, result.stdout.splitlines())) <= 50
    assert "0.60 (0.10)" in result.stdout


def test_the_foot_names_reduced_grids(tmp_path):
    RecordStore(tmp_path).write([made(hidden=32), made(hidden=32, recipe="robust"), made(method="size-only")])
    fields = json.loads(run(2, "--records", tmp_path, "--json").stdout)
    assert any("reduced grid: Γ GIN (1 of 64);" in f"{note[:-1]};" for note in fields["notes"])


def test_rows_without_records_are_shown_on_demand(folder):
    assert "RPGIN" not in run(2, "--records", folder).stdout
    assert "RPGIN" in run(2, "--records", folder, "--all-rows").stdout
    assert "RPGIN" in run(2, "--records", folder, "--json").stdout


def test_help_has_an_example():
    assert "Example:  anysize paper table 2" in " ".join(run("--help").stdout.split("\n"))
