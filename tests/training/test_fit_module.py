"""A torch module of one's own, trained by the loop of the package, against an ordinary loop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from learned import labeled
from torch import nn
from torch_geometric.nn import GINEConv, global_mean_pool

from anysize import GraphClassifier, GraphSet, GraphWarning, load_model
from anysize.evaluation.evaluate import EvaluationOptions
from anysize.evaluation.store import RecordStore
from anysize.evaluation.sweep import sweep
from anysize.graphs.attributes import IN, OUT, EdgeType
from anysize.methods.catalog import register, unregister
from anysize.methods.own import ModuleLearner, module_method
from anysize.nn.rows.inputs import GraphInputs
from anysize.paper.plan import make_plan
from anysize.paper.run import run
from anysize.training.fit_module import GraphTensors, fit_module
from anysize.training.objectives import Objective, variance_of_risks
from anysize.training.settings import Recipe, Settings


class Degrees(nn.Module):
    """Two sums over neighbors with batch norm and dropout, the mean over vertices, a scalar parameter."""

    def __init__(self, inputs: int, classes: int, hidden: int = 8, dropout: float = 0.0) -> None:
        super().__init__()
        self.first, self.norm = nn.Linear(inputs, hidden, bias=False), nn.BatchNorm1d(hidden)
        self.scale, self.dropout = nn.Parameter(torch.tensor(1.0)), nn.Dropout(dropout)
        self.head = nn.Linear(hidden, classes)

    def represent(self, graphs: GraphTensors) -> torch.Tensor:
        x = graphs.x
        for _ in range(2):
            x = x + torch.zeros_like(x).index_add(0, graphs.edge_index[1], x[graphs.edge_index[0]])
        h = torch.relu(self.norm(self.first(self.scale * x / 100)))
        sums = h.new_zeros(graphs.num_graphs, h.shape[1]).index_add(0, graphs.batch, h)
        amounts = torch.bincount(graphs.batch, minlength=graphs.num_graphs).clamp(min=1)
        return self.dropout(sums / amounts[:, None])

    def forward(self, graphs: GraphTensors) -> torch.Tensor:
        logits: torch.Tensor = self.head(self.represent(graphs))
        return logits


OBJECTIVE = Objective("strength", variance_of_risks)


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return labeled(24, sizes=(7, 9, 11, 13))


@pytest.fixture
def registered() -> Iterator[None]:
    learner = ModuleLearner(Degrees, OBJECTIVE)
    register(
        module_method(name="own", title="Own", learner=learner, defaults={"hidden": 8, "dropout": 0.1, "strength": 0})
    )
    yield
    unregister("own")


def codes(graphs: GraphSet) -> np.ndarray:
    return np.unique(graphs.y, return_inverse=True)[1]


def test_it_is_an_ordinary_loop(graphs: GraphSet) -> None:
    y, before = codes(graphs), torch.random.get_rng_state()
    weights = np.array([1.0, 3.0])
    recipe, settings = Recipe(epochs=12), Settings(lr=0.02, seed=5)
    stack = fit_module(Degrees, {"dropout": 0.5}, graphs, y, settings, recipe, classes=2, weights=weights[y])
    assert torch.equal(torch.random.get_rng_state(), before)

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        module = Degrees(len(graphs.palette), 2, dropout=0.5)
        optimizer = torch.optim.Adam(module.parameters(), lr=0.02)
        tensors = GraphTensors.of(graphs, GraphInputs.of(graphs))
        for _ in range(12):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(module(tensors), torch.from_numpy(y), torch.tensor([1.0, 3.0]))
            loss.backward()
            optimizer.step()
    expected = module.eval()(tensors).detach().numpy()
    np.testing.assert_allclose(stack.logits(graphs)[0], expected, rtol=1e-3, atol=1e-4)
    assert stack.trained is not None
    np.testing.assert_allclose(stack.trained.curves["loss"][-1, 0], loss.item(), rtol=1e-4)
    np.testing.assert_allclose(stack.represent(graphs)[0], module.represent(tensors).detach().numpy(), atol=1e-4)


def test_the_best_epoch_is_kept_with_every_parameter_and_average(graphs: GraphSet) -> None:
    y, settings = codes(graphs), Settings(lr=0.3, batch_size=6, seed=0)
    held_out = graphs[::3], y[::3]
    recipe = Recipe(epochs=30, epoch="best", tie_break="loss")
    stack = fit_module(Degrees, {}, graphs, y, settings, recipe, classes=2, validation=held_out)
    assert stack.trained is not None
    epoch = int(stack.trained.epoch[0])
    score = (stack.logits(held_out[0])[0].argmax(-1) == held_out[1]).mean()
    curve = stack.trained.curves["validation_score"][:, 0].numpy()
    assert score == pytest.approx(curve[epoch]) == pytest.approx(curve.max())
    loss = nn.functional.cross_entropy(torch.from_numpy(stack.logits(held_out[0])[0]), torch.from_numpy(held_out[1]))
    assert loss.item() == pytest.approx(float(stack.trained.curves["validation_loss"][epoch, 0]), rel=1e-4)
    assert stack.trained.kept is not None
    assert len(stack.logits(graphs, stack.trained.kept)) == 1 + len(stack.trained.kept)


@pytest.mark.usefixtures("registered")
def test_it_is_a_method_like_any_other(graphs: GraphSet, tmp_path: Path) -> None:
    params = {"epochs": 5, "batch_size": 8, "dropout": 0.4}
    model = GraphClassifier("own", n_models=2, params=params).fit(graphs)
    assert model.ensemble_.parts[0].stack.model.module.dropout.p == 0.4  # type: ignore[attr-defined]
    model.save(tmp_path / "model.anysize")
    before = torch.random.get_rng_state()
    again = load_model(tmp_path / "model.anysize")
    assert torch.equal(torch.random.get_rng_state(), before)
    np.testing.assert_array_equal(again.predict_proba(graphs), model.predict_proba(graphs))
    assert model.representation(graphs).shape == (24, 2 * 8)
    np.testing.assert_array_equal(model.predict_proba(graphs[:0]).shape, (0, 2))
    for wrong in ({"permutations": 3}, {"head_hidden": 8}, {"lr": -1}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            GraphClassifier("own", params=wrong).fit(graphs)

    plan = make_plan("sbm-14-20", ["own"], data="0", seeds=2, settings={"epochs": 5})
    sweep(plan, tmp_path / "records", options=EvaluationOptions("cpu", epoch_rules=True))
    records = RecordStore(tmp_path / "records").read()
    assert len(records) == 2
    assert "best-lowest-loss" in records[0].alternatives  # tables can be printed under every rule
    assert run("sbm-20", "own", data=0, seeds=1, settings={"epochs": 2}).summary("test") is not None


@pytest.mark.usefixtures("registered")
def test_environments_are_compared_where_the_penalty_has_a_weight(graphs: GraphSet) -> None:
    without, with_penalty = (
        GraphClassifier("own", params={"epochs": 6, "strength": strength}).fit(graphs) for strength in (0, 100)
    )
    assert not without.curves_["penalty"].any()
    assert with_penalty.curves_["penalty"].all()
    assert not np.array_equal(without.predict_proba(graphs), with_penalty.predict_proba(graphs))


def test_large_sets_are_predicted_in_parts(graphs: GraphSet, monkeypatch: pytest.MonkeyPatch) -> None:
    stack = fit_module(Degrees, {}, graphs, codes(graphs), Settings(), Recipe(epochs=2), classes=2)
    whole = stack.logits(graphs)
    monkeypatch.setattr("anysize.training.fit_module.PREDICTED_TOGETHER", 100)
    np.testing.assert_allclose(stack.logits(graphs), whole, atol=1e-5)


@pytest.mark.parametrize("build", [lambda inputs, classes: None, lambda inputs, classes: nn.ReLU()])
def test_what_is_no_module_with_parameters_is_named(build: Any, graphs: GraphSet) -> None:
    with pytest.raises(ValueError, match="build must return a torch module with parameters"):
        fit_module(build, {}, graphs, codes(graphs), Settings(), Recipe(epochs=2), classes=2)


class Typed(nn.Module):
    """A PyG layer on types of edges."""

    def __init__(self, inputs: int, classes: int, edge_types: int, hidden: int = 8) -> None:
        super().__init__()
        self.embed = nn.Linear(inputs, hidden)
        self.layer = GINEConv(nn.Linear(hidden, hidden), edge_dim=edge_types)
        self.head = nn.Linear(hidden, classes)

    def forward(self, graphs: GraphTensors) -> torch.Tensor:
        x = self.layer(self.embed(graphs.x), graphs.edge_index, graphs.edge_attr).relu()
        logits: torch.Tensor = self.head(global_mean_pool(x, graphs.batch, graphs.num_graphs))
        return logits


def directed_rings() -> GraphSet:
    """Rings with edges of two colors, in blocks or in turn, each pointing to the next vertex."""
    edges = [[(i, (i + 1) % n) for i in range(n)] for n in range(6, 46)]
    kinds = [["a", "b"] * (n // 2) + ["a"] * (n % 2) for n in range(6, 46)]
    kinds[::2] = [["a"] * len(types) for types in kinds[::2]]
    return GraphSet.from_edges(edges, edge_colors=kinds, directed=True, y=["one", "two"] * 20)


def test_targets_see_the_types_of_edges_in_every_part() -> None:
    graphs = directed_rings()
    inputs = GraphInputs.of(graphs)
    tensors = GraphTensors.of(graphs, inputs)
    assert tensors.edge_attr is not None
    names = inputs.edge_types or ()
    at = int(graphs.first[1])  # of the second graph
    pairs, types = tensors.edge_index.T.tolist(), tensors.edge_attr.argmax(1).tolist()
    seen = {(source, target): names[code] for (source, target), code in zip(pairs, types, strict=True)}
    assert seen[at, at + 1] == EdgeType("a", None, IN)
    assert seen[at + 1, at] == EdgeType("a", None, OUT)
    assert seen[at + 1, at + 2] == EdgeType("b", None, IN)
    numbers = torch.tensor([3, 1])
    for part in (tensors.select(numbers), tensors.select(numbers).induced(torch.ones(16, dtype=torch.bool))):
        alone = GraphTensors.of(graphs[[3, 1]], inputs)
        assert torch.equal(part.edge_index, alone.edge_index)
        assert torch.equal(part.edge_attr, alone.edge_attr)  # type: ignore[arg-type]
    unknown = GraphTensors.of(GraphSet.from_edges([(0, 1)], edge_colors=["c"], directed=True), inputs)
    assert unknown.edge_attr is not None
    assert not unknown.edge_attr.any()


def test_a_module_learns_types_of_edges(tmp_path: Path) -> None:
    graphs = directed_rings()
    params = {"epochs": 60, "batch_size": 8}
    for name, learner in (("typed", ModuleLearner(Typed, edge_types=True)), ("blind", ModuleLearner(Degrees))):
        register(module_method(name=name, title=name, learner=learner, defaults={"hidden": 8}))
    try:
        model = GraphClassifier("typed", params=params, check=False).fit(graphs[:30])
        assert model.score(graphs[30:]) == 1.0
        model.save(tmp_path / "model.anysize")
        again = load_model(tmp_path / "model.anysize").predict_proba(graphs)
        np.testing.assert_array_equal(again, model.predict_proba(graphs))
        with pytest.warns(GraphWarning, match=r"blind does not use .* edge colors and edge directions \(.*typed"):
            blind = GraphClassifier("blind", params=params, check=False).fit(graphs[:30])
        plain = graphs.without_edge_colors().without_directions()
        np.testing.assert_array_equal(blind.predict_proba(plain), blind.predict_proba(graphs))
    finally:
        unregister("typed")
        unregister("blind")
