"""Color refinement against nested tuples."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from nn.helpers import batch_of, random_columns

from anysize.nn.rows.refinement import build_levels, readout_matrices, refine


def slow(neighbors: np.ndarray, start: np.ndarray, rounds: int) -> list[list[Any]]:
    """Classes of vertices as nested tuples."""
    names: list[Any] = start.tolist()
    found = [names]
    for _ in range(rounds):
        names = [
            (names[v], tuple(sorted((names[u] for u in near if u >= 0), key=repr))) for v, near in enumerate(neighbors)
        ]
        found.append(names)
    return found


def random_graph(vertices: int, d: int, seed: int) -> np.ndarray:
    """Lists of up to d neighbors, padded with -1."""
    source = np.random.default_rng(seed)
    table = np.full((vertices, d), -1)
    for v in range(vertices):
        amount = source.integers(0, d + 1)
        table[v, :amount] = source.choice(np.delete(np.arange(vertices), v), amount, replace=False)
    return table


@pytest.mark.parametrize("seed", range(5))
def test_classes_are_those_of_the_slow_way(seed: int) -> None:
    near = random_graph(60, 3, seed)
    start = np.random.default_rng(seed).integers(-1, 3, 60)
    for step, names in zip(refine(near, start, 3), slow(near, start, 3), strict=True):
        counted = Counter(names)
        assert len(step) == len(counted)
        assert len(set(zip(step.classes.tolist(), names, strict=True))) == len(counted)  # one to one
        assert [counted[names[v]] for v in step.example] == step.size.tolist()
        assert step.classes[step.example].tolist() == list(range(len(step)))


def test_levels_look_at_the_right_rows_below() -> None:
    near, colors, _ = batch_of(random_columns((2, 3, 4, 5), 30, 3)).vertices
    steps = refine(near, colors, 2)
    for level, below, above in zip(build_levels(near, steps, True), steps[:-1], steps[1:], strict=True):
        matrix = level.neighbor_sums.matrix.numpy()
        for row, vertex in enumerate(above.example):
            expected = Counter(below.classes[near[vertex][near[vertex] >= 0]].tolist())
            assert {int(c): int(matrix[row, c]) for c in np.flatnonzero(matrix[row])} == dict(expected)
            assert level.self_index[row] == below.classes[vertex]
            assert level.degree[row] == (near[vertex] >= 0).sum()
            assert level.weight[row] == (above.classes == row).sum()
        taken = np.sort(np.where(level.neighbors.present > 0, level.neighbors.index, -1), axis=1)
        assert np.array_equal(taken, np.sort(np.append(below.classes, -1)[near[above.example]], axis=1))


def test_readouts_count_the_vertices_of_an_item() -> None:
    near, colors, item = batch_of(random_columns((3, 4), 20, 2)).vertices
    steps = refine(near, colors, 2)
    for step, matrix in zip(steps, readout_matrices(steps, item, 40, 0.5), strict=True):
        expected = np.zeros((40, len(step)))
        np.add.at(expected, (item, step.classes), 0.5)
        assert np.array_equal(matrix.toarray(), expected)


def test_classes_are_few_where_vertices_are_many() -> None:
    near, colors, _ = batch_of(random_columns((5,), 3000, 4)).vertices
    sizes = [len(step) for step in refine(near, colors, 1)]
    assert sizes[0] == 4
    assert sizes[1] <= 276  # colors by multisets of 1 to 4 neighbors
    assert len(colors) == 15_000


def test_nothing_to_refine() -> None:
    steps = refine(np.zeros((0, 2), np.int64), np.zeros(0, np.int64), 2)
    assert [len(step) for step in steps] == [0, 0, 0]
