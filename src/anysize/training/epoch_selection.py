"""Epoch selection: validation scores, and which epoch to keep for every model of a stack.

All of this runs on the device while training goes on. State is changed in place, because an epoch may be recorded as a
CUDA graph, which refers to memory addresses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from anysize.training.settings import BEST_LOWEST_LOSS, BEST_LOWEST_PENALTY, FIRST_BEST, LAST, LOWEST_LOSS, TieBreak

INFINITY = float("inf")


# ---- scores --------------------------------------------------------------------------------------


def stack_accuracy(predicted: Tensor, y: Tensor, classes: int | None = None, weights: Tensor | None = None) -> Tensor:
    """Accuracy of every model: predicted (models, graphs), y and weights (graphs,) -> (models,)."""
    right = (predicted == y).float()
    return right.mean(1) if weights is None else right @ weights / weights.sum()


def stack_balanced_accuracy(
    predicted: Tensor, y: Tensor, classes: int | None = None, weights: Tensor | None = None
) -> Tensor:
    """The mean accuracy of the classes that occur in y, of every model.

    Examples:
        >>> stack_balanced_accuracy(torch.tensor([[0, 0, 0, 0], [0, 0, 1, 1]]), torch.tensor([0, 0, 1, 1])).tolist()
        [0.5, 1.0]
    """
    truth = _weighted_one_hot(y, -1 if classes is None else classes, weights)
    amounts = truth.sum(0)
    correct = (predicted == y).double() @ truth
    return ((correct / torch.where(amounts > 0, amounts, 1)).sum(1) / (amounts > 0).sum()).float()


def _weighted_one_hot(y: Tensor, classes: int, weights: Tensor | None) -> Tensor:
    """(..., graphs, classes): the weight of each graph (1 if None) at its class."""
    table = torch.nn.functional.one_hot(y, classes).double()
    return table if weights is None else table * weights[:, None]


def stack_mcc(predicted: Tensor, y: Tensor, classes: int | None = None, weights: Tensor | None = None) -> Tensor:
    """Matthews correlation coefficient of every model, for any number of classes; 0 where it is undefined.

    ``classes``: their number; without it, the GPU is synchronized.

    Examples:
        >>> stack_mcc(torch.tensor([[0, 1, 1, 0], [1, 1, 1, 1]]), torch.tensor([0, 1, 1, 0])).tolist()
        [1.0, 0.0]
    """
    if classes is None:
        classes = int(max(predicted.max(), y.max())) + 1
    predictions = _weighted_one_hot(predicted, classes, weights)
    truth = torch.nn.functional.one_hot(y, classes).double()
    correct = (predictions * truth).sum((1, 2))
    predicted_sizes, true_sizes = predictions.sum(1), _weighted_one_hot(y, classes, weights).sum(0)
    n = true_sizes.sum()
    covariance = correct * n - predicted_sizes @ true_sizes
    variances = (n * n - (predicted_sizes**2).sum(1)) * (n * n - (true_sizes**2).sum())
    return torch.where(variances > 0, covariance / variances.clamp(min=1e-12).sqrt(), 0.0).float()


STACK_SCORES = {"accuracy": stack_accuracy, "balanced_accuracy": stack_balanced_accuracy, "mcc": stack_mcc}


# ---- which epoch to keep -------------------------------------------------------------------------

_RULE_OF_TIE_BREAK = {"first": FIRST_BEST, "loss": BEST_LOWEST_LOSS, "penalty": BEST_LOWEST_PENALTY}


def stacked_state(model: nn.Module, models: int) -> list[Tensor]:
    """Views (models, values) of the parameters and buffers that have the models as first axis; of one model, of all."""
    return [
        tensor.view(models, -1)
        for tensor in model.state_dict().values()
        if tensor.is_floating_point() and (models == 1 or (tensor.dim() > 1 and tensor.shape[0] == models))
    ]


def flat_state(model: nn.Module, models: int) -> Tensor:
    """A copy of the stacked state, one row per model: (models, values)."""
    return torch.cat(stacked_state(model, models), dim=1)


def load_flat_state(model: nn.Module, models: int, flat: Tensor) -> None:
    """Set the stacked state to what `flat_state` returned."""
    start = 0
    for values in stacked_state(model, models):
        values.copy_(flat[:, start : start + values.shape[1]])
        start += values.shape[1]


class _Snapshot:
    """A saved state of every model: its epoch, its key (smaller is better among equal scores), and its values."""

    def __init__(self, values: Tensor) -> None:
        self.values = values.clone()
        self.key = values.new_full((len(values),), INFINITY)
        self.epoch = torch.full((len(values),), -1, device=values.device)

    def update(self, where: Tensor, key: Tensor, epoch: Tensor, values: Tensor) -> None:
        self.key.copy_(torch.where(where, key, self.key))
        self.epoch.copy_(torch.where(where, epoch, self.epoch))
        if values.is_cuda:  # a recorded epoch cannot depend on which models improved
            torch.where(where[:, None], values, self.values, out=self.values)
        elif where.any():
            self.values[where] = values[where]

    def discard(self, where: Tensor) -> None:
        self.key.masked_fill_(where, INFINITY)


@dataclass(frozen=True, eq=False)
class KeptEpochs:
    """The states of a stack under several rules of epoch selection, where the model holds the selected states.

    ``epochs``: rule -> the epoch of every model, counted from 0; -1 where no epoch had a finite loss. ``states``: of
    every rule, as `flat_state` returns them.
    """

    model: nn.Module
    models: int
    epochs: dict[str, Tensor]
    states: list[Tensor]

    def append_to(self, function: Callable[[Any], Tensor]) -> Callable[[Any], Tensor]:
        """The function of the selected models, followed along the first axis by that of every rule."""

        def every(graphs: Any) -> Tensor:
            selected, values_by_rule = flat_state(self.model, self.models), [function(graphs)]
            try:
                for values in self.states:
                    load_flat_state(self.model, self.models, values)
                    values_by_rule.append(function(graphs))
            finally:
                load_flat_state(self.model, self.models, selected)
            return torch.cat(values_by_rule)

        return every

    def __len__(self) -> int:
        return len(self.epochs)


class EpochSelector:
    """Keeps for every model the state of the epoch with the highest validation score.

    Ties: the ``first`` epoch (the paper's rule), the lowest validation ``loss``, or the smallest ``penalty``. The last
    rule compares all epochs within one validation graph of the best score; ``score_step`` is the score of one graph (0:
    exact ties only). ``patience``: a model that has not improved in so many epochs keeps what it has.

    The states that other rules would have selected are kept beside, so that a run can be scored under
    each of them; of the smallest penalty only if ``penalized``. They are stored as one row per model, so that an
    epoch costs a few more operations, not a few more for every tensor of the model.
    """

    def __init__(
        self, model: nn.Module, models: int, tie_break: TieBreak, score_step: float = 0.0,
        patience: int | None = None, penalized: bool = True,
    ) -> None:  # fmt: skip
        device = next(model.parameters()).device
        self.patience, self.score_step = patience, score_step if tie_break == "penalty" else 0.0
        self.score = torch.full((models,), -INFINITY, device=device)
        self.ties = torch.zeros(models, dtype=torch.int64, device=device)
        self.active = torch.ones(models, dtype=torch.bool, device=device)
        rule = _RULE_OF_TIE_BREAK[tie_break]
        names = [FIRST_BEST, BEST_LOWEST_LOSS, LOWEST_LOSS]
        names += [BEST_LOWEST_PENALTY] * (penalized or rule == BEST_LOWEST_PENALTY)
        values = flat_state(model, models)
        self.snapshots = {name: _Snapshot(values) for name in names}
        self.top = self.snapshots[rule]
        self.runner_up = _Snapshot(values) if self.score_step else None
        self.models = models

    def observe(self, model: nn.Module, epoch: Tensor, score: Tensor, loss: Tensor, penalty: Tensor) -> None:
        """Compare an epoch with the best ones so far. An epoch whose loss is not finite never wins."""
        score = torch.where(loss.isfinite(), score, -INFINITY)
        keys = {FIRST_BEST: torch.zeros_like(loss), BEST_LOWEST_LOSS: loss, BEST_LOWEST_PENALTY: penalty}
        values = flat_state(model, self.models)
        higher = (score > self.score + 1e-6) & self.active
        equal = (score - self.score).abs().le(1e-6) & self.active
        if self.runner_up is not None:
            self._update_runner_up(self.runner_up, higher, score, penalty, epoch, values)
        for name, snapshot in self.snapshots.items():
            if name == LOWEST_LOSS:
                snapshot.update(loss.isfinite() & (loss < snapshot.key) & self.active, loss, epoch, values)
            else:
                key = keys[name]
                snapshot.update(higher | (equal & (key < snapshot.key)), key, epoch, values)
        self.ties.copy_(torch.where(higher, 1, self.ties + equal.long()))
        self.score.copy_(torch.where(higher, score, self.score))
        if self.patience is not None:
            self.active &= epoch - self.top.epoch < self.patience

    def _update_runner_up(
        self, runner_up: _Snapshot, higher: Tensor, score: Tensor, key: Tensor, epoch: Tensor, values: Tensor
    ) -> None:
        """Keep the best epoch that is one validation graph below the top."""
        one_up = higher & ((score - self.score - self.score_step).abs() < self.score_step / 2)
        runner_up.update(one_up, self.top.key, self.top.epoch, self.top.values)
        runner_up.discard(higher & ~one_up)
        one_down = ((self.score - score - self.score_step).abs() < self.score_step / 2) & self.active
        runner_up.update(one_down & (key < runner_up.key), key, epoch, values)

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
        epoch, values = self.top.epoch, self.top.values
        if self.runner_up is not None:
            better = self.runner_up.key < self.top.key
            epoch = torch.where(better, self.runner_up.epoch, epoch)
            values = torch.where(better[:, None], self.runner_up.values, values)
        values = torch.where((epoch >= 0)[:, None], values, flat_state(model, self.models))
        load_flat_state(model, self.models, values)
        return epoch

    def kept(self, model: nn.Module, last: int | None = None) -> KeptEpochs:
        """The states under every rule, and those of the model as it is now if ``last`` is the number of its epoch.

        Call it before `restore`.
        """
        now, epochs, states = flat_state(model, self.models), {}, []
        for name, snapshot in self.snapshots.items():
            epochs[name] = snapshot.epoch.cpu()
            states.append(torch.where((snapshot.epoch >= 0)[:, None], snapshot.values, now))
        if last is not None:
            epochs[LAST] = torch.full_like(epochs[FIRST_BEST], last)
            states.append(now)
        return KeptEpochs(model, self.models, epochs, states)
