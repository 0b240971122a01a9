"""Growth of the time with vertices, density and colors, and the accuracy of the planner's estimates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from anysize import Counts, GraphSet
from anysize.counting.features import Features
from anysize.counting.planner import ENGINES, choose_engines
from benchmarks.checks import class_sums, color_sums, ours, same_classes
from benchmarks.inputs import MissingData, erdos_renyi
from benchmarks.rows import ROWS, Row
from benchmarks.timing import best_of

Record = dict[str, Any]

SIZES = (50, 100, 200, 400, 800)
DENSITIES = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
COLORS = (1, 2, 4, 8, 12, 20, 40)
MAX_COLORS_AT_FIVE = 12  # beyond, nearly every set has its own pattern, and the table fills the memory
BUDGET, QUICK_BUDGET = 0.5, 0.05  # seconds per cell
MAX_RATIO = 3.0  # between estimate and measurement; more is marked as off,
MIN_DIFFERENCE_S = 1e-3  # unless the difference is smaller than this
MAX_ESTIMATE_S = 2.0  # engines with a higher estimate are not compared


def engines_of(counts: Counts) -> str:
    """The engines that a count used, by name."""
    return "+".join(dict.fromkeys(str(line).split(": ")[1].split()[0] for line in counts.log))


def _budget(quick: bool) -> float:
    return QUICK_BUDGET if quick else BUDGET


def _cell(graphs: GraphSet, k: int, threads: int, budget: float) -> Record:
    """One timed count; colored answers are checked against plain ones first."""
    counts = ours(graphs, k, threads=threads)
    if graphs.colors is not None:
        color_sums(graphs, k, counts)
    seconds = best_of(lambda: ours(graphs, k, threads=threads), budget)
    return {"seconds": seconds, "engine": engines_of(counts)}


def _line(value: object, n: int, p: float, threads: int, budget: float) -> Record:
    plain, colored = erdos_renyi(n, p), erdos_renyi(n, p, 4)
    jobs = {
        "plain k=4": (plain, 4),
        "plain k=5": (plain, 5),
        "4 colors k=4": (colored, 4),
        "4 colors k=5": (colored, 5),
    }
    return {"value": value, **{name: _cell(graphs, k, threads, budget) for name, (graphs, k) in jobs.items()}}


def by_size(quick: bool, threads: int) -> list[Record]:
    """Sparse random graphs of growing size."""
    return [_line(n, n, 0.1, threads, _budget(quick)) for n in (SIZES[:3] if quick else SIZES)]


def by_density(quick: bool, threads: int) -> list[Record]:
    """Graphs of 140 vertices, from almost empty to almost full."""
    return [_line(p, 140, p, threads, _budget(quick)) for p in (DENSITIES[1::4] if quick else DENSITIES)]


def by_colors(quick: bool, threads: int) -> list[Record]:
    """One graph of 140 vertices in more and more colors."""
    records = []
    for colors in COLORS[:3] if quick else COLORS:
        graph = erdos_renyi(140, 0.3, colors)
        record: Record = {"value": colors, "k=4": _cell(graph, 4, threads, _budget(quick))}
        if colors <= MAX_COLORS_AT_FIVE:
            record["k=5"] = _cell(graph, 5, threads, _budget(quick))
        records.append(record)
    return records


def estimates(rows: Iterable[Row], quick: bool) -> Iterator[Record]:
    """For every job and every engine that can do it: estimated and measured seconds on one core."""
    for row in rows:
        try:
            graphs = row.graphs()
        except MissingData:
            continue
        features = Features(graphs)
        picked = {choice.engine.name for choice in choose_engines(graphs, row.k)}
        expected = class_sums(ours(graphs, row.k), row.k)
        group = []
        for engine in ENGINES.values():
            if row.k not in engine.sizes or (graphs.colors is not None and not engine.colored):
                continue
            if not engine.fits(features, row.k).all():
                continue
            seconds = sum(choice.seconds for choice in choose_engines(graphs, row.k, engine.name, features=features))
            if seconds > (MAX_ESTIMATE_S / 10 if quick else MAX_ESTIMATE_S):
                continue
            same_classes(expected, class_sums(ours(graphs, row.k, engine.name, 1), row.k), engine.name)
            measured = best_of(partial(ours, graphs, row.k, engine.name, 1), _budget(quick))
            group.append(_estimate(row, engine.name, seconds, measured, engine.name in picked))
        fastest = min((record["measured"] for record in group), default=0.0)
        for record in group:
            yield {**record, "lost": record["measured"] / fastest if record["picked"] else None}


def _estimate(row: Row, engine: str, estimated: float, measured: float, picked: bool) -> Record:
    ratio = measured / estimated
    off = not 1 / MAX_RATIO <= ratio <= MAX_RATIO and abs(measured - estimated) > MIN_DIFFERENCE_S
    times = {"estimated": estimated, "measured": measured, "ratio": ratio, "off": off}
    return {"row": row.name, "engine": engine, "picked": picked, **times}


def estimate_rows(quick: bool) -> list[Row]:
    """The rows whose engine is the plan's choice."""
    return [row for row in ROWS if row.engine == "auto" and (row.quick or not quick)]
