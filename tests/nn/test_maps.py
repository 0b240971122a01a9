"""Aggregations: rows taken from tables, and their gradients."""

from __future__ import annotations

import pytest
import torch

from anysize.nn.rows.maps import take_rows


@pytest.mark.parametrize("index", [[2, 0, 2, 1, 2], [[0, 0, 1], [2, 2, 2]]], ids=["shared", "by model"])
def test_rows_and_their_gradients_are_those_of_single_models(index: list[int] | list[list[int]]) -> None:
    h, rows = torch.rand(2, 3, 4, requires_grad=True), torch.tensor(index)
    outer = torch.rand(2, rows.shape[-1], 4)
    expected = torch.stack([table[own] for table, own in zip(h, rows.expand(2, -1), strict=True)])
    found = take_rows(h, rows)
    assert torch.equal(found, expected)
    slow, fast = (torch.autograd.grad(taken, h, outer)[0] for taken in (expected, found))
    torch.testing.assert_close(fast, slow)
