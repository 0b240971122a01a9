"""Behavior of all commands: output files, seeds, warnings, errors, closed pipes, missing memory."""

from __future__ import annotations

import csv
import errno
import json
import os
import subprocess
import sys
import threading
import tomllib
import warnings
from pathlib import Path
from typing import Any

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

import anysize as az
from anysize._errors import EXTRAS, CountWarning
from anysize.cli.shared import handle_errors
from anysize.paper.cli.app import app as paper
from anysize.paper.cli.app import main_app


def run(*arguments: Any) -> Result:
    return CliRunner().invoke(main_app, [str(argument) for argument in arguments])


@pytest.fixture
def triangle(tmp_path: Path) -> Path:
    path = tmp_path / "triangle.txt"
    path.write_text("0 1\n1 2\n2 0\n")
    return path


def refuse(*_: Any, **__: Any) -> None:
    pytest.fail("work began before --out was checked")


# ---- --out -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("work", "arguments"),
    [
        ("anysize.read_graphs", ("count", "FILE")),
        ("anysize.evaluation.store.RecordStore.read", ("paper", "table", 2)),
        ("anysize.evaluation.store.RecordStore.read", ("paper", "report")),
        ("anysize.read_graphs", ("diagnose", "FILE", "FILE")),
    ],
)
def test_out_is_checked_before_the_work(
    triangle: Path, monkeypatch: pytest.MonkeyPatch, work: str, arguments: tuple[Any, ...]
) -> None:
    monkeypatch.setattr(work, refuse)
    given = [triangle if one == "FILE" else one for one in arguments]
    folder = triangle.parent
    for out, reason in (
        (folder, "is a folder"),
        (folder / "no" / "x", "does not exist"),
        (triangle / "x", "is not a folder"),
    ):
        done = run(*given, "--out", out)
        assert (done.exit_code, done.stdout) == (1, "")
        assert done.stderr.startswith(f"Error: --out {out} ")
        assert reason in done.stderr
    assert list(folder.iterdir()) == [triangle]


@pytest.mark.parametrize(
    ("arguments", "out", "formats"),
    [
        (("count", "FILE"), "x.xlsx", (".csv", ".parquet")),
        (("motifs", "FILE"), "x.xlsx", (".html", ".svg", ".csv", ".json")),
        (("fit", "FILE"), "x.pkl", (".anysize",)),
        (("predict", "FILE", "FILE"), "x.xlsx", (".csv", ".json")),
        (("predict", "FILE", "FILE", "--json"), "x.csv", ("csv", "json")),
        (("explain", "FILE", "FILE"), "x.html", (".png", ".svg", ".pdf")),
        (("explain", "FILE", "FILE"), "x", (".png", ".svg", ".pdf")),
        (("compare", "FILE"), "x.pdf", (".html",)),
        (("diagnose", "FILE", "FILE"), "x.json", (".html",)),
        (("paper", "report"), "x.pdf", (".html",)),
        (("paper", "table", 2), "x.pdf", (".md", ".tex", ".html")),
        (("paper", "table", 2, "--format", "latex"), "x.html", ("html", "latex")),
        (("league", "FOLDER"), "x.pdf", (".md", ".tex", ".csv", ".json")),
        (("league", "FOLDER", "--figure"), "x.html", (".png", ".svg", ".pdf")),
    ],
)
def test_a_name_of_another_format_is_refused_before_the_work(
    triangle: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[Any, ...], out: str, formats: tuple[str, ...]
) -> None:
    for work in (
        "anysize.read_graphs",
        "anysize.load_model",
        "anysize.evaluation.store.RecordStore.read",
        "anysize.evaluation.league.find_sets",
    ):
        monkeypatch.setattr(work, refuse)
    places = {"FILE": triangle, "FOLDER": triangle.parent}
    option = () if arguments[-1] == "--figure" else ("--out",)
    done = run(*(places.get(one, one) for one in arguments), *option, triangle.with_name(out))
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: --")
    assert done.stderr.count("\n") == 1
    assert all(one in done.stderr for one in (*formats, out))
    assert list(triangle.parent.iterdir()) == [triangle]


