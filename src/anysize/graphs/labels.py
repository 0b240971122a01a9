"""Labels of graphs, classes or numbers: conversion, checks and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from anysize._errors import GraphWarning, warn_user
from anysize._schema import fields, list_of, scalar, text
from anysize._text import plural
from anysize._typing import TargetKind

MAX_TARGETS_SHOWN = 12
LEAST_WEIGHT = 2.0  # of all training graphs: weights that sum to 1 are shares, not numbers of graphs

Labels = NDArray[Any]
# The fitted state of an estimator: a dictionary for JSON, and numeric arrays.
State = tuple[dict[str, Any], dict[str, NDArray[Any]]]


def labels_of(graphs: Any, y: ArrayLike | None = None) -> Labels:
    """The labels of graphs (or of a table of counts): ``y``, or the labels that they carry if it is None.

    >>> from anysize import GraphSet
    >>> labels_of(GraphSet.from_edges([[(0, 1)], [(0, 1), (1, 2)]], y=["a", "b"])).tolist()
    ['a', 'b']
    """
    given = getattr(graphs, "y", None) if y is None else y
    labels = None if given is None else label_array(given)
    if labels is None:
        raise ValueError(
            "expected a label for every graph; these graphs have none: pass y (labels of PyG graphs are used if each "
            "graph has a y with exactly one number)"
        )
    if labels.shape != (len(graphs),):
        got = f"y of shape {labels.shape}" if labels.ndim else f"a {type(given).__name__}: pass a list or an array"
        if labels.ndim == 2:
            got += "; choose one of several targets, such as graphs.target(name) (--y NAME), or one column of y"
        raise ValueError(f"expected one label for each of the {len(graphs)} graphs; got {got}")
    check_complete(labels)
    if (names := getattr(graphs, "names", None)) is not None:
        warn_of_order(given, names)
    return np.asarray(labels)


def labels_or_targets(graphs: Any, y: Any = None) -> tuple[Labels, tuple[str, ...]]:
    """The labels of graphs as from `labels_of`, and no names; or a table with several targets, and their names.

    >>> labels_or_targets([0, 0], [[0, None], [1, 0]])[1], labels_or_targets([0, 0], ["a", "b"])[1]
    (('0', '1'), ())
    """
    targets = getattr(graphs, "targets", ())
    if y is None and targets:
        return graphs.y, targets
    if y is None or not is_table(y):
        return labels_of(graphs, y), ()
    table, names = target_table(y)
    if len(table) != len(graphs):
        raise ValueError(
            f"expected a row of targets for each of the {len(graphs)} graphs; got {plural(len(table), 'row')}"
        )
    if (graph_names := getattr(graphs, "names", None)) is not None:
        warn_of_order(y, graph_names)
    return table, names


def warn_of_order(y: Any, names: Sequence[str]) -> None:
    """Warn if the index of a pandas series has the names of the graphs in another order: its index is not used."""
    index = getattr(y, "index", None)
    if index is None or not hasattr(index, "tolist"):  # no index of pandas, but perhaps the method of a list
        return
    order = index.tolist()
    if order != list(names) and sorted(map(str, order)) == sorted(names):
        warn_user(
            "The index of y has the names of the graphs in another order, and labels are taken by position; to take "
            "them by name, bring y into the order of the names of the GraphSet.",
            GraphWarning,
        )


def check_complete(labels: Labels) -> None:
    """An error if a graph has no label: a number that is not finite, or an empty string, or numpy's text of a NaN."""
    if labels.dtype.kind not in "fU":
        return
    absent = ~np.isfinite(labels) if labels.dtype.kind == "f" else np.isin(labels, ("", "nan"))
    if absent.any():
        graph = int(absent.argmax())
        raise ValueError(
            f"expected a label for every graph; graph {graph} has {labels[graph].item()!r}: leave out the "
            f"{int(absent.sum()):,} of {len(labels):,} graphs without a label"
        )


