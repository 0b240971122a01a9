"""Proposition 2: biased estimates give the same representation in expectation, and the same prediction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array

import anysize as az
from anysize.methods.catalog import METHODS
from anysize.paper.theory.bias import absorb_bias, bias_counts, biased_representation, predictions_under_bias
from anysize.training.fit_gamma import fit_gamma
from anysize.training.settings import Settings

CLASSES = [az.ErdosRenyi(p) for p in (0.3, 0.4)]


def draw(size, n, seed):
    return az.sample_graphs(CLASSES, az.Environment(sizes=(size,)), n, seed)


def betas(patterns, seed=0):
    return np.exp(np.random.default_rng(seed).uniform(-1.5, 1.5, patterns))


def test_biased_counts_are_columns_times_beta():
    counts = az.count(draw(12, 4, 0), 4)
    beta = betas(6)
    biased = bias_counts(counts, beta)
    slow = [[copies * b for copies, b in zip(row, beta, strict=True)] for row in counts.matrix.toarray().tolist()]
    assert biased.matrix.toarray().tolist() == slow
    densities = counts.densities("maps").toarray() * beta
    assert np.allclose(biased.densities("maps").toarray(), densities, rtol=1e-14)


def test_the_expected_representation_is_the_exact_one():
    """Averaged over samples of subsets, within 4.5 standard errors; and far from it if the bias is ignored."""
    graphs = draw(15, 3, 1)
    exact = az.count(graphs, 4)
    rng = np.random.default_rng(2)
    embeddings, beta = rng.normal(size=(6, 2)), betas(6, 3)
    tables = [az.count(graphs, 4, engine="sample", samples=100, seed=seed) for seed in range(60)]
    found = biased_representation(exact, tables, embeddings, beta)
    by_hand = [
        sum(copies / 1365 * embeddings[place] for place, copies in enumerate(row)) for row in exact.matrix.toarray()
    ]
    assert np.allclose(found.exact, by_hand)
    assert (np.abs(found.absorbed - found.exact) < 4.5 * found.error).all()
    assert np.abs(found.ignored - found.exact).max() > 10 * found.error.max()


@pytest.mark.parametrize("over", ["subsets", "maps"])
def test_a_linear_classifier_predicts_the_same_from_biased_counts(over):
    train, test = draw(12, 60, 4), draw(20, 200, 5)
    found = predictions_under_bias(az.count(train, 4), train.y, az.count(test, 4), betas(6), over)
    assert found.agreement == 1
    assert 0.7 < np.mean(found.exact == test.y) < 1  # the classes overlap: agreement is no matter of course


def test_with_more_patterns_than_graphs_the_optimum_is_not_unique():
    """The proposition says that an optimum can be the same, not that it is found."""
    classes = [az.BlockModel(within=(0.2, 0.2), between=p) for p in (0.1, 0.3)]
    colors = [{"red": 0.9, "blue": 0.1}, {"green": 0.9, "yellow": 0.1}]
    train, test = (az.sample_graphs(classes, az.Environment((20,), colors), n, seed=n) for n in (60, 200))
    for k, unique in ((2, True), (4, False)):
        counts = az.count(train, k)
        assert (counts.shape[1] < len(train)) is unique
        found = predictions_under_bias(counts, train.y, az.count(test, k), betas(counts.shape[1]))
        assert (found.agreement == 1) is unique


def test_biased_counts_divided_by_their_own_sum_are_not_covered():
    train, test = draw(12, 60, 4), draw(20, 200, 5)
    counts, bias = az.count(train, 4), betas(6)
    assert predictions_under_bias(counts, train.y, az.count(test, 4), bias, "connected").agreement < 1
    mean = counts.densities("connected") @ bias  # the mean of beta in each graph
    slow = counts.densities("connected").toarray() * bias / mean[:, None]
    assert np.allclose(bias_counts(counts, bias).densities("connected").toarray(), slow)
    assert np.ptp(mean) > 0.1  # the factor of a pattern, beta(F) / mean, is not that of the pattern alone


@pytest.mark.parametrize("name", ["gamma-1hot", "gamma-rpgin"])
def test_gamma_models_give_the_same_logits_with_embeddings_over_beta(name):
    """The proof on trained models: embeddings divided by beta, times biased densities, is their Gamma(G)."""
    train, test = draw(12, 40, 6), draw(20, 30, 7)
    kind = METHODS[name].learner.kind
    recipe = replace(METHODS[name].recipe("robust"), epochs=20, whiten=False)
    counts, new = az.count(train, 4), az.count(test, 4)
    stack = fit_gamma(kind, counts, train.y, [Settings(hidden=8, lr=0.05)], recipe, classes=2)
    beta = betas(6)
    with torch.no_grad():
        embeddings = stack.model.represent(stack.structure(counts.columns, csr_array(np.eye(6)))).numpy()[0]
    biased = bias_counts(new, beta).densities(recipe.over) * stack.vocabulary.scale
    assert np.allclose(biased @ absorb_bias(embeddings, beta), stack.represent(new)[0], rtol=1e-4, atol=1e-6)
    assert not np.allclose(biased @ embeddings, stack.represent(new)[0], rtol=0.1)


def test_gamma_one_hot_trained_on_biased_counts_predicts_the_same():
    classes = [az.ErdosRenyi(0.2), az.ErdosRenyi(0.5)]
    train, test = (az.sample_graphs(classes, az.Environment(sizes=(n,)), 60, seed=n) for n in (20, 40))
    recipe = replace(METHODS["gamma-1hot"].recipe("robust"), epochs=100)
    beta, labels = betas(6), []
    for tables in ([az.count(g, 4) for g in (train, test)], [bias_counts(az.count(g, 4), beta) for g in (train, test)]):
        stack = fit_gamma("1hot", tables[0], train.y, [Settings(hidden=8, lr=0.05)], recipe, classes=2)
        labels.append(stack.logits(tables[1])[0].argmax(axis=1))
    assert (labels[0] == labels[1]).all()
    assert (labels[0] == test.y).all()


@pytest.mark.parametrize("bias", [[1.0], [1.0, 0.0], [1.0, -2.0], [1.0, np.nan]])
def test_a_bias_is_one_positive_number_per_pattern(bias):
    counts = az.count(draw(12, 2, 0), 3)
    with pytest.raises(ValueError, match="one bias above 0 for each of 2 patterns"):
        bias_counts(counts, bias)
