"""What models of whole graphs have in common: losses, with a penalty that compares environments, and checks."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from anysize._typing import FloatArray, IntArray
from anysize.graphs.graphset import GraphSet
from anysize.nn.rows.maps import index_tensor
from anysize.training.loop import Losses, TrainingProblem
from anysize.training.objectives import (
    EnvironmentBatch,
    Objective,
    mean_loss,
    mean_over_targets,
    outputs_by_target,
    penalized_risk,
)
from anysize.training.settings import Settings


class WholeGraphProblem(TrainingProblem):
    """``environments``: numbers from 0 on, which ``objective`` compares for members with ``invariance`` above 0.

    ``blocks``: how many outputs each of several targets has, of which y and weights are tables; empty for one target.
    """

    def __init__(
        self, y: Tensor, held_out: tuple[Any, Tensor] | None, members: Sequence[Settings], environments: Tensor | None,
        graph_weights: FloatArray | None, objective: Objective, held_out_weights: FloatArray | None = None,
        blocks: Sequence[int] = (),
    ) -> None:  # fmt: skip
        super().__init__(y, held_out, graph_weights, held_out_weights, blocks)
        self.environments, self.objective = environments, objective
        self.weights = torch.tensor([member.invariance for member in members], device=y.device)
        self.penalized = any(member.invariance > 0 for member in members)
        self.environment_count = 0 if environments is None else int(environments.max()) + 1

    @abstractmethod
    def inputs(self, graphs: Tensor | None, step: Tensor) -> Any:
        """The training graphs with these numbers (None: all), as the model takes them."""

    def outputs(self, model: Any, graphs: Tensor | None, step: Tensor, epoch: Tensor) -> tuple[Tensor, Tensor]:
        """Logits (models, graphs, classes), and what a model adds to its loss (models,)."""
        logits: Tensor = model(self.inputs(graphs, step))
        return logits, logits.new_zeros(len(logits))

    def losses(self, model: nn.Module, graphs: Tensor | None, step: Tensor, epoch: Tensor) -> Losses:
        logits, added = self.outputs(model, graphs, step, epoch)
        logits, (y, weights) = outputs_by_target(logits, self.blocks), self.labels_and_weights(graphs)
        loss = mean_loss(logits, y, weights)
        if not self.penalized:
            return Losses(loss + added, loss, added)
        assert self.environments is not None
        numbers = self.environments if graphs is None else self.environments[graphs]
        if self.blocks:
            assert weights is not None
            by_target = [
                self._compared(logits[:, :, target], y[..., target], numbers, weights[..., target])
                for target in range(len(self.blocks))
            ]
            amounts = weights.sum(-2)
            risk, penalty = (
                mean_over_targets(torch.stack(values, -1), amounts) for values in zip(*by_target, strict=True)
            )
        else:
            risk, penalty = self._compared(logits, y, numbers, weights)
        total = penalized_risk(risk, penalty, self.weights, epoch)
        weighted = self.weights > 0
        return Losses(torch.where(weighted, total, loss) + added, loss, torch.where(weighted, penalty, added))

    def _compared(self, logits: Tensor, y: Tensor, numbers: Tensor, weights: Tensor | None) -> tuple[Tensor, Tensor]:
        """The mean risk of the environments, and the penalty, of one target."""
        environments = EnvironmentBatch(logits, y, numbers, self.environment_count, weights)
        return environments.mean(environments.risks), self.objective.penalty(environments)


def environment_tensor(environments: IntArray | None, device: torch.device | str) -> Tensor | None:
    """Any integers that tell environments apart, as numbers from 0 on."""
    if environments is None:
        return None
    return index_tensor(np.unique(environments, return_inverse=True)[1]).to(device)


def parts_by_load(graphs: GraphSet, load: IntArray, most: int) -> list[GraphSet]:
    """Consecutive graphs, parts of about this load; ``load``: that of each graph."""
    cuts = np.flatnonzero(np.diff(np.cumsum(load) // most)) + 1
    return [graphs[a:b] for a, b in pairwise([0, *cuts.tolist(), len(graphs)]) if a < b]


def check_training_graphs(
    graphs: GraphSet, y: IntArray, members: Sequence[Settings], environments: IntArray | None
) -> None:
    """Raise an error for what models of whole graphs cannot be trained on."""
    if len(y) != len(graphs) or not len(y):
        raise ValueError(f"expected one label per training graph, for at least one; got {len(y)} for {len(graphs)}")
    if not graphs.sizes.any():
        raise ValueError("no training graph has a vertex; pass graphs with vertices")
    if any(member.penalty > 0 for member in members):
        raise ValueError("the color penalty belongs to the Gamma models; leave penalty at 0 for GNNs")
    if any(member.invariance > 0 for member in members):
        different = None if environments is None else len(np.unique(environments))
        if environments is None or len(environments) != len(y) or different == 1:
            given = "none" if environments is None else f"{len(environments)} numbers, {different} of them different"
            raise ValueError(
                "an objective that compares environments needs environments: one number per training graph, "
                f"not all equal; got {given}"
            )
