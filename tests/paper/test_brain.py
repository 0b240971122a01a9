"""The brain tasks: a small folder in the authors' format, thinning, folds, and the simulated brains."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import anysize as az
from anysize import read_graphs
from anysize.graphs.assembly import induced_subgraphs
from anysize.paper.brain import hold_out, thin
from anysize.paper.tasks import TASKS
from anysize.splits import stratified_folds

REGIONS = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """18 controls and 17 patients of 24 regions as CSV adjacency matrices, beside files that are none of them."""
    place = tmp_path_factory.mktemp("brains")
    rng = np.random.default_rng(0)
    for number in range(35):
        weights = np.triu(rng.random((REGIONS, REGIONS)) * (rng.random((REGIONS, REGIONS)) < 0.4), 1)
        weights = weights + weights.T
        kind = "Schizophrenia" if number % 2 else "Control"
        lines = ["," + ",".join(f"r{i}" for i in range(REGIONS))]
        lines += [f"r{i}," + ",".join(f"{value:.4f}" if value else "0" for value in weights[i]) for i in range(REGIONS)]
        (place / f"typical_{kind}_{number:03d}.csv").write_text("\n".join(lines) + "\n")
    (place / "subjects.csv").write_text("subject,age\n1,30\n")
    return place


def test_a_folder_of_matrices_gives_the_split_of_the_paper(folder: Path) -> None:
    task = TASKS["schizophrenia"]
    splits = task.splits(data_dir=folder)
    assert splits.validation is None
    assert splits.classes == ("control", "schizophrenia")
    assert np.bincount(splits.test.y).tolist() == [10, 10]
    assert np.bincount(splits.train.y).tolist() == [8, 7]
    assert set(splits.train.sizes.tolist()) == {REGIONS}
    patients = splits.test.y == 1
    assert set(splits.test.sizes[patients].tolist()) == {REGIONS}
    assert splits.test.sizes[~patients].max() < REGIONS
    names = [name for graphs in (splits.train, splits.test) for name in graphs.names]
    assert len(set(names)) == 35
    assert all(
        ("Schizophrenia" in name) == (label == 1)
        for name, label in zip(splits.train.names, splits.train.y, strict=True)
    )
    assert (task.k, task.folds, task.single_environment) == ((4, 5), 5, True)


def test_thinned_controls_are_induced_subgraphs(folder: Path) -> None:
    """The patients' graphs are the files' own; every control's edges are among its file's, as degrees show."""
    splits = TASKS["schizophrenia"].splits(data_dir=folder)
    for row, name in enumerate(splits.test.names):
        original, seen = read_graphs(folder / f"{name}.csv", warn=False), splits.test[row]
        if splits.test.y[row] == 1:
            assert seen.edges().tolist() == original.edges().tolist()
        else:
            assert seen.edge_counts[0] < original.edge_counts[0]
            assert (seen.degrees > 0).all()


def test_other_integers_draw_other_test_graphs(folder: Path) -> None:
    task = TASKS["schizophrenia"]
    published, zero, one = (task.splits(data, data_dir=folder).test for data in ("published", 0, 1))
    assert published.equals(zero)
    assert set(one.names) != set(zero.names)


def test_five_stratified_folds_cover_the_training_graphs(folder: Path) -> None:
    task = TASKS["schizophrenia"]
    y = np.asarray(task.splits(data_dir=folder).train.y)
    fold_of = stratified_folds(y, task.folds, seed=3)
    assert set(fold_of.tolist()) == set(range(5))
    for fold in range(5):
        assert np.bincount(y[fold_of == fold], minlength=2).tolist() in ([1, 1], [1, 2], [2, 1], [2, 2])
    assert stratified_folds(y, task.folds, seed=3).tolist() == fold_of.tolist()
    assert stratified_folds(y, task.folds, seed=4).tolist() != fold_of.tolist()


def test_a_folder_named_schizophrenia_in_the_data_folder_is_found(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "schizophrenia").symlink_to(folder)
    assert (
        TASKS["schizophrenia"]
        .splits(data_dir=tmp_path)
        .train.equals(TASKS["schizophrenia"].splits(data_dir=folder).train)
    )


def test_missing_files_are_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANYSIZE_DATA", raising=False)
    for named in (None, tmp_path):
        with pytest.raises(az.GraphError, match=r"cannot be downloaded.*typical_\*\.csv.*--data-dir.*ANYSIZE_DATA"):
            TASKS["schizophrenia"].splits(data_dir=named)
    (tmp_path / "typical_Control_1.csv").write_text(",a,b\na,0,1\nb,1,0\n")
    with pytest.raises(az.GraphError, match=r"at least 15 controls and as many patients.*got 1 and 0"):
        TASKS["schizophrenia"].splits(data_dir=tmp_path)


# ---- thinning -----------------------------------------------------------------------------------------


def complete(n: int, amount: int = 1) -> az.GraphSet:
    edges = [(i, j) for i in range(n) for j in range(i)]
    return az.GraphSet.from_edges([edges] * amount, n_vertices=[n] * amount)


def test_thinning_leaves_the_expected_number_of_vertices() -> None:
    """105 draws with replacement from 264 leave 264 (1 - 1/264)^105 vertices; a complete graph isolates none."""
    sizes = thin(complete(264, 60), 0.4, np.random.default_rng(0)).sizes
    expected = 264 * (1 - 1 / 264) ** 105
    assert expected == pytest.approx(177.2, abs=0.1)
    # removed vertices are a birthday count with a standard deviation of 3.6
    assert sizes.mean() == pytest.approx(expected, abs=4 * 3.6 / np.sqrt(60))
    assert sizes.min() >= 264 - 105


def test_thinning_drops_isolated_vertices_of_thinned_graphs_only() -> None:
    matching = az.GraphSet.from_edges([[(2 * i, 2 * i + 1) for i in range(30)]] * 2, n_vertices=[61, 61])
    thinned = thin(matching, np.array([0.0, 0.3]), np.random.default_rng(1))
    assert thinned[0].equals(matching[0])
    assert (thinned[1].degrees == 1).all()
    assert thinned.sizes[1] < 61 - 10


@pytest.mark.parametrize("share", [-0.1, 1.01, float("nan")])
def test_more_than_everything_cannot_be_removed(share: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        thin(complete(5), share, np.random.default_rng(0))


def test_induced_subgraphs_equal_those_of_networkx() -> None:
    rng = np.random.default_rng(5)
    upper = [np.triu(rng.random((n, n)) < 0.4, 1) for n in (7, 0, 12, 1)]
    dense = [matrix | matrix.T for matrix in upper]
    graphs = az.GraphSet.from_scipy(dense, colors=[rng.integers(3, size=len(matrix)) for matrix in dense])
    keep = rng.random(20) < 0.6
    small = induced_subgraphs(graphs, keep)
    start = 0
    for row, graph in enumerate(graphs.to_networkx()):
        chosen = np.flatnonzero(keep[start : start + len(graph)])
        start += len(graph)
        expected = sorted(
            tuple(sorted((int(np.searchsorted(chosen, u)), int(np.searchsorted(chosen, v)))))
            for u, v in graph.subgraph(chosen.tolist()).edges
        )
        assert [tuple(edge) for edge in small.edges(row).tolist()] == expected
        assert small.color_names(row) == tuple(graph.nodes[int(vertex)]["color"] for vertex in chosen)


# ---- simulated brains -------------------------------------------------------------------------------------


def test_simulated_brains_have_the_paper_s_shape() -> None:
    splits = TASKS["schizophrenia-like"].splits(1)
    assert np.bincount(splits.train.y).tolist() == [64, 61]
    assert set(splits.train.sizes.tolist()) == {264}
    controls = splits.test.y == 0
    assert 170 < splits.test.sizes[controls].mean() < 185
    assert (splits.test.sizes[~controls] == 264).all()


def test_densities_carry_over_and_numbers_of_edges_do_not() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    right = {"densities": 0.0, "edges": 0.0}
    for seed in (0, 1):
        splits = TASKS["schizophrenia-like"].splits(seed)
        train, test = (
            az.count(graphs, 4, colors=False).densities().toarray() for graphs in (splits.train, splits.test)
        )
        scaler = StandardScaler().fit(train)
        model = LogisticRegression(C=10, max_iter=5000).fit(scaler.transform(train), splits.train.y)
        right["densities"] += model.score(scaler.transform(test), splits.test.y) / 2
        edges = splits.train.edge_counts
        right["edges"] += max(np.mean((edges > cut) == splits.train.y) for cut in np.unique(edges)) / 2
    assert right["densities"] >= 0.9
    assert right["edges"] < 0.68  # the best single cut, on the training graphs themselves


def test_simulated_brains_are_no_published_data() -> None:
    with pytest.raises(ValueError, match="has no published data"):
        TASKS["schizophrenia-like"].splits("published")


def test_hold_out_needs_enough_of_both_classes() -> None:
    with pytest.raises(az.GraphError, match="got 15 and 14"):
        hold_out(complete(4, 29).with_y([0] * 15 + [1] * 14), 0)
