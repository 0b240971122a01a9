"""Checks of loaded files: what they take, what they refuse, and that errors name the place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from anysize import _schema as s

TABLE = s.fields({"n": s.integer(0), "items": s.list_of(s.fields({"name": s.text()}))}, {"share": s.real(0, 1)})


@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_what_fits_is_returned_unchanged(share: float) -> None:
    value = {"n": 3, "items": [{"name": "a"}], "share": share}
    assert TABLE(value, "") == value


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ([], "the file"),
        ({"n": 3}, "'items' is missing"),
        ({"n": True, "items": []}, "n: "),
        ({"n": -1, "items": []}, "n: "),
        ({"n": 1.0, "items": []}, "n: "),
        ({"n": 10**40, "items": []}, "n: "),
        ({"n": 1, "items": {}}, "items: "),
        ({"n": 1, "items": [{"name": "a"}, {"name": 3}]}, r"items\[1\]\.name: "),
        ({"n": 1, "items": [], "share": 1.5}, "share: "),
        ({"n": 1, "items": [], "share": math.inf}, "share: "),
        ({"n": 1, "items": [], "share": math.nan}, "share: "),
        ({"n": 1, "items": [], "store": "/etc"}, "'store'"),
    ],
)
def test_what_does_not_fit_is_named(value: Any, place: str) -> None:
    with pytest.raises(ValueError, match=place) as caught:
        TABLE(value, "")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "NaN", "[Infinity]", "", "{", b"\xff\xfe\x00"])
def test_bad_json_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - of the parser or of ours
        s.parse_json(text)


@pytest.mark.parametrize("value", [[1, 2.5, 10**400], []])
def test_lists_of_numbers(value: list[float]) -> None:
    assert s.numbers()(value, "") == tuple(value)
    for wrong in ([1, "2"], [True], [1e400], [None], 3, None, {}):
        with pytest.raises(ValueError, match="epochs: "):
            s.numbers()(wrong, "epochs")
    assert s.numbers(missing=True)([None, 1], "") == (None, 1)


def test_arrays() -> None:
    for array in (np.array(3), np.array([1.5]), np.array([1, -1]), np.array([[1]]), np.array(["a"]), [1]):
        with pytest.raises(ValueError, match="data: "):
            s.check_array(array, "data", "i", (None,), low=0)
    with pytest.raises(ValueError, match="finite"):
        s.check_array(np.array([np.nan]), "data", "f", (None,))


@pytest.mark.parametrize(
    ("indptr", "indices"),
    [([0, 1], [0]), ([0, 2, 1], [0]), ([1, 1, 1], [0]), ([0, 1, 9], [0]), ([0, 0, 1], [7]), ([0, 0, 1], [-1])],
)
def test_inconsistent_rows_are_refused(indptr: list[int], indices: list[int]) -> None:
    with pytest.raises(ValueError, match=r"indptr|indices"):
        s.check_compressed_rows(np.array(indptr), np.array(indices), len(indices), (2, 2))
