"""Adam for a stack: the steps of torch.optim.Adam, with one learning rate per model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

BETAS, EPSILON = (0.9, 0.999), 1e-8
ALIGNMENT = 64  # every parameter starts at a multiple: matrix products of a GPU are slower on other addresses


class StackAdam:
    """Parameters have the models as their first axis, any shape for one model; ``rates``: a learning rate per model.

    The parameters become views of one list of values, so that a step is a few operations, not a few per parameter. Call
    `release` after the last step.
    """

    def __init__(self, parameters: Iterable[nn.Parameter], rates: Sequence[float]) -> None:
        self.parameters = [parameter for parameter in parameters if parameter.requires_grad]
        device = self.parameters[0].device
        rate = torch.tensor(list(rates), dtype=torch.float32, device=device)
        self.padding = [torch.zeros(-parameter.numel() % ALIGNMENT, device=device) for parameter in self.parameters]
        self.values = self._joined([parameter.detach() for parameter in self.parameters])
        start = 0
        for parameter, padding in zip(self.parameters, self.padding, strict=True):
            parameter.data = self.values[start : start + parameter.numel()].view_as(parameter)
            start += parameter.numel() + len(padding)
        self.rates = self._joined(
            [rate.repeat_interleave(parameter.numel() // len(rate)) for parameter in self.parameters]
        )
        self.mean, self.square = torch.zeros_like(self.values), torch.zeros_like(self.values)
        self.betas = torch.tensor(BETAS, device=device, dtype=torch.float64)
        self.decay = torch.ones_like(self.betas)  # the powers of the betas

    @torch.no_grad()
    def step(self, factor: Tensor | float = 1.0) -> None:
        """Update the parameters, with all learning rates times ``factor``, and clear the gradients."""
        self.decay *= self.betas
        rates = self.rates * factor
        gradients = []
        for parameter in self.parameters:
            gradients.append(torch.zeros_like(parameter) if parameter.grad is None else parameter.grad)
            parameter.grad = None
        gradient = self._joined(gradients)
        mean_correction, square_correction = (1 - self.decay).to(torch.float32)
        self.mean.lerp_(gradient, 1 - BETAS[0])
        self.square.mul_(BETAS[1]).addcmul_(gradient, gradient, value=1 - BETAS[1])
        divisor = (self.square.sqrt() / square_correction.sqrt()).add_(EPSILON)
        self.values.addcdiv_(self.mean * (rates / -mean_correction), divisor)

    def release(self) -> None:
        """Give every parameter its own memory again: pickling a view would write the whole list, once per parameter."""
        for parameter in self.parameters:
            parameter.data = parameter.data.clone()

    def _joined(self, tensors: Sequence[Tensor]) -> Tensor:
        """Tensors of the sizes of the parameters as one list, with padding after each."""
        pairs = zip(tensors, self.padding, strict=True)
        return torch.cat([part for tensor, padding in pairs for part in (tensor.reshape(-1), padding)])
