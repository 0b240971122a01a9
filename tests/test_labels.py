"""Labels: what is taken as classes and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from anysize import GraphSet
from anysize.labels import label_array, labels_of

GRAPHS = GraphSet.from_edges([[(0, 1)]] * 4)


@pytest.mark.parametrize(
    ("mixed", "kinds"),
    [
        ([1, 1, "hi", "hi"], "int, str"),
        (("hi", 1.5, "hi", "hi"), "float, str"),
        ([True, "a", "b", "a"], "bool, str"),
        (["a", None, "b", "a"], "NoneType, str"),
        ([np.int64(1), "a", "b", "a"], "int64, str"),
    ],
)
def test_strings_among_other_values_are_refused(mixed: Any, kinds: str) -> None:
    with pytest.raises(ValueError, match=f"classes must be numbers or all be strings; got {kinds}"):
        labels_of(GRAPHS, mixed)


def test_numbers_among_strings_do_not_enter_a_set() -> None:
    for enter in (GRAPHS.with_y, lambda y: GraphSet.from_edges([[(0, 1)]] * 4, y=y)):
        with pytest.raises(ValueError, match="got int, str"):
            enter([1, 1, "hi", "hi"])
        assert enter(["1", "1", np.str_("hi"), "hi"]).y.tolist() == ["1", "1", "hi", "hi"]


def test_labels_of_one_kind_stay_as_they_are() -> None:
    for labels in ([1, 2], [1, 2.5], ["a", "b"], np.array(["a", "b"]), [True, False], []):
        assert label_array(labels).tolist() == list(labels)


def test_graphs_without_labels_say_when_pyg_brings_its_own() -> None:
    with pytest.raises(ValueError, match=r"these graphs have none: pass y \(PyG graphs bring their own where every"):
        labels_of(GRAPHS)
