"""Training objectives: cross entropy, penalties on recolored patterns, and penalties that compare environments.

All values are per model: (models,). A new objective that compares environments is a function from `EnvironmentBatch` to
a penalty, and an `Objective` that names its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from anysize._typing import FloatArray
from anysize.nn.gamma import GraphModel

WARM_UP_EPOCHS = 100  # epochs in which the penalty of environments has weight 1


def weight_tensor(weights: FloatArray | None, device: torch.device | str) -> Tensor | None:
    """The weights of graphs on a device; None: all are equal."""
    return None if weights is None else torch.as_tensor(weights, dtype=torch.float32, device=device)


def cross_entropy(logits: Tensor, y: Tensor, weights: Tensor | None = None) -> Tensor:
    """Mean over graphs of -log softmax(z)_y; with weights of the graphs, the weighted mean.

    logits (models, graphs, classes), y and weights (graphs,) or (models, graphs).
    """
    losses = -_at_class(torch.log_softmax(logits, -1), y)
    if weights is None:
        return losses.mean(1)
    return (losses * weights).sum(1) / weights.sum(-1)


def _at_class(values: Tensor, y: Tensor) -> Tensor:
    """The value at each graph's class: (models, graphs, classes), (graphs,) or (models, graphs) -> (models, graphs)."""
    return values.gather(2, y.expand(values.shape[0], -1)[..., None])[..., 0]


# ---- recolored patterns --------------------------------------------------------------------------


def color_penalty(model: GraphModel, moved: Tensor) -> Tensor:
    """The paper's attribute penalty (eq. 8): mean over patterns F of || r_F - r_H ||, with H a recolored F.

    ``moved`` (models, patterns, width): r_F - r_H.
    """
    return torch.linalg.vector_norm(moved * model.columns.transpose(1, 2), dim=-1).mean(1)


def logit_penalty(model: GraphModel, moved: Tensor) -> Tensor:
    """The color penalty on logits: mean over F of || W^T (r_F - r_H) / sigma ||, centered over the classes.

    ``moved`` (models, patterns, classes or hidden): r_F - r_H times the slopes of the head.

    Batch norm makes the representation independent of scale, so that a model can shrink its embeddings, and with them
    the paper's penalty, without changing a logit. The penalty on logits does not have this weakness. For an MLP head it
    is measured behind the first linear map.
    """
    if model.head.is_linear:
        moved = moved - moved.mean(-1, keepdim=True)
    return torch.linalg.vector_norm(moved, dim=-1).mean(1)


# ---- environments --------------------------------------------------------------------------------


class EnvironmentBatch:
    """The graphs of one step by environment: logits (models, graphs, classes), y, environments and weights (graphs,) or
    (models, graphs).

    ``environments`` holds 0 .. count - 1; a batch may lack some of them.
    """

    def __init__(
        self, logits: Tensor, y: Tensor, environments: Tensor, count: int, weights: Tensor | None = None
    ) -> None:
        self.logits, self.y = logits, y
        base = torch.ones_like(logits[0, :, 0]) if weights is None else weights
        self.weights = [base * (environments == number) for number in range(count)]
        self.occurs = [(weight.sum(-1) > 0).to(logits.dtype) for weight in self.weights]

    @cached_property
    def risks(self) -> list[Tensor]:
        """The cross entropy of every environment, each (models,); 0 for one that does not occur."""
        losses = -_at_class(torch.log_softmax(self.logits, -1), self.y)
        return [(losses * weight).sum(1) / weight.sum(-1).clamp(min=1e-12) for weight in self.weights]

    @cached_property
    def slopes(self) -> list[Tensor]:
        """d risk / d s at s = 1 of every environment, where the logits are multiplied by s: each (models,)."""
        return [irm_gradient(self.logits, self.y, weight) for weight in self.weights]

    def mean(self, values: Sequence[Tensor]) -> Tensor:
        """Mean over the environments that occur."""
        # a loop, because a sum over a stacked tensor may round differently from run to run
        total, amount = torch.zeros_like(values[0]), torch.zeros_like(self.occurs[0])
        for value, occurs in zip(values, self.occurs, strict=True):
            total, amount = total + occurs * value, amount + occurs
        return total / amount


def irm_gradient(logits: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    """d loss / d s at s = 1, where the logits are multiplied by s: weighted mean of (sum_c softmax(z)_c z_c - z_y).

    ``weight`` (graphs,) or (models, graphs): weights of an environment's graphs, zero for all others.
    """
    slope = (torch.softmax(logits, -1) * logits).sum(-1) - _at_class(logits, y)
    return (slope * weight).sum(1) / weight.sum(-1).clamp(min=1e-12)


def squared_slopes(environments: EnvironmentBatch) -> Tensor:
    """Penalty of invariant risk minimization (IRM): the mean square of the slopes.

    The slopes have a closed form, so that the gradient of the penalty needs no second backward pass.
    """
    return environments.mean([slope**2 for slope in environments.slopes])


def variance_of_risks(environments: EnvironmentBatch) -> Tensor:
    """Penalty of risk extrapolation (V-REx): the variance of the risks over the environments that occur.

    Examples:
        >>> logits = torch.tensor([[[0.0, 0.0], [0.0, 2.0]]])  # risks log 2 and log(1 + exp(-2))
        >>> round(variance_of_risks(EnvironmentBatch(logits, torch.tensor([0, 1]), torch.tensor([0, 1]), 2)).item(), 4)
        0.0802
    """
    mean = environments.mean(environments.risks)
    return environments.mean([(risk - mean) ** 2 for risk in environments.risks])


@dataclass(frozen=True)
class Objective:
    """An objective that compares environments: risk + weight * penalty, see `penalized_risk`.

    ``weight``: name of the hyper-parameter that weighs the penalty. ``penalty``: environments -> (models,).
    """

    weight: str
    penalty: Callable[[EnvironmentBatch], Tensor]


IRM = Objective("irm", squared_slopes)
VREX = Objective("beta", variance_of_risks)
OBJECTIVES = {objective.weight: objective for objective in (IRM, VREX)}


def penalized_risk(risk: Tensor, penalty: Tensor, weights: Tensor, epoch: Tensor) -> Tensor:
    """(risk + w penalty) / max(w, 1) per model, with w = 1 in the first 100 epochs and the model's weight afterwards.

    Examples:
        >>> one = torch.ones(1)
        >>> [penalized_risk(one, 2 * one, 8 * one, torch.tensor(epoch)).item() for epoch in (99, 100)]
        [3.0, 2.125]
    """
    weight = torch.where(epoch < WARM_UP_EPOCHS, torch.ones_like(weights), weights)
    return (risk + weight * penalty) / weight.clamp(min=1)
