"""Layers and heads of M models at once: every parameter has a leading axis of models; M = 1 is the ordinary case.

Activations are (models, rows, features), where a row is a vertex, a class of vertices, a pattern or a graph. Inputs
that all models share may omit the first axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from zlib import crc32

import torch
from torch import Tensor, nn

from anysize.nn.counter_rng import uniform

MOMENTUM, EPSILON = 0.1, 1e-5  # as in torch.nn.BatchNorm1d
ROUNDING = 1e-6  # a standard deviation in float32 that is rounding alone, relative to 1 + |mean|
DROPOUT_STREAM = 2  # of random numbers


class Linear(nn.Module):
    """x W + b for every model: (models or none, rows, inputs) -> (models, rows, outputs); NaN until `initialize`.

    ``mask`` (models, inputs, 1): a different set of inputs for each model, as for jumping knowledge on or off. Masked
    inputs count neither in the result nor in the bounds of the initial weights, so that a model without jumping
    knowledge is the same in a stack with and without jumping knowledge.
    """

    mask: Tensor | None

    def __init__(self, models: int, inputs: int, outputs: int, mask: Tensor | None = None) -> None:
        super().__init__()
        self.register_buffer("mask", mask)
        self.weight = nn.Parameter(torch.full((models, inputs, outputs), torch.nan))
        self.bias = nn.Parameter(torch.full((models, 1, outputs), torch.nan))

    def bounds(self) -> dict[str, float | Tensor]:
        """Initial values are uniform between minus and plus these bounds, as in torch.nn.Linear."""
        if self.mask is None:
            return dict.fromkeys(("weight", "bias"), 1 / math.sqrt(max(self.weight.shape[1], 1)))
        return dict.fromkeys(("weight", "bias"), 1 / torch.sqrt(self.mask.sum(1, keepdim=True).clamp(min=1)))

    def forward(self, x: Tensor) -> Tensor:
        weight = self.weight if self.mask is None else self.weight * self.mask
        if x.dim() == 3 and x.shape[0] == len(weight):
            return torch.baddbmm(self.bias, x, weight)
        return x @ weight + self.bias


def are_alike(mean: Tensor, variance: Tensor) -> Tensor:
    """Whether all rows are alike: the variance of every feature is rounding; (..., features) -> (..., 1).

    Batch norm would divide this rounding, and multiply gradients, by a deviation of about 0, once more in every layer.
    """
    return (variance <= ROUNDING**2 * (1 + mean * mean)).all(-1, keepdim=True)


class BatchNorm(nn.Module):
    """Batch normalization over rows that stand for several vertices each: means and variances are weighted.

    ``relu``: followed by ReLU, without another pass over the rows.

    Rows that are all alike, as in regular graphs, become the shift, without a gradient (`are_alike`). If they were in
    training, all rows become the shift in prediction.

    With a row of weight w, the result, the running averages and the gradients are those of `torch.nn.BatchNorm1d` on a
    batch that holds the row w times.

    The running averages of torch start at mean 0 and variance 1. It takes about fifty steps to forget these values, and
    more if variances are small, as those of densities are. With ``corrected`` they start at the first batch: they are
    the mean of all batches as long as the newest one then has a weight above `MOMENTUM`.

    torch multiplies the running variance by n / (n - 1): a batch is a sample. With ``population`` the rows are all that
    there are, such as the patterns of a Gamma model, and the variance is kept as it is: else predictions are scaled by
    another deviation than training, by 10 % for the few rows of k = 3.
    """

    running_mean: Tensor
    running_var: Tensor
    steps: Tensor
    corrected = False
    population = False

    def __init__(self, models: int, features: int, affine: bool = True, relu: bool = False) -> None:
        super().__init__()
        self.affine, self.relu = affine, relu
        if affine:
            self.scale = nn.Parameter(torch.ones(models, 1, features))
            self.shift = nn.Parameter(torch.zeros(models, 1, features))
        self.register_buffer("running_mean", torch.zeros(models, 1, features))
        self.register_buffer("running_var", torch.ones(models, 1, features))
        self.register_buffer("steps", torch.zeros(()), persistent=False)

    def forward(self, x: Tensor, weight: Tensor | None = None) -> Tensor:
        if not self.affine:
            return self.normalized(x, weight)[0]
        if not self.training:
            slope = self.scale / torch.sqrt(self.running_var + EPSILON)
            slope = slope.masked_fill(are_alike(self.running_mean, self.running_var), 0.0)
            scaled = torch.addcmul(self.shift, x - self.running_mean, slope)
            return scaled.relu_() if self.relu else scaled
        share, total = _normalize_weights(x, weight)
        normal: Tensor
        normal, mean, variance = _Normalize.apply(x, share, self.scale, self.shift, self.relu)
        self._update_averages(mean, variance, total)
        return normal

    def normalized(self, x: Tensor, weight: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Without scale and shift: the normalized rows, and the deviation they were divided by, (models, 1, features).

        The deviation has its gradient: the logit penalty divides by it.
        """
        if not self.training:
            deviation = torch.sqrt(self.running_var + EPSILON)
            return (x - self.running_mean) / deviation, deviation
        share, total = _normalize_weights(x, weight)
        mean = _weighted_mean(x, share)
        centered = x - mean
        variance = _weighted_mean(centered * centered, share)
        self._update_averages(mean.detach(), variance.detach(), total)
        deviation = torch.sqrt(variance + EPSILON)
        return centered / deviation, deviation

    @torch.no_grad()
    def _update_averages(self, mean: Tensor, variance: Tensor, total: Tensor) -> None:
        """Update the running averages; the variance of a sample is the unbiased one, as in torch."""
        rate: Tensor | float = MOMENTUM
        if self.corrected:
            self.steps += 1
            rate = (1 / self.steps).clamp(min=MOMENTUM)
        self.running_mean.lerp_(mean, rate)
        factor = 1.0 if self.population else total / (total - 1).clamp(min=1)
        self.running_var.lerp_(variance * factor, rate)