def label_array(y: ArrayLike) -> Labels:
    """Labels as an array of numbers or of strings; a column, as of a data frame or of PyG labels, as its entries.

    An error for a mix of strings and other values, which numpy would turn into strings, and for anything else, such as
    None.

    >>> label_array(["a", "b"]).tolist(), label_array([[0], [1]]).tolist()
    (['a', 'b'], [0, 1])
    """
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        y = labels = labels[:, 0]
    if labels.ndim != 1 or not len(labels):
        return labels
    if labels.dtype == object:  # strings of pandas, and integers with missing values
        held = labels.tolist()
        if all(isinstance(label, (bool, int, float, np.number, np.bool_)) for label in held):
            return np.array(held)
    elif labels.dtype.kind == "U" and isinstance(y, (list, tuple)):
        held = list(y)
    elif labels.dtype.kind in "biufU":
        return labels
    else:  # bytes, dates, complex numbers
        held = labels.tolist()
    kinds = {str if isinstance(label, str) else type(label) for label in held}
    if kinds != {str}:
        raise ValueError(
            f"labels must be numbers or all be strings; got {', '.join(sorted(kind.__name__ for kind in kinds))}. "
            "Leave out graphs without a label"
        )
    return labels.astype(np.str_)


# ---- several targets --------------------------------------------------------------------------------


def is_table(y: Any) -> bool:
    """Whether labels are a table with several targets: a row of them for every graph.

    >>> is_table([[0, None], [1, 0]]), is_table([[0], [1]]), is_table([0, 1])
    (True, False, False)
    """
    if isinstance(y, (list, tuple)) and y and isinstance(y[0], (list, tuple)):
        return {len(row) if isinstance(row, (list, tuple)) else 1 for row in y} != {1}
    return np.ndim(y) == 2 and np.shape(y)[1] != 1


def target_table(y: Any, names: Sequence[str] | None = None) -> tuple[Labels, tuple[str, ...]]:
    """Targets as an array (graphs, targets), and their names: those given, those of the columns, or 0, 1, ...

    Numbers as floats with NaN where there is none; with text an array of objects with None there.

    >>> table, names = target_table([[1, None], [0, 1]], ["A", "B"])
    >>> table.tolist(), names
    ([[1.0, nan], [0.0, 1.0]], ('A', 'B'))
    """
    rows = y.to_numpy(object).tolist() if hasattr(y, "to_numpy") else [*y]
    rows = [row.tolist() if hasattr(row, "tolist") else list(row) if isinstance(row, tuple) else row for row in rows]
    lengths = {len(row) if isinstance(row, list) else -1 for row in rows}
    if len(lengths) != 1 or min(lengths) < 1:
        raise ValueError(
            "expected a row with all targets for every graph, NaN or None where there is none; got rows of different "
            "lengths"
        )
    names = tuple(map(str, getattr(y, "columns", range(len(rows[0]))) if names is None else names))
    if len(set(names)) < len(names) or len(names) != len(rows[0]):
        raise ValueError(f"expected {len(rows[0])} different names of targets; got {', '.join(names):.200}")
    table = np.array([[None if _is_missing(value) else value for value in row] for row in rows], object)
    values = {type(value) for value in table.ravel().tolist() if value is not None}
    if table.ndim != 2 or any(issubclass(kind, (list, tuple, np.ndarray)) for kind in values):
        raise ValueError("expected numbers or strings as targets; got lists inside of rows")
    if all(issubclass(kind, (bool, int, float, np.number, np.bool_)) for kind in values):
        table = table.astype(np.float64)
        if np.isinf(table).any():
            raise ValueError("expected finite numbers as targets, NaN or None where there is none; got inf")
    return table, names