def test_every_file_to_be_written_has_its_ending_checked() -> None:
    options = {
        (name, option.name)
        for group in (main_app, paper)
        for name, command in typer.main.get_command(group).commands.items()  # type: ignore[attr-defined]
        for option in command.params
        if option.name in ("out", "figure")
    }
    counting, learning = ["count", "patterns", "motifs"], ["fit", "predict", "explain", "compare", "diagnose"]
    checked = [*counting, *learning, "report", "results", "table", "league"]
    assert options == {(name, "out") for name in checked} | {("league", "figure")}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_table_goes_through_a_named_pipe(triangle: Path) -> None:
    pipe, got = triangle.with_name("pipe"), []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    done = run("count", triangle, "--k", 3, "--format", "csv", "--out", pipe)
    reader.join(10)
    assert done.exit_code == 0, done.output
    assert "triangle,1," in got[0]
    assert pipe.is_fifo()


def test_a_link_stays_a_link(triangle: Path) -> None:
    link, real = triangle.with_name("link.csv"), triangle.with_name("real.csv")
    real.write_text("old")
    link.symlink_to(real)
    assert run("count", triangle, "--k", 3, "--out", link).exit_code == 0
    assert link.is_symlink()
    assert "triangle,1," in real.read_text()


def test_the_file_suffix_chooses_the_format(triangle: Path) -> None:
    for name, start in (
        ("x.csv", b"graph,vertices,pattern"),
        ("x.json", b'{"over"'),
        ("x.parquet", b"PAR1"),
        ("x.NPZ", b"PK"),
        ("x.txt", b"GraphSet"),
        ("x", b"GraphSet"),
    ):
        assert run("count", triangle, "--k", 3, "--out", triangle.with_name(name)).exit_code == 0
        assert triangle.with_name(name).read_bytes().startswith(start)
    assert run("count", triangle, "--k", 3, "--format", "csv", "--out", triangle.with_name("y.dat")).exit_code == 0
    assert triangle.with_name("y.dat").read_text().startswith("graph,vertices,pattern")
    assert run("count", triangle, "--k", 3, "--format", "npz", "--out", triangle.with_name("y")).exit_code == 0
    assert az.Counts.load(triangle.with_name("y")).matrix.toarray().tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--format", "csv", "--out", "x.npz"), ("x.npz", "csv")),
        (("--format", "text", "--out", "x.csv"), ("x.csv", "text")),
        (("--json", "--out", "x.parquet"), ("x.parquet", "json")),
        (("--json", "--format", "csv"), ("--json", "--format")),
        (("--format", "npz"), ("npz",)),
    ],
)
def test_contradicting_formats_are_refused(
    triangle: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], named: tuple[str, ...]
) -> None:
    monkeypatch.chdir(triangle.parent)
    done = run("count", triangle, "--k", 3, *options)
    assert (done.exit_code, done.stdout) == (1, "")
    assert all(name in done.stderr for name in named)
    assert list(triangle.parent.iterdir()) == [triangle]


# ---- seeds and labels --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [("count", "x"), ("paper", "theory"), ("diagnose", "x", "y"), ("fit", "x", "--out", "m"), ("paper", "tasks")],
)
@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_out_of_range_is_named(command: tuple[str, ...], seed: int) -> None:
    done = run(*command, "--seed", seed)
    assert done.exit_code == 2
    message = " ".join(done.stderr.replace("│", " ").split())
    assert "'--seed'" in message
    assert ("4294967295" if seed > 0 else " 0") in message


# ---- warnings, errors, pipes -------------------------------------------------------------------------


def notes_of(warn: Any, capsys: pytest.CaptureFixture[str]) -> str:
    with handle_errors():
        warn()
    return " ".join(capsys.readouterr().err.split())


