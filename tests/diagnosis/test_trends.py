"""Power laws of densities: the fit, its errors, and what is beyond them."""

from __future__ import annotations

import numpy as np
import pytest

from anysize.diagnosis.trends import Sides, fit_trend, fittable, free_trend_test, trend_test

RNG = np.random.default_rng(0)
SIZES = RNG.integers(10, 40, 150).astype(float)
LARGE = RNG.integers(60, 90, 50).astype(float)
PATTERNS = 400


def copies(sizes: np.ndarray, rate: float, exponent: float, k: int, rng: np.random.Generator, patterns: int = PATTERNS):
    """Counts that fall independently, density rate * N^exponent: (densities, ways)."""
    ways = np.tile((sizes**k / 24)[:, None], (1, patterns))
    return rng.poisson(rate * sizes[:, None] ** exponent * ways) / ways, ways


def sides(seed: int, rate: float, exponent: float, new_rate: float | None = None, new_exponent: float | None = None):
    rng = np.random.default_rng(seed)
    train, ways = copies(SIZES, rate, exponent, 4, rng)
    new, new_ways = copies(LARGE, new_rate or rate, exponent if new_exponent is None else new_exponent, 4, rng)
    return Sides(train, new, SIZES, LARGE, ways, new_ways)


@pytest.mark.parametrize("exponent", [-3.0, -1.0, 0.0, 0.7])
def test_an_exact_power_law_is_found(exponent: float) -> None:
    d = (0.2 * SIZES**exponent)[:, None]
    trend = fit_trend(d, SIZES, np.full_like(d, 1e12))
    assert trend.exponents[0] == pytest.approx(exponent, abs=1e-7)
    assert trend.predict(LARGE)[:, 0] == pytest.approx(0.2 * LARGE**exponent, rel=1e-6)


def test_the_fit_solves_its_equation_and_its_errors_are_right() -> None:
    d, ways = copies(SIZES, 4.0, -3.0, 4, np.random.default_rng(1))
    trend = fit_trend(d, SIZES, ways)
    residual = SIZES[:, None] * (d / trend.predict(SIZES) - 1)
    assert np.abs(residual.sum(0)).max() < 1e-4
    assert np.abs((residual * np.log(SIZES)[:, None]).sum(0)).max() < 1e-4
    off = (trend.exponents + 3.0) / trend.exponent_errors
    assert 0.9 < np.mean(np.abs(off) < 2) < 0.98
    assert np.std(off) == pytest.approx(1.0, abs=0.15)


def test_a_trend_needs_sizes_and_copies() -> None:
    d, _ = copies(SIZES, 4.0, -3.0, 4, np.random.default_rng(2), patterns=2)
    d[SIZES > 20, 1] = 0.0
    assert fittable(d, SIZES).tolist() == [True, False]
    assert not fittable(d, np.full(150, 20.0)).any()
    assert not fittable(d, np.where(SIZES > 20, 21.0, 20.0)).any()  # too alike
    two = np.where(np.arange(150) % 3 == 0, 20.0, 14.0)
    assert fittable(np.ones((150, 1)), two).all()


@pytest.mark.parametrize(("rate", "exponent"), [(0.005, 0.0), (4.0, -3.0), (60.0, -4.0)])
def test_what_follows_the_trend_is_not_beyond_it(rate: float, exponent: float) -> None:
    found = trend_test(sides(3, rate, exponent))
    assert np.mean(found.p < 0.05) < 0.06
    assert np.median(found.ratio) == pytest.approx(1.0, abs=0.1)


def test_what_leaves_the_trend_is_beyond_it() -> None:
    found = trend_test(sides(4, 4.0, -3.0, new_rate=10.0))
    assert np.mean(found.p < 0.05) > 0.7
    assert np.median(found.ratio) == pytest.approx(2.5, abs=0.3)
    found = trend_test(sides(4, 4.0, -3.0, new_rate=1.0))
    assert np.mean(found.p < 0.05) > 0.7
    assert np.median(found.effect) < 0


def test_a_law_that_bends_is_given_the_room_it_needs() -> None:
    """Counts of N - 3 (paths) are no power law: predicting half of the sizes from the others shows by how much."""
    d = ((SIZES - 3) / SIZES**4)[:, None]
    new = ((LARGE - 3) / LARGE**4)[:, None]
    ways = 1e12
    found = trend_test(Sides(d, new, SIZES, LARGE, np.full_like(d, ways), np.full_like(new, ways)))
    assert found.ratio[0] != pytest.approx(1.0, abs=0.01)
    assert found.p[0] > 0.05


def test_rare_patterns_may_follow_any_law_between_two() -> None:
    limits = (np.full(PATTERNS, -1.0), np.full(PATTERNS, 1.0))
    for exponent in (-1.0, 0.0, 1.0):
        law = 2e-3 * 30.0**-exponent
        p, _ = free_trend_test(sides(5, law, exponent), limits)
        assert np.mean(p < 0.05) < 0.08
    found = sides(6, 1e-9, 0.0, new_rate=1e-3)  # out of nothing
    p, effect = free_trend_test(found, limits)
    assert (p < 0.001).all()
    assert (effect > 0.5).all()
