"""Colors of vertices and edges: names, their order, and how input is encoded.

A color is a discrete attribute of a vertex or an edge; its name is an integer or a string. A color code is a position
in a palette, whose names are sorted, so that comparing codes compares names.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from anysize._errors import GraphError

ColorName: TypeAlias = int | str

MAX_COLORS = 1 << 16  # color codes are uint16


def color_order(name: ColorName) -> tuple[int, int, str]:
    """Sort key of color names: integers by value, then strings by code point."""
    return (1, 0, name) if isinstance(name, str) else (0, int(name), "")


def check_palette(names: Sequence[ColorName]) -> tuple[ColorName, ...]:
    """Sort the names; an error if one occurs twice or there are too many."""
    palette = tuple(sorted(names, key=color_order))
    if len(set(palette)) != len(palette):
        raise GraphError("A palette must name each color once; this one repeats a name.")
    if len(palette) > MAX_COLORS:
        raise GraphError(
            f"{len(palette)} different colors; at most {MAX_COLORS} are supported. "
            "Colors are categories: bin continuous attributes first."
        )
    return palette


def unite_palettes(palettes: Iterable[Sequence[ColorName]]) -> tuple[ColorName, ...]:
    """The names of all palettes, sorted."""
    return tuple(sorted({name for palette in palettes for name in palette}, key=color_order))


def recode(codes: NDArray[np.uint16], palette: Sequence[ColorName], target: Sequence[ColorName]) -> NDArray[np.uint16]:
    """Codes of one palette as codes of another one, which must contain every color in use."""
    position = {name: code for code, name in enumerate(target)}
    used = np.unique(codes)
    missing = [palette[code] for code in used if palette[code] not in position]
    if missing:
        raise GraphError(f"The new palette lacks colors in use: {missing[:5]}; add them to it.")
    table = np.zeros(len(palette), np.uint16)
    table[used] = [position[palette[code]] for code in used]
    return table[codes]


def encode_colors(
    values: Any, what: str = "colors", element: str = "vertex"
) -> tuple[NDArray[np.uint16], tuple[ColorName, ...]]:
    """Encode a flat list of color names (integers or strings) or one-hot rows as codes and a palette.

    >>> encode_colors(["N", "C", "N"])
    (array([1, 0, 1], dtype=uint16), ('C', 'N'))
    >>> encode_colors([[0, 0, 1], [1, 0, 0]])[1]
    (0, 1, 2)
    """
    try:
        array = np.asarray(values)
    except ValueError:
        raise GraphError(f"{what}: expected one color per {element} or one-hot rows of one width.") from None
    if array.ndim == 2:
        return _decode_one_hot(array, what, element)
    if array.ndim != 1:
        raise GraphError(
            f"{what}: expected one color per {element} or one-hot rows; got an array of shape {array.shape}."
        )
    if array.dtype.kind == "f":
        missing = np.flatnonzero(~np.isfinite(array))
        if missing.size:
            at = missing[0]
            raise GraphError(f"{what}: {element} {at} has the color {array[at]}; expected a color for every {element}.")
        if (array != np.rint(array)).any():
            at = np.flatnonzero(array != np.rint(array))[0]
            raise GraphError(
                f"{what}: {element} {at} has the color {array[at]}, which is not an integer; "
                "colors are categories, so bin continuous attributes first."
            )
    exact = 2**53 if array.dtype.kind == "f" else 2**62  # numpy turns integers beside floats into floats
    if array.dtype.kind in "fbiu" and array.size and np.abs(array.astype(np.float64)).max() < exact:
        distinct, codes = np.unique(array.astype(np.int64), return_inverse=True)
        palette = check_palette([int(name) for name in distinct])
        return codes.astype(np.uint16), palette
    names = [_color_name(value, number, what, element) for number, value in enumerate(values)]
    palette = check_palette(list(set(names)))
    position = {name: code for code, name in enumerate(palette)}
    return np.array([position[name] for name in names], np.uint16), palette


def _color_name(value: Any, number: int, what: str, element: str) -> ColorName:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bool, int, np.integer, np.bool_)):
        return int(value)
    if isinstance(value, (float, np.floating)) and np.isfinite(value) and value == int(value):
        return int(value)
    raise GraphError(
        f"{what}: {element} {number} has the color {value!r:.60}; expected an integer, a string or a one-hot row."
    )


def _decode_one_hot(array: NDArray[Any], what: str, element: str) -> tuple[NDArray[np.uint16], tuple[ColorName, ...]]:
    good = array.dtype.kind in "biuf" and array.shape[1] > 0
    rows = ((array == 1).sum(axis=1) == 1) & ((array != 0).sum(axis=1) == 1) if good else np.zeros(len(array), bool)
    if not rows.all():
        at = np.flatnonzero(~rows)[0]
        raise GraphError(
            f"{what}: row {at} is not one-hot ({array[at].tolist()[:8]}); expected a single 1 and zeros elsewhere. "
            f"Join several attributes of one {element} into one string first, such as 'C+1'."
        )
    palette = check_palette(range(array.shape[1]))
    return array.argmax(axis=1).astype(np.uint16), palette
