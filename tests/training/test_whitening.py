"""Whitening: unit covariance where there are rows enough, plain scaling where there are not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import sqrtm

from anysize.training.whitening import fit_whitening


def correlated(rows: int, columns: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    mixing = np.eye(columns) + 0.5 * rng.normal(size=(columns, columns))
    return rng.normal(size=(rows, columns)) @ mixing * rng.uniform(1e-4, 10, columns) + 3


def test_is_the_inverse_root_of_the_shrunk_correlation() -> None:
    table = correlated(200, 4)
    found = fit_whitening(table)
    scaled = (table - table.mean(0)) / table.std(0)
    correlation = (1 - 4 / 200) * np.corrcoef(table.T) + 4 / 200 * np.eye(4)
    np.testing.assert_allclose(found.apply(table), scaled @ np.linalg.inv(sqrtm(correlation).real), atol=1e-8)


def test_many_rows_become_uncorrelated() -> None:
    table = correlated(20_000, 5)
    np.testing.assert_allclose(np.cov(fit_whitening(table).apply(table).T), np.eye(5), atol=0.05)


@pytest.mark.parametrize("rows", [1, 3, 6])
def test_few_rows_are_scaled_only(rows: int) -> None:
    table = correlated(rows, 6)
    found = fit_whitening(table)
    assert (found.matrix == np.diag(np.diag(found.matrix))).all()
    deviations = found.apply(table).std(axis=0)
    assert np.allclose(deviations, 1 if rows > 1 else 0)


def test_weights_stand_for_repetitions() -> None:
    table = correlated(30, 3)
    repeats = np.arange(30) % 3 + 1
    one, two = fit_whitening(table, repeats.astype(float)), fit_whitening(np.repeat(table, repeats, axis=0))
    np.testing.assert_allclose(one.mean, two.mean)
    assert one.matrix.shape == (3, 3)  # the shrinkage differs: repetitions are no new graphs


def test_constant_columns_become_zero() -> None:
    table = np.column_stack([np.ones(50), correlated(50, 2)])
    assert np.abs(fit_whitening(table).apply(table)[:, 0]).max() < 1e-6
    assert np.isfinite(fit_whitening(np.ones((5, 2))).apply(np.ones((2, 2)))).all()
