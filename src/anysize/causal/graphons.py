"""Graphons: edge probabilities W(u, v) and expected densities of patterns.

W(u, v) is the probability of an edge between vertices with hidden variables u and v: there is an edge if Z < W. The
paper's equation (1) has Z > W, but the rest of the paper calls W the edge probability.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import factorial, perm
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from anysize._typing import FloatArray, IntArray
from anysize.causal.coloring import Coloring, check_shares
from anysize.graphs.colors import ColorName
from anysize.patterns.pattern import Pattern

Colors: TypeAlias = Coloring | Sequence[Mapping[ColorName, float]] | None
GraphonOver: TypeAlias = Literal["subsets", "maps"]

MAX_TERMS = 10**8  # of a sum over all assignments of blocks to vertices, held in memory at once
SCRAMBLINGS, POINTS_LOG2 = 16, 13  # independent scramblings of 2^13 Sobol points


class Estimate(NamedTuple):
    """A number and its standard error; 0 where the number is exact."""

    value: float
    error: float


class Graphon(ABC):
    """A symmetric function W: [0, 1]^2 -> [0, 1]; [0, 1] is divided into blocks of the lengths ``shares``."""

    shares: tuple[float, ...]

    @abstractmethod
    def edge_probability(self, u: ArrayLike, v: ArrayLike) -> FloatArray:
        """W(u, v), elementwise, for hidden variables in [0, 1)."""

    @abstractmethod
    def _density_over_maps(self, pattern: Pattern, colors: Colors, induced: bool) -> Estimate:
        """The probability that k vertices have the edges of the pattern (if induced: no others) and its colors."""

    def density_estimate(self, pattern: Pattern, colors: Colors = None, over: GraphonOver = "subsets") -> Estimate:
        """`expected_density` with its standard error, which is 0 for closed forms."""
        value, error = self._density_over_maps(pattern, colors, induced=True)
        factor = _maps_to_density(pattern, over)
        return Estimate(value * factor, error * factor)

    def homomorphism_density(self, pattern: Pattern, colors: Colors = None) -> Estimate:
        r"""The homomorphism density t(F, W) of a pattern, with its standard error, which is 0 for closed forms.

        .. math:: t(F, W) = \int \prod_{ij \in E(F)} W(x_i, x_j) \prod_i 1[g(x_i) = c_i] \, dx

        as in the proof of Theorem 1 (Lovasz and Szegedy): other edges may be present or not. It is the expected value
        of t_inj in graphs of any size, see `anysize.paper.theory.homomorphisms.injective_density`.

        Examples:
            >>> from anysize.patterns.pattern import connected_patterns
            >>> ErdosRenyi(0.5).homomorphism_density(connected_patterns(3)[0]).value  # two edges; a third is allowed
            0.25
        """
        return self._density_over_maps(pattern, colors, induced=False)

    def expected_density(self, pattern: Pattern, colors: Colors = None, over: GraphonOver = "subsets") -> float:
        r"""The expected induced density of a pattern in graphs of any size drawn from this graphon.

        .. math:: t_{ind}(F, W) = \int \prod_{ij \in E(F)} W(x_i, x_j) \prod_{ij \notin E(F)} (1 - W(x_i, x_j))
                  \prod_i 1[g(x_i) = c_i] \, dx

        is the density over maps. Over subsets (the default, copies / C(N, k)) it is t_ind(F, W) k! / |Aut F|. Hidden
        variables are independent; for balanced blocks see `balanced_density`.

        Args:
            pattern: plain (colors are ignored) or colored.
            colors: the colors of each block, as in `Environment`; required for a colored pattern. The density is 0 if
                no block has a color of the pattern.
            over: "subsets" or "maps", as in `Counts.densities`.
        """
        return self.density_estimate(pattern, colors, over).value

    @property
    def cuts(self) -> FloatArray:
        """The boundaries 0 = t_0 < ... < t_r = 1 of the blocks."""
        ends = np.concatenate([[0.0], np.cumsum(self.shares)])
        ends[-1] = 1.0
        return ends

    def block(self, u: ArrayLike) -> IntArray:
        """The block of each hidden variable: i if t_i <= u < t_(i+1)."""
        return np.searchsorted(self.cuts[1:-1], np.asarray(u, np.float64), side="right").astype(np.int64)

    def position(self, u: ArrayLike) -> FloatArray:
        """The relative position of each hidden variable in its block, in [0, 1)."""
        blocks, cuts = self.block(u), self.cuts
        inside = (np.asarray(u, np.float64) - cuts[blocks]) / (cuts[blocks + 1] - cuts[blocks])
        return np.minimum(inside, np.nextafter(1.0, 0.0))


@dataclass(frozen=True)
class ErdosRenyi(Graphon):
    """The constant graphon: every vertex pair is an edge with probability p.

    Examples:
        >>> from anysize.patterns.pattern import connected_patterns
        >>> path, triangle = connected_patterns(3)
        >>> round(ErdosRenyi(0.5).expected_density(triangle), 6), round(ErdosRenyi(0.5).expected_density(path), 6)
        (0.125, 0.375)
    """

    p: float
    shares: tuple[float, ...] = field(default=(1.0,), init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", check_probability(self.p, "p"))

    def edge_probability(self, u: ArrayLike, v: ArrayLike) -> FloatArray:
        return np.full(np.broadcast_shapes(np.shape(u), np.shape(v)), self.p)

    def _density_over_maps(self, pattern: Pattern, colors: Colors, induced: bool) -> Estimate:
        edges, pairs = len(pattern.edges), pattern.size * (pattern.size - 1) // 2
        absent = (1 - self.p) ** (pairs - edges) if induced else 1.0
        return Estimate(float(self.p**edges * absent * _color_weights(pattern, colors, 1).prod()), 0.0)


@dataclass(frozen=True, init=False)
class BlockModel(Graphon):
    """The stochastic block model: the probability of an edge depends on the blocks of its ends.

    Args:
        within: the edge probability inside each block.
        between: the edge probability between different blocks.
        matrix: instead of both, the symmetric matrix of all edge probabilities.
        shares: the share of each block. Default: equal.

    Examples:
        >>> model = BlockModel(within=(0.2, 0.2), between=0.1)
        >>> model == BlockModel(matrix=[[0.2, 0.1], [0.1, 0.2]])
        True
        >>> model.edge_probability([0.1, 0.1], [0.4, 0.6]).tolist()
        [0.2, 0.1]
    """

    matrix: tuple[tuple[float, ...], ...]
    shares: tuple[float, ...]

    def __init__(
        self,
        within: Sequence[float] | None = None,
        between: float | None = None,
        *,
        matrix: ArrayLike | None = None,
        shares: Sequence[float] | None = None,
    ) -> None:
        if (within is None) != (between is None) or (matrix is None) == (within is None):
            raise ValueError("a block model needs either within and between, or matrix")
        full = _block_matrix(within, between) if matrix is None else _square(matrix)
        for value in full.ravel():
            check_probability(value, "an entry of the matrix")
        if not np.array_equal(full, full.T):
            raise ValueError(f"the matrix of a block model must be symmetric; got {full.tolist()}")
        given = [1 / len(full)] * len(full) if shares is None else shares
        if len(given) != len(full):
            raise ValueError(f"expected {len(full)} shares, one per block; got {len(given)}")
        object.__setattr__(self, "matrix", tuple(tuple(float(p) for p in row) for row in full))
        object.__setattr__(self, "shares", check_shares(given, "the blocks"))

    def edge_probability(self, u: ArrayLike, v: ArrayLike) -> FloatArray:
        return np.asarray(np.array(self.matrix)[self.block(u), self.block(v)])

    def _density_over_maps(self, pattern: Pattern, colors: Colors, induced: bool) -> Estimate:
        weights = _color_weights(pattern, colors, len(self.shares)) * np.array(self.shares)
        mass = _outer_product(weights) * _edges_probability(pattern, np.array(self.matrix), induced)
        return Estimate(float(mass.sum()), 0.0)


@dataclass(frozen=True)
class SmoothGraphon(Graphon):
    """Any symmetric W(u, v), given as a function of two numpy arrays; colors are intervals of u.

    Expected densities are quasi-Monte Carlo estimates: the mean over 16 independent scramblings of 2^13 Sobol points,
    with the standard error over the scramblings. Seeds are fixed, so that results are reproducible.

    Examples:
        >>> from anysize.patterns.pattern import connected_patterns
        >>> value, error = SmoothGraphon(lambda u, v: u * v).density_estimate(connected_patterns(3)[1])
        >>> abs(value - 1 / 27) < 4 * error < 1e-4
        True
    """

    function: Callable[[FloatArray, FloatArray], ArrayLike]
    shares: tuple[float, ...] = field(default=(1.0,), init=False, repr=False)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"a smooth graphon needs a function of two arrays; got {self.function!r}")
        grid = (np.arange(29) + 0.5) / 29
        u, v = (axis.ravel() for axis in np.meshgrid(grid, grid))
        there, back = self.edge_probability(u, v), self.edge_probability(v, u)
        if not np.allclose(there, back, rtol=0, atol=1e-9):
            raise ValueError("a graphon must be symmetric, W(u, v) = W(v, u); this function is not")

    def edge_probability(self, u: ArrayLike, v: ArrayLike) -> FloatArray:
        first, two = np.broadcast_arrays(np.asarray(u, np.float64), np.asarray(v, np.float64))
        values = np.asarray(self.function(first, two), np.float64)
        if values.shape != first.shape:
            raise ValueError(
                f"the function of a graphon must return one probability per pair of entries: "
                f"expected the shape {first.shape}, got {values.shape}"
            )
        if not ((values >= 0) & (values <= 1)).all():  # False for NaN
            raise ValueError(f"a graphon has values from 0 to 1; got {values.min()} .. {values.max()}")
        return values

    def _density_over_maps(self, pattern: Pattern, colors: Colors, induced: bool) -> Estimate:
        from scipy.stats import qmc

        start, width = _color_cell(pattern, colors)
        means = np.empty(SCRAMBLINGS)
        for repeat in range(len(means)):
            sobol = qmc.Sobol(pattern.size, bits=53, seed=np.random.default_rng(repeat))
            points = start + width * sobol.random_base2(POINTS_LOG2)
            means[repeat] = self._probability(pattern, points, induced).mean()
        factor = width.prod()
        return Estimate(float(means.mean() * factor), float(means.std(ddof=1) / np.sqrt(len(means)) * factor))

    def _probability(self, pattern: Pattern, points: FloatArray, induced: bool) -> FloatArray:
        """The probability that vertices with these hidden variables, shape (points, k), have the pattern's edges."""
        chance = np.ones(len(points))
        for i, j, linked in _vertex_pairs(pattern, induced):
            edge = self.edge_probability(points[:, i], points[:, j])
            chance *= edge if linked else 1 - edge
        return chance


