"""Options of commands that say what is read: edge colors, directions, thresholds and densities of matrices."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from typer.testing import CliRunner

from anysize import GraphSet, load_model, read_graphs
from anysize.cli.app import app


def run(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result.stdout if code == 0 else result.output


@pytest.fixture
def correlations(tmp_path: Path) -> Path:
    folder = tmp_path / "brains"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(24):
        signals = rng.normal(size=(8 + number % 5, 30)) + (number % 2) * rng.normal(size=30)
        np.save(folder / f"b{number:02}.npy", np.corrcoef(signals))
    (tmp_path / "labels.txt").write_text("a\nb\n" * 12)
    return folder


def test_matrices_are_read_with_a_threshold_or_density(correlations: Path) -> None:
    said = run("count", correlations, "--k", "2", code=1)
    assert "--threshold 0.5" in said
    for options in (["--threshold", 0.4], ["--density", 0.25]):
        counts = json.loads(run("count", correlations, "--k", "2", "--json", *options))
        expected = read_graphs(correlations, **{options[0].removeprefix("--"): options[1]}).edge_counts.sum()
        assert sum(graph["copies"].get("edge", 0) for graph in counts["graphs"]) == expected


def test_models_are_fitted_and_used_with_the_same_options(correlations: Path, tmp_path: Path) -> None:
    reading = ["--threshold", 0.3, "--threshold", 0.6]
    model, labels = tmp_path / "m.anysize", tmp_path / "labels.txt"
    run("fit", correlations, "--labels", labels, "--method", "wl-kernel", "--out", model, *reading)
    lines = run("predict", model, correlations, *reading).splitlines()
    graphs = read_graphs(correlations, threshold=[0.3, 0.6])
    assert graphs.edge_palette == (1, 2)
    expected = load_model(model).predict(graphs).tolist()
    assert [line.split(",")[1] for line in lines if line.startswith("b") and "," in line] == expected


def test_edge_lists_with_types_and_directions(tmp_path: Path) -> None:
    rows = ["graph,source,target,kind,label"]
    for number in range(20):
        graph = nx.gnp_random_graph(6 + number % 4, 0.5, seed=number, directed=True)
        rows += [f"{number},{u},{v},{(u + v + number) % 2},{number % 2}" for u, v in graph.edges]
    file = tmp_path / "edges.csv"
    file.write_text("\n".join(rows))
    model = tmp_path / "m.anysize"
    run("fit", file, "--y", "label", "--method", "sizemix", "--edge-color", "kind", "--directed", "--out", model)
    graphs = read_graphs(file, y="label", edge_color="kind", directed=True)
    assert (graphs.edge_palette, graphs.directions is None) == ((0, 1), False)
    again = json.loads(run("predict", model, file, "--y", "label", "--edge-color", "kind", "--directed", "--json"))
    assert [row["class"] for row in again["graphs"]] == load_model(model).predict(graphs).tolist()
    assert isinstance(graphs, GraphSet)


def test_directed_triads_are_counted(tmp_path: Path) -> None:
    graph = nx.gnp_random_graph(12, 0.3, seed=1, directed=True)
    (tmp_path / "g.txt").write_text("\n".join(f"{u} {v}" for u, v in graph.edges))
    counts = json.loads(run("count", tmp_path / "g.txt", "--k", 3, "--directed", "--edges", "--json"))
    census = {name: number for name, number in nx.triadic_census(graph).items() if number}
    assert counts["graphs"][0]["copies"].items() <= census.items()
    assert set(census) - set(counts["graphs"][0]["copies"]) <= {"003", "012", "102"}
