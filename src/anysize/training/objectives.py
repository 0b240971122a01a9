"""What is minimized: cross entropy, and penalties on what must not matter. All per model: (models,)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from anysize.nn.encoders import Embeddings
from anysize.nn.gamma import GraphModel, read
from anysize.nn.rows.structure import Sums


def cross_entropy(logits: Tensor, y: Tensor, class_weights: Tensor | None = None) -> Tensor:
    """Mean over graphs of -log softmax(z)_y; with class weights sum w_y (..) / sum w_y.

    logits (models, graphs, classes), y (graphs,), class_weights (classes,).
    """
    losses = losses_of(logits, y)
    if class_weights is None:
        return losses.mean(1)
    weight = class_weights[y]
    return (losses * weight).sum(1) / weight.sum()


def losses_of(logits: Tensor, y: Tensor) -> Tensor:
    """-log softmax(z)_y of every graph: (models, graphs)."""
    return -_of_class(torch.log_softmax(logits, -1), y)


def _of_class(values: Tensor, y: Tensor) -> Tensor:
    """The value of each graph's own class: (models, graphs, classes), (graphs,) -> (models, graphs)."""
    return values.gather(2, y.expand(values.shape[0], -1)[..., None])[..., 0]


def color_penalty(model: GraphModel, rows: Embeddings, differences: Sequence[Sums]) -> Tensor:
    """The paper's penalty (eq. 8): mean over patterns F of || r_F - r_H ||, H being F with other colors."""
    moved = read(rows, differences) * model.columns.transpose(1, 2)
    return torch.linalg.vector_norm(moved, dim=-1).mean(1)


def logit_penalty(model: GraphModel, rows: Embeddings, differences: Sequence[Sums], deviation: Tensor | None) -> Tensor:
    """The same at the level of the logits: mean over F of || W^T (r_F - r_H) / sigma ||, centered over the classes.

    Batch norm makes the representation free of scale, so that a model can shrink its embeddings, and with them the
    paper's penalty, without changing a logit. This one cannot be cheated so. An MLP head is judged by what its
    first map sees.
    """
    moved = read(rows, differences, model.head.slopes(deviation))
    if model.head.linear:
        moved = moved - moved.mean(-1, keepdim=True)
    return torch.linalg.vector_norm(moved, dim=-1).mean(1)


def irm_gradient(logits: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    """d loss / d s at s = 1, where the logits are multiplied by s: weighted mean of (sum_c softmax(z)_c z_c - z_y).

    ``weight`` (graphs,): class weights of an environment's graphs, zero for all others.
    """
    slope = (torch.softmax(logits, -1) * logits).sum(-1) - _of_class(logits, y)
    return (slope * weight).sum(1) / weight.sum().clamp(min=1e-12)
