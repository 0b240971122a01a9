"""The kernels of `anysize.nn.fused`; importing them needs Triton.

The grid of programs is (parts of the rows, models). A tile of a table has ``R`` rows and ``F`` features, which are
padded to a power of two. Places in a table are 64-bit numbers: a table may have more than 2^31 values.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import triton
import triton.language as tl

from anysize.nn import counter_rng

SMALL = tl.constexpr(1e-30)  # instead of 0 in a divisor
INCREMENT, SEED_FACTOR = tl.constexpr(counter_rng.INCREMENT), tl.constexpr(counter_rng.SEED_FACTOR)
MULTIPLIER_1, MULTIPLIER_2 = tl.constexpr(counter_rng.MULTIPLIER_1), tl.constexpr(counter_rng.MULTIPLIER_2)


@triton.jit
def _model(SPREAD: tl.constexpr = False):
    """The number of the model that the program works on.

    Programs that run at the same time mostly have the same one, whose rows stay in the cache. ``SPREAD``: they have
    different ones, so that they seldom add to the same place.
    """
    model = tl.program_id(1)
    if SPREAD:
        model = (model + tl.program_id(0)) % tl.num_programs(1)
    return model.to(tl.int64)


@triton.jit
def _tile(first, rows, features, R: tl.constexpr, F: tl.constexpr, SPREAD: tl.constexpr = False):
    """The rows of the tile that begins at a row, the places of its values in a table, and which of them exist."""
    r, f = first + tl.arange(0, R), tl.arange(0, F)
    start = _model(SPREAD) * rows * features
    return r, start + r[:, None].to(tl.int64) * features + f[None, :], (r < rows)[:, None] & (f < features)[None, :]


@triton.jit
def _per_row(values, stride, r, rows):
    """A value of every row, as a column; ``stride``: from model to model, 0 if they share the values."""
    return tl.load(values + _model() * stride + r, mask=r < rows, other=0.0)[:, None]


@triton.jit
def _weights(weight, stride, r, rows, WEIGHTED: tl.constexpr):
    return _per_row(weight, stride, r, rows) if WEIGHTED else (r < rows).to(tl.float32)[:, None]


@triton.jit
def _per_feature(values, features, F: tl.constexpr):
    """A value of every feature of the model, as a row."""
    f = tl.arange(0, F)[None, :]
    return tl.load(values + _model() * features + f, mask=f < features, other=0.0)


@triton.jit
def _store_per_feature(target, values, features, F: tl.constexpr):
    f = tl.arange(0, F)[None, :]
    tl.store(target + _model() * features + f, values, mask=f < features)


@triton.jit
def _part(part, parts, kinds, kind, features, F: tl.constexpr):
    """The places of one kind of values of a part, or a column of parts, in a table (models, parts, kinds, features)."""
    f = tl.arange(0, F)[None, :]
    return ((_model() * parts + part) * kinds + kind) * features + f, (part < parts) & (f < features)


@triton.jit
def _load_parts(table, first, parts, kinds, kind, features, P: tl.constexpr, F: tl.constexpr):
    place, present = _part(first + tl.arange(0, P)[:, None], parts, kinds, kind, features, F)
    return tl.load(table + place, mask=present, other=0.0)


@triton.jit
def _store_part(table, values, parts, kinds, kind, features, F: tl.constexpr):
    place, present = _part(tl.program_id(0), parts, kinds, kind, features, F)
    tl.store(table + place, values, mask=present)


@triton.jit
def _sum(values):
    """The sum over rows, as a row."""
    return tl.sum(values, 0)[None, :]


# ---- batch norm ----------------------------------------------------------------------------------


@triton.jit
def moments(
    x, weight, table, stride, rows, features, parts, tiles, WEIGHTED: tl.constexpr, R: tl.constexpr, F: tl.constexpr
):
    """Of every part of the rows: its weight, the mean, and the sum of the squared deviations from the mean."""
    total, mean, square = tl.zeros([1, F], tl.float32), tl.zeros([1, F], tl.float32), tl.zeros([1, F], tl.float32)
    tile = tl.program_id(0) * tiles
    end = tile + tiles
    while tile < end:
        r, place, present = _tile(tile * R, rows, features, R, F)
        value = tl.load(x + place, mask=present, other=0.0)
        weights = _weights(weight, stride, r, rows, WEIGHTED) + tl.zeros([R, F], tl.float32)
        here = _sum(weights)
        center = _sum(value * weights) / tl.maximum(here, SMALL)
        deviation, difference = value - center, center - mean
        total += here
        share = here / tl.maximum(total, SMALL)
        square += _sum(deviation * deviation * weights) + difference * difference * (total - here) * share
        mean += difference * share
        tile += 1
    _store_part(table, total, parts, 3, 0, features, F)
    _store_part(table, mean, parts, 3, 1, features, F)
    _store_part(table, square, parts, 3, 2, features, F)


@triton.jit
def finish_moments(
    table, scale, shift, running_mean, running_var, steps, mean, inverse, slope, offset, weight, features, parts,
    momentum, epsilon, CORRECTED: tl.constexpr, POPULATION: tl.constexpr, P: tl.constexpr, F: tl.constexpr,
):  # fmt: skip
    """From the parts to what normalizes, and to the running averages."""
    total, center, square = tl.zeros([1, F], tl.float32), tl.zeros([1, F], tl.float32), tl.zeros([1, F], tl.float32)
    first = 0
    while first < parts:
        weights = _load_parts(table, first, parts, 3, 0, features, P, F)
        total += _sum(weights)
        center += _sum(weights * _load_parts(table, first, parts, 3, 1, features, P, F))
        first += P
    center = center / tl.maximum(total, SMALL)
    first = 0
    while first < parts:
        weights = _load_parts(table, first, parts, 3, 0, features, P, F)
        difference = _load_parts(table, first, parts, 3, 1, features, P, F) - center
        square += _sum(_load_parts(table, first, parts, 3, 2, features, P, F) + weights * difference * difference)
        first += P
    variance = square / tl.maximum(total, SMALL)
    root = 1 / tl.sqrt(variance + epsilon)
    slopes = _per_feature(scale, features, F) * root
    _store_per_feature(mean, center, features, F)
    _store_per_feature(inverse, root, features, F)
    _store_per_feature(slope, slopes, features, F)
    _store_per_feature(offset, _per_feature(shift, features, F) - center * slopes, features, F)
    _store_per_feature(weight, total, features, F)
    rate = momentum
    if CORRECTED:
        rate = tl.maximum(1 / tl.load(steps), momentum)
    if not POPULATION:
        variance = variance * total / tl.maximum(total - 1, 1)
    average = _per_feature(running_mean, features, F)
    _store_per_feature(running_mean, average + rate * (center - average), features, F)
    average = _per_feature(running_var, features, F)
    _store_per_feature(running_var, average + rate * (variance - average), features, F)


@triton.jit
def normalize(x, slope, offset, out, rows, features, RELU: tl.constexpr, R: tl.constexpr, F: tl.constexpr):
    _, place, present = _tile(tl.program_id(0) * R, rows, features, R, F)
    value = tl.load(x + place, mask=present, other=0.0)
    value = value * _per_feature(slope, features, F) + _per_feature(offset, features, F)
    if RELU:
        value = tl.maximum(value, 0.0, propagate_nan=tl.PropagateNan.ALL)  # as torch does
    tl.store(out + place, value, mask=present)


@triton.jit
def _gradient(outer, value, slope, offset, place, present, RELU: tl.constexpr):
    """The gradient of the normalized rows; 0 where ReLU gives 0."""
    gradient = tl.load(outer + place, mask=present, other=0.0)
    if RELU:
        gradient = tl.where(value * slope + offset <= 0, 0.0, gradient)
    return gradient


@triton.jit
def gradient_sums(
    x, outer, mean, slope, offset, table, rows, features, parts, tiles,
    RELU: tl.constexpr, R: tl.constexpr, F: tl.constexpr,
):  # fmt: skip
    """Of every part of the rows: the sums of the gradient, and of the gradient times the deviation from the mean."""
    once, twice = tl.zeros([1, F], tl.float32), tl.zeros([1, F], tl.float32)
    center = _per_feature(mean, features, F)
    slopes, offsets = _per_feature(slope, features, F), _per_feature(offset, features, F)
    tile = tl.program_id(0) * tiles
    end = tile + tiles
    while tile < end:
        _, place, present = _tile(tile * R, rows, features, R, F)
        value = tl.load(x + place, mask=present, other=0.0)
        gradient = _gradient(outer, value, slopes, offsets, place, present, RELU)
        once += _sum(gradient)
        twice += _sum(gradient * (value - center))
        tile += 1
    _store_part(table, once, parts, 2, 0, features, F)
    _store_part(table, twice, parts, 2, 1, features, F)


@triton.jit
def finish_gradient_sums(table, inverse, shift, scale, curve, features, parts, P: tl.constexpr, F: tl.constexpr):
    """From the parts to the gradients of shift and scale, and to what `normalize_backward` needs."""
    once, twice = tl.zeros([1, F], tl.float32), tl.zeros([1, F], tl.float32)
    first = 0
    while first < parts:
        once += _sum(_load_parts(table, first, parts, 2, 0, features, P, F))
        twice += _sum(_load_parts(table, first, parts, 2, 1, features, P, F))
        first += P
    root = _per_feature(inverse, features, F)
    _store_per_feature(shift, once, features, F)
    _store_per_feature(scale, twice * root, features, F)
    _store_per_feature(curve, twice * root * root, features, F)


@triton.jit
def normalize_backward(
    outer, x, mean, slope, offset, shift, curve, weight, total, inner, stride, rows, features,
    WEIGHTED: tl.constexpr, RELU: tl.constexpr, R: tl.constexpr, F: tl.constexpr,
):  # fmt: skip
    """slope * (gradient - weight / total * (shift + deviation * curve))."""
    r, place, present = _tile(tl.program_id(0) * R, rows, features, R, F)
    value = tl.load(x + place, mask=present, other=0.0)
    slopes = _per_feature(slope, features, F)
    gradient = _gradient(outer, value, slopes, _per_feature(offset, features, F), place, present, RELU)
    share = _weights(weight, stride, r, rows, WEIGHTED) / tl.maximum(_per_feature(total, features, F), SMALL)
    deviation = value - _per_feature(mean, features, F)
    held = _per_feature(shift, features, F) + deviation * _per_feature(curve, features, F)
    tl.store(inner + place, slopes * (gradient - share * held), mask=present)


# ---- PNA -----------------------------------------------------------------------------------------


@triton.jit
def statistics(
    own, x, index, used, weight, degree, out, mean, lowest, highest, rows, below, features, floor,
    WEIGHTED: tl.constexpr, TRACKED: tl.constexpr, R: tl.constexpr, F: tl.constexpr,
):  # fmt: skip
    """Mean, minimum and maximum over the slots of every row, each plus the row's own part, and standard deviation.

    ``TRACKED``: also the mean alone, and the rows below that have the minimum and the maximum, the first of equal ones.
    """
    r, place, present = _tile(tl.program_id(0) * R, rows, features, R, F)
    f = tl.arange(0, F)[None, :]
    amount = _per_row(used, 0, r, rows).to(tl.int32)
    table = x + _model() * below * features
    source = tl.load(index + r[:, None], mask=amount > 0, other=0)
    pivot = tl.load(table + source * features + f, mask=present & (amount > 0), other=0.0)
    low, high = pivot, pivot
    at_low, at_high = source.to(tl.int32) + tl.zeros([R, F], tl.int32), source.to(tl.int32) + tl.zeros([R, F], tl.int32)
    once, twice = tl.zeros([R, F], tl.float32), tl.zeros([R, F], tl.float32)  # of the differences from the first slot
    slot, slots = 1, tl.max(amount)
    while slot < slots:
        index += rows  # the next slot of every row
        here = slot < amount
        source = tl.load(index + r[:, None], mask=here, other=0)
        value = tl.load(table + source * features + f, mask=present & here, other=0.0)
        difference = tl.where(here, value - pivot, 0.0)
        weighted = difference
        if WEIGHTED:
            weight += rows
            weighted = difference * tl.load(weight + r[:, None], mask=here, other=0.0)
        once += weighted
        twice += weighted * difference
        lower, higher = here & (value < low), here & (value > high)
        low, high = tl.where(lower, value, low), tl.where(higher, value, high)
        at_low, at_high = tl.where(lower, source.to(tl.int32), at_low), tl.where(higher, source.to(tl.int32), at_high)
        slot += 1
    neighbors = _per_row(degree, 0, r, rows)
    count = tl.maximum(neighbors, 1.0)
    shared = tl.where(neighbors > 0, tl.load(own + place, mask=present, other=0.0), 0.0)
    shift = once / count
    center = pivot + shift
    variance = twice / count - shift * shift
    target = out + _side_by_side(r, rows, features, 4, F)
    tl.store(target, center + shared, mask=present)
    tl.store(target + features, low + shared, mask=present)
    tl.store(target + 2 * features, high + shared, mask=present)
    tl.store(target + 3 * features, tl.where(variance > floor, tl.sqrt(tl.maximum(variance, floor)), 0.0), mask=present)
    if TRACKED:
        tl.store(mean + place, center, mask=present)
        tl.store(lowest + place, at_low, mask=present)
        tl.store(highest + place, at_high, mask=present)


@triton.jit
def _side_by_side(r, rows, features, tables, F: tl.constexpr, SPREAD: tl.constexpr = False):
    """The places of the first of several tables that lie side by side."""
    return (_model(SPREAD) * rows + r[:, None]) * (tables * features) + tl.arange(0, F)[None, :]


@triton.jit
def statistics_backward(
    outer, out, mean, lowest, highest, degree, own, constant, linear, inner, rows, below, features,
    R: tl.constexpr, F: tl.constexpr,
):  # fmt: skip
    """The gradient of the own part; those of the extremes, added to the rows below that have them.

    Of mean and deviation, a neighbor with the value x gets ``constant`` + x * ``linear``.
    """
    r, place, present = _tile(tl.program_id(0) * R, rows, features, R, F, True)
    f = tl.arange(0, F)[None, :]
    neighbors = _per_row(degree, 0, r, rows)
    count = tl.maximum(neighbors, 1.0)
    start = _side_by_side(r, rows, features, 4, F, True)
    of_mean = tl.load(outer + start, mask=present, other=0.0)
    of_low = tl.load(outer + start + features, mask=present, other=0.0)
    of_high = tl.load(outer + start + 2 * features, mask=present, other=0.0)
    of_deviation = tl.load(outer + start + 3 * features, mask=present, other=0.0)
    deviation = tl.load(out + start + 3 * features, mask=present, other=0.0)
    slope = tl.where(deviation > 0, of_deviation / (count * tl.maximum(deviation, SMALL)), 0.0)
    tl.store(own + place, tl.where(neighbors > 0, of_mean + of_low + of_high, 0.0), mask=present)
    tl.store(linear + place, slope, mask=present)
    tl.store(constant + place, of_mean / count - slope * tl.load(mean + place, mask=present, other=0.0), mask=present)
    table, reached = inner + _model(True) * below * features + f, present & (neighbors > 0)
    _add_to_rows(table, lowest + place, of_low, features, reached, R)
    _add_to_rows(table, highest + place, of_high, features, reached, R)


@triton.jit
def _add_to_rows(table, row, values, features, present, R: tl.constexpr):
    """Adds values to the rows of a table whose numbers are at these places.

    Those for the row that the first value goes to are added up before: it is often the row of most of a tile, and
    additions to one place wait for each other.
    """
    target = tl.load(row, mask=present, other=-1)
    first = _sum(tl.where(tl.arange(0, R)[:, None] == 0, target, 0))
    same = target == first
    tl.atomic_add(table + first.to(tl.int64) * features, _sum(tl.where(same, values, 0.0)), mask=first >= 0)
    tl.atomic_add(table + target.to(tl.int64) * features, values, mask=(target >= 0) & ~same)


@triton.jit
def _scalers(degree, log_degree, stride, r, rows):
    """PNA's amplification and attenuation of every row."""
    neighbors, usual = _per_row(degree, stride, r, rows), tl.load(log_degree)
    return tl.log(neighbors + 1) / usual, usual / tl.log(tl.maximum(neighbors, 1.0) + 1)


