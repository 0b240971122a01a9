"""The label of the training graphs, and the method that is suggested."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from shift.helpers import BLOCKS, blocks, chosen, erdos_renyi, molecules

import anysize as az
from anysize.paper.tasks import TASKS
from anysize.shift.advice import advise
from anysize.shift.findings import SUBJECTS
from anysize.shift.labels import LabelDependence


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
    assert (report.advice.call, report.advice.family) == ("az.GraphClassifier(k=3)", "sizemix")


@pytest.mark.parametrize("kind", ["dense", "tree"])
def test_a_label_that_only_size_predicts_is_found(kind: str) -> None:
    train, new = erdos_renyi(0.3, range(10, 30), 100, 1), erdos_renyi(0.3, (60,), 40, 2)
    if kind == "tree":
        rng = np.random.default_rng(3)
        trees = [nx.random_labeled_tree(int(n), seed=int(rng.integers(1 << 30))) for n in rng.integers(8, 40, 120)]
        train = az.GraphSet.from_networkx(trees)
        new = az.GraphSet.from_networkx([nx.random_labeled_tree(80, seed=i) for i in range(30)])
    report = az.diagnose(train, new, y=train.sizes > 21)
    assert report.findings.label is not None
    assert report.findings.label.amounts == "size"


def test_sizes_and_densities_that_go_together_are_for_densities() -> None:
    train = erdos_renyi(0.2, range(10, 24), 60, 1) + erdos_renyi(0.5, range(18, 30), 60, 2)
    report = az.diagnose(train, erdos_renyi(0.3, (60,), 40, 3), y=np.repeat([0, 1], 60))
    assert report.findings.label is not None
    assert report.findings.label.follows_size
    assert report.findings.label.amounts is None
    assert report.advice.family == "gamma"


def test_nothing_to_learn() -> None:
    train, new = erdos_renyi(0.3, range(10, 30), 100, 1), erdos_renyi(0.3, (60,), 40, 2)
    random = az.diagnose(train, new, y=np.random.default_rng(77).integers(0, 2, 100))
    assert any("better than chance" in warning for warning in random.advice.warnings)
    one = az.diagnose(blocks((20,), 30, 1, graphons=BLOCKS[:1]), blocks((40,), 30, 2), k=3)
    assert (one.advice.method, one.advice.call) == (None, "")
    assert "No method can be suggested." in str(one)


def test_colors_beyond_exchangeable_ones_are_a_warning() -> None:
    all_red = ({"red": 0.9, "blue": 0.1}, {"red": 0.9, "blue": 0.1})
    report = az.diagnose(blocks((20, 24), 120, 2), blocks((40,), 60, 3, all_red))
    assert report.findings.within_roles is False
    assert report.findings.label is not None
    assert report.findings.label.shape_suffices
    assert any("exchangeable" in warning for warning in report.advice.warnings)


def test_few_graphs_are_a_warning() -> None:
    pair = az.ErdosRenyi(0.3), az.ErdosRenyi(0.4)
    train, new = (az.sample_graphs(pair, az.Environment(sizes=range(12, 30)), 100, seed=s) for s in (1, 2))
    assert az.diagnose(train, new, k=3).advice.warnings == ()
    assert any("few graphs" in warning for warning in az.diagnose(train[:12], new[:8], k=3).advice.warnings)


def test_the_advice_is_what_auto_does() -> None:
    """The same statistics, the same family and the same sentences as those of a fitted classifier."""
    for train in (blocks((14, 20), 60, 1), blocks((14, 14), 60, 1)):
        report = az.diagnose(train, blocks((40,), 30, 2), k=3)
        model = eval(report.advice.call, {"az": az}).fit(train)
        assert model.k == 3
        assert report.check == model.decision_.check
        assert report.advice.family == model.decision_.family == "gamma"
        assert report.advice.reasons == (model.decision_.summary(),)


def test_without_classes_the_check_is_all_there_is() -> None:
    report = az.diagnose(blocks((14, 20), 60, 1).with_y(None), blocks((40,), 30, 2), k=4)
    assert (report.advice.family, report.advice.call) == (None, "az.GraphClassifier()")
    assert report.advice.reasons == (report.check.summary(),)


def test_what_is_found_about_new_graphs_becomes_a_warning() -> None:
    report = az.diagnose(blocks((14, 20), 60, 1).with_y(None), blocks((40,), 30, 2), k=3)
    assert advise(report.findings, report.check, None) == report.advice
    sparse = advise(report.findings, replace(report.check, kappa=0.5), None)
    assert len(sparse.warnings) == len(report.advice.warnings) + 1
    for share, told in ((0.25, "25% of the vertices"), (0.0003, "0.03% of the vertices")):
        colors = replace(report.findings.colors, unseen_share=share)  # type: ignore[type-var]
        warnings = advise(replace(report.findings, colors=colors), report.check, None).warnings
        assert any(warning.startswith(told) for warning in warnings)


@pytest.mark.parametrize("y", [["a"] * 40, ["a"] * 37 + ["b"] * 3, np.linspace(0, 1, 40), np.arange(40)])
def test_labels_that_cannot_be_scored(y: object) -> None:
    label = dependence(erdos_renyi(0.3, (15,), 40, 4), y)
    assert label.not_scored
    assert label.log_losses == ()
    assert label.predictable is None


@pytest.mark.parametrize("task", ["NCI1", "PROTEINS"])
def test_real_graphs_from_small_to_large(task: str, data_dir: Path) -> None:
    if not (data_dir / f"{task}.zip").is_file():
        pytest.skip(f"{task}.zip is not among the data files")
    splits = TASKS[task].splits(data_dir=data_dir)
    assert splits.validation is not None
    report = az.diagnose(splits.train + splits.validation, splits.test)
    assert report.findings.sparsity.kind == "sparse"
    assert report.findings.sparsity.exponent == pytest.approx(-1, abs=0.15)
    assert (report.check.regime, report.advice.family) == ("not_graphon", "sizemix")


def test_random_halves_of_nci1_do_not_differ(data_dir: Path) -> None:
    if not (data_dir / "NCI1.zip").is_file():
        pytest.skip("NCI1.zip is not among the data files")
    graphs = az.read_graphs(data_dir / "NCI1.zip").with_y(None)
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(graphs))
        assert not az.diagnose(graphs[order[:2000]], graphs[order[2000:]]).findings.found(*SUBJECTS)