@dataclass(frozen=True)
class GraphonDistribution:
    """A distribution P(W) over graphons, from which every graph draws a graphon of its own (Definition 1).

    Args:
        draw: a function of a numpy random generator that returns a graphon.

    Examples:
        >>> sparse = GraphonDistribution(lambda rng: ErdosRenyi(rng.uniform(0.1, 0.3)))
        >>> round(sparse.sample(np.random.default_rng(0)).p, 3)
        0.227
    """

    draw: Callable[[np.random.Generator], Graphon]

    def __post_init__(self) -> None:
        if not callable(self.draw):
            raise ValueError(f"a distribution needs a function of a random generator; got {self.draw!r}")

    def sample(self, rng: np.random.Generator) -> Graphon:
        """Draw a graphon."""
        graphon = self.draw(rng)
        if not isinstance(graphon, Graphon):
            raise ValueError(f"the function of a distribution must return a graphon; got {graphon!r}")
        return graphon


def balanced_density(
    graphon: Graphon,
    pattern: Pattern,
    n_vertices: int,
    colors: Colors = None,
    over: GraphonOver = "subsets",
) -> float:
    """The expected density in graphs of n vertices with balanced blocks (`block_sizes`).

    The blocks of a k-subset are then drawn without replacement, so that the value depends on n and approaches
    `expected_density` as 1 / n. Colors inside a block are independent.

    Examples:
        >>> from anysize.patterns.pattern import connected_patterns
        >>> model = BlockModel(within=(1.0, 1.0), between=0.0)
        >>> balanced_density(model, connected_patterns(2)[0], 4)  # two edges among six pairs
        0.3333333333333333
        >>> model.expected_density(connected_patterns(2)[0])
        0.5
    """
    if len(graphon.shares) == 1:
        return graphon.expected_density(pattern, colors, over)
    if not isinstance(graphon, BlockModel):
        raise ValueError(f"balanced blocks need a BlockModel; got {type(graphon).__name__}")
    sizes = block_sizes(graphon.shares, n_vertices)
    if n_vertices < pattern.size:
        return 0.0
    blocks = np.indices((len(sizes),) * pattern.size)
    chance = np.ones(blocks.shape[1:])
    for block, size in enumerate(sizes):
        placements = np.array([perm(int(size), m) for m in range(pattern.size + 1)], np.float64)
        chance *= placements[(blocks == block).sum(axis=0)]
    chance /= perm(n_vertices, pattern.size)
    colored = _outer_product(_color_weights(pattern, colors, len(sizes)))
    mass = chance * colored * _edges_probability(pattern, np.array(graphon.matrix))
    return float(mass.sum()) * _maps_to_density(pattern, over)


