"""Gamma_GIN and Gamma_RPGIN as usually written with PyG: one model, all vertices of all patterns.

Without PyG, a short layer with the same gather and scatter replaces its `GINConv`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor, nn

from anysize.graphs.ragged import owners
from anysize.nn.gamma import GraphModel
from anysize.nn.rows.pattern_batch import PatternBatch

HAS_PYG = find_spec("torch_geometric") is not None


class ScatterGIN(nn.Module):
    """MLP((1 + eps) h_v + sum over neighbors of h_u)."""

    def __init__(self, mlp: nn.Module) -> None:
        super().__init__()
        self.nn, self.eps = mlp, nn.Parameter(torch.zeros(1))

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        summed = torch.zeros_like(x).index_add(0, edges[1], x.index_select(0, edges[0]))
        out: Tensor = self.nn((1 + self.eps) * x + summed)
        return out


def gin_layer(inputs: int, hidden: int) -> nn.Module:
    """GIN with trained eps; its MLP has batch norm between two linear maps."""
    parts = [nn.Linear(inputs, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, hidden)]
    if not HAS_PYG:
        return ScatterGIN(nn.Sequential(*parts))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a deprecated function of torch is called while PyG is imported
        from torch_geometric.nn import GINConv
    layer: nn.Module = GINConv(nn.Sequential(*parts), train_eps=True)
    return layer


@dataclass(frozen=True)
class Vertices:
    """All vertices of all patterns in one list, on one device, and the densities of the patterns in graphs.

    ``position``: the number of a vertex inside its pattern. ``k``: vertices of the largest pattern.
    """

    colors: Tensor
    edges: Tensor
    item: Tensor
    position: Tensor
    densities: Tensor
    y: Tensor
    inputs: int
    k: int

    @staticmethod
    def of(batch: PatternBatch, densities: csr_array[Any], y: NDArray[np.int64], device: str) -> Vertices:
        indptr, indices = batch.adjacency
        item, position = np.nonzero(batch.present)
        edges, colors = np.stack([indices, owners(indptr)]), batch.colors[batch.present]
        full = densities.toarray().astype(np.float32)
        tensors = (torch.from_numpy(part).to(device) for part in (colors, edges, item, position, full, y))
        return Vertices(*tensors, batch.inputs, batch.k)

    @cached_property
    def _copied(self) -> dict[int, tuple[Tensor, Tensor]]:
        return {}

    def copied(self, times: int) -> tuple[Tensor, Tensor]:
        """Edges and items of several copies of all patterns, one after the other; cached."""
        if times not in self._copied:
            shift = torch.arange(times, device=self.item.device)
            edges = self.edges[:, None] + (shift * len(self.item))[:, None]
            items = self.item + (shift * self.densities.shape[1])[:, None]
            self._copied[times] = edges.reshape(2, -1), items.reshape(-1)
        return self._copied[times]


class PlainGamma(nn.Module):
    """One model: message passing on patterns, densities, batch norm, a linear head."""

    def __init__(
        self, inputs: int, k: int, hidden: int, layers: int, classes: int, jumping: bool, pooled: bool
    ) -> None:
        super().__init__()
        self.inputs, self.k, self.jumping, self.pooled = inputs, k, jumping, pooled
        first = inputs + k if pooled else inputs
        self.lift = nn.Sequential(nn.Linear(first, hidden), nn.ReLU(), nn.Linear(hidden, hidden)) if pooled else None
        sizes = [hidden if pooled else inputs] + [hidden] * layers
        self.convs = nn.ModuleList(gin_layer(size, hidden) for size in sizes[:-1])
        self.norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(layers))
        width = sum(sizes) + (first if pooled else 0) if jumping else hidden
        self.norm, self.head = nn.BatchNorm1d(width, affine=False), nn.Linear(width, classes)

    def patterns(self, vertices: Vertices, colors: Tensor, identities: Tensor | None) -> Tensor:
        """(sides, patterns, width): ``colors`` (sides, vertices), ``identities`` (permutations, vertices)."""
        sides, copies = len(colors), 1 if identities is None else len(identities)
        x = nn.functional.one_hot(colors, self.inputs).float()[:, None].expand(-1, copies, -1, -1)
        if identities is not None:
            own = nn.functional.one_hot(identities, self.k).float()[None].expand(sides, -1, -1, -1)
            x = torch.cat([x, own], dim=-1)
        edges, items = vertices.copied(sides * copies)
        rows = [x.reshape(-1, x.shape[-1])]
        if self.lift is not None:
            rows.append(self.lift(rows[-1]))
        for conv, norm in zip(self.convs, self.norms, strict=True):
            rows.append(torch.relu(norm(conv(rows[-1], edges))))
        joined = torch.cat(rows[::-1], dim=1) if self.jumping else rows[-1]
        amount = vertices.densities.shape[1]
        summed = torch.zeros(sides * copies * amount, joined.shape[1], device=x.device).index_add(0, items, joined)
        return summed.view(sides, copies, amount, -1).mean(1)

    def logits(self, vertices: Vertices, patterns: Tensor) -> Tensor:
        logits: Tensor = self.head(self.norm(vertices.densities @ patterns))
        return logits

    def loss(self, vertices: Vertices, recolored: Tensor, identities: Tensor | None, penalty: float) -> Tensor:
        """Cross entropy plus the paper's penalty; ``recolored``: other colors for all vertices."""
        read = self.patterns(vertices, torch.stack([vertices.colors, recolored]), identities)
        entropy = nn.functional.cross_entropy(self.logits(vertices, read[0]), vertices.y)
        return entropy + penalty * torch.linalg.vector_norm(read[0] - read[1], dim=-1).mean()


