"""Positive and negative controls of the whole diagnosis: what is planted is found, what is not is not."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from diagnosis.helpers import blocks, erdos_renyi, rings

import anysize as az
from anysize.diagnosis.colors import by_role, color_shares
from anysize.tasks.catalog import TASKS

SEEDS = range(40)


def test_the_same_distribution_raises_no_alarm() -> None:
    """Forty pairs of sets of one kind: alarms in the whole report no more often than the level of 5 % allows."""
    alarms, smallest = 0, []
    for seed in SEEDS:
        train, new = (blocks(range(15, 31), 60, (seed, part)).with_y(None) for part in (0, 1))
        found = az.diagnose(train, new, k=3, seed=seed).findings
        assert [question.subject for question in found.questions] == [
            "sizes", "colors", "plain densities", "colored densities",
        ]  # fmt: skip
        alarms += not found.nothing_found
        smallest.append(min(question.p for question in found.questions))
    assert alarms <= 5  # of 40: more would happen once in seventy times at 5 %
    assert min(smallest) < 0.05  # the questions are asked in earnest
    assert np.median(smallest) < 0.5


@pytest.mark.parametrize("name", ["sbm-20", "sbm-14-20", "sbm-20-30", "sbm-color"])
def test_the_block_tasks_shift_sizes_and_exchangeable_colors(name: str) -> None:
    splits = TASKS[name].splits(7)
    assert splits.validation is not None
    diagnosis = az.diagnose(splits.train + splits.validation, splits.test)
    found, advice = diagnosis.findings, diagnosis.advice
    assert found.sizes.verdict == "disjoint"
    assert found.sizes.within == 0.0
    assert found.sizes.ratio == 40 / np.median((splits.train + splits.validation).sizes)
    assert found.colors is not None
    assert found.colors.distance == pytest.approx(0.8, abs=0.05)
    assert set(found.colors.roles or ()) == {("blue", "red"), ("green", "yellow")}
    assert found.within_roles is True
    assert found.found("colored densities")
    assert not found.beyond_size
    assert advice.method == "gamma-gin"
    assert "penalty=0" not in advice.call
    assert advice.trust == "with care"


@pytest.mark.parametrize("name", ["er-single", "er-multi"])
def test_the_erdos_renyi_tasks_shift_sizes_alone(name: str) -> None:
    splits = TASKS[name].splits(7)
    diagnosis = az.diagnose(splits.train, splits.test)
    found = diagnosis.findings
    assert found.sizes.verdict == "disjoint"
    assert found.colors is None
    assert [question.subject for question in found.questions if question.found] == ["sizes"]
    assert found.sparsity.kind == "dense"
    assert found.gap.unlike == 0.0
    assert found.gap.of_means < 0.05 < found.gap.typical  # classes differ, sets do not
    assert all(promise.vacuous for promise in found.gap.promises if promise.kind == "paper")
    assert diagnosis.advice.call == 'az.GraphClassifier("gamma-gin", k=4)'


def test_a_planted_density_is_found_at_the_same_sizes() -> None:
    diagnosis = az.diagnose(erdos_renyi(0.1, range(15, 31), 80, 1), erdos_renyi(0.13, range(15, 31), 80, 2))
    found = diagnosis.findings
    assert [question.subject for question in found.questions if question.found] == ["plain densities"]
    first = found.families[0].patterns[0]
    assert first.judgment == "beyond size"
    assert first.new > first.train
    assert diagnosis.advice.trust == "do not trust"
    assert "beyond what sizes explain" in str(diagnosis)


def test_a_planted_density_is_found_among_larger_graphs() -> None:
    found = az.diagnose(erdos_renyi(0.1, (20,), 80, 3), erdos_renyi(0.15, (40,), 60, 4), k=3).findings
    assert found.sizes.verdict == "disjoint"
    assert found.found("plain densities")
    same = az.diagnose(erdos_renyi(0.1, (20,), 80, 3), erdos_renyi(0.1, (40,), 60, 5), k=3).findings
    assert not same.beyond_size


def test_densities_of_sparse_graphs_fall_and_that_is_no_shift() -> None:
    quiet = az.diagnose(rings(20, 40, 80, 1), rings(60, 90, 50, 2)).findings
    assert quiet.sparsity.kind == "sparse"
    assert quiet.sparsity.exponent == pytest.approx(-1.0, abs=0.05)
    assert not quiet.beyond_size
    assert quiet.families[0].number("size may explain") >= 5
    assert quiet.families[0].patterns[0].p_constant < 1e-6
    loud = az.diagnose(rings(20, 40, 80, 1), rings(60, 90, 50, 3, rewired=0.5)).findings
    assert loud.found("connected shares")
    changed = [item.pattern for item in loud.families[1].patterns if item.judgment == "beyond size"]
    assert "diamond" in changed or "triangle" in changed


def test_sparse_graphs_of_the_same_sizes_are_compared_directly() -> None:
    assert az.diagnose(rings(20, 40, 80, 4), rings(20, 40, 80, 5)).findings.nothing_found
    assert az.diagnose(rings(20, 40, 80, 4), rings(20, 40, 80, 6, rewired=0.3)).findings.beyond_size


def test_a_shift_of_blocks_is_a_shift_of_roles() -> None:
    uneven = [az.BlockModel(within=(0.2, 0.2), between=0.1, shares=(0.8, 0.2))]
    even = [az.BlockModel(within=(0.2, 0.2), between=0.1)]
    train, new = blocks((25,), 100, 1, graphons=even), blocks((25,), 100, 2, graphons=uneven)
    diagnosis = az.diagnose(train.with_y(None), new, k=3)
    found = diagnosis.findings
    assert found.found("colors")
    assert found.within_roles is False
    assert found.colors is not None
    assert found.colors.role_distance == pytest.approx(0.3, abs=0.06)
    assert "a shift beyond exchangeable colors" in str(diagnosis)


def test_colors_that_change_their_place_are_seen_in_colored_patterns() -> None:
    """The shares stay as they are, but a tenth of each block wears the color of the other."""
    train = ({"red": 0.8, "blue": 0.2}, {"green": 1.0})
    other = ({"red": 0.8, "green": 0.2}, {"green": 0.8, "blue": 0.2})
    graphons = [az.BlockModel(within=(0.6, 0.6), between=0.05)]
    sets = [blocks((20,), 100, s, c, graphons).with_y(None) for s, c in ((1, train), (2, other))]
    diagnosis = az.diagnose(*sets, k=3)
    found = diagnosis.findings
    assert not found.colors_moved
    assert not found.beyond_size
    assert found.found("colored densities")
    assert diagnosis.advice.trust == "with care"


def test_colors_that_training_never_saw() -> None:
    purple = ({"red": 0.6, "purple": 0.4}, {"green": 1.0})
    diagnosis = az.diagnose(blocks((20,), 60, 1).with_y(None), blocks((20,), 60, 2, purple), k=3)
    shift = diagnosis.findings.colors
    assert shift is not None
    assert shift.unseen == ("purple",)
    assert shift.unseen_share == pytest.approx(0.2, abs=0.03)
    assert set(shift.gone) == {"blue", "yellow"}
    assert diagnosis.advice.trust == "do not trust"
    assert "purple is a color that no training graph has" in str(diagnosis)


@pytest.mark.parametrize(
    ("train", "new", "verdict", "ratio"),
    [
        (range(20, 40), range(20, 40), "none", 1.0),
        (range(20, 40), range(30, 60), "overlapping", 1.5),
        (range(40, 60), range(10, 20), "disjoint", 0.3),
    ],
)
def test_verdicts_about_sizes(train: range, new: range, verdict: str, ratio: float) -> None:
    found = az.diagnose(erdos_renyi(0.3, train, 80, 1), erdos_renyi(0.3, new, 80, 2), k=3).findings
    assert found.sizes.verdict == verdict
    assert found.sizes_moved == (verdict != "none")
    assert found.sizes.ratio == pytest.approx(ratio, rel=0.15)
    assert sum(found.sizes.train_bins) == pytest.approx(1)
    assert sum(found.sizes.new_bins) == pytest.approx(1)


def test_one_new_graph_is_enough() -> None:
    train = erdos_renyi(0.2, range(20, 30), 50, 1)
    like = az.diagnose(train, erdos_renyi(0.2, (25,), 1, 2), k=3)
    assert like.findings.nothing_found
    unlike = az.diagnose(train, erdos_renyi(0.7, (25,), 1, 2), k=3)
    assert unlike.findings.beyond_size
    assert unlike.findings.gap.unlike == 1.0
    giant = az.diagnose(train[:4], erdos_renyi(0.2, (200,), 1, 2), k=3)
    assert giant.findings.sizes.verdict == "disjoint"  # no test is needed to see that


def test_graphs_without_enough_vertices_are_left_out_and_counted() -> None:
    dots = az.GraphSet.from_edges([[], [(0, 1)]], n_vertices=[1, 3])
    train, new = erdos_renyi(0.3, (10, 12), 30, 1), erdos_renyi(0.3, (10, 12), 30, 2)
    with_dots = az.diagnose(train + dots, new + dots[0], k=4)
    without = az.diagnose(train, new, k=4)
    assert with_dots.findings.too_small == (2, 1)
    assert with_dots.findings.families == without.findings.families
    told = "Graphs of fewer than 4 vertices are left out here: 2 of 32 in training, 1 of 31 new ones."
    assert told in str(with_dots).replace("\n    ", " ")


def test_labels_of_the_new_graphs_are_not_looked_at() -> None:
    train, new = blocks((15, 20), 40, 1), blocks((15, 20), 40, 2)
    assert str(az.diagnose(train, new)) == str(az.diagnose(train, new.with_y([f"class {i}" for i in range(40)])))


def test_the_order_of_graphs_and_of_vertices_does_not_matter_to_densities() -> None:
    train, new = erdos_renyi(0.2, range(15, 25), 30, 1), erdos_renyi(0.25, range(15, 25), 30, 2)
    turned = az.GraphSet.from_networkx(
        [nx.relabel_nodes(graph, {v: -v for v in graph}) for graph in reversed(train.to_networkx())]
    )
    one, two = az.diagnose(train, new).findings.families[0], az.diagnose(turned, new).findings.families[0]
    assert [item.pattern for item in one.patterns] == [item.pattern for item in two.patterns]
    assert [item.p for item in one.patterns] == pytest.approx([item.p for item in two.patterns])


def test_shares_and_roles_of_colors() -> None:
    path = az.GraphSet.from_edges([[(0, 1)], [(0, 1), (1, 2)]], colors=[["b", "b"], ["a", "b", "c"]])
    assert color_shares(path).tolist() == [[0, 1, 0], [1 / 3, 1 / 3, 1 / 3]]
    merged = by_role(path, (("a",), ("b", "c")))
    assert merged.palette == ("a", "b+c")
    assert merged.color_names(1) == ("a", "b+c", "b+c")


def test_many_colors_are_compared_without_roles() -> None:
    rng = np.random.default_rng(0)

    def painted(shares: np.ndarray, seed: int) -> az.GraphSet:
        plain = erdos_renyi(0.3, (12,), 60, seed)
        names = [f"c{code:03}" for code in rng.choice(400, size=int(plain.first[-1]), p=shares)]
        edges = [plain.edges(g) for g in range(len(plain))]
        return az.GraphSet.from_edges(edges, n_vertices=[12] * 60, colors=np.split(np.array(names), 60))

    first = np.full(400, 1 / 400)
    second = np.where(np.arange(400) < 200, 1.5, 0.5) / 400
    found = az.diagnose(painted(first, 1), painted(second, 2), k=3).findings
    assert found.found("colors")
    assert found.colors is not None
    assert found.colors.roles is None
    assert "at most 60 colors" in found.colors.no_roles
    assert found.within_roles is None
