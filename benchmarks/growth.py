"""How our own time grows with vertices, density and colors, and how well the plan foresees it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

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
MOST_COLORS_AT_FIVE = 12  # beyond, the patterns themselves fill the memory: most sets have one of their own
BUDGET, QUICK_BUDGET = 0.5, 0.05  # seconds per cell
OFF = 3.0  # an estimate this many times from the measurement deserves another constant,
SMALL = 1e-3  # unless fewer seconds than this are between them
LONGEST = 2.0  # seconds of estimated work that the comparison of engines spends


def engines_of(counts: Counts) -> str:
    """The engines that a count used, by name."""
    return "+".join(dict.fromkeys(line.split(": ")[1].split()[0] for line in counts.log))


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
    plain, dyed = erdos_renyi(n, p), erdos_renyi(n, p, 4)
    jobs = {
        "plain k=4": (plain, 4),
        "plain k=5": (plain, 5),
        "4 colors k=4": (dyed, 4),
        "4 colors k=5": (dyed, 5),
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
        if colors <= MOST_COLORS_AT_FIVE:
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
        seen = Features(graphs)
        picked = {choice.engine.name for choice in choose_engines(graphs, row.k)}
        expected = class_sums(ours(graphs, row.k), row.k)
        group = []
        for engine in ENGINES.values():
            if row.k not in engine.sizes or (graphs.colors is not None and not engine.colors):
                continue
            if not np.isfinite(engine.cost(seen, row.k)).all():
                continue
            seconds = sum(choice.seconds for choice in choose_engines(graphs, row.k, engine.name, seen=seen))
            if seconds > (LONGEST / 10 if quick else LONGEST):
                continue
            same_classes(expected, class_sums(ours(graphs, row.k, engine.name, 1), row.k), engine.name)
            measured = best_of(partial(ours, graphs, row.k, engine.name, 1), _budget(quick))
            group.append(_estimate(row, engine.name, seconds, measured, engine.name in picked))
        fastest = min((record["measured"] for record in group), default=0.0)
        for record in group:
            yield {**record, "lost": record["measured"] / fastest if record["picked"] else None}


def _estimate(row: Row, engine: str, estimated: float, measured: float, picked: bool) -> Record:
    ratio = measured / estimated
    off = not 1 / OFF <= ratio <= OFF and abs(measured - estimated) > SMALL
    times = {"estimated": estimated, "measured": measured, "ratio": ratio, "off": off}
    return {"row": row.name, "engine": engine, "picked": picked, **times}


def estimate_rows(quick: bool) -> list[Row]:
    """The rows whose engine is the plan's choice."""
    return [row for row in ROWS if row.method == "auto" and (row.quick or not quick)]
