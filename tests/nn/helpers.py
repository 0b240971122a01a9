"""Random patterns, and plain PyG models with the parameters of one model of a stack as references."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from anysize.counting.columns import Columns
from anysize.nn.gamma import GammaGNN, GammaRP
from anysize.nn.gnn import Encoder, GCNLayer, GINLayer, PNALayer
from anysize.nn.layers import BatchNorm, Linear, initialize
from anysize.nn.rows.pattern_batch import PatternBatch
from anysize.patterns.orbits import MAX_SIZE
from anysize.patterns.pattern import connected_patterns

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # a deprecated function of torch is called while PyG is imported
    from torch_geometric.nn import GCNConv, GINConv, PNAConv

Anything = TypeVar("Anything")
NAMES = ("red", "blue", "green", "yellow")


def random_columns(sizes: Iterable[int], amount: int, colors: int | None, seed: int = 0) -> Columns:
    """Patterns of these sizes, ``amount`` of each, with uniform colors (None: without colors)."""
    source = np.random.default_rng(seed)
    size = np.repeat(np.array(list(sizes)), amount)
    place = np.array([source.integers(len(connected_patterns(int(k)))) for k in size])
    codes = None
    if colors is not None:
        codes = source.integers(0, colors, (len(size), MAX_SIZE)).astype(np.uint16)
        codes[np.arange(MAX_SIZE) >= size[:, None]] = 0
    return Columns(size.astype(np.uint8), place.astype(np.int16), codes, NAMES[: colors or 0])


def batch_of(columns: Columns, k: int = 1) -> PatternBatch:
    """The patterns as a batch, for a model that knows all their colors."""
    palette = None if columns.colors is None else {name: code for code, name in enumerate(columns.palette)}
    return PatternBatch.of(columns, palette, k)


def doubled(given: Anything) -> Anything:
    """The same structure in double precision, for comparisons with small tolerances."""
    found: Any = given
    if isinstance(given, Tensor):
        found = given.double() if given.is_floating_point() else given
    elif isinstance(given, tuple):
        found = tuple(doubled(part) for part in given)
    elif isinstance(given, dict):
        found = {name: doubled(part) for name, part in given.items()}
    elif is_dataclass(given) and not isinstance(given, type):
        found = replace(given, **{field.name: doubled(getattr(given, field.name)) for field in fields(given)})
    return found


def by_pattern(batch: PatternBatch, values: Tensor) -> np.ndarray:
    """Values of the vertices (.., vertices) as (.., patterns, k), 0 for padding."""
    table = np.zeros((*values.shape[:-1], *batch.present.shape), np.int64)
    table[..., batch.present] = values.numpy()
    return table


class Union:
    """All vertices of all patterns as one graph for PyG: features, edges in both directions, pattern numbers.

    ``codes``: colors in place of those of the columns (one row per pattern); ``identities`` (permutations, k): the
    patterns once for each of them, with one-hot identities. ``per_pattern`` (permutations, patterns, k) likewise,
    with permutations that differ between patterns. ``id_width``: of the one-hot identities, k if None.
    """

    def __init__(
        self, columns: Columns, codes: np.ndarray | None = None, identities: np.ndarray | None = None,
        per_pattern: np.ndarray | None = None, id_width: int | None = None,
    ) -> None:  # fmt: skip
        inputs = max(len(columns.palette), 1)
        if codes is None and columns.colors is not None:
            codes = columns.colors
        if identities is not None:
            per_pattern = np.repeat(identities[:, None], len(columns), axis=1)
        rows: list[list[float]] = []
        edges: list[tuple[int, int]] = []
        item: list[int] = []
        for copy in range(1 if per_pattern is None else len(per_pattern)):
            for number, (size, place) in enumerate(zip(columns.size, columns.pattern_index, strict=True)):
                start = len(rows)
                for vertex in range(size):
                    color = 0 if codes is None else int(codes[number, vertex])
                    row = [float(color == other) for other in range(inputs)]
                    if per_pattern is not None:
                        own = per_pattern[copy, number]
                        row += [float(own[vertex] == other) for other in range(id_width or len(own))]
                    rows.append(row)
                    item.append(number)
                for i, j in connected_patterns(int(size))[place].edges:
                    edges += [(start + i, start + j), (start + j, start + i)]
        self.x = torch.tensor(rows, dtype=torch.float64)
        self.edges = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T.contiguous()
        self.item, self.items = torch.tensor(item), len(columns)
        self.copies = 1 if per_pattern is None else len(per_pattern)

    def __add__(self, other: Union) -> Union:
        """Both as one batch; the items of the other come last."""
        both = object.__new__(Union)
        both.x = torch.cat([self.x, other.x])
        both.edges = torch.cat([self.edges, other.edges + len(self.x)], dim=1)
        both.item, both.items = torch.cat([self.item, other.item + self.items]), self.items + other.items
        both.copies = self.copies
        return both

    @property
    def degrees(self) -> Tensor:
        return torch.bincount(self.edges[1], minlength=len(self.x))

    def read(self, h: Tensor) -> Tensor:
        """The vertices of each pattern summed, its copies averaged."""
        return torch.zeros(self.items, h.shape[1], dtype=h.dtype).index_add(0, self.item, h) / self.copies


class PlainGNN(nn.Module):
    """One model with PyG layers; `forward` gives the embeddings of vertices, level by level."""

    def __init__(self, kind: str, inputs: int, hidden: int, layers: int, degrees: Tensor, lifted: int = 0) -> None:
        super().__init__()
        self.lift = None
        if lifted:
            self.lift = nn.Sequential(nn.Linear(inputs, lifted), nn.ReLU(), nn.Linear(lifted, lifted))
        sizes = [lifted or inputs] + [hidden] * layers
        self.convs = nn.ModuleList(_conv(kind, size, hidden, degrees) for size in sizes[:-1])
        self.norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(layers))

    def forward(self, x: Tensor, edges: Tensor) -> list[Tensor]:
        found = [x]
        if self.lift is not None:
            found.append(self.lift(x))
        for conv, norm in zip(self.convs, self.norms, strict=True):
            found.append(torch.relu(norm(conv(found[-1], edges))))
        return found


def _conv(kind: str, inputs: int, hidden: int, degrees: Tensor) -> nn.Module:
    if kind == "gin":
        parts = [nn.Linear(inputs, hidden), nn.BatchNorm1d(hidden), nn.ReLU(), nn.Linear(hidden, hidden)]
        return GINConv(nn.Sequential(*parts), train_eps=True)
    if kind == "gcn":
        return GCNConv(inputs, hidden)
    ways = ["mean", "min", "max", "std"], ["identity", "amplification", "attenuation"]
    return PNAConv(inputs, hidden, *ways, deg=torch.bincount(degrees), towers=1)


def pairs(stack: GammaGNN, plain: PlainGNN, model: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    """(parameter or buffer of the stack, its part of one model in the shape of PyG, the same in the plain model)."""
    found: list[tuple[Tensor, Tensor, Tensor]] = []

    def linear(ours: Linear, theirs: nn.Module, bias: Tensor | None = None) -> None:
        found.append((ours.weight, ours.weight[model].T, theirs.weight))
        found.append((ours.bias, ours.bias[model, 0], theirs.bias if bias is None else bias))

    def norm(ours: BatchNorm, theirs: nn.BatchNorm1d) -> None:
        found.append((ours.scale, ours.scale[model, 0], theirs.weight))
        found.append((ours.shift, ours.shift[model, 0], theirs.bias))
        found.append((ours.running_mean, ours.running_mean[model, 0], theirs.running_mean))
        found.append((ours.running_var, ours.running_var[model, 0], theirs.running_var))

    if isinstance(stack, GammaRP):
        assert plain.lift is not None
        linear(stack.first, plain.lift[0])
        linear(stack.second, plain.lift[2])
    for ours, theirs in zip(stack.encoder.layers, plain.convs, strict=True):
        if isinstance(ours, GINLayer):
            found.append((ours.eps, ours.eps[model, 0], theirs.eps))
            linear(ours.first, theirs.nn[0])
            norm(ours.between, theirs.nn[1])
            linear(ours.second, theirs.nn[3])
        elif isinstance(ours, GCNLayer):
            linear(ours.linear, theirs.lin, theirs.bias)
        else:
            assert isinstance(ours, PNALayer)
            linear(ours.before, theirs.pre_nns[0][0])
            linear(ours.after, theirs.post_nns[0][0])
            linear(ours.last, theirs.lin)
    for ours, theirs in zip(stack.encoder.norms, plain.norms, strict=True):
        norm(ours, theirs)
    return found


def plain_copy(stack: GammaGNN, inputs: int, model: int, degrees: Tensor) -> PlainGNN:
    """One model of a stack, with PyG layers and in double precision."""
    hidden, layers = stack.encoder.widths[-1], len(stack.encoder.layers)
    lifted = hidden if isinstance(stack, GammaRP) else 0
    plain = PlainGNN(stack.encoder.kind, inputs, hidden, layers, degrees, lifted).double()
    with torch.no_grad():
        for _, ours, theirs in pairs(stack, plain, model):
            theirs.copy_(ours)
        for conv in plain.convs:
            if isinstance(conv, PNAConv):  # PyG has it in single precision
                torch.testing.assert_close(conv.aggr_module.avg_deg_log[0], mean_log(degrees), rtol=1e-5, atol=1e-5)
                conv.aggr_module.avg_deg_log.fill_(mean_log(degrees))
    return plain.train(stack.training)


def same_gradients(stack: GammaGNN, plain: PlainGNN, model: int, tolerance: float = 1e-8) -> None:
    """Gradients of one model of the stack are those of the plain one; a bias below batch norm has none."""
    for ours, part, theirs in pairs(stack, plain, model):
        if isinstance(ours, nn.Parameter) and not ours.requires_grad:
            assert not stack.training or float(theirs.grad.abs().max()) < tolerance
        elif isinstance(ours, nn.Parameter):
            assert ours.grad is not None
            shaped = ours.grad[model].reshape(part.T.shape).T if part.dim() == 2 else ours.grad[model].reshape(-1)
            torch.testing.assert_close(shaped, theirs.grad, rtol=tolerance, atol=tolerance)


def same_averages(stack: GammaGNN, plain: PlainGNN, model: int, tolerance: float = 1e-8) -> None:
    """The running averages of one model of the stack are those of the plain one."""
    for ours, part, theirs in pairs(stack, plain, model):
        if not isinstance(ours, nn.Parameter):
            torch.testing.assert_close(part, theirs, rtol=tolerance, atol=tolerance)


Module = TypeVar("Module", bound=nn.Module)


def randomized(stack: Module, seeds: Sequence[int]) -> Module:
    """A stack in double precision with initial values, and random values for parameters that start at 0 or 1."""
    initialize(stack, seeds)
    source = torch.Generator().manual_seed(12)
    with torch.no_grad():
        for part in stack.modules():
            if isinstance(part, BatchNorm):
                part.running_mean.normal_(0, 0.3, generator=source)
                part.running_var.uniform_(0.5, 2, generator=source)
                if part.affine:
                    part.scale.uniform_(0.5, 1.5, generator=source)
                    part.shift.normal_(0, 0.3, generator=source)
            if isinstance(part, GINLayer):
                part.eps.normal_(0, 0.5, generator=source)
    return stack.double()


def mean_log(degrees: Tensor) -> Tensor:
    return torch.log(degrees.double() + 1).mean()


def set_degrees(encoder: Encoder, degrees: Tensor) -> None:
    encoder.set_mean_log_degree(float(mean_log(degrees)))
