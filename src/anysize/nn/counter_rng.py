"""Random numbers as a function of (seed, step, place): the same for a model alone, in a stack, on any device.

A generator with a state would give a model other numbers when others are trained beside it. A hash does not:
the number at a place depends on the seed of its model, on the step, and on the place alone. It needs no
transfer to the device, and a CUDA graph can replay it, as the step is a tensor.
"""

from __future__ import annotations

import torch
from torch import Tensor

_GOLDEN = -7046029254386353131  # 0x9E3779B97F4A7C15 as a signed number: 2^64 / golden ratio
_FIRST, _SECOND = -4658895280553007687, -7723592293110705685  # the multipliers of splitmix64


def uniform(seeds: Tensor, step: Tensor | int, amount: int, stream: int = 0) -> Tensor:
    """Numbers in [0, 1), one row of ``amount`` per seed: (seeds, amount), float32.

    ``stream`` keeps the numbers of different uses (recoloring, dropout, ...) apart.

    Examples:
        >>> seeds = torch.tensor([3, 4])
        >>> torch.equal(uniform(seeds, 7, 5)[1:], uniform(seeds[1:], 7, 5))
        True
    """
    place = torch.arange(amount, device=seeds.device)
    start = _mixed(_mixed(seeds * 1_000_003 + stream) + step)
    bits = _mixed(start[:, None] + (place + 1) * _GOLDEN)
    return (_shifted(bits, 40)).to(torch.float32) * 2.0**-24


def _mixed(x: Tensor) -> Tensor:
    """The finalizer of splitmix64: every bit of the result depends on every bit of x."""
    x = x + _GOLDEN
    x = (x ^ _shifted(x, 30)) * _FIRST
    x = (x ^ _shifted(x, 27)) * _SECOND
    return x ^ _shifted(x, 31)


def _shifted(x: Tensor, places: int) -> Tensor:
    """x >> places as for numbers without a sign."""
    return (x >> places) & ((1 << (64 - places)) - 1)
