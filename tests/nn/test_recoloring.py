"""Patterns and recolored copies: one batch, the same topology, the same identities, uniform colors."""

from __future__ import annotations

from functools import partial
from itertools import permutations as orders
from typing import Any

import numpy as np
import pytest
import torch
from nn.helpers import (
    Union,
    batch_of,
    by_pattern,
    doubled,
    plain_copy,
    random_columns,
    randomized,
    same_averages,
    same_gradients,
)  # fmt: skip
from scipy.sparse import csr_array, random_array
from scipy.stats import chi2
from torch import Tensor

from anysize.counting.columns import Columns
from anysize.nn.gamma import GammaGNN, GammaRP, read_out
from anysize.nn.layers import BatchNorm
from anysize.nn.rows.class_table import color_class_table, identity_class_table
from anysize.nn.rows.maps import Sparse
from anysize.nn.rows.recoloring import RecoloredPatterns

GRAPHS, HIDDEN = 6, 5


def densities_of(columns: Columns, seed: int = 0) -> csr_array:
    """Multiples of 1/8, which are exact in single precision."""
    found = csr_array(random_array((GRAPHS, len(columns)), density=0.4, random_state=seed))
    found.data = np.round(found.data * 8) / 8
    return found


def drawn_marks(columns: Columns, step: int, permutations: int | None = None, **given: Any) -> Any:
    """Colors (sides, copies, patterns, k), and identities (copies, patterns, k) or None; 0 for padding."""
    batch = batch_of(columns)
    inputs = RecoloredPatterns.of(batch, densities_of(columns), 1, permutations, **given).inputs
    marks = by_pattern(batch, inputs(step)[0]).reshape(-1, inputs.copies, *batch.colors.shape)
    if permutations is None:
        return marks, None
    colors, identities = np.divmod(marks, batch.k)
    assert (identities == identities[:1]).all(), "F and H carry the same identities"
    return colors, identities[0]


def both_sides(columns: Columns, colors: np.ndarray, identities: np.ndarray | None) -> tuple[Union, Union]:
    """F and H for PyG, from the marks of a draw."""
    plain = Union(columns, per_pattern=identities)
    twin = Union(columns, colors[1, 0], per_pattern=identities)
    return plain, twin


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("permutations", [None, 4])
@pytest.mark.parametrize("share_rows", [True, False])
def test_a_draw_is_one_batch_of_both_sides(permutations: int | None, layers: int, share_rows: bool) -> None:
    """Graphs, differences, running averages and gradients are those of PyG on F and H together."""
    columns = random_columns((1, 2, 4), 8, 3, seed=2)
    batch, densities = batch_of(columns), densities_of(columns)
    colors, identities = drawn_marks(columns, 7, permutations)
    f, h = both_sides(columns, colors, identities)
    inputs = f.x.shape[1]
    make = GammaGNN if permutations is None else GammaRP
    stack = randomized(make(2, inputs, HIDDEN, layers), [1, 2])
    plains = [plain_copy(stack, inputs, model, f.degrees) for model in range(2)]
    patterns = RecoloredPatterns.of(batch, densities, layers, permutations, share_rows=share_rows)
    drawn = doubled(patterns.draw(7))
    rows = stack.encode(drawn.structure)
    graphs, moved = read_out(rows, drawn.readouts), read_out(rows, drawn.differences)
    outer = [
        torch.randn(t.shape, generator=torch.Generator().manual_seed(3), dtype=torch.float64) for t in (graphs, moved)
    ]
    ((graphs * outer[0]).sum() + (moved * outer[1]).sum()).backward()
    full = torch.from_numpy(densities.toarray())
    for model, plain in enumerate(plains):
        both = f + h
        levels = [both.read(level) for level in reversed(plain(both.x, both.edges))]
        found = torch.cat(levels, dim=1)
        of_f, of_h = found[: len(columns)], found[len(columns) :]
        torch.testing.assert_close(graphs[model], full @ of_f, rtol=1e-9, atol=1e-9)
        torch.testing.assert_close(moved[model], of_f - of_h, rtol=1e-9, atol=1e-9)
        ((full @ of_f * outer[0][model]).sum() + ((of_f - of_h) * outer[1][model]).sum()).backward()
        same_gradients(stack, plain, model)
        same_averages(stack, plain, model)


