"""GIN, GCN and PNA for M models at once, on the rows of a `Structure`.

An encoder maps a structure to the embeddings of its rows, level by level: [(0, x), (1, h1), .., (L, hL)]. Each layer
ends in batch normalization and ReLU. If a layer is linear before it sums over neighbors, the linear part runs on the
rows of the level below, which are fewer.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from anysize.nn.layers import BatchNorm, Linear
from anysize.nn.rows.maps import take_rows
from anysize.nn.rows.structure import Level, Structure

VARIANCE_FLOOR = 1e-5  # in PNA, neighbors with a smaller variance count as equal
Embeddings = list[tuple[int, Tensor]]  # (level, rows); jumping knowledge reads all of them


def _freeze_bias(linear: Linear) -> Linear:
    """Do not train a bias in front of batch norm, which removes every constant.

    Its gradient is rounding noise, which Adam would scale up to steps of full length. In training these steps cancel.
    In prediction they do not, because running averages lag behind, and a model alone and in a stack would differ.
    """
    linear.bias.requires_grad_(False)
    return linear


class Layer(nn.Module):
    """A layer: (rows below, the level) -> the rows of the level, before batch norm and ReLU.

    ``by_degree``: it reads the degrees below, so that input rows differ by degree. ``neighbors``: it needs
    `Level.neighbors`, for minimum and maximum. ``values_per_unit``: what it holds for each row and feature, gradients
    included.
    """

    by_degree, neighbors, values_per_unit = False, False, 16


class EdgeEmbedding(nn.Module):
    """Messages over edges of several types, as in GINE: ReLU(h_u + e_t), with a learned row e_t for every type t.

    ``relu`` False: h_u + e_t.
    """

    def __init__(self, models: int, types: int, width: int, relu: bool = True) -> None:
        super().__init__()
        self.relu = relu
        self.rows = nn.Parameter(torch.full((models, types, width), torch.nan))

    def bounds(self) -> dict[str, float]:
        return {"rows": 1 / math.sqrt(max(self.rows.shape[1], 1))}

    def forward(self, h: Tensor, types: int) -> Tensor:
        """(models, types * rows, width): the messages of all rows over the first type, the second, ...

        Types beyond those of training have the row 0.
        """
        edges = pad(self.rows, (0, 0, 0, types - self.rows.shape[1]))
        return self._messages(h[:, None], edges[:, :, None]).flatten(1, 2)

    def of_edges(self, h: Tensor, edge_attr: Tensor) -> Tensor:
        """(models, edges, width): the message of every edge by itself.

        ``h`` (models, edges, width): of its source. ``edge_attr`` (edges, types): one-hot, or shares of types.
        """
        return self._messages(h, edge_attr @ self.rows)

    def _messages(self, h: Tensor, edges: Tensor) -> Tensor:
        return torch.relu(h + edges) if self.relu else h + edges


class GINLayer(Layer):
    """MLP((1 + eps) h_v + sum over neighbors of h_u), with trained eps; two linear maps with batch norm between.

    Where edges have ``types``, the sum is over the messages of `EdgeEmbedding`, after the first linear map.
    """

    def __init__(self, models: int, inputs: int, hidden: int, types: int = 0) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(models, 1, 1))
        self.messages = EdgeEmbedding(models, types, hidden) if types else None
        self.first = _freeze_bias(Linear(models, inputs, hidden))
        self.second = _freeze_bias(Linear(models, hidden, hidden))
        self.between = BatchNorm(models, hidden, relu=True)

    def forward(self, h: Tensor, level: Level) -> Tensor:
        h = h @ self.first.weight  # linear, and so before the sum: the rows below are fewer
        near = h if self.messages is None else self.messages(h, level.types)
        own = take_rows((1 + self.eps) * h + self.first.bias, level.index)
        summed = own + level.sum_neighbors(near)
        return self.second(self.between(summed, level.weight))


class GCNLayer(Layer):
    """W (sum over the vertex and its neighbors of h_u / sqrt((d_u + 1) (d_v + 1))) + b.

    Where edges have ``types``, the message W h_u of a neighbor becomes that of `EdgeEmbedding`, ReLU(W h_u + e_t).
    """

    by_degree, values_per_unit = True, 12

    def __init__(self, models: int, inputs: int, hidden: int, types: int = 0) -> None:
        super().__init__()
        self.messages = EdgeEmbedding(models, types, hidden) if types else None
        self.linear = _freeze_bias(Linear(models, inputs, hidden))

    def forward(self, h: Tensor, level: Level) -> Tensor:
        h, scale = h @ self.linear.weight, torch.rsqrt(level.degree_below + 1)[..., None]
        near = scaled = h * scale
        if self.messages is not None:
            near = self.messages(h, level.types) * torch.cat([scale] * level.types, -2)
        summed = take_rows(scaled, level.index) + level.sum_neighbors(near)
        return summed * torch.rsqrt(level.degree + 1)[..., None] + self.linear.bias


class PNALayer(Layer):
    """Mean, minimum, maximum and standard deviation over neighbors, each scaled in three ways by the degree.

    The message W [h_v, h_u] + b is a sum of a part of v and a part of u, so that all four aggregations are computed on
    vertices, never on edges. Where edges have ``types``, it is W [h_v, h_u] + b + e_t, with a learned row e_t for every
    type t. ``log_degree`` is the mean of log(degree + 1) over the training vertices.
    """

    neighbors, values_per_unit = True, 40
    log_degree: Tensor

    def __init__(self, models: int, inputs: int, hidden: int, types: int = 0) -> None:
        super().__init__()
        self.messages = EdgeEmbedding(models, types, inputs, relu=False) if types else None
        self.before = Linear(models, 2 * inputs, inputs)
        self.after = _freeze_bias(Linear(models, 13 * inputs, hidden))
        self.last = _freeze_bias(Linear(models, hidden, hidden))
        self.register_buffer("log_degree", torch.ones(()))

    def forward(self, h: Tensor, level: Level) -> Tensor:
        inputs = h.shape[-1]
        h = h.expand(self.before.weight.shape[0], -1, -1)
        x = take_rows(h, level.index)
        self_part = x @ self.before.weight[:, :inputs] + self.before.bias
        near = h @ self.before.weight[:, inputs:]
        near = near if self.messages is None else self.messages(near, level.types)
        aggregated = self._aggregations(level, self_part, near)
        # W [x, a, s a, t a] is W0 x + W1 a + s W2 a + t W3 a: the scaled aggregations need not exist
        first, *others = self.after.weight.split([inputs, 4 * inputs, 4 * inputs, 4 * inputs], 1)
        plain, amplified, attenuated = (aggregated @ torch.cat(others, 2)).chunk(3, -1)
        amplification = torch.log(level.degree + 1)[..., None] / self.log_degree
        attenuation = self.log_degree / torch.log(level.degree.clamp(min=1) + 1)[..., None]
        summed = torch.baddbmm(self.after.bias, x, first) + plain
        return self.last(summed.addcmul(amplified, amplification).addcmul(attenuated, attenuation))

    @staticmethod
    def _aggregations(level: Level, self_part: Tensor, h: Tensor) -> Tensor:
        """Mean, minimum and maximum over neighbors, each plus the row's own part, and standard deviation."""
        if level.neighbors is None:
            raise ValueError("PNA needs the neighbors of every row; build the structure with extremes=True")
        low, high = level.neighbors.both(h)
        count = level.degree.clamp(min=1)[..., None]
        shared = self_part * (level.degree > 0).to(h.dtype)[..., None]
        mean, square = level.sum_neighbors(h) / count, level.sum_neighbors(h * h) / count
        variance = square - mean * mean
        deviation = variance.clamp(min=VARIANCE_FLOOR).sqrt()  # no gradient where the neighbors agree
        deviation = deviation.masked_fill(variance <= VARIANCE_FLOOR, 0.0)
        return torch.cat([mean + shared, low + shared, high + shared, deviation], dim=-1)