def block_sizes(shares: Sequence[float], n_vertices: int) -> IntArray:
    """Numbers of vertices in these shares, by largest remainders; ties go to the earlier block.

    >>> block_sizes((0.5, 0.5), 15).tolist(), block_sizes((0.3, 0.7), 10).tolist()
    ([8, 7], [3, 7])
    """
    ideal = np.asarray(shares) * n_vertices
    sizes = np.floor(ideal + 1e-9).astype(np.int64)
    order = np.argsort(-np.round(ideal - sizes, 9), kind="stable")
    sizes[order[: n_vertices - int(sizes.sum())]] += 1
    return sizes


def check_probability(value: Any, what: str) -> float:
    """The value as a float; an error if it is not a number from 0 to 1."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{what} must be a probability from 0 to 1; got {value!r}") from None
    if not 0 <= number <= 1:
        raise ValueError(f"{what} must be a probability from 0 to 1; got {value!r}")
    return number


def _maps_to_density(pattern: Pattern, over: GraphonOver) -> float:
    """The factor that converts a density over maps: k! / |Aut F| to subsets, 1 to maps."""
    if over not in ("subsets", "maps"):
        raise ValueError(f"over must be 'subsets' or 'maps' for a graphon; got {over!r}")
    return factorial(pattern.size) / pattern.automorphisms if over == "subsets" else 1.0


def _color_weights(pattern: Pattern, colors: Colors, blocks: int) -> FloatArray:
    """The share of each vertex's color (rows) in each block (columns)."""
    if pattern.colors is None:
        return np.ones((pattern.size, blocks))
    if colors is None:
        raise ValueError(f"{pattern!r} is colored: pass the colors of the blocks, colors=[{{name: share}}]")
    coloring = Coloring.of(colors)
    coloring.check_blocks(blocks)
    return np.array([[coloring.share(block, name) for block in range(blocks)] for name in pattern.colors])


