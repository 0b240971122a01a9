"""Objectives that compare environments: the risk of each, a penalty on how they differ, and how much it weighs.

A new one is a function from `EnvironmentBatch` to a penalty, and an `Objective` that names the weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from anysize.training.objectives import irm_gradient, losses_of

WARM_UP = 100  # epochs in which a penalty weighs 1


class EnvironmentBatch:
    """The graphs of one step by environment: logits (models, graphs, classes), y and environments (graphs,).

    ``environments`` holds 0 .. count - 1; not all of them need occur in a batch.
    """

    def __init__(
        self, logits: Tensor, y: Tensor, environments: Tensor, count: int, class_weights: Tensor | None = None
    ) -> None:
        self.logits, self.y = logits, y
        base = torch.ones_like(logits[0, :, 0]) if class_weights is None else class_weights[y]
        self.weights = [base * (environments == place) for place in range(count)]
        self.occurs = [(weight.sum() > 0).to(logits.dtype) for weight in self.weights]

    @cached_property
    def risks(self) -> list[Tensor]:
        """The cross entropy of every environment, each (models,); 0 for one that does not occur."""
        losses = losses_of(self.logits, self.y)
        return [(losses * weight).sum(1) / weight.sum().clamp(min=1e-12) for weight in self.weights]

    @cached_property
    def slopes(self) -> list[Tensor]:
        """d risk / d s at s = 1 of every environment, where the logits are multiplied by s: each (models,)."""
        return [irm_gradient(self.logits, self.y, weight) for weight in self.weights]

    def mean(self, values: Sequence[Tensor]) -> Tensor:
        """Over the environments that occur."""
        # one after the other: a sum over a stack may round otherwise, and runs are to come out the same again
        total, amount = torch.zeros_like(values[0]), torch.zeros_like(self.occurs[0])
        for own, occurs in zip(values, self.occurs, strict=True):
            total, amount = total + occurs * own, amount + occurs
        return total / amount


def squared_slopes(environments: EnvironmentBatch) -> Tensor:
    """Invariant risk minimization: the mean square of the slopes.

    The slope has a closed form, so that no second backward pass is needed and the penalty moves the weights.
    """
    return environments.mean([slope**2 for slope in environments.slopes])


def variance_of_risks(environments: EnvironmentBatch) -> Tensor:
    """Risk extrapolation, V-REx: the variance of the risks over the environments, divided by their number.

    Examples:
        >>> logits = torch.tensor([[[0.0, 0.0], [0.0, 2.0]]])  # risks log 2 and log(1 + exp(-2))
        >>> round(variance_of_risks(EnvironmentBatch(logits, torch.tensor([0, 1]), torch.tensor([0, 1]), 2)).item(), 4)
        0.0802
    """
    mean = environments.mean(environments.risks)
    return environments.mean([(risk - mean) ** 2 for risk in environments.risks])


@dataclass(frozen=True)
class Objective:
    """What is minimized where environments are compared: see `total_of`.

    ``weight``: the hyper-parameter that weighs the penalty, by its name. ``penalty``: environments -> (models,).
    """

    weight: str
    penalty: Callable[[EnvironmentBatch], Tensor]


IRM = Objective("irm", squared_slopes)
VREX = Objective("beta", variance_of_risks)
OBJECTIVES = {objective.weight: objective for objective in (IRM, VREX)}


def total_of(risk: Tensor, penalty: Tensor, weights: Tensor, epoch: Tensor) -> Tensor:
    """(risk + w penalty) / max(w, 1) per model, with w = 1 in the first 100 epochs and the model's own weight then.

    Examples:
        >>> one = torch.ones(1)
        >>> [total_of(one, 2 * one, 8 * one, torch.tensor(epoch)).item() for epoch in (99, 100)]
        [3.0, 2.125]
    """
    weight = torch.where(epoch < WARM_UP, torch.ones_like(weights), weights)
    return (risk + weight * penalty) / weight.clamp(min=1)