LAYERS: dict[str, type[Layer]] = {"gin": GINLayer, "gcn": GCNLayer, "pna": PNALayer}


class Encoder(nn.Module):
    """Several layers of one kind. ``widths``: the number of features of each level that `forward` returns.

    ``types``: of edges; 0: edges are all alike.
    """

    def __init__(self, kind: str, models: int, inputs: int, hidden: int, layers: int, types: int = 0) -> None:
        super().__init__()
        if kind not in LAYERS:
            raise ValueError(f"an encoder is one of {', '.join(LAYERS)}; got {kind!r}")
        sizes = [inputs] + [hidden] * layers
        self.kind = kind
        self.layers = nn.ModuleList(LAYERS[kind](models, size, hidden, types) for size in sizes[:-1])
        self.norms = nn.ModuleList(BatchNorm(models, hidden, relu=True) for _ in range(layers))
        self.widths = tuple(sizes)

    def set_mean_log_degree(self, mean_log_degree: float) -> None:
        """Set the mean of log(degree + 1) over the training vertices, by which PNA scales."""
        for layer in self.layers:
            if isinstance(layer, PNALayer):
                layer.log_degree.fill_(mean_log_degree or 1.0)

    def forward(self, structure: Structure, x: Tensor | None = None) -> Embeddings:
        """Embeddings of the rows of all levels, starting from the features of the structure or from ``x``."""
        h = structure.features if x is None else x
        h = h if h.dim() == 3 else h[None]  # models share it
        embeddings = [(0, h)]
        for number, (layer, norm, level) in enumerate(zip(self.layers, self.norms, structure.levels, strict=True), 1):
            h = norm(layer(h, level), level.weight)
            embeddings.append((number, h))
        return embeddings
