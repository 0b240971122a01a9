"""Detect inputs unlike the training data: unknown colors and types of edges, no patterns, unusual pattern shares,
shifted densities.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.special import ndtr

from anysize._schema import check_array
from anysize._text import plural
from anysize._typing import BoolArray, FloatArray, IntArray
from anysize.counting.counts import Counts
from anysize.graphs.attributes import EdgeType, attributes_of, edge_type_order, edge_types
from anysize.graphs.colors import ColorName
from anysize.graphs.graphset import GraphSet
from anysize.graphs.ragged import owners
from anysize.patterns.pattern import connected_patterns, format_color

GraphsOrCounts = GraphSet | Counts

MIN_REFERENCE_GRAPHS = 20  # fewer training graphs do not show how far apart graphs of one kind may lie
MAX_REFERENCE_GRAPHS = 128  # a random sample of the training graphs; keeps model files small
FAR_DISTANCE_FACTOR = 2.0  # times the distance of the most distant training graph
MIN_DISTANCE = 0.01  # smaller differences between shares are never reported
MAX_COLORS_SHOWN = 5
SHIFT_LEVEL = 0.01  # probability of a false alarm about the densities of a set of new graphs


@dataclass(frozen=True, eq=False)
class ShareReference:
    """Pattern shares of a sample of the training graphs, colors ignored.

    A share is the number of copies of a pattern divided by the number of connected k-subsets. (Densities over all
    subsets fall with size in sparse graphs.) The distance of a graph is the Euclidean distance between its shares and
    those of its m-th nearest reference graph, m being the square root of their number.

    Attributes:
        k: the number of vertices of the patterns.
        shares: (reference graphs, patterns of the catalog).
        median_size: the median number of vertices of the reference graphs.
        max_distance: the distance of the most distant training graph.
    """

    k: int
    shares: NDArray[np.float32]
    median_size: float
    max_distance: float

    @staticmethod
    def of(counts: Counts) -> ShareReference | None:
        """The reference of a table of training graphs; None if too few of them have patterns."""
        k = int(counts.columns.size.max(initial=1))
        shares = pattern_shares(counts, k)
        nonempty = np.flatnonzero(np.diff(shares.indptr))
        if len(nonempty) < MIN_REFERENCE_GRAPHS:
            return None
        sample = np.sort(np.random.default_rng(0).permutation(nonempty)[:MAX_REFERENCE_GRAPHS])
        reference = ShareReference(
            k, shares[sample].toarray().astype(np.float32), float(np.median(counts.sizes[sample])), 0.0
        )
        return replace(reference, max_distance=float(reference.distances(shares[nonempty]).max()))

    def is_far(self, counts: Counts) -> BoolArray:
        """(graphs,): whether a graph is at more than twice the distance of the most distant training graph.

        Shares of graphs smaller than the training graphs are noisier: their distance is divided by the square of the
        ratio of the sizes. Graphs without patterns are not far.
        """
        shares = pattern_shares(counts, self.k)
        nonempty = np.diff(shares.indptr) > 0
        far = np.zeros(len(counts), bool)
        if nonempty.any():
            noise = np.maximum(self.median_size / np.maximum(counts.sizes[nonempty], 1), 1) ** 2
            limit = FAR_DISTANCE_FACTOR * max(self.max_distance, MIN_DISTANCE)
            far[nonempty] = self.distances(shares[nonempty]) / noise > limit
        return far

    def distances(self, shares: csr_array[np.float64]) -> FloatArray:
        """(graphs,): the distance to the m-th nearest reference graph other than the graph itself."""
        from sklearn.neighbors import NearestNeighbors  # imports much, for methods on patterns alone

        neighbors = NearestNeighbors(n_neighbors=isqrt(len(self.shares)) + 1, algorithm="brute")
        neighbors.fit(csr_array(self.shares.astype(np.float64)))
        return np.asarray(neighbors.kneighbors(shares)[0][:, -1])


def pattern_shares(counts: Counts, k: int) -> csr_array[np.float64]:
    """(graphs, patterns of the catalog): shares among the connected k-subsets, summed over colors."""
    from sklearn.preprocessing import normalize

    columns = counts.columns
    of_size = np.flatnonzero(columns.size == k)
    entries = (np.ones(len(of_size)), (of_size, columns.pattern_index[of_size].astype(np.int64)))
    to_catalog = csr_array(entries, shape=(len(columns), len(connected_patterns(k))))
    shares = normalize(counts.matrix.astype(np.float64) @ to_catalog, norm="l1")
    shares.eliminate_zeros()
    return csr_array(shares)


@dataclass(frozen=True, eq=False)
class DensityReference:
    """Edges and adjacent pairs of edges in a sample of the training graphs.

    Attributes:
        sizes: (reference graphs,) numbers of vertices.
        statistics: (reference graphs, 2) the logarithms of the edge density, and of the density of two adjacent edges
            by that of two disjoint ones (see `anysize.causal.graphon_check`: their means do not depend on n).
    """

    sizes: FloatArray
    statistics: FloatArray

    @staticmethod
    def of(graphs: GraphSet) -> DensityReference:
        """The statistics of a random sample of graphs of at least four vertices."""
        large = np.flatnonzero(graphs.sizes >= 4)
        sample = np.sort(np.random.default_rng(0).permutation(large)[:MAX_REFERENCE_GRAPHS])
        n, m = graphs.sizes[sample].astype(np.float64), graphs.edge_counts[sample].astype(np.float64)
        degrees, triples = graphs.degrees.astype(np.float64), n * (n - 1) * (n - 2)
        pairs = np.bincount(owners(graphs.first), degrees * (degrees - 1), minlength=len(graphs))[sample]
        edge = np.maximum(2 * m, 1) / (n * (n - 1))  # a graph without edges counts as half an edge
        adjacent = np.maximum(pairs, 1) / triples
        disjoint = np.maximum(4 * (m * (m - 1) - pairs), 4) / (triples * (n - 3))
        return DensityReference(n, np.log(np.stack([edge, adjacent / disjoint], axis=1)))

    def shift(self, source: GraphsOrCounts) -> float:
        """The p-value of "the statistics of these graphs differ no more than sizes explain"; 1 for few, and for counts.

        Sizes explain a statistic that does not depend on n, as in dense graphs of one graphon, or that follows a law of
        the reference graphs: a power law, or a limit that is approached as 1/n, as where degrees are whole numbers. The
        means must also be at least one standard deviation of either set apart: with many graphs any difference is
        significant.
        """
        if not isinstance(source, GraphSet) or len(source) < MIN_REFERENCE_GRAPHS:
            return 1.0
        other = DensityReference.of(source)
        if min(len(self.sizes), len(other.sizes)) < MIN_REFERENCE_GRAPHS:
            return 1.0
        values = []
        for z, new_z in zip(self.statistics.T, other.statistics.T, strict=True):
            p = [_mean_shift(z, new_z, 0.0)]
            for law in (np.log, np.reciprocal):
                x, new_x = law(self.sizes), law(other.sizes)
                spread = float(((x - x.mean()) ** 2).sum())
                if x.std() <= 1e-6 * np.abs(x).max():
                    continue
                slope = float((x - x.mean()) @ z) / spread
                left = z - z.mean() - slope * (x - x.mean())
                error = float(np.sqrt(left @ left / max(len(x) - 2, 1) / spread)) * abs(new_x.mean() - x.mean())
                p.append(_mean_shift(z - slope * x, new_z - slope * new_x, error))
            values.append(max(p))
        return min(1.0, len(values) * min(values))


def _mean_shift(values: FloatArray, others: FloatArray, error: float) -> float:
    """The p-value of equal means, ``error`` being that of a correction; 1 if they are within a standard deviation."""
    difference = abs(float(others.mean() - values.mean()))
    if difference < max(values.std(), others.std()):
        return 1.0
    variance = values.var() / len(values) + others.var() / len(others) + error**2
    return float(2 * ndtr(-difference / max(np.sqrt(variance), 1e-9)))


@dataclass(frozen=True, eq=False)
class NoveltyDetector:
    """What the training graphs were like, to compare new graphs with.

    Attributes:
        colors: the colors of the training vertices; None if the graphs have none or the method ignores colors.
        shares: pattern shares; None for methods on whole graphs and for very few training graphs.
        mean_size: geometric mean number of vertices.
        densities: edges and adjacent pairs of edges; None where training had only counts, or few graphs.
        color_shares: (colors,) the share of training vertices that each color has.
        degrees: (degrees,) the shares of training vertices with 0, 1, ... neighbors; None for methods on patterns.
        edge_types: the types of edges of the training graphs; None if these have none or the method ignores them.
    """

    colors: tuple[ColorName, ...] | None
    shares: ShareReference | None
    mean_size: float = 1.0
    densities: DensityReference | None = None
    color_shares: FloatArray | None = None
    degrees: FloatArray | None = None
    edge_types: tuple[EdgeType, ...] | None = None

    @staticmethod
    def of(
        source: GraphsOrCounts, table: Counts | None, uses_colors: bool,
        edge_types: tuple[EdgeType, ...] | None = None,
    ) -> NoveltyDetector:  # fmt: skip
        """The detector for training graphs, and for their table of counts if the method uses one.

        ``edge_types``: those of the training graphs, if the method uses them.
        """
        colors = color_shares = None
        if uses_colors and palette_of(source) is not None:
            amounts: FloatArray = np.asarray(vertices_by_color(source).sum(axis=0)).reshape(-1)
            colors = tuple(source.palette[code] for code in np.flatnonzero(amounts))
            color_shares = amounts[amounts > 0] / max(amounts.sum(), 1)
        densities = None
        if isinstance(source, GraphSet) and len(source) >= MIN_REFERENCE_GRAPHS:
            densities = DensityReference.of(source)
        shares = None if table is None else ShareReference.of(table)
        degrees = None
        if table is None and isinstance(source, GraphSet) and len(source.degrees):
            degrees = np.bincount(source.degrees) / len(source.degrees)
        detector = NoveltyDetector(colors, shares, 1.0, densities, color_shares, degrees, edge_types)
        return detector.with_sizes(source.sizes)

    def with_sizes(self, sizes: IntArray) -> NoveltyDetector:
        """The same detector with the mean of these sizes, as of the graphs with one of several targets."""
        return replace(self, mean_size=float(np.exp(np.log(np.maximum(sizes, 1)).mean())))

    def warnings(self, source: GraphsOrCounts, table: Counts | None, smallest_k: int) -> Iterator[str]:
        """One sentence for each reason not to trust the predictions for these graphs."""
        if self.colors is not None and palette_of(source) is not None:
            yield from self._unknown_colors(source)
        if self.edge_types is not None:
            yield from self._unknown_types(source)
        table = table if table else None
        empty = 0 if table is None else int((np.diff(table.matrix.indptr) == 0).sum())
        if table is not None and empty:
            yield (
                f"{_number_of(empty, len(table), 'has', 'have')} no connected subgraph on {smallest_k} vertices: "
                "without patterns all such graphs get the same prediction; use a smaller k"
            )
        far = 0 if self.shares is None or table is None else int(self.shares.is_far(table).sum())
        if table is not None and far:
            yield (
                f"{_number_of(far, len(table), 'is', 'are')} far from all training graphs in the shares of patterns: "
                "the probabilities for them mean little; anysize diagnose compares the two sets"
            )
        elif self.densities is not None and (p := self.densities.shift(source)) <= SHIFT_LEVEL:
            yield (
                f"these {len(source)} graphs differ from the training graphs by more than their sizes explain "
                f"(densities of edges, p = {p:.1g}): scores from training need not hold for them; anysize "
                "diagnose shows how they differ"
            )

    def far_share(self, source: GraphsOrCounts, table: Counts | None) -> float:
        """The share of a set of graphs about which training shows little.

        All of it, if the set comes from elsewhere. Otherwise the largest of these: the share of graphs that are far in
        the shares of their patterns; of edges whose type no training graph had; the total variation distance between
        the colors of the vertices of both sets; for methods on whole graphs also that between their degrees.
        """
        if not len(source):
            return 0.0
        if self.densities is not None and self.densities.shift(source) <= SHIFT_LEVEL:
            return 1.0
        shares = [0.0]
        if self.shares is not None and table is not None and len(table):
            shares.append(float(self.shares.is_far(table).mean()))
        if self.colors is not None and self.color_shares is not None and palette_of(source) is not None:
            amounts: FloatArray = np.asarray(vertices_by_color(source).sum(axis=0)).reshape(-1)
            known_share = dict(zip(self.colors, self.color_shares.tolist(), strict=True))
            known = np.array([known_share.get(name, 0.0) for name in source.palette])
            shares.append(float(np.maximum(amounts / max(amounts.sum(), 1) - known, 0).sum()))
        if self.edge_types is not None:
            edges, _, unknown = self._edges(source)
            shares.append(float(edges[:, unknown].sum() / max(edges.sum(), 1)))
        if self.degrees is not None and isinstance(source, GraphSet) and len(source.degrees):
            new = np.bincount(source.degrees, minlength=len(self.degrees)) / len(source.degrees)
            known = np.pad(self.degrees, (0, len(new) - len(self.degrees)))
            shares.append(float(np.maximum(new - known, 0).sum()))
        return max(shares)

    def _unknown_colors(self, source: GraphsOrCounts) -> Iterator[str]:
        known = frozenset(self.colors or ())
        unknown = np.array([name not in known for name in source.palette], bool)
        if not unknown.any():
            return
        vertices = vertices_by_color(source)
        unknown &= np.asarray(vertices.sum(axis=0)).reshape(-1) > 0
        strange = [source.palette[code] for code in np.flatnonzero(unknown)]
        for sentence in _unknown(source, vertices, unknown, "colors", "vertices", list(map(format_color, strange))):
            yield sentence + _other_kind(strange, known)

    def _edges(self, source: GraphsOrCounts) -> tuple[csr_array[np.float64], list[EdgeType], BoolArray]:
        """(graphs, types): edges of each type that occurs, these types, and which of them are unknown."""
        known = {kind for each in self.edge_types or () for kind in (each, each.reverse)}
        edges, types = edges_by_type(source)
        occurs = np.flatnonzero(np.asarray(edges.sum(axis=0)).reshape(-1)).tolist()
        occurring = [types[code] for code in occurs]
        return csr_array(edges[:, occurs]), occurring, np.array([kind not in known for kind in occurring], bool)

    def _unknown_types(self, source: GraphsOrCounts) -> Iterator[str]:
        edges, types, unknown = self._edges(source)
        strange = [types[code] for code in np.flatnonzero(unknown)]
        directed = attributes_of([*types, *(self.edge_types or ())])[1]
        names = dict.fromkeys(  # a type and its reverse are seen from the two ends of one edge
            min(kind, kind.reverse, key=edge_type_order).label(directed).strip() for kind in strange
        )
        yield from _unknown(source, edges, unknown, "types of edges", "edges", list(names))

    # ---- as JSON and arrays --------------------------------------------------------------------

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """A dictionary for JSON, and arrays."""
        about: dict[str, Any] = {"colors": None if self.colors is None else list(self.colors)}
        about["mean_size"] = self.mean_size
        if self.edge_types is not None:
            about["edge_types"] = [list(kind) for kind in self.edge_types]
        arrays: dict[str, NDArray[Any]] = {}
        if self.shares is not None:
            known = self.shares
            about |= {"k": known.k, "median_size": known.median_size, "max_distance": known.max_distance}
            arrays["shares"] = known.shares
        if self.color_shares is not None:
            arrays["color_shares"] = self.color_shares
        if self.degrees is not None:
            arrays["degrees"] = self.degrees
        if self.densities is not None:
            arrays |= {"sizes": self.densities.sizes, "statistics": self.densities.statistics}
        return about, arrays

    @staticmethod
    def from_state(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> NoveltyDetector:
        """The detector from what `state` returned."""
        colors = None if about["colors"] is None else tuple(about["colors"])
        shares, densities = None, None
        if "shares" in arrays:
            table = check_array(arrays["shares"], "shares", "f", (None, len(connected_patterns(about["k"]))), 0)
            if not len(table):
                raise ValueError("shares: expected at least one reference graph")
            shares = ShareReference(about["k"], table, about["median_size"], about["max_distance"])
        if "statistics" in arrays:
            sizes = check_array(arrays["sizes"], "sizes", "f", (None,), 0)
            densities = DensityReference(sizes, check_array(arrays["statistics"], "statistics", "f", (len(sizes), 2)))
        color_shares = None
        if "color_shares" in arrays:
            color_shares = check_array(arrays["color_shares"], "color_shares", "f", (len(colors or ()),), 0, 1)
        degrees = check_array(arrays["degrees"], "degrees", "f", (None,), 0, 1) if "degrees" in arrays else None
        edge_types = tuple(EdgeType(*kind) for kind in about["edge_types"]) if "edge_types" in about else None
        return NoveltyDetector(
            colors, shares, about.get("mean_size", 1.0), densities, color_shares, degrees, edge_types
        )


def palette_of(source: GraphsOrCounts) -> tuple[ColorName, ...] | None:
    """The colors that graphs or patterns may have; None for graphs without colors."""
    return None if (source.columns if isinstance(source, Counts) else source).colors is None else source.palette


def vertices_by_color(source: GraphsOrCounts) -> csr_array[np.float64]:
    """(graphs, colors of the palette): the vertices of each color; for a table, those of all copies of patterns."""
    width = len(source.palette)
    if isinstance(source, GraphSet):
        assert source.colors is not None
        codes = source.colors.astype(np.int64)
        return csr_array((np.ones(len(codes)), codes, source.first), shape=(len(source), width))
    columns = source.columns
    assert columns.colors is not None
    inside = np.arange(columns.colors.shape[1]) < columns.size[:, None]
    pattern, slot = np.nonzero(inside)
    entries = (np.ones(len(pattern)), (pattern, columns.colors[pattern, slot].astype(np.int64)))
    return csr_array(source.matrix.astype(np.float64) @ csr_array(entries, shape=(len(columns), width)))


def edges_by_type(source: GraphsOrCounts) -> tuple[csr_array[np.float64], Sequence[EdgeType]]:
    """(graphs, types): the edges of each type, seen from both ends, and the types; for a table, those of all copies."""
    if isinstance(source, GraphSet):
        codes, types = edge_types(source) or (np.zeros(0, np.int64), [])
        entries = source.indptr[source.first] if types else np.zeros_like(source.first)
        return csr_array((np.ones(len(codes)), codes, entries), shape=(len(source), len(types))), types
    columns = source.columns
    assert columns.edge_types is not None
    pattern, pair = np.nonzero(columns.edge_types)
    codes = columns.edge_types[pattern, pair].astype(np.int64)
    ends = np.concatenate([codes, columns.reverse_types[codes]]) - 1
    by_pattern = csr_array((np.ones(len(ends)), (np.tile(pattern, 2), ends)), (len(columns), len(columns.edge_palette)))
    return csr_array(source.matrix.astype(np.float64) @ by_pattern), columns.edge_palette


def _unknown(
    source: GraphsOrCounts, amounts: csr_array[np.float64], unknown: BoolArray, what: str, where: str,
    names: Sequence[str],
) -> Iterator[str]:  # fmt: skip
    """A sentence about graphs with colors, or types of edges, that are ``unknown``; none if there are none.

    ``amounts`` (graphs, colors or types): how many vertices or edges have each of them.
    """
    amount: FloatArray = np.asarray(amounts[:, unknown].sum(axis=1)).reshape(-1)
    total: FloatArray = np.asarray(amounts.sum(axis=1)).reshape(-1)
    affected = amount > 0
    if not affected.any():
        return
    shown = ", ".join(names[:MAX_COLORS_SHOWN]) + (", ..." if len(names) > MAX_COLORS_SHOWN else "")
    yield (
        f"{_number_of(int(affected.sum()), len(source), 'has', 'have')} {what} that no training graph had ({shown}), "
        f"{100 * amount.sum() / total[affected].sum():.3g} % of their "
        f"{where if isinstance(source, GraphSet) else f'{where} in patterns'}: the model has learned nothing about them"
    )


def _other_kind(strange: Iterable[ColorName], known: Iterable[ColorName]) -> str:
    """What to say of colors that differ from known ones only in being numbers or text."""
    alike = sorted({str(color) for color in strange} & {str(color) for color in known})
    return f"; {alike[0]} is text in one of the two sets and a number in the other: make it the same" if alike else ""


def _number_of(amount: int, total: int, singular: str, several: str) -> str:
    """For example "2 of 8 graphs have"."""
    return f"{amount} of {plural(total, 'graph')} {singular if amount == 1 else several}"
