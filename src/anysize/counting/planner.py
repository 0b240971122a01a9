"""Choose an engine for every graph: the cheapest of a list."""

from __future__ import annotations

import numpy as np

from anysize._progress import rough_duration
from anysize._typing import FloatArray, IntArray
from anysize.counting.engines.bitset import BITSET
from anysize.counting.engines.brute import BRUTE
from anysize.counting.engines.direct import DIRECT
from anysize.counting.engines.engine import Engine, EngineChoice
from anysize.counting.engines.enumerate import ENUMERATE
from anysize.counting.engines.flip import FLIP
from anysize.counting.engines.flip_sparse import FLIP_SPARSE
from anysize.counting.engines.sparse import SPARSE
from anysize.counting.features import Features
from anysize.counting.memory import too_large
from anysize.graphs.graphset import GraphSet

ENGINES: dict[str, Engine] = {
    engine.name: engine for engine in (DIRECT, BITSET, SPARSE, FLIP, FLIP_SPARSE, ENUMERATE, BRUTE)
}

PILOT_GRAPHS = 250  # whose plan is used for a large set of graphs with at most MAX_PILOT_VERTICES
MAX_PILOT_VERTICES = 512
ALWAYS_BITSET_VERTICES = 512  # up to here it is the fastest engine for plain graphs
SAMPLE_ABOVE_S = 0.5  # expected work above which connected sets are estimated from a sample,
MAX_COST_RATIO = 30  # unless enumeration costs more than this many times as much as the best engine
SECOND_ENGINE_ABOVE_S = 0.05  # expected gain above which the graphs of a set get different engines


def choose_engines(
    graphs: GraphSet,
    k: int,
    engine: str = "auto",
    threads: int = 1,
    features: Features | None = None,
    limit: int | None = None,
) -> list[EngineChoice]:
    """Engines for all graphs of a set and that many threads, without those that need more bytes than a limit."""
    features = Features(graphs) if features is None else features
    if engine != "auto":
        return _only(_requested(engine, features, k), features, k, "requested", limit)
    plain = graphs.colors is None
    engines = [e for e in ENGINES.values() if k in e.sizes and (e.colored or plain) and e != BRUTE]
    if plain and limit is None:  # engines for plain graphs only are faster, but may need more memory
        engines = [e for e in engines if not e.colored] or engines
    if engines == [DIRECT]:
        return _only(DIRECT, features, k, "the only engine for this size", limit)
    small = graphs.sizes.max(initial=0) <= ALWAYS_BITSET_VERTICES
    if BITSET in engines and small and (limit is None or BITSET.memory(features, k).within(limit).all()):
        return _only(BITSET, features, k, f"no graph has more than {ALWAYS_BITSET_VERTICES} vertices")
    if len(graphs) > 4 * PILOT_GRAPHS and graphs.sizes.max() <= MAX_PILOT_VERTICES and limit is None:
        choice = _choice_from_pilot(graphs, k, threads)
        if choice is not None:
            return [choice]
    return _cheapest(engines, features, k, threads, limit)


def _choice_from_pilot(graphs: GraphSet, k: int, threads: int) -> EngineChoice | None:
    """Enumeration for many small graphs, if it is the choice for some of them; it can count all graphs."""
    rows = np.linspace(0, len(graphs) - 1, PILOT_GRAPHS).astype(np.int64)
    pilot = choose_engines(graphs[rows], k, threads=threads)
    if [choice.engine for choice in pilot] != [ENUMERATE]:
        return None
    size = graphs.edge_counts + 1.0
    costs = np.asarray(size * (pilot[0].seconds / size[rows].sum()), np.float64)
    reason = f"{PILOT_GRAPHS} of them: {pilot[0].reason}"
    return EngineChoice(ENUMERATE, np.arange(len(graphs)), costs, reason)


def _cheapest(engines: list[Engine], features: Features, k: int, threads: int, limit: int | None) -> list[EngineChoice]:
    """The cheapest engine for all graphs together, or for each graph if that is much cheaper."""
    costs, best = _compare(engines, features, k, threads, limit)
    total = float(costs[best, np.arange(len(best))].sum())
    enumeration = costs[engines.index(ENUMERATE)].sum() if ENUMERATE in engines else np.inf
    if total > SAMPLE_ABOVE_S and enumeration < MAX_COST_RATIO * total:
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
    costs = np.stack([engine.cost(features, k) for engine in engines])
    if threads > n_graphs:  # some threads would be idle if an engine counts each graph with one thread
        idle = np.array([1.0 if engine.splits_graphs else threads / max(n_graphs, 1) for engine in engines])
        costs = costs * idle[:, None]
    if limit is not None:
        needs = [engine.memory(features, k) for engine in engines]
        affordable = np.where([need.within(limit) for need in needs], costs, np.inf)
        impossible = np.flatnonzero(~np.isfinite(affordable).any(axis=0))
        if len(impossible):
            able = np.flatnonzero(np.isfinite(costs[:, impossible[0]]))
            raise too_large({engines[e].name: needs[e] for e in able}, features, k, limit, int(impossible[0]))
        costs = affordable
    best = costs.argmin(axis=0)
    totals = costs.sum(axis=1)
    if n_graphs and totals.min() < 2 * costs.min(axis=0).sum() + SECOND_ENGINE_ABOVE_S:
        best[:] = totals.argmin()
    return costs, best


def _only(engine: Engine, features: Features, k: int, reason: str, limit: int | None = None) -> list[EngineChoice]:
    """One engine for all graphs."""
    n_graphs = len(features.graphs)
    if not n_graphs:
        return []
    need = engine.memory(features, k) if limit is not None else None
    if limit is not None and need is not None and not (within := need.within(limit)).all():
        raise too_large({engine.name: need}, features, k, limit, int(np.flatnonzero(~within)[0]))
    costs = engine.cost(features, k)
    if engine == ENUMERATE and costs.sum() > SAMPLE_ABOVE_S:
        features.estimate_sets(k)
        costs = engine.cost(features, k)
    return [EngineChoice(engine, np.arange(n_graphs), costs, f"{reason}; estimated {_time(float(costs.sum()))}")]


def _requested(name: str, features: Features, k: int) -> Engine:
    """The engine of this name; a ValueError if it cannot count these graphs."""
    if name not in ENGINES:
        raise ValueError(f"engine must be 'auto', 'sample' or one of {', '.join(ENGINES)}; got {name!r}")
    engine = ENGINES[name]
    if k not in engine.sizes:
        sizes = ", ".join(str(size) for size in engine.sizes)
        raise ValueError(f"the engine {name!r} counts k = {sizes}; got k = {k}; use engine='auto'")
    if features.graphs.colors is not None and not engine.colored:
        raise ValueError(f"the engine {name!r} cannot count colored patterns; pass colors=False or use engine='auto'")
    impossible = np.flatnonzero(~engine.fits(features, k))
    if len(impossible):
        row = impossible[0]
        raise ValueError(
            f"the engine {name!r} cannot count graph {row} ({int(features.n[row])} vertices, "
            f"{int(features.colors[row])} colors); use engine='auto'"
        )
    return engine


def _reason(costs: FloatArray, engines: list[Engine], number: int, rows: IntArray) -> str:
    others = {
        engine.name: float(costs[other, rows].sum())
        for other, engine in enumerate(engines)
        if other != number and np.isfinite(costs[other, rows]).all()
    }
    text = f"estimated {_time(float(costs[number, rows].sum()))} on one core"
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
