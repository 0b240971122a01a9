"""Damage and forgery: bytes, words of a text, fields of JSON, and arrays, all drawn from a random generator."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any

import numpy as np

WORDS = (
    "-1", "0", "1", "99999999999999999999", "1e999", "-1e999", "nan", "inf", "0x10", "1_0", "+1", "1.5", "٣", "é", "\0",
    "[", "]", "{", "}", '"', "'", ",", ";", "#", "%", "\ufeff", "\x1b[2J", "[/x]", "=1+1", "graph", "source", "null",
    "2147483648", "4294967296", "9223372036854775807", "\udcff", "x" * 300, " " * 300,
)  # fmt: skip
NESTED = "@@nested@@"  # replaced by a hundred thousand brackets when the JSON is written
VALUES = (
    None, True, False, 0, 1, -1, 2, 3, 7, 8, 0.5, -0.5, 1e308, 1e-320, math.inf, -math.inf, math.nan, 10**9, 10**15,
    10**30, -(10**30), 2**31, 2**63, "", "x", "0", "../evil", "/evil", "a/b", "\0", "\ud800", "é", "x" * 1000, [], {},
    [[]], [None], [0], ["a", "a"], {"a": 1}, [[1, 2], [3]], NESTED, "NaN", "1e999", "2026-01-01", "<i8", "O", "<U99999",
)  # fmt: skip
KEYS = ("cache", "store", "path", "file", "__class__", "", "k", "x" * 300)


def damaged_bytes(data: bytes, chance: Random) -> bytes:
    """One to three changes: cut, flipped, inserted, removed, repeated or zeroed bytes."""
    changed = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        at = chance.randrange(len(changed) + 1)
        until = min(at + chance.choice((1, 2, 8, 64, 1000)), len(changed))
        match chance.randrange(6):
            case 0:
                del changed[at:]
            case 1 if at < len(changed):
                changed[at] ^= 1 << chance.randrange(8)
            case 2:
                changed[at:at] = chance.randbytes(chance.choice((1, 4, 100)))
            case 3:
                del changed[at:until]
            case 4:
                changed[at:at] = changed[at:until] * chance.choice((1, 3, 50))
            case _:
                changed[at:until] = bytes(until - at)
    return bytes(changed)


def damaged_text(data: bytes, chance: Random) -> bytes:
    """Words replaced, swapped, removed or repeated; lines likewise; sometimes bytes."""
    if chance.random() < 0.25:
        return damaged_bytes(data, chance)
    separator = chance.choice(("\n", " ", ",", None))
    text = data.decode("utf-8", "surrogateescape")
    parts = list(text) if separator is None else text.split(separator)
    for _ in range(chance.choice((1, 1, 2, 4))):
        at, other = chance.randrange(len(parts) or 1), chance.randrange(len(parts) or 1)
        match chance.randrange(6) if parts else 0:
            case 0:
                parts.insert(at, chance.choice(WORDS))
            case 1:
                parts[at] = chance.choice(WORDS)
            case 2:
                parts[at], parts[other] = parts[other], parts[at]
            case 3:
                del parts[at]
            case 4:
                parts[at:at] = [parts[at]] * chance.choice((1, 2, 200))
            case _:
                del parts[at:]
    joined = (separator or "").join(parts)
    return joined.encode("utf-8", "surrogateescape") if joined.isascii() else joined.encode("utf-8", "replace")


def forged_json(value: Any, chance: Random) -> Any:
    """A copy with one to three fields of another type, out of range, missing, added, repeated or swapped."""
    forged = json.loads(json.dumps(value))
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        forged = _forge(forged, chance)
    return forged


def _forge(value: Any, chance: Random) -> Any:
    """Change one place of a JSON value, found by a random walk."""
    if not isinstance(value, (dict, list)) or not value or chance.random() < 0.05:
        return deepcopy(chance.choice(VALUES))
    keys: list[Any] = list(value) if isinstance(value, dict) else list(range(len(value)))
    key, other = chance.choice(keys), chance.choice(keys)
    match chance.randrange(10):
        case 0:
            del value[key]
        case 1 if isinstance(value, dict):
            value[chance.choice(KEYS)] = deepcopy(chance.choice(VALUES))
        case 1:
            value.insert(key, deepcopy(chance.choice(VALUES)))
        case 2:
            value[key], value[other] = value[other], value[key]
        case 3 if isinstance(value, list):
            value.append(value[key])
        case _:
            value[key] = _forge(value[key], chance)
    return value


def json_bytes(value: Any) -> bytes:
    """JSON as Python writes it, with NaN and Infinity, and nesting without end where it was asked for."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace(f'"{NESTED}"', "[" * 100_000).encode()


def forged_array(array: np.ndarray[Any, Any], chance: Random) -> np.ndarray[Any, Any]:
    """An array of another length, shape or type, or with other values."""
    with np.errstate(all="ignore"):
        changes: list[Callable[[], Any]] = [
            lambda: array[: len(array) // 2] if array.ndim else array,
            lambda: array[..., None],
            lambda: array.ravel()[0] if array.size else array,
            lambda: array.astype(chance.choice(("i1", "u1", "i8", "u8", "f4", "f8", "?", "U5", "M8[s]", "c16"))),
            lambda: np.concatenate([array, array]) if array.ndim else array,
            lambda: array[::-1] if array.ndim else array,
            lambda: np.zeros(chance.choice(((), (0,), (0, 3), (2, 0), (3,), (1, 1, 1))), array.dtype),
            lambda: _with_value(array, chance),
            lambda: _with_value(array, chance),
            lambda: _with_value(array, chance),
        ]
        try:
            return np.ascontiguousarray(chance.choice(changes)())
        except (ValueError, TypeError, OverflowError):
            return array


def _with_value(array: np.ndarray[Any, Any], chance: Random) -> Any:
    value = chance.choice((-1, 0, 1, 7, 8, 255, 2**31 - 1, -(2**31), 2**62, math.nan, math.inf, 1e308, -1e-300))
    changed = array.copy() if array.dtype.kind == "f" or not isinstance(value, float) else array.astype(np.float64)
    changed[chance.randrange(len(changed)) if changed.ndim and chance.random() < 0.8 else ...] = value
    return changed
