"""Peers' losses and changes of graphs against slow direct versions of their formulas."""

from __future__ import annotations

import math
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from learned import labeled
from torch.nn.functional import cross_entropy

from anysize import GraphSet
from anysize.nn.coarsening import MAX_VERTICES, kmeans, spectral_clusters
from anysize.nn.gnn import GINLayer as StackedLayer
from anysize.nn.peers import (
    CIGA,
    DANN,
    GIN,
    GSAT,
    Crop,
    Encoder,
    GINLayer,
    Norm,
    SizeShiftReg,
    attention_cost,
    attention_target,
    averages_kept,
    coarsened,
    cropped,
    graph_norm,
    highest_edges,
    hinge,
    moment_discrepancy,
    reversed_gradient,
    size_terciles,
    supervised_contrast,
)
from anysize.nn.rows.inputs import GraphInputs
from anysize.training.fit_module import GraphTensors, TrainingStep

PALETTE = ("A", "B")


@pytest.fixture(autouse=True)
def one_seed() -> None:
    torch.manual_seed(0)


@pytest.fixture
def graphs() -> GraphSet:
    return labeled(6, sizes=(7, 12, 5))


@pytest.fixture
def tensors(graphs: GraphSet) -> GraphTensors:
    return GraphTensors.of(graphs, GraphInputs(PALETTE))


@pytest.fixture
def typed() -> GraphTensors:
    """Directed graphs with colors of edges; one type is not known."""
    rng, edges = np.random.default_rng(0), []
    for n in (7, 12, 5):
        arcs = rng.permutation([(u, v) for u in range(n) for v in range(n) if u != v])[: 3 * n]
        edges.append([(int(u), int(v)) for u, v in arcs])
    names = [rng.choice(["a", "b"], len(arcs)).tolist() for arcs in edges]
    graphs = GraphSet.from_edges(edges, [7, 12, 5], edge_colors=names, directed=True)
    return GraphTensors.of(graphs, replace(GraphInputs.of(graphs), edge_types=GraphInputs.of(graphs).edge_types[:-1]))


def dense_adjacency(tensors: GraphTensors, graph: int) -> torch.Tensor:
    """The matrix of one graph."""
    own = torch.nonzero(tensors.batch == graph)[:, 0]
    matrix = torch.zeros(len(tensors.batch), len(tensors.batch))
    matrix[tensors.edge_index[0], tensors.edge_index[1]] = 1
    return matrix[own][:, own]


def test_selected_graphs_are_those_of_a_smaller_set(graphs: GraphSet, tensors: GraphTensors) -> None:
    numbers = np.array([4, 0, 5])
    selected, made = tensors.select(torch.from_numpy(numbers)), GraphTensors.of(graphs[numbers], GraphInputs(PALETTE))
    assert selected.num_graphs == made.num_graphs
    for name in ("x", "edge_index", "batch"):
        assert torch.equal(getattr(selected, name), getattr(made, name))


def test_gin_is_its_formula_on_matrices(tensors: GraphTensors) -> None:
    encoder = Encoder(2, 4, 2).eval()
    torch.nn.init.constant_(encoder.layers[0].eps, 0.3)
    weight = torch.rand(tensors.edge_index.shape[1])
    adjacency = torch.zeros(len(tensors.batch), len(tensors.batch))
    adjacency[tensors.edge_index[1], tensors.edge_index[0]] = weight
    x = tensors.x
    for layer in encoder.layers:
        x = torch.relu(layer.norm(layer.mlp((1 + layer.eps) * x + adjacency @ x)))
    torch.testing.assert_close(encoder(tensors, weight), x)


def test_types_of_edges_are_in_messages_as_in_stacks(typed: GraphTensors) -> None:
    types = typed.edge_attr.shape[1]
    assert not typed.edge_attr.sum(1).all()  # a type that is not known
    layer, stacked = GINLayer(1, 4, types).eval(), StackedLayer(1, 1, 4, types)
    torch.nn.init.constant_(layer.eps, 0.3)
    weight = torch.rand(typed.edge_index.shape[1])
    linear, rest, rows = layer.mlp[0], layer.mlp[1:], layer.messages.rows[0]
    h = typed.x @ linear.weight.T
    summed = 1.3 * h + linear.bias
    for (source, target), kind, scale in zip(typed.edge_index.T, typed.edge_attr, weight, strict=True):
        edge = rows[kind.argmax()] if kind.any() else 0.0
        summed[target] = summed[target] + scale * torch.relu(h[source] + edge)
    torch.testing.assert_close(layer(typed.x, typed, weight), torch.relu(layer.norm(rest(summed))))
    stacked.messages.rows = layer.messages.rows
    kinds = torch.where(typed.edge_attr.any(1), typed.edge_attr.argmax(1), types)
    table = stacked.messages(h[None], types + 1)[0]  # of all rows over the first type, the second, ...
    edges = stacked.messages.of_edges(h[typed.edge_index[0]][None], typed.edge_attr)[0]
    torch.testing.assert_close(edges, table[kinds * len(h) + typed.edge_index[0]])


