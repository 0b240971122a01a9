"""The Triton kernels against the same steps in plain torch; on a CPU by Triton's interpreter, if it is installed."""

from __future__ import annotations

import os

import pytest
import torch
from scipy.sparse import csr_array

from anysize.nn import fused
from anysize.nn.layers import EPSILON, _Normalize
from anysize.nn.rows.aggregation import Sparse, _Extremes

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
if DEVICE == "cpu":
    os.environ["TRITON_INTERPRET"] = "1"  # before Triton is imported
pytest.importorskip("triton")


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("features", [1, 5, 32])
@pytest.mark.parametrize("weights", ["none", "shared", "by model"])
@pytest.mark.parametrize("relu", [False, True])
def test_normalization_and_its_gradient(features: int, weights: str, relu: bool) -> None:
    """Also where the mean is large, and where rows do not fill a tile."""
    models, rows = 2, 700
    x, outer = random(models, rows, features) * 0.5 + 100, random(models, rows, features, seed=1)
    scale, shift = random(models, 1, features, seed=2), random(models, 1, features, seed=3)
    share = None
    if weights != "none":
        share = torch.rand(models if weights == "by model" else 1, 1, rows, generator=torch.Generator().manual_seed(4))
        share = (share / share.sum(2, keepdim=True)).expand(models, 1, rows)
    given = [tensor.double().requires_grad_() for tensor in (x, scale, shift)]
    normal, mean, variance = _Normalize.apply(given[0], None if share is None else share.double(), *given[1:], relu)
    normal.backward(outer.double())

    x, outer, scale, shift = (tensor.to(DEVICE) for tensor in (x, outer, scale, shift))
    share = None if share is None else share.to(DEVICE)
    found_mean, found_variance = fused.moments(x, share)
    torch.testing.assert_close(found_mean.cpu().double(), mean, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(found_variance.cpu().double(), variance, rtol=1e-4, atol=1e-6)
    inverse = torch.rsqrt(found_variance + EPSILON)
    found = fused.normalize(x, scale * inverse, shift - found_mean * scale * inverse, relu)
    torch.testing.assert_close(found.cpu().double(), normal.detach(), rtol=1e-3, atol=1e-3)
    gradients = fused.normalize_gradients(outer, x, found_mean, inverse, scale, shift, share, relu)
    for ours, tensor in zip(gradients, given, strict=True):
        assert tensor.grad is not None
        torch.testing.assert_close(
            ours.cpu().double(), tensor.grad, rtol=1e-3, atol=2e-3 * float(tensor.grad.abs().max())
        )


def test_extremes_and_the_first_slots_that_have_them() -> None:
    x, index = (
        random(40, 600).round(decimals=1),
        torch.randint(0, 40, (7, 50), generator=torch.Generator().manual_seed(1)),
    )
    low, high, lowest, highest = (part.cpu() for part in fused.extremes(x.to(DEVICE), index.to(DEVICE)))
    expected = _Extremes.apply(x, index)
    assert torch.equal(low, expected[0])
    assert torch.equal(high, expected[1])
    taken = x[index]
    assert torch.equal(lowest.long(), taken.argmin(0))
    assert torch.equal(highest.long(), taken.argmax(0))


@pytest.mark.parametrize("density", [0.01, 0.5])
def test_sparse_products_of_rows_with_few_and_with_many_entries(density: float) -> None:
    dense = random(30, 500) * (torch.rand(30, 500, generator=torch.Generator().manual_seed(2)) < density)
    dense[4] = 0
    x = random(3, 500, 5, seed=1)
    few = (dense != 0).sum() <= fused.FEW_ENTRIES * 30
    assert few == (density < 0.1)
    assert few or (dense != 0).sum(1).max() > 128
    matrix = csr_array(dense.numpy())
    found = fused.sparse_product(Sparse.of(matrix).matrix.to(DEVICE), x.to(DEVICE))
    torch.testing.assert_close(found.cpu(), dense @ x)


def test_kernels_that_work_are_used() -> None:
    assert fused._works(DEVICE)
