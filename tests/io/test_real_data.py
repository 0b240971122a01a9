"""The published files, against the numbers of their manifest."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from anysize import GraphSet, GraphWarning, read_graphs

LABELED = ("MUTAG", "NCI1", "NCI109", "PROTEINS", "DD")


@pytest.fixture(scope="session")
def manifest(data_dir: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((data_dir / "manifest.json").read_text())
    return content


def file_of(data_dir: Path, facts: dict[str, Any]) -> Path:
    """The data file, checked before it is used."""
    path = data_dir / facts["file"]
    if not path.is_file():
        pytest.skip(f"{path.name} is not among the data files")
    assert hashlib.sha256(path.read_bytes()).hexdigest() == facts["sha256"]
    return path


def check_tu(graphs: GraphSet, facts: dict[str, Any]) -> None:
    assert len(graphs) == facts["graphs"]
    assert graphs.sizes.sum() == facts["vertices"]
    assert graphs.edge_counts.sum() == facts["undirected_edges"]
    assert (graphs.sizes.min(), graphs.sizes.max()) == (facts["min_size"], facts["max_size"])
    assert np.median(graphs.sizes) == facts["median_size"]
    assert (graphs.degrees == 0).sum() == facts["isolated_vertices"]
    assert graphs.y is not None
    values, amounts = np.unique(graphs.y, return_counts=True)
    assert dict(zip(map(str, values.tolist()), amounts.tolist(), strict=True)) == facts["classes"]
    split = facts["size_split"]
    pool = graphs[graphs.sizes <= np.percentile(graphs.sizes, 50)]
    test = graphs[graphs.sizes >= np.percentile(graphs.sizes, 90)]
    assert (len(pool), len(test)) == (split["train_pool"], split["test"])
    assert pool.sizes.mean() == pytest.approx(split["train_pool_mean_size"], abs=1e-4)


@pytest.mark.parametrize("name", LABELED)
def test_tu_sets_with_vertex_labels(name: str, data_dir: Path, manifest: dict[str, Any]) -> None:
    facts = manifest[name]
    graphs = read_graphs(file_of(data_dir, facts), warn=False)
    check_tu(graphs, facts)
    assert len(graphs.palette) == facts["node_label_values"]
    assert (graphs.palette[0], graphs.palette[-1]) == (facts["node_label_min"], facts["node_label_max"])


def test_imdb_repeats_every_line_and_warns_once(data_dir: Path, manifest: dict[str, Any]) -> None:
    facts = manifest["IMDB-BINARY"]
    path = file_of(data_dir, facts)
    with pytest.warns(GraphWarning, match="Dropped 193062 repeated edges while reading 1000") as caught:
        graphs = read_graphs(path)
    assert len(caught) == 1
    check_tu(graphs, facts)
    assert graphs.colors is None


@pytest.mark.parametrize(("name", "disconnected"), [("NCI1", 580), ("PROTEINS", 46)])
def test_graphs_are_cut_at_the_right_places(
    name: str, disconnected: int, data_dir: Path, manifest: dict[str, Any]
) -> None:
    graphs = read_graphs(file_of(data_dir, manifest[name]), warn=False)
    shift = np.repeat(np.repeat(graphs.first[:-1], graphs.sizes), graphs.degrees)
    total = len(graphs.indptr) - 1
    matrix = csr_array((np.ones(len(shift), np.int8), graphs.indices + shift, graphs.indptr), shape=(total, total))
    _, component = connected_components(matrix, directed=False)
    parts = [len(np.unique(component[a:b])) for a, b in zip(graphs.first, graphs.first[1:], strict=False)]
    assert sum(number > 1 for number in parts) == disconnected


def test_mutag_survives_a_round_trip(data_dir: Path, manifest: dict[str, Any], tmp_path: Path) -> None:
    graphs = read_graphs(file_of(data_dir, manifest["MUTAG"]), warn=False)
    graphs.to_tu(tmp_path, "MUTAG")
    assert read_graphs(tmp_path).equals(graphs)
    assert GraphSet.from_networkx(graphs.to_networkx(), "color", graphs.y, edge_color="edge_color").equals(graphs)


@pytest.mark.parametrize(("name", "max_degree"), [("facebook_combined", 1045), ("ca-AstroPh-lcc", 504)])
def test_large_single_graphs(name: str, max_degree: int, data_dir: Path, manifest: dict[str, Any]) -> None:
    facts = manifest[name]
    graphs = read_graphs(file_of(data_dir, facts))
    assert graphs.sizes.tolist() == [facts["vertices"]]
    assert graphs.edge_counts.tolist() == [facts["undirected_edges"]]
    assert graphs.degrees.max() == max_degree
    matrix = csr_array((np.ones(len(graphs.indices), np.int64), graphs.indices, graphs.indptr))
    assert matrix.multiply(matrix @ matrix).sum() == 6 * facts["triangles"]


@pytest.mark.parametrize("name", ["NCI1", "ca-AstroPh-lcc"])
def test_reading_takes_the_fast_path(name: str, data_dir: Path, manifest: dict[str, Any]) -> None:
    path = file_of(data_dir, manifest[name])
    start = time.perf_counter()
    read_graphs(path)
    assert time.perf_counter() - start < 3  # about 0.1 s on an idle machine


# ---- molecules and neighbor lists ----------------------------------------------------------------


@pytest.fixture(scope="session")
def league(data_dir: Path) -> Path:
    if not (data_dir / "league").is_dir():
        pytest.skip("the folder league is not among the data files")
    return data_dir / "league"


def test_tox21_leaves_out_rows_without_molecule_or_label(league: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rdkit")
    with pytest.warns(GraphWarning) as caught:
        graphs = read_graphs(league / "tox21.csv", smiles="smiles", y="NR-AR")
    unreadable, unlabeled = (str(one.message) for one in caught)
    assert "7 rows" in unreadable
    assert "2292, 2299" in unreadable
    assert "566 rows" in unlabeled
    assert len(graphs) == 7831 - 7 - 566
    assert set(graphs.y.tolist()) == {0, 1}  # type: ignore[union-attr]
    assert capfd.readouterr().err == ""  # RDKit is silent


@pytest.mark.parametrize(
    ("name", "graphs", "vertices", "edges", "colors", "classes"),
    [
        ("PTC_FM", 349, 4925, 5055, 18, 2),
        ("BZR", 405, 14479, 15535, 10, 2),
    ],
)
@pytest.mark.filterwarnings("ignore::anysize.GraphWarning")
def test_neighbor_lists_in_zip_files(
    name: str, graphs: int, vertices: int, edges: int, colors: int, classes: int, league: Path
) -> None:
    found = read_graphs(league / f"{name}.zip")
    assert (len(found), found.sizes.sum(), found.edge_counts.sum()) == (graphs, vertices, edges)
    assert len(found.palette) == colors
    assert found.y is not None
    assert len(np.unique(found.y)) == classes
