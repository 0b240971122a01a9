"""Scores on held-out training graphs: protocols, errors, baselines, budgets, and what raises a doubt."""

from __future__ import annotations

import time
import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest

from anysize import GraphClassifier, GraphError, GraphSet, GraphWarning, ModelWarning, compare, diagnose, load_model
from anysize.estimators.verdict import MIN_SECONDS, balanced_mean_and_error
from anysize.splits import smaller_and_larger

SIZES = (10, 12, 14, 16, 20)


def random_graphs(
    count: int, seed: int, sizes: tuple[int, ...] = SIZES, p: tuple[float, float] = (0.3, 0.3)
) -> GraphSet:
    """G(n, p) of two classes, by their p; equal ones make coin flips of the classes."""
    made = [nx.gnp_random_graph(sizes[i // 2 % len(sizes)], p[i % 2], seed=seed + i) for i in range(count)]
    return GraphSet.from_networkx(made, y=np.arange(count) % 2)


def fitted(method: str, graphs: GraphSet, y: Any = None, **options: Any) -> GraphClassifier:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GraphClassifier(method, k=3, **options).fit(graphs, y)


def test_scores_are_those_of_a_model_fitted_to_the_smaller_graphs() -> None:
    graphs = random_graphs(60, 0, p=(0.2, 0.5))
    scores = {held.protocol: held for held in fitted("wl-kernel", graphs).verdict_.held_out}
    small, large = smaller_and_larger(graphs.sizes)
    model = fitted("wl-kernel", graphs[small], check=False)
    right = model.predict(graphs[large]) == graphs.y[large]
    found = scores["larger graphs"]
    assert (found.graphs, found.classes) == (len(large), 2)
    assert found.scores["model"] == np.mean([right[graphs.y[large] == label].mean() for label in (0, 1)])
    ratio = np.exp(np.log(graphs.sizes[large]).mean() - np.log(graphs.sizes[small]).mean())
    assert found.size_ratio == pytest.approx(ratio)
    same = scores["same sizes"]
    assert same.graphs == 60  # every graph is predicted once
    assert same.size_ratio == pytest.approx(1, abs=0.05)


def test_a_printed_verdict_has_a_line_for_each_set_of_scores_and_the_doubt() -> None:
    verdict = fitted("wl-kernel", random_graphs(60, 0)).verdict_
    train, larger, same, doubt = str(verdict).splitlines()
    assert train.startswith(f"training balanced accuracy  {verdict.train['model']:.3f}  (majority ")
    for line, held in zip((larger, same), verdict.held_out, strict=True):
        score = f"{held.scores['model']:.3f} ± {held.errors['model']:.3f}"
        assert line.startswith(f"held out, {held.protocol}: balanced accuracy  {score}  ({held.graphs} training graphs")
    assert doubt == f"doubt: {verdict.sentence}"


def test_the_error_is_the_spread_over_repeated_samples() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [40, 120])
    drawn = [
        balanced_mean_and_error((rng.random(160) < np.where(y == 0, 0.6, 0.8)).astype(float), y, np.ones(160))
        for _ in range(400)
    ]
    means, errors = np.array(drawn).T
    assert means.std() == pytest.approx(errors.mean(), rel=0.1)
    assert means.mean() == pytest.approx(0.7, abs=0.01)


def test_a_comparison_with_a_baseline_is_paired() -> None:
    """Two models that are right on the same graphs differ by 0 with a small error, however few graphs are right."""
    graphs = random_graphs(100, 0, sizes=(10, 20))
    y = (graphs.sizes == 20).astype(int)  # the size alone decides
    scores = fitted("wl-kernel", graphs, y).verdict_.held_out
    same = next(held for held in scores if held.protocol == "same sizes")
    difference, error = same.ahead["size-only"]
    assert same.scores["size-only"] == 1.0
    assert difference == pytest.approx(same.scores["model"] - 1.0)
    assert error < 0.1
    doubt = fitted("wl-kernel", graphs, y).verdict_.doubt
    assert doubt is not None
    assert "that of the size alone (1.00)" in doubt


@pytest.mark.parametrize("method", ["wl-kernel", "sizemix", "gamma-1hot", "topology-only"])
def test_coin_flips_are_doubted(method: str) -> None:
    graphs = random_graphs(200, 5)
    if method == "topology-only":  # baselines are what others are compared with
        assert fitted(method, graphs).verdict_.held_out == ()
        return
    with pytest.warns(ModelWarning, match="not clearly above"):
        GraphClassifier(method, k=3, params={"epochs": 40} if method == "gamma-1hot" else None).fit(graphs)


@pytest.mark.parametrize("method", ["wl-kernel", "sizemix", "auto"])
def test_what_can_be_learned_is_not_doubted(method: str) -> None:
    assert fitted(method, random_graphs(100, 3, p=(0.2, 0.5))).verdict_.doubt is None


def test_graphs_of_one_size_have_one_protocol() -> None:
    held_out = fitted("wl-kernel", random_graphs(40, 1, sizes=(12,), p=(0.2, 0.5))).verdict_.held_out
    assert [held.protocol for held in held_out] == ["same sizes"]


def test_a_part_without_a_class_is_left_out() -> None:
    graphs = random_graphs(40, 2, p=(0.2, 0.5))
    y = (graphs.sizes > 14).astype(int)  # all smaller graphs are of one class
    assert "larger graphs" not in [held.protocol for held in fitted("wl-kernel", graphs, y).verdict_.held_out]


def test_check_is_a_budget() -> None:
    graphs = random_graphs(40, 2, p=(0.2, 0.5))
    assert fitted("wl-kernel", graphs, check=False).verdict_.held_out == ()
    assert fitted("wl-kernel", graphs, check=0).verdict_.held_out == ()
    with pytest.raises(ValueError, match="check must be a number of at least 0"):
        fitted("wl-kernel", graphs, check=-1)
    began = time.monotonic()
    fitted("gin-sum", graphs, check=False, params={"epochs": 100})
    alone = time.monotonic() - began
    began = time.monotonic()
    fitted("gin-sum", graphs, params={"epochs": 100})
    assert time.monotonic() - began < 2 * (alone + 1.25 * alone + MIN_SECONDS)


def test_the_verdict_survives_a_model_file(tmp_path: Any) -> None:
    model = fitted("wl-kernel", random_graphs(40, 2, p=(0.2, 0.5)))
    model.save(tmp_path / "m.anysize")
    assert load_model(tmp_path / "m.anysize").verdict_ == model.verdict_


def test_matrices_without_a_threshold_are_noticed() -> None:
    complete = [nx.complete_graph(n) for n in range(8, 20)] + [nx.cycle_graph(9)]
    with pytest.warns(GraphWarning, match="12 of 13 graphs are complete"):
        GraphClassifier("size-only").fit(complete, [0, 1] * 6 + [0])
    with pytest.warns(GraphWarning, match="12 of 13 graphs are complete"):
        compare(complete, y=[0, 1] * 6 + [0], methods="wl-kernel", split="random", seeds=1)
    with pytest.warns(GraphWarning, match="12 of 13 graphs are complete"):
        diagnose(complete[:8], complete[8:])


def test_lists_of_correlation_matrices_are_matrices_though_rounding_makes_them_asymmetric() -> None:
    rng = np.random.default_rng(0)
    matrices = [np.corrcoef(rng.normal(size=(12, 6))) for _ in range(4)]
    matrices[0][0, 1] = np.nextafter(matrices[0][0, 1], 1)
    with pytest.raises(GraphError, match="has a weight for every pair of vertices: say which pairs are edges"):
        GraphClassifier("size-only").fit(matrices, [0, 1, 0, 1])
