"""Counter-based random numbers: a hash of (seed, step, position), the same on every device.

With a stateful generator, the numbers of a model would depend on the other models of its stack. Here they depend only
on the model's seed, the step and the position. Nothing is transferred to the device, and because the step is a tensor,
a CUDA graph can replay the computation.
"""

from __future__ import annotations

import torch
from torch import Tensor

SEED_FACTOR = 1_000_003  # the streams of two seeds are so many numbers apart
INCREMENT = -7046029254386353131  # 0x9E3779B97F4A7C15 as a signed integer: 2^64 / golden ratio
MULTIPLIER_1, MULTIPLIER_2 = -4658895280553007687, -7723592293110705685  # the multipliers of splitmix64


def uniform(seeds: Tensor, step: Tensor | int, amount: int, stream: int = 0) -> Tensor:
    """Numbers in [0, 1), one row of ``amount`` per seed: (seeds, amount), float32.

    Different uses (recoloring, dropout, ...) take different ``stream`` numbers.

    Examples:
        >>> seeds = torch.tensor([3, 4])
        >>> torch.equal(uniform(seeds, 7, 5)[1:], uniform(seeds[1:], 7, 5))
        True
    """
    position = torch.arange(amount, device=seeds.device)
    start = _mix(_mix(seeds * SEED_FACTOR + stream) + step)
    bits = _mix(start[:, None] + (position + 1) * INCREMENT)
    return _shift_right(bits, 40).to(torch.float32) * 2.0**-24


def _mix(x: Tensor) -> Tensor:
    """The finalizer of splitmix64: every bit of the result depends on every bit of x."""
    x = x + INCREMENT
    x = (x ^ _shift_right(x, 30)) * MULTIPLIER_1
    x = (x ^ _shift_right(x, 27)) * MULTIPLIER_2
    return x ^ _shift_right(x, 31)


def _shift_right(x: Tensor, places: int) -> Tensor:
    """x >> places for unsigned integers."""
    return (x >> places) & ((1 << (64 - places)) - 1)
