"""Move dataclasses of tensors to a device."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

import torch

Parts = TypeVar("Parts")


def moved(parts: Parts, device: torch.device | str) -> Parts:
    """A dataclass with its tensors on a device, and with everything in it that has a method ``to``.

    Examples:
        >>> from anysize.nn.rows.aggregation import Dense
        >>> moved(Dense(torch.ones(1, 2)), "meta").matrix.device.type
        'meta'
    """
    target = torch.device(device)

    def move(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(move, value))
        return value.to(target) if hasattr(value, "to") else value

    values = {field.name: move(getattr(parts, field.name)) for field in fields(parts)}  # type: ignore[arg-type]
    return replace(parts, **values)  # type: ignore[type-var]