def draw_identities(vertices: Vertices, permutations: int) -> Tensor:
    """A random permutation for every pattern: (permutations, vertices)."""
    amount = vertices.densities.shape[1]
    orders = torch.rand(permutations, amount, vertices.k, device=vertices.item.device).argsort(-1)
    return orders[:, vertices.item, vertices.position]


def train_plain(
    model: PlainGamma, train: Vertices, validation: Vertices, epochs: int, lr: float, penalty: float,
    permutations: int, fixed: Tensor | None,
) -> float:  # fmt: skip
    """Train and validate in every epoch; returns the best accuracy. ``fixed``: identities of validation."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    best = 0.0
    for _ in range(epochs):
        model.train()
        recolored = torch.randint(0, train.inputs, train.colors.shape, device=train.colors.device)
        identities = draw_identities(train, permutations) if model.pooled else None
        optimizer.zero_grad()
        model.loss(train, recolored, identities, penalty).backward()
        optimizer.step()
        model.eval()
        with torch.no_grad():
            read = model.patterns(validation, validation.colors[None], fixed)
            right = model.logits(validation, read[0]).argmax(-1) == validation.y
            best = max(best, float(right.float().mean()))
    return best


@torch.no_grad()
def with_parameters_of(plain: PlainGamma, stack: GraphModel, member: int) -> PlainGamma:
    """Copy the parameters and averages of one model of a stack into a plain model."""
    source = {name: tensor[member] for name, tensor in stack.state_dict().items()}

    def linear(theirs: Any, ours: str) -> None:
        theirs.weight.copy_(source[f"{ours}.weight"].T[:, : theirs.weight.shape[1]])
        theirs.bias.copy_(source[f"{ours}.bias"][0])

    def norm(theirs: Any, ours: str) -> None:
        theirs.weight.copy_(source[f"{ours}.scale"][0])
        theirs.bias.copy_(source[f"{ours}.shift"][0])

    if plain.lift is not None:
        linear(plain.lift[0], "representation.first")
        linear(plain.lift[2], "representation.second")
    for place, conv in enumerate(plain.convs):
        name = f"representation.encoder.layers.{place}"
        mlp: Any = conv.nn
        linear(mlp[0], f"{name}.first")
        norm(mlp[1], f"{name}.between")
        linear(mlp[3], f"{name}.second")
        norm(plain.norms[place], f"representation.encoder.norms.{place}")
    linear(plain.head, "head.first")
    return plain
