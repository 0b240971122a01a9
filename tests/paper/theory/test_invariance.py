"""Invariance gaps of representations, and errors in and out of distribution."""

from __future__ import annotations

from math import hypot, inf

import numpy as np
import pytest
from paper.theory.helpers import ER, draw

import anysize as az
from anysize.paper.theory.invariance import extrapolation_errors, invariance_gap, probability_statement
from anysize.paper.theory.posterior import erdos_renyi_posterior


def sbm_twins(n=100):
    classes = [az.BlockModel(within=(0.2, 0.2), between=p) for p in (0.1, 0.3)]
    shares = [({"red": r, "blue": 1 - r}, {"green": r, "yellow": 1 - r}) for r in (0.9, 0.1)]
    train, test = (az.Environment(sizes=(n,), colors=c) for n, c in zip((20, 40), shares, strict=True))
    return az.sample_twins(classes, train, test, n, seed=0)


def test_densities_are_nearly_invariant_counts_and_colors_are_not():
    twins = sbm_twins()
    edges = invariance_gap(lambda graphs: graphs.edge_counts, twins)
    plain = invariance_gap(lambda graphs: az.count(graphs, 3, colors=False).densities().toarray(), twins)
    colored = invariance_gap(lambda graphs: az.count(graphs, 1).densities().toarray(), twins)
    assert plain.ratio < 1 < colored.ratio < edges.ratio
    assert colored.mean > 0.4  # red is .45 of the vertices in training and .05 in test, and chance adds to it
    assert plain.gaps.shape == (100,)


def test_the_gap_is_the_norm_that_was_asked_for():
    twins = sbm_twins(5)
    pair = {20: (0.0, 0.0), 40: (3.0, 4.0)}

    def represent(graphs):
        return np.array([pair[int(size)] for size in graphs.sizes])

    assert invariance_gap(represent, twins).mean == 4
    assert invariance_gap(represent, twins, norm=2).mean == 5
    assert invariance_gap(represent, twins).ratio == inf  # all training graphs alike
    assert invariance_gap(lambda graphs: np.ones((len(graphs), 2)), twins).ratio == 0


def test_an_invariant_representation_errs_as_often_out_of_distribution():
    """Proposition 1: the first ten vertices of twins are the same, and so is every prediction made from them."""
    twins = sbm_twins()

    def first_ten(graphs):
        return [[sum(max(edge) < 10 for edge in graph.edges().tolist())] for graph in graphs]

    assert invariance_gap(first_ten, twins).mean == 0
    errors = extrapolation_errors(lambda graphs: np.ravel(first_ten(graphs)) > 9, twins.train, twins.test)
    assert 0.1 < errors.validation == errors.test < 0.5
    assert errors.difference == 0
    broken = extrapolation_errors(lambda graphs: graphs.edge_counts > 38, twins.train, twins.test)
    assert broken.validation < 0.2
    assert broken.test > 0.4
    assert broken.difference > 4 * hypot(broken.validation_error, broken.test_error)
    assert "out-of-distribution error" in str(broken)


def test_errors_take_labels_or_probabilities():
    graphs = draw(ER, 20, 30, 0)
    by_label = extrapolation_errors(lambda g: erdos_renyi_posterior(g, ER).argmax(axis=1), graphs, graphs)
    by_chance = extrapolation_errors(lambda g: erdos_renyi_posterior(g, ER), graphs, graphs)
    assert by_label == by_chance
    assert extrapolation_errors(lambda g: g.y + 1, graphs, graphs).test == 1


FEW = draw(ER, 8, 4, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: invariance_gap(lambda graphs: [1.0], sbm_twins(3)), "expected 6 rows"),
        (lambda: invariance_gap(lambda graphs: [np.nan] * 6, sbm_twins(3)), "not finite"),
        (lambda: extrapolation_errors(len, FEW, FEW), "a prediction for each of 4 graphs"),
        (lambda: extrapolation_errors(len, FEW.with_y(None), FEW), "labels y"),
    ],
)
def test_invalid_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---- the probability statement of Proposition 1 ------------------------------------------------------------------


def first_vertices_posterior(graphs):
    """The exact posterior given the first 12 vertices, which twins share: an invariant representation."""
    edges = [[edge for edge in graph.edges().tolist() if max(edge) < 12] for graph in graphs]
    return erdos_renyi_posterior(az.GraphSet.from_edges(edges, [12] * len(edges)), NEAR)


NEAR = [az.ErdosRenyi(0.4), az.ErdosRenyi(0.5)]


def near_twins(n=400):
    return az.sample_twins(NEAR, az.Environment(sizes=(12,)), az.Environment(sizes=(40,)), n, seed=3)


def test_the_probability_statement_is_a_share_of_graphs_for_every_class():
    twins = near_twins(50)

    def constant(graphs):
        return np.tile([0.7, 0.3], (len(graphs), 1))

    def exact(graphs):
        return erdos_renyi_posterior(graphs, NEAR)

    found = probability_statement(constant, exact, twins.train, twins.test, epsilon=0.2)
    for graphs, shares in ((twins.train, found.validation), (twins.test, found.test)):
        slow = [np.mean([abs(row[y] - (0.7, 0.3)[y]) <= 0.2 for row in exact(graphs)]) for y in (0, 1)]
        assert shares.tolist() == slow
    assert found.validation_delta == 1 - min(found.validation)
    assert found.test_delta == 1 - min(found.test)
    assert probability_statement(exact, exact, twins.train, twins.test, epsilon=1e-9).test_delta == 0


def test_the_statement_holds_for_invariant_models_where_both_posteriors_are_equal():
    """As the proof assumes: P(Y | G) of the vertices that twins share. With the whole graphs it is sharper in test."""
    twins = near_twins()
    noisy = lambda graphs: 0.9 * first_vertices_posterior(graphs) + 0.05  # noqa: E731
    same = probability_statement(noisy, first_vertices_posterior, twins.train, twins.test, 0.04)
    assert 0 < same.validation_delta == same.test_delta < 1
    whole = lambda graphs: erdos_renyi_posterior(graphs, NEAR)  # noqa: E731
    model = probability_statement(first_vertices_posterior, whole, twins.train, twins.test, 0.1)
    assert model.validation_delta == 0
    assert model.test_delta > 0.5  # an invariant, optimal model of 12 vertices is far from the posterior given 40
    easy = [lambda graphs: erdos_renyi_posterior(graphs, ER)] * 2
    sets = draw(ER, 40, 30, 1), draw(ER, 80, 30, 2)
    assert probability_statement(*easy, *sets).test_delta == 0


def test_the_probability_statement_refuses_what_does_not_fit():
    twins = near_twins(5)
    with pytest.raises(ValueError, match="epsilon must be above 0"):
        probability_statement(first_vertices_posterior, first_vertices_posterior, twins.train, twins.test, 0)
    with pytest.raises(ValueError, match="expected probabilities"):
        probability_statement(lambda g: np.ones(len(g)), first_vertices_posterior, twins.train, twins.test)
