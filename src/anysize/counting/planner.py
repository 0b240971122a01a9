"""Which engine counts which graph: the one with the lowest estimated cost, and why.

Estimates come from sizes, degrees and colors, and where much work lies ahead from a small sample (`features`). The
constants are nanoseconds on one core of an x86 server; `make bench` prints how well they hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from anysize._typing import FloatArray
from anysize.counting.memory import colored_patterns, fits, too_large
from anysize.graphs.graphset import GraphSet

# ---- What the plan sees of graphs: sizes, sums over degrees, colors; and where that does not do, a small sample.


WEDGES = 4000  # looked at, to see how many are closed
FEW = 16  # graphs that are looked at one by one; of more, so many stand for all
UNSEEN_PATTERNS = 0.1  # patterns per connected set, where nobody has looked
MAPS = 20_000  # of trees, drawn to see how many connected sets there are


class Features:
    """What the estimates see of every graph of a set."""

    def __init__(self, graphs: GraphSet) -> None:
        self.graphs = graphs
        self.n = graphs.sizes.astype(np.float64)
        self.edges = graphs.edge_counts.astype(np.float64)
        self._found: dict[int, FloatArray] = {}
        self._patterns: dict[int, tuple[FloatArray, float]] = {}

    @cached_property
    def _graph(self) -> NDArray[np.int64]:
        """The graph of every vertex."""
        return np.repeat(np.arange(len(self.graphs)), self.graphs.sizes)

    def _total(self, values: FloatArray) -> FloatArray:
        return np.bincount(self._graph, values, len(self.graphs)).astype(np.float64)

    @cached_property
    def _d(self) -> FloatArray:
        return self.graphs.degrees.astype(np.float64)

    @cached_property
    def _ends(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Both ends of every edge, in both directions, numbered through the set."""
        source = np.repeat(np.arange(len(self._d)), self.graphs.degrees)
        return source, self.graphs.indices + self.graphs.first[self._graph[source]]

    @cached_property
    def wedges(self) -> FloatArray:
        """Pairs of neighbors of a vertex."""
        return self._total(self._d * (self._d - 1) / 2)

    @cached_property
    def largest(self) -> FloatArray:
        """The largest degree of each graph."""
        most = np.zeros(len(self.graphs))
        np.maximum.at(most, self._graph, self._d)
        return most

    @cached_property
    def _busy(self) -> FloatArray:
        """Neighbors with at least three neighbors: the others close no cycle that is looked for."""
        source, target = self._ends
        return np.bincount(source, self._d[target] > 2, len(self._d)).astype(np.float64)

    @cached_property
    def walks(self) -> FloatArray:
        """Wedges with busy ends."""
        return self._total(self._busy * (self._busy - 1) / 2)

    @cached_property
    def crowd(self) -> FloatArray:
        """About how many steps it takes to look around the triangles of clustered graphs."""
        return self._total(self._busy * self._busy * np.minimum(self._busy, 64))

    @cached_property
    def trees(self) -> dict[int, FloatArray]:
        """Subtrees on k vertices, or about so many: a bound on the connected k-sets."""
        d = self._d
        source, target = self._ends
        reach = np.bincount(source, d[target] - 1, len(d))
        paths4 = self._total(d * reach) / 2 - self._total(d * (d - 1)) / 2
        four = np.maximum(paths4, 0) + self._total(d * (d - 1) * (d - 2) / 6)
        five = self._total(reach**2 / 2 + reach * (d - 1) * (d - 2) / 2 + d * (d - 1) * (d - 2) * (d - 3) / 24)
        growth = np.maximum(five, 1) / np.maximum(four, 1)
        return {3: self.wedges, 4: four, 5: five, 6: five * growth, 7: five * growth**2}

    @cached_property
    def colors(self) -> FloatArray:
        """Different colors in each graph; 1 where there are none."""
        if self.graphs.colors is None:
            return np.ones(len(self.graphs))
        cells = np.unique(self._graph * (1 << 16) + self.graphs.colors.astype(np.int64))
        return np.maximum(np.bincount(cells >> 16, minlength=len(self.graphs)), 1).astype(np.float64)

    def sets(self, k: int) -> FloatArray:
        """About how many connected k-sets there are: at most, or as `look` found."""
        if k in self._found:
            return self._found[k]
        everything = np.ones(len(self.n))  # C(n, k)
        for taken in range(k):
            everything *= np.maximum(self.n - taken, 0) / (taken + 1)
        return np.asarray(np.minimum(self.trees[k], everything), np.float64)

    # ---- pilots ----------------------------------------------------------------------------------

    @cached_property
    def closed(self) -> FloatArray:
        """Triangles at an edge, on average, from random wedges: of each graph, or with one share for many graphs."""
        pairs = self._d * (self._d - 1) / 2
        share = np.zeros(len(self.graphs))
        if len(self.graphs) > FEW:
            share[:] = self._closed_share(pairs, 0, len(self._d))
        else:
            for number in range(len(self.graphs)):
                share[number] = self._closed_share(pairs, *map(int, self.graphs.first[number : number + 2]))
        return share * self.wedges / np.maximum(self.edges, 1)

    def _closed_share(self, pairs: FloatArray, start: int, stop: int) -> float:
        """The share of wedges with their middle in start .. stop whose ends are joined."""
        running = np.cumsum(pairs[start:stop])
        if not len(running) or running[-1] <= 0:
            return 0.0
        random = np.random.default_rng(0)
        middle = start + np.searchsorted(running, random.random(WEDGES) * running[-1], "right")
        first, degree = self.graphs.indptr[middle], self.graphs.degrees[middle]
        one = random.integers(0, degree)
        other = (one + random.integers(1, degree)) % degree
        begin = self.graphs.first[self._graph[middle]]
        indices = self.graphs.indices
        return float(self._joined(begin + indices[first + one], indices[first + other].astype(np.int64)).mean())

    def _joined(self, vertex: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether each vertex (of the set) has this neighbor (by its number in the graph): binary searches at once."""
        low, high = self.graphs.indptr[vertex], self.graphs.indptr[vertex + 1]
        last = high.copy()
        while (low < high).any():
            middle = (low + high) // 2
            open_ = low < high
            below = open_ & (self.graphs.indices[np.where(open_, middle, 0)] < other)
            low, high = np.where(below, middle + 1, low), np.where(open_ & ~below, middle, high)
        inside = low < last
        return np.asarray(inside & (self.graphs.indices[np.where(inside, low, 0)] == other))

    def look(self, k: int) -> None:
        """Estimate connected sets, and patterns among them, from samples: of each graph, or of some for all."""
        if k in self._found or not self.sets(k).sum() > 0:
            return
        if k > 3:
            self.look(k - 1)
        bound = self.sets(k)
        chosen = np.arange(len(bound))
        if len(bound) > FEW:
            chosen = np.random.default_rng(0).choice(len(bound), FEW, p=bound / bound.sum())
        seen = [_glimpse(self.graphs[int(number)], k) for number in chosen]
        share = np.array([one.sets / bound[number] for one, number in zip(seen, chosen, strict=True)])
        new = np.array([one.patterns / max(one.sets, 1) for one in seen])
        alike = np.ones(1)
        if len(bound) > FEW:  # one share for all; patterns of one graph are met again in others
            share, new = share.mean(), new.mean()
            distinct = len(np.unique(np.concatenate([one.words for one in seen]), axis=0))
            alike = distinct / max(sum(len(one.words) for one in seen), 1) * np.sqrt(FEW / len(bound))
        self._found[k] = np.asarray(bound * share)
        self._patterns[k] = np.asarray(self._found[k] * np.minimum(new, 1)), float(np.mean(alike))

    def patterns(self, k: int) -> tuple[FloatArray, float]:
        """About how many patterns occur in each graph, and the share of them that no other graph has."""
        if k in self._patterns:
            return self._patterns[k]
        return self.sets(k) * UNSEEN_PATTERNS, UNSEEN_PATTERNS


class _Seen(NamedTuple):
    sets: float
    patterns: float
    words: NDArray[np.uint64]


def _glimpse(graph: GraphSet, k: int) -> _Seen:
    """Samples of one graph. How many patterns there are in all is Chao's estimate from those met once and twice."""
    from anysize.counting.sampling.estimator import glimpse

    sets, words, hits = glimpse(graph, k, MAPS)
    once, twice = float((hits == 1).sum()), float((hits == 2).sum())
    return _Seen(sets, min(len(hits) + once * max(once - 1, 0) / (2 * (twice + 1)), sets), words)


# ----


ALL_SIZES = tuple(range(1, 8))
NEVER = np.inf
PILOT, SMALL = 250, 512  # graphs looked at, of many with at most so many vertices
ALWAYS_BITSET = 512  # vertices; up to here nothing beats it on plain graphs
WORTH_A_LOOK = 5e8  # nanoseconds of expected work; from here on connected sets are estimated from a sample,
FAR_BEHIND = 30  # unless enumeration costs so many times as much as the best: no sample would change that
WORTH_A_SECOND_ENGINE = 5e7  # nanoseconds; below it one engine takes all graphs of a set

# Largest graphs and numbers of colors the engines take; the engines use these too.
BITSET_VERTICES = 4096  # a codegree matrix of 64 MiB, and sums that fit int64
FLIP_VERTICES = 1024  # products of one set Q fit int32
FLIP_COLORS = {4: (1, 2, 4, 8, 12, 16), 5: (1, 2, 4, 6, 8, 12), 6: (1, 2, 4)}  # compiled numbers of colors
FLIP_SPARSE_COLORS = {4: (2, 4, 8, 12, 16), 5: (2, 4, 6, 8, 12)}


@dataclass(frozen=True)
class Engine:
    """A way to count: where its code is, what it can do, and about how many nanoseconds it needs."""

    name: str
    module: str
    sizes: tuple[int, ...]
    colors: bool
    idea: str
    cost: Callable[[Features, int], FloatArray]  # of each graph
    start: float = 0.0  # of a call
    splits_graphs: bool = True  # whether several threads can work on one graph


def _padded(colors: FloatArray, sizes: tuple[int, ...]) -> FloatArray:
    """The compiled number of colors each graph would take, or infinity."""
    table = np.array([*sizes, NEVER])
    return table[np.searchsorted(table[:-1], colors)]


def _direct_cost(f: Features, k: int) -> FloatArray:
    return 10 * (f.n + f.edges)


def _bitset_cost(f: Features, k: int) -> FloatArray:
    words = np.ceil(f.n / 64)
    density = np.minimum(f.edges, np.maximum(f.n * (f.n - 1) / 2 - f.edges, 0)) / np.maximum(f.n**2 / 2, 1)
    pairs = f.n**2 / 2 * (1 + words / 6)
    shared = f.n * density**2  # common neighbors of a pair
    common = f.n**2 / 2 * np.minimum(shared * (2 + 0.6 * words), f.n / 8 * (1 + words / 3))
    considered = density if k == 4 else float(k == 5)  # at k = 4 only edges look at their common neighbors
    cliques = f.n**4 / 24 * density**6 * (2 + words) if k == 5 else 0
    reach = f.n**2 * f.n * density / 16 if k == 5 else 0
    return np.where(f.n <= BITSET_VERTICES, 500 + pairs + considered * common + cliques + reach, NEVER)


def _sparse_cost(f: Features, k: int) -> FloatArray:
    if k < 5:
        return 2e5 + 60 * f.edges + {3: 0.5, 4: 2.0}[k] * f.walks
    return 6e5 + 250 * f.edges + 0.25 * f.crowd


def _flip_cost(f: Features, k: int) -> FloatArray:
    colors = _padded(f.colors, FLIP_COLORS[k])
    finite = np.where(np.isfinite(colors), colors, 1)
    density = np.minimum(2 * f.edges / np.maximum(f.n * (f.n - 1), 1), 1)
    words = np.maximum(np.ceil(f.n / 64), finite)
    pairs = {4: 6, 5: 22, 6: 50}[k]
    sets = f.n ** (k - 2) / {4: 2, 5: 6, 6: 24}[k]
    used = np.minimum(1, 1 if k == 4 else 3 * density if k == 5 else 8 * density**2)  # sets whose groups are needed
    group = words * 2 ** (k - 3) / 2
    products = np.where(finite <= 2, (finite * 2 ** (k - 2)) ** 2 / 8, pairs * np.maximum(finite**2 / 8, 1))
    table = finite**k * {4: 300, 5: 900, 6: 2500}[k]  # every pattern, once per graph
    cost = 3e5 + table + sets * (3 + used * (4 + group + products) * (1 + 2 * density**3))
    return np.where(np.isfinite(colors) & (f.n <= FLIP_VERTICES), cost, NEVER)


def _flip_sparse_cost(f: Features, k: int) -> FloatArray:
    colors = _padded(f.colors, FLIP_SPARSE_COLORS[k])
    finite = np.where(np.isfinite(colors), colors, 1)
    table = finite**k * {4: 400, 5: 1100}[k]
    if k == 4:
        visits = f.edges * (40 + 6 * finite**2) + 1.5 * f.wedges + 1.2 * f.edges * f.closed**2
    else:
        visits = f.wedges * (30 + 4 * finite**2 + f.closed * (6 + finite**2 / 2))
    cost = 4e5 + table + 100 * f.edges + visits
    return np.where(np.isfinite(colors), cost, NEVER)


def _enumerate_cost(f: Features, k: int) -> FloatArray:
    raw_bits = k * (k - 1) / 2 + k * np.ceil(np.log2(f.colors))
    direct = (raw_bits <= 22) & (f.n**k / factorial(k) > 4 * 2.0**raw_bits)
    patterns, alone = f.patterns(k)
    patterns = np.minimum(patterns, colored_patterns(k, f.colors))
    prefixes = f.sets(k - 1) if k > 3 else f.edges
    names = np.where(direct, 0, 20 * f.sets(k) + (300 + 1500 * alone) * patterns)
    return 2000 + 70 * prefixes + 4.5 * f.sets(k) + names


def _brute_cost(f: Features, k: int) -> FloatArray:
    everything = np.ones(len(f.n))
    for taken in range(k):
        everything *= np.maximum(f.n - taken, 0) / (taken + 1)
    return 1e5 + 500 * everything


ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine("direct", "direct", (1, 2), True, "vertices and edges by color", _direct_cost),
        Engine("bitset", "bitset", (3, 4, 5), False,
               "sums over pairs and triangles in words of 64 bits", _bitset_cost, 5e4, splits_graphs=False),
        Engine("sparse", "sparse", (3, 4, 5), False, "sums over cycles and cliques in degree order", _sparse_cost),
        Engine("flip", "flip", (4, 5, 6), True, "products of neighborhood sizes over all (k-2)-sets", _flip_cost),
        Engine("flip_sparse", "flip_sparse", (4, 5), True,
               "products of neighborhood sizes over edges or wedges", _flip_sparse_cost),
        Engine("enumerate", "enumerate", (3, 4, 5, 6, 7), True, "every connected set once", _enumerate_cost, 6e5),
        Engine("brute", "brute", ALL_SIZES, True, "every subset, looked at: the oracle", _brute_cost),
    )
}  # fmt: skip


