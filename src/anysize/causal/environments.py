"""Environments, and graphs drawn from the structural causal model (the paper's Definitions 1 and 2).

The graphon W determines the class Y (up to label noise) and the edges; the environment E determines the size and, with
U, the colors. `sample_graphs` draws independent graphs, `sample_twins` pairs that differ in E only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from anysize._schema import check_integer, is_integer
from anysize._typing import FloatArray, IntArray
from anysize.causal.coloring import ColorFunction, Coloring, SizeColoring, check_shares
from anysize.causal.graphons import Graphon, GraphonDistribution, block_sizes
from anysize.graphs.assembly import assemble
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import MAX_VERTICES_PER_GRAPH, GraphSet
from anysize.graphs.ragged import offsets, ranges, select_rows

MAX_PAIRS_IN_MEMORY = 1 << 20  # vertex pairs drawn at once; the result does not depend on it

BlockColors: TypeAlias = Coloring | Sequence[Mapping[ColorName, float]]
Classes: TypeAlias = Graphon | GraphonDistribution | Sequence[Graphon | GraphonDistribution]
Seed: TypeAlias = int | Sequence[int] | np.random.SeedSequence | np.random.Generator


@dataclass(frozen=True)
class Environment:
    """What may differ between training and test: graph sizes, colors, and how vertices are assigned to blocks.

    Args:
        sizes: the possible numbers of vertices of a graph. Each is one value e of the paper's E.
        colors: for every block of the graphon a mapping of color names to shares; None for no colors. A mapping of
            sizes to such colors makes them depend on the size. A function of three arrays, with the size of the graph,
            the block and the position in it of every vertex, returns the colors of the vertices (any g_X).
        blocks: "iid": hidden variables are independent, as in Definition 1, and block sizes are binomial.
            "balanced": block sizes are fixed to the shares (largest remainders), and vertices are ordered by block.
        weights: the probability of each size. Default: equal.

    Examples:
        >>> train = Environment(sizes=(20,), colors=[{"red": 0.9, "blue": 0.1}, {"green": 0.9, "yellow": 0.1}])
        >>> train.coloring.palette
        ('blue', 'green', 'red', 'yellow')
    """

    sizes: Sequence[int]
    colors: BlockColors | SizeColoring | ColorFunction | Mapping[int, BlockColors] | Callable[..., Any] | None = None
    blocks: Literal["iid", "balanced"] = "iid"
    weights: Sequence[float] | None = None

    def __post_init__(self) -> None:
        if np.ndim(self.sizes) != 1 or not len(self.sizes):
            raise ValueError(f"sizes must be a list of numbers of vertices, such as (20, 30); got {self.sizes!r}")
        if not all(is_integer(size) and 1 <= size < MAX_VERTICES_PER_GRAPH for size in self.sizes):
            raise ValueError(f"sizes must be integers of at least 1; got {list(self.sizes)}")
        if self.blocks not in ("iid", "balanced"):
            raise ValueError(f"blocks must be 'iid' or 'balanced'; got {self.blocks!r}")
        object.__setattr__(self, "sizes", tuple(int(size) for size in self.sizes))
        if self.colors is not None:
            object.__setattr__(self, "colors", _coloring(self.colors, self.sizes))
        if self.weights is not None:
            object.__setattr__(self, "weights", check_shares(self.weights, "the sizes", zero=True))
            if len(self.weights) != len(self.sizes):
                raise ValueError(f"expected {len(self.sizes)} weights, one per size; got {len(self.weights)}")

    @property
    def coloring(self) -> Coloring | SizeColoring | ColorFunction | None:
        """The colors as an object that paints vertices."""
        return None if self.colors is None else _coloring(self.colors, self.sizes)


def _coloring(colors: Any, sizes: Sequence[int]) -> Coloring | SizeColoring | ColorFunction:
    if isinstance(colors, (Coloring, SizeColoring, ColorFunction)):
        return colors
    if callable(colors):
        return ColorFunction(colors)
    if isinstance(colors, Mapping) and all(isinstance(size, (int, np.integer)) for size in colors):
        missing = sorted(set(sizes) - set(colors))
        if missing:
            raise ValueError(f"colors by size need an entry for every size; graphs of {missing[0]} vertices have none")
        return SizeColoring.of(colors)
    return Coloring.of(colors)


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CausalSample(GraphSet):
    """A `GraphSet` drawn from the causal model, with its hidden variables; indexing keeps them.

    ``graphons[g]`` is W, ``classes[g]`` its number in the list of classes, and ``y[g]`` the label, which is the class
    where there is no label noise. ``environments[g]`` is the position of the graph's size in the sizes of its
    environment; ``hidden`` is U and ``blocks`` the block of every vertex of the set.
    """

    environments: IntArray
    hidden: FloatArray
    blocks: IntArray
    classes: IntArray
    graphons: tuple[Graphon, ...]

    def __getitem__(self, key: int | slice | ArrayLike) -> CausalSample:
        rows = select_rows(key, len(self))
        vertices = ranges(self.first[:-1][rows], self.sizes[rows])
        chosen = self.graphons[rows] if isinstance(rows, slice) else tuple(self.graphons[row] for row in rows.tolist())
        return _sample(
            super().__getitem__(key), environments=self.environments[rows], hidden=self.hidden[vertices],
            blocks=self.blocks[vertices], classes=self.classes[rows], graphons=chosen,
        )  # fmt: skip


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
    graphons: Classes,
    environment: Environment,
    n: int,
    seed: Seed,
    class_shares: Sequence[float] | None = None,
    label_noise: float | ArrayLike | None = None,
) -> CausalSample:
    """Draw n graphs: a class (its graphon W), an environment, hidden variables U, edges where Z < W(U, U').

    Args:
        graphons: one graphon or `GraphonDistribution` per class; the label y is the class, or follows from it by chance
            (``label_noise``).
        environment: sizes, blocks and colors.
        n: number of graphs.
        seed: an integer, or a numpy generator to draw from.
        class_shares: the probability of each class. Default: equal.
        label_noise: Y = h(W, Z_Y) with noise Z_Y: the probability that the label is one of the other classes, or a
            matrix of the probabilities of every label (columns) for every class (rows). The graphs are the same as
            without it.

    Examples:
        >>> from anysize.causal.graphons import ErdosRenyi
        >>> graphs = sample_graphs([ErdosRenyi(0.2), ErdosRenyi(0.8)], Environment(sizes=(10,)), 6, seed=0)
        >>> graphs.y.tolist(), graphs.edge_counts.tolist()
        ([1, 1, 1, 0, 0, 0], [35, 32, 36, 5, 10, 8])
    """
    classes = _check_arguments(graphons, n)
    rng = np.random.default_rng(seed)
    drawn = _draw_graphons(classes, [environment], n, class_shares, rng)
    size_index = _draw_sizes(environment, n, rng)
    sizes = np.array(environment.sizes)[size_index]
    hidden = _draw_hidden(drawn, sizes, environment.blocks, rng)
    edges = _draw_edges(drawn, sizes, hidden, rng)
    y = _draw_labels(drawn, len(classes), label_noise, rng)
    return _observed(drawn, environment, y, size_index, hidden, *edges)


def sample_twins(
    graphons: Classes,
    train: Environment,
    test: Environment,
    n: int,
    seed: Seed,
    class_shares: Sequence[float] | None = None,
    label_noise: float | ArrayLike | None = None,
) -> CausalTwins:
    """Draw n pairs of a training and a test graph from the twin network of Figure 1.

    W, U, Z and the label are drawn once, for the larger of the two graphs, so that the edges among shared vertices are
    equal, and their colors too if both environments have the same colors. Hidden variables are independent, as in
    Definition 1: graphs of two sizes cannot share the vertices of balanced blocks.

    Examples:
        >>> from anysize.causal.graphons import ErdosRenyi
        >>> pairs = sample_twins(ErdosRenyi(0.5), Environment(sizes=(5,)), Environment(sizes=(8,)), 3, seed=0)
        >>> small, large = pairs.train.edges(0), pairs.test.edges(0)
        >>> small.tolist() == [edge for edge in large.tolist() if max(edge) < 5]
        True
    """
    classes = _check_arguments(graphons, n)
    if "balanced" in (train.blocks, test.blocks):
        raise ValueError("twins share the hidden variables of their vertices; use blocks='iid' in both environments")
    rng = np.random.default_rng(seed)
    drawn = _draw_graphons(classes, [train, test], n, class_shares, rng)
    size_indices = [_draw_sizes(environment, n, rng) for environment in (train, test)]
    sizes = [np.array(e.sizes)[index] for e, index in zip((train, test), size_indices, strict=True)]
    larger = np.maximum(*sizes)
    hidden = _draw_hidden(drawn, larger, "iid", rng)
    edges = _draw_edges(drawn, larger, hidden, rng)
    y = _draw_labels(drawn, len(classes), label_noise, rng)
    pair = []
    for environment, index, size in zip((train, test), size_indices, sizes, strict=True):
        kept, source, target = _first_vertices(larger, size, *edges)
        pair.append(_observed(drawn, environment, y, index, hidden[kept], source, target))
    return CausalTwins(*pair)


def label_probabilities(label_noise: float | ArrayLike | None, classes: int) -> FloatArray:
    """P(Y = y | class of W) as a matrix (classes, labels), see `sample_graphs`.

    Examples:
        >>> label_probabilities(0.2, 3).round(3).tolist()
        [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """
    if label_noise is None:
        return np.eye(classes)
    if np.ndim(label_noise) == 0:
        noise = float(np.asarray(label_noise, np.float64))
        if not 0 <= noise <= 1 or classes < 2:
            raise ValueError(f"label_noise must be a probability, and needs at least two classes; got {label_noise!r}")
        matrix = np.full((classes, classes), noise / (classes - 1))
        np.fill_diagonal(matrix, 1 - noise)
        return matrix
    matrix = np.asarray(label_noise, np.float64)
    if matrix.ndim != 2 or len(matrix) != classes:
        raise ValueError(f"label_noise must have one row of label probabilities for each of {classes} classes")
    return np.array([check_shares(row, "the labels of a class", zero=True) for row in matrix])


@dataclass(frozen=True)
class _Drawn:
    """The graphons of a sample: ``graphons[which[g]]`` is W of graph g, of class ``classes[g]``."""

    graphons: tuple[Graphon, ...]
    which: IntArray
    classes: IntArray

    def groups(self) -> Iterator[tuple[Graphon, IntArray]]:
        """Every graphon with the graphs drawn from it."""
        ends = np.cumsum(np.bincount(self.which, minlength=len(self.graphons)))
        return zip(self.graphons, np.split(np.argsort(self.which, kind="stable"), ends[:-1]), strict=True)


def _check_arguments(graphons: Classes, n: int) -> tuple[Graphon | GraphonDistribution, ...]:
    allowed = (Graphon, GraphonDistribution)
    classes = (graphons,) if isinstance(graphons, allowed) else tuple(graphons)
    if not classes or not all(isinstance(graphon, allowed) for graphon in classes):
        raise ValueError(f"expected a graphon, or one per class; got {graphons!r}")
    check_integer("n", n, 1)
    return classes


def _draw_graphons(
    classes: Sequence[Graphon | GraphonDistribution],
    environments: Sequence[Environment],
    n: int,
    class_shares: Sequence[float] | None,
    rng: np.random.Generator,
) -> _Drawn:
    """Draw the class of every graph, and its graphon where a class has a distribution of them."""
    y = _draw_classes(len(classes), n, class_shares, rng)
    graphons: list[Graphon] = []
    which = np.zeros(n, np.int64)
    for label, graphon in enumerate(classes):
        here = np.flatnonzero(y == label)
        if isinstance(graphon, Graphon):
            which[here] = len(graphons)
            graphons.append(graphon)
        else:
            which[here] = len(graphons) + np.arange(len(here))
            graphons += [graphon.sample(rng) for _ in here]
    for environment in environments:
        coloring = environment.coloring
        if coloring is not None:
            for blocks in {len(graphon.shares) for graphon in graphons}:
                coloring.check_blocks(blocks)
    return _Drawn(tuple(graphons), which, y)


def _draw_classes(n_classes: int, n: int, shares: Sequence[float] | None, rng: np.random.Generator) -> IntArray:
    if shares is None:
        return rng.integers(n_classes, size=n)
    given = check_shares(shares, "the classes", zero=True)
    if len(given) != n_classes:
        raise ValueError(f"expected {n_classes} class shares, one per graphon; got {len(given)}")
    return rng.choice(n_classes, size=n, p=given)


def _draw_labels(
    drawn: _Drawn, n_classes: int, label_noise: float | ArrayLike | None, rng: np.random.Generator
) -> IntArray:
    """Y = h(W, Z_Y): the class, or a label drawn with the probabilities of the class."""
    if label_noise is None:
        return drawn.classes
    ends = np.cumsum(label_probabilities(label_noise, n_classes), axis=1)
    return np.asarray((rng.random(len(drawn.classes))[:, None] >= ends[drawn.classes, :-1]).sum(axis=1))


def _draw_sizes(environment: Environment, n: int, rng: np.random.Generator) -> IntArray:
    """The position of each graph's size in the sizes of the environment."""
    if environment.weights is None:
        return rng.integers(len(environment.sizes), size=n)
    return rng.choice(len(environment.sizes), size=n, p=environment.weights)


def _draw_hidden(drawn: _Drawn, sizes: IntArray, blocks: str, rng: np.random.Generator) -> FloatArray:
    """Draw the hidden variable U of every vertex of the set."""
    uniform = rng.random(int(sizes.sum()))
    if blocks == "iid" or all(len(graphon.shares) == 1 for graphon in drawn.graphons):
        return uniform
    first = offsets(sizes)
    for graphon, members in drawn.groups():
        for size in np.unique(sizes[members]).tolist():
            graphs, cuts = members[sizes[members] == size], graphon.cuts
            block = np.repeat(np.arange(len(cuts) - 1), block_sizes(graphon.shares, size))
            vertices = first[graphs][:, None] + np.arange(size)
            inside = cuts[block] + uniform[vertices] * (cuts[block + 1] - cuts[block])
            below = np.nextafter(cuts[block + 1], 0.0)  # rounding must not leave the block
            uniform[vertices] = np.minimum(inside, below)
    return uniform


def _draw_edges(
    drawn: _Drawn, sizes: IntArray, hidden: FloatArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Draw the edges u < v of all graphs, one Z per vertex pair in a fixed order; numbers are those of the set."""
    first = offsets(sizes)
    sources, targets = [], []
    for graphon, graphs in drawn.groups():
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
    drawn: _Drawn,
    environment: Environment,
    y: IntArray,
    size_index: IntArray,
    hidden: FloatArray,
    source: IntArray,
    target: IntArray,
) -> CausalSample:
    """The graphs as observed in the environment: edges, and colors from sizes, blocks and positions."""
    sizes = np.array(environment.sizes)[size_index]
    first = offsets(sizes)
    blocks, positions = np.zeros(len(hidden), np.int64), np.zeros(len(hidden))
    for graphon, members in drawn.groups():
        here = ranges(first[members], sizes[members])
        blocks[here], positions[here] = graphon.block(hidden[here]), graphon.position(hidden[here])
    coloring = environment.coloring
    codes, palette = (None, ()) if coloring is None else coloring.paint(np.repeat(sizes, sizes), blocks, positions)
    graphs = assemble(sizes, source, target, codes, palette, y)
    graphons = tuple(drawn.graphons[number] for number in drawn.which.tolist())
    return _sample(
        graphs, environments=size_index, hidden=hidden, blocks=blocks, classes=drawn.classes, graphons=graphons
    )


def _sample(graphs: GraphSet, **hidden: Any) -> CausalSample:
    """The graphs with the hidden variables that `CausalSample` has."""
    return CausalSample(**{field.name: getattr(graphs, field.name) for field in fields(GraphSet)}, **hidden)
