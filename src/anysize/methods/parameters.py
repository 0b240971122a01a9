"""What a user may set: how a value is read, and the hyper-parameters that kinds of methods have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from anysize.training.settings import Recipe

Check = Callable[[str, Any], Any]  # (name, value) -> the value as it is used, or a ValueError that names it


MOST = 2**31 - 1  # beyond it torch has no words


def whole_number(name: str, value: Any, least: int = 1) -> int:
    """The value as an int, if it is one, not too small, and of a size that memory can hold."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}")
    if int(value) > MOST:
        raise ValueError(f"{name} must be a whole number of at most {MOST}; got {value!r}")
    return int(value)


def number(value: Any) -> float:
    """The value as a float; nan, which no comparison lets pass, for what is no number."""
    real = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    return float(value) if real else float("nan")


def positive(name: str, value: Any) -> float:
    """The value as a float above 0."""
    if not 0 < number(value) < float("inf"):
        raise ValueError(f"{name} must be a number above 0; got {value!r}")
    return float(value)


def weight(name: str, value: Any) -> float:
    """The value as a float of at least 0."""
    if not 0 <= number(value) < float("inf"):
        raise ValueError(f"{name} must be a number of at least 0; got {value!r}")
    return float(value)


def switch(name: str, value: Any) -> bool:
    """The value as a bool."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False; got {value!r}")
    return bool(value)


def _batch(name: str, value: Any) -> int:
    return whole_number(name, value, 2)  # batch norm cannot judge a single graph


def _over(name: str, value: Any) -> str:
    Recipe(over=value)  # it knows what is allowed
    return str(value)


TRAINED: Mapping[str, Check] = {"epochs": whole_number, "hidden": whole_number, "lr": positive, "batch_size": _batch}
DEEP: Mapping[str, Check] = {**TRAINED, "layers": whole_number, "jumping": switch}
COUNTED: Mapping[str, Check] = {"over": _over, "top": whole_number}  # of methods that turn counts into densities