@dataclass(frozen=True)
class EngineChoice:
    """One engine for some graphs of a set."""

    engine: Engine
    rows: NDArray[np.int64]  # ascending
    costs: FloatArray  # of each, in nanoseconds
    reason: str

    @property
    def seconds(self) -> float:
        """Expected for all of them on one core."""
        return float(self.costs.sum()) / 1e9


def choose_engines(
    graphs: GraphSet,
    k: int,
    method: str = "auto",
    threads: int = 1,
    seen: Features | None = None,
    limit: int | None = None,
) -> list[EngineChoice]:
    """The engines for all graphs of a set and so many threads; those that need more bytes than a limit are left out."""
    seen = Features(graphs) if seen is None else seen
    if method != "auto":
        return _all_by(_engine(method, seen, k), seen, k, "asked for", limit)
    if k < 3:
        return _all_by(ENGINES["direct"], seen, k, "the only one for this size", limit)
    plain = graphs.colors is None
    able = [e for e in ENGINES.values() if k in e.sizes and (e.colors or plain) and e.name != "brute"]
    if plain and k <= 5:
        able = [e for e in able if not e.colors or limit]  # without colors, those that see none are ahead
        if graphs.sizes.max(initial=0) <= ALWAYS_BITSET and (limit is None or fits("bitset", seen, k, limit).all()):
            return _all_by(ENGINES["bitset"], seen, k, f"no graph has more than {ALWAYS_BITSET} vertices")
    if len(graphs) > 4 * PILOT and graphs.sizes.max() <= SMALL and limit is None:
        some = _from_some(graphs, k, threads)
        if some is not None:
            return [some]
    return _cheapest(able, seen, k, threads, limit)