def all_results(patterns: RecoloredPatterns, step: int = 7) -> list[Tensor]:
    """Graphs, differences, running variances and gradients of a stack, one model for each seed."""
    make = GammaGNN if patterns.inputs.permutations is None else GammaRP
    models = len(patterns.seed)
    inputs = patterns.inputs.features.shape[1]
    stack = randomized(make(models, inputs, HIDDEN, patterns.layers), list(range(models)))
    drawn = doubled(patterns.draw(step))
    rows = stack.encode(drawn.structure)
    found = [read_out(rows, drawn.readouts), read_out(rows, drawn.differences)]
    sum((part**2).sum() for part in found).backward()
    states = [part.running_var for part in stack.modules() if isinstance(part, BatchNorm)]
    gradients = [parameter.grad for parameter in stack.parameters() if parameter.requires_grad]
    return [*found, *states, *gradients]


MANY_SEEDS = [(None, [5]), (None, [3, 7, 3]), (4, [5, 5])]


@pytest.mark.parametrize(("permutations", "seeds"), MANY_SEEDS)
@pytest.mark.parametrize("layers", [1, 2, 3])
@pytest.mark.parametrize("few", [True, False])
def test_shared_rows_and_own_rows_are_the_same(
    permutations: int | None, seeds: list[int], layers: int, few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values, gradients and averages of batch norm, with and without a table of the classes after one layer."""
    if not few:
        monkeypatch.setattr("anysize.nn.rows.class_table.MAX_TABLE_CODES", 0)
    columns = random_columns((1, 3, 5), 20, 4, seed=2)
    batch, densities = batch_of(columns), densities_of(columns)
    shared, own = (
        RecoloredPatterns.of(batch, densities, layers, permutations, seeds=seeds, share_rows=share_rows)
        for share_rows in (True, False)
    )
    assert (shared.table is not None) == few
    for one, other in zip(all_results(shared), all_results(own), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seeds", [[5], [3, 7, 3]])
def test_equal_vertices_of_a_draw_share_a_row(seeds: list[int]) -> None:
    columns = random_columns((1, 2, 3, 4), 40, 2, seed=3)
    batch = batch_of(columns)
    levels = RecoloredPatterns.of(batch, densities_of(columns), 3, seeds=seeds).draw(7).structure.levels
    for level in levels:
        assert level.weight is not None
        assert level.weight.shape[-1] < batch.present.sum()
        assert (level.weight.sum(-1) == 2 * batch.present.sum()).all()


def test_mini_batches_read_the_same_graphs() -> None:
    columns = random_columns((3, 4), 10, 3)
    for permutations, share_rows in ((None, True), (2, True), (None, False)):
        patterns = RecoloredPatterns.of(
            batch_of(columns), densities_of(columns), 2, permutations, share_rows=share_rows
        )
        make = GammaGNN if permutations is None else GammaRP
        stack = randomized(make(2, patterns.inputs.features.shape[1], HIDDEN, 2), [0, 1])
        drawn = doubled(patterns.draw(1))
        rows = stack.encode(drawn.structure)
        whole = read_out(rows, drawn.readouts)
        for items in (torch.tensor([4, 1]), torch.tensor([[4, 1], [0, 5]])):
            part = read_out(rows, {level: readout.rows(items) for level, readout in drawn.readouts.items()})
            expected = [graphs[numbers] for graphs, numbers in zip(whole, items.expand(2, -1), strict=True)]
            torch.testing.assert_close(part, torch.stack(expected))


def test_without_jumping_knowledge_the_last_level_alone_is_read() -> None:
    columns = random_columns((3, 4), 10, 3)
    drawn = RecoloredPatterns.of(batch_of(columns), densities_of(columns), 2, jumping=False).draw(1)
    assert list(drawn.readouts) == list(drawn.differences) == [2]


def test_f_keeps_its_colors_and_h_has_uniform_ones() -> None:
    columns = random_columns((5,), 40, 4)
    twin_colors = []
    for step in range(50):
        colors, _ = drawn_marks(columns, step)
        assert np.array_equal(colors[0, 0], batch_of(columns).colors)
        twin_colors.append(colors[1, 0])
    h = np.stack(twin_colors)
    expected = h.size / 4
    assert chi2.sf(((np.bincount(h.reshape(-1), minlength=4) - expected) ** 2 / expected).sum(), 3) > 1e-3
    flat = h.reshape(50, -1).astype(float)
    assert abs(np.corrcoef(flat[:-1].reshape(-1), flat[1:].reshape(-1))[0, 1]) < 0.05  # steps differ
    pairs = np.bincount(h[..., 0].reshape(-1) * 4 + h[..., 1].reshape(-1), minlength=16)
    assert chi2.sf(((pairs - pairs.mean()) ** 2 / pairs.mean()).sum(), 15) > 1e-3  # neighbors too


def test_identities_are_uniform_permutations_of_every_pattern_in_every_step() -> None:
    columns = random_columns((3,), 200, 2)
    seen: dict[tuple[int, ...], int] = dict.fromkeys(orders(range(3)), 0)
    for step in range(10):
        _, identities = drawn_marks(columns, step, permutations=2)
        assert not np.array_equal(identities[0], identities[1])
        for row in identities.reshape(-1, 3):
            seen[tuple(row.tolist())] += 1
    amounts = np.array(list(seen.values()))
    assert chi2.sf(((amounts - amounts.mean()) ** 2 / amounts.mean()).sum(), 5) > 1e-3


def test_as_many_permutations_as_there_are_means_all_of_them() -> None:
    columns = random_columns((3,), 4, 2)
    for permutations in (6, 100):
        _, identities = drawn_marks(columns, 1, permutations)
        for pattern in range(4):
            assert sorted(map(tuple, identities[:, pattern].tolist())) == list(orders(range(3)))


@pytest.mark.parametrize("permutations", [None, 3])
def test_one_color_makes_no_difference_at_all(permutations: int | None) -> None:
    columns = random_columns((4,), 10, 1)
    pairs = RecoloredPatterns.of(batch_of(columns), densities_of(columns), 2, permutations)
    inputs = 1 if permutations is None else 5
    stack = randomized((GammaGNN if permutations is None else GammaRP)(2, inputs, HIDDEN, 2), [1, 2])
    drawn = doubled(pairs.draw(3))
    moved = read_out(stack.encode(drawn.structure), drawn.differences)
    assert moved.shape[:2] == (2, 10)
    torch.testing.assert_close(moved, torch.zeros_like(moved), rtol=0, atol=1e-12)


def test_without_recoloring_there_are_no_differences_and_only_identities_are_drawn() -> None:
    columns = random_columns((4,), 10, 3)
    pairs = RecoloredPatterns.of(batch_of(columns), densities_of(columns), 1, 3, recolor=False)
    drawn = pairs.draw(1)
    assert drawn.differences == {}
    assert drawn.structure.levels[0].weight.sum() == 10 * 4 * 3
    full = densities_of(columns).toarray()
    counts: Tensor = drawn.readouts[0](drawn.structure.features[None])[0]
    sizes = batch_of(columns).present.sum(1)
    np.testing.assert_allclose(counts[:, 3:].sum(1), full @ sizes, rtol=1e-5)


def test_steps_differ_and_repeat() -> None:
    columns = random_columns((4,), 10, 3)
    first, again, other = (drawn_marks(columns, step)[0] for step in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert not np.array_equal(first, drawn_marks(columns, 3, seeds=[1])[0])


def test_every_model_sees_the_recolorings_of_its_seed() -> None:
    columns = random_columns((3, 4), 12, 3)
    batch, densities = batch_of(columns), densities_of(columns)
    make = partial(RecoloredPatterns.of, batch, densities, 2)
    together = make(seeds=[3, 7]).inputs(5)
    alone = torch.cat([make(seeds=[seed]).inputs(5) for seed in (3, 7)])
    assert torch.equal(together, alone)
    assert torch.equal(together[0, 0], together[1, 0])  # F
    assert not torch.equal(together[0, 1], together[1, 1])  # H
    with pytest.raises(ValueError, match=r"one seed; got \[3, 7\]"):
        RecoloredPatterns.of(batch, densities, 1, permutations=2, seeds=[3, 7])


@pytest.mark.parametrize(("colors", "k"), [(2, 3), (3, 4), (1, 5)])
def test_tables_hold_every_class_once(colors: int, k: int) -> None:
    plain, identified = color_class_table(colors, k), identity_class_table(colors, k)
    for table, alone in ((plain, False), (identified, False), (color_class_table(colors, k, True), True)):
        assert table is not None
        assert table.level.index is not None
        inputs = len(table.digit)
        full: Tensor = table.level.sum_neighbors(torch.eye(inputs)[None])[0]
        rows = torch.cat([table.level.index[:, None].float(), full], dim=1)
        assert len(rows.unique(dim=0)) == len(table)
        assert (full.sum(1).min() == 0) == alone
        near = [[mark for mark, n in enumerate(row.int().tolist()) for _ in range(n)] for row in full]
        # vertices: one of every class, then one of every input class to be their neighbors
        first = np.cumsum([0, *map(len, near), *[0] * inputs])
        index = np.array([len(table) + mark for marks in near for mark in marks], np.int64)
        neighbors = Sparse(torch.from_numpy(first), torch.from_numpy(index), None, len(table) + inputs)
        marks = torch.cat([table.level.index, torch.arange(inputs)])
        assert torch.equal(table.classes(marks[None], neighbors)[0, : len(table)], torch.arange(len(table)))
    assert identity_class_table(40, 7) is None
    assert color_class_table(40, 7) is None