class _Normalize(torch.autograd.Function):
    """(x - mean) / deviation * scale + shift over weighted rows, or its ReLU, with the gradient in closed form.

    This takes a third of the memory traffic of the separate steps that autograd would record.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, share: Tensor | None, scale: Tensor, shift: Tensor, relu: bool
    ) -> tuple[Tensor, Tensor, Tensor]:
        ctx.share, ctx.relu = share, relu
        mean = _weighted_mean(x, share)
        centered = x - mean
        variance = _weighted_mean(centered.square(), share)
        inverse = torch.rsqrt(variance + EPSILON).masked_fill(are_alike(mean, variance), 0.0)
        normal = torch.addcmul(shift, centered, scale * inverse)
        if relu:
            normal.relu_()
        ctx.save_for_backward(centered, inverse, scale, normal)
        ctx.mark_non_differentiable(mean, variance)
        ctx.set_materialize_grads(False)
        return normal, mean, variance

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, Tensor, Tensor, None]:
        rows, inverse, scale, kept = ctx.saved_tensors
        outer = gradients[0]
        if ctx.relu:
            outer = torch.ops.aten.threshold_backward(outer, kept, 0)
        shift = outer.sum(1, keepdim=True)
        slope = (outer * rows).sum(1, keepdim=True) * inverse
        factor = scale * inverse
        # x gets factor * (outer - share * (shift + normal * slope)), where normal = rows * inverse
        if ctx.share is None:
            held = torch.addcmul(factor * shift / -outer.shape[1], outer, factor)
            inner = held.addcmul_(rows, factor * inverse * slope / -outer.shape[1])
            return inner, None, slope, shift, None
        held = torch.addcmul(shift, rows, inverse * slope).mul_(ctx.share.transpose(1, 2))
        return held.sub_(outer).mul_(-factor), None, slope, shift, None


def _normalize_weights(x: Tensor, weight: Tensor | None) -> tuple[Tensor | None, Tensor]:
    """The weights, (rows,) or (models, rows), divided by their sum, as row vectors, and the sum."""
    if weight is None:
        return None, x.new_full((), float(x.shape[1]))
    total = weight.sum(-1, keepdim=True)
    return (weight / total).unsqueeze(-2).expand(x.shape[0], 1, -1), total.unsqueeze(-1)


def _weighted_mean(x: Tensor, share: Tensor | None) -> Tensor:
    return x.mean(1, keepdim=True) if share is None else torch.bmm(share, x)


class Dropout(nn.Module):
    """Sets a share of the activations to zero, by random numbers that depend on the seed of each model."""

    seeds: Tensor
    step: Tensor

    def __init__(self, models: int, share: float) -> None:
        super().__init__()
        self.share = share
        self.register_buffer("seeds", torch.zeros(models, dtype=torch.int64), persistent=False)
        self.register_buffer("step", torch.zeros((), dtype=torch.int64), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or self.share == 0:
            return x
        self.step += 1
        drawn = uniform(self.seeds, self.step, x.shape[1] * x.shape[2], stream=DROPOUT_STREAM)
        return x * (drawn.view_as(x) >= self.share) / (1 - self.share)


class Head(nn.Module):
    """Batch norm (optional), then a linear map, or linear - ReLU - dropout - linear with ``hidden`` units.

    ``mask``: of the inputs of the first linear map.
    """

    def __init__(
        self, models: int, inputs: int, classes: int, mask: Tensor, hidden: int | None = None, dropout: float = 0.0,
        normalize: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.norm = BatchNorm(models, inputs, affine=False) if normalize else None
        self.first = Linear(models, inputs, hidden or classes, mask)
        self.dropout = Dropout(models, dropout)
        self.last = Linear(models, hidden, classes) if hidden else None

    def forward(self, gamma: Tensor) -> tuple[Tensor, Tensor | None]:
        """Logits (models, graphs, classes), and the standard deviation of the representation if it is normalized."""
        deviation = None
        if self.norm is not None:
            gamma, deviation = self.norm.normalized(gamma)
        logits = self.first(gamma)
        return (logits if self.last is None else self.last(self.dropout(torch.relu(logits)))), deviation

    def slopes(self, deviation: Tensor | None) -> Tensor:
        """Derivative of the first linear map by the representation: (models, inputs, classes or hidden).

        For a linear head this is d logits / d representation. An MLP sees the representation through its first map
        only: a difference that this map does not see changes no logit.
        """
        assert self.first.mask is not None
        weight = self.first.weight * self.first.mask
        return weight if deviation is None else weight / deviation.transpose(1, 2)

    @property
    def is_linear(self) -> bool:
        return self.last is None


def initialize(module: nn.Module, seeds: Sequence[int]) -> None:
    """Initialize the parameters of every model from its seed: the same values alone and in a stack.

    Every parameter has its own generator, seeded by its name: a matrix with more rows starts with the same rows.
    """
    for path, part in module.named_modules():
        if isinstance(part, Dropout):
            part.seeds.copy_(torch.tensor(list(seeds), dtype=torch.int64))
        bounds: dict[str, Any] = part.bounds() if hasattr(part, "bounds") else {}
        for name, bound in bounds.items():
            parameter: Tensor = getattr(part, name)
            name_hash = crc32(f"{path}.{name}".encode())
            generators = [torch.Generator().manual_seed(name_hash * 1_000_003 + int(seed)) for seed in seeds]
            drawn = torch.stack([torch.rand(parameter.shape[1:], generator=generator) for generator in generators])
            limits = bound if isinstance(bound, Tensor) else torch.tensor(float(bound))
            with torch.no_grad():
                parameter.copy_((2 * drawn - 1) * limits)