def test_batch_norm_keeps_its_averages_on_request() -> None:
    # momentum None: all steps have equal weight, as the first ten have in Norm
    norm, plain, x = Norm(3), torch.nn.BatchNorm1d(3, momentum=None), torch.rand(5, 3)
    with averages_kept(norm):
        torch.testing.assert_close(norm(x), plain(x))
        assert norm.running_mean is not None
        assert not norm.running_mean.any()
    norm(x)
    torch.testing.assert_close(norm.running_mean, plain.running_mean)
    torch.testing.assert_close(norm.eval()(x), plain.eval()(x))
    assert torch.isfinite(norm.train()(x[:1])).all()


def test_batch_norm_of_equal_rows_is_the_bias() -> None:
    norm, linear = Norm(3), torch.nn.Linear(2, 3)
    torch.nn.init.normal_(norm.bias)
    x = linear(torch.ones(3000, 2))
    out = norm(x)
    torch.testing.assert_close(out, norm.bias.expand(3000, 3), rtol=0, atol=0)
    (out * torch.rand(3000, 3)).sum().backward()
    assert linear.weight.grad is None
    torch.testing.assert_close(norm.running_mean, x[0].detach())
    torch.testing.assert_close(norm.eval()(x + 1), out, rtol=0, atol=0)


# ---- SizeShiftReg --------------------------------------------------------------------------------------


def test_moment_discrepancy_is_its_formula(tensors: GraphTensors) -> None:
    others = tensors.select(torch.tensor([5, 4, 3, 2, 1, 0]))
    h, other = torch.rand(len(tensors.batch), 3), torch.rand(len(others.batch), 3)
    slow = []
    for graph in range(6):
        a, b = h[tensors.batch == graph], other[others.batch == graph]
        total = ((a.mean(0) - b.mean(0)) ** 2).sum().add(1e-8).sqrt()
        for j in range(2, 6):
            gap = ((a - a.mean(0)) ** j).mean(0) - ((b - b.mean(0)) ** j).mean(0)
            total = total + (gap**2).sum().add(1e-8).sqrt()
        slow.append(total)
    torch.testing.assert_close(moment_discrepancy(tensors, h, others, other), torch.stack(slow))


def test_coarse_graphs_are_products_of_matrices(graphs: GraphSet, tensors: GraphTensors) -> None:
    coarse = coarsened(tensors, 0.6)
    source, target = tensors.edge_index.numpy()
    clusters = spectral_clusters(graphs.sizes, source, target, 0.6)
    for graph in range(6):
        own = clusters[graphs.first[graph] : graphs.first[graph + 1]]
        assert len(np.unique(own)) == max(1, int(0.6 * len(own)))
        member = torch.from_numpy(np.eye(own.max() + 1, dtype=np.float32)[own])
        expected = (member.T @ dense_adjacency(tensors, graph) @ member > 0).float()
        torch.testing.assert_close(dense_adjacency(coarse, graph), expected)
        means = (member.T @ tensors.x[tensors.batch == graph]) / member.sum(0)[:, None]
        torch.testing.assert_close(coarse.x[coarse.batch == graph], means)
    again = coarse.select(torch.arange(6))
    assert torch.equal(again.edge_index, coarse.edge_index)


def test_types_of_coarse_edges_are_means(typed: GraphTensors) -> None:
    coarse = coarsened(typed, 0.5)
    clusters = spectral_clusters(typed.sizes.numpy(), *typed.edge_index.numpy(), 0.5)
    names = {pair: v for v, pair in enumerate(sorted(set(zip(typed.batch.tolist(), clusters.tolist(), strict=True))))}
    of_vertex = [names[pair] for pair in zip(typed.batch.tolist(), clusters.tolist(), strict=True)]
    between: dict[tuple[int, int], list[torch.Tensor]] = {}
    for (source, target), kind in zip(typed.edge_index.T.tolist(), typed.edge_attr, strict=True):
        between.setdefault((of_vertex[source], of_vertex[target]), []).append(kind)
    assert [tuple(pair) for pair in coarse.edge_index.T.tolist()] == sorted(between)
    slow = torch.stack([torch.stack(between[pair]).mean(0) for pair in sorted(between)])
    torch.testing.assert_close(coarse.edge_attr, slow)
    assert max(len(kinds) for kinds in between.values()) > 1


