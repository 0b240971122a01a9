"""Adam for a stack: the steps of torch.optim.Adam, with one learning rate per model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

BETAS, EPSILON = (0.9, 0.999), 1e-8


class StackAdam:
    """Parameters have the models as their first axis; ``rates`` is one learning rate per model."""

    def __init__(self, parameters: Iterable[nn.Parameter], rates: Sequence[float]) -> None:
        self.parameters = [parameter for parameter in parameters if parameter.requires_grad]
        device = self.parameters[0].device
        rate = torch.tensor(list(rates), dtype=torch.float32, device=device)
        self.rates = {
            dim: rate.view(-1, *[1] * (dim - 1)) for dim in {parameter.dim() for parameter in self.parameters}
        }
        self.mean = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.square = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.step_count = torch.zeros((), device=device, dtype=torch.float64)

    @torch.no_grad()
    def step(self, factor: Tensor | float = 1.0) -> None:
        """Update the parameters, with all learning rates times ``factor``, and clear the gradients."""
        self.step_count += 1
        mean_correction = (1 - BETAS[0] ** self.step_count).to(torch.float32)
        square_correction = torch.sqrt(1 - BETAS[1] ** self.step_count).to(torch.float32)
        gradients = [_gradient(parameter) for parameter in self.parameters]
        torch._foreach_lerp_(self.mean, gradients, 1 - BETAS[0])
        torch._foreach_mul_(self.square, BETAS[1])
        torch._foreach_addcmul_(self.square, gradients, gradients, 1 - BETAS[1])
        divisors = torch._foreach_sqrt(self.square)
        torch._foreach_div_(divisors, square_correction)
        torch._foreach_add_(divisors, EPSILON)
        rates = {dim: rate * factor / -mean_correction for dim, rate in self.rates.items()}
        moves = [mean * rates[mean.dim()] for mean in self.mean]
        torch._foreach_addcdiv_(self.parameters, moves, divisors)
        for parameter in self.parameters:
            parameter.grad = None


def _gradient(parameter: Tensor) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
