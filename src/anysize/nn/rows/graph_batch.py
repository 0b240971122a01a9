"""Whole graphs as the rows that message passing runs on: all graphs of a set, or a mini-batch of them.

The rows are the vertices. Two layouts hold the same graphs. `FlatGraphs` has one row per vertex and sums over
neighbors by a sparse matrix: any graphs, and the faster one on a CPU. `PaddedGraphs` fills every graph up to the
size of the largest and multiplies by full adjacency matrices: a GPU prefers that for small or dense graphs, and
its mini-batches have one shape. Rows that only fill up weigh nothing.

Below the vertices lie the marks: all that tells vertices apart before the first layer. There are few of them, so
that whatever comes before the first sum over neighbors runs on a handful of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from anysize._typing import IntArray
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.nn.rows.aggregation import Blocks, Lists, Pooled, PooledLargest, Slots
from anysize.nn.rows.structure import Neighbors, Sparse, Sums, csr_tensor

Readout = Literal["sum", "mean", "max"]
READOUTS = ("sum", "mean", "max")

SMALL_GRAPHS = 64  # vertices; up to here, or with so many of the cells filled, a GPU multiplies full matrices
WELL_FILLED = 0.05
BLOCK_CELLS = 1 << 28
WIDE = 8  # an index of neighbors may have so many times the places it needs


@dataclass(frozen=True, eq=False)
class Marks:
    """What tells vertices apart at first: ``of`` (vertices,) is the row of ``features`` (marks, inputs).

    ``degree`` (marks,): the degree of the vertices of a mark where marks know it, otherwise 0.
    """

    of: IntArray
    features: NDArray[np.float32]
    degree: NDArray[np.float32]

    @staticmethod
    def read(graphs: GraphSet, palette: tuple[ColorName, ...] | None, by_degree: bool = False) -> Marks:
        """Colors as one-hot features over the model's palette; all zero for a color that the model does not know.

        ``palette`` None: a model of plain graphs, with the one feature 1. ``by_degree``: vertices of one mark have
        the same degree, as GCN needs.

        Examples:
            >>> path = GraphSet.from_edges([(0, 1), (1, 2)], colors=["C", "C", "X"])
            >>> marks = Marks.read(path, ("C", "O"))
            >>> marks.features[marks.of].tolist()
            [[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]
        """
        codes, inputs = _codes(graphs, palette), 1 if palette is None else max(len(palette), 1)
        one_hot = np.eye(inputs + 1, inputs, k=-1, dtype=np.float32)  # code 0: a color that nobody knows
        degrees = graphs.degrees if by_degree else np.zeros(len(codes), np.int64)
        base = int(degrees.max(initial=0)) + 1
        keys, of = np.unique(codes * base + degrees, return_inverse=True)
        return Marks(of.astype(np.int64), one_hot[keys // base], (keys % base).astype(np.float32))


def _codes(graphs: GraphSet, palette: tuple[ColorName, ...] | None) -> IntArray:
    """1 + the place of every vertex's color in the palette, 0 where it is not there."""
    if (graphs.colors is None) != (palette is None):
        had, came = ("plain", "colored") if palette is None else ("colored", "plain")
        remedy = "call without_colors() on these" if palette is None else "give these the colors they lack"
        raise ValueError(f"this model was trained on {had} graphs and got {came} ones; {remedy}")
    if palette is None or graphs.colors is None:
        return np.ones(int(graphs.first[-1]), np.int64)
    place = {name: code + 1 for code, name in enumerate(palette)}
    known = np.array([place.get(name, 0) for name in graphs.palette] or [0], np.int64)
    return known[graphs.colors]


@dataclass(frozen=True, eq=False)
class Rows:
    """The vertices of some graphs, in either layout; everything on one device.

    ``features`` and ``mark_degree`` of the marks; per row: its ``mark``, the ``start`` of its graph (the graph's
    first row), its ``weight`` (1, or 0 if it only fills up; None: no row does) and ``degree``. ``near`` sums over
    neighbors, ``neighbors`` knows their extremes (None unless asked for), ``readout`` maps rows to graphs.
    """

    features: Tensor
    mark_degree: Tensor
    mark: Tensor
    start: Tensor
    weight: Tensor | None
    degree: Tensor
    near: Sums
    neighbors: Neighbors | None
    readout: Sums


@dataclass(frozen=True, eq=False)
class FlatGraphs:
    """One row per vertex. Neighbors are numbered through the set, as in a `GraphSet` whose graphs are one.

    ``slots`` (vertices, d): the neighbors again, for extremes, the first one repeated to fill up; None where
    nobody asks or where it would be too wide, ``extremes`` being true then.
    """

    features: Tensor
    mark_degree: Tensor
    mark: Tensor
    first: Tensor
    indptr: Tensor
    indices: Tensor
    slots: Tensor | None
    extremes: bool
    readout: Readout

    @staticmethod
    def of(graphs: GraphSet, marks: Marks, readout: Readout, extremes: bool) -> FlatGraphs:
        start = np.repeat(graphs.first[:-1], graphs.sizes)
        indices = graphs.indices.astype(np.int64) + np.repeat(start, graphs.degrees)
        slots = slots_of(graphs.indptr, indices) if extremes else None
        return FlatGraphs(
            torch.from_numpy(marks.features), torch.from_numpy(marks.degree), torch.from_numpy(marks.of),
            torch.from_numpy(graphs.first.copy()), torch.from_numpy(graphs.indptr.copy()), torch.from_numpy(indices),
            None if slots is None else torch.from_numpy(slots), extremes, readout,
        )  # fmt: skip

    def to(self, device: torch.device | str) -> FlatGraphs:
        names = ("features", "mark_degree", "mark", "first", "indptr", "indices", "slots")
        return replace(self, **_moved(self, names, device))

    def rows(self, graphs: Tensor | None = None) -> Rows:
        """The rows of the graphs with these numbers (None: all). Shapes depend on the numbers: the host waits."""
        if graphs is None:
            return self._rows(self.first, self.mark, self.indptr, self.indices, self.slots)
        sizes, starts = self.first.diff()[graphs], self.first[graphs]
        first = _offsets(sizes)
        vertices = _ranges(starts, sizes)
        shift = torch.repeat_interleave(first[:-1] - starts, sizes)  # from numbers in the set to numbers in here
        degree = self.indptr.diff()[vertices]
        taken = _ranges(self.indptr[vertices], degree)
        indices = self.indices[taken] + torch.repeat_interleave(shift, degree)
        slots = None if self.slots is None else (self.slots[vertices] + shift[:, None]).clamp(min=0)
        return self._rows(first, self.mark[vertices], _offsets(degree), indices, slots)

    def _rows(self, first: Tensor, mark: Tensor, indptr: Tensor, indices: Tensor, slots: Tensor | None) -> Rows:
        rows, degree = len(mark), indptr.diff().to(torch.float32)
        ones = torch.ones(len(indices), device=indices.device)
        matrix = csr_tensor(indptr, indices, ones, (rows, rows))
        neighbors: Neighbors | None = None
        if self.extremes:
            some = (degree > 0).to(torch.float32)
            neighbors = Lists.of(indices, indptr) if slots is None else Slots(slots.t().contiguous(), some)
        graph = torch.repeat_interleave(torch.arange(len(first) - 1, device=first.device), first.diff())
        return Rows(
            self.features, self.mark_degree, mark, first[graph], None, degree,
            Sparse(matrix, matrix), neighbors, self._readout(first, graph),
        )  # fmt: skip

    def _readout(self, first: Tensor, graph: Tensor) -> Sums:
        rows, graphs = len(graph), len(first) - 1
        everybody = torch.arange(rows + 1, device=first.device)
        if self.readout == "max":
            return Lists(everybody[:-1], graph, graphs)
        values = torch.ones(rows, device=first.device)
        if self.readout == "mean":
            values = values / first.diff()[graph]
        matrix = csr_tensor(first, everybody[:-1], values, (graphs, rows))
        return Sparse(matrix, csr_tensor(everybody, graph, values, (rows, graphs)))


@dataclass(frozen=True, eq=False)
class PaddedGraphs:
    """n rows for every graph, the size of the largest: ``mark`` and ``present`` (graphs, n), ``matrices`` (.., n, n).

    ``slots`` (graphs, n, d): neighbors within the graph, for extremes; None where nobody asks.
    """

    features: Tensor
    mark_degree: Tensor
    mark: Tensor
    present: Tensor
    matrices: Tensor
    slots: Tensor | None
    readout: Readout

    @staticmethod
    def of(graphs: GraphSet, marks: Marks, readout: Readout, extremes: bool) -> PaddedGraphs:
        n = max(int(graphs.sizes.max(initial=1)), 1)
        present = np.arange(n) < graphs.sizes[:, None]
        mark = np.zeros(present.shape, np.int64)
        mark[present] = marks.of
        row = np.flatnonzero(present)
        matrices = np.zeros((len(graphs) * n, n), np.float32)
        matrices[np.repeat(row, graphs.degrees), graphs.indices] = 1
        slots = _padded_slots(graphs, row, n) if extremes else None
        return PaddedGraphs(
            torch.from_numpy(marks.features), torch.from_numpy(marks.degree), torch.from_numpy(mark),
            torch.from_numpy(present.astype(np.float32)), torch.from_numpy(matrices.reshape(-1, n, n)),
            None if slots is None else torch.from_numpy(slots), readout,
        )  # fmt: skip

    def to(self, device: torch.device | str) -> PaddedGraphs:
        names = ("features", "mark_degree", "mark", "present", "matrices", "slots")
        return replace(self, **_moved(self, names, device))

    def rows(self, graphs: Tensor | None = None) -> Rows:
        """The rows of the graphs with these numbers (None: all); the host never waits."""
        mark, present, matrices, slots = self.mark, self.present, self.matrices, self.slots
        if graphs is not None:
            mark, present, matrices = mark[graphs], present[graphs], matrices[graphs]
            slots = None if slots is None else slots[graphs]
        amount, n = mark.shape
        start = (torch.arange(amount, device=mark.device) * n)[:, None].expand(-1, n)
        degree = matrices.sum(2).reshape(-1)
        neighbors = None
        if slots is not None:
            index = (slots + start[..., None]).reshape(amount * n, -1)
            neighbors = Slots(index.t().contiguous(), (degree > 0).to(torch.float32))
        return Rows(
            self.features, self.mark_degree, mark.reshape(-1), start.reshape(-1), present.reshape(-1), degree,
            Blocks(matrices), neighbors, self._readout(present),
        )  # fmt: skip

    def _readout(self, present: Tensor) -> Sums:
        if self.readout == "max":
            return PooledLargest(torch.where(present > 0, 0.0, -torch.inf))
        return Pooled(present if self.readout == "sum" else present / present.sum(1, keepdim=True).clamp(min=1))


def _padded_slots(graphs: GraphSet, row: IntArray, n: int) -> IntArray:
    local = slots_of(graphs.indptr, graphs.indices.astype(np.int64), wide=True)
    assert local is not None
    slots = np.zeros((len(graphs) * n, local.shape[1]), np.int64)
    slots[row] = local
    return slots.reshape(len(graphs), n, -1)


def graph_batch(
    graphs: GraphSet, marks: Marks, readout: Readout, extremes: bool = False, device: torch.device | str = "cpu"
) -> FlatGraphs | PaddedGraphs:
    """The graphs in the layout that suits them and the device they are meant for; move them there with ``to``."""
    if readout not in READOUTS:
        raise ValueError(f"a readout is one of {', '.join(READOUTS)}; got {readout!r}")
    layout = PaddedGraphs if fills_up(graphs, device) else FlatGraphs
    return layout.of(graphs, marks, readout, extremes)


def fills_up(graphs: GraphSet, device: torch.device | str) -> bool:
    """Whether full adjacency matrices are the better way for these graphs on this device."""
    largest = int(graphs.sizes.max(initial=1))
    cells = len(graphs) * largest**2
    full = largest <= SMALL_GRAPHS or len(graphs.indices) >= WELL_FILLED * cells
    return torch.device(device).type != "cpu" and full and cells <= BLOCK_CELLS


def slots_of(indptr: IntArray, indices: IntArray, wide: bool = False) -> IntArray | None:
    """The entries of each row as one array (rows, d), filled up with the first one (0 if a row has none).

    None where d is so large that most places would only fill up, unless ``wide``.

    Examples:
        >>> slots_of(np.array([0, 2, 2, 3]), np.array([5, 7, 6])).tolist()
        [[5, 7], [0, 0], [6, 6]]
    """
    lengths = np.diff(indptr)
    width = max(int(lengths.max(initial=1)), 1)
    if not wide and len(lengths) * width > WIDE * (len(indices) + len(lengths)):
        return None
    place = np.arange(width) < lengths[:, None]
    head = np.zeros(len(lengths), np.int64)
    head[lengths > 0] = indices[indptr[:-1][lengths > 0]]
    found = np.repeat(head[:, None], width, axis=1)
    found[place] = indices
    return found


def _moved(parts: FlatGraphs | PaddedGraphs, names: tuple[str, ...], device: torch.device | str) -> dict[str, Any]:
    tensors = {name: getattr(parts, name) for name in names}
    return {name: None if tensor is None else tensor.to(device) for name, tensor in tensors.items()}


def _offsets(lengths: Tensor) -> Tensor:
    return torch.nn.functional.pad(lengths.cumsum(0), (1, 0))


def _ranges(starts: Tensor, lengths: Tensor) -> Tensor:
    """The concatenation of start .. start + length over all pairs."""
    first = _offsets(lengths)
    offsets = torch.repeat_interleave(starts - first[:-1], lengths)
    return offsets + torch.arange(len(offsets), device=offsets.device)
