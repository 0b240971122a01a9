"""Epoch selection: validation scores, and which epoch to keep for every model of a stack.

All of this runs on the device while training goes on. State is changed in place, because an epoch may be recorded as a
CUDA graph, which refers to memory addresses.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from anysize.training.settings import TieBreak

INFINITY = float("inf")


# ---- scores --------------------------------------------------------------------------------------


def stack_accuracy(predicted: Tensor, y: Tensor, classes: int | None = None) -> Tensor:
    """Accuracy of every model: predicted (models, graphs), y (graphs,) -> (models,)."""
    return (predicted == y).float().mean(1)


def stack_mcc(predicted: Tensor, y: Tensor, classes: int | None = None) -> Tensor:
    """Matthews correlation coefficient of every model, for any number of classes; 0 where it is undefined.

    ``classes``: their number; without it the host waits for the device.

    Examples:
        >>> stack_mcc(torch.tensor([[0, 1, 1, 0], [1, 1, 1, 1]]), torch.tensor([0, 1, 1, 0])).tolist()
        [1.0, 0.0]
    """
    if classes is None:
        classes = int(max(predicted.max(), y.max())) + 1
    predictions = torch.nn.functional.one_hot(predicted, classes).double()
    truth = torch.nn.functional.one_hot(y, classes).double()
    correct = (predictions * truth).sum((1, 2))
    predicted_sizes, true_sizes = predictions.sum(1), truth.sum(0)
    n = y.shape[0]
    covariance = correct * n - predicted_sizes @ true_sizes
    variances = (n * n - (predicted_sizes**2).sum(1)) * (n * n - (true_sizes**2).sum())
    return torch.where(variances > 0, covariance / variances.clamp(min=1e-12).sqrt(), 0.0).float()


STACK_SCORES = {"accuracy": stack_accuracy, "mcc": stack_mcc}


# ---- which epoch to keep -------------------------------------------------------------------------


def stacked_state(model: nn.Module, models: int) -> dict[str, Tensor]:
    """The parameters and buffers of a stack that have the models as their first axis."""
    return {
        name: tensor
        for name, tensor in model.state_dict().items()
        if tensor.dim() > 1 and tensor.shape[0] == models and tensor.is_floating_point()
    }


class _Snapshot:
    """A saved state of every model: its epoch, its key (smaller is better among equal scores), and the tensors."""

    def __init__(self, model: nn.Module, models: int, device: torch.device) -> None:
        self.tensors = {name: tensor.detach().clone() for name, tensor in stacked_state(model, models).items()}
        self.key = torch.full((models,), INFINITY, device=device)
        self.epoch = torch.full((models,), -1, dtype=torch.int64, device=device)

    def update(self, where: Tensor, key: Tensor, epoch: Tensor, tensors: dict[str, Tensor]) -> None:
        self.key.copy_(torch.where(where, key, self.key))
        self.epoch.copy_(torch.where(where, epoch, self.epoch))
        for name, tensor in self.tensors.items():
            mask = where.view(-1, *[1] * (tensor.dim() - 1))
            tensor.copy_(torch.where(mask, tensors[name], tensor))

    def discard(self, where: Tensor) -> None:
        self.key.masked_fill_(where, INFINITY)


class EpochSelector:
    """Keeps for every model the state of the epoch with the highest validation score.

    Ties: the ``first`` epoch (the paper's rule), the lowest validation ``loss``, or the smallest ``penalty``. The last
    rule compares all epochs within one validation graph of the best score; ``score_step`` is the score of one graph (0:
    exact ties only). ``patience``: a model that has not improved in so many epochs keeps what it has.
    """

    def __init__(
        self, model: nn.Module, models: int, tie_break: TieBreak, score_step: float = 0.0, patience: int | None = None
    ) -> None:
        device = next(model.parameters()).device
        self.tie_break, self.patience = tie_break, patience
        self.score_step = score_step if tie_break == "penalty" else 0.0
        self.score = torch.full((models,), -INFINITY, device=device)
        self.ties = torch.zeros(models, dtype=torch.int64, device=device)
        self.active = torch.ones(models, dtype=torch.bool, device=device)
        self.top = _Snapshot(model, models, device)
        self.runner_up = _Snapshot(model, models, device) if self.score_step else None
        self.models = models

    def observe(self, model: nn.Module, epoch: Tensor, score: Tensor, loss: Tensor, penalty: Tensor) -> None:
        """Compare an epoch with the best ones so far. An epoch whose loss is not finite never wins."""
        score = torch.where(loss.isfinite(), score, -INFINITY)
        keys = {"first": torch.zeros_like(loss), "loss": loss, "penalty": penalty}
        key = keys[self.tie_break]
        state = stacked_state(model, self.models)
        higher = (score > self.score + 1e-6) & self.active
        equal = (score - self.score).abs().le(1e-6) & self.active
        if self.runner_up is not None:
            self._update_runner_up(self.runner_up, higher, score, key, epoch, state)
        self.top.update(higher | (equal & (key < self.top.key)), key, epoch, state)
        self.ties.copy_(torch.where(higher, 1, self.ties + equal.long()))
        self.score.copy_(torch.where(higher, score, self.score))
        if self.patience is not None:
            self.active &= epoch - self.top.epoch < self.patience

    def _update_runner_up(
        self, runner_up: _Snapshot, higher: Tensor, score: Tensor, key: Tensor, epoch: Tensor, state: dict[str, Tensor]
    ) -> None:
        """Keep the best epoch that is one validation graph below the top."""
        one_up = higher & ((score - self.score - self.score_step).abs() < self.score_step / 2)
        runner_up.update(one_up, self.top.key, self.top.epoch, self.top.tensors)
        runner_up.discard(higher & ~one_up)
        one_down = ((self.score - score - self.score_step).abs() < self.score_step / 2) & self.active
        runner_up.update(one_down & (key < runner_up.key), key, epoch, state)

    def expected_epochs(self, epochs: int) -> int:
        """How many of the epochs will be trained if no model improves from now on; 0: patience has run out.

        A model that has no usable epoch yet may need all of them.
        """
        if self.patience is None:
            return epochs
        needed = torch.where(self.top.epoch < 0, epochs, self.top.epoch + 1 + self.patience)
        return int(torch.where(self.active, needed.clamp(max=epochs), 0).max())

    def restore(self, model: nn.Module) -> Tensor:
        """Load the selected states into the model; returns the epoch of every model, -1 where there is none."""
        if self.runner_up is not None:
            better = self.runner_up.key < self.top.key
            self.top.update(better, self.runner_up.key, self.runner_up.epoch, self.runner_up.tensors)
        found = self.top.epoch >= 0
        with torch.no_grad():
            for name, tensor in stacked_state(model, self.models).items():
                mask = found.view(-1, *[1] * (tensor.dim() - 1))
                tensor.copy_(torch.where(mask, self.top.tensors[name], tensor))
        return self.top.epoch
