"""GIN over edges with types against vertex by vertex, on patterns, recolored patterns and stacks of models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from nn.helpers import NAMES, doubled, randomized
from scipy.sparse import csr_array
from torch import Tensor

from anysize import GraphSet, count
from anysize.counting.columns import Columns
from anysize.nn.gamma import GammaGNN, GammaRP, read_out
from anysize.nn.gnn import GINLayer
from anysize.nn.layers import EPSILON, BatchNorm
from anysize.nn.rows.pattern_batch import PatternBatch
from anysize.nn.rows.recoloring import RecoloredPatterns
from anysize.patterns.pattern import Pattern

PALETTE = {name: code for code, name in enumerate(sorted(NAMES[:2]))}


def typed_columns(k: int, amount: int, directed: bool = True) -> Columns:
    """Patterns of random graphs with colors, colors of edges and directions."""
    rng, edges = np.random.default_rng(k), []
    for _ in range(6):
        pairs = [(u, v) for u in range(8) for v in range(8) if (u != v if directed else u < v) and rng.random() < 0.3]
        edges.append([*pairs, *((v, v + 1) for v in range(7) if (v, v + 1) not in pairs)])
    graphs = GraphSet.from_edges(
        edges, n_vertices=[8] * 6, colors=rng.choice(sorted(PALETTE), (6, 8)).tolist(), directed=directed,
        edge_colors=[rng.choice(["a", "b"], len(one)).tolist() for one in edges],
    )  # fmt: skip
    columns = count(graphs, (2, k), edges=True).columns
    return columns[np.sort(rng.permutation(len(columns))[:amount])]


def slow_levels(model: Any, x: Tensor, arcs: list[tuple[int, int, int]], member: int) -> list[Tensor]:
    """Embeddings of vertices, level by level: sums over arcs (vertex, neighbor, type), one after the other."""

    def normal(norm: BatchNorm, h: Tensor) -> Tensor:
        mean, variance = norm.running_mean[member], norm.running_var[member]
        if model.training:
            mean, variance = h.mean(0), h.var(0, unbiased=False)
        return torch.relu((h - mean) / torch.sqrt(variance + EPSILON) * norm.scale[member] + norm.shift[member])

    levels = [x]
    if isinstance(model, GammaRP):
        lifted = torch.relu(x @ model.first.weight[member] + model.first.bias[member])
        levels.append(lifted @ model.second.weight[member] + model.second.bias[member])
    for layer, norm in zip(model.encoder.layers, model.encoder.norms, strict=True):
        assert isinstance(layer, GINLayer)
        h = levels[-1] @ layer.first.weight[member]
        edges = layer.messages.rows[member]
        summed = (1 + layer.eps[member]) * h + layer.first.bias[member]
        messages: list[Any] = [0.0] * len(h)
        for vertex, neighbor, kind in arcs:
            edge = edges[kind] if kind < len(edges) else 0.0
            messages[vertex] = messages[vertex] + torch.relu(h[neighbor] + edge)
        summed = torch.stack([row + message for row, message in zip(summed, messages, strict=True)])
        h = normal(layer.between, summed) @ layer.second.weight[member] + layer.second.bias[member]
        levels.append(normal(norm, h))
    return levels[::-1]


def arcs_of(patterns: tuple[Pattern, ...], palette: tuple[Any, ...]) -> list[tuple[int, int, int]]:
    """(vertex, neighbor, type as the vertex sees it) of all patterns, whose vertices follow each other."""
    position = {kind: code for code, kind in enumerate(palette)}
    arcs, start = [], 0
    for pattern in patterns:
        for (i, j), kind in zip(pattern.edges, pattern.edge_types or (), strict=True):
            arcs.append((start + i, start + j, position.get(kind, len(position))))
            arcs.append((start + j, start + i, position.get(kind.reverse, len(position))))
        start += pattern.size
    return arcs


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_patterns_are_embedded_as_vertex_by_vertex(training: bool, directed: bool) -> None:
    columns = typed_columns(4, 60, directed)
    known = tuple(kind for kind in columns.edge_palette if directed or kind.color == "a")  # b: a type never seen
    batch = PatternBatch.of(columns, PALETTE, edge_palette=known)
    stack = randomized(GammaGNN(2, 2, 5, 2, types=len(known)), [3, 4]).train(training)
    structure = doubled(batch.structure(2))
    assert len(structure.levels[1].index) < batch.present.sum()  # vertices share rows
    found = stack(structure)
    x = torch.eye(2, dtype=torch.float64)[batch.colors[batch.present]]
    item = torch.from_numpy(np.nonzero(batch.present)[0])
    for member in (0, 1):
        vertices = torch.cat(slow_levels(stack, x, arcs_of(columns.patterns, known), member), 1)
        slow = torch.zeros(len(columns), vertices.shape[1], dtype=torch.float64).index_add(0, item, vertices)
        torch.testing.assert_close(found[member], slow, rtol=1e-9, atol=1e-9)
        weights = torch.randn(slow.shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
        parameters = [p for p in stack.parameters() if p.requires_grad]
        fast_gradients = torch.autograd.grad((found[member] * weights).sum(), parameters, retain_graph=True)
        slow_gradients = torch.autograd.grad((slow * weights).sum(), parameters)
        for fast, direct in zip(fast_gradients, slow_gradients, strict=True):
            torch.testing.assert_close(fast, direct, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("permutations", [None, 2])
@pytest.mark.parametrize("share_rows", [True, False])
def test_recolored_patterns_keep_their_types_of_edges(share_rows: bool, permutations: int | None) -> None:
    columns = typed_columns(3, 40)
    known, seeds = columns.edge_palette, [5, 5] if permutations else [5, 6]
    batch = PatternBatch.of(columns, PALETTE, edge_palette=known)
    densities = csr_array(np.random.default_rng(0).random((4, len(columns))))
    pairs = doubled(
        RecoloredPatterns.of(batch, densities, 2, permutations, True, seeds, share_rows=share_rows)
    )  # fmt: skip
    make, inputs = (GammaRP, 2 + batch.k) if permutations else (GammaGNN, 2)
    stack = randomized(make(2, inputs, 4, 2, types=len(known)), seeds)
    draw = doubled(pairs.draw(7))
    rows = stack.encode(draw.structure)
    found = read_out(rows, draw.readouts), read_out(rows, draw.differences)
    copies, vertices, arcs = permutations or 1, int(batch.present.sum()), arcs_of(columns.patterns, known)
    assert not (pairs.inputs(7)[0] == pairs.inputs(8)[0]).all()
    item = torch.from_numpy(
        np.tile(np.nonzero(batch.present)[0], 2 * copies) + np.repeat([0, len(columns)], copies * vertices)
    )
    for member in (0, 1):
        drawn = pairs.inputs(7)[pairs.seed[member]].reshape(-1)
        x = pairs.inputs.features.double()[drawn]
        everywhere = [(u + c * vertices, v + c * vertices, kind) for c in range(2 * copies) for u, v, kind in arcs]
        embedded = torch.cat(slow_levels(stack, x, everywhere, member), 1) / copies
        both = torch.zeros(2 * len(columns), embedded.shape[1], dtype=torch.float64).index_add(0, item, embedded)
        own, recolored = both[: len(columns)], both[len(columns) :]
        torch.testing.assert_close(found[0][member], torch.from_numpy(densities.toarray()) @ own, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(found[1][member], own - recolored, rtol=1e-9, atol=1e-9)


def test_identities_tell_apart_what_numbers_of_types_do_not() -> None:
    """K4 with four colors and one of two perfect matchings of another type: every vertex has the same edges."""
    colors = ["a", "b", "c", "d"]
    clique = [(i, j) for j in range(4) for i in range(j)]
    types = [["x" if pair in matching else "y" for pair in clique] for matching in ([(0, 1), (2, 3)], [(0, 2), (1, 3)])]
    graphs = GraphSet.from_edges([clique] * 2, colors=[colors] * 2, edge_colors=types)
    columns = count(graphs, 4, edges=True).columns
    palette = {name: code for code, name in enumerate(colors)}
    batch = PatternBatch.of(columns, palette, edge_palette=columns.edge_palette)
    embedded = randomized(GammaGNN(1, 4, 8, 1, types=2), [0]).eval()(doubled(batch.structure(1)))[0].detach()
    assert len(columns) == 2
    assert float((embedded[0] - embedded[1]).abs().max()) > 1e-3


def test_types_must_be_known_to_the_model() -> None:
    typed = typed_columns(3, 5)
    plain = count(GraphSet.from_edges([(0, 1)], colors=sorted(PALETTE)), 2).columns
    with pytest.raises(ValueError, match="without types of edges and got some with; count with edges=False"):
        PatternBatch.of(typed, PALETTE)
    with pytest.raises(ValueError, match="with types of edges and got some without; count with edges=True"):
        PatternBatch.of(plain, PALETTE, edge_palette=typed.edge_palette)
