"""Tasks made of any graphs: the split rule, the sentence about the shift, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anysize as az
from anysize.evaluation.describe import describe, shift
from anysize.evaluation.tasks import size_split
from anysize.paper.tasks import TASKS
from anysize.splits import hold_out


def rings(sizes: list[int], y: list[int] | None = None, colors: list[int] | None = None) -> az.GraphSet:
    """Cycles of these sizes, all vertices of one color each."""
    edges = [[(i, (i + 1) % n) for i in range(n)] for n in sizes]
    named = None if colors is None else [[color] * n for n, color in zip(sizes, colors, strict=True)]
    return az.GraphSet.from_edges(
        edges, n_vertices=sizes, colors=named, y=[0, 1] * (len(sizes) // 2) if y is None else y
    )


@given(
    st.lists(st.integers(3, 40), min_size=20, max_size=60), st.integers(1, 70), st.integers(1, 29), st.integers(0, 9)
)
def test_the_split_is_the_rule(sizes: list[int], below: int, gap: int, seed: int) -> None:
    graphs = rings(sizes, y=[i % 2 for i in range(len(sizes))])
    above = below + gap
    low, high = np.percentile(sizes, [below, above])
    pool = [i for i, size in enumerate(sizes) if size <= low]
    kept = hold_out(np.array(pool, np.int64), 0)[0]  # of the split with seed 0, by which a task is checked
    if low >= high or len({i % 2 for i in kept.tolist()}) < 2:
        with pytest.raises(ValueError, match=r"differ too little in size|have one class"):
            size_split(graphs, below, above)
        return
    splits = size_split(graphs, below, above).splits(seed=seed)
    assert sorted(splits.test.sizes.tolist()) == sorted(size for size in sizes if size >= high)
    held = [] if splits.validation is None else splits.validation.sizes.tolist()
    assert len(held) == int(0.1 * len(pool))
    assert sorted(splits.train.sizes.tolist() + held) == sorted(sizes[i] for i in pool)
    assert set(splits.environments(splits.train).tolist()) <= {0, 1}


def test_labels_become_class_numbers_in_order() -> None:
    task = size_split(rings(list(range(3, 43)), y=[9, -4] * 20))
    splits = task.splits()
    assert splits.classes == ("-4", "9")
    assert splits.train.y.dtype == np.int64
    assert all((graphs.y == (graphs.sizes % 2 == 1)).all() for graphs in splits.sets.values())


def test_other_kinds_of_graphs_with_their_labels_beside() -> None:
    nx = pytest.importorskip("networkx")
    graphs = [nx.path_graph(n) for n in range(2, 32)]
    task = size_split(graphs, 40, 80, y=["a", "b"] * 15, name="paths", k=3)
    assert (task.name, task.k, task.metric, task.folds) == ("paths", 3, "accuracy", 0)
    assert task.splits().train.sizes.max() <= 13
    assert task.splits(seed=1).test.equals(task.splits(seed=2).test)


@pytest.mark.parametrize(
    ("large", "words"),
    [(21, "Hardly any shift"), (25, "A weak shift"), (40, "A clear shift"), (80, "A strong shift")],
)
def test_a_sentence_says_how_strong_the_shift_is(large: int, words: str) -> None:
    sentence = shift(size_split(rings([20] * 30 + [large] * 10)).splits())
    assert sentence.startswith(
        f"{words}: test graphs have {large / 20:.1f} times as many vertices (mean {large:.1f}, training 20.0); "
        "none of them lies within the sizes seen in training; "
    )


def test_sizes_shift_also_where_no_class_is_in_both_parts() -> None:
    graphs = rings([20] * 30 + [80] * 10, y=[0, 1] * 15 + [2] * 10)
    assert shift(size_split(graphs).splits()).startswith("A strong shift: test graphs have 4.0 times")


def test_moving_classes_and_colors_are_told() -> None:
    sizes = [10] * 20 + [20] * 20
    task = size_split(rings(sizes, y=[0, 1] * 10 + [1] * 20, colors=[5] * 20 + [5, 6] * 10), 50, 51)
    splits = task.splits(seed=0)
    moved = np.mean(splits.train.y == 0)  # test graphs have class 1 alone
    sentence = f"class shares move by {moved:.2f}; color shares by 0.50; no test graph has the class 0."
    assert shift(splits).endswith(sentence)


def test_a_class_that_training_lacks_is_told() -> None:
    graphs = rings([10] * 20 + [20] * 20, y=[0, 1] * 10 + [2] * 20)
    assert "no training graph has the class 2" in shift(size_split(graphs, 50, 51).splits())


def test_shift_of_other_splits_names_seen_sizes() -> None:
    splits = TASKS["schizophrenia-like"].splits(0)
    assert "50 % of them lie within the sizes seen in training" in shift(splits)
    assert shift(splits).startswith("A clear shift: test graphs have 0.8 times as many vertices")
    train, test = describe(splits)
    assert train.environments == {"264 vertices": 125}
    assert test.shares == {"control": 0.5, "schizophrenia": 0.5}


def test_nonsense_is_refused() -> None:
    graphs = rings(list(range(3, 43)))
    for below, above in ((60, 40), (50, 50), (-1, 90), (50, 101), (float("nan"), 90)):
        with pytest.raises(ValueError, match="0 <= train_below < test_above <= 100"):
            size_split(graphs, below, above)
    with pytest.raises(ValueError, match="needs classes"):
        size_split(graphs.with_y(None))
    with pytest.raises(ValueError, match="differ too little in size"):
        size_split(rings([7] * 30))
    with pytest.raises(ValueError, match="have one class"):
        size_split(rings(list(range(3, 43)), y=[0] * 30 + [1] * 10))
    with pytest.raises(ValueError, match="at least two classes"):
        size_split([], y=[])
    with pytest.raises(ValueError, match="one data set"):
        size_split(graphs).splits(3)
