"""One Adam for many learning rates."""

from __future__ import annotations

import torch
from torch import nn

from anysize.training.optimizer import StackAdam

RATES = [0.1, 0.01, 0.003]


def test_each_model_steps_as_torch_adam_would() -> None:
    source = torch.Generator().manual_seed(0)
    start = [torch.randn(3, 4, 5, generator=source), torch.randn(3, 1, 5, generator=source)]
    ours = [nn.Parameter(tensor.clone()) for tensor in start]
    optimizer = StackAdam(ours, RATES)
    theirs = [[nn.Parameter(tensor[model].clone()) for tensor in start] for model in range(3)]
    others = [torch.optim.Adam(parts, lr=rate) for parts, rate in zip(theirs, RATES, strict=True)]
    for step in range(50):
        scale = 10 ** float(torch.randn((), generator=source))  # gradients of very different sizes
        for place, parameter in enumerate(ours):
            gradient = torch.randn(parameter.shape, generator=source) * scale
            parameter.grad = gradient.clone()
            for model in range(3):
                theirs[model][place].grad = gradient[model].clone()
        factor = 1 / (1 + step)
        optimizer.step(factor)
        for other, rate in zip(others, RATES, strict=True):
            other.param_groups[0]["lr"] = rate * factor
            other.step()
        for place, parameter in enumerate(ours):
            assert parameter.grad is None, "gradients are cleared"
            expected = torch.stack([theirs[model][place] for model in range(3)])
            torch.testing.assert_close(parameter.detach(), expected.detach(), rtol=1e-5, atol=1e-6, msg=f"step {step}")


def test_released_parameters_have_their_own_memory() -> None:
    parameters = [nn.Parameter(torch.full((3, size), float(size))) for size in (100, 5)]
    optimizer = StackAdam(parameters, RATES)
    assert [parameter.untyped_storage().nbytes() for parameter in parameters] == [4 * (320 + 64)] * 2
    optimizer.release()
    assert [parameter.untyped_storage().nbytes() for parameter in parameters] == [4 * 300, 4 * 15]
    assert [parameter.unique().tolist() for parameter in parameters] == [[100.0], [5.0]]


def test_a_parameter_without_gradient_stays() -> None:
    used, unused = nn.Parameter(torch.ones(2, 3)), nn.Parameter(torch.ones(2, 3))
    optimizer = StackAdam([used, unused], [0.1, 0.2])
    for _ in range(3):
        (used**2).sum().backward()
        optimizer.step()
    assert torch.equal(unused.detach(), torch.ones(2, 3))
    torch.testing.assert_close(used.detach()[:, 0], torch.tensor([0.7, 0.4]), rtol=0, atol=0.02)
