"""What all tasks share: arguments, environments and folds."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anysize as az
from anysize.evaluation.describe import describe
from anysize.evaluation.tasks import Splits
from anysize.paper.tasks import TASKS
from anysize.splits import median_cut, stratified_folds


@pytest.mark.parametrize("data", [-1, 1.0, True, "7", "fresh"])
def test_data_is_published_or_a_seed(data: Any) -> None:
    with pytest.raises(ValueError, match="data is 'published' or a seed"):
        TASKS["sbm-20"].splits(data)


@pytest.mark.parametrize("seed", [-1, 0.5, True, "1"])
def test_seeds_are_whole_numbers(seed: Any) -> None:
    with pytest.raises(ValueError, match="seed must be an integer"):
        TASKS["sbm-20"].splits(0, seed=seed)


def test_without_data_the_published_ones_are_taken_where_there_are_some() -> None:
    assert TASKS["sbm-20"].splits().train.equals(TASKS["sbm-20"].splits("published").train)
    assert TASKS["sbm-color"].splits().train.equals(TASKS["sbm-color"].splits(0).train)
    assert not TASKS["sbm-20"].splits().train.equals(TASKS["sbm-20"].splits(0).train)


def test_numpy_integers_are_seeds_too() -> None:
    assert TASKS["sbm-20"].splits(np.int64(3)).train.equals(TASKS["sbm-20"].splits(3).train)


def test_tasks_travel_to_other_processes() -> None:
    sent = pickle.loads(pickle.dumps(TASKS["sbm-20"]))
    assert sent == TASKS["sbm-20"]
    assert sent.splits(1).test.equals(TASKS["sbm-20"].splits(1).test)


# ---- environments ---------------------------------------------------------------------------------------


def splits_of(grouping: str, train: list[int], validation: list[int] | None, test: list[int]) -> Splits:
    """Graphs of these sizes, without edges."""
    sets = [
        None if sizes is None else az.GraphSet.from_edges([[]] * len(sizes), n_vertices=sizes, y=[0] * len(sizes))
        for sizes in (train, validation, test)
    ]
    return Splits(*sets, ("a",), replace(TASKS["sbm-20"], environments=grouping))  # type: ignore[arg-type]


def environments(splits: Splits) -> dict[str, list[int]]:
    """The environment of every graph, as methods get it."""
    return {name: examples.environments.tolist() for name, examples in splits.examples.items()}  # type: ignore[union-attr]


def test_sizes_are_environments() -> None:
    splits = splits_of("size", [20, 14, 20], [14, 16], [40, 5])
    assert environments(splits) == {"train": [20, 14, 20], "validation": [14, 16], "test": [40, 5]}
    train, validation, test = describe(splits)
    assert train.environments == {"14 vertices": 1, "20 vertices": 2}
    assert validation.environments == {"14 vertices": 1, "16 vertices": 1}
    assert test.environments == {"5 vertices": 1, "40 vertices": 1}


def test_the_median_of_training_parts_all_sets() -> None:
    splits = splits_of("median", [3, 9, 5, 5], None, [5, 6])
    assert environments(splits) == {"train": [0, 1, 0, 0], "test": [0, 1]}
    assert describe(splits)[0].environments == {"up to 5 vertices": 3, "more than 5 vertices": 1}


def test_both_environments_have_graphs_wherever_sizes_differ() -> None:
    """The median can be the largest size."""
    splits = splits_of("median", [5, 6, 9, 9, 9, 9], None, [6, 7, 20])
    assert environments(splits) == {"train": [0, 0, 1, 1, 1, 1], "test": [0, 1, 1]}
    assert describe(splits)[1].environments == {"up to 6 vertices": 1, "more than 6 vertices": 2}


@given(st.lists(st.integers(0, 30), min_size=1, max_size=20))
def test_the_cut_is_the_median_or_just_below_the_largest_size(drawn: list[int]) -> None:
    sizes = np.array(drawn)
    cut = median_cut(sizes)
    assert len(set((sizes > cut).tolist())) == (1 if len(set(drawn)) == 1 else 2)
    if np.median(sizes) < sizes.max():
        assert cut == np.median(sizes)


# ---- folds ------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(0, 2), min_size=15, max_size=60), st.integers(2, 5), st.integers(0, 20))
def test_folds_are_even_in_every_class(drawn: list[int], folds: int, seed: int) -> None:
    y = np.array(drawn)
    amounts = np.unique(y, return_counts=True)[1]
    if amounts.min() < folds:
        with pytest.raises(ValueError, match=f"{folds} folds need at least {folds} training graphs of every class"):
            stratified_folds(y, folds, seed)
        return
    fold = stratified_folds(y, folds, seed)
    for part in (fold, *(fold[y == value] for value in np.unique(y))):
        counted = np.bincount(part, minlength=folds)
        assert counted.max() - counted.min() <= 1