def _vertex_pairs(pattern: Pattern, induced: bool) -> list[tuple[int, int, bool]]:
    """All vertex pairs of the pattern (if not induced: its edges alone), and whether they are edges."""
    edges = set(pattern.edges)
    pairs = [(i, j, (i, j) in edges) for j in range(pattern.size) for i in range(j)]
    return pairs if induced else [pair for pair in pairs if pair[2]]


def _outer_product(weights: FloatArray) -> FloatArray:
    """The product of weights (vertices, blocks) for every assignment of blocks; shape (blocks,) * vertices."""
    size, blocks = weights.shape
    if blocks**size > MAX_TERMS:
        raise ValueError(f"{blocks} blocks and {size} vertices make {blocks**size} terms; the limit is {MAX_TERMS}")
    product = np.ones((1,) * size)
    for vertex in range(size):
        product = product * np.expand_dims(weights[vertex], tuple(axis for axis in range(size) if axis != vertex))
    return product


def _edges_probability(pattern: Pattern, matrix: FloatArray, induced: bool = True) -> FloatArray:
    """The probability of (if induced: exactly) the pattern's edges, for every assignment of blocks to its vertices."""
    chance = np.ones((1,) * pattern.size)
    for i, j, linked in _vertex_pairs(pattern, induced):
        others = tuple(axis for axis in range(pattern.size) if axis not in (i, j))
        chance = chance * np.expand_dims(matrix if linked else 1 - matrix, others)
    return chance


def _color_cell(pattern: Pattern, colors: Colors) -> tuple[FloatArray, FloatArray]:
    """The box of hidden variables that have the pattern's colors: lower ends and widths."""
    if pattern.colors is None:
        return np.zeros(pattern.size), np.ones(pattern.size)
    weights = _color_weights(pattern, colors, 1)  # raises an error if colors are missing
    coloring = Coloring.of(colors or ())
    ends = coloring.intervals(0)
    starts = {name: float(ends[index]) for index, name in enumerate(coloring.names[0])}
    return np.array([starts.get(name, 0.0) for name in pattern.colors]), weights[:, 0]


def _block_matrix(within: Any, between: Any) -> FloatArray:
    if np.ndim(within) != 1 or not np.size(within):
        raise ValueError(f"within must be a list with one edge probability per block; got {within!r}")
    inside = [check_probability(p, "within") for p in within]
    full = np.full((len(inside), len(inside)), check_probability(between, "between"))
    np.fill_diagonal(full, inside)
    return full


def _square(matrix: ArrayLike) -> FloatArray:
    try:
        full = np.array(matrix, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"matrix must hold one number per pair of blocks; got {matrix!r}") from None
    if full.ndim != 2 or full.shape[0] != full.shape[1] or not len(full):
        raise ValueError(f"the matrix of a block model must be square; got the shape {full.shape}")
    return full
