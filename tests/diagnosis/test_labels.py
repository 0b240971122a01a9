"""Intensive, extensive, or cannot tell: labels made to be one or the other."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from diagnosis.helpers import erdos_renyi

import anysize as az
from anysize.diagnosis.labels import LabelNature


def nature(train: az.GraphSet, y: object) -> LabelNature:
    label = az.diagnose(train, train[:30], k=3, y=y).findings.label
    assert label is not None
    return label


def molecules(amount: int, seed: int) -> tuple[az.GraphSet, np.ndarray]:
    """Trees in which some vertices are "X", at a rate that differs from tree to tree; how many X each has."""
    rng = np.random.default_rng(seed)
    trees = [nx.random_labeled_tree(int(n), seed=int(rng.integers(1 << 30))) for n in rng.integers(6, 50, amount)]
    many = []
    for tree in trees:
        hit = rng.random(len(tree)) < rng.uniform(0.0, 0.3)
        nx.set_node_attributes(tree, {v: "X" if hit[v] else "C" for v in tree}, "atom")
        many.append(hit.sum())
    return az.GraphSet.from_networkx(trees, colour="atom"), np.array(many)


def chosen(score: np.ndarray, seed: int) -> np.ndarray:
    """True with the probability that a logistic model gives."""
    return np.random.default_rng(seed).random(len(score)) < 1 / (1 + np.exp(-score))


def test_a_label_of_composition_is_intensive() -> None:
    sparse, dense = (erdos_renyi(p, range(12, 40), 100, seed) for seed, p in enumerate((0.25, 0.4)))
    label = nature(sparse + dense, ["sparse"] * 100 + ["dense"] * 100)
    assert label.verdict == "intensive"
    assert label.comparison("chance", "shares").sure
    assert not label.comparison("shares", "shares and size").sure
    assert label.comparison("shares", "counts").gain < 0
    assert label.moves_p is not None
    assert label.moves_p > 0.01


def test_a_label_of_amounts_is_extensive() -> None:
    trees, many = molecules(600, seed=1)
    label = nature(trees, chosen(1.2 * (many - 3.5), 11))
    assert label.verdict == "extensive"
    assert label.moves_p is not None
    assert label.moves_p < 0.01
    assert label.comparison("shares", "counts").sure
    assert label.shape_suffices is False
    first, last = label.rates[0].shares[1], label.rates[-1].shares[1]
    assert last > first + 0.2  # the larger, the likelier


def test_the_same_trees_with_a_label_of_composition_are_not_extensive() -> None:
    trees, many = molecules(600, seed=1)
    label = nature(trees, chosen(20 * (many / trees.sizes - 0.2), 11))
    assert label.verdict == "intensive"
    assert label.comparison("shares", "counts").gain < 0


def test_a_label_that_any_one_part_decides_is_not_called_intensive() -> None:
    """Shares and counts both tell whether there is an X; only the rate, which grows with size, speaks of amounts."""
    rng = np.random.default_rng(7)
    trees = [nx.random_labeled_tree(int(n), seed=int(n)) for n in rng.integers(8, 30, 400)]
    names = [np.where(rng.random(len(tree)) < 0.05, "X", "C") for tree in trees]
    for tree, name in zip(trees, names, strict=True):
        nx.set_node_attributes(tree, dict(enumerate(name.tolist())), "atom")
    label = nature(az.GraphSet.from_networkx(trees, colour="atom"), ["X" in name for name in names])
    assert label.verdict == "cannot tell"
    assert label.moves_p is not None
    assert label.moves_p < 0.001


def test_a_label_that_only_goes_with_size_cannot_be_told_apart() -> None:
    train = erdos_renyi(0.3, range(10, 40), 300, 2)
    label = nature(train, chosen((train.sizes - 25) / 3, 22))
    assert label.verdict == "cannot tell"
    assert label.size_part is not None
    assert label.size_part > 0.5
    assert "size" in label.reason


def test_a_label_that_nothing_predicts_cannot_be_told() -> None:
    train = erdos_renyi(0.3, range(10, 40), 150, 3)
    label = nature(train, np.random.default_rng(1000).integers(0, 2, 150))
    assert label.verdict == "cannot tell"
    assert "better than chance" in label.reason


def test_three_classes_are_fine() -> None:
    sets = [erdos_renyi(p, range(12, 40), 60, seed) for seed, p in enumerate((0.2, 0.5, 0.8))]
    label = nature(sets[0] + sets[1] + sets[2], np.repeat(["a", "b", "c"], 60))
    assert label.classes == ("a", "b", "c")
    assert label.verdict != "extensive"
    assert all(sum(one.shares) == pytest.approx(1) for one in label.rates)
    assert sum(one.graphs for one in label.rates) == 180


@pytest.mark.parametrize(
    ("y", "reason"),
    [
        (["a"] * 40, "all training graphs have one class"),
        (["a"] * 37 + ["b"] * 3, "the smallest class has only 3 training graphs"),
        (np.arange(40) % 2, "all of one size"),
        (np.linspace(0, 1, 40), "not classes"),
        (np.arange(40), "there are 40 classes"),
    ],
)
def test_why_a_label_says_nothing(y: object, reason: str) -> None:
    label = nature(erdos_renyi(0.3, (15,), 40, 4), y)
    assert label.verdict == "cannot tell"
    assert reason in label.reason


def test_the_advice_follows_the_label() -> None:
    trees, many = molecules(600, seed=1)
    larger = molecules(60, seed=2)[0]
    big = az.GraphSet.from_networkx([nx.disjoint_union(g, g) for g in larger.to_networkx()], colour="colour")
    extensive = az.diagnose(trees, big[big.sizes > 50], k=3, y=chosen(1.2 * (many - 3.5), 11))
    assert extensive.advice.method == "wl-kernel"
    unknown = az.diagnose(trees, big[big.sizes > 50], k=3)
    assert unknown.findings.label is None
    assert unknown.advice.method == "gamma-gin"
    assert any("Nothing is known about the label" in caution for caution in unknown.advice.cautions)


def test_without_a_shift_a_plain_gnn_is_advised() -> None:
    train, new = erdos_renyi(0.3, range(12, 30), 120, 5), erdos_renyi(0.3, range(12, 30), 120, 6)
    diagnosis = az.diagnose(train, new, k=3)
    assert diagnosis.advice.method == "gin-sum"
    assert diagnosis.advice.trust == "as in validation"
    few = az.diagnose(train[:12], new[:8], k=3)
    assert few.advice.trust == "with care"
    assert "few graphs" in " ".join(few.advice.cautions)
