"""The Weisfeiler-Lehman subtree kernel; colors are refined for all graphs of a set at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from anysize._errors import GraphError
from anysize._schema import (
    boolean,
    check_array,
    check_compressed_rows,
    check_integer,
    color_name,
    edge_type,
    fields,
    integer,
    list_of,
    optional,
    text,
)
from anysize._typing import BoolArray, IntArray
from anysize.graphs.attributes import BOTH_WAYS, EdgeType, edge_types, with_attributes_of
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.graphs.labels import State
from anysize.graphs.ragged import index_type, offsets, owners, ranges
from anysize.io.convert import as_graphset
from anysize.kernels.gram import ExplicitKernel
from anysize.patterns.pattern import format_color

OWN_FACTOR = np.uint64(0xD6E8FEB86659FD93)  # any large odd number: a vertex counts otherwise than its neighbors
MAX_NEIGHBORS_NAMED = 6  # different classes of neighbors in the name of a class


@dataclass(frozen=True, eq=False)
class Signatures:
    """The input of one refinement step: row i is the color of a vertex and the sorted colors of its neighbors.

    ``own``: one color per row; the neighbor colors of row i are ``near[first[i]:first[i + 1]]``. With E types of edges
    a neighbor of color c along an edge of type e has the number c * E + e.
    """

    own: IntArray
    first: IntArray
    near: IntArray
    _by_hash: dict[int, tuple[NDArray[np.uint64], IntArray]] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.own)

    def rows(self, index: IntArray) -> Signatures:
        """The rows with these numbers."""
        start = self.first[index]
        lengths = self.first[index + 1] - start
        return Signatures(self.own[index], offsets(lengths), self.near[ranges(start, lengths)])

    def equals(self, other: Signatures) -> bool:
        """Whether both have the same rows in the same order; arrays that are shared need no look."""
        pairs = ((self.own, other.own), (self.first, other.first), (self.near, other.near))
        return all(ours is another or np.array_equal(ours, another) for ours, another in pairs)

    def by_hash(self, salt: int) -> tuple[NDArray[np.uint64], IntArray]:
        """The hashes of the rows in ascending order, and the rows in this order."""
        if salt not in self._by_hash:
            hashes = _hashes(self, salt)
            order = np.argsort(hashes, kind="stable")
            self._by_hash[salt] = hashes[order], order
        return self._by_hash[salt]


NO_SIGNATURES = Signatures(np.zeros(0, np.int64), np.zeros(1, np.int64), np.zeros(0, np.int64))


def signatures(
    graphs: GraphSet,
    colors: IntArray,
    edge_codes: IntArray | None = None,
    edge_type_count: int = 1,
    visible: BoolArray | None = None,
) -> Signatures:
    """The signature of every vertex of a set under these colors (integers from 0), and types of edges if given.

    ``visible``: the vertices that count as neighbors; all of them if None.
    """
    first, neighbors = graphs.indptr, graphs.neighbors
    near = colors[neighbors]
    if edge_codes is not None:
        near = near * edge_type_count + edge_codes
    if visible is not None:
        seen = visible[neighbors]
        near, first = near[seen], offsets(np.bincount(owners(first)[seen], minlength=len(colors)))
    # One sort of (vertex, color) as a single integer sorts every row. Rows are already in order, and a stable sort uses
    # that: it is ten times faster here than the default.
    base = (int(colors.max(initial=0)) + 1) * edge_type_count
    offset = owners(first) * base
    return Signatures(colors, first, np.sort(offset + near, kind="stable") - offset)


def number_signatures(rows: Signatures, known: Signatures = NO_SIGNATURES) -> tuple[IntArray, IntArray]:
    """Give equal rows equal numbers: those of ``known`` if they occur there, new ones from len(known) on.

    The rows of ``known`` are distinct, row c being the signature of class c. Rows are looked up by a hash, and every
    row is compared with the one that it seems to equal, so that the result is exact: after a collision another hash is
    used.

    Returns:
        The class of every row, and for every new class, in order of appearance, the first row of it.

    Examples:
        >>> path = GraphSet.from_edges([(0, 1), (1, 2)])
        >>> classes, first = number_signatures(signatures(path, np.zeros(3, np.int64)))
        >>> classes.tolist(), first.tolist()
        ([0, 1, 0], [0, 1])
    """
    for salt in count():
        known_hashes, order = known.by_hash(salt)
        hashes = _hashes(rows, salt)
        position = np.searchsorted(known_hashes, hashes)
        position[position == len(known_hashes)] = 0
        classes = order[position] if len(order) else position
        is_known = known_hashes[position] == hashes if len(order) else np.zeros(len(rows), bool)
        if is_known.all():
            new = fresh = np.zeros(0, np.int64)
            exact = _equal(rows, known, classes)
        else:
            fresh = np.flatnonzero(~is_known)
            _, leader, group = np.unique(hashes[fresh], return_index=True, return_inverse=True)
            old = np.flatnonzero(is_known)
            exact = _equal(rows.rows(old), known, classes[old]) and _equal(rows.rows(fresh), rows, fresh[leader[group]])
            by_appearance = np.argsort(leader)
            rank = np.empty(len(leader), np.int64)
            rank[by_appearance] = np.arange(len(leader))
            classes[fresh] = len(known) + rank[group]
            new = fresh[leader[by_appearance]]
        if exact:
            return classes, new
    raise AssertionError  # the loop does not end


def _hashes(rows: Signatures, salt: int) -> NDArray[np.uint64]:
    """A hash of every row that does not depend on the order of its neighbors: a sum of integers mixed into 64 bits."""
    mixed = np.concatenate([rows.own, rows.near]).astype(np.uint64)
    mixed += np.uint64(salt + 1)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(29)
    sums = np.zeros(len(rows.near) + 1, np.uint64)
    mixed[len(rows) :].cumsum(out=sums[1:])  # modulo 2**64
    ends = sums[rows.first]
    return OWN_FACTOR * mixed[: len(rows)] + ends[1:] - ends[:-1]


def _equal(rows: Signatures, others: Signatures, numbers: IntArray) -> bool:
    """Whether every row equals that one of the others."""
    start = others.first[numbers]
    lengths = rows.first[1:] - rows.first[:-1]
    if (rows.own != others.own[numbers]).any() or (lengths != others.first[numbers + 1] - start).any():
        return False
    return not (rows.near != others.near[(start - rows.first[:-1]).repeat(lengths) + np.arange(len(rows.near))]).any()


@dataclass(frozen=True, eq=False)
class RefinedGraphs:
    """Graphs with the class of every vertex in every iteration of a fitted kernel, from `WLKernel.refine`.

    Kernels with as many or fewer iterations take them in place of the graphs and need not refine again.
    """

    kernel: WLKernel
    graphs: GraphSet
    classes: list[IntArray]

    def __len__(self) -> int:
        return len(self.graphs)

    def rows(self, chosen: IntArray) -> RefinedGraphs:
        """Some of the graphs, by positions."""
        vertices = ranges(self.graphs.first[chosen], self.graphs.sizes[chosen])
        return RefinedGraphs(self.kernel, self.graphs[chosen], [step[vertices] for step in self.classes])


class WLKernel(ExplicitKernel):
    r"""Weisfeiler-Lehman subtree features: how many vertices have each refined color.

    Colors start as the vertex colors, or as one color for graphs without colors. Iteration i + 1 distinguishes vertices
    by their color of iteration i and the multiset of (color, edge color, direction) of their neighbors. With phi_i(G)_c
    the number of vertices of color c after i iterations,

    .. math:: K(G, H) = \sum_{i=0}^{h} \langle \phi_i(G), \phi_i(H) \rangle

    (Shervashidze et al. 2011). A refined color that no training graph has is no feature; its vertices keep a new class
    and are refined further, which matters for the length of normalized features only. Edge colors, and directions, that
    no training graph has are ignored in new graphs.

    Args:
        iterations: h, the number of refinements; the kernel sums over 0 .. h.
        normalize: divide by sqrt(K(G, G)), so that every graph has length 1 over all of its colors.
        padding_color: None for the exact kernel. A color whose vertices are not seen by their neighbors in the first
            iteration: the effect of the library that the paper used (graphkernels), which fills up short lists of
            neighbors with the label 0, and so cannot tell neighbors of this label from none.

    Attributes (after `fit`):
        edge_types_: the types of edges of the training graphs; None if these have neither edge colors nor directions.
        offsets_: (h + 2,) columns offsets_[i] .. offsets_[i + 1] belong to iteration i.
        features_: features of the training graphs, a csr_array; not in `state`.

    Examples:
        >>> path, triangle = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]
        >>> graphs = GraphSet.from_edges([path, triangle])
        >>> WLKernel(iterations=1).fit_transform(graphs).toarray()  # all vertices; by degree 1 and 2
        array([[3., 2., 1.],
               [3., 0., 3.]])
        >>> WLKernel(iterations=1).fit(graphs).kernel(graphs)
        array([[14., 12.],
               [12., 18.]])
        >>> colored = GraphSet.from_edges([path, path], colors=[["red", "red", "red"], ["blue", "red", "red"]])
        >>> WLKernel(iterations=1, padding_color="red").fit_transform(colored).toarray()  # red: no or one blue neighbor
        array([[0., 3., 3., 0., 0.],
               [1., 2., 1., 1., 1.]])
    """

    def __init__(self, iterations: int = 3, normalize: bool = False, padding_color: ColorName | None = None) -> None:
        self.iterations = iterations
        self.normalize = normalize
        self.padding_color = padding_color

    def fit_transform(self, graphs: Any, y: Any = None, validation: Any = None) -> csr_array[np.float64]:
        """Fit the kernel and return the features of the training graphs; validation graphs are not needed.

        ``graphs`` may be `RefinedGraphs` of a kernel that was fitted on the same graphs.
        """
        check_integer("iterations", self.iterations, 0)
        self.start_: tuple[ColorName, ...] | None
        self.signatures_: tuple[Signatures, ...]
        self.edge_types_: tuple[EdgeType, ...] | None
        if isinstance(graphs, RefinedGraphs):
            self.start_, self.signatures_ = graphs.kernel.start_, graphs.kernel.signatures_[: self.iterations]
            self.edge_types_ = graphs.kernel.edge_types_
            graph_set, classes = graphs.graphs, self._classes(graphs)
        else:
            graph_set = as_graphset(graphs)
            codes = np.unique(graph_set.colors) if graph_set.colors is not None else None
            self.start_ = None if codes is None else tuple(graph_set.palette[c] for c in codes)
            types = edge_types(graph_set)
            self.edge_types_ = None if types is None else tuple(types[1])
            classes, self.signatures_ = self._refined(graph_set, learn=True)
        start_colors = len(self.start_) if self.start_ is not None else int(graph_set.first[-1] > 0)
        self.offsets_ = offsets(np.array([start_colors, *map(len, self.signatures_)]))
        self.features_ = self._features(graph_set, classes)
        return self.features_

    def transform(self, graphs: Any) -> csr_array[np.float64]:
        """Features (graphs, columns) over the colors of the training graphs; also of `RefinedGraphs`."""
        refined = graphs if isinstance(graphs, RefinedGraphs) else self.refine(graphs)
        return self._features(refined.graphs, self._classes(refined))

    def refine(self, graphs: Any) -> RefinedGraphs:
        """The classes of the vertices of graphs, for this kernel and for kernels with fewer iterations.

        Examples:
            >>> graphs = GraphSet.from_edges([[(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)]])
            >>> refined = WLKernel(iterations=4).fit(graphs).refine(graphs)
            >>> WLKernel(iterations=1).fit_transform(refined).toarray()
            array([[3., 2., 1.],
                   [3., 0., 3.]])
        """
        graph_set = as_graphset(graphs)
        return RefinedGraphs(self, graph_set, self._refined(graph_set)[0])

    def refines_like(self, other: WLKernel) -> bool:
        """Whether the other kernel, perhaps a deeper one, gives all vertices the same classes, as a copy does."""
        if self is other:
            return True
        ours, theirs = ((each.padding_color, each.start_, each.edge_types_) for each in (self, other))
        depth = int(self.iterations)
        known = zip(self.signatures_, other.signatures_[:depth], strict=True)
        return ours == theirs and other.iterations >= depth and all(fitted.equals(another) for fitted, another in known)

    def type_name(self, iteration: int, number: int) -> str:
        """A class of training vertices as text: its color and, in brackets, the classes of its neighbors before.

        Of many different neighbors the most common ones are named.

        Examples:
            >>> graphs = GraphSet.from_edges([[(0, 1), (1, 2), (1, 3)]], colors=[["C", "O", "N", "C"]])
            >>> kernel = WLKernel(iterations=1).fit(graphs)
            >>> [kernel.type_name(1, number) for number in range(3)]
            ['C(O)', 'O(2×C,N)', 'N(O)']
        """
        if iteration == 0:
            return "*" if self.start_ is None else format_color(self.start_[number])
        rows, root = self.signatures_[iteration - 1], number
        kinds = self.edge_types_ or (EdgeType(None, None, BOTH_WAYS),)
        directed = any(kind.direction != BOTH_WAYS for kind in kinds)
        near, amounts = np.unique(rows.near[rows.first[number] : rows.first[number + 1]], return_counts=True)
        for step in range(iteration - 1, -1, -1):
            root = int(self.signatures_[step].own[root])
        common = np.argsort(-amounts, kind="stable")[:MAX_NEIGHBORS_NAMED]
        inner = []
        for at in common:
            neighbor, kind = divmod(int(near[at]), len(kinds))
            inner.append((-int(amounts[at]), kinds[kind].label(directed) + self.type_name(iteration - 1, neighbor)))
        inner.sort()
        names = [f"{-amount}×{name}" if amount < -1 else name for amount, name in inner]
        names += ["…"] if len(near) > len(common) else []
        return f"{self.type_name(0, root)}({','.join(names)})"

    def _refined(self, graphs: GraphSet, learn: bool = False) -> tuple[list[IntArray], tuple[Signatures, ...]]:
        """The class of every vertex in every iteration, and if they are learned the signatures of all classes."""
        classes, learned = [self._start(graphs)], []
        codes, known_amount, amount = self._edge_codes(graphs)
        visible = None  # the vertices that their neighbors see in the first iteration, if these are not all
        if graphs.colors is not None and self.padding_color in graphs.palette:
            visible = np.asarray(graphs.colors != graphs.palette.index(self.padding_color))
        for step in range(int(self.iterations)):
            rows = signatures(graphs, classes[-1], codes, amount, visible)
            known = NO_SIGNATURES if learn else self.signatures_[step]
            if amount != known_amount:  # new types of edges have the numbers after those of training
                near = known.near // known_amount * amount + known.near % known_amount
                known = Signatures(known.own, known.first, near)
            numbers, new = number_signatures(rows, known)
            classes.append(numbers)
            learned += [rows.rows(new)] if learn else []
            visible = None
        return classes, tuple(learned)

    def _classes(self, refined: RefinedGraphs) -> list[IntArray]:
        """The classes of the iterations of this kernel, which must begin like that of the refined graphs."""
        if not self.refines_like(refined.kernel):
            raise ValueError(
                f"expected graphs refined by this kernel or by a deeper one that it was fitted on; got graphs of a "
                f"kernel with {refined.kernel.iterations} iterations: pass the graphs themselves"
            )
        return refined.classes[: int(self.iterations) + 1]

    def _start(self, graphs: GraphSet) -> IntArray:
        """Start colors numbered by the color names of training; other names get the numbers after those."""
        if len(graphs) and (graphs.colors is None) != (self.start_ is None):
            trained, given = ("plain", "colored") if self.start_ is None else ("colored", "plain")
            raise GraphError(
                f"This kernel was fitted on {trained} graphs and these are {given}; "
                "color both, or call without_colors() on those that have colors."
            )
        if graphs.colors is None or self.start_ is None:
            return np.zeros(int(graphs.first[-1]), np.int64)
        position = {name: code for code, name in enumerate(self.start_)}
        codes = [position.setdefault(name, len(position)) for name in graphs.palette]
        return np.array(codes, np.int64)[graphs.colors]

    def _edge_codes(self, graphs: GraphSet) -> tuple[IntArray | None, int, int]:
        """The type of every entry, types of training first; how many of these there are, and how many types in all."""
        if self.edge_types_ is None:
            return None, 1, 1
        known = len(self.edge_types_)
        codes, types = edge_types(with_attributes_of(graphs, self.edge_types_)) or (np.zeros(0, np.int64), [])
        position = {kind: code for code, kind in enumerate(self.edge_types_)}
        table = [position.setdefault(kind, len(position)) for kind in types]
        return np.array(table, np.int64)[codes], known, len(position)

    def _features(self, graphs: GraphSet, classes: list[IntArray]) -> csr_array[np.float64]:
        width = int(self.offsets_[-1])
        by_step, new = [], width  # columns of colors that are unknown in training come last
        for of_iteration, begin, end in zip(classes, self.offsets_, self.offsets_[1:], strict=False):
            unknown = of_iteration - (end - begin)
            by_step.append(np.where(unknown < 0, of_iteration + begin, unknown + new))
            new += max(int(unknown.max(initial=-1)) + 1, 0)
        entries = np.stack(by_step, axis=1).reshape(-1)  # vertex by vertex, so that rows follow each other
        kept = entries < width
        columns, ends = entries[kept], offsets(kept)[len(classes) * graphs.first]
        short = index_type(len(columns), len(graphs), width)
        known: csr_array[np.float64] = csr_array(
            (np.ones(len(columns)), columns.astype(short), ends.astype(short)), shape=(len(graphs), width)
        )
        known.sum_duplicates()
        if self.normalize:
            full = csr_array((np.ones(len(entries)), entries, len(classes) * graphs.first), shape=(len(graphs), new))
            full.sum_duplicates()
            lengths = np.sqrt(np.bincount(owners(full.indptr), full.data**2, minlength=len(graphs)))
            known.data /= lengths[owners(known.indptr)]
        return known

    def state(self) -> State:
        """What was learned: a JSON-compatible dictionary, and arrays."""
        about = {
            "kernel": "wl",
            "iterations": int(self.iterations),
            "normalize": bool(self.normalize),
            "padding_color": self.padding_color,
            "start": None if self.start_ is None else list(self.start_),
        }
        if self.edge_types_ is not None:
            about["edge_types"] = [list(kind) for kind in self.edge_types_]
        arrays: dict[str, NDArray[Any]] = {"offsets": self.offsets_}
        for step, rows in enumerate(self.signatures_, 1):
            arrays |= {f"own_{step}": rows.own, f"first_{step}": rows.first, f"near_{step}": rows.near}
        return about, arrays

    @classmethod
    def from_state(cls, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> WLKernel:
        """Restore a kernel from what `state` returned."""
        about = _STATE(about, "kernel")
        restored = cls(about["iterations"], about["normalize"], about.get("padding_color"))
        restored.start_ = None if about["start"] is None else tuple(about["start"])
        types = about.get("edge_types")
        restored.edge_types_ = None if types is None else tuple(EdgeType(*kind) for kind in types)
        type_count = max(len(restored.edge_types_ or ()), 1)
        offsets = check_array(arrays["offsets"], "offsets", "i", (restored.iterations + 2,), 0)
        classes = np.diff(offsets)
        if (
            offsets[0] != 0
            or (classes < 0).any()
            or classes[0] != (1 if restored.start_ is None else len(restored.start_))
        ):
            raise ValueError("offsets: expected ascending numbers that fit the start colors")
        for step in range(1, restored.iterations + 1):  # numbers of classes index tables
            before = int(classes[step - 1])
            of_vertices = check_array(arrays[f"own_{step}"], f"own_{step}", "i", (int(classes[step]),), 0, before - 1)
            near = arrays[f"near_{step}"]
            check_compressed_rows(arrays[f"first_{step}"], near, np.size(near), (len(of_vertices), before * type_count))
        restored.signatures_ = tuple(
            Signatures(arrays[f"own_{step}"], arrays[f"first_{step}"], arrays[f"near_{step}"])
            for step in range(1, restored.iterations + 1)
        )
        restored.offsets_ = offsets
        return restored


_STATE = fields(
    {"kernel": text(), "iterations": integer(0), "normalize": boolean, "start": optional(list_of(color_name))},
    {"edge_types": list_of(edge_type), "padding_color": optional(color_name)},
)
