"""Several targets with gaps in one network: losses, epoch selection and training, against slow loops."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from learned import labeled
from torch import Tensor, nn

from anysize import GraphClassifier, GraphRegressor, GraphSet
from anysize.methods.catalog import register, unregister
from anysize.methods.method import class_weights
from anysize.methods.own import ModuleLearner, module_method
from anysize.nn.layers import initialize
from anysize.nn.rows.inputs import GraphInputs
from anysize.training.epoch_selection import stack_balanced_accuracy
from anysize.training.fit_gnn import GNNArchitecture, GNNProblem, fit_gnn
from anysize.training.fit_module import GraphTensors
from anysize.training.objectives import VREX, irm_gradient, mean_loss, outputs_by_target
from anysize.training.settings import Recipe, Settings

BLOCKS = (2, 3, 2)
GRAPHS = labeled(24, sizes=(7, 9, 11, 13)).with_y(None)
TABLE = np.stack([np.random.default_rng(t).integers(0, classes, 24) for t, classes in enumerate(BLOCKS)], 1)
KNOWN = np.random.default_rng(9).random((24, 3)) < 0.6
WEIGHTS = np.where(KNOWN, np.random.default_rng(8).uniform(0.5, 2, (24, 3)), 0.0)


class Network(nn.Module):
    """Numbers of neighbors by color, averaged over vertices, and one hidden layer that all targets share."""

    def __init__(self, inputs: int, classes: int, hidden: int = 6) -> None:
        super().__init__()
        self.trunk, self.head = nn.Linear(inputs, hidden), nn.Linear(hidden, classes)

    def forward(self, graphs: GraphTensors) -> Tensor:
        near = torch.zeros_like(graphs.x).index_add(0, graphs.edge_index[1], graphs.x[graphs.edge_index[0]])
        sums = near.new_zeros(graphs.num_graphs, near.shape[1]).index_add(0, graphs.batch, near)
        outputs: Tensor = self.head(torch.tanh(self.trunk(sums / graphs.sizes[:, None])))
        return outputs


@pytest.fixture
def own() -> Iterator[str]:
    register(module_method(name="own", title="Own", learner=ModuleLearner(Network)))
    yield "own"
    unregister("own")


def slow_loss(outputs: Tensor, y: Tensor, weights: Tensor) -> Tensor:
    """Of one model: the mean over the targets that occur of their weighted mean loss."""
    losses, first = [], 0
    for target, width in enumerate(BLOCKS):
        total, amount = torch.zeros(()), 0.0
        for graph in range(len(y)):
            weight = weights[graph, target].item()
            if weight > 0:
                z = outputs[graph, first : first + width]
                total = total - weight * torch.log(torch.exp(z[y[graph, target]]) / torch.exp(z).sum())
                amount += weight
        if amount > 0:
            losses.append(total / amount)
        first += width
    return torch.stack(losses).mean()


@pytest.mark.parametrize(
    "graphs", [np.arange(24), np.flatnonzero(~KNOWN[:, 1]), np.array([[0, 1, 2, 3], [4, 5, 6, 7]])]
)
def test_the_loss_is_the_mean_over_targets_of_the_mean_loss_of_known_labels(graphs: np.ndarray) -> None:
    outputs = torch.randn(2, graphs.shape[-1], sum(BLOCKS), generator=torch.Generator().manual_seed(0))
    y, weights = torch.from_numpy(np.where(KNOWN, TABLE, 0))[graphs], torch.from_numpy(WEIGHTS).float()[graphs]
    outputs.requires_grad_(True)
    fast = mean_loss(outputs_by_target(outputs, BLOCKS), y, weights)
    rows = [(y, weights)] * 2 if y.dim() == 2 else list(zip(y, weights, strict=True))
    slow = torch.stack([slow_loss(model, *row) for model, row in zip(outputs, rows, strict=True)])
    torch.testing.assert_close(fast, slow)
    ours, theirs = (torch.autograd.grad(loss.sum(), outputs)[0] for loss in (fast, slow))
    torch.testing.assert_close(ours, theirs)
    assert not mean_loss(outputs_by_target(outputs, BLOCKS), y, torch.zeros_like(weights)).any()


@pytest.mark.parametrize("objective", ["irm", "beta"])
def test_environments_are_compared_target_by_target(objective: str) -> None:
    members = [Settings(8, 2, seed=seed, invariance=invariance) for seed, invariance in ((0, 0.0), (1, 3.0))]
    environments = torch.from_numpy(np.arange(24) % 2)
    inputs = GraphInputs.of(GRAPHS)
    architecture = GNNArchitecture("gin", "sum", False, inputs.width, sum(BLOCKS), 8, 2, Recipe(), inputs.types)
    model = architecture.build([False, False])
    initialize(model, [0, 1])
    y, weights = torch.from_numpy(np.where(KNOWN, TABLE, 0)), torch.from_numpy(WEIGHTS).float()
    options = {} if objective == "irm" else {"objective": VREX}
    structure = architecture.structure(GRAPHS, inputs)
    problem = GNNProblem(
        architecture, structure, None, y, None, members, environments, weights, **options, blocks=BLOCKS
    )  # fmt: skip
    losses = problem.losses(model, None, torch.tensor(0), torch.tensor(200))
    outputs = model(structure)
    torch.testing.assert_close(losses.total[0], slow_loss(outputs[0], y, weights))
    assert losses.penalty[0] == 0
    risks, penalties, first = [], [], 0
    for target, width in enumerate(BLOCKS):
        block, label = outputs[1:, :, first : first + width], y[:, target]
        of_environment = [weights[:, target] * (environments == number) for number in (0, 1)]
        values = [mean_loss(block, label, weight)[0] for weight in of_environment]
        risks.append(sum(values) / 2)
        if objective == "irm":
            penalties.append(sum(irm_gradient(block, label, weight)[0] ** 2 for weight in of_environment) / 2)
        else:
            penalties.append((values[0] - values[1]) ** 2 / 4)
        first += width
    risk, penalty = torch.stack(risks).mean(), torch.stack(penalties).mean()
    torch.testing.assert_close(losses.penalty[1], penalty)
    torch.testing.assert_close(losses.total[1], (risk + 3 * penalty) / 3)


def test_the_epoch_with_the_best_mean_score_is_kept() -> None:
    y, rows = np.where(KNOWN, TABLE, 0), np.arange(0, 24, 3)
    known = KNOWN.astype(float)
    known[rows, 1] = 0  # no validation graph has this target
    recipe = Recipe(epochs=15, epoch="best", tie_break="loss")
    stack = fit_gnn(
        "gin", "sum", GRAPHS, y, [Settings(8, 2, lr=0.05)], recipe, classes=sum(BLOCKS), blocks=BLOCKS, weights=known,
        validation=(GRAPHS[rows], y[rows]), validation_weights=known[rows], metric="balanced_accuracy",
    )  # fmt: skip
    outputs, scores = torch.from_numpy(stack.logits(GRAPHS[rows])), []
    for target, first in ((0, 0), (2, 5)):
        has = known[rows, target] > 0
        predicted = outputs[:, has, first : first + 2].argmax(-1)
        scores.append(stack_balanced_accuracy(predicted, torch.from_numpy(y[rows, target][has]), 2))
    assert stack.trained is not None
    curve = stack.trained.curves["validation_score"][:, 0]
    assert curve.max().item() == pytest.approx(torch.stack(scores).mean().item())
    assert curve[stack.trained.epoch[0]] == curve.max()
    assert curve.min() < curve.max()


def by_hand(graphs: GraphSet, outputs: int, loss_of: object, epochs: int = 12) -> Tensor:
    """What a plain loop gives for the graphs."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        module = Network(GraphInputs.of(graphs).width, outputs)
        optimizer = torch.optim.Adam(module.parameters(), lr=0.02)
        tensors = GraphTensors.of(graphs, GraphInputs.of(graphs))
        for _ in range(epochs):
            optimizer.zero_grad()
            loss_of(module(tensors)).backward()  # type: ignore[operator]
            optimizer.step()
    return module.eval()(tensors).detach()


