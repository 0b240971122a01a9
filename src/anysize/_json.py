"""JSON that is always written the same way: configurations, keys and lines of records."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

MAX_EXACT_INTEGER = 2**53  # integers up to here are exact as 64-bit floats

JsonScalar = bool | int | float | str | None


def _scalar(value: Any) -> Any:
    """The Python number of a numpy scalar."""
    if hasattr(value, "item") and not getattr(value, "shape", ()):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not a JSON value")


_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_scalar)
_SORTED_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False, default=_scalar, sort_keys=True)


def canonical_configuration(configuration: Mapping[str, JsonScalar]) -> dict[str, JsonScalar]:
    """A configuration sorted by name, with numpy scalars as Python numbers and whole floats as integers."""
    sorted_: dict[str, JsonScalar] = {}
    for name in sorted(configuration):
        value: Any = configuration[name]
        value = value.item() if hasattr(value, "item") else value
        if not isinstance(value, bool | int | float | str | None) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            raise ValueError(
                f"configuration values must be finite numbers, strings, booleans or None; got {name} = {value!r}"
            )
        sorted_[name] = (
            int(value) if isinstance(value, float) and value.is_integer() and abs(value) < MAX_EXACT_INTEGER else value
        )
    return sorted_


def compact_json(value: Any, sort_keys: bool = False) -> str:
    """JSON in ASCII without spaces; numpy scalars are written as numbers, NaN is a ValueError.

    >>> compact_json({"k": (3, 4), "colors": True}, sort_keys=True)
    '{"colors":true,"k":[3,4]}'
    """
    return (_SORTED_ENCODER if sort_keys else _ENCODER).encode(value)


def finite(value: Any, what: str) -> float | None:
    """A float; None for None and for values that are not finite."""
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be a number or None; got {value!r}") from None
    return number if math.isfinite(number) else None
