"""The tests behind a diagnosis, against scipy and against simulated truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control, kstest, ttest_ind
from scipy.stats import t as student

from anysize.diagnosis import testing
from anysize.diagnosis.testing import (
    benjamini_hochberg,
    holm,
    in_deviations,
    mean_difference,
    permutation_test,
    simes,
    two_sided,
)


def test_adjusted_values_are_those_of_scipy() -> None:
    p = np.random.default_rng(0).random(50) ** 2
    assert benjamini_hochberg(p) == pytest.approx(false_discovery_control(p))
    assert simes(p) == pytest.approx(false_discovery_control(p).min())


def test_holm_goes_down_step_by_step() -> None:
    p = np.random.default_rng(1).random(20) ** 3
    expected, worst = np.empty(20), 0.0
    for rank, place in enumerate(np.argsort(p)):
        worst = max(worst, p[place] * (20 - rank))
        expected[place] = min(worst, 1.0)
    assert holm(p) == pytest.approx(expected)
    assert (holm(p) >= benjamini_hochberg(p) - 1e-12).all()


def test_nothing_asked_nothing_found() -> None:
    assert simes([]) == 1.0
    assert len(holm([])) == 0


def test_the_difference_of_means_is_welchs_test() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(0, 1, (30, 8)), rng.normal(0.3, 3, (50, 8))
    never = np.full(8, 1e30)  # so many ways that copies cannot be few
    found = mean_difference(a, b, np.tile(never, (30, 1)), np.tile(never, (50, 1)))
    expected = ttest_ind(b, a, equal_var=False)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.difference / found.error == pytest.approx(expected.statistic)


def rare(rng: np.random.Generator, expected: float, graphs: int, ways: float, patterns: int = 2000):
    return rng.poisson(expected, (graphs, patterns)) / ways, np.full((graphs, patterns), ways)


def test_a_handful_of_copies_raises_no_alarm() -> None:
    """Small graphs have four copies in all, larger ones many: the plain test is wrong there, ours is not."""
    rng = np.random.default_rng(3)
    small, large = rare(rng, 0.05, 80, 100.0), rare(rng, 1.0, 100, 2000.0)
    ours = mean_difference(small[0], large[0], small[1], large[1]).p
    plain = ttest_ind(large[0], small[0], equal_var=False).pvalue
    assert np.mean(plain < 0.05) > 0.09
    assert 0.005 < np.mean(ours < 0.05) < 0.05


@pytest.mark.parametrize("amount", [1, 3, 10])
def test_few_new_graphs_are_compared_with_the_spread_of_the_training_graphs(amount: int) -> None:
    rng = np.random.default_rng(4)
    a, b = rng.normal(0, 1, (60, 3000)), rng.normal(0, 1, (amount, 3000))
    p = mean_difference(a, b, np.full(a.shape, 1e30), np.full(b.shape, 1e30)).p
    # five degrees of freedom for the few: densities are less well-behaved than these numbers
    assert (0.03 if amount == 10 else 0.008) < np.mean(p < 0.05) < 0.07


@pytest.mark.parametrize("swapped", [False, True])
def test_few_small_graphs_do_not_borrow_the_small_variance_of_large_ones(swapped: bool) -> None:
    """Three sets of 91 pairs against sixty of 780: equal rates, and variances as different as the numbers of pairs."""
    rng = np.random.default_rng(5)
    few, many = np.full((3, 3000), 91.0), np.full((60, 3000), 780.0)
    a, b = rng.binomial(91, 0.3, few.shape) / few, rng.binomial(780, 0.3, many.shape) / many
    p = (mean_difference(b, a, many, few) if swapped else mean_difference(a, b, few, many)).p
    assert np.mean(p < 0.05) < 0.05
    borrowed = mean_difference(b, a, many, many[:3]).p  # as if they were as large
    assert np.mean(borrowed < 0.05) > 0.2


def test_a_slack_is_the_largest_p_value_inside_it() -> None:
    one, spread = np.array([2.5]), np.array([1.0])
    inside = [(student.sf(2.5 - m, 20) + student.sf(2.5 + m, 20)) for m in np.linspace(-1, 1, 41)]
    assert two_sided(one, spread, 20, 1.0)[0] == pytest.approx(max(inside))
    assert two_sided(one, spread, 20, 0.0) == pytest.approx(two_sided(-one, spread, 20))
    assert two_sided(np.array([0.1, 0.3]), np.zeros(2), 5, 0.2).tolist() == [1.0, 0.0]


def test_columns_that_do_not_vary() -> None:
    assert two_sided(np.array([0.0, 1.0]), np.zeros(2), 5).tolist() == [1.0, 0.0]
    assert in_deviations(np.array([0.0, -2.0]), np.zeros(2)).tolist() == [0.0, -10.0]


@pytest.mark.parametrize("few", [2, 4, 8, 20])
def test_regroupings_allow_for_other_variances_and_amounts(few: int) -> None:
    """Few small graphs, which vary much, and many large ones: the null holds, and the test keeps its level."""
    p = []
    ratio = 6 if few == 20 else 2
    sizes = np.repeat([10, 10 * ratio**2], [few, 80])
    for seed in range(150):
        rng = np.random.default_rng(seed)
        shares = np.vstack([rng.normal(0.5, 0.05 * ratio, (few, 3)), rng.normal(0.5, 0.05, (80, 3))])
        p.append(permutation_test(shares, sizes, few, 99, seed)[2])
    assert np.mean(np.array(p) <= 0.05) < 0.11
    assert kstest(p, "uniform").statistic < 0.2


def test_regroupings_find_a_difference_and_measure_it() -> None:
    rng = np.random.default_rng(5)
    first = rng.dirichlet((8, 1, 1), 50)
    second = rng.dirichlet((1, 8, 1), 60)
    distance, expected, p = permutation_test(np.vstack([first, second]), np.full(110, 9), 50, 199, 0)
    assert distance == pytest.approx(np.abs(first.mean(0) - second.mean(0)).sum() / 2)
    assert distance > 5 * expected
    assert p == 1 / 200


def test_regroupings_do_not_depend_on_how_many_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    shares = np.random.default_rng(6).random((30, 4))
    whole = permutation_test(shares, np.full(30, 9), 10, 50, 1)
    monkeypatch.setattr(testing, "CELLS_AT_ONCE", 90)
    assert permutation_test(shares, np.full(30, 9), 10, 50, 1) == pytest.approx(whole)


def test_one_new_graph_and_shares_that_never_vary() -> None:
    assert permutation_test(np.tile([0.5, 0.5], (20, 1)), np.full(20, 9), 19, 99, 0) == (0.0, 0.0, 1.0)
    odd = np.vstack([np.tile([0.5, 0.5], (19, 1)), [[1.0, 0.0]]])
    distance, _, p = permutation_test(odd, np.full(20, 9), 19, 399, 0)
    assert distance == 0.5
    assert p < 0.1  # one of twenty graphs
