"""The structural causal model: environments, graphs drawn from graphons, and twins that differ in E alone.

The graphon W gives the class Y and the edges; the environment E gives the size and, with U, the colors. Names
follow the paper's Definitions 1 and 2.
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

# ---- Draws of the causal model: the hidden variables U of vertices, and edges where Z < W(U, U').


PAIRS_AT_ONCE = 1 << 20  # bounds the memory of a draw; the result does not depend on it


def draw_hidden(
    graphons: Sequence[Graphon], y: IntArray, sizes: IntArray, blocks: str, rng: np.random.Generator
) -> FloatArray:
    """U of every vertex of the set."""
    uniform = rng.random(int(sizes.sum()))
    if blocks == "iid" or all(len(graphon.shares) == 1 for graphon in graphons):
        return uniform
    first = offsets(sizes)
    for label, size in set(zip(y.tolist(), sizes.tolist(), strict=True)):
        graphs = np.flatnonzero((y == label) & (sizes == size))
        cuts = graphons[label].cuts
        block = np.repeat(np.arange(len(cuts) - 1), block_sizes(graphons[label].shares, size))
        own = first[graphs][:, None] + np.arange(size)
        inside = cuts[block] + uniform[own] * (cuts[block + 1] - cuts[block])
        uniform[own] = np.minimum(inside, np.nextafter(cuts[block + 1], 0.0))  # rounding must not leave the block
    return uniform


def draw_edges(
    graphons: Sequence[Graphon], y: IntArray, sizes: IntArray, hidden: FloatArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """The ends u < v of all edges, numbered through the set: class by class, one Z per pair in fixed order."""
    first = offsets(sizes)
    sources, targets = [], []
    for label, graphon in enumerate(graphons):
        own = np.flatnonzero(y == label)
        vertices = ranges(first[own], sizes[own])
        later = np.repeat(first[own + 1], sizes[own]) - vertices - 1  # pairs of which a vertex is the first
        for part in _parts(later, PAIRS_AT_ONCE):
            source = np.repeat(vertices[part], later[part])
            target = ranges(vertices[part] + 1, later[part])
            linked = rng.random(len(source)) < graphon.edge_probability(hidden[source], hidden[target])
            sources.append(source[linked])
            targets.append(target[linked])
    return np.concatenate(sources), np.concatenate(targets)


def first_vertices(
    larger: IntArray, sizes: IntArray, source: IntArray, target: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """The graphs induced by the first sizes[g] vertices: which vertices stay, and the edges among them."""
    first = offsets(larger)
    kept = ranges(first[:-1], sizes)
    new = np.full(int(first[-1]), -1, np.int64)
    new[kept] = np.arange(len(kept))
    source, target = new[source], new[target]
    stays = (source >= 0) & (target >= 0)
    return kept, source[stays], target[stays]


def _parts(lengths: IntArray, most: int) -> Iterator[slice]:
    """Consecutive slices whose lengths sum to at most ``most``, or hold one item."""
    ends = np.cumsum(lengths)
    start = 0
    while start < len(lengths):
        before = int(ends[start - 1]) if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(start, stop)
        start = stop


# ----


Seed: TypeAlias = int | Sequence[int] | np.random.SeedSequence | np.random.Generator


@dataclass(frozen=True)
class Environment:
    """What changes between training and test: the sizes of graphs, how blocks are filled, and the colors.

    Args:
        sizes: the numbers of vertices a graph may have. Each is one value e of the paper's E.
        colors: for every block of the graphon a mapping of color names to shares; None for no colors.
        blocks: "iid": the hidden variables are independent, as in Definition 1, and block sizes are binomial.
            "balanced": every block has its share of the vertices exactly (largest remainders), block after block.
        weights: the probability of each size; equal if not given.

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
            raise ValueError(f"sizes are a list of numbers of vertices, such as (20, 30); got {self.sizes!r}")
        whole = all(isinstance(size, (int, np.integer)) and not isinstance(size, bool) for size in self.sizes)
        if not whole or not all(1 <= size < MAX_VERTICES_PER_GRAPH for size in self.sizes):
            raise ValueError(f"sizes are whole numbers of at least 1; got {list(self.sizes)}")
        if self.blocks not in ("iid", "balanced"):
            raise ValueError(f"blocks are 'iid' or 'balanced'; got {self.blocks!r}")
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
    """A `GraphSet` drawn from the causal model, with what is hidden in real data; slices keep it.

    ``y[g]`` is the class and the number of the graphon, ``environments[g]`` the place of the graph's size in
    the sizes of its environment, ``hidden`` the U and ``blocks`` the block of every vertex of the set.
    """

    environments: IntArray
    hidden: FloatArray
    blocks: IntArray

    def _contiguous(self, start: int, stop: int) -> CausalSample:
        vertices = slice(int(self.first[start]), int(self.first[stop]))
        plain = super()._contiguous(start, stop)
        return _dressed(plain, self.environments[start:stop], self.hidden[vertices], self.blocks[vertices])

    def _gather(self, rows: IntArray) -> CausalSample:
        vertices = ranges(self.first[rows], self.sizes[rows])
        plain = super()._gather(rows)
        return _dressed(plain, self.environments[rows], self.hidden[vertices], self.blocks[vertices])


