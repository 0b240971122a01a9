"""Fused GPU kernels of the layers, in Triton, which comes with torch for CUDA on Linux.

Training a stack is limited by memory traffic: a tensor of activations (models, rows, features) is far larger than any
cache, and every separate step reads and writes all of it. These kernels do several steps in one pass. Without Triton
the callers use the same steps in plain torch, against which the kernels are tested.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

# How work is divided into programs, which a GPU runs side by side
TILE = 4096  # values of a tile, which a program reads at once
PROGRAMS = 512  # enough to fill a GPU: where that leaves so many programs, each sums over several tiles,
MAX_TILES = 16  # and over no more than these
PARTS = 16  # sums of programs that are added up at once
NEIGHBORS_TILE = 512  # values of a tile if a program reads all neighbors of its rows
VALUES = 1024  # values of a program of dropout or Adam
BLOCK_ROWS = 64  # most rows of a graph whose sums over neighbors are one program,
BLOCK_FEATURES = 64  # for so many features
FEW_ENTRIES = 8  # per row of a sparse matrix, on average; up to it, a program sums over several rows at once

VARIANCE_FLOOR = 1e-5  # in PNA, neighbors with a smaller variance count as equal


def usable(x: Tensor) -> bool:
    """Whether the kernels can be used on this tensor. Triton runs them on the current GPU, whatever the tensor's is."""
    fits = x.is_cuda and x.dtype == torch.float32 and x.numel() > 0
    return fits and x.device.index == torch.cuda.current_device() and _works(x.device.type)


@cache
def _works(device: str) -> bool:
    """Whether a small kernel gives the right result: Triton may be missing, or find no C compiler."""
    x = torch.tensor([[[1.0, -2.0]]], device=device)
    try:
        return normalize(x, 2 * torch.ones_like(x), torch.ones_like(x), True).tolist() == [[[3.0, 0.0]]]
    except Exception:  # whatever an installation may lack: the same steps exist in plain torch
        return False


@cache
def _kernels() -> Any:
    from anysize.nn import fused_kernels

    return fused_kernels


