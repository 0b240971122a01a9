"""Peers' methods as torch modules: one GIN, and what each method changes about its loss or its input.

Every module maps `GraphTensors` to logits; those with an objective of their own are an
`anysize.training.fit_module.HasObjective`. Sources and what was left out are on the page docs/why-these-rows.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, cross_entropy

from anysize.nn.coarsening import spectral_clusters
from anysize.nn.gnn import EdgeEmbedding
from anysize.nn.layers import are_alike
from anysize.nn.rows.graph_batch import READOUTS, Readout

if TYPE_CHECKING:
    from anysize.training.fit_module import GraphTensors, TrainingStep

EPSILON = 1e-8  # under square roots
TIE = 1e-5  # scores of edges that differ by less are equal but for rounding

# ---- the network ---------------------------------------------------------------------------------------


class Norm(nn.BatchNorm1d):
    """Batch norm that takes fewer than two rows as in prediction, and keeps its averages while ``counts`` is false.

    Rows that are all alike become the bias (`are_alike`). The first ten steps have equal weight in the running
    averages: small sets train for few steps, and their variances may be far below the 1 that these start from.
    """

    counts = True
    num_batches_tracked: Tensor

    def forward(self, x: Tensor) -> Tensor:
        mean, variance = self.running_mean, self.running_var
        assert mean is not None
        assert variance is not None
        if not self.training or len(x) < 2:
            scale = self.weight.masked_fill(are_alike(mean, variance), 0.0)
            return batch_norm(x, mean, variance, scale, self.bias, eps=self.eps)
        momentum = 0.0
        if self.counts:
            self.num_batches_tracked += 1
            momentum = max(self.momentum or 0.0, 1 / int(self.num_batches_tracked))
        if rows_alike(x.detach()):
            mean.lerp_(x.detach().mean(0), momentum)
            variance.mul_(1 - momentum)
            return self.bias.expand_as(x)
        kept = (mean, variance) if self.counts else (None, None)
        return batch_norm(x, kept[0], kept[1], self.weight, self.bias, True, momentum, self.eps)


def rows_alike(x: Tensor) -> bool:
    """Whether all rows are alike but for rounding; a few of them tell most batches apart."""
    for rows in (x[:: len(x) // 8 + 1], x):
        variance, mean = torch.var_mean(rows, 0, correction=0)
        if not bool(are_alike(mean, variance)):
            return False
    return True


@contextmanager
def averages_kept(module: nn.Module) -> Iterator[None]:
    """Batch norm uses the statistics of its input, and its running averages stay as they are."""
    norms = [part for part in module.modules() if isinstance(part, Norm)]
    for norm in norms:
        norm.counts = False
    try:
        yield
    finally:
        for norm in norms:
            norm.counts = True


class GINLayer(nn.Module):
    """ReLU(BN(MLP((1 + eps) h_v + sum of w_uv h_u))), eps trained, MLP = linear, batch norm, ReLU, linear.

    Where edges have ``types``, the sum is over w_uv times the messages of `EdgeEmbedding`, after the first linear map.
    """

    def __init__(self, inputs: int, hidden: int, types: int = 0) -> None:
        super().__init__()
        self.eps = nn.Parameter(torch.zeros(()))
        self.mlp = nn.Sequential(nn.Linear(inputs, hidden), Norm(hidden), nn.ReLU(), nn.Linear(hidden, hidden))
        self.norm = Norm(hidden)
        self.messages = EdgeEmbedding(1, types, hidden) if types else None
        for linear in (self.mlp[0], self.mlp[3]):
            linear.bias.requires_grad_(False)  # batch norm removes it: its gradient is rounding, which Adam scales up
        if self.messages is not None:
            bound = self.messages.bounds()["rows"]
            nn.init.uniform_(self.messages.rows, -bound, bound)

    def forward(self, x: Tensor, graphs: GraphTensors, edge_weight: Tensor | None) -> Tensor:
        source, target = graphs.edge_index
        if self.messages is None:
            messages = x.index_select(0, source)
        else:
            assert graphs.edge_attr is not None
            x = x @ self.mlp[0].weight.T
            messages = self.messages.of_edges(x.index_select(0, source)[None], graphs.edge_attr)[0]
        if edge_weight is not None:
            messages = messages * edge_weight[:, None]
        sums = torch.zeros_like(x).index_add(0, target, messages)
        summed = (1 + self.eps) * x + sums
        mapped = self.mlp(summed) if self.messages is None else self.mlp[1:](summed + self.mlp[0].bias)
        embedding: Tensor = torch.relu(self.norm(mapped))
        return embedding


class Encoder(nn.Module):
    """GIN layers: (vertices, hidden). ``edge_weight`` (edges,) multiplies messages; ``types``: of edges, 0 if alike."""

    def __init__(self, inputs: int, hidden: int, layers: int, types: int = 0) -> None:
        super().__init__()
        self.layers = nn.ModuleList(GINLayer(inputs if i == 0 else hidden, hidden, types) for i in range(layers))

    def forward(self, graphs: GraphTensors, edge_weight: Tensor | None = None) -> Tensor:
        x = graphs.x
        for layer in self.layers:
            x = layer(x, graphs, edge_weight)
        return x


def vertex_sums(graphs: GraphTensors, values: Tensor) -> Tensor:
    """Sum over the vertices of every graph: (vertices, width) -> (graphs, width)."""
    return values.new_zeros(graphs.num_graphs, values.shape[1]).index_add(0, graphs.batch, values)


def vertex_means(graphs: GraphTensors, values: Tensor) -> Tensor:
    """Mean over the vertices of every graph, 0 without any: (vertices, width) -> (graphs, width)."""
    return vertex_sums(graphs, values) / graphs.sizes.clamp(min=1)[:, None]


def read_out(graphs: GraphTensors, embedding: Tensor, readout: Readout) -> Tensor:
    """(vertices, width) -> (graphs, width); 0 for a graph without vertices. The maximum is that of ReLU outputs."""
    if readout == "max":
        index = graphs.batch[:, None].expand_as(embedding)
        empty = embedding.new_zeros(graphs.num_graphs, embedding.shape[1])
        return empty.scatter_reduce(0, index, embedding, "amax")
    return vertex_sums(graphs, embedding) if readout == "sum" else vertex_means(graphs, embedding)


class GIN(nn.Module):
    """GIN layers, a readout and a linear head."""

    def __init__(
        self, inputs: int, classes: int, hidden: int = 32, layers: int = 3, readout: Readout = "sum",
        edge_types: int = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        if readout not in READOUTS:
            raise ValueError(f"readout must be one of {', '.join(READOUTS)}; got {readout!r}")
        self.readout = readout
        self.encoder = Encoder(inputs, hidden, layers, edge_types)
        self.head = nn.Linear(hidden, classes)

    def represent(self, graphs: GraphTensors) -> Tensor:
        """(graphs, hidden)."""
        return read_out(graphs, self.encoder(graphs), self.readout)

    def forward(self, graphs: GraphTensors) -> Tensor:
        logits: Tensor = self.head(self.represent(graphs))
        return logits


# ---- SizeShiftReg --------------------------------------------------------------------------------------


class SizeShiftReg(GIN):
    """Embeddings of a graph and of its coarsened versions shall have the same distribution.

    loss + ssr * mean over ratios and graphs of `moment_discrepancy`. Coarse graphs are made once.
    """

    ratios = (0.8, 0.9)  # of the vertices of coarse graphs

    def __init__(self, inputs: int, classes: int, *, ssr: float = 0.1, **network: Any) -> None:
        super().__init__(inputs, classes, **network)
        self.weight = ssr

    def prepare(self, graphs: GraphTensors) -> list[GraphTensors]:
        """All training graphs, coarsened by every ratio."""
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1, user_api="blas"):  # results must not depend on the number of threads
            return [coarsened(graphs, ratio) for ratio in self.ratios]

    def training_step(self, step: TrainingStep) -> tuple[Tensor, Tensor]:
        """Logits and the discrepancy; coarse graphs do not count for the running averages of batch norm."""
        embedding = self.encoder(step.graphs)
        logits = self.head(read_out(step.graphs, embedding, self.readout))
        penalty = logits.new_zeros(())
        with averages_kept(self):
            for coarse in step.prepared:
                small = coarse.select(step.numbers)
                between = moment_discrepancy(step.graphs, embedding, small, self.encoder(small))
                penalty = penalty + between.mean() / len(self.ratios)
        return logits, self.weight * penalty


def coarsened(graphs: GraphTensors, ratio: float) -> GraphTensors:
    """Every cluster of `spectral_clusters` as a vertex with the mean features of its vertices.

    Two clusters are adjacent if vertices of them are, with the mean ``edge_attr`` of the edges between them; a cluster
    with an edge inside has a loop.
    """
    sizes = graphs.sizes.cpu().numpy()
    source, target = graphs.edge_index.cpu().numpy()
    cluster = spectral_clusters(sizes, source, target, ratio)
    amount = int(cluster.max(initial=0)) + 1
    cluster_of = graphs.batch * amount + torch.from_numpy(cluster).to(graphs.batch.device)
    names, number = torch.unique(cluster_of, return_inverse=True)
    joined = number[graphs.edge_index[0]] * len(names) + number[graphs.edge_index[1]]
    pairs, edge = torch.unique(joined, return_inverse=True)  # in order of graphs
    edge_index = torch.stack([pairs // max(len(names), 1), pairs % max(len(names), 1)])
    edge_attr = None if graphs.edge_attr is None else _means(graphs.edge_attr, edge, len(pairs))
    x = _means(graphs.x, number, len(names))
    return replace(graphs, x=x, edge_index=edge_index, batch=names // amount, edge_attr=edge_attr)


def _means(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """The mean of every group: (rows, width) -> (groups, width)."""
    sums = values.new_zeros(groups, values.shape[1]).index_add(0, group, values)
    return sums / torch.bincount(group, minlength=groups)[:, None]


def moment_discrepancy(graphs: GraphTensors, embedding: Tensor, others: GraphTensors, other: Tensor) -> Tensor:
    """CMD_5 of the embeddings of two versions of every graph: (graphs,).

    || m - m' || + sum over j = 2 .. 5 of || c_j - c'_j ||, with m the mean over the vertices of a graph and c_j the
    mean of (h - m)^j, coordinate by coordinate.
    """
    moments, moments_other = _moments(graphs, embedding), _moments(others, other)
    return torch.stack([_length(moment - its) for moment, its in zip(moments, moments_other, strict=True)]).sum(0)


def _moments(graphs: GraphTensors, embedding: Tensor) -> list[Tensor]:
    """m and c_2 .. c_5 of `moment_discrepancy`: (graphs, width) each."""
    mean = vertex_means(graphs, embedding)
    powers = [embedding - mean[graphs.batch]]
    for _ in range(2, 6):
        powers.append(powers[-1] * powers[0])
    return [mean, *vertex_means(graphs, torch.cat(powers[1:], dim=1)).split(embedding.shape[1], dim=1)]


def _length(vectors: Tensor) -> Tensor:
    return ((vectors**2).sum(1) + EPSILON).sqrt()


# ---- CIGA ----------------------------------------------------------------------------------------------


class CIGA(nn.Module):
    """The class is read from the edges with the highest scores, whose representations agree within a class.

    cross entropy + alpha * `supervised_contrast` + beta * `hinge` (version 2; version 1 has beta = 0). A GIN scores
    every edge in both directions; a second one classifies the ceil(ratio |E|) highest edges of a graph, with messages
    weighted by sigmoid(score), and reads the class from the other edges, weighted by sigmoid(-score), with a head of
    its own. Edges that tie with the last of the highest count as high.
    """

    def __init__(
        self, inputs: int, classes: int, *, ratio: float = 0.6, alpha: float = 1.0, beta: float = 0.0,
        hidden: int = 32, layers: int = 3, readout: Readout = "sum", edge_types: int = 0,
    ) -> None:  # fmt: skip
        super().__init__()
        if not 0 < ratio <= 1:
            raise ValueError(f"ratio must be above 0 and at most 1; got {ratio!r}")
        self.ratio, self.alpha, self.beta = ratio, alpha, beta
        self.scorer = Encoder(inputs, hidden, layers, edge_types)
        self.from_source, self.from_target = nn.Linear(hidden, 4 * hidden), nn.Linear(hidden, 4 * hidden, bias=False)
        self.score = nn.Linear(4 * hidden, 1)
        self.gin = GIN(inputs, classes, hidden, layers, readout, edge_types)
        self.other_head = nn.Linear(hidden, classes)

    def scores(self, graphs: GraphTensors) -> Tensor:
        """MLP([h_u, h_v]) of every edge: (edges,). The first linear map is applied to vertices, which are fewer."""
        embedding = self.scorer(graphs)
        source, target = graphs.edge_index
        wide = self.from_source(embedding).index_select(0, source) + self.from_target(embedding).index_select(0, target)
        score: Tensor = self.score(torch.relu(wide))[:, 0]
        return score

    def parts(self, graphs: GraphTensors) -> tuple[Tensor, Tensor | None]:
        """Representations of the high edges and, in training with beta above 0, of the others: (graphs, hidden)."""
        score = self.scores(graphs)
        is_high = highest_edges(graphs, score.detach(), self.ratio)
        high = self._read(graphs, score, is_high)
        if not (self.training and self.beta > 0):
            return high, None
        with averages_kept(self.gin):  # predictions read high edges only
            return high, self._read(graphs, -score, ~is_high)

    def _read(self, graphs: GraphTensors, score: Tensor, edges: Tensor) -> Tensor:
        """The representation of the graphs that these edges and their ends form."""
        kept = torch.zeros_like(graphs.batch, dtype=torch.bool)
        kept[graphs.edge_index[:, edges].flatten()] = True
        part = graphs.with_edges(edges).induced(kept)
        return read_out(part, self.gin.encoder(part, torch.sigmoid(score[edges])), self.gin.readout)

    def represent(self, graphs: GraphTensors) -> Tensor:
        """(graphs, hidden)."""
        return self.parts(graphs)[0]

    def forward(self, graphs: GraphTensors) -> Tensor:
        logits: Tensor = self.gin.head(self.represent(graphs))
        return logits

    def training_step(self, step: TrainingStep) -> tuple[Tensor, Tensor]:
        """Logits from the high edges, and the weighted losses on representations."""
        high, low = self.parts(step.graphs)
        logits = self.gin.head(high)
        penalty = self.alpha * supervised_contrast(high, step.y)
        if low is not None:
            penalty = penalty + self.beta * hinge(self.other_head(low), logits, step.y)
        return logits, penalty


def highest_edges(graphs: GraphTensors, score: Tensor, ratio: float) -> Tensor:
    """Whether an edge is among the ceil(ratio |E|) highest of its graph, or ties with the last of them: (edges,)."""
    owner = graphs.batch[graphs.edge_index[0]]
    by_score = torch.argsort(score, descending=True, stable=True)
    order = by_score[torch.argsort(owner[by_score], stable=True)]
    last = torch.ceil(ratio * graphs.edge_amounts).long() - 1  # -1 without edges
    first = graphs.starts[1]
    has_edges = last >= 0
    lowest = score.new_zeros(graphs.num_graphs)
    lowest[has_edges] = score[order[(first + last)[has_edges]]]
    return score >= lowest[owner] - TIE


def supervised_contrast(representation: Tensor, y: Tensor) -> Tensor:
    """Supervised contrastive loss at temperature 1, over graphs that share their class with another one.

    Mean over graphs i of the mean over j of its class of -log(exp(z_i z_j) / sum over k != i of exp(z_i z_k)), with z
    of length 1.
    """
    z = representation / _length(representation)[:, None]
    itself = torch.eye(len(z), dtype=torch.bool, device=z.device)
    log_share = torch.log_softmax((z @ z.T).masked_fill(itself, -math.inf), 1).masked_fill(itself, 0.0)
    positive = (y[:, None] == y[None, :]) & ~itself
    amount = positive.sum(1)
    losses = -(log_share * positive).sum(1) / amount.clamp(min=1)
    return losses[amount > 0].mean() if bool((amount > 0).any()) else losses.sum() * 0


def hinge(other_logits: Tensor, logits: Tensor, y: Tensor) -> Tensor:
    """Mean cross entropy of ``other_logits`` over the graphs where it exceeds that of ``logits``; 0 without any."""
    other = cross_entropy(other_logits, y, reduction="none")
    exceeds = other > cross_entropy(logits, y, reduction="none")
    return other[exceeds].mean() if bool(exceeds.any()) else other.sum() * 0


# ---- GSAT ----------------------------------------------------------------------------------------------


class GSAT(GIN):
    """Random attention to vertices, which may tell no more than it has to.

    loss + beta * `attention_cost` of the attention p. The GIN scores its vertices; messages of a second pass
    are multiplied by p_u p_v, with p = sigmoid(score), in training plus noise of a logistic distribution.
    """

    def __init__(
        self, inputs: int, classes: int, *, beta: float = 1.0, final_r: float = 0.7, interval: int = 10,
        dropout: float = 0.5, **network: Any,
    ) -> None:  # fmt: skip
        super().__init__(inputs, classes, **network)
        if not 0 < final_r < 1:
            raise ValueError(f"final_r must be between 0 and 1; got {final_r!r}")
        self.beta, self.final_r, self.interval = beta, final_r, interval
        hidden = self.head.in_features
        self.widen, self.dropout = nn.Linear(hidden, 2 * hidden), nn.Dropout(dropout)
        self.score = nn.Linear(2 * hidden, 1)

    def attention(self, graphs: GraphTensors) -> Tensor:
        """p of every vertex: (vertices,)."""
        wide = graph_norm(graphs, self.widen(self.encoder(graphs)))
        score: Tensor = self.score(self.dropout(torch.relu(wide)))[:, 0]
        if self.training:
            uniform = torch.rand_like(score).clamp(1e-10, 1 - 1e-7)
            score = score + torch.logit(uniform)
        return torch.sigmoid(score)

    def attended(self, graphs: GraphTensors, attention: Tensor) -> Tensor:
        """(graphs, hidden)."""
        source, target = graphs.edge_index
        return read_out(graphs, self.encoder(graphs, attention[source] * attention[target]), self.readout)

    def represent(self, graphs: GraphTensors) -> Tensor:
        """(graphs, hidden)."""
        return self.attended(graphs, self.attention(graphs))

    def training_step(self, step: TrainingStep) -> tuple[Tensor, Tensor]:
        """Logits under random attention, and the weighted cost of the attention."""
        attention = self.attention(step.graphs)
        r = attention_target(step.epoch, self.interval, self.final_r)
        return self.head(self.attended(step.graphs, attention)), self.beta * attention_cost(attention, r)


def graph_norm(graphs: GraphTensors, values: Tensor) -> Tensor:
    """Every coordinate with mean 0 and variance 1 over the vertices of a graph: (vertices, width)."""
    centered = values - vertex_means(graphs, values)[graphs.batch]
    return centered / (vertex_means(graphs, centered**2) + 1e-5).sqrt()[graphs.batch]


def attention_target(epoch: int, interval: int, final: float) -> float:
    """r: .9, and .1 less after every ``interval`` epochs, down to ``final``.

    >>> [round(attention_target(epoch, 10, 0.7), 1) for epoch in (0, 9, 10, 20, 50)]
    [0.9, 0.9, 0.8, 0.7, 0.7]
    """
    return max(final, 0.9 - 0.1 * (epoch // interval))


def attention_cost(attention: Tensor, r: float) -> Tensor:
    """Mean over vertices of p log(p / r) + (1 - p) log((1 - p) / (1 - r)): ()."""
    p = attention.clamp(1e-6, 1 - 1e-6)
    return (p * torch.log(p / r) + (1 - p) * torch.log((1 - p) / (1 - r))).mean()


# ---- DANN ----------------------------------------------------------------------------------------------


class DANN(GIN):
    """A second head shall not find out whether a training graph is small, medium or large.

    loss + cross entropy of the tercile of its size, from the representation through `ReversedGradient`; the
    factor rises from 0 to 1 as 2 / (1 + exp(-10 t)) - 1, with t the finished share of training.
    """

    def __init__(self, inputs: int, classes: int, *, strength: float = 1.0, **network: Any) -> None:
        super().__init__(inputs, classes, **network)
        self.strength = strength
        self.size_head = nn.Linear(self.head.in_features, 3)

    def prepare(self, graphs: GraphTensors) -> Tensor:
        """The tercile of the size of every training graph."""
        return size_terciles(graphs.sizes)

    def training_step(self, step: TrainingStep) -> tuple[Tensor, Tensor]:
        """Logits, and the cross entropy of the size head."""
        representation = self.represent(step.graphs)
        factor = self.strength * (2 / (1 + math.exp(-10 * step.epoch / step.epochs)) - 1)
        sizes = self.size_head(reversed_gradient(representation, factor))
        return self.head(representation), cross_entropy(sizes, step.prepared[step.numbers])


def size_terciles(sizes: Tensor) -> Tensor:
    """0, 1 or 2 for sizes up to the first, up to the second, and above the second tercile.

    >>> size_terciles(torch.tensor([9, 5, 6, 7, 8, 20])).tolist()
    [2, 0, 0, 1, 1, 2]
    """
    bounds = torch.quantile(sizes.double(), torch.tensor([1 / 3, 2 / 3], dtype=torch.float64, device=sizes.device))
    return torch.bucketize(sizes.double(), bounds)


class ReversedGradient(torch.autograd.Function):
    """The identity, whose gradient is multiplied by -factor."""

    @staticmethod
    def forward(context: Any, values: Tensor, factor: float) -> Tensor:
        context.factor = factor
        return values.view_as(values)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return -context.factor * gradient, None


def reversed_gradient(values: Tensor, factor: float) -> Tensor:
    """`ReversedGradient`."""
    reversed_values: Tensor = ReversedGradient.apply(values, factor)
    return reversed_values


# ---- random crops --------------------------------------------------------------------------------------


class Crop(GIN):
    """In every epoch a training graph is replaced, with a probability, by a connected part of it (`cropped`)."""

    def __init__(
        self, inputs: int, classes: int, *, probability: float = 0.5, smallest: float = 0.5, **network: Any
    ) -> None:
        super().__init__(inputs, classes, **network)
        for name, value in (("probability", probability), ("smallest", smallest)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be between 0 and 1; got {value!r}")
        self.probability, self.smallest = probability, smallest

    def training_step(self, step: TrainingStep) -> tuple[Tensor, Tensor]:
        """Logits of the cropped graphs; no penalty."""
        draws = torch.rand(3, step.graphs.num_graphs, device=step.graphs.x.device)
        share = torch.where(draws[0] < self.probability, self.smallest + (1 - self.smallest) * draws[1], 1.0)
        logits: Tensor = self(cropped(step.graphs, share, draws[2]))
        return logits, logits.new_zeros(())


def cropped(graphs: GraphTensors, share: Tensor, position: Tensor) -> GraphTensors:
    """The subgraph of every graph that a breadth-first ball of ceil(share n) vertices induces.

    The ball grows around the vertex at ``position`` (0 to 1, of the vertices of the graph), and takes a random part of
    its last shell; it ends at the component. ``share`` 1: the graph as it is.
    """
    sizes = graphs.sizes
    roots = graphs.starts[0] + (position * sizes).long().clamp(max=sizes - 1)
    distance = distances(graphs, roots[sizes > 0])
    random_order = torch.argsort(distance + torch.rand_like(distance), stable=True)
    order = random_order[torch.argsort(graphs.batch[random_order], stable=True)]
    rank = torch.empty_like(order)
    rank[order] = torch.arange(len(order), device=order.device)
    rank -= graphs.starts[0][graphs.batch]
    in_ball = (rank < torch.ceil(share * sizes)[graphs.batch]) & torch.isfinite(distance)
    return graphs.induced(in_ball | (share >= 1)[graphs.batch])


def distances(graphs: GraphTensors, roots: Tensor) -> Tensor:
    """The number of edges from the nearest root, infinite without one: (vertices,)."""
    source, target = graphs.edge_index
    distance = graphs.x.new_full((len(graphs.batch),), math.inf)
    distance[roots] = 0
    reached = torch.zeros_like(distance, dtype=torch.bool)
    reached[roots] = True
    step = 0
    while bool(reached.any()):
        step += 1
        near = torch.zeros_like(reached)
        near[target[reached[source]]] = True
        reached = near & torch.isinf(distance)
        distance[reached] = step
    return distance
