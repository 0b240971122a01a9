"""Whole graphs, all of a set or a mini-batch, as the structure that message passing runs on.

The rows are the vertices. Two layouts hold the same graphs. `FlatGraphs` has one row per vertex and sums over neighbors
by a sparse matrix: it takes any graphs and is faster on a CPU. `PaddedGraphs` pads every graph to the size of the
largest and multiplies by dense adjacency matrices: faster on a GPU for small or dense graphs, and all mini-batches have
the same shape. Padding has weight 0.

Two steps reduce the work without any approximation. Vertices start from few input classes (color, and degree or
identity where needed), so that everything before the first sum over neighbors runs on a handful of rows. And where all
graphs are used at once, color refinement finds the vertices that have the same embedding after each layer; they share
one row as long as that at least halves the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn.functional import pad

from anysize._typing import IntArray
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners
from anysize.nn.counter_rng import uniform
from anysize.nn.rows.aggregation import (
    BlockDiagonal,
    Copies,
    Dense,
    Indexed,
    Neighbors,
    PaddedMax,
    PaddedNeighbors,
    PaddedSum,
    PerModel,
    SegmentExtremes,
    Sparse,
    Sums,
    csr_tensor,
    index_tensor,
    offset_by_model,
    sums_of,
)
from anysize.nn.rows.moving import Movable
from anysize.nn.rows.refinement import VertexClasses, count_neighbor_classes, refine_by_counts
from anysize.nn.rows.structure import Level, Structure

Readout = Literal["sum", "mean", "max"]
READOUTS: tuple[Readout, ...] = get_args(Readout)

PADDED_GRAPH_SIZE = 64  # a GPU uses dense adjacency matrices for graphs of up to so many vertices,
PADDED_FILL = 0.05  # or if this share of their cells is filled,
PADDED_CELLS = 1 << 28  # and if all of them together have no more cells
MAX_INDEX_PADDING = 8  # an index of neighbors may be so many times larger than its entries
MAX_CLASSES_PER_VERTEX = 0.5  # vertices share rows up to this number of classes
MAX_COUNTED_CLASSES = 128  # up to so many input classes, counting neighbors of each is cheaper than summing rows
ALIGNED = 4  # matrix products are faster if the number of columns is a multiple of it
IDENTITIES = 10  # one-hot identities of relational pooling on whole graphs: positions modulo 10
TRAINING_STREAM, PREDICTION_STREAM = 5, 6  # streams of random numbers
SEED_STRIDE = 1 << 20  # copies of one model take consecutive seeds of the generator


@dataclass(frozen=True, eq=False)
class InputClasses:
    """What distinguishes vertices before the first layer.

    ``index`` (vertices,): the class of each vertex, a row of ``features`` (classes, inputs). ``degree`` (classes,): the
    degree of its vertices if classes are distinguished by degree, otherwise 0.
    """

    index: IntArray
    features: NDArray[np.float32]
    degree: NDArray[np.float32]

    @staticmethod
    def of(graphs: GraphSet, palette: tuple[ColorName, ...] | None, by_degree: bool = False) -> InputClasses:
        """One-hot features of the colors of the model's palette; all zero for a color that the model does not know.

        ``palette`` None: a model of graphs without colors, with the single feature 1. ``by_degree``: vertices of one
        class have the same degree, as GCN needs.

        Examples:
            >>> path = GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "X"])
            >>> classes = InputClasses.of(path, ("C", "O"))
            >>> classes.features[classes.index].tolist()
            [[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
        """
        codes, inputs = _color_codes(graphs, palette), input_count(palette)
        one_hot = np.eye(inputs + 1, inputs, k=-1, dtype=np.float32)  # code 0: an unknown color
        degrees = graphs.degrees if by_degree else np.zeros(len(codes), np.int64)
        base = int(degrees.max(initial=0)) + 1
        keys, index = np.unique(codes * base + degrees, return_inverse=True)
        return InputClasses(index.astype(np.int64), one_hot[keys // base], (keys % base).astype(np.float32))


def input_count(palette: tuple[ColorName, ...] | None) -> int:
    """The number of input features of a model that knows these colors."""
    return 1 if palette is None else max(len(palette), 1)


def _color_codes(graphs: GraphSet, palette: tuple[ColorName, ...] | None) -> IntArray:
    """1 + the position of every vertex's color in the palette, 0 for a color that is not in it."""
    if (graphs.colors is None) != (palette is None):
        trained, given = ("plain", "colored") if palette is None else ("colored", "plain")
        remedy = "call without_colors() on these" if palette is None else "give these graphs vertex colors"
        raise ValueError(f"this model was trained on {trained} graphs and got {given} ones; {remedy}")
    if palette is None or graphs.colors is None:
        return np.ones(int(graphs.first[-1]), np.int64)
    place = {name: code + 1 for code, name in enumerate(palette)}
    known = np.array([place.get(name, 0) for name in graphs.palette] or [0], np.int64)
    return known[graphs.colors]


# ---- one row per vertex --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GraphRows:
    """The vertices of some graphs, in either layout; all tensors on one device.

    Of the input classes: ``features`` and ``class_degree``. Per row: its ``input_class``, the ``start`` of its graph
    (the graph's first row), its ``weight`` (1, or 0 for padding; None: no padding) and ``degree``. ``neighbor_sums``
    and ``neighbors`` (None if no extremes are needed) aggregate over neighbors; ``readout`` maps rows to graphs.

    Where models have different graphs, what is per row is (models, rows), padded to the same number of rows.
    """

    features: Tensor
    class_degree: Tensor
    input_class: Tensor
    start: Tensor
    weight: Tensor | None
    degree: Tensor
    neighbor_sums: Sums
    neighbors: Neighbors | None
    readout: Sums


@dataclass(frozen=True, eq=False)
class FlatGraphs(Movable):
    """One row per vertex. ``indices`` numbers vertices across the whole set.

    ``slots`` (vertices, d): the neighbors as a padded index, for extremes; None if not needed, or if the index would be
    too large (``extremes`` is True then).
    """

    features: Tensor
    class_degree: Tensor
    input_class: Tensor
    first: Tensor
    indptr: Tensor
    indices: Tensor
    slots: Tensor | None
    extremes: bool
    readout: Readout

    @staticmethod
    def of(graphs: GraphSet, classes: InputClasses, readout: Readout, extremes: bool) -> FlatGraphs:
        indices = graphs.neighbors
        slots = padded_index(graphs.indptr, indices) if extremes else None
        return FlatGraphs(
            torch.from_numpy(classes.features), torch.from_numpy(classes.degree), torch.from_numpy(classes.index),
            torch.from_numpy(graphs.first.copy()), torch.from_numpy(graphs.indptr.copy()), torch.from_numpy(indices),
            None if slots is None else torch.from_numpy(slots), extremes, readout,
        )  # fmt: skip

    def rows(self, graphs: Tensor | None = None) -> GraphRows:
        """The rows of the graphs with these numbers (None: all), (graphs,) or (models, graphs).

        Shapes depend on the numbers: the host waits.
        """
        if graphs is None:
            return self._rows(self.first, self.input_class, self.indptr, self.indices, self.slots)
        if graphs.dim() == 2:
            return self._rows_by_model(graphs)
        sizes, starts = self.first.diff()[graphs], self.first[graphs]
        first = _offsets(sizes)
        vertices = _ranges(starts, sizes)
        shift = torch.repeat_interleave(first[:-1] - starts, sizes)  # from numbers in the set to numbers in the batch
        degree = self.indptr.diff()[vertices]
        taken = _ranges(self.indptr[vertices], degree)
        indices = self.indices[taken] + torch.repeat_interleave(shift, degree)
        slots = None if self.slots is None else (self.slots[vertices] + shift[:, None]).clamp(min=0)
        return self._rows(first, self.input_class[vertices], _offsets(degree), indices, slots)

    def _rows_by_model(self, graphs: Tensor) -> GraphRows:
        """All models side by side, as graphs of one batch with padding behind those of every model."""
        models = len(graphs)
        sizes, starts = self.first.diff()[graphs], self.first[graphs]
        rows = int(sizes.sum(1).max())
        first = (sizes.cumsum(1) - sizes).reshape(-1)  # the first row of every graph, among those of its model
        begin = offset_by_model(first.view(models, -1), rows).reshape(-1)
        sizes, starts = sizes.reshape(-1), starts.reshape(-1)
        vertices, place = _ranges(starts, sizes), _ranges(begin, sizes)
        shift = torch.repeat_interleave(begin - starts, sizes)
        degree = self.indptr.diff()[vertices]
        indices = self.indices[_ranges(self.indptr[vertices], degree)] + torch.repeat_interleave(shift, degree)

        def spread(values: Tensor, padding: int = 0) -> Tensor:
            return values.new_full((models * rows, *values.shape[1:]), padding).index_copy(0, place, values)

        weight, degrees = spread(torch.ones_like(vertices, dtype=torch.float32)), spread(degree)
        slots = None if self.slots is None else spread((self.slots[vertices] + shift[:, None]).clamp(min=0))
        graph = torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)
        sums, neighbors = self._aggregations(_offsets(degrees), indices, slots)
        readout = self._readout(_offsets(sizes), graph, place, _offsets(weight.long()))
        return GraphRows(
            self.features, self.class_degree, spread(self.input_class[vertices]).view(models, rows),
            spread(first[graph], padding=rows).view(models, rows), weight.view(models, rows),
            degrees.to(torch.float32).view(models, rows), PerModel(models, sums),
            None if neighbors is None else PerModel(models, neighbors), PerModel(models, readout),
        )  # fmt: skip

    def _rows(
        self, first: Tensor, input_class: Tensor, indptr: Tensor, indices: Tensor, slots: Tensor | None
    ) -> GraphRows:
        graph = torch.repeat_interleave(torch.arange(len(first) - 1, device=first.device), first.diff())
        every_row = torch.arange(len(graph) + 1, device=first.device)
        sums, neighbors = self._aggregations(indptr, indices, slots)
        return GraphRows(
            self.features, self.class_degree, input_class, first[graph], None, indptr.diff().to(torch.float32),
            sums, neighbors, self._readout(first, graph, every_row[:-1], every_row),
        )  # fmt: skip

    def _aggregations(self, indptr: Tensor, indices: Tensor, slots: Tensor | None) -> tuple[Sparse, Neighbors | None]:
        """Sums over neighbors, and extremes if they are needed."""
        rows = len(indptr) - 1
        matrix = csr_tensor(indptr, indices, torch.ones(len(indices), device=indices.device), (rows, rows))
        sums = Sparse(matrix, matrix)
        if not self.extremes:
            return sums, None
        if slots is None:
            return sums, SegmentExtremes.of(indices, indptr)
        degree = indptr.diff().to(torch.float32)
        return sums, PaddedNeighbors(slots.t().contiguous(), degree, None, degree, sums)

    def _readout(self, first: Tensor, graph: Tensor, place: Tensor, used: Tensor) -> Sums:
        """From rows to graphs: vertex v, one of ``first[g]`` .. of graph g = ``graph[v]``, has the row ``place[v]``.

        ``used`` (rows + 1,): how many of the rows before each are vertices.
        """
        graphs, rows = len(first) - 1, len(used) - 1
        if self.readout == "max":
            return SegmentExtremes(place, graph, graphs)
        values = torch.ones(len(graph), device=first.device)
        if self.readout == "mean":
            values = values / first.diff()[graph]
        matrix = csr_tensor(first, place, values, (graphs, rows))
        return Sparse(matrix, csr_tensor(used, graph, values, (rows, graphs)))


@dataclass(frozen=True, eq=False)
class PaddedGraphs(Movable):
    """n rows per graph, n being the size of the largest.

    ``input_class``, ``present`` and ``degree`` (graphs, n), adjacency ``matrices`` (graphs, n, n). ``slots`` (graphs,
    n, d): the neighbors as a padded index within the graph, for extremes; None if not needed.
    """

    features: Tensor
    class_degree: Tensor
    input_class: Tensor
    present: Tensor
    degree: Tensor
    matrices: Tensor
    slots: Tensor | None
    readout: Readout

    @staticmethod
    def of(graphs: GraphSet, classes: InputClasses, readout: Readout, extremes: bool) -> PaddedGraphs:
        n = max(int(graphs.sizes.max(initial=1)), 1)
        present = np.arange(n) < graphs.sizes[:, None]
        input_class = np.zeros(present.shape, np.int64)
        input_class[present] = classes.index
        row = np.flatnonzero(present)
        matrices = np.zeros((len(graphs) * n, n), np.float32)
        matrices[np.repeat(row, graphs.degrees), graphs.indices] = 1
        slots = _padded_slots(graphs, row, n) if extremes else None
        return PaddedGraphs(
            torch.from_numpy(classes.features), torch.from_numpy(classes.degree), torch.from_numpy(input_class),
            torch.from_numpy(present.astype(np.float32)), torch.from_numpy(matrices.sum(1).reshape(-1, n)),
            torch.from_numpy(matrices.reshape(-1, n, n)), None if slots is None else torch.from_numpy(slots), readout,
        )  # fmt: skip

    def rows(self, graphs: Tensor | None = None) -> GraphRows:
        """The rows of the graphs with these numbers (None: all), (graphs,) or (models, graphs); the host goes on."""
        input_class, present, degree, slots = self.input_class, self.present, self.degree, self.slots
        if graphs is not None:
            input_class, present, degree = input_class[graphs], present[graphs], degree[graphs]
            slots = None if slots is None else slots[graphs]
        amount, n = present.shape[-2:]
        start = (torch.arange(amount, device=present.device) * n).repeat_interleave(n).expand(*present.shape[:-2], -1)
        neighbors = None if slots is None else self._neighbors(slots, degree, graphs)
        return GraphRows(
            self.features, self.class_degree, input_class.flatten(-2), start, present.flatten(-2), degree.flatten(-2),
            BlockDiagonal(self.matrices, graphs), neighbors, self._readout(present),
        )  # fmt: skip

    def _neighbors(self, slots: Tensor, degree: Tensor, graphs: Tensor | None) -> Neighbors:
        """With slots ([models,] graphs, n, d): those of all models are in one table."""
        degree, n, slot = degree.reshape(-1), degree.shape[-1], slots.flatten(0, -3)
        index = (slot + (torch.arange(len(slot), device=slot.device) * n)[:, None, None]).flatten(0, 1)
        sums = BlockDiagonal(self.matrices, None if graphs is None else graphs.reshape(-1))
        table = PaddedNeighbors(index.t().contiguous(), degree, None, degree, sums)
        return table if slots.dim() == 3 else PerModel(len(slots), table)

    def _readout(self, present: Tensor) -> Sums:
        if self.readout == "max":
            return PaddedMax(torch.where(present > 0, 0.0, -torch.inf))
        return PaddedSum(present if self.readout == "sum" else present / present.sum(-1, keepdim=True).clamp(min=1))


def graph_batch(
    graphs: GraphSet,
    classes: InputClasses,
    readout: Readout,
    extremes: bool = False,
    device: torch.device | str = "cpu",
) -> FlatGraphs | PaddedGraphs:
    """The graphs in the layout that is faster on the device; move them there with ``to``."""
    if readout not in READOUTS:
        raise ValueError(f"a readout is one of {', '.join(READOUTS)}; got {readout!r}")
    layout = PaddedGraphs if prefers_padding(graphs, device) else FlatGraphs
    return layout.of(graphs, classes, readout, extremes)


def prefers_padding(graphs: GraphSet, device: torch.device | str) -> bool:
    """Whether dense adjacency matrices are the better layout of these graphs on this device."""
    largest = int(graphs.sizes.max(initial=1))
    cells = len(graphs) * largest**2
    small_or_dense = largest <= PADDED_GRAPH_SIZE or len(graphs.indices) >= PADDED_FILL * cells
    return torch.device(device).type != "cpu" and small_or_dense and cells <= PADDED_CELLS


def padded_index(indptr: IntArray, indices: IntArray, limited: bool = True) -> IntArray | None:
    """The entries of each row as one array (rows, d), padded with the first entry (0 if a row has none).

    None if most of it would be padding, unless ``limited`` is False.

    Examples:
        >>> padded_index(np.array([0, 2, 2, 3]), np.array([5, 7, 6])).tolist()
        [[5, 7], [0, 0], [6, 6]]
    """
    lengths = np.diff(indptr)
    width = max(int(lengths.max(initial=1)), 1)
    if limited and len(lengths) * width > MAX_INDEX_PADDING * (len(indices) + len(lengths)):
        return None
    used = np.arange(width) < lengths[:, None]
    head = np.zeros(len(lengths), np.int64)
    head[lengths > 0] = indices[indptr[:-1][lengths > 0]]
    index = np.repeat(head[:, None], width, axis=1)
    index[used] = indices
    return index


def _padded_slots(graphs: GraphSet, row: IntArray, n: int) -> IntArray:
    local = padded_index(graphs.indptr, graphs.indices.astype(np.int64), limited=False)
    assert local is not None
    slots = np.zeros((len(graphs) * n, local.shape[1]), np.int64)
    slots[row] = local
    return slots.reshape(len(graphs), n, -1)


def _offsets(lengths: Tensor) -> Tensor:
    return pad(lengths.cumsum(0), (1, 0))


def _ranges(starts: Tensor, lengths: Tensor) -> Tensor:
    """The concatenation of start .. start + length over all starts."""
    first = _offsets(lengths)
    offsets = torch.repeat_interleave(starts - first[:-1], lengths)
    return offsets + torch.arange(len(offsets), device=offsets.device)


# ---- structures ----------------------------------------------------------------------------------


def rows_structure(rows: GraphRows, layers: int, identities: Tensor | None = None) -> Structure:
    """One row per vertex above the input classes.

    ``identities`` (models, copies, rows), or with one model for all of them: the graphs are copied for each.
    """
    features, degree, input_class = rows.features, rows.class_degree, rows.input_class[..., None, :]
    if identities is not None:
        one_hot = torch.eye(IDENTITIES, device=features.device)
        parts = (features.repeat_interleave(IDENTITIES, 0), one_hot.repeat(len(features), 1))
        features, degree = torch.cat(parts, 1), degree.repeat_interleave(IDENTITIES)
        input_class = input_class * IDENTITIES + (identities[0] if len(identities) == 1 else identities)
    spare = -len(features) % ALIGNED  # rows that no vertex has
    features, degree = pad(features, (0, 0, 0, spare)), pad(degree, (0, spare))
    copies, index = input_class.shape[-2], input_class.flatten(-2)  # (rows,), or (models, rows) where models differ

    def copied(values: Tensor) -> Tensor:
        return values.repeat(*[1] * (values.dim() - 1), copies)

    weight, degrees = None if rows.weight is None else copied(rows.weight), copied(rows.degree)
    sums, readout, neighbors = rows.neighbor_sums, rows.readout, rows.neighbors
    if copies > 1:
        sums, readout = Copies(copies, sums), Copies(copies, readout, mean=True)
        neighbors = None if neighbors is None else Copies(copies, neighbors)
    input_neighbors = None if neighbors is None else Indexed(index, neighbors)
    input_sums, joint = _input_sums(index, sums, len(features), neighbors is None)
    first = Level(index, input_sums, weight, degrees, input_neighbors, joint)
    later = Level(None, sums, weight, degrees, neighbors)
    readouts = (Indexed(index, readout), *[readout] * layers)
    return Structure(features, degree, (first, *[later] * (layers - 1)), readouts)


def _input_sums(index: Tensor, sums: Sums, classes: int, with_self: bool) -> tuple[Sums, Sums | None]:
    """Sums over neighbors by how many of them each input class has, counted once for all models if these agree.

    ``with_self``: and the joint map of the row itself and its neighbors (`Level.joint`), for layers that add them up.
    """
    if classes > MAX_COUNTED_CLASSES:
        return Indexed(index, sums), None
    one_hot = (index[..., None] == torch.arange(classes, device=index.device)).float()
    counts = sums(one_hot) if index.dim() == 2 else sums(one_hot[None])[0]
    return Dense(counts), Dense(torch.cat([one_hot, counts], -1)) if with_self else None


def graph_structure(
    graphs: GraphSet, classes: InputClasses, layers: int, readout: Readout, extremes: bool = False,
    device: torch.device | str = "cpu", merge: bool = True,
) -> Structure:  # fmt: skip
    """All graphs of a set as a structure, on the device. ``merge`` False: one row per vertex in every level."""
    rows = graph_batch(graphs, classes, readout, extremes, device).rows()
    on_cpu, vertices = torch.device(device).type == "cpu", len(classes.index)
    graph = owners(graphs.first)
    adjacency = _adjacency(graphs)
    below = VertexClasses.of(classes.index)
    levels: list[Level] = []
    readouts: list[Sums] = [_class_readout(below, graph, graphs.sizes, readout, on_cpu)]
    while len(levels) < layers:
        counts = count_neighbor_classes(adjacency, below)
        above = refine_by_counts(below, counts) if merge else None
        if above is None or len(above) > MAX_CLASSES_PER_VERTEX * vertices:
            break
        levels.append(_class_level(below, above, csr_array(counts[above.example]), extremes, on_cpu))
        readouts.append(_class_readout(above, graph, graphs.sizes, readout, on_cpu))
        below = above
    if len(levels) < layers:
        place = np.arange(vertices) if rows.weight is None else np.flatnonzero(rows.weight.numpy())
        self_index = np.zeros(len(rows.input_class), np.int64)
        self_index[place] = below.classes
        spread = _move_rows(counts, place, len(self_index))
        sums = sums_of(spread, on_cpu)
        neighbors = _neighbors(spread, rows.degree, sums) if extremes else None
        levels.append(Level(index_tensor(self_index), sums, rows.weight, rows.degree, neighbors))
        readouts.append(rows.readout)
    while len(levels) < layers:
        levels.append(Level(None, rows.neighbor_sums, rows.weight, rows.degree, rows.neighbors))
        readouts.append(rows.readout)
    return Structure(rows.features, rows.class_degree, tuple(levels), tuple(readouts)).to(device)


def _adjacency(graphs: GraphSet) -> csr_array[Any]:
    vertices = int(graphs.first[-1])
    ones = np.ones(len(graphs.indices), np.int64)
    return csr_array((ones, graphs.neighbors, graphs.indptr), shape=(vertices, vertices))


def _class_level(
    below: VertexClasses, above: VertexClasses, counts: csr_array[Any], extremes: bool, on_cpu: bool
) -> Level:
    sums, degree = sums_of(counts, on_cpu), torch.from_numpy(np.asarray(counts.sum(axis=1), np.float32).reshape(-1))
    return Level(
        index_tensor(below.classes[above.example]),
        sums,
        torch.from_numpy(above.size.astype(np.float32)),
        degree,
        _neighbors(counts, degree, sums) if extremes else None,
    )


def _class_readout(step: VertexClasses, graph: IntArray, sizes: IntArray, readout: Readout, on_cpu: bool) -> Sums:
    values = np.ones(len(graph)) if readout != "mean" else 1 / sizes[graph]
    matrix = csr_array((values, (graph, step.classes)), shape=(len(sizes), len(step)))
    matrix.sum_duplicates()
    if readout == "max":
        index, first = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
        return SegmentExtremes.of(index_tensor(index), index_tensor(first))
    return sums_of(matrix, on_cpu)


def _neighbors(counts: csr_array[Any], degree: Tensor, sums: Dense | Sparse) -> Neighbors:
    """Each neighbor class once, with its number as weight."""
    indptr, indices = counts.indptr.astype(np.int64), counts.indices.astype(np.int64)
    slots = padded_index(indptr, indices)
    if slots is None:
        return SegmentExtremes.of(index_tensor(indices), index_tensor(indptr))
    used = np.diff(indptr).astype(np.float32)
    weight = np.zeros(slots.shape, np.float32)
    weight[np.arange(slots.shape[1]) < used[:, None]] = counts.data
    weights = torch.from_numpy(weight.T.copy())
    return PaddedNeighbors(index_tensor(slots.T), torch.from_numpy(used), weights, degree, sums)


def _move_rows(counts: csr_array[Any], place: IntArray, rows: int) -> csr_array[Any]:
    """The rows of a matrix at these places among ``rows``, all others empty."""
    lengths = np.zeros(rows + 1, np.int64)
    lengths[place + 1] = np.diff(counts.indptr)
    return csr_array((counts.data, counts.indices, np.cumsum(lengths)), shape=(rows, counts.shape[1]))


# ---- identities of relational pooling ------------------------------------------------------------


def draw_identities(rows: GraphRows, copies: int, step: Tensor | int, seeds: Tensor) -> Tensor:
    """Positions modulo 10 in random orders of every graph, different in every step: (seeds, copies, rows).

    The random number of a vertex depends on its number among all vertices, so that both layouts draw the same.
    """
    drawn = _uniform(seeds, copies, step, rows.input_class.shape[-1], TRAINING_STREAM)
    if rows.weight is not None:
        there = rows.weight.long()
        number = (there.cumsum(-1) - there)[..., None, :]  # of every vertex
        drawn = drawn.gather(2, number.expand_as(drawn))
    return _positions(rows, drawn)


def fixed_identities(rows: GraphRows, copies: int, seeds: Tensor) -> Tensor:
    """The orders of prediction: they depend on the seed and on a vertex's place in its graph, not on other graphs."""
    place = torch.arange(len(rows.input_class), device=rows.input_class.device) - rows.start
    largest = int(place.max()) + 1 if len(place) else 1
    return _positions(rows, _uniform(seeds, copies, 0, largest, PREDICTION_STREAM)[..., place])


def _uniform(seeds: Tensor, copies: int, step: Tensor | int, amount: int, stream: int) -> Tensor:
    """(seeds, copies, amount)."""
    every = seeds[:, None] * SEED_STRIDE + torch.arange(copies, device=seeds.device)
    return uniform(every.reshape(-1), step, amount, stream).view(len(seeds), copies, amount)


def _positions(rows: GraphRows, drawn: Tensor) -> Tensor:
    """The rank of every row's number within its graph, modulo 10; padding comes last."""
    start, keys = rows.start[..., None, :], drawn.double()
    if rows.weight is not None:
        keys = keys + (1 - rows.weight)[..., None, :]
    order = torch.argsort(start + keys / 2, dim=-1, stable=True)  # graphs stay together: the fraction is below 1
    positions = torch.arange(order.shape[-1], device=order.device).expand_as(order)
    rank = torch.empty_like(order).scatter_(-1, order, positions)
    return (rank - start) % IDENTITIES