@triton.jit
def scale(own, three, degree, log_degree, out, stride, rows, features, R: tl.constexpr, F: tl.constexpr):
    """The sum of a table and of three side by side: as it is, amplified, and attenuated."""
    r, place, present = _tile(tl.program_id(0) * R, rows, features, R, F)
    amplification, attenuation = _scalers(degree, log_degree, stride, r, rows)
    source = three + _side_by_side(r, rows, features, 3, F)
    total = tl.load(own + place, mask=present, other=0.0) + tl.load(source, mask=present, other=0.0)
    total += amplification * tl.load(source + features, mask=present, other=0.0)
    total += attenuation * tl.load(source + 2 * features, mask=present, other=0.0)
    tl.store(out + place, total, mask=present)


@triton.jit
def scale_backward(outer, degree, log_degree, three, stride, rows, features, R: tl.constexpr, F: tl.constexpr):
    """The gradient of the three tables."""
    r, place, present = _tile(tl.program_id(0) * R, rows, features, R, F)
    amplification, attenuation = _scalers(degree, log_degree, stride, r, rows)
    gradient = tl.load(outer + place, mask=present, other=0.0)
    target = three + _side_by_side(r, rows, features, 3, F)
    tl.store(target, gradient, mask=present)
    tl.store(target + features, gradient * amplification, mask=present)
    tl.store(target + 2 * features, gradient * attenuation, mask=present)


