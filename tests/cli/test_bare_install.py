"""Commands on a bare install: those that need an extra say which one in one sentence, the others work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lean import run_without

from anysize._errors import EXTRAS
from anysize.cli.app import COMMANDS
from anysize.paper.cli.app import COMMANDS as PAPER_COMMANDS

WORKS = {
    "count": ["count", "graph.txt", "--k", "4", "--format", "csv"],
    "count per vertex": ["count", "graph.txt", "--per", "vertex", "--format", "csv"],
    "motifs": ["motifs", "graph.txt", "--k", "3", "--samples", "3", "--out", "motifs.csv"],
    "patterns": ["patterns", "3"],
    "demo": ["demo", "demo"],
    "compile": ["compile", "sparse"],
    "methods": ["methods"],
    "tasks": ["paper", "tasks"],
    "tasks NAME": ["paper", "tasks", "er-single", "--data", "1"],
    "fetch": ["fetch", "SET", "--data-dir", "."],
    "table": ["paper", "table", "2"],
    "diagnose": ["diagnose", "SET", "SET", "--k", "3"],
    "results": ["paper", "results", "--records", ".", "--out", "page.md"],
    "theory": ["paper", "theory", "--pairs", "1", "--train-size", "8", "--test-size", "9"],
}
NEEDS = {
    "count of molecules": (["count", "molecules.csv", "--smiles", "smiles"], "chem"),
    "count to Parquet": (["count", "graph.txt", "--out", "x.parquet"], "table"),
    "orbits to Parquet": (["count", "graph.txt", "--per", "vertex", "--out", "x.parquet"], "table"),
    "motifs to a page": (["motifs", "graph.txt", "--k", "3", "--samples", "3", "--out", "page.html"], "plot"),
    "motifs to a figure": (["motifs", "graph.txt", "--k", "3", "--samples", "3", "--out", "figure.png"], "plot"),
    "count on a cluster": (["count", "graph.txt", "--cluster", "local:1"], "cluster"),
    "fit": (["fit", "SET", "--out", "model"], "learn"),
    "predict": (["predict", "model.anysize", "SET"], "learn"),
    "explain": (["explain", "model.anysize", "SET"], "learn"),
    "run": (["paper", "run", "er-single", "--data", "1"], "learn"),
    "compare": (["compare", "SET"], "learn"),
    "league": (["league", "SET", "--records", "league"], "learn"),
    "sweep": (["paper", "sweep", "er-single", "--data", "1", "--records", "records"], "learn"),
    "report": (["paper", "report"], "plot"),
    "diagnose to a page": (["diagnose", "SET", "SET", "--k", "3", "--out", "page.html"], "plot"),
}

SCRIPT = """
from typer.testing import CliRunner
from anysize.paper.cli.app import main_app as app

for name, arguments in json.loads(sys.stdin.read()).items():
    done = CliRunner().invoke(app, arguments)
    print(json.dumps([name, done.exit_code, done.stderr, repr(done.exception)]))
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, str, str]]:
    """Exit code, standard error and exception of every command, in a process without the packages of the extras."""
    import anysize as az

    folder = tmp_path_factory.mktemp("bare")
    (folder / "graph.txt").write_text("0 1\n1 2\n2 0\n2 3\n")
    (folder / "molecules.csv").write_text("smiles,y\nCCO,1\nCC,0\n")
    (folder / "model.anysize").write_text("a model")
    paths = [[(i, i + 1) for i in range(length)] for length in range(1, 31)]
    az.GraphSet.from_edges(paths, y=[3, 7] * 15).to_tu(folder, "SET")
    commands = WORKS | {name: arguments for name, (arguments, _) in NEEDS.items()}
    lines = run_without([*EXTRAS, "networkx", "igraph"], SCRIPT, folder, json.dumps(commands)).splitlines()
    return {name: tuple(rest) for name, *rest in map(json.loads, lines)}  # type: ignore[misc]


def test_every_command_is_listed_here() -> None:
    tried = [*WORKS.values(), *(arguments for arguments, _ in NEEDS.values())]
    named = {arguments[1] if arguments[0] == "paper" else arguments[0] for arguments in tried}
    assert named == {command.__name__ for command, _ in (*COMMANDS, *PAPER_COMMANDS)}


@pytest.mark.parametrize("name", WORKS)
def test_commands_that_need_no_extra(name: str, outcomes: dict[str, tuple[int, str, str]]) -> None:
    code, stderr, exception = outcomes[name]
    assert code == 0, stderr + exception


@pytest.mark.parametrize("name", NEEDS)
def test_commands_that_need_an_extra_say_which(name: str, outcomes: dict[str, tuple[int, str, str]]) -> None:
    code, stderr, _ = outcomes[name]
    *_, sentence = stderr.splitlines()
    assert code == 1
    assert sentence.startswith("Error: ")
    assert f"pip install 'anysize[{NEEDS[name][1]}]'" in sentence
    assert "Traceback" not in stderr


def test_extras_are_those_of_the_package() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    for package, extra in EXTRAS.items():
        named = {requirement.partition(">=")[0] for requirement in project["optional-dependencies"][extra]}
        assert package.replace("sklearn", "scikit-learn") in named
    assert not {requirement.partition(">=")[0] for requirement in project["dependencies"]} & set(EXTRAS)
