"""The hypothesis tests, compared with scipy and with simulated data."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import false_discovery_control, kstest, ttest_ind
from scipy.stats import t as student

from anysize.shift.hypothesis_tests import (
    DensityTable,
    ShareDifference,
    adjust_benjamini_hochberg,
    adjust_holm,
    compare_means,
    compare_shares,
    compute_p,
)

MANY_SUBSETS = 1e30  # so many that the variance of independent copies is 0


def table(values: np.ndarray, subsets: float = MANY_SUBSETS) -> DensityTable:
    return DensityTable(values, np.full(values.shape, subsets), np.full(len(values), 20.0))


def test_equal_weights_give_the_values_of_scipy_and_larger_weights_smaller_ones() -> None:
    p = np.random.default_rng(0).random(50) ** 2
    assert adjust_benjamini_hochberg(p) == pytest.approx(false_discovery_control(p))
    assert adjust_benjamini_hochberg(p, np.full(50, 3.0)) == pytest.approx(false_discovery_control(p))
    assert adjust_benjamini_hochberg([0.04, 0.5], [1.0, 0.0001])[0] < 0.05 < adjust_benjamini_hochberg([0.04, 0.5])[0]


def test_holm_goes_down_step_by_step() -> None:
    p = np.random.default_rng(1).random(20) ** 3
    expected, worst = np.empty(20), 0.0
    for rank, place in enumerate(np.argsort(p)):
        worst = max(worst, p[place] * (20 - rank))
        expected[place] = min(worst, 1.0)
    assert adjust_holm(p) == pytest.approx(expected)
    assert (adjust_holm(p) >= adjust_benjamini_hochberg(p) - 1e-12).all()


def test_the_difference_of_means_is_welchs_test() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(0, 1, (30, 8)), rng.normal(0.3, 3, (50, 8))
    found = compare_means(table(a), table(b))
    expected = ttest_ind(b, a, equal_var=False)
    assert found.p == pytest.approx(expected.pvalue)
    assert found.difference / found.error == pytest.approx(expected.statistic)


def test_a_few_copies_raise_no_false_alarm() -> None:
    """Small graphs have four copies in all, larger ones many: the plain test is wrong there."""
    rng = np.random.default_rng(3)
    small, large = rng.poisson(0.05, (80, 2000)) / 100.0, rng.poisson(1.0, (100, 2000)) / 2000.0
    assert np.mean(ttest_ind(large, small, equal_var=False).pvalue < 0.05) > 0.09
    assert 0.005 < np.mean(compare_means(table(small, 100.0), table(large, 2000.0)).p < 0.05) < 0.05


@pytest.mark.parametrize("amount", [1, 3, 10])
def test_few_new_graphs_use_the_variance_of_the_training_graphs(amount: int) -> None:
    rng = np.random.default_rng(4)
    p = compare_means(table(rng.normal(0, 1, (60, 3000))), table(rng.normal(0, 1, (amount, 3000)))).p
    assert (0.03 if amount == 10 else 0.008) < np.mean(p < 0.05) < 0.07


@pytest.mark.parametrize("swapped", [False, True])
def test_few_small_graphs_scale_the_variance_of_large_ones(swapped: bool) -> None:
    """Three graphs with 91 pairs, sixty with 780: equal rates, variances as different as the numbers of pairs."""
    rng = np.random.default_rng(5)
    few, many = rng.binomial(91, 0.3, (3, 3000)) / 91.0, rng.binomial(780, 0.3, (60, 3000)) / 780.0
    sets = table(few, 91.0), table(many, 780.0)
    assert np.mean(compare_means(*(sets[::-1] if swapped else sets)).p < 0.05) < 0.05
    assert np.mean(compare_means(table(many, 780.0), table(few, 780.0)).p < 0.05) > 0.2  # without the scale


def test_a_slack_is_the_largest_p_value_inside_it() -> None:
    one, spread = np.array([2.5]), np.array([1.0])
    inside = [(student.sf(2.5 - m, 20) + student.sf(2.5 + m, 20)) for m in np.linspace(-1, 1, 41)]
    assert compute_p(one, spread, 20, 1.0)[0] == pytest.approx(max(inside))
    assert compute_p(one, spread, 20, 0.0) == pytest.approx(compute_p(-one, spread, 20))
    assert compute_p(np.array([0.1, 0.3]), np.zeros(2), 5, 0.2).tolist() == [1.0, 0.0]


def test_columns_that_do_not_vary() -> None:
    assert compute_p(np.array([0.0, 1.0]), np.zeros(2), 5).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("few", [2, 4, 8, 20])
def test_permutations_allow_for_other_variances_and_amounts(few: int) -> None:
    """Few small graphs, which vary much, and many large ones: the null holds, and the test keeps its level."""
    p = []
    ratio = 6 if few == 20 else 2
    sizes = np.repeat([10, 10 * ratio**2], [few, 80])
    for seed in range(150):
        rng = np.random.default_rng(seed)
        shares = np.vstack([rng.normal(0.5, 0.05 * ratio, (few, 3)), rng.normal(0.5, 0.05, (80, 3))])
        p.append(compare_shares(shares, sizes, few, seed, 99).p)
    assert np.mean(np.array(p) <= 0.05) < 0.11
    assert kstest(p, "uniform").statistic < 0.2


def test_permutations_find_a_difference_and_measure_it() -> None:
    rng = np.random.default_rng(5)
    first = rng.dirichlet((8, 1, 1), 50)
    second = rng.dirichlet((1, 8, 1), 60)
    found = compare_shares(np.vstack([first, second]), np.full(110, 9), 50, 0, 199)
    assert found.distance == pytest.approx(np.abs(first.mean(0) - second.mean(0)).sum() / 2)
    assert found.distance > 5 * found.expected
    assert found.p == 1 / 200


def test_one_new_graph_and_shares_that_never_vary() -> None:
    constant = compare_shares(np.tile([0.5, 0.5], (20, 1)), np.full(20, 9), 19, 0, 99)
    assert constant == ShareDifference(distance=0.0, expected=0.0, p=1.0)
    odd = np.vstack([np.tile([0.5, 0.5], (19, 1)), [[1.0, 0.0]]])
    found = compare_shares(odd, np.full(20, 9), 19, 0, 399)
    assert found.distance == 0.5
    assert found.p < 0.1  # one of twenty graphs
