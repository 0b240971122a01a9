"""The report as text, JSON and a page, from Python and on the command line; and bad input."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from shift.helpers import blocks, erdos_renyi
from typer.testing import CliRunner

import anysize as az
from anysize.cli.app import app

SCRIPT = '<script>alert("x")</script>'
VOID = {"meta", "rect", "line", "path", "use"}


@pytest.fixture(scope="module")
def report() -> az.Diagnosis:
    colors = ({SCRIPT: 0.9, "blue & co": 0.1}, {"green": 0.9, "yellow": 0.1})
    other = ({SCRIPT: 0.1, "blue & co": 0.9}, {"green": 0.1, "yellow": 0.9})
    return az.diagnose(blocks((14, 20), 80, 1, colors), blocks((40,), 40, 2, other))


class Tags(HTMLParser):
    """Checks that tags are closed in order, and keeps names and text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)
        self.open += [] if tag in VOID else [tag]

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_text_has_a_headline_a_row_per_question_patterns_and_advice(report: az.Diagnosis) -> None:
    headline, questions, patterns, advice = str(report).split("\n\n")
    assert headline.startswith("Shift of sizes, colors, colored densities (80 training graphs, 40 new graphs")
    rows = questions.splitlines()[1:]
    assert len(rows) == len(report.findings.questions) + 1  # and the label
    for row, question in zip(rows, report.findings.questions, strict=False):
        assert row.startswith(question.subject)
        assert re.search(r" (yes|no) ", row).group(1) == ("yes" if question.found else "no")  # type: ignore[union-attr]
    for family in report.findings.families:
        assert family.patterns[0].pattern in patterns
    assert report.advice.call in advice
    assert all(sentence in advice for sentence in (*report.advice.reasons, *report.advice.warnings))


def test_without_a_shift_the_headline_says_so() -> None:
    report = az.diagnose(erdos_renyi(0.3, (10, 14), 30, 1), erdos_renyi(0.3, (10, 14), 30, 2), k=3)
    assert str(report).startswith("No shift found (30 training graphs")
    some = replace(report, findings=replace(report.findings, too_small=(1, 2)))
    assert "Too small for densities: 1 training graph, 2 new graphs." in str(some)
    assert report.findings.label is None


def test_json_holds_every_number(report: az.Diagnosis) -> None:
    loaded = json.loads(json.dumps(report.to_json(), allow_nan=False))
    assert loaded["sizes"]["disjoint"] is True
    assert loaded["colors"]["test"]["distance"] == report.findings.colors.test.distance  # type: ignore[union-attr]
    assert loaded["families"][0]["patterns"][0]["q"] == report.findings.families[0].patterns[0].q
    assert loaded["advice"]["call"] == report.advice.call


def test_the_page_is_complete_escaped_and_self_contained(report: az.Diagnosis) -> None:
    page = report.to_html()
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    assert "script" not in tags.seen
    assert SCRIPT in tags.text
    assert "blue & co" in tags.text
    assert not re.search(r"(src=|href=\"[^#]|@import)", page)
    assert "svg" in tags.seen
    for part in (str(report).splitlines()[0], report.advice.call, *report.advice.reasons, *report.advice.warnings):
        assert part in tags.text


def test_the_seed_determines_the_report() -> None:
    train, new = blocks((14, 20), 40, 1), blocks((20,), 40, 2)
    one, two, other = (az.diagnose(train, new, seed=seed) for seed in (1, 1, 2))
    assert one == two
    assert one.findings.colors.test.expected != other.findings.colors.test.expected  # type: ignore[union-attr]


def test_progress_runs_from_start_to_end() -> None:
    seen: list[float] = []
    az.diagnose(blocks((14,), 20, 1), blocks((14,), 20, 2), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_classes_may_be_given_beside_the_graphs() -> None:
    train, new = blocks((14, 20), 40, 1), blocks((40,), 20, 2)
    assert az.diagnose(train.with_y(None), new, y=train.y) == az.diagnose(train, new)
    with pytest.raises(ValueError, match="one label for each of the 40 graphs"):
        az.diagnose(train, new, y=[1, 2])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"train": []}, "Expected 2 or more training graphs with at least k = 4 vertices; got 0"),
        ({"new": []}, "Expected 1 or more new graphs with at least k = 4 vertices; got 0"),
        ({"train": blocks((20,), 1, 1)}, "got 1 (of 1 graphs)"),
        ({"new": blocks((3,), 2, 1)}, "got 0 (of 2 graphs)"),
        ({"k": 1}, "patterns of 2 to 7 vertices; got k = 1"),
        ({"k": 8}, "k must be an integer from 1 to 7; got 8"),
        ({"level": 1.5}, "level is a probability between 0 and 1; got 1.5"),
        ({"new": az.GraphSet.from_edges([(0, 1), (2, 3)])}, "The training graphs have colors and the new graphs have"),
    ],
)
def test_bad_input(change: dict[str, object], message: str) -> None:
    arguments: dict[str, object] = {"train": blocks((14,), 10, 1), "new": blocks((14,), 10, 2)}
    with pytest.raises(ValueError, match=re.escape(message)):
        az.diagnose(**(arguments | change))  # type: ignore[arg-type]