def _from_some(graphs: GraphSet, k: int, threads: int) -> EngineChoice | None:
    """Many small graphs: a look at some of them is enough to see that enumeration, which can take all, is ahead."""
    rows = np.linspace(0, len(graphs) - 1, PILOT).astype(np.int64)
    some = choose_engines(graphs[rows], k, threads=threads)
    if len(some) > 1 or some[0].engine.name != "enumerate":
        return None
    size = graphs.edge_counts + 1.0
    costs = np.asarray(size * (some[0].costs.sum() / size[rows].sum()), np.float64)
    return EngineChoice(some[0].engine, np.arange(len(graphs)), costs, f"{PILOT} of them: {some[0].reason}")


def _cheapest(able: list[Engine], seen: Features, k: int, threads: int, limit: int | None) -> list[EngineChoice]:
    """The engine that takes least for all graphs together, or for each if that pays."""
    costs, best = _compared(able, seen, k, threads, limit)
    least = float(costs[best, np.arange(len(best))].sum())
    listed = [number for number, engine in enumerate(able) if engine.name == "enumerate"]
    if listed and least > WORTH_A_LOOK and costs[listed[0]].sum() < FAR_BEHIND * least:
        seen.look(k)
        costs, best = _compared(able, seen, k, threads, limit)
    choices = []
    for number, engine in enumerate(able):
        rows = np.flatnonzero(best == number)
        if len(rows):
            choices.append(EngineChoice(engine, rows, costs[number, rows], _reason(costs, able, number, rows)))
    return choices


