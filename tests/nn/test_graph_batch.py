"""GNNs on whole graphs, compared with plain PyG models that are written out here."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from nn.helpers import doubled
from torch import Tensor, nn

from anysize import GraphSet
from anysize.graphs.ragged import owners
from anysize.nn.gamma import GraphModel
from anysize.nn.layers import initialize
from anysize.nn.rows import graph_batch as graph_batch_module
from anysize.nn.rows.graph_batch import (
    FlatGraphs,
    GraphRows,
    PaddedGraphs,
    draw_identities,
    fixed_identities,
    graph_batch,
    rows_structure,
)
from anysize.nn.rows.inputs import GraphInputs, InputClasses
from anysize.nn.rows.maps import Blocks, Extremes
from anysize.nn.rows.structure import Structure
from anysize.training.fit_gnn import GNNArchitecture
from anysize.training.settings import Recipe

with warnings.catch_warnings():  # PyG still scripts a class when it is imported
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch_geometric.data import Batch, Data
    from torch_geometric.nn import (
        GCNConv,
        GINConv,
        MessagePassing,
        PNAConv,
        global_add_pool,
        global_max_pool,
        global_mean_pool,
    )

KINDS, POOLS = ("gin", "gcn", "pna"), {"sum": global_add_pool, "mean": global_mean_pool, "max": global_max_pool}
HIDDEN, LAYERS, CLASSES = 5, 3, 3


def random_graphs(sizes: tuple[int, ...], share: float, colors: int | None, seed: int) -> GraphSet:
    """Random graphs, some with isolated vertices, equivalent vertices or a single vertex."""
    rng = np.random.default_rng(seed)
    edges, dress = [], []
    for n in sizes:
        chosen = np.triu(rng.random((n, n)) < share, 1)
        edges.append(np.argwhere(chosen).reshape(-1, 2))
        dress.append(rng.integers(0, colors or 1, n).tolist())
    return GraphSet.from_edges(edges, n_vertices=list(sizes), colors=dress if colors else None)


MIXED = random_graphs((7, 1, 12, 4, 9, 3), 0.35, 3, 0)
PLAIN = random_graphs((9, 9, 6, 2), 0.5, None, 1)
EDGELESS = GraphSet.from_edges([[], []], n_vertices=[3, 1], colors=[[0, 1, 1], [2]])
FEATURED = MIXED.with_features(np.random.default_rng(2).normal(3, [0.1, 5], (len(MIXED.degrees), 2)))
UNCOLORED = PLAIN.with_features(np.arange(len(PLAIN.degrees)))
ENTRIES = np.random.default_rng(4).integers(0, 3, (2, int(MIXED.edge_counts.sum())))
TYPED = MIXED.with_edge_colors(ENTRIES[0].tolist()).with_directions(ENTRIES[1])
SETS = {
    "mixed": MIXED, "plain": PLAIN, "edgeless": EDGELESS, "featured": FEATURED, "uncolored": UNCOLORED, "typed": TYPED,
    "typed and featured": TYPED.with_features(FEATURED.features),
}  # fmt: skip


# ---- plain PyG -----------------------------------------------------------------------------------


class TypedGIN(MessagePassing):
    """GIN with messages ReLU(W h_u + e), e by the type of the edge, where W is the first map of the network."""

    def __init__(self, network: nn.Sequential, types: int) -> None:
        super().__init__(aggr="add")
        self.nn, self.eps = network, nn.Parameter(torch.zeros(1))
        self.edge_encoder = nn.Linear(types, HIDDEN, bias=False)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        h = x @ self.nn[0].weight.T
        near = self.propagate(edge_index, h=h, e=self.edge_encoder(edge_attr), size=(len(x), len(x)))
        return self.nn[3](self.nn[2](self.nn[1]((1 + self.eps) * h + self.nn[0].bias + near)))

    def message(self, h_j: Tensor, e: Tensor) -> Tensor:
        return torch.relu(h_j + e)


class TypedGCN(MessagePassing):
    """GCN with messages ReLU(W h_u + e), e by the type of the edge."""

    def __init__(self, width: int, types: int) -> None:
        super().__init__(aggr="add")
        self.lin, self.bias = nn.Linear(width, HIDDEN, bias=False), nn.Parameter(torch.zeros(HIDDEN))
        self.edge_encoder = nn.Linear(types, HIDDEN, bias=False)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        h = self.lin(x)
        scale = (torch.bincount(edge_index[1], minlength=len(x)) + 1).to(h.dtype).rsqrt()[:, None]
        near = self.propagate(edge_index, h=h, s=scale, e=self.edge_encoder(edge_attr), size=(len(x), len(x)))
        return scale * (scale * h + near) + self.bias

    def message(self, h_j: Tensor, s_j: Tensor, e: Tensor) -> Tensor:
        return s_j * torch.relu(h_j + e)


class PlainGNN(nn.Module):
    """One model as PyG users write it; columns of the representation: last layer first, as in the package."""

    def __init__(
        self, kind: str, readout: str, inputs: int, jumping: bool, degrees: Tensor, types: int = 0
    ) -> None:  # fmt: skip
        super().__init__()
        widths = [inputs] + [HIDDEN] * LAYERS
        self.convolutions = nn.ModuleList(self._layer(kind, width, degrees, types) for width in widths[:-1])
        self.norms = nn.ModuleList(nn.BatchNorm1d(HIDDEN) for _ in range(LAYERS))
        self.pool, self.jumping = POOLS[readout], jumping
        self.head = nn.Linear(sum(widths) if jumping else HIDDEN, CLASSES)

    @staticmethod
    def _layer(kind: str, width: int, degrees: Tensor, types: int) -> nn.Module:
        if kind == "gin":
            parts = nn.Linear(width, HIDDEN), nn.BatchNorm1d(HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN)
            network = nn.Sequential(*parts)
            return TypedGIN(network, types) if types else GINConv(network, train_eps=True)
        if kind == "gcn":
            return TypedGCN(width, types) if types else GCNConv(width, HIDDEN)
        scalers = ["identity", "amplification", "attenuation"]
        more = {"edge_dim": types} if types else {}
        return PNAConv(width, HIDDEN, ["mean", "min", "max", "std"], scalers, deg=degrees, towers=1, **more)

    def forward(self, batch: Any) -> Tensor:
        found = [batch.x]
        for convolution, norm in zip(self.convolutions, self.norms, strict=True):
            edges = (batch.edge_index,) if batch.edge_attr is None else (batch.edge_index, batch.edge_attr)
            found.append(torch.relu(norm(convolution(found[-1], *edges))))
        pooled = [self.pool(h, batch.batch, size=batch.num_graphs) for h in found]
        return self.head(torch.cat(pooled[::-1], 1) if self.jumping else pooled[-1])


def names_of(kind: str, types: int = 0) -> list[tuple[str, str]]:
    """The parameters and running averages of a model of ours beside those of the plain one."""
    norm = [("scale", "weight"), ("shift", "bias"), ("running_mean", "running_mean"), ("running_var", "running_var")]
    linear = [("weight", "weight"), ("bias", "bias")]
    inside = {
        "gin": [("first", "nn.0", linear), ("between", "nn.1", norm), ("second", "nn.3", linear)],
        "gcn": [("linear", "lin", linear[:1]), ("linear", "", linear[1:])],
        "pna": [("before", "pre_nns.0.0", linear), ("after", "post_nns.0.0", linear), ("last", "lin", linear)],
    }[kind]
    found = [(f"head.first.{a}", f"head.{b}") for a, b in linear]
    for layer in range(LAYERS):
        ours, theirs = f"representation.encoder.layers.{layer}", f"convolutions.{layer}"
        found += [(f"representation.encoder.norms.{layer}.{a}", f"norms.{layer}.{b}") for a, b in norm]
        found += [
            (f"{ours}.{x}.{a}", f"{theirs}.{y}.{b}".replace("..", ".")) for x, y, pairs in inside for a, b in pairs
        ]
        found += [(f"{ours}.eps", f"{theirs}.eps")] if kind == "gin" else []
        found += [(f"{ours}.messages.rows", f"{theirs}.edge_encoder.weight")] if types else []
    return found


def tensors(module: nn.Module) -> dict[str, Tensor]:
    return dict(module.named_parameters()) | dict(module.named_buffers())


def aligned(ours: Tensor, theirs: Tensor) -> Tensor:
    """One model's tensor in the architecture of PyG: matrices transposed, without rows that only other models read."""
    return ours[: theirs.shape[1]].T if theirs.dim() == 2 else ours.reshape(theirs.shape)