def test_only_our_own_warnings_are_notes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert notes_of(lambda: warnings.warn("few samples", CountWarning, 1), capsys) == "Note: few samples"
    for category in (UserWarning, DeprecationWarning, FutureWarning, RuntimeWarning):
        assert notes_of(lambda category=category: warnings.warn("`torch.jit.script`", category, 1), capsys) == ""
    inside = str(Path(az.__file__).parent / "counting" / "pieces.py")
    warn = warnings.warn_explicit
    assert notes_of(lambda: warn("ours", UserWarning, inside, 1), capsys) == "Note: ours"
    assert notes_of(lambda: warn("ours", DeprecationWarning, inside, 1), capsys) == ""


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            RuntimeError(
                "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you tried "
                "to allocate 40000000000 bytes. Error code 12 (Cannot allocate memory)"
            ),
            "not enough memory for this (40000000000 bytes at once)",
        ),
        (RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB. GPU 0 has"), "for this (20.00 GiB at once)"),
        (RuntimeError("Storage size calculation overflowed with sizes=[1, 9]"), "not enough memory for this;"),
        (MemoryError("Unable to allocate 7.45 TiB for an array"), "not enough memory for this (7.45 TiB at once)"),
        (MemoryError(), "not enough memory"),
        (MemoryError("one model does not fit"), "one model does not fit"),
        (OSError(28, "No space left on device"), "Error: standard output: No space left on device"),
        (FileNotFoundError(2, "No such file or directory", "x.csv"), "Error: x.csv: No such file or directory"),
        (FileNotFoundError("there is no x.csv"), "Error: there is no x.csv"),
        (
            ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn"),
            "needs torch: pip install 'anysize[learn]'",
        ),
        (ModuleNotFoundError("No module named 'other'", name="other"), "No module named 'other'"),
    ],
)
def test_errors_are_one_sentence(error: Exception, expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as left, handle_errors():
        raise error
    assert left.value.exit_code == 1
    shown = " ".join(capsys.readouterr().err.split())
    assert expected in shown
    assert "alloc_cpu" not in shown
    assert "Errno" not in shown


def test_bugs_are_not_hidden() -> None:
    for error in (RuntimeError("mat1 and mat2 shapes cannot be multiplied"), RuntimeError(), KeyError("x")):
        with pytest.raises(type(error)), handle_errors():
            raise error


def test_torch_runs_out_of_memory(tmp_path: Path) -> None:
    graphs = az.GraphSet.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]] * 4, y=[0, 1] * 4)
    graphs.to_tu(tmp_path, "TRAIN")
    out = tmp_path / "m"
    done = run("fit", tmp_path / "TRAIN", "--method", "gamma-gin", "--k", 3, "--set", "hidden=100000000", "--out", out)
    assert done.exit_code == 1
    assert "not enough memory" in done.stderr
    assert not out.exists()


