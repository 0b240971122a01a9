"""JSON that is always written the same way, and checks of what is given or read.

Every file format describes its JSON and its arrays by the checks here. Such a check takes a value and the path to it in
the file, such as ``batches[2].graphs``; it returns the value or raises a ValueError that says what was expected there
and what was found. Loaders add the name of the file.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

Check = Callable[[Any, str], Any]

_INTEGER_LIMIT = 1 << 63
MAX_EXACT_INTEGER = 2**53  # integers up to here are exact as 64-bit floats

JsonScalar = bool | int | float | str | None


# ---- arguments -----------------------------------------------------------------------------------------


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


# ---- JSON that is written ----------------------------------------------------------------------------


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


# ---- JSON that is read --------------------------------------------------------------------------------


def parse_json(text: str | bytes, constants: bool = False) -> Any:
    """Parse JSON; a ValueError also for lists nested a thousand deep, and without ``constants`` for NaN and Infinity.

    >>> parse_json("[1, NaN]")
    Traceback (most recent call last):
    ...
    ValueError: NaN is not a JSON value
    """
    try:
        return json.loads(text, parse_constant=None if constants else _refuse_constant)
    except RecursionError:
        raise ValueError("its lists or objects are nested too deeply") from None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def wrong(path: str, expected: str, value: Any) -> ValueError:
    """The error for a value that is not the expected one."""
    return ValueError(f"{path[:80] or 'the file'}: expected {expected}; got {shorten(value)}")


def shorten(value: Any, length: int = 60) -> str:
    """A value for a message, cut to a length; the items of lists and objects are not shown."""
    if isinstance(value, (list, tuple, dict, set)):
        return f"{type(value).__name__} of length {len(value)}"
    text = repr(value[:length]) if isinstance(value, (str, bytes)) else repr(value)
    return text if len(text) <= length else f"{text[:length]}..."


def reason_of(error: Exception) -> str:
    """The first line of an error of any library, for one sentence about a damaged file."""
    if isinstance(error, KeyError):
        return f"{shorten(error.args[0] if error.args else '')} is missing"
    return (str(error).splitlines() or [type(error).__name__])[0][:300]


def integer(low: int = -_INTEGER_LIMIT, high: int = _INTEGER_LIMIT - 1) -> Check:
    """An integer in a range, and not a boolean."""

    def check(value: Any, path: str) -> int:
        if type(value) is not int or not low <= value <= high:
            raise wrong(path, f"an integer{_range(low, high)}", value)
        return value

    return check


def real(low: float = -math.inf, high: float = math.inf) -> Check:
    """A finite number in a range."""

    def check(value: Any, path: str) -> float:
        if type(value) not in (int, float) or not low <= value <= high or abs(value) == math.inf:
            raise wrong(path, f"a finite number{_range(low, high)}", value)
        return value  # type: ignore[no-any-return]

    return check


def text(pattern: str | None = None, what: str = "") -> Check:
    """A string, all of which matches a regular expression; ``what`` describes such strings."""
    compiled = None if pattern is None else re.compile(pattern, re.ASCII)

    def check(value: Any, path: str) -> str:
        if not isinstance(value, str) or (compiled is not None and compiled.fullmatch(value) is None):
            raise wrong(path, what or "a string", value)
        return value

    return check


def boolean(value: Any, path: str) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise wrong(path, "true or false", value)
    return value


def scalar(value: Any, path: str) -> Any:
    """A finite number, a string, a boolean or null."""
    if value is not None and not isinstance(value, (str, bool)):
        real()(value, path)
    return value


def color_name(value: Any, path: str) -> int | str:
    """The name of a color: an integer or a string."""
    if type(value) not in (int, str):
        raise wrong(path, "an integer or a string", value)
    return value  # type: ignore[no-any-return]


def one_of(*values: Any) -> Check:
    """One of these values."""

    def check(value: Any, path: str) -> Any:
        if isinstance(value, (list, dict)) or value not in values:
            raise wrong(path, f"one of {', '.join(map(str, values))}", value)
        return value

    return check


def edge_type(value: Any, path: str) -> list[Any]:
    """A type of edges: its color and that of the edge back, or null, and the direction."""
    color, back, direction = list_of(lambda item, _: item, 3)(value, path)
    return [optional(color_name)(color, path), optional(color_name)(back, path), one_of(0, 1, 2)(direction, path)]


def optional(item: Check) -> Check:
    """Null, or what another check takes."""
    return lambda value, path: None if value is None else item(value, path)


def list_of(item: Check, length: int | None = None) -> Check:
    """A list of a length whose items pass a check."""

    def check(value: Any, path: str) -> list[Any]:
        if not isinstance(value, list) or (length is not None and len(value) != length):
            raise wrong(path, "a list" if length is None else f"a list of {length}", value)
        return [item(each, f"{path}[{number}]") for number, each in enumerate(value)]

    return check


def numbers(whole: bool = False, missing: bool = False) -> Check:
    """A list of finite numbers, or of ``whole`` ones, which may be long; with ``missing`` some may be null."""
    kinds = {int} if whole else {int, float}

    def check(value: Any, path: str) -> tuple[Any, ...]:
        items = value if isinstance(value, list) else [value]
        present = [each for each in items if each is not None] if missing else items
        floats = [each for each in present if type(each) is float]
        if items is not value or not set(map(type, present)) <= kinds or not all(map(math.isfinite, floats)):
            raise wrong(path, f"a list of {'integers' if whole else 'finite numbers'}", value)
        return tuple(value)

    return check


def anything(value: Any, path: str) -> Any:
    """Any JSON value."""
    return value


def mapping_of(item: Check) -> Check:
    """An object with any keys whose values pass a check."""

    def check(value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise wrong(path, "an object", value)
        return {key: item(each, f"{path}.{key}") for key, each in value.items()}

    return check


def fields(required: Mapping[str, Check], allowed: Mapping[str, Check] | None = None, others: bool = False) -> Check:
    """An object with the required keys, and perhaps allowed ones; ``others``: further keys are kept unchecked.

    >>> fields({"graphs": integer(0)})({"graphs": -1}, "batches[0]")
    Traceback (most recent call last):
    ...
    ValueError: batches[0].graphs: expected an integer of at least 0; got -1
    """
    known = {**required, **(allowed or {})}

    def check(value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise wrong(path, "an object", value)
        if not required.keys() <= value.keys():
            raise ValueError(f"{path or 'the file'}: {min(required.keys() - value.keys())!r} is missing")
        if not others and not value.keys() <= known.keys():
            unknown = min(value.keys() - known.keys())
            raise ValueError(f"{path or 'the file'}: {shorten(unknown)} is not one of its fields")
        start = f"{path}." if path else ""
        return {key: known[key](each, start + key) if key in known else each for key, each in value.items()}

    return check


def _range(low: float, high: float) -> str:
    if low in (-math.inf, -_INTEGER_LIMIT):
        return "" if high in (math.inf, _INTEGER_LIMIT - 1) else f" of at most {high}"
    return f" of at least {low}" if high in (math.inf, _INTEGER_LIMIT - 1) else f" from {low} to {high}"


# ---- arrays ------------------------------------------------------------------------------------------


def check_array(
    array: Any,
    name: str,
    kinds: str,
    shape: tuple[int | None, ...],
    low: float | None = None,
    high: float | None = None,
) -> NDArray[Any]:
    """An array of these kinds of dtype and this shape (None: any length); numbers are finite and in a range.

    >>> check_array(np.array([1, -1]), "data", "i", (None,), low=0)
    Traceback (most recent call last):
    ...
    ValueError: data: expected numbers of at least 0; got -1
    """
    if not isinstance(array, np.ndarray):
        raise wrong(name, "an array", array)
    if array.dtype.kind not in kinds:
        raise ValueError(f"{name}: expected an array of kind {' or '.join(kinds)}; got {array.dtype}")
    if array.ndim != len(shape) or any(
        given is not None and given != length for given, length in zip(shape, array.shape, strict=True)
    ):
        dimensions = ", ".join("any" if length is None else str(length) for length in shape)
        raise ValueError(f"{name}: expected the shape ({dimensions}); got {array.shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name}: expected finite numbers; got NaN or infinite ones")
    if array.size and low is not None and array.min().item() < low:
        raise ValueError(f"{name}: expected numbers of at least {low}; got {array.min()}")
    if array.size and high is not None and array.max().item() > high:
        raise ValueError(f"{name}: expected numbers of at most {high}; got {array.max()}")
    return array


def check_compressed_rows(indptr: Any, indices: Any, entries: int, shape: tuple[int, int]) -> None:
    """A ValueError unless these arrays are the rows of a compressed sparse matrix with so many entries.

    scipy and compiled code trust them: wrong ones make it read beyond the arrays.
    """
    rows, columns = shape
    check_array(indptr, "indptr", "iu", (rows + 1,), low=0, high=entries)
    check_array(indices, "indices", "iu", (entries,), low=0, high=columns - 1)
    if indptr[0] != 0 or indptr[-1] != entries or (np.diff(indptr.astype(np.int64)) < 0).any():
        raise ValueError(f"indptr: expected numbers that ascend from 0 to {entries}, the number of entries")


def prefixed(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays of a part of a model under names that start alike.

    >>> arrays_of("kernel.", prefixed("kernel.", {"weights": np.ones(2)}) | {"center": np.zeros(1)})
    {'weights': array([1., 1.])}
    """
    return {prefix + name: array for name, array in arrays.items()}


def arrays_of(prefix: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """The arrays that `prefixed` named, under their own names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