@dataclass(frozen=True)
class CausalTwins:
    """Training and test graphs of the twin network: graph g of both shares W, U and Z, and differs in E only."""

    train: CausalSample
    test: CausalSample

    def __len__(self) -> int:
        return len(self.train)

    @property
    def shared(self) -> IntArray:
        """How many vertices each pair shares: 0 .. shared - 1 of both graphs are the same vertices."""
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
        graphons: one per class; y is its number.
        environment: sizes, blocks and colors.
        n: how many graphs.
        seed: an integer, or a numpy generator to draw from.
        class_shares: the probability of each class; equal if not given.

    Examples:
        >>> from anysize.causal.graphons import ErdosRenyi
        >>> graphs = sample_graphs([ErdosRenyi(0.2), ErdosRenyi(0.8)], Environment(sizes=(10,)), 6, seed=0)
        >>> graphs.y.tolist(), graphs.edge_counts.tolist()
        ([1, 1, 1, 0, 0, 0], [35, 32, 36, 5, 10, 8])
    """
    classes = _checked(graphons, [environment], n)
    rng = np.random.default_rng(seed)
    y = _classes(len(classes), n, class_shares, rng)
    places = _places(environment, n, rng)
    sizes = np.array(environment.sizes)[places]
    hidden = draw_hidden(classes, y, sizes, environment.blocks, rng)
    source, target = draw_edges(classes, y, sizes, hidden, rng)
    return _observed(classes, environment, y, places, hidden, source, target)


def sample_twins(
    graphons: Graphon | Sequence[Graphon],
    train: Environment,
    test: Environment,
    n: int,
    seed: Seed,
    class_shares: Sequence[float] | None = None,
) -> CausalTwins:
    """Draw n pairs of a training and a test graph from the twin network of Figure 1.

    W, U and Z are drawn once for the larger of the two graphs and read off by both, so that edges agree on the
    shared vertices, and colors too where both environments have the same ones. The hidden variables are
    independent, as in Definition 1: exactly balanced blocks cannot be shared between two sizes.

    Examples:
        >>> from anysize.causal.graphons import ErdosRenyi
        >>> pairs = sample_twins(ErdosRenyi(0.5), Environment(sizes=(5,)), Environment(sizes=(8,)), 3, seed=0)
        >>> small, large = pairs.train.edges(0), pairs.test.edges(0)
        >>> small.tolist() == [edge for edge in large.tolist() if max(edge) < 5]
        True
    """
    classes = _checked(graphons, [train, test], n)
    if "balanced" in (train.blocks, test.blocks):
        raise ValueError("twins share their hidden variables vertex by vertex, which needs blocks='iid' in both")
    rng = np.random.default_rng(seed)
    y = _classes(len(classes), n, class_shares, rng)
    places = [_places(environment, n, rng) for environment in (train, test)]
    sizes = [np.array(e.sizes)[place] for e, place in zip((train, test), places, strict=True)]
    larger = np.maximum(*sizes)
    hidden = draw_hidden(classes, y, larger, "iid", rng)
    edges = draw_edges(classes, y, larger, hidden, rng)
    pair = []
    for environment, place, size in zip((train, test), places, sizes, strict=True):
        kept, source, target = first_vertices(larger, size, *edges)
        pair.append(_observed(classes, environment, y, place, hidden[kept], source, target))
    return CausalTwins(*pair)


def _checked(graphons: Graphon | Sequence[Graphon], environments: Sequence[Environment], n: int) -> tuple[Graphon, ...]:
    classes = (graphons,) if isinstance(graphons, Graphon) else tuple(graphons)
    if not classes or not all(isinstance(graphon, Graphon) for graphon in classes):
        raise ValueError(f"expected a graphon, or one per class; got {graphons!r}")
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"the number of graphs is a whole number of at least 1; got {n!r}")
    for environment in environments:
        if environment.coloring is not None:
            for graphon in classes:
                environment.coloring.check_blocks(len(graphon.shares))
    return classes


def _classes(amount: int, n: int, shares: Sequence[float] | None, rng: np.random.Generator) -> IntArray:
    if shares is None:
        return rng.integers(amount, size=n)
    given = check_shares(shares, "the classes", zero=True)
    if len(given) != amount:
        raise ValueError(f"expected {amount} class shares, one per graphon; got {len(given)}")
    return rng.choice(amount, size=n, p=given)


def _places(environment: Environment, n: int, rng: np.random.Generator) -> IntArray:
    """Which of its sizes each graph has."""
    if environment.weights is None:
        return rng.integers(len(environment.sizes), size=n)
    return rng.choice(len(environment.sizes), size=n, p=environment.weights)


def _observed(
    graphons: Sequence[Graphon],
    environment: Environment,
    y: IntArray,
    places: IntArray,
    hidden: FloatArray,
    source: IntArray,
    target: IntArray,
) -> CausalSample:
    """The graphs as the environment shows them: the edges, and colors from blocks and positions."""
    sizes = np.array(environment.sizes)[places]
    label = np.repeat(y, sizes)
    blocks, positions = np.zeros(len(hidden), np.int64), np.zeros(len(hidden))
    for number, graphon in enumerate(graphons):
        here = np.flatnonzero(label == number)
        blocks[here], positions[here] = graphon.block(hidden[here]), graphon.position(hidden[here])
    coloring = environment.coloring
    codes = None if coloring is None else coloring.codes(blocks, positions)
    palette = () if coloring is None else coloring.palette
    return _dressed(assemble(sizes, source, target, codes, palette, y), places, hidden, blocks)


def _dressed(graphs: GraphSet, environments: IntArray, hidden: FloatArray, blocks: IntArray) -> CausalSample:
    return CausalSample(
        first=graphs.first, indptr=graphs.indptr, indices=graphs.indices, colors=graphs.colors,
        palette=graphs.palette, y=graphs.y, names=graphs.names,
        environments=environments, hidden=hidden, blocks=blocks,
    )  # fmt: skip
