"""Weights of training graphs: whole numbers are repetitions, 0 is absence, 1 is no weight; and how they are refused."""

import warnings
from collections.abc import Iterator
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import cross_validate

from anysize import GraphClassifier, GraphRegressor, GraphSet
from anysize.causal.graphon_check import check_graphon
from anysize.estimators.verdict import balanced_mean_and_error
from anysize.kernels.ridge import fit_ridge
from anysize.kernels.svm import KernelClassifier
from anysize.kernels.wl import WLKernel
from anysize.methods.catalog import register, unregister
from anysize.methods.evidence import stacked_weights
from anysize.methods.method import Method
from anysize.methods.own import FeatureLearner, ModuleLearner, module_method
from anysize.metrics import score
from anysize.splits import smaller_and_larger

RNG = np.random.default_rng(0)
MADE = [nx.gnp_random_graph(8 + seed % 10, 0.2 + 0.15 * (seed % 2), seed=seed) for seed in range(40)]
GRAPHS, Y = GraphSet.from_networkx(MADE), np.arange(40) % 2
TARGETS = np.array([graph.number_of_edges() for graph in MADE]) + RNG.normal(size=40)
WEIGHTS = RNG.integers(0, 4, 40).astype(float)
REPEATED = np.repeat(np.arange(40), WEIGHTS.astype(int))
NEW = GraphSet.from_networkx([nx.gnp_random_graph(20, p, seed=seed) for seed in range(10) for p in (0.2, 0.35)])

SAME_AS_REPEATED = ["sizemix", "majority", "size-only", "topology-only", "own-features"]
NEURAL = ["gamma-1hot", "gamma-gin", "gin-sum", "gin-irm", "own-module"]
QUICK: dict[str, Any] = {"params": {"epochs": 3}}


def degrees(graphs: GraphSet) -> np.ndarray:
    return np.column_stack([graphs.sizes, graphs.edge_counts])


