"""The label of the training graphs, and the method that is suggested."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from shift.helpers import BLOCKS, blocks, chosen, erdos_renyi, molecules

import anysize as az
from anysize.methods.catalog import METHODS
from anysize.shift.advice import advise
from anysize.shift.labels import LabelDependence
from anysize.tasks.catalog import TASKS


def dependence(train: az.GraphSet, y: object) -> LabelDependence:
    label = az.diagnose(train, train[:30], k=3, y=y).findings.label
    assert label is not None
    return label


def larger_molecules() -> az.GraphSet:
    doubled = [nx.disjoint_union(tree, tree) for tree in molecules(60, seed=2)[0].to_networkx()]
    return az.GraphSet.from_networkx([tree for tree in doubled if len(tree) > 50], color="color")


def test_a_label_of_composition_does_not_follow_size() -> None:
    sparse, dense = (erdos_renyi(p, range(12, 40), 100, seed) for seed, p in enumerate((0.25, 0.4)))
    label = dependence(sparse + dense, ["sparse"] * 100 + ["dense"] * 100)
    losses = dict(label.log_losses)
    assert losses["densities"] < losses["counts"] < losses["chance"]
    assert label.predictable
    assert not label.follows_size
    assert label.amounts is None


def test_a_label_of_amounts_is_for_counts() -> None:
    trees, many = molecules(600, seed=1)
    report = az.diagnose(trees, larger_molecules(), k=3, y=chosen(1.2 * (many - 3.5), 11))
    assert report.findings.label is not None
    assert report.findings.label.follows_size
    assert report.findings.label.amounts == "counts"
    assert report.advice.call == 'az.GraphClassifier("wl-kernel")'


def test_the_same_trees_with_a_label_of_composition_are_for_shares_of_connected_subsets() -> None:
    trees, many = molecules(600, seed=1)
    report = az.diagnose(trees, larger_molecules(), k=3, y=chosen(20 * (many / trees.sizes - 0.2), 11))
    assert report.findings.label is not None
    assert report.findings.label.amounts is None
    assert report.advice.method == "gamma-gin"
    assert dict(report.advice.settings)["over"] == "connected"


@pytest.mark.parametrize("kind", ["dense", "tree"])
def test_a_label_that_only_size_predicts_is_not_for_densities(kind: str) -> None:
    train, new = erdos_renyi(0.3, range(10, 30), 100, 1), erdos_renyi(0.3, (60,), 40, 2)
    if kind == "tree":
        rng = np.random.default_rng(3)
        trees = [nx.random_labeled_tree(int(n), seed=int(rng.integers(1 << 30))) for n in rng.integers(8, 40, 120)]
        train = az.GraphSet.from_networkx(trees)
        new = az.GraphSet.from_networkx([nx.random_labeled_tree(80, seed=i) for i in range(30)])
    report = az.diagnose(train, new, y=train.sizes > 21)
    assert report.findings.label is not None
    assert report.findings.label.amounts == "size"
    assert report.advice.method == "size-only"


def test_sizes_and_densities_that_go_together_are_for_densities() -> None:
    train = erdos_renyi(0.2, range(10, 24), 60, 1) + erdos_renyi(0.5, range(18, 30), 60, 2)
    report = az.diagnose(train, erdos_renyi(0.3, (60,), 40, 3), y=np.repeat([0, 1], 60))
    assert report.findings.label is not None
    assert report.findings.label.follows_size
    assert report.advice.method == "gamma-gin"


def test_no_method_without_evidence() -> None:
    train, new = erdos_renyi(0.3, range(10, 30), 100, 1), erdos_renyi(0.3, (60,), 40, 2)
    random = az.diagnose(train, new, y=np.random.default_rng(77).integers(0, 2, 100))
    one = az.diagnose(blocks((20,), 30, 1, graphons=BLOCKS[:1]), blocks((40,), 30, 2), k=3)
    for report in (random, one):
        assert report.advice.method is None
        assert report.advice.call == ""
    assert "No method can be suggested." in str(random)


def test_colors_beyond_exchangeable_ones_are_ignored_where_shape_suffices() -> None:
    all_red = ({"red": 0.9, "blue": 0.1}, {"red": 0.9, "blue": 0.1})
    report = az.diagnose(blocks((20, 24), 120, 2), blocks((40,), 60, 3, all_red))
    assert report.findings.within_roles is False
    assert report.findings.label is not None
    assert report.findings.label.shape_suffices
    assert report.advice.call == 'az.GraphClassifier("topology-only", k=4)'


def test_a_plain_gnn_without_a_shift() -> None:
    pair = az.ErdosRenyi(0.3), az.ErdosRenyi(0.4)
    train, new = (az.sample_graphs(pair, az.Environment(sizes=range(12, 30)), 100, seed=s) for s in (1, 2))
    report = az.diagnose(train, new, k=3)
    assert report.advice.call == 'az.GraphClassifier("gin-sum")'
    assert report.advice.warnings == ()
    assert any("few graphs" in warning for warning in az.diagnose(train[:12], new[:8], k=3).advice.warnings)


def test_advice_is_a_function_of_the_findings() -> None:
    report = az.diagnose(blocks((14, 20), 60, 1), blocks((40,), 30, 2), k=3)
    findings = report.findings
    assert advise(findings) == report.advice
    assert dict(report.advice.settings) == {"k": 3, "penalty": 0}  # colors do not shift
    sparse = advise(replace(findings, sparsity=replace(findings.sparsity, kind="sparse")))
    assert dict(sparse.settings)["over"] == "connected"
    assert len(sparse.warnings) == len(report.advice.warnings) + 1
    unseen = advise(replace(findings, colors=replace(findings.colors, unseen_share=0.25)))  # type: ignore[type-var]
    assert any("25.0%" in warning for warning in unseen.warnings)
    for advice in (report.advice, sparse, unseen):
        assert advice.method in METHODS
        assert METHODS[advice.method].patterns == ("k" in dict(advice.settings))
    assert eval(report.advice.call, {"az": az}).k == 3


@pytest.mark.parametrize("y", [["a"] * 40, ["a"] * 37 + ["b"] * 3, np.linspace(0, 1, 40), np.arange(40)])
def test_labels_that_cannot_be_scored(y: object) -> None:
    label = dependence(erdos_renyi(0.3, (15,), 40, 4), y)
    assert label.not_scored
    assert label.log_losses == ()
    assert label.predictable is None


@pytest.mark.parametrize(
    ("task", "call"),
    [
        ("NCI1", 'az.GraphClassifier("wl-kernel")'),
        ("PROTEINS", 'az.GraphClassifier("gamma-gin", k=4, params={"over": "connected", "penalty": 0})'),
    ],
)
def test_real_graphs_from_small_to_large(task: str, call: str, data_dir: Path) -> None:
    """The WL kernel has the highest published score on NCI1, and none on PROTEINS."""
    if not (data_dir / f"{task}.zip").is_file():
        pytest.skip(f"{task}.zip is not among the data files")
    splits = TASKS[task].splits(data_dir=data_dir)
    assert splits.validation is not None
    report = az.diagnose(splits.train + splits.validation, splits.test)
    assert report.findings.sparsity.kind == "sparse"
    assert report.findings.sparsity.exponent == pytest.approx(-1, abs=0.15)
    assert report.advice.call == call


def test_random_halves_of_nci1_do_not_differ(data_dir: Path) -> None:
    if not (data_dir / "NCI1.zip").is_file():
        pytest.skip("NCI1.zip is not among the data files")
    graphs = az.read_graphs(data_dir / "NCI1.zip").with_y(None)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(graphs))
        assert az.diagnose(graphs[order[:2000]], graphs[order[2000:]]).findings.nothing_found
