"""GIN, GCN, PNA and RPGIN on whole graphs as usually written with PyG: one model at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from anysize import GraphSet
from anysize.nn.gamma import GraphModel
from anysize.nn.rows.graph_batch import IDENTITIES
from benchmarks.plain_gamma import HAS_PYG, gin_layer

if HAS_PYG:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a deprecated function of torch is called while PyG is imported
        from torch_geometric.data import Batch
        from torch_geometric.loader import DataLoader
        from torch_geometric.nn import GCNConv, PNAConv, global_add_pool

AGGREGATORS, SCALERS = ["mean", "min", "max", "std"], ["identity", "amplification", "attenuation"]


def pyg_list(graphs: GraphSet, environments: Tensor) -> list[Any]:
    """One `Data` per graph; without colors the only feature is 1."""
    data = graphs.to_pyg()
    for item, environment in zip(data, environments, strict=True):
        item.environment = environment[None]
        if graphs.colors is None:
            item.x = torch.ones(item.num_nodes, 1)
    return data


@dataclass(frozen=True)
class Graphs:
    """A PyG batch on its device; what is the same in every step is cached."""

    batch: Any

    @staticmethod
    def of(data: list[Any], device: str) -> Graphs:
        return Graphs(Batch.from_data_list(data).to(device))

    def doubled(self) -> Graphs:
        """The same in double precision."""
        batch = self.batch.clone()
        batch.x = batch.x.double()
        return Graphs(batch)

    @cached_property
    def _copied(self) -> dict[int, tuple[Tensor, Tensor]]:
        return {}

    def copied(self, times: int) -> tuple[Tensor, Tensor]:
        """Edges and graph numbers of several copies of all graphs, one after the other."""
        if times == 1:
            return self.batch.edge_index, self.batch.batch
        if times not in self._copied:
            shift = torch.arange(times, device=self.batch.batch.device)
            edges = self.batch.edge_index[:, None] + (shift * len(self.batch.batch))[:, None]
            graphs = self.batch.batch + (shift * self.batch.num_graphs)[:, None]
            self._copied[times] = edges.reshape(2, -1), graphs.reshape(-1)
        return self._copied[times]

    def draw_identities(self, permutations: int) -> Tensor:
        """Positions modulo 10 in a random order of every graph: (permutations, vertices)."""
        graph = self.batch.batch
        drawn = torch.rand(permutations, len(graph), device=graph.device, dtype=torch.float64)
        rank = (graph + drawn).argsort(1).argsort(1)
        return (rank - self.batch.ptr[graph]) % IDENTITIES


class PlainGNN(nn.Module):
    """One model: message passing, batch norm and ReLU in every layer, a sum over vertices, a linear head.

    ``degrees``: how many training vertices have each degree, for PNA. ``pooled``: with identities (RPGIN).
    """

    def __init__(
        self, kind: str, inputs: int, hidden: int, layers: int, classes: int, degrees: Tensor, pooled: bool
    ) -> None:
        super().__init__()
        self.lift = None
        if pooled:
            first = nn.Linear(inputs + IDENTITIES, hidden)
            self.lift = nn.Sequential(first, nn.ReLU(), nn.Linear(hidden, hidden))
        sizes = [hidden if pooled else inputs] + [hidden] * layers
        self.convs = nn.ModuleList(_layer(kind, size, hidden, degrees) for size in sizes[:-1])
        self.norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(layers))
        self.head = nn.Linear(hidden, classes)

    def forward(self, graphs: Graphs, identities: Tensor | None = None) -> Tensor:
        """Logits (graphs, classes)."""
        h, copies = graphs.batch.x, 1
        if self.lift is not None:
            assert identities is not None
            copies = len(identities)
            own = nn.functional.one_hot(identities, IDENTITIES).to(h.dtype)
            h = self.lift(torch.cat([h.expand(copies, -1, -1), own], dim=-1).flatten(0, 1))
        edges, graph = graphs.copied(copies)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            h = torch.relu(norm(conv(h, edges)))
        amount = graphs.batch.num_graphs
        pooled = global_add_pool(h, graph, size=copies * amount).view(copies, amount, -1).mean(0)
        logits: Tensor = self.head(pooled)
        return logits


def _layer(kind: str, inputs: int, hidden: int, degrees: Tensor) -> nn.Module:
    if kind == "gin":
        return gin_layer(inputs, hidden)
    layer: nn.Module
    if kind == "gcn":
        layer = GCNConv(inputs, hidden)
    else:
        layer = PNAConv(inputs, hidden, AGGREGATORS, SCALERS, deg=degrees, towers=1)
    return layer


# ---- training ------------------------------------------------------------------------------------------


def loss_of(logits: Tensor, batch: Any, irm: float) -> Tensor:
    """Cross entropy; with ``irm`` above 0, the mean over two environments of risk plus IRM penalty."""
    if not irm:
        return nn.functional.cross_entropy(logits, batch.y)
    scale = logits.new_ones((), requires_grad=True)
    losses = nn.functional.cross_entropy(logits * scale, batch.y, reduction="none")
    total = logits.new_zeros(())
    for environment in range(2):
        own = batch.environment == environment
        risk = (losses * own).sum() / own.sum()
        (slope,) = torch.autograd.grad(risk, scale, create_graph=True)
        total = total + (risk + irm * slope**2) / 2
    return total / max(irm, 1.0)


def batches(data: list[Any], batch_size: int | None, device: str) -> Callable[[], Iterable[Graphs]]:
    """A function that gives the batches of an epoch: all graphs, moved once, or PyG's loader in random order."""
    if batch_size is None:
        whole = [Graphs.of(data, device)]
        return lambda: whole
    loader = DataLoader(data, batch_size=batch_size, shuffle=True)
    return lambda: (Graphs(batch.to(device)) for batch in loader)


