"""Type aliases, and the check of integers, shared by all packages."""

from __future__ import annotations

import os
from typing import Any, Literal, TypeGuard

import numpy as np
from numpy.typing import NDArray

BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
PathLike = str | os.PathLike[str]
TargetKind = Literal["classes", "numbers"]  # what a method predicts


def is_integer(value: Any) -> TypeGuard[int]:
    """Whether a value is an integer of Python or numpy; booleans are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_integer(name: str, value: Any, at_least: int) -> int:
    """The value as an int; a ValueError that names it if it is no integer or too small.

    >>> check_integer("n", np.int64(3), at_least=1)
    3
    """
    if not is_integer(value) or value < at_least:
        raise ValueError(f"{name} must be an integer of at least {at_least}; got {value!r}")
    return int(value)