# ---- command line --------------------------------------------------------------------------------------


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["diagnose", *map(str, arguments)], env={"COLUMNS": "120"})


@pytest.fixture
def sets(tmp_path: Path) -> tuple[Path, Path]:
    blocks((14, 20), 50, 1).to_tu(tmp_path / "train", "TRAIN")
    blocks((40,), 30, 2).to_tu(tmp_path / "new", "NEW")
    return tmp_path / "train", tmp_path / "new"


def test_the_command_prints_the_text(sets: tuple[Path, Path]) -> None:
    result = run(*sets)
    assert result.exit_code == 0
    assert result.stdout.strip() == str(az.diagnose(az.read_graphs(sets[0]), az.read_graphs(sets[1])))


def test_the_command_prints_json_and_writes_the_page(sets: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "y.txt").write_text("\n".join("ab"[i % 2] for i in range(50)))
    options = "--k", 3, "--json", "--out", tmp_path / "page.html", "--no-colors", "--labels", tmp_path / "y.txt"
    result = run(*sets, *options)
    assert result.exit_code == 0
    assert result.stdout.count("\n") == 1
    loaded = json.loads(result.stdout)
    assert loaded["k"] == 3
    assert loaded["colors"] is None
    assert loaded["label"]["n_classes"] == 2
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_with_a_model_it_says_what_to_expect_and_a_shift_beyond_sizes_widens_that(tmp_path: Path) -> None:
    train, new = erdos_renyi(0.3, (10, 14), 40, 1), erdos_renyi(0.3, (20,), 30, 2)
    train = train.with_y(train.edge_counts > 0.3 * train.sizes * (train.sizes - 1) / 2)
    model = az.GraphClassifier("gc-kernel", k=3).fit(train)
    report = az.diagnose(train, new, k=3, model=model)
    assert report.forecast == model.forecast(new)
    assert report.to_json()["forecast"]["chance"] == 0.5
    assert f"The model: {report.forecast}." in str(report)
    assert str(report.forecast) in report.to_html()
    other = az.diagnose(train, erdos_renyi(0.6, (20,), 30, 2), k=3, model=model)
    assert other.findings.beyond_size
    assert other.forecast is not None
    assert other.forecast.far == 1.0
    paths = tmp_path / "m.anysize", tmp_path / "train", tmp_path / "new"
    model.save(paths[0])
    train.to_tu(paths[1], "TRAIN")
    new.to_tu(paths[2], "NEW")
    assert f"The model: {report.forecast}." in run(*paths[1:], "--model", paths[0], "--k", 3).stdout
    az.GraphRegressor("mean").fit(train, train.sizes).save(paths[0])
    refused = run(*paths[1:], "--model", paths[0])
    assert refused.exit_code == 1
    assert "predicts numbers" in " ".join(refused.stderr.split())


def test_a_model_of_several_targets_has_a_forecast_of_each() -> None:
    train, new = erdos_renyi(0.3, (10, 14), 40, 1), erdos_renyi(0.3, (20,), 30, 2)
    y = {"many": train.edge_counts > 0.3 * train.sizes * (train.sizes - 1) / 2, "odd": np.arange(40) % 2}
    model = az.GraphClassifier("gc-kernel", k=3).fit(train.with_y(None), pd.DataFrame(y))
    report = az.diagnose(train.with_y(None), new, k=3, model=model)
    assert list(report.to_json()["forecast"]) == ["many", "odd"]
    assert [line.partition(":")[0] for line in str(report).splitlines()[-2:]] == [
        "The model of many",
        "The model of odd",
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--k", 9), "k must be an integer from 1 to 7; got 9"),
        (("--level", 0), "level is a probability between 0 and 1; got 0.0"),
        (("--out", "no/such/folder/page.html"), "no/such/folder"),
    ],
)
def test_bad_options_end_in_a_message(options: tuple[object, ...], message: str, sets: tuple[Path, Path]) -> None:
    result = run(*sets, *options)
    assert result.exit_code == 1
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.output


def test_help_has_an_example() -> None:
    assert "anysize diagnose TRAIN.zip NEW.zip" in " ".join(run("--help").stdout.split())
