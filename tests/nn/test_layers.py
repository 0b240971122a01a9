"""Layers of a stack against those of torch.nn, model by model."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from anysize.nn.gamma import GammaGNN, GammaOneHot, GammaRP, GraphModel
from anysize.nn.layers import BatchNorm, Dropout, Head, Linear, initialize

MODELS, FEATURES = 3, 5


def source(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_batch_norm_is_that_of_the_repeated_batch(affine: bool, weighted: bool, training: bool) -> None:
    x = (torch.randn(MODELS, 7, FEATURES, generator=source()) * 3 + 1).requires_grad_()
    counts = torch.tensor([1, 4, 2, 0, 3, 1, 2]) if weighted else torch.ones(7, dtype=torch.int64)
    outer = torch.randn(MODELS, 7, FEATURES, generator=source(1)) * (counts > 0)[:, None]
    ours = BatchNorm(MODELS, FEATURES, affine).train(training)
    if affine:
        nn.init.uniform_(ours.scale, 0.5, 2, generator=source(2))
        nn.init.normal_(ours.shift, generator=source(3))
    nn.init.normal_(ours.running_mean, generator=source(4))
    nn.init.uniform_(ours.running_var, 0.5, 2, generator=source(5))
    before = {name: tensor.detach().clone() for name, tensor in ours.state_dict().items()}
    found = ours(x, counts.float() if weighted else None)
    (found * outer).sum().backward()
    for model in range(MODELS):
        theirs = nn.BatchNorm1d(FEATURES, affine=affine).train(training)
        theirs.running_mean.copy_(before["running_mean"][model, 0])
        theirs.running_var.copy_(before["running_var"][model, 0])
        if affine:
            with torch.no_grad():
                theirs.weight.copy_(before["scale"][model, 0])
                theirs.bias.copy_(before["shift"][model, 0])
        own = x[model].detach().clone().requires_grad_()
        repeated = own.repeat_interleave(counts, 0)
        expected = theirs(repeated)
        share = 1 / counts.clamp(min=1).float()  # the gradient of a row, spread over its copies
        (expected * (outer[model] * share[:, None]).repeat_interleave(counts, 0)).sum().backward()
        torch.testing.assert_close(found[model].repeat_interleave(counts, 0), expected, rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(ours.running_mean[model, 0], theirs.running_mean, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(ours.running_var[model, 0], theirs.running_var, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(x.grad[model], own.grad, rtol=1e-4, atol=1e-5)
        if affine:
            torch.testing.assert_close(ours.scale.grad[model, 0], theirs.weight.grad, rtol=1e-5, atol=1e-5)
            torch.testing.assert_close(ours.shift.grad[model, 0], theirs.bias.grad, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("weight", [None, torch.tensor([1.0, 2.0, 3.0])])
def test_rows_that_are_alike_become_the_shift(weight: Tensor | None) -> None:
    norm = BatchNorm(1, 2)
    norm.corrected = True
    nn.init.normal_(norm.shift, generator=source())
    row = torch.tensor([[[1 / 3, -7.1]]]).expand(1, 3, 2)
    x = (row * (1 + 1e-7 * torch.tensor([0.0, 1, 2])[:, None])).requires_grad_()  # alike but for rounding
    found = norm(x, weight)
    torch.testing.assert_close(found, norm.shift.expand(1, 3, 2), rtol=0, atol=0)
    (found * torch.rand(found.shape, generator=source(1))).sum().backward()
    assert x.grad is not None
    assert not x.grad.any()
    new = x.detach() + 0.1
    torch.testing.assert_close(norm.eval()(new), norm.shift.expand(1, 3, 2), rtol=0, atol=0)
    assert norm.train()(new * torch.tensor([[1.0, 1.0], [1.0, 1.0], [1.0, 1.1]])).std() > 0.1  # one feature differs


def test_relu_in_the_same_pass_is_relu_afterwards() -> None:
    together, separate = BatchNorm(2, 4, relu=True), BatchNorm(2, 4)
    weight = torch.rand(50, generator=source(2))
    for training in (True, False):
        results = []
        for norm in (together.train(training), separate.train(training)):
            x = (torch.randn(2, 50, 4, generator=source()) * 3 + 1).requires_grad_()
            normal = norm(x, weight)
            normal = torch.relu(normal) if norm is separate else normal
            (normal * torch.randn(normal.shape, generator=source(1))).sum().backward()
            assert x.grad is not None
            results.append((normal.detach(), x.grad, norm.scale.grad, norm.shift.grad))
        for one, other in zip(*results, strict=True):
            torch.testing.assert_close(one, other)


def test_corrected_averages_are_means_of_what_was_seen() -> None:
    batches = [torch.randn(MODELS, 6, FEATURES, generator=source(n)) * 0.01 + n for n in range(30)]
    corrected, of_torch = BatchNorm(MODELS, FEATURES), BatchNorm(MODELS, FEATURES)
    corrected.corrected = True
    for seen, batch in enumerate(batches, 1):
        corrected(batch)
        of_torch(batch)
        if seen <= 10:  # from the eleventh on a batch counts a tenth
            mean = torch.cat(batches[:seen], 1).mean(1, keepdim=True)
            variance = torch.stack([own.var(1, keepdim=True) for own in batches[:seen]]).mean(0)
            torch.testing.assert_close(corrected.running_mean, mean, rtol=1e-5, atol=1e-5)
            torch.testing.assert_close(corrected.running_var, variance, rtol=1e-4, atol=1e-9)
    assert of_torch.running_var.min() > 0.04  # what is left of the 1 that it began with
    assert corrected.running_var.max() < 1e-3


def test_batch_norm_gives_the_deviation_it_divided_by_with_its_gradient() -> None:
    x = torch.randn(2, 9, 3, generator=source(), requires_grad=True)
    normal, deviation = BatchNorm(2, 3, affine=False).normalized(x)
    expected = torch.sqrt(x.var(1, unbiased=False, keepdim=True) + 1e-5)
    torch.testing.assert_close(deviation, expected)
    torch.testing.assert_close(normal, (x - x.mean(1, keepdim=True)) / expected)
    (ours,) = torch.autograd.grad(deviation.sum(), x, retain_graph=True)
    torch.testing.assert_close(ours, torch.autograd.grad(expected.sum(), x)[0])


@pytest.mark.parametrize("shared", [True, False])
def test_linear_is_torch_linear(shared: bool) -> None:
    ours = Linear(MODELS, 4, FEATURES)
    initialize(ours, [1, 2, 3])
    x = torch.randn(1 if shared else MODELS, 6, 4, generator=source())
    found = ours(x[0] if shared else x)
    assert found.shape == (MODELS, 6, FEATURES)
    for model in range(MODELS):
        expected = nn.functional.linear(x[0 if shared else model], ours.weight[model].T, ours.bias[model, 0])
        torch.testing.assert_close(found[model], expected)


def test_dropout_draws_from_the_seed_of_each_model_and_anew_in_each_step() -> None:
    def dropped(seeds: list[int]) -> tuple[Tensor, Tensor]:
        layer = Dropout(len(seeds), 0.3)
        initialize(layer, seeds)
        x = torch.ones(len(seeds), 50, 40)
        return layer(x), layer(x)

    (first, second), (alone, alone_later) = dropped([5, 6, 5]), dropped([6])
    assert torch.equal(first[1:2], alone)
    assert torch.equal(second[1:2], alone_later)
    assert torch.equal(first[0], first[2])
    assert not torch.equal(first[0], first[1])
    assert not torch.equal(first, second)
    assert first.unique().tolist() == pytest.approx([0.0, 1 / 0.7])
    assert abs(float((first == 0).float().mean()) - 0.3) < 0.02
    layer = Dropout(1, 0.3).eval()
    assert torch.equal(layer(torch.ones(1, 4, 4)), torch.ones(1, 4, 4))


BUILDS = {
    "1hot": lambda models, jumping: GammaOneHot(models, 11, 8),
    "gnn": lambda models, jumping: GammaGNN(models, 4, 8, 2, "gin", jumping),
    "gcn": lambda models, jumping: GammaGNN(models, 4, 8, 2, "gcn", jumping),
    "pna": lambda models, jumping: GammaGNN(models, 4, 8, 2, "pna", jumping),
    "rp": lambda models, jumping: GammaRP(models, 9, 8, 2, "gin", jumping),
}


@pytest.mark.parametrize("kind", BUILDS)
def test_a_model_starts_alike_alone_and_in_a_stack(kind: str) -> None:
    jumps = [False, True, False]

    def built(jumping: list[bool], seeds: list[int]) -> dict[str, Tensor]:
        models = len(seeds)
        model = GraphModel(BUILDS[kind](models, any(jumping)), models, 3, jumping, hidden=6)
        initialize(model, seeds)
        return model.state_dict()

    together = built(jumps, [7, 8, 7])
    for place, (jump, seed) in enumerate(zip(jumps, [7, 8, 7], strict=True)):
        for name, tensor in built([jump], [seed]).items():
            if tensor.dim() == 0:
                continue
            part = together[name][place]
            if part.shape != tensor[0].shape:  # columns of others' jumping knowledge come behind
                part = part[tuple(slice(0, size) for size in tensor[0].shape)]
            assert torch.equal(part, tensor[0]), name
    assert not torch.equal(together["head.last.weight"][0], together["head.last.weight"][1])


def test_starting_values_are_bounded_as_in_torch() -> None:
    layer = Linear(40, 25, 30)
    initialize(layer, list(range(40)))
    for parameter in (layer.weight.detach(), layer.bias.detach()):
        assert 0.19 < float(parameter.abs().max()) <= 0.2  # 1 / sqrt(25)
        assert abs(float(parameter.mean())) < 0.01
    values = layer.weight.detach().reshape(40, -1)
    assert float(torch.corrcoef(values).fill_diagonal_(0).abs().max()) < 0.2  # seeds differ


def test_a_masked_head_sees_nothing_of_what_is_masked() -> None:
    mask = torch.ones(2, 6, 1)
    mask[1, 4:] = 0
    head = Head(2, 6, 3, mask=mask)
    initialize(head, [0, 0])
    assert float(head.first.weight[1].detach().abs().max()) <= 0.5  # 1 / sqrt(4): the inputs that count
    x = torch.randn(2, 8, 6, generator=source())
    moved = x.clone()
    moved[..., 4:] += torch.randn(2, 8, 2, generator=source(1))
    same, other = head(x)[0], head(moved)[0]
    torch.testing.assert_close(same[1], other[1], rtol=0, atol=0)
    assert not torch.allclose(same[0], other[0])
    slopes = head.slopes(torch.full((2, 1, 6), 2.0))
    assert torch.equal(slopes[1, 4:], torch.zeros(2, 3))
    torch.testing.assert_close(slopes[0], head.first.weight[0] / 2)