def pyg_batch(graphs: GraphSet, whole: GraphSet) -> Any:
    """Features are standardized as in the whole set: every graph counts alike."""
    mean, deviation = 0.0, 1.0
    if whole.features is not None:
        mean = np.mean([graph.features.mean(axis=0) for graph in whole], axis=0)
        deviation = np.sqrt(np.mean([((graph.features - mean) ** 2).mean(axis=0) for graph in whole], axis=0))
    data, codes = [], GraphInputs.of(whole).entry_types(graphs)
    for place, (graph, item) in enumerate(zip(graphs, graphs.without_features().to_pyg(), strict=True)):
        n = int(graphs.sizes[place])
        x = torch.ones(n, 1) if graphs.colors is None else item.x
        if graph.features is not None:
            x = torch.cat([torch.tensor((graph.features - mean) / deviation), x], 1)
        assert x.shape == (n, width(whole))
        ends, attributes = item.edge_index, None
        if codes is not None:  # from the neighbor to the vertex that sees the type
            entries = slice(*graphs.indptr[graphs.first[[place, place + 1]]])
            ends = torch.tensor(np.stack([graph.indices.astype(np.int64), owners(graph.indptr)]))
            attributes = nn.functional.one_hot(torch.tensor(codes[0][entries]), GraphInputs.of(whole).types).double()
        data.append(Data(x=x.double(), edge_index=ends, edge_attr=attributes, num_nodes=n))
    return Batch.from_data_list(data)


