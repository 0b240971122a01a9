"""Intensive, extensive, or cannot tell: labels made to be one or the other."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from diagnosis.helpers import chosen, erdos_renyi, molecules

import anysize as az
from anysize.diagnosis.labels import LabelNature


def nature(train: az.GraphSet, y: object) -> LabelNature:
    label = az.diagnose(train, train[:30], k=3, y=y).findings.label
    assert label is not None
    return label


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
    label = nature(az.GraphSet.from_networkx(trees, color="atom"), ["X" in name for name in names])
    assert label.verdict == "cannot tell"
    assert label.moves_p is not None
    assert label.moves_p < 0.001


def test_a_label_that_size_alone_predicts_is_extensive() -> None:
    train = erdos_renyi(0.3, range(10, 40), 300, 2)
    label = nature(train, chosen((train.sizes - 25) / 3, 22))
    assert label.verdict == "extensive"
    assert label.densities_learn is False
    assert label.amounts == "size"
    assert label.size_part is not None
    assert label.size_part > 0.5
    assert not label.comparison("chance", "shares").sure
    assert "densities predict the class no better than chance" in label.reason
    assert "unless sizes and classes merely go together" in label.reason


def test_a_label_that_goes_with_size_and_with_density_cannot_be_told_apart() -> None:
    """Larger graphs are denser here: which of the two makes the class, nobody can say."""
    small, large = erdos_renyi(0.3, range(10, 25), 150, 2), erdos_renyi(0.36, range(20, 40), 150, 3)
    label = nature(small + large, np.repeat([0, 1], 150))
    assert label.verdict == "cannot tell"
    assert label.densities_learn
    assert label.size_part is not None
    assert label.size_part > 0.5
    assert "merely go together" in label.reason


def test_the_size_of_trees_does_not_pass_for_composition() -> None:
    """Patterns per vertex give away the size of a tree (1 - 1/N edges); what methods on densities see does not."""
    rng = np.random.default_rng(3)
    trees = az.GraphSet.from_networkx(
        [nx.random_labeled_tree(int(n), seed=int(rng.integers(1 << 30))) for n in rng.integers(8, 40, 120)]
    )
    label = nature(trees, trees.sizes > 22)
    assert label.comparison("chance", "shares").sure
    assert label.density_probe == "connected shares"
    assert not label.comparison("chance", "connected shares").sure
    assert label.densities_learn is False
    assert label.verdict == "extensive"


def test_a_label_that_nothing_predicts_cannot_be_told() -> None:
    train = erdos_renyi(0.3, range(10, 40), 150, 3)
    label = nature(train, np.random.default_rng(1000).integers(0, 2, 150))
    assert label.verdict == "cannot tell"
    assert "better than chance" in label.reason
    assert label.densities_learn is False
    assert label.amounts is None


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
    big = az.GraphSet.from_networkx([nx.disjoint_union(g, g) for g in larger.to_networkx()], color="color")
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


@pytest.mark.parametrize(("amount", "rate", "suffices"), [(120, 0.0, True), (16, 0.0, False), (120, 1.0, False)])
def test_shape_suffices_where_colors_can_add_little(amount: int, rate: float, suffices: bool) -> None:
    """At ``rate`` 0 the class is density and colors are noise, at 1 it is a color. Few graphs leave much possible."""
    rng = np.random.default_rng(1)
    y = np.arange(amount) % 2
    graphs = []
    for label in y:
        p = 0.3 + 0.2 * label * (1 - rate)
        graph = nx.gnp_random_graph(int(rng.integers(10, 20)), p, seed=int(rng.integers(1 << 30)))
        share = 0.5 + rate * (0.4 if label else -0.4)
        nx.set_node_attributes(graph, {v: "ab"[int(rng.random() < share)] for v in graph}, "color")
        graphs.append(graph)
    label = nature(az.GraphSet.from_networkx(graphs, color="color"), y)
    assert label.shape_suffices is suffices
    add = label.comparison("shape", "shares", "right")
    gain = label.probe("shares").accuracy - label.probe("shape").accuracy
    assert add.gain == pytest.approx(gain)
    assert add.most == pytest.approx(gain + 2 * add.standard_error)
