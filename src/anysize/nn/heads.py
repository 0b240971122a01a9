"""Heads: from the representation of a graph to logits, by batch norm without parameters and a linear map or an MLP."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from anysize.nn.layers import BatchNorm, Dropout, Linear


class MaskedLinear(Linear):
    """A linear map with a different set of inputs for each model: jumping knowledge on or off.

    ``mask`` (models, inputs, 1). Masked inputs count neither in the result nor in the bounds of the initial weights, so
    that a model without jumping knowledge is the same in a stack with and without jumping knowledge.
    """

    mask: Tensor

    def __init__(self, models: int, inputs: int, outputs: int, mask: Tensor | None = None) -> None:
        super().__init__(models, inputs, outputs)
        self.register_buffer("mask", torch.ones(models, inputs, 1) if mask is None else mask)

    def bounds(self) -> dict[str, float]:
        limits = 1 / torch.sqrt(self.mask.sum(1, keepdim=True).clamp(min=1))
        return {"weight": limits, "bias": limits}

    @property
    def masked_weight(self) -> Tensor:
        return self.weight * self.mask

    def forward(self, x: Tensor) -> Tensor:
        return torch.baddbmm(self.bias, x, self.masked_weight)


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
        """Logits (models, graphs, classes), and the standard deviation of the representation if it is normalized."""
        deviation = None
        if self.norm is not None:
            gamma, deviation = self.norm.normalized(gamma)
        logits = self.first(gamma)
        return (logits if self.last is None else self.last(self.dropout(torch.relu(logits)))), deviation

    def slopes(self, deviation: Tensor | None) -> Tensor:
        """Derivative of the first linear map by the representation: (models, inputs, classes or hidden).

        For a linear head this is d logits / d representation. An MLP sees the representation through its first map
        only: a difference that this map does not see changes no logit.
        """
        weight = self.first.masked_weight
        return weight if deviation is None else weight / deviation.transpose(1, 2)

    @property
    def is_linear(self) -> bool:
        return self.last is None