PARAMS = {"epochs": 12, "lr": 0.02, "batch_size": None, "schedule": "constant"}


@pytest.mark.parametrize("weighted", [True, False])
def test_classes_are_learned_as_by_a_plain_loop(own: str, weighted: bool) -> None:
    table = np.where(KNOWN, TABLE, np.nan)
    model = GraphClassifier(own, params=PARAMS, class_weight="auto" if weighted else None, check=False)
    with pytest.warns(UserWarning, match="target"):
        model.fit(GRAPHS, table)

    def loss(outputs: Tensor) -> Tensor:
        losses, first = [], 0
        for target, width in enumerate(BLOCKS):
            rows, block = np.flatnonzero(KNOWN[:, target]), slice(first, first + width)
            y = TABLE[rows, target]
            weight = torch.from_numpy(class_weights(y, width)).float() if weighted else None
            losses.append(nn.functional.cross_entropy(outputs[rows, block], torch.from_numpy(y), weight))
            first += width
        return torch.stack(losses).mean()

    outputs = by_hand(GRAPHS, sum(BLOCKS), loss)
    for ours, logits in zip(model.predict_proba(GRAPHS), outputs.split(list(BLOCKS), 1), strict=True):
        np.testing.assert_allclose(ours, torch.softmax(logits, 1).numpy(), atol=1e-4)


def test_numbers_are_learned_as_by_a_plain_loop(own: str) -> None:
    rng = np.random.default_rng(0)
    numbers = np.stack([GRAPHS.sizes * 3.0, 100 * rng.random(24)], 1)
    table, repeats = np.where(KNOWN[:, :2], numbers, np.nan), rng.integers(1, 4, 24)
    model = GraphRegressor(own, params=PARAMS, check=False)
    model.fit(GRAPHS, table, sample_weight=repeats)
    weights = torch.from_numpy(repeats * KNOWN[:, :2].T).float()
    means = np.array([np.average(numbers[:, t], weights=weights[t]) for t in range(2)])
    spreads = np.array([np.average((numbers[:, t] - means[t]) ** 2, weights=weights[t]) ** 0.5 for t in range(2)])
    y = torch.from_numpy((numbers - means) / spreads).float()

    def loss(outputs: Tensor) -> Tensor:
        errors = (outputs - y) ** 2
        return (weights[0] @ errors[:, 0] / weights[0].sum() + weights[1] @ errors[:, 1] / weights[1].sum()) / 2

    np.testing.assert_allclose(model.predict(GRAPHS), means + spreads * by_hand(GRAPHS, 2, loss).numpy(), rtol=1e-4)
