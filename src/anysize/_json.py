"""Plain values: what a line of JSON can hold, always written the same way."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

EXACT = 2**53  # whole floats below this are the integers they look like

Plain = bool | int | float | str | None

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)  # made once: it is needed for every record


def plain(configuration: Mapping[str, Plain]) -> dict[str, Plain]:
    """A configuration sorted by name, of plain values only: numpy scalars unpacked, whole floats as integers."""
    sorted_: dict[str, Plain] = {}
    for name in sorted(configuration):
        value: Any = configuration[name]
        value = value.item() if hasattr(value, "item") else value
        if not isinstance(value, bool | int | float | str | None) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            raise ValueError(
                f"the values of a configuration are numbers, strings, true, false or None; got {name} = {value!r}"
            )
        sorted_[name] = int(value) if isinstance(value, float) and value.is_integer() and abs(value) < EXACT else value
    return sorted_


def compact_json(value: Any) -> str:
    """JSON without a superfluous character, in ASCII."""
    return _ENCODER.encode(value)


def finite(value: Any, what: str) -> float | None:
    """A float; None for None and for what is not finite."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{what} is a number or None; got {value!r}") from None
    return number if math.isfinite(number) else None