def build(inputs: int, classes: int) -> Any:
    import torch

    class Sums(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(inputs, classes)

        def forward(self, graphs: Any) -> torch.Tensor:
            ends = torch.bincount(graphs.batch[graphs.edge_index[0]], minlength=graphs.num_graphs)
            return torch.as_tensor(self.linear(ends[:, None] / 20 - 2))

    return Sums()


@pytest.fixture(autouse=True)
def own_methods() -> Iterator[None]:
    register(Method(name="own-features", title="Own", learner=FeatureLearner(degrees), seeded=False))
    register(module_method(name="own-module", title="Own", learner=ModuleLearner(build)))
    yield
    unregister("own-features")
    unregister("own-module")


def fitted(method: str, graphs: GraphSet, y: np.ndarray, weights: Any = None, **options: Any) -> GraphClassifier:
    given = {**(QUICK if method in NEURAL else {}), "k": 3, "check": False, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return GraphClassifier(method, **given).fit(graphs, y, sample_weight=weights)


def silent_chances(model: GraphClassifier, graphs: GraphSet) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.predict_proba(graphs)


@pytest.mark.parametrize("method", SAME_AS_REPEATED)
def test_whole_weights_are_repetitions(method: str) -> None:
    weighted = fitted(method, GRAPHS, Y, WEIGHTS)
    repeated = fitted(method, GRAPHS[REPEATED], Y[REPEATED])
    np.testing.assert_allclose(weighted.predict_proba(NEW), repeated.predict_proba(NEW), atol=2e-4)
    assert weighted.verdict_.train == pytest.approx(repeated.verdict_.train)
    if method != "majority":
        assert np.abs(fitted(method, GRAPHS, Y).predict_proba(NEW) - weighted.predict_proba(NEW)).max() > 0.01


@pytest.mark.parametrize("rule", [None, "balanced", {0: 2.0, 1: 1.0}])
def test_margins_of_support_vector_machines_know_repetitions(rule: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    weighted = KernelClassifier(WLKernel(1), C=0.01, class_weight=rule).fit(GRAPHS, Y, sample_weight=WEIGHTS)
    repeated = KernelClassifier(WLKernel(1), C=0.01, class_weight=rule).fit(GRAPHS[REPEATED], Y[REPEATED])
    expected = repeated.decision_function(NEW)
    np.testing.assert_allclose(weighted.decision_function(NEW), expected, atol=5e-3)
    assert np.abs(expected - KernelClassifier(WLKernel(1), C=0.01).fit(GRAPHS, Y).decision_function(NEW)).max() > 0.05
    monkeypatch.setattr("anysize.kernels.svm.MAX_GRAM", 0)  # on sparse features
    sparse = KernelClassifier(WLKernel(1), C=0.01, class_weight=rule).fit(GRAPHS, Y, sample_weight=WEIGHTS)
    np.testing.assert_allclose(sparse.decision_function(NEW), expected, atol=5e-3)


@pytest.mark.parametrize("method", ["sizemix", "wl-kernel", "mean", "size-only"])
def test_whole_weights_are_repetitions_in_regression(method: str) -> None:
    weighted = GraphRegressor(method, check=False).fit(GRAPHS, TARGETS, sample_weight=WEIGHTS)
    repeated = GraphRegressor(method, check=False).fit(GRAPHS[REPEATED], TARGETS[REPEATED])
    np.testing.assert_allclose(weighted.predict(NEW), repeated.predict(NEW), rtol=1e-5, atol=1e-5)
    assert weighted.verdict_.train == pytest.approx(repeated.verdict_.train, rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("method", ["sizemix", "size-only", "wl-kernel", "gin-sum"])
def test_weight_0_is_absence_and_1_is_no_weight(method: str) -> None:
    without = fitted(method, GRAPHS[10:], Y[10:]).predict_proba(NEW)
    assert np.array_equal(fitted(method, GRAPHS, Y, np.arange(40) >= 10).predict_proba(NEW), without)
    assert np.array_equal(fitted(method, GRAPHS[10:], Y[10:], np.ones(30)).predict_proba(NEW), without)


@pytest.mark.parametrize("method", ["wl-kernel", "gc-kernel", *NEURAL])
@pytest.mark.parametrize("parts", [False, True])
def test_of_contradicting_graphs_the_heavier_ones_win(method: str, parts: bool) -> None:
    twice, labels = GraphSet.concatenate([GRAPHS, GRAPHS]), np.concatenate([Y, 1 - Y])
    options: dict[str, Any] = {}
    if parts:  # mini-batches and validation graphs, or bootstrap members
        mini = {"params": {"epochs": 4, "batch_size": 20}, "validation": 0.2}
        options = mini if method in NEURAL else {"n_models": 2}
    chances = []
    for heavy in (slice(0, 40), slice(40, 80)):
        weights = np.ones(80)
        weights[heavy] = 9
        model = fitted(method, twice, labels, weights, **options)
        chances.append(silent_chances(model, GRAPHS)[np.arange(40), Y])
    assert chances[0].mean() > chances[1].mean()
    if method not in NEURAL:  # after few epochs they are far from convinced
        assert (chances[0] > 0.5).mean() > 0.8 > 0.2 > (chances[1] > 0.5).mean()


def test_auto_hands_weights_to_what_it_chooses() -> None:
    rings = [nx.disjoint_union(nx.cycle_graph(3 + seed % 7), nx.path_graph(4 + seed % 9)) for seed in range(30)]
    paths = [nx.path_graph(7 + seed % 16) for seed in range(30)]
    graphs, y = GraphSet.from_networkx(rings + paths), np.repeat([0, 1], 30)
    y[::6] = 1 - y[::6]
    weights = RNG.integers(1, 5, 60).astype(float)
    model = fitted("auto", graphs, y, weights)
    assert model.decision_ is not None
    assert model.decision_.family == "sizemix"
    expected = fitted("sizemix", graphs, y, weights)
    assert np.array_equal(silent_chances(model, NEW), silent_chances(expected, NEW))
    assert not np.allclose(silent_chances(model, NEW), silent_chances(fitted("auto", graphs, y), NEW))


def test_the_loss_of_weighted_graphs_is_that_of_repeated_ones() -> None:
    import torch

    from anysize.training.objectives import EnvironmentBatch, mean_loss, squared_slopes, variance_of_risks

    logits, y = torch.from_numpy(RNG.normal(size=(2, 40, 2))), torch.from_numpy(Y)
    weights, rows = torch.from_numpy(WEIGHTS), torch.from_numpy(REPEATED)
    torch.testing.assert_close(mean_loss(logits, y, weights), mean_loss(logits[:, rows], y[rows]))
    environments = torch.from_numpy(np.arange(40) // 20)
    weighted = EnvironmentBatch(logits, y, environments, 2, weights)
    repeated = EnvironmentBatch(logits[:, rows], y[rows], environments[rows], 2)
    for penalty in (squared_slopes, variance_of_risks):
        torch.testing.assert_close(penalty(weighted), penalty(repeated))


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "mcc"])
def test_validation_scores_of_weighted_graphs(metric: str) -> None:
    import torch

    from anysize.training.epoch_selection import STACK_SCORES

    predicted, weights = RNG.integers(0, 2, (3, 40)), torch.from_numpy(WEIGHTS.astype(np.float32))
    values = STACK_SCORES[metric](torch.from_numpy(predicted), torch.from_numpy(Y), 2, weights)
    expected = [score(metric, Y[REPEATED], row[REPEATED]) for row in predicted]
    np.testing.assert_allclose(values.numpy(), expected, atol=1e-6)
    assert [score(metric, Y, row, WEIGHTS) for row in predicted] == pytest.approx(expected)


def test_what_auto_and_sizemix_weigh_by_knows_repetitions() -> None:
    check, repeated = check_graphon(GRAPHS, Y, WEIGHTS), check_graphon(GRAPHS[REPEATED], Y[REPEATED])
    for name, value in vars(check).items():
        assert value == pytest.approx(getattr(repeated, name)), name
    small = smaller_and_larger(GRAPHS.sizes, WEIGHTS)[0]
    expected = smaller_and_larger(GRAPHS.sizes[REPEATED])
    assert set(REPEATED[expected[0]]) == set(small[WEIGHTS[small] > 0])
    likelihood = np.log(RNG.random((3, 40)))
    weights = stacked_weights(likelihood, Y, WEIGHTS)
    np.testing.assert_allclose(weights, stacked_weights(likelihood[:, REPEATED], Y[REPEATED], np.ones(len(REPEATED))))


def test_leave_one_out_leaves_out_one_of_several_equal_rows() -> None:
    table, targets, kept = RNG.normal(size=(40, 6)), RNG.normal(size=(40, 2)), WEIGHTS > 0
    weighted = fit_ridge(table[kept], targets[kept], WEIGHTS[kept])
    repeated = fit_ridge(table[REPEATED], targets[REPEATED], np.ones(len(REPEATED)))
    for one, other in zip(weighted, repeated, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)


def test_weights_make_no_mean_more_certain() -> None:
    values, y = (RNG.random(40) < 0.7).astype(float), np.zeros(40, int)
    mean, error = balanced_mean_and_error(values, y, np.ones(40))
    assert balanced_mean_and_error(values, y, np.full(40, 7.0)) == pytest.approx((mean, error))
    heavy = np.where(np.arange(40) < 4, 50.0, 1.0)
    assert balanced_mean_and_error(values, y, heavy)[1] > 1.5 * error


def test_scores_are_weighted() -> None:
    model = fitted("size-only", GRAPHS, Y)
    right = model.predict(GRAPHS) == Y
    assert model.score(GRAPHS, Y, WEIGHTS) == pytest.approx(np.average(right, weights=WEIGHTS))
    own = GraphRegressor("size-only").fit(GRAPHS, TARGETS)
    assert own.score(GRAPHS, TARGETS, WEIGHTS) == pytest.approx(own.score(GRAPHS[REPEATED], TARGETS[REPEATED]))


def test_held_out_scores_and_baselines_are_weighted() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        easy = np.where(GRAPHS.edge_counts > np.median(GRAPHS.edge_counts), 1.0, 20.0)
        plain, weighted = (
            GraphClassifier("sizemix", k=3, check=5).fit(GRAPHS, Y, sample_weight=given) for given in (None, easy)
        )
    for one, other in zip(plain.verdict_.held_out, weighted.verdict_.held_out, strict=True):
        assert one.scores != other.scores
        assert one.errors["model"] != other.errors["model"]


def test_cross_validation_hands_weights_on() -> None:
    model = GraphClassifier("size-only")
    scores = cross_validate(model, GRAPHS, Y, cv=3, params={"sample_weight": WEIGHTS + 1}, return_estimator=True)
    assert len(scores["test_score"]) == 3
    with config_context(enable_metadata_routing=True):
        requesting = model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = cross_validate(requesting, GRAPHS, Y, cv=3, params={"sample_weight": WEIGHTS + 1})
    assert len(routed["test_score"]) == 3


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(39), "one number for each of 40 graphs"),
        (np.ones((40, 1)), "one number for each of 40 graphs"),
        ([-1.0] + [1.0] * 39, "at least 0; got -1"),
        ([np.nan] + [1.0] * 39, "got nan"),
        (["a"] * 40, "one number per graph"),
        (np.full(40, 1 / 40), "scale them"),
        (np.zeros(40), "scale them"),
    ],
)
def test_other_weights_are_refused(weights: Any, message: str) -> None:
    for model in (GraphClassifier("size-only"), GraphRegressor("size-only")):
        with pytest.raises(ValueError, match=message):
            model.fit(GRAPHS, Y, sample_weight=weights)


def test_a_class_without_weight_is_no_class() -> None:
    with pytest.raises(ValueError, match="at least two classes"):
        GraphClassifier("size-only").fit(GRAPHS, Y, sample_weight=Y)
