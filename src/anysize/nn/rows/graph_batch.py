"""Whole graphs, all of a set or a mini-batch, as the structure that message passing runs on.

The rows are the vertices. Two layouts hold the same graphs. `FlatGraphs` has one row per vertex and sums over neighbors
by a sparse matrix: it takes any graphs and is faster on a CPU. `PaddedGraphs` pads every graph to the size of the
largest and multiplies by dense adjacency matrices: faster on a GPU for small or dense graphs, and all mini-batches have
the same shape. Padding has weight 0.

Two steps reduce the work without any approximation. Vertices start from few input classes (color, and degree or
identity where needed), so that everything before the first sum over neighbors runs on a handful of rows. And where all
graphs are used at once, color refinement finds the vertices that have the same embedding after each layer; they share
one row as long as that at least halves the number of rows. Vertices with features do not share rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
import torch
from scipy.sparse import csr_array
from torch import Tensor
from torch.nn.functional import pad

from anysize._typing import IntArray
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners
from anysize.nn.counter_rng import uniform
from anysize.nn.rows.inputs import InputClasses
from anysize.nn.rows.maps import (
    Blocks,
    ByCopy,
    Dense,
    Extremes,
    Movable,
    Neighbors,
    Sparse,
    Sums,
    Taken,
    index_tensor,
    offset_by_model,
    sums_of,
)
from anysize.nn.rows.refinement import VertexClasses, class_level, refine
from anysize.nn.rows.structure import Level, Structure

Readout = Literal["sum", "mean", "max"]
READOUTS: tuple[Readout, ...] = get_args(Readout)

PADDED_GRAPH_SIZE = 64  # a GPU uses dense adjacency matrices for graphs of up to so many vertices,
PADDED_FILL = 0.05  # or if this share of their cells is filled,
PADDED_CELLS = 1 << 28  # and if all of them together have no more cells
MAX_CLASSES_PER_VERTEX = 0.5  # vertices share rows up to this number of classes
MAX_COUNTED_CLASSES = 128  # up to so many input classes, counting neighbors of each is cheaper than summing rows
ALIGNED = 4  # matrix products are faster if the number of columns is a multiple of it
IDENTITIES = 10  # one-hot identities of relational pooling on whole graphs: positions modulo 10
TRAINING_STREAM, PREDICTION_STREAM = 5, 6  # streams of random numbers
SEED_STRIDE = 1 << 20  # copies of one model take consecutive seeds of the generator


# ---- one row per vertex --------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GraphRows:
    """The vertices of some graphs, in either layout; all tensors on one device.

    Of the input classes: ``features`` and ``class_degree``. Per row: its ``input_class``, the ``start`` of its graph
    (the graph's first row), its ``weight`` (1, or 0 for padding; None: no padding) and ``degree``. ``sum_neighbors``
    and ``neighbors`` (None if no extremes are needed) aggregate over neighbors; ``readout`` maps rows to graphs.

    Where models have different graphs, what is per row is (models, rows), padded to the same number of rows.
    """

    features: Tensor
    class_degree: Tensor
    input_class: Tensor
    start: Tensor
    weight: Tensor | None
    degree: Tensor
    sum_neighbors: Sums
    neighbors: Extremes | None
    readout: Sums
    types: int = 0


@dataclass(frozen=True, eq=False)
class FlatGraphs(Movable):
    """One row per vertex. ``indices`` numbers vertices across the whole set. ``extremes``: over neighbors, for PNA.

    ``entry_types``: of the edge to each of ``indices``, one of ``types``; None: edges are all alike.
    """

    features: Tensor
    class_degree: Tensor
    input_class: Tensor
    first: Tensor
    indptr: Tensor
    indices: Tensor
    extremes: bool
    readout: Readout
    entry_types: Tensor | None = None
    types: int = 0

    @staticmethod
    def of(graphs: GraphSet, classes: InputClasses, readout: Readout, extremes: bool) -> FlatGraphs:
        codes, types = (None, 0) if classes.types is None else (index_tensor(classes.types[0]), classes.types[1])
        return FlatGraphs(
            torch.from_numpy(classes.features), torch.from_numpy(classes.degree), torch.from_numpy(classes.index),
            torch.from_numpy(graphs.first.copy()), torch.from_numpy(graphs.indptr.copy()),
            torch.from_numpy(graphs.neighbors), extremes, readout, codes, types,
        )  # fmt: skip

    def rows(self, graphs: Tensor | None = None) -> GraphRows:
        """The rows of the graphs with these numbers (None: all), (graphs,) or (models, graphs).

        The rows of all models are side by side, with padding behind those of every model. The number of rows depends on
        the graphs, so that a GPU is synchronized.
        """
        chosen = torch.arange(len(self.first) - 1, device=self.first.device) if graphs is None else graphs
        models = len(chosen) if chosen.dim() == 2 else 1
        sizes, starts = self.first.diff()[chosen].view(models, -1), self.first[chosen].view(-1)
        rows = int(sizes.sum(1).max())  # of every model
        start = sizes.cumsum(1) - sizes  # of every graph, among the rows of its model
        begin, start, sizes = offset_by_model(start, rows).view(-1), start.view(-1), sizes.view(-1)
        vertices, row = _ranges(starts, sizes), _ranges(begin, sizes)
        graph = torch.repeat_interleave(torch.arange(len(sizes), device=sizes.device), sizes)
        degree = self.indptr.diff()[vertices]
        entries = _ranges(self.indptr[vertices], degree)
        near = self.indices[entries]
        near = near + torch.repeat_interleave((begin - starts)[graph], degree)  # from numbers in the set to rows
        if self.entry_types is not None:  # the rows of a model follow each other once for every type
            model = torch.repeat_interleave(graph // (len(sizes) // models), degree)
            near = near + rows * (self.entry_types[entries] + model * (self.types - 1))

        def spread(values: Tensor, padding: int = 0) -> Tensor:
            """Values of vertices as values of rows."""
            if len(values) == models * rows:
                return values
            return values.new_full((models * rows,), padding).index_copy(0, row, values)

        def shaped(values: Tensor) -> Tensor:
            return values.view(models, rows) if chosen.dim() == 2 else values

        degrees = spread(degree)
        first = _offsets(degrees)
        weight = spread(torch.ones_like(degree, dtype=torch.float32))
        columns = models * rows * max(self.types, 1)
        return GraphRows(
            self.features, self.class_degree, shaped(spread(self.input_class[vertices])),
            shaped(spread(start[graph], padding=rows)), shaped(weight) if chosen.dim() == 2 else None,
            shaped(degrees.to(torch.float32)),
            Sparse(first, near, None, columns, symmetric=not self.types, models=models),
            Extremes(near, first, None, columns, models) if self.extremes else None,
            self._readout(sizes, row, models * rows, models),
            self.types,
        )  # fmt: skip

    def _readout(self, sizes: Tensor, row: Tensor, rows: int, models: int) -> Sums:
        """From rows to graphs of these sizes; ``row``: of every vertex."""
        first = _offsets(sizes)
        if self.readout == "max":
            return Extremes(row, first, None, rows, models)
        shares = torch.repeat_interleave(1 / sizes, sizes) if self.readout == "mean" else None
        return Sparse(first, row, shares, rows, models=models)


@dataclass(frozen=True, eq=False)
class PaddedGraphs(Movable):
    """n rows per graph, n being the size of the largest.

    ``input_class``, ``present`` and ``degree`` (graphs, n), adjacency ``matrices`` (graphs, n, n). ``slots`` (graphs,
    n, d): the neighbors within the graph, filled up by repetition, for extremes; None if not needed.
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
        matrices = np.zeros((len(graphs), n, n), np.float32)
        graph, vertex = np.nonzero(present)
        degrees = graphs.degrees
        matrices[np.repeat(graph, degrees), np.repeat(vertex, degrees), graphs.indices] = 1
        slots = None
        if extremes:
            slots = np.zeros((len(graphs), n, max(int(degrees.max(initial=1)), 1)), np.int64)
            slots[graph, vertex] = _filled(graphs.indptr, graphs.indices.astype(np.int64))
        return PaddedGraphs(
            torch.from_numpy(classes.features), torch.from_numpy(classes.degree), torch.from_numpy(input_class),
            torch.from_numpy(present.astype(np.float32)), torch.from_numpy(matrices.sum(2)), torch.from_numpy(matrices),
            None if slots is None else torch.from_numpy(slots), readout,
        )  # fmt: skip

    def rows(self, graphs: Tensor | None = None) -> GraphRows:
        """The rows of the graphs with these numbers (None: all), (graphs,) or (models, graphs).

        All tensors have the same shapes for equally many graphs, so that a GPU need not be synchronized.
        """
        chosen = torch.arange(len(self.present), device=self.present.device) if graphs is None else graphs
        present, degree, n = self.present[chosen], self.degree[chosen].flatten(-2), self.present.shape[1]
        start = (torch.arange(chosen.shape[-1], device=present.device) * n).repeat_interleave(n)
        neighbors = None if self.slots is None else self._extremes(self.slots[chosen], degree > 0)
        return GraphRows(
            self.features, self.class_degree, self.input_class[chosen].flatten(-2), start.expand_as(degree),
            present.flatten(-2), degree, Blocks(self.matrices, graphs), neighbors, self._readout(present, graphs),
        )  # fmt: skip

    def _readout(self, present: Tensor, graphs: Tensor | None) -> Sums:
        """``present``: of the graphs with these numbers."""
        if self.readout == "max":
            n = present.shape[-1]
            last = (present.sum(-1, keepdim=True).long() - 1).clamp(min=0)  # vertices come in front of padding
            slots = torch.minimum(torch.arange(n, device=last.device).expand_as(present), last)
            return self._extremes(slots[..., None, :], present[..., 0] > 0)
        sizes = self.present.sum(-1, keepdim=True) if self.readout == "mean" else torch.ones_like(self.present[:, :1])
        return Blocks((self.present / sizes.clamp(min=1))[:, None], graphs)

    def _extremes(self, slots: Tensor, present: Tensor) -> Extremes:
        """Extremes over the rows ``slots`` ([models,] graphs, rows, d) within each graph, where any are ``present``."""
        models, n = len(slots) if slots.dim() == 4 else 1, self.present.shape[1]
        blocks = slots.flatten(0, -3)
        index = offset_by_model(blocks, n).flatten(0, 1)
        return Extremes(index, None, present.reshape(-1, 1).to(torch.float32), len(blocks) * n, models)


def graph_batch(
    graphs: GraphSet,
    classes: InputClasses,
    readout: Readout,
    extremes: bool = False,
    device: torch.device | str = "cpu",
) -> FlatGraphs | PaddedGraphs:
    """The graphs in the layout that is faster on the device; move them there with ``to``. Edges of types are flat."""
    if readout not in READOUTS:
        raise ValueError(f"a readout is one of {', '.join(READOUTS)}; got {readout!r}")
    layout = PaddedGraphs if classes.types is None and prefers_padding(graphs, device) else FlatGraphs
    return layout.of(graphs, classes, readout, extremes)


def prefers_padding(graphs: GraphSet, device: torch.device | str) -> bool:
    """Whether dense adjacency matrices are the better layout of these graphs on this device."""
    largest = int(graphs.sizes.max(initial=1))
    cells = len(graphs) * largest**2
    small_or_dense = largest <= PADDED_GRAPH_SIZE or len(graphs.indices) >= PADDED_FILL * cells
    return torch.device(device).type != "cpu" and small_or_dense and cells <= PADDED_CELLS


def _filled(indptr: IntArray, indices: IntArray) -> IntArray:
    """The entries of each row as one array (rows, d), filled up with the first entry (0 if a row has none).

    Examples:
        >>> _filled(np.array([0, 2, 2, 3]), np.array([5, 7, 6])).tolist()
        [[5, 7], [0, 0], [6, 6]]
    """
    lengths = np.diff(indptr)
    width = max(int(lengths.max(initial=1)), 1)
    head = np.zeros(len(lengths), np.int64)
    head[lengths > 0] = indices[indptr[:-1][lengths > 0]]
    index = np.repeat(head[:, None], width, axis=1)
    index[np.arange(width) < lengths[:, None]] = indices
    return index


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
    copies = 1 if identities is None else identities.shape[-2]

    def copied(values: Tensor) -> Tensor:
        return values.repeat(*[1] * (values.dim() - 1), copies)

    weight, degree = None if rows.weight is None else copied(rows.weight), copied(rows.degree)
    types, sums = rows.types, rows.sum_neighbors
    neighbors: Neighbors | None = rows.neighbors
    if types and copies > 1:
        each = rows.input_class.shape[-1]
        sums, neighbors = ByCopy(sums, types, each), None if neighbors is None else ByCopy(neighbors, types, each)
    later = Level(None, sums, weight, degree, degree, neighbors, types)
    if len(rows.features) > rows.input_class.shape[-1]:  # vertices do not share input classes
        features = rows.features[rows.input_class]
        if identities is not None:
            spread = features.unsqueeze(-3).expand(*identities.shape, -1)
            one_hot = torch.eye(IDENTITIES, device=features.device)[identities]
            features = torch.cat([spread, one_hot], -1).flatten(-3, -2)
            features = features[0] if len(features) == 1 else features
        return Structure(features, (later,) * layers, (rows.readout,) * (layers + 1), copies)
    features, class_degree, input_class = rows.features, rows.class_degree, rows.input_class[..., None, :]
    if identities is not None:
        one_hot = torch.eye(IDENTITIES, device=features.device)
        parts = (features.repeat_interleave(IDENTITIES, 0), one_hot.repeat(len(features), 1))
        features, class_degree = torch.cat(parts, 1), class_degree.repeat_interleave(IDENTITIES)
        input_class = input_class * IDENTITIES + (identities[0] if len(identities) == 1 else identities)
    spare = -len(features) % ALIGNED  # rows that no vertex has
    features, class_degree = pad(features, (0, 0, 0, spare)), pad(class_degree, (0, spare))
    index = input_class.flatten(-2)  # (rows,), or (models, rows) where models differ
    by_type = torch.cat([index + kind * len(features) for kind in range(max(types, 1))], -1)
    first = Level(
        index,
        Taken(by_type, sums) if types else _input_sums(index, sums, len(features)),
        weight,
        degree,
        class_degree,
        None if neighbors is None else Taken(by_type, neighbors),
        types,
    )
    readouts = (Taken(index, rows.readout), *[rows.readout] * layers)
    return Structure(features, (first, *[later] * (layers - 1)), readouts, copies)


def _input_sums(index: Tensor, sum_neighbors: Sums, classes: int) -> Sums:
    """Sums over neighbors by how many of them each input class has, counted once for all models if these agree."""
    if classes > MAX_COUNTED_CLASSES:
        return Taken(index, sum_neighbors)
    one_hot = (index[..., None] == torch.arange(classes, device=index.device)).float()
    return Dense(sum_neighbors(one_hot) if index.dim() == 2 else sum_neighbors(one_hot[None])[0])


def graph_structure(
    graphs: GraphSet, classes: InputClasses, layers: int, readout: Readout, extremes: bool = False,
    device: torch.device | str = "cpu",
) -> Structure:  # fmt: skip
    """All graphs of a set as a structure, on the device."""
    batch = graph_batch(graphs, classes, readout, extremes, device)
    if isinstance(batch, PaddedGraphs):
        return rows_structure(batch.to(device).rows(), layers)
    rows = batch.rows()
    indptr, indices, graph = graphs.indptr.astype(np.int64), graphs.neighbors, owners(graphs.first)
    on_cpu, vertices = torch.device(device).type == "cpu", len(classes.index)
    steps = [VertexClasses.of(classes.index)]
    while len(steps) <= layers:
        above = refine(indptr, indices, steps[-1].classes, classes.types and classes.types[0])
        if len(above) > MAX_CLASSES_PER_VERTEX * vertices:
            break
        steps.append(above)
    levels = [class_level(indptr, indices, *pair, extremes, on_cpu, classes.types) for pair in pairwise(steps)]
    readouts = [_class_readout(step, graph, graphs.sizes, readout, on_cpu) for step in steps]
    if len(levels) < layers:
        apart = VertexClasses.of(np.arange(vertices))
        level = class_level(indptr, indices, steps[-1], apart, extremes, on_cpu, classes.types)
        later = Level(None, rows.sum_neighbors, None, rows.degree, rows.degree, rows.neighbors, rows.types)
        levels += [replace(level, weight=None), *[later] * (layers - len(levels) - 1)]
        readouts += [rows.readout] * (layers + 1 - len(readouts))
    structure = Structure(torch.from_numpy(classes.features), tuple(levels), tuple(readouts))
    return structure if on_cpu else structure.to(device)


def _class_readout(step: VertexClasses, graph: IntArray, sizes: IntArray, readout: Readout, on_cpu: bool) -> Sums:
    values = np.ones(len(graph)) if readout != "mean" else 1 / sizes[graph]
    matrix = csr_array((values, (graph, step.classes)), shape=(len(sizes), len(step)))
    matrix.sum_duplicates()
    if readout == "max":
        return Extremes(index_tensor(matrix.indices), index_tensor(matrix.indptr), None, len(step))
    return sums_of(matrix, on_cpu)


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
    """The orders of prediction: they depend on the seed and on the positions of vertices, not on other graphs."""
    position = torch.arange(len(rows.input_class), device=rows.input_class.device) - rows.start
    largest = int(position.max()) + 1 if len(position) else 1
    return _positions(rows, _uniform(seeds, copies, 0, largest, PREDICTION_STREAM)[..., position])


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