def _compared(
    able: list[Engine], seen: Features, k: int, threads: int, limit: int | None
) -> tuple[FloatArray, NDArray[np.int64]]:
    """The costs of every engine for every graph, and the number of the one that takes it."""
    n_graphs = len(seen.graphs)
    costs = np.stack([engine.cost(seen, k) + engine.start / max(n_graphs, 1) for engine in able])
    if threads > n_graphs:  # then threads stand idle beside an engine that gives a graph to one of them
        idle = np.array([1.0 if engine.splits_graphs else threads / max(n_graphs, 1) for engine in able])
        costs = costs * idle[:, None]
    if limit is not None:
        small = np.stack([fits(engine.name, seen, k, limit) for engine in able])
        costs = np.where(small, costs, NEVER)
        nowhere = np.flatnonzero(~np.isfinite(costs).any(axis=0))
        if len(nowhere):
            raise too_large([engine.name for engine in able], seen, k, limit, int(nowhere[0]))
    best = costs.argmin(axis=0)
    alone = costs.sum(axis=1)
    if n_graphs and alone.min() < 2 * costs.min(axis=0).sum() + WORTH_A_SECOND_ENGINE:
        best[:] = alone.argmin()
    return costs, best


def _all_by(engine: Engine, seen: Features, k: int, reason: str, limit: int | None = None) -> list[EngineChoice]:
    n_graphs = len(seen.graphs)
    if not n_graphs:
        return []
    if limit is not None and not fits(engine.name, seen, k, limit).all():
        raise too_large([engine.name], seen, k, limit, int(np.flatnonzero(~fits(engine.name, seen, k, limit))[0]))
    costs = engine.cost(seen, k) + engine.start / n_graphs
    if engine.name == "enumerate" and costs.sum() > WORTH_A_LOOK:
        seen.look(k)
        costs = engine.cost(seen, k) + engine.start / n_graphs
    return [EngineChoice(engine, np.arange(n_graphs), costs, f"{reason}; estimated {_time(float(costs.sum()) / 1e9)}")]


