"""`auto`: which family it uses, its doubts, and that everything survives a file."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch

import anysize as az
from anysize import GraphClassifier, GraphSet, ModelWarning, load_model
from anysize.causal.graphon_check import GraphonCheck
from anysize.methods.auto import Decision, Evidence
from anysize.paper.tasks import TASKS


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def dense(sizes: tuple[int, ...], amount: int = 40, seed: int = 0) -> GraphSet:
    pair = az.ErdosRenyi(0.3), az.ErdosRenyi(0.5)
    return az.sample_graphs(pair, az.Environment(sizes=sizes), amount, seed=seed)


def trees(low: int, high: int, amount: int = 40, seed: int = 0) -> GraphSet:
    """Paths and random trees."""
    sizes = np.random.default_rng(seed).integers(low, high, amount).tolist()
    made = [nx.path_graph(n) if i % 2 else nx.random_labeled_tree(n, seed=i) for i, n in enumerate(sizes)]
    return GraphSet.from_networkx(made, y=[i % 2 for i in range(amount)])


def test_dense_graphs_get_gamma_models_and_sparse_ones_sizemix() -> None:
    gamma = GraphClassifier(k=3).fit(dense((14, 20)))
    assert gamma.decision_ is not None
    assert (gamma.decision_.check.regime, gamma.decision_.family) == ("graphon", "gamma")
    assert gamma.score(dense((50,), 20, seed=1)) == 1.0
    assert "Gamma models are used" in gamma.decision_.summary()
    mixed = GraphClassifier(k=3).fit(trees(8, 20))
    assert mixed.decision_ is not None
    assert (mixed.decision_.check.regime, mixed.decision_.family) == ("not_graphon", "sizemix")
    assert mixed.score(trees(40, 60, 20, seed=1)) == 1.0
    assert "SizeMix is used" in mixed.decision_.summary()
    assert GraphClassifier("gamma-gin", k=3, params={"epochs": 2}).fit(dense((14,))).decision_ is None


def test_patterns_of_rare_colors_are_not_dropped() -> None:
    """Colors that are rare in training are common in the test graphs, in thousands of patterns."""
    splits = TASKS["sbm-20"].splits(data=0)
    model = GraphClassifier(k=5).fit(splits.train)
    assert model.score(splits.test) >= 0.98


def test_graphs_with_densities_of_their_own_are_decided_by_evidence() -> None:
    """Every graph has its own density; the classes differ in whether it has blocks."""
    rng = np.random.default_rng(0)

    def draw(n: int, blocks: bool, seed: int) -> nx.Graph:
        p = rng.uniform(0.2, 0.5)
        inside, across = (1.6 * p, 0.4 * p) if blocks else (p, p)
        made = nx.planted_partition_graph(2, n // 2, inside, across, seed=seed)
        return nx.Graph(made.edges)

    small = [draw(int(rng.integers(16, 32)), bool(i % 2), i) for i in range(160)]
    large = [draw(60, bool(i % 2), 1000 + i) for i in range(20)]
    model = GraphClassifier(k=4).fit(small, np.arange(160) % 2)
    assert model.decision_ is not None
    assert model.decision_.check.regime == "mixed"
    assert model.decision_.evidence is not None
    assert model.decision_.family == (model.decision_.evidence.winner or "sizemix")
    assert model.score(large, np.arange(20) % 2) >= 0.9


def test_weak_evidence_does_not_overrule_the_regime() -> None:
    assert Evidence("sizes", -0.80, -0.83, 2.5).winner is None, "a likelihood ratio of e^0.3 for ten graphs"
    assert Evidence("sizes", -0.10, -0.60, 1.5).winner is None, "1.5 standard errors"
    assert Evidence("sizes", -0.10, -0.60, 5.0).winner == "gamma"
    assert Evidence("sizes", -0.60, -0.10, -5.0).winner == "sizemix"


def test_single_graphs_of_a_class_are_no_evidence() -> None:
    graphs = [nx.gnp_random_graph(n, p, seed=seed) for seed, n in enumerate((10, 12, 16)) for p in (0.2, 0.6)]
    with pytest.warns(ModelWarning, match="too few graphs"):
        decision = GraphClassifier(k=3).fit(graphs, [0, 1] * 3).decision_
    assert decision is not None
    assert decision.evidence is None, "the larger part has one graph of each class: standard errors were 0"


def test_the_decision_is_kept_in_the_file(tmp_path: Path) -> None:
    model = GraphClassifier(k=3).fit(trees(8, 20))
    model.save(tmp_path / "model.anysize")
    again = load_model(tmp_path / "model.anysize")
    assert again.decision_ == model.decision_
    new = trees(30, 40, 10, seed=2)
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


CHECK = GraphonCheck(
    kappa=1.0,
    kappa_error=0.01,
    exponent=2.0,
    exponent_error=0.05,
    shrunk_exponent=2.0,
    dispersion=1.0,
    mean_degree=20.0,
)
ONE_SIZE = replace(CHECK, exponent=float("nan"), exponent_error=float("inf"))


def test_doubts() -> None:
    assert Decision(CHECK, "gamma", None).doubt == ""
    assert Decision(ONE_SIZE, "gamma", None).doubt == "", "degrees of 20 are dense enough"
    sparse = replace(ONE_SIZE, mean_degree=3.0)
    assert "mean degree of 3.0" in Decision(sparse, "gamma", None).doubt
    assert Decision(sparse, "gamma", Evidence("samples", -0.1, -0.6, 4.0)).doubt == "", "the evidence is clear"
    near = replace(CHECK, exponent=1.6, exponent_error=0.2, shrunk_exponent=1.65)
    assert "two standard errors" in Decision(near, "gamma", None).doubt
    assert "uses Gamma models; compare with method='sizemix'" in Decision(near, "gamma", None).doubt
    assert "uses SizeMix; compare with method='gamma-gin'" in Decision(near, "sizemix", None).doubt


def test_doubts_are_warnings_of_fit() -> None:
    sparse = [nx.gnp_random_graph(20, p, seed=seed) for p in (0.1, 0.2) for seed in range(20)]
    with pytest.warns(ModelWarning, match="mean degree of .* within each class their sizes differ too little"):
        GraphClassifier(k=3).fit(sparse, [0] * 20 + [1] * 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        GraphClassifier(k=3).fit(dense((14, 20)))


def test_unlike_graphs_are_reported_where_gamma_models_answer() -> None:
    model = GraphClassifier().fit(dense((20, 24)))
    stars = GraphSet.from_networkx([nx.star_graph(30) for _ in range(3)])
    with pytest.warns(az.GraphWarning, match="3 of 3 graphs are far"):
        model.predict(stars)
