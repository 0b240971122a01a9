"""Counter-based random numbers: they depend on seed, step, position and stream only, and are uniform in each."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.stats import chi2, kstest

from anysize.nn.counter_rng import uniform

AMOUNT = 20_000


def drawn(seed: int, step: int = 0, stream: int = 0, amount: int = AMOUNT) -> np.ndarray:
    return uniform(torch.tensor([seed]), step, amount, stream)[0].numpy().astype(np.float64)


@pytest.mark.parametrize("seed", [0, 1, 42, 2**40, -3])
def test_uniform(seed: int) -> None:
    values = drawn(seed)
    assert values.min() >= 0
    assert values.max() < 1
    assert kstest(values, "uniform").pvalue > 1e-3
    cells, _, _ = np.histogram2d(values[:-1], values[1:], bins=10, range=((0, 1), (0, 1)))
    expected = (AMOUNT - 1) / 100
    assert chi2.sf(((cells - expected) ** 2 / expected).sum(), 99) > 1e-4  # neighbors are independent


def test_seeds_steps_and_streams_are_independent() -> None:
    rows = [drawn(0), drawn(1), drawn(0, step=1), drawn(0, stream=1), drawn(1, step=1), drawn(0, 2, 3)]
    correlations = np.corrcoef(rows) - np.eye(len(rows))
    assert np.abs(correlations).max() < 5 / np.sqrt(AMOUNT)


def test_a_fixed_position_is_uniform_over_steps() -> None:
    values = torch.cat([uniform(torch.tensor([9]), step, 3, stream=1) for step in range(1500)]).numpy()
    for place in range(3):
        assert kstest(values[:, place].astype(np.float64), "uniform").pvalue > 1e-3
    assert np.abs(np.corrcoef(values.T) - np.eye(3)).max() < 0.12


def test_a_row_does_not_depend_on_other_rows() -> None:
    seeds = torch.tensor([3, 4, 5])
    together = uniform(seeds, 7, 100, stream=2)
    for place in range(3):
        assert torch.equal(together[place : place + 1], uniform(seeds[place : place + 1], 7, 100, stream=2))
    assert torch.equal(together[:, :60], uniform(seeds, 7, 60, stream=2))  # nor on their number


def test_the_step_may_be_a_tensor() -> None:
    seeds = torch.tensor([11])
    assert torch.equal(uniform(seeds, torch.tensor(5), 10), uniform(seeds, 5, 10))