def test_clusters_are_connected_where_the_graph_says_so() -> None:
    cliques = nx.connected_caveman_graph(4, 5)
    one = GraphSet.from_networkx([cliques, nx.star_graph(MAX_VERTICES)])
    tensors = GraphTensors.of(one, GraphInputs(None))
    source, target = tensors.edge_index.numpy()
    clusters = spectral_clusters(one.sizes, source, target, 0.2)
    assert all(len(set(clusters[5 * clique : 5 * clique + 5])) == 1 for clique in range(4))
    assert len(np.unique(clusters[20:])) == MAX_VERTICES + 1  # a large graph stays as it is


def test_kmeans_ends_where_lloyd_ends() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(3, 30, 2)) + 8 * rng.integers(0, 3, (3, 30, 1))
    for cluster, own in zip(kmeans(points, 3), points, strict=True):
        centers = np.array([own[cluster == c].mean(0) for c in range(3)])
        nearest = np.linalg.norm(own[:, None] - centers, axis=2).argmin(1)
        np.testing.assert_array_equal(cluster, nearest)


# ---- CIGA ----------------------------------------------------------------------------------------------


def test_high_edges_are_the_best_of_their_graph(tensors: GraphTensors) -> None:
    score = torch.randn(tensors.edge_index.shape[1])
    high, owner = highest_edges(tensors, score, 0.6), tensors.batch[tensors.edge_index[0]]
    for graph in range(6):
        own = torch.nonzero(owner == graph)[:, 0]
        best = own[score[own].argsort(descending=True)[: math.ceil(0.6 * len(own))]]
        assert set(torch.nonzero(high & (owner == graph))[:, 0].tolist()) == set(best.tolist())
    assert highest_edges(tensors, torch.zeros_like(score), 0.1).all()  # ties
    assert not highest_edges(
        GraphTensors.of(GraphSet.from_edges([[]], n_vertices=[3]), GraphInputs(None)), torch.zeros(0), 0.5
    ).any()


def test_edge_scores_and_parts_are_their_formulas(tensors: GraphTensors) -> None:
    model = CIGA(2, 2, hidden=4, beta=1.0, ratio=0.3).eval()
    h = model.scorer(tensors)
    weight = torch.cat([model.from_source.weight, model.from_target.weight], dim=1)
    ends = torch.cat([h[tensors.edge_index[0]], h[tensors.edge_index[1]]], dim=1)
    score = model.score(torch.relu(ends @ weight.T + model.from_source.bias))[:, 0]
    torch.testing.assert_close(model.scores(tensors), score)
    high = highest_edges(tensors, score, 0.3)
    kept = torch.zeros(len(tensors.batch), dtype=torch.bool)
    kept[tensors.edge_index[:, high].flatten()] = True
    h = model.gin.encoder(tensors, torch.where(high, torch.sigmoid(score), 0.0)) * kept[:, None]
    slow = torch.stack([h[tensors.batch == graph].sum(0) for graph in range(6)])
    torch.testing.assert_close(model.represent(tensors), slow)


def test_supervised_contrast_is_its_formula() -> None:
    z, y = torch.randn(7, 4), torch.tensor([0, 0, 1, 1, 1, 2, 0])
    unit = z / z.norm(dim=1, keepdim=True)
    losses = []
    for i in range(7):
        positives = [j for j in range(7) if j != i and y[j] == y[i]]
        below = sum(torch.exp(unit[i] @ unit[k]) for k in range(7) if k != i)
        if positives:
            losses.append(sum(-torch.log(torch.exp(unit[i] @ unit[j]) / below) for j in positives) / len(positives))
    torch.testing.assert_close(supervised_contrast(z, y), torch.stack(losses).mean())
    assert supervised_contrast(z[:2], torch.tensor([0, 1])) == 0


def test_hinge_is_the_mean_where_the_rest_is_worse() -> None:
    other, logits, y = torch.randn(9, 3), torch.randn(9, 3), torch.arange(9) % 3
    rest = [cross_entropy(other[[i]], y[[i]]) for i in range(9)]
    worse = [rest[i] for i in range(9) if rest[i] > cross_entropy(logits[[i]], y[[i]])]
    assert 0 < len(worse) < 9
    torch.testing.assert_close(hinge(other, logits, y), torch.stack(worse).mean())
    assert hinge(logits, logits, y) == 0


# ---- GSAT ----------------------------------------------------------------------------------------------


