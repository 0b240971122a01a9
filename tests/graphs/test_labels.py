"""Labels: what is taken as classes and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anysize import GraphSet, GraphWarning, count
from anysize.graphs.labels import distinct_classes, is_table, label_array, labels_of, target_table

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
    with pytest.raises(ValueError, match=f"labels must be numbers or all be strings; got {kinds}"):
        labels_of(GRAPHS, mixed)


@pytest.mark.parametrize("given", [[0.0, np.nan, 1.0, 1.0], ["a", "", "b", "b"], np.array(["a", np.nan, "b", "b"])])
def test_graphs_without_a_class_are_refused(given: Any) -> None:
    with pytest.raises(ValueError, match=r"graph 1 has .*1 of 4 graphs"):
        labels_of(GRAPHS, given)


def test_numbers_among_strings_do_not_enter_a_set() -> None:
    for enter in (GRAPHS.with_y, lambda y: GraphSet.from_edges([[(0, 1)]] * 4, y=y)):
        with pytest.raises(ValueError, match="got int, str"):
            enter([1, 1, "hi", "hi"])
        assert enter(["1", "1", np.str_("hi"), "hi"]).y.tolist() == ["1", "1", "hi", "hi"]


@pytest.mark.parametrize(
    ("missing", "kinds"),
    [
        ([1, None, 2, 1], "NoneType, int"),
        (pd.Series(["a", "b", np.nan, "a"]), "float, str"),
        (pd.Series(["a", "b", None, "a"], dtype="string"), "NAType, str"),
    ],
)
def test_missing_labels_do_not_enter_a_set(missing: Any, kinds: str) -> None:
    for enter in (GRAPHS.with_y, lambda y: GraphSet.from_edges([[(0, 1)]] * 4, y=y), lambda y: labels_of(GRAPHS, y)):
        with pytest.raises(ValueError, match=f"got {kinds}. Leave out graphs without a label"):
            enter(missing)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (pd.Series([1, 2, 2, 1], dtype=object), "i"),
        (pd.Series([1, 2.5, 2, 1], dtype=object), "f"),
        (pd.Series([True, False, True, True], dtype=object), "b"),
        (pd.Series(["a", "b", "b", "a"]), "U"),
        (pd.Series(["a", "b", "b", "a"], dtype="string"), "U"),
        (pd.Series(["a", "b", "b", "a"], dtype="category"), "U"),
        (pd.Series([1, 2, 2, 1], dtype="Int64"), "i"),
    ],
)
def test_labels_of_pandas_are_numbers_or_strings(given: Any, kind: str) -> None:
    made = GRAPHS.with_y(given)
    assert made.y is not None
    assert made.y.dtype.kind == kind
    assert made.y.tolist() == given.tolist()
    assert repr(made).endswith(f"{given.nunique()} classes)")


def test_labels_of_one_kind_stay_as_they_are() -> None:
    for labels in ([1, 2], [1, 2.5], ["a", "b"], np.array(["a", "b"]), [True, False], []):
        assert label_array(labels).tolist() == list(labels)


def test_graphs_without_labels_say_when_pyg_brings_its_own() -> None:
    with pytest.raises(ValueError, match=r"pass y .*PyG"):
        labels_of(GRAPHS)


def test_a_series_with_the_names_of_the_graphs_in_another_order_is_told() -> None:
    named = replace(GRAPHS, names=("a", "b", "c", "10"))
    kinds = pd.Series(["x", "y", "x", "z"], index=["b", "c", "10", "a"])
    for use in (labels_of, GraphSet.with_y):
        with pytest.warns(GraphWarning, match="by position"):
            use(named, kinds)
    ordered = kinds[list(named.names or ())]
    assert labels_of(named, ordered).tolist() == ["z", "x", "y", "x"]
    for other in (kinds.reset_index(drop=True), kinds.tolist(), kinds.rename({"a": "q"})):
        assert labels_of(named, other).tolist() == ["x", "y", "x", "z"]


@pytest.mark.parametrize(("dtype", "kind"), [("S", "bytes"), ("M8[D]", "date"), (complex, "complex")])
def test_what_a_model_file_cannot_hold_is_no_class(dtype: Any, kind: str) -> None:
    with pytest.raises(ValueError, match=f"numbers or all be strings; got {kind}"):
        labels_of(GRAPHS, np.array([0, 1, 0, 1]).astype(dtype))


@pytest.mark.parametrize("given", ["label", {0: "a", 1: "b", 2: "a", 3: "b"}, {"a", "b"}, iter("abab")])
def test_labels_that_are_no_array_are_named_by_their_type(given: Any) -> None:
    with pytest.raises(ValueError, match=f"4 graphs; got a {type(given).__name__}"):
        labels_of(GRAPHS, given)


def test_fractions_are_no_classes() -> None:
    assert distinct_classes(np.array([0.0, 2.0, 0.0])).tolist() == [0, 2]
    with pytest.raises(ValueError, match=r"got 0\.5"):
        distinct_classes(np.array([0.0, 0.5, 1.0]))


# ---- several targets -------------------------------------------------------------------------------

NAN = float("nan")


@pytest.mark.parametrize(
    ("given", "table", "names"),
    [
        ([[1, None], (0, 2.5)], [[1, NAN], [0, 2.5]], ("0", "1")),
        (np.array([[1, NAN], [0, 1]]), [[1, NAN], [0, 1]], ("0", "1")),
        ([np.array([True, False]), np.array([False, True])], [[1, 0], [0, 1]], ("0", "1")),
        (pd.DataFrame({"A": [1, None], "B": pd.array([None, 3], "Int64")}), [[1, NAN], [NAN, 3]], ("A", "B")),
        ([["x", 1], ["", 0]], [["x", 1], [None, 0]], ("0", "1")),
        (pd.DataFrame({"A": ["x", None], 7: [0.5, NAN]}), [["x", 0.5], [None, None]], ("A", "7")),
    ],
)
def test_tables_of_targets_have_names_and_gaps(given: Any, table: list[list[Any]], names: tuple[str, ...]) -> None:
    assert is_table(given)
    made, told = target_table(given)
    assert told == names
    np.testing.assert_array_equal(made, np.array(table, made.dtype))
    graphs = GRAPHS[:2].with_y(given)
    assert (graphs.targets, repr(graphs)[-11:]) == (names, ", 2 targets)"[1:])
    assert graphs.equals(graphs[::-1][::-1])
    assert not graphs.equals(graphs[::-1])
    assert not graphs.equals(replace(graphs, targets=("x", "y")))
    assert (graphs + graphs).targets == names
    assert GRAPHS.with_y(None)[:2].equals(graphs.with_y(None))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([[1, 2], [3]], "rows of different lengths"), ([[1, 2], 3], "rows of different lengths"),
        ([[1, float("inf")], [1, 2]], "got inf"), ([[1, [2]], [1, 2]], "lists inside of rows"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["A", "A"]), "different names of targets; got A, A"),
    ],
)  # fmt: skip
def test_tables_that_are_none_are_refused(given: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        GRAPHS[:2].with_y(given)


def test_one_target_is_the_label_of_the_graphs_that_have_it() -> None:
    graphs = GRAPHS.with_y(pd.DataFrame({"kind": ["a", None, "b", "a"], "size": [0.5, 1, NAN, 2]}))
    assert graphs.target("kind").equals(GRAPHS[[0, 2, 3]].with_y(["a", "b", "a"]))
    assert graphs.target("size").equals(GRAPHS[[0, 1, 3]].with_y([0.5, 1, 2]))
    with pytest.raises(ValueError, match="no target 'sizes': did you mean 'size'"):
        graphs.target("sizes")
    with pytest.raises(ValueError, match="one label each"):
        GRAPHS.target("size")
    with pytest.raises(ValueError, match="choose one of several targets"):
        labels_of(graphs)
    with pytest.raises(ValueError, match="different targets"):
        graphs + GRAPHS.with_y([0, 1, 0, 1])


def test_counts_have_no_tables_of_targets() -> None:
    assert count(GRAPHS.with_y([[0, 1]] * 4), 3).y is None
