"""GIN, GCN and PNA for M models at once, on the rows of a `Structure`.

An encoder maps a structure to the embeddings of its rows, level by level: [(0, x), (1, h1), .., (L, hL)]. Each
layer ends in batch normalization and ReLU. Where a layer is linear before it sums over neighbors, the linear
part runs on the rows below, which are fewer.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from anysize.nn.layers import BatchNorm, Linear
from anysize.nn.rows.structure import Level, Structure

Embeddings = list[tuple[int, Tensor]]  # (level, rows): what jumping knowledge reads


def _still(linear: Linear) -> Linear:
    """With a bias that is not trained: batch norm behind it takes every constant away again.

    Its gradient is zero but for rounding, which Adam would blow up to steps of full length. In training they cancel;
    in prediction they do not, as the running average comes late, and a model alone and in a stack would differ.
    """
    linear.bias.requires_grad_(False)
    return linear


class GINLayer(nn.Module):
    """MLP((1 + eps) h_v + sum over neighbors of h_u), with trained eps; two linear maps with batch norm between."""

    def __init__(self, models: int, inputs: int, hidden: int) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(models, 1, 1))
        self.first, self.second = _still(Linear(models, inputs, hidden)), _still(Linear(models, hidden, hidden))
        self.between = BatchNorm(models, hidden)

    def forward(self, below: Tensor, degree: Tensor, level: Level) -> Tensor:
        message = below @ self.first.weight  # linear before the sum
        summed = level.joined(torch.addcmul(self.first.bias, message, 1 + self.eps), message)
        return self.second(torch.relu(self.between(summed, level.weight)))


class GCNLayer(nn.Module):
    """W (sum over neighbors and oneself of h_u / sqrt((d_u + 1) (d_v + 1))) + b."""

    def __init__(self, models: int, inputs: int, hidden: int) -> None:
        super().__init__()
        self.linear = _still(Linear(models, inputs, hidden))

    def forward(self, below: Tensor, degree: Tensor, level: Level) -> Tensor:
        message = (below @ self.linear.weight) * torch.rsqrt(degree + 1)[:, None]
        summed = level.joined(message, message)
        return summed * torch.rsqrt(level.degree + 1)[:, None] + self.linear.bias


class PNALayer(nn.Module):
    """Mean, smallest, largest and deviation over neighbors, each scaled in three ways by the degree.

    The message W [h_v, h_u] + b is a sum of a part of v and a part of u, so that all four aggregations are formed
    of parts of vertices, never of edges. ``log_degree`` is the mean of log(degree + 1) over the training vertices.
    """

    log_degree: Tensor

    def __init__(self, models: int, inputs: int, hidden: int) -> None:
        super().__init__()
        self.before = Linear(models, 2 * inputs, inputs)
        self.after = _still(Linear(models, 13 * inputs, hidden))
        self.last = _still(Linear(models, hidden, hidden))
        self.register_buffer("log_degree", torch.ones(()))

    def forward(self, below: Tensor, degree: Tensor, level: Level) -> Tensor:
        if level.neighbors is None:
            raise ValueError("PNA needs the neighbors of every row: build the structure with neighbors=True")
        inputs = below.shape[-1]
        below = below.expand(self.before.weight.shape[0], -1, -1)
        x = level.continued(below)
        mine = x @ self.before.weight[:, :inputs] + self.before.bias
        theirs = below @ self.before.weight[:, inputs:]
        some = (level.degree > 0).to(x.dtype)[:, None]
        count = level.degree.clamp(min=1)[:, None]
        mean = level.near(theirs) / count
        variance = level.near(theirs * theirs) / count - mean * mean
        deviation = variance.clamp(min=1e-5).sqrt()  # no gradient where the neighbors agree
        deviation = deviation.masked_fill(deviation <= 1e-5**0.5, 0.0)
        low, high = level.neighbors.extremes(theirs)
        shared = mine * some
        summary = torch.cat([mean + shared, low + shared, high + shared, deviation], dim=-1)
        stretch = torch.log(level.degree + 1)[:, None] / self.log_degree
        shrink = self.log_degree / torch.log(count + 1)
        joined = torch.cat([x, summary, summary * stretch, summary * shrink], dim=-1)
        return self.last(self.after(joined))


LAYERS = {"gin": GINLayer, "gcn": GCNLayer, "pna": PNALayer}


class Encoder(nn.Module):
    """A number of layers of one kind. ``widths`` are the features of what `forward` returns, in its order."""

    def __init__(self, kind: str, models: int, inputs: int, hidden: int, layers: int) -> None:
        super().__init__()
        if kind not in LAYERS:
            raise ValueError(f"an encoder is one of {', '.join(LAYERS)}; got {kind!r}")
        sizes = [inputs] + [hidden] * layers
        self.kind = kind
        self.layers = nn.ModuleList(LAYERS[kind](models, size, hidden) for size in sizes[:-1])
        self.norms = nn.ModuleList(BatchNorm(models, hidden) for _ in range(layers))
        self.widths = tuple(sizes)

    def learn_degrees(self, mean_log_degree: float) -> None:
        """PNA scales by this mean of log(degree + 1) over the training vertices."""
        for layer in self.layers:
            if isinstance(layer, PNALayer):
                layer.log_degree.fill_(mean_log_degree or 1.0)

    def forward(self, structure: Structure, x: Tensor | None = None) -> Embeddings:
        """Embeddings of the rows of all levels, starting from the features (or from ``x`` in their place)."""
        rows = structure.features[None] if x is None else x
        degree = structure.degree
        found: Embeddings = [(0, rows)]
        for place, level in enumerate(structure.levels):
            rows = torch.relu(self.norms[place](self.layers[place](rows, degree, level), level.weight))
            degree = level.degree
            found.append((place + 1, rows))
        return found
