"""Move dataclasses of tensors to a device."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Self

import torch


class Movable:
    """Base of dataclasses of tensors and of other such dataclasses."""

    def to(self, device: torch.device | str) -> Self:
        """The same on a device; tensors that several parts share stay shared.

        Examples:
            >>> from anysize.nn.rows.aggregation import Dense
            >>> Dense(torch.ones(1, 2)).to("meta").matrix.device.type
            'meta'
        """
        found: Self = _moved(self, torch.device(device), {})
        return found


def _moved(value: Any, device: torch.device, known: dict[int, torch.Tensor]) -> Any:
    if isinstance(value, torch.Tensor):
        if id(value) not in known:
            known[id(value)] = value.to(device)
        return known[id(value)]
    if isinstance(value, tuple):
        return tuple(_moved(part, device, known) for part in value)
    if isinstance(value, Movable):
        names = [field.name for field in fields(value)]  # type: ignore[arg-type]
        return replace(value, **{name: _moved(getattr(value, name), device, known) for name in names})  # type: ignore[type-var]
    return value.to(device) if hasattr(value, "to") else value
