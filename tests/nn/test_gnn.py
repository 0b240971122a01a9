"""Patterns embedded on classes of vertices against plain PyG layers on every vertex of every pattern."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from nn.helpers import (
    Union,
    batch_of,
    doubled,
    plain_copy,
    random_columns,
    randomized,
    same_averages,
    same_gradients,
)  # fmt: skip
from scipy.sparse import csr_array, random_array
from torch import Tensor

from anysize.nn.gamma import GammaGNN, GammaRP
from anysize.nn.rows.maps import Sparse, sums_of
from anysize.nn.rows.pattern_batch import PatternBatch

SEEDS, HIDDEN = [3, 4], 6


def stacked(layers: int, inputs: int, training: bool) -> GammaGNN:
    return randomized(GammaGNN(len(SEEDS), inputs, HIDDEN, layers), SEEDS).train(training)


def joined(union: Union, levels: list[Tensor]) -> Tensor:
    """Levels side by side as the stack has them: the last one first."""
    return torch.cat([union.read(level) for level in reversed(levels)], dim=1)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("colors", [3, None])
def test_embeddings_and_gradients_are_those_of_pyg(layers: int, training: bool, colors: int | None) -> None:
    columns = random_columns((1, 2, 3, 4, 5), 12, colors)
    union = Union(columns)
    inputs = union.x.shape[1]
    stack = stacked(layers, inputs, training)
    plains = [plain_copy(stack, inputs, model, union.degrees) for model in range(2)]
    structure = doubled(batch_of(columns).structure(layers))
    found = stack(structure)
    outer = torch.randn(found.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    (found * outer).sum().backward()
    for model, plain in enumerate(plains):
        expected = joined(union, plain(union.x, union.edges))
        torch.testing.assert_close(found[model], expected, rtol=1e-9, atol=1e-9)
        (expected * outer[model]).sum().backward()
        same_gradients(stack, plain, model)
        same_averages(stack, plain, model)


@pytest.mark.parametrize(("layers", "id_width"), [(1, 4), (2, 4), (1, 10)])
def test_relational_pooling_is_that_of_pyg(layers: int, id_width: int) -> None:
    columns = random_columns((2, 4), 10, 2)
    identities = np.array([[2, 0, 3, 1], [0, 1, 2, 3], [3, 1, 0, 2], [1, 3, 2, 0]])
    union = Union(columns, identities=identities, id_width=id_width)
    stack = randomized(GammaRP(2, 2 + id_width, HIDDEN, layers), SEEDS)
    plains = [plain_copy(stack, 2 + id_width, model, union.degrees) for model in range(2)]
    structure = doubled(batch_of(columns).structure(layers, None, identities))
    found = stack(structure)
    outer = torch.randn(found.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    (found * outer).sum().backward()
    for model, plain in enumerate(plains):
        expected = joined(union, plain(union.x, union.edges))
        torch.testing.assert_close(found[model], expected, rtol=1e-9, atol=1e-9)
        (expected * outer[model]).sum().backward()
        same_gradients(stack, plain, model)


def test_with_densities_graphs_are_sums_of_patterns() -> None:
    columns = random_columns((3, 4), 15, 3)
    densities = csr_array(random_array((8, 30), density=0.3, random_state=0))
    batch = batch_of(columns)
    stack = stacked(2, 3, False)
    patterns, graphs = (stack(doubled(batch.structure(2, table))) for table in (None, densities))
    full = torch.from_numpy(densities.toarray())
    torch.testing.assert_close(graphs, full @ patterns, rtol=1e-6, atol=1e-6)  # densities are kept in single precision


def test_without_jumping_knowledge_only_the_last_layer_is_read() -> None:
    structure = doubled(batch_of(random_columns((4,), 9, 3)).structure(2))
    all_levels, last = GammaGNN(1, 3, HIDDEN, 2), GammaGNN(1, 3, HIDDEN, 2, jumping=False)
    randomized(all_levels, [1]), randomized(last, [1])
    assert last(structure).shape == (1, 9, HIDDEN)
    torch.testing.assert_close(last(structure), all_levels(structure)[..., :HIDDEN])
    assert all_levels.width == 2 * HIDDEN + 3


def test_colors_that_the_model_does_not_know_have_zero_features() -> None:
    columns = random_columns((3,), 5, 2)
    structure = batch_of(columns).structure(1)
    assert structure.features.sum() == len(structure.features)
    known = PatternBatch.of(columns, {"red": 0, "violet": 1}).structure(1)
    rows = {tuple(row) for row in known.features.tolist()}
    assert rows == {(1.0, 0.0), (0.0, 0.0)}
    assert torch.isfinite(stacked(1, 2, False)(doubled(known))).all()


def test_plain_and_colored_patterns_do_not_mix() -> None:
    with pytest.raises(ValueError, match="got colored"):
        PatternBatch.of(random_columns((3,), 2, 2), None)
    with pytest.raises(ValueError, match="got plain"):
        PatternBatch.of(random_columns((3,), 2, None), {"red": 0})


def test_sparse_sums_equal_full_ones_with_their_gradients() -> None:
    matrix = csr_array(random_array((20, 50), density=0.1, random_state=1))
    full, sparse = sums_of(matrix), Sparse.of(matrix)
    outer = torch.randn(2, 20, 3, generator=torch.Generator().manual_seed(0))
    items = torch.tensor([4, 0, 11])
    results = []
    for sums in (full, sparse):
        h = torch.randn(2, 50, 3, generator=torch.Generator().manual_seed(1), requires_grad=True)
        found = sums(h)
        (found * outer).sum().backward()
        results.append((found, h.grad, sums.rows(items)(h)))
        torch.testing.assert_close(results[-1][2], found[:, items])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other)


def test_a_few_of_many_sparse_rows_need_no_square_matrix() -> None:
    graphs = 200_000  # the identity matrix would take 160 GB
    table = Sparse.of(csr_array((np.array([2.0, 3.0]), ([5, graphs - 1], [0, 1])), shape=(graphs, 2)))
    assert table.rows(torch.tensor([graphs - 1, 5, 7])).matrix.tolist() == [[0, 3], [2, 0], [0, 0]]


def test_encoders_are_known_by_name() -> None:
    with pytest.raises(ValueError, match="'gat'"):
        GammaGNN(1, 3, 4, 1, "gat")
    structure = batch_of(random_columns((3,), 2, 3)).structure(1)
    with pytest.raises(ValueError, match="extremes=True"):
        GammaGNN(1, 3, 4, 1, "pna")(structure)
