"""Which engine counts which graph: the one with the lowest estimated cost, and why.

Estimates come from sizes, degrees and colors, and where much work lies ahead from a small sample (`features`). The
constants are nanoseconds on one core of an x86 server; `make bench` prints how well they hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.typing import NDArray

from anysize._typing import FloatArray
from anysize.counting.features import Features
from anysize.counting.memory import colored_patterns, fits, too_large
from anysize.graphs.graphset import GraphSet

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