def width(graphs: GraphSet) -> int:
    """The number of inputs of a vertex."""
    return max(len(graphs.palette), 1) + (0 if graphs.features is None else graphs.features.shape[1])


def stack(
    kind: str, readout: str, graphs: GraphSet, jumping: list[bool], seed: int = 0
) -> tuple[GNNArchitecture, GraphModel]:
    inputs = width(graphs)
    sizes = inputs, CLASSES, HIDDEN, LAYERS
    types = GraphInputs.of(graphs).types
    architecture = GNNArchitecture(kind, readout, False, *sizes, Recipe(averages="torch"), types)
    model = architecture.build(jumping)
    initialize(model, [seed + place for place in range(len(jumping))])
    noise = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():  # also those that start at 0 or 1
            parameter += 0.2 * torch.rand(parameter.shape, generator=noise)
    model.representation.encoder.set_mean_log_degree(float(np.log(graphs.degrees + 1).mean()))
    return architecture, model.double()


def plain_like(
    model: GraphModel, place: int, kind: str, readout: str, graphs: GraphSet, jumping: bool, types: int
) -> PlainGNN:
    histogram = torch.bincount(torch.from_numpy(graphs.degrees))
    plain = PlainGNN(kind, readout, width(graphs), jumping, histogram, types).double()
    ours, theirs = tensors(model), tensors(plain)
    with torch.no_grad():
        for our, their in names_of(kind, types):
            value = ours[our][place]
            if types and their.endswith("pre_nns.0.0.weight"):  # W [h_v, h_u, e] of PyG, ours W [h_v, h_u] + e
                value = torch.cat([value, torch.eye(value.shape[1])])
            theirs[their].copy_(aligned(value, theirs[their]))
        for name, tensor in theirs.items():
            if types and name.endswith("edge_encoder.bias"):
                tensor.zero_()
    return plain


