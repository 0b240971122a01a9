"""The Triton kernels against the same steps in plain torch; on a CPU by Triton's interpreter, if it is installed."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from benchmarks.stacks import doubled
from scipy.sparse import csr_array

from anysize import GraphSet
from anysize.nn import encoders, fused, layers
from anysize.nn.layers import DROPOUT_STREAM, EPSILON, MOMENTUM, BatchNorm, Dropout
from anysize.nn.rows import graph_batch
from anysize.nn.rows.aggregation import SegmentExtremes, Sparse, fused_statistics
from anysize.nn.rows.graph_batch import FlatGraphs, InputClasses, PaddedGraphs, graph_structure, rows_structure
from anysize.nn.rows.structure import Structure
from anysize.training.fit_gnn import fit_gnn
from anysize.training.optimizer import BETAS, StackAdam
from anysize.training.optimizer import EPSILON as ADAM_EPSILON
from anysize.training.settings import Recipe, Settings

pytest.importorskip("triton")
INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"  # see conftest.py
DEVICE = "cpu" if INTERPRETED else "cuda"
if not (INTERPRETED or torch.cuda.is_available()):
    pytest.skip("needs a GPU, or TRITON_INTERPRET=1", allow_module_level=True)


def random(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def strided(tensor: torch.Tensor) -> torch.Tensor:
    """The same values on the device, not contiguous."""
    return tensor.to(DEVICE).transpose(0, -1).contiguous().transpose(0, -1)


def assert_near(found: torch.Tensor, expected: torch.Tensor) -> None:
    """Single precision against double precision."""
    torch.testing.assert_close(
        found.cpu().double(), expected.detach(), rtol=1e-3, atol=2e-3 * float(expected.detach().abs().max())
    )


def assert_same_function(fast: Callable[..., Any], plain: Callable[..., Any], *inputs: torch.Tensor) -> None:
    """Compare results and gradients."""
    single = [tensor.clone().to(DEVICE).requires_grad_() for tensor in inputs]
    double = [tensor.double().requires_grad_() for tensor in inputs]
    found, expected = fast(*single), plain(*double)
    assert_near(found, expected)
    outer = random(*expected.shape, seed=9)
    found.backward(outer.to(DEVICE))
    expected.backward(outer.double())
    for one, other in zip(single, double, strict=True):
        assert one.grad is not None
        assert other.grad is not None
        assert_near(one.grad, other.grad)


@pytest.mark.parametrize("features", [1, 5, 32])
@pytest.mark.parametrize("weights", ["none", "shared", "by model"])
@pytest.mark.parametrize(("relu", "corrected", "population"), [(False, True, False), (True, False, True)])
@pytest.mark.parametrize("programs", [4, 512])
def test_batch_norm(
    features: int, weights: str, relu: bool, corrected: bool, population: bool, programs: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Result, gradients and running averages; also where the mean is large, and where rows do not fill a tile."""
    monkeypatch.setattr(fused, "TILE", 64 * fused._power_of_two(features))
    monkeypatch.setattr(fused, "PROGRAMS", programs)  # several tiles per part, or more parts than are added up at once
    monkeypatch.setattr(fused, "PARTS", 4)
    models, rows = 2, 350
    norm = BatchNorm(models, features, relu=relu).double()
    norm.corrected, norm.population = corrected, population
    x = random(models, rows, features) * 0.5 + (3 if relu else 100)  # rounding moves a few rows across the bend of ReLU
    scale, shift = random(models, 1, features, seed=2), random(models, 1, features, seed=3)
    weight = None
    if weights != "none":
        weight = random(*[models] * (weights == "by model"), rows, seed=4).abs()
        weight[..., :70] = 0  # a whole tile of padding
    averages = [tensor.float().to(DEVICE) for tensor in (norm.running_mean, norm.running_var)]
    steps = torch.ones((), device=DEVICE) if corrected else None

    def fast(x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        given = None if weight is None else weight.to(DEVICE)
        return fused.Normalize.apply(x, given, scale, shift, relu, EPSILON, *averages, steps, population, MOMENTUM)

    def plain(x: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        share, total = layers._normalize_weights(x, None if weight is None else weight.double())
        normal, mean, variance = layers._Normalize.apply(x, share, scale, shift, relu)
        norm._count_step()
        norm._update_averages(mean, variance, total)
        return normal

    assert_same_function(fast, plain, x, scale, shift)
    for found, expected in zip(averages, (norm.running_mean, norm.running_var), strict=True):
        torch.testing.assert_close(found.cpu().double(), expected, rtol=1e-4, atol=1e-5)


def colored_graphs(sizes: tuple[int, ...], y: list[int] | None = None) -> GraphSet:
    """Random graphs, sparse and dense in turn, some with isolated vertices."""
    rng = np.random.default_rng(0)
    edges = [np.argwhere(np.triu(rng.random((n, n)) < (0.3, 0.6)[place % 2], 1)) for place, n in enumerate(sizes)]
    colors = [rng.choice(["C", "N", "O"], n).tolist() for n in sizes]
    return GraphSet.from_edges(edges, n_vertices=list(sizes), colors=colors, y=y)


def structures(layout: str) -> Structure:
    graphs = colored_graphs((7, 12, 1, 9, 4))
    if layout == "classes of vertices":
        graphs = graphs + graphs + graphs
    classes = InputClasses.of(graphs, ("C", "N", "O"))
    if layout == "classes of vertices":
        return graph_structure(graphs, classes, 3, "sum", extremes=True)
    batch = (PaddedGraphs if "padded" in layout else FlatGraphs).of(graphs, classes, "sum", True)
    numbers = {"by model": torch.tensor([[0, 1, 3], [4, 2, 1]]), "some": torch.tensor([3, 0])}
    rows = batch.rows(next((numbers[name] for name in numbers if name in layout), None))
    if "copies" not in layout:
        return rows_structure(rows, 2)
    models = rows.input_class.shape[:-1].numel()
    return rows_structure(rows, 2, torch.arange(models * 3 * rows.input_class.shape[-1]).view(models, 3, -1) % 10)


@pytest.mark.parametrize("features", [1, 5, 32])
@pytest.mark.parametrize(
    "layout", ["flat", "padded", "flat, by model", "padded, by model", "flat, copies", "classes of vertices"]
)
def test_statistics_over_neighbors(features: int, layout: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows without neighbors and with equal ones, also where values are far from 0, on every level."""
    monkeypatch.setattr(fused, "NEIGHBORS_TILE", 16 * fused._power_of_two(features))
    structure = structures(layout)
    below = len(structure.features)
    for given, level in zip(structure.levels, structure.to(DEVICE).levels, strict=True):
        own = random(2, given.degree.shape[-1], features)
        h = 10 + random(2, below, features, seed=1).round(decimals=1)
        assert_same_function(
            partial(fused_statistics, level.neighbors), partial(encoders._statistics, doubled(given)), own, h
        )
        below = own.shape[1]


@pytest.mark.parametrize("features", [1, 20, 32])
@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("places", ["all", "some", "by model", "copies", "copies, by model"])
def test_sums_over_neighbors_in_padded_graphs(
    features: int, scaled: bool, places: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The row itself, its neighbors, a factor of every row and an offset, in one kernel; and sums alone."""
    monkeypatch.setattr(fused, "BLOCK_FEATURES", 16)
    monkeypatch.setattr(fused, "usable", lambda x: x.device.type == DEVICE and x.dtype == torch.float32)
    given = structures("padded, " + places).levels[1]
    level, plain = given.to(DEVICE), doubled(given)
    factor = random(*given.degree.shape, seed=4) if scaled else None

    def expected(x: torch.Tensor, own: torch.Tensor, offset: torch.Tensor) -> torch.Tensor:
        each = torch.ones_like(x[..., :1]) if factor is None else factor.double().expand(x.shape[:2])[..., None]
        return plain.aggregate(own * each * x, each * x) * each + offset

    def found(x: torch.Tensor, own: torch.Tensor, offset: torch.Tensor) -> torch.Tensor:
        summed = level.fused_aggregate(x, own, offset, None if factor is None else factor.to(DEVICE))
        assert summed is not None
        return summed

    x = random(2, given.degree.shape[-1], features)
    assert_same_function(found, expected, x, random(2, 1, 1, seed=2), random(2, 1, features, seed=3))
    assert_same_function(level.neighbor_sums, plain.neighbor_sums, x)


@pytest.mark.parametrize(
    ("hip", "torch_precision", "expected"),
    [(None, "highest", "tf32x3"), (None, "high", "tf32"), ("6.4", "high", "ieee")],
)
def test_precision_of_sums(
    hip: str | None, torch_precision: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.version, "hip", hip)
    monkeypatch.setattr(torch, "get_float32_matmul_precision", lambda: torch_precision)
    assert fused._precision() == expected


def test_sums_that_one_kernel_cannot_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs that are too large, sums by a sparse matrix, and rows that are not those of the level below."""
    first, padded = structures("padded").levels
    monkeypatch.setattr(fused, "usable", lambda x: True)
    x = torch.zeros(1, len(padded.degree), 4)
    arguments = x, torch.ones(1, 1, 1), torch.zeros(1, 1, 4)
    for level in (structures("flat").levels[1], first):
        assert level.fused_aggregate(*arguments) is None
    monkeypatch.setattr(fused, "BLOCK_ROWS", 11)
    assert padded.fused_aggregate(*arguments) is None
    assert padded.neighbor_sums(x).shape == x.shape


def test_neighbors_without_an_index_have_no_fused_statistics() -> None:
    neighbors = SegmentExtremes.of(torch.tensor([0]), torch.tensor([0, 1]))
    assert fused_statistics(neighbors, torch.zeros(1, 1, 1), torch.zeros(1, 1, 1)) is None


@pytest.mark.parametrize("leading", [(), (1,), (2,)])
def test_scales_of_pna(leading: tuple[int, ...]) -> None:
    """The degrees of the rows: those of all models, or of each."""
    models, rows, features = 2, 150, 5
    degree = torch.randint(0, 4, (*leading, rows), generator=torch.Generator().manual_seed(1)).float()
    usual = torch.tensor(0.7)
    assert_same_function(
        lambda *given: fused.Scale.apply(*given, degree.to(DEVICE), usual.to(DEVICE)),
        lambda *given: encoders._scale(*given, degree.double(), usual.double()),
        random(models, rows, features),
        random(models, rows, 3 * features, seed=7),
    )


def test_dropout_draws_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fused, "VALUES", 64)
    layer = Dropout(2, 0.3).train()
    layer.seeds.copy_(torch.tensor([3, 4_000_000_000]))
    x = random(2, 30, 5).requires_grad_()
    expected = layer(x)
    given = x.detach().to(DEVICE).requires_grad_()
    found = fused.Dropout.apply(given, layer.seeds.to(DEVICE), layer.step.to(DEVICE), 0.3, DROPOUT_STREAM)
    torch.testing.assert_close(found.cpu(), expected)
    assert 0 < int((expected == 0).sum()) < 150
    for result in (found, expected):
        result.sum().backward()
    assert given.grad is not None
    torch.testing.assert_close(given.grad.cpu(), x.grad)


def test_steps_of_adam() -> None:
    ours, theirs = random(2, 30, 40), random(2, 30, 40)
    parameter = torch.nn.Parameter(theirs)
    optimizer = StackAdam([parameter], [0.1, 0.01])
    state = [tensor.clone().to(DEVICE) for tensor in (optimizer.mean, optimizer.square, optimizer.rates)]
    decay, values = optimizer.decay.clone().to(DEVICE), ours.reshape(-1).to(DEVICE)
    for step in range(3):
        gradient = random(2, 30, 40, seed=step + 5)
        parameter.grad = gradient.clone()
        optimizer.step()
        decay *= torch.tensor(BETAS, dtype=torch.float64, device=DEVICE)
        fused.adam(values, gradient.reshape(-1).to(DEVICE), *state, decay, BETAS, ADAM_EPSILON)
    torch.testing.assert_close(values.cpu().view_as(ours), parameter.detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("density", [0.01, 0.5])
def test_sparse_products_of_rows_with_few_and_with_many_entries(density: float) -> None:
    dense = random(30, 500) * (torch.rand(30, 500, generator=torch.Generator().manual_seed(2)) < density)
    dense[4] = 0
    x = random(3, 500, 5, seed=1)
    few = (dense != 0).sum() <= fused.FEW_ENTRIES * 30
    assert few == (density < 0.1)
    assert few or (dense != 0).sum(1).max() > 128
    matrix = csr_array(dense.numpy())
    found = fused.sparse_product(Sparse.of(matrix).matrix.to(DEVICE), strided(x))
    torch.testing.assert_close(found.cpu(), dense @ x)


@pytest.mark.parametrize("relu", [False, True])
def test_a_table_that_is_not_contiguous_is_normalized(relu: bool) -> None:
    x, slope, offset = random(2, 30, 5), random(2, 1, 5, seed=1), random(2, 1, 5, seed=2)
    found = fused.normalize(strided(x), slope.to(DEVICE), offset.to(DEVICE), relu)
    expected = x * slope + offset
    torch.testing.assert_close(found.cpu(), expected.relu() if relu else expected)


def test_relu_keeps_nan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the loss of a model that has diverged would be finite, and its epochs could be selected."""
    if INTERPRETED:  # a plain maximum of a GPU drops nan, that of the interpreter does not
        from triton.runtime.interpreter import InterpreterBuilder

        monkeypatch.setattr(InterpreterBuilder, "create_maxnumf", lambda self, a, b: self.binary_op(a, b, np.fmax))
    x = random(1, 4, 3).to(DEVICE)
    x[0, 1, 2] = torch.nan
    one = torch.ones(1, 1, 3, device=DEVICE)
    assert fused.normalize(x, one, 0 * one, True).isnan().sum() == 1
    x.requires_grad_()
    averages = torch.zeros_like(one), torch.ones_like(one)
    found = fused.Normalize.apply(x, None, one, 0 * one, True, EPSILON, *averages, None, True, MOMENTUM)
    found.sum().backward()
    assert x.grad is not None
    for table in (found, x.grad):
        assert table.isnan().any(1).tolist() == [[False, False, True]]


@pytest.mark.skipif(not INTERPRETED, reason="only the interpreter can run a single program")
def test_places_above_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last program of a table with more than 2^31 values."""
    from triton.runtime.interpreter import interpreter_builder

    width, start = 64, 1 << 31
    table = torch.empty(start + width)  # only pages that are used take memory
    last = table[start:].fill_(1.0)
    one = torch.ones(1, dtype=torch.int64)
    set_program = interpreter_builder.set_grid_idx

    def set_last_program(*_: int) -> None:
        interpreter_builder.set_grid_dim(start // width + 1, 1, 1)
        set_program(start // width, 0, 0)

    monkeypatch.setattr(interpreter_builder, "set_grid_idx", set_last_program)
    fused._kernels().dropout[1, 1](table, one, one, table, 0.5, len(table), DROPOUT_STREAM, width)
    assert set(last.tolist()) == {0.0, 2.0}
    last.fill_(1.0)
    decay = torch.zeros(2, dtype=torch.float64)  # averages and rates are 1 like the gradient: the step is 1
    fused._kernels().adam[(1,)](*[table] * 5, decay, len(table), 0.0, *BETAS, width)
    torch.testing.assert_close(last, torch.zeros(width))


def test_kernels_that_work_are_used() -> None:
    assert fused._works(DEVICE)


def test_the_kernels_are_used_on_the_current_gpu_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Triton would start them on the current one, which cannot read the memory of another."""
    monkeypatch.setattr(fused, "_works", lambda device: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    kind: Any = {"is_cuda": True, "dtype": torch.float32, "numel": lambda: 1}
    usable = [fused.usable(SimpleNamespace(device=torch.device("cuda", number), **kind)) for number in (0, 1)]
    assert usable == [True, False]


@pytest.mark.skipif(not INTERPRETED, reason="training on a GPU rounds matrix products to TF32, too coarse to compare")
@pytest.mark.parametrize("kind", ["gin", "gcn", "pna"])
@pytest.mark.parametrize("batch_size", [None, 4])
@pytest.mark.parametrize("padded", [False, True])
def test_stacks_train_the_same_with_and_without_the_kernels(
    kind: Any, batch_size: int | None, padded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every layer, the head's dropout and the optimizer; models of different seeds have different mini-batches."""
    monkeypatch.setattr(graph_batch, "prefers_padding", lambda graphs, device: padded)
    graphs = colored_graphs((7,) * 8, [0, 1] * 4)
    recipe = Recipe(epochs=2, head_hidden=5, dropout=0.3, schedule="cosine")
    members = [Settings(hidden=4, layers=2, seed=seed, lr=0.01 * seed, batch_size=batch_size) for seed in (1, 2)]
    found = []
    for used in (True, False):
        monkeypatch.setattr(fused, "usable", lambda x, used=used: used and x.dtype == torch.float32 and x.numel() > 0)
        stack = fit_gnn(kind, "sum", graphs, graphs.y, members, recipe, classes=2, device=DEVICE)
        assert stack.trained is not None
        found.append({"loss": stack.trained.curves["loss"], **stack.model.cpu().state_dict()})
    for name, expected in found[1].items():
        torch.testing.assert_close(
            found[0][name], expected, rtol=1e-3, atol=1e-4, msg=lambda text, name=name: name + text
        )
