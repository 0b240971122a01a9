"""Class indices as text: one character per graph."""

from __future__ import annotations

import string
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

ALPHABET = string.digits + string.ascii_lowercase + string.ascii_uppercase
_PLACE = np.full(256, -1, np.int64)
_PLACE[np.frombuffer(ALPHABET.encode(), np.uint8)] = np.arange(len(ALPHABET))


def encode(classes: Iterable[int]) -> str:
    """Class indices 0 .. 61 as one character each: digits, then small, then capital letters.

    >>> encode([0, 1, 1, 10])
    '011a'
    """
    indices = [int(index) for index in classes]
    if any(not 0 <= index < len(ALPHABET) for index in indices):
        raise ValueError(f"class indices run from 0 to {len(ALPHABET) - 1}; got {min(indices)} to {max(indices)}")
    return "".join(ALPHABET[index] for index in indices)


def decode(text: str) -> NDArray[np.int64]:
    """The class indices of a text.

    >>> decode("011a").tolist()
    [0, 1, 1, 10]
    """
    indices = _PLACE[np.frombuffer(text.encode("utf-8"), np.uint8)]
    if (indices < 0).any():
        raise ValueError(f"classes are written as digits and letters; got {text[:20]!r}")
    return indices