def test_attention_cost_is_a_divergence() -> None:
    p = torch.rand(50)
    bernoulli = torch.distributions.Bernoulli
    slow = torch.distributions.kl_divergence(bernoulli(p), bernoulli(torch.tensor(0.8))).mean()
    torch.testing.assert_close(attention_cost(p, 0.8), slow)
    assert attention_cost(torch.full((3,), 0.7), 0.7) == pytest.approx(0, abs=1e-6)
    assert [attention_target(epoch, 20, 0.5) for epoch in (19, 99, 300)] == pytest.approx([0.9, 0.5, 0.5])


def test_attention_weighs_both_ends_and_has_noise_in_training_only(tensors: GraphTensors) -> None:
    model = GSAT(2, 2, hidden=4, dropout=0.0).eval()
    p = model.attention(tensors)
    norm = graph_norm(tensors, model.widen(model.encoder(tensors)))
    np.testing.assert_allclose(norm[tensors.batch == 1].mean(0).detach(), 0, atol=1e-5)
    torch.testing.assert_close(p, torch.sigmoid(model.score(torch.relu(norm))[:, 0]))
    weights = p[tensors.edge_index[0]] * p[tensors.edge_index[1]]
    h = model.encoder(tensors, weights)
    slow = torch.stack([h[tensors.batch == graph].sum(0) for graph in range(6)])
    torch.testing.assert_close(model.represent(tensors), slow)
    torch.testing.assert_close(model.attention(tensors), p)
    assert not torch.equal(model.train().attention(tensors), model.attention(tensors))


# ---- DANN, crops, steps --------------------------------------------------------------------------------


def test_gradients_are_reversed() -> None:
    x = torch.ones(3, requires_grad=True)
    (reversed_gradient(x, 0.25) * torch.arange(3.0)).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [0, -0.25, -0.5]
    assert torch.bincount(size_terciles(torch.arange(30))).tolist() == [10, 10, 10]


def test_crops_are_connected_balls(tensors: GraphTensors) -> None:
    share, position = torch.tensor([0.5, 0.75, 0.9, 0.6, 0.7, 1.0]), torch.rand(6)
    crop = cropped(tensors, share, position)
    for graph in range(6):
        whole = nx.from_numpy_array(dense_adjacency(tensors, graph).numpy())
        part = nx.from_numpy_array(dense_adjacency(crop, graph).numpy())
        if share[graph] == 1:
            assert nx.utils.graphs_equal(part, whole)
            continue
        root = int(position[graph] * len(whole))
        near = nx.single_source_shortest_path_length(whole, root)
        assert len(part) == min(math.ceil(share[graph] * len(whole)), len(near))
        assert nx.is_connected(part)
        shells = sorted(near.values())[: len(part)]
        centers = [sorted(nx.single_source_shortest_path_length(part, v).values()) for v in part]
        assert shells in centers  # some vertex of the part sees it as the root sees the ball


@pytest.mark.parametrize("has_types", [False, True])
@pytest.mark.parametrize("module", [SizeShiftReg, CIGA, GSAT, DANN, Crop])
def test_a_step_returns_logits_and_a_penalty_with_gradients(
    module: type, has_types: bool, tensors: GraphTensors, typed: GraphTensors
) -> None:
    graphs = typed.select(torch.tensor([0, 1, 2, 1, 2, 0])) if has_types else tensors
    types = typed.edge_attr.shape[1] if has_types else 0
    beta = {"beta": 1.0} if module is CIGA else {}
    model = module(graphs.x.shape[1], 2, hidden=4, edge_types=types, **beta)
    prepared = model.prepare(graphs) if hasattr(model, "prepare") else None
    numbers = torch.tensor([3, 0, 5, 2])
    step = TrainingStep(graphs.select(numbers), numbers % 2, numbers, 3, 10, prepared)
    logits, penalty = model.training_step(step)
    assert logits.shape == (4, 2)
    assert penalty.shape == ()
    assert (penalty > 0) == (module is not Crop)
    (cross_entropy(logits, step.y) + penalty).backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
    missing = [name for name, p in model.named_parameters() if p.requires_grad and p.grad is None]
    assert not missing or module is CIGA  # no graph of a small batch need exceed the hinge


def test_plain_network_has_no_objective(tensors: GraphTensors) -> None:
    means = GIN(2, 3, hidden=4, readout="mean").eval()
    h = means.encoder(tensors)
    torch.testing.assert_close(means.represent(tensors)[2], h[tensors.batch == 2].mean(0))
    with pytest.raises(ValueError, match="readout must be one of sum, mean, max"):
        GIN(2, 3, readout="median")  # type: ignore[arg-type]
