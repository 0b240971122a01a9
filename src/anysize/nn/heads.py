"""From a graph's representation to logits: batch norm without own parameters, then a linear map or a small MLP."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from anysize.nn.layers import BatchNorm, Dropout, Linear


class MaskedLinear(Linear):
    """A linear map that sees some of its inputs only, another choice for each model: jumping knowledge on or off.

    ``mask`` (models, inputs, 1). Inputs that are masked away count neither in the result nor in the bounds of the
    starting weights, so that a model without jumping knowledge is the model that never had it.
    """

    mask: Tensor

    def __init__(self, models: int, inputs: int, outputs: int, mask: Tensor | None = None) -> None:
        super().__init__(models, inputs, outputs)
        self.register_buffer("mask", torch.ones(models, inputs, 1) if mask is None else mask)

    def bounds(self) -> dict[str, float]:
        limits = 1 / torch.sqrt(self.mask.sum(1, keepdim=True).clamp(min=1))
        return {"weight": limits, "bias": limits}

    @property
    def used(self) -> Tensor:
        return self.weight * self.mask

    def forward(self, x: Tensor) -> Tensor:
        return torch.baddbmm(self.bias, x, self.used)


class Head(nn.Module):
    """Batch norm (optional), then a linear map, or linear - ReLU - dropout - linear with ``hidden`` units."""

    def __init__(
        self, models: int, inputs: int, classes: int, hidden: int | None = None, dropout: float = 0.0,
        normalize: bool = True, mask: Tensor | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.norm = BatchNorm(models, inputs, affine=False) if normalize else None
        self.first = MaskedLinear(models, inputs, hidden or classes, mask)
        self.dropout = Dropout(models, dropout)
        self.last = Linear(models, hidden, classes) if hidden else None

    def forward(self, gamma: Tensor) -> tuple[Tensor, Tensor | None]:
        """Logits (models, graphs, classes), and the deviation of the representation where it was normalized."""
        deviation = None
        if self.norm is not None:
            gamma, deviation = self.norm.normalized(gamma)
        return self._above(gamma), deviation

    def _above(self, normalized: Tensor) -> Tensor:
        found = self.first(normalized)
        return found if self.last is None else self.last(self.dropout(torch.relu(found)))

    def slopes(self, deviation: Tensor | None) -> Tensor:
        """How fast what the head sees first moves with the representation: (models, inputs, classes or hidden).

        For a linear head this is d logits / d representation; an MLP sees a representation through its first map
        alone, so that a difference which that map does not see changes no logit.
        """
        weight = self.first.used
        return weight if deviation is None else weight / deviation.transpose(1, 2)

    @property
    def linear(self) -> bool:
        return self.last is None
