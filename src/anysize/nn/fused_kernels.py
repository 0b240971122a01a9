"""The kernels of `anysize.nn.fused`; importing them needs Triton.

A program handles one model and some tiles of its rows. ``R`` rows and ``F`` features are a tile; features are padded to
a power of two.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def _tile(first, rows, features, R: tl.constexpr, F: tl.constexpr):  # type: ignore[no-untyped-def]
    """The rows of the tile that begins at a row, the places of its values in a table, and which of them exist."""
    r, f = first + tl.arange(0, R), tl.arange(0, F)
    start = tl.program_id(1).to(tl.int64) * rows * features
    return r, start + r[:, None].to(tl.int64) * features + f[None, :], (r < rows)[:, None] & (f < features)[None, :]


@triton.jit
def _per_feature(values, features, F: tl.constexpr):  # type: ignore[no-untyped-def]
    f = tl.arange(0, F)
    return tl.load(values + tl.program_id(1) * features + f, mask=f < features, other=0.0)[None, :]


@triton.jit
def moments(  # type: ignore[no-untyped-def]
    x, outer, center, slope, offset, share, sums, equal, stride, rows, features, parts,
    WEIGHTED: tl.constexpr, RELU: tl.constexpr, TILES: tl.constexpr, R: tl.constexpr, F: tl.constexpr,
):  # fmt: skip
    """Weighted sums of the deviations from the center and of their squares."""
    part, model = tl.program_id(0), tl.program_id(1)
    once, twice = tl.zeros([F], tl.float32), tl.zeros([F], tl.float32)
    middle = _per_feature(center, features, F)
    for tile in range(TILES):
        r, place, present = _tile((part * TILES + tile) * R, rows, features, R, F)
        value = tl.where(present, tl.load(x + place, mask=present, other=0.0) - middle, 0.0)
        if WEIGHTED:
            weight = tl.load(share + model.to(tl.int64) * stride + r, mask=r < rows, other=0.0)[:, None]
        else:
            weight = equal
        weighted = value * weight
        once += tl.sum(weighted, 0)
        twice += tl.sum(weighted * value, 0)
    _store_sums(sums, once, twice, parts, features, F)


@triton.jit
def _store_sums(sums, once, twice, parts, features, F: tl.constexpr):  # type: ignore[no-untyped-def]
    f = tl.arange(0, F)
    place = (tl.program_id(1) * parts + tl.program_id(0)) * features + f
    tl.store(sums + place, once, mask=f < features)
    tl.store(sums + tl.num_programs(1) * parts * features + place, twice, mask=f < features)


@triton.jit
def normalize(  # type: ignore[no-untyped-def]
    x, slope, offset, out, rows, features, RELU: tl.constexpr, R: tl.constexpr, F: tl.constexpr
):
    _, place, present = _tile(tl.program_id(0) * R, rows, features, R, F)
    value = tl.load(x + place, mask=present, other=0.0)
    value = value * _per_feature(slope, features, F) + _per_feature(offset, features, F)
    if RELU:
        value = tl.maximum(value, 0.0)
    tl.store(out + place, value, mask=present)


@triton.jit
def _gradient(outer, value, slope, offset, place, present, RELU: tl.constexpr):  # type: ignore[no-untyped-def]
    """The gradient of the normalized rows; none where ReLU ends them."""
    gradient = tl.load(outer + place, mask=present, other=0.0)
    if RELU:
        gradient = tl.where(value * slope + offset > 0, gradient, 0.0)
    return gradient


@triton.jit
def gradient_sums(  # type: ignore[no-untyped-def]
    x, outer, center, slope, offset, share, sums, equal, stride, rows, features, parts,
    WEIGHTED: tl.constexpr, RELU: tl.constexpr, TILES: tl.constexpr, R: tl.constexpr, F: tl.constexpr,
):  # fmt: skip
    """Sums of the gradient, and of the gradient times the deviation from the center."""
    part = tl.program_id(0)
    once, twice = tl.zeros([F], tl.float32), tl.zeros([F], tl.float32)
    middle = _per_feature(center, features, F)
    slopes, offsets = _per_feature(slope, features, F), _per_feature(offset, features, F)
    for tile in range(TILES):
        _, place, present = _tile((part * TILES + tile) * R, rows, features, R, F)
        value = tl.load(x + place, mask=present, other=0.0)
        gradient = _gradient(outer, value, slopes, offsets, place, present, RELU)
        once += tl.sum(gradient, 0)
        twice += tl.sum(gradient * (value - middle), 0)
    _store_sums(sums, once, twice, parts, features, F)


@triton.jit
def normalize_backward(  # type: ignore[no-untyped-def]
    outer, x, mean, slope, offset, total, curve, share, inner, equal, stride, rows, features,
    WEIGHTED: tl.constexpr, RELU: tl.constexpr, R: tl.constexpr, F: tl.constexpr,
):  # fmt: skip
    """slope * (gradient - share * (total + deviation * curve))."""
    r, place, present = _tile(tl.program_id(0) * R, rows, features, R, F)
    value = tl.load(x + place, mask=present, other=0.0)
    slopes = _per_feature(slope, features, F)
    gradient = _gradient(outer, value, slopes, _per_feature(offset, features, F), place, present, RELU)
    if WEIGHTED:
        weight = tl.load(share + tl.program_id(1).to(tl.int64) * stride + r, mask=r < rows, other=0.0)[:, None]
    else:
        weight = equal
    deviation = value - _per_feature(mean, features, F)
    held = _per_feature(total, features, F) + deviation * _per_feature(curve, features, F)
    tl.store(inner + place, slopes * (gradient - weight * held), mask=present)


@triton.jit
def extremes(  # type: ignore[no-untyped-def]
    x, index, low, high, lowest, highest, rows, width, SLOTS: tl.constexpr, F: tl.constexpr
):
    """Minimum and maximum over the slots of one row, and the first slot that has each."""
    row, f = tl.program_id(0), tl.program_id(1) * F + tl.arange(0, F)
    present = f < width
    smallest = tl.load(x + tl.load(index + row) * width + f, mask=present, other=0.0)
    largest = smallest
    at_smallest, at_largest = tl.zeros([F], tl.int32), tl.zeros([F], tl.int32)
    for slot in range(1, SLOTS):
        source = tl.load(index + slot * rows + row)
        value = tl.load(x + source * width + f, mask=present, other=0.0)
        at_smallest = tl.where(value < smallest, slot, at_smallest)
        at_largest = tl.where(value > largest, slot, at_largest)
        smallest, largest = tl.minimum(smallest, value), tl.maximum(largest, value)
    place = row.to(tl.int64) * width + f
    tl.store(low + place, smallest, mask=present)
    tl.store(high + place, largest, mask=present)
    tl.store(lowest + place, at_smallest, mask=present)
    tl.store(highest + place, at_largest, mask=present)


@triton.jit
def sums_of_few(  # type: ignore[no-untyped-def]
    first, column, weight, x, out, rows, below, features, R: tl.constexpr, F: tl.constexpr
):
    """Weighted sums over the entries of a sparse matrix, for a tile of rows with few entries each."""
    r, place, present = _tile(tl.program_id(0) * R, rows, features, R, F)
    f = tl.arange(0, F)
    table = x + tl.program_id(1).to(tl.int64) * below * features
    entry = tl.load(first + r, mask=r < rows, other=0)
    end = tl.load(first + r + 1, mask=r < rows, other=0)
    total = tl.zeros([R, F], tl.float32)
    while tl.max(end - entry, 0) > 0:
        left = entry < end
        source = tl.load(column + entry, mask=left, other=0).to(tl.int64)
        value = tl.load(
            table + source[:, None] * features + f[None, :], mask=left[:, None] & (f < features)[None, :], other=0.0
        )
        total += value * tl.load(weight + entry, mask=left, other=0.0)[:, None]
        entry += 1
    tl.store(out + place, total, mask=present)


@triton.jit
def sums_of_many(  # type: ignore[no-untyped-def]
    first, column, weight, x, out, rows, below, features, R: tl.constexpr, F: tl.constexpr
):
    """The same for one row, R of its entries at a time."""
    row, model, f = tl.program_id(0), tl.program_id(1).to(tl.int64), tl.arange(0, F)
    entry, end = tl.load(first + row), tl.load(first + row + 1)
    total = tl.zeros([F], tl.float32)
    while entry < end:
        e = entry + tl.arange(0, R)
        left = e < end
        source = tl.load(column + e, mask=left, other=0).to(tl.int64)
        value = tl.load(
            x + (model * below + source[:, None]) * features + f[None, :],
            mask=left[:, None] & (f < features)[None, :], other=0.0,
        )  # fmt: skip
        total += tl.sum(value * tl.load(weight + e, mask=left, other=0.0)[:, None], 0)
        entry += R
    tl.store(out + (model * rows + row) * features + f, total, mask=f < features)