Build = Callable[[GNNArchitecture, GraphSet], Structure]


def merged(architecture: GNNArchitecture, graphs: GraphSet) -> Structure:
    return architecture.structure(graphs, GraphInputs.of(graphs))


def merged_padded(architecture: GNNArchitecture, graphs: GraphSet) -> Structure:
    """As on a GPU: dense adjacency matrices above the shared rows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_batch_module, "graph_batch", lambda g, m, r, e, d: PaddedGraphs.of(g, m, r, e))
        return architecture.structure(graphs, GraphInputs.of(graphs))


def rows_flat(architecture: GNNArchitecture, graphs: GraphSet) -> Structure:
    return rows_structure(architecture.batch(graphs, GraphInputs.of(graphs)).rows(), architecture.layers)


def rows_padded(architecture: GNNArchitecture, graphs: GraphSet) -> Structure:
    batch = PaddedGraphs.of(
        graphs,
        architecture.input_classes(graphs, GraphInputs.of(graphs)),
        architecture.readout,
        architecture.kind == "pna",
    )
    return rows_structure(batch.rows(), architecture.layers)


BUILDS: dict[str, Build] = {f.__name__: f for f in (merged, merged_padded, rows_flat, rows_padded)}


def vertices_of(rows: GraphRows) -> np.ndarray[Any, Any]:
    """The rows that are vertices, not padding."""
    return np.arange(len(rows.input_class)) if rows.weight is None else np.flatnonzero(rows.weight.numpy())


def assert_equals_plain(
    kind: str, readout: str, graphs: GraphSet, structure: Structure, model: GraphModel, whole: GraphSet | None = None
) -> None:
    """Forward and gradient in train mode, running averages, forward in eval mode: every model of the stack."""
    y = torch.arange(len(graphs)) % CLASSES
    jumping = [bool(columns.all()) and model.representation.jumping for columns in model.columns]
    types = GraphInputs.of(graphs if whole is None else whole).types
    plains = [plain_like(model, place, kind, readout, graphs, on, types).train() for place, on in enumerate(jumping)]
    batch = pyg_batch(graphs, graphs if whole is None else whole)
    logits = model.train()(structure)
    sum(nn.functional.cross_entropy(each, y) for each in logits).backward()
    ours = tensors(model)
    for place, plain in enumerate(plains):
        found, theirs = plain(batch), tensors(plain)
        assert torch.allclose(logits[place], found, atol=1e-5)
        nn.functional.cross_entropy(found, y).backward()
        for our, their in names_of(kind, types):
            value = theirs[their][:, : ours[our].shape[1]] if theirs[their].dim() == 2 else theirs[their]
            assert torch.allclose(aligned(ours[our][place], value), value, atol=1e-5), our
            if theirs[their].requires_grad and ours[our].requires_grad:  # a bias below batch norm is not trained
                slope = theirs[their].grad[:, : ours[our].shape[1]] if value.dim() == 2 else theirs[their].grad
                assert torch.allclose(aligned(ours[our].grad[place], value), slope, atol=1e-5), our
        assert torch.allclose(model.eval()(structure)[place], plain.eval()(batch), atol=1e-5)


# ---- equal to plain PyG --------------------------------------------------------------------------


@pytest.mark.parametrize("build", list(BUILDS.values()), ids=list(BUILDS))
@pytest.mark.parametrize(("kind", "readout"), list(product(KINDS, POOLS)))
def test_every_way_to_build_equals_plain_pyg(kind: str, readout: str, build: Build) -> None:
    for name, graphs in SETS.items():
        if name.startswith("typed") and "padded" in build.__name__:
            continue  # matrices hold no types: such graphs are flat on every device
        architecture, model = stack(kind, readout, graphs, [True, False], seed=len(name))
        structure = doubled(build(architecture, graphs))
        if kind == "pna" and name == "edgeless":  # PyG divides by the mean log degree, which is 0 here
            assert model(structure).isfinite().all()
        else:
            assert_equals_plain(kind, readout, graphs, structure, model)


NAMES_AND_LAYOUTS = [
    *product(["mixed", "featured"], [FlatGraphs, PaddedGraphs]),
    *product(["typed", "typed and featured"], [FlatGraphs]),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "layout"), NAMES_AND_LAYOUTS)
def test_a_mini_batch_equals_plain_pyg_on_the_same_graphs(name: str, kind: str, layout: Any) -> None:
    numbers, whole = [4, 1, 2, 5], SETS[name]
    for readout in POOLS:
        architecture, model = stack(kind, readout, whole, [False])
        classes = architecture.input_classes(whole, GraphInputs.of(whole))
        batch = layout.of(whole, classes, readout, kind == "pna")
        structure = doubled(rows_structure(batch.rows(torch.tensor(numbers)), LAYERS))
        some = whole[numbers]
        model.representation.encoder.set_mean_log_degree(float(np.log(some.degrees + 1).mean()))
        assert_equals_plain(kind, readout, some, structure, model, whole)


@pytest.mark.parametrize("readout", POOLS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "layout"), NAMES_AND_LAYOUTS)
def test_mini_batches_that_differ_by_model(name: str, kind: str, layout: Any, readout: Any) -> None:
    """Each model of a stack computes what it computes on its own graphs, also in batch norm."""
    whole = SETS[name]
    architecture, model = stack(kind, readout, whole, [True, False])
    classes = architecture.input_classes(whole, GraphInputs.of(whole))
    batch = layout.of(whole, classes, readout, kind == "pna")
    chosen = torch.tensor([[2, 0, 1], [5, 4, 3]])  # 20 and 16 vertices
    model = doubled(model.train())
    logits = model(doubled(rows_structure(batch.rows(chosen), LAYERS)))
    averages = {name: tensor.clone() for name, tensor in model.named_buffers() if "running" in name}
    for place, graphs in enumerate(chosen):
        _, again = stack(kind, readout, whole, [True, False])
        again = doubled(again.train())
        alone = again(doubled(rows_structure(batch.rows(graphs), LAYERS)))
        torch.testing.assert_close(logits[place], alone[place])
        for name, tensor in again.named_buffers():
            if "running" in name:
                torch.testing.assert_close(averages[name][place], tensor[place])


def test_extremes_over_hubs_equal_plain_pyg() -> None:
    """Neighbor lists of very different lengths."""
    star = GraphSet.from_edges([[(0, i) for i in range(1, 30)] + [(1, 2), (2, 3)], [(0, 1)]], n_vertices=[31, 2])
    for build in BUILDS.values():
        architecture, model = stack("pna", "max", star, [True])
        assert_equals_plain("pna", "max", star, doubled(build(architecture, star)), model)


def test_extremes_have_the_gradient_of_plain_torch() -> None:
    """Rows without, with one, and with several neighbors, checked by finite differences."""
    h = torch.randn(2, 6, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0), requires_grad=True)
    lists = [[1, 3], [], [0, 2, 5], [4]]
    first, index = torch.tensor([0, 2, 2, 5, 6]), torch.tensor([1, 3, 0, 2, 5, 4])
    filled = torch.tensor([[1, 3, 1], [0, 0, 0], [0, 2, 5], [4, 4, 4]])
    present = torch.tensor([[1.0], [0.0], [1.0], [1.0]])
    for extremes in (Extremes(index, first, None, 6), Extremes(filled, None, present, 6)):
        low, high = extremes.both(h)
        for row, entries in enumerate(lists):
            rows = h[:, entries] if entries else torch.zeros(2, 1, 3, dtype=h.dtype)
            assert torch.equal(low[:, row], rows.amin(1))
            assert torch.equal(high[:, row], rows.amax(1))
        assert torch.autograd.gradcheck(extremes.both, (h,))


def test_tensors_that_parts_share_stay_shared_on_a_device() -> None:
    """Adjacency matrices may be large."""
    rows = PaddedGraphs.of(MIXED, InputClasses.of(MIXED, GraphInputs((0, 1, 2))), "sum", extremes=True).rows()
    second, third = rows_structure(rows, 3).to("meta").levels[1:]
    assert isinstance(second.sum_neighbors, Blocks)
    assert isinstance(third.sum_neighbors, Blocks)
    assert second.sum_neighbors.matrices.device.type == "meta"
    assert second.sum_neighbors.matrices is third.sum_neighbors.matrices


# ---- properties of representations ---------------------------------------------------------------


def shuffled(graphs: GraphSet, seed: int) -> GraphSet:
    """The same graphs with their vertices in another order."""
    rng = np.random.default_rng(seed)
    edges, colors = [], []
    for place, n in enumerate(graphs.sizes):
        order = rng.permutation(n)
        edges.append(order[graphs.edges(place)])
        names = np.empty(n, object)
        names[order] = graphs.color_names(place)
        colors.append(names.tolist())
    return GraphSet.from_edges(edges, n_vertices=graphs.sizes.tolist(), colors=colors)


@pytest.mark.parametrize(("kind", "readout"), list(product(KINDS, POOLS)))
def test_the_order_of_vertices_does_not_matter(kind: str, readout: str) -> None:
    architecture, model = stack(kind, readout, MIXED, [True])
    model.eval()
    before, after = (model(doubled(merged(architecture, graphs))) for graphs in (MIXED, shuffled(MIXED, 3)))
    assert torch.allclose(before, after, atol=1e-9)


@pytest.mark.parametrize("layout", [FlatGraphs, PaddedGraphs])
def test_readouts_of_graphs_of_different_sizes(layout: Any) -> None:
    rng = np.random.default_rng(5)
    h = rng.normal(size=(2, int(MIXED.sizes.sum()), 3)) - 2.0  # below zero: a row that fills up must not win
    for readout, reduce in (("sum", np.sum), ("mean", np.mean), ("max", np.max)):
        rows = doubled(layout.of(MIXED, InputClasses.of(MIXED, GraphInputs.of(MIXED)), readout, False).rows())
        full = np.full((2, len(rows.input_class), 3), 7.0)
        full[:, vertices_of(rows)] = h
        expected = [reduce(h[:, a:b], axis=1) for a, b in zip(MIXED.first[:-1], MIXED.first[1:], strict=True)]
        assert np.allclose(rows.readout(torch.from_numpy(full)).numpy(), np.stack(expected, 1))


def test_colors_that_training_never_saw_have_no_features() -> None:
    classes = InputClasses.of(MIXED, GraphInputs((0, 1)))
    features = classes.features[classes.index]
    assert features[MIXED.colors == 2].sum() == 0
    assert (features.sum(1) == (MIXED.colors < 2)).all()
    with pytest.raises(ValueError, match=r"plain graphs.*without_colors\(\)"):
        InputClasses.of(MIXED, GraphInputs(None))
    with pytest.raises(ValueError, match="got plain"):
        InputClasses.of(PLAIN, GraphInputs((0, 1)))


def test_equivalent_vertices_share_rows_and_results_do_not_change() -> None:
    """Regular graphs have one class of vertices however many layers there are."""
    rings = GraphSet.from_edges([[(i, (i + 1) % n) for i in range(n)] for n in (5, 8)])
    architecture, model = stack("gin", "sum", rings, [True])
    structure = merged(architecture, rings)
    assert [len(level.degree) for level in structure.levels] == [1] * LAYERS
    assert [float(level.weight.sum()) for level in structure.levels] == [13.0] * LAYERS
    whole = rows_flat(architecture, rings)
    assert [len(level.degree) for level in whole.levels] == [13] * LAYERS
    assert torch.allclose(model(doubled(structure)), model(doubled(whole)))


def test_a_device_other_than_the_cpu_gets_full_matrices_for_small_or_dense_graphs() -> None:
    classes = InputClasses.of(PLAIN, GraphInputs(None))
    assert isinstance(graph_batch(PLAIN, classes, "sum", device="cuda"), PaddedGraphs)
    assert isinstance(graph_batch(PLAIN, classes, "sum", device="cpu"), FlatGraphs)
    path = GraphSet.from_edges([[(i, i + 1) for i in range(200)]])
    assert isinstance(graph_batch(path, InputClasses.of(path, GraphInputs(None)), "sum", device="cuda"), FlatGraphs)
    with pytest.raises(ValueError, match="'median'"):
        graph_batch(PLAIN, classes, "median")  # type: ignore[arg-type]


# ---- relational pooling --------------------------------------------------------------------------

SEEDS = torch.tensor([0, 3])


@pytest.mark.parametrize("layout", [FlatGraphs, PaddedGraphs])
def test_identities_are_positions_in_an_order_of_each_graph(layout: Any) -> None:
    graphs = random_graphs((23, 4, 1, 10), 0.3, None, 2)
    rows = layout.of(graphs, InputClasses.of(graphs, GraphInputs(None)), "sum", False).rows()
    there = vertices_of(rows)
    drawn = [draw_identities(rows, 3, step, SEEDS)[1].numpy()[:, there] for step in (1, 1, 2)]
    fixed = fixed_identities(rows, 4, SEEDS)[1].numpy()[:, there]
    assert np.array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])
    for copy in (*drawn[0], *fixed):
        for place, n in enumerate(graphs.sizes):
            own = copy[graphs.first[place] : graphs.first[place + 1]]
            assert sorted(own.tolist()) == sorted(i % 10 for i in range(n))
    other = FlatGraphs.of(graphs, InputClasses.of(graphs, GraphInputs(None)), "sum", False).rows()
    assert np.array_equal(drawn[0], draw_identities(other, 3, 1, SEEDS[1:])[0].numpy())  # both layouts draw alike
    assert not np.array_equal(drawn[0], draw_identities(other, 3, 1, SEEDS[:1])[0].numpy())
    alone = layout.of(graphs[3], InputClasses.of(graphs[3], GraphInputs(None)), "sum", False).rows()
    ours = fixed_identities(alone, 4, SEEDS[1:])[0].numpy()[:, vertices_of(alone)]
    assert np.array_equal(ours, fixed[:, graphs.first[3] :])  # whatever other graphs are there


def rp_architecture(graphs: GraphSet, readout: str, permutations: int, kind: str = "gin") -> GNNArchitecture:
    recipe = Recipe(test_permutations=permutations)
    return GNNArchitecture(kind, readout, True, max(len(graphs.palette), 1), CLASSES, HIDDEN, 2, recipe)


@pytest.mark.parametrize("layout", [FlatGraphs, PaddedGraphs])
@pytest.mark.parametrize(("kind", "readout"), list(product(KINDS, POOLS)))
def test_relational_pooling_equals_the_same_model_copy_by_copy(kind: str, readout: str, layout: Any) -> None:
    """All copies at once with shared input rows, against graphs whose colors are (color, identity)."""
    architecture = rp_architecture(MIXED, readout, 3, kind)
    model = architecture.build([True]).double()
    initialize(model, [4])
    model.eval()
    rows = layout.of(MIXED, architecture.input_classes(MIXED, GraphInputs.of(MIXED)), readout, kind == "pna").rows()
    identities = draw_identities(rows, 3, 7, SEEDS[:1])
    found = model.represent(doubled(rows_structure(rows, 2, identities)))
    expected = []
    for copy in identities[0][:, vertices_of(rows)].numpy():
        names = np.asarray(MIXED.colors, np.int64) * 10 + copy
        dressed = [names[a:b].tolist() for a, b in zip(MIXED.first[:-1], MIXED.first[1:], strict=True)]
        edges = [MIXED.edges(place) for place in range(len(MIXED))]
        both = GraphSet.from_edges(edges, n_vertices=MIXED.sizes.tolist(), colors=dressed)
        plain = doubled(merged(replace(architecture, relational=False), both))
        pairs = torch.tensor([[*np.eye(3)[name // 10], *np.eye(10)[name % 10]] for name in both.palette])
        expected.append(model.represent(replace(plain, features=plain.features @ pairs)))
    assert torch.allclose(found, torch.stack(expected).mean(0), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "layout"), NAMES_AND_LAYOUTS)
def test_relational_pooling_of_a_mini_batch_copy_by_copy(name: str, kind: str, layout: Any) -> None:
    """Few graphs of a set, whose rows share no input classes if they have features, and the same graphs alone."""
    whole, numbers = SETS[name], [2, 4]
    inputs = GraphInputs.of(whole)
    architecture = replace(rp_architecture(whole, "sum", 3, kind), inputs=inputs.width, types=inputs.types)
    model = architecture.build([True, False])
    initialize(model, [4, 5])
    model = model.double().eval()

    def rows(graphs: GraphSet) -> Any:
        return layout.of(graphs, architecture.input_classes(graphs, inputs), "sum", kind == "pna")

    batch, alone = rows(whole).rows(torch.tensor(numbers)), rows(whole[numbers]).rows()
    identities = draw_identities(batch, 3, 7, SEEDS[:2])
    together, by_class = (doubled(rows_structure(each, 2, identities)) for each in (batch, alone))
    assert together.features.dim() == (3 if "featured" in name else 2)
    assert by_class.features.dim() == 2
    found = model.represent(together)
    torch.testing.assert_close(found, model.represent(by_class))
    copies = [model.represent(doubled(rows_structure(alone, 2, identities[:, [copy]]))) for copy in range(3)]
    torch.testing.assert_close(found, torch.stack(copies).mean(0))


def test_the_order_of_vertices_matters_less_the_more_permutations_are_averaged() -> None:
    graphs = random_graphs((12, 9), 0.4, 2, 3)
    model = rp_architecture(graphs, "sum", 1).build([False])
    initialize(model, [0])
    model.eval()

    def spread(permutations: int) -> float:
        architecture = rp_architecture(graphs, "sum", permutations)
        with torch.no_grad():
            found = [
                model(architecture.structure(shuffled(graphs, seed), GraphInputs.of(graphs))) for seed in range(12)
            ]
        return float(torch.stack(found).std(0).mean())

    few, many = spread(4), spread(256)
    assert few > 1e-3  # identities do tell vertices apart
    assert 0.05 * few < many < 0.3 * few  # 1 / 8 where the error falls as one over the square root


def test_relational_pooling_averages_within_its_stated_error() -> None:
    """Two halves of many permutations agree within four standard errors of their difference."""
    graphs = random_graphs((12,), 0.4, 2, 6)
    architecture = rp_architecture(graphs, "mean", 1)
    model = architecture.build([True])
    initialize(model, [1])
    model.eval()
    rows = architecture.batch(graphs, GraphInputs.of(graphs)).rows()
    with torch.no_grad():
        drawn = [model(rows_structure(rows, 2, draw_identities(rows, 1, step, SEEDS[:1])))[0, 0] for step in range(200)]
        other = architecture.batch(shuffled(graphs, 9), GraphInputs.of(graphs)).rows()
        again = [
            model(rows_structure(other, 2, draw_identities(other, 1, 1000 + s, SEEDS[:1])))[0, 0] for s in range(200)
        ]
    one, two = torch.stack(drawn), torch.stack(again)
    error = torch.sqrt((one.var(0) + two.var(0)) / 200)
    assert ((one.mean(0) - two.mean(0)).abs() < 4 * error).all()
    assert (error > 0).all()