def train_plain(
    model: PlainGNN, epoch_of: Callable[[], Iterable[Graphs]], validation: Graphs, epochs: int, lr: float, irm: float,
    permutations: int, fixed: Tensor | None,
) -> float:  # fmt: skip
    """Train and validate in every epoch; returns the best accuracy. ``fixed``: identities of validation."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    best = 0.0
    for _ in range(epochs):
        model.train()
        for graphs in epoch_of():
            identities = None if model.lift is None else graphs.draw_identities(permutations)
            optimizer.zero_grad()
            loss_of(model(graphs, identities), graphs.batch, irm).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = model(validation, fixed).argmax(-1) == validation.batch.y
            best = max(best, float(right.float().mean()))
    return best


# ---- the parameters of a stack ---------------------------------------------------------------------------

LINEAR = (("weight", "weight"), ("bias", "bias"))
AVERAGES = (("running_mean",) * 2, ("running_var",) * 2)
NORM = (("scale", "weight"), ("shift", "bias"), *AVERAGES)
INSIDE = {  # names of tensors in our layers and in those of PyG
    "gin": (
        ("first", "nn.0", LINEAR),
        ("between", "nn.1", NORM),
        ("second", "nn.3", LINEAR),
        ("", "", (("eps",) * 2,)),
    ),
    "gcn": (("linear", "lin", LINEAR[:1]), ("linear", "", LINEAR[1:])),
    "pna": (("before", "pre_nns.0.0", LINEAR), ("after", "post_nns.0.0", LINEAR), ("last", "lin", LINEAR)),
}


def names_of(plain: PlainGNN, kind: str) -> list[tuple[str, str]]:
    """(name of a parameter or running average of the stack, its name in the plain model), for all of them."""
    parts = [("head.first", "head", LINEAR)]
    if plain.lift is not None:
        parts += [("representation.first", "lift.0", LINEAR), ("representation.second", "lift.2", LINEAR)]
    for place in range(len(plain.convs)):
        ours, theirs = f"representation.encoder.layers.{place}", f"convs.{place}"
        parts.append((f"representation.encoder.norms.{place}", f"norms.{place}", NORM))
        parts += [(f"{ours}.{a}".rstrip("."), f"{theirs}.{b}".rstrip("."), inside) for a, b, inside in INSIDE[kind]]
    return [(f"{ours}.{a}", f"{theirs}.{b}") for ours, theirs, pairs in parts for a, b in pairs]


@torch.no_grad()
def with_parameters_of(plain: PlainGNN, stack: GraphModel, member: int, kind: str) -> PlainGNN:
    """Copy the parameters and averages of one model of a stack into a plain model."""
    source, target = stack.state_dict(), plain.state_dict()
    names = names_of(plain, kind)
    for ours, theirs in names:
        value, tensor = source[ours][member], target[theirs]
        tensor.copy_(value.T if tensor.dim() == 2 else value.reshape(tensor.shape))
    missing = {name for name, _ in plain.named_parameters()} - {theirs for _, theirs in names}
    assert not missing, f"parameters without a counterpart: {', '.join(sorted(missing))}"
    return plain
