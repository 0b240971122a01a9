"""Power laws of densities: the fit, its errors, and predictions for other sizes."""

from __future__ import annotations

import numpy as np
import pytest

from anysize.shift.hypothesis_tests import DensityTable
from anysize.shift.power_laws import (
    compare_with_best_exponent,
    compare_with_prediction,
    find_fittable,
    fit_power_law,
)

RNG = np.random.default_rng(0)
SIZES = RNG.integers(10, 40, 150).astype(float)
LARGE = RNG.integers(60, 90, 50).astype(float)
PATTERNS = 400


def copies(sizes: np.ndarray, rate: float, exponent: float, rng: np.random.Generator) -> DensityTable:
    """Independent copies of patterns of four vertices, density rate * N^exponent."""
    subsets = np.tile((sizes**4 / 24)[:, None], (1, PATTERNS))
    return DensityTable(rng.poisson(rate * sizes[:, None] ** exponent * subsets) / subsets, subsets, sizes)


def exact(densities: np.ndarray, sizes: np.ndarray) -> DensityTable:
    return DensityTable(densities[:, None], np.full((len(sizes), 1), 1e12), sizes)


def two_sets(
    seed: int, rate: float, exponent: float, new_rate: float | None = None
) -> tuple[DensityTable, DensityTable]:
    rng = np.random.default_rng(seed)
    return copies(SIZES, rate, exponent, rng), copies(LARGE, new_rate or rate, exponent, rng)


@pytest.mark.parametrize("exponent", [-3.0, -1.0, 0.0, 0.7])
def test_an_exact_power_law_is_recovered(exponent: float) -> None:
    law = fit_power_law(exact(0.2 * SIZES**exponent, SIZES))
    assert law.coefficients[0, 1] == pytest.approx(exponent, abs=1e-7)
    assert law.predict(LARGE)[:, 0] == pytest.approx(0.2 * LARGE**exponent, rel=1e-6)


def test_the_fit_solves_its_equation_and_its_errors_are_calibrated() -> None:
    table = copies(SIZES, 4.0, -3.0, np.random.default_rng(1))
    law = fit_power_law(table)
    residual = SIZES[:, None] * (table.values / law.predict(SIZES) - 1)
    assert np.abs(residual.sum(0)).max() < 1e-4
    assert np.abs((residual * np.log(SIZES)[:, None]).sum(0)).max() < 1e-4
    scores = (law.coefficients[:, 1] + 3.0) / np.sqrt(law.covariances[:, 1, 1])
    assert 0.9 < np.mean(np.abs(scores) < 2) < 0.98
    assert np.std(scores) == pytest.approx(1.0, abs=0.15)


def test_a_fit_needs_different_sizes_and_copies() -> None:
    def fittable(densities: np.ndarray, sizes: np.ndarray) -> list[bool]:
        return find_fittable(DensityTable(densities, np.ones_like(densities), sizes)).tolist()

    densities = np.ones((150, 2))
    densities[SIZES > 20, 1] = 0.0
    assert fittable(densities, SIZES) == [True, False]
    assert fittable(densities, np.full(150, 20.0)) == [False, False]
    assert fittable(densities, np.where(SIZES > 20, 21.0, 20.0)) == [False, False]  # too similar
    assert fittable(densities[:, :1], np.where(np.arange(150) % 3 == 0, 20.0, 14.0)) == [True]


@pytest.mark.parametrize(("rate", "exponent"), [(0.005, 0.0), (4.0, -3.0), (60.0, -4.0)])
def test_densities_on_the_trend_are_not_significant(rate: float, exponent: float) -> None:
    ratio, p = compare_with_prediction(*two_sets(3, rate, exponent))
    assert np.mean(p < 0.05) < 0.06
    assert np.median(ratio) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize(("new_rate", "factor"), [(10.0, 2.5), (1.0, 0.25)])
def test_densities_off_the_trend_are_significant(new_rate: float, factor: float) -> None:
    ratio, p = compare_with_prediction(*two_sets(4, 4.0, -3.0, new_rate))
    assert np.mean(p < 0.05) > 0.7
    assert np.median(ratio) == pytest.approx(factor, rel=0.15)


def test_the_error_includes_the_misfit_of_the_power_law() -> None:
    """Counts of N - 3 (paths) follow no power law; predicting half of the sizes from the others shows by how much."""
    ratio, p = compare_with_prediction(exact((SIZES - 3) / SIZES**4, SIZES), exact((LARGE - 3) / LARGE**4, LARGE))
    assert ratio[0] != pytest.approx(1.0, abs=0.01)
    assert p[0] > 0.05


def test_rare_patterns_may_have_any_exponent_in_a_range() -> None:
    limits = np.full(PATTERNS, -1.0), np.full(PATTERNS, 1.0)
    for exponent in (-1.0, 0.0, 1.0):
        p = compare_with_best_exponent(*two_sets(5, 2e-3 * 30.0**-exponent, exponent), limits)
        assert np.mean(p < 0.05) < 0.08
    assert (compare_with_best_exponent(*two_sets(6, 1e-9, 0.0, 1e-3), limits) < 0.001).all()
