"""Training GNNs on whole graphs: stacks, mini-batches, objectives for environments, state, errors, memory."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from anysize import GraphSet
from anysize.nn.gnn import LAYERS
from anysize.nn.layers import initialize
from anysize.nn.rows.graph_batch import PaddedGraphs
from anysize.nn.rows.inputs import GraphInputs
from anysize.training.fit_gnn import GNNArchitecture, GNNProblem, GNNStack, bytes_per_model, fit_gnn
from anysize.training.objectives import (
    IRM,
    VREX,
    EnvironmentBatch,
    Objective,
    penalized_risk,
    squared_slopes,
    variance_of_risks,
)
from anysize.training.settings import Recipe, Settings

RECIPE = Recipe(epochs=6, epoch="best", tie_break="first")


def graphs_of(amount: int, seed: int, sizes: tuple[int, ...] = (8, 12), colored: bool = True) -> GraphSet:
    """Two classes: sparse graphs, and dense ones whose vertices are mostly of one color."""
    rng = np.random.default_rng(seed)
    edges, colors, y = [], [], []
    n_vertices = [int(rng.choice(sizes)) for _ in range(amount)]
    for n in n_vertices:
        label = int(rng.integers(2))
        y.append(label)
        edges.append(np.argwhere(np.triu(rng.random((n, n)) < (0.2, 0.5)[label], 1)).reshape(-1, 2))
        colors.append(rng.choice(["C", "N", "O"], n, p=[0.6, 0.3, 0.1] if label else [0.3, 0.6, 0.1]).tolist())
    return GraphSet.from_edges(edges, n_vertices=n_vertices, colors=colors if colored else None, y=y)


TRAIN, HELD_OUT = graphs_of(24, 0), graphs_of(10, 1)


def fitted(kind: str, members: list[Settings], recipe: Recipe = RECIPE, readout: str = "sum", **more: Any) -> GNNStack:
    validation = (HELD_OUT, HELD_OUT.y)
    return fit_gnn(kind, readout, TRAIN, TRAIN.y, members, recipe, classes=2, validation=validation, **more)


# ---- stacks --------------------------------------------------------------------------------------

METHODS = [("gin", False), ("gcn", False), ("pna", False), ("gin", True)]
HEADED = Recipe(epochs=6, epoch="best", tie_break="loss", head_hidden=7, dropout=0.3)


@pytest.mark.parametrize(
    ("kind", "relational", "batch_size", "objective"),
    [
        *((*method, batch_size, IRM) for method in METHODS for batch_size in (None, 8)),
        *(("gin", False, batch_size, VREX) for batch_size in (None, 8)),
        *((kind, True, batch_size, IRM) for kind in ("gcn", "pna") for batch_size in (None, 8)),
    ],
)
def test_a_model_of_a_stack_equals_the_same_model_alone(
    kind: str, relational: bool, batch_size: int | None, objective: Objective
) -> None:
    common = {"hidden": 6, "layers": 2, "batch_size": batch_size}
    members = [
        Settings(seed=1, lr=0.01, **common),
        Settings(seed=2, lr=0.003, jumping=True, **common),
        Settings(seed=3, lr=0.01, invariance=4.0, **common),
    ]
    more = {"relational": relational, "environments": TRAIN.sizes, "objective": objective}
    together = fitted(kind, members, HEADED, **more)
    for place, member in enumerate(members):
        alone = fitted(kind, [member], HEADED, **more)
        assert together.trained is not None
        assert alone.trained is not None
        for name, curve in alone.trained.curves.items():
            found = together.trained.curves[name][:, place]
            assert torch.allclose(found, curve[:, 0], rtol=1e-4, atol=1e-4, equal_nan=True), name
        assert np.allclose(together.logits(HELD_OUT)[place], alone.logits(HELD_OUT)[0], atol=5e-3)


@pytest.mark.parametrize("readout", ["sum", "mean", "max"])
@pytest.mark.parametrize(("kind", "relational"), METHODS)
def test_every_method_learns_an_easy_task(kind: str, relational: bool, readout: str) -> None:
    members = [Settings(hidden=8, layers=2, lr=lr) for lr in (0.01, 0.008)]
    stack = fitted(kind, members, Recipe(epochs=40, epoch="best"), readout, relational=relational)
    assert stack.trained is not None
    assert (stack.logits(HELD_OUT).argmax(-1) == HELD_OUT.y).mean() >= 0.75
    losses = stack.trained.curves["loss"]
    assert (losses[-1] < 0.6 * losses[0]).all()


def test_graphs_without_colors_and_graphs_of_one_vertex() -> None:
    plain = graphs_of(12, 3, sizes=(1, 6), colored=False)
    for kind, relational in METHODS:
        for batch_size in (None, 5):
            stack = fit_gnn(
                kind, "max", plain, plain.y, [Settings(hidden=4, layers=2, batch_size=batch_size)], Recipe(epochs=3),
                classes=2, relational=relational,
            )  # fmt: skip
            assert stack.inputs.palette is None
            assert np.isfinite(stack.logits(plain)).all()
            alone = GraphSet.from_edges([[]], n_vertices=[1])
            assert stack.logits(alone).shape == (1, 1, 2)
            assert np.isfinite(stack.represent(alone)).all()
            assert stack.logits(plain[:0]).shape == (1, 0, 2)


@pytest.mark.parametrize("batch_size", [None, 6])
@pytest.mark.parametrize(("kind", "relational"), METHODS)
def test_types_of_edges_alone_and_in_a_stack(kind: str, relational: bool, batch_size: int | None) -> None:
    drawn = np.random.default_rng(0).integers(0, 3, (2, int(TRAIN.edge_counts.sum())))
    graphs = TRAIN.with_edge_colors(drawn[0].tolist()).with_directions(drawn[1])
    members = [Settings(hidden=6, layers=2, batch_size=batch_size, seed=seed) for seed in (1, 2)]
    recipe = Recipe(epochs=5, permutations=2, test_permutations=2)
    stack = fit_gnn(kind, "sum", graphs, TRAIN.y, members, recipe, classes=2, relational=relational)
    logits = stack.logits(graphs)
    for place, member in enumerate(members):
        alone = fit_gnn(kind, "sum", graphs, TRAIN.y, [member], recipe, classes=2, relational=relational)
        assert np.allclose(alone.logits(graphs)[0], logits[place], atol=5e-3)
    restored = GNNStack.from_state(json.loads(json.dumps(stack.state()[0])), stack.state()[1])
    assert np.array_equal(restored.logits(graphs), logits)
    assert not np.allclose(restored.logits(graphs.with_edge_colors((2 - drawn[0]).tolist())), logits)
    strange, renamed = (graphs.with_edge_colors([name] * drawn.shape[1]) for name in ("x", "y"))
    assert np.array_equal(restored.logits(strange), restored.logits(renamed))
    with pytest.raises(ValueError, match="edge colors and these graphs have none"):
        stack.logits(graphs.without_edge_colors())


@pytest.mark.parametrize("kind", ["gin", "gcn", "pna"])
def test_types_of_edges_are_learned_from(kind: str) -> None:
    """Both classes have as many edges of each color: they alternate, or come in blocks."""
    y, edges = np.arange(40) % 2, [2 * (2 + number % 4) for number in range(40)]
    colors = [
        ["a", "b"] * (n // 2) if label else ["a"] * (n // 2) + ["b"] * (n // 2)
        for n, label in zip(edges, y, strict=True)
    ]
    graphs = GraphSet.from_edges([[(i, i + 1) for i in range(n)] for n in edges], edge_colors=colors)
    members = [Settings(hidden=16, layers=2, lr=0.01, seed=seed) for seed in range(3)]
    logits = fit_gnn(kind, "mean", graphs, y, members, Recipe(epochs=60), classes=2).logits(graphs)
    assert ((logits.argmax(-1) == y).mean(1) > 0.9).any()


def test_directions_are_types_of_edges() -> None:
    """Paths whose edges all point one way, and paths whose edges point out of every second vertex."""
    sizes, y = [6 + number % 4 for number in range(40)], np.arange(40) % 2
    paths = [
        [(i + 1, i) if label and i % 2 else (i, i + 1) for i in range(n)] for n, label in zip(sizes, y, strict=True)
    ]
    graphs = GraphSet.from_edges(paths, directed=True)
    members = [Settings(hidden=16, layers=2, lr=0.01, seed=seed) for seed in range(3)]
    stack = fit_gnn("gin", "mean", graphs, y, members, Recipe(epochs=60), classes=2)
    assert ((stack.logits(graphs).argmax(-1) == y).mean(1) > 0.9).any()
    assert stack.inputs.types == 2
    plain = stack.logits(graphs.without_directions())  # edges that point both ways are of an unknown type
    assert np.allclose(plain[:, 0], plain[:, 4], atol=1e-5)


@pytest.mark.parametrize("batch_size", [None, 6])
@pytest.mark.parametrize(("kind", "relational"), METHODS)
def test_features_are_learned_from_alone_and_in_a_stack(kind: str, relational: bool, batch_size: int | None) -> None:
    """Both classes have the same edges; one of two features is larger in the second."""
    rng, y = np.random.default_rng(0), np.arange(24) % 2
    path = [(i, i + 1) for i in range(4)]
    features = rng.normal(100, 1, (24 * 5, 2))
    features[:, 1] += 3 * np.repeat(y, 5)
    graphs = GraphSet.from_edges([path] * 24).with_features(features)
    members = [Settings(hidden=6, layers=2, lr=0.02, batch_size=batch_size, seed=seed) for seed in (1, 2)]
    recipe = Recipe(epochs=15, permutations=2, test_permutations=2)
    stack = fit_gnn(kind, "mean", graphs, y, members, recipe, classes=2, relational=relational)
    logits = stack.logits(graphs)
    assert (logits.argmax(-1) == y).mean() > 0.9
    for place, member in enumerate(members):
        alone = fit_gnn(kind, "mean", graphs, y, [member], recipe, classes=2, relational=relational)
        assert np.allclose(alone.logits(graphs)[0], logits[place], atol=0.05)
    restored = GNNStack.from_state(json.loads(json.dumps(stack.state()[0])), stack.state()[1])
    assert np.array_equal(restored.logits(graphs), logits)
    with pytest.raises(ValueError, match="vertex features and these have none"):
        stack.logits(graphs.without_features())


def test_unseen_colors_count_as_vertices_without_features() -> None:
    stack = fitted("gin", [Settings(hidden=4, layers=2)])
    edges = [HELD_OUT.edges(place) for place in range(3)]
    sizes = HELD_OUT.sizes[:3].tolist()
    strange = GraphSet.from_edges(edges, n_vertices=sizes, colors=[["X"] * n for n in sizes])
    other = GraphSet.from_edges(edges, n_vertices=sizes, colors=[["Y"] * n for n in sizes])
    known = GraphSet.from_edges(edges, n_vertices=sizes, colors=[["C"] * n for n in sizes])
    assert np.array_equal(stack.logits(strange), stack.logits(other))
    assert not np.allclose(stack.logits(strange), stack.logits(known))
    with pytest.raises(ValueError, match="got plain"):
        stack.logits(known.without_colors())


# ---- mini-batches --------------------------------------------------------------------------------


def problem_of(architecture: GNNArchitecture, members: list[Settings], **more: Any) -> GNNProblem:
    """A problem that has the graphs in both forms: as one structure, and as rows for mini-batches."""
    y = torch.from_numpy(np.asarray(TRAIN.y, np.int64))
    structure = None if architecture.relational else architecture.structure(TRAIN, GraphInputs.of(TRAIN))
    given = {"environments": None, "graph_weights": None} | more
    return GNNProblem(
        architecture, structure, architecture.batch(TRAIN, GraphInputs.of(TRAIN)), y, None, members, **given
    )


@pytest.mark.parametrize("kind", ["gin", "gcn", "pna"])
def test_a_mini_batch_of_all_graphs_is_the_full_batch(kind: str) -> None:
    members = [Settings(hidden=5, layers=3, jumping=True, invariance=2.0)]
    environments = torch.from_numpy((TRAIN.sizes > 10).astype(np.int64))
    architecture = GNNArchitecture(kind, "mean", False, 3, 2, 5, 3, Recipe())
    weights = torch.rand(len(TRAIN), generator=torch.Generator().manual_seed(0)) + 0.5
    problem = problem_of(architecture, members, environments=environments, graph_weights=weights)
    order = torch.from_numpy(np.random.default_rng(0).permutation(len(TRAIN)))
    step, found = torch.tensor(1), []
    for graphs in (None, order):
        model = architecture.build([True])
        initialize(model, [0])
        losses = problem.losses(model.train(), graphs, step, torch.tensor(150))
        losses.total.sum().backward()
        gradients = [parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None]
        found.append([losses.total, losses.of_targets, losses.penalty, *gradients])
    assert len(found[0]) > 10
    for one, other in zip(*found, strict=True):
        assert torch.allclose(one, other, atol=1e-5)


# ---- objectives that compare environments --------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_the_irm_penalty_is_the_squared_derivative_by_a_dummy_scale(weighted: bool) -> None:
    source = torch.Generator().manual_seed(0)
    logits = torch.randn(2, 9, 3, generator=source, dtype=torch.float64)
    y = torch.randint(0, 3, (9,), generator=source)
    environments = torch.tensor([0, 1, 0, 1, 2, 2, 0, 1, 0])
    weights = torch.tensor([0.5, 1.0, 4.0], dtype=torch.float64) if weighted else None
    by_graph = None if weights is None else weights[y]
    found = EnvironmentBatch(logits, y, environments, 4, by_graph)  # the last environment is empty
    loss, penalty = found.mean(found.risks), squared_slopes(found)
    for model in range(2):
        risks, squares = [], []
        for place in range(3):
            here = environments == place
            scale = torch.ones((), dtype=torch.float64, requires_grad=True)
            risk = torch.nn.functional.cross_entropy(logits[model, here] * scale, y[here], weight=weights)
            (slope,) = torch.autograd.grad(risk, scale)
            risks.append(risk)
            squares.append(slope**2)
        assert torch.allclose(loss[model], torch.stack(risks).mean())
        assert torch.allclose(penalty[model], torch.stack(squares).mean())


def in_environments(risks: list[list[float]], numbers: list[int], count: int) -> EnvironmentBatch:
    """Graphs of class 0 whose losses are as given, model by model."""
    wanted = torch.tensor(risks, dtype=torch.float64)
    logits = torch.stack([torch.zeros_like(wanted), torch.log(torch.expm1(wanted))], dim=-1)
    y = torch.zeros(len(numbers), dtype=torch.int64)
    return EnvironmentBatch(logits.requires_grad_(), y, torch.tensor(numbers), count)


def test_the_vrex_penalty_is_the_variance_of_the_risks() -> None:
    losses, numbers = [[1.0, 3.0, 5.0, 0.5], [2.0, 2.0, 2.0, 2.0]], [0, 0, 1, 3]
    found = in_environments(losses, numbers, 5)  # environments 2 and 4 are empty
    risks = [2.0, 5.0, 0.5]  # means of {1, 3}, {5}, {0.5}
    penalty = variance_of_risks(found)
    assert penalty.tolist() == pytest.approx([np.var(risks), 0.0], abs=1e-12)
    assert found.mean(found.risks).tolist() == pytest.approx([2.5, 2.0])
    (slope,) = torch.autograd.grad(penalty.sum(), found.logits)
    assert torch.allclose(slope[1], torch.zeros_like(slope[1]))  # equal risks pull nowhere
    # d variance / d risk = 2 (risk - mean) / 3, shared by the graphs of an environment; d loss / d logit = softmax
    pulls = torch.tensor([2 * (risk - 2.5) / 3 / size for risk, size in zip(risks, (2, 1, 1), strict=True)])
    chances = torch.softmax(found.logits[0], -1)[:, 1].detach()
    assert torch.allclose(slope[0, :, 1], (pulls[[0, 0, 1, 2]] * chances), atol=1e-7)


def test_a_penalty_weighs_one_at_first_and_divides_by_its_weight_later() -> None:
    risk, penalty, weights = torch.tensor([2.0, 2.0, 2.0]), torch.tensor([0.5] * 3), torch.tensor([8.0, 0.5, 1.0])
    assert penalized_risk(risk, penalty, weights, torch.tensor(0)).tolist() == [2.5, 2.5, 2.5]
    assert penalized_risk(risk, penalty, weights, torch.tensor(100)).tolist() == [6 / 8, 2.25, 2.5]


@pytest.mark.parametrize("objective", [IRM, VREX])
def test_the_penalty_moves_the_weights(objective: Objective) -> None:
    """The penalty has a gradient, and it differs from that of the risk."""
    members = [Settings(hidden=5, layers=2, invariance=16.0)]
    environments = torch.from_numpy((TRAIN.sizes > 10).astype(np.int64))
    architecture = GNNArchitecture("gin", "sum", False, 3, 2, 5, 2, Recipe())
    problem = problem_of(architecture, members, environments=environments, objective=objective)
    model = architecture.build([False])
    initialize(model, [0])

    def gradient(pick: str, epoch: int) -> Tensor:
        model.zero_grad()
        losses = problem.losses(model.train(), None, torch.tensor(1), torch.tensor(epoch))
        getattr(losses, pick).sum().backward()
        return torch.cat([parameter.grad.reshape(-1) for parameter in model.parameters() if parameter.grad is not None])

    penalty, total, early = gradient("penalty", 200), gradient("total", 200), gradient("total", 0)
    risk = early - penalty
    assert torch.allclose(16 * total, risk + 16 * penalty, atol=1e-4)
    assert 16 * penalty.norm() > 0.02 * risk.norm()


@pytest.mark.parametrize("objective", [IRM, VREX])
def test_it_changes_what_is_learned_and_members_without_it_are_left_alone(
    objective: Objective, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("anysize.training.objectives.WARM_UP_EPOCHS", 2)
    recipe = Recipe(epochs=30, epoch="last")
    members = [Settings(hidden=4, layers=1, invariance=weight) for weight in (0.0, 1e-9, 1e3)]
    plain = fitted("gin", members[:1], recipe)
    all_three = fitted("gin", members, recipe, environments=TRAIN.sizes, objective=objective)
    logits = all_three.logits(HELD_OUT)
    assert np.allclose(logits[0], plain.logits(HELD_OUT)[0], atol=1e-3)
    assert np.abs(logits[2] - logits[0]).max() > 0.05
    assert all_three.trained is not None
    penalties = all_three.trained.curves["penalty"]
    assert (penalties[:, 0] == 0).all()  # not computed
    assert penalties[15:, 2].mean() < 0.7 * penalties[15:, 1].mean()


# ---- state, errors, memory ----------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "relational"), METHODS)
def test_a_stack_is_restored_from_its_state(kind: str, relational: bool) -> None:
    members = [Settings(hidden=4, layers=2, jumping=jumping) for jumping in (False, True)]
    stack = fitted(kind, members, HEADED, relational=relational)
    about, arrays = stack.state()
    again = GNNStack.from_state(json.loads(json.dumps(about)), {name: array.copy() for name, array in arrays.items()})
    assert (again.architecture, again.members) == (stack.architecture, stack.members)
    assert again.inputs.state() == stack.inputs.state()
    assert np.array_equal(again.logits(HELD_OUT), stack.logits(HELD_OUT))
    assert np.array_equal(again.represent(HELD_OUT), stack.represent(HELD_OUT))


def test_graphs_are_predicted_in_parts_and_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, relational in METHODS:
        stack = fitted(kind, [Settings(hidden=4, layers=2)], Recipe(epochs=2), relational=relational)
        whole = stack.logits(TRAIN)
        values = stack.architecture.hidden * LAYERS[kind].values_per_unit * (10 if relational else 1)
        with monkeypatch.context() as patch:
            patch.setattr("anysize.training.fit_gnn.PREDICTION_BYTES", values * int(TRAIN.sizes.sum()))  # a quarter
            assert len(stack._parts(TRAIN)) in (4, 5)
            assert np.allclose(stack.logits(TRAIN), whole, atol=1e-5)
            patch.setattr("anysize.training.fit_gnn.PREDICTION_BYTES", 1)
            assert len(stack._parts(TRAIN)) == len(TRAIN)


@pytest.mark.parametrize(
    ("members", "more", "match"),
    [
        ([Settings(penalty=0.1)], {}, "Gamma models"),
        ([Settings(invariance=4.0)], {}, "environments.*got none"),
        ([Settings(invariance=4.0)], {"environments": np.zeros(24, np.int64)}, "24 numbers, 1"),
        ([Settings(invariance=4.0)], {"environments": np.arange(3)}, "got 3 numbers"),
        ([Settings()], {"recipe": Recipe(permutations="all"), "relational": True}, "too many orders"),
        ([Settings()], {"readout": "median"}, "readout.*'median'"),
    ],
)
def test_errors_say_what_to_do(members: list[Settings], more: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        fitted("gin", members, **more)


@pytest.mark.parametrize("kind", ["gcn", "pna"])
def test_what_a_layer_needs_is_a_matter_of_its_class_and_not_of_its_name(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LAYERS, "own", LAYERS[kind])
    own, known = (fitted(name, [Settings(hidden=4, layers=2)]) for name in ("own", kind))
    np.testing.assert_array_equal(own.logits(TRAIN), known.logits(TRAIN))


def test_errors_name_what_was_given() -> None:
    with pytest.raises(ValueError, match=r"gin, gcn, pna.*'gat'"):
        fitted("gat", [Settings()])
    with pytest.raises(ValueError, match=r"per training graph.*got 3 for 24"):
        fit_gnn("gin", "sum", TRAIN, np.zeros(3, np.int64), [Settings()], RECIPE, classes=2)
    nobody = GraphSet.from_edges([[], []], n_vertices=[0, 0])
    with pytest.raises(ValueError, match="no training graph has a vertex"):
        fit_gnn("gin", "sum", nobody, np.array([0, 1]), [Settings()], RECIPE, classes=2)


def kept_bytes(architecture: GNNArchitecture, models: int, batch_size: int | None) -> int:
    """Bytes that a forward pass keeps for the gradient, each storage counted once."""
    kept: dict[int, int] = {}

    def keep(tensor: Tensor) -> Tensor:
        if tensor.layout == torch.strided:
            kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    members = [Settings(hidden=architecture.hidden, layers=architecture.layers, batch_size=batch_size)] * models
    problem = problem_of(architecture, members)
    graphs = None if batch_size is None else torch.arange(batch_size)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        losses = problem.losses(architecture.build([False] * models).train(), graphs, torch.tensor(1), torch.tensor(0))
    assert losses.total.requires_grad  # the graph, and with it what it keeps, is alive until here
    return sum(kept.values())


@pytest.mark.parametrize("batch_size", [None, 8])
@pytest.mark.parametrize(("kind", "relational"), METHODS)
def test_the_memory_estimate_covers_the_activations(kind: str, relational: bool, batch_size: int | None) -> None:
    """The estimate is at least what a forward pass keeps for the gradient, and at most eight times as much."""
    for hidden, layers in ((32, 1), (64, 3)):
        architecture = GNNArchitecture(kind, "sum", relational, 3, 2, hidden, layers, Recipe())
        settings = Settings(hidden=hidden, layers=layers, batch_size=batch_size)
        estimated = bytes_per_model(kind, TRAIN, settings, Recipe(), relational=relational)
        measured = (kept_bytes(architecture, 5, batch_size) - kept_bytes(architecture, 2, batch_size)) / 3
        assert measured <= estimated <= 8 * measured


def test_validation_graphs_need_memory_too() -> None:
    settings = Settings(hidden=16, layers=2, batch_size=2)
    alone = bytes_per_model("gin", TRAIN, settings, Recipe(), relational=True)
    beside = bytes_per_model("gin", TRAIN, settings, Recipe(), validation=HELD_OUT, relational=True)
    assert beside > alone
    assert beside >= 4 * 10 * int(HELD_OUT.sizes.sum()) * 16  # one value for each unit, vertex and permutation


def test_only_batches_of_one_shape_can_be_recorded() -> None:
    architecture = GNNArchitecture("gin", "sum", False, 3, 2, 4, 2, Recipe())
    flat = problem_of(architecture, [Settings()])
    assert not flat.recordable
    padded = PaddedGraphs.of(TRAIN, architecture.input_classes(TRAIN, GraphInputs.of(TRAIN)), "sum", False)
    problem = GNNProblem(architecture, None, padded, flat.y, None, [Settings()], None, None)
    assert problem.recordable
    shapes = {tuple(len(level.degree) for level in problem.inputs(torch.tensor(numbers), torch.tensor(1)).levels)
              for numbers in ([0, 1, 2], [5, 9, 4])}  # fmt: skip
    assert len(shapes) == 1
