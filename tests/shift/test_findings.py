"""Findings of the whole diagnosis on simulated shifts: what is planted is found, and nothing else."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from shift.helpers import blocks, erdos_renyi, rings
from shift.rates import BLOCKS, SMALL, TWO, TWO_EXCHANGED, Side, grown

import anysize as az
from anysize.paper.tasks import TASKS
from anysize.shift.colors import compute_shares, merge_roles
from anysize.shift.findings import SUBJECTS, Findings


def shifts(findings: Findings) -> list[str]:
    return [question.subject for question in findings.questions if question.found]


def test_one_distribution_raises_alarms_at_most_at_the_level() -> None:
    alarms, smallest = 0, []
    for seed in range(40):
        train, new = (blocks(range(15, 31), 60, (seed, part)).with_y(None) for part in (0, 1))
        found = az.diagnose(train, new, k=3, seed=seed).findings
        subjects = [question.subject for question in found.questions]
        assert subjects == ["sizes", "colors", "plain densities", "colored densities"]
        alarms += found.found(*SUBJECTS)
        smallest.append(min(question.p for question in found.questions))
    assert alarms <= 5  # of 40: more would happen once in seventy times at 5 %
    assert min(smallest) < 0.05
    assert np.median(smallest) < 0.5


@pytest.mark.parametrize("name", ["sbm-20", "sbm-14-20", "sbm-20-30", "sbm-color"])
def test_the_block_tasks_shift_sizes_and_exchangeable_colors(name: str) -> None:
    splits = TASKS[name].splits(7)
    assert splits.validation is not None
    report = az.diagnose(splits.train + splits.validation, splits.test)
    found = report.findings
    assert found.sizes_shifted
    assert found.sizes.disjoint
    assert found.sizes.within == 0.0
    assert found.sizes.ratio == 40 / np.median((splits.train + splits.validation).sizes)
    assert found.colors is not None
    assert found.colors.test.distance == pytest.approx(0.8, abs=0.05)
    assert set(found.colors.roles or ()) == {("blue", "red"), ("green", "yellow")}
    assert found.within_roles is True
    assert found.found("colored densities")
    assert not found.beyond_size
    assert (report.advice.call, report.advice.family) == ("az.GraphClassifier()", "gamma")


@pytest.mark.parametrize("name", ["er-single", "er-multi"])
def test_the_erdos_renyi_tasks_shift_sizes_alone(name: str) -> None:
    splits = TASKS[name].splits(7)
    report = az.diagnose(splits.train, splits.test)
    assert shifts(report.findings) == ["sizes"]
    assert report.findings.colors is None
    assert report.findings.sparsity.kind == "dense"
    assert (report.advice.call, report.advice.family) == ("az.GraphClassifier()", "gamma")


@pytest.mark.parametrize(("sizes", "subjects"), [((20,), ["plain densities"]), ((40,), ["sizes", "plain densities"])])
def test_a_changed_density_is_found(sizes: tuple[int, ...], subjects: list[str]) -> None:
    found = az.diagnose(erdos_renyi(0.1, (20,), 80, 1), erdos_renyi(0.15, sizes, 80, 2), k=3).findings
    assert shifts(found) == subjects
    first = found.families[0].patterns[0]
    assert first.judgment == "beyond size"
    assert first.new > first.train
    same = az.diagnose(erdos_renyi(0.1, (20,), 80, 3), erdos_renyi(0.1, sizes, 60, 5), k=3).findings
    assert not same.beyond_size


def test_densities_of_sparse_graphs_fall_with_size_without_a_shift() -> None:
    same = az.diagnose(rings(20, 40, 80, 1), rings(60, 90, 50, 2)).findings
    assert same.sparsity.kind == "sparse"
    assert same.sparsity.exponent == pytest.approx(-1.0, abs=0.05)
    assert not same.beyond_size
    assert same.families[0].number("size may explain") >= 5
    assert same.families[0].patterns[0].p_constant < 1e-6
    other = az.diagnose(rings(20, 40, 80, 1), rings(60, 90, 50, 3, rewired=0.5)).findings
    assert other.found("connected shares")
    assert {"diamond", "triangle"} & {one.pattern for one in other.families[1].patterns if one.q <= 0.05}


def test_sparse_graphs_of_the_same_sizes_are_compared_directly() -> None:
    assert not az.diagnose(rings(20, 40, 80, 4), rings(20, 40, 80, 5)).findings.found(*SUBJECTS)
    assert az.diagnose(rings(20, 40, 80, 4), rings(20, 40, 80, 6, rewired=0.3)).findings.beyond_size


def test_balanced_blocks_differ_by_what_finite_sizes_explain() -> None:
    """Two cliques of exactly half of the vertices: edge densities of 9/19 and 19/39, always."""
    cliques = az.BlockModel(within=(1.0, 1.0), between=0.0)
    small, large = (side.draw(400, (0, 0)) for side in grown(Side((cliques,), SMALL, balanced=True)))
    found = az.diagnose(small, large, k=3).findings
    edge = next(item for item in found.families[0].patterns if item.pattern == "edge")
    assert (edge.train, edge.new) == pytest.approx((9 / 19, 19 / 39))
    assert edge.p_constant < 1e-4
    assert edge.judgment == "size may explain"
    assert not found.beyond_size


def test_a_shift_of_blocks_is_a_shift_of_roles() -> None:
    uneven = [az.BlockModel(within=(0.2, 0.2), between=0.1, shares=(0.8, 0.2))]
    even = [az.BlockModel(within=(0.2, 0.2), between=0.1)]
    train, new = blocks((25,), 100, 1, graphons=even), blocks((25,), 100, 2, graphons=uneven)
    found = az.diagnose(train.with_y(None), new, k=3).findings
    assert found.found("colors")
    assert found.within_roles is False
    assert found.colors is not None
    assert found.colors.role_test is not None
    assert found.colors.role_test.distance == pytest.approx(0.3, abs=0.06)


def test_colors_that_change_their_place_are_found_in_colored_patterns() -> None:
    """The shares stay the same, but a part of each block has the color of the other."""
    train = ({"red": 0.8, "blue": 0.2}, {"green": 1.0})
    other = ({"red": 0.8, "green": 0.2}, {"green": 0.8, "blue": 0.2})
    graphons = [az.BlockModel(within=(0.6, 0.6), between=0.05)]
    sets = [blocks((20,), 100, seed, colors, graphons).with_y(None) for seed, colors in ((1, train), (2, other))]
    found = az.diagnose(*sets, k=3).findings
    assert shifts(found) == ["colored densities"]


def test_colors_unseen_in_training() -> None:
    purple = ({"red": 0.6, "purple": 0.4}, {"green": 1.0})
    report = az.diagnose(blocks((20,), 60, 1).with_y(None), blocks((20,), 60, 2, purple), k=3)
    colors = report.findings.colors
    assert colors is not None
    assert colors.unseen == ("purple",)
    assert colors.unseen_share == pytest.approx(0.2, abs=0.03)
    assert set(colors.missing) == {"blue", "yellow"}
    assert report.findings.within_roles is False


def test_colors_too_rare_for_a_role() -> None:
    train = Side(BLOCKS, SMALL, TWO).draw(30, (0, 0))
    found = az.diagnose(train, Side(BLOCKS, (40,), TWO_EXCHANGED).draw(30, (0, 1)), k=3).findings
    assert found.within_roles is None
    assert found.colors is not None
    assert found.colors.roles is None
    assert "too rare" in found.colors.roles_unknown
    uneven = az.BlockModel(within=(0.2, 0.2), between=0.1, shares=(0.8, 0.2))
    assert (
        az.diagnose(train, Side((uneven,), (40,), TWO_EXCHANGED).draw(30, (0, 2)), k=3).findings.within_roles is False
    )


def test_many_colors_are_compared_without_roles() -> None:
    rng = np.random.default_rng(0)

    def color(shares: np.ndarray, seed: int) -> az.GraphSet:
        plain = erdos_renyi(0.3, (12,), 60, seed)
        names = [f"c{code:03}" for code in rng.choice(400, size=int(plain.first[-1]), p=shares)]
        edges = [plain.edges(g) for g in range(len(plain))]
        return az.GraphSet.from_edges(edges, n_vertices=[12] * 60, colors=np.split(np.array(names), 60))

    first, second = np.full(400, 1 / 400), np.where(np.arange(400) < 200, 1.5, 0.5) / 400
    found = az.diagnose(color(first, 1), color(second, 2), k=3).findings
    assert found.found("colors")
    assert found.colors is not None
    assert found.colors.roles is None
    assert found.within_roles is None


@pytest.mark.parametrize(
    ("train", "new", "shifted", "disjoint"),
    [
        (range(20, 40), range(20, 40), False, False),
        (range(20, 40), range(30, 60), True, False),
        (range(40, 60), range(10, 20), True, True),
    ],
)
def test_sizes(train: range, new: range, shifted: bool, disjoint: bool) -> None:
    found = az.diagnose(erdos_renyi(0.3, train, 80, 1), erdos_renyi(0.3, new, 80, 2), k=3).findings
    assert (found.sizes_shifted, found.sizes.disjoint) == (shifted, disjoint)
    assert found.sizes.ratio == pytest.approx(np.mean(new) / np.mean(train), rel=0.15)


def test_one_new_graph_is_enough() -> None:
    train = erdos_renyi(0.2, range(20, 30), 50, 1)
    assert not az.diagnose(train, erdos_renyi(0.2, (25,), 1, 2), k=3).findings.found(*SUBJECTS)
    assert az.diagnose(train, erdos_renyi(0.7, (25,), 1, 2), k=3).findings.beyond_size
    giant = az.diagnose(train[:4], erdos_renyi(0.2, (200,), 1, 2), k=3).findings
    assert giant.sizes.far
    assert giant.sizes_shifted


def test_graphs_without_enough_vertices_are_left_out_and_counted() -> None:
    dots = az.GraphSet.from_edges([[], [(0, 1)]], n_vertices=[1, 3])
    train, new = erdos_renyi(0.3, (10, 12), 30, 1), erdos_renyi(0.3, (10, 12), 30, 2)
    with_dots = az.diagnose(train + dots, new + dots[0], k=4).findings
    assert with_dots.too_small == (2, 1)
    assert with_dots.families == az.diagnose(train, new, k=4).findings.families


def test_labels_of_the_new_graphs_are_not_used() -> None:
    train, new = blocks((15, 20), 40, 1), blocks((15, 20), 40, 2)
    assert az.diagnose(train, new) == az.diagnose(train, new.with_y([f"class {i}" for i in range(40)]))


def test_the_order_of_graphs_and_of_vertices_does_not_matter() -> None:
    train, new = erdos_renyi(0.2, range(15, 25), 30, 1), erdos_renyi(0.25, range(15, 25), 30, 2)
    turned = az.GraphSet.from_networkx(
        [nx.relabel_nodes(graph, {v: -v for v in graph}) for graph in reversed(train.to_networkx())]
    )
    one, two = az.diagnose(train, new).findings.families[0], az.diagnose(turned, new).findings.families[0]
    assert [item.pattern for item in one.patterns] == [item.pattern for item in two.patterns]
    assert [item.p for item in one.patterns] == pytest.approx([item.p for item in two.patterns])


def test_shares_and_roles_of_colors() -> None:
    path = az.GraphSet.from_edges([[(0, 1)], [(0, 1), (1, 2)]], colors=[["b", "b"], ["a", "b", "c"]])
    assert compute_shares(path).tolist() == [[0, 1, 0], [1 / 3, 1 / 3, 1 / 3]]
    merged = merge_roles(path, (("a",), ("b", "c")))
    assert merged.palette == ("a", "b+c")
    assert merged.color_names(1) == ("a", "b+c", "b+c")
