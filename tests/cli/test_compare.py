"""`anysize compare`: from a file to a table, a page and one line of JSON; resumed, changed and failing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

import anysize
from anysize.evaluation.store import RecordStore
from anysize.paper.cli.app import main_app as app

QUICK = ("--methods", "wl-kernel", "--seeds", 2)


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def lines(count: int = 60, flipped: bool = False) -> str:
    """Rings and paths as JSON lines."""
    rows = []
    for n in range(4, 4 + count):
        edges = [[i, i + 1] for i in range(n - 1)] + [[0, n - 1]] * (n % 2)
        rows.append(
            json.dumps({"edges": edges, "y": ("ring" if n % 2 else "path") if not flipped else str(n // 2 % 2)})
        )
    return "\n".join(rows) + "\n"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file of graphs, which is the current one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.jsonl").write_text(lines())
    return tmp_path


def test_a_table_a_page_and_a_folder_named_after_the_file(here: Path) -> None:
    done = run("compare", "mine.jsonl", *QUICK, "--out", "page.html")
    assert done.exit_code == 0, done.output
    assert "mine-records" in done.stderr
    for word in ("Balanced accuracy", "WL kernel", "1.00", "majority", "size only", "topology only", "[0.50, 0.50]"):
        assert word in done.stdout, word
    assert len(RecordStore(here / "mine-records").read()) == 8
    assert "<svg" in (here / "page.html").read_text(encoding="utf-8")
    shown = run("paper", "table", "--records", "mine-records")
    assert shown.exit_code == 0, shown.output
    assert "Accuracy, other tasks" in shown.stdout
    assert run("paper", "report", "--records", "mine-records", "--no-fits").exit_code == 0


def test_json_is_one_line_and_a_second_run_trains_nothing(here: Path) -> None:
    first = json.loads(run("compare", "mine.jsonl", *QUICK, "--json").stdout)
    assert first["runs"] == {"found": 0, "trained": 8, "left": 0}
    again = json.loads(run("compare", "mine.jsonl", *QUICK, "--json", "--metric", "roc_auc").stdout)
    assert again["runs"]["trained"] == 0
    assert (first["metric"], again["metric"]) == ("balanced_accuracy", "roc_auc")
    assert [row["method"] for row in again["rows"]] == ["wl-kernel", "majority", "size-only", "topology-only"]


def test_a_changed_file_is_trained_anew(here: Path) -> None:
    run("compare", "mine.jsonl", *QUICK)
    (here / "mine.jsonl").write_text(lines(flipped=True))
    changed = json.loads(run("compare", "mine.jsonl", *QUICK, "--json").stdout)
    assert changed["runs"] == {"found": 0, "trained": 8, "left": 0}
    assert len({record.task for record in RecordStore("mine-records").read()}) == 2


def test_lists_random_splits_and_several_sizes_of_patterns(here: Path) -> None:
    (here / "split.csv").write_text("".join(f"{i},{'train' if i < 40 else 'test'}\n" for i in range(60)))
    for options in (("--split", "split.csv"), ("--split", "random", "--k", "2,3"), ("--no-colors",)):
        done = run("compare", "mine.jsonl", *QUICK, *options, "--json")
        assert done.exit_code == 0, done.output
        assert json.loads(done.stdout)["runs"]["trained"] == 8
    labels = here / "labels.txt"
    labels.write_text("\n".join(str(i % 3) for i in range(60)))
    done = run("compare", "mine.jsonl", *QUICK, "--labels", labels, "--json")
    assert json.loads(done.stdout)["rows"][1]["mean"] == pytest.approx(1 / 3)


def test_one_method_that_fails_is_said_in_its_row(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from anysize.methods.catalog import METHODS

    def fails(self: Any, problem: Any, runs: Any, *rest: Any) -> None:
        raise ValueError("needs colors")

    monkeypatch.setattr(type(METHODS["sizemix"].learner), "fit", fails)
    done = run("compare", "mine.jsonl", "--methods", "sizemix,wl-kernel", "--seeds", 1)
    assert done.exit_code == 0, done.output
    assert "needs colors" in done.stdout
    assert "1.00" in done.stdout
    alone = run("compare", "mine.jsonl", "--methods", "sizemix", "--seeds", 1)
    assert alone.exit_code == 1
    assert "needs colors" in alone.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("nothing.zip",), "nothing.zip"),
        (("mine.jsonl", "--methods", "wl-kernl"), "did you mean wl-kernel"),
        (("mine.jsonl", "--methods", ","), "at least one method"),
        (("mine.jsonl", "--split", "half"), "no file 'half'"),
        (("mine.jsonl", "--set", "colour=3"), "cannot be set"),
        (("mine.jsonl", "--out", "no/page.html"), "--out"),
        (("mine.jsonl", "--k", "9"), "1 to 7"),
        (("bare.txt",), "--labels FILE"),
    ],
)
def test_bad_input_is_one_sentence(here: Path, arguments: tuple[str, ...], sentence: str) -> None:
    (here / "bare.txt").write_text("0 1\n1 2\n")
    done = run("compare", *arguments)
    assert done.exit_code == 1
    assert sentence in done.stderr
    assert "Traceback" not in done.output


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_comparison_goes_on_where_it_was(here: Path) -> None:
    words = ["compare", "mine.jsonl", "--methods", "wl-kernel,gin-sum", "--seeds", "2", "--set", "epochs=60"]
    command = [sys.executable, "-m", "anysize", *words]
    paths = os.pathsep.join([str(Path(anysize.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    started = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=here, env=os.environ | {"PYTHONPATH": paths}
    )
    deadline = time.monotonic() + 60
    while not list(here.glob("mine-records/*.jsonl")) and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(started.pid, signal.SIGKILL)
    started.wait()
    kept = len(RecordStore(here / "mine-records").read())
    assert 0 < kept < 10
    done = run(*words, "--json")
    told = json.loads(done.stdout)
    assert told["runs"] == {"found": kept, "trained": 10 - kept, "left": 0}
    assert all(len(row["scores"]) == 2 for row in told["rows"])


def test_workers_clusters_and_other_options_arrive(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from anysize.evaluation import sweep

    seen: list[Any] = []

    class Pool:
        workers = 3

        def completed(self, *arguments: Any) -> Any:
            return iter(())

    monkeypatch.setattr(sweep, "_workers", lambda *given: seen.append(given) or Pool())
    done = run("compare", "mine.jsonl", *QUICK, "--workers", 3, "--json")
    assert done.exit_code == 1  # nobody trained anything
    assert json.loads(done.stdout)["runs"]["left"] == 8
    run("compare", "mine.jsonl", *QUICK, "--cluster", "auto", "--records", "elsewhere")
    assert seen == [(3, None), (1, "auto")]
    assert not (here / "mine-records").exists()


def test_help_has_an_example() -> None:
    done = run("compare", "--help")
    assert done.exit_code == 0
    assert "anysize compare" in done.stdout