@pytest.mark.skipif(os.name == "nt", reason="pipes behave differently on Windows")
@pytest.mark.parametrize("arguments", [["patterns", "7"], ["patterns", "7", "--json"], ["patterns", "4"], ["methods"]])
def test_a_closed_pipe_ends_a_command_quietly(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "anysize", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()  # before anything is written, as by `| true`
    assert (process.stderr.read(), process.wait(60)) == (b"", 0)
    process.stderr.close()


def test_every_extra_of_the_packages_exists() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {"sklearn": "scikit-learn"}
    for package, extra in EXTRAS.items():
        assert any(one.startswith(names.get(package, package)) for one in project["optional-dependencies"][extra])


# ---- text of others ----------------------------------------------------------------------------------

HOSTILE = ["[/x]", "[red]", "=1+1", "\x1b[2J", "\ud800", ":smile:", "\u202e"]


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Graphs whose colors, classes, names and file name try to act."""
    path = tmp_path / "[red]\x1b[31m.jsonl"
    lines = []
    for number in range(14):
        size = 5 + number % 3
        edges = [[v, v + 1] for v in range(size - 1)] + [[0, size - 1]] * (number % 2)
        colors = [HOSTILE[(number + v) % len(HOSTILE)] for v in range(size)]
        about = {"y": HOSTILE[2 + number % 2], "name": f"{HOSTILE[number % len(HOSTILE)]}{number}"}
        lines.append(json.dumps({"edges": edges, "colors": colors, **about}))
    path.write_text("\n".join(lines))
    return path


def test_nothing_in_a_file_acts_when_it_is_shown(hostile: Path, tmp_path: Path) -> None:
    model = tmp_path / "[red].anysize"
    printed = [
        run("count", hostile, "--k", "1,2", "--explain"),
        run("fit", hostile, "--out", model, "--method", "gamma-1hot", "--k", 2, "--set", "epochs=2"),
        run("predict", model, hostile, "--out", tmp_path / "out.csv"),
        run("explain", model, hostile),
        run("count", tmp_path / "[/x]\x1b[2J.txt"),
    ]
    assert [result.exit_code for result in printed] == [0, 0, 0, 0, 1]
    for result in printed:
        assert "\x1b" not in result.output
        assert "Traceback" not in result.output
    assert "[/x]" in printed[0].output
    assert "\\ud800" in printed[0].output
    assert ":smile:" in printed[0].output
    assert "[/x]\\x1b[2J.txt" in printed[4].output
    rows = list(csv.reader((tmp_path / "out.csv").read_text().splitlines()))
    assert {row[1] for row in rows[1:]} <= {"'=1+1", "\x1b[2J"}
    assert "'=1+12" in [row[0] for row in rows]
    told = json.loads(run("predict", model, hostile, "--json").stdout)
    assert told["graphs"][4]["graph"] == "\ud8004"


@pytest.mark.parametrize("output", ["csv", "json", "parquet", "npz", "text"])
def test_every_format_of_counts_takes_any_name(hostile: Path, tmp_path: Path, output: str) -> None:
    out = tmp_path / "out"
    assert run("count", hostile, "--k", 2, "--format", output, "--out", out).exit_code == 0
    if output == "npz":
        assert az.Counts.load(out).names[4] == "\ud8004"  # type: ignore[index]
    elif output == "csv":
        assert {line[0] for line in out.read_text().splitlines()} & set("=+-@\x1b") <= {"\x1b"}


@pytest.mark.parametrize("command", ["count", "fit", "predict", "compare", "paper run", "paper sweep"])
def test_a_cache_that_is_a_file_is_refused_before_the_work(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes").write_text("")
    inputs = {"predict": ["model.anysize", "new.txt"], "fit": ["train.txt", "--out", "m"], "paper sweep": []}
    done = run(*command.split(), *inputs.get(command, ["train.txt"]), "--cache", "notes")
    assert done.exit_code == 2
    assert "--cache" in done.output
    assert "'notes' is a file" in done.output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_is_named(triangle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = f"{sys.executable} -m anysize count {triangle} --k 2 --format csv > /dev/full"
    told = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stderr.strip()) == (1, "Error: standard output: No space left on device")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("anysize.counting.counts_file.write_arrays", full)
    result = run("count", triangle, "--k", 2, "--format", "npz", "--out", tmp_path / "out.npz")
    assert result.exit_code == 1
    assert f"{tmp_path / 'out.npz'}: No space left" in result.output


@pytest.mark.parametrize("header", ["", "name,class\n"])
def test_a_label_file_among_the_graphs_is_no_graph(tmp_path: Path, header: str) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("source,target\n0,1\n1,2\n")
    labels = tmp_path / "labels.csv"
    labels.write_text(f"{header}a,tree\nb,ring\n")
    done = run("fit", tmp_path, "--labels", labels, "--method", "majority", "--out", tmp_path / "m")
    assert done.exit_code == 0, done.stderr
    assert "2 graphs of 2 classes" in done.stdout
