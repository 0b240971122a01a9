"""Patterns and recolored copies: one batch, the same topology, the same identities, uniform colors."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import permutations as orders
from typing import Any

import numpy as np
import pytest
import torch
from nn.helpers import (
    Union,
    batch_of,
    doubled,
    plain_copy,
    random_columns,
    randomized,
    same_averages,
    same_gradients,
    set_degrees,
)  # fmt: skip
from scipy.sparse import csr_array, random_array
from scipy.stats import chi2
from torch import Tensor

from anysize.counting.columns import Columns
from anysize.nn.gamma import GammaGNN, GammaRP, read_out
from anysize.nn.layers import BatchNorm
from anysize.nn.rows import aggregation, recolored_pairs
from anysize.nn.rows.aggregation import Dense, PerModel, Sparse
from anysize.nn.rows.recolored_pairs import RecoloredPairs, color_class_table, identity_class_table

GRAPHS, HIDDEN = 6, 5


def densities_of(columns: Columns, seed: int = 0) -> csr_array:
    """Multiples of 1/8, which are exact in single precision."""
    found = csr_array(random_array((GRAPHS, len(columns)), density=0.4, random_state=seed))
    found.data = np.round(found.data * 8) / 8
    return found


def drawn_marks(columns: Columns, step: int, permutations: int | None = None, **given: Any) -> Any:
    """Colors (sides, copies, patterns, k), and identities (copies, patterns, k) or None."""
    batch = batch_of(columns)
    pairs = RecoloredPairs.of(batch, densities_of(columns), 1, permutations, tabulate=False, **given)
    own = pairs.draw(step).structure.levels[0].self_index
    marks = own.view(pairs.sides, pairs.copies, *batch.colors.shape).numpy()
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


WAYS = [("gin", None, True), ("gin", 4, True), ("gin", None, False), ("gin", 4, False)]  # GIN alone has tabulate rows
WAYS += [("gcn", None, False), ("gcn", 2, False), ("pna", None, False), ("pna", 2, False)]


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(("kind", "permutations", "tabulate"), WAYS)
def test_a_draw_is_one_batch_of_both_sides(kind: str, permutations: int | None, layers: int, tabulate: bool) -> None:
    """Graphs, differences, running averages and gradients are those of PyG on F and H together."""
    columns = random_columns((1, 2, 4), 8, 3, seed=2)
    batch, densities = batch_of(columns), densities_of(columns)
    colors, identities = drawn_marks(columns, 7, permutations)
    f, h = both_sides(columns, colors, identities)
    inputs = f.x.shape[1]
    make = GammaGNN if permutations is None else GammaRP
    stack = randomized(make(2, inputs, HIDDEN, layers, kind), [1, 2])
    set_degrees(stack.encoder, f.degrees)
    plains = [plain_copy(stack, inputs, model, f.degrees) for model in range(2)]
    pairs = RecoloredPairs.of(batch, densities, layers, permutations, tabulate=tabulate, by_degree=kind == "gcn")
    drawn = doubled(pairs.draw(7))
    rows = stack.encode(drawn.structure)
    graphs, moved = read_out(rows, drawn.structure.readouts), read_out(rows, drawn.differences)
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


@pytest.mark.parametrize("permutations", [None, 4])
@pytest.mark.parametrize("layers", [1, 2])
def test_universal_rows_and_own_rows_are_the_same(permutations: int | None, layers: int) -> None:
    columns = random_columns((3, 5), 20, 4, seed=1)
    batch, densities = batch_of(columns), densities_of(columns)
    inputs = 4 if permutations is None else 9
    make = GammaGNN if permutations is None else GammaRP
    results = []
    for tabulate in (True, False):
        stack = randomized(make(2, inputs, HIDDEN, layers), [1, 2])
        pairs = RecoloredPairs.of(batch, densities, layers, permutations, tabulate=tabulate)
        assert (pairs.table is not None) == tabulate
        drawn = doubled(pairs.draw(4))
        rows = stack.encode(drawn.structure)
        states = [part.running_var for part in stack.modules() if isinstance(part, BatchNorm)]
        results.append([read_out(rows, drawn.structure.readouts), read_out(rows, drawn.differences), *states])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-9, atol=1e-9)


def all_results(pairs: RecoloredPairs, layers: int, step: int = 7) -> list[Tensor]:
    """Graphs, differences, running variances and gradients of a stack, one model for each seed."""
    make = GammaGNN if pairs.permutations is None else GammaRP
    models = len(pairs.member)
    stack = randomized(make(models, pairs._features.shape[1], HIDDEN, layers), list(range(models)))
    drawn = doubled(pairs.draw(step))
    rows = stack.encode(drawn.structure)
    found = [read_out(rows, drawn.structure.readouts), read_out(rows, drawn.differences)]
    sum((part**2).sum() for part in found).backward()
    states = [part.running_var for part in stack.modules() if isinstance(part, BatchNorm)]
    return [*found, *states, *(own.grad for own in stack.parameters() if own.requires_grad)]


def same(one: list[Tensor], other: list[Tensor]) -> None:
    for found, expected in zip(one, other, strict=True):
        torch.testing.assert_close(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("cells", [0, 10**9])
@pytest.mark.parametrize(("permutations", "seeds"), [(None, [5]), (None, [3, 7, 3]), (4, [5, 5])])
@pytest.mark.parametrize(("tabulate", "layers"), [(True, 1), (True, 2), (True, 3), (False, 1), (False, 3)])
def test_rows_read_by_a_matrix_are_the_same(
    monkeypatch: pytest.MonkeyPatch, cells: int, permutations: int | None, seeds: list[int], tabulate: bool, layers: int
) -> None:
    """As on a GPU, with dense and sparse matrices: values, gradients and averages of batch norm."""
    for module in (aggregation, recolored_pairs):
        monkeypatch.setattr(module, "DENSE_CELLS", cells)
    columns = random_columns((1, 3, 5), 20, 4, seed=2)
    pairs = RecoloredPairs.of(
        batch_of(columns), densities_of(columns), layers, permutations, seeds=seeds, tabulate=tabulate
    )
    on_gpu = replace(pairs, by_matrix=True)
    for level in on_gpu.draw(7).structure.levels[int(tabulate) : 1 + int(tabulate)]:
        inner = level.joint.inner if isinstance(level.joint, PerModel) else level.joint
        assert level.joint is None or isinstance(inner, Dense if cells else Sparse)
    same(all_results(on_gpu, layers), all_results(pairs, layers))


def test_mini_batches_read_the_same_graphs() -> None:
    columns = random_columns((3, 4), 10, 3)
    items = torch.tensor([4, 1])
    for permutations, tabulate in ((None, True), (2, True), (None, False)):
        pairs = RecoloredPairs.of(batch_of(columns), densities_of(columns), 2, permutations, tabulate=tabulate)
        stack = randomized((GammaGNN if permutations is None else GammaRP)(1, pairs._features.shape[1], HIDDEN, 2), [0])
        drawn = doubled(pairs.draw(1))
        rows = stack.encode(drawn.structure)
        whole = read_out(rows, drawn.structure.readouts)
        part = read_out(rows, [readout.rows(items) for readout in drawn.structure.readouts])
        torch.testing.assert_close(part, whole[:, items])


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
    pairs = RecoloredPairs.of(batch_of(columns), densities_of(columns), 2, permutations)
    inputs = 1 if permutations is None else 5
    stack = randomized((GammaGNN if permutations is None else GammaRP)(2, inputs, HIDDEN, 2), [1, 2])
    drawn = doubled(pairs.draw(3))
    moved = read_out(stack.encode(drawn.structure), drawn.differences)
    assert moved.shape[:2] == (2, 10)
    torch.testing.assert_close(moved, torch.zeros_like(moved), rtol=0, atol=1e-12)


def test_without_recoloring_there_are_no_differences_and_only_identities_are_drawn() -> None:
    columns = random_columns((4,), 10, 3)
    pairs = RecoloredPairs.of(batch_of(columns), densities_of(columns), 1, 3, recolor=False)
    drawn = pairs.draw(1)
    assert drawn.differences == ()
    assert drawn.structure.levels[0].weight.sum() == 10 * 4 * 3
    full = densities_of(columns).toarray()
    counts: Tensor = drawn.structure.readouts[0](drawn.structure.features[None])[0]
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
    for tabulate in (True, False):
        make = partial(RecoloredPairs.of, batch, densities, 2, tabulate=tabulate)
        together = make(seeds=[3, 7])._draw_inputs(5)
        alone = torch.cat([make(seeds=[seed])._draw_inputs(5) for seed in (3, 7)])
        assert torch.equal(together, alone)
        assert torch.equal(together[0, 0], together[1, 0])  # F
        assert not torch.equal(together[0, 1], together[1, 1])  # H
    with pytest.raises(ValueError, match=r"one seed; got \[3, 7\]"):
        RecoloredPairs.of(batch, densities, 1, permutations=2, seeds=[3, 7])


@pytest.mark.parametrize(("colors", "k"), [(2, 3), (3, 4), (1, 5)])
def test_universes_hold_every_class_once(colors: int, k: int) -> None:
    plain, identified = color_class_table(colors, k), identity_class_table(colors, k)
    assert plain is not None
    assert identified is not None
    for table, alone in ((plain, False), (identified, False), (color_class_table(colors, k, True), True)):
        assert table is not None
        marks = torch.eye(len(table.digit))
        full: Tensor = table.neighbor_sums(marks[None])[0]
        rows = torch.cat([table.self_index[:, None].float(), full], dim=1)
        assert len(rows.unique(dim=0)) == len(table)
        assert torch.equal(full.sum(1), table.degree)
        assert (table.degree.min() == 0) == alone
        near = [[mark for mark, n in enumerate(row.int().tolist()) for _ in range(n)] for row in full]
        # vertices: one of every class, then one of every input class to be their neighbors
        inputs = torch.cat([table.self_index, torch.arange(len(marks))])
        padded = torch.full((len(inputs), k - 1), len(inputs))
        for row, found in enumerate(near):
            padded[row, : len(found)] = len(table) + torch.tensor(found, dtype=torch.int64)
        assert torch.equal(table.classes(inputs[None], padded)[0, : len(table)], torch.arange(len(table)))
    assert identity_class_table(40, 7) is None
    assert color_class_table(40, 7) is None
