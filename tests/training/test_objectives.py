"""Losses and penalties against torch, autograd and plain PyG on every pattern."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from nn.helpers import Union, batch_of, by_pattern, doubled, plain_copy, random_columns, randomized
from scipy.sparse import csr_array, random_array
from torch import Tensor
from training.helpers import tables

from anysize.nn.gamma import GammaGNN, GraphModel, read_out
from anysize.nn.gnn import Embeddings
from anysize.nn.rows.recoloring import Draw, RecoloredPatterns
from anysize.training.fit_gamma import GammaProblem
from anysize.training.objectives import (
    EnvironmentBatch,
    color_penalty,
    irm_gradient,
    logit_penalty,
    mean_loss,
    squared_slopes,
)
from anysize.training.settings import Recipe, Settings

MODELS, GRAPHS, CLASSES, COLORS = 2, 7, 3, 3


def source(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def random_logits(seed: int = 0) -> tuple[Tensor, Tensor]:
    logits = torch.randn(MODELS, 20, CLASSES, generator=source(seed), dtype=torch.float64) * 3
    return logits, torch.randint(0, CLASSES, (20,), generator=source(seed + 1))


@pytest.mark.parametrize("weights", [None, [1.0, 4.0, 0.5], [0.0, 1.0, 2.0]])
def test_the_loss_of_classes_is_that_of_torch(weights: list[float] | None) -> None:
    logits, y = random_logits()
    given = None if weights is None else torch.tensor(weights, dtype=torch.float64)
    found = mean_loss(logits, y, None if given is None else given[y])
    for model in range(MODELS):
        torch.testing.assert_close(found[model], torch.nn.functional.cross_entropy(logits[model], y, given))


def test_the_loss_of_numbers_is_the_squared_error_and_irm_its_derivative_by_a_dummy_scale() -> None:
    outputs = torch.randn(MODELS, 20, 1, generator=source(3), dtype=torch.float64)
    y = torch.randn(20, generator=source(4), dtype=torch.float64)
    weights = torch.rand(20, generator=source(5), dtype=torch.float64)
    for model in range(MODELS):
        errors = (outputs[model, :, 0] - y) ** 2
        torch.testing.assert_close(mean_loss(outputs, y)[model], errors.mean())
        torch.testing.assert_close(mean_loss(outputs, y, weights)[model], weights @ errors / weights.sum())
        scale = torch.ones((), dtype=torch.float64, requires_grad=True)
        risk = mean_loss(outputs[model : model + 1] * scale, y, weights)[0]
        (slope,) = torch.autograd.grad(risk, scale)
        torch.testing.assert_close(irm_gradient(outputs, y, weights)[model], slope)


# ---- penalties on recolored patterns -----------------------------------------------------------------


@dataclass
class Scene:
    """A stack, a draw of recolored pairs, and for every model r_F and r_H of all patterns by plain PyG."""

    model: GraphModel
    drawn: Draw
    rows: Embeddings
    deviation: Tensor | None
    f: list[Tensor]
    h: list[Tensor]
    densities: Tensor

    @staticmethod
    def of(hidden: int | None = None, normalize: bool = True, shrink: float = 1.0) -> Scene:
        columns = random_columns((3, 4), 9, COLORS, seed=4)
        densities = csr_array(random_array((GRAPHS, len(columns)), density=0.5, random_state=0))
        densities.data = np.round(densities.data * 8) / 8
        representation = randomized(GammaGNN(MODELS, COLORS, 5, 2), [1, 2])
        with torch.no_grad():
            representation.encoder.norms[-1].scale.mul_(shrink)
            representation.encoder.norms[-1].shift.mul_(shrink)
        model = GraphModel(representation, MODELS, CLASSES, [False, True], hidden, normalize=normalize)
        model.head = randomized(model.head, [3, 4])
        model = model.double()
        patterns = RecoloredPatterns.of(batch_of(columns), densities, 2)
        other = by_pattern(batch_of(columns), patterns.inputs(5)[0, 1])
        both = Union(columns) + Union(columns, other)
        f, h = [], []
        for place in range(MODELS):
            plain = plain_copy(representation, COLORS, place, both.degrees)
            levels = torch.cat([both.read(level) for level in reversed(plain(both.x, both.edges))], dim=1).detach()
            if place == 0:
                levels = levels[:, :5]  # no jumping knowledge
            f.append(levels[: len(columns)])
            h.append(levels[len(columns) :])
        drawn = doubled(patterns.draw(5))
        rows = representation.encode(drawn.structure)
        _, deviation = model.head(read_out(rows, drawn.readouts))
        return Scene(model, drawn, rows, deviation, f, h, torch.from_numpy(densities.toarray()))

    def moved(self) -> Tensor:
        return read_out(self.rows, self.drawn.differences)

    def moved_logits(self) -> Tensor:
        return read_out(self.rows, self.drawn.differences, self.model.head.slopes(self.deviation))

    def slow_deviation(self, model: int) -> Tensor:
        """Of the representation over the graphs of the batch, as batch norm divides by it."""
        graphs = self.densities @ self.f[model]
        return torch.sqrt(((graphs - graphs.mean(0)) ** 2).mean(0) + 1e-5)


def test_the_color_penalty_is_the_mean_length_of_differences() -> None:
    scene = Scene.of()
    found = color_penalty(scene.model, scene.moved())
    for model in range(MODELS):
        lengths = [(f - h).pow(2).sum().sqrt() for f, h in zip(scene.f[model], scene.h[model], strict=True)]
        assert float(found[model].detach()) == pytest.approx(float(sum(lengths)) / len(lengths), rel=1e-9)


@pytest.mark.parametrize("hidden", [None, 4])
@pytest.mark.parametrize("normalize", [True, False])
def test_the_logit_penalty_is_measured_behind_the_first_map(hidden: int | None, normalize: bool) -> None:
    scene = Scene.of(hidden, normalize)
    found = logit_penalty(scene.model, scene.moved_logits())
    assert (scene.deviation is not None) == normalize
    for model in range(MODELS):
        lengths = []
        weight = scene.model.head.first.weight[model, : scene.f[model].shape[1]]
        for f, h in zip(scene.f[model], scene.h[model], strict=True):
            moved = f - h
            if normalize:
                moved = moved / scene.slow_deviation(model)
            logits = weight.T @ moved
            if hidden is None:
                logits = logits - logits.mean()  # a shift of all logits changes no prediction
            lengths.append(float(logits.detach().norm()))
        assert float(found[model].detach()) == pytest.approx(np.mean(lengths), rel=1e-9)


def test_small_embeddings_reduce_the_color_penalty_but_not_the_logit_penalty() -> None:
    full, small = Scene.of(), Scene.of(shrink=0.05)
    paper = [color_penalty(s.model, s.moved())[0].item() for s in (full, small)]
    ours = [logit_penalty(s.model, s.moved_logits())[0].item() for s in (full, small)]
    logits = [s.model.head(read_out(s.rows, s.drawn.readouts))[0][0].detach() for s in (full, small)]
    assert paper[1] == pytest.approx(0.05 * paper[0], rel=1e-9)
    assert ours[1] == pytest.approx(ours[0], rel=0.02)  # up to epsilon in batch norm
    torch.testing.assert_close(logits[1], logits[0], rtol=0.02, atol=0.02)


def test_the_gradient_of_a_difference_of_zero_is_zero() -> None:
    columns = random_columns((3,), 5, 1)  # one color: recolored patterns are equal
    model = GraphModel(GammaGNN(1, 1, 4, 1), 1, 2, [False]).double()
    model = randomized(model, [0])
    drawn = doubled(RecoloredPatterns.of(batch_of(columns), csr_array(np.ones((4, 5))), 1).draw(1))
    rows = model.representation.encode(drawn.structure)
    color_penalty(model, read_out(rows, drawn.differences)).sum().backward()
    gradients = [p.grad for p in model.representation.parameters() if p.grad is not None]
    assert gradients
    assert all(torch.isfinite(gradient).all() for gradient in gradients)


# ---- total loss -----------------------------------------------------------------------


@pytest.mark.parametrize("penalty", ["representation", "logit"])
@pytest.mark.parametrize("weighted", [True, False])
def test_penalty_and_class_weights_combine(penalty: Any, weighted: bool) -> None:
    columns = random_columns((3, 4), 9, COLORS)
    densities = csr_array(np.random.default_rng(0).random((GRAPHS, 18)))
    pairs = RecoloredPatterns.of(batch_of(columns), densities, 1)
    members = [Settings(penalty=0.5, seed=0), Settings(penalty=2.0, seed=1)]
    model = GraphModel(GammaGNN(2, COLORS, 5, 1), 2, 2, [True, True])
    randomized(model, [0, 1]).float()
    y, weights = torch.tensor([0, 1, 1, 0, 1, 1, 1]), torch.tensor([3.0, 1.0])
    recipe = Recipe(penalty_on=penalty)
    problem = GammaProblem(pairs, y, None, members, recipe, weights[y] if weighted else None)
    step = torch.tensor(3)
    found = problem.losses(model, None, step, step)
    drawn = pairs.draw(step)
    rows = model.representation.encode(drawn.structure)
    logits, deviation = model.head(read_out(rows, drawn.readouts))
    entropy = [torch.nn.functional.cross_entropy(z, y, weights if weighted else None) for z in logits]
    watched = logit_penalty(model, read_out(rows, drawn.differences, model.head.slopes(deviation)))
    paid = watched if penalty == "logit" else color_penalty(model, read_out(rows, drawn.differences))
    torch.testing.assert_close(found.of_targets, torch.stack(entropy))
    torch.testing.assert_close(found.penalty, watched)
    torch.testing.assert_close(found.total, torch.stack(entropy) + torch.tensor([0.5, 2.0]) * paid)
    part = problem.losses(model, torch.tensor([5, 0, 2]), step, step)  # a mini-batch: its graphs, all patterns
    assert part.total.shape == (2,)
    assert not torch.allclose(part.of_targets, found.of_targets)


def test_plain_patterns_have_no_penalty() -> None:
    counts, y = tables("er-single", 3)["train"]
    densities = counts.densities()
    structure = batch_of(counts.columns).structure(1, densities)
    model = randomized(GraphModel(GammaGNN(1, 1, 4, 1), 1, 3, [False]), [0]).float()
    problem = GammaProblem(structure, torch.from_numpy(y), None, [Settings(penalty=9.0)], Recipe(), None)
    losses = problem.losses(model, None, torch.tensor(1), torch.tensor(0))
    assert torch.equal(losses.total, losses.of_targets)
    assert losses.penalty.tolist() == [0.0]


# ---- invariant risk minimization ---------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, [1.0, 4.0, 0.5]])
def test_irm_is_the_derivative_by_a_dummy_scale(weights: list[float] | None) -> None:
    logits, y = random_logits(5)
    logits.requires_grad_()
    environments = torch.randint(0, 3, (20,), generator=source(2))
    given = None if weights is None else torch.tensor(weights, dtype=torch.float64)
    base = torch.ones(20, dtype=torch.float64) if given is None else given[y]
    found = EnvironmentBatch(logits, y, environments, 5, base)  # two environments do not occur
    loss, penalty = found.mean(found.risks), squared_slopes(found)
    for model in range(MODELS):
        losses, penalties = [], []
        for place in range(3):
            here = environments == place
            scale = torch.ones((), dtype=torch.float64, requires_grad=True)
            risk = torch.nn.functional.cross_entropy(logits[model, here] * scale, y[here], given)
            (slope,) = torch.autograd.grad(risk, scale, create_graph=True)
            torch.testing.assert_close(irm_gradient(logits, y, base * here)[model], slope)
            losses.append(risk)
            penalties.append(slope**2)
        torch.testing.assert_close(loss[model], torch.stack(losses).mean())
        torch.testing.assert_close(penalty[model], torch.stack(penalties).mean())
        (ours,) = torch.autograd.grad(penalty[model], logits, retain_graph=True)
        (theirs,) = torch.autograd.grad(torch.stack(penalties).mean(), logits)
        torch.testing.assert_close(ours, theirs)
        assert float(ours.abs().max()) > 1e-4  # the penalty moves weights
