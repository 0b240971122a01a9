"""The exact posterior of the Erdos-Renyi task."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from paper.theory.helpers import ER, LOPSIDED, draw

import anysize as az
from anysize.paper.theory.posterior import erdos_renyi_accuracy, erdos_renyi_posterior


def all_graphs(n):
    pairs = [(u, v) for v in range(n) for u in range(v)]
    ways = product([False, True], repeat=len(pairs))
    chosen = [[pair for pair, on in zip(pairs, way, strict=True) if on] for way in ways]
    return az.GraphSet.concatenate(
        [az.GraphSet.from_edges(np.array(edges, int).reshape(-1, 2), n_vertices=n) for edges in chosen]
    )


@pytest.mark.parametrize("prior", [None, (0.7, 0.2, 0.1), (0.0, 0.5, 0.5)])
def test_the_posterior_is_bayes_rule_over_all_graphs(prior):
    graphs = all_graphs(4)
    p, weight = np.array([0.2, 0.5, 0.8]), np.array(prior or [1 / 3] * 3)
    m = graphs.edge_counts[:, None]
    joint = weight * p**m * (1 - p) ** (6 - m)
    assert joint.sum() == pytest.approx(1)
    assert erdos_renyi_posterior(graphs, ER, prior) == pytest.approx(joint / joint.sum(axis=1, keepdims=True))
    assert erdos_renyi_accuracy(ER, 4, prior) == pytest.approx(joint.max(axis=1).sum())


def test_the_posterior_holds_for_any_size_and_is_calibrated():
    graphs = az.sample_graphs(ER, az.Environment(sizes=(4, 5, 6)), 6000, seed=0)
    posterior = erdos_renyi_posterior(graphs, ER)
    assert posterior.sum(axis=1) == pytest.approx(np.ones(6000))
    for label in range(3):
        predicted, true = posterior[:, label], graphs.y == label
        for low, high in ((0.0, 0.2), (0.2, 0.5), (0.5, 0.8), (0.8, 1.01)):
            here = (predicted >= low) & (predicted < high)
            error = np.sqrt(0.25 / here.sum())
            assert abs(predicted[here].mean() - true[here].mean()) < 4 * error
    accuracy = np.mean([erdos_renyi_accuracy(ER, n) for n in (4, 5, 6)])
    assert np.mean(posterior.argmax(axis=1) == graphs.y) == pytest.approx(accuracy, abs=0.02)


def test_label_noise_mixes_the_posterior():
    """Calibrated for noisy labels, and the accuracy of the best guess is the one that is computed."""
    matrix = [[0.8, 0.2, 0.0], [0.1, 0.7, 0.2], [0.0, 0.5, 0.5]]
    for noise in (0.3, matrix):
        graphs = az.sample_graphs(ER, az.Environment(sizes=(5,)), 8000, seed=1, label_noise=noise)
        posterior = erdos_renyi_posterior(graphs, ER, label_noise=noise)
        assert posterior.sum(axis=1) == pytest.approx(np.ones(8000))
        for edges in np.unique(graphs.edge_counts):
            here = graphs.edge_counts == edges
            observed = np.bincount(graphs.y[here], minlength=3) / here.sum()
            assert np.abs(observed - posterior[here][0]).max() < 4.5 * np.sqrt(0.25 / here.sum())
        right = np.mean(posterior.argmax(axis=1) == graphs.y)
        assert right == pytest.approx(erdos_renyi_accuracy(ER, 5, label_noise=noise), abs=0.025)


def test_the_bayes_row_of_the_task_is_perfect():
    assert erdos_renyi_accuracy(ER, 80) > 1 - 1e-9
    graphs = draw(ER, 140, 50, 0)
    assert (erdos_renyi_posterior(graphs, ER).argmax(axis=1) == graphs.y).all()


def test_certain_graphons():
    full = az.GraphSet.from_edges([(0, 1), (0, 2), (1, 2)])
    assert erdos_renyi_posterior(full, [az.ErdosRenyi(0.0), az.ErdosRenyi(1.0)]).tolist() == [[0, 1]]
    path = az.GraphSet.from_edges([(0, 1), (1, 2)])
    with pytest.raises(ValueError, match="graph 0 has probability 0 under all"):
        erdos_renyi_posterior(path, [az.ErdosRenyi(0.0), az.ErdosRenyi(1.0)])


FEW = draw(ER, 8, 4, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: erdos_renyi_posterior(FEW, [LOPSIDED]), "expected ErdosRenyi graphons"),
        (lambda: erdos_renyi_posterior(FEW, ER, prior=(0.5, 0.5)), "expected 3 prior probabilities"),
        (lambda: erdos_renyi_posterior(FEW, ER, prior=(0.5, 0.6, 0.1)), "sum to 1"),
        (lambda: erdos_renyi_accuracy(ER, 0), "at least 1; got 0"),
    ],
)
def test_invalid_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