# ---- sums over neighbors in small graphs ----------------------------------------------------------


@triton.jit
def block_sums(
    x, matrices, numbers, own, offset, scale, before, out, parts, blocks, graphs, copies, apart, stride, n, features,
    OWN: tl.constexpr, SCALED: tl.constexpr, TRACKED: tl.constexpr, PRECISION: tl.constexpr, N: tl.constexpr,
    F: tl.constexpr,
):  # fmt: skip
    """Of one graph: ``scale`` (``own`` + adjacency matrix) ``scale`` x + ``offset``.

    ``PRECISION``: of the product with the matrix. ``TRACKED``: also the sum of the products of x and ``before``, both
    scaled: the gradient of ``own``, if x is that of the result.
    """
    model, block = _model(), tl.program_id(0)
    i, f = tl.arange(0, N), tl.program_id(2) * F + tl.arange(0, F)
    r = model * blocks * n + block * n + i
    place, present = r[:, None] * features + f[None, :], (i < n)[:, None] & (f < features)[None, :]
    number = tl.load(numbers + model // copies * apart + block % graphs)
    cell = (number * n + i[:, None]) * n + i[None, :]
    matrix = tl.load(matrices + cell, mask=(i < n)[:, None] & (i < n)[None, :], other=0.0)
    value = tl.load(x + place, mask=present, other=0.0)
    factor = tl.full([N, 1], 1.0, tl.float32)
    if SCALED:
        factor = tl.load(scale + model * stride + block * n + i, mask=i < n, other=0.0)[:, None]
        value *= factor
    total = tl.dot(matrix, value, input_precision=PRECISION)
    if OWN:
        total += tl.load(own + model) * value
    total *= factor
    if OWN:
        total += tl.load(offset + model * features + f, mask=f < features, other=0.0)[None, :]
    tl.store(out + place, total, mask=present)
    if TRACKED:
        product = tl.sum(value * factor * tl.load(before + place, mask=present, other=0.0))
        tl.store(parts + (model * blocks + block) * tl.num_programs(2) + tl.program_id(2), product)


# ---- sparse products -----------------------------------------------------------------------------


@triton.jit
def sums_of_few(first, column, weight, x, out, rows, below, features, R: tl.constexpr, F: tl.constexpr):
    """Weighted sums over the entries of a sparse matrix, for a tile of rows with few entries each."""
    r, place, present = _tile(tl.program_id(0) * R, rows, features, R, F)
    f = tl.arange(0, F)
    table = x + _model() * below * features
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
def sums_of_many(first, column, weight, x, out, rows, below, features, R: tl.constexpr, F: tl.constexpr):
    """The same for one row, R of its entries at a time."""
    row, model, f = tl.program_id(0), _model(), tl.arange(0, F)
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


# ---- dropout and optimizer -----------------------------------------------------------------------


@triton.jit
def _places(N: tl.constexpr):
    """The places of the N values of a program in a list."""
    return tl.program_id(0).to(tl.int64) * N + tl.arange(0, N)


@triton.jit
def _mix(x):
    x = x + INCREMENT
    x = (x ^ ((x >> 30) & 0x3FFFFFFFF)) * MULTIPLIER_1
    x = (x ^ ((x >> 27) & 0x1FFFFFFFFF)) * MULTIPLIER_2
    return x ^ ((x >> 31) & 0x1FFFFFFFF)


@triton.jit
def dropout(x, seeds, step, out, share, amount, stream, N: tl.constexpr):
    """x without a share of its values, the others enlarged; the numbers are those of `anysize.nn.counter_rng`."""
    n, model = _places(N), _model()
    start = _mix(_mix(tl.load(seeds + model) * SEED_FACTOR + stream) + tl.load(step))
    bits = _mix(start + (n + 1) * INCREMENT)
    drawn = ((bits >> 40) & 0xFFFFFF).to(tl.float32) * 5.9604644775390625e-08
    value = tl.load(x + model * amount + n, mask=n < amount, other=0.0)
    tl.store(out + model * amount + n, tl.where(drawn >= share, value / (1 - share), 0.0), mask=n < amount)


@triton.jit
def adam(
    parameter, gradient, mean, square, rate, decay, amount, epsilon,
    BETA_1: tl.constexpr, BETA_2: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    """A step of Adam on all parameters; ``decay``: the powers of the betas, in double precision."""
    n = _places(N)
    there = n < amount
    g = tl.load(gradient + n, mask=there, other=0.0)
    m = tl.load(mean + n, mask=there, other=0.0)
    m += (1 - BETA_1) * (g - m)
    v = BETA_2 * tl.load(square + n, mask=there, other=0.0) + (1 - BETA_2) * g * g
    mean_correction = (1 - tl.load(decay)).to(tl.float32)
    square_correction = tl.sqrt((1 - tl.load(decay + 1)).to(tl.float32))
    step = tl.load(rate + n, mask=there, other=0.0) / mean_correction
    p = tl.load(parameter + n, mask=there, other=0.0)
    tl.store(mean + n, m, mask=there)
    tl.store(square + n, v, mask=there)
    tl.store(parameter + n, p - step * m / (tl.sqrt(v) / square_correction + epsilon), mask=there)
