"""Choose an engine for every graph: the one with the lowest estimated cost.

Estimates use sizes, degrees and colors and, for long counts, a small sample (`features`). The constants are nanoseconds
on one core of an x86 server; `make bench` compares them with measurements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np

from anysize._progress import rough_duration
from anysize._typing import FloatArray, IntArray
from anysize.counting.features import DIRECT_BITS, Features, colored_patterns
from anysize.counting.memory import fits, too_large
from anysize.graphs.graphset import GraphSet

PILOT_GRAPHS = 250  # whose plan is used for a large set of graphs with at most MAX_PILOT_VERTICES
MAX_PILOT_VERTICES = 512
ALWAYS_BITSET_VERTICES = 512  # up to here it is the fastest engine for plain graphs
SAMPLE_ABOVE_NS = 5e8  # expected work above which connected sets are estimated from a sample,
MAX_COST_RATIO = 30  # unless enumeration costs more than this many times as much as the best engine
SECOND_ENGINE_ABOVE_NS = 5e7  # expected gain above which the graphs of a set get different engines

# Limits of the engines, which use them too.
BITSET_VERTICES = 4096  # a codegree matrix of 64 MiB, and sums that fit int64
FLIP_VERTICES = 1024  # products of one set Q fit int32
FLIP_COLORS = {4: (1, 2, 4, 8, 12, 16), 5: (1, 2, 4, 6, 8, 12), 6: (1, 2, 4)}  # compiled numbers of colors
FLIP_SPARSE_COLORS = {4: (2, 4, 8, 12, 16), 5: (2, 4, 6, 8, 12)}


@dataclass(frozen=True)
class Engine:
    """An engine: what it can count, and its cost in nanoseconds. Its code is in `engines` under its name."""

    name: str
    sizes: tuple[int, ...]
    colors: bool
    idea: str
    cost: Callable[[Features, int], FloatArray]  # per graph
    start: float = 0.0  # per call
    splits_graphs: bool = True  # whether several threads can count one graph


def _padded(colors: FloatArray, sizes: tuple[int, ...]) -> FloatArray:
    """The number of colors, rounded up to one that kernels are compiled for, or infinity."""
    table = np.array([*sizes, np.inf])
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
    return np.where(f.n <= BITSET_VERTICES, 500 + pairs + considered * common + cliques + reach, np.inf)


def _sparse_cost(f: Features, k: int) -> FloatArray:
    if k < 5:
        return 2e5 + 60 * f.edges + {3: 0.5, 4: 2.0}[k] * f.walks
    return 6e5 + 250 * f.edges + 0.25 * f.triangle_steps


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
    return np.where(np.isfinite(colors) & (f.n <= FLIP_VERTICES), cost, np.inf)


def _flip_sparse_cost(f: Features, k: int) -> FloatArray:
    colors = _padded(f.colors, FLIP_SPARSE_COLORS[k])
    finite = np.where(np.isfinite(colors), colors, 1)
    table = finite**k * {4: 400, 5: 1100}[k]
    if k == 4:
        visits = f.edges * (40 + 6 * finite**2) + 1.5 * f.wedges + 1.2 * f.edges * f.triangles_per_edge**2
    else:
        visits = f.wedges * (30 + 4 * finite**2 + f.triangles_per_edge * (6 + finite**2 / 2))
    cost = 4e5 + table + 100 * f.edges + visits
    return np.where(np.isfinite(colors), cost, np.inf)


def _enumerate_cost(f: Features, k: int) -> FloatArray:
    raw_bits = f.raw_bits(k)
    direct = (raw_bits <= DIRECT_BITS) & (f.n**k / factorial(k) > 4 * 2.0**raw_bits)
    patterns, unique = f.patterns(k)
    patterns = np.minimum(patterns, colored_patterns(k, f.colors))
    prefixes = f.sets(k - 1) if k > 3 else f.edges
    names = np.where(direct, 0, 20 * f.sets(k) + (300 + 1500 * unique) * patterns)
    return 2000 + 70 * prefixes + 4.5 * f.sets(k) + names


def _brute_cost(f: Features, k: int) -> FloatArray:
    return 1e5 + 500 * f.subsets(k)


ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine("direct", (1, 2), True, "vertices and edges by color", _direct_cost),
        Engine("bitset", (3, 4, 5), False,
               "sums over pairs and triangles in words of 64 bits", _bitset_cost, 5e4, splits_graphs=False),
        Engine("sparse", (3, 4, 5), False, "sums over cycles and cliques in degree order", _sparse_cost),
        Engine("flip", (4, 5, 6), True, "products of neighborhood sizes over all (k-2)-sets", _flip_cost),
        Engine("flip_sparse", (4, 5), True,
               "products of neighborhood sizes over edges or wedges", _flip_sparse_cost),
        Engine("enumerate", (3, 4, 5, 6, 7), True, "every connected set once", _enumerate_cost, 6e5),
        Engine("brute", (1, 2, 3, 4, 5, 6, 7), True, "every subset; the test oracle", _brute_cost),
    )
}  # fmt: skip


@dataclass(frozen=True)
class EngineChoice:
    """An engine for some graphs of a set."""

    engine: Engine
    rows: IntArray  # ascending
    costs: FloatArray  # nanoseconds per graph
    reason: str

    @property
    def seconds(self) -> float:
        """Expected time for all of them on one core."""
        return float(self.costs.sum()) / 1e9


def choose_engines(
    graphs: GraphSet,
    k: int,
    method: str = "auto",
    threads: int = 1,
    features: Features | None = None,
    limit: int | None = None,
) -> list[EngineChoice]:
    """Engines for all graphs of a set and that many threads, without those that need more bytes than a limit."""
    features = Features(graphs) if features is None else features
    if method != "auto":
        return _one_engine(_requested_engine(method, features, k), features, k, "requested", limit)
    if k < 3:
        return _one_engine(ENGINES["direct"], features, k, "the only engine for this size", limit)
    plain = graphs.colors is None
    engines = [e for e in ENGINES.values() if k in e.sizes and (e.colors or plain) and e.name != "brute"]
    if plain and k <= 5:
        engines = [e for e in engines if not e.colors or limit]  # plain engines are faster, but may need more memory
        small = graphs.sizes.max(initial=0) <= ALWAYS_BITSET_VERTICES
        if small and (limit is None or fits("bitset", features, k, limit).all()):
            reason = f"no graph has more than {ALWAYS_BITSET_VERTICES} vertices"
            return _one_engine(ENGINES["bitset"], features, k, reason)
    if len(graphs) > 4 * PILOT_GRAPHS and graphs.sizes.max() <= MAX_PILOT_VERTICES and limit is None:
        choice = _choice_from_pilot(graphs, k, threads)
        if choice is not None:
            return [choice]
    return _cheapest(engines, features, k, threads, limit)


def _choice_from_pilot(graphs: GraphSet, k: int, threads: int) -> EngineChoice | None:
    """Enumeration for many small graphs, if it is the choice for some of them; it can count all graphs."""
    rows = np.linspace(0, len(graphs) - 1, PILOT_GRAPHS).astype(np.int64)
    pilot = choose_engines(graphs[rows], k, threads=threads)
    if len(pilot) > 1 or pilot[0].engine.name != "enumerate":
        return None
    size = graphs.edge_counts + 1.0
    costs = np.asarray(size * (pilot[0].costs.sum() / size[rows].sum()), np.float64)
    reason = f"{PILOT_GRAPHS} of them: {pilot[0].reason}"
    return EngineChoice(pilot[0].engine, np.arange(len(graphs)), costs, reason)


def _cheapest(engines: list[Engine], features: Features, k: int, threads: int, limit: int | None) -> list[EngineChoice]:
    """The cheapest engine for all graphs together, or for each graph if that is much cheaper."""
    costs, best = _compare(engines, features, k, threads, limit)
    total = float(costs[best, np.arange(len(best))].sum())
    enumeration = [number for number, engine in enumerate(engines) if engine.name == "enumerate"]
    if enumeration and total > SAMPLE_ABOVE_NS and costs[enumeration[0]].sum() < MAX_COST_RATIO * total:
        features.estimate_sets(k)
        costs, best = _compare(engines, features, k, threads, limit)
    choices = []
    for number, engine in enumerate(engines):
        rows = np.flatnonzero(best == number)
        if len(rows):
            choices.append(EngineChoice(engine, rows, costs[number, rows], _reason(costs, engines, number, rows)))
    return choices


def _compare(
    engines: list[Engine], features: Features, k: int, threads: int, limit: int | None
) -> tuple[FloatArray, IntArray]:
    """The costs (engines, graphs), and the number of the engine chosen for each graph."""
    n_graphs = len(features.graphs)
    costs = np.stack([engine.cost(features, k) + engine.start / max(n_graphs, 1) for engine in engines])
    if threads > n_graphs:  # some threads would be idle if an engine counts each graph with one thread
        idle = np.array([1.0 if engine.splits_graphs else threads / max(n_graphs, 1) for engine in engines])
        costs = costs * idle[:, None]
    if limit is not None:
        within = np.stack([fits(engine.name, features, k, limit) for engine in engines])
        costs = np.where(within, costs, np.inf)
        impossible = np.flatnonzero(~np.isfinite(costs).any(axis=0))
        if len(impossible):
            raise too_large([engine.name for engine in engines], features, k, limit, int(impossible[0]))
    best = costs.argmin(axis=0)
    totals = costs.sum(axis=1)
    if n_graphs and totals.min() < 2 * costs.min(axis=0).sum() + SECOND_ENGINE_ABOVE_NS:
        best[:] = totals.argmin()
    return costs, best


def _one_engine(
    engine: Engine, features: Features, k: int, reason: str, limit: int | None = None
) -> list[EngineChoice]:
    n_graphs = len(features.graphs)
    if not n_graphs:
        return []
    if limit is not None and not (within := fits(engine.name, features, k, limit)).all():
        raise too_large([engine.name], features, k, limit, int(np.flatnonzero(~within)[0]))
    costs = engine.cost(features, k) + engine.start / n_graphs
    if engine.name == "enumerate" and costs.sum() > SAMPLE_ABOVE_NS:
        features.estimate_sets(k)
        costs = engine.cost(features, k) + engine.start / n_graphs
    return [EngineChoice(engine, np.arange(n_graphs), costs, f"{reason}; estimated {_time(float(costs.sum()) / 1e9)}")]


def _requested_engine(method: str, features: Features, k: int) -> Engine:
    if method not in ENGINES:
        raise ValueError(f"method must be 'auto' or one of {', '.join(ENGINES)}; got {method!r}")
    engine, graphs = ENGINES[method], features.graphs
    if k not in engine.sizes:
        sizes = ", ".join(str(size) for size in engine.sizes)
        raise ValueError(f"the engine {method!r} counts k = {sizes}; got k = {k}; use method='auto'")
    if graphs.colors is not None and not engine.colors:
        raise ValueError(f"the engine {method!r} cannot count colored patterns; pass colors=False or use method='auto'")
    impossible = np.flatnonzero(~np.isfinite(engine.cost(features, k)))
    if len(impossible):
        row = impossible[0]
        raise ValueError(
            f"the engine {method!r} cannot count graph {row} ({int(features.n[row])} vertices, "
            f"{int(features.colors[row])} colors); use method='auto'"
        )
    return engine


def _reason(costs: FloatArray, engines: list[Engine], number: int, rows: IntArray) -> str:
    others = {
        engine.name: float(costs[other, rows].sum()) / 1e9
        for other, engine in enumerate(engines)
        if other != number and np.isfinite(costs[other, rows]).all()
    }
    text = f"estimated {_time(float(costs[number, rows].sum()) / 1e9)} on one core"
    if others:
        text += "; " + ", ".join(f"{name} {_time(value)}" for name, value in sorted(others.items(), key=lambda x: x[1]))
    return text


def _time(seconds: float) -> str:
    if seconds >= 60:
        return rough_duration(seconds)
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
