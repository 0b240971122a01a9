"""Fused GPU kernels of the layers, in Triton, which comes with torch for CUDA on Linux.

Training a stack is limited by memory traffic: a tensor of activations (models, rows, features) is far larger than any
cache, and every separate step reads and writes all of it. These kernels do several steps in one pass. Without Triton
the callers use the same steps in plain torch, against which the kernels are tested.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from torch import Tensor

TILE = 4096  # values that one program holds at a time
TILES = 16  # that one program adds up, one after the other
WIDTH = 512  # values of a row that one program compares with those of its neighbors
PIVOT_ROWS = 256
FEW_ENTRIES = 8  # of a row of a sparse matrix, on average: several rows are added up side by side


def usable(x: Tensor) -> bool:
    """Whether the kernels can be used on this tensor."""
    return x.is_cuda and x.dtype == torch.float32 and x.numel() > 0 and _works(x.device.type)


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


def moments(x: Tensor, share: Tensor | None) -> tuple[Tensor, Tensor]:
    """Mean and variance over rows, (models, 1, features) each; ``share`` (models, 1, rows): weights that sum to 1."""
    pivot = x[:, :PIVOT_ROWS].mean(1)  # deviations from a value near the mean: no digits are lost
    first, second = _row_sums("moments", x, x, pivot, pivot, pivot, share)
    variance = (second - first * first).clamp(min=0)
    return (first + pivot)[:, None], variance[:, None]


def normalize(x: Tensor, slope: Tensor, offset: Tensor, relu: bool) -> Tensor:
    """x * slope + offset, with slopes and offsets (models, 1, features); ``relu``: followed by ReLU."""
    out = torch.empty_like(x)
    models, rows, features = x.shape
    kernels, rows_of_tile, width = _tile(features)
    grid = (-(-rows // rows_of_tile), models)
    kernels.normalize[grid](x, slope, offset, out, rows, features, relu, rows_of_tile, width)
    return out


def normalize_gradients(
    outer: Tensor, x: Tensor, mean: Tensor, inverse: Tensor, scale: Tensor, shift: Tensor, share: Tensor | None,
    relu: bool,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """The gradients of x, scale and shift for the gradient ``outer`` of the normalized rows."""
    models, rows, features = x.shape
    outer = outer.contiguous()
    slope = scale * inverse
    offset = shift - mean * slope
    total, product = _row_sums("gradient_sums", x, outer, mean, slope, offset, None, relu)
    inner = torch.empty_like(x)
    curve = inverse[:, 0] * inverse[:, 0] * product
    kernels, rows_of_tile, width = _tile(features)
    weights, stride = _weights(x, share)
    kernels.normalize_backward[-(-rows // rows_of_tile), models](
        outer, x, mean, slope, offset, total, curve, weights, inner, 1 / rows, stride, rows, features,
        share is not None, relu, rows_of_tile, width,
    )  # fmt: skip
    return inner, (product * inverse[:, 0])[:, None], total[:, None]


def extremes(x: Tensor, index: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Minimum and maximum over ``index`` (d, rows) of the rows of x (rows below, width), and the first slot of each."""
    slots, rows = index.shape
    low, high = x.new_empty(2, rows, x.shape[1])
    lowest, highest = torch.empty(2, rows, x.shape[1], dtype=torch.int32, device=x.device)
    grid = (rows, -(-x.shape[1] // WIDTH))
    _kernels().extremes[grid](x, index, low, high, lowest, highest, rows, x.shape[1], slots, WIDTH)
    return low, high, lowest, highest


def sparse_product(matrix: Tensor, x: Tensor) -> Tensor:
    """A sparse matrix in CSR form (rows, rows below) times x (models, rows below, features)."""
    rows, below, (models, _, features) = matrix.shape[0], matrix.shape[1], x.shape
    first, column, weight = matrix.crow_indices(), matrix.col_indices(), matrix.values()
    kernels, _, width = _tile(features)
    few = len(column) <= FEW_ENTRIES * rows
    group = max((TILE // 2 if few else TILE // 4) // width, 1)
    out = x.new_empty(models, rows, features)
    kernel, grid = (kernels.sums_of_few, -(-rows // group)) if few else (kernels.sums_of_many, rows)
    kernel[grid, models](first, column, weight, x, out, rows, below, features, group, width)
    return out


def _row_sums(
    kernel: str, x: Tensor, outer: Tensor, center: Tensor, slope: Tensor, offset: Tensor, share: Tensor | None,
    relu: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Two sums over rows, (models, features) each: of parts of the rows first, so that rounding stays small."""
    models, rows, features = x.shape
    kernels, rows_of_tile, width = _tile(features)
    parts = -(-rows // (rows_of_tile * TILES))
    sums = x.new_empty(2, models, parts, features)
    weights, stride = _weights(x, share)
    getattr(kernels, kernel)[parts, models](
        x, outer, center, slope, offset, weights, sums, 1 / rows, stride, rows, features, parts,
        share is not None, relu, TILES, rows_of_tile, width,
    )  # fmt: skip
    first, second = sums.sum(2)
    return first, second


def _weights(x: Tensor, share: Tensor | None) -> tuple[Tensor, int]:
    """The weights of the rows and their distance from model to model; without weights, what is never read."""
    return (x, 0) if share is None else (share, share.stride(0))


def _tile(features: int) -> tuple[Any, int, int]:
    """The kernels, the number of rows of a tile, and the number of features, a power of two as Triton needs it."""
    width = 1 << max(features - 1, 0).bit_length()
    return _kernels(), max(TILE // width, 1), width
