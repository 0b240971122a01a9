"""Training objectives: losses, penalties on recolored patterns, and penalties that compare environments.

The loss of a graph is the cross entropy of its class or the squared error of its number (y is whole for classes).
All values are per model: (models,). A new objective that compares environments is a function from `EnvironmentBatch` to
a penalty, and an `Objective` that names its weight.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from anysize.nn.gamma import GraphModel

NO_CLASS = -1e9  # a logit whose probability is 0
WARM_UP_EPOCHS = 100  # epochs in which the penalty of environments has weight 1


def target_tensor(y: NDArray[Any], device: torch.device | str) -> Tensor:
    """Classes as whole numbers, or numbers to predict, on a device."""
    return torch.as_tensor(y, dtype=torch.float32 if y.dtype.kind == "f" else torch.int64, device=device)


def mean_loss(outputs: Tensor, y: Tensor, weights: Tensor | None = None) -> Tensor:
    """Mean over graphs of their losses; with weights of the graphs, the weighted mean.

    outputs (models, graphs, classes or 1), y and weights (graphs,) or (models, graphs). Of several targets
    (`outputs_by_target`) all of these have an axis of targets, weights are 0 in gaps, and the result is the mean over
    the targets that some of these graphs have.
    """
    losses = graph_losses(outputs, y)
    if weights is None:
        return losses.mean(1)
    if losses.dim() == 3:
        amounts = weights.sum(-2)
        return mean_over_targets((losses * weights).sum(1) / amounts.clamp(min=1e-12), amounts)
    return (losses * weights).sum(1) / weights.sum(-1)


def outputs_by_target(outputs: Tensor, blocks: Sequence[int]) -> Tensor:
    """(models, graphs, outputs) -> (models, graphs, targets, most outputs of a target); without blocks as they are.

    ``blocks``: how many outputs each target has. Those with fewer than others get classes without probability.

    >>> outputs_by_target(torch.arange(5.0)[None, None], (2, 3)).tolist()
    [[[[0.0, 1.0, -1000000000.0], [2.0, 3.0, 4.0]]]]
    """
    if not blocks:
        return outputs
    most = max(blocks)
    parts = outputs.split(list(blocks), -1)
    return torch.stack([nn.functional.pad(part, (0, most - part.shape[-1]), value=NO_CLASS) for part in parts], -2)


def mean_over_targets(values: Tensor, amounts: Tensor) -> Tensor:
    """(models, targets) -> (models,): the mean over the targets with an amount of graphs, (targets,) or as values."""
    occurs = (amounts > 0).to(values.dtype)
    return (values * occurs).sum(-1) / occurs.sum(-1).clamp(min=1)


def graph_losses(outputs: Tensor, y: Tensor) -> Tensor:
    """-log softmax(z)_y, or (z - y)^2 of numbers, of every graph: (models, graphs), or (models, graphs, targets)."""
    if y.is_floating_point():
        return (outputs[..., 0] - y) ** 2
    return -_at_class(torch.log_softmax(outputs, -1), y)


def _at_class(values: Tensor, y: Tensor) -> Tensor:
    """The value at each graph's class: (models, graphs, classes), (graphs,) or (models, graphs) -> (models, graphs)."""
    return values.gather(-1, y.expand(values.shape[:-1])[..., None])[..., 0]


# ---- recolored patterns --------------------------------------------------------------------------


def color_penalty(model: GraphModel, moved: Tensor) -> Tensor:
    """The paper's attribute penalty (eq. 8): mean over patterns F of || r_F - r_H ||, with H a recolored F.

    ``moved`` (models, patterns, width): r_F - r_H.
    """
    return torch.linalg.vector_norm(moved * model.columns.transpose(1, 2), dim=-1).mean(1)


def logit_penalty(model: GraphModel, moved: Tensor) -> Tensor:
    """The color penalty on logits: mean over F of || W^T (r_F - r_H) / sigma ||, centered over several classes.

    ``moved`` (models, patterns, classes or hidden): r_F - r_H times the slopes of the head.

    Batch norm makes the representation independent of scale, so that a model can shrink its embeddings, and with them
    the paper's penalty, without changing a logit. The penalty on logits does not have this weakness. For an MLP head it
    is measured behind the first linear map.
    """
    if model.head.is_linear and moved.shape[-1] > 1:
        moved = moved - moved.mean(-1, keepdim=True)
    return torch.linalg.vector_norm(moved, dim=-1).mean(1)


# ---- environments --------------------------------------------------------------------------------


class EnvironmentBatch:
    """The graphs of one step by environment: logits (models, graphs, classes or 1), y, environments and weights
    (graphs,) or (models, graphs).

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
        """The mean loss of every environment, each (models,); 0 for one that does not occur."""
        losses = graph_losses(self.logits, self.y)
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
        return total / amount.clamp(min=1)


def irm_gradient(logits: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    """d loss / d s at s = 1, where the logits are multiplied by s: weighted mean of (sum_c softmax(z)_c z_c - z_y).

    Of numbers it is the weighted mean of 2 (z - y) z. ``weight`` (graphs,) or (models, graphs): weights of an
    environment's graphs, zero for all others.
    """
    if y.is_floating_point():
        slope = 2 * (logits[..., 0] - y) * logits[..., 0]
    else:
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
