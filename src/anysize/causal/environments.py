"""Environments, and graphs drawn from the structural causal model (the paper's Definitions 1 and 2).

The graphon W determines the class Y and the edges; the environment E determines the size and, with U, the colors.
`sample_graphs` draws independent graphs, `sample_twins` pairs that differ in E only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from anysize._typing import FloatArray, IntArray
from anysize.causal.coloring import Coloring, check_shares
from anysize.causal.graphons import Graphon, block_sizes
from anysize.graphs.assembly import assemble
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import MAX_VERTICES_PER_GRAPH, GraphSet
from anysize.graphs.ragged import offsets, ranges

MAX_PAIRS_IN_MEMORY = 1 << 20  # vertex pairs drawn at once; the result does not depend on it

Seed: TypeAlias = int | Sequence[int] | np.random.SeedSequence | np.random.Generator


@dataclass(frozen=True)
class Environment:
    """What may differ between training and test: graph sizes, colors, and how vertices are assigned to blocks.

    Args:
        sizes: the possible numbers of vertices of a graph. Each is one value e of the paper's E.
        colors: for every block of the graphon a mapping of color names to shares; None for no colors.
        blocks: "iid": hidden variables are independent, as in Definition 1, and block sizes are binomial.
            "balanced": block sizes are fixed to the shares (largest remainders), and vertices are ordered by block.
        weights: the probability of each size. Default: equal.

    Examples:
        >>> train = Environment(sizes=(20,), colors=[{"red": 0.9, "blue": 0.1}, {"green": 0.9, "yellow": 0.1}])
        >>> train.coloring.palette
        ('blue', 'green', 'red', 'yellow')
    """

    sizes: Sequence[int]
    colors: Coloring | Sequence[Mapping[ColorName, float]] | None = None
    blocks: Literal["iid", "balanced"] = "iid"
    weights: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if np.ndim(self.sizes) != 1 or not len(self.sizes):
            raise ValueError(f"sizes must be a list of numbers of vertices, such as (20, 30); got {self.sizes!r}")
        integers = all(isinstance(size, (int, np.integer)) and not isinstance(size, bool) for size in self.sizes)
        if not integers or not all(1 <= size < MAX_VERTICES_PER_GRAPH for size in self.sizes):
            raise ValueError(f"sizes must be integers of at least 1; got {list(self.sizes)}")
        if self.blocks not in ("iid", "balanced"):
            raise ValueError(f"blocks must be 'iid' or 'balanced'; got {self.blocks!r}")
        object.__setattr__(self, "sizes", tuple(int(size) for size in self.sizes))
        if self.colors is not None:
            object.__setattr__(self, "colors", Coloring.of(self.colors))
        if self.weights is not None:
            object.__setattr__(self, "weights", check_shares(self.weights, "the sizes", zero=True))
            if len(self.weights) != len(self.sizes):
                raise ValueError(f"expected {len(self.sizes)} weights, one per size; got {len(self.weights)}")

    @property
    def coloring(self) -> Coloring | None:
        """The colors as a `Coloring`."""
        return None if self.colors is None else Coloring.of(self.colors)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CausalSample(GraphSet):
    """A `GraphSet` drawn from the causal model, with its hidden variables; indexing keeps them.

    ``y[g]`` is the class (the number of the graphon), ``environments[g]`` the position of the graph's size in the sizes
    of its environment; ``hidden`` is U and ``blocks`` the block of every vertex of the set.
    """

    environments: IntArray
    hidden: FloatArray
    blocks: IntArray

    def _contiguous(self, start: int, stop: int) -> CausalSample:
        vertices = slice(int(self.first[start]), int(self.first[stop]))
        graphs = super()._contiguous(start, stop)
        return _with_hidden(graphs, self.environments[start:stop], self.hidden[vertices], self.blocks[vertices])

    def _gather(self, rows: IntArray) -> CausalSample:
        vertices = ranges(self.first[rows], self.sizes[rows])
        graphs = super()._gather(rows)
        return _with_hidden(graphs, self.environments[rows], self.hidden[vertices], self.blocks[vertices])


@dataclass(frozen=True)
class CausalTwins:
    """Training and test graphs of the twin network: graph g of both has the same W, U and Z; only E differs."""

    train: CausalSample
    test: CausalSample

    def __len__(self) -> int:
        return len(self.train)

    @property
    def shared(self) -> IntArray:
        """The number of vertices that each pair shares: 0 .. shared - 1 are the same in both graphs."""
        return np.minimum(self.train.sizes, self.test.sizes)


def sample_graphs(
    graphons: Graphon | Sequence[Graphon],
    environment: Environment,
    n: int,
    seed: Seed,
    class_shares: Sequence[float] | None = None,
) -> CausalSample:
    """Draw n graphs: a class Y (its graphon W), an environment, hidden variables U, edges where Z < W(U, U').

    Args:
        graphons: one per class; y is the number of the graphon.
        environment: sizes, blocks and colors.
        n: number of graphs.
        seed: an integer, or a numpy generator to draw from.
        class_shares: the probability of each class. Default: equal.

    Examples:
        >>> from anysize.causal.graphons import ErdosRenyi
        >>> graphs = sample_graphs([ErdosRenyi(0.2), ErdosRenyi(0.8)], Environment(sizes=(10,)), 6, seed=0)
        >>> graphs.y.tolist(), graphs.edge_counts.tolist()
        ([1, 1, 1, 0, 0, 0], [35, 32, 36, 5, 10, 8])
    """
    classes = _check_arguments(graphons, [environment], n)
    rng = np.random.default_rng(seed)
    y = _draw_classes(len(classes), n, class_shares, rng)
    size_index = _draw_sizes(environment, n, rng)
    sizes = np.array(environment.sizes)[size_index]
    hidden = _draw_hidden(classes, y, sizes, environment.blocks, rng)
    source, target = _draw_edges(classes, y, sizes, hidden, rng)
    return _observed(classes, environment, y, size_index, hidden, source, target)


def sample_twins(
    graphons: Graphon | Sequence[Graphon],
    train: Environment,
    test: Environment,
    n: int,
    seed: Seed,
    class_shares: Sequence[float] | None = None,
) -> CausalTwins:
    """Draw n pairs of a training and a test graph from the twin network of Figure 1.

    W, U and Z are drawn once, for the larger of the two graphs, so that the edges among shared vertices are equal, and
    their colors too if both environments have the same colors. Hidden variables are independent, as in Definition 1:
    graphs of two sizes cannot share the vertices of balanced blocks.

    Examples:
        >>> from anysize.causal.graphons import ErdosRenyi
        >>> pairs = sample_twins(ErdosRenyi(0.5), Environment(sizes=(5,)), Environment(sizes=(8,)), 3, seed=0)
        >>> small, large = pairs.train.edges(0), pairs.test.edges(0)
        >>> small.tolist() == [edge for edge in large.tolist() if max(edge) < 5]
        True
    """
    classes = _check_arguments(graphons, [train, test], n)
    if "balanced" in (train.blocks, test.blocks):
        raise ValueError("twins share the hidden variables of their vertices; use blocks='iid' in both environments")
    rng = np.random.default_rng(seed)
    y = _draw_classes(len(classes), n, class_shares, rng)
    size_indices = [_draw_sizes(environment, n, rng) for environment in (train, test)]
    sizes = [np.array(e.sizes)[index] for e, index in zip((train, test), size_indices, strict=True)]
    larger = np.maximum(*sizes)
    hidden = _draw_hidden(classes, y, larger, "iid", rng)
    edges = _draw_edges(classes, y, larger, hidden, rng)
    pair = []
    for environment, index, size in zip((train, test), size_indices, sizes, strict=True):
        kept, source, target = _first_vertices(larger, size, *edges)
        pair.append(_observed(classes, environment, y, index, hidden[kept], source, target))
    return CausalTwins(*pair)


def _check_arguments(
    graphons: Graphon | Sequence[Graphon], environments: Sequence[Environment], n: int
) -> tuple[Graphon, ...]:
    classes = (graphons,) if isinstance(graphons, Graphon) else tuple(graphons)
    if not classes or not all(isinstance(graphon, Graphon) for graphon in classes):
        raise ValueError(f"expected a graphon, or one per class; got {graphons!r}")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"n must be an integer of at least 1; got {n!r}")
    for environment in environments:
        if environment.coloring is not None:
            for graphon in classes:
                environment.coloring.check_blocks(len(graphon.shares))
    return classes


def _draw_classes(n_classes: int, n: int, shares: Sequence[float] | None, rng: np.random.Generator) -> IntArray:
    if shares is None:
        return rng.integers(n_classes, size=n)
    given = check_shares(shares, "the classes", zero=True)
    if len(given) != n_classes:
        raise ValueError(f"expected {n_classes} class shares, one per graphon; got {len(given)}")
    return rng.choice(n_classes, size=n, p=given)


def _draw_sizes(environment: Environment, n: int, rng: np.random.Generator) -> IntArray:
    """The position of each graph's size in the sizes of the environment."""
    if environment.weights is None:
        return rng.integers(len(environment.sizes), size=n)
    return rng.choice(len(environment.sizes), size=n, p=environment.weights)


def _draw_hidden(
    graphons: Sequence[Graphon], y: IntArray, sizes: IntArray, blocks: str, rng: np.random.Generator
) -> FloatArray:
    """Draw the hidden variable U of every vertex of the set."""
    uniform = rng.random(int(sizes.sum()))
    if blocks == "iid" or all(len(graphon.shares) == 1 for graphon in graphons):
        return uniform
    first = offsets(sizes)
    for label, size in set(zip(y.tolist(), sizes.tolist(), strict=True)):
        graphs = np.flatnonzero((y == label) & (sizes == size))
        cuts = graphons[label].cuts
        block = np.repeat(np.arange(len(cuts) - 1), block_sizes(graphons[label].shares, size))
        vertices = first[graphs][:, None] + np.arange(size)
        inside = cuts[block] + uniform[vertices] * (cuts[block + 1] - cuts[block])
        uniform[vertices] = np.minimum(inside, np.nextafter(cuts[block + 1], 0.0))  # rounding must not leave the block
    return uniform


def _draw_edges(
    graphons: Sequence[Graphon], y: IntArray, sizes: IntArray, hidden: FloatArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw the edges u < v of all graphs, one Z per vertex pair in a fixed order; numbers are those of the set."""
    first = offsets(sizes)
    sources, targets = [], []
    for label, graphon in enumerate(graphons):
        graphs = np.flatnonzero(y == label)
        vertices = ranges(first[graphs], sizes[graphs])
        later = np.repeat(first[graphs + 1], sizes[graphs]) - vertices - 1  # number of pairs (v, w) with w > v
        for part in _slices(later, MAX_PAIRS_IN_MEMORY):
            source = np.repeat(vertices[part], later[part])
            target = ranges(vertices[part] + 1, later[part])
            linked = rng.random(len(source)) < graphon.edge_probability(hidden[source], hidden[target])
            sources.append(source[linked])
            targets.append(target[linked])
    return np.concatenate(sources), np.concatenate(targets)


def _first_vertices(
    larger: IntArray, sizes: IntArray, source: IntArray, target: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Restrict graph g to its first sizes[g] vertices: the vertices that stay, and the edges among them."""
    first = offsets(larger)
    kept = ranges(first[:-1], sizes)
    new = np.full(int(first[-1]), -1, np.int64)
    new[kept] = np.arange(len(kept))
    source, target = new[source], new[target]
    inside = (source >= 0) & (target >= 0)
    return kept, source[inside], target[inside]


def _slices(lengths: IntArray, max_total: int) -> Iterator[slice]:
    """Consecutive slices whose lengths sum to at most ``max_total``, or of one item."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + max_total, side="right")))
        yield slice(start, stop)
        start = stop


def _observed(
    graphons: Sequence[Graphon],
    environment: Environment,
    y: IntArray,
    size_index: IntArray,
    hidden: FloatArray,
    source: IntArray,
    target: IntArray,
) -> CausalSample:
    """The graphs as observed in the environment: edges, and colors from blocks and positions."""
    sizes = np.array(environment.sizes)[size_index]
    label = np.repeat(y, sizes)
    blocks, positions = np.zeros(len(hidden), np.int64), np.zeros(len(hidden))
    for number, graphon in enumerate(graphons):
        here = np.flatnonzero(label == number)
        blocks[here], positions[here] = graphon.block(hidden[here]), graphon.position(hidden[here])
    coloring = environment.coloring
    codes = None if coloring is None else coloring.codes(blocks, positions)
    palette = () if coloring is None else coloring.palette
    return _with_hidden(assemble(sizes, source, target, codes, palette, y), size_index, hidden, blocks)


def _with_hidden(graphs: GraphSet, environments: IntArray, hidden: FloatArray, blocks: IntArray) -> CausalSample:
    return CausalSample(
        first=graphs.first, indptr=graphs.indptr, indices=graphs.indices, colors=graphs.colors,
        palette=graphs.palette, y=graphs.y, names=graphs.names,
        environments=environments, hidden=hidden, blocks=blocks,
    )  # fmt: skip