def _engine(method: str, seen: Features, k: int) -> Engine:
    if method not in ENGINES:
        raise ValueError(f"method must be 'auto' or one of {', '.join(ENGINES)}; got {method!r}")
    engine, graphs = ENGINES[method], seen.graphs
    if k not in engine.sizes:
        sizes = ", ".join(str(size) for size in engine.sizes)
        raise ValueError(f"the engine {method!r} counts k = {sizes}; got k = {k}; use method='auto'")
    if graphs.colors is not None and not engine.colors:
        raise ValueError(f"the engine {method!r} does not see colors; pass colors=False or use method='auto'")
    unable = np.flatnonzero(~np.isfinite(engine.cost(seen, k)))
    if len(unable):
        raise ValueError(
            f"the engine {method!r} cannot take graph {unable[0]} ({int(seen.n[unable[0]])} vertices, "
            f"{int(seen.colors[unable[0]])} colors); use method='auto'"
        )
    return engine


def _reason(costs: FloatArray, able: list[Engine], number: int, rows: NDArray[np.int64]) -> str:
    others = {
        engine.name: float(costs[other, rows].sum()) / 1e9
        for other, engine in enumerate(able)
        if other != number and np.isfinite(costs[other, rows]).all()
    }
    text = f"estimated {_time(float(costs[number, rows].sum()) / 1e9)} on one core"
    if others:
        text += "; " + ", ".join(f"{name} {_time(value)}" for name, value in sorted(others.items(), key=lambda x: x[1]))
    return text


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