def _is_missing(value: Any) -> bool:
    """Whether a value says that there is no label: None, NaN, missing values of pandas, an empty string."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or value == "" or value != value


def known_targets(table: Labels, column: int) -> tuple[NDArray[np.int64], Labels]:
    """The positions of the graphs that have a target, and their labels; whole numbers are integers.

    >>> known_targets(target_table([[1, None], [0, 1]])[0], 1)
    (array([1]), array([1]))
    """
    values = table[:, column]
    rows = np.flatnonzero([value is not None and value == value for value in values.tolist()])
    labels = label_array(values[rows].tolist())
    whole = labels.dtype.kind == "f" and (labels == np.floor(labels)).all() and (np.abs(labels) < 2**53).all()
    return rows, labels.astype(np.int64) if whole else labels


def target_position(targets: Sequence[str], name: str) -> int:
    """The position of a target; an error that lists the targets if there is none of this name."""
    if name not in targets:
        shown = ", ".join(targets[:MAX_TARGETS_SHOWN]) + (", ..." if len(targets) > MAX_TARGETS_SHOWN else "")
        near = get_close_matches(name, targets, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"the targets are {shown}" if targets else "there are none"
        raise ValueError(f"there is no target {name!r}: {hint}")
    return list(targets).index(name)


# ---- classes and numbers ----------------------------------------------------------------------------


def distinct_classes(labels: Labels) -> Labels:
    """The distinct classes in ascending order; an error if there are fewer than two, or fractions."""
    classes: Labels = np.unique(labels)
    if classes.dtype.kind == "f" and (fractions := classes[classes != np.floor(classes)]).size:
        raise ValueError(
            f"classes must be whole numbers or strings; got {fractions[0].item()!r}: GraphRegressor (anysize fit "
            "--target COLUMN) predicts numbers"
        )
    if len(classes) < 2:
        raise ValueError(f"expected training graphs of at least two classes; got {classes.tolist()}")
    return classes


def target_kind(labels: Labels) -> TargetKind:
    """What labels seem to be: numbers to predict if some are fractions, else classes.

    >>> target_kind(np.array([0.0, 1.0])), target_kind(np.array([0.5, 1.0])), target_kind(np.array(["a"]))
    ('classes', 'numbers', 'classes')
    """
    return "numbers" if labels.dtype.kind == "f" and (labels != np.floor(labels)).any() else "classes"


def as_numbers(labels: Labels) -> NDArray[np.float64]:
    """Labels as numbers to predict; an error for strings.

    >>> as_numbers(np.array([1, 2])).tolist()
    [1.0, 2.0]
    """
    if labels.dtype.kind not in "biuf":
        raise ValueError(
            f"expected a number for every graph; got {labels.tolist()[0]!r}: GraphClassifier (anysize fit --y COLUMN) "
            "predicts classes"
        )
    return labels.astype(np.float64)


def checked_weights(sample_weight: ArrayLike | None, graphs: int) -> NDArray[np.float64] | None:
    """How often each graph counts, (graphs,); None if each counts once. An error unless all are finite and not below 0.

    >>> checked_weights([1, 0, 2.5], 3).tolist(), checked_weights([1, 1, 1], 3)
    ([1.0, 0.0, 2.5], None)
    """
    if sample_weight is None:
        return None
    try:
        weights = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight must hold one number per graph; got {sample_weight!r:.60}") from None
    if weights.shape != (graphs,):
        raise ValueError(f"sample_weight must hold one number for each of {graphs} graphs; got shape {weights.shape}")
    if not (np.isfinite(weights).all() and (weights >= 0).all()):
        wrong = weights[~(np.isfinite(weights) & (weights >= 0))][0]
        raise ValueError(f"sample_weight must hold finite numbers of at least 0; got {wrong:g}")
    return None if (weights == 1).all() else weights


def training_weights(
    sample_weight: ArrayLike | None, graphs: int
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Positions of the training graphs whose weight is above 0, and how often each of these counts; None: once.

    An error if they count as hardly any graph.

    >>> training_weights([1, 0, 2.5], 3)
    (array([0, 2]), array([1. , 2.5]))
    """
    weights = None if sample_weight is None else checked_weights(sample_weight, graphs)
    if weights is None:
        return np.arange(graphs), None
    if weights.sum() < LEAST_WEIGHT:
        raise ValueError(
            f"sample_weight says how often each graph counts, and these weights, zero or close to it, count as "
            f"{weights.sum():.3g} graphs in all; scale them, for example to a mean of 1"
        )
    rows = np.flatnonzero(weights)
    return rows, None if (weights[rows] == 1).all() else weights[rows]


def classes_to_json(classes: Labels) -> dict[str, Any]:
    """Classes as a dictionary for JSON, without loss."""
    return {"dtype": classes.dtype.str, "values": classes.tolist()}


_CLASSES = fields(
    {"dtype": text("[<>|=]?[biufU][0-9]{1,5}", "a dtype of numbers or strings"), "values": list_of(scalar)}
)


def classes_from_json(held: dict[str, Any]) -> Labels:
    """Classes from the result of `classes_to_json`.

    >>> classes_from_json({"dtype": "<i8", "values": [-1, 1]})
    array([-1,  1])
    """
    held = _CLASSES(held, "classes")
    kind = {"U": str, "f": float, "b": bool}.get(np.dtype(held["dtype"]).kind, int)
    if not all(type(value) is kind for value in held["values"]):
        raise ValueError(f"classes.values: expected {kind.__name__} values only")
    classes = np.array(held["values"], dtype=held["dtype"])
    if classes.tolist() != held["values"] or len(np.unique(classes)) != len(classes):
        raise ValueError("classes.values: expected different values that fit their dtype")
    return classes
