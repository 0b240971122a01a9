"""Ridge regression in closed form, and the ensemble over hypotheses on how counts and the target scale."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from anysize import GraphSet
from anysize.kernels.ridge import PENALTIES, KernelRidge, fit_ridge
from anysize.kernels.wl import WLKernel
from anysize.methods.sizemix_regression import SizeMixRegression, fit_target_exponent, map_types, target_exponents

SMALL, LARGE = tuple(range(10, 21)), (60,)


def random_graphs(sizes: tuple[int, ...], copies: int, seed: int) -> GraphSet:
    """Random graphs of mean degree 2 to 4, with two colors of shares that differ from graph to graph."""
    rng = np.random.default_rng(seed)
    made = []
    for n in np.repeat(sizes, copies).tolist():
        graph = nx.gnp_random_graph(n, rng.uniform(2, 4) / (n - 1), seed=int(rng.integers(1 << 30)))
        nx.set_node_attributes(
            graph, dict(enumerate(rng.choice(["A", "B"], n, p=[(q := rng.random()), 1 - q]))), "atom"
        )
        made.append(graph)
    return GraphSet.from_networkx(made, color="atom")


def vertices_of_a(graphs: GraphSet) -> np.ndarray:
    code = graphs.palette.index("A")
    return np.array([(graph.colors == code).sum() for graph in graphs], float)


def slow_ridge(table: np.ndarray, target: np.ndarray, penalty: float) -> tuple[np.ndarray, float]:
    center, mean = table.mean(axis=0), target.mean()
    centered = table - center
    scale = np.linalg.norm(centered, axis=1).mean()
    scaled = centered / scale
    matrix = scaled.T @ scaled + len(table) * penalty * np.eye(table.shape[1])
    weights = np.linalg.solve(matrix, scaled.T @ (target - mean)) / scale
    return weights, float(mean - center @ weights)


@pytest.mark.parametrize("features", [3, 30])  # fewer and more than rows
def test_ridge_takes_the_penalty_that_leaving_out_each_row_prefers(features: int) -> None:
    rng = np.random.default_rng(features)
    table = rng.normal(size=(12, features))
    table -= table.mean(axis=0)
    targets = np.stack([table[:, 0] + 0.1 * rng.normal(size=12), rng.normal(size=12)], axis=1)
    length = np.linalg.norm(table, axis=1).mean()
    weights, intercepts = fit_ridge(table, targets, np.ones(len(table)))
    for column, target in enumerate(targets.T):
        errors = []
        for penalty in PENALTIES:
            error = 0.0
            for row in range(12):  # the scale and the weight of the penalty are those of all rows
                kept = np.arange(12) != row
                centered = (table[kept] - table[kept].mean(axis=0)) / length
                matrix = centered.T @ centered + 12 * penalty * np.eye(features)
                solved = np.linalg.solve(matrix, centered.T @ (target[kept] - target[kept].mean()))
                left_out = (table[row] - table[kept].mean(axis=0)) / length
                error += (target[row] - target[kept].mean() - left_out @ solved) ** 2
            errors.append(error)
        expected, intercept = slow_ridge(table, target, float(PENALTIES[int(np.argmin(errors))]))
        np.testing.assert_allclose(weights[:, column], expected, rtol=1e-5, atol=1e-8)
        assert intercepts[column] == pytest.approx(intercept, abs=1e-8)


def test_wl_ridge_is_kernel_ridge_of_scikit_learn() -> None:
    from sklearn.kernel_ridge import KernelRidge as Reference

    graphs, new = random_graphs(SMALL, 2, 0), random_graphs((15,), 4, 1)
    y = vertices_of_a(graphs) + np.random.default_rng(0).normal(size=len(graphs))
    predicted = KernelRidge.fit(WLKernel(3), graphs, y).predict(new)
    kernel = WLKernel(3)
    counts = kernel.fit_transform(graphs).toarray()
    center = counts.mean(axis=0)
    left, right = counts - center, kernel.transform(new).toarray() - center
    scale = ((left @ left.T).trace()) / len(y)
    by_penalty = [
        Reference(alpha=scale * len(y) * penalty, kernel="precomputed")
        .fit(left @ left.T, y - y.mean()).predict(right @ left.T) + y.mean()
        for penalty in PENALTIES
    ]  # fmt: skip
    assert min(np.abs(predicted - other).max() for other in by_penalty) < 1e-6


@pytest.mark.parametrize(("beta", "tolerance"), [(0.0, 0.1), (0.5, 0.1), (1.0, 0.1)])
def test_targets_are_extrapolated_whether_extensive_intensive_or_in_between(beta: float, tolerance: float) -> None:
    """The share of vertices of one color, times n^beta: from 10 to 20 vertices to 60."""
    graphs, large = random_graphs(SMALL, 12, 0), random_graphs(LARGE, 30, 1)
    y, expected = (
        (1 + vertices_of_a(held) / held.sizes) * held.sizes.astype(float) ** beta for held in (graphs, large)
    )
    error = np.abs(SizeMixRegression.fit(graphs, y).predict(large) / expected - 1).mean()
    assert error < tolerance
    slope, intercept = np.polyfit(np.log(graphs.sizes), y, 1)
    line = intercept + slope * np.log(large.sizes)
    assert error < 0.5 * np.abs(line / expected - 1).mean()


def test_the_exponent_of_a_power_law_is_fitted() -> None:
    log_sizes = np.log(np.repeat(np.arange(10.0, 40.0), 20))
    ones = np.ones(len(log_sizes))
    for beta in (-1.0, 0.3, 2.0):
        assert fit_target_exponent(-5 * np.exp(beta * log_sizes), log_sizes, ones) == pytest.approx(beta, abs=0.05)
    assert fit_target_exponent(np.zeros(len(log_sizes)), log_sizes, ones) == 0.5
    assert target_exponents(np.exp(log_sizes), log_sizes, ones)[:3].tolist() == [0, 0.5, 1]


def test_the_weights_are_powers_of_the_inner_errors() -> None:
    graphs = random_graphs(SMALL, 6, 0)
    model = SizeMixRegression.fit(graphs, vertices_of_a(graphs) + np.random.default_rng(0).normal(size=len(graphs)))
    expected = model.errors**-10.0
    np.testing.assert_allclose(model.head_weights, expected / expected.sum())
    in_other_units = SizeMixRegression.fit(
        graphs, 1e3 * (vertices_of_a(graphs) + np.random.default_rng(0).normal(size=len(graphs)))
    )
    np.testing.assert_allclose(in_other_units.head_weights, model.head_weights, rtol=1e-5)


def test_predictions_are_the_weighted_mean_of_the_heads() -> None:
    graphs, large = random_graphs(SMALL, 4, 0), random_graphs(LARGE, 5, 1)
    model = SizeMixRegression.fit(graphs, vertices_of_a(graphs) + 1)
    counts = model.kernel.transform(large)
    mean = np.zeros(len(large))
    for head, weights in zip(model.heads, model.head_weights, strict=True):
        for row in range(len(large)):
            log_size = np.log(large.sizes[row]) - model.log_size
            mapped = map_types(counts[[row]][:, head.columns], np.array([log_size]), head.scaling, head.exponents)
            for target, (beta, weight) in enumerate(zip(model.betas, weights, strict=True)):
                value = mapped.toarray()[0] @ head.weights[:-1, target] + log_size * head.weights[-1, target]
                mean[row] += weight * np.exp(beta * log_size) * (value + head.intercepts[target])
    np.testing.assert_allclose(model.predict(large), mean)


def test_a_constant_one_size_and_few_graphs() -> None:
    graphs, large = random_graphs(SMALL, 3, 0), random_graphs(LARGE, 3, 1)
    np.testing.assert_allclose(SizeMixRegression.fit(graphs, np.full(len(graphs), 3.0)).predict(large), 3.0, rtol=1e-9)
    np.testing.assert_allclose(SizeMixRegression.fit(graphs, np.zeros(len(graphs))).predict(large), 0.0, atol=1e-12)
    one_size = random_graphs((12,), 60, 2)
    y = vertices_of_a(one_size)
    model = SizeMixRegression.fit(one_size[:40], y[:40])
    assert np.isfinite(model.errors).all()
    assert np.abs(model.predict(one_size[40:]) - y[40:]).mean() < 0.2
    assert np.isfinite(SizeMixRegression.fit(one_size[:1], y[:1]).predict(large)).all()
