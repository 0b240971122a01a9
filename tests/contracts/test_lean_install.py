"""Without the packages of the extras, every public name works or says in one sentence which extra it needs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from lean import run_without

import anysize as az
from anysize._errors import EXTRAS

NO_EXTRAS = [*EXTRAS, "networkx", "igraph"]
NO_TORCH = ["torch", "torch_geometric"]
SENTENCE = re.compile(r"[^\n]+ needs? [^\n]+: pip install 'anysize\[(\w+)\]'\.?")

GRAPHS = """
import anysize as az


def walk(n, closed):
    return [(i, i + 1) for i in range(n - 1)] + [(0, n - 1)] * closed


edges = [walk(n, closed) for closed in (0, 1) for n in range(6, 56)]
graphs = az.GraphSet.from_edges(edges, y=["path"] * 50 + ["ring"] * 50)
"""
TRY = """
def told(call):
    try:
        call()
    except ImportError as error:
        return str(error)
    return ""


print(json.dumps({{name: told(call) for name, call in {calls}.items()}}))
"""
EXTRA_OF_NAME = {  # the public names that are not there without extras
    "AttachDensities": "learn", "GraphClassifier": "learn", "GraphRegressor": "learn", "SubgraphDensities": "learn",
    "VertexBins": "learn", "load_model": "learn",
}  # fmt: skip
EXTRA_OF_CALL = {  # those that need an extra when they are called, or whose methods do
    "az.compare(graphs, methods='majority')": "learn",
    "list(az.evaluate(az.METHODS['majority'], [], [0]))": "learn",
    "az.diagnose(graphs, graphs, k=3).to_html()": "plot",
    "az.count(graphs, k=3).to_pandas()": "table",
    "az.count_stream([graphs], 3, 'stream')": "table",
    "az.read_graphs('molecules.csv', smiles='smiles')": "chem",
    "az.cluster('local:1').__enter__()": "cluster",
    "graphs.to_pyg()": "learn",
}
WITHOUT_TORCH = ("sizemix", "wl-kernel", "gc-kernel", "majority", "size-only", "topology-only")


def sentences(packages: list[str], calls: dict[str, str], folder: Path, before: str = "") -> dict[str, str]:
    """name -> the sentence of the error that an expression ends with; empty if it works."""
    listed = "{" + ", ".join(f"{name!r}: lambda: {call}" for name, call in calls.items()) + "}"
    told: dict[str, str] = json.loads(run_without(packages, GRAPHS + before + TRY.format(calls=listed), folder))
    return told


def test_every_public_name_is_there_or_names_its_extra(tmp_path: Path) -> None:
    told = sentences(NO_EXTRAS, {name: f"az.{name}" for name in az.__all__}, tmp_path)
    found = {name: match[1] for name, said in told.items() if (match := SENTENCE.fullmatch(said))}
    assert found == EXTRA_OF_NAME
    assert {name for name, said in told.items() if said} == set(found)
    assert told["GraphClassifier"] == "anysize.GraphClassifier needs scikit-learn: pip install 'anysize[learn]'"


def test_what_needs_an_extra_when_it_is_called_names_it(tmp_path: Path) -> None:
    (tmp_path / "molecules.csv").write_text("smiles\nCCO\n", encoding="utf-8")
    told = sentences(NO_EXTRAS, {call: call for call in EXTRA_OF_CALL}, tmp_path)
    assert {call: (SENTENCE.fullmatch(said) or ["", said])[1] for call, said in told.items()} == EXTRA_OF_CALL


def test_sizemix_and_kernels_need_no_torch(tmp_path: Path) -> None:
    """To be trained, written, read, compared and to predict; predictions are those of an install with torch."""
    calls = {
        name: f"az.GraphClassifier('{name}', k=3).fit(graphs[::2]).save('{name}.anysize') or az.load_model("
        f"'{name}.anysize').predict_proba(graphs[1::2])"
        for name in WITHOUT_TORCH
    }
    calls["explain"] = "az.load_model('sizemix.anysize').explain(graphs[0])"
    calls["compare"] = "str(az.compare(graphs, methods=('sizemix', 'wl-kernel'), seeds=1))"
    assert sentences(NO_TORCH, calls, tmp_path) == dict.fromkeys(calls, "")
    edges = [[(i, i + 1) for i in range(n - 1)] + [(0, n - 1)] * closed for closed in (0, 1) for n in range(6, 56)]
    graphs = az.GraphSet.from_edges(edges, y=["path"] * 50 + ["ring"] * 50)
    for name in WITHOUT_TORCH:
        with_torch = az.GraphClassifier(name, k=3).fit(graphs[::2])
        lean = az.load_model(tmp_path / f"{name}.anysize")
        assert (lean.predict_proba(graphs[1::2]) == with_torch.predict_proba(graphs[1::2])).all()


def test_commands_with_sizemix_need_no_torch(tmp_path: Path) -> None:
    for command in (
        "demo demo",
        "fit demo/rings.jsonl --method sizemix --out model.anysize",
        "explain model.anysize demo/rings.jsonl",
        "predict model.anysize demo/rings.jsonl --out predictions.csv",
    ):
        run_without(NO_TORCH, f"from anysize.cli.app import app\napp({command.split()})", tmp_path)
    assert (tmp_path / "predictions.csv").exists()


@pytest.mark.parametrize("name", [name for name, method in az.METHODS.items() if method.has_epochs])
def test_neural_methods_need_torch(name: str, neural: dict[str, str]) -> None:
    assert neural[name] == f"The method {name} needs torch: pip install 'anysize[learn]'"


@pytest.fixture(scope="module")
def neural(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    names = [name for name, method in az.METHODS.items() if method.has_epochs]
    calls = {name: f"az.GraphClassifier('{name}', k=3).fit(graphs)" for name in names}
    return sentences(NO_TORCH, calls, tmp_path_factory.mktemp("neural"))


def test_a_neural_model_names_the_extra_that_reading_it_needs(tmp_path: Path) -> None:
    path, ring = [(0, 1), (1, 2), (2, 3)], [(0, 1), (1, 2), (2, 3), (0, 3)]
    graphs = az.GraphSet.from_edges([path, ring] * 10, y=["path", "ring"] * 10)
    az.GraphClassifier("gamma-1hot", k=3, params={"epochs": 2}).fit(graphs).save(tmp_path / "model.anysize")
    told = sentences(NO_TORCH, {"load": "az.load_model('model.anysize')"}, tmp_path)
    assert told["load"] == "The method gamma-1hot needs torch: pip install 'anysize[learn]'"
