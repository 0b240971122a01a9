"""Which patterns the representations distinguish, and which biases of counts they can correct."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations as orders

import numpy as np
import pytest
import torch
from nn.helpers import batch_of, doubled, random_columns, randomized
from scipy.sparse import csr_array

from anysize.counting.columns import Columns
from anysize.nn.gamma import GammaGNN, GammaOneHot, GammaRP, GraphModel, read_out
from anysize.nn.layers import initialize
from anysize.nn.rows.maps import Dense
from anysize.nn.rows.pattern_batch import PatternBatch
from anysize.nn.rows.refinement import refine
from anysize.nn.rows.structure import Structure
from anysize.patterns.pattern import connected_patterns


def all_orders(k: int) -> np.ndarray:
    return np.array(list(orders(range(k))))


def indistinguishable(k: int) -> list[tuple[int, int]]:
    """Pairs of places in the catalog whose vertices have the same colors after any number of refinements."""
    columns = Columns.plain(k)
    batch = batch_of(columns)
    item, stable = np.nonzero(batch.present)[0], batch.colors[batch.present]
    for _ in range(k):
        stable = refine(*batch.adjacency, stable).classes
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for place in range(len(columns)):
        groups[tuple(sorted(stable[item == place].tolist()))].append(place)
    return [(group[0], other) for group in groups.values() for other in group[1:]]


def test_refinement_distinguishes_small_patterns_but_not_all_larger_ones() -> None:
    assert [len(indistinguishable(k)) for k in (2, 3, 4, 5)] == [0, 0, 0, 0]
    pairs = indistinguishable(6)
    prism_and_bipartite = [(a, b) for a, b in pairs if all(len(connected_patterns(6)[p].edges) == 9 for p in (a, b))]
    assert len(prism_and_bipartite) >= 1  # the two connected 3-regular graphs on 6 vertices


def renumbered(batch: PatternBatch, seed: int) -> PatternBatch:
    """The same patterns with their vertices in another order, the same for all."""
    order = np.random.default_rng(seed).permutation(batch.k)
    place = np.empty(batch.k, np.int64)
    place[order] = np.arange(batch.k)
    moved = np.where(batch.neighbors >= 0, place[batch.neighbors], -1)[:, order]
    return PatternBatch(moved, batch.colors[:, order], batch.present[:, order], batch.inputs)


@pytest.mark.parametrize("k", [3, 4, 5])
def test_all_permutations_make_the_numbering_of_a_pattern_meaningless(k: int) -> None:
    batch = batch_of(random_columns((k,), 8, 2))
    stack = randomized(GammaRP(2, 2 + k, 6, 2), [1, 2]).eval()
    other = renumbered(batch, 3)
    assert not np.array_equal(batch.colors, other.colors)
    exact = [stack(doubled(b.structure(2, None, all_orders(k)))) for b in (batch, other)]
    torch.testing.assert_close(*exact, rtol=1e-6, atol=1e-6)  # 1 / k! is kept in single precision
    few = [stack(doubled(b.structure(2, None, all_orders(k)[[1, 4]]))) for b in (batch, other)]
    assert float((few[0] - few[1]).detach().abs().max()) > 1e-2
    plain = randomized(GammaGNN(2, 2, 6, 2), [1, 2]).eval()
    torch.testing.assert_close(*[plain(doubled(b.structure(2))) for b in (batch, other)])


def test_relational_pooling_separates_what_message_passing_cannot() -> None:
    pair = next((a, b) for a, b in indistinguishable(6) if len(connected_patterns(6)[a].edges) == 9)
    batch = batch_of(Columns.plain(6)[np.array(pair)])
    plain = randomized(GammaGNN(1, 1, 8, 3), [5]).eval()
    same = plain(doubled(batch.structure(3)))[0]
    torch.testing.assert_close(same[0], same[1], rtol=1e-12, atol=1e-12)
    pooled = randomized(GammaRP(1, 7, 8, 2), [5])
    apart = pooled(doubled(batch.structure(2, None, all_orders(6))))[0].detach()
    assert float((apart[0] - apart[1]).abs().max()) > 0.1  # by all permutations: no accident of the numbering


def test_relational_pooling_can_correct_biased_counts() -> None:
    """If every density is off by a factor beta(F), GNN+ with sum readout can divide each pattern by it.

    Its pattern embeddings are linearly independent, so that a linear map of them is r(F) / beta(F) for any r and beta;
    biased densities then give the representation that true densities give with r.
    """
    source = np.random.default_rng(0)
    columns = Columns.plain(5)
    amount = len(columns)
    densities = source.dirichlet(np.ones(amount), 12)
    target, beta = source.normal(size=(amount, 5)), source.uniform(0.2, 5, amount)
    structure = doubled(batch_of(columns).structure(2, None, all_orders(5)))
    embedded = randomized(GammaRP(1, 6, 32, 2), [0])(structure)[0].detach().numpy()
    assert amount == 21
    assert np.linalg.matrix_rank(embedded, tol=0.05) == amount
    corrected, *_ = np.linalg.lstsq(embedded, target / beta[:, None], rcond=None)
    biased = densities * beta
    np.testing.assert_allclose(biased @ embedded @ corrected, densities @ target, atol=1e-6)
    with_truth, *_ = np.linalg.lstsq(embedded, target, rcond=None)
    assert np.abs(biased @ embedded @ with_truth - densities @ target).max() > 0.1  # the bias does matter


def test_message_passing_cannot_correct_every_bias() -> None:
    """Patterns that GIN does not distinguish cannot be divided by different factors."""
    pair = next((a, b) for a, b in indistinguishable(6) if len(connected_patterns(6)[a].edges) == 9)
    batch = batch_of(Columns.plain(6)[np.array(pair)])
    target, beta = np.array([[1.0], [1.0]]), np.array([[0.5], [2.0]])
    left = {}
    for name, stack, identities in (
        ("gnn", GammaGNN(1, 1, 8, 2), None),
        ("rp", GammaRP(1, 7, 8, 2), all_orders(6)),
    ):
        structure = doubled(batch.structure(2, None, identities))
        embedded = randomized(stack, [0])(structure)[0].detach().numpy()
        fitted, *_ = np.linalg.lstsq(embedded, target / beta, rcond=1e-4)
        left[name] = np.abs(embedded @ fitted - target / beta).max()
    assert left["gnn"] > 0.5
    assert left["rp"] < 1e-6


def test_one_hot_is_densities_times_learned_rows() -> None:
    stack = GammaOneHot(3, 7, 4)
    initialize(stack, [0, 1, 2])
    densities = torch.rand(5, 7, generator=torch.Generator().manual_seed(0))
    nothing = torch.zeros(0, 0)
    found = stack(Structure(nothing, (), (Dense(densities),)))
    torch.testing.assert_close(found, torch.stack([densities @ stack.rows[model] for model in range(3)]))


def test_slopes_are_read_through_rows() -> None:
    """Rows times slopes, summed, equal sums times slopes."""
    columns = random_columns((3, 4), 10, 3)
    structure = doubled(batch_of(columns).structure(2))
    stack = randomized(GammaGNN(2, 3, 5, 2), [0, 1])
    rows = stack.encode(structure)
    slopes = torch.randn(2, stack.width, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    torch.testing.assert_close(read_out(rows, structure.readouts, slopes), read_out(rows, structure.readouts) @ slopes)


def test_a_model_without_jumping_knowledge_reads_the_last_layer_alone() -> None:
    columns = random_columns((4,), 12, 3)
    densities = csr_array(np.random.default_rng(0).random((6, 12)))
    structure = batch_of(columns).structure(2, densities)
    model = GraphModel(GammaGNN(2, 3, 5, 2), 2, 2, [False, True])
    initialize(model, [4, 4])
    shown = model.represent(structure).detach()
    assert shown.shape == (2, 6, 13)
    assert torch.equal(shown[0, :, 5:], torch.zeros(6, 8))
    assert (shown[1, :, 5:] != 0).any(0).all()
    alone = GraphModel(GammaGNN(1, 3, 5, 2, jumping=False), 1, 2, [False])
    initialize(alone, [4])
    torch.testing.assert_close(model(structure)[:1], alone(structure), rtol=1e-5, atol=1e-5)
