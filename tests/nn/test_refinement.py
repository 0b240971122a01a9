"""Color refinement against nested tuples."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from nn.helpers import batch_of, random_columns

from anysize.graphs.ragged import offsets
from anysize.nn.rows.maps import take_rows
from anysize.nn.rows.refinement import VertexClasses, class_level, refine

Adjacency = tuple[np.ndarray, np.ndarray]


def near(adjacency: Adjacency, vertex: int) -> list[int]:
    indptr, indices = adjacency
    return indices[indptr[vertex] : indptr[vertex + 1]].tolist()


def refined(adjacency: Adjacency, start: np.ndarray, rounds: int) -> list[VertexClasses]:
    steps = [VertexClasses.of(start)]
    for _ in range(rounds):
        steps.append(refine(*adjacency, steps[-1].classes))
    return steps


def slow(adjacency: Adjacency, start: np.ndarray, rounds: int) -> list[list[Any]]:
    """Classes of vertices as nested tuples."""
    names: list[Any] = start.tolist()
    found = [names]
    for _ in range(rounds):
        names = [
            (name, tuple(sorted((names[u] for u in near(adjacency, v)), key=repr))) for v, name in enumerate(names)
        ]
        found.append(names)
    return found


def random_graph(vertices: int, d: int, seed: int) -> Adjacency:
    """Lists of up to d neighbors."""
    source = np.random.default_rng(seed)
    amounts = source.integers(0, d + 1, vertices)
    lists = [source.choice(np.delete(np.arange(vertices), v), n, replace=False) for v, n in enumerate(amounts)]
    return offsets(amounts), np.concatenate(lists)


@pytest.mark.parametrize("seed", range(5))
def test_classes_are_those_of_the_slow_way(seed: int) -> None:
    adjacency = random_graph(60, 3, seed)
    start = np.random.default_rng(seed).integers(-1, 3, 60)
    for step, names in zip(refined(adjacency, start, 3), slow(adjacency, start, 3), strict=True):
        counted = Counter(names)
        assert len(step) == len(counted)
        assert len(set(zip(step.classes.tolist(), names, strict=True))) == len(counted)  # one to one
        assert [counted[names[v]] for v in step.example] == step.size.tolist()
        assert step.classes[step.example].tolist() == list(range(len(step)))


def test_classes_that_share_a_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second hash shows that the first one is useless, until it is a good one."""
    distinct = np.arange(6).reshape(2, 3)
    useless = np.stack([np.zeros((2, 3), np.int64), distinct])
    draws = iter([useless, useless, np.stack([distinct, distinct]) ** 5])

    class Source:
        def integers(self, *given: Any) -> np.ndarray:
            return next(draws).astype(np.uint64)

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Source())
    path = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1])
    assert len(refine(*path, np.array([0, 1, 2]))) == 3
    assert next(draws, None) is None


def test_levels_look_at_the_right_rows_below() -> None:
    batch = batch_of(random_columns((2, 3, 4, 5), 30, 3))
    steps = refined(batch.adjacency, batch.colors[batch.present], 2)
    for below, above in pairwise(steps):
        level = class_level(*batch.adjacency, below, above, with_extremes=True)
        assert level.neighbors is not None
        h = torch.randn(1, len(below), 2)
        sums, own, (low, high) = level.sum_neighbors(h)[0], take_rows(h, level.index)[0], level.neighbors.both(h)
        for row, vertex in enumerate(above.example):
            rows = h[0, below.classes[near(batch.adjacency, vertex)]]
            torch.testing.assert_close(sums[row], rows.sum(0))
            assert torch.equal(own[row], h[0, below.classes[vertex]])
            torch.testing.assert_close(low[0, row], rows.amin(0))
            torch.testing.assert_close(high[0, row], rows.amax(0))
            assert level.degree[row] == len(rows)
            assert level.weight[row] == (above.classes == row).sum()


def test_classes_are_few_where_vertices_are_many() -> None:
    batch = batch_of(random_columns((5,), 3000, 4))
    colors = batch.colors[batch.present]
    sizes = [len(step) for step in refined(batch.adjacency, colors, 1)]
    assert sizes[0] == 4
    assert sizes[1] <= 276  # colors by multisets of 1 to 4 neighbors
    assert len(colors) == 15_000


def test_nothing_to_refine() -> None:
    nothing = np.zeros(1, np.int64), np.zeros(0, np.int64)
    assert [len(step) for step in refined(nothing, np.zeros(0, np.int64), 2)] == [0, 0, 0]