def normalize(x: Tensor, slope: Tensor, offset: Tensor, relu: bool) -> Tensor:
    """x * slope + offset, with slopes and offsets (models, 1, features); ``relu``: followed by ReLU."""
    x = x.contiguous()
    out = torch.empty_like(x)
    models, rows, features = x.shape
    kernels, rows_of_tile, width = _tile(features)
    grid = (-(-rows // rows_of_tile), models)
    kernels.normalize[grid](x, slope, offset, out, rows, features, relu, rows_of_tile, width)
    return out


class Normalize(torch.autograd.Function):
    """Batch norm in training, of rows with weights (rows,), (models, rows) or None; it updates the running averages.

    ``steps``: the number of updates so far, this one included, where the averages are corrected for it, else None.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor | None, scale: Tensor, shift: Tensor, relu: bool, epsilon: float,
        running_mean: Tensor, running_var: Tensor, steps: Tensor | None, population: bool, momentum: float,
    ) -> Tensor:  # fmt: skip
        x = x.contiguous()
        models, rows, features = x.shape
        kernels, rows_of_tile, width = _tile(features)
        parts, tiles = _parts(models, rows, rows_of_tile)
        weights, stride = _by_row(x, weight)
        table = x.new_empty(models, parts, 3, features)
        kernels.moments[parts, models](
            x, weights, table, stride, rows, features, parts, tiles, weight is not None, rows_of_tile, width
        )
        mean, inverse, slope, offset, total = x.new_empty(5, models, features)
        kernels.finish_moments[1, models](
            table, scale, shift, running_mean, running_var, x if steps is None else steps, mean, inverse, slope, offset,
            total, features, parts, momentum, epsilon, steps is not None, population, PARTS, width,
        )  # fmt: skip
        ctx.weight, ctx.relu = weight, relu
        ctx.save_for_backward(x, mean, inverse, slope, offset, total)
        return normalize(x, slope, offset, relu)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, mean, inverse, slope, offset, total = ctx.saved_tensors
        outer, inner = gradients[0].contiguous(), torch.empty_like(x)
        models, rows, features = x.shape
        kernels, rows_of_tile, width = _tile(features)
        parts, tiles = _parts(models, rows, rows_of_tile)
        table = x.new_empty(models, parts, 2, features)
        kernels.gradient_sums[parts, models](
            x, outer, mean, slope, offset, table, rows, features, parts, tiles, ctx.relu, rows_of_tile, width
        )
        shift, scale, curve = x.new_empty(3, models, 1, features)
        kernels.finish_gradient_sums[1, models](table, inverse, shift, scale, curve, features, parts, PARTS, width)
        weights, stride = _by_row(x, ctx.weight)
        kernels.normalize_backward[-(-rows // rows_of_tile), models](
            outer, x, mean, slope, offset, shift, curve, weights, total, inner, stride, rows, features,
            ctx.weight is not None, ctx.relu, rows_of_tile, width,
        )  # fmt: skip
        return inner, None, scale, shift, *[None] * 7


class Statistics(torch.autograd.Function):
    """PNA's aggregations side by side: mean, minimum, maximum, each plus the row's own part, and standard deviation.

    Row r reads the first ``used[r]`` of the rows ``index[:, r]`` of x, with weights ``weight[:, r]`` (None: 1), which
    add up to ``degree[r]``. ``transpose``: sums over the rows that read a row of x, for the gradient.
    """

    @staticmethod
    def forward(
        ctx: Any, own: Tensor, x: Tensor, index: Tensor, used: Tensor, weight: Tensor | None, degree: Tensor,
        transpose: Callable[[Tensor], Tensor],
    ) -> Tensor:  # fmt: skip
        own, x = own.contiguous(), x.contiguous()
        models, rows, features = own.shape
        kernels, rows_of_tile, width = _tile(features, NEIGHBORS_TILE)
        tracked = any(ctx.needs_input_grad)
        out = own.new_empty(models, rows, 4 * features)
        saved = torch.empty_like(own) if tracked else own
        winners = torch.empty(2, *own.shape, dtype=torch.int32, device=own.device) if tracked else (own, own)
        kernels.statistics[-(-rows // rows_of_tile), models](
            own, x, index, used, x if weight is None else weight, degree, out, saved, *winners, rows, x.shape[1],
            features, VARIANCE_FLOOR, weight is not None, tracked, rows_of_tile, width,
        )  # fmt: skip
        ctx.transpose = transpose
        ctx.save_for_backward(x, degree, out, saved, *winners)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, degree, out, mean, lowest, highest = ctx.saved_tensors
        models, rows, features = mean.shape
        kernels, rows_of_tile, width = _tile(features, NEIGHBORS_TILE)
        own, parts, inner = torch.empty_like(mean), mean.new_empty(2, *mean.shape), torch.zeros_like(x)
        kernels.statistics_backward[-(-rows // rows_of_tile), models](
            gradients[0].contiguous(), out, mean, lowest, highest, degree, own, *parts, inner, rows, x.shape[1],
            features, rows_of_tile, width,
        )  # fmt: skip
        constant, linear = ctx.transpose(parts.flatten(0, 1)).view(2, *x.shape)
        return own, inner.add_(constant).addcmul_(x, linear), *[None] * 5


class Scale(torch.autograd.Function):
    """A table plus three side by side: as it is, amplified and attenuated by PNA's functions of the degree."""

    @staticmethod
    def forward(ctx: Any, own: Tensor, three: Tensor, degree: Tensor, log_degree: Tensor) -> Tensor:
        own, three = own.contiguous(), three.contiguous()
        models, rows, features = own.shape
        kernels, rows_of_tile, width = _tile(features)
        out = torch.empty_like(own)
        degree, stride = _by_row(own, degree)
        kernels.scale[-(-rows // rows_of_tile), models](
            own, three, degree, log_degree, out, stride, rows, features, rows_of_tile, width
        )
        ctx.stride = stride
        ctx.save_for_backward(degree, log_degree)
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        degree, log_degree = ctx.saved_tensors
        outer = gradients[0].contiguous()
        models, rows, features = outer.shape
        kernels, rows_of_tile, width = _tile(features)
        three = outer.new_empty(models, rows, 3 * features)
        kernels.scale_backward[-(-rows // rows_of_tile), models](
            outer, degree, log_degree, three, ctx.stride, rows, features, rows_of_tile, width
        )
        return outer, three, None, None


class BlockSums(torch.autograd.Function):
    """Sums over neighbors in graphs of n rows each, with the row itself: scale (own + A) scale x + offset.

    x (models, rows, features) holds the graphs ``numbers``, (graphs,) or (models, graphs), once or in several copies,
    one after the other; ``matrices`` (all graphs, n, n): their adjacency matrices A, which are symmetric. ``own``
    (models, 1, 1) and ``offset`` (models, 1, features), or None: sums over neighbors only. ``scale``, of every row:
    (rows,), (models, rows), or None.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, own: Tensor | None, offset: Tensor | None, scale: Tensor | None, matrices: Tensor,
        numbers: Tensor,
    ) -> Tensor:  # fmt: skip
        x, numbers = x.contiguous(), numbers.contiguous()
        ctx.save_for_backward(x, own, scale, matrices, numbers)
        return _block_sums(x, own, offset, scale, matrices, numbers)[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        x, own, scale, matrices, numbers = ctx.saved_tensors
        outer = gradients[0].contiguous()
        needed = ctx.needs_input_grad
        nothing = None if own is None else outer.new_zeros(len(x), 1, x.shape[2])
        inner, parts = _block_sums(outer, own, nothing, scale, matrices, numbers, x if needed[1] else None)
        of_own = parts.sum(1)[:, None, None] if needed[1] else None
        return inner, of_own, outer.sum(1, keepdim=True) if needed[2] else None, None, None, None


def _block_sums(
    x: Tensor, own: Tensor | None, offset: Tensor | None, scale: Tensor | None, matrices: Tensor, numbers: Tensor,
    before: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The sums, and with ``before`` for every model the parts of the gradient of ``own``."""
    models, rows, features = x.shape
    n, graphs = matrices.shape[-1], numbers.shape[-1]
    blocks, width = rows // n, min(max(_power_of_two(features), 16), BLOCK_FEATURES)
    grid = blocks, models, -(-features // width)
    out, parts = torch.empty_like(x), x.new_empty(models, blocks * grid[2])
    copies, apart = (models // len(numbers), graphs) if numbers.dim() == 2 else (1, 0)
    scales, stride = _by_row(x, scale)
    _kernels().block_sums[grid](
        x, matrices, numbers, x if own is None else own, x if offset is None else offset, scales,
        x if before is None else before, out, parts, blocks, graphs, copies, apart, stride, n, features,
        own is not None, scale is not None, before is not None, _precision(), max(_power_of_two(n), 16), width,
    )  # fmt: skip
    return out, parts


def _precision() -> str:
    """TF32 where torch may use it, as in training, else three products that together have single precision.

    GPUs without TF32 ignore this, but Triton refuses it for those of AMD.
    """
    if torch.version.hip is not None:
        return "ieee"
    return "tf32x3" if torch.get_float32_matmul_precision() == "highest" else "tf32"


def sparse_product(matrix: Tensor, x: Tensor) -> Tensor:
    """A sparse matrix in CSR form (rows, rows below) times x (models, rows below, features)."""
    x = x.contiguous()
    rows, below, (models, _, features) = matrix.shape[0], matrix.shape[1], x.shape
    first, column, weight = matrix.crow_indices(), matrix.col_indices(), matrix.values()
    kernels, _, width = _tile(features)
    few = len(column) <= FEW_ENTRIES * rows
    group = max((TILE // 2 if few else TILE // 4) // width, 1)
    out = x.new_empty(models, rows, features)
    kernel, grid = (kernels.sums_of_few, -(-rows // group)) if few else (kernels.sums_of_many, rows)
    kernel[grid, models](first, column, weight, x, out, rows, below, features, group, width)
    return out


class Dropout(torch.autograd.Function):
    """x (models, ...) without a share of its values, drawn by the seed of each model and the step."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, seeds: Tensor, step: Tensor, share: float, stream: int) -> Tensor:
        ctx.share, ctx.stream = share, stream
        ctx.save_for_backward(seeds, step.clone())  # the next call increases the step in place
        return _dropped(x, seeds, step, share, stream)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        seeds, step = ctx.saved_tensors
        return _dropped(gradients[0], seeds, step, ctx.share, ctx.stream), None, None, None, None


def _dropped(x: Tensor, seeds: Tensor, step: Tensor, share: float, stream: int) -> Tensor:
    x = x.contiguous()
    out, amount = torch.empty_like(x), x[0].numel()
    _kernels().dropout[-(-amount // VALUES), len(x)](x, seeds, step, out, share, amount, stream, VALUES)
    return out


def adam(
    parameter: Tensor, gradient: Tensor, mean: Tensor, square: Tensor, rate: Tensor, decay: Tensor,
    betas: tuple[float, float], epsilon: float,
) -> None:  # fmt: skip
    """A step of Adam on all parameters as one list, in place; ``decay`` (2,): the powers of the betas."""
    amount = len(parameter)
    _kernels().adam[(-(-amount // VALUES),)](
        parameter, gradient, mean, square, rate, decay, amount, epsilon, *betas, VALUES
    )


def _parts(models: int, rows: int, rows_of_tile: int) -> tuple[int, int]:
    """The number of parts of a model's rows, one for each program, and the number of tiles of a part."""
    tiles = -(-rows // rows_of_tile)
    per_part = max(min(tiles * models // PROGRAMS, MAX_TILES), 1)
    return -(-tiles // per_part), per_part


def _by_row(x: Tensor, values: Tensor | None) -> tuple[Tensor, int]:
    """Values per row of x, (rows,) or (models, rows), and how far apart those of two models are.

    None: any tensor, which is not read.
    """
    if values is None:
        return x, 0
    values = values.contiguous().expand(x.shape[:2])
    return values, values.stride(0)


def _tile(features: int, values: int | None = None) -> tuple[Any, int, int]:
    """The kernels, the number of rows of a tile, and the number of features, rounded up to a power of two."""
    width = _power_of_two(features)
    return _kernels(), max((values or TILE) // width, 1), width


def _power_of_two(amount: int) -> int:
    """The smallest power of two that is not below the amount."""
    return 1 << max(amount - 1, 0).bit_length()
