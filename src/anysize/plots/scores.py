"""Scores: of methods beside the published ones, and against the size of graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from anysize.plots.theme import (
    INK,
    LINE,
    MUTED,
    PAPER,
    SERIES,
    caption,
    drawing,
    new_figure,
    plain_numbers,
    quiet_grid,
)

MARKERS = "osD^vP*X"


class ScoreRow(NamedTuple):
    """One method: our mean and deviation, the published ones; None where there is none."""

    label: str
    mean: float | None
    std: float | None = None
    published: float | None = None
    published_std: float | None = None
    check: bool = False


def ours_and_published(rows: Sequence[ScoreRow], metric: str = "accuracy") -> Figure:
    """Methods from top to bottom: a dot for our mean, a ring for the published one, bars of one deviation."""
    if not rows:
        raise ValueError("a chart of scores has at least one row; got none")
    with drawing():
        figure = new_figure(0.9 + 0.25 * len(rows))
        axes = figure.subplots()
        for place, row in enumerate(rows):
            if row.check:
                axes.axhspan(place - 0.5, place + 0.5, color=LINE, alpha=0.35, linewidth=0)
            if row.published is not None:
                deviation = row.published_std or 0.0
                axes.plot([row.published - deviation, row.published + deviation], [place + 0.16] * 2, color=MUTED, lw=1)
                axes.plot(
                    row.published,
                    place + 0.16,
                    "o",
                    markersize=5.5,
                    markerfacecolor=PAPER,
                    markeredgecolor=INK,
                    mew=1.1,
                )
            if row.mean is not None:
                deviation = row.std or 0.0
                axes.plot([row.mean - deviation, row.mean + deviation], [place - 0.16] * 2, color=SERIES[0], lw=1.6)
                axes.plot(row.mean, place - 0.16, "o", markersize=6, color=SERIES[0])
        axes.set_yticks(range(len(rows)), [caption(row.label, 22) for row in rows], color=INK)
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(*_span([value for row in rows for value in (row.mean, row.published)], metric))
        axes.set_xlabel(f"test {metric}")
        axes.spines["left"].set_visible(False)
        quiet_grid(axes, "x")
        handles = [
            Line2D([], [], marker="o", color=SERIES[0], markersize=6, label="ours"),
            Line2D([], [], marker="o", color=MUTED, markerfacecolor=PAPER, markeredgecolor=INK, label="published"),
        ]
        figure.legend(handles=handles, loc="outside upper left", ncols=2)
        return figure


def _span(values: Sequence[float | None], metric: str) -> tuple[float, float]:
    """From 0 (MCC: where it is needed, below) to a little over 1."""
    lowest = min((value for value in values if value is not None), default=0.0)
    return (min(-0.03, np.floor(lowest * 10) / 10 - 0.05) if metric != "accuracy" else -0.03), 1.04


class SizePoint(NamedTuple):
    """A score of graphs of about this size, with an interval if there is one; ``train``: of training graphs."""

    size: float
    score: float
    low: float | None = None
    high: float | None = None
    train: bool = False


def score_by_size(lines: Mapping[str, Sequence[SizePoint]], metric: str = "accuracy") -> Figure:
    """The score of methods against the size of graphs; rings are training graphs, the rest were never trained on."""
    sizes = [point.size for points in lines.values() for point in points]
    if not sizes:
        raise ValueError("a chart of scores by size has at least one point; got none")
    with drawing():
        figure = new_figure(2.6 + 0.2 * ((len(lines) + 1) // 2))
        axes = figure.subplots()
        for place, (label, points) in enumerate(lines.items()):
            color, marker = SERIES[place % len(SERIES)], MARKERS[place % len(MARKERS)]
            own = sorted(points)
            over = len(lines) - 1 - place  # lines that will be drawn over this one: it is wider, and can be seen below
            axes.plot([p.size for p in own], [p.score for p in own], color=color, linewidth=1.3 + 0.5 * over)
            for point in own:
                if point.low is not None and point.high is not None:
                    axes.plot([point.size] * 2, [point.low, point.high], color=color, linewidth=1, alpha=0.6)
                face = PAPER if point.train else color
                axes.plot(point.size, point.score, marker, color=color, markerfacecolor=face, markersize=5 + 0.6 * over)
            axes.plot([], [], marker=marker, color=color, markersize=5.5, label=caption(label, 24))
        if max(sizes) > 4 * min(sizes) > 0:
            axes.set_xscale("log")
            plain_numbers(axes, "x")
        ticks = sorted({round(size) for size in sizes})
        if len(ticks) <= 7:
            axes.set_xticks(ticks, [f"{tick}" for tick in ticks])
            axes.set_xticks([], minor=True)
        axes.set_xlabel("vertices of a graph")
        axes.set_ylabel(metric)
        if metric == "accuracy":
            axes.set_ylim(-0.03, 1.05)
        quiet_grid(axes)
        figure.legend(loc="outside lower center", ncols=2)
        return figure
