"""Scores of M models at once, on the device, without waiting for it: (models,)."""

from __future__ import annotations

import torch
from torch import Tensor


def accuracy(predicted: Tensor, y: Tensor, classes: int | None = None) -> Tensor:
    """Share of graphs whose class was met. predicted (models, graphs), y (graphs,)."""
    return (predicted == y).float().mean(1)


def mcc(predicted: Tensor, y: Tensor, classes: int | None = None) -> Tensor:
    """Matthews correlation for any number of classes (Gorodkin's R_K); 0 where it is undefined.

    ``classes``: how many there are; to find out would be to wait for the device.

    Examples:
        >>> mcc(torch.tensor([[0, 1, 1, 0], [1, 1, 1, 1]]), torch.tensor([0, 1, 1, 0])).tolist()
        [1.0, 0.0]
    """
    if classes is None:
        classes = int(max(predicted.max(), y.max())) + 1
    said = torch.nn.functional.one_hot(predicted, classes).double()
    true = torch.nn.functional.one_hot(y, classes).double()
    right = (said * true).sum((1, 2))
    said_of, true_of = said.sum(1), true.sum(0)
    n = y.shape[0]
    above = right * n - said_of @ true_of
    below = (n * n - (said_of**2).sum(1)) * (n * n - (true_of**2).sum())
    return torch.where(below > 0, above / below.clamp(min=1e-12).sqrt(), 0.0).float()


SCORES = {"accuracy": accuracy, "mcc": mcc}
