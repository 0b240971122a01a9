"""Which epoch of a run to keep, for every model of a stack, decided on the device while training goes on.

Everything is changed in place: an epoch may have been recorded as a CUDA graph, which knows addresses only.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from anysize.training.settings import TieBreak

NEVER = float("inf")


class _Slot:
    """A kept state for every model: its epoch, its key (smaller is better among equals), and the tensors."""

    def __init__(self, model: nn.Module, models: int, device: torch.device) -> None:
        self.tensors = {name: tensor.detach().clone() for name, tensor in stacked_state(model, models).items()}
        self.key = torch.full((models,), NEVER, device=device)
        self.epoch = torch.full((models,), -1, dtype=torch.int64, device=device)

    def put(self, where: Tensor, key: Tensor, epoch: Tensor, tensors: dict[str, Tensor]) -> None:
        self.key.copy_(torch.where(where, key, self.key))
        self.epoch.copy_(torch.where(where, epoch, self.epoch))
        for name, tensor in self.tensors.items():
            mask = where.view(-1, *[1] * (tensor.dim() - 1))
            tensor.copy_(torch.where(mask, tensors[name], tensor))

    def clear(self, where: Tensor) -> None:
        self.key.masked_fill_(where, NEVER)


def stacked_state(model: nn.Module, models: int) -> dict[str, Tensor]:
    """The parameters and buffers of a stack that have the models as their first axis."""
    return {
        name: tensor
        for name, tensor in model.state_dict().items()
        if tensor.dim() > 1 and tensor.shape[0] == models and tensor.is_floating_point()
    }


class EpochChoice:
    """Keeps for every model the state of the epoch that the rule chooses.

    ``best``: the highest validation score. Ties: the ``first`` epoch (the paper's rule), the lowest validation
    ``loss``, or the smallest ``penalty``; the last one looks at all epochs within one validation graph of the best
    score, where ``grain`` is what one graph is worth (0: exact ties only). ``patience``: a model that has found
    nothing better in so many epochs keeps what it has.
    """

    def __init__(
        self, model: nn.Module, models: int, tie_break: TieBreak, grain: float = 0.0, patience: int | None = None
    ) -> None:
        device = next(model.parameters()).device
        self.tie_break, self.patience = tie_break, patience
        self.grain = grain if tie_break == "penalty" else 0.0
        self.score = torch.full((models,), -NEVER, device=device)
        self.ties = torch.zeros(models, dtype=torch.int64, device=device)
        self.alive = torch.ones(models, dtype=torch.bool, device=device)
        self.top, self.next = _Slot(model, models, device), None
        if self.grain:
            self.next = _Slot(model, models, device)
        self.models = models

    def look(self, model: nn.Module, epoch: Tensor, score: Tensor, loss: Tensor, penalty: Tensor) -> None:
        """Take note of an epoch. Scores that are not numbers never win."""
        score = torch.where(loss.isfinite(), score, -NEVER)
        keys = {"first": torch.zeros_like(loss), "loss": loss, "penalty": penalty}
        key = keys[self.tie_break]
        state = stacked_state(model, self.models)
        higher = (score > self.score + 1e-6) & self.alive
        equal = (score - self.score).abs().le(1e-6) & self.alive
        if self.next is not None:
            self._shift(higher, score, key, epoch, state)
        self.top.put(higher | (equal & (key < self.top.key)), key, epoch, state)
        self.ties.copy_(torch.where(higher, 1, self.ties + equal.long()))
        self.score.copy_(torch.where(higher, score, self.score))
        if self.patience is not None:
            self.alive &= epoch - self.top.epoch < self.patience

    def end(self, epochs: int) -> int:
        """Of so many epochs those to train, if nothing better is found from now on; 0: patience has run out.

        A model that has found nothing yet may need all of them.
        """
        if self.patience is None:
            return epochs
        found = torch.where(self.top.epoch < 0, epochs, self.top.epoch + 1 + self.patience)
        return int(torch.where(self.alive, found.clamp(max=epochs), 0).max())

    def _shift(self, higher: Tensor, score: Tensor, key: Tensor, epoch: Tensor, state: dict[str, Tensor]) -> None:
        """Keep the best epoch that is one validation graph below the top."""
        assert self.next is not None
        one_up = higher & ((score - self.score - self.grain).abs() < self.grain / 2)
        self.next.put(one_up, self.top.key, self.top.epoch, self.top.tensors)
        self.next.clear(higher & ~one_up)
        one_down = ((self.score - score - self.grain).abs() < self.grain / 2) & self.alive
        self.next.put(one_down & (key < self.next.key), key, epoch, state)

    def restore(self, model: nn.Module) -> Tensor:
        """Load the chosen states into the model; the chosen epoch of every model, -1 where there is none."""
        if self.next is not None:
            better = self.next.key < self.top.key
            self.top.put(better, self.next.key, self.next.epoch, self.next.tensors)
        found = self.top.epoch >= 0
        with torch.no_grad():
            for name, tensor in stacked_state(model, self.models).items():
                mask = found.view(-1, *[1] * (tensor.dim() - 1))
                tensor.copy_(torch.where(mask, self.top.tensors[name], tensor))
        return self.top.epoch
